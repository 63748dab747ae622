"""The scoreboard for people: decisions, counts of distinct findings by evidence, the table of all verdicts."""

from __future__ import annotations

import pandas as pd
import pytest
from store import Store

from faithbook.judge import analysis_plan, published, scoreboard, summary
from faithbook.stats import grounds, rules

REPEATS = {name: rule.same_as for name, rule in analysis_plan.log().items()}


def told(name: str, decision: str, evidence: str = grounds.STAND_INS, **more: object) -> dict[str, object]:
    return {"id": name, "decision": decision, "n": 30, "evidence": evidence, **more}


TOLD = [
    told("saco_c03", "not reproduced", depends_on="normaliser: rank", passed=1, parts=4),
    told("saco_table1", "not reproduced"),  # repeats c03
    told("saco_c05", "reproduced"),
    told("saco_c08", "reproduced"),
    told("saco_c11", "not tested", passed=0, parts=1),
    told("saco_text", "nothing to test"),
    told("saco_table2", "nothing to test", reason="the paper's own repeats disagree on the ranking"),
    told("naopc_c01", "reproduced", grounds.AUTHORS),
    told("naopc_c05", "not reproduced", grounds.AUTHORS),
    told("together_q2", "reproduced", grounds.OUR_QUESTION),
]
UNTOLD = [
    {"id": name, "decision": rules.NOT_TESTED, "page": "executed/page", "same_as": same}
    for name, same in REPEATS.items()
]
"""Everything that is judged, not run but for what is told."""
ROWS = {row["id"]: row for row in UNTOLD}
BOARD = scoreboard.board(pd.DataFrame((ROWS | {row["id"]: ROWS[row["id"]] | row for row in TOLD}).values()))


def test_a_fact_counts_once_and_what_cannot_be_found_not_at_all() -> None:
    found = summary.facts(BOARD).set_index("id")
    assert "saco_table1" not in found.index and "saco_text" not in found.index
    assert found.loc["saco_c11", ["decision", "ground"]].tolist() == [summary.NOT_TESTED, summary.NOT_TESTED]
    counts = summary.counts(BOARD)
    assert counts.loc[(grounds.STAND_INS, "wu_2024")].tolist() == [2, 0, 1, 0, 0]
    assert counts.loc[(grounds.AUTHORS, "edin_2025")].tolist() == [1, 0, 0, 0, 0]
    assert counts.loc[(grounds.AUTHORS, published.REVIEW)].tolist() == [0, 0, 1, 0, 0]
    of_each = list(dict.fromkeys(counts.index.get_level_values("ground")))
    assert of_each == [grounds.AUTHORS, grounds.STAND_INS, grounds.OUR_QUESTION, summary.NOT_TESTED]
    assert counts.to_numpy().sum() == len(found)
    told = summary.in_numbers(BOARD)
    assert told["all"] == len(found) and told["own"] == 1 == told["own reproduced"]
    assert sum(told[f"own {side}"] for side in summary.DECIDED) == told["own"]


@pytest.mark.parametrize(
    ("answer", "ground", "decision"),
    [
        (rules.YES, grounds.AUTHORS, "reproduced"),
        (rules.EXPLAINED, grounds.AUTHORS, "reproduced"),
        (rules.YES, grounds.DATA, "replicates on our models"),
        (rules.NO, grounds.STAND_INS, "does not replicate on our models"),
        (rules.LEVEL, grounds.DATA, "does not replicate on our models"),
        (rules.PARTLY, grounds.OUR_QUESTION, "mixed"),
        (rules.DEPENDS, grounds.DATA, "mixed"),
        (rules.NO, grounds.OUR_QUESTION, "does not hold"),
        (rules.INCONCLUSIVE, grounds.DATA, "undecided"),
        (rules.UNTESTABLE, grounds.DATA, "not tested"),
        (rules.NOT_RUN, "", "not tested"),
        (rules.NO_ORDER, grounds.DATA, "nothing to test"),
        (rules.SET_UP, grounds.DATA, "nothing to test"),
        (rules.NOT_RECOMPUTABLE, grounds.DATA, "nothing to test"),
    ],
)
def test_a_decision_is_one_of_six_and_names_our_models(answer: str, ground: str, decision: str) -> None:
    found = rules.Decision(answer, 0, 1)
    assert found.decision in rules.DECISIONS
    assert grounds.worded(found.decision, ground) == decision
    assert bool(found.reason) == (answer not in (rules.YES, rules.NO, rules.INCONCLUSIVE))


def test_what_cannot_be_tested_has_no_count_of_comparisons() -> None:
    found = summary.every(BOARD).assign(id=lambda rows: rows["claim"].str.extract("`(.*?)`")).set_index("id")
    assert (found.loc["saco_c03", "comparisons"], found.loc["saco_c11", "comparisons"]) == ("1 of 4", "")
    assert found.loc["saco_c11", "evidence"] == summary.NOT_TESTED
    assert found.loc["saco_table2", "evidence"] == summary.NOTHING
    assert found.loc["naopc_c05", "printed numbers"] == "fails" and found.loc["soft_c09", "printed numbers"] == ""


# --------------------------------------------------------------------------------------------------------------- pages
def test_the_scoreboard_begins_with_its_table(store: Store) -> None:
    store.add("soft_tables", tables={"verdicts": BOARD.drop(columns=["paper", "kind"])})
    found = store.report("scoreboard")
    assert ":class: findable" in found.shown[0] and found.text.count("{doc}`see <page>`") == len(BOARD)
    assert found.table("scoreboard", "id").depends_on["saco_c03"] == "normaliser: rank"
