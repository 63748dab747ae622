"""What `soft_figures` and `soft_examples` show, of the committed values and of small tables by hand."""

from __future__ import annotations

import committed
import pandas as pd
import pytest

from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.scores import Scores
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft import zhao_aletras_examples as examples
from faithbook.studies.soft import zhao_aletras_figures as figures
from faithbook.studies.soft.zhao_aletras_diagnosticity import HARD, METHODS, METRICS, PAIRS, SCORE, WIN, at_length
from faithbook.studies.soft.zhao_aletras_tables import Compared

RATIOS = settings_of("soft_metrics", "full")["ratios"]


@pytest.fixture(scope="module")
def compared() -> Compared:
    """Wins, ties and scores at each length, as the page compares them."""
    table3 = published.table("soft_table3").query("dataset != 'average'")
    over = ["shows", "model", "dataset", "method", "metric"]
    measured = committed.scores(
        "soft_metrics",
        paper="zhao_aletras_2023",
        over=over,
        parts=["", "lengths"],
        prepare=diagnosticity.counted_with_scores,
        printed=table3.assign(shows=WIN),
        bounds=(0, 1),
    )
    return Compared.of(measured, order=table3["dataset"])


def test_the_best_length_is_that_of_the_highest_share(compared: Compared) -> None:
    text = figures.in_short(compared, RATIOS)
    by_ratio = {ratio: compared.power(at_length("ns", ratio)).ours.point for ratio in RATIOS}
    best = max(RATIOS, key=lambda ratio: by_ratio[ratio])
    assert f"of {100 * best:.0f} % under sufficiency (NS)" in text
    assert f"NS {by_ratio[RATIOS[0]]:.2f} [" in text and f" to {by_ratio[RATIOS[-1]]:.2f} [" in text


def test_every_panel_has_each_method_and_random_scores(compared: Compared) -> None:
    scores = figures.scores_by_length(compared, RATIOS)
    assert len(scores) == 2 * 2 * (len(METHODS) + 1) * len(RATIOS)
    assert set(scores.panel) == {f"{name}: {metric}" for name in ("SST", "AG News") for metric in ("NS", "NC")}
    assert 0 < figures.share_outside(compared, RATIOS) < 0.5


def test_a_slope_is_the_change_per_doubling(compared: Compared) -> None:
    slopes = figures.slopes(compared, RATIOS).set_index(["dataset", "metric", "model"])
    assert len(slopes) == 8
    two = figures.slopes(compared, [0.1, 0.2]).set_index(["dataset", "metric", "model"])
    ends = [compared.power(at_length("nc", ratio), dataset="sst", shows=SCORE).ours.point for ratio in (0.1, 0.2)]
    assert two.estimate["sst", "nc", compared.model] == pytest.approx(ends[1] - ends[0])
    steeper, panels = figures.steeper_than_random(slopes.reset_index(), compared.model)
    assert panels == 4 and 0 <= steeper <= 4
    level = slopes.reset_index().assign(**{"its low": 1e-9})
    assert figures.steeper_than_random(level, compared.model) == (0, 4)
    assert "minus that of random scores" in figures.slopes_in_words(level)


def test_long_tasks_are_substitutes_with_the_one_model_that_they_have(compared: Compared) -> None:
    tasks = figures.long_tasks(compared)
    assert set(tasks) == {"section", "pair"} and {model.partition(",")[0] for model in tasks.values()} == {"MiniLM"}
    gains = figures.gains_on_long(compared, tasks)
    assert len(gains) == 4
    nc, soft = (compared.of_model(name, dataset="pair", model=tasks["pair"]).ours.point for name in ("nc", "soft_nc"))
    (of_pair,) = (gain for name, gain in gains.items() if name.startswith("Soft-NC") and "pair" in name.lower())
    assert of_pair.ours.point == pytest.approx(soft - nc)
    by_reading = figures.gains_by_reading(compared, tasks, RATIOS)
    assert len(by_reading) == 10 and next(iter(by_reading)) == ("all", "several", "no win")
    shares = figures.diagnosticity_by_length(compared.power, tasks, RATIOS)
    assert set(shares.model) == set(tasks.values()) and len(shares) == 2 * 2 * len(RATIOS)
    assert figures.texts_by_task_in_words(compared) == "1,000 texts of SST and 360 texts of AG News"
    assert figures.fewest_texts(compared, tasks, RATIOS[0]) == shares[shares.metric == "nc"].n.min()


def test_ties_are_shown_with_those_in_which_neither_lost(compared: Compared) -> None:
    ties = figures.ties_by_length(compared, RATIOS)
    assert list(ties.columns[3:]) == [f"{100 * ratio:.0f} %" for ratio in RATIOS]
    every, at_limit = map(float, ties["1 %"][0].split(" / "))
    assert 0 <= at_limit <= every <= 1


# ----------------------------------------------------------------------------------------------------------- examples
@pytest.fixture(scope="module")
def counted() -> Scores:
    over = ["shows", "dataset", "metric", "method"]
    parts, prepare = ["", "lengths"], examples.disagreements
    return committed.scores("soft_metrics", paper="zhao_aletras_2023", parts=parts, over=over, prepare=prepare)


def test_what_one_kind_wins_alone_is_the_difference_of_what_both_win(counted: Scores) -> None:
    share = counted.quantity("metric", dataset=["sst", "ag"], shows=WIN)
    shares = examples.shares_of_disagreement(share, ["sst", "ag"]).set_index(["question", "metric", "dataset"])
    gains = examples.gains(share)
    for hard, gain in zip(PAIRS, gains.values(), strict=True):
        alone = [shares.estimate[name, hard, "compared"] for name in (examples.SOFT_ALONE, examples.HARD_ALONE)]
        assert alone[0] - alone[1] == pytest.approx(gain.ours.point, abs=0.01)  # inputs with both scores
        assert f"{alone[0]:.2f} [" in examples.in_short(share)
    assert len(shares) == 3 * 2 * 3


def test_a_win_of_one_kind_alone() -> None:
    about = {"dataset": "d", "id": "a", "cluster": "a", "seed": 0}
    values = {"nc": (0.1, 0.3), "soft_nc": (0.9, 0.2), "ns": (0.5, 0.1), "soft_ns": (0.6, 0.3)}
    units = [about | {"metric": metric, "method": method, "value": value} for metric, both in values.items()
             for method, value in zip(("m", "random"), both, strict=True)]  # fmt: skip
    found = examples.disagreements(pd.DataFrame(units)).set_index(["shows", "metric"]).value
    assert (found["soft alone", "nc"], found["hard alone", "nc"], found["soft gap larger", "nc"]) == (1, 0, 1)
    assert (found["soft alone", "ns"], found["hard alone", "ns"], found["soft gap larger", "ns"]) == (0, 0, 0)


def test_hard_scores_of_two_attributions_are_of_the_shortest_rationale() -> None:
    hard = pd.DataFrame(
        [("nc", 3, 0.9, 0.8), ("nc", 2, 0.5, 0.5), ("ns", 2, 0.4, 0.4)], columns=["metric", "kept", "A", "B"]
    )
    soft = pd.DataFrame(
        [("soft_nc", 0.6, 0.2, 0.4, 0.1), ("soft_ns", 0.3, 0.3, 0.0, 0.1)], columns=["metric", "A", "B", "gap", "error"]
    )
    toy = examples.scores_of_two(hard, soft).set_index("metric")
    assert toy["A minus B"].to_dict() == pytest.approx({"nc": 0, "ns": 0, "soft_nc": 0.4, "soft_ns": 0})
    assert [toy.low["soft_nc"], toy.high["soft_nc"]] == pytest.approx([0.204, 0.596])
    words = pd.DataFrame({"token": ["a", "b", "c"], "A": [0.1, 1.0, 0.5], "B": [0.1, 0.2, 0.5]})
    fig, alt = examples.drawn_toy(words, toy.reset_index())
    bold = [text.get_text() for text in fig.axes[0].get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == ["b", "c"] and "3 wordpieces" in alt and "Soft-NC 0.600 for A and 0.200 for B" in alt


def test_an_example_is_the_first_input_of_the_papers_data_or_of_its_substitute() -> None:
    printed = pd.DataFrame({"dataset": ["evinf", "sst"], "method": ["deeplift", "input_x_gradient"]})
    rows = [
        {
            "dataset": name,
            "input": i,
            "model_seed": 0,
            "method": method,
            "position": place,
            "token": f"{name}{place}",
            "score": -place,
        }
        for name in ("movie", "sst")
        for i in ("x", "y")
        for method in ("input_x_gradient", "random")
        for place in range(5)
    ]
    values = [
        {"dataset": "sst", "model_seed": 0, "input": "x", "method": "input_x_gradient", "metric": "nc", "value": value}
        for value in (0.2, 0.4)
    ]
    found = examples.examples_of_table4(pd.DataFrame(rows), pd.DataFrame(values), printed, {"movie": "sst"})
    assert [(example.number, example.dataset, example.method) for example in found] == [
        (2, "sst", "input_x_gradient"),
        (2, "sst", "random"),
    ]
    row = found[0].row()
    assert row["NC"] == pytest.approx(0.3) and row["NS"] is None and row["wordpieces"] == 5
    assert "Example 2, SST" in found[0].drawn()
    assert set(METRICS) > set(HARD)
