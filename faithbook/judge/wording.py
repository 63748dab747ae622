"""Words that sentences and tables share: of comparisons, and of the statements of a sentence that makes several."""

from __future__ import annotations

from faithbook.judge import analysis_plan, published
from faithbook.judge.analysis_plan import Rule
from faithbook.show.labels import kinds_in_words, label
from faithbook.stats.evidence_levels import NOTHING, display_label
from faithbook.stats.verdict import Verdict

_TOP = ", TP"
STATEMENTS = {
    "direction": "the direction",
    "size": "the size",
    "leads": "the lead under the three metrics",
    "last": "the last place under the fourth",
    "rho separates": "that rho separates methods",
    "erasure does not": "that erasure metrics hardly separate them",
}
"""What one sentence of a paper says, by the names that the analysis plan has for it."""


def capital(text: str) -> str:
    """A text as the beginning of a sentence; a symbol keeps its letter.

    >>> capital("random scores"), capital("x∇x (L2)"), capital("α (attention)")
    ('Random scores', 'x∇x (L2)', 'α (attention)')
    """
    return f"{text[:1].upper()}{text[1:]}" if text[:2].isascii() else text


def plain(name: str) -> str:
    """A claim in the words for readers, else in those of its source, without its full stop."""
    return (published.column("plain")[name] or published.column("claim")[name]).rstrip(".")


def plain_with_id(name: str) -> str:
    """A claim in the words for readers as a cell of a table, with the id under which it is cited."""
    return f"{capital(plain(name))} (`{name}`)"


def comparison(part: str) -> str:
    """A comparison in words: as `data/parts.csv` has it, else under its own name.

    >>> comparison("correlation of the upper bounds")
    "the correlation of beam search's upper bounds with the exact ones"
    >>> comparison("SaCo, text: trained minus misled")
    'SaCo, texts: trained minus misled'
    """
    words = published.our_table("parts").set_index("part")["words"]
    text = str(words.get(part, label(part)))
    text = kinds_in_words(text)
    return f"{text.removesuffix(_TOP)}, top prediction" if text.endswith(_TOP) else text


def by_name(rule: Rule, said: str, evidence: str) -> dict[str, str]:
    """The decision on each statement, as it reads on its evidence; `said`: the decisions as the board keeps them
    (`direction: reproduced; size: undecided`)."""
    prefix = f"{rule.same_as or rule.id}/"
    names = [name.removeprefix(prefix) for name in analysis_plan.plan() if name.startswith(prefix)]
    on_board = said.split("; ")
    decided = {name: verdict.decision for name in names for verdict in Verdict if f"{name}: {verdict}" in on_board}
    return {name: display_label(decision, evidence) for name, decision in decided.items()}


def in_a_list(rule: Rule, said: str, evidence: str) -> str:
    """The decisions in a list, for a cell: `the direction: holds; the size: undecided`."""
    found = by_name(rule, said, evidence)
    return "; ".join(f"{STATEMENTS.get(name, name)}: {word}" for name, word in found.items())


def statements_in_sentences(rule: Rule, said: str, evidence: str) -> str:
    """The decisions as sentences.

    >>> statements_in_sentences(analysis_plan.rule("saco_c03"), "direction: undecided; size: nothing to test", "")
    'The direction is undecided. For the size there is nothing to test.'
    """
    found = by_name(rule, said, evidence)
    return " ".join(_sentence(STATEMENTS.get(name, name), word) for name, word in found.items())


def _sentence(statement: str, word: str) -> str:
    """What is decided of one statement.

    >>> _sentence("the size", "replicates on our models"), _sentence("the size", "mixed")
    ('The size replicates on our models.', 'The size is mixed.')
    """
    if word == NOTHING:
        return f"For {statement} there is nothing to test."
    if not word.startswith(("replicates", "does", "holds")):
        word = f"is {word}"
    return f"{capital(statement)} {word}."
