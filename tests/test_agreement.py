"""Rank correlations of metrics over inputs against scipy, and how uncertain they are against draws written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from faithbook.stats.agreement import KENDALL, SPEARMAN, rank_agreement
from faithbook.stats.inference import Student
from faithbook.stats.verdict import Verdict, direction
from faithlib.errors import InputError

METRICS = ["a", "b", "c"]


def frame(n: int = 40, datasets: tuple[str, ...] = ("x", "y"), seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    rows = []
    for dataset in datasets:
        base = generator.normal(size=n)
        for method in ("m", "k"):
            for metric, weight in zip(METRICS, (1.0, 0.8, 0.0), strict=True):
                values = weight * base + generator.normal(size=n) * (0.6 if weight else 1.0)
                about = {"dataset": dataset, "method": method, "metric": metric, "id": [f"i{i}" for i in range(n)]}
                rows.append(pd.DataFrame({**about, "value": values.round(1)}))
    return pd.concat(rows, ignore_index=True).assign(cluster=lambda frame: frame["id"])


def test_pairs_have_scipys_correlation_averaged_over_cells() -> None:
    """And their standard error is that of the draws."""
    found = frame()
    made = rank_agreement(found, METRICS, inside=["method"], n_resamples=999)
    wide = found.pivot(index=["dataset", "method", "id"], columns="metric", values="value")
    cells = [cell for _, cell in wide.groupby(level=["dataset", "method"])]
    for kind, of in ((SPEARMAN, scipy.stats.spearmanr), (KENDALL, scipy.stats.kendalltau)):
        expected = np.mean([of(cell["a"], cell["b"]).statistic for cell in cells])
        assert made[kind, "a", "b"].point == pytest.approx(expected, abs=1e-5)
    gap = made[SPEARMAN, "a", "b"] - made[SPEARMAN, "a", "c"]
    for estimate in (*made.values(), gap):
        assert estimate.standard_error == pytest.approx(estimate.replicates.std(), rel=0.2)
    assert gap.p_above() < 0.0025 and made[SPEARMAN, "b", "c"].p_above() > 0.025


def test_clusters_are_drawn_together() -> None:
    found = frame()
    doubled = pd.concat([found, found.assign(id=found["id"] + "again")], ignore_index=True)
    alone, twice = (rank_agreement(frame, METRICS, inside=["method"], n_resamples=199) for frame in (found, doubled))
    for key in alone:
        assert (twice[key].fewest, twice[key].n) == (40, 80)
        if key[0] == SPEARMAN:
            assert twice[key].standard_error == pytest.approx(alone[key].standard_error, rel=0.02)


def test_undefined_inputs_and_constant_cells_are_left_out() -> None:
    found = frame()
    found.loc[(found.metric == "a") & (found.id == "i0"), "value"] = np.nan
    flat = found.assign(value=found["value"].where((found.metric != "b") | (found.method != "k"), 1.0))
    made = rank_agreement(flat, METRICS, inside=["method"], n_resamples=99)
    single = rank_agreement(found[found.method == "m"], METRICS, inside=["method"], n_resamples=99)
    assert made[SPEARMAN, "a", "b"].point == pytest.approx(single[SPEARMAN, "a", "b"].point, abs=1e-6)
    assert made[SPEARMAN, "a", "b"].n == 39
    flat = found.assign(value=found["value"].where(found.metric != "b", 1.0))
    none = rank_agreement(flat, METRICS, inside=["method"], n_resamples=99)
    assert np.isnan(none[SPEARMAN, "a", "b"].point)
    assert (none[SPEARMAN, "a", "b"].fewest, none[SPEARMAN, "a", "c"].fewest) == (0, 39)
    assert direction(Student.of([none[SPEARMAN, "a", "b"]])).verdict is Verdict.NOT_TESTED
    with pytest.raises(InputError, match="no input has all of"):
        rank_agreement(found.assign(value=np.nan), METRICS, inside=["method"])
