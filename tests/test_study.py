"""Profiles, plan, run store: on a study of its own (tests/tiny.py), without running a kernel."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from tiny import OF_STUDY, REPOSITORY, finish

from faithbook.engine import digests, machine
from faithbook.engine.digests import Library, tree_digest
from faithbook.engine.pages import contents, page_of, stage
from faithbook.engine.plan import Job, _brought, _Planner, make_job, notebook_parameters, plan
from faithbook.engine.run import load, load_manifests, start_run
from faithbook.engine.studies import entry_of, notebooks, reads_of, settings_of, studies
from faithbook.judge import published
from faithbook.models.resume import precision_on
from faithbook.paths import root
from faithlib.errors import DataError, InputError, UnknownNameError


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@contextlib.contextmanager
def edited(path: Path, old: str, new: str) -> Iterator[None]:
    """For a while another file."""
    text = path.read_text()
    edit(path, old, new)
    yield
    path.write_text(text)


def ids(profile: str = "smoke") -> dict[str, str]:
    return {job.label: job.run_id for job in plan(profile)}


def changed(before: dict[str, str], profile: str = "smoke") -> set[str]:
    """The jobs that have another id than before, or had none."""
    return {label for label, run in ids(profile).items() if run != before.get(label)}


def put(path: Path, text: str = "here") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# --- profiles and settings -------------------------------------------------------------------------------------------


def test_settings_of_a_profile_lie_over_those_of_the_one_that_it_extends(home: Path) -> None:
    edit(home / OF_STUDY, "smoke=dict(seeds=[0], inputs=3)", "smoke=dict(inputs=3), full=dict(seeds=[0, 1, 2])")
    assert settings_of("count", "smoke") == {"datasets": ["movie", "bbc"], "seeds": [0, 1], "inputs": 3}
    assert settings_of("count", "full") == {"datasets": ["movie", "bbc"], "seeds": [0, 1, 2], "inputs": 30}
    assert settings_of("count", "paper") == settings_of("count", "confirm") == settings_of("count", "full")
    assert settings_of("report", "smoke") == {}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds=[0], inputs", "seeds=0, inputs", "non-empty list"),
        ("seeds=[0], inputs", "seed=[0], inputs", "setting of the profile smoke 'seed': did you mean 'seeds'"),
        ("smoke=dict", "smok=dict", "unknown profile 'smok': did you mean 'smoke'"),
        ('reads=["count"]', 'reads=["cuont"]', "did you mean 'count'"),
        ("loads=[]", "load=[]", r"study\.py cannot be used:\n(.|\n)*load\n.*Extra inputs are not permitted"),
        ('Study("tiny"', 'Study("teeny"', r"study\.py must define study = Study\('tiny', \.\.\.\)"),
        ('report("report"', 'report("count"', "the study tiny has two notebooks count"),
    ],
)
def test_a_study_that_cannot_work_is_refused(home: Path, old: str, new: str, message: str) -> None:
    edit(home / OF_STUDY, old, new)
    with pytest.raises(InputError, match=message):
        studies()


def test_two_studies_cannot_have_the_same_notebook(home: Path) -> None:
    other = (home / OF_STUDY).read_text().replace('"tiny"', '"other"')
    put(home / "faithbook" / "studies" / "other" / "study.py", other)
    with pytest.raises(InputError, match="notebooks of two studies: count, report"):
        studies()


# --- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_are_those_of_the_notebook(home: Path) -> None:
    source = home / "notebooks" / "compute" / "count.py"
    assert notebook_parameters(source) == {"profile": "laptop", "dataset": "movie", "seed": 0}
    with pytest.raises(UnknownNameError, match=r"unknown parameter of count.py 'datset': did you mean 'dataset'"):
        make_job(source, "smoke", {"datset": "bbc"})
    with pytest.raises(InputError, match=r"the parameter seed is a int \(default 0\), but 'one' is a str"):
        make_job(source, "smoke", {"seed": "one"})
    edit(source, "seed = 0\n", "seed = 1 + int(2)\n")
    with pytest.raises(InputError, match="plain literal"):
        notebook_parameters(source)


# --- plan and run ids ------------------------------------------------------------------------------------------------


def test_plan_is_the_grid_in_an_order_that_can_run(home: Path) -> None:
    jobs = plan("laptop")
    assert [job.label for job in jobs] == ["count movie 0", "count movie 1", "count bbc 0", "count bbc 1", "report"]
    assert jobs[-1].upstream == jobs[:4]
    assert len({job.folder for job in jobs}) == 5


def test_a_plan_of_one_study_has_what_it_reads_of_others(home: Path) -> None:
    (home / "notebooks" / "report" / "last.py").write_text((home / "notebooks" / "report" / "report.py").read_text())
    other = "from faithbook.engine.study import Study\n\nstudy = Study('other', number=2)\n"
    everything = "lambda notebooks: [notebook.name for notebook in notebooks if notebook.name != 'last']"
    put(home / "faithbook" / "studies" / "other" / "study.py", f"{other}study.report('last', reads={everything})\n")
    assert [job.notebook for job in plan("laptop", "tiny")] == [*["count"] * 4, "report"]
    assert [job.notebook for job in plan("laptop", "other")] == [*["count"] * 4, "report", "last"]
    assert len(plan("laptop")) == 6
    with pytest.raises(UnknownNameError, match="unknown study 'tine': did you mean 'tiny'"):
        plan("laptop", "tine")


def test_run_ids_change_with_what_the_results_depend_on_and_nothing_else(home: Path) -> None:
    before, study = ids(), home / OF_STUDY
    source, every = home / "notebooks" / "compute" / "count.py", set(before)
    for path, old, new, expected in (
        (study, '"bbc"], seeds', '"bbc", "section"], seeds', {"count section 0", "report"}),
        (study, "inputs=3)", 'inputs=by("dataset", movie=3, bbc=4))', {"count bbc 0", "report"}),
        (study, "inputs=3)", "inputs=4)", every),
        (study, "inputs=30", "inputs=40", set()),  # of another profile
        (study, "@study.compute", "SIZES = (1, 2)  # of no run\n\n\n@study.compute", set()),
        (source, "time.sleep(0.05)", "time.sleep(0.06)", every),
        (home / "requirements.lock", "", "torch==0", every),
    ):
        with edited(path, old, new):
            assert changed(before) == expected, new
        assert ids() == before


def declared(home: Path, loads: str) -> None:
    """Let the computation of the tiny study load something, of two adapters and a hub model that there are."""
    edit(home / OF_STUDY, "loads=[]", f"loads={loads}")
    (home / "data" / "artifacts.toml").write_text('[data]\ntexts = ["words", "data/a.txt"]\n')
    (home / "data" / "sources.toml").write_text(
        '[words]\nfile = "w"\nsha256 = "1"\n[others]\nfile = "o"\nsha256 = "2"\n'
    )
    (home / "data" / "a.txt").write_text("a")
    for name in ("movie-seed0", "movie-seed1", "section-seed0"):
        put(home / "data" / "checkpoints" / "text" / name / "adapter.safetensors", "weights")


MODEL = """lambda settings, run: [
    f"local:text/movie-seed{run['seed']}" if run["dataset"] == "movie" else "hf:somewhere"
]"""


def test_the_precision_that_auto_means_is_part_of_a_run_s_name(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {}
    for precision in ("bfloat16", "float32"):
        monkeypatch.setenv(machine.PRECISION, precision)
        assert settings_of("soft_metrics", "laptop")["dtype"] == precision
        named[precision] = {job.label: job.run_id for job in plan("laptop", "soft") if job.kind == "compute"}
    other = {name.split()[0] for name, run in named["float32"].items() if named["bfloat16"][name] != run}
    assert {"soft_metrics", "soft_variants", "soft_replayed"} <= other < {name.split()[0] for name in named["float32"]}


@pytest.mark.parametrize(
    ("vendor", "flags", "features", "precision"),
    [
        ("", "", "", "float32"),
        ("AuthenticAMD", "fpu sse avx512f", "", "float32"),
        ("AuthenticAMD", "fpu avx512_bf16", "", "bfloat16"),
        ("GenuineIntel", "fpu avx512_bf16", "", "float32"),  # at half the pace of float32, where AMX is hidden
        ("GenuineIntel", "fpu avx512_bf16 amx_bf16", "", "bfloat16"),
        ("", "", "fp asimd bf16", "bfloat16"),
    ],
)
def test_auto_is_bfloat16_where_the_processor_multiplies_faster_in_it(
    vendor: str, flags: str, features: str, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(machine.PRECISION, raising=False)
    told = {"vendor_id": vendor, "flags": flags, "Features": features}
    monkeypatch.setattr(machine, "_of_processor", told.get)
    assert machine.precision() == precision


def test_a_gpu_that_only_emulates_bfloat16_trains_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine.PRECISION, "float32")
    for multiplies, precision in ((True, "bfloat16"), (False, "float32")):
        answer = lambda *, including_emulation, its=multiplies: including_emulation or its  # noqa: E731
        monkeypatch.setattr("torch.cuda.is_bf16_supported", answer)
        assert (precision_on("cuda"), precision_on("cpu")) == (precision, "float32")


def test_a_checkpoint_counts_for_the_runs_that_load_it(home: Path) -> None:
    declared(home, MODEL)
    before = ids("laptop")
    adapters = home / "data" / "checkpoints" / "text"
    (adapters / "section-seed0" / "adapter.safetensors").write_bytes(b"others")
    assert not changed(before, "laptop")
    (adapters / "movie-seed1" / "adapter.safetensors").write_bytes(b"others")
    assert changed(before, "laptop") == {"count movie 1", "report"}


def test_a_source_counts_by_its_own_digests(home: Path) -> None:
    declared(home, "['texts']")
    listed, file = home / "data" / "sources.toml", home / "data" / "a.txt"
    before, every = ids(), set(ids())
    for path, old, new, expected in (
        (listed, '"2"', '"3"', set()),
        (listed, '"1"', '"3"', every),
        (file, "a", "b", every),
    ):
        with edited(path, old, new):
            assert changed(before) == expected
    file.unlink()
    with pytest.raises(DataError, match=r"data/a\.txt is not there, but results depend on it"):
        plan("smoke")
    file.write_text("b")
    listed.write_text('[words]\nkind = "manual"\nfile = "w"\n')  # without digests: by what lies there
    before = ids()
    put(home / "data" / "raw" / "words" / "w")
    assert changed(before) == every


def optional(home: Path, datasets: str, data: str, sources: str) -> Path:
    """The tiny study with these data sets, of which some may be here; its `study.py`."""
    declared(home, "lambda settings, run: [run['dataset']]")
    path = home / OF_STUDY
    edit(path, 'datasets=["movie", "bbc"]', f"datasets={datasets}")
    path.write_text(f"from faithbook.artifacts import on_this_machine, whole_or_few\n{path.read_text()}")
    (home / "data" / "artifacts.toml").write_text(data)
    with (home / "data" / "sources.toml").open("a") as stream:
        stream.write(sources)
    return path


def test_data_sets_that_are_on_this_machine_go_before_the_others(home: Path) -> None:
    data = (
        '[data]\nmovie = ["words"]\nbbc = ["words"]\nown = ["mine"]\ntheirs = ["others"]\n'
        '[fallback]\ntheirs = ["half", "rest"]\n'
    )
    sources = '[mine]\nkind = "manual"\n[half]\nfile = "h"\nsha256 = "3"\n[rest]\nfiles = {"r" = "4", "s" = "5"}\n'
    found = 'on_this_machine(["own", "theirs"], lambda dataset: ["local:text/own-seed0"] * (dataset == "own"))'
    path = optional(home, f'{found} + ["movie", "bbc"]', data, sources)
    raw, before = home / "data" / "raw", ids()

    def datasets() -> list[str]:
        return list(settings_of("count", "smoke")["datasets"])

    assert datasets() == ["movie", "bbc"]
    for file, expected in (
        ("half/h", ["movie", "bbc"]),
        ("rest/r", ["movie", "bbc"]),  # one of two files
        ("rest/s", ["theirs", "movie", "bbc"]),
    ):
        put(raw / file)
        assert datasets() == expected
    assert changed(before) == {"count theirs 0", "report"}
    put(raw / "mine" / "any.gz")  # of what people bring any file counts
    assert datasets() == ["theirs", "movie", "bbc"]  # not without its model
    (home / "data" / "checkpoints" / "text" / "own-seed0").mkdir()
    assert datasets() == ["own", "theirs", "movie", "bbc"]
    edit(path, '["own", "theirs"]', '["own", "thiers"]')
    with pytest.raises(UnknownNameError, match="did you mean 'theirs'"):
        studies()


def test_a_few_inputs_of_a_set_are_read_only_where_the_whole_is_not(home: Path) -> None:
    data = '[data]\nmovie = ["words"]\nbbc = ["rare"]\nbbc-few = ["words"]\n'
    datasets = 'whole_or_few(["movie", "bbc-few"], on_this_machine(["bbc"]))'
    optional(home, datasets, data, '[rare]\nfile = "h"\nsha256 = "3"\n')
    assert settings_of("count", "smoke")["datasets"] == ["movie", "bbc-few"]
    put(home / "data" / "raw" / "rare" / "h")
    assert settings_of("count", "smoke")["datasets"] == ["bbc", "movie"]


def test_data_that_somebody_may_bring_need_not_be_there(home: Path) -> None:
    optional(home, 'on_this_machine(["own"])', '[data]\nown = ["mine"]\n', '[mine]\nkind = "manual"\n')
    assert [job.label for job in plan("smoke")] == ["report"]
    put(home / "data" / "raw" / "mine" / "any.gz")
    assert [job.label for job in plan("smoke")] == ["count own 0", "report"]


def test_a_grid_may_list_values_for_each_data_set_with_how_many_inputs_each_has(home: Path) -> None:
    before, path, old = ids(), home / OF_STUDY, "seeds=[0], inputs=3"
    with edited(path, old, 'seeds=by("dataset", movie=[0, 1], bbc=[0]), inputs=3'):
        assert changed(before) == {"count movie 1", "report"}
    with (
        edited(path, old, 'seeds=by("dataset", movie=[0, 1], bbc=[]), inputs=3'),
        pytest.raises(InputError, match="non-empty list, or one for each value of a parameter before it"),
    ):
        studies()
    of_seeds = 'seeds=by("dataset", movie=[0, 1], bbc=[0]), inputs=by("seed", {0: 5, 1: 2})'
    edit(path, old, of_seeds)
    before = ids()
    assert set(before) == {"count movie 0", "count movie 1", "count bbc 0", "report"}
    with edited(path, "{0: 5, 1: 2}", "{0: 5, 1: 3}"):  # another number touches no other run
        assert changed(before) == {"count movie 1", "report"}
    with edited(path, "{0: 5, 1: 2}", "{0: 5}"), pytest.raises(InputError, match="inputs: unknown seed 1"):
        ids()
    edit(path, "bbc=[0])", "section=[0])")
    with pytest.raises(InputError, match="seeds: unknown dataset 'bbc'"):
        ids()


@pytest.mark.parametrize(
    ("loads", "error", "message"),
    [
        ("['local:text/movie-seed7']", DataError, r"count loads local:text/movie-seed7: there is no folder "),
        ("lambda settings, run: [settings['model']]", UnknownNameError, "unknown setting 'model'"),
        (
            "['text']",
            UnknownNameError,
            "count loads text: unknown data set, encoder, gold alignment or model 'text'",
        ),
        ("['hf:data/checkpoints/paper/x']", DataError, "count loads hf:data/checkpoints/paper/x: there is no folder"),
    ],
)
def test_what_is_not_there_is_named(home: Path, loads: str, error: type[Exception], message: str) -> None:
    declared(home, loads)
    with pytest.raises(error, match=message):
        plan("smoke")


def test_the_encoder_of_an_adapter_counts(home: Path) -> None:
    declared(home, "['local:text/movie-seed0']")
    card = home / "data" / "checkpoints" / "text" / "movie-seed0" / "card.json"
    card.write_text('{"encoder": "texts"}')
    assert list(plan("smoke")[0].loads) == ["local:text/movie-seed0", "words", "data/a.txt"]


def test_each_job_of_a_plan_is_made_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = _Planner._make

    def counted(planner: _Planner, source: Path, given: Mapping[str, Any]) -> Job:
        made.append(source.stem)
        return make(planner, source, given)

    monkeypatch.setattr(_Planner, "_make", counted)
    assert len(plan("laptop")) == len(made) == 5
    monkeypatch.setenv("FAITHLIB_HOME", str(REPOSITORY))
    made.clear()
    assert len(plan("laptop")) == len(made) > 50


# --- what a report may open -------------------------------------------------------------------------------------------


def test_a_report_depends_on_committed_tables_and_on_the_references_values_of_what_it_reads(home: Path) -> None:
    of_count, of_other = (f"reference/full/units/{name}/movie-units.parquet" for name in ("count", "other"))
    for name in ("published/numbers.csv", "materials.csv", of_count, "reference/full/table.csv", of_other):
        before = ids()
        put(home / "data" / name)
        assert changed(before) == (
            {"report"} if name in ("published/numbers.csv", "materials.csv", of_count) else set()
        )


# --- code ------------------------------------------------------------------------------------------------------------


def package(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A faithlib of these modules takes the place of ours."""
    for name, text in files.items():
        put(folder / "faithlib" / f"{name}.py", text)
    monkeypatch.setattr(digests, "_PACKAGES", folder)


def test_code_digest_follows_imports_and_ignores_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"__init__": "", "masks": "from faithlib.ties import rank\n", "ties": "rank = 1\n", "figures": "x = 1\n"}
    package(tmp_path, files, monkeypatch)
    code = "from faithlib.masks import top\n"
    before = Library().code(code)
    assert before.modules == {"faithlib.masks", "faithlib.ties"}
    put(tmp_path / "faithlib" / "figures.py", "x = 2\n")
    ties = put(tmp_path / "faithlib" / "ties.py", '"""What."""\n# why\nrank  =  1\n')
    assert Library().code(code) == before
    ties.write_text("rank = 2\n")
    assert Library().code(code).digest != before.digest


@pytest.mark.parametrize(
    ("code", "reached"),
    [
        ("from faithlib.metrics import one", {"metrics.first"}),
        ("from faithlib.metrics import first", {"metrics.first"}),
        ("from faithlib.metrics.first import one", {"metrics.first"}),
        ("from faithlib.metrics import lazy", {"metrics.second", "base"}),
        ("from faithlib.metrics import own", {"metrics", "metrics.first", "metrics.second", "base"}),
        ("from faithlib import metrics", {"metrics", "metrics.first", "metrics.second", "base"}),
        ("import faithlib.metrics as m", {"metrics", "metrics.first", "metrics.second", "base"}),
        ("def f():\n    from faithlib.metrics import one", {"metrics.first"}),
        ("from faithlib import evaluate", {"base"}),
        ("import numpy", set()),
    ],
)
def test_a_face_is_looked_through(
    code: str, reached: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    face = """
from typing import TYPE_CHECKING
from faithlib.metrics.first import one
if TYPE_CHECKING:
    from faithlib.metrics.second import two as lazy
own = 3
"""
    files = {
        "__init__": "from faithlib.base import evaluate",
        "base": "evaluate = 1",
        "metrics/__init__": face,
        "metrics/first": "one = 1",
        "metrics/second": "from faithlib.base import evaluate\ntwo = 2",
    }
    package(tmp_path, files, monkeypatch)
    assert Library().code(code).modules == {f"faithlib.{name}" for name in reached}


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_code_has_the_same_digest_in_every_python(version: str) -> None:
    """Of all our code, in whichever of the others is here."""
    there = [f"python{version}", *map(str, Path.home().glob(f".pyenv/versions/{version}*/bin/python"))]
    runs = [
        python
        for python in there
        if shutil.which(python) and not subprocess.call([python, "-c", ""], stderr=subprocess.DEVNULL)
    ]
    if not runs:
        pytest.skip(f"no Python {version} here")
    code = (
        "import json, pathlib, sys\nsys.path.insert(0, '.')\nfrom faithbook.engine import digests\n"
        "files = [path for name in ('faithlib', 'faithbook') for path in sorted(pathlib.Path(name).rglob('*.py'))]\n"
        "print(json.dumps([digests._read(path.read_text(encoding='utf-8')) for path in files]))"
    )
    mine, theirs = (
        subprocess.run([python, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        for python in (sys.executable, runs[0])
    )
    assert len(json.loads(mine)) > 150
    assert mine == theirs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = ['', 'a']", "x = ['a']"),
        ("x = f'{a}'", "x = f'{a!r}'"),
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("def f(a): b", "def f(*, a): b"),
        ("async def f(): a", "def f(): a"),
        ("x = a < b", "x = a <= b"),
    ],
)
def test_other_code_has_another_digest(one: str, other: str) -> None:
    assert digests._read(one)[0] != digests._read(other)[0]


# --- inside a notebook -----------------------------------------------------------------------------------------------


def test_run_by_hand_leaves_the_books_runs_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start_run("count", profile="smoke", dataset="movie", seed=0)
    run.save(pd.DataFrame({"value": [1.0]}), "counts")
    run.save(pd.DataFrame({"value": [1 / 3]}), "shown", format="csv")
    run.note(n=1)
    run.finish()
    assert "by-hand" in capsys.readouterr().out
    assert not any(job.done for job in plan("smoke"))
    assert load("counts", "smoke")["value"].tolist() == [1.0]
    assert load("shown", "smoke")["value"].tolist() == [0.333333]
    facts = load_manifests("smoke").iloc[0]
    assert (facts["dataset"], facts["n"], facts["device"]) == ("movie", 1, "cpu")
    assert facts["run_id"] == ids()["count movie 0"]


def test_slips_of_a_notebook_are_refused(home: Path) -> None:
    with pytest.raises(InputError, match=r"must be start_run\('count', dataset, profile, seed\)"):
        start_run("count", profile="smoke", dataset="movie")
    run = start_run("count", profile="smoke", dataset="movie", seed=0)
    for name in ("a/b.csv", "manifest.json", "notebook.ipynb"):
        with pytest.raises(InputError, match="plain file name"):
            run.path(name)
    run.path("figure.svg")
    with pytest.raises(DataError, match=r"figure.svg was announced"):
        run.finish()


def test_provenance_tells_how_to_run_the_page_again(home: Path) -> None:
    for job in plan("smoke")[:2]:
        finish(job, counts=pd.DataFrame({"value": [1]}))
    run = start_run("report", profile="smoke")
    run.save(pd.DataFrame({"value": [1]}), "table", format="csv")
    text = run.provenance(n=12, note="Substitute data.").data
    line = "jupytext --to ipynb -o - notebooks/report/report.py | papermill - report.ipynb -k python3 -p profile smoke"
    assert line in text
    assert "{download}`table.csv <report/table.csv>`" in text
    assert "2 computations" in text
    assert "Substitute data." in text


# --- reading results -------------------------------------------------------------------------------------------------


def test_load_reads_whole_runs_of_the_plan_only(home: Path) -> None:
    movie, bbc, _ = plan("smoke")
    finish(movie, counts=pd.DataFrame({"value": [1]}))
    half = bbc.folder.with_name(f".{bbc.folder.name}.abc.tmp")
    half.mkdir(parents=True)
    pd.DataFrame({"value": [2]}).to_parquet(half / "counts.parquet")
    frame = load("counts", "smoke")
    assert (frame["value"].tolist(), frame["run_id"].tolist()) == ([1], [movie.run_id])
    with pytest.raises(DataError, match=r"no whole run holds 'cuonts' .* they hold counts.* make book PROFILE=smoke"):
        load("cuonts", "smoke")


def test_load_by_hand_takes_the_newest_run_and_what_was_computed_before_a_page_s_table(home: Path) -> None:
    old, _, of_page = plan("smoke")
    finish(of_page, counts=pd.DataFrame({"value": [3]}))
    assert load("counts", "smoke")["value"].tolist() == [3]
    finish(old, counts=pd.DataFrame({"value": [1]}))
    assert load("counts", "smoke")["value"].tolist() == [1]
    edit(home / OF_STUDY, "inputs=3)", "inputs=4)")
    new = plan("smoke")[0]
    assert new.folder != old.folder
    assert load("counts", "smoke")["value"].tolist() == [1]  # better an older one than none, by hand
    finish(new, counts=pd.DataFrame({"value": [2]}))
    assert load("counts", "smoke")["value"].tolist() == [2]


# --- laying out the book ---------------------------------------------------------------------------------------------


def executed(job: Job, *cells: dict[str, Any]) -> None:
    """A whole run of a report with a table and these cells."""
    finish(job)
    written = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    put(job.folder / "notebook.ipynb", json.dumps(written))
    put(job.folder / "table.csv", "a\n1\n")


def test_book_of_another_profile_is_laid_out_beside_its_results(home: Path) -> None:
    jobs = plan("smoke")
    for job in jobs:
        executed(job)
    source = stage("smoke", jobs)
    assert source == home / "data" / "results" / "smoke" / "book"
    assert (source / "executed" / "report" / "table.csv").read_text() == "a\n1\n"
    assert (source / "executed" / "compute" / "count-movie_0.ipynb").is_file()
    assert (home / "data" / "results" / "smoke" / "tables" / "table.csv").is_file()
    assert not (home / "book" / "executed").exists()
    kept = (source / "executed" / "report.ipynb").stat().st_mtime_ns
    (source / "executed" / "gone.ipynb").write_text("{}")
    stage("smoke", jobs)
    assert not (source / "executed" / "gone.ipynb").exists()
    assert (source / "executed" / "report.ipynb").stat().st_mtime_ns == kept


def test_a_new_study_is_in_the_plan_and_the_contents_without_another_word(home: Path) -> None:
    """Its folder, its notebooks and its overview are enough."""
    header = '# %% tags=["parameters"]\nprofile = "laptop"\n'
    for place in ("compute/fresh_values", "report/fresh_tables", "report/fresh_more"):
        put(home / "notebooks" / f"{place}.py", header)
    put(
        home / "faithbook" / "studies" / "fresh" / "study.py",
        """
from faithbook.engine.study import Profile, Settings, Study

study = Study(
    "fresh",
    number=2,
    title="Study 2: a fresh one",
    overview="fresh/overview",
    papers={"new_2026": "New 2026"},
)


@study.compute()
def fresh_values(profile: Profile) -> Settings:
    return profile.layers(laptop=dict(inputs=5), smoke=dict(inputs=2))


study.report("fresh_tables", reads=["fresh_values"])
study.report("fresh_more", reads=["fresh_values"], contents="appendix")
""",
    )
    toc = home / "book" / "_toc.yml"
    toc.write_text("format: jb-book\nroot: intro\nparts:\n  # studies: here they stand\n")
    jobs = plan("smoke")
    assert [job.label for job in jobs] == [
        *("count movie 0", "count bbc 0", "fresh_values", "report", "fresh_tables", "fresh_more")
    ]
    assert {job.study for job in plan("smoke", "fresh")} == {"fresh"}
    for job in jobs:
        executed(job)
    listed = yaml.safe_load(contents(stage("smoke", jobs)))["parts"]
    assert [(part["caption"], [chapter["file"] for chapter in part["chapters"]]) for part in listed] == [
        ("Study 2: a fresh one", ["fresh/overview", "executed/fresh_tables"]),
        ("Study 2: appendix", ["executed/fresh_more"]),
    ]
    assert published.papers() == {"new_2026": "New 2026"}
    everything = [notebook.name for notebook in notebooks()]
    shutil.copytree(REPOSITORY / "faithbook" / "studies" / "book", home / "faithbook" / "studies" / "book")
    for name, reads in (("scoreboard", {"fresh_tables", "fresh_more"}), ("this_build", {"fresh_values"})):
        assert set(reads_of(entry_of(name))) >= reads
    assert {*reads_of(entry_of("status"))} >= {*everything}


def test_a_page_without_numbers_is_not_published(home: Path) -> None:
    job = plan("smoke")[-1]
    executed(job)
    numberless = replace(job, upstream=())  # it reads `count`, which this profile does not run
    source = stage("smoke", [numberless])
    listed = (source / "_toc.yml").read_text()
    assert not (source / "executed" / "report.ipynb").exists()
    assert "file: executed/report" in listed and "executed/report" not in contents(source)
    put(home / "data" / "reference" / "full" / "units" / "count" / "units")  # but the full run did
    assert contents(stage("smoke", [numberless])) == listed
    shutil.rmtree(home / "data" / "reference")
    assert contents(stage("smoke", [job])) == listed


def test_a_section_has_one_bar_that_opens_code_and_bookkeeping_none(home: Path) -> None:
    job = plan("smoke")[-1]
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "x"}}
    cells: list[dict[str, Any]] = []
    sources = ("# A", "x = 1", "page.table()", "chart()", "more()", "Words.", "again()", "## B", "page.plot(\n1)", "y")
    for number, source in enumerate(sources):
        cell = {"id": f"c{number}", "metadata": {}, "source": source, "cell_type": "markdown"}
        if source[0] not in "#W":
            outputs = [] if source == "x = 1" else [shown]
            cell |= {"cell_type": "code", "execution_count": 1, "outputs": outputs}
        cells.append(cell)
    executed(job, *cells)
    made = json.loads(page_of(job))["cells"]
    tags = [cell["metadata"]["tags"] for cell in made if cell["cell_type"] == "code"]
    none, bar = ["remove-input"], ["hide-input"]
    assert tags == [["remove-cell"], none, bar, none, none, bar, none]


def test_numbers_that_a_page_shows_have_minus_signs_and_code_has_hyphens(home: Path) -> None:
    job = plan("smoke")[-1]
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": "-0.12 [-0.20, -0.04], `x = -1`"}}
    cell = {"id": "c", "metadata": {}, "source": "f(-1)", "cell_type": "code", "execution_count": 1}
    executed(job, cell | {"outputs": [shown]})
    (made,) = json.loads(page_of(job))["cells"]
    assert "".join(made["source"]) == "f(-1)"
    assert "".join(made["outputs"][0]["data"]["text/markdown"]) == "−0.12 [−0.20, −0.04], `x = -1`"


def test_a_run_depends_on_the_files_that_its_parameters_name(tmp_path, monkeypatch):
    texts = root() / "data" / "examples" / "texts.csv"
    named = _brought({"profile": "smoke", "data": "data/examples/texts.csv", "n": 3})
    assert named == [tree_digest(texts)]
    own = tmp_path / "own.csv"
    own.write_text("text\none\n")
    first = _brought({"data": str(own)})
    own.write_text("text\ntwo\n")
    assert _brought({"data": str(own)}) != first
    assert _brought({"model": "local:text/movie-seed0", "dataset": "movie", "n": 3}) == []
