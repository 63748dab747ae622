"""The papers' numbers as printed, and what there is to judge: their tables, figures and claims, and our questions.

A paper is cited for its own words only: what a review page of it says has a source of its own (`sources`).
"""

from __future__ import annotations

import pandas as pd

from faithbook.declared import ask
from faithbook.paths import root
from faithlib.errors import unknown

PAPERS = ("zhao_aletras_2023", "wu_2024", "zaman_belinkov_2022", "edin_2025")
OUR_OWN = "this_book"
REVIEW = "review_of_edin_2025"
"""The page through which this book first knew a paper; what only this page says counts apart from the paper."""
KINDS = ("tables", "figures", "claims", "questions")


def table(name: str) -> pd.DataFrame:
    """A table of `data/published`, values and spreads as numbers, everything else as printed."""
    ask(f"data/published/{name}.csv")
    folder = root() / "data" / "published"
    path = folder / f"{name}.csv"
    if not path.is_file():
        raise unknown("published table", name, [p.stem for p in folder.glob("*.csv")])
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    for column in {"value", "spread"} & set(frame.columns):
        frame[column] = pd.to_numeric(frame[column], errors="coerce")
    return frame


def beside(name: str) -> pd.DataFrame:
    """A table of ours that lies in `data/` and says something of the papers' (materials, pages), all as text."""
    ask(f"data/{name}.csv")
    return pd.read_csv(root() / "data" / f"{name}.csv", dtype=str, keep_default_na=False)


def index(kind: str, paper: str | None = None) -> pd.DataFrame:
    """The papers' "tables", "figures" or "claims", of one paper or all; or the "questions" of our own."""
    if kind not in KINDS:
        raise unknown("index", kind, KINDS)
    if kind == "questions":
        ask("data/questions.csv")
    frame = pd.read_csv(root() / "data" / "questions.csv") if kind == "questions" else table(kind)
    return frame if paper is None else frame[frame.paper == paper].reset_index(drop=True)


def sources() -> dict[str, str]:
    """Whose words each table, figure, claim and question is: a paper's, our own, or those of a review page of a paper.

    >>> sources()["naopc_c01"], sources()["naopc_c05"]
    ('edin_2025', 'review_of_edin_2025')
    """
    found = {name: paper for kind in KINDS for name, paper in index(kind).set_index("id")["paper"].items()}
    claims, tables = index("claims"), index("tables").set_index("id")
    page = tables["source_file"]["naopc_review"]
    printed = pd.concat([tables.reset_index(), index("figures")])
    reviewed = [*claims["id"][claims["source"] == "review"], *printed["id"][printed["source_file"] == page]]
    return found | dict.fromkeys(reviewed, REVIEW)
