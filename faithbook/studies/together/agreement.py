"""Which metrics agree: means of every metric, the heat map of agreements with its clusters, and each metric beside all
others.

Means of rank correlations come as dicts by modality, metric and the metric that it is compared with (`PAIR`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

from faithbook.judge.scores import Scores
from faithbook.show import hover
from faithbook.show.labels import inputs_of, label
from faithbook.show.numbers import listed
from faithbook.show.plots import Drawn
from faithbook.show.tables import rounded
from faithbook.stats.comparison import Comparison
from faithbook.studies.together import questions
from faithbook.studies.together.questions import REST, Clusters, by_cell
from faithbook.text import joined
from faithlib.catalogue import FAITHFULNESS, FAMILIES, METRICS

PAIR = ("modality", "first", "second")
CLOSE, CLOSER = 0.5, 0.7
"""Mean correlations above which metrics form a cluster, and a closer one."""
PLAUSIBILITY = tuple(FAMILIES["plausibility"].directions)
"""Agreement with people: in the map, but in no cluster."""


# ----------------------------------------------------------------------------------------------------------- quantities
def with_the_rest(agreed: Mapping[tuple[str, ...], Comparison]) -> dict[tuple[str, ...], Comparison]:
    """The mean agreement of each metric of faithfulness with all others, by modality and metric."""
    return {
        (modality, metric): mean
        for (modality, metric, second), mean in agreed.items()
        if second == REST and metric in FAITHFULNESS
    }


def within_minus_between(
    contrasts: Scores, groups: str, first: str, modalities: Sequence[str]
) -> dict[str, Comparison]:
    """The mean agreement within groups minus that between them, by modality; `first`: the name of the contrast."""
    return {
        f"within minus between {groups}, {modality}": contrasts.mean(modality=modality, first=first)
        for modality in modalities
    }


def minus_saco(rest: Mapping[tuple[str, ...], Comparison], modalities: Sequence[str]) -> dict[str, Comparison]:
    """How much more than SaCo each other metric agrees with the rest."""
    return {
        f"{label(metric)} minus SaCo, {modality}": mean - rest[modality, "saco"]
        for (modality, metric), mean in rest.items()
        if metric != "saco" and modality in modalities and (modality, "saco") in rest
    }


# --------------------------------------------------------------------------------------------------------------- frames
def pairs(agreed: Mapping[tuple[str, ...], Comparison]) -> pd.DataFrame:
    """The mean rank correlation of every pair of metrics."""
    return listed({key: mean for key, mean in agreed.items() if key[2] != REST}, PAIR)


def of_faithfulness(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs of which both are metrics of faithfulness."""
    return table[table["first"].isin(FAITHFULNESS) & table["second"].isin(FAITHFULNESS)]


def as_defined(means: pd.DataFrame) -> pd.DataFrame:
    """Means of metrics whose signs were flipped so that higher is better, with the signs that the metrics have by
    definition."""
    lower = means.metric.map(METRICS) == "lower"
    flipped = means.copy()
    flipped.loc[lower, ["estimate", "low", "high"]] = -means.loc[lower, ["estimate", "high", "low"]].to_numpy()
    return flipped


def means_by_method(matrix: pd.DataFrame, modality: str) -> tuple[pd.DataFrame, str]:
    """Means over the data sets of a modality, one row per method and one column per metric, and the table's caption."""
    part = matrix[matrix.modality == modality]
    wide = part.pivot_table(index="method", columns="metric", values="estimate", sort=False)
    metrics = [name for name in questions.FAMILY_OF if name in wide.columns]
    n = part.groupby(["metric", "dataset"]).n.max().unstack()
    of_all, some = n[n.notna().all(axis=1)].sum(axis=1), n[n.isna().any(axis=1)]
    sizes = [f"{of_all.max():.0f} inputs in all"]
    if of_all.min() < of_all.max():
        smallest = [_named(str(name)) for name in of_all.index[of_all == of_all.min()]]
        sizes.append(f"{of_all.min():.0f} for {joined(smallest)}")
    for had, rows in some.groupby(some.notna().apply(tuple, axis=1), sort=False):
        where = joined(inputs_of(name) for name, has in zip(some.columns, had, strict=True) if has)
        only = joined(_named(str(name)) for name in rows.index)
        sizes.append(f"{rows.sum(axis=1).max():.0f} for {only}, which only {where} have")
    caption = f"{questions.MODALITIES[modality]}: mean of every metric over data sets ({'; '.join(sizes)})"
    return wide[metrics].rename(columns=questions.with_arrow).reset_index(), caption


def clusters_of(table: pd.DataFrame) -> Clusters:
    """The clusters of metrics by their mean agreement over all modalities."""
    both = table[~table["first"].isin(PLAUSIBILITY) & ~table["second"].isin(PLAUSIBILITY)]
    return Clusters.of(both.groupby(["first", "second"]).estimate.mean().unstack())


def srg_with_others(srg: Scores, metrics: Sequence[str]) -> pd.DataFrame:
    """The mean agreement of SRG with each of these metrics and with all others; `srg`: its values of single inputs."""
    cells = by_cell(srg, PAIR)
    shown = {(modality, second): mean for (modality, _, second), mean in cells.items() if second in (REST, *metrics)}
    return listed(shown, ["modality", "metric"])


# ------------------------------------------------------------------------------------------------- figure and sentences
def agreement_map(table: pd.DataFrame, modality: str, clusters: Clusters) -> Drawn:
    """The agreement of all pairs of a modality as a heat map, metrics in the order of the tree, clusters framed."""
    part = table[table.modality == modality]
    shown = part.pivot(index="first", columns="second", values="estimate")
    ends = zip(part.estimate, part.low, part.high, part.n, strict=True)
    said = [f"{mean:.3f} ({low:.3f} to {high:.3f}), n = {n}" for mean, low, high, n in ends]
    texts = part.assign(said=said).pivot(index="first", columns="second", values="said")
    rows = [*clusters.order, *(name for name in PLAUSIBILITY if name in shown.index)]
    names = [label(name) for name in rows]
    fig, ax = plt.subplots(figsize=(8.5, 9))
    sns.heatmap(
        shown.reindex(index=rows, columns=rows),
        ax=ax,
        square=True,
        cbar_kws={
            "label": "mean rank correlation over methods",
            "shrink": 0.6,
            "orientation": "horizontal",
            "ticks": [-1, -0.5, 0, 0.5, 1],
        },
        xticklabels=names,
        yticklabels=names,
        vmin=-1,
        vmax=1,
        cmap="PuOr_r",
        annot=True,
        fmt=".1f",
        annot_kws={"size": 7.5},
    )
    hover.say_cells(ax, texts.reindex(index=rows, columns=rows), names, names)
    for above, width, style in ((CLOSE, 2.5, "-"), (CLOSER, 1.2, "--")):
        sizes = [len(group) for group in clusters.above(above)]
        for start, size in zip(np.cumsum([0, *sizes]), sizes, strict=False):
            if size > 1:
                frame = plt.Rectangle((start, start), size, size, fill=False, ec="black", lw=width, ls=style)
                ax.add_patch(frame)
    ax.set(xlabel="", ylabel="")
    ax.tick_params(labelsize=9)
    alt = (
        f"Heat map of agreement of {len(rows)} metrics, {questions.MODALITIES[modality]}. Clusters over all "
        f"modalities, above {CLOSE}: "
        f"{clusters_in_words(clusters, CLOSE)}. Above {CLOSER}: {clusters_in_words(clusters, CLOSER)}."
    )
    return fig, alt


def _named(metric: str) -> str:
    """A metric's name without a comma, for a list."""
    return label(metric).replace(", ", " ")


def clusters_in_words(clusters: Clusters, above: float) -> str:
    """Clusters, and the metrics that are in none."""
    groups = [[_named(name) for name in group] for group in clusters.above(above)]
    together = "; ".join(", ".join(group) for group in groups if len(group) > 1)
    alone = ", ".join(group[0] for group in groups if len(group) == 1)
    return f"{together or 'none'}; alone: {alone or 'none'}"


def frames_in_words(clusters: Clusters) -> str:
    """What the frames of the heat map are, for its caption: where the clusters are the same above both correlations,
    the frames of one hide those of the other."""
    of_frames = "Frames: metrics whose correlation, averaged over the cluster and all modalities, is above"
    same = clusters_in_words(clusters, CLOSE) == clusters_in_words(clusters, CLOSER)
    return f"{of_frames} {CLOSE} (the same above {CLOSER})" if same else f"{of_frames} {CLOSE}; dashed: above {CLOSER}"


def families_in_words(metrics: Sequence[str]) -> str:
    """The families of these metrics with their members, in a sentence.

    >>> families_in_words(["ns", "nc", "saco"])
    'The *families* of metrics are: NS and NC; SaCo.'
    """
    members: dict[str, list[str]] = {}
    for name in metrics:
        members.setdefault(questions.FAMILY_OF[name], []).append(_named(name))
    return f"The *families* of metrics are: {'; '.join(joined(names) for names in members.values())}."


def both_clusters(clusters: Clusters) -> str:
    """The clusters at both correlations, in sentences."""
    close, closer = (clusters_in_words(clusters, above) for above in (CLOSE, CLOSER))
    first = f"Clusters of metrics whose mean correlation is above {CLOSE}: {close}."
    return f"{first} They are the same above {CLOSER}." if close == closer else f"{first} Above {CLOSER}: {closer}."


def in_short(table: pd.DataFrame, modalities: Sequence[str]) -> str:
    """The result of the page: how well two metrics of faithfulness agree on average; `table`: all pairs, each twice."""
    agreeing = of_faithfulness(table)
    sentences = []
    for modality in modalities:
        part = agreeing[agreeing.modality == modality]
        sentences.append(
            f"{part.estimate.mean():.2f} on {questions.MODALITIES[modality]} ({len(part) // 2} pairs of metrics, from "
            f"{rounded(part.estimate.min(), 2)} to {rounded(part.estimate.max(), 2)}; n = {part.n.min():.0f} inputs at "
            "least)"
        )
    begins = "Two metrics of faithfulness rank the explanations of one input with a mean rank correlation of"
    return f"{begins} {'; '.join(sentences)}."
