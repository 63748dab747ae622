"""A home for the runner with a study of three small notebooks and a book of two pages, to be broken in tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

from faithbook.engine.plan import Job

REPOSITORY = Path(__file__).resolve().parents[1]

HEADER = """\
# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
"""

COMPUTE = (
    HEADER
    + """
# %% tags=["parameters"]
profile = "laptop"
dataset = "movie"
seed = 0

# %%
import os
import time
from pathlib import Path

import pandas as pd

from faithbook.engine.run import start_run
from faithbook.paths import root

run = start_run("count", profile=profile, dataset=dataset, seed=seed)

# %%
calls = root() / "calls"
with calls.open("a") as stream:
    stream.write(f"begin {dataset}\\n")
gate = root() / f"wait-{dataset}"
while gate.exists():
    time.sleep(0.05)

# %%
run.save(pd.DataFrame({"dataset": dataset, "value": [seed, run.settings["inputs"]]}), "counts")
run.note(n=2)
with calls.open("a") as stream:
    stream.write(f"end {dataset}\\n")
run.finish()
"""
)

REPORT = (
    HEADER
    + """
# %% [markdown]
# # A report

# %% tags=["parameters"]
profile = "laptop"

# %%
from IPython.display import Markdown

from faithbook.engine.run import load, start_run

run = start_run("report", profile=profile)

# %%
counts = load("counts", profile)
run.save(counts[["dataset", "value"]].groupby("dataset", as_index=False).sum(), "table", format="csv")
run.save(counts[["dataset", "value"]], "scoreboard", format="csv")
Markdown(f'''
```{{csv-table}} A table
:file: {run.link("table.csv")}
:header-rows: 1
:name: tiny-table
```

{{numref}}`tiny-table` has {len(counts)} rows.
''')

# %%
run.provenance(n=len(counts))

# %%
run.finish()
"""
)

STUDY = """\
from faithbook.engine.study import Profile, Settings, Study, by

study = Study("tiny", number=1)


@study.compute(grid={"dataset": "datasets", "seed": "seeds"}, loads=[])
def count(profile: Profile) -> Settings:
    return profile.layers(
        laptop=dict(datasets=["movie", "bbc"], seeds=[0, 1], inputs=30),
        smoke=dict(seeds=[0], inputs=3),
    )


study.report("report", reads=["count"])
"""
OF_STUDY = "faithbook/studies/tiny/study.py"

INDEX = """\
# A tiny book

See {doc}`executed/report`.
"""


def make_home(folder: Path) -> Path:
    """Write the tiny study and its book below a folder."""
    files = {
        "notebooks/compute/count.py": COMPUTE,
        "notebooks/report/report.py": REPORT,
        OF_STUDY: STUDY,
        "book/intro.md": INDEX,
        "book/_toc.yml": "format: jb-book\nroot: intro\nchapters:\n  - file: executed/report\n",
        "book/references.bib": "",
        "requirements.lock": "",
        "data/sources.toml": "",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(REPOSITORY / "notebooks" / "Snakefile", folder / "notebooks" / "Snakefile")
    for name in ("_config.yml", ".gitignore"):
        shutil.copy(REPOSITORY / name, folder / name)
    if (static := REPOSITORY / "book" / "_static").is_dir():
        shutil.copytree(static, folder / "book" / "_static")
    return folder


WARM = "import sys; from faithbook.engine import warm; warm._WORTH_IT = 1; from faithbook.__main__ import main; "


def command(home: Path, *words: str, warm: bool = False) -> tuple[list[str], dict[str, str]]:
    """The runner's command line for a home, and its environment; `warm`: notebooks as copies, few though they are."""
    environment = {**os.environ, "FAITHLIB_HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
    environment.pop("FAITHLIB_RUN", None)
    start = ["-c", WARM + "sys.exit(main())"] if warm else ["-m", "faithbook"]
    return [sys.executable, *start, *words], environment


def call(home: Path, *words: str, timeout: float = 300, warm: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the runner to its end."""
    line, environment = command(home, *words, warm=warm)
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=timeout, check=False)


def finish(job: Job, **results: pd.DataFrame) -> None:
    """Put a whole run where a build would."""
    job.folder.mkdir(parents=True)
    for name, frame in results.items():
        frame.to_parquet(job.folder / f"{name}.parquet")
    told = {"run_id": job.run_id, "notebook": job.notebook, "kind": job.kind, "seconds": 1.0, "device": "cpu"}
    job.manifest.write_text(json.dumps({**told, "parameters": dict(job.parameters), "notes": {"n": 2}}))


def commit(home: Path) -> None:
    """Make a commit of all that a home holds."""
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "All"]):
        line = ["git", "-C", str(home), "-c", "user.name=tiny", "-c", "user.email=tiny@localhost", *words]
        subprocess.run(line, check=True, capture_output=True)
