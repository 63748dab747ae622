"""On a lent GPU, in about six minutes: MPNet learns Evidence Inference and MultiRC; study 1's metrics with it.

    cd CHECKOUT; OUT=/some/folder FAITHLIB_DATA=/some/data python tests/benchmarks/lent_gpu/train_long_texts.py

The trainings run side by side, each in a process of its own, with the settings of the profile `full` (`evinf` and
`multirc` with the classifier `mpnet`). What comes back in OUT: a tar file for each checkpoint and each run of
`soft_metrics`, and the logs. README.md beside this file says how encoder and texts get there. TINY=1 tries the training
on a processor, with eight texts; LIMIT is after how many seconds (default 420) what still runs is stopped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TRAINED_SEEDS = (("evinf", 0), ("multirc", 0), ("evinf", 1))
MEASURED_SEED = 0


def notebook_with(path: str, parameters: dict[str, Any]) -> str:
    """A notebook as a script, with other values of its parameters."""
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    left = dict(parameters)
    for i, line in enumerate(lines):
        name = line.split(" = ")[0]
        if name in left:
            lines[i] = f"{name} = {left.pop(name)!r}"
    if left:
        raise SystemExit(f"{path} has no parameters {', '.join(left)}")
    return "\n".join(lines)


def run_notebook(path: str, parameters: dict[str, Any]) -> None:
    """Execute a notebook in this process."""
    exec(compile(notebook_with(path, parameters), path, "exec"), {"__name__": "__main__"})


def packed(folder: Path, out: Path, name: str) -> None:
    """Put a folder into OUT as a tar file, under its own name only when it is whole."""
    part = shutil.make_archive(str(out / f"{name}.part"), "tar", folder)
    Path(part).rename(out / f"{name}.tar")


def train_and_measure(dataset: str, seed: int, out: Path) -> None:
    """One training, and the metrics of study 1 with it for the first seed."""
    started = time.time()
    name = f"{dataset}-mpnet-seed{seed}"
    is_try = bool(os.environ.get("TINY"))
    checkpoint = (out / "tried" if is_try else Path("data/checkpoints/text")) / name
    about = {"profile": "full", "dataset": dataset, "seed": seed, "classifier": "mpnet", "folder": str(checkpoint)}
    run_notebook("notebooks/train/text_classifiers.py", about | {"limit": 8 if is_try else 0})
    packed(checkpoint, out, name)
    card = json.loads((checkpoint / "card.json").read_text(encoding="utf-8"))
    print(f"TRAINED {name} in {time.time() - started:.0f} s: macro F1 {card['macro_f1']:.3f}", flush=True)
    if seed != MEASURED_SEED or is_try:
        return
    measured = {"profile": "full", "dataset": dataset, "classifier": "mpnet", "seed": seed}
    run_notebook("notebooks/compute/soft_metrics.py", measured)
    for run in Path("data/results/full/by-hand/soft_metrics").glob(f"{dataset}*mpnet*"):
        packed(run, out, f"soft_metrics-{run.name}")
    print(f"MEASURED {name} in {time.time() - started:.0f} s", flush=True)


def side_by_side(out: Path) -> None:
    """All trainings at once; what is not done after LIMIT seconds is stopped."""
    jobs = TRAINED_SEEDS[1:2] if os.environ.get("TINY") else TRAINED_SEEDS
    running = {}
    for dataset, seed in jobs:
        with (out / f"{dataset}{seed}.log").open("w") as log:
            command = [sys.executable, "-u", __file__, dataset, str(seed)]
            running[dataset, seed] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    end = time.time() + float(os.environ.get("LIMIT", "420"))
    while time.time() < end and any(process.poll() is None for process in running.values()):
        time.sleep(1)
    for (dataset, seed), process in running.items():
        if process.poll() is None:
            process.terminate()
        lines = (out / f"{dataset}{seed}.log").read_text(errors="replace").replace("\r", "\n").splitlines()
        told = [line for line in lines if line.startswith(("TRAINED", "MEASURED", "epoch"))]
        print(dataset, seed, *(told or lines[-3:]), sep="\n  ")


if __name__ == "__main__":
    place = Path(os.environ["OUT"])
    place.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 1:
        train_and_measure(sys.argv[1], int(sys.argv[2]), place)
    else:
        side_by_side(place)
