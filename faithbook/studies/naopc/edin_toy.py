"""Edin et al.'s argument on functions of four words of our own: bounds in closed form, what was computed of the
functions, and the figures that show it.

`naopc_small_functions` keeps every function's answers to all sets of words, its bounds by search, and AOPC and NAOPC of
every order. A set is written with 1 for a word that is left, an order as the numbers of its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.show.plots import Drawn, Layout, dot_plot, line_plot
from faithlib.errors import DataError

N = 4
EXACT = 1e-12
"""Further than this apart, formula and search differ: both are exact except for rounding."""

Bounds = tuple[float, float]
"""Lower and upper."""
Order = tuple[int, ...]


# --------------------------------------------------------------------------------------------------------- closed forms
def linear(weights: Sequence[float]) -> Bounds:
    """Of a straight line: (1/N) sum_j j w_(j) and (1/N) sum_j (N - j + 1) w_(j), w_(1) >= w_(2) >= ...

    >>> linear([0.0, 0.5, 0.25, 0.25])
    (0.4375, 0.8125)
    """
    down = np.array(sorted(weights, reverse=True))
    n = len(down)
    j = np.arange(1, n + 1)
    return float(j @ down / n), float((n - j + 1) @ down / n)


def gate(kind: str, *, m: int = 2, height: float = 0.8) -> Bounds:
    """Of an OR of m of the words, h/N and h (N - m + 1)/N; of an AND, h m/N and h.

    >>> gate("OR", height=1), gate("AND", m=3, height=1)
    ((0.25, 0.75), (0.75, 1))
    """
    if kind == "OR":
        return height / N, height * (N - m + 1) / N
    return height * m / N, height


def negation(phi: float = 0.2, beta: float = 0.2, gamma: float = 0.4) -> Bounds:
    """Of *not bad, fun, really*: what is lost in all, beta + phi, minus ((N - 3) beta + (N - 1) phi)/N, and more
    ((N - 1) gamma - phi)/N; for beta <= 2 phi and gamma > phi."""
    lost = phi + beta
    lower = lost - ((N - 3) * beta + (N - 1) * phi) / N
    upper = lost + ((N - 1) * gamma - phi) / N
    return lower, upper


FORMULAS = {
    "steep line": linear([0.5, 0.2, 0.1, 0.0]),
    "flat line": linear([0.2, 0.1, 0.05, 0.0]),
    "OR": gate("OR"),
    "AND": gate("AND"),
    "negation": negation(),
}
CHANCE = {"steep line": 1 / 2, "flat line": 1 / 2, "OR": 1 / 3, "AND": 2 / 3}
"""Mean NAOPC of all orders: 1/2 of a straight line, 1/(m + 1) of an OR of m words, m/(m + 1) of an AND."""


# -------------------------------------------------------------------------------------------------- what was computed
@dataclass(frozen=True)
class Small:
    """One function: its answer to each set, AOPC and NAOPC of every order, its bounds by search."""

    answers: Mapping[str, float]
    orders: Mapping[Order, tuple[float, float]]
    bounds: Bounds

    def curve(self, order: Order) -> NDArray[np.float64]:
        """Its answers while words go: to the whole text, then after each removal, [N + 1]."""
        return np.array([self.answers[left(order[:k])] for k in range(len(order) + 1)])

    def aopc(self, order: Order) -> float:
        """How far the answer has fallen, mean over the removals."""
        answer = self.curve(order)
        return float((answer[0] - answer[1:]).mean())

    @property
    def naopc(self) -> NDArray[np.float64]:
        """NAOPC of every order."""
        return np.array([scaled for _, scaled in self.orders.values()])


def left(gone: Sequence[int]) -> str:
    """The set that is left once some words are gone.

    >>> left([1, 3])
    '1010'
    """
    return "".join("0" if word in gone else "1" for word in range(N))


def functions(answers: pd.DataFrame, bounds: pd.DataFrame, orders: pd.DataFrame) -> dict[str, Small]:
    """The functions by name, from the three tables that are kept.

    Raises DataError where the AOPC of an order is not what the answers give.
    """
    by_name = {}
    for row in bounds.to_dict("records"):
        name = row["function"]
        of_sets = answers[answers["function"] == name]
        answer = dict(zip(of_sets["left"], of_sets["answer"], strict=True))
        scores: dict[Order, tuple[float, float]] = {}
        for ordered in orders[orders["function"] == name].to_dict("records"):
            order = tuple(int(word) for word in ordered["order"].split())
            scores[order] = (ordered["aopc"], ordered["naopc"])
        small = Small(answer, scores, (row["lower"], row["upper"]))
        _agree(name, "AOPC", {order: (small.aopc(order), aopc) for order, (aopc, _) in scores.items()})
        by_name[name] = small
    return by_name


def _agree(name: str, score: str, pairs: Mapping[Any, tuple[float, float]]) -> None:
    """Raise DataError where the two numbers of a pair differ by more than rounding."""
    for key, (first, other) in pairs.items():
        if not abs(first - other) < EXACT:
            raise DataError(f"{score} of {name} ({key}): {first} and {other}, expected the same: run it again")


def bounds_in_three_ways(by_name: Mapping[str, Small]) -> pd.DataFrame:
    """The bounds of every function with a formula: by formula, by search, and over all orders.

    Raises DataError where two of the three differ, or where the mean NAOPC of all orders is not `CHANCE`.
    """
    rows = []
    for name, formula in FORMULAS.items():
        small = by_name[name]
        aopc = [plain for plain, _ in small.orders.values()]
        mean_naopc = float(small.naopc.mean())
        row = {"model": name, "n (orders)": len(aopc)}
        row["whole text"] = small.answers[left([])]
        row["no words"] = small.answers[left(range(N))]
        ends = zip(("lower", "upper"), formula, small.bounds, (min(aopc), max(aopc)), strict=True)
        for end, by_formula, by_search, tried in ends:
            _agree(name, end, {"formula and search": (by_formula, by_search), "all orders": (by_search, tried)})
            row[f"{end}, formula"] = by_formula
            row[f"{end}, search"] = by_search
        if name in CHANCE:
            _agree(name, "mean NAOPC", {"all orders": (mean_naopc, CHANCE[name])})
        row["mean AOPC"] = np.mean(aopc)
        row["mean NAOPC"] = mean_naopc
        rows.append(row)
    return pd.DataFrame(rows)


LINES = ("steep line", "flat line")
PERFECT = tuple(range(N))
"""The words in the order of their weights, which is the same for both lines."""


def in_short(by_name: Mapping[str, Small]) -> str:
    """The result of the page in a sentence: AOPC and NAOPC of the perfect explanation on two lines."""
    clauses = []
    for line in LINES:
        aopc, naopc = by_name[line].orders[PERFECT]
        clauses.append(f"an AOPC of {aopc:.2f} on the *{line}*")
    return (
        f"One explanation, perfect for two models, has {' and '.join(clauses)}, and a NAOPC of {naopc:.0f} on both: "
        "AOPC differs because the models differ, not the explanations."
    )


def change_by_scaling(by_name: Mapping[str, Small]) -> str:
    """How far NAOPC changes when a model is multiplied and raised, over all orders."""
    change = abs(by_name["steep line, halved and raised"].naopc - by_name["steep line"].naopc)
    return f"Largest change of NAOPC over all {len(change)} orders: {change.max():.1g}."


def naopc_of_orders(by_name: Mapping[str, Small]) -> pd.DataFrame:
    """NAOPC of every order of every function with a formula: model, naopc."""
    return pd.concat(pd.DataFrame({"model": name, "naopc": by_name[name].naopc}) for name in FORMULAS)


def level_function(by_name: Mapping[str, Small]) -> str:
    """What NAOPC is where all orders have the same AOPC."""
    level = by_name["OR of all words"]
    undefined = int(np.isnan(level.naopc).sum())
    lower, upper = level.bounds
    return (
        f"OR of all {N} words: lower bound {lower:.2f}, upper bound {upper:.2f}, and {undefined} of "
        f"{len(level.orders)} orders without a NAOPC."
    )


# -------------------------------------------------------------------------------------------------------------- figures
def curves(by_name: Mapping[str, Small], names: Sequence[str], order: Order) -> Drawn:
    """What functions answer while words are removed in one order; AOPC averages how far they have fallen."""
    rows = []
    for name in names:
        model = f"{name}: AOPC {by_name[name].aopc(order):.2f}"
        for k, answer in enumerate(by_name[name].curve(order)):
            rows.append({"model": model, "removed": k, "estimate": answer})
    frame = pd.DataFrame(rows)
    return line_plot(frame, "words removed", "output of the model", x="removed", layout=Layout(panel="model"))


def span_figure(by_name: Mapping[str, Small], names: Sequence[str], order: Order) -> Drawn:
    """The worst and the best AOPC and NAOPC of each function, with an order and its reverse."""
    rows = []
    for name in names:
        small = by_name[name]
        own, reverse = small.orders[order], small.orders[order[::-1]]
        for place, (score, (worst, best)) in enumerate({"AOPC": small.bounds, "NAOPC": (0.0, 1.0)}.items()):
            rows.append((name, score, "worst of all orders", worst))
            rows.append((name, score, "best of all orders", best))
            rows.append((name, score, "perfect explanation", own[place]))
            rows.append((name, score, "the same, reversed", reverse[place]))
    frame = pd.DataFrame(rows, columns=["row", "panel", "series", "estimate"])
    return dot_plot(frame, "score", layout=Layout(panel="panel", series="series"))


def every_order(by_name: Mapping[str, Small]) -> Drawn:
    """NAOPC of every order of every function with a formula, and the mean."""
    rows, means = [], []
    for name in FORMULAS:
        naopc = by_name[name].naopc
        # Equal values would lie on one another: each is drawn once.
        rows += [(name, "an order", value) for value in np.unique(naopc.round(9))]
        means.append((name, "mean: a random order", float(naopc.mean())))
    frame = pd.DataFrame([*rows, *means], columns=["row", "series", "estimate"])
    return dot_plot(frame, "NAOPC", layout=Layout(series="series"))
