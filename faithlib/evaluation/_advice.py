"""The sentence that a report begins with: which methods are better than random scores, and on how many metrics.

It is made from the comparisons that set the stars of the summary, and from nothing else, so the two cannot disagree.
Metrics that describe the scores alone (`catalogue.OF_SCORES_ALONE`) keep their stars and are not counted: to be less
spread than random scores, whatever the model does, is no merit of an explanation.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from faithlib.catalogue import OF_SCORES_ALONE
from faithlib.errors import counted

RANDOM = "random"
BETTER, WORSE = "better", "worse"
ENOUGH = 10
"""With so many inputs a paired t test at the level .05 finds a difference of one standard deviation with power .8."""


def sentence_of(differences: pd.DataFrame, methods: Sequence[str], n: int, kind: str = "input") -> str:
    """What the comparisons with random scores say, in one sentence.

    Parameters
    ----------
    differences
        One row per metric and method, with the columns metric, method, n and against_random ("better", "worse" or
        ""): those of `Table.differences`.
    methods
        All methods of the table, random scores among them or not.
    n
        Inputs of the table.
    kind
        What an input is: "text", "image" or "input".

    Returns
    -------
    str
        A sentence. Methods with the most metrics come first. Where no comparison leaves out 0 and none has `ENOUGH`
        inputs, it says that these are too few.

    Examples
    --------
    >>> rows = {"metric": ["saco", "saco"], "method": ["lime", "saliency"], "n": 40, "against_random": ["better", ""]}
    >>> sentence_of(pd.DataFrame(rows), ["lime", "saliency", "random"], 40, "text")
    'With these 40 texts only lime is better than random, on saco.'
    """
    others = [name for name in methods if name != RANDOM]
    if RANDOM not in methods:
        return "Whether a method is better than random is unknown: random is not among the methods. Add 'random'."
    if not others:
        return "Random scores alone were evaluated: there is no method to compare with them."
    inputs = counted(n, kind)
    if differences.empty:
        return f"With {inputs} no method has a metric in common with random: nothing can be compared."
    differences = differences[~differences["metric"].isin(OF_SCORES_ALONE)]
    if differences.empty:
        return "These metrics describe the scores alone: to compare a method with random, add one that asks the model."
    most = int(differences["n"].max())
    better, worse = _counts(differences, BETTER), _counts(differences, WORSE)
    if not better and not worse and most < ENOUGH:
        if most < n:
            return f"Comparable values on only {most} of {inputs}: too few to distinguish any method from random."
        return f"{inputs}: too few to distinguish any method from random."
    metrics = list(dict.fromkeys(differences["metric"]))
    return f"With these {inputs} {_best(better, others, metrics)}{_worst(worse, metrics)}."


def _counts(differences: pd.DataFrame, verdict: str) -> dict[str, int]:
    """On how many metrics each method has this verdict, most first; methods without any are left out."""
    counted: dict[str, int] = {}
    for method in differences.loc[differences["against_random"] == verdict, "method"]:
        counted[method] = counted.get(method, 0) + 1
    return dict(sorted(counted.items(), key=lambda item: -item[1]))


def _best(better: Mapping[str, int], others: Sequence[str], metrics: Sequence[str]) -> str:
    one_metric = len(metrics) == 1
    where = metrics[0] if one_metric else f"{len(metrics)} metrics"
    if not better:
        on = f"on {where}" if one_metric else f"on any of {where}"
        if len(others) == 1:
            return f"{others[0]} is not better than random {on}"
        return f"no method is better than random {on}"
    if len(better) == 1:
        ((name, count),) = better.items()
        on = f"on {where}" if one_metric else f"on {count} of {where}"
        if len(others) == 1:
            return f"{name} is better than random {on}"
        return f"only {name} is better than random, {on}"
    if len(better) < len(others):
        who = f"{len(better)} of {len(others)} methods"
    elif len(others) == 2:
        who = "both methods"
    else:
        who = f"all {len(others)} methods"
    if one_metric:
        return f"{who} are better than random on {where}: {_joined(list(better))}"
    if len(better) == len(others) and set(better.values()) == {len(metrics)}:
        return f"{who} are better than random on {'both metrics' if len(metrics) == 2 else f'all {where}'}"
    listed = _joined([f"{name} on {count}" for name, count in better.items()])
    return f"{who} are better than random: {listed} of {where}"


def _worst(worse: Mapping[str, int], metrics: Sequence[str]) -> str:
    if not worse:
        return ""
    if len(metrics) == 1:
        return f"; worse than random: {_joined(list(worse))}"
    return f"; worse than random: {_joined([f'{name} on {count}' for name, count in worse.items()])}"


def _joined(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
