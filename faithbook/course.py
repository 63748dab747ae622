"""The course's assignments, one folder for each session that works without this repository.

`python -m faithbook.course TO` writes `TO/source/session1` and so on. Each has the notebook with its solutions, the
library as a wheel, a small classifier with 24 images (its true reasons are planted), requirements and a note on how to
begin. nbgrader then makes the students' version of each folder (`make course`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import jupytext
import numpy as np

from faithbook.paths import checkpoints_dir, root
from faithbook.sources import planted
from faithbook.sources.images import load_pictures
from faithlib.errors import DataError

CHECKPOINT = "vision/planted-base-seed0"
OF_EACH = 12
"""Images with one striped cell, and as many with two."""

_PINNED = ("torch", "torchvision", "timm", "numpy", "matplotlib")
_NOTE = """\
# {title}

Everything that this assignment needs is in this folder. With Python 3.11 or newer:

    python -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt
    .venv/bin/jupyter notebook {name}.ipynb

The library is `{wheel}` (MIT licence). The classifier in `model/` and the images in `images.npz` come from
Fashion-MNIST (MIT licence), with stripes that were added.
"""


def assignments() -> dict[str, Path]:
    """The notebooks with solutions, by session."""
    return {path.stem: path for path in sorted((root() / "notebooks" / "course").glob("session*.py"))}


def build_wheel(into: Path) -> Path:
    """The library alone as a wheel in a folder; DataError where it cannot be built."""
    line = [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--no-build-isolation", "--python"]
    line += [sys.executable, "--out-dir", str(into), str(root())]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DataError(f"the wheel of faithlib cannot be built: {done.stderr.strip()}")
    return next(into.glob("faithlib-*.whl"))


def add_material(folder: Path) -> None:
    """The classifier as `model/` and the images as `images.npz`: pixels [24, 28, 28], cells [24, 49]."""
    (folder / "model").mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(checkpoints_dir() / CHECKPOINT / name, folder / "model" / name)
    every = load_pictures("planted", "test")
    counts = np.array([len(cells) for cells in every.cells or ()])
    images = every.at(sorted(row for count in (1, 2) for row in np.flatnonzero(counts == count)[:OF_EACH].tolist()))
    pixels = np.stack([np.asarray(image) for image in images.opened()])
    cells = np.zeros((len(images), pixels[0].size // planted.CELL**2), dtype=bool)
    for row, striped in enumerate(images.cells or ()):
        cells[row, list(striped)] = True
    np.savez_compressed(folder / "images.npz", pixels=pixels, cells=cells)


def make(to: Path) -> None:
    """All folders of the course below `to / "source"`, and nbgrader's settings beside them."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build_wheel(Path(scratch))
        for name, path in assignments().items():
            folder = to / "source" / name
            add_material(folder)
            shutil.copy(wheel, folder)
            notebook = jupytext.read(path)
            jupytext.write(notebook, folder / f"{name}.ipynb")
            pins = [f"{package}=={version(package).partition('+')[0]}" for package in _PINNED]
            lines = [f"./{wheel.name}[vision]", *pins, "notebook"]
            (folder / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
            note = _NOTE.format(title=title, name=name, wheel=wheel.name)
            (folder / "README.md").write_text(note, encoding="utf-8")
    # nbgrader gives a cell 30 seconds, which the imports alone can take on a busy machine.
    (to / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 300\n", encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
