"""The rows of the tables of Zaman & Belinkov (2022): thirteen attributions of two outputs, and floors beside them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from faithlib.attribution.many import PREDICTED, Row
from faithlib.errors import unknown

Name = tuple[str, str, str, str]
"""Method, aggregation, output and pooling as results and published tables call them; "none" where there is none."""

OUTPUTS = {"top_prediction": ("top_logit", PREDICTED), "loss": ("loss", "gold")}
AGGREGATIONS = ("mean", "l2")
POOLS = ("sum", "mean")


def thirteen_rows(
    *, ig_steps: int, lime_samples: int, permutations: int, ig_steps_of: Mapping[str, int] | None = None
) -> dict[Name, Row]:
    """The rows by name, for `attribute_rows(..., targets={"gold": labels})`.

    "top_prediction" explains the largest logit: max f(x) as the paper writes it, so that on an erased copy or on the
    way to a baseline another class may answer than for the whole text; the released code does the same. "loss" explains
    the log-probability of the true class (the loss with its sign turned). As the released code has it, paths and
    erasures begin at the embedding of [PAD]; scores of a word's pieces are added up ("sum", published) and also
    averaged ("mean"), where the method scores pieces. `ig_steps_of`: other numbers of steps for an aggregation ("mean")
    or for one under an output ("mean top_prediction"), as Appendix B.4 has them.

    Beside the thirteen: "guided_backprop_released", what captum makes of it on a model without ReLU modules
    ("guided_backprop" follows its paper), and as floors "uniform" (the same score for every piece) and "random".
    `activation` with "l2", one of the thirteen, is the norm of the embedding: a floor as well.
    """
    others = ig_steps_of or {}
    known = [f"{how} {of}".strip() for how, of in product(AGGREGATIONS, ("", *OUTPUTS))]
    if stray := [name for name in others if name not in known]:
        raise unknown("entry of ig_steps_of", stray[0], known)
    elementwise: dict[str, dict[str, Any]] = {
        "input_x_gradient": {},
        "saliency": {},
        "guided_backprop": {},
        "guided_backprop_released": {"variant": "released"},
        "integrated_gradients": {"baseline": "pad"},
    }
    erasing: dict[str, dict[str, Any]] = {
        "lime": {"n_samples": lime_samples, "erase": "pad"},
        "occlusion": {"erase": "pad"},
        "shapley_sampling": {"n_samples": permutations, "erase": "pad"},
    }
    blind = [("activation", "mean"), ("activation", "l2"), ("uniform", None), ("random", None)]
    rows: dict[Name, Row] = {}
    for name, (output, target) in OUTPUTS.items():
        for (method, given), aggregation, pool in product(elementwise.items(), AGGREGATIONS, POOLS):
            options = dict(given)
            if method == "integrated_gradients":
                options["n_steps"] = others.get(f"{aggregation} {name}", others.get(aggregation, ig_steps))
            rows[method, aggregation, name, pool] = Row(
                method.removesuffix("_released"), aggregation, output, target, pool, options
            )
        for method, options in erasing.items():
            rows[method, "none", name, "sum"] = Row(method, None, output, target, options=options)
    for (method, how), pool in product(blind, POOLS):
        rows[method, how or "none", "none", pool] = Row(method, how, pool=pool)
    return rows
