"""The rows that the released code of EvalxNLP runs for the same texts, and what the plain model answers to them.

That code scores `[CLS]` and the last `[SEP]` like words, makes ids of its own last hidden state for the soft metrics,
and rounds numbers of tokens down for the accuracy curves. Each of its steps can be made alone.

Shape letters: B texts, F features, L tokens, K steps of a curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from faithbook.studies.together.by_hand import Array, PlainModel, TokenRow, token_row, with_masks
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

TOGETHER = "all of it"
"""Everything that the released code does otherwise, at once: `evalxnlp.TOGETHER`, of the pages, which know no torch."""


# --------------------------------------------------------------------------------------------- [CLS] and [SEP] as words
def with_ends(inputs: TextInputs) -> TextInputs:
    """The same inputs with [CLS] and the last [SEP] as features, before and after the others."""
    feature_of = torch.where(inputs.feature_of >= 0, inputs.feature_of + 1, -1)
    feature_of[:, 0] = 0
    feature_of[torch.arange(len(inputs)), inputs.lengths - 1] = (inputs.n_features + 1).to(feature_of)
    return replace(inputs, feature_of=feature_of, n_features=inputs.n_features + 2, features=(), spans=())


def scores_of_ends(perturber: Perturber) -> Array:
    """Occlusion's scores [B, 2] of [CLS] and the last [SEP], of inputs made by `with_ends`."""
    inputs = perturber.inputs
    keep_mask = torch.ones(len(inputs), 2, inputs.feature_mask.shape[1], dtype=torch.bool)
    for b, size in enumerate(inputs.n_features.tolist()):
        keep_mask[b, 0, 0] = False
        keep_mask[b, 1, size - 1] = False
    lost = perturber.full[:, None] - perturber.keep(keep_mask)
    return np.asarray(lost.numpy(), dtype=float)


# ----------------------------------------------------------------------------------------------------- the soft metrics
class ReleasedSoft:
    """The released soft metrics: ids that the model reads, where a token is kept as the number of the largest entry in
    its last hidden state, and dropped as 0."""

    def __init__(self, network: Any, inputs: TextInputs) -> None:
        self.inputs = inputs
        with torch.inference_mode():
            states = network(
                input_ids=inputs.input_ids,
                attention_mask=inputs.attention_mask.long(),
                token_type_ids=inputs.token_type_ids,
                output_hidden_states=True,
            ).hidden_states[-1]
        self.hidden_units = int(states.shape[-1])
        self.largest: NDArray[np.int64] = states.argmax(dim=-1).numpy()  # [B, L]

    def ids(self, b: int, scores: Array, verb: str, seed: int) -> tuple[list[int], NDArray[np.bool_]]:
        """The ids of one text in one draw, and which of its tokens (`scores` with both ends) the draw kept."""
        row = token_row(self.inputs, b)
        importance = (scores - scores.min()) / (scores.max() - scores.min())
        chance = importance if verb == "sufficiency" else 1 - importance
        keep_mask = np.random.default_rng([seed, b]).random(len(importance)) < chance
        ids = list(row.ids)
        for place, stays in zip(places_with_ends(row), keep_mask, strict=True):
            ids[place] = int(self.largest[b][place]) if stays else 0
        return ids, keep_mask

    def answers(self, model: PlainModel, b: int, scores: Array, draws: int) -> pd.DataFrame:
        """Probabilities of one text: with every id at 0 ("blank"), and for both metrics draw by draw."""
        row = token_row(self.inputs, b)
        places = set(places_with_ends(row))
        blank = [0 if place in places else token for place, token in enumerate(row.ids)]
        drawn = [(verb, seed) for verb in ("sufficiency", "comprehensiveness") for seed in range(draws)]
        rows = [(blank, row.types)]
        rows += [(self.ids(b, scores, verb, seed)[0], row.types) for verb, seed in drawn]
        table = pd.DataFrame([("blank", 0), *drawn], columns=["what", "draw"])
        table.insert(0, "text", b)
        return table.assign(p=model.ask(rows))


def places_with_ends(row: TokenRow) -> list[int]:
    """The positions of [CLS], of the words and of the last [SEP].

    >>> places_with_ends(TokenRow(ids=[2, 7, 8, 3], types=[0, 0, 0, 0], places=[1, 2]))
    [0, 1, 2, 3]
    """
    return [0, *row.places, len(row.ids) - 1]


# -------------------------------------------------------------------------------------------------- the accuracy curves
FIFTHS, TENTHS, ALL = range(0, 21, 5), range(0, 21, 10), range(0, 101, 10)


@dataclass(frozen=True)
class AccuracyCurve:
    """How an accuracy curve is made: at which per cent of the tokens; `ends`: whether [CLS] and [SEP] are scored and
    masked too; `doubled`: whether they stand twice; `by_size`: order by the size of scores, whatever their sign;
    `down`: numbers of tokens rounded down."""

    percents: Sequence[int]
    ends: bool = False
    doubled: bool = False
    by_size: bool = False
    down: bool = False


CHANGES = {
    ("n_auc", "steps of 10 %, rounded down"): AccuracyCurve(TENTHS, down=True),
    ("n_auc", "order by size, signs ignored"): AccuracyCurve(FIFTHS, by_size=True),
    ("n_auc", "[CLS] and [SEP] masked too"): AccuracyCurve(FIFTHS, ends=True),
    ("n_auc", "[CLS] and [SEP] twice"): AccuracyCurve(FIFTHS, doubled=True),
    ("n_auc", TOGETHER): AccuracyCurve(TENTHS, ends=True, doubled=True, by_size=True, down=True),
    ("autpc", "rounded down"): AccuracyCurve(ALL, down=True),
    ("autpc", "[CLS] and [SEP] masked too"): AccuracyCurve(ALL, ends=True),
    ("autpc", "[CLS] and [SEP] twice"): AccuracyCurve(ALL, doubled=True),
    ("autpc", TOGETHER): AccuracyCurve(ALL, ends=True, doubled=True, down=True),
}
"""The steps of the released code by metric, one alone and all of them."""


def tokens_gone(percent: int, tokens: int, *, down: bool) -> int:
    """How many tokens a share of them is.

    >>> tokens_gone(10, 19, down=True), tokens_gone(10, 19, down=False), tokens_gone(10, 30, down=False)
    (1, 2, 3)
    """
    if down:
        return tokens * percent // 100
    return int(np.ceil(round(percent / 100 * tokens, 9)))  # for .1 * 30 is a bit above 3


def curve_answers(model: PlainModel, row: TokenRow, scores: Array, curve: AccuracyCurve, mask_id: int) -> Array:
    """The probability [K] of one text after each share of its tokens went; `scores` has both ends if the curve has."""
    places = places_with_ends(row) if curve.ends else row.places
    sizes = np.abs(scores) if curve.by_size else scores
    ranking = np.argsort(-sizes, kind="stable")
    rows = []
    for percent in curve.percents:
        gone = ranking[: tokens_gone(percent, len(places), down=curve.down)]
        ids, types = with_masks(row.ids, [places[f] for f in gone], mask_id), row.types
        if curve.doubled:
            ids, types = [row.ids[0], *ids, row.ids[-1]], [types[0], *types, types[-1]]
        rows.append((ids, types))
    return model.ask(rows)


def curve_table(
    model: PlainModel, inputs: TextInputs, words: Sequence[Array], tokens: Sequence[Array], mask_id: int
) -> pd.DataFrame:
    """Every curve of `CHANGES`: single steps on the first text alone, all of them together on each. `words`: scores of
    each text's words; `tokens`: with those of its ends."""
    rows = []
    for (metric, change), curve in CHANGES.items():
        for b in range(len(inputs) if change == TOGETHER else 1):
            scores = tokens[b] if curve.ends else words[b]
            answers = curve_answers(model, token_row(inputs, b), scores, curve, mask_id)
            for percent, p in zip(curve.percents, answers, strict=True):
                rows.append({"metric": metric, "change": change, "text": b, "percent": percent, "p": p})
    return pd.DataFrame(rows)
