"""What the page of nine metrics by hand is computed with, on a tiny model: the plain model beside faithlib's, and the
rows of the released code."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toy_models import text_model, tokenizer

from faithbook.sources.excerpts import Excerpt
from faithbook.studies.together import evalxnlp
from faithbook.studies.together.by_hand import (
    PlainModel,
    accuracy_curves,
    marks_of,
    softly_erased,
    token_row,
    values_at_the_ends,
    without_each,
    without_first,
)
from faithbook.studies.together.by_hand_released import (
    CHANGES,
    TOGETHER,
    AccuracyCurve,
    ReleasedSoft,
    curve_answers,
    curve_table,
    scores_of_ends,
    with_ends,
)
from faithlib.attribution import attribute
from faithlib.inputs import TextInputs
from faithlib.metrics import soft_nc, soft_ns
from faithlib.metrics.erasure import soft
from faithlib.perturb import Perturber

TEXTS = ["a fine film", "not bad at all , who is it", "fun film , a fine film"]


@pytest.fixture(scope="module")
def inputs() -> TextInputs:
    return TextInputs.from_texts(TEXTS, tokenizer(), queries=["who is it", "fun", "bad"], max_length=32)


@pytest.fixture(scope="module")
def masking(inputs: TextInputs) -> Perturber:
    return Perturber(text_model(), inputs, erase="mask", target=1)


@pytest.fixture(scope="module")
def model() -> PlainModel:
    return PlainModel(text_model(), 1)


@pytest.fixture(scope="module")
def scores(inputs: TextInputs, masking: Perturber) -> torch.Tensor:
    return attribute("occlusion", text_model(), inputs, target=1, erase="mask", perturber=masking)


@pytest.fixture(scope="module")
def word_scores(inputs: TextInputs, scores: torch.Tensor) -> list[evalxnlp.Array]:
    return [scores[b, :size].numpy().astype(float) for b, size in enumerate(inputs.n_features.tolist())]


def test_the_plain_model_says_what_faithlib_says(
    model: PlainModel, inputs: TextInputs, masking: Perturber, word_scores: list[evalxnlp.Array]
) -> None:
    for b, values in enumerate(word_scores):
        row = token_row(inputs, b)
        full = model.ask([(row.ids, row.types)])[0]
        assert full == pytest.approx(float(masking.full[b]), abs=1e-5)
        assert full - without_each(model, row, inputs.mask_id) == pytest.approx(values, abs=1e-5)
        steps = without_first(model, row, values, inputs.mask_id)
        first = int(np.argmax(values))
        assert steps[0] == pytest.approx(full)
        assert steps[1] == pytest.approx(full - values[first], abs=1e-5)
    asked = len(model.answered)
    model.ask([(row.ids, row.types)] * 3)
    assert len(model.answered) == asked


def test_soft_scores_by_hand_are_faithlibs(inputs: TextInputs, word_scores: list[evalxnlp.Array]) -> None:
    values = word_scores[1]
    example = inputs[[1]]
    network = text_model()
    zeroing = Perturber(network, example, target=1)
    expected = soft(zeroing, torch.tensor(values)[None].float(), draws=3, seed=0)
    p_empty, drawn = softly_erased(network, example, evalxnlp.importance(values), answer=1, draws=3)
    assert p_empty == pytest.approx(float(zeroing.empty[0]), abs=1e-5)
    full, empty = zeroing.full, zeroing.empty
    for metric, formula, column in (("soft_ns", soft_ns, "p_kept"), ("soft_nc", soft_nc, "p_removed")):
        p = torch.tensor(drawn[column].to_numpy())[None]
        found = formula(full[:, None].double(), p, empty[:, None].double())
        assert found.numpy() == pytest.approx(expected[metric].double().numpy(), abs=1e-3, nan_ok=True)


def test_a_word_is_marked_where_it_lies_in_a_marked_one(inputs: TextInputs) -> None:
    spans = ((0, 1), (2, 6), (7, 11))
    marked = Excerpt(0, TEXTS[0], spans, (False, True, False))
    gold = marks_of(inputs[[0]], [marked])
    assert gold[0].tolist() == [False, True, False]


def test_curves_begin_at_one_and_have_the_areas_of_the_page(inputs: TextInputs, scores: torch.Tensor) -> None:
    points, values = accuracy_curves(Perturber(text_model(), inputs, erase="mask"), {"occlusion": scores})
    assert set(points["y"]) <= {0.0, 1.0}
    assert (points.query("share == 0")["y"] == 1).all()
    assert points.groupby("curve").size().to_dict() == {"n_auc": 5 * 3, "autpc": 11 * 3}
    for (text, curve), group in points.groupby(["text", "curve"]):
        value = values[(values["input"] == text) & (values["metric"] == curve)]["value"].item()
        y = group.sort_values("share")["y"].to_numpy()
        expected = evalxnlp.n_auc(y) if curve == "n_auc" else evalxnlp.trapezia(y, 0.1)
        assert value == pytest.approx(expected)


def test_the_ends_are_what_definitions_say() -> None:
    table = values_at_the_ends()
    assert table["is"].to_numpy() == pytest.approx(table["must be"].to_numpy(), abs=1e-6, nan_ok=True)


# --- the released code -----------------------------------------------------------------------------------------------


def test_both_ends_are_occluded_like_words(model: PlainModel, inputs: TextInputs) -> None:
    ended = with_ends(inputs)
    assert ended.n_features.tolist() == [size + 2 for size in inputs.n_features.tolist()]
    found = scores_of_ends(Perturber(model.network, ended, erase="mask", target=1))
    for b in range(len(inputs)):
        row = token_row(inputs, b)
        full = model.ask([(row.ids, row.types)])[0]
        for end, place in enumerate((0, len(row.ids) - 1)):
            ids = list(row.ids)
            ids[place] = inputs.mask_id
            assert found[b, end] == pytest.approx(full - model.ask([(ids, row.types)])[0], abs=1e-5)


def test_soft_ids_are_dropped_as_zero_and_kept_as_a_hidden_unit(
    model: PlainModel, inputs: TextInputs, word_scores: list[evalxnlp.Array]
) -> None:
    released = ReleasedSoft(model.network, inputs)
    scores = np.r_[0.0, word_scores[1], 0.5]
    row = token_row(inputs, 1)
    places = [0, *row.places, len(row.ids) - 1]
    for verb in ("sufficiency", "comprehensiveness"):
        ids, kept = released.ids(1, scores, verb, seed=0)
        best, worst = int(np.argmax(scores)), int(np.argmin(scores))
        assert (kept[best], kept[worst]) == ((True, False) if verb == "sufficiency" else (False, True))
        for place, stays in zip(places, kept, strict=True):
            assert ids[place] == (released.largest[1, place] if stays else 0)
        query = [place for place in range(len(row.ids)) if place not in places]
        assert [ids[place] for place in query] == [row.ids[place] for place in query]
    answers = released.answers(model, 1, scores, draws=2)
    assert list(answers.columns) == ["text", "what", "draw", "p"]
    assert answers.groupby("what").size().to_dict() == {"blank": 1, "comprehensiveness": 2, "sufficiency": 2}


def test_one_step_of_a_curve_is_one_change_of_its_rows(
    model: PlainModel, inputs: TextInputs, word_scores: list[evalxnlp.Array]
) -> None:
    row, values = token_row(inputs, 1), word_scores[1].copy()
    least = int(np.argmin(values))
    values[least] = -2 * np.abs(values).max()  # the largest by size, the last by sign
    usual, by_size = AccuracyCurve([0, 20]), AccuracyCurve([0, 20], by_size=True)
    assert curve_answers(model, row, values, by_size, inputs.mask_id)[1] != pytest.approx(
        curve_answers(model, row, values, usual, inputs.mask_id)[1]
    )
    down = AccuracyCurve([20], down=True)  # one word of eight instead of two
    ids = list(row.ids)
    ids[row.places[int(np.argmax(values))]] = inputs.mask_id
    assert len(row.places) == 8
    assert curve_answers(model, row, values, down, inputs.mask_id)[0] == model.ask([(ids, row.types)])[0]
    doubled = AccuracyCurve([0], doubled=True)
    twice = [row.ids[0], *row.ids, row.ids[-1]], [row.types[0], *row.types, row.types[-1]]
    assert curve_answers(model, row, values, doubled, inputs.mask_id)[0] == model.ask([twice])[0]


def test_all_steps_together_are_on_every_text(
    model: PlainModel, inputs: TextInputs, word_scores: list[evalxnlp.Array]
) -> None:
    tokens = [np.r_[0.0, values, 0.0] for values in word_scores]
    table = curve_table(model, inputs, word_scores, tokens, inputs.mask_id)
    texts = table.groupby(["metric", "change"])["text"].nunique()
    assert {name: n for name, n in texts.items() if n > 1} == {("n_auc", TOGETHER): 3, ("autpc", TOGETHER): 3}
    assert len(texts) == len(CHANGES)
    assert TOGETHER == evalxnlp.TOGETHER
