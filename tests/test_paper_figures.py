"""What the figures of papers show, drawn from values known by hand."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from faithbook.papers import edin_figures, wu_figures, zaman_belinkov_figures, zhao_aletras_figures
from faithbook.papers.wu import KS, METHODS, SIGN
from faithbook.papers.wu_figures import Picture
from faithbook.papers.zaman_belinkov import THIRTEEN
from faithbook.results.cells import Cells
from faithbook.results.figures import OURS, PALETTE
from faithbook.results.paired import Paired

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
        one = {"dataset": "fashion", "input": "a", "method": method}
        maps.append(pd.DataFrame({"pixel": range(4), "score": scores, "group": range(4), **one}))
        drops = {"salience": 0.5 / ten, "alone": 0.05 / ten, "together": 0.8 - 0.5 / ten}
        steps.append(pd.DataFrame({"group": ten, **drops, **one}))
    return Picture.first("fashion", pixels, pd.concat(maps), pd.concat(steps))


def test_a_picture_has_its_own_pixels_and_maps_in_order(picture: Picture) -> None:
    assert picture.pixels.tolist() == [[0.0], [1.0], [0.5], [0.2]]
    assert picture.methods == ["transformer_attribution", "raw_attention", "random"]
    assert picture.steps["random"].group.tolist() == list(range(1, 11))
    assert picture.told == "a picture of fashion (for CIFAR-10), label shoe, taken for bag"
    assert picture.square(np.arange(4)).tolist() == [[0, 1], [2, 3]]
    assert picture.square(picture.pixels).shape == (2, 2, 1)


def test_maps_stand_beside_the_picture_signed_ones_around_white(picture: Picture) -> None:
    fig, alt = wu_figures.maps(picture)
    shown = {ax.get_title(): ax.images[0] for ax in fig.axes if ax.images}
    assert list(shown) == ["the picture: shoe", "Transformer Attribution", "Raw Attention", "random"]
    assert shown["the picture: shoe"].get_array().tolist() == [[0.0, 1.0], [0.5, 0.2]]
    assert [shown[name].get_cmap().name for name in ("random", "Raw Attention")] == ["RdBu_r", "viridis"]
    assert shown["random"].norm.vmin == -shown["random"].norm.vmax
    assert "3 explanations" in alt and "1 of them have scores below zero" in alt


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


def test_bars_of_agreement_have_the_published_band_and_line() -> None:
    bars = pd.DataFrame(
        {"bar": ["SaCo and AUC", "SaCo and LOdds", "mean among the four"], "estimate": [0.1, -0.2, 0.5]}
    )
    fig, alt = wu_figures.agreements(bars.assign(low=bars.estimate - 0.1, high=bars.estimate + 0.1), (0.18, 0.22), 0.48)
    (ax,) = fig.axes
    assert [bar.get_height() for bar in ax.patches] == [0.1, -0.2, 0.5]
    assert [to_hex(bar.get_facecolor()).upper() for bar in ax.patches] == [OURS, OURS, PALETTE[5]]
    assert "SaCo and LOdds -0.20" in alt and "0.18 to 0.22" in alt and "at 0.48" in alt


def test_the_case_study_tells_the_smallest_loss_from_the_third_group_on(picture: Picture) -> None:
    fig, alt = wu_figures.case_study(picture)
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
    ax = fig.axes[0]
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["random"].get_ydata() == pytest.approx([1.0] * 6)  # the best everywhere, closed
    assert lines["IG (integrated gradients)"].get_ydata() == pytest.approx([0.1] * 6)
    assert lines["random"].get_color() == wu_figures.RED and "SaCo 1.00" in alt


def paired(values: dict[str, float]) -> dict[str, Paired]:
    frame = pd.DataFrame([{"id": i, "name": name, "value": x} for name, x in values.items() for i in range(8)])
    cells = Cells.of(frame, over=["name"], unit="id", n_resamples=99)
    return {name: Paired(cells.mean(name=name), published=0.1 * x) for name, x in values.items()}


def test_saco_by_groups_tells_the_change_from_few_to_many() -> None:
    found = paired({str(k): 0.02 * k for k in KS})
    fig, alt = wu_figures.by_groups({method: list(found.values()) for method in METHODS})
    assert len(fig.axes) == 10
    published, ours = fig.axes[0].lines[1:3]
    assert published.get_ydata() == pytest.approx([0.01, 0.02, 0.04])
    assert ours.get_ydata() == pytest.approx([0.1, 0.2, 0.4])
    assert alt.startswith("Line plot of SaCo against groups") and "Rollout. published: 5 0.01, 20 0.04; ours: " in alt


def test_settings_show_the_level_with_single_methods_and_the_order() -> None:
    names = {"blur": "a blurred copy", "zero": "a colour"}
    alone = pd.DataFrame({"setting": ["blur", "blur", "zero"], "estimate": [0.1, 0.3, -0.1]})
    ends = {"low": -0.2, "high": 0.4, "tau": [0.9, 0.2], "tau low": 0.0, "tau high": 1.0}
    fig, alt = wu_figures.effects(pd.DataFrame({"setting": list(names), "estimate": [0.2, -0.1], **ends}), alone, names)
    left, right = fig.axes
    level, ticks = left.lines[1:]
    assert list(level.get_xdata()) == [0.2, -0.1] and list(ticks.get_xdata()) == [0.1, 0.3, -0.1]
    assert list(right.lines[1].get_xdata()) == [0.9, 0.2]
    assert [text.get_text() for text in left.get_yticklabels()] == list(names.values())
    assert "a blurred copy 0.20 (-0.20 to 0.40), a colour -0.10 (-0.20 to 0.40)" in alt
    assert alt.endswith("tau: a blurred copy 0.90 (0.00 to 1.00), a colour 0.20 (0.00 to 1.00).")


# ---------------------------------------------------------------------------------------------------- Zaman & Belinkov
def test_languages_stand_where_they_are_read_and_explained() -> None:
    read, rhos = paired({"bg": 0.7, "de": 0.8, "th": 0.4}), paired({"bg": 0.5, "de": 0.6})
    printed = pd.DataFrame({"accuracy": [0.9], "rho": [0.55]}, index=["fr"])
    fig, alt = zaman_belinkov_figures.read_and_explained(read, rhos, printed)
    assert [text.get_text() for text in fig.axes[0].texts] == ["bg", "de", "fr"]  # of Thai there is no rho
    assert alt.endswith("bg 0.70 and 0.50; de 0.80 and 0.60.")


def test_rows_by_output_stand_in_the_order_given_with_floors_below():
    rows, floors = [("saliency", "l2"), ("lime", "none")], [("uniform", "none")]
    values = iter((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    frame = pd.DataFrame(
        [
            {"method": m, "aggregation": a, "output": output, "estimate": (value := next(values))}
            | {"low": value - 0.05, "high": value + 0.05, "printed": float("nan") if m == "uniform" else value + 0.3}
            for output in ("loss", "top_prediction")
            for m, a in [*floors, *rows[::-1]]
        ]
    )
    outputs = {"top_prediction": "TP", "loss": "loss"}
    fig, told = zaman_belinkov_figures.rows_by_output(
        frame, rows, floors, outputs, x_label="rho", published="printed", mark=0.25
    )
    left, right = fig.axes
    assert [ax.get_title() for ax in fig.axes] == ["output: TP", "output: loss"]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["saliency (L2)", "LIME", "floor: uniform"]
    mark, ours, printed = right.get_lines()
    assert list(ours.get_xdata()) == [0.3, 0.2, 0.1] and printed.get_xdata() == pytest.approx([0.6, 0.5])
    assert ours.get_ydata() == pytest.approx([0.175, -0.825, -1.825])
    assert list(mark.get_xdata()) == [0.25, 0.25]
    assert told.startswith("Dot plot of rho with 95 % intervals. output: TP. ours: saliency (L2) 0.60 (0.55 to 0.65)")
    assert "printed: saliency (L2) 0.90, LIME 0.80" in told


def test_kinds_of_links_stand_beside_one_another() -> None:
    rows = len(THIRTEEN) + 1
    one = {"estimate": 0.5, "low": 0.4, "high": 0.6}
    frame = pd.DataFrame([{"links": links, **one} for links in ("aligner", "random links") for _ in range(rows)])
    fig, alt = zaman_belinkov_figures.by_links(frame, {"aligner": 0.5, "random links": float("nan")})
    first, second = fig.axes[0].lines[1:]
    assert len(first.get_ydata()) == rows and first.get_ydata()[0] - second.get_ydata()[0] == pytest.approx(0.35)
    assert alt.endswith("aligner 0.50; random links –.")


def test_floors_stand_upright_and_those_without_rho_are_none() -> None:
    looking, blind = (
        [("lime", "none"), ("saliency", "l2")],
        [("uniform", "none"), ("activation", "l2"), ("random", "none")],
    )
    values = dict(zip([*looking, *blind], (0.4, 0.6, 0.3, np.nan, 0.0), strict=True))
    rows = [{"method": m, "aggregation": how, "estimate": x, "low": x, "high": x} for (m, how), x in values.items()]
    frame = pd.concat([pd.DataFrame(rows).assign(output=output) for output in ("loss", "top_prediction")])
    fig, alt = zaman_belinkov_figures.above_floors({"main": frame}, looking, blind, {"main": "as published"})
    assert [line.get_xdata()[0] for line in fig.axes[0].lines[:2]] == [0.3, 0.0]
    assert "as published: best method saliency (L2) 0.60, floors uniform 0.30, random 0.00." in alt


def test_changes_keep_their_colour_where_another_point_is_empty() -> None:
    effects = pd.DataFrame({"point": ["b", "b"], "row": ["x", "y"], "estimate": [0.1, -0.2], "low": -0.3, "high": 0.3})
    fig, alt = zaman_belinkov_figures.changes(effects, ["a", "b"])
    second = next(line for line in fig.axes[0].lines if line.get_label() == "b")
    assert second.get_color() == PALETTE[1] and list(second.get_xdata()) == [0.1, -0.2]
    assert alt.endswith("b: x 0.10 (-0.30 to 0.30), y -0.20 (-0.30 to 0.30).")


def test_pairs_told_apart_end_with_all_texts() -> None:
    counted = pd.DataFrame({"metric": ["rho"] * 2, "texts": [10, 20], "estimate": [0.2, 0.5], "low": 0.1, "high": 0.6})
    fig, alt = zaman_belinkov_figures.told_apart(counted, 11)
    assert [line.get_xdata()[0] for line in fig.axes[0].lines if line.get_linestyle() == "--"] == [11]
    assert alt.endswith("rho: 10 0.20 (0.10 to 0.60), 20 0.50 (0.10 to 0.60).")


# ----------------------------------------------------------------------------------------------------- Zhao & Aletras
def test_amounts_and_ranks_stand_side_by_side_with_their_average() -> None:
    sides = {"min-max": 0.4, "min-max low": 0.3, "min-max high": 0.5, "ranks": 0.7, "ranks low": 0.6, "ranks high": 0.8}
    rows = [{"metric": m, "method": of, **sides} for m in ("soft_ns", "soft_nc") for of in ("deeplift", "average")]
    fig, alt = zhao_aletras_figures.with_and_without_amounts(pd.DataFrame(rows), ("soft_ns", "soft_nc"), ["deeplift"])
    assert [text.get_text() for text in fig.axes[0].get_yticklabels()] == ["DeepLIFT", "average"]
    assert [list(line.get_xdata()) for line in fig.axes[0].lines[1:]] == [[0.4, 0.4], [0.7, 0.7]]
    assert "ranks: DeepLIFT 0.70 (0.60 to 0.80), average 0.70 (0.60 to 0.80)" in alt


def test_effects_of_variants_name_the_three_largest() -> None:
    change = {"clip": 0.1, "pad": -0.4, "rank": 0.3, "draws": 0.0}
    ends = {"score": 0.2, "score low": 0.1, "score high": 0.3, "low": -0.5, "high": 0.5}
    rows = [{"variant": v, "choice": f"{v} it", "metric": "ns", "change": x, **ends} for v, x in change.items()]
    fig, alt = zhao_aletras_figures.effects(pd.DataFrame(rows), ("ns",), {v: f"{v} it" for v in change})
    left, right = fig.axes
    assert list(left.lines[1].get_xdata()) == [0.2] * 4 and list(right.lines[1].get_xdata()) == list(change.values())
    assert "pad it -0.40 (-0.50 to 0.50)" in alt


# ------------------------------------------------------------------------------------------------- Edin et al.'s models
TOGETHER = [(["l6", "lstm"], ["movie", "bbc"]), (["bert"], ["sst2"])]


def test_ranges_go_from_the_lower_bound_by_data_set() -> None:
    rows = [
        {
            "dataset": dataset,
            "length": length,
            "classifier": model,
            "bound": bound,
            "estimate": value + (length == "long"),
        }
        for own, sets in TOGETHER
        for dataset in sets
        for length in ("short", "long")
        for model in own
        for bound, value in (("lower", -0.2), ("upper", 0.6), ("range", 0.8))
    ]
    fig, _ = edin_figures.ranges(pd.DataFrame(rows), TOGETHER)
    assert [len(ax.patches) for ax in fig.axes] == [4, 4, 2]
    first = fig.axes[0].patches[0]
    assert (first.get_y(), first.get_height()) == (-0.2, 0.8)
    assert [text.get_text() for text in fig.axes[0].get_xticklabels()] == ["l6", "lstm"]


def test_accuracy_under_attack_is_told_at_the_smallest_radius_above_none() -> None:
    rows = [
        {"dataset": dataset, "classifier": model, "radius": radius, "estimate": 0.9 - radius, "low": 0.0, "high": 1.0}
        for own, sets in TOGETHER
        for dataset in sets
        for model in own
        for radius in (0.0, 0.1, 0.4)
    ]
    fig, alt = edin_figures.attacked(pd.DataFrame(rows), TOGETHER)
    assert [len(ax.lines) for ax in fig.axes] == [2, 2, 1]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["l6", "lstm", "bert"]
    assert "bert: 0 0.90 (0.00 to 1.00), 0.1 0.80 (0.00 to 1.00)" in alt


def test_scores_stand_by_method_beside_those_of_the_other_models() -> None:
    rows = [
        {"score": score, "classifier": model, "method": method, "estimate": 0.5, "low": 0.4, "high": 0.6}
        for own, _ in TOGETHER
        for score in ("aopc", "naopc")
        for model in own
        for method in (["lime", "random"] if model == "lstm" else ["attention", "lime", "random"])
    ]
    fig, _ = edin_figures.scores(pd.DataFrame(rows), TOGETHER)
    left = fig.axes[0]
    assert [text.get_text() for text in left.get_yticklabels()] == ["α (attention)", "LIME", "random"]
    six, lstm = (line.get_ydata() for line in left.lines)
    assert len(six) == 3 and len(lstm) == 2 and six[1] - lstm[0] == pytest.approx(0.35)
    titles = ["AOPC, MoRF: movie (for SST), bbc (for AG)", "AOPC, MoRF: sst2"]
    assert [ax.get_title() for ax in (left, fig.axes[2])] == titles
