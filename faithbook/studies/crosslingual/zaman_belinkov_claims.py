"""The comparisons that the claims of Zaman & Belinkov (2022) about their thirteen explanations are made of.

    leads(rho, [FAITHFUL])            # c01: a row minus every other one, for both outputs
    gradients_ahead(rho)              # c04: each gradient row minus the mean of the methods that erase
    by_scores(variants, measured, …)  # the same parts under every choice that the paper leaves open

`Rows` has the forms that one output needs; here they are put together for both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import product

from faithbook.judge.decide import Ordered, Parts
from faithbook.judge.scores import Scores
from faithbook.show.labels import row_label
from faithbook.stats.comparison import Comparison
from faithbook.studies.crosslingual.zaman_belinkov import AGGREGATED, OUTPUT_NAMES, PERTURBING, PLAIN
from faithbook.studies.crosslingual.zaman_belinkov_tables import Row, Rows, on_more_texts

FAITHFUL: Row = ("input_x_gradient", "l2")
"""The row that leads in rho as printed."""
PLAUSIBLE: tuple[Row, ...] = (("saliency", "mean"), ("saliency", "l2"), (PLAIN, "l2"))
"""The rows that lead in MAP as printed."""
GRADIENTS: tuple[Row, ...] = tuple(product(AGGREGATED[:4], ("mean", "l2")))
"""The eight rows of methods that use gradients: activation uses none."""
ERASED: tuple[Row, ...] = tuple((method, "none") for method in PERTURBING)
"""The two that the paper calls perturbation methods."""
NOT_ABOVE_TOP = {("integrated_gradients", "l2"), (PLAIN, "mean")}
"""The exceptions of c03 and c16: rows whose rho is lower for the loss."""
CHOICES = ["scores", "model", "languages"]
"""The names of the choices of `variants`."""
FAIR = "means, aligned, no copied words"
"""The way to put scores together that leaves words' lengths and copied words least to say."""


def orders(rows: Rows, alone: Rows) -> list[Ordered]:
    """The order of the thirteen rows for each output, with that of each of the paper's two models (`alone`)."""
    return [replace(rows.order(output), repeats=alone.repeats(output)) for output in OUTPUT_NAMES]


def leads(rows: Rows, leaders: Sequence[Row], **labels: object) -> dict[str, Comparison]:
    """Each of these rows minus every row that is not one of them, for both outputs."""
    return {part: pair for output in OUTPUT_NAMES for part, pair in rows.leads(leaders, output, **labels).items()}


def gradients_ahead(rows: Rows, **labels: object) -> dict[str, Comparison]:
    """Each gradient row minus the mean of the two perturbation methods, for both outputs."""
    return {
        f"{row_label(*row)} minus erasing, {name}": rows(row, output, **labels) - rows.mean(ERASED, [output], **labels)
        for output, name in OUTPUT_NAMES.items()
        for row in GRADIENTS
    }


def l2_ahead(rows: Rows, more: Rows, claim: str, level: Collection[Row] | None = None) -> dict[str, Comparison]:
    """L2 minus the mean of each method and output, on as many texts as have both (`more`: the same on further texts).

    `level`: methods with outputs (default: saliency with both) of which the mean need only be not worse than L2 by
    more than the margin of the claim.
    """
    exceptions = {("saliency", output) for output in OUTPUT_NAMES} if level is None else level
    parts, on_further = (
        source.l2_over_mean(claim, lambda method, output: (method, output) in exceptions) for source in (rows, more)
    )
    return on_more_texts(parts, on_further)


def winners_differ(precision: Rows, rho: Rows) -> dict[str, Comparison]:
    """c13: the rows that lead in MAP minus the one that leads in rho, by MAP, and the other way round by rho."""
    by_map = {
        f"most plausible minus most faithful, MAP, {name}": precision.mean(PLAUSIBLE, [output])
        - precision(FAITHFUL, output)
        for output, name in OUTPUT_NAMES.items()
    }
    by_rho = {
        f"most faithful minus most plausible, rho, {name}": rho(FAITHFUL, output) - rho.mean(PLAUSIBLE, [output])
        for output, name in OUTPUT_NAMES.items()
    }
    return by_map | by_rho


def variants(
    parts: Callable[..., Parts],
    measured: Scores,
    models: Sequence[str],
    *,
    languages: Collection[str],
    further: Collection[str],
) -> dict[tuple[str, ...], Parts]:
    """A claim under every way to put scores together, for each model alone and in all our languages, and for each model
    in the way `FAIR`; the first is the book's own.

    `parts`: the claim's comparisons with these labels; `further`: those of `languages` that the paper does not average
    over.
    """
    ways = [way for way in measured.levels("setting") if way != "main" and not way.startswith("random")]
    found: dict[tuple[str, ...], Parts] = {("main", "all", "the paper's"): parts()}
    found |= {(way, "all", "the paper's"): parts(setting=way) for way in ways}
    apart = models if len(models) > 1 else []  # one model alone is all of them, and would count twice
    found |= {("main", model, "the paper's"): parts(model=model) for model in apart}
    if further:
        found["main", "all", "all of ours"] = parts(language=languages)
    if FAIR in ways:
        found |= {(FAIR, model, "the paper's"): parts(setting=FAIR, model=model) for model in apart}
    return found
