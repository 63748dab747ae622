"""The comparisons behind the claims of Zaman & Belinkov (2022) about their thirteen explanations.

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
"""The two that the paper calls perturbation methods; their mean is called *erasing* in tables."""
NOT_ABOVE_TOP = {("integrated_gradients", "l2"), (PLAIN, "mean")}
"""The exceptions of c03 and c16: rows whose rho is lower for the loss."""
CHOICES = ["scores", "model", "languages"]
"""The names of the choices of `variants`."""
FAIR = "means, aligned, no copied words"
"""The setting in which the lengths of words and copied words have the least effect."""


def orders(rows: Rows, alone: Rows) -> list[Ordered]:
    """The order of the thirteen rows for each output, with that of each of the paper's two models (`alone`)."""
    return [replace(rows.order(output), repeats=alone.repeats(output)) for output in OUTPUT_NAMES]


def leads(rows: Rows, leaders: Sequence[Row], **labels: object) -> dict[str, Comparison]:
    """Each of these rows minus each of the others, for both outputs."""
    found: dict[str, Comparison] = {}
    for output in OUTPUT_NAMES:
        found |= rows.leads(leaders, output, **labels)
    return found


def gradients_ahead(rows: Rows, **labels: object) -> dict[str, Comparison]:
    """Each gradient row minus the mean of the two perturbation methods, for both outputs."""
    gains: dict[str, Comparison] = {}
    for output, name in OUTPUT_NAMES.items():
        erasing = rows.mean(ERASED, [output], **labels)
        for row in GRADIENTS:
            gains[f"{row_label(*row)} minus erasing, {name}"] = rows(row, output, **labels) - erasing
    return gains


def l2_ahead(rows: Rows, more: Rows, claim: str, level: Collection[Row] | None = None) -> dict[str, Comparison]:
    """L2 minus the mean of each method and output, on as many texts as have both (`more`: the same on further texts).

    `level`: methods with outputs (default: saliency with both) of which the mean need only be not worse than L2 by
    more than the margin of the claim.
    """
    if level is None:
        level = {("saliency", output) for output in OUTPUT_NAMES}

    def is_level(method: str, output: str) -> bool:
        return (method, output) in level

    return on_more_texts(rows.l2_over_mean(claim, is_level), more.l2_over_mean(claim, is_level))


def winners_differ(precision: Rows, rho: Rows) -> dict[str, Comparison]:
    """c13: the rows that lead in MAP minus the one that leads in rho, by MAP, and the other way round by rho."""
    by_map: dict[str, Comparison] = {}
    by_rho: dict[str, Comparison] = {}
    for output, name in OUTPUT_NAMES.items():
        gain = precision.mean(PLAUSIBLE, [output]) - precision(FAITHFUL, output)
        by_map[f"most plausible minus most faithful, MAP, {name}"] = gain
        gain = rho(FAITHFUL, output) - rho.mean(PLAUSIBLE, [output])
        by_rho[f"most faithful minus most plausible, rho, {name}"] = gain
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
    found: dict[tuple[str, ...], Parts] = {("main", "all", "the paper's"): parts()}
    ways = [way for way in measured.levels("setting") if way != "main" and not way.startswith("random")]
    for way in ways:
        found[way, "all", "the paper's"] = parts(setting=way)
    # A single model is all of them, and would count twice.
    each_model = models if len(models) > 1 else []
    for model in each_model:
        found["main", model, "the paper's"] = parts(model=model)
    if further:
        found["main", "all", "all of ours"] = parts(language=languages)
    if FAIR in ways:
        for model in each_model:
            found[FAIR, model, "the paper's"] = parts(setting=FAIR, model=model)
    return found
