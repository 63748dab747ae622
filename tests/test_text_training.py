"""What the training of a text classifier consists of, on a tiny model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toy_models import text_model, tokenizer

from faithbook.models.adversarial import EmbeddingShift
from faithbook.models.training import Encoded, Forward, batches, encode
from faithbook.sources.datasets import Dataset

TEXTS = ("a fine film , not bad at all", "who is it ?", "fine film", "it is fine , a good film", "bad")
LABELS = (0, 1, 2, 0, 1)


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    return text_model("bert")


@pytest.fixture(scope="module")
def encoded() -> Encoded:
    data = Dataset("toy", "test", TEXTS, LABELS, tuple("abcde"), ("x", "y", "z"), 32)
    return encode(tokenizer(), data)


@pytest.fixture(scope="module")
def forward() -> Forward:
    return Forward(tokenizer().pad_token_id, "cpu")


def alone(model: torch.nn.Module, encoded: Encoded, row: int) -> torch.Tensor:
    """The logits of one text without padding."""
    with torch.inference_mode():
        return model(input_ids=torch.tensor([encoded.ids[row]])).logits[0]


@pytest.mark.parametrize("generator", [None, 3])
def test_every_text_is_in_one_batch_and_batches_are_of_similar_length(generator: int | None) -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 37).tolist()
    drawn = None if generator is None else np.random.default_rng(generator)
    cut = batches(lengths, 5, generator=drawn, window=4)
    assert sorted(row for batch in cut for row in batch) == list(range(37))
    assert max(map(len, cut)) == 5
    for batch in cut:
        assert [lengths[row] for row in batch] == sorted(lengths[row] for row in batch)
    if drawn is None:
        assert [lengths[row] for batch in cut for row in batch] == sorted(lengths)
    else:
        again = batches(lengths, 5, generator=np.random.default_rng(3), window=4)
        assert cut == again != batches(lengths, 5, generator=np.random.default_rng(4), window=4)


def test_a_window_of_one_batch_is_plain_shuffling() -> None:
    order = np.random.default_rng(1).permutation(9).tolist()
    cut = batches(range(9), 3, generator=np.random.default_rng(1))
    assert sorted(map(sorted, cut)) == sorted(sorted(order[first : first + 3]) for first in (0, 3, 6))


def test_a_padded_row_has_the_logits_of_its_text_alone(
    model: torch.nn.Module, encoded: Encoded, forward: Forward
) -> None:
    with torch.inference_mode():
        logits = forward(model, encoded, [0, 4, 1])
    for logit, row in zip(logits, [0, 4, 1], strict=True):
        torch.testing.assert_close(logit, alone(model, encoded, row), atol=1e-5, rtol=1e-4)


def test_losses_and_predictions_are_those_of_single_texts(
    model: torch.nn.Module, encoded: Encoded, forward: Forward
) -> None:
    logits = torch.stack([alone(model, encoded, row) for row in range(len(TEXTS))])
    labels = torch.tensor(LABELS)
    by_hand = -logits.log_softmax(dim=1)[range(len(TEXTS)), LABELS]
    with torch.inference_mode():
        found = forward.losses(model, encoded, labels, [3, 1])
    torch.testing.assert_close(found, by_hand[[3, 1]], atol=1e-5, rtol=1e-4)
    assert forward.mean_loss(model, encoded, labels) == pytest.approx(by_hand.mean().item(), abs=1e-5)
    assert model.training, "it learns on"
    model.eval()
    assert forward.predicted(model, encoded).tolist() == logits.argmax(dim=1).tolist()


def test_a_query_stays_whole_where_a_text_is_cut() -> None:
    data = Dataset("toy", "test", TEXTS[:1], (0,), ("a",), ("x", "y"), 8, queries=("who is it",))
    whole = encode(tokenizer(), data)
    assert whole.lengths == [8]
    query = tokenizer()("who is it", add_special_tokens=False)["input_ids"]
    assert whole.ids[0][1 : 1 + len(query)] == query


def test_embeddings_are_moved_inside_a_block_alone(model: torch.nn.Module, encoded: Encoded, forward: Forward) -> None:
    moved = EmbeddingShift(model)
    shift = torch.full((1, len(encoded.ids[1]), model.config.hidden_size), 0.5)
    with torch.inference_mode():
        plain = forward(model, encoded, [1])
        with moved.by(shift):
            other = forward(model, encoded, [1])
        with pytest.raises(ValueError, match="stop"), moved.by(shift):
            raise ValueError("stop")
        again = forward(model, encoded, [1])
    assert torch.equal(plain, again) and not torch.allclose(plain, other)
