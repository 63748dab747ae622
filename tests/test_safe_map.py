"""The tables of the map of safe metrics, from invented means whose values are known."""

from __future__ import annotations

import numpy as np
import pytest
from test_safe import BOLD, CHEAP, PRICES, STEADY, invented

from faithbook.show.labels import label
from faithbook.studies.safe import choice, design, map_tables, show
from faithbook.studies.safe.choice import REPORT, Means

METRICS = {"steady": STEADY, "bold": BOLD, "cheap": CHEAP}
ERRORS = [kind for kind in design.kinds_of_error() if kind != design.NEVER]


@pytest.fixture(scope="module")
def rank() -> Means:
    return invented(METRICS)


def test_groups_are_means_of_their_errors(rank: Means) -> None:
    table = choice.by_kind(rank.half(REPORT), design.kinds_of_error())
    wide = show.map_rows(table, rank.metrics).loc[["bold", "steady"]]
    found = map_tables.by_group(wide, rank, {"a": ["light", "heavy"], "b": ["feature"]}).set_index("metric")
    assert list(found.index) == ["bold", "steady"]
    assert list(found.loc["bold", ["never errs", "a", "b"]]) == pytest.approx([0.95, 0.525, 0.95], abs=0.01)
    # The same means stand for shares of inputs here.
    assert list(found.loc["bold", ["untouched, a", "untouched, b"]]) == pytest.approx([0.525, 0.95], abs=0.01)
    assert found.loc["steady", "untouched, a"] == pytest.approx(0.7, abs=0.01)


def test_halves_have_the_best_of_the_choosing_seeds_first_and_say_where_a_metric_is_lowest(rank: Means) -> None:
    before, after = (
        choice.safety(rank.half(half), choice.ADVERSARIAL, choice.ANY, replicates=99)
        for half in (choice.CHOOSE, REPORT)
    )
    table = map_tables.by_half(before, after, PRICES)
    assert table["metric"].tolist() == ["steady", "cheap", "bold"]
    assert table["model calls"].tolist() == [39, 8, 12]
    assert table["reporting seeds"].tolist() == pytest.approx([0.7, 0.68, 0.1], abs=0.01)
    assert table["worst where it errs"].iloc[-1] == show.error_in_words("light")
    assert (table["low"] <= table["reporting seeds"] + 1e-9).all() and (table["low"] <= table["high"]).all()


def test_outcomes_are_means_over_the_kinds_of_error_with_their_intervals(rank: Means) -> None:
    table = map_tables.over_errors({"x": rank, "loss": rank.loss()}, ["bold", "steady"], replicates=99)
    expected = 0.95 - 0.85 / len(ERRORS)
    assert table["x"].tolist() == pytest.approx([expected, 0.7], abs=0.01)
    assert table["loss"].tolist() == pytest.approx([0.95 - expected, 0], abs=0.01)
    for name in ("x", "loss"):
        assert (table[f"{name} low"] <= table[name]).all() and (table[name] <= table[f"{name} high"]).all()


def test_factors_are_means_over_the_models_that_err(rank: Means) -> None:
    truths = ["single", "or"]
    table = map_tables.by_factor(rank, ["cheap", "bold"], {"truth": truths})
    assert table.columns.tolist() == ["metric", "truth: single", "truth: or"]
    about = rank.conditions
    for truth in truths:
        rows = ((about["truth"] == truth) & (about["error"] != design.NEVER)).to_numpy()
        by_hand = np.nanmean(rank.values[rows][:, :, [2, 1]], axis=(0, 1))
        assert table[f"truth: {truth}"].to_numpy() == pytest.approx(by_hand)


def test_readings_may_choose_otherwise(rank: Means) -> None:
    other = invented(METRICS | {"cheap": {"else": 0.5, "feature": 0.99}})
    table = map_tables.by_reading({"declared": rank, "other": other}, PRICES, declared="cheap", unmisled="bold")
    assert table["chosen"].tolist() == [label("cheap"), label("steady")]
    assert table["its lowest"].tolist() == pytest.approx([0.68, 0.7], abs=0.01)
    assert table["of the declared choice"].tolist() == pytest.approx([0.68, 0.5], abs=0.01)
    at_feature = table["best where one feature triggers the error"]
    assert at_feature.tolist() == [label("bold"), label("cheap")]
    assert table["its rank correlation there"].tolist() == pytest.approx([0.95, 0.99], abs=0.01)
    assert table[f"{label('bold')} there"].tolist() == pytest.approx([0.95, 0.95], abs=0.01)
    assert len(table) == 2
