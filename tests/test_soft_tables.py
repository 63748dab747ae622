"""How the tables of `soft_tables` are shown: who is ahead, which columns, which value in brackets; and what they are of
the committed values."""

from __future__ import annotations

import math

import committed
import pandas as pd
import pytest

from faithbook.engine.studies import recipe_of
from faithbook.judge import published
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft import zhao_aletras_tables as tables
from faithbook.studies.soft.zhao_aletras_diagnosticity import METRICS, WIN
from faithbook.studies.soft.zhao_aletras_tables import Compared

N = 40


@pytest.fixture(scope="module")
def compared() -> Compared:
    """The committed values as the page compares them."""
    table6 = published.table("soft_table6")
    measured = committed.scores(
        "soft_metrics",
        paper="zhao_aletras_2023",
        over=["shows", "model", "dataset", "method", "metric"],
        parts=["", "lengths"],
        prepare=diagnosticity.counted_with_lengths,
        printed=table6.assign(shows=WIN),
        bounds=(0, 1),
    )
    return Compared.of(measured, order=table6["dataset"])


def test_the_papers_own_data_sets_are_compared_in_its_order_on_the_larger_model(compared: Compared) -> None:
    assert (compared.tasks, compared.own) == (["sst", "ag"], ["sst", "ag"])
    assert [model.partition(",")[0] for model in compared.models] == ["MPNet", "MiniLM"]
    assert set(compared.lacking) == {"evinf", "multirc"} and not compared.is_whole
    assert set(compared.substitutes) == {"movie", "bbc", "section", "pair"}
    cells = compared.on_substitutes()
    assert len(cells) == len(compared.substitutes) * len(METRICS)
    assert cells["movie", "sst", "nc"].published == pytest.approx(0.409, abs=6e-4)


def test_scaled_attention_squared_as_the_released_code_has_it(compared: Compared) -> None:
    """D6 in the tables: the printed row is nearly that of attention; ours on the same texts, both ways."""
    apart, furthest = tables.printed_near_attention()
    assert (apart, furthest) == (pytest.approx(0.012, abs=6e-4), pytest.approx(0.033, abs=6e-4))
    tried = committed.scores(
        "soft_variants",
        paper="zhao_aletras_2023",
        parts=["variants"],
        over=["shows", "model", "variant", "dataset", "metric", "method"],
        prepare=diagnosticity.counted_by_variant,
        bounds=(0, 1),
        rows=lambda wins: wins[wins["model"] == compared.model],
    )
    squared = tables.scaled_attention_squared(compared, tried)
    cells = squared.set_index(["method", "metric"])
    assert len(cells) == 8 and (squared["low"] < squared["squared"]).all() and (squared["n"] > 300).all()
    printed = published.table("soft_table6").query("dataset in ['sst', 'ag']").set_index(["method", "metric"])["value"]
    assert cells["published"]["scaled_attention", "nc"] == pytest.approx(printed["scaled_attention", "nc"].mean())
    # One of five methods differs, so the mean moves by a fifth of what that row does.
    moved = cells["squared"] - cells["with gradient"]
    assert moved["average", "soft_nc"] == pytest.approx(moved["scaled_attention", "soft_nc"] / 5)
    assert moved["scaled_attention", "soft_ns"] < -0.3
    words = tables.squared_in_words(compared, tried, squared)
    assert (
        words.startswith("Squared attention is nearer to the published values of α∇α under 1 of 4 metrics")
        and "Soft-NS minus NS" in words
    )


def test_an_average_is_compared_with_the_published_one_of_the_same_data_sets(compared: Compared) -> None:
    rows = compared.printed("soft_table3")
    assert set(rows.dataset) == {"sst", "ag", "average"} and set(rows.model) == set(compared.models)
    row = {"metric": "nc", "model": compared.model}
    assert compared.cell(row | {"dataset": "sst", "value": "0.409"}).published == 0.409
    average = compared.cell(row | {"dataset": "average", "value": "0.394"})
    assert average.published == pytest.approx(0.412, abs=6e-4)  # of these two, and not of four
    means = [compared.power("nc", dataset=name).ours.point for name in compared.tasks]
    assert average.ours.point == pytest.approx(sum(means) / 2)


def test_the_result_of_the_page_has_ours_and_the_published_value_of_every_metric(compared: Compared) -> None:
    text = tables.in_short(compared, judges=True)
    for name, pair in compared.averages(compared.model).items():
        assert f"{name} {pair.ours.point:.2f} [" in text
        assert f"(published {pair.published:.2f})" in text
    assert text.startswith("Soft metrics, which blur words, separate real from random explanations *worse*")
    assert not tables.in_short(compared, judges=False).startswith("Soft metrics")


def test_texts_are_counted_by_model(compared: Compared) -> None:
    assert (
        "MPNet 1,000 of SST and 360 of AG News; MiniLM 250 of SST and 159 of AG News"
        in tables.texts_by_model_in_words(compared)
    )


def test_every_number_of_table_2_has_its_average_last(compared: Compared) -> None:
    numbers = tables.numbers_of_table2(compared)
    assert len(numbers) == 4 * 6
    average = numbers[numbers.method == "average"].set_index("metric")
    for metric in METRICS:
        of_metric = numbers[(numbers.metric == metric) & (numbers.method != "average")]
        assert average.ours[metric] == pytest.approx(of_metric.ours.mean())
    assert average["published, 4 tasks"].to_dict() == tables.published_averages()
    assert numbers["ours, MiniLM"].notna().all()


def test_the_exceptions_of_the_text_are_the_two_of_table_3_the_other_way_round(compared: Compared) -> None:
    (name,) = tables.exceptions(compared)  # MultiRC is not here
    assert name == "NC minus Soft-NC on AG News"
    text = tables.exceptions_in_print()
    assert "Soft-NC on MultiRC and Soft-NS on AG News" in text and text.endswith("the other way round.")


def test_ties_are_counted_of_each_cell(compared: Compared) -> None:
    found = tables.ties(compared).set_index(["dataset", "metric"])
    assert len(found) == 8 and (found["at the limit"] <= found.ties).all()
    below, cells = tables.cells_below_one_half(compared)
    plain = [
        compared.power(metric, dataset=dataset, method=method).ours.point
        + compared.power(metric, dataset=dataset, method=method, shows="tie").ours.point / 2
        for metric in METRICS
        for dataset in compared.tasks
        for method in diagnosticity.METHODS
    ]
    assert cells == 40 and 0 < below <= sum(share < 0.5 for share in plain)


def test_wilcoxons_test_is_of_the_printed_cells_and_of_ours(compared: Compared) -> None:
    lines = tables.rank_sum_tests(compared)
    assert [line.partition(":")[0] for line in lines] == [
        f"{kind}, {pair}" for kind in ("published", "ours") for pair in ("Soft-NC against NC", "Soft-NS against NS")
    ]
    effects = [float(line.rpartition(" ")[2].replace("−", "-")) for line in lines]
    assert effects[0] > 0 and effects[1] > 0 and effects[2] < 0 and effects[3] < 0


def test_claims_on_tasks_are_empty_without_the_task_that_they_name(compared: Compared) -> None:
    assert diagnosticity.opposite_on_news(compared.power, ["sst"], None) == {}
    apart = diagnosticity.opposite_on_news(compared.power, compared.tasks, "ag")
    assert list(apart) == ["AG News minus SST, Soft-NC", "SST minus AG News, Soft-NS"]
    news, other = (compared.power("soft_nc", dataset=name).ours.point for name in ("ag", "sst"))
    assert apart["AG News minus SST, Soft-NC"].ours.point == pytest.approx(news - other)
    assert len(diagnosticity.varies_by_task(compared.power, compared.tasks)) == len(METRICS)


def test_sizes_are_compared_of_the_papers_own_data_sets_alone(compared: Compared) -> None:
    table, sizes = tables.data_and_classifiers([*compared.tasks, "movie"], compared.measured.material.models)
    numbers = tables.same_sizes(sizes, compared)
    assert set(numbers) == {f"{name}, {split}" for name in ("sst", "ag") for split in tables.SPLITS}
    assert all(math.isfinite(number.ours) for number in numbers.values())
    runs = tables.with_training_runs(table)["training runs"]
    assert not runs.str.contains(".", regex=False).any() and "models" not in tables.with_training_runs(table)


def test_training_settings_of_the_profile_paper_are_the_published_ones(compared: Compared) -> None:
    of_paper, of_ours = (recipe_of("soft", "text_classifiers", size)["training"] for size in ("paper", "laptop"))
    settings = tables.training_settings(of_paper, of_ours, compared.ours)
    assert set(settings.agrees) == {"yes"}
    of_sst = settings[settings["data set"] == "sst"].set_index("setting")
    assert of_sst.MPNet["learning rate"] == "0.0004" and of_sst.MiniLM["learning rate"] == "0.0005"
    assert set(settings.MPNet[settings["data set"] == "multirc"]) == {"–"}
    changed = {name: block | {"batch_size": 7} for name, block in of_paper.items()}
    told = tables.training_settings(changed, of_ours, compared.ours).set_index(["data set", "setting"])
    assert (told.agrees["sst", "batch size"], told["paper profile"]["sst", "batch size"]) == ("no", "7")


def test_soft_metrics_that_are_clearly_ahead_or_behind_are_counted() -> None:
    known = {("nc", "sst"): 0.2, ("soft_nc", "sst"): 0.8, ("ns", "sst"): 0.8, ("soft_ns", "sst"): 0.2}
    known |= {(metric, "ag"): 0.5 for metric in ("nc", "soft_nc", "ns", "soft_ns")}
    rows = [(i, *key, float(i < N * share)) for key, share in known.items() for i in range(N)]
    frame = pd.DataFrame(rows, columns=["id", "metric", "dataset", "value"])
    cells = Conditions.of(frame, over=["metric", "dataset"], unit="id", n_resamples=99)

    def power(metric: str, dataset: str) -> Comparison:
        return Comparison(cells.mean(metric=metric, dataset=dataset))

    assert tables.soft_ahead(power, "dataset", ["sst", "ag"]) == tables.Ahead(ahead=1, behind=1, n=4)
    assert tables.soft_ahead(power, "dataset", ["sst"]).n == 2


def test_training_settings_have_ours_first_and_the_published_one_in_brackets() -> None:
    rows = [
        ("sst", "batch size", "bert", "8", "32", "16"),
        ("sst", "learning rate linear", "bert", "0.0001", "0.1", "0.2"),
    ]
    rows.append(("ag", "batch size", "bert", "8", "–", "4"))
    settings = pd.DataFrame(rows, columns=["data set", "setting", "model", "published", "MPNet", "MiniLM"])
    larger, smaller, news = tables.settings_wide(settings).to_dict("records")
    assert larger == {
        "data set": "SST",
        "our model": "MPNet",
        "paper's model": "bert",
        "batch size": "32 (8)",
        "learning rate of the last layer": "0.1 (0.0001)",
    }
    assert (smaller["our model"], smaller["batch size"]) == ("MiniLM", "16 (8)")
    assert (news["data set"], news["our model"], news["batch size"]) == ("AG News", "MiniLM", "4 (8)")


def test_table_1_is_shown_without_its_side_columns() -> None:
    whole = pd.DataFrame([dict.fromkeys(tables.COLUMNS, "–") | {"model": "MPNet, 12 layers, 109 M"}])
    narrow = tables.main_columns(whole)
    assert set(tables.COLUMNS) - set(narrow.columns) == {"cut at", "majority F1", "models"}
    assert narrow.model.tolist() == ["MPNet"]
