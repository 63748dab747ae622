"""One call, one table: every metric of every attribution of a model's predictions, for texts and images alike.

    table = evaluate(model, ["A warm, funny film."], tokenizer=tokenizer, methods=["saliency", "lime"])

Metrics that need the same perturbed rows share them, whatever method they are about. Shape letters: B inputs, F
features, K groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from faithlib.attribution import Row, attribute, attribute_rows
from faithlib.attribution.many import PREDICTED
from faithlib.attribution.registry import method_of
from faithlib.catalogue import FAMILIES, METRICS
from faithlib.errors import InputError, ModelError
from faithlib.evaluation.measures import MEASURES, Asked, Options, alike, check_scores, families_of
from faithlib.evaluation.opening import named_methods, opened
from faithlib.evaluation.outcome import Measured, each_that_works, finished
from faithlib.evaluation.summary import Table
from faithlib.inputs import Inputs, Span, TextInputs
from faithlib.perturb import Perturber, costs

_TARGET = "the one asked for"


def evaluate(
    model: Any,
    inputs: Any,
    *,
    tokenizer: Any = None,
    processor: Any = None,
    target: Any = "predicted",
    methods: Iterable[str | Row] | Mapping[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    gold: Any = None,
    erase: str | None = None,
    draws: int = 4,
    seed: int = 0,
    groups: int = 10,
    beam: int = 3,
    gold_size: int | None = None,
    unit: str | int | None = None,
    spans: Sequence[Sequence[Span]] | None = None,
    max_length: int | None = None,
    on_error: str = "raise",
) -> Table:
    """Metrics of attributions of a class, one value per row: input, method, metric, value, direction. The answer is a
    pandas DataFrame; its `summary()` is a small table to read, its `to_html()` a report with heat maps.

    - `model`: a classifier in `eval()` mode of Hugging Face or timm, or a pipeline of transformers; a causal model in a
      `PromptClassifier`; a function from texts to probabilities, or from pixels to logits.
    - `inputs`: texts in any container (list, Series, array, generator, column of a data set), or pairs (text, other
      text), with the model's fast `tokenizer`; PIL images, files of images or uint8 arrays, with a `processor` where
      the model does not bring its transform; float pixels [B, C, H, W]; or `TextInputs`, `ImageInputs`, `WordInputs`.
    - `target`: the class that is explained, and whose probability all metrics follow: "predicted", a class index, the
      name of a label, or one of these for each input. What counts how long a class stays the predicted one (`auc`,
      `n_auc`, `autpc`) is always about the predicted.
    - `methods`: names of `attribution.methods`, `Row`s for more than a method's defaults, or a mapping from names of
      your choice to these, or to scores from elsewhere: [B, F], or lists with one score for each feature. Default:
      DEFAULT_METHODS.
    - `metrics`: names of `catalogue.METRICS`. Default: all that can be computed, except `naopc_morf` and `naopc_lerf`,
      whose bounds take thousands of rows for a long input (`beam` wide; exact up to 8 features).
    - `gold`: what people marked, bool [B, F] or lists, for the metrics of plausibility. `token_f1` and `iou_f1` take
      `gold_size` features; by default as many as are marked on average over the inputs where any is.
    - `erase`: what takes the place of an erased feature in every metric and in every method that erases and does not
      say otherwise (`Perturber`). Soft metrics always drop elements of embeddings; all, in their empty input.
    - `draws`, `seed`: of the soft metrics. `groups`: of SaCo, AUC and log-odds; an input with fewer features has as
      many groups as features.
    - `unit`: what a feature of a text is, "word" (default), "wordpiece", "character" or "sentence" (`faithlib.units`),
      of an image the side of its patches in pixels; or give the `spans` (start, end) of the features of each text.
    - `max_length`: tokens read of a text, at most what the model takes. Default: that, and no more than 512.
    - `on_error`: "raise", or "skip" inputs that cannot be read, explained or measured; the others keep their index.

    Probabilities, float32. `direction` says whether a "higher" or a "lower" value is better. A row is run once, whoever
    asks for it. `table.attrs`:

    - "costs": rows asked and run, forwards and seconds.
    - "left_out": methods and metrics that this kind of model does not allow (attention where there are no maps, soft
      erasure where there are no embeddings), with the reason for each.
    - "undefined": values that are NaN, in groups of the same reason: reason, metrics, methods, rows. Metrics need an
      input with at least two features (those of plausibility, one).
    - "truncated": the rows of texts whose end was cut off; a warning names the limit.
    - "skipped": row and reason for each input that is left out with `on_error="skip"`.

    Values do not depend on which inputs, methods or metrics are evaluated beside them, except for `token_f1` and
    `iou_f1` where they are not given a `gold_size`.

    Raises InputError, UnknownNameError or ModelError for what does not go together, before any row is run where that
    can be known; ModelError also where nothing is left.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> table = evaluate(model, ["a good film"], methods=["occlusion"], metrics=["aopc_morf", "aopc_lerf"])
    >>> [(row.metric, round(row.value, 4), row.direction) for row in table.itertuples()]
    [('aopc_morf', 0.4, 'higher'), ('aopc_lerf', 0.1333, 'lower')]
    """
    whole = opened(
        model, inputs, tokenizer, processor=processor, unit=unit, spans=spans, max_length=max_length, on_error=on_error
    )
    named = named_methods(methods, whole)
    families = families_of(metrics, has_gold=gold is not None)
    mask = whole.inputs.feature_mask
    for name, what in named.items():
        if isinstance(what, Tensor):
            check_scores(name, what, mask)
    if gold is not None:
        gold = whole.of_rows(gold, "gold", torch.bool)
        if gold.dtype != torch.bool or gold.shape != mask.shape:
            raise InputError(f"gold is {gold.dtype} {tuple(gold.shape)}: expected bool [B, F] = {list(mask.shape)}")
    if gold_size is None:
        gold_size = 1 if gold is None else average_marked(gold)
    if gold_size < 1:
        raise InputError(f"gold_size {gold_size}: expected at least one feature")
    options = Options(draws=draws, seed=seed, groups=groups, beam=beam, gold_size=gold_size)
    request = _Request(whole.inputs, named, whole.classes(target), gold, erase)
    wanted = list(METRICS) if metrics is None else list(metrics)
    parts = each_that_works(lambda places: _measured(whole.model, request.of(places), families, wanted, options), whole)
    return finished(parts, whole)


@dataclass(frozen=True)
class _Request:
    """What is asked about inputs: methods and scores by name, target classes [B] (None: the predicted), marks."""

    inputs: Inputs
    named: Mapping[str, Row | Tensor]
    classes: Tensor | None
    gold: Tensor | None
    erase: str | None

    def of(self, places: list[int]) -> _Request:
        """The same about some of the inputs."""
        if places == list(range(len(self.inputs))):
            return self
        part = self.inputs[places]
        width = part.feature_mask.shape[1]
        named = {n: what[places, :width] if isinstance(what, Tensor) else what for n, what in self.named.items()}
        classes, gold = (None if one is None else one[places] for one in (self.classes, self.gold))
        return replace(self, inputs=part, named=named, classes=classes, gold=None if gold is None else gold[:, :width])


def _measured(
    model: Any, request: _Request, families: Sequence[str], wanted: Sequence[str], options: Options
) -> Measured:
    inputs, named, mask = request.inputs, request.named, request.inputs.feature_mask
    found: list[pd.DataFrame] = []
    asked_all: list[Perturber] = []
    left_out: dict[str, str] = {}
    classes = request.classes
    kept: dict[str, Tensor] = {}
    with tqdm(total=len(inputs) * len(named), unit="attribution", delay=3, leave=False, disable=None) as bar:
        for rows, own_groups in alike(mask.sum(dim=1), options.groups):
            part = inputs[rows]
            perturber = Perturber(
                model, part, erase=request.erase, target="predicted" if classes is None else classes[rows]
            )
            asked = _asked(perturber, replace(options, groups=own_groups), request.gold, rows)
            asked_all.append(asked.perturber)
            explained = classes if classes is None else perturber.target
            for name, scores in _scores(named, model, part, perturber, rows, explained, left_out):
                for family in families:
                    values = _values(family, asked, scores, left_out)
                    found += [_tidy(rows, name, metric, values[metric]) for metric in values if metric in wanted]
                bar.update(len(rows))
                kept.setdefault(name, torch.zeros(mask.shape))[rows, : scores.shape[1]] = scores.float().cpu()
    if not found:
        raise ModelError(f"nothing can be evaluated here. {left_out}")
    table = pd.concat(found).sort_values("input", kind="stable", ignore_index=True)
    perturber = Perturber(model, inputs, erase=request.erase, target="predicted" if classes is None else classes)
    return Measured(table, kept, perturber, costs(*asked_all), left_out)


def _values(family: str, asked: Asked, scores: Tensor, left_out: dict[str, str]) -> Mapping[str, Tensor]:
    """What a family's metrics say of scores; nothing, and a note of why, where this kind of model does not allow it."""
    try:
        return MEASURES[family](asked, scores)
    except ModelError as error:
        left_out |= dict.fromkeys(FAMILIES[family].directions, str(error))
        return {}


def average_marked(gold: Tensor) -> int:
    """How many features people marked on average, over the inputs where they marked any; at least 1.

    >>> average_marked(torch.tensor([[True, True, False], [False, False, False]]))
    2
    """
    sizes = gold.sum(dim=1)[gold.any(dim=1)].float()
    return max(1, round(float(sizes.mean()))) if len(sizes) else 1


def explain(
    model: Any,
    inputs: Any,
    methods: Iterable[str | Row] | Mapping[str, Any] | None = None,
    *,
    tokenizer: Any = None,
    processor: Any = None,
    target: Any = "predicted",
    erase: str | None = None,
    unit: str | int | None = None,
    spans: Sequence[Sequence[Span]] | None = None,
    max_length: int | None = None,
) -> dict[str, Tensor]:
    """The scores [B, F] that `evaluate` evaluates under each name; arguments and errors are as there.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> explain(model, ["a good film"], ["occlusion", "uniform"])
    {'occlusion': tensor([[0.0000, 0.4000, 0.0000]]), 'uniform': tensor([[1., 1., 1.]])}
    """
    whole = opened(model, inputs, tokenizer, processor=processor, unit=unit, spans=spans, max_length=max_length)
    model, inputs, classes = whole.model, whole.inputs, whole.classes(target)
    named = named_methods(methods, whole)
    perturber = Perturber(model, inputs, erase=erase, target="predicted" if classes is None else classes)
    explained = None if classes is None else perturber.target
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
            given: dict[str, Any] = {"output": what.output, "aggregation": what.aggregation, "pool": what.pool}
            given |= {"target": PREDICTED if target is None else target, **what.options}
            try:
                if method_of(what.method, part).answers == "features" and not {"erase", "perturber"} & set(given):
                    given["perturber"] = perturber
                scores = attribute(what.method, model, part, **given)
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
    rows = {name: row if target is None else replace(row, target=_TARGET) for name, row in asked.items()}
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
