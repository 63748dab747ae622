"""Study 5's computations on a tiny model, and its pages on synthetic results whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from families import opened, saved
from store import Store, run_cells, units_of

from faithbook import language
from faithbook.engine import run as engine_run
from faithbook.engine.run import load_units
from faithbook.language import Task, filled_in, language_model, prompts
from faithbook.paths import root
from faithbook.sources.tokenise import split_words, words_of
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
    task, more = prompts("copied-name", 6), prompts("copied-name", 20)
    assert more.texts[:6] == task.texts and len(set(more.texts)) == 20
    for text, spans, (name, other), marked in zip(task.texts, task.words, task.names, task.marked, strict=True):
        words = words_of(text, spans)
        assert [word for word, mark in zip(words, marked, strict=True) if mark] == [name]
        assert other in words and f"neighbour {name}" in text
    with pytest.raises(UnknownNameError, match="copied-name"):
        prompts("copied", 2)
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
    assert task.right(*tiny).tolist() == [int(one) == label for one, label in zip(predicted, task.truth, strict=True)]


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
METHODS = (
    *("attention", "rollout", "rollout_dropped", "saliency", "input_x_gradient", "integrated_gradients"),
    *("occlusion", "random"),
)
NAMES = {"dataset": "prompted-sst", "model": "smollm2"}


def amounts_world(
    store: Store, *, rewarded: float, dominant: float = 0.0, sink: float = 0.5, gain: float = 0.0
) -> None:
    """Values of 40 texts. `rewarded`: how much of the amount a soft metric pays; `dominant`: how far occlusion leads
    at equal retention; `sink`: the first token's share; `gain`: what protecting it adds."""
    amount = {name: 0.2 + 0.08 * i for i, name in enumerate(METHODS)}
    amount |= {"occlusion_more": 0.9, "occlusion_less": 0.1}
    means = {(name, "amount"): value for name, value in amount.items()}
    noise = np.random.default_rng(1).normal(0, 0.03, len(amount))
    for metric in ("soft_ns", "soft_nc"):
        own = {name: rewarded * value + noise[i] for i, (name, value) in enumerate(amount.items())}
        means |= {(name, metric): value for name, value in own.items()}
    for metric in ("pi_soft_ns", "pi_soft_nc"):
        level = {name: 0.3 + 0.02 * (i % 3) for i, name in enumerate(METHODS)}
        means |= {(name, metric): value + dominant * (name == "occlusion") for name, value in level.items()}
    found = {("share", "share", name): sink for name in METHODS if name not in ("occlusion", "random")}
    found |= {("share", "even_share", name): 0.06 for _, _, name in found}
    for name in ("attention", "rollout", "input_x_gradient", "occlusion"):
        for metric in ("ns", "nc", "soft_ns", "soft_nc"):
            found |= {("open", metric, name): 0.4, ("protected", metric, name): 0.4 + gain}
    sinks = units_of(found, ("first", "metric", "method"), spread=0.02)
    sinks.loc[sinks.metric == "even_share", "value"] = 0.06
    units = units_of(means, ("method", "metric"), spread=0.02)
    texts = units_of({("right",): 0.7, ("output",): 0.8, ("empty",): 0.5}, ("metric",))
    store.add("language_amounts", {"": units, "sinks": sinks, "texts": texts}, **NAMES)


@pytest.mark.parametrize(
    ("world", "decision"),
    [
        ({"rewarded": 1.0, "sink": 0.5, "gain": 0.2}, "reproduced"),
        ({"rewarded": -1.0, "dominant": 0.4, "sink": 0.01, "gain": -0.2}, "not reproduced"),
    ],
    ids=["as claimed", "the other way round"],
)
def test_amounts_and_sinks_are_judged_as_they_are(store: Store, world: dict[str, float], decision: str) -> None:
    amounts_world(store, **world)
    page = store.report("language_measures")
    names = ("lm_huang_c01", "lm_q1", "lm_huang_c02", "lm_q5", "lm_q6")
    assert {name: page.verdict(name) for name in names} == dict.fromkeys(names, decision)


def wins_world(store: Store, *, deletion: float, infill: float, plausible: bool = False) -> None:
    """Win rates of 40 texts of either length: deletion and infill differ by these on short texts, on long ones the
    other way round."""
    for dataset, sign in (("prompted-sst", 1), ("prompted-reviews", -1)):
        means = {
            (name, erasure, metric): 0.4 + sign * {"delete": deletion, "infill": infill}.get(erasure, 0.0)
            for name in METHODS
            for erasure in ("delete", "pad", "zero", "infill")
            for metric in ("comprehensiveness", "sufficiency")
        }
        units = units_of(means, ("method", "erasure", "metric"), spread=0.05, bounds=(0, 1))
        marked = units[(units.erasure == "pad") & (units.metric == "comprehensiveness")]
        generator = np.random.default_rng(3)
        values = marked.value if plausible else generator.permutation(marked.value)
        marked = marked.assign(metric="average_precision", erasure="none", value=values)
        texts = units_of({("right",): 0.7, ("words",): 10.0}, ("metric",), erasure="none")
        store.add(
            "language_erasures", {"": units, "texts": pd.concat([texts, marked])}, dataset=dataset, model="smollm2"
        )


def test_erasures_are_judged_as_they_are(store: Store) -> None:
    wins_world(store, deletion=0.3, infill=-0.1)
    page = store.report("language_win_rates")
    assert page.verdict("lm_ice_c01") == "reproduced" and page.verdict("lm_ice_c02") == "reproduced"
    assert page.verdict("lm_ice_c03") == "reproduced"  # pad and zero lose to random words


def test_erasures_that_make_no_difference(store: Store) -> None:
    wins_world(store, deletion=0.0, infill=0.0, plausible=True)
    page = store.report("language_win_rates")
    assert page.verdict("lm_ice_c01") == "not reproduced"  # no gap is above the smallest effect of interest
    assert page.verdict("lm_ice_c02") == "not reproduced" and page.verdict("lm_ice_c04") == "not reproduced"


def test_pages_without_a_language_model_say_so(store: Store) -> None:
    for name in ("language_measures", "language_win_rates", "language_contrast", "language_bounds"):
        page = store.report(name)
        assert "No numbers in this copy" in page.text
        assert set(page.verdicts.decision) == {"not tested"}
