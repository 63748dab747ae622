# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How to search for the bounds, and at what price

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.studies import settings_of
from faithbook.judge.report import start_page
from faithbook.show.numbers import ends_of, spoken
from faithbook.stats import evidence_levels
from faithbook.stats.estimate import ALPHA
from faithbook.stats.inference import Student
from faithbook.stats.verdict import Verdict, conjunction, direction
from faithbook.studies.naopc import edin_bounds, edin_figures

page = start_page("naopc_search_cost", profile, values=values, paper="edin_2025")
CELL = ["model", "words", "search", "metric"]
# Of all that is measured only `short` may be below zero; the ends of other intervals may not.
measured, signed = (
    page.measure("naopc_search", prepare=edin_bounds.of_searches, over=CELL, stratum="words", bounds=(least, np.inf))
    for least in (0.0, -np.inf)
)
mean, difference = measured.quantity(*CELL), signed.quantity(*CELL)
searches = measured.frame.drop_duplicates(["model", "words", "search"]).sort_values(["model", "words"])


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


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    quick = table[table.kind.isin(["pruned", "adaptive"])]
    longest = quick[quick.words == quick.words.max()]
    best = longest[longest.n == longest.n.max()].sort_values("estimate").iloc[0]
    return (
        f"On texts of {best.words} words the best of the pruned searches, *{best.search}*, needs {best.times_fewer:.1f} times fewer "
        f"forward passes than the published one at width 5. Its bounds fall short of the best that any search found by "
        f"{spoken(best, '.4f')} on average ({best.classifier}, n = {best.n} texts)."
    )


page.in_short(in_short)

# %% [markdown]
# Exact bounds need the model's output for all $2^N$ sets, so a text of 30 words is out of reach. The paper
# {cite:p}`edin_2025` searches with a beam; its authors report about 210 GPU-hours for one of their data sets. A beam of
# width $B$ needs about $B N^2$ forward passes, which are the whole cost. We compare four searches:
#
# - **released**: the beam as published. Entries that removed the same words in another order take up several of its places.
# - **merged**: each set once, and at the end the best path through *all* visited sets. This needs no more forward passes.
# - **pruned**: merged, but an entry tries only the few words with the largest last known effect, in log-odds, and only two
#   words once its probability is within 0.005 of 0 or 1.
# - **adaptive**: pruned, with a width that doubles until neither bound changes by more than 0.001.
#
# The texts are news articles, cut to a number of words. Only the cheaper classifiers have all searches. Longer texts have
# the published search at width 5, the pruned ones and the adaptive one; the longest do not have the adaptive one.
#
# Errors are measured against the exact bounds if these are known. Otherwise they are measured against the best bound that
# *any* search found, which may itself be too narrow. The **error bound** needs no such reference: it is how far a bound can
# be off at most.
#
# The paper searched in half precision, we in single precision. Among many rounded values the best is partly the one that
# rounding favours, and the next step starts from it.

# %%
fig, alt = edin_figures.trade_off(table)
caption = "Error and forward passes of each search (bars: 95 % intervals over texts; dotted: an error of 0.005). Exact searches are left out."
page.figure(fig, "naopc_tradeoff", alt=alt, caption=caption, data=table)

# %%
page.listing(
    table.drop(columns="kind").rename(columns={"rows": "passes"}),
    "naopc_search_cost",
    caption="Each search on each length: mean distinct forward passes per text, how many times fewer than the published search at "
    "width 5, mean error of the two bounds with 95 % interval over n texts (none of a single one), mean error bound "
    "(unsure)",
    digits=4,
)

# %%
whole = table.groupby(["classifier", "words"]).n.max().groupby("classifier").sum()
exact = table[table.kind == "exact"].groupby("classifier").n.sum().reindex(whole.index, fill_value=0)
most = settings_of("naopc_search", measured.material.profile)["exact_up_to"]
Markdown(
    "*Words* are separated by blanks, but each punctuation mark is a feature too, so a text of ten words can have more than "
    f"ten features. Only texts with at most {most} features were searched exactly. So errors are against exact bounds for "
    f"{', '.join(f'{exact[name]} of {whole[name]} texts of {name}' for name in whole.index)}."
)

# %%
outdone, asked = [], 0
for (model, words), part in table[table.kind.isin(["pruned", "adaptive"])].groupby(["classifier", "words"]):
    asked += "adaptive" in set(part.kind)
    if pair := edin_bounds.outdone(part, "estimate"):
        adaptive, better = pair
        less = difference(model, words, adaptive.search, "error") - difference(model, words, better.search, "error")
        less = f"difference {spoken(less, '.4f')} on {adaptive.n} texts" if adaptive.n > 1 else "one text"
        outdone.append(
            f"- {model}, {words} words: *{better.search}* needs {better.rows:,.0f} forward passes, not {adaptive.rows:,.0f}, and has an error of "
            f"{better.estimate:.4f}, not {adaptive.estimate:.4f} ({less})"
        )
head = (
    f"The adaptive search ran at {asked} pairs of a classifier and a length. At {len(outdone)} of them a pruned search with one "
    "width needs fewer forward passes and has a smaller error"
)
Markdown("\n".join([f"{head}{':' if outdone else '.'}\n", *outdone]))

# %% [markdown]
# ## Five times fewer forward passes?
#
# We set this aim before the search: on texts of 80 words and more, find the bounds of the published search at width 5 to
# within 0.005 with five times fewer forward passes.

# %%
LONG, TIMES, CLOSE = 80, 5, 0.005
rows, answers = [], []
for row in table[(table.words >= LONG) & table.kind.isin(["pruned", "adaptive"])].itertuples():
    fewer = mean(row.classifier, row.words, row.search, "fewer").ours
    short = difference(row.classifier, row.words, row.search, "short").ours
    answers.append(direction(Student.of([fewer - TIMES, -short + CLOSE])))
    rows.append({"classifier": row.classifier, "words": row.words, "search": row.search, "n": short.n})
    rows[-1] |= ends(fewer, "times fewer", "fewer low", "fewer high")
    rows[-1] |= ends(short, "short of", "short low", "short high")
    rows[-1] |= {
        "reached": page.worded(evidence_levels.worded(answers[-1].verdict.decision, evidence_levels.OUR_QUESTION))
    }
aims = pd.DataFrame(rows)
caption = (
    "Pruned searches compared with the published one at width 5 on long texts: forward passes, and by how much the "
    "bounds fall short of the published search's (negative: they are better), with 95 % intervals; reached: each line on its own"
)
page.listing(aims, "naopc_aim", caption=caption, digits=4, empty="*None in this run.*")

# %%
if aims.empty:
    word = evidence_levels.NOT_TESTED
    note = f"A beam of width 5 needs about 30,000 forward passes for a text of {LONG} words, so this build leaves such texts out."
else:
    tested = [answer for answer in answers if answer.verdict is not Verdict.NOT_TESTED]
    word = evidence_levels.NOT_TESTED
    if tested:  # by one search at least, after the correction for all that were tried
        yes = conjunction([answer.p_yes for answer in tested], 1) <= ALPHA
        no = conjunction([answer.p_no for answer in tested], len(tested)) <= ALPHA
        verdict = Verdict.YES if yes else Verdict.NO if no else Verdict.UNDECIDED
        word = evidence_levels.worded(verdict.decision, evidence_levels.OUR_QUESTION)
    reached = aims[aims.reached == evidence_levels.worded(evidence_levels.REPRODUCED, evidence_levels.OUR_QUESTION)]
    note = (
        f"Whether at least one search reaches the aim, corrected for the number of searches. On their own, {len(reached)} of "
        f"{len(aims)} lines of the table reach it, and {len(aims) - len(tested)} have too few texts for an answer."
    )
    if len(reached):
        top = reached.sort_values("times fewer").iloc[-1]
        note += (
            f" {top.search} saves most ({top.classifier}, {top.words} words, n = {top.n}): {top['times fewer']:.0f} times "
            f"fewer forward passes, bounds {top['short of']:.4f} short of the published ones."
        )
Markdown(f"{page.badge(word)} {note}")

# %% [markdown]
# ## What the error bound can and cannot do
#
# The probability of an unvisited set can have any value between 0 and 1, so the error bound is small only if the
# *found* path
# is already near 0 or 1. If removing a few words brings the probability close to 0 and it stays there, the rest of
# any order can add almost nothing. If the probabilities stay in the middle, no search with fewer than about $2^N$ forward
# passes can guarantee much: one chain of unvisited sets with extreme probabilities would be enough to move the bound. The
# column `unsure` of the table shows how much remains unknown.

# %%
page.finish()
