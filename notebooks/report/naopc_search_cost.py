# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Rows against error: how to search for the bounds
#
# Exact bounds need an answer to every one of $2^N$ sets, so a text of 30 words is out of reach. The paper
# {cite:p}`edin_2025` searches with a beam; its authors report about 210 GPU-hours for one of their data sets. A beam of
# width $B$ asks for about $B N^2$ rows, and rows are all that costs. This page measures what a row buys:
#
# - **released**: the beam as published. Entries that removed the same words in another order fill it several times over.
# - **merged**: each set once, and at the end the best path through *all* sets visited, which costs additions and no rows.
# - **pruned**: merged, but an entry looks only at the few words that had the largest effect when last looked at, in
#   log-odds, and at two words once its answer is within .005 of the end of the scale.
#
# Every search runs on the same texts, news articles cut to a number of words. Errors are measured against the exact
# bounds where there are any, and elsewhere against the best bound that *any* of the searches found, which may itself fall
# short of the truth. The **certificate** needs no such reference: it says how far a bound can be off at most.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.ticker import FuncFormatter, LogLocator

from faithbook.engine.run import has_reference, load, start_run
from faithbook.results import claims, figures, page, reference, resampling, scoreboard, tables
from faithbook.results.figures import PALETTE

run = start_run("naopc_search_cost", profile=profile)
figures.theme()
found = load("naopc_search", profile)
TEXT = ["classifier", "words", "input"]
best = found.groupby(TEXT).agg(best_upper=("upper", "max"), best_lower=("lower", "min"))
found = found.join(best, on=TEXT)
found["error"] = ((found.best_upper - found.upper) + (found.lower - found.best_lower)) / 2
found["unsure"] = ((found.certified_upper - found.upper) + (found.lower - found.certified_lower)) / 2
found["kind"] = np.where((found.variant == "merged") & found.candidates.notna(), "pruned", found.variant)
found["search"] = [
    row.kind
    if row.kind in ("exact", "adaptive")
    else f"{row.kind}, width {row.width:.0f}" + (f", {row.candidates:.0f} words" if row.kind == "pruned" else "")
    for row in found.itertuples()
]
n_texts = len(best)

# %%
cells = ["classifier", "words", "search"]
error = resampling.resample_means(found, value="error", unit=TEXT, cells=cells).table()
others = found.groupby(cells, sort=False).agg(
    rows=("rows", "mean"),
    unsure=("unsure", "mean"),
    bookkeeping=("bookkeeping_seconds", "mean"),
    kind=("kind", "first"),
)
table = error.join(others, on=cells).sort_values([*cells[:2], "rows"])
published_rows = table[table.search == "released, width 5"].set_index(["classifier", "words"]).rows
table["times_fewer"] = [
    published_rows.get((row.classifier, row.words), np.nan) / row.rows for row in table.itertuples()
]
tables.table(
    reference.with_reference(
        table[[*cells, "rows", "times_fewer", "estimate", "low", "high", "unsure", "bookkeeping", "n"]],
        "naopc_search_cost",
        on=cells,
    ),
    run,
    "naopc_search_cost",
    caption="Each search on each length: mean distinct rows a text, how many times fewer than the published search at "
    "width 5, mean error of the two bounds with 95 % bootstrap interval over texts, mean width of the certificate beyond "
    "the bound, seconds of bookkeeping a text (without the model)",
    digits=4,
)

# %% [markdown]
# ## The trade-off curve

# %%
pairs = list(table[["classifier", "words"]].drop_duplicates().itertuples(index=False))
columns = min(2, len(pairs))
lines = -(-len(pairs) // columns)
fig, axes = plt.subplots(lines, columns, figsize=(4 * columns, 2.8 * lines), squeeze=False)
for ax, (classifier, words) in zip(axes.flat, pairs, strict=False):
    here = table[(table.classifier == classifier) & (table.words == words)]
    for kind, colour, marker in zip(("released", "merged", "pruned", "adaptive"), PALETTE, "osD^", strict=False):
        line = here[here.kind == kind].sort_values("rows")
        error_bars = [line.estimate - line.low, line.high - line.estimate]
        ax.errorbar(line.rows, line.estimate, yerr=error_bars, fmt=marker, ls="-", ms=5, lw=1, color=colour, label=kind)
    ax.axhline(0.005, color="0.5", lw=0.8, ls=":")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda rows, _: f"{rows:,.0f}"))
    ax.minorticks_off()
    ax.set_title(f"{classifier}, {words} words")
for ax in axes.flat[len(pairs) :]:
    ax.set_visible(False)
for ax in axes[-1]:
    ax.set_xlabel("distinct rows a text")
for ax in axes[:, 0]:
    ax.set_ylabel("mean error of a bound")
axes[0][0].legend(fontsize="small")
figures.save(
    fig,
    run,
    "naopc_tradeoff",
    alt="Error of the bounds against the number of rows on a log scale, one panel a classifier and length, one line a "
    "kind of search (released, merged, pruned, adaptive); the dotted line marks an error of .005",
    caption=f"What a row buys ({n_texts} texts in all; bars: 95 % bootstrap interval over texts; dotted: an error of .005)",
)

# %% [markdown]
# ## Five times fewer rows?
#
# The aim set for this page: on texts of 80 words and more, the bounds of the published search at width 5, to .005, with
# five times fewer rows.

# %%
long = table[(table.words >= 80) & table.kind.isin(["pruned", "adaptive"])]
rows = []
for (classifier, words), group in long.groupby(["classifier", "words"]):
    theirs = found[(found.classifier == classifier) & (found.words == words) & (found.search == "released, width 5")]
    for search in group.search:
        ours = found[(found.classifier == classifier) & (found.words == words) & (found.search == search)]
        both = theirs.set_index("input").join(ours.set_index("input"), rsuffix="_ours")
        short_of = pd.concat([both.upper - both.upper_ours, both.lower_ours - both.lower])
        rows.append(
            {
                "classifier": classifier,
                "words": words,
                "search": search,
                "times_fewer": (both.rows / both.rows_ours).mean(),
            }
            | {"mean_short_of": short_of.mean(), "largest_short_of": short_of.max(), "n": len(both)}
        )
if rows:
    aims = pd.DataFrame(rows)
    aims["reached"] = (aims.times_fewer >= 5) & (aims.mean_short_of <= 0.005)
    shown = tables.table(
        aims,
        run,
        "naopc_aim",
        caption="Pruned searches beside the published one at width 5 on long texts: rows, and by how much the bounds fall "
        "short of the published search's (negative: they are better)",
        digits=4,
    )
elif has_reference("naopc_aim"):
    shown = tables.table(
        load("naopc_aim", profile, reference=True),
        run,
        "naopc_aim",
        caption=f"The reference run's answer (the profile `{profile}` has no text of 80 words): pruned searches beside the "
        "published one at width 5, by how much the bounds fall short of the published search's (negative: better)",
        digits=4,
    )
else:
    shown = Markdown("This profile has no text of 80 words, and there is no reference run.")
shown

# %%
if rows:
    reached = aims[aims.reached]
    best_one = (
        aims.sort_values("times_fewer").iloc[-1] if reached.empty else reached.sort_values("times_fewer").iloc[-1]
    )
    text = (
        f"reached by {len(reached)} of {len(aims)} rows of the table; at most `{best_one.search}` on {best_one.words} words: "
        f"{best_one.times_fewer:.0f} times fewer rows, bounds {best_one.mean_short_of:.4f} short of the published ones on "
        f"average and {best_one.largest_short_of:.4f} at most ({best_one.n} texts)."
    )
    few = aims.n.max() < claims.FEWEST_UNITS  # a handful of texts decides nothing, whatever they say
    verdict = claims.INCONCLUSIVE if few else claims.HOLDS if len(reached) else claims.FAILS
    line = page.verdict_line(verdict, text)
else:
    line = Markdown("**Not run** at this profile: 80 words take a beam of width 5 some 30,000 rows a text.")
line

# %% [markdown]
# ## What the certificate can and cannot do
#
# An unvisited set can have any answer between 0 and 1, so a certificate is narrow only where the *found* path is already
# near the end of the scale: if removing a few words drives the probability close to 0 and it stays there, the rest of any
# order can gain next to nothing. Where a model's answers stay in the middle of the scale, no search with fewer than about
# $2^N$ rows can certify much, whatever its cleverness: one unseen chain of sets with extreme answers would be enough to
# move the bound. The column `unsure` of the table is that honest ignorance.

# %%
compare_width = found[found.kind != "exact"].groupby(["classifier", "words"]).unsure.agg(["min", "max"]).reset_index()
tables.table(
    compare_width,
    run,
    "naopc_unsure",
    caption="Mean certified ignorance a bound (smallest and largest over searches)",
)

# %%
scoreboard.save_verdicts(run)
run.provenance(n=n_texts)

# %%
run.finish()
