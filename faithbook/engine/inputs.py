"""The digest of everything that a notebook loads: what the names lead to that its study gives under `loads`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from faithbook.artifacts import Artifact, commit_of, listed_source, parts_of
from faithbook.engine.digests import digest, tree_digest
from faithbook.paths import raw_dir, root
from faithlib.errors import DataError, UnknownNameError

UNITS_DIR = "data/reference/full/units"
CONFIRMED_DIR = "data/reference/confirmatory/units"


def digests_of(notebook: str, names: Iterable[str]) -> dict[str, str]:
    """Digest by name of what the names that a notebook loads lead to, as its runs declare them.

    Raises UnknownNameError for a name that no table has, DataError for a checkpoint or file that is not there.
    """
    digests: dict[str, str] = {}
    for name in names:
        try:
            digests |= {artifact.declared: _digest_of(artifact) for artifact in parts_of(name)}
        except (UnknownNameError, DataError) as error:
            raise type(error)(f"{notebook} loads {name}: {error}") from error
    return digests


def _digest_of(artifact: Artifact) -> str:
    """The digest of its files; the name and commit of a model on the hub, whose files cannot be seen from
    here."""
    if artifact.kind == "source":
        return source_digest(artifact.name)
    if artifact.kind == "hub":
        commit = commit_of(artifact.repository)
        return f"{artifact.name}@{commit}" if commit else artifact.name
    assert artifact.path is not None, artifact
    if artifact.kind == "cards":
        cards = sorted(artifact.path.rglob("card.json"))
        return digest({str(card.relative_to(artifact.path)): tree_digest(card) for card in cards})
    if artifact.kind in ("checkpoint", "folder") and not artifact.path.is_dir():
        raise DataError(f"there is no folder {artifact.path}: `make train` makes checkpoints")
    return tree_digest(artifact.path)


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
    digests: dict[str, str] = {}
    for name in ("data/published", "data"):
        tables = sorted((root() / name).glob("*.csv"))
        digests[name] = digest({path.name: tree_digest(path) for path in tables})
    return digests


def reference_units(notebooks: Iterable[str]) -> dict[str, str]:
    """Digest by folder of the values of single inputs that the reference and the confirmatory run have of these
    notebooks."""
    folders = [f"{place}/{name}" for name in notebooks for place in (UNITS_DIR, CONFIRMED_DIR)]
    return {name: tree_digest(root() / name) for name in folders if (root() / name).is_dir()}
