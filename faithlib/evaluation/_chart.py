"""The dot plot of a report: methods by metric, as differences to random scores, in SVG without a script.

It is drawn for 360 pixels, so that a phone shows it as it is, and grows with the page. Lines and words take the colour
of the text around them; methods differ by colour and shape. Everything that came from outside is escaped.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor
from typing import Any

import pandas as pd

N_COLOURS = 5  # report.css has them, in light and dark
SHAPES = ("circle", "square", "triangle", "diamond")
EDGE = 5.0  # standard deviations; what goes on beyond is cut off, with an arrow
_WIDTH, _LEFT, _RIGHT = 360, 160, 344
_STEP, _GAP, _LINE = 10, 8, 16  # pixels per method, between metrics, per line of the key
_LONGEST = 26  # letters of a name that are shown
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dot_plot(differences: pd.DataFrame) -> str:
    """A figure with its caption.

    Parameters
    ----------
    differences
        One row per metric and method: those of `Table.differences`.

    Returns
    -------
    str
        HTML with inline SVG; "" where no comparison has an interval. A mark is filled exactly where the comparison is
        starred in the summary, or marked as worse. The values are read out in the description of the SVG.

    Examples
    --------
    >>> row = {"metric": "saco", "method": "<lime>", "mean": 0.2, "low": 0.1, "high": 0.3, "n": 40}
    >>> row |= {"effect": 1.0, "effect_low": 0.5, "effect_high": 1.5, "against_random": "better"}
    >>> figure = dot_plot(pd.DataFrame([row]))
    >>> figure.count('class="filled'), "<lime>" in figure
    (1, False)
    """
    known = differences[["effect", "effect_low", "effect_high"]].notna().all(axis=1)
    drawn = differences[known]
    if drawn.empty:
        return ""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(drawn["method"]))}
    metrics = list(dict.fromkeys(drawn["metric"]))
    axis = _Axis(
        low=floor(max(-EDGE, min(-1.0, drawn["effect_low"].min()))),
        high=ceil(min(EDGE, max(1.0, drawn["effect_high"].max()))),
    )
    key, top = _key(numbers)
    top += _LINE
    band = len(numbers) * _STEP + _GAP
    bottom = top + band * len(metrics)

    parts = []
    for place, metric in enumerate(metrics):
        start = top + place * band
        if place % 2 == 0:
            parts.append(f'<rect class="band" x="0" y="{start}" width="{_WIDTH}" height="{band}"/>')
        parts.append(f'<text x="4" y="{start + band / 2 + 4:g}">{_safe(_short(metric))}</text>')
        for row in drawn[drawn["metric"] == metric].itertuples():
            y = start + _GAP / 2 + (numbers[str(row.method)] + 0.5) * _STEP
            parts.append(_mark(row, numbers[str(row.method)], axis, y))
    parts += [*key, *axis.lines(top, bottom)]

    told = " ".join(_told(row) for row in drawn.itertuples())
    name = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:8]
    head = (
        f'<svg role="img" aria-labelledby="title-{name} told-{name}" viewBox="0 0 {_WIDTH} {bottom + 34}" '
        f'width="{_WIDTH}" height="{bottom + 34}" '
        'preserveAspectRatio="xMinYMin meet">'
        f'<title id="title-{name}">Methods by metric: difference to random scores, higher is better</title>'
        f'<desc id="told-{name}">{_safe(told)}</desc>'
    )
    beyond = bool((drawn["effect_low"] < axis.low).any() or (drawn["effect_high"] > axis.high).any())
    caption = _caption(beyond, list(differences[~known].itertuples()))
    return f"<figure>{head}{''.join(parts)}</svg><figcaption>{caption}</figcaption></figure>"


def _caption(beyond: bool, missing: Sequence[Any]) -> str:
    sentences = [
        "Difference to random scores on the same inputs: mean with its 95 % t interval. Higher is better throughout: "
        "where a lower value of the metric is better, the sign is changed.",
        "The unit is one standard deviation: each metric's differences are divided by the standard deviation of its "
        "paired differences over inputs (root mean square over the methods), so that metrics share an axis.",
        "Filled: the interval leaves out 0, which the table marks with * (better) or ! (worse). Hollow: it does not.",
    ]
    if beyond:
        sentences.append("Arrows: the interval goes on beyond the axis.")
    if missing:
        names = ", ".join(f"{row.method} on {row.metric}" for row in missing)
        sentences.append(f"Not drawn, because fewer than two inputs have a value: {names}.")
    sentences.append("A method that is no better than random still gets about one star in 40 comparisons by chance.")
    return _safe(" ".join(sentences))


@dataclass(frozen=True)
class _Axis:
    """The axis across, from `low` to `high` standard deviations."""

    low: int
    high: int

    def x(self, effect: float) -> float:
        """Pixels from the left; what is beyond the axis is at its end."""
        inside = min(max(effect, self.low), self.high)
        return _LEFT + (inside - self.low) / (self.high - self.low) * (_RIGHT - _LEFT)

    def lines(self, top: int, bottom: int) -> list[str]:
        """The ticks with their numbers, the line of random scores, and which side is better."""
        parts = [
            f'<text class="small" x="{_LEFT}" y="{top - 5}">← worse</text>',
            f'<text class="small" text-anchor="end" x="{_RIGHT}" y="{top - 5}">better →</text>',
        ]
        for tick in range(self.low, self.high + 1):
            x = self.x(tick)
            kind = "zero" if tick == 0 else "tick"
            name = str(tick).replace("-", "−")
            parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom + 3}"/>')
            parts.append(f'<text class="small" text-anchor="middle" x="{x:.1f}" y="{bottom + 14}">{name}</text>')
        middle = (_LEFT + _RIGHT) / 2
        name = "0 = random; standard deviations"
        parts.append(f'<text class="small" text-anchor="middle" x="{middle:g}" y="{bottom + 28}">{name}</text>')
        return parts


def _key(numbers: Mapping[str, int]) -> tuple[list[str], int]:
    """Which mark is which method, in lines, and the height of these."""
    parts: list[str] = []
    x, y = 8.0, _LINE / 2
    for name, number in numbers.items():
        shown = _short(name)
        width = 26 + 6.4 * len(shown)
        if x > 8 and x + width > _WIDTH:
            x, y = 8.0, y + _LINE
        parts.append(f'<g class="sample m{number % N_COLOURS}">{_shape(number, x, y)}</g>')
        parts.append(f'<text x="{x + 9:g}" y="{y + 4:g}">{_safe(shown)}</text>')
        x += width
    return parts, int(y + _LINE / 2)


def _mark(row: Any, number: int, axis: _Axis, y: float) -> str:
    """A mean and its interval, with the values where one points at it."""
    kind = "filled" if row.against_random else "hollow"
    start, end = axis.x(row.effect_low), axis.x(row.effect_high)
    parts = [f"<title>{_safe(_told(row))}</title>", f'<line x1="{start:.1f}" x2="{end:.1f}" y1="{y:g}" y2="{y:g}"/>']
    if row.effect_low < axis.low:
        parts.append(f'<path class="arrow" d="M{start - 7:.1f} {y:g}l7 -3v6z"/>')
    if row.effect_high > axis.high:
        parts.append(f'<path class="arrow" d="M{end + 7:.1f} {y:g}l-7 -3v6z"/>')
    parts.append(_shape(number, axis.x(row.effect), y))
    return f'<g class="{kind} m{number % N_COLOURS}">{"".join(parts)}</g>'


def _shape(number: int, x: float, y: float) -> str:
    shape = SHAPES[number % len(SHAPES)]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:g}" r="3.3"/>'
    outline = {
        "square": "m-3 -3h6v6h-6z",
        "triangle": "m0 -3.8l3.8 6.6h-7.6z",
        "diamond": "m0 -4.2l4.2 4.2l-4.2 4.2l-4.2 -4.2z",
    }
    return f'<path d="M{x:.1f} {y:g}{outline[shape]}"/>'


def _told(row: Any) -> str:
    """The values of a mark, in the units of the metric and in those of the axis."""
    verdict = row.against_random or "the interval contains 0"
    return (
        f"{row.metric}, {row.method}: {row.mean:.3g} ({row.low:.3g} to {row.high:.3g}, n = {row.n}), "
        f"{row.effect:.2g} standard deviations; {verdict}."
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _safe(text: str) -> str:
    """Text as XML takes it: escaped, and without the characters that XML has no way to write."""
    return escape(_NOT_XML.sub("�", text))
