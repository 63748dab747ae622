# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # This build compared with the full run

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd

from faithbook.engine.run import load
from faithbook.judge import builds, published
from faithbook.judge.reference import committed_board
from faithbook.judge.report import start_page

page = start_page("this_build", profile, values=values, paper=published.OUR_OWN)
pairs = builds.pairs_of_units(page.run)
compared = [builds.cells_beside(*both).assign(values=name) for name, both in pairs.items()]
cells = pd.concat(compared, ignore_index=True) if compared else pd.DataFrame(columns=["values", "away"])
compared_cells = cells["away"].dropna().abs()


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"Of {len(compared_cells):,} cells that this build and the full run have both measured, "
        f"{(compared_cells > builds.FAR).sum():,} differ by more than {builds.FAR:g} standard errors."
    )


page.in_short(in_short)

# %% [markdown]
# All pages show the numbers of the full run. Building the book runs the same computations on fewer inputs. This page
# compares the two: means of the same cells, values of the same inputs, and verdicts. With the full run's settings the
# same input has the same value, and about one cell in twenty differs by more than two standard errors. Other settings (a
# smaller model, fewer samples of LIME) give other values. Cells of fewer than ten inputs are not compared.

# %%
page.listing(
    builds.tables_in_both(pairs, cells),
    "this_build",
    caption="What this build and the full run have both measured, and how many of it differ",
    empty="*This build measured nothing that the full run has.*",
)

# %% [markdown]
# ## Cells
#
# The forty cells that differ most, in standard errors of the difference (as if the inputs were independent). The file has
# all cells.

# %%
page.run.save(cells, "this_build_cells", format="csv")
furthest = cells.reindex(cells["away"].abs().sort_values(ascending=False).index).dropna(subset=["away"])[:40]
furthest = furthest.dropna(axis="columns", how="all")
words = furthest.select_dtypes(exclude="number").columns  # numbers keep their type, and so are rounded
furthest[words] = furthest[words].astype(object).fillna("–")
page.listing(
    furthest[["values", *(name for name in furthest if name != "values")]],
    "this_build_furthest",
    caption="The cells that differ most from the full run's",
    digits=3,
    empty="*There are no cells in both.*",
)

# %% [markdown]
# ## Verdicts
#
# The table has verdicts of this build that differ from those of the full run. They can differ only if a page has no
# values of the full run and shows those of this build, or if rules or published values have changed since.

# %%
boards = [frame.set_index("id").decision for frame in (load("scoreboard", profile), committed_board())]
both = pd.concat(boards, axis=1, keys=["this build", "full run"]).dropna().rename_axis("id").reset_index()
changed = both[both["this build"] != both["full run"]]
page.listing(changed, "this_build_verdicts", caption="Verdicts that differ", empty="*All verdicts are the same.*")

# %%
page.finish()
