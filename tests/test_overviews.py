"""The overviews of the studies: boxes whose numbers code fills, figures, and worked examples that are right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from faithbook.judge import lessons, published
from faithbook.judge.scoreboard import to_judge
from faithbook.judge.sentences import Results
from faithbook.stats import rules
from faithlib.metrics import comprehensiveness_nc, saco

ROOT = Path(__file__).resolve().parents[1]
OVERVIEWS = {path.parent.name: path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*/overview.md")}
BOXES = published.beside("in_short")


def results(**verdicts: str) -> Results:
    ids = to_judge()["id"]
    board = pd.DataFrame({"id": ids, "decision": [verdicts.get(name, rules.NOT_TESTED) for name in ids]})
    columns = ["claim", "part", "published", "ours", "low", "high", "n"]
    values = pd.DataFrame([("soft_average", "NC", 0.41, 0.703, 0.692, 0.7141, 1360)], columns=columns)
    return Results(board, values)


def test_every_overview_begins_with_its_box_and_has_a_figure() -> None:
    assert set(OVERVIEWS) == set(BOXES.overview)
    for name, text in OVERVIEWS.items():
        included = re.findall(r"```\{include\} (\S+)", text)
        assert included[0] == f"../executed/taught/in_short_{name}.md"
        assert text.index(included[0]) < text.index("\n## ")
        assert name == "paper1" or re.fullmatch(r"\.\./executed/\w+/\w+_overview\.md", included[1])
        assert "\n## What to read next\n" in text


def test_every_box_has_claim_result_reason_and_advice() -> None:
    for _, rows in BOXES.groupby("overview"):
        assert rows.says.tolist()[1:] == ["We", "Why", "What to do"]


def test_a_box_has_intervals_and_n() -> None:
    told = results().say("NC {soft_average|NC} {soft_average|NC|interval}, n = {soft_average|NC|n}")
    assert told == "NC .70 [.69, .71], n = 1,360"


@pytest.mark.parametrize(
    ("overview", "written_for"),
    [
        ("paper1", {"soft_c01": "not reproduced"}),
        ("language", {"lm_q5": "reproduced", "lm_ice_c01": "undecided"}),
    ],
)
def test_a_sentence_of_a_box_is_refused_when_its_decision_changes(overview: str, written_for: dict[str, str]) -> None:
    (row,) = BOXES[(BOXES.overview == overview) & (BOXES.says == "What to do")].to_dict("records")
    assert row["text"] in lessons.in_short(results(**written_for))[overview]
    for name, decision in written_for.items():
        other = "not reproduced" if decision != "not reproduced" else "reproduced"
        turned = lessons.in_short(results(**{**written_for, name: other}))[overview]
        assert row["text"] not in turned and f"`{name}` is {other}" in turned


OPENINGS = {
    "soft_tables": {"soft_c01": "not reproduced"},
    "saco_tables": {"saco_c03": "not reproduced", "saco_c04": "not reproduced"},
    "crosslingual_tables": {"xl_c01": "not reproduced"},
    "crosslingual_erasure": {"xl_c09": "mixed"},
    "crosslingual_highlights": {"xl_c11": "not reproduced"},
    "naopc_released_outputs": {"naopc_released_bounds": "reproduced", "naopc_released_scores": "reproduced"},
    "saco_figures": {"saco_c01": "reproduced", "saco_c05": "reproduced"},
    "together_agreement": {"together_q1": "not reproduced", "together_q10": "reproduced"},
    "together_diagnosticity": {"together_q3": "mixed"},
    "together_planted_truth": {"together_q5": "reproduced", "together_q7": "mixed"},
}
"""Of table pages whose first sentence says what was found: the decisions that it was written for."""


@pytest.mark.parametrize("page", OPENINGS)
def test_the_first_sentence_of_a_table_page_is_what_was_decided(page: str) -> None:
    kept = pd.read_csv(ROOT / "data" / "reference" / "full" / "scoreboard.csv").set_index("id")["decision"]
    assert {name: kept[name] for name in OPENINGS[page]} == OPENINGS[page]
    text = (ROOT / "notebooks" / "report" / f"{page}.py").read_text(encoding="utf-8")
    (first,) = re.findall(r"^# # .*\n#\n# (.*(?:\n# .+)?)\n#$", text, flags=re.MULTILINE)
    assert len(first.split()) < 35 and "{cite" not in first


# --- worked examples -------------------------------------------------------------------------------------------------


def test_the_example_of_study_1() -> None:
    full, empty = torch.tensor(0.90), torch.tensor(0.50)
    for after, value in ((0.60, ".75"), (0.58, ".80"), (0.55, ".875")):
        found = comprehensiveness_nc(full, torch.tensor(after), empty)
        assert found.item() == pytest.approx(float(value), abs=1e-6)
        assert value in OVERVIEWS["paper1"]


def test_the_example_of_study_2() -> None:
    found = saco(torch.tensor([[0.4, 0.3, 0.2, 0.1]]), torch.tensor([[0.20, 0.25, 0.05, 0.10]]))
    assert found.item() == pytest.approx(0.60, abs=1e-6)
    assert "= .60 ." in OVERVIEWS["paper2"]


def test_the_example_of_study_4() -> None:
    rows = re.findall(r"^\| model \w \| (.*?) \|$", OVERVIEWS["paper4"], flags=re.MULTILINE)
    assert len(rows) == 2
    for row in rows:
        falls, aopc, best, worst, naopc = row.split(" | ")
        of = [np.mean([float(x) for x in re.findall(r"\.\d\d", text)[-3:]]) for text in (falls, best, worst)]
        assert of[0] == pytest.approx(float(aopc), abs=0.005)
        assert (of[0] - of[2]) / (of[1] - of[2]) == pytest.approx(float(naopc.rsplit(" ", 1)[-1]), abs=0.005)


def test_the_example_of_study_5() -> None:
    """Occlusion of both numbers, from the log-probabilities of the table."""
    text = OVERVIEWS["language"].replace("−", "-")
    whole, *without = [
        [float(cell) for cell in line.split(" | ")[1:] if re.fullmatch(r"-?\d\.\d", cell.strip(" |"))]
        for line in text.replace(" |\n", "\n").splitlines()
        if re.match(r"\| (whole sentence|without )", line)
    ]
    assert whole[0] - whole[1] == pytest.approx(whole[2])
    for right, wrong, contrast, alone, of_contrast in without:
        assert right - wrong == pytest.approx(contrast)
        assert (whole[0] - right, whole[2] - contrast) == (pytest.approx(alone), pytest.approx(of_contrast))
    (the, keys) = without
    assert the[3] > keys[3] and keys[4] > the[4]
