"""The evidence (`faithbook.stats.evidence_levels`) of a computation's values: what is a paper's own, and what is not.

Which data sets, models and files are a paper's own stands in `data/materials.csv`, so that the evidence follows from
what a run has read and is never typed beside a claim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatch

from faithbook.access import remembered
from faithbook.judge import published
from faithbook.stats.evidence_levels import AUTHORS, DATA, OUR_QUESTION, PAPER, SUBSTITUTE


def evidence_level_of(paper: str, *, notebook: str, datasets: Iterable[str], models: Iterable[str]) -> str:
    """The evidence level of values of a compute notebook, from the data sets they are of and the models that were
    loaded.

    `models`: as `loads` of a study names them (`local:…`, `hf:…`, `timm:…`, or a folder). Without a
    known data set or model it is the weaker level.
    """
    if paper == published.OUR_OWN:
        return OUR_QUESTION
    of_paper, _, _ = _materials(paper)
    if notebook in of_paper["outputs"]:
        return AUTHORS
    named = list(datasets)
    if not named or any(name not in of_paper["data"] for name in named):
        return SUBSTITUTE
    loaded = list(models)
    of_the_paper = [model for model in loaded if any(fnmatch(model, known) for known in of_paper["model"])]
    return PAPER if loaded and of_the_paper == loaded else DATA


def evidence_of_claim(name: str, evidence: str, have: Collection[str]) -> str:
    """What the verdict on a claim rests on: `evidence`, or that of a substitute where its exhibits are of data sets
    that are not among those measured (`have`), though the paper uses these elsewhere.

    >>> evidence_of_claim("saco_table2", DATA, {"cifar10"})
    'substitute data, our models'
    """
    printed_on = published.printed_on(name)
    if evidence == DATA and printed_on and printed_on.isdisjoint(have):
        return SUBSTITUTE
    return evidence


def evidence_in_words(name: str, evidence: str) -> str:
    """What a verdict rests on, as it reads beside a claim: one of a preprint, which our models cannot replicate, is
    judged like a question of our own and is not ours.

    >>> evidence_in_words("lm_q1", OUR_QUESTION), evidence_in_words("lm_ice_c01", OUR_QUESTION)
    ('our own question', 'claim of a preprint, judged like our own questions')
    """
    if published.column("source")[name] == published.PREPRINT:
        return "claim of a preprint, judged like our own questions"
    return evidence


def unrelated(page: str) -> int | None:
    """How many models behind a page's claims share no encoder: an encoder and its first six layers, or three trainings
    of one, are one model. None for a page without models."""
    rows = published.our_table("unrelated_models").set_index("page")["number"]
    return int(rows[page]) if page in rows else None


def stands_for(paper: str) -> dict[str, str]:
    """The data set that each substitute of a paper's data set stands for.

    >>> stands_for("wu_2024")["animals"]
    'imagenet'
    """
    return dict(_materials(paper)[1])


def published_n(paper: str, datasets: Iterable[str]) -> int | None:
    """The smallest number of inputs that the paper measured one of its data sets on; None where one has none stated."""
    sizes = [_materials(paper)[2].get(name, "") for name in datasets]
    return min(map(int, sizes)) if sizes and all(sizes) else None


@remembered
def _materials(paper: str) -> tuple[dict[str, set[str]], dict[str, str], dict[str, str]]:
    """A paper's rows of `data/materials.csv`: by kind what is its own, by substitute what it stands for, by name n."""
    rows = published.our_table("materials")
    rows = rows[rows["paper"] == paper]
    of_paper = rows[rows["own"] == "yes"]
    of_paper_itself = {
        kind: set(of_paper.loc[of_paper["kind"] == kind, "name"]) for kind in ("data", "model", "outputs")
    }
    standing = {name: other for name, other in zip(rows["name"], rows["stands_for"], strict=True) if other}
    return of_paper_itself, standing, dict(zip(rows["name"], rows["n"], strict=True))
