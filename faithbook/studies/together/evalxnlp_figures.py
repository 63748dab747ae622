"""The figures of the page that computes the metrics of EvalxNLP by hand; each comes with its words for those who do not
see it.

Shape letters: n words of a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.show import figures
from faithbook.show.figures import OURS, PALETTE, PUBLISHED
from faithbook.show.labels import label
from faithbook.show.plots import Drawn

Array = NDArray[np.float64]


def accuracy_curves_figure(
    points: pd.DataFrame,
    shares: Mapping[str, Sequence[float]],
    methods: Sequence[str],
    *,
    areas: Mapping[tuple[str, str], float],
    texts: int,
) -> Drawn:
    """The share of texts still classified as before against the share of words masked: a panel per metric, a line per
    method.

    `points`: metric, method, share, estimate, low, high (`evalxnlp.curve_points`); `shares`: of each metric; `areas`:
    the value of each method and metric; `texts`: over how many the means are.
    """
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for ax, (metric, of_metric) in zip(axes, shares.items(), strict=True):
        for number, method in enumerate(methods):
            part = points[(points.metric == metric) & (points.method == method)]
            shifted = part.share + (number - 0.5) * of_metric[-1] / 100  # so that no interval hides another
            at = [f"{share:.0%}" for share in part.share]
            look = {"marker": "os"[number], "ms": 5, "ls": ("-", "--")[number]}
            figures.curve(ax, shifted, part, label(method), colour=PALETTE[number], at=at, bars=True, **look)
        ax.set_title(f"{label(metric)}: up to {of_metric[-1]:.0%} of the words")
        ax.set_xlabel("share of words masked")
        ax.set_ylim(-0.03, 1.05)
        ax.xaxis.set_major_formatter("{x:.0%}")
    axes[0].set_ylabel("share still classified as before")
    figures.legend(fig)
    in_words = []
    for method in methods:
        values = ", ".join(f"{label(metric)} {areas[method, metric]:.2f}" for metric in shares)
        in_words.append(f"{label(method)}: {values}")
    return fig, (
        f"Two line plots of the share of {texts} excerpts still classified as before against the share of "
        "words masked, from 0 to 20 % on the left and to 100 % on the right, one line each for two attributions, "
        f"both from 1 at 0 %. Areas: {'; '.join(in_words)}."
    )


def precision_and_recall(precision: Array, recall: Array, marked: float, *, lines: float, steps: float) -> Drawn:
    """Precision against recall down a ranking, from recall 0 and precision 1 on, [n + 1] each.

    `marked`: the share of marked words; `lines`, `steps`: the areas under the two ways to join the points.
    """
    fig, ax = plt.subplots(figsize=(5.6, 3.6))
    ax.fill_between(recall, precision, color=OURS, alpha=0.13, lw=0)
    ax.plot(recall, precision, "o-", color=OURS, label=f"lines: AUPRC {lines:.3f}")
    ax.step(recall, precision, color=PUBLISHED, ls="--", label=f"steps: average precision {steps:.3f}")
    ax.axhline(marked, color="#666666", ls=":", lw=1.2, label=f"share of marked words {marked:.3f}")
    ax.set(xlabel="recall", ylabel="precision", ylim=(0, 1.05))
    ax.legend(loc="lower right", fontsize="small")
    return fig, (
        f"Precision against recall at each of the example's {len(precision) - 1} words in the order of their scores, "
        f"joined by lines with an area of {lines:.3f} and by steps with an area of {steps:.3f}; a dotted line at the "
        f"share of marked words, {marked:.3f}."
    )


def lorenz(shares: Mapping[str, Array], ginis: Mapping[str, float]) -> Drawn:
    """Lorenz curves of shares [n] in ascending order, the first with its area to the diagonal; `ginis`: the sparseness
    of each."""
    fig, ax = plt.subplots(figsize=(5.2, 4.2))
    first, *_ = shares.values()
    at = np.arange(len(first) + 1) / len(first)
    for number, (name, part) in enumerate(shares.items()):
        style = {"marker": "osD"[number], "ls": ("-", ":", "--")[number], "color": PALETTE[number]}
        ax.plot(at, np.r_[0, part.cumsum()], ms=4, label=f"{name}: {ginis[name]:.3f}", **style)
    ax.fill_between(at, np.r_[0, first.cumsum()], at, color=OURS, alpha=0.13, lw=0)
    ax.set(xlabel="share of words, smallest scores first", ylabel="share of the scores' sum")
    ax.legend(title="twice the area below the diagonal", loc="upper left", fontsize="small", title_fontsize="small")
    in_words = ", ".join(f"{name} {gini:.3f}" for name, gini in ginis.items())
    return fig, (
        "Three Lorenz curves from (0, 0) to (1, 1): the example's sags below the diagonal that equal scores make, "
        f"and one word that has all stays at zero until the last step. Sparseness: {in_words}."
    )
