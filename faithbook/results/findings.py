"""What was found, for a reader in a hurry: counts of distinct findings by the evidence they rest on, and one sentence
per paper: what stands, what does not, what is undecided, and what was not tested.

Both are made from the scoreboard (`faithbook.results.scoreboard.board`), so that no sentence says more than the
verdicts. `data/plain.csv` has headline claims in plain words; a paper's sentence names these and counts the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from faithbook.results import evidence, published
from faithbook.results.exhibits import pipe_table
from faithbook.results.page import badge
from faithbook.results.scoreboard import distinct

STANDS, IN_PART, DOES_NOT, OPEN = "stands", "stands in part", "does not stand", "undecided"
UNTESTED, NO_FINDING = "not tested here", "nothing to test"
SIDES: Mapping[str, str] = {
    **dict.fromkeys((evidence.MATCH, evidence.EXPLAINED, evidence.HOLDS, evidence.CARRIES_OVER), STANDS),
    **dict.fromkeys((evidence.PARTLY, evidence.DEPENDS), IN_PART),
    **dict.fromkeys((evidence.DIFFERS, evidence.FAILS, evidence.DOES_NOT, evidence.LEVEL), DOES_NOT),
    evidence.INCONCLUSIVE: OPEN,
    **dict.fromkeys((evidence.UNTESTABLE, evidence.NOT_RUN), UNTESTED),
    **dict.fromkeys((evidence.SET_UP, evidence.NOT_RECOMPUTABLE, evidence.NO_ORDER), NO_FINDING),
}
"""The side that a word is on. An effect that is there but smaller than the smallest of interest (*level*) does not
stand. Tables of the set-up, illustrations, people's marks, and rankings on which the paper's own repeats disagree leave
nothing to test, so that they are not findings."""
COLOURS = {STANDS: "#56B4E9", IN_PART: "#CC79A7", DOES_NOT: "#E8905A", OPEN: "#DDDDDD", UNTESTED: "#FFFFFF"}
"""The sides that findings are on, in their order, with the colour of each."""
TOLD = tuple(COLOURS)

GROUNDS = (*evidence.GROUNDS, UNTESTED)
OWN_MATERIAL = (evidence.AUTHORS, evidence.PAPER, evidence.DATA)
"""Grounds that are the papers' own, at least in part: they come first."""

NAMES: Mapping[str, str] = {
    "zhao_aletras_2023": "Zhao & Aletras 2023 (Soft-NS, Soft-NC)",
    "wu_2024": "Wu et al. 2024 (SaCo)",
    "zaman_belinkov_2022": "Zaman & Belinkov 2022 (cross-lingual)",
    "edin_2025": "Edin et al. 2025 (NAOPC)",
    published.REVIEW: "A review page of Edin et al. 2025",
    published.OUR_OWN: "Our own questions",
}
"""Whose findings are counted together: each paper's, a review page's apart from its paper's, and ours."""
_TITLES = {"table": "title", "figure": "shows", "claim": "claim", "question": "question"}


SMALLEST = "n (smallest cell)"
"""The head of a column of n: independent inputs in the smallest cell that a verdict averages."""


def cited(paper: str) -> str:
    """A paper, or a review page of one, as it is cited.

    >>> cited("wu_2024"), cited(published.REVIEW)
    ('Wu et al. 2024', 'a review page of Edin et al. 2025')
    """
    name = NAMES[paper].partition(" (")[0]
    return f"{name[0].lower()}{name[1:]}" if paper == published.REVIEW else name


def plain_words() -> dict[str, str]:
    """Headline claims and questions in plain words, by id."""
    told = published.beside("plain")
    return dict(zip(told["id"], told["words"], strict=True))


def sided(board: pd.DataFrame) -> pd.DataFrame:
    """The distinct findings of a board with the `side` each is on and the `ground` it rests on, the firmest first.

    A fact that several ids state counts once (`same_as`). `paper` is whose words they are: those of a review page
    are not its paper's.
    """
    facts = distinct(board)
    side = facts["verdict"].map(SIDES)
    found = facts.assign(side=side, ground=facts["evidence"].where(side != UNTESTED, UNTESTED), paper=_whose(facts))
    found = found[found["side"] != NO_FINDING]
    return found.sort_values("ground", key=lambda column: column.map(GROUNDS.index), kind="stable", ignore_index=True)


def _whose(board: pd.DataFrame) -> pd.Series:
    """Whose words the rows of a board are (`published.sources`)."""
    return board["id"].map(published.sources())


def counts(board: pd.DataFrame) -> pd.DataFrame:
    """Distinct findings: one row per ground and source, one column per side; the firmest ground first."""
    found = sided(board)
    table = found.groupby(["ground", "paper", "side"]).size().unstack(fill_value=0)
    known = [(ground, paper) for ground in GROUNDS for paper in NAMES if (ground, paper) in table.index]
    return table.reindex(index=pd.MultiIndex.from_tuples(known, names=["ground", "paper"]), columns=TOLD, fill_value=0)


def sentence(board: pd.DataFrame, paper: str, words: Mapping[str, str]) -> str:
    """What of a paper stands, what does not, what is undecided or untested; headlines in `words`, the others counted.

    A headline names what its answer hangs on, where its page has tried other choices.
    """
    found = sided(board)
    found = found[found["paper"] == paper]
    told = []
    for side in TOLD:
        rows = found[found["side"] == side]
        # What decides nothing needs no ground, and our own questions have one.
        grounds = [rows] if side in (OPEN, UNTESTED) else [part for _, part in rows.groupby("ground", sort=False)]
        for part in grounds:
            if part.empty:
                continue
            named = part[part["id"].isin(words)]
            items = [_named(row, words) for row in named.to_dict("records")]
            if more := len(part) - len(named):
                items.append(f"{more} more" if items else f"{more} finding{'s' if more > 1 else ''}")
            ground = part["ground"].iloc[0]
            where = f" ({ground})" if side not in (OPEN, UNTESTED) and ground != evidence.OUR_QUESTION else ""
            told.append(f"*{side[0].upper()}{side[1:]}*{where}: {'; '.join(items)}.")
    return " ".join(told) or "Nothing was judged."


def _named(row: Mapping[Any, Any], words: Mapping[str, str]) -> str:
    """A headline in plain words, with what its answer hangs on."""
    return words[str(row["id"])] + (f" ({row['hangs']})" if row["hangs"] else "")


def sentences(board: pd.DataFrame, words: Mapping[str, str]) -> list[str]:
    """The sentence of every paper, those with findings on firmer ground first, then a review page's and our own."""
    found = sided(board)
    firmest = found.groupby("paper")["ground"].agg(lambda grounds: min(map(GROUNDS.index, grounds)))
    papers = sorted(published.PAPERS, key=lambda name: firmest.get(name, len(GROUNDS)))
    others = (published.REVIEW, published.OUR_OWN)
    return [f"**{NAMES[paper]}.** {sentence(board, paper, words)}" for paper in (*papers, *others)]


def in_numbers(board: pd.DataFrame) -> str:
    """How many rows, repeats and findings there are, and how they fared by the ground they rest on, in words."""
    found, facts = sided(board), distinct(board)
    reviewed = found["paper"] == published.REVIEW
    own = found["ground"].isin(OWN_MATERIAL) & ~reviewed
    asked = found["ground"] == evidence.OUR_QUESTION
    disagree = int((facts["verdict"] == evidence.NO_ORDER).sum())
    told = [
        f"Of {len(board)} tables, figures and claims of the four papers and questions of our own, "
        f"{len(board) - len(facts)} repeat another, {len(facts) - len(found) - disagree} are of the set-up or "
        f"illustrations, and {disagree} are rankings on which the paper's own repeats disagree. The other {len(found)}:"
    ]
    parts = {
        "on what the authors released, or on the papers' own data with our models": found[own],
        "on stand-ins": found[(found["ground"] == evidence.STAND_INS) & ~reviewed],
        "of what only a review page of a paper says": found[reviewed & (found["ground"] != UNTESTED)],
        "of our own questions": found[asked],
        UNTESTED: found[found["ground"] == UNTESTED],
    }
    for name, rows in parts.items():
        sides = rows["side"].value_counts()
        split = ", ".join(f"{sides[side]} {_ending(side, int(sides[side]))}" for side in TOLD if side in sides)
        told.append(f"- {name}: {len(rows)}" + (f" ({split})" if name != UNTESTED and len(rows) else ""))
    return "\n".join([told[0], "", *told[1:]])


def _ending(side: str, number: int) -> str:
    """A side as a verb of so many findings."""
    many = {STANDS: "stand", IN_PART: "stand in part", DOES_NOT: "do not stand"}
    return side if number == 1 else many.get(side, side)


def headlines(board: pd.DataFrame, words: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """The headline claims, those on the papers' own material apart from those on stand-ins: the claim, whose it is, the
    verdict, what it rests on, n, what it hangs on."""
    found = sided(board[board["kind"] == "claim"])
    found = found[found["id"].isin(words)]
    said = found["id"].map(in_words())
    table = pd.DataFrame(
        {
            "claim": said,
            "source": [cited(paper) for paper in found["paper"]],
            "verdict": [badge(word) for word in found["verdict"]],
            "evidence": found["ground"],
            SMALLEST: found["n"].astype(str).replace("<NA>", ""),
            "hangs on": found["hangs"],
        }
    )
    own = found["ground"].isin(OWN_MATERIAL)
    return {
        "the authors' outputs, or the paper's data with our models": table[own],
        "stand-ins, or not at all": table[~own],
    }


def every(board: pd.DataFrame) -> pd.DataFrame:
    """All verdicts for people, the firmest ground first, with what each repeats and a link to its page; each row has a
    place of its own (`anchor`)."""
    side = board["verdict"].map(SIDES)
    unfounded = side.isin([UNTESTED, NO_FINDING])
    rows = board.assign(ground=board["evidence"].where(~unfounded, side), paper=_whose(board))
    rows = rows.sort_values(
        "ground", key=lambda column: column.map([*GROUNDS, NO_FINDING].index), kind="stable", ignore_index=True
    )
    # That none of the parts says yes would read as a no where nothing was decided.
    decided = ~rows["ground"].isin([UNTESTED, NO_FINDING])
    parts = [
        f"{passed} of {of}" if judged and not pd.isna(of) and of > 1 else ""
        for passed, of, judged in zip(rows["passed"], rows["parts"], decided, strict=True)
    ]
    here = [
        badge(own) if own not in ("", word, evidence.UNTESTABLE) else ""
        for own, word in zip(rows["here"], rows["verdict"], strict=True)
    ]
    said, taken = in_words(), taken_at_its_word()
    return pd.DataFrame(
        {
            "what": [f"`{name}`{{#{anchor(name)}}} {said[name]}" for name in rows["id"]],
            "verdict": [badge(word) for word in rows["verdict"]],
            "found": [_why(row) for row in rows.to_dict("records")],
            "evidence": rows["ground"],
            "parts": parts,
            SMALLEST: rows["n"].astype(str).replace("<NA>", ""),
            "source": [cited(paper) for paper in rows["paper"]],
            "printed numbers": [taken.get(name, "") for name in rows["id"]],
            "this build": here,
            "page": [f"{{doc}}`see <{page.removeprefix('executed/')}>`" if page else "" for page in rows["page"]],
        }
    )


def anchor(name: str) -> str:
    """The place of a verdict on the scoreboard, to be cited.

    >>> anchor("soft_c01")
    'verdict-soft-c01'
    """
    return f"verdict-{name.replace('_', '-')}"


def _why(row: Mapping[Any, Any]) -> str:
    """The note of a verdict, and which finding it repeats."""
    repeats = f"repeats `{row['same_as']}`" if row["same_as"] else ""
    return "; ".join(str(part) for part in (row["note"], repeats) if part)


def in_words() -> dict[str, str]:
    """What every id says, in the words of the index that has it."""
    return {
        str(name): str(text)
        for kind, column in _TITLES.items()
        for name, text in published.index(f"{kind}s").set_index("id")[column].items()
    }


def taken_at_its_word() -> dict[str, str]:
    """By claim, whether the printed or released numbers bear it out as it is worded, without a margin or an interval:
    another standard than the verdict's, so that the two may differ."""
    status = published.index("claims").set_index("id")["status_in_published_tables"]
    return {str(name): text.replace("_", " ") for name, text in status.items() if not text.startswith("not_testable")}


def summary(board: pd.DataFrame, words: Mapping[str, str]) -> str:
    """What the landing page includes: the numbers, a sentence per paper, the headline claims by what they rest on."""
    told = [in_numbers(board), *sentences(board, words)]
    for ground, rows in headlines(board, words).items():
        head = f"**Headline claims, tested on {ground}**"
        told.append(f"{head}\n\n{pipe_table(rows)}" if len(rows) else f"{head}: none in this copy of the book.")
    return "\n\n".join(told)
