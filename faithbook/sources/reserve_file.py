"""The file of the reserve, made from the committed values and from the data themselves (see `reserve`)."""

from __future__ import annotations

import csv
import sys
from collections.abc import Collection, Iterable, Sequence

from faithbook.paths import root
from faithbook.sources.datasets import load_dataset
from faithbook.sources.images import load_pictures
from faithbook.sources.reserve import FILE, IMAGES, TEXTS, ids_digest, measured_ids, ranges_of


def reserve_row(name: str, ids: Sequence[str], measured: Collection[str]) -> dict[str, str]:
    """The row of a data set in the file: its rows without those that are measured."""
    rows = [row for row, key in enumerate(ids) if key not in measured]
    return {
        "dataset": name,
        "split": "test",
        "total": str(len(ids)),
        "reserved": str(len(rows)),
        "rows": ranges_of(rows),
        "digest": ids_digest(ids),
    }


def made_again(names: Iterable[str]) -> list[dict[str, str]]:
    """The rows of these data sets, from the committed values and the data themselves."""
    measured = measured_ids()
    made = []
    for name in names:
        whole = load_pictures(name, sample="all") if name in IMAGES else load_dataset(name, sample="all")
        made.append(reserve_row(name, whole.ids, measured))
    return made


def _main(arguments: Sequence[str]) -> int:
    rows = made_again([*TEXTS, *IMAGES])
    path = root() / FILE
    if "--write" in arguments:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    with path.open(encoding="utf-8", newline="") as stream:
        same = list(csv.DictReader(stream)) == rows
    for row in rows:
        print(f"{row['dataset']}: {row['reserved']} of {row['total']} test inputs are reserved")
    found = "what" if same else "NOT what"
    print(f"{FILE} is {found} the committed values say")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
