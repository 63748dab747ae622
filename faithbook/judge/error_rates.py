"""What the measured error rates say about the claims: which shapes of values break the promise, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from faithbook.judge.analysis_plan import plan
from faithbook.judge.published import column
from faithbook.stats.calibrate import COVERED, kept
from faithbook.stats.inference import wilson

ABOUT: Mapping[str, tuple[str, ...]] = {
    "soft_c01": ("Soft-NC minus NC, wins of five methods",),
    "soft_c02": ("Soft-NC minus NC, wins of five methods",),
    "saco_c03": ("SaCo of transformer-MM minus rollout",),
    "xl_c02": ("rho of input x gradient, L2 minus mean",),
    "naopc_c05": ("NAOPC of random scores",),
    "naopc_c06": ("AOPC, robust minus standard",),
    "together_q5": ("share of .8", "share of .95"),
    "together_q6": ("share of .8", "share of .95"),
}
"""Claims whose comparisons are of a quantity that the calibration resamples, or of shares, and the shape of either."""
WRONG = {"yes": "wrongly reproduced", "no": "wrongly not reproduced"}
BEYOND = "beyond 2.5 in 100"
TESTS = {"t": "Student's t", "score": "score test"}
OF_ONE_MEAN = {
    "direction": ["direction, all"],
    "within": ["within at the upper edge", "within at the lower edge"],
}
"""The rules as the table of rates names them, for a claim of one comparison."""


def with_promise(rates: pd.DataFrame) -> pd.DataFrame:
    """The table of rates with its 95 % Monte Carlo intervals (`low`, `high`) and whether each is within the promise
    (`kept`)."""
    low, high = wilson(rates["rate"], rates["worlds"])
    return rates.assign(low=low, high=high, kept=kept(rates))


def of_shapes(rates: pd.DataFrame) -> pd.DataFrame:
    """The highest rates, by shape of values, of either wrong answer about one mean by Student's t, and with how many
    clusters they are beyond the promise; `rates` as `with_promise` gives them."""
    errors = rates[(rates["test"] == "t") & (rates["answer"] != COVERED)]
    rows = []
    for shape, of_shape in errors.groupby("shape", sort=False):
        one_mean = of_shape[(of_shape["parts"] == 1) & (of_shape["rule"] == "direction, all")]
        row, beyond = {"values": shape}, []
        for answer, wrong in WRONG.items():
            of_answer = one_mean[one_mean["answer"] == answer]
            row[f"{wrong}, highest rate"] = of_answer["rate"].max()
            clusters = of_answer.loc[~of_answer["kept"], "clusters"]
            beyond += [f"{wrong}: {', '.join(clusters)}"] if len(clusters) else []
        row["clusters with a rate beyond 2.5 in 100"] = "; ".join(beyond) or "–"
        rows.append(row)
    return pd.DataFrame(rows)


def of_claims(rates: pd.DataFrame, board: pd.DataFrame) -> pd.DataFrame:
    """The rates, by claim whose shape of values was simulated, of either wrong answer about one of its comparisons,
    with the largest simulated number of clusters that is not above its own n, and whether a rate is beyond the promise.

    `board`: id, n and decision of claims. Of two shapes the higher rate counts.
    """
    facts, words = board.set_index("id"), column("claim")
    numbers = pd.to_numeric(facts["n"])
    rows = []
    for name, shapes in ABOUT.items():
        rule, n = plan()[name], int(numbers[name])
        test, asked = rule.test or "t", OF_ONE_MEAN["within" if rule.rule == "within" else "direction"]
        simulated = rates[
            (rates["test"] == test) & rates["rule"].isin(asked) & (rates["parts"] == 1) & rates["shape"].isin(shapes)
        ]
        sizes = {int(clusters) for clusters in simulated["clusters"] if clusters.isdigit() and int(clusters) <= n}
        simulated = simulated[simulated["clusters"] == str(max(sizes))]
        row = {
            "id": name,
            "claim": words[name].rstrip("."),
            "decision": facts.loc[name, "decision"],
            "values like": f"{' and '.join(shapes)} ({TESTS[test]})",
            "clusters simulated, of n": f"{max(sizes)} of {n}",
        }
        beyond = []
        for answer, wrong in WRONG.items():
            of_answer = simulated[simulated["answer"] == answer]
            row[wrong] = of_answer["rate"].max()
            beyond += [] if of_answer["kept"].all() else [wrong]
        rows.append(row | {BEYOND: beyond})
    return pd.DataFrame(rows)


def claims_in_words(claims: pd.DataFrame) -> pd.DataFrame:
    """The table of `of_claims` for readers."""
    beyond = [" and ".join(answers) or "no" for answers in claims[BEYOND]]
    return claims.assign(**{BEYOND: beyond})


def in_sentences(rates: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Which shapes break the promise of Student's t with many clusters of one data set, and which with few alone; which
    decisions are on a side beyond the promise (`claims`: the table of `of_claims`); and how many claims have values
    whose shape was not simulated."""
    errors = rates[(rates["test"] == "t") & (rates["parts"] == 1) & (rates["rule"] == "direction, all")]
    many = errors["clusters"].isin(["60", "200"])  # of one data set; the other rows are of few, or of two data sets
    with_many = list(dict.fromkeys(errors.loc[~errors["kept"] & many, "shape"]))
    broken = list(dict.fromkeys(errors.loc[~errors["kept"], "shape"]))
    with_few = [shape for shape in broken if shape not in with_many]
    never = [shape for shape in dict.fromkeys(errors["shape"]) if shape not in broken]
    judged = {
        name.partition("/")[0]
        for name, rule in plan().items()
        if rule.test == "t" and not rule.same_as and not rule.fixed_verdict
    }
    names = [claim["id"] for claim in claims.to_dict("records") if f"wrongly {claim['decision']}" in claim[BEYOND]]
    others = len(judged - set(ABOUT))
    return "".join(
        [
            "About one mean Student's t errs more often than promised, even with 60 or 200 clusters, for ",
            f"{_listed(with_many)}; with fewer, or 200 beside 12, for {_listed(with_few)}; nowhere for ",
            f"{_listed(never)}.\n\n",
            "The second table has the claims whose own values were resampled, or are shares. A decision on the side ",
            f"that errs too often is to be read with that rate: {_listed(names)}. Of the other {others} findings that ",
            "Student's t judges the shape was not simulated: they have the rates of the values most like theirs.",
        ]
    )


def _listed(shapes: list[str]) -> str:
    return ", ".join(f"*{shape}*" for shape in shapes) or "none"
