"""Names that arguments take, as types: a type checker refuses a misspelt one. What they are the names of says more:
`faithlib.catalogue` (metrics), `faithlib.attribution` (methods), `faithlib.perturb` (erasures), `faithlib.outputs`.

Those with a registry are written by `python -m faithlib.attribution`: do not edit them (a test compares)."""

from typing import Literal

from faithlib._metric_names import MetricName

__all__ = [
    "Aggregation",
    "Erasure",
    "FollowedOutput",
    "MethodName",
    "MetricName",
    "Normaliser",
    "Output",
    "Pool",
    "PromptUnit",
    "Unit",
]

Erasure = Literal["zero", "pad", "mask", "delete", "mean", "blur"]
"""What takes the place of an erased feature."""

Output = Literal["probability", "logit", "loss", "top_logit", "sigmoid", "value"]
"""The number that is explained."""

FollowedOutput = Literal["probability", "logit", "sigmoid", "value"]
"""The number that metrics follow."""

Unit = Literal["wordpiece", "word", "character", "sentence"]
"""What a feature of a text is."""

Normaliser = Literal["minmax", "sigmoid", "released_ns", "released_nc", "rank", "none"]
"""How scores become importance in [0, 1]."""

PromptUnit = Literal["word", "sentence", "character", "wordpiece", "token", "slot"]
"""What a feature of a prompt is."""

Aggregation = Literal["l2", "mean", "sum", "abs_sum"]
"""From embedding elements to a position."""

Pool = Literal["sum", "mean"]
"""From positions or pixels to a feature."""

MethodName = Literal[
    "attention",
    "scaled_attention",
    "rollout",
    "input_x_gradient",
    "integrated_gradients",
    "deeplift",
    "saliency",
    "guided_backprop",
    "activation",
    "lime",
    "occlusion",
    "shapley_sampling",
    "random",
    "uniform",
    "grad_cam",
    "lrp",
    "partial_lrp",
    "transformer_attribution",
    "conservative_lrp",
    "raw_attention",
    "transformer_mm",
    "attcat",
]
"""A method of attribution, of texts or of images."""
