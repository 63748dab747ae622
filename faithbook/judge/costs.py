"""What the computations behind the book's numbers took, from the committed manifests of the full run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from faithbook.engine.plan import MANIFEST
from faithbook.paths import reference_dir

if TYPE_CHECKING:
    import pandas as pd  # a second to import, which not everybody needs who imports this

Manifest = dict[str, Any]
DECLARED = "data/reference/full/manifest.json"


def reference_runs() -> list[Manifest]:
    """The manifests of the computations of the committed reference; none where there is no reference."""
    path = reference_dir() / MANIFEST
    if not path.is_file():
        return []
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return [run for run in runs if run.get("kind") == "compute"]


def seconds(run: Mapping[str, Any]) -> float:
    """The seconds that a run takes where nothing else keeps its processor busy.

    Of one thread on a processor these are its processor seconds: on the clock, the same work takes up to twice as long
    beside other work. Runs on a GPU or of several threads, and those from before this was noted, have the clock alone.
    """
    one_thread = (run.get("device"), run.get("threads")) == ("cpu", 1)
    if one_thread and "processor_seconds" in run:
        return float(run["processor_seconds"])
    return float(run["seconds"])


def measured_costs(runs: Sequence[Manifest]) -> pd.DataFrame:
    """What each computation took, one row per study, notebook and device, and one row with the sums of each device.

    Columns: `study`, `notebook`, `device`, `runs`, `rows` (forward passes of single inputs, in thousands; NaN where no
    run counts them), `hours`.
    """
    import pandas as pd

    columns = ["study", "notebook", "device"]
    rows = []
    for run in runs:
        row = {name: run[name] for name in columns}
        rows.append({**row, "rows": run["notes"].get("rows_run"), "hours": seconds(run) / 3600})
    frame = pd.DataFrame(rows, columns=[*columns, "rows", "hours"])
    frame["rows"] = pd.to_numeric(frame["rows"]) / 1000
    frame["runs"] = 1
    sums = ["runs", "rows", "hours"]
    each = frame.groupby(columns, sort=False)[sums].sum(min_count=1).reset_index()
    together = frame.groupby("device", sort=False)[sums].sum(min_count=1).reset_index()
    together = together.assign(study="all", notebook="all")
    return pd.concat([each, together], ignore_index=True)[[*columns, *sums]]
