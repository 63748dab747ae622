"""What a verdict rests on, and the word that a decision has on that ground.

Four grounds: what the authors released; the paper's data and models; the paper's data with our models; substitute data.
Which data sets, models and files are a paper's own stands in `data/materials.csv`, so that the ground follows from what
a run has read and is never typed beside a claim.

A rule's answer (`faithbook.results.rules`) becomes a word on its ground: what holds on the paper's own material is only
*carried over* by other models or data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch

from faithbook.declared import remembered
from faithbook.results import published, rules
from faithlib.errors import unknown

AUTHORS, PAPER, STAND_INS = "authors' outputs", "the paper's data and models", "substitute data, our models"
DATA = "paper's data, our models"
OUR_QUESTION = "no paper (our own question)"
GROUNDS = (AUTHORS, PAPER, DATA, STAND_INS, OUR_QUESTION)
"""From the firmest to the weakest; questions of our own stand apart, for they are about whatever was measured."""

MATCH, DIFFERS, HOLDS, FAILS = "match", "differs", "holds", "fails"
CARRIES_OVER, DOES_NOT = "carries over", "does not carry over"
LEVEL, PARTLY, INCONCLUSIVE, UNTESTABLE = "level", "partly", "inconclusive", "not testable here"
EXPLAINED, DEPENDS = "reproduced, with explained differences", "depends on an unreported choice"
NOT_RUN, NOT_RECOMPUTABLE, SET_UP, NO_ORDER = rules.NOT_RUN, rules.NOT_RECOMPUTABLE, rules.SET_UP, rules.NO_ORDER
DECISIONS = (
    *(MATCH, EXPLAINED, HOLDS, CARRIES_OVER, SET_UP, LEVEL, PARTLY, DEPENDS, INCONCLUSIVE, DOES_NOT, FAILS, DIFFERS),
    *(UNTESTABLE, NO_ORDER, NOT_RECOMPUTABLE, NOT_RUN),
)
"""Every word of a verdict, from yes over undecided to no, then what was not tested."""
UNMEASURED = (SET_UP, NOT_RECOMPUTABLE, NOT_RUN)
"""Words for what nothing was measured for, so that it rests on no ground at all."""

_FIRM = (AUTHORS, PAPER, OUR_QUESTION)
_PLAIN = {
    rules.LEVEL: LEVEL,
    rules.PARTLY: PARTLY,
    rules.EXPLAINED: EXPLAINED,
    rules.DEPENDS: DEPENDS,
    rules.INCONCLUSIVE: INCONCLUSIVE,
    rules.UNTESTABLE: UNTESTABLE,
    rules.NO_ORDER: NO_ORDER,
    SET_UP: SET_UP,
    NOT_RECOMPUTABLE: NOT_RECOMPUTABLE,
    NOT_RUN: NOT_RUN,
}


def worded(answer: str, ground: str, *, same: bool = False) -> str:
    """The word for a rule's answer on a ground; `same`: the rule compared one quantity worked out twice.

    Raises UnknownNameError for another answer or ground.

    >>> worded("yes", PAPER), worded("yes", STAND_INS), worded("no", DATA), worded("no", AUTHORS, same=True)
    ('holds', 'carries over', 'does not carry over', 'differs')
    """
    if ground not in GROUNDS:
        raise unknown("evidence", ground, GROUNDS)
    if answer in _PLAIN:
        return _PLAIN[answer]
    if answer not in (rules.YES, rules.NO):
        raise unknown("answer of a rule", answer, [rules.YES, rules.NO, *_PLAIN])
    yes, no = (MATCH, DIFFERS) if same else (HOLDS, FAILS) if ground in _FIRM else (CARRIES_OVER, DOES_NOT)
    return yes if answer == rules.YES else no


def weakest(grounds: Iterable[str]) -> str:
    """The weakest ground that a claim rests on.

    >>> weakest([PAPER, STAND_INS, DATA])
    'substitute data, our models'
    """
    return max(grounds, key=GROUNDS.index)


def ground(paper: str, *, notebook: str, datasets: Iterable[str], models: Iterable[str]) -> str:
    """On what values of a compute notebook rest, from the data sets they are of and the models that were loaded.

    `models`: as `loads` of notebooks/profiles.yaml names them (`local:…`, `hf:…`, `timm:…`, or a folder). Without a
    known data set or model it is the weaker ground.
    """
    if paper == published.OUR_OWN:
        return OUR_QUESTION
    own = _materials(paper).own
    if notebook in own["outputs"]:
        return AUTHORS
    named = list(datasets)
    if not named or any(name not in own["data"] for name in named):
        return STAND_INS
    asked = list(models)
    return PAPER if asked and all(any(fnmatch(one, known) for known in own["model"]) for one in asked) else DATA


def stands_for(paper: str) -> dict[str, str]:
    """By stand-in of a paper's data set, the data set that it stands for.

    >>> stands_for("wu_2024")["animals"]
    'imagenet'
    """
    return dict(_materials(paper).stands_for)


def published_n(paper: str, datasets: Iterable[str]) -> int | None:
    """The smallest number of inputs that the paper measured one of its data sets on; None where one has none stated."""
    found = _materials(paper).n
    sizes = [found.get(name, "") for name in datasets]
    return min(map(int, sizes)) if sizes and all(sizes) else None


@dataclass(frozen=True)
class _Materials:
    """A paper's rows of `data/materials.csv`: by kind what is its own, by stand-in what it stands for, by name n."""

    own: dict[str, set[str]]
    stands_for: dict[str, str]
    n: dict[str, str]


@remembered
def _materials(paper: str) -> _Materials:
    found = published.beside("materials")
    found = found[found["paper"] == paper]
    own = found[found["own"] == "yes"]
    return _Materials(
        {kind: set(own.loc[own["kind"] == kind, "name"]) for kind in ("data", "model", "outputs")},
        {name: other for name, other in zip(found["name"], found["stands_for"], strict=True) if other},
        dict(zip(found["name"], found["n"], strict=True)),
    )
