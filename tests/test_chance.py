"""AOPC measured from chance: 0 for a random order in every model, exactly where all sets are known."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from flat import evaluate
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from test_bounds import aopc_of, table
from toy_models import Bag, model_and_texts

from faithbook.studies.naopc import edin
from faithbook.studies.naopc.edin_released import MODELS
from faithlib.bounds import Bounds, beam_bounds, exact_bounds, random_order_aopc
from faithlib.catalogue import ON_REQUEST
from faithlib.errors import InputError
from faithlib.evaluation import MetricSettings, aopc_scores, saco_of_groups
from faithlib.metrics import chance_adjusted, chance_adjusted_srg, nsrg, srg
from faithlib.perturb import Perturber, SetFunction


def of_all_orders(score: SetFunction) -> tuple[torch.Tensor, torch.Tensor]:
    """AOPC of every order and of its reverse, [N!] each."""
    orders = [list(order) for order in permutations(range(score.n_features))]
    morf = torch.tensor([aopc_of(score, order) for order in orders], dtype=torch.float64)
    lerf = torch.tensor([aopc_of(score, order[::-1]) for order in orders], dtype=torch.float64)
    return morf, lerf


def every_score(morf: torch.Tensor, lerf: torch.Tensor, bounds: Bounds) -> dict[str, torch.Tensor]:
    ends = {"lower": bounds.lower, "upper": bounds.upper}
    return {
        "srg": srg(morf, lerf),
        "nsrg": nsrg(morf, lerf, **ends),
        "morf": chance_adjusted(morf, bounds.random, best=bounds.upper),
        "lerf": chance_adjusted(lerf, bounds.random, best=bounds.lower),
        "adjusted srg": chance_adjusted_srg(morf, lerf, random=bounds.random, **ends),
    }


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 5), seed=st.integers(0, 10**6))
def test_the_mean_over_all_orders_is_zero_and_the_best_order_gets_one(n: int, seed: int) -> None:
    score = table(n, seed)
    bounds = exact_bounds(score)
    morf, lerf = of_all_orders(score)
    assert bounds.random.item() == pytest.approx(morf.mean().item(), abs=1e-12)
    scores = every_score(morf, lerf, bounds)
    for name, values in scores.items():
        assert values.mean().item() == pytest.approx(0, abs=1e-9), name
        assert values.max().item() <= 1 + 1e-9, name
    assert scores["morf"].max().item() == scores["lerf"].max().item() == pytest.approx(1, abs=1e-9)
    assert scores["morf"].min().item() < 0, "worse than chance is negative"
    reverse = every_score(lerf, morf, bounds)
    for name in ("srg", "nsrg"):
        torch.testing.assert_close(reverse[name], -scores[name])
    halfway = (morf - bounds.lower) / (bounds.upper - bounds.lower) - (lerf - bounds.lower) / (
        bounds.upper - bounds.lower
    )
    torch.testing.assert_close(scores["nsrg"], halfway)


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6), scale=st.floats(0.1, 10), shift=st.floats(-5, 5))
def test_the_unit_and_the_zero_of_the_output_change_nothing(n: int, seed: int, scale: float, shift: float) -> None:
    one, other = table(n, seed), table(n, seed)
    other.fn = lambda keep: scale * one.fn(keep) + shift
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    found = []
    for score in (one, other):
        morf, lerf = (torch.tensor([aopc_of(score, list(path))]) for path in (order, reversed(order)))
        found.append(every_score(morf.double(), lerf.double(), exact_bounds(score)))
    assert found[1]["srg"].item() == pytest.approx(scale * found[0]["srg"].item(), abs=1e-5)
    for name in ("nsrg", "morf", "lerf", "adjusted srg"):
        assert found[1][name].item() == pytest.approx(found[0][name].item(), abs=1e-4), name


def test_srg_is_the_area_between_the_two_perturbation_curves() -> None:
    score = table(6, 3)
    paths = {}
    for name, order in (("morf", range(6)), ("lerf", range(5, -1, -1))):
        keep = torch.ones(6, dtype=torch.bool)
        curve = [float(score.full)]
        for feature in order:
            keep[feature] = False
            curve.append(float(score.keep(keep[None, None])[0, 0]))
        paths[name] = torch.tensor(curve, dtype=torch.float64)
    area = torch.trapezoid(paths["lerf"] - paths["morf"], dx=1 / 6).item()  # both ends of the curves are the same
    values = [torch.tensor([aopc_of(score, list(order))]) for order in (range(6), range(5, -1, -1))]
    assert srg(*values).item() == pytest.approx(area, abs=1e-6)


@pytest.mark.parametrize(
    "score",
    [
        table(1, 0),
        SetFunction(lambda keep: torch.full((len(keep),), 0.3, dtype=torch.float64), 4),
        SetFunction(lambda keep: keep.double().mean(dim=1), 7),
    ],
)
def test_there_is_no_value_where_no_order_is_better_than_chance(score: SetFunction) -> None:
    bounds = exact_bounds(score)
    value = torch.tensor([aopc_of(score, list(range(score.n_features)))], dtype=torch.float64)
    for name, found in every_score(value, value, bounds).items():
        assert name == "srg" or bool(found.isnan().all()), name


def test_what_is_better_than_a_beams_best_order_is_clipped() -> None:
    better, random, best = torch.tensor([0.9, 0.1]), torch.tensor([0.4]), torch.tensor([0.8])
    torch.testing.assert_close(chance_adjusted(better, random, best), torch.tensor([1.0, -0.75]).double())


# ------------------------------------------------------------------------------------------------------ random orders
def test_random_orders_estimate_the_mean_and_say_how_well() -> None:
    errors = []
    for seed in range(40):
        score = table(7, seed)
        found = random_order_aopc(score, pairs=12, seed=seed)
        exact = exact_bounds(table(7, seed))
        assert exact.lower.item() - 1e-12 <= found.smallest.item() <= found.mean.item()
        assert found.mean.item() <= found.largest.item() <= exact.upper.item() + 1e-12
        errors.append((found.mean - exact.random).item() / found.standard_error.item())
    scaled = torch.tensor(errors)
    assert abs(scaled.mean().item()) < 0.5  # 40 of them: three standard errors
    assert 0.6 < scaled.std().item() < 1.6


def test_an_order_with_its_reverse_is_exact_where_features_add_up() -> None:
    weights = torch.tensor([0.5, -0.2, 0.1, 0.9, 0.0], dtype=torch.float64)
    score = SetFunction(lambda keep: keep.double() @ weights, 5)
    found = random_order_aopc(score, pairs=2)
    assert found.mean.item() == pytest.approx(exact_bounds(score).random.item(), abs=1e-12)
    assert found.standard_error.item() == pytest.approx(0, abs=1e-12)
    refused(InputError, "pairs 1: expected at least 2", random_order_aopc, score, pairs=1)
    refused(InputError, "pairs 0", random_order_aopc, score, pairs=0)


def test_the_mean_of_an_input_does_not_depend_on_what_stands_beside_it() -> None:
    model, inputs = model_and_texts(lengths=(8, 5, 3))
    together, bounds = random_order_aopc(Perturber(model, inputs)), exact_bounds(Perturber(model, inputs))
    for b in range(len(inputs)):
        alone = Perturber(model, inputs[[b]])
        assert together.mean[b].item() == pytest.approx(random_order_aopc(alone).mean.item(), abs=1e-6)
        assert bounds.random[b].item() == pytest.approx(exact_bounds(alone).random.item(), abs=1e-6)
    other = random_order_aopc(Perturber(model, inputs), seed=1)
    assert not torch.equal(other.mean, together.mean)


def test_a_beam_knows_the_mean_only_if_it_has_seen_every_set() -> None:
    narrow, wide = beam_bounds(table(6, 0), width=2), beam_bounds(table(6, 0), width=1000)
    assert bool(narrow.random.isnan())
    assert wide.random.item() == pytest.approx(exact_bounds(table(6, 0)).random.item(), abs=1e-12)
    long = SetFunction(lambda keep: keep.double().mean(dim=1), 100)  # there are more sets than a whole number holds
    assert bool(beam_bounds(long, width=1).random.isnan())


# ----------------------------------------------------------------------------------------------------------- evaluate
def test_evaluate_says_what_the_formulas_say() -> None:
    model = Bag()
    inputs = model.texts((14, 9, 6, 3))  # one that a beam searches, two whose sets are all answered, one of one word
    scores = torch.randn(inputs.feature_mask.shape, generator=torch.Generator().manual_seed(1))
    metrics = [name for family in ON_REQUEST.values() for name in family.directions]
    table = evaluate(
        model, inputs, methods={"mine": scores}, metrics=metrics, settings=MetricSettings(groups=4, seed=5)
    )
    found = table.pivot(index="input", columns="metric", values="value")
    assert set(found.columns) == set(metrics)
    for b in range(3):
        n = int(inputs.n_features[b])
        alone, own = Perturber(model, inputs[[b]]), scores[b : b + 1, :n]
        values = aopc_scores(alone, own)
        bounds = exact_bounds(alone) if n <= 8 else beam_bounds(alone)
        random, lower, upper = bounds.random, bounds.lower, bounds.upper
        expected = {"srg": srg(**values), "nsrg": nsrg(**values, lower=lower, upper=upper)}
        if n > 8:
            orders = random_order_aopc(alone, seed=5)
            random = orders.mean
            assert table.attrs["chance"][b]["standard_error"] == pytest.approx(orders.standard_error.item(), rel=1e-4)
            lower, upper = torch.minimum(lower, orders.smallest), torch.maximum(upper, orders.largest)
        else:
            assert table.attrs["chance"][b]["standard_error"] == 0
        assert table.attrs["chance"][b]["mean"] == pytest.approx(random.item(), abs=1e-6)
        expected |= {
            "adjusted_naopc_morf": chance_adjusted(values["aopc_morf"], random, upper),
            "adjusted_naopc_lerf": chance_adjusted(values["aopc_lerf"], random, lower),
            "adjusted_srg": chance_adjusted_srg(**values, random=random, lower=lower, upper=upper),
            "saco_mean": saco_of_groups(alone, own, k=4, reduce="mean"),
        }
        for name, value in expected.items():
            assert found.loc[b, name] == pytest.approx(value.item(), abs=1e-5), name
    assert bool(found.loc[3].isna().all())


@pytest.mark.parametrize("model", MODELS)
def test_random_attributions_of_the_released_models_get_nothing_and_naopc_gives_them_something(model: str) -> None:
    """Edin et al.'s six models on all short texts of SST-2: NAOPC of a random order is .2 to .5, by model."""
    answers = edin.answers(model, "sst2")
    bounds = exact_bounds(answers)
    scores = torch.rand(answers.feature_mask.shape, generator=torch.Generator().manual_seed(0))
    values = aopc_scores(answers, scores)
    adjusted = chance_adjusted(values["aopc_morf"], bounds.random, bounds.upper)
    plain = (bounds.random - bounds.lower) / (bounds.upper - bounds.lower)
    n = int(adjusted.isfinite().sum())
    error = adjusted[adjusted.isfinite()].std().item() / n**0.5
    assert abs(adjusted.nanmean().item()) < 3 * error
    assert plain.nanmean().item() > 0.2
