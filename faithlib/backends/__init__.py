"""One face for every model: embed a batch, go on from (perturbed) embeddings to logits, run erased inputs.

=================  ====================================================================================================
module             what is there
=================  ====================================================================================================
`texts`            Hugging Face classifiers: `TextBackend`
`families`         what families of them there are, and what is perturbed in each: `acts_on`
`_prefix`          keys and values of the beginnings that rows of a decoder share
`pixels`           any classifier of pixels: `VisionBackend`; what enters the blocks of vision transformers
`_model_adapters`  what a user's model comes with: wrappers, names of classes, a tokenizer
`_logits`          logits in what a model answers
`prompts`          a causal language model asked by prompt: `PromptClassifier`; the tokens that follow an input
`continuation`     a causal language model asked for the text that follows: `Continuation`
`functions`        any function of texts: `FunctionBackend`
`shared_weights`   the copy of a model's structure on which all this is done, so that the model itself is never changed
=================  ====================================================================================================
"""

from typing import Any

import torch
from torch import nn

from faithlib.backends.continuation import Continuation
from faithlib.backends.families import ModelFamily, bases_within, family_of
from faithlib.backends.functions import FunctionBackend, Remembering
from faithlib.backends.pixels import VisionBackend, is_vit, tokens_of
from faithlib.backends.prompts import Prompt, PromptClassifier
from faithlib.backends.shared_weights import replica
from faithlib.backends.texts import TextBackend
from faithlib.errors import ModelError
from faithlib.inputs import ImageInputs, Inputs, TextInputs

__all__ = [
    "Backend",
    "Continuation",
    "FunctionBackend",
    "ModelFamily",
    "Prompt",
    "PromptClassifier",
    "Remembering",
    "TextBackend",
    "VisionBackend",
    "acts_on",
    "backend_for",
    "replica",
]

Backend = TextBackend | VisionBackend | FunctionBackend


def backend_for(model: Any, inputs: Inputs, output: str | None = None) -> Backend:
    """The backend that fits the kind of `inputs`, and of a function of texts the `output`.

    Parameters
    ----------
    model : Any
        A model, or a function of texts.
    inputs : Inputs
        What it is asked about.
    output : str | None
        What a function of texts answers; None: probabilities.

    Returns
    -------
    Backend
        It embeds, perturbs and asks.

    Raises
    ------
    ModelError
        Where model and inputs do not go together.

    Examples
    --------
    >>> from faithlib.inputs import WordInputs

    >>> words = WordInputs.from_texts(["good film"])
    >>> type(backend_for(lambda texts: [[0.2, 0.8]] * len(texts), words)).__name__
    'FunctionBackend'
    """
    if isinstance(inputs, ImageInputs):
        return VisionBackend(model, inputs)
    if isinstance(inputs, TextInputs) == isinstance(model, nn.Module) and callable(model):
        return TextBackend(model, inputs) if isinstance(inputs, TextInputs) else FunctionBackend(model, inputs, output)
    expected = "a torch module" if isinstance(inputs, TextInputs) else "a function from texts to probabilities"
    raise ModelError(f"{type(inputs).__name__} and a {type(model).__name__}: these inputs are for {expected}")


def acts_on(model: Any) -> str:
    """What "zero", soft erasure, gradients and baselines act on in this model, in words; of texts one of `families`.

    Parameters
    ----------
    model : Any
        A model of texts or images, or a function.

    Returns
    -------
    str
        A phrase for a table.

    Examples
    --------
    >>> from transformers import GPT2Config, GPT2ForSequenceClassification
    >>> acts_on(GPT2ForSequenceClassification(GPT2Config(n_embd=4, n_layer=1, n_head=1, vocab_size=9)))
    'token embeddings with positions added'
    """
    sees = getattr(model, "main_input_name", "") == "pixel_values"
    if not sees and (hasattr(model, "base_model_prefix") or bases_within(model)):
        return family_of(model).acts_on
    has_tokens = is_vit(getattr(model, "timm_model", model))
    if sees and not has_tokens:
        config = getattr(model.config, "vision_config", model.config)
        size = getattr(config, "image_size", 224)
        sides = (size, size) if isinstance(size, int) else tuple(size)
        has_tokens = tokens_of(model, torch.zeros(1, getattr(config, "num_channels", 3), *sides)) is not None
    if has_tokens:
        return "pixels; soft erasure on the tokens that enter the first block, with positions"
    return "pixels alone" if isinstance(model, nn.Module) else "words or pixels alone"
