"""The page of costs: numbers of it from manifests alone, and its two fields in a browser."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from browser import Browser
from store import Store
from tiny import REPOSITORY

from faithbook import hours
from faithbook.engine.profiles import settings_of
from faithbook.results import costs

STATIC = REPOSITORY / "book" / "_static"


def a_run(dataset: str, seed: int, seconds: float, *, profile: str = "full", device: str = "cpu") -> dict[str, Any]:
    """A run of the computation of study 1, of ten rows an input."""
    settings = dict(settings_of("soft_metrics", profile))
    about = {"notebook": "soft_metrics", "kind": "compute", "profile": profile, "device": device, "settings": settings}
    rows = 10 * settings["inputs"][dataset]
    notes = {"rows_run": rows, "n": settings["inputs"][dataset]}
    parameters = {"profile": profile, "dataset": dataset, "seed": seed}
    noted = {"seconds": 2 * seconds, "processor_seconds": seconds, "threads": 1}
    return {**about, **noted, "parameters": parameters, "notes": notes, "here": profile != "full"}


FULL = [a_run("movie", 0, 500), a_run("movie", 1, 600), a_run("bbc", 0, 900)]


def of_study_1(ran: list[dict[str, Any]]) -> pd.Series:
    return costs.by_notebook("paper", ran).set_index("notebook").loc["soft_metrics"]


def test_hours_are_seconds_an_input_times_inputs_and_a_gpus_are_guessed_from_them() -> None:
    found = of_study_1(FULL)
    inputs = 5 * (1821 + 7600 + 720 + 4848)
    assert (found["inputs"], found["rows"], found["counted_at"]) == (inputs, 10 * inputs, "full (reference)")
    # sst is told by movie, which stands in for it, ag by bbc, the other two by all.
    pace = {1821: 1100 / 500, 7600: 900 / 100, 720 + 4848: 2000 / 600}
    assert found["hours"] == pytest.approx(5 * sum(size * seconds for size, seconds in pace.items()) / 3600)
    own = of_study_1([*FULL, a_run("ag", 0, 160)])  # which tells of itself
    assert own["hours"] == pytest.approx(5 * (1821 * 2.2 + 7600 + (720 + 4848) * 2160 / 760) / 3600)
    assert found["guessed"] == found["hours"] and math.isnan(found["measured"])
    assert found["ground"] == "extrapolated"


def test_a_run_on_a_gpu_replaces_what_was_extrapolated() -> None:
    sizes = {"sst": 1821, "ag": 7600, "evinf": 720, "multirc": 4848}
    gpu = [a_run(name, 0, 3600, profile="paper", device="H200") for name in sizes]
    found = of_study_1([*FULL, *gpu])
    assert found["ground"] == "measured"
    assert found["measured"] == pytest.approx(2 * 5 * len(sizes))  # of a GPU by the clock, five seeds each
    assert of_study_1([*FULL, *gpu[:-1]])["ground"] == "extrapolated"  # of long texts nothing was measured
    assert math.isnan(found["guessed"])
    assert found["hours"] == of_study_1(FULL)["hours"]  # of the processor, they stay
    on_processor = a_run("sst", 0, 3600, profile="paper")
    assert of_study_1([*FULL, on_processor])["ground"] == "extrapolated"


def test_what_no_run_tells_is_unknown_and_counted_as_that() -> None:
    found = costs.by_notebook("paper", FULL)
    others = found[found["notebook"] != "soft_metrics"]
    assert set(others["ground"]) == {"unknown"} and others["hours"].isna().all()
    sums = costs.by_study(found).set_index("study")
    assert sums.loc["study 1", "guessed"] == sums.loc["all", "guessed"] == of_study_1(FULL)["hours"]
    assert sums.loc["study 1", "unknown"] == 3  # its variants, its replay, its two attributions
    assert sums.loc["all", "unknown"] == len(others)
    assert math.isnan(sums.loc["study 2", "hours"])
    shown = costs.shown(found, {"notebook": "computation"}).set_index("computation")
    assert shown.loc["saco_metrics", ["hours, this processor", "GPU-hours", "euros"]].tolist() == ["–"] * 3


def test_a_table_costs_what_its_page_reads() -> None:
    found = costs.by_exhibit(costs.by_notebook("paper", FULL)).set_index("exhibit")
    assert found.loc["soft_table2", "computations"] == "soft_metrics, soft_variants"
    assert found.loc["soft_figure2", "computations"] == "soft_metrics"
    assert found.loc["soft_table2", "unknown"] == 1 and found.loc["soft_figure2", "unknown"] == 0
    assert found.loc["saco_table1", "ground"] == "unknown"


def test_runs_are_told_by_others_and_not_by_themselves() -> None:
    (found,) = costs.check(FULL, []).to_dict("records")
    # A movie's 500 seconds are told as 600, its 600 as 500: both within a quarter. Of bbc no run on like texts tells.
    assert (found["runs"], found["near"], found["rows"]) == (2, 2, 10 * (250 + 250 + 100))
    assert found["off"] == pytest.approx((0.2 + 1 / 6) / 2)
    assert found["hours"] == pytest.approx(2000 / 3600)
    assert math.isnan(found["own_hours"])
    inputs = settings_of("soft_metrics", "laptop")["inputs"]["movie"]
    (found,) = costs.check(FULL, [a_run("movie", 0, inputs, profile="laptop")]).to_dict("records")
    assert found["own_hours"] == pytest.approx(600 / 3600)  # a second an input
    told = costs.told_check(pd.DataFrame([found]))
    assert "Of 2 runs of the full profile, 2 took within 25 %" in told and "tell 0.2 (-70%)" in told


def test_one_thread_of_a_processor_lasts_what_it_computed_and_anything_else_what_the_clock_says() -> None:
    beside_others = {"seconds": 900.0, "processor_seconds": 500.0, "threads": 1, "device": "cpu"}
    assert hours.lasted(beside_others) == 500
    for other in ({"threads": 2}, {"device": "H200"}):
        assert hours.lasted(beside_others | other) == 900
    assert hours.lasted({"seconds": 900.0, "threads": 1, "device": "cpu"}) == 900  # told before it was noted


def test_a_run_that_has_noted_the_clock_alone_is_not_checked_and_checks_none() -> None:
    older = {name: value for name, value in a_run("movie", 2, 40).items() if name != "processor_seconds"}
    (found,) = costs.check([*FULL, older], []).to_dict("records")
    assert (found["runs"], found["near"], found["unchecked"]) == (2, 2, 1)
    assert found["hours"] == pytest.approx(2080 / 3600)
    assert "1 older runs have noted the clock alone" in costs.told_check(pd.DataFrame([found]))


def test_the_page_stands_on_the_reference_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    reference = store.home / "data" / "reference" / "full"
    reference.mkdir(parents=True)
    shutil.copy(REPOSITORY / "data" / "reference" / "full" / "manifest.json", reference)
    found = store.report("cost")
    sums = pd.read_csv(found.folder / "cost_studies.csv").set_index("study")
    assert sums.loc["all", "guessed"] == pytest.approx(sums["guessed"].drop("all").sum(), rel=1e-4)
    assert 'data-price="1" data-faster="1"' in found.text
    cells = re.findall(r'class="cost-euros" data-measured="0" data-guessed="([\d.]+)">([\d.]+)<', found.text)
    assert cells and all(abs(float(guessed) - float(told)) <= 0.06 for guessed, told in cells)
    assert "runs of the full profile" in found.text


# --------------------------------------------------------------------------------------------------------- in a browser
@pytest.mark.browser
def test_price_and_speed_are_changed_in_the_page(window: Browser, tmp_path: Path) -> None:
    row = costs._changing
    path = tmp_path / "page.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><script src="{(STATIC / "cost.js").as_uri()}"></script>'
        f"{costs.fields().data}<table><tbody><tr><td>{row('gpu', 2, 30, 1)}</td><td>{row('euros', 2, 30, 1)}</td></tr>"
        f"<tr><td>{row('gpu', 0, 0, 1)}</td><td>{row('euros', 0, 0, 1)}</td></tr></tbody></table>",
        encoding="utf-8",
    )
    assert all(url.startswith("file:") for url in window.open(path.as_uri()))
    cells = "[...document.querySelectorAll('td')].map(cell => cell.textContent)"
    assert window.evaluate(cells) == ["32.0", "32.0", "–", "–"]
    type_in = (
        "(([field, value]) => {{ const one = document.querySelectorAll('.cost input')[field]; one.value = value;"
        " one.dispatchEvent(new Event('input')); }})([{}, '{}'])"
    )
    window.evaluate(type_in.format(0, "2.5"))
    window.evaluate(type_in.format(1, "10"))
    assert window.evaluate(cells) == ["5.00", "12.5", "–", "–"]  # what was measured takes as long as it took
    for field, wrong in ((0, "-1"), (0, ""), (1, "0")):
        window.evaluate(type_in.format(field, wrong))
        told = "document.querySelector('.cost [role=status]').textContent"
        assert window.evaluate(told) == "Give a price of at least 0 and a speed above 0."
        assert window.evaluate(cells) == ["5.00", "12.5", "–", "–"]
        window.evaluate(type_in.format(field, ("2.5", "10")[field]))
    # Both fields have names, and Tab leads from one to the other.
    names = "[...document.querySelectorAll('.cost input')].map(field => field.labels[0].textContent.trim())"
    assert window.evaluate(names) == ["Euros for a GPU-hour", "Times that a GPU is faster than this processor"]
    assert window.evaluate("[...document.querySelectorAll('.cost input')].every(field => field.tabIndex === 0)")
