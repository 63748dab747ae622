"""Planted tasks in which no feature is the reason alone, and the detectors that know them in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from faithbook import reasons
from faithbook.models.closed_form_pairs import beside_detector, pair_detector
from faithbook.models.encoders import encoder_folder
from faithbook.sources import planted, planted_pairs
from faithbook.sources.planted_pairs import HORIZONTAL, VERTICAL, WORD_TASKS, told
from faithlib.attribution import attribute
from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation import evaluate
from faithlib.perturb import Perturber

N = 120


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.AutoTokenizer.from_pretrained(str(encoder_folder("minilm")), local_files_only=True)


# ------------------------------------------------------------------------------------------------------------ planting
@given(st.sampled_from(list(WORD_TASKS)), st.integers(0, 10_000), st.integers(1, 12))
def test_planted_words_stand_among_the_others_which_keep_their_order(task: str, seed: int, n: int) -> None:
    words = [f"w{i}" for i in range(n)]
    found, label, places = planted_pairs.plant(task, words, np.random.default_rng(seed))
    assert [word for word in found if planted_pairs.kind_of(word) is None] == words
    assert (label, places) == told(task, found)
    assert bool(places) == bool(label)


@given(st.sampled_from(list(WORD_TASKS)), st.integers(0, 10_000), st.sampled_from(["[MASK]", None]))
def test_what_is_left_of_erased_words_decides(task: str, seed: int, mask: str | None) -> None:
    generator = np.random.default_rng(seed)
    words, _, _ = planted_pairs.plant(task, [f"w{i}" for i in range(8)], generator)
    kept = planted.drawn_to_stay(len(words), generator)
    found, label, places = planted_pairs.erase(task, words, kept, mask=mask)
    left = [word for word, stays in zip(words, kept, strict=True) if stays]
    assert [word for word in found if word != "[MASK]"] == left
    assert label == told(task, left)[0]
    assert all(planted_pairs.kind_of(found[place]) is not None for place in places)


TURNED = {"copper": 1, "never copper": 2, "lemon": 2, "lemon never": 1, "never": 0, "copper lemon": 0, "a film": 0}


def test_one_word_of_two_is_not_enough_and_a_negation_turns_the_class() -> None:
    assert told("meeting", ["copper", "x", "lemon"]) == (1, [0, 2])
    assert told("meeting", ["copper", "x", "nickel"]) == (0, [])
    assert {words: told("negation", words.split())[0] for words in TURNED} == TURNED
    with pytest.raises(InputError, match="'lemon' is one of the words"):
        planted_pairs.plant("meeting", ["a", "lemon"], np.random.default_rng(0))
    with pytest.raises(UnknownNameError, match="meting"):
        planted_pairs.load_words("meting")


@given(st.integers(0, 10_000))
def test_striped_cells_touch_where_the_label_says_so(seed: int) -> None:
    generator = np.random.default_rng(seed)
    plain = generator.integers(0, 200, (28, 28)).astype(np.uint8)
    drawn, label, striped = planted_pairs.plant_beside(plain, generator)
    assert planted_pairs.touching(striped, 7, 7) == (sorted(striped) if label else [])
    changed = {tuple(cell) for cell in (np.argwhere(drawn != plain) // planted.CELL).tolist()}
    assert changed <= {divmod(cell, 7) for cell in striped}
    kept = np.ones(49, dtype=bool)
    kept[next(iter(striped))] = False
    _, left, _ = planted_pairs.erase_beside(drawn, striped, kept)
    assert left == 0


def test_cells_at_corners_and_ends_of_rows_do_not_touch() -> None:
    assert planted_pairs.touching({6: HORIZONTAL, 7: VERTICAL}, 7, 7) == []  # end of a row, start of the next
    assert planted_pairs.touching({0: HORIZONTAL, 8: VERTICAL}, 7, 7) == []  # by a corner
    assert planted_pairs.touching({0: HORIZONTAL, 7: VERTICAL}, 7, 7) == [0, 7]
    assert planted_pairs.touching({0: HORIZONTAL, 1: HORIZONTAL}, 7, 7) == []


@pytest.mark.parametrize("task", planted_pairs.TASKS)
def test_classes_are_frequent_and_samples_nested(task: str) -> None:
    data, fewer = (
        planted_pairs.load_cells(n=n) if task == "beside" else planted_pairs.load_words(task, n=n) for n in (N, 9)
    )
    assert set(fewer.ids) <= set(data.ids) and len(fewer) == 9
    shares = np.bincount(data.labels) / len(data)
    assert shares.min() > 0.2 and shares.max() < 0.65
    if task == "beside":
        assert [bool(cells) for cells in data.cells] == [label == 1 for label in data.labels]
        return
    for text, label, spans in zip(data.texts, data.labels, data.rationales, strict=True):
        assert all(planted_pairs.kind_of(text[a:z]) is not None for a, z in spans)
        own_label, places = told(task, text.split())
        assert (label, len(spans)) == (own_label, len(places))
    # Something planted tells no class alone: every class has texts with a word of the first kind.
    metal = {
        label
        for text, label in zip(data.texts, data.labels, strict=True)
        if set(text.split()) & set(planted_pairs.WORDS[0])
    }
    assert len(metal) == 2


def test_splits_share_no_text() -> None:
    train, test = (set(planted_pairs.load_words("meeting", split).texts) for split in ("train", "test"))
    assert len(train) > 1000 and not train & test


# --------------------------------------------------------------------------------------------------------- closed form
@pytest.mark.parametrize("task", list(WORD_TASKS))
def test_detectors_of_words_are_right_whole_and_erased(tokenizer, task: str) -> None:
    data = planted_pairs.load_words(task, n=N)
    detector = pair_detector(task, tokenizer)
    inputs, marks = reasons.text_inputs(data, tokenizer)
    perturber = Perturber(detector.model, inputs, erase="mask")
    assert perturber.predicted.tolist() == list(data.labels)
    assert perturber.full.min() > 0.99
    keep = torch.rand(N, 5, marks.shape[1], generator=torch.Generator().manual_seed(0)) > 0.4
    said = perturber.logits(keep).argmax(dim=-1)
    for b, words in enumerate(inputs.features):
        for s in range(5):
            left = [word for word, stays in zip(words, keep[b, s].tolist(), strict=False) if stays]
            assert said[b, s] == told(task, left)[0]


def test_the_detector_of_cells_is_right_whole_and_erased() -> None:
    detector = beside_detector()
    pictures = planted_pairs.load_cells(n=N)
    inputs, marks = reasons.picture_inputs(pictures, detector.model)
    perturber = Perturber(detector.model, inputs)
    assert perturber.predicted.tolist() == list(pictures.labels)
    there = marks.any(dim=1)
    without_one = torch.ones(N, 49, dtype=torch.bool)
    without_one[torch.arange(N), marks.int().argmax(dim=1)] = False
    answers = perturber.logits(torch.stack([without_one, marks], dim=1)).argmax(dim=-1)
    assert (answers[there, 0] == 0).all()  # one of the two is not enough
    assert (answers[there, 1] == 1).all()  # the two alone are


def test_metrics_know_the_reason_of_two_words(tokenizer) -> None:
    data = planted_pairs.load_words("meeting", n=40)
    chosen = [i for i, label in enumerate(data.labels) if label][:8]
    detector = pair_detector("meeting", tokenizer)
    inputs, marks = reasons.text_inputs(data, tokenizer)
    inputs = inputs[chosen]
    truth = marks[chosen].float()[:, : inputs.feature_mask.shape[1]]
    both = {"truth": truth, "opposite": -truth}
    table = evaluate(detector.model, inputs, methods=both, metrics=["nc", "aopc_morf", "soft_nc", "saco"], erase="mask")
    means = table.groupby(["metric", "method"]).value.mean().unstack()
    assert (means.truth > means.opposite).all(), means


def test_gradients_reach_the_words_and_the_cells(tokenizer) -> None:
    detector = pair_detector("negation", tokenizer)
    inputs, marks = reasons.text_inputs(planted_pairs.load_words("negation", n=12), tokenizer)
    scores = attribute("integrated_gradients", detector.model, inputs).abs()
    reason = marks.any(dim=1)
    assert (scores[reason] * marks[reason]).sum() > 0.9 * scores[reason].sum()
    seer = beside_detector()
    pictures, cells = reasons.picture_inputs(planted_pairs.load_cells(n=12), seer.model)
    seen = attribute("integrated_gradients", seer.model, pictures).abs()
    there = cells.any(dim=1)
    assert (seen[there] * cells[there]).sum() > 0.5 * seen[there].sum()
    table = evaluate(seer.model, pictures[[0, 1]], methods=["random"], metrics=["soft_nc", "aopc_morf"])
    assert set(table.metric) == {"soft_nc", "aopc_morf"}
