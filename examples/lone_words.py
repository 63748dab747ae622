"""A method of one's own: `python -m faithlib bench --methods examples/lone_words.py`."""

import torch

from faithlib.attribution import method


def one_left(explained):
    """What is asked about: the input of which everything is erased, and copies of which one feature is left."""
    inputs, features = explained.present.shape
    alone = torch.eye(features, dtype=torch.bool).expand(inputs, features, features)
    nothing = torch.zeros(inputs, 1, features, dtype=torch.bool)
    return explained.copies(torch.cat([nothing, alone], dim=1))


@method("lone_words", rows=one_left)
def lone_words(numbers, explained):
    """What each feature by itself adds to the prediction of an input of which everything else is erased."""
    return numbers[:, 1:] - numbers[:, :1]
