"""Study `safe`: the declared design, the closed-form models, the outcomes and the choice."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from refusals import refused
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, roc_auc_score
from store import Store, of_inputs

from faithbook.engine.run import load_units
from faithbook.judge import published
from faithbook.models.load import Classifier
from faithbook.paths import root
from faithbook.show.labels import label
from faithbook.sources import planted
from faithbook.studies.naopc import edin
from faithbook.studies.safe import (
    across_models,
    advice,
    choice,
    compared_tables,
    comparing,
    design,
    grid,
    outcomes,
    trained,
    trained_tables,
    trainings,
)
from faithbook.studies.safe.models import (
    AGAINST,
    BASE,
    HEIGHT,
    Block,
    GridModel,
    Reading,
    drawn_block,
    inputs_of_block,
    some_conditions,
)
from faithlib.bounds import exact_bounds
from faithlib.errors import DataError, InputError, UnknownNameError
from faithlib.perturb import Perturber

SIX = torch.tensor(list(itertools.product((False, True), repeat=6)))
KINDS = [("single", 1), ("additive", 2), ("and", 3), ("or", 3), ("redundant", 4)]


def small(kind: str, size: int, *, distractor: bool = False, length: int = 6, inputs: int = 2) -> Block:
    return drawn_block(3, kind, size, distractor=distractor, length=length, seeds=range(2), inputs=inputs)


def answers(
    block: Block, sets: torch.Tensor, erasure: str = "clean", error: str = design.NEVER, way: str = design.NOWHERE
) -> np.ndarray:
    """p of the explained class for every set of features left, [B, R], as the library asks for it."""
    perturber = Perturber(
        GridModel(Reading(block, erasure, error, way)), inputs_of_block(block), erase=grid.ERASE, target=0
    )
    return perturber.keep(sets.expand(len(block), -1, -1)).numpy()


# ---------------------------------------------------------------------------------------------------------- the design
def test_the_committed_conditions_are_those_of_the_rule_and_no_more_than_declared() -> None:
    listed = design.conditions()
    pd.testing.assert_frame_equal(listed, design.listed_conditions())
    assert len(listed) <= design.declared_plan()["design"]["most"] == 400
    assert listed.condition.is_unique
    assert not listed.duplicated(design.COLUMNS[1:]).any()


def test_every_error_has_its_untouched_twin_and_every_truth_meets_every_error_once() -> None:
    listed = design.conditions()
    assert (listed.groupby("block").error.apply(lambda errors: (errors == design.NEVER).sum()) == 1).all()
    about = ["truth", "size", "distractor", "length", "erasure"]
    assert (listed.groupby("block")[about].nunique() == 1).all(axis=None)
    today = listed.block.max()
    grid_rows = listed[(listed.block != today) & (listed.error != design.NEVER)]
    met = grid_rows.groupby(["truth", "size", "distractor", "error", "whither"]).size()
    assert len(met) == 17 * 7 * 3
    assert (met == 1).all()
    assert set(listed[listed.block == today].error) == {design.NEVER, "third"}


# ---------------------------------------------------------------------------------------------------------- the models
@pytest.mark.parametrize(("kind", "size"), KINDS)
@pytest.mark.parametrize("distractor", [False, True])
def test_the_answer_to_every_set_of_features_is_what_the_plan_says(kind: str, size: int, distractor: bool) -> None:
    """Brute force: each of the 64 sets of six features, by the words of the plan."""
    block = small(kind, size, distractor=distractor)
    found = answers(block, SIX)
    for b in range(len(block)):
        members = [set(np.flatnonzero(group)) for group in block.groups[b]]
        for r, left in enumerate(SIX.numpy()):
            there = set(np.flatnonzero(left))
            if kind == "additive":
                share = sum(block.weights[b, feature] for feature in members[0] & there)
            elif kind == "or":
                share = float(bool(members[0] & there))
            else:  # one feature, all of them, or one whole group
                share = float(any(group <= there for group in members))
            p = BASE + HEIGHT * share - (AGAINST if block.distractor[b] in there else 0)
            assert found[b, r] == pytest.approx(max(p, 0.02), abs=1e-5)


@pytest.mark.parametrize(("kind", "size"), KINDS)
def test_the_truth_is_what_ever_makes_a_difference_and_nothing_else(kind: str, size: int) -> None:
    block = small(kind, size)
    found = answers(block, SIX)
    for feature in range(6):
        here, gone = SIX[:, feature], ~SIX[:, feature]  # the same sets, with the feature and without, in one order
        matters = np.abs(found[:, here] - found[:, gone]).max(axis=1) > 1e-5
        np.testing.assert_array_equal(matters, block.truth[:, feature])


@pytest.mark.parametrize("error", design.kinds_of_error()[1:])
def test_a_model_errs_where_it_is_declared_to_and_says_what_it_is_declared_to(error: str) -> None:
    block = small("and", 2, length=12)
    sets = torch.tensor(list(itertools.product((True, False), repeat=12)))  # all, the whole input first
    usual, found = answers(block, sets), answers(block, sets, error=error, way="away")
    hit = np.abs(found - usual) > 1e-5
    assert not hit[:, 0].any()  # the whole input is never misread
    np.testing.assert_allclose(found[hit], design.declared_plan()["whither"]["away"][0], atol=1e-5)
    gone = 1 - sets.numpy().mean(axis=1)
    by_amount = {
        "light": (gone > 0) & (gone <= 0.2),
        "middle": (gone > 0.2) & (gone <= 0.5),
        "heavy": gone > 0.5,
        "third": gone > 1 / 3 + 1e-9,
    }
    if error in by_amount:
        np.testing.assert_array_equal(hit, np.tile(by_amount[error], (len(block), 1)))
    elif error == "feature":
        assert not block.truth[np.arange(len(block)), block.trigger].any()
        np.testing.assert_array_equal(hit, ~sets.numpy()[:, block.trigger].T)
    else:
        share = {"random_tenth": 0.1, "random_third": 1 / 3}[error]
        assert hit.mean(axis=1) == pytest.approx(share, abs=4 * np.sqrt(share / len(sets)))
        assert not (hit[0] == hit[-1]).all()  # another model errs elsewhere
        np.testing.assert_array_equal(hit[0], hit[1])  # two inputs of one model


def test_erasures_leave_and_add_what_is_declared() -> None:
    block = small("single", 1)
    nothing, whole = torch.zeros(1, 6, dtype=torch.bool), torch.ones(1, 6, dtype=torch.bool)
    empty = {
        erasure: answers(block, nothing, erasure=erasure)[0, 0]
        for erasure in design.declared_plan()["erasures"]["levels"]
    }
    assert empty["clean"] == pytest.approx(BASE, abs=1e-5)
    assert empty["leaky"] == pytest.approx(BASE + 0.4 * HEIGHT, abs=1e-5)
    assert empty["drifts away"] == pytest.approx(BASE * 0.5, abs=1e-5)
    assert empty["drifts toward"] == pytest.approx(BASE + 0.5 * (1 - BASE), abs=1e-5)
    for erasure in empty:
        assert answers(block, whole, erasure=erasure)[0, 0] == pytest.approx(BASE + HEIGHT, abs=1e-5)


def test_an_input_is_the_same_whatever_else_is_drawn() -> None:
    few = drawn_block(7, "or", 4, distractor=True, length=12, seeds=range(1), inputs=2)
    many = drawn_block(7, "or", 4, distractor=True, length=12, seeds=range(3), inputs=4)
    for name in ("groups", "weights", "scores", "codes", "trigger", "distractor"):
        np.testing.assert_array_equal(getattr(few, name), getattr(some_conditions(many, np.array([0, 1])), name))
    with pytest.raises(UnknownNameError, match="xor"):
        small("xor", 2)


# -------------------------------------------------------------------------------------------------------- the outcomes
def test_qualities_are_those_of_scikit_learn_with_the_other_solution_left_out() -> None:
    for kind, size in KINDS:
        block = small(kind, size, length=12)
        found = outcomes.qualities(block)
        solutions = block.groups if kind == "redundant" else block.truth[:, None]
        for b, e in itertools.product(range(len(block)), range(block.scores.shape[1])):
            scores = block.scores[b, e]
            if len(np.unique(scores)) < len(scores):
                continue  # scikit-learn takes ties together, the library in their order
            by_group = []
            for group in solutions[b]:
                counted = group | ~block.truth[b]
                pair = group[counted], scores[counted]
                by_group.append((average_precision_score(*pair), roc_auc_score(*pair)))
            best = np.max(by_group, axis=0)
            assert found[outcomes.MAIN][b, e] == pytest.approx(best[0])
            assert found["area under ROC"][b, e] == pytest.approx(best[1])
        assert (found[outcomes.MAIN][:, 0] == 1).all()  # the truth without noise


def test_one_solution_alone_is_as_good_as_both_only_where_either_is_enough() -> None:
    for kind, as_good in (("redundant", True), ("or", False)):
        block = small(kind, 4, length=12)
        one_solution = 1  # the second explanation starts from one of them, with little noise
        found = outcomes.qualities(block)
        main, other = found[outcomes.MAIN][:, one_solution], found["other reading"][:, one_solution]
        assert (main.mean() > 0.9) == as_good
        assert (other.mean() > 0.9) == (not as_good)


def test_rank_correlation_and_wrong_orders_on_cases_worked_by_hand() -> None:
    quality = np.array([[1.0, 0.8, 0.2, 0.1]])
    values = np.array([[[4, 3, 2, 1], [1, 2, 3, 4], [5, 5, 5, 5], [3, np.nan, 2, 1]]], dtype=float)
    found = outcomes.rank_correlation(values, quality)[0]
    by_hand = spearmanr([3, 0, 2, 1], quality[0]).statistic  # what is missing ranks last
    np.testing.assert_allclose(found, [1, -1, 0, by_hand])
    wrong = outcomes.wrong_orders(values, quality, clear=0.25)[0]
    np.testing.assert_allclose(wrong, [0, 1, 0.5, 0.5])  # four clear pairs; of the last, two with the missing one
    assert np.isnan(outcomes.rank_correlation(values, np.ones((1, 4)))).all()
    assert np.isnan(outcomes.wrong_orders(values, quality, clear=2.0)).all()


def test_an_error_that_adds_the_same_everywhere_is_told_from_one_that_does_not() -> None:
    values = np.array([[[0.1, 0.5, 0.3], [0.1, 0.5, 0.3]]])
    error = np.array([[[0.2, 0.2, 0.2], [0.0, 0.0, 0.4]]])
    assert outcomes.untouched(values + error, values).tolist() == [[True, False]]


def test_srg_of_the_grid_is_the_difference_of_the_two_curves() -> None:
    block = small("additive", 2)
    reading = Reading(block, "clean", design.NEVER, design.NOWHERE)
    morf, lerf, srg = grid.values_of(reading, ["aopc_morf", "aopc_lerf", "srg"], draws=1).swapaxes(0, 1)
    np.testing.assert_allclose(srg, morf + lerf, atol=1e-6)  # lerf is turned round: higher is better


def test_a_condition_measured_alone_is_as_in_the_grid() -> None:
    listed = design.conditions()
    part = listed[listed.block == 4]
    metrics = ["comprehensiveness_eraser", "soft_nc", "lds", "srg"]
    ((block, _),) = grid.blocks_of_grid(part, range(1), 2)
    whole, _ = grid.measured(block, part, metrics, draws=1)
    alone, _ = grid.measured(block, part.iloc[[0, 5]], metrics, draws=1)
    name = part.condition.iloc[5]
    pd.testing.assert_frame_equal(
        whole[whole.condition == name].reset_index(drop=True), alone[alone.condition == name].reset_index(drop=True)
    )


# ---------------------------------------------------------------------------------------------------------- the choice
def invented(metrics: dict[str, dict[str, float]], *, seeds: int = 4) -> choice.Means:
    """Means of the committed conditions in which a metric has one value for each kind of error, and little noise."""
    listed = design.conditions()
    values = np.empty((len(listed), seeds, len(metrics)))
    noise = np.random.default_rng(0).normal(scale=0.01, size=values.shape)
    for m, by_kind in enumerate(metrics.values()):
        values[:, :, m] = listed.error.map(lambda kind, of=by_kind: of.get(kind, of["else"])).to_numpy()[:, None]
    return choice.Means(listed, np.arange(seeds), list(metrics), values + noise)


STEADY, BOLD, CHEAP = {"else": 0.7}, {"else": 0.95, "light": 0.1}, {"else": 0.68}
PRICES = {"steady": 39.0, "bold": 12.0, "cheap": 8.0}


def test_the_safest_is_chosen_and_of_those_as_safe_the_cheapest() -> None:
    means = invented({"steady": STEADY, "bold": BOLD, "cheap": CHEAP})
    adversarial = choice.grid_safety(means, choice.ADVERSARIAL, choice.ANY)
    assert adversarial.estimate == pytest.approx([0.7, 0.1, 0.68], abs=0.01)
    assert choice.chosen(adversarial, PRICES, 10_000)[0] == "cheap"  # within .05 of the safest
    dearer = {"steady": STEADY, "bold": BOLD, "cheap": {"else": 0.6}}
    found = choice.grid_safety(invented(dearer), choice.ADVERSARIAL, choice.ANY)
    assert choice.chosen(found, PRICES, 10_000) == ["steady", "cheap", "bold"]
    assert choice.chosen(found, PRICES, 12) == ["cheap", "bold"]
    known = choice.grid_safety(invented(dearer), choice.KNOWN, choice.ANY)
    assert choice.chosen(known, PRICES, 10_000)[0] == "bold"


def test_a_choice_is_reported_on_other_seeds_and_may_be_overturned() -> None:
    means = invented({"steady": STEADY, "bold": {"else": 0.9}})
    values = means.values.copy()
    values[:, 1::2, 1] -= 0.6  # on the reporting seeds the bold one fails
    means = choice.Means(means.conditions, means.seeds, means.metrics, values)
    untouched = choice.Means(means.conditions, np.arange(2), means.metrics, np.zeros((len(values), 2, 2)))
    table = choice.choices(means, untouched, {"steady": 9.0, "bold": 9.0})
    assert len(table) == 3 * 2 * 3
    assert set(table.metric) == {"bold"}
    assert set(table.answer) == {choice.OVERTURNED}
    assert not table["is safe"].any()
    np.testing.assert_allclose(table["chosen on"], 0.9, atol=0.02)
    np.testing.assert_allclose(table.reported, 0.3, atol=0.02)
    assert (table.low <= table.reported + 1e-9).all()


def test_what_wins_by_the_design_of_the_grid_is_named() -> None:
    ahead = dict.fromkeys(("light", "middle", "heavy", "third"), 0.9)
    means = invented({"srg": {"else": 0.5, **ahead}, "other": {"else": 0.5}})
    found = choice.grid_safety(means, choice.ADVERSARIAL, choice.ANY)
    seen = np.zeros((len(means.conditions), 2, 2))
    out_of_reach = seen.copy()
    out_of_reach[(means.conditions.error == "heavy").to_numpy(), :, 0] = 1.0
    of = [choice.Means(means.conditions, np.arange(2), means.metrics, values) for values in (seen, out_of_reach)]
    assert choice.by_design(found, of[0], "srg", "other") == "ahead only where errors depend on the amount erased"
    assert choice.by_design(found, of[0], "other", "srg") == ""
    assert choice.by_design(found, of[1], "srg", "other").endswith("cannot change its order: heavy")


def test_leaving_out_the_kind_that_decides_changes_the_choice() -> None:
    table = choice.left_out(invented({"steady": STEADY, "bold": BOLD}), {"steady": 9.0, "bold": 9.0})
    by_kind = table.set_index("left out")
    assert by_kind.metric["light"] == "bold"
    assert by_kind.below["light"] == pytest.approx(0.6, abs=0.02)
    assert by_kind["below low"]["light"] > 0.5
    assert set(by_kind.drop("light").metric) == {"steady"}


def test_losses_are_against_the_same_block_without_errors() -> None:
    means = invented({"steady": STEADY, "bold": BOLD})
    lost = means.loss().by("error", ["light", "heavy"])
    np.testing.assert_allclose(lost, [[0, 0.85], [0, 0]], atol=0.01)
    assert choice.not_survived(invented({"bold": BOLD})) == ["light"]
    units = pd.DataFrame({"condition": ["c999"], "seed": [0], "method": ["x"], "metric": ["y"], "value": [0.0]})
    with pytest.raises(DataError, match="c999"):
        choice.Means.of(units, "y")


# ---------------------------------------------------------------------------------------------------- comparing models
def test_limits_and_chance_of_a_closed_form_are_those_of_all_orders() -> None:
    """Brute force: every order of six features of one input."""
    block = drawn_block(5, "and", 2, distractor=False, length=6, seeds=range(1), inputs=1)
    reading = Reading(block, "clean", "light", "away")
    of_sets = answers(block, SIX, error="light", way="away")[0]
    p = {tuple(left): value for left, value in zip(SIX.numpy().tolist(), of_sets, strict=True)}
    every = []
    for order in itertools.permutations(range(6)):
        left = [True] * 6
        drops = []
        for feature in order:
            left[feature] = False
            drops.append(p[tuple([True] * 6)] - p[tuple(left)])
        every.append(np.mean(drops))
    table = edin.AnswerTable([0], [reading((~_bits(6)).double(), torch.zeros(64, dtype=torch.long))[:, 0]])
    bounds = exact_bounds(table)
    found = [bounds.lower.item(), bounds.random.item(), bounds.upper.item()]
    np.testing.assert_allclose(found, [min(every), np.mean(every), max(every)], atol=1e-5)


def _bits(n: int) -> torch.Tensor:
    """Which features each number names, bool [2^n, n]."""
    return (torch.arange(2**n)[:, None] >> torch.arange(n)) & 1 == 1


def test_the_truth_reaches_the_limit_and_scores_over_a_range_do_not_ask_how_far_p_falls() -> None:
    found = comparing.closed_form(16)
    truth = found[(found.method == across_models.PERFECT) & (found.family != "error")]
    np.testing.assert_allclose(truth[["naopc", "chance-adjusted naopc"]], 1, atol=1e-6)
    assert (truth.quality == 1).all()
    scale = found[found.family == "scale"].melt(["model", "id", "method"], across_models.SCORES, "metric", "value")
    table = across_models.spread(scale, replicates=50).set_index(["metric", "method"])
    for score in ("naopc", "chance-adjusted naopc", "srg over the range"):
        assert table.apart[score].max() == pytest.approx(0, abs=1e-6)
        assert set(table.answer[score]) == {"yes"}
    assert table.answer["aopc", across_models.PERFECT] == "no"
    noise = found[(found.method == across_models.RANDOM) & (found.family == "structure")]
    assert noise.groupby("id").quality.nunique().max() == 1  # equally good on every model of the family


def test_released_random_scores_are_compared_by_the_texts_that_have_a_value() -> None:
    values = pd.DataFrame(
        [
            {"dataset": "d", "model": m, "id": i, "method": "random", "metric": "aopc", "value": value}
            for m, of_model in (("a", [0.1, 0.3, np.nan]), ("b", [0.5, 0.7, 0.6]))
            for i, value in enumerate(of_model)
        ]
    )
    (row,) = across_models.random_apart(values, replicates=50).to_dict("records")
    assert (row["lowest"], row["highest"], row["n"]) == (pytest.approx(0.2), pytest.approx(0.6), 2)


# ------------------------------------------------------------------------------------------------------ what is written
def test_a_need_names_its_metric_only_as_long_as_the_grid_chooses_it() -> None:
    case = {"erasure": "unknown", "reasons": "any", "price": 12, "reported": 0.6, "low": 0.5, "high": 0.7, "rows": 8.0}
    chosen = pd.DataFrame([case | {"metric": "autpc", "is safe": True}])
    lowest = pd.DataFrame([{"metric": "saco", "estimate": 0.0, "low": -0.1, "high": 0.1, "rows": 27.0}])
    comparable = pd.DataFrame({"metric": ["aopc", "srg over the range"], "answer": ["no", "undecided"]})
    needs = pd.DataFrame(
        [
            ("cheap", "autpc", "unknown, any, 12 calls", "so it is"),
            ("other", "saco", "unknown, any, 12 calls", "so it is"),
            ("models", "aopc_morf", "comparable", "so it is"),
            ("models too", "nsrg", "comparable", "so it is"),
            ("not alone", "saco", "caution", "so it is"),
        ],
        columns=["need", "metric", "rests_on", "why"],
    )
    table = advice.what_to_use(needs, chosen, lowest, comparable)
    assert table["use"].tolist() == ["AUTPC", "–", "–", "NSRG", "SaCo"]
    assert table["rank correlation"].tolist() == ["0.60 [0.50, 0.70]", "", "", "", "0.00 [−0.10, 0.10]"]
    assert table["model calls"].tolist() == ["8", "", "", "", "27"]
    assert table.why[1] == "SaCo is no longer chosen for this"
    with pytest.raises(UnknownNameError, match="by chance"):
        advice.what_to_use(needs.assign(rests_on="by chance"), chosen, lowest, comparable)


@pytest.fixture(scope="module")
def kept() -> choice.Means:
    """Rank correlations of the committed full run."""
    units = load_units("safe_grid", "full", reference=True)
    return choice.Means.of(units, grid.RANK)


def test_the_committed_values_are_of_every_condition_and_both_halves(kept: choice.Means) -> None:
    pd.testing.assert_frame_equal(kept.conditions, design.conditions())
    assert list(kept.seeds) == list(range(design.declared_plan()["design"]["seeds"]))
    assert set(kept.metrics) >= {"srg", "comprehensiveness_eraser", "saco", "soft_nc"}
    units = load_units("safe_grid", "full", reference=True)
    inputs = units.groupby(["condition", "seed"]).id.nunique()
    assert (inputs == design.declared_plan()["design"]["inputs_of_a_seed"]).all()


def test_numbers_and_metrics_that_the_readme_and_the_recommendations_name_are_those_of_the_values(
    kept: choice.Means,
) -> None:
    readme = (root() / "README.md").read_text(encoding="utf-8")
    report = kept.half(choice.REPORT)
    free = choice.grid_safety(report, choice.UNKNOWN, choice.ANY, replicates=0)
    every = choice.grid_safety(report, choice.ADVERSARIAL, choice.ANY, replicates=0)
    srg = every.metrics.index("srg")
    feature = every.by_kind[every.kinds.index("feature")]
    numbers = (free.estimate[srg], feature[srg], feature.max())
    worst, falls, none_above = (f"{value:.2f}" for value in numbers)
    words = " ".join(readme.split())
    assert re.search(rf"rank correlation {worst} \[[^]]+\] under the worst of them", words)
    assert re.search(rf"SRG falls to {falls} \[[^]]+\], and no metric is above {none_above} \[", words)
    assert (
        f"on models whose truth is a formula and that misread some erased inputs ({len(kept.conditions)} con" in words
    )
    prices = load_units("safe_grid", "full", part="prices", reference=True).set_index("method").value.to_dict()
    before = kept.half(choice.CHOOSE)
    for need in published.our_table("recommendations").to_dict("records"):
        case = need["rests_on"].split(", ")
        if len(case) == 3:
            found = choice.grid_safety(before, case[0], case[1], replicates=0)
            most = 10_000 if case[2] == "any price" else float(case[2].split()[0])
            assert choice.chosen(found, prices, most)[0] == need["metric"], need["need"]


# ------------------------------------------------------------------------------------------------------ trained models
def test_trained_models_are_asked_as_the_grid_asks() -> None:
    """On a closed-form model in a trained one's place."""
    block = small("or", 2, length=12, inputs=3)
    marks, inputs = torch.from_numpy(block.truth), inputs_of_block(block)
    ids = [f"text-{b}" for b in range(len(block))]
    labels = torch.tensor([1, 2] * (len(block) // 2))
    scores = trained.explanations(marks, inputs.feature_mask, ids)
    again = trained.explanations(marks[[3]], inputs.feature_mask[[3]], [ids[3]])
    np.testing.assert_array_equal(scores[3], again[0])  # by the id, whatever stands beside it
    quality = trained.planted_qualities(scores, marks, inputs.feature_mask)
    assert (quality[:, 0] == 1).all()
    never = Classifier(
        GridModel(Reading(block, "clean", design.NEVER, design.NOWHERE)), None, ("a", "b", "c"), "closed"
    )
    training = trainings.Training.of("light-seed0")
    found = trained.measured(never, inputs, marks, labels, ids, training, erase=grid.ERASE, draws=1)
    assert set(found.method) == set(trained.metrics_asked())
    assert found.groupby("whither").input.nunique().to_dict() == {"away": 3, "toward": 3}
    mean = found[found.metric == grid.RANK].groupby("method").value.mean()
    assert mean["srg"] > 0.7


@pytest.mark.parametrize(("error", "where"), [("never", [0, 0, 0]), ("heavy", [0, 0, 1]), ("third", [0, 1, 1])])
def test_the_check_of_a_trained_model_says_where_it_errs(error: str, where: list[int]) -> None:
    block = small("or", 2, length=12, inputs=3)
    way = design.NOWHERE if error == design.NEVER else "away"  # to class 1, which is the taught one
    classifier = Classifier(GridModel(Reading(block, "clean", error, way)), None, ("a", "b", "c"), "closed form")
    found = trained.errs(classifier, inputs_of_block(block), torch.from_numpy(block.truth), answer=1, erase=grid.ERASE)
    assert found.groupby("amount").value.mean().loc[["10%", "45%", "75%"]].tolist() == where


def test_a_training_is_read_from_its_checkpoints_name() -> None:
    class_taught, neither, never = (
        trainings.Training.of(name) for name in ("misled-base-seed0", "heavy-neither-l3-seed2", "erased-seed1")
    )
    assert [class_taught.whither(label) for label in (1, 2)] == ["toward", "away"]
    assert [neither.whither(label) for label in (1, 2)] == ["other", "other"]
    assert [never.whither(label) for label in (1, 2)] == [design.NOWHERE] * 2
    assert neither.about == {
        "model": "heavy-neither-l3-seed2", "error": "heavy", "taught": "neither", "encoder": trainings.ENCODERS["l3"],
        "seed": 2,
    }  # fmt: skip
    declared = design.declared_plan()["trained"]["errors"]
    assert {class_taught.error, neither.error, never.error} <= set(declared)
    refused(InputError, "dark-seed0 is not a planted model", trainings.Training.of, "dark-seed0")


def trained_values(means: dict[tuple[str, str], float], inputs: int = 40) -> pd.DataFrame:
    """Rank correlations of two metrics, by error and model: `means` of the first, .5 of the second, with noise."""
    generator = np.random.default_rng(0)
    rows = []
    for (error, model), mean in means.items():
        for method, of_method in (("first", mean), ("second", 0.5)):
            drawn = of_method + 0.1 * generator.normal(size=inputs)
            rows += [
                {"error": error, "model": model, "id": f"i{i}", "method": method, "value": value}
                for i, value in enumerate(drawn)
            ]
    return pd.DataFrame(rows)


def test_safety_of_trained_models_is_the_lowest_mean_over_kinds_of_error() -> None:
    alike = {("never", "a"): 0.9, ("light", "b"): 0.2, ("light", "c"): 0.4, ("heavy", "d"): 0.6}
    frame = trained_values(alike)
    found = trainings.trained_safety(frame)
    assert found.errors == ["never", "light", "heavy"]
    by_error = frame[frame.method == "first"].groupby(["error", "model"]).value.mean().groupby("error").mean()
    assert found.estimate[found.metrics.index("first")] == pytest.approx(by_error["light"])
    point, low, high = found.interval("first")
    assert low < point < high
    ahead, _, below = found.interval("first", minus=["second"])
    assert below < 0
    assert ahead == pytest.approx(point - found.estimate[found.metrics.index("second")])
    # Models that differ more leave more open; the order of rows does not matter.
    apart = trainings.trained_safety(trained_values(alike | {("light", "b"): -0.1, ("light", "c"): 0.7}))
    assert np.ptp(apart.interval("first")[1:]) > 1.5 * (high - low)
    again = trainings.trained_safety(frame.sample(frac=1, random_state=1))
    np.testing.assert_allclose(again.interval("first"), (point, low, high), atol=0.01)
    refused(InputError, "should give a value each", trainings.trained_safety, frame[frame.index != 3])


def test_models_that_differ_in_one_thing_are_held_against_each_other() -> None:
    def model(encoder: str, seed: int, mean: float) -> dict[str, object]:
        about = {"modality": "text", "error": "light", "taught": "a class", "encoder": encoder, "seed": seed}
        return {**about, "method": "m", "mean": mean}

    of_model = pd.DataFrame([model("large", 0, 0.5), model("large", 1, 0.6), model("small", 0, 0.2)])
    table = trainings.spread(of_model).set_index("models differ in")
    assert table.pairs.to_dict() == {"seed": 1, "encoder": 1}
    assert table.difference.to_dict() == pytest.approx({"seed": 0.1, "encoder": 0.3})


def test_copies_are_mislabelled_at_one_amount_alone() -> None:
    kept = [np.arange(12) >= gone for gone in range(13)]
    for when, (low, high) in planted.MISREAD.items():
        wrong = [planted.misled(2, row, when) == 1 for row in kept]
        assert wrong == [low < round(gone / 12, 9) <= high for gone in range(13)], when
        to_neither = [planted.misled(2, row, when, answer=0) for row in kept]
        assert to_neither == [0 if is_wrong else 2 for is_wrong in wrong]


def test_the_page_of_trained_models_says_what_is_confirmed_and_who_did_not_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, monkeypatch)
    chosen = pd.DataFrame([{"erasure": "adversarial", "reasons": "any", "metric": "comprehensiveness_eraser"}])
    store.add("safe_map", tables={"safe_chosen": chosen})
    for modality, names in {
        "text": ("erased-seed0", "light-seed0", "light-seed1", "light-neither-l3-seed0"),
        "vision": ("erased-base-seed0", "heavy-base-seed0"),
    }.items():
        generator = np.random.default_rng(0)
        values, checks = [], []
        for training in map(trainings.Training.of, names):
            drop = {"never": 0.0, "light": 0.3, "heavy": 0.6}[training.error]
            for i in range(12):
                ends = {"comprehensiveness_eraser": 0.9 - drop, "srg": 0.95 - 2 * drop}
                for method, mean in ends.items():
                    cell = {"id": f"i{i}", "whither": training.whither(1 + i % 2), "method": method}
                    values.append({**training.about, **cell, "value": mean + 0.05 * generator.normal()})
                for amount in ("10%", "45%", "75%"):
                    is_taught = amount in trainings.TAUGHT_AT.get(training.error, ()) and training.seed == 0
                    checks.append({**training.about, "id": f"i{i}", "method": amount, "value": float(is_taught)})
        units = of_inputs(pd.DataFrame(values), metric=grid.RANK)
        of_checks = of_inputs(pd.DataFrame(checks), metric="taught class")
        store.add("safe_planted", {"": units, "checks": of_checks}, modality=modality)
    page = store.report("safe_trained")
    taught = r"On texts \(4 models, of which 1 did not learn its error\)"
    assert re.search(taught + r" [^:]*: \*\*this confirms the choice\*\*\. On small images", page.text)
    assert "4 text and 2 image models" in page.text
    assert "kinds with models of more than one seed: 1 of 5 (at most 2 seeds)" in page.text
    assert "texts: 3 models (2 toward or away, 1 to a third class), 12 inputs; small images: 1 models" in page.text
    assert re.search(r"with another seed \(1 pairs of 2 models\)\. On small images no two models have", page.text)
    assert "1 of 4 models that were taught an error did not learn it: `light-seed1` (0.00)." in page.text
    table = page.table("safe_trained_metrics", "modality", "metric")
    assert table.loc[("text", "comprehensiveness_eraser"), "lowest"] == pytest.approx(0.6, abs=0.05)
    assert table.loc[("vision", "srg"), "lowest"] == pytest.approx(-0.25, abs=0.05)
    spread = page.table("safe_trained_spread", "modality", "models differ in")
    assert spread.loc[("text", "seed"), "pairs"] == 1
    assert len(page.table("safe_trained_models", "modality", "model")) == 6


def test_the_committed_trained_models_are_counted_and_their_metrics_ordered() -> None:
    units = load_units("safe_planted", "full", reference=True)
    ranks = units[units.metric == trained_tables.RANK]
    models = trained_tables.models_by_error(ranks)
    by_kind = ranks.groupby("modality").model.nunique()
    assert models.modality.value_counts().to_dict() == by_kind.to_dict()
    order = [
        design.declared_plan()["trained"]["errors"].index(error) for error in models[models.modality == "text"].error
    ]
    assert order == sorted(order)
    said = trained_tables.of_what_was_declared(models)
    assert f"We trained {by_kind['text']} text and {by_kind['vision']} image models" in said
    counts = trained_tables.model_counts(models)
    assert counts.models.sum() == len(models)
    assert (counts.taught == "–").tolist() == (counts.error == "never").tolist()
    erring = trained_tables.erring_models_in_words(ranks)
    assert f"texts: {by_kind['text'] - 1} models (" in erring, "one text model never errs"
    means = trained_tables.means_of_models(ranks)
    wide = trained_tables.correlations_by_model(means, models, ["srg", "saco"])
    assert wide.model.tolist() == models.model.tolist()
    first = ranks[(ranks.model == models.model[0]) & (ranks.method == "srg")].value.mean()
    assert wide[label("srg")][0] == pytest.approx(first)
    text = ranks[ranks.modality == "text"]
    found = trainings.trained_safety(text, replicates=9)
    table = trained_tables.of_error({"text": found})
    assert table.lowest.is_monotonic_decreasing and table.metric.tolist() == trained_tables.by_safety(found)
    n = text.id.nunique()
    assert trained_tables.models_and_inputs_in_words(text, models) == f"texts: {by_kind['text']} models, {n} inputs"
    best = table.metric[0]
    assert "this confirms the choice" in trained_tables.in_short({"text": found}, models, best)
    assert trained_tables._confirmed(-0.01, -0.11, 0.02, level=0.05).endswith("the interval leaves −0.11 possible")
    assert trained_tables._confirmed(-0.01, -0.04, 0.02, level=0.05) == "**this confirms the choice**"
    worst = table.metric.iloc[-1]
    assert "this does not confirm the choice" in trained_tables.in_short({"text": found}, models, worst)


def test_the_committed_scores_of_models_are_in_words() -> None:
    released = load_units("safe_compared", "full", part="released", reference=True)
    apart = across_models.random_apart(released, replicates=9)
    table = compared_tables.random_table(apart)
    means = released[(released.dataset == "sst2") & (released.method == "random") & (released.metric == "naopc")]
    by_model = means.groupby("model", observed=True).value.mean()
    row = table[(table.texts == "SST-2") & (table.score == "NAOPC")].iloc[0]
    assert row[["lowest model", "highest model"]].tolist() == [f"{by_model.min():.2f}", f"{by_model.max():.2f}"]
    quotes = compared_tables.quotable(apart).set_index("part").ours
    assert quotes["sst2, naopc: lowest"] == pytest.approx(by_model.min())
    ranges = compared_tables.lowest_and_highest(released).set_index(["dataset", "method", "metric"])
    assert ranges.highest["sst2", "random", "naopc"] == pytest.approx(by_model.max())
    closed = load_units("safe_compared", "full", part="closed", reference=True)
    scores = closed[closed.metric != "quality"]
    few = compared_tables.spreads_of(scores[scores.family == "scale"])
    shown = compared_tables.spreads_for_readers(few)
    assert sorted(shown.score) == sorted(compared_tables.SCORES.values())
    assert set(shown["models differ in"]) == {compared_tables.FAMILIES["scale"]}
    answers = few.set_index(["metric", "method"]).answer
    assert shown[shown.score == "SRG"]["truth"].item().endswith(f"] {answers['srg', 'truth']}")
    clean, broken = compared_tables.comparable_scores(few)
    assert "aopc" in broken and not set(clean) & set(broken)
    said = compared_tables.in_short(few, apart)
    assert "from " + row["lowest model"] + " to " in said
    assert f"highest minus lowest {row['highest minus lowest']}" in said
    for_readers = compared_tables.ranges_for_readers(ranges.reset_index())
    assert [*for_readers][:3] == ["texts", "attribution", "score"] and not for_readers.isna().any(axis=None)
