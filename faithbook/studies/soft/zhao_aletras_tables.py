"""The tables of Zhao & Aletras (2023) of ours: Tables 2, 3 and 6 on the data sets and models that we have, what is
counted and claimed of them; data and classifiers of Table 1 from the models' cards and the data that is here, the
precision of the runs, the training settings of Table 5.

    compared = Compared.of(page.measure("soft_metrics", printed=table6, ...), order=["sst", "ag"])
    compared.power("nc", dataset="sst")  # the mean over methods, with the larger model
    table, sizes = data_and_classifiers(["sst", "movie"], models)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

from faithbook.engine.plan import MANIFEST
from faithbook.engine.run import Run
from faithbook.judge import costs
from faithbook.judge.decide import Parts, SameNumber
from faithbook.judge.deciding import have_to_hold
from faithbook.judge.materials import stands_for
from faithbook.judge.published import our_table, table
from faithbook.judge.scores import REFERENCE, Scores
from faithbook.models.cards import cards
from faithbook.show.labels import label
from faithbook.show.numbers import beside, ends_of, spoken, written
from faithbook.stats.comparison import Comparison
from faithbook.stats.inference import wilson
from faithbook.studies.soft.zhao_aletras import SIZES, shared
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    LIMIT,
    METHODS,
    METRICS,
    PAIRS,
    TIE,
    WIN,
    Power,
    Reading,
    eighteen,
    readings,
    specifications,
)
from faithbook.text import joined

SPLITS = ("train", "dev", "test")
COLUMNS = (
    *("dataset", "model", "words per text", "classes", "cut at", *SPLITS),
    *("trained on", "F1 ± deviation", "majority F1", "models"),
)
UNKNOWN = "–"
SCALED, AS_CODED = "scaled_attention", "scaled_attention=released"
"""The method of deviation D6, and the variant of `soft_variants` that squares attention as the released code does."""
Sizes = dict[tuple[str, str], float]
"""By data set and split how many texts, NaN where neither the data nor a card tells."""


# ------------------------------------------------------------------------------------------------- Tables 2, 3 and 6
@dataclass(frozen=True)
class Compared:
    """What is compared with Tables 2, 3 and 6.

    - `measured`: wins, ties and ties at the limit by model, data set, method and metric, with the values of Table 6;
    - `tasks`: our data sets that are compared with the paper's, in the paper's order;
    - `stands`: by substitute the data set of the paper that it replaces;
    - `order`: the paper's data sets;
    - `models`: ours that explained all tasks, the largest first.
    """

    measured: Scores
    tasks: list[str]
    stands: Mapping[str, str]
    order: list[str]
    models: list[str]

    @classmethod
    def of(cls, measured: Scores, *, order: Iterable[str]) -> Compared:
        """Of what was measured, with the paper's data sets in its `order`."""
        stands, of_paper = stands_for(measured.paper), list(dict.fromkeys(order))
        place = {name: of_paper.index(stands.get(name, name)) for name in measured.comparable()}
        tasks = sorted(place, key=lambda name: place[name])
        return cls(measured, tasks, stands, of_paper, shared(measured.frame, tasks))

    @property
    def model(self) -> str:
        """The model on which claims are judged."""
        return self.models[0]

    @property
    def ours(self) -> dict[str, str]:
        """By data set of the paper, ours."""
        return {self.stands.get(name, name): name for name in self.tasks}

    @property
    def is_whole(self) -> bool:
        """Whether every data set of the paper, or a substitute of it, is compared."""
        return set(self.ours) == set(self.order)

    @property
    def own(self) -> list[str]:
        """The paper's own data sets among the tasks."""
        return [name for name in self.tasks if name not in self.stands]

    @property
    def substitutes(self) -> list[str]:
        """Substitutes that were measured next to the tasks."""
        levels = self.measured.levels("dataset")
        return [name for name in self.stands if name in levels and name not in self.tasks]

    @property
    def lacking(self) -> list[str]:
        """Data sets of the paper that are not among the tasks."""
        return [name for name in self.order if name not in self.tasks]

    def of_model(self, metric: str, **labels: object) -> Comparison:
        """Diagnosticity of a metric, mean over methods and tasks if they are not named."""
        usual: dict[str, object] = {"method": METHODS, "dataset": self.tasks, "shows": WIN}
        return self.measured.mean(**{**usual, "metric": metric, **labels})

    def power(self, metric: str, **labels: object) -> Comparison:
        """`of_model` with the model on which claims are judged."""
        return self.of_model(metric, **{"model": self.model, **labels})

    def averages(self, model: str) -> dict[str, Comparison]:
        """Diagnosticity of the four metrics with a model, by their names for people."""
        return {label(metric): self.of_model(metric, model=model) for metric in METRICS}

    def gains(self) -> dict[str, tuple[Comparison, Comparison, Comparison]]:
        """By soft metric: its hard counterpart, itself and the difference."""
        pairs = {}
        for hard, soft in PAIRS.items():
            pairs[label(soft)] = (self.power(hard), self.power(soft), self.power(soft) - self.power(hard))
        return pairs

    def printed(self, name: str) -> pd.DataFrame:
        """A published table with our data sets instead of those that they replace, without data sets that we lack, once
        for each of our models."""
        published = table(name)
        if "dataset" in published:
            published = published.assign(dataset=published["dataset"].replace(self.ours))
            published = published[published["dataset"].isin([*self.tasks, "average"])]
        return published.merge(pd.DataFrame({"model": self.models}), how="cross")

    def cell(self, row: Mapping[str, Any]) -> Comparison:
        """Ours of a row of `printed`, next to the published value with all its digits. The published value of an
        average is that of our data sets alone, by Table 6."""
        method, dataset = row.get("method", "average"), row.get("dataset", "average")
        labels = {
            "model": row["model"],
            "method": METHODS if method == "average" else method,
            "dataset": self.tasks if dataset == "average" else dataset,
        }
        ours = self.of_model(row["metric"], **labels)
        if dataset == "average" and not self.is_whole:
            return ours
        return replace(ours, published=float(row["value"]))

    def on_substitutes(self) -> dict[tuple[str, str, str], Comparison]:
        """Diagnosticity by substitute, data set that it replaces and metric, with the largest model that it has."""
        cells = {}
        for name, metric in product(self.substitutes, METRICS):
            largest = shared(self.measured.frame, [name])[0]
            cells[name, self.stands[name], metric] = self.of_model(metric, dataset=name, model=largest)
        return cells


def in_short(compared: Compared, *, judges: bool) -> str:
    """The result of `soft_tables`: how often each metric prefers the real explanation; whether soft metrics are clearly
    behind hard ones is said only where the page `judges`."""
    pairs, behind = [], []
    for (name, (hard, soft, gain)), hard_metric in zip(compared.gains().items(), PAIRS, strict=True):
        pairs.append(f"{name} {beside(soft)} against {label(hard_metric)} {beside(hard)}")
        behind.append(gain.ours.interval().high < 0)
    result = ""
    if all(behind) and judges:
        result = (
            "Soft metrics, which blur words, separate real from random explanations *worse* than hard metrics, which "
            "delete them. "
        )
    return (
        f"{result}Share of texts on which a metric prefers the real explanation (0.5 is chance): {'; '.join(pairs)}. "
        f"Model: {compared.model}; mean over {listing(compared.tasks)}, ours and published; n = "
        f"{compared.power('nc').ours.n:,} in the smallest set."
    )


def texts_by_model_in_words(compared: Compared) -> str:
    """On how many texts of each data set each model was measured (n of NC)."""
    models = []
    for model in compared.models:
        counts = {name: compared.of_model("nc", dataset=name, model=model).ours.n for name in compared.tasks}
        models.append(f"{first_word(model)} " + joined(f"{n:,} of {label(name)}" for name, n in counts.items()))
    return f"Texts with a score: {'; '.join(models)}. The n of a mean over data sets is that of the smaller one."


def averages_in_words(compared: Compared) -> str:
    """The averages of each soft metric and of its hard counterpart, for a caption."""
    averages = []
    for hard, soft in PAIRS.items():
        of_soft, of_hard = compared.power(soft).ours.point, compared.power(hard).ours.point
        averages.append(f"{label(soft)} {of_soft:.2f}, {label(hard)} {of_hard:.2f}")
    return "; ".join(averages)


def printed_near_attention() -> tuple[float, float]:
    """How far the printed cells of scaled attention lie from those of attention in Table 6: mean and largest."""
    wide = table("soft_table6").pivot(index=["dataset", "metric"], columns="method", values="value")
    distance = (wide["attention"] - wide["scaled_attention"]).abs()
    return float(distance.mean()), float(distance.max())


def scaled_attention_squared(compared: Compared, tried: Scores) -> pd.DataFrame:
    """Scaled attention alone and the mean over methods, by metric: as published, with the gradient (the text) and
    squared (the released code), mean over the data sets on which choices were varied (`tried`), on the same texts."""
    datasets = [name for name in compared.own if name in tried.levels("dataset")]
    if AS_CODED not in tried.levels("variant") or not datasets:
        return pd.DataFrame()
    of_sets = table("soft_table6").query("dataset in @datasets")
    rows = []
    for methods, metric in product(([SCALED], METHODS), METRICS):
        cells = {"metric": metric, "method": methods, "dataset": datasets, "shows": WIN}
        printed = of_sets.query("metric == @metric and method in @methods")["value"].mean()
        with_gradient, squared = (tried.mean(variant=variant, **cells) for variant in ("paper", AS_CODED))
        row = {"metric": metric, "method": "average", "published": printed}
        if methods == [SCALED]:
            row["method"] = SCALED
        row |= {"with gradient": with_gradient.ours.point, **ends_of(squared, "squared", "low", "high")}
        rows.append(row | {"n": squared.ours.n})
    return pd.DataFrame(rows)


def squared_in_words(compared: Compared, tried: Scores, squared: pd.DataFrame) -> str:
    """Under how many metrics squared attention is nearer to the published values, and what it changes of soft minus
    hard."""
    row = squared[squared["method"] == SCALED]
    nearer = (row["squared"] - row["published"]).abs() < (row["with gradient"] - row["published"]).abs()
    return (
        f"Squared attention is nearer to the published values of α∇α under {nearer.sum()} of {len(row)} metrics, so it "
        "does not explain how far ours are from them. Soft minus hard, mean over the five methods, goes "
        f"{_gains_with_squared(compared, tried)}. Verdicts follow the text; c01 with squared attention is one of "
        "the variants in its figure above."
    )


def _gains_with_squared(compared: Compared, tried: Scores) -> str:
    """Soft minus hard, mean over methods, with scaled attention by its gradient and squared, on the same texts."""
    datasets = [name for name in compared.own if name in tried.levels("dataset")]
    changes = []
    for hard, soft in PAIRS.items():
        gains = []
        for variant in ("paper", AS_CODED):
            cells = {"variant": variant, "method": METHODS, "dataset": datasets, "shows": WIN}
            gains.append(tried.mean(metric=soft, **cells) - tried.mean(metric=hard, **cells))
        before, after = gains
        changes.append(
            f"from {spoken(before, '.2f')} to {spoken(after, '.2f')} for {label(soft)} minus {label(hard)} "
            f"(n = {after.ours.n})"
        )
    return joined(changes)


def listing(names: Iterable[str]) -> str:
    """Names of data sets for a sentence.

    >>> listing(["sst", "ag"])
    'SST and AG News'
    """
    return joined(map(label, names))


def numbers_of_table2(compared: Compared) -> pd.DataFrame:
    """Every number of Table 2 by metric and method: as published over four tasks and over those that we have, ours with
    its interval, ours with further models, n."""
    rows = []
    for printed in table("soft_table2").to_dict("records"):
        methods = printed["method"]
        if methods == "average":
            methods = METHODS
        ours = compared.of_model(printed["metric"], model=compared.model, method=methods)
        row = {"metric": printed["metric"], "method": printed["method"], "published, 4 tasks": printed["value"]}
        row |= {f"published, {len(compared.tasks)} tasks": ours.published, **ends_of(ours, "ours", "low", "high")}
        for model in compared.models[1:]:
            value = compared.of_model(printed["metric"], model=model, method=methods).ours.point
            row[f"ours, {first_word(model)}"] = value
        rows.append(row | {"n": ours.ours.n})
    return pd.DataFrame(rows)


def published_averages() -> dict[str, float]:
    """What the paper prints of each metric in Table 2, mean over its methods and its four data sets."""
    averages = table("soft_table2").query("method == 'average'")
    return dict(zip(averages["metric"], averages["value"], strict=True))


def rank_sum_tests(compared: Compared) -> list[str]:
    """Wilcoxon's rank-sum test of soft against hard, with the cells of Table 6 as the two samples, as published and
    ours: p-value and Cliff's delta in words."""
    published = table("soft_table6").groupby("metric")["value"].apply(list)
    ours: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for metric, dataset, method in product(METRICS, compared.tasks, METHODS):
        ours[metric].append(compared.power(metric, dataset=dataset, method=method).ours.point)
    lines = []
    for kind, samples in (("published", published), ("ours", ours)):
        for hard, soft in PAIRS.items():
            first, second = (pd.Series(samples[name]).dropna() for name in (soft, hard))
            test = scipy.stats.mannwhitneyu(first, second)
            delta = 2 * test.statistic / (len(first) * len(second)) - 1
            effect = written(delta, ".2f")
            lines.append(f"{kind}, {label(soft)} against {label(hard)}: p = {test.pvalue:.2g}, effect {effect}")
    return lines


# --------------------------------------------------------------------------------------------- claims on Tables 2 and 3
NAMED = {"nc": "ag", "ns": "multirc"}
"""The exceptions of the paper's text: by hard metric the data set on which its soft version is not above it."""


def exceptions(compared: Compared) -> Parts:
    """soft_c03: hard minus soft where the paper's text names an exception, on the data sets that we have."""
    return {
        f"{label(hard)} minus {label(PAIRS[hard])} on {label(compared.ours[dataset])}": compared.power(
            hard, dataset=compared.ours[dataset]
        )
        - compared.power(PAIRS[hard], dataset=compared.ours[dataset])
        for hard, dataset in NAMED.items()
        if dataset in compared.ours
    }


def exceptions_in_print() -> str:
    """Where soft is below hard in the paper's own Table 3, and whether its text (claim c03) names the same two."""
    values = table("soft_table3").set_index(["metric", "dataset"])["value"]
    datasets = dict.fromkeys(table("soft_table6")["dataset"])
    behind = []
    for (hard, soft), dataset in product(PAIRS.items(), datasets):
        if values[soft, dataset] < values[hard, dataset]:
            behind.append(f"{label(soft)} on {label(dataset)}")
    in_its_text = {f"{label(PAIRS[hard])} on {label(dataset)}" for hard, dataset in NAMED.items()}
    swapped = ""
    if set(behind) != in_its_text:
        swapped = " The paper's text (c03) names the two the other way round."
    return f"In the paper's own Table 3 soft is below hard twice, for {' and '.join(behind)}.{swapped}"


def exceptions_of_ours(compared: Compared) -> str:
    """Hard minus soft where the text names an exception, on the data sets that we have, and beside it on the others:
    measured, and no verdict, which needs both exceptions."""
    told = []
    for hard, dataset in NAMED.items():
        if dataset not in compared.ours:
            continue
        named = compared.ours[dataset]
        gaps = {
            task: spoken(compared.power(hard, dataset=task) - compared.power(PAIRS[hard], dataset=task), n=True)
            for task in compared.tasks
        }
        others = " and ".join(f"{gap} on {label(task)}" for task, gap in gaps.items() if task != named)
        beside_it = f", and {others}, which the text does not name" if others else ""
        told.append(f"{label(hard)} minus {label(PAIRS[hard])} is {gaps[named]} on {label(named)}{beside_it}")
    return f"Of its two exceptions we have one: {'; '.join(told)}." if told else ""


def gains_by_choice(
    compared: Compared, tried: Scores, average: Parts, *, precision: str, precision_of_all: str
) -> dict[tuple[str, ...], Parts]:
    """soft_c01 under each open choice, on the texts on which choices were varied (`tried`, in this precision); last the
    book's own choices on all texts (`average`)."""
    few = listing(sorted(tried.levels("dataset")))
    chosen = specifications(tried.levels("variant"), texts=few, precision=precision)
    gains: dict[tuple[str, ...], Parts] = {}
    for options, (variant, tied) in chosen.items():
        gains[options] = Reading(tied=tied).gains(tried.quantity("metric", variant=variant, shows=WIN), PAIRS)
    own_choices = next(iter(gains))[1:-1]  # the first names the texts, the last the precision
    gains[(f"all, {len(compared.tasks)} data sets", *own_choices, precision_of_all)] = average
    return gains


def comparisons_by_reading(power: Power, tasks: Sequence[str], ratios: Sequence[float]) -> dict[tuple[str, ...], Parts]:
    """soft_c02 under each reading of lengths, draws and ties."""
    return {options: eighteen(power, tasks, reading) for options, reading in readings(ratios).items()}


def height_of_c02(parts: Parts) -> str:
    """Which of its differences the curve of soft_c02 shows: the last of those that have to hold."""
    needed, number = have_to_hold("soft_c02", parts), len(parts)
    if needed == number:
        return f"the smallest of the {number} differences over methods and data sets"
    return f"number {needed} of the {number} differences over methods and data sets, counted from the largest"


def heights_in_words(parts: Parts, *, few: Sequence[str]) -> str:
    """What the heights in the curves of soft_c01 and soft_c02 are, and on which texts choices were varied."""
    needed, number = have_to_hold("soft_c02", parts), len(parts)
    return (
        "Of c01 it is the smaller of Soft-NC − NC and Soft-NS − NS, because both have to be above zero. Of c02 "
        f"{needed} of {number} differences have to be above zero (as many as are in the paper's numbers), so it is "
        f"{height_of_c02(parts)}. In the figure of c01 choices were varied on a part of the texts "
        f"(*{listing(few)}*) and with one training run; the verdict on c01 is that of the one column with *all* texts, "
        "which makes the book's own choices as well. In the figure of c02 every column has all texts."
    )


# ----------------------------------------------------------------------------------------------------------------- ties
def ties(compared: Compared) -> pd.DataFrame:
    """Share of comparisons with random scores that are ties, and of those at the limit, by data set and metric."""
    rows = []
    for dataset, metric in product(compared.tasks, METRICS):
        tied = compared.power(metric, dataset=dataset, shows=TIE)
        limit = compared.power(metric, dataset=dataset, shows=LIMIT)
        row = {"dataset": dataset, "metric": metric, **ends_of(tied, "ties", "low", "high")}
        rows.append(row | {"at the limit": limit.ours.point, "n": tied.ours.n})
    return pd.DataFrame(rows)


def cells_below_one_half(compared: Compared) -> tuple[int, int]:
    """How many cells of Table 6 have a whole interval below one half where a tie counts as half a win, and of how
    many."""
    rows = compared.printed("soft_table6")
    rows = rows[rows["model"] == compared.model]
    half = Reading(tied=0.5)
    below = 0
    for row in rows.to_dict("records"):
        share = half.share(compared.power, row["metric"], dataset=row["dataset"], method=row["method"])
        if share.ours.interval().high < 0.5:
            below += 1
    return below, len(rows)


# ------------------------------------------------------------------------------------------------------------- Table 1
def same_sizes(sizes: Sizes, compared: Compared) -> dict[str, SameNumber]:
    """The sizes of the splits of the paper's own data sets, each next to the published one."""
    published = table("soft_table1").set_index(["dataset", "metric", "split"])["value"]
    numbers = {}
    for name, split in product(compared.own, SPLITS):
        evidence = compared.measured.evidence([name])
        numbers[f"{name}, {split}"] = SameNumber(sizes[name, split], f"{published[name, 'size', split]:.0f}", evidence)
    return numbers


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
    reached = ("accuracy", "majority_accuracy", "macro_f1", "majority_macro_f1")
    percent = {name: f"{100 * card[name]:.1f} %" for name in reached}
    interval = f"[{100 * low:.1f}, {100 * high:.1f}]"
    answer = "The interval does not lie above the most frequent class, so it was not learnable in this way"
    if low > card["majority_accuracy"]:
        answer = "The interval lies above the most frequent class, so the task is learnable to this degree"
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
    differences = []
    for group, (hard, soft) in product(groups, PAIRS.items()):
        cell = {by: group}
        differences.append(power(soft, **cell) - power(hard, **cell))
    return ahead(differences)


def first_word(model: str) -> str:
    """The name of a model without its size.

    >>> first_word("MPNet, 12 layers, 109 M")
    'MPNet'
    """
    return model.partition(",")[0]


def first_words(models: Iterable[str]) -> dict[str, str]:
    """The names of models without their sizes, for narrow columns.

    >>> first_words(["MPNet, 12 layers, 109 M"])
    {'MPNet, 12 layers, 109 M': 'MPNet'}
    """
    return {model: first_word(model) for model in models}


def ours_first(table: pd.DataFrame) -> pd.DataFrame:
    """A table with the columns of published values after ours, before n, and the word of the page for tasks.

    >>> list(ours_first(pd.DataFrame(columns=["metric", "published, 4 tasks", "ours", "n"])))
    ['metric', 'ours', 'published, 4 data sets', 'n']
    """
    published = [name for name in table.columns if name.startswith("published")]
    others = [name for name in table.columns if name not in (*published, "n")]
    ordered = table[[*others, *reversed(published), "n"]]
    return ordered.rename(columns={name: name.replace(" tasks", " data sets") for name in published})


def main_columns(table1: pd.DataFrame) -> pd.DataFrame:
    """Table 1 (`data_and_classifiers`) without limits, majority and training runs, models by their first word."""
    narrow = table1.drop(columns=["cut at", "majority F1", "models"])
    return narrow.assign(model=narrow["model"].replace(first_words(narrow["model"])))


def with_training_runs(table1: pd.DataFrame) -> pd.DataFrame:
    """Table 1 with a column of training runs, as text: a count next to dashes is a float, 3 and not 3.0."""
    counts = table1["models"].map(lambda count: f"{count}".removesuffix(".0"))
    return table1.assign(models=counts).rename(columns={"models": "training runs"})


def settings_on_cards(classifier: str) -> dict[str, dict[str, Any]]:
    """By data set the settings with which a classifier was trained, from the card of its first training."""
    known = cards()
    if known.empty:
        return {}
    first = known[known["classifier"] == classifier].sort_values("seed").drop_duplicates("dataset")
    return dict(zip(first["dataset"], first["hyperparameters"], strict=True))


def training_settings(
    of_paper: Mapping[str, Any], trained_with: Mapping[str, Any], ours: Mapping[str, str]
) -> pd.DataFrame:
    """Table 5: every published training setting, that of the profile `paper` (`of_paper`) with whether the two agree,
    and ours, of MiniLM (`trained_with`) and of MPNet (from its cards), by data set; `ours`: by data set of the paper
    our own."""
    rows, larger = [], settings_on_cards("mpnet")
    for printed in table("soft_table5").to_dict("records"):
        name, setting = printed["dataset"], printed["setting"]
        block, own = of_paper[name], ours.get(name, name)
        of_small, of_large = trained_with.get(own, {}), larger.get(own, {})
        same = float(block[setting]) == float(printed["value"])
        same_model = block["model"].rpartition("/")[2] == printed["model"]
        agrees = "no"
        if same and same_model:
            agrees = "yes"
        rows.append(
            {
                "data set": name,
                "setting": setting.replace("_", " "),
                "model": printed["model"],
                "published": f"{float(printed['value']):g}",
                "paper profile": f"{block[setting]:g}",
                "agrees": agrees,
                "MPNet": _trained_with(of_large, setting),
                "MiniLM": _trained_with(of_small, setting),
            }
        )
    return pd.DataFrame(rows)


def _trained_with(settings: Mapping[str, Any], setting: str) -> str:
    """A setting of a model of ours, a dash where there is no such model."""
    return f"{settings[setting]:g}" if settings else UNKNOWN


def plain(number: str) -> str:
    """A number without an exponent, so that learning rates compare at a glance.

    >>> plain("1e-05"), plain("0.0004"), plain("32")
    ('0.00001', '0.0004', '32')
    """
    return f"{float(number):.6f}".rstrip("0").rstrip(".")


def settings_wide(settings: pd.DataFrame) -> pd.DataFrame:
    """Training settings with a row for each data set and model of ours that was trained on it: ours with the published
    one in brackets."""
    about = ["data set", "setting", "model", "published"]
    long = settings.melt(about, ["MPNet", "MiniLM"], "our model", "ours")
    long = long[long["ours"] != UNKNOWN]
    shown = [f"{plain(ours)} ({plain(printed)})" for ours, printed in zip(long["ours"], long["published"], strict=True)]
    cells = long.assign(cell=shown)
    index = ["data set", "our model", "model"]
    wide = cells.pivot(index=index, columns="setting", values="cell").reset_index().rename_axis(columns=None)
    place = {name: number for number, name in enumerate(dict.fromkeys(settings["data set"]))}
    order = wide.assign(place=wide["data set"].map(place)).sort_values(["place", "our model"])  # MPNet before MiniLM
    named = wide.loc[order.index].assign(**{"data set": order["data set"].map(label)}).reset_index(drop=True)
    return named.rename(columns={"learning rate linear": "learning rate of the last layer", "model": "paper's model"})
