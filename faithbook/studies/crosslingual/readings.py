"""What a classifier makes of texts: its answer, and the scores that the rows of a table give the words.

Shape letters: F features of one text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.sources.tokenise import split_words
from faithbook.studies.crosslingual.zaman_belinkov_rows import EmbeddedTwice, Name
from faithlib.attribution import Row, attribute_rows
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

ONE_PASS = ("input_x_gradient", "saliency", "guided_backprop_released", "guided_backprop", "activation")
"""The methods that need one gradient at most."""


@dataclass(frozen=True)
class ExplainedText:
    """One text as a model reads it: scores [F] of each row, and the text as inputs of one."""

    scores: dict[Name, Tensor]
    inputs: TextInputs

    def stacked(self, pool: str = "sum") -> tuple[Tensor, list[tuple[str, str, str]]]:
        """Scores [R, F] of the rows with this pooling, and what these rows are called.

        A method that erases whole words pools nothing: its one row is there with any pooling.
        """
        rows, scores = [], []
        for key, of_row in self.scores.items():
            row, own_pool = key[:3], key[3]
            if own_pool == pool or (*row, pool) not in self.scores:
                rows.append(row)
                scores.append(of_row)
        return torch.stack(scores), rows


def inputs_in(perturber: Perturber) -> TextInputs:
    """The texts that a perturber holds."""
    assert isinstance(perturber.inputs, TextInputs)
    return perturber.inputs


class Explainer:
    """A classifier on a device, which reads data sets and explains its answers."""

    def __init__(self, classifier: Classifier, device: str = "cpu") -> None:
        self.classifier = classifier
        self.device = device
        self.network: Any = classifier.model.to(device)

    @cached_property
    def embedded_twice(self) -> EmbeddedTwice:
        """The function that five methods of the released code explain instead of the model."""
        return EmbeddedTwice(self.network)

    def inputs_of(self, data: Dataset) -> TextInputs:
        """A data set's texts, or both texts of a pair, their words as features."""
        return TextInputs.from_texts(
            data.texts,
            self.classifier.tokenizer,
            pairs=data.pairs,
            words=[split_words(text) for text in data.wholes],
            max_length=self.classifier.window(data),
        ).to(self.device)

    def labels_of(self, data: Dataset) -> Tensor:
        """The true class of each text as the model counts classes, on the processor."""
        return torch.tensor(self.classifier.labels_of(data))

    def readings(
        self, data: Dataset, perturber: Perturber, rows: Mapping[Name, Row]
    ) -> tuple[list[ExplainedText], pd.DataFrame]:
        """Each text with its scores, and what each method has cost.

        `perturber` holds the inputs of `data` and erases as the rows do: what two of them ask is paid once.
        """
        inputs = inputs_in(perturber)
        gold = self.labels_of(data).to(self.device)
        scores, spent = attribute_rows(
            list(rows.values()), self.network, inputs, targets={"gold": gold}, perturber=perturber
        )
        readings = []
        for b, size in enumerate(inputs.n_features.tolist()):
            of_text = {key: scores[row.name][b, :size].cpu() for key, row in rows.items()}
            readings.append(ExplainedText(of_text, inputs[[b]].to("cpu")))
        costs = pd.DataFrame([{"method": method, **vars(cost)} for method, cost in spent.items()])
        return readings, costs

    def answers(self, data: Dataset) -> pd.DataFrame:
        """The predicted class of each text beside its own, and whether they are the same."""
        predicted = Perturber(self.network, self.inputs_of(data)).predicted.cpu()
        table = pd.DataFrame({"input": data.ids, "label": self.classifier.labels_of(data), "predicted": predicted})
        return table.assign(correct=table["label"] == table["predicted"])
