"""Study 5's computations on a tiny model, and its pages on synthetic results whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from families import opened, saved
from store import Store, of_inputs, run_cells, units_of

from faithbook.engine import run as engine_run
from faithbook.engine.run import load_units
from faithbook.paths import root
from faithbook.show.labels import label
from faithbook.sources.tokenise import split_words, words_of
from faithbook.studies.language import language
from faithbook.studies.language.language import Task, filled_in, language_model
from faithbook.studies.language.prompted import LONGER, ORDERING, ordered_alike, truth_preferred
from faithlib.errors import InputError, UnknownNameError
from faithlib.perturb import Perturber

FILMS = ("a warm fine film , not bad at all .", "unfunny film , bad at all", "it is fine , a good film", "who is it ?")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    return opened(saved("llama", tmp_path_factory.mktemp("hub"), causal=True), causal=True)


def films() -> Task:
    """Reviews in words that the tiny model's tokenizer knows."""
    words = tuple(map(split_words, FILMS))
    marked = tuple(tuple(i == 1 for i in range(len(row))) for row in words)
    ids = tuple(f"film-{i}" for i in range(len(FILMS)))
    return Task("films", ids, FILMS, "review : {text} it is", words, (1, 0, 1, 0), (" bad", " good"), marked=marked)


# ------------------------------------------------------------------------------------------------------------- prompts
def test_names_to_copy_stand_in_both_places_and_are_marked() -> None:
    task, more = language.prompts("copied-name", 6), language.prompts("copied-name", 20)
    assert more.texts[:6] == task.texts and len(set(more.texts)) == 20
    for text, spans, (name, other), marked in zip(task.texts, task.words, task.names, task.marked, strict=True):
        words = words_of(text, spans)
        assert [word for word, mark in zip(words, marked, strict=True) if mark] == [name]
        assert other in words and f"neighbour {name}" in text
    with pytest.raises(UnknownNameError, match="copied-name"):
        language.prompts("copied", 2)
    with pytest.raises(UnknownNameError, match="smollm2"):
        language_model("smollm")


def test_a_prompt_can_be_read_whole_and_without_its_first_word(tiny: tuple[Any, Any]) -> None:
    task = films()
    _, inputs = task.asked(*tiny)
    assert inputs.features[0] == words_of(FILMS[0], task.words[0])
    _, whole = task.whole().asked(*tiny)
    assert whole.features[0][:3] == ("review", ":", "a") and whole.features[0][-2:] == ("it", "is")
    _, bare = task.text_first().without_first().asked(*tiny)
    assert bare.features[0] == inputs.features[0][1:]
    assert task.gold(inputs)[:, 1].all() and task.gold(inputs).sum() == len(task)
    assert len(task[1:3]) == 2 and task[1:3].ids == task.ids[1:3]
    with pytest.raises(InputError, match="no known reasons"):
        task.whole().gold(whole)


def test_what_is_right_is_what_the_labels_say(tiny: tuple[Any, Any]) -> None:
    task = films()
    prompt, inputs = task.asked(*tiny)
    predicted = Perturber(prompt, inputs).predicted
    assert task.right(*tiny).tolist() == [
        int(guess) == label for guess, label in zip(predicted, task.truth, strict=True)
    ]


def test_words_of_other_texts_take_the_place_of_what_goes(tiny: tuple[Any, Any]) -> None:
    task = films()
    prompt, inputs = task.asked(*tiny)
    plain = Perturber(prompt, inputs, target=1)
    for b in range(len(task)):
        of_words = inputs.feature_of_word[b]
        asked = filled_in(task, b, task, *tiny, target=1, features=of_words)
        assert asked.full.item() == pytest.approx(plain.full[b].item(), abs=1e-5), "nothing goes"
        assert asked.n_features == int(inputs.n_features[b])
        again = filled_in(task[b : b + 1], 0, task, *tiny, target=1, features=of_words)
        with pytest.raises(InputError, match="expected others"):
            filled_in(task, b, task[b : b + 1], *tiny, target=1, features=of_words)
        keep = torch.zeros(1, 1, asked.n_features, dtype=torch.bool)
        assert again.keep(keep).item() == asked.keep(keep).item(), "drawn by the text's name"
        assert asked.empty.item() != pytest.approx(asked.full.item(), abs=1e-6)


def test_words_that_share_a_feature_go_together_and_a_word_without_one_stays(tiny: tuple[Any, Any]) -> None:
    task = films()
    n = len(task.words[0])
    apart = filled_in(task, 0, task, *tiny, target=1, features=range(n))
    shared = filled_in(task, 0, task, *tiny, target=1, features=[0, 0, -1, *range(1, n - 2)])
    assert shared.n_features == n - 2
    goes = torch.ones(1, 1, n, dtype=torch.bool)
    goes[..., :2] = False
    assert shared.keep(torch.arange(n - 2).ne(0)[None, None]).item() == apart.keep(goes).item()
    all_but_third = torch.zeros(1, 1, n, dtype=torch.bool)
    all_but_third[..., 2] = True
    assert shared.empty.item() == apart.keep(all_but_third).item()


# -------------------------------------------------------------------------------------------------------- computations
@pytest.fixture
def computed(tiny: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a computation at the smoke profile on the tiny model, and give the values it saved."""
    monkeypatch.setattr(language, "MODELS", {"smollm2": lambda: tiny})
    monkeypatch.setattr(language, "prompts", lambda name, n, words: films()[:n])
    monkeypatch.setattr(engine_run, "results_dir", lambda profile: tmp_path / profile)
    monkeypatch.setattr(engine_run, "_folders_of", lambda notebook, profile: list(tmp_path.glob("*/by-hand/*/*")))

    def run(notebook: str) -> None:
        source = root() / "notebooks" / "compute" / f"{notebook}.py"
        run_cells(source, {"profile": "smoke", "dataset": "prompted-movie", "model": "smollm2"}, [])

    return run


def test_amounts_are_computed_for_every_text_and_method(computed: Any) -> None:
    computed("language_amounts")
    units = load_units("language_amounts", "smoke")
    wide = units.pivot_table(index=["id", "method"], columns="metric", values="value", observed=True)
    assert set(wide.columns) == {"amount", "soft_ns", "soft_nc", "pi_soft_ns", "pi_soft_nc"}
    assert units.groupby("method", observed=True).id.nunique().eq(len(FILMS)).all()
    mean = units[units.metric == "amount"].groupby("method", observed=True).value.mean()
    assert mean["occlusion_less"] < mean["occlusion"] < mean["occlusion_more"]
    sinks = load_units("language_amounts", "smoke", part="sinks")
    share = sinks[sinks["first"] == "share"]
    assert share.value.between(0, 1).all() and set(share.metric) == {"share", "even_share"}
    assert set(sinks["first"]) == {"share", "open", "protected"}
    assert set(load_units("language_amounts", "smoke", part="texts").metric) == {"right", "output", "empty"}


def test_win_rates_are_computed_for_every_erasure(computed: Any) -> None:
    computed("language_erasures")
    units = load_units("language_erasures", "smoke")
    assert set(units.erasure) == {"delete", "pad", "zero", "infill"}
    assert set(units.metric) == {f"{side}{end}" for side in ("comprehensiveness", "sufficiency") for end in ("", "_p")}
    assert units.value.between(0, 1).all() and units.value.notna().all()
    texts = load_units("language_erasures", "smoke", part="texts")
    assert set(texts.metric) == {"right", "words", "average_precision"}


# --------------------------------------------------------------------------------------------------------------- pages
EXPLAINED = (
    *("attention", "rollout", "rollout_dropped", "saliency", "input_x_gradient", "integrated_gradients"),
    *("occlusion", "random"),
)


@pytest.mark.parametrize(
    ("rewarded", "dominant", "sink", "gain", "decision"),
    [(1.0, 0.0, 0.5, 0.2, "reproduced"), (-1.0, 0.4, 0.01, -0.2, "not reproduced")],
    ids=["as claimed", "the other way round"],
)
def test_amounts_and_sinks_are_judged_as_they_are(
    store: Store, rewarded: float, dominant: float, sink: float, gain: float, decision: str
) -> None:
    """Values of 40 texts. `rewarded`: how much of the amount a soft metric pays; `dominant`: how far occlusion leads
    at equal retention; `sink`: the first token's share; `gain`: what protecting it adds."""
    amount = {name: 0.2 + 0.08 * i for i, name in enumerate(EXPLAINED)}
    amount |= {"occlusion_more": 0.9, "occlusion_less": 0.1}
    noise = dict(zip(amount, np.random.default_rng(1).normal(0, 0.03, len(amount)), strict=True))
    means = {(name, "amount"): value for name, value in amount.items()}
    for soft in ("soft_ns", "soft_nc"):
        means |= {(name, soft): rewarded * value + noise[name] for name, value in amount.items()}
        level = {(name, f"pi_{soft}"): 0.3 + 0.02 * (i % 3) for i, name in enumerate(EXPLAINED)}
        means |= level | {("occlusion", f"pi_{soft}"): 0.3 + dominant}
    shares = {"share": sink, "even_share": 0.06}
    found = {("share", *key): shares[key[0]] for key in product(shares, EXPLAINED[:-2])}
    some = ("attention", "rollout", "input_x_gradient", "occlusion")
    first = {"open": 0.4, "protected": 0.4 + gain}
    found |= {key: first[key[0]] for key in product(first, ("ns", "nc", "soft_ns", "soft_nc"), some)}
    sinks = units_of(found, ("first", "metric", "method"), spread=0.02)
    sinks.loc[sinks.metric == "even_share", "value"] = 0.06
    texts = units_of({("right",): 0.7, ("output",): 0.8, ("empty",): 0.5}, ("metric",))
    parts = {"": units_of(means, ("method", "metric"), spread=0.02), "sinks": sinks, "texts": texts}
    store.add("language_amounts", parts, dataset="prompted-sst", model="smollm2")
    # Where soft metrics pay for amounts alone, methods have one order on every text: nothing varies.
    still = {"lm_huang_c01": "undecided"} if rewarded > 0 else {"lm_huang_c01": decision}
    page = store.report("language_measures") if rewarded > 0 else store.judge("language_measures")
    page.decides(["lm_q1", "lm_huang_c02", "lm_q5", "lm_q6"], decision, **still)


@pytest.mark.parametrize(
    ("deletion", "infill", "plausible", "decided", "decision"),
    [
        (0.3, -0.1, False, (1, 2, 3), "reproduced"),  # of the third: pad and zero lose to random words
        (0.0, 0.0, True, (1, 2, 4), "not reproduced"),  # of the first: no gap is above the smallest effect of interest
    ],
)
def test_erasures_are_judged_as_they_are(
    store: Store, deletion: float, infill: float, plausible: bool, decided: tuple[int, ...], decision: str
) -> None:
    """Win rates of 40 texts of either length: deletion and infill differ by these on short texts, on long ones the
    other way round."""
    for dataset, sign in (("prompted-sst", 1), ("prompted-reviews", -1)):
        more = {"delete": deletion, "pad": 0.0, "zero": 0.0, "infill": infill}
        keys = product(EXPLAINED, more, ("comprehensiveness", "sufficiency"))
        means = {key: 0.4 + sign * more[key[1]] for key in keys}
        units = units_of(means, ("method", "erasure", "metric"), spread=0.05, bounds=(0, 1))
        marked = units[(units.erasure == "pad") & (units.metric == "comprehensiveness")]
        values = marked.value if plausible else np.random.default_rng(3).permutation(marked.value)
        marked = marked.assign(metric="average_precision", erasure="none", value=values)
        texts = units_of({("right",): 0.7, ("words",): 10.0}, ("metric",), erasure="none")
        parts = {"": units, "texts": pd.concat([texts, marked])}
        store.add("language_erasures", parts, dataset=dataset, model="smollm2")
    page = store.judge("language_win_rates") if plausible else store.report("language_win_rates")
    page.decides([f"lm_ice_c0{number}" for number in decided], decision)


# ------------------------------------------------------------------------------------------------ contrasts and bounds
METHODS = ("saliency", "input_x_gradient", "integrated_gradients", "occlusion", "shapley_sampling")
REAL = ("attention", "rollout", "lime", "occlusion")


def agreement(store: Store, gains: Sequence[float], *, sentences: int, wrong: int) -> None:
    """Under the contrast each method has its gain more subjects first than under log p; of the first `wrong` sentences
    the model prefers the wrong verb, and no method ever finds the subject there."""
    draws = np.random.default_rng(0)
    ids = range(sentences)
    base = {"id": [str(i) for i in ids], "cluster": [str(i // 4) for i in ids], "seed": 0}
    base["misleads"] = ["False" if i % 4 in (0, 3) else "True" for i in ids]
    right = np.arange(sentences) >= wrong
    frames = []
    for method, gain in zip(METHODS, gains, strict=True):
        luck = draws.permuted(np.linspace(0, 1, sentences, endpoint=False))
        for explained, level in (("contrast", 0.4 + gain), ("log_probability", 0.4)):
            values = ((luck < level) & right).astype(float)
            frames.append(pd.DataFrame({**base, "explained": explained, "method": method, "value": values}))
    for method in ("attention", "random"):
        values = (draws.random(sentences) < 0.2).astype(float)
        frames.append(pd.DataFrame({**base, "explained": "no output", "method": method, "value": values}))
    outputs = pd.DataFrame({**base, "explained": "contrast", "method": "none", "value": np.where(right, 2.0, -1.0)})
    found = {"language_agreement": pd.concat(frames).assign(metric="subject_first")}
    found["language_agreement_outputs"] = outputs.assign(metric="output")
    store.add("language_agreement", found, dataset="agreement")


@pytest.mark.parametrize(
    ("gains", "sentences", "wrong", "word"),
    [
        ([0.3, 0.3, 0.3, 0.0, 0.0], 400, 0, "reproduced"),
        ([0.02, 0.02, 0.02, 0.02, 0.3], 400, 0, "not reproduced"),
        ([-0.2, -0.2, -0.2, 0.3, 0.3], 400, 0, "not reproduced"),
        ([0.3] * 5, 440, 40, "reproduced"),  # sentences that the model gets wrong are not counted
        ([0.3] * 5, 320, 40, "not tested"),  # and below three hundred nothing is judged
    ],
)
def test_a_contrast_that_finds_the_subject_for_most_methods_is_said_to(
    store: Store, gains: list[float], sentences: int, wrong: int, word: str
) -> None:
    agreement(store, gains, sentences=sentences, wrong=wrong)
    first = word == "reproduced" and not wrong
    page = store.report("language_contrast") if first else store.judge("language_contrast")
    page.decides(["lm_q3"], word)
    if word != "not tested":
        assert page.verdicts.n["lm_q3"] == sentences - wrong
    if first:
        parts = page.table("language_contrast_parts", "part").estimate
        assert [parts[label(name)] for name in METHODS] == pytest.approx(gains, abs=0.01)


def of_prompts(rows: list[tuple[str, str, str, float]]) -> pd.DataFrame:
    return of_inputs(pd.DataFrame(rows, columns=["id", "method", "metric", "value"]))


def prompts(store: Store, *, gain: float, alike: bool, dataset: str = "facts", n: int = 40) -> None:
    """Every method reaches `gain` more of the best order than random scores; LDS and the top-3 drop order methods as
    AOPC does, or LDS the other way round."""
    draws = np.random.default_rng(1)
    rows = []
    for i in range(n):
        order = draws.permutation(len(REAL)) / 10
        for rank, method in zip(order, REAL, strict=True):
            values = {"aopc_morf": rank, "lds": rank if alike else -rank, "top_3_drop": rank, "top_1_drop": rank}
            values |= {"decides_first": 1.0, "naopc_morf": 0.5 + gain + draws.normal(0, 0.05)}
            rows += [(f"{dataset}{i}", method, metric, value) for metric, value in values.items()]
        rows += [(f"{dataset}{i}", "random", metric, 0.1) for metric in ("aopc_morf", "lds", "top_3_drop")]
        rows.append((f"{dataset}{i}", "random", "naopc_morf", 0.5 + draws.normal(0, 0.05)))
    ends = units_of({("full",): -1.0, ("empty",): -6.0, ("upper",): 4.0, ("lower",): 1.0}, ("metric",), n=n)
    parts = {"": of_prompts(rows), "ends": ends.assign(id=dataset + ends.id.str[1:])}
    store.add("language_sentences", parts, dataset=dataset)


@pytest.mark.parametrize(
    ("gain", "alike", "others", "parts", "word"),
    [
        (0.4, True, {"news": (0.4, True)}, 2, "reproduced"),
        (0.4, True, {LONGER: (0.0, False)}, 1, "reproduced"),  # longer prompts are shown and judge nothing
        (0.0, False, {}, 1, "not reproduced"),
    ],
)
def test_methods_that_come_close_to_the_best_order_are_told_from_random(
    store: Store, gain: float, alike: bool, others: dict[str, tuple[float, bool]], parts: int, word: str
) -> None:
    prompts(store, gain=gain, alike=alike)
    for dataset, (far, same) in others.items():
        prompts(store, gain=far, alike=same, dataset=dataset)
    page = store.report("language_bounds") if LONGER in others else store.judge("language_bounds")
    # The measures order methods alike on every prompt: nothing varies, so nothing is decided.
    page.decides(["lm_q4"], word, lm_q7="undecided")
    assert page.verdicts.loc["lm_q4", "parts"] == parts * len(REAL)
    if LONGER in others:
        assert {*others} <= set(page.table("language_bounds_measures").data)


def test_rank_correlations_leave_random_scores_and_constant_measures_out() -> None:
    rows = [("p", method, metric, value) for metric in ORDERING for method, value in zip("abc", (1, 2, 3), strict=True)]
    rows += [("p", "random", metric, 99.0) for metric in ORDERING]
    rows += [("q", method, metric, 1.0) for metric in ORDERING for method in "abc"]
    found = ordered_alike(of_prompts(rows).assign(dataset="facts"))
    assert set(found.id) == {"p"} and found.value.tolist() == pytest.approx([1, 1, 1])


def test_a_measure_prefers_the_truth_as_often_as_pairs_say_so() -> None:
    """Two methods put the deciding sentence first, two do not: AOPC is higher in three of the four pairs, LDS in all,
    and the drops are level. On the second prompt no method does, so that there is no pair."""
    values = {"aopc_morf": (4, 2, 3, 1), "lds": (4, 3, 2, 1), "top_3_drop": (1, 1, 1, 1), "decides_first": (1, 1, 0, 0)}
    rows = [("p", method, metric, x) for metric, of in values.items() for method, x in zip("abcd", of, strict=True)]
    rows += [("q", method, metric, 0) for metric in values for method in "abcd"]
    found = truth_preferred(of_prompts(rows).assign(dataset="facts")).set_index(["id", "metric"]).value
    assert found["p"].to_dict() == {"aopc_morf": 0.75, "lds": 1.0, "top_3_drop": 0.5} and found["q"].isna().all()


# ------------------------------------------------------------------------------------------------------------- no data
EMPTY = ("language_measures", "language_win_rates", "language_contrast", "language_bounds")


@pytest.mark.parametrize("name", [*EMPTY, "together_tasks", "naopc_six_models"])
def test_without_models_or_data_a_page_runs_and_shows_no_number(store: Store, name: str) -> None:
    page = store.report(name)
    if name in EMPTY:
        assert set(page.verdicts.decision) == {"not tested"}
    else:
        assert not [*page.folder.glob("*.svg"), *page.folder.glob("*.csv"), *page.folder.glob("verdicts.parquet")]
