# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Scoreboard: every verdict
#
# Every table, figure and claim of the four papers and every question of our own. Click on a column head to sort; use the
# field and the menus to filter. Verdicts are of the full run, and each links to the page that computes it.
# {doc}`../how-to-read` explains the decisions and the evidence.

# %% tags=["parameters"]
profile = "laptop"

# %% tags=["remove-input"]
import matplotlib.pyplot as plt
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published, scoreboard, summary
from faithbook.judge.report import start_page

page = start_page("scoreboard", profile, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
page.run.save(board, "scoreboard", format="csv")
caption = (
    "Every verdict. *Comparisons*: how many of a claim's comparisons support it on their own. *Printed numbers*: whether the "
    "paper's own numbers, or those that its authors released, bear the claim out as it is worded, without margins or "
    "intervals; the decision is by our rule. ★: survives Holm's correction over the reproduced claims of its paper. *Own repeat*: whether "
    "the claim holds in the paper's own repeat by the same rule, where it prints one. All estimates are in the file"
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
names = [f"{summary.names()[paper].partition(' (')[0]}, {ground}" for ground, paper in counts.index]
fig, ax = plt.subplots(figsize=(8.5, 0.42 * len(counts) + 1.3))
places, left = range(len(counts))[::-1], 0 * counts.sum(axis=1)
for side, colour in summary.COLOURS.items():
    bars = ax.barh(places, counts[side], left=left, color=colour, edgecolor="#888888", lw=0.5, label=side)
    ax.bar_label(bars, [str(n) if n else "" for n in counts[side]], label_type="center", color="black")
    left = left + counts[side]
ax.set_yticks(list(places), names)
ax.set_xlabel("distinct findings")
ax.grid(visible=False)
ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=5, fontsize="small")
alt = "; ".join(
    f"{name}: " + ", ".join(f"{side} {number}" for side, number in row.items() if number)
    for name, (_, row) in zip(names, counts.iterrows(), strict=True)
)
alt = f"Stacked bars of the number of distinct findings by source and evidence. {alt}."
page.figure(
    fig, "scoreboard_counts", alt=alt, caption="Distinct findings by source and evidence, the firmest evidence first."
)

# %%
turned = summary.turned_by_rules()
stars, reproduced = scoreboard.starred(board), summary.with_p(board)
Markdown(
    f"Of {len(reproduced)} reproduced claims of papers whose rule has a p-value, {int(stars.sum())} survive Holm's correction. Since "
    f"22 November 2026 a change of a rule on values that had been seen turned {turned} verdicts (`data/rule_history.csv`)."
)

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
