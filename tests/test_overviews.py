"""The overviews of the studies: boxes whose numbers code fills, figures, and worked examples that are right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from faithbook.engine.run import load_units
from faithbook.judge import published
from faithbook.judge.reference import committed_board
from faithbook.studies.naopc.edin_released import read_packed
from faithbook.studies.safe import design
from faithlib.metrics import comprehensiveness_nc, saco

ROOT = Path(__file__).resolve().parents[1]
WORDS = {6: "six"}
OVERVIEWS = {path.parent.name: path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*/overview.md")}


def test_every_overview_includes_its_box_and_its_figure() -> None:
    assert set(OVERVIEWS) == set(published.our_table("in_short").overview)
    for name, text in OVERVIEWS.items():
        included = re.findall(r"```\{include\} (\S+)", text)
        assert included[0] == f"../executed/taught/in_short_{name}.md"
        assert name == "paper1" or re.fullmatch(r"\.\./executed/\w+/\w+_overview\.md", included[1])


OPENINGS = {
    "soft_tables": {"soft_c01": "not reproduced"},
    "saco_tables": {"saco_c03": "mixed", "saco_c04": "mixed"},
    "crosslingual_tables": {"xl_c01": "mixed"},
    "crosslingual_erasure": {"xl_c09": "mixed"},
    "crosslingual_highlights": {"xl_c11": "undecided"},
    "naopc_released_outputs": {"naopc_released_bounds": "reproduced", "naopc_released_scores": "reproduced"},
    "saco_figures": {"saco_c01": "reproduced", "saco_c05": "reproduced"},
    "together_agreement": {"together_q1": "not reproduced", "together_q10": "reproduced"},
    "together_diagnosticity": {"together_q3": "mixed"},
    "together_planted_truth": {"together_q5": "reproduced", "together_q7": "mixed"},
}
"""Of table pages whose first sentence says what was found: the decisions that it was written for."""


@pytest.mark.parametrize("page", OPENINGS)
def test_the_first_sentence_of_a_table_page_is_what_was_decided(page: str) -> None:
    kept = committed_board().set_index("id")["decision"]
    assert {name: kept[name] for name in OPENINGS[page]} == OPENINGS[page]


def test_sizes_that_overviews_name_are_those_of_the_committed_values() -> None:
    """What the boxes do not fill: how many pairs, texts and conditions a study has."""
    rho = load_units("crosslingual_metrics", reference=True)
    explained = rho[(rho["dataset"] == "nli") & (rho["method"] == "lime")].groupby(["model", "seed"])["id"].nunique()
    for model in ("e5", "six"):
        first, second, third = explained[model]
        assert second == third
        assert f"{first} with the first training run, {second} with each of the other two" in OVERVIEWS["paper3"]
    marked = load_units("crosslingual_plausibility", reference=True).query("dataset == 'esnli'")
    pairs = marked.groupby("method")["id"].nunique()
    assert f"{pairs['lime']} of the {pairs['saliency']} pairs of e-SNLI's development split" in OVERVIEWS["paper3"]
    bounds = read_packed("limits_exact")
    texts, models = bounds.groupby("dataset")["id"].nunique(), bounds["model"].nunique()
    outputs = int((2 ** bounds["words"].astype(int)).sum())
    said = (
        f"{texts['sst2']} short texts of SST-2 and {texts['yelp']} of Yelp, {WORDS[models]} models, {outputs:,} outputs"
    )
    assert said in " ".join(OVERVIEWS["paper4"].split())
    assert f"the {len(design.conditions())} conditions" in OVERVIEWS["safe"]
    plan = design.declared_plan()
    assert plan["design"]["seeds"] == 8 and len(design.kinds_of_error()) == 1 + 7
    assert plan["choice"]["unknown_errors"] == ["never", "heavy", "third", "random_tenth", "random_third"]
    (box,) = [
        row.text for row in published.our_table("in_short").itertuples() if (row.overview, row.says) == ("safe", "We")
    ]
    assert "eight seeds" in box and "seven kinds of error and the model that never errs" in box
    assert "over 50 % erased, over 33 % erased" in box and "10 % of copies and 33 % of copies" in box


# --- worked examples -------------------------------------------------------------------------------------------------


def test_the_example_of_study_1() -> None:
    full, empty = torch.tensor(0.90), torch.tensor(0.50)
    for after, value in ((0.60, "0.75"), (0.58, "0.80"), (0.55, "0.875")):
        found = comprehensiveness_nc(full, torch.tensor(after), empty)
        assert found.item() == pytest.approx(float(value), abs=1e-6)
        assert value in OVERVIEWS["paper1"]


def test_the_example_of_study_2() -> None:
    found = saco(torch.tensor([[0.4, 0.3, 0.2, 0.1]]), torch.tensor([[0.20, 0.25, 0.05, 0.10]]))
    assert found.item() == pytest.approx(0.60, abs=1e-6)
    assert "= 0.60 ." in OVERVIEWS["paper2"]


def test_the_example_of_study_4() -> None:
    rows = re.findall(r"^\| model \w \| (.*?) \|$", OVERVIEWS["paper4"], flags=re.MULTILINE)
    assert len(rows) == 2
    for row in rows:
        falls, aopc, best, worst, naopc = row.split(" | ")
        of = [np.mean([float(x) for x in re.findall(r"0\.\d\d", text)[-3:]]) for text in (falls, best, worst)]
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
