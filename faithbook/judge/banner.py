"""What a page says of whose numbers it shows: in its box of provenance which machines computed them and when; and above
everything else, where it shows what this machine computed and not the committed full run, which runs these are, what
was changed in them against their profile, and how many inputs both have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from faithbook.engine import plan
from faithbook.engine.plan import MANIFEST, changes_of, find_notebook, notebook_parameters
from faithbook.engine.run import Run, point_of
from faithbook.engine.studies import entry_of, reads_of
from faithbook.engine.study import find_profile
from faithbook.paths import reference_dir, root

MOST_LINES = 6
"""Runs with the settings of their profile that are named one by one; more are counted."""
_TITLES = {
    plan.RUN: "This page shows a run of this machine, not the book's numbers",
    plan.BOTH: "This page shows a run of this machine, and the book's numbers in brackets",
}
_ALWAYS = (
    "This page gathers the verdicts of others, which are always those of the book's full run: `values` changes "
    "nothing here."
)


def banner(run: Run) -> str:
    """The box above a page, as MyST text; nothing on a page of the book's own numbers."""
    if run.values == plan.REFERENCE:
        return ""
    if not plan.shows_runs(run.job.notebook):
        return f":::{{admonition}} The book's numbers\n:class: note\n\n{_ALWAYS}\n:::"
    manifests = {folder: _manifest(folder) for folder in run.upstream}
    changed: list[tuple[Path, dict[str, Any]]] = []
    usual: list[tuple[Path, dict[str, Any]]] = []
    for folder, facts in manifests.items():
        if facts["kind"] != "compute":
            continue
        source = find_notebook(facts["notebook"])
        if changes_of(source, facts["parameters"]):
            changed.append((folder, facts))
        else:
            usual.append((folder, facts))
    lines = [_line(run, folder, facts, named=True) for folder, facts in changed]
    if len(usual) > MOST_LINES:  # a build of the whole book has dozens
        names = sorted({facts["notebook"] for _, facts in usual})
        usual_facts = [facts for _, facts in usual]
        each = ", ".join(f"{_number(usual_facts, name)} of `{name}`" for name in names)
        lines.append(f"Runs with the settings of the profile `{run.job.profile}`: {each}.")
    else:
        lines += [_line(run, folder, facts, named=False) for folder, facts in usual]
    lines += _absent(run, [facts for _, facts in [*changed, *usual]])
    lines.append(
        "Numbers only: verdicts are of the full run alone, on the {doc}`scoreboard <scoreboard>`. `values = "
        '"reference"` shows the book\'s numbers.'
    )
    text = "\n".join(f"- {line}" for line in lines)
    return f":::{{admonition}} {_TITLES[run.values]}\n:class: warning\n\n{text}\n:::"


def whose_numbers(run: Run, notebooks: Sequence[str], *, of_book: bool) -> str:
    """Whose numbers of these computations a page has, on which machines they were computed and when."""
    if not notebooks:
        return ""
    if of_book:
        runs = json.loads((reference_dir() / MANIFEST).read_text(encoding="utf-8"))["runs"]
        whose = "the full run"
    else:
        runs, whose = [_manifest(folder) for folder in run.upstream], "this machine"
    chosen = [run for run in runs if run["notebook"] in notebooks]
    if not chosen:
        return ""
    different = dict.fromkeys(run["notebook"] for run in chosen)
    names = ", ".join(f"`{name}`" for name in different)
    machines = sorted({_machine(run) for run in chosen})
    days = sorted({run["started"][:10] for run in chosen if "started" in run})
    when = f"; {days[0]}" if days else ""
    when += f" to {days[-1]}" if len(days) > 1 else ""
    number = f"{len(chosen)} computation{'s' * (len(chosen) != 1)}"
    return f"{whose}, {number} ({names}) on {', '.join(machines)}{when}"


def _machine(facts: Mapping[str, Any]) -> str:
    """The device of a run, or its processor."""
    return str(facts["device"] if facts["device"] != "cpu" else facts.get("processor", "cpu"))


def _line(run: Run, folder: Path, facts: Mapping[str, Any], *, named: bool) -> str:
    """One run: what it is of, inputs here and in the book, its changes; `named`: when and where it ran."""
    source = find_notebook(facts["notebook"])
    changes = changes_of(source, facts["parameters"])
    point = point_of(source, facts["parameters"])
    of = " ".join(str(value) for name, value in point.items() if name != "profile" and value != "")
    n, book = facts["notes"].get("n"), _inputs_of_book(source, point)
    sizes = f"n = {n:,}" if isinstance(n, int) else "n unknown"
    sizes += f", the book's {book:,}" if book is not None else ", not in the book"
    text = f"`{facts['notebook']}` {of}".strip() + f": {sizes}"
    if changes:
        text += f"; changed: {_in_words(facts, changes)}"
    if named:
        place = folder.relative_to(root()) if folder.is_relative_to(root()) else folder
        text += f" (run of {facts.get('started', '')[:16].replace('T', ' ')}, `{place}`)"
    return f"{text}."


def _in_words(facts: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """Each change beside what the profile says."""
    profile, entry = facts["profile"], entry_of(facts["notebook"])
    point = {name: value for name, value in facts["parameters"].items() if name not in changes}
    settings = entry.settings_at(find_profile(profile), point) if entry else {}
    words = []
    for name, value in changes.items():
        usual = f" ({profile}: {settings[name]})" if name in settings else ""
        words.append(f"{name} = {value}{usual}")
    return ", ".join(words)


def _inputs_of_book(source: Path, point: Mapping[str, Any]) -> int | None:
    """How many inputs the reference has of the same point of a notebook's grid; None where it has none."""
    manifest = reference_dir() / MANIFEST
    if not manifest.is_file():
        return None
    wanted = {name: value for name, value in point.items() if name != "profile"}
    sizes = []
    for run in json.loads(manifest.read_text(encoding="utf-8"))["runs"]:
        if run["notebook"] != source.stem:
            continue
        point_of_run = point_of(source, {**notebook_parameters(source), **run["parameters"]})
        if {name: value for name, value in point_of_run.items() if name != "profile"} == wanted:
            sizes.append(int(run["notes"].get("n", 0)))
    return sum(sizes) if sizes else None


def _absent(run: Run, computed_runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the page reads and this machine has not computed."""
    computed = {facts["notebook"] for facts in computed_runs}
    lines = [
        f"`{name}` was not computed here: its numbers are the book's."
        for name in _computations(run.job.notebook)
        if name not in computed
    ]
    points = [
        (facts["notebook"], point_of(find_notebook(facts["notebook"]), facts["parameters"])) for facts in computed_runs
    ]
    missing = [
        " ".join(job.label.split())
        for job in run.job.upstream
        if job.notebook in computed and (job.notebook, point_of(job.source, job.parameters)) not in points
    ]
    if missing:
        lines.append(f"Not computed here, and left out: {', '.join(missing)}.")
    return lines


def _computations(notebook: str) -> list[str]:
    """The computations that a report reads."""
    entry = entry_of(notebook)
    return [name for name in reads_of(entry) if find_notebook(name).parent.name == "compute"] if entry else []


def _number(runs: Sequence[Mapping[str, Any]], notebook: str) -> int:
    return sum(facts["notebook"] == notebook for facts in runs)


def _manifest(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return facts
