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
from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from itertools import compress
from pathlib import Path
from typing import Any

import pandas as pd

from faithbook.sources.files import read_member, tar_member
from faithlib.errors import DataError

Span = tuple[int, int]

AG_TOPICS = ("World", "Sports", "Business", "Sci/Tech")
EVINF_OUTCOMES = ("no significant difference", "significantly decreased", "significantly increased")


def read_text(folder: Path, name: str) -> str:
    """The text of a file that may be gzipped, or lie in an archive that holds one folder of its own name; DataError
    naming both places where neither is there or it is damaged."""
    plain, packed = folder / name, folder / f"{name}.gz"
    try:
        if folder.suffix == ".zip":
            return read_member(folder, f"{folder.stem}/{name}").decode("utf-8")
        if plain.exists():
            return plain.read_text(encoding="utf-8")
        if packed.exists():
            with gzip.open(packed, "rt", encoding="utf-8", newline="") as stream:
                return stream.read()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {name} in {folder}: {error}; get the file again") from error
    raise DataError(f"{plain} (or {packed.name}) is missing: see the entry in data/sources.toml for where to get it")


def read_table(folder: Path, name: str, needed: Mapping[str, Collection[str]], *, header: bool = True) -> pd.DataFrame:
    """Rows of JSON lines (.jsonl), of a table with tabs, in which nothing is quoted (.tsv), or of a CSV table, as text.

    `needed`: the columns that every row has to have, each with the values that it may have (none named: any); without
    `header` they are the file's columns in its order. Raises DataError for a file that is missing, damaged or has
    something else.
    """
    path, text = folder / name, read_text(folder, name)
    how: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if name.endswith(".tsv") else {}
    try:
        if name.endswith(".jsonl"):
            table = pd.DataFrame([json.loads(line) for line in text.split("\n") if line.strip()])
        else:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True, **how) if row]
            names = rows.pop(0) if header else list(needed)
            if any(len(row) > len(names) or (len(row) < len(names) and not header) for row in rows):
                raise DataError(f"{path}: a row is not {', '.join(names)}; get the file again")
            table = pd.DataFrame([dict(zip(names, row, strict=False)) for row in rows])
        if table.empty:
            raise ValueError("it has no rows")
    except (ValueError, csv.Error, IndexError) as error:
        raise DataError(f"cannot read {path}, which is empty or damaged: {error}; get the file again") from error
    missing = sorted(needed.keys() - set(table.columns))
    if missing:
        raise DataError(f"{path} lacks the columns {', '.join(missing)}; get the file again")
    short = table[list(needed)].isna().any(axis=1)
    if short.any():
        raise DataError(f"{path}: row {short.argmax() + 1} ends before the last of {', '.join(needed)}; get it again")
    for column, values in needed.items():
        if values and (strange := sorted(set(table[column]) - set(values))):
            raise DataError(f"{path}: {column} {strange[0]!r} is not one of {', '.join(values)}; get the file again")
    return table


def columns(
    label_names: tuple[str, ...],
    max_length: int,
    texts: Iterable[str],
    labels: Iterable[int],
    ids: Iterable[str],
    **more: Any,
) -> dict[str, Any]:
    """A split of a data set, column by column."""
    whole = {"texts": tuple(texts), "labels": tuple(map(int, labels)), "ids": tuple(ids)}
    return {**whole, "label_names": label_names, "max_length": max_length, **more}


def picked(split: Mapping[str, Any], chosen: Sequence[bool]) -> dict[str, Any]:
    """The chosen rows of a split; what is no column stays."""
    by_row = split.keys() - {"label_names", "max_length"}
    return {name: tuple(compress(value, chosen)) if name in by_row else value for name, value in split.items()}


def numbered(source: str, rows: Sized) -> list[str]:
    """Names for rows that have none of their own."""
    return [f"{source}-{i}" for i in range(len(rows))]


def sst(folder: Path, name: str) -> dict[str, Any]:
    """SST-2 lines `sentence<TAB>label`."""
    rows = read_table(folder, name, {"sentence": (), "label": ("0", "1")}, header=False)
    ids = numbered(f"sst-{name.split('.')[0]}", rows)
    return columns(("negative", "positive"), 128, rows.sentence, rows.label, ids)


def ag(folder: Path, name: str) -> dict[str, Any]:
    """AG News rows class, title, description; the text is title and description."""
    rows = read_table(folder, name, {"class": tuple("1234"), "title": (), "description": ()}, header=False)
    labels, ids = rows["class"].astype(int) - 1, numbered(f"ag-{name.split('.')[0]}", rows)
    return columns(AG_TOPICS, 256, rows.title + " " + rows.description, labels, ids)


def ag_rows(folder: Path, name: str) -> dict[str, Any]:
    """Rows text, label (0-3) of AG News' training file."""
    rows = read_table(folder, name, {"text": (), "label": tuple("0123")}, header=False)
    return columns(AG_TOPICS, 256, rows.text, rows.label, numbered(f"ag-part-{name.split('.')[0]}", rows))


def evinf(folder: Path, name: str) -> dict[str, Any]:
    """Evidence Inference rows; the query is intervention, comparator and outcome, rationales are evidence tokens."""
    needed = {"annotation_id": (), "document": (), "query": (), "label_id": EVINF_OUTCOMES, "rationale": ()}
    rows = read_table(folder, name, needed)
    marks = (ast.literal_eval(written or "[]") for written in rows.rationale)
    return columns(
        EVINF_OUTCOMES,
        512,
        rows.document,
        rows.label_id.map(EVINF_OUTCOMES.index),
        "evinf-" + rows.annotation_id,
        queries=tuple(rows["query"]),
        rationales=tuple(map(token_spans, rows.document, marks)),
    )


def evinf_prompts(folder: Path, articles_left_out: Collection[str]) -> dict[str, Any]:
    """Prompts of the second release of Evidence Inference with the abstract of their article, to train on.

    Several people labelled a prompt: the label that most of the valid annotations give counts. A prompt on which
    two labels are level is left out, and so is one whose annotations are all marked as invalid.

    folder: holds v2_annotations.csv and v2_abstracts.jsonl.
    articles_left_out: PubMed Central ids of articles that no prompt may be about.
    """
    needed = {"PromptID": (), "PMCID": (), "Intervention": (), "Comparator": (), "Outcome": (), "Label": EVINF_OUTCOMES}
    annotations = read_table(folder, "v2_annotations.csv", {**needed, "Valid Label": ("True", "False")})
    abstracts = read_table(folder, "v2_abstracts.jsonl", {"pmcid": (), "text": ()}).set_index("pmcid")["text"]
    valid = annotations[annotations["Valid Label"] == "True"]
    usable = valid[valid["PMCID"].isin(abstracts.index) & ~valid["PMCID"].isin(articles_left_out)]
    texts, labels, ids, queries = [], [], [], []
    for prompt, rows in usable.groupby("PromptID", sort=False):
        votes = rows["Label"].value_counts()
        if len(votes) > 1 and votes.iloc[0] == votes.iloc[1]:
            continue
        first = rows.iloc[0]
        texts.append(" ".join(abstracts[first["PMCID"]].split()))
        labels.append(EVINF_OUTCOMES.index(votes.index[0]))
        ids.append(f"evinf-v2-{prompt}")
        queries.append(" || ".join(first[part].strip() for part in ("Intervention", "Comparator", "Outcome")))
    return columns(EVINF_OUTCOMES, 512, texts, labels, ids, queries=tuple(queries), rationales=((),) * len(texts))


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
    needed = {"annotation_id": (), "classification": classes, "evidences": ()}
    rows: list[dict[Any, Any]] = read_table(folder, name, needed).to_dict("records")
    documents = _documents(documents_of, {row["annotation_id"].split(":")[0] for row in rows})
    texts, spans = [], []
    for row in rows:
        text = " ".join(documents[row["annotation_id"].split(":")[0]].split())
        evidence = [piece for group in row["evidences"] for piece in group]
        _check_quoted(row["annotation_id"], text.split(), evidence)
        texts.append(text)
        spans.append(token_spans(text, [(piece["start_token"], piece["end_token"]) for piece in evidence]))
    ids = [f"{source}-{row['annotation_id']}" for row in rows]
    labels = [classes.index(row["classification"]) for row in rows]
    return rows, columns(classes, 512, texts, labels, ids, rationales=tuple(spans))


def _check_quoted(name: str, tokens: Sequence[str], evidence: Sequence[Mapping[str, Any]]) -> None:
    """Raises DataError where a document has other words at a place than those that its marks quote from there."""
    for piece in evidence:
        start, end, quoted = piece["start_token"], piece["end_token"], piece.get("text", "").split()
        of_document = tokens[start:end]
        if quoted and of_document != quoted:
            raise DataError(
                f"{name}: marked are {' '.join(quoted)!r}, but tokens {start} to {end} of the document are "
                f"{' '.join(of_document)!r}: get the marks and the documents from one release"
            )


def _documents(folder: Path, names: set[str]) -> dict[str, str]:
    if (folder / "docs").is_dir():
        return {name: read_text(folder / "docs", name) for name in names}
    archive = folder / "docs.tar.gz"
    try:
        with tarfile.open(archive) as opened:
            wanted = [member for member in opened if member.isfile() and Path(member.name).name in names]
            documents = {Path(member.name).name: tar_member(opened, member).decode("utf-8") for member in wanted}
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"there is no docs/, and {archive} cannot be read: {error}; get the archive again") from error
    lost = names - set(documents)
    if lost:
        raise DataError(f"{archive} lacks {len(lost)} documents, for example {min(lost)}")
    return documents


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
