"""Claims of Zhao & Aletras (2023) on diagnosticity as parts, in words that any model can be asked with.

A claim takes `power(metric, **labels)`, the diagnosticity of a metric over the cells with some labels, and the data
sets (`tasks`) that are compared. Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from faithbook.judge.decide import Parts
from faithbook.papers.zhao_aletras_diagnosticity import AS_OURS, METHODS, Reading, at_length
from faithbook.show.labels import label, short
from faithbook.stats import comparison
from faithbook.stats.comparison import Comparison

PAIRS = {"nc": "soft_nc", "ns": "soft_ns"}
METRICS = ("nc", "soft_nc", "ns", "soft_ns")
SCORE = "score"
Power = Callable[..., Comparison]


def eighteen(power: Power, tasks: Sequence[str], reading: Reading = AS_OURS) -> Parts:
    """soft_c02: soft minus hard for each method and each task."""
    groups = {short(m): {"method": m} for m in METHODS} | {label(d): {"dataset": d} for d in tasks}
    parts: dict[str, Comparison] = {}
    for group, cells in groups.items():
        both = reading.gains(power, PAIRS, **cells)
        parts |= {f"{name}, {group}": gain for name, gain in both.items()}
    return parts


def variance(power: Power, metric: str, by: str, over: Sequence[str]) -> Comparison:
    """The variance of a metric between methods or tasks, in squared points."""
    return 1e4 * comparison.variance_between([power(metric, **{by: one}) for one in over])


def claims(power: Power, tasks: Sequence[str]) -> dict[str, Parts]:
    """The parts of the claims that need no data set by name, by id."""
    by_method = {short(m): power("soft_nc", method=m) for m in METHODS}
    leads = by_method["DeepLIFT"]
    others = comparison.mean([power("nc", method=m) for m in METHODS if m != "deeplift"])
    return {
        "soft_c01": AS_OURS.gains(power, PAIRS),
        "soft_c02": eighteen(power, tasks),
        "soft_c04": {
            f"{label(high)} minus {label(low)}, {short(m)}": power(high, method=m) - power(low, method=m)
            for high, low in (("nc", "ns"), ("soft_nc", "soft_ns"))
            for m in METHODS
        },
        "soft_c05": {
            **{f"DeepLIFT minus {name}, Soft-NC": leads - one for name, one in by_method.items() if name != "DeepLIFT"},
            "mean of the others minus DeepLIFT, NC": others - power("nc", method="deeplift"),
        },
        "soft_c06": {
            f"variance over methods, {label(hard)} minus {label(soft)}": variance(power, hard, "method", METHODS)
            - variance(power, soft, "method", METHODS)
            for hard, soft in PAIRS.items()
        },
    }


def limited(scores: pd.DataFrame) -> pd.DataFrame:
    """Hard scores at each length, limited to [0, 1] as in the released code (`SCORE`).

    An input whose probability hardly falls when everything is erased divides by almost nothing; a few such scores would
    be all that a mean shows.
    """
    hard = scores[scores["metric"].str.contains(" at ")]
    return hard.assign(shows=SCORE, value=hard["value"].clip(0, 1))


def slope(power: Power, metric: str, ratios: Sequence[float], **cells: object) -> Comparison:
    """Least-squares change of a hard metric per doubling of the rationale."""
    centred = np.log2(ratios) - np.log2(ratios).mean()
    weights = centred / (centred**2).sum()
    return comparison.combined(lambda values: values @ weights, [power(at_length(metric, r), **cells) for r in ratios])


def rises(power: Power, tasks: Sequence[str], ratios: Sequence[float]) -> Parts:
    """soft_c10: the slope of the mean score of each hard metric on each task."""
    return {
        f"{label(metric)}, {label(dataset)}": slope(power, metric, ratios, dataset=dataset, shows=SCORE)
        for dataset in tasks
        for metric in ("ns", "nc")
    }
