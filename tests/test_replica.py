"""The model that is asked is never changed, not even while it runs."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from toy_models import FAST, image_inputs, one_row, text_inputs, text_model, vit

from faithlib.attribution import attribute, methods
from faithlib.attribution.registry import IMAGE_METHODS, METHODS
from faithlib.backends import TextBackend, replica
from faithlib.perturb import Perturber

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
LOOKING = [name for name in methods() if METHODS[name].answers != "floor" and name != "activation"]
VARIANTS = {
    ("text", "guided_backprop"): [{"variant": "released"}],
    ("text", "scaled_attention"): [{"variant": "released"}],
    ("text", "deeplift"): [{"rules": "captum"}],
}
LOOKING_AT_IMAGES = [name for name in methods("image") if IMAGE_METHODS[name].answers != "floor"]


def state(model: nn.Module) -> list[Any]:
    """Everything that can be set on a model: modules by identity, hooks, attributes, flags, configuration."""
    seen: list[Any] = [str(getattr(model, "config", None))]
    for name, module in model.named_modules():
        own = {key: id(value) for key, value in vars(module).items()}
        inside = {
            key: [(name, id(value)) for name, value in vars(module)[key].items()]
            for key in ("_modules", "_parameters", "_buffers", *_HOOKS)
        }
        seen.append((name, own, inside, module.training))
    return [*seen, [(p.requires_grad, p.grad is None, p._version) for p in model.parameters()]]


class Watch:
    """A hook of the user's own on the last layer, which compares the model with what it was before the run."""

    def __init__(self, model: nn.Module, last: nn.Module) -> None:
        last.register_forward_hook(self)
        self.model, self.before, self.calls = model, state(model), 0

    def __call__(self, *_: object) -> None:
        self.calls += 1
        assert state(self.model) == self.before

    def done(self) -> None:
        assert self.calls, "the user's hook was called in the run"
        assert state(self.model) == self.before


class Boom(RuntimeError):
    pass


def fail(*_: object) -> None:
    raise Boom


@pytest.mark.parametrize(("kind", "name"), [("text", n) for n in LOOKING] + [("image", n) for n in LOOKING_AT_IMAGES])
def test_nothing_of_a_model_changes_while_it_is_explained_or_when_it_fails(kind: str, name: str) -> None:
    if kind == "text":
        model, inputs = text_model("bert").train(), text_inputs(text_model("bert"))
        assert model.config._attn_implementation == "sdpa"
        model.classifier.eval()
        last, first = model.classifier, model.bert.encoder.layer[0].attention.self.query
    else:
        model, inputs = vit(proj_drop_rate=0.5, attn_drop_rate=0.5).train(), image_inputs()
        model.blocks[1].eval()
        model.blocks[1].attn.fused_attn = False
        last, first = model.head, model.blocks[0].attn.qkv
    last.bias.requires_grad_(False)
    watch = Watch(model, last)
    before = watch.before
    for options in ({}, *VARIANTS.get((kind, name), ())):
        scores = attribute(name, model, inputs, **FAST.get(name, {}), **options)
        watch.done()
        assert torch.equal(scores, attribute(name, model, inputs, **FAST.get(name, {}), **options)), "dropout was on"
        for place in (last, first):
            handle = place.register_forward_hook(fail)
            watch.before = state(model)
            with pytest.raises(Boom):
                attribute(name, model, inputs, **FAST.get(name, {}), **options)
            assert state(model) == watch.before
            handle.remove()
            watch.before = before


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_two_threads_ask_one_model(family: str) -> None:
    model = text_model(family)
    batches = [text_inputs(model, (9, 6, 4), seed=seed) for seed in (0, 1)]
    masks = [torch.rand(3, 40, 7, generator=torch.Generator().manual_seed(seed)) < 0.5 for seed in (2, 3)]
    start = Barrier(2)

    def ask(which: int) -> list[Tensor]:
        start.wait()
        # Anew each time, and in chunks of one row, so that the forwards of both threads meet.
        return [Perturber(model, batches[which], max_rows=1).logits(masks[which]) for _ in range(3)]

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, range(2)))
    for inputs, mask, found in zip(batches, masks, answers, strict=True):
        for b in range(3):
            for s in range(0, 40, 8):
                expected = one_row(model, inputs, b, mask[b, s], "zero")
                assert all(torch.allclose(logits[b, s], expected, atol=1e-5) for logits in found)


@pytest.mark.parametrize("erase", ["zero", "pad", "delete"])
def test_nothing_of_a_model_changes_while_it_is_perturbed(erase: str) -> None:
    model = text_model("bert")
    watch = Watch(model, model.classifier)
    perturber = Perturber(model, text_inputs(model), erase=erase)
    perturber.soft(torch.full((3, 1, 7), 0.5))
    assert torch.isfinite(perturber.empty).all()
    watch.done()


def test_weights_are_shared_and_only_inputs_get_gradients() -> None:
    model = text_model("bert")
    inputs = text_inputs(model)
    backend = TextBackend(model, inputs)
    embeddings = backend.embeddings().requires_grad_()
    before = backend.logits(embeddings)
    before.sum().backward()
    assert embeddings.grad is not None
    assert embeddings.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in model.parameters())
    with torch.no_grad():
        model.classifier.bias += 1
    assert torch.allclose(backend.logits(embeddings), before + 1, atol=1e-6), "a training step shows"
    twin = copy.deepcopy(model)
    assert torch.equal(Perturber(twin, inputs).logits_full, Perturber(model, inputs).logits_full)
    half = Perturber(model, inputs, dtype=torch.bfloat16).full
    assert torch.allclose(half, Perturber(model, inputs).full, atol=0.1)
    assert next(model.parameters()).dtype == torch.float32
    quiet = replica(model)
    assert replica(quiet) is quiet
    assert quiet is not replica(model)
