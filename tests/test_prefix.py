"""Rows of a decoder that share their beginning get the answers of rows that are run whole, one at a time."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import families
import numpy as np
import pytest
import torch
import transformers
from families import BY_PROMPT, DECODERS, STATEFUL, TEXTS, Folder, masks, next_logits, opened, tokenizer
from refusals import refused
from torch import Tensor

from faithlib.attribution import attribute
from faithlib.backends import PromptClassifier
from faithlib.backends import _prefix as prefix
from faithlib.backends.families import family_of
from faithlib.errors import ModelError
from faithlib.inputs import TextInputs
from faithlib.perturb import TEXT_ERASURES, Perturber

SHOTS = "a film : good . one film : bad . review : {text} . it is"


# Its own, and not conftest's: this file also runs beside the installed library alone (test_installed).
@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return families.models_in(tmp_path_factory.mktemp("hub"))


@pytest.fixture
def shared_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    families.share_to_the_last(monkeypatch)


def asked(folder: Folder, family: str, side: str = "right") -> tuple[PromptClassifier, TextInputs]:
    model, reader = opened(folder(family, True, side), causal=True)
    prompt = PromptClassifier(model, reader, SHOTS, [" good", " bad"])
    return prompt, prompt.inputs(TEXTS)


def run_whole(prompt: PromptClassifier) -> PromptClassifier:
    """The same model, none of whose rows share anything."""
    made = PromptClassifier(prompt.model, prompt.tokenizer, prompt.template, prompt.labels)
    made.family = replace(family_of(made), shares=False)
    return made


def one_row(prompt: PromptClassifier, inputs: TextInputs, b: int, keep: Tensor, erase: str) -> Tensor:
    """Logits [C] of one erased text, from the model's own forward on ids."""
    return next_logits(prompt, inputs, b, keep, erase)[prompt.get_buffer("label_ids")]


# ------------------------------------------------------------------------------------------------------------- values
def check_values(perturber: Perturber, keep: Tensor, erase: str) -> None:
    """Against the model's own forward on ids, a row at a time."""
    found, prompt = perturber.logits(keep), perturber._backend.model
    for b, s in np.ndindex(keep.shape[:2]):
        expected = one_row(prompt, perturber.inputs, b, keep[b, s], erase)
        assert torch.allclose(found[b, s], expected, atol=1e-4), (erase, b, s)


@pytest.mark.parametrize("family", [*DECODERS, *BY_PROMPT])
def test_rows_that_share_get_the_answers_of_whole_ones(family: str, folder: Folder, shared_to_the_last: None) -> None:
    prompt, inputs = asked(folder, family)
    keep = masks(inputs)
    for erase in TEXT_ERASURES:
        perturber = Perturber(prompt, inputs, erase=erase)
        check_values(perturber, keep, erase)
        assert perturber.stats.tokens_shared > perturber.stats.tokens_run, erase
    perturber, whole = Perturber(prompt, inputs), Perturber(run_whole(prompt), inputs)
    amounts = torch.where(keep, 1.0, 0.5)
    assert torch.allclose(perturber.soft(amounts, draws=2), whole.soft(amounts, draws=2), atol=1e-4)
    noise = {"variance": 0.1, "equation": 7}
    assert torch.allclose(perturber.gaussian(1 - amounts, **noise), whole.gaussian(1 - amounts, **noise), atol=1e-4)
    assert perturber.stats.tokens_shared > perturber.stats.tokens_run
    assert whole.stats.tokens_shared == 0
    assert whole.stats.rows_run == perturber.stats.rows_run
    refused(ModelError, "takes no weights", perturber.attention_mask, amounts)


@pytest.mark.parametrize("family", STATEFUL)
def test_models_that_hand_on_a_state_run_whole(family: str, folder: Folder, shared_to_the_last: None) -> None:
    prompt, inputs = asked(folder, family)
    for erase in TEXT_ERASURES:
        perturber = Perturber(prompt, inputs, erase=erase)
        check_values(perturber, masks(inputs, 3), erase)
        assert perturber.stats.tokens_shared == 0
    assert attribute("input_x_gradient", prompt, inputs).isfinite().all()


@pytest.mark.parametrize("family", ["gpt2", "gemma3_text"])
@pytest.mark.parametrize("erase", ["zero", "delete"])
def test_order_chunks_and_the_side_of_padding_change_nothing(
    family: str, erase: str, folder: Folder, shared_to_the_last: None
) -> None:
    prompt, inputs = asked(folder, family)
    keep, order = masks(inputs), torch.tensor([2, 0, 3, 1])
    expected = Perturber(prompt, inputs, erase=erase).logits(keep)
    for rows in (1, 2, 7):
        turned = Perturber(prompt, inputs[order], erase=erase, max_rows=rows).logits(keep[order])
        assert torch.allclose(turned, expected[order], atol=1e-4)
    left, same = asked(folder, family, "left")
    assert left.tokenizer.padding_side == "left"
    assert torch.allclose(Perturber(left, same, erase=erase).logits(keep), expected, atol=1e-4)
    index = torch.arange(len(inputs)).repeat_interleave(keep.shape[1])
    shuffled = torch.randperm(len(index), generator=torch.Generator().manual_seed(0))
    some = Perturber(prompt, inputs, erase=erase).logit_rows(index[shuffled], keep.flatten(0, 1)[shuffled])
    assert torch.allclose(some, expected.flatten(0, 1)[shuffled], atol=1e-4)


def test_texts_without_a_template_share_what_comes_before_their_first_change(
    folder: Folder, shared_to_the_last: None
) -> None:
    model, reader = opened(folder("llama"))
    inputs = TextInputs.from_texts(TEXTS, reader)
    perturber, keep = Perturber(model, inputs), masks(inputs)
    found = perturber.logits(keep)
    assert perturber.stats.tokens_shared > 0
    model.family = replace(family_of(model), shares=False)
    assert torch.allclose(found, Perturber(model, inputs).logits(keep), atol=1e-4)


def test_gradients_pass_through_the_whole_of_a_prompt(folder: Folder, shared_to_the_last: None) -> None:
    prompt, inputs = asked(folder, "llama")
    Perturber(prompt, inputs).logits(masks(inputs))
    for method in ("saliency", "attention", "integrated_gradients"):
        assert torch.equal(attribute(method, prompt, inputs), attribute(method, run_whole(prompt), inputs))


# --------------------------------------------------------------------------------------------------- who shares nothing
@pytest.mark.parametrize("kind", ["looks ahead", "has a cache of another make"])
def test_a_model_whose_beginning_cannot_be_kept_runs_whole(
    kind: str, folder: Folder, shared_to_the_last: None, caplog: pytest.LogCaptureFixture
) -> None:
    prompt, inputs = asked(folder, "llama")
    own, keep = type(prompt.model).forward, masks(inputs)[:, 2:3]

    def forward(self: Any, input_ids: Tensor, attention_mask: Tensor | None = None, logits_to_keep: Any = 0) -> Any:
        return own(self, input_ids=input_ids, attention_mask=attention_mask, logits_to_keep=logits_to_keep)

    if kind == "looks ahead":
        prompt.model.config.is_causal = False
        for layer in prompt.base.layers:
            layer.self_attn.is_causal = False
    with caplog.at_level(logging.WARNING, logger=prefix.__name__), pytest.MonkeyPatch.context() as patch:
        if kind != "looks ahead":
            patch.setattr(type(prompt.model), "forward", forward)
        perturber = Perturber(prompt, inputs, erase="pad")
        found = perturber.logits(keep)
    assert len(caplog.records) == 1 and perturber.stats.tokens_shared == 0
    assert torch.allclose(found[1, 0], one_row(prompt, inputs, 1, keep[1, 0], "pad"), atol=1e-4)


def test_a_causal_model_whose_embeddings_cannot_be_reached_by_ids_is_refused() -> None:
    config = transformers.xLSTMConfig(hidden_size=32, num_hidden_layers=1, num_heads=2, vocab_size=40)
    prompt = PromptClassifier(transformers.xLSTMForCausalLM(config).eval(), tokenizer(""), SHOTS, [" good", " bad"])
    said = r"xLSTMForCausalLM .* expected for example .* as a function from texts"
    refused(ModelError, said, Perturber, prompt, prompt.inputs(TEXTS))


def test_rows_of_a_long_prompt_run_no_more_than_what_follows_it(folder: Folder) -> None:
    prompt, inputs = asked(folder, "llama")
    keep = masks(inputs)
    keep[..., 0] = False
    perturber = Perturber(prompt, inputs)
    before = perturber.stats.tokens_run
    perturber.logits(keep)
    template = int((inputs.feature_of[0] >= 0).int().argmax())
    assert template == 13
    rows = perturber.stats.rows_run - len(inputs)
    assert perturber.stats.tokens_shared == template * perturber.stats.rows_run
    assert perturber.stats.tokens_run - before <= rows * (int(inputs.lengths.max()) - template)
