"""The metrics of EvalxNLP as sums over NumPy arrays: by the formulas of the cited works, and as the released code has
them (read at commit `a372815` of the toolkit's repository, file by file).

`faithlib.metrics` has the same formulas for batches; these are for one text, so that a page can show every step and
has something to hold the library against. Shape letters: n words of a text, K steps of a curve, B texts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, listed
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Estimate
from faithlib.errors import InputError

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]

TOGETHER = "all of it"
"""Everything that the released code does otherwise, at once."""


# ------------------------------------------------------------------------------------------------------- soft metrics
def importance(scores: ArrayLike) -> Array:
    """Scores [n] scaled to between 0 and 1 by min-max. Raises InputError where all are the same."""
    a = np.asarray(scores, dtype=float)
    if not np.ptp(a) > 0:
        raise InputError("all scores are the same: min-max has nothing to scale")
    return (a - a.min()) / np.ptp(a)


def soft_ns_and_nc(p_full: float, p_empty: float, p_kept: ArrayLike, p_removed: ArrayLike) -> tuple[Array, Array]:
    """Soft-NS and Soft-NC of every draw: (S(X') - S(0)) / (1 - S(0)) and C(X') / (1 - S(0)), both better when higher;
    NaN without room.

    >>> [float(x[0]) for x in soft_ns_and_nc(0.9, 0.4, [0.65], [0.4])]
    [0.5, 1.0]
    """
    room = max(0.0, p_full - p_empty)
    if not room:
        return (np.full(np.shape(p_kept), np.nan), np.full(np.shape(p_removed), np.nan))
    loss_of_kept, loss_of_removed = (np.maximum(0, p_full - np.asarray(p, dtype=float)) for p in (p_kept, p_removed))
    return (room - loss_of_kept) / room, loss_of_removed / room


# ---------------------------------------------------------------------------------------------------- accuracy curves
def words_gone(share: float, n: int) -> int:
    """How many of n words a share is, rounded up; the product is rounded before, for .1 * 30 is a bit above 3."""
    return int(np.ceil(round(share * n, 9)))


def trapezia(y: ArrayLike, width: float) -> float:
    """Area under values at equal distances."""
    values = np.asarray(y, dtype=float)
    return float(((values[1:] + values[:-1]) / 2 * width).sum())


def n_auc(y: ArrayLike) -> float:
    """Area under a curve over its whole width, in units of the largest that there could be; lower is better, NaN where
    the curve is zero throughout.

    >>> n_auc([1, 0, 0, 0, 0])
    0.125
    """
    values = np.asarray(y, dtype=float)
    return trapezia(values, 1 / (len(values) - 1)) / float(values.max()) if values.any() else float("nan")


# ------------------------------------------------------------------------------------------------------- plausibility
def rationale(scores: Array, many: int) -> Marks:
    """Which words [n] have the top scores, as far as these are positive; the first of equals first."""
    best = np.argsort(-scores, kind="stable")[:many]
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[best] = scores[best] > 0
    return chosen


def largest_sizes(scores: Array, many: int) -> Marks:
    """Which words have the largest scores whatever their sign, as the released code takes them."""
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argsort(np.abs(scores), kind="stable")[len(scores) - many :]] = True
    return chosen


def overlap(chosen: Marks, marked: Marks) -> float:
    """Intersection over union of two rationales, in [0, 1]."""
    return float((chosen & marked).sum() / (chosen | marked).sum())


def f1(chosen: Marks, marked: Marks) -> float:
    """F1 of two rationales, in [0, 1]."""
    return float(2 * (chosen & marked).sum() / (chosen.sum() + marked.sum()))


def runs_of_words(chosen: Marks) -> list[set[int]]:
    """Runs of chosen words, as sets of places.

    >>> runs_of_words(np.array([True, True, False, True]))
    [{0, 1}, {3}]
    """
    edges = np.flatnonzero(np.diff(np.r_[0, chosen.astype(int), 0]))
    return [set(range(start, end)) for start, end in edges.reshape(-1, 2).tolist()]


def span_f1(chosen: Marks, marked: Marks) -> float:
    """ERASER's IOU-F1 of one text: a span hits where its IOU with a marked span is at least one half."""
    ours, theirs = runs_of_words(chosen), runs_of_words(marked)
    hits = 0
    for chosen_span in ours:
        overlaps = [len(chosen_span & span) / len(chosen_span | span) for span in theirs]
        hits += max(overlaps, default=0) >= 0.5
    return 2 * hits / (len(ours) + len(theirs))


def auprc(scores: Array, marked: Marks) -> float:
    """Area under precision and recall by trapezia, as scikit-learn has it; equal scores come in together."""
    from sklearn.metrics import auc, precision_recall_curve

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where a shift leaves no mark, recall is taken for 1
        precision, recall, _ = precision_recall_curve(marked, scores)
    return float(auc(recall, precision))


def shifted(marked: Marks) -> Marks:
    """Marks with a place for [CLS] in front, cut to as many as there are words: the released loader of film reviews."""
    return np.r_[False, marked][: len(marked)]


# --------------------------------------------------------------------------------------------------------- complexity
def shares_of(scores: ArrayLike) -> Array:
    """The sizes of scores as shares of their sum, in ascending order."""
    sizes = np.sort(np.abs(np.asarray(scores, dtype=float)))
    return sizes / sizes.sum()


def complexity(scores: ArrayLike) -> float:
    """Entropy of the shares, from 0 to ln n; lower is simpler."""
    f = shares_of(scores)
    return float(-(f * np.log(np.where(f > 0, f, 1))).sum())


def sparseness(scores: ArrayLike, *, first: int = 1) -> float:
    """Gini index of the shares, from 0 to (n - 1) / n, higher is sparser; `first`: the rank of the smallest, 0 in the
    released code, which lowers every value by 2 / n.

    >>> sparseness([1, 1]), sparseness([1, 1], first=0)
    (0.0, -1.0)
    """
    f = shares_of(scores)
    ranks = np.arange(len(f)) + first
    # Rounded far behind what is shown, so that no zero comes out as -0.000.
    return round(float(1 - 2 * (f * (len(f) - ranks + 0.5)).sum() / len(f)), 12) + 0.0


# ------------------------------------------------------------------------------------------------- the released code
@dataclass(frozen=True)
class Text:
    """One text: scores [n] and marks [n] of its words, the scores of [CLS] and [SEP], its room p(X) - p(0)."""

    scores: Array
    marks: Marks
    ends: tuple[float, float]
    room: float

    @property
    def ended(self) -> Array:
        """Scores with those of [CLS] and [SEP] around them."""
        return np.r_[self.ends[0], self.scores, self.ends[1]]


def released_soft(p_full: float, answers: pd.DataFrame) -> tuple[float, float]:
    """Soft-NS and Soft-NC of one text as released, mean over draws.

    `answers`: columns what ("blank", "sufficiency", "comprehensiveness"), draw, p. Sufficiency is cut to [0, 1], with
    1/10,000 taken off its baseline; comprehensiveness is not divided by the room.
    """
    drops = {erased: np.maximum(0, p_full - part.p.to_numpy()) for erased, part in answers.groupby("what")}
    s0 = 1 - drops["blank"][0] - 1e-4
    ns = np.clip((1 - drops["sufficiency"] - s0) / (1 - s0), 0, 1)
    return float(ns.mean()), float(drops["comprehensiveness"].mean())


def released_curves(answers: pd.DataFrame) -> pd.DataFrame:
    """N-AUC and AUTPC of every text and change, from p after some per cent of the tokens: metric, change, text, value.

    As in the released code an N-AUC whose accuracy is zero throughout is 0.
    """
    rows = []
    for (metric, change, text), part in answers.groupby(["metric", "change", "text"], sort=False):
        y = (part.sort_values("percent").p.to_numpy() > 0.5).astype(float)
        value = 0.0  # N-AUC of a curve that is zero throughout
        if metric != "n_auc":
            value = trapezia(y, 1 / (len(y) - 1))
        elif y.any():
            value = n_auc(y)
        rows.append({"metric": metric, "change": change, "text": text, "value": value})
    return pd.DataFrame(rows)


def released_scores(texts: Sequence[Text], ours: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """The metrics that can be worked out from scores and marks, done as released, one thing alone and all together.

    `ours`: by metric, our values [B], for what only rescales them. Columns metric, change, text, value.
    """
    marked = np.mean([text.marks.sum() for text in texts])
    k, down = max(1, round(marked)), int(marked)
    longest = max(len(text.scores) for text in texts)
    done = {
        ("token_f1", "top K by size, negative ones too"): lambda t: f1(largest_sizes(t.scores, k), t.marks),
        ("token_f1", "K rounded down"): lambda t: f1(rationale(t.scores, down), t.marks),
        ("token_f1", TOGETHER): lambda t: f1(largest_sizes(t.scores, down), t.marks),
        ("iou_f1", "mean overlap for share of matches"): lambda t: overlap(rationale(t.scores, k), t.marks),
        ("iou_f1", "top K by size, negative ones too"): lambda t: overlap(largest_sizes(t.scores, k), t.marks) >= 0.5,
        ("iou_f1", "K rounded down"): lambda t: overlap(rationale(t.scores, down), t.marks) >= 0.5,
        ("iou_f1", TOGETHER): lambda t: overlap(largest_sizes(t.scores, down), t.marks),
        ("auprc", "as released"): lambda t: auprc(t.scores, t.marks),
        ("auprc", "marks one token off (loader for film reviews)"): lambda t: auprc(t.scores, shifted(t.marks)),
        ("complexity", "divided by n"): lambda t: complexity(t.scores) / len(t.scores),
        ("complexity", "[CLS] and [SEP] count"): lambda t: complexity(t.ended),
        ("complexity", TOGETHER): lambda t: complexity(t.ended) / len(t.ended),
        ("sparseness", "ranks from 0"): lambda t: sparseness(t.scores, first=0),
        ("sparseness", "[CLS] and [SEP] count"): lambda t: sparseness(t.ended),
        ("sparseness", "padded to the longest"): lambda t: sparseness(_padded(t.scores, longest)),
        ("sparseness", TOGETHER): lambda t: sparseness(_padded(t.ended, longest + 2), first=0),
    }
    rows = [
        {"metric": metric, "change": change, "text": number, "value": float(of(text))}
        for (metric, change), of in done.items()
        for number, text in enumerate(texts)
    ]
    undivided = np.asarray(ours["soft_nc"], dtype=float) * [text.room for text in texts]
    soft = {"metric": "soft_nc", "change": "not divided by the room"}
    return pd.DataFrame([*rows, *(soft | {"text": i, "value": value} for i, value in enumerate(undivided))])


def _padded(scores: Array, longest: int) -> Array:
    return np.r_[scores, np.zeros(longest - len(scores))]


# ------------------------------------------------------------------------------------------------ what the pages show
def read_texts(texts: pd.DataFrame, tokens: pd.DataFrame) -> list[Text]:
    """The tables `by_hand_texts` and `by_hand_tokens` as one text each, in the order of their numbers."""
    parts = [part for _, part in tokens.groupby("text")]
    ends = zip(texts["cls"].tolist(), texts["sep"].tolist(), strict=True)
    rooms = (texts["p_full"] - texts["p_empty"]).tolist()
    return [
        Text(part["occlusion"].to_numpy(float), part["marked"].to_numpy(bool), both, room)
        for part, both, room in zip(parts, ends, rooms, strict=True)
    ]


def in_short(of_set: Callable[..., Comparison], metrics: Sequence[str], excerpts: int) -> str:
    """The result of the page on the metrics: the means of both methods under each metric."""
    means = "; ".join(
        f"{label(metric)} {of_set('occlusion', metric).ours.point:.2f} and {of_set('random', metric).ours.point:.2f}"
        for metric in metrics
    )
    return (
        f"Worked out by hand on one example, all {len(metrics)} metrics equal the library's. On {excerpts} excerpts "
        f"the library gives occlusion and random scores: {means}."
    )


def excerpts_in_words(marks: Sequence[Marks], looked_at: int) -> str:
    """What the excerpts of the set are: how many, how long, and where people's marks lie; `looked_at`: how many were
    tried until the model was right about so many."""
    sizes = [len(marked) for marked in marks]
    to_the_end = sum(bool(marked[marked.argmax() :].all()) for marked in marks)
    return (
        f"Of the first {looked_at} excerpts with marked and unmarked words the model answers {len(marks)} with *yes*: "
        f"excerpts without their context are hard. They have {min(sizes)} to {max(sizes)} wordpieces; people marked a "
        f"share of {np.concatenate(marks).mean():.2f} of these. In {to_the_end} of {len(marks)} the marks run from "
        "somewhere to the end, so an explanation that always points to the last words would look plausible here."
    )


def class_returns(still: Array) -> str:
    """Whether the predicted class comes back while more words are removed; `still` [n + 1]: as `unchanged`.

    >>> class_returns(np.array([1.0, 0.0, 0.0]))
    'Once the class is gone it stays away.'
    """
    back = np.flatnonzero(np.diff(still) > 0) + 1
    if not len(back):
        return "Once the class is gone it stays away."
    return (
        f"The class comes back after {back[0]} words, although nothing but words has gone: a text with holes is "
        "another text, not less of the same one."
    )


def unchanged(p_after: ArrayLike) -> Array:
    """1 where the model still says the first class, 0 where not: of two classes, the first is the predicted one while
    its probability is above one half.

    >>> unchanged([0.9, 0.5, 0.4]).tolist()
    [1.0, 0.0, 0.0]
    """
    return (np.asarray(p_after) > 0.5).astype(float)


def steps_of(shares: Sequence[float], words: Sequence[str], p_after: Array) -> pd.DataFrame:
    """The accuracy curve of one text as a table, a row per share: how many words are gone, which are so since the row
    above, the probability of the first class and whether it is still the predicted one (y).

    `words` [n]: the most important first; `p_after` [n + 1]: the probability after so many of them.

    >>> steps_of([0, 0.5, 1], ["good", "a"], np.array([0.9, 0.4, 0.3])).to_dict("list")["newly gone"]
    ['–', 'good', 'a']
    """
    counts = [words_gone(share, len(words)) for share in shares]
    newly = [" ".join(words[before:after]) or "–" for before, after in pairwise([0, *counts])]
    curve = {"share": [f"{share:.0%}" for share in shares], "words gone": counts, "newly gone": newly}
    return pd.DataFrame(curve | {"p(yes)": p_after[counts], "y": unchanged(p_after)[counts].astype(int)})


def curve_points(curves: Conditions, shares: Mapping[str, Sequence[float]], methods: Sequence[str]) -> pd.DataFrame:
    """Mean accuracy at every share, with intervals: cells over curve, method, share as a frame of points."""
    means = {}
    for curve, of_curve in shares.items():
        for method, share in product(methods, of_curve):
            means[curve, method, share] = curves.mean(curve=curve, method=method, share=share)
    return listed(means, ["metric", "method", "share"])


def iou_f1_of_spans(texts: Sequence[Text], k: int) -> Estimate:
    """ERASER's IOU-F1 over spans for top-k rationales, mean over texts."""
    values = [span_f1(rationale(text.scores, k), text.marks) for text in texts]
    frame = pd.DataFrame({"value": values, "which": "spans"}).rename_axis("text").reset_index()
    return Conditions.of(frame, over=["which"], unit="text", bounds=(0, 1)).mean(which="spans")


def as_released(
    texts: Sequence[Text], p_full: Sequence[float], ours: pd.DataFrame, soft: pd.DataFrame, curves: pd.DataFrame
) -> pd.DataFrame:
    """Every metric as the released code computes it, next to ours: metric, change, text, value, here, moved.

    `ours`: our values, one row per text and one column per metric; `soft`, `curves`: the model's outputs for what the
    released code runs (`released_soft` of a text, `released_curves`).
    """
    replaced = [released_soft(p, part) for p, (_, part) in zip(p_full, soft.groupby("text"), strict=True)]
    drawn = pd.DataFrame(replaced, columns=["soft_ns", "soft_nc"]).rename_axis("text").reset_index()
    drawn = drawn.melt("text", var_name="metric").assign(change=TOGETHER).sort_values("text", kind="stable")
    scored = released_scores(texts, {"soft_nc": ours["soft_nc"].to_numpy()})
    released = pd.concat([scored, drawn, released_curves(curves)], ignore_index=True)
    corrected = [float(ours[row.metric].to_dict()[row.text]) for row in released.itertuples()]
    return released.assign(corrected=corrected, moved=released["value"] - corrected)


def released_table(values: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """`as_released` as a table, one row per metric and step: the example (text 0), the mean over the other texts, the
    interval of the difference, and whether the released code is higher, lower or undecided."""
    cells = Conditions.of(values[values.text > 0], over=["metric", "change"], unit="text", value="moved")
    rows = []
    for metric in metrics:
        for change, part in values[values.metric == metric].groupby("change", sort=False):
            by_text = part.set_index("text")
            row: dict[str, Any] = {"metric": metric, "step": "**all steps**" if change == TOGETHER else str(change)}
            row |= {"example, ours": by_text.corrected[0], "example, released": by_text["value"][0]}
            if len(by_text) > 1:
                moved = cells.mean(metric=metric, change=change)
                # Rounded behind what is shown, so that no zero comes out as -0.000.
                ends = {end: round(value, 6) + 0.0 for end, value in ends_of(moved).items()}
                # What is the same on every text has no interval: the difference itself says the direction.
                low, high = (ends["estimate"] if math.isnan(ends[end]) else ends[end] for end in ("low", "high"))
                direction = "undecided"
                if low > 0:
                    direction = "higher"
                elif high < 0:
                    direction = "lower"
                row |= {"set, ours": by_text.corrected[1:].mean(), "set, released": by_text["value"][1:].mean()}
                row |= {"difference": ends["estimate"], "low": ends["low"], "high": ends["high"]}
                row |= {"n": float(moved.n), "released is": direction}
            rows.append(row)
    return pd.DataFrame(rows)


def released_in_short(released: pd.DataFrame) -> str:
    """The result of the page on the released code: how many metrics of the example differ from ours, and which most."""
    example = released[(released.change == TOGETHER) & (released.text == 0)]
    moved = example.set_index("metric").moved.abs().sort_values(ascending=False)
    return (
        f"On one short text {(moved > 0.01).sum()} of {released.metric.nunique()} metrics differ by more than 0.01 "
        "between our code, "
        "which follows the cited works, and the toolkit's released code; the most, "
        f"{label(str(moved.index[0]))}, by {moved.iloc[0]:.2f}."
    )


def what_is_read(example: pd.Series, highest: float, blank: float, p_empty: float) -> str:
    """What the model reads of the example in the released soft metrics; `highest`: the highest score of a word,
    `blank`: p(yes) with every id at 0, `p_empty`: with every feature at zero embedding."""
    return (
        f"In the example `[CLS]` scores {example.cls:+.3f} and `[SEP]` {example.sep:+.3f}; the highest score of a word "
        f"is {highest:.3f}. The model has {example.hidden_units} hidden units. {example.words_below} of the first "
        f"{example.hidden_units} entries of its vocabulary are words, so it reads no word of the text, whatever a draw "
        f"keeps. With every id at 0 it still predicts *yes* with p = {blank:.3f} (features at zero embedding: "
        f"{p_empty:.3f}), because the query remains."
    )


def largest_entropies(lengths: Sequence[int]) -> str:
    """The complexity of equal scores divided by the number of words, by length.

    >>> largest_entropies([5, 100])
    '0.322 for 5 words; 0.046 for 100 words'
    """
    return "; ".join(f"{math.log(words) / words:.3f} for {words} words" for words in lengths)
