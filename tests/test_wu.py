"""What the pages on study 2 make of values of single pictures."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from faithbook.papers import wu
from faithbook.stats import needed
from faithbook.stats.agreement import KENDALL, SPEARMAN
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions

PICTURE = {"dataset": "fashion", "model": "base", "id": "a", "cluster": "a"}


def unit(metric: str, method: str, value: float, **more: object) -> dict[str, object]:
    return PICTURE | {"metric": metric, "method": method, "value": value, "draw": 0} | more


def test_settings_and_numbers_of_groups_are_told_apart_and_ranks_are_no_setting() -> None:
    settings = [{"k": np.nan, "setting": None}, {"k": 5.0, "setting": None}]
    settings += [{"k": np.nan, "setting": name} for name in ("main", "nearest", "ranks")]
    frame = pd.DataFrame([unit("saco", "rollout", i, **more) for i, more in enumerate(settings)])
    frame = pd.concat([frame, pd.DataFrame([unit("auc", "rollout", 0.3)])])
    assert wu.by_setting(frame).setting.tolist() == ["main, all models", "5 groups", "main, first model", "nearest"]
    assert wu.by_groups(frame[:2]).set_index("k").value.to_dict() == {10: 0, 5: 1}


def test_an_explanation_stands_beside_every_drawing_of_random_scores_on_its_picture() -> None:
    random = [unit("auc", "random", value, draw=draw) for draw, value in enumerate((0.2, 0.4, 0.6))]
    other = unit("auc", "rollout", 0.9) | {"id": "b"}
    found = wu.beside_random(pd.DataFrame([unit("auc", "rollout", 0.4), other, *random]))
    one = found[found.id == "a"].set_index("draw")
    assert one.win.tolist() == [0, 0, 1] and one.tie.tolist() == [0, 1, 0]  # a low AUC is the better one
    assert one.gap.tolist() == pytest.approx([-0.2, 0.0, 0.2])
    assert found[found.id == "b"].win.isna().all()


def test_random_scores_stand_beside_explanations_of_their_own_setting() -> None:
    rows = [unit("saco", "rollout", 0.3, setting=name) for name in ("main", "blur")]
    rows += [unit("saco", "random", value, setting=name) for name, value in (("main", 0.1), ("blur", 0.5))]
    found = wu.beside_random(pd.DataFrame(rows), over=["setting"]).set_index("setting")
    assert found.win.to_dict() == {"main": 1, "blur": 0}
    constant = pd.DataFrame([unit("saco", "lrp", value) for value in (np.nan, 0.1)])  # a constant map has no SaCo
    assert wu.constant_maps(constant, ["method"])[["maps", "constant"]].to_numpy().tolist() == [[2, 1]]


def test_settings_are_taken_beside_the_main_one_and_a_constant_map_has_no_saco_with_ranks_either() -> None:
    levels = {("rollout", "main"): np.nan, ("rollout", "ranks"): 0.9, ("lrp", "main"): 0.1, ("lrp", "ranks"): 0.2}
    levels |= {("lrp", "zero"): 0.3}
    rows = [unit("saco", method, value, setting=setting) for (method, setting), value in levels.items()]
    taken = wu.of_settings(["ranks"])(pd.DataFrame(rows)).set_index(["method", "setting"]).value
    assert taken.dropna().to_dict() == {("lrp", "main"): 0.1, ("lrp", "ranks"): 0.2} and len(taken) == 4


def test_inputs_needed_follow_from_the_effect() -> None:
    noise = np.random.default_rng(0).normal(size=60)
    values = 0.5 + (noise - noise.mean()) / noise.std()
    frame = pd.DataFrame([{"id": i, "power": k, "value": x**k} for i, x in enumerate(values) for k in (1, 2)])
    cells = Conditions.of(frame, over=["power"], unit="id", n_resamples=199)
    moments = [Comparison(cells.mean(power=k)) for k in (1, 2)]
    size, spread = needed.effect(*moments), needed.deviation(*moments)
    assert (size.ours.point, spread.ours.point) == (pytest.approx(0.5), pytest.approx(1.0))
    row = needed.needed_row(size)
    assert row["low"] < row["estimate"] == 32 < row["high"]  # (2.8 / .5)^2
    assert np.isinf(needed.needed_row(-size)["estimate"])


def test_models_are_told_by_their_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    card = {"classifier": "base", "parameters": 9, "train_size": 100, "accuracy": 0.5, "test_size": 50, "other": 1}
    cards = pd.DataFrame([card | {"dataset": name} for name in ("fashion", "mnist")])
    monkeypatch.setattr(wu, "cards", lambda kind: cards)
    (shown,) = wu.transformers(["fashion"]).to_dict("records")
    assert list(shown) == ["dataset", "model", "parameters", "learnt from", "accuracy", "low", "high", "n"]
    assert (shown["model"], shown["n"]) == ("base", 50) and 0.3 < shown["low"] < 0.5 < shown["high"] < 0.7
    monkeypatch.setattr(wu, "cards", lambda kind: pd.DataFrame())
    assert wu.transformers(["fashion"]).empty


def test_how_often_random_scores_are_ahead_counts_ties_half_or_not() -> None:
    random = [unit("auc", "random", value, draw=draw) for draw, value in enumerate((0.2, 0.4, 0.4, 0.6))]
    found = wu.random_ahead(pd.DataFrame([unit("auc", "rollout", 0.4), unit("auc", "unheard of", 0.4), *random]))
    assert set(found.method) == {"rollout"} and set(found.setting) == {"all models"}
    assert found.groupby("ties").value.mean().to_dict() == {"half": 0.0, "none": -0.25}
    named = pd.DataFrame([unit("saco", name, 0.1, setting="main") for name in ("rollout", "random")])
    assert set(wu.random_ahead(named).setting) == {"main, first model"}


@pytest.mark.parametrize(("aopc_of_raw", "ordered"), [(0.2, 1.0), (0.9, 0.0)])
def test_the_case_study_asks_every_picture_for_the_papers_order(aopc_of_raw: float, ordered: float) -> None:
    saco = {wu.TA: 0.6, wu.RAW: 0.4, wu.CHANCE: 0.1}
    aopc = {wu.TA: 0.3, wu.RAW: aopc_of_raw, wu.CHANCE: 0.1}
    rows = [unit("saco", name, value) for name, value in saco.items()]
    rows += [unit("aopc_morf", name, value) for name, value in aopc.items()]
    rows += [unit("saco", wu.CHANCE, 0.5, draw=1), unit("aopc_morf", wu.CHANCE, 0.0, draw=1)]
    found = wu.case_study(pd.DataFrame(rows)).set_index(["draw", "quantity"]).value
    first = "SaCo of Transformer Attribution minus"
    gaps = {f"{first} Raw Attention": 0.2, f"{first} random": 0.5}
    orders = {"paper's order under SaCo minus under AOPC": 1 - ordered, "paper's order under SaCo": 1}
    assert found[0].to_dict() == pytest.approx(gaps | orders)
    assert found[1]["paper's order under SaCo"] == 0  # this drawing of random scores is above raw attention


def correlated(saco: float, others: float) -> dict[tuple[str, str, str], Comparison]:
    """Every two metrics with the same correlation, SaCo's with each another one; Kendall's half of Spearman's."""
    values = {
        (kind, a, b): half * (saco if "saco" in (a, b) else others)
        for kind, half in ((SPEARMAN, 1), (KENDALL, 0.5))
        for a, b in combinations(wu.SIGN, 2)
    }
    frame = pd.DataFrame([{"id": i, "pair": str(key), "value": x} for key, x in values.items() for i in range(8)])
    cells = Conditions.of(frame, over=["pair"], unit="id", n_resamples=99)
    return {key: Comparison(cells.mean(pair=str(key))) for key in values}


def test_figure_2_has_saco_with_each_metric_and_the_mean_among_the_rest() -> None:
    pairs = correlated(0.2, 0.6)
    four, among = wu.bars(pairs)
    assert {name: pair.ours.point for name, pair in four.items()} == pytest.approx(dict.fromkeys(wu.EXISTING, 0.2))
    assert among.ours.point == pytest.approx(0.6)
    (gap,) = wu.more_among_four(pairs).values()
    assert gap.ours.point == pytest.approx(0.4)
    turned, among = wu.bars(pairs, KENDALL, back=["aopc_lerf"])  # a metric turned back changes its signs
    assert turned["aopc_lerf"].ours.point == pytest.approx(-0.1) and turned["auc"].ours.point == pytest.approx(0.1)
    assert among.ours.point == pytest.approx(0)  # three pairs of .3 and three of -.3


def test_every_drawing_of_random_scores_counts_and_a_tie_one_half() -> None:
    values = {("lime", 0): 0.5, ("random", 0): 0.2, ("random", 1): 0.5}
    rows = [(method, draw, metric, value) for (method, draw), value in values.items() for metric in ("saco", "auc")]
    units = pd.DataFrame(rows, columns=["method", "draw", "metric", "value"])
    units = units.assign(dataset="imagenet", model="lite0", id="a", cluster="a")
    shares = wu.preferred_to_random(units).groupby("metric").value.mean()
    assert shares["saco"] == 0.75  # above one drawing, level with the other
    assert shares["auc"] == 0.25  # of which less is better
