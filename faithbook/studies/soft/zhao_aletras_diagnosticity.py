"""Diagnosticity from values of single inputs (Zhao & Aletras 2023, Eq. 6): who beats the random attribution, how often
the two are equal, at which rationale length, and with which choice instead of the paper's.

    wins = counted(with_lengths(units))            # one row per input, metric, method and what is counted
    wins[wins.shows == WIN].groupby("metric").value.mean()

The claims on it are parts in words that any model can be asked with: a claim takes `power(metric, **labels)`, the
diagnosticity of a metric over the cells with some labels, and the data sets (`tasks`) that are compared.
Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from faithbook.judge.decide import Parts
from faithbook.show.labels import label, short
from faithbook.stats import comparison
from faithbook.stats.chance import against_random, outside_unit
from faithbook.stats.comparison import Comparison
from faithbook.studies.soft.zhao_aletras import of_each
from faithlib.errors import InputError, unknown

WIN, TIE, LIMIT = "win", "tie", "tie at the limit"
"""What is counted: strict wins, ties, and those ties in which both scores are the best or worst that a prediction can
have which does not fall."""

METHODS = ("attention", "scaled_attention", "input_x_gradient", "integrated_gradients", "deeplift")
"""The paper's attributions, in its order."""
HARD = ("ns", "nc")
LIMITS = {"ns": 1.0, "nc": 0.0, "soft_ns": 1.0, "soft_nc": 0.0, "soft_ns_one_draw": 1.0, "soft_nc_one_draw": 0.0}
"""The score of each metric where the probability does not fall."""
_AT = " at "  # between a hard metric and the length at which it stands alone
_INPUT = ["dataset", "seed", "id", "cluster", "method", "metric"]


def at_length(metric: str, ratio: float) -> str:
    """The name of a hard metric at one rationale length.

    >>> at_length("nc", 0.05)
    'nc at 5 %'
    """
    return f"{metric}{_AT}{100 * ratio:g} %"


def with_lengths(units: pd.DataFrame) -> pd.DataFrame:
    """Soft scores as they are; hard ones averaged over their lengths (`ns`, `nc`), and of each length as a metric of
    its own (`at_length`).

    The mean of an input is undefined where the score of one length is.
    """
    hard = units[units["metric"].isin(HARD)]
    if hard.empty:
        raise InputError("no score of NS or NC: expected the part `lengths` of the values, with a column ratio")
    mean = hard.groupby(_INPUT, observed=True, sort=False)["value"].agg(["mean", "count", "size"])
    whole = mean["mean"].where(mean["count"] == mean["size"]).rename("value").reset_index()
    keys = hard[["metric", "ratio"]].drop_duplicates()
    named = keys.assign(name=[at_length(*key) for key in keys.itertuples(index=False)])
    apart = hard.assign(metric=hard.merge(named, how="left")["name"].to_numpy())
    return pd.concat([whole, apart, units[~units["metric"].isin(HARD)]], ignore_index=True)[[*_INPUT, "value"]]


def counted(scores: pd.DataFrame, *, by: Sequence[str] = ()) -> pd.DataFrame:
    """Each real attribution beside the random one of the same input: three rows, in `shows` what is counted (`WIN`,
    `TIE`, `LIMIT`), in `value` 1 or 0, NaN where one of the two scores is undefined.

    `by`: further columns in which the two have to agree (a variant). A score is at the limit where the probability does
    not fall: NS 1 where the rationale alone suffices, NC 0 where nothing is lost without it. The formulas count a
    probability that rises as one that stays.
    """
    pairs = against_random(scores, on=["dataset", "seed", "id", "metric", *by])
    metric = pairs["metric"].astype(str).str.partition(_AT)[0]
    limit = metric.map(LIMITS)
    if limit.isna().any():
        raise unknown("metric with a limit", metric[limit.isna()].iloc[0], LIMITS)
    pairs["limit"] = (pairs["tie"] * (pairs["value"] == limit)).where(pairs["tie"].notna())
    shown = [
        pairs.assign(shows=name, value=pairs[column]) for name, column in ((WIN, "win"), (TIE, "tie"), (LIMIT, "limit"))
    ]
    return pd.concat(shown, ignore_index=True)[[*_INPUT, *by, "shows", "value"]]


@of_each
def counted_with_lengths(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties of each model against the random attribution, hard metrics over all lengths and at each."""
    return counted(with_lengths(units[units["method"] != "none"]))


@of_each
def counted_and_limited(units: pd.DataFrame) -> pd.DataFrame:
    """`counted_with_lengths`, and the hard scores at each length (`SCORE`)."""
    scores = with_lengths(units[units["method"] != "none"])
    return pd.concat([counted(scores), limited(scores)], ignore_index=True)


@of_each
def counted_as_measured(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties of each model in the variants of `soft_variants`, where they were measured."""
    return counted(units, by=["variant"])


@of_each
def counted_by_variant(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties of each model in every variant of `soft_variants`."""
    return counted(completed(units), by=["variant"])


@of_each
def counted_with_scores(units: pd.DataFrame) -> pd.DataFrame:
    """`counted_with_lengths`, the hard scores at each length (`SCORE`), and which of them limits of 0 and 1 move
    (`OUTSIDE`)."""
    scores = with_lengths(units[units["method"] != "none"])
    hard = scores[scores["metric"].str.contains(_AT)]
    moved = hard.assign(shows=OUTSIDE, value=outside_unit(hard["value"]))
    return pd.concat([counted(scores), limited(scores), moved], ignore_index=True)


def completed(variants: pd.DataFrame, *, base: str = "paper") -> pd.DataFrame:
    """Every variant with the base's rows where it has none of a metric and method: it changes one choice alone.

    Raises UnknownNameError where there is no such base.
    """
    names = variants["variant"].unique()
    if base not in names:
        raise unknown("variant", base, sorted(names))
    cell = ["metric", "method"]
    base_rows = variants[variants["variant"] == base]
    frames = [base_rows]
    for name, rows in variants[variants["variant"] != base].groupby("variant", sort=False, observed=True):
        has = pd.MultiIndex.from_frame(rows[cell].drop_duplicates())
        lacking = base_rows[~pd.MultiIndex.from_frame(base_rows[cell]).isin(has)]
        frames += [rows, lacking.assign(variant=name)]
    return pd.concat(frames, ignore_index=True)


# -------------------------------------------------------------------------------------------------------- open choices
TIES = {"no win": 0.0, "half a win": 0.5, "wins": 1.0}
"""How ties may count, as shares of a win; the paper's text says the first, most of its scripts the last."""

OWN = {
    "texts": "",
    "normaliser": "min-max",
    "mask": "as in the text",
    "empty text": "zero embeddings",
    "lengths": "five",
    "draws": "several",
    "limits": "none",
    "ties": "no win",
    "DeepLIFT": "captum's rules",
    "scaled attention": "with gradient",
    "precision": "",
}
"""The open choices and the book's own; texts and precision are those of the run."""

EXCHANGED = {
    "normaliser=rank": {"normaliser": "ranks"},
    "normaliser=sigmoid": {"normaliser": "sigmoid"},
    "normaliser=released": {"normaliser": "as released"},
    "direction=released": {"mask": "inverted, as released"},
    "direction=released, normaliser=released": {"normaliser": "as released", "mask": "inverted, as released"},
    "baseline=pad": {"empty text": "padding"},
    "ratios=released": {"lengths": "seven, as released"},
    "draws=1": {"draws": "one"},
    "clip=released": {"limits": "0 to 1, as released"},
    "deeplift=exact": {"DeepLIFT": "exact rules"},
    "scaled_attention=released": {"scaled attention": "squared, as released"},
    "dtype=bfloat16": {"precision": "bfloat16"},
    "dtype=float32": {"precision": "float32"},
}
"""By variant of `soft_variants`, what it exchanges."""

CHOICE_NAMES = {
    "lengths": "rationale lengths",
    "draws": "draws of the mask",
    "limits": "limits of scores",
    "ties": "ties count as",
}
"""How figures call a choice whose name alone does not say what is chosen."""

_PAIRED_WITH_TIES = {"normaliser=rank": "half a win", "draws=1": "wins"}


def specifications(
    variants: Collection[str], *, texts: str, precision: str
) -> dict[tuple[str, ...], tuple[str, float]]:
    """From the options chosen (one for each of `OWN`) to the variant and how ties count: the book's own first, each
    choice alone, and as pairs mask with normaliser, ranks with ties as half, one draw with ties as wins.

    `variants`: those that were measured.
    """
    book_choice = OWN | {"texts": texts, "precision": precision}
    of_choices = {tuple(book_choice.values()): ("paper", TIES[book_choice["ties"]])}
    for name, choice in EXCHANGED.items():
        if name not in variants:
            continue
        counted_as = [book_choice["ties"]]
        if name in _PAIRED_WITH_TIES:
            counted_as.append(_PAIRED_WITH_TIES[name])
        for ties in counted_as:
            options = book_choice | choice | {"ties": ties}
            # Single precision may be the book's own: then the variant exchanges nothing.
            of_choices.setdefault(tuple(options.values()), (name, TIES[ties]))
    for ties in list(TIES)[1:]:
        options = book_choice | {"ties": ties}
        of_choices[tuple(options.values())] = ("paper", TIES[ties])
    return of_choices


READ_AS = ("lengths", "draws", "ties")
"""The choices that values of single inputs leave open on all texts."""


@dataclass(frozen=True)
class Reading:
    """Which of the measured metrics is meant, and how ties count."""

    ratio: float | None = None
    one_draw: bool = False
    tied: float = 0.0

    def metric(self, name: str) -> str:
        """The metric as `with_lengths` names it."""
        if name in HARD and self.ratio is not None:
            return at_length(name, self.ratio)
        if name not in HARD and self.one_draw:
            return f"{name}_one_draw"
        return name

    def share(self, of: Callable[..., Comparison], metric: str, **labels: object) -> Comparison:
        """How often a metric prefers the real attribution: its wins and, of its ties, what counts as a win.

        `of`: the mean of a metric over the cells with some labels, of wins unless they say what it `shows`.
        """
        wins = of(self.metric(metric), **labels)
        if not self.tied:
            return wins
        ties = of(self.metric(metric), **(labels | {"shows": TIE}))
        return wins + self.tied * ties

    def gains(self, of: Callable[..., Comparison], hard: Iterable[str], **labels: object) -> dict[str, Comparison]:
        """Of each of these hard metrics, its soft counterpart minus itself, by their names for people."""
        differences = {}
        for name in hard:
            soft = PAIRS[name]
            gain = self.share(of, soft, **labels) - self.share(of, name, **labels)
            differences[f"{label(soft)} minus {label(name)}"] = gain
        return differences


AS_OURS = Reading()
"""The book's own."""


def readings(ratios: Sequence[float]) -> dict[tuple[str, ...], Reading]:
    """From the options chosen (one for each of `READ_AS`) to what is read: the book's own first, each length alone, one
    draw, the other ways to count ties, and one draw with ties as wins, which is the released protocol."""
    five, several, none = "all", "several", "no win"
    by_choice: dict[tuple[str, ...], Reading] = {(five, several, none): Reading()}
    for ratio in ratios:
        by_choice[f"{100 * ratio:g} % alone", several, none] = Reading(ratio)
    for ties in list(TIES)[1:]:
        by_choice[five, several, ties] = Reading(tied=TIES[ties])
    by_choice[five, "one", none] = Reading(one_draw=True)
    by_choice[five, "one", "wins"] = Reading(one_draw=True, tied=1.0)
    return by_choice


BEFORE, AFTER, FLIP, SCORE, OUTSIDE, ONE_SIDED = "before", "after", "flip", "score", "outside", "defined on one side"
"""What `beside_base` shows of a comparison with random: whether it is won under the base and under the variant (where
both are defined), whether it changed sides, how far the score moved, whether the base's score lay outside [0, 1], and
whether the comparison is defined under one of the two alone."""


def beside_base(variants: pd.DataFrame, *, bases: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Every variant of `completed` beside its base on the same inputs, in `shows` what is shown.

    `bases`: of a variant the one that it is compared with (default: paper). Scores are limited to [0, 1] before their
    difference is taken, except for a variant that changes the limits: where the empty text costs hardly any probability
    they divide by almost nothing.
    """
    wins = against_random(variants, on=["dataset", "seed", "id", "metric", "variant"])
    frames = []
    for name in [variant for variant in dict.fromkeys(wins["variant"]) if variant != "paper"]:
        base = wins[wins["variant"] == (bases or {}).get(name, "paper")]
        both = wins[wins["variant"] == name].merge(base[[*_INPUT, "value", "win"]], on=_INPUT, suffixes=("", "_base"))
        won, won_base = both["win"], both["win_base"]
        has_won, has_base = won.notna(), won_base.notna()
        defined = has_won & has_base
        limits = (-np.inf, np.inf) if name.startswith("clip") else (0, 1)
        shown = {
            BEFORE: won_base.where(defined),
            AFTER: won.where(defined),
            FLIP: (won != won_base).astype(float).where(defined),
            SCORE: both["value"].clip(*limits) - both["value_base"].clip(*limits),
            OUTSIDE: outside_unit(both["value_base"]),
            ONE_SIDED: (has_won != has_base).astype(float),
        }
        frames += [both.assign(shows=what, value=values) for what, values in shown.items()]
    return pd.concat(frames, ignore_index=True)[[*_INPUT, "variant", "shows", "value"]]


def one_draw_flips(wins: pd.DataFrame) -> pd.DataFrame:
    """Of `counted` rows of soft metrics: 1 where the first draw alone puts the other attribution ahead than the mean of
    all draws does, as rows that show `FLIP`."""
    won = wins[(wins["shows"] == WIN) & wins["metric"].str.startswith("soft")]
    once = won[won["metric"].str.endswith("_one_draw")]
    once = once.assign(metric=once["metric"].str.removesuffix("_one_draw"))
    both = won.merge(once[[*_INPUT, "value"]], on=_INPUT, suffixes=("", "_once"))
    defined = both["value"].notna() & both["value_once"].notna()
    flips = (both["value"] != both["value_once"]).astype(float).where(defined)
    return both.assign(shows=FLIP, value=flips)[[*_INPUT, "shows", "value"]]


EVERYTHING, REAL_ALONE = "everything", "real alone"


def everything(units: pd.DataFrame) -> pd.DataFrame:
    """Soft scores of an attribution of 1 for every token, from the probabilities of the text and of the empty one.

    It keeps all under Soft-NS and removes all under Soft-NC, so that both are 1, the value of a perfect explanation,
    wherever they are defined (where the text has a higher probability than the empty one).
    """
    facts = units[units["method"] == "none"]
    wide = facts.pivot(index=["dataset", "seed", "id", "cluster"], columns="metric", values="value")
    ideal = (wide["p_full"] > wide["p_empty"]).map({True: 1.0, False: np.nan}).rename("value").reset_index()
    return pd.concat(
        [ideal.assign(method=EVERYTHING, metric=metric) for metric in ("soft_ns", "soft_nc")], ignore_index=True
    )[[*_INPUT, "value"]]


def real_on_ranks(variants: pd.DataFrame) -> pd.DataFrame:
    """The soft scores of real attributions on ranks beside those of random ones as they were, as a variant."""
    soft = variants[variants["metric"].isin(("soft_ns", "soft_nc"))]
    chosen = soft["variant"] == np.where(soft["method"] == "random", "paper", "normaliser=rank")
    return soft[chosen].assign(variant=REAL_ALONE)


# ----------------------------------------------------------------------------------------------------------- the claims
PAIRS = {"nc": "soft_nc", "ns": "soft_ns"}
METRICS = ("nc", "soft_nc", "ns", "soft_ns")
Power = Callable[..., Comparison]


def eighteen(power: Power, tasks: Sequence[str], reading: Reading = AS_OURS) -> Parts:
    """soft_c02: soft minus hard for each method and each task."""
    groups = {short(method): {"method": method} for method in METHODS}
    groups |= {label(dataset): {"dataset": dataset} for dataset in tasks}
    parts: dict[str, Comparison] = {}
    for group, cells in groups.items():
        for name, gain in reading.gains(power, PAIRS, **cells).items():
            parts[f"{name}, {group}"] = gain
    return parts


def variance(power: Power, metric: str, by: str, over: Sequence[str]) -> Comparison:
    """The variance of a metric between methods or tasks, in squared points."""
    return 1e4 * comparison.variance_between([power(metric, **{by: level}) for level in over])


def claims(power: Power, tasks: Sequence[str]) -> dict[str, Parts]:
    """The parts of the claims that need no data set by name, by id."""
    return {
        "soft_c01": AS_OURS.gains(power, PAIRS),
        "soft_c02": eighteen(power, tasks),
        "soft_c04": comprehensiveness_ahead(power),
        "soft_c05": deeplift_leads_and_trails(power),
        "soft_c06": hard_vary_more(power),
    }


def comprehensiveness_ahead(power: Power) -> Parts:
    """soft_c04: both comprehensiveness metrics minus both sufficiency metrics, for each method."""
    parts: dict[str, Comparison] = {}
    for high, low in product(("nc", "soft_nc"), ("ns", "soft_ns")):
        for method in METHODS:
            gap = power(high, method=method) - power(low, method=method)
            parts[f"{label(high)} minus {label(low)}, {short(method)}"] = gap
    return parts


def deeplift_leads_and_trails(power: Power) -> Parts:
    """soft_c05: DeepLIFT minus each other method under Soft-NC, and the mean of the others minus DeepLIFT under NC."""
    leader = "deeplift"
    others = [method for method in METHODS if method != leader]
    parts: dict[str, Comparison] = {}
    for method in others:
        lead = power("soft_nc", method=leader) - power("soft_nc", method=method)
        parts[f"{short(leader)} minus {short(method)}, Soft-NC"] = lead
    mean_of_others = comparison.mean([power("nc", method=method) for method in others])
    parts[f"mean of the others minus {short(leader)}, NC"] = mean_of_others - power("nc", method=leader)
    return parts


def hard_vary_more(power: Power) -> Parts:
    """soft_c06: the variance over methods of each hard metric minus that of its soft counterpart."""
    parts: dict[str, Comparison] = {}
    for hard, soft in PAIRS.items():
        gap = variance(power, hard, "method", METHODS) - variance(power, soft, "method", METHODS)
        parts[f"variance over methods, {label(hard)} minus {label(soft)}"] = gap
    return parts


def varies_by_task(power: Power, tasks: Sequence[str]) -> Parts:
    """soft_c07: every metric varies more over tasks than over methods."""
    parts: dict[str, Comparison] = {}
    for metric in METRICS:
        gap = variance(power, metric, "dataset", tasks) - variance(power, metric, "method", METHODS)
        parts[f"variance over tasks minus over methods, {label(metric)}"] = gap
    return parts


def opposite_on_news(power: Power, tasks: Sequence[str], news: str | None) -> Parts:
    """soft_c08: on the news task Soft-NC is higher and Soft-NS lower than on each other one; no part without it."""
    apart: dict[str, Comparison] = {}
    if news is None:
        return apart
    for other in [name for name in tasks if name != news]:
        higher = power("soft_nc", dataset=news) - power("soft_nc", dataset=other)
        lower = power("soft_ns", dataset=other) - power("soft_ns", dataset=news)
        apart[f"{label(news)} minus {label(other)}, Soft-NC"] = higher
        apart[f"{label(other)} minus {label(news)}, Soft-NS"] = lower
    return apart


def limited(scores: pd.DataFrame) -> pd.DataFrame:
    """Hard scores at each length, limited to [0, 1] as in the released code (`SCORE`).

    An input whose probability hardly falls when everything is erased divides by almost nothing; a few such scores would
    be all that a mean shows.
    """
    hard = scores[scores["metric"].str.contains(_AT)]
    return hard.assign(shows=SCORE, value=hard["value"].clip(0, 1))


def slope(power: Power, metric: str, ratios: Sequence[float], **cells: object) -> Comparison:
    """Least-squares change of a hard metric per doubling of the rationale."""
    centred = np.log2(ratios) - np.log2(ratios).mean()
    weights = centred / (centred**2).sum()
    return comparison.combined(lambda values: values @ weights, [power(at_length(metric, r), **cells) for r in ratios])


USUAL, MISLED = "trained", "misled by erasure"
"""The planted models of `together_planted` that soft_c12 compares."""


def lost_by(follows: Power, modality: str, metric: str) -> Comparison:
    """What a metric loses of how well it follows the truth where erasure misleads the model: `follows(modality, model,
    metric)`."""
    return follows(modality, USUAL, metric) - follows(modality, MISLED, metric)


def rises_and_falls(power: Power, tasks: Sequence[str], ratios: Sequence[float]) -> Parts:
    """soft_c13: diagnosticity of each hard metric at the middle length minus that at the shortest, and at the longest,
    on each task."""
    ordered = sorted(ratios)
    middle, ends = ordered[len(ordered) // 2], (ordered[0], ordered[-1])
    parts: dict[str, Comparison] = {}
    for dataset, metric, end in product(tasks, HARD, ends):
        in_the_middle = power(at_length(metric, middle), dataset=dataset)
        at_the_end = power(at_length(metric, end), dataset=dataset)
        name = f"{label(metric)}, {label(dataset)}: {100 * middle:g} % minus {100 * end:g} %"
        parts[name] = in_the_middle - at_the_end
    return parts


def rises(power: Power, tasks: Sequence[str], ratios: Sequence[float]) -> Parts:
    """soft_c10: the slope of the mean score of each hard metric on each task."""
    parts: dict[str, Comparison] = {}
    for dataset, metric in product(tasks, ("ns", "nc")):
        parts[f"{label(metric)}, {label(dataset)}"] = slope(power, metric, ratios, dataset=dataset, shows=SCORE)
    return parts
