"""The pages of study 1 on synthetic results whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from store import Shown, Store, units_of

METHODS = ("attention", "deeplift")
VARIANCES = (0.01, 0.1, 1.0)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(tmp_path, monkeypatch)


# --- Appendix C ------------------------------------------------------------------------------------------------------


def appendix(store: Store, dropout: float, others: float, *, n: int = 40) -> Shown:
    """Soft scores of real attributions under dropout and under everything else, where random ones have .5."""
    settings = [("dropout", 0.0), ("attention_mask", 0.0)]
    settings += [(f"gaussian_eq{equation}", variance) for equation in (7, 8) for variance in VARIANCES]
    means = {
        (metric, name, variance, method): 0.5 if method == "random" else dropout if name == "dropout" else others
        for metric in ("soft_ns", "soft_nc")
        for name, variance in settings
        for method in (*METHODS, "random")
    }
    for seed, dataset in enumerate(("movie", "bbc")):
        units = units_of(means, ("metric", "perturbation", "variance", "method"), n=n, seed=seed, spread=0.02)
        store.add("soft_variants", {"appendix": units}, dataset=dataset)
    return store.report("soft_appendix")


def test_dropout_that_does_best_is_told(store: Store) -> None:
    found = appendix(store, dropout=0.9, others=0.4)
    assert ">carries over<" in found.text
    assert "ahead of 14 of 14 alternatives" in found.text
    gaps = pd.read_csv(found.folder / "soft_appendix_gaps.csv")
    assert (gaps.estimate > 0.9).all()
    assert gaps.n.eq(80).all()
    assert gaps.outside.eq(0).all()
    values = pd.read_csv(found.folder / "soft_appendix_figure.csv")
    scores = values[values.shows == "mean score"].groupby("perturbation").estimate.mean()
    assert scores["dropout (Eq. 3)"] == pytest.approx(0.9, abs=0.01)
    assert not (found.folder / "verdicts.parquet").exists()


def test_dropout_that_does_worst_does_not_carry_over(store: Store) -> None:
    found = appendix(store, dropout=0.4, others=0.9)
    assert ">does not carry over<" in found.text
    assert "ahead of 0 of 14 alternatives" in found.text


def test_few_inputs_say_nothing_of_dropout(store: Store) -> None:
    assert ">not testable here<" in appendix(store, dropout=0.9, others=0.4, n=4).text
