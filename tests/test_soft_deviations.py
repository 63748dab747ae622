"""The tables of what the released code's choices change, from values of single inputs whose means are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.soft.zhao_aletras_deviations import (
    beside_papers_choice,
    cells_of_ours,
    effects_of_variants,
    everything_beside_the_best,
    other_choices_of_texts,
    random_preferred,
    readings_of_ties,
    scaled_attention_as_coded,
    scored,
    scores_of_choices,
    single_draws,
    squared_beside_attention,
    texts_of,
    wins_of_choices,
    with_equal_amounts,
)
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    AFTER,
    BEFORE,
    EVERYTHING,
    FLIP,
    LIMIT,
    METHODS,
    ONE_SIDED,
    OUTSIDE,
    SCORE,
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
    table = effects_of_variants(exchanged_of(known), measured, names, ["ns", "nc"], units).set_index("variant")
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
    table = pd.DataFrame([row, row]).assign(metric=["nc", "soft_nc"])
    assert "they differ by at most 0.250)" in squared_beside_attention(table)
    assert "they are equal)" in squared_beside_attention(table.assign(attention=table["squared, as coded"]))
    assert squared_beside_attention(table[:0]) == ""


def units_of(rows: list[tuple[str, str, float, str]], **columns: object) -> pd.DataFrame:
    """Values of one input: metric, method, value, variant."""
    frame = pd.DataFrame(rows, columns=["metric", "method", "value", "variant"])
    return frame.assign(dataset="d", seed=0, id="i", cluster="i", ratio=float("nan"), **columns)


def test_what_is_scored_has_an_attribution_of_one_for_every_token() -> None:
    rows = [("nc", name, value, "") for name, value in (("attention", 0.8), ("random", 0.5))]
    rows += [("soft_nc", name, value, "") for name, value in (("attention", 0.4), ("random", 0.5))]
    rows += [("soft_ns", "random", 0.5, ""), ("p_full", "none", 0.9, ""), ("p_empty", "none", 0.1, "")]
    units = units_of(rows)
    units.loc[units.metric == "nc", "ratio"] = 0.1
    won = scored(units).query("shows == 'win'").set_index(["metric", "method"]).value
    assert won["nc", "attention"] == 1 and won["soft_nc", "attention"] == 0
    assert won["soft_nc", EVERYTHING] == won["soft_ns", EVERYTHING] == 1


def test_choices_are_beside_the_papers_on_wins_and_on_scores() -> None:
    values = {"paper": (0.6, 0.5), "clip=released": (0.3, 0.5), "normaliser=rank": (0.7, 0.5)}
    rows = [("soft_nc", method, value, variant) for variant, pair in values.items()
            for method, value in zip(("attention", "random"), pair, strict=True)]  # fmt: skip
    units = units_of(rows)
    both = beside_papers_choice(units)
    wins, scores = wins_of_choices(units), scores_of_choices(units)
    assert len(wins) + len(scores) == len(both) and set(scores.shows) == {SCORE} and SCORE not in set(wins.shows)
    clip = wins[wins.variant == "clip=released"].set_index("shows").value
    assert (clip[BEFORE], clip[AFTER], clip[FLIP]) == (1, 0, 1)
    assert scores.set_index("variant").value["clip=released"] == pytest.approx(-0.3)


def test_marking_everything_is_set_against_the_best_attribution() -> None:
    known = {("soft_nc", method): 0.25 for method in METHODS} | {
        ("soft_nc", "deeplift"): 0.5,
        ("soft_nc", EVERYTHING): 1,
    }
    cells = shares(known, ["metric", "method"])

    def power(metric: str, method: str) -> Comparison:
        return Comparison(cells.mean(metric=metric, method=method))

    (sentence,) = everything_beside_the_best(power, ["soft_nc"])
    assert "under Soft-NC on a share of the inputs of 1.000" in sentence
    assert "the best real attribution, DeepLIFT, on 0.500" in sentence


def test_our_cells_are_of_printed_data_sets() -> None:
    cells = shares({("sst",): 0.5, ("movie",): 0.25}, ["dataset"])
    index = pd.MultiIndex.from_tuples([("sst", "nc", "attention")], names=["dataset", "metric", "method"])

    def power(metric: str, dataset: str, method: str) -> Comparison:
        return Comparison(cells.mean(dataset=dataset))

    found = cells_of_ours(power, ["sst", "movie"], ["nc"], pd.Series([0.4], index=index))
    assert found == {("sst", "nc", method): 0.5 for method in METHODS}


def test_other_differences_have_the_settings_and_sizes_of_the_run() -> None:
    measured = pd.DataFrame({"dataset": ["sst", "sst", "ag", "movie"], "id": ["a", "b", "a", "a"]})
    texts = texts_of(measured, ["sst", "ag"])
    assert texts == {"SST": 2, "AG News": 1}
    settings = {"ig_steps": 16, "draws": 8, "dtype": "float32"}
    ours = other_choices_of_texts(settings, pd.Series([3953, 4000]), texts).set_index("what")["here"]
    assert (ours["training texts of AG News"], ours["draws of the mask for one soft score"]) == ("3,953", "8")
    assert ours["test texts"] == "SST 2, AG News 1"
    assert other_choices_of_texts(settings, pd.Series(dtype=float), texts)["here"][0] == "–"


def test_data_sets_on_which_random_scores_are_preferred_are_named_by_metric() -> None:
    rows = [("sst", "nc", "undecided"), ("sst", "soft_ns", "random preferred"), ("ag", "soft_ns", "random preferred")]
    readings = pd.DataFrame(rows, columns=["dataset", "metric", "reading"])
    assert random_preferred(readings, ["nc", "soft_ns"]) == ["Soft-NS on SST, AG News"]
