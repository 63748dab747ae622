"""How often a method's words beat random words of the same number, by how words are erased: what `language_win_rates`
measures, tests and shows.

A *win rate* is the share of random word sets after whose erasure the answer's probability falls less. `wins` is the
mean win rate of a method under an erasure on texts of one length, `wins("attention", "delete", "short")`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pandas as pd

from faithbook.show import figures
from faithbook.show.figures import PALETTE
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Drawn
from faithbook.stats.comparison import Comparison, mean

METHODS = ("attention", "rollout_dropped", "input_x_gradient", "integrated_gradients", "occlusion")
RANDOM = "random"
ERASURES = {"delete": "deleted", "pad": "padding token", "zero": "set to zero", "infill": "other texts' words"}
LENGTHS = {"prompted-sst": "short", "prompted-movie": "short", "prompted-reviews": "long"}
TEXT = ["dataset", "model", "id", "cluster", "seed"]
SIDE = "comprehensiveness"

Wins = Callable[[str, str, str], Comparison]


# ------------------------------------------------------------------------------------------------------------- measured
def by_length(units: pd.DataFrame) -> pd.DataFrame:
    """Values with the length of their texts."""
    return units.assign(length=units.dataset.map(LENGTHS))


def with_plausibility(units: pd.DataFrame) -> pd.DataFrame:
    """The rank correlation over methods of win rate and average precision, for every marked text and erasure."""
    real = units[units.method.isin(METHODS)]
    marked = real[real.metric == "average_precision"].set_index([*TEXT, "method"]).value.rename("plausible")
    wins = real[real.metric == SIDE].set_index([*TEXT, "erasure", "method"]).value.rename("wins")
    ranks = wins.to_frame().join(marked, how="inner").groupby([*TEXT, "erasure"]).rank()
    rho = ranks.groupby([*TEXT, "erasure"])[["wins", "plausible"]].corr().iloc[::2, 1].droplevel(-1)
    return rho.rename("value").reset_index()


def over_methods(wins: Wins, erasure: str, length: str) -> Comparison:
    """The mean win rate of the five methods."""
    return mean([wins(method, erasure, length) for method in METHODS])


def quoted(wins: Wins, lengths: Sequence[str]) -> dict[str, Comparison]:
    """All win rates, those of random scores too, by the name under which other pages quote them."""
    cells = product((*METHODS, RANDOM), ERASURES, lengths)
    return {", ".join(cell): wins(*cell) for cell in cells}


# --------------------------------------------------------------------------------------------------------------- claims
def dependence_on_erasure(wins: Wins) -> dict[str, Comparison]:
    """lm_ice_c01: deletion minus each other erasure, and the other way round, of each method on short texts."""
    parts = {}
    for method in METHODS:
        for other in ERASURES:
            if other == "delete":
                continue
            for first, second in (("delete", other), (other, "delete")):
                part = f"{label(method)}: {ERASURES[first]} minus {ERASURES[second]}"
                parts[part] = wins(method, first, "short") - wins(method, second, "short")
    return parts


def deletion_and_infill(wins: Wins) -> dict[str, Comparison]:
    """lm_ice_c02: deletion minus infill on short texts, infill minus deletion on long ones, mean over methods."""
    short = over_methods(wins, "delete", "short") - over_methods(wins, "infill", "short")
    long = over_methods(wins, "infill", "long") - over_methods(wins, "delete", "long")
    return {"short texts: deletion minus infill": short, "long texts: infill minus deletion": long}


def below_one_half(wins: Wins, lengths: Sequence[str]) -> dict[str, Comparison]:
    """lm_ice_c03: one half minus the win rate of each method under each erasure, on texts of each length."""
    return {
        f"{label(method)}, {ERASURES[erasure]}, {length}: one half minus win rate": 0.5 - wins(method, erasure, length)
        for method, erasure, length in product(METHODS, ERASURES, lengths)
    }


def with_each_erasure(plausibility: Callable[..., Comparison]) -> dict[str, Comparison]:
    """lm_ice_c04: the rank correlation of win rate and plausibility under each erasure."""
    return {f"win rate and plausibility, {name}": plausibility(erasure=erasure) for erasure, name in ERASURES.items()}


# -------------------------------------------------------------------------------------------------------------- readers
def win_rate_table(wins: Wins, lengths: Sequence[str]) -> pd.DataFrame:
    """All win rates: method, erasure, length, estimate with its ends, n."""
    cells = {cell: wins(*cell) for cell in product((*METHODS, RANDOM), ERASURES, lengths)}
    return listed(cells, ["method", "erasure", "length"])


def rates_for_readers(rates: pd.DataFrame, lengths: Sequence[str]) -> pd.DataFrame:
    """The table for readers: a row for each length and method, a column for each erasure."""
    cells = rates.assign(cell=[spoken(row, ".2f") for row in rates.itertuples()])
    wide = cells.pivot(index=["length", "method"], columns="erasure", values="cell")
    rows = pd.MultiIndex.from_product([list(lengths), [*METHODS, RANDOM]], names=wide.index.names)
    return wide.reindex(rows)[list(ERASURES)].reset_index().rename(columns=ERASURES)


def text_counts_in_words(rates: pd.DataFrame, lengths: Sequence[str]) -> str:
    """How many texts of each length were measured.

    >>> rates = pd.DataFrame({"length": ["short", "long", "long"], "n": [300, 100, 98]})
    >>> text_counts_in_words(rates, ["short", "long"])
    '300 short and 98 long'
    """
    return " and ".join(f"{rates[rates['length'] == length]['n'].min()} {length}" for length in lengths)


def win_rate_figure(rates: pd.DataFrame, lengths: Sequence[str]) -> Drawn:
    """Win rates as dots with intervals: a panel for each length, a line for each method, a colour for each erasure."""
    fig, axes = figures.panels(len(lengths), 2, height=4.2, sharey=True, sharex=True)
    order = (*METHODS, RANDOM)
    for ax, length in zip(axes, lengths, strict=True):
        for i, (erasure, name) in enumerate(ERASURES.items()):
            part = rates[(rates["length"] == length) & (rates["erasure"] == erasure)]
            part = part.set_index("method").loc[list(order)].reset_index()
            places = [len(order) - 1 - j + 0.18 * (1.5 - i) for j in range(len(order))]
            figures.dots(ax, part, places, colour=PALETTE[i], width=1.5, label=name, marker="osD^"[i], ms=5)
        ax.axvline(0.5, color=PALETTE[6], ls=":", lw=1)
        ax.set_title(f"{length} texts", fontsize="small")
        ax.set_xlabel("win rate over random words", fontsize="small")
    axes[0].set_yticks(range(len(order))[::-1], [label(name) for name in order], fontsize="small")
    figures.legend(fig)
    of_methods = rates[rates["method"] != RANDOM]
    values = "; ".join(
        f"{label(row['method'])}, {ERASURES[row['erasure']]}, {row['length']} {row['estimate']:.2f}"
        for row in of_methods.to_dict("records")
    )
    return fig, (
        "Dots with intervals, one row per method, one colour per erasure: win rate over random words, one "
        f"half dotted. {values}."
    )


def in_short(wins: Wins, rates: pd.DataFrame, lengths: Sequence[str]) -> str:
    """The result of the page in a sentence."""
    of_methods = rates[rates["method"] != RANDOM]
    groups = [part.sort_values("estimate") for _, part in of_methods.groupby(["length", "method"], sort=False)]
    widest = max(groups, key=lambda part: part["estimate"].iloc[-1] - part["estimate"].iloc[0])
    low, high = widest.iloc[0], widest.iloc[-1]
    changes = []
    for length in lengths:
        change = over_methods(wins, "infill", length) - over_methods(wins, "delete", length)
        n = of_methods[of_methods["length"] == length]["n"].min()
        changes.append(f"by {spoken(change, '+.2f')} on {length} texts (n = {n})")
    return (
        "on one small language model, averaged over five methods, the share of random word sets that a method "
        f"beats (*win rate*; chance is 0.50) changes {' and '.join(changes)} when words are replaced by others "
        f"instead of deleted. For some methods the erasure matters more: the win rate of {label(low.method)} on "
        f"{low.length} texts is {spoken(low, '.2f')} by one erasure (*{ERASURES[low.erasure]}*) and "
        f"{spoken(high, '.2f')} by another (*{ERASURES[high.erasure]}*; n = {low.n}). That is the largest of the "
        f"{len(groups)} gaps (one for each method and length), so part of it is chance."
    )


def answered_rightly(texts: Callable[..., Comparison], lengths: Sequence[str], *, matches: int) -> str:
    """How many random word sets a win rate rests on, and how often the model's answer is right. `texts`: the mean of a
    metric over texts of a length."""
    shares = " and ".join(
        f"{texts(length=length, metric='right').ours.point:.0%} of the {length} texts" for length in lengths
    )
    return (
        f"A win rate is over {matches} random word sets for each text. The model's answer is right for "
        f"{shares}. Wrong answers are explained like right ones."
    )
