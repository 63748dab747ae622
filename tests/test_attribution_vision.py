"""The image attributions: closed forms by plain loops and difference quotients, what every method must hold, and models
of other builds."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import timm
import torch
from refusals import refused
from timm.models.deit import VisionTransformerDistilled
from timm.models.vision_transformer import ParallelScalingBlock, VisionTransformer
from torch import Tensor, nn
from torch.nn import functional
from toy_models import FAST, image_inputs, text_inputs, text_model, vision_model, vit

from faithlib._masking import replacement_pixels
from faithlib.attribution import attribute, methods
from faithlib.attribution._relevance import lrp_rules, plain_attention
from faithlib.attribution.registry import IMAGE_METHODS
from faithlib.backends.pixels import WITHOUT_CLASS_TOKEN
from faithlib.errors import FaithlibError, ModelError
from faithlib.inputs import ImageInputs
from faithlib.perturb import Perturber

NAMES = methods("image")
NEEDS_MODEL = [name for name in NAMES if IMAGE_METHODS[name].answers != "floor"]
PATCHES = [name for name in NAMES if IMAGE_METHODS[name].answers == "patches"]


def scores_of(name: str, model: nn.Module | None, inputs: ImageInputs, **options: Any) -> Tensor:
    return attribute(name, model, inputs, **{**FAST.get(name, {}), **options})


@pytest.fixture(scope="module")
def model() -> VisionTransformer:
    return vision_model()


# ------------------------------------------------------------ closed forms: by difference quotients and loops
class ByHand:
    """One image in a class-token ViT, in double precision: maps and tokens can be moved, nothing is differentiated."""

    def __init__(self, model: VisionTransformer, image: Tensor) -> None:
        self.model, self.image = model, image.double()
        self.depth, self.heads = len(model.blocks), model.blocks[0].attn.num_heads
        self.gradients: dict[tuple[int, str, int], Tensor] = {}
        self.maps, self.entering, self.logits = self.run({}, {})
        self.target = int(self.logits.argmax())

    def run(
        self, maps: dict[int, Tensor], entering: dict[int, Tensor]
    ) -> tuple[dict[int, Tensor], dict[int, Tensor], Tensor]:
        """Maps [N, L, L] and tokens [L, D] of all blocks, logits [C]; some maps or tokens replaced by given ones."""
        found, tokens, handles = {}, {}, []
        for b, block in enumerate(self.model.blocks):

            def at_map(_: nn.Module, __: Any, output: Tensor, b: int = b) -> Tensor:
                found[b] = maps.get(b, output[0])
                return found[b][None]

            def at_tokens(_: nn.Module, given: Any, b: int = b) -> Tensor:
                tokens[b] = entering.get(b, given[0][0])
                return tokens[b][None]

            handles += [block.attn.attn_drop.register_forward_hook(at_map), block.register_forward_pre_hook(at_tokens)]
        with torch.no_grad(), plain_attention(self.model):
            logits = self.model(self.image[None])[0]
        for handle in handles:
            handle.remove()
        return found, tokens, logits

    def explained(self, output: str, *, maps: Any = (), entering: Any = ()) -> float:
        logits = self.run(dict(maps), dict(entering))[2]
        ways = {"logit": logits, "probability": logits.softmax(0), "loss": logits.log_softmax(0)}
        return float(ways[output][self.target])

    def map_gradient(self, b: int, output: str = "logit", h: float = 1e-5) -> Tensor:
        """dF / dA_b [N, L, L] by difference quotients, one entry at a time."""
        known = (b, output, self.target)
        if known not in self.gradients:
            gradient = torch.zeros_like(self.maps[b])
            for place in itertools.product(*map(range, gradient.shape)):
                ends = []
                for sign in (1, -1):
                    moved = self.maps[b].clone()
                    moved[place] += sign * h
                    ends.append(self.explained(output, maps={b: moved}))
                gradient[place] = (ends[0] - ends[1]) / (2 * h)
            self.gradients[known] = gradient
        return self.gradients[known]

    def weighted_gradient(self, b: int, i: int, output: str = "logit", h: float = 1e-5) -> float:
        """sum_d h_i,d dF / dh_i,d: how F moves as token i entering block b is stretched."""
        ends = []
        for sign in (1, -1):
            moved = self.entering[b].clone()
            moved[i] *= 1 + sign * h
            ends.append(self.explained(output, entering={b: moved}))
        return (ends[0] - ends[1]) / (2 * h)


def product_row(maps: list[Tensor]) -> Tensor:
    """Row 0 of maps[-1] ... maps[0], patches only, by sums over paths."""
    total = torch.eye(len(maps[0])).double()
    for scores_of_map in maps:
        longer = torch.zeros_like(total)
        for i, j, k in itertools.product(range(len(scores_of_map)), repeat=3):
            longer[i, j] += scores_of_map[i, k] * total[k, j]
        total = longer
    return total[0, 1:]


@pytest.fixture(scope="module", params=[(1, 1), (2, 2)], ids=["one block, one head", "two blocks, two heads"])
def hand(request: pytest.FixtureRequest) -> tuple[VisionTransformer, ImageInputs, list[ByHand]]:
    depth, heads = request.param
    model, inputs = vit(depth=depth, num_heads=heads).double(), image_inputs(2)
    return model, inputs, [ByHand(model, image) for image in inputs.pixels]


def agree(scores: Tensor, expected: list[Tensor]) -> None:
    reference = torch.stack(expected).float()
    assert reference.abs().max() > 1e-4, "a map of nothing tests nothing"
    assert torch.allclose(scores, reference, rtol=1e-4, atol=1e-6 * float(reference.abs().max()))


def test_the_model_and_its_maps_by_hand(hand: Any) -> None:
    model, inputs, images = hand
    with torch.no_grad():
        assert torch.allclose(model(inputs.pixels.double()), torch.stack([image.logits for image in images]))
    agree(scores_of("raw_attention", model, inputs), [i.maps[i.depth - 1].mean(0)[0, 1:] for i in images])
    agree(scores_of("raw_attention", model, inputs, layer=0), [i.maps[0].mean(0)[0, 1:] for i in images])
    halves = [[(m.mean(0) + torch.eye(len(m[0]))) / 2 for m in i.maps.values()] for i in images]
    agree(scores_of("rollout", model, inputs), [product_row(maps) for maps in halves])
    last = scores_of("rollout", model, inputs, start_layer=len(model.blocks) - 1)
    agree(last, [product_row(maps[-1:]) for maps in halves])


@pytest.mark.parametrize("output", ["logit", "probability", "loss"])
def test_transformer_mm_by_hand(hand: Any, output: str) -> None:
    model, inputs, images = hand
    eye = torch.eye(5).double()

    def parts(image: ByHand) -> list[Tensor]:
        return [(image.map_gradient(b, output) * m).clamp(min=0).mean(0) for b, m in image.maps.items()]

    every = [parts(i) for i in images]
    scores = scores_of("transformer_mm", model, inputs, output=output)
    agree(scores, [product_row([eye + m for m in maps]) for maps in every])
    last = scores_of("transformer_mm", model, inputs, output=output, layers="last")
    agree(last, [maps[-1][0, 1:] for maps in every])
    assert torch.equal(scores, last) is (len(every[0]) == 1)
    if output == "logit":
        assert torch.equal(scores_of("transformer_mm", model, inputs), scores), "the logit is the default"


def test_grad_cam_of_a_convolutional_network_is_the_published_one() -> None:
    """Against captum, which is told the layer: the last block of a ResNet, the last norm of an EfficientNet."""
    from captum.attr import LayerGradCam

    torch.manual_seed(0)
    for name, layer in (("resnet10t", "layer4"), ("tf_efficientnet_lite0", "bn2")):
        model = timm.create_model(name, num_classes=5).eval()
        inputs = ImageInputs.from_pixels(torch.randn(3, 3, 64, 64), patch=16)
        target = torch.tensor([0, 3, 1])
        theirs = LayerGradCam(model, model.get_submodule(layer)).attribute(
            inputs.pixels, target=target, relu_attributions=True
        )
        pixels = functional.interpolate(theirs, size=(64, 64), mode="bilinear", align_corners=False)
        patches = 256 * functional.avg_pool2d(pixels, 16).flatten(1)
        scores = attribute("grad_cam", model, inputs, target=target.tolist(), max_tokens=1)
        # captum sees the images together, `attribute` one at a time: sums of many terms, each rounded its own way.
        rounding = 1e-3 * float(patches.detach().max())
        torch.testing.assert_close(scores, patches.detach(), rtol=1e-4, atol=rounding)
        assert (scores > 0).any()


def test_grad_cam_needs_features_with_places_at_the_end() -> None:
    inputs = ImageInputs.from_pixels(torch.rand(1, 3, 8, 8), patch=4)
    flat = nn.Sequential(nn.Flatten(), nn.Linear(192, 2)).eval()
    channels_last = timm.create_model("swin_tiny_patch4_window7_224", img_size=32, window_size=4, num_classes=2).eval()
    # A model that cuts its images by a convolution and goes on with tokens: its last map is what it begins with.
    sizes = {"img_size": 32, "depth": 1, "embed_dim": 12, "num_heads": 2, "num_classes": 2}
    tokens = [timm.create_model(n, **sizes).eval() for n in ("beit_base_patch16_224", "xcit_nano_12_p16_224")]
    images = ImageInputs.from_pixels(torch.rand(1, 3, 32, 32), patch=8)
    for model, given in ((flat, inputs), (channels_last, images), *((token, images) for token in tokens)):
        refused(ModelError, "does not end in convolutions", attribute, "grad_cam", model, given)


def test_grad_cam_by_hand(hand: Any) -> None:
    model, inputs, images = hand
    maps = []
    for target in range(3):
        for image in images:
            image.target = target
            gradient, total = image.map_gradient(image.depth - 1), torch.zeros(4).double()
            for n in range(image.heads):
                total += gradient[n, 0, 1:].mean() * image.maps[image.depth - 1][n, 0, 1:] / image.heads
            maps.append(total.clamp(min=0))
            image.target = int(image.logits.argmax())
    assert any((scores_of_map == 0).all() for scores_of_map in maps), "the clamp shows"
    agree(torch.cat([scores_of("grad_cam", model, inputs, target=target) for target in range(3)]), maps)


@pytest.mark.parametrize("queries", ["all", "class"])
def test_attcat_by_hand(hand: Any, queries: str) -> None:
    model, inputs, images = hand

    def expected(image: ByHand) -> Tensor:
        total = torch.zeros(4).double()
        for b, i in itertools.product(range(image.depth), range(1, 5)):
            asked = range(5) if queries == "all" else [0]
            received = [sum(float(head[q, i]) for q in asked) / len(asked) for head in image.maps[b]]
            total[i - 1] += sum(received) / len(received) * image.weighted_gradient(b, i)
        return total

    scores = scores_of("attcat", model, inputs, queries=queries)
    if len(model.blocks) == 1:
        # Patches reach the class token through a LayerNorm alone, which takes away all that stretching them does.
        assert scores.abs().max() < 1e-4
    else:
        agree(scores, [expected(i) for i in images])


def inside(model: VisionTransformer, image: Tensor, target: int, rules: Any) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Target logit, pixels and attention maps of one image, with hooks of the test's own, weights frozen."""
    maps: list[Tensor] = []
    handles = [b.attn.attn_drop.register_forward_hook(lambda m, i, o: maps.append(o)) for b in model.blocks]
    pixels = image[None].double().clone().requires_grad_()
    with plain_attention(model), rules:
        logits = model(pixels)
    for handle in handles:
        handle.remove()
    return logits[0, target], pixels, maps


def test_relevance_methods_put_their_parts_together(hand: Any) -> None:
    model, inputs, images = hand
    model.requires_grad_(False)
    relevances = []
    for image in images:
        value, _, maps = inside(model, image.image, image.target, lrp_rules())
        relevances.append([r[0].double() for r in torch.autograd.grad(value, maps)])
    agree(scores_of("partial_lrp", model, inputs), [r[-1].mean(0)[0, 1:] for r in relevances])
    clamped = [r[-1].clamp(min=0).mean(0)[0, 1:] for r in relevances]
    agree(scores_of("partial_lrp", model, inputs, variant="released"), clamped)
    eye = torch.eye(5).double()
    products = [
        [eye + (image.map_gradient(b) * r[b]).clamp(min=0).mean(0) for b in range(image.depth)]
        for image, r in zip(images, relevances, strict=True)
    ]
    agree(scores_of("transformer_attribution", model, inputs), [product_row(maps) for maps in products])
    last = scores_of("transformer_attribution", model, inputs, start_layer=len(model.blocks) - 1)
    agree(last, [product_row(maps[-1:]) for maps in products])
    pixels = []
    for image in images:
        value, leaf, _ = inside(model, image.image, image.target, lrp_rules())
        pixels.append(torch.autograd.grad(value, leaf)[0][0].sum(0).flatten())
    whole = ImageInputs.from_pixels(inputs.pixels, patch=1)
    agree(scores_of("lrp", model, whole), pixels)
    model.requires_grad_(True)


class Frozen(ByHand):
    """The same with attention maps and LayerNorm's divisors held at what they are for the image."""

    def __init__(self, model: VisionTransformer, image: Tensor) -> None:
        super().__init__(model, image)
        self.divisors: dict[nn.Module, Tensor] = {}
        assert self.explained("logit") == pytest.approx(float(self.logits[self.target]))

    def explained(self, output: str, **given: Any) -> float:
        norms = [part for part in self.model.modules() if isinstance(part, nn.LayerNorm)]
        handles = [norm.register_forward_hook(self.norm) for norm in norms]
        value = super().explained(output, **given, maps=self.maps)
        for handle in handles:
            handle.remove()
        return value

    def norm(self, norm: Any, given: Any, _: Tensor) -> Tensor:
        centred = given[0] - given[0].mean(-1, keepdim=True)
        divisor = (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt()
        return centred / self.divisors.setdefault(norm, divisor) * norm.weight + norm.bias


def test_conservative_lrp_by_hand(hand: Any) -> None:
    model, inputs, images = hand
    frozen = [Frozen(model, image.image) for image in images]
    expected = [torch.tensor([image.weighted_gradient(0, i) for i in range(1, 5)]) for image in frozen]
    agree(scores_of("conservative_lrp", model, inputs), expected)


# ------------------------------------------------------------ sums that have to be met
@pytest.mark.parametrize("baseline", ["zero", "mean", "blur"])
@pytest.mark.parametrize("output", ["probability", "logit"])
def test_integrated_gradients_add_up(model: VisionTransformer, baseline: str, output: str) -> None:
    inputs = image_inputs()
    target = Perturber(model, inputs).predicted
    with torch.no_grad():
        ends = [model(inputs.pixels), model(replacement_pixels(inputs.pixels, baseline))]
    values = [(e.softmax(-1) if output == "probability" else e).gather(1, target[:, None])[:, 0] for e in ends]
    options = {"baseline": baseline, "output": output, "n_steps": 50, "max_tokens": 9}
    scores = attribute("integrated_gradients", model, inputs, **options)
    assert torch.allclose(scores.sum(dim=1), values[0] - values[1], atol=1e-4)


# ------------------------------------------------------------ from map to features
def upsampled(patches: Tensor, how: str) -> Tensor:
    """[2, 2] patches of 4 pixels to [8, 8], pixel by pixel."""
    pixels = torch.zeros(8, 8)
    for i, j in itertools.product(range(8), range(8)):
        if how == "nearest":
            pixels[i, j] = patches[i // 4, j // 4]
            continue
        places = [min(max((at + 0.5) / 4 - 0.5, 0.0), 1.0) for at in (i, j)]
        for down, across in itertools.product(range(2), range(2)):
            weight = math.prod(1 - abs(place - at) for place, at in zip(places, (down, across), strict=True))
            pixels[i, j] += weight * patches[down, across]
    return pixels


@pytest.mark.parametrize("how", ["bilinear", "nearest"])
@pytest.mark.parametrize("name", PATCHES)
def test_patch_maps_are_upsampled_and_pooled(model: VisionTransformer, name: str, how: str) -> None:
    inputs = image_inputs(2)
    patches = scores_of(name, model, inputs)
    for patch in (1, 2, 8):
        other = ImageInputs.from_pixels(inputs.pixels, patch=patch)
        scores = scores_of(name, model, other, upsample=how)
        means = scores_of(name, model, other, upsample=how, pool="mean")
        assert torch.allclose(means * patch**2, scores, atol=1e-5)
        for b in range(2):
            pixels = upsampled(patches[b].reshape(2, 2), how)
            summed = [float(pixels[other.feature_of == f].sum()) for f in range((8 // patch) ** 2)]
            assert torch.allclose(scores[b], torch.tensor(summed), atol=1e-5)
    assert torch.equal(scores_of(name, model, inputs, upsample=how), patches), "patches are the features: as they are"


@pytest.mark.parametrize("name", ["integrated_gradients", "lrp"])
def test_pixel_maps_are_pooled(model: VisionTransformer, name: str) -> None:
    pixels = image_inputs(2).pixels
    whole = scores_of(name, model, ImageInputs.from_pixels(pixels, patch=1))
    for patch in (2, 4, 8):
        inputs = ImageInputs.from_pixels(pixels, patch=patch)
        scores = scores_of(name, model, inputs)
        summed = torch.zeros_like(scores).index_add_(1, inputs.feature_of.flatten(), whole)
        assert torch.allclose(scores, summed, atol=1e-5)
        assert torch.allclose(scores_of(name, model, inputs, pool="mean"), scores / patch**2, atol=1e-6)


# Erased copies share forwards: a row is not its image's place, and what is drawn depends on how features are numbered.
@pytest.mark.parametrize("name", [n for n in NEEDS_MODEL if IMAGE_METHODS[n].answers != "features" or n == "occlusion"])
def test_patches_numbered_otherwise_keep_their_scores(model: VisionTransformer, name: str) -> None:
    inputs, turned = image_inputs(2), torch.tensor([2, 0, 3, 1])
    renamed = ImageInputs(inputs.pixels, turned[inputs.feature_of], inputs.n_features)
    assert torch.allclose(scores_of(name, model, renamed)[:, turned], scores_of(name, model, inputs), atol=1e-6)


# ------------------------------------------------------------ other vision models
@pytest.mark.parametrize("options", [{"class_token": False}, {}], ids=["no class token", "avg pool"])
def test_models_whose_prediction_is_not_read_from_a_class_token(options: dict[str, Any]) -> None:
    model, inputs = vit(global_pool="avg", **options), image_inputs()
    for name in NAMES:
        if name in WITHOUT_CLASS_TOKEN:
            assert scores_of(name, model, inputs).shape == (3, 4)
        else:
            refused(ModelError, "'avg'.* expected .*'token'.*: integrated_gradie", scores_of, name, model, inputs)
    refused(ModelError, "global_pool", attribute, "attcat", model, inputs, queries="class")


BUILDS: dict[str, dict[str, Any]] = {
    "scaled": {"init_values": 0.5}, "normed queries": {"qk_norm": True, "norm_layer": nn.LayerNorm},
    "normed before": {"pre_norm": True}, "class token apart": {"no_embed_class": True},
    "registers": {"reg_tokens": 3}, "distilled": {"kind": VisionTransformerDistilled},
}  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
def test_other_builds_of_blocks(build: str) -> None:
    model, inputs = vit(**BUILDS[build]), image_inputs()
    for name in NEEDS_MODEL:
        scores = scores_of(name, model, inputs)
        assert scores.shape == (3, 4) and torch.isfinite(scores).all(), name
        assert (scores != 0).any() or name == "grad_cam", name


def test_registers_are_no_patches_and_distilled_models_are_read_at_both_tokens() -> None:
    inputs = image_inputs()
    for build, count, rows in (("registers", 1 + 3, [0]), ("distilled", 2, [0, 1])):
        model = vit(**BUILDS[build]).double()
        maps = [ByHand(model, image).maps[1].mean(0)[rows, count:].mean(0) for image in inputs.pixels]
        agree(attribute("raw_attention", model, inputs), maps)
    # The head's half of the prediction is dead: what is left is the distillation token's row.
    with torch.no_grad():
        model.head.weight.zero_()
    assert (attribute("transformer_mm", model, inputs, layers="last") > 0).any()


def test_rectangles_keep_their_orientation_and_flexible_models_take_them() -> None:
    pixels = torch.randn(2, 3, 8, 16, generator=torch.Generator().manual_seed(0))
    inputs = ImageInputs.from_pixels(pixels, patch=4)
    for model in (vit(img_size=(8, 16)), vit(dynamic_img_size=True)):
        patches = attribute("raw_attention", model, inputs)
        by_pixel = attribute("raw_attention", model, ImageInputs.from_pixels(pixels, patch=1), upsample="nearest")
        assert torch.allclose(by_pixel.reshape(2, 8, 16)[:, ::4, ::4].flatten(1), patches)
        assert attribute("lrp", model, inputs).shape == (2, 8)


# ------------------------------------------------------------ the door
BERT, SEER, SMALL = text_model("bert"), vision_model(), torch.zeros(1, 3, 6, 6)
FLEXIBLE, PARALLEL = vit(dynamic_img_size=True), vit(block_fn=ParallelScalingBlock)


@pytest.mark.parametrize(
    ("name", "model", "inputs", "message"),
    [
        ("lrp", BERT, image_inputs(), r"BertForSequenceClassification does not take images \[\d, 3, 8, 8\]"),
        ("occlusion", BERT, image_inputs(), "BertForSequenceClassification does not take images"),
        ("lrp", BERT, text_inputs(BERT), "'lrp' explains images, not TextInputs: known for these: activation"),
        ("saliency", SEER, text_inputs(BERT), "Hugging Face"),
        ("lrp", FLEXIBLE, ImageInputs.from_pixels(SMALL, patch=2), "3 channels and whole patches of 4x4 pixels"),
        ("rollout", SEER, ImageInputs.from_pixels(SMALL[:, :1], patch=2), "1 channels and 6x6 pixels"),
        ("rollout", PARALLEL, image_inputs(), "made of ParallelScalingBlock, whose attention maps cannot be read"),
    ],
)
def test_models_and_inputs_that_do_not_fit(name: str, model: nn.Module, inputs: Any, message: str) -> None:
    refused(FaithlibError, message, attribute, name, model, inputs)
