"""A metric of one's own: `python -m faithbook bench examples/lone_loss.py`.

The features that an explanation ranks highest should be those whose loss, each by itself, costs the model most. One row
of the model per feature; nothing but the order of the scores is used.
"""

import torch

from faithlib.masks import top_ratio

DIRECTION = "higher"


def lone_loss(perturber, scores):
    """What losing a feature of the upper half costs the prediction on average, less what one of the lower half does."""
    present = perturber.feature_mask
    alone = ~torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
    lost = perturber.full[:, None] - perturber.keep(alone.expand(len(scores), -1, -1))
    upper = top_ratio(scores, [0.5], present)[:, 0]
    return _mean_over(lost, upper) - _mean_over(lost, present & ~upper)


def _mean_over(values, chosen):
    return (values * chosen).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)
