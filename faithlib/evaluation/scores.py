"""Attributions in, metric values out: one metric of one `Perturber`, with all of its options.

The two halves of each metric stand with its formula in `faithlib.metrics`. To ask about several attributions at once,
take the halves apart: `hard.later(perturber, scores)` queues the rows, and what it returns makes the values.

Shape letters: B inputs, S rationale lengths, F features, K groups.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from faithlib._draws import generator
from faithlib.errors import InputError
from faithlib.inputs import Inputs
from faithlib.metrics import curves, erasure
from faithlib.metrics.erasure import PAPER_RATIOS
from faithlib.metrics.saco import SacoSteps as SacoSteps
from faithlib.metrics.saco import grouped_alone, grouped_five, grouped_steps
from faithlib.names import Normaliser
from faithlib.perturb import Perturber, SetFunction

__all__ = ["aopc_scores", "hard_scores", "saco_of_groups", "saco_scores", "saco_steps", "shuffled", "soft_scores"]


def hard_scores(
    perturber: Perturber, scores: Tensor, *, ratios: Sequence[float] = PAPER_RATIOS, clip: bool = False
) -> dict[str, Tensor]:
    """Hard NS and NC of attributions at every rationale length (Zhao & Aletras 2023, Eq. 1-2).

    Parameters
    ----------
    perturber : Perturber
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    ratios : sequence of float, default PAPER_RATIOS
        Rationale lengths as shares of the features, in [0, 1], [S].
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.

    Returns
    -------
    dict of str to Tensor
        "ns", at most 1, and "nc", at least 0, [B, S] each; higher is better. NaN where erasing everything does not
        lower the probability.

    Raises
    ------
    InputError
        Where shapes disagree, a score is not finite, or a ratio is outside [0, 1].

    Notes
    -----
    The paper's score of an input is the mean over S.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> hard_scores(perturber, torch.tensor([[2.0, 1.0]]), ratios=[0.5])  # "good" alone does all
    {'ns': tensor([[1.]]), 'nc': tensor([[1.]])}
    """
    values: dict[str, Tensor] = erasure.hard(perturber, scores, ratios=ratios, clip=clip)
    return values


def soft_scores(
    perturber: Perturber,
    scores: Tensor,
    *,
    normaliser: Normaliser | tuple[Normaliser, Normaliser] = "minmax",
    variant: str = "paper",
    draws: int = 1,
    seed: int = 0,
    clip: bool = False,
    empty: Tensor | None = None,
) -> dict[str, Tensor]:
    """Soft-NS and Soft-NC of attributions, one value a draw (Zhao & Aletras 2023, Eq. 3-5).

    Parameters
    ----------
    perturber : Perturber
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    normaliser : str | tuple[str, str], default "minmax"
        How scores become probabilities (`masks.normalise`): one for both metrics, or (for Soft-NS, for Soft-NC).
    variant : str, default "paper"
        Of `masks.soft_keep`.
    draws : int, default 1
        Random copies of each input, at least 1.
    seed : int, default 0
        Of the draws.
    clip : bool, default False
        Whether values are limited to [0, 1], as the released code does.
    empty : Tensor, optional
        The output with everything erased, [B], instead of the perturber's own answer, for released code that reads
        another.

    Returns
    -------
    dict of str to Tensor
        "soft_ns" and "soft_nc", [B, draws] each; higher is better. NaN where dropping everything does not lower the
        probability.

    Raises
    ------
    InputError
        Where shapes disagree or a score is not finite.
    UnknownNameError
        For another normaliser or variant.
    ModelError
        Where the model has no embeddings to drop elements of.

    Notes
    -----
    Both divide by how much the probability falls when every embedding element is dropped (`Perturber.soft_empty`),
    whatever `erase` is: that is the input which soft perturbations approach.

    Examples
    --------
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)

    >>> perturber, scores = Perturber(model, texts), torch.tensor([[2.0, 1.0]])
    >>> {name: tuple(values.shape) for name, values in soft_scores(perturber, scores, draws=4).items()}
    {'soft_ns': (1, 4), 'soft_nc': (1, 4)}
    """
    options = {"normaliser": normaliser, "variant": variant, "clip": clip, "empty": empty}
    values: dict[str, Tensor] = erasure.soft(perturber, scores, draws=draws, seed=seed, **options)
    return values


def aopc_scores(perturber: Perturber | SetFunction, scores: Tensor) -> dict[str, Tensor]:
    """AOPC of attributions, removing one feature after the other down to the last (Edin et al. 2025).

    Parameters
    ----------
    perturber : Perturber | SetFunction
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].

    Returns
    -------
    dict of str to Tensor
        [B] each, in the units of the output. "aopc_morf": most relevant first, higher is better (Edin et al.'s
        comprehensiveness). "aopc_lerf": least relevant first, lower is better (their "sufficiency"; ERASER's reads the
        same sets at a few rationale lengths).

    Raises
    ------
    InputError
        Where shapes disagree or a score is not finite.

    Notes
    -----
    The second order is the first backwards, equal scores included.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> found = aopc_scores(perturber, torch.tensor([[2.0, 1.0]]))
    >>> {name: round(value.item(), 4) for name, value in found.items()}
    {'aopc_morf': 0.4, 'aopc_lerf': 0.2}
    """
    values: dict[str, Tensor] = curves.aopc_paths(perturber, scores)
    return values


def saco_steps(
    perturber: Perturber,
    scores: Tensor,
    *,
    k: int = 10,
    labels: Tensor | None = None,
    remainder: str = "spread",
    ties: str = "position",
    reduce: str = "sum",
    seed: int = 0,
) -> SacoSteps:
    """The perturbed rows behind Wu et al.'s five metrics (2024, Sections 3 and 4.3).

    Parameters
    ----------
    perturber : Perturber
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    k : int, default 10
        Number of groups, at least 1.
    labels : Tensor, optional
        The classes that count as correct, integers [B]; default: the predicted ones.
    remainder, ties, seed
        How groups are made (`masks.salience_groups`). Features that are in no group (remainder "drop") are never
        erased.
    reduce : str, default "sum"
        How a group's salience is made of its features' scores (`masks.group_salience`).

    Returns
    -------
    SacoSteps
        Saliences and outputs, [B, K] and [B, K + 1].

    Raises
    ------
    InputError
        For labels that are no integers [B], and as `salience_groups` does.

    Notes
    -----
    3K - 2 distinct rows per input with the unperturbed one (28 for K = 10), asked in one call. The first group to go in
    either order is also erased alone, and both orders end with nothing left. One metric at a time asks for 5 (K + 1).

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> steps = saco_steps(perturber, torch.tensor([[2.0, 1.0]]), k=2)
    >>> steps.salience, steps.alone.round(decimals=4), steps.lerf.round(decimals=4)
    (tensor([[2., 1.]]), tensor([[0.4000, 0.0000]]), tensor([[0.9000, 0.9000, 0.5000]]))
    """
    grouping = {"k": k, "remainder": remainder, "ties": ties, "reduce": reduce, "seed": seed}
    steps: SacoSteps = grouped_steps(perturber, scores, labels=labels, **grouping)
    return steps


def saco_scores(perturber: Perturber, scores: Tensor, *, lodds: str = "ratio", **options: Any) -> dict[str, Tensor]:
    """SaCo and the four metrics it is compared with (Wu et al. 2024, Section 4.3).

    Parameters
    ----------
    perturber : Perturber
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    lodds : {"ratio", "odds"}, default "ratio"
        What log-odds are. The paper gives no formula. "ratio": log(p(y|x~) / p(y|x)), what the work it cites calls
        log-odds; "odds": the difference of the log-odds log(p / (1 - p)), `metrics.log_odds`. Always of probabilities.
    options
        Those of `saco_steps`, which gives what these numbers are made of, for the same rows.

    Returns
    -------
    dict of str to Tensor
        [B] each:

        - "saco": the salience-guided faithfulness coefficient (Algorithm 1), in [-1, 1], higher is better. NaN where
          all scores of an input are equal, however large the groups: the tie rule alone made them.
        - "auc": area under the curve of 1[predicted class == label] at 0, 1/K .. 1 of the features removed, most
          relevant first, in [0, 1]; lower is better.
        - "aopc_morf": mean drop of the output over the K removals of that path; higher is better.
        - "log_odds": mean over the same removals, lower is better.
        - "aopc_lerf": mean drop of the output over the K removals least relevant first; lower is better. This is the
          paper's "Comprehensiveness" - the opposite of ERASER's, which removes what is most relevant and where higher
          is better.

        "auc" and "log_odds" are missing where the output is a predicted value.

    Raises
    ------
    InputError
        As `saco_steps` does.
    UnknownNameError
        For another `lodds`.

    Notes
    -----
    For tied drops counted by halves: `saco(steps.salience, steps.alone, ties="half")`.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> found = saco_scores(perturber, torch.tensor([[2.0, 1.0]]), k=2)
    >>> {name: round(value.item(), 4) for name, value in found.items()}
    {'saco': 1.0, 'auc': 0.25, 'aopc_morf': 0.4, 'log_odds': -0.5878, 'aopc_lerf': 0.2}
    """
    values: dict[str, Tensor] = grouped_five(perturber, scores, lodds=lodds, **options)
    return values


def saco_of_groups(perturber: Perturber, scores: Tensor, *, k: int = 10, reduce: str = "sum", **options: Any) -> Tensor:
    """SaCo alone: the "saco" of `saco_scores` for K + 1 rows per input where all five metrics need 3K - 2.

    Parameters
    ----------
    perturber : Perturber
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    k : int, default 10
        Number of groups, at least 1.
    reduce : str, default "sum"
        How a group's salience is made of its features' scores (`masks.group_salience`).
    options
        Those of `masks.salience_groups`.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; higher is better, NaN where all scores of an input are equal.

    Raises
    ------
    InputError
        As `masks.salience_groups` does.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> saco_of_groups(perturber, torch.tensor([[1.0, 2.0]]), k=2)  # the wrong word first
    tensor([-1.])
    """
    values: Tensor = grouped_alone(perturber, scores, k=k, reduce=reduce, **options)
    return values


def shuffled(scores: Tensor, inputs: Inputs, *, share: float = 1.0, seed: int = 0) -> Tensor:
    """Scores of which a share has changed places among the features.

    A control that keeps what a method's scores look like (their values, and so their density) and forgets where they
    belong.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    inputs : Inputs
        Those that are explained.
    share : float, default 1.0
        How many features of an input change places, at least two; above 0, at most 1. A larger share moves more
        features, never others.
    seed : int, default 0
        Places are drawn from (seed, content of the input).

    Returns
    -------
    Tensor
        [B, F], the same values of each input.

    Raises
    ------
    InputError
        For a share that is not above 0 and at most 1.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs

    >>> found = shuffled(torch.tensor([[1.0, 2.0, 3.0]]), WordInputs.from_texts(["a good film"]))
    >>> found.sort().values  # the same scores, elsewhere
    tensor([[1., 2., 3.]])
    """
    if not 0 < share <= 1:
        raise InputError(f"share {share}: expected above 0, at most 1")
    moved = scores.clone()
    for b, (key, n) in enumerate(zip(inputs.keys(), inputs.feature_mask.sum(dim=1).tolist(), strict=True)):
        order = generator(seed, key)
        moving = torch.randperm(n, generator=order)[: max(2, round(share * n))]
        moved[b, moving] = scores[b, moving[torch.randperm(len(moving), generator=order)]]
    return moved
