"""Everything published about Edin et al.'s released results, computed again from the packed tables: counts of what
matches, the cause of what does not; and the packed results against the authors' files where they are."""

from __future__ import annotations

import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from refusals import refused

from faithbook.judge import published
from faithbook.sources.files import data_folder
from faithbook.studies.naopc import edin, edin_outputs, edin_released, edin_tables
from faithbook.studies.naopc.edin_released import MODELS, SHORT, TABLES, packed_folder, read_packed
from faithlib.bounds import beam_bounds, exact_bounds
from faithlib.errors import DataError, UnknownNameError
from faithlib.evaluation import aopc_scores

WIDTHS = (1, 2, 3, 5, 10)


@pytest.fixture(scope="module")
def batches() -> dict[tuple[str, str], edin.AnswerTable]:
    return {(model, dataset): edin.answers(model, dataset) for model in MODELS for dataset in SHORT}


@pytest.fixture(scope="module")
def exact(batches) -> pd.DataFrame:
    parts = []
    for (model, dataset), table in batches.items():
        found = exact_bounds(table)
        columns = {"lower": found.lower, "upper": found.upper, "words": table.feature_mask.sum(dim=1)}
        ends = {"p_full": table.full, "p_empty": table.empty}
        parts.append(pd.DataFrame({"dataset": dataset, "model": model, "id": table.ids, **columns, **ends}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def scores(batches) -> pd.DataFrame:
    parts = []
    for (model, dataset), table in batches.items():
        about = {"dataset": dataset, "model": model, "id": table.ids}
        for method, given in edin.scores_of(model, dataset, table).items():
            missing = given.isnan().any(dim=1)
            values = aopc_scores(table, given.nan_to_num()).values()
            for kind, value in zip(edin_tables.KINDS, values, strict=True):
                found = torch.where(missing, torch.nan, value)
                parts.append(pd.DataFrame({**about, "method": method, "kind": kind, "aopc": found}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def beams(batches) -> pd.DataFrame:
    parts = []
    for (model, dataset), table in batches.items():
        for search, width in product(("released", "merged"), WIDTHS):
            found = beam_bounds(table, width=width, limits=(0, 1), variant=search)
            about = {"dataset": dataset, "model": model, "id": table.ids, "search": search, "width": width}
            about |= {name: getattr(found, name) for name in ("lower", "upper", "rows")}
            parts.append(pd.DataFrame(about))
            if search == "merged":
                lower, upper = edin.deduplicated(table, width)
                parts.append(parts[-1].assign(lower=lower, upper=upper, search="deduplicated"))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def limits() -> pd.DataFrame:
    return edin_tables.released_limits()


@pytest.fixture(scope="module")
def cells(scores) -> pd.DataFrame:
    return edin_tables.cells_with_ours(edin_tables.released_cells(), scores)


@pytest.fixture(scope="module")
def released(exact, beams, scores, limits, cells) -> edin_outputs.Recomputed:
    """What the page makes of its files, from our scores and searches."""
    own = scores.rename(columns={"aopc": "value"})
    return edin_outputs.Recomputed(exact, beams, own, limits, cells)


# -------------------------------------------------------------------------------------------------------------- limits
def test_exact_limits_are_the_released_ones_but_for_those_that_start_at_0(exact, limits):
    """All orders share their last step, to the empty text; over the others the released search keeps the best, but
    never less than 0."""
    both = exact.merge(limits[limits.search == "exact"], on=["dataset", "model", "id"], suffixes=("", "_released"))
    assert len(both) == 2430
    np.testing.assert_allclose(both.lower, both.lower_released, rtol=0, atol=1e-12)
    last = both.p_full - both.p_empty
    floored = (np.maximum(0, both.words * both.upper - last) + last) / both.words
    np.testing.assert_allclose(floored, both.upper_released, rtol=0, atol=1e-12)
    high = edin_tables.too_high(limits, exact)
    assert high.dataset.value_counts().to_dict() == {"yelp": 40, "sst2": 12}
    assert high.excess.max() == pytest.approx(0.139, abs=5e-4)


def test_of_156_means_of_limits_140_match_and_16_hold_limits_too_high(exact, limits):
    table = edin_tables.bounds_table(limits, exact)
    assert len(table) == len(published.table("naopc_released_bounds")) == 156
    assert int(table.match.sum()) == 140
    differs = table[~table.match]
    assert set(differs.cause) == {edin_tables.FLOOR}
    assert (differs.too_high > 0).all()
    assert set(differs.statistic) == {"upper_bound_mean", "range_mean"}
    assert ((table["files"] - table.value).abs() <= table.tolerance).all()
    spreads = edin_tables.limit_means(limits).drop(columns="value").rename(columns={"spread": "value"})
    spreads = edin_tables.compared(edin_tables.printed("naopc_released_bounds"), found=spreads.drop(columns="n"))
    spreads = spreads[spreads.spread.notna()]
    assert len(spreads) == 126
    assert (spreads.spread - spreads.found).abs().max() < 5.1e-5


# -------------------------------------------------------------------------------------------------------------- scores
def test_scores_are_the_released_ones_wherever_words_are_counted_alike(cells):
    short = cells[cells.length == "short"]
    compared = short[short.gap.notna()]
    assert compared.groupby("dataset").size().to_dict() == {"yelp": 40_574, "sst2": 7_620}
    assert compared.gap.max() < 1e-5
    odd = short[~short.computed]
    assert len(odd[["dataset", "model", "id"]].drop_duplicates()) == 15
    assert set(odd.dataset) == {"sst2"}


def test_what_was_not_released_is_what_ours_says(cells, limits):
    """Random on Yelp by one model: 286 of 339 scores are in the file, and the published means are over all of them."""
    absent = cells[cells.aopc_files.isna()]
    assert absent.groupby(["dataset", "length", "model", "method"]).size().to_dict() == {
        ("yelp", "short", "roberta_imdb", "random"): 2 * 53
    }
    table = edin_tables.printed("naopc_released_scores")
    cell = (table.dataset == "yelp") & (table.length == "short") & (table.model == "roberta_imdb")
    printed = table[cell & (table.method == "random")].set_index("metric").value
    part = cells[(cells.dataset == "yelp") & (cells.model == "roberta_imdb") & (cells.method == "random")]
    for kind, means in part[part.length == "short"].groupby("kind")[["aopc", "aopc_files"]].mean().iterrows():
        assert means.aopc == pytest.approx(printed[f"aopc_{kind}"], abs=5e-5)
        assert abs(means.aopc_files - printed[f"aopc_{kind}"]) > 1e-3


def test_of_1210_means_of_scores_973_match_and_every_other_has_its_cause(cells, limits, exact):
    table = edin_tables.scores_table(cells, limits, exact)
    assert len(table) == len(published.table("naopc_released_scores")) == 1210
    assert int(table.match.sum()) == 973
    zero, floor, rounded = edin_tables.NO_RANGE, edin_tables.FLOOR, edin_tables.ROUNDED
    assert table[~table.match].cause.value_counts().to_dict() == {
        f"{zero}, and {floor}": 87, zero: 87, floor: 59, f"{rounded}, and {floor}": 3, edin_tables.UNRELEASED: 1,
    }  # fmt: skip
    assert table[table.metric.str.startswith("aopc")].match.all()
    assert table[~table.match & (table.length == "long")].cause.value_counts().to_dict() == {zero: 54}
    assert set(table[table.cause.str.contains("without a range")].dataset) == {"yelp"}


def test_of_30_agreements_of_rankings_28_match(cells, limits, exact):
    table = edin_tables.taus_table(cells, limits, exact)
    assert len(table) == len(published.table("naopc_released_taus")) == 30
    assert int(table.match.sum()) == 28
    assert edin_tables.UNKNOWN not in set(table.cause)
    means = edin_tables.score_means(cells, edin_tables.normalised(cells, limits[limits.search == "beam"], no_range=0))
    keys = ["dataset", "length", "ranking", "metric"]
    spreads = table.merge(edin_tables.ranking_taus(means)[[*keys, "spread"]], on=keys, suffixes=("", "_found"))
    spreads = spreads[spreads.spread.notna()]
    assert len(spreads) == 20
    assert (spreads.spread - spreads.spread_found).abs().max() < 5.1e-5


# --------------------------------------------------------------------------------------------------------------- beams
def test_of_192_numbers_about_beams_what_can_be_computed_is_and_the_rest_says_why_not(limits, beams, exact):
    table = edin_tables.beam_table(limits, beams, exact)
    assert len(table) == len(published.table("naopc_released_beam")) == 192
    found = table.groupby(["comparison", "cause", "match"]).size().to_dict()
    assert found == {
        ("beam_vs_exact", "", True): 45,
        ("increasing_beams", "", True): 72,
        ("beam_variants", "", True): 64,
        ("beam_variants", edin_tables.SAMPLE, False): 11,
    }
    wider = edin_tables.beam_table(limits, beams[beams.width != 10], exact)
    assert wider.cause.value_counts()[edin_tables.NOT_ASKED] == 15


def test_growing_beams_are_the_first_texts_of_each_data_set_and_wider_ones_find_no_less_on_average():
    widths, texts = read_packed("limits_widths"), read_packed("texts").query("length == 'long'")
    for dataset, part in widths.groupby("dataset"):
        first = texts[(texts.dataset == dataset) & (texts.place < 99)].id
        assert set(part.id) == set(first)
        assert part.groupby(["model", "width"]).size().unique().tolist() == [99]
    means = edin_tables.growing_beams().query("statistic == 'bound_mean' and bound == 'upper'")
    for _, rows in means.groupby("dataset"):
        assert rows.sort_values("beam_size", key=lambda sizes: sizes.astype(int)).value.is_monotonic_increasing
    # Width 5 was released twice, of all long texts and of these; both runs of one model found the same limits.
    all_texts = read_packed("limits_beam").query("length == 'long' and width == 5 and start == 'none'")
    five = widths[widths.width == 5].merge(all_texts, on=["dataset", "model", "id"], suffixes=("", "_all"))
    assert len(five) == 3 * 6 * 99
    assert (five.upper - five.upper_all).abs().median() < 1e-6


def test_explanations_are_means_over_texts_called_positive(cells, limits):
    held = edin_tables.with_p_full(cells, limits)
    table = edin_tables.explanations(held, edin_tables.scored_by(limits), "yelp")
    assert len(table) == 60
    row = table.set_index(["method", "model"]).loc["lime", "bert_yelp"]
    asked = held.query("dataset == 'yelp' and length == 'short' and method == 'lime' and model == 'bert_yelp'")
    kept = asked[(asked.p_full > 0.5) & (asked.kind == "sufficiency")]
    assert (row.aopc_sufficiency, row.n) == (pytest.approx(kept.aopc.mean()), len(kept))
    assert len(kept) < asked.id.nunique()
    earlier = edin_tables.beside_before_after(table)
    assert len(earlier) == 160 and earlier.ours.notna().all()
    assert earlier.gap.max() < 0.1  # an earlier state of the same results


def test_released_deeplift_is_nearly_input_times_gradient():
    nearest = edin_tables.nearest_methods(edin_tables.printed("naopc_released_scores"))
    assert {nearest.one[0], nearest.other[0]} == {"deeplift", "input_x_gradient"}
    assert nearest.cells[0] == 60 and nearest["mean"][0] < 0.01 < nearest["mean"][1]


def test_numbers_with_released_values_on_both_sides_are_counted_apart():
    known = pd.DataFrame({"ours": [1.0, 2.0, np.nan], "match": [True, False, False], "own": [True, False, True]})
    shares = edin_tables.shared_out({"one": known, "two": known[:1]}).set_index("table")
    assert shares.loc["one"].tolist() == [2, 1, 1, 1, 1]
    assert shares.loc["all"].tolist() == [3, 2, 2, 2, 1]


def test_our_run_of_the_released_search_finds_the_released_beam_bounds(limits, beams):
    """Theirs ran in half precision and was scored again in single: 7 of 4,860 limits went another way."""
    released = limits[(limits.search == "beam") & (limits.length == "short")]
    ours = beams[(beams.search == "released") & (beams.width == 5)]
    both = ours.merge(released, on=["dataset", "model", "id"], suffixes=("", "_released"), validate="one_to_one")
    assert len(both) == 2430
    apart = pd.concat([(both[end] - both[f"{end}_released"]).abs() for end in ("lower", "upper")])
    assert int((apart > 1e-4).sum()) == 7


# ---------------------------------------------------------------------------------------------------- the small pieces
def test_what_differs_is_counted_by_cause_with_the_tolerance_of_the_rule():
    table = pd.DataFrame({"value": [1.0, 2.0, 3.0, 4.0], "ours": [1.0, 2.04, 3.3, np.nan], "length": ["long"] * 4})
    table = table.assign(text=["1.00", "2.00", "3.00", "4.00"], cause=["", "a", "b", "a"], name=["p", "q", "r", "s"])
    table["match"] = [True, False, False, False]
    assert list(edin_tables.numbers(table, "name")) == ["p", "q", "r"]  # what has no value of ours is left out
    assert edin_tables.differences_by_cause(table).values.tolist() == [["a", 1, 0.04], ["b", 1, 0.3]]
    assert edin_tables.differences_by_cause(table, within=0.1).values.tolist() == [["b", 1, 0.3]]
    assert edin_tables.differences_by_cause(table[:1]).empty


def test_flipped_pairs_and_naopc_by_hand():
    first, second = np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])
    assert edin_tables.flipped_share(first, second) == pytest.approx(1 / 3)
    keys = {"dataset": "yelp", "length": "short", "model": "bert_imdb", "id": [1, 2]}
    cells = pd.DataFrame(keys | {"aopc": [0.3, 0.5]})
    limits = pd.DataFrame(keys | {"lower": [0.1, 0.5], "upper": 0.5})
    assert edin_tables.normalised(cells, limits).tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
    assert edin_tables.normalised(cells, limits, no_range=0.0).tolist() == pytest.approx([0.5, 0.0])
    assert edin_tables.normalised(cells, limits[:1]).tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
    elsewhere = limits.assign(dataset="sst2")  # of the same id and model: another text
    assert edin_tables.normalised(cells, elsewhere).isna().all()


def test_ranks_go_downward_for_comprehensiveness_and_upward_for_sufficiency_over_texts_called_positive():
    rows = [
        {"model": m, "method": "lime", "kind": kind, "p_full": p, "x": x}
        for kind in edin_tables.KINDS
        for m, p, x in (("a", 0.9, 0.1), ("a", 0.4, 9.0), ("b", 0.8, 0.2))
    ]
    cells = pd.DataFrame(rows)
    for kind, best in (("comprehensiveness", "b"), ("sufficiency", "a")):
        found = edin_tables.ranks(cells, kind, aopc=cells.x)
        assert found.aopc[best, "lime"] == 1


# ------------------------------------------------------------------------------------------------------- what is packed
ROOT = Path(__file__).resolve().parents[1]


def test_what_is_packed_is_all_there_small_and_without_texts():
    packed = {name: read_packed(name) for name in TABLES}
    assert {name: len(table) for name, table in packed.items()} == {
        "answers": 709_014, "attributions": 48_300, "scores": 168_247, "limits_exact": 2_430, "limits_beam": 63_000,
        "limits_widths": 10_692, "texts": 2_805,
    }  # fmt: skip
    folder = packed_folder()
    assert sum(path.stat().st_size for path in folder.iterdir()) < 12e6
    assert "MIT License" in (folder / "LICENSE").read_text()
    named = {"dataset", "length", "model", "method", "start"}
    for name, table in packed.items():
        for column in table.columns:
            values = table[column].iloc[:1].item()
            assert isinstance(values, str) == (column in named), (name, column)
        for column in named & set(table.columns):
            assert table[column].nunique() <= 10, (name, column)


def test_names_that_were_not_released_and_damaged_tables_are_refused(tmp_path, monkeypatch):
    refused(DataError, "answers of yelb, short: not among", edin.answers, "bert_yelp", "yelb")
    refused(UnknownNameError, "did you mean 'bert_yelp'", edin.answers, "bert_yelb")
    refused(DataError, "attributions of yelp, long: not among", edin_released.attributions, "bert_yelp", "yelp", "long")
    monkeypatch.setattr(edin_released, "packed_folder", lambda: tmp_path)
    scores = (edin_released.rows_of, "scores", "bert_yelp", "yelp", "short")
    refused(DataError, r"scores_bert_yelp\.parquet cannot be read", *scores)
    (tmp_path / "scores_bert_yelp.parquet").write_bytes(b"PAR1 cut")
    refused(DataError, r"scores_bert_yelp\.parquet cannot be read", *scores)


# --------------------------------------------------------------------------------------------------- the authors' files
@pytest.fixture(scope="module")
def files():
    """The folder of the released files, Yelp and IMDB too; a skip where they are nowhere."""
    for folder in (data_folder() / "naopc", ROOT.parent / "shared" / "data" / "naopc"):
        if (folder / "results" / "aopc_scores_long" / "imdb_roberta-base-imdb.csv").exists():
            return folder
    pytest.skip("the files released by Edin et al. are not on this machine")


def test_every_released_value_is_packed_and_no_other(files):
    pack = runpy.run_path(str(packed_folder() / "pack.py"))
    assert pack["verify"](files, packed_folder())["answers"] == 709_014


# ---------------------------------------------------------------------------------------- what the page shows of them
SHORT_TEXTS = pd.DataFrame(
    [("sst2", "m", 0, 1, 0.6), ("sst2", "m", 1, 2, 0.4), ("sst2", "m", 2, 3, 0.9), ("yelp", "m", 0, 4, 0.7)],
    columns=["dataset", "model", "id", "words", "p_full"],
).assign(lower=-0.5, upper=0.5)


def test_the_material_counts_texts_words_answers_and_positives() -> None:
    found = edin_outputs.material(SHORT_TEXTS)
    assert found.to_dict("list") == {
        "dataset": ["sst2", "yelp"],
        "model": ["m", "m"],
        "n (texts)": [3, 1],
        "words, mean": [2.0, 4.0],
        "longest": [3, 4],
        "outputs": [2.0 + 4 + 8, 16.0],
        "p > 0.5": [2, 1],
    }


def test_texts_of_one_word_and_texts_counted_differently_have_no_naopc() -> None:
    scores = pd.DataFrame({"dataset": "sst2", "model": "m", "id": [0, 1, 1, 2], "value": [0.1, np.nan, np.nan, 0.2]})
    found = edin_outputs.texts_left_out(SHORT_TEXTS, scores).set_index("dataset")
    assert found.loc["sst2", ["texts", "of one word", "counted differently"]].tolist() == [3, 1, 1]
    assert found["n (texts with a NAOPC)"].tolist() == [1, 1]


def test_the_exact_search_is_the_last_row_of_costs_and_asks_about_every_set() -> None:
    beams = SHORT_TEXTS.drop(columns=["words", "p_full"]).assign(search="merged", width=2, rows=10, upper=0.4)
    twice = pd.concat([beams, beams.assign(search="deduplicated")])
    found = edin_outputs.search_costs(twice, SHORT_TEXTS)
    assert found["search"].tolist() == ["merged", "exact"]
    assert found.loc[0, ["upper_error", "lower_error", "rows"]].tolist() == pytest.approx([0.1, 0.0, 10])
    assert found.loc[1, ["upper_error", "lower_error", "rows"]].tolist() == [0, 0, (2 + 4 + 8 + 16) / 4]


def test_a_compared_table_is_listed_whole_and_shown_where_it_differs() -> None:
    table = pd.DataFrame(
        {
            "model": ["a", "b", "c"],
            "value": [0.5, 0.25, 0.1],
            "tolerance": 0.005,
            "ours": [0.5, 0.3, np.nan],
            "n": [3, 3, 0],
            "match": pd.Series([True, False, None], dtype=object),
            "cause": ["", "rounded", "not asked"],
            "own": [True, False, True],
        }
    )
    listed = edin_outputs.compared_as_file(table, ["model"])
    assert listed["match"].tolist()[:2] == ["yes", "no"] and pd.isna(listed["match"].iloc[2])
    assert listed["rests_on"].tolist() == [edin_outputs.OWN[own] for own in (True, False, True)]
    shown = edin_outputs.without_match(table, ["model"], digits=2)
    assert shown.to_dict("records") == [{"model": "b", "files": "0.25", "ours": "0.30", "n": "3", "cause": "rounded"}]
    alike = table.iloc[:2].assign(match=[True, False])
    words = edin_outputs.agreement_in_words(alike)
    assert words.startswith(
        "1 of 2 numbers are the same in the files and ours (1 of the 2 are means of released values"
    )
    assert "rounded" in words
    assert edin_outputs.agreement_in_words(alike, within=0.1).startswith("2 of 2")


def test_a_limit_that_is_too_high_may_be_right_by_beam() -> None:
    high = pd.DataFrame({"upper_beam": [0.5, 0.5, 0.50001], "upper_ours": [0.5, 0.4, 0.5]})
    assert edin_outputs.right_by_beam(high) == 2


# ------------------------------------------------------------------------------------------------- what the page shows
def test_what_was_saved_of_single_inputs_becomes_searches_and_scores() -> None:
    about = {"dataset": "sst2", "model": "bert_sst2", "id": "3"}
    beams = pd.DataFrame(
        [
            {**about, "method": "merged", "width": 5, "metric": metric, "value": value}
            for metric, value in (("lower", -0.1), ("upper", 0.4), ("rows", 30.0))
        ]
    )
    scores = pd.DataFrame(
        [
            {**about, "method": "lime", "kind": "sufficiency", "metric": metric, "value": value}
            for metric, value in (("aopc", 0.25), ("naopc", 0.7))
        ]
    )
    found = edin_outputs.Recomputed.of(SHORT_TEXTS, beams, scores)
    assert found.beams[["search", "width", "upper", "rows"]].values.tolist() == [["merged", 5, 0.4, 30.0]]
    assert found.scores["value"].tolist() == [0.25]
    computed = found.cells[found.cells.computed]
    assert computed[["id", "method", "aopc"]].values.tolist() == [[3, "lime", 0.25]]


def test_numbers_that_differ_stand_in_readers_words(released) -> None:
    shown = edin_outputs.without_match(released.bounds, ["dataset", "model", "subset", "statistic"])
    assert len(shown) == 16 and {*shown["cause"]} == {"search from 0"}
    assert {*shown["number"]} == {"upper bound", "range"} and {*shown["texts"]} == {"all", "p > 0.5"}
    first = shown.iloc[0]
    assert first[["dataset", "model", "files", "ours"]].tolist() == ["SST-2", "BERT, IMDB", "0.5216", "0.5181"]
    counted = edin_outputs.where_scores_differ(released.means)
    assert counted["differ"].sum() == 1_210 - 973
    assert not [cell for cell in counted.to_numpy().ravel() if "_" in str(cell)]
    assert (counted["differ"] <= counted["of"]).all()


def test_the_result_of_the_page_counts_all_tables(released) -> None:
    shares = released.shared_out().set_index("table")
    assert shares.loc["all", ["compared", "agree"]].tolist() == [1_513, 1_258]
    sides = ["with ours", "of these agree", "released on both sides"]
    assert shares.loc["all", sides].tolist() == [568, 367, 945] and 568 + 945 == 1_513
    text = edin_outputs.in_short(released)
    assert text.startswith(
        "We worked out 1,513 means twice from the authors' files, by their procedure and by ours: 1,258"
    )
    assert "945 of the means are of released values both times" in text and "of the 568" in text and "367 are" in text
    assert "the cause of all 255 differences" in text and "52 of 2,430 released upper bounds" in text
    shown = edin_outputs.shares_shown(released.shared_out())
    assert shown.iloc[-1].tolist() == ["all", "1,513", "1,258", "568", "367", "945"]
    same = edin_outputs.agreement_in_words(released.bounds)
    assert same.startswith("140 of 156 numbers are the same in the files and ours (84 of the 156 are means of released")
    assert "| search from 0 | 16 | 0.0036 |" in edin_outputs.agreement_in_words(released.bounds)
    assert "For 48 of these the *beam search*" in edin_outputs.too_high_in_words(released)
    assert edin_outputs.too_high_shown(released.too_high)["too high by"][0] == "0.1392"


def test_ranks_of_short_texts_are_those_of_the_files_except_where_the_search_starts_at_0(released) -> None:
    for dataset in SHORT:
        for kind in edin_tables.KINDS:
            numbers = released.ranks_again(dataset, kind)
            assert len(numbers) == 6 * 4 * 3
            differing = [name for name, pair in numbers.items() if f"{pair.ours:.0f}" != pair.published]
            assert len(differing) == (4 if (dataset, kind) == ("yelp", "sufficiency") else 0)
            assert all(name.endswith(", exact") for name in differing)
    panels = released.panels()
    assert len(panels) == 10 and "IMDB long, sufficiency" in panels
    assert list(panels["SST-2 short, sufficiency"]) == ["AOPC", "exact", "beam"]
    assert list(panels["IMDB long, sufficiency"]) == ["AOPC", "beam"]
    assert len(edin_outputs.in_one_table(panels)) == 10 * 24


def test_lower_bounds_of_the_files_are_ours(released) -> None:
    numbers = released.largest_difference("lower")
    assert len(numbers) == 12 and max(pair.ours for pair in numbers.values()) < 1e-4
    assert max(pair.ours for pair in released.largest_difference("upper").values()) == pytest.approx(0.1392, abs=1e-4)


def test_the_notebooks_means_are_near_ours(released) -> None:
    explanations = released.explanations()
    assert {*explanations.dataset} == {"sst2", "yelp"} and len(explanations) == 2 * 6 * 10
    earlier = edin_tables.beside_before_after(explanations[explanations.dataset == "yelp"].drop(columns="dataset"))
    text = edin_outputs.before_after_in_words(earlier)
    assert text.startswith("36 of 160 are the same to the printed digit; the mean distance is 0.013")
    assert "NAOPC, sufficiency 0.95" in text


def test_a_cause_and_a_label_without_words_stay_as_they_are() -> None:
    assert edin_outputs.short_cause("nobody knows") == "nobody knows"
    assert (
        edin_outputs.in_a_word("beam") == "beam" and edin_outputs.in_a_word("naopc_sufficiency") == "NAOPC, sufficiency"
    )


def test_one_score_is_at_other_places_of_other_models() -> None:
    rows = [("yelp", "bert_yelp", 0.27, 0.21), ("yelp", "bert_imdb", 0.27, 0.39), ("yelp", "roberta_sst2", 0.27, 0.88)]
    text = edin_outputs.places_in_words(pd.DataFrame(rows, columns=["dataset", "model", "AOPC", "place"]))
    assert text == "On Yelp an AOPC of 0.27 is at 0.21 for BERT, Yelp and at 0.88 for RoBERTa, SST-2."
