"""Claims as data, judged: every part published and ours, the rule's decision, and its columns on the scoreboard.

A claim is, by the rule that the rule book has for its id,

- a mapping from the words of a part to a `Comparison` that the claim says is above the threshold (at least minus the
  margin; within the margin of zero);
- an `Ordered` (or several): items whose order the paper prints;
- a `Trend`: two values per unit that are said to rise together;
- a mapping from names to a `SameNumber`: the same number worked out twice;
- an `OnlyIf`: parts that ask for something to be clearly above zero first;
- `None` where the rule book has the decision, or where what the claim names is not there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from faithbook.judge import analysis_plan, published
from faithbook.judge.analysis_plan import Rule
from faithbook.judge.scoreboard import MORE_INPUTS, RULE, UNOBTAINABLE, Deciding, deciding
from faithbook.show.numbers import row_of
from faithbook.stats import grounds, rules
from faithbook.stats.agreement import tau_b, tau_of
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimates import FEWEST_CLUSTERS, Estimate
from faithlib.errors import InputError

COLUMNS = (
    *("claim", "part", "published", "ours", "low", "high", "n", "clusters", "p", "answer", "why"),
    *("predicted_low", "predicted_high", "away", "detectable", "needed", "repeat"),
)


@dataclass(frozen=True)
class Ordered:
    """Items by name whose order the paper prints; `blocks`: which of them change places together (see `rules`);
    `repeats`: the values of the same items that the paper prints twice, where it repeats the order itself."""

    items: Mapping[str, Comparison]
    blocks: Mapping[str, object] | None = None
    name: str = "Kendall's tau with the printed order"
    repeats: tuple[Mapping[str, float], Mapping[str, float]] | None = None

    @property
    def published(self) -> list[float]:
        """The printed values, in the order of the items."""
        return [pair.published for pair in self.items.values()]

    @property
    def ours(self) -> list[Estimate]:
        """Ours, in the same order."""
        return [pair.ours for pair in self.items.values()]

    @property
    def block_of_each(self) -> list[object] | None:
        """The block of each item, in the same order."""
        return None if self.blocks is None else [self.blocks[name] for name in self.items]


@dataclass(frozen=True)
class Trend:
    """Units by name (languages, tasks), each with the two values that are said to rise together."""

    x: Mapping[str, Comparison]
    y: Mapping[str, Comparison]
    name: str = "correlation"


@dataclass(frozen=True)
class SameNumber:
    """A number of ours that should be the printed one, as text with all its digits.

    `evidence`: what ours rests on; a number worked out again from the paper's own needs no other ground. `cause`: why
    ours is another number, where that is known.
    """

    ours: float
    published: str
    evidence: str = grounds.AUTHORS
    cause: str = ""


Parts = Mapping[str, Comparison]


@dataclass(frozen=True)
class OnlyIf:
    """Parts or orders that mean something only where some quantities are clearly above zero: a multiple of zero is
    none, and a text that a model does not read has no reasons.

    `bases`: those quantities by name. Where one is not above zero (p <= .025), the claim is not tested.
    """

    parts: Parts | Sequence[Ordered]
    bases: Parts


Claim = Parts | OnlyIf | Ordered | Sequence[Ordered] | Trend | Mapping[str, SameNumber] | None


_ASKED: Mapping[str, tuple[type, str]] = {
    "order": (Ordered, "orders"),
    "trend": (Trend, "x and y"),
    "same": (SameNumber, "numbers of ours and published ones"),
}


def _items(claim: Claim) -> list[Any]:
    """What a claim is made of: its parts, its numbers, its orders."""
    if isinstance(claim, Mapping):
        return list(claim.values())
    return [claim] if isinstance(claim, Ordered | Trend) else list(claim or ())  # type: ignore[arg-type]


def _grounds(claim: Claim) -> list[str]:
    """What each of its numbers rests on."""
    if isinstance(claim, Trend):
        return [*_grounds(claim.x), *_grounds(claim.y)]
    if isinstance(claim, Mapping):
        return [one.evidence for one in claim.values()]
    return [ground for one in _items(claim) for ground in _grounds(one.items)]


# ----------------------------------------------------------------------------------------------------------- decisions
def _decided(rule: Rule, claim: Claim, bases: Parts, have: Collection[str]) -> rules.Decision:
    """What the rule says of a claim that asks for these `bases`. Raises InputError where it is not what its rule is
    about."""
    if rule.rule == "fixed":
        return rules.Decision(rule.begins, 0, 1)
    if lacking := [name for name in rule.needs if name not in have]:
        return rules.Decision(rules.UNTESTABLE, 0, 1, why=f"about {', '.join(lacking)}")
    items = _items(claim)
    if unsure := [name for name, base in bases.items() if base.ours.p_above() > rules.ALPHA]:
        return rules.Decision(rules.UNTESTABLE, 0, len(items), why=f"not clearly above zero: {', '.join(unsure)}")
    kind, what = _ASKED.get(rule.rule, (Comparison, "parts"))
    if not items or not all(isinstance(one, kind) for one in items):
        raise InputError(f"{rule.id} is judged by `{rule.rule}`, which asks for {what}: none came")
    if rule.rule == "trend":
        return rules.trend(*([pair.ours.point for pair in side.values()] for side in (items[0].x, items[0].y)))
    if rule.rule == "order":
        return _of_orders(rule, items)
    return _of_numbers(rule, items) if rule.rule == "same" else _of_parts(rule, items)


def _of_parts(rule: Rule, pairs: Sequence[Comparison]) -> rules.Decision:
    """Of parts that the claim says are above the threshold. Of fewer than it counts, as many are required as hold in
    the paper's own numbers, and where it prints none the claim is not tested."""
    parts, k = [pair.ours for pair in pairs], rule.k or "all"
    level = None if rule.rule == "at_least" else rule.margin
    if isinstance(k, int) and len(parts) < k:
        as_many = sum(pair.published > rule.threshold for pair in pairs)
        why = f"{len(parts)} comparisons are available, and the claim needs {k}"
        if not as_many:
            return rules.Decision(rules.UNTESTABLE, 0, len(parts), why=why)
        why = f"{why}; {as_many} are required, as many as hold in the paper's own numbers for these"
        return replace(_counted(rule, parts, as_many, level=level), why=why)
    if k == "each":
        return rules.each(parts, lines(rule)[0], margin=level)
    if rule.rule == "leader":
        return rules.leader(parts, margin=level)
    if rule.rule == "above" and len(parts) > 1:
        raise InputError(f"{rule.id} is judged by `above`, which has one part; {len(parts)} came")
    return _counted(rule, parts, k, level=level)


def _counted(rule: Rule, parts: Sequence[Estimate], k: int | str, *, level: float | None = None) -> rules.Decision:
    """Whether k of the parts are what the rule asks for; `level`: within which of the threshold nothing is above it."""
    if rule.rule == "equal":
        return rules.equal(parts, lines(rule)[1], k=k)
    return rules.k_of(parts, k, lines(rule)[0], margin=level)


def _of_orders(rule: Rule, several: Sequence[Ordered]) -> rules.Decision:
    """Of several orders of the same items, decided together."""
    if apart := sorted(set().union(*(set(one.items) ^ set(several[0].items) for one in several))):
        raise InputError(f"orders of {rule.id} differ in {', '.join(apart)}: expected the same items")
    both = [(one.ours, one.published) for one in several]
    return rules.orders(both, several[0].block_of_each, repeats_agree=rule.repeats_agree)


def _of_numbers(rule: Rule, numbers: Sequence[SameNumber]) -> rules.Decision:
    """Of numbers that are worked out twice."""
    ours, theirs, causes = zip(*((one.ours, one.published, one.cause) for one in numbers), strict=True)
    decision = rules.same(ours, theirs, tolerance=rule.margin, causes=causes)
    set_up = rule.begins == rules.SET_UP and decision.answer == rules.YES
    return replace(decision, answer=rules.SET_UP) if set_up else decision


def _own_repeat(claim: Claim) -> str:
    """What the rule decides of the paper's own repeats of these orders, as if they were ours; "" without them."""
    several = [one for one in _items(claim) if isinstance(one, Ordered)]
    known = [one for one in several if one.repeats is not None]
    pairs = {frozenset(tuple(side.values()) for side in one.repeats or ()): one for one in known}
    if len(known) < len(several) or not pairs:
        return ""
    both = [[[side[name] for name in one.items] for side in one.repeats or ()] for one in pairs.values()]
    agreement = rules.Agreement.of([one[0] for one in both], [one[1] for one in both], several[0].block_of_each)
    return rules.Decision(agreement.answer, 0, 1).decision


@dataclass(frozen=True)
class Verdict:
    """One claim with its decision; `rows`: its parts as data; `own_repeat`: what the rule decides of the paper's own
    repeat, where it prints one."""

    id: str
    rule: Rule
    decision: rules.Decision
    evidence: str
    rows: pd.DataFrame = field(repr=False)
    own_repeat: str = ""

    @property
    def word(self) -> str:
        """The decision as it reads on its ground."""
        return grounds.worded(self.decision.decision, self.evidence)

    @property
    def reason(self) -> str:
        """Why, where the rule says more than the decision."""
        if self.rule.rule == "fixed":
            return self.rule.why.partition(":")[2].partition("Before:")[0].strip().rstrip(".")
        return self.decision.why or self.decision.reason

    @property
    def n(self) -> int | None:
        """Inputs in the smallest cell that the claim rests on."""
        counted = self.rows["n"].dropna()
        return int(counted.min()) if len(counted) else None

    @property
    def awaited(self) -> Deciding | None:
        """Of what is undecided, the part that it waits for and the inputs that would decide it; None where more inputs
        do not."""
        rows = self.rows.dropna(subset=["low"])
        skewed = self.decision.why == rules.TOO_SKEWED
        if self.decision.answer != rules.INCONCLUSIVE or skewed or rows.empty:
            return None
        return deciding(self.rule, rows, lines(self.rule))

    @property
    def waits_for(self) -> str:
        """What an undecided or untested claim waits for, one of `scoreboard.CAUSES`: what people wrote into
        `data/undecided.csv`, else what follows from its numbers."""
        if self.decision.decision == rules.NOT_TESTED:
            few = (self.rows["clusters"] < FEWEST_CLUSTERS).any()
            return MORE_INPUTS if few else UNOBTAINABLE
        if self.decision.decision != rules.UNDECIDED:
            return ""
        declared = published.our_table("undecided").set_index("id")["cause"]
        if (fact := self.rule.same_as or self.id) in declared:
            return str(declared[fact])
        if self.awaited is None or self.own_repeat not in ("", rules.REPRODUCED):
            return RULE
        return UNOBTAINABLE if self.evidence == grounds.AUTHORS else MORE_INPUTS  # a release is as large as it is

    @property
    def contradicted(self) -> int | None:
        """Parts of which the published values, read as they are, say the opposite, where these are so many that the
        paper's own numbers refute the claim on the data compared."""
        if self.rule.rule not in ("above", "k_of", "leader", "at_least"):
            return None
        values = self.rows["published"].dropna()
        against = int((values <= lines(self.rule)[0]).sum())
        return against if against and len(values) - against < self.rule.needed(len(values)) else None

    @property
    def columns(self) -> dict[str, Any]:
        """Its columns on the scoreboard that are made of its parts."""
        tested = self.decision.decision not in (rules.NOT_TESTED, rules.NOTHING)
        values: dict[str, Any] = {"n": self.n, "contradicted": self.contradicted, "own_repeat": self.own_repeat}
        values |= {"waits_for": self.waits_for, "reason": self.reason}
        if tested:
            values |= {"passed": self.decision.passed, "parts": self.decision.parts}
        if not tested or self.rows.empty:
            return values
        row = self.rows.iloc[self._decisive()]
        shown = row.rename({"ours": "effect"})[["part", "effect", "low", "high", "published", "detectable"]]
        values |= {str(name): None if pd.isna(value) else value for name, value in shown.items()}
        return values | {"needed": self.awaited.needed if self.awaited else None}

    def _decisive(self) -> int:
        """The row of the part that decides, or that an undecided claim waits for: of numbers the one furthest off."""
        if self.awaited:
            return int(np.flatnonzero(self.rows["part"] == self.awaited.part)[0])
        if self.rule.rule == "same":
            return int((self.rows["ours"] - self.rows["published"]).abs().fillna(0.0).argmax())
        if self.rule.rule in ("order", "trend"):
            return 0
        return decisive(self.rule, self.rows["ours"].fillna(0.0).to_numpy(dtype=float))


def decisive(rule: Rule, estimates: ArrayLike) -> int:
    """Which part decides: of k that are needed, the k-th highest; of parts that should be near zero, the k-th nearest.

    >>> parts = [0.1, 0.3, 0.2]
    >>> decisive(analysis_plan.rule("saco_c04"), parts), decisive(analysis_plan.rule("saco_c08"), parts)
    (0, 2)
    """
    order = np.argsort(np.abs(np.asarray(estimates)) if rule.rule == "equal" else -np.asarray(estimates), kind="stable")
    return int(order[rule.needed(len(order)) - 1])


def judge(name: str, claim: Claim, *, have: Collection[str], turned_by: Collection[str] = ()) -> Verdict:
    """The claim of an id by its rule.

    `have`: the data sets, models and languages that are there; where the rule `needs` one that is not among them, the
    claim is not tested. `turned_by`: choices of its curve that turn a yes or no into the other (`Curve.turned_by`), of
    which those count that the paper does not report. Raises UnknownNameError for an id without a rule, InputError where
    the claim is not what its rule is about.
    """
    rule = analysis_plan.rule(name)
    bases, claim = (claim.bases, claim.parts) if isinstance(claim, OnlyIf) else ({}, claim)
    decision = _decided(rule, claim, bases, have)
    if decision.answer in (rules.YES, rules.NO) and any(choice in turned_by for choice in rule.unreported):
        decision = replace(decision, answer=rules.DEPENDS, why="")
    if claim:
        ground = grounds.weakest([*_grounds(claim), *_grounds(bases)])
    else:  # nobody's material but the paper's own words
        ground = grounds.OUR_QUESTION if published.column("kind").get(name) == "question" else grounds.STAND_INS
    rows = [{"claim": rule.id, **row} for row in (_rows(rule, claim) if claim else [])]
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"n": "Int64", "clusters": "Int64"})
    return Verdict(name, rule, decision, ground, frame, _own_repeat(claim))


# ---------------------------------------------------------------------------------------------------------------- rows
def _rows(rule: Rule, claim: Claim) -> list[dict[str, Any]]:
    """The parts of a claim, in the columns of `COLUMNS`."""
    if isinstance(claim, Mapping):
        return [
            {"part": part, **(_number_of(rule, one) if isinstance(one, SameNumber) else part_of(rule, one))}
            for part, one in claim.items()
        ]
    return [_along_row(claim)] if isinstance(claim, Trend) else _order_rows(_items(claim))


def part_of(rule: Rule, pair: Comparison) -> dict[str, Any]:
    """One part: published, ours with its interval, its p-value and answer were it the only part."""
    alone = _counted(rule, [pair.ours], "all")
    row: dict[str, Any] = {"published": pair.published, **row_of(pair, "ours", "low", "high")}
    row |= {"clusters": pair.ours.clusters, "p": alone.p_yes, "answer": alone.answer}
    row["why"] = why_open(alone, lines(rule), row["low"], row["high"])
    effect = min(abs(pair.ours.point - line) for line in lines(rule))
    row["detectable"] = rules.smallest_detectable(pair.ours)
    row["needed"] = rules.how_many(pair.ours, effect) if effect > 0 else math.nan
    if not math.isnan(pair.published):
        row["away"] = pair.away
    if pair.prediction is not None:
        row |= {"predicted_low": pair.prediction.low, "predicted_high": pair.prediction.high}
    return row


def why_open(decision: rules.Decision, marks: Sequence[float], low: float, high: float) -> str:
    """Why a part is undecided although its interval lies on one side of the line, in a few words; else ""."""
    if decision.answer != rules.INCONCLUSIVE or any(low <= mark <= high for mark in marks) or math.isnan(low + high):
        return ""
    return "too skewed to test" if decision.why == rules.TOO_SKEWED else f"p = {min(decision.p_yes, decision.p_no):.3f}"


def lines(rule: Rule) -> tuple[float, ...]:
    """Where a part has to lie right of, or between which two values, to say yes."""
    margin = rule.margin or 0.0
    if rule.rule == "equal":
        return (-margin, margin)
    return (-margin,) if rule.rule == "at_least" else (rule.threshold,)


def _number_of(rule: Rule, one: SameNumber) -> dict[str, Any]:
    close = rules.same([one.ours], [one.published], tolerance=rule.margin)
    return {"published": float(one.published), "ours": one.ours, "answer": close.answer}


def _along_row(claim: Trend) -> dict[str, Any]:
    sides = (claim.x.values(), claim.y.values())
    everyone = [pair.ours for side in sides for pair in side]
    row: dict[str, Any] = {name: min(getattr(one, name) for one in everyone) for name in ("n", "clusters")}
    row["ours"] = _pearson(*([pair.ours.point for pair in side] for side in sides))
    row["published"] = _pearson(*([pair.published for pair in side] for side in sides))
    return row | {"part": f"{claim.name} over {len(claim.x)} units"}


def _order_rows(several: Sequence[Ordered]) -> list[dict[str, Any]]:
    """Kendall's tau-b of each order with the printed one, with its interval over inputs; before several of them their
    mean."""
    taus = [tau_of(one.ours, one.published) for one in several]
    rows = [_order_row(one, tau) for one, tau in zip(several, taus, strict=True)]
    if len(rows) == 1:
        return rows
    mean = sum(taus[1:], start=taus[0]) / len(taus) if len({id(tau.drawn) for tau in taus}) == 1 else None
    together = {} if mean is None else row_of(mean, "ours", "low", "high")
    first = {"part": f"mean of {len(rows)}", "ours": float(np.mean([row["ours"] for row in rows])), **together}
    first |= {name: min(row[name] for row in rows) for name in ("n", "clusters")}
    known = [row["repeat"] for row in rows if "repeat" in row]
    return [first | ({"repeat": float(np.mean(known))} if len(known) == len(rows) else {}), *rows]


def _order_row(one: Ordered, tau: Estimate) -> dict[str, Any]:
    """Kendall's tau-b of our order with the printed one, its interval over inputs; `repeat`: that of the paper's own
    repeat."""
    row: dict[str, Any] = {"part": one.name, "published": 1.0, **row_of(tau, "ours", "low", "high")}
    row["clusters"] = tau.clusters
    if one.repeats is not None:
        row["repeat"] = float(tau_b(*([side[name] for name in one.items] for side in one.repeats)))
    return row


def _pearson(x: Sequence[float], y: Sequence[float]) -> float:
    spread = min(np.std(x), np.std(y))  # NaN where one value is
    return float(np.corrcoef(x, y)[0, 1]) if spread > 0 else math.nan
