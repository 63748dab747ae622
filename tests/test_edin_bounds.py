"""What study 4 makes of bounds and searches of our own, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from faithbook.papers import edin_bounds

ENDS = ("lower", "upper", "certified_lower", "certified_upper", "rows")


def rows(values: tuple[float, ...], **labels: Any) -> list[dict[str, Any]]:
    given = {"dataset": "d", "classifier": "c", "id": "a", "cluster": "a", **labels}
    return [given | {"metric": name, "value": value} for name, value in zip(ENDS, values, strict=True)]


def test_searches_of_short_texts_are_held_against_the_exact_bounds() -> None:
    short = {"length": "short", "width": 0}
    units = rows((-0.2, 0.6, -0.2, 0.6, 16.0), **short, method="exact")
    units += rows((-0.19, 0.55, -0.3, 0.58, 8.0), **(short | {"width": 1}), method="released")
    units += rows((-0.1, 0.4, -0.15, 0.9, 90.0), length="long", width=3, method="merged")
    score = {"dataset": "d", "classifier": "c", "id": "a", "cluster": "a", "length": "long", "method": "lime"}
    units.append(score | {"metric": "aopc_morf", "value": 0.3})
    found = edin_bounds.of_models(pd.DataFrame(units))
    shares = edin_bounds.of_shares(pd.DataFrame(units))
    value = pd.concat([found, shares]).set_index(["length", "search", "metric"]).value.sort_index()
    beam = value["short", "released, width 1"]
    assert beam["error_upper"] == pytest.approx(0.05)
    assert beam["error_lower"] == pytest.approx(0.01)
    assert (beam["off_upper"], beam["off_lower"]) == (1, 0)
    assert (beam["proved_upper"], beam["proved_lower"]) == (0, 1)  # .58 is below the exact .6
    assert (beam["rows"], beam["rows_exact"]) == (8, 16)
    assert value["short", ""].to_dict() == pytest.approx({"lower": -0.2, "upper": 0.6, "range": 0.8})
    long = value["long", ""]
    assert (long["range"], long["beyond_upper"], long["beyond_lower"]) == pytest.approx((0.5, 0.5, 0.05))
    assert long["aopc_morf"] == 0.3
    assert set(found.model) == {"c"}
    assert set(found.loc[found.metric == "aopc_morf", "method"]) == {"lime"}
    assert set(shares.search) == {"released, width 1"}
    assert shares.value.isin([0, 1]).all()
    assert list(shares.columns) == list(found.columns)


def test_searches_are_held_against_the_best_and_against_the_published_one() -> None:
    options: dict[str, Any] = {"words": 80, "seed": 0}
    units = rows((-0.1, 0.5, -0.2, 0.7, 1000.0), **options, method="released", width=5, candidates=0)
    units += rows((-0.12, 0.5, -0.2, 0.6, 500.0), **options, method="merged", width=5, candidates=0)
    units += rows((-0.08, 0.46, -0.18, 0.76, 100.0), **options, method="merged", width=1, candidates=4)
    found = edin_bounds.of_searches(pd.DataFrame(units))
    value = found.set_index(["search", "metric"]).value
    assert set(found.search) == {"released, width 5", "merged, width 5", "pruned, width 1, 4 words"}
    assert set(found.loc[found.search == "pruned, width 1, 4 words", "kind"]) == {"pruned"}
    pruned = value["pruned, width 1, 4 words"]
    assert pruned["error"] == pytest.approx((0.04 + 0.04) / 2)
    assert pruned["short"] == pytest.approx((0.04 + 0.02) / 2)
    assert pruned["unsure"] == pytest.approx((0.3 + 0.1) / 2)
    assert pruned["fewer"] == 10
    assert value["merged, width 5"]["short"] == pytest.approx(-0.01)  # better than the published search
    assert value["released, width 5"]["error"] == pytest.approx(0.01)
    assert set(found.id) == {"80 words, a"}


def test_a_search_is_outdone_by_one_with_fewer_rows_and_a_smaller_error_alone() -> None:
    rows = [("adaptive", 100, 0.02), ("a", 90, 0.01), ("b", 80, 0.015), ("c", 110, 0.0), ("d", 50, 0.03)]
    found = pd.DataFrame(rows, columns=["search", "rows", "error"])
    own, better = edin_bounds.outdone(found, "error") or pytest.fail("nothing found")
    assert (own["rows"], better["search"]) == (100, "a")
    assert edin_bounds.outdone(found[found.search.isin(["adaptive", "c", "d"])], "error") is None
    assert edin_bounds.outdone(found[1:], "error") is None
    assert (
        edin_bounds.outdone(found.assign(error=found.error.where(found.search != "a", 0.02 - 1e-7))[:2], "error")
        is None
    )
