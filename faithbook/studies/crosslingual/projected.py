"""Words that are marked in an English text, carried to its translations, and how well an attribution of the translation
finds them: what `crosslingual_projected` computes.

Shape letters: F features of one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from faithbook.models.encoders import unknown_pieces
from faithbook.sources.datasets import Dataset
from faithbook.sources.tokenise import Pair, Span, marked_words, split_words, without_blanks
from faithbook.studies.crosslingual.gold import Links
from faithbook.studies.crosslingual.highlights import project_rationale
from faithbook.studies.crosslingual.links import between_features, copied_features, encoder_links
from faithbook.studies.crosslingual.readings import Explainer
from faithbook.studies.crosslingual.zaman_belinkov import firmest_marks
from faithlib.attribution import Row, attribute_rows
from faithlib.metrics import average_precision
from faithlib.perturb import Perturber, costs

HIGHLIGHTER = Row("saliency", "l2", "loss", "gold")
PRINTED_THRESHOLD = 0.167
"""The paper's number (Section 4.3), from e-SNLI."""
AS_PUBLISHED = "as published"
"""The way to mark that needs no projection."""
OF_MARKS = ("map", "chance", "lift", "marked")
OF_TEXTS = ("words", "pieces a word", "unknown", "threshold", "linked", "more links", "copied")


# ------------------------------------------------------------------------------------------------------------- to mark
def threshold_of_marks(thresholds: pd.DataFrame) -> float:
    """The threshold that agrees best with the firmest marks of people, of the classifier with the first seed.

    `thresholds`: what `crosslingual_threshold` has found (dataset, seed, threshold).
    """
    firmest = thresholds["dataset"] == firmest_marks(thresholds["dataset"].unique())
    return float(thresholds[firmest].sort_values("seed", ignore_index=True)["threshold"].iloc[0])


def thresholds_of_text(own: float, words: int) -> dict[str, float]:
    """By way to mark, the score as a part of the scores' L2 norm from which a word of a text of so many is marked.

    >>> thresholds_of_text(0.2, 25)
    {'our threshold': 0.2, "the paper's number": 0.167, 'above an even spread': 0.1999998}
    """
    even = words**-0.5
    # Rounding must not unmark the only word of a text.
    return {
        "our threshold": own,
        "the paper's number": PRINTED_THRESHOLD,
        "above an even spread": even * (1 - 1e-6),
    }


class PublishedMarks:
    """Highlights that were published for texts in one language. They need not have every text of another data set."""

    def __init__(self, data: Dataset) -> None:
        assert data.rationales is not None
        self._by_text: dict[str, tuple[str, Sequence[Span]]] = {
            without_blanks(text): (text, spans) for text, spans in zip(data.wholes, data.rationales, strict=True)
        }

    def features(self, text: str, words: Sequence[Span], feature_of_word: Sequence[int], n: int) -> Tensor | None:
        """Which of the `n` features are marked, bool [F], or None for a text that they lack or spell differently.

        Their words are cut differently: one of ours is marked if it contains a marked one of theirs.
        """
        if without_blanks(text) not in self._by_text:
            return None
        published, spans = self._by_text[without_blanks(text)]
        gold = torch.zeros(n, dtype=torch.bool)
        for feature, marked in zip(feature_of_word, marked_words(spans, published, text, words), strict=True):
            if marked and feature >= 0:
                gold[feature] = True
        return gold


# ------------------------------------------------------------------------------------------------------------ to score
def average_precision_by_chance(n: int, marked: int) -> float:
    """The expected average precision of n scores in random order, `marked` of them gold.

    Place k is gold with probability m/n, and then (k - 1)(m - 1)/(n - 1) gold ones are expected before it.

    >>> average_precision_by_chance(4, 4), round(average_precision_by_chance(2, 1), 2)
    (1.0, 0.75)
    """
    if n == 1:
        return 1.0
    harmonic = (1 / np.arange(1, n + 1)).sum()
    return float((harmonic + (marked - 1) / (n - 1) * (n - harmonic)) / n)


def found_marks(scores: Tensor, gold: Tensor) -> dict[str, float]:
    """How well scores [F] find the marked words, with what random ones get; NaN where no word is marked."""
    marked = int(gold.sum())
    found = average_precision(scores[None], gold[None]).item()
    chance = average_precision_by_chance(len(scores), marked) if marked else np.nan
    return {"map": found, "chance": chance, "lift": found - chance, "marked": marked / len(scores)}


class WordScores:
    """Texts in one language: their words, and the score [F] of each word that is a feature.

    The loss is the cross entropy with the true label, its sign turned; the scores of a word's pieces are added up, as
    in the released code. `costs`: what the scores cost, for `run.count`.
    """

    def __init__(self, explainer: Explainer, data: Dataset) -> None:
        inputs = explainer.inputs_of(data)
        perturber = Perturber(explainer.network, inputs)
        gold = explainer.labels_of(data).to(explainer.device)
        found, _ = attribute_rows([HIGHLIGHTER], explainer.network, inputs, targets={"gold": gold}, perturber=perturber)
        padded = found[HIGHLIGHTER.name].cpu()
        self.ids = data.ids
        self.texts = data.wholes
        self.words = [split_words(text) for text in data.wholes]
        self.feature_of_word = inputs.feature_of_word
        self.pieces = (inputs.feature_of >= 0).sum(dim=1).tolist()
        self.scores = [padded[b, :size] for b, size in enumerate(inputs.n_features.tolist())]
        self.costs = costs(perturber)

    def __len__(self) -> int:
        return len(self.scores)


# ---------------------------------------------------------------------------------------------------- English to others
@dataclass(frozen=True)
class Aligner:
    """A frozen encoder whose hidden states of one layer link words, and the rule that links them."""

    network: nn.Module
    tokenizer: Any
    layer: int
    rule: Callable[[Tensor, Tensor], Links]

    def links(self, english: WordScores, other: WordScores) -> tuple[list[Pair], list[list[tuple[int, int]]]]:
        """The messages as pairs with their translations, and the links between the features of each."""
        pairs = [Pair.from_texts(*texts) for texts in zip(english.texts, other.texts, strict=True)]
        found = encoder_links(self.network, self.tokenizer, pairs, layers=[self.layer], link=self.rule)[self.layer]
        features = zip(found, english.feature_of_word, other.feature_of_word, strict=True)
        return pairs, [between_features(*of_pair) for of_pair in features]


def text_facts(texts: WordScores, number: int, tokenizer: Any, threshold: float) -> dict[str, float]:
    """How many words one text has, how many pieces each of these, the share of pieces that are unknown, and our
    threshold as a part of what each word gets where a text's score is spread evenly."""
    words = len(texts.scores[number])
    return {
        "words": words,
        "pieces a word": texts.pieces[number] / words,
        "unknown": unknown_pieces(tokenizer, [texts.texts[number]]).share,
        "threshold": threshold * words**0.5,
    }


def link_facts(english: WordScores, number: int, pair: Pair, links: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Shares of the English words of one message that have a link and that are copied, and links beyond a word's first
    as a share of the linked words."""
    words = len(english.scores[number])
    linked = len({source for source, _ in links})
    copied = copied_features(pair, english.feature_of_word[number], words)
    return {
        "linked": linked / words,
        "more links": (len(links) - linked) / linked if linked else np.nan,
        "copied": copied.float().mean().item(),
    }


@dataclass(frozen=True)
class Projection:
    """Marks of English texts carried to other languages, in every way to mark.

    `threshold`: our own (`threshold_of_marks`); `published`: by language the highlights that need no projection.
    """

    explainer: Explainer
    aligner: Aligner
    threshold: float
    published: Mapping[str, PublishedMarks]

    def tables(self, texts: Mapping[str, Dataset]) -> tuple[pd.DataFrame, pd.DataFrame, list[WordScores]]:
        """Of the same messages in each language, English ("en") among them: how well marks are found in every way to
        mark, a row each; what the texts are like; and the scores by which words are marked."""
        english = WordScores(self.explainer, texts["en"])
        about, values, read = [], [], [english]
        for language, data in texts.items():
            other = english
            if language != "en":
                other = WordScores(self.explainer, data)
                read.append(other)
                pairs, links = self.aligner.links(english, other)
            for number, name in enumerate(data.ids):
                key = {"language": language, "input": name}
                facts = text_facts(other, number, self.explainer.classifier.tokenizer, self.threshold)
                carried = None
                if language != "en":
                    carried = links[number]
                    facts |= link_facts(english, number, pairs[number], carried)
                about.append(key | facts)
                for way, gold in self.marks(english, other, number, language, carried):
                    values.append(key | {"highlights": way} | found_marks(other.scores[number], gold))
        return pd.DataFrame(values), pd.DataFrame(about), read

    def marks(
        self,
        english: WordScores,
        other: WordScores,
        number: int,
        language: str,
        links: Sequence[tuple[int, int]] | None,
    ) -> Iterator[tuple[str, Tensor]]:
        """Which features of one message in a language are marked, bool [F], by way to mark; without `links` (the text
        is the English one) marks stay where they are."""
        scores, n = english.scores[number], len(other.scores[number])
        for way, threshold in thresholds_of_text(self.threshold, len(scores)).items():
            marked = scores / scores.norm() >= threshold
            yield way, marked if links is None else project_rationale(marked, frozenset(links), n)
        if language in self.published:
            text, words = other.texts[number], other.words[number]
            gold = self.published[language].features(text, words, other.feature_of_word[number], n)
            if gold is not None:
                yield AS_PUBLISHED, gold
