"""The committed run of the full profile, beside what a page shows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from faithbook.engine.study import has_reference, load
from faithlib.errors import DataError


def with_reference(frame: pd.DataFrame, name: str, *, on: Sequence[str]) -> pd.DataFrame:
    """The frame with a column `reference`: the estimate that the committed run of the full profile saved in the table
    `name`, NaN where it has none; the frame as it is where that run has no such table."""
    if not has_reference(name):
        return frame
    earlier = load(name, reference=True)
    if missing := {*on, "estimate"} - set(earlier.columns):
        raise DataError(f"the reference table {name} lacks the columns {sorted(missing)}: make it again, `make full`")
    return frame.merge(earlier[[*on, "estimate"]].rename(columns={"estimate": "reference"}), on=list(on), how="left")
