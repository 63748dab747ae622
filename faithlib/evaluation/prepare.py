"""The first stage of an evaluation: model, inputs and methods by name are opened, and every method explains.

What a caller of `evaluate` or `explain` holds is made into what the library measures with. Methods that erase share
rows and forwards.

Shape letters: B inputs, F features.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import index
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from faithlib._image_files import check_pixels
from faithlib._warnings_log import note
from faithlib.attribution import Row
from faithlib.attribution.dispatch import attributed
from faithlib.attribution.imported import imported_scores, of_class
from faithlib.attribution.own import InsideMethod
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.attribution.registry import KIND_OF, PREDICTED, checked, finite, method_of
from faithlib.backends._model_adapters import label_names, target_classes, unwrapped
from faithlib.backends.functions import Remembering
from faithlib.errors import (
    FaithlibError,
    InputError,
    ModelError,
    NotFiniteError,
    OutOfMemoryError,
    UnavailableError,
    UnknownNameError,
    check_counts,
    counted,
)
from faithlib.evaluation.files import is_table_file, read_attributions
from faithlib.evaluation.settings import MetricSettings, RunSettings, checked_settings
from faithlib.evaluation.shards import Shard, share_of
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs
from faithlib.names import FollowedOutput, MethodName, Unit
from faithlib.outputs import count_of, read
from faithlib.perturb import Perturber
from faithlib.protocols import Model
from faithlib.segmentation import Span, format_rows, items_of
from faithlib.user_inputs import is_for_images, is_pipeline, model_and_reader, recognised, warn_of_cut

__all__ = ["DEFAULT_METHODS", "explain"]

DEFAULT_METHODS = {
    "text": ("input_x_gradient", "integrated_gradients", "saliency", "lime", "occlusion", "random"),
    "image": ("integrated_gradients", "grad_cam", "transformer_attribution", "rollout", "random"),
    "words": ("lime", "occlusion", "random"),
}
BASELINE = "random"  # beside attributions, where no method is named
RAISE, SKIP = "raise", "skip"
_TOLERANCE = 1e-2  # of what a pipeline answers, which may round and run in half precision
# Errors about the model or the call, which are the same for every input.
_OF_THE_CALL = (ModelError, UnknownNameError, UnavailableError, ImportError)
_Made = TypeVar("_Made")


class BlockFailedError(FaithlibError):
    """None of some inputs could be read, explained or measured; the cause is the error about all of them."""


@dataclass(frozen=True)
class PreparedInputs:
    """What is measured: a model (a function of texts as one that remembers) and inputs on its device.

    `total`: inputs that the caller gave. `rows`: the caller's row of each that is used; `skipped`: why the others are
    not, None where they may not be. `pipeline`: the one that the model was held by, `items` what the caller gave, and
    `output` what it makes of logits where that is not the default. `remarks`: what is said of scores in the table's
    notes, without a warning.

    >>> prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", None], on_error="skip").skipped
    {1: 'text 1 is None: expected a string'}
    """

    model: Any
    inputs: Inputs
    total: int
    rows: list[int]
    skipped: dict[int, str] | None = None
    pipeline: Any = None
    items: Sequence[Any] = ()
    output: FollowedOutput | None = None
    remarks: dict[str, str] = field(default_factory=dict)

    @property
    def truncated(self) -> list[int]:
        """The caller's rows of texts whose end was cut off."""
        cut = self.inputs.truncated.tolist() if isinstance(self.inputs, TextInputs) else []
        return [row for row, is_cut in zip(self.rows, cut, strict=False) if is_cut]

    def classes(self, target: Any) -> Tensor | None:
        """The class [B] that is explained of the inputs used; None for the predicted.

        >>> prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"]).classes(1)
        tensor([1])
        """
        classes = target_classes(target, self.model, self.total)
        count = _count_of_classes(self.model)
        if classes is not None and count is not None and bool((classes >= count).any()):
            raise InputError(f"target {classes[classes >= count][:5].tolist()}: expected classes 0 to {count - 1}")
        return None if classes is None else classes[self.rows]

    def of_rows(self, values: Any, what: str, dtype: torch.dtype = torch.float32) -> Tensor:
        """Values [B, F] of the inputs used out of what a caller holds for all: a tensor, an array, or ragged lists with
        one value for each feature.

        >>> both = prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "good"])
        >>> both.of_rows([[0.2, 0.3], [0.1]], "scores")
        tensor([[0.2000, 0.3000],
                [0.1000, 0.0000]])
        """
        mask = self.inputs.feature_mask
        if getattr(values, "ndim", 0) == 2:
            whole = values.to_numpy() if hasattr(values, "columns") else values
            whole = torch.as_tensor(whole) if dtype == torch.bool else _numbers(whole, what, dtype)
            self._remark(what, _rows_beyond(whole, mask, self.rows, self.total, what))
            return whole[self.rows, : mask.shape[1]] if len(self.rows) < self.total == len(whole) else whole
        held, values = values, items_of(values)
        if not isinstance(values, list) or len(values) != self.total:
            shape = list(getattr(held, "shape", ())) or f"a {type(held).__name__}"
            raise InputError(f"{what}: {shape}; expected [B, F] = {[self.total, mask.shape[1]]}, or {self.total} lists")
        table = torch.zeros(mask.shape, dtype=dtype)
        beyond: list[int] = []
        for of_input, row, size in zip(table, self.rows, mask.sum(dim=1).tolist(), strict=True):
            given = _numbers(values[row], f"{what} of input {row}", dtype)
            if given.ndim != 1 or len(given) not in (size, len(of_input)):
                raise InputError(f"{what} of input {row}: {list(given.shape)} values, expected {size}, one per feature")
            if _says_something(given[size:]):
                _refuse_left(given, size, what, row)
                beyond.append(row)
            of_input[: len(given)] = given
        self._remark(what, beyond)
        return table

    def marked(self, gold: Any) -> Tensor:
        """What people marked in the inputs used, bool [B, F]: from marks of features, as `of_rows` takes them, or from
        the characters (start, end) that are marked in each text, which mark every feature that they touch.

        >>> both = prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["a good film", "good"])
        >>> both.marked([[(2, 6)], []])
        tensor([[False,  True, False],
                [False, False, False]])
        """
        held, mask = gold if getattr(gold, "ndim", 0) == 2 else items_of(gold), self.inputs.feature_mask
        if not isinstance(held, list) or not any(_are_pairs(of_row) for of_row in held):
            marks = self.of_rows(gold if hasattr(gold, "ndim") else held, "gold", torch.bool)
            if marks.dtype != torch.bool or marks.shape != mask.shape:
                raise InputError(
                    f"gold is {marks.dtype} {tuple(marks.shape)}: expected bool [B, F] = {list(mask.shape)}, or the "
                    "characters (start, end) that are marked in each text"
                )
            return marks
        spans = getattr(self.inputs, "spans", ())
        if not spans:
            raise InputError("gold of characters: expected inputs made of texts; of others, True and False per feature")
        if len(held) != self.total:
            raise InputError(f"gold: {counted(len(held), 'list')} of characters for {counted(self.total, 'input')}")
        table, cut = torch.zeros_like(mask, device="cpu"), set(self.truncated)
        for of_input, row, features in zip(table, self.rows, spans, strict=True):
            characters = _characters(held[row], row)
            for feature, (first, last) in enumerate(features):
                of_input[feature] = any(start < last and first < end for start, end in characters)
            if characters and row not in cut and not bool(of_input.any()):
                raise InputError(f"gold of input {row}: {held[row]} marks no feature of its text; count from 0")
        return table

    def remark_beyond(self, values: Any, what: str) -> None:
        """A remark where an array of features [B, F] says something beyond the features of an input.

        >>> both = prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film", "good"])
        >>> both.remark_beyond(torch.tensor([[0.2, 0.3], [0.1, 0.7]]), "scores")
        >>> both.remarks
        {'scores': 'values beyond the features of input 1 are not read'}
        """
        mask = self.inputs.feature_mask
        of_positions = isinstance(self.inputs, TextInputs) and self.inputs.input_ids.shape[1] == mask.shape[1]
        if getattr(values, "ndim", 0) == 2 and not hasattr(values, "columns") and not of_positions:
            whole = torch.as_tensor(values)
            self._remark(what, _rows_beyond(whole, mask, self.rows, self.total, what))

    def _remark(self, what: str, rows: Sequence[int]) -> None:
        if rows:
            self.remarks[what] = f"values beyond the features of {format_rows(rows, 'input')} are not read"


def _count_of_classes(model: Any) -> int | None:
    """How many classes a model of transformers or timm says that it has; None of others, whose heads may be of their
    own. One logit has two."""
    inner = unwrapped(model)
    if not isinstance(inner, nn.Module) or not type(inner).__module__.startswith(("transformers.", "timm.")):
        return None
    count = count_of(inner)
    return None if not count or count == 1 else count


def _are_pairs(values: Any) -> bool:
    """Whether a row of gold holds pairs, as of characters (start, end)."""
    row = items_of(values)
    return isinstance(row, list) and bool(row) and all(isinstance(pair, list | tuple) for pair in row)


def _characters(values: Any, row: int) -> list[tuple[int, int]]:
    """The characters (start, end) that are marked in a text; InputError for anything else."""
    try:
        pairs = [(index(start), index(end)) for start, end in items_of(values)]
    except (TypeError, ValueError) as error:
        raise InputError(f"gold of input {row}: expected characters (start, end), got {values!r}") from error
    if any(not 0 <= start < end for start, end in pairs):
        raise InputError(f"gold of input {row}: expected characters (start, end) with 0 <= start < end, got {values!r}")
    return pairs


def _says_something(values: Tensor) -> bool:
    return bool(((values != 0) & ~values.isnan()).any())


def _rows_beyond(whole: Tensor, mask: Tensor, rows: Sequence[int], total: int, what: str) -> list[int]:
    """The rows whose values [B, F] say something beyond their features, of which nothing is read; InputError where they
    are padded on the left."""
    if len(whole) != total or whole.shape[1] != mask.shape[1]:
        return []  # said elsewhere, or of other rows
    sizes = dict(zip(rows, mask.sum(dim=1).tolist(), strict=True))
    beyond = [row for row, size in sizes.items() if _says_something(whole[row, size:])]
    shorter = [row for row, size in sizes.items() if size < whole.shape[1]]
    silent = [row for row in shorter if not _says_something(whole[row, : whole.shape[1] - sizes[row]])]
    if beyond and shorter == silent:  # each shorter one, or it is chance
        _refuse_left(whole[beyond[0]], sizes[beyond[0]], what, beyond[0])
    return beyond


def _refuse_left(values: Tensor, size: int, what: str, row: int) -> None:
    if size < len(values) and not _says_something(values[: len(values) - size]):
        raise InputError(
            f"{what} of input {row}, which has {size} features, are padded on the left: expected padding on the right, "
            "or lists with one value per feature"
        )


def _numbers(values: Any, what: str, dtype: torch.dtype) -> Tensor:
    """Values as a tensor: scores in their own precision, marks as bool; InputError where they are none."""
    try:
        values = values.filled(float("nan")) if hasattr(values, "filled") else values  # of a masked array
        given = values.detach().to_dense() if isinstance(values, Tensor) else torch.tensor(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{what}: expected numbers, got {values!r}") from error
    if given.is_complex() or (dtype == torch.bool and not bool(((given == 0) | (given == 1)).all())):
        marks = "True and False for each feature, or the characters (start, end) that are marked"
        expected = marks if dtype == torch.bool else "real numbers"
        raise InputError(f"{what}: expected {expected}, got {values!r}")
    return given if given.is_floating_point() and dtype != torch.bool else given.to(dtype)


def prepare_inputs(
    model: Any,
    inputs: Any,
    tokenizer: Any = None,
    *,
    processor: Any = None,
    unit: str | int | None = None,
    spans: Sequence[Sequence[Span]] | None = None,
    max_length: int | None = None,
    on_error: str = RAISE,
    shard: Shard | None = None,
) -> PreparedInputs:
    """The model, and inputs made of what the caller holds; arguments and errors as `evaluate`.

    >>> prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"]).inputs.texts
    ('good film',)
    """
    if on_error not in (RAISE, SKIP):
        raise InputError(f"on_error {on_error!r}: expected 'raise' or 'skip'")
    pipeline = model if is_pipeline(model) else None
    are_files = is_for_images(tokenizer, processor)
    model, tokenizer = model_and_reader(model, processor if tokenizer is None else tokenizer)
    inside = unwrapped(model)
    label_names(inside)  # whose fault is said before anything runs
    skipped: dict[int, str] | None = {} if on_error == SKIP else None
    given = recognised(
        inside, inputs, tokenizer=tokenizer, unit=unit, spans=spans, max_length=max_length, are_files=are_files
    )
    share = share_of(given.total, shard)
    if given.items:
        try:
            made = keep_valid(given.make, list(share), skipped)
        except BlockFailedError as error:
            raise error.__cause__ or error from None
    else:
        made = given.make(list(share))
    if isinstance(made, ImageInputs):
        check_pixels(made, inside, stacklevel=4)
    if isinstance(made, WordInputs) and not isinstance(model, nn.Module | Remembering):
        model = Remembering(model)
    if isinstance(inside, nn.Module):
        first = next(inside.parameters(), None)
        made = made if first is None else made.to(first.device)
    used = [row for row in share if row not in (skipped or ())]
    of_pipeline = (None, (), None) if pipeline is None else (pipeline, given.items, output_of_pipeline(pipeline))
    warn_of_cut(made, used, given.total, given.limit, inside, tokenizer, stacklevel=4)
    return PreparedInputs(model, made, given.total, used, skipped, *of_pipeline)


def keep_valid(run: Callable[[list[int]], _Made], rows: list[int], skipped: dict[int, str] | None) -> _Made:
    """What `run` makes of the rows; where it fails and some may be skipped, of the rows for which it works. The others
    are noted: halves are tried, and their halves, until those that fail are known by themselves.

    >>> why = {}
    >>> keep_valid(lambda rows: [{1: 1, 2: 0}[row] for row in rows], [0, 1, 2], why), why
    ([1, 0], {0: 'KeyError: 0'})
    """

    def failing(some: list[int]) -> dict[int, str]:
        try:
            run(some)
        except Exception as error:  # of any kind: a function of the caller's may raise what it likes
            half = len(some) // 2
            return failing(some[:half]) | failing(some[half:]) if half else {some[0]: _reason(error, some[0])}
        return {}

    try:
        return run(rows)
    except Exception as error:
        if skipped is None or isinstance(error, _OF_THE_CALL):
            raise
        failed = failing(rows)
        left = [row for row in rows if row not in failed]
        skipped |= failed
        if not left:
            raise BlockFailedError(f"none of {counted(len(rows), 'input')} works") from error
        return run(left)


def _reason(error: Exception, row: int) -> str:
    """An error about one input alone, which it counts as 0."""
    name = "" if isinstance(error, FaithlibError) else f"{type(error).__name__}: "
    message = str(error).removesuffix(": leave such texts out of the batch")
    return name + re.sub(r"\b(text|image|input) 0\b", rf"\1 {row}", message)


def output_of_pipeline(pipeline: Any) -> FollowedOutput | None:
    """The output that a pipeline's own `function_to_apply` leads to; None where that is the default of its model.

    >>> from types import SimpleNamespace
    >>> config = SimpleNamespace(num_labels=2, problem_type=None)
    >>> applied = {"function_to_apply": "sigmoid"}
    >>> output_of_pipeline(SimpleNamespace(model=SimpleNamespace(config=config), _postprocess_params=applied))
    'sigmoid'
    """
    config = getattr(pipeline.model, "config", None)
    chosen = getattr(pipeline, "_postprocess_params", {}).get("function_to_apply")
    if chosen is None:
        is_yes = getattr(config, "num_labels", None) == 1 and getattr(config, "problem_type", None) is None
        return "sigmoid" if is_yes else None
    name = str(getattr(chosen, "value", chosen)).lower()
    applied: dict[str, FollowedOutput] = {"softmax": "probability", "sigmoid": "sigmoid"}
    of_value = getattr(config, "problem_type", None) == "regression"
    return applied.get(name, "value" if of_value else "logit")


def check_pipeline(whole: PreparedInputs, perturber: Perturber) -> None:
    """ModelError where a pipeline answers the shortest of its inputs otherwise than what is explained of its model.

    >>> check_pipeline(prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"]), None)
    """
    pipeline, names = whole.pipeline, label_names(whole.model)
    if pipeline is None or not callable(pipeline) or not whole.items:
        return
    cut_off = set(whole.truncated)
    sizes = perturber.feature_mask.sum(dim=1).tolist()
    places = [place for place, row in enumerate(whole.rows) if row not in cut_off and place < len(sizes)]
    if not places:
        return
    place = min(places, key=lambda name: sizes[name])
    item = whole.items[whole.rows[place]]
    if isinstance(item, tuple | list):
        item = {"text": item[0], "text_pair": item[1]}
    try:
        answer = pipeline(item, top_k=len(names))
    except Exception as error:  # a pipeline is a program of somebody's own
        raise ModelError(f"the pipeline fails on input {whole.rows[place]}: {type(error).__name__}: {error}") from error
    answer = answer[0] if answer and isinstance(answer[0], list) else answer
    theirs = {str(item["label"]): float(item["score"]) for item in answer}
    logits = perturber.logits_full[place]
    classes = torch.arange(len(logits), device=logits.device)
    if len(logits) == 1:
        classes = classes + (perturber.head != "value")
    ours = read(logits.expand(len(classes), -1), classes, perturber.output).tolist()
    of_name = dict(zip(names[-len(ours) :], ours, strict=False))
    same_names = set(of_name) == set(theirs) and len(theirs) == len(ours)
    pairs = [(theirs[name], of_name[name]) for name in of_name] if same_names else []
    if not same_names:  # two classes of one name
        pairs = list(zip(sorted(float(item["score"]) for item in answer), sorted(ours), strict=False))
    if any(abs(score - other) > _TOLERANCE * (1 + abs(other)) for score, other in pairs):
        answered = [round(score, 4) for score, _ in pairs[:4]]
        explained = [round(other, 4) for _, other in pairs[:4]]
        raise ModelError(
            f"the pipeline answers input {whole.rows[place]} {answered}, and what would "
            f"be explained, the {perturber.output} of its model, is {explained}: it "
            "reads its inputs or the model's answers in a way of its own; ask it as a function, lambda texts: "
            "[[one['score'] for one in sorted(row, key=lambda one: one['label'])] for row in pipe(texts, top_k=None)]"
        )


def note_sorted() -> None:
    """A note on a function whose every answer goes down from the first class to the last.

    >>> from faithlib._warnings_log import collect_warnings
    >>> with collect_warnings() as notes:
    ...     note_sorted()
    >>> [*notes]
    ['function']
    """
    note(
        "function",
        "in each of its answers the numbers go down from the first class to the last, as where they are sorted by "
        "size (top_k=None): a class then has no place of its own, and all values are wrong; where the first class "
        "is the most probable one of every text, nothing is wrong",
    )


Explaining = Row | InsideMethod | Tensor
"""What says how inputs are explained: a row of a method, a function that looks into the model, or scores [B, F], of
each class [B, F, K]."""


def methods_by_name(
    methods: Iterable[str | Row | ErasingMethod | InsideMethod] | Mapping[str, Any] | None,
    whole: PreparedInputs,
    attributions: Mapping[str, Any] | None = None,
) -> dict[str, Explaining]:
    """Rows, functions of one's own and scores by name, those of other tools (`attributions`) first.

    >>> sorted(methods_by_name(None, prepare_inputs(lambda texts: [[0.5, 0.5] for _ in texts], ["good film"])))
    ['lime', 'occlusion', 'random']
    """
    made = _imported({} if attributions is None else attributions, whole)
    if methods is None:
        methods = [BASELINE] if made else DEFAULT_METHODS[KIND_OF[type(whole.inputs)]]
    methods = items_of(methods)
    if not isinstance(methods, Mapping):
        known = (str, Row, ErasingMethod, InsideMethod)
        if not isinstance(methods, list) or not all(isinstance(what, known) for what in methods):
            raise InputError(
                f"methods {methods!r}: expected names or Rows, as in ['saliency', 'lime'], and functions of your own "
                "under the decorator faithlib.attribution.method; scores are attributions={'mine': scores}"
            )
        methods = {what if isinstance(what, str) else what.name: what for what in methods}
    if not methods and not made:
        raise InputError(f"methods {methods!r}: expected at least one, as in ['saliency', 'lime']")
    if twice := [name for name in methods if str(name) in made]:
        raise InputError(f"attributions {twice}: methods of these names are evaluated too; choose other names")
    for name, what in methods.items():
        if isinstance(what, str | ErasingMethod):
            made[str(name)] = Row(cast("MethodName | ErasingMethod", what))  # or `checked` says what is known
        elif isinstance(what, Row | InsideMethod):
            made[str(name)] = what
        elif callable(what):
            raise InputError(
                f"methods {name!r} is a {type(what).__name__}: expected a method of your own, made by the decorator "
                "faithlib.attribution.method, or scores [B, F]"
            )
        else:
            made[str(name)] = whole.of_rows(what, f"scores of {name!r}")
        row = made[str(name)]
        if isinstance(row, Row):
            with suppress(ModelError):  # leaves this one out, later
                checked(row, unwrapped(whole.model), whole.inputs)
    return made


def _imported(attributions: Any, whole: PreparedInputs) -> dict[str, Explaining]:
    """The scores of other tools' explanations by name: of the inputs used, on the processor."""
    if not isinstance(attributions, Mapping):
        kind = type(attributions).__name__
        raise InputError(f"attributions are a {kind}: expected a mapping from names, as in {{'shap': explanation}}")
    made: dict[str, Explaining] = {}
    for name, given in attributions.items():
        explanation = given
        if is_table_file(given):
            tables = read_attributions(given)
            if len(tables) > 1:
                raise InputError(
                    f"attributions {name!r}: {given} holds those of {', '.join(tables)}; give "
                    "attributions=read_attributions(path), of faithlib.evaluation.files"
                )
            explanation = next(iter(tables.values()))
        try:
            made[str(name)] = imported_scores(explanation, whole.inputs, rows=whole.rows, total=whole.total)
            whole.remark_beyond(explanation, f"attributions {name!r}")
        except InputError as error:
            raise InputError(f"attributions {name!r}: {error}") from error
    return made


#: What leaves a method out and the others as they are.
LEFT_OUT: tuple[type[Exception], ...] = (ModelError, OutOfMemoryError, NotFiniteError)


def explain(
    model: Model,
    inputs: Any,
    methods: Iterable[MethodName | Row | ErasingMethod | InsideMethod] | Mapping[str, Any] | None = None,
    *,
    tokenizer: Any = None,
    processor: Any = None,
    attributions: Mapping[str, Any] | None = None,
    target: str | int | Sequence[str | int] | Tensor = "predicted",
    unit: Unit | int | None = None,
    settings: MetricSettings | None = None,
    run: RunSettings | None = None,
) -> dict[str, Tensor]:
    """The scores that `evaluate` evaluates, by name.

    Parameters
    ----------
    model, inputs, methods, tokenizer, processor, attributions, target, unit
        As for `evaluate`.
    settings : MetricSettings, optional
        `erase` and `output` are read: what takes the place of an erased feature, and what is explained, in methods that
        do not say otherwise. The other fields are about metrics.
    run : RunSettings, optional
        How inputs are read, and how the model runs. With a `shard` the scores are those of the share's inputs. There is
        no `on_error="skip"`: each input has its row of scores.

    Returns
    -------
    dict of str to Tensor
        Scores [B, F] of each method; higher = matters more. 0 at places beyond an input's features.

    Raises
    ------
    InputError, UnknownNameError
        For what does not go together, as `evaluate`.
    ModelError
        Where none of the methods can explain this model.

    Examples
    --------
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> explain(model, ["a good film"], ["occlusion", "uniform"])
    {'occlusion': tensor([[0.0000, 0.4000, 0.0000]]), 'uniform': tensor([[1., 1., 1.]])}
    """
    settings, run = checked_settings(settings, run)
    if run.on_error == SKIP:
        raise InputError(
            "on_error='skip': explain answers one row of scores for each input, so that none can be left out; take the "
            "inputs that fail away before, or let evaluate skip them"
        )
    check_counts(block=run.block)
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
    named = methods_by_name(methods, whole, attributions)
    left_out: dict[str, str] = {}
    blocks: list[dict[str, Tensor]] = []
    for start in range(0, len(whole.rows), run.block):
        places = list(range(start, min(start + run.block, len(whole.rows))))
        part = whole.inputs if len(places) == len(whole.rows) else whole.inputs[places]
        width = part.feature_mask.shape[1]
        perturber = Perturber(
            whole.model,
            part,
            erase=settings.erase,
            target="predicted" if classes is None else classes[places],
            output=whole.output if settings.output is None else settings.output,
            dtype=run.dtype,
            check=run.check and not start,
        )
        if run.check and not start:
            check_pipeline(whole, perturber)
        asked = {name: what[places, :width] if isinstance(what, Tensor) else what for name, what in named.items()}
        blocks.append(explained(asked, whole.model, perturber, None if classes is None else perturber.target, left_out))
    scores = {name: _below(blocks, name) for name in named if all(name in block for block in blocks)}
    if not scores:
        raise ModelError(f"nothing can explain this model. {left_out}")
    return scores


def _below(blocks: Sequence[Mapping[str, Tensor]], name: str) -> Tensor:
    """A method's scores of all blocks, one below the other; 0 at places that a block does not have."""
    if len(blocks) == 1:
        return blocks[0][name]
    width = max(block[name].shape[1] for block in blocks)
    return torch.cat([nn.functional.pad(block[name], (0, width - block[name].shape[1])) for block in blocks])


def explained(
    named: Mapping[str, Explaining],
    model: Any,
    perturber: Perturber,
    classes: Tensor | None,
    left_out: dict[str, str],
    deltas: dict[str, Tensor] | None = None,
    passed: tuple[type[Exception], ...] = LEFT_OUT,
) -> dict[str, Tensor]:
    """Each method's scores [B, F] of the perturber's inputs, about `classes` [B] (None: the predicted). What fails with
    an error that is `passed` over is noted; `deltas` is filled with what integrated gradients miss.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> asked, left_out = Perturber(model, WordInputs.from_texts(["good film"])), {}
    >>> explained({"mine": Row("occlusion"), "other": Row("saliency")}, model, asked, None, left_out)
    {'mine': tensor([[0.4000, 0.0000]])}
    >>> list(left_out)
    ['other']
    """
    rows = {name: what for name, what in named.items() if isinstance(what, Row)}
    targets = {} if classes is None else {PREDICTED: classes}
    noted: dict[str, Any] = {"left_out": left_out, "deltas": deltas, "passed": passed}
    asked: dict[str, Any] = {"perturber": perturber, "followed": perturber.output, "targets": targets}
    scores = attributed(rows, model, perturber.inputs, **asked, **noted)[0]
    for name, what in named.items():
        if isinstance(what, Tensor):
            one = what.to(perturber.device)
            scores[name] = of_class(one, perturber.target, name) if one.ndim == 3 else one
        elif isinstance(what, InsideMethod):
            try:
                own = what(model, perturber.inputs, perturber.target)
                scores[name] = finite(name, own.to(perturber.device), perturber.inputs)
            except passed as error:
                left_out[name] = str(error)
    return {name: scores[name] for name in named if name in scores}


def erases(row: Explaining, inputs: Inputs) -> bool:
    """Whether a method asks a perturber about such inputs.

    >>> from faithlib.inputs import WordInputs
    >>> words = WordInputs.from_texts(["good film"])
    >>> erases(Row("lime"), words), erases(Row("random"), words)
    (True, False)
    """
    try:
        return isinstance(row, Row) and method_of(row.method, inputs).answers == "features"
    except ModelError:
        return False
