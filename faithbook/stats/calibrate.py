"""How often the rules err where the truth is known: the error rates that the book promises, measured.

    make calibrate            (python -m faithbook.stats.calibrate [--worlds 2000])

makes `data/reference/error_rates.csv` in about ten minutes. Worlds are drawn in which the truth is exactly where a
verdict would be an error: at the threshold, at an edge of the margin, without any relation. They are judged, many at
once, by the very functions that judge claims (`faithbook.stats.verdict`).

Shape letters: K clusters, W worlds, M parts, I items.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import NDArray
from tqdm.auto import tqdm

from faithbook.access import require
from faithbook.paths import root
from faithbook.stats import verdict as rules
from faithbook.stats.estimate import ALPHA, Array, Estimate, Resamples, mean
from faithbook.stats.inference import BootstrapT, Inference, McNemar, Score, Student, wilson
from faithbook.stats.verdict import Verdict
from faithlib.errors import unknown

SEED = 20261128
WORLDS = 2000
RESAMPLES = 999
RATES = "data/reference/error_rates.csv"
BEFORE = "data/reference/error_rates_before.csv"
"""The same worlds as the rules before 28 November 2026 judged them; that code is gone, and this table is kept."""
STORED = "data/reference/calibration_values.csv"
COLUMNS_AT_ONCE = 12_000

PROMISE = ALPHA
COVERED = "covered"
KEYS = ["rule", "test", "shape", "clusters", "parts", "correlation", "answer"]

DISCORDANT = 0.3
"""Share of inputs on which the two sides of a paired share differ."""
SHARES = {"share of .8": 0.8, "share of .95": 0.95}
SHAPES = ("normal", "uniform", "paired 0/1", *SHARES, "beta(.5, 3)", "exponential")
CLUSTERS = ((10,), (24,), (60,), (200,), (200, 12))
"""Clusters of each stratum; strata have equal weight."""
PARTS = ((1, 0.0), (10, 0.0), (10, 0.5), (60, 0.5))
"""How many parts a claim has, and how they correlate."""


# ----------------------------------------------------------------------------------------------------------- worlds
def shaped(name: str, normal: Array) -> Array:
    """Standard normal values as values of a shape, with a mean of zero (shares: as 0 and 1).

    Raises UnknownNameError for a shape that is not known.
    """
    if name == "normal":
        return normal
    if name in SHARES:
        return (normal < scipy.stats.norm.ppf(SHARES[name])).astype(float)
    if name == "paired 0/1":
        end = scipy.stats.norm.ppf(1 - DISCORDANT / 2)
        return (normal > end).astype(float) - (normal < -end)
    uniform = scipy.stats.norm.cdf(normal)
    if name == "uniform":
        return np.asarray(uniform - 0.5)
    if name == "exponential":
        return np.asarray(-np.log1p(-uniform) - 1)
    if name == "beta(.5, 3)":
        return np.asarray(scipy.stats.beta.ppf(uniform, 0.5, 3) - 0.5 / 3.5)
    known = stored()
    if name not in known:
        raise unknown("shape of values", name, [*SHAPES, *known])
    values = np.sort(known[name] - known[name].mean())
    return np.asarray(values[(uniform * len(values)).astype(int).clip(max=len(values) - 1)])


@functools.cache
def stored() -> dict[str, Array]:
    """Values of single inputs that claims of this book are about, by quantity."""
    require(STORED)
    frame = pd.read_csv(root() / STORED)
    return {str(name): group.to_numpy(dtype=float) for name, group in frame.groupby("quantity", sort=False)["value"]}


@dataclass(frozen=True)
class World:
    """Values of clusters [K, W, M]: their shape, the clusters of each stratum, parts, and how these correlate."""

    shape: str
    clusters: tuple[int, ...]
    parts: int = 1
    correlation: float = 0.0

    @property
    def truth(self) -> float:
        """The true mean of every part."""
        return SHARES.get(self.shape, 0.0)

    @property
    def spread(self) -> float:
        """The standard deviation of the values of a cluster, from a large sample."""
        sample = shaped(self.shape, np.random.default_rng(SEED).normal(size=50_000))
        return float(sample.std())

    @property
    def error(self) -> float:
        """The true standard error of a mean over strata of equal weight."""
        return self.spread * float(np.sqrt((1 / np.array(self.clusters)).sum())) / len(self.clusters)

    def estimates(self, worlds: int) -> Iterator[Estimate]:
        """The means [w, M] of so many worlds, some at a time."""
        generator = np.random.default_rng(SEED)
        stratum = np.repeat(np.arange(len(self.clusters)), self.clusters)
        resamples = Resamples.draw(stratum, RESAMPLES, SEED)
        most = max(1, COLUMNS_AT_ONCE // self.parts)
        for begin in range(0, worlds, most):
            size = (len(stratum), min(most, worlds - begin), self.parts)
            normal = generator.normal(size=size)
            if self.correlation:
                common = generator.normal(size=(*size[:2], 1))
                normal = np.sqrt(self.correlation) * common + np.sqrt(1 - self.correlation) * normal
            yield _equally(shaped(self.shape, normal), resamples)


def _equally(values: Array, resamples: Resamples) -> Estimate:
    """The mean over strata of the mean of each."""
    strata = []
    for h in range(len(resamples.sizes)):
        inside = (resamples.stratum == h).reshape(-1, *(1 for _ in values.shape[1:]))
        strata.append(mean(np.where(inside, values, np.nan), resamples))
    total = strata[0]
    for estimate in strata[1:]:
        total = total + estimate
    return total / len(strata)


# ------------------------------------------------------------------------------------------------------------ rates
Row = dict[str, object]
Judge = Callable[[Inference], rules.Result]


def _mcnemar(estimate: Estimate) -> McNemar:
    """McNemar's test of many differences of shares at once."""
    assert estimate.contributions is not None
    n = len(estimate.contributions)
    values = np.rint(estimate.contributions * n + estimate.point)
    wins, losses = (values > 0).sum(axis=0), (values < 0).sum(axis=0)
    size = np.full(np.shape(wins), float(n))
    return McNemar(wins.astype(float), losses.astype(float), size, np.array(n))


TESTS: dict[str, Callable[[Estimate], Inference]] = {
    "t": Student.of_many,
    "bootstrap-t": BootstrapT.of_many,
    "score": Score.of_many,
    "mcnemar": _mcnemar,
}


def tests_for(world: World) -> list[str]:
    """The tests that values of this shape could have: the book's own, and those that a plan may declare for it."""
    names = ["t"]
    if world.parts == 1:
        names.append("bootstrap-t")
    if world.shape in SHARES:
        names.append("score")
    if world.shape == "paired 0/1" and len(world.clusters) == 1:
        names.append("mcnemar")
    return names


def verdicts_of_rules(
    world: World, test: str, worlds: int, judges: dict[str, Judge], *, shift: float = 0.0
) -> dict[str, rules.Verdicts]:
    """The verdicts [worlds] of several rules on the same worlds, every true mean moved by `shift`."""
    found: dict[str, list[rules.Verdicts]] = {name: [] for name in judges}
    for estimate in world.estimates(worlds):
        parts = TESTS[test](estimate + shift if shift else estimate)
        for name, judge in judges.items():
            found[name].append(judge(parts).verdicts)
    return {name: np.concatenate(verdicts) for name, verdicts in found.items()}


def coverage(world: World, test: str, worlds: int) -> float:
    """How often the 95 % interval of a mean holds the truth."""
    held: list[NDArray[np.bool_]] = []
    for estimate in world.estimates(worlds):
        low, high = TESTS[test](estimate).interval()
        held.append((low <= world.truth + 1e-12) & (high >= world.truth - 1e-12))
    return float(np.concatenate(held).mean())


def rates_in_world(world: World, test: str, worlds: int) -> list[Row]:
    """The error rates of the rules about parts in one kind of world."""
    facts: Row = {"test": test, "shape": world.shape, "clusters": "+".join(map(str, world.clusters))}
    facts |= {"parts": world.parts, "correlation": world.correlation, "worlds": worlds}
    rows: list[Row] = []

    def add(rule: str, verdicts: rules.Verdicts, *answers: Verdict) -> None:
        for answer in answers:
            rate = float((verdicts == answer).mean())
            rows.append({"rule": rule, **facts, "answer": answer.name.lower(), "rate": rate, "promised": PROMISE})

    at = world.truth
    judges: dict[str, Judge] = {"direction, all": lambda parts: rules.direction(parts, "all", at)}
    if world.parts > 1:
        judges["direction, most"] = lambda parts: rules.direction(parts, "most", at)
        judges["direction, one"] = lambda parts: rules.direction(parts, 1, at)
        judges["each"] = lambda parts: rules.each(parts, at)
    for rule, verdicts in verdicts_of_rules(world, test, worlds, judges).items():
        add(
            rule, verdicts, *([Verdict.YES, Verdict.NO, Verdict.MIXED] if rule == "each" else [Verdict.YES, Verdict.NO])
        )
    if test in ("t", "bootstrap-t"):  # a share moved is no share
        margin = 4 * world.error
        for edge, shift in (("upper", margin), ("lower", -margin)):
            moved = verdicts_of_rules(
                world,
                test,
                worlds,
                {
                    f"direction at the {edge} edge": lambda parts: rules.direction(parts, "all", at, margin),
                    f"within at the {edge} edge": lambda parts: rules.within(parts, at - margin, at + margin),
                },
                shift=shift,
            )
            add(f"direction at the {edge} edge", moved[f"direction at the {edge} edge"], Verdict.EQUIVALENT)
            add(f"within at the {edge} edge", moved[f"within at the {edge} edge"], Verdict.YES, Verdict.NO)
    if world.parts == 1:
        rate = coverage(world, test, worlds)
        rows.append({"rule": "interval", **facts, "answer": COVERED, "rate": rate, "promised": 1 - 2 * PROMISE})
    return rows


def rates_of_orders(n: int, items: int, worlds: int, noise: float, true: bool) -> list[Row]:
    """How often, with orders of equally spaced items measured on n inputs, the rule says no where the published order
    is the true one, or yes where it has nothing to do with it. noise: the standard error of an item's mean, in
    steps."""
    generator = np.random.default_rng(SEED)
    verdicts = []
    resamples = Resamples.draw(np.zeros(n), 199, SEED)
    means = np.arange(float(items))
    for _ in range(worlds):
        published = means if true else generator.permutation(means)
        values = means + noise * np.sqrt(n) * generator.normal(size=(n, items))
        estimate = mean(values, resamples)
        assert estimate.contributions is not None
        halves = estimate.point + np.tensordot(resamples.halves, estimate.contributions, axes=1)
        result = rules.order(
            estimate.point[None],
            published[None],
            estimate.replicates[:, None],
            halves[:, :, None],
            n,
            own_agreement=1.0,
        )
        verdicts.append(result.verdict)
    answer = Verdict.NO if true else Verdict.YES
    rule = "order, the true one" if true else "order, unrelated"
    rate = float(np.mean([verdict is answer for verdict in verdicts]))
    facts: Row = {"rule": rule, "test": "permutation", "shape": f"{items} items, noise of {noise:g} steps"}
    facts |= {"clusters": str(n), "parts": 1, "correlation": 0.0, "worlds": worlds, "answer": answer.name.lower()}
    return [facts | {"rate": rate, "promised": PROMISE}]


def rates_of_trends(units: int, worlds: int) -> list[Row]:
    """How often the rule for trends says yes where x and y have nothing to do with one another, or no where r is truly
    the printed one."""
    generator = np.random.default_rng(SEED)
    x, noise = generator.normal(size=(2, worlds, units))
    rows: list[Row] = []
    for rule, r, answer in (("trend, unrelated", 0.0, Verdict.YES), ("trend, the printed one", 0.8, Verdict.NO)):
        y = r * x + np.sqrt(1 - r**2) * noise
        verdicts = np.concatenate(
            [rules.trend(x[i : i + 100], y[i : i + 100], 0.8).verdicts for i in range(0, worlds, 100)]
        )
        facts: Row = {"rule": rule, "test": "permutation", "shape": "normal", "clusters": str(units), "parts": 1}
        facts |= {"correlation": 0.0, "worlds": worlds, "answer": answer.name.lower(), "promised": PROMISE}
        rows.append(facts | {"rate": float((verdicts == answer).mean())})
    return rows


def all_worlds() -> list[World]:
    """Every kind of world that is looked at: all shapes with one part; several parts of a normal, a two-valued and a
    skewed shape."""
    worlds = [World(shape, clusters) for shape in (*SHAPES, *stored()) for clusters in CLUSTERS]
    several = [World(s, c, *p) for s in ("normal", "paired 0/1", "exponential") for c in CLUSTERS for p in PARTS[1:]]
    return [*worlds, *several]


def measure_worlds(worlds: int = WORLDS) -> pd.DataFrame:
    """All rates, one row each."""
    rows: list[Row] = []
    for world in tqdm(all_worlds(), desc="worlds"):
        number = worlds
        if world.parts == 10:  # claims of several parts take longer
            number = worlds // 2
        elif world.parts > 1:
            number = worlds // 4
        for test in tests_for(world):
            rows += rates_in_world(world, test, number)
    for n in (10, 24, 60):
        for noise in (0.3, 1.0, 3.0):
            rows += rates_of_orders(n, 10, worlds // 10, noise, true=True)
            rows += rates_of_orders(n, 10, worlds // 10, noise, true=False)
    for units in (5, 6, 7):
        rows += rates_of_trends(units, worlds)
    columns = [*KEYS, "worlds", "rate", "promised"]
    return pd.DataFrame(rows)[columns]


def kept(rates: pd.DataFrame) -> pd.Series:
    """Whether each rate keeps its promise: not where its whole 95 % Monte Carlo interval lies beyond it."""
    low, high = wilson(rates["rate"], rates["worlds"])
    beyond = np.where(rates["answer"] == COVERED, high < rates["promised"], low > rates["promised"])
    return pd.Series(~beyond.astype(bool), index=rates.index)


def with_before(rates: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Rates beside those of the rules before, in the column `before`; NaN where these were not asked. They chose their
    test themselves, so that every test of today is compared with the same rate."""
    keys = [key for key in KEYS if key != "test"]
    return rates.merge(before[[*keys, "rate"]].rename(columns={"rate": "before"}), on=keys, how="left")


def main() -> None:
    """Measure the rates and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS)
    chosen = parser.parse_args()
    rates = measure_worlds(chosen.worlds)
    before = Path(root() / BEFORE)
    if before.is_file():
        rates = with_before(rates, pd.read_csv(before, dtype={"clusters": str}))
    rates.round(4).to_csv(root() / RATES, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
