"""What metrics will take of your model and inputs, known before they run: methods that fit, rows, seconds, memory.

    methods, left_out = fitting_methods(["attention", "lime"], classifier, brought.inputs)
    print(estimate(classifier, brought, methods))  # an error where it would be too much

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from faithbook.models.load import Classifier
from faithbook.own.load import OwnData
from faithlib.attribution.dispatch import attributed
from faithlib.attribution.registry import Row
from faithlib.backends import VisionBackend
from faithlib.errors import InputError, ModelError
from faithlib.evaluation import MetricSettings, count_rows
from faithlib.evaluation.measures import families_of
from faithlib.inputs import ImageInputs, Inputs, TextInputs
from faithlib.memory import free_bytes
from faithlib.names import MethodName, MetricName
from faithlib.perturb import Perturber

_PROBES = 8
_FLOORS = {"random", "uniform"}  # methods that look at no model, and so explain any
_BYTES_AN_ANSWER = 200  # beside the key's one bit a feature


def fitting_methods(
    names: Sequence[MethodName], classifier: Classifier, inputs: Inputs
) -> tuple[tuple[MethodName, ...], dict[str, str]]:
    """The methods that can explain this model, and of each of the others why not: all are tried on the shortest input.

    Raises UnknownNameError for a name that explains no such inputs, ModelError where nothing but floors is left.
    """
    shortest = inputs[[int(inputs.n_features.argmin())]]
    left_out: dict[str, str] = {}
    rows: dict[str, Row] = {name: Row(name) for name in names}
    attributed(rows, classifier.model, shortest, left_out=left_out, passed=(ModelError,))
    fitting = tuple(name for name in names if name not in left_out)
    if set(fitting) <= _FLOORS:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ModelError(f"no method can explain {classifier.spec}. {reasons or 'random and uniform look at no model'}")
    return fitting, left_out


@dataclass(frozen=True)
class CostEstimate:
    """What the metrics take, before they are computed: `rows` of the model; `seconds`, at the pace of a few rows;
    `bytes` of the masks and answers, of `free` bytes."""

    rows: int
    seconds: float
    bytes: int
    free: int


def estimate(
    classifier: Classifier,
    brought: OwnData,
    methods: Sequence[str],
    metrics: Sequence[MetricName] | None = None,
    *,
    draws: int = 4,
    free: int | None = None,
    **options: Any,
) -> CostEstimate:
    """What `evaluate` will take with these options: rows are counted for random scores, without the model.

    `free`: bytes that there are (default: what the machine says). The passes of a model fit themselves to the memory
    (`Perturber`), and may use half of it; the masks of what is asked, and the answers, do not.

    Raises UnknownNameError for a metric that does not exist, InputError for one that these inputs do not allow, and
    where more than half of what is free would be needed.
    """
    families, inputs = families_of(metrics, has_gold=brought.gold is not None), brought.inputs
    if "soft" in families and isinstance(inputs, ImageInputs):
        backend = VisionBackend(classifier.model, inputs)
        if backend.patch_features() is None:
            down, across = backend.reached.patch_size
            raise InputError(
                f"soft_ns and soft_nc need features made of whole patches of the model, {down} x {across} pixels: take "
                "a multiple of that for `patch`, or name the metrics without these two"
            )
    sizes, random = inputs.n_features.tolist(), torch.Generator().manual_seed(0)
    lengths = inputs.lengths.tolist() if isinstance(inputs, TextInputs) else [1] * len(inputs)  # images are as long
    free = free_bytes(next(classifier.model.parameters()).device) if free is None else free

    fewer = "shorter texts" if isinstance(inputs, TextInputs) else "a larger patch"

    def fitting(needed: int) -> int:
        if 2 * needed > free:
            raise InputError(
                f"too large: {len(methods)} methods and {len(families)} families of metrics on {len(sizes)} inputs of "
                f"up to {max(sizes)} features take about {amount(needed)} of memory, and half of what is free is "
                f"{amount(free // 2)}. Fewer features help most ({fewer}). Then fewer inputs (n), methods or metrics"
            )
        return needed

    # Masks of the largest question, copied a few times on their way to the model. They are looked at first: to count
    # the rows is to make them.
    longest = Perturber(classifier.model, inputs[[lengths.index(max(lengths))]])
    each = max(sizes) if {"aopc", "naopc"} & set(families) or "occlusion" in methods else 50
    soft = 2 * draws * len(methods) if "soft" in families else 0
    masks = fitting(longest.stats.peak_bytes + 4 * len(sizes) * max(sizes) * (each + soft))
    scores = torch.rand(len(methods), *inputs.feature_mask.shape, generator=random)
    rows = count_rows(
        classifier.model,
        inputs,
        methods=dict(zip(methods, scores, strict=True)),
        metrics=metrics,
        gold=brought.gold,
        settings=MetricSettings(draws=draws, **options),
    ).each
    before = longest.stats.seconds_all
    longest.keep(torch.rand(1, _PROBES, longest.feature_mask.shape[1], generator=random) < 0.5)
    pace = (longest.stats.seconds_all - before) / (_PROBES * max(lengths))
    return CostEstimate(
        rows=sum(rows),
        seconds=pace * sum(count * length for count, length in zip(rows, lengths, strict=True)),
        bytes=fitting(masks + sum(rows) * (max(sizes) // 8 + _BYTES_AN_ANSWER)),
        free=free,
    )


def amount(count: float) -> str:
    """A number of bytes for people.

    >>> amount(25_200_000), amount(21e9), amount(300)
    ('25 MB', '21 GB', '0.0003 MB')
    """
    if count < 1e9 - 5e6:  # what would be rounded to 1,000 MB is a GB
        return f"{count / 1e6:.2g} MB"
    if count < 1e11:
        return f"{count / 1e9:.2g} GB"
    return f"{count / 1e9:.4g} GB"
