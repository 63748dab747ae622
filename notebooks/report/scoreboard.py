# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Scoreboard: every verdict

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %% tags=["remove-input"]
from IPython.display import HTML, Markdown

from faithbook.engine.run import load
from faithbook.judge import published, scoreboard, summary
from faithbook.judge.report import start_page
from faithbook.show import forest

page = start_page("scoreboard", profile, values=values, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
page.run.save(board, "scoreboard", format="csv")
by_kind = summary.counts(board)
decided = by_kind.sum()
REPRODUCED = {
    "authors' outputs": "recompute files that authors released",
    "paper's data, our models": "are of our models on a paper's own data",
    "substitute data, our models": "are on substitute data",
    "our own question": "are questions of our own",
}


reproduced = by_kind[summary.REPRODUCED].groupby(level="ground").sum().reindex(list(REPRODUCED), fill_value=0)


def in_short():
    """The result of this page in a sentence."""
    return (
        f"Of {decided.sum()} distinct findings "
        + ", ".join(f"{number} are *{decision}*" for decision, number in decided.items() if number)
        + f". Of those *reproduced* {', '.join(f'{reproduced[ground]} {words}' for ground, words in REPRODUCED.items())}."
    )


page.in_short(in_short)

# %% [markdown]
# Every table, figure and claim of the four papers and every question of our own. Click on a column head to sort; use the
# field and the menus to filter. Verdicts are of the full run, and each links to the page that computes it.
# {doc}`../how-to-read` explains the decisions and the evidence.

# %% tags=["remove-input"]
caption = (
    "Every verdict. *Comparisons*: how many of a claim's comparisons support it on their own. *Printed numbers*: whether the "
    "paper's own numbers, or those that its authors released, bear the claim out as it is worded, without margins or "
    "intervals; the decision is by our rule. ★: survives Holm's correction over the reproduced claims of its paper. *Own repeat*: whether "
    "the claim holds in the paper's own repeat by the same rule, where it prints one. *Unrelated models*: how many models without a "
    "common encoder it rests on. All estimates are in the file"
)
page.findable(summary.every(board), "scoreboard_verdicts", caption=caption, data="scoreboard.csv")

# %% [markdown]
# ## In numbers
#
# A finding that several tables and claims state counts once. Tables of the set-up, illustrations and results on which the
# paper's own repeats disagree are not counted: they leave nothing to test. Verdicts are exploratory: their rules were written or
# changed after values had been seen. *On unseen inputs* has those that were judged once more by frozen rules ({doc}`../how-verdicts-are-made`).

# %%
counts = summary.counts(board)
table = counts.reset_index().assign(paper=[summary.names()[paper].partition(" (")[0] for _, paper in counts.index])
table["together"] = counts.sum(axis=1).to_numpy()
page.listing(
    table, "scoreboard_counts", caption="Distinct findings by evidence and source, the firmest evidence first", digits=0
)

# %% [markdown]
# ## Every finding, published against ours
#
# The dot is ours with its 95 % interval, the diamond the published value, of the comparison that decides; shaded is where the claim
# holds. Quantities have different units, so each line has a scale of its own: what lies farthest from the border is at the edge.
# A line without a dot has no single number that decides it. The ids lead to the rows of the table above.

# %% tags=["remove-input"]
findings = summary.findings(board)
page.run.path("forest.md").write_text(forest.drawn(findings, to="executed/scoreboard.html") + "\n", encoding="utf-8")
HTML(forest.drawn(findings))

# %% [markdown]
# ## What is undecided, and what would decide it
#
# *Needed*: inputs in the smallest cell for a power of 80 %, if the true values equal the estimates. A rule that compares orders
# or trends has no such number: its units are methods or languages.

# %%
undecided = scoreboard.undecided(board)
if undecided.empty:
    shown = Markdown("*Nothing is undecided.*")
else:
    caption = "Undecided findings, each once: inputs in the smallest cell, inputs that would decide it, and why there are not as many"
    shown = page.listing(undecided, "scoreboard_undecided", caption=caption)
shown

# %%
page.finish()
