"""Salience-guided faithfulness coefficient (Wu et al. 2024, Section 3 and Algorithm 1).

The features of an input are cut into K groups by descending salience (`faithlib.masks.salience_groups`), each group is
erased alone, and every pair of groups is asked whether the more salient one cost the model more. The answer counts as
much as the two saliences differ. Shape letters: B inputs, K groups.
"""

import torch
from torch import Tensor

from faithlib.errors import InputError, check_known


def saco(salience: Tensor, drop: Tensor, *, ties: str = "satisfied") -> Tensor:
    """`F = sum_{i<j} +-(s_i - s_j) / sum_{i<j} |s_i - s_j|`, [B], with + where drop_i >= drop_j and - elsewhere (Eq.
    1-3, Algorithm 1).

    salience [B, K]: s(G_i), what the attribution gives to each group, most salient group first; drop [B, K]: p(y|x) -
    p(y|x without G_i), each group erased alone (Eq. 2). In [-1, 1], higher is better: 1 where every pair obeys, -1
    where none does, 0 expected of a random attribution. Unchanged when all saliences of an input are shifted or
    multiplied by a positive number. Where the saliences are equally spaced it is Spearman's rank correlation of
    salience and drop. So a random attribution has a standard deviation of 1 / sqrt(K - 1) an input: .50, .33, .23 for K
    = 5, 10, 20. NaN where all saliences are equal (the weights sum to 0): callers count these inputs.

    `ties` says what two equal drops are worth: "satisfied" counts the pair as obeying (Algorithm 1, and the only line
    of it that was released), "half" counts it 0, halfway between the two answers. Under "satisfied" a model that
    ignores its input gives 1 to every attribution.

    The published sum is taken as it stands for rows that are not in descending order, which unequal group sizes can
    bring about. The weight s_i - s_j is then negative, so that a pair of unequal drops still counts by which group is
    more salient. A pair of tied drops counts as a violation, because the algorithm looks at places and not at
    saliences.

    Raises InputError for shapes that are not one [B, K] and for values that are not finite, and UnknownNameError for
    another `ties`.

    >>> saco(torch.tensor([[3.0, 2.0, 0.0]]), torch.tensor([[0.5, 0.1, 0.2]])).item()
    0.3333333432674408
    """
    check_known("ties", ties, ("satisfied", "half"))
    if salience.ndim != 2 or salience.shape != drop.shape:
        raise InputError(
            f"salience {tuple(salience.shape)} and drop {tuple(drop.shape)}: expected the same shape [B, K] for both"
        )
    for name, values in (("salience", salience), ("drop", drop)):
        if (broken := ~torch.isfinite(values)).any():
            row, group = broken.nonzero()[0].tolist()
            raise InputError(
                f"{name} of input {row} is {values[row, group].item()} at group {group}: expected finite numbers; "
                "leave the input out, or look at what made it"
            )
    k = salience.shape[1]
    first, second = torch.triu_indices(k, k, offset=1, device=salience.device)
    # In double precision: differences of almost equal saliences are all that a nearly uniform map has.
    values = salience.double()
    weight = values[:, first] - values[:, second]
    above, below = drop[:, first] > drop[:, second], drop[:, first] < drop[:, second]
    sign = above.double() - below.double() if ties == "half" else 1 - 2 * below.double()
    total = weight.abs().sum(dim=1)
    coefficient = torch.where(total > 0, (sign * weight).sum(dim=1) / total, torch.nan)
    return coefficient.to(torch.promote_types(torch.result_type(salience, drop), torch.float32))
