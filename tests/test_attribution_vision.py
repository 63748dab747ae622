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

from faithlib.attribution import attribute, methods
from faithlib.attribution.registry import IMAGE_METHODS
from faithlib.attribution.relevance import lrp_rules, plain_attention
from faithlib.backends.pixels import WITHOUT_CLASS_TOKEN
from faithlib.errors import InputError, ModelError, UnknownNameError
from faithlib.inputs import ImageInputs
from faithlib.perturb import Perturber
from faithlib.perturbations import replacement_pixels

NAMES = methods("image")
NEEDS_MODEL = [name for name in NAMES if IMAGE_METHODS[name].answers != "floor"]
PATCHES = [name for name in NAMES if IMAGE_METHODS[name].answers == "patches"]


def scores_of(name: str, model: nn.Module | None, inputs: ImageInputs, **options: Any) -> Tensor:
    return attribute(name, model, inputs, **{**FAST.get(name, {}), **options})


@pytest.fixture(scope="module")
def model() -> VisionTransformer:
    return vision_model()


@pytest.fixture(scope="module")
def trained() -> VisionTransformer:
    """A ViT that has learned which colour the one bright patch of a picture has."""
    torch.manual_seed(0)
    model = VisionTransformer(
        img_size=16, patch_size=4, embed_dim=24, depth=3, num_heads=2, mlp_ratio=2, num_classes=3
    )  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for step in range(120):
        images, classes, _ = bright_patches(48, seed=step)
        optimizer.zero_grad()
        functional.cross_entropy(model(images), classes).backward()
        optimizer.step()
    return model.eval()


def bright_patches(n: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Noise with one patch of one bright channel: pixels, that channel, that patch."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(n, 3, 16, 16, generator=generator) * 0.3
    classes = torch.randint(3, (n,), generator=generator)
    places = torch.randint(16, (n,), generator=generator)
    for image, channel, place in zip(images, classes.tolist(), places.tolist(), strict=True):
        down, across = 4 * (place // 4), 4 * (place % 4)
        image[channel, down : down + 4, across : across + 4] += 1.5
    return images, classes, places


# ------------------------------------------------------------ closed forms: a ViT written out in loops
class ByHand:
    """One image in a class-token ViT, in double precision, with loops and without autograd."""

    def __init__(self, model: VisionTransformer, image: Tensor) -> None:
        self.model, self.image = model, image.double()
        self.weights = {name: value.detach().double() for name, value in model.state_dict().items()}
        self.depth, self.heads = len(model.blocks), model.blocks[0].attn.num_heads
        self.gradients: dict[tuple[int, str, int], Tensor] = {}
        self.maps, self.entering, self.logits = self.run()
        self.target = int(self.logits.argmax())

    def run(
        self, maps: dict[int, Tensor] | None = None, entering: dict[int, Tensor] | None = None
    ) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """Maps [N, L, L] and tokens [L, D] of all blocks, logits [C]; some maps or tokens replaced by given ones."""
        weights, found, tokens = self.weights, [], []
        x = self.embedded()
        for b in range(self.depth):
            x = (entering or {}).get(b, x)
            tokens.append(x)
            y = self.norm(x, f"blocks.{b}.norm1")
            qkv = y @ weights[f"blocks.{b}.attn.qkv.weight"].T + weights[f"blocks.{b}.attn.qkv.bias"]
            width = x.shape[1] // self.heads
            rows, own = [], []
            for n in range(self.heads):
                q, k, v = (qkv[:, i * x.shape[1] + n * width :][:, :width] for i in range(3))
                scores = (q @ k.T / math.sqrt(width)).exp()
                own.append(scores / scores.sum(1, keepdim=True))
                rows.append((maps[b][n] if maps and b in maps else own[-1]) @ v)
            found.append(torch.stack(own))
            x = x + self.linear(torch.cat(rows, dim=1), f"blocks.{b}.attn.proj")
            hidden = self.linear(self.norm(x, f"blocks.{b}.norm2"), f"blocks.{b}.mlp.fc1")
            x = x + self.linear(hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2, f"blocks.{b}.mlp.fc2")
        return found, tokens, self.linear(self.norm(x, "norm")[:1], "head")[0]

    def embedded(self) -> Tensor:
        weights, size = self.weights, self.model.patch_embed.patch_size[0]
        kernel = weights["patch_embed.proj.weight"].flatten(1)
        patches = [
            kernel @ self.image[:, i : i + size, j : j + size].flatten() + weights["patch_embed.proj.bias"]
            for i in range(0, self.image.shape[1], size)
            for j in range(0, self.image.shape[2], size)
        ]
        return torch.stack([weights["cls_token"][0, 0], *patches]) + weights["pos_embed"][0]

    def norm(self, x: Tensor, name: str) -> Tensor:
        eps = self.model.get_submodule(name).eps
        centred = x - x.mean(1, keepdim=True)
        return centred / (centred.square().mean(1, keepdim=True) + eps).sqrt() * self.weights[
            f"{name}.weight"
        ] + self.weights[f"{name}.bias"]  # fmt: skip

    def linear(self, x: Tensor, name: str) -> Tensor:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def explained(self, output: str, **given: Any) -> float:
        logits = self.run(**given)[2]
        return float(
            {"logit": logits, "probability": logits.softmax(0), "loss": logits.log_softmax(0)}[output][self.target]
        )

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
    for one in maps:
        longer = torch.zeros_like(total)
        for i, j, k in itertools.product(range(len(one)), repeat=3):
            longer[i, j] += one[i, k] * total[k, j]
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


def test_the_model_by_hand_is_the_model(hand: Any) -> None:
    model, inputs, images = hand
    with torch.no_grad():
        assert torch.allclose(model(inputs.pixels.double()), torch.stack([image.logits for image in images]))


def test_raw_attention_by_hand(hand: Any) -> None:
    model, inputs, images = hand
    agree(scores_of("raw_attention", model, inputs), [i.maps[-1].mean(0)[0, 1:] for i in images])
    agree(scores_of("raw_attention", model, inputs, layer=0), [i.maps[0].mean(0)[0, 1:] for i in images])


def test_rollout_by_hand(hand: Any) -> None:
    model, inputs, images = hand
    halves = [product_row([(m.mean(0) + torch.eye(len(m[0]))) / 2 for m in i.maps]) for i in images]
    agree(scores_of("rollout", model, inputs), halves)


@pytest.mark.parametrize("output", ["logit", "probability", "loss"])
def test_transformer_mm_by_hand(hand: Any, output: str) -> None:
    model, inputs, images = hand
    eye = torch.eye(5).double()

    def parts(image: ByHand) -> list[Tensor]:
        return [(image.map_gradient(b, output) * m).clamp(min=0).mean(0) for b, m in enumerate(image.maps)]

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
        torch.testing.assert_close(scores, patches.detach(), rtol=1e-4, atol=1e-5)
        assert (scores > 0).any()


def test_grad_cam_needs_features_with_places_at_the_end() -> None:
    inputs = ImageInputs.from_pixels(torch.rand(1, 3, 8, 8), patch=4)
    flat = nn.Sequential(nn.Flatten(), nn.Linear(192, 2)).eval()
    channels_last = timm.create_model("swin_tiny_patch4_window7_224", img_size=32, window_size=4, num_classes=2).eval()
    # A model that cuts its images by a convolution and goes on with tokens: its last map is what it begins with.
    sizes = {"img_size": 32, "depth": 1, "embed_dim": 12, "num_heads": 2, "num_classes": 2}
    tokens = [timm.create_model(n, **sizes).eval() for n in ("beit_base_patch16_224", "xcit_nano_12_p16_224")]
    images = ImageInputs.from_pixels(torch.rand(1, 3, 32, 32), patch=8)
    for model, given in ((flat, inputs), (channels_last, images), *((one, images) for one in tokens)):
        refused(ModelError, "does not end in convolutions", attribute, "grad_cam", model, given)


def test_grad_cam_by_hand(hand: Any) -> None:
    model, inputs, images = hand
    maps = []
    for target in range(3):
        for image in images:
            image.target = target
            gradient, total = image.map_gradient(image.depth - 1), torch.zeros(4).double()
            for n in range(image.heads):
                total += gradient[n, 0, 1:].mean() * image.maps[-1][n, 0, 1:] / image.heads
            maps.append(total.clamp(min=0))
            image.target = int(image.logits.argmax())
    assert any((one == 0).all() for one in maps), "the clamp shows"
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
        self.divisors: dict[str, Tensor] = {}
        super().__init__(model, image)

    def norm(self, x: Tensor, name: str) -> Tensor:
        centred = x - x.mean(1, keepdim=True)
        eps = self.model.get_submodule(name).eps
        divisor = self.divisors.setdefault(name, (centred.square().mean(1, keepdim=True) + eps).sqrt())
        return centred / divisor * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def explained(self, output: str, **given: Any) -> float:
        return super().explained(output, **given, maps=dict(enumerate(self.maps)))


def test_conservative_lrp_by_hand(hand: Any) -> None:
    model, inputs, images = hand
    frozen = [Frozen(model, image.image) for image in images]
    assert all(torch.allclose(a.logits, b.logits) for a, b in zip(frozen, images, strict=True))
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
    scores = attribute("integrated_gradients", model, inputs, baseline=baseline, output=output, n_steps=50)
    assert torch.allclose(scores.sum(dim=1), values[0] - values[1], atol=1e-4)
    if output == "probability":
        default = attribute("integrated_gradients", model, inputs, baseline=baseline, n_steps=50)
        assert torch.allclose(default, scores, atol=1e-6)
    given = {"baseline": baseline, "output": output, "n_steps": 50, "max_tokens": 9}
    assert torch.allclose(attribute("integrated_gradients", model, inputs, **given), scores, atol=1e-5)


# Erased copies share forwards: a row is not its image's place, and what is drawn depends on how features are numbered.
LOOKING = [name for name in NEEDS_MODEL if IMAGE_METHODS[name].answers != "features"]


@pytest.mark.parametrize("name", LOOKING)
def test_nan_is_an_error_that_names_the_input(name: str) -> None:
    model, inputs = vit(), image_inputs()

    def poison(module: nn.Module, arguments: object, output: Tensor) -> Tensor:
        return output + torch.where(torch.arange(len(output)) == 1, torch.nan, 0.0)[:, None, None]

    model.patch_embed.register_forward_hook(poison)
    with pytest.raises(InputError, match=r"the model answered NaN or infinity for 1 rows, of inputs \[1\]"):
        scores_of(name, model, inputs)


# ------------------------------------------------------------ maps of a model that learned
def all_maps(model: nn.Module, inputs: ImageInputs) -> dict[str, Tensor]:
    erasing = [name for name in NAMES if IMAGE_METHODS[name].answers == "features"]
    named = {name: scores_of(name, model, inputs) for name in NAMES if name not in ("uniform", *erasing)}
    named["transformer_mm, last block"] = attribute("transformer_mm", model, inputs, layers="last")
    return named


def closest(maps: dict[str, Tensor]) -> tuple[float, tuple[str, str]]:
    """The pair of methods whose maps are most alike: mean correlation over images, scale and offset aside."""
    alike = {}
    for one, two in itertools.combinations(maps, 2):
        a, b = (m.double() - m.double().mean(dim=1, keepdim=True) for m in (maps[one], maps[two]))
        alike[one, two] = float(functional.cosine_similarity(a, b).mean())
    pair = max(alike, key=alike.__getitem__)
    return alike[pair], pair


def test_no_two_methods_draw_the_same_map(trained: VisionTransformer) -> None:
    """The public ViT evaluation code's LRP was silently its Transformer Attribution (PAPERS.md, section 2)."""
    # Three bright patches, for on one alone all maps are nothing but that one.
    images = torch.stack([bright_patches(40, seed=seed)[0] for seed in (1000, 1001, 1002)]).sum(0)
    maps = all_maps(trained, ImageInputs.from_pixels(images, patch=4))
    assert len(maps) == 12
    alike, pair = closest(maps)
    assert alike < 0.98, pair
    assert (maps["lrp"] < 0).any() and (maps["transformer_attribution"] >= 0).all()


@pytest.mark.parametrize("name", NEEDS_MODEL)
def test_maps_find_what_the_model_looks_for(trained: VisionTransformer, name: str) -> None:
    images, classes, places = bright_patches(60, seed=2000)
    inputs = ImageInputs.from_pixels(images, patch=4)
    assert float((Perturber(trained, inputs).predicted == classes).float().mean()) > 0.9, "the model has learned"
    scores = scores_of(name, trained, inputs)
    # AttCAT finds the place too, but with either sign.
    scores = scores.abs() if name == "attcat" else scores
    assert float((scores.argmax(dim=1) == places).float().mean()) > 0.6


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
    assert torch.equal(scores_of(name, model, inputs, pool="mean"), patches)
    if how == "bilinear":
        assert torch.equal(scores_of(name, model, other), scores_of(name, model, other, upsample=how)), "the default"


@pytest.mark.parametrize("name", ["integrated_gradients", "lrp"])
def test_pixel_maps_are_pooled(model: VisionTransformer, name: str) -> None:
    pixels = image_inputs(2).pixels
    whole = scores_of(name, model, ImageInputs.from_pixels(pixels, patch=1)).reshape(2, 8, 8)
    for patch in (2, 4, 8):
        inputs = ImageInputs.from_pixels(pixels, patch=patch)
        scores = scores_of(name, model, inputs)
        for f in range((8 // patch) ** 2):
            assert torch.allclose(scores[:, f], whole[:, inputs.feature_of == f].sum(dim=1), atol=1e-5)
        assert torch.allclose(scores_of(name, model, inputs, pool="mean"), scores / patch**2, atol=1e-6)
    with pytest.raises(UnknownNameError, match=f"option of {name} 'upsample'"):
        attribute(name, model, image_inputs(), upsample="nearest")


@pytest.mark.parametrize("name", [*LOOKING, "occlusion"])
def test_patches_numbered_otherwise_keep_their_scores(model: VisionTransformer, name: str) -> None:
    inputs, turned = image_inputs(2), torch.tensor([2, 0, 3, 1])
    renamed = ImageInputs(inputs.pixels, turned[inputs.feature_of], inputs.n_features)
    assert torch.allclose(scores_of(name, model, renamed)[:, turned], scores_of(name, model, inputs), atol=1e-6)


def test_unions_of_patches_are_no_patches(model: VisionTransformer) -> None:
    inputs = image_inputs(2)
    halves = ImageInputs(inputs.pixels, inputs.feature_of // 2, torch.tensor([2, 2]))
    patches = attribute("rollout", model, inputs)
    scores = attribute("rollout", model, halves, upsample="nearest")
    assert torch.allclose(scores, 16 * torch.stack([patches[:, :2].sum(1), patches[:, 2:].sum(1)], dim=1))


def test_rectangles_keep_their_orientation() -> None:
    model = vit(img_size=(8, 16))
    pixels = torch.randn(2, 3, 8, 16, generator=torch.Generator().manual_seed(0))
    patches = attribute("raw_attention", model, ImageInputs.from_pixels(pixels, patch=4))
    assert patches.shape == (2, 8)
    by_pixel = attribute("raw_attention", model, ImageInputs.from_pixels(pixels, patch=1), upsample="nearest")
    assert torch.allclose(by_pixel.reshape(2, 8, 16)[:, ::4, ::4].flatten(1), patches)


# ------------------------------------------------------------ other vision models
@pytest.mark.parametrize(
    "options",
    [{"class_token": False, "global_pool": "avg"}, {"global_pool": "avg"}],
    ids=["no class token", "avg pool"],
)
def test_models_whose_prediction_is_not_read_from_a_class_token(options: dict[str, Any]) -> None:
    model, inputs = vit(**options), image_inputs()
    for name in WITHOUT_CLASS_TOKEN:
        assert scores_of(name, model, inputs).shape == (3, 4)
    for name in set(NAMES) - set(WITHOUT_CLASS_TOKEN):
        with pytest.raises(ModelError, match=r"global_pool='avg'.* expected .*'token'.*: integrated_gradients, lrp"):
            scores_of(name, model, inputs)
    refused(ModelError, "global_pool", attribute, "attcat", model, inputs, queries="class")


def last_maps(model: VisionTransformer, pixels: Tensor) -> Tensor:
    kept: list[Tensor] = []
    handle = model.blocks[-1].attn.attn_drop.register_forward_hook(lambda m, i, o: kept.append(o))
    with torch.no_grad(), plain_attention(model):
        model(pixels)
    handle.remove()
    return kept[0]


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
        model = vit(**BUILDS[build])
        maps = last_maps(model, inputs.pixels).mean(1)
        assert maps.shape[-1] == count + 4
        assert torch.allclose(attribute("raw_attention", model, inputs), maps[:, rows, count:].mean(1), atol=1e-6)
    # The head's half of the prediction is dead: what is left is the distillation token's row.
    with torch.no_grad():
        model.head.weight.zero_()
    assert (attribute("transformer_mm", model, inputs, layers="last") > 0).any()


def test_sizes_that_a_flexible_model_takes() -> None:
    model = vit(dynamic_img_size=True)
    pixels = torch.randn(2, 3, 8, 12, generator=torch.Generator().manual_seed(0))
    inputs = ImageInputs.from_pixels(pixels, patch=4)
    assert attribute("transformer_mm", model, inputs).shape == (2, 6)
    assert attribute("lrp", model, inputs).shape == (2, 6)
    with pytest.raises(InputError, match=r"3 channels and 6x6 pixels: .* 3 channels and whole patches of 4x4 pixels"):
        attribute("lrp", model, ImageInputs.from_pixels(torch.zeros(1, 3, 6, 6), patch=2))


@pytest.mark.parametrize("name", ["raw_attention", "lrp", "integrated_gradients"])
def test_half_precision_is_the_models_own_affair(name: str) -> None:
    model, inputs = vit(), image_inputs()
    expected = scores_of(name, model, inputs, target=0)
    scores = scores_of(name, model.bfloat16(), inputs, target=0)
    assert scores.dtype == torch.float32
    assert functional.cosine_similarity(scores.flatten(), expected.flatten(), dim=0) > 0.95


def test_blocks_without_readable_attention() -> None:
    model, inputs = vit(block_fn=ParallelScalingBlock), image_inputs()
    with pytest.raises(ModelError, match="made of ParallelScalingBlock, whose attention maps cannot be read"):
        attribute("rollout", model, inputs)
    assert attribute("integrated_gradients", model, inputs).shape == (3, 4)


# ------------------------------------------------------------ the door
def test_models_and_inputs_of_different_kinds(model: VisionTransformer) -> None:
    bert = text_model("bert")
    for name in ("lrp", "integrated_gradients", "occlusion"):
        with pytest.raises(ModelError, match=r"BertForSequenceClassification does not take images \[\d, 3, 8, 8\]"):
            attribute(name, bert, image_inputs())
    refused(ModelError, "no timm VisionTransformer", attribute, "rollout", bert, image_inputs(), check=False)
    with pytest.raises(UnknownNameError, match="'lrp' explains images, not TextInputs: known for these: activation"):
        attribute("lrp", bert, text_inputs(bert))
    refused(ModelError, "Hugging Face", attribute, "saliency", model, text_inputs(bert))
    with pytest.raises(InputError, match="inputs are Tensor: expected TextInputs, ImageInputs or WordInputs"):
        attribute("lrp", model, image_inputs().pixels)  # type: ignore[arg-type]


@pytest.mark.parametrize(("channels", "size"), [(3, 12), (1, 8)])
def test_images_of_the_wrong_size(model: VisionTransformer, channels: int, size: int) -> None:
    inputs = ImageInputs.from_pixels(torch.zeros(2, channels, size, size), patch=4)
    message = f"{channels} channels and {size}x{size} pixels: this VisionTransformer expects 3 channels and 8x8"
    refused(InputError, message, attribute, "rollout", model, inputs)
    refused(InputError, message, Perturber, model, inputs)


def test_start_layer_leaves_blocks_out(model: VisionTransformer) -> None:
    inputs = image_inputs()
    assert torch.allclose(
        attribute("rollout", model, inputs, start_layer=1) * 2, attribute("raw_attention", model, inputs), atol=1e-6
    )
    for name in ("rollout", "transformer_attribution"):
        whole, late = (attribute(name, model, inputs, start_layer=start) for start in (0, 1))
        assert not torch.allclose(whole, late, atol=1e-5)
