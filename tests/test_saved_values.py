"""Values of single inputs: their schema, their size, and the committed reference that holds them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from refusals import refused
from tiny import commit, finish

from faithbook.engine.plan import plan, share_of
from faithbook.engine.run import load_units
from faithbook.engine.units import COLUMNS, UNITS_SCHEMA, as_units, checked_units, read_units, write_units
from faithbook.judge import reference as committed
from faithbook.judge import scoreboard
from faithbook.judge.reference import add, add_all, keep_verdicts
from faithlib.errors import DataError, InputError, UnknownNameError


def units(**changed: object) -> pd.DataFrame:
    """Four values: two inputs of one paper, two metrics, one of them not defined once."""
    columns = {
        "id": ["b", "b", "a", "a"],
        "cluster": "paper 1",
        "seed": 0,
        "method": "lime",
        "metric": ["nc", "ns"] * 2,
        "value": [1 / 3, np.nan, 0.25, -2.0],
    }
    return pd.DataFrame({**columns, **changed})


# --- the schema ------------------------------------------------------------------------------------------------------


def test_units_come_back_as_they_were_saved_whatever_their_order(tmp_path: Path) -> None:
    path, told = tmp_path / "units.parquet", {"profile": "smoke", "dataset": "movie"}
    frame = units(k=[5, 5, 20, 20], language="de")
    write_units(frame, path, notebook="count", parameters=told)
    found = read_units(path)
    assert {*COLUMNS, "k", "language", "profile", "dataset"} == set(found.columns)
    assert found["k"].dtype.kind == found["seed"].dtype.kind == "i"
    both = frame.merge(found, on=["id", "metric", "k", "language", "seed", "method", "cluster"])
    assert len(both) == len(frame) == len(found)
    np.testing.assert_allclose(both["value_x"], both["value_y"], rtol=1e-7)
    write_units(frame.iloc[::-1], tmp_path / "again", notebook="count", parameters=told)
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": "nc"}, r"2 rows have the keys of another, the first: id = a, seed = 0, method = lime, metric = nc"),
        ({"value": [1.0, np.inf, 0.0, 0.0]}, "infinite: ns"),
        ({"value": [1.0, 1e39, 0.0, 0.0]}, "infinite: ns"),
        ({"value": "many"}, "value must be a number"),
        ({"seed": "0"}, "seed must be an integer"),
        ({"method": ["lime", None, "lime", "lime"]}, "missing values in method"),
        ({"language": ["de", "de", None, "de"]}, "missing values in language"),
    ],
)
def test_what_breaks_the_schema_is_refused(changed: dict[str, object], message: str) -> None:
    refused(InputError, message, checked_units, units(**changed))
    for name in COLUMNS:
        refused(InputError, f"missing: {name}$", checked_units, units().drop(columns=name))


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "units.parquet"
    write_units(units(), path, notebook="count", parameters={})
    table = pyarrow.parquet.read_table(path)
    later = {b"faithbook.units": json.dumps({"schema": UNITS_SCHEMA + 1, "parameters": {}}).encode()}
    pyarrow.parquet.write_table(table.replace_schema_metadata(later), path)
    refused(DataError, f"schema {UNITS_SCHEMA + 1}, this version reads {UNITS_SCHEMA}", read_units, path)
    units().to_parquet(path)
    refused(DataError, "schema None", read_units, path)


# --- the committed reference -----------------------------------------------------------------------------------------


def whole(home: Path, save: Callable[[int], pd.DataFrame] = lambda seed: units(seed=seed)) -> None:
    """All runs of the smoke profile of a home that is committed."""
    commit(home)
    *computed, page = plan("smoke")
    for number, job in enumerate(computed):
        finish(job)
        facts = {"profile": "smoke", "commit": "0123456789ab", "units_schema": UNITS_SCHEMA, "files": {}}
        job.manifest.write_text(json.dumps(json.loads(job.manifest.read_text()) | facts))
        write_units(save(number), job.folder / "units.parquet", notebook="count", parameters=job.parameters)
    finish(page)
    (page.folder / "table.csv").write_text("a\n1\n")


def test_the_reference_holds_values_and_manifests_and_no_tables(home: Path) -> None:
    whole(home)
    folder = add_all("smoke")
    values = {f"units/count/{name}_0-units.parquet" for name in ("movie", "bbc")}
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.*")} == {"manifest.json", *values}
    found = load_units("count", reference=True)
    assert (set(found["dataset"]), len(found)) == ({"movie", "bbc"}, 8)
    refused(DataError, "report has no units.parquet in a whole run at the profile smoke", load_units, "report", "smoke")


def test_a_reference_that_is_too_large_or_of_no_whole_profile_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole(home)
    monkeypatch.setattr(committed, "LARGEST", 3000)
    refused(DataError, r"more than 0 MB: (units/count/\w+-units.parquet 0.0 MB|manifest.json)", add_all, "smoke")
    refused(UnknownNameError, "study 'none'", add_all, "smoke", "none")
    shutil.rmtree(home / "data" / "results")
    refused(DataError, "lacks count movie 0, count bbc 0: run python", add_all, "smoke")
    assert not (home / "data" / "reference").exists()


def test_files_of_no_run_leave_the_reference(home: Path) -> None:
    folder = home / "data" / "reference" / "full"
    (folder / "units" / "elsewhere").mkdir(parents=True)
    (folder / "units" / "count").mkdir()
    other = {"study": "other", "notebook": "elsewhere", "parameters": {"dataset": "a"}}
    (folder / "manifest.json").write_text(json.dumps({"profile": "smoke", "runs": [other]}))
    (folder / "units" / "elsewhere" / "a-units.parquet").write_bytes(b"values")
    gone = [folder / "units" / "count" / "old-units.parquet", folder / "of_an_earlier_page.csv"]
    for path in gone:
        path.write_bytes(b"values")
    whole(home)
    add_all("smoke", str(plan("smoke")[-1].study))
    assert (folder / "units" / "elsewhere" / "a-units.parquet").read_bytes() == b"values"
    assert not any(path.exists() for path in gone)
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    assert runs[0] == other and [run["notebook"] for run in runs[1:]] == ["count", "count"]


@pytest.fixture
def committed_reference(home: Path) -> Path:
    """A reference of two runs of `count`, with two verdicts; the two runs' folders are gone."""
    whole(home)
    folder = add_all("smoke")
    (folder / "scoreboard.csv").write_text(
        "id,paper,kind,decision,page,reason,n\na,p,claim,reproduced,q,old,7\nb,p,claim,reproduced,q,,7\n"
    )
    shutil.rmtree(home / "data" / "results")
    return folder


def run_of(home: Path, folder: str, **changed: object) -> Path:
    """A whole run of `count` in another clone, and its values."""
    place = home / "elsewhere" / folder
    place.mkdir(parents=True)
    parameters = changed.pop("parameters", {"profile": "smoke", "dataset": "movie", "seed": 0})
    facts = {
        "notebook": "count", "kind": "compute", "study": "tiny", "profile": "smoke", "parameters": parameters,
        "commit": "0123456789ab", "units_schema": UNITS_SCHEMA, "files": {"units.parquet": 4}, "notes": {},
    }  # fmt: skip
    (place / "manifest.json").write_text(json.dumps(facts | changed))
    write_units(units(value=[9.0, 9.0, 9.0, 9.0]), place / "units.parquet", notebook="count", parameters=parameters)
    return place


def kept(folder: Path) -> dict[str, list[float]]:
    found = load_units("count", reference=True)
    return {str(name): sorted(set(rows["value"].dropna())) for name, rows in found.groupby("dataset")}


def there(folder: Path, dataset: str) -> list[dict[str, Any]]:
    """The parameters of the reference's runs of a data set."""
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    return [run["parameters"] for run in runs if run["parameters"].get("dataset") == dataset]


def of(dataset: str, seed: int = 0, **more: object) -> dict[str, object]:
    return {"profile": "smoke", "dataset": dataset, "seed": seed, **more}


def test_single_runs_take_the_places_of_earlier_ones_or_new_ones(home: Path, committed_reference: Path) -> None:
    before = kept(committed_reference)
    new = run_of(home, "film-few_0", parameters=of("film-few"))
    add([run_of(home, "movie_0"), new])
    assert kept(committed_reference) == {"bbc": before["bbc"], "movie": [9.0], "film-few": [9.0]}
    assert [len(there(committed_reference, name)) for name in ("bbc", "film-few", "movie")] == [1, 1, 1]
    assert "reproduced" in (committed_reference / "scoreboard.csv").read_text()  # until it is judged again
    add([run_of(home, "film_0", parameters=of("film"))])
    assert set(kept(committed_reference)) == {"bbc", "movie", "film"}  # all inputs in the place of a few
    refused(DataError, "a few inputs of a data set of which the reference has more", add, [new])
    renamed = of("movie", classifier="l3")
    add([run_of(home, "movie_l3_0", parameters=renamed)])
    assert there(committed_reference, "movie") == [renamed]  # in the place of the run of a grid without classifiers
    add([run_of(home, "film_l3_1", parameters=of("film", 1, classifier="l3"))])  # of another seed: beside what is there
    assert [parameters["seed"] for parameters in there(committed_reference, "film")] == [0, 1]


def test_parts_of_a_run_go_in_one_by_one_until_it_is_whole(home: Path, committed_reference: Path) -> None:
    def part(number: int, parts: int, dataset: str = "film") -> Path:
        return run_of(home, f"{dataset}_{number}_{parts}", parameters=of(dataset, part=number, parts=parts))

    def films() -> list[tuple[int, int]]:
        return [share_of(parameters) for parameters in there(committed_reference, "film")]

    add([part(2, 3)])
    add([part(1, 3), home / "elsewhere" / "film_2_3"])
    found = load_units("count", reference=True)
    assert (found["dataset"] == "film").sum() == 2 * len(units()) and not {"part", "parts"} & set(found.columns)
    refused(DataError, "is one of 2 parts, but the reference has these inputs in 3 parts", add, [part(1, 2)])
    refused(DataError, "is one of 2 parts, but the reference has these inputs whole", add, [part(1, 2, "movie")])
    assert films() == [(1, 3), (2, 3)]
    add([home / "elsewhere" / "film_1_2", part(2, 2)])
    assert films() == [(1, 2), (2, 2)]  # all at once
    add([run_of(home, "film_0", parameters=of("film"))])
    assert films() == [(1, 1)]
    assert (load_units("count", reference=True)["dataset"] == "film").sum() == len(units())
    again = [home / "elsewhere" / "film_2_3"]
    refused(DataError, "is one of 3 parts, but the reference has these inputs whole", add, again)


def test_a_run_that_cannot_be_told_again_is_refused(home: Path, committed_reference: Path) -> None:
    before = {path: path.read_bytes() for path in committed_reference.rglob("*.*")}
    good = run_of(home, "good")
    for number, (changed, message) in enumerate(
        (
            ({"kind": "report"}, "is no computation whose values are shared"),
            ({"profile": "laptop"}, "ran at the profile laptop, the reference is of smoke"),
            ({"commit": "0123456789ab with changes"}, "with changes: nobody could make its numbers again"),
            ({"commit": "unknown"}, "ran at the commit unknown"),
            ({"units_schema": UNITS_SCHEMA + 1}, f"no values of single inputs in schema {UNITS_SCHEMA}"),
        )
    ):
        refused(DataError, message, add, [good, run_of(home, f"bad{number}", **changed)])
    refused(DataError, r"holds no whole run: expected manifest.json", add, [home])
    assert {path: path.read_bytes() for path in committed_reference.rglob("*.*")} == before


def test_the_pages_of_another_profile_judge_the_reference_again(
    home: Path, committed_reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New verdicts take the places of old ones on the scoreboard, or new ones."""
    places = pd.DataFrame([{"id": name, "paper": "o", "kind": "question"} for name in "abc"])
    monkeypatch.setattr(committed, "to_judge", lambda: places)
    refused(InputError, "the profile smoke show their own numbers", keep_verdicts, "smoke")
    missing = "there is no report: run python -m faithbook build --profile laptop"
    refused(DataError, missing, keep_verdicts, "laptop")
    (page,) = (job for job in plan("laptop") if job.kind == "report")
    finish(page)
    told = {"decision": "not reproduced", "n": 3, "page": "r", "reason": "z"}
    pd.DataFrame([{"id": name, **told} for name in "ac"]).to_parquet(page.folder / "verdicts.parquet")

    def judged(source: str) -> list[list[str]]:
        facts = json.loads(page.manifest.read_text())
        page.manifest.write_text(json.dumps(facts | {"notes": {"source": source}}))
        keep_verdicts("laptop")
        board = pd.read_csv(committed_reference / "scoreboard.csv", keep_default_na=False, dtype=str)
        return board[["id", "paper", "kind", "decision", "page", "reason", "n"]].to_numpy().tolist()

    before = [["a", "p", "claim", "reproduced", "q", "old", "7"], ["b", "p", "claim", "reproduced", "q", "", "7"]]
    assert judged("this run") == before
    new = ["not reproduced", "r", "z", "3"]
    assert judged("the reference") == [["a", "p", "claim", *new], before[1], ["c", "o", "question", *new]]
    board = pd.read_csv(committed_reference / "scoreboard.csv", keep_default_na=False, dtype=str)
    assert list(board.columns) == ["id", "paper", "kind", *scoreboard.FIELDS]
    source = home / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text() + "\n")
    refused(DataError, r"differ from it: notebooks/compute/count\.py", keep_verdicts, "laptop")


# --- from a notebook's frame -----------------------------------------------------------------------------------------


def test_a_frame_of_results_takes_the_columns_of_the_schema() -> None:
    wide = pd.DataFrame({"input": [3, 4], "language": "de", "ns": [0.5, np.nan], "nc": [1.0, 2.0], "label": 0})
    found = as_units(wide, seed=7, clusters={"3": "p", "4": "p"}, metrics=["ns", "nc"], keys=["language"])
    assert set(found.columns) == {*COLUMNS, "language"}
    rows = found[["id", "metric", "value"]].fillna(-1).to_numpy().tolist()
    assert rows == [["3", "ns", 0.5], ["4", "ns", -1], ["3", "nc", 1.0], ["4", "nc", 2.0]]
    assert found[["method", "seed", "cluster"]].drop_duplicates().to_numpy().tolist() == [["none", 7, "p"]]
    checked_units(found)
    long = pd.DataFrame({"name": ["a", "b"], "method": "lime", "metric": "saco", "value": [0.1, 0.2], "draw": [1, 2]})
    found = as_units(long, seed="draw", name="name")
    assert (found["seed"].tolist(), found["cluster"].tolist()) == ([1, 2], ["a", "b"])
    without = as_units(long.rename(columns={"name": "input"}), seed=0, clusters={"a": "p"})
    refused(InputError, "missing values in cluster", checked_units, without)
