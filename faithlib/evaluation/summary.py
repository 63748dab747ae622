"""The table of `evaluate`: a pandas DataFrame that also sums itself up for a reader, in print and as a page.

Intervals are 95 % t intervals of the mean over inputs, mean +- t(.975, n - 1) s / sqrt(n); NaN values are left out, and
n says how many inputs remain. They hold for inputs that are drawn independently.

The page begins with a sentence (`faithlib.evaluation._advice`) and a dot plot (`faithlib.evaluation._chart`); then come
the summary, what the metrics mean, and heat maps of the first inputs. It is one file that loads nothing: no script, no
font, no address. Colours are laid over the reader's own, so that it reads on light and on dark ground. Everything that
came from outside is escaped. Of the inputs no more is kept than is shown. Printed, it leaves the heat maps out:
sentence, plot and summary of a few methods fit on one page.

Shape letters: B inputs, F features, C channels, H and W pixels.
"""

from __future__ import annotations

import base64
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from faithlib.catalogue import DIRECTIONS, HIGHER, MEANINGS, OF_SCORES_ALONE
from faithlib.errors import InputError, counted, require
from faithlib.evaluation._advice import BETTER, RANDOM, WORSE, sentence_of
from faithlib.evaluation._chart import dot_plot
from faithlib.inputs import ImageInputs, Inputs, WordInputs
from faithlib.perturb import Perturber
from faithlib.segmentation import format_rows

__all__ = ["Summary", "Table"]

COLUMNS = ("input", "method", "metric", "value", "direction")
DIFFERENCES = (
    "metric", "method", "mean", "low", "high", "n", "effect", "effect_low", "effect_high", "against_random",
)  # fmt: skip
ARROWS = {HIGHER: "↑", "lower": "↓"}
LEGEND = (
    "Means ± half of the 95 % t interval over n inputs (the fewest of a line); ↑ higher is better, ↓ lower is better.\n"
    "* better than random, ! worse: the 95 % t interval of the differences on the same inputs leaves out 0."
)


class Table(pd.DataFrame):
    """What `evaluate` returns: a DataFrame with one value per input, method and metric.

    Selections and copies are Tables as well; without the COLUMNS they are like any other DataFrame. `shown`: the first
    inputs with their scores, for heat maps; it travels with selections and pickles, not with files of pandas.

    Examples
    --------
    >>> table = Table({"input": [0, 1], "method": "lime", "metric": "saco", "value": [0.2, 0.4], "direction": "higher"})
    >>> print(round(table.intervals().high[0], 2))
    1.57
    """

    _metadata = ["shown", "whole", "meanings", "kind"]  # noqa: RUF012 - pandas reads a list
    shown: tuple[Shown, ...] = ()
    meanings: Mapping[str, str] = MEANINGS  # of each metric, in a line; those of one's own among them
    whole: int = -1  # rows of the table that evaluate made
    kind: str = "input"  # what an input is: "text", "image", or not known

    @property
    def _constructor(self) -> Any:
        return Table

    def intervals(self) -> pd.DataFrame:
        """Means over inputs with their 95 % t intervals, one row per metric and method.

        Returns
        -------
        DataFrame
            With the columns metric, direction, method, mean, low, high, n, undefined (NaN values), and
            `against_random`: "better" or "worse" where the interval of the differences from random, on the same inputs,
            leaves out 0, else "".

        Raises
        ------
        InputError
            For a selection without the COLUMNS, and for several values of one input.
        """
        rows = []
        for metric, direction, methods, wide in self._by_metric():
            for method in methods:
                mean, half, n = _interval(wide[method])
                row = {"metric": metric, "direction": direction, "method": method, "mean": mean}
                row |= {"low": mean - half, "high": mean + half, "n": n, "undefined": len(wide) - n}
                verdict = ""
                if RANDOM in wide and method != RANDOM:
                    verdict = _verdict(*_difference(wide, method, direction)[:2])
                rows.append(row | {"against_random": verdict})
        return pd.DataFrame(rows)

    def differences(self) -> pd.DataFrame:
        """How much better each method is than random scores on the same inputs: the comparisons behind the stars.

        With d the differences method - random of a metric on n inputs (random - method where lower is better), s their
        standard deviation, and s_metric the root mean square of s over the methods:

            mean = average of d,  low, high = mean -+ t(.975, n - 1) s / sqrt(n),  effect = mean / s_metric

        Returns
        -------
        DataFrame
            One row per metric and method other than random, with the columns

            - metric, method, n: as in `intervals`, except that n counts the inputs where both have a value;
            - mean, low, high: in the units of the metric, higher is better;
            - effect, effect_low, effect_high: the same in standard deviations, for metrics to share an axis. Infinite
              where nothing varies and the mean is not 0;
            - against_random: "better", "worse" or "", as in `intervals`.

            It has no rows where random is not among the methods.

        Raises
        ------
        InputError
            As `intervals` does.

        Examples
        --------
        >>> values = {"method": ["lime"] * 3 + ["random"] * 3, "value": [0.3, 0.5, 0.4, 0.2, 0.2, 0.2]}
        >>> table = Table({"input": [0, 1, 2] * 2, "metric": "saco", "direction": "higher"} | values)
        >>> print(table.differences()[["method", "mean", "effect", "effect_low"]].round(2).to_string(index=False))
        method  mean  effect  effect_low
          lime   0.2     2.0       -0.48
        """
        rows: list[dict[str, Any]] = []
        for metric, direction, methods, wide in self._by_metric():
            if RANDOM not in wide:
                continue
            of_metric: list[dict[str, Any]] = []
            spreads = []
            for method in methods:
                if method == RANDOM:
                    continue
                mean, half, n, spread = _difference(wide, method, direction)
                spreads.append(spread)
                row: dict[str, Any] = {"metric": metric, "method": method, "n": n, "mean": mean, "low": mean - half}
                of_metric.append(row | {"high": mean + half, "against_random": _verdict(mean, half)})
            defined = [spread for spread in spreads if not np.isnan(spread)]
            scale = float(np.sqrt(np.mean(np.square(defined)))) if defined else np.nan
            for row in of_metric:
                row["effect"], row["effect_low"], row["effect_high"] = (
                    _scaled(row[name], scale) for name in ("mean", "low", "high")
                )
            rows += of_metric
        return pd.DataFrame(rows, columns=list(DIFFERENCES))

    def _by_metric(self) -> Iterator[tuple[str, str, list[str], pd.DataFrame]]:
        """Of each metric its name, direction, methods, and values as inputs by methods.

        Metrics of this package in the order of the catalogue, then one's own as they come.
        """
        if missing := [name for name in COLUMNS if name not in self.columns]:
            raise InputError(f"no column {', '.join(missing)}: expected a table of evaluate, or some of its rows")
        if self.duplicated(["input", "method", "metric"]).any():
            raise InputError("some values are there twice: number the inputs of tables that are put together")
        directions: dict[str, str] = dict(zip(self["metric"], self["direction"], strict=True))
        for metric in dict.fromkeys([*DIRECTIONS, *directions]):
            if metric in directions:
                of_metric = pd.DataFrame(self)[self["metric"] == metric]
                wide = of_metric.pivot(index="input", columns="method", values="value")
                methods = [name for name in dict.fromkeys(self["method"]) if name in wide]
                yield metric, directions[metric], methods, wide

    def summary(self) -> Summary:
        """Metrics by methods as a person reads them, random last: means with intervals, arrows, n, and notes.

        Returns
        -------
        Summary
            A DataFrame of strings. Its `sentence` says which methods are better than random, and is printed first.

        Raises
        ------
        InputError
            As `intervals` does.
        """
        intervals = self.intervals()
        methods = sorted(dict.fromkeys(intervals["method"]), key=lambda name: name == RANDOM)
        lines = []
        for metric, of_metric in intervals.groupby("metric", sort=False):
            cells = of_metric.set_index("method")
            halves = (cells["high"] - cells["mean"]).dropna()
            style = _style(float(halves.median()) if len(halves) else np.nan, float(cells["mean"].abs().max()))
            counts = cells["n"][cells["n"] > 0]  # a method without a value says so in its cell
            n = int(counts.min()) if len(counts) else 0
            line = {"metric": f"{metric} {ARROWS[cells['direction'].iloc[0]]}", "n": n}
            lines.append(
                line | {name: _cell(cells.loc[name], style) if name in cells.index else "" for name in methods}
            )
        made = Summary(pd.DataFrame(lines).set_index("metric"))
        alone = [name for name in DIRECTIONS if name in OF_SCORES_ALONE and (self["metric"] == name).any()]
        uncounted = [f"Not counted in the first sentence: {', '.join(alone)}, of the scores alone."] if alone else []
        made.notes = (*LEGEND.split("\n"), *uncounted, *notes_of(self))
        made.meanings = self.meanings
        made.sentence = sentence_of(self.differences(), methods, self["input"].nunique(), self.kind)
        return made

    def to_html(self, buf: Any = None, *args: Any, **options: Any) -> Any:
        """A page with what a person can act on, a dot plot, the summary, what its metrics mean, and heat maps.

        The heat maps are of the first inputs; nothing in the page is loaded from outside.

        Parameters
        ----------
        buf : optional
            A path or an open file that the page is written to; None: it is returned.
        args, options
            Given any of these, or without the COLUMNS, it is the `to_html` of pandas.

        Returns
        -------
        str, int or None
            The page, or what writing it returns.

        Raises
        ------
        InputError
            As `intervals` does.
        """
        if args or options or not self._is_whole():
            return super().to_html(buf, *args, **options)
        summary = self.summary()
        html = page(summary, summary.notes, self.shown, dot_plot(self.differences()))
        if buf is None:
            return html
        return buf.write(html) if hasattr(buf, "write") else Path(buf).write_text(html, encoding="utf-8")

    def _repr_html_(self) -> str | None:
        if not self._is_whole() or len(self) != self.whole:
            plain: str | None = pd.DataFrame(self)._repr_html_()  # type: ignore[operator]
            return plain
        summary = self.summary()
        return fragment(summary, summary.notes, self.shown, dot_plot(self.differences()))

    def _is_whole(self) -> bool:
        return len(self) > 0 and all(name in self.columns for name in COLUMNS)


class Summary(pd.DataFrame):
    """Metrics by methods, as strings; printed with the notes that it needs.

    >>> table = Table({"input": [0, 1], "method": "lime", "metric": "saco", "value": [0.2, 0.4], "direction": "higher"})
    >>> print(table.summary().iloc[:, :2].to_string(index_names=False))
            n       lime
    saco ↑  2  0.3 ± 1.3
    """

    _metadata = ["notes", "meanings", "sentence"]  # noqa: RUF012 - pandas reads a list
    notes: tuple[str, ...] = ()
    meanings: Mapping[str, str] = MEANINGS
    sentence: str = ""

    @property
    def _constructor(self) -> Any:
        return Summary

    def __repr__(self) -> str:
        width = max(shutil.get_terminal_size((120, 24)).columns, 80)
        first = [*textwrap.wrap(self.sentence, width), ""] if self.sentence else []
        return "\n".join((*first, self.to_string(line_width=width, index_names=False), "", *self.notes))

    def _repr_html_(self) -> str | None:
        return _first(self) + summary_table(self, self.notes)


def notes_of(table: pd.DataFrame) -> list[str]:
    """What a reader of the numbers has to know, in sentences: what was skipped, cut off, left out, undefined.

    >>> table = Table({"value": [0.1]})
    >>> table.attrs["truncated"], table.attrs["repeated"] = [3, 5], [4]
    >>> for note in notes_of(table):
    ...     print(note)
    Cut off: 2 texts (rows 3, 5).
    Repeated: 1 input (row 4) is the same as an earlier one, and intervals take it for independent.
    """
    attrs, notes = table.attrs, []
    if skipped := attrs.get("skipped"):
        rows = format_rows([note["row"] for note in skipped])
        notes.append(f"Skipped: {counted(len(skipped), 'input')} ({rows}).")
    if cut := attrs.get("truncated"):
        notes.append(f"Cut off: {counted(len(cut), 'text')} ({format_rows(cut)}).")
    if repeated := attrs.get("repeated"):
        are, them = ("is", "it") if len(repeated) == 1 else ("are", "them")
        which = f"{counted(len(repeated), 'input')} ({format_rows(repeated)})"
        notes.append(f"Repeated: {which} {are} the same as an earlier one, and intervals take {them} for independent.")
    names_of: dict[str, list[str]] = {}
    for name, why in attrs.get("left_out", {}).items():
        names_of.setdefault(why, []).append(name)
    notes += [f"Left out: {', '.join(names)}. {why}" for why, names in names_of.items()]
    for note in attrs.get("undefined", ()):
        which = ", ".join(note["metrics"])
        if not {*note["methods"]} >= {*table["method"]}:
            which += f" of {', '.join(note['methods'])}"
        notes.append(f"Undefined for {format_rows(note['rows'])} ({which}): {note['reason']}.")
    return notes


def _interval(values: pd.Series[Any]) -> tuple[float, float, int]:
    """Mean, half of its interval (NaN for fewer than two values) and number of the defined values."""
    values = values.dropna()
    n = len(values)
    from scipy import stats  # which takes long to import, and no table needs it before it is summed up

    return float(values.mean()), float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)), n


def _difference(wide: pd.DataFrame, method: str, direction: str) -> tuple[float, float, int, float]:
    """Of the differences from random, higher = better: mean, half of its interval, number, standard deviation."""
    differences = wide[method] - wide[RANDOM]
    if direction != HIGHER:
        differences = -differences
    return (*_interval(differences), float(differences.std(ddof=1)))


def _verdict(mean: float, half: float) -> str:
    """Whether the interval of the differences leaves out 0, and on which side."""
    if not abs(mean) > half:  # NaN as well
        return ""
    return BETTER if mean > 0 else WORSE


def _scaled(value: float, scale: float) -> float:
    """The value in units of the scale; infinite where nothing varies, except for 0."""
    if np.isnan(value) or np.isnan(scale):
        return np.nan
    if scale > 0:
        return value / scale
    return 0.0 if value == 0 else float(np.copysign(np.inf, value))


def _digits(half: float) -> int:
    """Decimals that show two digits of half an interval."""
    return 3 if not half > 0 else int(np.clip(1 - np.floor(np.log10(half)), 1, 4))


def _style(half: float, largest: float) -> str:
    """How the numbers of a line are written: with decimals that show two digits of half an interval; with an exponent
    where even the largest mean would be shown as 0."""
    digits = _digits(half)
    return ".1e" if 0 < largest < 0.5 * 10**-digits else f".{digits}f"


def _cell(one: pd.Series[Any], style: str) -> str:
    if np.isnan(one["mean"]):
        return "undefined"
    half = one["high"] - one["mean"]
    mark = {BETTER: "*", WORSE: "!"}.get(one["against_random"], "")
    return f"{one['mean']:{style}}" + ("" if np.isnan(half) else f" ± {half:{style}}") + mark


_FOR, _AGAINST = (40, 110, 220), (230, 120, 0)  # blue and orange, which colour-blind readers tell apart
_STRONGEST = 0.6
_LEGEND = """<h2>The first inputs</h2><p>Blue supports what is explained, orange contradicts it; the strongest colour is
the largest score of a method on an input. Methods without a sign (attention, saliency) are blue throughout: how much,
not which way. Point at a feature for its score.</p>"""
_STYLE, _PAGE = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("report.css", "report.html"))
N_SHOWN = 5
_MOST_FEATURES, _MOST_PIXELS = 400, 160  # of a text, of the side of an image


def page(summary: pd.DataFrame, notes: Sequence[str] = (), shown: Sequence[Shown] = (), plot: str = "") -> str:
    """A whole page; what `Table.to_html` gives. `summary`: metrics, with an arrow each, by methods; `plot`: a figure in
    HTML, such as that of `dot_plot`.

    >>> made = page(pd.DataFrame({"<lime>": ["0.2"]}, index=["saco ↑"]))
    >>> "<lime>" in made, "&lt;lime&gt;" in made
    (False, True)
    """
    return _PAGE.replace("<!-- content -->", fragment(summary, notes, shown, plot))


def fragment(summary: pd.DataFrame, notes: Sequence[str] = (), shown: Sequence[Shown] = (), plot: str = "") -> str:
    """The same inside a notebook, or another page.

    >>> made = fragment(pd.DataFrame({"lime": ["0.2"]}, index=["saco ↑"]))
    >>> "<html" in made, "cost more when erased" in made
    (False, True)
    """
    says = getattr(summary, "meanings", MEANINGS)
    meanings = _table({name: escape(says.get(name.split()[0], "")) for name in summary.index})
    parts = [f"<style>{_STYLE}</style>", _first(summary), plot, summary_table(summary, notes)]
    parts.append(f"<details><summary>What the metrics mean</summary>{meanings}</details>")
    if shown:
        parts.append(f'<div class="maps">{_LEGEND}{"".join(map(_heat_maps, shown))}</div>')
    return f'<div class="faithlib">{"".join(parts)}</div>'


def _first(summary: pd.DataFrame) -> str:
    """The sentence that comes before everything else."""
    sentence = getattr(summary, "sentence", "")
    return f'<p class="first">{escape(sentence)}</p>' if sentence else ""


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
    maps = _table({method: draw(shown, scores) for method, scores in shown.scores.items()})
    return f'<h3>Input {shown.row}: {escape(shown.title)}</h3><div class="wide">{maps}</div>'


def _table(cells: Mapping[str, str]) -> str:
    """A table of two columns in HTML: names and their values."""
    rows = (f"<tr><th>{escape(name)}</th><td>{cell}</td></tr>" for name, cell in cells.items())
    return f"<table>{''.join(rows)}</table>"


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
    file = BytesIO()
    require("PIL.Image", extra="vision").fromarray(pixels).save(file, "PNG")
    return file.getvalue()


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
        scores_of_input = {method: tuple(map(float, values[b, :size].cpu())) for method, values in scores.items()}
        title = f"{name} ({perturber.output} {float(perturber.full[b]):.3g})"
        made.append(Shown(row, title, scores_of_input, **_content(inputs, b, size)))
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
