"""The papers' numbers as printed, and what there is to judge: their tables, figures and claims, and our questions.

A paper is cited for its own words only: what a review page of it says has a source of its own (`sources`).
"""

from __future__ import annotations

import functools
import io

import pandas as pd

from faithbook.access import require
from faithbook.engine.studies import studies
from faithbook.paths import root
from faithlib.errors import unknown

OUR_OWN = "this_book"
REVIEW = "review_of_edin_2025"
"""The page through which this book first knew a paper; what only this page says counts apart from the paper."""
PREPRINT = "preprint"
"""The source of a claim that a preprint makes and we judge like a question of our own."""
KINDS = ("table", "figure", "claim", "question")


def papers() -> dict[str, str]:
    """The papers whose findings are judged, as people are told them: what every study says of its own.

    >>> papers()["wu_2024"]
    'Wu et al. 2024 (SaCo)'
    """
    return {paper: name for study in studies().values() for paper, name in study.papers.items()}


def table(name: str, *, text: bool = False) -> pd.DataFrame:
    """A table of `data/published`, values and spreads as numbers, everything else as printed; `text`: values as they
    are printed too, in a column of this name."""
    require(f"data/published/{name}.csv")
    folder = root() / "data" / "published"
    path = folder / f"{name}.csv"
    if not path.is_file():
        raise unknown("published table", name, [p.stem for p in folder.glob("*.csv")])
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame = frame.assign(text=frame["value"]) if text else frame
    for column in {"value", "spread"} & set(frame.columns):
        frame[column] = pd.to_numeric(frame[column], errors="coerce")
    return frame


def our_table(name: str) -> pd.DataFrame:
    """A table of ours that lies in `data/` and says something of the papers' (materials, prices), all as text."""
    require(f"data/{name}.csv")
    return pd.read_csv(root() / "data" / f"{name}.csv", dtype=str, keep_default_na=False)


def claims(kind: str = "", paper: str = "") -> pd.DataFrame:
    """Everything that gets a verdict, one row per id of `data/claims.csv`, all as text: the papers' tables, figures and
    claims, and our questions (`KINDS`), of one kind or paper or all.

    What it says (`claim`, as its source words it, and in `plain` words), whose words it is (`paper`, `source`), and the
    numbers printed for it, and on which data sets where an exhibit is of some of the paper's alone (`printed_on`). Then
    by which rule it is judged, since when and why, on which page, and which of the ten lessons has it (`lesson`,
    `found`).
    """
    require("data/claims.csv")
    if kind and kind not in KINDS:
        raise unknown("kind of claim", kind, KINDS)
    rows = _parsed((root() / "data" / "claims.csv").read_text(encoding="utf-8"))
    chosen = rows["kind"].isin([kind] if kind else KINDS) & rows["paper"].isin([paper] if paper else rows["paper"])
    return rows[chosen].reset_index(drop=True)


@functools.lru_cache(maxsize=1)
def _parsed(claims_csv: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(claims_csv), dtype=str, keep_default_na=False)


def column(name: str) -> dict[str, str]:
    """One column of the claims by id.

    >>> column("page")["soft_c01"]
    'soft_tables'
    """
    rows = claims()
    return dict(zip(rows["id"], rows[name], strict=True))


def printed_on(name: str) -> frozenset[str]:
    """The data sets that the exhibits behind an id are of, where `data/claims.csv` names some; empty where they are of
    all data sets of the paper.

    >>> sorted(printed_on("saco_c08")), sorted(printed_on("saco_c05"))
    (['imagenet'], [])
    """
    rows = claims().set_index("id")
    exhibits = str(rows.loc[name, "rests_on"]).split("; ") if rows.loc[name, "rests_on"] else [name]
    named = [str(rows.loc[exhibit, "printed_on"]) for exhibit in exhibits]
    return frozenset("; ".join(named).split("; ")) if all(named) else frozenset()


def sources() -> dict[str, str]:
    """Whose words each table, figure, claim and question is: a paper's, our own, or those of a review page of a paper.

    >>> sources()["naopc_c01"], sources()["naopc_c05"]
    ('edin_2025', 'review_of_edin_2025')
    """
    rows = claims()
    return dict(zip(rows["id"], rows["paper"].mask(rows["source"] == "review", REVIEW), strict=True))
