"""The rows of the tables of Zaman & Belinkov (2022): thirteen attributions of two outputs, and floors beside them;
and the function that their released code explains instead of the model's own.

Shape letters: R rows, L tokens, D embedding size.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from itertools import product
from typing import Any, cast

from torch import Tensor, nn

from faithlib.attribution.registry import PREDICTED, Row
from faithlib.backends import ModelFamily, replica
from faithlib.backends.families import base_of
from faithlib.backends.shared_weights import slot_at
from faithlib.errors import ModelError, unknown
from faithlib.names import Aggregation, MethodName, Output, Pool

Name = tuple[str, str, str, str]
"""Method, aggregation, output and pooling as results and published tables call them; "none" where there is none."""

OUTPUTS: dict[str, tuple[Output, str]] = {"top_prediction": ("top_logit", PREDICTED), "loss": ("loss", "gold")}
AGGREGATIONS: tuple[Aggregation, ...] = ("mean", "l2")
POOLS: tuple[Pool, ...] = ("sum", "mean")


def thirteen_rows(
    *, ig_steps: int, lime_samples: int, permutations: int, ig_steps_of: Mapping[str, int] | None = None
) -> dict[Name, Row]:
    """The rows by name, for `attribute_rows(..., targets={"gold": labels})`.

    "top_prediction" explains the largest logit: max f(x) as the paper writes it, so that on an erased copy or on the
    way to a baseline another class may answer than for the whole text; the released code does the same. "loss" explains
    the log-probability of the true class (the loss with its sign turned). As the released code has it, paths and
    erasures begin at the embedding of [PAD]; scores of a word's pieces are added up ("sum", published) and also
    averaged ("mean"), where the method scores pieces. `ig_steps_of`: other numbers of steps for an aggregation ("mean")
    or for one under an output ("mean top_prediction"), as Appendix B.4 has them.

    Beside the thirteen: "guided_backprop_released", what captum makes of it on a model without ReLU modules
    ("guided_backprop" follows its paper), and as floors "uniform" (the same score for every piece) and "random".
    `activation` with "l2", one of the thirteen, is the norm of the embedding: a floor as well.
    """
    others = ig_steps_of or {}
    known = [f"{how} {of}".strip() for how, of in product(AGGREGATIONS, ("", *OUTPUTS))]
    for name in others:
        if name not in known:
            raise unknown("entry of ig_steps_of", name, known)
    elementwise: dict[str, dict[str, Any]] = {
        "input_x_gradient": {},
        "saliency": {},
        "guided_backprop": {},
        "guided_backprop_released": {"variant": "released"},
        "integrated_gradients": {"baseline": "pad"},
    }
    erasing: dict[MethodName, dict[str, Any]] = {
        "lime": {"n_samples": lime_samples, "erase": "pad"},
        "occlusion": {"erase": "pad"},
        "shapley_sampling": {"n_samples": permutations, "erase": "pad"},
    }
    blind: list[tuple[MethodName, Aggregation | None]] = [
        ("activation", "mean"),
        ("activation", "l2"),
        ("uniform", None),
        ("random", None),
    ]
    rows: dict[Name, Row] = {}
    for name, (output, target) in OUTPUTS.items():
        for (method, given), aggregation, pool in product(elementwise.items(), AGGREGATIONS, POOLS):
            options = dict(given)
            if method == "integrated_gradients":
                options["n_steps"] = others.get(f"{aggregation} {name}", others.get(aggregation, ig_steps))
            rows[method, aggregation, name, pool] = Row(
                cast(MethodName, method.removesuffix("_released")), aggregation, output, target, pool, options
            )
        for method, options in erasing.items():
            rows[method, "none", name, "sum"] = Row(method, None, output, target, options=options)
    for (method, how), pool in product(blind, POOLS):
        rows[method, how or "none", "none", pool] = Row(method, how, pool=pool)
    return rows


# --------------------------------------------------------------------------------------- the function that is explained
class EmbeddedTwice(nn.Module):
    """A Hugging Face encoder classifier as a function that sends its embedding output through its embedding module once
    more: positions, token types and LayerNorm come twice.

    Not the model's own function, but the one that five methods of the released code of Zaman & Belinkov 2022 explain
    (PAPERS.md, E2: `hidden_states[0]` is handed over as `inputs_embeds`). Every attribution and `Perturber` takes it
    instead of the model; the weights are shared, not copied.

    Raises ModelError where the embedding module takes no embeddings.
    """

    base_model_prefix = "base"
    family = ModelFamily(
        "", "the embedding output, which then goes through the embedding module again", weighs=True, with_types=True
    )

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = replica(model)
        self.base: Any = base_of(self.model)
        self.config: Any = self.model.config
        self._arguments = set(inspect.signature(self.base.embeddings.forward).parameters)
        if "inputs_embeds" not in self._arguments:
            raise ModelError(f"the embeddings of {type(model).__name__} take no `inputs_embeds`: nothing can go twice")
        self._slot = slot_at(self.base, "embeddings")
        self.training = model.training

    def set_attn_implementation(self, name: str) -> None:
        """As the model's own."""
        self.model.set_attn_implementation(name)

    def forward(
        self, inputs_embeds: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Any:
        """What the model answers; `inputs_embeds` [R, L, D] is its embedding output."""
        offered = {"input_ids": None, "inputs_embeds": inputs_embeds, "token_type_ids": token_type_ids}
        taken = {name: value for name, value in offered.items() if name in self._arguments}
        again = self._slot.original(**taken)
        with self._slot.answering(again):
            return self.model(inputs_embeds=again, attention_mask=attention_mask)
