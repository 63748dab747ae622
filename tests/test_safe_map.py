"""The tables of the map of safe metrics, from invented means whose values are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from test_safe import BOLD, CHEAP, PRICES, STEADY, invented

from faithbook.show.labels import label
from faithbook.studies.safe import choice, design, map_tables, show
from faithbook.studies.safe.choice import REPORT, Means

METRICS = {"steady": STEADY, "bold": BOLD, "cheap": CHEAP}
ERRORS = [kind for kind in design.kinds_of_error() if kind != design.NEVER]


@pytest.fixture(scope="module")
def rank() -> Means:
    return invented(METRICS)


def test_groups_are_means_of_their_errors(rank: Means) -> None:
    table = choice.by_kind(rank.half(REPORT), design.kinds_of_error())
    wide = show.map_rows(table, rank.metrics).loc[["bold", "steady"]]
    found = map_tables.means_by_error(wide, rank, {"a": ["light", "heavy"], "b": ["feature"]}).set_index("metric")
    assert list(found.index) == ["bold", "steady"]
    assert list(found.loc["bold", ["never errs", "a", "b"]]) == pytest.approx([0.95, 0.525, 0.95], abs=0.01)
    # The same means stand for shares of inputs here.
    assert list(found.loc["bold", ["untouched, a", "untouched, b"]]) == pytest.approx([0.525, 0.95], abs=0.01)
    assert found.loc["steady", "untouched, a"] == pytest.approx(0.7, abs=0.01)


def test_halves_have_the_best_of_the_choosing_seeds_first_and_say_where_a_metric_is_lowest(rank: Means) -> None:
    before, after = (
        choice.grid_safety(rank.half(half), choice.ADVERSARIAL, choice.ANY, replicates=99)
        for half in (choice.CHOOSE, REPORT)
    )
    table = map_tables.by_half(before, after, PRICES)
    assert table["metric"].tolist() == ["steady", "cheap", "bold"]
    assert table["model calls"].tolist() == [39, 8, 12]
    assert table["reporting seeds"].tolist() == pytest.approx([0.7, 0.68, 0.1], abs=0.01)
    assert table["worst where it errs"].iloc[-1] == show.error_in_words("light")
    assert (table["low"] <= table["reporting seeds"] + 1e-9).all() and (table["low"] <= table["high"]).all()


def test_outcomes_are_means_over_the_kinds_of_error_with_their_intervals(rank: Means) -> None:
    table = map_tables.over_errors({"x": rank, "loss": rank.loss()}, ["bold", "steady"], replicates=99)
    expected = 0.95 - 0.85 / len(ERRORS)
    assert table["x"].tolist() == pytest.approx([expected, 0.7], abs=0.01)
    assert table["loss"].tolist() == pytest.approx([0.95 - expected, 0], abs=0.01)
    for name in ("x", "loss"):
        assert (table[f"{name} low"] <= table[name]).all() and (table[name] <= table[f"{name} high"]).all()


def test_factors_are_means_over_the_models_that_err(rank: Means) -> None:
    truths = ["single", "or"]
    table = map_tables.by_factor(rank, ["cheap", "bold"], {"truth": truths})
    assert table.columns.tolist() == ["metric", "truth: single", "truth: or"]
    about = rank.conditions
    for truth in truths:
        rows = ((about["truth"] == truth) & (about["error"] != design.NEVER)).to_numpy()
        by_hand = np.nanmean(rank.values[rows][:, :, [2, 1]], axis=(0, 1))
        assert table[f"truth: {truth}"].to_numpy() == pytest.approx(by_hand)


def test_readings_may_choose_otherwise(rank: Means) -> None:
    other = invented(METRICS | {"cheap": {"else": 0.5, "feature": 0.99}})
    table = map_tables.by_reading({"declared": rank, "other": other}, PRICES, declared="cheap", unmisled="bold")
    assert table["chosen"].tolist() == [label("cheap"), label("steady")]
    assert table["its lowest"].tolist() == pytest.approx([0.68, 0.7], abs=0.01)
    assert table["of the declared choice"].tolist() == pytest.approx([0.68, 0.5], abs=0.01)
    at_feature = table["best where one feature triggers the error"]
    assert at_feature.tolist() == [label("bold"), label("cheap")]
    assert table["its rank correlation there"].tolist() == pytest.approx([0.95, 0.99], abs=0.01)
    assert table[f"{label('bold')} there"].tolist() == pytest.approx([0.95, 0.95], abs=0.01)
    assert len(table) == 2


def choices() -> pd.DataFrame:
    """Three cases of a choice, as `choice.choices` has them."""
    prices = design.declared_plan()["choice"]["prices"]
    case = {"erasure": choice.UNKNOWN, "reasons": choice.ANY, "answer": choice.HOLDS, "runner-up": "cheap"}
    case |= {"is safe": True, "reported": 0.7, "low": 0.65, "high": 0.75, "worst": "light", "design": ""}
    rows = [case | {"price": price, "metric": "bold"} for price in (prices[0], max(prices))]
    rows.append(case | {"price": max(prices), "metric": "steady", "erasure": choice.KNOWN, "is safe": False})
    return pd.DataFrame(rows)


def test_a_case_without_a_price_is_the_one_at_any_price() -> None:
    prices = design.declared_plan()["choice"]["prices"]
    assert choice.of_case(choices(), choice.UNKNOWN, choice.ANY).price == max(prices)
    assert choice.of_case(choices(), choice.UNKNOWN, choice.ANY, price=prices[0]).price == prices[0] < max(prices)
    assert choice.of_case(choices(), choice.KNOWN, choice.ANY).metric == "steady"


def test_every_case_of_the_choice_stands_in_words() -> None:
    table = map_tables.choices_in_words(choices())
    assert table["use"].tolist() == [label("bold"), label("bold"), label("steady")]
    assert table["safe"].tolist() == ["yes", "yes", "no"]
    assert set(table["lowest rank correlation"]) == {"0.70 [0.65, 0.75]"}
    assert set(table["against the next"]) == {f"holds ({label('cheap')})"}
    assert table["model calls"].tolist()[1:] == ["any", "any"]


def test_a_papers_metric_is_best_where_it_is_nearest_to_the_best_of_all(rank: Means) -> None:
    wide = show.map_rows(choice.by_kind(rank.half(REPORT), design.kinds_of_error()), rank.metrics)
    wide.loc["cheap", "heavy"] = wide["heavy"].max() + 0.1
    wide.loc["cheap", "third"] = 0.05
    table = map_tables.of_papers(wide, {"A": ["bold", "cheap"], "B": ["cheap"]})
    assert table["used by"].tolist() == ["A", "A", "B"]
    assert table["metric"].tolist() == [label("bold"), label("cheap"), label("cheap")]
    assert table.loc[1, "where"] == show.error_in_words("third")
    assert table.loc[1, "best where"] == show.error_in_words("heavy")
    assert table.loc[0, "lowest"] == f"{wide.loc['bold', show.LOWEST]:.2f}"


def test_the_last_block_stands_beside_all_truths_and_the_lowest(rank: Means) -> None:
    report = rank.half(REPORT)
    by_kind = choice.by_kind(report, design.kinds_of_error())
    wide = show.map_rows(by_kind, rank.metrics).loc[["bold", "cheap"]]
    table = map_tables.in_last_block(report, wide, by_kind).set_index("metric")
    rows = (report.conditions.block == report.conditions.block.max()) & (report.conditions.error == design.NEVER)
    place = report.metrics.index("bold")
    assert rows.sum() == 1
    assert table.loc["bold", "never errs"] == pytest.approx(np.nanmean(report.values[rows.to_numpy()][:, :, place]))
    third = by_kind[(by_kind.metric == "bold") & (by_kind.error == "third")].estimate.item()
    assert table.loc["bold", "the same error, all truths"] == third
    assert table.loc["cheap", "lowest of all errors"] == wide.loc["cheap", show.LOWEST]
    assert set(map_tables.FACTORS.values()) <= set(table.columns)
    assert len(map_tables.FACTORS) == len(design.declared_plan()["whither"])


def test_what_other_pages_quote_has_every_cell_of_the_map_and_every_case(rank: Means) -> None:
    chosen, report = choices(), rank.half(REPORT)
    table = choice.by_kind(report, design.kinds_of_error())
    after = choice.grid_safety(report, choice.ADVERSARIAL, choice.ANY, replicates=99)
    quotes = map_tables.quotable_safety(table, after, PRICES, chosen, conditions=7).set_index("part")
    assert len(quotes) == len(table) + 2 * len(METRICS) + 2 + len(chosen)
    assert quotes.loc["metrics", "ours"] == len(METRICS)
    assert set(quotes["n"]) == {7}
    assert quotes.loc[f"{label('bold')}: calls", "ours"] == PRICES["bold"]
    lowest = map_tables.lowest_of(after).set_index("metric")
    found = quotes.loc[f"{label('bold')}: lowest", ["ours", "low", "high"]].astype(float)
    assert found.tolist() == lowest.loc["bold", ["estimate", "low", "high"]].tolist()


def test_what_a_choice_wins_by_design_is_named_as_the_map_names_errors() -> None:
    named = "ahead; its order cannot change: light, heavy"
    light, heavy = (show.error_in_words(kind) for kind in ("light", "heavy"))
    assert show.design_in_words(named) == f"ahead; its order cannot change: *{light}* and *{heavy}*"
    assert show.design_in_words("ahead") == "ahead"


def test_the_result_names_what_is_safe_and_what_the_rule_chooses(rank: Means) -> None:
    table = choice.by_kind(rank.half(REPORT), design.kinds_of_error())
    lowest = pd.DataFrame({"metric": ["steady", "bold"], "estimate": [0.7, 0.1], "low": [0.6, 0.0], "high": [0.8, 0.2]})
    assert map_tables.safe_metrics(lowest) == [label("steady")]
    chosen = choices()
    chosen = pd.concat([chosen, chosen.iloc[:1].assign(erasure=choice.ADVERSARIAL, metric="cheap")])
    said = map_tables.in_short(table, lowest, chosen, conditions=7, seeds=3)
    assert said.startswith(f"**Safe against every error that we tried: {label('steady')}.**")
    assert f"**{label('bold')}** is safe" in said and f"chooses **{label('cheap')}**" in said
    assert f"*{show.error_in_words('light')}*" in said and "7 conditions; the 3 model seeds" in said
    without = map_tables.in_short(table, lowest.iloc[1:], chosen, conditions=7, seeds=3)
    assert without.startswith("**No metric is safe against every error")
    survived = map_tables.survived_by_none(table, lowest, rank.half(REPORT))
    assert f"highest lowest value is {label('steady')}, 0.70 [0.60, 0.80]" in survived


def test_advice_has_every_case(rank: Means) -> None:
    chosen, limit = choices(), design.declared_plan()["choice"]["prices"][0]
    more = chosen.iloc[:1].assign(erasure=choice.ADVERSARIAL, metric="cheap", **{"is safe": False})
    single = more.assign(reasons=choice.SINGLE, metric="steady", reported=0.8)
    said = map_tables.advice_in_words(pd.concat([chosen, more, single]))
    assert (
        f"(1) If you trained the model on erased copies, so that it reads them rightly, use {label('steady')}" in said
    )
    assert f"for at most {limit} model calls {label('bold')} (0.70 [0.65, 0.75], safe)" in said
    assert f"the rule chooses {label('cheap')} (0.70 [0.65, 0.75], not safe; if reasons are single words" in said
    assert f"{label('steady')}, 0.80 [0.65, 0.75])" in said
    assert map_tables.won_by_design(chosen) == "- none of those chosen."
    named = chosen.assign(design="ahead; its order cannot change: light")
    lines = map_tables.won_by_design(named).splitlines()
    assert len(lines) == 2 and lines[0].endswith(f"its order cannot change: *{show.error_in_words('light')}*.")


def test_what_is_chosen_without_an_error_is_named_where_it_is_another_metric() -> None:
    ends = {"below": 0.1, "below low": 0.0, "below high": 0.2}
    rows = [{"left out": "feature", "metric": "bold", **ends}, {"left out": "light", "metric": "steady", **ends}]
    rows[1]["below"] = 0.15
    said = map_tables.choices_without(pd.DataFrame(rows), "steady")
    assert f"without *{show.error_in_words('feature')}* the rule chooses {label('bold')}" in said
    assert f"without *{show.error_in_words('light')}*" not in said
    assert f"to the best is 0.15 [0.00, 0.20], on *{show.error_in_words('light')}*" in said


def test_outcomes_stand_with_their_ends_and_prices() -> None:
    summary = pd.DataFrame({"metric": ["bold"], "loss": [0.5], "loss low": [0.4], "loss high": [0.6]})
    table = map_tables.outcomes_with_prices(summary, PRICES)
    assert table.to_dict("records") == [
        {"metric": label("bold"), "model calls": f"{PRICES['bold']:.0f}", "loss": "0.50 [0.40, 0.60]"}
    ]


def test_what_is_left_out_stands_in_words() -> None:
    ends = {"estimate": 0.5, "low": 0.4, "high": 0.6, "below": 0.1, "below low": 0.0, "below high": 0.2}
    without = pd.DataFrame([{"left out": "feature", "metric": "bold", "best there": "cheap", **ends}])
    assert map_tables.left_out_in_words(without).iloc[0].tolist() == [
        show.error_in_words("feature"),
        label("bold"),
        "0.50 [0.40, 0.60]",
        label("cheap"),
        "0.10 [0.00, 0.20]",
    ]
