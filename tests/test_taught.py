"""What the book taught: every sentence follows from a verdict, says no more than its rule, and changes with it."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from store import Store

from faithbook.results import evidence, findings, rulebook, scoreboard, taught
from faithbook.results.scoreboard import Entry
from faithlib.errors import DataError

LESSONS = taught.lessons()
RESTS_ON = [one for lesson in LESSONS for one in lesson.rests_on]


def board(**told: Entry) -> pd.DataFrame:
    """Everything that is judged, not run but for what is told (by id)."""
    known = scoreboard.to_judge()["id"]
    untold = {name: Entry(name, evidence.NOT_RUN, "executed/page") for name in known}
    return scoreboard.board(scoreboard.entries({**untold, **told}.values()))


UNTOLD = board()


def soft(verdict: str, note: str = "", **more: object) -> str:
    """The first paragraph where the first verdict is this one."""
    told = {"evidence": evidence.STAND_INS, "hangs": "", "here": "", **more, "verdict": verdict, "note": note, "n": 32}
    made = UNTOLD.copy()
    made.loc[made["id"] == "soft_c01", ["page", *told]] = ["executed/soft_tables", *told.values()]
    return taught.paragraph(LESSONS[0], made)


NOTE = "0 of 2 parts; Soft-NC less NC -0.282 [-0.317, -0.246] (published 0.135); of strongly skewed values"


def test_there_are_ten_questions_and_every_headline_is_among_what_answers_them() -> None:
    assert [lesson.number for lesson in LESSONS] == list(range(1, 11))
    assert all(lesson.asks.endswith("?") for lesson in LESSONS)
    names = [one.id for one in RESTS_ON]
    assert len(names) == len(set(names))
    headlines = {name for name, rule in rulebook.log().items() if rule.headline}
    assert headlines <= set(names) <= set(scoreboard.to_judge()["id"])


@pytest.mark.parametrize("support", RESTS_ON, ids=lambda one: one.id)
def test_no_number_is_typed_and_a_no_says_no_more_than_its_rule(support: taught.Support) -> None:
    told = f"{support.so} {support.otherwise}"
    assert not re.search(r"\d", told.replace("L2", "")), told
    assert not told.endswith(".") and support.so != support.otherwise
    rule = rulebook.rule(support.id)
    if rule.k == "all" and rule.rule != "same":  # it has shown that one part is otherwise, and not which
        assert re.search(
            r"at least one|on at least|\bor\b|\bsome\b|\ba soft metric\b|a hard score", support.otherwise
        ), told
    if rule.k == "most":
        assert "half" in support.otherwise or "more" in support.otherwise, told


def test_a_paragraph_changes_with_its_verdict() -> None:
    support = LESSONS[0].rests_on[0]
    yes, no = soft("carries over", NOTE), soft("does not carry over", NOTE)
    assert yes.startswith(f"On stand-ins, {support.so}. ") and support.otherwise not in yes
    assert no.startswith(f"On stand-ins, {support.otherwise}. ") and support.so not in no
    firm = soft("holds", NOTE, evidence=evidence.AUTHORS)
    assert firm.startswith(f"In what the authors released, {support.so}. ")
    told = {word: soft(word) for word in evidence.DECISIONS}
    assert {word for word, text in told.items() if support.otherwise in text} == set(taught.NO)
    flat = {word for word, text in told.items() if re.search(rf"(?<!whether )(?<!that ){support.so}\.", text)}
    assert flat == set(taught.YES)


@pytest.mark.parametrize("word", evidence.DECISIONS)
def test_what_is_open_is_left_open(word: str) -> None:
    told = soft(word, NOTE)
    assert f"verdict-{word.replace(' ', '-')}" in told
    if word in taught.YES or word in taught.NO:
        return
    assert re.search(r"[Ww]hether soft metrics|that soft metrics", told)
    # Numbers of what decided nothing would read as findings.
    assert ("-0.282" in told) == (word in ("level", "partly", "inconclusive"))


def test_numbers_are_those_of_the_verdict() -> None:
    told = soft("does not carry over", NOTE, hangs="so under 0 of 18 specifications", here="carries over")
    assert "0 of 2 parts; Soft-NC less NC -0.282 [-0.317, -0.246] (published 0.135); n = 32" in told
    assert "so under 0 of 18 specifications; your run: carries over" in told
    assert "`soft_c01`; {doc}`soft_tables`; stand-ins" in told
    assert "-0.4 [-0.5, -0.3]" in soft("fails", NOTE.replace("-0.282 [-0.317, -0.246]", "-0.4 [-0.5, -0.3]"))


def test_where_it_is_so_is_said_once_and_again_where_it_changes() -> None:
    entries = {
        "soft_c01": Entry("soft_c01", "fails", "executed/p", evidence=evidence.DATA),
        "soft_c02": Entry("soft_c02", "fails", "executed/p", evidence=evidence.DATA),
        "together_q4": Entry("together_q4", "holds", "executed/p", evidence=evidence.OUR_QUESTION),
    }
    told = taught.paragraph(LESSONS[0], board(**entries))
    assert told.count("On the paper's data, with our models, ") == 1
    assert "On our models, soft metrics" in told


def test_a_silent_id_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.DataFrame({"lesson": ["1"], "asks": ["Is it?"], "id": ["soft_c04"], "so": [""], "not": ["no"]})
    monkeypatch.setattr(taught.published, "beside", lambda name: rows if name == "lessons" else plain)
    plain = pd.DataFrame({"id": ["soft_c01"], "words": ["x"]})
    monkeypatch.setattr(findings, "plain_words", dict)
    with pytest.raises(DataError, match="soft_c04"):
        taught.lessons()
    with pytest.raises(DataError, match="no verdict on soft_c01"):
        taught.paragraph(LESSONS[0], board().query("id != 'soft_c01'"))


def test_the_page_and_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    made = board(soft_c01=Entry("soft_c01", "does not carry over", "executed/soft_tables", n=32, note=NOTE))
    store.add("soft_tables", tables={"verdicts": made.drop(columns=["paper", "kind"])})
    found = store.report("taught")
    assert len(re.findall(r"^## \d+\. ", found.text, flags=re.MULTILINE)) == 10
    assert (
        f"{len(RESTS_ON)} verdicts are behind these paragraphs. 1 of them say yes or no (1 on stand-ins)" in found.text
    )
    data = pd.read_csv(found.folder / "taught.csv").set_index("id")
    assert data.loc["soft_c01", "verdict"] == "does not carry over" and len(data) == len(RESTS_ON)
