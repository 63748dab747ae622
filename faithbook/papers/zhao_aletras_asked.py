"""What the computations on Zhao & Aletras (2023) ask: the texts of a task, its classifier, and the paper's attributions
with a random one.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from faithbook.engine.profiles import own_of
from faithbook.models.load import load_model
from faithbook.sources.datasets import Dataset, load_dataset
from faithlib.attribution import attribute
from faithlib.inputs import TextInputs


class Asked:
    """A fixed sample of a task's test split, the same for every seed, and the classifier of a seed on this machine's
    accelerator. `classifier`: mpnet, mpnet-tuned; nothing: the data set's own."""

    def __init__(self, settings: Mapping[str, Any], dataset: str, classifier: str, seed: int) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.data = load_dataset(dataset, "test", n=own_of(settings, dataset, classifier)["inputs"], seed=0)
        named = settings["models_of"].get(classifier, settings["models"])[dataset]
        self.loaded = load_model(named.format(seed=seed))
        self.model = self.loaded.model.to(self.device)
        self.dtype = getattr(torch, settings["dtype"])
        self.methods: dict[str, dict[str, Any]] = {
            "attention": {},
            "scaled_attention": {},
            "input_x_gradient": {"aggregation": "abs_sum"},
            "integrated_gradients": {"aggregation": "sum", "n_steps": settings["ig_steps"]},
            "deeplift": {"aggregation": "sum", "rules": "captum"},
            "random": {"seed": seed},
        }

    def inputs_of(self, texts: Dataset) -> TextInputs:
        """The model's inputs of some of the texts."""
        window = self.loaded.window(texts)
        return TextInputs.from_texts(texts.texts, self.loaded.tokenizer, queries=texts.queries, max_length=window)

    def attribute(self, method: str, inputs: TextInputs, **options: Any) -> Tensor:
        """Scores [B, F] of one method, of the logit of the predicted class."""
        return attribute(method, self.model, inputs, output="logit", **options)

    def explained(self, inputs: TextInputs) -> dict[str, Tensor]:
        """Scores [B, F] of every method, by name."""
        return {name: self.attribute(name, inputs, **options) for name, options in self.methods.items()}
