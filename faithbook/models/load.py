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
import timm.data
import torch
import transformers
from huggingface_hub import hf_hub_download
from peft import PeftModel

from faithbook import hub
from faithbook.access import require_model
from faithbook.artifacts import LOCAL, resolve
from faithbook.models import lite0, vit_s14
from faithbook.models.cards import WHAT_TO_DO, local_checkpoints, read_json
from faithbook.models.encoders import encoder_folder, with_tokenizer, word_embeddings
from faithbook.models.lstm import LstmClassifier
from faithbook.models.weights import check_weights, fill
from faithbook.sources.datasets import Dataset
from faithbook.text import some
from faithlib.errors import DataError, InputError, ModelError, unknown

if TYPE_CHECKING:
    from faithbook.sources.images import Pictures

HEAD = "head.safetensors"
"""The weights of a classifier whose encoder was left as it is."""


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
        classes = [name.casefold() for name in names or self.label_names]
        if len(classes) != len(self.label_names) or not {name.casefold() for name in data.label_names} <= set(classes):
            raise InputError(
                f"{self.spec}: {len(self.label_names)} outputs, classes {', '.join(names or self.label_names)}; "
                f"{data.name} has {', '.join(data.label_names)}: use a model of this task, or say what its classes are"
            )
        return tuple(classes.index(data.label_names[label].casefold()) for label in data.labels)

    def check_classes(self, data: Dataset | Pictures) -> None:
        """InputError where this model counts its classes otherwise than `data` does. One whose classes are called by
        their numbers does not say what they are, and passes."""
        classes = [name.casefold() for name in self.label_names]
        theirs = [name.casefold() for name in data.label_names]
        if classes not in (theirs, [str(i) for i in range(len(classes))]):
            raise InputError(
                f"{self.spec} has the classes {some(self.label_names)}; {data.name} has {some(data.label_names)}, in "
                "this order: use a model that was trained on these classes, counted as the data set counts them"
            )


def load_model(spec: str, *, attention: str = "sdpa") -> Classifier:
    """Load a classifier.

    - `local:text/movie-seed0`: LoRA adapter in data/checkpoints over its fetched encoder, merged into plain weights; or
      an LSTM over the encoder's word embeddings (`local:text/movie-lstm-seed0`), which has no attention; or a small
      Vision Transformer (`local:vision/fashion-base-seed0`); or an adapter over ViT-S/14, and EfficientNet-Lite0, for
      photographs (`local:photo/cifar10-lora-seed0`, `local:photo/imagenet-lite0`).
    - `hf:<hub id or folder>`: any Hugging Face sequence classifier with safetensors weights, at the commit of the table
      `hub` in data/artifacts.toml, else the newest, which during a build is the one in the hub's cache.
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
    folder = resolve(f"{LOCAL}{name}").path
    if folder is None or not (folder / "card.json").exists():
        raise unknown("local model", name, local_checkpoints())
    card = read_json(folder / "card.json")
    if (folder / "config.json").exists():  # of ours, in the layout of timm, which names an architecture, or of the hub
        config = read_json(folder / "config.json")
        if "adapter_of" in config:
            return Classifier(*_of_photographs(folder, config), spec=f"local:{name}", card=card)
        whole = (_timm if "architecture" in config else _hf)(str(folder), attention)
        return replace(whole, spec=f"local:{name}", card=card)
    encoder = encoder_folder(card["encoder"])
    labels = tuple(card["label_names"])
    if "hidden" in card:
        model: Any = LstmClassifier(word_embeddings(card["encoder"]), hidden=card["hidden"], classes=len(labels))
        fill(model, folder / "model.safetensors")
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(encoder), local_files_only=True)
    else:
        model, tokenizer = _classifier(str(encoder), attention, num_labels=len(labels))
        model = _merged(model, folder, card["encoder"])
    return Classifier(model, tokenizer, labels, f"local:{name}", card)


def _of_photographs(folder: Path, config: dict[str, Any]) -> tuple[Any, None, tuple[str, ...]]:
    """A model, no tokenizer, and the names of its classes: an adapter of **peft** over ViT-S/14 with the head in it, or
    `HEAD` alone where the encoder was left as it is; of `lite0`, which was trained elsewhere, there are no weights."""
    if config["adapter_of"] == lite0.NAME:
        names = timm.data.ImageNetInfo()
        return lite0.lite0(), None, tuple(names.index_to_description(i) for i in range(names.num_classes()))
    if config["adapter_of"] != vit_s14.NAME or not {"side", "label_names"} <= set(config):
        raise DataError(
            f"{folder / 'config.json'}: expected an adapter of {vit_s14.NAME} with its `side` and `label_names`, found "
            f"one of {config['adapter_of']} with {', '.join(config)}: {WHAT_TO_DO}"
        )
    model = vit_s14.vit_s14(side=config["side"], classes=len(config["label_names"]))
    if (folder / HEAD).exists():
        fill(model.head, folder / HEAD)
    else:
        model = _merged(model, folder, vit_s14.NAME)
    return model, None, tuple(config["label_names"])


def _merged(base: Any, folder: Path, of: str) -> Any:
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


def _hf(name: str, attention: str) -> Classifier:
    folder = hub.folder_of(f"hf:{name}")
    revision = None if folder else hub.revision_of(f"hf:{name}")
    if folder and not list(folder.glob("*.safetensors")):
        raise DataError(f"{folder} has no *.safetensors file: pickled weights are not loaded; convert them first")
    model, tokenizer = _classifier(str(folder or name), attention, revision=revision)
    labels = tuple(model.config.id2label[i] for i in range(model.config.num_labels))
    return Classifier(model, tokenizer, labels, f"hf:{name}")


def _classifier(place: str, attention: str, **options: Any) -> tuple[Any, Any]:
    # Left to itself, transformers takes SDPA, or eager attention where an architecture has no other (MPNet).
    asked = None if attention == "sdpa" else attention
    return with_tokenizer(transformers.AutoModelForSequenceClassification, place, attn_implementation=asked, **options)


def _timm(name: str, attention: str) -> Classifier:
    name, _, how = name.partition("?")
    where = resolve(f"timm:{name}")
    if where.kind == "folder" and where.path is not None:
        model, labels = _timm_folder(where.path)
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
