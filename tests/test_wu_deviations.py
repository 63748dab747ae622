"""What choices change of SaCo (`saco_deviations`), of the committed values and of small tables by hand."""

from __future__ import annotations

import committed
import pandas as pd
import pytest

from faithbook.engine.studies import settings_of
from faithbook.judge.scores import Scores
from faithbook.studies.saco import wu_deviations as deviations
from faithbook.studies.saco.wu import METHODS


@pytest.fixture(scope="module")
def measured() -> Scores:
    """All settings of the images that went through them."""
    over = ["dataset", "setting", "metric", "method"]
    parts = ["settings", "groups"]
    return committed.scores(
        "saco_metrics", paper="wu_2024", parts=parts, over=over, prepare=deviations.varied, firmest=True
    )


def test_single_precision_is_the_base_of_half_precision_alone() -> None:
    assert deviations.base_of(["main", "5 groups", "bfloat16"]) == {"5 groups": "main", "bfloat16": "main"}
    assert "bfloat16" not in deviations.base_of(["main", "float32"])


def test_an_effect_is_the_mean_of_those_of_the_ten_methods(measured: Scores) -> None:
    value = measured.quantity("setting", "metric", "method")
    base = deviations.base_of(measured.levels("setting"))
    effects, by_method = deviations.effects_of_settings(value, base), deviations.effects_by_method(value, base)
    of_ten = by_method[by_method.method.isin(METHODS)].groupby(["setting", "metric"]).estimate.mean()
    for row in effects.itertuples():
        assert row.estimate == pytest.approx(of_ten[row.setting, row.metric], abs=1e-9)
    assert set(effects.metric[effects.setting == "5 groups"]) == {"saco"}
    of_saco = deviations.on_saco(effects, list(base))
    assert list(of_saco.setting) == list(base)
    largest = of_saco.loc[of_saco.estimate.abs().idxmax(), "setting"]
    text = deviations.in_short(of_saco)
    assert f"The largest change is that of *{deviations.word(largest)}*" in text
    unclear = of_saco[(of_saco.low <= 0) & (of_saco.high >= 0)]
    assert f"{len(of_saco) - len(unclear)} of {len(of_saco)} choices" in text
    assert f"the level of SaCo most on *{deviations.word(largest)}*" in deviations.at_a_glance(of_saco)
    assert deviations.at_a_glance(of_saco.assign(low=-1, high=1)).endswith("every interval includes zero.")
    shown = deviations.settings_table(deviations.effects_of_some(effects, "zero"))
    assert list(shown.columns[:4]) == ["other choice", "metric", "main setting", "change"]
    shown = deviations.effects_of_some(effects, "zero", "blur")
    assert set(shown.setting) == {"S4 one fixed colour", "S4 a blurred copy"}


def test_other_numbers_of_groups_are_of_the_same_images_and_model() -> None:
    rows = [
        ("d", "a", "m", "main", None),
        ("d", "a", "m", None, 5.0),
        ("d", "b", "m", None, 5.0),
        ("d", "a", "o", None, 5.0),
    ]
    units = pd.DataFrame(rows, columns=["dataset", "id", "model", "setting", "k"])
    found = deviations.varied(units)
    assert found[["id", "model", "setting"]].values.tolist() == [["a", "m", "main"], ["a", "m", "5 groups"]]


def test_equal_drops_are_counted_both_ways() -> None:
    keys = {"dataset": "d", "id": "a", "cluster": "a", "method": "lrp"}
    units = pd.DataFrame([keys | {"metric": name, "value": value} for name, value in
                          (("ties", 0.2), ("satisfied", 0.5), ("half", 0.3))])  # fmt: skip
    found = deviations.with_both_ways(units).set_index("metric").value
    assert found["change"] == pytest.approx(-0.2)
    told = [("d", name, 2, 0.5, 0.4, 0.6) for name in ("half", "ties", "change")]
    drops = pd.DataFrame(told, columns=["dataset", "quantity", "n", "estimate", "low", "high"])
    shown = deviations.equal_drops_in_words(drops)
    assert shown.columns.tolist() == ["dataset", "share of equal pairs", "change", "n"]
    assert shown.to_numpy().tolist() == [["d", "0.500 [0.400, 0.600]", "0.500 [0.400, 0.600]", 2]]


def test_signs_are_shares_of_pixels_and_of_absolute_salience() -> None:
    stored = pd.DataFrame({"dataset": "d", "input": "i", "method": "lrp", "score": [3.0, 1.0, -1.0, 0.0]})
    shares = deviations.shares_below_zero(stored).loc["lrp"]
    assert shares.to_dict() == {"maps": 1, "below": 0.25, "mass": 0.2}
    keys = {"dataset": "d", "id": "i", "cluster": "i", "method": "lrp"}
    units = pd.DataFrame([keys | {"metric": "saco", "value": 0.5}, keys | {"metric": "saco_clamped", "value": 0.4}])
    assert deviations.clamping(units).value.tolist() == pytest.approx([-0.1])


def test_the_pairs_that_are_most_alike_come_first_and_the_trap_last() -> None:
    scores = {
        "lrp": [1.0, 2.0, 3.0, 4.0],
        "rollout": [1.0, 2.0, 3.0, 5.0],
        "transformer_attribution": [4.0, 3.0, 2.0, 1.0],
    }
    stored = pd.concat(
        pd.DataFrame({"dataset": "d", "input": "i", "pixel": range(4), "method": name, "score": values})
        for name, values in scores.items()
    )
    found = deviations.most_alike(stored, shown=1)
    assert found[["one", "other"]].values.tolist() == [["LRP", "Rollout"], ["LRP", "Transformer Attribution"]]
    assert found.correlation.tolist() == pytest.approx([1.0, -1.0]) and set(found.n) == {1}


def test_constant_maps_are_named_with_the_most_first() -> None:
    frame = pd.DataFrame({"dataset": "fashion", "metric": "saco", "method": ["lrp", "lrp", "rollout", "random"]})
    text = deviations.constant_in_words(frame.assign(value=[None, 0.1, 0.2, None]).astype({"value": float}))
    assert text.startswith("LRP on ") and text.endswith(" 1 of 2")
    assert deviations.constant_in_words(frame.assign(value=0.5)) == "none"


def test_half_precision_is_held_against_the_interval(measured: Scores) -> None:
    value = measured.quantity("setting", "metric", "method")
    row = {"metric": "saco", "setting": "bfloat16", "estimate": 0.01}
    by_method = pd.DataFrame([row | {"method": method} for method in METHODS])
    rule = deviations.precision_rule(value, "main", by_method)
    assert len(rule) == 10
    assert (rule["of the interval"] * (rule.high - rule.low)).tolist() == pytest.approx([0.01] * 10)
    assert deviations.precision_rule(value, "main", by_method[:0]).empty


def test_further_differences_name_sizes_of_the_full_run(measured: Scores) -> None:
    images = deviations.tried_on(measured.frame)
    assert images.startswith("CIFAR-10: ") and images.endswith("1 model")
    table = deviations.other_choices_for_images(settings_of("saco_metrics", "full"), images).set_index("what")
    assert table.here["numbers of groups 5 and 20"] == "CIFAR-10 80, CIFAR-100 40"
