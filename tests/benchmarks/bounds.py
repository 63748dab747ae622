"""Bounds of AOPC beside those of the authors' package, aopc 0.1.0 (Edin et al. 2025), each in its own environment.

    uv venv --python 3.11 /tmp/aopc && VIRTUAL_ENV=/tmp/aopc uv pip install aopc==0.1.0 'pyarrow<17'
    python tests/benchmarks/bounds.py --theirs /tmp/aopc/bin/python --out docs/peers-bounds-cpu.csv
    python tests/benchmarks/peers.py --page docs/peers.md docs/peers-cpu.csv docs/peers-bounds-cpu.csv

aopc asks for torch < 2.3 and transformers < 5, so it runs in a process of its own: this file, on a folder with the
model and the texts. Features are pieces of words, erased by the mask token; both follow the probability of the same
class.

- *exact*: both ends of AOPC over all orders, of texts of 5 to 8 pieces. aopc enumerates orders, faithlib subsets.
- *beam of 5*: the ends that a search of this width finds, of texts of 6 to 12 pieces.

`seconds`: of the process, on all threads, the best of `--repeats`. `rows`: inputs that the model saw. `off`: the
largest difference of an end from the exact one, which faithlib knows for all of these texts. `looser`: texts of which
an end is more than 1e-5 inside the exact ones.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

WORKS = {"exact": [5, 6, 6, 7, 7, 7, 8, 8], "beam of 5": [6, 7, 8, 9, 10, 11, 12, 12]}
WIDTH = 5
INSIDE = 1e-5

Ends = list[tuple[float, float]]


def timed(run: Callable[[], Ends], model: torch.nn.Module, repeats: int) -> dict[str, Any]:
    """The ends, the least seconds of the process, and the rows that the model saw in one run."""
    run()  # compiles, warms
    sizes: list[int] = []

    def count(_: torch.nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        entries = [*given, named.get("input_ids"), named.get("inputs_embeds")]
        sizes.append(len(next(entry for entry in entries if entry is not None)))

    hook = model.register_forward_pre_hook(count, with_kwargs=True)
    ends = run()
    hook.remove()
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        run()
        seconds.append(time.process_time() - began)
    return {"ends": ends, "seconds": min(seconds), "rows": sum(sizes), "forwards": len(sizes)}


def theirs(folder: Path, repeats: int) -> None:
    """In the environment of aopc: measured on the texts of the folder, printed as JSON."""
    from aopc import Aopc
    from loguru import logger

    logger.remove()
    package = Aopc(str(folder))
    package.device = "cpu"
    found = {}
    for work, texts in json.loads((folder / "texts.json").read_text()).items():

        def run(work: str = work, texts: list[Any] = texts) -> Ends:
            ends = []
            for ids, target in texts:
                options = {"normalization": "exact"} if work == "exact" else {"beam_size": WIDTH}
                made = package._get_bounds(torch.tensor([ids]), target, None, **options)
                ends.append((made.lower_bound, made.upper_bound))
            return ends

        found[work] = timed(run, package.model, repeats)
    print(json.dumps(found))


def compare(python: str, shape: str, repeats: int) -> list[dict[str, Any]]:
    """Rows of the table: ours in this process, theirs in another."""
    import drawn

    from faithlib.bounds import beam_bounds, exact_bounds
    from faithlib.inputs import TextInputs
    from faithlib.perturb import Perturber

    model, tokenizer = drawn.model(shape), drawn.tokenizer()
    whole, ours, exact = {}, {}, {}
    for number, (work, sizes) in enumerate(WORKS.items()):
        texts = texts_of(sizes, tokenizer, seed=number)
        inputs = TextInputs.from_texts(texts, tokenizer, unit="wordpiece")
        with torch.inference_mode():
            answers = [model(**tokenizer(text, return_tensors="pt")).logits.argmax().item() for text in texts]
        ids = [tokenizer(text)["input_ids"] for text in texts]
        whole[work] = list(zip(ids, answers, strict=True))

        def perturber(inputs: TextInputs = inputs, answers: list[int] = answers) -> Perturber:
            return Perturber(model, inputs, erase="mask", target=answers, check=False)

        def run(work: str = work, made: Callable[[], Perturber] = perturber) -> Ends:
            found = exact_bounds(made()) if work == "exact" else beam_bounds(made(), width=WIDTH)
            return list(zip(found.lower.tolist(), found.upper.tolist(), strict=True))

        ours[work] = timed(run, model, repeats)
        known = exact_bounds(perturber())
        exact[work] = list(zip(known.lower.tolist(), known.upper.tolist(), strict=True))
        if work != "exact":
            apart = orders_apart(perturber())

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model.save_pretrained(folder)
        tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
        special = {
            f"{kind}_token": getattr(tokenizer, f"{kind}_token") for kind in ("pad", "unk", "cls", "sep", "mask")
        }
        about = {"tokenizer_class": "PreTrainedTokenizerFast", **special}
        (folder / "tokenizer_config.json").write_text(json.dumps(about))
        (folder / "texts.json").write_text(json.dumps(whole))
        command = [python, __file__, "--as-theirs", str(folder), "--repeats", str(repeats)]
        command += ["--threads", str(torch.get_num_threads())]
        answered = subprocess.run(command, capture_output=True, text=True, check=False)
    if answered.returncode:
        sys.exit(f"{answered.stderr}\n{' '.join(command)} failed")
    found = json.loads(answered.stdout.strip().splitlines()[-1])

    theirs_found = torch.tensor(found["beam of 5"]["ends"])
    gap = float((theirs_found - torch.tensor(apart)).abs().max())
    print(f"aopc's beam is a beam over orders, sets not merged, to {gap:.1e}", flush=True)
    rows = []
    for work in WORKS:
        for library, measured in (("faithlib", ours[work]), ("aopc 0.1.0", found[work])):
            inside = [
                max(low - least, most - high)
                for (low, high), (least, most) in zip(measured.pop("ends"), exact[work], strict=True)
            ]
            rows.append(
                {
                    "work": work,
                    "model": shape,
                    "library": library,
                    **measured,
                    "off": max(map(abs, inside)),
                    "looser": sum(gap > INSIDE for gap in inside),
                    "texts": len(inside),
                    "device": f"{platform.machine()}, {torch.get_num_threads()} threads",
                }
            )
            print(rows[-1], flush=True)
    return rows


def orders_apart(perturber: Any) -> Ends:
    """What a beam finds that keeps orders apart which remove the same set, so that few sets fill it: the cause of
    aopc's looser ends."""
    ends = []
    for i, size in enumerate(perturber.feature_mask.sum(dim=1).tolist()):
        single = perturber.subset([i])
        found = []
        for sign in (1.0, -1.0):
            beam: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
            for _ in range(size):
                longer = [(total, (*order, f)) for total, order in beam for f in range(size) if f not in order]
                sets = list(dict.fromkeys(frozenset(order) for _, order in longer))
                keep = torch.tensor([[f not in gone for f in range(perturber.feature_mask.shape[1])] for gone in sets])
                drops = (single.full[:, None] - single.keep(keep[None] & single.feature_mask[:, None]))[0].tolist()
                drop_of = dict(zip(sets, drops, strict=True))
                longer = [(total + drop_of[frozenset(order)], order) for total, order in longer]
                beam = sorted(longer, key=lambda entry: -sign * entry[0])[:WIDTH]
            found.append(beam[0][0] / size)
        ends.append((found[1], found[0]))
    return ends


def texts_of(sizes: list[int], tokenizer: Any, seed: int) -> list[str]:
    """Drawn texts with these numbers of pieces, without [CLS] and [SEP]."""
    import drawn

    texts = []
    for number, size in enumerate(sizes):
        words = drawn.texts(1, seed=100 * seed + number, of=[size])[0].split()
        while len(tokenizer.tokenize(" ".join(words))) > size:
            words.pop()
        texts.append(" ".join(words))
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--theirs", default=sys.executable, help="the Python of the environment that has aopc")
    parser.add_argument("--as-theirs", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--model", default="minilm-l6")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.as_theirs:
        theirs(options.as_theirs, options.repeats)
        return
    rows = compare(options.theirs, options.model, options.repeats)
    if options.out:
        import pandas as pd

        pd.DataFrame(rows).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
