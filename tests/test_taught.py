"""What the book found, in sentences that people wrote: filled by code, refused where a decision has changed."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pandas as pd
import pytest
from refusals import refused
from store import Store

from faithbook.judge import lessons, materials, published, scoreboard, sentences
from faithbook.judge.reference import committed_board
from faithbook.judge.sentences import Refused, Results
from faithbook.paths import reference_dir, root
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Interval95
from faithlib.errors import DataError, UnknownNameError

LESSONS = lessons.lessons()
RESTS_ON = [support for lesson in LESSONS for support in lesson.rests_on]
PARAGRAPHS = lessons.landing_page()
IN_README = published.our_table("in_readme").set_index("paragraph")["text"]
BOXES = [(box.overview, box.text, box.when) for box in published.our_table("in_short").itertuples()]
GUARDED = [
    *((paragraph.title, paragraph.text, paragraph.when) for paragraph in PARAGRAPHS),
    *(
        (f"{paragraph.title} (README)", IN_README[paragraph.number or paragraph.kind], paragraph.when)
        for paragraph in PARAGRAPHS
    ),
    *((lesson.asks, lesson.answer, lesson.when) for lesson in LESSONS),
    *BOXES,
]
WRITING = {
    *("published", "lowest", "highest", "passed", "parts", "named"),
    *("%", "whole", "size", "n", "interval", "with interval"),
}


def board(**told: dict[str, object]) -> pd.DataFrame:
    """Everything that is judged, not run except what is told (by id)."""
    names = scoreboard.to_judge()["id"]
    rows = [{"id": name, "decision": evidence_levels.NOT_TESTED, "page": "executed/page"} for name in names]
    return scoreboard.board(pd.DataFrame([row | told.get(row["id"], {}) for row in rows]))


def everything(text: str) -> pd.DataFrame:
    """A value for every place of a text, so that only decisions can refuse it."""
    rows = []
    for place in re.findall(r"\{([^}]*)\}(?!`)", text):
        claim, part = ([piece for piece in place.split("|") if piece not in WRITING] + ["any"])[:2]
        rows.append((claim, part.replace("*", "a"), *[0.25] * 4, 60))
    return pd.DataFrame(rows, columns=VALUES.columns)


VALUES = pd.DataFrame(
    [
        ("soft_c01", "Soft-NC minus NC", 0.128, -0.214, -0.3, -0.1, 32),
        ("soft_c01", "Soft-NS minus NS", -0.004, -0.273, -0.3, -0.1, 32),
        ("together_mirrored", "middle", float("nan"), 1.0, 0.9, 1.0, 1360),
    ],
    columns=["claim", "part", "published", "ours", "low", "high", "n"],
)


# ----------------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(("name", "text", "when"), GUARDED, ids=[name for name, _, _ in GUARDED])
def test_a_sentence_is_refused_when_a_decision_that_it_rests_on_has_changed(name: str, text: str, when: str) -> None:
    """And the committed verdicts are those that it was written for."""
    kept, conditions = committed_board().set_index("id")["decision"], sentences.decisions_written_for(when)
    assert all(kept[claim] in written for claim, written in conditions.items()), name
    values, sides = everything(text), {claim: {"decision": written[0]} for claim, written in conditions.items()}
    said = Results(board(**sides).assign(passed=1, parts=2), values).say(text, when)
    assert "{" not in re.sub(r"\{\w+\}`", "", said) and "nan" not in said
    for one, written in conditions.items():
        for other in set(evidence_levels.DECISIONS) - set(written):
            turned = Results(board(**sides | {one: {"decision": other}}).assign(passed=1, parts=2), values)
            refused(Refused, f"`{one}` is {other}", turned.say, text, when)
            assert turned.shown(text, when).startswith("*A sentence is left out here: ")


def test_an_answer_about_a_claim_rests_on_a_decision() -> None:
    assert all(lesson.when for lesson in LESSONS)
    # What rests on study `safe` names the chosen metric in each number, which is not there if another one is chosen.
    for paragraph in PARAGRAPHS:
        for text in (paragraph.text, IN_README[paragraph.number or paragraph.kind]):
            assert paragraph.when or paragraph.kind == "trust" or "{safe|" in text
    assert len(IN_README) == len(PARAGRAPHS)
    for lesson in LESSONS:
        assert set(sentences.decisions_written_for(lesson.when)) <= {support.id for support in RESTS_ON} | {
            "soft_c10",
            "together_q8",
        }
    with pytest.raises(UnknownNameError, match="reproduce"):
        sentences.decisions_written_for("soft_c01 reproduce")


def test_no_measured_number_is_typed() -> None:
    for text in (*(text for _, text, _ in GUARDED[: -len(BOXES)]), *(support.found for support in RESTS_ON)):
        bare = re.sub(r"\{[^}]*\}", "", text)
        assert "{" in text and not re.search(r"(?<!\d)\.\d|\d\.\d", bare), bare
        assert {*re.findall(r"(\d+)\u00a0%", bare)} <= {"50"}, bare  # chance


def test_the_readme_has_the_words_of_its_findings() -> None:
    """Its numbers are compared with those of a built book (`test_book`)."""
    words = " ".join((root() / "README.md").read_text(encoding="utf-8").split())
    for box in PARAGRAPHS:
        text = f"**{box.title}** {IN_README[box.number or box.kind]}"
        between = [re.escape(piece) for piece in re.split(r"\{[^}]*\}", text)]
        assert re.search(r"[-−\d.,% \[\]]+".join(between), words), f"python -m faithbook.judge.readme: {box.title}"


def test_of_overviews_no_number_is_typed_but_what_study_safe_declared() -> None:
    """The printed ones are filled too; declared are the correlation that is safe, and how far a cheaper metric may be
    below the safest."""
    for overview, text, _ in BOXES:
        typed = re.findall(r"\d*\.\d+|\d+\u00a0%", re.sub(r"\{[^}]*\}|\([^)]*\.\w+\)", "", text))
        assert set(typed) <= ({"0.50", "0.05"} if overview == "safe" else set()), (overview, typed)


def test_places_are_filled_or_the_sentence_is_refused() -> None:
    told = {"soft_c01": {"passed": 1, "parts": 1200}, "soft_c02": {"passed": 2, "parts": 34}}
    results = Results(board(**told), VALUES)
    for text, of, said in (
        ("{Soft-NS minus NS}, {published|Soft-NC minus NC}", "soft_c01", "−0.27, 0.13"),
        ("{lowest|named} to {highest}", "soft_c01", "−0.27 (Soft-NS minus NS) to −0.21"),
        ("{lowest|soft_c01|*NC*}, {soft_c01|Soft-NS minus NS|size}", "", "−0.21, 0.27"),
        ("{together_mirrored|middle|%} or {together_mirrored|middle|whole}", "", "100\u00a0% or 1"),
        ("{soft_c01+soft_c02|passed} of {soft_c01+soft_c02|parts}", "", "3 of 1,234"),
        ("{passed} in {doc}`page`", "soft_c02", "2 in {doc}`page`"),
        ("{interval}, n = {n}", "together_mirrored", "[0.90, 1.00], n = 1,360"),
        ("{lowest|named|with interval}", "soft_c01", "−0.27 [−0.30, −0.10] (Soft-NS minus NS)"),
        ("{together_mirrored|middle|%|with interval}", "", "100\u00a0% [90, 100]"),
    ):
        assert results.say(text, of=of) == said
    for name in ("{soft_c02|part}", "{published|together_mirrored|middle}", "{soft_c03|passed}", "{lowest|soft_c09}"):
        refused(Refused, "has no", results.say, name)


# --------------------------------------------------------------------------------------------------------- ten answers
def test_every_headline_is_among_what_answers_the_questions() -> None:
    headlines = {name for name, headline in published.column("headline").items() if headline}
    names = [support.id for support in RESTS_ON]
    assert len(names) == len(set(names)) and headlines <= set(names) <= set(scoreboard.to_judge()["id"])


@pytest.mark.parametrize("decision", evidence_levels.DECISIONS)
def test_evidence_is_the_same_under_every_verdict_that_measured_something(decision: str) -> None:
    told = {"decision": decision, "evidence": evidence_levels.DATA, "n": 32, "passed": 0, "parts": 2, "unrelated": 1}
    shown = lessons.paragraph(LESSONS[0], Results(board(soft_c01=told), VALUES)).split("\n\n")[1]
    badge = lessons.badge(evidence_levels.display_label(decision, evidence_levels.DATA))
    assert f"Claim of Zhao & Aletras 2023: *{published.column('claim')['soft_c01']}*. {badge}" in shown
    measured = decision in lessons.MEASURED
    assert ("by −0.21" in shown) == measured == ("n = 32 in the smallest set; 1 unrelated model" in shown)
    without = Results(board().query("id != 'soft_c01'"), VALUES)
    refused(DataError, "no verdict on soft_c01", lessons.paragraph, LESSONS[0], without)


def test_the_page_its_data_and_what_the_landing_page_includes(store: Store) -> None:
    made = board(saco_c05={"decision": "reproduced", "n": 32, "evidence": evidence_levels.DATA})
    random = ("saco_c05", "mean SaCo of random scores", 0.0, 0.02, 0.0, 0.04, 32)
    quoted = pd.DataFrame([random], columns=VALUES.columns)
    store.add("saco_random", tables={"verdicts": made.drop(columns=["paper", "kind"]), "quotable": quoted})
    found = store.report("taught")
    assert len(re.findall(r"^## \d+\. ", found.text, flags=re.MULTILINE)) == 10
    assert "Random scores have a mean SaCo of 0.02 [0.00, 0.04]." in found.text
    data = found.table("taught", "id")
    assert data.loc["saco_c05", "decision"] == "reproduced" and len(data) == len(RESTS_ON)
    # Without values of the studies no finding is printed, and each says why.
    landing = (found.folder / "landing.md").read_text(encoding="utf-8")
    assert landing.count("*A sentence is left out here: `") == 6
    assert (
        "1 replicate or are reproduced, 0 do not, 0 are mixed" in landing and "Of 1 findings of the papers" in landing
    )


def test_overviews_list_claims_with_the_committed_decisions() -> None:
    results = Results(scoreboard.filled(pd.read_csv(reference_dir() / "scoreboard.csv")), VALUES)
    tables = lessons.claims_of_overviews(results)
    kept = committed_board().set_index("id")
    language = [name for name in published.column("claim") if name.startswith("lm_")]
    rows = tables["language"].splitlines()[2:]
    assert len(rows) == len(language) and "{cite:t}`huang_chan_2026`" in tables["language"]
    for name, row in zip(language, rows, strict=True):
        decision = evidence_levels.display_label(kept.loc[name, "decision"], kept.loc[name, "evidence"])
        evidence = materials.evidence_in_words(name, kept.loc[name, "evidence"])
        assert lessons.badge(decision) in row and f"{evidence}, n = " in row and "1 unrelated model |" in row, name
    # Their overview says once that they are about a small model.
    assert not any(row.startswith(("| On a small", "| on a small")) for row in rows)
    assert tables["paper4"].count("a review page") == sum(
        published.sources()[name] == published.REVIEW
        for name in published.column("claim")
        if name.startswith("naopc_c")
    )


def test_values_of_each_model_are_kept_under_its_short_name() -> None:
    pair = Comparison(SimpleNamespace(interval=lambda: Interval95(0.25, 0.2, 0.3), n=60), 0.5)  # type: ignore[arg-type]
    (frame,) = lessons.diagnosticities_to_quote({"MPNet, 12 layers, 109 M": {"nc": pair}})
    row = {
        "claim": "soft_models",
        "part": "MPNet: NC",
        "published": 0.5,
        "ours": 0.25,
        "low": 0.2,
        "high": 0.3,
        "n": 60,
    }
    assert frame.iloc[0].to_dict() == row
