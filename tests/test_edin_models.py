"""What the computation of bounds of our own classifiers measures, on a tiny model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from toy_models import text_model, tokenizer

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.studies.naopc.edin_models import (
    Attacked,
    Block,
    bounds_of_long,
    bounds_of_short,
    scores_of_explanations,
    texts_of_length,
)
from faithlib.attribution import attribute
from faithlib.metrics import aopc
from faithlib.perturb import Perturber

TEXTS = ("a fine film", "not bad at all", "who is it , a fine film", "fun", "all fun , not a bad film at all")
ABOUT = {"dataset": "toy", "classifier": "bert"}


@pytest.fixture(scope="module")
def data() -> Dataset:
    ids = tuple(f"t{i}" for i in range(len(TEXTS)))
    return Dataset("movie", "test", TEXTS, (0, 1, 2, 0, 1), ids, ("a", "b", "c"), 32)


@pytest.fixture(scope="module")
def block(data: Dataset) -> Block:
    chosen = texts_of_length(data, tokenizer(), low=3, high=4, n=2)
    return Block(text_model(), tokenizer(), chosen, ABOUT)


def test_whole_texts_come_before_those_that_are_cut(data: Dataset) -> None:
    found = texts_of_length(data, tokenizer(), low=3, high=4, n=4)
    assert found["input"].tolist() == ["t0", "t1", "t2", "t4"]
    assert found["text"].tolist() == ["a fine film", "not bad at all", "who is it ,", "all fun , not"]
    assert texts_of_length(data, tokenizer(), low=3, high=4, n=2)["text"].tolist() == list(TEXTS[:2])
    assert texts_of_length(data, tokenizer(), low=30, high=40, n=2).empty


def test_beams_of_short_texts_lie_inside_the_exact_bounds(block: Block) -> None:
    exact, ends = bounds_of_short(block, longest=4, widths=[1, 9])
    assert len(ends) == 2 * (1 + 2 * 2)
    for search in ends.to_dict("records"):
        b = ["t0", "t1"].index(search["input"])
        assert search["lower"] >= float(exact.lower[b]) - 1e-6
        assert search["upper"] <= float(exact.upper[b]) + 1e-6
    widest = ends.query("width == 9 and search == 'merged'")
    assert widest["lower"].to_numpy() == pytest.approx(exact.lower.numpy(), abs=1e-6)
    assert widest["upper"].to_numpy() == pytest.approx(exact.upper.numpy(), abs=1e-6)


def test_scores_are_means_of_drops_and_lie_between_the_bounds(block: Block) -> None:
    attributions = {"occlusion": attribute("occlusion", block.network, block.inputs, output="probability")}
    exact, _ = bounds_of_short(block, longest=4, widths=[1])
    scores, sums = scores_of_explanations(block, attributions, exact, "short")
    morf = scores.query("metric == 'aopc_morf'")
    for b, size in enumerate(block.inputs.n_features.tolist()):
        order = attributions["occlusion"][b, :size].argsort(descending=True, stable=True).tolist()
        keep = torch.ones(1, size, block.inputs.feature_mask.shape[1], dtype=torch.bool)
        for k in range(size):
            keep[0, k, order[: k + 1]] = False
        alone = Perturber(block.network, block.inputs[[b]], erase="mask")
        path = alone.keep(keep[:, :, : alone.feature_mask.shape[1]])
        assert morf["aopc"].iloc[b] == pytest.approx(float(aopc(alone.full, path)[0]), abs=1e-5)
    assert scores["naopc"].between(0, 1).all()
    assert not scores["outside"].any()
    assert sums["ascending"].to_numpy() == pytest.approx(scores.query("metric == 'aopc_lerf'")["aopc"].to_numpy())


def test_limits_that_a_beam_missed_are_widened_by_what_methods_reach(block: Block) -> None:
    attributions = {"occlusion": attribute("occlusion", block.network, block.inputs, output="probability")}
    limits, _ = bounds_of_long(block, {"width": 1, "variant": "merged"})
    middle, span = (limits.lower + limits.upper) / 2, limits.upper - limits.lower
    narrow = replace(limits, lower=middle - span / 10, upper=middle + span / 10)
    scores, _ = scores_of_explanations(block, attributions, narrow, "long")
    assert scores["outside"].any()
    assert scores["naopc"].dropna().between(0, 1).all()


def test_a_stronger_attack_leaves_no_more_texts_right(data: Dataset) -> None:
    network = text_model()
    whole = Block(network, tokenizer(), pd.DataFrame({"input": data.ids, "text": TEXTS, "label": data.labels}), ABOUT)
    predicted = tuple(whole.score.predicted.tolist())
    named = Dataset("movie", "test", TEXTS, predicted, data.ids, data.label_names, 32)
    attack = Attacked(Classifier(network, tokenizer(), data.label_names, "toy"), named, steps=3, batch=2)
    right = [attack.right(slice(0, len(named)), share) for share in (0, 0.5, 5)]
    assert right[0].all()
    assert not right[2].all()
    assert np.all(right[2] <= right[0])
    again = Attacked(Classifier(network, tokenizer(), data.label_names, "toy"), named, steps=3, batch=5)
    assert again.unit == pytest.approx(attack.unit)
