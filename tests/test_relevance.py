"""The rules of relevance propagation against loops over their equations, and what a whole model conserves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import timm.layers
import torch
from refusals import refused
from timm.models.deit import VisionTransformerDistilled
from torch import Tensor, nn
from torch.nn import functional
from toy_models import image_inputs, vit

from faithlib.attribution import _relevance as relevance
from faithlib.attribution._relevance import conservative_rules, lrp_rules, plain_attention
from faithlib.backends import replica
from faithlib.errors import ModelError


def propagate(model: Any, pixels: Tensor, rules: Callable[[], Any]) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens that enter the first block [B, L, D], what is handed to them, and the logits [B, C]; target: the last."""
    with plain_attention(model := replica(model)):
        tokens = model.norm_pre(model._pos_embed(model.patch_embed(pixels))).detach().requires_grad_()
        with rules():
            logits = model.forward_head(model.norm(model.blocks(tokens)))
        (handed,) = torch.autograd.grad(logits[:, -1].sum(), tokens)
    return tokens.detach(), handed, logits.detach()


def handed(operation: Callable[..., Tensor], start: Tensor, *operands: Tensor) -> tuple[Tensor, ...]:
    """The relevance of operands when an operation's output has the relevance `start`."""
    leaves = [x.detach().clone().requires_grad_() for x in operands]
    with lrp_rules():
        out = operation(*leaves)
    assert torch.equal(out, operation(*[x.detach().clone() for x in operands]))
    return torch.autograd.grad(out, leaves, start)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def positive_loop(x: Tensor, weight: Tensor, start: Tensor) -> Tensor:
    """Eq. 5 of Chefer et al. 2021 for x [J], weight [I, J], start [I]."""
    out = torch.zeros_like(x)
    for i in range(len(start)):
        contributions = [max(float(x[j] * weight[i, j]), 0.0) for j in range(len(x))]
        for j, contribution in enumerate(contributions):
            if sum(contributions) > 0:
                out[j] += contribution / sum(contributions) * start[i]
    return out


def normalised(shares: list[Tensor], total: Tensor) -> list[Tensor]:
    """Eq. 8-10 of Chefer et al. 2021 as they are written, for one row."""
    sums = [share.sum() for share in shares]
    both = sums[0].abs() + sums[1].abs()
    return [share * (s.abs() / both) * (total / s) for share, s in zip(shares, sums, strict=True)]


def test_linear_convolution_and_pooling_are_the_loop_over_positive_contributions() -> None:
    x, weight, bias, start = numbers(2, 3, 5), numbers(4, 5, seed=1), numbers(4, seed=2), numbers(2, 3, 4, seed=3)
    x[0, 0], weight[1] = numbers(5).abs(), -numbers(5, seed=4).abs()
    (got,) = handed(lambda x: functional.linear(x, weight, bias), start, x)
    for b, t in itertools.product(range(2), range(3)):
        assert torch.allclose(got[b, t], positive_loop(x[b, t], weight, start[b, t]), atol=1e-12)
    # Token 0, 0 has no positive contribution to output 1: what came in there is dropped, exactly, and all else kept.
    any_positive = (x[:, :, None] * weight > 0).any(dim=-1)
    assert any_positive[0, 0].tolist() == [True, False, True, True]
    assert torch.allclose(got.sum(-1), (start * any_positive).sum(-1))
    assert handed(lambda x: functional.linear(x, -weight.abs()), start, x.abs())[0].eq(0).all()
    # A convolution on each patch.
    x, weight, start = numbers(2, 3, 4, 4), numbers(5, 3, 2, 2, seed=1), numbers(2, 5, 2, 2, seed=3)
    (got,) = handed(lambda x: functional.conv2d(x, weight, numbers(5), stride=2), start, x)
    for b, i, j in itertools.product(range(2), range(2), range(2)):
        patch = x[b, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
        expected = positive_loop(patch.flatten(), weight.flatten(1), start[b, :, i, j]).view_as(patch)
        assert torch.allclose(got[b, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2], expected, atol=1e-12)
    # Means and sums with equal weights.
    x, start = numbers(2, 4, 3), numbers(2, 3, seed=1)
    x[1, :, 2] = -1
    for pool in (lambda x: x.mean(dim=1), lambda x: torch.mean(x, -2), lambda x: torch.sum(x, (1,))):
        (got,) = handed(pool, start, x)
        for b, d in itertools.product(range(2), range(3)):
            assert torch.allclose(got[b, :, d], positive_loop(x[b, :, d], torch.ones(1, 4), start[b, d : d + 1]))


def in_place_add(u: Tensor, v: Tensor) -> Tensor:
    u = u * 1
    u += v
    return u


@pytest.mark.parametrize("add", [torch.add, in_place_add, lambda u, v: torch.add(u, v / 3, alpha=3)])
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 3, 4), (4,)])
def test_sum_is_the_equations_row_by_row(add: Callable[[Tensor, Tensor], Tensor], shape: tuple[int, ...]) -> None:
    u, v, start = numbers(2, 3, 4), numbers(*shape, seed=1), numbers(2, 3, 4, seed=2)
    got = handed(add, start, u, v)
    expected_u, expected_v = torch.zeros_like(u), torch.zeros(2, 3, 4, dtype=torch.float64)
    for b in range(2):
        own = v.expand(2, 3, 4)[b]
        shares = [start[b] * u[b] / (u[b] + own), start[b] * own / (u[b] + own)]
        expected_u[b], expected_v[b] = normalised(shares, start[b].sum())
    assert torch.allclose(got[0], expected_u)
    assert torch.allclose(got[1], expected_v.sum_to_size(shape))
    assert torch.allclose(expected_u.sum((1, 2)) + expected_v.sum((1, 2)), start.sum((1, 2)))


@pytest.mark.parametrize("multiply", [torch.matmul, lambda u, v: u.__matmul__(v)])
def test_product_is_the_equations_row_by_row(multiply: Callable[[Tensor, Tensor], Tensor]) -> None:
    u, v, start = numbers(2, 2, 3, 4), numbers(2, 2, 4, 5, seed=1), numbers(2, 2, 3, 5, seed=2)
    got = handed(multiply, start, u, v)
    for b in range(2):
        shares = [torch.zeros_like(u[b]), torch.zeros_like(v[b])]
        for h, i, k, j in itertools.product(range(2), range(3), range(5), range(4)):
            part = u[b, h, i, j] * v[b, h, j, k] / (u[b, h, i] @ v[b, h, :, k]) * start[b, h, i, k]
            shares[0][h, i, j] += part
            shares[1][h, j, k] += part
        for mine, expected in zip(got, normalised(shares, start[b].sum()), strict=True):
            assert torch.allclose(mine[b], expected)
            assert torch.allclose(mine[b].sum(), start[b].sum() / 2)
    three = handed(torch.bmm, start[:, 0], u[:, 0], v[:, 0])
    assert all(torch.allclose(x.sum((1, 2)), start[:, 0].sum((1, 2)) / 2) for x in three)


@pytest.mark.parametrize(
    "operation",
    [
        nn.GELU(approximate="tanh"), nn.ReLU(), torch.Tensor.relu, nn.SiLU(), nn.Dropout(0.5).eval(),
        lambda x: functional.softmax(x, dim=-1),
        nn.LayerNorm(4).double(),
        lambda x: nn.ReLU(inplace=True)(x.clone()),
        lambda x: 2 * x / 3 + 1,
        lambda x: nn.Parameter(torch.ones(4, dtype=torch.float64)) * x,
        timm.layers.RmsNorm(4).double(),
        lambda x: timm.layers.LayerScale(4, inplace=True).double()(x.clone()),
        lambda x: x.transpose(0, 1).reshape(3, 2, 2, 2).permute(1, 0, 2, 3).flatten(2).contiguous().view(2, 3, 4),
        lambda x: torch.cat([x[:, :1], x[:, 1:]], dim=1),
        lambda x: torch.stack([x.mT.select(2, i) for i in range(3)], dim=1),
    ],
)  # fmt: skip
def test_what_passes(operation: Callable[[Tensor], Tensor]) -> None:
    start = numbers(2, 3, 4, seed=1)
    (got,) = handed(operation, start, numbers(2, 3, 4))
    assert torch.equal(got, start)
    # What is used twice adds up.
    token, x, start = numbers(1, 1, 4), numbers(2, 3, 4), numbers(2, 4, 4, seed=1)
    got = handed(lambda c, x: torch.cat([c.expand(2, -1, -1), operation(x)], dim=1), start, token, x)
    assert torch.equal(got[0], start[:, :1].sum(0, keepdim=True))
    assert torch.equal(got[1], start[:, 1:])


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "distilled": {"kind": VisionTransformerDistilled},
    "registers": {"reg_tokens": 2, "no_embed_class": True},
    "mean pool": {"global_pool": "avg"},
    "no class token": {"global_pool": "avg", "class_token": False},
    "norm before pool": {"global_pool": "avg", "fc_norm": False},
    "normed queries": {"qk_norm": True},
    "layer scale": {"init_values": 0.1},
    "CLIP-like": {"pre_norm": True, "norm_layer": "layernorm"},
    "dynamic size": {"dynamic_img_size": True},
    "ReLU and RMSNorm": {"act_layer": "relu", "norm_layer": "rmsnorm"},
    "normed attention": {"scale_attn_norm": True, "scale_mlp_norm": True},
    "post norm": {"block_fn": timm.models.vision_transformer.ResPostBlock, "init_values": 0.1},
}


@pytest.mark.parametrize("biases", [False, True], ids=["bias-free", "biases"])
@pytest.mark.parametrize("name", VARIANTS)
def test_tokens_get_all_but_what_has_no_positive_contribution(
    name: str, biases: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From R = 1 at the target's logit; a bias takes nothing, so biases change nothing in the account."""
    model, pixels = vit(**VARIANTS[name]), image_inputs().pixels
    for key, parameter in model.named_parameters():
        if key.endswith("bias") and not biases:
            parameter.detach().zero_()
    dropped = torch.zeros(3)
    rule = relevance._positive

    def watched(f: Any, start: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        signs = [f(x.clamp(min=0), weight.clamp(min=0)), f(x.clamp(max=0), weight.clamp(max=0))]
        out = rule(f, start, x, weight)
        lost = (start * (signs[0] + signs[1] == 0)).flatten(1).sum(1)
        assert torch.allclose(out.flatten(1).sum(1) + lost, start.flatten(1).sum(1), rtol=1e-4, atol=1e-4)
        dropped.add_(lost)
        return out

    monkeypatch.setattr(relevance, "_positive", watched)
    _, got, logits = propagate(model, pixels, lrp_rules)
    assert torch.allclose(logits, model(pixels), atol=1e-5)
    assert torch.allclose(got.sum((1, 2)) + dropped, torch.ones(3), rtol=1e-4, atol=1e-4)
    assert got.abs().sum((1, 2)).max() > 0.1


@pytest.mark.parametrize("rules", [lrp_rules, conservative_rules])
def test_a_batch_is_its_rows_nan_stays_in_its_row_and_the_backward_may_run_inside(rules: Callable[[], Any]) -> None:
    model, pixels = vit(), image_inputs(4).pixels
    _, whole, _ = propagate(model, pixels, rules)
    for b in range(4):
        assert torch.allclose(whole[b : b + 1], propagate(model, pixels[b : b + 1], rules)[1], rtol=1e-3, atol=1e-5)
    pixels[1] = float("nan")
    _, got, _ = propagate(model, pixels, rules)
    assert got[1].isnan().any()
    assert torch.allclose(got[[0, 2, 3]], whole[[0, 2, 3]], rtol=1e-3, atol=1e-5)
    with plain_attention(model := replica(model)), rules():
        pixels = image_inputs().pixels.requires_grad_()
        logits = model(pixels)
        (inside,) = torch.autograd.grad(logits, pixels, torch.ones_like(logits), retain_graph=True)
    assert torch.equal(inside, torch.autograd.grad(logits, pixels, torch.ones_like(logits))[0])


@pytest.mark.parametrize(
    ("operation", "named"),
    [
        (lambda x: x * x.sigmoid(), "'mul'"),
        (lambda x: x / x, "'div'"),
        (lambda x: 1 / x, "'__rdiv__'"),
        (lambda x: x - x.mT, "'sub'"),
        (lambda x: x.amax(dim=1), "'amax'"),
        (lambda x: torch.einsum("bij->bji", x), "'einsum'"),
        (lambda x: x @ torch.eye(3), "'matmul'"),
        (lambda x: functional.linear(x, x[0]), "'linear'"),
        (lambda x: x.sum(), "'sum'"),
        (lambda x: x.mean(dim=(0, 1)), "'mean'"),
        (lambda x: x.clone().pow_(2), "'pow_'"),
        (lambda x: functional.dropout(x, 0.1), "training mode"),
        (lambda x: functional.scaled_dot_product_attention(x, x, x), "plain_attention"),
        (lambda x: nn.MultiheadAttention(3, 1)(x, x, x), "multi_head_attention_forward"),
        (lambda x: forgiving(x), "'mul'"),
    ],
)
def test_an_operation_without_a_rule_is_refused_by_name(operation: Callable[[Tensor], Any], named: str) -> None:
    x = torch.rand(2, 3, 3).requires_grad_()
    with pytest.raises(ModelError, match=named), lrp_rules():
        operation(x)
    # What does not depend on the input is free, and another's error is passed on.
    with lrp_rules(), torch.no_grad():
        assert (x * x).exp().amax() > 0
    with pytest.raises(RuntimeError, match="shape"), lrp_rules():
        x.view(7)


def test_a_change_in_place_of_what_a_rule_has_kept_is_never_missed() -> None:
    x = numbers(2, 3).requires_grad_()
    with lrp_rules():
        a = x * 1
        out = functional.linear(a, numbers(3, 3, seed=1))
        a += 1
    refused(RuntimeError, "inplace", torch.autograd.grad, out.sum(), x)


def forgiving(x: Tensor) -> Tensor:
    """A model that swallows the refusal."""
    try:
        return x * x
    except TypeError:
        return x


@pytest.mark.parametrize(
    ("options", "named", "rules"),
    [
        ({"global_pool": "max"}, "'amax'", lrp_rules),
        ({"global_pool": "map"}, "'matmul'", lrp_rules),
        ({"mlp_layer": timm.layers.SwiGLU}, "'mul'", lrp_rules),
        ({"attn_layer": "diff"}, "rule for", lrp_rules),
        ({"norm_layer": "rmsnorm"}, "rms_norm", conservative_rules),
    ],
)
def test_models_that_are_refused(options: dict[str, Any], named: str, rules: Callable[[], Any]) -> None:
    refused(ModelError, named, propagate, vit(**options), image_inputs().pixels, rules)


def test_the_switches_of_attention_come_back_one_by_one() -> None:
    model = vit(depth=3)
    for block, fused in zip(model.blocks, (True, False, True), strict=True):
        block.attn.fused_attn = fused
    with pytest.raises(RuntimeError), plain_attention(model):
        model(torch.rand(1, 2, 8, 8))
    assert [block.attn.fused_attn for block in model.blocks] == [True, False, True]
    for rules in (lrp_rules, conservative_rules):
        with pytest.raises(ModelError, match="plain_attention"), rules():
            model(image_inputs().pixels)
        # And the context is gone after the error.
        x = torch.rand(2, 3, requires_grad=True)
        assert torch.allclose(torch.autograd.grad((x * x).sum(), x)[0], 2 * x)
