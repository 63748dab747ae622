"""A module path of version 0.1.0 still imports, or says where its content has gone."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from faithlib import _moved

ROOT = Path(__file__).resolve().parents[1]
# git ls-tree -r --name-only 7374a1d faithlib
OLD = """
adversary align attribution attribution.attention attribution.costs attribution.deeplift attribution.explained
attribution.floors attribution.gradient attribution.perturbation attribution.registry attribution.relevance
attribution.rows attribution.texts attribution.thirteen attribution.vision attribution.vit backends bounds compare data
e5 encoders errors evaluation excerpts families figures inputs known lstm masks messages metrics metrics.complexity
metrics.crosslingual metrics.curves metrics.diagnosticity metrics.hard metrics.plausibility metrics.saco metrics.soft
models naopc_release noise own_estimate own_model own_report paper_nli paper_sets perturb pictures planted runner
scoring study
""".split()


def there(module: str) -> bool:
    path = ROOT.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


@pytest.mark.parametrize("name", OLD)
def test_an_old_path_imports_or_says_where_to_go(name: str) -> None:
    module = f"faithlib.{name}"
    if there(module):
        assert importlib.util.find_spec(module) is not None
        return
    package, _, last = module.rpartition(".")
    for line in (f"import {module}", f"from {module} import anything", f"from {package} import {last}"):
        with pytest.raises(
            ModuleNotFoundError, match=f"{re.escape(module)} has moved: .*{re.escape(_moved.MOVED[module])}"
        ):
            exec(line, {})


def test_every_new_place_is_there() -> None:
    for old, new in _moved.MOVED.items():
        assert old.removeprefix("faithlib.") in OLD
        places = [
            f"{package}.{part}"
            for package, parts in re.findall(r"([\w.]+) \(([\w, ]+)\)", new)
            for part in parts.split(", ")
        ]
        for place in places or new.split(", "):
            assert there(place), f"{old}: {place}"


def test_other_missing_modules_are_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'faithlib\.nowhere'"):
        importlib.import_module("faithlib.nowhere")
    with pytest.raises(ImportError, match="cannot import name 'nowhere'"):
        exec("from faithlib import nowhere", {})
