"""What the tables of Zhao & Aletras (2023) are compared with beside diagnosticity: data and classifiers of Table 1 from
the models' cards and the data that is here, the precision of the runs.

    table, sizes = data_and_classifiers(["sst", "movie"], models)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from faithbook.engine.plan import MANIFEST
from faithbook.engine.run import Run
from faithbook.judge import costs
from faithbook.judge.materials import stands_for
from faithbook.judge.published import our_table, table
from faithbook.judge.scores import REFERENCE, Scores
from faithbook.models.cards import cards
from faithbook.show.labels import label
from faithbook.stats.comparison import Comparison
from faithbook.stats.inference import wilson
from faithbook.studies.soft.zhao_aletras import SIZES
from faithbook.studies.soft.zhao_aletras_diagnosticity import PAIRS

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

    Cards of the `models` that were explained tell what each learnt and reached, and how large their data was; words,
    classes and limits were measured once (`data/text_lengths.csv`), so that the table is the same on every machine. A
    data set that is neither in that file nor on a card has dashes.
    """
    printed, shipped = table("soft_table1").set_index(["dataset", "metric", "split"]), _explained(models)
    rows, sizes, substitutes = [], {}, stands_for("zhao_aletras_2023")
    for name in names:
        of_set, theirs = shipped[shipped["dataset"] == name], substitutes.get(name, name)
        facts = _measured(name)
        with_printed = partial(_with_printed, printed["value"], theirs)
        row = {"dataset": name, **_of_texts(facts, of_set, with_printed)}
        for split in SPLITS:
            size = _told_size(of_set, split)
            if np.isnan(size) and split in facts.index:
                size = float(facts["texts"][split])
            sizes[name, split] = size
            row[split] = with_printed(UNKNOWN if np.isnan(size) else f"{size:,.0f}", "size", split)
        f1, deviation = (printed[column][theirs, "avg_f1", ""] for column in ("value", "spread"))
        for model in [one for one in SIZES if one in set(of_set.get("classifier", ()))] or [""]:
            trained = of_set[of_set["classifier"] == model] if len(of_set) else of_set
            named = SIZES[model] if len(trained) else UNKNOWN
            rows.append(row | {"model": named} | _of_classifiers(trained, f"{f1} ± {deviation}"))
    return pd.DataFrame(rows).reindex(columns=[*COLUMNS]).astype(object).fillna(UNKNOWN), sizes


def _with_printed(printed: pd.Series, of: str, ours: object, metric: str, split: str = "") -> str:
    """Ours with the published value in brackets."""
    return f"{ours} ({printed[of, metric, split]:,.0f})"


def _explained(models: Iterable[str]) -> pd.DataFrame:
    """The cards of the explained models, or of all of a task's own where none is among them; of two sizes both."""
    known = cards()
    if known.empty:
        return pd.DataFrame(columns=["dataset", "checkpoint"])
    known = known[known["classifier"].isin(SIZES)]
    explained = {name.rpartition("checkpoints/")[2].removeprefix("local:") for name in models}
    return known[known["checkpoint"].isin(explained)] if explained & set(known["checkpoint"].unique()) else known


def _measured(name: str) -> pd.DataFrame:
    """Texts, words a text, classes and limit of the splits of a data set, as they were measured where it lies."""
    known = our_table("text_lengths")
    facts = known[known["dataset"] == name].set_index("split").drop(columns="dataset")
    return facts.astype(float)


def _told_size(of_set: pd.DataFrame, split: str) -> float:
    """A split's size as cards tell it: older ones, from whose data nothing was left out, only how much was read."""
    whole = of_set.get("split_sizes", pd.Series(dtype=object)).dropna()
    sizes_of_split = [sizes[split] for sizes in whole] or of_set.get(f"{split}_size", whole).tolist() or [np.nan]
    return float(sizes_of_split[0])


def _of_texts(facts: pd.DataFrame, of_set: pd.DataFrame, with_printed: Callable[..., str]) -> dict[str, Any]:
    """Length, classes and limit of the texts, as measured, else what cards know of them."""
    if "test" not in facts.index:
        return {"classes": with_printed(len(of_set["label_names"].iloc[0]), "classes")} if len(of_set) else {}
    test = facts.loc["test"]
    return {
        "words per text": with_printed(f"{test['words']:.0f}", "avg_length"),
        "classes": with_printed(f"{test['classes']:.0f}", "classes"),
        "cut at": f"{test['max_length']:.0f} wordpieces",
    }


def _of_classifiers(of_set: pd.DataFrame, printed: str) -> dict[str, Any]:
    """What the classifiers of a data set have learnt from and reach, beside the printed F1; nothing without a card."""
    if of_set.empty:
        return {}
    f1 = 100 * of_set["macro_f1"]
    return {
        "cut at": f"{of_set['max_length'].min():.0f} wordpieces",
        "trained on": f"{of_set['train_size'].min():,.0f}",
        "F1 ± deviation": f"{f1.mean():.1f} ± {f1.std(ddof=0):.1f} ({printed})",
        "majority F1": f"{100 * of_set['majority_macro_f1'].mean():.1f}",
        "models": len(of_set),
    }


def tried_in_words(checkpoint: str) -> str:
    """What one training on a data set of the paper came to, in sentences; empty where its card is not there.

    Accuracy has Wilson's 95 % interval, and is held against always answering the most frequent class.
    """
    known = cards()
    of_one = known[known["checkpoint"] == checkpoint] if len(known) else known
    if of_one.empty:
        return ""
    card = of_one.iloc[0]
    low, high = (float(end) for end in wilson(card["accuracy"], card["test_size"]))
    printed = table("soft_table1").set_index(["dataset", "metric", "split"]).value[card["dataset"], "avg_f1", ""]
    percent = {
        name: f"{100 * card[name]:.1f} %" for name in ("accuracy", "majority_accuracy", "macro_f1", "majority_macro_f1")
    }
    interval = f"[{100 * low:.1f}, {100 * high:.1f}]"
    answer = (
        "The interval lies above the most frequent class, so the task is learnable to this degree"
        if low > card["majority_accuracy"]
        else "The interval does not lie above the most frequent class, so it was not learnable in this way"
    )
    epochs = len(card["dev_loss"])
    return (
        f"{card['train_size']:,.0f} texts to learn from, {epochs} epochs, {card['test_size']:.0f} test texts: "
        f"accuracy {percent['accuracy']} {interval}, most frequent class {percent['majority_accuracy']}; "
        f"macro-F1 {percent['macro_f1']}, most frequent class {percent['majority_macro_f1']}, printed {printed:.1f} %. "
        f"{answer}."
    )


def precision_of(run: Run, measured: Scores) -> str:
    """In which precision the runs behind the numbers computed, as their manifests tell; several are joined.

    The setting `auto` is settled where a run is planned, which need not be the machine that draws its page.
    """
    of_upstream = (json.loads((folder / MANIFEST).read_text(encoding="utf-8")) for folder in run.upstream)
    manifests = costs.reference_runs() if measured.source == REFERENCE else of_upstream
    of_notebook = [one for one in manifests if one["notebook"] == measured.notebook]
    of_these = [one for one in of_notebook if one["parameters"].get("dataset") in measured.material.datasets]
    return " and ".join(sorted({str(one.get("settings", {}).get("dtype", "not noted")) for one in of_these}))


# ------------------------------------------------------------------------------------------------------ how tables read
@dataclass(frozen=True)
class Ahead:
    """In how many of n comparisons the first of two is clearly ahead (a 95 % interval above zero) or behind."""

    ahead: int
    behind: int
    n: int


def ahead(differences: Iterable[Comparison]) -> Ahead:
    """Count differences whose interval excludes zero."""
    intervals = [difference.ours.interval() for difference in differences]
    above = sum(interval.low > 0 for interval in intervals)
    below = sum(interval.high < 0 for interval in intervals)
    return Ahead(above, below, len(intervals))


def soft_ahead(power: Callable[..., Comparison], by: str, groups: Iterable[str]) -> Ahead:
    """In how many groups (methods or data sets, by the name of their label) the soft metrics are ahead of the hard
    ones, of both pairs: `power(metric, method=...)`."""
    pairs = product(groups, PAIRS.items())
    return ahead(power(soft, **{by: group}) - power(hard, **{by: group}) for group, (hard, soft) in pairs)


def first_words(models: Iterable[str]) -> dict[str, str]:
    """The names of models without their sizes, for narrow columns.

    >>> first_words(["MPNet, 12 layers, 109 M"])
    {'MPNet, 12 layers, 109 M': 'MPNet'}
    """
    return {model: model.partition(",")[0] for model in models}


def ours_first(table: pd.DataFrame) -> pd.DataFrame:
    """A table with the columns of published values after ours, before n.

    >>> list(ours_first(pd.DataFrame(columns=["metric", "published, 4 tasks", "ours", "n"])))
    ['metric', 'ours', 'published, 4 tasks', 'n']
    """
    published = [name for name in table.columns if name.startswith("published")]
    return table[[*(name for name in table.columns if name not in (*published, "n")), *reversed(published), "n"]]


def main_columns(table1: pd.DataFrame) -> pd.DataFrame:
    """Table 1 (`data_and_classifiers`) without limits, majority and training runs, models by their first word."""
    narrow = table1.drop(columns=["cut at", "majority F1", "models"])
    return narrow.assign(model=narrow["model"].replace(first_words(narrow["model"])))


def settings_wide(settings: pd.DataFrame) -> pd.DataFrame:
    """Training settings with a row for each data set: ours with the published one in brackets."""
    cells = settings.assign(cell=settings["ours"] + " (" + settings["published"] + ")")
    wide = cells.pivot(index=["data set", "model"], columns="setting", values="cell").reset_index()
    order = list(dict.fromkeys(settings["data set"]))
    wide = wide.set_index("data set").loc[order].reset_index().rename_axis(columns=None)
    named = wide.assign(**{"data set": wide["data set"].map(label)})
    return named.rename(columns={"learning rate linear": "learning rate of the last layer"})
