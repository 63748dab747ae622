"""What trainings compute in."""

from __future__ import annotations

import torch

from faithbook.engine import machine


def precision_on(device: str) -> str:
    """On "cpu" as `machine.precision` has it; on "cuda", whatever FAITHLIB_PRECISION says of processors, "bfloat16" but
    on a GPU that only emulates it: "float32"."""
    if device != "cuda":
        return machine.precision()
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
