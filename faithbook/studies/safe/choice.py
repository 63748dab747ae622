"""Which metric is chosen for what one knows, on some model seeds, and how it does on others; by the declared rule.

Shape letters: C conditions, S model seeds, M metrics, R bootstrap replicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.studies.safe import design
from faithlib.errors import DataError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CHOOSE, REPORT = "choose", "report"
KNOWN, UNKNOWN, ADVERSARIAL = "known", "unknown", "adversarial"
SINGLE, ANY = "single words", "any"
HOLDS, OVERTURNED, UNDECIDED = "holds", "overturned", "undecided"


@dataclass(frozen=True)
class Means:
    """Means of one outcome over the inputs of a model: `values` [C, S, M], NaN where there is none, with what is known
    of the conditions, the seeds, and the names of the metrics."""

    conditions: pd.DataFrame
    seeds: NDArray[np.int64]
    metrics: list[str]
    values: Floats

    @classmethod
    def of(cls, units: pd.DataFrame, outcome: str) -> Means:
        """Make means from values of single inputs (columns condition, seed, method, metric, value), of one outcome.

        Raises DataError for a condition that the committed list does not have.
        """
        listed = design.conditions().set_index("condition")
        chosen = units[units.metric == outcome]
        strange = sorted(set(chosen.condition) - set(listed.index))
        if strange:
            raise DataError(f"conditions {', '.join(strange)} are not in the committed list")
        means = chosen.groupby(["condition", "seed", "method"], observed=True).value.mean().unstack(["seed", "method"])
        seeds, metrics = sorted(chosen.seed.unique()), list(dict.fromkeys(chosen.method))
        columns = pd.MultiIndex.from_product([seeds, metrics])
        values = means.reindex(columns=columns).to_numpy(dtype=float)
        about = listed.loc[means.index].reset_index()
        return cls(about, np.array(seeds), metrics, values.reshape(len(means), len(seeds), len(metrics)))

    def half(self, name: str) -> Means:
        """The seeds on which metrics are chosen, or those on which they are reported."""
        wanted = self.seeds % 2 == (0 if name == CHOOSE else 1)
        return Means(self.conditions, self.seeds[wanted], self.metrics, self.values[:, wanted])

    def only(self, rows: Bools) -> Means:
        """Some of the conditions."""
        return Means(self.conditions[rows].reset_index(drop=True), self.seeds, self.metrics, self.values[rows])

    def loss(self) -> Means:
        """How much is lost to the error: the mean of the block's model that never errs, minus that of the condition."""
        never = (self.conditions.error == design.NEVER).to_numpy()
        twin_of = dict(zip(self.conditions.block[never], np.flatnonzero(never), strict=True))
        twins = self.conditions.block.map(twin_of).to_numpy()
        return Means(self.conditions, self.seeds, self.metrics, self.values[twins] - self.values).only(~never)

    def by(self, column: str, levels: Sequence[str]) -> Floats:
        """Means [K, M] over the conditions of each level of a column, and over seeds."""
        of_condition = np.nanmean(self.values, axis=1)
        at = self.conditions[column].to_numpy()
        return np.stack([np.nanmean(of_condition[at == level], axis=0) for level in levels])

    def replicated(self, column: str, levels: Sequence[str], *, replicates: int, seed: int = 0) -> Floats:
        """The same means on bootstrap replicates that draw blocks and seeds with replacement, crossed: [R, K, M]; NaN
        where a replicate has no condition of a level."""
        generator = np.random.default_rng(seed)
        blocks, block = np.unique(self.conditions.block, return_inverse=True)
        block_counts = generator.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), replicates)
        seed_counts = generator.multinomial(len(self.seeds), np.full(len(self.seeds), 1 / len(self.seeds)), replicates)
        at = self.conditions[column].to_numpy()
        measured = ~np.isnan(self.values)
        filled = np.where(measured, self.values, 0.0)
        result = np.full((replicates, len(levels), len(self.metrics)), np.nan)
        for k, level in enumerate(levels):
            rows = at == level
            sums = np.einsum("rs,csm->rcm", seed_counts, filled[rows])
            counts = np.einsum("rs,csm->rcm", seed_counts, measured[rows].astype(float))
            with np.errstate(invalid="ignore", divide="ignore"):
                of_condition = sums / counts
            weights = block_counts[:, block[rows], None] * ~np.isnan(of_condition)
            with np.errstate(invalid="ignore", divide="ignore"):
                result[:, k] = (weights * np.nan_to_num(of_condition)).sum(axis=1) / weights.sum(axis=1)
        return result


def interval(replicates: Floats) -> tuple[Floats, Floats]:
    """The ends of the 95 % percentile interval along the first axis."""
    low, high = np.nanpercentile(replicates, [2.5, 97.5], axis=0)
    return low, high


def errors_of(case: str) -> list[str]:
    """The kinds of error that may happen where one knows so much."""
    if case == KNOWN:
        return [design.NEVER]
    if case == UNKNOWN:
        return list(design.declared_plan()["choice"]["unknown_errors"])
    return design.kinds_of_error()


def conditions_of(means: Means, case: str, reasons: str, *, without: str = "") -> Bools:
    """Which conditions belong to a case: by what one knows of errors and of reasons; `without` one kind of error."""
    kinds = [kind for kind in errors_of(case) if kind != without]
    rows = means.conditions.error.isin(kinds).to_numpy()
    if reasons == SINGLE:
        rows = rows & means.conditions.truth.isin(design.declared_plan()["choice"]["single_words"]).to_numpy()
    return rows


@dataclass(frozen=True)
class Safety:
    """The safety of metrics in one case on one half of the seeds: means `by_kind` of error [K, M], the same on
    replicates, `replicates_by_kind` [R, K, M], and the lowest of the kinds, `estimate` [M] and `replicates` [R, M]."""

    metrics: list[str]
    kinds: list[str]
    by_kind: Floats
    replicates_by_kind: Floats

    @property
    def estimate(self) -> Floats:
        lowest: Floats = self.by_kind.min(axis=0)
        return lowest

    @property
    def replicates(self) -> Floats:
        lowest: Floats = np.nanmin(self.replicates_by_kind, axis=1)
        return lowest


def grid_safety(means: Means, case: str, reasons: str, *, without: str = "", replicates: int | None = None) -> Safety:
    """The lowest mean over the kinds of error of a case, by metric; `replicates`: of its interval, as declared unless
    said otherwise (none where a metric is chosen only)."""
    part = means.only(conditions_of(means, case, reasons, without=without))
    kinds = [kind for kind in errors_of(case) if kind in set(part.conditions.error)]
    number = design.declared_plan()["intervals"]["replicates"] if replicates is None else replicates
    by_kind_and_replicate = part.replicated("error", kinds, replicates=number)
    return Safety(means.metrics, kinds, part.by("error", kinds), by_kind_and_replicate)


def chosen(found: Safety, prices: Mapping[str, float], most: float) -> list[str]:
    """The metrics within a price in the order of the rule: the chosen one first, then the others by safety.

    Of those within `level` of the safest the cheapest is chosen, of equal price the safer.
    """
    level = design.declared_plan()["choice"]["level"]
    estimate = dict(zip(found.metrics, found.estimate, strict=True))
    affordable = [name for name in found.metrics if prices[name] <= most]
    best = max(estimate[name] for name in affordable)
    as_safe = [name for name in affordable if estimate[name] >= best - level]
    first = min(as_safe, key=lambda name: (prices[name], -estimate[name]))
    return [first, *sorted((name for name in affordable if name != first), key=lambda name: -estimate[name])]


def choices(rank: Means, untouched: Means, prices: Mapping[str, float]) -> pd.DataFrame:
    """The metric chosen for each price and knowledge, on the choosing seeds, and how it does on the reporting ones.

    Columns: what one knows (`erasure` known, unknown, adversarial; `reasons`), `price`; the `metric`, its `rows`;
    `chosen on` and `reported` safety with interval; the `runner-up` (best other affordable metric on the reporting
    seeds) and the difference to it with interval; the `answer`; whether it `is safe`; the `worst` kind of error; and
    `design`, why it may owe its place to the grid.
    """
    declared = design.declared_plan()["choice"]
    rows = []
    for case in (KNOWN, UNKNOWN, ADVERSARIAL):
        for reasons in (SINGLE, ANY):
            before = grid_safety(rank.half(CHOOSE), case, reasons, replicates=0)
            after = grid_safety(rank.half(REPORT), case, reasons)
            for most in declared["prices"]:
                ranked = chosen(before, prices, most)
                place = {name: i for i, name in enumerate(rank.metrics)}
                first = place[ranked[0]]
                others = [place[name] for name in ranked[1:]]
                runner_up = max(others, key=lambda i: after.estimate[i])
                low, high = interval(after.replicates[:, first])
                gap = after.estimate[first] - after.estimate[others].max()
                best_other = after.replicates[:, others].max(axis=1)
                gap_low, gap_high = interval(after.replicates[:, first] - best_other)
                rows.append(
                    {
                        "erasure": case,
                        "reasons": reasons,
                        "price": most,
                        "metric": ranked[0],
                        "rows": prices[ranked[0]],
                        "chosen on": before.estimate[first],
                        "reported": after.estimate[first],
                        "low": low,
                        "high": high,
                        "runner-up": rank.metrics[runner_up],
                        "gap": gap,
                        "gap low": gap_low,
                        "gap high": gap_high,
                        "answer": _answer(float(gap_low), float(gap_high), declared["level"]),
                        "is safe": bool(low >= declared["safe_from"]),
                        "worst": after.kinds[int(after.by_kind[:, first].argmin())],
                        "design": by_design(after, untouched.half(REPORT), ranked[0], rank.metrics[runner_up]),
                    }
                )
    return pd.DataFrame(rows)


def of_case(chosen: pd.DataFrame, erasure: str, reasons: str, *, price: float | None = None) -> pd.Series:
    """The row of `choices` for what one knows, at any price unless one is given."""
    rows = chosen[(chosen.erasure == erasure) & (chosen.reasons == reasons)]
    # Prices ascend, and the last one limits nothing.
    return rows.iloc[-1] if price is None else rows[rows.price == price].iloc[0]


def _answer(low: float, high: float, level: float) -> str:
    if low > -level:
        return HOLDS
    return OVERTURNED if high < -level else UNDECIDED


def by_design(found: Safety, untouched: Means, name: str, other: str) -> str:
    """Why a metric may owe its place to the grid alone, in words; empty where neither declared sign is there."""
    declared = design.declared_plan()
    first, second = (found.metrics.index(metric) for metric in (name, other))
    reasons = []
    lead = {}
    for group in ("by_amount", "by_content"):
        kinds = [found.kinds.index(kind) for kind in declared["errors"][group] if kind in found.kinds]
        lead[group] = float((found.by_kind[kinds, first] - found.by_kind[kinds, second]).mean()) if kinds else 0.0
    level = declared["choice"]["level"]
    if lead["by_amount"] > level >= lead["by_content"]:
        reasons.append("ahead only where errors depend on the amount erased")
    kinds_met = [kind for kind in found.kinds if kind != design.NEVER]
    if kinds_met:
        share = untouched.by("error", kinds_met)[:, untouched.metrics.index(name)]
        hidden = [
            kind
            for kind, of_kind in zip(kinds_met, share, strict=True)
            if of_kind >= declared["choice"]["untouched_from"]
        ]
        if hidden:
            reasons.append(f"errors of these kinds cannot change its order: {', '.join(hidden)}")
    return "; ".join(reasons)


def left_out(rank: Means, prices: Mapping[str, float], *, reasons: str = ANY) -> pd.DataFrame:
    """The adversarial choice at any price without one kind of error, and how it does on that kind: one row per kind,
    with the rank correlation there on the reporting seeds and how far below the best metric there it is."""
    most = max(design.declared_plan()["choice"]["prices"])
    rows = []
    after = grid_safety(rank.half(REPORT), ADVERSARIAL, reasons)
    for kind in design.kinds_of_error():
        name = chosen(grid_safety(rank.half(CHOOSE), ADVERSARIAL, reasons, without=kind, replicates=0), prices, most)[0]
        at, first = after.kinds.index(kind), after.metrics.index(name)
        means_there, replicates = after.by_kind[at], after.replicates_by_kind[:, at]
        low, high = interval(replicates[:, first])
        below = replicates.max(axis=1) - replicates[:, first]
        below_low, below_high = interval(below)
        rows.append(
            {
                "left out": kind,
                "metric": name,
                "estimate": means_there[first],
                "low": low,
                "high": high,
                "best there": after.metrics[int(means_there.argmax())],
                "below": means_there.max() - means_there[first],
                "below low": below_low,
                "below high": below_high,
            }
        )
    return pd.DataFrame(rows)


def by_kind(means: Means, kinds: Iterable[str]) -> pd.DataFrame:
    """Mean and interval by kind of error and metric, a row each."""
    levels = list(kinds)
    found = means.by("error", levels)
    low, high = interval(
        means.replicated("error", levels, replicates=design.declared_plan()["intervals"]["replicates"])
    )
    rows = [
        {"error": kind, "metric": name, "estimate": found[k, m], "low": low[k, m], "high": high[k, m]}
        for k, kind in enumerate(levels)
        for m, name in enumerate(means.metrics)
    ]
    return pd.DataFrame(rows)


def not_survived(report: Means) -> list[str]:
    """The kinds of error that no metric survives: the upper end of no interval reaches `safe_from`."""
    table = by_kind(report, design.kinds_of_error())
    best = table.groupby("error", sort=False).high.max()
    return [str(kind) for kind in best.index[best < design.declared_plan()["choice"]["safe_from"]]]
