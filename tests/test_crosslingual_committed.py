"""What the pages of study 3 compare, made of the committed values: the comparisons that decide are those of the
committed scoreboard, and tables and sentences say what the values say."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from faithbook.engine.pages import BOARD
from faithbook.engine.run import load_units
from faithbook.judge import published, scoreboard
from faithbook.judge.scores import Material, Prepare, Scores
from faithbook.paths import reference_dir
from faithbook.show.labels import row_label
from faithbook.show.numbers import spoken
from faithbook.stats.agreement import tau_of
from faithbook.stats.conditions import Conditions
from faithbook.studies.crosslingual import aligners, baselines, deviations, erasing, marks
from faithbook.studies.crosslingual import zaman_belinkov_claims as claims
from faithbook.studies.crosslingual import zaman_belinkov_rho as of_rho
from faithbook.studies.crosslingual.zaman_belinkov import OUTPUT_NAMES, PAPER_LANGUAGES
from faithbook.studies.crosslingual.zaman_belinkov_alignment import EVERY, found_batches
from faithbook.studies.crosslingual.zaman_belinkov_rho import OF_RHO, OF_TRAININGS, Languages
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    FLOORS,
    KEYS,
    LOOKING,
    Rows,
    defined,
    on_more_texts,
    printed_table,
)

XNLI = "nli"
MODELS = ["e5", "six"]
TABLE1 = printed_table("crosslingual_table1")[[*KEYS, "value"]]


def measured(
    notebook: str,
    over: Sequence[str],
    *,
    parts: Sequence[str] = ("",),
    prepare: Prepare | None = None,
    dataset: str | None = XNLI,
) -> Scores:
    """Committed values as a page measures them, of one data set."""
    units = pd.concat([load_units(notebook, part=part, reference=True) for part in parts], ignore_index=True)
    if "dataset" not in units:
        units["dataset"] = "none"
    if dataset is not None:
        units = units[units["dataset"] == dataset]
    frame = units if prepare is None else prepare(units)
    design = {"unit": ["dataset", "id"], "cluster": "cluster", "stratum": "dataset", "n_resamples": 99}
    cells = Conditions.of(frame, over=over, **design)
    material = Material("the reference", "full", units, tuple(units["dataset"].unique()), ())
    none = pd.DataFrame({"value": pd.Series(dtype=float)})
    return Scores("zaman_belinkov_2022", notebook, frame, material, cells, none)


@functools.cache
def across() -> Scores:
    return measured("crosslingual_metrics", OF_RHO, prepare=functools.partial(defined, over=OF_RHO))


@functools.cache
def reading() -> Scores:
    return measured("crosslingual_metrics", ["model", "language"], parts=["predictions"])


@functools.cache
def precision(further: bool = False) -> Rows:
    prepare = functools.partial(defined, over=marks.OF_MARKS, further=further)
    of_people = measured("crosslingual_plausibility", marks.OF_MARKS, prepare=prepare, dataset=None)
    return marks.precision_on(of_people, "esnli", printed_table("crosslingual_table4")[[*KEYS, "value"]])


def rho(**labels: object) -> Rows:
    return Rows(across(), TABLE1, **({"setting": "main", "language": [*PAPER_LANGUAGES]} | labels))


@functools.cache
def board() -> pd.DataFrame:
    return pd.read_csv(reference_dir() / BOARD).set_index("id")


def decides(claim: str, parts: dict) -> None:
    """The comparison that decides a claim has the value and n of the committed scoreboard."""
    line = board().loc[claim]
    pair = parts[line["part"]]
    assert float(pair.ours.point) == pytest.approx(line["effect"], abs=1e-6)
    assert len(parts) == line["parts"]
    if not np.isnan(line["published"]):
        assert pair.published == pytest.approx(line["published"], abs=1e-6)


# ------------------------------------------------------------------------------------------------------------ languages
def test_all_languages_are_read_and_one_at_chance_is_not_tested() -> None:
    languages = Languages.of(across(), reading())
    assert languages.unread == []
    assert languages.averaged == [*PAPER_LANGUAGES]
    assert {"th", "sw", "ur"} <= set(languages.further)
    assert "clearly above chance (0.33)" in languages.in_words()
    one_in_three = np.arange(len(reading().frame)) % 3 == 0
    guessed = reading().frame.assign(value=lambda frame: frame.value.where(frame.language != "fr", one_in_three))
    cells = Conditions.of(guessed, over=["model", "language"], unit="id", n_resamples=99)
    unread = Languages.of(across(), replace(reading(), frame=guessed, cells=cells, _means={}))
    assert unread.unread == ["fr"] and "fr" in unread.further and "fr" not in unread.averaged
    assert "fr (0.33" in unread.in_words()


def test_table_2_has_rho_and_accuracy_of_each_language_beside_the_printed_ones() -> None:
    languages = Languages.of(across(), reading())
    by_language = Rows(
        across(), of_rho.printed_by_language(MODELS)[["model", "language", *KEYS, "value"]], setting="main"
    )
    table = of_rho.read_and_explained(by_language, reading(), languages)
    assert list(table["rho"]) == languages.explained
    assert float(table["accuracy"]["de"].ours.point) == pytest.approx(
        reading().frame.query("language == 'de'").groupby("model").value.mean().mean(), abs=1e-6
    )
    x, y = ([float(pair.ours.point) for pair in table[name].values()] for name in ("accuracy", "rho"))
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(board().effect["xl_c05"], abs=1e-6)
    taus = of_rho.own_taus(by_language, languages)
    assert taus["de"] == pytest.approx(0.69, abs=0.01)  # as the analysis plan says
    orders = of_rho.language_orders(by_language, languages, reading(), MODELS)
    assert len(orders["crosslingual_table12"].claim) == 4
    [base] = orders["crosslingual_table12"].bases.values()
    assert float(base.ours.point) == pytest.approx(float(table["accuracy"]["de"].ours.point) - 1 / 3)


def test_neither_model_of_the_paper_has_the_order_of_languages_that_their_mean_has() -> None:
    """What the page says of c06."""
    accuracy = published.table("crosslingual_table7").pivot(index="language", columns="model", values="value")
    parts = of_rho.read_in_order(reading(), Languages.of(across(), reading()))
    assert parts is not None and all(pair.published > 0 for pair in parts.values())
    assert accuracy["mbert"]["vi"] > accuracy["mbert"]["bg"]
    assert accuracy["xlm_r_base"]["hi"] < accuracy["xlm_r_base"]["th"]
    # Rounded, numbers that differ look the same; two that are the same are so in the paper.
    said = of_rho.against_c06_in_words()
    assert "Vietnamese (0.7043) than in Bulgarian (0.6952; the paper has 0.6952 for Chinese as well)" in said
    assert {f"{accuracy['mbert'][language]:.2f}" for language in ("vi", "bg", "zh")} == {"0.70"}


def test_the_lead_is_not_firm_where_the_claim_about_it_is_mixed() -> None:
    """The page's first sentence says so; the curve of c01 has this choice as one that turns the answer."""
    copies_left_out = rho(setting="no copied words")
    leader, next_best = ("input_x_gradient", "l2"), ("saliency", "l2")
    lead = copies_left_out(leader, "loss") - copies_left_out(next_best, "loss")
    assert lead.ours.interval().high < 0 and board().decision["xl_c01"] == "mixed"


def test_the_verdict_on_table_1_depends_on_the_row_that_repeats_saliency() -> None:
    said = of_rho.without_repeat_in_words(rho())
    assert "p = 0.049 (n = 60). So the verdict on this order depends on counting saliency twice." in said


def test_languages_that_a_claim_names_have_to_be_there() -> None:
    languages = Languages.of(across(), reading())
    parts = of_rho.read_in_order(reading(), languages)
    assert parts is not None and "accuracy in bg minus th" in parts
    assert not any("en" in part.split()[2:] for part in parts)
    few = replace(languages, further=[name for name in languages.further if name != "th"])
    assert of_rho.read_in_order(reading(), few) is None


def test_the_spread_over_trainings_is_that_of_three_means() -> None:
    trainings = measured("crosslingual_metrics", OF_TRAININGS, prepare=of_rho.main_setting_of_trainings)
    languages = Languages.of(across(), reading())
    spread, printed = of_rho.spread_over(trainings, languages), of_rho.printed_spreads(MODELS, languages)
    row = {"method": "saliency", "aggregation": "l2", "output": "loss", "model": "e5", "language": "de", "value": 0.01}
    named = {name: row[name] for name in ("method", "aggregation", "output", "model", "language")}
    frame = trainings.frame
    chosen = frame[np.logical_and.reduce([frame[name] == value for name, value in named.items()])]
    means = chosen.groupby("seed").value.mean()
    assert len(means) == 3
    assert float(spread(row).ours.point) == pytest.approx(means.std(ddof=1), abs=1e-6)
    assert spread(row).published == 0.01
    said = of_rho.rho_spreads_in_words(spread, printed, 3)
    assert said.startswith("Over ") and "(n = 20 texts, 3 training runs)" in said
    assert of_rho.rho_spreads_in_words(lambda row: None, printed, 1) == ""


def test_rho_falls_along_random_links() -> None:
    links = of_rho.along_links(across(), Languages.of(across(), reading()))
    rows, means = of_rho.rows_along_links(links), of_rho.means_along_links(links)
    assert len(rows) == 3 * 14 and set(rows.output) == {"loss"}
    decides("crosslingual_figure7", of_rho.above_random_links(means))


# --------------------------------------------------------------------------------------------------------------- claims
def test_what_decides_the_claims_on_rho_is_on_the_scoreboard() -> None:
    decides("xl_c01", claims.leads(rho(), [claims.FAITHFUL]))
    decides("xl_c04", claims.gradients_ahead(rho()))
    more = Rows(
        measured("crosslingual_metrics", OF_RHO, prepare=of_rho.main_setting_on_more),
        TABLE1,
        setting="main",
        language=[*PAPER_LANGUAGES],
    )
    l2 = claims.l2_ahead(rho(), more, "xl_c02/direction")
    assert float(l2[board().part["xl_c02"]].ours.point) == pytest.approx(board().effect["xl_c02"], abs=1e-6)
    assert sum(part.startswith("mean minus L2") for part in l2) == 2  # saliency, for either output
    assert sum(part.startswith("L2 minus mean") for part in l2) == 7


def test_variants_change_one_choice_and_drop_what_is_not_there() -> None:
    asked = []

    def parts(**labels: object) -> dict:
        asked.append(labels)
        return {}

    languages = {"languages": ["bg", "th"], "further": ["th"]}
    found = list(claims.variants(parts, across(), MODELS, **languages))
    assert found[0] == ("main", "all", "the paper's") and asked[0] == {}
    assert ("no copied words", "all", "the paper's") in found and not any(key[0].startswith("random") for key in found)
    assert {"setting": claims.FAIR, "model": "six"} in asked and {"language": ["bg", "th"]} in asked
    alone = list(claims.variants(parts, across(), ["e5"], languages=["bg"], further=[]))
    assert {key[1:] for key in alone} == {("all", "the paper's")}


def test_what_decides_the_claims_on_highlights_is_on_the_scoreboard() -> None:
    leads, on_more = (claims.leads(source, claims.PLAUSIBLE) for source in (precision(), precision(further=True)))
    decides("xl_c11", on_more_texts(leads, on_more))
    decides("xl_c14", claims.gradients_ahead(precision()))
    decides("xl_c13", claims.winners_differ(precision(), rho()))


# -------------------------------------------------------------------------------------------------------------- erasure
@functools.cache
def erased() -> Scores:
    return measured("crosslingual_metrics", erasing.OF_ERASURE, parts=["", "erasure"], prepare=erasing.with_ranks)


def test_what_decides_the_claims_on_erasure_is_on_the_scoreboard() -> None:
    decides("xl_c10", erasing.rank_gains(erased()))
    variants = erasing.spread_variants(erased(), MODELS, "bg")
    first, *_ = variants.values()
    separates = first.of["rho separates"]
    assert float(separates["rho minus comprehensiveness"].ours.point) == pytest.approx(
        board().effect["xl_c09"], abs=1e-6
    )
    assert [key[:2] for key in list(variants)[:2]] == [("deviation", "26 rows"), ("deviation", "24 rows")]
    assert len(variants) == 9 and len(erasing.spread_variants(erased(), ["e5"], "bg")) == 5
    rows = erasing.both_models(erased(), MODELS)
    assert len(erasing.leads(rows)) == 2 * 11 + 3 * 12
    printed = printed_table("crosslingual_table3").query("metric == 'sufficiency'").set_index(KEYS).value
    ours = rows["sufficiency"](("lime", "none"), "loss")
    assert ours.published == pytest.approx(printed["lime", "none", "loss"] * 6 / 5)


def test_the_spread_is_shown_beside_the_printed_one_as_a_mean_over_five_lengths() -> None:
    of_metrics = erasing.signals(erased(), erasing.series("bg"))
    table = erasing.spread_table(of_metrics, 11).set_index("metric")
    assert table["printed"]["comprehensiveness"] == pytest.approx(0.0113, abs=1e-4)
    assert table["printed × 6/5"]["comprehensiveness"] == pytest.approx(0.0113 * 6 / 5, abs=1e-4)
    assert table["printed"]["rho"] == pytest.approx(0.252, abs=1e-3) and np.isnan(table["printed × 6/5"]["rho"])
    assert np.isnan(table["printed"]["rho, bg alone"]) and (table.n == 60).all()
    assert (table["noise with 11"] > table["by noise alone"]).all()
    between = erasing.spreads_between(erased())
    assert table["between methods"]["rho"] == pytest.approx(float(between["rho"].ours.point))
    assert "So with our models erasure separates the rows more than in print" in erasing.mean_spreads_in_words(
        of_metrics
    )
    small = {name: replace(signal, seen=0.0) for name, signal in of_metrics.items()}
    assert "So with our models" not in erasing.mean_spreads_in_words(small)
    counts = erasing.against_baselines(erased())
    assert len(counts) == 3 * len(FLOORS) and (counts.better + counts.worse <= counts.explanations).all()


def test_the_fault_scores_the_windows_of_the_first_batch_instead_of_the_texts() -> None:
    """Of sixty texts ten have their own outputs, and there are 32 windows; methods then differ less, under sufficiency
    as little as printed."""
    table = erasing.with_the_fault(erased())
    found, said = table.set_index(["metric", "texts"]), erasing.fault_in_words(table)
    for metric in erasing.METRICS:
        of_metric = found.loc[metric]
        assert of_metric.n.tolist() == [60, 10, 32]
        assert of_metric["tau with all"].iloc[0] == 1
        spread = of_metric["spread over 24 rows"]
        assert spread[erasing.RELEASED] < 0.6 * spread[erasing.OWN]
        assert f"from {spread[erasing.OWN]:.3f} to {spread[erasing.RELEASED]:.3f} under {metric}" in said
    spread = found["spread over 24 rows"]
    printed = {metric: erasing.printed_spread_of_different_rows(metric) for metric in erasing.METRICS}
    assert all(f"same rows: {printed[metric]:.3f})" in said for metric in erasing.METRICS)
    assert spread["sufficiency", erasing.RELEASED] == pytest.approx(printed["sufficiency"], abs=3e-3)
    assert spread["comprehensiveness", erasing.RELEASED] > 1.5 * printed["comprehensiveness"]
    ours = erasing.windows(60).set_index("run").loc["ours"]
    assert ours.tolist() == [60, 11, 32, 11, 10]


def test_costs_are_per_text_and_model() -> None:
    costs = pd.DataFrame(
        [("e5", 0, "lime", 100.0, 8.0), ("six", 0, "lime", 100.0, 4.0), ("e5", 0, "other", 9.0, 1.0)],
        columns=["model", "seed", "method", "rows_asked", "seconds"],
    )
    [row] = erasing.cost_table(costs, texts=10).to_dict("records")
    assert (row["method"], row["forward, one by one"], row["milliseconds"], row["n"]) == ("lime", 10.0, 600.0, 10)
    assert row["hours, paper's texts"] == pytest.approx(0.6 * 5010 * 5 / 3600) and row["paper"] == "several hours"
    texts, of_rho_texts = pd.DataFrame({"input": ["a", "a", "b"]}), pd.DataFrame({"input": ["c", "c"]})
    assert erasing.texts_read(texts, of_rho_texts.assign(language=["bg", "de"])) == 2 + 1 * 3


def test_of_a_mixed_sentence_both_statements_are_told_on_unseen_inputs() -> None:
    """The comparison that is stored of it belongs to the statement that holds."""
    said = scoreboard.what_decides_unseen("xl_c09", scoreboard.confirmed())
    assert said == (
        "That rho separates methods replicates on our models. "
        "That erasure metrics hardly separate them does not replicate on our models"
    )
    assert scoreboard.what_decides_unseen("xl_c04", scoreboard.confirmed()).startswith(
        "saliency (μ) minus erasing, loss, "
    )


def test_comparisons_that_were_never_tested_are_not_counted_on_unseen_inputs() -> None:
    """Of an order the mean alone is tested, of several statements those on which the paper's own repeats agree."""
    assert "comparison" not in scoreboard.unseen_in_sentences("crosslingual_table1")
    sizes = {"direction": 9, "size": 7}
    assert "8 of 9 comparisons hold; 7 more are not tested." in scoreboard.unseen_in_sentences("xl_c02", sizes=sizes)
    assert "with the models that were measured on unseen inputs" in scoreboard.unseen_in_sentences("naopc_c06")
    assert "with the one model that was measured on unseen inputs" in scoreboard.unseen_in_sentences("xl_c04")


# ----------------------------------------------------------------------------------------------------------- highlights
def test_marks_of_people_are_compared_with_random_scores_the_firmest_first() -> None:
    of_people = precision().measured
    table = marks.marks_beside_random(of_people)
    assert table.marks.tolist() == [marks.NAMES[name] for name in marks.sets_of_marks(of_people)]
    assert table.marks[0] == "e-SNLI" and table.n[0] == 100
    assert table.estimate[0] == pytest.approx(table["mean of the 26"][0] - table["random scores"][0])
    others = marks.precision_on_substitutes(of_people, TABLE1)
    assert {name for name, *_ in others} == set(table.marks[1:])
    counted = marks.leads_counted(of_people)
    assert counted.startswith("e-SNLI ") and counted.count("of 60") == len(table)
    share = marks.share_of_words(of_people, "esnli")
    equal = of_people.frame.query("dataset == 'esnli' and metric == 'share'").drop_duplicates("id").value.mean()
    assert float(share.ours.point) == pytest.approx(equal, abs=1e-3)
    assert marks.plain_minus_saliency(precision()) < 1e-3
    leaders = marks.winners(rho(), precision()).set_index("output")
    assert leaders["leads rho, ours"]["loss"] == "x∇x (L2)"


def test_the_threshold_is_the_one_that_was_put_into_the_parts_of_an_even_spread() -> None:
    """Every text of the full run has the same one."""
    texts = measured("crosslingual_projected", ["metric", "language"], parts=["texts"])
    rows = texts.frame.query("language == 'en' and model == 'e5' and seed == 0").set_index(["id", "metric"]).value
    first = rows.index[0][0]
    expected = rows[first, "threshold"] / np.sqrt(rows[first, "words"])
    assert marks.our_threshold(texts) == pytest.approx(expected, abs=1e-6)
    assert 0 < expected < marks.PRINTED_THRESHOLD


def test_marks_that_were_carried_over_are_in_the_order_of_the_scoreboard() -> None:
    prepare = functools.partial(defined, over=marks.OF_PROJECTED)
    carried = marks.Carried(measured("crosslingual_projected", marks.OF_PROJECTED, prepare=prepare))
    order = carried.order()
    assert float(tau_of(order.ours, order.published).point) == pytest.approx(board().effect["crosslingual_table5"])
    assert "en" not in carried.languages and "en" in order.items
    mean = carried.cell({"quantity": "map"})
    each = [float(carried.cell({"quantity": "map", "language": name}).ours.point) for name in carried.languages]
    assert float(mean.ours.point) == pytest.approx(np.mean(each), abs=1e-6)
    assert f"of {len(carried.languages)}" in carried.clearly_above_random()
    assert marks.best_of_table5() == "th"
    assert set(marks.table6_checked().fits) == {"yes"}


# -------------------------------------------------------------------------------------------------------------- aligner
def test_the_layer_in_use_is_compared_with_every_other() -> None:
    counts = measured("crosslingual_alignment", ["gold", "method", "layer", "metric"], dataset=None)
    ours = aligners.Aligners(counts, 7)
    choice = ours.choice().set_index(["gold", "layer"])
    assert (choice.xs(7, level="layer").estimate == 0).all()
    lowest = min(ours.layers, key=lambda layer: float(ours.score("bible", "softmax", layer).ours.point))
    assert ours.best_layer("bible", "softmax") == lowest == 7  # by which it was chosen
    assert ours.lower_layers() == "AER is lowest in layer 7, which is in use, on 3 of 3 sets."
    assert "AER is lower in layer 5, 7 than in layer 6" in aligners.Aligners(counts, 6).lower_layers()
    lines = ours.in_words().splitlines()
    assert len(lines) == 3 and spoken(ours.in_use("bible"), ".2f") in lines[0]
    assert len(ours.rows()) == 4 * sum(len(by_layer) for by_layer in ours.aer.values())
    assert "FAITHLIB_DATA" in aligners.missing("rwth")


def test_translations_are_found_as_on_the_scoreboard() -> None:
    batches = measured("crosslingual_alignment", ["model", "language"], parts=["cka"], dataset=None)
    rates, models = batches.each(found_batches), batches.levels("model")
    decides("crosslingual_figure6", aligners.above_english(rates, models))
    said = deviations.found_in_words(rates, models)
    assert "(chance 0.09)" in said and f"{spoken(rates[models[0], EVERY], '.2f')}" in said
    agreed = measured("crosslingual_alignment", ["language", "metric"], parts=["agreement"], dataset=None)
    table = aligners.agreement_of_aligners(agreed)
    assert table.estimate.is_monotonic_decreasing and table.estimate.between(0, 1).all()


# ---------------------------------------------------------------------------------------------- baselines, deviations
def test_what_is_left_above_the_baselines_is_counted_in_every_setting() -> None:
    by_setting = baselines.rows_by_setting(across())
    few = {name: by_setting[name] for name in (baselines.MAIN, baselines.TREATED)}
    leads = baselines.above_baselines(few)
    names = {name: baselines.SETTINGS[name] for name in few}
    table = baselines.left_by_setting(few, leads, names).set_index(["output", "setting"])
    assert len(table) == 2 * len(OUTPUT_NAMES)
    assert (table["above all baselines"] + table["below one"] <= table.methods).all()
    quoted = baselines.baselines_to_quote(by_setting)
    beside = baselines.beside_published(by_setting)
    assert list(beside)[:-2] == [row_label(*row) for row in LOOKING]
    assert [name.partition(": ")[2] for name in list(beside)[-2:]] == list(quoted)[:2]
    assert beside[f"baseline: {baselines.NORM}"].published == pytest.approx(0.697, abs=1e-3)
    assert np.isnan(quoted[baselines.NORM].published)
    assert len(baselines.drawn_rows(by_setting)) == len(by_setting) - len(baselines.NOT_DRAWN)


def test_sizes_and_words_of_the_deviations() -> None:
    sizes = deviations.smaller(across(), precision().measured).set_index("point")
    assert sizes.index.tolist() == [f"E{number}" for number in range(15, 22)]
    assert sizes.here["E18"] == "60, 20, 20"
    assert sizes.here["E21"].endswith("100 of e-SNLI, 338 for methods that need one gradient")
    assert deviations.printed_difference() < 0.001
    assert deviations.best_read_in_words(5).endswith("bg, de, es, fr.")
    assert "comprehensiveness 0." in deviations.means_of_table3()
    texts = deviations.rounded_bins(pd.DataFrame({"input": ["a", "a", "b"], "words": [25, 25, 100]}))
    assert texts.moved.tolist() == pytest.approx([3 / 5, 0.0])  # see bin_sizes
    assert texts.different.tolist() == [4, 5]


def test_methods_that_need_many_passes_read_fewer_pairs_because_of_their_cost() -> None:
    with_any_row = functools.partial(defined, over=marks.OF_MARKS, further=True)
    on_all = measured("crosslingual_plausibility", marks.OF_MARKS, prepare=with_any_row, dataset="esnli")
    pairs = marks.pairs_of_each(on_all, "esnli")
    assert list(pairs) == [338, 100]
    assert {"LIME", "occlusion"} <= set(pairs[100]) and "saliency" in pairs[338]
    spent = marks.seconds_a_pair("esnli")
    assert spent["all"] > 10 * spent["one pass"] > 0
    words = marks.pairs_in_words(on_all, "esnli")
    assert "on 338; " in words and f"{spent['all']:.1f} seconds" in words
