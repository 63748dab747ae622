"""The paper profile in small: its sizes reduced, and never which data sets, models, methods or tables it has.

The studies of a rehearsed clone (`rehearsal`) call this at the end of their `study.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from faithbook.engine.study import PAPER, By, Profile, Settings, Study, Training

SMALL: dict[str, int] = {
    name: size
    for size, names in {
        1: "epochs attack_steps noise_draws cka_draws permutations searched priced texts_of_length",
        2: "draws random_draws controlled examples",
        3: "ig_steps ig_steps_of",
        4: "inputs attacked pictures",
        6: "lime_samples samples texts messages erased excerpts",
        8: "gold_sentences",
        12: "checked compared_messages",
        24: "represented read",
        30: "articles",
        60: "learnt_from",
    }.items()
    for name in names.split()
} | {"varied_pictures": 1, "grouped_pictures": 1}
"""What the sizes of a profile are in a rehearsal, by the name of the setting, however deep they lie below it."""
ZERO_IS_ALL = ("read",)
"""Sizes of which zero says that everything is taken."""
LENGTH = 10
"""Words of the longest texts of those that are cut to several `lengths`."""
LONGEST, SPAN = 8, 2
"""Words of the shortest texts of a kind (`words`) at most; how many more than these the longest have."""
LIMIT = 24
"""Texts or pictures of each split that a training learns from."""
PARTS, WHOLE = 2, ("naopc_models", "naopc_six")
"""In how many parts a computation is cut that the profile cuts at all; which stay whole, as they are many already."""


def shrink(study: Study) -> None:
    """Let a study have its paper profile in small."""
    for name, notebook in study.notebooks.items():
        parts = dict(notebook.parts)
        if PAPER.name in parts:
            parts[PAPER.name] = 1 if name in WHOLE else min(PARTS, parts[PAPER.name])
        small = {"parts": parts, "settings": _in_small(notebook.settings)}
        study.notebooks[name] = notebook.model_copy(update=small)
    for name, recipe in study.recipes.items():
        study.recipes[name] = _in_small(recipe)
    trained = study._trainings

    def limited(profile: Profile) -> Iterable[Training]:
        for notebook, parameters in trained(profile):
            yield notebook, parameters | ({"limit": LIMIT} if profile == PAPER else {})

    study.trainings(limited)


def _in_small(making: Any) -> Any:
    def settings(profile: Profile) -> Settings:
        made = making(profile)
        return Settings(_reduced(dict(made))) if profile == PAPER else made

    return settings


def _reduced(value: Any, name: str = "", to: int | None = None) -> Any:
    """A setting of that name with small sizes; `to`: the size of whatever lies below."""
    to = SMALL.get(name, to)
    if isinstance(value, By):
        values = {key: _reduced(part, name, to) for key, part in value.values.items()}
        return By(value.parameter, values, _reduced(value.otherwise, name, to))
    if isinstance(value, dict):
        return {key: _reduced(part, str(key), to) for key, part in value.items()}
    if name == "lengths" and isinstance(value, list):
        return [length for length in value if length <= LENGTH]
    if name == "words" and isinstance(value, list):
        shortest = min(value[0], LONGEST)
        return [shortest, shortest + SPAN]
    if to is None or not isinstance(value, int) or isinstance(value, bool):
        return value
    return to if name in ZERO_IS_ALL and value == 0 else min(value, to)
