"""What the claims of Edin et al. are judged by, as one value per text, model and method: what `Page.measure` averages.

| metric | value |
| --- | --- |
| aopc_*, naopc_* | score of a method's order with our limits, by kind (comprehensiveness, sufficiency) |
| naopc_*_beam | the same by the released limits of beam 5, limited to [0, 1]: a beam can be beaten |
| lower, upper | our exact limits |
| off_lower, off_upper | 1 where the released beam of width 5 ended more than .02 from them |
| moments of lower, upper | what their correlation with that beam's is made of, by `moment` (`correlated`) |
| outside | share of a text's released NAOPC, short and long, that lie outside [0, 1] |

Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from faithbook.judge.decide import SameNumber
from faithbook.show.labels import label
from faithbook.stats.comparison import Comparison, combined
from faithbook.studies.naopc.edin_released import SETS, SHORT
from faithbook.studies.naopc.edin_tables import (
    CELL,
    KINDS,
    beyond,
    normalised,
    printed,
    released_cells,
    released_limits,
    scored_by,
)

OFF = 0.02
"""A bound that is further from the exact one is off."""
APART = 0.05
"""Mean upper bounds of two models that are further apart differ by more than the smallest effect of interest."""
Mean = Callable[..., Comparison]
COLUMNS = ["dataset", "model", "method", "metric", "id", "cluster", "value"]


def claim_values(units: pd.DataFrame) -> pd.DataFrame:
    """The table above, for the models of the values that `naopc_released` keeps (its parts "" and "exact")."""
    scored = units[units["metric"].isin(["aopc", "naopc"])]
    scored = scored.assign(metric=scored["metric"] + "_" + scored["kind"])
    ends = units[units["metric"].isin(["lower", "upper"])]
    limits = released_limits()
    beam = limits[(limits.search == "beam") & (limits.length == "short")]
    parts = [scored[COLUMNS], by_beam(scored, beam), ends[COLUMNS], beam_off(ends, beam), beam_moments(ends, beam)]
    values = pd.concat(parts, ignore_index=True)
    # Ids count from 0 in every data set.
    return values.assign(cluster=values["dataset"].astype(str) + " " + values["id"].astype(str))


def outside_values(units: pd.DataFrame) -> pd.DataFrame:
    """`outside` for the models of the values that `naopc_released` keeps: a table of its own, as it is of long texts
    too."""
    limits = released_limits()
    return outside(limits[limits.model.isin(units.model.unique())])


def by_beam(scored: pd.DataFrame, beam: pd.DataFrame) -> pd.DataFrame:
    """NAOPC of short texts by a beam's limits, from the AOPC among these scores; none where the two limits are one."""
    aopc = scored[scored["metric"].str.startswith("aopc")]
    limits = beam[["dataset", "model", "id", "lower", "upper"]].astype({"id": str})
    both = aopc.merge(limits, on=["dataset", "model", "id"], validate="many_to_one")
    span = (both["upper"] - both["lower"]).where(both["upper"] > both["lower"])
    naopc = ((both["value"] - both["lower"]) / span).clip(0, 1)
    return both.assign(value=naopc, metric="n" + both["metric"] + "_beam")[COLUMNS]


def beam_off(ends: pd.DataFrame, beam: pd.DataFrame) -> pd.DataFrame:
    """For every exact limit of ours whether that of the released beam of width 5 is off by more than .02."""
    beam = beam.melt(["dataset", "model", "id"], ["lower", "upper"], "metric", "beam").astype({"id": str})
    both = ends.merge(beam, on=["dataset", "model", "id", "metric"], validate="one_to_one")
    distance = (both["value"] - both["beam"]).abs()
    return both.assign(value=(distance > OFF).astype(float), metric="off_" + both["metric"])[COLUMNS]


MOMENTS = ("x", "y", "xx", "yy", "xy")


def beam_moments(ends: pd.DataFrame, beam: pd.DataFrame) -> pd.DataFrame:
    """Of every exact limit x of ours and that of the released beam of width 5, y: x, y and their products."""
    beam = beam.melt(["dataset", "model", "id"], ["lower", "upper"], "metric", "beam").astype({"id": str})
    both = ends.merge(beam, on=["dataset", "model", "id", "metric"], validate="one_to_one")
    sides = {"x": both["value"], "y": both["beam"]}
    frames = []
    for moment in MOMENTS:
        value = np.prod([sides[side] for side in moment], axis=0)
        frames.append(both.assign(value=value, metric=both["metric"] + " " + moment)[COLUMNS])
    return pd.concat(frames, ignore_index=True)


def correlated(mean: Mean, bound: str, published: float, **labels: object) -> Comparison:
    """Pearson's correlation of our exact limits with those of the released beam of width 5, over texts and models."""

    def r(moments: np.ndarray) -> np.ndarray:
        x, y, xx, yy, xy = np.moveaxis(moments, -1, 0)
        return np.asarray((xy - x * y) / np.sqrt((xx - x**2) * (yy - y**2)))

    of_bound = [mean(f"{bound} {moment}", **labels) for moment in MOMENTS]
    return combined(r, of_bound, published=published)


def outside(limits: pd.DataFrame) -> pd.DataFrame:
    """Of every text and model the share of released NAOPC outside [0, 1]; long texts have ids of their own."""
    used = scored_by(limits)
    cells = released_cells().rename(columns={"aopc": "value"})
    cells = cells[cells["model"].isin(used["model"].unique())].reset_index(drop=True)
    naopc = normalised(cells, used, aopc="value")
    texts = cells.assign(value=beyond(naopc)).groupby(CELL)["value"].mean().reset_index()
    # Ids of short and of long texts both count from 0.
    ids = texts["id"].astype(str)
    ids = ids.where(texts["length"] == "short", "long-" + ids)
    return texts.assign(id=ids, cluster=texts["dataset"] + " " + ids, method="none", metric="outside")[COLUMNS]


def published_values() -> pd.DataFrame:
    """The published means of those metrics that have one: dataset, model, method, metric, value (short texts)."""
    bounds = printed_bounds().query("method == 'exact' and metric != 'range'").assign(method="none")
    both = pd.concat([printed_scores(), bounds], ignore_index=True)
    return both[both["length"] == "short"].drop(columns="length")


def moved(
    mean: Mean, kind: str, methods: Sequence[str], models: Sequence[str], naopc: str = "naopc_{}", **labels: object
) -> Comparison:
    """How far normalising moves these models, as `unlike` counts it. `mean`: of a metric over cells with labels;
    `naopc`: which one is the normalised score of a kind."""
    means = []
    for score in ("aopc_{}", naopc):
        for method in methods:
            means += [mean(score.format(kind), method=method, model=model, **labels) for model in models]
    return combined(partial(unlike, models=len(models)), means)


def between_models(bounds: Sequence[Comparison]) -> Comparison:
    """The standard deviation over models of their mean bounds on the same texts."""
    return combined(lambda means: means.std(axis=-1), bounds)


def places(
    mean: Mean, methods: Sequence[str], models: Sequence[str], kind: str = "comprehensiveness", **labels: object
) -> Comparison:
    """naopc_c07: the standard deviation over models of the place of one AOPC, the mean over all models and methods,
    between the mean limits of each model (`place_of`). `mean`: of a metric over cells with labels."""
    lower = [mean("lower", model=model, **labels) for model in models]
    upper = [mean("upper", model=model, **labels) for model in models]
    score = mean(f"aopc_{kind}", method=list(methods), model=list(models), **labels)

    def spread(values: np.ndarray) -> np.ndarray:
        return np.asarray(place_of(values, len(models)).std(axis=-1))

    return combined(spread, [*lower, *upper, score])


def place_of(values: np.ndarray, models: int) -> np.ndarray:
    """Where one score lies between each model's limits, 0 the lower and 1 the upper: [..., 2 * M + 1] -> [..., M].

    `values`: the lower limits of M `models`, their upper ones, and the score.

    >>> place_of(np.array([0.0, 0.1, 0.5, 0.6, 0.2]), 2).round(2).tolist()
    [0.4, 0.2]
    """
    lower, upper, score = np.split(values, [models, 2 * models], axis=-1)
    return np.asarray((score - lower) / (upper - lower))


def unlike(values: np.ndarray, models: int) -> np.ndarray:
    """One minus the correlation over models of mean AOPC and mean NAOPC, mean over methods: [..., 2 * M * K] -> [...].

    `values`: the means of AOPC of K `models` for each of M methods, one method after the other, then those of NAOPC.
    """
    by_method = values.reshape((*values.shape[:-1], -1, models))
    plain, scaled = np.split(by_method, 2, axis=-2)
    plain = plain - plain.mean(axis=-1, keepdims=True)
    scaled = scaled - scaled.mean(axis=-1, keepdims=True)
    norm = np.sqrt((plain**2).sum(axis=-1) * (scaled**2).sum(axis=-1))
    correlation = (plain * scaled).sum(axis=-1) / norm
    return np.asarray(1 - correlation.mean(axis=-1))


# ------------------------------------------------------------------------------------------------------ released means
_STATISTICS = {"lower_bound_mean": "lower", "upper_bound_mean": "upper", "range_mean": "range"}  # published: ours
_PRINTED = [*CELL[:3], "method", "metric", "value"]


def printed_bounds() -> pd.DataFrame:
    """The published mean bounds over all texts: dataset, length, model, method (the search), metric, value."""
    table = printed("naopc_released_bounds").query("subset == 'all'")
    table = table.assign(metric=table["statistic"].map(_STATISTICS), method=table["search"])
    return table.dropna(subset="metric")[_PRINTED]


def printed_scores() -> pd.DataFrame:
    """The published mean scores in the same columns."""
    table = printed("naopc_released_scores")
    return table[table["metric"].str.match("n?aopc_")][_PRINTED]


# ------------------------------------------------------------------------------------------- claims on released outputs
DATASETS = {"both data sets": list(SHORT), "SST-2": ["sst2"], "Yelp": ["yelp"]}
BOUNDS = {"exact": "naopc_{}", "beam 5": "naopc_{}_beam"}
"""By bounds, what the NAOPC of a kind is called."""


def gaps_between_models(mean: Mean, models: Sequence[str]) -> dict[str, Comparison]:
    """How far the mean upper bounds of every two models are apart on the same short texts."""
    gaps = {}
    for dataset in SHORT:
        for model, other in combinations(models, 2):
            gap = mean("upper", dataset=dataset, model=model) - mean("upper", dataset=dataset, model=other)
            gaps[f"{SETS[dataset]}: {label(model)} and {label(other)} apart"] = abs(gap)
    return gaps


def deviations_of_upper(mean: Mean, models: Sequence[str]) -> dict[str, Comparison]:
    """naopc_c01: how far apart the models' mean upper bounds are, on each data set."""
    deviations = {}
    for dataset in SHORT:
        bounds = [mean("upper", dataset=dataset, model=model) for model in models]
        deviations[f"deviation of upper bounds over models, {SETS[dataset]}"] = between_models(bounds)
    return deviations


def deviations_of_place(mean: Mean, methods: Sequence[str], models: Sequence[str]) -> dict[str, Comparison]:
    """naopc_c07: how far apart the places of one AOPC between the models' limits are, on each data set."""
    deviations = {}
    for dataset in SHORT:
        part = f"deviation of the place of one AOPC over models, {SETS[dataset]}"
        deviations[part] = places(mean, methods, models, dataset=dataset)
    return deviations


def random_by_model(
    mean: Mean, models: Sequence[str], kind: str = KINDS[0], naopc: str = "naopc_{}", **labels: object
) -> dict[str, Comparison]:
    """naopc_c05: NAOPC of random attributions, by model."""
    means = {}
    for model in models:
        means[f"random, {label(model)}"] = mean(naopc.format(kind), method="random", model=model, **labels)
    return means


def random_variants(mean: Mean, models: Sequence[str]) -> dict[tuple[str, str, str], dict[str, Comparison]]:
    """naopc_c05 by data sets, kind and bounds."""
    variants = {}
    for bounds, naopc in BOUNDS.items():
        for texts, datasets in DATASETS.items():
            for kind in KINDS:
                variants[texts, kind, bounds] = random_by_model(mean, models, kind, naopc, dataset=datasets)
    return variants


def moved_variants(
    mean: Mean, methods: Sequence[str], models: Sequence[str]
) -> dict[tuple[str, str], dict[str, Comparison]]:
    """naopc_c02 by data sets and bounds: how far normalising moves the models, of each kind on each data set."""
    variants = {}
    for bounds, naopc in BOUNDS.items():
        for texts, datasets in DATASETS.items():
            parts = {}
            for kind in KINDS:
                for dataset in datasets:
                    part = moved(mean, kind, methods, models, naopc, dataset=[dataset])
                    parts[f"{kind}, {SETS[dataset]}"] = part
            variants[texts, bounds] = parts
    return variants


def shares_outside(outside: Callable[[str], Comparison], models: Sequence[str]) -> dict[str, SameNumber]:
    """naopc_c04: the share of each model's released values outside [0, 1], next to 0."""
    shares = {}
    for model in models:
        share = float(outside(model).ours.point)
        shares[f"share outside, {label(model)}"] = SameNumber(share, "0")
    return shares


def correlations_with_beam(mean: Mean, review: pd.DataFrame) -> dict[str, Comparison]:
    """naopc_c03: correlation of our exact bounds with those of the released beam of width 5, next to the statement of
    the review page (`review`: its table)."""
    stated = review[review["statistic"] == "pearson_beam_vs_exact"].set_index("metric")["value"]
    return {
        "correlation of the upper bounds": correlated(mean, "upper", stated["comprehensiveness"]),
        "correlation of the lower bounds": correlated(mean, "lower", stated["sufficiency"]),
    }
