"""One call, one table: every metric of every attribution of a model's predictions, for texts and images alike.

    table = evaluate(model, ["A warm, funny film."], tokenizer=tokenizer, methods=["saliency", "lime"])

Metrics that need the same perturbed rows share them, whatever method they are about. Shape letters: B inputs, F
features, K groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from faithlib.attribution import Row, attribute, attribute_rows
from faithlib.catalogue import METRICS
from faithlib.errors import InputError
from faithlib.evaluation.measures import MEASURES, Asked, Options, alike, check_scores, families_of
from faithlib.inputs import ImageInputs, Inputs, TextInputs
from faithlib.perturb import Perturber, costs

DEFAULT_METHODS = {
    "text": ("input_x_gradient", "integrated_gradients", "saliency", "lime", "occlusion", "random"),
    "image": ("integrated_gradients", "grad_cam", "transformer_attribution", "rollout", "random"),
}


def evaluate(
    model: nn.Module,
    inputs: Inputs | Sequence[str],
    *,
    tokenizer: Any = None,
    methods: Sequence[str | Row] | Mapping[str, str | Row | Tensor] | None = None,
    metrics: Sequence[str] | None = None,
    gold: Tensor | None = None,
    erase: str | None = None,
    draws: int = 4,
    seed: int = 0,
    groups: int = 10,
    beam: int = 3,
    gold_size: int | None = None,
) -> pd.DataFrame:
    """Metrics of attributions of the predicted class, one value a row: input, method, metric, value, direction.

    - `model`, `inputs`: a classifier in `eval()` mode with `TextInputs` or `ImageInputs`; with the model's (fast)
      `tokenizer` plain texts will do, whose words are then the features.
    - `methods`: names of `attribution.methods`, `Row`s for more than a method's defaults, or a mapping from names of
      your choice to these, or to scores [B, F] from elsewhere. Default: DEFAULT_METHODS.
    - `metrics`: names of `catalogue.METRICS`. Default: all that can be computed, but for `naopc_morf` and `naopc_lerf`,
      whose bounds take thousands of rows for a long input (`beam` wide; exact up to 8 features).
    - `gold`: what people marked, bool [B, F], for the metrics of plausibility. `token_f1` and `iou_f1` take `gold_size`
      features; by default as many as are marked on average over the inputs where any is.
    - `erase`: what takes the place of an erased feature in every metric and in every method that erases and does not
      say otherwise (`Perturber`). Soft metrics always drop elements of embeddings; all, in their empty input.
    - `draws`, `seed`: of the soft metrics. `groups`: of SaCo, AUC and log-odds; an input with fewer features has as
      many groups as features.

    Probabilities, float32. `direction` says whether a "higher" or a "lower" value is better. A value that is undefined
    for an input (its metric's docstring says when) is NaN and stays in the table. A row is run once, whoever asks for
    it: `table.attrs["costs"]` has rows asked and run, forwards and seconds.

    Values do not depend on which inputs, methods or metrics are evaluated beside them, but for `token_f1` and `iou_f1`
    where they are not given a `gold_size`.

    Raises InputError, UnknownNameError or ModelError for what does not go together, before any row is run where that
    can be known.
    """
    inputs = _opened(model, inputs, tokenizer)
    named = _named(methods, inputs)
    families = families_of(metrics, has_gold=gold is not None)
    mask = inputs.feature_mask
    for name, what in named.items():
        if isinstance(what, Tensor):
            check_scores(name, what, mask)
    if gold is not None and (gold.dtype != torch.bool or gold.shape != mask.shape):
        raise InputError(f"gold is {gold.dtype} {tuple(gold.shape)}: expected bool [B, F] = {list(mask.shape)}")
    if gold_size is None:
        gold_size = 1 if gold is None else average_marked(gold)
    if gold_size < 1:
        raise InputError(f"gold_size {gold_size}: expected at least one feature")
    options = Options(draws=draws, seed=seed, groups=groups, beam=beam, gold_size=gold_size)
    wanted = list(METRICS) if metrics is None else list(metrics)
    found: list[pd.DataFrame] = []
    asked_all: list[Perturber] = []
    with tqdm(total=len(inputs) * len(named), unit="attribution", delay=3, leave=False, disable=None) as bar:
        for rows, own_groups in alike(mask.sum(dim=1), groups):
            part = inputs[rows]
            asked = _asked(Perturber(model, part, erase=erase), replace(options, groups=own_groups), gold, rows)
            asked_all.append(asked.perturber)
            for name, scores in _scores(named, model, part, asked.perturber, rows):
                for family in families:
                    values = MEASURES[family](asked, scores)
                    found += [_tidy(rows, name, metric, values[metric]) for metric in values if metric in wanted]
                bar.update(len(rows))
    table = pd.concat(found).sort_values("input", kind="stable", ignore_index=True)
    table["direction"] = table["metric"].map(METRICS)
    table.attrs["costs"] = costs(*asked_all)
    return table


def average_marked(gold: Tensor) -> int:
    """How many features people marked on average, over the inputs where they marked any; at least 1."""
    sizes = gold.sum(dim=1)[gold.any(dim=1)].float()
    return max(1, round(float(sizes.mean()))) if len(sizes) else 1


def explain(
    model: nn.Module,
    inputs: Inputs | Sequence[str],
    methods: Sequence[str | Row] | Mapping[str, str | Row | Tensor] | None = None,
    *,
    tokenizer: Any = None,
    erase: str | None = None,
) -> dict[str, Tensor]:
    """The scores [B, F] that `evaluate` evaluates under each name; arguments and errors are as there."""
    inputs = _opened(model, inputs, tokenizer)
    named = _named(methods, inputs)
    perturber = Perturber(model, inputs, erase=erase)
    return dict(_scores(named, model, inputs, perturber, list(range(len(inputs)))))


def _opened(model: nn.Module, inputs: Inputs | Sequence[str], tokenizer: Any) -> Inputs:
    """The inputs on the model's device, made of plain texts where they are such."""
    if not isinstance(model, nn.Module):
        raise InputError(
            f"model is a {type(model).__name__}: expected a torch module; of an object that holds one beside its "
            "tokenizer give both, evaluate(it.model, texts, tokenizer=it.tokenizer)"
        )
    device = next(model.parameters()).device
    if isinstance(inputs, TextInputs | ImageInputs):
        return inputs.to(device)
    if tokenizer is None:
        raise InputError(
            f"inputs are {type(inputs).__name__}: expected TextInputs or ImageInputs; for plain texts give the model's "
            "tokenizer as well, evaluate(model, texts, tokenizer=tokenizer)"
        )
    return TextInputs.from_texts(inputs, tokenizer, unit="word").to(device)


def _named(
    methods: Sequence[str | Row] | Mapping[str, str | Row | Tensor] | None, inputs: Inputs
) -> dict[str, Row | Tensor]:
    """Rows and scores by name."""
    if methods is None:
        methods = DEFAULT_METHODS["text" if isinstance(inputs, TextInputs) else "image"]
    if isinstance(methods, str) or not methods:
        raise InputError(f"methods {methods!r}: expected at least one, as in ['saliency', 'lime']")
    if not isinstance(methods, Mapping):
        methods = {what if isinstance(what, str) else what.name: what for what in methods}
    return {name: Row(what) if isinstance(what, str) else what for name, what in methods.items()}


def _asked(perturber: Perturber, options: Options, gold: Tensor | None, rows: list[int]) -> Asked:
    if gold is not None:
        gold = gold.to(perturber.device)[rows, : perturber.feature_mask.shape[1]]
    return Asked(perturber, options, gold)


def _scores(
    named: Mapping[str, Row | Tensor], model: nn.Module, part: Inputs, perturber: Perturber, rows: list[int]
) -> Iterator[tuple[str, Tensor]]:
    """Each method's scores [B, F] of some of the inputs."""
    width = perturber.feature_mask.shape[1]
    explained: dict[str, Tensor] = {}
    asked = [what for what in named.values() if isinstance(what, Row)]
    if isinstance(part, TextInputs) and asked:
        explained, _ = attribute_rows(asked, model, part, perturber=perturber)
    for name, what in named.items():
        if isinstance(what, Tensor):
            yield name, what[rows, :width].to(perturber.device)
        elif what.name in explained:
            yield name, explained[what.name]
        else:
            given: dict[str, Any] = {"output": what.output, "aggregation": what.aggregation, "pool": what.pool}
            yield name, attribute(what.method, model, part, **given, **what.options)


def _tidy(rows: list[int], method: str, metric: str, values: Tensor) -> pd.DataFrame:
    return pd.DataFrame({"input": rows, "method": method, "metric": metric, "value": values.double().cpu().numpy()})
