"""Quantities as rows of tables and in words."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from faithbook.show.numbers import ends_of, listed, row_of, spoken
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimates import Interval95

VALUES = pd.DataFrame({"id": [*"abcdefgh"] * 2, "method": ["m"] * 8 + ["o"] * 8, "value": [0.0, 0.25, 0.5, 1.0] * 4})


@pytest.fixture(scope="module")
def means() -> dict[tuple[str], Comparison]:
    cells = Conditions.of(VALUES, over=["method"], unit="id", n_resamples=199)
    return {(name,): Comparison(cells.mean(method=name), published=0.3) for name in ("m", "o")}


def test_a_quantity_and_its_ends_stand_under_the_names_asked_for(means: dict[tuple[str], Comparison]) -> None:
    pair = means["m",]
    interval = pair.ours.interval()
    numbers = (interval.estimate, interval.low, interval.high)
    assert ends_of(pair) == dict(zip(("estimate", "low", "high"), numbers, strict=True))
    assert tuple(ends_of(pair, "gap")) == ("gap", "gap low", "gap high")
    assert tuple(ends_of(pair.ours, "gap", "least", "most").items()) == tuple(
        zip(("gap", "least", "most"), numbers, strict=True)
    )
    assert row_of(pair, "gap") == ends_of(pair, "gap") | {"n": 8}
    with pytest.raises(ValueError, match="zip"):
        ends_of(pair, "gap", "least")


def test_quantities_are_listed_in_their_order_by_their_labels(means: dict[tuple[str], Comparison]) -> None:
    frame = listed(means, ["method"])
    assert list(frame.columns) == ["method", "estimate", "low", "high", "n"]
    assert frame.method.tolist() == ["m", "o"] and frame.estimate.tolist() == [0.4375, 0.4375]
    pd.testing.assert_frame_equal(frame, listed({key: pair.ours for key, pair in means.items()}, ["method"]))
    assert list(listed({}, ["method"]).columns) == list(frame.columns)


def test_numbers_are_spoken_of_quantities_intervals_and_rows(means: dict[tuple[str], Comparison]) -> None:
    pair = means["m",]
    interval = pair.ours.interval()
    assert spoken(pair) == spoken(pair.ours) == spoken(interval) == spoken(SimpleNamespace(**ends_of(pair)))
    assert spoken(pair, n=True) == f"{spoken(pair)} (n = 8)"
    assert spoken(Interval95(-0.5, -0.75, 0.25), "+.2f") == "-0.50 [-0.75, +0.25]"
