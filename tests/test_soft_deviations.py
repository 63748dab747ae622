"""The tables of what the released code's choices change, from values of single inputs whose means are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.soft.zhao_aletras_deviations import (
    effects,
    readings_of_ties,
    scaled_attention_as_coded,
    single_draws,
    with_equal_amounts,
)
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    AFTER,
    BEFORE,
    FLIP,
    LIMIT,
    METHODS,
    ONE_SIDED,
    OUTSIDE,
    TIE,
    WIN,
    Power,
)

N = 40


def shares(known: dict[tuple[str, ...], float], columns: list[str]) -> Conditions:
    """Conditions in which a share of the inputs have a 1."""
    rows = [(i, *key, float(i < N * share)) for key, share in known.items() for i in range(N)]
    frame = pd.DataFrame(rows, columns=["id", *columns, "value"])
    return Conditions.of(frame, over=columns, unit="id", n_resamples=99)


def power_of(known: dict[tuple[str, ...], float]) -> Power:
    """By data set, metric and what is shown."""
    cells = shares(known, ["dataset", "metric", "shows"])

    def power(metric: str, **labels: Any) -> Comparison:
        return Comparison(cells.mean(metric=metric, **({"shows": WIN} | labels)))

    return power


def test_ties_count_nothing_a_half_or_one() -> None:
    known: dict[tuple[str, ...], float] = {}
    for dataset, won, tied in (("even", 0.25, 0.5), ("won", 0.9, 0.0), ("lost", 0.0, 0.1)):
        known |= {(dataset, "nc", WIN): won, (dataset, "nc", TIE): tied, (dataset, "nc", LIMIT): tied / 2}
    table = readings_of_ties(power_of(known), ["even", "won", "lost"], ["nc"]).set_index("dataset")
    assert table.loc["even", ["strict", "half", "released", "ties", "at the limit"]].tolist() == pytest.approx(
        [0.25, 0.5, 0.75, 0.5, 0.25]
    )
    assert table["reading"].to_dict() == {
        "even": "undecided",
        "won": "attribution preferred",
        "lost": "random preferred",
    }
    assert table["n"].eq(N).all() and table.columns[-1] == "n"


def test_one_draw_is_set_against_several() -> None:
    known = {("d", "soft_nc", FLIP): 0.2, ("d", "soft_nc", WIN): 0.5, ("d", "soft_nc_one_draw", WIN): 0.35}
    row = single_draws(power_of(known), ["d"], ["soft_nc"]).iloc[0]
    assert (row["flips"], row["change"], row["n"]) == (pytest.approx(0.2), pytest.approx(-0.15), N)


def exchanged_of(known: dict[tuple[str, ...], float]) -> Power:
    """By variant, data set, metric, method and what is shown."""
    cells = shares(known, ["variant", "dataset", "metric", "method", "shows"])

    def exchanged(variant: str, metric: str, **labels: Any) -> Comparison:
        return Comparison(cells.mean(variant=variant, metric=metric, **({"shows": AFTER} | labels)))

    return exchanged


def test_equal_amounts_are_set_against_the_same_attributions_with_theirs() -> None:
    known = {("ranks", "d", "soft_nc", method, AFTER): 0.9 for method in METHODS}
    known |= {("ranks", "d", "soft_nc", method, BEFORE): 0.4 for method in METHODS}
    known["ranks", "d", "soft_nc", METHODS[0], BEFORE] = 0.9
    table = with_equal_amounts(exchanged_of(known), "ranks", ["soft_nc"], METHODS[:2]).set_index("method")
    assert list(table.index) == [*METHODS[:2], "average"]
    assert table["estimate"].tolist() == pytest.approx([0, 0.5, 0.5 * (len(METHODS) - 1) / len(METHODS)])
    assert table.loc[METHODS[1], ["min-max", "ranks"]].tolist() == pytest.approx([0.4, 0.9])


def test_effects_are_of_what_was_measured_and_of_the_methods_that_a_variant_touches() -> None:
    sides = {BEFORE: 0.5, AFTER: 0.75, FLIP: 0.3, OUTSIDE: 0.1, ONE_SIDED: 0.2}
    attention, deeplift = "attention", "deeplift"
    known = {
        ("clip", "d", "nc", method, side): share for method in (attention, deeplift) for side, share in sides.items()
    }
    known |= {("exact", "d", "nc", deeplift, side): share / 2 for side, share in sides.items()}
    touched = [("clip", "nc", attention), ("clip", "nc", deeplift), ("clip", "nc", "random"), ("exact", "nc", deeplift)]
    units = pd.DataFrame([*touched, ("paper", "nc", attention)], columns=["variant", "metric", "method"])
    score = shares({("nc",): 0.5}, ["metric"])
    asked: list[tuple[str, list[str]]] = []

    def moved(variant: str, metric: str, method: list[str]) -> Comparison:
        asked.append((variant, method))
        return Comparison(score.mean(metric=metric))

    names = {"exact": "exact rules", "never": "never measured", "clip": "clipped"}
    measured: Any = SimpleNamespace(mean=moved)
    table = effects(exchanged_of(known), measured, names, ["ns", "nc"], units).set_index("variant")
    assert table["choice"].to_dict() == {"exact": "exact rules", "clip": "clipped"}
    assert asked == [("exact", [deeplift]), ("clip", [attention, deeplift])]
    clip = table.loc["clip", ["diagnosticity", "other choice", "change", "score", "flips", "outside", "one side only"]]
    assert clip.tolist() == pytest.approx([0.5, 0.75, 0.25, 0.5, 0.3, 0.1, 0.2])
    assert table.loc["exact", "change"] == pytest.approx(0.125)


def test_scaled_attention_stands_beside_both_printed_rows() -> None:
    scaled = {BEFORE: 0.75, AFTER: 0.5}
    exchanged = exchanged_of({("v", "d", "nc", "scaled_attention", side): share for side, share in scaled.items()})
    plain = shares({("attention",): 0.25}, ["method"])
    measured: Any = SimpleNamespace(mean=lambda method, **_: Comparison(plain.mean(method=method)))
    printed = pd.Series({("d", "nc", "attention"): 0.41, ("d", "nc", "scaled_attention"): 0.42})
    row = scaled_attention_as_coded(measured, exchanged, "v", printed, ["d"], ["nc"]).iloc[0]
    assert row[["attention, printed", "scaled, printed"]].tolist() == [0.41, 0.42]
    found = row[["attention", "scaled by gradient", "squared, as coded"]]
    assert found.tolist() == pytest.approx([0.25, 0.75, 0.5])
    assert row["n"] == N
