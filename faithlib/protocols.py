"""What the library asks of a model and of an attribution method, as types."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor, nn

__all__ = ["AttributionMethod", "Model", "ProbabilityModel", "TextFunction"]


class TextFunction(Protocol):
    """A function from texts to the probabilities of their classes, [B, C]: lists, an array or a tensor.

    >>> def film(texts: list[str]) -> list[list[float]]:
    ...     return [[0.2, 0.8] if "good" in text else [0.5, 0.5] for text in texts]
    >>> film(["a good film"])
    [[0.2, 0.8]]
    """

    def __call__(self, texts: Any, /) -> Any:
        """The probabilities of each text."""


class ProbabilityModel(Protocol):
    """A classifier of texts in the form of scikit-learn.

    >>> class Film:
    ...     def predict_proba(self, texts):
    ...         return [[0.5, 0.5] for _ in texts]
    >>> Film().predict_proba(["good"])
    [[0.5, 0.5]]
    """

    def predict_proba(self, texts: Any, /) -> Any:
        """Ask about texts.

        Parameters
        ----------
        texts : list of str
            B texts.

        Returns
        -------
        array_like
            The probabilities of the classes, [B, C], each row summing to 1.
        """


class AttributionMethod(Protocol):
    """A method that looks into the model: scores [B, F] of the features of inputs for the explained classes [B].

    >>> def even(model, inputs, target):
    ...     return inputs.feature_mask.float()
    """

    def __call__(self, model: Any, inputs: Any, target: Tensor, /) -> Tensor:
        """Scores, higher where a feature matters more."""


Model = nn.Module | TextFunction | ProbabilityModel
"""What `evaluate` takes as a model: a torch module (of transformers or timm, or any that answers logits), a function of
texts or of pixels, or an object with `predict_proba`."""
