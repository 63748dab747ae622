"""The course's assignments, one folder for each session that works without this repository.

`python -m faithbook.course TO` writes `TO/source/session1` and so on. Each has the notebook with its solutions, the
library as a wheel, requirements, a note on how to begin, and what its notebook reads: a small classifier with 24 images
(its true reasons are planted), or values of single texts that the book was computed from. nbgrader then makes the
students' version of each folder (`make course`).

Beside them, `TO/blocks` has what the code blocks of the book's prose need, and these blocks as notebooks.

`--seed 2` makes the second variant: other numbers, images and data for the same tasks. Each notebook has a line
`SEED = 1`, everything that varies follows from it, and so do the model answers.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import numpy as np
import pandas as pd

from faithbook.engine.inputs import UNITS_DIR
from faithbook.models.load import load_model
from faithbook.paths import checkpoints_dir, root
from faithbook.sources import planted
from faithbook.sources.images import load_pictures
from faithbook.studies.soft.zhao_aletras_diagnosticity import with_lengths
from faithlib.errors import DataError, InputError

CHECKPOINT = "vision/planted-base-seed0"
OF_EACH = 12
"""Images with one striped cell, and as many with two."""
VALUES = ("sst", "ag", "sst_mpnet", "ag_mpnet")
"""The computations of study 1 whose values an assignment reads, by seed: SST-2 and AG News, small and larger models."""
TEXTS = 250
"""Texts of the values that an assignment reads, at most."""
TEXT_CHECKPOINT = "local:text/movie-seed0"
SENTENCES = (
    "A warm, funny film that never tries too hard.",
    "Two long, dull hours without a single idea.",
    "The actors are wonderful, and the story is told with care.",
    "I laughed twice and looked at my watch ten times.",
    "A clever thriller with a surprising and moving end.",
    "Nothing here works, neither the jokes nor the music.",
    "It is slow at first, but the last hour is superb.",
    "A tired copy of better films.",
    "Beautiful landscapes, honest feelings, and a great score.",
    "The plot makes no sense and the dialogue is painful.",
    "One of the best comedies of the year.",
    "Loud, empty and much too long.",
)
"""Sentences for the code blocks, written for this book."""
_SEED_LINE = "SEED = 1  #"

_PINNED = ("torch", "torchvision", "timm", "numpy", "matplotlib")
_NOTE = """\
# {title}

Everything that this assignment needs is in this folder. With Python 3.11 or newer:

    python -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt
    .venv/bin/jupyter notebook {name}.ipynb

The library is `{wheel}` (MIT licence). {material}
"""
_IMAGES_NOTE = (
    "The classifier in `model/` and the images in `images.npz` come from Fashion-MNIST (MIT licence), with stripes "
    "that were added."
)
_VALUES_NOTE = (
    "The numbers in `values.csv.gz` are values of single texts that study 1 of the book was computed from, with "
    "numbers instead of the texts."
)
_TEXT_NOTE = (
    "The classifier in `text/` is all-MiniLM-L6-v2 (Apache-2.0) with an adapter of the book; the sentences in "
    "`texts.json` were written for the book."
)


def assignments() -> dict[str, Path]:
    """The notebooks with solutions, by session."""
    return {path.stem: path for path in sorted((root() / "notebooks" / "course").glob("*.py"))}


def build_wheel(into: Path) -> Path:
    """The library alone as a wheel in a folder; DataError where it cannot be built."""
    line = [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--no-build-isolation", "--python"]
    line += [sys.executable, "--out-dir", str(into), str(root())]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DataError(f"the wheel of faithlib cannot be built: {done.stderr.strip()}")
    return next(into.glob("faithlib-*.whl"))


def add_images(folder: Path, *, seed: int = 1) -> None:
    """The classifier as `model/` and the images as `images.npz`: pixels [24, 28, 28], cells [24, 49].

    Each seed has images of its own; InputError where there are not enough for it.
    """
    (folder / "model").mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(checkpoints_dir() / CHECKPOINT / name, folder / "model" / name)
    all_images = load_pictures("planted", "test")
    counts = np.array([len(cells) for cells in all_images.cells or ()])
    rows: list[int] = []
    for count in (1, 2):
        found = np.flatnonzero(counts == count)[(seed - 1) * OF_EACH :][:OF_EACH].tolist()
        if len(found) < OF_EACH:
            raise InputError(f"seed {seed} has no {OF_EACH} images of its own: the first {len(all_images)} are in use")
        rows += found
    images = all_images.at(sorted(rows))
    pixels = np.stack([np.asarray(image) for image in images.opened()])
    cells = np.zeros((len(images), pixels[0].size // planted.CELL**2), dtype=bool)
    for row, striped in enumerate(images.cells or ()):
        cells[row, list(striped)] = True
    np.savez_compressed(folder / "images.npz", pixels=pixels, cells=cells)


def add_values(folder: Path, *, seed: int = 1) -> None:
    """Study 1's values of single texts as `values.csv.gz`: text, training, method, metric, value."""
    name = VALUES[(seed - 1) % len(VALUES)]
    stored = root() / UNITS_DIR / "soft_metrics"
    parts = [pd.read_parquet(path) for path in sorted(stored.glob(f"{name}_[0-9]-units*.parquet"))]
    units = pd.concat([part.assign(dataset=name) for part in parts], ignore_index=True)
    units = units[(units["method"] != "none") & units["metric"].isin(["ns", "nc", "soft_ns", "soft_nc"])]
    scores = with_lengths(units.astype({"metric": str, "method": str}))
    scores = scores[scores["metric"].isin(["ns", "nc", "soft_ns", "soft_nc"])]
    names = sorted(scores["id"].unique())[:TEXTS]
    chosen = scores[scores["id"].isin(names)]
    numbers = chosen["id"].map({name: number for number, name in enumerate(names)})
    values = chosen.assign(text=numbers, training=chosen["seed"])[["text", "training", "method", "metric", "value"]]
    folder.mkdir(parents=True, exist_ok=True)
    ordered = values.sort_values(["text", "training", "method", "metric"])
    # Without a time in the file, the same values have the same bytes.
    ordered.to_csv(folder / "values.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})


def blocks_of(text: str) -> list[str]:
    """The Python blocks of a page in MyST, in their order.

    >>> blocks_of("Words.\\n\\n```python\\nprint(1)\\n```\\n")
    ['print(1)\\n']
    """
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def add_blocks(folder: Path) -> None:
    """What the book's code blocks read: a classifier of texts in `text/`, sentences in `texts.json`, and images with
    their classifier (`add_images`)."""
    add_images(folder)
    classifier = load_model(TEXT_CHECKPOINT)
    classifier.model.save_pretrained(folder / "text")
    classifier.tokenizer.save_pretrained(folder / "text")
    (folder / "texts.json").write_text(json.dumps(SENTENCES, indent=1) + "\n", encoding="utf-8")


def block_notebooks(folder: Path) -> None:
    """One notebook per page of the book that has code blocks, with the headings above them."""
    book = root() / "book"
    for path in sorted(book.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if {"_build", "executed"} & set(path.relative_to(book).parts) or not blocks_of(text):
            continue
        cells = []
        for heading, block in re.findall(r"^(#+ .+)$|^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
            if block:
                cells.append(nbformat.v4.new_code_cell(block.strip()))
            else:
                cells.append(nbformat.v4.new_markdown_cell(heading))
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        name = "-".join(path.relative_to(book).with_suffix("").parts)
        nbformat.write(notebook, folder / f"{name}.ipynb")


def with_seed(notebook: Any, seed: int) -> Any:
    """The notebook as a variant: its line `SEED = 1` with another number. Raises InputError where it has none."""
    lines = sum(cell.source.count(_SEED_LINE) for cell in notebook.cells)
    if lines != 1:
        raise InputError(f"an assignment has one line {_SEED_LINE!r}, found {lines}")
    for cell in notebook.cells:
        cell.source = cell.source.replace(_SEED_LINE, f"SEED = {seed}  #")
    return notebook


def make(to: Path, *, seed: int = 1) -> None:
    """All folders of the course below `to / "source"`, and nbgrader's settings beside them."""
    if seed < 1:
        raise InputError(f"seed is {seed}, expected 1 or more")
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build_wheel(Path(scratch))
        for name, path in assignments().items():
            folder = to / "source" / name
            notebook = with_seed(jupytext.read(path), seed)
            text = "\n".join(cell.source for cell in notebook.cells)
            material = []
            if "images.npz" in text:
                add_images(folder, seed=seed)
                material.append(_IMAGES_NOTE)
            if "values.csv.gz" in text:
                add_values(folder, seed=seed)
                material.append(_VALUES_NOTE)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(wheel, folder)
            jupytext.write(notebook, folder / f"{name}.ipynb")
            pins = [f"{package}=={version(package).partition('+')[0]}" for package in _PINNED]
            lines = [f"./{wheel.name}[vision]", *pins, "notebook"]
            (folder / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
            note = _NOTE.format(title=title, name=name, wheel=wheel.name, material=" ".join(material))
            (folder / "README.md").write_text(note, encoding="utf-8")
        blocks = to / "blocks"
        add_blocks(blocks)
        block_notebooks(blocks)
        shutil.copytree(root() / "examples", blocks / "examples", dirs_exist_ok=True)
        shutil.copy(wheel, blocks)
        lines = [f"./{wheel.name}[text,vision]", "matplotlib", "notebook"]
        (blocks / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        note = _NOTE.format(
            title="The book's code blocks", name="exercises", wheel=wheel.name, material=f"{_IMAGES_NOTE} {_TEXT_NOTE}"
        )
        (blocks / "README.md").write_text(note, encoding="utf-8")
    # nbgrader gives a cell 30 seconds, which the imports alone can take on a busy machine.
    (to / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 300\n", encoding="utf-8")


def main() -> None:
    """The command of `make course`."""
    parser = argparse.ArgumentParser(prog="faithbook.course", description="The course's assignments into a folder.")
    parser.add_argument("to", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="the variant: other numbers, the same tasks (1 or more)")
    options = parser.parse_args()
    make(options.to, seed=options.seed)


if __name__ == "__main__":
    main()
