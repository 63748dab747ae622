"""`python -m faithlib.attribution`: write the names of methods, erasures, outputs, units and normalisers in `names.py`,
out of their registries.

It takes no options. To be run when one of these is added; a test fails where that was forgotten.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from faithlib import names
from faithlib.attribution import methods
from faithlib.masks import NORMALISERS
from faithlib.outputs import FOLLOWED, OUTPUTS
from faithlib.perturb import ERASURES
from faithlib.segmentation import UNITS


def registered() -> dict[str, tuple[str, ...]]:
    """The names that a registry holds, by the name of their type.

    >>> registered()["Erasure"]
    ('zero', 'pad', 'mask', 'delete', 'mean', 'blur')
    """
    known: Mapping[str, Iterable[Iterable[str]]] = {
        "Erasure": ERASURES.values(),
        "Output": [OUTPUTS],
        "FollowedOutput": [FOLLOWED],
        "Unit": [UNITS],
        "Normaliser": [NORMALISERS],
        "MethodName": [methods("text"), methods("image"), methods("words")],
    }
    return {kind: tuple(dict.fromkeys(name for listed in lists for name in listed)) for kind, lists in known.items()}


def with_names(text: str) -> str:
    """The text of `names.py` with the names that the registries hold.

    >>> with_names('Erasure = Literal["zero"]')
    "Erasure = Literal['zero', 'pad', 'mask', 'delete', 'mean', 'blur']"
    """
    for kind, found in registered().items():
        literal = f"{kind} = Literal[{', '.join(map(repr, found))}]"
        text = re.sub(rf"^{kind} = Literal\[[^]]*\]", literal, text, flags=re.MULTILINE)
    return text


if __name__ == "__main__":
    path = Path(names.__file__)
    path.write_text(with_names(path.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"names of methods, erasures, outputs, units and normalisers in {path}: format it with `ruff format`")
