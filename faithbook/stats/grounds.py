"""On what a verdict rests, from firm to weak, and how a decision reads on that ground.

Four grounds: what the authors released; the paper's data and models; the paper's data with our models; substitute data.
"""

from __future__ import annotations

from collections.abc import Iterable

from faithbook.stats import rules

AUTHORS, PAPER, STAND_INS = "authors' outputs", "the paper's data and models", "substitute data, our models"
DATA = "paper's data, our models"
OUR_QUESTION = "our own question"
GROUNDS = (AUTHORS, PAPER, DATA, STAND_INS, OUR_QUESTION)
"""From the firmest to the weakest; questions of our own stand apart, for they are about whatever was measured."""

UNMEASURED = (rules.SET_UP, rules.NOT_RECOMPUTABLE, rules.NOT_RUN)
"""Answers where nothing was measured, so that they rest on no ground at all."""

_OWN_MODELS = {rules.REPRODUCED: "replicates on our models", rules.NOT_REPRODUCED: "does not replicate on our models"}
_OWN_QUESTION = {rules.REPRODUCED: "holds", rules.NOT_REPRODUCED: "does not hold"}
_ON = {OUR_QUESTION: _OWN_QUESTION, DATA: _OWN_MODELS, STAND_INS: _OWN_MODELS}


def worded(decision: str, ground: str) -> str:
    """A decision as it reads on its ground: what is reproduced on the paper's own material only *replicates* on other
    models or data.

    >>> worded("reproduced", DATA), worded("not reproduced", AUTHORS), worded("mixed", DATA)
    ('replicates on our models', 'not reproduced', 'mixed')
    """
    return _ON.get(ground, {}).get(decision, decision)


def weakest(grounds: Iterable[str]) -> str:
    """The weakest ground that a claim rests on.

    >>> weakest([PAPER, STAND_INS, DATA])
    'substitute data, our models'
    """
    return max(grounds, key=GROUNDS.index)
