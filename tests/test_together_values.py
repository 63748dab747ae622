"""The tables, figures and sentences of the last chapter on the committed values of the full run: what they say is
worked out a second time, from the values of single inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from faithbook.engine.run import load_units
from faithbook.judge.scores import REFERENCE
from faithbook.show.labels import label
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.together import (
    advice,
    agreement,
    diagnosticity,
    evalxnlp,
    planted_truth,
    pointing_game,
    questions,
    reasons,
    toolkit_tasks,
)
from faithbook.studies.together.planted_truth import CELL, MISLED, USUAL, at_main
from faithbook.studies.together.questions import SHUFFLED, by_cell
from faithbook.studies.together.toolkit_tasks import BOUNDS
from faithbook.text import MINUS
from faithlib.catalogue import FAITHFULNESS

Prepare = Callable[[pd.DataFrame], pd.DataFrame]


def measured(frame: pd.DataFrame, over: Sequence[str]) -> Any:
    """Values as a page has them, with few resamples."""
    design = {"unit": ["dataset", "id"], "cluster": "cluster", "stratum": "dataset"}
    cells = Conditions.of(frame.dropna(subset=["value"]), over=over, n_resamples=99, **design)
    return SimpleNamespace(
        frame=frame,
        cells=cells,
        source=REFERENCE,
        mean=lambda **labels: Comparison(cells.mean(**labels)),
        levels=lambda column: frame[column].unique().tolist(),
    )


def units_of(notebook: str, part: str = "") -> pd.DataFrame:
    return load_units(notebook, "full", part=part, reference=True)


# ------------------------------------------------------------------------------------------------------- planted truth
@pytest.fixture(scope="module")
def planted() -> SimpleNamespace:
    """What the page on planted truth measures, with what it makes of it first."""
    units = units_of("together_planted")
    prefers = measured(questions.preferred_truth(units), CELL)
    follows = measured(questions.followed_truth(units), ["asked", *CELL])
    main, trained = planted_truth.main_erasures(prefers), planted_truth.trained_models(prefers)
    to_rungs = by_cell(prefers, CELL, against=questions.RUNGS)
    asked = by_cell(follows, CELL[:4], asked=questions.FOLLOWS, model=trained)
    followed = at_main(asked, main)
    return SimpleNamespace(
        units=units,
        prefers=prefers,
        frame=follows.frame,
        main=main,
        trained=trained,
        rungs=at_main(to_rungs, main),
        follows=followed,
        lost=planted_truth.rank_correlations_lost(followed),
    )


def test_the_main_way_to_erase_is_the_first_of_each_kind(planted: SimpleNamespace) -> None:
    assert planted.main == {kind: ways[0] for kind, ways in reasons.ERASURES.items()}
    ways = set(planted.prefers.frame.erase)
    assert set(planted.main.values()) < ways  # the model trained as usual has others


def test_what_is_lost_is_the_usual_model_minus_the_misled_one(planted: SimpleNamespace) -> None:
    frame = planted.frame[planted.frame.asked == questions.FOLLOWS]
    frame = frame[frame.erase == frame.modality.map(planted.main)]
    means = frame.groupby(["modality", "model", "metric"]).value.mean()
    assert len(planted.lost) > 20
    for (modality, metric), loss in planted.lost.items():
        by_hand = means[modality, USUAL, metric] - means[modality, MISLED, metric]
        assert loss.ours.point == pytest.approx(by_hand), (modality, metric)
    parts = planted_truth.trained_minus_misled(planted.lost)
    assert f"{label('n_auc')}, text: trained minus misled" in parts and len(parts) == len(planted.lost)


def test_claims_are_about_the_models_and_comparisons_that_they_name(planted: SimpleNamespace) -> None:
    metrics = set(planted.prefers.frame.metric)
    ruins = planted_truth.truth_against_its_ruins(planted.rungs)
    assert len(ruins) == len(planted.main) * len(planted_truth.HAND_BUILT) * len(metrics) * 2
    assert all("linear" in part or "detector" in part for part in ruins)
    every = at_main(by_cell(planted.prefers, CELL, model=planted.trained), planted.main)
    methods = planted_truth.truth_against_methods(every)
    # 495 parts: the number of resamples of the page is chosen for these.
    assert len(methods) == 495 and not any("shuffled" in part or "random" in part for part in methods)


def test_the_lowest_share_and_the_range_of_losses_are_in_the_sentence(planted: SimpleNamespace) -> None:
    preferred = planted_truth.preferred_to_shuffled(planted.rungs)
    frame = planted.prefers.frame
    frame = frame[(frame.against == SHUFFLED) & frame.model.isin(planted_truth.HAND_BUILT)]
    lowest = frame.groupby(["modality", "model", "erase", "metric"]).value.mean().min()
    said = planted_truth.in_short(preferred, planted.lost)
    assert f"on a share of {lowest:.2f} [" in said
    points = [loss.ours.point for loss in planted.lost.values()]
    assert f"changes by {-max(points):+.2f} [".replace("-", MINUS) in said and f" to {-min(points):+.2f} [" in said
    assert "When a model" not in planted_truth.in_short(preferred, {})
    shown = preferred[preferred.model == USUAL].set_index(["modality", "metric"])
    assert (shown.answer == "yes").sum() > 20 and set(shown.answer) <= {"yes", "no", "unsure"}


def test_the_map_has_a_row_for_each_metric_in_the_order_of_the_catalogue(planted: SimpleNamespace) -> None:
    preferred = planted_truth.preferred_to_shuffled(planted.rungs)
    fig, alt = planted_truth.truth_map(preferred)
    rows = [text.get_text() for text in fig.axes[0].get_yticklabels()]
    assert rows == [label(name) for name in FAITHFULNESS if name in set(preferred.metric)]
    cell = preferred.set_index(["modality", "model", "metric"]).estimate["text", "detector", FAITHFULNESS[0]]
    assert f"{label(FAITHFULNESS[0])} {cell:.2f}, " in alt and "by model: texts: detector, " in alt
    plt.close(fig)


def test_srg_stands_beside_the_metric_that_is_best_on_each_model(planted: SimpleNamespace) -> None:
    values = questions.srg_followed_truth(planted.units)
    srg = measured(values, ["asked", *CELL])
    table = planted_truth.srg_beside_others(srg, planted.follows, planted.main, planted.trained)
    assert len(table) == len(planted.main) * len(planted.trained)
    for row in table.to_dict("records"):
        cell = (row["modality"], row["model"])
        others = {label(key[2]): mean.ours.point for key, mean in planted.follows.items() if key[:2] == cell}
        assert others[row["best metric"]] == row["its value"] == max(others.values())
        own = values[(values.asked == questions.FOLLOWS) & (values.modality == cell[0]) & (values.model == cell[1])]
        assert row["SRG"] == pytest.approx(own[own.erase == planted.main[cell[0]]].value.mean())
    shown = planted_truth.srg_in_words(table)
    assert shown.columns[-1] == "n" and shown.SRG.str.match(r"0\.\d\d \[0\.\d\d, 0\.\d\d\]").all()
    best = (table["best metric"] == label("n_auc")).sum()
    assert f"in {best} of {len(table)} rows" in planted_truth.why_not_the_best(table)
    without = {key: mean for key, mean in planted.follows.items() if key[2] != "aopc_lerf"}
    assert planted_truth.srg_beside_others(srg, without, planted.main, planted.trained).empty
    assert planted_truth.why_not_the_best(pd.DataFrame()) == ""


def test_losses_stand_by_kind_with_the_largest_first(planted: SimpleNamespace) -> None:
    losses = planted_truth.losses(planted.lost)
    table = planted_truth.loss_table(losses)
    largest = losses.loc[losses.estimate.idxmax()]
    assert table.metric[0] == label(largest.metric)
    kind = questions.KINDS[largest.modality]
    assert table[kind][0].startswith(f"{largest.estimate:.3f} [") and table[f"not worse ({kind})"][0] == largest.answer
    drawn, alt = planted_truth.losses_by_order(planted.lost)
    assert planted_truth.NO_ORDER in alt and questions.KINDS["text"] in alt
    plt.close(drawn)


def test_models_are_checked_in_one_row_each() -> None:
    rows = [("vision", "trained", "mean", 0.9), ("text", MISLED, "mask", 0.6), ("text", "trained", "mask", 0.8)]
    rows.append(("text", "trained", "pad", 0.7))
    table = pd.DataFrame(rows, columns=["modality", "model", "erase", "class with nothing else"])
    table = table.assign(accuracy=[0.95, 0.96, 0.97, 0.97], n=40, **{"neither without": [0.9, 0.8, 0.7, 0.6]})
    shown = planted_truth.checks_in_words(table)
    assert shown.model.tolist() == ["trained", MISLED, "trained"]
    assert shown["class kept with nothing else"].tolist() == ["mask 0.80, pad 0.70", "mask 0.60", "mean 0.90"]
    said = planted_truth.usual_models(table)
    assert "*neither* 0.60 (texts, n = 40)" in said and "keeps its class 0.70 (texts" in said
    assert "texts 0.60 (`mask`)" in planted_truth.misled_models(table)


# ----------------------------------------------------------------------------------------------------------- agreement
@pytest.fixture(scope="module")
def agreed() -> SimpleNamespace:
    values = questions.agreements(units_of("together_matrix"))
    scores = measured(questions.correlations(values), agreement.PAIR)
    contrasts = measured(questions.pair_contrasts(values), agreement.PAIR[:2])
    cells = by_cell(scores, agreement.PAIR)
    return SimpleNamespace(scores=scores, contrasts=contrasts, cells=cells, table=agreement.pairs(cells))


def test_pairs_are_not_compared_with_the_rest_and_the_rest_has_every_metric(agreed: SimpleNamespace) -> None:
    assert questions.REST not in set(agreed.table["second"])
    rest = agreement.with_the_rest(agreed.cells)
    metrics = [name for name in FAITHFULNESS if name in set(agreed.table["first"])]
    assert {metric for _, metric in rest} == set(metrics)
    parts = agreement.minus_saco(rest, ["text"])
    assert len(parts) == len(metrics) - 1 and all(part.endswith(" minus SaCo, text") for part in parts)
    ahead = rest["text", "auc"].ours.point - rest["text", "saco"].ours.point
    assert parts[f"{label('auc')} minus SaCo, text"].ours.point == pytest.approx(ahead)
    within = agreement.within_minus_between(agreed.contrasts, "families", questions.INSIDE, ["text", "vision"])
    assert list(within) == [f"within minus between families, {kind}" for kind in ("text", "vision")]


def test_means_are_shown_with_the_signs_that_metrics_have_by_definition() -> None:
    cells = ["modality", "dataset", "method", "metric"]
    units = units_of("together_matrix")
    units = units[units.dataset == "movie"]
    flipped = measured(questions.turned(units).dropna(subset=["value"]), cells)
    means = planted_truth.listed(by_cell(flipped, cells), cells)
    shown = agreement.as_defined(means).set_index(["method", "metric"])
    plain = units.groupby(["method", "metric"]).value.mean()
    for metric in ("auc", "nc"):  # lower is better, higher is better
        assert shown.estimate["lime", metric] == pytest.approx(plain["lime", metric]), metric
    assert (shown.low <= shown.high).all()
    wide, caption = agreement.means_by_method(agreement.as_defined(means), "text")
    assert f"{label('auc')} ↓" in wide.columns and f"{label('nc')} ↑" in wide.columns
    assert caption.startswith("texts: mean of every metric over data sets (")


def test_clusters_are_framed_and_named(agreed: SimpleNamespace) -> None:
    clusters = agreement.clusters_of(agreed.table)
    assert not set(agreement.PLAUSIBILITY) & set(clusters.names)
    said = agreement.clusters_in_words(clusters, agreement.CLOSE)
    together = [group for group in clusters.above(agreement.CLOSE) if len(group) > 1]
    assert said.startswith(", ".join(label(name).replace(", ", " ") for name in together[0]))
    fig, alt = agreement.agreement_map(agreed.table, "text", clusters)
    frames = [len(clusters.above(above)) for above in (agreement.CLOSE, agreement.CLOSER)]
    sizes = [len(group) > 1 for above in (agreement.CLOSE, agreement.CLOSER) for group in clusters.above(above)]
    assert len(fig.axes[0].patches) == sum(sizes) <= sum(frames)
    assert f"above {agreement.CLOSE}: {said}" in alt
    again = agreement.clusters_in_words(clusters, agreement.CLOSER)
    ending = "They are the same above 0.7." if again == said else f"Above 0.7: {again}."
    assert agreement.both_clusters(clusters).endswith(ending)
    plt.close(fig)


def test_the_mean_agreement_is_in_the_sentence(agreed: SimpleNamespace) -> None:
    pairs = agreement.of_faithfulness(agreed.table)
    texts = pairs[pairs.modality == "text"].estimate
    said = agreement.in_short(agreed.table, ["text"])
    assert f"{texts.mean():.2f} on texts ({len(texts) // 2} pairs of metrics, from {texts.min():.2f} to" in said


# ------------------------------------------------------------------------------------------------------- diagnosticity
@pytest.fixture(scope="module")
def separated() -> SimpleNamespace:
    plain, controls = units_of("together_matrix"), units_of("together_matrix", "controls")
    values = questions.preferred_to_chance(pd.concat([plain, controls], ignore_index=True))
    scores = measured(values, ["modality", "against", "method", "metric"])
    against = [questions.CHANCE, questions.ITSELF, questions.RANKS]
    keys = ["modality", "metric", "against"]
    return SimpleNamespace(
        scores=scores,
        preferred=diagnosticity.preferred_to_random(scores),
        controlled=by_cell(scores, keys, metric=questions.SOFT, against=against),
    )


def test_diagnosticity_has_its_price_and_ties(separated: SimpleNamespace) -> None:
    prices = questions.prices_of(separated.scores, pd.DataFrame())
    table = diagnosticity.diagnosticity_with_prices(separated.preferred, separated.scores, prices)
    assert set(table.metric) == set(diagnosticity.SHOWN) & set(separated.scores.frame.metric)
    rows = table.set_index(["modality", "metric"])
    frame = separated.scores.frame
    ties = frame[(frame.against == questions.TIES) & (frame.modality == "text") & (frame.metric == "n_auc")]
    assert rows.ties["text", "n_auc"] == pytest.approx(ties.groupby("method").value.mean().mean())
    assert rows["model calls per input"]["text", "saco"] == prices["text", "groups"]
    assert table.groupby("modality").estimate.apply(lambda part: part.is_monotonic_decreasing).all()
    shown = diagnosticity.price_table(table).set_index(["modality", "metric"])
    assert shown["model calls"]["texts", label("saco")] == f"{prices['text', 'groups']:.0f}"
    assert shown["model calls"]["photographs", label("saco")] == "–" == shown["inputs needed"]["photographs", "Soft-NC"]
    fig, alt = diagnosticity.diagnosticity_figure(table)
    assert len(fig.axes) == table.modality.nunique() and "texts, n = " in alt
    plt.close(fig)


def test_the_best_and_the_worst_metric_are_in_the_sentence(separated: SimpleNamespace) -> None:
    shares = {key: mean.ours.point for key, mean in separated.preferred.items() if key[1] in FAITHFULNESS}
    said = diagnosticity.in_short(separated.preferred)
    for modality in ("text", "vision", "photographs"):
        of_kind = {metric: share for (kind, metric), share in shares.items() if kind == modality}
        best, worst = max(of_kind, key=of_kind.__getitem__), min(of_kind, key=of_kind.__getitem__)
        assert f"{label(best)} {of_kind[best]:.2f} [" in said and f" and {label(worst)} {of_kind[worst]:.2f} [" in said


def test_soft_metrics_are_compared_with_hard_ones_and_with_controls(separated: SimpleNamespace) -> None:
    gains = diagnosticity.soft_minus_hard(separated.preferred, ["text"])
    by_hand = separated.preferred["text", "soft_nc"].ours.point - separated.preferred["text", "nc"].ours.point
    assert gains[f"{label('soft_nc')} minus {label('nc')}, text"].ours.point == pytest.approx(by_hand)
    freed = diagnosticity.without_importance(separated.controlled, ["text", "vision"])
    assert len(freed) == 2 * 2 * 2 and not any(part.endswith("against random scores, text") for part in freed)
    shuffled = diagnosticity.against_itself_shuffled(separated.controlled, questions.PHOTOGRAPHS)
    assert set(shuffled) == {f"{label(metric)} against itself shuffled" for metric in questions.SOFT}
    point = separated.controlled["photographs", "soft_nc", questions.ITSELF].ours.point
    assert shuffled[f"{label('soft_nc')} against itself shuffled"].ours.point == point
    shares = diagnosticity.shares_of_faithfulness(separated.preferred, ["text"])
    assert set(shares) == {f"{label(name)}, text" for _, name in separated.preferred if name in FAITHFULNESS}


def test_a_map_of_the_middle_is_the_baseline_of_mirror_images() -> None:
    units = units_of("together_mirrored")
    scores = measured(units[units.metric == "rho"], ["method"])
    rho = {method: scores.mean(method=method) for method in scores.levels("method")}
    table = diagnosticity.lead_over_baselines(rho).set_index("method")
    assert table.index[0] == "middle" and table.estimate.is_monotonic_decreasing
    assert table["minus random"]["rollout"] == pytest.approx(table.estimate["rollout"] - table.estimate["random"])
    parts = diagnosticity.minus_random(rho)
    assert len(parts) == len(rho) - 2
    assert f"of {len(parts)} methods are clearly above that" in diagnosticity.lax_baseline(rho)


def test_costs_are_those_of_the_whole_matrix() -> None:
    prices = pd.DataFrame({"what": ["every metric", "hard", "controls"], "dataset": "movie", "inputs": 2, "methods": 3})
    prices = prices.assign(rows_asked=200, rows_run=50, seconds_all=2.0, seconds_model=0.5, seconds_core=1.0)
    costs = diagnosticity.matrix_costs(prices)
    assert costs[["metrics", "saved", "outside the model"]].to_dict("records") == [
        {"metrics": "every metric", "saved": 0.75, "outside the model": 0.5}
    ]


def test_a_method_stands_with_its_mean_importance(separated: SimpleNamespace) -> None:
    keys = ["modality", "method", "against"]
    shares = by_cell(separated.scores, keys, metric="soft_ns", against=[questions.CHANCE, questions.ITSELF])
    controls = pd.DataFrame({"modality": "text", "method": ["lime", "lime", "saliency"], "density": [0.2, 0.4, 0.1]})
    table = diagnosticity.with_mean_importance(shares, controls)
    assert len(table) == len(shares)
    found = table[(table.modality == "text") & table["mean importance"].notna()]
    assert found.method.tolist() == ["saliency", "lime"] * 2  # the least important first, for each comparison
    assert found["mean importance"].tolist() == pytest.approx([0.1, 0.3] * 2)


def test_a_network_stands_beside_the_other_models_of_images(separated: SimpleNamespace) -> None:
    network = {("saco",): separated.preferred["vision", "saco"]}
    table = diagnosticity.beside_transformers(network, separated.preferred)
    assert "text" not in table.columns
    assert table.photographs.tolist() == [separated.preferred["photographs", "saco"].ours.point]


# ---------------------------------------------------------------------------------------------------- a toolkit's tasks
@pytest.fixture(scope="module")
def toolkit() -> SimpleNamespace:
    units = units_of("together_toolkit")
    sources = [measured(toolkit_tasks.of_metrics(metrics)(units), toolkit_tasks.CELL) for _, metrics in BOUNDS]
    means = toolkit_tasks.means_by_cell(sources)
    return SimpleNamespace(units=units, means=means, table=planted_truth.listed(means, toolkit_tasks.CELL))


def test_all_nine_metrics_are_averaged_in_the_range_that_they_have(toolkit: SimpleNamespace) -> None:
    names = [name for _, metrics in BOUNDS for name in metrics]
    assert sorted(names) == sorted(name for group in toolkit_tasks.GROUPS.values() for name in group)
    for (dataset, method, metric), mean in toolkit.means.items():
        cell = toolkit.units[(toolkit.units.dataset == dataset) & (toolkit.units.metric == metric)]
        assert mean.point == pytest.approx(cell[cell.method == method].value.mean()), (dataset, method, metric)


def test_the_lowest_accuracy_curve_is_in_the_sentence(toolkit: SimpleNamespace) -> None:
    said = toolkit_tasks.in_short(toolkit.means)
    for dataset in toolkit.table.dataset.unique():
        part = toolkit.table[(toolkit.table.dataset == dataset) & (toolkit.table.metric == "n_auc")]
        lowest = part.loc[part.estimate.idxmin()]
        assert f"{lowest.estimate:.2f} [" in said and f"({label(lowest.method)}) and " in said
    assert toolkit_tasks.in_short({}) == toolkit_tasks.WITHOUT_TEXTS


def test_methods_are_better_worse_or_open_and_tables_have_random_scores_last(toolkit: SimpleNamespace) -> None:
    methods = toolkit_tasks.methods_in_order(toolkit.means)
    assert methods[-1] == "random" and len(methods) == toolkit.table.method.nunique()
    beside = toolkit_tasks.methods_beside_random(toolkit.means)
    words = beside[["better", "worse", "open"]].agg(", ".join, axis=1)
    assert (words.str.count(label("lime")) == 1).all()
    tables = toolkit_tasks.means_by_family(toolkit.table, methods)
    datasets = toolkit.table.dataset.unique()
    without_marks = [name for name in datasets if (name, "plausibility") not in tables]
    assert len(tables) == 3 * len(datasets) - len(without_marks) and without_marks == ["nli"]
    assert tables[datasets[0], "faithfulness"].method.tolist() == methods
    fig, _ = toolkit_tasks.toolkit_figure(toolkit.table, methods)
    assert len(fig.axes) == 9
    plt.close(fig)


# -------------------------------------------------------------------------------------------------------------- advice
def test_advice_is_put_into_words_from_its_rows() -> None:
    row = {"modality": "text", "metric": "n_auc", "separates": "yes", "without mean importance": "yes", "n": 40}
    row |= {"prefers the truth": "yes", advice.NOT_WORSE: "no", "tracks the truth": 0.961, "after misleading": 0.9}
    row |= {"inputs needed": np.nan, advice.PASSES: 1234.0}
    photographs = row | {"modality": "photographs", "without mean importance": "unsure", "n": 90}
    table = pd.DataFrame([row, row | {"metric": "aopc_morf", advice.PASSES: 23.0}, photographs])
    shown = advice.planted_in_words(table)
    assert shown.kind.tolist() == ["texts", "texts"]
    assert shown[["inputs to separate", "model calls", "tracks the truth"]].iloc[0].tolist() == ["–", "1,234", "0.96"]
    assert "23 for 12 words" in advice.cost_of_srg(table) and "= 18,400 passes" in advice.cost_of_srg(table)
    assert "1 and 0 of 1 metrics get a *yes* (n = 90 to 90 images)" in advice.on_photographs(table)
    assert advice.on_photographs(table.iloc[:2]) == ""
    follows = pd.DataFrame({"metric": ["n_auc", "n_auc", "auc"], "estimate": [0.9, 0.96, 0.1], "model": "trained"})
    ends = {"low": [0.1, 0.2, 0.15], "high": [0.3, 0.4, 0.35]}
    lowest = pd.DataFrame({"metric": ["n_auc", "autpc", "srg"], "estimate": [0.2, 0.3, 0.25], **ends})
    said = advice.why_not_n_auc(follows, lowest)
    assert "is 0.90 to 0.96 in this table" in said
    assert said.endswith("is 0.20 [0.10, 0.30], that of SRG over the same kinds 0.25 [0.15, 0.35].")
    best = advice.best_of_all_kinds(lowest)
    assert (
        f"the best metric is {label('autpc')}: " in best and "that of SRG is 0.25 [0.15, 0.35]. Of the metrics" in best
    )


def test_the_first_need_is_the_recommendation_and_unmet_needs_are_said() -> None:
    rows = [("one model", "SRG", "0.73 [0.71, 0.75]", "yes"), ("a misled model", "–", "", "no")]
    use = pd.DataFrame(rows, columns=["you want", "use", "rank correlation", "safe"])
    said = advice.in_short(use)
    assert "**use SRG, next to random scores" in said and "symmetric relevance gain" in said
    assert said.endswith("In general no metric is safe for a misled model.")
    assert "In general" not in advice.in_short(use.iloc[:1])


# ------------------------------------------------------------------------------------------------- one text by hand
def test_the_means_of_the_set_are_in_the_sentence() -> None:
    units = units_of("together_by_hand")
    excerpts = units[units.id != units.id.iloc[0]].assign(dataset="pair")
    scores = measured(excerpts, ["method", "metric"])
    said = evalxnlp.in_short(lambda method, metric: scores.mean(method=method, metric=metric), ["n_auc"], 10)
    values = excerpts[excerpts.metric == "n_auc"].groupby("method").value.mean()
    assert f"{label('n_auc')} {values['occlusion']:.2f} and {values['random']:.2f}." in said


def test_marks_that_run_to_the_end_and_a_class_that_comes_back_are_said() -> None:
    marks = [np.array([False, True, True]), np.array([False, True, False, True])]
    said = evalxnlp.excerpts_in_words(marks, 7)
    assert "Of the first 7 excerpts" in said and "3 to 4 wordpieces; people marked a share of 0.57" in said
    assert "In 1 of 2 the marks run" in said
    assert "comes back after 2 words" in evalxnlp.class_returns(np.array([1.0, 0.0, 1.0, 0.0]))


# -------------------------------------------------------------------------------------------------------- pointing game
def test_the_best_method_and_random_scores_are_in_the_sentence() -> None:
    units = pointing_game.of_metrics(pointing_game.OBJECTS)(units_of("together_objects"))
    table = pointing_game.hits_by_method(measured(units, pointing_game.CELL), pointing_game.OBJECTS)
    said = pointing_game.in_short(table)
    game = units[units.metric == "pointing_game"]
    for dataset, part in game.groupby("dataset"):
        means = part.groupby("method").value.mean().sort_values()
        best = means.drop("random")
        assert f"{best.iloc[-1]:.2f} [" in said and f"for the best of {len(best)} methods" in said, dataset
        assert f"and of {means['random']:.2f} [" in said
    assert pointing_game.in_short(None) == pointing_game.WITHOUT_PICTURES
    scenes = pd.DataFrame({"dataset": "stamps", "input": ["a+1", "a+2", "b+1"], "right": [True, True, False]})
    words = pointing_game.scenes_in_words(scenes.assign(cells=[8, 16, 8], of=64))
    assert "3 scenes of 2 photographs; the model answers the class in 2" in words and "has 19% of the cells" in words
