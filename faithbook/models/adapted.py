"""Classifiers of photographs beside all that `load_model` knows: adapters over ViT-S/14, and EfficientNet-Lite0.

A checkpoint holds `config.json` (whose classifier it is: `adapter_of`, `side`, `label_names`), `card.json`, and what
training has changed: an adapter of **peft** with the head in it, or `head.safetensors` alone where the encoder was left
as it is. Of `lite0`, which was trained elsewhere, it holds the first two alone. Apart from `faithbook.models.load`, so
that the studies of texts do not depend on it.
"""

from __future__ import annotations

import timm.data

from faithbook.access import require_model
from faithbook.models import lite0, vit_s14
from faithbook.models.cards import WHAT_TO_DO, read_json
from faithbook.models.load import Classifier, load_model, merged
from faithbook.models.weights import fill
from faithbook.paths import checkpoints_dir
from faithlib.errors import DataError

HEAD = "head.safetensors"


def load_classifier(spec: str, *, attention: str = "sdpa") -> Classifier:
    """A classifier by name: `local:photo/cifar10-lora-seed0`, merged into plain weights, or any name of `load_model`,
    which `attention` is for.

    Raises what `load_model` raises; DataError for a checkpoint that is damaged, lacks a weight or is of another model.
    """
    kind, _, name = spec.partition(":")
    folder = checkpoints_dir() / name
    config = read_json(folder / "config.json") if kind == "local" and (folder / "config.json").exists() else {}
    if "adapter_of" not in config:
        return load_model(spec, attention=attention)
    require_model(spec)
    if config["adapter_of"] == lite0.NAME:
        names = timm.data.ImageNetInfo()
        labels = tuple(names.index_to_description(i) for i in range(names.num_classes()))
        return Classifier(lite0.lite0(), None, labels, spec, read_json(folder / "card.json"))
    if config["adapter_of"] != vit_s14.NAME or not {"side", "label_names"} <= set(config):
        raise DataError(
            f"{folder / 'config.json'}: expected an adapter of {vit_s14.NAME} with its `side` and `label_names`, found "
            f"one of {config['adapter_of']} with {', '.join(config)}: {WHAT_TO_DO}"
        )
    labels = tuple(config["label_names"])
    model = vit_s14.vit_s14(side=config["side"], classes=len(labels))
    if (folder / HEAD).exists():
        fill(model.head, folder / HEAD)
    else:
        model = merged(model, folder, vit_s14.NAME)
    return Classifier(model.eval(), None, labels, spec, read_json(folder / "card.json"))
