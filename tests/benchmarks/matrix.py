"""What the whole matrix of `evaluate` costs: every metric of many attributions of the same inputs, texts and pictures.

    .venv/bin/python tests/benchmarks/matrix.py [--inputs 4] [--growth 1 4 16] [--out table.csv]

Ten score vectors an input, on a real MiniLM (texts of 16 tokens) and on a small ViT (28 x 28 pixels, 49 cells), with
all metrics and without NAOPC, whose bounds are searched (beam of 3 for texts, 1 for pictures):
- `asked`, `run`: rows per input that the metrics asked for and rows that the model saw;
- `alone`: rows per input that the model sees where each family of metrics has a call of its own, with all attributions
  in it (measured on two inputs); `alone / run` is what metrics save by sharing with one another;
- `floor`: rows run x the time one row takes in the best of several batch sizes, measured between the forwards of the
  work itself (`timing.Beside`), for a shared machine is not equally fast all the time;
- `ratio`: wall time from scores to table, all `--repeats` of it, over that floor (aim: at most 1.10 for all but the
  smallest runs);
- `outside the model`: the share of wall time in which no chunk was running: masks, keys, metrics and the table;
- `naive / ours`: the time of running every row asked, one at a time, to ours;
- `peak MB`: tensors alive in one chunk (on a GPU: allocated), and the growth of the process;
- the slope: all of it again with 1, 4 and 16 times the inputs.

Attributions are given as scores, so that the time is that of perturbing and measuring alone. One thread.
"""

from __future__ import annotations

import argparse
import resource
from typing import Any

import pandas as pd
import torch
from core import naive_seconds_a_row as naive_text
from core import plain_text, texts_of
from saco import images_and_scores, plain_image, vit
from saco import naive_seconds_a_row as naive_image
from timing import CLOCKS, Beside
from torch import Tensor, nn

from faithbook.models.load import load_model
from faithlib.catalogue import FAMILIES
from faithlib.evaluation import evaluate
from faithlib.inputs import Inputs

TOKENS, PATCH, METHODS, PRICED = 16, 4, 10, 2
BATCH_SIZES = {"cpu": (16, 32, 64, 96), "cuda": (256, 1024, 2048)}
BEAM = {"text": 3, "image": 1}
ASKING = {name: family for name, family in FAMILIES.items() if not family.needs_gold}
CHOSEN = {"all but NAOPC": [name for name in ASKING if name != "naopc"], "every metric": list(ASKING)}


def metrics_of(families: list[str]) -> list[str]:
    return [metric for name in families for metric in FAMILIES[name].directions]


def made_up(inputs: Inputs) -> dict[str, Tensor]:
    """Ten score vectors an input. The cost does not depend on where scores come from."""
    generator = torch.Generator().manual_seed(0)
    return {f"{i}": torch.randn(inputs.feature_mask.shape, generator=generator) for i in range(METHODS)}


def rows_alone(model: nn.Module, inputs: Inputs, scores: dict[str, Tensor], families: list[str], beam: int) -> float:
    """Rows run an input where each family of metrics is computed in a call of its own."""
    few, run = inputs[list(range(PRICED))], 0
    own = {name: one[:PRICED] for name, one in scores.items()}
    for name in families:
        run += evaluate(model, few, methods=own, metrics=metrics_of([name]), beam=beam).attrs["costs"]["rows_run"]
    return run / PRICED


def measure(kind: str, model: nn.Module, device: str, n: int, what: str, repeats: int) -> dict[str, object]:
    if kind == "text":
        inputs = texts_of(TOKENS, n, load_model("local:text/movie-seed0").tokenizer)
        plain = plain_text(TOKENS, device)
    else:
        inputs, _ = images_and_scores(n, PATCH)
        plain = plain_image(device)
    scores, families, beam = made_up(inputs), CHOSEN[what], BEAM[kind]
    alone = rows_alone(model, inputs, scores, families, beam)  # a warm-up, too
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    options: dict[str, Any] = {"methods": scores, "metrics": metrics_of(families), "beam": beam}
    with Beside(model, plain, BATCH_SIZES[device]) as beside:
        runs = [evaluate(model, inputs, **options).attrs["costs"] for _ in range(repeats)]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    costs, seconds = runs[0], beside.seconds / repeats
    floor = costs["rows_run"] * beside.seconds_a_row()
    naive = naive_text(model, inputs) if kind == "text" else naive_image(model, inputs, scores["0"], CLOCKS["wall"])
    return {
        "inputs of": kind,
        "metrics": what,
        "inputs": n,
        "asked": round(costs["rows_asked"] / n, 1),
        "run": round(costs["rows_run"] / n, 1),
        "alone": round(alone, 1),
        "alone / run": round(alone * n / costs["rows_run"], 2),
        "seconds": round(seconds, 2),
        "floor": round(floor, 2),
        "ratio": round(seconds / floor, 3),
        "outside the model": round(beside.outside(sum(run["seconds_model"] for run in runs)), 3),
        "naive / ours": round(naive * costs["rows_asked"] / seconds, 2),
        "peak MB": round(costs["peak_bytes"] / 1e6, 1),
        "process grew MB": round(grown / 1e3, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=4, help="inputs at growth 1, at least two")
    parser.add_argument("--growth", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--repeats", type=int, default=3, help="of all of it")
    parser.add_argument("--threads", type=int, default=1, help="of a processor; 0: as many as torch takes")
    parser.add_argument("--out", help="write the table as CSV")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    models = {"text": load_model("local:text/movie-seed0").model.to(device), "image": vit(device)}
    rows = []
    for kind, model in models.items():
        for what in CHOSEN:
            for growth in options.growth:
                rows.append(measure(kind, model, device, options.inputs * growth, what, options.repeats))
                print(pd.DataFrame(rows[-1:]).to_string(index=False, header=len(rows) == 1), flush=True)
    if options.out:
        pd.DataFrame(rows).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
