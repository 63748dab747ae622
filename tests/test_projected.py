"""Marks of English texts carried to translations, on a tiny model."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
import torch
from toy_models import text_model, tokenizer

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.studies.crosslingual import projected
from faithbook.studies.crosslingual.links import mutual_argmax
from faithbook.studies.crosslingual.readings import Explainer

CLASSES = ("a", "b", "c")
ENGLISH = ("a fine film", "not bad at all", "who is it")
TURNED = ("film fine a", "all at bad not", "it is who")
OWN = 0.4


def data(texts: tuple[str, ...], marks: tuple[tuple[tuple[int, int], ...], ...] | None = None) -> Dataset:
    ids = tuple(f"m{i}" for i in range(len(texts)))
    return Dataset("messages", "test", texts, (0, 1, 2), ids, CLASSES, 32, rationales=marks)


@pytest.fixture(scope="module")
def projection() -> projected.Projection:
    explainer = Explainer(Classifier(text_model(), tokenizer(), CLASSES, "toy"))
    aligner = projected.Aligner(explainer.network.bert, tokenizer(), 0, mutual_argmax)
    # Published with other blanks; of the last text nothing is published.
    published = projected.PublishedMarks(
        data(("film  fine a", "all at bad not", "something"), (((0, 4),), (), ((0, 1),)))
    )
    return projected.Projection(explainer, aligner, OWN, {"el": published})


@pytest.fixture(scope="module")
def tables(projection: projected.Projection) -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = {"en": data(ENGLISH), "de": data(ENGLISH), "el": data(TURNED)}
    values, about, read = projection.tables(texts)
    assert [scores.texts[0] for scores in read] == ["a fine film", "a fine film", "film fine a"]
    return values, about


@pytest.mark.parametrize(("n", "marked"), [(1, 1), (2, 1), (5, 2), (6, 6), (7, 3)])
def test_chance_is_the_mean_over_all_orders(n: int, marked: int) -> None:
    scores = -np.arange(n)
    expected = [
        sklearn.metrics.average_precision_score(np.isin(np.arange(n), gold), scores)
        for gold in combinations(range(n), marked)
    ]
    assert projected.average_precision_by_chance(n, marked) == pytest.approx(np.mean(expected))


def test_a_text_without_marks_has_no_value() -> None:
    found = projected.found_marks(torch.tensor([0.5, 0.1]), torch.tensor([False, False]))
    assert found["marked"] == 0
    assert np.isnan([found["map"], found["chance"], found["lift"]]).all()
    first = projected.found_marks(torch.tensor([0.5, 0.1]), torch.tensor([True, False]))
    assert first == pytest.approx({"map": 1, "chance": 0.75, "lift": 0.25, "marked": 0.5})


def test_the_threshold_is_that_of_the_firmest_marks_and_the_first_seed() -> None:
    thresholds = pd.DataFrame(
        {"dataset": ["pair", "reviews", "reviews"], "seed": [0, 1, 0], "threshold": [0.9, 0.3, 0.2]}
    )
    assert projected.threshold_of_marks(thresholds) == 0.2


def test_the_only_word_of_a_text_is_marked() -> None:
    assert projected.thresholds_of_text(OWN, 1)["above an even spread"] < 1
    assert projected.thresholds_of_text(OWN, 16)["above an even spread"] == pytest.approx(0.25, rel=1e-5)


def test_a_text_that_is_its_own_translation_keeps_its_marks(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    values, about = tables
    both = {name: of.drop(columns="language").reset_index(drop=True) for name, of in values.groupby("language")}
    pd.testing.assert_frame_equal(both["de"], both["en"])
    facts = about.query("language == 'de'")
    assert (facts["linked"] == 1).all() and (facts["more links"] == 0).all()
    assert about.query("language == 'en'")["linked"].isna().all()


def test_marks_follow_links_to_words_of_the_translation(
    projection: projected.Projection, tables: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    """Worked out by hand from the scores of both texts and the links between them."""
    values = tables[0].query("language == 'el'").set_index(["input", "highlights"])
    english = projected.WordScores(projection.explainer, data(ENGLISH))
    turned = projected.WordScores(projection.explainer, data(TURNED))
    _, links = projection.aligner.links(english, turned)
    for number, name in enumerate(english.ids):
        scores = english.scores[number].tolist()
        norm = sqrt(sum(score**2 for score in scores))
        for way, limit in (("our threshold", OWN), ("the paper's number", projected.PRINTED_THRESHOLD)):
            marked = {place for place, score in enumerate(scores) if score / norm >= limit}
            reached = {target for source, target in links[number] if source in marked}
            gold = [place in reached for place in range(len(turned.scores[number]))]
            assert values.loc[(name, way), "marked"] == pytest.approx(np.mean(gold))
            if any(gold):
                expected = sklearn.metrics.average_precision_score(gold, turned.scores[number].tolist())
                assert values.loc[(name, way), "map"] == pytest.approx(expected)


def test_published_marks_stay_where_they_are_and_may_lack_a_text(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    published = tables[0][tables[0]["highlights"] == projected.AS_PUBLISHED].set_index("input")
    assert list(published.index) == ["m0", "m1"]
    assert published["language"].eq("el").all()
    assert published.loc["m0", "marked"] == pytest.approx(1 / 3)
    assert published.loc["m1", "marked"] == 0 and np.isnan(published.loc["m1", "map"])


def test_what_texts_are_like(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    values, about = tables
    assert about["words"].tolist() == [3, 4, 3] * 3
    assert about["threshold"].to_numpy() == pytest.approx(OWN * np.sqrt(about["words"]))
    assert set(projected.OF_TEXTS) <= set(about.columns) and set(projected.OF_MARKS) <= set(values.columns)
