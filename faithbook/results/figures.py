"""How results look: one theme, figures with alt text, numbered tables, token heat maps, verdict badges.

What a cell of a report shows is MyST text (the book renders it), so that figures and tables are numbered, can be
referred to, carry alternative text, and offer their data for download.
"""

from __future__ import annotations

import html
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from IPython.display import Markdown

from faithlib.errors import InputError

# Okabe and Ito's colours are told apart with every common form of colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PUBLISHED, OURS, REFERENCE = "#D55E00", "#0072B2", "#999999"
LABELS = {
    "attention": "α (attention)",
    "scaled_attention": "α∇α (scaled attention)",
    "input_x_gradient": "x∇x (input × gradient)",
    "integrated_gradients": "IG (integrated gradients)",
    "deeplift": "DeepLIFT",
    "random": "random",
    "average": "average",
    "ns": "NS",
    "nc": "NC",
    "soft_ns": "Soft-NS",
    "soft_nc": "Soft-NC",
    "sst": "SST",
    "ag": "AG News",
    "evinf": "Evidence Inference",
    "multirc": "MultiRC",
    "movie": "movie (for SST)",
    "bbc": "bbc (for AG)",
    "section": "section (for Ev.Inf.)",
    "pair": "pair (for MultiRC)",
    "top_prediction": "TP",
    "saliency": "saliency",
    "guided_backprop": "guided backprop",
    "guided_backprop_released": "guided backprop, as released",
    "activation": "activation",
    "uniform": "uniform",
    "middle": "closeness to the middle",
    "occlusion": "occlusion",
    "lime": "LIME",
    "shapley_sampling": "Shapley sampling",
    "aopc_morf": "AOPC, MoRF",
    "aopc_lerf": "AOPC, LeRF",
    "naopc_morf": "NAOPC, MoRF",
    "naopc_lerf": "NAOPC, LeRF",
    "comprehensiveness_eraser": "comprehensiveness (ERASER)",
    "sufficiency_eraser": "sufficiency (ERASER)",
    "n_auc": "N-AUC",
    "autpc": "AUTPC",
    "iou_f1": "IOU-F1",
    "token_f1": "token-F1",
    "auprc": "AUPRC",
    "average_precision": "average precision",
    "grad_cam": "Grad-CAM",
    "lrp": "LRP",
    "partial_lrp": "Partial LRP",
    "transformer_attribution": "Transformer Attribution",
    "conservative_lrp": "Conservative LRP",
    "raw_attention": "Raw Attention",
    "rollout": "Rollout",
    "transformer_mm": "Transformer-MM",
    "attcat": "ATTCAT",
    "last_layer_attention_with_gradient": "last block, with gradient",
    "saco": "SaCo",
    "auc": "AUC",
    "log_odds": "LOdds",
    "fashion": "fashion (for CIFAR-10)",
    "mnist": "mnist (for CIFAR-100)",
    "animals": "animals (for ImageNet)",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "imagenet": "ImageNet",
}
_SHORTEST_ALT = 40


class Folder(Protocol):
    """Where a report writes its public files: `faithbook.engine.study.Run`."""

    def path(self, name: str) -> Path:
        """The place of a file."""
        ...

    def link(self, name: str) -> str:
        """How the report's page refers to it."""
        ...


def label(name: str) -> str:
    """A method's, metric's or data set's name for people."""
    return LABELS.get(name, name)


def row_label(method: str, aggregation: str) -> str:
    """A method's short name with what was made of the embedding's dimensions: "IG (L2)", "LIME"."""
    short = {"none": "", "mean": " (μ)", "l2": " (L2)"}
    return label(method).split(" (")[0] + short.get(aggregation, f" ({aggregation})")


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


def save(fig: Any, run: Folder, name: str, *, alt: str, caption: str) -> Markdown:
    """Write a figure as SVG and PNG and show it numbered, with alternative text and downloads.

    `name` is file stem and label (underscores become hyphens: `{numref}` uses the label). Raises InputError without an
    `alt` that says what is to be seen.
    """
    if len(alt.strip()) < _SHORTEST_ALT:
        raise InputError(f"figure {name}: alt text {alt!r} is too short: say in a sentence or two what is to be seen")
    for ending, metadata in (("svg", {"Date": None}), ("png", None)):
        buffer = io.BytesIO()
        fig.savefig(buffer, format=ending, metadata=metadata, dpi=200)
        _write(run.path(f"{name}.{ending}"), buffer.getvalue())
    plt.close(fig)
    alt_line = " ".join(alt.split())
    return Markdown(
        f"```{{figure}} {run.link(f'{name}.svg')}\n:name: {name.replace('_', '-')}\n:alt: {alt_line}\n:width: 100%\n\n"
        f"{caption}\n```\n\n{_downloads(run, f'{name}.svg', f'{name}.png')}"
    )


def table(
    frame: pd.DataFrame, run: Folder, name: str, *, caption: str, digits: int = 3, shown: bool = True
) -> Markdown:
    """Write a table as CSV in full precision and show it rounded and numbered, with a download.

    The data keep the names of data sets, methods and metrics as code has them; what is shown has those for people, a
    method's aggregation with its name. `shown=False` writes the data and shows only the download.
    """
    if frame.empty:
        raise InputError(f"table {name} has no rows")
    _write(run.path(f"{name}.csv"), frame.to_csv(index=False, lineterminator="\n").encode())
    link = _downloads(run, f"{name}.csv")
    if not shown:
        return Markdown(link)
    rounded = frame.copy()
    if {"method", "aggregation"} <= set(frame.columns):
        rounded["method"] = [row_label(*row) for row in frame[["method", "aggregation"]].itertuples(index=False)]
        rounded = rounded.drop(columns="aggregation")
    for column in [known for known in ("dataset", "method", "metric", "output") if known in rounded.columns]:
        rounded[column] = [label(cell) if isinstance(cell, str) else cell for cell in rounded[column]]
    for column in rounded.select_dtypes(["float"]).columns.astype(str):
        rounded[column] = [_rounded(x, digits) for x in rounded[column]]
    _write(run.path(f"{name}_shown.csv"), rounded.to_csv(index=False, lineterminator="\n").encode())
    # Colons, because a fence of backticks allows none in what follows it, and captions may have code.
    return Markdown(
        f":::{{csv-table}} {caption}\n:file: {run.link(f'{name}_shown.csv')}\n:header-rows: 1\n"
        f":name: {name.replace('_', '-')}\n:::\n\n{link}"
    )


def _rounded(x: float, digits: int) -> str:
    if math.isnan(x):
        return "–"
    return f"{x:.0f}" if abs(x) >= 2 and float(x).is_integer() else f"{x:.{digits}f}"


def badge(verdict: str) -> str:
    """A verdict as a coloured word (colour is never the only sign: the word is there)."""
    return f'<span class="verdict verdict-{verdict.replace(" ", "-")}">{html.escape(verdict)}</span>'


def verdict_line(verdict: str, reason: str) -> Markdown:
    """A section's verdict with its reason, as a paragraph."""
    return Markdown(f"**Verdict:** {badge(verdict)} {reason}")


def verdict_list(verdicts: Mapping[str, tuple[str, int | None, str]], statements: Mapping[str, str]) -> str:
    """Verdicts by id, each (verdict, n, note) as a report saves it, as a list with what each is about.

    >>> print(verdict_list({"together_q1": ("holds", 12, "2 of 2 parts hold")}, {"together_q1": "All agree."}))
    - q1 <span class="verdict verdict-holds">holds</span> All agree. 2 of 2 parts hold.
    """
    return "\n".join(
        f"- {name.rpartition('_')[2]} {badge(verdict)} {statements[name]} {note}."
        for name, (verdict, _, note) in verdicts.items()
    )


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


def rows_by_output(
    frame: pd.DataFrame,
    rows: Sequence[tuple[str, str]],
    floors: Sequence[tuple[str, str]],
    outputs: Mapping[str, str],
    *,
    x_label: str,
    ours: str,
    published: str = "published",
    line: tuple[float, str] | None = None,
) -> tuple[Any, str]:
    """Two dot plots, one an output, of rows (method, aggregation) with their published values, and floors below them.

    `frame` has the columns method, aggregation, output, estimate, low, high and the one named by `published`;
    `outputs`: their names for people; `line`: a value to mark, with its name. Returns the figure, and in words (for an
    `alt`) what it shows for the first output.
    """
    fig, axes = plt.subplots(1, len(outputs), figsize=(9.5, 5.2), sharey=True, sharex=True)
    everything = [*rows, *floors]
    names = [row_label(*row) for row in rows] + [f"floor: {row_label(*row)}" for row in floors]
    places = list(range(len(everything)))[::-1]
    panels = {
        output: frame[frame.output == output].set_index(["method", "aggregation"]).loc[everything] for output in outputs
    }
    for ax, (output, panel) in zip(axes, panels.items(), strict=True):
        if line:
            ax.axvline(line[0], color="#666666", ls=":", lw=1, label=line[1])
        dots(ax, panel, places, label=ours)
        ax.plot(panel[published], places, "D", mfc="white", mec=PUBLISHED, mew=1.8, label=published)
        ax.set_title(f"output: {outputs[output]}")
        ax.set_xlabel(x_label)
    axes[0].set_yticks(places, names)
    handles, texts = axes[0].get_legend_handles_labels()
    fig.legend(handles, texts, loc="outside upper center", ncols=len(handles), fontsize="small")
    output, panel = next(iter(panels.items()))
    told = "; ".join(f"{row_label(*row)} {panel[published][row]:.2f} and {panel.estimate[row]:.2f}" for row in rows)
    below = "; ".join(f"{row_label(*row)} {panel.estimate[row]:.2f}" for row in floors)
    return fig, f"For {outputs[output]}, {published} and ours: {told}; floors, ours alone: {below}."


def published_against_ours(
    frame: pd.DataFrame, *, x_label: str, chance: float | None = None, ours: str = "ours, 95 % interval"
) -> Any:
    """A dot plot with one line a row: published value, our estimate with its interval, the reference run where there
    is.

    `frame` has the columns label, published, estimate, low, high and optionally reference. Returns the figure.
    """
    fig, ax = plt.subplots(figsize=(7, 0.42 * len(frame) + 1.3))
    y = range(len(frame))[::-1]
    dots(ax, frame, y, label=ours)
    if "reference" in frame:
        ax.plot(frame.reference, y, "|", color=REFERENCE, ms=14, mew=2, label="reference run", zorder=2)
    ax.plot(frame.published, y, "D", mfc="white", mec=PUBLISHED, mew=1.8, label="published", zorder=4)
    if chance is not None:
        ax.axvline(chance, color="#666666", ls=":", lw=1)
    ax.set_yticks(list(y), frame.label)
    ax.set_xlabel(x_label)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small")
    return fig


def _downloads(run: Folder, *names: str) -> str:
    return "Download: " + ", ".join(f"{{download}}`{Path(name).suffix[1:]} <{run.link(name)}>`" for name in names)


def _write(path: Path, content: bytes) -> None:
    part = path.with_suffix(path.suffix + ".part")
    part.write_bytes(content)
    os.replace(part, path)
