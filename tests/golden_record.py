"""The golden record of a build: its tables, its verdicts, its headings and figures, kept and compared.

    python tests/golden_record.py keep FOLDER [--profile laptop]     # after `make book`
    python tests/golden_record.py compare BEFORE AFTER [--tolerance 1e-6]

A change of the house's structure changes no number: build before it and after it, keep both, compare. What a machine or
a moment decides (times, versions, costs) is left out. Exit status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
OF_THE_MOMENT = re.compile(r"^(status|profile)s?_|_costs?\.csv$|calibration_seconds")


def keep(folder: Path, profile: str) -> None:
    """Copy the build's tables and write down its pages' headings and figures."""
    results = ROOT / "data/results" / profile
    folder.mkdir(parents=True)
    for table in sorted((results / "tables").glob("*.csv")):
        if not OF_THE_MOMENT.search(table.name):
            shutil.copy(table, folder / table.name)
    shutil.copy(results / "scoreboard.csv", folder / "scoreboard.csv")
    pages = ROOT / "book/_build/html"
    lines = [line for page in sorted(pages.rglob("*.html")) for line in _exhibits(page, str(page.relative_to(pages)))]
    (folder / "exhibits.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _exhibits(page: Path, name: str) -> list[str]:
    """Headings and captions of one page, a line each."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"<(h[1-4]|figcaption|caption)\b[^>]*>(.*?)</\1>", text, flags=re.DOTALL)
    return [f"{name}\t{tag}\t{' '.join(unescape(re.sub(r'<[^>]+>', '', words)).split())}" for tag, words in found]


def compare(before: Path, after: Path, tolerance: float) -> list[str]:
    """What differs between two records, a line each."""
    names = sorted({path.name for folder in (before, after) for path in folder.iterdir()})
    differences = []
    for name in names:
        first, two = before / name, after / name
        if not (first.exists() and two.exists()):
            differences.append(f"{name}: only {'before' if first.exists() else 'after'}")
        elif name.endswith(".csv"):
            differences += [f"{name}: {difference}" for difference in _table_differences(first, two, tolerance)]
        else:
            old, new = (set(path.read_text(encoding="utf-8").splitlines()) for path in (first, two))
            differences += [f"- {line}" for line in sorted(old - new)] + [f"+ {line}" for line in sorted(new - old)]
    return differences


def _table_differences(first: Path, two: Path, tolerance: float) -> list[str]:
    """Columns, rows and cells in which two tables differ; numbers that agree to `tolerance` (relative) are the same."""
    old, new = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in (first, two))
    if list(old.columns) != list(new.columns):
        return [f"columns {sorted(set(old.columns) ^ set(new.columns)) or 'in another order'}"]
    if len(old) != len(new):
        return [f"{len(old)} rows before, {len(new)} after"]
    unlike = old != new
    for column in old.columns:
        before, after = (pd.to_numeric(frame[column], errors="coerce") for frame in (old, new))
        unlike[column] &= ~np.isclose(before, after, rtol=tolerance, atol=tolerance)
    rows = unlike.idxmax() if len(old) else {}
    return [
        f"{column}: {count} of {len(old)} cells, first row {rows[column]}: "
        f"{old[column][rows[column]]!r} -> {new[column][rows[column]]!r}"
        for column, count in unlike.sum().items()
        if count
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("keep", "compare"))
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--profile", default="laptop")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    options = parser.parse_args()
    if options.verb == "keep":
        keep(options.folders[0], options.profile)
        return 0
    differences = compare(*options.folders, options.tolerance)
    print("\n".join(differences) or "no difference")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
