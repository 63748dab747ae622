"""What the tables of Zhao & Aletras (2023) are compared with beside diagnosticity: data and classifiers of Table 1 from
the models' cards and the data that is here, the precision of the runs.

    table, sizes = data_and_classifiers(["sst", "movie"], models)
    wrong_sizes(sizes, ["sst"])
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from faithbook.engine.plan import MANIFEST
from faithbook.engine.run import Run
from faithbook.models.cards import cards
from faithbook.papers.zhao_aletras import STAND_INS
from faithbook.papers.zhao_aletras_sizes import SIZES
from faithbook.results.labels import label
from faithbook.results.measured import REFERENCE, Measured
from faithbook.results.published import table
from faithbook.sources import datasets
from faithbook.timing import of_reference
from faithlib.errors import DataError, InputError

SPLITS = ("train", "dev", "test")
COLUMNS = (
    *("dataset", "model", "words per text", "classes", "cut at", *SPLITS),
    *("trained on", "F1 ± deviation", "majority F1", "models"),
)
UNKNOWN = "–"
Sizes = dict[tuple[str, str], float]
"""By data set and split how many texts, NaN where neither the data nor a card tells."""


# ------------------------------------------------------------------------------------------------------------- Table 1
def data_and_classifiers(names: Iterable[str], models: Iterable[str]) -> tuple[pd.DataFrame, Sizes]:
    """Table 1 for these data sets, as text with the published value in brackets, and the sizes of their splits.

    Cards of the `models` that were explained tell what each learnt and reached, and what they know of the data, where
    that is not here: the words a text are known of data that is here alone.
    """
    printed, shipped = table("soft_table1").set_index(["dataset", "metric", "split"]), _explained(models)
    rows, sizes = [], {}
    for name in names:
        own, theirs = shipped[shipped["dataset"] == name], STAND_INS.get(name, name)
        splits, beside = {split: _split(name, split) for split in SPLITS}, partial(_beside, printed["value"], theirs)
        row = {"dataset": name, **_of_texts(splits["test"], own, beside)}
        for split, data in splits.items():
            size = sizes[name, split] = _told_size(own, split) if data is None else len(data)
            row[split] = beside(UNKNOWN if np.isnan(size) else f"{size:,.0f}", "size", split)
        f1, deviation = (printed[column][theirs, "avg_f1", ""] for column in ("value", "spread"))
        for model in [one for one in SIZES if one in set(own.get("classifier", ()))] or [""]:
            trained = own[own["classifier"] == model] if len(own) else own
            rows.append(row | {"model": SIZES[model]} | _of_classifiers(trained, f"{f1} ± {deviation}"))
    return pd.DataFrame(rows).reindex(columns=[*COLUMNS]).astype(object).fillna(UNKNOWN), sizes


def wrong_sizes(sizes: Sizes, names: Collection[str]) -> str:
    """How many splits of these data sets of the paper's own have the printed size, and which have not, in words; ""
    where the size of none is known."""
    printed = table("soft_table1").set_index(["dataset", "metric", "split"])["value"]
    known = {of: size for of, size in sizes.items() if of[0] in names and not np.isnan(size)}
    off = {(name, split): size for (name, split), size in known.items() if size != printed[name, "size", split]}
    told = f"{len(known) - len(off)} of the {len(known)} splits that are here have the printed size"
    others = [
        f"{label(name)}, {split} {size:,.0f} (printed {printed[name, 'size', split]:,.0f})"
        for (name, split), size in off.items()
    ]
    return (f"{told}; not {', '.join(others)}" if others else told) if known else ""


def _beside(printed: pd.Series, of: str, ours: object, metric: str, split: str = "") -> str:
    """Ours with the published value in brackets."""
    return f"{ours} ({printed[of, metric, split]:,.0f})"


def _explained(models: Iterable[str]) -> pd.DataFrame:
    """The cards of the explained models, or of all of a task's own where none is among them; of two sizes both."""
    found = cards()
    if found.empty:
        return pd.DataFrame(columns=["dataset", "checkpoint"])
    found = found[found["classifier"].isin(SIZES)]
    explained = {name.rpartition("checkpoints/")[2].removeprefix("local:") for name in models}
    return found[found["checkpoint"].isin(explained)] if explained & set(found["checkpoint"]) else found


def _split(name: str, split: str) -> datasets.Dataset | None:
    """A split's data, None where it is not on this machine or no run of this profile reads it."""
    try:
        return datasets.load_dataset(name, split)
    except (DataError, InputError):
        return None


def _told_size(own: pd.DataFrame, split: str) -> float:
    """A split's size as cards tell it: older ones, from whose data nothing was left out, only how much was read."""
    whole = own.get("split_sizes", pd.Series(dtype=object)).dropna()
    if not whole.empty:
        return float(whole.iloc[0][split])
    return np.nan if own.empty else float(own[f"{split}_size"].iloc[0])


def _of_texts(test: datasets.Dataset | None, own: pd.DataFrame, beside: Callable[..., str]) -> dict[str, Any]:
    """Length, classes and limit of the texts: of the data that is here, else what cards know of it."""
    if test is None:
        return {"classes": beside(len(own["label_names"].iloc[0]), "classes")} if len(own) else {}
    queries = test.queries or [""] * len(test.texts)
    words = [len(f"{query} {text}".split()) for query, text in zip(queries, test.texts, strict=True)]
    found = {"words per text": beside(f"{np.mean(words):.0f}", "avg_length")}
    return found | {"classes": beside(len(test.label_names), "classes"), "cut at": f"{test.max_length} wordpieces"}


def _of_classifiers(own: pd.DataFrame, printed: str) -> dict[str, Any]:
    """What the classifiers of a data set have learnt from and reach, beside the printed F1; nothing without a card."""
    if own.empty:
        return {}
    f1 = 100 * own["macro_f1"]
    return {
        "cut at": f"{own['max_length'].min():.0f} wordpieces",
        "trained on": f"{own['train_size'].min():,.0f}",
        "F1 ± deviation": f"{f1.mean():.1f} ± {f1.std(ddof=0):.1f} ({printed})",
        "majority F1": f"{100 * own['majority_macro_f1'].mean():.1f}",
        "models": len(own),
    }


def precision_of(run: Run, measured: Measured) -> str:
    """In which precision the runs that speak asked their models, as their manifests tell; several are joined.

    The setting `auto` is settled where a run is planned, which need not be the machine that draws its page.
    """
    here = (json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in run.upstream)
    told = of_reference() if measured.speaks == REFERENCE else here
    own = [one for one in told if one["notebook"] == measured.notebook]
    of_these = [one for one in own if one["parameters"].get("dataset") in measured.material.datasets]
    return " and ".join(sorted({str(one.get("settings", {}).get("dtype", "not noted")) for one in of_these}))
