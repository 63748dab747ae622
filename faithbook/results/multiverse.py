"""A claim under every open choice: one specification curve, and the share of specifications in which it carries.

    curve = multiverse("saco_c02", ["turned", "correlation"], {
        ("no", "Spearman"): {"existing minus SaCo": ...},      # the first is the book's own
        ("yes", "Spearman"): {"existing minus SaCo": ...},
        ("no", "Kendall"): {"existing minus SaCo": ...},
    }, have=page.have)
    curve.share, curve.sentence

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
from numpy.typing import ArrayLike

from faithbook.results import evidence, pointed, rulebook, rules
from faithbook.results.figures import OURS, PALETTE, PUBLISHED, REFERENCE
from faithbook.results.judged import Claim, Judged, judge, lines, why_open
from faithbook.results.rulebook import Rule
from faithlib.errors import InputError

MOST = 64
"""Specifications of one curve."""

_BETWEEN = {rules.LEVEL: "level", rules.PARTLY: "in part"}


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
    def carried(self) -> int:
        """Specifications in which the rule says yes."""
        return int((self.frame["answer"] == rules.YES).sum())

    @property
    def share(self) -> float:
        """The share of them, in [0, 1]."""
        return self.carried / len(self.frame)

    @property
    def hangs_on(self) -> dict[str, list[str]]:
        """By choice, the options that alone lead to another yes or no than the first specification; what is only open
        under an option, for want of inputs say, does not count."""
        own = self.frame.iloc[0]
        found: dict[str, list[str]] = {}
        for _, row in self.frame.iloc[1:].iterrows():
            changed = [name for name in self.over if row[name] != own[name]]
            if len(changed) == 1 and row["answer"] in (rules.YES, rules.NO) and row["answer"] != own["answer"]:
                found.setdefault(changed[0], []).append(str(row[changed[0]]))
        return found

    @property
    def in_short(self) -> str:
        """On what the answer hangs, for a sentence about the claim: of each choice that changes it alone, under how
        many of its options the rule says yes (level, in part, where it says that of the book's own); else of all
        specifications."""
        own, told = self.frame.iloc[0], []
        answer = own["answer"] if own["answer"] in _BETWEEN else rules.YES
        word = _BETWEEN.get(answer, "so")
        for choice in self.hangs_on:
            others = [name for name in self.over if name != choice]
            options = self.frame[(self.frame[others] == own[others]).all(axis=1)]
            told.append(f"{word} under {(options['answer'] == answer).sum()} of {len(options)} options of *{choice}*")
        settled = self.frame["answer"].isin([rules.YES, rules.NO, *_BETWEEN])
        whole = f"{word} under {(self.frame['answer'] == answer).sum()} of {len(self.frame)} specifications"
        return ", ".join(told) or (whole if settled.all() else f"{whole}, {(~settled).sum()} open")

    @property
    def sentence(self) -> str:
        """How many specifications it carries in, and which choice it hangs on."""
        answers = self.frame["answer"].value_counts()
        told = f"carries under {self.carried} of {len(self.frame)} specifications"
        told += f", does not under {answers.get(rules.NO, 0)}"
        told += "".join(f", {word} under {answers[answer]}" for answer, word in _BETWEEN.items() if answer in answers)
        choices = [f"{name} ({', '.join(options)})" for name, options in self.hangs_on.items()]
        return f"{told}; what changes the answer alone: {', '.join(choices)}" if choices else told

    @property
    def unexplained(self) -> str:
        """Why specifications are open whose deciding part has an interval on one side of the line; "" without any."""
        reasons = self.frame["why"][self.frame["why"] != ""]
        told = [f"{n} ({reason})" for reason, n in reasons.value_counts().items()]
        return f"Open although the interval is on one side of the line: {', '.join(told)}." if told else ""

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
            f"Specification curve of {len(self.frame)} specifications, in the order of their estimates, with 95 % "
            f"intervals above and the choices of each below: {ends}. It {self.sentence}."
        )

    def draw(self) -> Any:
        """The curve: estimates with intervals from the lowest to the highest, and below them what each chose."""
        ordered = self.frame.assign(own=np.arange(len(self.frame)) == 0).sort_values("estimate", kind="stable")
        x = np.arange(len(ordered))
        options = [(name, str(one)) for name in self.over for one in dict.fromkeys(self.frame[name])]
        heights = [2.4, 0.22 * len(options) + 0.3]
        fig, (above, below) = plt.subplots(2, 1, figsize=(8.5, sum(heights) + 0.6), sharex=True, height_ratios=heights)
        for line in lines(rulebook.rule(self.id)):
            above.axhline(line, color="#666666", ls=":", lw=1)
        yes, no = ((ordered["answer"] == answer).to_numpy() for answer in (rules.YES, rules.NO))
        between = ordered["answer"].isin(_BETWEEN).to_numpy()
        kinds = [(yes, OURS, "o", "carries"), (no, PUBLISHED, "s", "does not")]
        kinds += [(between, PALETTE[3], "^", "level or in part")] if between.any() else []
        kinds += [(~(yes | no | between), REFERENCE, "D", "open")]
        for chosen, colour, marker, words in kinds:
            rows = ordered[chosen]
            above.vlines(x[chosen], rows["low"], rows["high"], color=colour, lw=1.5)
            above.plot(x[chosen], rows["estimate"], marker, color=colour, ms=4, label=words)
        own = ordered["own"].to_numpy()
        above.plot(x[own], ordered["estimate"][own], "o", mfc="none", mec="black", ms=10, label="the book's own")
        above.set_ylabel("deciding part")
        pointed.say(above, x, ordered["estimate"], [self._spoken(row) for row in ordered.to_dict("records")])
        fig.legend(loc="outside upper center", ncols=4, fontsize="small")
        for place, (name, option) in enumerate(options[::-1]):
            has = (ordered[name].astype(str) == option).to_numpy()
            below.plot(x[has], np.full(has.sum(), place), "|", color="black", ms=8)
        below.set_yticks(range(len(options)), [f"{name}: {option}" for name, option in options[::-1]], fontsize="small")
        below.set_xticks([])
        below.set_xlabel("specifications, by their estimate")
        return fig

    def _spoken(self, row: dict[Any, Any]) -> str:
        """A specification for who points at it: its answer, the part that decides, what was chosen."""
        value = f"{row['estimate']:.3f} ({row['low']:.3f} to {row['high']:.3f}), n = {row['n']}"
        open_for = f" ({row['why']})" if row["why"] else ""
        told = [f"{row['word']}{open_for}{', the book’s own' if row['own'] else ''}", f"{row['part']}: {value}"]
        return "\n".join([*told, *(f"{name}: {row[name]}" for name in self.over)])


def multiverse(
    name: str,
    over: Sequence[str],
    specifications: Mapping[tuple[str, ...], Claim],
    *,
    have: Collection[str],
) -> Curve:
    """The claim of an id judged under every specification.

    `specifications`: from the options chosen, one for each name in `over`, to the claim as `judged` takes it; the first
    is the book's own. Raises InputError for none, for more than 64, or where one names another number of options.
    """
    if not 0 < len(specifications) <= MOST:
        raise InputError(f"{len(specifications)} specifications of {name}: expected 1 to {MOST}")
    rows = []
    for options, parts in specifications.items():
        if len(options) != len(over):
            raise InputError(f"the specification {options} of {name} needs an option for each of {', '.join(over)}")
        rows.append({**dict(zip(over, options, strict=True)), **_row(judge(name, parts, have=have))})
    return Curve(name, tuple(over), pd.DataFrame(rows))


def _row(judged: Judged) -> dict[str, Any]:
    if judged.rows.empty:
        raise InputError(f"{judged.id} has no parts: its rule {judged.rule.rule} makes no curve")
    least = judged.rows.iloc[deciding(judged.rule, judged.rows["ours"].fillna(0.0).to_numpy(dtype=float))]
    found = {"part": least["part"], "estimate": least["ours"], "low": least["low"], "high": least["high"]}
    word = evidence.worded(judged.decision.answer, judged.evidence)
    why = why_open(judged.decision, lines(judged.rule), found["low"], found["high"])
    return {**found, "n": least["n"], "answer": judged.decision.answer, "word": word, "why": why}


def deciding(rule: Rule, estimates: ArrayLike) -> int:
    """Which part decides: of k that are needed, the k-th highest; of parts that should be near zero, the k-th nearest.

    >>> deciding(rulebook.rule("saco_c04"), [0.1, 0.3, 0.2]), deciding(rulebook.rule("saco_c08"), [0.1, 0.3, 0.2])
    (0, 2)
    """
    order = np.argsort(np.abs(np.asarray(estimates)) if rule.rule == "equal" else -np.asarray(estimates), kind="stable")
    m = len(order)
    needed = {"all": m, "each": m, "most": m // 2 + 1}[rule.k] if isinstance(rule.k, str) else rule.k or m
    return int(order[min(needed, m) - 1])
