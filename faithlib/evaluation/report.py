"""The table of `evaluate` as a page: summary, what the metrics mean, heat maps of the first inputs.

One file that loads nothing: no script, no font, no address. Colours are laid over the reader's own, so that it reads on
light and on dark ground. Everything that came from outside is escaped.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithlib.catalogue import MEANINGS
from faithlib.evaluation.shown import Shown

_FOR, _AGAINST = (40, 110, 220), (230, 120, 0)  # blue and orange, which colour-blind readers tell apart
_STRONGEST = 0.6
_LEGEND = """<h2>The first inputs</h2><p>Blue supports what is explained, orange contradicts it; the strongest colour is
the largest score of a method on an input. Methods without a sign (attention, saliency) are blue throughout: how much,
not which way. Point at a feature for its score.</p>"""
_STYLE, _PAGE = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("report.css", "report.html"))


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
