"""What the page on rho compares (Tables 1, 2, 7, 8 and 11 to 17, Figure 7 of Zaman & Belinkov 2022): which languages
count, rho and accuracy by language, its spread over trainings, and rho along random links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from faithbook.judge import published
from faithbook.judge.decide import OnlyIf, Ordered
from faithbook.judge.report import Page
from faithbook.judge.scores import Scores
from faithbook.show.labels import row_label
from faithbook.show.numbers import listed, spoken, written
from faithbook.show.tables import CellOf
from faithbook.stats.agreement import tau_b
from faithbook.stats.comparison import Comparison, combined
from faithbook.stats.estimate import ALPHA, Estimate
from faithbook.studies.crosslingual.zaman_belinkov import (
    LANGUAGE_TABLES,
    OUTPUT_NAMES,
    PAPER_LANGUAGES,
    THIRTEEN,
    chance,
)
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    FLOORS,
    KEYS,
    WITHOUT_EITHER,
    Rows,
    defined,
    deviation_over_trainings,
    for_ours,
    orders_as_one,
    over_trainings,
    printed_table,
)

OF_RHO = ["setting", "model", "language", *KEYS]
"""The cells in which rho is measured."""
OF_TRAININGS = ["setting", "model", "seed", "language", *KEYS]
WORST = ("th", "sw", "ur")
"""The languages that the paper's models read worst (c06)."""
MEAN_OF = "mean_bg_de_es_fr"
"""The language of the values in Table 8."""
LINKS = {
    "main": "aligner",
    "random links": "random links, same number",
    "random links, degrees kept": "random links, same number for each English word",
}
"""The settings of Figure 7, and how their links are made."""


def main_setting(units: pd.DataFrame) -> pd.DataFrame:
    """Rho in the paper's setting, of the texts that have every row."""
    return defined(units[units["setting"] == "main"], OF_RHO)


def main_setting_on_more(units: pd.DataFrame) -> pd.DataFrame:
    """The same, also of the texts that only have the rows that need at most one gradient."""
    return defined(units[units["setting"] == "main"], OF_RHO, further=True)


def main_setting_of_trainings(units: pd.DataFrame) -> pd.DataFrame:
    """The same of the texts that every training run has, by training run."""
    return over_trainings(defined(units[units["setting"] == "main"], OF_TRAININGS))


# ---------------------------------------------------------------------------------------------------------- languages
@dataclass(frozen=True)
class Languages:
    """Which languages count. Where a model is no better than guessing its explanations explain nothing, so such a
    language is not tested and not averaged over.

    `accuracy`: by language, mean over models; `guessing`: that of guessing; `unread`: explained, but accuracy is not
    clearly above `guessing`; `averaged`: of those that the paper averages over; `further`: all others.
    """

    accuracy: Mapping[str, Estimate]
    guessing: float
    unread: Sequence[str]
    averaged: Sequence[str]
    further: Sequence[str]

    @classmethod
    def of(cls, measured: Scores, reading: Scores) -> Languages:
        """The languages of rho (`measured`) and of predictions (`reading`)."""
        explained = measured.levels("language")
        guessing = chance(measured.material.datasets)
        accuracy = {language: reading.mean(language=language).ours for language in reading.levels("language")}
        # The lower end of the interval decides, so that a language counts only where it is clearly read.
        unread = [language for language in explained if accuracy[language].interval().low <= guessing]
        averaged = [language for language in PAPER_LANGUAGES if language in explained and language not in unread]
        return cls(accuracy, guessing, unread, averaged, sorted(set(explained) - set(averaged)))

    @property
    def explained(self) -> list[str]:
        """Those averaged over, then the others."""
        return [*self.averaged, *self.further]

    def in_words(self) -> str:
        """Which languages are not read, or that all are."""
        if not self.unread:
            return f"In every language that is explained accuracy is clearly above chance ({self.guessing:.2f})."
        accuracies = []
        for language in self.unread:
            accuracy = self.accuracy[language]
            accuracies.append(f"{language} ({spoken(accuracy, '.2f')}, n = {accuracy.n})")
        return (
            f"*Not testable*, since accuracy is not clearly above chance ({self.guessing:.2f}): "
            f"{', '.join(accuracies)}."
        )


def printed_by_language(models: Sequence[str]) -> pd.DataFrame:
    """Tables 11 to 17, one below the other, under the names of our models."""
    tables = [printed_table(f"crosslingual_table{number}") for number in LANGUAGE_TABLES]
    return for_ours(pd.concat(tables), models)


def language_orders(
    by_language: Rows, languages: Languages, reading: Scores, models: Sequence[str]
) -> dict[str, OnlyIf | None]:
    """By table the orders of its language, for each model and output, to be tested if the language is read; None where
    the language was not explained."""
    found: dict[str, OnlyIf | None] = {}
    for number, language in LANGUAGE_TABLES.items():
        table = f"crosslingual_table{number}"
        if language not in languages.explained:
            found[table] = None
            continue
        orders: list[Ordered] = []
        for model, output in product(models, OUTPUT_NAMES):
            orders.append(by_language.order(output, model=model, language=language))
        read = reading.mean(language=language) - languages.guessing
        found[table] = OnlyIf(orders, {f"accuracy in {language}, minus chance,": read})
    return found


def own_taus(by_language: Rows, languages: Languages) -> dict[str, float]:
    """By language Kendall's tau between the paper's own two models, mean over the outputs of its table."""
    found = {}
    for language in LANGUAGE_TABLES.values():
        if language not in languages.explained:
            continue
        taus = []
        for output in ("loss", "top_prediction"):
            models = by_language.repeats(output, language=language)
            if models is not None:
                first, second = models
                taus.append(tau_b(list(first.values()), list(second.values())))
        if taus:
            found[language] = float(np.mean(taus))
    return found


def without_repeat_in_words(rho: Rows) -> str:
    """The p of the order of Table 1 without guided backprop, whose row with L2 repeats saliency, in words."""
    order = orders_as_one([rho.order(output, rows=WITHOUT_EITHER) for output in OUTPUT_NAMES])
    if order["p"] <= ALPHA:
        consequence = "So the order does not depend on the repeated row."
    else:
        consequence = "So the verdict on this order depends on counting saliency twice."
    interval = f"[{order['low']:.2f}, {order['high']:.2f}]"
    return (
        "The order of Table 1 has saliency with L2 twice, since the row that is printed as guided backprop repeats it. "
        f"Without guided backprop tau is {order['tau']:.2f} {interval}, p = {order['p']:.3f} (n = {order['n']}). "
        f"{consequence} {{doc}}`crosslingual_deviations` (E3) has the same for every table of rho."
    )


# ---------------------------------------------------------------------------------------------- spread over trainings
def printed_spreads(models: Sequence[str], languages: Languages) -> pd.DataFrame:
    """The spreads over seeds of Tables 8 and 11 to 17, as values, of the languages that were explained."""
    each = printed_by_language(models)
    mean_of = for_ours(printed_table("crosslingual_table8"), models)
    spreads = pd.concat([mean_of, each[each["language"].isin(languages.explained)]])
    return spreads.drop(columns="value").rename(columns={"spread": "value"})


def spread_over(trainings: Scores, languages: Languages) -> CellOf:
    """From a row of the printed spreads to the standard deviation of that cell over our training runs; None with a
    single run, or where a run has no value."""
    rows, seeds = Rows(trainings, setting="main"), trainings.levels("seed")

    def spread(cell: Mapping[str, str]) -> Comparison | None:
        row = cell["method"], cell["aggregation"]
        where: dict[str, Any] = {"model": cell["model"], "language": cell["language"]}
        if cell["language"] == MEAN_OF:
            where["language"] = languages.averaged
        runs = [rows(row, cell["output"], seed=seed, **where) for seed in seeds]
        if len(runs) < 2 or min(run.ours.n for run in runs) == 0:
            return None
        return deviation_over_trainings(runs, float(cell["value"]))

    return spread


def rho_spreads_in_words(spread: CellOf, printed: pd.DataFrame, trainings: int) -> str:
    """The median and the largest spread, ours and the printed ones; "" without two training runs."""
    of_cells = [spread(row) for row in printed.to_dict("records")]  # type: ignore[arg-type]
    pairs = [pair for pair in of_cells if pair is not None]
    if not pairs:
        return ""
    ours, theirs = [float(pair.ours.point) for pair in pairs], [pair.published for pair in pairs]
    n = min(pair.ours.n for pair in pairs)
    return (
        f"Over the {len(pairs)} cells of the table the median standard deviation of ours is {np.median(ours):.3f} and "
        f"the largest {max(ours):.3f} (n = {n} texts, {trainings} training runs). Of the printed spreads the median is "
        f"{np.median(theirs):.3f} and the largest {max(theirs):.3f}."
    )


# ---------------------------------------------------------------------------------------------- Tables 2 and 7
def read_and_explained(by_language: Rows, reading: Scores, languages: Languages) -> dict[str, dict[str, Comparison]]:
    """Table 2: accuracy, and rho as the mean of the thirteen rows and both outputs, by language (`accuracy`, `rho`)."""
    printed = published.table("crosslingual_table2").set_index(["language", "metric"])["value"]
    read, rhos = {}, {}
    for language in languages.explained:
        rows = [by_language(row, output, language=language) for output, row in product(OUTPUT_NAMES, THIRTEEN)]
        printed_rho = printed.get((language, "rho"), np.nan)
        rhos[language] = combined(lambda values: values.mean(axis=-1), rows, published=printed_rho)
        printed_accuracy = printed.get((language, "accuracy"), np.nan)
        read[language] = replace(reading.mean(language=language), published=printed_accuracy)
    return {"accuracy": read, "rho": rhos}


def read_in_order(reading: Scores, languages: Languages) -> dict[str, Comparison] | None:
    """c06: accuracy in each language minus that in each that is said to be read worse, best ones, others and worst
    ones; None where one of the languages that it names is missing."""
    if not {*PAPER_LANGUAGES, *WORST} <= set(languages.explained):
        return None
    printed = published.table("crosslingual_table7").groupby("language", sort=False)["value"].agg(list).to_dict()
    known: dict[str, Comparison] = {}
    for language in languages.accuracy:
        if language == "en" or language not in printed:
            continue
        of_models = printed[language]  # the paper's own repeats
        accuracy = reading.mean(language=language)
        known[language] = replace(accuracy, published=float(np.mean(of_models)), repeats=tuple(of_models))
    between = [language for language in known if language not in (*PAPER_LANGUAGES, *WORST)]
    pairs = [*product(PAPER_LANGUAGES, [*between, *WORST]), *product(between, WORST)]
    return {f"accuracy in {better} minus {worse}": known[better] - known[worse] for better, worse in pairs}


def against_c06_in_words() -> str:
    """Where the accuracies that the paper prints of each of its models contradict c06, with all their digits: rounded
    to two, some that differ look the same."""
    printed = published.table("crosslingual_table7").set_index(["model", "language"])["value"]
    mbert, xlm_r = (printed[name].map("{:.4f}".format) for name in ("mbert", "xlm_r_base"))
    return (
        f"In multilingual BERT accuracy is higher in Vietnamese ({mbert['vi']}) than in Bulgarian ({mbert['bg']}; the "
        f"paper has {mbert['zh']} for Chinese as well): rounded, both are 0.70. In XLM-R it is lower in Hindi "
        f"({xlm_r['hi']}) than in Thai ({xlm_r['th']})."
    )


def unknown_in_words(texts: Scores) -> str:
    """The share of word pieces that the tokenizers do not know, by language."""
    lost, numbers = [], []
    for language in texts.levels("language"):
        share = texts.mean(metric="unknown", language=language).ours
        numbers.append(share.n)
        if share.point:
            lost.append(f"{written(float(share.point), '.1%')} in {language}")
    return (
        f"Word pieces that the models' tokenizers do not know, mean share over {min(numbers)} texts in each of "
        f"{len(numbers)} languages: {', '.join(lost) or 'none in any language'}."
    )


# ---------------------------------------------------------------------------------------------- Figure 7, substitutes
def along_links(measured: Scores, languages: Languages) -> dict[str, Rows]:
    """Rho in the languages averaged over, by how the links were made."""
    return {text: Rows(measured, setting=setting, language=languages.averaged) for setting, text in LINKS.items()}


def rows_along_links(links: Mapping[str, Rows]) -> pd.DataFrame:
    """Rho of the loss of the thirteen and of uniform scores, by how the links were made."""
    frames = [source.frame([*THIRTEEN, FLOORS[0]]).assign(links=text) for text, source in links.items()]
    rows = pd.concat(frames)
    return rows[rows["output"] == "loss"].drop(columns="published")


def means_along_links(links: Mapping[str, Rows]) -> dict[str, Comparison]:
    """The mean of the thirteen, of the loss."""
    return {text: source.mean(THIRTEEN, ["loss"]) for text, source in links.items()}


def above_random_links(means: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """The mean along the aligner's links minus that along each kind of random links."""
    aligner, *others = means
    return {f"mean rho, {aligner} minus {text}": means[aligner] - means[text] for text in others}


def rho_on_substitutes(page: Page, measured: Scores, printed: pd.DataFrame) -> pd.DataFrame:
    """Mean rho of the thirteen on the data sets that are not the paper's, next to the values printed of XNLI; no row
    where there are none. Columns: dataset, row, output, estimate, low, high, n, published."""
    over = ["dataset", "language", *KEYS]
    cells: dict[tuple[str, str, str], Comparison] = {}
    for name in measured.material.units["dataset"].unique():
        if name in measured.material.datasets:  # of the paper
            continue
        substitute = page.measure(
            "crosslingual_metrics",
            over=over,
            prepare=partial(_main_setting_of, dataset=name, over=over),
            bounds=(-1, 1),
            n_resamples=1999,
        )
        languages = [language for language in PAPER_LANGUAGES if language in substitute.levels("language")]
        rows = Rows(substitute, printed, dataset=name, language=languages)
        for output, row in product(OUTPUT_NAMES, THIRTEEN):
            cells[name, row_label(*row), output] = rows(row, output)
    frame = listed(cells, ["dataset", "row", "output"])
    return frame.assign(published=[pair.published for pair in cells.values()])


def _main_setting_of(units: pd.DataFrame, *, dataset: str, over: Sequence[str]) -> pd.DataFrame:
    return defined(units[(units["setting"] == "main") & (units["dataset"] == dataset)], over)


def with_outputs_as_columns(substitutes: pd.DataFrame) -> pd.DataFrame:
    """What `rho_on_substitutes` found, one row per explanation and one column per output, the published value in
    brackets."""
    ours = [spoken(row, ".2f") for row in substitutes.itertuples()]
    theirs = [written(value, ".2f") for value in substitutes["published"]]
    cells = [f"{mean} ({printed})" for mean, printed in zip(ours, theirs, strict=True)]
    long = substitutes.assign(cell=cells, output=substitutes["output"].map(OUTPUT_NAMES))
    wide = long.pivot(index=["dataset", "row"], columns="output", values="cell").rename_axis(columns=None)
    order = dict.fromkeys(zip(substitutes["dataset"], substitutes["row"], strict=True))
    return wide.loc[list(order)].reset_index()
