"""Values of a GPU against a processor's: the first inputs of a run in the reference, computed again where this runs.

    FAITHLIB_DATA=… python tests/benchmarks/devices.py [INPUTS]

The run is study 1's with the larger encoder on SST-2 (seed 0), which one H100 computed. Every value of its first inputs
is asked again with the same settings and seeds; what is printed is how far the two lie apart, by metric.
"""

from __future__ import annotations

import sys

import pandas as pd
import torch

from faithbook.engine.studies import settings_of
from faithbook.paths import reference_dir
from faithbook.studies.soft.zhao_aletras_soft import Task
from faithlib.metrics.erasure import hard, soft
from faithlib.perturb import Perturber

DATASET, CLASSIFIER, SEED = "sst", "mpnet", 0
KEYS = ["id", "method", "metric", "ratio"]


def computed(inputs: int) -> pd.DataFrame:
    """One row per value: id, method, metric, ratio (0 for soft values), value."""
    settings = settings_of("soft_metrics", "full").at({"dataset": DATASET, "classifier": CLASSIFIER, "seed": SEED})
    task = Task.of_settings(settings, DATASET, SEED)
    texts = task.data[:inputs]
    asked = task.inputs_of(texts)
    scores = task.explained(asked)
    perturber = Perturber(task.model, asked, dtype=torch.float32)  # as the reference's run, whatever is quick here
    queued = {
        method: (
            hard.later(perturber, score, ratios=settings["ratios"]),
            soft.later(perturber, score, draws=settings["draws"], seed=SEED),
        )
        for method, score in scores.items()
    }
    rows = []
    for method, (hard_values, soft_values) in queued.items():
        values = {(metric, 0.0): value.mean(dim=1) for metric, value in soft_values().items()}
        for metric, by_ratio in hard_values().items():
            values |= {(metric, ratio): by_ratio[:, at] for at, ratio in enumerate(settings["ratios"])}
        for (metric, ratio), value in values.items():
            frame = pd.DataFrame({"id": texts.ids, "value": value.double().cpu()})
            rows.append(frame.assign(method=method, metric=metric, ratio=ratio))
    return pd.concat(rows, ignore_index=True)


def in_reference() -> pd.DataFrame:
    """The same rows as the reference keeps them."""
    folder = reference_dir() / "units" / "soft_metrics"
    name = f"{DATASET}_{CLASSIFIER}_{SEED}-units"
    parts = [pd.read_parquet(folder / f"{name}{kind}.parquet") for kind in ("", "_lengths")]
    return pd.concat(parts, ignore_index=True).fillna({"ratio": 0.0}).astype({"method": str, "metric": str})


def main() -> None:
    here = computed(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    pairs = here.merge(in_reference(), on=KEYS, suffixes=("_here", "_reference"), how="left", validate="one_to_one")
    # An input whose probability hardly falls when everything is erased has values of any size: limited as on the pages.
    limited = pairs[["value_here", "value_reference"]].clip(0, 1)
    pairs["apart"] = (limited.value_here - limited.value_reference).abs()
    pairs["kind"] = pairs.metric.where(pairs.method != "random", pairs.metric + ", random scores")
    table = pairs.groupby("kind").agg(
        values=("apart", "size"),
        missing=("value_reference", lambda values: values.isna().sum()),
        median=("apart", "median"),
        above_1e_3=("apart", lambda apart: (apart > 1e-3).sum()),
        most=("apart", "max"),
    )
    means = pairs.groupby("kind")[["value_here", "value_reference"]].agg(lambda values: values.clip(0, 1).mean())
    print(table.join(means).to_string(float_format="{:.6f}".format))
    print(pairs[pairs.apart > 1e-3].sort_values("apart").tail(20).drop(columns=["kind"]).to_string())


if __name__ == "__main__":
    main()
