"""Nine metrics on one short text, by a model that is called as it is: what `together_metrics` shows step by step.

"By hand" means that rows of token ids, or of embeddings, go through the plain model: nothing of `faithlib` erases or
answers here. What `faithlib` computes on the same texts is kept too, to compare.

Shape letters: B texts, F features, K steps of a curve, L tokens, D embedding size, R rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.sources.excerpts import Excerpt, marked_excerpts
from faithlib import counter_rng, metrics
from faithlib.backends import TextBackend
from faithlib.evaluation import ALL_SHARES, FAD_SHARES
from faithlib.inputs import TextInputs
from faithlib.masks import top_ratio
from faithlib.perturb import Perturber

Array = NDArray[np.float64]

METRICS = ("soft_ns", "soft_nc", "n_auc", "autpc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness")
ROWS_AT_A_TIME = 64
CURVES: Mapping[str, tuple[Sequence[float], Callable[[Tensor], Tensor]]] = {
    "n_auc": (FAD_SHARES, metrics.n_auc),
    "autpc": (ALL_SHARES, metrics.auc),
}
"""The shares of the words that are masked for each curve, and the metric that reads it."""


# ------------------------------------------------------------------------------------------------------------ the texts
def inputs_with_query(data: Dataset, excerpts: Sequence[Excerpt], tokenizer: Any) -> TextInputs:
    """The model's inputs of some excerpts, each with its query; features are the words as the tokenizer cuts them."""
    return TextInputs.from_texts(
        [excerpt.text for excerpt in excerpts],
        tokenizer,
        queries=data.queries and [data.queries[excerpt.row] for excerpt in excerpts],
        max_length=data.max_length,
    )


def excerpts_with_answer(
    data: Dataset, classifier: Classifier, *, answer: int, example: str, n: int, words: int
) -> tuple[list[Excerpt], int]:
    """The excerpt of the text `example`, then the first `n` excerpts of so many words that the model gives the class
    `answer`, fewer where there are no more; and how many were looked at for these."""
    in_order = marked_excerpts(data, len(data), size=words)
    taken = [excerpt for excerpt in in_order if data.ids[excerpt.row] == example]
    looked_at = 0
    while len(taken) < n + 1 and looked_at < len(in_order):
        some = in_order[looked_at : looked_at + 32]
        predicted = Perturber(classifier.model, inputs_with_query(data, some, classifier.tokenizer)).predicted
        for excerpt, found in zip(some, predicted.tolist(), strict=True):
            if len(taken) == n + 1:
                break
            looked_at += 1
            if found == answer and excerpt not in taken:
                taken.append(excerpt)
    return taken, looked_at


def marks_of(inputs: TextInputs, excerpts: Sequence[Excerpt]) -> Tensor:
    """What people marked, bool [B, F]: a feature is marked where it lies in a marked word."""
    gold = torch.zeros_like(inputs.feature_mask)
    for b, excerpt in enumerate(excerpts):
        marked = [word for word, mark in zip(excerpt.words, excerpt.marked, strict=True) if mark]
        for f, (start, end) in enumerate(inputs.spans[b]):
            gold[b, f] = any(first <= start and end <= last for first, last in marked)
    return gold


# ------------------------------------------------------------------------------------------------------ the plain model
class TokenRow(NamedTuple):
    """What the model reads of one text: ids and types of its tokens, and the positions of its features."""

    ids: list[int]
    types: list[int]
    places: list[int]


def token_row(inputs: TextInputs, b: int) -> TokenRow:
    """One of the inputs without its padding."""
    length = int(inputs.lengths[b])
    owners = inputs.feature_of[b].tolist()
    places = [place for place, owner in enumerate(owners) if owner >= 0]
    types = [0] * length if inputs.token_type_ids is None else inputs.token_type_ids[b, :length].tolist()
    return TokenRow(inputs.input_ids[b, :length].tolist(), types, places)


def with_masks(ids: Sequence[int], places: Sequence[int], mask_id: int) -> list[int]:
    """The ids with [MASK] at some places.

    >>> with_masks([2, 7, 8, 3], [1], mask_id=4)
    [2, 4, 8, 3]
    """
    return [mask_id if place in places else token for place, token in enumerate(ids)]


class PlainModel:
    """The probability of one class, from a classifier that is called as it is; no row is run twice."""

    def __init__(self, network: Any, answer: int) -> None:
        self.network = network
        self.answer = answer
        self.answered: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}

    def ask(self, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Array:
        """Probabilities [R] for rows (token ids, token types) of any lengths."""
        keys = [(tuple(ids), tuple(types)) for ids, types in rows]
        new = list(dict.fromkeys(key for key in keys if key not in self.answered))
        longest = max((len(ids) for ids, _ in new), default=0)
        for start in range(0, len(new), ROWS_AT_A_TIME):
            some = new[start : start + ROWS_AT_A_TIME]
            ids, types, attention = np.zeros((3, len(some), longest), dtype=np.int64)
            for r, (own_ids, own_types) in enumerate(some):
                ids[r, : len(own_ids)] = own_ids
                types[r, : len(own_types)] = own_types
                attention[r, : len(own_ids)] = 1
            with torch.inference_mode():
                logits = self.network(
                    input_ids=torch.from_numpy(ids),
                    token_type_ids=torch.from_numpy(types),
                    attention_mask=torch.from_numpy(attention),
                ).logits
            self.answered.update(zip(some, logits.softmax(dim=-1)[:, self.answer].tolist(), strict=True))
        return np.array([self.answered[key] for key in keys])


# ----------------------------------------------------------------------------------------------------------- one by one
def without_each(model: PlainModel, row: TokenRow, mask_id: int) -> Array:
    """The probability [F] without each word alone."""
    return model.ask([(with_masks(row.ids, [place], mask_id), row.types) for place in row.places])


def without_first(model: PlainModel, row: TokenRow, scores: Array, mask_id: int) -> Array:
    """The probability [F + 1] without the k words of the highest scores, for k from 0."""
    order = np.argsort(-scores, kind="stable")
    gone = [[row.places[f] for f in order[:k]] for k in range(len(order) + 1)]
    return model.ask([(with_masks(row.ids, places, mask_id), row.types) for places in gone])


def softly_erased(
    network: Any, example: TextInputs, importance: Array, *, answer: int, draws: int
) -> tuple[float, pd.DataFrame]:
    """The probability without any word's embedding; and, draw by draw, that of the embeddings whose elements stay with
    a probability of each word's importance (`p_kept`), and of one minus it (`p_removed`).

    `example`: one text; `importance` [F] lies between 0 and 1. The random numbers are those that `faithlib` uses.
    """
    backend = TextBackend(network, example)
    embeddings = backend.embeddings()[0].numpy()  # [L, D]: what enters the first layer
    places = token_row(example, 0).places
    content = np.array(example.keys(), dtype=np.uint64).repeat(draws)
    keys = counter_rng.row_keys(0, content, np.zeros(draws, dtype=np.int64), np.arange(draws))
    uniform = counter_rng.uniform(torch.from_numpy(keys), *embeddings.shape).numpy()  # [draws, L, D]

    def p_of(rows: NDArray[np.float32]) -> Array:
        with torch.inference_mode():
            logits = backend.logits(torch.from_numpy(rows), torch.zeros(len(rows), dtype=torch.long))
        return np.asarray(logits.softmax(dim=-1)[:, answer].numpy(), dtype=float)

    def kept_with(q: Array) -> NDArray[np.float32]:
        """The embeddings where the random number is below q, else 0; q is 1 outside the words."""
        everywhere = np.ones(len(embeddings), dtype=np.float32)
        everywhere[places] = q
        return np.where(uniform < everywhere[:, None], embeddings, np.float32(0))

    erased = embeddings.copy()
    erased[places] = 0
    p_empty = float(p_of(erased[None])[0])
    p_kept, p_removed = p_of(kept_with(importance)), p_of(kept_with(1 - importance))
    return p_empty, pd.DataFrame({"draw": range(1, draws + 1), "p_kept": p_kept, "p_removed": p_removed})


# ---------------------------------------------------------------------------------------------------------- by faithlib
def accuracy_curves(perturber: Perturber, scores: Mapping[str, Tensor]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """While the words of the highest scores go: whether each text has its class still (1) or not (0), one row per
    share; and the metrics that read these curves, one row per text."""
    present = perturber.inputs.feature_mask
    points, areas = [], []
    for method, values in scores.items():
        for metric, (shares, area) in CURVES.items():
            keep_mask = ~top_ratio(values, shares, present)
            still = (perturber.logits(keep_mask).argmax(dim=-1) == perturber.predicted[:, None]).float()  # [B, K]
            for b, curve in enumerate(still.tolist()):
                for share, y in zip(shares, curve, strict=True):
                    points.append({"text": b, "method": method, "curve": metric, "share": share, "y": y})
            value = area(still).double()
            areas.append(pd.DataFrame({"input": range(len(still)), "method": method, "metric": metric, "value": value}))
    return pd.DataFrame(points), pd.concat(areas, ignore_index=True)


def values_at_the_ends() -> pd.DataFrame:
    """What the definitions fix, whatever the model: metric, case, the value that must be, and the one that is."""
    uniform, one_hot, zero, alone = torch.ones(1, 10), torch.eye(10)[:1], torch.zeros(1, 10), torch.ones(1, 1)
    first_half = torch.tensor([[True] * 5 + [False] * 5])
    nothing, everything = torch.zeros(1, 10, dtype=torch.bool), torch.ones(1, 1, dtype=torch.bool)
    falling = torch.arange(10, 0, -1).float()[None]
    p, p_empty = torch.tensor([0.9]), torch.tensor([0.4])

    def never(k: int) -> Tensor:
        return torch.ones(1, k)

    def at_once(k: int) -> Tensor:
        return torch.eye(k)[:1]

    cases = [
        ("Soft-NS", "nothing is lost (everything kept)", metrics.soft_ns(p, p, p_empty), 1),
        ("Soft-NS", "nothing is kept", metrics.soft_ns(p, p_empty, p_empty), 0),
        ("Soft-NS", "no room: the empty text is as good", metrics.soft_ns(p, p, p), np.nan),
        ("Soft-NC", "everything is removed", metrics.soft_nc(p, p_empty, p_empty), 1),
        ("Soft-NC", "nothing is lost", metrics.soft_nc(p, p, p_empty), 0),
        ("Soft-NC", "no room", metrics.soft_nc(p, p, p), np.nan),
        ("N-AUC (FAD)", "the class never changes", metrics.n_auc(never(5)), 1),
        ("N-AUC (FAD)", "it changes at the first step for good", metrics.n_auc(at_once(5)), 1 / 8),
        ("N-AUC (FAD)", "accuracy 0 from the start", metrics.n_auc(torch.zeros(1, 5)), np.nan),
        ("AUTPC", "the class never changes", metrics.auc(never(11)), 1),
        ("AUTPC", "it changes at the first step for good", metrics.auc(at_once(11)), 1 / 20),
        ("token-F1", "the K best words are the marked ones", metrics.token_f1(falling, first_half, k=5), 1),
        ("token-F1", "no score is positive", metrics.token_f1(-falling, first_half, k=5), 0),
        ("token-F1", "equal scores: the first K words, all marked", metrics.token_f1(uniform, first_half, k=5), 1),
        ("token-F1", "the same, the last five marked", metrics.token_f1(uniform, ~first_half, k=5), 0),
        ("token-F1", "nothing is marked", metrics.token_f1(falling, nothing, k=5), np.nan),
        ("IOU-F1", "IOU just one half (K = 10, five marked)", metrics.iou_f1(falling, first_half, k=10), 1),
        ("IOU-F1", "one word short of it (K = 2)", metrics.iou_f1(falling, first_half, k=2), 0),
        ("IOU-F1", "nothing is marked", metrics.iou_f1(falling, nothing, k=5), np.nan),
        ("AUPRC", "marked words first", metrics.auprc(falling, first_half), 1),
        ("AUPRC", "equal scores, half the words marked", metrics.auprc(uniform, first_half), (1 + 0.5) / 2),
        ("AUPRC", "nothing is marked", metrics.auprc(falling, nothing), np.nan),
        ("AUPRC", "one word, marked", metrics.auprc(alone, everything), 1),
        ("complexity", "ten equal scores", metrics.complexity(uniform), np.log(10)),
        ("complexity", "one of ten has all", metrics.complexity(one_hot), 0),
        ("complexity", "one word", metrics.complexity(alone), 0),
        ("complexity", "all scores 0", metrics.complexity(zero), np.nan),
        ("sparseness", "ten equal scores", metrics.sparseness(uniform), 0),
        ("sparseness", "one of ten has all", metrics.sparseness(one_hot), 9 / 10),
        ("sparseness", "one word", metrics.sparseness(alone), 0),
        ("sparseness", "all scores 0", metrics.sparseness(zero), np.nan),
    ]
    rows = [
        {"metric": metric, "case": case, "must be": float(value), "is": found.item()}
        for metric, case, found, value in cases
    ]
    return pd.DataFrame(rows)
