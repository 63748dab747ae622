"""How the tables of `soft_tables` are shown: who is ahead, which columns, which value in brackets."""

from __future__ import annotations

import pandas as pd

from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.soft import zhao_aletras_tables as tables

N = 40


def test_soft_metrics_that_are_clearly_ahead_or_behind_are_counted() -> None:
    known = {("nc", "sst"): 0.2, ("soft_nc", "sst"): 0.8, ("ns", "sst"): 0.8, ("soft_ns", "sst"): 0.2}
    known |= {(metric, "ag"): 0.5 for metric in ("nc", "soft_nc", "ns", "soft_ns")}
    rows = [(i, *key, float(i < N * share)) for key, share in known.items() for i in range(N)]
    frame = pd.DataFrame(rows, columns=["id", "metric", "dataset", "value"])
    cells = Conditions.of(frame, over=["metric", "dataset"], unit="id", n_resamples=99)

    def power(metric: str, dataset: str) -> Comparison:
        return Comparison(cells.mean(metric=metric, dataset=dataset))

    assert tables.soft_ahead(power, "dataset", ["sst", "ag"]) == tables.Ahead(ahead=1, behind=1, n=4)
    assert tables.soft_ahead(power, "dataset", ["sst"]).n == 2


def test_training_settings_have_ours_first_and_the_published_one_in_brackets() -> None:
    rows = [("sst", "batch size", "bert", "8", "32"), ("sst", "learning rate linear", "bert", "0.0001", "–")]
    settings = pd.DataFrame(rows, columns=["data set", "setting", "model", "published", "ours"])
    (row,) = tables.settings_wide(settings).to_dict("records")
    assert row == {
        "data set": "SST",
        "model": "bert",
        "batch size": "32 (8)",
        "learning rate of the last layer": "– (0.0001)",
    }


def test_table_1_is_shown_without_its_side_columns() -> None:
    whole = pd.DataFrame([dict.fromkeys(tables.COLUMNS, "–") | {"model": "MPNet, 12 layers, 109 M"}])
    narrow = tables.main_columns(whole)
    assert set(tables.COLUMNS) - set(narrow.columns) == {"cut at", "majority F1", "models"}
    assert narrow.model.tolist() == ["MPNet"]
