"""How well attributions agree with what people marked as the reason (Zaman & Belinkov 2022, Section 4; EvalxNLP).

Agreement is not faithfulness: a model may be right for a reason nobody marked, and an attribution that says so is
faithful and implausible. All metrics take scores [B, F] and the rationale that people marked, bool [B, F]; an input
without a marked feature has no answer (NaN), which callers count. Shape letters: B inputs, F features.
"""

import torch
from torch import Tensor
from torch.nn import functional

from faithlib.catalogue import HIGHER
from faithlib.errors import InputError
from faithlib.masks import checked_mask, position_in_rank, rank
from faithlib.metrics._sums import sum_in_order
from faithlib.metrics.registry import About, Values, metric, register

__all__ = ["agreement", "auprc", "average_precision", "checked_gold", "iou", "iou_f1", "pointing_game", "token_f1"]


# ------------------------------------------------------------------------------------------------------- whole orders
def average_precision(scores: Tensor, gold: Tensor, feature_mask: Tensor | None = None) -> Tensor:
    """Average precision (AP) of an attribution's order against what people marked.

    AP = sum over thresholds of (recall - previous recall) * precision; its mean over inputs is MAP (Eq. 7).

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    gold : Tensor
        What people marked, bool [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.

    Returns
    -------
    Tensor
        [B], in (0, 1]; higher is better. The share of marked features where all scores are equal, close to it by
        chance. NaN where nothing is marked.

    Raises
    ------
    InputError
        Where shapes disagree, `gold` is not bool or marks an absent feature, or the score of a real feature is not
        finite.

    Notes
    -----
    Thresholds are the distinct scores: equal scores are taken together, so that their order in the text gains nothing.

    Examples
    --------
    >>> round(average_precision(torch.tensor([[0.9, 0.5, 0.1]]), torch.tensor([[True, False, True]])).item(), 4)
    0.8333
    """
    _, gold = checked_gold(scores, gold, feature_mask)
    precision, _ = _precision_recall(scores, gold, feature_mask)
    return sum_in_order(torch.where(gold, precision, 0.0), dim=1) / gold.sum(dim=1)


def auprc(scores: Tensor, gold: Tensor, feature_mask: Tensor | None = None) -> Tensor:
    """Area under the precision-recall curve by the trapezium rule, from (recall 0, precision 1) on.

    EvalxNLP's and ERASER's AUPRC.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    gold : Tensor
        What people marked, bool [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.

    Returns
    -------
    Tensor
        [B], in (0, 1]; higher is better. Where all scores are equal it is halfway between 1 and the share of marked
        features. NaN where nothing is marked.

    Raises
    ------
    InputError
        Where shapes disagree, `gold` is not bool or marks an absent feature, or the score of a real feature is not
        finite.

    Notes
    -----
    `average_precision` sums the same points as steps. Lines between them promise precisions that no threshold gives,
    and the first one starts at precision 1, so the two differ either way.

    Examples
    --------
    >>> round(auprc(torch.tensor([[0.9, 0.5, 0.1]]), torch.tensor([[True, False, True]])).item(), 4)
    0.7917
    """
    _, gold = checked_gold(scores, gold, feature_mask)
    precision, recall = _precision_recall(scores, gold, feature_mask)
    order = rank(scores, feature_mask)
    heights = functional.pad(precision.gather(1, order), (1, 0), value=1.0)
    widths = functional.pad(recall.gather(1, order), (1, 0)).diff(dim=1)
    return sum_in_order(widths * (heights[:, 1:] + heights[:, :-1]) / 2, dim=1)


def _precision_recall(scores: Tensor, gold: Tensor, feature_mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Precision and recall of "at least this feature's score", at every feature, [B, F] each; NaN recall without gold.

    Absent features, which come last in rank, repeat the point where everything is taken.
    """
    present = checked_mask(scores, feature_mask)
    keyed = torch.where(present, scores, torch.inf).amin(dim=1, keepdim=True)
    threshold = torch.where(present, scores, keyed)
    taken = present[:, None, :] & (scores[:, None, :] >= threshold[:, :, None])
    hits = (taken & gold[:, None, :]).sum(dim=2)
    dtype = torch.promote_types(scores.dtype, torch.float32)
    return hits.to(dtype) / taken.sum(dim=2), hits.to(dtype) / gold.sum(dim=1, keepdim=True)


# --------------------------------------------------------------------------------------------------------- rationales
def token_f1(scores: Tensor, gold: Tensor, feature_mask: Tensor | None = None, *, k: int | Tensor) -> Tensor:
    """F1 of the k features with the highest scores, as far as these are positive, against the marked ones (EvalxNLP).

    `2 |P & G| / (|P| + |G|)` with P the features that are taken and G the marked ones.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    gold : Tensor
        What people marked, bool [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.
    k : int | Tensor
        How many features are taken at most, at least 1: one number, or one an input [B]. The page's choice is the
        average number of marked features in the data set.

    Returns
    -------
    Tensor
        [B], in [0, 1]; higher is better. 0 where no score is positive, NaN where nothing is marked.

    Raises
    ------
    InputError
        Where shapes disagree, `gold` is not bool or marks an absent feature, the score of a real feature is not finite,
        or k is below 1.

    Notes
    -----
    Of equal scores the feature that comes first is taken, the rule of `masks.rank`.

    Examples
    --------
    >>> token_f1(torch.tensor([[0.9, 0.5, 0.1]]), torch.tensor([[True, False, True]]), k=2).item()
    0.5
    """
    predicted, gold = _predicted(scores, gold, feature_mask, k)
    both = (predicted & gold).sum(dim=1)
    return _where_marked(2 * both / (predicted.sum(dim=1) + gold.sum(dim=1)), gold)


def iou_f1(
    scores: Tensor, gold: Tensor, feature_mask: Tensor | None = None, *, k: int | Tensor, threshold: float = 0.5
) -> Tensor:
    """Whether the k highest positive scores match what was marked (EvalxNLP's IOU-F1 of one input).

    1 where `|P & G| / |P or G|` >= threshold, else 0, with P the features that are taken and G the marked ones.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    gold : Tensor
        What people marked, bool [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.
    k : int | Tensor
        How many features are taken at most, at least 1: one number, or one an input [B], as in `token_f1`.
    threshold : float, default 0.5
        The least overlap that counts as a match, in [0, 1].

    Returns
    -------
    Tensor
        [B], 1 or 0; higher is better. NaN where nothing is marked.

    Raises
    ------
    InputError
        As `token_f1`.

    Notes
    -----
    Its mean over inputs is the page's IOU-F1: a share of matches, not the mean overlap that the page's code returns,
    and not ERASER's F1 over spans. Ties as in `token_f1`.

    Examples
    --------
    >>> iou_f1(torch.tensor([[0.9, 0.5, 0.1]]), torch.tensor([[True, False, True]]), k=1).item()
    1.0
    """
    predicted, gold = _predicted(scores, gold, feature_mask, k)
    both, either = (predicted & gold).sum(dim=1), (predicted | gold).sum(dim=1)
    return _where_marked((both >= threshold * either).float(), gold)


def _predicted(scores: Tensor, gold: Tensor, feature_mask: Tensor | None, k: int | Tensor) -> tuple[Tensor, Tensor]:
    present, gold = checked_gold(scores, gold, feature_mask)
    size = torch.as_tensor(k, device=scores.device).expand(len(scores))
    if (size < 1).any():
        raise InputError(f"k {k}: expected at least one feature in a rationale")
    return present & (scores > 0) & (position_in_rank(scores, feature_mask) < size[:, None]), gold


def _where_marked(value: Tensor, gold: Tensor) -> Tensor:
    return torch.where(gold.any(dim=1), value, torch.nan)


def checked_gold(scores: Tensor, gold: Tensor, feature_mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Which features there are, and the checked rationale.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    gold : Tensor
        What people marked, bool [B, F].
    feature_mask : Tensor
        Which features each input has, bool [B, F]; None: all.

    Returns
    -------
    tuple of Tensor
        bool [B, F] each, on the device of the scores.

    Raises
    ------
    InputError
        Where shapes disagree, `gold` is not bool or marks an absent feature, or the score of a real feature is not
        finite.

    Examples
    --------
    >>> present, gold = checked_gold(torch.tensor([[0.5, 0.1]]), torch.tensor([[True, False]]), None)
    >>> present.tolist()
    [[True, True]]
    """
    present = checked_mask(scores, feature_mask)
    if gold.shape != scores.shape or gold.dtype != torch.bool:
        raise InputError(f"gold {tuple(gold.shape)} of {gold.dtype}: expected bool of shape {tuple(scores.shape)}")
    gold = gold.to(scores.device)
    if (gold & ~present).any():
        row, feature = (gold & ~present).nonzero()[0].tolist()
        raise InputError(f"gold marks feature {feature} of input {row}, which the input does not have")
    return present, gold


# ---------------------------------------------------------------------------------------------------- as many as marked
def iou(scores: Tensor, gold: Tensor, feature_mask: Tensor | None = None) -> Tensor:
    """Overlap of the marked features and as many with the highest scores, whatever their sign.

    `|P & G| / |P or G|` with G the marked features and P as many with the highest scores.

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    gold : Tensor
        What people marked, bool [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.

    Returns
    -------
    Tensor
        [B], in [0, 1]; higher is better. NaN where nothing is marked.

    Raises
    ------
    InputError
        As `average_precision`.

    Notes
    -----
    Unlike `iou_f1` it needs no k, the same for all inputs, and no threshold. Ties as in `token_f1`.

    Examples
    --------
    >>> round(iou(torch.tensor([[0.9, 0.5, 0.1]]), torch.tensor([[True, False, True]])).item(), 4)
    0.3333
    """
    present, gold = checked_gold(scores, gold, feature_mask)
    chosen = present & (position_in_rank(scores, feature_mask) < gold.sum(dim=1, keepdim=True))
    return _where_marked((chosen & gold).sum(dim=1) / (chosen | gold).sum(dim=1), gold)


def pointing_game(scores: Tensor, gold: Tensor, feature_mask: Tensor | None = None) -> Tensor:
    """Whether the feature with the highest score is marked.

    The pointing game of Zhang et al. 2018, "Top-down neural attention by excitation backprop".

    Parameters
    ----------
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    gold : Tensor
        What people marked, bool [B, F].
    feature_mask : Tensor, optional
        Which features each input has, bool [B, F]; default: all.

    Returns
    -------
    Tensor
        [B], 1 or 0; higher is better, by chance the share of marked features. NaN where nothing is marked.

    Raises
    ------
    InputError
        As `average_precision`.

    Notes
    -----
    Ties as in `token_f1`.

    Examples
    --------
    >>> gold = torch.tensor([[True, False, True], [False, True, False]])
    >>> pointing_game(torch.tensor([[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]]), gold).tolist()
    [1.0, 0.0]
    """
    present, gold = checked_gold(scores, gold, feature_mask)
    first = present & (position_in_rank(scores, feature_mask) == 0)
    return _where_marked((first & gold).any(dim=1).float(), gold)


# ------------------------------------------------------------------------------------------------------- for `evaluate`
@register
@metric(
    "plausibility",
    rows=None,
    metrics={
        "iou_f1": (
            HIGHER,
            "the share of inputs whose top features overlap the marked ones by half",
            "1 if #(P ∩ M) ≥ ½ #(P ∪ M), else 0",
        ),
        "token_f1": (
            HIGHER,
            "the overlap (F1) of the top features and the marked ones",
            "2 #(P ∩ M) / (#P + #M)",
        ),
        "iou": (
            HIGHER,
            "the overlap of the marked features and as many with the highest scores",
            "#(T_k ∩ M) / #(T_k ∪ M), k = #M",
        ),
        "pointing_game": (
            HIGHER,
            "whether the highest score is on a marked feature",
            "1 if T_1 ⊆ M, else 0",
        ),
        "auprc": (
            HIGHER,
            "how well scores rank marked features first (area under precision and recall)",
            "Σ_t (rec_t - rec_{t-1}) (prec_t + prec_{t-1}) / 2",
        ),
        "average_precision": (
            HIGHER,
            "how well scores rank marked features first (mean precision)",
            "Σ_t (rec_t - rec_{t-1}) prec_t",
        ),
    },
    cost="none",
    source="DeYoung et al. 2020; Zhang et al. 2018; EvalxNLP (Dhaini et al. 2025)",
    by_default=True,
    needs_gold=True,
    least_features=1,
    undefined="nothing is marked",
    kind="common",
)
def agreement(answers: None, scores: Tensor, about: About) -> Values:
    """All metrics of plausibility.

    Parameters
    ----------
    answers : None
        None: no model is asked.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    about : About
        What is known about the inputs; `gold` and `gold_size` are used.

    Returns
    -------
    dict of str to Tensor
        [B] each; higher is better, NaN where nothing is marked.
    """
    assert about.gold is not None, "a metric that needs gold says so"
    given = (scores, about.gold, about.feature_mask)
    return {
        "iou_f1": iou_f1(*given, k=about.gold_size),
        "token_f1": token_f1(*given, k=about.gold_size),
        "iou": iou(*given),
        "pointing_game": pointing_game(*given),
        "auprc": auprc(*given),
        "average_precision": average_precision(*given),
    }
