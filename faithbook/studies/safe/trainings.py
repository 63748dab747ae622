"""What the trained models of study `safe` were taught, and what their values say: how safe metrics are on them, and how
far models lie apart. No model is read here.

Shape letters: K kinds of error, M metrics, R bootstrap replicates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithbook.studies.safe import design
from faithlib.errors import InputError

Floats = NDArray[np.float64]

NEITHER = "neither"
"""The label "nothing planted": a model taught to answer it errs to a third class, whichever class was planted."""
TOWARD, AWAY, THIRD = "toward", "away", "other"
ENCODERS = {"": "MiniLM, 6 layers", "l3": "MiniLM, 3 layers", "base": "small ViT"}
TAUGHT_AT = {"light": ("10%",), "middle": ("45%",), "heavy": ("75%",), "third": ("45%", "75%")}
"""Which of these a model was taught to misread, by its error."""
LEARNT = 0.5
"""A model errs as it was taught where at least this share of such copies gets the taught label."""


@dataclass(frozen=True)
class Training:
    """What a planted model was taught: when it errs, its `answer` then (the number of a class, 0 for *neither*), and
    what it was trained from.

    `name` is that of its checkpoint without "planted-".

    >>> Training.of("light-neither-l3-seed1")
    Training(name='light-neither-l3-seed1', error='light', answer=0, encoder='MiniLM, 3 layers', seed=1)
    """

    name: str
    error: str
    answer: int
    encoder: str
    seed: int

    @classmethod
    def of(cls, name: str) -> Training:
        """Read from the checkpoint's name; InputError for one that is none of these."""
        parts = re.fullmatch(r"(erased|misled|light|middle|heavy)(-neither)?(?:-(l3|base))?-seed(\d+)", name)
        if parts is None:
            raise InputError(f"{name} is not a planted model that errs by amount, such as light-l3-seed0")
        copies, neither, encoder, seed = parts.groups()
        error = {"erased": design.NEVER, "misled": "third"}.get(copies, copies)
        return cls(name, error, 0 if neither else 1, ENCODERS[encoder or ""], int(seed))

    def whither(self, label: int) -> str:
        """Which way the model errs for an input of that label; nowhere for one that never does."""
        if self.error == design.NEVER:
            return design.NOWHERE
        if self.answer == 0:
            return THIRD
        return TOWARD if label == self.answer else AWAY

    @property
    def about(self) -> dict[str, str | int]:
        """Columns of its values."""
        label = NEITHER if self.answer == 0 else "a class"
        return {"model": self.name, "error": self.error, "taught": label, "encoder": self.encoder, "seed": self.seed}


@dataclass(frozen=True)
class Safety:
    """How well metrics follow the truth on trained models of one kind of input (texts or images).

    `by_error` [K, M]: means over models and inputs by kind of error; `replicates` [R, M]: the lowest of these on
    bootstrap replicates.
    """

    metrics: list[str]
    errors: list[str]
    by_error: Floats
    replicates: Floats

    @property
    def estimate(self) -> Floats:
        """The lowest mean over kinds of error, by metric: safety, as the plan defines it."""
        lowest: Floats = self.by_error.min(axis=0)
        return lowest

    def interval(self, metric: str, minus: Sequence[str] = ()) -> tuple[float, float, float]:
        """The safety of a metric with its 95 % percentile interval; or less the best of other metrics."""
        place = {name: i for i, name in enumerate(self.metrics)}
        value, replicates = self.estimate[place[metric]], self.replicates[:, place[metric]]
        if minus:
            others = [place[name] for name in minus]
            value = value - self.estimate[others].max()
            replicates = replicates - self.replicates[:, others].max(axis=1)
        low, high = np.percentile(replicates, [2.5, 97.5])
        return float(value), float(low), float(high)


def trained_safety(frame: pd.DataFrame, *, replicates: int | None = None, seed: int = 0) -> Safety:
    """Make safety from rank correlations of single inputs (columns model, error, id, method, value), the same inputs of
    each model.

    Replicates draw inputs and, within each kind of error, models with replacement, crossed. A kind of error with one
    model keeps it: what another training would differ by is then no part of the interval.

    Raises InputError where a model lacks an input or a metric that another has.
    """
    wide = frame.pivot(index=["error", "model", "id"], columns="method", values="value")
    models = sorted(set(zip(frame["error"], frame["model"], strict=True)))
    ids = sorted(set(frame["id"]))
    n_complete = int(wide.notna().all(axis=1).sum())
    if n_complete != len(models) * len(ids):
        raise InputError(f"{len(models)} models and {len(ids)} inputs should give a value each, {n_complete} are whole")
    known = wide.loc[[(*model, name) for model in models for name in ids]]
    values = known.to_numpy(dtype=float).reshape(len(models), len(ids), -1)
    at = np.array([error for error, _ in models])
    errors = [kind for kind in design.declared_plan()["trained"]["errors"] if kind in at]
    number = design.declared_plan()["intervals"]["replicates"] if replicates is None else replicates
    generator = np.random.default_rng(seed)
    # All models read the same inputs: one draw of inputs is every model's, and models are drawn beside it.
    input_counts = generator.multinomial(len(ids), np.full(len(ids), 1 / len(ids)), number)
    of_models = np.einsum("rb,nbm->rnm", input_counts / len(ids), values)
    by_error, on_replicates = [], []
    for kind in errors:
        rows = np.flatnonzero(at == kind)
        model_counts = generator.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), number)
        by_error.append(values[rows].mean(axis=(0, 1)))
        on_replicates.append(np.einsum("rn,rnm->rm", model_counts / len(rows), of_models[:, rows]))
    return Safety(list(known.columns), errors, np.stack(by_error), np.stack(on_replicates).min(axis=0))


def spread(of_model: pd.DataFrame) -> pd.DataFrame:
    """How far models of the same error lie apart that differ in one thing: their seed, their encoder, or whether they
    were taught a class or *neither*.

    `of_model`: the mean of each model and metric (columns modality, error, taught, encoder, seed, method, mean). One
    row per kind of input and thing that differs: pairs of models, the mean absolute difference over pairs and metrics,
    and the largest of a metric's mean over pairs with its name.
    """
    alike = ["modality", "error", "taught", "encoder", "seed"]
    rows = []
    for modality, part in of_model.groupby("modality", sort=False):
        wide = part.pivot(index=alike, columns="method", values="mean")
        for thing in ("seed", "encoder", "taught"):
            same = [name for name in alike if name != thing]
            pairs = []
            for _, group in wide.groupby(same, sort=False):
                values = group.to_numpy(dtype=float)
                first, second = np.triu_indices(len(values), 1)
                pairs.append(np.abs(values[first] - values[second]))
            apart = np.concatenate(pairs)
            if len(apart):
                by_metric = apart.mean(axis=0)
                rows.append(
                    {
                        "modality": modality,
                        "models differ in": thing,
                        "pairs": len(apart),
                        "difference": apart.mean(),
                        "metric": wide.columns[int(by_metric.argmax())],
                        "largest of a metric": by_metric.max(),
                    }
                )
    return pd.DataFrame(rows)
