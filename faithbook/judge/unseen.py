"""Verdicts on inputs that nothing had measured before the rules were frozen: the claims' own pages, on other values.

    python -m faithbook.judge.unseen        # judges data/reference/confirmatory; writes data/confirmatory_verdicts.csv

Of a page run the statements that its claims rest on (`freeze.measured_in`), which the freeze covers, at the profile
`confirm`: there a page shows the confirmatory values alone (`scores.Scores.read`). Other measures of the same pages
(variants, replays) have no confirmatory values; a statement that asks for them is left out, and so is a claim that
rests on one. The table has a row for each headline claim of studies 1 to 3, whether it could be judged or not; then one
for each further finding of these studies that the same values decide or leave open by its whole rule (`further`). Sizes
were planned for the headline claims, and later for further findings (`freeze.further_findings`). Runs that were planned
when headline claims had been judged (`OnReserve.later`) count for the findings alone that they were planned for.
"""

from __future__ import annotations

import ast
import contextlib
import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from faithbook.engine.pages import BOARD
from faithbook.engine.plan import MANIFEST, share_of
from faithbook.engine.studies import confirmations
from faithbook.judge import freeze, published
from faithbook.judge.published import our_table
from faithbook.judge.report import Page
from faithbook.judge.scoreboard import CONFIRMED, FIELDS, filled, has_later_runs
from faithbook.judge.scores import CONFIRM, INPUTS, POOLED, SEEN, UNSEEN, WITH_LATER
from faithbook.paths import confirmatory_dir, reference_dir, root
from faithbook.stats.evidence_levels import NOT_TESTED, NOTHING, UNDECIDED
from faithlib.errors import DataError

_POOLED = ("pooled", "pooled_reason", "pooled_n", "pooled_effect", "pooled_low", "pooled_high")
COLUMNS = ("id", *FIELDS, "before", *_POOLED, "lacks", "freeze")
"""Columns of the file: those of the scoreboard; `before`: the decision on the exploratory inputs of the same data sets,
models and seeds, so that inputs alone differ; `pooled` and its reason, n, effect and interval: the decision on these
and the unseen inputs together, where the unseen ones alone leave it undecided with an effect of the same sign;
`lacks`: why a claim could not be judged; `freeze`: the digest of what was frozen when its values were measured."""


def still_to_measure(notebook: str, runs: Sequence[Mapping[str, Any]], *, later: bool = False) -> str:
    """What of a computation's confirmatory run is not committed yet, in words; "" where it is whole. Judged is once, so
    that nobody looks at a verdict and then measures on. `later`: also of the runs that were planned later."""
    planned = freeze.measures_reserve(notebook)
    measured = [run["parameters"] for run in runs if run["notebook"] == notebook]
    if not later:
        measured = [parameters for parameters in measured if not planned.is_later(parameters)]
    if not measured:
        return f"{notebook} is not measured on the reserve"
    parts = share_of(measured[0])[1] * len(planned.datasets) * planned.number_of_models(later=later)
    return "" if len(measured) == parts else f"{len(measured)} of {parts} parts of {notebook} are measured"


def headlines() -> dict[str, list[str]]:
    """The headline claims that are confirmed on the reserve, by page."""
    claims = our_table("claims").query("headline == 'yes'")
    of_papers = claims["paper"].isin(freeze.papers_with_reserve())
    claims = claims[of_papers | claims["id"].isin(list(freeze.further_findings()))]
    return {str(page): list(rows["id"]) for page, rows in claims.groupby("page", sort=False)}


def further() -> dict[str, dict[str, int]]:
    """The other findings, by page, of these studies that have a verdict of their own on the exploratory values, each
    with the number of comparisons of that verdict. Where the paper's own repeats disagree there is nothing to test on
    any inputs, and what repeats another finding is judged with it.
    """
    board = pd.read_csv(reference_dir() / BOARD, dtype=str, keep_default_na=False)
    judged = board[(board["same_as"] == "") & (board["parts"] != "") & ~board["decision"].isin([NOT_TESTED, NOTHING])]
    parts = dict(zip(judged["id"], judged["parts"].astype(int), strict=True))
    claims = our_table("claims")
    others = claims[claims["paper"].isin(freeze.papers_with_reserve()) & (claims["headline"] != "yes")]
    others = others[others["id"].isin(list(parts))]
    return {str(page): {name: parts[name] for name in rows["id"]} for page, rows in others.groupby("page", sort=False)}


def by_its_whole_rule(entry: Mapping[str, Any], parts: int) -> bool:
    """Whether a verdict on unseen inputs is of all comparisons that the exploratory one is of. A claim of which they
    reach a part alone is not judged: what is missing would look like a failure.

    >>> by_its_whole_rule({"decision": "undecided", "parts": 4}, 4)
    True
    >>> by_its_whole_rule({"decision": "not reproduced", "parts": 2}, 4)
    False
    """
    return entry.get("decision") not in (None, NOT_TESTED, NOTHING) and entry.get("parts") == parts


def verdicts() -> pd.DataFrame:
    """The verdicts on the confirmatory values: one row per headline claim, then one per further finding that they reach
    whole."""
    manifest = json.loads((confirmatory_dir() / MANIFEST).read_text(encoding="utf-8"))
    digests = {run["freeze"] for run in manifest["runs"]}
    if len(digests) != 1:
        raise DataError(f"{confirmatory_dir()} has runs after {len(digests)} freezes: expected one")
    planned, others = headlines(), further()
    with_later = {name for name in freeze.further_findings() if has_later_runs(name)}
    rows: list[dict[str, Any]] = []
    more_rows: list[dict[str, Any]] = []
    for page in dict.fromkeys([*planned, *others]):
        names, further_ones = planned.get(page, []), others.get(page, {})
        first = {name: parts for name, parts in further_ones.items() if name not in with_later}
        last = {name: parts for name, parts in further_ones.items() if name in with_later}
        of_page = _rows_of(page, [*names], first, manifest["runs"], later=False) if names or first else []
        rows += of_page[: len(names)]
        more_rows += of_page[len(names) :]
        if last:
            more_rows += _rows_of(page, [], last, manifest["runs"], later=True)
    more = ["before", *_POOLED, "lacks"]
    frame = pd.DataFrame([*rows, *more_rows]).reindex(columns=["id", *FIELDS, *more])
    texts = frame[more].astype(object)
    board = filled(frame.drop(columns=more)).assign(freeze=digests.pop())
    board[more] = texts.where(texts.notna(), "").to_numpy()
    return board[list(COLUMNS)]


def _rows_of(
    page: str, names: list[str], others: Mapping[str, int], runs: Sequence[Mapping[str, Any]], *, later: bool
) -> list[dict[str, Any]]:
    """The rows of a page: one per name, then one per other finding (each with the number of its comparisons) that the
    values reach whole. `later`: with the runs that were planned later."""
    planned_later = freeze.further_findings()
    paper = published.column("paper")[[*names, *others][0]]
    notebook = confirmations()[paper].measured_by
    lacks = still_to_measure(notebook, runs, later=later)
    entries, lacks = ({}, lacks) if lacks else judged_on(page, later=later)
    reached = [
        name
        for name, parts in others.items()
        if by_its_whole_rule(entries.get(name, {}), parts)
        and not still_to_measure(planned_later.get(name, notebook), runs, later=later)
    ]
    # A page is judged again, which takes a while, only where its verdicts are to be compared.
    before = judged_on(page, SEEN, later=later)[0] if {*names, *reached} & set(entries) else {}
    open_ones = [name for name in (*names, *reached) if _stays_open(entries.get(name, {}), before.get(name, {}))]
    together = judged_on(page, POOLED, later=later)[0] if open_ones else {}
    rows = []
    for name in (*names, *reached):
        row = dict(entries.get(name, {"id": name, "decision": NOT_TESTED, "lacks": lacks}))
        row["before"] = before.get(name, {}).get("decision", "")
        if name in open_ones:
            pooled = together[name]
            row["pooled"] = pooled["decision"]
            row |= {f"pooled_{field}": pooled.get(field) for field in ("reason", "n", "effect", "low", "high")}
        rows.append(row)
    return rows


def _stays_open(unseen: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
    """Whether unseen inputs leave a claim undecided, with an effect of the sign that the seen ones have."""
    if unseen.get("decision") != UNDECIDED:
        return False
    now, before = unseen.get("effect"), seen.get("effect")
    return now is not None and before is not None and bool(now * before > 0)


def judged_on(page: str, inputs: str = UNSEEN, *, later: bool = False) -> tuple[dict[str, dict[str, Any]], str]:
    """The verdicts that a page draws from the confirmatory values, by id, and what it lacks for others; with `inputs`
    SEEN from the exploratory values of the same models, with POOLED from both together; `later`: with the runs that
    were planned later.

    A statement that fails for want of values is left out, with all that rest on it; why is told where a headline claim
    has no verdict therefore, so that no failure is silent. Of a dictionary of claims those that lack values are left
    out.
    """
    names: dict[str, Any] = {"__name__": "__main__", "profile": CONFIRM}
    lacks = []
    token, token_of_later = INPUTS.set(inputs), WITH_LATER.set(later)
    for statement in freeze.measured_in(page):
        if _sets_profile(statement):
            continue
        try:
            exec(compile(ast.Module([statement], []), f"{page}, line {statement.lineno}", "exec"), names)
        except Exception as error:  # whatever a page raises for want of values; it is told, and nothing rests on it
            lacks.append(f"line {statement.lineno}: {type(error).__name__}: {error}")
            _claim_by_claim(statement, names)
    INPUTS.reset(token)
    WITH_LATER.reset(token_of_later)
    shown = names.get("page")
    entries = shown.entries if isinstance(shown, Page) else {}
    if isinstance(shown, Page):
        shutil.rmtree(shown.run.folder, ignore_errors=True)
    return dict(entries), "; ".join(lacks[:1])


def _claim_by_claim(statement: ast.stmt, names: dict[str, Any]) -> None:
    """Make those claims that can be made of a statement that names several, `claims = {"id": its comparisons, ...}`.

    By the id alone: of the comparisons of one claim none may be left out."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Dict):
        return
    known = published.column("claim")
    keys = [str(key.value) if isinstance(key, ast.Constant) else "" for key in statement.value.keys]
    if not isinstance(statement.targets[0], ast.Name) or not set(keys) <= set(known):
        return
    made = {}
    for name, claim in zip(keys, statement.value.values, strict=True):
        with contextlib.suppress(Exception):
            made[name] = eval(compile(ast.Expression(claim), f"claim {name}", "eval"), names)
    names[statement.targets[0].id] = made


def _sets_profile(statement: ast.stmt) -> bool:
    """Whether it is the page's parameter, whose value is given here."""
    if not isinstance(statement, ast.Assign):
        return False
    return any(isinstance(target, ast.Name) and target.id == "profile" for target in statement.targets)


def main() -> None:
    """Write the verdicts."""
    found = verdicts()
    found.to_csv(root() / "data" / f"{CONFIRMED}.csv", index=False, lineterminator="\n")
    print(found[["id", "decision", "n", "passed", "parts", "effect", "low", "high", "lacks"]].to_string(index=False))


if __name__ == "__main__":
    main()
