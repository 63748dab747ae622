"""Repositories of the hub as they lie there, with tiny models of the right architecture and random weights.

    make("bert-base-uncased", folder, characters)      # config, tokenizer, weights, as its owner uploaded them

A name tells the family (`FAMILIES`) and how many classes its head has (`HEADS`). What was uploaded as pickles alone
is pickled here too.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
import timm
import tokenizers
import torch
import transformers
from narrow.sitecustomize import NARROW

SMALL = {"hidden_size": 24, "num_attention_heads": 4, "intermediate_size": 48, "initializer_range": 0.6}
"""Sizes; and weights so large, those of new heads too, that one text is answered otherwise than another."""
_WIDTHS = 600
_SPREAD = 0.3


class Family(NamedTuple):
    """What a repository holds: `kind` of model and tokenizer, layers, whether capitals count, whether its weights are a
    pickle alone; `plain`: layers add so little that the state of a word is its own, and few words of a translation are
    near it."""

    kind: str
    layers: int = 2
    cased: bool = False
    pickled: bool = False
    plain: bool = False


FAMILIES: tuple[tuple[str, Family], ...] = (
    ("timm/", Family("timm")),
    ("xlm-roberta", Family("xlm-roberta", layers=12)),
    ("textattack/roberta", Family("roberta", pickled=True)),
    ("VictorSanh/roberta", Family("roberta", pickled=True)),
    ("roberta", Family("roberta")),
    ("awesome-align", Family("bert", layers=12, cased=True, pickled=True, plain=True)),
    ("multilingual-cased", Family("bert", layers=12, cased=True)),
    ("turkish", Family("bert", layers=12, cased=True)),
    ("scibert", Family("bert", pickled=True)),
    ("textattack/", Family("bert", layers=12, pickled=True)),
    ("bert", Family("bert")),
)
"""The first whose name is part of a repository's."""
HEADS = (("snli", 3), ("mnli", 3), ("sst", 2), ("yelp", 2), ("imdb", 2))


def family(name: str) -> Family:
    """What a repository is; who adds a model to the table of profiles says it here."""
    found = next((kin for part, kin in FAMILIES if part.casefold() in name.casefold()), None)
    assert found is not None, f"tests/replica_models.py does not know what {name} is: give FAMILIES its family"
    return found


def make(name: str, folder: Path, said: Iterable[str]) -> None:
    """Write the files of a repository; `said`: texts whose characters and frequent words its tokenizer has to know."""
    folder.mkdir(parents=True)
    torch.manual_seed(sum(map(ord, name)))
    kin = family(name)
    if kin.kind == "timm":
        _timm(name.removeprefix("timm/"), folder)
        return
    tokenizer = _TOKENIZERS[kin.kind](list(said), cased=kin.cased)
    tokenizer.save_pretrained(folder)
    classes = next((n for part, n in HEADS if part in name.casefold()), 0)
    model = _model(kin, len(tokenizer), classes)
    model.save_pretrained(folder)
    weights = folder / "model.safetensors"
    torch.save(safetensors.torch.load_file(weights), folder / "pytorch_model.bin")
    if kin.pickled:
        weights.unlink()


def put_in_cache(cache: Path, name: str, files: Path, commit: str, *, newest: bool = True) -> None:
    """Let the hub's cache hold the files of a repository at a commit, as a download of it leaves them: of the newest
    the cache knows that it is, so that it is read where no commit is asked for."""
    folder = cache / f"models--{name.replace('/', '--')}"
    shutil.copytree(files, folder / "snapshots" / commit)
    if newest:
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(commit)


# ----------------------------------------------------------------------------------------------------------- tokenizers
def _frequent(said: list[str], *, lower: bool) -> tuple[list[str], list[str]]:
    """All characters of the texts, with those of plain English, and their most frequent words."""
    texts = [text.lower() if lower else text for text in said]
    characters = sorted({*map(chr, range(33, 127)), *(c for text in texts for c in text if not c.isspace())})
    words = Counter(word for text in texts for word in text.split() if len(word) > 1)
    return characters, [word for word, _ in words.most_common(_WIDTHS)]


def _wordpiece(said: list[str], *, cased: bool) -> Any:
    characters, words = _frequent(said, lower=not cased)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *(f"##{c}" for c in characters), *words]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    return transformers.BertTokenizer(vocab=vocabulary, do_lower_case=not cased, model_max_length=512)


def _bytes(said: list[str], *, cased: bool) -> Any:
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    backend = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    backend.train_from_iterator(said, vocab_size=len(letters) + 400, show_progress=False, special_tokens=special)
    told = json.loads(backend.to_str())["model"]
    merges = [tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ")) for pair in told["merges"]]
    return transformers.RobertaTokenizer(vocab=told["vocab"], merges=merges, model_max_length=512)


def _unigram(said: list[str], *, cased: bool) -> Any:
    characters, words = _frequent(said, lower=False)
    scored = [(piece, 0.0) for piece in ("<s>", "<pad>", "</s>", "<unk>")]
    scored += [(f"▁{word}", -5.0) for word in words]
    scored += [(piece, -9.0) for c in characters for piece in (c, f"▁{c}")] + [("▁", -9.0)]
    pieces = list(dict(reversed(scored)).items())[::-1]
    return transformers.XLMRobertaTokenizer(vocab=[*pieces, ("<mask>", 0.0)], model_max_length=512)


_TOKENIZERS = {"bert": _wordpiece, "roberta": _bytes, "xlm-roberta": _unigram}


# --------------------------------------------------------------------------------------------------------------- models
def _model(kin: Family, pieces: int, classes: int) -> Any:
    """A classifier of so many classes, or what was pretrained: a language model."""
    size = {**SMALL, "vocab_size": pieces, "num_hidden_layers": kin.layers}
    size["max_position_embeddings"] = 512 if kin.kind == "bert" else 514
    places = (
        {} if kin.kind == "bert" else {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1}
    )
    made = {"bert": "Bert", "roberta": "Roberta", "xlm-roberta": "XLMRoberta"}[kin.kind]
    heads = {"num_labels": classes} if classes else {}
    config = getattr(transformers, f"{made}Config")(**size, **places, **heads)
    model = getattr(transformers, f"{made}For{'SequenceClassification' if classes else 'MaskedLM'}")(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "LayerNorm" not in name and "layer_norm" not in name:
                parameter.normal_(0, _SPREAD / 100 if kin.plain and ".layer." in name else _SPREAD)
    return model.eval()


def _timm(name: str, folder: Path) -> None:
    model = timm.create_model(name, pretrained=False, **NARROW)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, _SPREAD)
    safetensors.torch.save_file(
        {k: v.contiguous() for k, v in model.state_dict().items()}, folder / "model.safetensors"
    )
    (folder / "config.json").write_text(json.dumps({"architecture": name.partition(".")[0]}))
