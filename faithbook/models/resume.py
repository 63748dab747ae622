"""The state of a training, kept beside its checkpoint until that is whole: who was stopped goes on from there, and ends
as if nothing had happened. A state of another way to train (`how`), or one that was cut off, is not taken up. Also what
trainings compute in."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from faithbook.engine.digests import digest
from faithbook.engine.machine import precision


def precision_on(device: str) -> str:
    """What trainings compute in: on "cpu" as `precision` has it; on "cuda", whatever FAITHLIB_PRECISION says of
    processors, "bfloat16" except on a GPU that only emulates it: "float32"."""
    if device != "cuda":
        return precision()
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"


class TrainingState:
    """The state of the training that makes the checkpoint `target`, in a file beside it.

    >>> import tempfile
    >>> kept = TrainingState(Path(tempfile.mkdtemp()) / "model", how={"epochs": 3})
    >>> kept.state() is None
    True
    >>> kept.save(epoch=1)
    >>> kept.state()["epoch"], TrainingState(kept.target, how={"epochs": 4}).state()
    (1, None)
    """

    def __init__(self, target: Path, how: Any) -> None:
        self.target, self._how = target, digest(how)
        self.path = target.with_name(f"{target.name}.training.pt")

    def state(self) -> dict[str, Any] | None:
        """What was kept last, None where nothing was that belongs to this training. Torch's generators go on from where
        they were."""
        try:
            state: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, UnpicklingError, zipfile.BadZipFile):
            return None
        if state.pop("how", None) != self._how:
            return None
        drawn, on_gpus = state.pop("drawn"), state.pop("drawn_on_gpus")
        torch.set_rng_state(drawn)
        if len(on_gpus) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(on_gpus)
        return state

    def save(self, **state: Any) -> None:
        """Keep this instead of what was kept before."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        bookkeeping = {
            "how": self._how,
            "drawn": torch.get_rng_state(),
            "drawn_on_gpus": torch.cuda.get_rng_state_all(),
        }
        torch.save({**state, **bookkeeping}, part)
        os.replace(part, self.path)

    def drop(self) -> None:
        """Take it away: the checkpoint is whole."""
        self.path.unlink(missing_ok=True)
