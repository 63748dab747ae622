"""Computations whose inputs are shared out among several runs: the same bytes whatever the number of parts."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from replica_data import edin_texts
from test_stamps import packed_stamps
from test_toolkit_tasks import write_reviews
from tiny import HEADER, call

from faithbook.declared import declare
from faithbook.engine import build
from faithbook.engine.build import run_job
from faithbook.engine.parts import joined_manifest
from faithbook.engine.plan import NOTEBOOK, PART, PARTS, Job, make_job, notebook_parameters, plan
from faithbook.engine.profiles import in_one_piece, table
from faithbook.engine.run import RUN_VARIABLE, load, load_manifests, load_units, start_run
from faithbook.paths import raw_dir, root
from faithbook.sources import files, stamps
from faithlib.errors import DataError, InputError, UnknownNameError
from faithlib.perturb import Perturber

ROOT = root()
SHARED = (
    HEADER
    + """
# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
seed = 0
part = 1
parts = 1

# %%
import pandas as pd

from faithbook.engine.run import start_run
from faithbook.paths import root

run = start_run("count", profile=profile, dataset=dataset, seed=seed, part=part, parts=parts)
with (root() / "calls").open("a") as stream:
    stream.write(f"{dataset} {part}/{parts}\\n")

# %%
for rows in run.blocks(run.settings["inputs"], 2):
    ids = [f"text {number}" for number in range(rows.start, rows.stop)]
    frame = pd.DataFrame({"dataset": dataset, "id": ids, "value": [len(dataset) / (1 + i) for i in range(len(ids))]})
    run.add(frame, "counts")
    keys = {"cluster": frame["id"], "seed": seed, "method": "lime", "metric": "nc"}
    run.add_units(frame.drop(columns="dataset").assign(**keys))
    run.add_units(frame.drop(columns="dataset").assign(**keys, k=rows.start % 3), "k")
    run.add_total(pd.DataFrame({"what": ["rows", "calls"], "number": [len(ids), 1]}), "costs", by=["what"])
    run.count(n=len(ids), peak_bytes=rows.stop, seconds_model=0.1)
if run.is_last:
    run.save(pd.DataFrame({"once": [1]}), "once")
run.note(device="cpu")
run.finish()
"""
)


def in_this_process(job: Job, folder: Path) -> None:
    """What a kernel would do with a notebook, without a kernel."""
    head, tag, rest = job.source.read_text(encoding="utf-8").partition('tags=["parameters"]')
    cell, _, after = rest.partition("\n# %%")
    code = f"{head}{tag}{cell}\nglobals().update(PARAMETERS)\n# %%{after}"
    told = {"source": str(job.source), "folder": str(folder), "run_id": job.run_id, "loads": job.loads}
    told |= {"words": job.words, "upstream": [str(earlier.folder) for earlier in job.upstream]}
    os.environ[RUN_VARIABLE] = json.dumps(told)
    try:
        exec(compile(code, str(job.source), "exec"), {"PARAMETERS": dict(job.parameters)})
    finally:
        del os.environ[RUN_VARIABLE]
        declare(None)
    (folder / NOTEBOOK).write_text("{}")


@pytest.fixture
def shared(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small study, whose computation shares its five inputs out."""
    monkeypatch.setattr(build, "_execute", in_this_process)
    (home / "notebooks" / "compute" / "count.py").write_text(SHARED)
    path = home / "notebooks" / "profiles.yaml"
    path.write_text(path.read_text().replace("inputs: 3}", "inputs: 5}"))
    return home


def changed(home: Path, profile: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a profile of the table."""
    path = home / "notebooks" / "profiles.yaml"
    found = yaml.safe_load(path.read_text())
    change(found["profiles"][profile])
    path.write_text(yaml.safe_dump(found, sort_keys=False))


def cut(home: Path, profile: str, **parts: int) -> None:
    """Let a profile run computations in so many parts."""
    changed(home, profile, lambda block: block.update(parts=parts))


def computed(notebook: str = "count") -> list[Job]:
    """The jobs of a computation at the smoke profile: of each point of its grid those of its parts, then the whole."""
    return [job for job in plan("smoke") if job.notebook == notebook]


def tables(folder: Path) -> dict[str, bytes | pd.DataFrame]:
    """What a run has saved: bytes, but of tables with seconds, which are measured, the other columns."""
    found: dict[str, bytes | pd.DataFrame] = {}
    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path)
        seconds = [name for name in frame.columns if name.startswith(("seconds", "bookkeeping"))]
        found[path.name] = frame.drop(columns=seconds) if seconds else path.read_bytes()
    return found


def assert_same(one: dict[str, bytes | pd.DataFrame], other: dict[str, bytes | pd.DataFrame]) -> None:
    assert list(one) == list(other)
    for name, value in one.items():
        if isinstance(value, bytes):
            assert value == other[name], name
        else:
            pd.testing.assert_frame_equal(value, other[name], check_exact=True, obj=name)


def done(jobs: list[Job]) -> Path:
    """Run jobs in their order; the folder of the last."""
    for job in jobs:
        run_job(job)
    return jobs[-1].folder


# --- the plan --------------------------------------------------------------------------------------------------------


def test_the_number_of_parts_changes_no_name(shared: Path) -> None:
    before = {job.label: job.run_id for job in plan("smoke")}
    cut(shared, "smoke", count=3)
    jobs = plan("smoke")
    assert [job.label for job in jobs] == [
        *(f"count movie 0 {number} 3" for number in (1, 2, 3)),
        "count movie 0",
        *(f"count bbc 0 {number} 3" for number in (1, 2, 3)),
        "count bbc 0",
        "report",
    ]
    assert {job.label: job.run_id for job in jobs if not job.is_part} == before
    assert len({job.run_id for job in jobs}) == len(jobs)
    assert not any(job.is_part for job in plan("laptop"))
    assert [job.label for job in jobs[-1].upstream] == ["count movie 0", "count bbc 0"]


def test_what_a_part_depends_on_changes_its_name(shared: Path) -> None:
    cut(shared, "smoke", count=2)
    before = {job.label: job.run_id for job in plan("smoke")}
    source = shared / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text() + "# more\n")
    after = {job.label: job.run_id for job in plan("smoke")}
    assert all(after[name] != before[name] for name in before)


def test_what_cannot_be_cut_is_refused_with_its_reason(shared: Path) -> None:
    path = shared / "notebooks" / "profiles.yaml"
    cut(shared, "smoke", report=2)
    with pytest.raises(UnknownNameError, match="computation with parts in the profile smoke 'report'"):
        plan("smoke")
    cut(shared, "smoke")
    text = path.read_text()
    path.write_text(
        text.replace("      count:\n        over:", "      count:\n        whole: it is one\n        over:")
    )
    assert in_one_piece() == {"count": "it is one"}
    cut(shared, "smoke", count=2)
    with pytest.raises(InputError, match="the profile smoke cuts count into 2 parts, but it is one"):
        plan("smoke")
    cut(shared, "smoke", count=0)
    with pytest.raises(InputError, match="greater than 0"):
        plan("smoke")


@pytest.mark.parametrize(("part", "parts"), [(0, 1), (3, 2), (1, 0)])
def test_a_part_that_there_is_not_is_refused(shared: Path, part: int, parts: int) -> None:
    with pytest.raises(InputError, match=f"part {part} of {parts}: parts are counted from 1"):
        make_job(shared / "notebooks" / "compute" / "count.py", "smoke", {"part": part, "parts": parts})


def test_every_computation_can_be_cut_or_says_why_not() -> None:
    for _, kind, name, entry in table().entries():
        if kind == "compute":
            parameters = notebook_parameters(ROOT / "notebooks" / "compute" / f"{name}.py")
            assert ({PART, PARTS} <= set(parameters)) != bool(entry.whole), name


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_every_input_is_in_one_part_and_blocks_do_not_depend_on_parts(shared: Path, parts: int) -> None:
    found = []
    for part in range(1, parts + 1):
        run = start_run("count", profile="smoke", dataset="movie", seed=0, part=part, parts=parts)
        found += list(run.blocks(11, 3))
        run.finish()
    assert found == [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 11)]


# --- the runs --------------------------------------------------------------------------------------------------------


def test_parts_put_together_are_the_bytes_of_one_run(shared: Path) -> None:
    (whole, *_) = computed()
    done([whole])
    expected, facts = tables(whole.folder), json.loads(whole.manifest.read_text())
    assert set(expected) == {"counts.parquet", "costs.parquet", "once.parquet", "units.parquet", "units_k.parquet"}
    for number in (3, 7):  # of three blocks: seven parts have four that are empty
        shutil.rmtree(whole.folder.parent)
        cut(shared, "smoke", count=number)
        folder = done([job for job in computed() if job.parameters["dataset"] == "movie"])
        assert folder == whole.folder
        assert_same(tables(folder), expected)
        found = json.loads((folder / "manifest.json").read_text())
        for name in ("notes", "parameters", "run_id", "files", "totals", "settings"):
            assert found[name] == facts[name], name
        assert len(found["put_together_from"]) == number
    assert facts["notes"] == {"n": 5, "peak_bytes": 5, "seconds_model": pytest.approx(0.3), "device": "cpu"}


def test_times_of_parts_add_up_where_all_of_them_tell_one(shared: Path) -> None:
    (whole, *_) = computed()
    told = json.loads((done([whole]) / "manifest.json").read_text())
    assert told["processor_seconds"] > 0
    one, other = told | {"seconds": 3.0, "processor_seconds": 2.0}, told | {"seconds": 4.5, "processor_seconds": 4.25}
    found = joined_manifest(whole, [one, other])
    assert (found["seconds"], found["processor_seconds"]) == (7.5, 6.25)
    del other["processor_seconds"]  # a part from before it was noted
    found = joined_manifest(whole, [one, other])
    assert found["seconds"] == 7.5 and "processor_seconds" not in found


def test_readers_see_one_run(shared: Path) -> None:
    cut(shared, "smoke", count=3)
    jobs = computed()
    done(jobs)
    units, counts = load_units("count", "smoke"), load("counts", "smoke")
    assert len(units) == len(counts) == 10
    assert not {PART, PARTS} & set(units.columns)
    assert list(counts["id"][:5]) == [f"text {number}" for number in range(5)]
    assert list(load_manifests("smoke")["dataset"]) == ["movie", "bbc"]


def test_a_lost_part_alone_is_done_again(shared: Path) -> None:
    cut(shared, "smoke", count=3)
    movie = [job for job in computed() if job.parameters["dataset"] == "movie"]
    folder = done(movie)
    expected = tables(folder)
    for lost in (movie[1].folder, folder):
        shutil.rmtree(lost)
    again = [job for job in computed() if job.parameters["dataset"] == "movie"]
    assert [job.done for job in again] == [True, False, True, False]
    with pytest.raises(DataError, match="count movie 0 is put together from count movie 0 2 3, which has not run"):
        run_job(again[-1])
    (shared / "calls").unlink()
    assert_same(tables(done(again)), expected)
    assert (shared / "calls").read_text() == "movie 2/3\n"


def test_parts_of_what_is_whole_may_go(shared: Path) -> None:
    cut(shared, "smoke", count=3)
    done(computed())
    for job in computed():
        assert not job.is_part  # nobody needs them any more
    cut(shared, "smoke", count=2)
    assert all(job.done for job in computed())


def test_a_part_by_hand_computes_its_share(shared: Path) -> None:
    job = make_job(shared / "notebooks" / "compute" / "count.py", "smoke", {"part": 2, "parts": 3})
    folder = done([job])
    assert list(pd.read_parquet(folder / "counts.parquet")["id"]) == ["text 2", "text 3"]
    assert job.slug == "movie_0_2_3"


def test_what_is_no_table_cannot_be_put_together(shared: Path) -> None:
    source = shared / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text().replace('"once")', '"once", format="csv")'))
    cut(shared, "smoke", count=2)
    with pytest.raises(DataError, match=r"parts have saved once.csv, but only tables \(parquet\) can be put together"):
        done(computed())


@pytest.mark.long
def test_a_build_computes_parts_and_puts_them_together(shared: Path) -> None:
    """Through the scheduler and real kernels; one movie is enough."""
    cut(shared, "smoke", count=2)
    changed(shared, "smoke", lambda block: block["settings"]["count"].update(datasets=["movie"]))
    first = call(shared, "build", "--profile", "smoke", "--cores", "2")
    assert first.returncode == 0, first.stderr
    assert "4 notebooks, 0 of them done before" in first.stdout
    assert sorted((shared / "calls").read_text().splitlines()) == ["movie 1/2", "movie 2/2"]
    assert len(load_units("count", "smoke")) == 5
    assert (computed()[-1].folder / NOTEBOOK).is_file()
    again = call(shared, "build", "--profile", "smoke")
    assert "2 notebooks, 2 of them done before" in again.stdout


# --- the real computations -------------------------------------------------------------------------------------------

CUT = [name for _, kind, name, entry in table().entries() if kind == "compute" and not entry.whole]
# Settings that make eleven runs of each cheaper still than the smoke profile does.
SMALLER: dict[str, dict[str, Any]] = {
    "soft_variants": {"ig_steps": 2},
    "crosslingual_metrics": {
        "languages": ["en", "de"],
        "messages": 3,
        "erased": 3,
        "batch": 1,
        "ig_steps": 2,
        "lime_samples": 4,
        "permutations": 1,
    },
    "crosslingual_projected": {"languages": ["en", "de"], "messages": 3, "batch": 1},
    "crosslingual_plausibility": {"ig_steps": 2, "lime_samples": 4, "permutations": 1},
    "naopc_six": {
        "block": 2,
        "datasets": ["sst2"],
        "models": {"l6": "local:text/sst-seed0"},
        "classifiers": ["l6"],
        "texts": {"sst2": {"short": 4, "long": 6}},
        "adaptive": {"most": 8, "change": 0.001, "candidates": 4},
        "ig_steps": 2,
    },
    "saco_metrics": {"ig_steps": 2, "random_draws": 1},
    "together_matrix": {"ig_steps": 2, "words": 6},
    "together_objects": {"datasets": ["stamps-two"]},
    "together_toolkit": {"datasets": ["reviews"]},
}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The repository's notebooks beside its data, with results of their own."""
    monkeypatch.setenv("FAITHLIB_DATA", str(raw_dir().resolve()))
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    (tmp_path / "data").mkdir()
    for name in ("requirements.lock", *(f"data/{path.name}" for path in (ROOT / "data").iterdir())):
        if not re.search(r"raw|results", name):
            (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setenv("FAITHLIB_HOME", str(tmp_path))
    monkeypatch.setattr(build, "_execute", in_this_process)
    yield tmp_path
    shutil.rmtree(tmp_path / "data" / "results", ignore_errors=True)


@pytest.mark.long  # a minute or two each
@pytest.mark.parametrize("notebook", CUT)
def test_a_real_computation_is_the_same_in_any_number_of_parts(
    notebook: str, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of single inputs and tables, to the last bit: nothing depends on what else a part holds."""
    if notebook == "together_toolkit":  # its data are somebody's to bring
        (clone / "raw").mkdir()
        (clone / "raw" / "minilm").symlink_to(raw_dir() / "minilm")
        write_reviews(clone / "raw" / "movies")
        monkeypatch.setenv("FAITHLIB_DATA", str(clone / "raw"))
    if notebook == "together_objects":  # its photographs are no part of what is fetched
        archive = packed_stamps(clone)
        monkeypatch.setattr(stamps, "fetch", lambda _: archive)
    if notebook == "naopc_six":  # nor are its texts
        (clone / "raw" / "edin-texts").mkdir(parents=True)
        for one in files.files_of("edin-texts"):
            (clone / "raw" / "edin-texts" / one.file).write_text(edin_texts(one.file, 6), encoding="utf-8")
        monkeypatch.setattr(files, "verify", lambda source, path: None)
        monkeypatch.setenv("FAITHLIB_DATA", str(clone / "raw"))
    changed(clone, "smoke", lambda block: block["settings"].setdefault(notebook, {}).update(SMALLER.get(notebook, {})))
    whole = computed(notebook)[0]
    done([*whole.upstream, whole])
    expected = tables(whole.folder)
    notes = json.loads(whole.manifest.read_text())["notes"]
    assert any(name.startswith("units") for name in expected)
    for number in (3, 7):
        shutil.rmtree(whole.folder)
        cut(clone, "smoke", **{notebook: number})
        jobs = [job for job in computed(notebook) if job is not whole]
        of_this = [job for job in jobs if whole.parameters.items() <= job.parameters.items()]
        assert [job.is_part for job in of_this] == [True] * number + [False]
        assert sum(bool(json.loads(job.manifest.read_text())["files"]) for job in of_this[:-1] if run_job(job)) > 1
        assert done(of_this) == whole.folder
        assert_same(tables(whole.folder), expected)
        found = json.loads(whole.manifest.read_text())["notes"]
        counted = [name for name in notes if not name.startswith(("seconds", "peak"))]
        assert {name: found[name] for name in counted} == {name: notes[name] for name in counted}


@pytest.mark.long
def test_more_inputs_keep_no_more_in_memory(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are kept by the perturber of a block, which goes with it; scores and inputs go with the block, too."""
    alive: weakref.WeakSet[Perturber] = weakref.WeakSet()
    make = Perturber.__init__
    most = []

    def counted(self: Perturber, *given: Any, **options: Any) -> None:
        gc.collect()
        most[-1] = max(most[-1], len(alive))
        make(self, *given, **options)
        alive.add(self)

    monkeypatch.setattr(Perturber, "__init__", counted)
    for inputs in (4, 8):
        changed(clone, "smoke", lambda block, n=inputs: block["settings"]["soft_metrics"]["inputs"].update(movie=n))
        most.append(0)
        whole = computed("soft_metrics")[0]
        done([whole])
        assert json.loads(whole.manifest.read_text())["notes"]["n"] == inputs
    assert most[0] == most[1] > 0
