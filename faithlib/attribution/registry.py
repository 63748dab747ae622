"""The attribution methods by name: what each answers, which options it takes, what can be asked of it.

What a method does is said at its function. Shape letters: B inputs, R rows of one chunk, L tokens, P patches, D
embedding size, F features, H and W pixels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from faithlib.attribution import _attention, _deeplift, _gradient, _vit, perturbation
from faithlib.attribution._specification import Method
from faithlib.attribution._texts import AGGREGATIONS, POOLS
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.errors import InputError, ModelError, NotFiniteError, UnknownNameError, check_known, unknown
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs
from faithlib.names import Aggregation, MethodName, Output, Pool
from faithlib.outputs import OUTPUTS, check_stated

__all__ = ["PREDICTED", "InputKind", "Row", "methods"]

#: What a method explains, its default first. Papers about ViTs start from the logit, and relevance has no other start.
LOGIT_FIRST = ("logit", "probability", "loss", "sigmoid", "value")
LOGIT_ONLY = ("logit", "value")  # a value is where it starts: no softmax is over it

WITH_DELTA = "integrated_gradients"


METHODS: dict[str, Method] = {
    "attention": Method(_attention.attention, "positions", blind=True),
    "scaled_attention": Method(_attention.scaled_attention, "positions"),
    "rollout": Method(_attention.rollout, "positions", blind=True),
    "input_x_gradient": Method(_gradient.input_x_gradient, "elements", "abs_sum"),
    "integrated_gradients": Method(_gradient.integrated_gradients, "elements", "sum"),
    "deeplift": Method(_deeplift.deeplift, "elements", "sum"),
    "saliency": Method(_gradient.saliency, "elements", "l2"),
    "guided_backprop": Method(_gradient.guided_backprop, "elements", "l2"),
    "activation": Method(_gradient.activation, "elements", "l2", blind=True),
    "lime": Method(perturbation.ERASING["lime"], "features"),
    "occlusion": Method(perturbation.ERASING["occlusion"], "features"),
    "shapley_sampling": Method(perturbation.ERASING["shapley_sampling"], "features"),
    "random": Method(perturbation.random, "floor", blind=True),
    "uniform": Method(perturbation.uniform, "floor", blind=True),
}

#: What explains a function that nobody can look into.
WORD_METHODS = {name: METHODS[name] for name in ("lime", "occlusion", "shapley_sampling", "random", "uniform")}
IMAGE_METHODS: dict[str, Method] = {
    "integrated_gradients": Method(_vit.integrated_gradients, "pixels"),
    "grad_cam": Method(_vit.grad_cam, "patches", outputs=LOGIT_FIRST),
    "lrp": Method(_vit.lrp, "pixels", outputs=LOGIT_ONLY),
    "partial_lrp": Method(_vit.partial_lrp, "patches", outputs=LOGIT_ONLY),
    "transformer_attribution": Method(_vit.transformer_attribution, "patches", outputs=LOGIT_ONLY),
    "conservative_lrp": Method(_vit.conservative_lrp, "patches", outputs=LOGIT_ONLY),
    "raw_attention": Method(_vit.raw_attention, "patches", blind=True),
    "rollout": Method(_vit.rollout, "patches", blind=True),
    "transformer_mm": Method(_vit.transformer_mm, "patches", outputs=LOGIT_FIRST),
    "attcat": Method(_vit.attcat, "patches", outputs=LOGIT_FIRST),
    **WORD_METHODS,
}
InputKind = Literal["text", "image", "words"]
_BY_KIND: dict[str, dict[str, Method]] = {"text": METHODS, "image": IMAGE_METHODS, "words": WORD_METHODS}
KIND_OF: dict[type, InputKind] = {TextInputs: "text", ImageInputs: "image", WordInputs: "words"}


def methods(kind: InputKind = "text") -> tuple[MethodName, ...]:
    """The names of all methods for one kind of inputs; in `faithlib` as `list_methods`.

    Parameters
    ----------
    kind : {"text", "image", "words"}, default "text"
        Texts or images that a model reads, or the texts of a function.

    Returns
    -------
    tuple of MethodName
        In the order of tables.

    Raises
    ------
    UnknownNameError
        For another kind.

    Examples
    --------
    >>> methods()[:3]
    ('attention', 'scaled_attention', 'rollout')
    >>> methods("image")[:3]
    ('integrated_gradients', 'grad_cam', 'lrp')
    """
    check_known("kind of inputs", kind, _BY_KIND)
    return cast(tuple[MethodName, ...], tuple(_BY_KIND[kind]))


PREDICTED = "predicted"


@dataclass(frozen=True)
class Row:
    """One row of a table of attributions; the fields mean what they mean in `attribute`.

    Parameters
    ----------
    method : MethodName | ErasingMethod
        A name, or a method of your own that erases (`faithlib.attribution.method`).
    aggregation : Aggregation, optional
        Over D, for methods with one score an embedding element. Default: the method's.
    output : Output, optional
        What is explained. Default: the method's.
    target : str, default PREDICTED
        "predicted", or a name out of the `targets` that `attribute_rows` is given.
    pool : {"sum", "mean"}, default "sum"
        From positions or pixels to features.
    options : Mapping[str, Any]
        The method's own; `max_tokens` and `perturber` belong to the whole table.

    Examples
    --------
    >>> Row("lime", output="loss", target="gold", options={"n_samples": 50}).name
    'lime loss gold sum n_samples=50'
    """

    method: MethodName | ErasingMethod
    aggregation: Aggregation | None = None
    output: Output | None = None
    target: str = PREDICTED
    pool: Pool = "sum"
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The row in words, different for different rows."""
        parts = (str(self.method), self.aggregation, self.output, self.target, self.pool)
        return " ".join([*filter(None, parts), *in_words(self.options)])


def in_words(options: Mapping[str, Any]) -> list[str]:
    """Options in words, different for different ones.

    Parameters
    ----------
    options : Mapping[str, Any]
        Values by name.

    Returns
    -------
    list of str
        "name=value" of each, by name.

    Examples
    --------
    >>> in_words({"seed": 3, "alpha": None})
    ['alpha=None', 'seed=3']
    """
    return [f"{name}={options[name]}" for name in sorted(options)]


def checked(row: Row, model: Any, inputs: Inputs) -> Method:
    """The method of a row for such inputs, once all that the row says is known to be possible.

    Parameters
    ----------
    row : Row
        What is asked for.
    model
        The model, a function, or None.
    inputs : Inputs
        Those that are explained.

    Returns
    -------
    Method
        What the registry says of it.

    Raises
    ------
    UnknownNameError
        For an unknown method, option, output, aggregation or pool.
    InputError
        For an output or aggregation that the method does not have, and a method that asks the model without one.
    ModelError
        Where a function of texts is not enough for the method.

    Examples
    --------
    >>> checked(Row("random", options={"sed": 0}), None, WordInputs.from_texts(["a good film"]))
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown option of random 'sed': did you mean 'seed'? ...
    """
    name, output, aggregation = row.method, row.output, row.aggregation
    method = method_of(name, inputs)
    if model is None and method.answers != "floor":
        raise InputError(f"{name} asks the model, and got None: only random and uniform go without")
    if not (model is None or isinstance(model, nn.Module) or method.answers in ("floor", "features")):
        raise ModelError(
            f"{name} looks into a torch module, and this model is a {type(model).__name__}: of a function only "
            f"{', '.join(WORD_METHODS)} know enough"
        )
    if output is not None:
        check_known("output", output, OUTPUTS)
    if output is not None and output not in method.outputs:
        raise InputError(
            f"output {output!r}: {name} starts from the target's {' or '.join(method.outputs)}; omit output"
        )
    check_stated(output, model)
    check_known("pool", row.pool, POOLS)
    if aggregation is not None and method.aggregation is None:
        able = ", ".join(other for other, about in METHODS.items() if about.aggregation)
        if not isinstance(inputs, TextInputs):
            able += " on texts"
        raise InputError(
            f"aggregation {aggregation!r}: {name} has one score a position or feature, nothing to aggregate; "
            f"it applies to {able}"
        )
    if aggregation is not None:
        check_known("aggregation", aggregation, AGGREGATIONS)
    for option in row.options:
        if option not in method.options:
            raise unknown(f"option of {name}", option, (*method.options, "target", "output", "aggregation", "pool"))
    return method


def method_of(name: str | ErasingMethod, inputs: Inputs) -> Method:
    """The method of that name, or one's own, for such inputs.

    Parameters
    ----------
    name : str | ErasingMethod
        A name, or a method of one's own.
    inputs : Inputs
        Those that are explained.

    Returns
    -------
    Method
        What the registry says of it.

    Raises
    ------
    UnknownNameError
        For a name that is none, or none for such inputs.
    ModelError
        Where a function of texts is not enough for it.
    InputError
        For inputs of another type.

    Examples
    --------
    >>> method_of("lime", WordInputs.from_texts(["a good film"])).answers
    'features'
    """
    if type(inputs) not in KIND_OF:
        raise InputError(f"inputs are {type(inputs).__name__}: expected TextInputs, ImageInputs or WordInputs")
    if isinstance(name, ErasingMethod):
        return Method(name, "features")
    of_kind = _BY_KIND[KIND_OF[type(inputs)]]
    if name in of_kind:
        return of_kind[name]
    if isinstance(inputs, WordInputs) and name in METHODS:
        raise ModelError(
            f"{name} looks into a model that reads tokens: of a function of texts only {', '.join(of_kind)} know enough"
        )
    if other := [kind for kind in ("text", "image") if name in _BY_KIND[kind]]:
        raise UnknownNameError(
            f"method {name!r} explains {other[0]}s, not {type(inputs).__name__}: known for these: "
            f"{', '.join(sorted(of_kind))}"
        )
    raise unknown("method", name, of_kind)


def finite(name: str, scores: Tensor, inputs: Inputs) -> Tensor:
    """The scores, 0 at places beyond an input's features.

    Parameters
    ----------
    name : str
        The method's, for the message.
    scores : Tensor
        What it answered, [B, F].
    inputs : Inputs
        Those that are explained.

    Returns
    -------
    Tensor
        [B, F].

    Raises
    ------
    NotFiniteError
        Where a method answered NaN or infinity; it is an InputError.

    Examples
    --------
    >>> words = WordInputs.from_texts(["good film", "good"])
    >>> finite("mine", torch.tensor([[1.0, 2.0], [3.0, torch.nan]]), words)
    tensor([[1., 2.],
            [3., 0.]])
    """
    mask = inputs.feature_mask.to(scores.device)
    bad = (~torch.isfinite(scores) & mask).any(dim=1)
    if bool(bad.any()):
        b = int(bad.nonzero()[0])
        what = "an image"
        if isinstance(inputs, TextInputs):
            words = " ".join(inputs.tokens[b][:8]) if inputs.tokens else "no token strings"
            what = f"{words} ..."
        raise NotFiniteError(
            f"{name} gave NaN or infinite scores for {int(bad.sum())} of {len(bad)} inputs, first input {b} "
            f"({what}): check the model's weights and outputs on it, and leave it out or use another method"
        )
    return torch.where(mask, scores, 0)
