"""A claim under every open choice: one specification curve.

    curve = multiverse("saco_c02", ["turned", "correlation"], {
        ("no", "Spearman"): {"existing minus SaCo": ...},      # the first is the book's own
        ("yes", "Spearman"): {"existing minus SaCo": ...},
        ("no", "Kendall"): {"existing minus SaCo": ...},
    }, have=page.have)
    curve.flipping_options, curve.columns

Specifications are the open choices one at a time and declared pairs, 64 at most. Each is judged by the rule of the
claim on its own parts; quantities of different specifications may come from different cells, for each has its interval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from faithbook.judge import analysis_plan
from faithbook.judge.decide import Claim, Judged, judge
from faithbook.judge.deciding import part_that_decides
from faithbook.show import variants
from faithbook.stats.comparison import Comparison
from faithbook.stats.verdict import Verdict
from faithlib.errors import InputError

MOST = 64
"""Specifications of one curve."""

_DECIDED = (Verdict.YES.decision, Verdict.NO.decision)
_SAID = (*_DECIDED, Verdict.MIXED.decision)


@dataclass(frozen=True)
class Curve:
    """A claim under its specifications, the first of them the book's own.

    `frame`: one row a specification: its choices, the part that decides with its interval (part, estimate, low, high,
    n), the decision (`answer`) and its word. `over`: the names of the choices.
    """

    id: str
    over: tuple[str, ...]
    frame: pd.DataFrame = field(repr=False)

    @property
    def flipping_options(self) -> dict[str, list[str]]:
        """The options, by choice, that alone lead to another yes or no than the first specification; what is only open
        under an option, for want of inputs say, does not count."""
        first = self.frame.iloc[0]
        flipping: dict[str, list[str]] = {}
        for _, row in self.frame.iloc[1:].iterrows():
            changed = [name for name in self.over if row[name] != first[name]]
            if len(changed) == 1 and row["answer"] in _DECIDED and row["answer"] != first["answer"]:
                flipping.setdefault(changed[0], []).append(str(row[changed[0]]))
        return flipping

    @property
    def flipping_values(self) -> dict[str, dict[str, float]]:
        """What decides under each of `flipping_options`: the estimate with the ends of its interval, by option."""
        first = self.frame.iloc[0]
        found: dict[str, dict[str, float]] = {}
        for choice, options in self.flipping_options.items():
            for option in options:
                alone = self.frame[choice] == option
                for other in self.over:
                    if other != choice:
                        alone &= self.frame[other] == first[other]
                row = self.frame[alone].iloc[0]
                found[option] = {"effect": row["estimate"], "low": row["low"], "high": row["high"]}
        return found

    @property
    def columns(self) -> dict[str, Any]:
        """Its columns on the scoreboard: the choices that alone change the answer, each with the options that do, and
        how many specifications have the answer of the book's own."""
        # What is undecided or not tested under an option, for want of inputs say, neither agrees nor disagrees.
        answers = self.frame["answer"]
        decided = answers[answers.isin(_SAID)]
        flipping = []
        for name, options in self.flipping_options.items():
            quoted = ", ".join(map(_quoted, options))
            flipping.append(f"{name}: {quoted}")
        agreeing = int((decided == answers.iloc[0]).sum())
        return {"depends_on": "; ".join(flipping), "agreeing": agreeing, "specifications": len(decided)}

    @property
    def quoted(self) -> pd.DataFrame:
        """What decides under each option that alone differs from the book's own choices, for sentences: rows of the
        claim `ID/variants` with the choice and its option as part (`turned: none`)."""
        first = self.frame.iloc[0]
        rows = []
        for _, row in self.frame.iloc[1:].iterrows():
            changed = [name for name in self.over if row[name] != first[name]]
            if len(changed) == 1:
                numbers = {"ours": row["estimate"], "low": row["low"], "high": row["high"], "n": row["n"]}
                part = f"{changed[0]}: {row[changed[0]]}"
                rows.append({"claim": f"{self.id}/variants", "part": part, "published": math.nan, **numbers})
        return pd.DataFrame(rows)

    @property
    def grey_in_words(self) -> str:
        """Why a variant is undecided although its interval lies on one side of the line of its rule, in a sentence; ""
        where there is none, and of a claim that makes several statements, of which the figure shows one."""
        rule = analysis_plan.rule(self.id)
        if rule.rule not in ("direction", "each"):
            return ""
        open_ones = self.frame[self.frame["answer"] == Verdict.UNDECIDED.decision]
        below, above = (open_ones["high"] < rule.threshold).any(), (open_ones["low"] > rule.threshold).any()
        sides = [side for side, there in (("below", below), ("above", above)) if there]
        if not sides:
            return ""
        line = "zero" if rule.threshold == 0 else f"{rule.threshold:g}"
        return (
            f"A variant can be undecided although its interval is {' or '.join(sides)} {line}, because the interval is "
            "of one comparison, and the rule corrects for the number of comparisons."
        )

    @property
    def unjudged(self) -> Curve:
        """The same estimates without what the rule says of them."""
        return replace(self, frame=self.frame.drop(columns=["answer", "word"]))

    def called(self, names: Mapping[str, str]) -> Curve:
        """The same curve with other names for its choices."""
        frame = self.frame.rename(columns=dict(names))
        return replace(self, over=tuple(names.get(name, name) for name in self.over), frame=frame)

    @property
    def alt(self) -> str:
        """What the curve shows, in words."""
        return variants.curve_in_words(self.frame, self.over)

    def draw(self) -> Any:
        """The curve as a figure."""
        return variants.curve_figure(self.frame, self.over, analysis_plan.rule(self.id).lines)


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
    own = next(iter(specifications.values()))
    for options, claim in specifications.items():
        judged = judge(name, _beside_print(claim, own), have=have)
        rows.append({**dict(zip(over, options, strict=True)), **_row(judged)})
    return Curve(name, tuple(over), pd.DataFrame(rows))


def _beside_print(claim: Claim, own: Claim) -> Claim:
    """The parts of a variant, beside what the paper prints for the parts of the same names, where it has nothing of its
    own to be shown next to."""
    if not isinstance(claim, Mapping) or not isinstance(own, Mapping):
        return claim
    parts: dict[str, Any] = {}
    for name, part in claim.items():
        known = own.get(name)
        parts[name] = part
        if isinstance(part, Comparison) and isinstance(known, Comparison) and math.isnan(part.published):
            parts[name] = replace(part, published=known.published)
    return parts


def _quoted(option: str) -> str:
    """An option's name in a list of several: one with a comma in quotation marks."""
    return f"“{option}”" if "," in option else option


def _row(judged: Judged) -> dict[str, Any]:
    if judged.rows.empty:
        raise InputError(f"{judged.id} has no parts: its rule {judged.rule.rule} makes no curve")
    part = part_that_decides(judged)
    ends = {"part": part["part"], "estimate": part["ours"], "low": part["low"], "high": part["high"]}
    return {**ends, "n": part["n"], "answer": judged.decision, "word": judged.word}
