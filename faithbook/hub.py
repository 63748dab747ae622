"""Models of the hub: at which commit they are read, and what the hub would give if it were asked for them now.

The table `hub` of data/artifacts.toml names commit and licence of each. Where it has no commit, the newest is
downloaded once and stays: a build reads the hub's cache alone. Weights are read as safetensors only; what a repository
holds as pickles alone has to be converted first (`faithbook.models.convert`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from faithbook import disk
from faithbook.artifacts import commit_of, resolve
from faithbook.paths import raw_dir
from faithlib.errors import DataError

_SECONDS = 8.0
FILES = ("*.safetensors", "*.json", "*.txt", "*.model")  # weights, configuration, what tokenizers read
HOW_TO_BRING = "models of the hub that a profile names come by `make preflight PROFILE=paper FETCH=yes`"
_WEIGHTS, _PICKLES = ".safetensors", (".bin", ".pt", ".pth")


@dataclass(frozen=True)
class HubEntry:
    """What is known of a model: whether it lies in the cache, whether the hub would give it, and words about both;
    `bytes` of its weights, as far as they are known."""

    is_cached: bool
    can_be_had: bool
    note: str
    revision: str = ""
    licence: str = ""
    bytes: int = 0


def revision_of(name: str) -> str | None:
    """The commit at which the table wants a model; None: the one that is in the cache, else the newest."""
    return resolve(name).revision or None


def converted_folder(repository: str) -> Path:
    """Where a model of the hub lies once its pickled weights have been converted."""
    return raw_dir() / "hub" / f"{repository}@{commit_of(repository) or 'newest'}"


def folder_of(name: str) -> Path | None:
    """Where a model lies that `hf:` names: in its folder, or where its pickled weights have been converted; None for
    one that is read from the hub's cache."""
    model = resolve(name)
    folder = converted_folder(model.repository) if model.kind == "hub" else model.path
    return folder if folder and folder.is_dir() else None


def cache_folder() -> Path:
    """Where downloaded models are kept."""
    from huggingface_hub.constants import HF_HUB_CACHE  # half a second to import

    return Path(HF_HUB_CACHE)


def look(name: str) -> HubEntry:
    """What the cache holds of a model, or else what the hub says of it; nothing is downloaded."""
    place, wanted = resolve(name).repository, revision_of(name)
    converted = converted_folder(place) / f"model{_WEIGHTS}"
    if converted.is_file():
        size = converted.stat().st_size
        return HubEntry(True, True, f"converted, {converted.parent}", commit_of(place) or "", bytes=size)
    cached = _cached(place, wanted)
    if cached:
        files = {path.name: path.stat().st_size for path in cached.iterdir()}
        if any(file.endswith((_WEIGHTS, *_PICKLES)) for file in files):
            return _of_files(place, files, HubEntry(True, True, f"in the cache, {cached}", cached.name))
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError

    try:
        info = HfApi().model_info(place, revision=wanted, timeout=_SECONDS, files_metadata=True)
        licence = str(info.card_data.get("license") or "") if info.card_data else ""
        HfApi().auth_check(place)
    except GatedRepoError as error:
        ask = f"ask for it at its page on the hub, then `hf auth login`; {brief(error)}"
        return HubEntry(False, False, f"the hub does not give {place} to everybody: {ask}")
    except Exception as error:  # whatever the hub's client raises: offline, unknown, refused
        return HubEntry(False, False, f"not in the cache, and the hub does not give it: {brief(error)}")
    files = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    return _of_files(place, files, HubEntry(False, True, "the hub gives it", info.sha or "", licence))


def _cached(place: str, revision: str | None) -> Path | None:
    """The folder of a model's files in the cache, if what was asked for there has come whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(place, revision=revision, allow_patterns=list(FILES), local_files_only=True))
    except (LocalEntryNotFoundError, ValueError):  # ValueError: no name that the hub could have
        return None


def _of_files(place: str, files: Mapping[str, int], known: HubEntry) -> HubEntry:
    """What is known of a repository, by its files with their sizes: pickled weights alone are of no use."""
    size = sum(size for file, size in files.items() if file.endswith(_WEIGHTS))
    if size:
        return replace(known, can_be_had=True, note=f"{known.note}, {size / 1e9:.1f} GB", bytes=size)
    pickles = ", ".join(sorted(file for file in files if file.endswith(_PICKLES))) or "none at all"
    note = (
        f"there are no safetensors weights of it at this commit, but {pickles}; pickled weights are not loaded, but "
        f"can be converted once: python -m faithbook.models.convert {place}"
    )
    return replace(known, is_cached=False, can_be_had=False, note=note)


def fetch_model(name: str) -> None:
    """Download a model into the cache, at its commit; DataError where the hub does not give it."""
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(resolve(name).repository, revision=revision_of(name), allow_patterns=list(FILES))
    except Exception as error:  # whatever the hub's client raises
        if disk.is_full(error):
            raise DataError(f"{name} does not fit into {cache_folder()}: {brief(error)}; {disk.WHAT_TO_DO}") from error
        raise DataError(f"the hub does not give {name}: {brief(error)}; the same command goes on from here") from error


def brief(error: Exception) -> str:
    """The first line of an error that says something; the client's messages are long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
