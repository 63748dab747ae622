"""How alike models see translations: representations of texts, and batches that are found among others."""

from __future__ import annotations

import torch
from toy_models import text_model, tokenizer

from faithbook.studies.crosslingual.similarity import found_translations, representations


def test_a_text_has_one_representation_whatever_is_beside_it() -> None:
    network, own_tokenizer = text_model().base_model, tokenizer()
    texts = ["a good film", "bad", "a film with one fine scene", ("a good film", "one bad scene")]
    together = representations(network, own_tokenizer, texts[:3], batch=2)
    alone = [representations(network, own_tokenizer, [text])[0] for text in texts]
    torch.testing.assert_close(together, torch.stack(alone[:3]), atol=1e-5, rtol=0)
    assert not torch.allclose(alone[0], alone[3], atol=1e-3)  # a pair is not its first text


def test_translations_with_the_same_representations_are_found_and_others_by_chance() -> None:
    generator = torch.Generator().manual_seed(0)
    english, other = (torch.randn(160, 12, generator=generator) for _ in range(2))
    found = found_translations({"en": english, "same": english, "other": other}, draws=3)
    rates = found.groupby("language")["hit"].mean()
    assert set(found["language"]) == {"same", "other"} and set(found["draw"]) == {0, 1, 2}
    assert rates["same"] == 1 and rates["other"] < 0.4
