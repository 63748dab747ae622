"""The digest of everything that a notebook loads: what the names lead to that its study gives under `loads`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faithbook.access import CARDS, model_name
from faithbook.artifacts import HubModel, listed_source, registry
from faithbook.engine.digests import digest, tree_digest
from faithbook.paths import checkpoints_dir, raw_dir, root
from faithlib.errors import DataError, unknown

_MODELS = ("local", "hf", "timm")
UNITS_DIR = "data/reference/full/units"
CONFIRMED_DIR = "data/reference/confirmatory/units"


def digests_of(notebook: str, names: Iterable[str]) -> dict[str, str]:
    """Digest by name of what the names that a notebook loads lead to.

    Raises UnknownNameError for a name that no table has, DataError for a checkpoint or file that is not there.
    """
    digests: dict[str, str] = {}
    for name in names:
        digests |= _digests(notebook, name)
    return digests


def _digests(notebook: str, name: str) -> dict[str, str]:
    """One name with what it leads to: an adapter to its encoder, a data set to the files it is read from."""
    if name == CARDS:
        folder = checkpoints_dir()
        cards = {str(path.relative_to(folder)): tree_digest(path) for path in sorted(folder.rglob("card.json"))}
        return {CARDS: digest(cards)}
    kind, _, rest = name.partition(":")
    if kind == "local":
        return {name: _checkpoint(notebook, rest), **_encoder(notebook, checkpoints_dir() / rest)}
    if kind in _MODELS or "/" in name:
        return {model_name(name): _folder_or_hub(name)}
    known = registry()
    if name not in known.data:
        raise unknown(f"data set, encoder or gold that {notebook} loads", name, known.data)
    read = (*known.data[name], *known.instead.get(name, ()))
    return {one: tree_digest(root() / one) if "/" in one else source_digest(one) for one in read}


def _checkpoint(notebook: str, name: str) -> str:
    folder = checkpoints_dir() / name
    if not folder.is_dir():
        raise DataError(f"{notebook} loads local:{name}, but there is no {folder}: `make train` makes checkpoints")
    return tree_digest(folder)


def _encoder(notebook: str, folder: Path) -> dict[str, str]:
    encoder = encoder_of(folder)
    return _digests(notebook, encoder) if encoder else {}


def encoder_of(folder: Path) -> str | None:
    """The encoder of ours that a checkpoint stands on: an adapter of texts says it in its card, one of images in its
    configuration; a whole model stands on none."""
    config = folder / "config.json"
    description, key = (config, "adapter_of") if config.exists() else (folder / "card.json", "encoder")
    return json.loads(description.read_text(encoding="utf-8")).get(key) if description.is_file() else None


def _folder_or_hub(name: str) -> str:
    """Digest of a model's folder; the name and commit of one on a hub, whose files cannot be seen from here."""
    place = model_name(name)
    if not place.startswith(_MODELS):
        return tree_digest(Path(place))
    rest = name.partition(":")[2] if name.startswith(_MODELS) else name
    if rest.startswith(("data/", "/", ".")):
        raise DataError(f"there is no folder {rest} for the model {name}: `make train` makes checkpoints")
    commit = commit_of(f"timm/{rest.partition('?')[0]}" if name.startswith("timm:") else rest)
    return f"{name}@{commit}" if commit else name


def commit_of(repository: str) -> str | None:
    """The commit at which a model of the hub is read: that of `data/artifacts.toml`, else what the hub's cache calls
    the newest; None where it has not been downloaded."""
    if revision := registry().hub.get(repository, HubModel()).revision:
        return revision
    from huggingface_hub.constants import HF_HUB_CACHE  # half a second to import

    newest = Path(HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}" / "refs" / "main"
    return newest.read_text(encoding="utf-8").strip() if newest.is_file() else None


def source_digest(name: str) -> str:
    """Digest of an entry of `data/sources.toml`, of what identifies its files: their digests.

    Where the owner publishes no digests, names and sizes of the files are used.
    """
    entry = listed_source(name)
    folder = raw_dir() / name
    files: dict[str, str] = entry.get("files", {entry["file"]: entry["sha256"]} if "sha256" in entry else {})
    parts: dict[str, Any] = {"files": files}
    if not files:
        lying = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
        parts["lying"] = {str(path.relative_to(folder)): path.stat().st_size for path in lying}
    return digest(parts)


def committed_tables() -> dict[str, str]:
    """Digest by folder of the tables that every report may open: the papers' numbers, and those beside them that say
    what is judged and how."""
    tables = {name: sorted((root() / name).glob("*.csv")) for name in ("data/published", "data")}
    return {name: digest({path.name: tree_digest(path) for path in paths}) for name, paths in tables.items()}


def reference_units(notebooks: Iterable[str]) -> dict[str, str]:
    """Digest by folder of the values of single inputs that the reference and the confirmatory run have of these
    notebooks."""
    folders = [f"{place}/{name}" for name in notebooks for place in (UNITS_DIR, CONFIRMED_DIR)]
    return {name: tree_digest(root() / name) for name in folders if (root() / name).is_dir()}
