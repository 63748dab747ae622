"""All that was judged in one figure, published against ours: a line each, as text with a small drawing beside it.

Lines are HTML, so that their words can be read at any width, on a phone, in the dark and in print. A drawing shows ours
with its 95 % interval, the published value, and the region in which the claim holds. Quantities of different findings
have different units, so each line has a scale of its own: 0 is the border that the rule draws (of a rule with two
borders the middle), and the farthest of what is drawn from it is at the edge. A number that was worked out again should
be the published one: no border decides it, and the published value is in the middle.
"""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass

from faithbook.show.tables import of_size, rounded

WIDTH, HEIGHT = 200, 22
_EDGE = 8  # free at either end of a drawing
_LEAST = 0.1  # how far a drawing without a border reaches at least: what differs by rounding is at one place


@dataclass(frozen=True)
class Finding:
    """A line of the figure: whose it is, its id and words, what was decided on which evidence, the numbers of the part
    that decides (NaN where there is none), the borders that its rule draws (one, above which the claim holds, two,
    between which it does, or none, where ours should be the published number), of what is undecided what it `waits`
    for, since its dot may lie on either side, in words the `part` that decides, and where `theirs` stands."""

    group: str
    id: str
    words: str
    verdict: str
    evidence: str
    borders: tuple[float, ...]
    ours: float = math.nan
    low: float = math.nan
    high: float = math.nan
    published: float = math.nan
    n: int | None = None
    waits: str = ""
    part: str = ""
    theirs: str = "published"

    @property
    def middle(self) -> float:
        """What stands in the middle of its drawing."""
        return sum(self.borders) / len(self.borders) if self.borders else self.published

    @property
    def half_range(self) -> float:
        """How far the drawing reaches on either side of the middle."""
        seen = [*self.borders, self.ours, self.low, self.high, self.published]
        reach = max((abs(value - self.middle) for value in seen if not math.isnan(value)), default=0.0)
        if not self.borders:
            return max(reach, abs(self.published), _LEAST)
        return reach or 1.0

    def place(self, value: float) -> float:
        """Where a value stands in the drawing, from 0 to `WIDTH`."""
        half = WIDTH / 2 - _EDGE
        return WIDTH / 2 + half * (value - self.middle) / self.half_range

    @property
    def spoken(self) -> str:
        """The numbers in words."""
        if math.isnan(self.ours):
            return "no number decides it"
        ends = "" if math.isnan(self.low) else f" [{of_size(self.low)}, {of_size(self.high)}]"
        theirs = "" if math.isnan(self.published) else f", {self.theirs} {of_size(self.published)}"
        size = "" if self.n is None else f", n = {self.n:,} in the smallest set"
        part = f"{self.part}: " if self.part else ""
        said = f"{part}ours {of_size(self.ours)}{ends}{theirs}{size}"
        border = " and ".join(rounded(border, 2) for border in self.borders)
        return f"{said}; border {border}" if border else f"{said}; this number, recomputed"


def forest_html(findings: list[Finding], *, to: str = "") -> str:
    """The figure as HTML, grouped by whose findings they are; `to`: the page with a place for each verdict, where it is
    another than this one."""
    parts = ['<div class="forest" role="list">']
    group = ""
    for finding in findings:
        if finding.group != group:
            parts.append(f'<p class="forest-group">{html.escape(finding.group)}</p>')
            group = finding.group
        parts.append(_line(finding, to))
    return "".join([*parts, "</div>"])


def _line(finding: Finding, to: str) -> str:
    evidence = "" if finding.evidence == finding.verdict else f"<small>{html.escape(finding.evidence)}</small>"
    waits = f"<small>{html.escape(finding.waits)}</small>" if finding.waits else ""
    link = f"{to}#verdict-{finding.id.replace('_', '-')}"
    kind = re.sub(r"[^a-z]+", "-", finding.verdict)
    return (
        '<div class="forest-line" role="listitem"><span class="forest-words">'
        f'<a href="{link}">{html.escape(finding.words)}</a></span>{_drawing(finding)}'
        f'<span class="forest-end"><span class="verdict verdict-{kind}">{html.escape(finding.verdict)}</span> '
        f"{evidence}{waits}</span></div>"
    )


def _drawing(finding: Finding) -> str:
    y = HEIGHT / 2
    spoken = html.escape(finding.spoken, quote=True)
    if math.isnan(finding.ours):
        return f'<small class="forest-none">{spoken}</small>'
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{spoken}"><title>{spoken}</title>']
    if finding.borders:
        left = finding.place(finding.borders[0])
        right = finding.place(finding.borders[1]) if len(finding.borders) > 1 else WIDTH
        parts.append(f'<rect class="holds" x="{left:.1f}" y="0" width="{right - left:.1f}" height="{HEIGHT}"/>')
    parts += [
        f'<line class="border" x1="{finding.place(border):.1f}" x2="{finding.place(border):.1f}" y1="0" y2="{HEIGHT}"/>'
        for border in finding.borders
    ]
    if not math.isnan(finding.low):
        ends = f'x1="{finding.place(finding.low):.1f}" x2="{finding.place(finding.high):.1f}"'
        parts.append(f'<line class="interval" {ends} y1="{y}" y2="{y}"/>')
    if not math.isnan(finding.published):
        x = finding.place(finding.published)
        parts.append(f'<path class="published" d="M{x:.1f} {y - 6}l6 6l-6 6l-6 -6z"/>')
    parts.append(f'<circle class="ours" cx="{finding.place(finding.ours):.1f}" cy="{y}" r="4"/>')
    return "".join([*parts, "</svg>"])
