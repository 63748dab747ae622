# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Open points: where text and code part, and what it changes
#
# Zaman and Belinkov {cite:p}`zaman_belinkov_2022` released the code of their study. It answers most questions that the
# text leaves open. In some places it does something else than the text says, and in one it does not do what it means
# to. This page lists these points, E1 to E14. For each: what the text says, what the code does, what we do, and how far
# the numbers move where our runs can tell. Models and texts are {term}`stand-ins <stand-in>` at every profile but
# `paper`, so an effect here shows that a choice can matter and in which direction, not by how much it did there.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load, start_run
from faithbook.papers.erasure_counts import BATCH, ERASURE_BINS, WINDOW, bin_sizes, windows_told
from faithbook.papers.zaman_belinkov import AGGREGATED, ERASING, PAPER_LANGUAGES
from faithbook.results import claims, figures, published, reference, resampling, tables
from faithbook.results.figures import PALETTE
from faithbook.results.labels import row_label

run = start_run("crosslingual_deviations", profile=profile)
figures.theme()
rho = load("crosslingual_rho", profile)
languages = [language for language in dict.fromkeys(rho.language) if language in PAPER_LANGUAGES]
rho = rho[rho.language.isin(languages)]
released = load("crosslingual_released", profile)
released = released[released.language.isin(languages)]
erasure = load("crosslingual_erasure", profile)
models = list(dict.fromkeys(rho.model))
n_messages, n_erased = rho.input.nunique(), erasure.input.nunique()


# %% [markdown]
# ## How the effects are measured
#
# A choice is made otherwise, on the same messages with the same models and links. Reported is the **change of rho**,
# always *other choice less ours*: the mean over languages (those of the paper's four that the profile has) and models.
# Intervals draw messages again, each with both of its values.

# %%
CELLS = ["model", "language", "choice", "method", "aggregation"]
changed = resampling.resample_means(released, value="rho", unit="input", cells=CELLS)
POINTS = {
    "embedded twice": "E2 embedded twice",
    "probability": "E4 probability",
    "logit of the predicted class": "E9 the predicted class's logit",
    "single pieces": "E10 single pieces",
    "lasso": "E14 a lasso for LIME",
}
rows = []
for choice, point in POINTS.items():
    for method, aggregation in released[released.choice == choice][["method", "aggregation"]].drop_duplicates().values:
        here = {"method": method, "aggregation": aggregation}
        found = changed.difference(here | {"choice": choice}, here | {"choice": "main"})
        before = changed.interval(choice="main", **here)
        rows.append(
            {"point": point, "choice": choice, **here, "n": n_messages, "ours": before.estimate}
            | {"estimate": found.estimate, "low": found.low, "high": found.high}
        )
# E3: three rows of the main run, of which the first two are meant to differ.
whole = rho[rho.setting == "main"]
power = resampling.resample_means(
    whole, value="rho", unit="input", cells=["model", "language", "output", "method", "aggregation"]
)
for aggregation in ("l2", "mean"):
    here = {"aggregation": aggregation, "output": "top_prediction"}
    found = power.difference(here | {"method": "guided_backprop_released"}, here | {"method": "guided_backprop"})
    before = power.interval(method="guided_backprop", **here)
    rows.append(
        {"point": "E3 guided backprop as released", "choice": "released", "method": "guided_backprop"}
        | {"aggregation": aggregation, "n": n_messages, "ours": before.estimate}
        | {"estimate": found.estimate, "low": found.low, "high": found.high}
    )
effects = pd.DataFrame(rows)
tables.table(
    reference.with_reference(effects, "crosslingual_deviations_effects", on=["choice", "method", "aggregation"]),
    run,
    "crosslingual_deviations_effects",
    caption="Every effect on rho of the top prediction: other choice less ours, 95 % intervals over n messages",
    shown=False,
)

# %%
order = effects.sort_values("point", key=lambda v: v.str.extract(r"E(\d+)")[0].astype(int), kind="stable")
fig, ax = plt.subplots(figsize=(7.5, 0.34 * len(order) + 1.2))
places = np.arange(len(order))[::-1]
points = list(dict.fromkeys(order.point))
for i, point in enumerate(points):
    chosen = (order.point == point).to_numpy()
    figures.dots(
        ax, order[chosen], places[chosen], colour=PALETTE[i % len(PALETTE)], marker="osD^v"[i % 5], label=point
    )
ax.axvline(0, color="#666666", ls=":", lw=1)
ax.set_yticks(places, [row_label(r.method, r.aggregation) for r in order.itertuples()])
ax.set_xlabel("change of rho, other choice less ours")
ax.grid(axis="y", visible=False)
ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize="small")
spoken = "; ".join(f"{r.point}, {row_label(r.method, r.aggregation)} {r.estimate:+.2f}" for r in order.itertuples())
figures.save(
    fig,
    run,
    "crosslingual_deviations_plot",
    alt=f"Dot plot of the change of rho, a row for each choice and method. {spoken}.",
    caption=f"What each choice changes in rho of the top prediction ({n_messages} messages, {', '.join(languages)}; 95 % "
    "bootstrap intervals over messages).",
)


# %%
def shown(name, caption, point):
    """The effects of one point as a table."""
    part = effects[effects.point == point].drop(columns=["point", "choice"])
    display(tables.table(part, run, name, caption=caption))


# %% [markdown]
# ## E1: every batch is answered with the first one
#
# - *Text:* {term}`comprehensiveness` and {term}`sufficiency` on the English test set, all texts.
# - *Code:* the function that asks the model for predictions cuts the list of all copies into batches of 64, but each
#   time takes the *first* 64 rows. Every batch gets the answers of the first one. An input and its five erased copies
#   make six rows, which does not divide 64, so most windows of six rows mix the answers of two inputs.
# - *Here:* each row its own answer; beside it, what that loop would have made of our answers (`first_batch_fault`).
#
# How many inputs the released loop can see does not depend on any data:

# %%
seen = windows_told(BATCH * 3)  # more inputs than any batch holds
Markdown(
    f"Batches of {BATCH} and {WINDOW} rows an input leave {seen['different windows']} different windows, however many "
    f"inputs there are. {seen['begin on an original']} of them start on an input, and "
    f"{seen['one input from end to end']} belong to one input from end to end."
)

# %% [markdown]
# What that does to the spread of the methods' scores, which is what the paper compares with rho: the standard deviation
# over rows (method, aggregation, output) of the mean over texts. {doc}`The page on erasure <crosslingual_erasure>` has
# the tables and the claim that hangs on it.

# %%
ROW = ["method", "aggregation", "output"]
COLUMNS = ["comprehensiveness", "sufficiency"]
COLUMNS += [f"{name}_first_batch" for name in COLUMNS]
rated = erasure[~erasure.method.isin(["uniform", "random", "guided_backprop_released"])]
long = rated.melt(["input", "model", *ROW], COLUMNS, "metric", "value")
over_texts = resampling.resample_means(long, value="value", unit="input", cells=["metric", "model", *ROW])


def spread(metric):
    """The standard deviation over rows of their means over models and texts: a function of the cells."""

    def function(frame):
        chosen = frame.loc[:, frame.columns.get_level_values("metric") == metric]
        return chosen.T.groupby(level=ROW).mean().T.std(axis=1)

    return function


spreads = pd.DataFrame(
    [
        {"metric": name.removesuffix("_first_batch"), "answers": "first batch" if "first" in name else "right"}
        | {"n": n_erased, "estimate": found.estimate, "low": found.low, "high": found.high}
        for name in COLUMNS
        for found in [over_texts.interval(spread(name))]
    ]
)
# Texts that share a window are no separate texts: an interval for the faulty numbers would be too narrow.
spreads.loc[spreads.answers == "first batch", ["low", "high"]] = np.nan
tables.table(
    reference.with_reference(spreads, "crosslingual_deviations_e1", on=["metric", "answers"]),
    run,
    "crosslingual_deviations_e1",
    caption="E1: standard deviation over rows of the mean score, with right answers and with those of the first batch",
)

# %%
if n_erased <= BATCH // WINDOW:
    note = f"This profile erases {n_erased} texts, which fit into one batch: the fault cannot show here."
else:
    at = spreads.set_index(["metric", "answers"]).estimate
    note = "With the fault the spread is " + " and ".join(
        f"{at[name, 'first batch'] / at[name, 'right']:.2f} times the right one ({name})" for name in COLUMNS[:2]
    )
    note += "."
Markdown(note)

# %% [markdown]
# ## E2: twice through the embeddings
#
# - *Text:* gradients with respect to word embeddings; words replaced by the embedding of `[PAD]`.
# - *Code:* for saliency, guided backprop, occlusion, LIME and Shapley sampling it takes `hidden_states[0]`, which is the
#   *output* of the embedding module, and hands it to the model as `inputs_embeds`, which is its *input*. So positions and
#   token types are added, and LayerNorm applied, a second time. Those five methods explain another function than the
#   model that was trained; input × gradient, integrated gradients and activation do not.
# - *Here:* every method explains the model itself. Measured: the other function (`faithbook.papers.zaman_belinkov_twice`). For
#   input × gradient this is a what-if.

# %%
shown("crosslingual_deviations_e2", "E2: rho of the function that embeds twice, less ours", "E2 embedded twice")

# %% [markdown]
# ## E3: guided backpropagation of a model without ReLU
#
# - *Text:* the gradient of ReLU is replaced, so that only positive gradients pass.
# - *Code:* captum's, which replaces it at modules of the class `ReLU`. These models have GELU and no such module, so
#   nothing is replaced: what is left is the plain gradient. With L2 its printed values must equal those of saliency;
#   with means it is saliency without absolute values.
# - *Here:* `guided_backprop` does at GELU what its paper does at ReLU; the row `guided_backprop_released` is captum's.

# %%
printed = published.table("crosslingual_table1").set_index(["method", "aggregation", "output"]).value
apart = [abs(printed["guided_backprop", "l2", o] - printed["saliency", "l2", o]) for o in ("top_prediction", "loss")]
both = {"aggregation": "l2", "output": ["top_prediction", "loss"]}
gap = power.difference(both | {"method": "guided_backprop_released"}, both | {"method": "saliency"})
display(
    Markdown(
        f"Printed, L2: guided backprop and saliency differ by {max(apart):.4f} at most. Ours, released guided backprop less "
        f"saliency, L2: {gap} (n = {n_messages})."
    )
)
shown("crosslingual_deviations_e3", "E3: rho of the released row, less ours", "E3 guided backprop as released")

# %% [markdown]
# ## E4: a probability or a logit
#
# - *Text:* the output is that of the classification layer, and the loss is its logarithm at the true class; so a
#   probability.
# - *Code:* the largest *logit*. The loss is the cross entropy, as in the text.
# - *Here:* the logit. Measured: the probability. Its gradient also depends on the other classes and is tiny where the
#   model is sure; the order of words within a message may change, and rho sees nothing else.

# %%
shown("crosslingual_deviations_e4", "E4: rho of the probability, less that of the largest logit", "E4 probability")

# %% [markdown]
# ## E5: sums over pieces, sums over links, zeros
#
# - *Text:* the score of an English word is the sum over the words linked with it. How pieces become words is not said,
#   nor what happens to a word without a link.
# - *Code:* the scores of a word's pieces are added up; an English word without a link has 0 and stays in; word vectors
#   are scaled to length one, which no rank sees.
# - *Here:* as the code. Measured: means in place of sums, words without a link left out, and more.
#   {doc}`A page of its own <crosslingual_floors>` sets floors beside them. In short, over the paper's thirteen:

# %%
METHODS = [*AGGREGATED, *ERASING]
E5 = ["mean of pieces", "mean of links", "means of both", "unaligned left out", "no copied words"]
E5 += ["means, aligned, no copied words"]
settings = resampling.resample_means(
    rho[rho.method.isin([*METHODS, "uniform"])],
    value="rho",
    unit="input",
    cells=["model", "language", "setting", "method", "aggregation", "output"],
)
rows = []
for setting in E5:
    found = settings.difference({"setting": setting, "method": METHODS}, {"setting": "main", "method": METHODS})
    ours = settings.interval(setting="main", method=METHODS)
    rows.append(
        {"setting": setting, "n": n_messages, "ours": ours.estimate}
        | {"estimate": found.estimate, "low": found.low, "high": found.high}
    )
e5 = pd.DataFrame(rows)
tables.table(
    reference.with_reference(e5, "crosslingual_deviations_e5", on=["setting"]),
    run,
    "crosslingual_deviations_e5",
    caption="E5: change of rho, mean over the thirteen rows and both outputs",
)

# %% [markdown]
# ## E6: which languages
#
# - *Text:* the languages that are among the five best of both models: Bulgarian, German, Spanish and French, beside
#   English.
# - *Code:* a notebook of the release lists Spanish, French, German, Chinese and Vietnamese as its five best.
# - *Here:* the four of the text where they are averaged over. What the printed accuracies themselves say:

# %%
accuracies = published.table("crosslingual_table7")
TOP = 5
first = {
    model: set(part[part.language != "en"].nlargest(TOP, "value", keep="all").language)
    for model, part in accuracies.groupby("model", sort=False)
}
common = sorted(set.intersection(*first.values()))
Markdown(
    f"The {TOP} best languages other than English in Table 7 (all that tie for the last place): "
    + "; ".join(f"{model}: {', '.join(sorted(names))}" for model, names in first.items())
    + f". In common: {', '.join(common)}."
)

# %% [markdown]
# ## E7: a mean over five bins, divided by six
#
# - *Text:* scores are averaged over the bins, of which there are five.
# - *Code:* the sum over five bins is divided by six, as if a bin of no words counted with a drop of zero. A printed
#   score is 5/6 of the mean that the text describes. No order of methods changes. For sufficiency the sixth bin would be
#   the empty text, whose drop is not zero.
# - *Here:* the mean over five. `empty_bin=True` divides by six.

# %%
table3 = published.table("crosslingual_table3").groupby("metric").value.mean()
fraction = len(ERASURE_BINS) / (len(ERASURE_BINS) + 1)
Markdown(
    "Means over the rows of Table 3: "
    + "; ".join(
        f"{name} {value:.3f} as printed, {value / fraction:.3f} as a mean over bins" for name, value in table3.items()
    )
    + "."
)

# %% [markdown]
# ## E8: how many words are in a bin
#
# - *Text:* the top 1, 5, 10, 20 and 50 % of the words.
# - *Code:* the share of the words, *rounded* (a half to the even number), and at least one; the number of words also
#   counts the separators between premise and hypothesis.
# - *Here:* rounded up, as everywhere in this book. Measured: in how many bins of our texts the two differ.

# %%
lengths = erasure.drop_duplicates("input").set_index("input").words.astype(int)
differs = {n: (bin_sizes(n, "up") != bin_sizes(n, "nearest")).mean() for n in set(lengths)}
found = resampling.mean_interval(lengths.map(differs))
single = resampling.mean_interval(
    lengths.map({n: len(set(bin_sizes(n, "nearest").tolist())) for n in set(lengths)}).astype(float)
)
Markdown(
    f"Bins whose size the rounding changes: {found.estimate:.0%} [{found.low:.0%}, {found.high:.0%}] of all "
    f"(n = {found.n} texts). Short texts make the five bins few: as released, a text has {single.estimate:.1f} "
    "different ones on average."
)

# %% [markdown]
# ## E9: the top prediction of which text?
#
# - *Text:* the score of the top predicted class, written as $\max f(x)$.
# - *Code:* the largest logit of *whatever* is asked. For the message itself this is the logit of the predicted class; on
#   an erased copy, or half-way to a baseline, it may be that of another class. Occlusion then does not see that a word
#   carried the prediction, if without it the model is as sure of something else.
# - *Here:* as text and code have it (`top_logit`): formula and program agree, and a method that erases explains that
#   function. Usual elsewhere, and measured: the logit of the class that is predicted for the whole message. For
#   saliency and input × gradient the two are one and the same, and their change is zero.

# %%
POINT = "E9 the predicted class's logit"
shown("crosslingual_deviations_e9", "E9: rho of the predicted class's logit, less that of the largest", POINT)

# %% [markdown]
# ## E10: a word at a time, or a piece
#
# - *Text:* whole words are replaced.
# - *Code:* LIME and Shapley sampling replace every position alone, so a piece of a word; then the scores of pieces are
#   added up like gradients.
# - *Here:* whole words, as the text says. Measured: single pieces, added up. With 50 samples LIME then has more unknowns
#   to find.

# %%
shown("crosslingual_deviations_e10", "E10: rho with single pieces erased, less whole words", "E10 single pieces")

# %% [markdown]
# ## E11: the word aligner
#
# - *Text and code:* awesome-align {cite:p}`dou_neubig_2021`: layer 8 of multilingual BERT, links where the softmax in both
#   directions is above a threshold, so that a word may have several links; premise and hypothesis are one text.
# - *Here:* words that are each other's nearest in a layer of our encoder, chosen by links that people made. A word has
#   one link at most, but for ties. How good either kind of links is, {doc}`the page on the aligner <crosslingual_aligner>`
#   measures; the threshold rule is among the aligners there.

# %% [markdown]
# ## E12: random links
#
# - *Text:* the aligner's search on a random matrix of similarities (Figure 7). How many links that gives is not said.
# - *Here:* two ways to draw, of as many links as the aligner found: anywhere, or so that every English word keeps its
#   number of them. {doc}`crosslingual_tables` has the picture.

# %% [markdown]
# ## E13: batches of translations
#
# - *Text:* batches of 8 texts are compared with their translations by {ref}`CKA <cka>`, and with 10 random batches
#   (Figure 6). How texts are put into batches is not said. In the order of XNLI a batch holds hypotheses of the same few
#   premises, which alone tells it from a random one.
# - *Here:* in random order. {doc}`crosslingual_aligner` has the picture.

# %% [markdown]
# ## E14: LIME's surrogate
#
# - *Text:* captum's LIME with its default of 50 samples. Of the linear model that is fitted to them it says nothing;
#   captum's default is a lasso, which sets most weights of a text to zero.
# - *Here:* a ridge regression, the choice of LIME's authors. Measured: the lasso, with captum's penalty. Words with a
#   weight of zero all tie, and where all are zero there is no rho.

# %%
shown("crosslingual_deviations_e14", "E14: rho of LIME with a lasso, less a ridge", "E14 a lasso for LIME")

# %% [markdown]
# ## In one sentence each

# %%
clear = effects[(effects.low > 0) | (effects.high < 0)] if n_messages >= claims.FEWEST_UNITS else effects[:0]
lines = [
    f"- {point}: "
    + (
        "; ".join(
            f"{row_label(r.method, r.aggregation)} {r.estimate:+.3f}" for r in clear[clear.point == point].itertuples()
        )
        or "no change of rho that can be told from zero"
    )
    for point in points
]
Markdown("Changes of rho with an interval that leaves out zero:\n\n" + "\n".join(lines))

# %%
run.provenance(
    n=n_messages,
    note=f"rho: {n_messages} messages; erasure: {n_erased}; models: {', '.join(models)}; languages: {', '.join(languages)}",
)

# %%
run.finish()
