"""What the pages on language models test and show, from the committed values."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pytest

from faithbook.engine.run import load_units
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.language import marking, prompted, win_rates

Mean = Callable[..., Comparison]


def mean_of(values: pd.DataFrame, over: list[str], *names: str, **fixed: str) -> Mean:
    """The mean of values over the cells with some labels, as `Page.quantity` gives it."""
    design = {"unit": ["dataset", "id"], "cluster": "cluster", "stratum": "dataset", "n_resamples": 99}
    cells = Conditions.of(values.dropna(subset=["value"]), over=over, **design)
    return lambda *labels, **more: Comparison(cells.mean(**fixed, **dict(zip(names, labels, strict=True)), **more))


# ------------------------------------------------------------------------------------------------------------ win rates
LENGTHS = ["short", "long"]


@pytest.fixture(scope="module")
def wins() -> Mean:
    values = win_rates.by_length(load_units("language_erasures", reference=True))
    over = ["length", "erasure", "metric", "method"]
    return mean_of(values, over, "method", "erasure", "length", metric=win_rates.SIDE)


@pytest.fixture(scope="module")
def rates(wins: Mean) -> pd.DataFrame:
    return win_rates.win_rate_table(wins, LENGTHS)


def test_win_rates_are_shown_by_length_and_method_with_random_scores_last(rates: pd.DataFrame) -> None:
    shown = win_rates.rates_for_readers(rates, LENGTHS)
    assert shown["method"].tolist() == [*win_rates.METHODS, "random"] * 2
    assert shown["length"].tolist() == ["short"] * 6 + ["long"] * 6
    assert shown["set to zero"].tolist()[4].startswith("0.93 [")  # occlusion on short texts
    assert win_rates.text_counts_in_words(rates, LENGTHS) == "300 short and 100 long"


def test_the_widest_gap_is_named_with_its_erasures(wins: Mean, rates: pd.DataFrame) -> None:
    text = win_rates.in_short(wins, rates, LENGTHS)
    text = re.sub(r" \[.+?\]", "", text)  # ends of intervals depend on the number of resamples
    assert "x∇x (input × gradient) on long texts is 0.38 by one erasure (*set to zero*)" in text
    assert "and 0.58 by another (*other texts' words*; n = 100)" in text
    assert "by −0.01 on short texts (n = 300) and by −0.01 on long texts (n = 100)" in text
    short = win_rates.in_short(wins, rates[rates.length == "short"], ["short"])
    assert re.search(r"occlusion on short texts is 0\.73 \[0\.\d\d, 0\.\d\d\] by one erasure", short)


def test_claims_on_erasures_compare_what_they_say(wins: Mean) -> None:
    dependence = win_rates.dependence_on_erasure(wins)
    assert len(dependence) == 5 * 3 * 2
    gain = wins("occlusion", "zero", "short") - wins("occlusion", "delete", "short")
    assert dependence["occlusion: set to zero minus deleted"].ours.point == pytest.approx(gain.ours.point)
    assert gain.ours.point == pytest.approx(0.131, abs=5e-4)
    short, long = win_rates.deletion_and_infill(wins).values()
    assert (short.ours.point, long.ours.point) == pytest.approx((0.011, -0.014), abs=5e-4)
    below = win_rates.below_one_half(wins, LENGTHS)
    assert len(below) == 40 and sum(part.ours.point > 0 for part in below.values()) < 13
    lost = below["Rollout without the sink, padding token, long: one half minus win rate"]
    assert lost.ours.point == pytest.approx(0.231, abs=5e-4)


def test_plausibility_is_a_rank_correlation_over_the_methods_of_a_text() -> None:
    units = pd.concat([load_units("language_erasures", reference=True, part=part) for part in ("", "texts")])
    rho = win_rates.with_plausibility(units)
    assert set(rho.dataset) == {"prompted-reviews"} and rho.value.dropna().between(-1, 1).all()
    parts = win_rates.with_each_erasure(mean_of(rho, ["erasure"]))
    assert parts["win rate and plausibility, set to zero"].ours.point == pytest.approx(0.238, abs=5e-4)


def test_the_models_answers_are_counted_by_length() -> None:
    texts = win_rates.by_length(load_units("language_erasures", reference=True, part="texts"))
    text = win_rates.answered_rightly(mean_of(texts, ["length", "metric"]), LENGTHS, matches=20)
    assert (
        text.startswith("A win rate is over 20 random word sets")
        and "85% of the short texts and 62% of the long" in text
    )


def test_a_figure_names_every_cell_for_those_who_do_not_see_it(rates: pd.DataFrame) -> None:
    _, alt = win_rates.win_rate_figure(rates, LENGTHS)
    assert alt.count(";") == 5 * 4 * 2 - 1 and "random" not in alt.partition("dotted. ")[2]


# ---------------------------------------------------------------------------------------------------- amounts and sinks
@pytest.fixture(scope="module")
def score() -> Mean:
    values = marking.with_correlations(load_units("language_amounts", reference=True))
    values = values[values.dataset == "prompted-sst"]
    return mean_of(values, ["metric", "method"], "metric", "method")


@pytest.fixture(scope="module")
def first_token() -> Mean:
    values = marking.above_its_share(load_units("language_amounts", reference=True, part="sinks"))
    return mean_of(values, ["first", "metric", "method"], "first", "metric", "method")


def test_soft_metrics_follow_the_amount_and_no_longer_at_equal_retention(score: Mean) -> None:
    rewards, falls = marking.rewards_for_amount(score), marking.falls_of_correlation(score)
    assert rewards["amount and Soft-NS, rank correlation"].ours.point == pytest.approx(0.244, abs=5e-4)
    assert falls["correlation with Soft-NC minus with pi-Soft-NC"].ours.point == pytest.approx(0.470, abs=5e-4)
    assert len(rewards) == 4 and len(falls) == 2
    ahead = marking.ahead_of_occlusion(score)
    assert len(ahead) == 6 and all(part.ours.point < 0 for part in ahead.values())
    assert {*marking.correlations_to_quote(score)} == {"amount and pi-Soft-NS", "amount and pi-Soft-NC"}


def test_methods_are_listed_in_their_order_with_their_amount_first(score: Mean) -> None:
    shown = marking.correlation_table(marking.amounts_by_method(score))
    assert shown["method"].tolist() == list(marking.METHODS)
    assert [*shown] == ["method", "amount", "soft_ns", "soft_nc", "pi_soft_ns", "pi_soft_nc"]
    assert shown["amount"].tolist()[-1].startswith("0.50 [")


def test_protecting_the_first_word_is_a_difference_of_two_means(first_token: Mean) -> None:
    table = marking.protecting(first_token)
    assert table["change"].tolist() == pytest.approx((table["protected"] - table["open"]).tolist())
    assert len(table) == 16 and len(marking.gains_of_attention(first_token)) == 8
    above = marking.above_even_share(first_token)
    assert len(above) == 5 and above["IG (integrated gradients), share minus an even share"].ours.point < 0
    shares = marking.first_shares(first_token).set_index("method").estimate
    assert shares["rollout_dropped"] == 0 and shares["rollout"] == shares.max()


def test_the_result_says_both_correlations_and_the_first_tokens_share(score: Mean, first_token: Mean) -> None:
    texts = mean_of(load_units("language_amounts", reference=True, part="texts"), ["metric", "dataset"])
    text = marking.in_short(score, first_token, texts(metric="right", dataset="prompted-sst"))
    assert "is 0.24 [" in text and "Soft-NS and 0.35 [" in text and "(n = 186 reviews)" in text
    assert "takes 51%" in text and "for 85%" in text


# ------------------------------------------------------------------------------------------------ contrasts, sentences
@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    parts = ("language_agreement", "language_agreement_outputs")
    units = pd.concat([load_units("language_agreement", reference=True, part=part) for part in parts])
    return prompted.subjects(units.assign(dataset="agreement"))


def test_a_contrast_finds_the_subject_more_often_for_two_methods_of_five(found: pd.DataFrame) -> None:
    share = mean_of(found, ["explained", "method"], "method", "explained")
    methods = prompted.explaining(found, prompted.CONTRAST)
    assert len(methods) == 5 and "random" in prompted.explaining(found, prompted.NO_OUTPUT)
    gains = prompted.gains_of_contrast(share, methods)
    assert gains["occlusion"].ours.point == pytest.approx(0.363, abs=5e-4)
    assert sum(part.ours.point > 0.05 for part in gains.values()) == 2
    text = prompted.contrast_in_short(share, methods)
    text = re.sub(r" \[.+?\]", "", text)  # ends of intervals depend on the number of resamples
    assert text.startswith("for 2 of 5 methods only") and "occlusion from 0.15 to 0.52 and Shapley sampling" in text
    assert "find it less often under the contrast: x∇x (input × gradient) from 0.29 to 0.21," in text
    alone = prompted.by_verb_alone(share, methods, blind=["random"])
    quoted = prompted.subjects_quoted(prompted.by_contrast(share, methods), alone)
    assert len(quoted) == 11 and quoted["random, alone"].ours.point == pytest.approx(0.2, abs=0.02)


def test_the_nearer_noun_is_a_row_and_what_is_explained_a_column(found: pd.DataFrame) -> None:
    share = mean_of(found, ["explained", "method", "misleads"], "method", "explained")
    shown = prompted.by_nearer_noun_shown(prompted.by_nearer_noun(share, ["occlusion"]))
    assert [*shown] == ["method", "nearer noun", "contrast", "log p(right verb)", "n"]
    assert shown["nearer noun"].tolist() == ["same number", "other number"] and shown["n"].tolist() == ["1,000", "996"]
    assert shown["log p(right verb)"].str[:4].tolist() == ["0.06", "0.24"]
    methods = prompted.explaining(found, prompted.CONTRAST)
    of_contrast, of_verb = prompted.nearer_noun_in_words(share, methods).split(". ")
    assert "found less often by occlusion and saliency and more often by x∇x" in of_contrast
    assert "found less often by saliency and more often by x∇x" in of_verb


def test_sentences_that_are_not_counted_are_said(found: pd.DataFrame) -> None:
    units = load_units("language_agreement", reference=True, part="language_agreement_outputs")
    text = prompted.sentences_counted(units, found.id.nunique())
    assert text.startswith("We wrote 2,000 beginnings of sentences, of 500 triples. 1,996 are counted.")
    assert "For the other 4 the model" in text


@pytest.fixture(scope="module")
def sentences() -> pd.DataFrame:
    return load_units("language_sentences", reference=True)


def test_sentences_are_shown_by_method_and_longer_prompts_judge_nothing(sentences: pd.DataFrame) -> None:
    values = prompted.bounded(sentences)
    mean = mean_of(values, ["dataset", "method", "metric"], "dataset", "method", "metric")
    datasets, methods = values.dataset.unique().tolist(), values.method.unique().tolist()
    text = prompted.bounds_in_short(mean, datasets, methods)
    text = re.sub(r" \[.+?\]", "", text)
    assert "(n = 40 prompts) Shapley sampling, the best method, reaches 0.89 and random scores 0.53;" in text
    assert text.endswith("on *facts-12* (n = 4 prompts) 0.88 and 0.49.")
    shown = prompted.by_row(prompted.measures(values, mean, methods), ["data", "method"], "measure")
    assert len(shown) == len(datasets) * len(methods) and {*prompted.METRICS.values()} < {*shown}
    reached = prompted.reached(mean, datasets, methods)
    above = prompted.above_random(reached)
    assert len(above) == len(methods) - 1 and not [part for part in above if prompted.LONGER in part]
    assert above["LIME, facts"].ours.point == pytest.approx(0.329, abs=5e-4)
    assert len(prompted.reached_quoted(reached)) == len(datasets) * len(methods)


def test_measures_order_methods_alike_and_prefer_the_truth(sentences: pd.DataFrame) -> None:
    pairs = mean_of(prompted.ordered_alike(sentences), ["dataset", "first", "second"])
    alike = prompted.agreements(pairs, ["facts", prompted.LONGER])
    judged = prompted.agreements_judged(alike)
    assert len(alike) == 6 and [*judged] == [
        "AOPC and LDS, facts", "AOPC and top-3 drop, facts", "LDS and top-3 drop, facts",
    ]  # fmt: skip
    assert judged["LDS and top-3 drop, facts"].ours.point == pytest.approx(0.642, abs=5e-4)
    preferred = prompted.truth_preferred(sentences)
    table = prompted.truth(preferred, mean_of(preferred, ["dataset", "metric"])).set_index(["data", "measure"])
    assert table.estimate["facts", "LDS"] == pytest.approx(0.97, abs=5e-3)
