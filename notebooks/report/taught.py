# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What this book taught us
#
# Ten questions, a paragraph each. Every sentence is one verdict in plain words, and code has chosen it: where a verdict
# changes, with a larger run or another rule, another sentence stands here. A sentence that says *at least one* says as much
# as its rule has shown and no more. Behind each stand the verdict, its id, the page that draws it, what it rests on, and the
# numbers. {doc}`../how-to-read` tells what a verdict does not say; the {doc}`scoreboard` has all of them.

# %% tags=["parameters"]
profile = "laptop"

# %%
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.results import published, scoreboard, taught
from faithbook.results.report import start_page

page = start_page("taught", profile, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
page.run.save(taught.table(board), "taught", format="csv")
Markdown(taught.in_short(board))

# %%
Markdown(taught.page(board))

# %%
page.finish()
