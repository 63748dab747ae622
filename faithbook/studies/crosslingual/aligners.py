"""What the page on the aligner compares: links of three aligners with people's, by layer of the encoder, and how often
models find the translations of a batch (Figure 6 of Zaman & Belinkov 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, listed, row_of, spoken
from faithbook.show.page import badge
from faithbook.show.plots import Drawn, Layout, dot_plot, line_plot
from faithbook.sources.files import sources
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import ALPHA
from faithbook.stats.evidence_levels import NOT_TESTED
from faithbook.studies.crosslingual.zaman_belinkov_alignment import CHANCE, EVERY, score

SOFTMAX, MUTUAL, STATISTICAL, NO_LAYER = "softmax", "mutual argmax", "fast_align", "none"
"""Our rule and another one on the vectors of a layer, and an aligner without layers."""
GOLD = {name: label(name) for name in ("bible", "rwth", "xlwa")}
"""Links that people made. The first come with the package registries, and the layer is chosen on them."""
SCORES = {"precision": "precision", "recall": "recall", "f1": "F1", "aer": "AER"}
ROUNDING = 1e-6
"""Values are kept as float32: differences below this are none."""


@dataclass(frozen=True)
class Aligners:
    """Scores of every aligner's links, `measured` as counts by gold set, aligner and layer; `layer`: the one in use."""

    measured: Scores
    layer: int

    @cached_property
    def gold_sets(self) -> list[str]:
        """The sets of people's links that were measured."""
        return [name for name in GOLD if name in self.measured.levels("gold")]

    @cached_property
    def layers(self) -> list[int]:
        """The layers of the encoder."""
        return sorted(int(layer) for layer in self.measured.levels("layer") if layer != NO_LAYER)

    def score(self, gold: str, aligner: str, layer: int | str, name: str = "aer") -> Comparison:
        """A score of an aligner's links on a gold set."""
        return score(name, lambda count: self.measured.mean(gold=gold, method=aligner, layer=str(layer), metric=count))

    @cached_property
    def aer(self) -> dict[tuple[str, str], dict[int | str, Comparison]]:
        """The alignment error rate by gold set and aligner, then by layer."""
        found: dict[tuple[str, str], dict[int | str, Comparison]] = {}
        for gold in self.gold_sets:
            for aligner in (SOFTMAX, MUTUAL):
                found[gold, aligner] = {layer: self.score(gold, aligner, layer) for layer in self.layers}
        for gold in self.gold_sets:
            found[gold, STATISTICAL] = {NO_LAYER: self.score(gold, STATISTICAL, NO_LAYER)}
        return found

    def in_use(self, gold: str) -> Comparison:
        """Our aligner's error rate in the layer that every other page uses."""
        return self.aer[gold, SOFTMAX][self.layer]

    def best_layer(self, gold: str, aligner: str) -> int | str:
        """The layer in which an aligner has the lowest error rate."""
        by_layer = self.aer[gold, aligner]
        return min(by_layer, key=lambda layer: float(by_layer[layer].ours.point))

    def rows(self) -> pd.DataFrame:
        """Every gold set, aligner, layer and score, a row each."""
        cells = []
        for (gold, aligner), by_layer in self.aer.items():
            for layer, name in product(by_layer, SCORES):
                cells.append((gold, aligner, str(layer), name))
        return pd.DataFrame(cells, columns=["gold", "aligner", "layer", "score"])

    def minus_in_use(self) -> dict[tuple[str, int], Comparison]:
        """By gold set and layer our error rate minus that of the layer in use."""
        gaps = {}
        for gold, layer in product(self.gold_sets, self.layers):
            gaps[gold, layer] = self.aer[gold, SOFTMAX][layer] - self.in_use(gold)
        return gaps

    # ------------------------------------------------------------------------------------------------------ to be shown
    def in_words(self) -> str:
        """The error rates on each gold set, a line each, and for a set without files what to do about it."""
        lines = [self._of_three(gold) for gold in self.gold_sets]
        lines += [missing(gold) for gold in GOLD if gold not in self.gold_sets]
        return "\n".join(lines)

    def _of_three(self, gold: str) -> str:
        """The error rates of the three aligners on a gold set."""
        best = self.best_layer(gold, MUTUAL)
        named = {f"ours (layer {self.layer})": self.in_use(gold), STATISTICAL: self.aer[gold, STATISTICAL][NO_LAYER]}
        named[f"{MUTUAL} (best in layer {best})"] = self.aer[gold, MUTUAL][best]
        rates = "; ".join(f"{name} {spoken(pair, '.2f')}" for name, pair in named.items())
        return f"- AER on {GOLD[gold]} (n = {self.in_use(gold).ours.n} sentences): {rates}."

    def drawn_by_layer(self) -> Drawn:
        """The error rates by layer, one panel per gold set, with a line at the layer in use."""
        points = []
        for (gold, aligner), by_layer in self.aer.items():
            for layer, pair in by_layer.items():
                place = np.nan if layer == NO_LAYER else int(layer)
                points.append({"gold": GOLD[gold], "aligner": aligner, "layer": place, **ends_of(pair)})
        layout = Layout(panel="gold", series="aligner", names={STATISTICAL: f"{STATISTICAL} (no layers)"})
        fig, alt = line_plot(
            pd.DataFrame(points), "layer of the encoder", "AER (lower is better)", x="layer", layout=layout
        )
        for ax in fig.axes[: len(self.gold_sets)]:
            ax.axvline(self.layer, color="#666666", ls=":", lw=1)
        return fig, alt

    def choice(self) -> pd.DataFrame:
        """Each layer's error rate, and how far it is from that of the layer in use."""
        rows = []
        for (gold, layer), gap in self.minus_in_use().items():
            rate = self.aer[gold, SOFTMAX][layer].ours.point
            rows.append({"gold": gold, "layer": layer, "AER": rate, **row_of(gap)})
        return pd.DataFrame(rows)

    def lower_layers(self) -> str:
        """In which layers the error rate is lower than in the one in use, and in which clearly: by a one-sided test,
        corrected for the number of layers."""
        gaps, lines = self.minus_in_use(), []
        for gold in self.gold_sets:
            lower = [layer for layer in self.layers if gaps[gold, layer].ours.point < -ROUNDING]
            clear = [layer for layer in lower if gaps[gold, layer].ours.p_below() <= ALPHA / len(self.layers)]
            if not lower:
                continue
            named, clearly = ", ".join(map(str, lower)), ", ".join(map(str, clear)) or "none"
            lines.append(
                f"On {GOLD[gold]} AER is lower in layer {named} than in layer {self.layer}, which is in use; "
                f"clearly, by a one-sided test corrected for the number of layers, in: {clearly}."
            )
        rest = len(self.gold_sets) - len(lines)
        if rest:
            lines.append(
                f"AER is lowest in layer {self.layer}, which is in use, on {rest} of {len(self.gold_sets)} sets."
            )
        return " ".join(lines)


def missing(name: str) -> str:
    """What to do about a gold set whose files are absent."""
    source = sources()[name]
    return (
        f"- `{name}`, {GOLD[name]}: {badge(NOT_TESTED)} {source.what}. Get them by hand: {source.where}; put them into "
        f"the folder `{name}` of FAITHLIB_DATA (`data/raw` if it is not set), the sentences as `{source.file}`. "
        f"Licence: {source.licence}."
    )


def _f1(counts: Scores, language: str) -> Comparison:
    """F1 between the links of two aligners in a language."""
    return score("f1", lambda count: counts.mean(language=language, metric=count))


def agreement_of_aligners(counts: Scores) -> pd.DataFrame:
    """F1 between the links of two aligners by language, the highest first; `counts`: of links in common."""
    by_language = {language: _f1(counts, language) for language in counts.levels("language")}
    highest_first = sorted(by_language, key=lambda language: -float(by_language[language].ours.point))
    return listed({(language,): by_language[language] for language in highest_first}, ["language"])


# ------------------------------------------------------------------------------------------------------------- Figure 6
Rates = Mapping[tuple[str, str], Comparison]
"""How often each model finds the translations, by model and language (or `EVERY`)."""


def drawn_rates(rates: Rates, models: Sequence[str], languages: Sequence[str]) -> Drawn:
    """The rates by language and over all, one colour per model."""
    points = []
    for language, model in product([*languages, EVERY], models):
        points.append({"row": language, "model": model} | ends_of(rates[model, language]))
    return dot_plot(pd.DataFrame(points), "accuracy", layout=Layout(series="model", mark=CHANCE, width=7.5))


def above_english(rates: Rates, models: Sequence[str]) -> dict[str, Comparison]:
    """Each multilingual model's rate over all languages minus that of the English model."""
    english = next(model for model in models if model.startswith("English"))
    multilingual = [model for model in models if not model.startswith(("English", "Turkish"))]
    return {f"{model} minus {english}": rates[model, EVERY] - rates[english, EVERY] for model in multilingual}
