"""The scoreboard for people: decisions, counts of distinct findings by evidence, the table of all verdicts."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from store import Store

from faithbook.judge import analysis_plan, published, scoreboard, summary
from faithbook.judge.reference import committed_board
from faithbook.stats import evidence_levels
from faithbook.stats.verdict import Verdict

REPEATS = {name: rule.same_as for name, rule in analysis_plan.plan().items() if "/" not in name}


def told(name: str, decision: str, evidence: str = evidence_levels.SUBSTITUTE, **more: object) -> dict[str, object]:
    return {"id": name, "decision": decision, "n": 30, "evidence": evidence, **more}


TOLD = [
    told("saco_c03", "not reproduced", depends_on="normaliser: rank", passed=1, parts=4),
    told("saco_table1", "not reproduced"),  # repeats c03
    told("saco_c05", "reproduced"),
    told("saco_c08", "reproduced", passed=8, parts=10),
    told("saco_c11", "not tested", passed=0, parts=1),
    told("saco_text", "nothing to test"),
    told("saco_table2", "nothing to test", reason="the paper's own repeats disagree on the ranking"),
    told("naopc_c01", "reproduced", evidence_levels.AUTHORS),
    told("naopc_c05", "not reproduced", evidence_levels.AUTHORS),
    told("together_q2", "reproduced", evidence_levels.OUR_QUESTION),
]
UNTOLD = [
    {"id": name, "decision": evidence_levels.NOT_TESTED, "page": "executed/page", "same_as": same}
    for name, same in REPEATS.items()
]
"""Everything that is judged, not run but for what is told."""
ROWS = {row["id"]: row for row in UNTOLD}
BOARD = scoreboard.board(pd.DataFrame((ROWS | {row["id"]: ROWS[row["id"]] | row for row in TOLD}).values()))


def test_a_fact_counts_once_and_what_cannot_be_found_not_at_all() -> None:
    found = summary.facts(BOARD).set_index("id")
    assert "saco_table1" not in found.index and "saco_text" not in found.index
    assert found.loc["saco_c11", ["decision", "level"]].tolist() == [summary.NOT_TESTED, summary.NOT_TESTED]
    counts = summary.decision_counts(BOARD)
    assert counts.loc[(evidence_levels.SUBSTITUTE, "wu_2024")].tolist() == [2, 0, 1, 0, 0]
    assert counts.loc[(evidence_levels.AUTHORS, "edin_2025")].tolist() == [1, 0, 0, 0, 0]
    assert counts.loc[(evidence_levels.AUTHORS, published.REVIEW)].tolist() == [0, 0, 1, 0, 0]
    of_each = list(dict.fromkeys(counts.index.get_level_values("level")))
    assert of_each == [
        evidence_levels.AUTHORS,
        evidence_levels.SUBSTITUTE,
        evidence_levels.OUR_QUESTION,
        summary.NOT_TESTED,
    ]
    assert counts.to_numpy().sum() == len(found)
    told = summary.in_numbers(BOARD)
    assert told["all"] == len(found) and told["own"] == 1 == told["own reproduced"]
    assert sum(told[f"own {side}"] for side in summary.DECIDED) == told["own"]


def test_counts_of_the_committed_board_are_in_sentences_and_in_a_table() -> None:
    board = committed_board()
    counts = summary.decision_counts(board)
    decided = summary.facts(board)["decision"].value_counts()
    said = summary.by_decision(counts)
    assert all(f"{decided[name]} are *{name}*" in said for name in (summary.REPRODUCED, summary.UNDECIDED))
    reproduced = summary.facts(board).query("decision == @summary.REPRODUCED")["level"].value_counts()
    rest = summary.by_evidence(counts)
    assert f"{reproduced[evidence_levels.DATA]} on a paper's own data with our models" in rest
    assert sum(int(number) for number in re.findall(r"\d+", rest)) == decided[summary.REPRODUCED]
    table = summary.by_source(counts)
    assert table["total"].sum() == len(summary.facts(board)) and set(table["evidence"]) <= set(summary.LEVELS)
    assert "Our own questions" in set(table["source"])


@pytest.mark.parametrize(
    ("verdict", "level", "word"),
    [
        (Verdict.YES, evidence_levels.AUTHORS, "reproduced"),
        (Verdict.YES, evidence_levels.DATA, "replicates on our models"),
        (Verdict.NO, evidence_levels.SUBSTITUTE, "does not replicate on our models"),
        (Verdict.EQUIVALENT, evidence_levels.DATA, "does not replicate on our models"),
        (Verdict.MIXED, evidence_levels.OUR_QUESTION, "mixed"),
        (Verdict.NO, evidence_levels.OUR_QUESTION, "does not hold"),
        (Verdict.UNDECIDED, evidence_levels.DATA, "undecided"),
        (Verdict.NOT_TESTED, evidence_levels.DATA, "not tested"),
        (Verdict.NOTHING, evidence_levels.DATA, "nothing to test"),
    ],
)
def test_a_verdict_is_counted_under_one_of_six_words_and_names_our_models(
    verdict: Verdict, level: str, word: str
) -> None:
    assert verdict.decision in evidence_levels.DECISIONS
    assert evidence_levels.display_label(verdict.decision, level) == word


def test_holms_correction_gives_stars_to_what_survives_it() -> None:
    rows = [told(name, "reproduced", p=p) for name, p in (("saco_c05", 0.001), ("saco_c08", 0.02), ("xl_c02", 0.02))]
    rows += [told("saco_c01", "reproduced"), told("saco_figure2", "reproduced", p=1e-9)]
    rows += [told("saco_c11", "not reproduced", p=1e-9)]
    board = scoreboard.board(pd.DataFrame((ROWS | {row["id"]: ROWS[row["id"]] | row for row in rows}).values()))
    stars = scoreboard.starred(board)
    # .02 is above .025 / 1 for none of one claim, and the second of two.
    assert set(board["id"][stars]) == {"saco_c05", "saco_c08", "xl_c02"}
    worse = board.assign(p=board["p"].mask(board["id"] == "saco_c05", 0.013))
    assert set(worse["id"][scoreboard.starred(worse)]) == {"xl_c02"}


def test_what_cannot_be_tested_has_no_count_of_comparisons() -> None:
    found = summary.all_verdicts(BOARD).assign(id=lambda rows: rows["claim"].str.extract("`(.*?)`")).set_index("id")
    counted = f"*{summary.HOLD}*: "
    assert f"{counted}8 of 10 (6 needed)" in found.loc["saco_c08", "more"]
    assert (
        not found.loc[["saco_c11", "saco_c03"], "more"].str.contains(counted, regex=False).any()
    )  # untested; statements
    assert found.loc["saco_c11", ["evidence", "n"]].tolist() == ["–", "–"]
    assert found.loc["saco_table2", ["evidence", "n"]].tolist() == ["–", "–"]
    assert "*printed numbers*: fails" in found.loc["naopc_c05", "more"]
    assert "printed numbers" not in found.loc["soft_c09", "more"]


def test_undecided_findings_are_named_in_words() -> None:
    board = committed_board()
    table = summary.undecided_table(board)
    assert len(table) == len(scoreboard.undecided_findings(board)) > 5
    named = table["finding"].str.extract(r"\(`(\w+)`\)$")[0]
    assert named.tolist() == scoreboard.undecided_findings(board)["finding"].tolist()
    said = table[named == "lm_q4"]
    assert said["finding"].item().startswith("On a small language model with sentences as features, attributions")
    assert "The 25 prompts on news that the data have were not run" in said["why not"].item()


# --------------------------------------------------------------------------------------------------------------- pages
def test_the_scoreboard_begins_with_its_table(store: Store) -> None:
    verdicts = BOARD.drop(columns=["paper", "kind"])
    store.add("soft_tables", tables={"verdicts": verdicts, "quotable": summary.NOTHING_QUOTED})
    found = store.report("scoreboard")
    assert found.shown[0].startswith("**In short.**")
    assert ":class: findable" in found.shown[1] and found.text.count("{doc}`see <page>`") == len(BOARD)
    assert found.table("scoreboard", "id").depends_on["saco_c03"] == "normaliser: rank"


def test_what_was_not_judged_has_no_evidence_and_no_n() -> None:
    shown = summary.all_verdicts(BOARD)
    names = shown["claim"].str.extract(r"`(\w+)`")[0]
    open_ones = names.isin(BOARD["id"][BOARD["decision"].isin([evidence_levels.NOT_TESTED, evidence_levels.NOTHING])])
    assert (shown.loc[open_ones, ["evidence", "n"]] == "–").all(axis=None) and open_ones.any()
    assert shown.loc[names == "saco_c05", ["evidence", "n"]].to_numpy().tolist() == [[evidence_levels.SUBSTITUTE, "30"]]


def test_a_number_worked_out_again_has_no_border_in_the_figure() -> None:
    borders = {finding.id: finding.borders for finding in summary.findings(BOARD)}
    assert borders["soft_c01"] == (0.0,)
    for name, drawn in borders.items():
        assert (drawn == ()) == (analysis_plan.rule(name).rule == "same"), name
