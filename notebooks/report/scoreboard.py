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
# out: what has not been run is listed as such. Where the committed reference has the values of single inputs, verdicts are
# drawn from these, and the run that built this copy stands beside them as *your run*.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
from IPython.display import Markdown

from faithbook.engine.profiles import find_profile
from faithbook.engine.run import load
from faithbook.results import findings, published, scoreboard
from faithbook.results.report import start_page

page = start_page("scoreboard", profile, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
page.run.save(board, "scoreboard", format="csv")
about = f"Profile `{profile}`: {find_profile(profile).about}"
# The landing page includes this file: the numbers, a sentence a paper, and how the headline claims fared.
told = findings.summary(board, about, findings.plain_words())
page.run.path("summary.md").write_text(f"{told}\n", encoding="utf-8")
Markdown(told)

# %%
counts = findings.counts(board)
names = [f"{findings.NAMES[paper].partition(' (')[0]}, {ground}" for ground, paper in counts.index]
fig, ax = plt.subplots(figsize=(8.5, 0.42 * len(counts) + 1.3))
places, left = range(len(counts))[::-1], 0 * counts.sum(axis=1)
for side, colour in findings.COLOURS.items():
    bars = ax.barh(places, counts[side], left=left, color=colour, edgecolor="white", label=side)
    ax.bar_label(bars, [str(n) if n else "" for n in counts[side]], label_type="center", color="black")
    left = left + counts[side]
ax.set_yticks(list(places), names)
ax.set_xlabel("distinct findings")
ax.grid(visible=False)
ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=4, fontsize="small")
spoken = "; ".join(
    f"{name}: " + ", ".join(f"{side} {number}" for side, number in row.items() if number)
    for name, (_, row) in zip(names, counts.iterrows(), strict=True)
)
page.figure(
    fig,
    "scoreboard_counts",
    alt=f"Stacked bars of the number of distinct findings by paper and by what they rest on. {spoken}.",
    caption="Distinct findings by paper and by what they rest on, the firmest ground first.",
)

# %% [markdown]
# ## Every verdict
#
# What rests on the authors' outputs and the papers' own data (with our models) comes first, then stand-ins, our own questions, and what
# could not be tested here. A click on a head sorts, the field and the menus above the table filter.

# %%
caption = "Every verdict, with what it rests on and what was found"
page.findable(findings.every(board), "scoreboard_verdicts", caption=caption, data="scoreboard.csv")

# %%
page.finish()
