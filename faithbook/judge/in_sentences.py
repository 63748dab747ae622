"""A verdict in sentences that people wrote around its numbers: one template for each rule, and one for each thing that
a reader should know besides.

Under a claim stand two sentences (`sentences`): what was measured, and why that is decided so where the numbers do not
say it. On what models the verdict rests, what its analysis variants say and since when its rule stands is in a box
below the claims of a section (`more`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from faithbook.judge import analysis_plan, published, wording
from faithbook.judge.analysis_plan import OF_PARTS, Rule
from faithbook.judge.decide import OWN_REPEATS, UNREPORTED, Judged
from faithbook.judge.deciding import columns_of, required
from faithbook.judge.scoreboard import FIELDS, MORE_INPUTS, RULE, UNOBTAINABLE, p_in_words
from faithbook.judge.wording import STATEMENTS, capital
from faithbook.show.labels import label
from faithbook.show.tables import of_size, rounded
from faithbook.stats.evidence_levels import AUTHORS, MIXED, NOT_TESTED, NOTHING, UNDECIDED, display_label
from faithbook.stats.verdict import Verdict

DECIDES = (
    "*The one that decides*: comparisons are put in order by their estimates, those that support the claim most first, "
    "and it is the last of those that the rule asks for. Where all have to hold it has the weakest estimate."
)
"""What a sentence means by the comparison that decides."""
_CHOICES = {
    "turned": "which metrics are sign-flipped",
    "correlation": "which correlation coefficient is taken",
    "scores": "which words count, and whether scores are added up or averaged",
    "model": "the model",
    "models": "the models",
    "languages": "the languages",
    "texts": "the texts",
    "sum": "the order of erasure",
    "bounds": "how the bounds are found",
}
"""Choices of analysis variants as they stand in a sentence."""
_RELEASED = "edin_2025"
"""The paper whose authors released files; of others only printed numbers are known."""
_OPTIONS = {
    "all but AOPC, LeRF": "all but AOPC with LeRF",
    "no copied words": "copied words left out",
    "means, aligned, no copied words": "averages, without copied words and words without a link",
}


@dataclass(frozen=True)
class Told:
    """A verdict and what its sentences need besides its line on the scoreboard.

    - `verdict`: the line (`scoreboard.FIELDS`); `rule`: its rule;
    - `required`: how many comparisons have to hold where fewer are available than the rule counts;
    - `lacking`: what it is about and we do not have;
    - `equivalent`: whether all differences are inside the margin;
    - `sizes`: n of the comparison that decides, or of each order of several; that of the line is the smallest of the
      whole claim;
    - `turned_by`: choices that alone change the answer, each with the options that do;
    - `otherwise`: the number that decides under such an option (effect, low, high), by option;
    - `statements`: the statements of a sentence that makes several, each with its own verdict.
    """

    verdict: Mapping[str, Any]
    rule: Rule
    required: int | None = None
    lacking: Sequence[str] = ()
    equivalent: bool = False
    sizes: Sequence[int] = ()
    turned_by: Mapping[str, Sequence[str]] = field(default_factory=dict)
    otherwise: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    statements: Mapping[str, Told] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", _whole(self.verdict))

    @classmethod
    def of(
        cls,
        judged: Judged,
        line: Mapping[str, Any],
        *,
        have: Collection[str] = (),
        turned_by: Mapping[str, Sequence[str]] | None = None,
        otherwise: Mapping[str, Mapping[str, Any]] | None = None,
        statements: Mapping[str, Judged] | None = None,
    ) -> Told:
        """Of a judged claim with its line; `have`: the data sets, models and languages that are there."""
        parts = {}
        for name, statement in (statements or {}).items():
            facts = {"id": statement.id, "decision": statement.decision, "evidence": statement.evidence}
            parts[name] = cls.of(statement, facts | columns_of(statement))
        lacking = [name for name in judged.rule.needs if name not in have] if judged.decision == NOT_TESTED else []
        equivalent = judged.verdict is Verdict.EQUIVALENT
        required_parts, sizes = required(judged), sizes_beside(judged)
        return cls(
            line, judged.rule, required_parts, lacking, equivalent, sizes, turned_by or {}, otherwise or {}, parts
        )


def sizes_beside(judged: Judged) -> list[int]:
    """Of how many inputs the number is that a sentence names: that of the comparison that decides; of a mean of several
    orders each of them."""
    part = columns_of(judged).get("part")
    of_part = judged.rows["part"] == part
    if judged.rule.rule == "order" and len(judged.rows) > 1:
        of_part = ~of_part
    return [int(n) for n in judged.rows.loc[of_part, "n"].dropna()] if part is not None else []


# ------------------------------------------------------------------------------------------------------- two sentences
def sentences(told: Told) -> str:
    """What was measured, and what a reader has to know to see why that is decided so; "" where nothing is to be said.

    >>> line = {"id": "saco_c11", "decision": "not reproduced", "passed": 2, "parts": 5, "part": "Rollout", "n": 100}
    >>> line |= {"effect": -0.17, "low": -0.271, "high": -0.071, "published": 0.157}
    >>> sentences(Told(line, analysis_plan.rule("saco_c11")))
    '2 of 5 comparisons hold; the one that decides is Rollout: −0.170 [−0.271, −0.071] (mean SaCo; published 0.157; \
n = 100).'
    """
    decision = told.verdict["decision"]
    if decision == NOTHING:
        return _nothing(told)
    if decision == NOT_TESTED:
        return _not_tested(told)
    if told.rule.rule == "whole" and told.statements:
        return " ".join(_statement(name, statement) for name, statement in told.statements.items())
    return " ".join(filter(None, [_measured(told), _why(told)]))


def number(verdict: Mapping[str, Any]) -> str:
    """The number of a claim that is not judged, as on a page that shows what this machine computed."""
    line = _whole(verdict)
    if line["effect"] is None:
        return ""
    return capital(f"{_part(line)}: {_value(line)}{_in_brackets(line)}.")


def number_or_reason(line: Mapping[Any, Any]) -> str:
    """What decides a line of the scoreboard, in a few words: of a sentence that makes several statements the decision
    on each, else the comparison with its interval; "" where there is none."""
    rule, line = analysis_plan.rule(str(line["id"])).rule, _whole(line)
    if rule == "whole":
        return reason(line)
    if rule == "same":
        return deciding(line)
    if line["low"] is None:
        return ""
    quantity = _quantity(analysis_plan.rule(line["id"]))
    scale, of = quantity.get("shown", ""), quantity.get("quantity", "")
    return f"{what_decides(line)}: {_value(line, scale)}{_in_brackets({**line, 'n': None}, [of], scale)}"


def what_decides(line: Mapping[Any, Any]) -> str:
    """The comparison that decides a line of the scoreboard, in words; of several orders that it is a tau."""
    line = _whole(line)
    if line["part"] is None:
        return ""
    part = _part(line)
    if analysis_plan.rule(str(line["id"])).rule == "order" and part.startswith("mean of "):
        return f"Kendall's tau with the printed order, {part} orders"
    return part


def quantity_of(name: str) -> str:
    """What the comparisons of a claim are of; "" where their names say it."""
    return _quantity(analysis_plan.rule(name)).get("quantity", "")


def deciding(line: Mapping[Any, Any]) -> str:
    """The number that decides a line of the scoreboard, for a cell of a table: ours with its interval, the published
    value, and what they are of; of numbers that were worked out again how many agree; "" where nothing was measured."""
    line = _whole(line)
    if line["decision"] in (NOTHING, NOT_TESTED) or line["effect"] is None:
        return ""
    rule = analysis_plan.rule(str(line["id"]))
    if rule.rule == "same":
        if published.column("kind").get(rule.id) == "claim":
            return _same(Told(line, rule)).removesuffix(".")
        return f"{int(line['passed'] or 0):,} of {int(line['parts'] or 0):,} numbers agree"
    comparison, quantity = what_decides(line), _quantity(rule)
    scale = quantity.get("shown", "")
    theirs = _theirs(line, scale)
    of = ", ".join(filter(None, [comparison, quantity.get("quantity", "")]))
    return f"**{_value(line, scale)}**{_brackets(theirs)}: {of}"


def _measured(told: Told) -> str:
    """The numbers, by the kind of rule."""
    if told.verdict["effect"] is None:
        return ""
    of_rule = _OTHER_RULES.get(told.rule.rule, _comparisons)
    return of_rule(told)


def names_the_deciding_one(told: Told) -> bool:
    """Whether the sentences of a verdict name, of several comparisons, the one that decides, so that a reader should
    find `DECIDES` near them."""
    if told.verdict["decision"] in (NOTHING, NOT_TESTED):
        return False
    if told.rule.rule == "whole" and told.statements:
        return any(names_the_deciding_one(statement) for statement in told.statements.values())
    is_measured = told.verdict["effect"] is not None
    return is_measured and told.rule.rule not in (*_OTHER_RULES, "each") and _is_of_several(told)


def _is_of_several(told: Told) -> bool:
    return (told.verdict["parts"] or 0) > 1


def _comparisons(told: Told) -> str:
    line = told.verdict
    scale = _quantity(told.rule).get("shown", "")
    value = f"{_value(line, scale)}{_in_brackets(line, _about(told), scale, told.sizes)}"
    if not _is_of_several(told):
        return capital(f"{_part(line)}: {value}.")
    parts = line["parts"]
    held = _counted(line["passed"], parts, "comparison", "hold")
    asked = told.required if told.required is not None else told.rule.needed(parts)
    if asked < parts and told.rule.rule != "each" and told.required is None:
        held += f", and the rule asks for {asked}"
    # Where each comparison is a statement of its own no single one decides.
    which = "the lowest" if told.rule.rule == "each" else "the one that decides"
    return f"{held}; {which} is {_part(line)}: {value}."


def _about(told: Told) -> list[str]:
    """What a comparison is of, and where it has to lie, unless it only has to be above zero."""
    quantity = _quantity(told.rule)
    said = [quantity["quantity"]] if quantity else []
    lines = [_number(line, quantity.get("shown", ""), 2) for line in told.rule.lines]
    if len(lines) > 1:
        low, high = told.rule.lines
        least = float(quantity.get("least") or -1)
        if low <= least:  # no value can pass this end
            said.append(f"required: below {lines[1]}")
        elif low == -high and not quantity.get("shown"):
            said.append(f"required: within ±{lines[1]}")
        else:
            said.append(f"required: {lines[0]} to {lines[1]}")
    elif told.rule.lines != (0.0,):
        said.append(f"required: above {lines[0]}")
    return said


def _quantity(rule: Rule) -> Mapping[str, str]:
    """What the comparisons of a claim are of, as `data/quantities.csv` says it: quantity, shown, least (the smallest
    value that it can have, where that is not −1 or unlimited)."""
    rows = published.our_table("quantities").set_index("id")
    # The number of a sentence that makes several statements is one of the first of them.
    known = (rule.id, rule.same_as, next((name for name in rows.index if name.startswith(f"{rule.id}/")), ""))
    of = next((name for name in known if name in rows.index), "")
    return {str(name): str(text) for name, text in rows.loc[of].items()} if of in rows.index else {}


def _statement(name: str, told: Told) -> str:
    """One statement of a sentence that makes several."""
    line = told.verdict
    statement = capital(STATEMENTS.get(name, name))
    if line["decision"] in (NOTHING, NOT_TESTED):
        reason = f": {line['reason']}" if line["reason"] else ""
        return f"{statement} is not tested{reason}."
    verb = display_label(line["decision"], line["evidence"] or "")
    if not verb.startswith(("replicates", "does not")):
        verb = f"is {verb}"
    measured = _measured(told)
    if not measured:
        return f"{statement} {verb}."
    return f"{statement} {verb}: {measured[:1].lower()}{measured[1:]}"


def _order(told: Told) -> str:
    line = told.verdict
    n, p = _n(line, told.sizes), _p(line["p"])
    if (line["parts"] or 0) < 2:
        return capital(f"{_part(line)}: {_value(line)}{_brackets(p, n)}.")
    orders = f"mean of {line['parts'] - 1} orders"
    return f"Kendall's tau with the printed order is {_value(line)}{_brackets(orders, p, n)}."


def _p(p: float | None) -> str:
    """A p-value for the brackets behind a number; "" where the line has none."""
    return "" if p is None else p_in_words(p)


def _trend(told: Told) -> str:
    line = told.verdict
    theirs = "" if line["published"] is None else f"; in the paper's numbers {_number(line['published'], '', 2)}"
    return capital(f"{_part(line)}: {_number(line['effect'], '', 2)}{_brackets(_p(line['p']))}{theirs}.")


def _same(told: Told) -> str:
    """Numbers that were worked out twice; the one furthest off only where it is another number."""
    line = told.verdict
    passed, parts = line["passed"] or 0, line["parts"] or 0
    if published.column("kind").get(told.rule.id) == "claim":
        theirs = "claimed"
    elif line["evidence"] == AUTHORS:
        theirs = "in the files"
    else:
        theirs = "printed"
    held = _counted(passed, parts, "number", "agree")
    if passed == parts:
        return f"{held}."
    digits = 3 if abs(line["effect"]) < 10 else 1
    ours, other = (_number(line[name], "", digits) for name in ("effect", "published"))
    if ours == other:
        apart = abs(line["effect"] - line["published"])
        return f"{held}; the largest difference is {rounded(apart, -math.floor(math.log10(apart)))} ({_part(line)})."
    return f"{held}; the one furthest off is {_part(line)}: ours {ours}, {theirs} {other}."


_OTHER_RULES = {"same": _same, "order": _order, "trend": _trend}
"""The sentences of rules that are not about comparisons."""


def _nothing(told: Told) -> str:
    if told.verdict["reason"] == OWN_REPEATS:
        return "The paper's own repeats disagree, so there is nothing to replicate."
    return capital(f"{told.verdict['reason']}.") if told.verdict["reason"] else ""


def _not_tested(told: Told) -> str:
    line = told.verdict
    if told.lacking:
        lacking = _listed([label(name) for name in told.lacking])
        return f"Not tested: it is about {lacking}, for which we have no usable model."
    if line["waits_for"] == MORE_INPUTS and not line["reason"]:
        return "Not tested: there are fewer than ten independent inputs."
    if line["reason"]:
        return f"Not tested: {line['reason']}."
    return "Not tested: it needs data that we do not have."


def _why(told: Told) -> str:
    """Why the numbers are decided as they are, where they do not say it."""
    line = told.verdict
    if told.required is not None:
        counted, parts = told.rule.k, line["parts"]
        return (
            f"The claim needs {counted} comparisons that hold and we have {parts} in all; in the paper's numbers "
            f"{told.required} of these {parts} hold, so {told.required} are required."
        )
    if told.turned_by:
        scale = _quantity(told.rule).get("shown", "")
        choices = []
        for name, options in told.turned_by.items():
            either = _either(options, told.otherwise, scale)
            choices.append(f"{_CHOICES.get(name, name)} ({either})")
        answer = "The answer changes with a choice"
        if line["reason"] == UNREPORTED:
            answer += " that the paper does not report"
        return f"{answer}: {'; '.join(choices)}."
    if line["decision"] == UNDECIDED:
        return _undecided(line)
    if told.equivalent and told.rule.margin:
        return f"No difference is above the margin of {_number(told.rule.margin, '', 2)}."
    if line["reason"] == UNREPORTED:
        return f"It {UNREPORTED}."
    return capital(f"{line['reason']}.") if line["reason"] else ""


def _undecided(line: Mapping[str, Any]) -> str:
    if line["waits_for"] == RULE:
        return f"More inputs would not decide it. {_why_not(line)}".strip()
    if line["needed"] and line["waits_for"] == MORE_INPUTS:
        return f"About {line['needed']:,} inputs would decide it, if the true values equal the estimates."
    if line["needed"] and line["waits_for"] == UNOBTAINABLE:
        return f"It would take about {line['needed']:,} inputs, more than we have."
    if line["waits_for"] == UNOBTAINABLE:
        return _why_not(line) or "It would take more inputs than there are, or data that we do not have."
    return "More inputs may decide it."


def _why_not(line: Mapping[str, Any]) -> str:
    """Why a claim is undecided, where `data/undecided.csv` says it."""
    reasons = published.our_table("undecided").set_index("id")["why"]
    return str(reasons.get(line["same_as"] or line["id"], ""))


def repeats(told: Told, known: Mapping[str, Mapping[str, Any]]) -> str:
    """The id whose numbers a claim repeats; "" where it repeats none of `known`, the lines of a page by id, or has
    numbers of its own."""
    line = told.verdict
    other = known.get(line["same_as"] or "")
    if other is None:
        return ""
    shown = ("decision", "passed", "parts", "part", "effect", "low", "high", "n")
    has_same_numbers = all(line[name] == _known(other.get(name)) for name in shown)
    return str(line["same_as"]) if has_same_numbers else ""


# ---------------------------------------------------------------------------------------------------- in the box below
def more(told: Told) -> list[str]:
    """What is known of a verdict besides, in sentences."""
    line = told.verdict
    if line["decision"] in (NOTHING, NOT_TESTED):
        return []
    said = []
    if line["contradicted"]:
        said.append(f"The paper's own numbers contradict {line['contradicted']} of the {line['parts']} comparisons.")
    if line["own_repeat"]:
        said.append(f"The paper's own repeat {line['own_repeat']}, by the same rule.")
    variants = line["specifications"] or 0
    if variants > 1:
        said.append(_of_variants(line["decision"], line["agreeing"], variants))
    if line["decision"] == UNDECIDED and line["waits_for"] == MORE_INPUTS:
        said.append(_why_not(line))
    return [sentence for sentence in said if sentence]


def _of_variants(decision: str, agreeing: int, variants: int) -> str:
    """How many of several analysis variants agree with the main analysis."""
    if agreeing == variants:
        share = "Both" if variants == 2 else f"All {variants}"
        return f"{share} analysis variants that are decided have this answer."
    if decision == MIXED:
        return (
            f"Of the {variants} analysis variants that are decided, {_counted_verb(agreeing, 'agree')} with the "
            f"book's main analysis and {_counted_verb(variants - agreeing, 'contradict')} it."
        )
    return f"{agreeing} of the {variants} analysis variants that are decided have this answer."


def _counted_verb(number: int, verb: str) -> str:
    """How many do something: `1 agrees`, `2 agree`."""
    return f"{number} {verb}s" if number == 1 else f"{number} {verb}"


def models_of_page_in_words(page: str, number: int) -> str:
    """On how many models the verdicts of a page rest, and on which."""
    which = published.our_table("unrelated_models").set_index("page")["models"].get(page)
    text = "1 model" if number == 1 else f"{number} models"
    if which is None:
        return f"{text} (models that share an encoder count as one)"
    return f"{text}: {which}"


def reason(line: Mapping[Any, Any]) -> str:
    """The reason of a line of the scoreboard in words, where the decision does not say it; "" elsewhere."""
    line = _whole(line)
    rule = analysis_plan.rule(str(line["id"]))
    said = str(line["reason"] or "")
    if rule.rule == "whole":
        return wording.in_a_list(rule, said, str(line["evidence"] or ""))
    parts = line["parts"] or 0
    if rule.rule in OF_PARTS and isinstance(rule.k, int) and 0 < parts < rule.k:
        return f"the claim needs {rule.k} comparisons that hold, and we have {parts} in all"
    if line["decision"] == NOT_TESTED:
        words = said.replace(",", "").split()
        lacking = [label(name) for name in rule.needs if name in words]
        if lacking:
            return f"about {_listed(lacking)}, for which we have no usable model"
    return said


# -------------------------------------------------------------------------------------------------------------- pieces
def _part(line: Mapping[str, Any]) -> str:
    return wording.comparison(str(line["part"]))


def _counted(passed: int, of: int, noun: str, verb: str) -> str:
    """How many of several hold, as the beginning of a sentence.

    >>> _counted(2, 2, "number", "agree"), _counted(1, 4, "comparison", "hold"), _counted(0, 2, "comparison", "hold")
    ('Both numbers agree', '1 of 4 comparisons holds', '0 of 2 comparisons hold')
    """
    if passed == of:
        all_of_them = "Both" if of == 2 else f"All {of:,}"
        return f"{all_of_them} {noun}s {verb}"
    if passed == 1:
        verb = f"{verb}s"
    return f"{passed:,} of {of:,} {noun}s {verb}"


def _number(value: float, scale: str, digits: int = 3) -> str:
    if scale == "exp":  # a factor, kept as its logarithm
        return rounded(math.exp(value), 2)
    return of_size(value) if digits == 3 else rounded(value, digits)


def _value(line: Mapping[str, Any], scale: str = "") -> str:
    value = _number(line["effect"], scale)
    if None in (line["low"], line["high"]):
        return value
    return f"{value} [{_number(line['low'], scale)}, {_number(line['high'], scale)}]"


def _in_brackets(
    line: Mapping[str, Any], before: Sequence[str] = (), scale: str = "", sizes: Sequence[int] = ()
) -> str:
    return _brackets(*before, _theirs(line, scale), _n(line, sizes))


def _theirs(line: Mapping[str, Any], scale: str) -> str:
    """The published value of a line with its source, for the brackets; "" where nothing is published."""
    if line["published"] is None:
        return ""
    return f"{source_of_theirs(line)} {_number(line['published'], scale)}"


def _n(line: Mapping[str, Any], sizes: Sequence[int] = ()) -> str:
    """Of how many inputs a number is: `sizes`, and what the line says where these are not known.

    >>> _n({"n": 32}, [640]), _n({"n": 32}, [32, 640, 640]), _n({"n": 1200}), _n({"n": None})
    ('n = 640', 'n = 32 to 640, by order', 'n = 1,200', '')
    """
    known = [*sizes] or [line["n"]] * bool(line["n"])
    if not known:
        return ""
    low, high = min(known), max(known)
    return f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}, by order"


def source_of_theirs(line: Mapping[Any, Any]) -> str:
    """Where the number beside ours stands."""
    source = published.sources().get(line["id"])
    if line["evidence"] != AUTHORS or source not in (_RELEASED, published.REVIEW):
        is_claim = published.column("kind").get(line["id"]) == "claim"
        return "claimed" if is_claim and analysis_plan.rule(line["id"]).rule == "same" else "published"
    if source == _RELEASED:
        return "in the files"
    # The number that a review page states may be another one: it says that random scores get 0, the files have 0.46.
    stated = re.findall(r"\d+\.?\d*", published.column("published_value")[line["id"]])
    return "on the review page" if line["published"] in map(float, stated) else "in the files"


def _brackets(*pieces: str) -> str:
    inside = "; ".join(filter(None, pieces))
    return f" ({inside})" if inside else ""


def _either(options: Sequence[str], otherwise: Mapping[str, Mapping[str, Any]], scale: str) -> str:
    """Options in a list, each with the number that decides under it where this is known.

    >>> _either(["MoRF", "none"], {"none": {"effect": 0.1, "low": 0.06, "high": 0.14}}, "")
    'MoRF, or none: 0.100 [0.060, 0.140]'
    """
    said = []
    for option in options:
        words = _OPTIONS.get(option, option)
        said.append(f"{words}: {_value(otherwise[option], scale)}" if option in otherwise else words)
    return ", or ".join(said)


def _listed(names: Sequence[str]) -> str:
    last = f" and {names[-1]}" if len(names) > 1 else ""
    return f"{', '.join(names[:-1] or names)}{last}"


def _whole(line: Mapping[Any, Any]) -> dict[str, Any]:
    """A line of the scoreboard with all its fields, None where nothing is known."""
    return {name: _known(line.get(name)) for name in ("id", *FIELDS)}


def _known(value: Any) -> Any:
    return None if value is None or pd.isna(value) or value == "" else value
