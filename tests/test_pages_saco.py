"""The pages of study 2 on synthetic results whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from store import Shown, Store, units_of

from faithbook.results import published

LAST = "last_layer_attention_with_gradient"
KS = (5, 10, 20)
DATASETS = ("fashion", "mnist")


def as_printed() -> dict[tuple[str, int], float]:
    """SaCo of every method and number of groups as the paper prints it; random scores at zero."""
    table = published.table("saco_table2").astype({"k": int})
    found = {(row.method, row.k): row.value for row in table.itertuples()}
    one = published.table("saco_table1").set_index("method_inferred").value
    return found | {(LAST, k): one[LAST] for k in KS} | {("random", k): 0.0 for k in KS}


def saco_units(means: dict[tuple[str, int], float], *, n: int, seed: int = 0) -> dict[str, pd.DataFrame]:
    """The two files that `saco_metrics` keeps of SaCo."""
    frame = units_of(means, ("method", "k"), n=n, seed=seed, metric="saco", model="base", draw=0, spread=0.05)
    return {"": frame[frame.k == 10].drop(columns="k"), "groups": frame[frame.k != 10]}


ORDERS = pd.DataFrame([{"orders": 120, "mean": 0.0, "obeyed": 0.5, "lowest": -1.0, "highest": 1.0}])


def page(store: Store, means: dict[tuple[str, int], float], *, n: int = 40) -> Shown:
    for seed, dataset in enumerate(DATASETS):
        store.add("saco_metrics", saco_units(means, n=n, seed=seed), dataset=dataset)
    store.add("saco_replayed", tables={"saco_orders": ORDERS})
    return store.report("saco_tables")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(tmp_path, monkeypatch)


CLAIMS = ["saco_table1", "saco_table2", "saco_c03", "saco_c04", "saco_c08", "saco_c09", "saco_c10", "saco_c11"]


def test_what_the_paper_prints_carries_over_to_a_world_that_is_as_printed(store: Store) -> None:
    found = page(store, as_printed())
    assert {name: found.verdict(name) for name in CLAIMS} == dict.fromkeys(CLAIMS, "carries over")
    assert found.verdict("saco_text") == "set up as published"
    assert set(found.verdicts.evidence) == {"stand-ins"}
    assert "13 of the 13 numbers" in found.verdicts.loc["saco_text", "note"]


def test_a_world_that_is_the_other_way_round_says_no(store: Store) -> None:
    printed = as_printed()
    turned = {(method, k): 0.7 - value if method != "random" else 0.0 for (method, k), value in printed.items()}
    turned |= {("integrated_gradients", 20): 0.2, ("attcat", 20): 0.1, ("raw_attention", 5): 0.9}
    found = page(store, turned)
    for name in ("saco_c03", "saco_c04", "saco_table2", "saco_c08", "saco_c09", "saco_c10", "saco_c11"):
        assert found.verdict(name) == "does not carry over", (name, found.verdicts.loc[name, "note"])


def test_few_pictures_decide_nothing(store: Store) -> None:
    found = page(store, as_printed(), n=8)
    assert {found.verdict(name) for name in CLAIMS} == {"not testable here"}
