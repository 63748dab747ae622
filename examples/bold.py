"""A bad metric, on purpose: `python -m faithlib bench examples/bold.py`.

It calls an explanation good where its scores are far apart, compared with all scores of the batch. It never asks the
model, so it cannot know what the model used; and what it says of an input depends on the other inputs beside it.
"""

from faithlib.metrics import metric


@metric("bold", rows=None, direction="higher", meaning="how far the highest score lies above the mean of the batch")
def bold(answers, scores, about):
    """How far an explanation's highest score lies above the mean score of the whole batch."""
    present = about.feature_mask
    return scores.masked_fill(~present, -1e9).amax(dim=1) - scores[present].mean()
