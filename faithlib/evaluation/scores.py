"""Attributions in, metric values out: which masks each metric needs, asked of one `Perturber`.

Thin glue between `masks`, `Perturber` and `metrics`. Metrics that need the same perturbed rows share them through the
perturber.

Shape letters: B inputs, S rationale lengths, F features, K groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from faithlib.attribution.perturbation import generator
from faithlib.errors import InputError, check_known
from faithlib.inputs import Inputs
from faithlib.masks import group_salience, position_in_rank, removal_path, salience_groups, soft_keep, top_ratio
from faithlib.metrics import aopc, auc, comprehensiveness_nc, log_odds, saco, soft_nc, soft_ns, sufficiency_ns
from faithlib.outputs import log_probability, predicted, stays
from faithlib.perturb import Perturber, SetFunction

PAPER_RATIOS = (0.01, 0.05, 0.10, 0.20, 0.50)
RELEASED_RATIOS = (0.01, 0.02, 0.05, 0.10, 0.20, 0.50, 1.00)


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
    rationale = top_ratio(scores, ratios, perturber.feature_mask)
    nothing = torch.zeros_like(rationale[:, :1])
    answers = perturber.keep(torch.cat([rationale, ~rationale, nothing], dim=1))
    kept, removed, empty = answers.split([len(ratios), len(ratios), 1], dim=1)
    full = perturber.full[:, None]
    return {
        "ns": sufficiency_ns(full, kept, empty, clip=clip),
        "nc": comprehensiveness_nc(full, removed, empty, clip=clip),
    }


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
    for_ns, for_nc = (normaliser, normaliser) if isinstance(normaliser, str) else normaliser
    mask = perturber.feature_mask
    retained = soft_keep(scores, verb="sufficiency", normaliser=for_ns, variant=variant, feature_mask=mask)
    removed = soft_keep(scores, verb="comprehensiveness", normaliser=for_nc, variant=variant, feature_mask=mask)
    full = perturber.full[:, None]
    floor = (perturber.soft_empty if empty is None else empty)[:, None]
    return {
        "soft_ns": soft_ns(full, perturber.soft(retained[:, None], draws=draws, seed=seed)[:, 0], floor, clip=clip),
        "soft_nc": soft_nc(full, perturber.soft(removed[:, None], draws=draws, seed=seed)[:, 0], floor, clip=clip),
    }


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
    mask = perturber.feature_mask
    last_first = position_in_rank(scores, mask).float()
    paths = torch.cat([removal_path(scores, mask), removal_path(last_first, mask)], dim=1)
    morf, lerf = perturber.keep(paths).chunk(2, dim=1)
    full, sizes = perturber.full, mask.sum(dim=1)
    return {"aopc_morf": aopc(full, morf, sizes), "aopc_lerf": aopc(full, lerf, sizes)}


@dataclass(frozen=True)
class SacoSteps:
    """What a model answers while groups of features go, alone and one after the other; from `saco_steps`.

    - `salience` [B, K]: what the attribution gives to each group, most salient group first.
    - `alone` [B, K]: what the output loses when this group alone is erased; negative where it gains.
    - `morf`, `lerf` [B, K+1]: the output after 0..K groups, most (least) relevant first.
    - `log_p` [B, K+1]: the logarithm of the target's probability along `morf`, whatever the output; NaN where it is a
      predicted value.
    - `correct` bool [B, K+1]: whether the predicted class along `morf` is the label; False for a predicted value.

    The output is the perturber's: the target's probability, its logit or value (`faithlib.outputs`).

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> saco_steps(perturber, torch.tensor([[2.0, 1.0]]), k=2).morf.round(decimals=4)
    tensor([[0.9000, 0.5000, 0.5000]])
    """

    salience: Tensor
    alone: Tensor
    morf: Tensor
    lerf: Tensor
    log_p: Tensor
    correct: Tensor


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
    scores = scores.to(perturber.device)
    present = perturber.feature_mask
    group = salience_groups(scores, k, present, remainder=remainder, ties=ties, seed=seed)
    step = torch.arange(k, device=group.device)[:, None]
    each = group[:, None]
    kept = torch.cat([each != step, (each > step) | (each < 0), each < k - 1 - step], dim=1)
    logits = torch.cat([perturber.logits_full[:, None], perturber.logits(kept)], dim=1)
    full, alone, morf, lerf = perturber.read(logits).split([1, k, k, k], dim=1)
    along = logits[:, [0, *range(k + 1, 2 * k + 1)]]
    return SacoSteps(
        salience=group_salience(scores, group, k, reduce=reduce),
        alone=full - alone,
        morf=torch.cat([full, morf], dim=1),
        lerf=torch.cat([full, lerf], dim=1),
        log_p=log_probability(along, perturber.target, perturber.head),
        correct=_correct(perturber, along, labels),
    )


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
    check_known("lodds", lodds, ("ratio", "odds"))
    steps = saco_steps(perturber, scores, **options)
    p_full, path = steps.log_p[:, 0].exp(), steps.log_p[:, 1:].exp()
    log_ratio = (steps.log_p[:, 1:] - steps.log_p[:, :1]).mean(dim=1)
    values = {
        "saco": _saco(perturber, scores, steps.salience, steps.alone),
        "auc": auc(steps.correct.float()),
        "aopc_morf": aopc(steps.morf[:, 0], steps.morf[:, 1:]),
        "log_odds": log_ratio if lodds == "ratio" else log_odds(p_full, path),
        "aopc_lerf": aopc(steps.lerf[:, 0], steps.lerf[:, 1:]),
    }
    of_classes = () if perturber.head != "value" else ("auc", "log_odds")
    return {name: value for name, value in values.items() if name not in of_classes}


def saco_of_groups(perturber: Perturber, scores: Tensor, *, k: int = 10, reduce: str = "sum", **options: Any) -> Tensor:
    """SaCo alone, [B]: the "saco" of `saco_scores` for K + 1 rows per input where all five metrics need 3K - 2.
    `options`: those of `masks.salience_groups`.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> perturber = Perturber(model, WordInputs.from_texts(["good film"]))

    >>> saco_of_groups(perturber, torch.tensor([[1.0, 2.0]]), k=2)  # the wrong word first
    tensor([-1.])
    """
    scores = scores.to(perturber.device)
    group = salience_groups(scores, k, perturber.feature_mask, **options)
    kept = group[:, None] != torch.arange(k, device=group.device)[:, None]
    alone = perturber.full[:, None] - perturber.keep(kept)
    return _saco(perturber, scores, group_salience(scores, group, k, reduce=reduce), alone)


def _saco(perturber: Perturber, scores: Tensor, salience: Tensor, alone: Tensor) -> Tensor:
    """The coefficient, NaN where all scores of an input are equal."""
    scores, present = scores.to(perturber.device), perturber.feature_mask
    low = torch.where(present, scores, torch.inf).amin(dim=1)
    high = torch.where(present, scores, -torch.inf).amax(dim=1)
    return torch.where(low < high, saco(salience, alone), torch.nan)


def _correct(perturber: Perturber, logits: Tensor, labels: Tensor | None) -> Tensor:
    """Where logits [B, S, C] predict the labels, or what the input's own do: bool [B, S]; nowhere for a value."""
    if perturber.head == "value":
        return torch.zeros(logits.shape[:2], dtype=torch.bool, device=logits.device)
    if labels is None:
        return stays(logits, perturber.logits_full, perturber.target, perturber.head)
    if labels.shape != perturber.predicted.shape or labels.is_floating_point() or labels.dtype == torch.bool:
        message = f"labels have shape {tuple(labels.shape)} and dtype {labels.dtype}"
        raise InputError(f"{message}: expected integers [B] = [{len(perturber.predicted)}]")
    return predicted(logits) == labels.to(logits.device)[:, None]


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
