"""What `saco_tables` and `saco_figures` show beside the paper's tables, of the committed values."""

from __future__ import annotations

import math

import committed
import pandas as pd
import pytest

from faithbook.engine.studies import recipes
from faithbook.judge import published
from faithbook.judge.scores import Scores
from faithbook.studies.saco import wu, wu_figures, wu_tables
from faithbook.studies.saco.wu import KS, LAST, METHODS, MID, RAW

CIFAR = ["cifar10", "cifar100"]


@pytest.fixture(scope="module")
def measured() -> Scores:
    """SaCo by number of groups as the page measures it."""
    table1 = published.table("saco_table1").rename(columns={"method_inferred": "method", "dataset_inferred": "dataset"})
    printed = wu_tables.both_tables(table1, published.table("saco_table2").astype({"k": int}))
    over = ["dataset", "model", "method", "k"]
    return committed.scores(
        "saco_metrics", paper="wu_2024", parts=["", "groups"], over=over, prepare=wu.by_groups, printed=printed
    )


@pytest.fixture(scope="module")
def metrics() -> Scores:
    """All five metrics, sign-flipped so that higher is better."""
    over = ["dataset", "model", "metric", "method"]
    return committed.scores("saco_metrics", paper="wu_2024", over=over, prepare=wu.turned, firmest=True)


def test_the_result_of_the_tables_is_what_gradients_add(measured: Scores) -> None:
    saco = measured.quantity("method", k=MID, dataset=CIFAR)
    text = wu_tables.in_short(saco)
    assert f"raises SaCo from {saco(RAW).ours.point:.2f} [" in text and f"to {saco(LAST).ours.point:.2f} [" in text
    assert "(published 0.18)" in text and "(published 0.38)" in text


def test_orders_are_of_the_ten_methods_with_each_number_of_groups(measured: Scores) -> None:
    orders = wu_tables.orders_of_table2(measured.quantity("method", k=MID, dataset=CIFAR))
    assert [order.name for order in orders] == [f"tau with the printed order, {k} groups" for k in KS]


def test_a_data_set_on_its_own_has_every_method_and_random_scores(measured: Scores) -> None:
    cells = wu_tables.by_dataset(measured.quantity("dataset", "method", "k"), CIFAR)
    assert len(cells) == 2 * 12 * 3
    saco = measured.quantity("method", k=MID, dataset=CIFAR)
    assert (wu_tables.fewest(saco, [MID]), wu_tables.fewest(saco, KS)) == (73, 32)
    assert "73 of the 100 images and 32 of the 40 are left" in wu_tables.sizes_in_words(saco)
    wide = wu_tables.with_ten_groups(cells)
    assert len(wide) == 12 and list(wide.columns[1:]) == ["CIFAR-10", "CIFAR-100"]
    sizes = cells[cells.k == MID].groupby("dataset").n.max()
    assert wu_tables.images_of(cells) == f"{sizes['cifar10']} of CIFAR-10, {sizes['cifar100']} of CIFAR-100"


def test_maps_without_a_saco_are_counted_by_method() -> None:
    frame = pd.DataFrame({"k": [10, 10, 10, 5], "method": ["rollout", "lrp", "rollout", "lrp"]})
    assert wu_tables.maps_left_out(frame.assign(value=[0.1, math.nan, 0.2, math.nan])) == "LRP 1 of 1"
    assert wu_tables.maps_left_out(frame.assign(value=0.1)) == "none"


@pytest.fixture(scope="module")
def text() -> pd.DataFrame:
    """The paper's text, with a run of the profile `paper` and facts of orders that are as it says."""
    run = wu_tables.PaperRun(3, recipes("vision_classifiers", "paper")["architectures"])
    orders = pd.Series({"mean": 0.0, "obeyed": 0.5, "lowest": -1.0, "highest": 1.0})
    table1 = published.table("saco_table1").set_index("method_inferred").value
    return wu_tables.text_again(wu_tables.again(table1, orders, run, [*METHODS, LAST]))


def test_numbers_of_the_text_are_recomputed_where_no_model_is_needed(text: pd.DataFrame) -> None:
    numbers = wu_tables.numbers_of(text)
    assert len(numbers) == (text.agrees == "yes").sum() == 13 and "no" not in set(text.agrees)
    gain = next(number for name, number in numbers.items() if "gain from gradient single layer" in name)
    assert gain.ours == pytest.approx(100 * (0.3814 / 0.1846 - 1), abs=1)
    shown = wu_tables.recomputed_in_words(text)
    assert len(shown) == 13 and set(shown["from"]) >= set(wu_tables.WORDS_OF_HOW.values())
    assert shown.published.str.endswith(" %").any()


def test_architectures_with_other_patches_have_no_patch_size() -> None:
    names = {"a": {"name": "vit_base_patch16_224"}, "b": {"name": "vit_base_patch32_224"}}
    assert math.isnan(wu_tables.PaperRun(3, names).patch_size)
    assert wu_tables.PaperRun(3, {"a": names["a"]}).patch_size == 16


def test_statements_of_the_text_are_compared_with_table_2() -> None:
    printed = published.table("saco_table2").astype({"k": int}).set_index(["k", "method"]).value
    fall, steady, weakest = wu_tables.statements_on_table2(printed).splitlines()
    falling = [name for name in METHODS if printed[5, name] > printed[20, name]]
    assert f"{len(falling)} of the ten methods fall from 5 to 20 groups" in fall
    assert "IG and ATTCAT" in steady and "It is at 10 groups" in weakest
    level = dict.fromkeys(printed.index, 0.5) | {(20, name): 0.4 for name in METHODS}
    assert "by 20 to 20 % of their value" in wu_tables.statements_on_table2(level)
    assert wu_tables.statements_on_table2(level).endswith("at 5 groups no method is below it.")


# ---------------------------------------------------------------------------------------------------------- figures
def test_the_result_of_the_figures_says_that_the_flip_decides(metrics: Scores) -> None:
    pairs = metrics.each(wu.agreement(*METHODS, datasets=CIFAR))
    random = metrics.mean(metric="saco", method="random", dataset=CIFAR)
    text = wu_figures.in_short(pairs, random)
    _, among = wu.bars(pairs)
    assert f"The four agree even less with one another, {among.ours.point:.2f}".replace("-", "−") in text
    assert "If no metric is sign-flipped, the four agree more with one another than with SaCo" in text
    assert text.endswith(f"Random scores have a mean SaCo of {wu_figures.beside(random)}.")
    by_choice = wu.agreement_by_choice(pairs)
    assert len(by_choice) == 6
    points = {key: next(iter(parts.values())).ours.point for key, parts in by_choice.items()}  # type: ignore[union-attr]
    assert points["all", "Spearman"] < 0 < points["none", "Spearman"]
    readings = wu_figures.by_orientation(pairs)
    differences = readings[readings.correlation == "difference"].set_index("sign-flipped").estimate
    for flipped, words in wu_figures.WORDS_OF_FLIPPED.items():
        assert differences[words] == pytest.approx(points[flipped, "Spearman"], abs=1e-12)
    shown = wu_figures.orientations_in_words(readings)
    assert list(shown.columns) == ["sign-flipped", "among the four", "with SaCo", "difference"] and len(shown) == 3


def test_bars_and_means_are_shown_with_their_intervals_in_one_cell(metrics: Scores) -> None:
    bars = wu_figures.correlations_in_words(wu.bar_table(metrics.each(wu.agreement(*METHODS, datasets=CIFAR))))
    assert "Spearman's correlation" in bars and "Spearman's correlation estimate" not in bars
    mean = metrics.quantity("metric", "method", dataset=CIFAR)
    means = wu_figures.means_in_words(wu.every_mean(mean, CIFAR))
    assert len(means) == 2 * 11 and means.n.str.replace(",", "").astype(int).min() > 30


def test_settings_begin_with_the_main_one_and_only_those_of_the_data_sets() -> None:
    over = ["dataset", "model", "setting", "method"]
    varied = committed.scores(
        "saco_metrics", paper="wu_2024", parts=["", "groups", "settings"], over=over, prepare=wu.by_setting
    )
    names = wu.settings_tried(varied, CIFAR)
    assert names[0] == wu.MAIN_SETTING and "ranks" not in names and {"5 groups", "20 groups", "zero"} <= set(names)
    by_setting = wu.under_each_setting(wu.random_is_zero, varied, CIFAR)
    assert list(by_setting) == [(name,) for name in names]
    assert wu.settings_tried(varied, []) == []
