"""How often the rules err where the truth is known: the error rates that the book promises, measured.

    python -m faithbook.results.calibration --worlds 1000 calibration.csv

Every row of the table is a rule in a world where nothing is to be found (or the effect stands exactly at the margin):
the shape of the values, how many clusters and parts, how parts correlate, and the shares of worlds in which the rule
said yes and no, or in which an interval held the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
from tqdm.auto import tqdm

from faithbook.results import rules
from faithbook.results.estimates import Array, Drawn, Quantity
from faithlib.errors import unknown

MARGIN = 0.05
_RESAMPLES = 999


@dataclass(frozen=True)
class World:
    """Values [K, M] of `parts` quantities whose true mean is zero, scaled to a standard deviation of one (shares keep
    their own)."""

    shape: str
    clusters: int
    parts: int = 1
    correlation: float = 0.0

    def values(self, generator: np.random.Generator) -> Array:
        """One draw of the world, true means zero: normal; shares of .8 or .95 less their mean; exponential less one."""
        common = generator.normal(size=(self.clusters, 1))
        own = generator.normal(size=(self.clusters, self.parts))
        normal = np.sqrt(self.correlation) * common + np.sqrt(1 - self.correlation) * own
        if self.shape not in _SHAPES:
            raise unknown("shape of values", self.shape, _SHAPES)
        return _SHAPES[self.shape](normal)


def _share(p: float) -> Callable[[Array], Array]:
    return lambda normal: (normal < scipy.stats.norm.ppf(p)).astype(float) - p


_SHAPES: dict[str, Callable[[Array], Array]] = {
    "normal": lambda normal: normal,
    "share .8": _share(0.8),
    "share .95": _share(0.95),
    "exponential": lambda normal: -np.log(scipy.stats.norm.sf(normal)) - 1,
}


def quantities(values: Array, seed: int, shift: float = 0.0) -> list[Quantity]:
    """The mean of each column of [K, M], plus `shift`, every row a cluster of its own."""
    drawn = Drawn.of(np.zeros(len(values), dtype=np.int64), n_resamples=_RESAMPLES, seed=seed)
    means = values.mean(0)
    draws = drawn.counts @ values / len(values) + shift
    influence = (values - means) / len(values)
    n = len(values)
    return [Quantity(float(means[m]) + shift, draws[:, m], influence[:, m], drawn, n, n) for m in range(len(means))]


def measured(
    world: World, ask: Callable[[list[Quantity]], rules.Decision], *, worlds: int, shift: float = 0.0, seed: int = 0
) -> dict[str, float]:
    """The shares of worlds in which a rule says yes and no."""
    generator = np.random.default_rng(seed)
    answers = [ask(quantities(world.values(generator), number, shift)).answer for number in range(worlds)]
    return {answer: answers.count(answer) / worlds for answer in (rules.YES, rules.NO)}


def coverage(world: World, *, worlds: int, seed: int = 0) -> float:
    """The share of worlds in which the 95 % interval of a mean holds the truth."""
    generator = np.random.default_rng(seed)
    held = 0
    for number in range(worlds):
        interval = quantities(world.values(generator), number)[0].interval()
        held += interval.low <= 0 <= interval.high
    return held / worlds


def unrelated_orders(clusters: int, items: int, *, worlds: int, seed: int = 0) -> dict[str, float]:
    """The shares in which `order` says yes and no where ours and the published order have nothing to do with one
    another: items differ clearly, in an order of their own."""
    generator = np.random.default_rng(seed)
    answers = []
    for number in range(worlds):
        means = generator.permutation(items) * 0.5
        found = quantities(generator.normal(size=(clusters, items)) + means, number)
        answers.append(rules.order(found, np.arange(items, dtype=float), seed=number).answer)
    return {answer: answers.count(answer) / worlds for answer in (rules.YES, rules.NO)}


def _rows(worlds: int) -> Iterator[dict[str, object]]:
    for shape in _SHAPES:
        for clusters in (10, 24, 100):
            for parts, correlation in ((1, 0.0), (10, 0.0), (10, 0.9), (30, 0.5), (120, 0.0)):
                world = World(shape, clusters, parts, correlation)
                told = measured(world, lambda found: rules.k_of(found, "all"), worlds=worlds)
                yield _row("all parts above 0", world, told)
            alone = World(shape, clusters)
            worse = measured(alone, lambda found: rules.at_least(found[0], MARGIN), worlds=worlds, shift=-MARGIN)
            yield _row("at least, at the margin", alone, worse)
            apart = measured(alone, lambda found: rules.equal(found[0], MARGIN), worlds=worlds, shift=MARGIN)
            yield _row("equal, at the margin", alone, apart)
            yield _row("interval of a mean", alone, {"held": coverage(alone, worlds=worlds)})
    for clusters in (24, 100):
        for items in (10, 13):
            world = World("normal", clusters, items)
            yield _row("order, unrelated", world, unrelated_orders(clusters, items, worlds=worlds))


def _row(rule: str, world: World, told: dict[str, float]) -> dict[str, object]:
    about = {"rule": rule, "values": world.shape, "clusters": world.clusters, "parts": world.parts}
    return {**about, "correlation": world.correlation, **told}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every rate and write the table."""
    parser = argparse.ArgumentParser(prog="faithbook.results.calibration", description=main.__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--worlds", type=int, default=1000, help="worlds for each rate (default 1000)")
    options = parser.parse_args(arguments)
    rows = tqdm(_rows(options.worlds), total=len(_SHAPES) * 3 * 8 + 4, unit="rate")
    frame = pd.DataFrame(list(rows)).assign(worlds=options.worlds)
    frame.to_csv(options.file, index=False, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
