"""A claim under its analysis variants as a figure: estimates with intervals, and below them what each variant chose.

A frame has a row for each variant, the first of them the book's own: its choices (the columns `over`), the part that
decides with its interval (part, estimate, low, high, n), and where they are judged the decision (`answer`) and its
word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.show import hover
from faithbook.show.figures import OURS, PALETTE, PUBLISHED, REFERENCE
from faithbook.stats.verdict import Verdict


def curve_in_words(frame: pd.DataFrame, over: Sequence[str]) -> str:
    """What the figure shows, in words."""
    ordered = frame.sort_values("estimate")
    ends = []
    for where, (_, row) in zip(("lowest", "highest"), ordered.iloc[[0, -1]].iterrows(), strict=True):
        chosen = ", ".join(f"{name} {row[name]}" for name in over)
        ends.append(f"{where} {row['estimate']:.3f} ({row['low']:.3f} to {row['high']:.3f}) under {chosen}")
    text = (
        f"Specification curve of {len(frame)} analysis variants, in the order of their estimates, with 95 % intervals "
        f"above and the choices of each below: {'; '.join(ends)}."
    )
    if "answer" not in frame:
        return text
    agreeing = int((frame["answer"] == frame["answer"].iloc[0]).sum())
    return f"{text} {agreeing} of them have the answer of the book's own."


def curve_figure(frame: pd.DataFrame, over: Sequence[str], lines: Sequence[float]) -> Any:
    """The figure: estimates with intervals from the lowest to the highest; `lines`: where verdicts change."""
    ordered = frame.assign(first=np.arange(len(frame)) == 0).sort_values("estimate", kind="stable")
    x = np.arange(len(ordered))
    options = [(name, str(option)) for name in over for option in dict.fromkeys(frame[name])]
    heights = [2.4, 0.22 * len(options) + 0.3]
    fig, (above, below) = plt.subplots(2, 1, figsize=(8.5, sum(heights) + 0.6), sharex=True, height_ratios=heights)
    for line in lines:
        above.axhline(line, color="#666666", ls=":", lw=1)
    for chosen, colour, marker, words in _kinds(ordered):
        rows = ordered[chosen]
        above.vlines(x[chosen], rows["low"], rows["high"], color=colour, lw=1.5)
        above.plot(x[chosen], rows["estimate"], marker, color=colour, ms=4, label=words)
    first = ordered["first"].to_numpy()
    above.plot(x[first], ordered["estimate"][first], "o", mfc="none", mec="black", ms=10, label="the book's own")
    above.set_ylabel("difference that decides")
    hover.say(above, x, ordered["estimate"], [_spoken(row, over) for row in ordered.to_dict("records")])
    fig.legend(loc="outside upper center", ncols=4, fontsize="small")
    for place, (name, option) in enumerate(options[::-1]):
        has = (ordered[name].astype(str) == option).to_numpy()
        below.plot(x[has], np.full(has.sum(), place), "|", color="black", ms=8)
    names = [option if len(over) == 1 else f"{name}: {option}" for name, option in options[::-1]]
    below.set_yticks(range(len(options)), names, fontsize="small")
    below.set_xticks([])
    below.set_xlabel("analysis variants, by their estimate")
    return fig


def _kinds(ordered: pd.DataFrame) -> list[tuple[Any, str, str, str]]:
    """The variants of each answer, with the colour, marker and words of it; without answers all are one kind."""
    if "answer" not in ordered:
        return [(np.ones(len(ordered), dtype=bool), OURS, "o", "an analysis variant")]
    answers = ordered["answer"]
    yes, no = (answers == Verdict.YES.decision).to_numpy(), (answers == Verdict.NO.decision).to_numpy()
    mixed = (answers == Verdict.MIXED.decision).to_numpy()
    kinds = [(yes, OURS, "o", "as claimed"), (no, PUBLISHED, "s", "not as claimed")]
    if mixed.any():
        kinds.append((mixed, PALETTE[3], "^", "mixed"))
    kinds.append((~(yes | no | mixed), REFERENCE, "D", "undecided"))
    return [kind for kind in kinds if kind[0].any()]


def _spoken(row: dict[Any, Any], over: Sequence[str]) -> str:
    """A variant for who points at it: its answer, the part that decides, what was chosen."""
    value = f"{row['estimate']:.3f} ({row['low']:.3f} to {row['high']:.3f}), n = {row['n']}"
    own = ", the book’s own" if row["first"] else ""
    texts = [f"{row.get('word', 'variant')}{own}", f"{row['part']}: {value}"]
    return "\n".join([*texts, *(f"{name}: {row[name]}" for name in over)])
