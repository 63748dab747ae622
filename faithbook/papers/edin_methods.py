"""The two of Edin et al.'s (2025) methods that the library has no name for: KernelSHAP and AttInGrad.

Both score the features of a batch, float32 [B, F], 0 at places beyond an input's features; higher = matters more.

Shape letters: B inputs, F features, S erased copies, N features of one input.
"""

from __future__ import annotations

import torch
from captum.attr import KernelShap
from torch import Tensor, nn
from tqdm.auto import trange

from faithlib.attribution import attribute
from faithlib.attribution.texts import pooled
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

_SEEDS = 2**63


def kernel_shap(perturber: Perturber, *, n_samples: int, seed: int = 0) -> Tensor:
    """Shapley values of p(target), estimated by captum's weighted regression on erased copies (Lundberg & Lee 2017).

    Signed; a text's values sum to p(whole text) - p(empty text), as nearly as a weight of 10^6 makes them. Cost:
    `n_samples` rows per input, the whole and the empty text among them, minus those that were drawn twice. What is
    drawn depends on the seed and the input's content alone.
    """
    inputs = perturber.inputs
    scores = torch.zeros(inputs.feature_mask.shape)
    for i in trange(len(scores), desc="KernelSHAP", leave=False):
        n = int(inputs.feature_mask[i].sum())
        if n < 2:  # nothing to draw: all there is belongs to the one word
            scores[i, :n] = (perturber.full[i] - perturber.empty[i]).cpu()
            continue

        def answers(copies: Tensor, i: int = i, n: int = n) -> Tensor:
            keep = torch.zeros(len(copies), scores.shape[1], dtype=torch.bool)
            keep[:, :n] = copies > 0
            return perturber.keep_rows(torch.full((len(copies),), i), keep).cpu()

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed((inputs.keys()[i] + seed) % _SEEDS)
            explained = KernelShap(answers).attribute(
                torch.ones(1, n), n_samples=n_samples, perturbations_per_eval=n_samples
            )
        scores[i, :n] = explained[0].float()
    return scores


def attin_grad(model: nn.Module, inputs: TextInputs) -> Tensor:
    """Attention times InputXGradient (Edin et al. 2024): of each piece a_i * ||x_i * dp/dx_i||_2, summed over a word's.

    a_i: mean over heads of the last layer's attention from [CLS], as `attribute("attention")` has it; which attention
    the authors take is not in what we have. Their released scores of words of one piece are the products of the
    released two, up to a factor for each text. In [0, inf). Cost: one forward and one backward pass an input.
    """
    pieces = inputs.by_piece()
    attention = attribute("attention", model, pieces)
    product = attention * attribute("input_x_gradient", model, pieces, output="probability", aggregation="l2")
    positions = product.new_zeros(inputs.input_ids.shape)
    positions[(inputs.feature_of >= 0).to(positions.device)] = product[pieces.feature_mask.to(product.device)]
    return pooled(positions, inputs.feature_of.to(product.device), inputs.feature_mask.to(product.device), "sum")
