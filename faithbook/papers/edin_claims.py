"""What the claims of Edin et al. are judged by, as one value per text, model and method: what `Page.measure` averages.

| metric | value |
| --- | --- |
| aopc_*, naopc_* | score of a method's order with our limits, by kind (comprehensiveness, sufficiency) |
| naopc_*_beam | the same by the released limits of beam 5, limited to [0, 1]: a beam can be beaten |
| lower, upper | our exact limits |
| off_lower, off_upper | 1 where the released beam of width 5 ended more than .02 from them |
| outside | share of a text's released NAOPC, short and long, that lie outside [0, 1] |

Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from faithbook.papers import edin_tables
from faithbook.papers.edin_released import MODELS
from faithbook.papers.edin_six import printed_bounds, printed_scores
from faithbook.stats.comparison import Comparison, combined

OFF = 0.02
APART = 0.05
MODELS_RANKED = len(MODELS)
COLUMNS = ["dataset", "model", "method", "metric", "id", "cluster", "value"]


def claim_values(units: pd.DataFrame) -> pd.DataFrame:
    """The table above, for the models of the values that `naopc_released` keeps (its parts "" and "exact")."""
    scored = units[units["metric"].isin(["aopc", "naopc"])]
    scored = scored.assign(metric=scored["metric"] + "_" + scored["kind"])
    ends = units[units["metric"].isin(["lower", "upper"])]
    limits = edin_tables.released_limits()
    beam = limits[(limits.search == "beam") & (limits.length == "short")]
    parts = [scored[COLUMNS], by_beam(scored, beam), ends[COLUMNS], beam_off(ends, beam)]
    values = pd.concat(parts, ignore_index=True)
    # Ids count from 0 in every data set.
    return values.assign(cluster=values["dataset"].astype(str) + " " + values["id"].astype(str))


def outside_values(units: pd.DataFrame) -> pd.DataFrame:
    """`outside` for the models of the values that `naopc_released` keeps: apart, for it is of long texts too."""
    limits = edin_tables.released_limits()
    return outside(limits[limits.model.isin(units.model.unique())])


def by_beam(scored: pd.DataFrame, beam: pd.DataFrame) -> pd.DataFrame:
    """NAOPC of short texts by a beam's limits, from the AOPC among these scores; none where the two limits are one."""
    aopc = scored[scored["metric"].str.startswith("aopc")]
    limits = beam[["dataset", "model", "id", "lower", "upper"]].astype({"id": str})
    both = aopc.merge(limits, on=["dataset", "model", "id"], validate="many_to_one")
    span = (both.upper - both.lower).where(both.upper > both.lower)
    naopc = ((both.value - both.lower) / span).clip(0, 1)
    return both.assign(value=naopc, metric="n" + both["metric"] + "_beam")[COLUMNS]


def beam_off(ends: pd.DataFrame, beam: pd.DataFrame) -> pd.DataFrame:
    """For every exact limit of ours whether that of the released beam of width 5 is off by more than .02."""
    beam = beam.melt(["dataset", "model", "id"], ["lower", "upper"], "metric", "beam").astype({"id": str})
    both = ends.merge(beam, on=["dataset", "model", "id", "metric"], validate="one_to_one")
    off = ((both.value - both.beam).abs() > OFF).astype(float)
    return both.assign(value=off, metric="off_" + both["metric"])[COLUMNS]


def outside(limits: pd.DataFrame) -> pd.DataFrame:
    """Of every text and model the share of released NAOPC outside [0, 1]; long texts have ids of their own."""
    by = edin_tables.scored_by(limits)
    cells = edin_tables.released_cells().rename(columns={"aopc": "value"})
    cells = cells[cells.model.isin(by.model.unique())].reset_index(drop=True)
    naopc = edin_tables.normalised(cells, by, aopc="value")
    beyond = ((naopc < -1e-6) | (naopc > 1 + 1e-6)).astype(float)
    keys = ["dataset", "length", "model", "id"]
    texts = cells.assign(value=beyond).groupby(keys)["value"].mean().reset_index()
    name = texts.id.astype(str).where(texts.length == "short", "long-" + texts.id.astype(str))
    return texts.assign(id=name, cluster=texts.dataset + " " + name, method="none", metric="outside")[COLUMNS]


def published_values() -> pd.DataFrame:
    """The published means of those metrics that have one: dataset, model, method, metric, value (short texts)."""
    bounds = printed_bounds().query("method == 'exact' and metric != 'range'").assign(method="none")
    both = pd.concat([printed_scores(), bounds], ignore_index=True)
    return both[both["length"] == "short"].drop(columns="length")


def moved(
    mean: Callable[..., Comparison],
    kind: str,
    methods: Sequence[str],
    models: Sequence[str],
    naopc: str = "naopc_{}",
    **labels: object,
) -> Comparison:
    """How far normalising moves these models, as `unlike` counts it. `mean`: of a metric over cells with labels;
    `naopc`: which one is the normalised score of a kind."""
    means = [
        mean(score.format(kind), method=method, model=model, **labels)
        for score in ("aopc_{}", naopc)
        for method in methods
        for model in models
    ]
    return combined(partial(unlike, models=len(models)), means)


def between_models(bounds: Sequence[Comparison]) -> Comparison:
    """The standard deviation over models of their mean bounds on the same texts."""
    return combined(lambda means: means.std(axis=-1), bounds)


def unlike(values: np.ndarray, *, models: int = MODELS_RANKED) -> np.ndarray:
    """One minus the correlation over models of mean AOPC and mean NAOPC, mean over methods: [..., 2 * M * K] -> [...].

    `values`: the means of AOPC of K `models` for each of M methods, one method after the other, then those of NAOPC.
    """
    plain, scaled = np.split(values.reshape((*values.shape[:-1], -1, models)), 2, axis=-2)
    plain, scaled = (x - x.mean(axis=-1, keepdims=True) for x in (plain, scaled))
    norm = np.sqrt((plain**2).sum(axis=-1) * (scaled**2).sum(axis=-1))
    return np.asarray(1 - ((plain * scaled).sum(axis=-1) / norm).mean(axis=-1))
