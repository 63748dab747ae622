"""The formula that is said of each metric is what `evaluate` computes: written out here in its symbols, on one text.

`f` is the followed output with a set of words alone, `x` the set of all; symbols are those of the library's README.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from flat import evaluate

from faithlib.catalogue import list_metrics
from faithlib.metrics.registry import BUILT_IN

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
SCORES = [0.5, -0.25, 0.875, 0.125, -0.5, 0.25]
GOLD = [False, True, True, False, False, True]
N, K = len(WORDS), 4
EDGES = [0, 2, 3, 5, 6]  # k n / K, rounded, halves up: groups of two, one, two and one
X = frozenset(range(N))
Q = (0.01, 0.05, 0.1, 0.2, 0.5)


def f(kept: frozenset[int]) -> float:
    """The probability of class 1: not a sum over words, and above one half only with enough of them."""
    logit = -1.6 + 1.5 * (2 in kept) + 0.75 * (0 in kept) - 0.4 * (1 in kept) + 1.2 * (4 in kept)
    logit += 0.9 * ({0, 5} <= kept) - 0.6 * ({2, 3} <= kept) + 0.2 * (5 in kept)
    return 1 / (1 + math.exp(-logit))


def model(texts: list[str]) -> list[list[float]]:
    kept = [frozenset(WORDS.index(word) for word in text.split()) for text in texts]
    return [[1 - f(some), f(some)] for some in kept]


def top(k: int) -> frozenset[int]:
    return frozenset(sorted(X, key=lambda i: -SCORES[i])[:k])


def share(q: float) -> frozenset[int]:
    return top(math.ceil(round(q * N, 9)))


def low(k: int) -> frozenset[int]:
    return X - top(N - k)


def c(kept: frozenset[int]) -> float:
    return float((f(kept) >= 0.5) == (f(X) >= 0.5))


def positive(value: float) -> float:
    return max(0.0, value)


def area(values: list[float]) -> float:
    return float(scipy.integrate.trapezoid(values, dx=1 / (len(values) - 1)))


def saco(g: list[float], d: list[float]) -> float:
    pairs = list(itertools.combinations(range(K), 2))
    signed = sum((g[i] - g[j]) * (1 if d[i] >= d[j] else -1) for i, j in pairs)
    return signed / sum(abs(g[i] - g[j]) for i, j in pairs)


def by_hand() -> dict[str, float]:
    room = f(X) - f(frozenset())
    gone = [f(X - top(k)) for k in range(N + 1)]
    morf = np.mean([f(X) - f(X - top(k)) for k in range(1, N + 1)])
    lerf = np.mean([f(X) - f(X - low(k)) for k in range(1, N + 1)])
    orders = [np.mean([f(X) - f(X - {*order[:k]}) for k in range(1, N + 1)]) for order in itertools.permutations(X)]
    lo, hi, mean = min(orders), max(orders), np.mean(orders)
    groups = [top(end) - top(start) for start, end in itertools.pairwise(EDGES)]
    g, d = [sum(SCORES[i] for i in group) for group in groups], [f(X) - f(X - group) for group in groups]
    u = sorted(abs(s) / sum(map(abs, SCORES)) for s in SCORES)
    marked = {i for i in X if GOLD[i]}
    p = {i for i in top(len(marked)) if SCORES[i] > 0}
    taken = top(len(marked))
    precision = [1.0] + [len(top(t) & marked) / t for t in range(1, N + 1)]
    recall = [0.0] + [len(top(t) & marked) / len(marked) for t in range(1, N + 1)]
    h = list(np.minimum.accumulate(np.clip([(value - gone[N]) / abs(gone[0] - gone[N]) for value in gone], 0, 1)))
    left = [sum(SCORES[i] for i in X - top(k)) / sum(SCORES) for k in range(N + 1)]
    raw = np.minimum(1, np.array(h) + np.abs(np.array(h) - left))
    adjusted = (morf - mean) / (hi - mean), (lerf - mean) / (lo - mean)
    return {
        "ns": np.mean([1 - positive(f(X) - f(share(q))) / room for q in Q]),
        "nc": np.mean([positive(f(X) - f(X - share(q))) / room for q in Q]),
        "comprehensiveness_eraser": np.mean([f(X) - f(X - share(q)) for q in Q]),
        "sufficiency_eraser": np.mean([f(X) - f(share(q)) for q in Q]),
        "aopc_morf": morf,
        "aopc_lerf": lerf,
        "naopc_morf": (morf - lo) / (hi - lo),
        "naopc_lerf": (lerf - lo) / (hi - lo),
        "saco": saco(g, d),
        "auc": area([c(X - top(end)) for end in EDGES]),
        "log_odds": np.mean([math.log(f(X - top(end))) - math.log(f(X)) for end in EDGES[1:]]),
        "n_auc": area([c(X - share(q)) for q in (0, 0.05, 0.1, 0.15, 0.2)]),
        "autpc": area([c(X - share(step / 10)) for step in range(11)]),
        "complexity": -sum(value * math.log(value) for value in u),
        "sparseness": 1 - 2 * sum(value * (N - i + 0.5) / N for i, value in enumerate(u, start=1)),
        "iou_f1": float(len(p & marked) >= len(p | marked) / 2),
        "token_f1": 2 * len(p & marked) / (len(p) + len(marked)),
        "iou": len(taken & marked) / len(taken | marked),
        "pointing_game": float(top(1) <= marked),
        "auprc": float(scipy.integrate.trapezoid(precision, recall)),
        "average_precision": sum((recall[t] - recall[t - 1]) * precision[t] for t in range(1, N + 1)),
        "top_1_drop": f(X) - f(X - top(1)),
        "top_3_drop": f(X) - f(X - top(3)),
        "top_5_drop": f(X) - f(X - top(5)),
        "rise": area(h),
        "mas": area(list((raw - raw.min()) / (raw.max() - raw.min()))),
        "srg": morf - lerf,
        "nsrg": (morf - lerf) / (hi - lo),
        "adjusted_naopc_morf": adjusted[0],
        "adjusted_naopc_lerf": adjusted[1],
        "adjusted_srg": sum(adjusted) / 2,
        "saco_mean": saco([value / len(group) for value, group in zip(g, groups, strict=True)], d),
    }


def values(function: Callable[[list[str]], list[list[float]]], metrics: list[str], **given: Any) -> dict[str, float]:
    """What `evaluate` says of the scores, by metric."""
    text, attributions = [" ".join(WORDS)], {"mine": [SCORES]}
    table = evaluate(function, text, metrics=metrics, attributions=attributions, target=1, erase="delete", **given)
    mine = table[table.method == "mine"]
    return dict(zip(mine.metric, mine.value, strict=True))


# What draws at random, and so has no value by hand: soft copies (`test_soft_metrics.py`, `test_lm_metrics.py` write
# these formulas out), and random sets.
RANDOM = {"soft_ns", "soft_nc", "hellinger_soft_ns", "hellinger_soft_nc", "pi_soft_ns", "pi_soft_nc"}
RANDOM |= {"lds", "win_rate_comprehensiveness", "win_rate_sufficiency"}


def test_every_metric_has_a_formula_of_one_line() -> None:
    formulas = {name: formula for family in BUILT_IN.values() for name, formula in family.formulas.items()}
    assert set(formulas) == set(list_metrics())
    for name, formula in formulas.items():
        assert formula and len(formula) <= 75 and not set(formula) & {"|", "`", "\n", "$", "\\"}, name


def test_formulas_written_out_are_what_evaluate_computes() -> None:
    expected = by_hand()
    missing = set(list_metrics()) - RANDOM - set(expected)
    assert not missing, f"write the formula of {', '.join(sorted(missing))} into by_hand"
    assert set(expected) == set(list_metrics()) - RANDOM
    found = values(model, list(expected), gold=[GOLD], groups=K)
    assert found == pytest.approx(expected, abs=1e-6)


def test_formulas_over_random_sets_at_their_known_values() -> None:
    """An output that is the sum of the scores, plainly ranked by them: `lds` is 1; no set of as many wins."""

    def line(texts: list[str]) -> list[list[float]]:
        sums = [0.5 + sum(SCORES[WORDS.index(word)] for word in text.split()) / 4 for text in texts]
        return [[1 - value, value] for value in sums]

    found = values(line, ["lds", "win_rate_comprehensiveness", "win_rate_sufficiency"])
    assert found["lds"] == pytest.approx(1)
    # 20 % of six words are two: a random pair is the top one in 1 of 15 draws, which counts by half.
    assert scipy.stats.binom.ppf(1e-6, 50, 14 / 15) / 50 <= found["win_rate_sufficiency"] <= 1
    assert found["win_rate_comprehensiveness"] == found["win_rate_sufficiency"]
