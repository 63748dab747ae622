"""What an installation brings is what the code imports, and no module needs more than its part of the library says."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions, packages_distributions
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
LOCK = (ROOT / "requirements.lock").read_text()
EXTRAS = PROJECT["optional-dependencies"]
CORE = ("torch", "numpy", "pandas", "scipy", "scikit-learn", "tqdm", "psutil")
OPTIONAL = ("transformers", "captum", "timm", "torchvision", "PIL")

# Declared and never imported by name: commands, plugins, what _config.yml and faithbook.engine.publish name, and what
# other packages import (timm torchvision, transformers gguf, mypy the stubs).
TOOLS = {
    *"torchvision pip ipykernel snakemake snakemake-executor-plugin-slurm jupyter-book".split(),
    *"sphinx sphinx-mathjax-offline sphinx-sitemap sphinxext-opengraph".split(),
    *"gguf hatchling import-linter mypy pandas-stubs types-pyyaml".split(),
    *"pytest-timeout pytest-xdist ruff uv".split(),
}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(*extras: str) -> set[str]:
    """The requirements of the library with these extras."""
    return {name_of(line) for line in chain(PROJECT["dependencies"], *(EXTRAS[extra] for extra in extras))}


def grouped(*groups: str) -> set[str]:
    """The requirements of a clone with these groups, those of groups inside them included."""
    return declared() | {name_of(line) for group in groups for line in lines_of(group)}


def lines_of(group: str) -> list[str]:
    lines: list[str] = []
    for line in GROUPS[group]:
        lines += [line] if isinstance(line, str) else lines_of(line["include-group"])
    return lines


def name_of(line: str) -> str:
    return canonical(re.match(r"[\w.-]+", line)[0])


@functools.cache
def imported(*folders: str) -> dict[str, set[str]]:
    """The distributions that the modules below `folders` import, and where."""
    owners = packages_distributions()
    found: dict[str, set[str]] = {}
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        modules = set(re.findall(r"""\brequire\(\s*["']([\w.]+)""", text))
        for node in ast.walk(ast.parse(text)):
            modules |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            modules |= {node.module} if isinstance(node, ast.ImportFrom) and node.module else set()
        for module in {module.partition(".")[0] for module in modules} - {"faithlib", "faithbook"}:
            for name in owners.get(module, ()):
                found.setdefault(canonical(name), set()).add(str(path.relative_to(ROOT)))
    return found


# --- what is declared is what is imported ----------------------------------------------------------------------------


def test_the_library_alone_is_seven_packages() -> None:
    assert tuple(map(name_of, PROJECT["dependencies"])) == CORE
    of_extras = {extra: declared(extra) - set(CORE) for extra in EXTRAS}
    assert of_extras == {
        "text": {"transformers"}, "vision": {"timm", "torchvision", "pillow"}, "captum": {"captum"},
    }  # fmt: skip


def test_every_requirement_has_a_lower_bound_and_no_other() -> None:
    """Long tests install the library with these versions."""
    for line in chain(PROJECT["dependencies"], *EXTRAS.values()):
        assert re.fullmatch(r"[\w-]+>=[\d.]+", line), line


def test_the_metadata_names_nothing_of_the_book() -> None:
    book = grouped("dev", "course") - declared(*EXTRAS)
    assert not book & declared(*EXTRAS) and {"jupyter-book", "snakemake", "papermill"} <= book
    readme = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    assert "faithbook" not in readme and "make " not in readme


def test_what_is_declared_is_what_is_imported() -> None:
    folders = ("faithlib", "faithbook", "notebooks", "tests")
    for number, allowed in ((1, declared(*EXTRAS)), (3, grouped("book")), (4, grouped("dev"))):
        found = imported(*folders[:number])
        assert not {name: found[name] for name in found.keys() - allowed}
    assert grouped("dev") - set(imported(*folders)) == TOOLS


def pins() -> dict[str, str]:
    """Package and version of every line of the lock."""
    return {canonical(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", LOCK, flags=re.MULTILINE)}


def test_every_requirement_is_pinned_with_digests() -> None:
    for requirement in [*PROJECT["dependencies"], *chain(*EXTRAS.values()), *lines_of("dev")]:
        version = requirement.partition(";")[0].partition("==")[2]  # a marker after ";" says where it is wanted
        assert pins().get(name_of(requirement)) in ({version} if version else {*pins().values()}), requirement
    blocks = re.split(r"\n(?=[\w.-]+==)", LOCK)[1:]
    assert len(blocks) == len(pins()) > 150 and "://" not in LOCK
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in blocks)


def test_the_tests_that_run_with_plain_instructions_are_there() -> None:
    """The second step of continuous integration names its files."""
    named = re.findall(r"tests/test_\{([\w,]+)\}\.py", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    names = [name for group in named for name in group.split(",")]
    assert len(names) >= 30
    assert [name for name in names if not (ROOT / "tests" / f"test_{name}.py").is_file()] == []


def test_the_running_environment_is_the_locked_one() -> None:
    installed = {canonical(found.metadata["Name"]): found.version for found in distributions()}
    both = pins().keys() & installed.keys()
    assert {name: pins()[name] for name in both} == {name: installed[name] for name in both}


# --- the library with little beside it -------------------------------------------------------------------------------

# Nothing finds these packages, as where they are not installed.
FORBID = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in FORBIDDEN else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Without, sys.meta_path)
"""


def without(names: tuple[str, ...], code: str) -> subprocess.CompletedProcess[str]:
    """`code` run by a Python in which the packages `names` cannot be imported."""
    line = [sys.executable, "-c", f"FORBIDDEN = {set(names)!r}\n{FORBID}{code}"]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_module_of_the_library_imports_with_its_seven_packages() -> None:
    modules = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "faithlib").rglob("*.py")
        if path.name != "_prefix.py"  # is part of transformers' cache, and imported where a decoder has come with it
    )
    book = tuple(sorted({"faithbook", "yaml", "matplotlib", "IPython", "papermill", "snakemake", "pydantic", "rich"}))
    code = "import importlib\n" + "".join(f"importlib.import_module({name!r})\n" for name in modules)
    done = without((*OPTIONAL, *book), code)
    assert done.returncode == 0, done.stderr


TEXTS = """
import torch, transformers
from faithlib.attribution import attribute, methods
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

size = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, vocab_size=30)
model = transformers.BertForSequenceClassification(transformers.BertConfig(**size)).eval()
ids = torch.arange(2, 8)[None]
inputs = TextInputs(
    input_ids=ids, attention_mask=torch.ones_like(ids, dtype=torch.bool), feature_of=torch.arange(6)[None],
    n_features=torch.tensor([6]), truncated=torch.tensor([False]), pad_id=0, mask_id=1,
)
assert len(Perturber(model, inputs).full) == 1
names, shape = methods("text"), (1, 6)
"""

PICTURES = """
import timm, torch
from faithlib.attribution import attribute, methods
from faithlib.inputs import ImageInputs
from faithlib.perturb import Perturber

size = dict(img_size=8, patch_size=4, embed_dim=16, depth=1, num_heads=2, num_classes=3)
model = timm.models.VisionTransformer(**size).eval()
inputs = ImageInputs.from_pixels(torch.randn(1, 3, 8, 8), patch=4)
assert len(Perturber(model, inputs, erase="mean").full) == 1
names, shape = methods("image"), (1, 4)
"""

EVERY_METHOD = """
for name in names:
    assert attribute(name, model, inputs).shape == shape, name
"""


@pytest.mark.slow
@pytest.mark.parametrize(("code", "names"), [(TEXTS, ("timm", "torchvision")), (PICTURES, ("transformers",))])
def test_texts_and_images_need_nothing_of_each_other(code: str, names: tuple[str, ...]) -> None:
    """And captum is for options alone that ask for its own rules."""
    done = without((*names, "captum"), code + EVERY_METHOD)
    assert done.returncode == 0, done.stderr
