"""What each open choice of Wu et al. (2024) changes: the numbers of `saco_deviations`, points S1 to S12.

    value = measured.quantity("setting", "metric", "method")
    found = effects(value, base_of(measured.levels("setting")))

A choice is a `setting` of `saco_metrics`; its base is the setting that it is compared with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from faithbook.show.labels import label
from faithbook.show.numbers import ENDS, ends_of, listed, spoken
from faithbook.show.tables import in_names
from faithbook.show.tables import wide_with_intervals as in_cells
from faithbook.stats import comparison
from faithbook.stats.agreement import tau_of
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Estimate
from faithbook.studies.saco.wu import CHANCE, LAST, METHODS, SIGN, At, constant_maps

Value = Callable[[str, str, Any], Comparison]
"""The mean of a metric under a setting: `value(setting, metric, method)`."""

NAMES = {
    "group sums": "S1 sums of unequal groups",
    "last group larger": "S1 last group takes the rest",
    "rest dropped": "S1 rest left out",
    "nearest": "S2 nearest upsampling",
    "whole patches": "S2 whole patches",
    "random ties": "S3 equal scores shuffled",
    "nearest, random ties": "S2, S3 nearest and shuffled",
    "zero": "S4 one fixed colour",
    "blur": "S4 a blurred copy",
    "5 groups": "S5 five groups",
    "20 groups": "S5 twenty groups",
    "bfloat16": "bfloat16",
}
"""The choices by setting, with the point of the page that they belong to."""


def varied(units: pd.DataFrame) -> pd.DataFrame:
    """One model and the images that went through all settings; other numbers of groups of the same images."""
    settings = units[units["setting"].notna()]
    counts = units[units["k"].notna() & units["model"].isin(set(settings["model"]))]
    counts = counts.assign(setting=[f"{k:.0f} groups" for k in counts["k"]])
    same = counts.merge(settings[["dataset", "id"]].drop_duplicates(), on=["dataset", "id"])
    return pd.concat([settings, same], ignore_index=True)


def base_of(measured: Collection[str]) -> dict[str, str]:
    """By choice among the settings that were measured, the setting that it is compared with: the main one; half
    precision with single precision where the main setting is half precision itself.

    >>> base_of(["main", "zero", "float32", "bfloat16"])
    {'zero': 'main', 'bfloat16': 'float32'}
    """
    base = {name: "main" for name in NAMES if name in measured}
    if "float32" in measured and "bfloat16" in base:
        base["bfloat16"] = "float32"
    return base


# ------------------------------------------------------------------------------------------------------------- effects
def change_by_method(value: Value, setting: str, base: str, metric: str) -> dict[str, Comparison]:
    """Other choice minus base, of every method and of random scores."""
    return {method: value(setting, metric, method) - value(base, metric, method) for method in (*METHODS, CHANCE)}


def _metrics_of(setting: str) -> list[str]:
    """Other numbers of groups have SaCo alone."""
    return ["saco"] if "groups" in setting else list(SIGN)


def effects_of_settings(value: Value, base_of_setting: Mapping[str, str]) -> pd.DataFrame:
    """What each choice changes of each metric: the mean change over the ten methods, and Kendall's tau between the
    methods' ranking under it and under its base."""
    rows = []
    for setting, base in base_of_setting.items():
        for metric in _metrics_of(setting):
            of_each_method = change_by_method(value, setting, base, metric)
            mean_change = comparison.mean([of_each_method[method] for method in METHODS]).ours
            after = [value(setting, metric, method).ours for method in METHODS]
            before = [value(base, metric, method).ours for method in METHODS]
            level_before = float(np.mean([estimate.point for estimate in before]))
            row = {"setting": setting, "metric": metric, "n": mean_change.n, "main": level_before}
            rows.append(row | ends_of(mean_change) | ends_of(tau_of(after, before), "tau"))
    return pd.DataFrame(rows)


def effects_by_method(value: Value, base_of_setting: Mapping[str, str]) -> pd.DataFrame:
    """What each choice changes of each metric, by method."""
    rows = []
    for setting, base in base_of_setting.items():
        for metric in _metrics_of(setting):
            for method, change in change_by_method(value, setting, base, metric).items():
                labels = {"setting": setting, "metric": metric, "method": method, "n": change.ours.n}
                rows.append(labels | ends_of(change))
    return pd.DataFrame(rows)


def effects_of_some(found: pd.DataFrame, *settings: str) -> pd.DataFrame:
    """The effects of some choices, by their names for people."""
    chosen = found[found["setting"].isin(settings)]
    return chosen.assign(setting=chosen["setting"].map(NAMES))


def settings_table(found: pd.DataFrame) -> pd.DataFrame:
    """`of_settings` as it is shown: the value in the main setting, the change, and tau."""
    names = {"setting": "other choice", "main": "main setting", "estimate": "change"}
    ends = {name: f"change {name}" for name in ("low", "high")}
    columns = ["other choice", "metric", "main setting", "change", "change low", "change high"]
    shown = found.rename(columns=names | ends)[[*columns, "tau", "tau low", "tau high", "n"]]
    return in_names(shown, 3)


def word(setting: str) -> str:
    """A choice in words, with its points in brackets.

    >>> word("5 groups"), word("nearest, random ties"), word("bfloat16")
    ('five groups (S5)', 'nearest and shuffled (S2, S3)', 'bfloat16')
    """
    found = re.fullmatch(r"(S\d+(?:, S\d+)*) (.+)", NAMES[setting])
    return f"{found[2]} ({found[1]})" if found else NAMES[setting]


def on_saco(found: pd.DataFrame, settings: list[str]) -> pd.DataFrame:
    """The effects on SaCo, in the order of the settings."""
    return found[found["metric"] == "saco"].set_index("setting").reindex(settings).reset_index()


def in_short(of_saco: pd.DataFrame) -> str:
    """The result of the page: how many choices change SaCo clearly, which most, and which least (`on_saco`)."""
    clear = int(((of_saco["low"] > 0) | (of_saco["high"] < 0)).sum())
    sizes = of_saco["estimate"].abs()
    most, least = of_saco.iloc[int(sizes.argmax())], of_saco.iloc[int(sizes.argmin())]
    return (
        f"On {most['n']} images and one model, {clear} of {len(of_saco)} choices that the paper leaves open, or that "
        "we had to make, change mean SaCo of ten methods clearly (95 % interval without zero). The largest change is "
        f"that of *{word(most['setting'])}*, {spoken(most, '+.3f')}, the smallest that of *{word(least['setting'])}*, "
        f"{spoken(least, '+.3f')}. S1 to S5 are points of this page."
    )


def at_a_glance(of_saco: pd.DataFrame) -> str:
    """Which choice changes the ranking of methods most, which the level of SaCo, and which do not clearly change it
    (`on_saco`)."""
    ranking = of_saco.iloc[int(of_saco["tau"].argmin())]
    level = of_saco.iloc[int(of_saco["estimate"].abs().argmax())]
    unclear = of_saco[(of_saco["low"] <= 0) & (of_saco["high"] >= 0)]
    unchanged = ", ".join(word(name) for name in unclear["setting"]) or "none"
    clearly = f"The level does not clearly change for: {unchanged}."
    if len(unclear) == len(of_saco):
        clearly = "No choice changes the level clearly: every interval includes zero."
    return (
        f"The ranking of the methods depends most on *{word(ranking['setting'])}* (tau {ranking['tau']:.2f} "
        f"[{ranking['tau low']:.2f}, {ranking['tau high']:.2f}]), the level of SaCo most on *{word(level['setting'])}* "
        f"({spoken(level, '+.3f')}, from {level['main']:.3f}; n = {level['n']} images). {clearly}"
    )


def shuffled_alone(value: Value) -> Comparison:
    """S3: what shuffling equal scores changes with nearest-neighbour upsampling on both sides."""
    nearest, shuffled = "nearest", "nearest, random ties"
    return comparison.mean([value(shuffled, "saco", method) - value(nearest, "saco", method) for method in METHODS])


def clear_beside(shuffled: Estimate, of_saco: pd.DataFrame) -> str:
    """What to add to the change by shuffling alone (`shuffled_alone`) where it is clear, and no change from the main
    setting is (`on_saco`); "" elsewhere."""
    ends = shuffled.interval()
    none_is_clear = ((of_saco["low"] <= 0) & (of_saco["high"] >= 0)).all()
    if none_is_clear and (ends.high < 0 or ends.low > 0):
        return ": a clear change, which none from the main setting is"
    return ""


# -------------------------------------------------------------------------------------------------- S6, S7: equal drops
def with_both_ways(units: pd.DataFrame) -> pd.DataFrame:
    """The share of pairs with equal drops, SaCo with equal pairs counted (`satisfied`) and not (`half`), the change."""
    keys = ["dataset", "id", "cluster", "method"]
    wide = units.pivot_table(index=keys, columns="metric", values="value")
    wide["change"] = wide["half"] - wide["satisfied"]
    return wide.reset_index().melt(keys, ["ties", "satisfied", "half", "change"], "metric", "value")


QUANTITIES = {
    "ties": "share of equal pairs",
    "satisfied": "SaCo, equal pairs count",
    "half": "SaCo, equal pairs count nothing",
    "change": "change",
}
"""The quantities of `with_both_ways` for people."""


def equal_drops(quantity: At, datasets: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """S6 by data set and quantity (`with_both_ways`). A share lies between 0 and 1, SaCo between −1 and 1; on few
    images the ends of their intervals may not."""
    cells = product(datasets, metrics)
    found = listed({cell: quantity(*cell) for cell in cells}, ["dataset", "quantity"])
    ends = ["low", "high"]
    for name, limits in {"ties": (0, 1), "satisfied": (-1, 1), "half": (-1, 1)}.items():
        rows = found["quantity"] == name
        found.loc[rows, ends] = found.loc[rows, ends].clip(*limits)
    return found[["dataset", "quantity", "n", *ENDS]]


def equal_drops_in_words(of_equal_drops: pd.DataFrame) -> pd.DataFrame:
    """`equal_drops` as a table of text: the share of equal pairs and what they change, with n."""
    shown = of_equal_drops[of_equal_drops["quantity"].isin(["ties", "change"])]
    wide = in_cells(shown, ["dataset"], "quantity", ".3f").rename(columns=QUANTITIES)
    images = shown.groupby("dataset", sort=False, observed=True)["n"].min()
    return wide.assign(n=images.to_numpy())


def constant_in_words(frame: pd.DataFrame) -> str:
    """S7: how many maps give every pixel one score, by method and data set, the most first."""
    maps = frame[(frame["metric"] == "saco") & (frame["method"] != CHANCE)]
    lost = constant_maps(maps, ["dataset", "method"])
    lost = lost[lost["constant"] > 0].sort_values("constant", ascending=False)
    listing = [
        f"{label(row['method'])} on {label(row['dataset'])} {row['constant']} of {row['maps']}"
        for row in lost.to_dict("records")
    ]
    return "; ".join(listing) or "none"


# ------------------------------------------------------------------------------------------------- S8, S11: stored maps
UNIT = ["dataset", "input"]


def clamping(units: pd.DataFrame) -> pd.DataFrame:
    """The change of SaCo when negative scores are set to zero."""
    wide = units.pivot_table(index=["dataset", "id", "cluster", "method"], columns="metric", values="value")
    return (wide["saco_clamped"] - wide["saco"]).rename("value").reset_index()


def shares_below_zero(stored: pd.DataFrame) -> pd.DataFrame:
    """By method how many maps are stored, the share of pixels below zero and that of absolute salience that is
    negative, means over maps (`stored`: dataset, input, method and the score of each pixel)."""
    score = stored["score"]
    pixels = stored.assign(below=score < 0, negative=score.clip(upper=0).abs(), size=score.abs())
    per_map = pixels.groupby([*UNIT, "method"], sort=False).agg(
        below=("below", "mean"), negative=("negative", "sum"), size=("size", "sum")
    )
    with_mass = per_map.assign(mass=per_map["negative"] / per_map["size"])
    return with_mass.groupby("method").agg(maps=("below", "size"), below=("below", "mean"), mass=("mass", "mean"))


def signs(shares: pd.DataFrame, clamped: Callable[..., Comparison]) -> pd.DataFrame:
    """S8 by method: `shares_below_zero` of its maps, and what setting negative scores to zero changes of its SaCo
    (`clamped(method=)`)."""
    rows = []
    for method in [name for name in (*METHODS, LAST, CHANCE) if name in shares.index]:
        change = clamped(method=method)
        row = {"method": method, "maps": shares["maps"][method], "below zero": shares["below"][method]}
        rows.append(row | {"negative mass": shares["mass"][method], **ends_of(change, "clamped"), "n": change.ours.n})
    return pd.DataFrame(rows)


def most_alike(stored: pd.DataFrame, shown: int = 5) -> pd.DataFrame:
    """S11: the pairs of methods whose maps are most alike, and LRP with transformer attribution: Spearman's correlation
    over pixels, mean over images."""
    scores = stored.pivot_table(index=[*UNIT, "pixel"], columns="method", values="score")
    scores = scores[[name for name in (*METHODS, LAST) if name in scores]]
    # Spearman's correlation is Pearson's of the ranks within an image.
    ranks = scores.groupby(level=UNIT).rank()
    of_image = ranks.groupby(level=UNIT).corr()
    of_image.index.names, of_image.columns.name = [*UNIT, "one"], "other"
    pairs = of_image.reset_index().melt([*UNIT, "one"], var_name="other", value_name="value")
    # The matrix has each pair twice and each method with itself: only what is above its diagonal counts.
    place = {name: i for i, name in enumerate(scores.columns)}
    pairs = pairs[pairs["one"].map(place) < pairs["other"].map(place)]
    means = pairs.groupby(["one", "other"])["value"].agg(correlation="mean", n="count").reset_index()
    means = means.sort_values("correlation", ascending=False, ignore_index=True)
    # In released code these two once gave the same map.
    trap = means[(means["one"] == "lrp") & (means["other"] == "transformer_attribution")]
    picked = pd.concat([means.head(shown), trap]).drop_duplicates()
    return picked.assign(one=picked["one"].map(label), other=picked["other"].map(label))


# ---------------------------------------------------------------------------------------------------- what else differs
def tried_on(frame: pd.DataFrame) -> str:
    """On how many images and models of each data set the settings other than numbers of groups were measured."""
    settings = frame[~frame["setting"].str.contains("groups")]
    of_set = settings.groupby("dataset", observed=True)
    images, models = of_set["id"].nunique(), of_set["model"].nunique()
    return ", ".join(f"{label(name)}: {images[name]} images, {models[name]} model" for name in images.index)


def other_choices_for_images(settings: Any, images: str) -> pd.DataFrame:
    """Choices of ours that the points do not name, with the place that measures them; `settings`: those of the full
    run, `images`: on which settings were tried (`tried_on`)."""
    grouped = {name: settings.at({"dataset": name})["grouped_pictures"] for name in ("cifar10", "cifar100")}
    rows = [
        (
            "random scores",
            "one drawing",
            f"mean of {settings['random_draws']} drawings per image",
            "{doc}`saco_random`",
        ),
        (
            "other choices S1 to S4, and the curves that use them",
            "–",
            images,
            "intervals; many variants are undecided for that reason",
        ),
        (
            "numbers of groups 5 and 20",
            "all images",
            ", ".join(f"{label(name)} {n}" for name, n in grouped.items()),
            "n in the cells of {doc}`saco_tables`",
        ),
        ("number of groups in the figures and in Table 1", "not stated", "10", "S5"),
        ("steps of integrated gradients", "not stated", str(settings["ig_steps"]), "–"),
        ("data set of the printed values", "ImageNet", "CIFAR-10 and CIFAR-100", "{doc}`saco_stand_ins`"),
    ]
    return pd.DataFrame(rows, columns=["what", "paper", "here", "what it changes"])


def precision_rule(value: Value, base: str, by_method: pd.DataFrame) -> pd.DataFrame:
    """SaCo of each method in single precision (`base`), what half precision adds to it (`effects_by_method`), and how
    large a part of the interval that is; no row where half precision was not measured."""
    of_saco = by_method[(by_method["metric"] == "saco") & (by_method["setting"] == "bfloat16")]
    added = of_saco.set_index("method")["estimate"]
    rows = []
    for method in METHODS if len(added) else ():
        single = value(base, "saco", method).ours
        rows.append({"method": method, "n": single.n, **ends_of(single), "effect": added[method]})
    judged = pd.DataFrame(rows, columns=["method", "n", *ENDS, "effect"])
    judged["of the interval"] = judged["effect"].abs() / (judged["high"] - judged["low"])
    return judged
