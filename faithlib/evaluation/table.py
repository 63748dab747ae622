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
from faithlib.attribution.many import PREDICTED
from faithlib.attribution.registry import method_of
from faithlib.attribution.target import target_classes
from faithlib.catalogue import FAMILIES, METRICS
from faithlib.errors import InputError, ModelError
from faithlib.evaluation.measures import MEASURES, Asked, Options, alike, check_scores, families_of
from faithlib.evaluation.opening import named_methods, opened
from faithlib.inputs import Inputs, TextInputs
from faithlib.outputs import NEEDS_PROBABILITY
from faithlib.perturb import Perturber, costs

_TARGET = "the one asked for"


def evaluate(
    model: Any,
    inputs: Inputs | Sequence[str] | Sequence[tuple[str, str]],
    *,
    tokenizer: Any = None,
    target: str | int | Tensor = "predicted",
    methods: Sequence[str | Row] | Mapping[str, str | Row | Tensor] | None = None,
    metrics: Sequence[str] | None = None,
    gold: Tensor | None = None,
    erase: str | None = None,
    output: str | None = None,
    draws: int = 4,
    seed: int = 0,
    groups: int = 10,
    beam: int = 3,
    gold_size: int | None = None,
    check: bool = True,
) -> pd.DataFrame:
    """Metrics of attributions of a class, one value a row: input, method, metric, value, direction.

    - `model`, `inputs`: a classifier in `eval()` mode with `TextInputs` or `ImageInputs`; with the model's (fast)
      `tokenizer` plain texts, or pairs (text, other text), will do, whose words are then the features. Or a function,
      from texts to probabilities with texts (`WordInputs`), from pixels to logits with `ImageInputs`; or a causal
      model in a `PromptClassifier`, with plain texts.
    - `target`: the class that is explained, and whose probability all metrics follow: "predicted", a class index or one
      an input, integers [B]. What counts how long a class stays the predicted one (`auc`, `n_auc`, `autpc`) is always
      about the predicted.
    - `methods`: names of `attribution.methods`, `Row`s for more than a method's defaults, or a mapping from names of
      your choice to these, or to scores [B, F] from elsewhere. Default: DEFAULT_METHODS.
    - `metrics`: names of `catalogue.METRICS`. Default: all that can be computed, but for `naopc_morf` and `naopc_lerf`,
      whose bounds take thousands of rows for a long input (`beam` wide; exact up to 8 features).
    - `gold`: what people marked, bool [B, F], for the metrics of plausibility. `token_f1` and `iou_f1` take `gold_size`
      features; by default as many as are marked on average over the inputs where any is.
    - `erase`: what takes the place of an erased feature in every metric and in every method that erases and does not
      say otherwise (`Perturber`). Soft metrics always drop elements of embeddings; all, in their empty input.
    - `output`: what metrics follow, and methods explain that do not say otherwise, by `faithlib.outputs`:
      "probability", "logit", "sigmoid" (one logit, or several independent labels) or "value" (regression, without the
      metrics that need a probability or a predicted class). Default: as the model's configuration says, else
      "probability"; of a model with one output it must be said.
    - `check`: whether one input also goes through the model's own call, to be compared with what is computed here
      (`faithlib.selfcheck`): two rows, on no account.
    - `draws`, `seed`: of the soft metrics. `groups`: of SaCo, AUC and log-odds; an input with fewer features has as
      many groups as features.

    Probabilities, float32. `direction` says whether a "higher" or a "lower" value is better. A value that is undefined
    for an input (its metric's docstring says when) is NaN and stays in the table. A row is run once, whoever asks for
    it: `table.attrs["costs"]` has rows asked and run, forwards and seconds. A method or metric that this kind of model
    does not allow (attention where there are no maps, soft erasure where there are no embeddings) is left out:
    `table.attrs["left_out"]` has the reason for each.

    Values do not depend on which inputs, methods or metrics are evaluated beside them, but for `token_f1` and `iou_f1`
    where they are not given a `gold_size`.

    Raises InputError, UnknownNameError or ModelError for what does not go together, before any row is run where that
    can be known; ModelError also where nothing is left.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> table = evaluate(model, ["a good film"], methods=["occlusion"], metrics=["aopc_morf", "aopc_lerf"])
    >>> [(row.metric, round(row.value, 4), row.direction) for row in table.itertuples()]
    [('aopc_morf', 0.4, 'higher'), ('aopc_lerf', 0.1333, 'lower')]
    """
    model, inputs = opened(model, inputs, tokenizer)
    named = named_methods(methods, inputs)
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
    left_out: dict[str, str] = {}
    classes = target_classes(target, len(inputs))
    with tqdm(total=len(inputs) * len(named), unit="attribution", delay=3, leave=False, disable=None) as bar:
        for rows, own_groups in alike(mask.sum(dim=1), groups):
            part = inputs[rows]
            own = "predicted" if classes is None else classes[rows]
            perturber = Perturber(model, part, erase=erase, target=own, output=output, check=check and not asked_all)
            asked = _asked(perturber, replace(options, groups=own_groups), gold, rows)
            asked_all.append(asked.perturber)
            explained = classes if classes is None else perturber.target
            for name, scores in _scores(named, model, part, perturber, rows, explained, left_out):
                for family in families:
                    values = _values(family, asked, scores, left_out)
                    found += [_tidy(rows, name, metric, values[metric]) for metric in values if metric in wanted]
                bar.update(len(rows))
    if not found:
        raise ModelError(f"nothing can be evaluated here. {left_out}")
    table = pd.concat(found).sort_values("input", kind="stable", ignore_index=True)
    table["direction"] = table["metric"].map(METRICS)
    table.attrs["costs"] = costs(*asked_all)
    table.attrs["left_out"] = left_out
    return table


def _values(family: str, asked: Asked, scores: Tensor, left_out: dict[str, str]) -> Mapping[str, Tensor]:
    """What a family's metrics say of scores; nothing, and a note of why, where this kind of model does not allow it."""
    try:
        values = MEASURES[family](asked, scores)
    except ModelError as error:
        left_out |= dict.fromkeys(FAMILIES[family].directions, str(error))
        return {}
    left_out |= {name: NEEDS_PROBABILITY for name in FAMILIES[family].directions if name not in values}
    return values


def average_marked(gold: Tensor) -> int:
    """How many features people marked on average, over the inputs where they marked any; at least 1.

    >>> average_marked(torch.tensor([[True, True, False], [False, False, False]]))
    2
    """
    sizes = gold.sum(dim=1)[gold.any(dim=1)].float()
    return max(1, round(float(sizes.mean()))) if len(sizes) else 1


def explain(
    model: Any,
    inputs: Inputs | Sequence[str] | Sequence[tuple[str, str]],
    methods: Sequence[str | Row] | Mapping[str, str | Row | Tensor] | None = None,
    *,
    tokenizer: Any = None,
    target: str | int | Tensor = "predicted",
    erase: str | None = None,
    output: str | None = None,
    check: bool = True,
) -> dict[str, Tensor]:
    """The scores [B, F] that `evaluate` evaluates under each name; arguments and errors are as there.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> explain(model, ["a good film"], ["occlusion", "uniform"])
    {'occlusion': tensor([[0.0000, 0.4000, 0.0000]]), 'uniform': tensor([[1., 1., 1.]])}
    """
    model, inputs = opened(model, inputs, tokenizer)
    named = named_methods(methods, inputs)
    perturber = Perturber(model, inputs, erase=erase, target=target, output=output, check=check)
    explained = None if target_classes(target, len(inputs)) is None else perturber.target
    left_out: dict[str, str] = {}
    scores = dict(_scores(named, model, inputs, perturber, list(range(len(inputs))), explained, left_out))
    if not scores:
        raise ModelError(f"nothing can explain this model. {left_out}")
    return scores


def _asked(perturber: Perturber, options: Options, gold: Tensor | None, rows: list[int]) -> Asked:
    if gold is not None:
        gold = gold.to(perturber.device)[rows, : perturber.feature_mask.shape[1]]
    return Asked(perturber, options, gold)


def _scores(
    named: Mapping[str, Row | Tensor],
    model: Any,
    part: Inputs,
    perturber: Perturber,
    rows: list[int],
    target: Tensor | None,
    left_out: dict[str, str],
) -> Iterator[tuple[str, Tensor]]:
    """Each method's scores [B, F] of some of the inputs, about the classes `target` [B] (None: the predicted); what
    this model does not allow is noted."""
    width = perturber.feature_mask.shape[1]
    together: dict[str, Tensor] = {}
    if isinstance(part, TextInputs):
        asked = {name: what for name, what in named.items() if isinstance(what, Row) and name not in left_out}
        together = _together(asked, model, part, perturber, target, left_out) if asked else {}
    for name, what in named.items():
        if isinstance(what, Tensor):
            yield name, what[rows, :width].to(perturber.device)
        elif name in together:
            yield name, together[name]
        elif name not in left_out:
            method = method_of(what.method, part)
            given: dict[str, Any] = {"aggregation": what.aggregation, "pool": what.pool}
            given["output"] = what.output or method.default_output(model, perturber.output)
            given |= {"target": PREDICTED if target is None else target, **what.options}
            try:
                if method.answers == "features" and not {"erase", "perturber"} & set(given):
                    given["perturber"] = perturber
                scores = attribute(what.method, model, part, check=False, **given)
            except ModelError as error:
                left_out[name] = str(error)
            else:
                yield name, scores


def _together(
    asked: Mapping[str, Row],
    model: nn.Module,
    part: TextInputs,
    perturber: Perturber,
    target: Tensor | None,
    left_out: dict[str, str],
) -> dict[str, Tensor]:
    """Scores of many rows about the same texts; where the model does not allow one of them, of the others."""
    targets = None if target is None else {_TARGET: target}
    rows = {
        name: replace(
            row,
            output=row.output or method_of(row.method, part).default_output(model, perturber.output),
            target=row.target if target is None else _TARGET,
        )
        for name, row in asked.items()
    }
    try:
        found = attribute_rows(list(rows.values()), model, part, targets=targets, perturber=perturber)[0]
    except ModelError as error:
        if len(asked) == 1:
            left_out[next(iter(asked))] = str(error)
            return {}
        alone = [_together({n: asked[n]}, model, part, perturber, target, left_out) for n in asked]
        return {name: scores for one in alone for name, scores in one.items()}
    return {name: found[row.name] for name, row in rows.items()}


def _tidy(rows: list[int], method: str, metric: str, values: Tensor) -> pd.DataFrame:
    return pd.DataFrame({"input": rows, "method": method, "metric": metric, "value": values.double().cpu().numpy()})
