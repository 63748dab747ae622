"""`evaluate` with the fields of its settings as options of their own, as tests vary them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from faithlib import evaluation
from faithlib.evaluation import MetricSettings, RunSettings
from faithlib.evaluation.summary import Table


def evaluate(model: Any, inputs: Any, **options: Any) -> Table:
    """Options beside `settings` or `run` change a field of these."""
    arguments: dict[str, Any] = {}
    for name, group in (("settings", MetricSettings), ("run", RunSettings)):
        given = options.pop(name, group())
        changed = {field: options.pop(field) for field in given.__dataclass_fields__ if field in options}
        arguments[name] = replace(given, **changed)
    return evaluation.evaluate(model, inputs, **arguments, **options)
