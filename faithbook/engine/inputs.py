"""What a notebook loads, as notebooks/profiles.yaml declares it, and the digest of each.

`loads` of a notebook names settings, its own or another notebook's (`models.{dataset}`: every string below it counts;
`a|b`: the first that holds any), or a data set, encoder or gold alignment of the table `data` at the end of that file,
or a model as `load_model` takes it. `{dataset}` stands for the parameter or setting of that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from faithbook.access import CARDS, model_name
from faithbook.engine.digests import digest, tree_digest
from faithbook.engine.profiles import HubModel, Settings, listed_source, settings_of, table
from faithbook.paths import checkpoints_dir, raw_dir, root
from faithlib.errors import DataError, InputError, unknown

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


def named(
    notebook: str, profile: str, templates: Iterable[str], block: Settings, parameters: Mapping[str, Any]
) -> list[str]:
    """The models, data sets and encoders that a notebook with these parameters loads, whether they are there or not.

    Raises InputError for a template that leads to nothing, UnknownNameError for a parameter or setting in one that
    does not exist, or for a parameter whose value no setting has.
    """
    plain = {key: value for key, value in block.items() if isinstance(value, str | int)}
    values = {"seed": 0, **plain, **parameters}
    wanted_names: list[str] = []
    for template in templates:
        try:
            wanted = template.format_map(values)
        except KeyError as error:
            raise unknown(f"parameter or setting in `loads` of {notebook},", error.args[0], values) from error
        if not (names := [name.format_map(values) for name in _names(wanted, profile, block)]):
            raise InputError(f"{notebook} loads {template!r}, but its settings hold nothing at {wanted!r}")
        wanted_names += names
    return list(dict.fromkeys(wanted_names))


def _names(wanted: str, profile: str, block: Settings) -> list[str]:
    """What a template stands for: the strings below a setting, or itself where no setting has that name."""
    notebooks = {name for _, _, name, _ in table().entries()}
    for path in wanted.split("|"):
        parts = path.split(".")
        # A setting may have the name of a data set (`messages: 12`), and then it is the data that is meant.
        if path in table().data or (parts[0] not in block and parts[0] not in notebooks):
            return [path]
        value: Any = block if parts[0] in block else {parts[0]: settings_of(parts[0], profile)}
        for part in parts:
            value = _below(value, part)
        if names := list(_strings(value)):
            return names
    return []


def _below(value: Any, part: str) -> Any:
    if not part:  # a parameter that stands for all of them is empty
        return value
    return value.get(part, {}) if isinstance(value, dict) else {}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)
    elif value:
        yield str(value)


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
    files = table().data
    if name not in files:
        raise unknown(f"data set, encoder or gold that {notebook} loads", name, files)
    read = (*files[name], *table().instead.get(name, ()))
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
    """The commit at which a model of the hub is read: that of the table `hub`, else what the hub's cache calls the
    newest; None where it has not been downloaded."""
    if revision := table().hub.get(repository, HubModel()).revision:
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
