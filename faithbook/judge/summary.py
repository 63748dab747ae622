"""The scoreboard for people: the decision on every finding, counts of distinct findings by evidence, and the table of
all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from faithbook.judge import analysis_plan, choices, error_rates, in_sentences, materials, published, scoreboard
from faithbook.judge.scoreboard import (
    RULE,
    WAITS,
    confirmed,
    distinct,
    is_headline,
    on_unseen_inputs,
    starred,
    what_decides_with_both,
)
from faithbook.judge.sentences import Results
from faithbook.judge.wording import capital, plain, plain_with_id
from faithbook.show.forest import Finding
from faithbook.show.page import badge
from faithbook.show.tables import rounded
from faithbook.stats import evidence_levels
from faithbook.stats.estimate import ALPHA
from faithbook.stats.evidence_levels import MIXED, NOT_REPRODUCED, NOT_TESTED, NOTHING, REPRODUCED, UNDECIDED

DECIDED = (REPRODUCED, MIXED, NOT_REPRODUCED, UNDECIDED, NOT_TESTED)
"""The decisions that findings have, in their order."""

LEVELS = (*evidence_levels.LEVELS, NOT_TESTED)
"""Levels of evidence, the firmest first; last what was not tested."""
OWN_MATERIAL = (evidence_levels.AUTHORS, evidence_levels.PAPER, evidence_levels.DATA)
"""Levels of evidence that are the papers' own, at least in part: they come first."""

NOTHING_QUOTED = pd.DataFrame(columns=["claim", "part", "published", "ours", "low", "high", "n"])
"""No values kept for sentences."""
HOLD = "comparisons that hold"
DECIDES = "ours, 95 % interval (published)"
"""The head of the column that counts them."""


def names() -> dict[str, str]:
    """Whose findings are counted together: each paper's, a review page's apart from its paper's, and ours."""
    return {
        **published.papers(),
        published.REVIEW: "A review page of Edin et al. 2025",
        published.OUR_OWN: "Our own questions",
    }


def cited(paper: str) -> str:
    """A paper, or a review page of one, as it is cited.

    >>> cited("wu_2024"), cited(published.REVIEW)
    ('Wu et al. 2024', 'a review page of Edin et al. 2025')
    """
    name = names()[paper].partition(" (")[0]
    return f"{name[0].lower()}{name[1:]}" if paper == published.REVIEW else name


def cited_of(name: str, paper: str) -> str:
    """Whose words an id is: its paper's, or of a claim of a preprint the preprint's (`data/preprints.csv`).

    >>> cited_of("soft_c01", "zhao_aletras_2023"), cited_of("lm_ice_c01", published.OUR_OWN)
    ('Zhao & Aletras 2023', 'Basu & Chakraborty 2026 (preprint)')
    """
    if published.column("source")[name] == published.PREPRINT:
        return str(published.our_table("preprints").set_index("id")["cited"][name])
    return cited(paper)


def facts(board: pd.DataFrame) -> pd.DataFrame:
    """The distinct findings of a board with the `level` of evidence each rests on, the firmest first.

    A fact that several ids state counts once (`same_as`). `paper` is whose words they are: those of a review page
    are not its paper's.
    """
    rows = distinct(board)
    level = rows["evidence"].where(rows["decision"] != NOT_TESTED, NOT_TESTED)
    rows = rows.assign(level=level, paper=rows["id"].map(published.sources()))[rows["decision"] != NOTHING]
    return rows.sort_values("level", key=lambda column: column.map(LEVELS.index), kind="stable", ignore_index=True)


def decision_counts(board: pd.DataFrame) -> pd.DataFrame:
    """Distinct findings: one row per level of evidence and source, one column per decision; the firmest level first."""
    rows = facts(board)
    table = rows.groupby(["level", "paper", "decision"]).size().unstack(fill_value=0)
    known = [(level, paper) for level in LEVELS for paper in names() if (level, paper) in table.index]
    index = pd.MultiIndex.from_tuples(known, names=["level", "paper"])
    return table.reindex(index=index, columns=DECIDED, fill_value=0)


REPRODUCED_ON = {
    evidence_levels.AUTHORS: "rest on files or numbers that authors released",
    evidence_levels.DATA: "on a paper's own data with our models",
    evidence_levels.SUBSTITUTE: "on substitute data",
    evidence_levels.OUR_QUESTION: "are questions of our own",
}
"""What findings that are reproduced are, by the evidence that they rest on."""


def by_decision(counted: pd.DataFrame) -> str:
    """How many findings have each decision; `counted`: their counts (`decision_counts`)."""
    decided = counted.sum()
    return ", ".join(f"{number} are *{decision}*" for decision, number in decided.items() if number)


def by_evidence(counted: pd.DataFrame) -> str:
    """On what the reproduced findings rest."""
    reproduced = counted[REPRODUCED].groupby("level").sum().reindex(list(REPRODUCED_ON), fill_value=0)
    return ", ".join(f"{reproduced[level]} {words}" for level, words in REPRODUCED_ON.items())


def by_source(counted: pd.DataFrame) -> pd.DataFrame:
    """The counts as a table for people, with the source in words and the total."""
    table = counted.reset_index()
    table["paper"] = [names()[paper].partition(" (")[0] for paper in table["paper"]]
    table["total"] = counted.sum(axis=1).to_numpy()
    return table.rename(columns={"level": "evidence", "paper": "source"})


def findings(board: pd.DataFrame) -> list[Finding]:
    """The distinct findings of a board as lines of one figure, by whose they are (each paper's, a review page's, ours),
    the firmest evidence first."""
    rows = facts(board)
    lines = []
    for paper, name in names().items():
        for row in rows[rows["paper"] == paper].to_dict("records"):
            rule = analysis_plan.rule(row["id"])
            numbers = {key: _number(row[key]) for key in ("low", "high", "published")}
            lines.append(
                Finding(
                    group=name,
                    id=row["id"],
                    words=f"{capital(plain(row['id']))}.",
                    verdict=evidence_levels.display_label(row["decision"], row["evidence"]),
                    evidence=materials.evidence_in_words(row["id"], row["level"]),
                    borders=() if rule.rule == "same" else rule.lines,
                    ours=_number(row["effect"]),
                    n=None if pd.isna(row["n"]) else int(row["n"]),
                    waits=_awaited(row),
                    theirs=in_sentences.source_of_theirs(row),
                    part=", ".join(filter(None, [in_sentences.what_decides(row), in_sentences.quantity_of(row["id"])])),
                    **numbers,
                )
            )
    return lines


def _awaited(row: Mapping[Any, Any]) -> str:
    """What an undecided finding would have to pass: a number of inputs, or by a rule without one a p-value; "" for what
    is decided."""
    if row["decision"] != UNDECIDED:
        return ""
    if row["waits_for"] == RULE:
        return WAITS[RULE]
    if not pd.isna(row["needed"]):
        return f"decided with about {int(row['needed']):,} inputs; there are {int(row['n']):,}"
    return "" if pd.isna(row["p"]) else f"p = {rounded(row['p'], 3)}; holds at {rounded(ALPHA, 3)} or less"


def _number(value: Any) -> float:
    return math.nan if pd.isna(value) else float(value)


def in_numbers(board: pd.DataFrame) -> dict[str, int]:
    """Counts of distinct findings for sentences: `all`; `own`, on authors' outputs or the papers' own data, without
    what only a review page says; of these how many have each decision (`own reproduced`); how many of them are
    headline claims that were `judged again` on unseen inputs, and with the same decision (`same again`), and how many
    such are on substitute data (`again elsewhere`, `same elsewhere`); how many others unseen inputs reach (`further
    again`, `further same`); how many rest on `released` files, which have no second sample, or are `exploratory only`;
    how many `of a review page` have such evidence; `turned by rules`."""
    rows = facts(board)
    of_papers = rows[rows["level"].isin(OWN_MATERIAL) & (rows["paper"] != published.REVIEW)]
    decided = of_papers["decision"].value_counts()
    counted = {"all": len(rows), "own": len(of_papers), "turned by rules": turned_by_rules()}
    counted |= {f"own {decision}": int(decided.get(decision, 0)) for decision in DECIDED}
    # What only a review page says is no claim of a paper, whatever it is measured on.
    own_material = int(rows["level"].isin(OWN_MATERIAL).sum())
    counted["of a review page"] = own_material - len(of_papers)
    again = confirmed()["decision"]
    elsewhere = rows[rows["id"].isin(again.index) & rows["id"].map(is_headline) & ~rows["id"].isin(of_papers["id"])]
    counted["again elsewhere"] = len(elsewhere)
    counted["same elsewhere"] = int((elsewhere["decision"] == elsewhere["id"].map(again)).sum())
    twice = of_papers[of_papers["id"].isin(again.index)]
    same = twice["decision"] == twice["id"].map(again)
    headline = pd.Series([is_headline(name) for name in twice["id"]], index=twice.index, dtype=bool)
    released = int((of_papers["level"] == evidence_levels.AUTHORS).sum())
    counted |= {"judged again": int(headline.sum()), "same again": int((same & headline).sum())}
    counted |= {"further again": int((~headline).sum()), "further same": int((same & ~headline).sum())}
    return counted | {"released": released, "exploratory only": len(of_papers) - len(twice) - released}


def turned_by_rules() -> int:
    """How many verdicts a change of a rule has turned, on values that had been seen."""
    history = published.our_table("rule_history")
    before, after = history["verdict_before"], history["verdict_after"]
    return int(((before != after) & (before != "") & (after != "")).sum())


def with_p(board: pd.DataFrame) -> pd.DataFrame:
    """The reproduced claims of papers whose rule has a p-value, each once: those that Holm's correction is over."""
    rows = distinct(board)
    return rows[(rows["kind"] == "claim") & (rows["decision"] == REPRODUCED) & rows["p"].notna()]


def all_verdicts(board: pd.DataFrame, quoted: pd.DataFrame | None = None) -> pd.DataFrame:
    """All verdicts for people, headline claims first, then by evidence, the firmest first: the claim in plain words
    with its id, which is a place to link to (`anchor`) and its page, the decision, source, evidence, the number that
    decides beside the published one, n, and what else is known: why, comparisons that hold and are needed, the decision
    on unseen inputs, unrelated models, the paper's own repeat, printed numbers, and how often the rule
    says so wrongly, where that is more often than promised. `quoted`: values that pages keep for sentences, of which
    those of an unreported choice are.

    *Printed numbers*: whether the printed or released numbers bear the claim out as it is worded, without a margin or
    an interval: another standard than the verdict's, so that the two may differ.
    """
    level = board["evidence"].where(~board["decision"].isin([NOT_TESTED, NOTHING]), board["decision"])
    rows = board.assign(level=level, paper=board["id"].map(published.sources()))
    order = [*LEVELS, NOTHING].index
    rows = rows.sort_values("level", key=lambda column: column.map(order), kind="stable")
    rows = rows.sort_values("id", key=lambda column: ~column.map(is_headline), kind="stable", ignore_index=True)
    again, errs = confirmed(), error_rates.rates_beyond_promise(rows)
    results = Results(board, NOTHING_QUOTED if quoted is None else quoted)
    claims = published.claims().set_index("id").to_dict("index")
    is_judged = ~rows["decision"].isin([NOT_TESTED, NOTHING])
    cells = []
    for row, star in zip(rows.to_dict("records"), starred(rows), strict=True):
        claim = claims[row["id"]]
        # What unseen inputs say of a finding stands under the id that was judged on them.
        unseen = on_unseen_inputs(row["same_as"] or row["id"], again)
        decision = badge(evidence_levels.display_label(row["decision"], row["evidence"]))
        cells.append(
            {
                "claim": _with_place(row, claim["plain"] or claim["claim"]),
                "decision": f"{decision} ★" if star else decision,
                "source": cited_of(row["id"], row["paper"]),
                "evidence": materials.evidence_in_words(row["id"], row["level"]),
                DECIDES: in_sentences.deciding(row) or "–",
                "more": _more(row, results, unseen, claim["status_in_published_tables"], errs.get(row["id"])),
            }
        )
    table = pd.DataFrame(cells)
    table["evidence"] = table["evidence"].where(is_judged, "–")
    table["n"] = rows["n"].astype(str).where(is_judged & rows["n"].notna(), "–")
    return table[["claim", "decision", "source", "evidence", DECIDES, "n", "more"]]


def _with_place(row: Mapping[Any, Any], words: str) -> str:
    """A claim with its id, the place that links to it lead to, and the page that judges it."""
    name = row["id"]
    return f"{_marked(name)}{capital(words)} `{name}`{{#{anchor(name)}}}{_seen_on(row['page'])}"


def _marked(name: str) -> str:
    """What comes before a headline claim."""
    return "*Headline:* " if is_headline(name) else ""


def _bare(decision: str, evidence: str) -> str:
    """A decision in a table of which every row is of our models."""
    return evidence_levels.display_label(decision, evidence).removesuffix(" on our models")


def _seen_on(page: str) -> str:
    """The link from a claim to the page that judges it."""
    return f" {{doc}}`see <{page.removeprefix('executed/')}>`" if page else ""


def _counted(row: Mapping[Any, Any]) -> str:
    """How many comparisons of several hold on their own, and how many have to; nothing where nothing was decided, which
    zero would deny, and by rules that decide everything together."""
    if row["level"] in (NOT_TESTED, NOTHING) or pd.isna(row["parts"]) or row["parts"] < 2:
        return ""
    rule, parts = analysis_plan.rule(row["id"]), int(row["parts"])
    counted = f"{row['passed']} of {parts}"
    if rule.rule in ("order", "trend", "whole"):
        return ""
    if rule.rule == "same" or (isinstance(rule.k, int) and rule.k > parts):
        return counted  # a number may differ for a named cause; of fewer than the plan counts the reason says how many
    needed = parts if rule.rule == "each" else rule.needed(parts)
    number = "all" if needed == parts else needed
    return f"{counted} ({number} needed)"


def twice(board: pd.DataFrame, *, headline: bool) -> pd.DataFrame:
    """The findings that were judged on the values of this book and again on unseen inputs, the headline claims or the
    others: the claim with its id, both decisions, that of the same model on the inputs before, and the comparison that
    decides on the unseen ones. Where these leave it open, the decision of both samples together stands in brackets."""
    again = confirmed()
    rows = board[[name in again.index and is_headline(name) == headline for name in board["id"]]]
    unseen = [again.loc[name] for name in rows["id"]]
    return pd.DataFrame(
        {
            "claim": [plain_with_id(name) for name in rows["id"]],
            "before": [_bare(*told) for told in zip(rows["decision"], rows["evidence"], strict=True)],
            "before, same model": [_bare(line["before"], line["evidence"]) for line in unseen],
            "on unseen inputs": [_alone_and_pooled(line) for line in unseen],
            "n": [line["n"] for line in unseen],
            "what decides there": [what_decides_with_both(name, again) for name in rows["id"]],
        }
    )


def unconfirmed(board: pd.DataFrame) -> pd.DataFrame:
    """Why findings have no decision on unseen inputs (`data/unconfirmed.csv`): each reason with the findings that it
    holds for, every finding once. What repeats another finding is left out, and what has been judged since."""
    open_ones = set(distinct(board)["id"]) - set(confirmed().index)
    table = published.our_table("unconfirmed")
    table = table[table["id"].isin(open_ones)]
    named = table.groupby("reason", sort=False)["id"].agg(lambda ids: ", ".join(f"`{name}`" for name in ids))
    number = table.groupby("reason", sort=False)["id"].size()
    return pd.DataFrame({"why": named.index, "findings": named.to_numpy(), "number": number.to_numpy()})


def undecided_table(board: pd.DataFrame) -> pd.DataFrame:
    """The undecided findings (`scoreboard.undecided_findings`) for people: each in words with its id."""
    table = scoreboard.undecided_findings(board)
    return table.assign(finding=table["finding"].map(plain_with_id), n=table["n"].astype(str))


def answers_to_referee(board: pd.DataFrame) -> pd.DataFrame:
    """What a referee's reading asked of the rules, point by point (`data/referee_answers.csv`): the findings that it is
    about, what was asked, whether it was done and how, and their decisions now."""
    table, facts = published.our_table("referee_answers"), board.set_index("id")
    about, now = [], []
    for ids in table["ids"]:
        names = ids.split("; ") if ids else []
        by_decision: dict[str, list[str]] = {}
        for name in names:
            by_decision.setdefault(_bare(*facts.loc[name, ["decision", "evidence"]]), []).append(name)
        if len(by_decision) > 1:
            now.append("; ".join(f"{word} ({', '.join(of)})" for word, of in by_decision.items()))
        else:
            now.append("".join(by_decision))
        about.append("; ".join(f"`{name}`" for name in names) or "all")
    return table.assign(ids=about, now=now).rename(columns={"ids": "about", "now": "decision now"})


def _alone_and_pooled(row: Mapping[Any, Any]) -> str:
    """The decision on unseen inputs; where they leave a finding open with the sign that it had, also that of both
    samples together."""
    alone = _bare(row["decision"], row["evidence"])
    return f"{alone} (both samples: {_bare(row['pooled'], row['evidence'])})" if row["pooled"] else alone


def anchor(name: str) -> str:
    """The place of a verdict on the scoreboard, to be cited.

    >>> anchor("soft_c01")
    'verdict-soft-c01'
    """
    return f"verdict-{name.replace('_', '-')}"


def _more(row: Mapping[Any, Any], results: Results, unseen: str, printed: str, errs: float | None) -> str:
    """What else is known of a verdict: the reason where the rule says more, what would decide it, which finding it
    repeats, then each other fact under its name. `errs`: how often the rule says so wrongly, where that is more than
    promised."""
    because = ": ".join(filter(None, [in_sentences.reason(row), choices.in_full(results, row["id"])]))
    repeats = _repeated(row, results)
    waits = WAITS[row["waits_for"] or ""]
    said = ["; ".join(filter(None, (because, waits, repeats)))]
    rests_on_models = row["decision"] not in (NOT_TESTED, NOTHING) and not pd.isna(row["unrelated"])
    named = {
        HOLD: _counted(row),
        "on unseen inputs": unseen,
        "unrelated models": str(row["unrelated"]) if rests_on_models else "",
        "own repeat": row["own_repeat"],
        "wrongly so": "" if errs is None else f"in {100 * errs:.1f} of 100 simulated cases (2.5 are promised)",
        "printed numbers": "" if printed.startswith("not_testable") else printed,
    }
    said += [f"*{name}*: {fact}" for name, fact in named.items() if fact]
    return ". ".join(filter(None, said))


def _repeated(row: Mapping[Any, Any], results: Results) -> str:
    """Which finding a line repeats. Its own numbers may be decided otherwise; then it still is not counted apart."""
    fact = row["same_as"]
    if not fact:
        return ""
    if fact in results.board.index and results.decision(fact) != row["decision"]:
        return f"not counted apart: its numbers move with those of `{fact}`"
    return f"same finding as `{fact}`"
