"""This build beside the full run: means of the cells that both have, and values of the inputs that both have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from store import Store

from faithbook.judge import builds
from faithbook.stats.conditions import Conditions


def values(n: int, *, shift: float = 0.0, seed: int = 0, method: str = "lime") -> pd.DataFrame:
    """Values of n inputs in clusters of two; the first inputs of two frames are the same."""
    noise = np.random.default_rng(seed).normal(size=200)[:n]
    ids = [f"i{i}" for i in range(n)]
    frame = pd.DataFrame({"id": ids, "cluster": [f"c{i // 2}" for i in range(n)], "seed": 0, "value": noise + shift})
    return frame.assign(method=method, metric="nc")


def test_a_cell_has_both_means_and_their_difference_in_standard_errors() -> None:
    build, full = values(20, shift=0.5), pd.concat([values(100, seed=1), values(9, method="lrp")])
    row = builds.cells_beside(build, full).iloc[0]
    means = [
        Conditions.of(run, over=["method"], unit="id", cluster="cluster", n_resamples=9999).mean(method="lime")
        for run in (build, full)
    ]
    error = np.hypot(*(mean.standard_error for mean in means))
    assert (row["build"], row["full"]) == pytest.approx([mean.point for mean in means])
    assert row["away"] == pytest.approx((means[0].point - means[1].point) / error, rel=0.03)
    assert (row["n"], row["n_full"], row["method"]) == (20, 100, "lime")
    same, changed = values(100), values(20)
    changed.loc[[3, 4], "value"] += [0.1, 1e-5]
    assert builds.inputs_beside(changed, same) == (20, 19)  # values of the same inputs, and those alike


def test_a_label_may_have_the_name_of_a_statistic() -> None:
    """Study safe's values have a column `error`: the kind of mistake that a model makes."""
    frame = values(4).assign(error="never")
    (cell,) = builds.cells_beside(frame, frame).to_dict("records")
    assert (cell["error"], cell["n"]) == ("never", 4)
    assert cell["build"] == pytest.approx(frame["value"].mean())


def test_what_only_one_of_them_has_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    store.add("saco_metrics", {"": values(20)}, dataset="fashion")
    store.add("saco_metrics", {"": values(60), "groups": values(60)}, dataset="fashion", reference=True)
    store.add("naopc_search", {"": values(60)}, dataset="bbc", reference=True)
    verdicts = pd.DataFrame([{"id": "a", "decision": "mixed"}, {"id": "b", "decision": "undecided"}])
    store.add("scoreboard", tables={"scoreboard": verdicts})
    board = store.home / "data" / "reference" / "full" / "scoreboard.csv"
    board.write_text("id,decision\na,mixed\nb,mixed\n")
    found = store.report("this_build")
    short = found.table("this_build")
    assert short.iloc[0].to_dict() == {
        "values": "saco_metrics",
        "cells": 1,
        "more than 2 SE apart": 0,
        "values of the same inputs": 20,
        "alike": 20,
    }
    assert found.table("this_build_verdicts")["id"].tolist() == ["b"]
