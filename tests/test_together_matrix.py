"""What the computation of every metric on every attribution measures, on tiny models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toy_models import text_model, tokenizer, vit

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.sources.images import Pictures
from faithbook.studies.together import matrix
from faithlib.evaluation import MetricSettings, evaluate, explain, shuffled, soft_scores
from faithlib.masks import normalise
from faithlib.perturb import Perturber

CLASSES = ("a", "b", "c")
TEXTS = ("a fine film , not bad at all", "not bad at all . who is it", "fine film")
METHODS = ("input_x_gradient", "occlusion", "random")


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return Classifier(text_model(), tokenizer(), CLASSES, "toy")


def data(texts: tuple[str, ...], labels: tuple[int, ...], **more: object) -> Dataset:
    return Dataset("toy", "test", texts, labels, tuple(f"t{i}" for i in range(len(texts))), CLASSES, 32, **more)


@pytest.fixture(scope="module")
def sample() -> matrix.Sample:
    return matrix.beginnings(data(TEXTS, (0, 1, 2)), tokenizer(), words=5)


# --- inputs ----------------------------------------------------------------------------------------------------------


def test_a_beginning_has_so_many_words_and_a_shorter_text_all_of_its(sample: matrix.Sample) -> None:
    assert matrix.beginning("a fine film", 9) == ("a fine film", ((0, 1), (2, 6), (7, 11)))
    assert [" ".join(words) for words in sample.inputs.features] == [
        "a fine film , not",
        "not bad at all .",
        "fine film",
    ]
    assert sample.gold is None and sample.ids == ("t0", "t1", "t2")


def test_some_inputs_are_as_wide_as_the_longest_of_them(sample: matrix.Sample) -> None:
    gold = torch.eye(3, 5, dtype=torch.bool)
    last = matrix.Sample(sample.inputs, gold, sample.ids)[2:3]
    assert last.inputs.feature_mask.shape == (1, 2) and last.ids == ("t2",)
    assert last.gold is not None and last.gold.tolist() == [[False, False]]
    assert len(last) == 1


def test_excerpts_are_those_that_the_model_classifies_as_it_should(classifier: Classifier) -> None:
    texts = tuple(f"{word} film , not bad at all" for word in ("fine", "a", "it", "who"))
    marks = tuple(((0, len(text.split()[0])),) for text in texts)
    excerpt = matrix.beginnings(data(texts, (0,) * 4), tokenizer(), words=4)
    said = Perturber(classifier.model, excerpt.inputs).predicted.tolist()
    read = {"words": 4, "names": None, "device": "cpu"}

    right = matrix.excerpts(data(texts, tuple(said), rationales=marks), classifier, n=4, **read)
    assert sorted(right.ids) == ["t0", "t1", "t2", "t3"]
    assert right.gold is not None and right.gold.sum(dim=1).tolist() == [1] * 4
    assert matrix.excerpts(data(texts, tuple(said), rationales=marks), classifier, n=2, **read).ids == right.ids[:2]

    said[0] = (said[0] + 1) % 3
    fewer = matrix.excerpts(data(texts, tuple(said), rationales=marks), classifier, n=4, **read)
    assert sorted(fewer.ids) == ["t1", "t2", "t3"]


def test_pictures_with_objects_are_those_that_the_model_classifies_as_it_should() -> None:
    model = vit()
    model.pretrained_cfg = {"input_size": (3, 8, 8), "crop_pct": 1.0}
    noise = tuple(np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), dtype=np.uint8))
    ids = ("p0", "p1", "p2", "p3")
    bare = matrix.pictures(Pictures("p", "test", noise, (0,) * 4, ids, CLASSES), model, n=2, device="cpu")
    assert bare.ids == ids and bare.gold is None
    labels = Perturber(model, bare.inputs).predicted.tolist()
    labels[1] = (labels[1] + 1) % 3
    cells = ((0,), (1,), (2, 3), (3,))
    marked = Pictures("p", "test", noise, tuple(labels), ids, CLASSES, cells=cells)
    right = matrix.pictures(marked, model, n=2, device="cpu")
    assert right.ids == ("p0", "p2") and right.gold is not None
    assert right.gold.tolist() == [[True, False, False, False], [False, False, True, True]]


def test_blocks_hold_every_place_once() -> None:
    assert [list(range(8))[rows] for rows in matrix.blocks(2, 8, 4)] == [[2, 3, 4, 5], [6, 7]]
    assert list(matrix.blocks(5, 3, 4)) == []


# --- values ----------------------------------------------------------------------------------------------------------


def test_metrics_that_need_marks_are_left_out_without_them() -> None:
    assert {"token_f1", "auprc"} <= set(matrix.metrics_of(gold=True)) - set(matrix.metrics_of(gold=False))
    assert {"saco", "soft_nc", "naopc_morf"} <= set(matrix.metrics_of(gold=False))


@pytest.mark.parametrize("modality", ["text", "vision"])
def test_methods_are_explained_as_they_are_named(modality: str) -> None:
    methods = matrix.methods_of(modality, ig_steps=3, lime_samples=7, permutations=2)
    for name, method in methods.items():
        assert name == (method if isinstance(method, str) else method.method)
    assert methods["integrated_gradients"].options == {"n_steps": 3}


def test_every_metric_is_what_evaluate_says_by_id(classifier: Classifier, sample: matrix.Sample) -> None:
    settings = MetricSettings(draws=2)
    methods = {name: name for name in METHODS}
    table, spent = matrix.every_metric(classifier.model, sample[1:3], methods, ["aopc_morf", "soft_nc"], settings)
    alone = evaluate(
        classifier.model, sample.inputs[1:3], methods=methods, metrics=["aopc_morf", "soft_nc"], settings=settings
    )
    assert table["input"].tolist() == ["t1" if place == 0 else "t2" for place in alone["input"]]
    assert table["value"].to_numpy() == pytest.approx(alone["value"].to_numpy(), nan_ok=True)
    assert spent["rows_run"] > 0 and spent["seconds_all"] > 0 and not table.attrs


def test_as_many_features_are_chosen_as_people_marked() -> None:
    gold = torch.tensor([[True, True, False], [True, True, True], [True, False, False]])
    assert matrix.with_marks(MetricSettings(), gold).gold_size == 2
    assert matrix.with_marks(MetricSettings(), None) == MetricSettings()


def test_controls_are_soft_scores_of_shuffled_scores_and_of_ranks(
    classifier: Classifier, sample: matrix.Sample
) -> None:
    methods = {name: name for name in METHODS}
    table, spent = matrix.soft_controls(classifier.model, sample, methods, draws=2)
    assert len(table) == 3 * len(METHODS) * 2 * 2 and spent["rows_run"] > 0
    perturber = Perturber(classifier.model, sample.inputs)
    by_cell = dict(list(table.groupby(["method", "control", "metric"])))
    mask = sample.inputs.feature_mask
    for method, scores in explain(classifier.model, sample.inputs, methods).items():
        expected = {
            "shuffled": soft_scores(perturber, shuffled(scores, sample.inputs), draws=2),
            "ranks": soft_scores(perturber, scores, normaliser="rank", draws=2),
        }
        density = [
            float(row[:size].mean()) for row, size in zip(normalise(scores, "minmax", mask), mask.sum(1), strict=True)
        ]
        for control, values in expected.items():
            for metric, of_metric in values.items():
                found = by_cell[method, control, metric]
                assert found["value"].to_numpy() == pytest.approx(of_metric.mean(dim=1).numpy(), abs=1e-5)
                assert found["density"].to_numpy() == pytest.approx(density, abs=1e-6)
