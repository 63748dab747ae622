"""The function that is explained: one number an input, as a function of the embedding output.

Every attribution that looks inside the model works on a `Chunk`: a few inputs of about the same length, their embedding
output (positions, types and LayerNorm already applied, once), their attention mask, their target classes.

Shape letters: B inputs, R rows of one chunk, L tokens, D embedding size, C classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.backends import TextBackend
from faithlib.errors import InputError, unknown
from faithlib.inputs import TextInputs

OUTPUTS = ("probability", "logit", "loss")
BASELINES = ("zero", "pad", "mask")


def read(logits: Tensor, target: Tensor, output: str) -> Tensor:
    """The explained number [R, ...] of logits [R, ..., C] for target classes [R].

    "probability": softmax(z)_t. "logit": z_t. "loss": log softmax(z)_t, the cross entropy with its sign turned, so that
    for all three a larger number, and a positive score, supports the target.

    >>> read(torch.tensor([[0.0, 0.0]]), torch.tensor([1]), "probability")
    tensor([0.5000])
    """
    if output not in OUTPUTS:
        raise unknown("output", output, OUTPUTS)
    if bool((target >= logits.shape[-1]).any()):
        raise InputError(f"target {int(target.max())}: this model has classes 0 to {logits.shape[-1] - 1}")
    if output == "probability":
        logits = logits.softmax(dim=-1)
    elif output == "loss":
        logits = logits.log_softmax(dim=-1)
    index = target.view(-1, *([1] * (logits.ndim - 1))).expand(*logits.shape[:-1], 1)
    return logits.gather(-1, index)[..., 0]


def target_classes(target: Any, n: int) -> Tensor | None:
    """Target classes [B] out of what a caller may give; None for "predicted" (known only after a forward)."""
    if isinstance(target, str):
        if target == "gold":
            raise InputError("target 'gold': inputs carry no labels, give the labels themselves as integers [B]")
        if target != "predicted":
            raise unknown("target", target, ("predicted", "a class index", "a LongTensor [B]"))
        return None
    try:
        classes = torch.as_tensor(target)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"target {target!r}: expected 'predicted', a class index or integers [B]") from error
    if classes.ndim == 0:
        classes = classes.expand(n)
    if tuple(classes.shape) != (n,) or classes.dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        raise InputError(f"target has shape {tuple(classes.shape)} and dtype {classes.dtype}: expected integers [{n}]")
    if bool((classes < 0).any()):
        raise InputError(f"target {classes.tolist()}: classes are counted from 0")
    return classes.long()


@dataclass
class Chunk:
    """Inputs `rows` [R] of a backend, cut to `length` tokens, with what is explained about them."""

    backend: TextBackend
    rows: Tensor
    length: int
    output: str
    max_tokens: int
    target: Tensor | None = None

    def embeddings(self) -> Tensor:
        """The embedding output [R, L, D], a leaf that gradients can be taken to."""
        return self.backend.embeddings(self.rows, length=self.length).detach().clone().requires_grad_()

    def present(self) -> Tensor:
        """True at tokens, False at padding: [R, L]."""
        return self.backend.inputs.attention_mask[self.rows, : self.length]

    def feature_of(self) -> Tensor:
        """The feature of each position, -1 where protected: [R, L]."""
        return self.backend.inputs.feature_of[self.rows, : self.length]

    def value(self, embeddings: Tensor) -> Tensor:
        """The explained number [R] at the inputs' own embeddings. Settles what the predicted class is."""
        logits = self.backend.logits(embeddings, self.rows)
        if self.target is None:
            self.target = logits.detach().argmax(dim=-1)
        return read(logits, self.target, self.output)

    def value_of(self, embeddings: Tensor, rows: Tensor, target: Tensor) -> Tensor:
        """The explained number of any embeddings [N, L, D] in the place of inputs `rows` [N]."""
        return read(self.backend.logits(embeddings, rows), target, self.output)

    def settled_target(self) -> Tensor:
        """The target classes [R], for methods whose first forward is not at the inputs themselves."""
        if self.target is None:
            with torch.no_grad():
                self.value(self.embeddings())
        assert self.target is not None
        return self.target

    def baseline(self, kind: str, keep_protected: bool) -> Tensor:
        """Where a path to the input begins: [R, L, D].

        "zero": zero embeddings. "pad", "mask": that token's embedding at the same position. Protected positions ([CLS],
        [SEP], a query) stay as they are in the input unless `keep_protected` is False.
        """
        if kind not in BASELINES:
            raise unknown("baseline", kind, BASELINES)
        inputs = self.backend.inputs
        with torch.no_grad():
            embedded = self.backend.embeddings(self.rows, length=self.length)
            replaced = torch.zeros_like(embedded) if kind == "zero" else self._embedded_as(inputs, kind)
        moved = self.feature_of() >= 0 if keep_protected else self.present()
        return torch.where(moved[..., None], replaced, embedded)

    def _embedded_as(self, inputs: TextInputs, kind: str) -> Tensor:
        token = inputs.pad_id if kind == "pad" else inputs.mask_id
        if token is None:
            raise InputError("baseline 'mask': this tokenizer has no mask token; choose 'zero' or 'pad'")
        ids = torch.full_like(inputs.input_ids[self.rows, : self.length], token)
        types = inputs.token_type_ids
        return self.backend.embed(ids, None if types is None else types[self.rows, : self.length])


def chunks(backend: TextBackend, target: Tensor | None, output: str, max_tokens: int) -> Iterator[Chunk]:
    """The inputs in chunks of at most `max_tokens` positions (at least one input), longest first."""
    lengths = backend.lengths.cpu()
    order = lengths.argsort(descending=True, stable=True)
    start = 0
    while start < len(order):
        length = int(lengths[order[start]])
        rows = order[start : start + max(1, max_tokens // length)].to(backend.device)
        chosen = None if target is None else target.to(backend.device)[rows]
        yield Chunk(backend, rows, length, output, max_tokens, chosen)
        start += len(rows)


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """Evaluation mode and frozen weights inside; outside, after an error too, every flag as it was.

    Frozen weights make `requires_grad` mean "depends on the input", and spare the graph what only they would need.
    """
    training = [(module, module.training) for module in model.modules()]
    wanted = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    try:
        model.eval()
        for parameter, _ in wanted:
            parameter.requires_grad_(False)
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        for module, flag in training:
            module.training = flag
        for parameter, flag in wanted:
            parameter.requires_grad_(flag)


@contextmanager
def eager_attention(model: nn.Module) -> Iterator[None]:
    """Attention written out in plain operations inside (fused kernels return no attention maps), as it was outside."""
    configured: Any = model
    before = getattr(getattr(model, "config", None), "_attn_implementation", None)
    if before in (None, "eager") or not hasattr(model, "set_attn_implementation"):
        yield
        return
    configured.set_attn_implementation("eager")
    try:
        yield
    finally:
        configured.set_attn_implementation(before)
