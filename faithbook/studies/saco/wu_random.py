"""Explanations against random scores under the metrics of Wu et al. (2024), and how many images a metric needs to see
the difference: what `saco_random` shows.

    wins = wins_by_method(measured.quantity("quantity", "metric", "method"), measured.levels("method"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from faithbook.judge import published
from faithbook.show.figures import OURS
from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, spoken, written
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.show.tables import wide_with_intervals
from faithbook.stats import needed
from faithbook.stats.comparison import Comparison
from faithbook.studies.saco.wu import CHANCE, METHODS, MID, PICTURE, SIGN, beside_random, by_groups
from faithbook.text import joined

Quantity = Callable[..., Comparison]
"""Of `with_random`: `at(quantity, metric, method)`."""
AGAINST_MAP, AGAINST_ZERO = "a random map", "zero"
UNRELATED = 2 / np.sqrt(np.pi * (MID - 1))
"""By how much SaCo of two unrelated maps differs on average."""


def with_random(units: pd.DataFrame) -> pd.DataFrame:
    """Every explanation next to each draw of random scores on the same image: win, tie, gap and its square; and SaCo
    itself with its square, once per image: its mean over random scores is known, so that it can be tested against zero
    with no random map."""
    both = beside_random(units)
    zero = both["value"].where((both["metric"] == "saco") & (both["draw"] == both["draw"].min()))
    values = both.assign(square=both["gap"] ** 2, value=zero, value_square=zero**2)
    columns = ["win", "tie", "gap", "square", "value", "value_square"]
    long = values.melt([*PICTURE, "metric", "method"], columns, "quantity", "number")
    return long.rename(columns={"number": "value"})


def images_needed(at: Quantity, metric: str, method: str, *, against: str = AGAINST_MAP) -> dict[str, float]:
    """With how many images an explanation is found ahead, with the ends of the interval."""
    return needed.needed_row(effect_of(at, metric, method, against=against))


def effect_of(at: Quantity, metric: str, method: str, *, against: str = AGAINST_MAP) -> Comparison:
    """The mean difference over its standard deviation."""
    mean, square = ("gap", "square") if against == AGAINST_MAP else ("value", "value_square")
    return needed.effect_size(at(mean, metric, method), at(square, metric, method))


def in_short(at: Quantity, methods: Sequence[str]) -> str:
    """The result of the page: images needed for a typical explanation, and the share of comparisons that are won, by
    metric, the metric that needs fewest first."""
    sizes = {}
    for metric in SIGN:
        of_methods = [images_needed(at, metric, method)["estimate"] for method in methods]
        sizes[metric] = float(np.median(of_methods))
    fewest_first = sorted(SIGN, key=lambda metric: sizes[metric])
    images = "; ".join(f"{label(metric)} {size_in_words(sizes[metric])}" for metric in fewest_first)
    wins = "; ".join(f"{label(metric)} {spoken(at('win', metric, METHODS), '.2f')}" for metric in fewest_first)
    return (
        f"The five metrics need very different numbers of images to find a typical explanation (median of "
        f"{len(methods)}) ahead of random scores in 80 % of studies: {images}. Share of comparisons in which a metric "
        f"rates an explanation above random scores, mean over the paper's {len(METHODS)} methods: {wins} (n = "
        f"{at('win', 'saco', METHODS).ours.n:,} images; chance is one half, and less for AUC, which has many ties)."
    )


def size_in_words(size: float) -> str:
    """A number of images.

    >>> size_in_words(1234.0), size_in_words(float("inf"))
    ('1,234', '∞')
    """
    return "∞" if np.isinf(size) else f"{size:,.0f}"


def models_in_words(frame: pd.DataFrame, draws: int) -> str:
    """How many models and sets of random scores there are."""
    networks = frame.groupby("dataset", observed=True)["model"].nunique()
    of_sets = joined(f"{count} on {label(str(dataset))}" for dataset, count in networks.items())
    return f"There are {draws} sets of random scores for each image and model. Models: {of_sets}."


# ---------------------------------------------------------------------------------------------------------------- wins
def wins_by_method(at: Quantity, methods: Sequence[str]) -> pd.DataFrame:
    """Share of images that an explanation wins, share of ties and mean gap, by metric and method."""
    rows = []
    for metric, method in product(SIGN, methods):
        win, tie, gap = (at(quantity, metric, method) for quantity in ("win", "tie", "gap"))
        row = {"metric": metric, "method": method, **ends_of(win), "ties": tie.ours.point}
        rows.append(row | ends_of(gap, "gap") | {"n": win.ours.n})
    return pd.DataFrame(rows)


def drawn_wins(wins: pd.DataFrame) -> Drawn:
    """`wins_by_method`: one panel per metric, ties as ticks."""
    ties = wins[["metric", "method"]].assign(estimate=wins["ties"], series="ties")
    names = {name: label(name) for name in (*SIGN, *wins["method"].unique())}
    looks = {"wins": (OURS, "o"), "ties": ("#888888", "|")}
    layout = Layout(panel="metric", series="series", columns=len(SIGN), names=names, looks=looks, mark=0.5)
    return dot_plot(pd.concat([wins.assign(series="wins"), ties]), "share of comparisons", row="method", layout=layout)


def ahead_and_behind(wins: pd.DataFrame) -> str:
    """By metric how many explanations are clearly above and below random scores on average, in words."""
    counts = []
    for metric, rows in wins.groupby("metric", sort=False):
        above, below = int((rows["gap low"] > 0).sum()), int((rows["gap high"] < 0).sum())
        counts.append(f"{label(str(metric))} {above} above and {below} below")
    return "; ".join(counts)


# -------------------------------------------------------------------------------------------------------------- images
def needed_by_method(at: Quantity, methods: Sequence[str]) -> pd.DataFrame:
    """Images needed by metric and method against a random map, of SaCo also against zero, and for a sign test."""
    tests = [(metric, AGAINST_MAP) for metric in SIGN]
    tests.append(("saco", AGAINST_ZERO))  # of SaCo alone the mean over random scores is known
    rows = []
    for (metric, against), method in product(tests, methods):
        effect = effect_of(at, metric, method, against=against)
        sign_test = np.nan
        if against == AGAINST_MAP:
            win = at("win", metric, method).ours.point
            tie = at("tie", metric, method).ours.point
            sign_test = np.ceil(needed.sign_test_needed(win, tie))
        row = {"metric": metric, "against": against, "method": method, "effect": effect.ours.point}
        rows.append(row | needed.needed_row(effect) | {"sign test": sign_test, "n": effect.ours.n})
    return pd.DataFrame(rows)


def needed_in_words(images: pd.DataFrame) -> pd.DataFrame:
    """`needed_by_method` as a table of text, one column per metric, SaCo against zero last."""
    column = images["metric"].map(label) + images["against"].map({AGAINST_ZERO: " against zero", AGAINST_MAP: ""})
    wide = wide_with_intervals(images.assign(metric=column), ["method"], "metric", ",.0f")
    return wide.replace({r"inf \[inf, inf\]": "∞", "inf": "∞"}, regex=True)


# --------------------------------------------------------------------------------------------------------------- noise
def moments(units: pd.DataFrame) -> pd.DataFrame:
    """SaCo of random scores and its square, by the number of groups."""
    saco = by_groups(units[units["method"] == CHANCE])
    return pd.concat([saco.assign(power=power, value=saco["value"] ** power) for power in (1, 2)])


def spreads(moment: Callable[..., Comparison], counts: Iterable[int]) -> pd.DataFrame:
    """Standard deviation of SaCo of random scores in theory and ours, by number of groups, and how many images bring
    the mean within 0.02 of zero in 95 % of samples (`moment(power, k)`)."""
    rows = []
    for k in sorted(counts):
        mean = moment(1, k)
        spread = needed.deviation(mean, moment(2, k))
        # The half width 1.96 * spread / sqrt(images) of an interval of the mean is 0.02.
        images = np.ceil((1.96 * spread.ours.point / 0.02) ** 2)
        row = {"groups": k, "theory": 1 / np.sqrt(k - 1), **ends_of(spread, "ours", "ours low", "ours high")}
        rows.append(row | {"n": mean.ours.n, **ends_of(mean, "mean SaCo"), "images needed": images})
    return pd.DataFrame(rows)


def nudged(alike: Callable[..., Comparison], moved: Callable[..., Comparison], methods: Iterable[str]) -> pd.DataFrame:
    """By method how alike the maps without and with invisible noise are and by how much SaCo moves, the most first
    (`alike`, `moved`: by metric and method)."""
    rows = []
    for method in methods:
        shift = moved("moved", method)
        row = {"method": method, **ends_of(alike("rank_correlation", method), "rank correlation")}
        rows.append(row | ends_of(shift, "moved") | {"n": shift.ours.n})
    return pd.DataFrame(rows).sort_values("moved", ascending=False, ignore_index=True)


def printed_with_ten_groups() -> dict[str, float]:
    """The published SaCo of each method with ten groups."""
    rows = published.table("saco_table2").astype({"k": int})
    rows = rows[rows["k"] == MID]
    return dict(zip(rows["method"], rows["value"], strict=True))


def nudged_in_words(of_nudged: pd.DataFrame) -> pd.DataFrame:
    """`nudged` as a table of text: an interval only where it is wider than the digits that are shown."""
    wide = pd.DataFrame({"method": of_nudged["method"].map(label)})
    for name in ("rank correlation", "moved"):
        ends = zip(of_nudged[name], of_nudged[f"{name} low"], of_nudged[f"{name} high"], strict=True)
        wide[name] = [_with_visible_ends(*of_method) for of_method in ends]
    return wide.assign(n=of_nudged["n"])


def _with_visible_ends(value: float, low: float, high: float) -> str:
    """A value with its interval, unless all three read the same."""
    text, *ends = (written(x, ".3f") for x in (value, low, high))
    if np.isnan(low) or set(ends) == {text}:
        return text
    return f"{text} [{ends[0]}, {ends[1]}]"


def noisy_methods(of_nudged: pd.DataFrame, printed: Mapping[str, float]) -> str:
    """The methods whose SaCo moves clearly by more than half of what two unrelated maps differ by, with the published
    SaCo of each (`printed`)."""
    loose = of_nudged[of_nudged["moved low"] > UNRELATED / 2]
    named = []
    for row in loose.itertuples():
        in_paper = f"the paper prints a mean SaCo of {printed[row.method]:.2f}"
        named.append(f"{label(row.method)} ({row.moved:.2f}, n = {row.n:,}; {in_paper})")
    return ", ".join(named) or "none"
