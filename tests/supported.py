"""Models and inputs of the kinds that public reports of other tools are about, tiny and random: what a caller holds.

`CASES`: by name the report, and what makes model, inputs and options of one `evaluate`. The page *Models that can be
explained* has a row for each, which `test_supported` holds to what happens.
"""

from __future__ import annotations

import dataclasses
import tempfile
import warnings
from collections.abc import Callable
from types import MethodType
from typing import Any

import families
import numpy as np
import pandas as pd
import peft
import pytest
import timm
import torch
import transformers as hf
from PIL import Image
from torch import nn
from toy_models import image_inputs, text_inputs, text_model, tokenizer, vision_model

from faithlib.backends import PromptClassifier
from faithlib.inputs import ImageInputs, TextInputs

TEXTS = ["a fine film, not bad", "who is it, not a film"]
Held = tuple[Any, Any, dict[str, Any]]  # model, inputs, options
CASES: dict[str, tuple[str, Callable[[], Held]]] = {}


def case(name: str, report: str = "-") -> Callable[[Callable[[], Held]], Callable[[], Held]]:
    """Enter what follows under a name."""

    def entered(make: Callable[[], Held]) -> Callable[[], Held]:
        CASES[name] = report, make
        return make

    return entered


def reading(model: nn.Module) -> Held:
    return model, text_inputs(text_model()), {}


def of_texts(held: Any, model: Any = None, **options: Any) -> Held:
    return (text_model() if model is None else model), held, {"tokenizer": tokenizer(), **options}


def said(problem: str | None, classes: int = 3) -> nn.Module:
    model = text_model(classes=classes)
    model.config.problem_type = problem
    return model


def adapted(config: Any, model: nn.Module | None = None) -> Any:
    torch.manual_seed(0)
    return peft.get_peft_model(text_model() if model is None else model, config).eval()


def lora(modules: list[str]) -> Any:
    return peft.LoraConfig(task_type="SEQ_CLS", target_modules=modules, init_lora_weights=False)


def small(kind: Any, **more: Any) -> nn.Module:
    """A random model of BERT's or Llama's kind for another task."""
    torch.manual_seed(0)
    config = kind.config_class
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32} | more
    return kind(config(vocab_size=60, pad_token_id=0, max_position_embeddings=64, **sizes)).eval()


def seer(name: str = "vit_tiny_patch16_224", **given: Any) -> Any:
    torch.manual_seed(0)
    sizes = {"img_size": 32, "depth": 2, "embed_dim": 12, "num_heads": 2} if name.startswith("vit_") else {}
    return timm.create_model(name, **{"num_classes": 3, **sizes, **given}).eval()


def pictures() -> ImageInputs:
    return ImageInputs.from_pixels(torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0)), patch=16)


_VISION = {
    "image_size": 32, "patch_size": 16, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32, "num_labels": 3,
}  # fmt: skip
_SWIN = {
    "image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4,
    "num_labels": 3,
}  # fmt: skip
HF_VISION: dict[str, tuple[Any, dict[str, Any]]] = {
    "ViT": (hf.ViTForImageClassification, _VISION),
    "DeiT": (hf.DeiTForImageClassification, _VISION),
    "DeiT, distilled": (hf.DeiTForImageClassificationWithTeacher, _VISION),
    "DINOv2": (hf.Dinov2ForImageClassification, _VISION),
    "DINOv2 with registers": (hf.Dinov2WithRegistersForImageClassification, {**_VISION, "num_register_tokens": 2}),
    "ViT-MSN": (hf.ViTMSNForImageClassification, _VISION),
    "BEiT": (hf.BeitForImageClassification, {**_VISION, "use_relative_position_bias": True}),
    "BEiT, class token": (
        hf.BeitForImageClassification,
        {**_VISION, "use_mean_pooling": False, "use_absolute_position_embeddings": True},
    ),
    "I-JEPA": (hf.IJepaForImageClassification, _VISION),
    "SigLIP": (hf.SiglipForImageClassification, {"vision_config": _VISION, "num_labels": 3}),
    "CLIP": (hf.CLIPForImageClassification, {"vision_config": _VISION, "num_labels": 3}),
    "Swin": (hf.SwinForImageClassification, _SWIN),
    "Swin v2": (hf.Swinv2ForImageClassification, _SWIN),
    "ConvNeXt": (hf.ConvNextForImageClassification, {"hidden_sizes": [8, 8], "depths": [1, 1], "num_stages": 2}),
    "ResNet": (hf.ResNetForImageClassification, {"embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1]}),
}


def hf_seer(name: str) -> Any:
    """A random image classifier of Hugging Face."""
    kind, settings = HF_VISION[name]
    torch.manual_seed(0)
    model = kind(kind.config_class(**settings)).eval()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if "norm" not in key:
                parameter.normal_(0, 0.3)
    return model


# ------------------------------------------------------------------------------------------------------------- outputs
@case("one logit, nothing said", "huggingface/transformers#7726, vllm#18313")
def _() -> Held:
    return reading(text_model(classes=1))


@case("one logit, `output='sigmoid'`", "huggingface/transformers#7726")
def _() -> Held:
    return text_model(classes=1), text_inputs(text_model()), {"output": "sigmoid"}


@case("several labels, `multi_label_classification`", "torchgeo#791, transformers-interpret#39")
def _() -> Held:
    return reading(said("multi_label_classification"))


@case("a predicted value, `regression`")
def _() -> Held:
    return reading(said("regression", 1))


@case("timm, `num_classes=1`", "pytorch-grad-cam#325")
def _() -> Held:
    return seer(num_classes=1), pictures(), {}


@case("timm, `num_classes=1`, `output='sigmoid'`", "pytorch-grad-cam#325")
def _() -> Held:
    return seer(num_classes=1), pictures(), {"output": "sigmoid"}


@case("timm, `num_classes=0`")
def _() -> Held:
    return seer(num_classes=0), pictures(), {}


@case("logits that are NaN", "LRP-eXplains-Transformers#14")
def _() -> Held:
    model = text_model()
    model.classifier.weight.data[0, 0] = torch.nan
    return reading(model)


@case("`config.return_dict=False`", "captum#1215, pytorch-grad-cam#481")
def _() -> Held:
    model = text_model()
    model.config.return_dict = False
    return reading(model)


# ------------------------------------------------------------------------------------------------- around and in models
@case("LoRA on an encoder", "peft")
def _() -> Held:
    return reading(adapted(lora(["query"])))


@case("LoRA on a decoder", "Automodel#781")
def _() -> Held:
    return reading(adapted(lora(["q_proj"]), small(hf.LlamaForSequenceClassification, num_labels=3)))


@case("LoRA, merged", "peft")
def _() -> Held:
    return reading(adapted(lora(["query"])).merge_and_unload())


@case("prompt tuning", "peft#2134")
def _() -> Held:
    return reading(adapted(peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3)))


@case("prefix tuning", "peft#3201")
def _() -> Held:
    return reading(adapted(peft.PrefixTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3)))


@case("dropout that stays on in a part, texts", "TransformerLens#1787")
def _() -> Held:
    model = text_model()
    model.bert.encoder.layer[0].output.dropout.train()
    return reading(model)


@case("a part in training mode, images", "TransformerLens#1787")
def _() -> Held:
    model = vision_model()
    model.blocks[0].attn.proj_drop = nn.Dropout(0.5)
    return model, image_inputs(), {}


@case("gradient checkpointing on", "huggingface/transformers#42558")
def _() -> Held:
    model = text_model()
    with warnings.catch_warnings(action="ignore"):
        model.gradient_checkpointing_enable()
    return reading(model.eval())


@case("`enable_input_require_grads()`", "huggingface/transformers#42558")
def _() -> Held:
    model = text_model()
    model.enable_input_require_grads()
    return reading(model)


@case("int8, dynamic", "LRP-eXplains-Transformers#14, #15")
def _() -> Held:
    with warnings.catch_warnings(action="ignore"):
        return reading(torch.ao.quantization.quantize_dynamic(text_model(), {nn.Linear}))


def in_few_bits(kind: str) -> Held:
    """With the encoder's weights in bitsandbytes, which the lock does not have: tried in an environment of its own."""
    few = pytest.importorskip("bitsandbytes").nn
    model = small(hf.BertForSequenceClassification, hidden_size=64, intermediate_size=64)
    for name, part in list(model.bert.encoder.named_modules()):
        if isinstance(part, nn.Linear):
            sizes = part.in_features, part.out_features
            made = few.Linear4bit(*sizes, compute_dtype=torch.float32, quant_type=kind) if kind == "nf4" else None
            made = made or few.Linear8bitLt(*sizes, has_fp16_weights=False, threshold=6.0)
            made.load_state_dict(part.state_dict())
            model.bert.encoder.set_submodule(name, made)
    return reading(model.to("cpu").eval())


@case("8-bit, bitsandbytes 0.50.2 on a processor")
def _() -> Held:
    return in_few_bits("int8")


@case("4-bit (nf4), bitsandbytes 0.50.2 on a processor")
def _() -> Held:
    return in_few_bits("nf4")


@case("float16 whose gradients underflow", "LRP-eXplains-Transformers#7")
def _() -> Held:
    model = text_model()
    model.classifier.weight.data *= 1e-7
    return reading(model.half())


@case("bfloat16")
def _() -> Held:
    return reading(text_model().bfloat16())


@case("DataParallel", "Transformer-Explainability#30")
def _() -> Held:
    return reading(nn.DataParallel(text_model()))


@case("`torch.compile`d, texts", "pytorch#117758, #173452")
def _() -> Held:
    return reading(torch.compile(text_model()))


@case("`torch.compile`d, images", "pytorch#117758")
def _() -> Held:
    return torch.compile(vision_model()), image_inputs(), {}


@case("`model.forward = torch.compile(model.forward)`", "pytorch#173452")
def _() -> Held:
    model = text_model()
    model.forward = torch.compile(model.forward, backend="eager")
    return reading(model)


@case("`device_map='auto'`")
def _() -> Held:
    with tempfile.TemporaryDirectory() as folder:
        text_model().save_pretrained(folder)
        return reading(hf.BertForSequenceClassification.from_pretrained(folder, device_map="auto").eval())


@case("weights on the meta device")
def _() -> Held:
    return reading(text_model().to("meta"))


@case("a forward that is patched from outside, texts")
def _() -> Held:
    model = text_model()
    own = model.forward
    model.forward = lambda **given: own(**given)
    return reading(model)


@case("a forward that is patched by a method, texts")
def _() -> Held:
    model = text_model()
    own = type(model).forward
    model.forward = MethodType(lambda self, *given, **named: own(self, *given, **named), model)
    return reading(model)


@case("a forward that is patched, images")
def _() -> Held:
    model = vision_model()
    own = model.forward
    model.forward = lambda pixels: 2 * own(pixels)
    return model, image_inputs(), {}


# -------------------------------------------------------------------------------------------------------- other models
for _name in HF_VISION:

    @case(f"Hugging Face {_name}", "Transformer-Explainability#56, Transformer-MM-Explainability#37")
    def _(name: str = _name) -> Held:
        return hf_seer(name), pictures(), {}


@case("a causal model", "captum#1456")
def _() -> Held:
    return reading(small(hf.LlamaForCausalLM))


@case("a causal model by prompt")
def _() -> Held:
    return _prompt("llama")


@case("a state-space model by prompt")
def _() -> Held:
    return _prompt("mamba")


def _prompt(family: str) -> Held:
    with tempfile.TemporaryDirectory() as folder:
        model, reader = families.opened(families.saved(family, families.Path(folder), causal=True), causal=True)
    prompt = PromptClassifier(model, reader, "review : {text} . it is", [" good", " bad"])
    return prompt, ["a warm film", "not bad"], {}


for _kind in (
    hf.BertForMaskedLM, hf.BertForTokenClassification, hf.BertForQuestionAnswering, hf.BertForMultipleChoice,
    hf.BertModel,
):  # fmt: skip

    @case(_kind.__name__, "captum#1456")
    def _(kind: Any = _kind) -> Held:
        return reading(small(kind))


@case("a function of texts that draws")
def _() -> Held:
    drawn = torch.Generator().manual_seed(0)
    return (lambda texts: torch.rand(len(texts), 2, generator=drawn).softmax(dim=1)), TEXTS, {}


@case("a function of pixels")
def _() -> Held:
    model = vision_model()
    return (lambda pixels: model(pixels).detach()), image_inputs(), {}


# -------------------------------------------------------------------------------------------------------------- inputs
@case("ids beyond the vocabulary", "inseq#306")
def _() -> Held:
    inputs = text_inputs(text_model())
    return text_model(), dataclasses.replace(inputs, input_ids=inputs.input_ids + 30), {}


@case("another model's special tokens", "inseq#306")
def _() -> Held:
    return of_texts(TEXTS, text_model("roberta"))


@case("a text longer than the places of a model", "inseq#260")
def _() -> Held:
    return text_model(), text_inputs(text_model(), (70, 6)), {}


@case("a text that is cut off", "inseq#260")
def _() -> Held:
    return of_texts([*TEXTS, "film " * 60])


@case("a text without blanks", "GLiNER2#121")
def _() -> Held:
    return (lambda texts: [[0.5, 0.5 + 0 * len(t)] for t in texts]), ["我们喜欢这部电影", "这部电影很好看"], {}


@case("a text with one feature")
def _() -> Held:
    return of_texts(["film", *TEXTS])


@case("a text that is missing")
def _() -> Held:
    return of_texts([TEXTS[0], None])


@case("a text that is missing, `on_error='skip'`")
def _() -> Held:
    return of_texts([*TEXTS, None], on_error="skip")


@case("a pipeline", "shap#4051")
def _() -> Held:
    return hf.TextClassificationPipeline(model=text_model(), tokenizer=tokenizer()), TEXTS, {}


@case("a pandas Series, an array, a generator of texts", "captum#1920")
def _() -> Held:
    return of_texts(pd.Series(np.array(TEXTS)))


@case("scores as ragged lists and arrays", "captum#1922")
def _() -> Held:
    ready = TextInputs.from_texts(TEXTS, tokenizer(), unit="word")
    scores = [np.arange(n, dtype=float) for n in ready.n_features.tolist()]
    return text_model(), ready, {"methods": {"occlusion": scores}}


@case("`target` as a label's name")
def _() -> Held:
    return of_texts(TEXTS, target="LABEL_1")


@case("a model given by its name")
def _() -> Held:
    return "bert-base-uncased", TEXTS, {}


@case("a tokenizer without offsets", "shap#4630")
def _() -> Held:
    return text_model(), TEXTS, {"tokenizer": hf.ByT5Tokenizer()}


@case("PIL images", "pytorch-grad-cam#80")
def _() -> Held:
    return seer(), [Image.new("RGB", (40, 40), colour) for colour in ("red", "green")], {}


@case("pixels from 0 to 255", "pytorch-grad-cam#80")
def _() -> Held:
    return seer(), 255 * torch.rand(2, 3, 32, 32), {}


@case("images of one channel")
def _() -> Held:
    return seer(), torch.randn(2, 1, 32, 32), {}


@case("segments of each image (superpixels)")
def _() -> Held:
    segments = torch.arange(4).repeat_interleave(8)[:, None].expand(32, 32)
    return seer(), ImageInputs(pictures().pixels, torch.stack([segments, segments.T]), torch.tensor([4, 4])), {}
