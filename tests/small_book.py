"""A book of four pages in two parts, built by Sphinx from an executed notebook that is written by hand."""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import nbformat
import pandas as pd
import pytest
from nbformat import v4 as nb
from PIL import Image
from tiny import make_home

from faithbook.engine import pages
from faithbook.judge.summary import anchor
from faithbook.show.tables import markdown_table

ROOT = Path(__file__).resolve().parents[1]
OTHERS = "https://example.org/elsewhere"

TOC = """\
format: jb-book
root: intro
parts:
  - caption: What was found
    numbered: 1
    chapters:
      - file: executed/report
  - caption: For work
    numbered: 1
    chapters:
      - file: more
        sections:
          - file: below
"""

INTRO = "# A small book\n\nSee {doc}`executed/report` and {ref}`the place <place>`.\n"
MORE = (
    "# More\n\nThe first words. [Here](#place), or [elsewhere]("
    + OTHERS
    + ").\n\n"
    + "Words.\n\n" * 120
    + "(place)=\n## A place\n\nSome more text.\n\n"
    + ":::{dropdown} Answer\nAn answer that was folded.\n:::\n"
)
BOARD = markdown_table(
    pd.DataFrame(
        {"what": [f"`{name}`{{#{anchor(name)}}} said" for name in ("soft_c01", "soft_c02")], "verdict": "holds"}
    ),
    "small_board",
    "Two verdicts",
    findable=True,
)
BELOW = "# Below\n\nBelow it all, after {doc}`more`.\n"


class Built(NamedTuple):
    """A built book: the repository it is of, what it was made from, its pages."""

    home: Path
    source: Path
    html: Path


def notebook() -> str:
    """An executed report with a folded cell, a line of text and a picture."""
    picture = (ROOT / "book" / "_static" / "landing.png").read_bytes()
    shown = [{"text/markdown": BOARD}, {"text/markdown": "A number: 42. {download}`data <report/table.csv>`"}]
    shown += [{"image/png": base64.b64encode(picture).decode(), "text/plain": "<Figure>"}]
    outputs = [nb.new_output("display_data", output) for output in shown]
    code = nb.new_code_cell("secret_code = 1", outputs=outputs, metadata={"tags": ["hide-input"]})
    cells = [nb.new_markdown_cell("# A report"), code]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.writes(nb.new_notebook(cells=cells, metadata=kernel))


def built(folder: Path, **environment: str) -> Built:
    """The book built below a folder, as if that were the repository; `environment`: variables to build it with."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("REPOSITORY", "GITHUB_REPOSITORY", "GITHUB_REF_NAME", "GITHUB_SHA"):
            patch.delenv(name, raising=False)
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        for name, value in {"FAITHLIB_HOME": str(folder), "PYTHONPATH": path, **environment}.items():
            patch.setenv(name, value)
        source = make_home(folder) / "book"
        files = {
            "_toc.yml": TOC,
            "intro.md": INTRO,
            "more.md": MORE,
            "below.md": BELOW,
            "executed/report.ipynb": notebook(),
            "executed/report/table.csv": "a,b\n1,2\n",
        }
        for name, text in files.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text, encoding="utf-8")
        shutil.copy(ROOT / "CITATION.cff", folder / "CITATION.cff")
        (source / "executed" / "scoreboard").mkdir()
        Image.new("RGB", (800, 400), (200, 30, 30)).save(source / "executed" / "scoreboard" / "scoreboard_counts.png")
        pages._pages(source)
    return Built(folder, source, source / "_build" / "html")
