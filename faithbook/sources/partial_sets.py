"""The papers' own data as far as it can be had by URL, read where nobody has brought the whole.

AG News: the whole test split, and 5,000 rows of the training file. Evidence Inference: the test split; development is
cut from the published development split, a document's rows together, and its other documents are learnt together with
the prompts of the second release, where these lie here. MultiRC: development and test, and 4,806 rows of the training
split. SNLI and XNLI: the archives of their owners, read as one data set. e-SNLI: 338 pairs with highlights, and SNLI's
other pairs to learn from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from faithbook.access import require
from faithbook.artifacts import registry
from faithbook.sources import nli_sets, zhao_aletras_sets
from faithbook.sources.files import data_folder, fetch, files_of
from faithbook.sources.splits import split_groups
from faithlib.errors import DataError

_DEV_SHARE = 0.15  # of Evidence Inference's documents, as the paper cuts AG News' training file


def is_read_in_parts(name: str) -> bool:
    """Whether a data set's whole files are not there, but all of its parts are. Downloads nothing."""
    brought = data_folder() / name
    return name in _PARTS and not brought.is_dir() and all(map(_is_downloaded, registry().fallback[name]))


def read_part(name: str, split: str) -> dict[str, Any]:
    """The columns of a split, from the parts of a data set.

    Raises DataError where a file is missing or not the one whose digest is listed, or documents are not those expected.
    """
    return _PARTS[name](split)


def _is_downloaded(source: str) -> bool:
    if source == "multirc-docs":
        folder = data_folder() / source
        return (folder / "docs").is_dir() or (folder / "docs.tar.gz").exists()
    return all(file.path.exists() for file in files_of(source))


def _fetched(source: str) -> Path:
    """The folder of a source of several files, all verified."""
    for part in files_of(source):
        file = fetch(part.id)
    return file.parent


def _ag(split: str) -> dict[str, Any]:
    if split == "test":
        return zhao_aletras_sets.ag(fetch("ag-test").parent, "test.csv")
    train, dev = (zhao_aletras_sets.ag_rows(_fetched("ag-part"), f"{part}.csv") for part in ("train", "dev"))
    known = set(dev["texts"])
    return dev if split == "dev" else zhao_aletras_sets.picked(train, [text not in known for text in train["texts"]])


def _evinf(split: str) -> dict[str, Any]:
    columns = zhao_aletras_sets.evinf(_fetched("evinf-part"), "test.csv" if split == "test" else "dev.csv")
    if split == "test":
        return columns
    split_of = split_groups("evinf-part", set(columns["texts"]), (0.0, _DEV_SHARE))
    of_split = zhao_aletras_sets.picked(columns, [split_of[text] == split for text in columns["texts"]])
    second_release = data_folder() / "evinf-v2"
    if split == "dev" or not second_release.is_dir():
        return of_split
    require("evinf-v2")
    prompts = zhao_aletras_sets.evinf_prompts(second_release, _evinf_articles())
    by_row = ("texts", "labels", "ids", "queries", "rationales")
    return {name: value + prompts[name] if name in by_row else value for name, value in of_split.items()}


def _evinf_articles() -> set[str]:
    """The articles of the published development and test split: an annotation is named by its article and a number."""
    ids = [
        row for name in ("dev", "test") for row in zhao_aletras_sets.evinf(_fetched("evinf-part"), f"{name}.csv")["ids"]
    ]
    return {row.removeprefix("evinf-").partition("_")[0] for row in ids}


_MULTIRC = {
    "train": ("val1.jsonl", "9ec1d04cfd341404"),
    "dev": ("val.jsonl", "ebc52faf5cc3e8dd"),
    "test": ("test.jsonl", "a37b3785ec5add64"),
}


def _multirc(split: str) -> dict[str, Any]:
    file, digest = _MULTIRC[split]
    folder = data_folder() / "multirc-docs"
    require("multirc-docs")
    columns = zhao_aletras_sets.multirc(_fetched("multirc-part"), file, folder)
    seen = zhao_aletras_sets.documents_digest(columns["texts"])
    if seen != digest:
        raise DataError(
            f"the documents in {folder} are not those of {file}: digest of their texts {seen}, expected {digest}; get "
            "them again from where data/sources.toml says"
        )
    return columns


def _nli(split: str) -> dict[str, Any]:
    return nli_sets.nli(fetch("snli-archive"), fetch("xnli-archive"), split)


def _esnli(split: str) -> dict[str, Any]:
    return nli_sets.esnli_part(fetch("esnli-part").parent, fetch("snli").parent, split)


_PARTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "ag": _ag,
    "evinf": _evinf,
    "multirc": _multirc,
    "nli": _nli,
    "esnli": _esnli,
}
