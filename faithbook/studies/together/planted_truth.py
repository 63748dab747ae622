"""Whether metrics find planted truth: how often each prefers it, how well each follows it, and what it loses on a model
that was trained to misread erased inputs.

The models of `reasons` and what they answer are measured elsewhere; here are the quantities, tables, figures and
sentences of the page. Means of single inputs come as dicts by their labels, in the order of `CELL` or without some.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

from faithbook.judge.scores import Scores
from faithbook.show import hover
from faithbook.show.labels import label
from faithbook.show.numbers import listed, row_of, spoken
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.show.tables import wide_with_intervals
from faithbook.stats.comparison import Comparison
from faithbook.studies.together import questions
from faithbook.studies.together.questions import KINDS, OPPOSITE, RUNGS, SHUFFLED, answer
from faithlib.catalogue import FAITHFULNESS

Means = dict[tuple[str, ...], Comparison]
"""Means over inputs by their labels."""

CELL = ("modality", "model", "erase", "metric", "against")
USUAL, MISLED = "trained", "misled by erasure"
HAND_BUILT = ("linear", "detector")
MODELS = (*HAND_BUILT, USUAL, "trained with erasure", MISLED)
"""Models in the order of the page's tables."""
BOTH_ENDS = ("aopc_morf", "aopc_lerf")
"""What SRG is made of."""
ORDERS = {"most important first": questions.TOP_FIRST, "least important first": questions.BOTTOM_FIRST}
NO_ORDER = "neither order, or both"
LOOKS = {
    "most important first": ("#0072B2", "o"),
    "least important first": ("#D55E00", "D"),
    NO_ORDER: ("#666666", "s"),
}


# ----------------------------------------------------------------------------------------------------------- quantities
def main_erasures(measured: Scores) -> dict[str, str]:
    """The main way to erase of each kind of input: the one under which every model was measured. The model trained as
    usual has a second."""
    models = measured.frame.groupby(["modality", "erase"]).model.nunique()
    return {modality: models[modality].idxmax() for modality in measured.levels("modality")}


def trained_models(measured: Scores) -> list[str]:
    """The models that were trained, of those that were measured."""
    return [name for name in measured.levels("model") if name not in HAND_BUILT]


def at_main(cells: Mapping[tuple[str, ...], Comparison], main: Mapping[str, str]) -> Means:
    """The means of cells (modality, model, erase, ...) under the main way to erase, without the label of this way."""
    return {
        (modality, model, *rest): mean
        for (modality, model, erase, *rest), mean in cells.items()
        if erase == main[modality]
    }


def rank_correlations_lost(follows: Mapping[tuple[str, ...], Comparison]) -> Means:
    """What each metric loses of its rank correlation with the truth, by modality and metric: the value on the model
    trained as usual minus that on the misled one; `follows`: by modality, model and metric."""
    return {
        (modality, metric): mean - follows[modality, MISLED, metric]
        for (modality, model, metric), mean in follows.items()
        if model == USUAL and (modality, MISLED, metric) in follows
    }


def truth_against_its_ruins(rungs: Mapping[tuple[str, ...], Comparison]) -> dict[str, Comparison]:
    """How often, on the hand-built models, each metric prefers the truth to itself shuffled or reversed; `rungs`: by
    modality, model, metric and degraded version."""
    return {
        f"{label(metric)}, {modality}, {model}, truth against {rung}": mean
        for (modality, model, metric, rung), mean in rungs.items()
        if model in HAND_BUILT and rung in (SHUFFLED, OPPOSITE)
    }


def truth_against_methods(preferred: Mapping[tuple[str, ...], Comparison]) -> dict[str, Comparison]:
    """How often each metric prefers the truth to an attribution method; `preferred`: by modality, model, metric and
    what the truth is compared with."""
    return {
        f"{label(metric)}, {modality}, {model}, truth against {label(method)}": mean
        for (modality, model, metric, method), mean in preferred.items()
        if method not in RUNGS
    }


def trained_minus_misled(lost: Mapping[tuple[str, ...], Comparison]) -> dict[str, Comparison]:
    """What each metric loses on the misled model, as the parts of a claim."""
    return {f"{label(metric)}, {modality}: trained minus misled": loss for (modality, metric), loss in lost.items()}


# --------------------------------------------------------------------------------------------------------------- frames
def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of a table with texts before images and the models in the page's order."""
    places = frame.model.map({name: place for place, name in enumerate(MODELS)})
    return frame.assign(place=places).sort_values(["modality", "place"], kind="stable").drop(columns="place")


def preferred_to_shuffled(rungs: Mapping[tuple[str, ...], Comparison]) -> pd.DataFrame:
    """How often each metric prefers the truth to itself shuffled, and whether that is clearly above one half."""
    means = {key[:3]: mean for key, mean in rungs.items() if key[3] == SHUFFLED}
    answers = [answer(mean.ours, 0.5, test="score") for mean in means.values()]
    return listed(means, ["modality", "model", "metric"]).assign(answer=answers)


def losses(lost: Mapping[tuple[str, ...], Comparison]) -> pd.DataFrame:
    """What each metric loses on the misled model, and whether it is not worse there."""
    answers = [questions.not_worse_misled(loss.ours) for loss in lost.values()]
    return listed(lost, ["modality", "metric"]).assign(answer=answers)


def how_true(cells: Mapping[tuple[str, ...], Comparison]) -> pd.DataFrame:
    """AUPRC of each method on each model, the truest first."""
    table = listed(cells, ["modality", "model", "method"])
    return table.sort_values(["modality", "model", "estimate"], ascending=[True, True, False])


def srg_beside_others(
    srg: Scores, follows: Mapping[tuple[str, ...], Comparison], main: Mapping[str, str], models: Sequence[str]
) -> pd.DataFrame:
    """The rank correlation of SRG with the truth on each trained model, beside those of the two AOPC and of the best
    metric; `srg`: its values of single inputs; no rows where one of the two AOPC was not measured."""
    if not {*BOTH_ENDS} <= {metric for _, _, metric in follows}:
        return pd.DataFrame()
    rows = []
    for modality in main:
        for model in models:
            points: dict[str, float] = {
                metric: follows[modality, model, metric].ours.point
                for metric in FAITHFULNESS
                if (modality, model, metric) in follows
            }
            best = max(points, key=lambda metric: points[metric])
            labels = {"modality": modality, "model": model, "erase": main[modality], "asked": questions.FOLLOWS}
            row: dict[str, object] = {"modality": modality, "model": model}
            row |= row_of(srg.mean(**labels, metric="srg"), "SRG", "low", "high")
            row |= {label(name): points[name] for name in BOTH_ENDS}
            rows.append(row | {"best metric": label(best), "its value": points[best]})
    return in_order(pd.DataFrame(rows))


# --------------------------------------------------------------------------------------------------- tables for readers
def number_of_inputs(table: pd.DataFrame) -> str:
    """The least and the largest number of inputs of a table's cells.

    >>> number_of_inputs(pd.DataFrame({"n": [90, 120]})), number_of_inputs(pd.DataFrame({"n": [90, 90]}))
    ('n = 90 to 120 inputs', 'n = 90 inputs')
    """
    least, most = int(table.n.min()), int(table.n.max())
    return f"n = {least} inputs" if least == most else f"n = {least} to {most} inputs"


def checks_in_words(reasons: pd.DataFrame) -> pd.DataFrame:
    """What models do without the planted features and with nothing else, one row per model."""
    rows = []
    for (modality, model), part in in_order(reasons).groupby(["modality", "model"], sort=False):
        row = {
            "kind": KINDS[str(modality)],
            "model": model,
            "n": str(part.n.min()),
            "accuracy": f"{part.accuracy.min():.2f}",
            "neither without the planted features (lowest)": f"{part['neither without'].min():.2f}",
            "class kept with nothing else": ", ".join(_by_erasure(part, "{erase} {share:.2f}")),
        }
        if "accuracy on erased copies" in part:
            row["accuracy on erased copies"] = f"{part['accuracy on erased copies'].min():.2f}"
        rows.append(row)
    return pd.DataFrame(rows)


def _by_erasure(reasons: pd.DataFrame, form: str) -> list[str]:
    """The share of inputs that keep their class with nothing but what was planted, for each way to erase."""
    shares = zip(reasons.erase, reasons["class with nothing else"], strict=True)
    return [form.format(erase=erase, share=share) for erase, share in shares]


def ways_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """How often the truth is preferred, by model and way to erase."""
    return pd.DataFrame(
        {
            "kind": table.modality.map(KINDS),
            "model": table.model,
            "erased by": table.erase,
            "truth preferred": [spoken(row, ".2f") for row in table.itertuples()],
            "n": table.n.astype(int).astype(str),
        }
    )


def model_by_model(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """A table by modality, model and `name` with one column for each model, in the page's order."""
    wide = wide_with_intervals(table.assign(kind=table.modality.map(KINDS)), ["kind", name], "model", ".2f")
    return wide[["kind", name, *(model for model in MODELS if model in wide.columns)]]


def loss_table(table: pd.DataFrame) -> pd.DataFrame:
    """What each metric loses on texts and on images, one row per metric, the largest loss first."""
    ordered = table.assign(kind=table.modality.map(KINDS)).sort_values("estimate", ascending=False)
    wide = wide_with_intervals(ordered, ["metric"], "kind", ".3f")  # of two digits an end of 0.00 is on no side of zero
    heads = []
    for kind in KINDS.values():
        part = ordered[ordered.kind == kind]
        answers = dict(zip(part.metric.map(label), part.answer, strict=True))
        wide[f"not worse ({kind})"] = [answers.get(metric, "–") for metric in wide.metric]
        heads += [kind, f"not worse ({kind})"]
    return wide[["metric", *(head for head in heads if head in wide)]]


def srg_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """SRG beside the two AOPC and the best metric, with n last."""
    if table.empty:
        return table
    ends = table.rename(columns={"SRG": "estimate"})[["estimate", "low", "high"]]
    columns = {"kind": table.modality.map(KINDS), "model": table.model}
    columns["SRG"] = pd.Series([spoken(row, ".2f") for row in ends.itertuples()], table.index)
    for name in [*(label(end) for end in BOTH_ENDS), "its value"]:
        columns[name] = table[name].map("{:.2f}".format)
    columns["best metric"] = table["best metric"]
    columns["n"] = table.n.astype(int).astype(str)
    names = ["kind", "model", "SRG", *(label(end) for end in BOTH_ENDS), "best metric", "its value", "n"]
    return pd.DataFrame(columns)[names]


# -------------------------------------------------------------------------------------------------------------- figures
def truth_map(preferred: pd.DataFrame) -> Drawn:
    """A heat map of how often each metric prefers the truth to itself shuffled, by model; `preferred`: the frame of
    `preferred_to_shuffled`."""
    shares = preferred.pivot_table(index="metric", columns=["modality", "model"], values="estimate", sort=False)
    shares = shares.reindex([name for name in FAITHFULNESS if name in set(preferred.metric)])
    columns = [f"{KINDS[kind[0]]}: {kind[1]}" for kind in shares.columns]
    metrics = [label(name) for name in shares.index]
    fig, ax = plt.subplots(figsize=(8.5, 6))
    sns.heatmap(
        shares,
        vmin=0,
        vmax=1,
        center=0.5,
        cmap="PuOr_r",
        annot=True,
        fmt=".2f",
        annot_kws={"size": 8},
        ax=ax,
        cbar_kws={"label": "prefers the truth to itself shuffled"},
        xticklabels=columns,
        yticklabels=metrics,
    )
    hover.say_cells(ax, shares, metrics, columns)
    ax.set(xlabel="", ylabel="")
    ax.set_xticklabels(columns, rotation=30, ha="right")
    rows = []
    for name, *row in shares.itertuples():
        numbers = ", ".join(f"{x:.2f}" for x in row)
        rows.append(f"{label(name)} {numbers}")
    alt = (
        "Heat map of how often each metric prefers the truth to the truth with all scores shuffled, by model: "
        f"{', '.join(columns)}. {'; '.join(rows)}."
    )
    return fig, alt


def before_and_after(follows: Mapping[tuple[str, ...], Comparison], lost: Collection[tuple[str, ...]]) -> Drawn:
    """The rank correlation of each metric with the truth on the model trained as usual and on the misled one; `lost`:
    the modalities and metrics that have both."""
    modalities = dict.fromkeys(modality for modality, _ in lost)
    cells = {}
    for modality, model, metric in product(modalities, (USUAL, MISLED), FAITHFULNESS):
        if (modality, metric) in lost:
            cells[modality, model, label(metric)] = follows[modality, model, metric]
    layout = Layout(panel="panel", series="series", names=KINDS, mark=0.0)
    return dot_plot(listed(cells, ["panel", "series", "row"]), "rank correlation with the truth", layout=layout)


def order_of_erasure(metric: str) -> str:
    """The order in which a metric erases.

    >>> order_of_erasure("aopc_morf"), order_of_erasure("saco")
    ('most important first', 'neither order, or both')
    """
    return next((words for words, names in ORDERS.items() if metric in names), NO_ORDER)


def losses_by_order(lost: Mapping[tuple[str, ...], Comparison]) -> Drawn:
    """The rank correlation that each metric loses on the misled model, by the order in which it erases."""
    frame = listed(lost, ["panel", "metric"])
    frame = frame.sort_values(["panel", "estimate"], ascending=[True, False])
    frame = frame.sort_values("estimate", ascending=False)
    names = {
        "row": frame.metric.map(label),
        "panel": frame.panel.map(KINDS),
        "series": frame.metric.map(order_of_erasure),
    }
    layout = Layout(panel="panel", series="series", looks=LOOKS, mark=0.0)
    return dot_plot(frame.assign(**names), "rank correlation lost", layout=layout)


# ------------------------------------------------------------------------------------------------------------ sentences
def in_short(preferred: pd.DataFrame, lost: Mapping[tuple[str, ...], Comparison]) -> str:
    """The result of the page: the lowest share on hand-built models, and the range of what is lost."""
    known = preferred[preferred.model.isin(HAND_BUILT)]
    lowest = known.nsmallest(1, "estimate").iloc[0]
    found = (
        "On hand-built models every metric prefers the true explanation to the same scores shuffled on a share of "
        f"{spoken(lowest, '.2f')} of the inputs or more (chance: 0.50; n = {known.n.min():.0f} at least)."
    )
    if not lost:
        return found
    points = {cell: loss.ours.point for cell, loss in lost.items()}
    most, least = max(points, key=points.__getitem__), min(points, key=points.__getitem__)
    changes = []
    for modality, metric in (most, least):
        change = 0.0 - lost[modality, metric]
        changes.append(f"{spoken(change, '+.2f')} ({label(metric)} on {KINDS[modality]}, n = {change.ours.n})")
    return (
        f"{found} When a model is trained to misread erased inputs, the rank correlation of a metric with the truth "
        f"changes by {' to '.join(changes)}."
    )


def usual_models(reasons: pd.DataFrame) -> str:
    """How well the models trained as usual do whole and erased."""
    usual = reasons[reasons.model == USUAL]
    without, alone = "neither without", "class with nothing else"
    worst, lost = (usual.nsmallest(1, share).iloc[0] for share in (without, alone))
    return (
        f"For the models trained as usual the lowest accuracy on whole inputs is {usual.accuracy.min():.2f}, the "
        f"lowest share that becomes *neither* {worst[without]:.2f} ({KINDS[worst.modality]}, n = {worst.n}), and the "
        f"lowest share that keeps its class {lost[alone]:.2f} ({KINDS[lost.modality]}, n = {lost.n})."
    )


def misled_models(reasons: pd.DataFrame) -> str:
    """How often the misled models keep a class, and why they do not lose it everywhere."""
    misled = reasons[reasons.model == MISLED]
    shares = "; ".join(
        f"{KINDS[str(modality)]} " + ", ".join(_by_erasure(part, "{share:.2f} (`{erase}`)"))
        for modality, part in misled.groupby("modality", sort=False)
    )
    return (
        f"With nothing but the planted features left, the misled models keep the class of these shares of inputs: "
        f"{shares}. A misread copy becomes *metal* (*horizontal*), so inputs of that class keep it in any case, and "
        "only the others can lose it. For the same reason, and because the sample has whole inputs and lightly erased "
        "copies, their accuracy in the last column can be high."
    )


def best_on_usual(track: pd.DataFrame) -> str:
    """Which metric follows the truth best on the models trained as usual; `track`: rank correlations by modality,
    model and metric."""
    by_modality = track[track.model == USUAL].groupby("modality", sort=False)
    best = [part.nlargest(1, "estimate").iloc[0] for _, part in by_modality]
    words = [f"{label(row.metric)} on {KINDS[row.modality]} ({row.estimate:.2f}, n = {row.n:.0f})" for row in best]
    return f"On the models trained as usual the highest is {' and '.join(words)}."


def why_not_the_best(srg: pd.DataFrame) -> str:
    """The number of rows of the table of SRG in which N-AUC is the best metric, and why it is not recommended; "" where
    it is in none."""
    best = 0 if srg.empty else int((srg["best metric"] == label("n_auc")).sum())
    if not best:
        return ""
    return (
        f"{label('n_auc')} follows the truth best in {best} of {len(srg)} rows. We still recommend SRG. The models of "
        "this page misread erased inputs in one way at most: once more than a third is erased. A model of yours may "
        "misread them in another way. Over all ways that we tried on hand-built models, the lowest value of N-AUC is "
        "below that of SRG: {doc}`together_advice` has the numbers (*Why not N-AUC?*)."
    )
