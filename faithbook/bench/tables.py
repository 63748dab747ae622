"""What a metric's values say of it: the questions of the last chapter, with one row more.

Every share and correlation has a 95 % interval over inputs and their number; every yes and no is the answer of the rule
`above` (`faithbook.stats.rules`), unsure where it gives neither.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from faithbook.bench.measure import means
from faithbook.bench.user_metric import OwnMetric
from faithbook.show.numbers import listed
from faithbook.stats import rules
from faithbook.together.advice import PASSES, advice
from faithbook.together.questions import (
    BOOK,
    CHANCE,
    FOLLOWS,
    ITSELF,
    RANKS,
    SHUFFLED,
    TIES,
    agreements,
    answer,
    followed_truth,
    inputs_needed,
    not_worse_misled,
    preferred_to_chance,
    preferred_truth,
)

SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)


def of_metric(
    metric: OwnMetric,
    values: pd.DataFrame,
    planted: pd.DataFrame,
    prices: Mapping[tuple[str, str], float],
    *,
    by_amount: bool,
) -> dict[str, pd.DataFrame]:
    """Every table of a metric by its name; `answers` comes first and holds what the others say.

    `values`: of real models, with `control` (missing, "shuffled" or "ranks"); `planted`: of planted ones; `prices`:
    rows per input, by modality and family of metrics; `by_amount`: whether the metric uses how high scores are.
    """
    known = BOOK.joined_by(metric.name, metric.direction, by_amount=by_amount)
    values, planted = (frame.assign(dataset=frame["modality"], cluster=frame["id"]) for frame in (values, planted))

    over = ["modality", "metric", "against"]
    shares = means(preferred_to_chance(values, known), over, SHARE)
    by_chance = {key[:2]: one for key, one in shares.items() if key[2] == CHANCE}
    tells = listed(by_chance, over[:2])
    tells["ties"] = [shares[*key, TIES].point for key in by_chance]
    tells["above chance"] = [answer(one, 0.5) for one in by_chance.values()]
    tells["inputs needed"] = [inputs_needed(one, 0.5) for one in by_chance.values()]
    tells["gain it would find"] = [rules.smallest_detectable(one) for one in by_chance.values()]
    tells[PASSES] = [prices.get((modality, known.family_of[name]), np.nan) for modality, name in by_chance]
    freed = {key: one for key, one in shares.items() if key[1] in known.amounts and key[2] in (ITSELF, RANKS)}
    amounts = listed(freed, over).assign(answer=[answer(one, 0.5) for one in freed.values()])

    over = ["modality", "model", "metric"]
    preferred = means(preferred_truth(planted, known), over, SHARE, against=SHUFFLED)
    right = listed(preferred, over).assign(answer=[answer(one, 0.5) for one in preferred.values()])
    tracks = means(followed_truth(planted, known), over, CORRELATION, asked=FOLLOWS)
    misled = {
        (modality, name): one - tracks[modality, "misled by erasure", name]
        for (modality, model, name), one in tracks.items()
        if model == "trained" and (modality, "misled by erasure", name) in tracks
    }
    lost = listed(misled, ["modality", "metric"]).assign(answer=[not_worse_misled(one) for one in misled.values()])
    follows = listed(tracks, over)

    pairs = agreements(values[values["control"].isna()], known)
    pairs = pairs[(pairs["first"] == metric.name) & pairs["second"].isin(known.directions)]
    return {
        "answers": advice(tells, amounts, right, lost, follows, known=known),
        "diagnosticity": best_first(tells),
        "amounts": amounts,
        "agreement": best_first(listed(means(pairs, ["modality", "second"], CORRELATION), ["modality", "metric"])),
        "planted_truth": right,
        "follows_the_truth": follows,
        "misled": lost,
    }


def best_first(table: pd.DataFrame, *within: str) -> pd.DataFrame:
    """Rows with the highest estimate first, within each modality and these columns."""
    by = ["modality", *within]
    return table.sort_values([*by, "estimate"], ascending=[*(True for _ in by), False], ignore_index=True)
