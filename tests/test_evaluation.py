"""One table for all metrics: equal to the single calls, whatever stands beside, and right about which way is better."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from flat import evaluate
from refusals import refused
from toy_models import Bag, image_inputs, model_and_texts, vision_model

import faithlib
from faithlib.attribution import Row, attribute
from faithlib.bounds import beam_bounds, exact_bounds, naopc
from faithlib.catalogue import FAITHFULNESS, METRICS
from faithlib.errors import InputError
from faithlib.evaluation import (
    ALL_SHARES,
    FAD_SHARES,
    MetricSettings,
    aopc_scores,
    explain,
    hard_scores,
    saco_scores,
    shuffled,
    soft_scores,
)
from faithlib.inputs import TextInputs
from faithlib.masks import top_ratio
from faithlib.metrics import auc, auprc, complexity, n_auc, sparseness, token_f1
from faithlib.perturb import Perturber


@pytest.fixture(scope="module")
def bag():
    model = Bag()
    return model, model.texts((16, 9, 6, 4, 3))


def single_calls(model, single, own, gold):
    """What every metric says of scores [1, n] of one input."""
    alone, n = Perturber(model, single), own.shape[1]
    expected = {"token_f1": token_f1(own, gold, k=3), "auprc": auprc(own, gold)}
    found = aopc_scores(alone, own)
    bounds = exact_bounds(alone) if n <= 8 else beam_bounds(alone, width=3)
    expected |= {name: values.mean() for name, values in hard_scores(alone, own).items()}
    if isinstance(single, TextInputs):
        expected |= {name: values.mean() for name, values in soft_scores(alone, own, draws=4).items()}
    expected |= found | {f"n{name}": naopc(value, bounds.lower, bounds.upper) for name, value in found.items()}
    groups = saco_scores(alone, own, k=min(n, 6))
    expected |= {name: groups[name] for name in ("saco", "auc", "log_odds")}
    stays = {
        shares: (alone.logits(~top_ratio(own, shares)).argmax(dim=-1) == alone.predicted[:, None]).float()
        for shares in (FAD_SHARES, ALL_SHARES)
    }
    expected |= {"n_auc": n_auc(stays[FAD_SHARES]), "autpc": auc(stays[ALL_SHARES])}
    return expected | {"complexity": complexity(own), "sparseness": sparseness(own)}


@pytest.mark.parametrize("kind", ["texts", "images"])
def test_every_value_is_that_of_the_single_call_on_the_input_alone(bag, kind):
    model, inputs = bag if kind == "texts" else (vision_model(), image_inputs())
    scores = torch.randn(inputs.feature_mask.shape, generator=torch.Generator().manual_seed(3))
    gold = torch.zeros_like(inputs.feature_mask)
    gold[0, : 6 if kind == "texts" else 4], gold[1, 2], gold[2, :2] = True, True, True
    size = None if kind == "texts" else 3  # of a rationale: 3 features on average in the texts
    table = evaluate(
        model,
        inputs,
        methods={"mine": scores},
        metrics=list(METRICS),
        settings=MetricSettings(groups=6, gold_size=size),
        gold=gold,
    )
    found = table.pivot(index="input", columns="metric", values="value")
    for b in range(len(inputs)):
        one, n = inputs[[b]], int(inputs.n_features[b])
        for metric, value in single_calls(model, one, scores[b : b + 1, :n], gold[b : b + 1, :n]).items():
            expected = float(value) if n > 1 else float("nan")
            assert found.loc[b, metric] == pytest.approx(expected, abs=1e-5, nan_ok=True), metric
    if kind == "texts":
        assert set(table.metric) == set(METRICS) and table.groupby("metric").size().eq(len(inputs)).all()
        few = [note for note in table.attrs["undefined"] if note["reason"].startswith("fewer features than the 2")]
        assert few[0]["rows"] == [4] and set(few[0]["metrics"]) >= {"nc", "soft_nc", "saco", "naopc_morf"}


def test_the_closed_form_explanation_is_better_than_its_opposite_under_every_metric_of_faithfulness(bag):
    """Also says that no direction is turned round."""
    model, _ = bag
    inputs = model.texts((14, 13, 12, 12, 11, 11, 10, 10))
    predicted = Perturber(model, inputs).predicted
    both = torch.stack([model.exact(inputs, 0), model.exact(inputs, 1)])
    truth = torch.where(predicted[:, None] == 0, both[0] - both[1], both[1] - both[0])
    table = evaluate(
        model,
        inputs,
        methods={"truth": truth, "opposite": -truth},
        metrics=FAITHFULNESS,
        settings=MetricSettings(draws=16),
    )
    means = table.groupby(["metric", "direction", "method"]).value.mean().unstack().reset_index()
    for row in means.itertuples():
        assert (row.truth > row.opposite) == (row.direction == "higher"), row.metric
        assert row.truth != row.opposite, row.metric


def test_methods_by_name_row_and_scores_are_explained_as_attribute_does_and_evaluated_as_explained():
    model, inputs = model_and_texts(lengths=(12, 7, 5))
    own = torch.rand(inputs.feature_mask.shape) * inputs.feature_mask
    methods = {"saliency": "saliency", "l2": Row("saliency", "l2", "logit"), "own": own}
    methods |= {"few": Row("lime", options={"n_samples": 6}), "random": "random"}
    scores = explain(model, inputs, methods)
    l2 = attribute("saliency", model, inputs, output="logit", aggregation="l2")
    for name, expected in {"saliency": attribute("saliency", model, inputs), "l2": l2, "own": own}.items():
        torch.testing.assert_close(scores[name], expected)
    metrics = ["nc", "complexity", "saco"]
    direct = evaluate(model, inputs, methods=methods, metrics=metrics)
    assert list(direct.columns) == ["input", "method", "metric", "value", "direction"]
    assert list(dict.fromkeys(direct.method)) == list(methods)
    pd.testing.assert_frame_equal(evaluate(model, inputs, methods=scores, metrics=metrics), direct, atol=1e-5)
    listed = evaluate(model, inputs, methods=[methods["l2"]], metrics=["sparseness"])
    assert listed.method.unique().tolist() == ["saliency l2 logit predicted sum"]


def test_shuffled_scores_are_the_same_numbers_elsewhere():
    _, inputs = model_and_texts(lengths=(40, 12, 4))
    present = inputs.feature_mask
    scores = torch.rand(present.shape, generator=torch.Generator().manual_seed(0)) * present
    moved = {share: shuffled(scores, inputs, share=share) for share in (0.25, 0.5, 1.0)}
    for b in range(len(inputs)):
        own, other = scores[b][present[b]], moved[1.0][b][present[b]]
        assert sorted(own.tolist()) == sorted(other.tolist())
        torch.testing.assert_close(shuffled(scores[b : b + 1, : len(own)], inputs[[b]])[0], other)
        assert not moved[1.0][b][~present[b]].any()
    places = [int((found != scores)[0].sum()) for found in moved.values()]
    assert all(n <= share * int(present[0].sum()) for share, n in zip(moved, places, strict=True))
    assert places[0] > 1 and places[1] < places[2]
    assert not torch.equal(shuffled(scores, inputs, seed=1), shuffled(scores, inputs))
    refused(InputError, "share 0", shuffled, scores, inputs, share=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"metrics": ["soft_nc", "sofd_ns"]}, "soft_ns"),
        ({"metrics": "soft_nc"}, "expected a list of at least one"),
        ({"methods": []}, "expected at least one"),
        ({"metrics": ["auprc"]}, "give gold"),
        ({"gold": torch.ones(5, 14)}, "expected bool"),
        ({"groups": 0}, "groups 0"),
    ],
)
def test_what_does_not_go_together_is_refused(bag, given, message):
    model, inputs = bag
    refused(InputError, message, evaluate, model, inputs, **{"methods": ["saliency"]} | given)


def test_the_package_offers_it():
    """That the import of the package alone leaves torch aside is in `test_boundaries`."""
    assert faithlib.evaluate is faithlib.evaluation.evaluate
    refused(AttributeError, "evaluat", getattr, faithlib, "evaluat")


def test_soft_metrics_have_the_same_empty_input_whatever_replaces_a_feature():
    model, inputs = model_and_texts(lengths=(9, 7, 5))
    options = {"methods": ["saliency"], "metrics": ["soft_ns", "soft_nc"], "draws": 3}
    zero, *others = (
        evaluate(model, inputs, settings=MetricSettings(erase=erase), **options).value
        for erase in ("zero", "pad", "delete")
    )
    for other in others:
        assert zero.to_numpy() == pytest.approx(other.to_numpy(), abs=1e-5, nan_ok=True)
        assert other.notna().any()
