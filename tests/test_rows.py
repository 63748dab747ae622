"""Rows are counted without the model, and the count is what then runs."""

from __future__ import annotations

import pytest
import torch
from flat import count_rows, evaluate
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from test_bounds import table
from torch import Tensor, nn
from toy_models import Bag, image_inputs, text_inputs, text_model, vision_model

from faithlib.bounds import beam_bounds, exact_bounds, most_rows
from faithlib.catalogue import FAMILIES, ON_REQUEST
from faithlib.errors import InputError
from faithlib.inputs import ImageInputs, Inputs, WordInputs
from faithlib.metrics.registry import BUILT_IN

BAG = Bag()
READER = text_model("bert")
SEER = vision_model()
ERASURES = {"texts": ("zero", "mask", "delete"), "pictures": ("mean", "blur")}
OPTIONS = {"draws": 2, "groups": 3}


def inputs_of(kind: str) -> tuple[nn.Module, Inputs]:
    """Inputs of which two are equal, and texts of one, two and more than ten features among them."""
    if kind == "pictures":
        return SEER, image_inputs()[[0, 1, 0, 2]]
    return READER, text_inputs(READER, (16, 9, 4, 3, 9))[[0, 1, 2, 1, 3, 4]]


def scores_of(inputs: Inputs) -> dict[str, Tensor]:
    """Two attributions without ties, one with many, one that is constant."""
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.rand(inputs.feature_mask.shape, generator=generator) for _ in range(2))
    return {"first": first, "second": second, "tied": (3 * first).round(), "constant": torch.ones_like(first)}


def ran(model: nn.Module, inputs: Inputs, **given: object) -> int:
    return evaluate(model, inputs, **given).attrs["costs"]["rows_run"]


@pytest.mark.parametrize(("kind", "erase"), [(kind, erase) for kind, all_ in ERASURES.items() for erase in all_])
def test_the_count_is_what_every_family_runs(kind: str, erase: str) -> None:
    model, inputs = inputs_of(kind)
    methods = scores_of(inputs)
    gold = inputs.feature_mask & (methods["first"] > 0.5)
    for name, family in (FAMILIES | ON_REQUEST).items():
        options = {"methods": methods, "metrics": list(family.directions), "erase": erase, "gold": gold, **OPTIONS}
        found = count_rows(model, inputs, **options)
        assert found.alone == {name: found.together}
        if family.needs_bounds and kind == "texts":  # 14 features are searched by a beam
            assert not found.is_exact
            assert 0.5 * found.together < ran(model, inputs, **options) <= found.together, name
        else:
            assert found.is_exact
            assert ran(model, inputs, **options) == found.together, name


@pytest.mark.parametrize(("kind", "erase"), [("texts", "zero"), ("texts", "pad"), ("pictures", "mean")])
def test_the_count_is_what_all_families_run_together(kind: str, erase: str) -> None:
    model, inputs = inputs_of(kind)
    options = {"methods": scores_of(inputs), "erase": erase, **OPTIONS}
    if kind == "pictures":
        options["metrics"] = [
            name for family in FAMILIES.values() if not family.needs_gold for name in family.directions
        ]
    found = count_rows(model, inputs, **options)
    assert ran(model, inputs, **options) == found.together == sum(found.each) < sum(found.alone.values())


def test_counting_asks_the_model_nothing_and_counts_inputs_and_bounds_where_there_is_no_method() -> None:
    def never(texts: list[str]) -> list[list[float]]:
        pytest.fail("the model was asked")

    inputs = WordInputs.from_texts(["one " * n for n in (6, 5, 4)])
    assert count_rows(never, inputs, methods={}).together == len(inputs)
    assert count_rows(never, inputs, methods={}, metrics=["naopc_morf"]).each == (2**6, 2**5, 2**4)
    scores = {"mine": torch.ones(2, 2)}
    refused(InputError, r"scores of 'mine' have shape \(2, 2\)", count_rows, never, inputs, methods=scores)


@settings(max_examples=12, deadline=None)
@given(
    lengths=st.lists(st.integers(3, 14), min_size=1, max_size=5).map(tuple),
    erase=st.sampled_from(["zero", "mask"]),
    draws=st.integers(1, 3),
    groups=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_the_count_holds_for_any_sizes_and_options(lengths, erase, draws, groups, seed) -> None:
    inputs = BAG.texts(lengths)
    generator = torch.Generator().manual_seed(seed)
    drawn = {name: torch.randint(0, 9, inputs.feature_mask.shape, generator=generator).float() for name in "ab"}
    scores = {name: numbers * inputs.feature_mask for name, numbers in drawn.items()}
    options = {"methods": scores, "erase": erase, "draws": draws, "groups": groups, "seed": seed}
    assert ran(BAG, inputs, **options) == count_rows(BAG, inputs, **options).together


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 9),
    width=st.integers(1, 6),
    seed=st.integers(0, 999),
    variant=st.sampled_from(["merged", "released"]),
)
def test_no_beam_answers_more_sets_than_most_rows_says(n: int, width: int, seed: int, variant: str) -> None:
    function = table(n, seed)
    rows = int(beam_bounds(function, width=width, variant=variant).rows)
    assert rows == function.stats.rows_run <= most_rows(n, width=width) + 1  # the unperturbed input
    assert most_rows(n, width=2**n) + 1 == int(exact_bounds(function).rows)


# What the README says of a metric's cost, for n = 64 features without ties, K = 10 groups and 4 draws.
SAID = {
    "at most 10": 10,
    "at most 10 and the empty input": 10 + 1,
    "at most 12": 12,
    "at most 20": 20,
    "at most 102": 102,
    "2 n - 1": 2 * 64 - 1,
    "2 n - 1, those of aopc_morf and aopc_lerf": 2 * 64 - 1,
    "K for K groups": 10,
    "3 K - 3 for K groups": 3 * 10 - 3,
    "2 for each draw and the empty input": 2 * 4 + 1,
    "18 for each draw and the empty input": 18 * 4 + 1,
    "3": 3,
    "64": 64,
}


def test_a_metric_costs_what_is_said_of_it_beside_the_input_itself() -> None:
    model, pixels = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 2)).eval(), torch.rand(1, 3, 8, 8)
    inputs = ImageInputs.from_pixels(pixels, patch=1)
    scores = {"mine": torch.rand(1, 64, generator=torch.Generator().manual_seed(0))}
    families = [family for family in BUILT_IN.values() if family.cost != "none" and not family.needs_bounds]
    assert {family.cost for family in families} == set(SAID)
    for family in families:
        for name in family.directions:
            assert count_rows(model, inputs, methods=scores, metrics=[name], draws=4).together == 1 + SAID[family.cost]
