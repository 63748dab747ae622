"""The bench: models that use what they say, answers that are right about metrics whose worth is known, attacks."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
import torch
from refusals import refused
from torch import Tensor

from faithlib.__main__ import main
from faithlib.attribution import attribute
from faithlib.bench import ATTACKS, Attack, Bench, Case, WordModel, bench, cases, faults_of, random_scores
from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation.own import method_in, metric_in
from faithlib.inputs import TextInputs
from faithlib.metrics import metric
from faithlib.metrics.registry import About
from faithlib.perturb import Perturber

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
CASES = cases(inputs=12, seed=3)


def cell(found: Bench, judged: str, question: str) -> pd.Series:
    rows = found[(found.judged == judged) & (found.question == question)]
    assert len(rows) == 1, (judged, question)
    return rows.iloc[0]


# --------------------------------------------------------------------------------------------------------- the models
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_true_explanation_is_what_the_model_uses(case: Case) -> None:
    perturber = Perturber(case.model, case.inputs, output="logit", check=False)
    lost = perturber.full[:, None] - perturber.keep(
        ~torch.eye(case.truth.shape[1], dtype=torch.bool).expand(12, -1, -1)
    )
    present = case.inputs.feature_mask
    if case.name == "sum":  # of two classes each has half of the evidence
        torch.testing.assert_close(lost[present], case.truth[present] / 2, atol=1e-5, rtol=0)
    else:
        assert bool((lost[present & (case.truth == 1)] > 1).all()), "without a word of the reason much is lost"
        assert bool((lost[present & (case.truth == 0)].abs() < 1e-6).all()), "and nothing without any other"
    assert bool((case.truth[~present] == 0).all())
    if case.name != "sum":
        assert bool((case.truth.sum(dim=1) == {"any": 1, "both": 2}[case.name]).all())


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.model], ids=lambda attack: attack.name)
def test_an_attack_on_a_model_leaves_what_it_says_of_whole_inputs(attack: Attack) -> None:
    for case in CASES:
        assert attack.model is not None
        attacked = Perturber(attack.model(case.model), case.inputs, check=False)
        plain = Perturber(case.model, case.inputs, check=False)
        torch.testing.assert_close(attacked.logits_full, plain.logits_full)
        first_gone = case.inputs.feature_mask.clone()[:, None]
        first_gone[..., 0] = False
        copies = torch.cat([first_gone, torch.zeros_like(first_gone)], dim=1)
        is_spared = attack.name == "one other feature" and case.name == "sum"  # there every word is a reason
        same = torch.allclose(attacked.keep(copies), plain.keep(copies))
        assert same == is_spared, "but not of erased ones"


@pytest.mark.parametrize("case", CASES[1:], ids=lambda case: case.name)
def test_one_other_feature_gone_is_an_error_and_no_reason_is_that_feature(case: Case) -> None:
    """Every set of words of each input: wrong where the last word is gone, as plain elsewhere."""
    attacked = WordModel(case.model.evidence, case.model.rule, needs_last=True)
    for b, size in enumerate(case.inputs.n_features.tolist()):
        single = case.inputs[[b]]
        every = torch.cartesian_prod(*[torch.tensor([False, True])] * size)[None]
        plain = Perturber(case.model, single, check=False).logits(every).argmax(dim=-1)[0]
        misled = Perturber(attacked, single, check=False).logits(every).argmax(dim=-1)[0]
        there = every[0, :, size - 1]
        assert torch.equal(misled[there], plain[there])
        assert bool((misled[~there] == 0).all())
        changed = plain[~there] != 0
        is_reason = bool(case.truth[b, size - 1])
        assert bool(changed.any()) != is_reason  # of a reason nothing new is learnt from its absence


def test_random_errors_hit_a_third_of_the_copies_by_what_is_left_alone() -> None:
    case = CASES[1]
    attacked = WordModel(case.model.evidence, case.model.rule, at_random=1 / 3)
    inputs = case.inputs[(case.inputs.n_features == case.inputs.n_features.max()).nonzero()[:, 0].tolist()]
    size = int(inputs.n_features[0])
    every = torch.cartesian_prod(*[torch.tensor([False, True])] * size).expand(len(inputs), -1, -1)
    answers = Perturber(attacked, inputs, check=False, output="logit").keep(every)
    plain = Perturber(case.model, inputs, check=False, output="logit").keep(every)
    hit = (answers - plain).abs() > 1e-4
    assert bool((hit == hit[:1]).all())
    copies = 2**size - 1
    assert not hit[:, -1].any()  # the whole input
    assert abs(hit[0].float().sum().item() / copies - 1 / 3) < 4 * math.sqrt(2 / 9 / copies)
    halves = [Perturber(attacked, inputs, check=False, output="logit").keep(part) for part in every.split(7, dim=1)]
    torch.testing.assert_close(torch.cat(halves, dim=1), answers)


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if not attack.model], ids=lambda attack: attack.name)
def test_a_decoy_knows_nothing_of_the_truth(attack: Attack) -> None:
    case = CASES[0]
    decoys = torch.stack([attack.decoy(case.truth, case.inputs, seed) for seed in range(200)])
    present = case.inputs.feature_mask
    places = torch.where(present, case.truth, 0.0)
    centred = (places - places.sum(dim=1, keepdim=True) / present.sum(dim=1, keepdim=True)) * present
    agreement = (decoys * centred).sum(dim=2).mean(dim=1)  # over inputs, of each seed
    assert abs(agreement.mean().item()) < 4 * agreement.std().item() / math.sqrt(200)
    assert bool((decoys[:, ~present] == 0).all())


# --------------------------------------------------------------------------------------------------------- what it says
@metric("oracle", rows=None, direction="lower", meaning="how far scores are from the truth of the linear model")
def oracle(answers: None, scores: Tensor, about: About) -> Tensor:
    embedded = about.perturber._backend.model.evidence[about.perturber.inputs.input_ids, 0]
    signs = torch.where(about.perturber.predicted == 1, 1.0, -1.0)[:, None]
    gap = (scores - embedded[:, : scores.shape[1]] * signs) ** 2
    return (gap * about.feature_mask).sum(dim=1)


@metric("constant", rows=None, direction="higher", meaning="nothing")
def constant(answers: None, scores: Tensor, about: About) -> Tensor:
    return torch.ones(len(scores))


def test_metrics_whose_worth_is_known_get_it() -> None:
    bold = metric_in(str(EXAMPLES / "bold.py"))
    found = bench(["aopc_morf", "sufficiency_eraser", constant, bold], inputs=12)
    for name in ("aopc_morf", "sufficiency_eraser"):  # one better when higher, one when lower
        assert cell(found, name, "separates").low > 0.7
        assert cell(found, name, "tracks").low > 0.4
    # A metric that answers every question alike gets one half, and its order cannot be correlated with anything.
    assert (cell(found, "constant", "separates")["mean"], cell(found, "constant", "tracks")["n"]) == (0.5, 0)
    # One that looks at the size of scores alone cannot tell the truth from the same scores elsewhere.
    assert cell(found, "bold", "same scores")["mean"] == 0.5
    assert cell(found, "bold", "rows")["mean"] == 1  # the input itself
    # A model with two faces cannot be seen through by whoever erases.
    assert cell(found, "aopc_morf", "tracks (two-faced)").high < cell(found, "aopc_morf", "tracks").low
    assert cell(found, "aopc_morf", "separates").n == 3 * 12
    on_models = sum(attack.model is not None for attack in ATTACKS)
    assert found.summary().shape == (4, 3 + len(ATTACKS) - on_models + 2 * on_models)


def test_the_sign_of_a_metric_is_that_of_its_direction() -> None:
    found = bench([oracle], inputs=8, attacks=[])
    case = cases(inputs=8)[0]
    values = oracle(Perturber(case.model, case.inputs, check=False), case.truth)
    torch.testing.assert_close(values, torch.zeros(8), atol=1e-9, rtol=0)
    assert cell(found, "oracle", "separates").n == 24


def test_methods_are_held_against_the_truth_plain_and_under_attack() -> None:
    found = bench(methods=["occlusion", "saliency", "random", method_in(str(EXAMPLES / "lone_words.py"))], inputs=12)
    assert set(found.question) == {"finds", *(f"finds ({attack.name})" for attack in ATTACKS if attack.model)}
    for name in ("occlusion", "lone_words"):
        assert cell(found, name, "finds")["mean"] > 0.99
        assert cell(found, name, "finds (two-faced)").high < 0.5
    assert cell(found, "saliency", "finds (two-faced)").low > 0.9  # gradients do not erase
    assert cell(found, "random", "finds").low < 0 < cell(found, "random", "finds").high


def test_an_attack_of_ones_own_is_another_question() -> None:
    def opposite(truth: Tensor, inputs: TextInputs, seed: int) -> Tensor:
        return -truth

    found = bench(["aopc_morf"], inputs=8, attacks=[Attack("opposite", "the truth upside down", decoy=opposite)])
    assert list(found.question) == ["separates", "tracks", "opposite", "rows"]
    assert cell(found, "aopc_morf", "opposite")["mean"] > 0.9


def test_the_same_seed_gives_the_same_answers_and_another_one_others() -> None:
    first, again, other = (bench(["soft_nc", "lds"], inputs=6, seed=seed, attacks=[]) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert not first["mean"].equals(other["mean"])
    case = CASES[0]
    scores = random_scores(case.truth, case.inputs, 0)
    alone = random_scores(case.truth[:1], case.inputs[[0]], 0)
    torch.testing.assert_close(scores[:1, : alone.shape[1]], alone)  # whatever stands beside


def test_what_cannot_be_judged_is_refused() -> None:
    refused(UnknownNameError, "did you mean 'saco'", bench, ["sacco"])
    refused(UnknownNameError, "did you mean 'occlusion'", bench, methods=["oclusion"])
    refused(InputError, "inputs 0", bench, ["saco"], inputs=0)


# --------------------------------------------------------------------------------------------------------------- checks
def of_batch(answers: None, scores: Tensor, about: About) -> Tensor:
    return scores.sum(dim=1) - scores.mean()


def drawn(answers: None, scores: Tensor, about: About) -> Tensor:
    return torch.rand(len(scores))


def first_in_batch(answers: None, scores: Tensor, about: About) -> Tensor:
    return torch.arange(len(scores)).double()


def beyond(answers: None, scores: Tensor, about: About) -> Tensor:
    return scores.where(about.feature_mask, scores).amax(dim=1)


def undefined(answers: None, scores: Tensor, about: About) -> Tensor:
    return torch.full((len(scores),), torch.nan)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (of_batch, "changes with the other inputs"),
        (drawn, "answers the same question twice and differently"),
        (first_in_batch, "changes with the order"),
        (undefined, "NaN for every input"),
        (lambda answers, scores, about: torch.ones(len(scores)), "the same value for every explanation"),
    ],
)
def test_checks_say_in_a_sentence_what_is_wrong(value: object, said: str) -> None:
    faults = faults_of(metric("mine", rows=None, direction="higher")(value))
    assert any(said in fault for fault in faults), faults


def test_a_metric_that_forgets_padding_has_no_fault() -> None:
    """`evaluate` asks it about inputs of one size at a time."""
    assert faults_of(metric("mine", rows=None, direction="higher")(beyond)) == []


def test_checks_find_nothing_wrong_with_a_metric_that_is_right() -> None:
    assert faults_of(metric_in(str(EXAMPLES / "lone_loss.py"))) == []


def test_the_command_judges_names_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loss, words = str(EXAMPLES / "lone_loss.py"), str(EXAMPLES / "lone_words.py")
    out = tmp_path / "values.csv"
    asked = ["bench", loss, "saco", "--methods", f"{words},random", "--inputs", "3", "--out", str(out)]
    assert main(asked) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("lone_loss", "saco", "lone_words", "separates (misled)", "±"))
    assert set(pd.read_csv(out).judged) == {"lone_loss", "saco", "lone_words", "random"}
    assert main(["bench", str(EXAMPLES / "bold.py"), "--inputs", "3"]) == 1
    assert "wrong: bold changes with the other inputs" in capsys.readouterr().out
    assert main(["bench", "nothing.py"]) == 2


def test_a_method_of_an_example_answers_what_it_says() -> None:
    case = CASES[2]
    perturber = Perturber(case.model, case.inputs, check=False)
    scores = method_in(str(EXAMPLES / "lone_words.py"))(perturber, None, "probability")  # type: ignore[call-arg, arg-type]
    alone = perturber.keep(torch.eye(scores.shape[1], dtype=torch.bool).expand(12, -1, -1)) - perturber.empty[:, None]
    torch.testing.assert_close(scores[case.inputs.feature_mask], alone[case.inputs.feature_mask])
    assert not torch.equal(scores, attribute("occlusion", case.model, case.inputs, check=False))


def test_a_question_without_an_answer_has_a_dash_and_no_nan() -> None:
    row = {"judged": "saco", "question": "tracks (light)", "mean": math.nan, "low": math.nan, "high": math.nan, "n": 0}
    assert Bench([row]).summary().loc["saco", "tracks (light)"] == "–"
