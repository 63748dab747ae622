"""The papers' own data sets, read from the files that their authors distribute.

Files that people bring lie at `<FAITHLIB_DATA>/<data set>/`, as `data/sources.toml` says; plain or gzipped. Splits are
the published ones. `faithbook.sources.partial_sets` reads what can be had by URL where these are not there.
"""

from __future__ import annotations

import ast
import csv
import gzip
import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from faithlib.errors import DataError

Span = tuple[int, int]

AG_TOPICS = ("World", "Sports", "Business", "Sci/Tech")
EVINF_OUTCOMES = ("no significant difference", "significantly decreased", "significantly increased")


def read_text(folder: Path, name: str) -> str:
    """The text of a file that may be gzipped; DataError naming both places where neither is there or it is damaged."""
    plain, packed = folder / name, folder / f"{name}.gz"
    try:
        if plain.exists():
            return plain.read_text(encoding="utf-8")
        if packed.exists():
            with gzip.open(packed, "rt", encoding="utf-8", newline="") as stream:
                return stream.read()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {name} in {folder}: {error}; get the file again") from error
    raise DataError(f"{plain} (or {packed.name}) is missing: see the entry in data/sources.toml for where to get it")


def columns(
    label_names: tuple[str, ...], max_length: int, rows: Iterable[tuple[str, int]], ids: Iterable[str], **more: Any
) -> dict[str, Any]:
    """A split of a data set, column by column, from its rows of text and label."""
    texts, labels = tuple(zip(*rows, strict=True)) or ((), ())
    about = {"label_names": label_names, "max_length": max_length}
    return {"texts": texts, "labels": labels, "ids": tuple(ids), **about, **more}


def sst(folder: Path, name: str) -> dict[str, Any]:
    """SST-2 lines `sentence<TAB>label`."""
    rows = [line.rsplit("\t", 1) for line in read_text(folder, name).splitlines() if line.strip()]
    if bad := [row for row in rows if row[1:] not in (["0"], ["1"])]:
        raise DataError(f"{folder / name}: row {bad[0]!r} is not a sentence, a tab and 0 or 1; get the file again")
    labelled = [(text, int(label)) for text, label in rows]
    return columns(("negative", "positive"), 128, labelled, _numbered("sst", name, rows))


def ag(folder: Path, name: str) -> dict[str, Any]:
    """AG News rows class, title, description; the text is title and description."""
    rows = list(csv.reader(io.StringIO(read_text(folder, name))))
    if bad := [row for row in rows if len(row) != 3 or row[0] not in tuple("1234")]:
        raise DataError(f"{folder / name}: row {bad[0]!r} is not class (1-4), title, description")
    labelled = [(f"{title} {description}", int(label) - 1) for label, title, description in rows]
    return columns(AG_TOPICS, 256, labelled, _numbered("ag", name, rows))


def ag_rows(folder: Path, name: str) -> dict[str, Any]:
    """Rows text, label (0-3) of AG News' training file; a first line that names these columns is none of them."""
    rows = list(csv.reader(io.StringIO(read_text(folder, name))))
    rows = rows[1:] if rows[:1] == [["text", "label"]] else rows
    if bad := [row for row in rows if len(row) != 2 or row[1] not in tuple("0123")]:
        raise DataError(f"{folder / name}: row {bad[0]!r} is not text, class (0-3)")
    return columns(AG_TOPICS, 256, [(text, int(label)) for text, label in rows], _numbered("ag-part", name, rows))


def _numbered(source: str, name: str, rows: Sequence[object]) -> list[str]:
    return [f"{source}-{name.split('.')[0]}-{i}" for i in range(len(rows))]


def evinf(folder: Path, name: str) -> dict[str, Any]:
    """Evidence Inference rows; the query is intervention, comparator and outcome, rationales are evidence tokens."""
    rows = list(csv.DictReader(io.StringIO(read_text(folder, name))))
    if missing := {"annotation_id", "document", "query", "label_id"} - set(rows[0] if rows else ()):
        raise DataError(f"{folder / name} lacks the columns {', '.join(sorted(missing))}")
    if strange := [row["label_id"] for row in rows if row["label_id"] not in EVINF_OUTCOMES]:
        raise DataError(f"{folder / name}: label_id {strange[0]!r} is not one of {', '.join(EVINF_OUTCOMES)}")
    marks = [token_spans(row["document"], ast.literal_eval(row.get("rationale") or "[]")) for row in rows]
    return columns(
        EVINF_OUTCOMES,
        512,
        [(row["document"], EVINF_OUTCOMES.index(row["label_id"])) for row in rows],
        [f"evinf-{row['annotation_id']}" for row in rows],
        queries=tuple(row["query"] for row in rows),
        rationales=tuple(marks),
    )


def multirc(folder: Path, name: str, documents_of: Path | None = None) -> dict[str, Any]:
    """MultiRC in ERASER's layout; the query is `question || answer`, rationales are the evidence sentences.

    `documents_of`: the folder of docs/ or docs.tar.gz, where that is another one.
    """
    rows, split = _eraser("multirc", folder, name, ("False", "True"), documents_of or folder)
    return split | {"queries": tuple(row["query"] for row in rows)}


def reviews(folder: Path, name: str) -> dict[str, Any]:
    """Film reviews in ERASER's layout, from the folder `movies` beside the one that is named; rationales are phrases
    that people marked, without the few that are empty. The query, the same of every review, is left out."""
    rows, split = _eraser("reviews", folder.parent / "movies", name, ("NEG", "POS"), folder.parent / "movies")
    for row, other in ((row, {"NEG": "pos", "POS": "neg"}[row["classification"]]) for row in rows):
        if row["annotation_id"].startswith(other):  # names of reviews say what they are
            raise DataError(f"{name} calls {row['annotation_id']} {row['classification']}: get the file again")
    return split | {"label_names": ("negative", "positive")}


def _eraser(
    source: str, folder: Path, name: str, classes: tuple[str, str], documents_of: Path
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of a data set of ERASER about one document each, and the columns that all of these have."""
    try:
        rows = [json.loads(line) for line in read_text(folder, name).splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise DataError(f"cannot read {name} in {folder}: {error}; get the file again") from error
    if strange := [row["classification"] for row in rows if row["classification"] not in classes]:
        raise DataError(f"{folder / name}: classification {strange[0]!r} is neither {classes[1]} nor {classes[0]}")
    documents = _documents(documents_of, {row["annotation_id"].split(":")[0] for row in rows})
    labelled, spans = [], []
    for row in rows:
        text = " ".join(documents[row["annotation_id"].split(":")[0]].split())
        evidence = [one for group in row["evidences"] for one in group]
        _check_quoted(row["annotation_id"], text.split(), evidence)
        labelled.append((text, classes.index(row["classification"])))
        spans.append(token_spans(text, [(one["start_token"], one["end_token"]) for one in evidence]))
    ids = [f"{source}-{row['annotation_id']}" for row in rows]
    return rows, columns(classes, 512, labelled, ids, rationales=tuple(spans))


def _check_quoted(name: str, tokens: Sequence[str], evidence: Sequence[Mapping[str, Any]]) -> None:
    """Raises DataError where a document has other words at a place than those that its marks quote from there."""
    for one in evidence:
        start, end, quoted = one["start_token"], one["end_token"], one.get("text", "").split()
        if quoted and (there := tokens[start:end]) != quoted:
            raise DataError(
                f"{name}: marked are {' '.join(quoted)!r}, but tokens {start} to {end} of the document are "
                f"{' '.join(there)!r}: get the marks and the documents from one release"
            )


def _documents(folder: Path, names: set[str]) -> dict[str, str]:
    if (folder / "docs").is_dir():
        return {name: read_text(folder / "docs", name) for name in names}
    archive = folder / "docs.tar.gz"
    if not archive.exists():
        raise DataError(f"{folder} has neither docs/ nor docs.tar.gz: the documents are missing")
    found = {}
    try:
        with tarfile.open(archive) as opened:
            for member in opened:
                stream = opened.extractfile(member) if member.isfile() else None
                if stream is not None and Path(member.name).name in names:
                    found[Path(member.name).name] = stream.read().decode("utf-8")
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {archive}: {error}; get the archive again") from error
    if lost := names - set(found):
        raise DataError(f"{archive} lacks {len(lost)} documents, for example {min(lost)}")
    return found


def documents_digest(texts: Sequence[str]) -> str:
    """What identifies these documents, however they are packed and in whatever order they are named."""
    return hashlib.sha256("\x1e".join(sorted(set(texts))).encode()).hexdigest()[:16]


def token_spans(text: str, ranges: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Character spans of token ranges [start, end) in a text whose tokens are parted by white space."""
    places, start = [], 0
    for token in text.split():
        start = text.index(token, start)
        places.append((start, start + len(token)))
        start += len(token)
    return tuple(
        (places[a][0], places[min(b, len(places)) - 1][1]) for a, b in sorted(ranges) if a < min(b, len(places))
    )
