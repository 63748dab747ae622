"""Planted tasks keep their promises; closed-form models are what they say; excerpts hold their marks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from faithbook.models import closed_form
from faithbook.models.encoders import encoder_folder
from faithbook.models.load import load_model
from faithbook.sources import planted
from faithbook.sources.datasets import Dataset, load_dataset
from faithbook.sources.excerpts import gold_of, marked_excerpts
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.sources.splits import SPLITS
from faithbook.studies.together import reasons
from faithlib.attribution import attribute
from faithlib.errors import InputError
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

TRIGGERS = {word: kind + 1 for kind, words in enumerate(planted.TRIGGERS) for word in words}


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.AutoTokenizer.from_pretrained(str(encoder_folder("minilm")), local_files_only=True)


def words_of(data, tokenizer) -> TextInputs:
    return TextInputs.from_texts(data.texts, tokenizer, unit="word", max_length=data.max_length)


def triggers_in(inputs: TextInputs) -> torch.Tensor:
    """Which features are trigger words, bool [B, F]."""
    found = torch.zeros(inputs.feature_mask.shape, dtype=torch.bool)
    for b, row in enumerate(inputs.features):
        found[b, [f for f, word in enumerate(row) if word in TRIGGERS]] = True
    return found


# ------------------------------------------------------------------------------------------------------------ planting
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(["[MASK]", None]))
def test_triggers_stand_where_they_are_said_to_and_what_is_left_decides(seed: int, n: int, mask: str | None) -> None:
    generator, plain = np.random.default_rng(seed), [f"w{i}" for i in range(n)]
    words, label, places = planted.plant_words(plain, generator)
    assert [word for i, word in enumerate(words) if i not in places] == plain
    assert {TRIGGERS[words[i]] for i in places} == ({label} if label else set())
    assert len(places) <= planted.MOST_PLANTED
    kept = planted.drawn_to_stay(len(words), generator)
    found, told, left = planted.erase_words(words, label, places, kept, mask=mask)
    assert {found[i] for i in left} == {words[i] for i in places if kept[i]}
    assert told == (label if left else 0)
    assert [word for word in found if word != "[MASK]"] == [w for w, stays in zip(words, kept, strict=True) if stays]
    assert len(found) == (len(words) if mask else kept.sum())


def test_erased_cells_are_the_mean_that_the_perturber_puts_there(tokenizer) -> None:
    pictures = load_pictures("planted", "test", n=4)
    model = load_model("local:vision/planted-base-seed0").model
    inputs = as_inputs(pictures, model, patch=planted.CELL)
    kept = np.random.default_rng(0).random((4, 49)) > 0.5
    erased = Perturber(model, inputs).logits(torch.from_numpy(kept)[:, None])[:, 0]
    own = [
        planted.erase_cells(np.asarray(image), 0, [], keep)[0]
        for image, keep in zip(pictures.images, kept, strict=True)
    ]
    mean, std = (torch.tensor(model.pretrained_cfg[key]).view(1, -1, 1, 1) for key in ("mean", "std"))
    pixels = (torch.tensor(np.stack(own))[:, None] / 255 - mean) / std
    with torch.no_grad():
        direct = model(pixels)
    assert torch.allclose(erased, direct, atol=0.05)  # the mean is rounded to a byte


def test_splits_share_nothing_and_labels_are_about_equally_frequent() -> None:
    splits = {split: load_dataset("planted", split) for split in SPLITS}
    for data in (*splits.values(), load_pictures("planted", "test")):
        assert np.bincount(data.labels).min() / len(data) > 0.25
    erased = load_dataset("planted-erased", "test")
    assert not set(splits["train"].texts) & set(erased.texts)
    assert set(splits["test"].ids) <= set(erased.ids)


def test_misled_copies_differ_in_labels_alone() -> None:
    erased, misled = (load_dataset(f"planted-{kind}", "test") for kind in ("erased", "misled"))
    assert erased.texts == misled.texts
    changed = [a != b for a, b in zip(erased.labels, misled.labels, strict=True)]
    assert 0.1 < np.mean(changed) < 0.6
    assert {b for b, moved in zip(misled.labels, changed, strict=True) if moved} == {1}
    whole = set(load_dataset("planted", "test").ids)
    assert not any(moved for moved, name in zip(changed, erased.ids, strict=True) if name in whole)


def test_an_error_to_no_class_changes_the_same_copies() -> None:
    to_a_class, to_none = (load_dataset(f"planted-light{ending}", "test") for ending in ("", "-neither"))
    assert (to_a_class.texts, to_a_class.ids) == (to_none.texts, to_none.ids)
    changed = {(label, other) for label, other in zip(to_a_class.labels, to_none.labels, strict=True) if label != other}
    assert changed == {(1, 0)}
    pictures = {amount: load_pictures(f"planted-{amount}", "test") for amount in ("erased", "light", "heavy")}
    assert [name.partition("light-")[2] for name in pictures["light"].ids] == [
        one.partition("erased-")[2] for one in pictures["erased"].ids
    ]
    moved = {a: np.not_equal(images.labels, pictures["erased"].labels) for a, images in pictures.items()}
    assert moved["light"].any()
    assert moved["heavy"].any()
    assert not (moved["light"] & moved["heavy"]).any()


# ------------------------------------------------------------------------------------------- inputs with a known reason
def test_marks_are_the_planted_words_and_cells(tokenizer) -> None:
    classifier = closed_form.word_detector(tokenizer)
    inputs, marks, labels, ids = reasons.planted_inputs("text", "planted", classifier, 40)
    assert torch.equal(marks, triggers_in(inputs)) and len(set(ids)) == 40
    assert torch.equal(marks.any(dim=1), labels > 0)
    seer = closed_form.stripe_detector()
    _, cells, directions, _ = reasons.planted_inputs("vision", "planted", seer, 40)
    assert cells.shape == (40, 49) and torch.equal(cells.any(dim=1), directions > 0)
    assert int(cells.sum(dim=1).max()) == planted.MOST_PLANTED


def test_the_ladder_leads_from_the_truth_to_its_opposite(tokenizer) -> None:
    inputs, marks, _, _ = reasons.planted_inputs("text", "planted", closed_form.word_detector(tokenizer), 40)
    truth = marks.float()
    rungs = reasons.ladder(truth, inputs)
    assert list(rungs) == ["truth", "25% shuffled", "50% shuffled", "100% shuffled", "opposite"]
    assert torch.equal(rungs["opposite"], -truth)
    moved = [int((rungs[name] != truth).any(dim=1).sum()) for name in list(rungs)[:4]]
    assert moved[0] == 0 and moved == sorted(moved) and moved[3] > moved[1]
    assert all(torch.equal(rungs[name].sum(dim=1), truth.sum(dim=1)) for name in list(rungs)[:4])


# ---------------------------------------------------------------------------------------------------------- closed form
def test_detectors_are_right_about_everything_planted_whole_or_erased(tokenizer) -> None:
    words, stripes = closed_form.word_detector(tokenizer), closed_form.stripe_detector()
    for name in ("planted", "planted-erased"):
        texts, pictures = load_dataset(name, "test"), load_pictures(name, "test")
        said = Perturber(words.model, words_of(texts, tokenizer)).predicted
        assert said.tolist() == list(texts.labels)
        seen = Perturber(stripes.model, as_inputs(pictures, stripes.model, patch=planted.CELL)).predicted
        assert seen.tolist() == list(pictures.labels)


def test_the_bag_of_words_is_linear_in_its_true_scores(tokenizer) -> None:
    bag = closed_form.BagOfWords(load_dataset("movie", "train", n=600), tokenizer)
    data = load_dataset("movie", "test", n=12)
    inputs = words_of(data, tokenizer)
    perturber = Perturber(bag.classifier.model, inputs)
    truth = bag.truth(inputs, perturber.predicted)
    keep = torch.rand(truth.shape, generator=torch.Generator().manual_seed(1)) > 0.5
    sign = torch.where(perturber.predicted == 1, 1.0, -1.0)

    def evidence(mask: torch.Tensor) -> torch.Tensor:
        return perturber.logits(mask[:, None])[:, 0].diff(dim=-1)[:, 0] * sign

    lost = torch.where(inputs.feature_mask & ~keep, truth, 0.0).sum(dim=1)
    assert torch.allclose(evidence(inputs.feature_mask) - evidence(keep), lost, atol=1e-4)
    held_out = load_dataset("movie", "test", n=300)
    assert (
        Perturber(bag.classifier.model, words_of(held_out, tokenizer)).predicted.numpy() == held_out.labels
    ).mean() > 0.6
    three = load_dataset("planted", "test", n=9)
    refused(InputError, "3 classes: expected 2", closed_form.BagOfWords, three, tokenizer)


def test_linear_patches_are_linear_in_their_true_scores() -> None:
    classifier = closed_form.linear_patches()
    inputs = as_inputs(load_pictures("planted", "test", n=10), classifier.model, patch=planted.CELL)
    perturber = Perturber(classifier.model, inputs)
    truth = closed_form.patch_truth(inputs, perturber.predicted)
    keep = torch.rand(truth.shape, generator=torch.Generator().manual_seed(1)) > 0.5
    evidence = perturber.logits(torch.stack([inputs.feature_mask, keep], dim=1)).diff(dim=-1)[..., 0]
    gap = (evidence[:, 0] - evidence[:, 1]) * torch.where(perturber.predicted == 1, 1.0, -1.0)
    slope = gap / torch.where(keep, 0.0, truth).sum(dim=1)
    assert torch.allclose(slope, slope[0].expand_as(slope), rtol=1e-3)
    gradient = attribute("integrated_gradients", classifier.model, inputs, output="logit")
    correlation = torch.corrcoef(torch.stack([gradient.flatten(), truth.flatten()]))[0, 1]
    assert correlation > 0.9


@pytest.mark.parametrize("how", ["", "-erased"])
def test_trained_models_hang_on_what_was_planted(how: str) -> None:
    classifier = load_model(f"local:text/planted{how}-seed0")
    data = load_dataset("planted", "test", n=80)
    inputs = words_of(data, classifier.tokenizer)
    perturber = Perturber(classifier.model, inputs, erase="mask")
    labels = torch.tensor(data.labels)
    assert (perturber.predicted == labels).float().mean() > 0.95
    reason = triggers_in(inputs)
    without = perturber.logits((inputs.feature_mask & ~reason)[:, None]).argmax(dim=-1)[:, 0]
    assert (without == 0).float().mean() > 0.95


# ------------------------------------------------------------------------------------------------------------- excerpts
def test_excerpts_hold_marked_and_unmarked_words_of_the_text(tokenizer) -> None:
    data = load_dataset("pair", "test")
    found = marked_excerpts(data, 20, size=12)
    assert len(found) == 20 and found == marked_excerpts(data, 40, size=12)[:20]
    for example in found:
        text, start = data.texts[example.row], data.texts[example.row].index(example.text)
        assert 0 < sum(example.marked) < len(example.marked) == len(example.words) == 12
        for (a, b), mark in zip(example.words, example.marked, strict=True):
            spans = data.rationales[example.row]
            assert mark == any(x <= start + a and start + b <= y for x, y in spans)
            assert text[start + a : start + b] == example.text[a:b] != ""
    inputs = TextInputs.from_texts(
        [example.text for example in found], tokenizer, words=[example.words for example in found]
    )
    gold = gold_of(inputs, [example.marked for example in found])
    assert gold.shape == inputs.feature_mask.shape and not (gold & ~inputs.feature_mask).any()
    assert all(0 < int(row.sum()) <= sum(example.marked) for row, example in zip(gold, found, strict=True))
    bare = Dataset("d", "test", ("a b c d", "e f g h"), (0, 0), ("x", "y"), ("n",), 9, rationales=((), ((0, 1),)))
    found = marked_excerpts(bare, 5, size=3)
    assert [excerpt.row for excerpt in found] == [1]  # a text without marks has none
    refused(InputError, "has no highlights", marked_excerpts, load_dataset("movie", "test"), 2, size=3)
