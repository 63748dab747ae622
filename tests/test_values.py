"""The knob: whose values a page shows. A reader changes a choice, computes, and runs the report again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from store import of_inputs, run_cells
from tiny import REPOSITORY

from faithbook.access import declare
from faithbook.engine import computed, pages
from faithbook.engine.plan import BOTH, REFERENCE, RUN, VALUES, make_job, notebook_parameters, plan, shows_runs
from faithbook.engine.studies import notebooks
from faithbook.engine.study import Settings, with_changes
from faithbook.show import figures, tables
from faithbook.stats import comparison
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithlib.errors import InputError, UnknownNameError

REPORTS = [notebook.name for notebook in notebooks("report")]
IN_REPORT = [name for name in REPORTS if (REPOSITORY / "notebooks" / "report" / f"{name}.py").is_file()]


# ------------------------------------------------------------------------------------------------------------- choices
def test_a_choice_takes_the_place_of_its_setting() -> None:
    settings = Settings(inputs=8, draws=2, share=0.5, ratios=[0.1], links="softmax")
    many = {"draws": 16, "share": 1, "ratios": [0.2, 0.5], "links": "mutual argmax"}
    assert with_changes(settings, many | {"erase": "zero"}) == {**settings, **many}
    for wrong in ({"draws": "many"}, {"draws": 2.5}, {"draws": True}, {"draws": 0}, {"ratios": 0.1}, {"ratios": []}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} = "):
            with_changes(settings, wrong)


def test_a_choice_is_part_of_a_runs_name_and_none_is_not() -> None:
    source = REPOSITORY / "notebooks" / "compute" / "soft_metrics.py"
    usual, changed = (make_job(source, "smoke", {"dataset": "movie", **more}) for more in ({}, {"inputs": 14}))
    assert "inputs" not in usual.parameters and changed.parameters["inputs"] == 14
    assert usual.run_id != changed.run_id and changed.slug == "movie_0_inputs14"
    assert usual.run_id == make_job(source, "smoke", {"dataset": "movie", "inputs": None}).run_id


# ---------------------------------------------------------------------------------------------------------------- plan
def test_every_report_has_the_knob() -> None:
    assert {
        notebook_parameters(REPOSITORY / "notebooks" / "report" / f"{name}.py").get(VALUES) for name in IN_REPORT
    } == {REFERENCE}
    assert not any(map(shows_runs, ("scoreboard", "taught", "status", "this_build", "together_advice")))
    assert shows_runs("soft_tables") and shows_runs("safe_map")


def test_a_book_of_this_machines_values_has_the_references_verdicts() -> None:
    jobs = plan("smoke", values=RUN)
    by_values: dict[str, list[str]] = {}
    for job in jobs:
        if job.kind == "report":
            by_values.setdefault(job.notebook, []).append(str(job.parameters.get(VALUES, REFERENCE)))
    assert sorted(by_values["soft_tables"]) == [REFERENCE, RUN]  # for its verdicts, and for its page
    assert by_values["scoreboard"] == [REFERENCE]
    board = next(job for job in jobs if job.notebook == "scoreboard")
    assert {job.parameters.get(VALUES, REFERENCE) for job in board.upstream} == {REFERENCE}
    shown = pages.shown_jobs(jobs, RUN)
    assert len([job for job in shown if job.notebook == "soft_tables"]) == 1
    assert {job.notebook for job in shown} == {job.notebook for job in jobs}
    assert all(job.parameters[VALUES] == RUN for job in shown if shows_runs(job.notebook))
    usual = [job for job in jobs if job.parameters.get(VALUES) != RUN]  # those of the book as it is published
    assert pages.shown_jobs(usual, REFERENCE) == usual
    with pytest.raises(UnknownNameError, match="unknown values 'mine'"):
        plan("smoke", values="mine")


# ------------------------------------------------------------------------------------------------------ beside the book
def estimates(seed: int, **means: float) -> Conditions:
    generator = np.random.default_rng(seed)
    frames = [
        pd.DataFrame({"id": [f"i{i}" for i in range(40)], "method": name, "value": generator.normal(mean, 0.1, 40)})
        for name, mean in means.items()
    ]
    frame = of_inputs(pd.concat(frames, ignore_index=True))
    return Conditions.of(frame, over=["method"], unit="id", n_resamples=1999)


def test_the_books_value_goes_with_ours_through_arithmetic() -> None:
    ours, book = estimates(0, a=0.6, b=0.2), estimates(1, a=0.5, b=0.3)
    a, b = (Comparison(ours.mean(method=name), book=book.mean(method=name)) for name in "ab")
    a_book, b_book = (float(book.mean(method=name).point) for name in "ab")
    for made, expected in (
        (a - b, a_book - b_book),
        (2 * a + 1, 2 * a_book + 1),
        (-a, -a_book),
        (abs(b - a), abs(b_book - a_book)),
        (comparison.mean([a, b]), (a_book + b_book) / 2),
        (comparison.combined(lambda values: values.max(axis=-1), [a, b]), max(a_book, b_book)),
    ):
        assert made.book is not None
        assert float(made.book.point) == pytest.approx(expected)
    assert (a - replace(b, book=None)).book is None  # half a difference is none
    expected = (float(a.ours.point) - a_book) / np.hypot(a.ours.standard_error, book.mean(method="a").standard_error)
    assert a.from_book == pytest.approx(expected)
    assert re.search(r"0\.\d\d \(0\.\d\d\) [+−]\d\.\d SE", tables.cell(a))
    assert "book" not in tables.cell(replace(a, book=None))


# ------------------------------------------------------------------------------------------- the end of a computation
def test_means_at_the_end_of_a_computation_are_over_inputs() -> None:
    frame = of_inputs(pd.DataFrame({"id": ["a", "a", "b", "c"], "value": [1.0, 3.0, 4.0, 6.0], "metric": "nc"}))
    row = computed.means_by(frame, ["metric"]).loc["nc"]
    assert (row["mean"], row["n"], row["clusters"]) == (4.0, 3, 3)
    assert row["standard_error"] == pytest.approx(np.std([2.0, 4.0, 6.0], ddof=1) / 3**0.5)


# ------------------------------------------------------------------------------------------------- a reader's afternoon
AFTERNOONS: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "soft": ("soft_metrics", {"dataset": "movie"}, {"inputs": 12, "draws": 2}, "soft_tables"),
    "naopc": (
        "naopc_models",
        {"dataset": "movie", "classifier": "l6"},
        {"short_inputs": 3, "ig_steps": 3},
        "naopc_bounds",
    ),
    "saco": ("saco_metrics", {"dataset": "fashion"}, {"pictures": 3, "erase": "zero"}, "saco_figures"),
    "crosslingual": ("crosslingual_metrics", {"model": "six"}, {"messages": 3, "erased": 4}, "crosslingual_erasure"),
    "together": ("together_matrix", {"dataset": "fashion"}, {"inputs": 3, "draws": 1}, "together_agreement"),
    "safe": ("safe_compared", {}, {"inputs": 10, "texts": 7}, "safe_models"),
    "language": ("language_agreement", {"dataset": "agreement"}, {"sentences": 8, "ig_steps": 3}, "language_contrast"),
}
"""By study: a computation, which of its points, what a reader changes, and the report that is run again."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository with results of its own."""
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    for name in ("notebooks", "requirements.lock", "faithlib", "faithbook"):
        (home / name).symlink_to(REPOSITORY / name)
    for path in (REPOSITORY / "data").iterdir():
        if path.name != "results":
            (home / "data" / path.name).symlink_to(path)
    monkeypatch.setenv("FAITHLIB_HOME", str(home))
    monkeypatch.delenv("FAITHLIB_RUN", raising=False)
    monkeypatch.setattr(figures, "image_files", lambda fig: {"svg": b"drawn", "png": b"drawn"})
    monkeypatch.setattr(plt, "show", lambda: None)
    return home


class Reader:
    """Somebody who runs notebooks one after the other, by hand, at the smoke profile."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.shown = home, list[str]()
        monkeypatch.setattr("IPython.display.display", self._see)
        monkeypatch.setattr("faithbook.judge.report.display", self._see)

    def _see(self, shown: object) -> None:
        self.shown.append(shown.to_csv() if isinstance(shown, pd.DataFrame) else str(getattr(shown, "data", shown)))

    def runs(self, notebook: str, **parameters: Any) -> str:
        """All that a notebook shows."""
        kind = "compute" if (REPOSITORY / "notebooks" / "compute" / f"{notebook}.py").is_file() else "report"
        self.shown.clear()
        try:
            run_cells(self.home / "notebooks" / kind / f"{notebook}.py", {"profile": "smoke", **parameters}, self.shown)
        finally:
            declare(None)
            plt.close("all")
        return "\n\n".join(self.shown)

    def tables(self, notebook: str, values: str) -> dict[str, bytes]:
        """The tables that a report by hand has written."""
        slug = "all" if values == REFERENCE else values
        folder = self.home / "data" / "results" / "smoke" / "by-hand" / notebook / slug
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of a handful of inputs some numbers are not defined
@pytest.mark.parametrize(
    "study",
    [pytest.param(name, marks=[] if name in ("soft", "safe") else [pytest.mark.long]) for name in AFTERNOONS],
)
def test_a_changed_choice_shows_in_the_report(study: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With "run" numbers, n and banner are those of the changed run, without a verdict; with "reference" nothing is."""
    compute, point, choices, report = AFTERNOONS[study]
    reader = Reader(home, monkeypatch)
    usual_end = reader.runs(compute, **point)
    page = reader.runs(report)
    book = reader.tables(report, REFERENCE)
    before = reader.runs(report, values=RUN)
    run_before = reader.tables(report, RUN)
    assert "verdict-" in page or study == "safe"
    assert "This page shows a run of this machine" in before and "changed:" not in before

    end = reader.runs(compute, **point, **choices)
    assert end != usual_end and "book" in end  # the computation ends with a table beside the book
    changed = reader.runs(report, values=RUN)
    for name, value in choices.items():
        assert f"{name} = {value}" in changed
    n = _noted_n(home, compute)
    assert f"n = {n:,}" in changed and f"n = {n:,}, the book" in changed
    assert "verdict-reproduced" not in changed and "verdict-not-reproduced" not in changed
    assert not (home / "data" / "results" / "smoke" / "by-hand" / report / RUN / "verdicts.parquet").exists()
    run_after = reader.tables(report, RUN)
    assert any(run_after[name] != run_before.get(name) for name in run_after)

    both = reader.runs(report, values=BOTH)
    assert "the book's numbers in brackets" in both
    again = reader.runs(report)
    assert reader.tables(report, REFERENCE) == book
    assert _without_times(again) == _without_times(page)


def _noted_n(home: Path, compute: str) -> int:
    """The inputs of the newest run of a computation."""
    manifests = sorted(
        (home / "data" / "results" / "smoke" / "by-hand" / compute).glob("*/manifest.json"),
        key=lambda path: path.stat().st_mtime_ns,
    )
    return int(json.loads(manifests[-1].read_text())["notes"]["n"])


def _without_times(text: str) -> str:
    """What a page shows, but for what differs from run to run: its box of provenance."""
    return re.sub(r":::\{admonition\} Provenance.*?\n:::", "", text, flags=re.DOTALL)


def test_reserved_inputs_stay_out_of_reach(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for more inputs than are open is told so; nothing of the reserve is read."""
    reader = Reader(home, monkeypatch)
    with pytest.raises(InputError, match="are open; the others are the reserve"):
        reader.runs("saco_metrics", dataset="fashion", pictures=900)
    sources = sorted((REPOSITORY / "notebooks" / "compute").glob("*.py"))
    assert not any("sample" in notebook_parameters(source) for source in sources)
