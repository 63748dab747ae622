"""The thirteen explanations of Zaman & Belinkov (2022) as quantities beside what they print, and the forms that their
claims take.

    rho = Rows(measured, printed_table("crosslingual_table1")[KEYS + ["value"]], setting="main")
    rho(("saliency", "l2"), "loss"), rho(("saliency", "l2"), "loss", model="e5")
    rho.order("loss"), rho.leads([("input_x_gradient", "l2")], "loss")
    rho.l2_over_mean("xl_c02/direction", {"saliency"})

A row is a method with the aggregation of the embedding's dimensions. What ignores the prediction (activation and the
floors, as baselines are called in code) has one value for both outputs, measured under the output "none".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import scipy.stats

from faithbook.judge import analysis_plan
from faithbook.judge.decide import Ordered, Parts, Statements
from faithbook.judge.published import table
from faithbook.judge.report import Page
from faithbook.judge.scores import Scores
from faithbook.show import tables
from faithbook.show.labels import row_label, short
from faithbook.show.numbers import ends_of, row_of, spoken
from faithbook.stats.agreement import tau_b, tau_of, tau_of_independent
from faithbook.stats.comparison import Comparison, combined, mean
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import FEWEST_CLUSTERS, Estimate, average
from faithbook.stats.verdict import permutation_p, permutations_of
from faithbook.studies.crosslingual.zaman_belinkov import (
    AGGREGATED,
    MODIFIED,
    OUTPUT_NAMES,
    PERTURBING,
    PLAIN,
    PRINTED_AS,
    THIRTEEN,
)
from faithbook.studies.crosslingual.zaman_belinkov_spread import Signal, matrix, signal
from faithlib.errors import InputError, UnknownNameError

Row = tuple[str, str]
"""Method and aggregation."""

KEYS = ["method", "aggregation", "output"]
MODIFIED_ROWS: tuple[Row, ...] = ((MODIFIED, "mean"), (MODIFIED, "l2"))
"""Guided backprop with the gradient of GELU changed, as its own paper does to ReLU: beside the row that is printed."""
_IN_PLACE = {(PLAIN, how): (MODIFIED, how) for how in ("mean", "l2")}
WITH_MODIFIED: tuple[Row, ...] = tuple(_IN_PLACE.get(row, row) for row in THIRTEEN)
"""The thirteen with that method instead of the printed row."""
WITHOUT_EITHER: tuple[Row, ...] = tuple(row for row in THIRTEEN if row[0] != PLAIN)
"""Eleven: without the row that repeats saliency."""
FLOORS: tuple[Row, ...] = (("uniform", "none"), ("random", "none"))
ONE_VALUE = ("activation",)
"""Methods with one value for both outputs: comparisons of outputs leave them out, comparisons of aggregations have them
once."""
LOOKING = tuple(row for row in THIRTEEN if row[0] not in ONE_VALUE)
"""The eleven rows that depend on the prediction."""
BLIND: tuple[Row, ...] = (FLOORS[0], ("activation", "l2"), FLOORS[1])
"""The floors of rho: both, and the norm of the embedding."""

PRINTED_ROWS: tuple[tuple[Row, str], ...] = tuple((row, output) for output in OUTPUT_NAMES for row in THIRTEEN)
"""The paper's 26: activation twice, as it has one value for both outputs."""
DIFFERENT_ROWS = tuple((row, output) for row, output in PRINTED_ROWS if row[0] not in ONE_VALUE or output == "loss")
"""The 24 with activation once; the printed guided backprop with L2 still repeats saliency."""
SMALLER_IS_BETTER = ("sufficiency",)
_LEADS = ("over", "estimate", "low", "high", "n", "above", "below")


def architectures(models: Iterable[str]) -> dict[str, str]:
    """The architecture in the paper's tables that each of our models replaces, in the order of their names.

    >>> architectures(["six", "e5"]), architectures(["mbert", "xlmr"])
    ({'e5': 'mbert', 'six': 'xlm_r_base'}, {'mbert': 'mbert', 'xlmr': 'xlm_r_base'})
    """
    return dict(zip(sorted(models), ("mbert", "xlm_r_base"), strict=False))


def for_ours(printed: pd.DataFrame, models: Iterable[str]) -> pd.DataFrame:
    """Rows of a printed table whose architecture one of our models replaces, under that model's name.

    >>> for_ours(pd.DataFrame({"model": ["mbert", "xlm_r_base"], "value": [0.2, 0.4]}), ["e5"]).to_dict("records")
    [{'model': 'e5', 'value': 0.2}]
    """
    named = architectures(models)
    ours_of = dict(zip(named.values(), named.keys(), strict=True))
    rows = printed[printed["model"].isin(ours_of)]
    return rows.assign(model=rows["model"].map(ours_of))


def printed_table(name: str) -> pd.DataFrame:
    """A published table with our names of the methods: what it calls guided backprop is the plain gradient.

    >>> printed_table("crosslingual_table1").query("method == @PLAIN")["value"].tolist()
    [0.0026, 0.002, 0.5664, 0.567]
    """
    frame = table(name)
    if "method" not in frame.columns:
        return frame
    return frame.assign(method=frame["method"].replace(PRINTED_AS))


def words(models: Iterable[str] = ()) -> dict[str, str]:
    """Names in the heads and rows of tables, for people; a model with the architecture that it replaces."""
    named = {"mean": "μ", "l2": "L2", "none": "–", "loss": "loss", MODIFIED: "guided backprop, GELU changed"}
    for ours, theirs in architectures(models).items():
        named[ours] = f"{ours} (for {short(theirs)})"
    return named


def shown_rows(**more: Iterable[str]) -> pd.DataFrame:
    """The rows of our tables: the thirteen, the modified ones and the floors, for both outputs and each of `more`."""
    rows = pd.DataFrame([*THIRTEEN, *MODIFIED_ROWS, *FLOORS], columns=["method", "aggregation"])
    others = pd.DataFrame(product(*more.values()), columns=[*more])
    outputs = pd.DataFrame({"output": [*OUTPUT_NAMES]})
    cells = rows.merge(others, how="cross") if more else rows
    return cells.merge(outputs, how="cross")[[*KEYS, *more]]


def with_every_row(units: pd.DataFrame) -> pd.DataFrame:
    """Values of the texts for which every row was computed; further texts have only the rows that need one gradient.

    >>> rows = [("a", "saliency"), ("a", "shapley_sampling"), ("b", "saliency")]
    >>> units = pd.DataFrame(rows, columns=["id", "method"]).assign(dataset="nli", seed=0)
    >>> with_every_row(units)["id"].tolist()
    ['a', 'a']
    """
    text = ["dataset", "seed", "id"]
    if not {*text} <= {*units.columns}:
        return units
    # A text with the slowest method has all others.
    slow = units[units["method"] == PERTURBING[-1]]
    if slow.empty:
        return units
    every_row = pd.MultiIndex.from_frame(units[text]).isin(pd.MultiIndex.from_frame(slow[text]))
    return units[every_row]


def on_more_texts(parts: Mapping[str, Comparison], more: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """Each comparison of a claim on all texts that have both of its rows: that of `more` where it has more texts."""
    found = {}
    for part, pair in parts.items():
        further = more[part]
        found[part] = further if further.ours.n > pair.ours.n else pair
    return found


def defined(units: pd.DataFrame, over: Sequence[str], *, further: bool = False) -> pd.DataFrame:
    """Values without undefined ones: equal scores have no rank correlation. A cell of these columns without any defined
    value is kept, so that a table shows it as empty. `further`: also of texts that lack slow rows (`with_every_row`).

    >>> units = pd.DataFrame({"method": ["a", "a", "b"], "value": [0.5, np.nan, np.nan]})
    >>> defined(units, ["method"]).index.to_list()
    [0, 2]
    """
    if not further and "method" in units.columns:
        units = with_every_row(units)
    known = units.groupby(list(over), observed=True, dropna=False)["value"].transform("count")
    return units[units["value"].notna() | (known == 0)]


def means_of_columns(table: pd.DataFrame, columns: Sequence[str]) -> Callable[[str], Comparison]:
    """Means of columns of a table with one row per text (`input`): a function of the column. For what is counted on
    texts and kept beside the values of single inputs.

    >>> float(means_of_columns(pd.DataFrame({"input": ["a", "b"], "words": [3, 5]}), ["words"])("words").ours.point)
    4.0
    """
    long = table.melt("input", list(columns), "quantity", "value").dropna(subset=["value"])
    counts = long.astype({"value": float})
    cells = Conditions.of(counts, over=["quantity"], unit="input", bounds=(0, float("inf")), n_resamples=1999)
    return lambda quantity: Comparison(cells.mean(quantity=quantity))


def measured_texts(page: Page) -> Scores:
    """Counts of words, pieces and links in the texts of study 3, on the data of its tables."""
    over = ["metric", "language"]
    return page.measure(
        "crosslingual_projected", parts=["texts"], over=over, bounds=(0, float("inf")), firmest=True, n_resamples=1999
    )


class Rows:
    """Means of rows, each beside its printed value.

    `printed`: values whose other columns are labels; `own`: the paper's own repeats of them, printed for each of its
    models (`model`); `fixed`: labels of every cell that is asked for (metric, setting, languages); `better`: -1 where a
    smaller value is the better one.
    """

    def __init__(
        self,
        measured: Scores,
        printed: pd.DataFrame | None = None,
        *,
        own: pd.DataFrame | None = None,
        better: int = 1,
        **fixed: object,
    ) -> None:
        self.fixed, self.better = fixed, better
        # Values that were looked up beside other printed ones are not kept (`_means`).
        self.printed = pd.DataFrame({"value": pd.Series(dtype=float)}) if printed is None else printed
        self.measured = replace(measured, printed=self.printed, _means={})
        self.own = None if own is None else replace(measured, printed=own, _means={})

    def __call__(self, row: Row, output: str, **labels: object) -> Comparison:
        """The mean of a row for an output, over the cells with these labels; undefined, of no text, where none of them
        has a value. Raises UnknownNameError for a label that the cells do not have.
        """
        named = {**self.fixed, **labels, **_row(row), "output": [output, "none"]}
        try:
            return replace(self.measured.mean(**named), repeats=self._repeats(named))
        except UnknownNameError:
            raise
        except InputError:
            return Comparison(self.measured.cells.undefined, self.measured.published(**named), self.measured.evidence())

    def _repeats(self, named: Mapping[str, object]) -> tuple[float, ...]:
        """The same in the paper's own repeats, one value for each of its models."""
        if self.own is None or "model" in named:
            return ()
        of_models = [{**named, "model": model} for model in dict.fromkeys(self.own.printed["model"])]
        return tuple(self.own.published(**labels) for labels in of_models)

    def cell(self, row: Mapping[str, str]) -> Comparison:
        """The cell of a table's row, by its method, aggregation and output, and by the other columns of the printed
        values (a model, a language)."""
        others = {name: row[name] for name in self.printed.columns if name not in (*KEYS, "value")}
        return self((row["method"], row["aggregation"]), row["output"], **others)

    def if_defined(self, row: Row, output: str, **labels: object) -> Comparison | None:
        """The same, None where nothing of it has a defined value: a floor may be flat on every text."""
        pair = self(row, output, **labels)
        return pair if pair.ours.n else None

    def mean(self, rows: Sequence[Row], outputs: Sequence[str], **labels: object) -> Comparison:
        """The mean of several rows, each as often as it is printed: activation for every output."""
        return mean([self(row, output, **labels) for output in outputs for row in rows])

    def frame(self, rows: Sequence[Row], **labels: object) -> pd.DataFrame:
        """Rows for both outputs with their published values, as the figure `rows_by_output` draws them; NaN where
        nothing is defined."""
        cells = []
        for output, row in product(OUTPUT_NAMES, rows):
            cells.append(({**_row(row), "output": output}, self(row, output, **labels)))
        return tables.long_form(cells)

    def against(self, floor: Row) -> dict[str, object]:
        """How many of the 24 rows are clearly better, and how many clearly worse, than a floor: by a 95 % interval
        without zero; 0 of 0 where the floor is undefined on every text."""
        baseline = self.if_defined(floor, "loss")
        if baseline is None:
            return {"floor": row_label(*floor), "explanations": 0, "better": 0, "worse": 0, "n": 0}
        gains = [(self.better * (self(*row) - baseline)).ours for row in DIFFERENT_ROWS]
        low = np.array([gain.interval().low for gain in gains])
        high = np.array([gain.interval().high for gain in gains])
        return {
            "floor": row_label(*floor),
            "explanations": len(gains),
            "better": int((low > 0).sum()),
            "worse": int((high < 0).sum()),
            "n": min(gain.n for gain in gains),
        }

    def over_floors(self, output: str, floors: Sequence[Row] = BLIND, **labels: object) -> pd.DataFrame:
        """The eleven rows that depend on the prediction, each with the floor that it leads by least.

        Columns: method, aggregation, `over` (that floor), estimate, low, high, n (of that lead); `above`: whether its
        lead over every floor has an interval above zero; `below`: whether that over some floor lies below. Neither
        with fewer than ten independent texts. Rows and floors that are undefined on every text are left out; without
        any floor the table is empty.
        """
        baselines = {}
        for floor in floors:
            baseline = self.if_defined(floor, output, **labels)
            if baseline is not None:
                baselines[floor] = baseline
        leads = []
        for row in LOOKING:
            value = self.if_defined(row, output, **labels)
            if value is None or not baselines:
                continue
            gaps = {floor: (self.better * (value - baseline)).ours for floor, baseline in baselines.items()}
            ends = {floor: gap.interval() for floor, gap in gaps.items()}
            nearest = min(ends, key=lambda floor: ends[floor].estimate)
            # Intervals over fewer texts are too short too often.
            enough = min(gap.fewest for gap in gaps.values()) >= FEWEST_CLUSTERS
            leads.append(
                {
                    **_row(row),
                    "over": row_label(*nearest),
                    **vars(ends[nearest]),
                    "n": gaps[nearest].n,
                    "above": enough and all(end.low > 0 for end in ends.values()),
                    "below": enough and any(end.high < 0 for end in ends.values()),
                }
            )
        return pd.DataFrame(leads, columns=["method", "aggregation", *_LEADS])

    # --------------------------------------------------------------------------------------------------------- claims
    def order(self, output: str, *, rows: Sequence[Row] = THIRTEEN, **labels: object) -> Ordered:
        """Rows (default: the thirteen) in their order; both rows of a method change places together with those of
        another."""
        items, blocks = {}, {}  # rows of one block change places only together
        for row in rows:
            items[row_label(*row)] = self(row, output, **labels)
            blocks[row_label(*row)] = row[0]
        where = [self._where(output)]
        where += [label for label in labels.values() if isinstance(label, str)]
        repeats = self.repeats(output, **labels) if rows == THIRTEEN else None
        return Ordered(items, blocks, f"tau, {', '.join(where)}", repeats)

    def repeats(self, output: str, **labels: object) -> tuple[dict[str, float], dict[str, float]] | None:
        """The printed values of the thirteen for each of two models, None where not two are printed."""
        if "model" not in self.printed.columns:
            return None
        models = list(dict.fromkeys(self.printed["model"]))
        if len(models) != 2:
            return None
        where = {**self.fixed, **labels, "output": output}

        def printed_of(model: str) -> dict[str, float]:
            values = {}
            for row in THIRTEEN:
                named = {**where, **_row(row), "model": model}
                values[row_label(*row)] = self.measured.published(**named)
            return values

        return printed_of(models[0]), printed_of(models[1])

    def leads(self, leaders: Sequence[Row], output: str, **labels: object) -> dict[str, Comparison]:
        """Each of these rows minus every row that is not one of them (turned where smaller is better)."""
        others = [row for row in THIRTEEN if row not in leaders]
        gains: dict[str, Comparison] = {}
        for leader, other in product(leaders, others):
            part = f"{row_label(*leader)} minus {row_label(*other)}, {self._where(output)}"
            gains[part] = self.better * (self(leader, output, **labels) - self(other, output, **labels))
        return gains

    def l2_over_mean(self, claim: str, level: Callable[[str, str], bool], **labels: object) -> dict[str, Comparison]:
        """L2 minus mean for each method and output; where `level(method, output)`, the mean minus L2 need only be not
        worse than the margin of the claim's rule."""
        parts: dict[str, Comparison] = {}
        rule = analysis_plan.rule(claim)
        margin = rule.margin or 0.0
        for method, output in product(AGGREGATED, OUTPUT_NAMES):
            of_output = self._where(output)
            if method in ONE_VALUE:
                if output == "loss":  # the same value again
                    continue
                of_output = "both outputs"
            where = f"{row_label(method, 'none')}, {of_output}"
            gain = self((method, "l2"), output, **labels) - self((method, "mean"), output, **labels)
            if level(method, output):
                parts[f"mean minus L2 plus {margin:g}, {where}"] = -gain + (rule.threshold + margin)
            else:
                parts[f"L2 minus mean, {where}"] = gain
        return parts

    def loss_over_top(self, but: Collection[Row | str], **labels: object) -> Parts:
        """Loss minus top prediction for each row whose method or self is not among the exceptions."""
        gains: dict[str, Comparison] = {}
        for row in LOOKING:
            if row in but or row[0] in but:
                continue
            part = f"loss minus top prediction, {row_label(*row)}"
            gains[part] = self(row, "loss", **labels) - self(row, "top_prediction", **labels)
        return gains

    def _where(self, output: str) -> str:
        """An output in the name of a comparison, with the metric where a page has several."""
        metric = self.fixed.get("metric")
        if not isinstance(metric, str) or metric in ("rho", "average_precision"):
            return OUTPUT_NAMES[output]
        return f"{metric}, {OUTPUT_NAMES[output]}"


def best_first(of: Rows, output: str, rows: Sequence[Row] = THIRTEEN) -> list[Row]:
    """Rows with a defined value for an output, the best first."""
    values = {}
    for row in rows:
        pair = of.if_defined(row, output)
        if pair is not None:
            values[row] = of.better * pair.ours.point
    return sorted(values, key=lambda row: -values[row])


def by_large_margins(l2_ahead: Parts) -> Statements:
    """That L2 beats the mean (except for named rows), and by large margins: the parts of `l2_over_mean`,
    and those among them in which L2 has to be ahead."""
    by_margin = {part: gain for part, gain in l2_ahead.items() if part.startswith("L2 minus")}
    return Statements({"direction": l2_ahead, "size": by_margin})


def over_trainings(units: pd.DataFrame) -> pd.DataFrame:
    """Values of the texts that every training of a model was asked for, on each data set.

    >>> rows = [("a", 0), ("a", 1), ("b", 0)]
    >>> units = pd.DataFrame(rows, columns=["id", "seed"]).assign(dataset="nli", model="e5")
    >>> over_trainings(units)["id"].tolist()
    ['a', 'a']
    """
    of_model = ["dataset", "model"]
    trainings = units.groupby(of_model, observed=True)["seed"].transform("nunique")
    of_text = units.groupby([*of_model, "id"], observed=True)["seed"].transform("nunique")
    return units[of_text == trainings]


def deviation_over_trainings(trainings: Sequence[Comparison], published: float) -> Comparison:
    """The standard deviation over trainings of a quantity (of a sample: divided by their number less one), beside the
    printed one."""
    return combined(lambda values: values.std(axis=-1, ddof=1), trainings, published=published)


def read_between(read: Mapping[str, Estimate], best: Sequence[str], worst: Sequence[str]) -> str:
    """The other languages that are read better than the lowest of the named best ones, or worse than the highest of the
    named worst ones, in words. `read`: accuracy by language; English, in which models were trained, is left out."""
    good = min(best, key=lambda language: read[language].point)
    bad = max(worst, key=lambda language: read[language].point)
    others = [language for language in read if language not in ("en", *best, *worst)]
    above = [language for language in others if read[language].point > read[good].point]
    below = [language for language in others if read[language].point < read[bad].point]
    if not above and not below:
        return "In our run the four have the highest accuracy of all languages, and the three the lowest."

    def accuracies(languages: Sequence[str]) -> str:
        return ", ".join(f"{language} {spoken(read[language], '.3f')}" for language in languages) or "none"

    return (
        f"Our own order differs from the claimed one (accuracy, mean over models; n = {read[good].n}). Other "
        f"languages above {accuracies([good])}, the lowest of the four: {accuracies(above)}. Other languages below "
        f"{accuracies([bad])}, the highest of the three: {accuracies(below)}."
    )


def leaders(values: Sequence[float]) -> str:
    """Which of the thirteen have the highest of these values, including ties; "none" where all are undefined."""
    best = max(values)
    leading = [row_label(*row) for row, value in zip(THIRTEEN, values, strict=True) if value == best]
    return ", ".join(leading) or "none"


def orders_as_one(orders: Sequence[Ordered]) -> dict[str, float]:
    """Several orders of the same items taken as one: the mean of Kendall's tau-b with the published values (tau, low,
    high: 95 % interval over texts; n of the smallest set), the share of permutations of the items with a mean as high
    (p), and of how many permutations."""
    taus, points, printed, numbers = [], [], [], []
    for order in orders:
        taus.append(tau_of(order.ours, order.published))
        points.append([item.point for item in order.ours])
        printed.append(order.published)
        numbers += [item.n for item in order.ours]
    blocks = orders[0].block_of_each or list(orders[0].items)
    return {
        **ends_of(average(taus), "tau", "low", "high"),
        "n": min(numbers),
        "p": float(permutation_p(points, printed, blocks)),
        "permutations": len(permutations_of(tuple(blocks))),
    }


def agreement_of_orders(first: Rows, second: Rows, output: str) -> dict[str, object]:
    """Which rows lead in two measures of the thirteen, published and ours, and tau-b between their two orders.

    The two are measured on different texts, so they are resampled independently.
    """
    by_rho = [first(row, output) for row in THIRTEEN]
    by_map = [second(row, output) for row in THIRTEEN]
    printed_rho, printed_map = [pair.published for pair in by_rho], [pair.published for pair in by_map]
    ours_rho, ours_map = [pair.ours for pair in by_rho], [pair.ours for pair in by_map]
    return {
        "leads rho, published": leaders(printed_rho),
        "leads MAP, published": leaders(printed_map),
        "leads rho, ours": leaders([mean.point for mean in ours_rho]),
        "leads MAP, ours": leaders([mean.point for mean in ours_map]),
        "published": float(tau_b(printed_rho, printed_map)),
        **row_of(tau_of_independent(ours_rho, ours_map)),
    }


# -------------------------------------------------------------------------------------------------------- under erasure
def labels_of(rows: Iterable[tuple[Row, str]], **fixed: object) -> list[dict[str, object]]:
    """The cells of rows with outputs, as labels."""
    return [{**fixed, **_row(row), "output": [output, "none"]} for row, output in rows]


def _row(row: Row) -> dict[str, str]:
    """A row as labels."""
    return dict(zip(KEYS, row, strict=False))


def signal_of(cells: Conditions, rows: Iterable[tuple[Row, str]], **fixed: object) -> Signal:
    """The spread of rows over explanations, taken apart (`zaman_belinkov_spread`); undefined, of no message, where
    fewer than two have a value of every row."""
    try:
        return signal(*matrix(cells, labels_of(rows, **fixed)), cells.resamples)
    except UnknownNameError:
        raise
    except InputError:
        return Signal(cells.undefined, cells.undefined, np.nan, np.nan, 0)


def spread_beside(
    measured: Scores, take: Callable[[Signal], Estimate], rows: Iterable[tuple[Row, str]], printed: float, **at: object
) -> Comparison:
    """One of the quantities of a spread, beside the printed one; `at`: labels of its cells."""
    return Comparison(take(signal_of(measured.cells, rows, **at)), printed, measured.evidence())


def erasing_ranks(units: pd.DataFrame) -> pd.DataFrame:
    """The mean rank (1 is best) of occlusion and Shapley sampling among the thirteen, on each text, by model, language,
    metric and output, as rows of the metric "rank under …"; a text without one of the thirteen is left out.

    `units`: values of single inputs of rho, comprehensiveness and sufficiency, with languages.
    """
    text = ["dataset", "id", "cluster", "seed", "model", "language", "metric"]
    erasing = [THIRTEEN.index((method, "none")) for method in PERTURBING]
    frames = [pd.DataFrame(columns=[*text, "value", "output"])]
    for output in OUTPUT_NAMES:
        of_output = units[units["output"].isin([output, "none"])]
        wide = of_output.pivot_table(index=text, columns=["method", "aggregation"], values="value")
        if not set(THIRTEEN) <= set(wide.columns):
            continue
        wide = wide[list(THIRTEEN)].dropna()
        smaller = wide.index.get_level_values("metric").isin(SMALLER_IS_BETTER)
        # Ranks count from the smallest value, so that values of which larger ones are better change their sign.
        turned = wide.to_numpy() * np.where(smaller, 1, -1)[:, None]
        ranks = scipy.stats.rankdata(turned, axis=1)
        mean_rank = ranks[:, erasing].mean(axis=1)
        frames.append(wide.index.to_frame(index=False).assign(value=mean_rank, output=output))
    frame = pd.concat(frames[1:] or frames, ignore_index=True)
    return frame.assign(metric="rank under " + frame["metric"].astype(str), method="erasing", aggregation="none")


PRINTED_IN = {
    "rho": ("crosslingual_table1", "crosslingual_table8"),
    "comprehensiveness": ("crosslingual_table3", "crosslingual_table9"),
    "sufficiency": ("crosslingual_table3", "crosslingual_table10"),
}
"""By metric, the table of means over architectures and that of each architecture."""
PRINTED_SEEDS = 3


def printed_spread(metric: str) -> float:
    """The standard deviation over the 26 printed means of a metric."""
    frame = table(PRINTED_IN[metric][0])
    return float(np.std(frame.loc[frame["metric"] == metric, "value"].to_numpy()))


def own_account() -> pd.DataFrame:
    """What the printed tables say about noise, one row per metric: the spread of the 26 rows, the noise that the
    printed spreads over seeds leave in a mean of two architectures and three seeds, and tau-b between the two
    architectures."""
    rows = []
    for metric, (_, each) in PRINTED_IN.items():
        frame = table(each)
        once = frame[~frame["method"].isin(ONE_VALUE) | (frame["output"] == "loss")]
        pairs = once.pivot_table(index=KEYS, columns="model", values="value")
        noise = float(np.sqrt((frame["spread"] ** 2).mean() / (pairs.shape[1] * PRINTED_SEEDS)))
        row = {"metric": metric, "spread of 26 rows": printed_spread(metric), "noise of seeds in a row": noise}
        tau = float(tau_b(pairs["mbert"].to_numpy(), pairs["xlm_r_base"].to_numpy()))
        rows.append(row | {"ratio": printed_spread(metric) / noise, "tau of the two architectures": tau})
    return pd.DataFrame(rows)


def printed_rank(printed: pd.DataFrame, output: str, *, better: int = 1) -> float:
    """The mean rank of occlusion and Shapley sampling among the thirteen printed values of an output."""
    values = printed[printed["output"] == output].set_index(["method", "aggregation"])["value"].reindex(THIRTEEN)
    ranks = scipy.stats.rankdata(-better * values.to_numpy())
    by_row = dict(zip(THIRTEEN, ranks, strict=True))
    return float(np.mean([by_row[method, "none"] for method in PERTURBING]))
