"""What the pages on Wu et al. (2024) have in common: metrics, methods, values of single pictures as the pages average
them, and the claims on SaCo of ten methods as parts made of quantities.

A claim takes `at`, which gives SaCo of a method (`at("rollout")`; where it says so `at("rollout", k=5)`), and gives the
parts that its rule judges: so the same words are asked of every set of pictures, setting and model.

Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import pandas as pd

from faithbook.models.cards import cards
from faithbook.results import paired
from faithbook.results.judged import Parts, Provided
from faithbook.results.labels import short
from faithbook.results.p_values import wilson_ends
from faithbook.results.paired import Paired
from faithbook.results.quantities import against_random

At = Callable[..., Paired]

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
PICTURE = ["dataset", "model", "id", "cluster"]
WINNERS = ("partial_lrp", "transformer_attribution", "transformer_mm")
STEADY = ("integrated_gradients", "attcat")


# -------------------------------------------------------------------------------------------- values of single pictures
def turned(units: pd.DataFrame) -> pd.DataFrame:
    """All metrics turned so that higher is better."""
    return units.assign(value=units["value"] * units["metric"].map(SIGN))


def by_groups(units: pd.DataFrame) -> pd.DataFrame:
    """SaCo alone, by number of groups `k`; the main setting has ten."""
    return units[units["metric"] == "saco"].assign(k=units["k"].fillna(MID).astype(int))


def by_setting(units: pd.DataFrame) -> pd.DataFrame:
    """SaCo by setting: the main one of all models, other numbers of groups, other settings of the first model. Ranks in
    place of scores are a control, which no reading of the paper allows."""
    saco = units[(units["metric"] == "saco") & (units["setting"] != "ranks")]
    whole = saco["k"].map(lambda k: "main, all models" if np.isnan(k) else f"{k:.0f} groups")
    return saco.assign(setting=saco["setting"].replace("main", "main, first model").fillna(whole))


def beside_random(units: pd.DataFrame, *, over: Sequence[str] = ()) -> pd.DataFrame:
    """Every explanation beside each drawing of random scores on the same picture, metrics turned
    (`quantities.against_random`); `over`: further columns in which the two agree."""
    frame = turned(units)
    chance = frame[frame["method"] == "random"]
    draws = pd.DataFrame({"draw": sorted(chance["draw"].unique())})
    real = frame[frame["method"] != "random"].drop(columns="draw").merge(draws, how="cross")
    return against_random(pd.concat([real, chance]), on=[*PICTURE, *over, "metric", "draw"])


def constant_maps(units: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """How many `maps` there are, and how many are `constant`: without a SaCo, as all pixels have the same score."""
    saco = units.groupby(list(by), observed=True)["value"]
    return saco.agg(maps="size", constant=lambda values: int(values.isna().sum())).reset_index()


def transformers(datasets: Collection[str]) -> pd.DataFrame:
    """Our models of pictures of these data sets, from their cards: their accuracy on n held-out pictures with its 95 %
    interval. No row where none has a card on this machine."""
    facts = cards("vision")
    if facts.empty:
        return facts
    facts = facts[facts["dataset"].isin(list(datasets))]
    low, high = wilson_ends(facts["accuracy"], facts["test_size"])
    facts = facts.rename(columns={"classifier": "model", "train_size": "learnt from", "test_size": "n"})
    columns = ["dataset", "model", "parameters", "learnt from", "accuracy", "low", "high", "n"]
    return facts.assign(low=low, high=high)[columns]


# --------------------------------------------------------------------------------------------------------------- claims
def about_twice(at: At) -> Provided:
    """saco_c03: gradients about double SaCo, of the last layer's attention and of that of all layers."""
    parts = {}
    for where, with_, without in (("last layer", LAST, RAW), ("all layers", ALL, ROLLOUT)):
        parts[f"with gradients less 1.5 times without, {where}"] = at(with_) - 1.5 * at(without)
        parts[f"3 times without gradients less with, {where}"] = 3 * at(without) - at(with_)
    return Provided(parts, {"SaCo of raw attention": at(RAW), "SaCo of rollout": at(ROLLOUT)})


def layers_too(at: At) -> Parts:
    """saco_c04: all layers in place of the last help too, less than gradients do."""
    return {
        "gain from all layers, no gradients": at(ROLLOUT) - at(RAW),
        "gain from all layers, with gradients": at(ALL) - at(LAST),
        "gain from gradients less gain from layers": at(LAST) - at(ROLLOUT),
    }


def falls(at: At) -> dict[str, Paired]:
    """By method what SaCo loses from 5 groups to 20 (`at` with `k`)."""
    return {method: at(method, k=KS[0]) - at(method, k=KS[-1]) for method in METHODS}


def most_fall(at: At) -> Parts:
    """saco_c08: most methods lose SaCo as groups get more and smaller (`at` with `k`)."""
    return {f"5 less 20 groups, {short(method)}": fall for method, fall in falls(at).items()}


def winners_fall_most(at: At) -> Parts:
    """saco_c09: three named methods lose most (`at` with `k`)."""
    fall = falls(at)
    return {
        f"fall of {short(method)} less {short(other)}": fall[method] - fall[other]
        for method in WINNERS
        for other in METHODS
        if other not in WINNERS
    }


def two_are_steady(at: At) -> Parts:
    """saco_c10: two methods hardly depend on the number of groups (`at` with `k`)."""
    fall = falls(at)
    return {f"20 less 5 groups, {short(method)}": -fall[method] for method in STEADY}


def attention_leads(at: At) -> Parts:
    """saco_c11: methods made of attention are the more faithful family, raw attention its laggard."""
    family = {name: paired.mean([at(method) for method in members]) for name, members in FAMILIES.items()}
    return {
        "attention-based less gradient-based": family["attention"] - family["gradient"],
        "attention-based less attribution-based": family["attention"] - family["attribution"],
        **{f"{short(m)} less raw attention": at(m) - at(RAW) for m in FAMILIES["attention"] if m != RAW},
    }


def random_is_zero(at: At) -> Parts:
    """saco_c05: SaCo of random scores is zero on average."""
    return {"mean SaCo of random scores": at("random")}
