"""What searching for the bounds of AOPC costs beside the model's forward passes.

    .venv/bin/python tests/benchmarks/bounds.py [--features 10 20 40 80 160] [--width 5] [--out table.csv]

Exact bounds: seconds of bookkeeping and peak memory at N = 12, 16, 20 (answers come from a table, the time to read it
is taken off). Beams: bookkeeping of one text at growing N, the rows it asks for and runs, and what these would cost
in all-MiniLM-L6 at N + 2 tokens (rows x the time of a row in the best batch); `share` is the one to the other.
"""

from __future__ import annotations

import argparse
import resource
import time
from functools import partial

import pandas as pd
import torch
from core import seconds_a_row
from torch import Tensor

from faithbook.models.load import load_model
from faithlib.bounds import beam_bounds, exact_bounds
from faithlib.perturb import SetFunction


def table_function(n: int) -> SetFunction:
    """Random answers to all 2^n sets."""
    values, weights = torch.rand(2**n, dtype=torch.float64), 2 ** torch.arange(n)
    return SetFunction(lambda keep: values[(keep * weights).sum(dim=1)], n)


def smooth_function(n: int) -> SetFunction:
    """Answers that a classifier might give: additive in log-odds, with interactions of neighbours."""
    generator = torch.Generator().manual_seed(n)
    single, double = torch.randn(2, n, generator=generator)

    def answer(keep: Tensor) -> Tensor:
        kept = keep.float()
        return torch.sigmoid(kept @ single / n**0.5 + (kept[:, 1:] * kept[:, :-1]) @ double[1:] / n**0.5)

    return SetFunction(answer, n)


def timed(search: partial, score: SetFunction) -> dict[str, float]:
    start = time.perf_counter()
    bounds = search(score)
    seconds = time.perf_counter() - start - score.stats.seconds_model
    return {
        "bookkeeping": seconds,
        "asked": score.stats.rows_asked,
        "run": score.stats.rows_run,
        "certified": (bounds.certified_upper - bounds.upper).item(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, nargs="*", default=[10, 20, 40, 80, 160])
    parser.add_argument("--exact", type=int, nargs="*", default=[12, 16, 20])
    parser.add_argument("--width", type=int, default=5)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    rows = [
        {"search": "exact", "N": n} | timed(partial(exact_bounds, max_features=22), table_function(n))
        for n in arguments.exact
    ]
    model = load_model("local:text/movie-seed0").model
    searches = {
        "beam": partial(beam_bounds, width=arguments.width, limits=(0, 1)),
        "released": partial(beam_bounds, width=arguments.width, limits=(0, 1), variant="released"),
        "pruned": partial(beam_bounds, width=3, candidates=8, tolerance=0.005, limits=(0, 1)),
    }
    for n in arguments.features:
        row_seconds = seconds_a_row(model, n + 2, sizes=[max(1, 2048 // (n + 2) // part) for part in (1, 2, 4)])
        for name, search in searches.items():
            row = {"search": name, "N": n} | timed(search, smooth_function(n))
            rows.append(
                row | {"model": row["run"] * row_seconds, "share": row["bookkeeping"] / row["run"] / row_seconds}
            )
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="{:.4g}".format))
    if arguments.out:
        table.to_csv(arguments.out, index=False)


if __name__ == "__main__":
    main()
