# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What this book taught us
#
# Ten questions. Each has what was measured, and below each measurement the claim that it judges, with the verdict. A person
# wrote the sentences; code fills their numbers, and draws the verdicts by rule. The differences are ours unless *published*
# is said. {doc}`../how-to-read` says what a verdict does not mean; the {doc}`scoreboard` has all of them.

# %% tags=["parameters"]
profile = "laptop"

# %%
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.results import published, scoreboard, taught
from faithbook.results.report import start_page

page = start_page("taught", profile, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
values = load("quotable", profile)
page.run.save(taught.table(board, values), "taught", format="csv")
Markdown(taught.in_short(board, values))

# %%
Markdown(taught.page(board, values))

# %%
page.finish()
