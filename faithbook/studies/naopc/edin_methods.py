"""The two of Edin et al.'s (2025) methods that the library has no name for, KernelSHAP and AttInGrad; and nine of their
ten attributions as their code makes them.

All score the features of a batch, float32 [B, F], 0 at places beyond an input's features; higher = matters more.

Shape letters: B inputs, F features, S erased copies, N features of one input.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from captum.attr import KernelShap
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from tqdm.auto import trange

from faithlib.attribution import attribute
from faithlib.inputs import TextInputs, pooled
from faithlib.perturb import Perturber

Answers = Callable[[Tensor], Tensor]
METHODS = (
    "attention",
    "attingrad",
    "deeplift",
    "input_x_gradient",
    "integrated_gradients",
    "kernel_shap",
    "lime",
    "occlusion",
    "random",
)
"""Those that `as_coded` makes, as the published tables name them."""


def kernel_shap(perturber: Perturber, *, n_samples: int, seed: int = 0) -> Tensor:
    """Shapley values of p(target), estimated by captum's weighted regression on erased copies (Lundberg & Lee 2017).

    Signed; a text's values sum to p(whole text) - p(empty text), as nearly as a weight of 10^6 makes them. Cost:
    `n_samples` rows per input, the whole and the empty text among them, minus those that were drawn twice. What is
    drawn depends on the seed and the input's content alone.
    """

    def explain(answers: Answers, key: int, n: int) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed((key + seed) % 2**63)
            asked = {"n_samples": n_samples, "perturbations_per_eval": n_samples}
            return KernelShap(answers).attribute(torch.ones(1, n), **asked)[0]

    return one_by_one(perturber, explain, "KernelSHAP")


def one_by_one(perturber: Perturber, explain: Callable[[Answers, int, int], Tensor], name: str) -> Tensor:
    """Scores [B, F] by what explains one input: from its answers to copies [S, N] (above 0: the feature stays), the key
    of its content and N, to its scores [N]. An input of one feature has nothing to draw: all there is belongs to it."""
    inputs = perturber.inputs
    scores = torch.zeros(inputs.feature_mask.shape)
    for i in trange(len(scores), desc=name, leave=False):
        n = int(inputs.feature_mask[i].sum())

        def answers(copies: Tensor, i: int = i, n: int = n) -> Tensor:
            keep = torch.zeros(len(copies), scores.shape[1], dtype=torch.bool)
            keep[:, :n] = copies > 0
            return perturber.keep_rows(torch.full((len(copies),), i), keep).cpu()

        if n < 2:
            scores[i, :n] = (perturber.full[i] - perturber.empty[i]).cpu()
        else:
            scores[i, :n] = explain(answers, inputs.keys()[i], n).float()
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


# --------------------------------------------------------------------------------------------- as their code has it
def as_coded(
    model: nn.Module, inputs: TextInputs, *, target: int, ig_steps: int = 50, samples_a_piece: int = 3, seed: int = 0
) -> dict[str, Tensor]:
    """Scores of the words of a batch by method, float32 [B, F], in [0, inf); higher = matters more.

    Read in aopc/feature_attribution_methods of their repository as of commit ebdae13. Every piece of a word has a score
    of its own, of the logit of the positive class and without a sign: the length of a gradient's product with the
    embedding, or the absolute value. A word has the sum of its pieces. Baselines and erased pieces are [MASK]. DecompX
    needs a forward pass written again for each architecture; it is left out.

    What differs: their passes run in half precision where ours do not, their LIME fits captum's lasso to other samples,
    and their KernelSHAP explains the logit, ours (`kernel_shap`) the probability.

    Cost: `samples_a_piece` rows for each piece of a text by LIME and KernelSHAP each, a row a piece for occlusion, and
    `ig_steps` and three forward and backward passes.
    """
    pieces = inputs.by_piece()

    def lengths(method: str, **options: object) -> Tensor:
        of_what = {"target": target, "output": "logit", "aggregation": "l2"}
        return attribute(method, model, pieces, **of_what, **options)  # type: ignore[arg-type]

    def sampled(i: int) -> tuple[Tensor, Tensor]:
        text = pieces[[i]]
        perturber = Perturber(model, text, target=target, erase="mask")
        # As many samples as the text has pieces, times a factor: every text is explained on its own.
        n = max(2, samples_a_piece * int(text.attention_mask.sum()))
        about = {"target": target, "output": "logit", "surrogate": "lasso", "erase": "mask"}
        lime = attribute("lime", model, text, n_samples=n, seed=seed, perturber=perturber, **about)  # type: ignore[arg-type]
        return lime[0].cpu(), kernel_shap(perturber, n_samples=n, seed=seed)[0]

    gradient = lengths("input_x_gradient")
    attention = attribute("attention", model, pieces)
    lime, shapley = zip(*[sampled(i) for i in range(len(pieces))], strict=True)
    scores = {
        "attention": attention,
        "attingrad": attention * gradient,
        "deeplift": lengths("deeplift", baseline="mask", rules="captum"),
        "input_x_gradient": gradient,
        "integrated_gradients": lengths("integrated_gradients", baseline="mask", n_steps=ig_steps),
        "kernel_shap": pad_sequence(list(shapley), batch_first=True),
        "lime": pad_sequence(list(lime), batch_first=True),
        "occlusion": attribute("occlusion", model, pieces, target=target, output="logit", erase="mask"),
        "random": attribute("random", model, pieces, seed=seed),
    }
    return {name: _of_words(values.abs(), pieces, inputs) for name, values in scores.items()}


def _of_words(scores: Tensor, pieces: TextInputs, inputs: TextInputs) -> Tensor:
    """Scores of pieces [B, P] as sums over the words [B, F] that they belong to."""
    positions = torch.zeros(inputs.feature_of.shape)
    positions[inputs.feature_of.cpu() >= 0] = scores.float().cpu()[pieces.feature_mask.cpu()]
    return pooled(positions, inputs.feature_of.cpu(), inputs.feature_mask.cpu(), "sum")
