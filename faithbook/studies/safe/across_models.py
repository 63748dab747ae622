"""How far apart models are in scores that were measured (`comparing`), and whether a score may be compared across them.

Shape letters: M models, I inputs, R bootstrap replicates.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.studies.safe import design

PERFECT, SPOILT, RANDOM = "truth", "truth with noise", "random"
EXPLAINERS = (PERFECT, SPOILT, RANDOM)
SCORES = ("aopc", "naopc", "chance-adjusted naopc", "srg", "srg over the range")
FAMILIES = ("scale", "size", "structure", "error")


def spread(values: pd.DataFrame, *, replicates: int, seed: int = 0) -> pd.DataFrame:
    """How far apart models are, by score and explainer: the range of their means, over the distance between the truth
    and random scores (a mean over models), with a 95 % interval over inputs. All of one family.

    `values`: one row per model, input (`id`), explainer (`method`) and score (`metric`).
    """
    models, ids = sorted(values.model.unique()), sorted(values.id.unique())
    wide = values.set_index(["metric", "method", "model", "id"]).value.unstack("id").reindex(columns=ids)
    rows = []
    for score in dict.fromkeys(values.metric):
        means = {
            explainer: _means(wide.loc[score].loc[explainer].loc[models].to_numpy(dtype=float), replicates, seed)
            for explainer in EXPLAINERS
        }
        signal = (means[PERFECT] - means[RANDOM]).mean(axis=1)
        for explainer in EXPLAINERS:
            apart = (means[explainer].max(axis=1) - means[explainer].min(axis=1)) / signal
            low, high = np.nanpercentile(apart[1:], [2.5, 97.5])
            rows.append(
                {
                    "metric": score,
                    "method": explainer,
                    "lowest": means[explainer][0].min(),
                    "highest": means[explainer][0].max(),
                    "apart": apart[0],
                    "low": low,
                    "high": high,
                    "answer": comparable(low, high),
                }
            )
    return pd.DataFrame(rows)


def _means(values: NDArray[np.float64], replicates: int, seed: int) -> NDArray[np.float64]:
    """Means of models over inputs [M, I], NaN left out: [1 + R, M], of all inputs first, then of each replicate."""
    inputs = values.shape[1]
    counts = np.random.default_rng(seed).multinomial(inputs, np.full(inputs, 1 / inputs), replicates)
    weights = np.concatenate([np.ones((1, inputs)), counts])
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):  # a replicate of a few inputs may have none with a value
        means: NDArray[np.float64] = weights @ np.where(defined, values, 0).T / (weights @ defined.T)
    return means


def comparable(low: float, high: float) -> str:
    """Whether a score may be compared, from the interval of how far models are apart: by the declared rule.

    >>> comparable(0.0, 0.1), comparable(0.1, 0.4), comparable(0.5, 0.6)
    ('yes', 'undecided', 'no')
    """
    most = design.declared_plan()["comparing"]["spread"]
    if high <= most:
        return "yes"
    return "no" if low > most else "undecided"


def random_apart(values: pd.DataFrame, *, replicates: int, seed: int = 0) -> pd.DataFrame:
    """The lowest and highest mean, by data set and score, of released random scores over models, how far these are
    apart with a 95 % interval over texts, and how many texts have a value (smallest over models)."""
    rows = []
    for dataset, score in product(dict.fromkeys(values.dataset), dict.fromkeys(values.metric)):
        part = values[(values.dataset == dataset) & (values.metric == score) & (values.method == "random")]
        wide = part.set_index(["model", "id"]).value.unstack("id")
        x = wide.to_numpy(dtype=float)
        means = _means(x, replicates, seed)
        apart = means.max(axis=1) - means.min(axis=1)
        low, high = np.nanpercentile(apart[1:], [2.5, 97.5])
        rows.append(
            {
                "dataset": dataset,
                "metric": score,
                "lowest": means[0].min(),
                "highest": means[0].max(),
                "apart": apart[0],
                "low": low,
                "high": high,
                "n": int((~np.isnan(x)).sum(axis=1).min()),
            }
        )
    return pd.DataFrame(rows)
