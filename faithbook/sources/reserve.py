"""The reserve: inputs that no committed value has measured, kept unseen until the rules of judgement are frozen.

`data/confirmatory_inputs.csv` has a row for each data set: how many rows its test split has, which of them are reserved
(counted from 0 in the order of the loader, as ranges), and a digest of the split's ids, so that the rows of another
file of the same name are not taken for these. It is made from the committed values alone:

    python -m faithbook.sources.reserve_file          # says whether the file is what the values say
    python -m faithbook.sources.reserve_file --write  # writes it again

An input counts as measured when a committed value has its id, whatever was measured on it. The same text in another
data set (films in "movie" and "sst", a planted image made from one of "fashion") is another input: it has another id.

What has no reserve, and why:

- "evinf", "multirc", "esnli": nothing of them was measured, so there is nothing to confirm; a first look at them is
  exploratory.
- "messages": the study of representations has read its test split under row numbers.
- "reviews": three texts are left. "imagenet-samples" and the sets named "-few": all of them are shown.
- "planted", "stamps": made to a known answer; no claim of a paper rests on them.
- Training and development splits: models were fitted and settings chosen on them.
"""

from __future__ import annotations

import csv
import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from faithbook.paths import reference_dir, root
from faithlib.errors import DataError, InputError, unknown

FILE = "data/confirmatory_inputs.csv"
SAMPLES = ("exploratory", "confirmatory", "all")
"""What a loader may give: inputs outside the reserve, those in it, or both. Both are for what measures no explanation
(the accuracy of a classifier, near duplicates, sizes of splits) and for the profile `paper`, whose models are other
ones and which reads whole test sets."""
TEXTS = ("sst", "ag", "xnli", "movie", "bbc", "section", "pair")
IMAGES = ("cifar10", "cifar100", "fashion", "mnist", "animals")
_SAME_ROWS = {"nli": "xnli"}
_SPLITS = ("test", "held_out")


@dataclass(frozen=True)
class Reserve:
    """The reserved rows of a data set's test split of `total` rows, whose ids have this digest."""

    total: int
    rows: frozenset[int]
    digest: str


def check_sample(sample: str) -> None:
    """UnknownNameError for a sample that there is not."""
    if sample not in SAMPLES:
        raise unknown("sample", sample, SAMPLES)


def sampled_rows(name: str, split: str, ids: Sequence[str], sample: str, clusters: Sequence[str] = ()) -> list[int]:
    """The rows of a split that a sample may hold, in their order.

    `clusters`: of each row, where rows share something (the premise of several pairs). A confirmatory sample has no row
    that shares anything with one outside the reserve.

    Raises DataError for a confirmatory sample of a split without a reserve.
    """
    if sample == "all":
        return list(range(len(ids)))
    reserved = _reserved_rows(name, split, ids)
    outside = [row for row in range(len(ids)) if row not in reserved]
    if sample == "exploratory":
        return outside
    if not reserved:
        raise DataError(f"{name} ({split}) has no reserved rows, or is not the file that {FILE} was made from")
    known = {clusters[row] for row in outside} if clusters else set()
    return [row for row in sorted(reserved) if not clusters or clusters[row] not in known]


def check_size(n: int, available: int, total: int, name: str, sample: str) -> None:
    """InputError for a sample that is larger than what its rows allow, where a reserve keeps the others back."""
    if n <= available or available == total:
        return
    if sample == "confirmatory":
        raise InputError(f"n {n}: the reserve of {name} ({FILE}) has {available} inputs for a confirmatory sample")
    raise InputError(
        f"n {n}: of the {total} inputs of {name} {available} are open; the others are the reserve ({FILE}), which only "
        "sample='confirmatory' reads, once the rules are frozen. Ask for fewer"
    )


def _reserved_rows(name: str, split: str, ids: Sequence[str]) -> frozenset[int]:
    """The reserved rows of a split; none where it has no reserve or is another file."""
    reserve = reserves().get(_SAME_ROWS.get(name, name))
    if reserve is None or split not in _SPLITS or reserve.total != len(ids) or reserve.digest != ids_digest(ids):
        return frozenset()
    return reserve.rows


def reserves() -> dict[str, Reserve]:
    """The committed reserve of each data set."""
    path = root() / FILE
    return _read(path, path.stat().st_mtime_ns if path.is_file() else 0)


@functools.lru_cache(maxsize=4)
def _read(path: Path, _changed: int) -> dict[str, Reserve]:
    if not path.is_file():
        raise DataError(f"{path} is missing: it says which inputs are kept for the confirmatory run; git checkout it")
    with path.open(encoding="utf-8", newline="") as stream:
        return {
            row["dataset"]: Reserve(int(row["total"]), frozenset(places_of(row["rows"])), row["digest"])
            for row in csv.DictReader(stream)
        }


def ids_digest(ids: Iterable[str]) -> str:
    """What tells the rows of a split from those of another file: a digest of their ids in their order."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]


def ranges_of(places: Iterable[int]) -> str:
    """Numbers as ranges, for a cell of a table.

    >>> ranges_of([0, 1, 2, 5, 8, 9])
    '0-2 5 8-9'
    """
    ranges: list[list[int]] = []
    for place in sorted(places):
        if ranges and place == ranges[-1][1] + 1:
            ranges[-1][1] = place
        else:
            ranges.append([place, place])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def places_of(ranges: str) -> list[int]:
    """The numbers of a cell.

    >>> places_of("0-2 5 8-9")
    [0, 1, 2, 5, 8, 9]
    """
    places: list[int] = []
    for stretch in ranges.split():
        first, _, last = stretch.partition("-")
        places += range(int(first), int(last or first) + 1)
    return places


def measured_ids(folder: Path | None = None) -> set[str]:
    """The ids of all inputs of which the reference has values."""
    paths = sorted((folder or reference_dir() / "units").rglob("*.parquet"))
    return {str(name) for path in paths for name in pd.read_parquet(path, columns=["id"])["id"].unique()}
