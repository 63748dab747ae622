"""What each point of `crosslingual_deviations` changes: rho with one choice made otherwise, orders of methods with
guided backprop treated in three ways, rho over more languages, and with the paper's numbers of samples.

A pair of values is (ours, with the other choice); a change is always the other choice minus ours.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from faithbook.judge import published
from faithbook.judge.report import Page
from faithbook.judge.scores import Scores
from faithbook.show.labels import label, row_label
from faithbook.show.numbers import row_of, spoken
from faithbook.stats.comparison import Comparison
from faithbook.studies.crosslingual.more_languages import over_languages
from faithbook.studies.crosslingual.zaman_belinkov import (
    LANGUAGE_TABLES,
    MODIFIED,
    OUTPUT_NAMES,
    PAPER_LANGUAGES,
    PLAIN,
    THIRTEEN,
)
from faithbook.studies.crosslingual.zaman_belinkov_tables import (
    KEYS,
    WITH_MODIFIED,
    WITHOUT_EITHER,
    Row,
    Rows,
    defined,
    for_ours,
    printed_table,
    together,
)

Pair = tuple[Comparison, Comparison]
"""Ours (or what stands in its place), and with the choice made otherwise."""

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
    "means, aligned, no copied words",
    OTHER_LINKS,
)
"""The settings of E5: how pieces and links are put together, and which words count."""
CELLS = ["way", "model", "language", *KEYS]
OF_RHO, OF_READING = ["setting", "model", "language", *KEYS], ["model", "language"]
OF_SAMPLES = ["dataset", "model", "method", "aggregation", "numbers"]
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
def by_way(units: pd.DataFrame) -> pd.DataFrame:
    """Rho in the paper's languages by `way`: a setting of the main run, or what was done otherwise for the top
    prediction."""
    units = units[units.language.isin(PAPER_LANGUAGES) & units.choice.ne(MAIN)]
    # Other choices were measured for one output alone, so their rows do not say which.
    output = units.output.where(units.choice.isna(), TOP_PREDICTION)
    return defined(units.assign(way=units.choice.fillna(units.setting), output=output), CELLS)


def points(measured: Scores, *, other_links: str) -> dict[str, dict[str, Pair]]:
    """Every point that was measured (E2 to E14), with its rows by name; `other_links`: the rule of links that ours is
    not."""
    rho = {way: Rows(measured, way=way) for way in measured.levels("way")}

    def of_choice(way: str, base: str = MAIN) -> dict[str, Pair]:
        """Of every row that was measured so."""
        frame = measured.frame[measured.frame.way == way]
        rows = dict.fromkeys(zip(frame.method, frame.aggregation, strict=True))
        return {row_label(*row): (rho[base](row, TOP_PREDICTION), rho[way](row, TOP_PREDICTION)) for row in rows}

    def of_all(way: str) -> Pair:
        """The mean over the thirteen rows and both outputs."""
        ours, otherwise = (rho[setting].mean(THIRTEEN, [*OUTPUT_NAMES]) for setting in (MAIN, way))
        return ours, otherwise

    def modified(how: str) -> Pair:
        """The printed row, and the method that changes the gradient of GELU."""
        return rho[MAIN]((PLAIN, how), TOP_PREDICTION), rho[MAIN]((MODIFIED, how), TOP_PREDICTION)

    names = {OTHER_LINKS: f"links by {other_links}"}
    return {
        "E2 embedded twice": of_choice("embedded twice"),
        "E3 guided backprop, GELU changed": {row_label(PLAIN, how): modified(how) for how in ("l2", "mean")},
        # Both of the class that is predicted for the whole text: beside ours the class would change, too, which is E9.
        "E4 probability": of_choice("probability", PREDICTED),
        "E5 sums and zeros": {f"all rows, {names.get(way, way)}": of_all(way) for way in SUMS},
        "E9 the predicted class's logit": of_choice(PREDICTED),
        "E10 single pieces": of_choice("single pieces"),
        "E14 a lasso for LIME": of_choice("lasso"),
    }


def effects(pairs: Mapping[str, Mapping[str, Pair]]) -> pd.DataFrame:
    """By point and row our value and the change with its interval: point, row, ours, estimate, low, high, n."""
    changes = []
    for point, rows in pairs.items():
        for name, (ours, otherwise) in rows.items():
            changes.append({"point": point, "row": name, "ours": ours.ours.point, **row_of(otherwise - ours)})
    return pd.DataFrame(changes)


def in_words(changes: pd.DataFrame, point: str) -> str:
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
        orders = [rows.order(output, rows=rows_of_way, **labels) for labels in table.cells for output in OUTPUT_NAMES]
        found[way] = together(orders)
    return found


def orders_in_long(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """A row for each table and way."""
    rows = [{"table": name, "row": way, **order} for name, ways in tables.items() for way, order in ways.items()]
    return pd.DataFrame(rows).rename(columns={"tau": "estimate"})


def orders_in_words(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """A row for each table, and for each way a column with tau, its interval and p."""
    rows = []
    for name, ways in tables.items():
        cells = {
            f"{way}: tau, p": f"{order['tau']:.2f} [{order['low']:.2f}, {order['high']:.2f}], {order['p']:.3f}"
            for way, order in ways.items()
        }
        rows.append({"table": name, **cells, "n": ways["as printed"]["n"]})
    return pd.DataFrame(rows)


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
    columns = {
        "accuracy": {language: accuracy[language] for language in languages},
        EXPLAINED: {
            language: rows[language].mean(THIRTEEN, [*OUTPUT_NAMES], language=language) for language in languages
        },
        UNIFORM: {language: rows[language](("uniform", "none"), "loss", language=language) for language in languages},
    }
    values = {
        quantity: {language: float(pair.ours.point) for language, pair in of_language.items()}
        for quantity, of_language in columns.items()
    }
    printed = published.table("crosslingual_table2").pivot(index="language", columns="metric", values="value")
    trends = over_languages(
        values.pop("accuracy"),
        values,
        groups | {"all": languages},
        printed_r=float(printed["rho"].corr(printed["accuracy"])),
    )
    return Languages(columns, trends, models)


def trend_in_words(trends: pd.DataFrame, languages: str, quantity: str) -> str:
    """A correlation of accuracy with its interval and p."""
    [row] = trends[(trends.languages == languages) & (trends["rho of"] == quantity)].to_dict("records")
    return (
        f"r = {row['estimate']:.2f} [{row['low']:.2f}, {row['high']:.2f}], p = {row['p']:.3f}, n = {row['n']} languages"
    )


def best_read(accuracies: pd.DataFrame, top: int) -> dict[str, set[str]]:
    """By model the `top` languages with the highest accuracy, and all that tie for the last place."""
    by_model = accuracies.groupby("model", sort=False)
    return {str(model): set(part.nlargest(top, "value", keep="all").language) for model, part in by_model}


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
        changes.append(f"{label(dataset)}, {label(model)} {spoken(paper - ours, '+.3f')} (n = {n})")
    return (
        f"Over all our texts, input × gradient and saliency (L2) lead these four rows by {spoken(lead, '.3f')} "
        f"(n = {lead.ours.n}). The paper's numbers change the mean of the four by: {'; '.join(changes)}."
    )
