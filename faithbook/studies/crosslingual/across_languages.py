"""Rank correlation between what explains a text and what explains its translation, over word links: as the paper
measures it, with one part of the measure at a time done otherwise, and with one part of the released code.

    messages = Messages(explainer, {"en": ..., "de": ...}, rows)
    messages.link("main", aligner, tokenizer, layer=7, rule=softmax_links)
    rho_by_setting(messages, SETTINGS, seed=0)

Shape letters: R rows of a table, F features of one text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pandas as pd
import torch
from torch import Tensor, nn

from faithbook.sources.datasets import Dataset
from faithbook.sources.splits import stable_hash
from faithbook.sources.tokenise import Pair
from faithbook.studies.crosslingual.gold import Links
from faithbook.studies.crosslingual.links import between_features, copied_features, encoder_links
from faithbook.studies.crosslingual.readings import ExplainedText, Explainer, inputs_in
from faithbook.studies.crosslingual.zaman_belinkov import PAPER_LANGUAGES
from faithbook.studies.crosslingual.zaman_belinkov_rows import Name
from faithlib.attribution import Row, attribute_rows
from faithlib.metrics import aligned_scores, crosslingual_rho, random_links
from faithlib.names import Aggregation, MethodName, Output
from faithlib.perturb import Perturber

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "main": {},
    "mean of pieces": {"pool": "mean"},
    "mean of links": {"links_by": "mean"},
    "means of both": {"pool": "mean", "links_by": "mean"},
    "unaligned left out": {"unaligned": "nan"},
    "no copied words": {"leave_out_copied": True},
    "means, aligned, no copied words": {
        "pool": "mean",
        "links_by": "mean",
        "unaligned": "nan",
        "leave_out_copied": True,
    },
    "other links": {},
    "random links": {"drawn": "number"},
    "random links, degrees kept": {"drawn": "degrees"},
}
"""Settings of the measure, by name, as options of `rho_of_pair`. "main" is the paper's: sums over pieces and links,
words without a link keep 0. Every other one changes one thing; "other links" is main with links by another rule."""

LOOKED_AT = (("input_x_gradient", "l2"), ("saliency", "l2"), ("saliency", "mean"), ("occlusion", None), ("lime", None))
"""The rows (method, aggregation) that are computed once more with a choice of the released code."""
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "logit of the predicted class": {"output": "logit"},
    "probability": {"output": "probability"},
    "single pieces": {"unit": "wordpiece"},
    "lasso": {"surrogate": "lasso"},
}
"""Where text and code differ, by name, as options of a row."""
METHODS_OF_CHOICE = {"single pieces": ("occlusion", "lime"), "lasso": ("lime",)}
"""The methods that a choice concerns, where it does not concern all."""
EMBEDDED_TWICE = "embedded twice"
SHOWN = (("input_x_gradient", "l2", "loss"), ("saliency", "l2", "loss"), ("uniform", "none", "none"))
"""The rows whose scores a report shows on single texts."""

Place = tuple[str, int]
"""A language, and the number of a message."""


# ------------------------------------------------------------------------------------------------------------ messages
class Messages:
    """Some messages, read and explained in English ("en") and in other languages.

    `texts`: the same messages in each language; `rows`: what explains them. `costs` has one table per language.
    """

    def __init__(self, explainer: Explainer, texts: Mapping[str, Dataset], rows: Mapping[Name, Row]) -> None:
        self.explainer = explainer
        self.texts = texts
        self.ids = texts["en"].ids
        self.others = [language for language in texts if language != "en"]
        # All erasers are there before the first explanation.
        self.erasers: dict[str, Perturber] = {}
        for language, data in texts.items():
            self.erasers[language] = Perturber(explainer.network, explainer.inputs_of(data), erase="pad")
        self.readings: dict[str, list[ExplainedText]] = {}
        self.costs: list[pd.DataFrame] = []
        for language, data in texts.items():
            self.readings[language], cost = explainer.readings(data, self.erasers[language], rows)
            self.costs.append(cost)
        self.links: dict[str, dict[Place, list[tuple[int, int]]]] = {}

    def pairs(self, language: str) -> list[Pair]:
        """The English messages beside their translations."""
        wholes = zip(self.texts["en"].wholes, self.texts[language].wholes, strict=True)
        return [Pair.from_texts(english, other) for english, other in wholes]

    def link(
        self, way: str, aligner: nn.Module, tokenizer: Any, *, layer: int, rule: Callable[[Tensor, Tensor], Links]
    ) -> None:
        """Add links between features, for each language and message, under the name `way`: `rule` links words by the
        hidden states that a layer of the aligner has of them."""
        found: dict[Place, list[tuple[int, int]]] = {}
        for language in self.others:
            of_pairs = encoder_links(aligner, tokenizer, self.pairs(language), layers=[layer], link=rule)[layer]
            for number, links in enumerate(of_pairs):
                english = self.readings["en"][number].inputs.feature_of_word[0]
                there = self.readings[language][number].inputs.feature_of_word[0]
                found[language, number] = between_features(links, english, there)
        self.links[way] = found


# -------------------------------------------------------------------------------------------------- the paper's measure
def rho_of_pair(
    english: ExplainedText,
    other: ExplainedText,
    links: Sequence[tuple[int, int]],
    *,
    copied: Tensor,
    draw_seed: tuple[int, int] = (0, 0),
    pool: str = "sum",
    links_by: str = "sum",
    unaligned: str = "zero",
    leave_out_copied: bool = False,
    drawn: str | None = None,
) -> dict[tuple[str, str, str], float]:
    """Spearman's rho of each row for one text and its translation, by method, aggregation and output.

    `copied` [F]: the English features that stand in the translation as they are, left out on demand; `drawn`: random
    links instead ("number": as many, "degrees": as many at each word), by `draw_seed`; the other options are those of
    `ExplainedText.stacked` and `faithlib.metrics.aligned_scores`.
    """
    n_english = int(english.inputs.n_features[0])
    n_other = int(other.inputs.n_features[0])
    if drawn:
        links = random_links(links, n_english, n_other, keep=drawn, seed=draw_seed)
    own_scores, rows = english.stacked(pool)
    scores_there, _ = other.stacked(pool)
    carried = aligned_scores(scores_there, links, n_english, links_by=links_by, unaligned=unaligned)
    keep = ~copied if leave_out_copied else None
    rho = crosslingual_rho(own_scores, carried, keep=keep)
    return dict(zip(rows, rho.tolist(), strict=True))


def rho_by_setting(messages: Messages, settings: Mapping[str, Mapping[str, Any]], *, seed: int) -> pd.DataFrame:
    """rho of every message, language, setting and row. A setting has links of its own where `messages` has some of its
    name, otherwise the main ones; random links depend on `seed` and on the name of a message."""
    rows = []
    for language in messages.others:
        pairs = messages.pairs(language)
        for number, english in enumerate(messages.readings["en"]):
            name = messages.ids[number]
            inputs = english.inputs
            copied = copied_features(pairs[number], inputs.feature_of_word[0], int(inputs.n_features[0]))
            for setting, options in settings.items():
                way = setting if setting in messages.links else "main"
                found = rho_of_pair(
                    english,
                    messages.readings[language][number],
                    messages.links[way][language, number],
                    copied=copied,
                    draw_seed=(seed, int(stable_hash("links", name)[:16], 16)),
                    **options,
                )
                about = {"language": language, "input": name, "setting": setting}
                for (method, aggregation, output), rho in found.items():
                    rows.append(about | {"method": method, "aggregation": aggregation, "output": output, "rho": rho})
    return pd.DataFrame(rows)


# ----------------------------------------------------------------------------------------- choices of the released code
def changed_row(
    method: str, aggregation: str | None, *, lime_samples: int, output: Output = "top_logit", **options: Any
) -> Row:
    """A row of the top prediction, with one thing done otherwise."""
    usual: dict[str, dict[str, Any]] = {
        "occlusion": {"erase": "pad"},
        "lime": {"erase": "pad", "n_samples": lime_samples},
    }
    return Row(
        cast(MethodName, method), cast(Aggregation, aggregation), output, options=usual.get(method, {}) | options
    )


def _rows_otherwise(lime_samples: int) -> dict[tuple[str, str, str], Row]:
    """The rows that are computed once more on the model itself, by choice, method and aggregation."""
    rows = {}
    for choice, change in CHOICES.items():
        for method, aggregation in LOOKED_AT:
            if method in METHODS_OF_CHOICE.get(choice, (method,)):
                rows[choice, method, aggregation or "none"] = changed_row(
                    method, aggregation, lime_samples=lime_samples, **change
                )
    return rows


def _scores_by_text(function: nn.Module, rows: Sequence[Row], perturber: Perturber, *, shares: bool) -> list[Tensor]:
    """Scores [R, F] of rows on each text; `shares`: whether the perturber's answers are those of this function."""
    inputs = inputs_in(perturber)
    scores, _ = attribute_rows(rows, function, inputs, perturber=perturber if shares else None)
    by_text = []
    for b, size in enumerate(inputs.n_features.tolist()):
        of_text = [scores[row.name][b, :size].cpu() for row in rows]
        by_text.append(torch.stack(of_text))
    return by_text


def rho_by_choice(messages: Messages, *, lime_samples: int) -> pd.DataFrame:
    """rho of a few rows with one choice of the released code at a time ("main": none), in the languages that the paper
    averages over, by the main links."""
    languages = [language for language in messages.texts if language in ("en", *PAPER_LANGUAGES)]
    explainer = messages.explainer
    otherwise = _rows_otherwise(lime_samples)
    twice = {}
    for method, aggregation in LOOKED_AT:
        row = changed_row(method, aggregation, lime_samples=lime_samples)
        twice[EMBEDDED_TWICE, method, aggregation or "none"] = row

    as_read: dict[str, list[Tensor]] = {}
    changed: dict[str, list[Tensor]] = {}
    embedded_twice: dict[str, list[Tensor]] = {}
    for language in languages:
        eraser = messages.erasers[language]
        as_read[language] = _scores_as_read(messages.readings[language])
        changed[language] = _scores_by_text(explainer.network, list(otherwise.values()), eraser, shares=True)
        embedded_twice[language] = _scores_by_text(explainer.embedded_twice, list(twice.values()), eraser, shares=False)
    main = [("main", method, aggregation or "none") for method, aggregation in LOOKED_AT]
    tables = [
        _rho_of_rows(messages, main, as_read),
        _rho_of_rows(messages, list(otherwise), changed),
        _rho_of_rows(messages, list(twice), embedded_twice),
    ]
    return pd.DataFrame([row for table in tables for row in table])


def _scores_as_read(readings: Sequence[ExplainedText]) -> list[Tensor]:
    """The scores [R, F] that the rows of `LOOKED_AT` have without any change, on each text."""
    keys = [(method, aggregation or "none", "top_prediction", "sum") for method, aggregation in LOOKED_AT]
    return [torch.stack([reading.scores[key] for key in keys]) for reading in readings]


def _rho_of_rows(
    messages: Messages, names: Sequence[tuple[str, str, str]], by_language: Mapping[str, Sequence[Tensor]]
) -> list[dict[str, Any]]:
    """Rho of rows, `names` (choice, method, aggregation), by the main links; `by_language`: their scores [R, F] on each
    text."""
    table = []
    for (language, number), links in messages.links["main"].items():
        if language not in by_language:
            continue
        english = by_language["en"][number]
        carried = aligned_scores(by_language[language][number], links, english.shape[1])
        rho = crosslingual_rho(english, carried).tolist()
        for (choice, method, aggregation), value in zip(names, rho, strict=True):
            table.append(
                {
                    "language": language,
                    "input": messages.ids[number],
                    "choice": choice,
                    "method": method,
                    "aggregation": aggregation,
                    "rho": value,
                }
            )
    return table


# ---------------------------------------------------------------------------------------------------------- to be shown
def links_shown(messages: Messages, wanted: int) -> pd.DataFrame:
    """The main links of the first `wanted` messages, one per row."""
    rows = []
    for (language, number), links in messages.links["main"].items():
        if number < wanted:
            about = {"language": language, "input": messages.ids[number]}
            rows += [about | {"word": i, "word_there": j} for i, j in links]
    return pd.DataFrame(rows)


def words_shown(messages: Messages, wanted: int) -> pd.DataFrame:
    """Words, their pieces and their scores of the first `wanted` messages in every language, by the rows `SHOWN`."""
    tables = []
    for language, readings in messages.readings.items():
        for name, reading in zip(messages.ids[: max(wanted, 0)], readings, strict=False):
            words = reading.inputs.features[0]
            feature_of = reading.inputs.feature_of[0]
            pieces = torch.bincount(feature_of[feature_of >= 0], minlength=len(words)).tolist()
            about = {"language": language, "input": name, "word": range(len(words)), "text": words, "pieces": pieces}
            for method, aggregation, output in SHOWN:
                score = reading.scores[method, aggregation, output, "sum"]
                of_row = {"method": method, "aggregation": aggregation, "output": output}
                tables.append(pd.DataFrame(about | {"score": score}).assign(**of_row))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
