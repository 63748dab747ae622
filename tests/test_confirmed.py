"""The confirmatory run: what it measures, and what it takes in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from refusals import refused

from faithbook.engine.plan import MANIFEST, slug_of
from faithbook.engine.run import load_units
from faithbook.engine.studies import notebooks
from faithbook.engine.study import CONFIRM
from faithbook.engine.units import UNITS_SCHEMA, write_units
from faithbook.judge import confirmed, freeze, published
from faithbook.judge.published import our_table
from faithbook.paths import root
from faithbook.sources.reserve import measured_ids
from faithlib.errors import DataError

SEEN = "sst-test-0"
FRESH = "sst-test-9"
POINT = {"profile": "confirm", "dataset": "sst", "classifier": "mpnet", "seed": 0, "part": 1, "parts": 2}


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(confirmed, "confirmatory_dir", lambda: tmp_path / "confirmatory")
    return tmp_path / "confirmatory"


def run_in(folder: Path, ids=(FRESH,), **changed) -> Path:
    """A whole run of study 1 on these inputs, as a notebook leaves it."""
    folder.mkdir()
    facts = {
        "notebook": "soft_metrics",
        "profile": "confirm",
        "parameters": POINT,
        "settings": {"sample": "confirmatory"},
        "commit": "0123456789ab",
        "units_schema": UNITS_SCHEMA,
    } | changed
    rows = {"id": list(ids), "cluster": list(ids), "seed": 0, "method": "attention", "metric": "soft_nc", "value": 0.5}
    write_units(
        pd.DataFrame(rows), folder / "units.parquet", notebook="soft_metrics", parameters=dict(facts["parameters"])
    )
    (folder / MANIFEST).write_text(json.dumps(facts), encoding="utf-8")
    return folder


def test_only_the_computations_that_sizes_were_planned_for_draw_on_the_reserve():
    names = [notebook.name for notebook in confirmed.confirming()]
    assert set(names) == set(our_table("confirmatory_sizes")["measured_by"])
    assert names[0] == "soft_metrics" and set(names) == {
        notebook.name for notebook in notebooks("compute") if notebook.reserve
    }
    others = [notebook for notebook in notebooks("compute") if notebook.name not in names]
    assert not [other.name for other in others if other.settings(CONFIRM).get("sample") == "confirmatory"]


def test_each_data_set_gets_at_least_sixty_inputs():
    settings = {notebook.name: notebook.settings(CONFIRM) for notebook in confirmed.confirming()}
    saco, groups, crosslingual = (settings[name] for name in ("saco_metrics", "saco_groups", "crosslingual_metrics"))
    assert min(settings["soft_metrics"]["inputs"], saco["pictures"], crosslingual["erased"]) >= 60
    assert min(crosslingual["messages"], settings["crosslingual_projected"]["messages"]) >= 60
    # The same images in the same batches, so that ten groups stand beside five and twenty of the same maps.
    assert all(groups[name] == saco[name] for name in ("pictures", "batch", "ig_steps", "random_draws"))
    assert groups["group_counts"] == [5, 20]


def test_planning_further_findings_leaves_what_was_planned_before(tmp_path, monkeypatch):
    shutil.copytree(root() / "data", tmp_path / "data", ignore=shutil.ignore_patterns("raw", "results", "units", "c*s"))
    table = tmp_path / freeze.SIZES
    before = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(before[:-2]) + "\n", encoding="utf-8")
    monkeypatch.setattr(freeze, "root", lambda: tmp_path)
    monkeypatch.setattr(published, "root", lambda: tmp_path)
    freeze.plan_further()
    after = table.read_text(encoding="utf-8").splitlines()
    assert after[:-2] == before[:-2]
    new, gone = ({line.rpartition(",")[0] for line in lines[-2:]} for lines in (after, before))  # without the day
    assert new == gone


def test_what_measures_more_of_the_inputs_of_another_lies_with_its_values(tmp_path, place):
    point = {"profile": "confirm", "dataset": "cifar10", "model": "lora", "part": 1, "parts": 4}
    run = run_in(tmp_path / "run", notebook="saco_groups", parameters=point)
    (run / "units.parquet").rename(run / "units_groups.parquet")
    confirmed.add([run], "abc")
    assert (place / "units" / "saco_metrics" / f"{slug_of(point)}-units_groups.parquet").is_file()
    assert not (place / "units" / "saco_groups").exists()


def test_a_part_goes_in_once_and_with_the_digest_of_the_freeze(tmp_path, place):
    assert SEEN in measured_ids() and FRESH not in measured_ids()
    first = run_in(tmp_path / "first")
    assert confirmed.add([first], "abc") == place
    (known,) = json.loads((place / MANIFEST).read_text(encoding="utf-8"))["runs"]
    assert (known["freeze"], known["parameters"]) == ("abc", POINT)
    kept = place / "units" / "soft_metrics" / f"{slug_of(POINT)}-units.parquet"
    assert kept.read_bytes() == (first / "units.parquet").read_bytes()
    refused(DataError, "a part is measured once", confirmed.add, [first], "abc")
    second = run_in(tmp_path / "second", parameters=POINT | {"part": 2})
    refused(DataError, "one freeze, one run", confirmed.add, [second], "another")
    confirmed.add([second], "abc")
    assert len(confirmed.committed()) == 2
    elsewhere = run_in(tmp_path / "elsewhere", parameters=POINT | {"seed": 1}, freeze="another")
    refused(DataError, "elsewhere ran after another: one freeze", confirmed.add, [elsewhere], "abc")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ids": (FRESH, SEEN)}, f"1 inputs that were measured before, such as {SEEN}"),
        ({"profile": "full"}, "expected confirm and its sample"),
        ({"settings": {"sample": "exploratory"}}, "expected confirm and its sample"),
        ({"commit": "unknown"}, "nobody could make its numbers again"),
        ({"commit": "0123456789ab with changes"}, "nobody could make its numbers again"),
        ({"units_schema": 0}, "run it again"),
    ],
)
def test_what_may_not_go_in_is_refused(changed, message, tmp_path, place):
    refused(DataError, message, confirmed.add, [run_in(tmp_path / "run", **changed)], "abc")
    refused(DataError, "holds no whole run", confirmed.add, [tmp_path], "abc")
    assert not place.exists()


def test_committed_values_are_read_by_their_notebook(tmp_path, place, monkeypatch):
    confirmed.add([run_in(tmp_path / "run")], "abc")
    home = tmp_path / "home"
    shutil.copytree(root() / "notebooks", home / "notebooks")
    shutil.copytree(place, home / "data" / "reference" / "confirmatory")
    monkeypatch.setenv("FAITHLIB_HOME", str(home))
    values = load_units("soft_metrics", confirmed=True)
    assert values[["id", "dataset", "classifier"]].to_numpy().tolist() == [[FRESH, "sst", "mpnet"]]
    refused(DataError, "confirmatory", load_units, "saco_metrics", confirmed=True)
