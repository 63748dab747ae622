"""Claims as data, judged: every part published and ours, the verdict of the rule, and its columns on the scoreboard.

A claim is, by the rule that the analysis plan has for its id,

- a mapping from the words of a part to a `Comparison` (rules `direction`, `each`, `within`);
- `Statements`: several claims that one sentence makes (`whole`);
- an `Ordered` (or several): items whose order the paper prints (`order`);
- a `Trend`: two values per unit that are said to rise together (`trend`);
- a mapping from names to a `SameNumber`: the same number worked out twice (`same`);
- an `OnlyIf`: any of these that asks for something to be clearly above zero first;
- `None` where the plan has the verdict, or where what the claim names is not there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from faithbook.judge import analysis_plan, published
from faithbook.judge.analysis_plan import OF_PARTS, Rule
from faithbook.judge.scoreboard import MORE_INPUTS, RULE, UNOBTAINABLE
from faithbook.show.numbers import row_of
from faithbook.stats import evidence_levels, needed
from faithbook.stats import verdict as rules
from faithbook.stats.agreement import tau_b, tau_of
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import ALPHA, FEWEST_CLUSTERS, Estimate
from faithbook.stats.inference import TESTS, Inference, Student
from faithbook.stats.verdict import Result, Verdict
from faithlib.errors import InputError

COLUMNS = (
    *("claim", "part", "published", "ours", "low", "high", "n", "clusters", "p", "answer"),
    *("predicted_low", "predicted_high", "away", "detectable", "needed", "repeat"),
)
BESIDE_BOOK = ("book", "from_book")
"""Further columns of a run's parts where the book's are shown with them."""
OWN_REPEATS = "the paper's own repeats disagree"
UNREPORTED = "depends on a choice that the paper does not report"


@dataclass(frozen=True)
class Ordered:
    """Items by name whose order the paper prints; `blocks`: which of them change places together (see `verdict.order`);
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

    `evidence`: what ours rests on; a number worked out again from the paper's own needs no other. `cause`: why ours is
    another number, where that is known.
    """

    ours: float
    published: str
    evidence: str = evidence_levels.AUTHORS
    cause: str = ""


Parts = Mapping[str, Comparison]


@dataclass(frozen=True)
class Statements:
    """The statements that one sentence makes, by the names that the plan has for them, each a claim of its own."""

    of: Mapping[str, Claim]


@dataclass(frozen=True)
class OnlyIf:
    """Claims that mean something only where some quantities are clearly above zero: a multiple of zero is none, and a
    text that a model does not read has no reasons.

    `bases`: those quantities by name. Where one is not above zero (p <= .025), the claim is not tested.
    """

    claim: Claim
    bases: Parts


Claim = Parts | Statements | OnlyIf | Ordered | Sequence[Ordered] | Trend | Mapping[str, SameNumber] | None

Kind = TypeVar("Kind")


# ----------------------------------------------------------------------------------------------------- by their rules
def _decided(rule: Rule, claim: Claim) -> Result:
    """What the rule says of a claim. Raises InputError where it is not what its rule is about."""
    if isinstance(claim, OnlyIf):
        unsure = [name for name, base in claim.bases.items() if base.ours.p_above() > ALPHA]
        if unsure:
            return rules.not_tested(f"not clearly above zero: {', '.join(unsure)}")
        return _decided(rule, claim.claim)
    judges: Mapping[str, Callable[[Rule, Claim], Result]] = {
        "whole": _of_statements,
        "order": _of_orders,
        "trend": _of_trend,
        "same": _of_numbers,
    }
    return judges.get(rule.rule, _of_parts)(rule, claim)


def _items(rule: Rule, claim: Claim, kind: type[Kind], what: str) -> list[Kind]:
    """What a claim is made of, all of one kind."""
    items: Any = claim
    if isinstance(claim, Mapping):
        items = list(claim.values())
    elif isinstance(claim, kind):
        items = [claim]
    if not isinstance(items, list | tuple) or not items or not all(isinstance(item, kind) for item in items):
        raise InputError(f"{rule.id} is judged by `{rule.rule}`, which asks for {what}: none came")
    return list(items)


def applied(rule: Rule, parts: Inference, k: int | str | None = None) -> Result:
    """What a rule about parts says of them; `k`: another number than the plan's."""
    wanted = rule.k if k is None else k
    if rule.rule == "within":
        low, high = rule.lines
        return rules.within(parts, low, high, wanted)
    if rule.rule == "each":
        return rules.each(parts, rule.threshold, rule.margin)
    return rules.direction(parts, wanted, rule.threshold, rule.margin)


def _holds_by_points(rule: Rule, values: ArrayLike, k: int) -> bool:
    """Whether k of some numbers are what the rule asks for, as they are."""
    numbers, lines = np.asarray(values, dtype=float), rule.lines
    holds = numbers > lines[0]
    if len(lines) > 1:
        holds &= numbers < lines[1]
    return bool(holds.sum() >= k)


def _of_parts(rule: Rule, claim: Claim) -> Result:
    """The result of a rule about parts. Of fewer parts than the plan counts, as many are required as hold in the
    paper's own numbers for these; where it prints none the claim is not tested."""
    pairs = _items(rule, claim, Comparison, "parts")
    m, k = len(pairs), rule.k
    why = ""
    if isinstance(k, int) and m < k:
        why = f"{m} comparisons are available, and the claim needs {k}"
        k = sum(pair.published > rule.threshold for pair in pairs)
        if not k:
            return rules.not_tested(why)
        why = f"{why}; {k} are required, as many as hold in the paper's own numbers for these"
    if any(pair.ours.n == 0 for pair in pairs):
        return rules.not_tested("a part without any value")
    repeats = _own_repeats(rule, pairs, k)
    if repeats is False:
        return rules.not_tested(OWN_REPEATS, Verdict.NOTHING)
    result = applied(rule, TESTS[rule.test]([pair.ours for pair in pairs]), k)
    return replace(result, why=why) if why else result


def _own_repeats(rule: Rule, pairs: Sequence[Comparison], k: int | str) -> bool | None:
    """Whether the claim holds by points in each of the paper's own repeats; None where it prints none."""
    numbers = {len(pair.repeats) for pair in pairs}
    if numbers == {0} or len(numbers) > 1:
        return None
    values = np.array([pair.repeats for pair in pairs]).T  # [repeats, parts]
    if np.isnan(values).any():
        return None
    needed_parts = 1 if rule.rule == "each" else rules.parts_needed(k, len(pairs))
    return all(_holds_by_points(rule, of_repeat, needed_parts) for of_repeat in values)


def _of_statements(rule: Rule, claim: Claim) -> Result:
    """The result of the statements of a sentence together, each by its own rule."""
    if not isinstance(claim, Statements):
        raise InputError(f"{rule.id} is judged by `whole`, which asks for statements: none came")
    results = [_decided(analysis_plan.statement(rule.id, name), part) for name, part in claim.of.items()]
    verdict = rules.whole([result.verdict for result in results])
    said = "; ".join(f"{name}: {result.verdict}" for name, result in zip(claim.of, results, strict=True))
    p_values = [result.p_yes for result in results]
    whole_p = np.max(p_values) if not np.isnan(p_values).any() else np.nan  # all of them have to hold
    passed = np.array(sum(int(result.passed) for result in results))
    return Result(np.array(verdict, dtype=object), np.asarray(whole_p), np.array(np.nan), passed, said)


def _of_orders(rule: Rule, claim: Claim) -> Result:
    """The result of several orders of the same items, decided together."""
    orders = _items(rule, claim, Ordered, "orders")
    items = set(orders[0].items)
    differing = sorted(set().union(*(set(order.items) ^ items for order in orders)))
    if differing:
        raise InputError(f"orders of {rule.id} differ in {', '.join(differing)}: expected the same items")
    blocks, repeats = orders[0].block_of_each, _own_orders(orders)
    if repeats is not None and not rules.own_repeat_agrees(*repeats, blocks):
        return rules.not_tested(OWN_REPEATS, Verdict.NOTHING)
    fewest = min(estimate.fewest for order in orders for estimate in order.ours)
    if fewest < FEWEST_CLUSTERS:
        return rules.not_tested(f"{fewest} independent inputs, fewer than {FEWEST_CLUSTERS}")
    points = np.array([[float(estimate.point) for estimate in order.ours] for order in orders])
    replicates = np.stack([_of_items(order, lambda estimate: estimate.replicates) for order in orders], axis=1)
    halves = np.stack([_of_items(order, _halves) for order in orders], axis=2)
    agreement = None
    if repeats is not None:
        agreement = float(np.mean([tau_b(first, second) for first, second in zip(*repeats, strict=True)]))
    published_values = np.array([order.published for order in orders])
    return rules.order(points, published_values, replicates, halves, fewest, blocks=blocks, own_agreement=agreement)


def _of_items(order: Ordered, values_of: Callable[[Estimate], rules.Array]) -> rules.Array:
    """Some values [..., I] of the items of an order."""
    return np.stack([values_of(estimate) for estimate in order.ours], axis=-1)


def _halves(estimate: Estimate) -> rules.Array:
    """An estimate on the halves of its clusters, [S, 2]."""
    if estimate.contributions is None:
        raise InputError("an order is of means: its items have to be linear combinations of them")
    return np.asarray(estimate.point + estimate.resamples.halves @ estimate.contributions)


def _own_orders(orders: Sequence[Ordered]) -> tuple[list[list[float]], list[list[float]]] | None:
    """The values of the items in the paper's own repeats of the orders, the first of each and the second; None where
    one of them is not repeated. Repeats that several orders share count once."""
    if any(order.repeats is None for order in orders):
        return None
    first, second = [], []
    for order in orders:
        sides = [[values[name] for name in order.items] for values in order.repeats or ()]
        if sides[0] not in first:
            first.append(sides[0])
            second.append(sides[1])
    return first, second


def _of_trend(rule: Rule, claim: Claim) -> Result:
    """The result of two values per unit."""
    [trend] = _items(rule, claim, Trend, "x and y")
    x, y = ([float(pair.ours.point) for pair in side.values()] for side in (trend.x, trend.y))
    printed = _pearson(*([pair.published for pair in side.values()] for side in (trend.x, trend.y)))
    return rules.trend(x, y, None if math.isnan(printed) else printed)


def _of_numbers(rule: Rule, claim: Claim) -> Result:
    """The result of numbers that are worked out twice."""
    numbers = _items(rule, claim, SameNumber, "numbers of ours and published ones")
    return rules.same_number(
        [number.ours for number in numbers],
        [number.published for number in numbers],
        tolerance=rule.margin,
        causes=[number.cause for number in numbers],
    )


# ------------------------------------------------------------------------------------------------------------ verdicts
@dataclass(frozen=True)
class Judged:
    """One claim with its result; `rows`: its parts as data; `own_repeat`: what the rule says of the paper's own repeat
    by points, where it prints one; `awaited`: inputs that would decide what is undecided; `confirm`: inputs of a
    confirmatory sample (`needed.inputs_to_confirm`)."""

    id: str
    rule: Rule
    result: Result
    evidence: str
    rows: pd.DataFrame = field(repr=False)
    own_repeat: str = ""
    awaited: int | None = None
    confirm: int | None = None

    @property
    def verdict(self) -> Verdict:
        """What is decided."""
        return self.result.verdict

    @property
    def decision(self) -> str:
        """The word under which it is counted."""
        return self.verdict.decision

    @property
    def word(self) -> str:
        """The decision as it reads on its evidence."""
        return evidence_levels.display_label(self.decision, self.evidence)

    @property
    def reason(self) -> str:
        """Why, where the verdict says more than the decision."""
        more = "no difference above the margin" if self.verdict is Verdict.EQUIVALENT else ""
        return self.result.why or more

    @property
    def n(self) -> int | None:
        """Inputs in the smallest condition that the claim rests on."""
        counted = self.rows["n"].dropna()
        return int(counted.min()) if len(counted) else None

    @property
    def waits_for(self) -> str:
        """What an undecided or untested claim waits for, one of `scoreboard.CAUSES`: what stands in
        `data/undecided.csv`, else what follows from its numbers."""
        if self.verdict is Verdict.NOT_TESTED:
            few = (self.rows["clusters"] < FEWEST_CLUSTERS).any()
            return MORE_INPUTS if few else UNOBTAINABLE
        if self.verdict is not Verdict.UNDECIDED:
            return ""
        declared = published.our_table("undecided").set_index("id")["cause"]
        if (fact := self.rule.same_as or self.id) in declared:
            return str(declared[fact])
        if self.awaited is None:
            return RULE
        # A release is as large as it is.
        return UNOBTAINABLE if self.evidence == evidence_levels.AUTHORS else MORE_INPUTS

    @property
    def contradicted(self) -> int | None:
        """Parts of which the published values, read as they are, say the opposite, where these are so many that the
        paper's own numbers refute the claim on the data compared."""
        if self.rule.rule != "direction":
            return None
        values = self.rows["published"].dropna()
        against = int((values <= self.rule.threshold).sum())
        return against if against and len(values) - against < self.rule.needed(len(values)) else None

    @property
    def columns(self) -> dict[str, Any]:
        """Its columns on the scoreboard that are made of its parts."""
        tested = self.verdict not in (Verdict.NOT_TESTED, Verdict.NOTHING)
        values: dict[str, Any] = {"n": self.n, "contradicted": self.contradicted, "own_repeat": self.own_repeat}
        values |= {"waits_for": self.waits_for, "reason": self.reason}
        if not tested or self.rows.empty:
            return values
        values |= {"passed": int(self.result.passed), "parts": len(self.rows)}
        p = float(self.result.p_yes)
        row = self.rows.iloc[self._decisive()]
        shown = row.rename({"ours": "effect"})[["part", "effect", "low", "high", "published", "detectable"]]
        values |= {str(name): None if pd.isna(value) else value for name, value in shown.items()}
        return values | {"needed": self.awaited, "confirm": self.confirm, "p": None if math.isnan(p) else p}

    def _decisive(self) -> int:
        """The row of the part that decides: of numbers the one furthest off."""
        if self.rule.rule == "same":
            return int((self.rows["ours"] - self.rows["published"]).abs().fillna(0.0).argmax())
        if self.rule.rule in ("order", "trend", "whole"):
            return 0
        return decisive(self.rule, self.rows["ours"].fillna(0.0).to_numpy(dtype=float))


def decisive(rule: Rule, estimates: ArrayLike) -> int:
    """Which part decides: of k that are needed the k-th highest, or the k-th nearest to the middle of a range."""
    values = np.asarray(estimates, dtype=float)
    distance = np.abs(values - np.mean(rule.lines)) if rule.rule == "within" else -values
    return int(np.argsort(distance, kind="stable")[rule.needed(len(values)) - 1])


def judge(name: str, claim: Claim, *, have: Collection[str], flipping_options: Collection[str] = ()) -> Judged:
    """The claim of an id by its rule.

    `have`: the data sets, models and languages that are there; where the rule `needs` one that is not among them, the
    claim is not tested. `flipping_options`: choices of its curve that turn a yes or no into the other
    (`Curve.flipping_options`), of which those count that the paper does not report. Raises UnknownNameError for an id
    without a rule, InputError where the claim is not what its rule is about.
    """
    rule = analysis_plan.rule(name)
    result = _result(rule, claim, have)
    against = (Verdict.NO, Verdict.EQUIVALENT)
    if result.verdict in (Verdict.YES, *against) and any(choice in flipping_options for choice in rule.unreported):
        result = replace(result, verdicts=np.array(Verdict.MIXED, dtype=object), why=UNREPORTED)
    if claim:
        evidence = evidence_levels.weakest(_evidence(claim))
    elif published.column("kind").get(name) == "question":
        evidence = evidence_levels.OUR_QUESTION
    else:  # nobody's material but the paper's own words
        evidence = evidence_levels.SUBSTITUTE
    rows = [{"claim": rule.id, **row} for row in (_rows(rule, claim) if claim else [])]
    columns = [*COLUMNS, *BESIDE_BOOK] if any(BESIDE_BOOK[0] in row for row in rows) else list(COLUMNS)
    frame = pd.DataFrame(rows, columns=columns).astype({"n": "Int64", "clusters": "Int64"})
    inner = claim.claim if isinstance(claim, OnlyIf) else claim
    awaited, confirm = _sizes(rule, inner, result)
    return Judged(name, rule, result, evidence, frame, _own_repeat(rule, inner), awaited, confirm)


def _result(rule: Rule, claim: Claim, have: Collection[str]) -> Result:
    """What is decided before the rule is asked, else what it says."""
    if rule.fixed_verdict is not None:
        return rules.not_tested("", rule.fixed_verdict)
    lacking = [name for name in rule.needs if claim is None or name not in have]
    if lacking:
        return rules.not_tested(f"about {', '.join(lacking)}")
    if isinstance(claim, Mapping) and not claim:
        return rules.not_tested("nothing of it was measured")
    return _decided(rule, claim)


def _awaited_by_statements(rule: Rule, claim: Statements) -> int | None:
    """Inputs that would decide every open statement of a sentence; None where nothing says so of one."""
    awaited: list[int] = []
    for name, part in claim.of.items():
        of_part = analysis_plan.statement(rule.id, name)
        result = _decided(of_part, part)
        if result.verdict is Verdict.UNDECIDED:
            number = _sizes(of_part, part.claim if isinstance(part, OnlyIf) else part, result)[0]
            if number is None:
                return None
            awaited.append(number)
    return max(awaited, default=None)


def _sizes(rule: Rule, claim: Claim, result: Result) -> tuple[int | None, int | None]:
    """Inputs that would decide what is undecided, and inputs of a confirmatory sample of what is decided; None where
    nothing says so."""
    undecided = result.verdict is Verdict.UNDECIDED
    decided = result.verdict in (Verdict.YES, Verdict.NO, Verdict.EQUIVALENT)
    if undecided and isinstance(claim, Statements):
        return _awaited_by_statements(rule, claim), None
    if rule.rule not in OF_PARTS or not (undecided or decided):
        return None, None
    pairs = _items(rule, claim, Comparison, "parts")
    k = min(rule.k, len(pairs)) if isinstance(rule.k, int) else rule.k
    parts, n = Student.of([pair.ours for pair in pairs]), min(pair.ours.n for pair in pairs)

    def verdict_of(sample: Student) -> Result:
        return applied(rule, sample, k)

    if undecided:
        return needed.inputs_to_decide(verdict_of, parts, n), None
    return None, needed.inputs_to_confirm(verdict_of, parts, rule.lines, n)


def _own_repeat(rule: Rule, claim: Claim) -> str:
    """What the rule says of the paper's own repeat, by points; "" where it prints none."""
    agrees: bool | None = None
    if claim and isinstance(claim, Mapping) and rule.rule in OF_PARTS:
        k: int | str = min(rule.k, len(claim)) if isinstance(rule.k, int) else rule.k
        agrees = _own_repeats(rule, _items(rule, claim, Comparison, "parts"), k)
    elif rule.rule == "order" and claim:
        orders = _items(rule, claim, Ordered, "orders")
        repeats = _own_orders(orders)
        if repeats is not None:
            agrees = rules.own_repeat_agrees(*repeats, orders[0].block_of_each)
    if agrees is None:
        return ""
    return "agrees" if agrees else "disagrees"


def _evidence(claim: Claim) -> list[str]:
    """What each of its numbers rests on."""
    if isinstance(claim, Trend):
        return [*_evidence(claim.x), *_evidence(claim.y)]
    if isinstance(claim, Statements):
        return [level for part in claim.of.values() for level in _evidence(part)]
    if isinstance(claim, OnlyIf):
        return [*_evidence(claim.claim), *_evidence(claim.bases)]
    if isinstance(claim, Mapping):
        return [part.evidence for part in claim.values()]
    if isinstance(claim, Ordered):
        return _evidence(claim.items)
    return [level for order in claim or () for level in _evidence(order.items)]


# ---------------------------------------------------------------------------------------------------------------- rows
def _rows(rule: Rule, claim: Claim) -> list[dict[str, Any]]:
    """The parts of a claim, in the columns of `COLUMNS`."""
    if isinstance(claim, Statements):
        return [row for name, part in claim.of.items() for row in _rows(analysis_plan.statement(rule.id, name), part)]
    if isinstance(claim, OnlyIf):
        return _rows(rule, claim.claim)
    if isinstance(claim, Trend):
        return [_along_row(claim)]
    if not isinstance(claim, Mapping):
        return _order_rows(_items(rule, claim, Ordered, "orders"))
    rows = []
    for name, part in claim.items():
        columns = _number_of(rule, part) if isinstance(part, SameNumber) else part_of(rule, part)
        rows.append({"part": name, **columns})
    return rows


def part_of(rule: Rule, pair: Comparison) -> dict[str, Any]:
    """One part: published, ours with its interval, its p-value and answer were it the only part."""
    row: dict[str, Any] = {"published": pair.published, **row_of(pair, "ours", "low", "high")}
    row |= {"clusters": pair.ours.fewest, "answer": Verdict.NOT_TESTED.value}
    if pair.ours.n and rule.rule in OF_PARTS:
        alone = applied(rule, TESTS[rule.test]([pair.ours]), "all")
        row |= {"p": float(alone.p_yes), "answer": alone.verdict.value}
    row["detectable"] = needed.smallest_detectable(pair.ours)
    row["needed"] = min((needed.how_many(pair.ours, line) for line in rule.lines), default=math.nan)
    if not math.isnan(pair.published):
        row["away"] = pair.z_difference
    if pair.book is not None:
        row |= dict(zip(BESIDE_BOOK, (float(pair.book.point), pair.from_book), strict=True))
    if pair.prediction is not None:
        row |= {"predicted_low": pair.prediction.low, "predicted_high": pair.prediction.high}
    return row


def _number_of(rule: Rule, number: SameNumber) -> dict[str, Any]:
    close = rules.same_number([number.ours], [number.published], tolerance=rule.margin)
    return {"published": float(number.published), "ours": number.ours, "answer": close.verdict.value}


def _along_row(claim: Trend) -> dict[str, Any]:
    sides = (claim.x.values(), claim.y.values())
    estimates = [pair.ours for side in sides for pair in side]
    row: dict[str, Any] = {
        "n": min(estimate.n for estimate in estimates),
        "clusters": min(estimate.fewest for estimate in estimates),
    }
    row["ours"] = _pearson(*([float(pair.ours.point) for pair in side] for side in sides))
    row["published"] = _pearson(*([pair.published for pair in side] for side in sides))
    return row | {"part": f"{claim.name} over {len(claim.x)} units"}


def _order_rows(orders: Sequence[Ordered]) -> list[dict[str, Any]]:
    """Kendall's tau-b of each order with the printed one, with its interval over inputs; before several of them their
    mean."""
    taus = [tau_of(order.ours, order.published) for order in orders]
    rows = [_order_row(order, tau) for order, tau in zip(orders, taus, strict=True)]
    if len(rows) == 1:
        return rows
    mean: dict[str, Any] = {"ours": float(np.mean([row["ours"] for row in rows]))}
    # Orders of one draw of inputs have a mean with an interval.
    if len({id(tau.resamples) for tau in taus}) == 1:
        total = taus[0]
        for tau in taus[1:]:
            total = total + tau
        mean = row_of(total / len(taus), "ours", "low", "high")
    first = {"part": f"mean of {len(rows)}", **mean}
    first |= {name: min(row[name] for row in rows) for name in ("n", "clusters")}
    repeats = [row["repeat"] for row in rows if "repeat" in row]
    if len(repeats) == len(rows):
        first["repeat"] = float(np.mean(repeats))
    return [first, *rows]


def _order_row(order: Ordered, tau: Estimate) -> dict[str, Any]:
    """Kendall's tau-b of our order with the printed one, its interval over inputs; `repeat`: that of the paper's own
    repeat."""
    row: dict[str, Any] = {"part": order.name, "published": 1.0, **row_of(tau, "ours", "low", "high")}
    row["clusters"] = tau.fewest
    if order.repeats is not None:
        first, second = ([values[name] for name in order.items] for values in order.repeats)
        row["repeat"] = float(tau_b(first, second))
    return row


def _pearson(x: Sequence[float], y: Sequence[float]) -> float:
    spread = min(np.std(x), np.std(y))  # NaN where one value is
    return float(np.corrcoef(x, y)[0, 1]) if spread > 0 else math.nan
