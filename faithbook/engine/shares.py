"""Which inputs a run has values of: those of a point of its notebook's grid, all of them or one share.

A computation may share the inputs of each point of its grid out among several runs, which have `part` and `parts` among
their parameters (`plan.share_of`). Values of shares lie one below the other wherever they are read. Which runs are of
the same inputs, and which takes the place of which, is said here, for runs by hand and for the committed values alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from faithbook.artifacts import FEW
from faithbook.engine.plan import changes_of, find_notebook, notebook_parameters, share_of
from faithbook.engine.studies import entry_of
from faithbook.engine.study import PART, PARTS
from faithlib.errors import DataError

Facts = Mapping[str, Any]
"""The manifest of a run."""


def added_to(notebook: str) -> dict[str, Any]:
    """The parameters that a notebook has got since values of it were committed, each with what runs before it did."""
    entry = entry_of(notebook)
    return dict(entry.added) if entry else {}


def point_of(source: Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a run that say what it is of: without choices and without its share of the inputs. A run from
    before the notebook had a parameter did what the study says of it (`Notebook.added`)."""
    known = {**added_to(source.stem), **parameters}
    choices = {name for name, default in notebook_parameters(source).items() if default is None}
    return {name: value for name, value in known.items() if name not in (*choices, PART, PARTS)}


def replaced_by(new: Facts, runs: Iterable[Facts], together: Collection[Facts], name: str) -> list[Facts]:
    """Those of the committed runs whose place a new one takes: with its parameters, of a few of its inputs, or of its
    inputs shared out among another number of runs.

    `together`: the runs that come in with it; `name`: what an error calls it. Raises DataError for a few inputs of a
    data set that is there with more, and for a share of inputs that are there whole or shared out among another number
    of runs, unless all shares come in at once.
    """
    of_notebook = [run for run in runs if run["notebook"] == new["notebook"]]
    shares = _number_of_shares(new)
    other_shares = [
        run for run in of_notebook if _has_same_inputs(run, new) and shares not in (1, _number_of_shares(run))
    ]
    siblings = [run for run in together if _has_same_inputs(run, new) and _number_of_shares(run) == shares]
    if any(_is_few_of(new, run) for run in of_notebook):
        raise DataError(f"{name} is of a few inputs of a data set of which the reference has more: leave it out")
    if other_shares and len(siblings) < shares:
        number = _number_of_shares(other_shares[0])
        known = "whole" if number == 1 else f"in {number} parts"
        fault = f"{name} is one of {shares} parts, but the reference has these inputs {known}"
        raise DataError(f"{fault}: add all parts at once")
    return [run for run in of_notebook if run in other_shares or _is_few_of(run, new) or _has_its_parameters(run, new)]


def _number_of_shares(run: Facts) -> int:
    """The number of runs among which the inputs of this one are shared out."""
    return share_of(run["parameters"])[1]


def _has_same_inputs(run: Facts, other: Facts) -> bool:
    """Whether two runs are of the same point with the same choices, whichever share of its inputs each has."""
    return run["notebook"] == other["notebook"] and _inputs_of(run) == _inputs_of(other)


def _inputs_of(run: Facts) -> tuple[dict[str, Any], dict[str, Any]]:
    source = find_notebook(run["notebook"])
    return point_of(source, run["parameters"]), changes_of(source, run["parameters"])


def _has_its_parameters(old: Facts, new: Facts) -> bool:
    """Whether a run has the parameters of a later one of its notebook, as far as the notebook still has them."""
    choices = [changes_of(find_notebook(run["notebook"]), run["parameters"]) for run in (old, new)]
    if choices[0] != choices[1]:
        return False
    before = {**added_to(old["notebook"]), PART: 1, PARTS: 1, **old["parameters"]}
    return all(new["parameters"].get(name, value) == value for name, value in before.items())


def _is_few_of(few: Facts, whole: Facts) -> bool:
    """Whether a run is of a few inputs of the data set of another of its notebook."""
    return few["parameters"].get("dataset") == f"{whole['parameters'].get('dataset')}{FEW}"
