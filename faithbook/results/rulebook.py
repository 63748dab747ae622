"""The rule log: by which rule each table, figure, claim and question is judged, since when, and why.

    found = rulebook.judge("soft_c01", {"Soft-NC minus NC": gain_nc, "Soft-NS minus NS": gain_ns})
    found.answer, found.passed, found.parts

Rules stand in `data/claims.csv`, one row per id, fixed and dated before the results that they judge; what was
fixed after a first run was seen says so (`post_hoc`). This module reads the log and applies `faithbook.results.rules`.

What `judge` is given depends on the rule:

- above, k_of, at_least, equal: the parts by name, each a `Quantity` that the claim says is above the threshold (at
  least minus the margin; within the margin of zero);
- leader: the contrasts by name, the one that leads minus each rival (`contrasts` makes them), of every setting that the
  claim names;
- order: the items by name and their `published` values; of several orders, one such pair each (`Order`);
- trend: `x` and `y`, one value of each a unit;
- same: `ours` and the `published` cells as printed, and (optional) why they differ where they do (`causes`);
- fixed: nothing, the log has the decision.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pandas as pd
from numpy.typing import ArrayLike

from faithbook.declared import remembered
from faithbook.results import rules
from faithbook.results.estimates import Quantity
from faithbook.results.published import claims
from faithbook.results.rules import Decision
from faithlib.errors import DataError, InputError, unknown

FIXED = (rules.SET_UP, rules.NOT_RECOMPUTABLE, rules.NOT_RUN, rules.NO_ORDER)
"""The decisions that a rule `fixed` may have; its `why` begins with one of them and a colon."""

REPEATS = {"repeats agree": True, rules.NO_ORDER: False, "ceiling unknown": None}
"""What the `why` of a rule `order` begins with: whether the paper's own repeats of the order agree with one another."""

RULES = ("above", "k_of", "at_least", "equal", "leader", "order", "trend", "same", "fixed")
DATA_SETS = ("sst", "ag", "evinf", "multirc", "cifar10", "cifar100", "imagenet", "xnli", "esnli", "exnli")
MODELS = ("mbert", "xlmr", "robust")
LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")

_Value = TypeVar("_Value", bound=Any)
"""A quantity, or one beside what the paper prints for it: whatever has sums and differences."""


@dataclass(frozen=True)
class Rule:
    """One row of the rule log.

    - `rule`: its name; `k`: how many parts are needed (a number, "all", "most", or "each": every part has an answer of
      its own); `threshold`, `margin`: see `rules`; of `same` the margin is the tolerance (none: half of the last
      printed digit).
    - `needs`: what has to be there (data sets, models, languages, as notebooks/profiles.yaml names them).
    - `same_as`: the id whose fact this one repeats; `headline`: it gets a specification curve.
    - `unreported`: choices of that curve which the paper does not report: where one of them alone turns yes into no,
      the answer depends on it.
    - `dated`: since when the rule stands; `post_hoc`: it was fixed after a first run was seen; `why`: the reason.
    """

    id: str
    rule: str
    k: int | str | None
    threshold: float
    margin: float | None
    needs: tuple[str, ...]
    same_as: str
    headline: bool
    unreported: tuple[str, ...]
    dated: datetime.date
    post_hoc: bool
    why: str

    @property
    def statistical(self) -> bool:
        """Whether the answer is drawn from values of inputs, and not fixed or a matter of digits."""
        return self.rule not in ("same", "fixed") and self.repeats_agree is not False

    @property
    def fixed(self) -> str:
        """The decision of a rule `fixed`, "" of others."""
        return self.why.partition(":")[0] if self.rule == "fixed" else ""

    @property
    def set_up(self) -> bool:
        """Of a rule `same`: whether it is about the set-up, which agrees without being a result."""
        return self.rule == "same" and self.why.startswith(f"{rules.SET_UP}:")

    @property
    def repeats_agree(self) -> bool | None:
        """Of a rule `order`: whether the paper's own repeats agree; None where it does not repeat the order."""
        return REPEATS[self.why.partition(":")[0]] if self.rule == "order" else None


@dataclass(frozen=True)
class Order:
    """Items by name, the value that the paper prints for each, and (optional) the block that each belongs to."""

    items: Mapping[str, Quantity]
    published: Mapping[str, float]
    blocks: Mapping[str, object] | None = None


@remembered
def log() -> dict[str, Rule]:
    """The rule of every id, in the order of the file; what `checked` raises."""
    rows = claims().to_dict("records")
    return checked([{str(key): str(value) for key, value in row.items()} for row in rows])


def checked(rows: Sequence[Mapping[str, str]]) -> dict[str, Rule]:
    """Rows of the log as rules by id.

    Raises DataError for an id that comes twice or a `same_as` that leads nowhere or on, and what `read` raises.
    """
    names = [row["id"] for row in rows]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"more than one rule for: {', '.join(twice)}")
    found = {row["id"]: read(row) for row in rows}
    for one in found.values():
        if one.same_as and (one.same_as not in found or found[one.same_as].same_as or one.same_as == one.id):
            raise DataError(f"the rule of {one.id} says same_as {one.same_as!r}: expected an id that repeats no other")
    return found


def rule(name: str) -> Rule:
    """The rule by which an id is judged; UnknownNameError for an id without one."""
    known = log()
    if name not in known:
        raise unknown("id with a rule", name, known)
    return known[name]


def contrasts(items: Mapping[str, _Value], leads: str, *, where: str = "") -> dict[str, _Value]:
    """The item that leads minus each of its rivals, by name; `where` tells settings apart.

    Raises UnknownNameError for a leader that is not among the items, InputError where it has no rival.
    """
    if leads not in items:
        raise unknown("item that leads", leads, items)
    if len(items) < 2:
        raise InputError(f"{leads} has no rival: nobody to lead")
    told = f", {where}" if where else ""
    return {f"{leads} minus {name}{told}": items[leads] - other for name, other in items.items() if name != leads}


def not_worse(name: str, quantity: _Value) -> _Value:
    """A part of a claim that has to be above the threshold, for a quantity that need only be not worse than zero by
    more than the margin: the exceptions that a claim names ("but for saliency").

    Raises DataError where the rule of the id has no margin.
    """
    found = rule(name)
    if found.margin is None:
        raise DataError(f"the rule of {name} has no margin: nothing says how much worse is not worse")
    worse: _Value = quantity + (found.threshold + found.margin)
    return worse


def judge(
    name: str,
    parts: Mapping[str, Quantity] | None = None,
    *,
    orders: Sequence[Order] = (),
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ours: ArrayLike | None = None,
    published: Sequence[str] | None = None,
    causes: Sequence[str] | None = None,
    as_many: int | None = None,
    have: Collection[str] | None = None,
) -> Decision:
    """What the rule of an id says; see the head of this module for what it has to be given.

    `have`: the data sets, models and languages of the run; where the rule `needs` one that is not among them, the
    decision is "not testable". `as_many`: how many of these parts are so in the paper's own numbers, which is asked of
    ours where a claim counts more parts than there are. Raises InputError where what the rule is about was not given.
    """
    found = rule(name)
    if found.rule == "fixed":
        return Decision(found.fixed, 0, 1)
    if found.needs and (lacking := _lacking(found, have)):
        return Decision(rules.UNTESTABLE, 0, 1, why=f"about {', '.join(lacking)}")
    if found.rule == "order":
        if not orders:
            raise _lacks(found, "orders")
        return rules.orders([_order(one) for one in orders], found.k or "all", repeats_agree=found.repeats_agree)
    if found.rule == "trend":
        if x is None or y is None:
            raise _lacks(found, "x and y")
        return rules.trend(x, y)
    if found.rule == "same":
        if ours is None or published is None:
            raise _lacks(found, "ours and published")
        told = rules.same(ours, published, tolerance=found.margin, causes=causes)
        return replace(told, answer=rules.SET_UP) if found.set_up and told.answer == rules.YES else told
    if not parts:
        raise _lacks(found, "parts")
    return _of_parts(found, list(parts.values()), as_many)


def _of_parts(found: Rule, parts: list[Quantity], as_many: int | None) -> Decision:
    """The rules that take parts; of fewer than the claim counts, as many are asked for as the paper's own numbers of
    them have, and where it prints none the claim is not testable."""
    k, margin = found.k or "all", found.margin
    if isinstance(k, int) and len(parts) < k:
        why = f"{len(parts)} parts, the claim is about {k} at least"
        if not as_many:
            return Decision(rules.UNTESTABLE, 0, len(parts), why=why)
        told = rules.k_of(parts, as_many, found.threshold, margin=margin)
        return replace(told, why=f"{why}; asked for {as_many}, as many as the paper's own numbers of these have")
    if k == "each":
        not_worse = found.rule == "at_least"
        d = -(margin or 0.0) if not_worse else found.threshold
        return rules.each(parts, d, margin=None if not_worse else margin)
    if found.rule == "leader":
        return rules.leader(parts, margin=margin)
    if found.rule == "above" and len(parts) > 1:
        raise InputError(f"{found.id} is judged by `above`, which has one part; {len(parts)} came")
    if found.rule == "at_least":
        return rules.at_least(parts, margin or 0.0, k=k)
    if found.rule == "equal":
        return rules.equal(parts, margin or 0.0, k=k)
    return rules.k_of(parts, k, found.threshold, margin=margin)


def _order(one: Order) -> tuple[list[Quantity], list[float], list[object] | None]:
    if missing := sorted(set(one.items) ^ set(one.published)):
        raise InputError(f"items and published values differ in {', '.join(missing)}: expected the same names")
    blocks = None if one.blocks is None else [one.blocks[name] for name in one.items]
    return list(one.items.values()), [one.published[name] for name in one.items], blocks


def _lacking(found: Rule, have: Collection[str] | None) -> list[str]:
    if have is None:
        raise InputError(f"{found.id} is about {', '.join(found.needs)}: say in `have` what the run has")
    return [name for name in found.needs if name not in have]


def _lacks(found: Rule, what: str) -> InputError:
    return InputError(f"{found.id} is judged by `{found.rule}`, which asks for {what}: none came")


# --------------------------------------------------------------------------------------------------- reading the log
def read(row: Mapping[str, str]) -> Rule:
    """A row of the log, checked.

    Raises UnknownNameError for an unknown rule or thing it needs, DataError for what its rule lacks or a value
    that cannot be read.
    """
    name, kind = row["id"], row["rule"]
    if kind not in RULES:
        raise unknown(f"rule (of {name})", kind, RULES)
    found = Rule(
        id=name,
        rule=kind,
        k=_k(name, row["k"]),
        threshold=_number(name, "threshold", row["threshold"]) or 0.0,
        margin=_number(name, "margin", row["margin"]),
        needs=tuple(part for part in row["needs"].split(";") if part),
        same_as=row["same_as"],
        headline=_flag(name, "headline", row["headline"]),
        unreported=tuple(part for part in row["unreported"].split(";") if part),
        dated=_date(name, row["dated"]),
        post_hoc=_flag(name, "post_hoc", row["post_hoc"]),
        why=row["why"],
    )
    _check(found)
    return found


def _check(found: Rule) -> None:
    """That a row has what its rule needs."""
    for one in found.needs:
        if one not in (known := (*DATA_SETS, *MODELS, *LANGUAGES)):
            raise unknown(f"thing that {found.id} needs", one, known)
    if found.rule == "k_of" and found.k is None:
        raise DataError(f"the rule of {found.id} is k_of without a k: give a number, all, most or each")
    if found.unreported and not (found.headline or found.same_as):
        raise DataError(
            f"the rule of {found.id} names unreported choices: give it a curve (headline) to see what they do"
        )
    if found.rule in ("at_least", "equal") and not (found.margin and found.margin > 0):
        raise DataError(f"the rule of {found.id} is {found.rule} without a margin: give a number above 0")
    beginnings = {"fixed": FIXED, "order": tuple(REPEATS)}.get(found.rule)
    if beginnings and found.why.partition(":")[0] not in beginnings:
        told = ", ".join(f"{one}:" for one in beginnings)
        raise DataError(f"the why of {found.id} begins {found.why[:30]!r}: expected one of {told}")
    if not found.why:
        raise DataError(f"the rule of {found.id} has no why")


def _k(name: str, text: str) -> int | str | None:
    if text in ("", "all", "most", "each"):
        return text or None
    if text.isdigit() and int(text) > 0:
        return int(text)
    raise DataError(f"the rule of {name} has k {text!r}: expected a number, all, most, each or nothing")


def _number(name: str, column: str, text: str) -> float | None:
    value = pd.to_numeric(text, errors="coerce") if text else None
    if value is not None and not math.isfinite(value):
        raise DataError(f"the rule of {name} has {column} {text!r}: expected a number or nothing")
    return None if value is None else float(value)


def _flag(name: str, column: str, text: str) -> bool:
    if text not in ("", "yes"):
        raise DataError(f"the rule of {name} has {column} {text!r}: expected yes or nothing")
    return text == "yes"


def _date(name: str, text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise DataError(f"the rule of {name} is dated {text!r}: expected a date like 2026-11-22") from None
