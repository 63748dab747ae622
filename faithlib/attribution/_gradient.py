"""Attributions from gradients of the explained number F with respect to the embedding output e.

Each function answers [R, L, D], one number an embedding element; the registry aggregates over D (option `aggregation`)
and pools positions to features. A row's gradient is taken from that row's own output, so nothing leaks between inputs.

Shape letters: R rows of one chunk, L tokens, D embedding size.
"""

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from faithlib._scheduler import cut
from faithlib.attribution._relevance import name_of
from faithlib.attribution._target import Chunk
from faithlib.errors import ModelError, check_counts, check_known, require

VARIANTS = ("paper", "released")

# What plays the part of ReLU in today's encoders.
_RECTIFIERS = ("relu", "gelu", "silu", "leaky_relu", "elu", "mish")


def saliency(chunk: Chunk) -> Tensor:
    """How fast the output changes with each embedding element, whatever the direction: `|dF/de|`.

    Simonyan et al. 2014.

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained, and what of them.

    Returns
    -------
    Tensor
        [R, L, D], at least 0.

    Notes
    -----
    Cost: one forward and one backward row per input.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> saliency(SimpleNamespace(gradient=lambda: torch.tensor([[[-2.0, 1.0]]])))
    tensor([[[2., 1.]]])
    """
    return chunk.gradient().abs()


def input_x_gradient(chunk: Chunk) -> Tensor:
    """Embedding times gradient, element by element: e * dF/de (Kindermans et al. 2016; Shrikumar et al. 2017).

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained, and what of them.

    Returns
    -------
    Tensor
        [R, L, D], signed.

    Notes
    -----
    The default aggregation, "abs_sum", is the `|sum_d e_d dF/de_d|` of Zhao & Aletras 2023 (never negative); "sum"
    keeps the sign, "l2" and "mean" are those of Zaman & Belinkov 2022. Cost: one forward and one backward row per
    input.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> given = {"embeddings": lambda: torch.tensor([[[3.0, 5.0]]]), "gradient": lambda: torch.tensor([[[-2.0, 1.0]]])}
    >>> input_x_gradient(SimpleNamespace(**given))
    tensor([[[-6.,  5.]]])
    """
    return chunk.embeddings().detach() * chunk.gradient()


def activation(chunk: Chunk) -> Tensor:
    """The embedding e itself (layer activation, Karpathy et al. 2015), whatever the model does with it.

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained, and what of them.

    Returns
    -------
    Tensor
        What the embedding layer puts out, [R, L, D].

    Notes
    -----
    A floor: it ignores the prediction, and target and output have no effect on it. With "l2" it is the norm of the
    embedding, which after LayerNorm differs little between tokens. On the movie MiniLM it differs by 17 % of its mean,
    in much the order of the bare word vectors' norms (Spearman 0.90). Cost: the embedding layer alone.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> activation(SimpleNamespace(embeddings=lambda: torch.tensor([[[3.0, 5.0]]])))
    tensor([[[3., 5.]]])
    """
    return chunk.embeddings().detach()


def guided_backprop(chunk: Chunk, *, variant: str = "paper") -> Tensor:
    """Gradient dF/de where every rectifier passes back positive gradients only (Springenberg et al. 2015).

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained, and what of them.
    variant : {"paper", "released"}, default "paper"
        "paper": the rule holds for ReLU and for what takes its part in these models (GELU, SiLU, ...): max(0, gradient)
        at the rectifier's input. "released": captum's GuidedBackprop, which knows `nn.ReLU` modules only; on a GELU
        model no rule is applied and the result is the plain gradient (PAPERS.md, E3).

    Returns
    -------
    Tensor
        [R, L, D], signed.

    Raises
    ------
    ModelError
        Where the model calls no rectifier, for then nothing would be guided.
    UnknownNameError
        For another variant.

    Notes
    -----
    Cost: one forward and one backward row per input.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> attribute("guided_backprop", model, texts, aggregation="sum").shape
    torch.Size([1, 2])
    """
    check_known("variant of guided_backprop", variant, VARIANTS)
    if variant == "released":
        # captum's rule has nothing to act on without such modules, and the plain gradient may be there already.
        met = any(isinstance(module, nn.ReLU) for module in chunk.backend.model.modules())
        return by_captum("GuidedBackprop", chunk) if met else chunk.gradient()
    return chunk.gradient(_Guide)


def integrated_gradients(
    chunk: Chunk, *, baseline: str = "zero", keep_protected: bool = True, n_steps: int = 50
) -> Tensor:
    """Integrated gradients: (e - e') * integral of dF/de along the straight line from e' to e.

    Sundararajan et al. 2017, Eq. 1.

    Parameters
    ----------
    chunk : Chunk
        The inputs that are explained, and what of them.
    baseline : {"zero", "pad", "mask"}, default "zero"
        e': the zero embedding, or the embedding of [PAD] or [MASK] at each position.
    keep_protected : bool, default True
        Whether protected positions stay as they are, so that e' is the erased input of `Perturber.empty` and the scores
        of the features add up to F(e) - F(e'). False moves [CLS], [SEP] and query too, and their part of the sum is
        lost.
    n_steps : int, default 50
        Points of Gauss-Legendre, at least 1, as in captum's IntegratedGradients.

    Returns
    -------
    Tensor
        [R, L, D], signed.

    Raises
    ------
    InputError
        For fewer than 1 step, and for "mask" where the tokenizer has no mask token.
    UnknownNameError
        For another baseline.

    Notes
    -----
    The default of captum is 50 steps, and not always enough: on the movie MiniLM the sum misses F(e) - F(e') by up to
    0.13 of probability. `return_delta=True` says by how much, for two forward rows more. Cost: `n_steps` forward and
    backward rows per input, one forward row for the predicted class.

    Examples
    --------
    >>> from faithlib.attribution import attribute
    >>> from faithlib.inputs import TextInputs
    >>> from faithlib.perturb import Perturber
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> scores, asked = attribute("integrated_gradients", model, texts), Perturber(model, texts)
    >>> bool((scores.sum(dim=1) - (asked.full - asked.empty)).abs() < 1e-2)  # they add up
    True
    """
    return along_path(chunk, chunk.baseline(baseline, keep_protected), chunk.embeddings().detach(), n_steps)


def along_path(chunk: Any, start: Tensor, end: Tensor, n_steps: int) -> Tensor:
    """Integral of the gradient along the straight line between two points, times their difference.

    (end - start) * integral of dF; the chunk's `delta` is filled where it is wanted.

    Parameters
    ----------
    chunk
        The inputs that are explained, and what of them.
    start, end : Tensor
        Embeddings [R, L, D] or pixels [R, C, H, W].
    n_steps : int
        Points of Gauss-Legendre, at least 1.

    Returns
    -------
    Tensor
        In the shape of `end`, signed.

    Raises
    ------
    InputError
        For fewer than 1 step.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> one, chunk = torch.tensor([0]), SimpleNamespace(launch=0, max_tokens=9, wants_delta=False)
    >>> chunk.backend, chunk.rows = SimpleNamespace(lengths=torch.tensor([1])), one
    >>> chunk.settled_target, chunk.value_of = lambda: one, lambda at, rows, target: at.square().sum(dim=(1, 2))
    >>> along_path(chunk, torch.zeros(1, 1, 1), torch.tensor([[[3.0]]]), 2)
    tensor([[[9.]]])
    """
    check_counts(n_steps=n_steps)
    points, weights = (torch.from_numpy(values) for values in np.polynomial.legendre.leggauss(n_steps))
    path, target = end - start, chunk.settled_target()
    lengths = chunk.backend.lengths[chunk.rows].cpu().numpy().repeat(n_steps)
    # Every step of every input is a row, whatever the others of its forward are.
    place = torch.arange(len(end), device=end.device).repeat_interleave(n_steps)
    share, weight = (
        (values / 2).to(end).repeat(len(end)).view(-1, *[1] * path[0].ndim) for values in (1 + points, weights)
    )
    mean = torch.zeros_like(end)
    begin = 0
    for size in cut(lengths, launch=chunk.launch, most_tokens=chunk.max_tokens):
        some, there = slice(begin, begin + size), slice(int(lengths[begin]) if end.ndim == 3 else None)
        of = place[some]
        at = (start[of, there] + share[some] * path[of, there]).requires_grad_()
        (gradient,) = torch.autograd.grad(chunk.value_of(at, chunk.rows[of], target[of]).sum(), at)
        mean[:, there].index_add_(0, of, weight[some] * gradient)
        begin += size
    scores = mean * path
    if chunk.wants_delta:
        with torch.no_grad():
            ends = [chunk.value_of(at, chunk.rows, target) for at in (end, start)]
        chunk.delta = scores.flatten(1).sum(dim=1) - (ends[0] - ends[1])
    return scores


class ExplainedModule(nn.Module):
    """A chunk's function as the module that captum wants, with the model's own modules below it to hook.

    >>> from types import SimpleNamespace
    >>> backend = SimpleNamespace(model=nn.Identity())
    >>> chunk = SimpleNamespace(backend=backend, value_of=lambda embeddings, rows, target: embeddings.sum(dim=(1, 2)))
    >>> ExplainedModule(chunk)(torch.ones(1, 2, 3), torch.tensor([0]), torch.tensor([1]))
    tensor([6.])
    """

    def __init__(self, chunk: Chunk) -> None:
        super().__init__()
        self.model = chunk.backend.model
        self._value_of = chunk.value_of

    def forward(self, embeddings: Tensor, rows: Tensor, target: Tensor) -> Tensor:
        return self._value_of(embeddings, rows, target)


def by_captum(name: str, chunk: Chunk, **given: Any) -> Tensor:
    """What a method of captum says of a chunk's embeddings.

    Parameters
    ----------
    name : str
        The class of `captum.attr`.
    chunk : Chunk
        The inputs that are explained, and what of them.
    given
        Other arguments of its `attribute`.

    Returns
    -------
    Tensor
        [R, L, D].

    Raises
    ------
    MissingPackageError
        Where captum is not installed.

    Examples
    --------
    >>> from faithlib.attribution._target import Chunk
    >>> from faithlib.backends import TextBackend
    >>> from faithlib.inputs import TextInputs
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> chunk = Chunk(TextBackend(model, texts), torch.tensor([0]), 4, "logit", 1024)
    >>> torch.allclose(by_captum("Saliency", chunk), chunk.gradient().abs())
    True
    """
    captum, target = require("captum.attr", extra="captum"), chunk.settled_target()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Setting (forward, )?backward hooks")
        method = getattr(captum, name)(ExplainedModule(chunk))
        attributions: Tensor = method.attribute(
            chunk.embeddings(), additional_forward_args=(chunk.rows, target), **given
        )
        return attributions


class _Guide(TorchFunctionMode):
    """Clamps the gradient at the input of each rectifier called inside, functional or module; ModelError where there
    was none."""

    def __init__(self) -> None:
        super().__init__()
        self.met = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if name_of(func) in _RECTIFIERS and args and args[0].requires_grad:
            self.met += 1
            # A view of its own: the gradient that reaches the same tensor by other ways (a residual) is left alone.
            guided = args[0].view_as(args[0])
            guided.register_hook(lambda gradient: gradient.clamp(min=0))
            args = (guided, *args[1:])
        return func(*args, **(kwargs or {}))

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        if error[0] is None and not self.met:
            raise ModelError(
                "guided_backprop: the model calls none of the rectifiers that the rule is for (relu, gelu, silu, ...); "
                "use saliency"
            )
