"""One face for every model: embed a batch, go on from (perturbed) embeddings to logits, run erased inputs.

| module | what is there |
| --- | --- |
| `texts` | Hugging Face classifiers: `TextBackend`; `EmbeddedTwice`, a released deviation |
| `families` | what families of them there are, and what is perturbed in each: `acts_on` |
| `pixels` | timm classifiers: `VisionBackend` |
| `replica` | the copy of a model's structure on which all this is done, so that the model itself is never changed |
"""

from torch import nn

from faithlib.backends.families import Family, acts_on
from faithlib.backends.pixels import VisionBackend
from faithlib.backends.replica import replica
from faithlib.backends.texts import EmbeddedTwice, TextBackend
from faithlib.inputs import Inputs, TextInputs

Backend = TextBackend | VisionBackend


def backend_for(model: nn.Module, inputs: Inputs) -> Backend:
    """The backend that fits the kind of `inputs`; ModelError where model and inputs do not go together."""
    return TextBackend(model, inputs) if isinstance(inputs, TextInputs) else VisionBackend(model, inputs)


__all__ = ["Backend", "EmbeddedTwice", "Family", "TextBackend", "VisionBackend", "acts_on", "backend_for", "replica"]
