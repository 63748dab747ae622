"""Models of the hub: which are read, at which commit, and what the hub would give if it were asked for them now.

The table `hub` of notebooks/profiles.yaml names commit and licence of each; where it has no commit, the first that was
found is kept to (`faithbook.engine.commits`). Weights are read as safetensors only; what a repository holds as pickles
alone has to be converted first (`faithbook.models.convert`).
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from faithbook import room
from faithbook.engine.commits import commit_of, settle
from faithbook.engine.profiles import HubModel, table
from faithbook.paths import raw_dir
from faithlib.errors import DataError

_SECONDS = 8.0
_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")  # weights, configuration, what tokenizers read
_WEIGHTS, _INDEX, _CONFIG = "model.safetensors", "model.safetensors.index.json", "config.json"
_TOKENIZERS = (  # the files of any of these
    ("tokenizer.json",),
    ("vocab.txt",),
    ("vocab.json", "merges.txt"),
    *((f"{name}.model",) for name in ("sentencepiece.bpe", "spiece", "spm", "tokenizer")),
)


@dataclass(frozen=True)
class Found:
    """What is known of a model: whether it lies in the cache, whether the hub would give it, and words about both;
    `bytes` of its weights, as far as they are known."""

    is_cached: bool
    can_be_had: bool
    note: str
    revision: str = ""
    licence: str = ""
    bytes: int = 0


def repository(name: str) -> str:
    """The hub id of a model as `load_model` names it.

    >>> repository("hf:roberta-base"), repository("timm:deit_base_patch16_224.fb_in1k?random")
    ('roberta-base', 'timm/deit_base_patch16_224.fb_in1k')
    """
    kind, _, rest = name.partition(":")
    return f"timm/{rest.partition('?')[0]}" if kind == "timm" else rest


def entry(name: str) -> HubModel:
    """What the table says of a model; nothing, where it does not know it."""
    return table().hub.get(repository(name), HubModel())


def revision_of(name: str) -> str | None:
    """The commit at which a model is read, of the table or settled on this machine; None: the newest."""
    return commit_of(repository(name))


def converted_folder(place: str) -> Path:
    """Where a model of the hub lies once its pickled weights have been converted."""
    return raw_dir() / "hub" / f"{place}@{revision_of(f'hf:{place}') or 'newest'}"


def cache_folder() -> Path:
    """Where downloaded models are kept."""
    from huggingface_hub.constants import HF_HUB_CACHE  # half a second to import

    return Path(HF_HUB_CACHE)


def look(name: str) -> Found:
    """What the cache holds of a model, or else what the hub says of it; nothing is downloaded."""
    place, wanted = repository(name), revision_of(name)
    if (converted := converted_folder(place) / _WEIGHTS).is_file():
        size = converted.stat().st_size
        return Found(True, True, f"converted, {converted.parent}", revision=wanted or "", bytes=size)
    if cached := _cached(place, wanted, reads=not name.startswith("timm:")):
        size = sum(file.stat().st_size for file in cached.glob("*.safetensors"))
        return Found(True, True, f"in the cache, {cached}", revision=cached.name, bytes=size)
    try:
        return _asked(place, wanted)
    except Exception as error:  # whatever the hub's client raises: offline, gated, unknown, refused
        return Found(False, False, f"not in the cache, and the hub does not give it: {told(error)}")


def look_and_settle(name: str) -> Found:
    """`look`, and from now on a model without a commit is read at the one that this found."""
    found = look(name)
    if found.revision and revision_of(name) is None:
        settle(repository(name), found.revision)
    return found


def fetch(name: str) -> None:
    """Download a model into the cache, at its commit; DataError where the hub does not give it."""
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(repository(name), revision=revision_of(name), allow_patterns=list(_FILES))
    except Exception as error:  # whatever the hub's client raises
        if room.is_full(error):
            raise DataError(f"{name} does not fit into {cache_folder()}: {told(error)}; {room.WHAT_TO_DO}") from error
        raise DataError(f"the hub does not give {name}: {told(error)}; the same command goes on from here") from error


def refused(name: str) -> str:
    """Why the hub does not give the files of a model of which it tells; "" where it does. Anybody may read what a
    gated repository holds, but not the files."""
    from huggingface_hub.errors import GatedRepoError

    place = repository(name)
    try:
        _answer(f"{place}/auth-check")
    except GatedRepoError as error:
        ask = f"ask for it at its page on the hub, then `hf auth login`; {told(error)}"
        return f"the hub tells of it, but does not give {place} to everybody: {ask}"
    except Exception as error:  # whatever the hub's client raises
        return f"the hub tells of it, but not that it gives {place}: {told(error)}"
    return ""


def _answer(path: str, **given: Any) -> Any:
    """What the hub answers of its models; where it is busy it is asked twice more. The client's own calls for this ask
    once, or wait for ever."""
    from huggingface_hub import HfApi
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, http_backoff

    patience: dict[str, Any] = {"max_retries": 2, "retry_on_exceptions": (), "timeout": _SECONDS}
    address = f"{HfApi().endpoint}/api/models/{path}"
    answer = http_backoff("GET", address, headers=build_hf_headers(), **patience, **given)
    hf_raise_for_status(answer)
    return answer


def _cached(place: str, revision: str | None, *, reads: bool) -> Path | None:
    """The folder of a model's files in the cache, if all that is needed is there: the weights; of a model that `reads`
    texts every piece of them, its configuration and a tokenizer. What a download left half done is not."""
    from huggingface_hub import try_to_load_from_cache

    def lies(file: str) -> Path | None:
        found = try_to_load_from_cache(place, file, revision=revision)
        return Path(found) if isinstance(found, str) else None

    one = lies(_WEIGHTS)
    if not reads:
        return one.parent if one else None
    config, pieces = lies(_CONFIG), [_WEIGHTS]
    if not one and (index := lies(_INDEX)):
        with contextlib.suppress(ValueError, KeyError):  # a damaged index names no pieces
            pieces = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    whole = all(map(lies, pieces)) and any(all(map(lies, files)) for files in _TOKENIZERS)
    return config.parent if config and whole else None


def _asked(place: str, wanted: str | None) -> Found:
    """What the hub says of a repository; raises what its client raises."""
    from huggingface_hub import ModelInfo

    at = f"/revision/{quote(wanted, safe='')}" if wanted else ""
    said = ModelInfo(**_answer(place + at, params={"blobs": True}).json())
    files = {one.rfilename: one.size or 0 for one in said.siblings or ()}
    weights = {name: size for name, size in files.items() if name.endswith(".safetensors")}
    revision, licence = said.sha or "", _licence(said)
    if not weights:
        pickles = ", ".join(sorted(name for name in files if name.endswith((".bin", ".pt", ".pth")))) or "none at all"
        note = (
            f"the hub holds no safetensors weights of it at this commit, but {pickles}; pickled weights are not "
            f"loaded, but can be converted once: python -m faithbook.models.convert {place}"
        )
        return Found(False, False, note, revision, licence)
    size = sum(weights.values())
    return Found(False, True, f"the hub gives it, {size / 1e9:.1f} GB", revision, licence, size)


def _licence(said: Any) -> str:
    with contextlib.suppress(AttributeError, TypeError):
        if licence := said.card_data.get("license"):
            return str(licence)
    return next((tag.removeprefix("license:") for tag in said.tags or () if tag.startswith("license:")), "")


def told(error: Exception) -> str:
    """The first line of an error that says something; the client's messages are long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
