"""What choices change in Zhao & Aletras's metrics, drawn; each figure comes with its words for those who do not see
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from faithbook.show.figures import OURS, PUBLISHED
from faithbook.show.labels import labels
from faithbook.show.plots import Drawn, Layout, dot_plot, stacked


def with_and_without_amounts(orders: pd.DataFrame, metrics: Sequence[str], methods: Sequence[str]) -> Drawn:
    """Diagnosticity of each method, and of the average of all, with min-max amounts and with ranks: one panel per
    metric (metric, method, and of either side its value, low and high, under "min-max" and "ranks")."""
    looks = {"min-max": (PUBLISHED, "D"), "ranks": (OURS, "o")}
    kept = orders[orders.method.isin([*methods, "average"])]
    ends = {side: [side, f"{side} low", f"{side} high"] for side in looks}
    tidy = pd.concat([stacked(kept[kept.metric == one], ["metric", "method"], ends, "amounts") for one in metrics])
    layout = Layout(panel="metric", series="amounts", names=labels(), looks=looks, mark=0.5)
    return dot_plot(tidy, "diagnosticity", row="method", layout=layout)


def from_theirs(path: pd.DataFrame, theirs: Mapping[tuple[str, str], float], order: Sequence[str]) -> Drawn:
    """From the published value of each metric (`theirs`, by data set and metric) to ours, one panel per data set, one
    row per step in this order (dataset, step, metric, and the estimate with its ends)."""
    published = [{"dataset": data, "metric": m, "step": "published", "estimate": x} for (data, m), x in theirs.items()]
    tidy = pd.concat([pd.DataFrame(published), path])
    tidy = tidy.sort_values("step", key=lambda steps: steps.map(["published", *order].index), kind="stable")
    layout = Layout(panel="dataset", series="metric", names=labels(), mark=0.5)
    return dot_plot(tidy, "diagnosticity", row="step", layout=layout)


def effects(changes: pd.DataFrame, metrics: Sequence[str], names: dict[str, str]) -> Drawn:
    """What each variant (of `names`, with its words) changes of the mean score and of diagnosticity, up to four metrics
    a row (variant, choice, metric, score, change, and their ends)."""
    panels = {
        "change of the mean score": ["score", "score low", "score high"],
        "change of diagnosticity": ["change", "low", "high"],
    }
    ordered = pd.concat([changes[(changes.variant == name) & changes.metric.isin(metrics)] for name in names])
    tidy = stacked(ordered, ["variant", "metric"], panels, "panel")
    layout = Layout(panel="panel", series="metric", names=labels() | names, mark=0.0, shared=False)
    return dot_plot(tidy, "other choice minus ours", row="variant", layout=layout)
