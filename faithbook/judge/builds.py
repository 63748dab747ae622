"""This build beside the full run: the same values of single inputs, and means of the same cells, as both measured them.

A cell is a combination of all labels that values have (data set, model, method, metric ...) but input and seed. Pages
show the full run alone; where a small run lies far from it, this is where that is seen.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from faithbook.engine.computed import means_by
from faithbook.engine.inputs import UNITS_DIR
from faithbook.engine.run import Run, load_units
from faithbook.engine.units import UNITS
from faithbook.judge.scores import has_run
from faithbook.paths import root
from faithbook.stats.estimate import FEWEST_CLUSTERS
from faithlib.errors import DataError

FAR = 2.0  # standard errors
_ALIKE = 1e-3
_INPUT = ("id", "cluster", "seed", "value", "profile")


def pairs_of_units(run: Run) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """The values that both the run and the reference have, by notebook and part: (this build's, the full run's)."""
    pairs = {}
    for folder in sorted((root() / UNITS_DIR).glob("*")):
        if not has_run(run, folder.name):
            continue
        for part in sorted({re.sub(rf".*-{UNITS}_?|\.parquet$", "", path.name) for path in folder.glob("*.parquet")}):
            try:
                build = load_units(folder.name, run.job.profile, part=part)
            except DataError:  # a table that this profile does not make
                continue
            pairs[f"{folder.name} {part}".strip()] = (build, load_units(folder.name, part=part, reference=True))
    return pairs


def cells_beside(build: pd.DataFrame, full: pd.DataFrame) -> pd.DataFrame:
    """Cells that both have: their labels, of either the mean over inputs and n inputs (`build`, `n`, `full`,
    `n_full`), and `away`, the difference in standard errors as if the inputs were different ones; NaN where nothing
    spreads, or with fewer than ten clusters on either side."""
    labels = _labels(build, full)
    first, second = (means_by(units, labels).fillna({"standard_error": 0.0}).reset_index() for units in (build, full))
    both = first.merge(second, on=labels, suffixes=("", "_full"))
    error = (both["standard_error"] ** 2 + both["standard_error_full"] ** 2) ** 0.5
    enough = both[["clusters", "clusters_full"]].min(axis=1) >= FEWEST_CLUSTERS
    away = (both["mean"] - both["mean_full"]) / error.where((error > 0) & enough)
    columns = {"mean": "build", "n": "n", "mean_full": "full", "n_full": "n_full"}
    return both[[*labels, *columns]].rename(columns=columns).assign(away=away)


def inputs_beside(build: pd.DataFrame, full: pd.DataFrame) -> tuple[int, int]:
    """How many values of the same inputs, with the same labels and seed, both have, and how many of them are alike to a
    thousandth."""
    keys = [*_labels(build, full), "id", "seed"]
    both = build[[*keys, "value"]].merge(full[[*keys, "value"]], on=keys, suffixes=("", "_full"))
    alike = np.isclose(both["value"], both["value_full"], rtol=_ALIKE, atol=_ALIKE, equal_nan=True)
    return len(both), int(alike.sum())


def tables_in_both(pairs: dict[str, tuple[pd.DataFrame, pd.DataFrame]], cells: pd.DataFrame) -> pd.DataFrame:
    """One row per table of values: cells in both runs, how many lie `FAR` apart, values of inputs in both, how many are
    alike. `cells`: all of `cells_beside` with the column `values`."""
    rows = []
    for name, (build, full) in pairs.items():
        away = cells.loc[cells["values"] == name, "away"].dropna().abs()
        shared, alike = inputs_beside(build, full)
        counts = {"cells": len(away), f"more than {FAR:g} SE apart": int((away > FAR).sum())}
        rows.append({"values": name, **counts, "values of the same inputs": shared, "alike": alike})
    return pd.DataFrame(rows)


def _labels(build: pd.DataFrame, full: pd.DataFrame) -> list[str]:
    return [name for name in full.columns if name in build.columns and name not in _INPUT]
