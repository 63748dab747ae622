"""What the figures of papers show, drawn from values known by hand."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.crosslingual import zaman_belinkov_figures
from faithbook.studies.naopc import edin_figures
from faithbook.studies.saco import wu_figures
from faithbook.studies.saco.wu import METHODS, SIGN
from faithbook.studies.saco.wu_figures import Picture
from faithbook.studies.together import evalxnlp, evalxnlp_figures
from faithbook.studies.together.games import figures as games_figures
from faithbook.studies.together.games import show as games

THREE = ("random", "transformer_attribution", "raw_attention")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture
def picture() -> Picture:
    """Four pixels in disorder, of which raw attention likes the first most; another picture that is not shown."""
    about = {"label": "shoe", "predicted": "bag", "p_full": 0.9, "side": 2, "model": "base"}
    pixels = pd.DataFrame({"dataset": "fashion", "input": "a", "pixel": [2, 0, 1, 3], "channel0": [0.5, 0.0, 1.0, 0.2]})
    pixels = pd.concat([pixels.assign(**about), pixels.assign(input="b", channel0=0.7, **about)])
    maps, steps, ten = [], [], np.arange(10, 0, -1)
    for shift, method in enumerate(THREE):
        scores = np.roll([0.4, -0.1 if method == "random" else 0.3, 0.2, 0.1], shift)
        labels = {"dataset": "fashion", "input": "a", "method": method}
        maps.append(pd.DataFrame({"pixel": range(4), "score": scores, "group": range(4), **labels}))
        drops = {"salience": 0.5 / ten, "alone": 0.05 / ten, "together": 0.8 - 0.5 / ten}
        steps.append(pd.DataFrame({"group": ten, **drops, **labels}))
    return Picture.first("fashion", pixels, pd.concat(maps), pd.concat(steps))


def test_a_picture_has_its_own_pixels_and_maps_in_order_signed_ones_around_white(picture: Picture) -> None:
    assert picture.pixels.tolist() == [[0.0], [1.0], [0.5], [0.2]]
    assert picture.steps["random"].group.tolist() == list(range(1, 11))
    fig, _ = wu_figures.maps(picture)
    shown = {ax.get_title(): ax.images[0] for ax in fig.axes if ax.images}
    assert list(shown) == ["the image: shoe", "Transformer Attribution", "Raw Attention", "random"]
    assert shown["the image: shoe"].get_array().tolist() == [[0.0, 1.0], [0.5, 0.2]]
    assert [shown[name].get_cmap().name for name in ("random", "Raw Attention")] == ["RdBu_r", "viridis"]
    assert shown["random"].norm.vmin == -shown["random"].norm.vmax


def test_groups_are_erased_so_far_and_alone(picture: Picture) -> None:
    fig, alt = wu_figures.two_manners(picture)
    titles = [ax.get_title() for ax in fig.axes]
    assert titles[:3] == ["whole: 0.90", "1 to 1: 0.60", "1 to 2: 0.35"] and "only 2: 0.88" in titles
    cumulative, alone = (
        next(ax for ax in fig.axes if ax.get_title().startswith(word)) for word in ("1 to 2", "only 2")
    )
    mean = 0.425
    assert cumulative.images[0].get_array().ravel().tolist() == pytest.approx([mean, mean, 0.5, 0.2])
    assert alone.images[0].get_array().ravel().tolist() == pytest.approx([0.0, mean, 0.5, 0.2])
    assert "group 2 0.35 and 0.88" in alt


def test_the_case_study_tells_the_smallest_loss_from_the_third_group_on(picture: Picture) -> None:
    fig, alt = wu_figures.case_study_figure(picture)
    assert len(fig.axes) == 6
    assert "Raw Attention: smallest loss from the third group on 0.63" in alt  # .8 - .5 / 3
    below = fig.axes[4]
    heights = [bar.get_height() for bar in below.patches]
    assert heights[0] == 1 and heights[1] == pytest.approx(0.5)


def test_the_radar_puts_the_worst_method_at_a_tenth_and_the_best_at_one() -> None:
    rows = [
        {"dataset": "fashion", "metric": metric, "method": method, "estimate": SIGN[metric] * place}
        for metric in SIGN
        for place, method in enumerate([*METHODS, "random"])
    ]
    fig, alt = wu_figures.radar(pd.DataFrame(rows), ["fashion"])
    assert [ax.get_title() for ax in fig.axes] == [
        f"fashion (for CIFAR-10): {family}-based" for family in ("gradient", "attribution", "attention")
    ]
    lines = {line.get_label(): line for line in fig.axes[0].lines}
    assert set(lines) == {"IG", "Grad-CAM", "random"}
    assert lines["random"].get_ydata() == pytest.approx([1.0] * 6)  # the best everywhere, closed
    assert lines["IG"].get_ydata() == pytest.approx([0.1] * 6)
    assert lines["random"].get_color() == wu_figures.RED and "SaCo 1.00" in alt


def paired(values: dict[str, float]) -> dict[str, Comparison]:
    frame = pd.DataFrame([{"id": i, "name": name, "value": x} for name, x in values.items() for i in range(8)])
    cells = Conditions.of(frame, over=["name"], unit="id", n_resamples=99)
    return {name: Comparison(cells.mean(name=name), published=0.1 * x) for name, x in values.items()}


# ---------------------------------------------------------------------------------------------------- Zaman & Belinkov
def test_languages_stand_in_the_order_in_which_they_are_read() -> None:
    read, rhos = paired({"bg": 0.7, "de": 0.8, "th": 0.4}), paired({"bg": 0.5, "de": 0.6})
    printed = pd.DataFrame({"accuracy": [0.9], "rho": [0.55]}, index=["fr"])
    fig, alt = zaman_belinkov_figures.accuracy_and_rho_figure(read, rhos, printed)
    names = [text.get_text() for text in fig.axes[0].get_yticklabels()]
    assert names == ["de", "bg", "fr"]  # of Thai there is no rho
    assert "mean rho. ours: de 0.60" in alt and "published: fr 0.55" in alt


def test_floors_stand_upright_and_those_without_rho_are_none() -> None:
    looking = [("lime", "none"), ("saliency", "l2")]
    blind = [("uniform", "none"), ("activation", "l2"), ("random", "none")]
    values = dict(zip([*looking, *blind], (0.4, 0.6, 0.3, np.nan, 0.0), strict=True))
    rows = [{"method": m, "aggregation": how, "estimate": x, "low": x, "high": x} for (m, how), x in values.items()]
    frame = pd.concat([pd.DataFrame(rows).assign(output=output) for output in ("loss", "top_prediction")])
    fig, alt = zaman_belinkov_figures.above_floors({"main": frame}, looking, blind, {"main": "as published"})
    assert [line.get_xdata()[0] for line in fig.axes[0].lines[:2]] == [0.3, 0.0]
    assert "best method saliency (L2) 0.60, baselines uniform 0.30, random 0.00." in alt


# ------------------------------------------------------------------------------------------------- Edin et al.'s models
def test_ranges_go_from_the_lower_to_the_upper_bound_by_data_set() -> None:
    rows = [
        {"dataset": dataset, "length": length, "classifier": model, "bound": bound, "estimate": value}
        for dataset, models in {"movie": ["l6", "lstm"], "sst2": ["bert"]}.items()
        for length in ("short", "long")
        for model in models
        for bound, value in (("lower", -0.2), ("upper", 0.6), ("range", 0.8))
    ]
    fig, _ = edin_figures.ranges(pd.DataFrame(rows))
    assert [len(ax.collections[0].get_segments()) for ax in fig.axes] == [2, 1]
    assert fig.axes[0].collections[0].get_segments()[0][:, 0].tolist() == [-0.2, 0.6]


# ------------------------------------------------------------------------------------------------- metrics and games
def test_a_lorenz_curve_has_the_shares_added_up_and_names_its_sparseness() -> None:
    shares = {"the example": np.array([0.1, 0.2, 0.7]), "all the same": np.full(3, 1 / 3), "one": np.eye(3)[-1]}
    fig, alt = evalxnlp_figures.lorenz(shares, {name: evalxnlp.sparseness(part) for name, part in shares.items()})
    curves = [line.get_ydata() for line in fig.axes[0].lines]
    assert curves[0] == pytest.approx([0, 0.1, 0.3, 1]) and curves[2] == pytest.approx([0, 0, 0, 1])
    assert "all the same 0.000, one 0.667" in alt


def test_an_order_of_erasing_is_drawn_through_the_answers_of_its_sets() -> None:
    item = {"p": [100, 60, 50, 0], "n": 2, "says": "positive", "text": "“good film”", "lower": 0.7, "upper": 0.75}
    item |= {"best": [1, 0], "worst": [0, 1], "orders": {"LIME": {"order": [0, 1], "aopc": 0.7}}}
    fig, alt = games_figures.erased(item, 100, "word")
    assert [line.get_ydata().tolist() for line in fig.axes[0].lines] == [[1, 0.6, 0], [1, 0.5, 0], [1, 0.6, 0]]
    assert "best of all orders (AOPC 0.75), in the worst (0.70)" in alt and "LIME 0.70" in alt


def test_a_pair_of_groups_violates_where_the_more_salient_costs_less() -> None:
    data = {"side": 2, "grey": [0, 1, 2, 3], "group": [0, 0, 1, 2], "drop": [0.2, 0.3, 0.1], "method": "LIME"}
    assert (games.violating(data), games.pairs_of(data), games.letters_of(data)) == (["A above B"], 3, ["A", "B", "C"])
    fig, alt = games_figures.saco_game_figure(data, says="shoe", coefficient=0.5)
    assert {text.get_text(): text.get_position() for text in fig.axes[0].texts} == {
        "A": (0, 0),
        "B": (0, 1),
        "C": (1, 1),
    }
    assert "A 0.20; B 0.30; C 0.10" in alt
