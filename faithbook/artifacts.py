"""What a name means: the data sets, encoders, gold alignments and models that studies name, and whether they are here.

`data/artifacts.toml` says what each data set or encoder is read from: files of this repository, or sources, whose
addresses and digests `data/sources.toml` has. Checkpoints of ours are folders of `data/checkpoints`, and models of the
hub are named with a commit.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from faithbook.paths import checkpoints_dir, raw_dir, root
from faithlib.errors import InputError, unknown

FEW = "-few"  # ends the names of data sets that are a few inputs of another
LOCAL = "local:"  # begins the name of a checkpoint of ours: local:text/movie-seed0


class HubModel(BaseModel):
    """A model of the hub: the commit it is wanted at ("": the newest, or what the cache holds) and its licence ("":
    its card says it)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    revision: str = ""
    licence: str = ""


class Registry(BaseModel):
    """The whole of `data/artifacts.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: dict[str, tuple[str, ...]] = {}  # data set, encoder or gold alignment: the sources and files it is read from
    instead: dict[str, tuple[str, ...]] = {}  # data set: the sources read instead of those, where they are not there
    hub: dict[str, HubModel] = {}  # by hub id


def registry() -> Registry:
    """`data/artifacts.toml`, checked; InputError says what is wrong in it."""
    path = root() / "data" / "artifacts.toml"
    return _registry(path, path.read_text(encoding="utf-8") if path.is_file() else "")


@functools.lru_cache(maxsize=4)
def _registry(path: Path, text: str) -> Registry:
    try:
        return Registry.model_validate(tomllib.loads(text))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be used:\n{error}") from error


# ------------------------------------------------------------------------------------------ what is on this machine
def is_here(name: str) -> bool:
    """Whether a data set or encoder can be read without fetching anything (UnknownNameError for one not listed)."""
    known = registry()
    if name not in known.data:
        raise unknown("data set", name, known.data)
    return are_here(known.data[name], known.instead.get(name, ()))


def are_here(whole: Iterable[str], instead: Iterable[str] = ()) -> bool:
    """Whether all these sources are on this machine, or all of those that are read in their place.

    Digests are checked when the files are read. Raises UnknownNameError for a source that is not listed.
    """
    return any(sources and all(map(source_is_here, sources)) for sources in (list(whole), list(instead)))


def source_is_here(source: str) -> bool:
    """Whether the files of a source are on this machine; of what people bring any file counts, as layouts differ."""
    entry, folder = listed_source(source), raw_dir() / source
    if entry.get("kind") == "manual":
        return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())
    files = entry.get("files") or [entry["file"]]
    return all((folder / file).exists() for file in files)


def checkpoint_is_here(spec: str) -> bool:
    """Whether a checkpoint of ours (`local:text/movie-seed0`) is in `data/checkpoints`; true of every other model."""
    return not spec.startswith(LOCAL) or (checkpoints_dir() / spec.removeprefix(LOCAL)).is_dir()


def on_this_machine(names: Iterable[str], models: Callable[[str], Iterable[str]] = lambda _: ()) -> list[str]:
    """Those of the data sets that can be read here, and with the checkpoints of ours among the `models` of each."""
    return [name for name in names if is_here(name) and all(map(checkpoint_is_here, models(name)))]


def whole_or_few(shipped: list[str], brought: list[str]) -> list[str]:
    """Data sets that somebody has brought, then those that come with the repository: of these a few inputs of a set
    are read only where the whole set is not.

    >>> whole_or_few(["fashion", "cifar10-few"], ["cifar10"])
    ['cifar10', 'fashion']
    """
    return brought + [name for name in shipped if name.removesuffix(FEW) not in brought]


def listed_source(source: str) -> dict[str, Any]:
    """An entry of `data/sources.toml` as it is written there."""
    known = _sources((root() / "data" / "sources.toml").read_text(encoding="utf-8"))
    if source not in known:
        raise unknown("source", source, known)
    return known[source]


@functools.lru_cache(maxsize=4)
def _sources(text: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(text)
