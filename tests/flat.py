"""`evaluate` and `count_rows` with the fields of their settings as options of their own, as tests vary them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from faithlib import evaluation
from faithlib.evaluation import MetricSettings, RunSettings
from faithlib.evaluation.measures import RowCount
from faithlib.evaluation.summary import Table

GROUPS = {"settings": MetricSettings, "run": RunSettings}


def evaluate(model: Any, inputs: Any, **options: Any) -> Table:
    """Options beside `settings` or `run` change a field of these."""
    arguments = {name: _taken(name, options) for name in GROUPS}
    return evaluation.evaluate(model, inputs, **arguments, **options)


def count_rows(model: Any, inputs: Any, **options: Any) -> RowCount:
    """Options beside `settings` change a field of it."""
    settings = _taken("settings", options)
    return evaluation.count_rows(model, inputs, settings=settings, **options)


def _taken(name: str, options: dict[str, Any]) -> Any:
    """The settings of this name out of the options, with the fields that are among these."""
    group = options.pop(name, GROUPS[name]())
    changed = {field: options.pop(field) for field in group.__dataclass_fields__ if field in options}
    return replace(group, **changed)
