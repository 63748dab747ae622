"""Image classifiers of Hugging Face: the same weights in timm's VisionTransformer give the same numbers."""

from __future__ import annotations

from typing import Any

import pytest
import timm
import torch
import transformers
from refusals import refused
from supported import HF_VISION, hf_seer
from torch import Tensor, nn
from toy_models import FAST, quick_rows

from faithlib.attribution import attribute, methods
from faithlib.backends import VisionBackend, acts_on, replica
from faithlib.backends.pixels import HuggingFaceTokens
from faithlib.errors import ModelError
from faithlib.evaluation import evaluate
from faithlib.inputs import ImageInputs
from faithlib.perturb import Perturber


def images(n: int = 3) -> ImageInputs:
    return ImageInputs.from_pixels(torch.randn(n, 3, 32, 32, generator=torch.Generator().manual_seed(0)), patch=16)


# How timm's names of weights read in transformers, in the order in which they are replaced.
RENAMED = {
    "cls_token": "embeddings.cls_token", "dist_token": "embeddings.distillation_token",
    "pos_embed": "embeddings.position_embeddings", "patch_embed.proj": "embeddings.patch_embeddings.projection",
    "blocks.": "layers.", "attn.qkv": "attention.qkv_proj", "attn.proj": "attention.o_proj",
    "norm1": "layernorm_before", "norm2": "layernorm_after", "norm.": "layernorm.",
}  # fmt: skip


def of_timm(name: str, distilled: bool = False) -> tuple[Any, Any]:
    """A random model of timm, and one of Hugging Face with its weights."""
    torch.manual_seed(0)
    sizes = {"img_size": 32, "patch_size": 16, "depth": 2, "embed_dim": 16, "num_heads": 2, "num_classes": 3}
    theirs = timm.create_model(name, **sizes).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(0, 0.3)
    config = {
        "image_size": 32, "patch_size": 16, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 64, "num_labels": 3, "layer_norm_eps": 1e-6,
    }  # fmt: skip
    if distilled:
        model = transformers.DeiTForImageClassificationWithTeacher(transformers.DeiTConfig(**config)).eval()
        heads = {"head.": "cls_classifier.", "head_dist.": "distillation_classifier."}
    else:
        model = transformers.ViTForImageClassification(transformers.ViTConfig(**config)).eval()
        heads = {"head.": "classifier."}
    weights = {}
    for key, value in theirs.state_dict().items():
        if head := next((one for one in heads if key.startswith(one)), None):
            weights[key.replace(head, heads[head])] = value
            continue
        for timms, own in RENAMED.items():
            key = key.replace(timms, own)
        parts = zip("qkv", value.chunk(3), strict=True) if "qkv" in key else [("qkv", value)]
        weights |= {f"{model.base_model_prefix}.{key.replace('qkv', part)}": one for part, one in parts}
    model.load_state_dict(weights)
    return theirs, model


BOTH = [("vit_tiny_patch16_224", False), ("deit_tiny_distilled_patch16_224", True)]


@pytest.mark.parametrize(("name", "distilled"), BOTH)
def test_every_method_and_perturbation_gives_what_it_gives_for_timm(name: str, distilled: bool) -> None:
    theirs, model = of_timm(name, distilled)
    inputs = images()
    with torch.no_grad():
        assert torch.allclose(model(inputs.pixels).logits, theirs(inputs.pixels), atol=1e-5)
    for method in methods("image"):
        a, b = (attribute(method, one, inputs, target=[0, 1, 2], **FAST.get(method, {})) for one in (model, theirs))
        assert torch.allclose(a, b, atol=1e-4 * (1 + float(b.abs().max()))), (method, a, b)
    keep = torch.rand(3, 5, 4, generator=torch.Generator().manual_seed(1))
    one, other = (Perturber(each, inputs, target=1) for each in (model, theirs))
    assert torch.allclose(one.keep(keep < 0.5), other.keep(keep < 0.5), atol=1e-5)
    assert torch.allclose(one.soft(keep, draws=2), other.soft(keep, draws=2), atol=1e-5)
    noise = {"variance": 0.5, "equation": 7}
    assert torch.allclose(one.gaussian(keep, **noise), other.gaussian(keep, **noise), atol=1e-5)


@pytest.mark.parametrize("name", HF_VISION)
def test_tokens_are_found_and_lead_to_the_models_own_answer(name: str) -> None:
    model, inputs = hf_seer(name), images()
    backend = VisionBackend(model, inputs)
    with torch.no_grad():
        own = model(inputs.pixels).logits
        if backend.tokens is None:
            assert name in ("ConvNeXt", "ResNet")
            assert acts_on(model) == "pixels alone"
            return
        assert torch.allclose(backend.logits(backend.embeddings()), own, atol=1e-5)
    assert acts_on(model).startswith("pixels; soft erasure on the tokens")
    prefix = {"DeiT": 2, "DeiT, distilled": 2, "DINOv2 with registers": 3, "SigLIP": 0, "I-JEPA": 0, "Swin": 0,
              "Swin v2": 0}.get(name, 1)  # fmt: skip
    assert backend.tokens.prefix == prefix
    # Where a patch of pixels changes, its own token does, and no other's.
    with torch.no_grad():
        for feature in range(4):
            moved = torch.where(inputs.feature_of == feature, inputs.pixels + 1, inputs.pixels)
            change = (backend.tokens.embed(moved) - backend.embeddings()).abs().amax(dim=(0, 2))
            owners = backend.patch_features()
            assert owners is not None
            assert set(owners[change[prefix:] > 1e-6].tolist()) == {feature}


def test_what_is_read_is_found_by_the_gradient() -> None:
    inputs = images()
    half = 1 / 2
    expected = {
        "ViT": [1, 0, 0, 0, 0], "ViT-MSN": [1, 0, 0, 0, 0], "DeiT": [1, 0, 0, 0, 0, 0],
        "DeiT, distilled": [half, half, 0, 0, 0, 0], "BEiT, class token": [1, 0, 0, 0, 0],
        "DINOv2": [half, *[half / 4] * 4], "DINOv2 with registers": [half, 0, 0, *[half / 4] * 4],
    }  # fmt: skip
    for name, shares in expected.items():
        found = VisionBackend(hf_seer(name), inputs).reached.reads()
        assert torch.allclose(found, torch.tensor(shares, dtype=found.dtype)), name
    for name in ("BEiT", "CLIP", "SigLIP", "I-JEPA"):
        told = "reads its prediction from patches alone, so no class token's attention"
        refused(ModelError, told, attribute, "rollout", hf_seer(name), inputs)


def test_rollout_of_a_model_that_reads_its_patches_too_is_the_mean_of_the_rows() -> None:
    model, inputs = hf_seer("DINOv2"), images()
    quiet = replica(model)
    quiet.set_attn_implementation("eager")
    with torch.no_grad():
        maps = quiet(inputs.pixels, output_attentions=True).attentions
    product = torch.eye(5).expand(3, 5, 5)
    for attention in maps:
        product = (attention.mean(dim=1) + torch.eye(5)) / 2 @ product
    expected = (product[:, 0] + product[:, 1:].mean(dim=1))[:, 1:] / 2
    assert torch.allclose(attribute("rollout", model, inputs), expected, atol=1e-5)


def test_a_model_of_timm_in_a_wrapper_of_transformers_is_one_of_timm() -> None:
    torch.manual_seed(0)
    inside = timm.create_model("vit_tiny_patch16_224", img_size=32, depth=1, embed_dim=12, num_heads=2, num_classes=3)

    class Wrapped(nn.Module):
        """As TimmWrapperForImageClassification, whose timm model comes from a configuration of the hub."""

        def __init__(self) -> None:
            super().__init__()
            self.timm_model = inside

        def forward(self, pixel_values: Tensor) -> Any:
            return transformers.modeling_outputs.ImageClassifierOutput(logits=self.timm_model(pixel_values))

    model, inputs = Wrapped().eval(), images()
    table = evaluate(model, inputs, methods=quick_rows("image"), draws=1)
    assert table.attrs["left_out"] == {}
    for method in ("rollout", "transformer_attribution"):
        assert torch.allclose(attribute(method, model, inputs), attribute(method, inside.eval(), inputs), atol=1e-6)


def test_images_of_another_size_are_refused_in_a_sentence() -> None:
    wide = ImageInputs.from_pixels(torch.randn(1, 3, 48, 48), patch=16)
    for call in (Perturber, lambda model, inputs: attribute("rollout", model, inputs)):
        told = r"does not take images \[1, 3, 48, 48\]: Input image size \(48\*48\)"
        refused(ModelError, told, call, hf_seer("ViT"), wide)
    assert isinstance(VisionBackend(hf_seer("DINOv2"), wide).tokens, HuggingFaceTokens), "positions are interpolated"
