"""What happens to models and inputs of the kinds that public reports are about: works, is refused with a sentence, or
leaves something out with a note. The table stands on the page *Models that can be explained*."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from flat import evaluate
from supported import CASES

from faithlib.attribution import Row
from faithlib.errors import FaithlibError
from faithlib.inputs import ImageInputs

PAGE = Path(__file__).resolve().parents[1] / "book" / "foundations" / "models.md"
# By column: a method or a metric that stands for it, of texts and of images.
COLUMNS = {
    "erasing": ("occlusion", "occlusion"),
    "gradients": ("integrated_gradients", "integrated_gradients"),
    "attention": ("attention", "rollout"),
    "relevance": ("deeplift", "transformer_attribution"),
    "hard metrics": ("aopc_morf",) * 2,
    "soft metrics": ("soft_nc",) * 2,
    "classes": ("auc",) * 2,
}
METRICS = ["aopc_morf", "soft_nc", "auc"]
HEAD = f"| model or input | report | {' | '.join(COLUMNS)} | what is said |"


def outcome(name: str) -> str:
    """The row of a case: what happens in each column, and what is said about it."""
    model, inputs, options = CASES[name]()
    seen = isinstance(inputs, ImageInputs) or getattr(inputs, "ndim", 0) == 4
    seen = seen or (isinstance(inputs, list) and not isinstance(inputs[0], str))
    named = [both[seen] for both in list(COLUMNS.values())[:4]]
    words = not isinstance(model, torch.nn.Module) and not seen and not hasattr(model, "task")
    methods = {method: Row(method, options={"n_steps": 2} if method.startswith("int") else {}) for method in named}
    given = {"methods": {"occlusion": methods["occlusion"]} if words else methods, "metrics": METRICS, "draws": 1}
    try:
        with warnings.catch_warnings(action="ignore"):
            table = evaluate(model, inputs, **{**given, **options})
    except FaithlibError as error:
        return row(name, ["refused"] * len(COLUMNS), [str(error)])
    there, left = {*table.method, *table.metric}, table.attrs["left_out"]
    cells = ["works" if both[seen] in there else "left out" for both in COLUMNS.values()]
    if words or "methods" in options:
        cells[1:4] = ["-"] * 3
    assert np.isfinite(table[table.metric == "aopc_morf"].value).any()
    said = list(dict.fromkeys(left.values())) + [f"{about}: {note}" for about, note in table.attrs["notes"].items()]
    few = [note for note in table.attrs["undefined"] if "fewer features" in note["reason"]]
    said += [f"NaN in rows {note['rows']}: {note['reason']}" for note in few]
    said += [f"cut off: rows {table.attrs['truncated']}"] if table.attrs["truncated"] else []
    said += [f"skipped: row {note['row']}, {note['reason']}" for note in table.attrs["skipped"]]
    return row(name, cells, said)


def row(name: str, cells: list[str], said: list[str]) -> str:
    """With the report that the page names, or none."""
    report = written().get(name, " | -").split(" | ")[1]
    told = "; ".join(shortened(sentence) for sentence in said) or "-"
    return f"| {name} | {report} | {' | '.join(cells)} | {told} |"


def shortened(sentence: str) -> str:
    """On one line, without the numbers of a model: another processor rounds them differently."""
    sentence = re.sub(r"\[(?=[^]]*(\d\.\d|nan|inf))[-\w., ]*\]", "[...]", " ".join(sentence.split()))
    return sentence.replace("|", "/")


def written() -> dict[str, str]:
    """The rows of the page, by name."""
    found = re.search(r"<!-- supported -->\n(.*?)<!-- /supported -->", PAGE.read_text(), re.S)
    assert found is not None, f"no markers in {PAGE.name}"
    head, _, *rows = found.group(1).strip().splitlines()
    assert head == HEAD
    return {line.split(" | ")[0].removeprefix("| "): line for line in rows}


@pytest.mark.parametrize("name", CASES)
def test_what_the_page_says_is_what_happens(name: str) -> None:
    found = outcome(name)
    assert written().get(name) == found, f"put this between the markers of {PAGE.name}:\n{found}"


def test_the_page_has_no_other_rows() -> None:
    assert list(written()) == list(CASES)


def table() -> str:
    """All rows, for the page: python -c "import test_supported; print(test_supported.table())"."""
    line = f"| --- | --- | {' | '.join('---' for _ in COLUMNS)} | --- |"
    return "\n".join([HEAD, line, *map(outcome, CASES)])
