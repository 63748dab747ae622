"""Comprehensiveness and sufficiency by deleting words, right and as the released code has them.

Shape letters: B texts, S lengths of a rationale, C classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import torch
from torch import Tensor

from faithbook.sources.datasets import Dataset
from faithbook.studies.crosslingual.readings import Explainer
from faithbook.studies.crosslingual.zaman_belinkov_rows import Name
from faithlib.attribution import Row
from faithlib.metrics import (
    comprehensiveness_eraser,
    erasure_rationales,
    first_batch_fault,
    sufficiency_eraser,
)
from faithlib.metrics.erasure import ERASURE_BINS
from faithlib.perturb import Perturber

ANSWERED = 64
"""Rows of a batch of the released code."""
WINDOW = 1 + len(ERASURE_BINS)
"""Rows of a text in the released code's list: the whole text, and one for each length."""
Windows = tuple[Tensor, Tensor]
"""Probabilities of all classes [B, 1 + S, C]: of the whole texts and without each rationale; of the whole texts and of
each rationale alone."""


class Erased:
    """Some texts, explained, and what the model answers when their words are deleted."""

    def __init__(self, explainer: Explainer, texts: Dataset, rows: Mapping[Name, Row]) -> None:
        inputs = explainer.inputs_of(texts)
        self.device = explainer.device
        self.texts = texts
        self.words = inputs.n_features.cpu()
        explaining = Perturber(explainer.network, inputs, erase="pad")
        self.readings, self.costs = explainer.readings(texts, explaining, rows)
        self.perturber = Perturber(explainer.network, inputs, erase="delete")
        self.present = inputs.feature_mask
        self.whole = self.perturber.logits(self.present[:, None, :])
        self.correct = self.whole[:, 0].argmax(dim=-1).cpu() == explainer.labels_of(texts)

    def windows(self, row: Name) -> Windows:
        """What the model answers when the words that a row finds important are deleted, and all others."""
        of_texts = [reading.scores[row] for reading in self.readings]
        scores = torch.nn.utils.rnn.pad_sequence(of_texts, batch_first=True).to(self.device)
        rationales = erasure_rationales(scores, self.present)
        without = self.perturber.logits(self.present[:, None, :] & ~rationales)
        alone = self.perturber.logits(rationales)
        return self._with_whole(without), self._with_whole(alone)

    def _with_whole(self, logits: Tensor) -> Tensor:
        return torch.cat([self.whole, logits], dim=1).softmax(dim=-1).cpu()


def of_predicted_class(windows: Tensor) -> Tensor:
    """The probabilities [B, 1 + S] of the class that is the likeliest in the first place of each window [B, 1 + S, C].

    >>> of_predicted_class(torch.tensor([[[0.75, 0.25], [0.5, 0.5]], [[0.0, 1.0], [0.25, 0.75]]]))
    tensor([[0.7500, 0.5000],
            [1.0000, 0.7500]])
    """
    predicted = windows[:, :1].argmax(dim=-1, keepdim=True)
    return windows.gather(2, predicted.expand(-1, windows.shape[1], 1))[..., 0]


def both_metrics(windows: Windows) -> dict[str, Tensor]:
    """Comprehensiveness and sufficiency [B]."""
    without, alone = (of_predicted_class(part) for part in windows)
    return {
        "comprehensiveness": comprehensiveness_eraser(without[:, 0], without[:, 1:]),
        "sufficiency": sufficiency_eraser(alone[:, 0], alone[:, 1:]),
    }


class FirstBatch:
    """The answers that the released code gives to every batch: those of the first one.

    The code goes through a list, in which each text has `WINDOW` rows, by 64 rows, and reads the first batch's answers
    for each. `texts`: all texts of the list, whatever share of them a run scores; the answers of as many as fill a
    batch are computed, `batch` texts at a time. `rows` explain them, and words are deleted by those of `deleting`.
    """

    def __init__(
        self,
        explainer: Explainer,
        texts: Dataset,
        rows: Mapping[Name, Row],
        *,
        deleting: Iterable[Name],
        batch: int,
    ) -> None:
        # Of each row of the whole list, the row that the code takes for its answer.
        self.read = first_batch_fault(torch.arange(len(texts) * WINDOW), ANSWERED, WINDOW)
        parts: dict[Name, list[Windows]] = {row: [] for row in deleting}
        enough = -(-ANSWERED // WINDOW)  # texts, rounded up
        for start in range(0, min(len(texts), enough), batch):
            # What these explanations cost is no cost of the study: another share of the texts pays for them again.
            erased = Erased(explainer, texts[start : start + batch], rows)
            for row, windows in parts.items():
                windows.append(erased.windows(row))
        self.answers = {}
        for row, windows in parts.items():
            without = torch.cat([part.flatten(0, 1) for part, _ in windows])
            alone = torch.cat([part.flatten(0, 1) for _, part in windows])
            self.answers[row] = without, alone

    def windows(self, row: Name, texts: slice) -> Windows:
        """What the released code reads for some texts of the list."""
        without, alone = self.answers[row]
        return without[self.read[texts]], alone[self.read[texts]]


def erasure_values(erased: Erased, rows: Sequence[Name], *, released: Mapping[Name, Windows]) -> pd.DataFrame:
    """Both metrics of each text and row, and, of the rows that `released` has, what the released code makes of them
    (`comprehensiveness_first_batch`, `sufficiency_first_batch`)."""
    tables = []
    for row in rows:
        values = {"input": erased.texts.ids, "words": erased.words, "correct": erased.correct}
        values |= both_metrics(erased.windows(row))
        if row in released:
            values |= {f"{metric}_first_batch": value for metric, value in both_metrics(released[row]).items()}
        method, aggregation, output, _ = row
        tables.append(pd.DataFrame(values).assign(method=method, aggregation=aggregation, output=output))
    return pd.concat(tables, ignore_index=True)
