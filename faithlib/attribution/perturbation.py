"""Attributions from erasing features and watching the explained number.

Each function answers [B, F]: a feature is erased as a whole, there is nothing to aggregate or pool. All rows go through
one `Perturber`, which runs each distinct one once; give your own (`perturber=`) to share its answers with metrics.
`erase` is the perturber's: "zero" (default), "pad", "mask" or "delete".

Shape letters: B inputs, S erased copies of one input, F features, C classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import Lasso
from torch import Tensor, nn

from faithlib.attribution.explained import read
from faithlib.attribution.floors import generator
from faithlib.errors import InputError, unknown
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

SURROGATES = ("ridge", "lasso")


class Answers:
    """The explained number F of erased copies of the inputs."""

    def __init__(
        self,
        model: nn.Module,
        inputs: TextInputs,
        target: Tensor | None,
        output: str,
        erase: str | None,
        perturber: Any,
    ) -> None:
        if perturber is None:
            perturber = Perturber(model, inputs, erase=erase)
        elif erase not in (None, perturber.erase):
            raise InputError(f"erase {erase!r} and a perturber with erase {perturber.erase!r}: give one of the two")
        elif perturber.inputs.keys() != inputs.keys():
            raise InputError("the perturber was made for other inputs: make both from the same batch")
        self.perturber: Perturber = perturber
        self.present = self.perturber.inputs.feature_mask
        self.keys = inputs.keys()
        self.target = self.perturber.predicted if target is None else target.to(self.perturber.device)
        self.output = output

    def __call__(self, keep: Tensor) -> Tensor:
        """F [B, S] with the features of `keep` [B, S, F] left in place."""
        return read(self.perturber.logits(keep), self.target, self.output).float()


def occlusion(answers: Answers) -> Tensor:
    """F(x) - F(x without feature f) (Zeiler & Fergus 2014), signed. Cost: F + 1 forward rows an input."""
    n = answers.present.shape[1]
    without = ~torch.eye(n, dtype=torch.bool, device=answers.present.device).expand(len(answers.present), n, n)
    full = answers(answers.present[:, None, :])
    return full - answers(without)


def lime(
    answers: Answers,
    *,
    n_samples: int = 50,
    surrogate: str = "ridge",
    alpha: float | None = None,
    kernel_width: float = 0.25,
    seed: int = 0,
) -> Tensor:
    """Weights of a linear surrogate of F around the input (Ribeiro et al. 2016, Eq. 1-2), signed.

    The surrogate is fitted to the input itself and `n_samples` - 1 copies in which each feature stays with probability
    1/2, weighted by exp(-d^2 / (2 kernel_width^2)), d the cosine distance to the input in feature space. `surrogate`
    "ridge" has the penalty alpha ||w||^2 (default 1, the lime package's), "lasso" scikit-learn's (default 0.01,
    captum's), which sets most weights of a long text to 0. 50 samples are those of Zaman & Belinkov 2022; fewer samples
    than features leave the answer to the penalty. Samples depend on (seed, content of the input) only.
    Cost: `n_samples` forward rows an input.
    """
    if n_samples < 2:
        raise InputError(f"n_samples {n_samples}: expected at least 2")
    if surrogate not in SURROGATES:
        raise unknown("surrogate", surrogate, SURROGATES)
    if not kernel_width > 0:
        raise InputError(f"kernel_width {kernel_width}: expected more than 0")
    penalty = {"ridge": 1.0, "lasso": 0.01}[surrogate] if alpha is None else alpha
    if not penalty > 0:
        raise InputError(f"alpha {alpha}: expected more than 0")
    sizes = answers.present.sum(dim=1).tolist()
    keep = torch.ones(len(sizes), n_samples, answers.present.shape[1], dtype=torch.bool)
    for b, (key, size) in enumerate(zip(answers.keys, sizes, strict=True)):
        keep[b, 1:, :size] = torch.rand(n_samples - 1, size, generator=generator(seed, key)) < 0.5
    values = answers(keep).double().cpu().numpy()
    scores = torch.zeros(answers.present.shape)
    fit = _ridge if surrogate == "ridge" else _lasso
    for b, size in enumerate(sizes):
        samples = keep[b, :, :size].double().numpy()
        distance = 1 - np.sqrt(samples.mean(axis=1))
        weights = np.exp(-(distance**2) / (2 * kernel_width**2))
        scores[b, :size] = torch.from_numpy(fit(samples, values[b], weights, penalty)).float()
    return scores.to(answers.present.device)


def shapley_sampling(answers: Answers, *, n_samples: int = 25, seed: int = 0) -> Tensor:
    """Mean change of F as feature f joins those before it, over `n_samples` random orders, signed (Castro et al. 2009;
    Štrumbelj & Kononenko 2010).

    An unbiased estimate of the Shapley value; the scores of an input always add up to F(x) - F(everything erased).
    25 orders are those of Zaman & Belinkov 2022. Orders depend on (seed, content of the input) only.
    Cost: at most `n_samples` * F forward rows an input.
    """
    if n_samples < 1:
        raise InputError(f"n_samples {n_samples}: expected at least 1")
    n_inputs, n = answers.present.shape
    device = answers.present.device
    sizes = answers.present.sum(dim=1).tolist()
    generators = [generator(seed, key) for key in answers.keys]
    total = torch.zeros(n_inputs, n, device=device, dtype=torch.float64)
    for _ in range(n_samples):
        # Places after an input's own features hold padded ones, whose coming changes nothing.
        order = torch.arange(n).repeat(n_inputs, 1)
        for b, size in enumerate(sizes):
            order[b, :size] = torch.randperm(size, generator=generators[b])
        order = order.to(device)
        place = order.argsort(dim=1)
        before = place[:, None, :] < torch.arange(n + 1, device=device)[None, :, None]
        values = answers(before).double()
        total.scatter_add_(1, order, values.diff(dim=1))
    return (total / n_samples).float()


def _ridge(samples: NDArray[Any], values: NDArray[Any], weights: NDArray[Any], alpha: float) -> NDArray[Any]:
    share = weights / weights.sum()
    centred = samples - share @ samples
    gram = centred.T @ (weights[:, None] * centred) + alpha * np.eye(samples.shape[1])
    return np.linalg.solve(gram, centred.T @ (weights * (values - share @ values)))


def _lasso(samples: NDArray[Any], values: NDArray[Any], weights: NDArray[Any], alpha: float) -> NDArray[Any]:
    coefficients: NDArray[Any] = Lasso(alpha=alpha).fit(samples, values, sample_weight=weights).coef_
    return coefficients
