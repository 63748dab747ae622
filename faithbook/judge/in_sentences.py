"""A verdict in sentences that people wrote around its numbers: one template for each rule, and one for each thing that
a reader should know besides. They stand under the claims of every page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from faithbook.judge import published
from faithbook.judge.scoreboard import FIELDS, MORE_INPUTS, RULE, UNOBTAINABLE
from faithbook.show.labels import label
from faithbook.show.tables import short
from faithbook.stats.grounds import NOT_TESTED, NOTHING, UNDECIDED, worded

_ABOUT = "about "
_PAGES = "executed/"


def sentences(verdict: Mapping[Any, Any], rule: str, *, date: str = "") -> str:
    """What was measured and what it means for the decision, in a few sentences.

    `verdict`: a line of the scoreboard (`FIELDS`), of a claim of several statements with the verdict of each by name
    (`statements`); `rule`: the name of its rule in the analysis plan; `date`: the day of the rule.

    >>> told = {"decision": "not reproduced", "passed": 2, "parts": 4, "part": "all layers", "effect": -0.17}
    >>> sentences(told | {"low": -0.271, "high": -0.071, "published": 0.157, "n": 100}, "direction")
    '2 of 4 comparisons hold. The one that decides: all layers, -.170 [-.271, -.071] (published .157; n = 100).'
    """
    one = {name: _known(verdict.get(name)) for name in ("id", *FIELDS, "statements")}
    if one["decision"] == NOTHING:
        said = [_capital(f"{one['reason'] or 'it leaves nothing to test'}.")]
    elif one["decision"] == NOT_TESTED:
        said = [_not_tested(one)]
    else:
        said = [_measured(one, rule), *_besides(one)]
    if date:
        said.append(f"Rule as written on {date}.")
    return " ".join(filter(None, said))


def _measured(one: Mapping[str, Any], rule: str) -> str:
    """The numbers, by the kind of rule."""
    if one["effect"] is None:
        return ""
    templates = {"same": _same, "order": _order, "trend": _trend, "whole": _whole}
    return templates.get(rule, _comparisons)(one)


def _comparisons(one: Mapping[str, Any]) -> str:
    value = f"{_value(one)} ({_published(one)}n = {one['n']:,})" if one["n"] else _value(one)
    if (one["parts"] or 0) < 2:
        return _capital(f"{one['part']}: {value}.")
    return f"{one['passed']} of {one['parts']} comparisons hold. The one that decides: {one['part']}, {value}."


def _whole(one: Mapping[str, Any]) -> str:
    """A sentence of several statements, each with its own verdict."""
    evidence, statements = str(one["evidence"] or ""), one["statements"] or {}
    decided = "; ".join(f"{name}: {worded(decision, evidence)}" for name, decision in statements.items())
    each = f"Its statements: {decided}." if decided else ""
    return f"{each} First comparison: {one['part']}, {_value(one)} ({_published(one)}n = {one['n']:,}).".strip()


def _order(one: Mapping[str, Any]) -> str:
    text = f"Agreement with the printed order (Kendall's tau, {one['part']}): {_value(one)}"
    return f"{text}, n = {one['n']:,}." if one["n"] else f"{text}."


def _trend(one: Mapping[str, Any]) -> str:
    theirs = "" if one["published"] is None else f"; in the paper's numbers {short(one['published'], 2)}"
    return _capital(f"{one['part']}: {short(one['effect'], 2)}{theirs}.")


def _same(one: Mapping[str, Any]) -> str:
    digits = 3 if abs(one["effect"]) < 10 else 1
    pair = f"ours {short(one['effect'], digits)}, printed {short(one['published'], digits)}"
    if (one["parts"] or 0) < 2:
        return _capital(f"{one['part']}: {pair}.")
    return f"{one['passed']:,} of {one['parts']:,} numbers agree. The one furthest off: {one['part']}, {pair}."


def _not_tested(one: Mapping[str, Any]) -> str:
    reason = str(one["reason"] or "")
    if reason.startswith(_ABOUT):
        names = [label(name) for name in reason.removeprefix(_ABOUT).split(", ")]
        last = f" and {names[-1]}" if len(names) > 1 else ""
        return f"Not tested: it is about {', '.join(names[:-1] or names)}{last}, which we do not have."
    if one["waits_for"] == MORE_INPUTS and not reason:
        return "Not tested: there are fewer than ten independent inputs."
    return f"Not tested: {reason}." if reason else "Not tested: it needs data that we do not have."


def _besides(one: Mapping[str, Any]) -> list[str]:
    """What else a reader should know."""
    said = []
    if one["reason"] and not one["statements"]:  # else the reason says the statements again
        said.append(_capital(f"{one['reason']}."))
    if one["decision"] == UNDECIDED:
        said.append(_undecided(one))
    if one["contradicted"]:
        number = one["contradicted"]
        said.append(f"The paper's own values contradict {number} comparison{'s' * (number != 1)}.")
    if one["own_repeat"]:
        said.append(f"The paper's own repeat {one['own_repeat']}, by the same rule.")
    if one["depends_on"]:
        said.append(f"The answer changes with the choice of {str(one['depends_on']).replace('; ', '; of ')}.")
    if one["specifications"]:
        same = f"{one['agreeing']} of {one['specifications']}"
        said.append(f"{same} analysis variants that decide anything have this answer.")
    if one["unrelated"]:
        said.append(_models(one))
    return said


def _undecided(one: Mapping[str, Any]) -> str:
    if one["needed"] and one["waits_for"] == MORE_INPUTS:
        return f"About {one['needed']:,} inputs would decide it, if the true values are the estimates."
    if one["waits_for"] == RULE:
        return f"More inputs would not decide it. {_why_not(one)}".strip()
    if one["waits_for"] == UNOBTAINABLE:
        return "It would take more inputs than there are, or data that we do not have."
    return "More inputs may decide it."


def _why_not(one: Mapping[str, Any]) -> str:
    """Why no number of inputs decides a claim, where `data/undecided.csv` says it."""
    reasons = published.our_table("undecided").set_index("id")["why"]
    return str(reasons.get(one["same_as"] or one["id"], ""))


def _models(one: Mapping[str, Any]) -> str:
    """How many models a verdict rests on, and which."""
    number = int(one["unrelated"])
    text = f"It rests on {number} model{'s' * (number != 1)}"
    named = published.our_table("unrelated_models").set_index("page")["models"]
    which = named.get(str(one["page"] or "").removeprefix(_PAGES))
    if which is None:
        return f"{text}; models that share an encoder count as one."
    return f"{text} ({which}; models that share an encoder count as one)."


def _value(one: Mapping[str, Any]) -> str:
    ends = "" if None in (one["low"], one["high"]) else f" [{short(one['low'], 3)}, {short(one['high'], 3)}]"
    return f"{short(one['effect'], 3)}{ends}"


def _published(one: Mapping[str, Any]) -> str:
    return "" if one["published"] is None else f"published {short(one['published'], 3)}; "


def _known(value: Any) -> Any:
    return None if value is None or value == "" or (isinstance(value, float) and math.isnan(value)) else value


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
