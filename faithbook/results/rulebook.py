"""The rule log: by which rule each table, figure, claim and question is judged, since when, and why.

Rules stand in `data/claims.csv`, one row per id, fixed and dated before the results that they judge; what was fixed
after a first run was seen says so (`post_hoc`). `faithbook.results.judged` applies them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from faithbook.declared import remembered
from faithbook.results import rules
from faithbook.results.published import claims
from faithlib.errors import DataError, InputError, unknown

FIXED = (rules.SET_UP, rules.NOT_RECOMPUTABLE, rules.NOT_RUN, rules.NO_ORDER)
"""The decisions that a rule `fixed` may have; its `why` begins with one of them and a colon."""

REPEATS = {"repeats agree": True, rules.NO_ORDER: False, "ceiling unknown": None}
"""What the `why` of a rule `order` begins with: whether the paper's own repeats of the order agree with one another."""

RULES = ("above", "k_of", "at_least", "equal", "leader", "order", "trend", "same", "fixed")
DATA_SETS = (
    "sst", "ag", "evinf", "multirc", "cifar10", "cifar100", "imagenet", "xnli", "esnli", "exnli", "prompted-reviews",
)  # fmt: skip
MODELS = ("mbert", "xlmr", "robust", "smollm2")
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

    def needed(self, m: int) -> int:
        """How many of m parts have to be so; all of them where each has an answer of its own."""
        k: int | str = self.k if self.k and self.k != "each" else "all"
        return min(k, m) if isinstance(k, int) else rules.parts_needed(k, m)

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
    by_id = {row["id"]: read(row) for row in rows}
    for one in by_id.values():
        if one.same_as and (one.same_as not in by_id or by_id[one.same_as].same_as or one.same_as == one.id):
            raise DataError(f"the rule of {one.id} says same_as {one.same_as!r}: expected an id that repeats no other")
    return by_id


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
    setting = f", {where}" if where else ""
    return {f"{leads} minus {name}{setting}": items[leads] - other for name, other in items.items() if name != leads}


def not_worse(name: str, quantity: _Value) -> _Value:
    """A part of a claim that has to be above the threshold, for a quantity that need only be not worse than zero by
    more than the margin: the exceptions that a claim names ("except for saliency").

    Raises DataError where the rule of the id has no margin.
    """
    of_id = rule(name)
    if of_id.margin is None:
        raise DataError(f"the rule of {name} has no margin: nothing says how much worse is not worse")
    worse: _Value = quantity + (of_id.threshold + of_id.margin)
    return worse


# --------------------------------------------------------------------------------------------------- reading the log
_NUMBER = (r"|-?\d*\.?\d+", "a number or nothing")
_FLAG = ("|yes", "yes or nothing")
_COLUMNS = {
    "k": (r"|all|most|each|[1-9]\d*", "a number, all, most, each or nothing"),
    "threshold": _NUMBER,
    "margin": _NUMBER,
    "headline": _FLAG,
    "post_hoc": _FLAG,
    "dated": (r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "a date like 2026-11-22"),
}
"""What columns of the log may hold: as a pattern, and in words."""


def read(row: Mapping[str, str]) -> Rule:
    """A row of the log, checked.

    Raises UnknownNameError for an unknown rule or thing it needs, DataError for what its rule lacks or a value
    that cannot be read.
    """
    name, kind = row["id"], row["rule"]
    if kind not in RULES:
        raise unknown(f"rule (of {name})", kind, RULES)
    for column, (pattern, expected) in _COLUMNS.items():
        if not re.fullmatch(pattern, row[column]):
            raise DataError(f"the rule of {name} has {column} {row[column]!r}: expected {expected}")
    made = Rule(
        id=name,
        rule=kind,
        k=int(row["k"]) if row["k"].isdigit() else row["k"] or None,
        threshold=float(row["threshold"] or 0),
        margin=float(row["margin"]) if row["margin"] else None,
        needs=tuple(part for part in row["needs"].split(";") if part),
        same_as=row["same_as"],
        headline=row["headline"] == "yes",
        unreported=tuple(part for part in row["unreported"].split(";") if part),
        dated=datetime.date.fromisoformat(row["dated"]),
        post_hoc=row["post_hoc"] == "yes",
        why=row["why"],
    )
    _check(made)
    return made


def _check(made: Rule) -> None:
    """That a row has what its rule needs."""
    for one in made.needs:
        if one not in (known := (*DATA_SETS, *MODELS, *LANGUAGES)):
            raise unknown(f"thing that {made.id} needs", one, known)
    if made.rule == "k_of" and made.k is None:
        raise DataError(f"the rule of {made.id} is k_of without a k: give a number, all, most or each")
    if made.unreported and not (made.headline or made.same_as):
        raise DataError(
            f"the rule of {made.id} names unreported choices: give it a curve (headline) to see what they do"
        )
    if made.rule in ("at_least", "equal") and not (made.margin and made.margin > 0):
        raise DataError(f"the rule of {made.id} is {made.rule} without a margin: give a number above 0")
    beginnings = {"fixed": FIXED, "order": tuple(REPEATS)}.get(made.rule)
    if beginnings and made.why.partition(":")[0] not in beginnings:
        expected = ", ".join(f"{one}:" for one in beginnings)
        raise DataError(f"the why of {made.id} begins {made.why[:30]!r}: expected one of {expected}")
    if not made.why:
        raise DataError(f"the rule of {made.id} has no why")
