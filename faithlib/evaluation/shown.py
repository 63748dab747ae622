"""The first inputs of a table with their scores, as heat maps show them: little enough to travel with the table.

Shape letters: B inputs, F features, C channels, H and W pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from faithlib.inputs import ImageInputs, Inputs, WordInputs
from faithlib.perturb import Perturber

N_SHOWN = 5
_MOST_FEATURES, _MOST_PIXELS = 400, 160  # of a text, of the side of an image


@dataclass(frozen=True)
class Shown:
    """One input as heat maps show it, and its scores by method.

    `parts`: the strings of its features with whether a blank goes before each; of an image `pixels` [H, W, 3] (uint8)
    and the feature of each, `segments` [H, W].

    >>> Shown(0, "good (probability 0.9)", {"mine": (0.2, 0.1)}, parts=((False, "good"), (True, "film"))).row
    0
    """

    row: int
    title: str
    scores: Mapping[str, tuple[float, ...]]
    parts: tuple[tuple[bool, str], ...] = ()
    pixels: NDArray[np.uint8] | None = field(default=None, compare=False)
    segments: NDArray[np.int64] | None = field(default=None, compare=False)


def shown_of(
    rows: Sequence[int], scores: Mapping[str, Tensor], perturber: Perturber, labels: Sequence[str] = ()
) -> tuple[Shown, ...]:
    """The first inputs of a perturber, which are these rows of the caller's, with scores [B, F] by method and what is
    explained by its name among the `labels`.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))
    >>> shown_of([7], {}, perturber)
    (Shown(row=7, title='class 1 (probability 0.9)', scores={}, parts=((False, 'good'), (True, 'film')), ...),)
    """
    inputs: Inputs = perturber.inputs
    sizes = inputs.feature_mask.sum(dim=1).clamp(max=10**9 if isinstance(inputs, ImageInputs) else _MOST_FEATURES)
    made = []
    for b, row in enumerate(rows[:N_SHOWN]):
        target, size = int(perturber.target[b]), int(sizes[b])
        name = labels[target] if target < len(labels) else f"class {target}"
        own = {method: tuple(map(float, values[b, :size].cpu())) for method, values in scores.items()}
        title = f"{name} ({perturber.output} {float(perturber.full[b]):.3g})"
        made.append(Shown(row, title, own, **_content(inputs, b, size)))
    return tuple(made)


def _content(inputs: Inputs, b: int, size: int) -> dict[str, Any]:
    if isinstance(inputs, ImageInputs):
        return _image(inputs, b)
    if isinstance(inputs, WordInputs):
        names: Sequence[str] = [inputs.texts[b][start:end] for start, end in inputs.spans[b]]
    else:
        names = inputs.features[b] if inputs.features else [f"[{f}]" for f in range(size)]
    spans = inputs.spans[b] if inputs.spans else [(2 * f, 2 * f + 1) for f in range(size)]
    ends = [start for start, _ in spans[:1]] + [end for _, end in spans]
    blanks = [start > end for (start, _), end in zip(spans, ends, strict=False)]
    return {"parts": tuple(zip(blanks[:size], names[:size], strict=True))}


def _image(inputs: ImageInputs, b: int) -> dict[str, Any]:
    """The pixels from black to white, whatever they were normalised by, and the map, every so many pixels."""
    pixels, step = inputs.pixels[b].float().cpu(), -(-max(inputs.pixels.shape[-2:]) // _MOST_PIXELS)
    if len(pixels) != 3:
        pixels = pixels.mean(dim=0, keepdim=True).expand(3, -1, -1)
    low, high = pixels.min(), pixels.max()
    grey = ((pixels - low) / (high - low).clamp(min=1e-9) * 255).byte().permute(1, 2, 0).numpy()
    segments = inputs.maps(inputs.n_features.new_tensor([b]))[0].cpu().numpy()
    return {"pixels": grey[::step, ::step].copy(), "segments": segments[::step, ::step].copy()}
