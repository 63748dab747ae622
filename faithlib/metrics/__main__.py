"""`python -m faithlib.metrics`: collect what is said of each metric, where it is registered, in `_metric_names.py`; and
the table of metrics in the library's README.

It takes no options. To be run when a metric is added or what is said of it changes; a test fails where that was
forgotten.
"""

from dataclasses import fields
from pathlib import Path
from pprint import pformat

from faithlib import _metric_names
from faithlib.catalogue import Facts
from faithlib.metrics.registry import BUILT_IN

HEAD = '''"""The names of all metrics and what is said of them. Written by `python -m faithlib.metrics`: do not edit."""

# ruff: noqa: E501

from typing import Any, Literal

'''


README = Path(_metric_names.__file__).parent / "README.md"
KINDS = ("common", "language", "request")
BEGIN, END = "<!-- metrics: written by `python -m faithlib.metrics` -->", "<!-- end of metrics -->"


def records() -> list[dict[str, object]]:
    """What is said of every family: common ones, those of language models, those on request; in each kind the known
    ones in the order in which they stand, new ones below.

    >>> records()[0]["name"]
    'hard'
    """
    known = [str(record["name"]) for record in _metric_names.RECORDS]
    order = [name for name in known if name in BUILT_IN] + [name for name in BUILT_IN if name not in known]
    order.sort(key=lambda name: KINDS.index(BUILT_IN[name].kind))
    return [{field.name: getattr(BUILT_IN[name], field.name) for field in fields(Facts)} for name in order]


def readme_table() -> str:
    """The table of metrics in Markdown: what each says, its formula, which way is better, what it costs, whose it is.

    >>> readme_table().splitlines()[0]
    '| metric | what it says, and its formula | better | cost | source |'
    """
    lines = ["| metric | what it says, and its formula | better | cost | source |", "| --- | --- | --- | --- | --- |"]
    for record in records():
        family = BUILT_IN[str(record["name"])]
        for name, direction in family.directions.items():
            says = f"{family.meanings[name]}<br>`{family.formulas[name]}`"
            cells = (f"`{name}`", says, direction, family.cost, family.source)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """A README with the table of metrics between its two marks.

    >>> with_table(f"a\\n{BEGIN}\\nold\\n{END}\\nb").startswith("a\\n<!-- metrics")
    True
    """
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{readme_table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    found = records()
    names = [metric for record in found for metric in BUILT_IN[str(record["name"])].directions]
    text = f"{HEAD}MetricName = Literal[{', '.join(map(repr, names))}]\n\n"
    text += f"RECORDS: tuple[dict[str, Any], ...] = {pformat(tuple(found), width=118, sort_dicts=False)}\n"
    Path(_metric_names.__file__).write_text(text, encoding="utf-8")
    if README.is_file():  # in a clone
        README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{len(names)} metrics in {_metric_names.__file__}: format it with `ruff format`")
