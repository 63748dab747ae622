"""The released pipeline of Zhao & Aletras (2023), its choices put together: diagnosticity under each subset of them,
and in words whether they explain what is printed.

    replayed = Replayed(page.measure("soft_replayed", prepare=wins_and_ties, ...))
    replayed.power("nc", ["mask", "ties"], ["sst"]), replayed.answer("paper's data, our models, short texts")
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from faithbook.papers.zhao_aletras import RELEASED, SQUARED, STAND_INS, replay_name, subsets
from faithbook.papers.zhao_aletras_sizes import SIZES, of_largest
from faithbook.results import diagnosticity, evidence, paired
from faithbook.results.diagnosticity import METHODS, TIE, WIN
from faithbook.results.estimates import FEWEST_CLUSTERS, Quantity
from faithbook.results.labels import label
from faithbook.results.measured import Measured
from faithbook.results.numbers import ends_of, listed, row_of, spoken
from faithbook.results.paired import Paired
from faithbook.results.published import table

METRICS = ("nc", "ns", "soft_nc", "soft_ns")
PAIRS = {"nc": "soft_nc", "ns": "soft_ns"}
OWN = ("sst", "ag", "evinf", "multirc")
LONG = ("evinf", "multirc", "section", "pair")
STEPS = tuple(tuple(RELEASED)[:k] for k in range(len(RELEASED) + 1))
NAMES = ("as written", *(f"+ {name}: {options[1]}" for name, options in RELEASED.items()))
"""The choices put together one after the other, and what each step is called."""
PROTOCOL = ("lengths", "scaled attention", "draws")
"""What is exchanged together where all combinations are looked at, to keep to 64 of them."""
COMBINED = ("empty text", "limits", "normaliser", "mask", "ties", "protocol")


SMALL_MODEL = "small model, as written"
"""The step before all others where a data set has models of two sizes."""


def wins_and_ties(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties against random under every subset of choices, of the largest model that a data set has."""
    return wins_of_one(of_largest(units))


def small_model(sized: Measured, groups: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """Diagnosticity with the small model and all choices as written, by group and metric: of the data sets that have
    the larger one too (`of_each`), over the inputs that the small one was asked about."""
    models = sized.frame.groupby("dataset")["model"].unique()
    cells = {}
    for group, datasets in groups.items():
        both = [name for name in datasets if {*SIZES.values()} <= set(models[name])]
        for metric in METRICS if both else ():
            of = {"dataset": both, "method": [*METHODS], "variant": "as written", "model": SIZES[""], "shows": WIN}
            cells[group, SMALL_MODEL, metric] = sized.mean(metric=metric, **of)
    return listed(cells, ["texts", "step", "metric"])


def wins_of_one(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties of one model."""
    wins = diagnosticity.counted(units, by=["variant"])
    return wins[wins["shows"].isin((WIN, TIE))]


def printed(metric: str, datasets: Collection[str]) -> float:
    """What the paper prints of a metric, mean over these data sets or those that they stand for."""
    found = table("soft_table3").set_index(["metric", "dataset"])["value"]
    return _mean(found[metric, STAND_INS.get(name, name)] for name in datasets)


@dataclass(frozen=True)
class Replayed:
    """What was measured under every subset of choices, read with wins and ties (`wins_and_ties`)."""

    measured: Measured

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The data sets that are looked at together, by what they have in common."""
        found: dict[str, list[str]] = {}
        names = sorted(self.measured.levels("dataset"), key=lambda name: (name not in OWN, name in LONG))
        for name in names:
            kind, length = (evidence.DATA if name in OWN else evidence.STAND_INS), "long" if name in LONG else "short"
            found.setdefault(f"{kind}, {length} texts", []).append(name)
        return found

    def power(self, metric: str, released: Collection[str], datasets: Collection[str]) -> Paired:
        """Diagnosticity, mean over methods, with these choices as the released code makes them.

        Over the inputs that are defined under these choices: which they are depends on "empty text".
        """
        squared = "scaled attention" in released
        methods = [SQUARED if squared and name == "scaled_attention" else name for name in METHODS]
        cells = {"metric": metric, "variant": replay_name(metric, released), "method": methods, "dataset": [*datasets]}
        wins = self.measured.mean(**cells, shows=WIN)
        return wins + self.measured.mean(**cells, shows=TIE) if "ties" in released else wins

    def hard(self, released: Collection[str], datasets: Collection[str]) -> Paired:
        """The mean of NC and NS."""
        return paired.mean([self.power(metric, released, datasets) for metric in PAIRS])

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
        for group, datasets in self.groups.items():
            for name in RELEASED:
                others = [other for other in RELEASED if other != name]
                for metric in METRICS:
                    alone = self.power(metric, [name], datasets) - self.power(metric, [], datasets)
                    last = self.power(metric, list(RELEASED), datasets) - self.power(metric, others, datasets)
                    rows.append({"texts": group, "choice": name, "metric": metric, **row_of(alone)})
                    rows[-1] |= ends_of(last, "at the end", "end low", "end high")
        return pd.DataFrame(rows)

    @cached_property
    def every(self) -> pd.DataFrame:
        """A row a group and combination: the smaller of the two differences of soft less hard, and all four metrics."""
        rows: list[dict[str, Any]] = []
        for group, datasets in self.groups.items():
            for made in subsets(COMBINED):
                released = [*made, *(PROTOCOL if "protocol" in made else ())]
                level = {metric: self.power(metric, released, datasets) for metric in METRICS}
                gains = {soft: level[soft] - level[hard] for hard, soft in PAIRS.items()}
                least = min(gains, key=lambda soft: gains[soft].ours.point)
                rows.append({"texts": group, "released": ", ".join(made) or "none", "part": label(least)})
                rows[-1] |= row_of(gains[least]) | {metric: level[metric].ours.point for metric in METRICS}
        return pd.DataFrame(rows)

    # ------------------------------------------------------------------------------------------------------ in words
    def coverage(self) -> str:
        """Which of the paper's data sets are replayed, with how many models of each."""
        have = set(self.measured.levels("dataset"))
        own, lacking = _listed(name for name in OWN if name in have), _listed(name for name in OWN if name not in have)
        seeds = self.measured.frame["seed"].nunique()
        told = f"Of the paper's four data sets this is measured on {own or 'none'}{'' if lacking else ', all of them'}"
        models = f"model seed{'' if seeds == 1 else 's'}"
        return f"{told} ({seeds} {models}){f'; not on {lacking}' if lacking else ''}."

    def answer(self, group: str) -> str:
        """Whether the released choices bring the hard metrics to what is printed, and whether soft then beats hard."""
        datasets = self.groups[group]
        models = self.measured.material.models
        ground = evidence.ground(self.measured.paper, notebook=self.measured.notebook, datasets=datasets, models=models)
        n = min(self.power(metric, (), datasets).ours.n for metric in PAIRS)
        told = [self._verdict(datasets), self._levels(datasets), self._steps(datasets), self._combinations(group)]
        return f"**{group.capitalize()}** ({_listed(datasets)}; n = {n}; {ground}): {' '.join(told)}"

    def _verdict(self, datasets: Collection[str]) -> str:
        """Whether hard diagnosticity ends below one half, where the paper has it."""
        end = self.hard(STEPS[-1], datasets).ours
        if end.clusters < FEWEST_CLUSTERS:  # intervals of so few can have no width at all
            return "Fewer than ten inputs, so that what follows is arithmetic on these and no conclusion."
        ends = end.interval()
        if ends.low > 0.5:
            return "The released choices do not explain the printed values: with all of them hard metrics are above .5."
        if ends.high < 0.5:
            return "With all of the released choices hard metrics are below .5, as printed."
        return "With all of the released choices hard metrics cannot be told from .5."

    def _levels(self, datasets: Collection[str]) -> str:
        """The hard metrics as written, as printed, and with all of the code's choices."""
        before, after = (
            " and ".join(f"{self.power(hard, made, datasets).ours.point:.3f} ({label(hard)})" for hard in PAIRS)
            for made in (STEPS[0], STEPS[-1])
        )
        theirs, average = (" and ".join(f"{printed(hard, of):.3f}" for hard in PAIRS) for of in (datasets, ["average"]))
        change = (self.hard(STEPS[-1], datasets) - self.hard(STEPS[0], datasets)).ours
        return (
            f"As written they are {before}; the paper prints {theirs} for {_of_what(datasets)}, {average} over its "
            f"four data sets. With all of the code's choices they are {after}: together these {_moved(change)}."
        )

    def _steps(self, datasets: Collection[str]) -> str:
        """The step that lowers the hard metrics most, beside how far they would have to come down."""
        hard = {made: self.hard(made, datasets) for made in STEPS}
        falls = {step: (hard[a] - hard[b]).ours for step, a, b in zip(RELEASED, STEPS[:-1], STEPS[1:], strict=True)}
        most = max(falls, key=lambda step: falls[step].point)
        down, distance = falls[most], hard[STEPS[0]].ours.point - _mean(printed(metric, datasets) for metric in PAIRS)
        if down.interval().low <= 0:
            return f"No step lowers them by more than its interval (the most: *{most}*, {spoken(down)})."
        told = f"The step that lowers them most is *{most}*: by {spoken(down)}, of {distance:.3f} to what is printed"
        return f"{told}{'' if 2 * down.point > distance else '; no single step goes half that way'}."

    def _combinations(self, group: str) -> str:
        """In how many combinations soft beats hard in both kinds, and with hard as low as printed; if in none, the one
        that comes closest."""
        of = self.every[self.every["texts"] == group]
        ahead = of[of["low"] > 0]
        as_printed = ahead[(ahead[list(PAIRS)] < 0.5).all(axis=1)]["released"].tolist()
        told = (
            f"Soft is above hard in both kinds, with an interval above 0, in {len(ahead)} of {len(of)} combinations, "
            f"and with hard below one half, as printed, in {len(as_printed)}"
        )
        closest = of.sort_values("estimate").iloc[-1]
        if ahead.empty:
            return f"{told}; closest comes the combination *{closest['released']}*: {spoken(closest, '+.3f')}."
        return f"{told}{': ' if as_printed else ''}{'; '.join(as_printed[:3])}."


def _mean(values: Iterable[float]) -> float:
    return float(pd.Series([*values]).mean())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(label, names))


def _of_what(datasets: Collection[str]) -> str:
    own = [name for name in datasets if name in OWN]
    return _listed(own) if own else f"what they stand for, {_listed(STAND_INS[name] for name in datasets)}"


def _moved(change: Quantity) -> str:
    """What the choices together do to a mean, in words."""
    ends, way = change.interval(), "raise" if change.point > 0 else "lower"
    if ends.low > 0 or ends.high < 0:
        told = f"{way} their mean"
    else:
        told = "do not clearly move their mean" + (f", and if anything {way} it" if change.point else "")
    return f"{told}: {spoken(change, '+.3f')}"
