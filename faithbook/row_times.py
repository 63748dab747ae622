"""How long one perturbed input, a *row*, takes a model of the papers' size on this device, before anything is fetched.

A row takes as long whatever the weights, so they are drawn: BERT-base on a text of 128 tokens, ViT-B/16 on a picture of
224 x 224 pixels, in float32, with the threads that a notebook has. Where several rows fit into a batch, a row is its
share of it.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from faithbook.engine import machine
from faithlib.errors import unknown

if TYPE_CHECKING:
    import torch  # seconds to import, which only the profiles need whose models are named here

TOKENS, SIDE = 128, 224
_ON_GPU, _ON_PROCESSOR = 64, 1  # rows in a batch
_REPEATS = 3


@dataclass(frozen=True)
class RowTime:
    """Seconds a row of one kind of input, on `device` with so many `threads` (of a processor)."""

    kind: str
    model: str
    seconds: float
    device: str
    threads: int

    def told(self) -> str:
        """In words.

        >>> RowTime("text", "BERT-base on 128 tokens", 0.0125, "cpu", 1).told()
        'a row of BERT-base on 128 tokens takes 12.5 ms (cpu, threads: 1)'
        """
        return f"a row of {self.model} takes {1000 * self.seconds:.3g} ms ({self.device}, threads: {self.threads})"


@functools.cache
def row_time(kind: str) -> RowTime:
    """Measure a row of a "text" or a "picture": the median of three batches, after one that is not counted.

    Raises UnknownNameError for another kind.
    """
    import torch

    if kind not in _MODELS:
        raise unknown("kind of row", kind, _MODELS)
    name, make = _MODELS[kind]
    on_gpu = torch.cuda.is_available()
    threads, before = machine.threads(), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode(), torch.random.fork_rng(devices=[]):
            ask = make(torch.device("cuda" if on_gpu else "cpu"), rows := _ON_GPU if on_gpu else _ON_PROCESSOR)
            spent = [_seconds(ask) for _ in range(1 + _REPEATS)]
    finally:
        torch.set_num_threads(before)
    return RowTime(kind, name, median(spent[1:]) / rows, torch.cuda.get_device_name() if on_gpu else "cpu", threads)


def _seconds(ask: Callable[[], torch.Tensor]) -> float:
    started = time.perf_counter()
    ask().sum().item()  # a number on this side, so that a GPU has ended
    return time.perf_counter() - started


def _text(device: torch.device, rows: int) -> Callable[[], torch.Tensor]:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    model = BertForSequenceClassification(BertConfig()).eval().to(device)
    tokens = torch.randint(model.config.vocab_size, (rows, TOKENS), device=device)
    return lambda: model(input_ids=tokens).logits


def _picture(device: torch.device, rows: int) -> Callable[[], torch.Tensor]:
    import timm
    import torch

    model = timm.create_model("vit_base_patch16_224", pretrained=False).eval().to(device)
    pixels = torch.rand(rows, 3, SIDE, SIDE, device=device)
    return lambda: model(pixels)


_MODELS: dict[str, tuple[str, Callable[[torch.device, int], Callable[[], torch.Tensor]]]] = {
    "text": (f"BERT-base on {TOKENS} tokens", _text),
    "picture": (f"ViT-B/16 on {SIDE} x {SIDE} pixels", _picture),
}
