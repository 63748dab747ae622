"""Relevance propagation through a vision transformer, by rules on the operations that the model calls.

Layer-wise relevance propagation starts from one logit and hands relevance R from an operation's output to its inputs,
backwards through the network. A forward run inside `lrp_rules()` builds an autograd graph whose *backward carries
relevance instead of gradients*, by the rules of Chefer, Gur & Wolf, CVPR 2021 (Section 3.1):

==========================================================================  ============================================
operation                                                                   rule
==========================================================================  ============================================
linear, convolution; mean or sum over an axis                               Eq. 5, in proportion to positive
                                                                            contributions: `_positive`
sum or matrix product of two tensors                                        Eq. 7 with the normalisation of Eq. 8-10:
                                                                            `_pair`
GELU and its like, softmax, LayerNorm; a factor or addend that is constant  passes as it is
reshaping, indexing, concatenation, dropout in evaluation mode              goes where the values came from
anything else (product of two activations, maximum, fused attention, ...)   ModelError
==========================================================================  ============================================

`conservative_rules()` is the propagation of Ali et al., ICML 2022: plain gradients with two factors held fixed.

Two conditions. The first axis of whatever is added or multiplied counts the rows of the batch, which never mix; so it
is in timm's models. And what PyTorch hides from function modes (TorchScript, a model's own autograd.Function,
activation checkpointing) is hidden from these.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.overrides import TorchFunctionMode

from faithlib.errors import ModelError


def lrp_rules() -> TorchFunctionMode:
    """A context in which a forward builds a graph that carries relevance (Chefer et al. 2021, Eq. 2-10).

    Run the model inside, frozen and in evaluation mode (`backends.replica`), attention written out (`plain_attention`).
    `torch.autograd.grad(logits.gather(1, target[:, None]).sum(), tensors)`, outside, then answers relevances in the
    tensors' shapes, signed, for R = 1 at each row's target; `grad_outputs` sets another start.

    Returns
    -------
    TorchFunctionMode
        The context. The forward's values are the model's own.

    Raises
    ------
    ModelError
        Inside, for an operation without a rule, naming it.

    Notes
    -----
    Of the start, the tokens that enter the first block get all but two parts. One is what the sums hand to constants,
    such as a positional embedding (a bias is no contribution and takes nothing). The other is R at outputs of linear
    maps without one positive contribution, where the denominator is 0 and so is what is handed on.

    Products of two activations, and sums of two branches, are divided by what they add up to. Where that nearly
    cancels, rounding is magnified, and again in the layer below: after the blocks of a vision transformer, pixels
    changed by a millionth or another processor's instructions may give another map (`faithlib.attribution._vit.lrp`).

    Examples
    --------
    >>> x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    >>> with lrp_rules():
    ...     y = nn.functional.linear(x, torch.tensor([[3.0, -1.0]]))  # only the first contributes positively
    >>> torch.autograd.grad(y.sum(), x)
    (tensor([[1., 0.]]),)
    """
    return _Rules(_relevance)


def conservative_rules() -> TorchFunctionMode:
    """A context in which gradients follow Ali et al. 2022 (Section 4); embedding * gradient is the attribution.

    Run the model alone inside: every softmax is detached.

    Returns
    -------
    TorchFunctionMode
        The context.

    Raises
    ------
    ModelError
        Inside, for fused attention, and for norms that the LN-rule does not cover.

    Notes
    -----
    AH-rule: attention weights are constants, y_j = sum_i x_i [p_ij].detach(). LN-rule: so is LayerNorm's normaliser, y
    = (x - E[x]) / [sqrt(eps + Var[x])].detach() * gamma + beta. All else keeps its gradient. sum x * dF/dx = F where
    the rest is linear without biases (GELU is not).

    Examples
    --------
    >>> x = torch.tensor([[0.0, 0.0]], requires_grad=True)
    >>> with conservative_rules():
    ...     y = (x.softmax(dim=1) * (x + 1)).sum()
    >>> torch.autograd.grad(y, x)  # the weights, as if they were constants
    (tensor([[0.5000, 0.5000]]),)
    """
    return _Rules(_conservative)


@contextmanager
def plain_attention(model: nn.Module) -> Iterator[None]:
    """timm's attention in plain operations inside; outside, after an error too, each module's switch as it was.

    Parameters
    ----------
    model : nn.Module
        Whose attention is written out.

    Returns
    -------
    context manager
        Of None.

    Examples
    --------
    >>> model = nn.Identity()
    >>> model.fused_attn = True
    >>> with plain_attention(model):
    ...     model.fused_attn
    False
    >>> model.fused_attn
    True
    """
    switches: list[tuple[Any, Any]] = [(m, m.fused_attn) for m in model.modules() if hasattr(m, "fused_attn")]
    try:
        for module, _ in switches:
            module.fused_attn = False
        yield
    finally:
        for module, fused in switches:
            module.fused_attn = fused


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    """a / b, and 0 where b is 0 (or subnormal: the quotient would overflow); NaN stays NaN."""
    none = b.abs() <= torch.finfo(b.dtype).tiny
    return torch.where(none, 0, a / torch.where(none, 1, b))


def _share(f: Callable[..., Tensor], relevance: Tensor, *operands: Tensor) -> list[Tensor]:
    """Eq. 2 for each operand x of L = f(...): R_j = sum_i x_j dL_i/dx_j R_i / L_i."""
    leaves = [x.detach().requires_grad_() for x in operands]
    with torch.enable_grad():
        out = f(*leaves)
    gradients = torch.autograd.grad(out, leaves, _quotient(relevance, out.detach()))
    return [x.detach() * gradient for x, gradient in zip(leaves, gradients, strict=True)]


def _positive(f: Callable[..., Tensor], relevance: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Eq. 5, for f linear in x and in its weights: R_j = sum_i (x_j w_ji)^+ / sum_j' (x_j' w_j'i)^+ R_i.

    A product is positive where both factors are, or where neither is: hence the two terms.
    """
    above, below = weight.clamp(min=0), weight.clamp(max=0)
    parts = _share(lambda p, n: f(p, above) + f(n, below), relevance, x.clamp(min=0), x.clamp(max=0))
    return parts[0] + parts[1]


def _pair(f: Callable[..., Tensor], relevance: Tensor, u: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    """Eq. 7 for both operands of f(u, v), and Eq. 8-10: each share R_u becomes R_u |S_u| / (|S_u| + |S_v|) T / S_u.

    S_u, S_v are a row's sums of the shares, T is what came in. Afterwards the sums are |S_u| : |S_v| and add up to T; a
    product would double T, and a sum that nearly cancels would blow its two shares up. Without the denominator S_u,
    which may be 0: R_u sign(S_u) T / (|S_u| + |S_v|).
    """
    shares = _share(f, relevance, u, v)
    sums = [_row_sums(share) for share in shares]
    unit = _quotient(_row_sums(relevance), sums[0].abs() + sums[1].abs())
    return tuple(share * s.sign() * unit for share, s in zip(shares, sums, strict=True))


def _row_sums(x: Tensor) -> Tensor:
    return x.sum(tuple(range(1, x.ndim)), keepdim=True) if x.ndim > 1 else x


class Ruled(torch.autograd.Function):
    """`compute(*sources)`, with `rule(R, *sources)` instead of its gradient; without a rule R passes.

    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> torch.autograd.grad(Ruled.apply(torch.square, lambda relevance, x: (2 * relevance,), x), x)
    (tensor([2.]),)
    """

    @staticmethod
    def forward(ctx: Any, compute: Callable[..., Tensor], rule: Callable[..., Any] | None, *sources: Tensor) -> Tensor:
        ctx.rule = rule
        if rule is not None:
            # Saved this way, a source that is changed in place before the backward raises there.
            ctx.save_for_backward(*sources)
        return compute(*sources)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, relevance: Tensor) -> Any:
        return None, None, *((relevance,) if ctx.rule is None else ctx.rule(relevance, *ctx.saved_tensors))


def _pass(func: Any, input: Tensor, *args: Any, inplace: bool = False, **kwargs: Any) -> Tensor:
    if inplace:
        return input.copy_(_pass(func, input.clone(), *args, **kwargs))
    output: Tensor = Ruled.apply(lambda x: func(x, *args, **kwargs), None, input)
    return output


def _weigh(func: Any, input: Tensor, weight: Tensor, bias: Tensor | None = None, *args: Any, **kwargs: Any) -> Tensor:
    if _carries(weight):
        raise _no_rule(func, "with weights that depend on the input")
    fixed = weight.detach()

    def rule(relevance: Tensor, x: Tensor) -> tuple[Tensor]:
        return (_positive(lambda x, w: func(x, w, None, *args, **kwargs), relevance, x, fixed),)

    output: Tensor = Ruled.apply(lambda x: func(x, fixed, bias, *args, **kwargs), rule, input)
    return output


def _pool(func: Any, input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    if dim is None:
        dims: tuple[int, ...] = ()
    elif isinstance(dim, int):
        dims = (dim,)
    else:
        dims = tuple(dim)
    if not dims or any(d % input.ndim == 0 for d in dims):
        raise _no_rule(func, "over the rows: add rows up outside of the context")

    def f(x: Tensor, weight: Tensor) -> Tensor:
        output: Tensor = func(x * weight, dims, keepdim=keepdim)
        return output

    # A linear map with equal weights.
    weight = input.new_ones(())
    output: Tensor = Ruled.apply(
        lambda x: f(x, weight), lambda relevance, x: (_positive(f, relevance, x, weight),), input
    )
    return output


def _scale(func: Any, input: Any, other: Any) -> Tensor:
    """A product or quotient with a constant: each output has one source, which takes all."""
    if _carries(other) and (_carries(input) or name_of(func) == "div"):
        raise _no_rule(func, "by what depends on the input")
    if _carries(other):
        input, other = other, input
    output: Tensor = Ruled.apply(
        lambda x: func(x, other), lambda relevance, x: (relevance.sum_to_size(x.shape),), input
    )
    return output


def _add(func: Any, input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    def f(u: Tensor, v: Any) -> Tensor:
        return torch.add(u, v, alpha=alpha)

    output: Tensor
    if not isinstance(other, Tensor):
        output = Ruled.apply(lambda u: f(u, other), None, input)
        return output
    # Expanded first: each row normalises by its own copy of an operand that all rows share.
    output = Ruled.apply(f, lambda relevance, u, v: _pair(f, relevance, u, v), *torch.broadcast_tensors(input, other))
    return output


def _matmul(func: Any, input: Tensor, other: Tensor) -> Tensor:
    if not (_carries(input) and _carries(other)) or input.ndim < 3 or input.shape[:-2] != other.shape[:-2]:
        raise _no_rule(func, f"of {list(input.shape)} and {list(other.shape)}: expected activations with equal rows")
    output: Tensor = Ruled.apply(
        torch.matmul, lambda relevance, u, v: _pair(torch.matmul, relevance, u, v), input, other
    )
    return output


def _dropout(func: Any, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if training and p > 0:
        raise _no_rule(func, "in training mode: call model.eval()")
    return input


# By name, so that torch.add, Tensor.add, + and, with an underscore, += are one.
_PASSED = "gelu relu silu elu leaky_relu mish tanh sigmoid softplus softmax layer_norm rms_norm"
_RULES: dict[str, Callable[..., Tensor]] = {
    **dict.fromkeys(_PASSED.split(), _pass),
    **dict.fromkeys(("linear", "conv2d"), _weigh),
    **dict.fromkeys(("mean", "sum"), _pool),
    **dict.fromkeys(("mul", "div"), _scale),
    **dict.fromkeys(("matmul", "bmm"), _matmul),
    "add": _add,
    "dropout": _dropout,
}
_MOVED = set(
    "view view_as reshape permute transpose swapaxes t T mT movedim flatten unflatten squeeze unsqueeze expand repeat "
    "expand_as broadcast_to contiguous clone to float double requires_grad_ cat concat stack split chunk tensor_split "
    "unbind select narrow index_select gather take_along_dim __getitem__ __setitem__ copy_ flip roll".split()
)
_WHOLE = {"scaled_dot_product_attention", "multi_head_attention_forward"}


class _Rules(TorchFunctionMode):
    """Hands each operation to `answer(func, name, args, kwargs)`."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        super().__init__()
        self.answer = answer
        self.refused: ModelError | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            if name_of(func) in _WHOLE:
                raise _no_rule(func, "whose parts it cannot reach: run the model inside plain_attention(model)")
            return self.answer(func, name_of(func), args, kwargs or {})
        except ModelError as error:
            self.refused = error
            raise

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
        refused, self.refused = self.refused, None
        # Operators (*, -, @) make of every TypeError, which a ModelError is, one about their operands.
        if refused is not None and (error is None or type(error) is TypeError):
            raise refused from None


def _relevance(func: Any, name: str, args: Any, kwargs: Any) -> Any:
    if name in _MOVED or not torch.is_grad_enabled() or not _carries(*args, *kwargs.values()):
        return func(*args, **kwargs)
    if name in _RULES:
        return _RULES[name](func, *args, **kwargs)
    if name in ("add_", "mul_", "div_"):
        # On a copy, and the answer moved in: what else looks at the tensor sees it too.
        out = _RULES[name[:-1]](getattr(torch, name[:-1]), args[0].clone(), *args[1:], **kwargs)
        return args[0].copy_(out)
    out = func(*args, **kwargs)
    if _carries(out):
        raise _no_rule(func)
    return out


def _conservative(func: Any, name: str, args: Any, kwargs: Any) -> Any:
    if name in ("rms_norm", "group_norm", "instance_norm"):
        raise _no_rule(func, "(the LN-rule is for layer_norm)")
    if name == "layer_norm":
        return _layer_norm(*args, **kwargs)
    out = func(*args, **kwargs)
    return out.detach() if name == "softmax" else out


def _layer_norm(x: Tensor, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any) -> Tensor:
    dims = tuple(range(-len(shape), 0))
    centred = x - x.mean(dims, keepdim=True)
    out = centred * (centred.square().mean(dims, keepdim=True) + eps).rsqrt().detach()
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def name_of(func: Any) -> str:
    """The name of an operation, whichever of its kinds is called.

    Parameters
    ----------
    func
        A function or a method of torch.

    Returns
    -------
    str
        One name for all of its kinds.

    Examples
    --------
    >>> name_of(torch.relu), name_of(torch.Tensor.relu)
    ('relu', 'relu')
    """
    # A property such as x.T is called through the __get__ of its descriptor.
    name: str = getattr(func, "__name__", repr(func))
    return func.__self__.__name__ if name == "__get__" else name


def _carries(*values: Any) -> bool:
    """Whether a tensor among the values, or in a list of them, depends on the input (weights do not)."""
    flat = (x for value in values for x in (value if isinstance(value, (list, tuple)) else (value,)))
    return any(isinstance(x, Tensor) and x.requires_grad and not isinstance(x, nn.Parameter) for x in flat)


def _no_rule(func: Any, detail: str = "that this model calls") -> ModelError:
    return ModelError(f"relevance propagation has no rule for {name_of(func)!r} {detail}")
