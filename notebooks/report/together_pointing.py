# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do heat maps point at what people see?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import spoken
from faithbook.studies.together.pointing_game import FLOOR, OBJECTS, by_method, game, wide
from faithlib.catalogue import FAMILIES

page = start_page("together_pointing", profile, values=values, paper=published.OUR_OWN)
ran = any(folder.parent.name == "together_objects" for folder in page.run.upstream)


def pointed_at(notebook, metrics):
    """The values of some metrics, by data set, method and metric."""

    def of_these(units):
        return units[units.metric.isin(metrics)]

    return by_method(
        page.measure(notebook, over=["dataset", "method", "metric"], prepare=of_these, bounds=(0, 1)), metrics
    )


def show(table, metrics, called):
    """A table for each data set, `called` so."""
    in_cells = "mean with 95 % interval, n, and how that stands to random scores (better, worse, open)"
    for name, part in table.groupby("dataset", sort=False):
        display(page.listing(wide(part, metrics), f"{called}_{name}", caption=f"{label(name)}: {in_cells}"))


# %%
table = pointed_at("together_objects", OBJECTS) if page.has("together_objects") else None
WITHOUT_PICTURES = (
    "there are no numbers for images in this copy. The photographs are not on the machine that built this page, or no model was "
    "trained on them. `python -m faithbook.sources.files fetch stamps` brings them (161 MB)."
)
if table is not None:
    table.to_csv(page.run.path("together_pointing.csv"), index=False)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    if table is None:
        return WITHOUT_PICTURES
    shown = table[table.metric == "pointing_game"]
    return (
        "The highest cell of a map is on the object that it explains in "
        + "; ".join(
            f"{spoken(part[part.method != FLOOR].sort_values('estimate').iloc[-1], '.2f')} of the scenes for the best of "
            f"{part.method.nunique() - 1} methods ({label(part[part.method != FLOOR].sort_values('estimate').method.iloc[-1])}) and in "
            f"{spoken(part[part.method == FLOOR].iloc[0], '.2f')} for random scores, {label(name)} (n = {part.n.min():.0f})"
            for name, part in shown.groupby("dataset", sort=False)
        )
        + "."
    )


page.in_short(in_short)

# %% [markdown]
# Plausibility asks whether an explanation names what people would name. For texts people marked words. For images we use
# objects that people cut out of photographs by hand: birds, fruit, vehicles and other things from Tux Paint
# {cite:p}`tuxpaint_2022`. We put them into scenes, so that we know which cells show the object. In a scene with one object a
# heat map should find it. A scene with two objects of different classes asks more: does the map find the object whose class it
# explains, and not the other one?
#
# Agreement with people is not faithfulness: a model may be right for a reason that nobody would give, and a faithful map then
# shows that reason ({doc}`../foundations/faithfulness`).

# %% [markdown]
# ## The scenes, and the model
#
# Each photograph is in one split only. An object fits into half of a scene, on a background of soft colours that differ from
# the colour of an erased cell. A cell belongs to an object that covers at least half of it. The model is the small vision
# transformer of study 2 with an adapter, trained for eight classes on scenes of one object from about a hundred photographs.
# A scene counts if the model predicts the class of an object in it, and the map then explains this object. Scenes that
# explain the same photograph are one cluster in every interval.

# %%
looked = load("objects_looked_at", profile).groupby("dataset", sort=False) if ran else ()
for name, scenes in looked:
    right, of = scenes[scenes.right], scenes.input.str.partition("+")[0].nunique()
    asked = " (each is run once for each of its objects, of which at most one can be predicted)"
    display(
        Markdown(
            f"- **{label(name)}**: this run looked at {len(scenes)} scenes of {of} photographs{'' if name == 'stamps' else asked}; "
            f"the model answers the class in {len(right)}. The object has {right.cells.mean() / right.of.mean():.0%} of the "
            "cells on average: what pointing gets by chance."
        )
    )

# %% [markdown]
# ## Where maps point
#
# - *Pointing game* {cite:p}`zhang_2018`: the cell with the highest score belongs to the object. *Astray*: it belongs to the
#   other object.
# - *IoU*: intersection over union of the object's cells and the same number of cells with the highest scores.
# - AUPRC: as for texts.

# %%
if table is not None:
    show(table, OBJECTS, "together_pointing")
    fig, alt = game(table)
    caption = "Where the highest cell of a map is: share of scenes with 95 % interval; dotted: random scores."
    display(page.figure(fig, "together_pointing_game", alt=alt, caption=caption, data=table))

# %% [markdown]
# ## Texts and images in one table
#
# The table has all plausibility metrics for both kinds of input that people marked: excerpts with marked words, and scenes of
# one object. {doc}`together_agreement` compares these metrics with those of faithfulness. Marks on words say why a text has its
# label, while the outline of an object only says where it is, so compare methods within a kind and not the two kinds.
# Token-F1 and IOU-F1 take the same number of features for every input, the average number of marked ones; IoU takes as many as
# this input has. Metrics added after the stored run have no column.

# %%
MARKED = {name: better for name, better in FAMILIES["plausibility"].directions.items() if name != "average_precision"}
show(pointed_at("together_matrix", MARKED), MARKED, "together_marked")
Markdown(
    "Random scores mark nothing, and yet have a value above zero everywhere: it depends on how much is marked. A method "
    "that is no better than they are does not show where the marks are."
)

# %%
page.finish(note="" if ran else "no photographs with masks on this machine")
