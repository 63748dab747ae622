"""On the lent machine: unpack, run the planned parts in lanes on the GPU, keep what is whole.

python3 device.py unpack            # of what has come; MPNet's part may still be missing
python3 device.py run small|mpnet   # every part of these models, in lanes; each whole part goes to /tmp/g/done
python3 device.py collect SECONDS   # wait at most so long for both, then put everything into $OUT
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

G = Path(os.environ.get("GPU_PLACE", "/tmp/g"))
ENV = {
    "FAITHLIB_HOME": str(G / "home"),
    "FAITHLIB_DATA": str(G / "raw"),
    "FAITHLIB_PRECISION": "float32",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "PYTHONPATH": f"{G / 'home'}:/tmp/site",
}
WIDE = {"e5": 8, "vit": 4, "minilm": 2, "mpnet": 2}  # processes at a time
if os.environ.get("GPU_ONE"):
    WIDE = dict.fromkeys(WIDE, 1)


class Pieces:
    """The pieces in a row as one stream, as far as they have come."""

    def __init__(self):
        self.paths = sorted(G.glob("p*.bin"), key=lambda p: int(p.stem[1:]))
        self.at, self.stream = 0, open(self.paths[0], "rb")

    def read(self, n):
        out = b""
        while len(out) < n and self.at < len(self.paths):
            got = self.stream.read(n - len(out))
            out += got
            if not got:
                self.at += 1
                if self.at < len(self.paths):
                    self.stream = open(self.paths[self.at], "rb")
        return out


def unpack():
    from planes import unpacked
    from safetensors.numpy import save_file

    try:
        with tarfile.open(fileobj=Pieces(), mode="r|") as archive:
            for member in archive:
                place = G / member.name
                if place.exists() and place.stat().st_size == member.size:
                    continue
                place.unlink(missing_ok=True)
                place.parent.mkdir(parents=True, exist_ok=True)
                archive.extract(member, G, filter="data")
    except (tarfile.ReadError, EOFError) as error:
        print("the rest is still to come:", error)
    for inner in G.glob("*.tgz"):
        if tarfile.is_tarfile(inner) and not inner.with_suffix(".unpacked").exists():
            with tarfile.open(inner) as archive:
                archive.extractall(G, filter="data")
            inner.with_suffix(".unpacked").write_text("")
    mpnet, elsewhere = G / "raw/mpnet/model", Path("/tmp/data/mpnet/model/model.safetensors")
    if (mpnet / "config.json").exists() and not any(
        (mpnet / n).exists() for n in ("weights.planes", "model.safetensors")
    ):
        if elsewhere.exists():  # carried for something else; its digest is the recorded one, or the model is refused
            shutil.copy(elsewhere, mpnet / "model.safetensors")
        else:
            print("MPNet's weights are not here yet")
    for planes in sorted(G.glob("raw/*/model/weights.planes")):
        folder = planes.parent
        meta = folder / "weights.meta"
        if (folder / "model.safetensors").exists() or not meta.exists():
            continue
        tensors = unpacked(planes.read_bytes())
        _save(folder, tensors, json.loads(meta.read_text()), save_file)
        if folder.parent.name == "e5-whole":
            six = G / "raw/e5-whole-six/model"
            shutil.copy(folder / "tokenizer.json", six / "tokenizer.json")
            config = json.loads((six / "config.json").read_text())
            layers = config["num_hidden_layers"]
            kept = {
                k: v
                for k, v in tensors.items()
                if "layer." not in k or int(k.split("layer.")[1].split(".")[0]) < layers
            }
            _save(six, kept, json.loads(meta.read_text()), save_file)


def _save(folder, tensors, meta, save_file):
    """The weights as a file, and in the record that it is the right one."""
    part = folder / "model.part"
    save_file(tensors, part, metadata=meta)
    record = json.loads((folder / "derived.json").read_text())
    record["model.safetensors"]["sha256"] = hashlib.sha256(part.read_bytes()).hexdigest()
    (folder / "derived.json").write_text(json.dumps(record))
    part.rename(folder / "model.safetensors")
    print(folder, f"{(folder / 'model.safetensors').stat().st_size / 2**20:.0f} MiB")


def group_of(job):
    p = job["parameters"]
    if job["notebook"] == "saco_metrics":
        return "vit"
    if job["notebook"] == "crosslingual_metrics":
        return "e5"
    return "mpnet" if "mpnet" in p["classifier"] else "minilm"


def points(which):
    """By lane, the points of the grid, each with its parts; seed 0 first."""
    lanes = {}
    for job in json.loads((G / "jobs.json").read_text())["jobs"]:
        lane = group_of(job)
        if (lane == "mpnet") == (which == "mpnet"):
            alone = lane == "e5" and job["parameters"]["seed"] == 0  # the longest: a process for each part
            key = json.dumps({k: v for k, v in job["parameters"].items() if alone or k != "part"})
            lanes.setdefault(lane, {}).setdefault(key, []).append(job)
    return lanes


def run(which):
    lanes = {
        lane: list(enumerate(groups.values()))
        for lane, groups in points(which).items()
        if os.environ.get("LANE", lane) == lane
    }
    running, failed = [], []
    (G / "logs").mkdir(exist_ok=True)
    while any(lanes.values()) or running:
        for lane, waiting in lanes.items():
            while waiting and sum(one[0] == lane for one in running) < WIDE[lane]:
                number, jobs = waiting.pop(0)
                file = G / "logs" / f"{lane}{number}.json"
                file.write_text(json.dumps(jobs))
                log = open(file.with_suffix(".log"), "a")
                process = subprocess.Popen(
                    [sys.executable, str(G / "device.py"), "point", str(file)],
                    env=os.environ | ENV,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
                running.append((lane, number, jobs, process))
        time.sleep(0.5)
        for one in [one for one in running if one[3].poll() is not None]:
            running.remove(one)
            lane, number, jobs, process = one
            print(f"{time.strftime('%H:%M:%S')} {lane}{number} ended with {process.returncode}", flush=True)
            if process.returncode and (lane, number) not in failed:  # out of memory beside others, say: once more
                failed.append((lane, number))
                lanes[lane].append((number, jobs))
    (G / f"{which}.finished").write_text("")


def point(file):
    for job in json.loads(Path(file).read_text()):
        part(job)


def part(job):
    """Run a notebook with its parameters as a script; it is done once its folder lies in `done`."""
    import ast
    import re

    name = (
        job["notebook"]
        + "-"
        + "_".join(re.sub(r"\W+", "_", str(v)) for k, v in job["parameters"].items() if k != "profile")
    )
    done = G / "done" / name
    if done.exists():
        return
    folder = G / "working" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = G / "home" / "notebooks" / "compute" / f"{job['notebook']}.py"
    freeze, commit = job.pop("freeze"), job.pop("code_commit")
    os.environ["FAITHLIB_RUN"] = json.dumps(
        {"job": job | {"source": str(source), "upstream": []}, "folder": str(folder), "upstream": []}
    )
    text = source.read_text()
    cells = re.split(r"^# %%", text, flags=re.MULTILINE)
    for i, cell in enumerate(cells):
        head, _, code = cell.partition("\n")
        if 'tags=["parameters"]' in head:
            values = {n.targets[0].id: ast.literal_eval(n.value) for n in ast.parse(code).body} | job["parameters"]
            cells[i] = head + "\n" + "".join(f"{k} = {v!r}\n" for k, v in values.items())
    began = time.time()
    exec(compile("# %%".join(cells), str(source), "exec"), {"__name__": "__main__"})
    manifest = folder / "manifest.json"
    facts = json.loads(manifest.read_text())
    facts |= {"commit": commit, "freeze": freeze}
    manifest.write_text(json.dumps(facts, indent=1) + "\n")
    for path in folder.iterdir():
        if not path.name.startswith("units") and path.name != "manifest.json":
            path.unlink()
    (G / "done").mkdir(exist_ok=True)
    folder.rename(done)
    print(f"{name}: {time.time() - began:.1f} s", flush=True)


def collect(seconds):
    out, until = Path(os.environ["OUT"]), time.time() + float(seconds)
    wanted = [name for name, lanes in (("small", points("small")), ("mpnet", points("mpnet"))) if lanes]
    while time.time() < until and not all((G / f"{name}.finished").exists() for name in wanted):
        time.sleep(1)
        if int(time.time()) % 20 == 0:
            _write(out)
    _write(out)
    every = sum(len(g) for w in wanted for groups in points(w).values() for g in groups.values())
    done = sorted(p.name for p in (G / "done").glob("*"))
    print(f"{len(done)} of {every} parts are whole")
    for log in sorted((G / "logs").glob("*.log")):
        lines = log.read_text(errors="replace").splitlines()
        last = [line for line in lines if line.endswith(" s")][-4:] or [line[:200] for line in lines[-3:]]
        print(log.stem, "|", " | ".join(last))


def _write(out):
    for place, name in ((G / "done", "done.tar"), (G / "logs", "logs.tar.gz")):
        if place.exists():
            part = G / f"{name}.part"
            with tarfile.open(part, "w:gz" if name.endswith("gz") else "w") as archive:
                archive.add(place, place.name)
            shutil.copy(part, out / f"{name}.new")
            (out / f"{name}.new").replace(out / name)


if __name__ == "__main__":
    sys.path.insert(0, str(G))
    {"unpack": unpack, "run": run, "point": point, "collect": collect}[sys.argv[1]](*sys.argv[2:])
