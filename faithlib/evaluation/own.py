"""Metrics and methods of one's own that stand in a file: `mine.py`, or `mine.py:name` where it holds several."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TypeVar

from faithlib.attribution.own import InsideMethod
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.errors import DataError, InputError, unknown
from faithlib.metrics.registry import Family

__all__ = ["is_file", "method_in", "metric_in"]

_Own = TypeVar("_Own", Family, ErasingMethod | InsideMethod)
_Any = Family | ErasingMethod | InsideMethod


def is_file(name: str) -> bool:
    """Whether a name is that of a file, and not of a metric or method.

    >>> is_file("mine.py:lone_loss"), is_file("saco")
    (True, False)
    """
    return name.partition(":")[0].endswith(".py")


def metric_in(file: str) -> Family:
    """The metric in a file.

    Raises DataError for a file that is not there, UnknownNameError for a name that it does not have, InputError for a
    file without a metric, or with several of which none is named.

    >>> metric_in("nowhere.py")
    Traceback (most recent call last):
    faithlib.errors.DataError: ...nowhere.py is not there: expected a Python file
    """
    metrics = {name: own for name, own in _made_in(file).items() if isinstance(own, Family)}
    return _chosen(file, metrics, "metric", "@faithlib.metrics.metric")


def method_in(file: str) -> ErasingMethod | InsideMethod:
    """The method in a file; errors as `metric_in`.

    >>> method_in("nowhere.py")
    Traceback (most recent call last):
    faithlib.errors.DataError: ...nowhere.py is not there: expected a Python file
    """
    methods = {name: own for name, own in _made_in(file).items() if not isinstance(own, Family)}
    return _chosen(file, methods, "method", "@faithlib.attribution.method")


def _made_in(file: str) -> dict[str, _Any]:
    """The metrics and methods that a file makes, by name."""
    path = Path(file.partition(":")[0]).resolve()
    if not path.is_file():
        raise DataError(f"{path} is not there: expected a Python file")
    sys.path.insert(0, str(path.parent))  # what is in its folder can be imported, as by `python mine.py`
    try:
        module = runpy.run_path(str(path), run_name=path.stem)
    except Exception as error:
        raise InputError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    made = [value for value in module.values() if isinstance(value, Family | ErasingMethod | InsideMethod)]
    # What the file only imports, say a metric of this package to compare with, is not the file's own.
    return {metric.name: metric for metric in made if _home(metric) == path.stem}


def _home(own: _Any) -> str:
    """The module of the decorated function."""
    function = own.function if isinstance(own, InsideMethod) else own.value
    return function.__module__


def _chosen(file: str, made: dict[str, _Own], kind: str, decorator: str) -> _Own:
    place, _, name = file.partition(":")
    if not made:
        raise InputError(f"{place} holds no {kind}: expected a function under {decorator}(...)")
    if name and name not in made:
        raise unknown(f"{kind} of {place}", name, made)
    if not name and len(made) > 1:
        raise InputError(
            f"{place} holds {len(made)} {kind}s ({', '.join(made)}): name one, as in {place}:{next(iter(made))}"
        )
    return made[name or next(iter(made))]
