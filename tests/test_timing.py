"""What is known before a run of what it takes, from the manifests of others, and the page of costs that shows it."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tiny
from store import Store
from tiny import REPOSITORY

from faithbook import timing
from faithbook.engine.plan import MANIFEST, plan
from faithbook.engine.profiles import own_of, settings_of, table


def a_run(dataset: str, seed: int, seconds: float, *, profile: str = "full", device: str = "cpu") -> dict[str, Any]:
    """A run of the computation of study 1, of ten rows per input."""
    settings = dict(settings_of("soft_metrics", profile))
    about = {"notebook": "soft_metrics", "kind": "compute", "profile": profile, "device": device, "settings": settings}
    inputs = own_of(settings, dataset, "")["inputs"]
    parameters = {"profile": profile, "dataset": dataset, "seed": seed}
    measured = {"seconds": 2 * seconds, "processor_seconds": seconds, "threads": 1}
    return {**about, **measured, "parameters": parameters, "notes": {"rows_run": 10 * inputs, "n": inputs}}


FULL = [a_run("movie", 0, 500), a_run("movie", 1, 600), a_run("bbc", 0, 900)]


def of_study_1(runs: list[dict[str, Any]], **options: bool) -> pd.Series:
    return timing.estimate("paper", runs, **options).set_index("notebook").loc["soft_metrics"]


def test_hours_are_seconds_per_input_of_the_most_similar_runs_times_inputs() -> None:
    found = of_study_1(FULL)
    inputs = 5 * (1821 + 7600 + 720 + 4848)
    assert (found["runs"], found["inputs"], found["rows"]) == (20, inputs, 10 * inputs)
    # Movie is the substitute of sst and bbc that of ag; the other two are estimated by all.
    pace = {1821: 1100 / 500, 7600: 900 / 100, 720 + 4848: 2000 / 600}
    assert found["hours"] == pytest.approx(5 * sum(size * seconds for size, seconds in pace.items()) / 3600)
    own = of_study_1([*FULL, a_run("ag", 0, 160)])
    assert own["hours"] == pytest.approx(5 * (1821 * 2.2 + 7600 + (720 + 4848) * 2160 / 760) / 3600)


def test_what_no_run_of_related_data_has_measured_is_unknown_where_only_that_counts() -> None:
    assert math.isnan(of_study_1(FULL, related_only=True)["hours"])
    sizes = {"sst": 1821, "ag": 7600, "evinf": 720, "multirc": 4848}
    on_gpu = [a_run(name, 0, 3600, profile="paper", device="H200") for name in sizes]  # by the clock, five seeds
    assert of_study_1(on_gpu, related_only=True)["hours"] == pytest.approx(2 * 5 * len(sizes))
    assert math.isnan(of_study_1(on_gpu[:-1], related_only=True)["hours"])
    every = timing.estimate("paper", FULL).set_index("notebook")
    assert every["hours"].drop("soft_metrics").isna().all()
    assert "together_objects" not in every.index  # what does not run is left out


def test_a_part_has_its_share_of_the_inputs() -> None:
    whole = a_run("movie", 0, 500)
    part = {**whole, "parameters": {**whole["parameters"], "part": 1, "parts": 4}, "processor_seconds": 125}
    assert of_study_1([part])["hours"] == pytest.approx(of_study_1([whole])["hours"])


def test_one_thread_of_a_processor_takes_what_it_computed_and_anything_else_what_the_clock_says() -> None:
    beside_others = {"seconds": 900.0, "processor_seconds": 500.0, "threads": 1, "device": "cpu"}
    assert timing.seconds(beside_others) == 500
    for other in ({"threads": 2}, {"device": "H200"}):
        assert timing.seconds(beside_others | other) == 900
    assert timing.seconds({"seconds": 900.0, "threads": 1, "device": "cpu"}) == 900  # from before it was noted


def test_the_inputs_of_a_notebook_are_settings_that_are_there() -> None:
    for profile in table().profiles:
        found = timing.estimate(profile, []).set_index("notebook")
        for _, _, name, entry in table().entries():
            if name in found.index:
                assert math.isnan(found["inputs"][name]) != bool(entry.inputs), (profile, name)


def test_runs_of_the_reference_are_read_from_its_manifest(home: Path) -> None:
    assert timing.of_reference() == []
    movie, _, report = plan("smoke")
    for job in (movie, report):
        tiny.finish(job)
    reference = home / "data" / "reference" / "full" / MANIFEST
    reference.parent.mkdir(parents=True)
    reference.write_text(json.dumps({"runs": [json.loads(job.manifest.read_text()) for job in (movie, report)]}))
    assert [one["notebook"] for one in timing.of_reference()] == ["count"]


# ---------------------------------------------------------------------------------------------------- the page of costs
def test_the_page_needs_the_reference_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    reference = store.home / "data" / "reference" / "full"
    reference.mkdir(parents=True)
    shutil.copy(REPOSITORY / "data" / "reference" / "full" / "manifest.json", reference)
    made = store.report("cost").folder
    studies, computed, exhibits = (
        pd.read_csv(made / f"cost_{name}.csv") for name in ("studies", "notebooks", "exhibits")
    )
    hours = studies.set_index("study")["hours"]
    assert hours["all"] == pytest.approx(hours.drop("all").sum(), rel=1e-4)
    assert hours["all"] == pytest.approx(computed["hours"].sum(), rel=1e-4)
    assert studies.set_index("study")["unknown"]["all"] == computed["hours"].isna().sum() > 0
    of = computed.set_index("notebook")["hours"]
    exhibits = exhibits.set_index("exhibit")
    assert exhibits["hours"]["soft_table2"] == pytest.approx(of["soft_metrics"] + of["soft_variants"], rel=1e-4)
    assert exhibits["hours"]["soft_figure2"] == pytest.approx(of["soft_metrics"], rel=1e-4)
    assert (exhibits["unknown"]["soft_table2"], exhibits["unknown"]["soft_table4_examples"]) == (0, 1)
    assert computed["gpu_hours"].isna().all()
