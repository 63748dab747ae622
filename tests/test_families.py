"""Any model that a person brings: every family against one row at a time, image classifiers of Hugging Face against the
same weights in timm, and the table of what works where."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import families
import numpy as np
import pytest
import supported
import timm
import torch
import transformers
from families import FAMILIES, PAIRS, TEXTS, Folder, one_row, opened
from flat import evaluate
from refusals import refused
from supported import HF_VISION, hf_seer, pictures
from torch import Tensor, nn
from toy_models import FAST, quick_rows

from faithlib.attribution import attribute, methods
from faithlib.backends import PromptClassifier, TextBackend, VisionBackend, acts_on, replica
from faithlib.backends.pixels import HuggingFaceTokens
from faithlib.errors import InputError, ModelError
from faithlib.evaluation import MetricSettings, explain
from faithlib.inputs import ImageInputs, TextInputs, WordInputs
from faithlib.perturb import Perturber

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "book" / "foundations" / "models.md"
VISION = {
    "ResNet": ("resnet10t", {}),
    "EfficientNet": ("tf_efficientnet_lite0", {}),
    "ConvNeXt": ("test_convnext", {}),
    "Swin": ("swin_tiny_patch4_window7_224", {"img_size": 32, "window_size": 4, "embed_dim": 8, "depths": (1, 1),
                                              "num_heads": (1, 1)}),
    "EVA-02": ("eva02_tiny_patch14_224", {"img_size": 32, "patch_size": 16, "depth": 1, "embed_dim": 16,
                                          "num_heads": 2}),
    "BEiT": ("beit_base_patch16_224", {"img_size": 32, "depth": 1, "embed_dim": 12, "num_heads": 2}),
    "CaiT": ("cait_xxs24_224", {"img_size": 32, "depth": 1, "embed_dim": 12, "num_heads": 2}),
    "XCiT": ("xcit_nano_12_p16_224", {"img_size": 32, "depth": 1, "embed_dim": 12, "num_heads": 2}),
    "SigLIP": ("vit_base_patch16_siglip_224", {"img_size": 32, "depth": 1, "embed_dim": 12, "num_heads": 2}),
    "ViT": ("vit_tiny_patch16_224", {"img_size": 32, "depth": 1, "embed_dim": 12, "num_heads": 2}),
}  # fmt: skip


def held(folder: Folder, family: str) -> tuple[Any, Any, TextInputs]:
    """A family's model and tokenizer, and texts for it."""
    model, reader = opened(folder(family))
    return model, reader, TextInputs.from_texts(TEXTS, reader)


def masks(inputs: Any, steps: int = 3) -> Tensor:
    shape = (len(inputs), steps, inputs.feature_mask.shape[1])
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)) < 0.5


def check_hard(family: str, model: nn.Module, inputs: TextInputs) -> None:
    keep = masks(inputs)
    # Nothing is left of a text without protected tokens when all is deleted.
    for erase in ("zero", "pad", "mask", *(["delete"] if inputs.has_protected else [])):
        found = Perturber(model, inputs, erase=erase).logits(keep)
        for b, s in np.ndindex(keep.shape[:2]):
            expected = one_row(family, model, inputs, b, keep[b, s], erase)
            assert torch.allclose(found[b, s], expected, atol=1e-5), (erase, b, s)


# ------------------------------------------------------------------------------------------------------------- texts
@pytest.mark.parametrize("family", FAMILIES)
def test_hard_erasure_is_that_of_one_row_at_a_time(family: str, folder: Folder) -> None:
    model, _, inputs = held(folder, family)
    check_hard(family, model, inputs)
    Perturber(model.to(torch.bfloat16), inputs)  # the self-check allows for its rounding


@pytest.mark.parametrize("family", FAMILIES)
def test_soft_erasure_and_gradients_act_where_the_table_says(family: str, folder: Folder) -> None:
    model, _, inputs = held(folder, family)
    perturber = Perturber(model, inputs)
    assert perturber.soft(torch.full(masks(inputs).shape, 0.5)).std() > 0
    backend = TextBackend(model, inputs)
    embedded = backend.embeddings()
    factor = torch.rand(embedded.shape, generator=torch.Generator().manual_seed(1))
    whole = torch.ones(inputs.feature_mask.shape[1], dtype=torch.bool)
    with torch.no_grad():
        found = backend.logits(embedded * factor)
    for b, length in enumerate(inputs.lengths.tolist()):
        expected = one_row(family, model, inputs, b, whole, "zero", factor[b, :length])
        assert torch.allclose(found[b], expected, atol=1e-5), b
    # A slope of the logits by hand, for one element of each text's first token.
    model.double()
    backend = TextBackend(model, inputs)
    leaf = backend.embeddings().requires_grad_()
    (gradient,) = torch.autograd.grad(backend.logits(leaf).sum(), leaf)
    step = 1e-3  # RMSNorm computes in float32 whatever the weights are: a smaller step drowns in its rounding
    for b, length in enumerate(inputs.lengths.tolist()):
        assert not gradient[b, length:].any(), "padding has no effect"
        move = torch.zeros(length, leaf.shape[2], dtype=torch.float64)
        move[0, 0] = step / float(leaf.detach()[b, 0, 0])
        up, down = (one_row(family, model, inputs, b, whole, "zero", 1 + sign * move).sum() for sign in (1, -1))
        slope = float(up - down) / (2 * step)
        assert abs(slope - float(gradient[b, 0, 0])) < 2e-3 * (1 + abs(slope)), b


@pytest.mark.parametrize("family", ["bert", "xlnet", "gpt2", "llama", "t5"])
def test_pairs_are_inputs_like_any_other(family: str, folder: Folder) -> None:
    model, reader, _ = held(folder, family)
    inputs = TextInputs.from_texts(PAIRS, reader, unit="word")
    assert inputs.features[0] == ("a", "warm", "film", "it", "is", "fine")
    again = TextInputs.from_texts([first for first, _ in PAIRS], reader, pairs=[two for _, two in PAIRS], unit="word")
    assert inputs.keys() == again.keys()
    specials = inputs.attention_mask & torch.isin(inputs.input_ids, torch.tensor([2, 3, 5, 6]))
    assert (inputs.feature_of[specials] == -1).all(), "separators are protected"
    check_hard(family, model, inputs)


@pytest.mark.parametrize("family", families.DECODERS)
def test_decoders_read_the_last_token_whichever_side_is_padded(family: str, folder: Folder) -> None:
    scores = []
    for side in ("left", "right"):
        model, reader = opened(folder(family, False, side))
        inputs = TextInputs.from_texts(TEXTS, reader)
        batch = reader(TEXTS, padding=True, return_tensors="pt")
        mask = batch["attention_mask"].bool()
        one, none = torch.ones(len(TEXTS), dtype=torch.long), torch.zeros(len(TEXTS), dtype=torch.bool)
        by_hand = TextInputs(batch["input_ids"], mask, torch.where(mask, 0, -1), one, none, 0)
        alone = torch.cat([model(**reader(text, return_tensors="pt")).logits for text in TEXTS]).detach()
        for asked in (inputs, by_hand):
            assert torch.allclose(Perturber(model, asked).logits_full, alone, atol=1e-5)
        scores.append(attribute("input_x_gradient", model, inputs))
    assert torch.allclose(*scores, atol=1e-5)


def test_what_depends_on_padding_is_refused(folder: Folder) -> None:
    model, reader, inputs = held(folder, "llama")
    model.config.pad_token_id = int(inputs.input_ids[0, int(inputs.lengths[0]) - 1])
    refused(ModelError, r"row 0 ends with token .* takes for padding", Perturber, model, inputs)
    model.config.pad_token_id = None
    assert Perturber(model, inputs).full.shape == (4,)
    assert model.config.pad_token_id is None
    reader.pad_token = None
    refused(InputError, "this tokenizer has no padding token", TextInputs.from_texts, TEXTS, reader)
    model, reader, _ = held(folder, "big_bird")
    long = TextInputs.from_texts(["a film " * 20], reader)
    refused(ModelError, r"more than 28 tokens .* block-sparse", Perturber, model, long)
    model, _, inputs = held(folder, "xlnet")
    model.config.summary_type = "mean"
    refused(ModelError, "summary_type 'mean'", Perturber, model, inputs)
    endless = TextInputs.from_texts(TEXTS, families.tokenizer("bos"))
    refused(ModelError, "row 0 does not end with token 6", Perturber, held(folder, "t5")[0], endless)
    model, _, inputs = held(folder, "gpt2")
    refused(InputError, "protects no token of a text", Perturber, model, inputs, erase="delete")


@pytest.mark.parametrize("family", FAMILIES)
def test_weighted_attention_is_a_mask_where_the_family_takes_weights(family: str, folder: Folder) -> None:
    model, _, inputs = held(folder, family)
    perturber = Perturber(model, inputs, output="logit", target=0)
    keep = masks(inputs, 1)
    if not TextBackend(model, inputs).family.weighs:
        refused(ModelError, "takes no weights", perturber.attention_mask, keep.float())
        return
    found = perturber.attention_mask(keep.float())[:, 0]
    for b, length in enumerate(inputs.lengths.tolist()):
        owners = inputs.feature_of[b, :length]
        there = torch.tensor([f < 0 or bool(keep[b, 0, f]) for f in owners.tolist()])
        with torch.no_grad():
            expected = model(input_ids=inputs.input_ids[b : b + 1, :length], attention_mask=there.long()[None]).logits
        assert torch.allclose(found[b], expected[0, 0], atol=1e-4), b


# ------------------------------------------------------------------------------------------------------------ prompts
def test_a_causal_model_is_asked_by_prompt(folder: Folder) -> None:
    """Its answers are those of one row at a time in `test_prefix`."""
    model, reader = opened(folder("llama", True), causal=True)
    template = "review : {text} . it is"
    prompt = PromptClassifier(model, reader, template, [" good", " bad"])
    assert prompt.label_ids.tolist() == [reader.convert_tokens_to_ids(word) for word in ("good", "bad")]
    assert prompt.inputs(TEXTS).features[0] == ("a", "warm", ",", "fine", "film"), "the template's words are protected"
    copy.deepcopy(prompt)
    for said, asked, labels in (
        ("share a token", template, ["n", " bad"]),
        ("expected one", "review :", [" good", " bad"]),
        ("same token", "{text} is", [" good", " good"]),
    ):
        refused(InputError, said, PromptClassifier, model, reader, asked, labels)
    refused(InputError, "does not fit with the template", prompt.inputs, ["a film " * 40])


# ----------------------------------------------------------------------------------------------------------- pictures
def seer(name: str) -> nn.Module:
    architecture, settings = VISION[name]
    return supported.seer(architecture, **settings)


@pytest.mark.parametrize("name", VISION)
def test_pixels_are_erased_whatever_sees_them(name: str) -> None:
    model, inputs = seer(name), pictures()
    keep = masks(inputs)
    found = Perturber(model, inputs, erase="zero").logits(keep)
    for b, s in np.ndindex(2, 3):
        kept = keep[b, s][inputs.feature_of]
        with torch.no_grad():
            expected = model((inputs.pixels[b] * kept)[None])[0]
        assert torch.allclose(found[b, s], expected, atol=1e-5)


def test_a_model_without_tokens_says_what_works() -> None:
    perturber = Perturber(seer("ResNet"), pictures())
    said = r"ResNet is no timm VisionTransformer.*what works: lime, occlusion"
    refused(ModelError, said, perturber.soft, torch.ones(2, 1, 4))
    refused(ModelError, said, attribute, "rollout", seer("ResNet"), pictures())
    refused(ModelError, r"answered .* expected logits", Perturber, nn.Conv2d(3, 1, 1).eval(), pictures())


# ---------------------------------------------------------------------------------------------------------- functions
def of_words(texts: list[str]) -> np.ndarray:
    """Probabilities by the words of a text."""
    z = [2 * text.count("fine") - 3 * text.count("bad") + 0.3 * len(text.split()) for text in texts]
    p = 1 / (1 + np.exp(-np.array(z)))
    return np.stack([1 - p, p], axis=1)


def test_a_function_of_texts_is_asked_once_for_each_distinct_row() -> None:
    calls: list[list[str]] = []

    def counted(texts: list[str]) -> np.ndarray:
        calls.append(list(texts))
        return of_words(texts)

    texts = ["a fine fine film", "bad  film", "a fine fine film"]
    metrics = ["nc", "ns", "saco", "naopc_morf"]
    table = evaluate(counted, texts, methods=["lime", "occlusion", "shapley_sampling", "random"], metrics=metrics)
    asked = [text for call in calls for text in call]
    twice = len(asked) - len(set(asked))
    assert twice == 2, "no text twice, though metrics, methods and masks share many, but for the self-check's one"
    assert len(calls) < len(asked) / 2
    assert "bad  film" in asked
    assert set(table.metric) == set(metrics)
    inputs = WordInputs.from_texts(texts)
    keep = masks(inputs)
    for erase in ("delete", "mask"):
        found = Perturber(of_words, inputs, erase=erase).logits(keep).softmax(dim=-1)
        for b, s in np.ndindex(3, 3):
            words = [w if k else "[MASK]" for w, k in zip(texts[b].split(), keep[b, s].tolist(), strict=False)]
            text = (" ", "  ")[b == 1].join(w for w in words if erase == "mask" or w != "[MASK]")
            assert torch.allclose(found[b, s].double(), torch.from_numpy(of_words([text])[0]), atol=1e-6)
    scores = attribute("occlusion", of_words, inputs, target=1)
    assert scores[1, 0] < 0 < scores[0, 1]


def test_an_estimator_of_scikit_learn_is_a_function_of_texts() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = ["a fine film", "fine and good", "a bad film", "not good , bad"]
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 1, 0, 0])
    assert int(explain(pipeline, ["a fine film"], ["occlusion"])["occlusion"].argmax()) == 1, "fine"


def test_a_function_of_pixels_is_enough() -> None:
    weights = np.random.default_rng(0).normal(size=(48, 3)).astype(np.float32)

    def logits(pixels: Tensor) -> np.ndarray:
        means = nn.functional.avg_pool2d(pixels, 8).flatten(1).numpy()
        return np.tanh(means @ weights)

    inputs = pictures()
    table = evaluate(logits, inputs, methods=["lime", "occlusion", "grad_cam"], metrics=["nc", "saco", "soft_nc"])
    assert set(table.method) == {"lime", "occlusion"}
    assert set(table.attrs["left_out"]) == {"grad_cam", "soft_nc"}  # what was asked for only
    kept = torch.tensor([True, False, True, False])
    by_hand = logits(inputs.pixels[:1] * kept[inputs.feature_of])[0]
    found = Perturber(logits, inputs, erase="zero").logits(kept.expand(2, 1, 4))
    assert np.allclose(found[0, 0].numpy(), by_hand, atol=1e-5)


# ---------------------------------------------------------------------------------------------------------- the table
def works(model: Any, inputs: Any, kind: str) -> tuple[set[str], set[str]]:
    """Which methods and which families of metrics a model allows, by trying."""
    table = evaluate(model, inputs, methods=quick_rows(kind), settings=MetricSettings(draws=1))
    assert np.isfinite(table.value[table.metric == "aopc_morf"]).all()
    return set(table.method), set(table.metric)


@pytest.mark.long
def test_the_table_of_what_is_supported_is_what_passed(folder: Folder) -> None:
    rows: list[Tried] = []
    for family in FAMILIES:
        model, reader = opened(folder(family))
        found = works(model, TextInputs.from_texts(TEXTS[:2], reader), "text")
        rows.append((family, acts_on(model), *found, "text"))
    for family in ("llama", "mamba"):
        model, reader = opened(folder(family, True), causal=True)
        prompt = PromptClassifier(model, reader, "review : {text} . it is", [" good", " bad"])
        found = works(prompt, prompt.inputs(TEXTS[:2]), "text")
        rows.append((f"{family} with a prompt", acts_on(prompt), *found, "text"))
    rows += [(f"timm {n}", acts_on(seer(n)), *works(seer(n), pictures(), "image"), "image") for n in VISION]
    rows += [
        (f"Hugging Face {n}", acts_on(hf_seer(n)), *works(hf_seer(n), pictures(), "image"), "image") for n in HF_VISION
    ]
    found = works(of_words, WordInputs.from_texts(TEXTS[:2]), "words")
    rows.append(("function of texts", acts_on(of_words), *found, "words"))
    pixels = seer("ResNet")
    with torch.no_grad():
        found = works(lambda x: pixels(x).detach(), pictures(), "image")
    rows.append(("function of pixels", acts_on(lambda x: x), *found, "image"))
    made = _written(rows)
    told = re.search(r"<!-- families -->\n(.*?)<!-- /families -->", TABLE.read_text(), re.S)
    assert told is not None, f"no markers in {TABLE.name}"
    assert told.group(1).strip() == made.strip(), f"put this between the markers of {TABLE.name}:\n{made}"


Tried = tuple[str, str, set[str], set[str], str]


def _written(rows: list[Tried]) -> str:
    lines = [
        "| model | zero vectors and soft erasure act on | soft metrics | methods | left out |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, acts, explained, measured, kind in rows:
        left = [method for method in methods(kind) if method not in explained]
        soft = "yes" if "soft_nc" in measured else "no"
        of = len(methods(kind))
        lines.append(f"| {name} | {acts} | {soft} | {of - len(left)} of {of} | {', '.join(left) or '-'} |")
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------- pictures, by Hugging Face
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
        if head := next((head_name for head_name in heads if key.startswith(head_name)), None):
            weights[key.replace(head, heads[head])] = value
            continue
        for timms, own in RENAMED.items():
            key = key.replace(timms, own)
        parts = zip("qkv", value.chunk(3), strict=True) if "qkv" in key else [("qkv", value)]
        weights |= {f"{model.base_model_prefix}.{key.replace('qkv', part)}": tensor for part, tensor in parts}
    model.load_state_dict(weights)
    return theirs, model


BOTH = [("vit_tiny_patch16_224", False), ("deit_tiny_distilled_patch16_224", True)]


@pytest.mark.parametrize(("name", "distilled"), BOTH)
def test_every_method_and_perturbation_gives_what_it_gives_for_timm(name: str, distilled: bool) -> None:
    theirs, model = of_timm(name, distilled)
    inputs = pictures(3)
    with torch.no_grad():
        assert torch.allclose(model(inputs.pixels).logits, theirs(inputs.pixels), atol=1e-5)
    for method in methods("image"):
        a, b = (
            attribute(method, network, inputs, target=[0, 1, 2], **FAST.get(method, {})) for network in (model, theirs)
        )
        assert torch.allclose(a, b, atol=1e-4 * (1 + float(b.abs().max()))), (method, a, b)
    keep = torch.rand(3, 5, 4, generator=torch.Generator().manual_seed(1))
    one, other = (Perturber(each, inputs, target=1) for each in (model, theirs))
    assert torch.allclose(one.keep(keep < 0.5), other.keep(keep < 0.5), atol=1e-5)
    assert torch.allclose(one.soft(keep, draws=2), other.soft(keep, draws=2), atol=1e-5)
    noise = {"variance": 0.5, "equation": 7}
    assert torch.allclose(one.gaussian(keep, **noise), other.gaussian(keep, **noise), atol=1e-5)


@pytest.mark.parametrize("name", HF_VISION)
def test_tokens_are_found_and_lead_to_the_models_own_answer(name: str) -> None:
    model, inputs = hf_seer(name), pictures(3)
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
    inputs = pictures(3)
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
    model, inputs = hf_seer("DINOv2"), pictures(3)
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
    inside = seer("ViT")

    class Wrapped(nn.Module):
        """As TimmWrapperForImageClassification, whose timm model comes from a configuration of the hub."""

        def __init__(self) -> None:
            super().__init__()
            self.timm_model = inside

        def forward(self, pixel_values: Tensor) -> Any:
            return transformers.modeling_outputs.ImageClassifierOutput(logits=self.timm_model(pixel_values))

    model, inputs = Wrapped().eval(), pictures(3)
    table = evaluate(model, inputs, methods=quick_rows("image"), settings=MetricSettings(draws=1))
    assert table.attrs["left_out"] == {}
    for method in ("rollout", "transformer_attribution"):
        assert torch.allclose(attribute(method, model, inputs), attribute(method, inside, inputs), atol=1e-6)


def test_images_of_another_size_are_refused_in_a_sentence() -> None:
    wide = ImageInputs.from_pixels(torch.randn(1, 3, 48, 48), patch=16)
    for call in (Perturber, lambda model, inputs: attribute("rollout", model, inputs)):
        told = r"does not take images \[1, 3, 48, 48\]: Input image size \(48\*48\)"
        refused(ModelError, told, call, hf_seer("ViT"), wide)
    assert isinstance(VisionBackend(hf_seer("DINOv2"), wide).tokens, HuggingFaceTokens), "positions are interpolated"
