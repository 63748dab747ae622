"""Computations whose inputs are shared out among several runs: the same values whatever the number of parts."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from families import opened, saved
from replica_data import edin_texts, reviews
from studies import change, copy_studies, cut
from test_language_pages import films
from test_stamps import packed_stamps
from tiny import HEADER, OF_STUDY

from faithbook.access import declare
from faithbook.engine import build
from faithbook.engine.build import run_job
from faithbook.engine.machine import RUN
from faithbook.engine.plan import NOTEBOOK, Job, make_job, notebook_parameters, plan, specification
from faithbook.engine.run import load, load_manifests, load_units, start_run
from faithbook.engine.studies import notebooks
from faithbook.engine.study import PARTS
from faithbook.paths import raw_dir, root
from faithbook.sources import files, object_scenes
from faithbook.studies.language import language
from faithlib.errors import InputError, UnknownNameError
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
    upstream = [str(earlier.folder) for earlier in job.upstream]
    told = {"job": specification(job), "folder": str(folder), "upstream": upstream}
    os.environ[RUN] = json.dumps(told)
    try:
        exec(compile(code, str(job.source), "exec"), {"PARAMETERS": dict(job.parameters)})
    finally:
        del os.environ[RUN]
        declare(None)
    (folder / NOTEBOOK).write_text("{}")


@pytest.fixture
def shared(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small study, whose computation shares its five inputs out."""
    monkeypatch.setattr(build, "_execute", in_this_process)
    (home / "notebooks" / "compute" / "count.py").write_text(SHARED)
    path = home / OF_STUDY
    path.write_text(path.read_text().replace("inputs=3)", "inputs=5)"))
    return home


def computed(notebook: str = "count") -> list[Job]:
    """The jobs of a computation at the smoke profile."""
    return [job for job in plan("smoke") if job.notebook == notebook]


def tables(jobs: list[Job]) -> dict[str, pd.DataFrame]:
    """What runs have saved, one below the other, without seconds, which are measured; costs are added up."""
    found: dict[str, list[pd.DataFrame]] = {}
    for job in jobs:
        for path in sorted(job.folder.glob("*.parquet")):
            frame = pd.read_parquet(path)
            texts = frame.select_dtypes("category").columns
            frame = frame.astype(dict.fromkeys(texts, str))  # which values a part has is no difference
            measured = [name for name in frame.columns if name.startswith(("seconds", "bookkeeping", "peak"))]
            found.setdefault(path.name, []).append(frame.drop(columns=measured))
    whole = {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}
    for (
        name,
        frame,
    ) in whole.items():  # a run's rows are in the order of their keys, those of parts one part after another
        keys = list(frame.select_dtypes(exclude="float").columns)
        whole[name] = frame.sort_values(keys, kind="stable", ignore_index=True) if keys else frame
    for name in [name for name in whole if name.endswith("_costs.parquet")]:
        labels = list(whole[name].select_dtypes(exclude="number").columns)
        whole[name] = whole[name].groupby(labels, sort=False).sum().reset_index()
    return dict(sorted(whole.items()))


def assert_same(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> None:
    assert list(one) == list(other)
    for name, value in one.items():
        pd.testing.assert_frame_equal(value, other[name], check_exact=True, obj=name)


def done(jobs: list[Job]) -> list[Job]:
    """Run jobs in their order."""
    for job in jobs:
        run_job(job)
    return jobs


# --- the plan --------------------------------------------------------------------------------------------------------


def test_parts_are_points_of_the_grid(shared: Path) -> None:
    before = {job.label: job.run_id for job in plan("smoke")}
    cut(shared, "count", "smoke", 3)
    jobs = plan("smoke")
    parts = [f"count {name} 0 {number} 3" for name in ("movie", "bbc") for number in (1, 2, 3)]
    assert [job.label for job in jobs] == [*parts, "report"]
    assert len({job.run_id for job in jobs}) == len(jobs)
    assert [job.label for job in jobs[-1].upstream] == parts
    cut(shared, "count", "smoke", 1)
    assert {job.label: job.run_id for job in plan("smoke")} == before


def test_what_cannot_be_cut_is_refused(shared: Path) -> None:
    study = shared / OF_STUDY
    before = study.read_text()
    cut(shared, "report", "smoke", 2)
    with pytest.raises(UnknownNameError, match=r"unknown parameter of report\.py 'part'"):
        plan("smoke")
    cut(shared, "report", "smoke", 1)
    cut(shared, "count", "smoke", 0)
    with pytest.raises(InputError, match="greater than 0"):
        plan("smoke")
    study.write_text(before)
    for part, parts in ((0, 1), (3, 2), (1, 0)):
        with pytest.raises(InputError, match=f"part {part} of {parts}: parts are counted from 1"):
            make_job(shared / "notebooks" / "compute" / "count.py", "smoke", {"part": part, "parts": parts})


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_every_input_is_in_one_part_and_blocks_do_not_depend_on_parts(shared: Path, parts: int) -> None:
    found = []
    for part in range(1, parts + 1):
        run = start_run("count", profile="smoke", dataset="movie", seed=0, part=part, parts=parts)
        found += list(run.blocks(11, 3))
        run.finish()
    assert found == [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 11)]


# --- the runs --------------------------------------------------------------------------------------------------------


def test_readers_see_the_inputs_of_all_parts_in_their_order(shared: Path) -> None:
    whole = done(computed())
    units, counts = load_units("count", "smoke"), load("counts", "smoke").drop(columns="run_id")
    notes = [json.loads(job.manifest.read_text())["notes"] for job in whole]
    assert notes[0] == {"n": 5, "peak_bytes": 5, "seconds_model": pytest.approx(0.3), "device": "cpu"}
    for number in (3, 7):  # of three blocks: seven parts have four that are empty
        cut(shared, "count", "smoke", number)
        parts = done(computed())
        assert len(parts) == 2 * number
        assert_same({"": load("counts", "smoke").drop(columns="run_id")}, {"": counts})
        assert_same({"": load_units("count", "smoke")}, {"": units})
        assert len(load("once", "smoke")) == 2
        assert load_manifests("smoke").groupby("dataset", sort=False)["n"].sum().to_dict() == {"movie": 5, "bbc": 5}


def test_a_lost_part_alone_is_done_again(shared: Path) -> None:
    cut(shared, "count", "smoke", 3)
    parts = done(computed())
    expected = tables(parts)
    shutil.rmtree(parts[1].folder)
    (shared / "calls").unlink()
    assert_same(tables(done(computed())), expected)
    assert (shared / "calls").read_text() == "movie 2/3\n"


# --- the real computations -------------------------------------------------------------------------------------------

CUT = [
    notebook.name
    for notebook in notebooks("compute")
    if PARTS in notebook_parameters(ROOT / "notebooks" / "compute" / f"{notebook.name}.py")
]
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
    "crosslingual_languages": {  # its pairs of sentences are no part of what is fetched
        "datasets": ["messages"],
        "languages": ["de"],
        "texts": 3,
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
        "model": "local:text/sst-seed0",
        "classifiers": ["l6"],
        "texts": {"short": 4, "long": 6},
        "adaptive": {"most": 8, "change": 0.001, "candidates": 4},
        "ig_steps": 2,
    },
    "saco_metrics": {"ig_steps": 2, "random_draws": 1},
    "saco_groups": {"datasets": ["fashion"], "models_apart": ["base"], "ig_steps": 2, "random_draws": 1},
    "together_matrix": {"ig_steps": 2, "words": 6},
    "together_objects": {"datasets": ["stamps-two"]},
    "together_toolkit": {"datasets": ["reviews"]},
    "language_agreement": {"datasets": ["agreement"], "block": 1, "permutations": 1},
    "language_sentences": {"datasets": ["facts"], "prompts": 4, "block": 1},
    "language_amounts": {"datasets": ["copied-name"], "inputs": 4, "block": 1},
    "language_erasures": {"datasets": ["prompted-movie"], "block": 1, "matches": 2},
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
    copy_studies(tmp_path)
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
    if notebook.startswith("language_"):  # nor is the model, so a tiny one of its family answers
        tiny = opened(saved("llama", clone / "tiny", causal=True), causal=True)
        monkeypatch.setattr(language, "MODELS", {"smollm2": lambda: tiny})
        monkeypatch.setattr(language, "prompts", lambda name, n, words: films()[:n])
    if notebook == "together_toolkit":  # its data are somebody's to bring
        (clone / "raw").mkdir()
        (clone / "raw" / "minilm").symlink_to(raw_dir() / "minilm")
        reviews(clone / "raw" / "movies")
        monkeypatch.setenv("FAITHLIB_DATA", str(clone / "raw"))
    if notebook == "together_objects":  # its photographs are no part of what is fetched
        archive = packed_stamps(clone)
        monkeypatch.setattr(object_scenes, "fetch", lambda _: archive)
    if notebook == "naopc_six":  # nor are its texts
        (clone / "raw" / "edin-texts").mkdir(parents=True)
        for one in files.files_of("edin-texts"):
            (clone / "raw" / "edin-texts" / one.file).write_text(edin_texts(one.file, 6), encoding="utf-8")
        monkeypatch.setattr(files, "verify", lambda source, path: None)
        monkeypatch.setenv("FAITHLIB_DATA", str(clone / "raw"))
    change(clone, notebook, "smoke", **SMALLER.get(notebook, {}))
    whole = computed(notebook)[0]
    done([*whole.upstream, whole])
    expected, notes = tables([whole]), json.loads(whole.manifest.read_text())["notes"]
    assert any(name.startswith("units") for name in expected)
    counted = [name for name in notes if not name.startswith(("seconds", "peak", "features"))]
    numbers = [name for name in counted if isinstance(notes[name], int) and not isinstance(notes[name], bool)]
    for number in (3, 7):
        cut(clone, notebook, "smoke", number)
        parts = [job for job in computed(notebook) if whole.parameters.items() <= job.parameters.items()]
        assert len(parts) == number
        assert sum(bool(json.loads(job.manifest.read_text())["files"]) for job in done(parts)) > 1
        assert_same(tables(parts), expected)
        found = [json.loads(job.manifest.read_text())["notes"] for job in parts]
        assert {name: sum(run.get(name, 0) for run in found) for name in numbers} == {
            name: notes[name] for name in numbers
        }


FURTHER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "crosslingual_plausibility": ({"excerpts": 2, "further": 4}, {"excerpts": 4}),
    "crosslingual_metrics": (
        {"messages": 2, "erased": 2, "further": {"messages": 4, "erased": 4}},
        {"messages": 4, "erased": 4},
    ),
}
"""By notebook, settings with further texts for the rows that one gradient gives, and those of a run of all texts."""


@pytest.mark.long  # a minute or two each
@pytest.mark.parametrize("notebook", FURTHER)
def test_rows_of_further_texts_are_those_of_a_run_that_has_them_all(notebook: str, clone: Path) -> None:
    few, all_of_them = FURTHER[notebook]
    options = SMALLER[notebook] | few | {"asked_of": ["", "one pass"]}
    change(clone, notebook, "smoke", **options)
    further = next(job for job in computed(notebook) if job.parameters["only"])
    done([*further.upstream, further])
    change(clone, notebook, "smoke", **all_of_them, asked_of=[""])
    whole = computed(notebook)[0]
    done([whole])
    found, expected = tables([further]), tables([whole])
    compared = 0
    for name in (table for table in found if table.startswith("units")):
        keys = [column for column in found[name].columns if column not in ("value", "cluster")]
        both = found[name].merge(expected[name], on=keys, suffixes=("", "_whole"), validate="one_to_one")
        assert len(both) == len(found[name]) > 0
        np.testing.assert_allclose(both["value"], both["value_whole"], atol=1e-6)
        compared += both["id"].nunique()
        assert both["id"].nunique() == 2
    assert compared


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
        change(clone, "soft_metrics", "smoke", inputs=inputs)
        most.append(0)
        whole = computed("soft_metrics")[0]
        done([whole])
        assert json.loads(whole.manifest.read_text())["notes"]["n"] == inputs
    assert most[0] == most[1] > 0
