"""What the games of the page `play` need to know beforehand: every answer that a player can ask for, the best and the
worst of all orders, and what chance alone would get.

Shape letters: F features (N of an input), G values of a grid, K draws, D numbers of an embedding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from faithbook.studies.naopc.edin import AnswerTable
from faithlib import counter_rng
from faithlib.attribution import attribute
from faithlib.bounds import exact_bounds, naopc
from faithlib.errors import InputError
from faithlib.evaluation import aopc_scores
from faithlib.inputs import Inputs, TextInputs
from faithlib.masks import rank
from faithlib.names import MethodName
from faithlib.perturb import Perturber, SetFunction


def every_answer(score: Perturber | SetFunction) -> list[Tensor]:
    """p(target) of each input with every set of its N features removed, float64 [2^N] an input; bit i of a set's number
    stands for feature i.

    >>> line = SetFunction(lambda keep: keep.double() @ torch.tensor([0.5, 0.25]).double(), 2)
    >>> [each.tolist() for each in every_answer(line)]
    [[0.75, 0.25, 0.5, 0.0]]
    """
    present = score.feature_mask
    answers = []
    for b, n in enumerate(present.sum(dim=1).tolist()):
        keep = _sets(n, present.shape[1]).to(present.device)
        answer = score.keep_rows(torch.full((2**n,), b), keep)
        answers.append(answer.double().cpu())
    return answers


def of_chance(values: Tensor) -> float:
    """The mean AOPC of all N! orders of one input, from its answers [2^N] of `every_answer`: each step of a random
    order is a random set of its size.

    >>> of_chance(torch.tensor([0.75, 0.25, 0.5, 0.0]))
    0.5625
    """
    sizes = np.bitwise_count(np.arange(len(values)))
    answers = values.numpy()
    return float(answers[0] - np.mean([answers[sizes == k].mean() for k in range(1, int(sizes[-1]) + 1)]))


ASKING = ("occlusion", "lime", "shapley_sampling")
"""Methods that erase, which ask for what has been answered."""


def attributed(
    methods: Mapping[MethodName, Mapping[str, Any]], model: Any, inputs: Inputs, score: Perturber, **options: Any
) -> dict[str, Tensor]:
    """Scores [B, F] of methods with their options, float64, by name."""
    scores: dict[str, Tensor] = {}
    for name, own_options in methods.items():
        all_options = {**options, **own_options}
        if name in ASKING:
            all_options["perturber"] = score
        scores[name] = attribute(name, model, inputs, **all_options).cpu().double()
    return scores


@dataclass(frozen=True)
class Erasing:
    """A game of erasing, as tables: `answers` (item, removed, p), `items` (both ends of AOPC, what chance gets) and
    `orders` (those of attributions)."""

    answers: pd.DataFrame
    items: pd.DataFrame
    orders: pd.DataFrame


def erasing(table: AnswerTable, scores: Mapping[str, Tensor]) -> Erasing:
    """The game on the texts of a table, with the orders of attributions [B, F] by method; orders are written as word
    numbers from 0 with blanks between.

    Raises InputError for scores that are not finite where a text has a word.
    """
    present, bounds, answers_of = table.feature_mask, exact_bounds(table), every_answer(table)
    named = list(zip(table.ids, present.sum(dim=1).tolist(), strict=True))
    answers = [pd.DataFrame({"item": name, "removed": range(2**n)}) for name, n in named]
    items = [
        {"item": name, "words": n, "lower": bounds.lower[b].item(), "upper": bounds.upper[b].item()}
        | {"chance": of_chance(answers_of[b])}
        | {"worst": _written(bounds.lower_order[b, :n]), "best": _written(bounds.upper_order[b, :n])}
        for b, (name, n) in enumerate(named)
    ]
    orders: list[dict[str, Any]] = []
    for method, of_method in scores.items():
        if not bool(of_method[present].isfinite().all()):
            raise InputError(f"scores of {method} are not finite for each word: leave such texts out")
        value, place = aopc_scores(table, of_method)["aopc_morf"], rank(of_method, present)
        share = naopc(value.double(), bounds.lower, bounds.upper)
        orders += [
            {"item": name, "method": method, "order": _written(place[b, :n])}
            | {"aopc": value[b].item(), "naopc": share[b].item()}
            for b, (name, n) in enumerate(named)
        ]
    whole = pd.concat(answers, ignore_index=True).assign(p=torch.cat(answers_of).numpy())
    return Erasing(whole, pd.DataFrame(items), pd.DataFrame(orders))


def _sets(n: int, features: int) -> Tensor:
    """What stays of n features in each set, bool [2^n, features], in the order of the sets' numbers."""
    return torch.arange(2**n)[:, None] >> torch.arange(features) & 1 == 0


def _written(order: Tensor) -> str:
    return " ".join(map(str, order.tolist()))


# ----------------------------------------------------------------------------------------------------- soft and hard
def soft_grid(
    model: torch.nn.Module, inputs: TextInputs, grid: Sequence[float], *, draws: int, seed: int = 0
) -> Tensor:
    """p(target) of one text with one word kept by each importance of a grid and all others whole, [F, G, K].

    Draws are shared: what a draw keeps at one importance it keeps at every higher one (copies of the text have its
    random numbers).

    Raises InputError for more than one text.
    """
    if len(inputs) != 1:
        raise InputError(f"{len(inputs)} texts: the game is played on one")
    n = int(inputs.n_features[0])
    prob = torch.ones(n, len(grid), 1, n)
    for word in range(n):
        prob[word, :, 0, word] = torch.tensor(list(grid), dtype=torch.float32)
    copies = Perturber(model, inputs[[0] * (n * len(grid))], erase="zero")
    return copies.soft(prob.flatten(0, 1), draws=draws, seed=seed)[:, 0].unflatten(0, (n, len(grid))).double().cpu()


def drawn_numbers(inputs: TextInputs, size: int, *, shown: int, seed: int = 0) -> Tensor:
    """The random numbers of the first draw of `soft_grid` for the first `shown` numbers of each word's embedding (of
    `size`), [F, shown]: a number stays where they are below the importance."""
    key = counter_rng.row_keys(
        seed, np.array(inputs.keys(), dtype=np.uint64), np.zeros(1, np.int64), np.zeros(1, np.int64)
    )
    drawn = counter_rng.uniform(torch.from_numpy(key), inputs.feature_of.shape[1], size)[0]
    owner = inputs.feature_of[0].tolist()
    return torch.stack([drawn[owner.index(word), :shown] for word in range(int(inputs.n_features[0]))])
