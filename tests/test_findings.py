"""What a reader in a hurry is told: counts of distinct findings by what they rest on, a sentence a paper, tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from store import Store

from faithbook.results import evidence, findings, published, ran, rulebook, scoreboard
from faithbook.results.scoreboard import Entry

REPEATS = {name: rule.same_as for name, rule in rulebook.log().items()}


def board(**told: Entry) -> pd.DataFrame:
    """Everything that is judged, not run but for what is told (by id)."""
    known = scoreboard.to_judge()["id"]
    untold = {name: Entry(name, evidence.NOT_RUN, "executed/page", same_as=REPEATS[name]) for name in known}
    return scoreboard.board(scoreboard.entries({**untold, **told}.values()))


def entry(name: str, verdict: str, ground: str = evidence.STAND_INS, **more: object) -> Entry:
    return Entry(name, verdict, "executed/page", n=30, evidence=ground, same_as=REPEATS[name], **more)  # type: ignore[arg-type]


WORDS = {"saco_c03": "gradients double SaCo", "saco_c05": "random scores have none", "naopc_c05": "zero is random"}
BOARD = board(
    saco_c03=entry(
        "saco_c03", "does not carry over", hangs="so under 3 of 8 options of *normaliser*", passed=1, parts=4
    ),
    saco_table1=entry("saco_table1", "does not carry over"),  # repeats c03
    saco_c05=entry("saco_c05", "carries over"),
    saco_c08=entry("saco_c08", "carries over"),
    saco_c11=entry("saco_c11", "not testable here", passed=0, parts=1),
    saco_text=entry("saco_text", "set up as published"),
    saco_table2=entry("saco_table2", "no order to reproduce"),
    naopc_c01=entry("naopc_c01", "holds", evidence.AUTHORS, here="not testable here"),
    naopc_c05=entry("naopc_c05", "fails", evidence.AUTHORS, here="holds"),
    together_q2=entry("together_q2", "holds", evidence.OUR_QUESTION),
)


def test_every_word_is_on_a_side_and_every_headline_has_plain_words() -> None:
    assert set(findings.SIDES) == set(evidence.DECISIONS)
    headlines = {name for name, rule in rulebook.log().items() if rule.headline}
    assert headlines <= set(findings.plain_words()) <= set(scoreboard.to_judge()["id"])
    assert not [words for words in findings.plain_words().values() if words.endswith(".")]


def test_a_fact_counts_once_and_what_cannot_be_found_not_at_all() -> None:
    found = findings.sided(BOARD).set_index("id")
    assert "saco_table1" not in found.index and "saco_text" not in found.index
    assert found.loc["saco_c11", ["side", "ground"]].tolist() == [findings.UNTESTED, findings.UNTESTED]
    counts = findings.counts(BOARD)
    assert counts.loc[(evidence.STAND_INS, "wu_2024")].tolist() == [2, 0, 1, 0, 0]
    assert counts.loc[(evidence.AUTHORS, "edin_2025")].tolist() == [1, 0, 0, 0, 0]
    assert counts.loc[(evidence.AUTHORS, published.REVIEW)].tolist() == [0, 0, 1, 0, 0]
    grounds = list(dict.fromkeys(counts.index.get_level_values("ground")))
    assert grounds == [evidence.AUTHORS, evidence.STAND_INS, evidence.OUR_QUESTION, findings.UNTESTED]
    assert counts.to_numpy().sum() == len(found)


def test_the_sentence_of_a_paper_names_headlines_and_what_they_hang_on_and_counts_the_rest() -> None:
    told = findings.sentence(BOARD, "wu_2024", WORDS)
    assert told.startswith(
        "*Stands* (stand-ins): random scores have none; 1 more. *Does not stand* (stand-ins): gradients double SaCo "
        "(so under 3 of 8 options of *normaliser*). *Not tested here*: "
    )
    untold = findings.sided(BOARD).query("paper == 'wu_2024' and side == 'not tested here'")
    assert told.endswith(f": {len(untold)} findings.")
    assert findings.sentence(BOARD, published.OUR_OWN, {}).startswith("*Stands*: 1 finding. *Not tested")
    # The other way round, the sentence says the other thing.
    turned = BOARD.assign(verdict=BOARD.verdict.replace({"carries over": "does not carry over"}))
    assert "*Stands*" not in findings.sentence(turned, "wu_2024", WORDS)


def test_firmer_ground_comes_first() -> None:
    sentences = findings.sentences(BOARD, WORDS)
    assert sentences[0].startswith("**Edin et al. 2025 (NAOPC).** *Stands* (authors' outputs): 1 finding.")
    assert len(sentences) == 6 and sentences[-1].startswith("**Our own questions.**")
    own, other = findings.headlines(BOARD, WORDS).values()
    assert list(own["evidence"]) == [evidence.AUTHORS]
    assert list(other["hangs on"]) == ["so under 3 of 8 options of *normaliser*", ""]
    assert findings.every(BOARD)["evidence"].iloc[0] == evidence.AUTHORS


def test_what_a_review_page_says_is_never_the_papers() -> None:
    """The landing page said "what the paper says" of claims that the paper does not make."""
    claims = published.index("claims").set_index("id")
    assert set(claims.index[claims["source"] == "review"]) == {f"naopc_c0{k}" for k in (3, 4, 5, 6)}
    assert set(claims["source"]) == {"paper", "review"}
    for name in ("naopc_c01", "naopc_c02"):  # summarised from the paper's abstract, which prints no number
        assert "abstract (arXiv 2408.08137v2)" in claims["note"][name] and not claims["published_value"][name]
    told = findings.sentences(BOARD, WORDS)
    review = "**A review page of Edin et al. 2025.** *Does not stand* (authors' outputs): zero is random."
    assert told[-2].startswith(review) and "zero is random" not in told[0]
    own, _ = findings.headlines(BOARD, WORDS).values()
    assert own["source"].tolist() == ["a review page of Edin et al. 2025"]
    assert "what the paper says" not in own.columns
    every = findings.every(BOARD)
    assert every["source"][every["what"].str.contains("`naopc_c05`")].item() == "a review page of Edin et al. 2025"
    assert every["source"][every["what"].str.contains("`naopc_c01`")].item() == "Edin et al. 2025"


def test_numbers_in_words_add_up() -> None:
    told = findings.in_numbers(BOARD)
    repeats = len(BOARD) - len(scoreboard.distinct(BOARD))
    assert f"Of {len(BOARD)} tables" in told and f"{repeats} repeat another, 1 are of the set-up or" in told
    assert "and 1 are rankings on which the paper's own repeats disagree." in told
    assert "- on what the authors released, or on the papers' own data with our models: 1 (1 stands)\n" in told
    assert "- of what only a review page of a paper says: 1 (1 does not stand)\n" in told
    assert "- on stand-ins: 3 (2 stand, 1 does not stand)\n" in told
    assert "- of our own questions: 1 (1 stands)\n" in told
    assert sum(map(int, re.findall(r"^- .*?: (\d+)", told, flags=re.MULTILINE))) == len(findings.sided(BOARD))


def test_what_cannot_be_tested_has_no_count_of_parts() -> None:
    found = findings.every(BOARD).assign(id=lambda rows: rows["what"].str.extract("`(.*?)`")).set_index("id")
    assert (found.loc["saco_c03", "parts"], found.loc["saco_c11", "parts"]) == ("1 of 4", "")
    assert found.loc["saco_c11", "evidence"] == findings.UNTESTED
    assert "holds" in found.loc["naopc_c05", "this build"] and found.loc["saco_c05", "this build"] == ""
    # What this build could not test is not printed beside a verdict of the full run.
    assert found.loc["naopc_c01", "this build"] == "" and found.loc["saco_table2", "evidence"] == findings.NO_FINDING
    # Two standards side by side: the printed numbers as they are, and our rule.
    assert found.loc["naopc_c05", "printed numbers"] == "fails" and found.loc["soft_c09", "printed numbers"] == ""
    assert found.loc["saco_table1", "found"] == "repeats `saco_c03`"


def test_every_verdict_has_a_place_of_its_own() -> None:
    what = findings.every(BOARD)["what"]
    places = what.str.extract(r"^`(?P<id>\w+)`\{#(?P<place>[a-z0-9-]+)\} \S")
    assert not places.isna().any(axis=None) and places["place"].is_unique
    assert set(places["id"]) == set(BOARD["id"])
    assert places.set_index("id")["place"]["saco_c03"] == "verdict-saco-c03"


# --------------------------------------------------------------------------------------------------------------- pages
@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(tmp_path, monkeypatch)


def test_the_scoreboard_and_what_the_landing_page_includes(store: Store) -> None:
    store.add("soft_tables", tables={"verdicts": BOARD.drop(columns=["paper", "kind"])})
    found = store.report("scoreboard")
    told = (found.folder / "summary.md").read_text(encoding="utf-8")
    assert told.index("tested on the authors' outputs, or") < told.index("tested on stand-ins")
    assert "Profile `" not in told  # the numbers are those of the full run
    assert "random scores have a SaCo of about zero" in told  # data/plain.csv
    assert ":class: findable" in found.text and found.text.count("{doc}`see <page>`") == len(BOARD)
    assert pd.read_csv(found.folder / "scoreboard.csv").set_index("id").hangs["saco_c03"].startswith("so under 3 of 8")


def test_the_status_page_names_models(store: Store) -> None:
    frame = pd.DataFrame({"id": ["a"], "cluster": ["a"], "seed": 0, "method": "m", "metric": "k", "value": 1.0})
    store.add(
        "naopc_models", {"": frame}, declared=("local:text/bbc-lstm-seed0", "bbc"), dataset="bbc", classifier="lstm"
    )
    for folder in store.upstream:  # what a build adds to a manifest
        facts = json.loads((folder / "manifest.json").read_text())
        facts |= {"versions": {"faithlib": "1"}, "commit": "c", "processor": "p", "cores": 2, "threads": 1}
        (folder / "manifest.json").write_text(json.dumps(facts))
    found = store.report("status")
    shown = pd.read_csv(found.folder / "status_compute.csv").iloc[0]
    assert (shown.models, shown.dataset) == ("text/bbc-lstm-seed0", "bbc")
    assert "1 runs (1 of them computations)" in found.text


def test_models_are_told_from_other_files() -> None:
    declared = ["minilm", "hf:org/one", "data/pictures/mnist.npz", "/somewhere/a-model", "cards"]
    assert ran.models_of(declared) == "org/one, a-model"
