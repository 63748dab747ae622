"""What ran, where and for how long, from the manifests of runs as `faithbook.engine.run.load_manifests` has them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from faithbook.engine.plan import MANIFEST
from faithbook.paths import reference_dir

FACTS = {
    "notebook": "notebook",
    "dataset": "dataset",
    "models": "models",
    "seed": "seed",
    "n": "n",
    "truncated": "truncated",
    "undefined": "undefined",
    "rows_asked": "rows asked",
    "rows_run": "rows run",
    "dtype": "precision",
    "device": "device",
    "seconds": "seconds",
    "peak_bytes": "peak MiB",
}
"""Columns of the status page by the names that manifests have for them."""
_WHOLE = ("seed", "n", "truncated", "undefined", "rows asked", "rows run")
_KINDS = ("local:", "hf:", "timm:")


def models_of(declared: Iterable[str]) -> str:
    """The models among what a run declares to load, as people call them; a folder by its name.

    >>> models_of(["minilm", "local:text/bbc-l3-seed0", "timm:deit_tiny", "data/pictures/mnist.npz"])
    'text/bbc-l3-seed0, deit_tiny'
    """
    hubs = {name: name.partition(":")[2] for name in declared if name.startswith(_KINDS)}
    folders = {name: Path(name).name for name in declared if name.startswith("/")}
    return ", ".join({**hubs, **folders}.values())


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column of the manifests, missing values where no run noted it."""
    return frame[name] if name in frame else pd.Series(pd.NA, index=frame.index)


def several(values: pd.Series) -> str:
    """The distinct values of a column, in words."""
    return ", ".join(dict.fromkeys(str(value) for value in values.dropna())) or "not noted"


def computations(manifests: pd.DataFrame) -> pd.DataFrame:
    """One row a computation: its data set, its models, how much it did and what that took."""
    computed = manifests[manifests["kind"] == "compute"]
    named = computed.assign(models=[models_of(names) for names in computed["declared"]])
    shown = pd.DataFrame({title: column(named, name) for name, title in FACTS.items()})
    for title in _WHOLE:
        shown[title] = pd.to_numeric(shown[title], errors="coerce").astype("Int64")
    shown["peak MiB"] = (pd.to_numeric(shown["peak MiB"], errors="coerce") / 2**20).round().astype("Int64")
    return shown.assign(seconds=shown["seconds"].round(1))


def pages(manifests: pd.DataFrame) -> pd.DataFrame:
    """One row a page made from a notebook: how long it took, when it began."""
    return manifests[manifests["kind"] == "report"].reindex(columns=["notebook", "seconds", "started"])


def environment(manifests: pd.DataFrame) -> pd.DataFrame:
    """Machine and versions over all runs, several values where not all ran on the same."""
    packages = pd.DataFrame(list(manifests["versions"]))
    rows = {
        "commit": manifests["commit"],
        "device": manifests["device"],
        "processor": manifests["processor"],
        "cores": manifests["cores"],
        "threads of a notebook": manifests["threads"],
        "precision": column(manifests, "dtype"),
        **{str(name): packages[name] for name in packages},
    }
    return pd.DataFrame({"what": list(rows), "value": [several(values) for values in rows.values()]})


def reference_runs() -> pd.DataFrame:
    """The manifests of the runs whose values are committed, one row each; no row where nothing is committed."""
    if not (reference_dir() / MANIFEST).is_file():
        return pd.DataFrame(columns=["kind", "device", "seconds"])
    return pd.DataFrame(json.loads((reference_dir() / MANIFEST).read_text(encoding="utf-8"))["runs"])


def hours_by_device(manifests: pd.DataFrame) -> pd.DataFrame:
    """How many computations ran on each device, and the hours of notebook time that they took; all together last.

    >>> runs = pd.DataFrame({"kind": "compute", "device": ["cpu", "gpu", "cpu"], "seconds": [1800.0, 360.0, 5400.0]})
    >>> hours_by_device(runs).values.tolist()
    [['cpu', 2, 2.0], ['gpu', 1, 0.1], ['all', 3, 2.1]]
    """
    computed = manifests[manifests["kind"] == "compute"]
    by = computed.groupby("device", sort=True)["seconds"].agg(["size", "sum"])
    by.loc["all"] = by.sum()
    found = pd.DataFrame({"device": by.index, "runs": by["size"].astype(int), "hours": by["sum"] / 3600})
    return found.reset_index(drop=True)


def in_words(manifests: pd.DataFrame) -> str:
    """How many runs there are, and what they took."""
    computed = manifests[manifests["kind"] == "compute"]
    hours, minutes = divmod(round(manifests["seconds"].sum() / 60), 60)
    asked, run = (pd.to_numeric(column(computed, name), errors="coerce").sum() for name in ("rows_asked", "rows_run"))
    return (
        f"{len(manifests)} runs ({len(computed)} of them computations) took {hours} h {minutes} min of notebook time "
        f"in all (several may run at once); the core was asked for {asked:,.0f} model rows and ran {run:,.0f}."
    )
