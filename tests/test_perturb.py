"""The core against an obviously correct one-row loop, and the invariances that its contract promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import torch
from refusals import refused
from toy_models import FAMILIES, LENGTHS, image_inputs, model_and_texts, text_inputs, text_model, vision_model

from faithlib import _masking as perturbations
from faithlib import _scheduler as scheduler
from faithlib import counter_rng, perturb
from faithlib.errors import InputError, ModelError, OutOfMemoryError, UnknownNameError
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, SetFunction

MODELS = {family: text_model(family) for family in FAMILIES}


@pytest.fixture
def inputs() -> TextInputs:
    return text_inputs(MODELS["bert"])


@pytest.fixture
def perturber(inputs) -> Perturber:
    return Perturber(MODELS["bert"], inputs)


def random_masks(inputs, steps: int, seed: int = 0) -> torch.Tensor:
    return random_probabilities(inputs, steps, seed) < 0.5


def random_probabilities(inputs, steps: int, seed: int = 0) -> torch.Tensor:
    shape = (len(inputs), steps, int(inputs.n_features.max()))
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("family", FAMILIES)
def test_soft_erasure_equals_a_loop_with_the_same_numbers(family):
    model = MODELS[family]
    inputs = text_inputs(model)
    prob = random_probabilities(inputs, 2)
    perturber = Perturber(model, inputs)
    answers = perturber.soft(prob, draws=3, seed=5)
    base = getattr(model, model.base_model_prefix)
    for b, s, draw in np.ndindex(answers.shape):
        length = LENGTHS[b]
        key = counter_rng.row_keys(5, perturber._content[b : b + 1], np.array([s]), np.array([draw]))
        u = counter_rng.uniform(torch.from_numpy(key), length, 16)[0]
        q = torch.tensor([1.0 if f < 0 else prob[b, s, f].item() for f in inputs.feature_of[b, :length].tolist()])
        hook = base.embeddings.register_forward_hook(lambda m, a, out, u=u, q=q: out * (u < q[:, None]))
        with torch.no_grad():
            logits = model(input_ids=inputs.input_ids[b : b + 1, :length]).logits[0]
        hook.remove()
        expected = logits.softmax(-1)[perturber.predicted[b]]
        torch.testing.assert_close(answers[b, s, draw], expected, atol=1e-5, rtol=0)


def test_a_row_is_run_once_within_and_across_calls(inputs, perturber):
    assert perturber.stats.rows_run == len(inputs)
    keep = random_masks(inputs, 4)
    perturber.keep(torch.cat([keep, keep], dim=1))
    distinct = sum(
        len({tuple(row[: int(n)].tolist()) for row in keep[b]} | {(True,) * int(n)})
        for b, n in enumerate(inputs.n_features)
    )
    assert perturber.stats.rows_run == distinct
    asked = perturber.stats.rows_asked
    perturber.keep(keep)
    perturber.soft(keep.float())  # probabilities of 0 and 1 are the hard rows
    assert perturber.stats.rows_run == distinct
    assert perturber.stats.rows_asked == asked + 2 * keep[..., 0].numel()
    prob = random_probabilities(inputs, 1)
    perturber.soft(prob, draws=2, seed=3)
    perturber.soft(prob, draws=4, seed=3)
    assert perturber.stats.rows_run == distinct + 4 * len(inputs)


def test_erased_values_leak_nowhere():
    """What stands at an erased place cannot change the answer, not even NaN or infinity in its embedding."""
    model, inputs = model_and_texts()
    keep = torch.ones(3, 1, 7, dtype=torch.bool)
    keep[0, 0, 2] = False
    expected = Perturber(model, inputs, target=0).keep(keep)[0]
    token = inputs.input_ids[0, 3]
    assert (inputs.input_ids[0] == token).sum() == 1
    perturber = Perturber(model, inputs, target=0)  # before: what is not erased must be a number
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[token] = torch.inf
    torch.testing.assert_close(perturber.keep(keep)[0], expected, atol=1e-6, rtol=0)
    refused(InputError, "answered NaN or infinity for 1 row,", Perturber, model, inputs)


def run_by(monkeypatch, perturber, forward):
    """Puts `forward(rows, run)` in the place of the scheduler's own, which is `run()`."""
    own = perturber.scheduler._forward
    monkeypatch.setattr(
        perturber.scheduler, "_forward", lambda ask, rows, length: forward(rows, lambda: own(ask, rows, length))
    )


def test_out_of_memory_halves_the_chunk_and_goes_on(monkeypatch, caplog, inputs):
    keep, sizes = random_masks(inputs, 12), []
    perturber = Perturber(MODELS["bert"], inputs)

    def small_memory(rows, run):
        sizes.append(len(rows))
        if len(rows) > 3:
            raise torch.OutOfMemoryError("made up")
        return run()

    run_by(monkeypatch, perturber, small_memory)
    torch.testing.assert_close(perturber.keep(keep), Perturber(MODELS["bert"], inputs).keep(keep), atol=1e-5, rtol=0)
    assert max(sizes) > 3
    assert perturber.stats.rows_run <= 36 + 3
    told = [record.getMessage() for record in caplog.records if record.name == "faithlib._scheduler"]
    assert told[0].startswith(f"memory ran out at {sizes[0]} rows of")


def test_a_row_that_does_not_fit_is_a_clear_error_and_answers_stay(monkeypatch, inputs):
    perturber, keep = Perturber(MODELS["bert"], inputs, max_rows=8), random_masks(inputs, 12)
    failures = iter([None, *["DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes"] * 9])

    def fails_later(rows, run):
        if said := next(failures):
            raise RuntimeError(said)
        return run()

    with monkeypatch.context() as patch:
        run_by(patch, perturber, fails_later)
        refused(OutOfMemoryError, r"one row of \d+ tokens", perturber.keep, keep)
        assert perturber.stats.rows_run > len(inputs)
        failures = iter(["shapes differ"])
        refused(RuntimeError, "shapes differ", perturber.keep, keep)
    perturber.keep(keep)
    again = Perturber(MODELS["bert"], inputs)
    again.keep(keep)
    assert perturber.stats.rows_run == again.stats.rows_run  # nothing answered before the error ran twice


def test_chunks_follow_measured_memory(monkeypatch, inputs, perturber):
    assert perturber.stats.peak_bytes > inputs.input_ids.numel() * 16 * 4  # more than the embeddings alone
    sizes, cost_model = [], perturber.scheduler.cost_model
    run_by(monkeypatch, perturber, lambda rows, run: sizes.append(len(rows)) or run())
    monkeypatch.setattr(scheduler, "free_bytes", lambda device: int(cost_model.bytes_a_token * 9 * 5 / 0.5))
    perturber.keep(random_masks(inputs, 20))
    assert max(sizes) <= 5 * 9 // 4


def test_numbers_are_uniform_independent_and_ignore_padding():
    steps = torch.arange(4).numpy()
    content = torch.tensor([7, 7, 8, 8]).numpy().astype("uint64")
    keys = torch.from_numpy(counter_rng.row_keys(0, content, steps * 0, steps % 2))
    u = counter_rng.uniform(keys, 128, 64)
    flat = u.flatten(1)
    assert flat.min() > 0 and flat.max() < 1
    for drawn, law in ((flat, "uniform"), (counter_rng.normal(keys, 128, 64).flatten(1), "norm")):
        assert min(scipy.stats.kstest(row.numpy(), law).pvalue for row in drawn) > 1e-4
    later = torch.stack([flat[0].roll(shift) for shift in (1, 2, 63, 64, 65)])
    correlation = torch.corrcoef(torch.cat([flat, later])) - torch.eye(9)
    assert correlation.abs().max() < 5 / math.sqrt(flat.shape[1])
    torch.testing.assert_close(counter_rng.uniform(keys, 200, 64)[:, :128], u, atol=0, rtol=0)


def test_gaussian_noise_grows_with_its_scale_and_vanishes_without(inputs, perturber):
    scale = random_probabilities(inputs, 1)
    for equation in (7, 8):
        still = perturber.gaussian(torch.zeros_like(scale), variance=1.0, equation=equation, draws=2)
        torch.testing.assert_close(still, perturber.full[:, None, None].expand_as(still))
    seven = perturber.gaussian(scale, variance=0.25, equation=7)
    torch.testing.assert_close(seven, perturber.gaussian(scale**2 * 0.25, variance=1.0, equation=8), atol=1e-6, rtol=0)


def test_low_precision_is_close_and_leaves_the_model_alone(inputs):
    model, keep = MODELS["bert"], random_masks(inputs, 4)
    exact, low, own = (
        Perturber(model, inputs, target=torch.tensor([0, 1, 2]), dtype=dtype).keep(keep)
        for dtype in (None, torch.bfloat16, "auto")
    )
    assert low.dtype == next(model.parameters()).dtype == torch.float32
    assert 0 < (low - exact).abs().max() < 0.05
    torch.testing.assert_close(own, exact, atol=1e-6, rtol=0)  # on a processor as it is


@pytest.mark.parametrize("erase", perturb.IMAGE_ERASURES)
@pytest.mark.parametrize("class_token", [True, False])
def test_images_equal_the_one_row_loop(erase, class_token):
    model, inputs = vision_model(class_token=class_token), image_inputs()
    perturber = Perturber(model, inputs, erase=erase, target=1)
    keep = random_masks(inputs, 4)
    answers = perturber.keep(keep)
    blurred = perturbations.replacement_pixels(inputs.pixels, "blur")
    assert (blurred.flatten(1).std(dim=1) < inputs.pixels.flatten(1).std(dim=1)).all()
    mean = inputs.pixels.mean((2, 3), keepdim=True).expand_as(blurred)
    replacement = {"zero": torch.zeros_like(blurred), "mean": mean, "blur": blurred}[erase]
    for b, s in np.ndindex(3, 4):
        pixels = inputs.pixels[b].clone()
        for f in (~keep[b, s]).nonzero()[:, 0].tolist():
            y, x = 4 * (f // 2), 4 * (f % 2)
            pixels[:, y : y + 4, x : x + 4] = replacement[b, :, y : y + 4, x : x + 4]
        with torch.no_grad():
            expected = model(pixels[None]).softmax(-1)[0, 1]
        torch.testing.assert_close(answers[b, s], expected, atol=1e-5, rtol=0)
    soft = perturber.soft(torch.ones(3, 1, 4), draws=2)
    torch.testing.assert_close(soft[:, 0, 0], perturber.full, atol=1e-6, rtol=0)


NAN = torch.full((3, 1, 7), 0.5)
NAN[1, 0, 2] = torch.nan


@pytest.mark.parametrize(
    ("error", "message", "ask"),
    [
        (InputError, "NaN", lambda asked: asked.soft(NAN)),
        (InputError, r"outside \[0, 1\]", lambda asked: asked.soft(torch.full((3, 1, 7), 1.5))),
        (InputError, r"\[B, S, F\] = \[3, any, 7\]", lambda asked: asked.keep(torch.ones(3, 7, dtype=torch.bool))),
        (InputError, r"torch\.bool", lambda asked: asked.keep(torch.ones(3, 1, 7))),
        (InputError, "draws 0", lambda asked: asked.soft(torch.ones(3, 1, 7), draws=0)),
        (UnknownNameError, "did you mean 'delete'", {"erase": "delet"}),
        (UnknownNameError, "target", {"target": "gold"}),
        (InputError, "classes 0 to 2", {"target": 3}),
        (InputError, r"integers \[3\]", {"target": torch.tensor([0, 1])}),
        (UnknownNameError, "output", {"output": "logits"}),
        (UnknownNameError, "dtype", {"dtype": "bfloat16"}),
        (InputError, "max_rows", {"max_rows": 0}),
        (InputError, "eval", {"model": text_model().train()}),
        (ModelError, "Linear", {"model": torch.nn.Linear(2, 2).eval()}),
    ],
)
def test_refusals_say_what_came_and_what_was_expected(error, message, ask):
    given = {"model": MODELS["bert"], "inputs": text_inputs(MODELS["bert"])}
    refused(error, message, lambda: ask(Perturber(**given)) if callable(ask) else Perturber(**given | ask))


def test_set_function_is_the_same_face_over_any_function():
    fn = SetFunction(lambda keep: keep.float() @ torch.tensor([1.0, 2.0, 4.0]), 3)
    assert (fn.full.item(), fn.empty.item()) == (7, 0)
    keep = torch.tensor([[[True, False, True], [True, False, True], [True, True, True]]])
    assert fn.keep(keep).tolist() == [[5.0, 5.0, 7.0]]
    assert (fn.stats.rows_asked, fn.stats.rows_run) == (5, 3)
    refused(InputError, r"bool \[1, S, 3\]", fn.keep, keep[..., :2])
    refused(InputError, "fn returned shape", getattr, SetFunction(lambda keep: keep.float(), 3), "full")
