"""Choices that a paper does not report and that turn an answer: which one it is, and what another reading gives."""

from __future__ import annotations

from faithbook.judge import published
from faithbook.judge.decide import UNREPORTED
from faithbook.judge.sentences import Refused, Results


def unreported(results: Results, name: str) -> str:
    """The choice on which a mixed verdict depends, in the words of `data/choices.csv`; "" where it depends on none, or
    none is named."""
    return _written(results, name, "choice")


def otherwise(results: Results, name: str) -> str:
    """What the same comparison gives by another choice; "" where that was not measured."""
    try:
        return results.say(_written(results, name, "otherwise"))
    except Refused:
        return ""


def in_full(results: Results, name: str) -> str:
    """The choice, and in brackets what another one gives; "" where a verdict depends on none."""
    choice, other = unreported(results, name), otherwise(results, name)
    return f"{choice} ({other})" if choice and other else choice


def _written(results: Results, name: str, column: str) -> str:
    line = results.board.loc[name]
    if line["reason"] != UNREPORTED:
        return ""
    texts = published.our_table("choices").set_index("id")[column]
    return str(texts.get(line["same_as"] or name, ""))
