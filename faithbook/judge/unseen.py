"""Verdicts on inputs that nothing had measured before the rules were frozen: the claims' own pages, on other values.

    python -m faithbook.judge.unseen        # judges data/reference/confirmatory; writes data/confirmatory_verdicts.csv

Of a page run the statements that its claims rest on (`freeze.measured_in`), which the freeze covers, at the profile
`confirm`: there a page shows the confirmatory values alone (`scores.Scores.read`). Other measures of the same pages
(variants, replays) have no confirmatory values; a statement that asks for them is left out, and so is a claim that
rests on one. The table has a row for each headline claim of studies 1 to 3, whether it could be judged or not.
"""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from faithbook.engine.plan import MANIFEST
from faithbook.judge import freeze, published
from faithbook.judge.published import our_table
from faithbook.judge.report import Page
from faithbook.judge.scoreboard import CONFIRMED, FIELDS, filled
from faithbook.judge.scores import CONFIRM, INPUTS, POOLED, SEEN, UNSEEN
from faithbook.paths import confirmatory_dir, root
from faithbook.stats.grounds import NOT_TESTED, UNDECIDED
from faithlib.errors import DataError

_POOLED = ("pooled", "pooled_n", "pooled_effect", "pooled_low", "pooled_high")
COLUMNS = ("id", *FIELDS, "before", *_POOLED, "lacks", "freeze")
"""Columns of the file: those of the scoreboard; `before`: the decision on the exploratory inputs of the same data sets,
models and seeds, so that inputs alone differ; `pooled` and its n, effect and interval: the decision on these and the
unseen inputs together, where the unseen ones alone leave it undecided with an effect of the same sign; `lacks`: why a
claim could not be judged; `freeze`: the digest of what was frozen when its values were measured."""


NOTEBOOKS = {
    "zhao_aletras_2023": "soft_metrics",
    "wu_2024": "saco_metrics",
    "zaman_belinkov_2022": "crosslingual_metrics",
}
"""By paper the computation that measures its headline claims on the reserve."""
SETS = {
    "zhao_aletras_2023": ("sst", "ag", "section", "pair"),
    "wu_2024": ("cifar10", "cifar100"),
    "zaman_belinkov_2022": ("nli",),
}
"""By paper the data sets of that computation, under the names that its notebook has for them."""


def still_to_measure(paper: str, runs: Sequence[Mapping[str, Any]]) -> str:
    """What of a paper's confirmatory run is not committed yet, in words; "" where it is whole. Judged is once, so that
    nobody looks at a verdict and then measures on."""
    notebook = NOTEBOOKS[paper]
    points: dict[str, set[int]] = {}
    parts = 1
    for run in runs:
        if run["notebook"] == notebook:
            parts = int(run["parameters"].get("parts", 1))
            points.setdefault(run["parameters"]["dataset"], set()).add(int(run["parameters"].get("part", 1)))
    planned = SETS[paper]
    done = sum(len(points.get(dataset, ())) for dataset in planned)
    if not points:
        return f"{notebook} is not measured on the reserve"
    return "" if done == parts * len(planned) else f"{done} of {parts * len(planned)} parts of {notebook} are measured"


def headlines() -> dict[str, list[str]]:
    """By page, the headline claims that are confirmed on the reserve."""
    claims = our_table("claims").query("headline == 'yes'")
    claims = claims[claims["paper"].isin(list(freeze.RESERVED_FOR))]
    return {str(page): list(rows["id"]) for page, rows in claims.groupby("page", sort=False)}


def verdicts() -> pd.DataFrame:
    """The verdicts on the confirmatory values, one row per headline claim."""
    manifest = json.loads((confirmatory_dir() / MANIFEST).read_text(encoding="utf-8"))
    digests = {run["freeze"] for run in manifest["runs"]}
    if len(digests) != 1:
        raise DataError(f"{confirmatory_dir()} has runs after {len(digests)} freezes: expected one")
    paper_of = published.column("paper")
    rows = []
    for page, names in headlines().items():
        lacks = still_to_measure(paper_of[names[0]], manifest["runs"])
        entries, lacks = ({}, lacks) if lacks else judged_on(page)
        before = judged_on(page, SEEN)[0] if set(names) & set(entries) else {}
        open_ones = [name for name in names if _stays_open(entries.get(name, {}), before.get(name, {}))]
        together = judged_on(page, POOLED)[0] if open_ones else {}
        for name in names:
            row = dict(entries.get(name, {"id": name, "decision": NOT_TESTED, "lacks": lacks}))
            row["before"] = before.get(name, {}).get("decision", "")
            if name in open_ones:
                pooled = together[name]
                row["pooled"] = pooled["decision"]
                row |= {f"pooled_{field}": pooled.get(field) for field in ("n", "effect", "low", "high")}
            rows.append(row)
    more = ["before", *_POOLED, "lacks"]
    frame = pd.DataFrame(rows).reindex(columns=["id", *FIELDS, *more])
    texts = frame[more].astype(object)
    board = filled(frame.drop(columns=more)).assign(freeze=digests.pop())
    board[more] = texts.where(texts.notna(), "").to_numpy()
    return board[list(COLUMNS)]


def _stays_open(unseen: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
    """Whether unseen inputs leave a claim undecided, with an effect of the sign that the seen ones have."""
    if unseen.get("decision") != UNDECIDED:
        return False
    now, before = unseen.get("effect"), seen.get("effect")
    return now is not None and before is not None and bool(now * before > 0)


def judged_on(page: str, inputs: str = UNSEEN) -> tuple[dict[str, dict[str, Any]], str]:
    """The verdicts that a page draws from the confirmatory values, by id, and what it lacks for others; with `inputs`
    SEEN from the exploratory values of the same models, with POOLED from both together.

    A statement that fails for want of values is left out, with all that rest on it; why is told where a headline claim
    has no verdict therefore, so that no failure is silent.
    """
    names: dict[str, Any] = {"__name__": "__main__", "profile": CONFIRM}
    lacks = []
    token = INPUTS.set(inputs)
    for statement in freeze.measured_in(page):
        if _sets_profile(statement):
            continue
        try:
            exec(compile(ast.Module([statement], []), f"{page}, line {statement.lineno}", "exec"), names)
        except Exception as error:
            lacks.append(f"line {statement.lineno}: {type(error).__name__}: {error}")
    INPUTS.reset(token)
    shown = names.get("page")
    entries = shown.entries if isinstance(shown, Page) else {}
    if isinstance(shown, Page):
        shutil.rmtree(shown.run.folder, ignore_errors=True)
    return dict(entries), "; ".join(lacks[:1])


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
