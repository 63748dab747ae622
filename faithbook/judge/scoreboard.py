"""How everything fared that gets a verdict: what reports save, and the board of all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from faithbook.engine.studies import confirmations, entry_of
from faithbook.judge import analysis_plan, wording
from faithbook.judge.published import claims, column, our_table
from faithbook.show.tables import of_size, rounded
from faithbook.stats.evidence_levels import MIXED, NOTHING, REPRODUCED, SUBSTITUTE, UNDECIDED, display_label
from faithbook.stats.inference import holm
from faithlib.errors import DataError

RULE, MORE_INPUTS, UNOBTAINABLE = "rule", "n", "unobtainable"
WAITS = {
    RULE: "more inputs would not decide it",
    MORE_INPUTS: "more inputs would decide it",
    UNOBTAINABLE: "it needs what we do not have",
    "": "",
}
"""What would decide an undecided or untested claim, in words."""
CAUSES = {
    RULE: "another rule (more inputs do not decide it)",
    MORE_INPUTS: "more inputs",
    UNOBTAINABLE: "more inputs or languages than there are",
}
"""Why a finding is undecided, in `data/undecided.csv`, and what would decide it."""

_TEXTS = ("decision", "reason", "page", "evidence", "part", "depends_on", "waits_for", "own_repeat", "same_as")
_COUNTS = ("n", "passed", "parts", "needed", "contradicted", "agreeing", "specifications", "unrelated", "confirm")
_NUMBERS = ("effect", "low", "high", "published", "detectable", "p")


FIELDS = (
    *("decision", "page", "reason", "evidence", "n", "passed", "parts", "part", "effect", "low", "high", "published"),
    *("detectable", "needed", "contradicted", "own_repeat", "depends_on", "agreeing", "specifications", "waits_for"),
    *("same_as", "p", "unrelated", "confirm"),
)
"""Columns of the board beside id, paper and kind: how an id of the published tables, figures or claims or of our
questions fared.

- `decision`: one of `evidence_levels.DECISIONS`; `reason`: why, where the rule says more; `evidence`: what it rests on;
- `n`: independent inputs in the smallest set; `passed` of `parts`: contrasts that hold on their own;
- `part`: the contrast that decides, its `effect` with the 95 % interval (`low`, `high`) and what is `published` for it;
  `detectable`: the smallest effect that this run would have found there, `needed`: inputs that would decide it;
- `contradicted`: contrasts of which the paper's own numbers, as they are, say the opposite;
- `own_repeat`: whether the paper's own repeat agrees by the same rule on points, where it prints one;
- `depends_on`: choices that alone change the answer, with the options that do; `agreeing` of `specifications` have the
  answer of the book's own;
- `waits_for`: what an undecided or untested claim waits for, by cause (`CAUSES`);
- `same_as`: the id whose fact it repeats; `p`: the one-sided p-value of yes, where the rule has one;
- `unrelated`: models that share no encoder: an encoder and its first six layers are one;
- `confirm`: inputs of a confirmatory sample, with a power of .9 at three quarters of the effect.
"""


def to_judge() -> pd.DataFrame:
    """Everything that gets a verdict, in the order of the scoreboard: id, paper, kind."""
    return claims()[["id", "paper", "kind"]]


def board(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Every table, figure and claim of the four papers and every question of our own with its verdict: id, paper, kind,
    and `FIELDS`.

    Raises DataError where one lacks a verdict, or an id is unknown or judged twice.
    """
    known = to_judge()
    stray = sorted(set(verdicts.id) - set(known.id))
    if stray:
        raise DataError(f"verdicts on unknown ids: {', '.join(stray)}")
    twice = sorted(verdicts.id[verdicts.id.duplicated()])
    if twice:
        raise DataError(f"more than one verdict on: {', '.join(twice)}")
    missing = sorted(set(known.id) - set(verdicts.id))
    if missing:
        raise DataError(f"no verdict on: {', '.join(missing)}")
    board = known.merge(filled(verdicts), on="id", how="left")
    return board[["id", "paper", "kind", *FIELDS]]


def filled(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts with all of `FIELDS`, their defaults where a report left one out."""
    defaults = dict.fromkeys(_TEXTS, "") | {"evidence": SUBSTITUTE}
    frame = verdicts.reindex(columns=["id", *FIELDS]).astype(dict.fromkeys(defaults, object)).fillna(defaults)
    return frame.astype(dict.fromkeys(_COUNTS, "Int64") | dict.fromkeys(_NUMBERS, "float64"))


def distinct(board: pd.DataFrame) -> pd.DataFrame:
    """The rows of a board that are facts of their own: what says `same_as` of a row that is there is left out.

    >>> rows = pd.DataFrame({"id": ["a", "b"], "same_as": ["", "a"]})
    >>> distinct(rows)["id"].tolist()
    ['a']
    """
    return board[~board["same_as"].isin(set(board["id"]))]


def starred(board: pd.DataFrame) -> pd.Series:
    """Which findings survive Holm's correction, [rows of the board]: over the reproduced claims of a paper whose rule
    has a p-value, without repeats, tables and figures, at .025 one-sided."""
    counted = (board["kind"] == "claim") & (board["decision"] == REPRODUCED) & board["p"].notna()
    # A fact that several ids state would count as several tests.
    counted &= ~board["same_as"].isin(set(board["id"]))
    stars = pd.Series(False, index=board.index)
    for _, rows in board[counted].groupby("paper", sort=False):
        stars.loc[rows.index] = holm(np.asarray(rows["p"], dtype=float))
    return stars


# ------------------------------------------------------------------------------------------------- on unseen inputs
CONFIRMED = "confirmatory_verdicts"
"""The table in `data/` of verdicts on inputs that nothing had measured before the rules were frozen
(`faithbook.judge.unseen`)."""


def confirmed() -> pd.DataFrame:
    """The verdicts on unseen inputs, [headline claims, then further findings], by id, with the columns of the board as
    text; none before there are values."""
    rows = our_table(CONFIRMED).set_index("id", drop=False)
    # The table names headline claims without values too, so that none is left out without a word.
    return rows[rows["lacks"] == ""]


def on_unseen_inputs(name: str, verdicts: pd.DataFrame | None = None) -> str:
    """The decision on unseen inputs of an id with n, for a cell of a table, and that of both samples where they leave
    it undecided; "" where there is none. `verdicts`: those of `confirmed()`, for who asks often.

    >>> row = {"id": "a", "decision": "mixed", "evidence": "our own question", "n": "64"}
    >>> on_unseen_inputs("a", pd.DataFrame([row]).set_index("id", drop=False))
    'mixed (n = 64)'
    """
    rows = confirmed() if verdicts is None else verdicts
    if name not in rows.index:
        return ""
    row = _as_text(rows.loc[name])
    return _decided_unseen(row, _decided_of_both(row))


def _decided_unseen(row: Mapping[str, str], remark: str = "") -> str:
    """The decision of unseen inputs with n, and after it a remark."""
    facts = "; ".join(filter(None, [_n_of(row["n"]), remark]))
    return f"{display_label(row['decision'], row['evidence'])} ({facts})"


def _decided_of_both(row: Mapping[str, str]) -> str:
    """The decision of unseen and seen inputs together, where the unseen ones leave it undecided with the sign of the
    others."""
    if not row.get("pooled"):
        return ""
    return f"both samples: {display_label(row['pooled'], row['evidence'])}, {_n_of(row['pooled_n'])}"


def is_headline(name: str) -> bool:
    """Whether an id is a headline claim."""
    return column("headline").get(name, "") == "yes"


def is_planned(name: str) -> bool:
    """Whether a number of unseen inputs was planned for an id: for headline claims, and later for further findings."""
    return name in set(our_table("confirmatory_sizes")["id"])


def unseen_in_short(name: str, word: str, verdicts: pd.DataFrame | None = None) -> str:
    """The decision on unseen inputs of an id in one sentence, beside the verdict on those before, in a `word`; "" where
    there is none.

    >>> row = {"id": "a", "decision": "mixed", "evidence": "our own question", "n": "64"}
    >>> rows = pd.DataFrame([row]).set_index("id")
    >>> unseen_in_short("a", "mixed", rows), unseen_in_short("a", "undecided", rows)
    ('The same on unseen inputs (n = 64).', 'On unseen inputs: mixed (n = 64).')
    """
    rows = confirmed() if verdicts is None else verdicts
    said = on_unseen_inputs(name, rows)
    if not said:
        return ""
    same = f"{word} ({_n_of(_as_text(rows.loc[name])['n'])})"
    return f"The same on unseen inputs{said.removeprefix(word)}." if said == same else f"On unseen inputs: {said}."


def unseen_in_sentences(
    name: str, verdicts: pd.DataFrame | None = None, *, sizes: Mapping[str, int] | None = None
) -> str:
    """The verdict on unseen inputs of an id in sentences for the note under a claim; "" where there is none. `sizes`:
    how many comparisons there are of each statement of a sentence that makes several.

    >>> row = {"id": "a", "decision": "mixed", "evidence": "our own question", "n": "64", "passed": "1", "parts": "2"}
    >>> row |= {"part": "b minus c", "effect": ".25", "low": ".2", "high": ".3", "before": "undecided"}
    >>> unseen_in_sentences("a", pd.DataFrame([row]).set_index("id", drop=False))
    'On unseen inputs, after the rules were frozen: mixed (n = 64). {doc}`n was chosen for the main claims \
<../how-verdicts-are-made>`, not for this one. 1 of 2 comparisons holds. The one that decides: b minus c, \
0.250 [0.200, 0.300]. On the inputs of the main run, with the one model that was measured on unseen inputs: undecided.'
    """
    rows = confirmed() if verdicts is None else verdicts
    if name not in rows.index:
        return ""
    row = _as_text(rows.loc[name])
    said = [f"On unseen inputs, after the rules were frozen: {_decided_unseen(row)}."]
    if not is_planned(name):
        said.append("{doc}`n was chosen for the main claims <../how-verdicts-are-made>`, not for this one.")
    said += filter(None, [_counted_unseen(name, row, sizes or {})])
    of_statements = _statements_unseen(name, row)
    if of_statements:
        said.append(of_statements)
    elif decides := what_decides_unseen(name, rows):
        rule = analysis_plan.plan().get(name)
        which = "The lowest" if rule and rule.rule == "each" else "The one that decides"
        said.append(f"{which}: {decides}.")
    if row["before"]:
        models = "one model that was" if _models_on_reserve(name) == 1 else "models that were"
        before = display_label(row["before"], row["evidence"])
        said.append(f"On the inputs of the main run, with the {models} measured on unseen inputs: {before}.")
    if both := _decided_of_both(row):
        value = _value_of_both(name, row)
        told = value if of_statements else f"The same comparison: {value}"
        said += filter(None, [f"On {both}.", f"{told}." if value else "", "This is no independent evidence."])
    return " ".join(said)


def _models_on_reserve(name: str) -> int:
    """How many models measured the unseen inputs of a finding.

    >>> _models_on_reserve("saco_c01"), _models_on_reserve("naopc_c06")
    (1, 2)
    """
    planned = confirmations().get(column("paper").get(name, ""))
    measured = entry_of(planned.further.get(name, planned.measured_by)) if planned else None
    if measured is None or measured.reserve is None:
        return 1
    return measured.reserve.number_of_models(later=has_later_runs(name))


def has_later_runs(name: str) -> bool:
    """Whether a finding is judged on unseen inputs with the runs that were planned later (`OnReserve.later`).

    >>> has_later_runs("crosslingual_table8"), has_later_runs("crosslingual_table1")
    (True, False)
    """
    planned = confirmations().get(column("paper").get(name, ""))
    measured = entry_of(planned.further[name]) if planned and name in planned.further else None
    return bool(measured and measured.reserve and measured.reserve.later)


def models_of_unseen_inputs(names: Sequence[str]) -> str:
    """With which models the unseen inputs of findings of one study were measured, in words.

    >>> models_of_unseen_inputs(["xl_c01"])
    'one model, the six-layer encoder, `six`'
    >>> models_of_unseen_inputs(["crosslingual_table1", "crosslingual_table8"])
    'one model, the six-layer encoder, `six`; those of `crosslingual_table8` with two models, the encoders of six and \
of twelve layers, `six` and `e5`'
    """
    plan = confirmations()[column("paper")[names[0]]]
    later = [name for name in names if has_later_runs(name)]
    if not later:
        return plan.models
    if len(later) == len(names):
        return plan.models_later
    return f"{plan.models}; those of {', '.join(f'`{name}`' for name in later)} with {plan.models_later}"


def _counted_unseen(name: str, row: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    """How many comparisons hold on unseen inputs, of those that were tested; "" of one alone, and where a rule decides
    all of them together.

    >>> row = {"passed": "8", "parts": "16", "reason": "direction: undecided; size: nothing to test"}
    >>> _counted_unseen("xl_c02", row, {"direction": 9, "size": 7})
    '8 of 9 comparisons hold; 7 more are not tested.'
    >>> _counted_unseen("crosslingual_table1", {"passed": "1", "parts": "3", "reason": ""}, {})
    ''
    """
    known = analysis_plan.plan().get(name)
    together = known is not None and known.rule in ("order", "trend")
    if row["parts"] in ("", "1") or together:
        return ""
    untested = sum(size for part, size in sizes.items() if f"{part}: {NOTHING}" in row.get("reason", "").split("; "))
    verb = "holds" if row["passed"] == "1" else "hold"
    besides = f"; {untested} more are not tested" if untested else ""
    return f"{row['passed']} of {int(row['parts']) - untested} comparisons {verb}{besides}."


def what_decides_unseen(name: str, verdicts: pd.DataFrame) -> str:
    """The comparison that decides an id on unseen inputs, with its 95 % interval, or what is decided of each statement
    of an undecided sentence; "" where there is none."""
    row = _as_text(verdicts.loc[name])
    if not row["effect"]:
        return ""
    of_statements = _statements_unseen(name, row)
    if of_statements:
        return of_statements.removesuffix(".")
    part = wording.comparison(row["part"])
    known = analysis_plan.plan().get(name)
    by_permutation = known is not None and known.rule in ("order", "trend")
    if part.startswith("mean of ") and by_permutation:
        part = f"Kendall's tau with the printed order, {part} orders"
    # All comparisons are decided together, by one p-value.
    p = f" ({p_in_words(float(row['p']))})" if by_permutation and row["p"] else ""
    return f"{part}, {_with_interval(row['effect'], row['low'], row['high'])}{p}"


def p_in_words(p: float) -> str:
    """A p-value for the brackets behind a number.

    >>> p_in_words(0.0393), p_in_words(0.0002)
    ('p = 0.039', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {rounded(p, 3)}"


def what_decides_with_both(name: str, verdicts: pd.DataFrame) -> str:
    """`what_decides_unseen`, and beside it, marked, the same of both samples where the unseen one leaves it open."""
    alone, both = what_decides_unseen(name, verdicts), _value_of_both(name, _as_text(verdicts.loc[name]))
    return f"{alone}. Both samples: {both}" if both else alone


def _value_of_both(name: str, row: Mapping[str, str]) -> str:
    """The estimate of both samples with its interval, or what is decided of each statement of a sentence; "" where all
    of its statements are decided alike, as the number that is stored of several is of one of them."""
    if not row.get("pooled"):
        return ""
    of_both = {"decision": row["pooled"], "reason": row["pooled_reason"], "evidence": row["evidence"]}
    if of_statements := _statements_unseen(name, of_both):
        return of_statements.removesuffix(".")
    if analysis_plan.rule(name).rule == "whole":
        return ""
    return _with_interval(row["pooled_effect"], row["pooled_low"], row["pooled_high"])


def _statements_unseen(name: str, row: Mapping[str, str]) -> str:
    """What is decided of each statement of a sentence that makes several and is undecided or mixed, in sentences: the
    comparison that is stored of it may be one of a statement that is decided otherwise. "" for any other."""
    reason = row.get("reason", "")
    if row["decision"] not in (UNDECIDED, MIXED) or not reason:
        return ""
    rule = analysis_plan.rule(name)
    if rule.rule != "whole":
        return ""
    return wording.statements_in_sentences(rule, reason, row["evidence"])


def _as_text(row: pd.Series | pd.DataFrame) -> dict[str, str]:
    return {str(column): str(value) for column, value in row.items()}


def _n_of(n: str) -> str:
    return f"n = {float(n):,.0f}" if n else "n not counted"


def _with_interval(value: str, low: str, high: str) -> str:
    ends = f" [{of_size(float(low))}, {of_size(float(high))}]" if low else ""
    return f"{of_size(float(value))}{ends}"


# ----------------------------------------------------------------------------------------------- what would decide it
def undecided_findings(board: pd.DataFrame) -> pd.DataFrame:
    """The findings of a scoreboard that are undecided, each once: how many inputs there are in the smallest set, how
    many would decide it, and why there are not as many. Of what only a small run leaves undecided
    nothing is known.
    """
    rows = distinct(board)
    rows = rows[rows["decision"] == UNDECIDED]
    causes = our_table("undecided").set_index("id").reindex(rows["id"]).fillna("")
    needed = []
    for number, cause in zip(pd.to_numeric(rows["needed"]).fillna(0), causes["cause"], strict=True):
        # What the rule leaves open no number of inputs would decide.
        needed.append(f"{int(number):,}" if number and cause != RULE else "–")
    return pd.DataFrame(
        {
            "finding": rows["id"].to_numpy(),
            "n": rows["n"].to_numpy(),
            "needed": needed,
            "what would decide it": [CAUSES.get(cause, "not known") for cause in causes["cause"]],
            "why not": causes["why"].to_numpy(),
        }
    )
