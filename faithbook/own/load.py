"""Your own model with your own texts or images: loaded, checked, and refused where they cannot work.

    classifier = open_model("my-model/")  # a folder, or a name that `load_model` knows
    brought = load_texts("reviews.csv", classifier, n=20)  # or load_folder("photos/", classifier, n=20)
    table = evaluate(classifier.model, brought.inputs, gold=brought.gold)

**Texts** are a CSV file in UTF-8 with a header and these columns, all but the first optional:

- `text`;
- `text_pair`: what is read after it, as a hypothesis after its premise (then for every text);
- `label`: a name of the model's classes;
- `gold`: what people marked, as characters `start:end`, counted from 0 through text, a blank and pair, `end` not
  included. Several have blanks between ("0:4 10:15"), an empty cell marks nothing. A word is marked where a mark
  touches it.

**Images** are a folder with one sub-folder a class, named as the model names it; or with plain files and, optionally,
a `labels.csv` with the columns file and label. Hidden files are passed over.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import timm.data
import torch
from PIL import Image, ImageOps
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor

from faithbook.models.load import Classifier, load_model
from faithbook.paths import root
from faithbook.sources.images import Pictures, as_inputs
from faithbook.sources.splits import sampled
from faithbook.text import some
from faithlib.backends import TextBackend
from faithlib.errors import DataError, FaithlibError, InputError, ModelError, UnknownNameError
from faithlib.evaluation.files import read_table
from faithlib.inputs import Inputs, TextInputs
from faithlib.user_inputs import most_tokens_of

LABELS = "labels.csv"
_KINDS = ("local", "hf", "timm")
_MOST_TOKENS = 512  # as TextInputs


@dataclass(frozen=True)
class OwnData:
    """What somebody brought, checked, as the model reads it.

    - `ids`: the rows or files; `inputs`: their texts or images; `texts`: the texts as they came;
    - `labels`: classes as the model counts them, None where none were given; `gold`: bool [B, F], or None;
    - `total`: inputs there were before `n` was taken; `unused`: columns that nobody reads.
    """

    ids: tuple[str, ...]
    inputs: Inputs
    labels: tuple[int, ...] | None
    gold: Tensor | None
    total: int
    texts: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


# ---------------------------------------------------------------------------------------------------------- the model
def open_model(name: str, *, attention: str = "sdpa") -> Classifier:
    """`load_model` for a name that it knows, or for a plain folder of a Hugging Face or a timm model, checked.

    Raises InputError for a folder that does not exist and DataError for files that cannot be read as a model. Raises
    ModelError for a model that does not classify into single labels, or whose tokenizer does not say where words are.
    """
    try:
        reference = name
        if name.partition(":")[0] not in _KINDS:  # a plain folder is of the kind that its config.json is written for
            config = _place(name) / "config.json"
            if not config.parent.is_dir():
                raise InputError(
                    f"model {name!r}: there is no such folder; give one, or local:<name>, hf:<hub id>, timm:<name>"
                )
            if not config.is_file():
                raise DataError(f"{config} is missing: expected a folder as save_pretrained or timm writes it")
            settings = json.loads(config.read_text(encoding="utf-8"))
            kind = "timm" if "architecture" in settings else "hf"
            reference = f"{kind}:{config.parent}"
        classifier = load_model(reference, attention=attention)
    except FaithlibError:
        raise
    except Exception as error:  # several libraries read the files, each with errors of its own
        raise DataError(f"cannot load {name}: {type(error).__name__}: {error}") from error
    _check_classifier(classifier)
    return classifier


def _check_classifier(classifier: Classifier) -> None:
    config, tokenizer, spec = getattr(classifier.model, "config", None), classifier.tokenizer, classifier.spec
    if len(classifier.label_names) < 2:
        raise ModelError(
            f"{spec} has {len(classifier.label_names)} output: expected a classifier of two classes or more"
        )
    if getattr(config, "problem_type", None) == "multi_label_classification":
        raise ModelError(f"{spec} gives several labels at once: expected a classifier whose probabilities sum to 1")
    made_for = getattr(config, "architectures", None) or ()
    if spec.startswith("hf:") and not any(name.endswith("ForSequenceClassification") for name in made_for):
        raise ModelError(
            f"{spec} holds the weights of {', '.join(made_for) or 'no named architecture'} without those of a "
            "classifier on top and would answer at random: expected a fine-tuned ...ForSequenceClassification"
        )
    if tokenizer is not None and (not tokenizer.is_fast or tokenizer.pad_token_id is None):
        lacks = "is no fast one, so that it cannot say where words are" if not tokenizer.is_fast else "has no padding"
        raise ModelError(f"the tokenizer of {spec} {lacks}: expected a fast tokenizer with a padding token")


# ---------------------------------------------------------------------------------------------------------- the texts
def load_texts(path: str | Path, classifier: Classifier, *, n: int | None = None, seed: int = 0) -> OwnData:
    """The texts of a CSV file (columns above) with words as features, or a fixed random sample of `n` of them.

    A larger `n` keeps the texts of a smaller one with the same `seed`. Labels are compared with the model's names
    whatever their case; of a model that only says LABEL_0, LABEL_1 ..., numbers will do.

    Raises ModelError for a model that reads no texts, DataError for a file that is missing, empty or no such table,
    and UnknownNameError for labels that the model lacks. Raises InputError for a text that is empty or longer than
    the model reads, for marks in another form, and for an `n` below 1.
    """
    if classifier.tokenizer is None:
        raise ModelError(
            f"{classifier.spec} sees images and reads no texts: give a text classifier, or use load_folder"
        )
    table = read_table(_place(path))
    table.index = pd.Index([f"row {number}" for number in range(1, len(table) + 1)])
    ids = list(table.index)
    parts = [name for name in ("text", "text_pair") if name in table]
    for part in parts:
        empty = list(table.index[table[part].str.strip() == ""])
        if empty:
            raise InputError(f"{path}: no {part} in {some(empty)}: fill the cell or delete the row")
    labels = _classes(ids, list(table.get("label", ())), classifier)
    chosen = _sample(ids, n, seed)
    taken = table.iloc[chosen]
    read: dict[str, Any] = {"max_length": _most_tokens(classifier), "unit": "word"}
    read["pairs"] = list(taken["text_pair"]) if "text_pair" in table else None
    inputs = TextInputs.from_texts(list(taken["text"]), classifier.tokenizer, **read)
    TextBackend(classifier.model, inputs)  # says what is wrong with a model whose embeddings cannot be reached
    if bool(inputs.truncated.any()):
        long = taken[inputs.truncated.numpy()]
        tokens = classifier.tokenizer(*(list(long[part]) for part in parts), verbose=False)["input_ids"]
        named = [f"{name} ({len(row)} tokens)" for name, row in zip(long.index, tokens, strict=True)]
        raise InputError(
            f"longer than the {read['max_length']} tokens that {classifier.spec} reads: {some(named)}. What is cut off "
            "cannot be explained: shorten these texts or split them"
        )
    texts = taken[parts].agg(" ".join, axis=1)
    return OwnData(
        ids=tuple(taken.index),
        inputs=inputs,
        labels=labels and tuple(labels[i] for i in chosen),
        gold=_gold(taken["gold"], texts, inputs) if "gold" in table and taken["gold"].str.strip().any() else None,
        total=len(table),
        texts=tuple(texts),
        unused=tuple(name for name in table.columns if name not in (*parts, "label", "gold")),
    )


def _most_tokens(classifier: Classifier) -> int:
    """Tokens that model and tokenizer take, specials included."""
    most = [_MOST_TOKENS, classifier.tokenizer.model_max_length, most_tokens_of(classifier.model)]
    return min(limit for limit in most if limit)


def _gold(cells: pd.Series[str], texts: pd.Series[str], inputs: TextInputs) -> Tensor:
    """Which words the marks touch, bool [B, F]."""
    gold = torch.zeros_like(inputs.feature_mask)
    for b, (name, cell) in enumerate(cells.items()):
        text = texts.iloc[b]
        for mark in cell.split():
            form = re.fullmatch(r"(\d+):(\d+)", mark)
            start, end = map(int, form.groups()) if form else (0, 0)
            if not start < end <= len(text):
                raise InputError(
                    f"{name}: the mark {mark!r} in `gold` is no start:end within the {len(text)} characters of "
                    f"{text!r}: expected for example '0:4 10:15'"
                )
            touched = torch.tensor([start < stop and begin < end for begin, stop in inputs.spans[b]])
            if not touched.any():
                raise InputError(f"{name}: the mark {mark!r} covers {text[start:end]!r}, no word of {text!r}")
            gold[b, : len(touched)] |= touched
    return gold


# ------------------------------------------------------------------------------------------------------- the images
def load_folder(
    path: str | Path, classifier: Classifier, *, n: int | None = None, seed: int = 0, patch: int = 0
) -> OwnData:
    """The images of a folder (layout above) with square patches as features, or a fixed random sample of `n` of them.

    Each is turned as its camera says, then resized, cropped and normalised as the model's timm configuration says.
    `patch`: how many pixels a feature is wide after that; 0 takes the model's own patches. `n`, `seed` and labels as in
    `load_texts`.

    Raises ModelError for a model that is not a timm VisionTransformer, and DataError for a folder that is missing,
    empty or laid out differently and for files that are not images. Raises UnknownNameError for labels that the model
    lacks, InputError for patches that do not fit.
    """
    model: Any = classifier.model
    if not isinstance(model, VisionTransformer):
        other = "reads texts: use load_texts" if classifier.tokenizer is not None else "is no timm VisionTransformer"
        raise ModelError(f"{classifier.spec}, a {type(model).__name__}, {other}; images need a timm VisionTransformer")
    width = _patch(model, patch)
    folder = _place(path)
    files = _files(folder)
    for file in files:
        _opened(folder / file)
    ids, labels = list(files), _classes(list(files), [label or "" for label in files.values()], classifier)
    chosen = _sample(ids, n, seed)
    names, classes = tuple(ids[i] for i in chosen), labels and tuple(labels[i] for i in chosen)
    # As arrays, because what is opened from a file elsewhere always has three colours.
    images = [np.asarray(_opened(folder / name, "L" if model.in_chans == 1 else "RGB")) for name in names]
    pictures = Pictures(folder.name, "own", images, classes or (), names, classifier.label_names)
    return OwnData(names, as_inputs(pictures, model, patch=width), classes, None, len(ids))


def _patch(model: Any, patch: int) -> int:
    """How many pixels a feature is wide."""
    sides = timm.data.resolve_model_data_config(model)["input_size"][1:]
    width = patch or max(model.patch_embed.feat_ratio(as_scalar=False))
    if width < 1 or any(side % width for side in sides):
        common = math.gcd(*sides)
        fitting = [number for number in range(1, common + 1) if common % number == 0]
        raise InputError(
            f"patch {patch}: images of {' x '.join(map(str, sides))} pixels, as this model sees them, cannot be cut "
            f"so; expected one of {', '.join(map(str, fitting))}, or 0 for the model's own patches"
        )
    return width


def _files(folder: Path) -> dict[str, str | None]:
    """The images of a folder by their place in it, with the label of each, or None for all; a list of labels must name
    each of them once."""
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder; expected one with images")
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    classes = [entry for entry in entries if entry.is_dir()]
    plain = [entry.name for entry in entries if not entry.is_dir()]
    if classes and plain:
        raise DataError(
            f"{folder} has folders ({classes[0].name}) beside files ({plain[0]}): expected one kind of the two"
        )
    inside = [file for place in classes for file in sorted(place.iterdir()) if not file.name.startswith(".")]
    label_of: dict[str, str | None] = dict.fromkeys(name for name in plain if name != LABELS)
    label_of |= {f"{file.parent.name}/{file.name}": file.parent.name for file in inside}
    if not label_of:
        raise DataError(f"{folder} has no images: expected files, or one sub-folder of files for each class")
    if LABELS not in plain:
        return label_of
    rows = read_table(folder / LABELS, ("file", "label"))
    for fault, files in (
        ("names files that are not there", set(rows["file"]) - set(label_of)),
        ("leaves out", set(label_of) - set(rows["file"])),
        ("names more than once", set(rows["file"][rows["file"].duplicated()])),
    ):
        if files:
            raise DataError(f"{folder / LABELS} {fault}: {some(sorted(files))}; expected one row for each image")
    return dict(zip(rows["file"], rows["label"], strict=True))


def _opened(file: Path, mode: str | None = None) -> Image.Image:
    """An image, looked into only; with a `mode`, decoded and turned upright."""
    try:
        with Image.open(file) as picture:
            return picture if mode is None else ImageOps.exif_transpose(picture).convert(mode)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(
            f"{file} cannot be read as an image ({error}): take it out of the folder, or save it as PNG or JPEG"
        ) from error


# ---------------------------------------------------------------------------------------------------- what both share
def _place(path: str | Path) -> Path:
    """A path as given, or from the repository's root: notebooks run in folders of their own."""
    return next((place for place in (Path(path), root() / path) if place.exists()), Path(path))


def _classes(ids: Sequence[str], labels: Sequence[str], classifier: Classifier) -> tuple[int, ...] | None:
    """Labels as the model counts its classes; None where there are none."""
    if not any(map(str.strip, labels)):
        return None
    number_of = {name.casefold(): i for i, name in enumerate(classifier.label_names)}
    if all(re.fullmatch(r"LABEL_\d+", name) for name in classifier.label_names):
        number_of |= {str(i): i for i in range(len(classifier.label_names))}
    folded = [label.strip().casefold() for label in labels]
    empty = [name for name, label in zip(ids, folded, strict=True) if not label]
    if empty:
        raise InputError(f"no label for {some(empty)}: give every input one, or none at all")
    strange = [label for label in dict.fromkeys(folded) if label not in number_of]
    if strange:
        named = [f"{label!r} ({ids[folded.index(label)]})" for label in strange]
        raise UnknownNameError(
            f"labels that {classifier.spec} does not know: {some(named)}. Its classes are "
            f"{some(classifier.label_names)}: use these names, or leave the labels out"
        )
    return tuple(number_of[label] for label in folded)


def _sample(ids: Sequence[str], n: int | None, seed: int) -> list[int]:
    """The rows taken, in order: all, or `n` that a hash picks."""
    return list(range(len(ids))) if n is None else sorted(sampled(ids, n, seed, what="input"))
