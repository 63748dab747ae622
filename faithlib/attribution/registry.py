"""One door to all attribution methods: names, options, aggregation, pooling, checks.

What a method does is said at its function; `attribute` does what they share. Shape letters: B inputs, R rows of one
chunk, L tokens, P patches, D embedding size, F features, H and W pixels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.attribution import attention, deeplift, floors, gradient, perturbation, vit
from faithlib.attribution.costs import Costs
from faithlib.attribution.inside import looking_inside, note_underflow
from faithlib.attribution.perturbation import Answers, check_given
from faithlib.attribution.target import target_classes, undisturbed
from faithlib.attribution.texts import AGGREGATIONS, POOLS, Job, Number, most_tokens, pooled, run_jobs
from faithlib.attribution.vision import UPSAMPLINGS, image_chunks, on_pixels
from faithlib.backends import VisionBackend, replica
from faithlib.backends.labels import class_index
from faithlib.backends.wrappers import unwrapped
from faithlib.errors import InputError, ModelError, NotFiniteError, UnknownNameError, unknown
from faithlib.inputs import ImageInputs, Inputs, TextInputs, WordInputs
from faithlib.outputs import FOLLOWED, OUTPUTS, check_stated, default_of
from faithlib.perturb import Perturber
from faithlib.selfcheck import met

# What a method explains, its default first. Papers about ViTs start from the logit, and relevance has no other start.
LOGIT_FIRST = ("logit", "probability", "loss", "sigmoid", "value")
LOGIT_ONLY = ("logit", "value")  # a value is where it starts: no softmax is over it

WITH_DELTA = "integrated_gradients"
_CLAMPED = ("grad_cam", "transformer_mm", "transformer_attribution")  # where 0 is what is left of a negative number

# With maps of all blocks in the graph, a ViT-B takes 1.2 MB a token (measured): 1 and 10 GB.
_MOST_IMAGE_TOKENS = {"cpu": 1024, "cuda": 1 << 13}


@dataclass(frozen=True)
class Method:
    """A function and what it answers.

    `answers`: "elements" [R, L, D] of a chunk, "positions" [R, L] of a chunk, "floor" [B, L] of the inputs alone,
    "features" [B, F] of erased copies; of images "patches" [R, P] or "pixels" [R, H, W] of a chunk, "floor" [B, F].
    `aggregation`: the default over D, for elements. `outputs`: what it can explain, the default first. `blind`: target
    and output have no effect. `in_pieces`: features can be erased piece by piece.

    >>> METHODS["occlusion"].answers, METHODS["occlusion"].options
    ('features', ('erase', 'perturber', 'unit'))
    """

    run: Callable[..., Tensor]
    answers: str
    aggregation: str | None = None
    outputs: tuple[str, ...] = OUTPUTS
    blind: bool = False
    in_pieces: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """The options that it takes beside those of every method."""
        own = [p.name for p in inspect.signature(self.run).parameters.values() if p.kind is p.KEYWORD_ONLY]
        extra = {"features": ["erase", "perturber"], "floor": [], "patches": ["max_tokens", "upsample"]}
        return (*own, *extra.get(self.answers, ["max_tokens"]), *(["unit"] if self.in_pieces else []))

    def default_output(self, model: Any, followed: str | None = None, count: int | None = None) -> str:
        """What it explains where nobody says: `outputs.default_of`."""
        return "logit" if self.blind else default_of(self.outputs, model, followed, count)


METHODS: dict[str, Method] = {
    "attention": Method(attention.attention, "positions", blind=True),
    "scaled_attention": Method(attention.scaled_attention, "positions"),
    "rollout": Method(attention.rollout, "positions", blind=True),
    "input_x_gradient": Method(gradient.input_x_gradient, "elements", "abs_sum"),
    "integrated_gradients": Method(gradient.integrated_gradients, "elements", "sum"),
    "deeplift": Method(deeplift.deeplift, "elements", "sum"),
    "saliency": Method(gradient.saliency, "elements", "l2"),
    "guided_backprop": Method(gradient.guided_backprop, "elements", "l2"),
    "activation": Method(gradient.activation, "elements", "l2", blind=True),
    "lime": Method(perturbation.lime, "features", in_pieces=True),
    "occlusion": Method(perturbation.occlusion, "features", in_pieces=True),
    "shapley_sampling": Method(perturbation.shapley_sampling, "features", in_pieces=True),
    "random": Method(floors.random, "floor", blind=True),
    "uniform": Method(floors.uniform, "floor", blind=True),
}

# What explains a function that nobody can look into.
WORD_METHODS: dict[str, Method] = {
    "lime": Method(perturbation.lime, "features"),
    "occlusion": Method(perturbation.occlusion, "features"),
    "shapley_sampling": Method(perturbation.shapley_sampling, "features"),
    "random": Method(floors.random_features, "floor"),
    "uniform": Method(floors.uniform_features, "floor"),
}
IMAGE_METHODS: dict[str, Method] = {
    "integrated_gradients": Method(vit.integrated_gradients, "pixels"),
    "grad_cam": Method(vit.grad_cam, "patches", outputs=LOGIT_FIRST),
    "lrp": Method(vit.lrp, "pixels", outputs=LOGIT_ONLY),
    "partial_lrp": Method(vit.partial_lrp, "patches", outputs=LOGIT_ONLY),
    "transformer_attribution": Method(vit.transformer_attribution, "patches", outputs=LOGIT_ONLY),
    "conservative_lrp": Method(vit.conservative_lrp, "patches", outputs=LOGIT_ONLY),
    "raw_attention": Method(vit.raw_attention, "patches", blind=True),
    "rollout": Method(vit.rollout, "patches", blind=True),
    "transformer_mm": Method(vit.transformer_mm, "patches", outputs=LOGIT_FIRST),
    "attcat": Method(vit.attcat, "patches", outputs=LOGIT_FIRST),
    **WORD_METHODS,
}
_BY_KIND = {"text": METHODS, "image": IMAGE_METHODS, "words": WORD_METHODS}
KIND_OF: dict[type, str] = {TextInputs: "text", ImageInputs: "image", WordInputs: "words"}


def methods(kind: str = "text") -> tuple[str, ...]:
    """The names of all methods for "text" or "image" inputs, or the "words" of a function of texts.

    >>> methods()[:3]
    ('attention', 'scaled_attention', 'input_x_gradient')
    >>> methods("image")[:3]
    ('integrated_gradients', 'grad_cam', 'lrp')
    """
    if kind not in _BY_KIND:
        raise unknown("kind of inputs", kind, _BY_KIND)
    return tuple(_BY_KIND[kind])


def attribute(
    name: str,
    model: Any,
    inputs: Inputs,
    *,
    target: str | int | Tensor | list[int] | tuple[int, ...] = "predicted",
    output: str | None = None,
    aggregation: str | None = None,
    pool: str = "sum",
    check: bool = True,
    return_delta: bool = False,
    **options: Any,
) -> Any:
    """Scores of every feature, float32 [B, F], 0 at places beyond an input's features; higher = matters more.

    What is explained: `output` "probability" (softmax), "logit", or "loss" (log p, the cross entropy with its sign
    turned) of `target`: the "predicted" class, a class index, or one a input (gold labels). Larger always supports the
    target. Default: the probability; for images, where the table says so, the logit, as in the methods' papers. Of
    models whose outputs are no softmax over classes, "sigmoid" or "value" (`faithlib.outputs`), by default as the
    model's configuration says. "top_logit" is the largest logit, whichever class has it: on an erased copy or on the
    way to a baseline it may be another class than the predicted one.

    **Texts** (a Hugging Face classifier). Gradients, attention and baselines act on the embedding output, of which
    `faithlib.backends.acts_on` says what it is.

    | method | default aggregation | own options |
    | --- | --- | --- |
    | attention | - | layer |
    | scaled_attention | - | layer, variant "paper" / "released" |
    | rollout | - | sink "keep" / "drop" (of decoders: their first token) |
    | input_x_gradient | abs_sum | - |
    | integrated_gradients | sum | baseline, keep_protected, n_steps, internal_batch_size |
    | deeplift | sum | baseline, keep_protected, rules "rescale" / "captum" |
    | saliency | l2 | - |
    | guided_backprop | l2 | variant "paper" / "released" |
    | activation | l2 | - |
    | lime | - | n_samples, surrogate, alpha, kernel_width, seed, erase, unit, perturber |
    | occlusion | - | erase, unit, perturber |
    | shapley_sampling | - | n_samples, seed, erase, unit, perturber |
    | random | - | seed, distribution |
    | uniform | - | - |

    `aggregation` over D, for methods with one score an embedding element: "l2", "mean", "sum", "abs_sum" (|sum|).
    `pool` from positions to features, after it: "sum" or "mean" over a feature's positions. Methods that erase score
    features as wholes (`unit="feature"`) and pool nothing; with `unit="wordpiece"` they erase pieces one by one, whose
    scores are pooled.

    **Images.** integrated_gradients and what erases explain any classifier of pixels, lrp those whose operations have
    rules, the others a timm VisionTransformer.

    | method | map | output | own options |
    | --- | --- | --- | --- |
    | integrated_gradients | pixels | probability | baseline, n_steps, internal_batch_size |
    | grad_cam | patches | logit | - |
    | lrp | pixels | logit, no other | - |
    | partial_lrp | patches | logit, no other | variant "paper" / "released" |
    | transformer_attribution | patches | logit, no other | start_layer |
    | conservative_lrp | patches | logit, no other | - |
    | raw_attention | patches | no effect | layer |
    | rollout | patches | no effect | fusion, start_layer |
    | transformer_mm | patches | logit | layers "all" / "last" |
    | attcat | patches | logit | queries "all" / "class" |
    | lime | features | probability | n_samples, surrogate, alpha, kernel_width, seed, erase, perturber |
    | occlusion | features | probability | erase, perturber |
    | shapley_sampling | features | probability | n_samples, seed, erase, perturber |
    | random | features | no effect | seed, distribution |
    | uniform | features | no effect | - |

    From map to features: where features and the model's patches are the same, a map of patches is the answer as it is.
    Everywhere else it is first brought to pixels, by `upsample` "bilinear" (default; corners not aligned) or "nearest".
    Maps of pixels are pooled within each feature by `pool`, "sum" (default) or "mean"; features of one pixel get the
    map itself.

    **Words** of a function from texts to probabilities: lime, occlusion, shapley_sampling, random, uniform, with the
    options that they have for images.

    **All.** `max_tokens` (methods with a forward of their own): positions a forward; the scores do not depend on it,
    nor on the other inputs in the batch, their order, or padding. What runs is a `replica` of the model in evaluation
    mode: modes, `requires_grad`, attention implementation, hooks and gradients of the model itself are not touched.
    `check`: one input also goes through the model's own call and is compared with what is computed here
    (`faithlib.selfcheck`), two rows on no account; not where a `perturber` is given, which has been checked.
    `return_delta`, of integrated_gradients: the scores, and by how much their sum misses F(x) - F(x'), [B], before
    aggregation and pooling.
    random and uniform do not look at it and accept None. Scores are on the model's device.

    Raises UnknownNameError for an unknown method, option, target, output, aggregation, pool or upsample; InputError for
    values that cannot be used, images of another size than the model's, and where a method answers NaN or infinity;
    ModelError where the model lacks what the method needs, such as the class token whose attention row most image
    methods read.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> attribute("occlusion", model, WordInputs.from_texts(["a good film"]))
    tensor([[0.0000, 0.4000, 0.0000]])
    """
    if return_delta and name != WITH_DELTA:
        raise InputError(f"return_delta: of {name} nothing is known to add up; it is for {WITH_DELTA}")
    own = unwrapped(model)
    method = checked(name, own, inputs, output, aggregation, pool, options)
    classes = target_classes(class_index(target, own), len(inputs))
    quiet, count = own, None
    if method.answers != "floor":
        quiet = replica(own) if isinstance(own, nn.Module) else own
        if check and options.get("perturber") is None:
            count = met(model, quiet, inputs, output)
    output = output or method.default_output(own, count=count)
    delta = torch.full((len(inputs),), torch.nan) if return_delta else None
    if isinstance(inputs, TextInputs):
        scores = _of_text(name, method, quiet, inputs, (output, classes), aggregation, pool, options, delta)
    elif model is None or method.answers == "floor":
        scores = method.run(inputs, **options)
    elif method.answers == "features":
        scores = _of_erased(method, quiet, inputs, classes, output, options)
    else:
        assert isinstance(inputs, ImageInputs)
        with undisturbed(quiet):
            backend = VisionBackend(quiet, inputs, own)
            scores = _from_image_chunks(name, method, backend, classes, output, pool, options, delta)
    device = next(own.parameters()).device if isinstance(own, nn.Module) else inputs.n_features.device
    scores = finite(name, scores.detach().to(device), inputs)
    return scores if delta is None else (scores, delta.to(device))


def checked(
    name: str,
    model: Any,
    inputs: Inputs,
    output: str | None,
    aggregation: str | None,
    pool: str,
    options: Collection[str],
) -> Method:
    """The method of that name for such inputs, once all that is said about it is known to be possible.

    >>> words = WordInputs.from_texts(["a good film"])
    >>> checked("random", None, words, None, None, "sum", ["sed"])
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown option of random 'sed': did you mean 'seed'? ...
    """
    method = method_of(name, inputs)
    if model is None and method.answers != "floor":
        raise InputError(f"{name} asks the model, and got None: only random and uniform go without")
    if not (model is None or isinstance(model, nn.Module) or method.answers in ("floor", "features")):
        raise ModelError(
            f"{name} looks into a torch module, and this model is a {type(model).__name__}: of a function only "
            f"{', '.join(WORD_METHODS)} know enough"
        )
    if output is not None and output not in OUTPUTS:
        raise unknown("output", output, OUTPUTS)
    if output is not None and output not in method.outputs:
        raise InputError(
            f"output {output!r}: {name} starts from the target's {' or '.join(method.outputs)}; omit output"
        )
    check_stated(output, model)
    if pool not in POOLS:
        raise unknown("pool", pool, POOLS)
    if aggregation is not None and method.aggregation is None:
        able = ", ".join(n for n, m in METHODS.items() if m.aggregation)
        raise InputError(
            f"aggregation {aggregation!r}: {name} has one score a position or feature, nothing to aggregate; "
            f"it applies to {able}{'' if isinstance(inputs, TextInputs) else ' on texts'}"
        )
    if aggregation is not None and aggregation not in AGGREGATIONS:
        raise unknown("aggregation", aggregation, AGGREGATIONS)
    for option in options:
        if option not in method.options:
            raise unknown(f"option of {name}", option, (*method.options, "target", "output", "aggregation", "pool"))
    return method


def method_of(name: str, inputs: Inputs) -> Method:
    """The method of that name for such inputs; UnknownNameError, or ModelError where it needs more than a function.

    >>> method_of("lime", WordInputs.from_texts(["a good film"])).answers
    'features'
    """
    if type(inputs) not in KIND_OF:
        raise InputError(f"inputs are {type(inputs).__name__}: expected TextInputs, ImageInputs or WordInputs")
    own = _BY_KIND[KIND_OF[type(inputs)]]
    if name in own:
        return own[name]
    if isinstance(inputs, WordInputs) and name in METHODS:
        raise ModelError(
            f"{name} looks into a model that reads tokens: of a function of texts only {', '.join(own)} know enough"
        )
    if other := [kind for kind in ("text", "image") if name in _BY_KIND[kind]]:
        raise UnknownNameError(
            f"method {name!r} explains {other[0]}s, not {type(inputs).__name__}: known for these: "
            f"{', '.join(sorted(own))}"
        )
    raise unknown("method", name, own)


def _of_text(
    name: str,
    method: Method,
    model: nn.Module | None,
    inputs: TextInputs,
    number: Number,
    aggregation: str | None,
    pool: str,
    options: dict[str, Any],
    delta: Tensor | None,
) -> Tensor:
    max_tokens, perturber = (options.pop(shared, None) for shared in ("max_tokens", "perturber"))
    aggregation = aggregation or method.aggregation
    number_of = None if method.blind else 0
    job = Job(name, method.run, method.answers, number_of, options, [aggregation], wants_delta=delta is not None)
    if perturber is not None:
        check_given(perturber, job.erased(inputs), options.get("erase"))
    run_jobs([job], model, inputs, [number], perturber=perturber, max_tokens=max_tokens, costs=Costs(model))
    if delta is not None:
        delta[:] = job.delta
    return job.scores(aggregation, inputs, pool)


def _of_erased(
    method: Method, model: Any, inputs: Inputs, classes: Tensor | None, output: str, options: dict[str, Any]
) -> Tensor:
    erase, perturber = options.pop("erase", None), options.pop("perturber", None)
    if perturber is None:
        followed = output if output in FOLLOWED else None
        perturber = Perturber(model, inputs, erase=erase, output=followed, check=False)
    check_given(perturber, inputs, erase)
    return method.run(Answers(perturber, classes, output), **options)


def _from_image_chunks(
    name: str,
    method: Method,
    backend: VisionBackend,
    classes: Tensor | None,
    output: str,
    pool: str,
    options: dict[str, Any],
    delta: Tensor | None,
) -> Tensor:
    upsample = options.pop("upsample", "bilinear")
    if upsample not in UPSAMPLINGS:
        raise unknown("upsample", upsample, UPSAMPLINGS)
    max_tokens = most_tokens(backend.device, options.pop("max_tokens", None), _MOST_IMAGE_TOKENS)
    feature_mask = backend.inputs.feature_mask
    patches = backend.patch_features() if method.answers == "patches" and backend.has_tokens else None
    one_to_one = patches is not None and patches.sort().values.tolist() == list(range(feature_mask.shape[1]))
    scores = torch.zeros(feature_mask.shape, device=backend.device)
    for chunk in image_chunks(backend, classes, output, max_tokens):
        chunk.wants_delta = delta is not None
        with looking_inside(name, backend.model, gradients=not method.blind):
            found = method.run(chunk, **options).detach()
        if not method.blind and name not in _CLAMPED:
            note_underflow(name, found, torch.ones_like(found, dtype=torch.bool), backend.model)
        found = found.float()
        if delta is not None and chunk.delta is not None:
            delta[chunk.rows.cpu()] = chunk.delta.float().cpu()
        if method.answers == "patches" and one_to_one:
            scores[chunk.rows[:, None], patches] = found
            continue
        pixels = on_pixels(found, backend, upsample) if method.answers == "patches" else found
        feature_of = backend.inputs.maps(chunk.rows).flatten(1)
        scores[chunk.rows] = pooled(pixels.flatten(1), feature_of, feature_mask[chunk.rows], pool)
    return scores


def finite(name: str, scores: Tensor, inputs: Inputs) -> Tensor:
    """The scores, 0 at places beyond an input's features; InputError where a method answered NaN or infinity.

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
            what = f"{' '.join(inputs.tokens[b][:8]) if inputs.tokens else 'no token strings'} ..."
        raise NotFiniteError(
            f"{name} gave NaN or infinite scores for {int(bad.sum())} of {len(bad)} inputs, first input {b} "
            f"({what}): check the model's weights and outputs on it, and leave it out or use another method"
        )
    return torch.where(mask, scores, 0)
