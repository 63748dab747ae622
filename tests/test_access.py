"""A run opens what it declares and nothing else; what it declares is what its id is made of: on our own notebooks."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from tiny import OF_STUDY
from toy_models import text_model, tokenizer

from faithbook.access import declare, opened, require
from faithbook.artifacts import registry, resolve
from faithbook.engine import digests, inputs
from faithbook.engine.digests import Library, tree_digest
from faithbook.engine.plan import Job, plan
from faithbook.engine.run import load_units, start_run
from faithbook.judge import published
from faithbook.models.cards import cards
from faithbook.models.encoders import encoder_folder, load_encoder
from faithbook.models.load import load_model
from faithbook.models.vit_s14 import encoder_file
from faithbook.paths import root
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.sources.files import fetch, is_fetched
from faithbook.sources.images import load_pictures
from faithbook.studies.crosslingual.gold import load_gold
from faithbook.studies.naopc.edin_released import read_packed
from faithlib.errors import FaithlibError, InputError

PROFILES = ("smoke", "laptop", "full")
# Who computes SaCo, or something that a module of `faithlib` computes beside it.
REACH_SACO = set(
    "soft_variants play_answers naopc_released "
    "saco_metrics saco_nudged saco_imagenet saco_replayed together_matrix together_planted together_by_hand "
    "safe_planted safe_compared".split()
)


# --- what a run may open ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "name"),
    [
        (lambda: load_model("local:text/movie-seed0"), "local:text/movie-seed0"),
        (lambda: load_model("hf:somebody/something"), "hf:somebody/something"),
        (lambda: load_model("timm:vit_tiny_patch16_224?random"), "timm:vit_tiny_patch16_224?random"),
        (lambda: cards("vision"), "cards"),
        (lambda: encoder_folder("minilm"), "minilm"),
        (lambda: load_encoder("hf:somebody/something"), "hf:somebody/something"),
        (lambda: fetch("vader"), "vader"),
        (lambda: is_fetched("bbc"), "bbc"),
        (lambda: read_packed("texts"), "data/released/edin_2025"),
        (lambda: load_dataset("ag", "test"), "ag"),
        (lambda: load_parallel("xnli", ["en"], "test"), "xnli"),
        (lambda: load_pictures("fashion", "test", n=1), "data/pictures/fashion_mnist_test1000.npz"),
        (lambda: load_pictures("imagenet", "test"), "imagenet"),
        (lambda: load_pictures("cifar10", "test"), "cifar10-folder"),
        (lambda: load_pictures("cifar100-few", "test"), "cifar-few"),
        (lambda: encoder_file(), "vit-s14"),
        (lambda: load_gold("rwth"), "rwth"),
        (lambda: load_gold("xlwa"), "xlwa"),
        (lambda: published.table("saco_table1"), "data/published/saco_table1.csv"),
        (lambda: published.claims(), "data/claims.csv"),
        (lambda: load_units("saco_metrics", reference=True), "data/reference/full/units/saco_metrics"),
    ],
)
def test_what_a_run_did_not_declare_is_refused(what: object, name: str) -> None:
    declare(["words", "data/reference/full/units/soft_metrics"])
    with pytest.raises(InputError, match="which its notebook does not declare") as told:
        what()  # type: ignore[operator]
    assert f"opens {name!r}" in str(told.value)
    assert "declared: words" in str(told.value)
    assert opened() == []
    declare(None)
    require("anything")  # outside a run nothing is refused or noted
    assert opened() == []
    declare([name])
    with contextlib.suppress(FaithlibError):  # of another kind: nobody has all of these files here, or the network
        what()  # type: ignore[operator]
    assert name in opened()


def test_what_lies_in_a_declared_folder_may_be_opened_and_nothing_below_that() -> None:
    declare(["data", "data/published"])
    require("data/published/crosslingual_table12.csv", "data/materials.csv")
    for name in ("data/reference/full/units/saco_metrics", "data/released/edin_2025"):
        with pytest.raises(InputError, match="does not declare"):
            require(name)


def test_a_model_may_be_declared_by_its_folder_and_one_made_by_the_run_need_not(
    home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "data" / "own"
    text_model("bert").save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(home / "elsewhere"))  # the home itself lies among temporary files
    declare(["minilm"])
    with pytest.raises(InputError, match="does not declare"):
        load_model(f"hf:{folder}")
    for name in ("data/own", f"hf:{folder}", "hf:data/own"):
        declare([resolve(name).declared])
        assert load_model(f"hf:{folder}").label_names == load_model("hf:data/own").label_names
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    declare(["minilm"])
    load_model(f"hf:{folder}")


def test_a_run_begins_with_its_declaration_and_ends_it(home: Path) -> None:
    path = home / OF_STUDY
    path.write_text(path.read_text().replace("loads=[]", 'loads=["words"]'))
    (home / "data" / "artifacts.toml").write_text('[data]\nwords = ["words"]\n')
    (home / "data" / "sources.toml").write_text('[words]\nfile = "w"\nsha256 = "1"\n')
    run = start_run("count", profile="smoke", dataset="movie", seed=0)
    require("words")
    with pytest.raises(InputError, match="opens 'letters', which its notebook does not declare"):
        require("letters")
    run.finish()
    facts = json.loads((run.folder / "manifest.json").read_text())
    assert facts["declared"] == facts["opened"] == ["words"]
    require("letters")


# --- our notebooks ---------------------------------------------------------------------------------------------------


def test_every_name_of_a_data_set_leads_to_sources_that_are_listed() -> None:
    for files in registry().data.values():
        assert all(tree_digest(root() / file) if "/" in file else inputs.source_digest(file) for file in files)


def ids(profile: str) -> dict[str, str]:
    return {job.label: job.run_id for job in plan(profile)}


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of both packages that a test may edit, and whose code the ids are made of."""
    for name in ("faithlib", "faithbook"):
        shutil.copytree(Path(digests._PACKAGES) / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "_PACKAGES", tmp_path)
    return tmp_path


def changed_by(edited: Iterable[Path], profile: str = "laptop") -> list[Job]:
    """The jobs of a profile that have another id when these modules are edited."""
    before = ids(profile)
    for path in edited:
        path.write_text(path.read_text() + "\nedited = 1\n")
    return [job for job in plan(profile) if job.run_id != before[job.label]]


def test_an_edit_of_a_formula_changes_the_ids_of_the_jobs_that_reach_it(packages: Path) -> None:
    changed = changed_by([packages / "faithlib" / "metrics" / "saco.py"])
    computed = [job for job in changed if job.kind == "compute"]
    # Run only where their data, or the language model, is on this machine.
    brought = {"together_objects", "together_toolkit", "language_sentences"}
    assert {job.notebook for job in computed} - brought == REACH_SACO
    assert all("faithlib.metrics.saco" in Library().code(job.source.read_text()).modules for job in computed)


def test_an_edit_of_what_judges_changes_no_computation_and_one_of_the_engine_nothing(packages: Path) -> None:
    changed = changed_by(p for room in ("stats", "show", "judge") for p in (packages / "faithbook" / room).glob("*.py"))
    assert "compute" not in {job.kind for job in changed} and len(changed) > 20
    assert not changed_by((packages / "faithbook" / "engine").glob("*.py"), "smoke")


@pytest.mark.book
@pytest.mark.slow
def test_what_was_declared_was_opened(html: Path) -> None:
    """The executed runs tell: each opened all that it declares, so that nothing counts in vain; tables and the
    reference's values it names. A page whose computation this profile does not ask has nothing to open."""
    for job in plan("smoke"):
        facts = json.loads(job.manifest.read_text())
        opened, declared_ones = set(facts["opened"]), set(facts["declared"])
        # Unseen inputs' values are declared by the pages of their claims, and opened when all planned parts are there.
        folders = (inputs.UNITS_DIR, inputs.CONFIRMED_DIR)
        tables = {"data", "data/published", *(name for name in declared_ones if name.startswith(folders))}
        assert declared_ones - tables <= opened or (job.kind == "report" and not job.upstream), job.label
        in_folders = {name for name in opened if name.rpartition("/")[0] in tables}
        assert opened - declared_ones <= in_folders, job.label
