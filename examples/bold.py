"""A bad metric, on purpose: `python -m faithbook bench examples/bold.py`.

It calls an explanation good where its scores are far apart, compared with all scores of the batch. It never asks the
model, so it cannot know what the model used; and what it says of an input depends on the other inputs beside it.
"""

DIRECTION = "higher"


def bold(scores, present):
    """How far an explanation's highest score lies above the mean score of the whole batch."""
    return scores.masked_fill(~present, -1e9).amax(dim=1) - scores[present].mean()
