# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How to search for the bounds, and at what price
#
# Exact bounds need an answer to every one of $2^N$ sets, so a text of 30 words is out of reach. The paper
# {cite:p}`edin_2025` searches with a beam; its authors report about 210 GPU-hours for one of their data sets. A beam of
# width $B$ asks for about $B N^2$ rows, and rows are all that costs. This page measures what a row buys:
#
# - **released**: the beam as published. Entries that removed the same words in another order fill it several times over.
# - **merged**: each set once, and at the end the best path through *all* sets visited, which costs additions and no rows.
# - **pruned**: merged, but an entry looks only at the few words that had the largest effect when last looked at, in
#   log-odds, and at two words once its answer is within .005 of the end of the scale.
# - **adaptive**: pruned, with a width that doubles until neither bound moves by more than .001.
#
# The texts are news articles, cut to a number of words. The full searches, released and merged, run where a classifier is
# cheap enough for them. Longer texts have the published search at width 5, the pruned ones and the adaptive one; the very
# longest go without the adaptive one.
#
# Errors are measured against the exact bounds where there are any, and elsewhere against the best bound that *any* of the
# searches found, which may itself fall short of the truth. The **certificate** needs no such reference: it says how far a
# bound can be off at most.
#
# The paper searched in half precision, this page in single: the best of many rounded answers is partly the one that rounding
# favours, and the next step starts from it.

# %% tags=["parameters"]
profile = "laptop"

# %%
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.profiles import settings_of
from faithbook.papers import edin_bounds, edin_figures
from faithbook.results import evidence, rules
from faithbook.results.numbers import ends_of, spoken
from faithbook.results.page import badge
from faithbook.results.report import start_page

page = start_page("naopc_search_cost", profile, paper="edin_2025")
CELL = ["model", "words", "search", "metric"]
# Of all that is measured only `short` may be below zero; the ends of other intervals may not.
measured, signed = (
    page.measure("naopc_search", prepare=edin_bounds.of_searches, over=CELL, stratum="words", bounds=(least, np.inf))
    for least in (0.0, -np.inf)
)
mean, difference = measured.quantity(*CELL), signed.quantity(*CELL)
searches = measured.frame.drop_duplicates(["model", "words", "search"]).sort_values(["model", "words"])
page.speaks()


# %%
def ends(of, *names):
    """A quantity with its interval; a single text has none."""
    _, *interval = row_values = ends_of(of, *names)
    return row_values if of.n > 1 else row_values | dict.fromkeys(interval, np.nan)


rows = []
for model, words, search, kind in searches[["model", "words", "search", "kind"]].itertuples(index=False):
    means = {metric: mean(model, words, search, metric).ours for metric in ("rows", "fewer", "error", "unsure")}
    rows.append({"classifier": model, "words": words, "search": search, "kind": kind, "n": means["error"].n})
    rows[-1] |= {"rows": means["rows"].point, "times_fewer": means["fewer"].point}
    rows[-1] |= ends(means["error"]) | {"unsure": means["unsure"].point}
table = pd.DataFrame(rows).sort_values(["classifier", "words", "rows"])
page.listing(
    table.drop(columns="kind"),
    "naopc_search_cost",
    caption="Each search on each length: mean distinct rows per text, how many times fewer than the published search at "
    "width 5, mean error of the two bounds with 95 % interval over n texts (none of a single one), mean width of the "
    "certificate beyond the bound",
    digits=4,
)

# %%
whole = table.groupby(["classifier", "words"]).n.max().groupby("classifier").sum()
exact = table[table.kind == "exact"].groupby("classifier").n.sum().reindex(whole.index, fill_value=0)
most = settings_of("naopc_search", measured.material.profile)["exact_up_to"]
Markdown(
    "*Words* are what stands between blanks, but a punctuation mark is a feature of its own: a text of ten words has more than "
    f"ten features if it has any. Only texts with at most {most} features were searched exactly. So errors are against exact bounds for "
    f"{', '.join(f'{exact[name]} of {whole[name]} texts of {name}' for name in whole.index)}."
)

# %% [markdown]
# ## The trade-off curve

# %%
fig, alt = edin_figures.trade_off(table)
caption = "What a row buys (bars: 95 % intervals over texts; dotted: an error of .005). Exact searches are left out."
page.figure(fig, "naopc_tradeoff", alt=alt, caption=caption, data=table)

# %%
outdone, asked = [], 0
for (model, words), part in table[table.kind.isin(["pruned", "adaptive"])].groupby(["classifier", "words"]):
    asked += "adaptive" in set(part.kind)
    if pair := edin_bounds.outdone(part, "estimate"):
        adaptive, better = pair
        less = difference(model, words, adaptive.search, "error") - difference(model, words, better.search, "error")
        less = f"difference {spoken(less, '.4f')} on {adaptive.n} texts" if adaptive.n > 1 else "one text"
        outdone.append(
            f"- {model}, {words} words: *{better.search}* asks for {better.rows:,.0f} rows, not {adaptive.rows:,.0f}, and errs by "
            f"{better.estimate:.4f}, not {adaptive.estimate:.4f} ({less})"
        )
head = (
    f"The adaptive search ran at {asked} pairs of a classifier and a length. At {len(outdone)} of them a pruned search with one "
    "width asks for fewer rows and errs less"
)
Markdown("\n".join([f"{head}{':' if outdone else '.'}\n", *outdone]))

# %% [markdown]
# ## Five times fewer rows?
#
# The aim set for this page: on texts of 80 words and more, the bounds of the published search at width 5, to .005, with
# five times fewer rows.

# %%
LONG, TIMES, CLOSE = 80, 5, 0.005
rows, answers = [], []
for row in table[(table.words >= LONG) & table.kind.isin(["pruned", "adaptive"])].itertuples():
    fewer = mean(row.classifier, row.words, row.search, "fewer").ours
    short = difference(row.classifier, row.words, row.search, "short").ours
    answers.append(rules.k_of([fewer - TIMES, -short + CLOSE], "all"))
    rows.append({"classifier": row.classifier, "words": row.words, "search": row.search, "n": short.n})
    rows[-1] |= ends(fewer, "times fewer", "fewer low", "fewer high")
    rows[-1] |= ends(short, "short of", "short low", "short high")
    rows[-1] |= {"reached": evidence.worded(answers[-1].decision, evidence.OUR_QUESTION)}
aims = pd.DataFrame(rows)
page.listing(
    aims,
    "naopc_aim",
    caption="Pruned searches beside the published one at width 5 on long texts: rows, and by how much the bounds fall short of "
    "the published search's (negative: they are better), with 95 % intervals; reached: each line for itself",
    digits=4,
    empty="*None in this run.*",
)

# %%
if aims.empty:
    word = rules.NOT_TESTED
    note = f"A beam of width 5 asks for some 30,000 rows of a text of {LONG} words: this profile leaves such texts out."
else:
    tested = [answer for answer in answers if answer.answer != rules.UNTESTABLE]
    word = rules.NOT_TESTED
    if tested:  # by one search at least, after the correction for all that were tried
        fewest = int(aims.n[aims.reached != rules.NOT_TESTED].min())
        answer = rules.conjunction([one.p_yes for one in tested], [one.p_no for one in tested], 1, fewest)
        word = evidence.worded(answer.decision, evidence.OUR_QUESTION)
    reached = aims[aims.reached == evidence.worded(rules.REPRODUCED, evidence.OUR_QUESTION)]
    note = (
        f"By one search at least, all that were tried taken into account. Each for itself, {len(reached)} of {len(aims)} lines "
        f"of the table reach it, and {len(aims) - len(tested)} have too few texts for an answer."
    )
    if len(reached):
        top = reached.sort_values("times fewer").iloc[-1]
        note += (
            f" Most is saved by {top.search} ({top.classifier}, {top.words} words, n = {top.n}): {top['times fewer']:.0f} times "
            f"fewer rows, bounds {top['short of']:.4f} short of the published ones."
        )
    else:
        note += " What each search misses it by is in the table."
Markdown(f"{badge(word)} {note}")

# %% [markdown]
# ## What the certificate can and cannot do
#
# An unvisited set can have any answer between 0 and 1, so a certificate is narrow only where the *found* path is already
# near the end of the scale: if removing a few words drives the probability close to 0 and it stays there, the rest of any
# order can gain next to nothing. Where a model's answers stay in the middle of the scale, no search with fewer than about
# $2^N$ rows can certify much, whatever its cleverness: one unseen chain of sets with extreme answers would be enough to
# move the bound. The column `unsure` of the table is that honest ignorance.

# %%
page.finish()
