"""A claim under every open choice: one specification curve.

    curve = multiverse("saco_c02", ["turned", "correlation"], {
        ("no", "Spearman"): {"existing minus SaCo": ...},      # the first is the book's own
        ("yes", "Spearman"): {"existing minus SaCo": ...},
        ("no", "Kendall"): {"existing minus SaCo": ...},
    }, have=page.have)
    curve.turned_by, curve.columns

Specifications are the open choices one at a time and declared pairs, 64 at most. Each is judged by the rule of the
claim on its own parts; quantities of different specifications may come from different cells, for each has its interval.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.judge import analysis_plan
from faithbook.judge.decide import Claim, Verdict, decisive, judge, lines, why_open
from faithbook.show import hover
from faithbook.show.figures import OURS, PALETTE, PUBLISHED, REFERENCE
from faithbook.stats import rules
from faithlib.errors import InputError

MOST = 64
"""Specifications of one curve."""

_BETWEEN = (rules.LEVEL, rules.PARTLY)


@dataclass(frozen=True)
class Curve:
    """A claim under its specifications, the first of them the book's own.

    `frame`: one row a specification: its choices, the part that decides (`deciding`) with its interval
    (part, estimate, low, high, n), the answer, its word, and why that is open where the interval seems to say more
    (`why`). `over`: the names of the choices.
    """

    id: str
    over: tuple[str, ...]
    frame: pd.DataFrame = field(repr=False)

    @property
    def turned_by(self) -> dict[str, list[str]]:
        """By choice, the options that alone lead to another yes or no than the first specification; what is only open
        under an option, for want of inputs say, does not count."""
        first = self.frame.iloc[0]
        turned: dict[str, list[str]] = {}
        for _, row in self.frame.iloc[1:].iterrows():
            changed = [name for name in self.over if row[name] != first[name]]
            if len(changed) == 1 and row["answer"] in (rules.YES, rules.NO) and row["answer"] != first["answer"]:
                turned.setdefault(changed[0], []).append(str(row[changed[0]]))
        return turned

    @property
    def columns(self) -> dict[str, Any]:
        """Its columns on the scoreboard: the choices that alone change the answer, each with the options that do, and
        how many specifications have the answer of the book's own."""
        turned = "; ".join(f"{name}: {', '.join(options)}" for name, options in self.turned_by.items())
        agreeing = int((self.frame["answer"] == self.frame["answer"].iloc[0]).sum())
        return {"depends_on": turned, "agreeing": agreeing, "specifications": len(self.frame)}

    @property
    def unexplained(self) -> str:
        """Why specifications are open whose deciding part has an interval on one side of the line; "" without any."""
        reasons = self.frame["why"][self.frame["why"] != ""]
        counted = [f"{n} ({reason})" for reason, n in reasons.value_counts().items()]
        return f"Open although the interval is on one side of the line: {', '.join(counted)}." if counted else ""

    @property
    def alt(self) -> str:
        """What the curve shows, in words."""
        ordered = self.frame.sort_values("estimate")
        ends = "; ".join(
            f"{where} {row['estimate']:.3f} ({row['low']:.3f} to {row['high']:.3f}) under "
            + ", ".join(f"{name} {row[name]}" for name in self.over)
            for where, (_, row) in zip(("lowest", "highest"), ordered.iloc[[0, -1]].iterrows(), strict=True)
        )
        return (
            f"Specification curve of {len(self.frame)} analysis variants, in the order of their estimates, with 95 % "
            f"intervals above and the choices of each below: {ends}. {self.columns['agreeing']} of them have the "
            "answer of the book's own."
        )

    def draw(self) -> Any:
        """The curve: estimates with intervals from the lowest to the highest, and below them what each chose."""
        ordered = self.frame.assign(first=np.arange(len(self.frame)) == 0).sort_values("estimate", kind="stable")
        x = np.arange(len(ordered))
        options = [(name, str(one)) for name in self.over for one in dict.fromkeys(self.frame[name])]
        heights = [2.4, 0.22 * len(options) + 0.3]
        fig, (above, below) = plt.subplots(2, 1, figsize=(8.5, sum(heights) + 0.6), sharex=True, height_ratios=heights)
        for line in lines(analysis_plan.rule(self.id)):
            above.axhline(line, color="#666666", ls=":", lw=1)
        yes, no = ((ordered["answer"] == answer).to_numpy() for answer in (rules.YES, rules.NO))
        between = ordered["answer"].isin(_BETWEEN).to_numpy()
        kinds = [(yes, OURS, "o", "as claimed"), (no, PUBLISHED, "s", "not as claimed")]
        kinds += [(between, PALETTE[3], "^", "level or in part")] if between.any() else []
        kinds += [(~(yes | no | between), REFERENCE, "D", "open")]
        for chosen, colour, marker, words in kinds:
            rows = ordered[chosen]
            above.vlines(x[chosen], rows["low"], rows["high"], color=colour, lw=1.5)
            above.plot(x[chosen], rows["estimate"], marker, color=colour, ms=4, label=words)
        first = ordered["first"].to_numpy()
        above.plot(x[first], ordered["estimate"][first], "o", mfc="none", mec="black", ms=10, label="the book's own")
        above.set_ylabel("deciding part")
        hover.say(above, x, ordered["estimate"], [self._spoken(row) for row in ordered.to_dict("records")])
        fig.legend(loc="outside upper center", ncols=4, fontsize="small")
        for place, (name, option) in enumerate(options[::-1]):
            has = (ordered[name].astype(str) == option).to_numpy()
            below.plot(x[has], np.full(has.sum(), place), "|", color="black", ms=8)
        below.set_yticks(range(len(options)), [f"{name}: {option}" for name, option in options[::-1]], fontsize="small")
        below.set_xticks([])
        below.set_xlabel("analysis variants, by their estimate")
        return fig

    def _spoken(self, row: dict[Any, Any]) -> str:
        """A specification for who points at it: its answer, the part that decides, what was chosen."""
        value = f"{row['estimate']:.3f} ({row['low']:.3f} to {row['high']:.3f}), n = {row['n']}"
        open_for = f" ({row['why']})" if row["why"] else ""
        texts = [f"{row['word']}{open_for}{', the book’s own' if row['first'] else ''}", f"{row['part']}: {value}"]
        return "\n".join([*texts, *(f"{name}: {row[name]}" for name in self.over)])


def multiverse(
    name: str,
    over: Sequence[str],
    specifications: Mapping[tuple[str, ...], Claim],
    *,
    have: Collection[str],
) -> Curve:
    """The claim of an id judged under every specification.

    `specifications`: from the options chosen, one for each name in `over`, to the claim as `judged` takes it; the first
    is the book's own. Raises InputError for none or for more than 64.
    """
    if not 0 < len(specifications) <= MOST:
        raise InputError(f"{len(specifications)} specifications of {name}: expected 1 to {MOST}")
    rows = []
    for options, parts in specifications.items():
        rows.append({**dict(zip(over, options, strict=True)), **_row(judge(name, parts, have=have))})
    return Curve(name, tuple(over), pd.DataFrame(rows))


def _row(judged: Verdict) -> dict[str, Any]:
    if judged.rows.empty:
        raise InputError(f"{judged.id} has no parts: its rule {judged.rule.rule} makes no curve")
    least = judged.rows.iloc[decisive(judged.rule, judged.rows["ours"].fillna(0.0).to_numpy(dtype=float))]
    ends = {"part": least["part"], "estimate": least["ours"], "low": least["low"], "high": least["high"]}
    word = judged.word
    why = why_open(judged.decision, lines(judged.rule), ends["low"], ends["high"])
    return {**ends, "n": least["n"], "answer": judged.decision.answer, "word": word, "why": why}
