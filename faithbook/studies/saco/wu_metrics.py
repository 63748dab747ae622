"""Explanations of images and five metrics of them under one setting or another: what `saco_metrics` computes.

Shape letters: B images, F features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import pandas as pd
import timm.data
import torch
from torch import Tensor

from faithbook.sources.images import Pictures, as_inputs
from faithlib.attribution import attribute
from faithlib.evaluation import saco_steps
from faithlib.inputs import ImageInputs
from faithlib.masks import salience_groups
from faithlib.metrics.saco import grouped_alone, grouped_five
from faithlib.names import Erasure, MethodName
from faithlib.perturb import Perturber

LAST = "last_layer_attention_with_gradient"
METRICS = ("saco", "auc", "aopc_morf", "aopc_lerf", "log_odds")
METHODS = (
    *("integrated_gradients", "grad_cam", "lrp", "partial_lrp", "transformer_attribution", "conservative_lrp"),
    *("raw_attention", "rollout", "transformer_mm", "attcat", LAST),
)
SCORES_PIXELS = ("integrated_gradients", "lrp")
"""The other methods score patches, and their maps are enlarged."""
Explanations = dict[tuple[str, int], Tensor]
"""Scores [B, F] by method and drawing."""


@dataclass(frozen=True)
class Setting:
    """How maps are made and groups are cut and erased.

    - `unit`: what a feature is, "pixel" or "patch" (the model's own);
    - `upsample`: how a map of patches becomes one of pixels, "bilinear" or "nearest";
    - `scores`: "own" or "ranks", each map's scores replaced by their ranks;
    - `erase`: what takes the place of an erased group, "mean", "zero" or "blur";
    - `dtype`: what the erased images are run in; maps are made in single precision;
    - `k`, `remainder`, `ties`, `reduce`: groups and their salience, as `faithlib.metrics.saco` takes them.
    """

    unit: str = "pixel"
    upsample: str = "bilinear"
    scores: str = "own"
    erase: Erasure = "mean"
    dtype: torch.dtype = torch.float32
    k: int = 10
    remainder: str = "spread"
    ties: str = "position"
    reduce: str = "mean"

    @property
    def grouping(self) -> dict[str, Any]:
        """What the metrics of groups take."""
        return {"k": self.k, "remainder": self.remainder, "ties": self.ties, "reduce": self.reduce}


def explanations(model: Any, inputs: ImageInputs, *, upsample: str, ig_steps: int, random_draws: int) -> Explanations:
    """Scores of the paper's ten methods, of the gradient-weighted attention of the last block alone (its ablation) and
    of random ones, drawn a few times: everything else has drawing 0.

    Integrated gradients explain the probability, the others the logit, as their papers do.
    """
    own: dict[str, dict[str, Any]] = {"integrated_gradients": {"n_steps": ig_steps}, LAST: {"layers": "last"}}
    maps = {}
    for name in METHODS:
        method = "transformer_mm" if name == LAST else name
        options = own.get(name, {})
        if name not in SCORES_PIXELS:
            options = options | {"upsample": upsample}
        maps[name, 0] = attribute(cast(MethodName, method), model, inputs, **options)
    for draw in range(random_draws):
        maps["random", draw] = attribute("random", None, inputs, seed=draw).to(inputs.pixels.device)
    return maps


def ranks(scores: Tensor) -> Tensor:
    """Scores [B, F] as F for the highest down to 1, equal ones in reading order.

    >>> ranks(torch.tensor([[0.5, 2.0, 0.5]]))
    tensor([[2., 3., 1.]])
    """
    order = scores.argsort(dim=1, descending=True, stable=True)
    falling = torch.arange(scores.shape[1], 0, -1, device=scores.device, dtype=scores.dtype)
    return torch.empty_like(scores).scatter_(1, order, falling.expand_as(scores).contiguous())


class ExplainedPictures:
    """A model's images under each way to cut them into features, each replacement and each precision.

    Each is made when first asked for, so that what two settings share is computed once.
    """

    def __init__(self, model: Any, pictures: Pictures, *, ig_steps: int, random_draws: int, device: str) -> None:
        self.model = model
        self.pictures = pictures
        self.ig_steps = ig_steps
        self.random_draws = random_draws
        self.device = device
        self.labels = torch.tensor(pictures.labels, device=device)
        self.perturbers: dict[tuple[str, str, torch.dtype], Perturber] = {}
        self._inputs: dict[str, ImageInputs] = {}
        self._explanations: dict[tuple[str, str], Explanations] = {}

    def inputs(self, unit: str) -> ImageInputs:
        """The images with pixels or patches as features."""
        if unit not in self._inputs:
            patch = 1 if unit == "pixel" else self.model.patch_embed.patch_size[0]
            self._inputs[unit] = as_inputs(self.pictures, self.model, patch=patch).to(self.device)
        return self._inputs[unit]

    def perturber(self, setting: Setting) -> Perturber:
        """What erases as a setting says."""
        key = (setting.unit, setting.erase, setting.dtype)
        if key not in self.perturbers:
            inputs = self.inputs(setting.unit)
            self.perturbers[key] = Perturber(self.model, inputs, erase=setting.erase, dtype=setting.dtype)
        return self.perturbers[key]

    def explanations(self, setting: Setting) -> Explanations:
        """All maps, as a setting enlarges them; patches are not enlarged."""
        key = (setting.unit, setting.upsample if setting.unit == "pixel" else "none")
        if key not in self._explanations:
            self._explanations[key] = explanations(
                self.model,
                self.inputs(setting.unit),
                upsample=setting.upsample,
                ig_steps=self.ig_steps,
                random_draws=self.random_draws,
            )
        return self._explanations[key]

    def frame(self, perturber: Perturber, method: str, draw: int, values: Mapping[str, Tensor]) -> pd.DataFrame:
        """One row per image with its values."""
        about = {
            "input": self.pictures.ids,
            "label": self.pictures.labels,
            "predicted": perturber.predicted.cpu(),
            "p_full": perturber.full.cpu(),
            "method": method,
            "draw": draw,
        }
        return pd.DataFrame(about | {name: value.cpu().double() for name, value in values.items()})


# -------------------------------------------------------------------------------------------------------------- metrics
def metrics_of(batch: ExplainedPictures, setting: Setting) -> pd.DataFrame:
    """The five metrics of every explanation under one setting."""
    perturber = batch.perturber(setting)
    # The rows of all explanations are queued before the first value is made, so that they share forward passes.
    queued = {}
    for key, scores in batch.explanations(setting).items():
        of_map = ranks(scores) if setting.scores == "ranks" else scores
        queued[key] = grouped_five.later(perturber, of_map, labels=batch.labels, **setting.grouping)
    frames = [batch.frame(perturber, *key, values()) for key, values in queued.items()]
    return pd.concat(frames, ignore_index=True)


def saco_by_groups(batch: ExplainedPictures, main: Setting, counts: Sequence[int]) -> pd.DataFrame:
    """SaCo alone of every explanation for other numbers of groups `k`."""
    perturber = batch.perturber(main)
    queued = []
    for k in counts:
        grouping = replace(main, k=k).grouping
        for key, scores in batch.explanations(main).items():
            queued.append((k, key, grouped_alone.later(perturber, scores, **grouping)))
    frames = [batch.frame(perturber, *key, {"saco": values()}).assign(k=k) for k, key, values in queued]
    return pd.concat(frames, ignore_index=True)


def metrics_by_setting(
    batch: ExplainedPictures, main: Setting, changes: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    """The five metrics under each `setting`, by its name: the main one with something changed."""
    frames = [metrics_of(batch, replace(main, **change)).assign(setting=name) for name, change in changes.items()]
    return pd.concat(frames, ignore_index=True)


# -------------------------------------------------------------------------------------------------------- images to see
def pixels_shown(batch: ExplainedPictures, main: Setting, wanted: int) -> pd.DataFrame:
    """The first `wanted` images' pixels from 0 to 1 as the model sees them, with its answers."""
    look = timm.data.resolve_model_data_config(batch.model)
    mean, std = (torch.tensor(look[key], device=batch.device) for key in ("mean", "std"))
    shown, perturber = batch.pictures[:wanted], batch.perturber(main)
    tables = []
    for b, picture in enumerate(shown.ids):
        pixels = batch.inputs("pixel").pixels[b].permute(1, 2, 0).mul(std).add(mean).clamp(0, 1)
        side, channels = pixels.shape[-2:]
        columns = [f"channel{c}" for c in range(channels)]
        table = pd.DataFrame(pixels.reshape(side * side, channels).cpu().numpy(), columns=columns)
        about: dict[str, Any] = {
            "input": picture,
            "label": shown.label_names[shown.labels[b]],
            "predicted": shown.label_names[int(perturber.predicted[b])],
            "p_full": float(perturber.full[b]),
        }
        tables.append(table.reset_index(names="pixel").assign(**about))
    return pd.concat(tables, ignore_index=True).assign(side=side)


def maps_shown(batch: ExplainedPictures, main: Setting, wanted: int) -> pd.DataFrame:
    """Each pixel's score and group under every explanation but random ones drawn again, of the first images."""
    mask = batch.perturber(main).feature_mask
    tables = []
    for method, scores in _first_drawings(batch, main):
        group = salience_groups(scores, main.k, mask)
        for b, picture in enumerate(batch.pictures[:wanted].ids):
            about = {"input": picture, "method": method, "score": scores[b].cpu(), "group": group[b].cpu()}
            tables.append(pd.DataFrame(about).reset_index(names="pixel"))
    return pd.concat(tables, ignore_index=True).assign(side=batch.inputs("pixel").pixels.shape[-1])


def steps_shown(batch: ExplainedPictures, main: Setting, wanted: int) -> pd.DataFrame:
    """Each group's salience, and what the model loses when it is erased `alone` and `together` with more salient ones,
    of the first images. Nothing is run again."""
    perturber = batch.perturber(main)
    tables = []
    for method, scores in _first_drawings(batch, main):
        steps = saco_steps(perturber, scores, labels=batch.labels, **main.grouping)
        for b, picture in enumerate(batch.pictures[:wanted].ids):
            about = {
                "input": picture,
                "method": method,
                "group": range(1, main.k + 1),
                "salience": steps.salience[b].cpu(),
                "alone": steps.alone[b].cpu(),
                "together": (steps.morf[b, :1] - steps.morf[b, 1:]).cpu(),
            }
            tables.append(pd.DataFrame(about))
    return pd.concat(tables, ignore_index=True)


def _first_drawings(batch: ExplainedPictures, main: Setting) -> Iterator[tuple[str, Tensor]]:
    for (method, draw), scores in batch.explanations(main).items():
        if draw == 0:
            yield method, scores


# -------------------------------------------------------------------------------------------------------------- batches
def batches(images: int, size: int, *, special: Sequence[int]) -> list[slice]:
    """The places of each batch of at most `size` images. The first `special` images go through more than the others: no
    batch has images on both sides of such a limit.

    >>> [(batch.start, batch.stop) for batch in batches(10, 4, special=[3, 20])]
    [(0, 3), (3, 7), (7, 10)]
    """
    limits = sorted({0, images, *(min(limit, images) for limit in special)})
    return [
        slice(start, min(start + size, last)) for first, last in pairwise(limits) for start in range(first, last, size)
    ]
