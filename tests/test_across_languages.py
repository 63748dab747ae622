"""What the computation of study 3 measures, on a tiny model: across languages, under erasure, and the released code."""

from __future__ import annotations

import pytest
import scipy.stats
import torch
from toy_models import text_model, tokenizer

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.studies.crosslingual.across_languages import (
    SETTINGS,
    Messages,
    links_shown,
    rho_by_choice,
    rho_by_setting,
    rho_of_pair,
    words_shown,
)
from faithbook.studies.crosslingual.links import mutual_argmax
from faithbook.studies.crosslingual.readings import Explainer
from faithbook.studies.crosslingual.under_erasure import WINDOW, Erased, FirstBatch, erasure_values
from faithbook.studies.crosslingual.zaman_belinkov_rows import thirteen_rows

CLASSES = ("a", "b", "c")
WORDS = "fine film not bad at all who is it fun".split()
ROWS = thirteen_rows(ig_steps=2, lime_samples=6, permutations=1)
SALIENCY = ("saliency", "l2", "top_prediction", "sum")


def data(texts: list[str]) -> Dataset:
    labels = tuple(i % 3 for i in range(len(texts)))
    return Dataset("messages", "test", tuple(texts), labels, tuple(f"m{i}" for i in range(len(texts))), CLASSES, 32)


def texts(n: int) -> list[str]:
    """Different texts of four to seven words."""
    return [" ".join((WORDS * 2)[i % 10 : i % 10 + 4 + i % 4]) + " bad" * (i // 10) for i in range(n)]


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    return Explainer(Classifier(text_model(), tokenizer(), CLASSES, "toy"))


@pytest.fixture(scope="module")
def messages(explainer: Explainer) -> Messages:
    """Three texts, themselves as "de", and with their words turned round as "el"."""
    english = texts(3)
    turned = [" ".join(reversed(text.split())) for text in english]
    made = Messages(explainer, {"en": data(english), "de": data(english), "el": data(turned)}, ROWS)
    made.link("main", explainer.network.bert, tokenizer(), layer=0, rule=mutual_argmax)
    return made


# --- across languages ------------------------------------------------------------------------------------------------


def test_a_text_beside_itself_is_explained_the_same_way(messages: Messages) -> None:
    """Its words are all linked to themselves, so every score but a random one correlates perfectly."""
    rho = rho_by_setting(messages, {"main": {}}, seed=0).query("language == 'de' and method != 'random'")
    assert len(rho) == 3 * (len({name[:3] for name in ROWS}) - 1)
    defined = rho["rho"].dropna()
    assert len(defined) > 50
    assert defined.to_numpy() == pytest.approx(1)


def test_rho_is_scipys_over_the_words_that_links_reach(messages: Messages) -> None:
    english, other = messages.readings["en"][1], messages.readings["el"][1]
    n = int(english.inputs.n_features[0])
    links = [(i, n - 1 - i) for i in range(n - 1)]  # the last English word has no link
    copied = torch.tensor([True] + [False] * (n - 1))
    own, there = english.scores[SALIENCY], other.scores[SALIENCY]
    carried = torch.tensor([*(float(there[n - 1 - i]) for i in range(n - 1)), 0.0])
    found = rho_of_pair(english, other, links, copied=copied)
    assert found[SALIENCY[:3]] == pytest.approx(scipy.stats.spearmanr(own, carried).statistic)
    left = rho_of_pair(english, other, links, copied=copied, leave_out_copied=True, unaligned="nan")
    inner = slice(1, n - 1)
    assert left[SALIENCY[:3]] == pytest.approx(scipy.stats.spearmanr(own[inner], carried[inner]).statistic)


def test_a_setting_has_links_of_its_own_or_the_main_ones(messages: Messages) -> None:
    keys = ["language", "input", "method", "aggregation", "output"]

    def of(setting: str) -> torch.Tensor:
        table = rho_by_setting(messages, {setting: SETTINGS[setting]}, seed=0)
        return torch.tensor(table.sort_values(keys)["rho"].to_numpy())

    assert torch.equal(of("main").nan_to_num(), of("other links").nan_to_num())
    messages.links["other links"] = {place: links[:2] for place, links in messages.links["main"].items()}
    try:
        assert not torch.equal(of("main").nan_to_num(), of("other links").nan_to_num())
    finally:
        del messages.links["other links"]


def test_choices_are_measured_in_the_languages_of_the_paper(messages: Messages) -> None:
    by_choice = rho_by_choice(messages, lime_samples=6)
    assert set(by_choice["language"]) == {"de"}
    counts = by_choice.groupby("choice").size() / 3
    assert counts.to_dict() == {
        "main": 5, "embedded twice": 5, "logit of the predicted class": 5, "probability": 5,
        "single pieces": 2, "lasso": 1,
    }  # fmt: skip
    keys = ["language", "input", "method", "aggregation"]
    main = by_choice.query("choice == 'main'").set_index(keys)["rho"].sort_index()
    whole = rho_by_setting(messages, {"main": {}}, seed=0).query("output == 'top_prediction'").set_index(keys)["rho"]
    assert main.to_numpy() == pytest.approx(whole.loc[main.index].to_numpy(), nan_ok=True)


def test_what_is_shown_is_of_the_first_messages(messages: Messages) -> None:
    words, links = words_shown(messages, 1), links_shown(messages, 1)
    assert set(words["input"]) == set(links["input"]) == {"m0"}
    assert words.query("language == 'en' and method == 'saliency'")["text"].tolist() == texts(3)[0].split()
    uniform = words.query("method == 'uniform'")
    assert (uniform["score"] / uniform["pieces"]).nunique() == 1
    assert words_shown(messages, 0).empty
    assert links_shown(messages, 0).empty


# --- under erasure ---------------------------------------------------------------------------------------------------


def test_the_first_batch_answers_every_later_one(explainer: Explainer) -> None:
    """Ten texts and four rows of the eleventh fill the batch: of these texts the released code is right, the twelfth is
    told what the model says of the first one from its third row on, and so forth."""
    rows = {SALIENCY: ROWS[SALIENCY]}
    listed = data(texts(14))
    batch = FirstBatch(explainer, listed, rows, deleting=rows, batch=3)
    erased = Erased(explainer, listed, rows)
    right = [part.flatten(0, 1) for part in erased.windows(SALIENCY)]
    for part, whole in zip(batch.windows(SALIENCY, slice(0, 14)), right, strict=True):
        told = whole[torch.arange(14 * WINDOW) % 64].unflatten(0, (14, WINDOW))
        assert torch.allclose(part, told, atol=1e-5)
    values = erasure_values(erased, [SALIENCY], released={SALIENCY: batch.windows(SALIENCY, slice(0, 14))})
    for metric in ("comprehensiveness", "sufficiency"):
        off = (values[metric] - values[f"{metric}_first_batch"]).abs()
        assert off[:10].max() < 1e-5
        assert off[11:].max() > 1e-3
    assert values["words"].tolist() == [len(text.split()) for text in listed.texts]


def test_erasure_has_no_fault_where_none_is_asked_for(explainer: Explainer) -> None:
    erased = Erased(explainer, data(texts(3)), {SALIENCY: ROWS[SALIENCY]})
    values = erasure_values(erased, [SALIENCY], released={})
    assert list(values.columns) == [
        "input", "words", "correct", "comprehensiveness", "sufficiency", "method", "aggregation", "output"
    ]  # fmt: skip
