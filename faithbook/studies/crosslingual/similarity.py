"""How alike models see texts and their translations: representations, and batches that are found among others.

Shape letters: N texts, D hidden size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from faithbook.models.encoders import load_encoder
from faithbook.models.load import load_model
from faithlib.metrics import cka_accuracy

Text = str | tuple[str, str]
"""A text, or the two of a pair."""


def models_of(beside: Mapping[str, str], tuned: Mapping[str, str]) -> Iterator[tuple[str, Any, Any]]:
    """Name, network and tokenizer of every model that is compared, one loaded at a time.

    `beside`: encoders, whose names end in ", frozen", and fine-tuned classifiers; `tuned`: classifiers, to whose names
    ", fine-tuned" is added.
    """
    models = dict(beside)
    for name, model in tuned.items():
        models[f"{name}, fine-tuned"] = model
    for name, model in models.items():
        if name.endswith(", frozen"):
            yield name, *load_encoder(model)
        else:
            classifier = load_model(model)
            yield name, classifier.model.base_model, classifier.tokenizer


def representations(network: Any, tokenizer: Any, texts: Sequence[Text], batch: int = 64) -> Tensor:
    """The last hidden state of the first position, [N, D]; texts of like length go together."""
    device = next(network.parameters()).device
    order = sorted(range(len(texts)), key=lambda i: _length(texts[i]))
    states = torch.empty(len(texts), network.config.hidden_size)
    for start in range(0, len(texts), batch):
        rows = order[start : start + batch]
        part = tokenizer([texts[i] for i in rows], padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            states[rows] = network(**part.to(device)).last_hidden_state[:, 0].float().cpu()
    return states


def _length(text: Text) -> int:
    """How many characters a text has, or both texts of a pair."""
    if isinstance(text, str):
        return len(text)
    first, second = text
    return len(first) + len(second)


def found_translations(states: Mapping[str, Tensor], draws: int) -> pd.DataFrame:
    """Whether each batch of English texts is found among the batches of each language (`cka_accuracy`): columns
    language, draw (the number of a random order of the texts), batch and hit (0 or 1).

    `states`: representations [N, D] by language, English ("en") among them.
    """
    rows = []
    for language, of_language in states.items():
        if language == "en":
            continue
        for draw in range(draws):
            for batch, hit in enumerate(cka_accuracy(states["en"], of_language, seed=draw)):
                rows.append({"language": language, "draw": draw, "batch": batch, "hit": float(hit)})
    return pd.DataFrame(rows)
