"""What people hold goes into `evaluate`: texts, images, pipelines, labels, scores; what is lost or skipped is said, and
strange inputs of the kinds that public reports are about are taken or refused in a sentence, never silent."""

from __future__ import annotations

import warnings
from collections import UserList
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import supported
import timm
import torch
import transformers
from flat import evaluate
from PIL import Image
from refusals import refused
from torch import Tensor, nn
from toy_models import answers, image_inputs, quick_rows, text_inputs, text_model, tokenizer, vision_model
from transformers import BertForMaskedLM, BertForSequenceClassification

from faithlib.attribution import attribute, methods
from faithlib.attribution.registry import IMAGE_METHODS
from faithlib.backends import PromptClassifier
from faithlib.errors import FaithlibError, InputError, ModelError, UnknownNameError
from faithlib.evaluation import MetricSettings, RunSettings, explain
from faithlib.evaluation.shards import share_of
from faithlib.inputs import ImageInputs, TextInputs, WordInputs
from faithlib.perturb import Perturber
from faithlib.user_inputs import most_tokens_of

TEXTS = ["a fine film, not bad", "unfunny", "it is bad at all", "who is it"]
SIZES = [6, 1, 5, 3]
FEW = {"methods": ["saliency", "random"], "metrics": ["aopc_morf", "sparseness"]}


def renamed(names: dict[int, str]) -> nn.Module:
    made = text_model("bert")
    made.config.id2label = names
    return made


@pytest.fixture(scope="module")
def model() -> nn.Module:
    return text_model("bert")


# ----------------------------------------------------------------------------------------------------------- truncation
def test_truncation_is_told_with_rows_and_limit(model) -> None:
    texts = [*TEXTS, "film " * 100]
    ready = TextInputs.from_texts(texts, tokenizer(), unit="word")
    for held, given, said, rows in (
        (texts, {}, r"1 of 5 texts was cut off at its end to 32 tokens, row 4\. What is cut off", [4]),
        (
            texts,
            {"max_length": 7},
            r"to 7 tokens \(max_length= of RunSettings or of texts raises that\), rows 0, 4\.",
            [0, 4],
        ),
        (ready, {"tokenizer": None}, r"1 of 5 texts was cut off at its end, row 4\.", [4]),
    ):
        with pytest.warns(UserWarning, match=said):
            assert evaluate(model, held, **{"tokenizer": tokenizer(), **FEW, **given}).attrs["truncated"] == rows
    with warnings.catch_warnings(action="error"):
        assert evaluate(model, TEXTS, tokenizer=tokenizer(), **FEW).attrs["truncated"] == []


def test_a_longer_limit_is_that_of_the_model_and_no_longer(model) -> None:
    unlimited, texts = tokenizer(), ["film " * 600]
    unlimited.model_max_length = int(1e30)
    for family, most in (("bert", 64), ("roberta", 62), ("xlm-roberta", 62), ("distilbert", 64)):
        assert most_tokens_of(text_model(family)) == most, "RoBERTa's kind keeps two positions for padding"
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
    config = transformers.BertConfig(vocab_size=60, max_position_embeddings=2048, **sizes)
    long = transformers.BertForSequenceClassification(config).eval()
    for reader, asked, read in ((model, None, 64), (model, 20, 20), (model, 1000, 64), (long, None, 512)):
        with pytest.warns(UserWarning, match=f"to {read} tokens"):
            scores = explain(reader, texts, ["random"], tokenizer=unlimited, run=RunSettings(max_length=asked))
        assert scores["random"].shape == (1, read - 2)
    with warnings.catch_warnings(action="error"):
        whole = explain(long, texts, ["random"], tokenizer=unlimited, run=RunSettings(max_length=1024))
    assert whole["random"].shape == (1, 600)


# ---------------------------------------------------------------------------------------------------- units and too few
def test_units_and_spans_reach_the_features(model) -> None:
    options = {"tokenizer": tokenizer(), "methods": ["uniform"]}
    sizes = {
        unit: (explain(model, TEXTS[:2], unit=unit, **options)["uniform"] > 0).sum(dim=1).tolist()
        for unit in ("word", "wordpiece", "sentence")
    }
    assert sizes == {"word": [6, 1], "wordpiece": [6, 3], "sentence": [1, 1]}
    spans = [[(0, 6), (7, 11)], [(0, 7)]]
    scores = explain(model, TEXTS[:2], run=RunSettings(spans=spans), **options)["uniform"]
    assert scores.tolist() == [[2, 1], [3, 0]], "summed over tokens"
    two = RunSettings(spans=[[(0, 8), (9, 15)]])
    (found,) = explain(answers, ["not good at all"], ["occlusion"], run=two)["occlusion"].tolist()
    assert found == pytest.approx([0.4, 0])


def test_a_text_of_one_feature_has_no_value_and_the_reason_is_told(model) -> None:
    table = evaluate(
        model, TEXTS, tokenizer=tokenizer(), methods=["saliency", "uniform"], metrics=["saco", "aopc_morf"]
    )
    assert table[table.input == 1].value.isna().all()
    assert table[(table.input != 1) & (table.metric == "aopc_morf")].value.notna().all()
    few, equal = sorted(table.attrs["undefined"], key=lambda note: note["reason"], reverse=True)
    assert few["reason"] == "fewer features than the 2 that the metric needs"
    assert (few["rows"], few["metrics"], few["methods"]) == ([1], ["aopc_morf", "saco"], ["saliency", "uniform"])
    assert equal == {"reason": "all scores are equal", "metrics": ["saco"], "methods": ["uniform"], "rows": [0, 2, 3]}
    marked = evaluate(
        model, TEXTS, tokenizer=tokenizer(), methods=["saliency"], metrics=["pointing_game"],
        gold=[[True] + [False] * 5, [True], [False] * 5, [True] * 3],
    )  # fmt: skip
    assert marked.value.isna().tolist() == [False, False, True, False], "one marked feature can be pointed at"
    assert marked.attrs["undefined"][0]["reason"] == "nothing is marked"


# ------------------------------------------------------------------------------------------------------- labels, scores
def test_a_target_is_the_name_of_a_label(model) -> None:
    named = renamed({0: "bad", 1: "Good", 2: "so-so"})
    expected = explain(model, TEXTS, ["saliency"], tokenizer=tokenizer(), target=1)["saliency"]
    for target in ("Good", ["good"] * 4, [1, "good", "Good", 1], np.array(["good"] * 4)):
        found = explain(named, TEXTS, ["saliency"], tokenizer=tokenizer(), target=target)["saliency"]
        torch.testing.assert_close(found, expected)
    inputs = TextInputs.from_texts(TEXTS, tokenizer(), unit="word")
    torch.testing.assert_close(attribute("saliency", named, inputs, target="good"), expected)
    assert Perturber(named, inputs, target="so-so").target.tolist() == [2] * 4
    # Of classes without a name in between, too.
    assert Perturber(renamed({0: "no", 2: "yes"}), inputs, target="yes").target.tolist() == [2] * 4


def test_scores_are_tensors_arrays_frames_or_ragged_lists(model) -> None:
    drawn = torch.rand(4, 6, generator=torch.Generator().manual_seed(0)).double()
    drawn *= torch.arange(6) < torch.tensor(SIZES)[:, None]
    ragged = [row[:n].tolist() for row, n in zip(drawn, SIZES, strict=True)]
    options = {"tokenizer": tokenizer(), "metrics": ["aopc_morf", "sparseness"]}
    for held, same in (
        (drawn, (drawn.numpy(), ragged, [torch.tensor(row) for row in ragged], pd.DataFrame(drawn.numpy()))),
        ((drawn > 0.5).int(), ((drawn > 0.5).numpy(), (drawn > 0.5).float().requires_grad_())),
    ):
        expected = evaluate(model, TEXTS, methods={"mine": held}, **options)
        for other in same:
            pd.testing.assert_frame_equal(evaluate(model, TEXTS, methods={"mine": other}, **options), expected)


# -------------------------------------------------------------------------------------------------------------- skipped
def test_broken_texts_are_skipped_and_the_rest_keep_their_rows(model) -> None:
    texts = ["a fine film", None, "it is bad", "  ", "who is it", float("nan"), "\u200b"]
    options = {"tokenizer": tokenizer(), **FEW}
    refused(InputError, "text 1 is None: expected a string; text 3", evaluate, model, texts, **options)
    with pytest.warns(UserWarning, match=r"4 of 7 inputs were skipped \(rows 1, 3, 5, 6\); first text 1 is None"):
        table = evaluate(model, texts, run=RunSettings(on_error="skip"), **options)
    good = evaluate(model, [texts[i] for i in (0, 2, 4)], **options)
    assert sorted(set(table.input)) == [0, 2, 4]
    assert table.value.to_numpy() == pytest.approx(good.value.to_numpy())
    reasons = {note["row"]: note["reason"] for note in table.attrs["skipped"]}
    assert reasons[3] == "text 3 ('  ') is blank" and reasons[6].startswith("text 6 ('\\u200b') has no tokens")
    refused(InputError, "text 0 is None: .*; text 1", evaluate, model, [None, ""], on_error="skip", **options)
    refused(InputError, "'ignore': expected 'raise' or 'skip'", evaluate, model, texts, on_error="ignore", **options)


def test_what_goes_with_inputs_follows_those_that_are_left(model) -> None:
    texts, rows = [TEXTS[0], None, TEXTS[2], TEXTS[3]], [0, 2, 3]
    drawn = torch.rand(4, 6, generator=torch.Generator().manual_seed(0))
    drawn *= torch.arange(6) < torch.tensor(SIZES)[:, None]
    gold = [[True, *[False] * 5], [], [False, True, False, False, False], [False, False, True]]
    options = {"tokenizer": tokenizer(), "metrics": ["aopc_morf", "auprc"], "on_error": "skip"}
    beside = {"methods": {"mine": drawn, "random": "random"}, "gold": gold, "target": [0, 0, 1, 2]}
    with pytest.warns(UserWarning, match="1 of 4 inputs"):
        table = evaluate(model, texts, **beside, **options)
    left = {"methods": {"mine": drawn[rows, :6], "random": "random"}, "gold": [gold[i] for i in rows]}
    good = evaluate(model, [texts[i] for i in rows], **left, target=[0, 1, 2], **options)
    assert table.value.to_numpy() == pytest.approx(good.value.to_numpy())
    assert [shown.row for shown in table.shown] == rows


def test_an_input_that_the_model_fails_on_does_not_cost_the_rest() -> None:
    def moody(texts: list[str]) -> list[list[float]]:
        if any("bad" in text for text in texts):
            raise RuntimeError("I do not read this")
        return answers(texts)

    texts = ["good film", "a bad one", "fine good film", "so so", "bad"]
    options = {"methods": ["occlusion"], "metrics": ["aopc_morf"]}
    refused(RuntimeError, "I do not read this", evaluate, moody, texts, **options)
    with pytest.warns(UserWarning, match=r"2 of 5 .* skipped \(rows 1, 4\); first RuntimeError: I do not read"):
        table = evaluate(moody, texts, run=RunSettings(on_error="skip"), **options)
    assert table.input.tolist() == [0, 2, 3]
    assert table.value.to_numpy() == pytest.approx(evaluate(answers, [texts[i] for i in (0, 2, 3)], **options).value)
    refused(RuntimeError, "I do not read", evaluate, moody, ["bad"], on_error="skip", **options)
    refused(UnknownNameError, "salience", evaluate, answers, texts, methods=["salience"], on_error="skip")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": {}}, "model is a dict: expected a torch module or a function"),
        ({"model": answers, "max_length": 9}, "max_length 9: expected a whole number, at least 1, and a model that"),
        ({"model": answers, "inputs": WordInputs.from_texts(["a"]), "unit": "word"}, "WordInputs are cut already"),
        ({"inputs": {"a film", "a fine film"}}, "expected a non-empty sequence of strings, one for each text"),
        ({"inputs": ["a film", "half a \ud83d"]}, "text 1 .* holds half a character"),
        ({"target": ["predicted", 1]}, "'predicted' is for all inputs: give it alone"),
        ({"model": renamed({0: "no", 1: "yes", 2: "yes"}), "target": "yes"}, "the name of classes 1, 2; give an index"),
        ({"target": "goood", "model": renamed({1: "Good"})}, "unknown target 'goood': did you mean 'Good'"),
        ({"target": "good", "model": answers, "tokenizer": None}, "this function has no names of classes"),
        ({"max_length": 0}, "max_length 0: expected a whole number, at least 1"),
        ({"spans": [[(0, 6)]]}, "1 list of spans for 2 texts"),
        ({"methods": {"mine": np.zeros((2, 6), complex)}}, "scores of 'mine': expected real numbers"),
        ({"methods": {"mine": [[0.1]] * 2}}, r"scores of 'mine' of input 0: \[1\] values, expected 6, one per feature"),
        ({"methods": {"mine": [[0.1] * 6]}}, r"scores of 'mine': a list; expected \[B, F\] = \[2, 6\], or 2 lists"),
        ({"methods": {"mine": [["a"] * 6] * 2}}, r"scores of 'mine' of input 0: expected numbers, got \['a'"),
        ({"methods": {"mine": torch.ones(2, 3)}}, r"scores of 'mine' have shape \(2, 3\)"),
        ({"gold": [[np.nan] * 6, [0] * 7]}, "gold of input 0: expected True and False"),
        ({"spans": [[(0.0, 1.0)], [(0, 3)]]}, "words of text 0: .*expected the characters .start, end. of each"),
        ({"seed": None}, "seed None: expected a whole number"),
        ({"max_length": 9.5}, "max_length 9.5: expected a whole number"),
        ({"dtype": torch.int8}, "unknown dtype torch.int8"),
    ],
)  # fmt: skip
def test_what_would_be_wrong_or_raw_is_refused_in_words(given, said) -> None:
    held = {"model": text_model("bert"), "inputs": TEXTS[:1] + TEXTS[3:], "tokenizer": tokenizer(), **FEW, **given}
    refused(InputError, said, evaluate, **held)


def test_a_function_may_change_what_it_is_given() -> None:
    def emptying(texts: list[str]) -> list[list[float]]:
        return [answers([texts.pop(0)])[0] for _ in texts.copy()]

    seen, inputs = vision_model(), image_inputs()
    before, texts = inputs.pixels.clone(), ["a good film", "bad"]
    options = {"methods": ["occlusion"], "metrics": ["aopc_morf"]}
    assert evaluate(emptying, texts, **options).equals(evaluate(answers, texts, **options))
    halved = evaluate(lambda pixels: seen(pixels.mul_(0.5)).detach(), inputs, **options)
    assert torch.equal(inputs.pixels, before)
    assert halved.equals(evaluate(lambda pixels: seen(pixels * 0.5).detach(), inputs, **options))


# --------------------------------------------------------------------------------------------------------------- images
@pytest.fixture(scope="module")
def seer() -> nn.Module:
    return supported.seer()


@pytest.fixture
def images(tmp_path: Path) -> list[Path]:
    drawn = np.random.default_rng(0).integers(0, 256, (2, 40, 36, 3), dtype=np.uint8)
    for number, pixels in enumerate(drawn):
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
    return [tmp_path / f"{number}.png" for number in range(2)]


def test_images_and_files_get_the_models_own_transform(seer, images) -> None:
    """Channels, their order and the range of pixels that are refused are rows of the table of `test_supported`."""
    config = timm.data.resolve_model_data_config(seer) | {"input_size": (3, 32, 32)}
    prepare = timm.data.create_transform(**config)
    opened = [Image.open(path).convert("RGB") for path in images]
    pixels = torch.stack([prepare(image) for image in opened])
    options = {"methods": ["grad_cam", "random"], "metrics": ["aopc_morf"]}
    expected = evaluate(seer, ImageInputs.from_pixels(pixels, patch=16), **options)
    strings, arrays = [str(path) for path in images], [np.asarray(image) for image in opened]
    for held in (images, strings, opened, arrays, np.stack(arrays), pixels, [*pixels]):
        pd.testing.assert_frame_equal(evaluate(seer, held, **options), expected)
    assert explain(seer, opened, ["random"], unit=8)["random"].shape == (2, 16)
    deep = Image.fromarray(np.full((40, 36), 30000, dtype=np.uint16))
    for held, said, more in (
        (pixels.byte(), "pixels are torch.uint8", {}), (pixels[:, 0], "grayscale images need a channel", {}),
        ([*pixels.byte().numpy()], "image 0 .a ndarray. cannot be read", {}),
        ([deep], "mode I;16 has more than 8 bits", {}),
        ([pixels[0], pixels[1, :, :8]], "these are images of several sizes", {}),
        (pixels, "spans, max_length: these are for texts", {"max_length": 9}),
        (opened, "unit 'word': of images expected the side of a square patch in pixels", {"unit": "word"}),
    ):  # fmt: skip
        refused(InputError, said, evaluate, seer, held, **options, **more)
    grey = [image.convert("L") for image in opened]
    colour = [image.convert("RGB") for image in grey]
    pd.testing.assert_frame_equal(evaluate(seer, grey, **options), evaluate(seer, colour, **options))
    with pytest.warns(UserWarning, match=r"all pixels are between 0 and 1, and this VisionTransformer was trained"):
        evaluate(seer, torch.rand(1, 3, 32, 32), **options)


def test_an_image_processor_makes_the_pixels(images) -> None:
    model, given = supported.hf_seer("ViT"), {"methods": ["occlusion"], "metrics": ["aopc_morf"]}
    processor = transformers.ViTImageProcessor(size={"height": 32, "width": 32})
    pixels = processor(images=[Image.open(path).convert("RGB") for path in images], return_tensors="pt")["pixel_values"]
    expected = evaluate(model, ImageInputs.from_pixels(pixels, patch=16), **given)
    for name in ("processor", "tokenizer"):
        table = evaluate(model, [str(path) for path in images], **given, **{name: processor})
        pd.testing.assert_frame_equal(table, expected)
    refused(ModelError, "ViTForImageClassification comes without a transform of images: give", evaluate, model, images)


def test_broken_images_are_named_or_skipped(seer, images, tmp_path) -> None:
    (tmp_path / "broken.png").write_text("no image")
    held = [images[0], tmp_path / "broken.png", tmp_path / "missing.png", images[1]]
    options = {"methods": ["random"], "metrics": ["aopc_morf"]}
    refused(InputError, r"image 1 \(.*broken.png\) cannot be read as an image", evaluate, seer, held, **options)
    with pytest.warns(UserWarning, match=r"2 of 4 inputs were skipped \(rows 1, 2\)"):
        table = evaluate(seer, held, run=RunSettings(on_error="skip"), **options)
    assert table.input.tolist() == [0, 3]
    assert "missing.png" in table.attrs["skipped"][1]["reason"]


def test_segments_of_each_image_are_those_of_the_image_alone() -> None:
    model, pixels = vision_model(), image_inputs(2).pixels
    maps = torch.stack([torch.arange(8)[:, None].expand(8, 8) // 3, torch.arange(8).expand(8, 8) // 2])
    maps[1, 0, 0] = -1
    both = ImageInputs.from_pixels(pixels, segments=maps)
    alone = [ImageInputs.from_pixels(pixels[[b]], segments=maps[b]) for b in range(2)]
    for name, row in quick_rows("image").items():
        scores = attribute(name, model, both, **row.options)
        for b, single in enumerate(alone):
            own = attribute(name, model, single, **row.options)[0]
            if IMAGE_METHODS[name].answers != "floor":  # drawn from content, in which the shape of the map counts
                torch.testing.assert_close(scores[b, : len(own)], own, atol=1e-5, rtol=1e-4, msg=name)
    table = evaluate(model, both, methods={"mine": scores}, settings=MetricSettings(groups=3))
    assert set(table.attrs["left_out"]) == {"soft_ns", "soft_nc"}
    for b, single in enumerate(alone):
        n = int(single.n_features[0])
        expected = evaluate(model, single, methods={"mine": scores[b : b + 1, :n]}, settings=MetricSettings(groups=3))
        assert table[table.input == b].value.to_numpy() == pytest.approx(expected.value, abs=1e-5, nan_ok=True)
    # What is outside all segments is never erased, whatever the numbers of the others.
    images = ImageInputs.from_pixels(torch.ones(1, 2, 2, 2), segments=[[-1, 4], [7, 7]])
    seen = Perturber(lambda pixels: pixels.flatten(1), images, erase="zero", output="logit", target=0)
    assert seen.logits(torch.tensor([[[False, False]]]))[0, 0].tolist() == [1, 0, 0, 0] * 2


# ------------------------------------------------------------------------------------------------------- strange inputs
BATCH = text_inputs(text_model())
BOTH = supported.TEXTS
WIDTHS = [len(row) for row in TextInputs.from_texts(BOTH, tokenizer(), unit="word").features]
ERASED: dict[str, Any] = {"methods": ["occlusion"], "metrics": ["aopc_morf", "saco"]}


def measured(inputs: Any, model: Any = None, **options: Any) -> pd.DataFrame:
    arguments: dict[str, Any] = {"tokenizer": tokenizer(), **ERASED, **options}
    return evaluate(text_model() if model is None else model, inputs, **arguments)


def arrow(items: Sequence[Any]) -> Any:
    return pytest.importorskip("pyarrow").chunked_array([list(items)])


def objects(items: Sequence[Any]) -> Any:
    return np.array([*items, None], dtype=object)[:-1]


def numbered_otherwise(items: Sequence[Any]) -> Any:
    return pd.Series(list(items), index=[*range(len(items), 0, -1)])


# A column of a `datasets.Dataset` is, as UserList, a sequence and no list; of an iterable data set it is gone through.
@pytest.mark.parametrize("held", [UserList, iter, arrow, objects, numbered_otherwise])
def test_columns_of_data_sets_are_taken_as_lists_are(held: Callable[[Any], Any]) -> None:
    scores, marks = [[0.1 * f for f in range(n)] for n in WIDTHS], [[True] + [False] * (n - 1) for n in WIDTHS]
    for name, items in {"target": [0, 1], "spans": [[(0, 1), (2, 6)], [(0, 3), (4, 6)]], "gold": marks}.items():
        more: dict[str, Any] = {"metrics": ["iou"]} if name == "gold" else {}
        assert measured(held(BOTH), **{name: held(items)}, **more).equals(measured(BOTH, **{name: items}, **more))
    assert measured(BOTH, methods={"mine": held(scores)}).equals(measured(BOTH, methods={"mine": scores}))


def test_a_column_of_pixels_is_taken_as_a_batch_is() -> None:
    pixels = torch.randn(2, 3, 32, 32)
    for held in (UserList(pixels), iter(pixels), tuple(pixels)):
        assert measured(held, supported.seer()).equals(measured(pixels, supported.seer()))


class Ruled(nn.Module):
    """A head that rules a class out, for all inputs or for those whose first number is negative."""

    def __init__(self, head: nn.Module, *, always: bool) -> None:
        super().__init__()
        self.head, self.always = head, always

    def forward(self, state: Tensor) -> Tensor:
        logits = self.head(state).clone()
        logits[:, 2] = torch.where((state[:, 0] > 0) & (not self.always), logits[:, 2], -torch.inf)
        return logits


def ruling_out(*, always: bool) -> Any:
    model = text_model()
    model.classifier = Ruled(model.classifier, always=always)
    return model


@pytest.mark.parametrize("output", ["probability", "logit", "loss", "sigmoid"])
def test_a_class_that_a_model_rules_out_is_explained_by_nobody_and_leaves_the_others_alone(output: str) -> None:
    masked, texts = ruling_out(always=True), BATCH
    for method in ("saliency", "occlusion", "integrated_gradients", "deeplift"):
        if method in ("saliency", "occlusion") or output in ("logit", "loss"):
            refused(FaithlibError, "infinit", attribute, method, masked, texts, target=2, output=output)
    if output != "loss":
        options = {"output": output, **ERASED}
        refused(FaithlibError, "the logit is infinite for 3 inputs", evaluate, masked, texts, target=2, **options)
        assert np.isfinite(evaluate(masked, texts, target=0, **options).value).all()


def test_a_class_that_is_ruled_out_for_some_copies_has_a_probability_and_no_logit() -> None:
    model, texts = ruling_out(always=False), text_inputs(text_model(), (9, 8, 9, 9, 7, 8), seed=3)
    kept = texts[Perturber(model, texts, target=0).logits_full[:, 2].isfinite().nonzero()[:, 0]]
    n = kept.feature_mask.shape[1]
    answers = Perturber(model, kept, target=2).keep(~torch.eye(n, dtype=torch.bool).expand(len(kept), n, n))
    assert bool((answers == 0).any()) and bool((answers > 0).any())
    options = {"target": 2, "output": "logit", "methods": ["random"], "metrics": ["aopc_morf"]}
    refused(FaithlibError, "the logit is infinite for .* copies", evaluate, model, kept, **options)
    table = evaluate(model, kept, target=2, methods=["occlusion"], metrics=["log_odds", "aopc_morf"])
    assert not np.isinf(table.value).any()
    assert "no logarithm" in str(table.attrs["undefined"])


def pictured(form: Callable[[Tensor], Any]) -> pd.DataFrame:
    """Of a classifier of pixels whose numbers come out in some form."""
    torch.manual_seed(0)
    linear = nn.Linear(3, 3).requires_grad_(False)
    return measured(torch.randn(2, 3, 32, 32), lambda pixels: form(linear(pixels.mean(dim=(2, 3)))))


def test_probabilities_in_the_place_of_logits_are_noted() -> None:
    with pytest.warns(UserWarning, match="add up to 1 and are read as logits"):
        assert "logits" in pictured(lambda z: z.softmax(dim=-1)).attrs["notes"]
    for form in (lambda z: z, lambda z: z.log_softmax(dim=-1)):
        assert "logits" not in pictured(form).attrs["notes"]


def prompt(template: Any = "{text} is", labels: Any = (" film", " bad"), model: Any = None) -> Any:
    reader = tokenizer()
    reader.chat_template = "{{ raise_exception('no system') }}"
    return PromptClassifier(nn.Linear(1, 1) if model is None else model, reader, template, labels)


CNN = nn.Sequential(nn.Conv2d(3, 2, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
WORDS = WordInputs.from_texts(["a film"])
GREY, MESSAGES = torch.randn(2, 1, 32, 32), [{"role": "system", "content": "{text}"}]
HIDDEN = {"mine": np.ma.masked_less(np.ones((2, max(WIDTHS))), 2)}
# What is asked for, and what the sentence says of it.
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a class for a model": (lambda: measured(BOTH, BertForSequenceClassification), "the class BertForSequence"),
    "a class for a tokenizer": (lambda: measured(BOTH, tokenizer=type(tokenizer())), "load a fast tokenizer"),
    "no tokenizer": (lambda: measured(BOTH, tokenizer=None), "plain texts give the model's tokenizer"),
    "a function for a method": (
        lambda: measured(BOTH, methods=["random", len]),
        r"functions of your own under the decorator faithlib\.attribution\.method",
    ),
    "a number for a method": (lambda: measured(BOTH, methods=[3]), r"methods \[3\]: expected names or Rows"),
    "a list for a metric": (lambda: measured(BOTH, metrics=[["saco"]]), r"unknown metric \['saco'\]"),
    "labels without an order": (lambda: prompt(labels={" film", " bad"}), "two words or more in their order"),
    "labels that are numbers": (lambda: prompt(labels=[0, 1]), "two words or more"),
    "masked scores": (lambda: measured(BOTH, methods=HIDDEN), "nan at feature 0"),
    "another kind of inputs": (lambda: methods("audio"), "unknown kind of inputs 'audio'"),
    "a flag for a patch": (lambda: measured(torch.randn(2, 3, 32, 32), supported.seer(), unit=True), "patch True"),
    "a list of batches": (lambda: measured([GREY, GREY], supported.seer(), tokenizer=None), "are Tensor: expected im"),
    "grey images": (lambda: Perturber(CNN, ImageInputs.from_pixels(GREY, patch=16)), "does not take images .* 3 chan"),
    "images that are too small": (lambda: measured(torch.randn(2, 3, 2, 2), CNN, unit=1), "does not take images"),
    "words for a network": (lambda: Perturber(CNN, WORDS), "WordInputs and a Sequential: these inputs"),
    "another precision": (lambda: Perturber(len, WORDS, dtype=torch.float64), "a function has its own precision"),
    "whole numbers": (lambda: pictured(lambda z: z.argmax(dim=-1)), "answers no logits, torch.int64"),
    "complex numbers": (lambda: pictured(lambda z: z + 1j), "answers no logits, torch.complex64"),
    "an encoder by prompt": (lambda: prompt(model=supported.small(BertForMaskedLM)), "predicts no next token"),
    "a chat that refuses": (lambda: prompt(MESSAGES), "no system.*expected mess"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(name: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        refused(FaithlibError, REFUSED[name][1], REFUSED[name][0])


def test_sparse_numbers_are_those_that_they_stand_for() -> None:
    scores = torch.eye(2, max(WIDTHS))
    both = [measured(BOTH, methods={"mine": matrix}) for matrix in (scores, scores.to_sparse())]
    assert both[0].equals(both[1])
    answers = SimpleNamespace(dense=lambda texts: torch.eye(2)[[len(text) % 2 for text in texts]])
    sparse = measured(BOTH, lambda texts: answers.dense(texts).to_sparse(), tokenizer=None)
    assert sparse.equals(measured(BOTH, answers.dense, tokenizer=None))


# ------------------------------------------------------------------------------------------------- explained by itself
def test_scores_of_blocks_and_shares_are_those_of_one_run(model) -> None:
    options = {"methods": ["saliency", "occlusion", "uniform"], "tokenizer": tokenizer()}
    texts = [*TEXTS, "good", TEXTS[0]]
    whole = explain(model, texts, settings=MetricSettings(erase="mask"), **options)
    cut = explain(model, texts, settings=MetricSettings(erase="mask"), run=RunSettings(block=2), **options)
    assert list(cut) == list(whole)
    for name, scores in whole.items():
        torch.testing.assert_close(cut[name], scores)
        assert cut[name].shape == scores.shape, "a block of short texts is as wide as the whole"
    second = explain(model, texts, settings=MetricSettings(erase="mask"), run=RunSettings(shard=(2, 2)), **options)
    rows = list(share_of(len(texts), (2, 2)))
    for name, scores in second.items():
        torch.testing.assert_close(scores, whole[name][rows][:, : scores.shape[1]])
    erased_otherwise = explain(model, texts, **options)
    assert not torch.allclose(erased_otherwise["occlusion"], whole["occlusion"])


def test_what_explain_cannot_do_is_refused() -> None:
    skipping = RunSettings(on_error="skip")
    refused(InputError, "one row of scores for each input", explain, answers, ["good", None], ["random"], run=skipping)
    refused(InputError, "expected MetricSettings", explain, answers, ["good"], ["random"], settings={"erase": "mask"})
    refused(InputError, "block", explain, answers, ["good"], ["random"], run=RunSettings(block=0))
