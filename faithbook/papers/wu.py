"""The claims of Wu et al. (2024) on SaCo of ten methods, as parts made of quantities.

Each function takes `at`, which gives SaCo of a method (`at("rollout")`; where it says so `at("rollout", k=5)`), and
gives the parts that its rule judges: so the same words are asked of every set of pictures, setting and model.

Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable

from faithbook.results import paired
from faithbook.results.judged import Parts, Provided
from faithbook.results.labels import label
from faithbook.results.paired import Paired

At = Callable[..., Paired]

FAMILIES = {
    "gradient": ["integrated_gradients", "grad_cam"],
    "attribution": ["lrp", "partial_lrp", "transformer_attribution", "conservative_lrp"],
    "attention": ["raw_attention", "rollout", "transformer_mm", "attcat"],
}
METHODS = [name for family in FAMILIES.values() for name in family]
RAW, ROLLOUT, LAST, ALL = "raw_attention", "rollout", "last_layer_attention_with_gradient", "transformer_mm"
KS = (5, 10, 20)
WINNERS = ("partial_lrp", "transformer_attribution", "transformer_mm")
STEADY = ("integrated_gradients", "attcat")


def short(method: str) -> str:
    """A method's name without what stands in brackets.

    >>> short("integrated_gradients")
    'IG'
    """
    return label(method).split(" (")[0]


def about_twice(at: At) -> Provided:
    """saco_c03: gradients about double SaCo, of the last layer's attention and of that of all layers."""
    parts = {}
    for where, with_, without in (("last layer", LAST, RAW), ("all layers", ALL, ROLLOUT)):
        parts[f"with gradients less 1.5 times without, {where}"] = at(with_) - 1.5 * at(without)
        parts[f"3 times without gradients less with, {where}"] = 3 * at(without) - at(with_)
    return Provided(parts, {"SaCo of raw attention": at(RAW), "SaCo of rollout": at(ROLLOUT)})


def layers_too(at: At) -> Parts:
    """saco_c04: all layers in place of the last help too, less than gradients do."""
    return {
        "gain from all layers, no gradients": at(ROLLOUT) - at(RAW),
        "gain from all layers, with gradients": at(ALL) - at(LAST),
        "gain from gradients less gain from layers": at(LAST) - at(ROLLOUT),
    }


def falls(at: At) -> dict[str, Paired]:
    """By method what SaCo loses from 5 groups to 20 (`at` with `k`)."""
    return {method: at(method, k=KS[0]) - at(method, k=KS[-1]) for method in METHODS}


def most_fall(at: At) -> Parts:
    """saco_c08: most methods lose SaCo as groups get more and smaller (`at` with `k`)."""
    return {f"5 less 20 groups, {short(method)}": fall for method, fall in falls(at).items()}


def winners_fall_most(at: At) -> Parts:
    """saco_c09: three named methods lose most (`at` with `k`)."""
    fall = falls(at)
    return {
        f"fall of {short(method)} less {short(other)}": fall[method] - fall[other]
        for method in WINNERS
        for other in METHODS
        if other not in WINNERS
    }


def two_are_steady(at: At) -> Parts:
    """saco_c10: two methods hardly depend on the number of groups (`at` with `k`)."""
    fall = falls(at)
    return {f"20 less 5 groups, {short(method)}": -fall[method] for method in STEADY}


def attention_leads(at: At) -> Parts:
    """saco_c11: methods made of attention are the more faithful family, raw attention its laggard."""
    family = {name: paired.mean([at(method) for method in members]) for name, members in FAMILIES.items()}
    return {
        "attention-based less gradient-based": family["attention"] - family["gradient"],
        "attention-based less attribution-based": family["attention"] - family["attribution"],
        **{f"{short(m)} less raw attention": at(m) - at(RAW) for m in FAMILIES["attention"] if m != RAW},
    }


def random_is_zero(at: At) -> Parts:
    """saco_c05: SaCo of random scores is zero on average."""
    return {"mean SaCo of random scores": at("random")}
