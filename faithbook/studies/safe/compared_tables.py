"""The tables and sentences of `safe_models`: how far apart the same explainer is on different models, by score."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from faithbook.judge import sentences
from faithbook.show.labels import label
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.show.tables import rounded
from faithbook.studies.safe import across_models, design
from faithbook.text import joined

FAMILIES = {
    "scale": "how far p falls",
    "size": "how many features are the truth",
    "structure": "features add up, AND, OR",
    "error": "errs never, early, late",
}
"""What the models of a family differ in."""
TEXTS = {"sst2": "SST-2", "yelp": "Yelp"}
SCORES = {
    "aopc": "AOPC",
    "naopc": "NAOPC",
    "chance-adjusted naopc": "chance-adjusted NAOPC",
    "srg": "SRG",
    "srg over the range": "NSRG",
}
"""The scores by their names for people."""


def spreads_of(scores: pd.DataFrame) -> pd.DataFrame:
    """How far apart the models of each family are, by score and explainer; `scores`: values of single inputs."""
    replicates = design.declared_plan()["intervals"]["replicates"]
    frames = []
    for family in across_models.FAMILIES:
        part = scores[scores.family == family]
        if len(part):
            frames.append(across_models.spread(part, replicates=replicates).assign(family=family))
    return pd.concat(frames, ignore_index=True)


def comparable_scores(spreads: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The scores that may be compared in every case, and those that may not in some."""
    decided = spreads.pivot(index="metric", columns=["family", "method"], values="answer").loc[list(SCORES)]
    clean = [name for name in SCORES if (decided.loc[name] == "yes").all()]
    broken = [name for name in SCORES if (decided.loc[name] == "no").any()]
    return clean, broken


def spreads_for_readers(spreads: pd.DataFrame) -> pd.DataFrame:
    """One row per family and score, one column per explainer, each with its interval and answer."""
    rows = []
    for (family, score), part in spreads.groupby(["family", "metric"], sort=False):
        row = {"models differ in": FAMILIES[str(family)], "score": SCORES[str(score)]}
        for cell in part.to_dict("records"):
            row[cell["method"]] = f"{_ends(cell['apart'], cell['low'], cell['high'])} {cell['answer']}"
        rows.append(row)
    return pd.DataFrame(rows)


def dots_by_family(spreads: pd.DataFrame) -> Drawn:
    """How far apart models are, one panel per family; dotted: the declared threshold."""
    drawn = spreads.assign(estimate=spreads.apart, panel=spreads.family.map(FAMILIES), row=spreads.metric.map(SCORES))
    layout = Layout(panel="panel", series="method", mark=design.declared_plan()["comparing"]["spread"], width=8.5)
    return dot_plot(drawn[["panel", "method", "row", "estimate", "low", "high"]], "apart", layout=layout)


def random_table(apart: pd.DataFrame) -> pd.DataFrame:
    """Random explanations on the released models: lowest and highest mean, and the difference of the two."""
    ends = zip(apart.apart, apart.low, apart.high, strict=True)
    return pd.DataFrame(
        {
            "texts": apart.dataset.map(TEXTS),
            "score": apart.metric.map(SCORES),
            "lowest model": [rounded(mean, 2) for mean in apart.lowest],
            "highest model": [rounded(mean, 2) for mean in apart.highest],
            "highest minus lowest": [_ends(*of_score) for of_score in ends],
            "n": apart.n,
        }
    )


def lowest_and_highest(values: pd.DataFrame) -> pd.DataFrame:
    """The lowest and the highest mean over the released models, by texts, attribution and score."""
    means = values.groupby(["dataset", "method", "metric", "model"], observed=True).value.mean().unstack("model")
    return pd.DataFrame({"lowest": means.min(axis=1), "highest": means.max(axis=1)}).reset_index()


def ranges_for_readers(ranges: pd.DataFrame) -> pd.DataFrame:
    """The table of `lowest_and_highest` with names for people."""
    return pd.DataFrame(
        {
            "texts": ranges.dataset.map(TEXTS),
            "attribution": ranges.method.map(label),
            "score": ranges.metric.map(SCORES),
            "lowest mean": [rounded(mean, 3) for mean in ranges.lowest],
            "highest mean": [rounded(mean, 3) for mean in ranges.highest],
        }
    )


def quotable(apart: pd.DataFrame) -> pd.DataFrame:
    """The lowest and the highest mean of random explanations, for sentences of other pages."""
    numbers = {}
    for row in apart.to_dict("records"):
        numbers[f"{row['dataset']}, {row['metric']}: lowest"] = row["lowest"]
        numbers[f"{row['dataset']}, {row['metric']}: highest"] = row["highest"]
    return sentences.quotable_rows("safe_models", numbers)


def in_short(spreads: pd.DataFrame, apart: pd.DataFrame) -> str:
    """The result of the page: which scores may be compared, and what random explanations get on the released models."""
    clean, broken = comparable_scores(spreads)
    sst = apart[apart.dataset == "sst2"].set_index("metric")
    lowest, highest = (ends.map(lambda mean: rounded(mean, 2)) for ends in (sst.lowest, sst.highest))
    differ = {score: _ends(*ends) for score, *ends in zip(sst.index, sst.apart, sst.low, sst.high, strict=True)}
    adjusted, by_range = "chance-adjusted naopc", "srg over the range"
    return (
        f"**On closed-form models, {_named(clean)} may be compared across models in every case; in some cases "
        f"{_named(broken)} may not.** No verdict is given on the six released models. There the means of random "
        "explanations of SST-2 sentences, which should be the same on each model, are "
        f"from {lowest['naopc']} to {highest['naopc']} by NAOPC (highest minus lowest {differ['naopc']}), "
        f"from {lowest[adjusted]} to {highest[adjusted]} by chance-adjusted NAOPC ({differ[adjusted]}) and "
        f"from {lowest[by_range]} to {highest[by_range]} by NSRG, SRG over the range between the bounds "
        f"({differ[by_range]}; n = {sst.n['naopc']} texts of the model with fewest)."
    )


def _named(scores: Sequence[str]) -> str:
    return joined(SCORES[name] for name in scores) if scores else "none of the five"


def _ends(apart: float, low: float, high: float) -> str:
    return f"{rounded(apart, 2)} [{rounded(low, 2)}, {rounded(high, 2)}]"
