"""The analysis plan: by which rule each table, figure, claim and question is judged.

One row per id in `data/analysis_plan.csv`; a claim of several statements has a row of its own for each of them
("saco_c03/direction"). Every decision is read from a column of its own; the column `notes` is prose, and no code reads
it. What changed, when and why is in `data/rule_history.csv`. `faithbook.judge.decide` applies the rules.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from faithbook.access import remembered
from faithbook.judge.published import our_table
from faithbook.stats.inference import TESTS
from faithbook.stats.verdict import Verdict, parts_needed
from faithlib.errors import DataError, unknown

RULES = ("direction", "each", "within", "whole", "order", "trend", "same", "fixed")
OF_PARTS = ("direction", "each", "within")
"""Rules about parts, each of which is tested."""


@dataclass(frozen=True)
class Rule:
    """One row of the plan.

    - `rule`: its name, as `faithbook.stats.verdict` has it; `whole`: a sentence of several statements, each with a row
      of its own; `fixed`: not judged, for the reason in `fixed_verdict`.
    - `k`: how many parts are needed (a number, "all", "most"); `threshold`, `margin`: of `direction` and `each`;
      `low`, `high`: of `within`; of `same` the margin is the tolerance (none: half of the last printed digit).
    - `test`: the named test of its parts, one of `inference.TESTS`.
    - `needs`: what has to be there (data sets, models, languages, as the studies name them).
    - `unreported`: choices that the paper does not report: where one of them alone turns yes into no, the answer is
      mixed.
    - `same_as`: the id whose finding this one repeats, and whose rule it has.
    - `date`: since when the rule stands.
    """

    id: str
    rule: str
    k: int | str
    threshold: float
    margin: float | None
    low: float | None
    high: float | None
    test: str
    needs: tuple[str, ...]
    fixed_verdict: Verdict | None
    unreported: tuple[str, ...]
    same_as: str
    date: datetime.date

    def needed(self, m: int) -> int:
        """How many of m parts have to be so."""
        return min(self.k, m) if isinstance(self.k, int) else parts_needed(self.k, m)

    @property
    def lines(self) -> tuple[float, ...]:
        """Where a part has to lie right of, or between which two values, to say yes."""
        if self.rule == "within":
            return (float(self.low or 0.0), float(self.high or 0.0))
        return (self.threshold,)


@remembered
def plan() -> dict[str, Rule]:
    """The rule of every id and statement, in the order of the file; what `read` raises."""
    # A row that repeats another has that one's rule, whatever stands in its own columns.
    rows = {row["id"]: row for row in our_table("analysis_plan").to_dict("records")}
    return {name: read(row if not row["same_as"] else _repeating(row, rows)) for name, row in rows.items()}


def _repeating(row: Mapping[Any, str], rows: Mapping[str, Mapping[Any, str]]) -> Mapping[Any, str]:
    """A row that repeats another's finding, with that one's rule."""
    if row["same_as"] not in rows:
        raise unknown(f"id that {row['id']} repeats", row["same_as"], rows)
    return {**rows[row["same_as"]], "id": row["id"], "same_as": row["same_as"], "date": row["date"]}


def rule(name: str) -> Rule:
    """The rule by which an id is judged; UnknownNameError for an id without one."""
    known = plan()
    if name not in known:
        raise unknown("id with a rule", name, known)
    return known[name]


def statement(name: str, of: str) -> Rule:
    """The rule of one statement of a claim of several; of a claim that repeats another, the other's."""
    return rule(f"{rule(name).same_as or name}/{of}")


def read(row: Mapping[Any, str]) -> Rule:
    """A row of the plan as a rule.

    Raises UnknownNameError for an unknown rule, test or verdict, DataError for a value that cannot be read. That the
    committed rows have what their rules need, and name what there is, is a test (`tests/test_rulebook.py`).
    """
    if row["rule"] not in RULES:
        raise unknown(f"rule (of {row['id']})", row["rule"], RULES)
    if row["rule"] in OF_PARTS and row["test"] not in TESTS:
        raise unknown(f"test (of {row['id']})", row["test"], TESTS)
    verdicts = {verdict.value: verdict for verdict in Verdict}
    if row["fixed_verdict"] and row["fixed_verdict"] not in verdicts:
        raise unknown(f"verdict (of {row['id']})", row["fixed_verdict"], verdicts)
    try:
        numbers = {name: float(row[name]) if row[name] else None for name in ("threshold", "margin", "low", "high")}
        return Rule(
            id=row["id"],
            rule=row["rule"],
            k=int(row["k"]) if row["k"].isdigit() else row["k"] or "all",
            threshold=numbers["threshold"] or 0.0,
            margin=numbers["margin"],
            low=numbers["low"],
            high=numbers["high"],
            test=row["test"],
            needs=tuple(filter(None, row["needs"].split(";"))),
            fixed_verdict=verdicts[row["fixed_verdict"]] if row["fixed_verdict"] else None,
            unreported=tuple(filter(None, row["unreported"].split(";"))),
            same_as=row["same_as"],
            date=datetime.date.fromisoformat(row["date"]),
        )
    except ValueError as error:
        raise DataError(f"the rule of {row['id']} in data/analysis_plan.csv cannot be read: {error}") from error
