"""A bench as a folder: `index.html`, which needs nothing from outside, and beside it tables as CSV, and images."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from faithbook.bench.tables import Tables
from faithbook.results import figures
from faithbook.results.labels import label
from faithbook.results.page import write
from faithbook.results.plots import Layout, dot_plot
from faithbook.results.tables import in_names

CAPTIONS: Mapping[str, str] = {
    "answers": "The four questions of the last chapter, the best first: does it separate real attributions from random "
    "ones, also at equal mean importance, does it prefer the planted truth, and is it not worse after misleading; n of "
    "the answer with fewest inputs; rank correlation with the truth before and after misleading, and the worse one.",
    "diagnosticity": "How often each metric prefers a real attribution to random scores (ties count half), with 95 % "
    "interval over n inputs; how many inputs it needs to be sure (– if these do not separate), the smallest gain it "
    "would have found, and the forward passes of the model for one attribution of one input.",
    "density": "At equal mean importance: how often metrics that use how high scores are prefer a real attribution to "
    "itself shuffled, and to random scores if both are ranks.",
    "agreement": "How far it ranks methods as each other metric does: rank correlation over methods, mean over inputs.",
    "planted_truth": "How often each metric prefers the planted truth to itself shuffled (ties count half), by model.",
    "follows_the_truth": "Rank correlation, over explanations of one input, of each metric with how true they are "
    "(AUPRC against what was planted), by model.",
    "misled": "What is lost of that on the model that erasure misleads: trained minus misled.",
    "mirror_images": "Agreement of the explanations of an image and of its mirror image: rank correlation, mean over "
    "images.",
    "preferred_to_random": "How often each metric prefers it to random scores, and to itself shuffled.",
    "beside_other_methods": "The same, mean over metrics, next to other methods.",
    "ranks": "Mean rank over the metrics of faithfulness (1 is best). Metrics of one family agree by construction.",
    "how_true": "How true explanations are: AUPRC against what was planted; on the linear model rank correlation with "
    "its summands.",
    "alike": "Rank correlation of its scores with those of other methods, mean over inputs.",
    "cost": "Rows of the model (of methods that were counted) and seconds for one input.",
}

_STYLE = """
:root { color-scheme: light dark; --line: #8888; --own: #0072b222; --no: #d55e00; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .4rem 0; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }
th[scope=row], thead th:first-child { text-align: left; }
tr.own { background: var(--own); font-weight: bold; }
.wide { overflow-x: auto; }
.wide:focus { outline: 2px solid #0072b2; }
.fault { border-left: .4rem solid var(--no); padding-left: .8rem; }
img { max-width: 100%; height: auto; background: white; }
"""


@dataclass(frozen=True)
class Benched:
    """What a bench says beside its tables: of whom, in which words, what was found wrong, and at which sizes; its page
    is in the `folder`."""

    name: str
    kind: str
    about: str
    faults: Sequence[str]
    verdicts: Sequence[str]
    notes: Sequence[str]
    folder: Path

    @property
    def page(self) -> Path:
        """The page, which needs nothing from outside its folder."""
        return self.folder / "index.html"


def write_page(benched: Benched, tables: Tables) -> None:
    """Write the page with its tables and images."""
    folder, name = benched.folder, html.escape(benched.name)
    folder.mkdir(parents=True, exist_ok=True)
    parts = [f"<h1>{name}: a {benched.kind} on the bench</h1><p>{html.escape(benched.about)}</p>"]
    parts += [_listed("Found wrong", benched.faults, "fault"), _listed("In short", benched.verdicts)]
    for title, table in tables.items():
        write(folder / f"{title}.csv", table.to_csv(index=False, lineterminator="\n").encode())
        parts.append(f'<h2 id="{title}">{html.escape(title.replace("_", " "))}</h2>')
        if title in _PICTURED:
            parts.append(_picture(folder, title, table, benched.name))
        parts.append(_table(title, table, benched.name))
    parts.append(_listed("How it was made", benched.notes))
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name} on the bench</title><style>{_STYLE}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )
    write(benched.page, page.encode())


def _listed(title: str, lines: Sequence[str], kind: str = "plain") -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f'<section class="{kind}"><h2>{title}</h2><ul>{items}</ul></section>' if lines else ""


def _table(name: str, table: pd.DataFrame, subject: str) -> str:
    """A table with its caption and download; rows that name what is judged are marked."""
    shown = in_names(table.rename(columns={"name": "method"}), 2)
    heads = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in shown.columns)
    rows = []
    for is_judged, row in zip((table == subject).any(axis=1), shown.itertuples(index=False), strict=True):
        first, *others = (html.escape(str(value)) for value in row)
        cells = f'<th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in others)
        rows.append(f"{'<tr class=own>' if is_judged else '<tr>'}{cells}</tr>")
    caption = html.escape(CAPTIONS[name])
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(name.replace("_", " "))}"><table>'
        f"<caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f'<p><a href="{name}.csv" download>CSV</a></p>'
    )


_PICTURED = {"diagnosticity": ("metric", 0.5), "agreement": ("metric", 0.0), "beside_other_methods": ("method", 0.5)}
"""Tables that are drawn: the column that names a row, and the value of chance."""


def _picture(folder: Path, name: str, table: pd.DataFrame, subject: str) -> str:
    """Estimates with their intervals, a panel a modality; what is judged in another colour and another form."""
    figures.theme()
    column, chance = _PICTURED[name]
    order = table.groupby(column)["estimate"].mean().sort_values(ascending=False).index
    tidy = table.assign(series=["the others" if one != subject else subject for one in table[column]])
    tidy = tidy.sort_values(column, key=lambda names: names.map(order.get_loc), kind="stable")
    looks = {subject: (figures.PALETTE[1], "D"), "the others": (figures.PALETTE[0], "o")}
    words = {one: label(one) for one in order}
    for kind, part in table.groupby("modality"):
        fewest, most = part["n"].min(), part["n"].max()
        words[kind] = f"{kind}, n = {most:.0f}" + (f", fewest {fewest:.0f}" if fewest < most else "")
    layout = Layout(panel="modality", series="series", names=words, looks=looks, mark=chance, width=9.5)
    fig, alt = dot_plot(tidy, name.replace("_", " "), row=column, layout=layout)
    for ending, content in figures.drawn(fig).items():
        write(folder / f"{name}.{ending}", content)
    plt.close(fig)
    return f'<img src="{name}.svg" alt="{html.escape(alt, quote=True)}">'
