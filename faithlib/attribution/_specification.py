"""What the registry of methods says of each: the function, what it answers, which options it takes."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from faithlib.attribution.perturbation import ErasingMethod
from faithlib.outputs import OUTPUTS


@dataclass(frozen=True)
class Method:
    """A function, or the two halves of a method that erases, and what it answers.

    `answers`: "elements" [R, L, D] of a chunk, "positions" [R, L] of a chunk, "floor" [B, L] of the inputs alone,
    "features" [B, F] of erased copies. Of images: "patches" [R, P] or "pixels" [R, H, W] of a chunk, "floor" [B, F].
    `aggregation`: the default over D, for elements. `outputs`: what it can explain, the default first. `blind`: target
    and output have no effect.

    >>> from faithlib.attribution.registry import METHODS
    >>> METHODS["occlusion"].answers, METHODS["occlusion"].options
    ('features', ('erase', 'perturber', 'unit'))
    """

    run: Callable[..., Tensor] | ErasingMethod
    answers: str
    aggregation: str | None = None
    outputs: tuple[str, ...] = OUTPUTS
    blind: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """The options that it takes beside those of every method."""
        function = self.run.value if isinstance(self.run, ErasingMethod) else self.run
        keywords = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        extra = {"features": ["erase", "perturber", "unit"], "floor": [], "patches": ["max_tokens", "upsample"]}
        return (*keywords, *extra.get(self.answers, ["max_tokens"]))
