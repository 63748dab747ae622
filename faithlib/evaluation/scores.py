"""Attributions in, metric values out: one metric of one `Perturber`, with all of its options.

The two halves of each metric stand with its formula in `faithlib.metrics`. To ask about several attributions at once,
take the halves apart: `hard.later(perturber, scores)` queues the rows, and what it returns makes the values.

Shape letters: B inputs, S rationale lengths, F features, K groups.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from faithlib.draws import generator
from faithlib.errors import InputError
from faithlib.inputs import Inputs
from faithlib.metrics import curves, erasure
from faithlib.metrics.erasure import PAPER_RATIOS as PAPER_RATIOS
from faithlib.metrics.erasure import RELEASED_RATIOS as RELEASED_RATIOS
from faithlib.metrics.saco import SacoSteps as SacoSteps
from faithlib.metrics.saco import grouped_alone, grouped_five, grouped_steps
from faithlib.perturb import Perturber, SetFunction


def hard_scores(
    perturber: Perturber, scores: Tensor, *, ratios: Sequence[float] = PAPER_RATIOS, clip: bool = False
) -> dict[str, Tensor]:
    """Hard NS and NC of attributions [B, F] at every rationale length: {"ns": [B, S], "nc": [B, S]}; higher is better.

    The paper's score of an input is the mean over S. NS is at most 1, NC at least 0. NaN where erasing everything does
    not lower the probability.

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
    normaliser: str | tuple[str, str] = "minmax",
    variant: str = "paper",
    draws: int = 1,
    seed: int = 0,
    clip: bool = False,
    empty: Tensor | None = None,
) -> dict[str, Tensor]:
    """Soft-NS and Soft-NC of attributions [B, F], one value a draw: {"soft_ns": [B, draws], "soft_nc": [B, draws]};
    higher is better.

    Both divide by how much the probability falls when every embedding element is dropped (`Perturber.soft_empty`),
    whatever `erase` is: that is the input which soft perturbations approach. `empty` [B] overrides the answer to it,
    for released code that reads another. `normaliser`: one for both metrics, or (for Soft-NS, for Soft-NC). NaN where
    dropping everything does not lower the probability.

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
    """AOPC of attributions [B, F], removing one feature after the other down to the last, [B] each.

    "aopc_morf": most relevant first, higher is better (Edin et al.'s comprehensiveness). "aopc_lerf": least relevant
    first, lower is better (their "sufficiency"; ERASER's reads the same sets at a few rationale lengths). The second
    order is the first backwards, equal scores included.

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
    """The perturbed rows behind Wu et al.'s five metrics (2024, Sections 3 and 4.3), for attributions [B, F].

    The groups are those of `masks.salience_groups` (`k`, `remainder`, `ties`, `seed`), their saliences those of
    `masks.group_salience` (`reduce`). `labels` [B]: the classes that count as correct, by default the predicted ones.
    Features that are in no group (remainder "drop") are never erased.

    3K - 2 distinct rows per input with the unperturbed one (28 for K = 10), asked in one call. The first group to go in
    either order is also erased alone, and both orders end with nothing left. One metric at a time asks for 5 (K + 1).

    Raises InputError for labels that are no integers [B], and as `salience_groups` does.

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
    """SaCo and the four metrics it is compared with (Wu et al. 2024, Section 4.3), of attributions [B, F], [B] each.

    - "saco": the salience-guided faithfulness coefficient (Algorithm 1), in [-1, 1], higher is better. NaN where all
      scores of an input are equal, however large the groups: the tie rule alone made them.
    - "auc": area under the curve of 1[predicted class == label] at 0, 1/K .. 1 of the features removed, most relevant
      first, in [0, 1]; lower is better.
    - "aopc_morf": mean drop of the output over the K removals of that path; higher is better.
    - "log_odds": mean over the same removals, lower is better. The paper gives no formula. `lodds` "ratio": log(p(y|x~)
      / p(y|x)), what the work it cites calls log-odds; "odds": the difference of the log-odds log(p / (1 - p)),
      `metrics.log_odds`. Always of probabilities.
    - "aopc_lerf": mean drop of the output over the K removals least relevant first; lower is better. This is the
      paper's "Comprehensiveness" - the opposite of ERASER's, which removes what is most relevant and where higher is
      better.

    "auc" and "log_odds" are missing where the output is a predicted value.

    The other `options` are those of `saco_steps`, which gives what stands behind these numbers, for the same rows. For
    tied drops counted by halves: `saco(steps.salience, steps.alone, ties="half")`.

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
    """SaCo alone, [B]: the "saco" of `saco_scores` for K + 1 rows per input where all five metrics need 3K - 2.
    `options`: those of `masks.salience_groups`.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> saco_of_groups(perturber, torch.tensor([[1.0, 2.0]]), k=2)  # the wrong word first
    tensor([-1.])
    """
    values: Tensor = grouped_alone(perturber, scores, k=k, reduce=reduce, **options)
    return values


def shuffled(scores: Tensor, inputs: Inputs, *, share: float = 1.0, seed: int = 0) -> Tensor:
    """Scores [B, F] of which this share, at least two an input, has changed places among the features.

    A control that keeps what a method's scores look like (their values, and so their density) and forgets where they
    belong. Drawn from (seed, content of the input); a larger share moves more features, never others.

    Raises InputError for a share that is not above 0 and at most 1.

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
