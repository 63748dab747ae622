"""How figures look: one theme, alt text, token heat maps, dot plots of published values against ours.

What a cell of a report shows is MyST text (the book renders it), so that figures are numbered, can be referred to,
carry alternative text, and offer their data for download.
"""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from IPython.display import Markdown
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.text import Text

from faithbook.show import hover
from faithbook.show.page import Folder, downloads, write_whole
from faithbook.text import with_minus_signs
from faithlib.errors import InputError

# Okabe and Ito's colours differ visibly with every common form of colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PUBLISHED, OURS, REFERENCE = "#D55E00", "#0072B2", "#999999"
_SHORTEST_ALT = 40
_MARKERS = "osD^vP*"


def theme() -> None:
    """Fonts, colours and sizes of every figure. The white face stays white in dark mode, so that ink keeps its
    contrast."""
    sns.set_theme(context="notebook", style="whitegrid", palette=PALETTE)
    mpl.rcParams.update(
        {
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "axes.titlesize": "medium",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "font.family": "DejaVu Sans",
            # The same figure gives the same bytes on every run.
            "svg.hashsalt": "faithlib",
            "svg.fonttype": "path",
        }
    )


def save(fig: Any, run: Folder, name: str, *, alt: str, caption: str, line: str | None = None) -> Markdown:
    """Write a figure as SVG and PNG and show it numbered, with alternative text; `line`: what stands under it, the
    downloads where nothing else is said.

    `name` is file stem and label (underscores become hyphens: `{numref}` uses the label). Raises InputError without an
    `alt` that says what is to be seen.
    """
    if len(alt.strip()) < _SHORTEST_ALT:
        raise InputError(f"figure {name}: alt text {alt!r} is too short: say in a sentence or two what is to be seen")
    for text in fig.findobj(Text):
        text.set_text(with_minus_signs(text.get_text()))
    for ending, content in image_files(fig).items():
        write_whole(run.path(f"{name}.{ending}"), content)
    label, alt_line = name.replace("_", "-"), with_minus_signs(" ".join(alt.split()))
    script = hover.script(fig, label)  # laid out by now
    plt.close(fig)
    under = downloads(run, f"{name}.svg", f"{name}.png") if line is None else line
    return Markdown(
        f"```{{figure}} {run.link(f'{name}.svg')}\n:name: {label}\n:alt: {alt_line}\n:width: 100%\n\n"
        f"{with_minus_signs(caption)}\n```\n\n{under}" + (script and f"\n\n{script}")
    )


def image_files(fig: Any) -> dict[str, bytes]:
    """A figure as SVG and PNG, by ending.

    Laid out once for both: `savefig` does that again for each and draws each twice, in up to half of a page's time.
    """
    fig.dpi = 200
    fig.draw_without_rendering()
    fig.set_layout_engine("none")
    svg, png = io.BytesIO(), io.BytesIO()
    FigureCanvasAgg(fig).print_png(png)
    FigureCanvasSVG(fig).print_svg(svg, metadata={"Date": None})
    return {"svg": svg.getvalue(), "png": png.getvalue()}


def heatmap(
    tokens: Sequence[str],
    scores: Sequence[float],
    *,
    rationale: Sequence[bool] | None = None,
    title: str = "",
    shown: int | None = None,
) -> str:
    """Tokens as HTML: the tint follows the score (soft view); a `rationale` is outlined (hard view).

    Scores are min-max scaled over the text. Screen readers get the words, with the five highest and the members of the
    rationale marked. `shown`: print only the first so many tokens; scale and ranks stay those of the whole text.

    Raises InputError where tokens, scores and rationale differ in number.
    """
    if len(tokens) != len(scores) or not tokens or (rationale is not None and len(rationale) != len(tokens)):
        third = "no rationale" if rationale is None else f"{len(rationale)} rationale marks"
        raise InputError(f"{len(tokens)} tokens, {len(scores)} scores, {third}: expected as many of each, at least one")
    low, high = min(scores), max(scores)
    scaled = [(s - low) / (high - low) if high > low else 0.5 for s in scores]
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    ranks = {i: r + 1 for r, i in enumerate(order[:5])}
    spans = []
    for i, (token, share) in enumerate(list(zip(tokens, scaled, strict=True))[:shown]):
        classes, marks = ["token"], [f"score {scores[i]:.4g}"]
        if i in ranks:
            marks.append(f"rank {ranks[i]}")
        if rationale is not None and rationale[i]:
            classes.append("rationale")
            marks.append("in the rationale")
        # Black words stay readable on the darkest tint, 85 % of the colour. The title is for the mouse; what matters of
        # it is said again for ears.
        heard = f'<span class="visually-hidden"> ({", ".join(marks[1:])})</span>' if marks[1:] else ""
        spans.append(
            f'<span class="{" ".join(classes)}" style="background:rgba(0,114,178,{0.85 * share:.2f})" '
            f'title="{", ".join(marks)}">{html.escape(token)}{heard}</span>'
        )
    if len(spans) < len(tokens):
        spans.append(f"<span>… ({len(tokens) - len(spans)} more)</span>")
    heading = f'<p class="heatmap-title">{html.escape(title)}</p>' if title else ""
    label_text = html.escape(f"{title}: tokens tinted by score" if title else "tokens tinted by score")
    return f'{heading}<div class="heatmap" role="group" aria-label="{label_text}">{" ".join(spans)}</div>'


def dots(
    ax: Any,
    frame: pd.DataFrame,
    places: Sequence[float] | Any,
    *,
    columns: tuple[str, str, str] = ("estimate", "low", "high"),
    colour: str = OURS,
    marker: str = "o",
    width: float = 2,
    **style: Any,
) -> None:
    """Estimates with their intervals as dots on level lines: one row of `frame` at each of the `places` on the y axis.

    `columns`: which hold the estimate and the ends of the interval; `style`: what else matplotlib's `plot` is to know
    (a label for the legend, say).
    """
    estimate, low, high = (frame[column] for column in columns)
    ax.hlines(places, low, high, color=colour, lw=width, zorder=2)
    ax.plot(estimate, places, marker, color=colour, zorder=3, **style)
    hover.say_rows(ax, estimate, places, style.get("label", ""), low, high)


def curve(
    ax: Any,
    x: Sequence[float] | Any,
    frame: pd.DataFrame,
    name: str,
    *,
    colour: str,
    at: Sequence[str] | None = None,
    bars: bool = False,
    **style: Any,
) -> None:
    """Estimates along a line with their intervals as a band, or as upright `bars`: one row of `frame` at each `x`.

    `name`: of the curve, for the legend (unless `style` has a label) and for what its points say; `at`: of its places,
    where they are not plain numbers; `style`: what else matplotlib's `plot` is to know.
    """
    if bars:
        ax.vlines(x, frame["low"], frame["high"], color=colour, lw=1.2)
    else:
        ax.fill_between(x, frame["low"], frame["high"], color=colour, alpha=0.15, lw=0)
    ax.plot(x, frame["estimate"], color=colour, **{"label": name, **style})
    hover.say_curve(ax, x, frame["estimate"], name, frame["low"], frame["high"], at=at)


def panels(
    number: int, columns: int, *, height: float, more: float = 0, width: float = 8, **style: Any
) -> tuple[Any, list[Any]]:
    """A figure with so many panels in lines of `height` inches, and so many `more` for what stands around them; places
    of the last line that are left over stay empty.

    `style`: what matplotlib's `subplots` is to know.
    """
    lines = -(-number // columns)
    fig, axes = plt.subplots(lines, columns, figsize=(width, height * lines + more), squeeze=False, **style)
    for spare in axes.flat[number:]:
        spare.set_visible(False)
    return fig, list(axes.flat[:number])


def bare(ax: Any, title: str, size: float | str = "small") -> None:
    """A panel without ticks, for an image."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.set_title(title, fontsize=size)


def legend(fig: Any, columns: int | None = None, *, side: str = "upper") -> None:
    """What the first panel has names for, as a legend of the whole figure outside of its panels; in one line by
    default."""
    handles, names = fig.axes[0].get_legend_handles_labels()
    fig.legend(handles, names, loc=f"outside {side} center", ncols=columns or len(handles) or 1, fontsize="small")


def styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each of up to 49 names, no two of them alike.

    >>> len(set(styles([str(i) for i in range(49)]).values()))
    49
    """
    colours = len(PALETTE)
    return {name: (PALETTE[i % colours], _MARKERS[(i + i // colours) % len(_MARKERS)]) for i, name in enumerate(names)}
