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
from faithbook.show.labels import label, short
from faithbook.studies.together import pointing_game
from faithbook.studies.together.pointing_game import CELL, MARKED, OBJECTS, hits_by_method, of_metrics, table_by_method

page = start_page("together_pointing", profile, values=values, paper=published.OUR_OWN)
ran = any(folder.parent.name == "together_objects" for folder in page.run.upstream)
table = None
if page.has("together_objects"):
    measured = page.measure("together_objects", over=CELL, prepare=of_metrics(OBJECTS), bounds=(0, 1))
    table = hits_by_method(measured, OBJECTS)
    table.to_csv(page.run.path("together_pointing.csv"), index=False)

# %% tags=["remove-input"]
page.in_short(lambda: pointing_game.in_short(table))

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
for _, scenes in looked:
    display(Markdown(pointing_game.scenes_in_words(scenes)))

# %% [markdown]
# ## Where maps point
#
# - *Pointing game* {cite:p}`zhang_2018`: the cell with the highest score belongs to the object. *Astray*: it belongs to the
#   other object.
# - *IoU*: intersection over union of the object's cells and the same number of cells with the highest scores.
# - AUPRC: as for texts.

# %%
IN_CELLS = "mean with 95 % interval, n, and how that compares with random scores (better, worse; open: the interval of the difference includes zero)"
if table is not None:
    for name, part in table.groupby("dataset", sort=False):
        display(
            page.listing(
                table_by_method(part, OBJECTS), f"together_pointing_{name}", caption=f"{label(name)}: {IN_CELLS}"
            )
        )

# %%
if table is not None:
    fig, alt = pointing_game.pointing_game_figure(table)
    caption = "Where the highest cell of a map is: share of scenes with 95 % interval; dotted: random scores."
    display(page.figure(fig, "together_pointing_game", alt=alt, caption=caption, data=table))

# %% [markdown]
# ## Texts and images in one table
#
# The table has all plausibility metrics for both kinds of input that people marked: excerpts with marked words, and scenes of
# one object. {doc}`together_agreement` compares these metrics with those of faithfulness. Marks on words say why a text has its
# label, while the outline of an object only says where it is, so compare methods within a kind and not the two kinds.
# Token-F1 and IOU-F1 take the same number of features for every input, the average number of marked ones; IoU takes as many as
# this input has. The inputs are those of {doc}`together_agreement`: fewer scenes than above, so values of one metric differ a little.

# %%
EXCERPTS = {"pair": "excerpts of papers with marked words (pair)"}
measured = page.measure("together_matrix", over=CELL, prepare=of_metrics(MARKED), bounds=(0, 1))
for name, part in hits_by_method(measured, MARKED).groupby("dataset", sort=False):
    caption = f"{EXCERPTS.get(name, short(name))}: {IN_CELLS}"
    display(page.listing(table_by_method(part, MARKED), f"together_marked_{name}", caption=caption))

# %%
Markdown(
    "Random scores know nothing of the marks, and yet most of their values are above zero: these depend on how much is marked. A "
    "method that is no better than random scores does not show where the marks are."
)

# %%
page.finish(note="" if ran else "no photographs with masks on this machine")
