"""Many attributions of the same texts at once: the rows of a paper's table, each forward pass paid for once.

Thirteen rows and two outputs are twenty-six calls of `attribute`, and most of what those run is the same. Here rows
that differ only in aggregation or pooling read one run of their method; gradients of all outputs come from one forward
pass; methods that erase share one `Perturber` for each way to erase, whose memo answers the second output from the
logits of the first.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from faithlib.attribution.costs import Cost, Costs
from faithlib.attribution.registry import METHODS, WITH_DELTA, checked, finite
from faithlib.attribution.texts import Job, run_jobs
from faithlib.backends import replica
from faithlib.backends.labels import target_classes
from faithlib.backends.wrappers import unwrapped
from faithlib.errors import InputError, check_known
from faithlib.inputs import Inputs, TextInputs
from faithlib.perturb import Perturber
from faithlib.selfcheck import met

PREDICTED = "predicted"


@dataclass(frozen=True)
class Row:
    """One row of a table of attributions; the fields mean what they mean in `attribute`.

    `target` is "predicted" or a name out of the `targets` that `attribute_rows` is given. `options` are the method's
    own; `max_tokens` and `perturber` belong to the whole table.

    >>> Row("lime", output="loss", target="gold", options={"n_samples": 50}).name
    'lime loss gold sum n_samples=50'
    """

    method: str
    aggregation: str | None = None
    output: str | None = None
    target: str = PREDICTED
    pool: str = "sum"
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The row in words, different for different rows."""
        said = (self.method, self.aggregation, self.output, self.target, self.pool)
        return " ".join([*filter(None, said), *_in_words(self.options)])


def attribute_rows(
    rows: Sequence[Row],
    model: nn.Module | None,
    inputs: TextInputs,
    *,
    targets: Mapping[str, int | Tensor | Sequence[int]] | None = None,
    perturber: Perturber | None = None,
    max_tokens: int | None = None,
    check: bool = True,
    deltas: dict[str, Tensor] | None = None,
) -> tuple[dict[str, Tensor], dict[str, Cost]]:
    """Scores [B, F] of every row by its name, equal to `attribute` one row at a time, and what each method cost.

    - `targets`: classes by name, each one index for all inputs or one an input (gold labels).
    - `perturber`: your own on the same inputs, for the rows that erase as it does, to share answers with metrics. A row
      that names no `erase` erases as it does, without one by zeros.
    - `max_tokens`: positions a forward, of methods that run the model themselves.
    - `deltas`: where given, filled with the `return_delta` [B] of `attribute` for rows of integrated_gradients.
    - `check`: as for `attribute`; not where a perturber is given, which has been checked.

    Cost: per method and input, whatever the number of aggregations, poolings and outputs, the forward rows that the
    method states (integrated_gradients: times the number of outputs), one forward row for all plain gradients and one
    for guided ones, and one backward row for each output. What methods share is on the account of the row named first.

    Raises what `attribute` raises, and InputError for no rows, images, or a perturber of other inputs.

    >>> import torch
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> attribute_rows([Row("uniform"), Row("uniform", pool="mean")], None, texts)[0]
    {'uniform predicted sum': tensor([[1., 1.]]), 'uniform predicted mean': tensor([[1., 1.]])}
    """
    if not isinstance(inputs, TextInputs):
        raise InputError(f"inputs are {type(inputs).__name__}: attribute_rows explains TextInputs; use attribute")
    if not rows:
        raise InputError("rows: expected at least one Row")
    asked, model = model, unwrapped(model)
    classes = {PREDICTED: None} | {
        name: target_classes(given, model, len(inputs)) for name, given in (targets or {}).items()
    }
    for row in rows:
        _check(row, model, inputs, classes)
    if perturber is not None and perturber.inputs.keys() != inputs.keys():
        raise InputError("the perturber was made for other inputs: make both from the same batch")

    quiet, count = model, None
    if model is not None and any(METHODS[row.method].answers != "floor" for row in rows):
        quiet = replica(model)
        if check and perturber is None:
            count = met(asked, quiet, inputs)
    output_of = {row: row.output or METHODS[row.method].default_output(model, count=count) for row in rows}
    numbers = list(dict.fromkeys((output_of[row], row.target) for row in rows))
    jobs: dict[tuple[str, ...], Job] = {}
    of_row: dict[Row, Job] = {}
    for row in dict.fromkeys(rows):
        of_row[row] = _job(row, (output_of[row], row.target), jobs, numbers)
        of_row[row].wants_delta = deltas is not None and row.method == WITH_DELTA
    costs = Costs(model)
    explained = [(output, classes[target]) for output, target in numbers]
    run_jobs(list(jobs.values()), quiet, inputs, explained, perturber=perturber, max_tokens=max_tokens, costs=costs)
    if deltas is not None:
        deltas |= {row.name: job.delta for row, job in of_row.items() if job.wants_delta}
    device = inputs.n_features.device if model is None else next(model.parameters()).device
    scores = {
        row.name: finite(row.name, job.scores(_aggregation(row), inputs, row.pool).to(device), inputs)
        for row, job in of_row.items()
    }
    return scores, costs.by_method()


def _check(row: Row, model: nn.Module | None, inputs: Inputs, targets: Mapping[str, Tensor | None]) -> None:
    checked(row.method, model, inputs, row.output, row.aggregation, row.pool, row.options)
    check_known("target", row.target, targets)
    if shared := {"max_tokens", "perturber"} & set(row.options):
        raise InputError(f"{row.name}: give {shared.pop()} to attribute_rows, for all rows")


def _job(row: Row, explained: tuple[str, str], jobs: dict[tuple[str, ...], Job], numbers: list[tuple[str, str]]) -> Job:
    """The run of its method that the row reads: one that is there already, or a new one."""
    method = METHODS[row.method]
    number = None if method.blind else numbers.index(explained)
    key = (row.method, str(number), *_in_words(row.options))
    if key not in jobs:
        jobs[key] = Job(row.method, method.run, method.answers, number, dict(row.options), [], readers=0)
    job = jobs[key]
    job.readers += 1
    if _aggregation(row) not in job.aggregations:
        job.aggregations.append(_aggregation(row))
    return job


def _in_words(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={options[name]}" for name in sorted(options)]


def _aggregation(row: Row) -> str | None:
    return row.aggregation or METHODS[row.method].aggregation
