# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do maps lie on what people see?
#
# Plausibility asks whether an explanation names what people would name. For texts, people marked words; for pictures, they cut
# objects out of photographs: the stamps of Tux Paint {cite:p}`tuxpaint_2022` are photographs of birds, fruit, vehicles and other
# things whose grounds somebody took away by hand. Here they are set into scenes, so that it is known cell by cell where the
# object lies. A scene of one object asks whether a map finds it. A scene of two objects of unlike classes asks more: whether
# the map finds the one whose class it explains, and not the other, which stands out as much.
#
# Agreement with people is no faithfulness: a model may answer rightly for a reason that nobody would give, and a faithful
# map then shows that reason ({doc}`../foundations/faithfulness`).

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.results import figures, published
from faithbook.results.figures import PALETTE
from faithbook.results.labels import label
from faithbook.results.numbers import listed, spoken
from faithbook.results.report import start_page
from faithlib.catalogue import FAMILIES

page = start_page("together_pointing", profile, paper=published.OUR_OWN)
ran = any(folder.parent.name == "together_objects" for folder in page.run.upstream)
BETTER = {"pointing": "higher", "iou": "higher", "auprc": "higher", "astray": "lower"}
FLOOR = "random"


def measured(notebook, metrics):
    """The values of some metrics, by data set, method and metric."""

    def of_these(units):
        return units[units.metric.isin(metrics)]

    return page.measure(notebook, over=["dataset", "method", "metric"], prepare=of_these, bounds=(0, 1))


def by_method(found, metrics):
    """The mean of every cell, what it is above random scores, and whether the interval of that leaves out zero: a row a
    cell, each turned so that above random is better."""
    cells = {
        (dataset, method, metric): found.cells.mean(dataset=dataset, method=method, metric=metric)
        for dataset, method, metric in found.frame[["dataset", "method", "metric"]]
        .drop_duplicates()
        .itertuples(index=False)
    }
    table = listed(cells, ["dataset", "method", "metric"])
    words = []
    for dataset, method, metric in cells:
        ends = (cells[dataset, method, metric] - cells[dataset, FLOOR, metric]).interval()
        low, high = (-ends.high, -ends.low) if metrics[metric] == "lower" else (ends.low, ends.high)
        words.append("" if method == FLOOR else "better" if low > 0 else "worse" if high < 0 else "open")
    return table.assign(beside_random=words)


def shown(table, name, metrics, what):
    """A table with a row a method, best first by the first metric and random scores last."""
    part = table.assign(cell=[f"{spoken(one)}, {one.n}, {one.beside_random or '–'}" for one in table.itertuples()])
    wide = part.pivot(index="method", columns="metric", values="cell").reindex(columns=list(metrics))
    first = part[part.metric == next(iter(metrics))].set_index("method").estimate.sort_values(ascending=False)
    wide = wide.loc[[*first.index.drop(FLOOR), FLOOR]].dropna(axis=1, how="all")
    arrows = {metric: f"{label(metric)} {'↓' if better == 'lower' else '↑'}" for metric, better in metrics.items()}
    caption = f"{what}: mean with 95 % interval, n, and how that stands to random scores (better, worse, open)"
    return page.listing(wide.rename(columns=arrows).reset_index(), name, caption=caption)


# %% [markdown]
# ## The scenes, and the model
#
# A photograph is in one split alone. Objects are small enough for half of a scene, on a ground of soft colours, which is not
# the one colour that an erased cell takes; a cell belongs to an object that covers at least half of it. The model is the
# small vision transformer of study 2's photographs with an adapter that learnt eight classes from scenes of one object, of
# about a hundred photographs. A scene counts if the model answers the class of an object in it; of two objects the map then
# explains the one that is answered. Scenes that explain the same photograph are one cluster in every interval.

# %%
if ran:
    objects = measured("together_objects", BETTER)
    table = by_method(objects, BETTER)
    table.to_csv(page.run.path("together_pointing.csv"), index=False)
    display(page.speaks())
    for name, one in load("objects_looked_at", profile).groupby("dataset", sort=False):
        right, of = one[one.right], one.input.str.partition("+")[0].nunique()
        asked = (
            ""
            if name == "stamps"
            else " (each is asked once for each of its objects, of which one at most can be answered)"
        )
        display(
            Markdown(
                f"- **{label(name)}**: {len(one)} scenes of {of} photographs{asked}; the model answers the class in "
                f"{len(right)}. The object has {right.cells.mean() / right.of.mean():.0%} of the cells on average: what "
                "pointing gets by chance."
            )
        )
else:
    table = pd.DataFrame(columns=["dataset", "method", "metric", "estimate"])
    display(
        Markdown(
            "**No numbers for pictures here.** The photographs are not on the machine that built this page, or no model that "
            "learnt from them. `python -m faithbook.sources.files fetch stamps` brings them (161 MB)."
        )
    )

# %% [markdown]
# ## Where maps point
#
# - *Pointing*: the cell with the highest score is the object's (the pointing game {cite:p}`zhang_2018`). *Astray*: it is the
#   other object's.
# - *IoU*: the object's cells against as many with the highest scores, what both have by what either has.
# - AUPRC: as for texts.

# %%
for name in table.dataset.unique():
    display(shown(table[table.dataset == name], f"together_pointing_{name}", BETTER, label(name)))


# %%
def drawn():
    """Pointing on scenes of one object and of two, and astray, a line a method."""
    panels = [(name, metric) for name in table.dataset.unique() for metric in ("pointing", "astray")]
    panels = [one for one in panels if ((table.dataset == one[0]) & (table.metric == one[1])).any()]
    order = table[table.metric == "pointing"].groupby("method").estimate.mean().sort_values().index
    fig, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 4.2), sharey=True, squeeze=False)
    for ax, (name, metric) in zip(axes[0], panels, strict=True):
        part = table[(table.dataset == name) & (table.metric == metric)].set_index("method").reindex(order)
        figures.dots(ax, part.reset_index(), range(len(order)), label=label(metric), colour=PALETTE[metric == "astray"])
        chance = part.estimate[FLOOR]
        ax.axvline(chance, ls=":", color="0.5")
        ax.set_title(f"{label(name)}: {label(metric)}\n({BETTER[metric]} is better)", fontsize="small")
        ax.set_xlim(-0.03, 1.03)
        ax.set_yticks(range(len(order)), [label(one) for one in order])
    return fig


def told():
    """Which method points best, by kind of scene."""
    best = (
        table[(table.metric == "pointing") & (table.method != FLOOR)].sort_values("estimate").groupby("dataset").tail(1)
    )
    return "; ".join(f"{label(one.dataset)}: {label(one.method)} {one.estimate:.2f}" for one in best.itertuples())


if ran:
    display(
        page.figure(
            drawn(),
            "together_pointing_game",
            alt="Panels with a dot and an interval for each method: the share of scenes in which the highest cell is the "
            f"object's, and with two objects in which it is the other's. Best at pointing, {told()}.",
            caption="Where the highest cell of a map lies: share of scenes with 95 % interval; dotted: random scores.",
            data=table,
        )
    )

# %% [markdown]
# ## Beside texts
#
# The same question of the texts of this chapter's one table: excerpts in which people marked words, and how well
# attributions find them. Marks on words say why a text has its label; the outline of an object says where it is. So rows
# of one kind compare methods, and the two kinds are no contest.

# %%
TEXTS = {name: better for name, better in FAMILIES["plausibility"].directions.items() if name != "average_precision"}
texts = by_method(measured("together_matrix", TEXTS), TEXTS)
for name in texts.dataset.unique():
    display(shown(texts[texts.dataset == name], f"together_pointing_{name}", TEXTS, label(name)))
Markdown(
    "Random scores mark nothing, and yet have a value above zero everywhere: it depends on how much is marked. What is no "
    "better than they are tells people nothing about where the marks lie."
)

# %%
page.finish(note="" if ran else "no photographs with masks on this machine")
