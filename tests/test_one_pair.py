"""One message and its translation, step by step, from saved tables that say what has to come out."""

from __future__ import annotations

import pandas as pd
import pytest

from faithbook.studies.crosslingual import one_pair
from faithbook.studies.crosslingual.one_pair import LANGUAGE, LEADER, UNIFORM, Kept
from faithbook.studies.crosslingual.zaman_belinkov_alignment import rho

TRAINED = {"dataset": "messages", "model": "e5", "seed": 0}
ENGLISH = ["the", "film", "shines", "and", "it", "moves"]
GERMAN = ["der", "Film", "glänzt", "und", "er", "bewegt"]
SCORES = {"en": [0.1, 0.3, 0.9, 0.2, 0.4, 0.5], "de": [0.2, 0.1, 0.8, 0.3, 0.4, 0.5]}


def words_of(message: str, language: str, row: tuple[str, str, str], scores: list[float]) -> pd.DataFrame:
    method, aggregation, output = row
    words = pd.DataFrame({"word": range(6), "text": ENGLISH if language == "en" else GERMAN, "score": scores})
    return words.assign(
        input=message, language=language, pieces=1, method=method, aggregation=aggregation, output=output, **TRAINED
    )


@pytest.fixture
def kept() -> Kept:
    """Two messages with the same words; only the links of the second one cross. Another trained model and another data
    set are no part of the page."""
    words, links, saved = [], [], []
    for message, value in (("straight", 0.5), ("crossed", 0.7)):
        for language, scores in SCORES.items():
            words += [words_of(message, language, LEADER, scores), words_of(message, language, UNIFORM, [1.0] * 6)]
        order = [1, 0, *range(2, 6)] if message == "crossed" else range(6)
        links += [{"language": LANGUAGE, "input": message, "word": i, "word_there": j} for i, j in enumerate(order)]
        for (method, aggregation, output), language in ((LEADER, "de"), (UNIFORM, "de"), (LEADER, "fr")):
            row = {"method": method, "aggregation": aggregation, "output": output, "language": language}
            saved.append({**row, "input": message, "setting": "main", "rho": value})
            saved.append({**row, "input": message, "setting": "random links", "rho": -1.0})
    tables = [pd.concat(words), pd.DataFrame(links).assign(**TRAINED), pd.DataFrame(saved).assign(**TRAINED)]
    others = [{"model": "six"}, {"dataset": "nli"}]
    mixed = [pd.concat([table, *(table.assign(**other) for other in others)]) for table in tables]
    return Kept.of(*mixed, dataset="messages")


def test_the_message_with_the_most_crossings_is_shown(kept: Kept) -> None:
    assert (kept.model, kept.seed, kept.messages) == ("e5", 0, ["straight", "crossed"])
    assert kept.message == "crossed"
    assert kept.links_of("crossed")[:3] == [(0, 1), (1, 0), (2, 2)]
    assert len(kept.scores_of("en", "crossed")) == 6
    assert one_pair.word_order_in_words(kept.links_of("straight")).endswith("in the same order.")


def test_the_steps_carry_scores_along_the_links(kept: Kept) -> None:
    steps = kept.steps()
    assert steps["carried score"].tolist() == [0.1, 0.2, 0.8, 0.3, 0.4, 0.5]
    assert steps["linked with"].tolist()[:2] == ["Film", "der"]
    expected = pd.Series(SCORES["en"]).corr(steps["carried score"], method="spearman")
    assert rho(steps) == pytest.approx(expected)
    assert kept.steps(UNIFORM)["rank"].nunique() == 1


def test_other_languages_and_other_pairs(kept: Kept) -> None:
    table = kept.in_every_language().set_index("method")
    assert table.loc["input_x_gradient", ["de", "fr"]].tolist() == [0.7, 0.7]
    assert table["output"].tolist() == ["loss", "–"] and pd.isna(table["fr"]["uniform"])
    said = kept.ranges_in_words()
    assert said.startswith("Over the 2 pairs of English and German texts") and "uniform from 0.50 to 0.70." in said


def test_the_figure_says_what_it_shows(kept: Kept) -> None:
    english, german = (kept.scores_of(language, kept.message) for language in SCORES)
    links = kept.links_of(kept.message)
    fig, alt = one_pair.carried_scores_figure(english, german, links, kept.steps(), 0.75)
    assert "6 English and 6 German" in alt and "1 pairs of which cross; 0 English words have no line" in alt
    assert alt.endswith("highest at 'shines'. The two orders correlate at 0.75.")
    assert [text.get_text() for text in fig.axes[1].get_yticklabels()] == ENGLISH
