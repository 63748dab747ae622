"""Every metric of every attribution of texts or images, and controls of soft metrics: what `together_matrix` computes.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pandas as pd
import torch
from torch import Tensor, nn

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.sources.excerpts import gold_of, marked_excerpts
from faithbook.sources.images import Pictures, as_inputs
from faithbook.sources.object_scenes import mask_of
from faithbook.sources.tokenise import Span, split_words
from faithlib.attribution import Row
from faithlib.catalogue import FAMILIES
from faithlib.evaluation import MetricSettings, average_marked, evaluate, explain, shuffled
from faithlib.inputs import Inputs, TextInputs
from faithlib.masks import normalise
from faithlib.metrics.erasure import soft
from faithlib.names import MetricName
from faithlib.perturb import Perturber, costs

CANDIDATES = 12
"""Excerpts looked at for each that is wanted."""


# --------------------------------------------------------------------------------------------------------------- inputs
@dataclass(frozen=True)
class Sample:
    """Inputs of a model, what people marked in them, bool [B, F] (None: nobody marked anything), and ids."""

    inputs: Inputs
    gold: Tensor | None
    ids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, rows: slice) -> Sample:
        """Some inputs, as wide as the longest among them."""
        inputs = self.inputs[rows]
        gold = None if self.gold is None else self.gold[rows, : inputs.feature_mask.shape[1]]
        return Sample(inputs, gold, self.ids[rows])

    def to(self, device: str) -> Sample:
        """The same on a device."""
        inputs = self.inputs.to(device)
        gold = None if self.gold is None else self.gold[:, : inputs.feature_mask.shape[1]].to(device)
        return Sample(inputs, gold, self.ids)


def beginning(text: str, words: int) -> tuple[str, tuple[Span, ...]]:
    """The first words of a text, and the places of these words.

    >>> beginning("Not bad at all.", 2)
    ('Not bad', ((0, 3), (4, 7)))
    """
    spans = split_words(text)[:words]
    return text[: spans[-1][1]], spans


def cut_texts(
    data: Dataset, rows: Sequence[int], cut: Sequence[tuple[str, Sequence[Span]]], tokenizer: Any
) -> TextInputs:
    """The model's inputs of some rows of a data set whose texts are cut to (text, its words); a feature is a word."""
    return TextInputs.from_texts(
        [text for text, _ in cut],
        tokenizer,
        queries=data.queries and [data.queries[row] for row in rows],
        pairs=data.pairs and [data.pairs[row] for row in rows],
        words=[words for _, words in cut],
        max_length=data.max_length,
    )


def beginnings(data: Dataset, tokenizer: Any, *, words: int) -> Sample:
    """The first words of each text; nobody marked anything."""
    cut = [beginning(text, words) for text in data.texts]
    return Sample(cut_texts(data, range(len(data)), cut, tokenizer), None, data.ids)


def excerpts(
    data: Dataset, classifier: Classifier, *, n: int, words: int, names: Sequence[str] | None, device: str
) -> Sample:
    """Excerpts that hold marked and unmarked words and that the model classifies as it should, the whole or not: most
    excerpts say too little of their text for that. `names`: the data set's classes as the model calls them."""
    found = marked_excerpts(data, CANDIDATES * n, size=words)
    rows = [excerpt.row for excerpt in found]
    inputs = cut_texts(data, rows, [(excerpt.text, excerpt.words) for excerpt in found], classifier.tokenizer)
    labels = torch.tensor(classifier.labels_of(data, names=names))[rows]
    right = Perturber(classifier.model, inputs.to(device)).predicted.cpu() == labels
    chosen = right.nonzero()[:n, 0].tolist()
    gold = gold_of(inputs, [excerpt.marked for excerpt in found])
    return Sample(inputs[chosen], gold[chosen], tuple(data.ids[rows[i]] for i in chosen))


def pictures(data: Pictures, network: Any, *, n: int, device: str) -> Sample:
    """Images; of those in which people cut out the object the first `n` that the model classifies as it should."""
    inputs = as_inputs(data, network, patch=network.patch_embed.patch_size[0])
    if data.cells is None:
        return Sample(inputs, None, data.ids)
    right = Perturber(network, inputs.to(device)).predicted.cpu() == torch.tensor(data.labels)
    chosen = right.nonzero()[:n, 0].tolist()
    gold = mask_of(data.cells, inputs.feature_mask.shape[1])
    return Sample(inputs[chosen], gold[chosen], tuple(data.ids[i] for i in chosen))


# ---------------------------------------------------------------------------------------------------- methods, metrics
def methods_of(modality: str, *, ig_steps: int, lime_samples: int, permutations: int) -> dict[str, str | Row]:
    """The attributions that the models of a modality ("text" or "vision") allow, by name."""
    gradients = Row("integrated_gradients", options={"n_steps": ig_steps})
    if modality == "text":
        return {
            "attention": "attention",
            "scaled_attention": "scaled_attention",
            "saliency": "saliency",
            "input_x_gradient": "input_x_gradient",
            "integrated_gradients": gradients,
            "deeplift": "deeplift",
            "occlusion": "occlusion",
            "lime": Row("lime", options={"n_samples": lime_samples}),
            "shapley_sampling": Row("shapley_sampling", options={"n_samples": permutations}),
            "random": "random",
        }
    names = (
        *("grad_cam", "lrp", "partial_lrp", "transformer_attribution", "conservative_lrp"),
        *("raw_attention", "rollout", "transformer_mm", "attcat", "random"),
    )
    return {"integrated_gradients": gradients, **{name: name for name in names}}


def metrics_of(*, gold: bool) -> list[MetricName]:
    """All metrics, with those that need marks of people or without them."""
    families = [family for family in FAMILIES.values() if gold or not family.needs_gold]
    return [cast("MetricName", name) for family in families for name in family.directions]


# --------------------------------------------------------------------------------------------------------------- values
def every_metric(
    network: nn.Module,
    sample: Sample,
    methods: Mapping[str, str | Row],
    metrics: Sequence[MetricName],
    settings: MetricSettings,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """`faithlib.evaluate` of some inputs, by their ids; and what it cost."""
    began = time.perf_counter()
    table = evaluate(network, sample.inputs, methods=methods, metrics=metrics, gold=sample.gold, settings=settings)
    spent = table.attrs["costs"] | {"seconds_all": time.perf_counter() - began}
    table["input"] = [sample.ids[place] for place in table["input"]]
    table.attrs.clear()
    return table, spent


def with_marks(settings: MetricSettings, gold: Tensor | None) -> MetricSettings:
    """Settings of metrics that choose as many features as people marked on average."""
    return settings if gold is None else replace(settings, gold_size=average_marked(gold))


def soft_controls(
    network: nn.Module, sample: Sample, methods: Mapping[str, str | Row], *, draws: int
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Soft-NS and Soft-NC of each attribution with its scores `shuffled` among the features of an input, and replaced
    by `ranks`, with the mean of its scaled scores (`density`); and what it cost."""
    block = sample.inputs
    perturber = Perturber(network, block)
    explained = explain(network, block, methods)
    # All rows are queued before the first value is made, so that they share forward passes.
    queued = []
    for method, scores in explained.items():
        elsewhere = soft.later(perturber, shuffled(scores, block), normaliser="minmax", draws=draws)
        by_rank = soft.later(perturber, scores, normaliser="rank", draws=draws)
        queued += [(method, "shuffled", elsewhere), (method, "ranks", by_rank)]
    tables = []
    for method, control, drawn in queued:
        scaled = normalise(explained[method], "minmax", block.feature_mask)
        density = scaled.sum(dim=1) / block.feature_mask.sum(dim=1)
        about = {"input": sample.ids, "method": method, "control": control, "density": density.cpu()}
        for metric, values in drawn().items():
            tables.append(pd.DataFrame(about | {"metric": metric, "value": values.mean(dim=1).cpu()}))
    return pd.concat(tables, ignore_index=True), costs(perturber)


def blocks(first: int, last: int, size: int) -> Iterator[slice]:
    """The places of inputs from one to another, at most `size` at a time.

    >>> [(rows.start, rows.stop) for rows in blocks(2, 7, 3)]
    [(2, 5), (5, 7)]
    """
    for start in range(first, last, size):
        yield slice(start, min(start + size, last))
