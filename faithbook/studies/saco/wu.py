"""What the pages on Wu et al. (2024) have in common: metrics, methods, values of single images as the pages average
them, and the claims on SaCo of ten methods as parts made of quantities.

A claim takes `at`, which gives SaCo of a method (`at("rollout")`; where it says so `at("rollout", k=5)`), and gives the
parts that its rule judges: so the same words are asked of every set of images, setting and model.

Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.judge import published
from faithbook.judge.decide import Claim, OnlyIf, Parts, SameNumber, Statements
from faithbook.judge.scores import Scores
from faithbook.models.cards import cards
from faithbook.show.labels import label, short
from faithbook.show.numbers import ends_of, listed
from faithbook.stats import comparison
from faithbook.stats.agreement import KENDALL, SPEARMAN, Pairs, rank_agreement
from faithbook.stats.chance import against_random
from faithbook.stats.comparison import Comparison
from faithbook.stats.inference import wilson

At = Callable[..., Comparison]
Array = NDArray[np.float64]
Correlated = Mapping[tuple[str, str, str], Comparison]
"""Rank correlations by (`SPEARMAN` or `KENDALL`, first metric, second metric)."""

FAMILIES = {
    "gradient": ["integrated_gradients", "grad_cam"],
    "attribution": ["lrp", "partial_lrp", "transformer_attribution", "conservative_lrp"],
    "attention": ["raw_attention", "rollout", "transformer_mm", "attcat"],
}
METHODS = [name for family in FAMILIES.values() for name in family]
RAW, ROLLOUT, LAST, ALL = "raw_attention", "rollout", "last_layer_attention_with_gradient", "transformer_mm"
MID = 10
KS = (5, MID, 20)
"""Numbers of groups, the main one in the middle."""
SIGN = {"saco": 1, "auc": -1, "aopc_morf": 1, "log_odds": -1, "aopc_lerf": -1}
"""The metrics and which way each is better: times its sign, higher is better everywhere."""
EXISTING = [name for name in SIGN if name != "saco"]
LOWER_IS_BETTER = tuple(name for name in SIGN if SIGN[name] < 0)
PICTURE = ["dataset", "model", "id", "cluster"]
TA, CHANCE = "transformer_attribution", "random"
NAMED = ("partial_lrp", TA, "attcat")
"""The methods that random scores are said to compete with."""
WINNERS = ("partial_lrp", "transformer_attribution", "transformer_mm")
STEADY = ("integrated_gradients", "attcat")


# -------------------------------------------------------------------------------------------- values of single images
def turned(units: pd.DataFrame) -> pd.DataFrame:
    """All metrics turned so that higher is better."""
    sign = units["metric"].map(SIGN).astype(float)  # of no units, too, where it would be a column of words
    return units.assign(value=units["value"] * sign)


def by_groups(units: pd.DataFrame) -> pd.DataFrame:
    """SaCo alone, by number of groups `k`; the main setting has ten."""
    saco = of_main_or_other(units[units["metric"] == "saco"])
    return saco.assign(k=saco["k"].fillna(MID).astype(int))


def of_main_or_other(units: pd.DataFrame) -> pd.DataFrame:
    """The units with columns `k` and `setting`, undefined where nothing but the main setting was measured."""
    missing = [name for name in ("k", "setting") if name not in units.columns]
    return units.assign(**dict.fromkeys(missing, np.nan))


def with_all_groups(units: pd.DataFrame) -> pd.DataFrame:
    """`by_groups` of the images that were cut into every number of groups: of photographs these are a part."""
    grouped = by_groups(units)
    numbers = grouped.groupby(PICTURE)["k"].transform("nunique")
    return grouped[numbers == numbers.max()]


def by_setting(units: pd.DataFrame) -> pd.DataFrame:
    """SaCo by setting: the main one of all models, other numbers of groups, other settings of the first model. Ranks
    instead of scores are a control, which no reading of the paper allows."""
    whole_or_changed = of_main_or_other(units)
    saco = whole_or_changed[(whole_or_changed["metric"] == "saco") & (whole_or_changed["setting"] != "ranks")]
    whole = saco["k"].map(lambda k: "main, all models" if np.isnan(k) else f"{k:.0f} groups")
    return saco.assign(setting=saco["setting"].replace("main", "main, first model").fillna(whole))


def random_by_setting(units: pd.DataFrame) -> pd.DataFrame:
    """`by_setting` of random scores alone."""
    return by_setting(units[units["method"] == CHANCE])


def saco_in_settings(names: Collection[str]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """What takes SaCo in these settings and in the main one; by ranks, of maps that have one without."""

    def taken(units: pd.DataFrame) -> pd.DataFrame:
        chosen = units[(units["metric"] == "saco") & units["setting"].isin([*names, "main"])]
        # A map with one score everywhere has no SaCo. Its ranks differ, by reading order alone, and would give it one.
        map_keys = [*PICTURE, "method", "draw"]
        without_saco = (chosen["setting"] == "main") & chosen["value"].isna()
        constant_maps_only = chosen.loc[without_saco, map_keys].drop_duplicates()
        marked = chosen.merge(constant_maps_only, on=map_keys, how="left", indicator="which")
        of_constant_map = marked["which"].to_numpy() == "both"
        by_ranks = chosen["setting"] == "ranks"
        return chosen.assign(value=chosen["value"].mask(of_constant_map & by_ranks))

    return taken


def beside_random(units: pd.DataFrame, *, over: Sequence[str] = ()) -> pd.DataFrame:
    """Every explanation beside each drawing of random scores on the same image, metrics turned
    (`quantities.against_random`); `over`: further columns in which the two agree."""
    frame = turned(units)
    chance = frame[frame["method"] == "random"]
    draws = pd.DataFrame({"draw": sorted(chance["draw"].unique())})
    real = frame[frame["method"] != "random"].drop(columns="draw").merge(draws, how="cross")
    return against_random(pd.concat([real, chance]), on=[*PICTURE, *over, "metric", "draw"])


def preferred_to_random(units: pd.DataFrame) -> pd.DataFrame:
    """How often each explanation does better than a drawing of random scores on the same image, a tie one half."""
    both = beside_random(units)
    return both.assign(value=both["win"] + both["tie"] / 2)


def random_ahead(units: pd.DataFrame) -> pd.DataFrame:
    """How often random scores do better than a method on the same image, minus one half, by `setting` (if there are
    any); `ties`: whether they count half or nothing."""
    setting = units["setting"].replace("main", "main, first model") if "setting" in units else "all models"
    asked = units[units["method"].isin([*METHODS, CHANCE])]
    both = beside_random(asked.assign(setting=setting), over=["setting"])
    lost = 1 - both["win"] - both["tie"]
    shares = {"half": lost + both["tie"] / 2 - 0.5, "none": lost - 0.5}
    return pd.concat([both.assign(ties=name, value=value) for name, value in shares.items()])


def case_study(units: pd.DataFrame) -> pd.DataFrame:
    """Figure 3 asked of every image, model and drawing of random scores, by `quantity`: by how much SaCo puts
    transformer attribution before raw attention and random scores; whether it has the paper's order of the three, and
    that minus whether AOPC has it."""
    wide = units[units["method"].isin((TA, RAW, CHANCE)) & units["metric"].isin(("saco", "aopc_morf"))]
    chance = wide[wide["method"] == CHANCE].pivot_table(index=[*PICTURE, "draw"], columns="metric", values="value")
    both = wide[wide["method"] != CHANCE].pivot_table(index=PICTURE, columns=["method", "metric"], values="value")
    joined = both.reindex(chance.reset_index("draw").index).set_axis(chance.index)
    ordered = {}
    for metric in ("saco", "aopc_morf"):
        best, middle, worst = joined[TA, metric], joined[RAW, metric], chance[metric]
        right = ((best > middle) & (middle > worst)).astype(float)
        ordered[metric] = right.where(best.notna() & middle.notna() & worst.notna())
    values = {
        "SaCo of Transformer Attribution minus Raw Attention": joined[TA, "saco"] - joined[RAW, "saco"],
        "SaCo of Transformer Attribution minus random": joined[TA, "saco"] - chance["saco"],
        "paper's order under SaCo minus under AOPC": ordered["saco"] - ordered["aopc_morf"],
        "paper's order under SaCo": ordered["saco"],
    }
    return pd.concat([value.rename("value").reset_index().assign(quantity=name) for name, value in values.items()])


LOSS, FROM_GROUP = 0.9, 3
"""What erasing costs under each of the three explanations of Figure 3, from which of ten groups on."""
IMPLIED = LOSS * (MID - FROM_GROUP + 1) / MID
"""AOPC (MoRF) is at least so high where it does."""
ALL_STEEP = "AOPC of all three above what such losses imply"


def cumulative_losses(units: pd.DataFrame) -> pd.DataFrame:
    """What Figure 3 shows of cumulative erasure, asked of every image, model and drawing of random scores, by
    `quantity`: AOPC (MoRF) of the three explanations, and whether it is above `IMPLIED` under all of them."""
    wide = units[units["method"].isin((TA, RAW, CHANCE)) & (units["metric"] == "aopc_morf")]
    chance = wide[wide["method"] == CHANCE].set_index([*PICTURE, "draw"])["value"]
    others = wide[wide["method"] != CHANCE].pivot_table(index=PICTURE, columns="method", values="value")
    joined = others.reindex(chance.reset_index("draw").index).set_axis(chance.index).assign(**{CHANCE: chance})
    steep = (joined > IMPLIED).all(axis=1).astype(float).where(joined.notna().all(axis=1))
    values = {**{name: joined[name] for name in (TA, RAW, CHANCE)}, ALL_STEEP: steep}
    return pd.concat([value.rename("value").reset_index().assign(quantity=name) for name, value in values.items()])


def agreement(*methods: str, datasets: Collection[str] | None = None) -> Callable[[pd.DataFrame], Pairs]:
    """Rank correlations of the metrics over images, from a frame, the mean over the cells of these methods; of these
    data sets alone where they are named, none where the frame has none of them."""

    def of(frame: pd.DataFrame) -> Pairs:
        chosen = frame[frame["method"].isin(methods) & (frame["draw"] == 0)]
        if datasets is not None:
            chosen = chosen[chosen["dataset"].isin(list(datasets))]
        none = datasets is not None and chosen.empty
        return {} if none else rank_agreement(chosen, list(SIGN), inside=["model", "method"])

    return of


def constant_maps(units: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """How many `maps` there are, and how many are `constant`: without a SaCo, as all pixels have the same score."""
    saco = units.groupby(list(by), observed=True)["value"]
    return saco.agg(maps="size", constant=lambda values: int(values.isna().sum())).reset_index()


def transformers(datasets: Collection[str]) -> pd.DataFrame:
    """Our models of images of these data sets, from their cards: their accuracy on n held-out images with its 95 %
    interval. No row where none has a card on this machine."""
    facts = cards("vision")
    if facts.empty:
        return facts
    facts = facts[facts["dataset"].isin(list(datasets)) & (facts["classifier"] != "lite0")]  # no transformer
    low, high = wilson(facts["accuracy"], facts["test_size"])
    names = {"classifier": "model", "train_size": "trained on", "test_size": "n"}
    columns = ["dataset", "model", "parameters", "trained on", "accuracy", "low", "high", "n"]
    return facts.rename(columns=names).assign(low=low, high=high)[columns]


# --------------------------------------------------------------------------------------------------------------- claims
def bars(
    pairs: Correlated, kind: str = SPEARMAN, back: Collection[str] = ()
) -> tuple[dict[str, Comparison], Comparison]:
    """Figure 2, the metrics in `back` turned back: SaCo with each existing metric, and the mean among those."""
    sign = {name: -1 if name in back else 1 for name in SIGN}
    four = {name: sign[name] * pairs[kind, "saco", name] for name in EXISTING}
    return four, comparison.mean([sign[a] * sign[b] * pairs[kind, a, b] for a, b in combinations(EXISTING, 2)])


def bar_table(pairs: Correlated) -> pd.DataFrame:
    """Figure 2 as a table: by bar what is published, Spearman's correlation with its interval, Kendall's tau, n."""
    (low, high), printed_among = printed_bars()
    spearman_with_saco, spearman_among = bars(pairs)
    kendall_with_saco, kendall_among = bars(pairs, KENDALL)
    rows = []
    for name in EXISTING:
        # The paper says from where to where these four bars reach, and not which metric has which.
        printed = f"{low:.2f} to {high:.2f}"
        rows.append(_bar(f"SaCo and {label(name)}", printed, spearman_with_saco[name], kendall_with_saco[name]))
    rows.append(_bar("mean among the four", f"{printed_among:.4f}", spearman_among, kendall_among))
    return pd.DataFrame(rows)


def _bar(name: str, printed: str, spearman: Comparison, kendall: Comparison) -> dict[str, object]:
    """A row of `bar_table`."""
    row: dict[str, object] = {"bar": name, "published": printed, **ends_of(spearman)}
    return row | {"Kendall's tau": kendall.ours.point, "n": spearman.ours.n}


def printed_bars() -> tuple[tuple[float, float], float]:
    """What the text says of Figure 2: from where to where SaCo agrees with another metric, and the mean among these."""
    text = published.table("saco_text").set_index(["item", "statistic"])["value"]
    low, high = (float(text["rank_correlation_saco_vs_each_existing_metric", end]) for end in ("lowest", "highest"))
    return (low, high), float(text["rank_correlation_among_existing_metrics", "mean"])


def every_mean(mean: At, datasets: Collection[str]) -> pd.DataFrame:
    """Figure 4 as a table (dataset, metric, method, estimate and its ends, n): `mean(metric, method, dataset=)` of
    metrics turned, turned back."""
    means = {}
    for dataset, metric, method in product(datasets, SIGN, (*METHODS, CHANCE)):
        # Turned twice, a metric has the direction in which the paper draws it.
        means[dataset, metric, method] = SIGN[metric] * mean(metric, method, dataset=dataset)
    return listed(means, ["dataset", "metric", "method"])


def differently(pairs: Correlated) -> Parts:
    """saco_c01: SaCo ranks images differently from each existing metric."""
    return {f"SaCo and {label(name)}": pair for name, pair in bars(pairs)[0].items()}


def more_among_four(pairs: Correlated, kind: str = SPEARMAN, back: Collection[str] = ()) -> Parts:
    """saco_c02: existing metrics agree more with one another than with SaCo."""
    four, among = bars(pairs, kind, back)
    return {"mean among the four minus mean with SaCo": among - comparison.mean(list(four.values()))}


def competes(share: At, **labels: object) -> Parts:
    """saco_c06: random scores do as well as three methods under the existing metrics; `share(metric, method)`: how
    often they do better, minus one half."""
    pairs = product(NAMED, EXISTING)
    return {f"random over {label(name)}, {label(metric)}": share(metric, name, **labels) for name, metric in pairs}


def competes_on_average(mean: At, **labels: object) -> Parts:
    """saco_c06: random scores do as well as three methods under the existing metrics, on average, as Figure 4 shows it;
    `mean(metric, method)`: of metrics turned."""
    return {
        f"random minus {label(name)}, {label(metric)}": mean(metric, CHANCE, **labels) - mean(metric, name, **labels)
        for name, metric in product(NAMED, EXISTING)
    }


def integrated_gradients_lead(mean: At) -> Statements:
    """saco_c07: integrated gradients come first where the most salient pixels go first, and last where the least do;
    `mean(metric, method)`: of metrics turned."""
    first: dict[str, Comparison] = {}
    last: dict[str, Comparison] = {}
    for metric in EXISTING:
        for other in METHODS[1:]:
            lead = mean(metric, METHODS[0]) - mean(metric, other)
            if metric == "aopc_lerf":
                last[f"IG behind {label(other)}, {label(metric)}"] = -lead
            else:
                first[f"IG ahead of {label(other)}, {label(metric)}"] = lead
    return Statements({"leads": first, "last": last})


def about_twice(at: At) -> Statements:
    """saco_c03: gradients improve SaCo, of the last layer's attention and of that of all layers, and about double it.

    Factors are judged by their logarithms, and only where SaCo without gradients is clearly above zero.
    """
    gains: dict[str, Comparison] = {}
    factors: dict[str, Comparison] = {}
    for where, with_, without in (("last layer", LAST, RAW), ("all layers", ALL, ROLLOUT)):
        gains[f"with gradients minus without, {where}"] = at(with_) - at(without)
        factors[f"log of with gradients over without, {where}"] = comparison.log_ratio(at(with_), at(without))
    bases = {"SaCo of raw attention": at(RAW), "SaCo of rollout": at(ROLLOUT)}
    return Statements({"direction": gains, "size": OnlyIf(factors, bases)})


def layers_too(at: At) -> Parts:
    """saco_c04: all layers instead of the last help too, less than gradients do."""
    return {
        "gain from all layers, no gradients": at(ROLLOUT) - at(RAW),
        "gain from all layers, with gradients": at(ALL) - at(LAST),
        "gain from gradients minus gain from layers": at(LAST) - at(ROLLOUT),
    }


def falls(at: At) -> dict[str, Comparison]:
    """By method what SaCo loses from 5 groups to 20 (`at` with `k`)."""
    return {method: at(method, k=KS[0]) - at(method, k=KS[-1]) for method in METHODS}


def most_fall(at: At) -> Parts:
    """saco_c08: most methods lose SaCo as groups get more and smaller (`at` with `k`)."""
    return {f"5 minus 20 groups, {short(method)}": fall for method, fall in falls(at).items()}


def winners_fall_most(at: At) -> Parts:
    """saco_c09: three named methods lose most (`at` with `k`)."""
    fall = falls(at)
    return {
        f"fall of {short(method)} minus {short(other)}": fall[method] - fall[other]
        for method in WINNERS
        for other in METHODS
        if other not in WINNERS
    }


def two_are_steady(at: At) -> Parts:
    """saco_c10: two methods hardly depend on the number of groups (`at` with `k`)."""
    fall = falls(at)
    return {f"20 minus 5 groups, {short(method)}": -fall[method] for method in STEADY}


def attention_leads(at: At) -> Parts:
    """saco_c11: methods made of attention are the more faithful family, raw attention its weakest member."""
    family = {name: comparison.mean([at(method) for method in members]) for name, members in FAMILIES.items()}
    return {
        "attention-based minus gradient-based": family["attention"] - family["gradient"],
        "attention-based minus attribution-based": family["attention"] - family["attribution"],
        **{f"{short(m)} minus raw attention": at(m) - at(RAW) for m in FAMILIES["attention"] if m != RAW},
    }


def most_positive(at: At) -> Parts:
    """saco_c12: most methods get a positive SaCo."""
    return {f"SaCo of {short(method)}": at(method) for method in METHODS}


# ------------------------------------------------------------------------------------------ claims under other choices
MAIN_SETTING = "main, all models"


def settings_tried(varied: Scores, datasets: Collection[str]) -> list[str]:
    """The settings that images of these data sets went through (`by_setting`), the main one of all models first: few
    images go through all of them."""
    frame = varied.frame
    tried = frame[frame["dataset"].isin(list(datasets))]["setting"].unique()
    return sorted(tried, key=lambda name: name != MAIN_SETTING)


def under_each_setting(
    claim: Callable[[At], Claim], varied: Scores, datasets: Sequence[str]
) -> dict[tuple[str, ...], Claim]:
    """A claim under each setting that was tried (`settings_tried`)."""
    return {
        (name,): claim(varied.quantity("method", setting=name, dataset=list(datasets)))
        for name in settings_tried(varied, datasets)
    }


FLIPPED = {"all": (), "all but AOPC, LeRF": ("aopc_lerf",), "none": LOWER_IS_BETTER}
"""Which of the three metrics that are better when lower are sign-flipped, and which of them are turned back for it."""


def agreement_by_choice(pairs: Correlated) -> dict[tuple[str, ...], Claim]:
    """saco_c02 by which metrics are sign-flipped and which correlation is taken."""
    return {
        (name, kind): more_among_four(pairs, kind, back)
        for kind in (SPEARMAN, KENDALL)
        for name, back in FLIPPED.items()
    }


def competition_by_choice(
    mean: At, wins: Scores, wins_by_setting: Scores, datasets: Sequence[str]
) -> dict[tuple[str, ...], Claim]:
    """saco_c06 by setting and by what is compared: means (`mean`), or the images on which random scores win (`wins` of
    all models, `wins_by_setting` of the first one, of `random_ahead`), ties counting half or nothing."""
    ahead = wins.quantity("metric", "method", ties="half", dataset=list(datasets))
    by_choice: dict[tuple[str, ...], Claim] = {(MAIN_SETTING, "means"): competes_on_average(mean)}
    for ties in ("half", "none"):
        by_choice[MAIN_SETTING, f"wins, ties count {ties}"] = competes(ahead, ties=ties)
    share = wins_by_setting.quantity("metric", "method", ties="half", dataset=list(datasets))
    frame = wins_by_setting.frame
    for name in frame[frame["dataset"].isin(list(datasets))]["setting"].unique():
        if name != "ranks":
            by_choice[name, "wins, ties count half"] = competes(share, setting=name)
    return by_choice


SCALES = (0.001, 7.0, 1000.0)


def scaled_alike(steps: pd.DataFrame, evidence: str) -> dict[str, SameNumber]:
    """saco_c13: SaCo of every stored explanation with its scores multiplied by each of `SCALES`, beside SaCo of the
    scores: `steps` has dataset, input, method, and of each group its salience and what is lost without it (`alone`)."""
    found = {}
    for (dataset, place, method), rows in steps.groupby(["dataset", "input", "method"], sort=False):
        salience, alone = (rows[name].to_numpy(dtype=float) for name in ("salience", "alone"))
        plain = saco_of(salience, alone)
        if np.isnan(plain):  # all groups have one salience
            continue
        for scale in SCALES:
            words = f"{label(str(method))}, {label(str(dataset))} {place}, times {scale:g}"
            found[words] = SameNumber(saco_of(scale * salience, alone), f"{plain:.9f}", evidence)
    return found


def saco_of(salience: Array, lost: Array) -> float:
    """SaCo of groups from their salience and what is lost without each (Algorithm 1): the sum of the differences of
    salience over all pairs, with a minus where the more salient group costs less, over the sum without signs; NaN where
    all have one salience.

    >>> saco_of(np.array([3.0, 2.0, 1.0]), np.array([0.5, 0.1, 0.2]))
    0.5
    """
    order = np.argsort(-salience, kind="stable")
    first, second = np.triu_indices(len(order), 1)
    weight = salience[order][first] - salience[order][second]
    kept = lost[order][first] >= lost[order][second]
    total = weight.sum()
    return float((weight * np.where(kept, 1, -1)).sum() / total) if total > 0 else float("nan")


def random_is_zero(at: At) -> Parts:
    """saco_c05: SaCo of random scores is zero on average."""
    return {"mean SaCo of random scores": at("random")}


OF_ANY_NETWORK = ("integrated_gradients", "grad_cam", "occlusion", "lime", "shapley_sampling")
"""Explanations that need no transformer."""


def claims_of_any_network(at: At, pairs: Correlated) -> dict[str, Parts]:
    """The parts of the claims that name no transformer, no method that only a transformer has, and no number of
    methods, by id: `at` of SaCo, `pairs` the metrics' rank correlations over `OF_ANY_NETWORK`.

    Settled on November 26, 2026, before values of a convolutional network were there; the rules are those of before.
    """
    return {"saco_c01": differently(pairs), "saco_c02": more_among_four(pairs), "saco_c05": random_is_zero(at)}


def claims_by_id(at: At, *, mean: At, ahead: At, pairs: Correlated) -> dict[str, Claim]:
    """The parts of every claim about images, by id: `at` of SaCo, `mean` of all metrics turned (metric, method),
    `ahead` how often random scores do better, minus one half (metric, method), `pairs` the metrics' rank
    correlations."""
    return {
        "saco_c01": differently(pairs),
        "saco_c02": more_among_four(pairs),
        "saco_c06": competes_on_average(mean),
        "saco_c07": integrated_gradients_lead(mean),
        "saco_c03": about_twice(at),
        "saco_c04": layers_too(at),
        "saco_c05": random_is_zero(at),
        "saco_c08": most_fall(at),
        "saco_c09": winners_fall_most(at),
        "saco_c10": two_are_steady(at),
        "saco_c11": attention_leads(at),
        "saco_c12": most_positive(at),
    }
