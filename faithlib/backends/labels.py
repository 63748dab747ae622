"""Classes by the names that a model's configuration has for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from faithlib.backends.wrappers import inside
from faithlib.errors import UnknownNameError, unknown
from faithlib.outputs import stated

_WORDS = ("predicted", "gold")  # what a target may be besides a label


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


def class_index(target: Any, model: Any) -> Any:
    """A target with the class index in place of each label's name (whatever its case); any other as it is.

    Raises UnknownNameError for a name that the model does not have, or where it has none at all.

    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(config=SimpleNamespace(id2label={0: "bad", 1: "good"}))
    >>> class_index("Good", model), class_index(["bad", "good"], model), class_index("predicted", model)
    (1, [0, 1], 'predicted')
    """
    if isinstance(target, str):
        return target if target in _WORDS else _index(target, model)
    items = target.tolist() if getattr(getattr(target, "dtype", None), "kind", "") in ("O", "U") else target
    if isinstance(items, list | tuple) and any(isinstance(one, str) for one in items):
        return [_index(one, model) if isinstance(one, str) else one for one in items]
    return target


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
