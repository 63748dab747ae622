"""Models by one name: `local:text/<task>-seed<k>` (an adapter of this repository), `hf:<id or folder>`, `timm:<name or
folder>`.

Weights are safetensors, nothing is unpickled, and no code that comes with a model is run.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import timm
import torch
import transformers
from huggingface_hub import hf_hub_download
from peft import PeftModel
from safetensors import SafetensorError

from faithbook import hub
from faithbook.access import require_model
from faithbook.models.cards import WHAT_TO_DO, local_checkpoints, read_json
from faithbook.models.encoders import encoder_folder, no_load_report, word_embeddings
from faithbook.models.lstm import LstmClassifier
from faithbook.models.weights import check_weights, fill
from faithbook.paths import checkpoints_dir, root
from faithbook.sources.datasets import Dataset
from faithbook.text import some
from faithlib.errors import DataError, InputError, ModelError, unknown

if TYPE_CHECKING:
    from faithbook.sources.images import Pictures


@dataclass(frozen=True)
class Classifier:
    """A model in `eval()` mode with what goes with it; `card` holds what its training notebook measured."""

    model: Any
    tokenizer: Any
    label_names: tuple[str, ...]
    spec: str
    card: dict[str, Any] = field(default_factory=dict)

    def window(self, data: Dataset) -> int:
        """How many wordpieces of each text this model reads: the data's limit, or the shorter one it was trained at."""
        return min(data.max_length, int(self.card.get("max_length", data.max_length)))

    def labels_of(self, data: Dataset, *, names: Sequence[str] | None = None) -> tuple[int, ...]:
        """The labels of `data` as this model counts classes: those whose names are equal, whatever their case.

        `names`: what the model's classes are, in its own order, for a model that does not say ("LABEL_0"). Raises
        InputError where the model lacks a class of the data, or `names` has another number of classes.
        """
        own = [name.casefold() for name in names or self.label_names]
        if len(own) != len(self.label_names) or not {name.casefold() for name in data.label_names} <= set(own):
            raise InputError(
                f"{self.spec}: {len(self.label_names)} outputs, classes {', '.join(names or self.label_names)}; "
                f"{data.name} has {', '.join(data.label_names)}: use a model of this task, or say what its classes are"
            )
        return tuple(own.index(data.label_names[label].casefold()) for label in data.labels)

    def check_classes(self, data: Dataset | Pictures) -> None:
        """InputError where this model counts its classes otherwise than `data` does. One whose classes are called by
        their numbers does not say what they are, and passes."""
        own, theirs = ([name.casefold() for name in names] for names in (self.label_names, data.label_names))
        if own not in (theirs, [str(i) for i in range(len(own))]):
            raise InputError(
                f"{self.spec} has the classes {some(self.label_names)}; {data.name} has {some(data.label_names)}, in "
                "this order: use a model that was trained on these classes, counted as the data set counts them"
            )


def load_model(spec: str, *, attention: str = "sdpa") -> Classifier:
    """Load a classifier.

    - `local:text/movie-seed0`: LoRA adapter in data/checkpoints over its fetched encoder, merged into plain weights; or
      an LSTM over the encoder's word embeddings (`local:text/movie-lstm-seed0`), which has no attention; or a small
      Vision Transformer (`local:vision/fashion-base-seed0`).
    - `hf:<hub id or folder>`: any Hugging Face sequence classifier with safetensors weights, at the commit of the table
      `hub` in notebooks/profiles.yaml, else the newest, which during a build is the one in the hub's cache.
    - `timm:<name or folder>`: a timm VisionTransformer with its pretrained weights (`timm:<name>?random`: random ones).
    `attention` is "sdpa" (fast) or "eager" (gives attention maps). From then on this process runs convolutions and
    LSTMs of float32 in the whole of it, on a GPU too.

    Raises UnknownNameError for an unknown kind or local checkpoint, DataError for weights that are missing or not
    safetensors, ModelError for an `attention` the model does not have.
    """
    kind, _, name = spec.partition(":")
    if kind not in _LOADERS or not name:
        raise unknown("model", spec, [f"{known}:…" for known in _LOADERS])
    require_model(spec)
    # Torch's default for them there is TF32, which has ten bits.
    torch.backends.cudnn.allow_tf32 = False
    classifier = _LOADERS[kind](name, attention)
    classifier.model.eval()
    return classifier


def _local(name: str, attention: str) -> Classifier:
    folder = checkpoints_dir() / name
    if not (folder / "card.json").exists():
        raise unknown("local model", name, local_checkpoints())
    card = read_json(folder / "card.json")
    if (folder / "config.json").exists():  # in the layout of timm, which names an architecture, or of the hub
        of_timm = "architecture" in read_json(folder / "config.json")
        whole = (_timm if of_timm else _hf)(str(folder), attention)
        return replace(whole, spec=f"local:{name}", card=card)
    encoder = encoder_folder(card["encoder"])
    labels = tuple(card["label_names"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(encoder), local_files_only=True)
    if "hidden" in card:
        model: Any = _lstm(folder, card)
    else:
        model = merged(_classifier(str(encoder), attention, num_labels=len(labels)), folder, card["encoder"])
    return Classifier(model, tokenizer, labels, f"local:{name}", card)


def merged(base: Any, folder: Path, of: str) -> Any:
    """A model with an adapter put into its weights; DataError for one that is damaged or of another model than `of`."""
    check_weights(folder)
    read_json(folder / "adapter_config.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers for a name that is about to change
        warnings.filterwarnings("error", "Found missing adapter keys")  # their layers would stay at random
        try:
            return PeftModel.from_pretrained(base, str(folder)).float().merge_and_unload()
        except (OSError, ValueError, TypeError, KeyError, RuntimeError, UserWarning) as error:
            raise DataError(f"{folder} does not hold an adapter of {of} ({error}): {WHAT_TO_DO}") from error


def _lstm(folder: Path, card: dict[str, Any]) -> LstmClassifier:
    model = LstmClassifier(word_embeddings(card["encoder"]), hidden=card["hidden"], classes=len(card["label_names"]))
    fill(model, folder / "model.safetensors")
    return model


def _hf(name: str, attention: str) -> Classifier:
    # Notebooks run in folders of their own, so a relative folder may be meant from the repository's root.
    folder = next((place for place in (Path(name), root() / name, hub.converted_folder(name)) if place.is_dir()), None)
    revision = None if folder else hub.revision_of(f"hf:{name}")
    if folder and not list(folder.glob("*.safetensors")):
        raise DataError(f"{folder} has no *.safetensors file: pickled weights are not loaded; convert them first")
    if folder:
        check_weights(folder)
    place = str(folder or name)
    model = _classifier(place, attention, revision=revision)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, revision=revision)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot load the tokenizer of {place}: {error}") from error
    labels = tuple(model.config.id2label[i] for i in range(model.config.num_labels))
    return Classifier(model, tokenizer, labels, f"hf:{name}")


def _classifier(name: str, attention: str, **options: Any) -> Any:
    try:
        # Left to itself, transformers takes SDPA, or eager attention where an architecture has no other (MPNet).
        asked = None if attention == "sdpa" else attention
        with no_load_report():
            return transformers.AutoModelForSequenceClassification.from_pretrained(
                name, attn_implementation=asked, use_safetensors=True, dtype=torch.float32, **options
            )
    except (OSError, ValueError, SafetensorError) as error:
        raise DataError(f"cannot load {name}: {error}; {hub.HOW_TO_BRING}") from error


def _timm(name: str, attention: str) -> Classifier:
    name, _, how = name.partition("?")
    # Notebooks run in folders of their own, so a relative folder may be meant from the repository's root.
    folder = next((place for place in (Path(name), root() / name) if place.is_dir()), None)
    if folder:
        model, labels = _timm_folder(folder)
    elif timm.is_model(name):
        model, labels = timm.create_model(name) if how == "random" else _timm_pretrained(name), ()
    else:
        raise unknown("timm model", name, timm.list_models("*vit*_patch*"))
    if attention == "eager":
        for module in model.modules():
            if hasattr(module, "fused_attn"):
                module.fused_attn = False
    elif attention != "sdpa":
        raise ModelError(f"attention {attention!r}: expected 'sdpa' or 'eager'")
    return Classifier(model, None, labels or tuple(str(i) for i in range(model.num_classes)), f"timm:{name}")


def _timm_pretrained(name: str) -> Any:
    """A model with the safetensors weights of its hub entry; left to itself, timm falls back to pickled ones."""
    entry = timm.get_pretrained_cfg(name)
    if entry is None or not entry.hf_hub_id:
        raise DataError(f"timm:{name} has no pretrained weights on the hub: take timm:{name}?random, or a folder")
    try:
        weights = hf_hub_download(entry.hf_hub_id, "model.safetensors", revision=hub.revision_of(f"timm:{name}"))
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot load model.safetensors of {entry.hf_hub_id}, which timm:{name} needs (pickled weights are not "
            f"loaded): {error}; {hub.HOW_TO_BRING}"
        ) from error
    return timm.create_model(name, pretrained=True, pretrained_cfg_overlay={"file": weights, "custom_load": False})


def _timm_folder(folder: Path) -> tuple[Any, tuple[str, ...]]:
    """A model in timm's layout (`config.json`, `model.safetensors`) and its label names, if it has any."""
    weights = folder / "model.safetensors"
    if not weights.exists():
        raise DataError(f"{weights} is missing: pickled weights are not loaded")
    config = read_json(folder / "config.json")
    if "architecture" not in config:
        raise DataError(f"{folder / 'config.json'} names no architecture of timm: is it a text model, hf:{folder}?")
    model = timm.create_model(
        config["architecture"],
        num_classes=config.get("num_classes", 1000),
        pretrained_cfg_overlay=config.get("pretrained_cfg", {}),
        **config.get("model_args", {}),
    )
    fill(model, weights)
    return model, tuple(config.get("label_names", ()))


_LOADERS = {"local": _local, "hf": _hf, "timm": _timm}
