"""What the computation of study 2 measures, on a tiny model and images of noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy_models import vit

from faithbook.sources.images import Pictures
from faithbook.studies.saco import wu_metrics
from faithbook.studies.saco.wu import saco_of
from faithlib.evaluation import saco_scores
from faithlib.masks import salience_groups

MAIN = wu_metrics.Setting(k=5)
KEY = ["input", "method", "draw"]


@pytest.fixture(scope="module")
def batch() -> wu_metrics.ExplainedPictures:
    model = vit(img_size=12)
    model.pretrained_cfg = {"input_size": (3, 12, 12), "crop_pct": 1.0, "mean": (0.4,) * 3, "std": (0.2,) * 3}
    noise = np.random.default_rng(0).integers(0, 256, (3, 12, 12, 3), dtype=np.uint8)
    pictures = Pictures("noise", "test", tuple(noise), (0, 1, 2), ("a", "b", "c"), ("one", "two", "three"))
    return wu_metrics.ExplainedPictures(model, pictures, ig_steps=2, random_draws=2, device="cpu")


def test_every_explanation_of_every_image_has_every_metric(batch: wu_metrics.ExplainedPictures) -> None:
    table = wu_metrics.metrics_of(batch, MAIN)
    assert len(table) == 3 * (len(wu_metrics.METHODS) + 2) and not table.duplicated(KEY).any()
    assert set(wu_metrics.METRICS) <= set(table.columns)
    by_map = dict(list(table.groupby(["method", "draw"])))
    for key, scores in batch.explanations(MAIN).items():
        alone = saco_scores(batch.perturber(MAIN), scores, labels=batch.labels, **MAIN.grouping)
        of_map = by_map[key]
        for name in wu_metrics.METRICS:
            assert of_map[name].to_numpy() == pytest.approx(alone[name].double().numpy(), nan_ok=True)


def test_steps_that_are_shown_give_the_saco_of_the_table(batch: wu_metrics.ExplainedPictures) -> None:
    steps = wu_metrics.steps_shown(batch, MAIN, 2)
    table = wu_metrics.metrics_of(batch, MAIN).query("draw == 0").set_index(["input", "method"])["saco"]
    by_map = steps.groupby(["input", "method"])
    assert len(by_map) == 2 * (len(wu_metrics.METHODS) + 1)
    for key, groups in by_map:
        by_hand = saco_of(groups["salience"].to_numpy(float), groups["alone"].to_numpy(float))
        assert table[key] == pytest.approx(by_hand, abs=1e-5)


def test_ranks_make_the_same_groups_and_another_saco(batch: wu_metrics.ExplainedPictures) -> None:
    own, ranked = (wu_metrics.metrics_of(batch, replace(MAIN, scores=kind)) for kind in ("own", "ranks"))
    for name in ("auc", "aopc_morf", "aopc_lerf", "log_odds"):
        assert ranked[name].to_numpy() == pytest.approx(own[name].to_numpy())
    assert not np.allclose(own["saco"], ranked["saco"])


def test_ranks_fall_with_scores_and_equal_ones_with_the_order_of_reading() -> None:
    scores = torch.tensor([[0.1, 0.5, 0.1, -2.0], [1.0, 1.0, 1.0, 1.0]])
    assert wu_metrics.ranks(scores).tolist() == [[3, 4, 2, 1], [4, 3, 2, 1]]
    many = torch.randn(3, 784, generator=torch.Generator().manual_seed(0)).round(decimals=1)  # with many ties
    assert torch.equal(salience_groups(many, 10), salience_groups(wu_metrics.ranks(many), 10))


def test_a_setting_changes_one_thing_of_the_main_one(batch: wu_metrics.ExplainedPictures) -> None:
    changes = {"main": {}, "nearest": {"upsample": "nearest"}, "patches": {"unit": "patch"}, "blur": {"erase": "blur"}}
    table = wu_metrics.metrics_by_setting(batch, MAIN, changes)
    main = table.query("setting == 'main'").reset_index(drop=True)
    assert main.drop(columns="setting").equals(wu_metrics.metrics_of(batch, MAIN))
    nearest = table.query("setting == 'nearest'").reset_index(drop=True)
    unchanged = main["method"].isin([*wu_metrics.SCORES_PIXELS, "random"])
    assert main["saco"][unchanged].equals(nearest["saco"][unchanged])
    assert not np.allclose(main["saco"][~unchanged], nearest["saco"][~unchanged], equal_nan=True)
    assert batch.explanations(replace(MAIN, unit="patch"))["rollout", 0].shape == (3, 9)
    assert batch.explanations(MAIN)["rollout", 0].shape == (3, 144)


def test_numbers_of_groups_differ_from_the_main_setting_in_nothing_else(batch: wu_metrics.ExplainedPictures) -> None:
    by_groups = wu_metrics.saco_by_groups(batch, MAIN, [3, 5])
    as_main = by_groups.query("k == 5").merge(wu_metrics.metrics_of(batch, MAIN), on=KEY, validate="1:1")
    assert as_main["saco_x"].to_numpy() == pytest.approx(as_main["saco_y"].to_numpy(), nan_ok=True)
    of_three = by_groups.query("k == 3").merge(wu_metrics.metrics_of(batch, replace(MAIN, k=3)), on=KEY, validate="1:1")
    assert of_three["saco_x"].to_numpy() == pytest.approx(of_three["saco_y"].to_numpy(), nan_ok=True)


def test_pixels_are_those_of_the_image_and_maps_have_equal_groups(batch: wu_metrics.ExplainedPictures) -> None:
    pixels = wu_metrics.pixels_shown(batch, MAIN, 2)
    channels = pixels.query("input == 'b'")[["channel0", "channel1", "channel2"]].to_numpy()
    assert channels * 255 == pytest.approx(batch.pictures.images[1].reshape(-1, 3).astype(float), abs=1e-3)
    assert set(pixels["label"]) == {"one", "two"} and set(pixels["side"]) == {12}
    maps = wu_metrics.maps_shown(batch, MAIN, 2)
    sizes = maps.groupby(["input", "method", "group"]).size()
    assert sizes.between(28, 29).all() and len(sizes) == 2 * (len(wu_metrics.METHODS) + 1) * 5


@given(st.integers(0, 60), st.integers(1, 9), st.lists(st.integers(0, 80), max_size=3))
def test_batches_hold_every_image_once_and_cross_no_limit(images: int, size: int, special: list[int]) -> None:
    places = wu_metrics.batches(images, size, special=special)
    assert [i for batch in places for i in range(batch.start, batch.stop)] == list(range(images))
    for batch in places:
        assert 0 < batch.stop - batch.start <= size
        assert not any(batch.start < limit < batch.stop for limit in special)
