"""The table of `evaluate` as a page: summary, what the metrics mean, heat maps of the first inputs.

One file that loads nothing: no script, no font, no address. Colours are laid over the reader's own, so that it reads on
light and on dark ground. Everything that came from outside is escaped. Of the inputs no more is kept than is shown, so
that it can travel with the table.

Shape letters: B inputs, F features, C channels, H and W pixels.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from faithlib.catalogue import MEANINGS
from faithlib.inputs import ImageInputs, Inputs, WordInputs
from faithlib.perturb import Perturber

_FOR, _AGAINST = (40, 110, 220), (230, 120, 0)  # blue and orange, which colour-blind readers tell apart
_STRONGEST = 0.6
_LEGEND = """<h2>The first inputs</h2><p>Blue supports what is explained, orange contradicts it; the strongest colour is
the largest score of a method on an input. Methods without a sign (attention, saliency) are blue throughout: how much,
not which way. Point at a feature for its score.</p>"""
_STYLE, _PAGE = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("report.css", "report.html"))
N_SHOWN = 5
_MOST_FEATURES, _MOST_PIXELS = 400, 160  # of a text, of the side of an image


def page(summary: pd.DataFrame, notes: Sequence[str] = (), shown: Sequence[Shown] = ()) -> str:
    """A whole page; what `Table.to_html` gives. `summary`: metrics, with an arrow each, by methods.

    >>> made = page(pd.DataFrame({"<lime>": ["0.2"]}, index=["saco ↑"]))
    >>> "<lime>" in made, "&lt;lime&gt;" in made
    (False, True)
    """
    return _PAGE.replace("<!-- content -->", fragment(summary, notes, shown))


def fragment(summary: pd.DataFrame, notes: Sequence[str] = (), shown: Sequence[Shown] = ()) -> str:
    """The same inside a notebook, or another page.

    >>> made = fragment(pd.DataFrame({"lime": ["0.2"]}, index=["saco ↑"]))
    >>> "<html" in made, "cost more when erased" in made
    (False, True)
    """
    meanings = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(MEANINGS[name.split()[0]])}</td></tr>" for name in summary.index
    )
    parts = [f"<style>{_STYLE}</style>", summary_table(summary, notes)]
    parts.append(f"<details><summary>What the metrics mean</summary><table>{meanings}</table></details>")
    if shown:
        parts += [_LEGEND, *map(_heat_maps, shown)]
    return f'<div class="faithlib">{"".join(parts)}</div>'


def summary_table(summary: pd.DataFrame, notes: Sequence[str] = ()) -> str:
    """Metrics by methods with the notes under it.

    >>> "<td>0.2</td>" in summary_table(pd.DataFrame({"lime": ["0.2"]}, index=["saco ↑"]))
    True
    """
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f'<div class="wide">{pd.DataFrame(summary).to_html(border=0, index_names=False)}</div>{below}'


# ----------------------------------------------------------------------------------------------------------- heat maps
def _heat_maps(shown: Shown) -> str:
    draw = _text if shown.pixels is None else _image
    rows = "".join(
        f"<tr><th>{escape(method)}</th><td>{draw(shown, scores)}</td></tr>" for method, scores in shown.scores.items()
    )
    return f'<h3>Input {shown.row}: {escape(shown.title)}</h3><div class="wide"><table>{rows}</table></div>'


def _text(shown: Shown, scores: tuple[float, ...]) -> str:
    most = max(map(abs, scores), default=0.0) or 1.0
    parts = [
        f'{" " * blank}<span style="background:{_colour(score / most)}" title="{score:.3g}">{escape(part)}</span>'
        for (blank, part), score in zip(shown.parts, scores, strict=False)
    ]
    return f'<div class="text" dir="auto">{"".join(parts)}</div>'


def _colour(share: float) -> str:
    red, green, blue = _FOR if share > 0 else _AGAINST
    return f"rgba({red},{green},{blue},{_STRONGEST * abs(share):.2f})"


def _image(shown: Shown, scores: tuple[float, ...]) -> str:
    assert shown.pixels is not None and shown.segments is not None
    values = np.array([*scores, 0.0])[shown.segments]  # -1, what is never erased, has none
    share = (values / (np.abs(values).max() or 1.0))[..., None]
    colour = np.where(share > 0, _FOR, _AGAINST)
    grey = shown.pixels.mean(axis=2, keepdims=True)
    mixed = (1 - _STRONGEST * np.abs(share)) * grey + _STRONGEST * np.abs(share) * colour
    return "".join(
        f'<img alt="{alt}" src="data:image/png;base64,{base64.b64encode(_png(pixels)).decode()}">'
        for alt, pixels in (("the image", shown.pixels), ("the image under its heat map", mixed.astype(np.uint8)))
    )


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels [H, W, 3] as a PNG file."""
    height, width, _ = pixels.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines.tobytes())),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


# ---------------------------------------------------------------------------------------- what is shown of an input
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
        return _pixels_of(inputs, b)
    if isinstance(inputs, WordInputs):
        names: Sequence[str] = [inputs.texts[b][start:end] for start, end in inputs.spans[b]]
    else:
        names = inputs.features[b] if inputs.features else [f"[{f}]" for f in range(size)]
    spans = inputs.spans[b] if inputs.spans else [(2 * f, 2 * f + 1) for f in range(size)]
    ends = [start for start, _ in spans[:1]] + [end for _, end in spans]
    blanks = [start > end for (start, _), end in zip(spans, ends, strict=False)]
    return {"parts": tuple(zip(blanks[:size], names[:size], strict=True))}


def _pixels_of(inputs: ImageInputs, b: int) -> dict[str, Any]:
    """The pixels from black to white, whatever they were normalised by, and the map, every so many pixels."""
    pixels, step = inputs.pixels[b].float().cpu(), -(-max(inputs.pixels.shape[-2:]) // _MOST_PIXELS)
    if len(pixels) != 3:
        pixels = pixels.mean(dim=0, keepdim=True).expand(3, -1, -1)
    low, high = pixels.min(), pixels.max()
    grey = ((pixels - low) / (high - low).clamp(min=1e-9) * 255).byte().permute(1, 2, 0).numpy()
    segments = inputs.maps(inputs.n_features.new_tensor([b]))[0].cpu().numpy()
    return {"pixels": grey[::step, ::step].copy(), "segments": segments[::step, ::step].copy()}
