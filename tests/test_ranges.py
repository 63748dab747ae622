"""What is shown of a metric with a range is cut to it; differences, and what is tested, are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from faithbook.judge.scores import Material, Scores
from faithbook.show.ranges import RANGES
from faithbook.stats.conditions import Conditions
from faithlib.catalogue import DIRECTIONS

NEAR_ONE = [1.0] * 11 + [0.5]


def scores(values: dict[str, list[float]], *, prepared: float = 0.0) -> Scores:
    """Values of twelve texts by metric; `prepared`: what the page adds to them."""
    rows = [
        {"dataset": "texts", "id": f"{place:02}", "metric": metric, "value": value}
        for metric, many in values.items()
        for place, value in enumerate(many)
    ]
    units = pd.DataFrame(rows)
    frame = units.assign(value=units.value + prepared)
    cells = Conditions.of(frame, over=["metric"], unit="id", n_resamples=499)
    material = Material("this run", "laptop", units, ("texts",), ())
    return Scores("wu_2024", "own", frame, material, cells, pd.DataFrame({"value": pd.Series(dtype=float)}))


@pytest.mark.parametrize("metric", ["n_auc", "autpc", "iou_f1", "soft_ns", "ns", "lds"])
def test_no_interval_of_a_metric_ends_beyond_what_it_can_be(metric: str) -> None:
    mean = scores({metric: NEAR_ONE}).mean(metric=metric).ours
    assert mean.point + 2 * mean.standard_error > 1 == mean.interval().high


def test_what_is_tested_knows_no_range() -> None:
    both = scores({"n_auc": NEAR_ONE, "log_odds": NEAR_ONE})
    with_range, without = both.mean(metric="n_auc").ours, both.mean(metric="log_odds").ours
    assert without.interval().high > 1
    assert with_range.p_above(0.9) == without.p_above(0.9)
    assert np.array_equal(with_range.replicates, without.replicates)


def test_differences_under_a_metrics_name_are_not_cut() -> None:
    assert scores({"n_auc": NEAR_ONE}, prepared=-1.0).mean(metric="n_auc").ours.interval().low < 0
    lead = scores({"n_auc": NEAR_ONE, "autpc": [0.0, 1.0] * 6})
    ends = (lead.mean(metric="autpc") - lead.mean(metric="n_auc")).ours.interval()
    assert -1 <= ends.low < ends.high


def test_ranges_are_those_of_metrics_that_there_are() -> None:
    assert set(RANGES) - set(DIRECTIONS) == {"decides_first", "subject_first"}  # shares that pages of study 5 report
