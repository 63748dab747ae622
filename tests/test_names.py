"""Public names: all of them can be imported, the types list what the registries hold, a misspelt name is refused."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from refusals import refused

import faithlib
from faithlib import names
from faithlib.attribution import methods
from faithlib.attribution.__main__ import registered, with_names
from faithlib.attribution._texts import AGGREGATIONS, POOLS
from faithlib.catalogue import DIRECTIONS, LANGUAGE, list_metrics
from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation import MetricSettings, RunSettings, evaluate
from faithlib.names import Aggregation, FollowedOutput, MetricName, Output, Pool, Unit
from faithlib.outputs import FOLLOWED, OUTPUTS
from faithlib.perturb import ERASURES
from faithlib.segmentation import UNITS

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(found.name for found in pkgutil.walk_packages(faithlib.__path__, "faithlib."))


def test_types_list_what_the_registries_hold() -> None:
    assert get_args(MetricName) == list_metrics() and set(list_metrics()) == set(DIRECTIONS)
    assert set(list_metrics("language")) == {name for facts in LANGUAGE.values() for name in facts.directions}
    assert registered()["MethodName"] == tuple(dict.fromkeys(methods("text") + methods("image") + methods("words")))
    assert set(registered()["Erasure"]) == {name for names in ERASURES.values() for name in names}
    hand_over = "run `python -m faithlib.attribution`, then `ruff format`"
    assert {kind: get_args(getattr(names, kind)) for kind in registered()} == registered(), hand_over
    source = Path(names.__file__).read_text(encoding="utf-8")
    for changed in (source, source.replace('"lime"', '"lemon"'), source.replace('"blur"', '"fog"')):
        assert ast.dump(ast.parse(with_names(changed))) == ast.dump(ast.parse(source)), hand_over
    assert get_args(Aggregation) == tuple(AGGREGATIONS) and get_args(Pool) == POOLS
    assert get_args(Output) == OUTPUTS and get_args(FollowedOutput) == FOLLOWED
    assert set(get_args(Unit)) == set(UNITS)
    refused(UnknownNameError, "kind of metrics", list_metrics, "langage")


def test_every_public_name_can_be_imported() -> None:
    assert set(dir(faithlib)) == set(faithlib.__all__)
    for name in faithlib.__all__:
        assert getattr(faithlib, name) is not None
    page = (ROOT / "book" / "api" / "index.md").read_text(encoding="utf-8")
    at_the_top = page.partition("## All public names")[0]
    rows = re.findall(r"^\| (`.*?) \|", at_the_top, flags=re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == {*faithlib.__all__} - {"__version__"}
    for module in MODULES:
        loaded = importlib.import_module(module)
        for name in getattr(loaded, "__all__", ()):
            assert hasattr(loaded, name), f"{module}.{name}"


def test_a_module_is_there_without_an_import_of_its_own() -> None:
    """In a process of its own, in which nothing of the library has been imported."""
    lines = (
        "import faithlib",
        "print(faithlib.bench.__name__, faithlib.naopc.__name__, hasattr(faithlib, '_scheduler'))",
        "faithlib.evalute",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["faithlib.bench", "naopc", "True"]
    assert done.stderr.endswith("has no attribute 'evalute'. Did you mean: 'evaluate'?\n")


def test_other_things_in_place_of_settings_are_refused() -> None:
    def film(texts: list[str]) -> list[list[float]]:
        return [[0.5, 0.5] for _ in texts]

    refused(InputError, "expected MetricSettings", evaluate, film, ["good film"], settings={"draws": 2})
    refused(InputError, "expected MetricSettings", evaluate, film, ["good film"], run=MetricSettings())
    refused(InputError, "'ignore'", evaluate, film, ["good film"], run=RunSettings(on_error="ignore"))


# What a user may write, and what a type checker says of it.
LINES = {
    'evaluate(film, ["good"], metrics=["sako"])': "List item 0 has incompatible type",
    'evaluate(film, ["good"], methods=["salience"])': "List item 0 has incompatible type",
    'evaluate(film, ["good"], settings=MetricSettings(erase="msk"))': 'Argument "erase" to "MetricSettings"',
    'evaluate(film, ["good"], run=RunSettings(on_error="ignore"))': 'Argument "on_error" to "RunSettings"',
    'texts(film, ["good"], unit="wrd")': 'Argument "unit" to "texts" has incompatible type',
    'evaluate(film, texts(film, ["good"], unit="sentence"), metrics=["saco"])': "",
    'evaluate(3, ["good"])': 'Argument 1 to "evaluate" has incompatible type "int"',
    'evaluate(film, ["good"], metrics=["saco"], methods=["lime"], settings=MetricSettings(erase="mask"))': "",
    'explain(film, ["good"], ["salience"])': "List item 0 has incompatible type",
    'explain(film, ["good"], ["lime"], erase="mask")': 'Unexpected keyword argument "erase" for "explain"',
    'explain(film, ["good"], ["lime"], settings=MetricSettings(erase="mask"), run=RunSettings(block=8))': "",
    'count_rows(film, WordInputs.from_texts(["good"]), methods={}, metrics=["sako"])': "List item 0 has incompatible",
    'count_rows(film, WordInputs.from_texts(["good"]), methods={}, settings=MetricSettings(draws=2))': "",
    'attribute("salience", film, ["good"])': 'Argument 1 to "attribute" has incompatible type',
    'attribute("lime", film, ["good"], output="logits")': 'Argument "output" to "attribute" has incompatible type',
    'attribute("saliency", film, ["good"], aggregation="l1")': 'Argument "aggregation" to "attribute" has incompatible',
    'attribute("lime", film, ["good"], output="loss", pool="mean")': "",
    'Row("salience")': 'Argument 1 to "Row" has incompatible type',
    'Row("lime", output="logits")': 'Argument "output" to "Row" has incompatible type',
    'Row("saliency", aggregation="l2", output="logit")': "",
    'RunSettings(dtype="float16")': 'Argument "dtype" to "RunSettings" has incompatible type',
    'RunSettings(dtype="auto")': "",
    'evaluate(film, ["good"], metrics=list_metrics(), methods=list_methods("words"))': "",
    'evaluate(film, ["good"], methods={name: Row(name) for name in list_methods("words")})': "",
    'attribute(list_methods("words")[0], film, ["good"])': "",
    'list_methods("texts")': 'Argument 1 to "methods" has incompatible type',
    'Perturber(3, WordInputs.from_texts(["good"]))': 'Argument 1 to "Perturber" has incompatible type "int"',
    'texts(3, ["good"])': 'Argument 1 to "texts" has incompatible type "int"',
    'attribute("lime", 3, ["good"])': 'Argument 2 to "attribute" has incompatible type "int"',
    'attribute("random", None, ["good"])': "",
    'Perturber(film, WordInputs.from_texts(["good"]), erase="msk")': 'Argument "erase" to "Perturber" has incompatible',
    'Perturber(film, WordInputs.from_texts(["good"]), output="loss")': 'Argument "output" to "Perturber" has incompat',
    'Perturber(film, WordInputs.from_texts(["good"]), erase="mask", output="probability")': "",
    'WordInputs.from_texts(["good"], unit="wrd")': 'Argument "unit" to "from_texts" of "WordInputs" has incompatible',
    'imported_scores([[0.1]], WordInputs.from_texts(["good"]), pool="max")': 'Argument "pool" to "imported_scores" has',
    'cut("Good. Bad.", "sentences")': 'Argument 2 to "cut" has incompatible type',
}


@pytest.mark.slow
def test_a_misspelt_name_is_a_type_error(tmp_path: Path) -> None:
    """As a type checker sees the installed library, every public name imported from where it is shown."""
    lists = {name: getattr(importlib.import_module(name), "__all__", ()) for name in ("faithlib", *MODULES)}
    public = [(module, name) for module, names in lists.items() for name in names]
    imports = "".join(f"from {module} import {name} as _{i}\n" for i, (module, name) in enumerate(public))
    head = (
        "from faithlib import MetricSettings, Perturber, RunSettings, WordInputs, attribute, evaluate, explain\n"
        "from faithlib import list_methods, list_metrics, texts\n"
        "from faithlib.attribution import Row\n"
        "from faithlib.attribution.imported import imported_scores\n"
        "from faithlib.segmentation import cut\n"
        f"from faithlib.evaluation import count_rows\n{imports}\n\n"
        "def film(texts: list[str]) -> list[list[float]]:\n    return [[0.5, 0.5] for _ in texts]\n\n\n"
    )
    (tmp_path / "mine.py").write_text(head + "\n".join(LINES) + "\n")
    options = [
        "--strict",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    settings = {**os.environ, "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", "mypy", *options, "mine.py"]
    checked = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    said = dict(re.findall(r"^mine\.py:(\d+): error: (.*)$", checked.stdout, flags=re.MULTILINE))
    first = head.count("\n") + 1
    assert [number for number in said if int(number) < first] == [], "public names are there, and have types"
    for number, (line, message) in enumerate(LINES.items(), start=first):
        assert message in said.get(str(number), "") and bool(message) == (str(number) in said), (line, checked.stdout)
