"""The rule log: by which rule each table, figure, claim and question is judged, since when, and why.

Rules stand in `data/claims.csv`, one row per id, fixed and dated before the results that they judge; what was fixed
after a first run was seen says so (`post_hoc`). `faithbook.judge.decide` applies them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from faithbook.access import remembered
from faithbook.judge.published import claims
from faithbook.stats import rules
from faithlib.errors import DataError, unknown

REPEATS = {"repeats agree": True, rules.NO_ORDER: False, "ceiling unknown": None}
"""What the `why` of a rule `order` begins with: whether the paper's own repeats of the order agree with one another."""

RULES = ("above", "k_of", "at_least", "equal", "leader", "order", "trend", "same", "fixed")


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
    def begins(self) -> str:
        """With what its `why` begins: of a rule `fixed` the decision, of `same` whether it is about the set-up, which
        agrees without being a result, of `order` whether the paper's own repeats agree."""
        return self.why.partition(":")[0]

    @property
    def repeats_agree(self) -> bool | None:
        """Of a rule `order`: whether the paper's own repeats agree; None where it does not repeat the order."""
        return REPEATS[self.begins] if self.rule == "order" else None


@remembered
def log() -> dict[str, Rule]:
    """The rule of every id, in the order of the file; what `read` raises."""
    return {row["id"]: read(row) for row in claims().to_dict("records")}


def rule(name: str) -> Rule:
    """The rule by which an id is judged; UnknownNameError for an id without one."""
    known = log()
    if name not in known:
        raise unknown("id with a rule", name, known)
    return known[name]


def read(row: Mapping[Any, str]) -> Rule:
    """A row of `data/claims.csv` as a rule.

    Raises UnknownNameError for an unknown rule, DataError for a value that cannot be read. That the committed rows have
    what their rules need, and name what there is, is a test (`tests/test_rulebook.py`).
    """
    if row["rule"] not in RULES:
        raise unknown(f"rule (of {row['id']})", row["rule"], RULES)
    values: dict[str, Any] = {name: row[name] for name in ("id", "rule", "same_as", "why")}
    values |= {name: row[name] == "yes" for name in ("headline", "post_hoc")}
    values |= {name: tuple(filter(None, row[name].split(";"))) for name in ("needs", "unreported")}
    values["k"] = int(row["k"]) if row["k"].isdigit() else row["k"] or None
    try:
        values |= {"threshold": float(row["threshold"] or 0), "margin": float(row["margin"]) if row["margin"] else None}
        return Rule(dated=datetime.date.fromisoformat(row["dated"]), **values)
    except ValueError as error:
        raise DataError(f"the rule of {row['id']} in data/claims.csv cannot be read: {error}") from error
