"""Anything that answers: a function from texts to probabilities, or to predicted numbers.

A scikit-learn pipeline's `predict_proba`, a remote service, a model in another framework. Nothing can be looked into,
so features are erased from the text itself; a function from pixels to logits is asked by `VisionBackend`.

Shape letters: R texts of one question, F features, C classes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from faithlib.errors import InputError, ModelError, some_numbers
from faithlib.inputs import WordInputs

# What explains and measures without a look inside.
_EXPECTED = (
    "expected probabilities [R, C], at least 0 and 1 in sum; with output='sigmoid' probabilities that need not add up, "
    "with output='value' any numbers"
)
ERASING_METHODS = "lime, occlusion, shapley_sampling, random and uniform"
ERASING = f"{ERASING_METHODS}; all metrics but the soft ones; bounds"


class Remembering:
    """A function of texts that asks `fn` each distinct text once, all new ones in one call: answers [R, C], of single
    numbers [R, 1].

    Raises InputError where `fn` does not answer for each text.

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
            p = numbers_of(self.fn([*new]), len(new))  # a copy: a function may change its list
            self._known |= dict(zip(new, p, strict=True))
        return torch.stack([self._known[text] for text in texts])


def numbers_of(answer: Any, count: int) -> Tensor:
    """What a function answered about so many texts as numbers [R, C]; InputError where it is something else.

    >>> numbers_of([0.5, 1.5], 2).shape
    torch.Size([2, 1])
    """
    try:
        numbers = torch.as_tensor(answer, dtype=torch.float32, device="cpu").to_dense()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"the function answered a {type(answer).__name__} ({error}): {_EXPECTED}") from error
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    if numbers.ndim != 2 or len(numbers) != count or not numbers.shape[1]:
        raise InputError(f"the function answered {list(numbers.shape)} for {count} texts: {_EXPECTED}")
    return numbers


class FunctionBackend:
    """A function from R strings to probabilities [R, C] (array or tensor), and the texts it is asked about.

    Logits are log p, so that their softmax is p again; 0 counts as the smallest float32. With `output` "sigmoid" they
    are log(p / (1 - p)), of probabilities that need not add up; with "value" the answers themselves.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> backend = FunctionBackend(model, WordInputs.from_texts(["good film"]))
    >>> backend.forward_kept(torch.tensor([0]), torch.tensor([[True, False]]), masked=False).exp()  # of "good"
    tensor([[0.1000, 0.9000]])
    """

    def __init__(
        self, model: Callable[[list[str]], Any], inputs: WordInputs, output: str | None = "probability"
    ) -> None:
        self.model = model if isinstance(model, Remembering) else Remembering(model)
        self.inputs = inputs
        self.output = output
        self.device = inputs.n_features.device
        # In words: what a chunk holds is limited by their number, as that of other models by tokens.
        self.lengths = inputs.n_features

    def forward_kept(self, index: Tensor, keep: Tensor, *, masked: bool) -> Tensor:
        """Logits [R, C] of the texts of inputs `index` [R] with the words of `keep` [R, F]."""
        rows = zip(index.tolist(), keep.tolist(), strict=True)
        return self.logits_of(self.model([self.inputs.without(i, kept, masked=masked) for i, kept in rows]))

    def logits_of(self, answers: Tensor) -> Tensor:
        """Logits [R, C] of what the function answered; InputError where that is not what the output says."""
        p = answers.to(self.device)
        if self.output == "value":
            return p
        off = ((p < 0) | (p > 1 + 1e-3)).any(dim=1)
        if self.output != "sigmoid":
            off |= (p.sum(dim=1) - 1).abs() > 1e-3
        if bool(off.any()):
            raise InputError(f"the function answered {some_numbers(p[off][0].tolist())} for a text: {_EXPECTED}")
        tiny = torch.finfo(p.dtype).tiny
        log_p = p.clamp(min=tiny).log()
        return log_p - (1 - p).clamp(min=tiny).log() if self.output == "sigmoid" else log_p

    def embeddings(self, *_: object, **__: object) -> NoReturn:
        """There are none: ModelError, which says what works."""
        raise ModelError(f"a function of texts has no embeddings to disturb; what works: {ERASING}")
