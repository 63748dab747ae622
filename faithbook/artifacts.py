"""What a name means: the data sets, encoders, gold alignments and models that studies name, and whether they are here.

`resolve` says it of one name, and whoever loads, digests, declares or looks for something asks there. The names:

- of `data/artifacts.toml`: a data set, encoder or gold alignment; the table says which files of this repository it is
  read from, and which sources, whose addresses and digests `data/sources.toml` has;
- `local:text/movie-seed0`: a checkpoint of ours, a folder of `data/checkpoints`;
- `hf:<hub id>`, `timm:<name>`: a model of the hub, at the commit that the table has; `hf:` or `timm:` and a folder: the
  model in that folder;
- a file or folder of the repository by its path from its root; `cards` for the cards of all checkpoints.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from faithbook.paths import checkpoints_dir, raw_dir, root
from faithlib.errors import InputError, unknown

FEW = "-few"  # ends the names of data sets that are a few inputs of another
LOCAL, HUB, TIMM = "local:", "hf:", "timm:"
"""What the names of models begin with: a checkpoint of ours (`local:text/movie-seed0`), a hub id or a folder."""
MODELS = (LOCAL, HUB, TIMM)
CARDS = "cards"


class HubModel(BaseModel):
    """A model of the hub: the commit it is wanted at ("": the newest, or what the cache holds) and its licence ("":
    its card says it)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    revision: str = ""
    licence: str = ""


class Encoder(BaseModel):
    """An encoder that comes out of package archives: what its authors call it, which is what recipes of trainings and
    cards name it by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str


class Registry(BaseModel):
    """The whole of `data/artifacts.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: dict[str, tuple[str, ...]] = {}  # data set, encoder or gold alignment: the sources and files it is read from
    fallback: dict[str, tuple[str, ...]] = {}  # data set: the sources read instead of those, where they are not there
    encoders: dict[str, Encoder] = {}  # those of the data that a classifier of texts can be trained from
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


# ---------------------------------------------------------------------------------------------------- what a name means
Kind = Literal["cards", "data", "source", "file", "checkpoint", "folder", "hub"]


@dataclass(frozen=True)
class Artifact:
    """What a name means.

    - `path`: the file or folder, there or not; None for a data set, a source and a model of the hub;
    - `sources`: of a data set or encoder, what it is read from: names of sources, and files by their paths; `fallback`:
      what is read in their place where they are not here;
    - `repository`, `revision`, `licence`: of a model of the hub, its id, the commit and licence of the table.
    """

    name: str
    kind: Kind
    path: Path | None = None
    sources: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    repository: str = ""
    revision: str = ""
    licence: str = ""

    @property
    def declared(self) -> str:
        """The name by which a run declares it: a folder by its whole path, however it was named."""
        return str(self.path) if self.kind == "folder" and self.path and self.path.is_dir() else self.name

    @property
    def encoder(self) -> str | None:
        """The encoder of ours that a checkpoint stands on: an adapter of texts says it in its card, one of images in
        its configuration; a whole model stands on none."""
        if self.kind not in ("checkpoint", "folder") or self.path is None:
            return None
        config = self.path / "config.json"
        description, key = (config, "adapter_of") if config.exists() else (self.path / "card.json", "encoder")
        if not description.is_file():
            return None
        encoder: str | None = json.loads(description.read_text(encoding="utf-8")).get(key)
        return encoder


def resolve(name: str) -> Artifact:
    """What a name means; UnknownNameError for one that no table has. Whether it is here is another question."""
    known = registry()
    if name == CARDS:
        return Artifact(name, "cards", checkpoints_dir())
    if name in known.data:
        return Artifact(name, "data", sources=known.data[name], fallback=known.fallback.get(name, ()))
    _, _, rest = name.partition(":")
    if name.startswith(LOCAL):
        return Artifact(name, "checkpoint", checkpoints_dir() / rest)
    if name.startswith((HUB, TIMM)):
        return _model(name, rest, known)
    if "/" in name:
        folder = _folder(name)
        return Artifact(name, "file" if folder is None else "folder", folder or root() / name)
    raise unknown("data set, encoder, gold alignment or model", name, known.data)


def _model(name: str, rest: str, known: Registry) -> Artifact:
    folder = _folder(rest)
    if folder is not None:
        return Artifact(name, "folder", folder)
    if rest.startswith(("data/", "/", ".")):  # no id of the hub: a folder that is not there
        return Artifact(name, "folder", root() / rest)
    repository = rest if name.startswith(HUB) else f"timm/{rest.partition('?')[0]}"
    model = known.hub.get(repository, HubModel())
    return Artifact(name, "hub", repository=repository, revision=model.revision, licence=model.licence)


def _folder(name: str) -> Path | None:
    """The folder of that name, from where we are or from the repository's root: notebooks run in folders of their
    own."""
    for place in (Path(name), root() / name):
        if name and place.is_dir():
            return place.resolve()
    return None


def parts_of(name: str) -> Iterator[Artifact]:
    """All that a name leads to: a data set to its sources and files, and to those read in their place; a checkpoint to
    itself and its encoder's; everything else to itself."""
    artifact = resolve(name)
    if artifact.kind == "data":
        yield from map(part, (*artifact.sources, *artifact.fallback))
        return
    yield artifact
    if artifact.encoder:
        yield from parts_of(artifact.encoder)


def parts_read_here(name: str) -> Iterator[Artifact]:
    """Like `parts_of`, but of a data set only what this machine reads: its sources, or the others that are read instead
    where they are here and its own are not."""
    artifact = resolve(name)
    if artifact.kind == "data":
        yield from map(part, _read_here(artifact))
        return
    yield artifact
    if artifact.encoder:
        yield from parts_read_here(artifact.encoder)


def part(name: str) -> Artifact:
    """One part of a data set: a file of the repository by its path, or else a source."""
    return Artifact(name, "file", root() / name) if "/" in name else Artifact(name, "source")


def _read_here(artifact: Artifact) -> tuple[str, ...]:
    if artifact.fallback and are_here(artifact.fallback) and not are_here(artifact.sources):
        return artifact.fallback
    return artifact.sources


def encoder_called(title: str) -> str | None:
    """The encoder of ours that its authors call so; None for a model of the hub.

    >>> encoder_called("all-MiniLM-L6-v2")
    'minilm'
    """
    names = {encoder.title: name for name, encoder in registry().encoders.items()}
    return names.get(title)


def commit_of(repository: str) -> str | None:
    """The commit at which a model of the hub is read: that of `data/artifacts.toml`, else what the hub's cache calls
    the newest; None where it has not been downloaded."""
    revision = registry().hub.get(repository, HubModel()).revision
    if revision:
        return revision
    from huggingface_hub.constants import HF_HUB_CACHE  # half a second to import

    newest = Path(HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}" / "refs" / "main"
    return newest.read_text(encoding="utf-8").strip() if newest.is_file() else None


# ------------------------------------------------------------------------------------------ what is on this machine
def is_here(name: str) -> bool:
    """Whether a data set or encoder can be read without fetching anything (UnknownNameError for one not listed)."""
    known = registry()
    if name not in known.data:
        raise unknown("data set", name, known.data)
    artifact = resolve(name)
    return are_here(artifact.sources, artifact.fallback)


def are_here(sources: Iterable[str], fallback: Iterable[str] = ()) -> bool:
    """Whether all these sources are on this machine, or all of those that are read in their place.

    Digests are checked when the files are read. Raises UnknownNameError for a source that is not listed.
    """
    return any(names and all(map(source_is_here, names)) for names in (list(sources), list(fallback)))


def source_is_here(source: str) -> bool:
    """Whether the files of a source are on this machine; of what people bring any file counts, as layouts differ."""
    entry, folder = listed_source(source), raw_dir() / source
    if entry.get("kind") == "manual":
        return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())
    files = entry.get("files") or [entry["file"]]
    return all((folder / file).exists() for file in files)


def checkpoint_is_here(spec: str) -> bool:
    """Whether a checkpoint of ours (`local:text/movie-seed0`) is in `data/checkpoints`; true of every other model."""
    if not spec.startswith(LOCAL):
        return True
    folder = resolve(spec).path
    return folder is not None and folder.is_dir()


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
