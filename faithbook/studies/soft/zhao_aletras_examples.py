"""Two explanations of one sentence, and three inputs under the metrics (Zhao & Aletras 2023, Figure 1 and Table 4):
what `soft_examples` shows.

    toy = scores_of_two(hard, soft)
    fig, alt = drawn_toy(words, toy)
    shares_of_disagreement(share, ["sst", "ag"])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.judge.decide import Parts
from faithbook.show import figures
from faithbook.show.figures import OURS, PUBLISHED
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Drawn, Layout, dot_plot
from faithbook.stats.chance import against_random
from faithbook.studies.soft.zhao_aletras import of_largest
from faithbook.studies.soft.zhao_aletras_diagnosticity import METRICS, PAIRS, WIN, Power

SOFT_ALONE, HARD_ALONE, LARGER = "soft alone", "hard alone", "soft gap larger"
QUESTIONS = {
    SOFT_ALONE: "soft alone prefers the real one",
    HARD_ALONE: "hard alone prefers the real one",
    LARGER: "gap is larger under soft",
}
"""What is counted of each input: that the soft metric alone prefers the real explanation to the random one, that the
hard one alone does, that the gap between the two is larger under the soft one."""
COMPARED = "compared"
"""The mean over the data sets that are compared with the paper."""
COLOURS = {"A": OURS, "B": PUBLISHED}
EXCERPT = 60
"""Wordpieces of a long text that are shown."""
TOP = 0.2
"""The share of wordpieces that hard erasure sees in Table 4."""


# ---------------------------------------------------------------------------------------------------- values of inputs
def over_lengths(scores: pd.DataFrame, of_input: Sequence[str]) -> pd.DataFrame:
    """One value per input, method and metric: of the hard metrics the mean over rationale lengths."""
    of_lengths = scores.groupby([*of_input, "method", "metric"], observed=True, sort=False)["value"]
    return of_lengths.mean(skipna=False).reset_index()


def disagreements(units: pd.DataFrame) -> pd.DataFrame:
    """Of each input and method of the largest model: whether a metric prefers it to the random attribution, and on
    which inputs the two kinds of metric disagree."""
    of_model = of_largest(units)
    scores = over_lengths(of_model[of_model["metric"].isin(METRICS)], ["dataset", "id", "cluster", "seed"])
    wins = against_random(scores, on=["dataset", "seed", "id", "metric"])
    keys = ["dataset", "id", "cluster", "seed", "method"]
    wide = wins.set_index([*keys, "metric"])[["win", "gap"]].unstack("metric")
    parts = [wins.assign(value=wins["win"], shows=WIN)]
    for hard, soft in PAIRS.items():
        of_soft, of_hard = wide["win", soft], wide["win", hard]
        larger = (wide["gap", soft] > wide["gap", hard]).astype(float)
        shown = {
            SOFT_ALONE: of_soft * (1 - of_hard),
            HARD_ALONE: of_hard * (1 - of_soft),
            LARGER: larger.where(of_soft.notna() & of_hard.notna()),
        }
        parts += [value.rename("value").reset_index().assign(metric=hard, shows=name) for name, value in shown.items()]
    return pd.concat(parts, ignore_index=True)


def in_short(share: Power) -> str:
    """The result of the page: how often one kind of metric alone prefers the real explanation (`share`: by metric)."""
    pairs = []
    for hard, soft in PAIRS.items():
        soft_alone, hard_alone = (spoken(share(hard, shows=shows), ".2f") for shows in (SOFT_ALONE, HARD_ALONE))
        pairs.append(
            f"{label(soft)} and not {label(hard)} {soft_alone}, {label(hard)} and not {label(soft)} {hard_alone}"
        )
    return (
        "How often one kind of metric prefers the real explanation to the random one and the other kind does not: "
        f"{'; '.join(pairs)} (shares of the texts, mean over methods, with MPNet; n = {share('nc').ours.n:,} in the "
        "smaller data set)."
    )


# ------------------------------------------------------------------------------------------------------------ Figure 1
def scores_of_two(hard: pd.DataFrame, soft: pd.DataFrame) -> pd.DataFrame:
    """The scores of attributions A and B by metric and their difference: hard ones of the top two tokens, soft ones
    over draws, with a 95 % Monte-Carlo interval of the difference."""
    rows = []
    for metric in PAIRS:
        first = hard[hard["metric"] == metric].sort_values("kept").iloc[0]
        rows.append({"metric": metric, "A": first["A"], "B": first["B"]})
    for metric in PAIRS.values():
        drawn = soft[soft["metric"] == metric].iloc[0]
        margin = 1.96 * drawn["error"]
        ends = {"low": drawn["gap"] - margin, "high": drawn["gap"] + margin}
        rows.append({"metric": metric, "A": drawn["A"], "B": drawn["B"], **ends})
    toy = pd.DataFrame(rows)
    toy.insert(3, "A minus B", toy["A"] - toy["B"])
    return toy


def drawn_toy(words: pd.DataFrame, toy: pd.DataFrame) -> Drawn:
    """The importance of each token under A and B (`words`: token, A, B), and their scores (`scores_of_two`)."""
    top = np.argsort(-words["A"].to_numpy(), kind="stable")[:2]
    fig, (left, right) = plt.subplots(1, 2, figsize=(8, 0.28 * len(words) + 1.6), width_ratios=(3, 2))
    _pairs_of_bars(left, words)
    left.set_yticks(np.arange(len(words))[::-1], words["token"].tolist())
    for index in top:
        left.get_yticklabels()[index].set_fontweight("bold")
    left.set_xlabel("importance")
    left.legend(loc="lower right", title="attribution")
    left.grid(axis="y", visible=False)
    _pairs_of_bars(right, toy, numbers=True)
    right.margins(x=0.25)
    right.set_yticks(np.arange(len(toy))[::-1], [label(metric) for metric in toy["metric"]])
    right.set_xlabel("faithfulness score")
    right.grid(axis="y", visible=False)
    pairs = "; ".join(
        f"{label(row['metric'])} {row['A']:.3f} for A and {row['B']:.3f} for B" for row in toy.to_dict("records")
    )
    return fig, (
        f"Left: importance of {len(words)} wordpieces of a sentence under two attributions that share their two "
        f"highest tokens. Right: their scores, hard with the top two as rationale. {pairs}."
    )


def _pairs_of_bars(ax: Any, values: pd.DataFrame, *, numbers: bool = False) -> None:
    """Bars of A and B for each row, from top to bottom, with their numbers if wanted."""
    place = np.arange(len(values))[::-1]
    for shift, (name, colour) in zip((0.2, -0.2), COLOURS.items(), strict=True):
        ax.barh(place + shift, values[name], height=0.38, color=colour, label=name)
        for spot, value in zip(place, values[name], strict=True) if numbers else ():
            ax.text(max(value, 0), spot + shift, f" {value:.3f}", va="center", fontsize="small")


# ------------------------------------------------------------------------------------------------------------- Table 4
@dataclass(frozen=True)
class Example:
    """One of the inputs of Table 4 under one attribution: its tokens with their scores (`rows`: token, score) and the
    values of the metrics by metric."""

    number: int
    dataset: str
    method: str
    rows: pd.DataFrame
    scores: Mapping[str, float]

    def drawn(self) -> str:
        """Its tokens tinted by score, with an outline around the top fifth."""
        kept = int(np.ceil(round(TOP * len(self.rows), 9)))
        top = set(np.argsort(-self.rows["score"].to_numpy(), kind="stable")[:kept].tolist())
        return figures.heatmap(
            self.rows["token"].tolist(),
            self.rows["score"].tolist(),
            rationale=[place in top for place in range(len(self.rows))],
            title=f"Example {self.number}, {label(self.dataset)}, {label(self.method)}",
            shown=EXCERPT,
        )

    def row(self) -> dict[str, object]:
        """Its values as a row of a table."""
        about = {"example": self.number, "dataset": self.dataset, "attribution": label(self.method)}
        values = {label(metric): self.scores.get(metric) for metric in METRICS}
        return about | {"wordpieces": len(self.rows)} | values


def examples_of_table4(
    tokens: pd.DataFrame, scores: pd.DataFrame, printed: pd.DataFrame, stands: Mapping[str, str]
) -> list[Example]:
    """For each data set of Table 4 (`printed`) that we have, or its substitute (`stands`), the first input of the
    sample under the paper's attribution and the random one.

    `tokens`: the scores of each token; `scores`: those of the metrics, at each length.
    """
    method_of = printed[printed["method"] != "random"].groupby("dataset", sort=False)["method"].first()
    own_last = sorted(dict.fromkeys(tokens["dataset"]), key=lambda name: name not in stands)  # the paper's own data win
    ours = {stands.get(name, name): name for name in own_last}
    means = over_lengths(scores, ["dataset", "model_seed", "input"])
    found = []
    for number, (source, method) in enumerate(method_of.items(), start=1):
        if source not in ours:
            continue
        of_task = tokens[tokens["dataset"] == ours[source]]
        first = (of_task["input"] == of_task["input"].iloc[0]) & (of_task["model_seed"] == of_task["model_seed"].min())
        of_input = of_task[first]
        keys = of_input.iloc[0][["dataset", "input", "model_seed"]]
        of_keys = means[(means[list(keys.index)] == keys).all(axis=1)].set_index(["method", "metric"])["value"]
        for name in (method, "random"):
            rows = of_input[of_input["method"] == name].sort_values("position")
            values = {metric: of_keys[name, metric] for metric in METRICS if (name, metric) in of_keys.index}
            found.append(Example(number, ours[source], name, rows, values))
    return found


def gains(share: Power) -> Parts:
    """Soft minus hard, with which Table 4 is judged."""
    return {f"{label(soft)} minus {label(hard)}": share(soft) - share(hard) for hard, soft in PAIRS.items()}


def shares_of_disagreement(share: Power, datasets: Sequence[str]) -> pd.DataFrame:
    """How often one kind of metric alone prefers the real attribution and how often the gap is larger under soft
    erasure, on the data sets that are compared with the paper together and on each that was measured."""
    cells = {}
    for shows, hard in product((SOFT_ALONE, HARD_ALONE, LARGER), PAIRS):
        cells[shows, hard, COMPARED] = share(hard, shows=shows)
        for name in datasets:
            cells[shows, hard, name] = share(hard, shows=shows, dataset=name)
    return listed(cells, ["question", "metric", "dataset"])


def drawn_shares(counted: pd.DataFrame) -> Drawn:
    """`shares_of_disagreement` over the data sets that are compared with the paper."""
    pairs = {hard: f"{label(soft)} and {label(hard)}" for hard, soft in PAIRS.items()}
    overall = counted[counted["dataset"] == COMPARED]
    layout = Layout(series="metric", names=pairs)
    return dot_plot(overall, "share of inputs and methods", row="question", layout=layout)
