"""What the pages on study 2 make of values of single pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from faithbook.papers import wu

PICTURE = {"dataset": "fashion", "model": "base", "id": "a", "cluster": "a"}


def unit(metric: str, method: str, value: float, **more: object) -> dict[str, object]:
    return PICTURE | {"metric": metric, "method": method, "value": value, "draw": 0} | more


def test_turned_metrics_are_all_better_when_higher() -> None:
    frame = pd.DataFrame([unit(metric, "rollout", 0.5) for metric in wu.SIGN])
    assert wu.turned(frame).value.tolist() == [0.5, -0.5, 0.5, -0.5, -0.5]


def test_the_main_setting_has_ten_groups_and_other_metrics_go() -> None:
    rows = [unit("saco", "rollout", 0.1, k=np.nan), unit("saco", "rollout", 0.2, k=5.0), unit("auc", "rollout", 0.3)]
    assert wu.by_groups(pd.DataFrame(rows)).set_index("k").value.to_dict() == {10: 0.1, 5: 0.2}


def test_settings_are_told_apart_and_ranks_are_none() -> None:
    settings = [{"k": np.nan, "setting": None}, {"k": 5.0, "setting": None}]
    settings += [{"k": np.nan, "setting": name} for name in ("main", "nearest", "ranks")]
    frame = pd.DataFrame([unit("saco", "rollout", 0.1, **more) for more in settings])
    assert wu.by_setting(frame).setting.tolist() == ["main, all models", "5 groups", "main, first model", "nearest"]


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


def test_constant_maps_have_no_saco() -> None:
    rows = [unit("saco", name, value) for name, value in (("lrp", np.nan), ("lrp", 0.1), ("rollout", 0.2))]
    found = wu.constant_maps(pd.DataFrame(rows), ["method"]).set_index("method")
    assert found.maps.to_dict() == {"lrp": 2, "rollout": 1} and found.constant.to_dict() == {"lrp": 1, "rollout": 0}


def test_models_are_told_by_their_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    card = {"classifier": "base", "parameters": 9, "train_size": 100, "accuracy": 0.5, "test_size": 50, "other": 1}
    cards = pd.DataFrame([card | {"dataset": name} for name in ("fashion", "mnist")])
    monkeypatch.setattr(wu, "cards", lambda kind: cards)
    (shown,) = wu.transformers(["fashion"]).to_dict("records")
    assert list(shown) == ["dataset", "model", "parameters", "learnt from", "accuracy", "low", "high", "n"]
    assert (shown["model"], shown["n"]) == ("base", 50) and 0.3 < shown["low"] < 0.5 < shown["high"] < 0.7
    monkeypatch.setattr(wu, "cards", lambda kind: pd.DataFrame())
    assert wu.transformers(["fashion"]).empty
