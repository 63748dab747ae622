"""Edin et al.'s figures, drawn from the released values and ours; each comes with its words for those who do not see
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator

from faithbook.papers.edin_released import LONG, MODELS, SHORT
from faithbook.results import figures
from faithbook.results.figures import OURS, PALETTE, PUBLISHED
from faithbook.results.labels import label, short
from faithbook.results.numbers import ends_of
from faithbook.results.paired import Paired

SETS = {"sst2": "SST-2", "yelp": "Yelp", "imdb": "IMDB"}
NAMES = {model: label(model) for model in MODELS}
SEARCHES = {"released": "s", "merged": "o", "pruned": "D", "adaptive": "^"}
MOST_LEVEL = 5
"""As many names of models stand side by side; more stand upright."""
Drawn = tuple[Any, str]
"""A figure and its alternative text."""
Together = Sequence[tuple[Sequence[str], Sequence[str]]]
"""Models that were asked on the same data sets, and these (`edin_bounds.together`)."""


def short_name(method: str) -> str:
    """A method's name without what stands in brackets.

    >>> short_name("integrated_gradients"), short_name("input_x_gradient"), short_name("top_ratio")
    ('IG', 'x∇x', 'top ratio')
    """
    return short(method).replace("_", " ")


def lengths(words: pd.DataFrame) -> Drawn:
    """Histograms of the words of long texts (dataset, words)."""
    fig, axes = plt.subplots(1, 3, figsize=(9, 2.8))
    told = []
    for ax, dataset in zip(axes, LONG, strict=True):
        part = words[words.dataset == dataset].words
        ax.hist(part, bins=50, color=OURS)
        ax.axvline(part.mean(), color="black", ls="--", lw=1.2)
        ax.set_title(f"{SETS[dataset]} (n = {len(part)})")
        ax.set_xlabel("words")
        told.append(f"{SETS[dataset]} {part.min()} to {part.max()}, mean {part.mean():.1f}")
    axes[0].set_ylabel("texts")
    return fig, f"Three histograms of the number of words of the long texts. {'; '.join(told)}."


def limits(both: pd.DataFrame) -> Drawn:
    """Histograms of exact limits (dataset, model, lower, upper, lower_released, upper_released)."""
    fig, axes = plt.subplots(len(SHORT), 2, figsize=(8.5, 6), sharex=True, squeeze=False)
    edges = np.linspace(-1, 1, 41)
    for line, dataset in zip(axes, SHORT, strict=True):
        for ax, bound in zip(line, ("upper", "lower"), strict=True):
            for model, colour in zip(MODELS, PALETTE, strict=False):
                part = both[(both.dataset == dataset) & (both.model == model)]
                ax.hist(part[bound], edges, histtype="step", color=colour, lw=1.6, label=NAMES[model])
                ax.hist(part[f"{bound}_released"], edges, histtype="step", color=colour, lw=1, ls=":")
            ax.set_title(f"{SETS[dataset]}, {bound} bound")
    for ax in axes[-1]:
        ax.set_xlabel("AOPC")
    for ax in axes[:, 0]:
        ax.set_ylabel("texts")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize="small")
    means = both.groupby("model")[["lower", "upper"]].mean()
    told = "; ".join(f"{NAMES[m]} {means.lower[m]:.2f} to {means.upper[m]:.2f}" for m in MODELS if m in means.index)
    return fig, f"Histograms of exact upper and lower bounds on short texts. Mean lower to mean upper bound: {told}."


def methods(panels: Mapping[str, Mapping[str, Paired]]) -> Drawn:
    """Means by method, ours beside the published: one panel a kind of score."""
    fig, axes = plt.subplots(1, len(panels), figsize=(8.5, 4), sharey=True)
    told = []
    order = list(next(iter(panels.values())))
    for ax, (kind, pairs) in zip(axes, panels.items(), strict=True):
        ends = pd.DataFrame(ends_of(pairs[method]) for method in order)
        places = np.arange(len(order))
        figures.dots(ax, ends, places, label="ours, 95 % interval")
        theirs = [pairs[method].published for method in order]
        ax.plot(theirs, places, "D", mfc="none", mec=PUBLISHED, mew=1.8, label="published")
        ax.set_yticks(places, [short_name(method) for method in order])
        ax.set_title(kind)
        ax.set_xlabel("mean NAOPC, short texts")
        means = dict(zip(order, ends.estimate, strict=True))
        least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        told.append(f"{kind}: lowest {least} {means[least]:.2f}, highest {most} {means[most]:.2f}")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize="small")
    return fig, f"Dot plots of mean NAOPC of {len(order)} methods, published beside ours. {'; '.join(told)}."


def search_costs(cost: pd.DataFrame) -> Drawn:
    """Mean error of both bounds against rows (search, width, rows, upper_error, lower_error); width 0: its own, or
    none."""
    fig, axes = plt.subplots(1, 2, figsize=(8.5, 3.6), sharex=True)
    for ax, bound in zip(axes, ("upper", "lower"), strict=True):
        for (search, marker), colour in zip({**SEARCHES, "exact": "*"}.items(), PALETTE, strict=False):
            part = cost[cost.search == search].sort_values("rows")
            ax.plot(part.rows, part[f"{bound}_error"], color=colour, marker=marker, label=search)
            for width, rows, error in part[part.width > 0][["width", "rows", f"{bound}_error"]].itertuples(index=False):
                ax.annotate(f"{width:.0f}", (rows, error), (3, 4), textcoords="offset points", fontsize="xx-small")
        ax.set_title(f"{bound} bound")
        ax.set_xlabel("answers asked for, mean")
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel("mean error")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize="small")
    told = "; ".join(
        f"{row['search']} {row['width'] or ''}".rstrip()
        + f": {row['rows']:.0f} answers, errors {row['upper_error']:.4f} and {row['lower_error']:.4f}"
        for row in cost.to_dict("records")
    )
    return fig, f"Mean error of upper and lower bound against answers asked for, by search and width: {told}."


def trade_off(cost: pd.DataFrame) -> Drawn:
    """Error of the bounds against rows, one panel a classifier and length (classifier, words, kind, search, rows,
    estimate, low, high)."""
    panels = list(cost[cost.kind != "exact"].groupby(["classifier", "words"], sort=False))
    columns = min(2, len(panels))
    fig, axes = figures.panels(len(panels), columns, height=2.8, width=4.2 * columns, more=0.6)
    told = []
    for ax, ((classifier, words), part) in zip(axes, panels, strict=True):
        for (kind, marker), colour in zip(SEARCHES.items(), PALETTE, strict=False):
            line = part[part.kind == kind].sort_values("rows")
            at = [f"{rows:,.0f} rows" for rows in line.rows]
            figures.curve(ax, line.rows, line, kind, colour=colour, at=at, bars=True, marker=marker, ms=5, lw=1)
        ax.axhline(0.005, color="#666666", lw=0.8, ls=":")
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda rows, _: f"{rows:,.0f}"))
        ax.minorticks_off()
        ax.set_title(f"{classifier}, {words} words")
        close = part[part.estimate <= 0.005].sort_values("rows")
        least = f"{close.search.iloc[0]}, {close.rows.iloc[0]:,.0f} rows" if len(close) else "none"
        told.append(f"{classifier}, {words} words: {least}")
    fig.supxlabel("distinct rows a text", fontsize="medium")
    fig.supylabel("mean error of a bound", fontsize="medium")
    figures.legend(fig, 4)
    return fig, (
        "Error of the bounds against the number of rows on a log scale, one panel a classifier and length, one line a "
        f"kind of search. Fewest rows with a mean error of .005 or less: {'; '.join(told)}."
    )


def rankings(panels: Mapping[str, pd.DataFrame]) -> Drawn:
    """Slope charts of ranks (index model, method; a column a score), one panel each."""
    fig, axes = plt.subplots(-(-len(panels) // 2), 2, figsize=(8.5, 3.8 * -(-len(panels) // 2)))
    for ax, (title, ranks) in zip(axes.T.flat, panels.items(), strict=True):
        for (model, method), line in zip(ranks.index.tolist(), ranks.to_numpy(), strict=True):
            ax.plot(range(len(line)), line, "o-", color=PALETTE[list(MODELS).index(model)], lw=1.5, ms=3)
            ax.text(len(line) - 0.95, line[-1], short_name(method), va="center", fontsize=5)
        ax.set_xticks(range(ranks.shape[1]), ranks.columns, fontsize="small")
        ax.set_xlim(-0.2, ranks.shape[1] - 0.4)
        ax.invert_yaxis()
        ax.grid(visible=False, axis="x")
        ax.set_title(title, fontsize="small")
    for model, colour in zip(MODELS, PALETTE, strict=False):
        axes[0, 0].plot([], [], "o-", color=colour, label=NAMES[model])
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize="small")
    changed = "; ".join(
        f"{title}: {int((r.iloc[:, 0] != r.iloc[:, 1]).sum())} of {len(r)}" for title, r in panels.items()
    )
    return (
        fig,
        f"Slope charts of ranks of a model and a method under AOPC and NAOPC. Pairs that change rank: {changed}.",
    )


# ------------------------------------------------------------------------------------------------------ models of ours
def ranges(bounds: pd.DataFrame, together: Together) -> Drawn:
    """Bars from the lower to the upper bound of each model, a panel a data set (dataset, length, classifier, bound,
    estimate)."""
    own = _asked_on(together)
    order = [dataset for dataset in bounds.dataset.unique() if dataset in own]
    fig, axes = plt.subplots(1, len(order), figsize=(4 * len(order), 3.2), sharey=True, squeeze=False)
    for ax, dataset in zip(axes[0], order, strict=True):
        models = own[dataset]
        for shift, length, colour in zip((-0.15, 0.15), ("short", "long"), PALETTE, strict=False):
            part = bounds[(bounds.dataset == dataset) & (bounds.length == length)].set_index("bound").estimate
            x = np.arange(len(models)) + shift
            ax.bar(x, part["range"], 0.27, bottom=part["lower"], color=colour, label=f"{length} texts")
        ax.set_xticks(range(len(models)), models)
        if len(models) > MOST_LEVEL:
            ax.tick_params("x", labelrotation=90)
        ax.set_title(label(dataset))
        ax.axhline(0, color="0.5", lw=0.8)
    axes[0][0].set_ylabel("AOPC, worst to best order")
    axes[0][-1].legend(fontsize="small")
    told = (
        "Floating bars from the mean lower to the mean upper bound of AOPC, for each classifier, data set and length."
    )
    return fig, told


def attacked(accuracy: pd.DataFrame, together: Together) -> Drawn:
    """Accuracy against the radius of an attack, a line a model, a panel a data set (dataset, classifier, radius,
    estimate, low, high)."""
    own, looks = _asked_on(together), _looks(together)
    order = [dataset for dataset in accuracy.dataset.unique() if dataset in own]
    fig, axes = plt.subplots(1, len(order), figsize=(4.5 * len(order), 3), sharey=True, squeeze=False)
    for ax, dataset in zip(axes[0], order, strict=True):
        for name in own[dataset]:
            line = accuracy[(accuracy.dataset == dataset) & (accuracy.classifier == name)]
            figures.curve(ax, line.radius, line, name, **looks[name])
        ax.set_title(label(dataset))
        ax.set_xlabel("radius of the attack (share of a token's length)", fontsize="small")
        if dataset in (sets[-1] for _, sets in together):
            ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    axes[0][0].set_ylabel("accuracy under attack")
    radii = sorted(accuracy.radius.unique())
    least = accuracy[accuracy.radius == radii[min(1, len(radii) - 1)]].groupby("classifier").estimate.mean()
    return fig, (
        "Accuracy against the radius of an attack on the embeddings, one line a classifier, one panel a data set. At "
        f"the smallest radius: {', '.join(f'{name} {least[name]:.2f}' for name in looks)}."
    )


def scores(found: pd.DataFrame, together: Together) -> Drawn:
    """AOPC and NAOPC of each method, a line of panels for the models of each group (score, classifier, method,
    estimate, low, high; random scores among the methods)."""
    looks = _looks(together)
    fig, axes = plt.subplots(len(together), 2, figsize=(9.5, 3.6 * len(together)), sharey="row", squeeze=False)
    for line, (own, sets) in zip(axes, together, strict=True):
        methods = [name for name in found[found.classifier.isin(own)].method.unique() if name != "random"]
        places = pd.Series(range(len(methods) + 1), [*methods, "random"])
        for ax, score in zip(line, ("aopc", "naopc"), strict=True):
            for i, name in enumerate(own):
                part = found[(found.score == score) & (found.classifier == name)]
                at = places[part.method].to_numpy() + 0.6 * ((i + 0.5) / len(own) - 0.5)
                figures.dots(ax, part, at, width=1, ms=4, label=name, **looks[name])
            ax.set_xlabel(f"{score.upper()}, MoRF (higher is better)", fontsize="small")
        line[0].set_title(", ".join(label(dataset) for dataset in sets))
        line[0].set_yticks(places, [label(method) for method in places.index])
        line[0].invert_yaxis()
        line[1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return (
        fig,
        "Dots with intervals: AOPC (left) and NAOPC (right) of each attribution method, one colour a classifier.",
    )


def _asked_on(together: Together) -> dict[str, Sequence[str]]:
    return {dataset: own for own, sets in together for dataset in sets}


def _looks(together: Together) -> dict[str, dict[str, Any]]:
    """A colour and a marker for each model, told apart within its group."""
    found = {name: look for own, _ in together for name, look in figures.styles(own).items()}
    return {name: {"colour": colour, "marker": marker} for name, (colour, marker) in found.items()}
