"""Which layers of a pretrained model a LoRA adapter changes: they follow from its architecture and its weights."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torch import nn
from transformers import PreTrainedModel

_BLOCK = re.compile(r"^.*\.\d+\.")  # up to a block's number: bert.encoder.layer.3.


def new_layers(model: PreTrainedModel, missing: Iterable[str]) -> list[str]:
    """The layers that a model's file lacks, and that are learnt whole: its classifier, and the pooler of encoders that
    lost theirs. `missing`: the weights that `from_pretrained(..., output_loading_info=True)` did not find.

    Returns the names of layers as **peft** has them under `modules_to_save`, sorted.
    """
    parameters = {name for name, _ in model.named_parameters()}
    return sorted({_within(model, name).partition(".")[0] for name in missing if name in parameters})


def adapted_layers(model: PreTrainedModel, new: Iterable[str]) -> list[str]:
    """Every linear layer but those in `new` ones, by what its name is in each block (`attention.self.query`).

    Returns the names as **peft** has them under `target_modules`, sorted.
    """
    left_whole = set(new)
    names = set()
    for name, module in model.named_modules():
        within = _within(model, name)
        if isinstance(module, nn.Linear) and within.partition(".")[0] not in left_whole:
            names.add(_BLOCK.sub("", within))
    return sorted(names)


def _within(model: PreTrainedModel, name: str) -> str:
    """The name of a weight or layer without the one of the encoder in the classifier (`bert.`)."""
    return name.removeprefix(f"{model.base_model_prefix}.")
