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


# --- Figure 1 and Table 4 --------------------------------------------------------------------------------------------

DATASETS = ("movie", "bbc", "section", "pair")
PAPER_METHODS = ("deeplift", "input_x_gradient", "integrated_gradients")
RATIOS = (0.1, 0.5)


def toy_tables() -> dict[str, pd.DataFrame]:
    """Two attributions of five tokens, equal under hard erasure and apart under soft."""
    tokens = pd.DataFrame({"token": list("abcde"), "A": [1.0, 0.8, 0.3, 0.2, 0.0], "B": [0.4, 1.0, 0.1, 0.05, 0.0]})
    hard = pd.DataFrame([{"metric": m, "kept": k, "A": 0.4, "B": 0.4} for m in ("ns", "nc") for k in (2, 3, 4)])
    soft = pd.DataFrame(
        [{"metric": m, "A": 0.6, "B": 0.2, "gap": 0.4, "error": 0.01, "draws": 64} for m in ("soft_ns", "soft_nc")]
    )
    return {"soft_two_tokens": tokens, "soft_two_hard": hard, "soft_two_soft": soft}


def examples(store: Store, *, soft: float, hard: float, n: int = 40) -> Shown:
    """Scores of real attributions under soft and hard metrics, where random ones have .5."""
    level = {"soft_ns": soft, "soft_nc": soft, "ns": hard, "nc": hard}
    for seed, dataset in enumerate(DATASETS):
        common = {"seed": seed, "n": n, "spread": 0.05}
        means = {
            (metric, method): 0.5 if method == "random" else level[metric]
            for metric in level
            for method in (*PAPER_METHODS, "random")
        }
        softly = {key: value for key, value in means.items() if key[0].startswith("soft")}
        hardly = {(*key, ratio): value for key, value in means.items() if key not in softly for ratio in RATIOS}
        units = {"": units_of(softly, ("metric", "method"), **common)}
        units["lengths"] = units_of(hardly, ("metric", "method", "ratio"), **common)
        rows = [
            {
                "dataset": dataset,
                "model_seed": 0,
                "input": "i0",
                "position": i,
                "token": f"t{i}",
                "method": m,
                "score": i,
            }
            for m in (*PAPER_METHODS, "random")
            for i in range(10)
        ]
        scores = pd.concat(units.values()).rename(columns={"id": "input"}).assign(dataset=dataset, model_seed=0)
        tables = {"soft_examples": pd.DataFrame(rows), "soft_scores": scores}
        store.add("soft_metrics", units, tables=tables, dataset=dataset)
    store.add("soft_two_attributions", tables=toy_tables())
    return store.report("soft_examples")


def test_examples_that_soft_erasure_wins_alone_carry_over(store: Store) -> None:
    found = examples(store, soft=0.9, hard=0.2)
    assert found.verdict("soft_table4_examples") == "carries over"
    assert found.verdict("soft_figure1") == "not recomputable"
    assert "equal at 3 rationale lengths from two tokens on in 2 of 2 metrics" in found.text
    assert "beyond their Monte-Carlo error in 2 of 2" in found.text
    shares = pd.read_csv(found.folder / "soft_table4_shares.csv").set_index(["question", "metric", "dataset"])
    assert shares.estimate["soft alone", "nc", "all"] == pytest.approx(1.0)
    assert shares.estimate["hard alone", "nc", "all"] == 0
    assert len(shares) == 3 * 2 * 5
    ours = pd.read_csv(found.folder / "soft_table4_ours.csv")
    assert len(ours) == 6
    assert ours["Soft-NC"][ours.attribution != "random"].gt(0.6).all()


def test_examples_that_hard_erasure_wins_alone_do_not(store: Store) -> None:
    found = examples(store, soft=0.2, hard=0.9)
    assert found.verdict("soft_table4_examples") == "does not carry over"
    shares = pd.read_csv(found.folder / "soft_table4_shares.csv").set_index(["question", "metric", "dataset"])
    assert shares.estimate["hard alone", "ns", "movie"] == pytest.approx(1.0)


def test_few_examples_decide_nothing(store: Store) -> None:
    assert examples(store, soft=0.9, hard=0.2, n=8).verdict("soft_table4_examples") == "not testable here"
