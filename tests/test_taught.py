"""What the book taught: sentences of what was measured, filled by code; verdicts after the claims that they judge."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from store import Store

from faithbook.results import evidence, findings, published, rulebook, scoreboard, taught
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
VALUES = pd.DataFrame(
    [
        ("soft_c01", "Soft-NC less NC", 0.128, -0.214),
        ("soft_c01", "Soft-NS less NS", -0.004, -0.273),
        ("together_mirrored", "middle", float("nan"), 1.0),
    ],
    columns=["claim", "part", "published", "ours"],
)


def soft(verdict: str, **more: object) -> str:
    """The first paragraph where the first verdict is this one."""
    told = {"evidence": evidence.DATA, "hangs": "", "here": "", "passed": 0, "parts": 2, **more, "verdict": verdict}
    made = UNTOLD.copy()
    columns = ["page", "n", *told]
    made.loc[made["id"] == "soft_c01", columns] = ["executed/soft_tables", 32, *told.values()]
    return taught.paragraph(LESSONS[0], made, VALUES)


def test_there_are_ten_questions_and_every_headline_is_among_what_answers_them() -> None:
    assert [lesson.number for lesson in LESSONS] == list(range(1, 11))
    assert all(lesson.asks.endswith("?") for lesson in LESSONS)
    names = [one.id for one in RESTS_ON]
    assert len(names) == len(set(names))
    headlines = {name for name, rule in rulebook.log().items() if rule.headline}
    assert headlines <= set(names) <= set(scoreboard.to_judge()["id"])


@pytest.mark.parametrize("support", RESTS_ON, ids=lambda one: one.id)
def test_a_sentence_says_estimates_and_not_that_one_exception_is_there(support: taught.Support) -> None:
    """It said "at least one metric prefers random scores" of 28 in 30 that do not."""
    bare = re.sub(r"\{[^}]*\}", "", support.found)
    assert "{" in support.found and not bare.endswith(".")
    assert not re.search(r"at least one|some|every|cannot be told", bare), bare
    # No measured number is typed: what remains are names, and the ends of a range.
    assert not re.search(r"\.\d", bare), bare
    for place in re.findall(r"\{([^}]*)\}", support.found):
        assert place.count("|") <= 2 and place.strip() == place


def test_the_verdict_stands_after_the_claim_that_it_judges() -> None:
    """A badge after a finding that contradicts the claim read as if the finding failed."""
    told = soft("does not carry over")
    claim = findings.in_words()["soft_c01"]
    first, note = told.split("\n\n")[0].split("\n")
    assert first == (
        "From NC to Soft-NC mean diagnosticity changes by −.21 (published for these data: .13), from NS to Soft-NS by "
        "−.27 (.00)."
    )
    badge = '<span class="verdict verdict-does-not-carry-over">does not carry over</span>'
    assert note.startswith(f'<span class="verdict-note">Claim of Zhao & Aletras 2023: *{claim}*. {badge} ')
    assert "paper's data, our models; n = 32 in the smallest cell; `soft_c01`; {doc}`soft_tables`" in note


@pytest.mark.parametrize("word", evidence.DECISIONS)
def test_a_sentence_is_the_same_under_every_verdict_that_measured_something(word: str) -> None:
    told = soft(word)
    assert f"{findings.in_words()['soft_c01']}*. {taught.badge(word)}" in told
    measured = findings.SIDES[word] in taught.MEASURED
    assert ("changes by −.21" in told) == measured
    first = told.split("\n\n")[0]
    assert first.startswith("From NC" if measured else "Not tested on the data of this copy.")
    assert ("n = 32" in first) == measured


def test_places_are_filled_or_a_dash() -> None:
    verdict = {"passed": 1, "parts": 1234}
    one = taught.Support("soft_c01", "{passed} of {parts}, {lowest} to {highest}, {together_mirrored|middle}")
    told = taught.filled(one, verdict, VALUES)
    assert told == "1 of 1,234, −.27 (Soft-NS less NS) to −.21 (Soft-NC less NC), 1.00"
    lacking = taught.Support("soft_c02", "{passed}: {part}, {lowest}, {published|soft_c01|Soft-NC less NC}")
    assert taught.filled(lacking, {"passed": pd.NA}, VALUES) == "–: –, –, .13"


def test_what_a_review_page_says_is_named_so() -> None:
    made = board(naopc_c05=Entry("naopc_c05", "fails", "executed/p", evidence=evidence.AUTHORS))
    told = taught.paragraph(LESSONS[7], made, VALUES)
    assert "Claim of a review page of Edin et al. 2025: *A value of 0 means as bad as a random order*." in told
    assert "Claim of Edin et al. 2025: *AOPC depends on the model" in taught.paragraph(LESSONS[6], made, VALUES)
    assert "Our question: *" in taught.paragraph(LESSONS[8], made, VALUES)
    assert set(taught.table(made, VALUES)["source"]) == {*published.PAPERS, published.REVIEW, published.OUR_OWN}


def test_agreement_across_languages_is_read_next_to_what_ignores_the_prediction() -> None:
    """The lesson suggested that a high rho means something."""
    (told,) = [one.found for one in RESTS_ON if one.id == "xl_c01"]
    assert "{crosslingual_floors|uniform}" in told and "{crosslingual_floors|norm of the embedding}" in told
    assert told.endswith("A level of agreement means nothing by itself")
    (told,) = [one.found for one in RESTS_ON if one.id == "together_q9"]
    assert "{together_mirrored|middle}" in told


def test_what_the_build_of_these_pages_says_is_named_where_it_tested_it() -> None:
    assert "this build: carries over" in soft("does not carry over", here="carries over")
    assert "this build" not in soft("does not carry over", here="not testable here")
    assert "so under 0 of 18" in soft("does not carry over", hangs="so under 0 of 18 specifications")


def test_a_silent_id_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.DataFrame({"lesson": ["1"], "asks": ["Is it?"], "id": ["soft_c04"], "found": [""]})
    monkeypatch.setattr(taught.published, "beside", lambda name: rows)
    with pytest.raises(DataError, match="soft_c04"):
        taught.lessons()
    rows["asks"], rows["found"] = [""], ["{part}"]
    with pytest.raises(DataError, match="asks nothing"):
        taught.lessons()
    with pytest.raises(DataError, match="no verdict on soft_c01"):
        taught.paragraph(LESSONS[0], board().query("id != 'soft_c01'"), VALUES)


def test_the_page_and_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    made = board(soft_c01=Entry("soft_c01", "does not carry over", "executed/soft_tables", n=32))
    store.add("soft_tables", tables={"verdicts": made.drop(columns=["paper", "kind"]), "quotable": VALUES})
    found = store.report("taught")
    assert len(re.findall(r"^## \d+\. ", found.text, flags=re.MULTILINE)) == 10
    assert re.search(rf"^{len(RESTS_ON)} verdicts \(.*3 of a review page\): 1 does not stand, ", found.text)
    data = pd.read_csv(found.folder / "taught.csv").set_index("id")
    assert data.loc["soft_c01", "verdict"] == "does not carry over" and len(data) == len(RESTS_ON)
