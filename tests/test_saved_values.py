"""Values of single inputs: their schema, their size, and the committed reference that holds them."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from tiny import commit, finish

from faithbook.engine.plan import part_of, plan
from faithbook.engine.run import load_units, start_run
from faithbook.engine.units import COLUMNS, UNITS_SCHEMA, as_units, checked_units, read_units, write_units
from faithbook.judge import reference as committed
from faithbook.judge import scoreboard
from faithbook.judge.reference import add, add_all, judged_again, keep_verdicts
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


def test_units_come_back_as_they_were_saved(tmp_path: Path) -> None:
    path = tmp_path / "units.parquet"
    given = units(k=[5, 5, 20, 20], language="de")
    write_units(given, path, notebook="count", parameters={"profile": "smoke", "dataset": "movie"})
    found = read_units(path)
    assert {*COLUMNS, "k", "language", "profile", "dataset"} == set(found.columns)
    assert set(found["dataset"]) == {"movie"}
    assert found["k"].dtype.kind == found["seed"].dtype.kind == "i"
    both = given.merge(found, on=["id", "metric", "k", "language", "seed", "method", "cluster"])
    assert len(both) == len(given) == len(found)
    np.testing.assert_allclose(both["value_x"], both["value_y"], rtol=1e-7)


def test_the_order_of_rows_makes_no_other_file(tmp_path: Path) -> None:
    for name, frame in {"one": units(), "two": units().iloc[::-1]}.items():
        write_units(frame, tmp_path / name, notebook="count", parameters={})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("name", COLUMNS)
def test_a_missing_column_is_named(name: str) -> None:
    with pytest.raises(InputError, match=f"missing: {name}$"):
        checked_units(units().drop(columns=name))


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
    with pytest.raises(InputError, match=message):
        checked_units(units(**changed))


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "units.parquet"
    write_units(units(), path, notebook="count", parameters={})
    table = pyarrow.parquet.read_table(path)
    later = {b"faithbook.units": json.dumps({"schema": UNITS_SCHEMA + 1, "parameters": {}}).encode()}
    pyarrow.parquet.write_table(table.replace_schema_metadata(later), path)
    with pytest.raises(DataError, match=f"schema {UNITS_SCHEMA + 1}, this version reads {UNITS_SCHEMA}"):
        read_units(path)
    units().to_parquet(path)
    with pytest.raises(DataError, match="schema None"):
        read_units(path)


def test_a_hundred_thousand_values_take_half_a_megabyte(tmp_path: Path) -> None:
    names = pd.MultiIndex.from_product(
        [[f"movie-{i:05d}" for i in range(250)], [f"m{i}" for i in range(20)], [f"s{i}" for i in range(20)]],
        names=["id", "method", "metric"],
    )
    frame = names.to_frame(index=False).assign(seed=0, value=np.random.default_rng(0).random(len(names)))
    write_units(frame.assign(cluster=frame["id"]), tmp_path / "units", notebook="count", parameters={})
    assert (tmp_path / "units").stat().st_size < 4.2 * len(frame)  # of which four bytes are the random value


# --- in a run --------------------------------------------------------------------------------------------------------


def test_a_run_saves_units_and_says_so(home: Path) -> None:
    run = start_run("count", profile="smoke", dataset="movie", seed=0)
    run.save_units(units())
    run.save_units(units(k=5), "k")
    run.finish()
    facts = json.loads((run.folder / "manifest.json").read_text())
    assert facts["files"] == {"units.parquet": 4, "units_k.parquet": 4}
    assert facts["units_schema"] == UNITS_SCHEMA
    assert set(load_units("count", "smoke")["dataset"]) == {"movie"}
    assert set(load_units("count", "smoke", part="k")["k"]) == {5}
    with pytest.raises(DataError, match=r"report has no units.parquet in a whole run at the profile smoke"):
        load_units("report", "smoke")


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
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.*")} == {
        "manifest.json",
        "units/count/movie_0-units.parquet",
        "units/count/bbc_0-units.parquet",
    }
    found = load_units("count", reference=True)
    assert set(found["dataset"]) == {"movie", "bbc"}
    assert len(found) == 8


def test_a_reference_that_is_too_large_is_refused_with_the_sizes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole(home)
    monkeypatch.setattr(committed, "LARGEST", 3000)
    with pytest.raises(DataError, match=r"more than 0 MB: (units/count/\w+-units.parquet 0.0 MB|manifest.json)"):
        add_all("smoke")
    assert not (home / "data" / "reference").exists()


def test_reference_needs_a_whole_profile(home: Path) -> None:
    commit(home)
    with pytest.raises(DataError, match="lacks count movie 0, count bbc 0: run python"):
        add_all("smoke")
    with pytest.raises(UnknownNameError, match="study 'none'"):
        add_all("smoke", "none")


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


def test_single_runs_take_the_places_of_earlier_ones_or_new_ones(home: Path, committed_reference: Path) -> None:
    before = kept(committed_reference)
    again = run_of(home, "movie_0-0123456789ab")
    new = run_of(home, "film-few_0-0123456789ab", parameters={"profile": "smoke", "dataset": "film-few", "seed": 0})
    add([again, new])
    assert kept(committed_reference) == {"bbc": before["bbc"], "movie": [9.0], "film-few": [9.0]}
    runs = json.loads((committed_reference / "manifest.json").read_text())["runs"]
    named = [run["parameters"].get("dataset") for run in runs if run["notebook"] == "count"]
    assert sorted(named) == ["bbc", "film-few", "movie"]
    assert "reproduced" in (committed_reference / "scoreboard.csv").read_text()  # until it is judged again
    add([run_of(home, "film_0-0123456789ab", parameters={"profile": "smoke", "dataset": "film", "seed": 0})])
    assert set(kept(committed_reference)) == {"bbc", "movie", "film"}  # all inputs in the place of a few
    with pytest.raises(DataError, match="a few inputs of a data set of which the reference has more"):
        add([new])
    renamed = {"profile": "smoke", "dataset": "movie", "classifier": "l3", "seed": 0}
    add([run_of(home, "movie_l3_0-0123456789ab", parameters=renamed)])
    runs = json.loads((committed_reference / "manifest.json").read_text())["runs"]
    movie = [run["parameters"] for run in runs if run["parameters"].get("dataset") == "movie"]
    assert movie == [renamed]  # in the place of the run of a grid without classifiers
    assert set(kept(committed_reference)) == {"movie", "bbc", "film"}
    film = {"profile": "smoke", "dataset": "film", "classifier": "l3", "seed": 1}
    add([run_of(home, "film_l3_1-0123456789ab", parameters=film)])  # of another seed: beside what is there
    runs = json.loads((committed_reference / "manifest.json").read_text())["runs"]
    assert [run["parameters"]["seed"] for run in runs if run["parameters"].get("dataset") == "film"] == [0, 1]


def test_parts_of_a_run_go_in_one_by_one_until_it_is_whole(home: Path, committed_reference: Path) -> None:
    def part(number: int, of: int, **changed: object) -> Path:
        film = {"profile": "smoke", "dataset": "film", "seed": 0} | changed
        return run_of(home, f"{film['dataset']}_{number}_{of}", parameters=film | {"part": number, "parts": of})

    def there() -> list[tuple[int, int]]:
        runs = json.loads((committed_reference / "manifest.json").read_text())["runs"]
        return [part_of(run["parameters"]) for run in runs if run["parameters"].get("dataset") == "film"]

    add([part(2, 3)])
    add([part(1, 3), home / "elsewhere" / "film_2_3"])
    assert there() == [(1, 3), (2, 3)]
    found = load_units("count", reference=True)
    assert (found["dataset"] == "film").sum() == 2 * len(units()) and not {"part", "parts"} & set(found.columns)
    with pytest.raises(DataError, match="is one of 2 parts, but the reference has these inputs in 3 parts"):
        add([part(1, 2)])
    with pytest.raises(DataError, match="is one of 2 parts, but the reference has these inputs whole"):
        add([part(1, 2, dataset="movie")])
    add([part(number, 2) if number == 2 else home / "elsewhere" / "film_1_2" for number in (1, 2)])
    assert there() == [(1, 2), (2, 2)]  # all at once
    add([run_of(home, "film_0", parameters={"profile": "smoke", "dataset": "film", "seed": 0})])
    assert there() == [(1, 1)]
    assert (load_units("count", reference=True)["dataset"] == "film").sum() == len(units())
    with pytest.raises(DataError, match="is one of 3 parts, but the reference has these inputs whole"):
        add([home / "elsewhere" / "film_2_3"])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": "report"}, "is no computation whose values are shared"),
        ({"profile": "laptop"}, "ran at the profile laptop, the reference is of smoke"),
        ({"commit": "0123456789ab with changes"}, "with changes: nobody could make its numbers again"),
        ({"commit": "unknown"}, "ran at the commit unknown"),
        ({"units_schema": UNITS_SCHEMA + 1}, f"no values of single inputs in schema {UNITS_SCHEMA}"),
    ],
)
def test_a_run_that_cannot_be_told_again_is_refused(
    home: Path, committed_reference: Path, changed: dict[str, object], message: str
) -> None:
    before = {path: path.read_bytes() for path in committed_reference.rglob("*.*")}
    with pytest.raises(DataError, match=message):
        add([run_of(home, "good"), run_of(home, "bad", **changed)])
    with pytest.raises(DataError, match=r"holds no whole run: expected manifest.json"):
        add([home])
    assert {path: path.read_bytes() for path in committed_reference.rglob("*.*")} == before


def test_the_pages_of_another_profile_judge_the_reference_again(
    home: Path, committed_reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = pd.DataFrame([{"id": name, "paper": "p", "kind": "claim"} for name in "abc"])
    monkeypatch.setattr(committed, "to_judge", lambda: places)
    with pytest.raises(InputError, match="the profile smoke show their own numbers"):
        keep_verdicts("smoke")
    with pytest.raises(DataError, match="there is no report: run python -m faithbook build --profile laptop"):
        keep_verdicts("laptop")
    (page,) = (job for job in plan("laptop") if job.kind == "report")
    finish(page)
    verdicts = pd.DataFrame([{"id": name, "decision": "not reproduced", "n": 3} for name in "ac"])
    verdicts.to_parquet(page.folder / "verdicts.parquet")

    def judged(source: str) -> dict[str, str]:
        facts = json.loads(page.manifest.read_text())
        page.manifest.write_text(json.dumps(facts | {"notes": {"speaks": source}}))
        keep_verdicts("laptop")
        board = pd.read_csv(committed_reference / "scoreboard.csv", index_col="id", keep_default_na=False)
        return board["decision"].to_dict()

    assert judged("this run") == {"a": "reproduced", "b": "reproduced"}
    assert judged("the reference") == {"a": "not reproduced", "b": "reproduced", "c": "not reproduced"}
    source = home / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text() + "\n")
    with pytest.raises(DataError, match=r"differ from it: notebooks/compute/count\.py"):
        keep_verdicts("laptop")


def test_new_verdicts_take_the_places_of_old_ones_on_the_scoreboard_or_new_ones() -> None:
    board = b'id,paper,kind,decision,page,reason,n\na,p,claim,not tested,,waits,\nb,p,claim,mixed,q,"x, y",7\n'
    told = {"decision": "not reproduced", "n": 3, "page": "r", "reason": "z"}
    new = pd.DataFrame([{"id": "a", **told}, {"id": "c", **told}])
    places = pd.DataFrame([{"id": name, "paper": "o", "kind": "question"} for name in "abcd"])
    found = pd.read_csv(io.BytesIO(judged_again(board, new, places)), keep_default_na=False, dtype=str)
    assert list(found.columns) == ["id", "paper", "kind", *scoreboard.FIELDS]
    shown = ["id", "paper", "kind", "decision", "page", "reason", "n", "evidence", "post_hoc"]
    ground = "substitute data, our models"
    assert found[shown].values.tolist() == [
        ["a", "p", "claim", "not reproduced", "r", "z", "3", ground, "False"],
        ["b", "p", "claim", "mixed", "q", "x, y", "7", "", ""],
        ["c", "o", "question", "not reproduced", "r", "z", "3", ground, "False"],
    ]


# --- from a notebook's frame -----------------------------------------------------------------------------------------


def test_a_frame_of_results_takes_the_columns_of_the_schema() -> None:
    wide = pd.DataFrame({"input": [3, 4], "language": "de", "ns": [0.5, np.nan], "nc": [1.0, 2.0], "label": 0})
    found = as_units(wide, seed=7, clusters={"3": "p", "4": "p"}, metrics=["ns", "nc"], keys=["language"])
    assert set(found.columns) == {*COLUMNS, "language"}
    assert found[["id", "metric", "value"]].fillna(-1).to_numpy().tolist() == [
        ["3", "ns", 0.5], ["4", "ns", -1], ["3", "nc", 1.0], ["4", "nc", 2.0],
    ]  # fmt: skip
    assert set(found["method"]) == {"none"}
    assert set(found["seed"]) == {7}
    assert set(found["cluster"]) == {"p"}
    checked_units(found)


def test_a_frame_with_values_keeps_its_own_methods_and_seeds() -> None:
    long = pd.DataFrame({"name": ["a", "b"], "method": "lime", "metric": "saco", "value": [0.1, 0.2], "draw": [1, 2]})
    found = as_units(long, seed="draw", name="name")
    assert found["seed"].tolist() == [1, 2]
    assert found["cluster"].tolist() == found["id"].tolist() == ["a", "b"]


def test_an_id_without_a_cluster_is_refused() -> None:
    frame = pd.DataFrame({"input": ["a", "b"], "metric": "ns", "value": [0.1, 0.2]})
    with pytest.raises(InputError, match="missing values in cluster"):
        checked_units(as_units(frame, seed=0, clusters={"a": "p"}))
