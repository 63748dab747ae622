"""Padding never shows: what is answered for a text beside longer ones is what the model's own call answers to it alone,
for every class of transformers that classifies texts (public reports on FNet, ConvBERT and DeBERTa's convolution)."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import sequence_classes
import torch
from flat import evaluate
from sequence_classes import alone, class_names, made, texts
from torch import Tensor, nn

from faithlib._warnings_log import collect_warnings
from faithlib.attribution import Row
from faithlib.errors import FaithlibError
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

ENDING = "ForSequenceClassification"
# Where padding shows in the class's own code, in the embeddings, in convolutions, in whole-sequence transforms; and
# some where it does not, of each kind of attention.
SHOWS = ("FNet", "ConvBert", "MobileBert", "Nystromformer", "Yoso")
HIDDEN = ("Bert", "DebertaV2", "Esm", "Flaubert", "XLM", "XLNet", "GPT2", "Llama", "Longformer", "Funnel", "Mixtral")


def quiet(model: nn.Module, inputs: TextInputs, **options: Any) -> tuple[Perturber, dict[str, str]]:
    with collect_warnings() as notes:
        return Perturber(model, inputs, **options), notes


def tolerance(answers: Tensor) -> float:
    return 2e-5 * (1 + float(answers.abs().max()))


def check_alone(model: nn.Module, inputs: TextInputs, *, erases: tuple[str, ...] = ("delete", "pad")) -> dict[str, str]:
    """Whole and erased texts by `Perturber` against the model's own call on one row; what is noted."""
    notes: dict[str, str] = {}
    for erase in erases:
        asked, noted = quiet(model, inputs, erase=erase)
        notes |= noted
        keep = torch.ones(len(inputs), 2, asked.feature_mask.shape[1], dtype=torch.bool)
        keep[:, 1, 0] = False
        answers = asked.logits(keep)
        for b in range(len(inputs)):
            assert (alone(model, inputs, b) - answers[b, 0]).abs().max() <= tolerance(answers), (erase, b)
            if erase == "delete":
                owners = inputs.feature_of[b, : int(inputs.lengths[b])]
                assert (alone(model, inputs, b, owners != 0) - answers[b, 1]).abs().max() <= tolerance(answers), b
    return notes


@pytest.mark.parametrize("name", [*SHOWS, *HIDDEN])
def test_a_text_beside_longer_ones_is_answered_as_alone(name: str) -> None:
    notes = check_alone(made(name + ENDING), texts())
    assert ("padding" in notes) == (name in SHOWS), notes


def test_debertas_convolution_sees_no_embedding_of_padding() -> None:
    assert "padding" not in check_alone(made(f"DebertaV2{ENDING}", conv_kernel_size=3), texts())


def test_esms_token_dropout_counts_the_tokens_of_a_text_alone() -> None:
    model, inputs = made(f"Esm{ENDING}", token_dropout=True, mask_token_id=4), texts()
    asked, _ = quiet(model, inputs, erase="mask")
    keep = torch.zeros(len(inputs), 1, asked.feature_mask.shape[1], dtype=torch.bool)
    answers = asked.logits(keep)
    for b in range(len(inputs)):
        length = int(inputs.lengths[b])
        ids = torch.where(inputs.feature_of[b, :length] >= 0, 4, inputs.input_ids[b, :length])[None]
        with torch.no_grad():
            own = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]
        assert (own - answers[b, 0]).abs().max() <= tolerance(answers)


def test_one_text_costs_no_row_more() -> None:
    asked, notes = quiet(made(f"FNet{ENDING}"), texts((6, 6)))
    assert asked.stats.forwards == 1
    assert not notes


def test_a_value_does_not_depend_on_its_company() -> None:
    model, inputs = made(f"FNet{ENDING}"), texts()
    given: dict[str, Any] = {
        "methods": {"ig": Row("integrated_gradients", options={"n_steps": 3}), "occlusion": Row("occlusion")},
        "metrics": ["aopc_morf"],
    }
    with warnings.catch_warnings(action="ignore"):
        together = evaluate(model, inputs, **given)
        apart = [evaluate(model, inputs[[b]], **given) for b in range(len(inputs))]
    assert "do not share a forward pass" in together.attrs["notes"]["padding"]
    for b, table in enumerate(apart):
        of_input = together[together.input == b].value.tolist()
        assert of_input == pytest.approx(table.value.tolist(), abs=1e-5, nan_ok=True)


@pytest.mark.long
@pytest.mark.slow
def test_every_class_is_answered_as_alone_or_refused() -> None:
    """Of the classes that can be made none differs, and what is refused is refused in a sentence."""
    right, refused, large = [], [], []
    for name in class_names():
        try:
            model = made(name)
        except Exception:  # settings of another shape, a package that is not there, too large
            large.append(name)
            continue
        try:
            with warnings.catch_warnings(action="ignore"):
                check_alone(model, texts(), erases=("delete",))
        except FaithlibError:
            refused.append(name)
        else:
            right.append(name)
    assert len(right) >= 85, (right, refused, large)
    assert len(right) + len(refused) + len(large) == len(sequence_classes.class_names())
