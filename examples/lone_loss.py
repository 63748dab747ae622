"""A metric of one's own: `python -m faithlib bench examples/lone_loss.py`.

The features that an explanation ranks highest should be those whose loss, each by itself, costs the model most. One row
of the model per feature; nothing but the order of the scores is used.
"""

import torch

from faithlib.masks import top_ratio
from faithlib.metrics import metric


def each_alone(scores, about):
    """What is asked about: copies of each input, one for each feature, in which that feature alone is erased."""
    features = scores.shape[1]
    kept = ~torch.eye(features, dtype=torch.bool)
    return kept.expand(len(scores), features, features)


@metric(
    "lone_loss",
    rows=each_alone,
    direction="higher",
    meaning="what losing a feature of the upper half costs, less what losing one of the lower half does",
    cost="n",
)
def lone_loss(answers, scores, about):
    """What is made of the answers [B, F], the output for each copy: one value for each input, [B]."""
    present = about.feature_mask
    lost = about.full[:, None] - answers
    upper = top_ratio(scores, [0.5], present)[:, 0]
    return mean_over(lost, upper) - mean_over(lost, present & ~upper)


def mean_over(values, chosen):
    return (values * chosen).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)
