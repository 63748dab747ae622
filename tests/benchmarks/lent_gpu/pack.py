"""Parcels for the lent GPU: code, data, models and planned jobs of the confirmatory run, cut into pieces of 62 MiB.

    cd CHECKOUT; FAITHLIB_DATA=/work/real PYTHONPATH=$PWD python /work/tools/confirm/pack.py OUT [--freeze DIGEST] [--tiny]

Small models come first, so that they can run while MPNet still travels.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

os.environ["FAITHLIB_PRECISION"] = "float32"
sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
from planes import packed, read

parser = argparse.ArgumentParser()
parser.add_argument("out", type=Path)
parser.add_argument("--freeze", default="")
parser.add_argument("--tiny", action="store_true", help="a few inputs each, to try the script")
parser.add_argument(
    "--whole-vocabulary",
    action="store_true",
    help="all rows of MPNet's embeddings, for whoever trains with it (+65 MiB)",
)
parser.add_argument(
    "--without-mpnet",
    action="store_true",
    help="its weights lie on the machine already (/tmp/data/mpnet/model, as for Evidence Inference)",
)
options = parser.parse_args()
PIECE = 62 << 20
REAL = Path(os.environ["FAITHLIB_DATA"])
HERE = Path(__file__).parent

import transformers

from faithbook.engine.plan import specification
from faithbook.engine.profiles import settings_of
from faithbook.judge import confirmed
from faithbook.models.encoders import encoder_folder
from faithbook.models.vit_s14 import encoder_file
from faithbook.paths import root
from faithbook.sources.datasets import load_dataset, load_parallel
from faithbook.sources.tokenise import split_words

HOME = root()
began = time.time()


def git(*words):
    return subprocess.run(["git", "-C", str(HOME), *words], capture_output=True, text=True, check=True).stdout.strip()


commit = git("rev-parse", "--short=12", "HEAD")
dirty = git("status", "--porcelain", "--untracked-files=no")
assert options.tiny or not dirty, "commit first: " + dirty[:200]
freeze = options.freeze or confirmed.freeze_digest()

if options.tiny:  # on inputs that are used already: the reserve is not for trying things
    confirmed.notebooks = lambda: ["soft_metrics", "crosslingual_metrics", "saco_metrics"]
jobs = confirmed.parts()
SAMPLE = settings_of("soft_metrics", "confirm")["sample"]
assert ("exploratory" if options.tiny else "confirmatory") == SAMPLE
if options.tiny:  # the first part of one point of each notebook and data set
    first = {}
    for job in jobs:
        first.setdefault((job.notebook, job.parameters["dataset"]), job)
    jobs = list(first.values())
there = confirmed.committed()
jobs = [job for job in jobs if not confirmed._is_there(job.notebook, job.parameters, there)]
print(len(jobs), "parts;", {n: sum(j.notebook == n for j in jobs) for n in {j.notebook for j in jobs}})


# --- which pieces of a vocabulary are read -------------------------------------------------------------------------
def ids_of(tokenizer, texts):
    seen = set(tokenizer.all_special_ids)
    words = set()
    for text in texts:
        seen.update(tokenizer(text)["input_ids"])
        words.update(text.split())
        words.update(text[a:b] for a, b in split_words(text))
    for word in words:
        for form in (word, " " + word, word.lower()):
            seen.update(tokenizer(form, add_special_tokens=False)["input_ids"])
    return seen


def texts_of(name, n):
    data = load_dataset(name, sample=SAMPLE, n=n)
    return [*data.texts, *(data.queries or ()), *(data.pairs or ())]


soft, cross = settings_of("soft_metrics", "confirm"), settings_of("crosslingual_metrics", "confirm")
wanted = {
    "mpnet": [t for n in ("sst", "ag") for t in texts_of(n, soft["inputs"][n])],
    "minilm": [t for n in ("section", "pair") for t in texts_of(n, soft["inputs"][n])],
}
messages = cross["messages"]["nli"]
most = max(*messages.values(), cross["erased"]["nli"], cross["read"]["nli"])
many = load_parallel("nli", cross["languages"]["nli"], "test", n=most, sample=SAMPLE)
wanted["e5-whole"] = [t for one in many.values() for t in (*one.texts, *one.pairs, *one.wholes)] + ["query: passage: "]


def trimmed(name):
    tensors, meta = read(encoder_folder(name) / "model.safetensors")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(encoder_folder(name)))
    key = next(k for k in tensors if k.endswith("word_embeddings.weight"))
    ids = sorted(ids_of(tokenizer, wanted[name]))
    table = tensors[key]
    thin = np.full_like(table, np.nan)  # a row that should not be read shows where it is
    thin[ids] = table[ids]
    print(f"{name}: {len(ids)} of {len(table)} rows of {key}")
    return tensors | {key: thin}, meta


# --- the archive, in this order --------------------------------------------------------------------------------------
stream = io.BytesIO()
outer = tarfile.open(fileobj=stream, mode="w")
waiting = []


def added(archive, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mtime = 0
    archive.addfile(info, io.BytesIO(content))


def put(name, content):
    """Weights are packed already; all else goes into small archives."""
    if name.endswith(".planes"):
        added(outer, name, content)
    else:
        waiting.append((name, content))


def flush(name):
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz", compresslevel=6) as archive:
        for one in waiting:
            added(archive, *one)
    waiting.clear()
    added(outer, f"{name}.tgz", inner.getvalue())


def put_tree(folder, name):
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    assert paths, folder
    for path in paths:
        put(f"{name}/{path.relative_to(folder)}", path.read_bytes())


for name in ("faithlib", "faithbook", "notebooks/compute"):
    put_tree(HOME / name, f"home/{name}")
for name in (
    "notebooks/profiles.yaml",
    "data/sources.toml",
    "data/confirmatory_inputs.csv",
    "requirements.lock",
    "pyproject.toml",
):
    put(f"home/{name}", (HOME / name).read_bytes())
names = sorted({n.removeprefix("local:") for job in jobs for n in job.loads if n.startswith("local:")})
small = [n for n in names if "mpnet" not in n]
for name in small:
    put_tree(HOME / "data/checkpoints" / name, f"home/data/checkpoints/{name}")
for source in ("sst-test", "ag-test", "ag-part", "aclsum"):
    put_tree(REAL / source, f"raw/{source}")
for language in cross["languages"]["nli"]:
    path = REAL / "xnli" / f"test-{language}.tsv"
    path = path if path.exists() else path.with_suffix(".tsv.gz")
    put(f"raw/xnli/{path.name}", path.read_bytes())
put("raw/snli/here.txt", b"so that the set counts as one that is here")
for source in ("cifar10-folder", "cifar100-folder"):
    put_tree(REAL / source / "test", f"raw/{source}/test")
specs = [specification(job) | {"code_commit": commit, "freeze": freeze} for job in jobs]
put(
    "jobs.json",
    json.dumps({"jobs": specs, "commit": commit, "freeze": freeze, "home": str(HOME)}, default=str).encode(),
)


def model(name, folder, tensors, meta):
    for path in sorted(folder.iterdir()):
        if path.name != "model.safetensors" and (name, path.name) != ("e5-whole-six", "tokenizer.json"):
            put(f"raw/{name}/model/{path.name}", path.read_bytes())
    if tensors is not None:
        put(f"raw/{name}/model/weights.planes", packed(tensors))
        put(f"raw/{name}/model/weights.meta", json.dumps(meta).encode())


datasets = {job.parameters["dataset"] for job in jobs}
if "nli" in datasets:
    model("e5-whole", encoder_folder("e5-whole"), *trimmed("e5-whole"))
    model("e5-whole-six", encoder_folder("e5-whole-six"), None, None)  # the first six layers of the other
if datasets & {"section", "pair"}:
    model("minilm", encoder_folder("minilm"), *trimmed("minilm"))
if datasets & {"cifar10", "cifar100"}:
    model("vit-s14", encoder_file().parent, *read(encoder_file()))
flush("small")
mark = stream.tell()
for name in sorted(set(names) - set(small)):
    put_tree(HOME / "data/checkpoints" / name, f"home/data/checkpoints/{name}")
if datasets & {"sst", "ag"}:
    if options.without_mpnet:
        weights = None, None
    else:
        weights = read(encoder_folder("mpnet") / "model.safetensors") if options.whole_vocabulary else trimmed("mpnet")
    model("mpnet", encoder_folder("mpnet"), *weights)
flush("large")
outer.close()
content = stream.getvalue()
shutil.rmtree(options.out, ignore_errors=True)
options.out.mkdir(parents=True)
for number, start in enumerate(range(0, len(content), PIECE), start=1):
    (options.out / f"p{number}.bin").write_bytes(content[start : start + PIECE])
for name in ("device.py", "planes.py"):
    shutil.copy(HERE / name, options.out)
shutil.copytree(HERE / "whl", options.out / "whl")
pieces = -(-len(content) // PIECE)
print(
    f"{len(content) / 2**20:.1f} MiB in {pieces} pieces; small models are whole after {mark / 2**20:.1f} MiB, piece {mark // PIECE + 1}; {time.time() - began:.0f} s"
)
print(f"commit {commit}, freeze {freeze}")
