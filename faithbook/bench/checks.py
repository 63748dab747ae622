"""What is wrong with a metric or a method before any table is made: asked of a model in closed form, in a second.

The model is the detector of planted trigger words (`faithbook.models.closed_form`), whose every answer is known. What
may not change an answer is changed: the order of the batch, the company in it, what stands beyond an input's features,
the names of the classes, the words as strings. Shape letters: B inputs, F features.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
import transformers
from torch import Tensor

from faithbook.bench.user_metric import OwnMethod, OwnMetric
from faithbook.models import closed_form
from faithbook.models.encoders import encoder_folder
from faithbook.sources.datasets import load_dataset
from faithbook.together.reasons import text_inputs
from faithlib.attribution import attribute
from faithlib.errors import InputError
from faithlib.inputs import TextInputs
from faithlib.masks import normalise
from faithlib.perturb import Perturber

_INPUTS = 12
_CLOSE = 1e-4

Answer = Callable[[Any, Perturber, Tensor], Tensor]
"""What is checked, of a model, its perturber and scores [B, F]: one value per input, or one a feature of an input."""


@dataclass(frozen=True)
class Checked:
    """What the checks say: `faults`, a sentence each; `by_amount`, whether values depend on how high scores are and not
    on their order alone."""

    faults: tuple[str, ...]
    by_amount: bool = False


@dataclass(frozen=True)
class Bed:
    """The model that is asked, its texts with something planted, and scores of a few kinds, [B, F] each."""

    model: Any
    inputs: TextInputs
    scores: dict[str, Tensor]

    def perturber(self, rows: list[int] | None = None) -> Perturber:
        """The model with some of the texts."""
        return Perturber(self.model, self.inputs if rows is None else self.inputs[rows], erase="mask")


@functools.cache
def bed() -> Bed:
    """Planted texts of several lengths, the first of the test split that have triggers."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(encoder_folder("minilm")), local_files_only=True)
    detector = closed_form.word_detector(tokenizer)
    data = load_dataset("planted", "test", n=3 * _INPUTS)
    inputs, marks = text_inputs(data, tokenizer)
    rows = [i for i, label in enumerate(data.labels) if label][:_INPUTS]
    inputs = inputs[rows]
    marks = marks[rows][:, : inputs.feature_mask.shape[1]].float()
    random = attribute("random", detector.model, inputs)
    return Bed(detector.model, inputs, {"truth": marks, "opposite": -marks, "random": random})


def check_metric(metric: OwnMetric) -> Checked:
    """All checks of a metric; a wrong shape, infinite values and an error are raised as InputError: nothing can be
    measured with them."""
    ground = bed()
    perturber, scores = ground.perturber(), ground.scores["random"]
    values = {name: metric(perturber, one) for name, one in ground.scores.items()}
    undefined = float(torch.cat(list(values.values())).isnan().float().mean())
    ranks = normalise(scores, "rank", perturber.feature_mask)
    by_amount = not _same(values["random"], metric(perturber, ranks))
    if undefined == 1:
        raise InputError(f"{metric.name} answered NaN for every input: nothing can be compared")

    faults = _changes(metric.name, lambda _, asked, given: metric(asked, given), ground)
    if undefined:
        why = "a value that is undefined separates no two explanations, and its input is left out"
        faults.insert(0, f"{metric.name} is NaN for {undefined:.0%} of inputs and explanations: {why}.")
    if all(len(set(one[~one.isnan()].tolist())) == 1 and _same(one, values["truth"]) for one in values.values()):
        faults.append(f"{metric.name} has the same value for every explanation of every input.")
    return Checked(tuple(faults), by_amount)


def check_method(method: OwnMethod) -> Checked:
    """All checks of a method; errors as `check_metric`."""

    def scores_of(model: Any, asked: Perturber, _: Tensor) -> Tensor:
        return method(model, asked.inputs, asked).double().cpu()

    return Checked(tuple(_changes(method.name, scores_of, bed(), unit="scores")))


def _changes(name: str, answer: Answer, ground: Bed, *, unit: str = "value") -> list[str]:
    """A sentence for each thing that changes an answer and must not."""
    scores, sizes = ground.scores["random"], ground.inputs.n_features.tolist()

    def asked(given: Tensor, rows: list[int] | None = None) -> Tensor:
        return answer(ground.model, ground.perturber(rows), given)

    answers = asked(scores)
    if not _same(answers, asked(scores)):
        return [f"{name} answers the same question twice and differently: let it draw from a seed of its own."]

    def differs_alone(b: int) -> bool:
        in_company = answers[[b]] if answers.ndim == 1 else answers[[b], : sizes[b]]
        return not _same(in_company, asked(scores[[b], : sizes[b]], [b]))

    backwards = list(range(len(scores)))[::-1]
    faults = []
    if not _same(answers[backwards], asked(scores[backwards], backwards)):
        faults.append(
            f"{name} changes with the order of the batch: the {unit} of an input may not depend on its position."
        )
    if (b := next(filter(differs_alone, range(len(scores))), None)) is not None:
        faults.append(
            f"{name} changes with the other inputs of the batch: input {b}, of {sizes[b]} features, has another "
            f"{unit} alone than beside inputs of {max(sizes)}; see that only features that there are count."
        )
    if not _same(answers, asked(torch.where(ground.inputs.feature_mask, scores, 7.0))):
        faults.append(f"{name} reads scores beyond an input's features: use perturber.feature_mask, or `present`.")

    # Classes with other numbers, and words that are other strings, though the model answers the same.
    inner, inputs = ground.model, ground.inputs
    weights = [inner.head.weight.data.roll(1, dims=0), inner.head.bias.data.roll(1, dims=0)]
    words = inner.encoder.embeddings.table.weight.data
    turned = closed_form.WordModel(words, *weights, over=inner.over, pad_id=inner.config.pad_token_id)
    renamed = replace(inputs, features=_numbered(inputs.features), tokens=_numbered(inputs.tokens))
    for other, fault in (
        (replace(ground, model=turned), "label: it changes where the classes get other numbers"),
        (replace(ground, inputs=renamed), "words, and so at the label: it changes where they are other strings"),
    ):
        try:
            alike = _same(answers, answer(other.model, other.perturber(), scores))
        except InputError:
            alike = False
        if not alike:
            faults.append(f"{name} looks at the {fault} and the model answers the same.")
    return faults


def _numbered(rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """As many strings, which say nothing."""
    return tuple(tuple(f"w{i}" for i in range(len(row))) for row in rows)


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)
