"""Claims as data, judged: every part published and ours, the rule's decision, and what it says in words.

A claim is, by the rule that the rule book has for its id,

- a mapping from the words of a part to a `Paired` quantity that the claim says is above the threshold;
- an `Ordered` (or several): items whose order the paper prints;
- an `Along`: two values a unit that are said to rise together;
- a mapping from names to a `Printed`: the same number worked out twice;
- a `Provided`: parts that ask for something to be clearly above zero first;
- `None` where the rule book has the decision.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from faithbook.results import evidence, published, rulebook, rules
from faithbook.results.agreement import tau_of
from faithbook.results.deciding import deciding
from faithbook.results.estimates import Quantity
from faithbook.results.numbers import ends_of, row_of
from faithbook.results.paired import Paired
from faithbook.results.rulebook import Rule
from faithlib.errors import InputError

COLUMNS = (
    *("claim", "part", "published", "ours", "low", "high", "n", "clusters", "p", "answer", "why"),
    *("here", "here_low", "here_high", "predicted_low", "predicted_high", "away", "detectable", "needed"),
)


@dataclass(frozen=True)
class Ordered:
    """Items by name whose order the paper prints; `blocks`: which of them change places together (see `rules`)."""

    items: Mapping[str, Paired]
    blocks: Mapping[str, object] | None = None
    name: str = "Kendall's tau with the printed order"


@dataclass(frozen=True)
class Along:
    """Units by name (languages, tasks), each with the two values that are said to rise together."""

    x: Mapping[str, Paired]
    y: Mapping[str, Paired]
    name: str = "correlation"


@dataclass(frozen=True)
class Printed:
    """A number of ours that should be the printed one, as text with all its digits.

    `evidence`: what ours rests on; a number worked out again from the paper's own needs no other ground. `cause`: why
    ours is another number, where that is known.
    """

    ours: float
    published: str
    evidence: str = evidence.AUTHORS
    cause: str = ""


@dataclass(frozen=True)
class Provided:
    """Parts or orders that mean something only where some quantities are clearly above zero: a multiple of zero is
    none, and a text that a model does not read has no reasons.

    `bases`: those quantities by name. Where one is not above zero (p <= .025), the claim is not testable here.
    """

    parts: Mapping[str, Paired] | Sequence[Ordered]
    bases: Mapping[str, Paired]


Parts = Mapping[str, Paired]
Claim = Parts | Provided | Ordered | Sequence[Ordered] | Along | Mapping[str, Printed] | None


@dataclass(frozen=True)
class Judged:
    """One claim with its decision: `here`, that of the present run where another speaks; `rows`, its parts as data."""

    id: str
    rule: Rule
    decision: rules.Decision
    here: rules.Decision | None
    evidence: str
    rows: pd.DataFrame = field(repr=False)
    aside: str = ""

    @property
    def word(self) -> str:
        """The decision in words, on its ground."""
        return evidence.worded(self.decision.answer, self.evidence, same=self.rule.rule == "same")

    @property
    def here_word(self) -> str:
        """The present run's decision in words, "" where the run itself speaks."""
        if self.here is None:
            return ""
        return evidence.worded(self.here.answer, self.evidence, same=self.rule.rule == "same")

    @property
    def n(self) -> int | None:
        """Inputs in the smallest cell that the claim rests on."""
        counted = self.rows["n"].dropna()
        return int(counted.min()) if len(counted) else None

    @property
    def note(self) -> str:
        """What was found, in words made from the numbers."""
        return "; ".join(
            filter(None, [*_found(self), _printed(self), _undecided(self), *_disagreeing(self), self.aside])
        )


def judge(
    name: str, claim: Claim, *, have: Collection[str], aside: str = "", turned_by: Collection[str] = ()
) -> Judged:
    """The claim of an id by its rule, ours and (where another run speaks) the present run's.

    `have`: the data sets, models and languages that are there; `aside`: a sentence to add to the note; `turned_by`:
    choices of its curve that turn a yes or no into the other (`Curve.hangs_on`), of which those count that the paper
    does not report. Raises UnknownNameError for an id without a rule, InputError where the claim is not what its rule
    is about.
    """
    rule = rulebook.rule(name)
    ground = evidence.weakest(_grounds(claim)) if claim else _ground_of(name)
    decision = _decided(rule, claim, have, lambda one: one.ours)
    reply = None
    if any(one.here is not None for one in _pairs(claim)):
        whole = all(one.here is not None for one in _pairs(claim))
        reply = _decided(rule, claim, have, _here) if whole else rules.Decision(rules.UNTESTABLE, 0, 1)
    open_choices = [choice for choice in rule.unreported if choice in turned_by]
    if open_choices and decision.answer in (rules.YES, rules.NO):
        why = f"the answer depends on what the paper does not report: {', '.join(open_choices)}"
        decision, reply = replace(decision, answer=rules.DEPENDS, why=why), None
    return Judged(name, rule, decision, reply, ground, _rows(rule, claim), aside)


def _here(pair: Paired) -> Quantity:
    if pair.here is None:
        raise InputError("the present run has no such cell")
    return pair.here


def _decided(rule: Rule, claim: Claim, have: Collection[str], of: Callable[[Paired], Quantity]) -> rules.Decision:
    """What the rule says of one side of the claim: `of` takes ours or the present run's."""
    if not claim:
        return rulebook.judge(rule.id, have=have)
    if isinstance(claim, Provided):
        unsure = [name for name, base in claim.bases.items() if of(base).p_above() > rules.ALPHA]
        if unsure:
            why = f"{' and '.join(unsure)} {'is' if len(unsure) == 1 else 'are'} not clearly above zero"
            return rules.Decision(rules.UNTESTABLE, 0, len(claim.parts), why=why)
        return _decided(rule, claim.parts, have, of)
    if isinstance(claim, Along):
        x, y = ([of(pair).point for pair in side.values()] for side in (claim.x, claim.y))
        return rulebook.judge(rule.id, x=x, y=y, have=have)
    if isinstance(claim, Mapping):
        if numbers := _numbers(claim):
            ours, theirs = [one.ours for one in numbers], [one.published for one in numbers]
            causes = [one.cause for one in numbers]
            return rulebook.judge(rule.id, ours=ours, published=theirs, causes=causes, have=have)
        pairs = {part: pair for part, pair in claim.items() if isinstance(pair, Paired)}
        as_many = sum(pair.published > rule.threshold for pair in pairs.values())
        return rulebook.judge(rule.id, {part: of(pair) for part, pair in pairs.items()}, as_many=as_many, have=have)
    orders = [
        rulebook.Order(
            {item: of(pair) for item, pair in one.items.items()},
            {item: pair.published for item, pair in one.items.items()},
            one.blocks,
        )
        for one in _orders(claim)
    ]
    return rulebook.judge(rule.id, orders=orders, have=have)


def _orders(claim: Ordered | Sequence[Ordered]) -> list[Ordered]:
    return [claim] if isinstance(claim, Ordered) else list(claim)


def _pairs(claim: Claim) -> list[Paired]:
    """All quantities of a claim."""
    if not claim:
        return []
    if isinstance(claim, Provided):
        return [*_pairs(claim.parts), *claim.bases.values()]
    if isinstance(claim, Along):
        return [*claim.x.values(), *claim.y.values()]
    if isinstance(claim, Mapping):
        return [one for one in claim.values() if isinstance(one, Paired)]
    return [pair for one in _orders(claim) for pair in one.items.values()]


def _numbers(claim: Claim) -> list[Printed]:
    """All numbers of a claim that are worked out twice."""
    return [one for one in claim.values() if isinstance(one, Printed)] if isinstance(claim, Mapping) else []


def _grounds(claim: Claim) -> list[str]:
    return [*(one.evidence for one in _numbers(claim)), *(pair.evidence for pair in _pairs(claim))]


def _ground_of(name: str) -> str:
    """The ground of what nothing was measured for: nobody's material but the paper's own words."""
    return evidence.OUR_QUESTION if published.column("kind")[name] == "question" else evidence.STAND_INS


# ---------------------------------------------------------------------------------------------------------------- rows
def _rows(rule: Rule, claim: Claim) -> pd.DataFrame:
    """One row a part, in the columns of `COLUMNS`."""
    if isinstance(claim, Provided):
        return _rows(rule, claim.parts)
    rows: list[dict[str, Any]] = []
    if isinstance(claim, Along):
        rows.append(_correlation(claim))
    elif isinstance(claim, Mapping):
        for part, one in claim.items():
            rows.append({"part": part, **(_number(rule, one) if isinstance(one, Printed) else part_of(rule, one))})
    elif claim:
        rows.extend(_order(one) for one in _orders(claim))
    frame = pd.DataFrame([{"claim": rule.id, **row} for row in rows], columns=list(COLUMNS))
    return frame.astype({"n": "Int64", "clusters": "Int64"})


def part_of(rule: Rule, pair: Paired) -> dict[str, Any]:
    """One part: published, ours with its interval, its p-value and answer were it the only part, the present run's."""
    alone = _alone(rule, pair.ours)
    row: dict[str, Any] = {"published": pair.published, **row_of(pair, "ours", "low", "high")}
    row |= {"clusters": pair.ours.clusters, "p": alone.p_yes, "answer": alone.answer}
    row["why"] = why_open(alone, lines(rule), row["low"], row["high"])
    effect = min(abs(pair.ours.point - line) for line in lines(rule))
    row["detectable"] = rules.smallest_detectable(pair.ours)
    row["needed"] = rules.how_many(pair.ours, effect) if effect > 0 else math.nan
    if pair.here is not None:
        row |= ends_of(pair.here, "here", "here_low", "here_high")
    if not math.isnan(pair.published):
        row["away"] = pair.away
    if pair.prediction is not None:
        row |= {"predicted_low": pair.prediction.low, "predicted_high": pair.prediction.high}
    return row


def why_open(found: rules.Decision, marks: Sequence[float], low: float, high: float) -> str:
    """Why a part is undecided although its interval lies on one side of the line, in a few words; else ""."""
    if found.answer != rules.INCONCLUSIVE or any(low <= mark <= high for mark in marks) or math.isnan(low + high):
        return ""
    return "too skewed to test" if found.why == rules.TOO_SKEWED else f"p = {min(found.p_yes, found.p_no):.3f}"


def lines(rule: Rule) -> tuple[float, ...]:
    """Where a part has to lie right of, or between which two values, to say yes."""
    margin = rule.margin or 0.0
    if rule.rule == "equal":
        return (-margin, margin)
    return (-margin,) if rule.rule == "at_least" else (rule.threshold,)


def _alone(rule: Rule, quantity: Quantity) -> rules.Decision:
    if rule.rule == "at_least":
        return rules.at_least(quantity, rule.margin or 0.0)
    if rule.rule == "equal":
        return rules.equal(quantity, rule.margin or 0.0)
    return rules.above(quantity, rule.threshold)


def _order(one: Ordered) -> dict[str, Any]:
    """Kendall's tau-b of our order with the printed one, its interval over inputs."""
    printed = [pair.published for pair in one.items.values()]
    ours = [pair.ours for pair in one.items.values()]
    tau = tau_of(ours, printed)
    row: dict[str, Any] = {"part": one.name, "published": 1.0, **row_of(tau, "ours", "low", "high")}
    row["clusters"] = tau.clusters
    here = [pair.here for pair in one.items.values() if pair.here is not None]
    if len(here) < len(ours):
        return row
    return row | ends_of(tau_of(here, printed), "here", "here_low", "here_high")


def _correlation(claim: Along) -> dict[str, Any]:
    x, y = (np.array([pair.ours.point for pair in side.values()]) for side in (claim.x, claim.y))
    theirs = [np.array([pair.published for pair in side.values()]) for side in (claim.x, claim.y)]
    row = {"part": f"{claim.name} over {len(x)} units", "ours": _pearson(x, y), "published": _pearson(*theirs)}
    everyone = [pair.ours for pair in (*claim.x.values(), *claim.y.values())]
    return row | {"n": min(one.n for one in everyone), "clusters": min(one.clusters for one in everyone)}


def _pearson(x: np.ndarray, y: np.ndarray) -> float:
    if len(x) < 2 or np.isnan(x).any() or np.isnan(y).any() or not x.std() or not y.std():
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def _number(rule: Rule, one: Printed) -> dict[str, Any]:
    close = rules.same([one.ours], [one.published], tolerance=rule.margin)
    return {"published": float(one.published), "ours": one.ours, "answer": close.answer}


# --------------------------------------------------------------------------------------------------------------- words
def _found(judged: Judged) -> list[str]:
    """How many parts, and all of them or the lowest and the highest; where it cannot be tested here, why, and no count:
    that none of its parts says yes would read as a no."""
    decision, rows = judged.decision, judged.rows
    if judged.rule.rule == "fixed":
        return [judged.rule.why.partition(":")[2].partition("Before:")[0].strip().rstrip(".")]
    told = [decision.why] if decision.why else []
    if rows.empty:
        return told or ["nothing here to test it on"]
    if judged.rule.rule in ("order", "trend"):
        return told
    testable = decision.answer != rules.UNTESTABLE
    counted = [f"{decision.passed} of {decision.parts} parts"] if testable else [f"not testable here: {decision.why}"]
    if judged.rule.rule == "same":
        off = rows[rows["answer"] != rules.YES]
        by = (off["ours"] - off["published"]).abs()
        furthest = off.assign(by=by).sort_values("by", ascending=False, kind="stable")
        agreed = [f"{decision.passed} of {decision.parts} numbers agree"] if testable else counted
        return [*agreed, *(_apart(row) for row in _records(furthest)[:3])]
    few = rows if len(rows) <= 3 else rows.sort_values("ours").iloc[[0, -1]]
    names = ["", "", ""] if len(rows) <= 3 else ["lowest: ", "highest: "]
    values = [f"{name}{_against(row)}" for name, row in zip(names, _records(few), strict=False)]
    return [*counted, *values, *(told if testable else [])]


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _against(row: Mapping[str, Any]) -> str:
    ends = "" if pd.isna(row["low"]) else f" [{row['low']:.3f}, {row['high']:.3f}]"
    printed = "" if pd.isna(row["published"]) else f" (published {row['published']:.3f})"
    return f"{row['part']} {'undefined' if pd.isna(row['ours']) else format(row['ours'], '.3f')}{ends}{printed}"


def _apart(row: Mapping[str, Any]) -> str:
    """A number beside the printed one that it is not, in as many digits as it takes to see that."""
    ours, printed = row["ours"], row["published"]
    if pd.isna(ours) or pd.isna(printed):
        return _against(row)
    whole = float(ours).is_integer() and float(printed).is_integer()
    forms = [",.0f"] if whole else [f".{digits}f" for digits in range(3, 10)]
    form = next((one for one in forms if format(ours, one) != format(printed, one)), forms[-1])
    return f"{row['part']} {ours:{form}} (published {printed:{form}})"


def _printed(judged: Judged) -> str:
    """Where what the paper prints of the data compared refutes the claim, that: of its published values, read as they
    are, fewer are so than the rule asks for."""
    if judged.rule.rule not in ("above", "k_of", "leader", "at_least") or judged.rows.empty:
        return ""
    values = judged.rows["published"].dropna()
    against, k = int((values <= lines(judged.rule)[0]).sum()), judged.rule.k or "all"
    needed = len(values) if k == "each" else rules.parts_needed(k, max(len(values), k if isinstance(k, int) else 0))
    if not against or len(values) - against >= needed:
        return ""
    return f"the paper's own values on the data compared here contradict {against} of {len(values)} parts"


def _undecided(judged: Judged) -> str:
    """Where it is inconclusive: how many inputs would decide it, and the smallest effect that would have been found in
    the part that it waits for."""
    rows = judged.rows.dropna(subset=["low"])
    if judged.decision.answer != rules.INCONCLUSIVE or judged.decision.why == rules.TOO_SKEWED or rows.empty:
        return ""
    if (awaited := deciding(judged.rule, rows, lines(judged.rule))) is None:
        return ""
    least = float(rows.loc[rows["part"] == awaited.part, "detectable"].iloc[0])
    return (
        f"were the values as they look, about {awaited.needed:,} inputs would decide it ({awaited.answer}), by "
        f"{awaited.part}, in which this run would have found an effect of {least:.3f}"
    )


def without_disagreement(note: str) -> str:
    """A verdict's note without what the run beside the reference says (`_disagreeing`)."""
    return re.sub(r"(?:^|; )this build disagrees on \d+ of \d+ parts: [^\[]*\[[^\]]*\]", "", note)


def _disagreeing(judged: Judged) -> list[str]:
    """Where the present run's interval has nothing in common with the reference's."""
    rows = judged.rows
    apart = rows[(rows["here_low"] > rows["high"]) | (rows["here_high"] < rows["low"])]
    if apart.empty:
        return []
    first = apart.iloc[0]
    told = f"{first['part']} {first['here']:.3f} [{first['here_low']:.3f}, {first['here_high']:.3f}]"
    return [f"this build disagrees on {len(apart)} of {len(rows)} parts: {told}"]
