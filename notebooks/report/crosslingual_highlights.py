# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do explanations mark what people mark? (Tables 4–6)

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.decide import Ordered
from faithbook.judge.report import start_page
from faithbook.show.figures import PALETTE
from faithbook.show.labels import label, row_label
from faithbook.show.numbers import beside, row_of, spoken
from faithbook.show.plots import comparison_plot
from faithbook.show.tables import every
from faithbook.studies.crosslingual import zaman_belinkov, zaman_belinkov_figures, zaman_belinkov_tables
from faithbook.studies.crosslingual.zaman_belinkov import (
    AGGREGATED,
    ERASING,
    MARKED,
    OUTPUT_NAMES,
    PAPER_LANGUAGES,
    PERTURBING,
    PLAIN,
    THIRTEEN,
)
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    FLOORS,
    KEYS,
    Rows,
    best_first,
    by_large_margins,
    defined,
    on_more_texts,
    printed_table,
    shown,
    words,
)

page = start_page("crosslingual_highlights", profile, values=values, paper="zaman_belinkov_2022")


table4 = printed_table("crosslingual_table4")[[*KEYS, "value"]]
cells = ["dataset", "metric", *KEYS]
marked = page.measure("crosslingual_plausibility", over=cells, prepare=partial(defined, over=cells), bounds=(0, 1))
on_all = page.measure(
    "crosslingual_plausibility", over=cells, prepare=partial(defined, over=cells, further=True), bounds=(0, 1)
)
MARKS = zaman_belinkov.firmest_marks(marked.levels("dataset"))
NAMED = {name: label(name) for name in MARKED} | {"pair": "sentences of ACLSum"}
precision = Rows(marked, table4, dataset=MARKS, metric="average_precision")
on_more = Rows(on_all, table4, dataset=MARKS, metric="average_precision")
carried = ["metric", "model", "language", "highlights"]
projected = page.measure(
    "crosslingual_projected", over=carried, prepare=partial(defined, over=carried), bounds=(-1, 1), firmest=True
)
read = ["setting", "model", "language", *KEYS]
across = page.measure(
    "crosslingual_metrics",
    over=read,
    prepare=lambda units: defined(units[units.setting == "main"], read),
    bounds=(-1, 1),
    firmest=True,
)
texts = zaman_belinkov_tables.of_texts(page)
languages = [one for one in PAPER_LANGUAGES if one in across.levels("language")]
rho = Rows(across, printed_table("crosslingual_table1")[[*KEYS, "value"]], setting="main", language=languages)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    ranked = best_first(precision, "loss")
    return (
        f"Of thirteen explanations of the loss {row_label(*ranked[0])} marks best what people marked, with a mean average "
        f"precision of {beside(precision(ranked[0], 'loss'))}; {row_label(*ranked[1])} follows with "
        f"{beside(precision(ranked[1], 'loss'))}. Random scores have {spoken(precision(FLOORS[1], 'loss'), '.2f')} "
        f"({NAMED.get(MARKS, MARKS)}, n = {precision(ranked[0], 'loss').ours.n} texts)."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`zaman_belinkov_2022` ask a second question about the same thirteen explanations: are their highest scores on the
# words that people marked as the reason? That is {term}`plausibility`, not faithfulness: a model may be right for a reason
# that nobody marked. They answer it in English (Table 4, Figure 5), then make highlights for fifteen languages by a program
# (Table 5), and people check a sample of these (Table 6).
#
# The human highlights of the tables are the firmest that were measured, which the first table names: those of e-SNLI, else
# {term}`substitutes <substitute data>`: phrases of film reviews, sentences of papers. Translations are XNLI's. Intervals
# come from resampling texts, each with everything that was measured on it.

# %% [markdown]
# ## Table 4: thirteen explanations against marks made by people
#
# **What the paper shows.** Mean average precision (MAP) on e-SNLI {cite:p}`camburu_2018`, pairs
# of sentences from SNLI {cite:p}`bowman_2015` whose deciding words people marked; mean of three BERT models, in English
# only. Average precision asks whether the marked words come first when words are sorted by score; 1 is best. Saliency
# with both aggregations and guided backprop with L2 are level at the top. No baseline is printed.
#
# **Our run.** Of e-SNLI, where it is measured, pairs of the development split with the words that the first annotator marked,
# as in the released code. The classifier, an adapter
# on a small multilingual encoder, learned from 18,316 other pairs of SNLI, none about the same images; the paper's
# three BERT models learned from half a million. In a neutral pair only the hypothesis has marks. As substitutes: excerpts of
# film reviews around phrases that people marked as reasons {cite:p}`zaidan_2007,deyoung_2020`, with
# our classifier of SST-2, and excerpts of papers around marked sentences (ACLSum {cite:p}`takeshita_2024`), with our
# classifier of `pair`: do a summary and a section belong to the same paper? There a word is gold if it is in a marked phrase or
# sentence. Methods that need one gradient were also run on further texts; claims that compare only such methods use
# them, the table and figures do not.
#
# **Baselines.** Equal scores for all words get exactly the share of marked words, random scores about that. Both are in the
# table, with `uniform`, which gives every piece the same score, so that long words come first. A MAP is informative only
# above these: do the highlights separate an explanation from chance?


# %%
def separated(dataset):
    """Random scores and the thirteen on one set of marks, how far these are above, and which single rows are not."""
    precision_of = Rows(marked, dataset=dataset, metric="average_precision")
    both, floor = precision_of.mean(THIRTEEN, OUTPUT_NAMES), precision_of(FLOORS[1], "loss")
    below = sum(precision_of(row, output).ours.point < floor.ours.point for row in THIRTEEN for output in OUTPUT_NAMES)
    marks_row = {"marks": dataset, "random scores": floor.ours.point, "the thirteen": both.ours.point}
    return marks_row | {"rows below random": below} | row_of(both - floor)


there = [name for name in MARKED if name in marked.levels("dataset")]
apart_from_chance = pd.DataFrame(map(separated, there))
page.listing(
    apart_from_chance.assign(marks=apart_from_chance.marks.map(NAMED)),
    "crosslingual_marks",
    caption="MAP of random scores and of the thirteen rows (mean) by marks; how many of the rows, of two outputs each, are "
    "below random; and the thirteen minus random (estimate, more is better), n texts; the first line is what the tables below are about",
)

# %% [markdown]
# **The table**, with the baselines:

# %%
BY_ROW = {"rows": ["method", "aggregation"], "words": words()}
page.table("crosslingual_table4", precision.cell, columns=["output"], printed=shown(), **BY_ROW)

# %%
of_texts = {"dataset": MARKS, "method": "none", "aggregation": "none", "output": "none"}
marks_share = marked.mean(metric="share", **of_texts)
share = marks_share.ours.interval()
of_marks = marked.frame[(marked.frame.metric == "words") & (marked.frame.dataset == MARKS)].drop_duplicates("id")
apart = [
    abs((precision((PLAIN, "l2"), output) - precision(("saliency", "l2"), output)).ours.point)
    for output in OUTPUT_NAMES
]
Markdown(
    f"Marked words: {spoken(share)} of all (n = {marks_share.ours.n} texts of {NAMED[MARKS]}); this is the MAP of equal scores. The released "
    "code's guided backprop looks for ReLU modules, of which these models have none, and so is the plain gradient: with "
    f"L2 its MAP differs from that of saliency by {max(apart):.1g} at most. Hence two of the printed leaders are one "
    "explanation printed twice, here as there. The rows *GELU changed* do what the method's own paper says, at GELU as at ReLU."
)

# %%
frame = precision.frame([*THIRTEEN, *FLOORS])
fig, alt = zaman_belinkov_figures.rows_by_output(
    frame, THIRTEEN, FLOORS, OUTPUT_NAMES, x_label="MAP", mark=share.estimate
)
caption = (
    "Table 4 as a figure (the paper's Figure 5), with baselines; right is better. The dotted line is our share of marked "
    "words: the paper's share of marked words is another one, and is not printed."
)
page.figure(fig, "crosslingual_figure5", alt=alt, caption=caption)

# %% [markdown]
# **What is tested.** Whether the thirteen rank as in the paper (Table 4, Figure 5). Whether saliency with either
# aggregation and guided backprop with L2 lead (c11), the loss is at least as good as the top prediction except for
# integrated gradients, occlusion and LIME (c12), most gradient rows are above the mean of occlusion and Shapley sampling
# (c14), and L2 beats the mean except for saliency, where both are the same (c15).

# %%
PLAUSIBLE = [("saliency", "mean"), ("saliency", "l2"), (PLAIN, "l2")]
in_order = [precision.order(output) for output in OUTPUT_NAMES]


def leads(source):
    """The three rows minus each of the others, on the texts of a source."""
    return {part: pair for output in OUTPUT_NAMES for part, pair in source.leads(PLAUSIBLE, output).items()}


def loss_over_top(source):
    """The loss minus the top prediction, each row that is no named exception."""
    return source.loss_over_top({"integrated_gradients", "occlusion", "lime"})


GRADIENTS = [(method, how) for method in AGGREGATED[:4] for how in ("mean", "l2")]
ERASED = [(method, "none") for method in PERTURBING]


def gradients_ahead(source):
    """Each gradient row minus the mean of the two perturbation methods."""
    return {
        f"{row_label(*row)} minus erasing, {name}": source(row, output) - source.mean(ERASED, [output])
        for output, name in OUTPUT_NAMES.items()
        for row in GRADIENTS
    }


def l2_ahead(source):
    """L2 minus the mean of each method; of saliency the mean need only be not worse."""
    return source.l2_over_mean("xl_c15/direction", lambda method, output: method == "saliency")


claims = {
    "crosslingual_table4": in_order,
    "crosslingual_figure5": in_order,
    "xl_c11": on_more_texts(leads(precision), leads(on_more)),
    "xl_c12": on_more_texts(loss_over_top(precision), loss_over_top(on_more)),
    "xl_c14": gradients_ahead(precision),
    "xl_c15": by_large_margins(on_more_texts(l2_ahead(precision), l2_ahead(on_more))),
}
first = page.test(claims)
page.verdicts(first)

# %%
caption = "Published and ours; each part needs to lie right of the dotted line."
page.plot(
    first,
    "crosslingual_highlights_claims",
    only=["crosslingual_table4", "xl_c12", "xl_c14", "xl_c15"],
    caption=caption,
)

# %%
page.parts(first, "crosslingual_highlights_parts", caption="Every part of the claims on Table 4")

# %% [markdown]
# ### The same rows on substitute marks
#
# The verdicts above are about the first line of the first table. The next table has the thirteen on the other marks, with
# the values that the paper prints of e-SNLI, and how far its three leading rows are ahead of the others there.

# %%
substitutes = [name for name in there if name != MARKS]
on_others = {name: Rows(marked, table4, dataset=name, metric="average_precision") for name in substitutes}
page.stand_ins(
    {
        (NAMED[name], row_label(*row), output): source(row, output)
        for name, source in on_others.items()
        for output in OUTPUT_NAMES
        for row in THIRTEEN
    },
    ["marks", "row", "output"],
    "crosslingual_highlights_stand_ins",
    caption="MAP of the thirteen on substitute marks",
)


# %%
def behind(source):
    """How many of the leads of the three rows are clearly above and clearly below zero, and of how many texts."""
    ends = [(pair.ours.interval(), pair.ours.n) for pair in leads(source).values()]
    above, below = sum(end.low > 0 for end, _ in ends), sum(end.high < 0 for end, _ in ends)
    return f"{above} above and {below} below zero of {len(ends)} (n = {min(n for _, n in ends)})"


Markdown(
    "Leads of saliency (both aggregations) and guided backprop with L2 over each other row, by 95 % intervals: "
    + "; ".join(f"{NAMED[name]} {behind(source)}" for name, source in {MARKS: precision, **on_others}.items())
    + "."
)

# %% [markdown]
# ## Are the most plausible also the most faithful?
#
# **What the paper shows.** In its abstract: the methods that lead in one are not those that lead in the other. Input ×
# gradient with L2 leads in {doc}`rho <crosslingual_tables>`, saliency in MAP.
#
# **Our run.** The same thirteen rows: MAP from above, rho from the texts of Table 1 (mean over Bulgarian, German, Spanish,
# French and models, as there). As in the paper the two axes have different texts and different models. Rho has its own
# baselines: {doc}`crosslingual_floors`.

# %%
MARKERS = dict(zip([*AGGREGATED, *ERASING], "osD^vPX*", strict=True))
COLOURS = {"mean": PALETTE[1], "l2": PALETTE[0], "none": PALETTE[2]}
fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.6))
points = {row: (rho(row, "loss"), precision(row, "loss")) for row in THIRTEEN}
for row, (x, y) in points.items():
    style = {"marker": MARKERS[row[0]], "color": COLOURS[row[1]], "ms": 8, "ls": ""}
    axes[0].plot(x.published, y.published, **style)
    across_x, across_y = x.ours.interval(), y.ours.interval()
    axes[1].plot([across_x.low, across_x.high], [y.ours.point] * 2, color="#BBBBBB", lw=1, zorder=1)
    axes[1].plot([x.ours.point] * 2, [across_y.low, across_y.high], color="#BBBBBB", lw=1, zorder=1)
    axes[1].plot(x.ours.point, y.ours.point, **style)
axes[1].axhline(share.estimate, color="#666666", ls=":", lw=1)
for ax, title in zip(axes, ["published", "ours, 95 % intervals"], strict=True):
    ax.set_title(title)
    ax.set_xlabel("rho")
axes[0].set_ylabel("MAP")
keys = [
    plt.Line2D([], [], marker=m, color="#555555", ls="", label=row_label(name, "none")) for name, m in MARKERS.items()
]
aggregations = {"mean": "μ", "l2": "L2", "none": "no aggregation"}
keys += [plt.Line2D([], [], marker="s", ls="", color=COLOURS[how], label=text) for how, text in aggregations.items()]
fig.legend(handles=keys, loc="outside lower center", ncols=6, fontsize="small")
each_row = "; ".join(f"{row_label(*row)} {x.ours.point:.2f} and {y.ours.point:.2f}" for row, (x, y) in points.items())
page.figure(
    fig,
    "crosslingual_faithful_plausible",
    alt="Two scatter plots of MAP against rho for the loss, thirteen rows each, published and ours. Ours, rho and MAP: "
    f"{each_row}.",
    caption="Plausibility against faithfulness across languages, one point per row (loss). Dotted: our share of marked "
    "words.",
)

# %%
page.listing(
    pd.DataFrame(
        [{"output": output} | zaman_belinkov_tables.agreement(rho, precision, output) for output in OUTPUT_NAMES]
    ),
    "crosslingual_winners",
    digits=2,
    caption="Who leads in rho and in MAP, published and ours, and Kendall's tau between the two orders of the thirteen "
    "rows (estimate: ours, with 95 % interval); n, the smaller number of texts",
)

# %% [markdown]
# In the paper the leaders differ, but over all of its thirteen rows the two orders are similar rather than opposed.
#
# **What is tested.** Whether the rows that lead in MAP are above the one that leads in rho, and below it in rho, for either
# output (c13): then the best for plausibility and the best for faithfulness are different. In print the difference of MAP
# is 0.002.

# %%
FAITHFUL = ("input_x_gradient", "l2")
differ = {
    f"most plausible minus most faithful, MAP, {name}": precision.mean(PLAUSIBLE, [output])
    - precision(FAITHFUL, output)
    for output, name in OUTPUT_NAMES.items()
} | {
    f"most faithful minus most plausible, rho, {name}": rho(FAITHFUL, output) - rho.mean(PLAUSIBLE, [output])
    for output, name in OUTPUT_NAMES.items()
}
winners = page.test({"xl_c13": differ})
page.verdicts(winners)

# %%
page.parts(winners, "crosslingual_winners_parts", caption="Every part of the claim that the winners differ")

# %% [markdown]
# ## Table 5: highlights made by a program, in every language
#
# **What the paper shows.** For XNLI {cite:p}`conneau_2018` nobody has marked words, so a program does: an attribution
# (saliency, L2, loss) of the English text, divided by its L2 norm. Words above a threshold are marked, and the marks are
# transferred to a translation along word links. The threshold is the one that agrees best with people's marks on
# e-SNLI. Then the *same* attribution, taken of the translation, is scored against these marks.
#
# In English this is 1 by construction, because the marks are the highest scores themselves. In the other languages no
# human marks are involved either. Table 5 measures whether a model's scores are similar in two languages, as rho does; it
# does not measure plausibility.
#
# **Our run.** The same steps on the texts of Table 1, each model with its own scores. The baseline is what random scores get on
# the same marks, computed exactly. If one word in two is marked it is above one half, and if all are marked it is 1.

# %% [markdown]
# ### The threshold does not travel
#
# A vector of length one has smaller entries the more there are: an even spread over $n$ words gives each $1/\sqrt n$.
# So a threshold that suits long texts marks nearly everything in short ones. People's marks of whole sentences also
# cover far more words than those of single words, and the threshold that agrees best with them is low. The table compares
# each threshold with an even spread on the texts it comes from and on those that get the marks. A threshold far below the
# even spread marks nearly all words.

# %%
PRINTED_THRESHOLD = 0.167  # Section 4.3, from e-SNLI
thresholds = load("crosslingual_threshold", profile).sort_values("seed", ignore_index=True)
thresholds = thresholds[thresholds.dataset == zaman_belinkov.firmest_marks(thresholds.dataset.unique())]
of_words = texts.frame[(texts.frame.metric == "words") & (texts.frame.language == "en")]
lengths = of_words.drop_duplicates("id").value
even = {"its texts": float((of_marks.value**-0.5).mean()), "carried": float((lengths**-0.5).mean())}
rows = [
    (f"ours, seed {r.seed}", r.threshold, r.f1, r.n, r.threshold / even["its texts"]) for r in thresholds.itertuples()
]
rows.append(("the paper", PRINTED_THRESHOLD, np.nan, np.nan, np.nan))
table = pd.DataFrame(rows, columns=["threshold of", "threshold", "F1", "n", "part of an even spread, its texts"])
page.listing(
    table.assign(**{"part of an even spread, texts carried over": table.threshold / even["carried"]}),
    "crosslingual_thresholds",
    caption="Thresholds of this build, the F1 they reach with people's marks on n texts, and how large they are compared with an even "
    f"spread; texts whose marks are carried over have {lengths.mean():.1f} words on average, those with people's marks "
    f"{of_marks.value.mean():.1f}",
)

# %%
of_even = texts.mean(metric="threshold", language="en").ours
Markdown(
    f"The threshold behind Table 5 below is {spoken(of_even, '.2f')} of an even spread over the texts whose marks are "
    f"carried over (mean over n = {of_even.n})."
)

# %% [markdown]
# So we mark words in three ways: with our threshold, found by the paper's rule; with the paper's number; and the words whose
# score is above an even spread over their own text. The last needs no other texts and does not depend on length. The
# baseline is exact: the expected average precision of $n$ scores in random order, $m$ of them gold.

# %%
MAIN_RULE = "our threshold"
QUANTITIES = {"map": "MAP", "chance": "random scores", "lift": "MAP minus random", "marked": "share marked"}
ways = projected.levels("highlights")
others = [language for language in projected.levels("language") if language != "en"]
printed5 = published.table("crosslingual_table5").set_index("language").value


def projected_cell(row):
    """MAP, its floor, what is between them, or the share of marks; None where no text has a mark."""
    labels = {name: row[name] for name in ("language", "highlights") if row.get(name)}
    return projected.mean(**({"language": others, "highlights": MAIN_RULE} | labels), metric=row["quantity"])


def beside_table5(row):
    """A cell of Table 5, MAP beside the printed one."""
    there = printed5.get(row["language"], np.nan) if row["quantity"] == "map" else np.nan
    return replace(projected_cell(row), published=there)


page.table(
    "crosslingual_table5",
    beside_table5,
    rows=["language"],
    columns=["quantity"],
    words=QUANTITIES,
    printed=every(language=["en", *others], quantity=QUANTITIES),
    caption="MAP of saliency (L2, loss) against projected marks, our threshold, mean over models; what random scores get "
    "on the same marks, and the share of words that are marked",
)

# %%
page.table(
    "crosslingual_highlight_rules",
    projected_cell,
    rows=["highlights"],
    columns=["quantity"],
    words=QUANTITIES,
    printed=every(highlights=ways, quantity=QUANTITIES),
    caption=f"Ways to mark, mean over {len(others)} languages and all models",
)

# %%
absent = [language for language in printed5.index if language not in ["en", *others]]
Markdown(
    f"Printed and not among our texts: {', '.join(f'{one} {printed5[one]:.3f}' for one in absent) or 'none'}. "
    f"The highest of the printed values but English is that for {printed5.drop('en').idxmax()}. Thai is written without "
    "blanks, and multilingual BERT's tokenizer does not set its characters apart as it does Chinese ones. Words by blanks "
    "may then be few and nearly all marked, which would make any scores look good; a baseline would show it, and none is "
    "printed."
)

# %% [markdown]
# **What is tested.** Whether languages are in the paper's order of MAP, by Kendall's tau against chance, with our threshold.
# That MAP is above that of random scores on the same marks is shown beside; it could hardly be otherwise, as the same
# method made the marks.

# %%
lifts = {way: {one: projected.mean(metric="lift", highlights=way, language=one) for one in others} for way in ways}
clear = {way: sum(pair.ours.interval().low > 0 for pair in pairs.values()) for way, pairs in lifts.items()}
by_language = {
    one: beside_table5({"quantity": "map", "language": one}) for one in ["en", *others] if one in printed5.index
}
second = page.test({"crosslingual_table5": Ordered(by_language, name="tau with the printed order of languages")})
page.verdicts(second)

# %%
counted = ", ".join(f"{way} {count} of {len(others)}" for way, count in clear.items())
Markdown(f"Languages whose interval lies above random scores: {counted}.")

# %%
fig, alt = comparison_plot(lifts[MAIN_RULE], "MAP minus that of random scores on the same marks")
caption = "MAP minus that of random scores on the same marks, by language."
page.figure(fig, "crosslingual_table5_plot", alt=alt, caption=caption)

# %% [markdown]
# ## Table 6: people look at the highlights
#
# **What the paper shows.** Thirty texts in each of four languages, ten of each relation: the authors and a colleague
# corrected the marks that the program had made, leaving out texts that the model got wrong. Precision, recall and F1
# compare the program's marks with the corrected ones. Annotators who correct existing highlights see them
# first, which biases the result towards the program's output; one round does not show by how much.
#
# **Our run.** None, because this needs people. We check the arithmetic: F1 is the harmonic mean of precision and recall, and
# the table says whether the printed values agree within rounding.

# %%
printed6 = published.table("crosslingual_table6").pivot_table(index="language", columns="metric", values="value")
table6 = printed6[["precision", "recall", "f1"]].rename(columns={"f1": "F1"}).reset_index()
table6["F1 of the two"] = 2 / (1 / table6.precision + 1 / table6.recall)
# Both printed parts and the printed F1 are rounded to two digits: together .01 at most.
fits = (table6["F1 of the two"] - table6.F1).abs() <= 0.01
caption = "Human check of the program's marks, as published, and F1 from the printed precision and recall"
page.listing(table6.assign(fits=np.where(fits, "yes", "no")), "crosslingual_table6", digits=2, caption=caption)

# %%
page.verdicts(page.test({"crosslingual_table6": None}))

# %% [markdown]
# **What differs and why.** On e-SNLI: one small encoder instead of three BERT models, a thirtieth of the training pairs, and
# 338 pairs of the development split instead of all of the test split. Of the substitutes people marked phrases of reviews or
# whole sentences of papers, not words. Every word in them is
# gold, including articles and commas, so a sharp explanation gains nothing. A phrase is one of several reasons for a
# review's class, and a model can match a summary with a section by words outside the marks. The classifiers are small
# English encoders, and that of SST-2 was trained on single sentences. Our excerpts are cut around a mark, which makes the
# share of marked words, and so the baseline, large.
#
# MultiRC {cite:p}`deyoung_2020` also has marked sentences. Our small model did not learn to answer its questions
# ({doc}`soft_tables`), so we leave it out.
#
# For Table 5 the threshold comes from texts of another length and marks of another kind, as described above.
#
# Intervals cover the choice of texts, not that of models, seeds or languages.

# %%
page.finish(note=f"languages: {', '.join(others)}")
