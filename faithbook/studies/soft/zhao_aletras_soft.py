"""Soft-NS and Soft-NC with what Zhao & Aletras (2023) try instead of dropout, in their Appendix C; and both kinds of
score as their released code has them, each of its choices made or not.

`Task` is what the computations ask: the texts of a task, its classifier, and the paper's attributions with a random
one. Values and divisors are those of `faithlib.evaluation.soft_scores`: {"soft_ns": [B, R], "soft_nc": [B, R]}.

Shape letters: B inputs, F features, R draws.

>>> import torch
>>> from faithlib.inputs import TextInputs
>>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
>>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
>>> model = DistilBertForSequenceClassification(config).eval()
>>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
>>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
>>> asked, scores = Perturber(model, texts), torch.tensor([[2.0, 1.0]])

>>> gaussian_scores(asked, scores, variance=1.0, equation=8, draws=4)["soft_ns"].shape
torch.Size([1, 4])
>>> attention_mask_scores(asked, scores)["soft_ns"].shape
torch.Size([1, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from faithbook.models.load import Classifier, load_model
from faithbook.sources.datasets import Dataset, load_dataset
from faithbook.studies.soft.zhao_aletras import HARD_CHOICES, SOFT_CHOICES, replay_name, subsets
from faithlib.attribution import attribute
from faithlib.copies import Copies
from faithlib.evaluation import PAPER_RATIOS, RELEASED_RATIOS
from faithlib.inputs import TextInputs
from faithlib.masks import normalise, soft_keep
from faithlib.metrics import soft_nc, soft_ns
from faithlib.metrics.erasure import hard
from faithlib.names import MethodName, Normaliser
from faithlib.perturb import PendingAnswers, Perturber

Finish = Callable[[], dict[str, Tensor]]  # what makes values once their rows are queued


def gaussian_scores(
    perturber: Perturber, scores: Tensor, *, variance: float, equation: int, draws: int = 1, seed: int = 0
) -> dict[str, Tensor]:
    """With Gaussian noise: sufficiency disturbs a feature in proportion to 1 - a, comprehensiveness to a."""
    importance = normalise(scores, "minmax", perturber.inputs.feature_mask)

    def noisy(scale: Tensor) -> Tensor:
        return perturber.gaussian(scale[:, None], variance=variance, equation=equation, draws=draws, seed=seed)[:, 0]

    return _divided(perturber, noisy(1 - importance), noisy(importance))


def attention_mask_scores(perturber: Perturber, scores: Tensor) -> dict[str, Tensor]:
    """With a continuous attention mask: sufficiency weighs attention to a feature by a, comprehensiveness by 1 - a.

    Nothing is random: one draw.
    """
    importance = normalise(scores, "minmax", perturber.inputs.feature_mask)[:, None]
    return _divided(perturber, perturber.attention_mask(importance), perturber.attention_mask(1 - importance))


def replayed_hard(zeroed: Perturber, padded: Perturber, scores: Tensor) -> Iterator[tuple[str, Finish]]:
    """Hard NS and NC [B, S] under every subset of `HARD_CHOICES`, by name: rows are queued, and what comes makes the
    values.

    `zeroed` erases to zero embeddings, `padded` to padding ids, of the same inputs.
    """
    for made in subsets(HARD_CHOICES):
        asked = padded if "empty text" in made else zeroed
        ratios = RELEASED_RATIOS if "lengths" in made else PAPER_RATIOS
        yield replay_name("ns", made), hard.later(asked, scores, ratios=ratios, clip="limits" in made)


def replayed_soft(
    zeroed: Perturber, padded: Perturber, scores: Tensor, *, draws: int, seed: int = 0
) -> Iterator[tuple[str, Finish]]:
    """Soft-NS and Soft-NC [B, R] under every subset of `SOFT_CHOICES`, by name; one draw is the first of the `draws`.
    Rows are queued, and what comes makes the values.

    The four masks (which normaliser, which direction) are asked for once; all else is worked out from the answers.
    """
    mask, full = zeroed.inputs.feature_mask, zeroed.full[:, None]
    padded_empty = padded.later(torch.zeros_like(mask)[:, None, :])
    dropped = zeroed.later(Copies(torch.zeros(mask.shape)[:, None]))
    for masked in subsets(("normaliser", "mask")):
        direction = "released" if "mask" in masked else "paper"
        normalisers: tuple[Normaliser, Normaliser] = ("minmax", "minmax")
        if "normaliser" in masked:
            normalisers = ("released_ns", "released_nc")
        keep = [
            soft_keep(scores, verb=verb, normaliser=normaliser, variant=direction, feature_mask=mask)
            for verb, normaliser in zip(("sufficiency", "comprehensiveness"), normalisers, strict=True)
        ]
        queued = [zeroed.later(Copies(kept[:, None], draws=draws, seed=seed)) for kept in keep]

        def both(rest: Sequence[str], queued: list[PendingAnswers] = queued) -> dict[str, Tensor]:
            floor = padded_empty.result() if "empty text" in rest else dropped.result()[:, 0]
            ns, nc = (answers.result()[:, 0] for answers in queued)
            if "draws" in rest:
                ns, nc = ns[:, :1], nc[:, :1]
            clip = "limits" in rest
            return {"soft_ns": soft_ns(full, ns, floor, clip=clip), "soft_nc": soft_nc(full, nc, floor, clip=clip)}

        for rest in subsets([name for name in SOFT_CHOICES if name not in ("normaliser", "mask")]):
            yield replay_name("soft_ns", (*masked, *rest)), partial(both, rest)


def _divided(perturber: Perturber, kept: Tensor, erased: Tensor) -> dict[str, Tensor]:
    """Both from the answers [B, R] to inputs of which the important features were kept, and erased."""
    full, floor = perturber.full[:, None], perturber.soft_empty[:, None]
    return {"soft_ns": soft_ns(full, kept, floor), "soft_nc": soft_nc(full, erased, floor)}


# -------------------------------------------------------------------------------------------- what the computations ask
class Task:
    """Some texts of a data set, a classifier on this machine's accelerator, and the paper's attributions of it with a
    random one. `dtype`: what scores are computed in; attributions are made in single precision."""

    def __init__(
        self, dataset: str, data: Dataset, loaded: Classifier, *, seed: int, dtype: torch.dtype, ig_steps: int
    ) -> None:
        self.dataset = dataset
        self.data = data
        self.loaded = loaded
        self.seed = seed
        self.dtype = dtype
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = loaded.model.to(self.device)
        self.methods: dict[MethodName, dict[str, Any]] = {
            "attention": {},
            "scaled_attention": {},
            "input_x_gradient": {"aggregation": "abs_sum"},
            "integrated_gradients": {"aggregation": "sum", "n_steps": ig_steps},
            "deeplift": {"aggregation": "sum", "rules": "captum"},
            "random": {"seed": seed},
        }

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any], dataset: str, seed: int) -> Task:
        """A fixed sample of a task's test split, the same for every seed, and the classifier of a run's settings."""
        data = load_dataset(dataset, "test", n=settings["inputs"], seed=0, sample=settings["sample"])
        dtype = getattr(torch, settings["dtype"])
        loaded = load_model(settings["model"])
        return cls(dataset, data, loaded, seed=seed, dtype=dtype, ig_steps=settings["ig_steps"])

    def inputs_of(self, texts: Dataset) -> TextInputs:
        """The model's inputs of some of the texts."""
        window = self.loaded.window(texts)
        return TextInputs.from_texts(texts.texts, self.loaded.tokenizer, queries=texts.queries, max_length=window)

    def attribute(self, method: MethodName, inputs: TextInputs, **options: Any) -> Tensor:
        """Scores [B, F] of one method, of the logit of the predicted class."""
        return attribute(method, self.model, inputs, output="logit", **options)

    def explained(self, inputs: TextInputs) -> dict[str, Tensor]:
        """Scores [B, F] of every method, by name."""
        return {name: self.attribute(name, inputs, **options) for name, options in self.methods.items()}
