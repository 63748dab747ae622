"""A result store of a few synthetic runs, and a report notebook run on it without a kernel.

    store = Store(tmp_path, monkeypatch)
    store.add("saco_metrics", {"": units}, dataset="fashion")      # units as `save_units` takes them
    store.add("saco_replayed", tables={"saco_orders": frame})
    page = store.report("saco_tables")
    page.decides(["saco_c03"], "reproduced")
    store.judge("saco_tables").decides(...)                        # verdicts alone, without tables and figures

The home is the repository's own notebooks, published tables and checkpoints, with results and reference of its own, so
that what is committed as reference does not speak in a test (`reference=True` adds values that do).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jupytext
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from tiny import REPOSITORY

from faithbook.artifacts import registry
from faithbook.engine.inputs import UNITS_DIR
from faithbook.engine.plan import Job, specification
from faithbook.engine.studies import entry_of, reads_of
from faithbook.engine.study import find_profile
from faithbook.engine.units import write_units
from faithbook.judge import freeze, scores
from faithbook.show import figures

PROFILE = "laptop"
RESAMPLES = 1999
"""Enough for a claim of 40 parts in a world in which the truth is far from the threshold."""


@dataclass(frozen=True)
class Shown:
    """A report that has run: what its cells show, its verdicts, its names."""

    folder: Path
    shown: list[str]
    names: dict[str, Any]

    @property
    def verdicts(self) -> pd.DataFrame:
        """The saved verdicts by id."""
        return pd.read_parquet(self.folder / "verdicts.parquet").set_index("id")

    def decides(self, names: Iterable[str], decision: str, **others: str) -> None:
        """These ids have the decision, and the `others` the one they name."""
        wanted = dict.fromkeys(names, decision) | others
        verdicts = self.verdicts.loc[list(wanted)]
        found = verdicts["decision"].to_dict()
        otherwise = {name: (found[name], verdicts["part"][name]) for name in wanted if found[name] != wanted[name]}
        assert not otherwise, otherwise

    def table(self, name: str, *index: str) -> pd.DataFrame:
        """The data of an exhibit, with some of its columns as index."""
        frame = pd.read_csv(self.folder / f"{name}.csv")
        return frame.set_index([*index] if len(index) > 1 else index[0]) if index else frame

    @property
    def text(self) -> str:
        """All that is shown."""
        return "\n\n".join(self.shown)


class Store:
    """Runs of compute notebooks below a folder, which a report finds as those that it reads."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, profile: str = PROFILE) -> None:
        self.home, self.profile, self.monkeypatch = folder / "home", profile, monkeypatch
        self.upstream: list[Path] = []
        (self.home / "data").mkdir(parents=True)
        for name in ("notebooks", "requirements.lock", "faithlib", "faithbook"):
            (self.home / name).symlink_to(REPOSITORY / name)
        for path in (REPOSITORY / "data").iterdir():
            if path.name not in ("reference", "results"):
                (self.home / "data" / path.name).symlink_to(path)
        monkeypatch.setenv("FAITHLIB_HOME", str(self.home))
        monkeypatch.setattr(scores, "RESAMPLES", RESAMPLES)
        monkeypatch.setattr(figures, "image_files", lambda fig: {"svg": b"drawn", "png": b"drawn"})

    def add(
        self,
        notebook: str,
        units: Mapping[str, pd.DataFrame] | None = None,
        *,
        tables: Mapping[str, pd.DataFrame] | None = None,
        declared: tuple[str, ...] = (),
        reference: bool = False,
        **parameters: str | int,
    ) -> None:
        """A whole run: its values of single inputs by part, its tables by name, the models and data it declares.

        `reference`: a run of the committed reference, of which only the values of inputs are kept.
        """
        slug = "-".join(map(str, parameters.values())) or "all"
        told = {"run_id": slug, "notebook": notebook, "kind": "compute", "seconds": 1.0, "device": "cpu"}
        told |= {"declared": list(declared), "parameters": dict(parameters), "notes": {}, "study": "test"}
        if reference:
            folder = self.home / "data" / "reference" / "full"
            place, before = folder / "units" / notebook, f"{slug}-"
            place.mkdir(parents=True, exist_ok=True)
            manifest = folder / "manifest.json"
            known = json.loads(manifest.read_text()) if manifest.is_file() else {"profile": "full", "runs": []}
            manifest.write_text(json.dumps(known | {"runs": [*known["runs"], told]}))
        else:
            place, before = self.home / "data" / "results" / self.profile / "runs" / notebook / slug, ""
            place.mkdir(parents=True)
            (place / "manifest.json").write_text(json.dumps(told))
            self.upstream.append(place)
        for part, frame in (units or {}).items():
            path = place / f"{before}units{'_' if part else ''}{part}.parquet"
            write_units(frame, path, notebook=notebook, parameters={"profile": self.profile, **parameters})
        for name, frame in (tables or {}).items():
            frame.to_parquet(place / f"{name}.parquet")

    def begin(self, notebook: str) -> Path:
        """Tell the run of a report what it is, as a build would: it may open what it declares and nothing else."""
        source = self.home / "notebooks" / "report" / f"{notebook}.py"
        folder = self.home / "data" / "results" / self.profile / "runs" / notebook / "all"
        folder.mkdir(parents=True)
        entry, parameters = entry_of(notebook), {"profile": self.profile}
        settings = entry.settings_at(find_profile(self.profile), parameters)
        known = registry().data
        names = [file for name in entry.names_loaded(settings, parameters) for file in known.get(name, [name])]
        names += ["data", "data/published", *(f"{UNITS_DIR}/{name}" for name in reads_of(entry))]
        job = Job(notebook, "report", entry.study, source, self.profile, parameters, "test", settings=settings)
        about = specification(replace(job, loads=dict.fromkeys(names, "")))
        told = {"job": about, "folder": str(folder), "upstream": [str(path) for path in self.upstream]}
        self.monkeypatch.setenv("FAITHLIB_RUN", json.dumps(told))
        return folder

    def report(self, notebook: str) -> Shown:
        """Run a report on what the store holds."""
        folder = self.begin(notebook)
        source = self.home / "notebooks" / "report" / f"{notebook}.py"
        shown: list[str] = []
        self.monkeypatch.setattr(
            "IPython.display.display",
            lambda shown_object: shown.append(str(getattr(shown_object, "data", shown_object))),
        )
        names = run_cells(source, {"profile": self.profile}, shown)
        plt.close("all")
        return Shown(folder, shown, names)

    def judge(self, notebook: str, *exhibits: str) -> Shown:
        """The verdicts that a report draws from what the store holds, of its tables and figures only those named.

        Of the page run the statements that its claims and these rest on, as for the confirmatory values
        (`faithbook.judge.freeze.measured_in`). For a second world, after the page itself has run in a first one.
        """
        folder = self.begin(notebook)
        parameters = {"profile": self.profile, "values": "reference"}
        names: dict[str, Any] = {"__name__": "__main__", **parameters}
        for statement in freeze.measured_in(notebook, exhibits):
            if not names_of(statement) & set(parameters):
                place = f"{notebook}, line {statement.lineno}"
                exec(compile(ast.Module([statement], []), place, "exec"), names)
        names["page"].finish()
        plt.close("all")
        return Shown(folder, [], names)


def names_of(statement: ast.stmt) -> set[str]:
    """The names that an assignment gives a value; none of another statement."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def run_cells(source: Path, parameters: Mapping[str, Any], shown: list[str]) -> dict[str, Any]:
    """Run a notebook's cells here, without a kernel: the names it ends with; what its cells show goes to `shown`."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(jupytext.read(source).cells):
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        place = f"{source.name}, cell {number}"
        exec(compile(tree, place, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
            if value is not None:
                shown.append(str(getattr(value, "data", value)))
        if "parameters" in cell.metadata.get("tags", []):
            names.update(parameters)
    return names


def units_of(
    means: Mapping[tuple[str, ...], float],
    levels: tuple[str, ...],
    *,
    n: int = 40,
    spread: float = 0.1,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    seed: int = 0,
    **columns: Any,
) -> pd.DataFrame:
    """Values of n inputs whose mean in each cell is nearly the given one: every input shifts all cells alike, and each
    cell has noise of its own of a fifth of that. `levels` names the parts of the keys (`method`, `metric` …).
    """
    generator = np.random.default_rng(seed)
    common = generator.normal(0, spread, n)
    common -= common.mean()
    frames = []
    for key, mean in means.items():
        noise = generator.normal(0, spread / 5, n)
        values = np.clip(mean + common + noise - noise.mean(), *bounds)
        frames.append(
            pd.DataFrame({"id": [f"i{i}" for i in range(n)], **dict(zip(levels, key, strict=True)), "value": values})
        )
    return of_inputs(pd.concat(frames, ignore_index=True), **columns)


def of_inputs(frame: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    """Rows with id and value in the columns of the schema: an input is its own cluster."""
    columns_of_units = {"id": frame["id"].astype(str), "cluster": frame["id"].astype(str), "seed": 0, "method": "none"}
    columns_of_units |= {"metric": "none", **columns}
    return frame.assign(
        **{name: values for name, values in columns_of_units.items() if name == "id" or name not in frame.columns}
    )
