"""Edin et al.'s figures, drawn from the released values and ours; each comes with its words for those who do not see
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from faithbook.show.figures import OURS, PALETTE
from faithbook.show.labels import label, labels, short
from faithbook.show.plots import Drawn, Layout, dot_plot, line_plot, rows_of_pairs
from faithbook.stats.comparison import Comparison
from faithbook.studies.naopc.edin_bounds import DATASETS, dataset_name
from faithbook.studies.naopc.edin_released import LONG, MODELS, SETS, SHORT
from faithbook.text import joined

NAMES = {model: label(model) for model in MODELS}
SEARCHES = {"released": "s", "merged": "o", "pruned": "D", "adaptive": "^"}
"""The marker of each kind of search."""
Together = Sequence[tuple[Sequence[str], Sequence[str]]]
"""Models that were measured on the same data sets, and these (`edin_bounds.together`)."""


def short_name(method: str) -> str:
    """A method's name without what stands in brackets.

    >>> short_name("integrated_gradients"), short_name("input_x_gradient"), short_name("top_ratio")
    ('IG', 'x∇x', 'top ratio')
    """
    return short(method).replace("_", " ")


def length_histograms(words: pd.DataFrame) -> Drawn:
    """Histograms of the words of long texts (dataset, words)."""
    fig, axes = plt.subplots(1, 3, figsize=(9, 2.8))
    clauses = []
    for ax, dataset in zip(axes, LONG, strict=True):
        part = words[words["dataset"] == dataset]["words"]
        ax.hist(part, bins=50, color=OURS)
        ax.axvline(part.mean(), color="black", ls="--", lw=1.2)
        ax.set_title(f"{SETS[dataset]} (n = {len(part)})")
        ax.set_xlabel("words")
        clauses.append(f"{SETS[dataset]} {part.min()} to {part.max()}, mean {part.mean():.1f}")
    axes[0].set_ylabel("texts")
    return fig, f"Three histograms of the number of words of the long texts. {'; '.join(clauses)}."


def limits(both: pd.DataFrame) -> Drawn:
    """Histograms of exact limits (dataset, model, lower, upper, lower_released, upper_released)."""
    fig, axes = plt.subplots(len(SHORT), 2, figsize=(8.5, 6), sharex=True, squeeze=False)
    edges = np.linspace(-1, 1, 41)
    for line, dataset in zip(axes, SHORT, strict=True):
        for ax, bound in zip(line, ("upper", "lower"), strict=True):
            for model, colour in zip(MODELS, PALETTE, strict=False):
                part = both[(both["dataset"] == dataset) & (both["model"] == model)]
                ax.hist(part[bound], edges, histtype="step", color=colour, lw=1.6, label=NAMES[model])
                ax.hist(part[f"{bound}_released"], edges, histtype="step", color=colour, lw=1, ls=":")
            ax.set_title(f"{SETS[dataset]}, {bound} bound")
            ax.yaxis.set_major_locator(MaxNLocator(integer=True))  # texts are counted
    for ax in axes[-1]:
        ax.set_xlabel("AOPC")
    for ax in axes[:, 0]:
        ax.set_ylabel("texts")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize="small")
    means = both.groupby("model")[["lower", "upper"]].mean()
    clauses = []
    for model in [name for name in MODELS if name in means.index]:
        lower, upper = means.loc[model, ["lower", "upper"]]
        clauses.append(f"{NAMES[model]} {lower:.2f} to {upper:.2f}")
    alt = "Histograms of exact upper and lower bounds on short texts. Mean lower to mean upper bound: "
    return fig, f"{alt}{'; '.join(clauses)}."


def methods_figure(panels: Mapping[str, Mapping[str, Comparison]]) -> Drawn:
    """Means by method, ours and those of the files: one panel per kind of score."""
    tidy = pd.concat([rows_of_pairs(means, kind=kind) for kind, means in panels.items()])
    names = labels() | {"published": "in the files"}
    layout = Layout(panel="kind", series="series", names=names)
    return dot_plot(tidy, "mean NAOPC, short texts", layout=layout)


def search_cost_figure(cost: pd.DataFrame) -> Drawn:
    """Mean error of both bounds against rows (search, rows, upper_error, lower_error)."""
    errors = {"upper_error": "upper bound", "lower_error": "lower bound"}
    tidy = cost.melt(["search", "rows"], list(errors), "bound", "estimate")
    layout = Layout(panel="bound", series="search", names=errors, looks=_looks_of_searches())
    return line_plot(tidy, "model outputs needed per text, mean", "mean error", x="rows", layout=layout)


def _looks_of_searches() -> dict[str, tuple[str, str]]:
    """Colour and marker of each kind of search, the same in both figures of their costs."""
    looks = {}
    for (kind, marker), colour in zip((SEARCHES | {"exact": "*"}).items(), PALETTE, strict=False):
        looks[kind] = (colour, marker)
    return looks


def trade_off(cost: pd.DataFrame) -> Drawn:
    """Error of the bounds against rows, one panel per classifier and length (classifier, words, kind, search, rows,
    estimate, low, high)."""
    drawn = cost[cost["kind"] != "exact"]
    drawn = drawn.assign(panel=drawn["classifier"].map(label) + ", " + drawn["words"].astype(str) + " words")
    layout = Layout(panel="panel", series="kind", columns=3, looks=_looks_of_searches(), mark=0.005, width=9.5)
    fig, alt = line_plot(
        drawn, "distinct forward passes per text", "mean error", x="rows", layout=layout, bars=True, log=True
    )
    # The costs span three powers of ten: ticks at these, not at the costs themselves, whose labels would overlap.
    powers = [100, 1_000, 10_000, 100_000]
    for ax in fig.axes:
        ax.set_xticks(powers, labels=[f"{power:,}" for power in powers], fontsize="x-small")
        ax.minorticks_off()
    return fig, alt


def widths(limits: pd.DataFrame) -> Drawn:
    """Box plots of both limits of long texts by the width of the beam (dataset, model, width, lower, upper): one
    row for each model, one column for each data set."""
    models = [model for model in MODELS if model in set(limits["model"])]
    widths_tried = sorted(limits["width"].unique().tolist())
    size = (8.5, 1.9 * len(models))
    fig, axes = plt.subplots(len(models), len(LONG), figsize=size, sharex=True, sharey=True, squeeze=False)
    for row, model in zip(axes, models, strict=True):
        for ax, dataset in zip(row, LONG, strict=True):
            part = limits[(limits["model"] == model) & (limits["dataset"] == dataset)]
            _boxes(ax, part, "upper", widths_tried, colour=OURS, shift=-0.18)
            _boxes(ax, part, "lower", widths_tried, colour=PALETTE[1], shift=0.18)
            ax.set_xticks(range(len(widths_tried)), [str(width) for width in widths_tried])
            ax.grid(visible=False, axis="x")
        row[0].set_ylabel(f"{NAMES[model]}\nAOPC", fontsize="small")
    for ax, dataset in zip(axes[0], LONG, strict=True):
        ax.set_title(SETS[dataset])
    for ax in axes[-1]:
        ax.set_xlabel("width of the beam")

    first, last = widths_tried[0], widths_tried[-1]
    medians = limits.groupby(["dataset", "width"])[["upper", "lower"]].median()
    clauses = []
    for dataset in LONG:
        narrow, wide = medians.loc[(dataset, first)], medians.loc[(dataset, last)]
        clauses.append(
            f"{SETS[dataset]} upper {narrow['upper']:.3f} and {wide['upper']:.3f}, "
            f"lower {narrow['lower']:.3f} and {wide['lower']:.3f}"
        )
    return fig, (
        f"Box plots of the upper (blue) and lower bound of AOPC by the width of the beam, {len(models)} models by "
        f"{len(LONG)} data sets. Medians over models and texts at width {first} and {last}: {'; '.join(clauses)}."
    )


def _boxes(ax: Any, part: pd.DataFrame, bound: str, widths: Sequence[int], *, colour: str, shift: float) -> None:
    """Box plots of a bound, one for each width of the beam, a little beside its place."""
    values = [part[part["width"] == width][bound].to_numpy() for width in widths]
    boxes = ax.boxplot(
        values,
        positions=np.arange(len(widths)) + shift,
        widths=0.3,
        showfliers=False,
        patch_artist=True,
        medianprops={"color": "black"},
    )
    for box in boxes["boxes"]:
        box.set_facecolor(colour)


def before_after_maps(means: pd.DataFrame) -> Drawn:
    """Heat maps of mean scores by method and model before and after normalising (`edin_tables.explanations`)."""
    panels = {
        "aopc_comprehensiveness": "AOPC, comprehensiveness",
        "naopc_comprehensiveness": "NAOPC, comprehensiveness",
        "aopc_sufficiency": "AOPC, sufficiency",
        "naopc_sufficiency": "NAOPC, sufficiency",
    }
    fig, axes = plt.subplots(2, 2, figsize=(9, 8), sharex=True, sharey=True)
    clauses = []
    for ax, (column, title) in zip(axes.flat, panels.items(), strict=True):
        wide = means.pivot(index="method", columns="model", values=column)
        wide = wide[[model for model in MODELS if model in wide]]
        ax.imshow(wide.to_numpy(), vmin=0, vmax=1, cmap="viridis", aspect="auto")
        for (row, place), value in np.ndenumerate(wide.to_numpy()):
            colour = "k"
            if value < 0.6:  # on the dark end of the map
                colour = "w"
            ax.text(place, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
        models = [NAMES[str(model)] for model in wide]
        ax.set_xticks(range(len(models)), models, rotation=35, ha="right", fontsize=8)
        ax.set_yticks(range(len(wide)), [short_name(str(method)) for method in wide.index], fontsize=8)
        ax.grid(visible=False)
        ax.set_title(title, fontsize="small")
        by_model = wide.mean()
        clauses.append(f"{title}: means of models from {by_model.min():.2f} to {by_model.max():.2f}")
    return fig, f"Four heat maps of methods by models. {'; '.join(clauses)}."


def rankings(panels: Mapping[str, pd.DataFrame]) -> Drawn:
    """Slope charts of ranks (index model, method; a column a score), one panel each."""
    lines = -(-len(panels) // 2)  # of two panels each, rounded up
    fig, axes = plt.subplots(lines, 2, figsize=(9.5, 4.2 * lines))
    for ax, (title, ranks) in zip(axes.T.flat, panels.items(), strict=True):
        for (model, method), line in zip(ranks.index.tolist(), ranks.to_numpy(), strict=True):
            ax.plot(range(len(line)), line, "o-", color=PALETTE[list(MODELS).index(model)], lw=1.5, ms=3)
            ax.text(len(line) - 0.95, line[-1], short_name(method), va="center", fontsize=8)
        ax.set_xticks(range(ranks.shape[1]), ranks.columns, fontsize="small")
        ax.set_xlim(-0.2, ranks.shape[1] - 0.4)
        ax.set_yticks([1, *range(5, len(ranks), 5), len(ranks)])
        ax.invert_yaxis()
        ax.grid(visible=False, axis="x")
        ax.set_title(title, fontsize="small")
    for ax in axes[:, 0]:
        ax.set_ylabel("rank")
    for model, colour in zip(MODELS, PALETTE, strict=False):
        axes[0, 0].plot([], [], "o-", color=colour, label=NAMES[model])
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize="small")
    changed = []
    for title, ranks in panels.items():
        moved = int((ranks.iloc[:, 0] != ranks.iloc[:, 1]).sum())
        changed.append(f"{title}: {moved} of {len(ranks)}")
    alt = "Slope charts of ranks of a model and a method under AOPC and NAOPC. Pairs that change rank: "
    return fig, f"{alt}{'; '.join(changed)}."


# ------------------------------------------------------------------------------------------------------ models of ours
TEXTS = {"short": "short texts (exact bounds)", "long": "long texts (beam search)"}


def ranges(bounds: pd.DataFrame) -> Drawn:
    """From the lower to the upper bound of each model, marked at the upper, one panel per data set (dataset, length,
    classifier, bound, estimate)."""
    keys = ["dataset", "length", "classifier"]
    lower = bounds[bounds["bound"] == "lower"].set_index(keys)["estimate"]
    upper = bounds[bounds["bound"] == "upper"].set_index(keys)["estimate"]
    tidy = pd.DataFrame({"estimate": upper, "low": lower, "high": upper}).reset_index()
    names = labels() | DATASETS | TEXTS
    layout = Layout(panel="dataset", series="length", columns=3, names=names, mark=0.0, width=9.5)
    fig, _ = dot_plot(tidy, "AOPC, worst to best order", row="classifier", layout=layout)
    return fig, "Lines from the mean lower to the mean upper bound of AOPC, by model, data set and length."


def attacked(accuracy: pd.DataFrame, together: Together) -> Drawn:
    """Accuracy against the radius of an attack, one line per model, one panel per data set (dataset, classifier,
    radius, estimate, low, high)."""
    frames = []
    for models, datasets in together:
        of_group = accuracy["dataset"].isin(datasets) & accuracy["classifier"].isin(models)
        frames.append(accuracy[of_group])
    layout = Layout(panel="dataset", series="classifier", columns=3, names=labels() | DATASETS, width=9.5)
    return line_plot(pd.concat(frames), "radius of the attack", "accuracy", x="radius", layout=layout)


def scores(values: pd.DataFrame, together: Together) -> Drawn:
    """AOPC and NAOPC of each method, two panels for the models of each group (score, classifier, method, estimate, low,
    high; random scores among the methods)."""
    # Random scores are the baseline: the last row of every panel.
    values = values.sort_values("method", key=lambda names: names == "random", kind="stable")
    frames = []
    for models, datasets in together:
        of_group = values[values["classifier"].isin(models)]
        on = joined(dataset_name(dataset) for dataset in datasets)
        for score in ("aopc", "naopc"):
            of_score = of_group[of_group["score"] == score]
            frames.append(of_score.assign(panel=f"{score.upper()}, MoRF: {on}"))
    layout = Layout(panel="panel", series="classifier", names=labels(), width=9.5)
    return dot_plot(pd.concat(frames), "score, higher is better", row="method", layout=layout)
