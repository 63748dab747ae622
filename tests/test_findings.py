"""The scoreboard for people: decisions, counts of distinct findings by evidence, the table of all verdicts."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from store import Store

from faithbook.judge import analysis_plan, published, scoreboard, summary
from faithbook.judge.scoreboard import Entry
from faithbook.stats import grounds, rules

REPEATS = {name: rule.same_as for name, rule in analysis_plan.log().items()}


def board(**told: Entry) -> pd.DataFrame:
    """Everything that is judged, not run but for what is told (by id)."""
    known = scoreboard.to_judge()["id"]
    untold = {name: Entry(name, rules.NOT_TESTED, "executed/page", same_as=REPEATS[name]) for name in known}
    return scoreboard.board(scoreboard.entries({**untold, **told}.values()))


def entry(name: str, decision: str, ground: str = grounds.STAND_INS, **more: object) -> Entry:
    return Entry(name, decision, "executed/page", n=30, evidence=ground, same_as=REPEATS[name], **more)  # type: ignore[arg-type]


BOARD = board(
    saco_c03=entry("saco_c03", "not reproduced", depends_on="normaliser: rank", passed=1, parts=4),
    saco_table1=entry("saco_table1", "not reproduced"),  # repeats c03
    saco_c05=entry("saco_c05", "reproduced"),
    saco_c08=entry("saco_c08", "reproduced"),
    saco_c11=entry("saco_c11", "not tested", passed=0, parts=1),
    saco_text=entry("saco_text", "nothing to test"),
    saco_table2=entry("saco_table2", "nothing to test", reason="the paper's own repeats disagree on the ranking"),
    naopc_c01=entry("naopc_c01", "reproduced", grounds.AUTHORS),
    naopc_c05=entry("naopc_c05", "not reproduced", grounds.AUTHORS),
    together_q2=entry("together_q2", "reproduced", grounds.OUR_QUESTION),
)


def test_every_headline_has_plain_words() -> None:
    headlines = {name for name, rule in analysis_plan.log().items() if rule.headline}
    plain = published.column("plain")
    assert headlines <= {name for name, words in plain.items() if words}
    assert not [words for words in plain.values() if words.endswith(".")]


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


def test_what_a_review_page_says_is_never_the_papers() -> None:
    """The landing page said "what the paper says" of claims that the paper does not make."""
    claims = published.claims("claim").set_index("id")
    assert set(claims.index[claims["source"] == "review"]) == {f"naopc_c0{k}" for k in (3, 4, 5, 6)}
    assert set(claims["source"]) == {"paper", "review"}
    for name in ("naopc_c01", "naopc_c02"):  # summarised from the paper's abstract, which prints no number
        assert "abstract (arXiv 2408.08137v2)" in claims["note"][name] and not claims["published_value"][name]
    every = summary.every(BOARD)
    assert every["source"][every["claim"].str.contains("`naopc_c05`")].item() == "a review page of Edin et al. 2025"
    assert every["source"][every["claim"].str.contains("`naopc_c01`")].item() == "Edin et al. 2025"


def test_counts_for_sentences_add_up() -> None:
    told = summary.in_numbers(BOARD)
    assert told["all"] == len(summary.facts(BOARD)) and told["own"] == 1 == told["own reproduced"]
    assert sum(told[f"own {side}"] for side in summary.DECIDED) == told["own"]
    turned = summary.in_numbers(BOARD.assign(decision=BOARD.decision.replace({"reproduced": "not reproduced"})))
    assert (turned["own reproduced"], turned["own not reproduced"]) == (0, 1)


def test_what_cannot_be_tested_has_no_count_of_comparisons() -> None:
    found = summary.every(BOARD).assign(id=lambda rows: rows["claim"].str.extract("`(.*?)`")).set_index("id")
    assert (found.loc["saco_c03", "comparisons"], found.loc["saco_c11", "comparisons"]) == ("1 of 4", "")
    assert found.loc["saco_c11", "evidence"] == summary.NOT_TESTED
    assert found.loc["saco_table2", "evidence"] == summary.NOTHING
    # Two standards side by side: the printed numbers as they are, and our rule.
    assert found.loc["naopc_c05", "printed numbers"] == "fails" and found.loc["soft_c09", "printed numbers"] == ""
    assert found.loc["saco_table1", "why"] == "same finding as `saco_c03`"
    assert found.loc["saco_table2", "why"].startswith("the paper's own repeats disagree")


def test_a_claim_comes_first_in_plain_words_and_its_id_after_it_as_a_place_of_its_own() -> None:
    found = summary.every(BOARD)
    assert found.columns[0] == "claim"
    places = found["claim"].str.extract(r"^\S.* `(?P<id>\w+)`\{#(?P<place>[a-z0-9-]+)\}$")
    assert not places.isna().any(axis=None) and places["place"].is_unique
    assert set(places["id"]) == set(BOARD["id"])
    assert places.set_index("id")["place"]["saco_c03"] == "verdict-saco-c03"
    assert found["claim"].str.startswith("Gradients about double SaCo `saco_c03`").sum() == 1
    assert found["evidence"].iloc[0] == grounds.AUTHORS


# --------------------------------------------------------------------------------------------------------------- pages
def test_the_scoreboard_begins_with_its_table(store: Store) -> None:
    store.add("soft_tables", tables={"verdicts": BOARD.drop(columns=["paper", "kind"])})
    found = store.report("scoreboard")
    assert ":class: findable" in found.shown[0] and found.text.count("{doc}`see <page>`") == len(BOARD)
    assert found.table("scoreboard", "id").depends_on["saco_c03"] == "normaliser: rank"


def test_the_status_page_names_models(store: Store) -> None:
    frame = pd.DataFrame({"id": ["a"], "cluster": ["a"], "seed": 0, "method": "m", "metric": "k", "value": 1.0})
    store.add(
        "naopc_models",
        {"": frame},
        declared=("local:text/bbc-lstm-seed0", "bbc", "/a/b-model"),
        dataset="bbc",
        classifier="lstm",
    )
    for folder in store.upstream:  # what a build adds to a manifest
        facts = json.loads((folder / "manifest.json").read_text())
        facts |= {"versions": {"faithlib": "1"}, "commit": "c", "processor": "p", "cores": 2, "threads": 1}
        (folder / "manifest.json").write_text(json.dumps(facts))
    found = store.report("status")
    shown = found.table("status_compute").iloc[0]
    assert (shown.models, shown.dataset) == ("text/bbc-lstm-seed0, b-model", "bbc")
    assert "1 runs (1 of them computations)" in found.text
