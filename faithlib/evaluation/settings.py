"""The rarely needed choices of `evaluate`, in two groups: what its metrics do, and how inputs are read and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import torch

from faithlib.errors import InputError
from faithlib.names import Erasure, FollowedOutput
from faithlib.segmentation import Span

__all__ = ["MetricSettings", "RunSettings", "grouped_settings"]


@dataclass(frozen=True)
class MetricSettings:
    """What is erased and followed, and the numbers that metrics take.

    Parameters
    ----------
    erase : Erasure, optional
        What takes the place of an erased feature in every metric, and in every method that erases and does not say
        otherwise. Texts: "zero" (default), "pad", "mask", "delete"; images: "mean" (default), "zero", "blur"; texts of
        a function: "delete" (default), "mask". Soft metrics always drop elements of embeddings; all, in their empty
        input.
    output : FollowedOutput, optional
        What metrics follow, and methods explain that do not say otherwise, by `faithlib.outputs`: "probability",
        "logit", "sigmoid" (one logit, or several independent labels) or "value" (regression, without the metrics that
        need a probability or a predicted class). Default: as the model's configuration says, else "probability"; of a
        model with one output it must be said.
    draws : int, default 4
        Random copies of each input in soft metrics, at least 1.
    seed : int, default 0
        Of everything random in metrics.
    groups : int, default 10
        Of features in SaCo, AUC and log-odds, at least 1; an input with fewer features has as many groups as features.
    beam : int, default 3
        Width of the search for bounds of AOPC (`naopc_morf`, `naopc_lerf`), at least 1; inputs of up to 8 features have
        exact ones.
    gold_size : int, optional
        Features that `token_f1` and `iou_f1` take. Default: as many as are marked on average over the inputs where any
        is.

    Examples
    --------
    >>> MetricSettings(erase="mask").draws
    4
    """

    erase: Erasure | None = None
    output: FollowedOutput | None = None
    draws: int = 4
    seed: int = 0
    groups: int = 10
    beam: int = 3
    gold_size: int | None = None


@dataclass(frozen=True)
class RunSettings:
    """How inputs are read, and how the model runs.

    Parameters
    ----------
    max_length : int, optional
        Tokens read of a text, at most what the model takes. Default: that, and no more than 512.
    spans : Sequence[Sequence[Span]], optional
        The features of each text as (start, end) in characters, instead of a `unit`.
    dtype : torch.dtype | Literal["auto"], optional
        The precision of all rows of erased inputs; "auto": bfloat16 on a GPU that has it (`Perturber`). Gradients are
        taken in the model's own, the default.
    on_error : Literal["raise", "skip"], default "raise"
        "raise", or "skip" inputs that cannot be read, explained or measured; the others keep their index.
    check : bool, default True
        Whether one input also goes through the model's own call, to be compared with what is computed here
        (`faithlib._selfcheck`): two rows, on no account.
    shard : tuple[int, int], optional
        Only a share of the inputs, (3, 16) for the third of sixteen: `faithlib.evaluation.shards` joins shares. The
        inputs keep their index.
    block : int, default 1024
        So many inputs at a time, of which answers are kept: what memory grows with.

    Examples
    --------
    >>> RunSettings(on_error="skip").check
    True
    """

    max_length: int | None = None
    spans: Sequence[Sequence[Span]] | None = None
    dtype: torch.dtype | Literal["auto"] | None = None
    on_error: Literal["raise", "skip"] = "raise"
    check: bool = True
    shard: tuple[int, int] | None = None
    block: int = 1024


def checked_settings(settings: MetricSettings | None, run: RunSettings | None) -> tuple[MetricSettings, RunSettings]:
    """Both groups, with their defaults for None; InputError for anything else.

    >>> settings, run = checked_settings(None, RunSettings(block=8))
    >>> settings.draws, run.block
    (4, 8)
    """
    settings = MetricSettings() if settings is None else settings
    run = RunSettings() if run is None else run
    if not isinstance(settings, MetricSettings) or not isinstance(run, RunSettings):
        raise InputError("settings, run: expected MetricSettings(...) and RunSettings(...), of faithlib")
    return settings, run


def grouped_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `evaluate` from flat options, as a command line or a configuration has them.

    Parameters
    ----------
    options : Mapping[str, Any]
        Arguments of `evaluate`, and fields of `MetricSettings` and `RunSettings`, by name.

    Returns
    -------
    dict
        The arguments; `settings` and `run` only where one of their fields is among the options.

    Examples
    --------
    >>> arguments = grouped_settings({"target": 1, "draws": 2})
    >>> arguments["target"], arguments["settings"].draws
    (1, 2)
    """
    arguments = dict(options)
    groups: tuple[tuple[str, type[MetricSettings] | type[RunSettings]], ...] = (
        ("settings", MetricSettings),
        ("run", RunSettings),
    )
    for name, group in groups:
        given = {field.name: arguments.pop(field.name) for field in fields(group) if field.name in arguments}
        if given:
            arguments[name] = group(**given)
    return arguments
