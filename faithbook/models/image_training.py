"""What the trainings of image classifiers share: the schedule of the learning rate, images mixed and erased in part,
the loss, accuracy, and a checkpoint that is put in place whole.

Shape letters: B images, C classes.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import timm.data
import torch
from timm.data.random_erasing import RandomErasing
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR

from faithbook.sources.images import Pictures


# -------------------------------------------------------------------------------------------------------- the schedule
def share_of_rate(step: int, steps: int) -> float:
    """The share of the learning rate at a step of so many: linear over the first twentieth, then down a cosine to 0.

    >>> [round(share_of_rate(step, 40), 2) for step in (0, 1, 2, 21, 40)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    warmup = max(1, steps // 20)
    decayed = 0.5 * (1 + math.cos(math.pi * max(0, step - warmup) / max(1, steps - warmup)))
    return min(1.0, (step + 1) / warmup) * decayed


def schedule_of(optimiser: torch.optim.Optimizer, steps: int) -> LambdaLR:
    """The schedule of a training of so many steps (`share_of_rate`)."""
    return LambdaLR(optimiser, lambda step: share_of_rate(step, steps))


# ---------------------------------------------------------------------------------------------------------- the batches
class Recipe:
    """How batches are changed at random, and what is lost by the logits of a network.

    `how`: the settings `mixup`, `cutmix` (0: neither), `erasing` (the probability of it, 0: none) and `smoothing` of
    labels. A batch has an even number of images where they are mixed. timm mixes by NumPy's global generator and erases
    by Python's: a training seeds them.
    """

    def __init__(self, how: Mapping[str, Any], *, classes: int, device: str, precision: torch.dtype) -> None:
        self.device, self.precision = device, precision
        self._smoothing = how["smoothing"]
        self._mixup: Any = None
        if how["mixup"] or how["cutmix"]:
            self._mixup = timm.data.Mixup(
                mixup_alpha=how["mixup"],
                cutmix_alpha=how["cutmix"],
                label_smoothing=how["smoothing"],
                num_classes=classes,
            )
        self._erase: Any = RandomErasing(how["erasing"], mode="const", device=device) if how["erasing"] else None

    def loss(self, network: nn.Module, batch: Tensor, labels: Tensor) -> Tensor:
        """The mean cross-entropy of images [B, 3, H, W] with these labels [B], mixed and erased first."""
        smoothing = self._smoothing
        if self._mixup is not None:
            batch, labels = self._mixup(batch, labels)
            smoothing = 0.0  # mixed labels are smoothed already
        if self._erase is not None:
            batch = self._erase(batch)
        with torch.autocast(self.device, dtype=self.precision, enabled=self.precision != torch.float32):
            logits = network(batch).float()
        return functional.cross_entropy(logits, labels, label_smoothing=smoothing)


@torch.inference_mode()
def accuracy(network: nn.Module, pictures: Pictures, inputs_of: Callable[[Pictures], Tensor], *, batch: int) -> float:
    """The share of images that a network, in evaluation mode meanwhile, predicts by their labels.

    `inputs_of`: the pixels [B, 3, H, W] of some images, where the network is. `batch`: how many at once.
    """
    was_training = network.training
    network.eval()
    right = 0
    for start in range(0, len(pictures), batch):
        part = pictures[start : start + batch]
        predicted = network(inputs_of(part)).argmax(dim=1).cpu()
        right += int((predicted == torch.tensor(part.labels)).sum())
    network.train(was_training)
    return right / len(pictures)


# ------------------------------------------------------------------------------------------------------ the checkpoint
def in_half_precision(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights as they are saved: float16, on the processor."""
    return {name: value.half().cpu().contiguous() for name, value in weights.items()}


@contextlib.contextmanager
def new_checkpoint(target: Path) -> Iterator[Path]:
    """A folder to write a checkpoint to, which takes the place of `target` once it is whole: an error leaves the
    checkpoint that was there.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "model"
    >>> with new_checkpoint(target) as part:
    ...     write_json(part / "card.json", {"accuracy": 0.5})
    ...     target.exists()
    False
    >>> [file.name for file in target.iterdir()]
    ['card.json']
    """
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    yield part
    shutil.rmtree(target, ignore_errors=True)
    os.replace(part, target)


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write values as the files of checkpoints have them: an entry a line, in their order."""
    path.write_text(json.dumps(values, indent=1) + "\n")
