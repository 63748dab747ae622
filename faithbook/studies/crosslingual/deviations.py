"""What each point of `crosslingual_deviations` changes: rho with one choice made otherwise, orders of methods with
guided backprop treated in three ways, rho over more languages, and with the paper's numbers of samples.

A pair of values is (ours, with the other choice); a change is always the other choice minus ours.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import pandas as pd
import scipy.stats

from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import Page
from faithbook.judge.scores import Scores
from faithbook.models.cards import cards
from faithbook.show.labels import label, row_label
from faithbook.show.numbers import row_of, spoken
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison
from faithbook.studies.crosslingual.more_languages import over_languages
from faithbook.studies.crosslingual.zaman_belinkov import (
    LANGUAGE_TABLES,
    MODIFIED,
    OUTPUT_NAMES,
    PAPER_LANGUAGES,
    PLAIN,
    THIRTEEN,
    firmest_marks,
)
from faithbook.studies.crosslingual.zaman_belinkov_alignment import CHANCE, EVERY
from faithbook.studies.crosslingual.zaman_belinkov_claims import FAIR
from faithbook.studies.crosslingual.zaman_belinkov_rho import OF_RHO
from faithbook.studies.crosslingual.zaman_belinkov_spread import ERASURE_BINS, WINDOW, bin_sizes
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    KEYS,
    WITH_MODIFIED,
    WITHOUT_EITHER,
    Row,
    Rows,
    defined,
    for_ours,
    orders_as_one,
    printed_table,
)

Pair = tuple[Comparison, Comparison]
"""Ours (for E4 the logit of the predicted class), and with the other choice."""

MAIN = "main"
TOP_PREDICTION = "top_prediction"
PREDICTED = "logit of the predicted class"
OTHER_LINKS = "other links"
SUMS = (
    "mean of pieces",
    "mean of links",
    "means of both",
    "unaligned left out",
    "no copied words",
    FAIR,
    OTHER_LINKS,
)
"""The settings of E5: how pieces and links are put together, and which words count."""
CELLS = ["way", "model", "language", *KEYS]
OF_READING, OF_MARKS = ["model", "language"], ["dataset", "metric", *KEYS]
OF_SAMPLES = ["dataset", "model", "method", "aggregation", "numbers"]
TEXTS = {"nli": "XNLI"}
"""Texts that have another name for people."""
EXPLAINED, UNIFORM = "thirteen explanations", "baseline: uniform"
THREE_WAYS: Mapping[str, tuple[Callable[[str], pd.DataFrame], Sequence[Row]]] = {
    "as printed": (printed_table, THIRTEEN),
    "GELU changed": (published.table, WITH_MODIFIED),
    "neither": (printed_table, WITHOUT_EITHER),
}
"""Guided backprop in an order: the row as printed, the modified method in its place, or neither and saliency once."""
LOSERS: tuple[Row, ...] = (
    ("lime", "none"),
    ("shapley_sampling", "none"),
    ("integrated_gradients", "l2"),
    ("integrated_gradients", "mean"),
)
"""The rows whose scores depend on numbers of steps, samples or permutations."""
LEADERS: tuple[Row, ...] = (("input_x_gradient", "l2"), ("saliency", "l2"))


# ------------------------------------------------------------------------------------------------ one choice at a time
def rho_by_way(units: pd.DataFrame) -> pd.DataFrame:
    """Rho in the paper's languages by `way`: a setting of the main run, or what was done otherwise for the top
    prediction."""
    units = units[units.language.isin(PAPER_LANGUAGES) & units.choice.ne(MAIN)]
    # Other choices were measured for one output alone, so their rows do not say which.
    output = units.output.where(units.choice.isna(), TOP_PREDICTION)
    return defined(units.assign(way=units.choice.fillna(units.setting), output=output), CELLS)


def points(measured: Scores, *, other_links: str) -> dict[str, dict[str, Pair]]:
    """Every point that was measured (E2 to E14), with its rows by name; `other_links`: the rule of links that is not
    ours."""
    rho = {way: Rows(measured, way=way) for way in measured.levels("way")}

    def of_choice(way: str, base: str = MAIN) -> dict[str, Pair]:
        """Every row that was measured with this choice."""
        frame = measured.frame[measured.frame.way == way]
        found = {}
        for row in dict.fromkeys(zip(frame.method, frame.aggregation, strict=True)):
            found[row_label(*row)] = rho[base](row, TOP_PREDICTION), rho[way](row, TOP_PREDICTION)
        return found

    def of_all(way: str) -> Pair:
        """The mean over the thirteen rows and both outputs."""
        outputs = [*OUTPUT_NAMES]
        return rho[MAIN].mean(THIRTEEN, outputs), rho[way].mean(THIRTEEN, outputs)

    def modified(how: str) -> Pair:
        """The printed row, and the method that changes the gradient of GELU."""
        return rho[MAIN]((PLAIN, how), TOP_PREDICTION), rho[MAIN]((MODIFIED, how), TOP_PREDICTION)

    names = {FAIR: "all of these", OTHER_LINKS: f"links by {other_links}"}
    return {
        "E2 embedded twice": of_choice("embedded twice"),
        "E3 guided backprop, GELU changed": {row_label(PLAIN, how): modified(how) for how in ("l2", "mean")},
        # Both are of the class that is predicted for the whole text. Compared with ours the class would change too,
        # which is E9.
        "E4 probability": of_choice("probability", PREDICTED),
        "E5 sums and zeros": {f"all rows, {names.get(way, way)}": of_all(way) for way in SUMS},
        "E9 the predicted class's logit": of_choice(PREDICTED),
        "E10 single pieces": of_choice("single pieces"),
        "E14 a lasso for LIME": of_choice("lasso"),
    }


def effects_on_rows(pairs: Mapping[str, Mapping[str, Pair]]) -> pd.DataFrame:
    """By point and row our value and the change with its interval: point, row, ours, estimate, low, high, n."""
    changes = []
    for point, rows in pairs.items():
        for name, (ours, otherwise) in rows.items():
            changes.append({"point": point, "row": name, "ours": ours.ours.point, **row_of(otherwise - ours)})
    return pd.DataFrame(changes)


def effects_in_words(changes: pd.DataFrame, point: str) -> str:
    """The effects of one point (`E5`) in words."""
    rows = changes[changes.point.str.startswith(f"{point} ")]
    parts = "; ".join(f"{row.row} {spoken(row, '+.3f')}" for row in rows.itertuples())
    return f"Change of rho (n = {rows.n.min()} texts): {parts}."


# -------------------------------------------------------------------------------------------- orders in the three ways
class Table(NamedTuple):
    """A printed table of rows: its number, the labels that name a value of it, and our cells by column."""

    number: int
    by: tuple[str, ...]
    cells: Sequence[Mapping[str, Any]]


def tables_of_rho(models: Sequence[str], languages: Collection[str]) -> list[Table]:
    """The tables of rho: over the paper's languages, by model, and of each language that is here by model."""
    of_paper = [language for language in PAPER_LANGUAGES if language in languages]
    tables = [Table(1, (), [{"language": of_paper}])]
    tables.append(Table(8, ("model",), [{"model": model, "language": of_paper} for model in models]))
    for number, language in LANGUAGE_TABLES.items():
        if language in languages:
            cells = [{"model": model, "language": language} for model in models]
            tables.append(Table(number, ("model", "language"), cells))
    return tables


def in_three_ways(table: Table, source: Scores, models: Sequence[str], **fixed: str) -> dict[str, dict[str, Any]]:
    """The order of a table with the printed one, by the way that guided backprop is treated: tau, low, high, p, n."""
    found = {}
    for way, (read, rows_of_way) in THREE_WAYS.items():
        printed = read(f"crosslingual_table{table.number}")
        if "model" in table.by:
            printed = for_ours(printed, models)
        rows = Rows(source, printed[[*table.by, *KEYS, "value"]], own=None, better=1, **fixed)
        orders = []
        for labels, output in product(table.cells, OUTPUT_NAMES):
            orders.append(rows.order(output, rows=rows_of_way, **labels))
        found[way] = orders_as_one(orders)
    return found


def own_agreement_under_erasure() -> tuple[float, float]:
    """Kendall's tau between the orders of the paper's two models in Tables 9 (comprehensiveness) and 10 (sufficiency),
    with the row as printed and with neither: the lowest and the highest of both outputs."""
    found = []
    for number, rows_of_way in product((9, 10), (THIRTEEN, WITHOUT_EITHER)):
        wide = printed_table(f"crosslingual_table{number}").pivot(index=KEYS, columns="model", values="value")
        for output in OUTPUT_NAMES:
            of_output = wide.loc[[(*row, output) for row in rows_of_way]]
            first, second = (of_output[model] for model in of_output)
            found.append(float(scipy.stats.kendalltau(first, second).statistic))
    return min(found), max(found)


def orders_in_long(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """A row for each table and way."""
    rows = [{"table": name, "row": way, **order} for name, ways in tables.items() for way, order in ways.items()]
    return pd.DataFrame(rows).rename(columns={"tau": "estimate"})


def order_table(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """A row for each table, and for each way a column with tau, its interval and p."""
    rows = []
    for name, ways in tables.items():
        row: dict[str, Any] = {"table": name}
        for way, order in ways.items():
            interval = f"[{order['low']:.2f}, {order['high']:.2f}]"
            row[f"{way}: tau, p"] = f"{order['tau']:.2f} {interval}, {order['p']:.3f}"
        rows.append(row | {"n": ways["as printed"]["n"]})
    return pd.DataFrame(rows)


def of_each_table(models: Sequence[str], rho: Scores, plausible: Scores) -> dict[str, dict[str, dict[str, Any]]]:
    """The orders of every table of rho, and of Table 4 (plausibility) on the firmest marks, by the three ways."""
    marks = firmest_marks(plausible.levels("dataset"))
    found = {}
    for table in tables_of_rho(models, rho.levels("language")):
        found[f"Table {table.number}"] = in_three_ways(table, rho, models, setting=MAIN)
    table4 = Table(4, (), [{}])
    of_marks = in_three_ways(table4, plausible, models, dataset=marks, metric="average_precision")
    return found | {f"Table 4 ({label(marks)})": of_marks}


def precisions(units: pd.DataFrame) -> pd.DataFrame:
    """Average precision against marks made by people, where it is defined."""
    return defined(units[units.metric == "average_precision"], OF_MARKS)


def printed_difference() -> float:
    """The largest difference between guided backprop and saliency with L2 in Table 1 as published."""
    printed = published.table("crosslingual_table1").query("aggregation == 'l2'")
    by_method = printed.pivot(index="output", columns="method", values="value")
    return float((by_method["guided_backprop"] - by_method["saliency"]).abs().max())


# ----------------------------------------------------------------------------------------------------- more languages
def of_first_training(
    units: pd.DataFrame, *, texts: Collection[str] | None = None, models: Collection[str] | None = None
) -> pd.DataFrame:
    """Values of the first training in the main setting, where they are defined; `texts`, `models`: only of these."""
    rows = units[(units.seed == 0) & (units.setting == MAIN)]
    if texts is not None:
        rows = rows[rows["id"].isin(texts)]
    if models is not None:
        rows = rows[rows.model.isin(models)]
    return defined(rows, OF_RHO)


def read_by(units: pd.DataFrame, *, models: Collection[str]) -> pd.DataFrame:
    """Predictions of the first training of these models."""
    return units[(units.seed == 0) & units.model.isin(models)]


def in_every_model(units: pd.DataFrame) -> pd.DataFrame:
    """Values of the texts that every model has been asked about."""
    models = units.groupby("id").model.transform("nunique")
    return of_first_training(units[models == models.max()])


class Languages(NamedTuple):
    """Accuracy and rho by language (`columns`: by quantity, then by language, best read first), how they go together
    over groups of languages (`trends`: `over_languages`), and the models."""

    columns: dict[str, dict[str, Comparison]]
    trends: pd.DataFrame
    models: list[str]


def more_languages(page: Page) -> Languages:
    """Over the languages of Table 2, the further ones and all, on the texts that are measured in every language."""
    more = page.measure("crosslingual_languages", over=OF_RHO, prepare=in_every_model, bounds=(-1, 1))
    texts, models = more.levels("id"), more.levels("model")
    same = partial(of_first_training, texts=texts, models=models)
    in_paper = page.measure("crosslingual_metrics", over=OF_RHO, prepare=same, bounds=(-1, 1), firmest=True)
    reading = page.measure(
        "crosslingual_metrics",
        parts=["predictions"],
        over=OF_READING,
        prepare=partial(read_by, models=models),
        bounds=(0, 1),
        firmest=True,
        n_resamples=1999,
    )
    groups = {"of Table 2": in_paper.levels("language"), "further": more.levels("language")}
    rows = dict.fromkeys(groups["of Table 2"], Rows(in_paper)) | dict.fromkeys(groups["further"], Rows(more))
    accuracy = {language: reading.mean(language=language) for language in rows}
    languages = sorted(rows, key=lambda language: -accuracy[language].ours.point)
    columns: dict[str, dict[str, Comparison]] = {"accuracy": {}, EXPLAINED: {}, UNIFORM: {}}
    for language in languages:
        columns["accuracy"][language] = accuracy[language]
        columns[EXPLAINED][language] = rows[language].mean(THIRTEEN, [*OUTPUT_NAMES], language=language)
        columns[UNIFORM][language] = rows[language](("uniform", "none"), "loss", language=language)
    values = {}
    for quantity, of_language in columns.items():
        values[quantity] = {language: float(pair.ours.point) for language, pair in of_language.items()}
    printed = published.table("crosslingual_table2").pivot(index="language", columns="metric", values="value")
    trends = over_languages(
        values.pop("accuracy"),
        values,
        groups | {"all": languages},
        printed_r=float(printed["rho"].corr(printed["accuracy"])),
    )
    words = [evidence_levels.display_label(decision, more.evidence()) for decision in trends["decision"]]
    return Languages(columns, trends.assign(decision=words), models)


def trend_in_words(trends: pd.DataFrame, languages: str, quantity: str) -> str:
    """A correlation of accuracy with its interval and p."""
    [row] = trends[(trends.languages == languages) & (trends["rho of"] == quantity)].to_dict("records")
    return (
        f"r = {row['estimate']:.2f} [{row['low']:.2f}, {row['high']:.2f}], p = {row['p']:.3f}, n = {row['n']} languages"
    )


def trends_in_words(found: Languages) -> str:
    """How accuracy and rho go together over all languages and over the further ones, and what the rule of c05 says."""
    trends = found.trends
    decided = trends[(trends["languages"] == "all") & (trends["rho of"] == EXPLAINED)]["decision"].item()
    pairs = min(pair.ours.n for pair in found.columns[EXPLAINED].values())
    everywhere, further = (trend_in_words(trends, languages, EXPLAINED) for languages in ("all", "further"))
    return (
        f"Over all languages accuracy and rho go together with {everywhere} ({pairs} pairs in each; models: "
        f"{', '.join(found.models)}, two depths of one encoder): the rule of c05 says *{decided}*. Over the further "
        f"ones alone {further}. With the rho of *uniform* accuracy has {trend_in_words(trends, 'all', UNIFORM)}."
    )


def best_read(accuracies: pd.DataFrame, top: int) -> dict[str, set[str]]:
    """By model the `top` languages with the highest accuracy, and all that tie for the last place."""
    by_model = accuracies.groupby("model", sort=False)
    return {str(model): set(part.nlargest(top, "value", keep="all").language) for model, part in by_model}


def best_read_in_words(top: int) -> str:
    """The languages other than English with the highest accuracies of Table 7, of each model and of both."""
    accuracies = published.table("crosslingual_table7").query("language != 'en'")
    first = best_read(accuracies, top)
    of_models = "; ".join(f"{label(model)}: {', '.join(sorted(names))}" for model, names in first.items())
    return f"{of_models}. In common: {', '.join(sorted(set.intersection(*first.values())))}."


# -------------------------------------------------------------------------------------------------- erasure, similarity
def means_of_table3() -> str:
    """The means over the rows of Table 3 as printed, and as means over five bins."""
    means = published.table("crosslingual_table3").groupby("metric")["value"].mean()
    five_sixths = len(ERASURE_BINS) / WINDOW
    texts = []
    for metric, mean in means.items():
        texts.append(f"{metric} {mean:.3f} as printed, {mean / five_sixths:.3f} as a mean over bins")
    return "; ".join(texts)


def rounded_bins(erased: pd.DataFrame) -> pd.DataFrame:
    """By text (`input`) the share of its bins whose size the rounding changes (`moved`), and how many different sizes
    they have as released (`different`); `erased`: values with the number of words."""
    texts = erased.drop_duplicates("input")[["input", "words"]]
    moved, different = [], []
    for words in texts["words"]:
        up, nearest = bin_sizes(int(words), "up"), bin_sizes(int(words), "nearest")
        moved.append(float((up != nearest).mean()))
        different.append(len(set(nearest.tolist())))
    return texts.assign(moved=moved, different=different)


def found_in_words(rates: Mapping[tuple[str, str], Comparison], models: Sequence[str]) -> str:
    """How often each model finds the translations, mean over languages, and by how much more often than the English
    one."""
    english = next(model for model in models if model.startswith("English"))
    means = [f"{model} {spoken(rates[model, EVERY], '.2f')}" for model in models]
    gains = {model: rates[model, EVERY] - rates[english, EVERY] for model in models if model != english}
    leads = "; ".join(f"{model} {spoken(gain, '+.2f')}" for model, gain in gains.items())
    return f"Mean over languages: {'; '.join(means)} (chance {CHANCE:.2f}). Multilingual minus English: {leads}."


# ------------------------------------------------------------------------------------------------ numbers of samples
def _combinations(sampled: Scores, columns: list[str]) -> Iterable[tuple[str, ...]]:
    """Values of these columns together, in the order in which they come first."""
    return list(sampled.frame[columns].drop_duplicates().itertuples(index=False, name=None))


def with_paper_numbers(sampled: Scores) -> pd.DataFrame:
    """Each row with our numbers of steps, samples and permutations and with the paper's."""
    names = ["dataset", "model", "method", "aggregation"]
    rows = []
    for values in _combinations(sampled, names):
        of_row = dict(zip(names, values, strict=True))
        ours, paper = (sampled.mean(**of_row, numbers=numbers) for numbers in ("ours", "paper"))
        of_row["dataset"] = TEXTS.get(of_row["dataset"], of_row["dataset"])
        rows.append({**of_row, "ours": ours.ours.point, "paper's numbers": paper.ours.point, **row_of(paper - ours)})
    return pd.DataFrame(rows)


def paper_numbers_in_words(sampled: Scores, rho: Rows) -> str:
    """What the paper's numbers change in the four rows together, beside what these rows lose by."""
    lead = rho.mean(LEADERS, [*OUTPUT_NAMES]) - rho.mean(LOSERS, [*OUTPUT_NAMES])
    changes = []
    for dataset, model in _combinations(sampled, ["dataset", "model"]):
        ours, paper = (sampled.mean(dataset=dataset, model=model, numbers=numbers) for numbers in ("ours", "paper"))
        frame = sampled.frame
        n = frame[(frame.dataset == dataset) & (frame.model == model)]["id"].nunique()
        changes.append(f"{TEXTS.get(dataset, dataset)}, {label(model)} {spoken(paper - ours, '+.3f')} (n = {n})")
    return (
        f"Over all our texts, input × gradient and saliency (L2) lead these four rows by {spoken(lead, '.3f')} "
        f"(n = {lead.ours.n}). The paper's numbers change the mean of the four by: {'; '.join(changes)}."
    )


# ------------------------------------------------------------------------------------------------------- sizes of runs
def _learned_from(name: str) -> str:
    """How many pairs a classifier of ours learned from; "none" where it was not trained."""
    size = cards().set_index("checkpoint")["train_size"].get(f"text/{name}-seed0")
    if size is None:
        return "none"
    return f"{size:,.0f}"


def smaller(rho: Scores, plausible: Scores) -> pd.DataFrame:
    """The sizes in which the full run differs from the paper's (E15 to E21): point, what, paper, here."""
    full = settings_of("crosslingual_metrics", "full")
    models, marks = sorted(rho.levels("model")), firmest_marks(plausible.levels("dataset"))
    pairs = rho.frame[rho.frame["model"] == models[0]].groupby("seed")["id"].nunique()
    marked = plausible.frame.query("dataset == @marks")["id"].nunique()
    with_one_gradient = plausible.material.units.query("dataset == @marks")["id"].nunique()
    of_rho, of_map = _learned_from("nli"), _learned_from("esnli")
    rows = [
        ("E15", "steps of integrated gradients", "75 to 100 (rho), 50 to 100 (MAP)", full["ig_steps"]),
        ("E16", "samples of LIME", "50", full["lime_samples"]),
        ("E17", "permutations of Shapley sampling", "25", full["permutations"]),
        ("E18", "pairs of XNLI, by training", "5,010 each", ", ".join(str(n) for n in pairs)),
        (
            "E19",
            "models and trainings",
            "multilingual BERT and XLM-R, three fine-tunings of all weights each",
            f"one encoder at two depths ({', '.join(models)}): the first six layers are part of the twelve; "
            f"{len(pairs)} adapters of each on the same frozen weights",
        ),
        (
            "E20",
            "pairs that the models of rho learned from",
            "MNLI's training split, nothing of XNLI",
            f"{of_rho} of SNLI's development and test split and of three quarters of XNLI's English development split: "
            "texts of the same kind as the test pairs",
        ),
        (
            "E21",
            "pairs that the models of MAP learned from; pairs with marks",
            "e-SNLI's training split; its test split",
            f"{of_map} of SNLI's development and test split, none about the images of the marked pairs; "
            f"{marked} of {label(marks)}, {with_one_gradient} for methods that need one gradient",
        ),
    ]
    return pd.DataFrame(rows, columns=["point", "what", "paper", "here"]).astype(str)
