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

from faithlib import scheduler
from faithlib.attribution import texts as attribution_texts
from faithlib.errors import ModelError
from faithlib.evaluation import aopc_scores, evaluate, hard_scores, soft_scores
from faithlib.perturb import Perturber, asked_together
from faithlib.perturbations import Perturbation, Rows
from faithlib.scheduler import Pace, Scheduler, cut

READER = text_model("bert")


# -------------------------------------------------------------------------------------------------------------- cutting
def cost(lengths: list[int], sizes: tuple[int, ...], launch: float) -> float:
    starts = np.cumsum([0, *sizes[:-1]])
    return sum(launch + size * lengths[start] for start, size in zip(starts, sizes, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=8).map(lambda them: sorted(them, reverse=True)),
    launch=st.floats(0, 40),
)
def test_no_way_to_cut_costs_less(lengths: list[int], launch: float) -> None:
    sizes = cut(np.array(lengths), launch=launch, most_tokens=10**6)
    assert sum(sizes) == len(lengths)
    places = range(1, len(lengths))
    ways = [
        tuple(np.diff([0, *cuts, len(lengths)]).tolist())
        for n in range(len(lengths))
        for cuts in itertools.combinations(places, n)
    ]
    assert cost(lengths, tuple(sizes), launch) == pytest.approx(min(cost(lengths, way, launch) for way in ways))


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=40).map(lambda them: sorted(them, reverse=True)),
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
    monkeypatch.setattr(Pace, "of", gpu)
    monkeypatch.setattr(scheduler, "waited", lambda device: card.seconds)
    monkeypatch.setitem(attribution_texts._MOST_TOKENS, "cpu", attribution_texts._MOST_TOKENS["cuda"])
    run = Scheduler._run

    def noted(asked: Scheduler, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        card.row_tokens += int(perturbation.lengths(rows).sum())
        run(asked, perturbation, rows, slots)

    monkeypatch.setattr(Scheduler, "_run", noted)
    model, tokenizer, texts = drawn.model("tiny"), drawn.tokenizer(), drawn.texts(64)
    model.register_forward_hook(card.ran, with_kwargs=True)
    table = evaluate(model, texts, tokenizer=tokenizer, methods=METHODS, check=False)

    tokens = sum(len(ids) for ids in tokenizer(texts)["input_ids"])
    steps = 50 + 1  # of integrated gradients, and the gradient that the two other methods share
    floor = card.token * (card.row_tokens + 3 * steps * tokens)
    rows_run = table.attrs["costs"]["rows_run"]
    print(
        f"{name}: {rows_run} rows, {sum(card.forwards) / len(card.forwards):.0f} rows a forward in {len(card.forwards)}"
        f" forwards, {card.seconds / floor:.2f} times the floor"
    )
    ends = 2  # of integrated gradients: the input and its baseline, from which the convergence delta is worked out
    assert sum(card.forwards) == rows_run + (steps + ends) * len(texts)
    assert card.seconds <= most * floor


# ------------------------------------------------------------------------------------- what is asked, in whatever order
LENGTHS = (9, 4, 7, 4)
KINDS = ("keep", "soft", "gaussian", "attention")


def masks(kind: str, seed: int) -> Tensor:
    drawn_ = torch.rand(len(LENGTHS), 2, max(LENGTHS) - 2, generator=torch.Generator().manual_seed(seed))
    return drawn_ < 0.5 if kind == "keep" else drawn_


def answers(perturber: Perturber, kind: str, values: Tensor) -> Tensor:
    if kind == "keep":
        return perturber.keep(values)
    if kind == "soft":
        return perturber.soft(values, draws=2, seed=3)
    if kind == "gaussian":
        return perturber.gaussian(values, variance=0.2, equation=7, draws=2, seed=3)
    return perturber.attention_mask(values)


@settings(max_examples=15, deadline=None)
@given(
    asked=st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 5)), min_size=1, max_size=6),
    together=st.booleans(),
    erase=st.sampled_from(["zero", "delete", "mask"]),
    max_rows=st.sampled_from([None, 3]),
    some=st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
def test_what_was_asked_in_which_order_changes_no_value(
    asked: list[tuple[str, int]], together: bool, erase: str, max_rows: int | None, some: list[int]
) -> None:
    inputs = text_inputs(READER, LENGTHS)
    perturber = Perturber(READER, inputs, erase=erase, max_rows=max_rows)
    view = perturber.of(some)

    def ask() -> list[Tensor]:
        return [answers(view, kind, masks(kind, seed)[some]) for kind, seed in asked]

    found = asked_together(ask, view) if together else ask()
    for (kind, seed), values in zip(asked, found, strict=True):
        keep = masks(kind, seed)
        for n, b in enumerate(some):
            if kind == "keep":
                expected = torch.stack([one_row(READER, inputs, b, row, erase) for row in keep[b]])
                expected = expected.softmax(dim=-1)[:, perturber.predicted[b]]
            else:  # the input alone, in a perturber of its own, one row a forward
                alone = Perturber(READER, inputs[[b]], erase=erase, max_rows=1)
                expected = answers(alone, kind, keep[[b]][..., : LENGTHS[b] - 2])[0]
            torch.testing.assert_close(values[n], expected, atol=1e-5, rtol=0)


def test_metrics_asked_together_are_those_asked_one_by_one_in_fewer_forwards() -> None:
    inputs = text_inputs(READER, (16, 9, 4, 12))
    scores = [torch.rand(inputs.feature_mask.shape, generator=torch.Generator().manual_seed(seed)) for seed in range(4)]

    def values(perturber: Perturber) -> list[dict[str, Tensor]]:
        ways = (hard_scores, aopc_scores, soft_scores)
        return [way(perturber, one) for one in scores for way in ways]

    apart, joined, ends = (Perturber(READER, inputs) for _ in range(3))
    expected = values(apart)
    lost = (ends.full - ends.empty).abs()[:, None]  # with erase="zero" what all but AOPC are divided by
    for one, other in zip(asked_together(lambda: values(joined), joined), expected, strict=True):
        for name, value in one.items():
            scale = 1 if name.startswith("aopc") else lost
            torch.testing.assert_close(value * scale, other[name] * scale, atol=1e-5, rtol=0, equal_nan=True)
    assert joined.stats.rows_run == apart.stats.rows_run and joined.stats.rows_asked == apart.stats.rows_asked
    assert joined.stats.forwards < apart.stats.forwards / 2


def test_an_error_leaves_no_made_up_answer_behind() -> None:
    inputs = text_inputs(READER)
    perturber, keep = Perturber(READER, inputs), masks("keep", 0)[:3]

    def fails() -> None:
        perturber.keep(keep)
        raise ValueError("not this one")

    refused(ValueError, "not this one", asked_together, fails, perturber)
    torch.testing.assert_close(perturber.keep(keep), Perturber(READER, inputs).keep(keep))


def test_what_a_model_does_not_allow_is_an_error_where_it_is_asked_and_costs_the_others_nothing() -> None:
    images = image_inputs()
    perturber = Perturber(lambda pixels: pixels.mean(dim=(2, 3)), images)  # which has no tokens
    half = torch.ones(3, 1, 4, dtype=torch.bool)
    half[..., :2] = False

    def ask() -> Tensor:
        found = perturber.keep(half)
        if perturber.scheduler.is_putting_off:
            perturber.soft(half * 0.5)
        return found

    expected = Perturber(lambda pixels: pixels.mean(dim=(2, 3)), images).keep(half)
    torch.testing.assert_close(asked_together(ask, perturber), expected)
    refused(ModelError, "no timm VisionTransformer", perturber.soft, half * 0.5)


def test_what_waits_runs_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "_MOST_WAITING_BYTES", 20)
    perturber = Perturber(vision_model(), image_inputs())
    keep = [torch.rand(3, 2, 4, generator=torch.Generator().manual_seed(seed)) < 0.5 for seed in range(4)]
    found = asked_together(lambda: [perturber.keep(one) for one in keep], perturber)
    for one, value in zip(keep, found, strict=True):
        torch.testing.assert_close(value, Perturber(vision_model(), image_inputs()).keep(one))
