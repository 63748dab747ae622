"""One call, one table: every metric of every attribution of a model's predictions, for texts and images alike.

    table = evaluate(model, ["A warm, funny film."], tokenizer=tokenizer, methods=["saliency", "lime"])

Three stages: inputs are explained; all rows that any metric of any attribution needs are asked together, each once;
metrics are formulas over the answers. Shape letters: B inputs, F features, N attributions (of an input by a method).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithlib.attribution import Row
from faithlib.attribution.target import target_classes
from faithlib.catalogue import FAMILIES, METRICS
from faithlib.errors import InputError, ModelError
from faithlib.evaluation.explaining import explained
from faithlib.evaluation.measures import MEASURES, Asked, Options, bounds_of, check_scores, families_of
from faithlib.evaluation.opening import named_methods, opened
from faithlib.inputs import Inputs
from faithlib.outputs import NEEDS_PROBABILITY
from faithlib.perturb import Perturber, asked_together, costs

_MOST_MASK_PLACES = 1 << 27


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
    dtype: torch.dtype | str | None = None,
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
    - `dtype`: the precision of all rows of erased inputs ("auto": `Perturber`); gradients are taken in the model's own.

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
    options = Options(draws=draws, seed=seed, groups=groups, beam=beam, gold_size=gold_size)
    left_out: dict[str, str] = {}
    classes = target_classes(target, len(inputs))
    own = "predicted" if classes is None else classes
    perturber = Perturber(model, inputs, erase=erase, target=own, output=output, dtype=dtype, check=check)
    scores = explained(named, model, perturber, None if classes is None else perturber.target, left_out)
    asked = Asked(perturber, options, gold=None if gold is None else gold.to(perturber.device))
    if any(FAMILIES[name].needs_bounds for name in families):
        asked = replace(asked, bounds=bounds_of(perturber, beam=beam))
    questions = _questions(scores, asked)
    found = asked_together(lambda: _values(families, questions, left_out), perturber)
    if not found:
        raise ModelError(f"nothing can be evaluated here. {left_out}")
    table = _tidy(list(scores), found, list(METRICS) if metrics is None else metrics)
    table.attrs["costs"] = costs(perturber)
    table.attrs["left_out"] = left_out
    return table


@dataclass(frozen=True)
class _Question:
    """Attributions `scores` [N, F]: whose (number of the method) and of which input, with what is asked about them."""

    method: NDArray[np.int64]
    input: NDArray[np.int64]
    asked: Asked
    scores: Tensor


def _questions(scores: Mapping[str, Tensor], asked: Asked) -> list[_Question]:
    """All attributions of all inputs, one below the other, in as few parts as memory allows."""
    n_inputs, n_features = asked.present.shape
    size = max(1, _MOST_MASK_PLACES // n_features**2)
    questions = []
    for dtype in dict.fromkeys(one.dtype for one in scores.values()):
        numbers = [number for number, one in enumerate(scores.values()) if one.dtype == dtype]
        method, of = np.repeat(numbers, n_inputs), np.tile(np.arange(n_inputs), len(numbers))
        stacked = torch.cat([one for one in scores.values() if one.dtype == dtype])
        for start in range(0, len(of), size):
            some = slice(start, start + size)
            questions.append(_Question(method[some], of[some], asked.of(of[some].tolist()), stacked[some]))
    return questions


_Value = tuple[_Question, str, Tensor]  # what a metric says


def _values(families: Sequence[str], questions: Sequence[_Question], left_out: dict[str, str]) -> list[_Value]:
    """What each metric says of each question's attributions, [N]; nothing, and a note of why, where this kind of model
    does not allow it."""
    found = []
    for family in families:
        try:
            answers = [(question, MEASURES[family](question.asked, question.scores)) for question in questions]
        except ModelError as error:
            left_out |= dict.fromkeys(FAMILIES[family].directions, str(error))
            continue
        found += [(question, metric, value) for question, values in answers for metric, value in values.items()]
        for _, values in answers[:1]:
            left_out |= {name: NEEDS_PROBABILITY for name in FAMILIES[family].directions if name not in values}
    return found


def _tidy(names: Sequence[str], found: Sequence[_Value], wanted: Sequence[str]) -> pd.DataFrame:
    """The table: inputs in order, of each the methods in the order of their names, of each of these the metrics."""
    place = {metric: i for i, metric in enumerate(dict.fromkeys(metric for _, metric, _ in found))}
    parts = [
        {"input": of.input, "method": of.method, "metric": place[metric], "value": value.double().cpu().numpy()}
        for of, metric, value in found
        if metric in wanted
    ]
    table = pd.concat([pd.DataFrame(part) for part in parts])
    table = table.sort_values(["input", "method", "metric"], ignore_index=True)
    table["method"] = table["method"].map(dict(enumerate(names)))
    table["metric"] = table["metric"].map(dict(enumerate(place)))
    table["direction"] = table["metric"].map(METRICS)
    return table


def average_marked(gold: Tensor) -> int:
    """How many features people marked on average, over the inputs where they marked any; at least 1.

    >>> average_marked(torch.tensor([[True, True, False], [False, False, False]]))
    2
    """
    sizes = gold.sum(dim=1)[gold.any(dim=1)].float()
    return max(1, round(float(sizes.mean()))) if len(sizes) else 1
