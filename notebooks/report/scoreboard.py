# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Scoreboard
#
# Every table, figure and claim of the papers and every question of our own, and how it fared here. Verdicts are computed
# on the pages that the list links to; {doc}`how to read them <../how-to-read>` is explained first of all. Nothing is left
# out: what has not been run is listed as such. Verdicts are of the full run, whose values of single inputs are in the
# repository; *this build* has the verdict of the run that made these pages, if it is another one. What a review page of a
# paper says counts apart from what the paper says.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.results import findings, published, scoreboard
from faithbook.results.report import start_page

page = start_page("scoreboard", profile, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
page.run.save(board, "scoreboard", format="csv")
# The landing page includes this file: the numbers, a sentence per paper, and how the headline claims fared.
told = findings.summary(board, findings.plain_words())
page.run.path("summary.md").write_text(f"{told}\n", encoding="utf-8")
Markdown(told)

# %%
counts = findings.counts(board)
names = [f"{findings.NAMES[paper].partition(' (')[0]}, {ground}" for ground, paper in counts.index]
fig, ax = plt.subplots(figsize=(8.5, 0.42 * len(counts) + 1.3))
places, left = range(len(counts))[::-1], 0 * counts.sum(axis=1)
for side, colour in findings.COLOURS.items():
    bars = ax.barh(places, counts[side], left=left, color=colour, edgecolor="#888888", lw=0.5, label=side)
    ax.bar_label(bars, [str(n) if n else "" for n in counts[side]], label_type="center", color="black")
    left = left + counts[side]
ax.set_yticks(list(places), names)
ax.set_xlabel("distinct findings")
ax.grid(visible=False)
ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=5, fontsize="small")
spoken = "; ".join(
    f"{name}: " + ", ".join(f"{side} {number}" for side, number in row.items() if number)
    for name, (_, row) in zip(names, counts.iterrows(), strict=True)
)
page.figure(
    fig,
    "scoreboard_counts",
    alt=f"Stacked bars of the number of distinct findings by source and evidence. {spoken}.",
    caption="Distinct findings by source and evidence, the firmest evidence first.",
)

# %% [markdown]
# ## Every verdict
#
# What rests on the authors' outputs and the papers' own data (with our models) comes first, then stand-ins, our own questions, and what
# could not be tested here. A click on a head sorts, the field and the menus above the table filter.

# %%
caption = (
    "Every verdict, with its evidence and what was found. *Printed numbers*: whether the paper's own numbers, or those that "
    "its authors released, bear the claim out as it is worded, without margins or intervals; the verdict is by our rule"
)
page.findable(findings.every(board), "scoreboard_verdicts", caption=caption, data="scoreboard.csv")

# %%
page.finish()
