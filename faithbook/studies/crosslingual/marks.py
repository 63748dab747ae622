"""What the page on highlights compares (Tables 4 to 6 of Zaman & Belinkov 2022): explanations with words that people
marked, marks carried to other languages, and the thresholds from which a score marks a word.

How marks are made and carried is in `highlights` and `projected`, which need tensors; this reads their results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from faithbook.judge import costs, published
from faithbook.judge.decide import Ordered
from faithbook.judge.scores import Scores
from faithbook.show.labels import label, row_label
from faithbook.show.numbers import row_of
from faithbook.stats.comparison import Comparison
from faithbook.studies.crosslingual.zaman_belinkov import MARKED, OUTPUT_NAMES, PLAIN, THIRTEEN
from faithbook.studies.crosslingual.zaman_belinkov_claims import PLAUSIBLE, leads
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    FLOORS,
    KEYS,
    PRINTED_ROWS,
    Rows,
    agreement_of_orders,
)
from faithbook.text import joined

OF_MARKS = ["dataset", "metric", *KEYS]
OF_PROJECTED = ["metric", "model", "language", "highlights"]
NAMES = {name: label(name) for name in MARKED} | {"reviews": "phrases of film reviews", "pair": "sentences of ACLSum"}
"""Data sets with marks, for people."""
QUANTITIES = {"map": "MAP", "chance": "random scores", "lift": "MAP minus random", "marked": "share marked"}
"""What is known of marks that were carried over."""
OUR_THRESHOLD = "our threshold"
PRINTED_THRESHOLD = 0.167
"""The paper's, from e-SNLI (Section 4.3)."""
ROUNDING = 0.01
"""How far F1 may be from that of its printed parts: all three are rounded to two digits."""


def sets_of_marks(marked: Scores) -> list[str]:
    """The data sets with marks that were measured, the firmest first."""
    return [name for name in MARKED if name in marked.levels("dataset")]


def precision_on(marked: Scores, dataset: str, printed: pd.DataFrame | None = None) -> Rows:
    """MAP of the rows on the marks of a data set."""
    return Rows(marked, printed, dataset=dataset, metric="average_precision")


# ------------------------------------------------------------------------------------------------ marks made by people
def marks_beside_random(marked: Scores) -> pd.DataFrame:
    """By set of marks: MAP of random scores and the mean of the thirteen rows, how many rows are below random, and how
    far the thirteen are above it."""
    found = []
    for dataset in sets_of_marks(marked):
        rows = precision_on(marked, dataset)
        thirteen, random = rows.mean(THIRTEEN, [*OUTPUT_NAMES]), rows(FLOORS[1], "loss")
        below = [rows(*printed).ours.point < random.ours.point for printed in PRINTED_ROWS]
        found.append(
            {
                "marks": NAMES[dataset],
                "random scores": random.ours.point,
                "mean of the 26": thirteen.ours.point,
                "below random, of 26": sum(below),
                **row_of(thirteen - random),
            }
        )
    return pd.DataFrame(found)


def pairs_of_each(on_all: Scores, dataset: str) -> dict[int, list[str]]:
    """How many pairs with marks each method was run on: by number, the most first, the names of the methods."""
    frame = on_all.frame[(on_all.frame["dataset"] == dataset) & (on_all.frame["metric"] == "average_precision")]
    methods = list(dict.fromkeys(method for method, _ in THIRTEEN))
    pairs = frame[frame["method"].isin(methods)].groupby("method", observed=True)["id"].nunique()
    by_number: dict[int, list[str]] = {int(n): [] for n in sorted(set(pairs), reverse=True)}
    for name in methods:
        by_number[int(pairs[name])].append(label(name))
    return by_number


def seconds_a_pair(dataset: str) -> dict[str, float]:
    """What the full run took a pair, with `all` methods and with those that need one gradient (`one pass`)."""
    seconds, pairs = {"all": 0.0, "one pass": 0.0}, {"all": 0, "one pass": 0}
    for run in costs.reference_runs():
        parameters = run["parameters"]
        if run["notebook"] != "crosslingual_plausibility" or parameters["dataset"] != dataset:
            continue
        methods = parameters.get("only") or "all"
        seconds[methods] += costs.seconds(run)
        pairs[methods] += run["notes"]["n"]
    return {methods: seconds[methods] / n if n else np.nan for methods, n in pairs.items()}


def pairs_in_words(on_all: Scores, dataset: str) -> str:
    """On how many pairs each method was run, and why not all on all."""
    pairs = pairs_of_each(on_all, dataset)
    each = "; ".join(f"{joined(names)} on {n}" for n, names in pairs.items())
    text = f"Texts by method: {each}."
    spent = seconds_a_pair(dataset)
    if len(pairs) < 2 or np.isnan(sum(spent.values())):
        return text
    return (
        f"{text} The reason is cost: with all methods a text took {spent['all']:.1f} seconds of a processor, with "
        f"those that need one gradient {spent['one pass']:.1f}."
    )


def texts_with_all_in_words(marked: Scores, on_all: Scores) -> str:
    """By set of marks on how many of its texts all explanations were computed."""
    counted = []
    for dataset in sets_of_marks(marked):
        some, every = (set(source.frame.loc[source.frame["dataset"] == dataset, "id"]) for source in (marked, on_all))
        counted.append(f"{NAMES[dataset]} {len(some)} of {len(every)}")
    return f"Texts with all explanations: {'; '.join(counted)}."


def share_of_words(marked: Scores, dataset: str) -> Comparison:
    """The share of words that people marked, mean over texts: the MAP of equal scores."""
    return marked.mean(metric="share", dataset=dataset, method="none", aggregation="none", output="none")


def plain_minus_saliency(precision: Rows) -> float:
    """The largest difference of MAP between guided backprop as printed and saliency, both with L2."""
    differences = []
    for output in OUTPUT_NAMES:
        difference = precision((PLAIN, "l2"), output) - precision(("saliency", "l2"), output)
        differences.append(abs(float(difference.ours.point)))
    return max(differences)


def precision_on_substitutes(marked: Scores, printed: pd.DataFrame) -> dict[tuple[str, str, str], Comparison]:
    """MAP of the thirteen on every set of marks but the firmest, by marks, row and output, beside what is printed."""
    found = {}
    for dataset in sets_of_marks(marked)[1:]:
        rows = precision_on(marked, dataset, printed)
        for row, output in PRINTED_ROWS:
            found[NAMES[dataset], row_label(*row), output] = rows(row, output)
    return found


def leads_counted(marked: Scores) -> str:
    """By set of marks, how many leads of the three most plausible rows are clearly above and clearly below zero."""
    counted = []
    for dataset in sets_of_marks(marked):
        gaps = [pair.ours for pair in leads(precision_on(marked, dataset), PLAUSIBLE).values()]
        ends = pd.DataFrame([vars(gap.interval()) for gap in gaps])
        above, below = (ends["low"] > 0).sum(), (ends["high"] < 0).sum()
        n = min(gap.n for gap in gaps)
        counted.append(f"{NAMES[dataset]} {above} above and {below} below zero of {len(ends)} (n = {n})")
    return "; ".join(counted)


def winners(rho: Rows, precision: Rows) -> pd.DataFrame:
    """By output who leads in rho and in MAP, and Kendall's tau between the two orders."""
    return pd.DataFrame([{"output": output} | agreement_of_orders(rho, precision, output) for output in OUTPUT_NAMES])


# ------------------------------------------------------------------------------------------------------- the threshold
def our_threshold(texts: Scores) -> float:
    """The threshold behind the carried marks. `texts` has it as a part of an even spread over each text's n words,
    which gives each word 1/√n."""
    rows = texts.frame[texts.frame["language"] == "en"]
    facts = rows.pivot_table(index=["id", "model", "seed"], columns="metric", values="value")
    return float((facts["threshold"] * facts["words"] ** -0.5).mean())


# -------------------------------------------------------------------------------------------------- carried-over marks
@dataclass(frozen=True)
class Carried:
    """Marks carried to other languages, and how well an attribution of the translation finds them."""

    projected: Scores

    @property
    def languages(self) -> list[str]:
        """All languages except English, where the marks are the scores themselves."""
        return [language for language in self.projected.levels("language") if language != "en"]

    @property
    def ways(self) -> list[str]:
        """The ways to mark."""
        return list(self.projected.levels("highlights"))

    def cell(self, row: Mapping[str, str]) -> Comparison:
        """One of `QUANTITIES`; of the other languages together and with our threshold where the row names none."""
        labels = {name: row[name] for name in ("language", "highlights") if row.get(name)}
        usual = {"language": self.languages, "highlights": OUR_THRESHOLD}
        return self.projected.mean(**(usual | labels), metric=row["quantity"])

    def cell_of_table5(self, row: Mapping[str, str]) -> Comparison:
        """The same, MAP beside the value of Table 5."""
        printed = np.nan
        if row["quantity"] == "map":
            printed = printed_table5().get(row["language"], np.nan)
        return replace(self.cell(row), published=printed)

    def order(self) -> Ordered:
        """The languages that are printed and ours, to be ordered by MAP."""
        printed = printed_table5()
        cells = {
            language: self.cell_of_table5({"quantity": "map", "language": language})
            for language in ["en", *self.languages]
            if language in printed
        }
        return Ordered(cells, name="tau with the printed order of languages")

    def above_random(self, way: str) -> dict[str, Comparison]:
        """By language MAP minus that of random scores on the same marks."""
        of_way = partial(self.projected.mean, metric="lift", highlights=way)
        return {language: of_way(language=language) for language in self.languages}

    def clearly_above_random(self) -> str:
        """By way to mark, in how many languages MAP is clearly above that of random scores."""
        counted = []
        for way in self.ways:
            clear = sum(pair.ours.interval().low > 0 for pair in self.above_random(way).values())
            counted.append(f"{way} {clear} of {len(self.languages)}")
        return ", ".join(counted)


def printed_table5() -> dict[str, float]:
    """MAP by language as published."""
    return {str(row["language"]): row["value"] for row in published.table("crosslingual_table5").to_dict("records")}


def best_of_table5() -> str:
    """The language with the highest published MAP, English left out."""
    printed = printed_table5()
    del printed["en"]
    return max(printed, key=printed.__getitem__)


def table6_checked() -> pd.DataFrame:
    """Table 6 with the F1 that its precision and recall make, and whether the printed one fits."""
    table = published.table("crosslingual_table6").pivot_table(index="language", columns="metric", values="value")
    table = table[["precision", "recall", "f1"]].rename(columns={"f1": "F1"}).reset_index()
    table["F1 of the two"] = 2 / (1 / table["precision"] + 1 / table["recall"])
    fits = (table["F1 of the two"] - table["F1"]).abs() <= ROUNDING
    return table.assign(fits=np.where(fits, "yes", "no"))
