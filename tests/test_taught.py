"""What the book found, in sentences that people wrote: filled by code, refused where a decision has changed."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from store import Store
from tiny import REPOSITORY

from faithbook.judge import analysis_plan, lessons, published, scoreboard, sentences
from faithbook.judge.scoreboard import Entry
from faithbook.judge.sentences import Refused, Results
from faithbook.stats import grounds, rules
from faithlib.errors import DataError, UnknownNameError

LESSONS = lessons.lessons()
RESTS_ON = [one for lesson in LESSONS for one in lesson.rests_on]
PARAGRAPHS = lessons.landing_page()
GUARDED = [
    *((one.title, one.text, one.when) for one in PARAGRAPHS),
    *((one.asks, one.answer, one.when) for one in LESSONS),
]
WRITING = {"published", "lowest", "highest", "passed", "parts", "%", "whole", "size", "named", "n"}


def board(**told: Entry) -> pd.DataFrame:
    """Everything that is judged, not run except what is told (by id)."""
    known = scoreboard.to_judge()["id"]
    untold = {name: Entry(name, rules.NOT_TESTED, "executed/page") for name in known}
    return scoreboard.board(scoreboard.entries({**untold, **told}.values()))


def decided(decisions: dict[str, str]) -> pd.DataFrame:
    """A board on which these ids have these decisions, with counts of comparisons everywhere."""
    told = {name: Entry(name, one, "executed/page") for name, one in decisions.items()}
    return board(**told).assign(passed=1, parts=2)


def everything(text: str) -> pd.DataFrame:
    """A value for every place of a text, so that only decisions can refuse it."""
    rows = []
    for place in re.findall(r"\{([^}]*)\}(?!`)", text):
        claim, part = ([one for one in place.split("|") if one not in WRITING] + ["any"])[:2]
        rows.append((claim, part.replace("*", "a"), 0.25, 0.25, 60))
    return pd.DataFrame(rows, columns=["claim", "part", "published", "ours", "n"])


UNTOLD = board()
VALUES = pd.DataFrame(
    [
        ("soft_c01", "Soft-NC minus NC", 0.128, -0.214),
        ("soft_c01", "Soft-NS minus NS", -0.004, -0.273),
        ("together_mirrored", "middle", float("nan"), 1.0),
    ],
    columns=["claim", "part", "published", "ours"],
)


def soft(decision: str, **more: object) -> str:
    """The evidence below the first answer where the first verdict is this one."""
    told = {"evidence": grounds.DATA, "passed": 0, "parts": 2, **more, "decision": decision}
    made = UNTOLD.copy()
    made.loc[made["id"] == "soft_c01", ["page", "n", *told]] = ["executed/soft_tables", 32, *told.values()]
    return lessons.paragraph(LESSONS[0], Results(made, VALUES)).split("\n\n")[1]


# ----------------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(("name", "text", "when"), GUARDED, ids=[name for name, _, _ in GUARDED])
def test_a_sentence_is_refused_when_a_decision_that_it_rests_on_has_changed(name: str, text: str, when: str) -> None:
    sides = {one: written[0] for one, written in sentences.conditions(when).items()}
    said = Results(decided(sides), everything(text)).say(text, when)
    assert "{" not in re.sub(r"\{\w+\}`", "", said) and "nan" not in said
    for one, written in sentences.conditions(when).items():
        for other in set(rules.DECISIONS) - set(written):
            turned = Results(decided(sides | {one: other}), everything(text))
            with pytest.raises(Refused, match=f"`{one}` is {other}"):
                turned.say(text, when)
            assert turned.shown(text, when).startswith("*A sentence is left out here: ")


@pytest.mark.parametrize(("name", "text", "when"), GUARDED, ids=[name for name, _, _ in GUARDED])
def test_the_committed_verdicts_are_those_that_a_sentence_was_written_for(name: str, text: str, when: str) -> None:
    kept = pd.read_csv(REPOSITORY / "data" / "reference" / "full" / "scoreboard.csv").set_index("id")["decision"]
    for one, written in sentences.conditions(when).items():
        assert kept[one] in written, f"{name}: {one} is {kept[one]}"


def test_an_answer_about_a_claim_rests_on_a_decision() -> None:
    assert all(lesson.when for lesson in LESSONS) and all(one.when or one.kind == "trust" for one in PARAGRAPHS)
    for lesson in LESSONS:
        assert set(sentences.conditions(lesson.when)) <= {one.id for one in RESTS_ON} | {"soft_c10", "together_q8"}
    with pytest.raises(UnknownNameError, match="reproduce"):
        sentences.conditions("soft_c01 reproduce")


def test_no_measured_number_is_typed() -> None:
    for text in (*(text for _, text, _ in GUARDED), *(one.found for one in RESTS_ON)):
        bare = re.sub(r"\{[^}]*\}", "", text)
        assert "{" in text and not re.search(r"(?<!\d)\.\d|\d\.\d", bare), bare
        assert {*re.findall(r"(\d+)\u00a0%", bare)} <= {"50"}, bare  # chance


def test_places_are_filled_or_the_sentence_is_refused() -> None:
    made = board(
        soft_c01=Entry("soft_c01", "not reproduced", "p", passed=1, parts=1200),
        soft_c02=Entry("soft_c02", "mixed", "p", passed=2, parts=34),
    )
    results = Results(made, VALUES)
    assert results.say("{Soft-NS minus NS}, {published|Soft-NC minus NC}", of="soft_c01") == "−.27, .13"
    assert results.say("{lowest|named} to {highest|named}", of="soft_c01") == (
        "−.27 (Soft-NS minus NS) to −.21 (Soft-NC minus NC)"
    )
    assert results.say("{lowest|soft_c01|*NC*}, {soft_c01|Soft-NS minus NS|size}") == "−.21, .27"
    assert results.say("{together_mirrored|middle|%} or {together_mirrored|middle|whole}") == "100\u00a0% or 1"
    assert results.say("{soft_c01+soft_c02|passed} of {soft_c01+soft_c02|parts}") == "3 of 1,234"
    assert results.say("{passed} in {doc}`page`", of="soft_c02") == "2 in {doc}`page`"
    for lacking in (
        "{soft_c02|part}",
        "{published|together_mirrored|middle}",
        "{soft_c03|passed}",
        "{lowest|soft_c09}",
    ):
        with pytest.raises(Refused, match="has no"):
            results.say(lacking)


# --------------------------------------------------------------------------------------------------------- ten answers
def test_there_are_ten_questions_and_every_headline_is_among_what_answers_them() -> None:
    assert [lesson.number for lesson in LESSONS] == list(range(1, 11))
    assert all(lesson.asks.endswith("?") for lesson in LESSONS)
    assert all(re.match(r"\*\*[^*]+\.\*\* ", lesson.answer) for lesson in LESSONS)  # the answer comes first
    names = [one.id for one in RESTS_ON]
    assert len(names) == len(set(names))
    headlines = {name for name, rule in analysis_plan.log().items() if rule.headline}
    assert headlines <= set(names) <= set(scoreboard.to_judge()["id"])


def test_the_decision_comes_after_the_claim_that_it_judges() -> None:
    """A badge after a finding that contradicts the claim read as if the finding failed."""
    first, note = soft("not reproduced").split("\n")
    assert first == (
        "Mean diagnosticity changes from NC to Soft-NC by −.21 (published for these data: .13), from NS to Soft-NS by "
        "−.27 (.00)."
    )
    badge = lessons.badge("does not replicate on our models")
    badge += " paper's data, our models; n = 32 in the smallest cell; `soft_c01`; {doc}`soft_tables`"
    claim = published.column("claim")["soft_c01"]
    assert note == f'<span class="verdict-note">Claim of Zhao & Aletras 2023: *{claim}*. {badge}</span>'


@pytest.mark.parametrize("decision", rules.DECISIONS)
def test_evidence_is_the_same_under_every_verdict_that_measured_something(decision: str) -> None:
    told = soft(decision)
    badge = lessons.badge(grounds.worded(decision, grounds.DATA))
    assert f"{published.column('claim')['soft_c01']}*. {badge}" in told
    measured = decision in lessons.MEASURED
    assert ("by −.21" in told) == measured == ("n = 32" in told)
    assert measured or told.startswith("Not tested on the data of this copy.")


def test_what_a_review_page_says_is_named_so() -> None:
    made = Results(
        board(naopc_c05=Entry("naopc_c05", "not reproduced", "executed/p", evidence=grounds.AUTHORS)), VALUES
    )
    told = lessons.paragraph(LESSONS[7], made)
    assert "Claim of a review page of Edin et al. 2025: *A value of 0 means as bad as a random order*." in told
    assert "Claim of Edin et al. 2025: *AOPC depends on the model" in lessons.paragraph(LESSONS[6], made)
    assert "Our question: *" in lessons.paragraph(LESSONS[8], made)
    assert set(lessons.table(made)["source"]) == {*published.PAPERS, published.REVIEW, published.OUR_OWN}


def test_an_id_without_a_verdict_is_refused() -> None:
    assert all(one.found for one in RESTS_ON)
    with pytest.raises(DataError, match="no verdict on soft_c01"):
        lessons.paragraph(LESSONS[0], Results(board().query("id != 'soft_c01'"), VALUES))


def test_the_page_its_data_and_what_the_landing_page_includes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    entry = Entry("saco_c05", "reproduced", "executed/saco_random", n=32, evidence=grounds.DATA)
    made = board(saco_c05=entry)
    quoted = pd.DataFrame([("saco_c05", "mean SaCo of random scores", 0.0, 0.02)], columns=VALUES.columns)
    store.add("saco_random", tables={"verdicts": made.drop(columns=["paper", "kind"]), "quotable": quoted})
    found = store.report("taught")
    assert len(re.findall(r"^## \d+\. ", found.text, flags=re.MULTILINE)) == 10
    assert "Random scores have a mean SaCo of .02." in found.text
    data = found.table("taught", "id")
    assert data.loc["saco_c05", "decision"] == "reproduced" and len(data) == len(RESTS_ON)
    # Without values of the studies no finding is printed, and each says why.
    landing = (found.folder / "landing.md").read_text(encoding="utf-8")
    assert landing.count("*A sentence is left out here: `") == 6
    assert "Of 1 findings on the papers' own data or outputs 1 replicate, 0 do not, 0 are mixed" in landing
