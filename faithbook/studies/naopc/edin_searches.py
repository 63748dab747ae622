"""What a search for the bounds costs and how far it falls short: what `naopc_search_cost` shows of the values of
`edin_bounds.of_searches`.

`mean` is the mean over texts of a metric of a search, `mean("l6", 80, "released, width 5", "rows")`; `signed` is the
same where values may be below zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from faithbook.show.labels import label
from faithbook.show.numbers import ends_of, spoken
from faithbook.show.tables import rounded
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import ALPHA, Estimate
from faithbook.stats.inference import Student
from faithbook.stats.verdict import Result, Verdict, conjunction, direction
from faithbook.studies.naopc import edin_bounds
from faithbook.text import joined

PRUNED = ("pruned", "adaptive")
"""The kinds of search that try a few words of each entry only."""
LONG, TIMES, CLOSE = 80, 5, 0.005
"""The aim: on texts of so many words, so many times fewer forward passes, bounds as near as this."""

MeanOf = Callable[..., Comparison]


def costs(values: pd.DataFrame, mean: MeanOf) -> pd.DataFrame:
    """Each search on each length: classifier, words, search, kind, n, mean rows, times_fewer than the published search,
    error with its ends (none of a single text), unsure."""
    searches = values.drop_duplicates(["model", "words", "search"]).sort_values(["model", "words"])
    rows = []
    for model, words, search, kind in searches[["model", "words", "search", "kind"]].itertuples(index=False):
        means = {metric: mean(model, words, search, metric).ours for metric in ("rows", "fewer", "error", "unsure")}
        row: dict[str, Any] = {"classifier": model, "words": words, "search": search, "kind": kind}
        row |= {"n": means["error"].n, "rows": means["rows"].point, "times_fewer": means["fewer"].point}
        rows.append(row | _ends(means["error"]) | {"unsure": means["unsure"].point})
    return pd.DataFrame(rows).sort_values(["classifier", "words", "rows"])


def _ends(estimate: Estimate, *names: str) -> dict[str, float]:
    """A quantity with its interval; a single text has none."""
    with np.errstate(invalid="ignore"):
        values = ends_of(estimate, *names)
    if estimate.n == 1:
        _, low, high = values
        values |= {low: np.nan, high: np.nan}
    return values


def in_short(table: pd.DataFrame) -> str:
    """The result of the page in two sentences, from `costs`."""
    pruned = table[table["kind"].isin(PRUNED)]
    longest = pruned[pruned["words"] == pruned["words"].max()]
    best = longest[longest["n"] == longest["n"].max()].sort_values("estimate").iloc[0]
    same_texts = (table["classifier"] == best.classifier) & (table["words"] == best.words)
    theirs = table[same_texts & (table["search"] == edin_bounds.PUBLISHED_SEARCH)].iloc[0]
    return (
        f"On texts of {best.words} words the most accurate of the pruned searches, *{best.search}*, needs "
        f"{best.times_fewer:.1f} times fewer forward passes than the published one at width 5. Its bounds fall short "
        f"of the best that any search found by {spoken(best, '.3f')} on average, those of the published search by "
        f"{spoken(theirs, '.3f')} ({label(best.classifier)}, n = {best.n} texts)."
    )


def costs_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `costs` for readers."""
    shown = table[["classifier", "words", "search", "n"]].rename(columns={"classifier": "model"})
    shown["model"] = shown["model"].map(label)
    shown["forward passes"] = [rounded(passes, 0) for passes in table["rows"]]
    shown["times fewer"] = [rounded(times, 1) for times in table["times_fewer"]]
    shown["error"] = [spoken(row, ".4f") for row in table.itertuples()]
    return shown.assign(**{"error bound": [rounded(bound, 3) for bound in table["unsure"]]})


def aims_in_words(aims: pd.DataFrame) -> pd.DataFrame:
    """The table of an `Aim` for readers; empty where no text is long enough."""
    if aims.empty:
        return aims
    shown = aims[["classifier", "words", "search", "n"]].rename(columns={"classifier": "model"})
    shown["model"] = shown["model"].map(label)
    shown["times fewer"] = _with_ends(aims, ["times fewer", "fewer low", "fewer high"], 1)
    shown["bounds short by"] = _with_ends(aims, ["short of", "short low", "short high"], 4)
    return shown.assign(**{"aim reached": aims["reached"]})


def _with_ends(table: pd.DataFrame, columns: list[str], digits: int) -> list[str]:
    """A quantity and the ends of its interval, where it has one, as cells."""
    cells = []
    for value, low, high in table[columns].itertuples(index=False):
        cell = rounded(value, digits)
        if not np.isnan(low):
            cell += f" [{rounded(low, digits)}, {rounded(high, digits)}]"
        cells.append(cell)
    return cells


def searched_exactly(table: pd.DataFrame, *, most: int) -> str:
    """Of how many texts the exact bounds are known, by classifier; `most`: the features of a text that was searched
    exactly."""
    texts = table.groupby(["classifier", "words"])["n"].max().groupby("classifier").sum()
    exact = table[table["kind"] == "exact"].groupby("classifier")["n"].sum()
    shares = []
    for name, number in texts.items():
        shares.append(f"{exact.get(name, 0)} of {number} texts of {label(str(name))}")
    return (
        "*Words* are separated by blanks, but each punctuation mark is a feature too, so a text of ten words can "
        f"have more than ten features. Only texts with at most {most} features were searched exactly. So errors are "
        f"against exact bounds for {joined(shares)}, and against the best bounds found for the others."
    )


def adaptive_outdone(table: pd.DataFrame, signed: MeanOf) -> str:
    """Where a pruned search with one width is cheaper and better than the adaptive one, a line each."""
    lines = []
    ran = 0
    for (model, words), part in table[table["kind"].isin(PRUNED)].groupby(["classifier", "words"]):
        if "adaptive" in set(part["kind"]):
            ran += 1
        pair = edin_bounds.outdone(part, "estimate")
        if pair is None:
            continue
        adaptive, better = pair
        gain = signed(model, words, adaptive.search, "error") - signed(model, words, better.search, "error")
        on_texts = f"difference {spoken(gain, '.4f')} on {adaptive.n} texts"
        if adaptive.n == 1:
            on_texts = "one text"
        lines.append(
            f"- {label(str(model))}, {words} words: *{better.search}* needs {better.rows:,.0f} forward passes, not "
            f"{adaptive.rows:,.0f}, and has an error of {better.estimate:.4f}, not {adaptive.estimate:.4f} ({on_texts})"
        )
    head = (
        f"The adaptive search ran for {ran} pairs of a model and a length. For {len(lines)} of them a pruned search "
        "with one width needs fewer forward passes and has a smaller mean error"
    )
    if not lines:
        return f"{head}."
    return "\n".join([f"{head}:\n", *lines])


_REACHED = {evidence_levels.REPRODUCED: "yes", evidence_levels.NOT_REPRODUCED: "no"}
"""Whether the aim is reached, by decision."""


@dataclass(frozen=True)
class Aim:
    """Whether the aim is reached: one row of `table` per pruned search on long texts, and the answer for each."""

    table: pd.DataFrame
    answers: list[Result]

    @property
    def tested(self) -> list[Result]:
        """The answers that are based on enough texts."""
        return [answer for answer in self.answers if answer.verdict is not Verdict.NOT_TESTED]

    @property
    def word(self) -> str:
        """Whether at least one search reaches the aim, after the correction for all that were tried."""
        if not self.tested:
            return evidence_levels.NOT_TESTED
        # One search that reaches the aim is enough for a yes; a no needs all of them to miss it.
        p_yes = conjunction([answer.p_yes for answer in self.tested], 1)
        p_no = conjunction([answer.p_no for answer in self.tested], len(self.tested))
        verdict = Verdict.UNDECIDED
        if p_yes <= ALPHA:
            verdict = Verdict.YES
        elif p_no <= ALPHA:
            verdict = Verdict.NO
        return evidence_levels.display_label(verdict.decision, evidence_levels.OUR_QUESTION)

    @property
    def note(self) -> str:
        """How many searches reach the aim on their own, and which saves most."""
        if self.table.empty:
            return (
                f"A beam of width 5 needs about 30,000 forward passes for a text of {LONG} words, so this "
                "build leaves such texts out."
            )
        reached = self.table[self.table["reached"] == _REACHED[evidence_levels.REPRODUCED]]
        text = (
            f"On their own, {len(reached)} of {len(self.table)} lines of the table reach it, and "
            f"{len(self.table) - len(self.tested)} have too few texts for an answer."
        )
        if reached.empty:
            return text
        best = reached.sort_values("times fewer").iloc[-1]
        return (
            f"{text} {best.search} saves most ({label(best.classifier)}, {best.words} words, n = {best.n}): "
            f"{best['times fewer']:.0f} times fewer forward passes, bounds {best['short of']:.4f} short of the "
            "published ones."
        )


def aim(table: pd.DataFrame, mean: MeanOf, signed: MeanOf, worded: Callable[[str], str]) -> Aim:
    """The pruned searches next to the published one on long texts; `worded`: how a page writes an answer."""
    rows, answers = [], []
    candidates = table[(table["words"] >= LONG) & table["kind"].isin(PRUNED)]
    for row in candidates.itertuples():
        fewer = mean(row.classifier, row.words, row.search, "fewer").ours
        short = signed(row.classifier, row.words, row.search, "short").ours
        # A resample may have none of the few texts of a cell: what it adds to the spread is undefined.
        with np.errstate(invalid="ignore"):
            answer = direction(Student.of([fewer - TIMES, -short + CLOSE]))
        answers.append(answer)
        entry = {"classifier": row.classifier, "words": row.words, "search": row.search, "n": short.n}
        entry |= _ends(fewer, "times fewer", "fewer low", "fewer high")
        entry |= _ends(short, "short of", "short low", "short high")
        decision = answer.verdict.decision
        rows.append(entry | {"reached": worded(_REACHED.get(decision, decision))})
    return Aim(pd.DataFrame(rows), answers)
