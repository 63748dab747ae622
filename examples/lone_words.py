"""A method of one's own: `python -m faithbook bench --method examples/lone_words.py`."""

import torch


def lone_words(perturber):
    """What each feature by itself adds to the prediction of an input of which everything else is erased."""
    features = perturber.feature_mask.shape[1]
    alone = torch.eye(features, dtype=torch.bool, device=perturber.device)
    kept = perturber.keep(alone.expand(len(perturber.inputs), -1, -1))
    return kept - perturber.empty[:, None]
