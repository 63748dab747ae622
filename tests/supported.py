"""Models and inputs of the kinds that public reports of other tools are about, tiny and random: what a caller holds.

`CASES`: by name what makes model, inputs and options of one `evaluate`. The page *Models that can be explained* has a
row for each, with the report that it is about; `test_supported` holds the rest of the row to what happens.
"""

from __future__ import annotations

import dataclasses
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

import families
import heads
import numpy as np
import pandas as pd
import peft
import pytest
import sequence_classes
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


def reading(model: nn.Module) -> Held:
    return model, text_inputs(text_model()), {}


def of_texts(held: Any, model: Any = None, **options: Any) -> Held:
    return (text_model() if model is None else model), held, {"tokenizer": tokenizer(), **options}


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


def pictures(n: int = 2) -> ImageInputs:
    return ImageInputs.from_pixels(torch.randn(n, 3, 32, 32, generator=torch.Generator().manual_seed(0)), patch=16)


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


def checkpointed(model: nn.Module) -> nn.Module:
    with warnings.catch_warnings(action="ignore"):
        model.gradient_checkpointing_enable()
    return model


def with_gradients_of_inputs(model: nn.Module) -> nn.Module:
    model.enable_input_require_grads()
    return model


def without_dicts(model: nn.Module) -> nn.Module:
    model.config.return_dict = False
    return model


def compiled(model: nn.Module) -> Any:
    """As `torch.compile` wraps it, without half a minute of writing and building code, which changes no wrapper."""
    return torch.compile(model, backend="eager")


def compiled_forward(model: nn.Module) -> nn.Module:
    model.forward = torch.compile(model.forward, backend="eager")
    return model


def not_a_number(value: float = torch.nan) -> Held:
    model = text_model()
    model.classifier.bias.data[0] = value
    return reading(model)


def with_dropout_in_a_part() -> Held:
    model = text_model()
    model.bert.encoder.layer[0].output.dropout.train()
    return reading(model)


def with_dropout_between_blocks() -> Held:
    model = vision_model()
    model.blocks[0].attn.proj_drop = nn.Dropout(0.5)
    return model, image_inputs(), {}


def in_int8() -> Held:
    with warnings.catch_warnings(action="ignore"):
        return reading(torch.ao.quantization.quantize_dynamic(text_model(), {nn.Linear}))


def underflowing() -> Held:
    model = text_model()
    model.classifier.weight.data *= 1e-7
    return reading(model.half())


def mapped_to_a_device() -> Held:
    with tempfile.TemporaryDirectory() as folder:
        text_model().save_pretrained(folder)
        return reading(hf.BertForSequenceClassification.from_pretrained(folder, device_map="auto").eval())


def patched_from_outside() -> Held:
    model = text_model()
    own = model.forward
    model.forward = lambda **given: own(**given)
    return reading(model)


def patched_by_a_method() -> Held:
    model = text_model()
    own = type(model).forward
    model.forward = MethodType(lambda self, *given, **named: own(self, *given, **named), model)
    return reading(model)


def patched_for_images() -> Held:
    model = vision_model()
    own = model.forward
    model.forward = lambda pixels: 2 * own(pixels)
    return model, image_inputs(), {}


def drawing_function() -> Held:
    drawn = torch.Generator().manual_seed(0)
    return (lambda texts: torch.rand(len(texts), 2, generator=drawn).softmax(dim=1)), TEXTS, {}


def function_of_pixels() -> Held:
    model = vision_model()
    return (lambda pixels: model(pixels).detach()), image_inputs(), {}


def beyond_the_vocabulary() -> Held:
    inputs = text_inputs(text_model())
    return text_model(), dataclasses.replace(inputs, input_ids=inputs.input_ids + 30), {}


def ragged_scores() -> Held:
    ready = TextInputs.from_texts(TEXTS, tokenizer(), unit="word")
    scores = [np.arange(n, dtype=float) for n in ready.n_features.tolist()]
    return text_model(), ready, {"methods": {"occlusion": scores}}


def superpixels() -> Held:
    segments = torch.arange(4).repeat_interleave(8)[:, None].expand(32, 32)
    return seer(), ImageInputs(pictures().pixels, torch.stack([segments, segments.T]), torch.tensor([4, 4])), {}


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


def by_prompt(family: str) -> Held:
    with tempfile.TemporaryDirectory() as folder:
        model, reader = families.opened(families.saved(family, families.Path(folder), causal=True), causal=True)
    prompt = PromptClassifier(model, reader, "review : {text} . it is", [" good", " bad"])
    return prompt, ["a warm film", "not bad"], {}


def of_pictures(name: str) -> Held:
    return hf_seer(name), pictures(), {}


def of_another_task(kind: Any) -> Held:
    return reading(small(kind))


def of_class(name: str, *, with_types: bool = False) -> Held:
    """A class of transformers with drawn weights, and texts of several lengths; each token of type 1, or none."""
    inputs = sequence_classes.texts()
    types = inputs.attention_mask.long() if with_types else None
    model = sequence_classes.made(f"{name}ForSequenceClassification")
    return model, dataclasses.replace(inputs, token_type_ids=types), {}


def of_pipeline(**options: Any) -> Any:
    return hf.TextClassificationPipeline(model=text_model(), tokenizer=tokenizer(), **options)


def with_labels(names: Any) -> nn.Module:
    model = text_model()
    model.config.id2label = names
    return model


def traced() -> nn.Module:
    with warnings.catch_warnings(action="ignore"):
        return torch.jit.trace(nn.Linear(2, 2).eval(), torch.zeros(1, 2))


def small_seer() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()


def two_towers() -> nn.Module:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    ids = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": 60, "max_position_embeddings": 16}
    seen = {**sizes, "image_size": 32, "patch_size": 16}
    torch.manual_seed(0)
    return hf.CLIPModel(hf.CLIPConfig(vision_config=seen, text_config={**sizes, **ids})).eval()


OTHER_TASKS = (
    hf.BertForMaskedLM, hf.BertForTokenClassification, hf.BertForQuestionAnswering, hf.BertForMultipleChoice,
    hf.BertModel,
)  # fmt: skip
# By name, in the order of the page: what makes model, inputs and options.
CASES: dict[str, Callable[[], Held]] = {
    "one logit, nothing said": lambda: reading(text_model(classes=1)),
    "one logit, `output='sigmoid'`": lambda: (text_model(classes=1), text_inputs(text_model()), {"output": "sigmoid"}),
    "several labels, `multi_label_classification`": lambda: reading(text_model(problem="multi_label_classification")),
    "a predicted value, `regression`": lambda: reading(text_model(classes=1, problem="regression")),
    "timm, `num_classes=1`": lambda: (seer(num_classes=1), pictures(), {}),
    "timm, `num_classes=1`, `output='sigmoid'`": lambda: (seer(num_classes=1), pictures(), {"output": "sigmoid"}),
    "timm, `num_classes=0`": lambda: (seer(num_classes=0), pictures(), {}),
    "logits that are NaN": not_a_number,
    "logits that are infinite": lambda: not_a_number(torch.inf),
    "`config.return_dict=False`": lambda: reading(without_dicts(text_model())),
    "LoRA on an encoder": lambda: reading(adapted(lora(["query"]))),
    "LoRA on a decoder": lambda: reading(
        adapted(lora(["q_proj"]), small(hf.LlamaForSequenceClassification, num_labels=3))
    ),
    "LoRA, merged": lambda: reading(adapted(lora(["query"])).merge_and_unload()),
    "prompt tuning": lambda: reading(adapted(peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3))),
    "prefix tuning": lambda: reading(adapted(peft.PrefixTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3))),
    "dropout that stays on in a part, texts": with_dropout_in_a_part,
    "a part in training mode, images": with_dropout_between_blocks,
    "gradient checkpointing on": lambda: reading(checkpointed(text_model())),
    "`enable_input_require_grads()`": lambda: reading(with_gradients_of_inputs(text_model())),
    "int8, dynamic": in_int8,
    "8-bit, bitsandbytes 0.50.2 on a processor": lambda: in_few_bits("int8"),
    "4-bit (nf4), bitsandbytes 0.50.2 on a processor": lambda: in_few_bits("nf4"),
    "float16 whose gradients underflow": underflowing,
    "bfloat16": lambda: reading(text_model().bfloat16()),
    "DataParallel": lambda: reading(nn.DataParallel(text_model())),
    "`torch.compile`d, texts": lambda: reading(compiled(text_model())),
    "`torch.compile`d, images": lambda: (compiled(vision_model()), image_inputs(), {}),
    "`model.forward = torch.compile(model.forward)`": lambda: reading(compiled_forward(text_model())),
    "`device_map='auto'`": mapped_to_a_device,
    "weights on the meta device": lambda: reading(text_model().to("meta")),
    "a forward that is patched from outside, texts": patched_from_outside,
    "a forward that is patched by a method, texts": patched_by_a_method,
    "a forward that is patched, images": patched_for_images,
    **{f"Hugging Face {name}": partial(of_pictures, name) for name in HF_VISION},
    "a causal model": lambda: reading(small(hf.LlamaForCausalLM)),
    "a causal model by prompt": lambda: by_prompt("llama"),
    "a state-space model by prompt": lambda: by_prompt("mamba"),
    **{kind.__name__: partial(of_another_task, kind) for kind in OTHER_TASKS},
    "a function of texts that draws": drawing_function,
    "a function of pixels": function_of_pixels,
    "ids beyond the vocabulary": beyond_the_vocabulary,
    "another model's special tokens": lambda: of_texts(TEXTS, text_model("roberta")),
    "a text longer than the places of a model": lambda: (text_model(), text_inputs(text_model(), (70, 6)), {}),
    "a text that is cut off": lambda: of_texts([*TEXTS, "film " * 60]),
    "a text without blanks": lambda: (
        (lambda texts: [[0.5, 0.5 + 0 * len(t)] for t in texts]),
        ["我们喜欢这部电影", "这部电影很好看"],
        {},
    ),
    "a text with one feature": lambda: of_texts(["film", *TEXTS]),
    "a text that is missing": lambda: of_texts([TEXTS[0], None]),
    "a text that is missing, `on_error='skip'`": lambda: of_texts([*TEXTS, None], on_error="skip"),
    "a pipeline": lambda: (hf.TextClassificationPipeline(model=text_model(), tokenizer=tokenizer()), TEXTS, {}),
    "a pandas Series, an array, a generator of texts": lambda: of_texts(pd.Series(np.array(TEXTS))),
    "scores as ragged lists and arrays": ragged_scores,
    "`target` as a label's name": lambda: of_texts(TEXTS, target="LABEL_1"),
    "a model given by its name": lambda: ("bert-base-uncased", TEXTS, {}),
    "a tokenizer without offsets": lambda: (text_model(), TEXTS, {"tokenizer": hf.ByT5Tokenizer()}),
    "PIL images": lambda: (seer(), [Image.new("RGB", (40, 40), colour) for colour in ("red", "green")], {}),
    "pixels from 0 to 255": lambda: (seer(), 255 * torch.rand(2, 3, 32, 32), {}),
    "images of one channel": lambda: (seer(), torch.randn(2, 1, 32, 32), {}),
    "channels last": lambda: (seer(), torch.randn(2, 32, 32, 3), {}),
    "segments of each image (superpixels)": superpixels,
    "padding that a model reads (FNet)": lambda: of_class("FNet"),
    "padding that a convolution reads (ConvBERT)": lambda: of_class("ConvBert"),
    "a head that pools with the mask": lambda: reading(heads.headed(heads.MeanPooled)),
    "a head that looks at token ids": lambda: reading(heads.headed(heads.ByIds)),
    "a head that returns (pooled, logits)": lambda: reading(heads.headed(heads.PooledAndLogits)),
    "a forward that needs one more argument": lambda: reading(heads.headed(heads.WithTopic)),
    "outputs that a model keeps": lambda: reading(heads.headed(heads.Keeping)),
    "boxes beside the tokens (LayoutLM)": lambda: of_class("LayoutLM"),
    "quantised embeddings (I-BERT)": lambda: of_class("IBert"),
    "GPT-2 with the token types of BERT's tokenizer": lambda: of_class("GPT2", with_types=True),
    "GPT-J with the token types of BERT's tokenizer": lambda: of_class("GPTJ", with_types=True),
    "TorchScript, texts": lambda: reading(traced()),
    "a pipeline, `function_to_apply='sigmoid'`": lambda: (of_pipeline(function_to_apply="sigmoid"), TEXTS, {}),
    "a zero-shot pipeline": lambda: (
        hf.ZeroShotClassificationPipeline(model=text_model(), tokenizer=tokenizer()), TEXTS, {},
    ),
    "names of labels that are no map from classes": lambda: of_texts(TEXTS, with_labels({"bad": 0, "good": 1})),
    "texts as lists of two words": lambda: of_texts([["good", "film"], ["bad", "film"]]),
    "scores that are padded on the left": lambda: of_texts(
        ["a film", "a fine film"], methods={"occlusion": torch.tensor([[0.0, 0.1, 0.2], [0.3, 0.2, 0.1]])}
    ),
    "a function whose answers are sorted by size": lambda: (lambda texts: [[0.7, 0.3] for _ in texts], TEXTS, {}),
    "a function that fails on the empty text": lambda: (lambda texts: [[1 / len(t), 1 - 1 / len(t)] for t in texts],
                                                        TEXTS, {}),
    "images of 50 pixels, patches of 16": lambda: (small_seer(), torch.randn(2, 3, 50, 50), {}),
    "images and texts (CLIPModel)": lambda: (two_towers(), torch.randn(2, 3, 32, 32), {}),
}  # fmt: skip
