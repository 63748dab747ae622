"""The thirteen explanations of Zaman & Belinkov (2022) as quantities beside what they print, and the forms that their
claims take.

    rho = Rows(measured, published.table("crosslingual_table1")[KEYS + ["value"]], setting="main")
    rho(("saliency", "l2"), "loss"), rho(("saliency", "l2"), "loss", model="e5")
    rho.order("loss"), rho.leads([("input_x_gradient", "l2")], "loss"), rho.l2_over_mean("xl_c02", {"saliency"})

A row is a method with what was made of the embedding's dimensions. What ignores the prediction (activation, floors) has
one value for both outputs, measured under the output "none".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import product

import pandas as pd

from faithbook.papers.zaman_belinkov import AGGREGATED, OUTPUT_NAMES, THIRTEEN
from faithbook.results import exhibits, rulebook
from faithbook.results.judged import Ordered, Parts
from faithbook.results.labels import row_label
from faithbook.results.measured import Measured
from faithbook.results.paired import Paired, mean
from faithlib.errors import InputError

Row = tuple[str, str]
"""Method and aggregation."""

KEYS = ["method", "aggregation", "output"]
RELEASED: Row = ("guided_backprop_released", "l2")
FLOORS: tuple[Row, ...] = (("uniform", "none"), ("random", "none"))
ONE_VALUE = ("activation",)
"""Methods with one value for both outputs: of what is said about outputs they are no part, and of what is said about
aggregations one part."""


def architectures(models: Iterable[str]) -> dict[str, str]:
    """By model of ours, in the order of their names, the architecture that stands in the paper's tables.

    >>> architectures(["six", "e5"]), architectures(["mbert", "xlmr"])
    ({'e5': 'mbert', 'six': 'xlm_r_base'}, {'mbert': 'mbert', 'xlmr': 'xlm_r_base'})
    """
    return dict(zip(sorted(models), ("mbert", "xlm_r_base"), strict=False))


def for_ours(printed: pd.DataFrame, models: Iterable[str]) -> pd.DataFrame:
    """Rows of a printed table whose architecture one of our models stands for, under that model's name.

    >>> for_ours(pd.DataFrame({"model": ["mbert", "xlm_r_base"], "value": [0.2, 0.4]}), ["e5"]).to_dict("records")
    [{'model': 'e5', 'value': 0.2}]
    """
    names = {theirs: ours for ours, theirs in architectures(models).items()}
    found = printed[printed["model"].isin(names)]
    return found.assign(model=found["model"].map(names))


def words(models: Iterable[str] = ()) -> dict[str, str]:
    """Names for people of what stands in the heads and rows of these tables, models with what they stand for."""
    named = {"mean": "μ", "l2": "L2", "none": "–", "loss": "loss"}
    return named | {ours: f"{ours} (for {theirs})" for ours, theirs in architectures(models).items()}


def shown(**more: Iterable[str]) -> pd.DataFrame:
    """What tables of ours show: the thirteen, the released row and the floors, for both outputs and all of `more`."""
    rows = [*THIRTEEN, RELEASED, *FLOORS]
    found = [(*row, output, *rest) for row in rows for rest in product(*more.values()) for output in OUTPUT_NAMES]
    return pd.DataFrame(found, columns=[*KEYS, *more])


class Rows:
    """Means of rows, each beside its printed value.

    `printed`: values whose other columns are labels; `fixed`: labels of every cell that is asked for (metric, setting,
    languages); `better`: -1 where a smaller value is the better one.
    """

    def __init__(
        self, measured: Measured, printed: pd.DataFrame | None = None, *, better: int = 1, **fixed: object
    ) -> None:
        self.measured, self.fixed, self.better = measured, fixed, better
        self._theirs: dict[str, float] = {}
        self.printed = pd.DataFrame({"value": pd.Series(dtype=float)}) if printed is None else printed

    def __call__(self, row: Row, output: str, **labels: object) -> Paired:
        """The mean of a row for an output, over the cells with these labels.

        Raises InputError where there is none, UnknownNameError for a label that the cells do not have.
        """
        named = {**self.fixed, **labels, "method": row[0], "aggregation": row[1]}
        found = self.measured.mean(**named, output=[output, "none"])
        theirs = self._published({**named, "output": output})
        return replace(found, published=theirs)

    def found(self, row: Row, output: str, **labels: object) -> Paired | None:
        """The same, None where nothing of it has a defined value: a floor may be flat on every text."""
        try:
            return self(row, output, **labels)
        except InputError:
            return None

    def _published(self, labels: dict[str, object]) -> float:
        if (known := self._theirs.get(key := repr(labels))) is not None:
            return known
        chosen = self.printed
        for name in [label for label in labels if label in chosen.columns]:
            wanted = labels[name]
            chosen = chosen[chosen[name].isin([wanted] if isinstance(wanted, str) else list(wanted))]  # type: ignore[call-overload]
        self._theirs[key] = float(chosen["value"].mean())
        return self._theirs[key]

    def mean(self, rows: Sequence[Row], outputs: Sequence[str], **labels: object) -> Paired:
        """The mean of several rows, each as often as it is printed: activation for every output."""
        return mean([self(row, output, **labels) for output in outputs for row in rows])

    def frame(self, rows: Sequence[Row], **labels: object) -> pd.DataFrame:
        """Rows for both outputs with their published values, as `figures.rows_by_output` draws them; NaN where nothing
        is defined."""
        pairs = {(*row, output): self.found(row, output, **labels) for output in OUTPUT_NAMES for row in rows}
        long = exhibits.long_form(
            [(dict(zip(KEYS, key, strict=True)), pair) for key, pair in pairs.items() if pair is not None]
        )
        return long.set_index(KEYS).reindex(pd.MultiIndex.from_tuples(pairs, names=KEYS)).reset_index()

    # --------------------------------------------------------------------------------------------------------- claims
    def order(self, output: str, **labels: object) -> Ordered:
        """The thirteen in their order; both rows of a method change places together with those of another."""
        told = [self._where(output), *(str(label) for label in labels.values() if isinstance(label, str))]
        items = {row_label(*row): self(row, output, **labels) for row in THIRTEEN}
        return Ordered(items, {row_label(*row): row[0] for row in THIRTEEN}, name=f"tau, {', '.join(told)}")

    def leads(self, leaders: Sequence[Row], output: str, **labels: object) -> dict[str, Paired]:
        """Each of these rows less every row that is not one of them (turned where smaller is better)."""
        return {
            f"{row_label(*row)} less {row_label(*rival)}, {self._where(output)}": self.better
            * (self(row, output, **labels) - self(rival, output, **labels))
            for row in leaders
            for rival in THIRTEEN
            if rival not in leaders
        }

    def l2_over_mean(self, claim: str, level: Callable[[str, str], bool], **labels: object) -> dict[str, Paired]:
        """L2 less mean for each method and output; where `level(method, output)`, the mean less L2 need only be not
        worse than the margin of the claim's rule."""
        parts: dict[str, Paired] = {}
        for method in AGGREGATED:
            for output in OUTPUT_NAMES:
                where = f"{row_label(method, 'none')}, {self._where(output)}"
                if method in ONE_VALUE:
                    if output != next(iter(OUTPUT_NAMES)):
                        continue
                    where = f"{row_label(method, 'none')}, both outputs"
                gain = self((method, "l2"), output, **labels) - self((method, "mean"), output, **labels)
                if level(method, output):
                    margin = rulebook.rule(claim).margin
                    parts[f"mean less L2 and {margin:g} more, {where}"] = rulebook.not_worse(claim, -gain)
                else:
                    parts[f"L2 less mean, {where}"] = gain
        return parts

    def loss_over_top(self, but: Collection[Row | str], **labels: object) -> Parts:
        """Loss less top prediction for each row whose method or self is not among the exceptions."""
        return {
            f"loss less top prediction, {row_label(*row)}": self(row, "loss", **labels)
            - self(row, "top_prediction", **labels)
            for row in THIRTEEN
            if row not in but and row[0] not in but and row[0] not in ONE_VALUE
        }

    def _where(self, output: str) -> str:
        metric = self.fixed.get("metric")
        told = metric if isinstance(metric, str) and metric not in ("rho", "average_precision") else ""
        return f"{told}, {OUTPUT_NAMES[output]}" if told else OUTPUT_NAMES[output]
