"""On the lent GPU: train MPNet adapters of Evidence Inference and MultiRC, then measure study 1's metrics with them. Parts run side by side."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path.cwd()
OUT = Path(os.environ["OUT"])
TINY = os.environ.get("TINY")
LOGS = OUT / "logs"
LOGS.mkdir(parents=True, exist_ok=True)


def cells(path, **parameters):
    """The notebook as a script with other parameters."""
    out, lines = [], Path(path).read_text().split("\n")
    for line in lines:
        name = line.split(" = ")[0]
        if name in parameters and line == line.lstrip():
            line = f"{name} = {parameters.pop(name)!r}"
        out.append(line)
    assert not parameters, parameters
    return "\n".join(out)


def job(dataset, seed):
    start = time.time()
    folder = f"/tmp/made/{dataset}-mpnet-seed{seed}"
    source = cells(
        "notebooks/train/text_classifiers.py",
        profile="full",
        dataset=dataset,
        seed=seed,
        classifier="mpnet",
        folder=folder,
        limit=8 if TINY else 0,
    )
    if TINY:
        source = source.replace(
            "epochs, batch_size, rank", 'training |= {"max_length": 128, "epochs": 1}; epochs, batch_size, rank', 1
        )
    exec(compile(source, "train", "exec"), {"__name__": "train"})
    print(
        "TRAINED",
        dataset,
        seed,
        round(time.time() - start),
        json.loads(Path(folder, "card.json").read_text())["macro_f1"],
        flush=True,
    )
    place = HERE / "data/checkpoints/text" / Path(folder).name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        shutil.copytree(folder, place)
    (OUT / "weights").mkdir(exist_ok=True)
    shutil.make_archive(str(OUT / "weights" / Path(folder).name), "tar", folder)
    if seed:
        return
    import faithbook.engine.profiles as P

    settings_of = P.settings_of

    def few(notebook, profile):
        block = settings_of(notebook, profile)
        if TINY:
            block["inputs"] = {**block["inputs"], dataset: 2}
            block["draws"] = 2
        return block

    import faithbook.engine.run as R

    R.settings_of = few
    source = cells("notebooks/compute/soft_metrics.py", profile="full", dataset=dataset, classifier="mpnet", seed=seed)
    exec(compile(source, "soft_metrics", "exec"), {"__name__": "soft"})
    for run in Path("data/results/full/by-hand/soft_metrics").glob(f"{dataset}*mpnet*"):
        shutil.make_archive(str(OUT / "weights" / f"soft_metrics-{run.name}"), "tar", run)
    print("MEASURED", dataset, round(time.time() - start), flush=True)


if len(sys.argv) > 1:
    job(sys.argv[1], int(sys.argv[2]))
else:
    jobs = ([] if TINY else [("evinf", 0)]) + [("multirc", 0)] + ([] if TINY else [("evinf", 1)])
    running = {
        j: subprocess.Popen(
            [sys.executable, "-u", __file__, j[0], str(j[1])],
            stdout=open(LOGS / f"{j[0]}{j[1]}.log", "w"),
            stderr=subprocess.STDOUT,
        )
        for j in jobs
    }
    end = time.time() + float(os.environ.get("LIMIT", "420"))
    while any(p.poll() is None for p in running.values()) and time.time() < end:
        time.sleep(1)
    for p in running.values():
        if p.poll() is None:
            p.terminate()
    for j in jobs:
        text = (LOGS / f"{j[0]}{j[1]}.log").read_text().replace("\r", "\n").splitlines()
        print(j, [l for l in text if l.startswith(("TRAINED", "MEASURED", "epoch"))], text[-3:])
