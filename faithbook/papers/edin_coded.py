"""Edin et al.'s (2025) attributions as their code makes them, of nine of the ten methods.

Read in aopc/feature_attribution_methods of their repository as of commit ebdae13. Every piece of a word has a score of
its own, of the logit of the positive class and without a sign: the length of a gradient's product with the embedding,
or the absolute value. A word has the sum of its pieces. Baselines and erased pieces are [MASK]. DecompX needs a forward
pass written again for each architecture; it is left out.

What differs: their passes run in half precision where ours do not, their LIME fits captum's lasso to other samples, and
their KernelSHAP explains the logit, ours (`edin_methods`) the probability.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from faithbook.papers.edin_methods import kernel_shap
from faithlib.attribution import attribute
from faithlib.attribution.texts import pooled
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

METHODS = (
    *("attention", "attingrad", "deeplift", "input_x_gradient", "integrated_gradients"),
    *("kernel_shap", "lime", "occlusion", "random"),
)
"""As the published tables name them."""


def as_coded(
    model: nn.Module, inputs: TextInputs, *, target: int, ig_steps: int = 50, samples_a_piece: int = 3, seed: int = 0
) -> dict[str, Tensor]:
    """Scores of the words of a batch by method, float32 [B, F], in [0, inf); higher = matters more.

    Cost: `samples_a_piece` rows for each piece of a text by LIME and KernelSHAP each, a row a piece for occlusion, and
    `ig_steps` and three forward and backward passes.
    """
    pieces = inputs.by_piece()

    def lengths(method: str, **options: object) -> Tensor:
        of_what = {"target": target, "output": "logit", "aggregation": "l2"}
        return attribute(method, model, pieces, **of_what, **options)  # type: ignore[arg-type]

    def sampled(i: int) -> tuple[Tensor, Tensor]:
        one = pieces[[i]]
        asked = Perturber(model, one, target=target, erase="mask")
        n = max(2, samples_a_piece * int(one.attention_mask.sum()))
        about = {"target": target, "output": "logit", "surrogate": "lasso", "erase": "mask"}
        fitted = attribute("lime", model, one, n_samples=n, seed=seed, perturber=asked, **about)  # type: ignore[arg-type]
        return fitted[0].cpu(), kernel_shap(asked, n_samples=n, seed=seed)[0]

    gradient, attention = lengths("input_x_gradient"), attribute("attention", model, pieces)
    fitted, shapley = (_stacked(rows, pieces) for rows in zip(*map(sampled, range(len(pieces))), strict=True))
    occluded = attribute("occlusion", model, pieces, target=target, output="logit", erase="mask")
    scores = (
        *(attention, attention * gradient, lengths("deeplift", baseline="mask", rules="captum"), gradient),
        *(lengths("integrated_gradients", baseline="mask", n_steps=ig_steps), shapley, fitted, occluded),
        attribute("random", model, pieces, seed=seed),
    )
    return {name: _of_words(one.abs(), pieces, inputs) for name, one in zip(METHODS, scores, strict=True)}


def _stacked(rows: tuple[Tensor, ...], pieces: TextInputs) -> Tensor:
    scores = torch.zeros(pieces.feature_mask.shape)
    for place, row in zip(scores, rows, strict=True):
        place[: len(row)] = row
    return scores


def _of_words(scores: Tensor, pieces: TextInputs, inputs: TextInputs) -> Tensor:
    """Scores of pieces [B, P] as sums over the words [B, F] that they belong to."""
    positions = torch.zeros(inputs.feature_of.shape)
    positions[inputs.feature_of.cpu() >= 0] = scores.float().cpu()[pieces.feature_mask.cpu()]
    return pooled(positions, inputs.feature_of.cpu(), inputs.feature_mask.cpu(), "sum")
