"""One call, one table: every metric of every attribution of a model's predictions, for texts and images alike::

    table = evaluate(model, ["A warm, funny film."], tokenizer=tokenizer, methods=["saliency", "lime"])

Three stages: inputs are explained; all rows that any metric of any attribution needs are asked together, each once;
metrics are formulas over the answers. Shape letters: B inputs, F features, N attributions (of an input by a method).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithlib._warnings_log import collect_warnings
from faithlib.attribution import Row
from faithlib.attribution.own import InsideMethod
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.backends._model_adapters import label_names
from faithlib.backends.functions import Remembering
from faithlib.errors import InputError, ModelError, NotFiniteError, check_counts, counted
from faithlib.evaluation.measures import EVERY, bounds_of, by_size, chance_of, check_scores, families_of, names_of
from faithlib.evaluation.prepare import (
    LEFT_OUT,
    RAISE,
    BlockFailedError,
    Explaining,
    PreparedInputs,
    check_pipeline,
    explained,
    keep_valid,
    methods_by_name,
    note_sorted,
    prepare_inputs,
)
from faithlib.evaluation.settings import MetricSettings, RunSettings, checked_settings
from faithlib.evaluation.shards import joined, repeated_rows, warn_of_repeated
from faithlib.evaluation.summary import Table, shown_of
from faithlib.inputs import ImageInputs, TextInputs, WordInputs
from faithlib.metrics.registry import About, Chance, Family
from faithlib.names import FollowedOutput, MethodName, MetricName, Unit
from faithlib.outputs import NEEDS_PROBABILITY
from faithlib.perturb import Perturber, costs
from faithlib.protocols import Model
from faithlib.segmentation import format_rows

__all__ = ["average_marked", "evaluate"]

_MOST_MASK_PLACES = 1 << 27
_MOST_ANSWERS = (
    1_000_000  # of a function: more are forgotten between two blocks, so that memory does not grow without end
)


def evaluate(
    model: Model,
    inputs: Any,
    *,
    tokenizer: Any = None,
    processor: Any = None,
    methods: Iterable[MethodName | Row | ErasingMethod | InsideMethod] | Mapping[str, Any] | None = None,
    attributions: Mapping[str, Any] | None = None,
    metrics: Sequence[MetricName | Family] | None = None,
    gold: Any = None,
    target: str | int | Sequence[str | int] | Tensor = "predicted",
    unit: Unit | int | None = None,
    settings: MetricSettings | None = None,
    run: RunSettings | None = None,
) -> Table:
    """Metrics of attributions of a class, one value per row.

    Parameters
    ----------
    model : Model
        A classifier in `eval()` mode of Hugging Face or timm, or a pipeline of transformers; a causal model in a
        `PromptClassifier` or `Continuation`; a function from texts to probabilities, or from pixels to logits.
    inputs
        Texts in any container (list, Series, array, generator, column of a data set), or pairs (text, other text), with
        the model's fast `tokenizer`. Or PIL images, files of images or uint8 arrays, with a `processor` where the model
        does not bring its transform; float pixels [B, C, H, W]; or `TextInputs`, `ImageInputs`, `WordInputs`.
    tokenizer, processor : optional
        What makes a model's input of texts, and of images.
    methods : Iterable[MethodName | Row | ErasingMethod | InsideMethod] | Mapping[str, Any], optional
        Names of `attribution.methods`, `Row` objects for more than a method's defaults, methods of your own
        (`attribution.method`), or a mapping from names of your choice to these, or to scores from elsewhere: [B, F], or
        lists with one score for each feature. Default: `DEFAULT_METHODS`; beside `attributions`, "random" alone.
    attributions : Mapping[str, Any], optional
        What other tools explained, by name, in the forms of `attribution.imported`: explanations of shap and lime,
        tensors of captum, lists of (token, score), a table or a file of one (`evaluation.files`).
    metrics : Sequence[MetricName | Family], optional
        Names of `catalogue.DIRECTIONS`, and metrics of your own (`metrics.metric`). Default: all of `catalogue.METRICS`
        that can be computed, except `naopc_morf` and `naopc_lerf`, whose bounds take thousands of rows for a long
        input.
    gold : optional
        What people marked, for the metrics of plausibility: bool [B, F] or lists of True and False, one a feature; of
        texts also lists of the characters (start, end) that are marked, `[[(2, 6), (11, 16)], []]`, which mark every
        feature that they touch.
    target : str | int | Sequence[str | int] | Tensor, default "predicted"
        The class that is explained, and whose probability all metrics follow: "predicted", a class index, the name of a
        label, or one of these for each input. What counts how long a class stays the predicted one (`auc`, `n_auc`,
        `autpc`) is always about the predicted.
    unit : Unit | int, optional
        What a feature of a text is, "word" (default), "wordpiece", "character" or "sentence"
        (`faithlib.segmentation`); of an image the side of its patches in pixels.
    settings : MetricSettings, optional
        What is erased and followed, and the numbers that metrics take.
    run : RunSettings, optional
        How inputs are read, and how the model runs.

    Returns
    -------
    Table
        A pandas DataFrame with the columns input, method, metric, value (float64) and direction: whether a "higher" or
        a "lower" value is better. Its `summary()` is a small table to read, its `to_html()` a report with heat maps.
        A row of the model is run once, whoever asks for it. `table.attrs` holds:

        - "costs": rows asked and run, forwards and seconds.
        - "left_out": methods and metrics that this kind of model does not allow (attention where there are no maps,
          soft erasure where there are no embeddings), with the reason for each.
        - "undefined": values that are NaN, in groups of the same reason: reason, metrics, methods, rows. Metrics need
          an input with at least two features (those of plausibility, one).
        - "truncated": the rows of texts whose end was cut off; a warning names the limit.
        - "repeated": the rows of inputs that an earlier row has as well; a warning counts them. They are evaluated like
          all others, and intervals take them for independent ones: these are then too narrow.
        - "chance": where metrics are adjusted for chance, the mean AOPC of random orders of each input, and its
          standard error, which is 0 where all sets of features were answered.
        - "convergence": of integrated gradients under each name, by how much the scores of each input miss the
          difference of output that they divide up (`return_delta` of `attribute`).
        - "notes": what else has to be said about a method or the tokenizer, such as gradients that underflow in
          float16.
        - "shard": of a share, its number, of how many, how many inputs there are in all, and what `merge` knows
          repeated inputs by.
        - "skipped": row and reason for each input that is left out with `on_error="skip"`.

    Raises
    ------
    InputError, UnknownNameError, ModelError
        For what does not go together, before any row is run where that can be known; ModelError also where nothing is
        left.

    Notes
    -----
    Values do not depend on which inputs, methods or metrics are evaluated beside them, except for `token_f1` and
    `iou_f1` where they are not given a `gold_size`.

    Examples
    --------
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> table = evaluate(model, ["a good film"], methods=["occlusion"], metrics=["aopc_morf", "aopc_lerf"])
    >>> [(row.metric, round(row.value, 4), row.direction) for row in table.itertuples()]
    [('aopc_morf', 0.4, 'higher'), ('aopc_lerf', 0.1333, 'lower')]
    """
    settings, run = checked_settings(settings, run)
    with collect_warnings() as notes:
        whole = prepare_inputs(
            model,
            inputs,
            tokenizer,
            processor=processor,
            unit=unit,
            spans=run.spans,
            max_length=run.max_length,
            on_error=run.on_error,
            shard=run.shard,
        )
    classes = whole.classes(target)
    with collect_warnings(notes):
        named = methods_by_name(methods, whole, attributions)
    output = whole.output if settings.output is None else settings.output
    families = families_of(metrics, has_gold=gold is not None)
    mask = whole.inputs.feature_mask
    for name, what in named.items():
        if isinstance(what, Tensor) and what.ndim == 2:
            check_scores(name, what, mask)
    if gold is not None:
        gold = whole.marked(gold)
    wanted = names_of(metrics)
    gold_size = settings.gold_size
    if gold_size is None and gold is not None and run.shard is not None and {"token_f1", "iou_f1"} & {*wanted}:
        raise InputError(
            "shard: token_f1 and iou_f1 take as many features as are marked on average over all inputs: give "
            "settings=MetricSettings(gold_size=...), or leave these metrics out"
        )
    if gold_size is None:
        gold_size = 1 if gold is None else average_marked(gold)
    check_counts(groups=settings.groups, gold_size=gold_size, draws=settings.draws, beam=settings.beam, block=run.block)
    if not hasattr(settings.seed, "__index__"):
        raise InputError(f"seed {settings.seed!r}: expected a whole number")

    work = _Work(whole, named, classes, gold, gold_size, output, families, wanted, settings, run)
    asked = whole.model
    forgets = isinstance(asked, Remembering) and not isinstance(model, Remembering)  # not what the caller wrapped
    failure: BlockFailedError | None = None
    parts: list[Table] = []
    digests: dict[int, int] = {}  # of the content of each row
    descends: list[bool | None] = []  # whether all answers of a function go down from class to class
    with collect_warnings(notes):
        for start in range(0, len(whole.rows), run.block):
            if forgets and asked.n_answers > _MOST_ANSWERS:
                descends.append(asked.descends)
                asked = Remembering(asked.fn, waits=asked.waits)
            measure = partial(work.measure, model=asked, is_first=not start)
            try:
                measured = keep_valid(measure, whole.rows[start : start + run.block], whole.skipped)
            except BlockFailedError as error:
                failure = error
                continue
            parts.append(table_of(measured, whole, families.values()))
            digests |= zip(measured.rows, measured.perturber.keys, strict=True)
        if isinstance(asked, Remembering):
            descends.append(asked.descends)
        known = [goes_down for goes_down in descends if goes_down is not None]
        if known and all(known):
            note_sorted()
    if failure is not None and not parts:
        raise failure.__cause__ or failure
    table = finished(parts, whole, notes)
    table.attrs["repeated"] = repeated_rows(digests.items())
    warn_of_repeated(table)
    if run.shard is not None:
        number, count = run.shard
        shard = {"number": number, "of": count, "inputs": whole.total, "digests": [*map(list, digests.items())]}
        table.attrs["shard"] = shard
    table.attrs["notes"] |= whole.remarks
    return table


@dataclass(frozen=True)
class _Work:
    """What is measured of every block of inputs."""

    whole: PreparedInputs
    named: Mapping[str, Explaining]
    classes: Tensor | None
    gold: Tensor | None
    gold_size: int
    output: FollowedOutput | None
    families: Mapping[str, Family]
    wanted: Sequence[str]
    settings: MetricSettings
    run: RunSettings

    @cached_property
    def place_of(self) -> dict[int, int]:
        """The place among the inputs of each of the caller's rows."""
        return {row: place for place, row in enumerate(self.whole.rows)}

    def measure(self, rows: list[int], model: Any, *, is_first: bool) -> Measured:
        """All metrics of all methods on some inputs, the caller's `rows`; the first ones are checked."""
        settings = self.settings
        places = [self.place_of[row] for row in rows]
        part = self.whole.inputs if len(places) == len(self.whole.rows) else self.whole.inputs[places]
        width = part.feature_mask.shape[1]
        named = {name: what[places, :width] if isinstance(what, Tensor) else what for name, what in self.named.items()}
        perturber = Perturber(
            model,
            part,
            erase=settings.erase,
            output=self.output,
            target="predicted" if self.classes is None else self.classes[places],
            dtype=self.run.dtype,
            check=self.run.check and is_first,
        )
        if self.run.check and places == list(range(len(places))) and is_first:
            check_pipeline(self.whole, perturber)
        left_out, deltas = dict[str, str](), dict[str, Tensor]()
        passed = tuple(kind for kind in LEFT_OUT if self.run.on_error == RAISE or kind is not NotFiniteError)
        about = None if self.classes is None else perturber.target
        scores = explained(named, model, perturber, about, left_out, deltas, passed)
        families = list(self.families.values())
        bounds = chance = None
        if any(family.needs_bounds for family in families):
            bounds = bounds_of(perturber, beam=settings.beam)
        if bounds is not None and any(family.needs_chance for family in families):
            chance = chance_of(perturber, bounds, seed=settings.seed)
        known = About(
            perturber.feature_mask,
            keys=tuple(perturber.keys),
            draws=settings.draws,
            seed=settings.seed,
            groups=settings.groups,
            gold=None if self.gold is None else self.gold[places, :width].to(perturber.device),
            gold_size=self.gold_size,
            bounds=bounds,
            chance=chance,
            perturber=perturber,
        )
        values = _values(families, _questions(scores, known), self.wanted, left_out)
        if not values:
            raise ModelError(f"nothing can be evaluated here. {left_out}")
        return Measured(rows, _tidy(list(scores), values, self.wanted), scores, perturber, left_out, deltas, chance)


@dataclass(frozen=True)
class _Question:
    """Attributions `scores` [N, F]: whose (number of the method) and of which input, with what is known about them."""

    method: NDArray[np.int64]
    input: NDArray[np.int64]
    about: About
    scores: Tensor

    def by_size(self) -> Iterator[_Question]:
        """The same attributions, those of inputs with the same number of features together and without padding."""
        for places, scores, about in by_size(self.scores, self.about):
            yield _Question(self.method[places], self.input[places], about, scores)


def _questions(scores: Mapping[str, Tensor], about: About) -> list[_Question]:
    """All attributions of all inputs, one below the other, in as few parts as memory allows."""
    n_inputs, n_features = about.feature_mask.shape
    size = max(1, _MOST_MASK_PLACES // n_features**2)
    questions = []
    for dtype in dict.fromkeys(values.dtype for values in scores.values()):
        numbers = [number for number, values in enumerate(scores.values()) if values.dtype == dtype]
        method, of = np.repeat(numbers, n_inputs), np.tile(np.arange(n_inputs), len(numbers))
        stacked = torch.cat([values for values in scores.values() if values.dtype == dtype])
        for start in range(0, len(of), size):
            some = slice(start, start + size)
            questions.append(_Question(method[some], of[some], about.subset(of[some].tolist()), stacked[some]))
    return questions


_Value = tuple[_Question, str, Tensor]  # what a metric says


def _values(
    families: Sequence[Family], questions: Sequence[_Question], wanted: Sequence[str], left_out: dict[str, str]
) -> list[_Value]:
    """What each metric says of each question's attributions, [N]; nothing, and a note of why, where this kind of model
    does not allow it.

    First the rows of all metrics are queued, then the first values are made, for which all rows run. A metric of the
    caller's own sees no padding.
    """
    is_own = {family.name: family.name not in EVERY for family in families}
    unpadded = [part for question in questions for part in question.by_size()] if any(is_own.values()) else []
    queued: dict[str, list[Callable[[], Any]]] = {}
    for family in families:
        asked = unpadded if is_own[family.name] else questions
        try:
            queued[family.name] = [family.asked(question.scores, question.about) for question in asked]
        except ModelError as error:
            left_out |= {name: str(error) for name in family.directions if name in wanted}
    answered = []
    for family in families:
        asked = unpadded if is_own[family.name] else questions
        try:
            finishes = queued.pop(family.name, ())
            values = [family.values(finish(), len(of.scores)) for of, finish in zip(asked, finishes, strict=False)]
        except ModelError as error:
            left_out |= {name: str(error) for name in family.directions if name in wanted}
            continue
        for question, by_name in zip(asked, values, strict=False):
            answered += [(question, metric, value) for metric, value in by_name.items()]
        for by_name in values[:1]:
            missing = [name for name in family.directions if name in wanted and name not in by_name]
            left_out |= dict.fromkeys(missing, NEEDS_PROBABILITY)
    return answered


def _tidy(names: Sequence[str], values: Sequence[_Value], wanted: Sequence[str]) -> pd.DataFrame:
    """The values: inputs in order, of each the methods in the order of their names, of each of these the metrics."""
    place = {metric: i for i, metric in enumerate(dict.fromkeys(metric for _, metric, _ in values))}
    parts = [
        {"input": of.input, "method": of.method, "metric": place[metric], "value": value.double().cpu().numpy()}
        for of, metric, value in values
        if metric in wanted
    ]
    table = pd.concat([pd.DataFrame(part) for part in parts])
    table = table.sort_values(["input", "method", "metric"], ignore_index=True)
    table["method"] = table["method"].map(dict(enumerate(names)))
    table["metric"] = table["metric"].map(dict(enumerate(place)))
    return table


def average_marked(gold: Tensor) -> int:
    """How many features people marked on average, over the inputs where they marked any.

    Parameters
    ----------
    gold : Tensor
        What people marked, bool [B, F].

    Returns
    -------
    int
        At least 1, also where nothing is marked.

    Examples
    --------
    >>> average_marked(torch.tensor([[True, True, False], [False, False, False]]))
    2
    """
    sizes = gold.sum(dim=1)[gold.any(dim=1)].float()
    return max(1, round(float(sizes.mean()))) if len(sizes) else 1


# ---------------------------------------------------------------------------------------- what the caller gets
class Measured(NamedTuple):
    """What was measured on some inputs, the caller's `rows`: `values` (columns input, counted from 0, method, metric,
    value), `scores` [B, F] by method, the `perturber`; `left_out`: methods and metrics that the model does not allow,
    and why; `deltas` [B]: what integrated gradients miss, by name; `chance`: what random orders get, where a metric
    needs it.

    >>> Measured([0], pd.DataFrame(), {}, None, {"attention": "a function has no maps"}, {}).left_out
    {'attention': 'a function has no maps'}
    """

    rows: Sequence[int]
    values: pd.DataFrame
    scores: Mapping[str, Tensor]
    perturber: Perturber
    left_out: Mapping[str, str]
    deltas: Mapping[str, Tensor]
    chance: Chance | None = None


def table_of(measured: Measured, whole: PreparedInputs, families: Iterable[Family] = tuple(EVERY.values())) -> Table:
    """The table of some inputs, and what has to be said about their values; nothing of it holds a model's answers.

    `whole`: what the caller gave; `families`: those whose metrics were measured.

    >>> from faithlib.evaluation.prepare import prepare_inputs
    >>> whole = prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "bad"])
    >>> values = pd.DataFrame({"input": [0, 1], "method": "mine", "metric": "saco", "value": [1.0, 1.0]})
    >>> table = table_of(Measured([0, 1], values, {}, Perturber(whole.model, whole.inputs), {}, {}), whole)
    >>> table.value.tolist(), table.attrs["undefined"][0]["rows"]
    ([1.0, nan], [1])
    """
    every, values, scores, perturber, left_out, deltas, chance = measured
    skipped = whole.skipped or {}
    rows = [row for row in every if row not in skipped]
    family_of = {metric: family for family in families for metric in family.directions}
    directions = {metric: family.directions[metric] for metric, family in family_of.items()}
    table = Table(values.assign(direction=values["metric"].map(directions)))
    undefined = _undefined(table, family_of, perturber.feature_mask.sum(dim=1).tolist(), rows)
    table["input"] = table["input"].map(dict(enumerate(rows)))
    table.attrs = {
        "costs": costs(perturber),
        "left_out": dict(left_out),
        "undefined": undefined,
        "convergence": {name: dict(zip(rows, delta.tolist(), strict=True)) for name, delta in deltas.items()},
        "chance": [] if chance is None else _by_row(chance, rows),
    }
    table.shown = shown_of(rows, scores, perturber, label_names(whole.model))
    if isinstance(perturber.inputs, ImageInputs):
        table.kind = "image"
    elif isinstance(perturber.inputs, TextInputs | WordInputs):
        table.kind = "text"
    table.meanings = {metric: family.meanings[metric] for metric, family in family_of.items()}
    return table


def finished(parts: Sequence[Table], whole: PreparedInputs, notes: Mapping[str, str]) -> Table:
    """The tables of all blocks of inputs as one, with what is said of the inputs; `notes`: what was noted on the way.

    >>> from faithlib.evaluation.prepare import prepare_inputs
    >>> whole = prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "bad"])
    >>> parts = [Table({"input": [i], "method": "mine", "metric": "saco", "value": [1.0]}) for i in range(2)]
    >>> finished(parts, whole, {}).input.tolist()
    [0, 1]
    """
    skipped = whole.skipped or {}
    table = joined(parts)
    table.attrs["notes"] = dict(notes)
    table.attrs["truncated"] = [row for row in whole.truncated if row not in skipped]
    table.attrs["skipped"] = [{"row": row, "reason": skipped[row]} for row in sorted(skipped)]
    if notes:
        warnings.warn("; ".join(f"{about}: {what}" for about, what in notes.items()), stacklevel=3)
    if skipped:
        were = "was" if len(skipped) == 1 else "were"
        message = f"{len(skipped)} of {counted(whole.total, 'input')} {were} skipped ({format_rows(sorted(skipped))})"
        warnings.warn(f"{message}; first {skipped[min(skipped)]}. All reasons: table.attrs['skipped']", stacklevel=3)
    return table


def _by_row(chance: Chance, rows: Sequence[int]) -> list[dict[str, float]]:
    """What random orders get, of each row of the caller's, with its standard error."""
    columns = zip(rows, chance.random.tolist(), chance.standard_error.tolist(), strict=True)
    return [{"row": row, "mean": mean, "standard_error": error} for row, mean, error in columns]


def _undefined(
    table: pd.DataFrame, family_of: Mapping[str, Family], sizes: Sequence[int], rows: Sequence[int]
) -> list[dict[str, Any]]:
    """Makes values NaN that are infinite, or of an input with too few features; then all that are NaN, in groups of the
    same reason."""
    least = table["metric"].map({metric: family.least_features for metric, family in family_of.items()})
    few = table["input"].map(dict(enumerate(sizes))) < least
    endless = np.isinf(table["value"])
    table.loc[few | endless, "value"] = float("nan")
    reasons = table["metric"].map({metric: family.undefined for metric, family in family_of.items()})
    reasons = reasons.mask(endless, "infinite: a probability of 0 has no logarithm")
    reasons = reasons.mask(few, "fewer features than the " + least.astype(str) + " that the metric needs")
    return [
        {
            "reason": reason,
            "metrics": list(dict.fromkeys(group["metric"])),
            "methods": list(dict.fromkeys(group["method"])),
            "rows": [rows[place] for place in sorted(set(group["input"]))],
        }
        for reason, group in table[table["value"].isna()].groupby(reasons, sort=False)
    ]
