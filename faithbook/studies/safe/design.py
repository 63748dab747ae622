"""What was declared before anything ran: the plan (`data/safe_plan.toml`) and its conditions, listed.

A condition is a model that errs in one way, in a block: a truth at one length under one erasure. The conditions of a
block share inputs, weights and explanations; the first is the model that never errs.
"""

from __future__ import annotations

import itertools
import tomllib
from collections import Counter
from typing import Any

import pandas as pd

from faithbook.access import remembered, require
from faithbook.paths import root
from faithlib.errors import DataError

NEVER = "never"
NOWHERE = "nowhere"
COLUMNS = ["condition", "block", "truth", "size", "distractor", "length", "erasure", "error", "whither"]
_PLAN, _LIST = "data/safe_plan.toml", "data/safe_conditions.csv"
_TODAY = ("or", 2, False, 12, "clean")


@remembered
def declared_plan() -> dict[str, Any]:
    """The declared plan."""
    require(_PLAN)
    declared: dict[str, Any] = tomllib.loads((root() / _PLAN).read_text(encoding="utf-8"))
    return declared


def kinds_of_error() -> list[str]:
    """The kinds of error, the model that never errs first."""
    return [NEVER, *declared_plan()["errors"]["by_amount"], *declared_plan()["errors"]["by_content"]]


def truths() -> list[tuple[str, int, bool]]:
    """Every truth: its kind, its number of features, whether there is a distractor."""
    declared = declared_plan()["truths"]
    plain = [(kind, size, False) for kind, sizes in declared.items() if kind != "with_distractor" for size in sizes]
    distracted = [name.rpartition("-") for name in declared["with_distractor"]]
    return plain + [(kind, int(size), True) for kind, _, size in distracted]


def listed_conditions() -> pd.DataFrame:
    """The fractional design, made by its rule; `conditions` reads the committed list, which is the same.

    >>> listed = listed_conditions()
    >>> len(listed), listed.block.nunique(), listed.error.nunique()
    (395, 35, 8)
    """
    declared = declared_plan()
    errors, ways = kinds_of_error()[1:], list(declared["whither"])
    attacks = list(itertools.product(range(len(errors)), range(len(ways))))
    rows: list[list[object]] = []
    used: Counter[object] = Counter()
    block = 0
    for half, (kind, size, distractor) in itertools.product((0, 1), truths()):
        places = [
            (length, erasure)
            for length, erasure in itertools.product(declared["lengths"]["features"], declared["erasures"]["levels"])
            if length >= 2 * size
            and not used[kind, size, distractor, length]
            and not used[kind, size, distractor, erasure]
        ]
        # The pair that was used least, then the length and the erasure that were; of equals the first.
        length, erasure = min(places, key=lambda at: (used[at], used[at[0]] + used[at[1]]))
        used.update([(length, erasure), length, erasure])
        used.update([(kind, size, distractor, length), (kind, size, distractor, erasure)])
        about = [block, kind, size, distractor, length, erasure]
        rows.append([*about, NEVER, NOWHERE])
        rows += [[*about, errors[i], ways[j]] for i, j in attacks if (i + j) % 2 == half]
        block += 1
    today = [block, *_TODAY]
    rows.append([*today, NEVER, NOWHERE])
    rows += [[*today, "third", way] for way in ways]
    frame = pd.DataFrame(rows, columns=COLUMNS[1:])
    frame.insert(0, "condition", [f"c{number:03}" for number in range(len(frame))])
    return frame


def conditions() -> pd.DataFrame:
    """The committed list of conditions, in its order.

    Raises DataError where it holds more than the plan allows.
    """
    require(_LIST)
    listed = pd.read_csv(root() / _LIST)
    if len(listed) > declared_plan()["design"]["most"]:
        raise DataError(f"{_LIST} lists {len(listed)} conditions, the plan allows {declared_plan()['design']['most']}")
    return listed
