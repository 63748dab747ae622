"""The released pipeline of Zhao & Aletras (2023), its choices put together: diagnosticity under each subset of them,
and how much of the way from our numbers to the printed ones each step explains.

    replayed = Replayed(page.measure("soft_replayed", prepare=wins_and_ties, ...))
    replayed.power("nc", ["mask", "ties"], ["sst"]), explained(levels(of_model, models, replayed, "sst"), printed)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from faithbook.judge import materials
from faithbook.judge.published import table
from faithbook.judge.scores import Scores
from faithbook.show.figures import OURS, PUBLISHED
from faithbook.show.labels import label, labels
from faithbook.show.numbers import ends_of, listed, row_of
from faithbook.show.plots import Drawn, Layout, dot_plot, stacked
from faithbook.stats import grounds
from faithbook.stats.comparison import Comparison
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft.zhao_aletras import ALL_WEIGHTS, RELEASED, SIZES, SQUARED, of_largest, replay_name, subsets
from faithbook.studies.soft.zhao_aletras_diagnosticity import METHODS, PAIRS, TIE, WIN

Cells = Mapping[tuple[str, str, str], float]
"""Values by data set, metric and method."""
METRICS = ("nc", "ns", "soft_nc", "soft_ns")
OWN = ("sst", "ag", "evinf", "multirc")
LONG = ("evinf", "multirc", "section", "pair")
STEPS = tuple(tuple(RELEASED)[:k] for k in range(len(RELEASED) + 1))
NAMES = ("as written", *(f"+ {name}: {options[1]}" for name, options in RELEASED.items()))
"""The choices put together one after the other, and what each step is called."""
PROTOCOL = ("lengths", "scaled attention", "draws")
"""What is exchanged together where all combinations are looked at, to keep to 64 of them."""
COMBINED = ("empty text", "limits", "normaliser", "mask", "ties", "protocol")


def wins_and_ties(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties against random under every subset of choices, of the largest model that a data set has."""
    wins = diagnosticity.counted(of_largest(units), by=["variant"])
    return wins[wins["shows"].isin((WIN, TIE))]


def printed(metric: str, datasets: Collection[str]) -> float:
    """What the paper prints of a metric, mean over these data sets or those that they stand for."""
    values = table("soft_table3").set_index(["metric", "dataset"])["value"]
    substitutes = materials.stands_for("zhao_aletras_2023")
    return float(np.mean([values[metric, substitutes.get(name, name)] for name in datasets]))


@dataclass(frozen=True)
class Replayed:
    """What was measured under every subset of choices, read with wins and ties (`wins_and_ties`)."""

    measured: Scores

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The data sets that are looked at together, by what they have in common."""
        by_kind: dict[str, list[str]] = {}
        names = sorted(self.measured.levels("dataset"), key=lambda name: (name not in OWN, name in LONG))
        for name in names:
            kind, length = (grounds.DATA if name in OWN else grounds.STAND_INS), "long" if name in LONG else "short"
            by_kind.setdefault(f"{kind}, {length} texts", []).append(name)
        return by_kind

    def power(self, metric: str, released: Collection[str], datasets: Collection[str]) -> Comparison:
        """Diagnosticity, mean over methods, with these choices as the released code makes them.

        Over the inputs that are defined under these choices: which they are depends on "empty text".
        """
        squared = "scaled attention" in released
        methods = [SQUARED if squared and name == "scaled_attention" else name for name in METHODS]
        cells = {"metric": metric, "variant": replay_name(metric, released), "method": methods, "dataset": [*datasets]}
        wins = self.measured.mean(**cells, shows=WIN)
        if "ties" not in released:
            return wins
        either = wins + self.measured.mean(**cells, shows=TIE)
        return replace(either, ours=replace(either.ours, bounds=(0.0, 1.0)))  # the two together are a share as well

    @cached_property
    def path(self) -> pd.DataFrame:
        """A row a group, step and metric: from the text's choices to the released code's, one after the other."""
        cells = {
            (group, name, metric): self.power(metric, made, datasets)
            for group, datasets in self.groups.items()
            for name, made in zip(NAMES, STEPS, strict=True)
            for metric in METRICS
        }
        return listed(cells, ["texts", "step", "metric"])

    def effects(self) -> pd.DataFrame:
        """What each choice changes of each metric: alone, and at the end, when all others are the code's."""
        rows: list[dict[str, Any]] = []
        for (group, datasets), name, metric in product(self.groups.items(), RELEASED, METRICS):
            others = [other for other in RELEASED if other != name]
            alone = self.power(metric, [name], datasets) - self.power(metric, [], datasets)
            last = self.power(metric, list(RELEASED), datasets) - self.power(metric, others, datasets)
            rows.append({"texts": group, "choice": name, "metric": metric, **row_of(alone)})
            rows[-1] |= ends_of(last, "at the end", "end low", "end high")
        return pd.DataFrame(rows)

    @cached_property
    def every(self) -> pd.DataFrame:
        """One row per group and combination: the smaller difference of soft minus hard, and all four metrics."""
        rows: list[dict[str, Any]] = []
        for (group, datasets), made in product(self.groups.items(), subsets(COMBINED)):
            released = [*made, *(PROTOCOL if "protocol" in made else ())]
            level = {metric: self.power(metric, released, datasets) for metric in METRICS}
            gains = {soft: level[soft] - level[hard] for hard, soft in PAIRS.items()}
            least = min(gains, key=lambda soft: gains[soft].ours.point)
            rows.append({"texts": group, "released": ", ".join(made) or "none", "part": label(least)})
            rows[-1] |= row_of(gains[least]) | {metric: level[metric].ours.point for metric in METRICS}
        return pd.DataFrame(rows)


# ------------------------------------------------------------------------------------------------- from theirs to ours
CHANGES = {
    "another model": (SIZES["mpnet"], SIZES[""]),
    "all weights trained": (ALL_WEIGHTS, SIZES["mpnet"]),
    "the released code's choices": (NAMES[-1], NAMES[0]),
}
"""What may explain a number, by name: the level after it and the level before it (`levels`)."""


def levels(
    of_model: Callable[..., Comparison], models: Iterable[str], replayed: Replayed, dataset: str
) -> dict[tuple[str, str], Comparison]:
    """Diagnosticity on a data set by step and metric: of each model as the text has it, then with the larger one from
    the text's choices to the released code's.

    `of_model`: the mean of a metric over methods, by `dataset` and `model`.
    """
    by_step = {
        (model, metric): of_model(metric, dataset=dataset, model=model) for model in models for metric in METRICS
    }
    for name, made in zip(NAMES, STEPS, strict=True):
        by_step |= {(name, metric): replayed.power(metric, made, [dataset]) for metric in METRICS}
    return by_step


def explained(
    level: Mapping[tuple[str, str], Comparison], theirs: Mapping[str, float]
) -> dict[tuple[str, str], Comparison]:
    """By metric and step what it changes, and what remains to the published value (`theirs`) after all of them."""
    changes = {}
    for metric in METRICS:
        for step, (after, before) in CHANGES.items():
            if {(after, metric), (before, metric)} <= set(level):
                changes[metric, step] = level[after, metric] - level[before, metric]
        changes[metric, "what remains"] = level[NAMES[-1], metric] - theirs[metric]
    return changes


# --------------------------------------------------------------------------------------------------------------- tables
def inputs_of_rows(long: pd.DataFrame, rows: Sequence[str]) -> list[str]:
    """On how many inputs the quantities of each row of a wide table rest, the fewest and the most where they differ
    (`long` as `in_words` takes it, with `n`; its rows in the same order).

    >>> long = pd.DataFrame({"metric": ["nc", "nc", "ns"], "n": [250, 1000, 40]})
    >>> inputs_of_rows(long, ["metric"])
    ['250 to 1,000', '40']
    """
    by_row = long.groupby([*rows], sort=False, observed=True)["n"].agg(["min", "max"])
    return [f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}" for low, high in by_row.to_numpy()]


def without_signed_zeros(wide: pd.DataFrame) -> pd.DataFrame:
    """A table of text in which a rounded zero has no sign."""
    return wide.replace({r"[-+](0\.0+)(?!\d)": r"\1"}, regex=True)


# -------------------------------------------------------------------------------------------------------------- figures
def with_and_without_amounts(orders: pd.DataFrame, metrics: Sequence[str], methods: Sequence[str]) -> Drawn:
    """Diagnosticity of each method, and of the average of all, with min-max amounts and with ranks: one panel per
    metric (metric, method, and of either side its value, low and high, under "min-max" and "ranks")."""
    looks = {"min-max": (PUBLISHED, "D"), "ranks": (OURS, "o")}
    kept = orders[orders.method.isin([*methods, "average"])]
    ends = {side: [side, f"{side} low", f"{side} high"] for side in looks}
    tidy = pd.concat(
        [stacked(kept[kept.metric == metric], ["metric", "method"], ends, "amounts") for metric in metrics]
    )
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


def rows_apart(printed: Cells, ours: Cells) -> pd.DataFrame:
    """How far every two rows (methods) of a table lie apart, the nearest printed pair first: mean and largest distance
    over the cells that both have, printed and ours. `printed`, `ours`: values by data set, metric and method."""
    wide = {
        name: pd.Series(dict(cells), dtype=float).unstack() if cells else pd.DataFrame()
        for name, cells in (("printed", printed), ("ours", ours))
    }
    rows = []
    for first, other in combinations(wide["printed"].columns, 2):
        row: dict[str, object] = {"one": label(first), "other": label(other)}
        for name, values in wide.items():
            both = values.reindex(columns=[first, other])
            distance = (both[first] - both[other]).abs()
            row |= {f"{name}, mean": distance.mean(), f"{name}, most": distance.max()}
        rows.append(row)
    return pd.DataFrame(rows).sort_values("printed, mean", ignore_index=True)
