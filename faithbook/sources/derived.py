"""Files made out of fetched ones (unpacked, converted, cut), and the record that says what they should be.

Beside the files of a folder lies `derived.json`: the digest of each, and the digests of the sources it was made from. A
file is used only while both fit: its own digest the recorded one, its sources' those that `data/sources.toml` lists.
What does not fit is made again from the sources, which are verified before they are read.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from faithbook.access import require
from faithbook.sources.files import data_folder, digest_of, files_of
from faithlib.errors import DataError, DigestError

RECORD = "derived.json"


def derived_folder(name: str, makers: Mapping[str, Callable[[], bytes]], source_ids: Sequence[str] = ()) -> Path:
    """The folder `<FAITHLIB_DATA>/<name>/model` with the files of `makers` in it, each whole: as recorded, or made
    again from these sources (none named: the one of that name), which a run has to have declared.

    A source that is damaged is not noticed while all that was made of it is whole: it is not read then.

    Raises DigestError, with the digest found and the one expected, for a file that is not the recorded one and cannot
    be made again because a source is not whole either; DataError for a file that is not there and cannot be made.
    """
    source_ids = source_ids or (name,)
    require(*source_ids)
    folder = data_folder() / name / "model"
    made_from = {source.id: source.sha256 for source_id in source_ids for source in files_of(source_id)}
    recorded = _recorded(folder / RECORD)
    fresh = {}
    for file, make in makers.items():
        is_made = (folder / file).exists()
        if is_made and recorded.get(file) == {"sha256": digest_of(folder / file), "from": made_from}:
            continue
        content = _made(folder / file, make, recorded.get(file, {}), made_from)
        _put(folder / file, content)
        fresh[file] = {"sha256": hashlib.sha256(content).hexdigest(), "from": made_from}
    if fresh:
        # Last: who is killed before this leaves files without a record, which are made again.
        _put(folder / RECORD, json.dumps(recorded | fresh, indent=1, sort_keys=True).encode())
    return folder


def _recorded(path: Path) -> dict[str, dict[str, Any]]:
    """What the record says of each file; nothing where it is missing or damaged."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: {"sha256": str(record["sha256"]), "from": dict(record["from"])} for name, record in records.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _made(path: Path, make: Callable[[], bytes], recorded: Mapping[str, Any], made_from: Mapping[str, Any]) -> bytes:
    try:
        return make()
    except DataError as error:
        if not path.exists():
            raise
        is_now = {"sha256": digest_of(path), "from": made_from}
        raise DigestError(
            f"{path} is not the file that should be here: found {is_now}, expected "
            f"{dict(recorded) or 'a record of it'} ({RECORD}). Making it again fails: {error}"
        ) from error


def _put(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all. Two processes may do it at once; both leave the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".incoming-") as incoming:
        part = Path(incoming) / path.name
        part.write_bytes(content)
        os.replace(part, path)
