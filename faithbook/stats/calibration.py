"""How often the rules err where the truth is known: the rates that `data/reference/calibrate.py` has measured.

A row of its table is a rule in a kind of world, with the share of worlds in which the rule said yes or no, or in which
an interval held the truth, and what is promised of that share.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from faithbook.access import require
from faithbook.paths import root
from faithbook.stats import rules
from faithbook.stats.p_values import wilson_ends

TABLE, MADE = "data/reference/calibration.csv", "data/reference/calibration.json"
WORLD = ("values", "clusters", "parts", "correlation")
"""What says a world: the shape of its values, how many clusters and parts, how parts correlate."""
COUNTS, PARTS = (10, 24, 100), (1, 10, 30, 120)
MARGIN = 0.05
SPREAD = 0.2
"""Standard deviation of the values that are held against the margin, about that of a difference of shares."""
ALL, HELD, INSIDE = "all parts above 0", "interval of a mean", "inside the margin"
HELD_AS = "held"
LISTED, SKEW_APART = "listed", "strong skew"
"""The kinds of values: those of which something is promised, and those that are kept apart."""


def measured() -> tuple[pd.DataFrame, dict[str, Any]]:
    """The committed table, and how it was made."""
    require(TABLE, MADE)
    return pd.read_csv(root() / TABLE), json.loads((root() / MADE).read_text(encoding="utf-8"))


def rates(frame: pd.DataFrame) -> pd.DataFrame:
    """Every rate of the table as a row: `which` (yes, no, held), `rate` with its 95 % Monte Carlo interval (`low`,
    `high`), what is `promised` of it (NaN: nothing), and whether that is `kept`: not where the whole interval lies
    beyond it."""
    frames = []
    for which in (rules.YES, rules.NO, HELD_AS):
        part = frame.dropna(subset=[which])
        low, high = wilson_ends(part[which], part["worlds"])
        limit = part.get(f"promised_{which}", np.full(len(part), np.nan))
        beyond = high < limit if which == HELD_AS else low > limit
        ends = {"which": which, "rate": part[which], "low": low, "high": high, "promised": limit, "kept": ~beyond}
        frames.append(part[["rule", *WORLD, "kind", "skewness", "worlds"]].assign(**ends))
    return pd.concat(frames, ignore_index=True)


def worst(long: pd.DataFrame) -> pd.DataFrame:
    """Of `rates`, the farthest from its promise for every rule, kind of values, number of clusters, yes, no or held."""
    chosen = long.dropna(subset=["promised"])
    keys = ["rule", "kind", "clusters", "which"]
    margin = chosen["rate"].where(chosen["which"] != HELD_AS, -chosen["rate"])
    farthest = margin.groupby([chosen[key] for key in keys], sort=False).idxmax()
    counted = chosen.groupby(keys, sort=False)["kept"].agg(["size", "sum"]).reset_index(drop=True)
    return chosen.loc[farthest].reset_index(drop=True).assign(rates=counted["size"], keeping=counted["sum"])
