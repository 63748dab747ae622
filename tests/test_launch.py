"""A published notebook brings what it needs: a first cell, the wheel, and results without what is not free."""

from __future__ import annotations

import ast
import json
import zipfile
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from tiny import finish

from faithbook.engine import launch
from faithbook.engine.plan import Job, plan
from faithbook.engine.publish import Place, lay_out
from faithlib.errors import DataError

ROOT = Path(__file__).resolve().parents[1]
WHERE = Place("someone/a-book", commit="0123456789abcdef")


def report(home: Path) -> Job:
    """The tiny study's report, its computation done with a table of words and one of numbers."""
    (job,) = (one for one in plan("laptop") if one.kind == "report")
    for one in (*job.upstream, job):
        finish(one)
    for one in job.upstream:
        pd.DataFrame({"token": ["their"], "score": [1.0]}).to_parquet(one.folder / "examples.parquet")
        pd.DataFrame({"id": ["a"], "score": [1.0]}).to_parquet(one.folder / "scores.parquet")
        pd.DataFrame({"word": ["their"]}).to_csv(one.folder / "words.csv", index=False)
        (one.folder / "picture.png").write_bytes(b"png")
    return job


def declares(job: Job, *names: str) -> None:
    for one in job.upstream:
        told = json.loads(one.manifest.read_text())
        one.manifest.write_text(json.dumps({**told, "declared": list(names)}))


def test_what_quotes_goes_out_only_where_it_is_free(home: Path, tmp_path: Path) -> None:
    job = report(home)
    (home / "data" / "sources.toml").write_text(
        '[theirs]\nlicence = "(c) them, research use"\n[ours]\nlicence = "MIT"\n'
    )
    declares(job, "theirs", "ours")
    packed = {Path(name).name for name in launch.pack(job, tmp_path / "bound.zip")}
    assert packed == {"manifest.json", "scores.parquet"}
    declares(job, "ours")
    packed = {Path(name).name for name in launch.pack(job, tmp_path / "free.zip")}
    assert packed == {"manifest.json", "scores.parquet", "examples.parquet", "words.csv"}
    with zipfile.ZipFile(tmp_path / "free.zip") as bag:
        for name in bag.namelist():
            assert (home / name).is_file() and name.startswith("data/results/laptop/runs/")
    before = (tmp_path / "free.zip").read_bytes()
    launch.pack(job, tmp_path / "free.zip")
    assert (tmp_path / "free.zip").read_bytes() == before


def test_what_was_not_run_cannot_be_packed(home: Path, tmp_path: Path) -> None:
    (job,) = (one for one in plan("laptop") if one.kind == "report")
    with pytest.raises(DataError, match="build the book first"):
        launch.pack(job, tmp_path / "a.zip")


def test_the_first_cell_names_addresses_of_this_version_alone() -> None:
    (job,) = (one for one in plan("smoke") if one.notebook == "calibration")
    code = launch.first_cell(WHERE, job, "faithlib-0.2.0-py3-none-any.whl")
    ast.parse(code)
    told = {node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)}
    base = "https://someone.github.io/a-book/launch"
    assert {f"{base}/faithlib-0.2.0-py3-none-any.whl", f"{base}/calibration.zip"} <= told
    assert f"{WHERE.url}/archive/{WHERE.commit}.zip" in told
    tagged = launch.first_cell(Place("someone/a-book", "v0.2.0"), job, "w.whl")
    assert "a-book/v0.2.0/launch/w.whl" in tagged and "/archive/v0.2.0.zip" in tagged


def test_only_the_published_copy_has_the_cell(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report(home)
    (home / "CITATION.cff").write_text((ROOT / "CITATION.cff").read_text())
    html, site, name = home / "html", tmp_path / "site", Path("_sources", "executed", "report.ipynb")
    (html / name).parent.mkdir(parents=True)
    (html / "index.html").write_text("first")
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A report")]), html / name)
    monkeypatch.setattr(launch, "build_wheel", lambda folder: folder / "faithlib-0-py3-none-any.whl")
    assert launch.prepare(lay_out(html, site, WHERE), plan("laptop"), WHERE) == [site / name]
    made = nbformat.read(site / name, as_version=4)
    nbformat.validate(made)
    assert [cell.cell_type for cell in made.cells] == ["code", "markdown"] and "urllib" in made.cells[0].source
    assert (site / launch.FOLDER / "report.zip").is_file()
    assert "urllib" not in (html / name).read_text()


def test_the_wheel_that_is_published_is_the_library(tmp_path: Path) -> None:
    wheel = launch.build_wheel(tmp_path)
    names = zipfile.ZipFile(wheel).namelist()
    assert "faithlib/perturb.py" in names and not any(name.startswith("faithbook") for name in names)
