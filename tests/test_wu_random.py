"""Explanations against random scores (`saco_random`) and two kinds of images (`saco_stand_ins`), of the committed
values."""

from __future__ import annotations

import committed
import numpy as np
import pandas as pd
import pytest

from faithbook.judge import published
from faithbook.judge.scores import Scores
from faithbook.stats.comparison import Comparison
from faithbook.studies.saco import wu, wu_images, wu_random
from faithbook.studies.saco.wu import METHODS, SIGN


@pytest.fixture(scope="module")
def measured() -> Scores:
    """Wins, ties and gaps of CIFAR images against random scores."""
    over = ["quantity", "metric", "method"]
    return committed.scores("saco_metrics", paper="wu_2024", over=over, prepare=wu_random.with_random, firmest=True)


def test_saco_itself_counts_once_per_image() -> None:
    about = {"dataset": "d", "model": "m", "id": "a", "cluster": "a", "metric": "saco"}
    units = [about | {"method": "lrp", "draw": 0, "value": 0.5}]
    units += [about | {"method": "random", "draw": draw, "value": value} for draw, value in enumerate((0.1, 0.7))]
    found = wu_random.with_random(pd.DataFrame(units)).set_index("quantity").value
    assert found["win"].tolist() == [1.0, 0.0]
    assert found["gap"].tolist() == pytest.approx([0.4, -0.2]) and found["square"].tolist() == pytest.approx(
        [0.16, 0.04]
    )
    assert found["value"].dropna().tolist() == [0.5] and found["value_square"].dropna().tolist() == [0.25]


def test_wins_are_counted_by_metric_and_method(measured: Scores) -> None:
    at, methods = measured.quantity("quantity", "metric", "method"), measured.levels("method")
    wins = wu_random.wins_by_method(at, methods)
    assert len(wins) == len(SIGN) * len(methods) == 55
    counts = wu_random.ahead_and_behind(wins)
    of_saco = wins[wins.metric == "saco"]
    assert f"SaCo {(of_saco['gap low'] > 0).sum()} above and {(of_saco['gap high'] < 0).sum()} below" in counts
    text = wu_random.in_short(at, methods)
    assert f"SaCo {at('win', 'saco', METHODS).ours.point:.2f} [" in text and "median of 11" in text


def test_so_many_images_are_needed_as_the_effect_says(measured: Scores) -> None:
    at = measured.quantity("quantity", "metric", "method")
    images = wu_random.needed_by_method(at, ["rollout"]).set_index(["metric", "against"])
    assert len(images) == len(SIGN) + 1
    effect = images.effect["saco", "zero"]
    assert images.estimate["saco", "zero"] == pytest.approx(((1.96 + 0.8416) / effect) ** 2, rel=0.1)
    assert np.isnan(images["sign test"]["saco", "zero"]) and images["sign test"]["saco", "a random map"] > 0
    wide = wu_random.needed_in_words(images.reset_index())
    assert list(wide.columns)[-1] == "SaCo against zero" and not wide.stack().astype(str).str.contains("inf").any()


def test_the_noise_of_random_saco_is_that_of_theory() -> None:
    noise = committed.scores(
        "saco_metrics",
        paper="wu_2024",
        parts=["", "groups"],
        over=["k", "power"],
        prepare=wu_random.moments,
        firmest=True,
    )
    spreads = wu_random.spreads(noise.quantity("power", "k"), noise.levels("k")).set_index("groups")
    assert spreads.theory.to_dict() == pytest.approx({5: 0.5, 10: 1 / 3, 20: 19**-0.5})
    assert (spreads.ours / spreads.theory).tolist() == pytest.approx([1, 1, 1], abs=0.1)


def test_methods_that_are_noise_are_those_that_clearly_move() -> None:
    rows = [("lrp", 0.5, 0.4, 9), ("rollout", 0.3, 0.1, 9)]
    nudged = pd.DataFrame(rows, columns=["method", "moved", "moved low", "n"])
    text = wu_random.noisy_methods(nudged, {"lrp": 0.02})
    assert text == "LRP (0.50, n = 9; the paper prints a mean SaCo of 0.02)"
    assert wu_random.noisy_methods(nudged[1:], {}) == "none"


# ------------------------------------------------------------------------------------------------ two kinds of images
@pytest.fixture(scope="module")
def kinds() -> wu_images.Kinds:
    over = ["dataset", "model", "method", "k"]
    return wu_images.Kinds.of(
        committed.scores("saco_metrics", paper="wu_2024", parts=["", "groups"], over=over, prepare=wu.by_groups)
    )


@pytest.fixture(scope="module")
def printed() -> dict[str, float]:
    return wu_images.printed_by_method(published.table("saco_table2").astype({"k": int}))


def test_substitutes_are_the_small_images(kinds: wu_images.Kinds) -> None:
    assert set(kinds.datasets[wu_images.PHOTOGRAPHS]) == {"cifar10", "cifar100"}
    assert set(kinds.datasets[wu_images.SMALL]) == {"fashion", "mnist", "animals"} and kinds.missing == []
    of_small = wu_images.Kinds(kinds.measured, {wu_images.SMALL: ["fashion"]})
    assert of_small.missing == [wu_images.PHOTOGRAPHS] and "one column only" in of_small.in_words()


def test_both_kinds_are_next_to_the_printed_values(kinds: wu_images.Kinds, printed: dict[str, float]) -> None:
    both = wu_images.beside_printed(kinds, printed).set_index("method")
    assert np.isnan(both.published["random"]) and both.published["rollout"] == pytest.approx(0.25, abs=0.01)
    gap = both[wu_images.PHOTOGRAPHS] - both[wu_images.SMALL]
    assert both.difference.tolist() == pytest.approx(gap.tolist())
    tau = wu_images.taus_by_kind(kinds, printed)
    for kind, value in tau.items():
        assert f"{value.point:.2f} [" in wu_images.in_short(kinds, printed).partition(f" on {kind}")[0]
        assert f"{kind} {value.point:.2f}" in wu_images.taus_by_kind_in_words(kinds, printed)


def test_every_model_has_its_own_mean(kinds: wu_images.Kinds) -> None:
    by_model = wu_images.saco_by_model(kinds)
    own = by_model[by_model.images == wu_images.PHOTOGRAPHS]
    assert set(own.model) == {"head", "lora", "lora-deit"}
    mean = kinds.saco[wu_images.PHOTOGRAPHS]("rollout").ours.point
    assert own["Rollout"].mean() == pytest.approx(mean, abs=0.02)


def test_claims_are_of_each_kind_and_differences_are_named() -> None:
    rows = [
        ("a", "photographs", "holds"),
        ("a", "small", "fails"),
        ("b", "photographs", "holds"),
        ("b", "small", "holds"),
    ]
    judged = pd.DataFrame(rows, columns=["claim", "images", "decision"])
    assert wu_images.differing(judged) == (2, ["a"])
    assert wu_images.differing_in_words(judged).endswith("for 1 of 2 claims. They differ in: a.")


def test_a_change_by_family_is_the_mean_over_its_members(kinds: wu_images.Kinds) -> None:
    tried = committed.scores(
        "saco_metrics",
        paper="wu_2024",
        parts=["settings"],
        over=["dataset", "setting", "method"],
        prepare=wu_images.of_changed_settings,
    )
    found = wu_images.changes_by_family(kinds, tried)
    assert set(found.family) == {"gradient-based", "attribution-based", "attention-based"}
    assert set(found.change) == set(wu_images.CHANGED.values())
    value = tried.quantity("setting", "method", dataset=["cifar10"])
    changes: list[Comparison] = [value("zero", name) - value("main", name) for name in wu.FAMILIES["gradient"]]
    row = found[(found.images == "photographs") & (found.family == "gradient-based")].iloc[0]
    assert row.estimate == pytest.approx(sum(change.ours.point for change in changes) / len(changes))


def test_the_published_means_are_those_of_ten_groups() -> None:
    assert wu_random.printed_with_ten_groups()["rollout"] == pytest.approx(0.25, abs=0.01)
    assert set(wu_random.printed_with_ten_groups()) == set(METHODS)
