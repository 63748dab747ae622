"""One attribution, or many of the same inputs at once: the rows of a paper's table, each forward pass paid for once.

Thirteen rows and two outputs are twenty-six calls of `attribute`, and most of what those run is the same. Here rows
that differ only in aggregation or pooling read one run of their method, and gradients of all outputs come from one
forward pass. Methods that erase share one `Perturber` for each way to erase, whose memo answers the second output from
the logits of the first.

Shape letters: B inputs, F features.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from faithlib._selfcheck import met
from faithlib.attribution._specification import Method
from faithlib.attribution._target import Number
from faithlib.attribution._texts import Job, run_on_texts
from faithlib.attribution._vision import run_on_images
from faithlib.attribution.costs import Cost, Costs
from faithlib.attribution.perturbation import ErasingMethod, Explained, Perturbers, check_given, erased_inputs
from faithlib.attribution.registry import PREDICTED, WITH_DELTA, Row, checked, finite, in_words
from faithlib.backends import TextBackend, VisionBackend, replica
from faithlib.backends._model_adapters import target_classes, unwrapped
from faithlib.errors import InputError, check_known
from faithlib.inputs import ImageInputs, Inputs, TextInputs
from faithlib.names import Aggregation, MethodName, Output, Pool
from faithlib.outputs import default_of
from faithlib.perturb import Perturber
from faithlib.protocols import Model
from faithlib.user_inputs import model_and_inputs

__all__ = ["attribute", "attribute_rows", "attributed"]


def attribute(
    name: MethodName,
    model: Model | None,
    inputs: Any,
    *,
    tokenizer: Any = None,
    processor: Any = None,
    target: str | int | Tensor | list[int] | tuple[int, ...] = "predicted",
    output: Output | None = None,
    aggregation: Aggregation | None = None,
    pool: Pool = "sum",
    check: bool = True,
    return_delta: bool = False,
    **options: Any,
) -> Any:
    """Scores of every feature by one method.

    Parameters
    ----------
    name : MethodName
        The method, one of `methods`.
    model : Model | None
        A classifier of Hugging Face for texts; a classifier of pixels for images; a function from texts to
        probabilities for words. random and uniform do not look at it and accept None.
    inputs
        B inputs, as for `evaluate`: texts, whose features are then words, images or files of them, token ids; or
        `TextInputs`, `ImageInputs` or `WordInputs`, which `faithlib.texts`, `images` and `tokens` make with other
        features.
    tokenizer, processor : optional
        What makes a model's input of texts, and of images.
    target : str | int | Tensor | list[int] | tuple[int, ...], default "predicted"
        The class that is explained: the "predicted" class, a class index, or one an input (gold labels).
    output : Output, optional
        What is explained of the target: "probability" (softmax), "logit", or "loss" (log p, the cross entropy with its
        sign turned). Larger always supports the target. Default: the probability; for images, where the table says so,
        the logit, as in the methods' papers. Of models whose outputs are no softmax over classes, "sigmoid" or "value"
        (`faithlib.outputs`), by default as the model's configuration says. "top_logit" is the largest logit, whichever
        class has it: on an erased copy or on the way to a baseline it may be another class than the predicted one.
    aggregation : Aggregation, optional
        Over D, for methods of texts with one score an embedding element; "abs_sum" is `|sum|`. Default: as the table
        says.
    pool : {"sum", "mean"}, default "sum"
        From positions of a text to features, after aggregation, over a feature's positions; from maps of pixels to
        features, within each.
    check : bool, default True
        Whether one input also goes through the model's own call and is compared with what is computed here
        (`faithlib._selfcheck`), two rows on no account; not where a `perturber` is given, which has been checked.
    return_delta : bool, default False
        Of integrated_gradients: whether to return also by how much the scores' sum misses F(x) - F(x').
    options
        The method's own, of the tables below. For methods with a forward of their own also `max_tokens`: positions a
        forward, on which the scores do not depend; of images `upsample`.

    Returns
    -------
    Tensor or tuple of Tensor
        float32 [B, F] on the model's device, 0 at places beyond an input's features; higher = matters more. With
        `return_delta` the scores, and what their sum misses, [B], before aggregation and pooling.

    Raises
    ------
    UnknownNameError
        For an unknown method, option, target, output, aggregation, pool or upsample.
    InputError
        For values that cannot be used, images of another size than the model's, and a method that answers NaN or
        infinity.
    ModelError
        Where the model lacks what the method needs, such as the class token whose attention row most image methods
        read.

    Notes
    -----
    **Texts** (a Hugging Face classifier). Gradients, attention and baselines act on the embedding output, of which
    `faithlib.backends.acts_on` says what it is.

    ====================  ===================  =========================================================
    method                default aggregation  own options
    ====================  ===================  =========================================================
    attention             -                    layer
    scaled_attention      -                    layer, variant "paper" / "released"
    rollout               -                    sink "keep" / "drop" (of decoders: their first token)
    input_x_gradient      abs_sum              -
    integrated_gradients  sum                  baseline, keep_protected, n_steps
    deeplift              sum                  baseline, keep_protected, rules "rescale" / "captum"
    saliency              l2                   -
    guided_backprop       l2                   variant "paper" / "released"
    activation            l2                   -
    lime                  -                    n_samples, surrogate, alpha, seed, erase, unit, perturber
    occlusion             -                    erase, unit, perturber
    shapley_sampling      -                    n_samples, seed, erase, unit, perturber
    random                -                    seed, distribution
    uniform               -                    -
    ====================  ===================  =========================================================

    Methods that erase score features as wholes (`unit="feature"`) and pool nothing; with `unit="wordpiece"` they erase
    pieces one by one, whose scores are pooled.

    **Images.** integrated_gradients and what erases explain any classifier of pixels, lrp those whose operations have
    rules, the others a timm VisionTransformer.

    =======================  ========  ===============  ===================================================
    method                   map       output           own options
    =======================  ========  ===============  ===================================================
    integrated_gradients     pixels    probability      baseline, n_steps
    grad_cam                 patches   logit            -
    lrp                      pixels    logit, no other  -
    partial_lrp              patches   logit, no other  variant "paper" / "released"
    transformer_attribution  patches   logit, no other  start_layer
    conservative_lrp         patches   logit, no other  -
    raw_attention            patches   no effect        layer
    rollout                  patches   no effect        start_layer
    transformer_mm           patches   logit            layers "all" / "last"
    attcat                   patches   logit            queries "all" / "class"
    lime                     features  probability      n_samples, surrogate, alpha, seed, erase, perturber
    occlusion                features  probability      erase, perturber
    shapley_sampling         features  probability      n_samples, seed, erase, perturber
    random                   features  no effect        seed, distribution
    uniform                  features  no effect        -
    =======================  ========  ===============  ===================================================

    From map to features: where features and the model's patches are the same, a map of patches is the answer as it is.
    Everywhere else it is first brought to pixels, by `upsample` "bilinear" (default; corners not aligned) or "nearest".
    Maps of pixels are pooled within each feature by `pool`; features of one pixel get the map itself.

    The map of lrp for a single image is decided by rounding: pixels changed by a millionth, or another processor, may
    give another one, and move transformer_attribution a little. Their means over images are what can be reported.

    **Words** of a function from texts to probabilities: lime, occlusion, shapley_sampling, random, uniform, with the
    options that they have for images.

    **All.** Scores do not depend on the other inputs in the batch, their order, or padding. What runs is a `replica` of
    the model in evaluation mode: modes, `requires_grad`, attention implementation, hooks and gradients of the model
    itself are not touched.

    Examples
    --------
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> attribute("occlusion", model, ["a good film"])
    tensor([[0.0000, 0.4000, 0.0000]])
    """
    if return_delta and name != WITH_DELTA:
        raise InputError(f"return_delta: of {name} nothing is known to add up; it is for {WITH_DELTA}")
    model, inputs = model_and_inputs(model, inputs, tokenizer, processor)
    row, deltas = Row(name, aggregation, output, pool=pool, options=options), dict[str, Tensor]()
    checked(row, unwrapped(model), inputs)
    shared: dict[str, Any] = {of_all: options.pop(of_all, None) for of_all in ("max_tokens", "perturber")}
    if shared["perturber"] is not None:
        check_given(shared["perturber"], erased_inputs(inputs, options), options.get("erase"))
    shared |= {"targets": {PREDICTED: target}, "check": check, "deltas": deltas if return_delta else None}
    scores = attributed({name: row}, model, inputs, **shared)[0][name]
    return (scores, deltas[name]) if return_delta else scores


def attribute_rows(
    rows: Sequence[Row],
    model: nn.Module | None,
    inputs: TextInputs,
    *,
    targets: Mapping[str, int | Tensor | Sequence[int]] | None = None,
    perturber: Perturber | None = None,
    max_tokens: int | None = None,
    check: bool = True,
    deltas: dict[str, Tensor] | None = None,
) -> tuple[dict[str, Tensor], dict[str, Cost]]:
    """Scores of every row of a table, equal to `attribute` one row at a time, and what each method cost.

    Parameters
    ----------
    rows : Sequence[Row]
        What is asked for, at least one.
    model : nn.Module
        A classifier of Hugging Face; None where no row asks it.
    inputs : TextInputs
        B texts.
    targets : Mapping[str, int | Tensor | Sequence[int]], optional
        Classes by name, each one index for all inputs or one an input (gold labels).
    perturber : Perturber, optional
        Your own on the same inputs, for the rows that erase as it does, to share answers with metrics. A row that names
        no `erase` erases as it does, without one by zeros.
    max_tokens : int, optional
        Positions a forward, of methods that run the model themselves.
    check : bool, default True
        As for `attribute`; not where a perturber is given, which has been checked.
    deltas : dict[str, Tensor], optional
        Where given, filled with the `return_delta` [B] of `attribute` for rows of integrated_gradients.

    Returns
    -------
    tuple of dict
        Scores [B, F] by the name of each row, and a `Cost` by method.

    Raises
    ------
    InputError
        For no rows, images, or a perturber of other inputs; and as `attribute`.
    UnknownNameError, ModelError
        As `attribute`.

    Notes
    -----
    Cost per method and input, whatever the number of aggregations, poolings and outputs: the forward rows that the
    method states (integrated_gradients: times the number of outputs), and one backward row for each output. All plain
    gradients take one forward row, guided ones another. What methods share is on the account of the row named first.

    Examples
    --------
    >>> import torch
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> attribute_rows([Row("uniform"), Row("uniform", pool="mean")], None, texts)[0]
    {'uniform predicted sum': tensor([[1., 1.]]), 'uniform predicted mean': tensor([[1., 1.]])}
    """
    if not isinstance(inputs, TextInputs):
        raise InputError(f"inputs are {type(inputs).__name__}: attribute_rows explains TextInputs; use attribute")
    if not rows:
        raise InputError("rows: expected at least one Row")
    if perturber is not None:
        check_given(perturber, inputs, None)
    given: dict[str, Any] = {"perturber": perturber, "max_tokens": max_tokens, "check": check, "deltas": deltas}
    return attributed({row.name: row for row in rows}, model, inputs, targets=targets, **given)


def attributed(
    rows: Mapping[str, Row],
    model: Any,
    inputs: Inputs,
    *,
    targets: Mapping[str, Any] | None = None,
    followed: str | None = None,
    perturber: Perturber | None = None,
    max_tokens: int | None = None,
    check: bool = True,
    deltas: dict[str, Tensor] | None = None,
    left_out: dict[str, str] | None = None,
    passed: tuple[type[Exception], ...] = (),
) -> tuple[dict[str, Tensor], dict[str, Cost]]:
    """`attribute_rows` under names of the caller's, for inputs of any kind (of images the costs are not counted).

    Parameters
    ----------
    rows : Mapping[str, Row]
        What is asked for, by name.
    model
        As for `attribute`.
    inputs : Inputs
        B inputs.
    targets : Mapping[str, Any], optional
        Classes by name; they may say what PREDICTED means.
    followed : str, optional
        What metrics follow, which is explained where a row does not say otherwise.
    perturber, max_tokens, check, deltas
        As for `attribute_rows`.
    left_out : dict[str, str], optional
        Where given, filled with the names of rows that failed with an error that is `passed` over, and why.
    passed : tuple[type[Exception], ...], default ()
        Kinds of errors that leave a row out.

    Returns
    -------
    tuple of dict
        Scores [B, F] by name, and a `Cost` by method.

    Raises
    ------
    InputError, UnknownNameError, ModelError
        As `attribute`, except what is passed over.

    Examples
    --------
    >>> from faithlib.errors import ModelError
    >>> from faithlib.inputs import WordInputs
    >>> model, why = (lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]), {}
    >>> words, rows = WordInputs.from_texts(["good film"]), {"mine": Row("occlusion"), "other": Row("saliency")}
    >>> attributed(rows, model, words, left_out=why, passed=(ModelError,))[0]
    {'mine': tensor([[0.4000, 0.0000]])}
    >>> list(why)
    ['other']
    """
    unwrapped_model, why = unwrapped(model), {} if left_out is None else left_out
    classes: dict[str, Tensor | None] = {PREDICTED: None}
    classes |= {name: target_classes(given, unwrapped_model, len(inputs)) for name, given in (targets or {}).items()}
    methods: dict[Row, Method] = {}
    for name, row in rows.items():
        if shared := {"max_tokens", "perturber"} & set(row.options):
            raise InputError(f"{name}: {shared.pop()} belongs to all rows, not to the options of one")
        with _leaving_out(name, why, passed):
            check_known("target", row.target, classes)
            methods[row] = checked(row, unwrapped_model, inputs)
    quiet, count = unwrapped_model, None
    if any(method.answers != "floor" for method in methods.values()):
        quiet = replica(unwrapped_model) if isinstance(unwrapped_model, nn.Module) else unwrapped_model
        if check and perturber is None:
            count = met(model, quiet, inputs)
            asked = [int(wanted.max()) for wanted in classes.values() if wanted is not None]
            if max(asked, default=0) >= max(count, 2):  # one logit has two classes
                raise InputError(f"target {max(asked)}: expected classes 0 to {max(count, 2) - 1}")
    output_of = {
        row: row.output or ("logit" if method.blind else default_of(method.outputs, unwrapped_model, followed, count))
        for row, method in methods.items()
    }
    numbers = list(dict.fromkeys((output, row.target) for row, output in output_of.items()))
    job_of = _jobs(methods, {row: numbers.index((output_of[row], row.target)) for row in methods}, inputs, passed)
    first = next(unwrapped_model.parameters(), None) if isinstance(unwrapped_model, nn.Module) else None
    device = inputs.n_features.device if first is None else first.device
    for job in job_of.values():
        if deltas is not None and job.name == WITH_DELTA:
            job.delta = torch.full((len(inputs),), torch.nan, dtype=torch.float32, device=device)
    explained = [(output, classes[target]) for output, target in numbers]
    costs, perturbers = Costs(unwrapped_model), Perturbers(quiet, perturber)
    _run(list(dict.fromkeys(job_of.values())), unwrapped_model, quiet, inputs, explained, max_tokens, perturbers, costs)
    scores = {}
    for name, row in ((name, row) for name, row in rows.items() if row in job_of):
        job = job_of[row]
        with _leaving_out(name, why, passed):
            row_scores = job.scores(row.aggregation or job.method.aggregation, inputs, row.pool).detach().to(device)
            scores[name] = finite(str(row.method), row_scores, inputs)
            if deltas is not None and job.delta is not None:
                deltas[name] = job.delta
    return scores, costs.by_method()


@contextmanager
def _leaving_out(name: str, left_out: dict[str, str], passed: tuple[type[Exception], ...]) -> Iterator[None]:
    try:
        yield
    except passed as error:
        left_out[name] = str(error)


def _jobs(
    methods: Mapping[Row, Method], number_of: Mapping[Row, int], inputs: Inputs, passed: tuple[type[Exception], ...]
) -> dict[Row, Job]:
    """The run of its method that each row reads; rows that ask the same share one."""
    jobs: dict[tuple[object, ...], Job] = {}
    job_of = {}
    for row, method in methods.items():
        # Maps of images are pooled chunk by chunk, what texts answer when it is read.
        pool = row.pool if isinstance(inputs, ImageInputs) else "sum"
        key = (row.method, None if method.blind else number_of[row], pool, *in_words(row.options))
        job = jobs.setdefault(key, Job(str(row.method), method, number_of[row], pool, dict(row.options), passed=passed))
        job.readers += 1
        job.aggregations.add(row.aggregation or method.aggregation)
        job_of[row] = job
    return job_of


def _run(
    jobs: Sequence[Job],
    model: Any,
    quiet: Any,
    inputs: Inputs,
    numbers: Sequence[Number],
    max_tokens: int | None,
    perturbers: Perturbers,
    costs: Costs,
) -> None:
    """Does all jobs, on a replica of the model: floors, those that look inside, those that erase."""
    for job in jobs:
        if job.method.answers == "floor":
            floor: Any = job.method.run  # of the inputs alone
            job.raw = {None: floor(inputs, **job.options)}
    inside = [job for job in jobs if job.method.answers not in ("floor", "features")]
    if inside:
        # A replica's frozen weights make `requires_grad` mean "depends on the input".
        with torch.inference_mode(False), torch.enable_grad():
            if isinstance(inputs, TextInputs):
                run_on_texts(inside, TextBackend(quiet, inputs), numbers, max_tokens, costs)
            elif isinstance(inputs, ImageInputs):
                run_on_images(inside, VisionBackend(quiet, inputs, model), numbers, max_tokens, costs)
    # All methods that erase queue their rows before the first answer is taken, so that they share forwards.
    queued: dict[Job, Callable[[], Tensor]] = {}
    for job in jobs:
        if job.method.answers == "features":
            with job.trying(), costs.of_erased(job.name, job.readers, perturbers):
                output, erase = numbers[job.number][0], job.options.get("erase")
                perturber = perturbers.of(erased_inputs(inputs, job.options), erase, output)
                queued[job] = _queued(job, inputs, numbers[job.number], perturber)
    with costs.of_joined():
        for job, finish in queued.items():
            with job.trying():
                job.raw = {None: finish()}


def _queued(job: Job, inputs: Inputs, number: Number, perturber: Perturber) -> Callable[[], Tensor]:
    """Queue a method's rows. What comes back makes its scores of features [B, F], or where pieces of them were erased
    one by one, of positions [B, L]."""
    assert isinstance(job.method.run, ErasingMethod)
    explained = Explained.of(perturber, number[1], number[0])
    options = {name: value for name, value in job.options.items() if name not in ("erase", "unit")}
    finish, erased = job.method.run.later(perturber, explained, **options), erased_inputs(inputs, job.options)
    if erased is inputs:
        return finish

    def by_position() -> Tensor:
        scores = finish()
        positions = scores.new_zeros(erased.input_ids.shape)
        positions[erased.feature_of.to(scores.device) >= 0] = scores[explained.present]
        return positions

    return by_position
