"""Whether rho follows accuracy over other languages than those of a paper's table, by the rule of its claim (`xl_c05`).

    over_languages(accuracies, {"thirteen explanations": rhos}, {"of the paper": [...], "others": [...]})

A language is one unit, with two values by name: its accuracy and its rho, means over models and texts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy.stats

from faithbook.stats.estimate import ALPHA
from faithbook.stats.verdict import trend


def interval_of_r(r: float, units: int) -> tuple[float, float]:
    """The interval of a Pearson correlation over independent units by Fisher's transformation, at the level of the
    rules.

    >>> low, high = interval_of_r(0.0, 14)
    >>> round(low, 2), round(high, 2)
    (-0.53, 0.53)
    """
    with np.errstate(divide="ignore"):
        middle = float(np.arctanh(np.clip(r, -1.0, 1.0)))  # infinite where all units lie on a line
    half = float(scipy.stats.norm.ppf(1 - ALPHA)) / math.sqrt(units - 3)
    return math.tanh(middle - half), math.tanh(middle + half)


def over_languages(
    accuracies: Mapping[str, float],
    explained: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, Sequence[str]],
    *,
    printed_r: float | None = None,
) -> pd.DataFrame:
    """The correlation of accuracy with what each of `explained` has of a language, over each group of languages.

    Columns: languages (the group), rho of, estimate, low, high (r over languages), p (one-sided, by permutations of
    languages), decision (what the rule says), n (languages).
    """
    rows = []
    for group, languages in groups.items():
        x = [accuracies[language] for language in languages]
        for quantity, of_language in explained.items():
            y = [of_language[language] for language in languages]
            result, r = trend(x, y, printed_r), float(np.corrcoef(x, y)[0, 1])
            low, high = interval_of_r(r, len(languages))
            rows.append(
                {
                    "languages": group,
                    "rho of": quantity,
                    "estimate": r,
                    "low": low,
                    "high": high,
                    "p": float(result.p_yes),
                    "decision": result.verdict.decision,
                    "n": len(languages),
                }
            )
    return pd.DataFrame(rows)
