"""Answers, explanations, bounds and metrics are the same on a GPU as on the processor."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from flat import evaluate
from torch import Tensor
from toy_models import FAMILIES, image_inputs, model_and_texts, text_inputs, text_model, vision_model

from faithlib.attribution import attribute, methods
from faithlib.bounds import beam_bounds, exact_bounds
from faithlib.evaluation import RunSettings, saco_scores
from faithlib.perturb import Perturber

pytestmark = pytest.mark.gpu
DEVICE = "cuda"
# Relevance methods go through weights that are large in these models, and add up rounding on the way.
CLOSE = {"atol": 1e-4, "rtol": 1e-4}


@pytest.fixture(autouse=True)
def exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Convolutions, of which patches are made, in the whole of float32."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)


def same(there: Tensor, here: Tensor) -> None:
    assert there.device.type == DEVICE
    torch.testing.assert_close(there.cpu(), here, **CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_about_erased_texts(family: str) -> None:
    model, inputs = model_and_texts(family)
    generator, longest = torch.Generator().manual_seed(0), int(inputs.n_features.max())
    prob = torch.rand(len(inputs), longest, generator=generator)
    keep = torch.rand(len(inputs), 6, longest, generator=generator) < 0.5
    here = Perturber(model, inputs, target=1)
    there = Perturber(copy.deepcopy(model).to(DEVICE), inputs.to(DEVICE), target=1)
    same(there.keep(keep.to(DEVICE)), here.keep(keep))
    same(there.soft(prob[:, None].to(DEVICE), draws=3), here.soft(prob[:, None], draws=3))


@pytest.mark.parametrize("method", methods("text"))
def test_explanations_of_texts(method: str) -> None:
    model, inputs = model_and_texts()
    here = attribute(method, model, inputs, target=1)
    same(attribute(method, copy.deepcopy(model).to(DEVICE), inputs.to(DEVICE), target=1), here)


@pytest.mark.parametrize("method", methods("image"))
def test_explanations_of_pictures_and_their_saco(method: str) -> None:
    model, inputs = vision_model(), image_inputs()
    moved, there = copy.deepcopy(model).to(DEVICE), inputs.to(DEVICE)
    here = attribute(method, model, inputs, target=1)
    same(attribute(method, moved, there, target=1), here)
    values = saco_scores(Perturber(model, inputs), here, k=4)
    for name, value in saco_scores(Perturber(moved, there), here.to(DEVICE), k=4).items():
        torch.testing.assert_close(value.cpu(), values[name], equal_nan=True, **CLOSE)


@pytest.mark.parametrize("dtype", [None, "auto"])
def test_an_evaluation_agrees_to_rounding(dtype: str | None) -> None:
    model, methods = text_model(), ["input_x_gradient", "integrated_gradients", "occlusion"]
    methods += ["saliency", "lime"] if dtype is None else []
    # In half precision enough for forwards that are timed.
    inputs = text_inputs(model, (9, 6, 4, 14, 30) * (4 if dtype is None else 20))
    here = evaluate(model, inputs, methods=methods, target=1)
    there = evaluate(
        copy.deepcopy(model).to(DEVICE), inputs.to(DEVICE), methods=methods, target=1, run=RunSettings(dtype=dtype)
    )
    both = here.merge(there, on=["input", "method", "metric"], suffixes=("_here", "_there"), validate="one_to_one")
    assert len(both) == len(here) == len(there)
    apart = (both["value_here"] - both["value_there"]).abs()
    if dtype is not None:
        assert np.nanmedian(apart) < 0.05
        return
    off = apart > 1e-4 * (1 + both["value_here"].abs())
    assert (both["value_here"].isna() == both["value_there"].isna()).all()
    # Scores that are equal but for rounding change places, and what follows their order jumps: a few of thousands.
    assert off.mean() < 0.01
    assert off.groupby(both["input"]).mean().max() < 0.1


def test_bounds() -> None:
    model, inputs = model_and_texts()
    moved = copy.deepcopy(model).to(DEVICE)
    for search in (exact_bounds, beam_bounds):
        here, there = search(Perturber(model, inputs)), search(Perturber(moved, inputs.to(DEVICE)))
        for end in ("lower", "upper"):
            torch.testing.assert_close(getattr(there, end).cpu(), getattr(here, end), **CLOSE)
