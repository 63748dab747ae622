"""The files around the code agree with each other and with what the README promises."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import readme_models
import yaml

import faithlib
from faithbook.engine.profiles import table as profiles

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
README = (ROOT / "README.md").read_text()


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    """Package and version of every line of the lock."""
    return {canonical(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", LOCK, flags=re.MULTILINE)}


# --- environment -----------------------------------------------------------------------------------------------------


def test_every_requirement_is_pinned() -> None:
    listed = [
        *PROJECT["dependencies"],
        *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
    ]
    for requirement in (line for line in listed if not line.startswith("faithlib[")):
        name, _, version = requirement.partition(";")[0].partition("==")  # a marker after ";" says where it is wanted
        assert canonical(name) in pins(), requirement
        assert not version or pins()[canonical(name)] == version, requirement


def test_every_pin_has_digests_and_no_address() -> None:
    blocks = re.split(r"\n(?=[\w.-]+==)", LOCK)[1:]
    assert len(blocks) == len(pins()) > 150
    for block in blocks:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block[:60]
    assert "://" not in LOCK


def test_the_running_environment_is_the_locked_one() -> None:
    from importlib.metadata import distributions

    installed = {canonical(found.metadata["Name"]): found.version for found in distributions()}
    other = {
        name: (version, installed[name]) for name, version in pins().items() if installed.get(name, version) != version
    }
    assert not other


def test_conda_environment_leads_to_the_lock() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    plain = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    through_pip = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert plain == ["python=3.11", "pip"]
    assert through_pip == [["-r requirements.lock"]]
    assert PROJECT["requires-python"] == ">=3.11"


def test_a_container_for_development_is_what_the_readme_asks_for() -> None:
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    python = re.search(r"python:(\d+\.\d+)-", told["image"])
    assert python
    assert f"python={python[1]}" in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    commands = [told["onCreateCommand"], told["postCreateCommand"]]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {word for line in commands for word in re.findall(r"(?<=make )[a-z-]+(?=$| &&)", line)} <= targets
    assert {"chromium", "make"} <= set(commands[0].split())
    assert told["forwardPorts"] == [
        int(re.search(r"^PORT \?= (\d+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1])
    ]
    interpreter = told["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert interpreter.endswith("/.venv/bin/python")


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == faithlib.__version__ == citation["version"]
    assert f"## {faithlib.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_codemeta_says_what_the_other_files_say() -> None:
    told = json.loads((ROOT / "codemeta.json").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (told["name"], told["version"]) == (citation["title"], citation["version"])
    assert told["datePublished"] == str(citation["date-released"])
    assert told["keywords"] == citation["keywords"]
    assert [author["name"] for author in told["author"]] == [author["name"] for author in citation["authors"]]
    assert told["license"].rpartition("/")[2] == citation["license"] == PROJECT["license"]
    assert told["description"].startswith(PROJECT["description"])
    assert told["softwareRequirements"] == PROJECT["dependencies"]
    assert told["runtimePlatform"] == f"Python {PROJECT['requires-python']}"
    articles = [one["name"] for one in told["referencePublication"]]
    assert articles == [one["title"] for one in citation["references"]]


def test_what_zenodo_is_told_is_what_the_other_files_say() -> None:
    told, ours = json.loads((ROOT / ".zenodo.json").read_text()), yaml.safe_load((ROOT / "CITATION.cff").read_text())
    meta = json.loads((ROOT / "codemeta.json").read_text())
    assert (told["title"], told["version"], told["license"]) == (ours["title"], ours["version"], ours["license"])
    assert told["keywords"] == ours["keywords"] and told["description"] == meta["description"]
    assert [one["name"] for one in told["creators"]] == [one["name"] for one in ours["authors"]]
    assert told["upload_type"] == ours["type"] == "software"
    for reference, text in zip(ours["references"], told["references"], strict=True):
        assert reference["title"] in text and str(reference["year"]) in text
        assert all(f"{one['family-names']}, {one['given-names']}" in text for one in reference["authors"])


def free(licence: str) -> bool:
    """Whether a licence lets everybody show and hand on what is under it."""
    kept = re.search(r"research|non-commercial|\bNC\b|-NC\b|-ND\b|\(c\)|©|mixed", licence, re.IGNORECASE)
    known = re.search(r"\b(MIT|Apache-2\.0|BSD-[23]-Clause|CC0|CC BY(-SA)?|public domain)\b", licence)
    return bool(known) and not kept


def test_weights_trained_on_what_is_not_free_have_a_licence_of_their_own() -> None:
    """A row for every data set of a card, with the terms as data/sources.toml has them; no other rows."""
    text = (ROOT / "data" / "checkpoints" / "LICENSE.md").read_text()
    rows: dict[str, tuple[list[str], str, str]] = {}
    for line in re.findall(r"^\| (`.*) \|$", text, flags=re.MULTILINE):
        names, trained_on, of_sources, licence = line.split(" | ")
        kind = re.search(r"\((texts|pictures)\)", names)
        for name in re.findall(r"`([\w-]+)`", names):
            rows[f"{kind[1]}:{name}" if kind else name] = (re.findall(r"`([\w-]+)`", trained_on), of_sources, licence)
    of_cards = set()
    for card in (ROOT / "data" / "checkpoints").rglob("card.json"):
        told = json.loads(card.read_text())
        kind = "texts" if "encoder" in told else "pictures"
        name = told["dataset"]
        of_cards.add(f"{kind}:{name}" if name.startswith("planted") else name)
    assert set(rows) == of_cards
    listed = tomllib.loads((ROOT / "data" / "sources.toml").read_text())
    for name, (trained_on, of_sources, licence) in rows.items():
        assert "; ".join(listed[one]["licence"] for one in trained_on) == of_sources, name
        open_to_all = all(free(listed[one]["licence"]) for one in trained_on)
        bound = "GPL-2" if of_sources == "GPL-2" else "CC BY-NC 4.0"
        assert licence == ("MIT" if open_to_all else bound), name
        kind, _, data = name.rpartition(":")
        known = {"texts": "text:planted", "pictures": "vision:planted"}.get(kind, data)
        read = list(profiles().instead.get(known, profiles().data[known]))
        shipped = [one for one in read if "/" not in one]
        assert not shipped or shipped == trained_on, name


# --- README ----------------------------------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.long
@pytest.mark.slow
def test_the_lines_of_the_readme_run(tmp_path: Path) -> None:
    """In a folder that holds what they name, each for itself."""
    for block in blocks("python"):
        assert len([line for line in block.splitlines() if line and not line.startswith(("from ", "import "))]) <= 10
        assert "faithbook" not in block
    printed = readme_models.run(blocks("python"), tmp_path)
    wanted = (
        ("saco", "lime", "occlusion"),
        ("rollout", "grad_cam"),
        ("aopc_morf", "occlusion"),
        ("naopc_morf", "random"),
    )
    for table, names in zip(printed, wanted, strict=True):
        assert all(name in table for name in names)
        assert "higher is better" in table
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_commands_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"book", "test", "lint", "fetch", "train", "paper", "reference", "serve", "clean", "help"} <= targets
    assert set(re.findall(r"\bmake ([a-z]+)", README)) <= targets


def test_files_that_the_readme_names_exist() -> None:
    for name in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / name).exists(), name


# --- house rules -----------------------------------------------------------------------------------------------------


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_outputs_and_nothing_large_in_git() -> None:
    for path in tracked():
        assert path.suffix != ".ipynb", path
        assert path.stat().st_size < 4_000_000, path


def test_every_notebook_has_a_kernel_and_an_end() -> None:
    for path in sorted((ROOT / "notebooks").rglob("*.py")):
        text = path.read_text()
        assert "name: python3" in text.split("# ---", 2)[1], path
        if path.parent.name not in ("train", "course"):  # checkpoints and sheets are no results
            assert re.search(rf'start_(run|page)\(\s*"{path.stem}"', text), path
            assert re.match(r"(run|page)\.finish\(", ast.unparse(ast.parse(text).body[-1])), path


def test_library_does_not_import_notebooks_or_tests() -> None:
    for path in (ROOT / "faithlib").rglob("*.py"):
        assert not re.search(r"^(from|import) (notebooks|tests|tiny)\b", path.read_text(), flags=re.MULTILINE), path


def test_ci_calls_make_and_nothing_else_of_substance() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert script.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in script
    assert script.rstrip().endswith("make test\nexec make test-long")
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            if "uses" in job:  # another workflow of ours
                assert (ROOT / job["uses"]).is_file(), job
                continue
            for step in job["steps"]:
                if "uses" in step:
                    assert re.search(r"@[0-9a-f]{40}$", step["uses"].split(" #")[0]), step
            assert any(re.match(r"make |\.ci/run|python -m pytest ", step.get("run", "")) for step in job["steps"])


def test_the_book_is_published_from_main_and_tags_after_its_tests() -> None:
    told = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text())
    assert told[True]["push"] == {"branches": ["main"], "tags": ["v*"]}  # YAML 1.1 reads `on` as true
    assert "workflow_call" in yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())[True]
    job = told["jobs"]["book"]
    assert job["needs"] == "test" and told["jobs"]["test"]["uses"] == "./.github/workflows/test.yml"
    lines = [step.get("run", "") for step in job["steps"]]
    made, looked, put = (
        next(n for n, line in enumerate(lines) if words in line) for words in ("make book", "pytest", ".ci/publish")
    )
    assert made < looked < put
    script = (ROOT / ".ci" / "publish").read_text()
    assert "make publish SITE=" in script and "gh-pages" in script


def test_workflows_run_every_python_that_is_promised() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    assert jobs["library"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
