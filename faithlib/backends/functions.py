"""Anything that answers: a function from texts to probabilities.

A scikit-learn pipeline's `predict_proba`, a remote service, a model in another framework. Nothing can be looked into,
so features are erased from the text itself; a function from pixels to logits is asked by `VisionBackend`.

Shape letters: R texts of one question, F features, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from faithlib.errors import InputError, ModelError
from faithlib.inputs import WordInputs

# What explains and measures without a look inside.
ERASING = "lime, occlusion, shapley_sampling, random and uniform; all metrics but the soft ones; bounds"


class Remembering:
    """A function from texts to probabilities that asks `fn` each distinct text once, all new ones in one call.

    Raises InputError where `fn` answers no probabilities.

    >>> model = Remembering(lambda texts: print(texts) or [[0.2, 0.8]] * len(texts))
    >>> model(["a", "b", "a"]).shape
    ['a', 'b']
    torch.Size([3, 2])
    """

    def __init__(self, fn: Callable[[list[str]], Any]) -> None:
        self.fn = fn
        self._known: dict[str, Tensor] = {}

    def __call__(self, texts: Sequence[str]) -> Tensor:
        if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
            p = torch.as_tensor(self.fn(new), dtype=torch.float32, device="cpu")
            if p.ndim != 2 or len(p) != len(new) or bool((p < 0).any()) or bool((p.sum(dim=1) - 1).abs().max() > 1e-3):
                raise InputError(
                    f"the function answered {list(p.shape)} for {len(new)} texts: expected probabilities [R, C], at "
                    "least 0 and 1 in sum"
                )
            self._known |= dict(zip(new, p, strict=True))
        return torch.stack([self._known[text] for text in texts])


class FunctionBackend:
    """A function from R strings to probabilities [R, C] (array or tensor), and the texts it is asked about.

    Logits are log p, so that their softmax is p again; 0 counts as the smallest float32.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> backend = FunctionBackend(model, WordInputs.from_texts(["good film"]))
    >>> backend.forward_kept(torch.tensor([0]), torch.tensor([[True, False]]), masked=False).exp()  # of "good"
    tensor([[0.1000, 0.9000]])
    """

    def __init__(self, model: Callable[[list[str]], Any], inputs: WordInputs) -> None:
        self.model = model if isinstance(model, Remembering) else Remembering(model)
        self.inputs = inputs
        self.device = inputs.n_features.device
        # In words: what a chunk holds is limited by their number, as that of other models by tokens.
        self.lengths = inputs.n_features

    def forward_kept(self, index: Tensor, keep: Tensor, *, masked: bool) -> Tensor:
        """log p [R, C] of the texts of inputs `index` [R] with the words of `keep` [R, F]."""
        rows = zip(index.tolist(), keep.tolist(), strict=True)
        p = self.model([self.inputs.without(i, kept, masked=masked) for i, kept in rows])
        return p.to(self.device).clamp(min=torch.finfo(p.dtype).tiny).log()

    def embeddings(self, *_: object, **__: object) -> NoReturn:
        """There are none: ModelError, which says what works."""
        raise ModelError(f"a function of texts has no embeddings to disturb; what works: {ERASING}")
