# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Photographs with their heat maps

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import matplotlib.pyplot as plt
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.judge.report import start_page
from faithbook.show import figures
from faithbook.show.labels import label
from faithbook.studies.saco import wu_figures
from faithbook.studies.saco.wu import METHODS, SIGN, short

page = start_page("saco_photographs", profile, values=values, paper="wu_2024")
SHOWN = [*METHODS, "random"]
pictures, maps, scores = (load(f"saco_{name}", profile) for name in ("pictures", "maps", "scores"))
channels = ["channel0", "channel1", "channel2"]
photographs = pictures.dropna(subset=channels) if {*channels} <= {*pictures.columns} else pictures.head(0)
WHICH = ["dataset", "input"]
NO_PHOTOGRAPH = "*No photograph was measured in this run.*"
by_picture = {key: rows.sort_values("pixel") for key, rows in photographs.groupby(WHICH, sort=False)}
by_map = {
    key: rows.sort_values("pixel")
    for key, rows in maps.groupby([*WHICH, "method"], sort=False)
    if key[:2] in by_picture
}
first = scores[scores.draw == 0].merge(photographs[[*WHICH, "model"]].drop_duplicates(), on=[*WHICH, "model"])
of_pictures = first[first.method.isin(SHOWN)].set_index([*WHICH, "method"])[list(SIGN)]


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    if not by_picture:
        return "no photograph was measured in this run: there is nothing to show."
    each = of_pictures[of_pictures.index.get_level_values("method") != "random"].saco.groupby(level=WHICH)
    between = (each.max() - each.min()).mean()
    return (
        f"on {len(by_picture)} images the best and the worst of {len(METHODS)} explanations of one image differ in SaCo by "
        f"{between:.2f} on average. Over each image, in grey, are the ten groups of a map, the most salient one brightest. The "
        "colours show the order alone, so that maps with and without negative scores look the same."
    )


page.in_short(in_short)

# %% [markdown]
# The numbers of study 2 {cite:p}`wu_2024` are about such images: CIFAR {cite:p}`krizhevsky_2009` as the model sees them, with
# every explanation drawn over them. SaCo goes from −1 to 1, higher is better. The images are for research use, so a published
# copy of the book leaves this page out. They are the first images in a fixed random order of their data sets and not chosen;
# a few images decide nothing.


# %%
def grey(rows):
    """An image [side, side] from its pixels, by how light each is."""
    side = int(rows.side.iloc[0])
    return (rows[channels].to_numpy() @ [0.299, 0.587, 0.114]).reshape(side, side)


def draw(ax, key, method, title):
    """An image in grey with the groups of a map over it."""
    lay(ax, grey(by_picture[key]), by_map[*key, method].group.to_numpy(), title)


def lay(ax, light, group, title):
    """An image in grey [side, side] with groups [side * side] over it."""
    ax.imshow(light, cmap="gray", vmin=0, vmax=1)
    ax.imshow(group.reshape(light.shape), cmap="viridis_r", alpha=0.5, vmin=0, vmax=9)
    figures.bare(ax, title)


def picture_in_words(key):
    """What an image shows and what the model takes it for."""
    image = by_picture[key].iloc[0]
    return f"an image of {label(image.dataset)}, label {image.label}, taken for {image.predicted} with probability {image.p_full:.2f}"


# %% [markdown]
# ## Every explanation, the best by SaCo first
#
# The image itself is at the top left. Its ten explanations and random scores follow, ordered by SaCo on this image. With ten
# groups SaCo of one image has a standard deviation of a third under random scores ({doc}`saco_random`), so the order on
# another image may differ.

# %%
if not by_picture:
    display(Markdown(NO_PHOTOGRAPH))
for place, key in enumerate(by_picture):
    rows = by_picture[key]
    of_this = of_pictures.loc[key].saco.dropna().sort_values(ascending=False)
    fig, (panel, *panels) = figures.panels(len(of_this) + 1, 3, height=2.85)
    panel.imshow(rows[channels].to_numpy().reshape(*grey(rows).shape, 3))
    figures.bare(panel, f"{rows.label.iloc[0]}")
    for ax, (method, saco) in zip(panels, of_this.items(), strict=True):
        draw(ax, key, method, f"{short(method)}: {saco:.2f}")
    spoken = ", ".join(f"{short(method)} {saco:.2f}" for method, saco in of_this.items())
    display(
        page.figure(
            fig,
            f"saco_photographs_{place + 1}",
            alt=f"A{picture_in_words(key)[1:]}, and {len(of_this)} maps over it in grey, by their SaCo: {spoken}.",
            caption=f"A{picture_in_words(key)[1:]}: the maps by their SaCo, the best first.",
        )
    )

# %% [markdown]
# ## The best and the worst case of each metric
#
# The upper row has the map that each metric rates highest among these images and methods (without random scores), the lower
# row the map that it rates lowest. A metric is not wrong if a map looks odd: faithfulness is to the model, which may use
# other pixels than people do.

# %%
if by_picture:
    ranked = of_pictures[of_pictures.index.get_level_values("method") != "random"] * SIGN
    fig, axes = plt.subplots(2, len(SIGN), figsize=(10, 5.4))
    spoken = []
    for column, metric in zip(axes.T, SIGN, strict=True):
        ends = (ranked[metric].idxmax(), ranked[metric].idxmin())
        for ax, end, word in zip(column, ends, ("best", "worst"), strict=True):
            value = of_pictures.loc[end, metric]
            draw(ax, end[:2], end[2], f"{label(metric)}: {value:.2f}\n{short(end[2])}")
            spoken.append(f"{label(metric)}, {word}: {short(end[2])} {value:.2f} on {picture_in_words(end[:2])}")
    for ax, word in zip(axes[:, 0], ("best", "worst"), strict=True):
        ax.set_ylabel(word)
    display(
        page.figure(
            fig,
            "saco_photographs_ends",
            alt=f"Two rows of images in grey with a map over each, one column per metric. {'; '.join(spoken)}.",
            caption="The map that each metric rates highest (above) and lowest (below), with its value.",
        )
    )
else:
    display(Markdown(NO_PHOTOGRAPH))

# %% [markdown]
# ## Figures 1 and 3 of the paper, on a photograph
#
# {doc}`The figures of the paper <saco_figures>` use an image that everybody may see. On this page they use the first photograph
# and show what the model gets to see when the most salient pixels go first, and when each group goes alone. They also
# show what both cost under Transformer Attribution, Raw Attention and random scores.

# %%
if by_picture:
    first_one = wu_figures.Picture.first(next(iter(by_picture))[0], photographs, maps, load("saco_steps", profile))
    charts = {
        "manners": (
            wu_figures.two_manners,
            f"The two ways of erasing, {first_one.described}, groups by {label(first_one.erased_by)} (group 1 is the most "
            "salient). Numbers: the probability of the class predicted for the whole image.",
        ),
        "case": (
            wu_figures.case_study_figure,
            f"The case study, {first_one.described}. Dotted: 0.9, which the paper's losses stay above from the third group on.",
        ),
    }
    for name, (drawn, caption) in charts.items():
        fig, alt = drawn(first_one)
        display(page.figure(fig, f"saco_photographs_{name}", alt=alt, caption=caption))
else:
    display(Markdown(NO_PHOTOGRAPH))

# %% [markdown]
# ## Images of ImageNet, with a convolutional network
#
# The weights of the paper's transformers are not available, but those of EfficientNet-Lite0 are, a convolutional network with ImageNet's
# thousand classes {cite:p}`russakovsky_2015`. These are images that it classifies correctly, at the paper's 224 pixels, with
# its explanations of that class over them in patches of 32; {doc}`saco_stand_ins` has the values of all metrics. Grad-CAM was
# made for such networks.

# %%
if any(folder.parent.name == "saco_imagenet" for folder in page.run.upstream):
    seen = load("imagenet_pictures", profile)
    groups = load("imagenet_maps", profile).set_index(["input", "method"])
    wanted = [name for name in groups.index.get_level_values("method").unique() if name != "random"]
    of_image = dict(list(seen.groupby("input", sort=False)))
    names = {name: rows.label.iloc[0].partition(",")[0] for name, rows in of_image.items()}
    across = len(wanted) + 1
    fig, spots = figures.panels(across * len(names), across, height=1.9)
    for place, (name, rows) in enumerate(of_image.items()):
        pixels = rows.assign(**{channel: rows[channel] / 255 for channel in channels})
        spots[across * place].imshow(pixels[channels].to_numpy().reshape(*grey(pixels).shape, 3))
        figures.bare(spots[across * place], f"{names[name]}, {rows.p_full.iloc[0]:.2f}")
        for ax, method in zip(spots[across * place + 1 :], wanted, strict=False):
            lay(ax, grey(pixels), groups.loc[(name, method)].group.to_numpy(), short(method))
    predictions_text = ", ".join(f"{names[name]} {rows.p_full.iloc[0]:.2f}" for name, rows in of_image.items())
    display(
        page.figure(
            fig,
            "saco_photographs_imagenet",
            alt=f"Images of ImageNet with the probability of their class ({predictions_text}), a line each: the image, then in grey with "
            f"ten groups of patches over it by {', '.join(map(short, wanted))}.",
            caption="What a convolutional network's answers rest on by each explanation, the tenth of the patches with the highest "
            "scores brightest; the title has the class and its probability.",
        )
    )
else:
    display(Markdown("*No image of ImageNet was explained in this run.*"))

# %%
page.finish(note=f"{len(by_picture)} photographs")
