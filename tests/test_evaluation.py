"""One table for all metrics: equal to the single calls, whatever stands beside, and right about which way is better."""

from __future__ import annotations

import runpy

import pandas as pd
import pytest
import torch
from bag_model import Bag
from refusals import refused
from toy_models import image_inputs, model_and_texts, vision_model

import faithlib
from faithlib import catalogue
from faithlib.attribution import Row, attribute
from faithlib.bounds import beam_bounds, exact_bounds, naopc
from faithlib.catalogue import FAITHFULNESS, FAMILIES, METRICS
from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation import (
    ALL_SHARES,
    FAD_SHARES,
    aopc_scores,
    evaluate,
    explain,
    hard_scores,
    measures,
    saco_scores,
    shuffled,
    soft_scores,
)
from faithlib.inputs import TextInputs
from faithlib.masks import top_ratio
from faithlib.metrics import auc, auprc, complexity, n_auc, sparseness, token_f1
from faithlib.perturb import Perturber


def cell(table: pd.DataFrame, b: int, method: str, metric: str) -> float:
    found = table[(table.input == b) & (table.method == method) & (table.metric == metric)].value
    assert len(found) == 1
    return float(found.iloc[0])


def same(found: float, expected: float) -> None:
    assert found == pytest.approx(expected, abs=1e-5, nan_ok=True)


@pytest.fixture(scope="module")
def bag():
    model = Bag()
    return model, model.texts((16, 9, 6, 4, 3))


def test_every_value_is_that_of_the_single_call_on_the_input_alone(bag):
    model, inputs = bag
    scores = torch.randn(inputs.feature_mask.shape, generator=torch.Generator().manual_seed(3))
    table = evaluate(
        model,
        inputs,
        methods={"mine": scores},
        metrics=[m for m in METRICS if m not in FAMILIES["plausibility"].directions],
        groups=6,
    )
    assert table.groupby("metric").size().eq(len(inputs)).all()
    for b in range(len(inputs)):
        one, n = inputs[[b]], int(inputs.n_features[b])
        own = scores[b : b + 1, :n]
        alone = Perturber(model, one)
        found = aopc_scores(alone, own)
        bounds = exact_bounds(alone) if n <= 8 else beam_bounds(alone, width=3)
        expected = {name: values.mean() for name, values in hard_scores(alone, own).items()}
        expected |= {name: values.mean() for name, values in soft_scores(alone, own, draws=4).items()}
        expected |= found | {f"n{name}": naopc(value, bounds.lower, bounds.upper) for name, value in found.items()}
        groups = saco_scores(alone, own, k=min(n, 6))
        expected |= {name: groups[name] for name in ("saco", "auc", "log_odds")}
        stays = {
            shares: (alone.logits(~top_ratio(own, shares)).argmax(dim=-1) == alone.predicted[:, None]).float()
            for shares in (FAD_SHARES, ALL_SHARES)
        }
        expected |= {"n_auc": n_auc(stays[FAD_SHARES]), "autpc": auc(stays[ALL_SHARES])}
        expected |= {"complexity": complexity(own), "sparseness": sparseness(own)}
        for metric, value in expected.items():
            same(cell(table, b, "mine", metric), float(value) if n > 1 else float("nan"))
    few = [one for one in table.attrs["undefined"] if one["reason"].startswith("fewer features than the 2")]
    assert few[0]["rows"] == [4] and set(few[0]["metrics"]) >= set(expected)


def test_the_closed_form_explanation_is_better_than_its_opposite_under_every_metric_of_faithfulness(bag):
    """Also says that no direction is turned round."""
    model, _ = bag
    inputs = model.texts((14, 13, 12, 12, 11, 11, 10, 10))
    predicted = Perturber(model, inputs).predicted
    both = torch.stack([model.exact(inputs, 0), model.exact(inputs, 1)])
    truth = torch.where(predicted[:, None] == 0, both[0] - both[1], both[1] - both[0])
    table = evaluate(model, inputs, methods={"truth": truth, "opposite": -truth}, metrics=FAITHFULNESS, draws=16)
    means = table.groupby(["metric", "direction", "method"]).value.mean().unstack().reset_index()
    for row in means.itertuples():
        assert (row.truth > row.opposite) == (row.direction == "higher"), row.metric
        assert row.truth != row.opposite, row.metric


def test_methods_share_rows_and_a_second_one_of_the_same_scores_costs_nothing(bag):
    model, inputs = bag
    scores = torch.randn(inputs.feature_mask.shape, generator=torch.Generator().manual_seed(3))
    once = evaluate(model, inputs, methods={"a": scores}).attrs["costs"]
    twice = evaluate(model, inputs, methods={"a": scores, "b": scores.clone()}).attrs["costs"]
    assert twice["rows_run"] == once["rows_run"] < once["rows_asked"] < twice["rows_asked"]


def test_images_get_the_same_table():
    model, inputs = vision_model(), image_inputs()
    table = evaluate(model, inputs, methods=["rollout", "integrated_gradients", "random"], groups=4)
    assert set(table.metric) == {
        m for f in FAMILIES.values() if not f.needs_bounds and not f.needs_gold for m in f.directions
    }
    scores = attribute("rollout", model, inputs)
    perturber = Perturber(model, inputs)
    hard, groups = hard_scores(perturber, scores), saco_scores(perturber, scores, k=4)
    for b in range(len(inputs)):
        same(cell(table, b, "rollout", "nc"), float(hard["nc"][b].mean()))
        same(cell(table, b, "rollout", "saco"), float(groups["saco"][b]))


def marked(inputs: TextInputs) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores, and what is marked: 3 features on average, none in the last two texts."""
    gold = torch.zeros_like(inputs.feature_mask)
    gold[0, :6], gold[1, 2], gold[2, :2] = True, True, True
    return torch.rand(inputs.feature_mask.shape), gold


def test_what_people_marked_is_compared_with(bag):
    model, inputs = bag
    scores, gold = marked(inputs)
    table = evaluate(model, inputs, methods={"mine": scores}, metrics=["token_f1", "auprc"], gold=gold)
    f1 = token_f1(scores, gold, inputs.feature_mask, k=3)
    area = auprc(scores, gold, inputs.feature_mask)
    for b in range(len(inputs)):
        same(cell(table, b, "mine", "token_f1"), float(f1[b]))
        same(cell(table, b, "mine", "auprc"), float(area[b]))
    assert table[table.input >= 3].value.isna().all()


def test_parts_of_the_inputs_give_the_values_of_the_whole_where_the_size_of_a_rationale_is_given(bag):
    model, inputs = bag
    scores, gold = marked(inputs)
    metrics = ["token_f1", "iou_f1", "soft_nc", "naopc_morf"]
    whole = evaluate(model, inputs, methods={"mine": scores}, metrics=metrics, gold=gold)
    for rows in ([0, 3], [1, 2, 4]):
        width = inputs[rows].feature_mask.shape[1]
        given = {"methods": {"mine": scores[rows, :width]}, "gold": gold[rows, :width], "gold_size": 3}
        part = evaluate(model, inputs[rows], metrics=metrics, **given)
        part["input"] = [rows[b] for b in part.input]
        for row in part.itertuples():
            same(row.value, cell(whole, row.input, "mine", row.metric))


def test_methods_by_name_row_and_scores_are_explained_as_attribute_does_and_evaluated_as_explained():
    model, inputs = model_and_texts(lengths=(12, 7, 5))
    own = torch.rand(inputs.feature_mask.shape) * inputs.feature_mask
    methods = {"saliency": "saliency", "l2": Row("saliency", "l2", "logit"), "own": own}
    methods |= {"few": Row("lime", options={"n_samples": 6}), "random": "random"}
    scores = explain(model, inputs, methods)
    assert list(scores) == list(methods)
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
    refused(UnknownNameError, "saliency", explain, model, inputs, ["salience"])


def test_shuffled_scores_are_the_same_numbers_elsewhere():
    _, inputs = model_and_texts(lengths=(40, 12, 4))
    present = inputs.feature_mask
    scores = torch.rand(present.shape, generator=torch.Generator().manual_seed(0)) * present
    moved = {share: (shuffled(scores, inputs, share=share) != scores) for share in (0.25, 0.5, 1.0)}
    for b in range(len(inputs)):
        own, other = scores[b][present[b]], shuffled(scores, inputs)[b][present[b]]
        assert sorted(own.tolist()) == sorted(other.tolist())
        alone = inputs[[b]]
        torch.testing.assert_close(shuffled(scores[b : b + 1, : len(own)], alone)[0], other)
        assert not moved[1.0][b][~present[b]].any()
    assert [int(found[0].sum()) <= share * int(present[0].sum()) for share, found in moved.items()] == [True] * 3
    assert int(moved[0.25][0].sum()) > 1 and int(moved[1.0][0].sum()) > int(moved[0.5][0].sum())
    assert not torch.equal(shuffled(scores, inputs, seed=1), shuffled(scores, inputs))
    refused(InputError, "share 0", shuffled, scores, inputs, share=0)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"metrics": ["soft_nc", "sofd_ns"]}, UnknownNameError, "soft_ns"),
        ({"metrics": "soft_nc"}, InputError, "expected at least one"),
        ({"methods": []}, InputError, "expected at least one"),
        ({"methods": ["salience"]}, UnknownNameError, "saliency"),
        ({"methods": ["grad_cam"]}, UnknownNameError, "explains images"),
        ({"methods": {"mine": torch.ones(5, 3)}}, InputError, r"scores of 'mine' have shape \(5, 3\)"),
        ({"methods": {"mine": torch.full((5, 14), torch.nan)}}, InputError, "finite"),
        ({"metrics": ["auprc"]}, InputError, "give gold"),
        ({"gold": torch.ones(5, 14)}, InputError, "expected bool"),
        ({"groups": 0}, InputError, "groups 0"),
        ({"gold_size": 0}, InputError, "gold_size 0"),
        ({"erase": "blur"}, UnknownNameError, "delete"),
    ],
)
def test_what_does_not_go_together_is_refused(bag, given, error, message):
    model, inputs = bag
    refused(error, message, evaluate, model, inputs, **{"methods": ["saliency"]} | given)


def test_the_package_offers_it():
    """That the import of the package alone leaves torch aside is in `test_boundaries`."""
    assert faithlib.evaluate is evaluate
    with pytest.raises(AttributeError, match="evaluat"):
        _ = faithlib.evaluat


def test_soft_metrics_have_the_same_empty_input_whatever_replaces_a_feature():
    model, inputs = model_and_texts(lengths=(9, 7, 5))
    soft = ["soft_ns", "soft_nc"]
    tables = [
        evaluate(model, inputs, methods=["saliency"], metrics=soft, erase=erase, draws=3)
        for erase in ("zero", "pad", "delete")
    ]
    for other in tables[1:]:
        assert tables[0].value.to_numpy() == pytest.approx(other.value.to_numpy(), abs=1e-5, nan_ok=True)
        assert other.value.notna().any()


def test_a_family_that_nothing_computes_is_refused_at_import(monkeypatch):
    newest = {**FAMILIES, "newest": catalogue.Family({"new": "higher"})}
    monkeypatch.setattr(catalogue, "FAMILIES", newest)
    refused(ImportError, "in the catalogue or computed, but not both: newest", runpy.run_path, measures.__file__)
