"""What is frozen before the confirmatory run: one digest of plan, claims and reserve, and of the code that judges.

    python -m faithbook.judge.freeze                        # says what differs from data/frozen.json
    python -m faithbook.judge.freeze --write                # freezes: from now on nothing changes without a row
    python -m faithbook.judge.freeze --record "names only"  # writes that row for what has changed since
    python -m faithbook.judge.freeze --plan                 # writes the sizes of findings that are planned later

Code counts by its syntax tree: comments, docstrings, layout and the file that a function lies in do not, nor do
imports, so that moving a file changes nothing. Of statistics and rules it is every function; of a claim's measure it is
what its page says between the values of single inputs and `page.test(...)`, and every function of the studies that this
calls. The digest travels with each run on the reserve (`faithbook.judge.confirmed`). A change after the freeze has a
row in `data/rule_history.csv` with the digest that it leads to (column `frozen`); a test holds that. A row with the id
`names` is for code that judges the same: under other names, or with a place for what is empty when a verdict is made
(its reason tells what changed and how that was checked). Runs before and after it are of one freeze.
"""

from __future__ import annotations

import argparse
import ast
import copy
import datetime
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

import jupytext
import pandas as pd

from faithbook.engine.pages import BOARD
from faithbook.engine.plan import find_notebook
from faithbook.engine.studies import confirmations, entry_of, settings_of
from faithbook.engine.study import CONFIRM, OnReserve, value_at
from faithbook.judge.published import our_table
from faithbook.paths import reference_dir, root
from faithbook.text import some
from faithlib.errors import DataError, InputError

NAMES_ONLY = "names"
"""The id of a row of the history of code that judges the same."""
FROZEN, SIZES, HISTORY = "data/frozen.json", "data/confirmatory_sizes.csv", "data/rule_history.csv"
FILES: Mapping[str, tuple[str, ...]] = {
    "analysis_plan": (
        *("id", "rule", "k", "threshold", "margin", "low", "high", "test"),
        *("needs", "fixed_verdict", "unreported", "same_as", "date"),
    ),
    "claims": ("id", "paper", "kind", "claim", "published_value", "headline"),
    "confirmatory_inputs": ("dataset", "split", "total", "reserved", "rows", "digest"),
}
"""The tables in `data/`, and of each the columns that count: no notes, no sentences for readers, no names of pages."""
JUDGING = ("faithbook/stats", "faithbook/judge/decide.py", "faithbook/judge/analysis_plan.py")
"""Of these every function counts."""
APART = ("calibrate.py", "needed.py", "evidence_levels.py")
"""Of the statistics what says something about rules, and nothing about a claim."""
MEASURES = ("faithbook.studies", "faithbook.stats")
"""Packages whose functions a page's measures may call."""
ASKS = ("test", "multiverse", "measure")
"""What a page does with measures: the calls of `page` that a claim goes through."""


def syntax(node: ast.AST) -> str:
    """A syntax tree as text, without docstrings and places."""
    bare = copy.deepcopy(node)
    for inner in ast.walk(bare):
        body = getattr(inner, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]) and not isinstance(inner, ast.Lambda):
            inner.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.dump(bare)


def _is_text(statement: ast.AST) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module gives a value."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return set()
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    # `table[...] = x` and `rows.append(x)` change what a name stands for.
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
    return names


@dataclass(frozen=True)
class Source:
    """The statements of a module or of a notebook's cells, and what its names are imported from: (module, name in it),
    the name "" for a module itself."""

    statements: tuple[ast.stmt, ...]
    imports: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, text: str) -> Source:
        """Of the text of a module."""
        tree = ast.parse(text)
        imports: dict[str, tuple[str, str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    whole = f"{node.module}.{name.name}"
                    target = (whole, "") if _file_of(whole) else (node.module, name.name)
                    imports[name.asname or name.name] = target
        return cls(tuple(tree.body), imports)

    def defining(self, name: str) -> list[ast.stmt]:
        """The statements that give a name its value."""
        return [statement for statement in self.statements if name in bound(statement)]


def _file_of(module: str) -> Path | None:
    path = root() / (module.replace(".", "/") + ".py")
    return path if path.is_file() else None


@functools.cache
def _module(module: str) -> Source | None:
    path = _file_of(module)
    return Source.of(path.read_text(encoding="utf-8")) if path else None


class Reached:
    """What is reached from some statements: the dumps of all statements that they rest on, here and in `MEASURES`."""

    def __init__(self) -> None:
        self.dumps: set[str] = set()
        self.statements: set[int] = set()  # by identity: those that `dumps` says, where they stand
        self._seen: set[tuple[int, str]] = set()

    def follow(self, source: Source, statement: ast.stmt) -> None:
        """Take a statement, and what gives its names their values."""
        self.statements.add(id(statement))
        text = syntax(statement)
        if text in self.dumps:
            return
        self.dumps.add(text)
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                module, name = source.imports.get(node.value.id, ("", "x"))
                if not name:
                    self._of_module(module, node.attr)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._named(source, node.id)

    def _named(self, source: Source, name: str) -> None:
        if (id(source), name) in self._seen:
            return
        self._seen.add((id(source), name))
        for statement in source.defining(name):
            self.follow(source, statement)
        module, there = source.imports.get(name, ("", ""))
        if there:
            self._of_module(module, there)

    def _of_module(self, module: str, name: str) -> None:
        source = _module(module) if module.startswith(MEASURES) else None
        if source is not None:
            self._named(source, name)


def measure_of(text: str) -> set[str]:
    """What a page's claims are measured by, from the text of its cells: the dumps of all that is reached."""
    return _reached(Source.of(text)).dumps


def measured_in(page: str, exhibits: Iterable[str] = ()) -> list[ast.stmt]:
    """The statements of a page that its claims rest on, in their order, with all that it imports; `exhibits`: also
    those that make tables and figures with these names."""
    source = Source.of(_cells(find_notebook(page)))
    reached, names = _reached(source), {*exhibits}
    for statement in source.statements:
        if any(isinstance(node, ast.Constant) and node.value in names for node in ast.walk(statement)):
            reached.follow(source, statement)
    return [
        statement
        for statement in source.statements
        if id(statement) in reached.statements or isinstance(statement, ast.Import | ast.ImportFrom)
    ]


def _reached(source: Source) -> Reached:
    reached, asking = Reached(), _functions_that_ask(source)
    for statement in source.statements:
        if _asks(statement, asking):
            reached.follow(source, statement)
    return reached


def _functions_that_ask(source: Source) -> set[str]:
    """The functions of a page that ask `page` for a measure or a verdict, themselves or by one another."""
    functions = [statement for statement in source.statements if isinstance(statement, ast.FunctionDef)]
    asking: set[str] = set()
    while more := {function.name for function in functions if function.name not in asking and _asks(function, asking)}:
        asking |= more
    return asking


def _asks(statement: ast.stmt, functions: Set[str]) -> bool:
    """Whether a statement asks `page` for a measure or a verdict, or calls one of these functions."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    of_page = [call for call in calls if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)]
    if any(call.attr in ASKS and call.value.id == "page" for call in of_page):  # type: ignore[attr-defined]
        return True
    return any(isinstance(call, ast.Name) and call.id in functions for call in calls)


def _cells(path: Path) -> str:
    cells = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
    return "\n".join(cells)


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()[:16]


def part_digests() -> dict[str, str]:
    """The digests of all that is frozen, by name: the files, every function that judges, every page's measure."""
    home = root()
    found = {name: _digest([our_table(name)[list(columns)].to_csv(index=False)]) for name, columns in FILES.items()}
    paths: list[Path] = []
    for name in JUDGING:
        place = home / name
        paths += sorted(place.glob("*.py")) if place.is_dir() else [place]
    by_name: dict[str, list[str]] = {}
    for path in [path for path in paths if path.name not in APART]:
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            for name in bound(statement):
                by_name.setdefault(f"judging: {name}", []).append(syntax(statement))
    found |= {name: _digest(texts) for name, texts in by_name.items()}
    pages = sorted({row for row in our_table("claims")["page"] if row})
    for page in pages:
        found[f"measures: {page}"] = _digest(measure_of(_cells(find_notebook(page))))
    return found


def digest_of_parts(known: Mapping[str, str]) -> str:
    """The one digest of all parts."""
    return _digest(f"{name} {value}" for name, value in known.items())


def digest() -> str:
    """The digest of what is frozen, as it is now; where only names have changed since the freeze, that of the freeze.
    The reserve is measured after the freeze, and by what was frozen.

    Raises DataError where nothing is frozen yet, or where something has changed since without a row in the history.
    """
    known = frozen()
    if not known:
        raise DataError(f"nothing is frozen yet ({FROZEN} is missing): python -m faithbook.judge.freeze --write")
    if different := changed():
        raise DataError(f"changed since the freeze without a row in data/rule_history.csv: {some(different)}")
    now = digest_of_parts(part_digests())
    return str(known["digest"]) if now in _same_by_name() else now


def _same_by_name() -> set[str]:
    """The digests of the freeze and of what follows it in the history as long as nothing but names has changed."""
    history = our_table("rule_history")
    after = history[history["frozen"] != ""]
    renamed = after["id"].eq(NAMES_ONLY).cummin()
    return {str(frozen()["digest"]), *after.loc[renamed, "frozen"]}


def frozen() -> dict[str, object]:
    """What was frozen, and when, and the parts of the last change that the history accounts for (`recorded`); empty
    before the freeze."""
    path = root() / FROZEN
    known: dict[str, object] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return known


def changed() -> list[str]:
    """The parts that differ from what was frozen and are not accounted for in the history of rules; none before the
    freeze."""
    known = frozen()
    if not known:
        return []
    now = part_digests()
    history = our_table("rule_history")
    if digest_of_parts(now) in {known["digest"], *history["frozen"]}:
        return []
    # Since the last change that the history accounts for, where its parts are on record.
    last: Mapping[str, object] = known.get("recorded", known)  # type: ignore[assignment]
    before: Mapping[str, str] = last["parts"]  # type: ignore[assignment]
    return sorted(name for name in {*now, *before} if now.get(name) != before.get(name))


# ------------------------------------------------------------------------------------------------- what is confirmed
def papers_with_reserve() -> list[str]:
    """The papers whose headline claims are confirmed on the reserve."""
    return [paper for paper, plan in confirmations().items() if plan.reserves]


def further_findings() -> dict[str, str]:
    """The findings that were planned after the headline claims, each with the computation that measures it."""
    return {name: notebook for plan in confirmations().values() for name, notebook in plan.further.items()}


def measures_reserve(notebook: str) -> OnReserve:
    """How a computation measures the reserve; InputError for one whose study does not say it."""
    entry = entry_of(notebook)
    if entry is None or entry.reserve is None:
        raise InputError(f"{notebook} measures no reserve: say how in its study's study.py, reserve=OnReserve(...)")
    return entry.reserve


def planned_sizes() -> pd.DataFrame:
    """How many inputs of a data set a finding is confirmed on, one row each: headline claims, then the findings that
    were planned later (`further_findings`).

    `needed`: for a power of .9 at three quarters of the exploratory effect, at least 60 (`needed.inputs_to_confirm`;
    empty for a claim that is mixed or undecided, which has no one effect, and for an order, whose rule has none);
    `reserved`: the smallest reserve of the data sets that its page reads; `planned`: what the computation `measured_by`
    measures at the profile `confirm`, 0 where it measures none of its data sets; `planned_on`: today.
    """
    reserve = our_table("confirmatory_inputs").set_index("dataset")["reserved"].astype(int)
    board = pd.read_csv(reference_dir() / BOARD, dtype=str, keep_default_na=False).set_index("id")
    claims = our_table("claims").set_index("id")
    headlines = claims[(claims["headline"] == "yes") & claims["paper"].isin(papers_with_reserve())].index
    plans = confirmations()
    rows = []
    for name in (*headlines, *further_findings()):
        plan = plans[str(claims.loc[name, "paper"])]
        notebook = plan.further.get(name, plan.measured_by)
        datasets = plan.on_others.get(name, plan.reserves)
        row = {"id": name, "exploratory": board.loc[name, "decision"], "n": board.loc[name, "n"]}
        row |= {"needed": board.loc[name, "confirm"], "reserved": int(reserve[list(datasets)].min())}
        setting = settings_of(notebook, CONFIRM.name)[measures_reserve(notebook).count]
        inputs = value_at(setting, {"dataset": datasets[0]})
        planned = inputs["inputs"] if isinstance(inputs, Mapping) else inputs
        row |= {"planned": planned, "measured_by": notebook}
        rows.append(row | {"planned_on": datetime.date.today().isoformat()})
    return pd.DataFrame(rows)


def plan_further() -> None:
    """Write the sizes of the findings that have none yet. What was planned before stays as it was written."""
    planned = our_table("confirmatory_sizes")
    new = planned_sizes()
    whole = pd.concat([planned, new[~new["id"].isin(planned["id"])]], ignore_index=True)
    whole.to_csv(root() / SIZES, index=False, lineterminator="\n")


def record(reason: str, name: str = NAMES_ONLY) -> None:
    """Write a row of the history that accounts for all that has changed since the freeze.

    `name`: the id whose rule or measure has changed; by default nothing has but names. InputError without a reason;
    DataError where nothing has changed.
    """
    if not reason.strip():
        raise InputError("a change of what is frozen needs a reason")
    if not changed():
        raise DataError("nothing has changed since the freeze that the history does not account for")
    history = our_table("rule_history")
    row = dict.fromkeys(history.columns, "")
    row |= {
        "id": name,
        "date": datetime.date.today().isoformat(),
        "reason": reason,
        "frozen": digest_of_parts(part_digests()),
    }
    whole = pd.concat([history, pd.DataFrame([row])], ignore_index=True)
    whole.to_csv(root() / HISTORY, index=False, lineterminator="\n")
    now = part_digests()
    _write_frozen({**frozen(), "recorded": {"digest": digest_of_parts(now), "parts": now}})


def freeze_now() -> None:
    """Freeze: write the sizes of the confirmatory run, and all digests."""
    planned_sizes().to_csv(root() / SIZES, index=False, lineterminator="\n")
    now = part_digests()
    told = {"date": datetime.date.today().isoformat(), "digest": digest_of_parts(now), "parts": now}
    _write_frozen(told)


def _write_frozen(told: Mapping[str, object]) -> None:
    (root() / FROZEN).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Freeze, account for a change, or say what has changed since."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {SIZES} and {FROZEN}")
    parser.add_argument("--plan", action="store_true", help=f"write the findings that {SIZES} does not have yet")
    parser.add_argument("--record", metavar="REASON", help=f"write a row for what has changed into {HISTORY}")
    parser.add_argument("--of", metavar="ID", default=NAMES_ONLY, help="the id whose rule or measure has changed")
    options = parser.parse_args()
    if options.write:
        freeze_now()
    if options.plan:
        plan_further()
    if options.record is not None:
        record(options.record, options.of)
    different = ", ".join(changed()) or "nothing"
    print(f"digest {digest_of_parts(part_digests())}; changed since the freeze: {different}")


if __name__ == "__main__":
    main()
