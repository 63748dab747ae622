"""What the full run's computations took, as the status page lists it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import tiny
from store import Store
from tiny import REPOSITORY

from faithbook.engine.plan import MANIFEST, plan
from faithbook.judge import costs


def test_one_thread_of_a_processor_takes_what_it_computed_and_anything_else_what_the_clock_says() -> None:
    beside_others = {"seconds": 900.0, "processor_seconds": 500.0, "threads": 1, "device": "cpu"}
    assert costs.seconds(beside_others) == 500
    for other in ({"threads": 2}, {"device": "H200"}):
        assert costs.seconds(beside_others | other) == 900
    assert costs.seconds({"seconds": 900.0, "threads": 1, "device": "cpu"}) == 900  # from before it was noted


def test_costs_are_summed_by_computation_and_device_and_all_of_a_device_stand_below() -> None:
    run = {"study": "soft", "notebook": "soft_metrics", "device": "cpu", "seconds": 1800.0, "notes": {"rows_run": 2000}}
    gpu = {**run, "device": "H100", "seconds": 36.0}
    silent = {**run, "notebook": "soft_replayed", "notes": {}}
    made = costs.measured_costs([run, run, gpu, silent]).set_index(["notebook", "device"])
    assert made.loc[("soft_metrics", "cpu"), ["runs", "rows", "hours"]].tolist() == [2, 4, 1]
    assert made.loc[("soft_metrics", "H100"), ["runs", "rows", "hours"]].tolist() == pytest.approx([1, 2, 0.01])
    assert made["rows"].isna().tolist() == [False, False, True, False, False]
    assert made.loc[("all", "cpu"), ["runs", "rows", "hours"]].tolist() == [3, 4, 1.5]


def test_runs_of_the_reference_are_read_from_its_manifest(home: Path) -> None:
    assert costs.reference_runs() == []
    movie, _, report = plan("smoke")
    for job in (movie, report):
        tiny.finish(job)
    reference = home / "data" / "reference" / "full" / MANIFEST
    reference.parent.mkdir(parents=True)
    reference.write_text(json.dumps({"runs": [json.loads(job.manifest.read_text()) for job in (movie, report)]}))
    assert [run["notebook"] for run in costs.reference_runs()] == ["count"]


def test_the_status_page_lists_what_the_full_run_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    about = {"commit": "1234", "processor": "a", "cores": 2, "threads": 1, "versions": {"python": "3.11"}}
    store.add("soft_metrics", dataset="movie", declared=("local:text/movie-seed0",))
    path = store.upstream[0] / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | about))
    reference = store.home / "data" / "reference" / "full"
    reference.mkdir(parents=True)
    shutil.copy(REPOSITORY / "data" / "reference" / "full" / MANIFEST, reference)
    made = pd.read_csv(store.report("status").folder / "status_reference_costs.csv").set_index("study")
    for name in ("runs", "hours"):
        assert made.loc["all", name].sum() == pytest.approx(made.drop("all")[name].sum(), rel=1e-4)
    assert made.drop("all")["runs"].sum() == len(costs.reference_runs())
