"""Classes by the names that a model's configuration has for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from faithlib.backends.wrappers import inside
from faithlib.errors import InputError, UnknownNameError, unknown
from faithlib.outputs import stated


def label_names(model: Any) -> tuple[str, ...]:
    """The names of a model's classes in their order: `config.id2label`, or the labels of a `PromptClassifier`. The one
    label of a model of one logit is class 1 (`faithlib.outputs`).

    >>> from types import SimpleNamespace
    >>> label_names(SimpleNamespace(config=SimpleNamespace(id2label={0: "bad", 1: "good"})))
    ('bad', 'good')
    >>> label_names(lambda texts: [[0.5, 0.5] for _ in texts])
    ()
    """
    if isinstance(labels := getattr(model, "labels", None), tuple):
        return tuple(label.strip() for label in labels)
    names = getattr(getattr(inside(model), "config", None), "id2label", None)
    own = tuple(names[i] for i in sorted(names, key=int)) if isinstance(names, Mapping) else ()
    return (f"not {own[0]}", *own) if len(own) == 1 and stated(inside(model)) != "value" else own


def target_classes(target: Any, model: Any, n: int) -> Tensor | None:
    """Target classes [B] of n inputs out of what a caller may give: a class index, the name of a label (whatever its
    case), or one of these for each input; None for "predicted" (known only after a forward).

    Raises UnknownNameError for a name that the model does not have, or where it has none at all, and InputError
    for what is no class.

    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(config=SimpleNamespace(id2label={0: "bad", 1: "good"}))
    >>> target_classes("Good", model, 2), target_classes(["bad", 1], model, 2), target_classes("predicted", model, 2)
    (tensor([1, 1]), tensor([0, 1]), None)
    """
    items = target.tolist() if getattr(getattr(target, "dtype", None), "kind", "") in ("O", "U") else target
    if isinstance(items, str):
        if items == "predicted":
            return None
        if items == "gold":
            raise UnknownNameError("target 'gold': inputs carry no labels, give the labels themselves as integers [B]")
        items = _index(items, model)
    elif isinstance(items, list | tuple):
        items = [_index(one, model) if isinstance(one, str) else one for one in items]
    try:
        classes = torch.as_tensor(items)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"target {target!r}: expected 'predicted', a class index or integers [B]") from error
    if classes.ndim == 0:
        classes = classes.expand(n)
    if tuple(classes.shape) != (n,) or classes.is_floating_point():
        raise InputError(f"target has shape {tuple(classes.shape)} and dtype {classes.dtype}: expected integers [{n}]")
    if bool((classes < 0).any()):
        raise InputError(f"target {classes.tolist()}: classes are counted from 0")
    return classes.long()


def _index(name: str, model: Any) -> int:
    names = label_names(model)
    if not names:
        what = type(model).__name__ if hasattr(model, "parameters") else "function"
        raise UnknownNameError(
            f"target {name!r}: this {what} has no names of classes (config.id2label); expected 'predicted', a class "
            "index counted from 0, or one per input"
        )
    exact = [i for i, own in enumerate(names) if own == name]
    places = exact or [i for i, own in enumerate(names) if str(own).casefold() == name.casefold()]
    if len(places) != 1:
        raise unknown("target", name, (*map(str, names), "predicted"))
    return places[0]
