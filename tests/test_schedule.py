"""The schedule: how rows are cut into forwards, what those would cost on a GPU, and that neither changes an answer."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from benchmarks import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from refusals import refused
from torch import Tensor
from toy_models import image_inputs, one_row, text_inputs, text_model, vision_model

from faithlib import _scheduler as scheduler
from faithlib._masking import Perturbation, Rows
from faithlib._scheduler import CostModel, Scheduler, cut
from faithlib.attribution import _texts as attribution_texts
from faithlib.copies import Copies
from faithlib.errors import InputError, ModelError
from faithlib.evaluation import RunSettings, evaluate
from faithlib.perturb import Perturber

READER = text_model("bert")


# -------------------------------------------------------------------------------------------------------------- cutting
def cost(lengths: list[int], sizes: tuple[int, ...], launch: float) -> float:
    starts = np.cumsum([0, *sizes[:-1]])
    return sum(launch + size * lengths[start] for start, size in zip(starts, sizes, strict=True))


def longest_first(most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 12), min_size=1, max_size=most).map(lambda them: sorted(them, reverse=True))


@settings(max_examples=60, deadline=None)
@given(lengths=longest_first(8), launch=st.floats(0, 40))
def test_no_way_to_cut_costs_less(lengths: list[int], launch: float) -> None:
    sizes = cut(np.array(lengths), launch=launch, most_tokens=10**6)
    assert sum(sizes) == len(lengths)
    cuts = [c for n in range(len(lengths)) for c in itertools.combinations(range(1, len(lengths)), n)]
    ways = [tuple(np.diff([0, *places, len(lengths)]).tolist()) for places in cuts]
    assert cost(lengths, tuple(sizes), launch) == pytest.approx(min(cost(lengths, way, launch) for way in ways))


@settings(max_examples=60, deadline=None)
@given(
    lengths=longest_first(40),
    launch=st.floats(0, 40),
    most_tokens=st.integers(1, 90),
    most_rows=st.sampled_from([None, 1, 3]),
)
def test_no_forward_holds_more_than_it_may(
    lengths: list[int], launch: float, most_tokens: int, most_rows: int | None
) -> None:
    sizes = cut(np.array(lengths), launch=launch, most_tokens=most_tokens, most_rows=most_rows)
    assert sum(sizes) == len(lengths)
    for size, start in zip(sizes, np.cumsum([0, *sizes[:-1]]), strict=True):
        assert size == 1 or (size * lengths[start] <= most_tokens and size <= (most_rows or size))


# --------------------------------------------------------------------------------------------------- priced as on a GPU
@dataclass
class Card:
    """A GPU in a cost model: a forward takes as long as its tokens, padding included, and at least its launch; with a
    backward pass three times that. `rows`: tokens of the distinct rows, without padding."""

    launch: float
    token: float
    seconds: float = 0.0
    forwards: list[int] = field(default_factory=list)
    row_tokens: int = 0

    def ran(self, _: object, args: object, given: dict[str, Tensor], output: SimpleNamespace) -> None:
        """A hook after every forward."""
        rows, length = given["inputs_embeds"].shape[:2]
        times = 3 if output.logits.requires_grad else 1
        self.seconds += times * max(self.launch, rows * length * self.token)
        self.forwards.append(rows)


CARDS = {  # GPU.md: an H100, float32
    "bert-base": (Card(7e-3, 3.9e-6), 1.3),
    "minilm-l6": (Card(4e-3, 0.6e-6), 1.8),
}
METHODS = ("input_x_gradient", "integrated_gradients", "saliency", "occlusion", "random")


@pytest.mark.parametrize("name", CARDS)
def test_an_evaluation_is_scheduled_near_its_floor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    card, most = CARDS[name]
    gpu = classmethod(lambda cls, device: cls(scheduler._LAUNCH["cuda"], scheduler._MOST_TOKENS["cuda"], to_time=2))
    monkeypatch.setattr(CostModel, "of", gpu)
    monkeypatch.setattr(scheduler, "waited", lambda device: card.seconds)
    monkeypatch.setitem(attribution_texts._MOST_TOKENS, "cpu", attribution_texts._MOST_TOKENS["cuda"])
    run = Scheduler._run

    def noted(asked: Scheduler, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        card.row_tokens += int(perturbation.lengths(rows).sum())
        run(asked, perturbation, rows, slots)

    monkeypatch.setattr(Scheduler, "_run", noted)
    model, tokenizer, texts = drawn.model("tiny"), drawn.tokenizer(), drawn.texts(64)
    model.register_forward_hook(card.ran, with_kwargs=True)
    table = evaluate(model, texts, tokenizer=tokenizer, methods=METHODS, run=RunSettings(check=False))

    tokens = sum(len(ids) for ids in tokenizer(texts)["input_ids"])
    steps = 50 + 1  # of integrated gradients, and the gradient that the two other methods share
    floor = card.token * (card.row_tokens + 3 * steps * tokens)
    ends = 2  # of integrated gradients: the input and its baseline, from which the convergence delta is worked out
    padded = 4  # of erased rows and of gradients two each, alone and padded, that show whether padding does
    assert sum(card.forwards) == table.attrs["costs"]["rows_run"] + (steps + ends) * len(texts) + padded
    assert card.seconds <= most * floor


# ------------------------------------------------------------------------------------- what is asked, in whatever order
LENGTHS = (9, 4, 7, 4)
COPIES = {"keep": lambda values: Copies(values < 0.5), "soft": lambda values: Copies(values, draws=2, seed=3)}
ASK = {
    "keep": lambda perturber, values: perturber.keep(values < 0.5),
    "soft": lambda perturber, values: perturber.soft(values, draws=2, seed=3),
    "gaussian": lambda perturber, values: perturber.gaussian(values, variance=0.2, equation=7, draws=2, seed=3),
    "attention": lambda perturber, values: perturber.attention_mask(values),
}


def numbers(seed: int) -> Tensor:
    return torch.rand(len(LENGTHS), 2, max(LENGTHS) - 2, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=15, deadline=None)
@given(
    asked=st.lists(st.tuples(st.sampled_from([*ASK]), st.integers(0, 5)), min_size=1, max_size=6),
    together=st.booleans(),
    erase=st.sampled_from(["zero", "pad", "mask", "delete"]),
    max_rows=st.sampled_from([None, 3]),
    some=st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
def test_what_was_asked_in_which_order_changes_no_value(
    asked: list[tuple[str, int]], together: bool, erase: str, max_rows: int | None, some: list[int]
) -> None:
    inputs = text_inputs(READER, LENGTHS)
    perturber = Perturber(READER, inputs, erase=erase, max_rows=max_rows)
    view = perturber.subset(some)

    # What can wait is queued before anything is asked now, as `evaluate` does.
    waiting = {
        at: view.later(COPIES[kind](numbers(seed)[some])) for at, (kind, seed) in enumerate(asked) if kind in COPIES
    }
    found = []
    for at, (kind, seed) in enumerate(asked):
        if together and at in waiting:
            found.append(waiting[at].result())
        else:
            found.append(ASK[kind](view, numbers(seed)[some]))
    for (kind, seed), values in zip(asked, found, strict=True):
        amounts = numbers(seed)
        for n, b in enumerate(some):
            if kind == "keep":
                expected = torch.stack([one_row(READER, inputs, b, row < 0.5, erase) for row in amounts[b]])
                expected = expected.softmax(dim=-1)[:, perturber.predicted[b]]
            else:  # the input alone, in a perturber of its own, one row a forward
                alone = Perturber(READER, inputs[[b]], erase=erase, max_rows=1)
                expected = ASK[kind](alone, amounts[[b]][..., : LENGTHS[b] - 2])[0]
            torch.testing.assert_close(values[n], expected, atol=1e-5, rtol=0)


def test_rows_that_wait_run_once_as_one_and_with_whatever_asks_first() -> None:
    inputs = text_inputs(READER, LENGTHS)
    perturber, keep = Perturber(READER, inputs), [numbers(seed) < 0.5 for seed in range(3)]
    before = perturber.stats.forwards
    waiting = [perturber.later(masks) for masks in (*keep, keep[0])]
    assert perturber.stats.forwards == before, "nothing runs before an answer is taken"
    now = perturber.keep(keep[1])  # asked at once, of rows that wait
    assert perturber.scheduler.rows_new == perturber.stats.rows_run
    forwards = perturber.stats.forwards
    torch.testing.assert_close(waiting[1].result(), now)
    torch.testing.assert_close(waiting[3].result(), waiting[0].result())
    assert perturber.stats.forwards == forwards
    single = Perturber(READER, inputs)
    for masks, answers in zip(keep, waiting, strict=False):
        torch.testing.assert_close(answers.result(), single.keep(masks), atol=1e-6, rtol=0)
    assert single.stats.rows_run == perturber.stats.rows_run


class Breaks(torch.nn.Module):
    """A model that answers NaN to some rows, for as long as it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.broken = False

    def forward(self, pixels: Tensor) -> Tensor:
        logits = pixels.mean(dim=(2, 3))[:, :2] * self.weight
        return logits * torch.nan if self.broken else logits


def test_an_error_leaves_no_wrong_answer_behind() -> None:
    images, model = image_inputs(), Breaks().eval()
    perturber = Perturber(model, images, check=False)
    keep = torch.ones(3, 1, 4, dtype=torch.bool)
    keep[..., 0] = False
    other = ~keep
    model.broken = True
    first, second = perturber.later(keep), perturber.later(other)
    for answers in (first, second, first):
        refused(InputError, "NaN or infinity", answers.result)
    model.broken = False
    torch.testing.assert_close(perturber.keep(keep), Perturber(model, images, check=False).keep(keep))
    torch.testing.assert_close(first.result(), perturber.keep(keep))
    refused(InputError, "NaN or infinity", second.result)


def test_what_a_model_does_not_allow_is_an_error_where_it_is_asked_and_costs_the_others_nothing() -> None:
    images = image_inputs()
    perturber = Perturber(lambda pixels: pixels.mean(dim=(2, 3)), images)  # which has no tokens
    half = torch.ones(3, 1, 4, dtype=torch.bool)
    half[..., :2] = False
    hard, soft = perturber.later(half), perturber.later(Copies(half * 0.5))
    expected = Perturber(lambda pixels: pixels.mean(dim=(2, 3)), images).keep(half)
    torch.testing.assert_close(hard.result(), expected)
    refused(ModelError, "no timm VisionTransformer", soft.result)
    refused(ModelError, "no timm VisionTransformer", perturber.soft, half * 0.5)


def test_what_waits_runs_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "_MOST_WAITING_BYTES", 20)
    perturber = Perturber(vision_model(), image_inputs())
    keep = [torch.rand(3, 2, 4, generator=torch.Generator().manual_seed(seed)) < 0.5 for seed in range(4)]
    before = perturber.stats.rows_run
    waiting = [perturber.later(masks) for masks in keep]
    assert perturber.stats.rows_run > before
    for masks, answers in zip(keep, waiting, strict=True):
        torch.testing.assert_close(answers.result(), Perturber(vision_model(), image_inputs()).keep(masks))
