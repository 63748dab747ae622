"""How methods run on texts: several at once, so that forward passes, gradients and erased copies are shared.

A `Job` is one run of a method for one explained number; aggregations over D and poolings to features are read off its
answer afterwards. Gradients of one chunk come from one forward for all numbers; erased copies from one `Perturber` for
each way to erase, whose memo answers every number from the same logits.

Shape letters: B inputs, R rows of one chunk, L tokens, D embedding size, F features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.attribution.costs import Costs
from faithlib.attribution.inside import looking_inside, note_underflow
from faithlib.attribution.perturbation import UNITS, Answers, Perturbers
from faithlib.attribution.target import chunks, undisturbed
from faithlib.backends import TextBackend
from faithlib.errors import check_counts, check_known
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, asked_together
from faithlib.scheduler import pace_of

AGGREGATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "l2": lambda x: x.norm(dim=-1),
    "mean": lambda x: x.mean(dim=-1),
    "sum": lambda x: x.sum(dim=-1),
    "abs_sum": lambda x: x.sum(dim=-1).abs(),
}
POOLS = ("sum", "mean")

# What is explained: an output, and target classes [B] (None: the predicted).
Number = tuple[str, Tensor | None]

# A backward pass keeps every layer's activations: small chunks on a processor are also the fastest.
_MOST_TOKENS = {"cpu": 2048, "cuda": 1 << 15}


@dataclass(eq=False)
class Job:
    """One run of the method `name`, which computes `run` and `answers` what the registry says, about one of the numbers
    to explain (None: it looks at none).

    `readers`: how many aggregations and poolings are read off it, for the account of costs. `found`, when done: by
    aggregation (None where there is no D) the scores of positions [B, L], or of features [B, F] erased as wholes.
    `delta` [B], where it is wanted: by how much a method's scores miss their sum (NaN of one that states none).

    >>> job = Job("mine", lambda inputs: torch.ones(inputs.input_ids.shape), "floor", None, {}, [None])
    >>> job.readers, job.found
    (1, {})
    """

    name: str
    run: Callable[..., Tensor]
    answers: str
    number: int | None
    options: dict[str, Any]
    aggregations: list[str | None]
    readers: int = 1
    wants_delta: bool = False
    delta: Tensor = field(init=False, repr=False)
    found: dict[str | None, Tensor] = field(default_factory=dict)

    def erased(self, inputs: TextInputs) -> TextInputs:
        """The inputs cut into what is erased at a time."""
        unit = self.options.get("unit", UNITS[0])
        check_known("unit", unit, UNITS)
        return inputs.by_piece() if unit == "wordpiece" else inputs

    def scores(self, aggregation: str | None, inputs: TextInputs, pool: str) -> Tensor:
        """What one row of a table reads: [B, F]."""
        found = self.found[aggregation]
        if self.answers == "features" and self.erased(inputs) is inputs:
            return found
        return pooled(found, inputs.feature_of.to(found.device), inputs.feature_mask.to(found.device), pool)


def run_jobs(
    jobs: Sequence[Job],
    model: nn.Module | None,
    inputs: TextInputs,
    numbers: Sequence[Number],
    *,
    perturber: Perturber | None = None,
    max_tokens: int | None = None,
    costs: Costs,
) -> None:
    """Does all jobs, on a replica of the model. None where all jobs are floors.

    `perturber`: the caller's, for the jobs that erase as it does.

    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> job = Job("mine", lambda inputs: torch.ones(inputs.input_ids.shape), "floor", None, {}, [None])
    >>> run_jobs([job], None, texts, [], costs=Costs(None))
    >>> job.scores(None, texts, "sum")
    tensor([[1., 1.]])
    """
    for job in jobs:
        if job.answers == "floor":
            job.found = {None: job.run(inputs, **job.options)}
    if model is None:
        return
    with undisturbed(model) as quiet:
        perturbers = Perturbers(quiet, perturber)
        if inside := [job for job in jobs if job.answers in ("elements", "positions")]:
            launch = pace_of(model, next(model.parameters()).device).launch
            _run_on_chunks(inside, TextBackend(quiet, inputs), numbers, max_tokens, launch, costs)
        _run_erasing([job for job in jobs if job.answers == "features"], inputs, numbers, perturbers, costs)


def _run_on_chunks(
    jobs: Sequence[Job],
    backend: TextBackend,
    numbers: Sequence[Number],
    max_tokens: int | None,
    launch: float,
    costs: Costs,
) -> None:
    for job in jobs:
        job.found = {a: torch.zeros(backend.inputs.input_ids.shape, device=backend.device) for a in job.aggregations}
        job.delta = torch.full((len(backend.inputs),), torch.nan, device=backend.device)
    # Only the numbers that somebody here asks for: a forward pass that chunks share has a backward pass for each.
    used = sorted({job.number for job in jobs if job.number is not None}) or [0]
    most = most_tokens(backend.device, max_tokens, _MOST_TOKENS)
    for together in chunks(backend, [numbers[n] for n in used], most, launch):
        for job in jobs:
            chunk = together[0 if job.number is None else used.index(job.number)]
            chunk.wants_delta = job.wants_delta
            looking = looking_inside(job.name, backend.model, gradients=job.number is not None)
            with costs.of_chunk(job.name, job.readers, chunk), looking:
                answer = job.run(chunk, **job.options).detach()
                if job.number is not None:
                    note_underflow(job.name, answer, chunk.feature_of() >= 0, backend.model)
                answer = answer.float()
                if job.wants_delta and chunk.delta is not None:
                    job.delta[chunk.rows] = chunk.delta.float()
                for aggregation, positions in job.found.items():
                    positions[chunk.rows, : chunk.length] = (
                        answer if aggregation is None else AGGREGATIONS[aggregation](answer)
                    )


def _run_erasing(
    jobs: Sequence[Job], inputs: TextInputs, numbers: Sequence[Number], perturbers: Perturbers, costs: Costs
) -> None:
    """Jobs that erase, the rows of all asked together."""
    asked = []
    for job in jobs:
        with costs.of_erased(job.name, job.readers, perturbers):
            asked.append(perturbers.of(job.erased(inputs), job.options.get("erase")))

    def ask() -> None:
        for job, perturber in zip(jobs, asked, strict=True):
            with costs.of_erased(job.name, job.readers, perturbers):
                job.found = {None: _scores_of_erased(job, inputs, numbers, perturber)}

    with costs.of_joined():
        asked_together(ask, *asked)


def _scores_of_erased(job: Job, inputs: TextInputs, numbers: Sequence[Number], perturber: Perturber) -> Tensor:
    output, target = numbers[job.number or 0]
    answers = Answers(perturber, target, output)
    scores = job.run(answers, **{name: value for name, value in job.options.items() if name not in ("erase", "unit")})
    erased = job.erased(inputs)
    if erased is inputs:
        return scores
    positions = scores.new_zeros(inputs.input_ids.shape)
    positions[erased.feature_of.to(scores.device) >= 0] = scores[answers.present]
    return positions


def most_tokens(device: torch.device, given: int | None, most: dict[str, int]) -> int:
    """Positions a forward: those given, or what suits the device.

    >>> most_tokens(torch.device("cpu"), None, {"cpu": 2048}), most_tokens(torch.device("cpu"), 64, {"cpu": 2048})
    (2048, 64)
    """
    check_counts(max_tokens=given)
    return most.get(device.type, most["cpu"]) if given is None else given


def pooled(positions: Tensor, feature_of: Tensor, feature_mask: Tensor, pool: str) -> Tensor:
    """Scores of positions [B, L] to scores of features [B, F]; protected positions are dropped.

    >>> positions, feature_of = torch.tensor([[9.0, 1.0, 2.0, 4.0]]), torch.tensor([[-1, 0, 0, 1]])
    >>> pooled(positions, feature_of, torch.tensor([[True, True]]), "sum")
    tensor([[3., 4.]])
    """
    owned = feature_of >= 0
    index = feature_of.clamp(min=0)
    scores = positions.new_zeros(feature_mask.shape)
    scores.scatter_add_(1, index, torch.where(owned, positions, 0))
    if pool == "mean":
        scores /= torch.zeros_like(scores).scatter_add_(1, index, owned.to(scores.dtype)).clamp(min=1)
    return scores
