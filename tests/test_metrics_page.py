"""The page *The metrics* says what every metric is good for, and its facts are those of the library."""

from __future__ import annotations

import re
from pathlib import Path

from faithlib.catalogue import DIRECTIONS, FAITHFULNESS
from faithlib.metrics.registry import BUILT_IN

PAGE = (Path(__file__).resolve().parents[1] / "book" / "foundations" / "metrics.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.partition(":name: metrics-for-what")[2].partition(":::")[0].splitlines()
    if line.startswith("| ") and "`" in line
]
COSTS = {name: family.cost for family in BUILT_IN.values() for name in family.directions}


def test_every_name_in_the_table_is_a_metric_and_costs_what_the_library_says() -> None:
    # Every common metric that asks the model has a row, a new one too.
    assert {name for row in ROWS for name in re.findall(r"`(\w+)`", row[-1])} >= set(FAITHFULNESS)
    assert len(ROWS) >= 17
    for row in ROWS:
        if "{py:func}" in row[-1]:  # of two explanations: no metric of `evaluate`
            continue
        names = re.findall(r"`(\w+)`", row[-1])
        assert names and set(names) <= set(DIRECTIONS), row
        for name in names:
            passes = "K" if name == "saco_mean" else row[3]  # of the two, the cell of passes is about `saco`
            assert COSTS[name].startswith(passes), (name, COSTS[name])


def test_what_evaluate_measures_by_default_is_in_the_table() -> None:
    named = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[-1])}
    assert set(FAITHFULNESS) <= named | {"complexity", "sparseness"}
