"""The pages of the last chapter on synthetic results whose truth is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from store import Store

from faithbook.results import evalxnlp
from faithlib import metrics


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(tmp_path, monkeypatch)


# ------------------------------------------------------------------------------------------ the EvalxNLP family by hand
WORDS, TEXTS, DRAWS, MARKED, K = 10, 11, 4, slice(6, 10), 4
FIFTH, TENTHS = [step * 5 / 100 for step in range(5)], [step / 10 for step in range(11)]


def answered(scores: np.ndarray, gone: int) -> float:
    """p(yes) after the words that count most for these scores: it loses the class after three."""
    return 0.9 - 0.15 * gone + 0.001 * float(scores[0])


def by_faithlib(scores: np.ndarray, gold: torch.Tensor) -> dict[str, float]:
    """The nine metrics of one text as the library has them; the model is `answered`, its draws are fixed."""
    given = torch.from_numpy(scores)[None].double()
    p, p0 = torch.tensor([answered(scores, 0)]), torch.tensor([0.1])
    kept, removed = (torch.tensor([value]) for value in (0.7, 0.3))
    fifth, all_ = (
        torch.tensor([[float(answered(scores, evalxnlp.words_gone(s, WORDS)) > 0.5) for s in shares]])
        for shares in (FIFTH, TENTHS)
    )
    found = {"soft_ns": metrics.soft_ns(p, kept, p0), "soft_nc": metrics.soft_nc(p, removed, p0)}
    found |= {"n_auc": metrics.n_auc(fifth), "autpc": metrics.auc(all_)}
    found |= {"token_f1": metrics.token_f1(given, gold, k=K), "iou_f1": metrics.iou_f1(given, gold, k=K)}
    found |= {"auprc": metrics.auprc(given, gold), "complexity": metrics.complexity(given)}
    return {name: value.item() for name, value in (found | {"sparseness": metrics.sparseness(given)}).items()}


def by_hand(store: Store, *, off: float = 0.0, harder: float = 0.0) -> None:
    """A run of `together_by_hand`. `off`: what is added to the library's AUPRC of the example; `harder`: what the model
    loses on each row of the released code, ends twice or not."""
    generator = np.random.default_rng(0)
    gold = torch.zeros(1, WORDS, dtype=torch.bool)
    gold[0, MARKED] = True
    scores = generator.normal(0, 0.1, (TEXTS, 2, WORDS)) + 0.05 * gold.numpy()
    names = ["example", *(f"t{number}" for number in range(1, TEXTS))]
    rows, accuracy, curves, soft = [], [], [], []
    for text in range(TEXTS):
        for method, own in zip(("occlusion", "random"), scores[text], strict=True):
            rows += [(text, method, metric, value) for metric, value in by_faithlib(own, gold).items()]
            for curve, shares in (("n_auc", FIFTH), ("autpc", TENTHS)):
                still = [float(answered(own, evalxnlp.words_gone(s, WORDS)) > 0.5) for s in shares]
                accuracy += [(text, method, curve, s, y) for s, y in zip(shares, still, strict=True)]
        own = scores[text, 0]
        for metric, percents in (("n_auc", range(0, 21, 10)), ("autpc", range(0, 101, 10))):
            gone = [answered(own, WORDS * percent // 100) - harder for percent in percents]
            curves += [(metric, "all of it", text, percent, p) for percent, p in zip(percents, gone, strict=True)]
        soft += [(text, "blank", 0, 0.1)]
        soft += [(text, what, d, 0.5) for what in ("sufficiency", "comprehensiveness") for d in range(DRAWS)]
    every = pd.DataFrame(rows, columns=["input", "method", "metric", "value"])
    example = every[(every.input == 0) & (every.method == "occlusion")].copy()
    example.loc[example.metric == "auprc", "value"] += off
    own, full = scores[0, 0], [answered(scores[text, 0], 0) for text in range(TEXTS)]
    texts = pd.DataFrame({"id": names, "query": "q", "p_full": full, "p_empty": 0.1, "p_full_by_hand": full})
    texts = texts.assign(p_empty_by_hand=0.1, cls=0.01, sep=-0.02, looked_at=40, hidden_units=8, words_below=0)
    words = [f"w{number}" for number in range(WORDS)]
    tokens = pd.DataFrame({"text": np.repeat(range(TEXTS), WORDS), "word": words * TEXTS})
    tokens = tokens.assign(marked=np.tile(gold[0].numpy(), TEXTS), occlusion=scores[:, 0].ravel(), random=0.0)
    ids = {"token": ["[CLS]", *words, "[SEP]"], "score": 0.0, "kept": True, "id": 0, "read": "[PAD]"}
    tables = {
        "by_hand_texts": texts,
        "by_hand_tokens": tokens,
        "by_hand_words": pd.DataFrame({"word": words, "p_without": full[0] - own}),
        "by_hand_removed": pd.DataFrame({"gone": range(WORDS + 1), "p": [answered(own, k) for k in range(WORDS + 1)]}),
        "by_hand_draws": pd.DataFrame({"draw": range(1, DRAWS + 1), "p_kept": 0.7, "p_removed": 0.3}),
        "by_hand_set": every,
        "by_hand_example": example,
        "by_hand_one_word": example,
        "by_hand_ends": pd.DataFrame({"metric": ["AUPRC"], "case": ["c"], "must be": [1.0], "is": [1.0]}),
        "by_hand_accuracy": pd.DataFrame(accuracy, columns=["text", "method", "curve", "share", "y"]),
        "by_hand_released_curves": pd.DataFrame(curves, columns=["metric", "change", "text", "percent", "p"]),
        "by_hand_released_soft": pd.DataFrame(soft, columns=["text", "what", "draw", "p"]),
        "by_hand_released_ids": pd.DataFrame(ids),
    }
    units = every.assign(id=[names[text] for text in every.input], seed=0).drop(columns="input")
    store.add("together_by_hand", {"": units.assign(cluster=units.id)}, tables=tables)


def test_what_is_worked_out_by_hand_is_what_the_library_says(store: Store) -> None:
    by_hand(store)
    found = store.report("together_metrics")
    assert "9 of 9 agree to four digits" in found.text
    shown = pd.read_csv(found.folder / "together_metrics_set.csv")
    assert len(shown) == 18 and set(shown.n) == {TEXTS - 1}  # the example counts in no mean
    assert (shown.low <= shown.estimate + 1e-12).all() and (shown.estimate <= shown.high + 1e-12).all()
    assert not (found.folder / "verdicts.parquet").exists()  # a page without a claim has no verdict to save


def test_a_metric_that_the_library_has_otherwise_is_counted(store: Store) -> None:
    by_hand(store, off=0.01)
    assert "8 of 9 agree to four digits; largest difference: 1.0e-02" in store.report("together_metrics").text


@pytest.mark.parametrize(("harder", "direction"), [(0.0, "open"), (0.5, "down")])
def test_what_the_released_code_changes_has_an_interval_and_a_direction(
    store: Store, harder: float, direction: str
) -> None:
    by_hand(store, harder=harder)
    found = store.report("together_released")
    shown = pd.read_csv(found.folder / "together_metrics_released.csv").set_index(["metric", "done otherwise"])
    assert shown.change["sparseness", "ranks from 0"] == pytest.approx(-2 / WORDS, abs=1e-6)
    assert shown.change["auprc", "as released"] == pytest.approx(0, abs=1e-6)
    told = found.names["told"]
    assert "complexity" in told["down"]  # it is divided by the number of tokens
    assert "AUTPC" in told[direction]
    assert f"to {0 if harder else TEXTS - 1} of {TEXTS - 1} excerpts" in found.text


def test_metrics_of_one_text_at_their_ends() -> None:
    assert np.isnan(evalxnlp.n_auc([0, 0, 0])) and np.isnan(evalxnlp.soft(0.4, 0.4, [0.1], [0.1])[0]).all()
    assert evalxnlp.sparseness(np.eye(10)[0]) == pytest.approx(0.9)
    assert evalxnlp.sparseness(np.eye(10)[0], first=0) == pytest.approx(1 - 3 / 10)
    first, last = np.arange(4) < 2, np.arange(4) >= 2
    assert evalxnlp.span_f1(first, first) == 1 and evalxnlp.span_f1(first, last) == 0
    assert evalxnlp.rationale(np.array([-1.0, -2.0, 3.0]), 2).tolist() == [False, False, True]
    assert evalxnlp.largest_sizes(np.array([-1.0, -2.0, 3.0]), 2).tolist() == [False, True, True]
