"""Evidence levels, from firm to weak: on what a verdict rests, and how it reads there.

Four of the papers' claims: what the authors released; the paper's data and models; the paper's data with our models;
substitute data. Questions of our own stand apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from faithbook.stats.verdict import Verdict

AUTHORS, PAPER, SUBSTITUTE = "authors' outputs", "the paper's data and models", "substitute data, our models"
DATA = "paper's data, our models"
OUR_QUESTION = "our own question"
LEVELS = (AUTHORS, PAPER, DATA, SUBSTITUTE, OUR_QUESTION)
"""From the firmest to the weakest; questions of our own stand apart, for they are about whatever was measured."""

REPRODUCED, MIXED, NOT_REPRODUCED = Verdict.YES.decision, Verdict.MIXED.decision, Verdict.NO.decision
UNDECIDED, NOT_TESTED, NOTHING = Verdict.UNDECIDED.decision, Verdict.NOT_TESTED.decision, Verdict.NOTHING.decision
DECISIONS = (REPRODUCED, MIXED, NOT_REPRODUCED, UNDECIDED, NOT_TESTED, NOTHING)
"""The words under which verdicts are counted."""

_OWN_MODELS = {REPRODUCED: "replicates on our models", NOT_REPRODUCED: "does not replicate on our models"}
_OWN_QUESTION = {REPRODUCED: "holds", NOT_REPRODUCED: "does not hold"}
_ON = {OUR_QUESTION: _OWN_QUESTION, DATA: _OWN_MODELS, SUBSTITUTE: _OWN_MODELS}


def display_label(decision: str, level: str) -> str:
    """A decision as it reads on its evidence: what is reproduced on the paper's own material only *replicates* on other
    models or data.

    >>> display_label("reproduced", DATA), display_label("not reproduced", AUTHORS), display_label("mixed", DATA)
    ('replicates on our models', 'not reproduced', 'mixed')
    """
    return _ON.get(level, {}).get(decision, decision)


def weakest(levels: Iterable[str]) -> str:
    """The weakest evidence level that a claim rests on.

    >>> weakest([PAPER, SUBSTITUTE, DATA])
    'substitute data, our models'
    """
    return max(levels, key=LEVELS.index)
