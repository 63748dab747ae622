"""The decisions on the claims of study 1 with each of our models: the last table of `soft_pipeline`; and the
diagnosticity of each model, for the first figure of the landing page.

parts = parts_of_claims(partial(of_model, model=model), ["sst", "ag"], ratios)
decision_on(claim, parts, on_long_texts(of_model, sized.frame, model), have=page.have, worded=page.worded)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

import pandas as pd

from faithbook.judge import decide, materials, published
from faithbook.judge.decide import Parts
from faithbook.judge.reference import committed_board
from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison
from faithbook.studies.soft.zhao_aletras import SIZES, of_each, shared
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    METHODS,
    PAIRS,
    WIN,
    Power,
    Reading,
    claims,
    counted,
    rises,
    rises_and_falls,
    with_lengths,
)
from faithbook.studies.soft.zhao_aletras_pipeline import LONG

ELSEWHERE = {
    "soft_c12": "on models whose reasons are known: {doc}`soft_shift`",
    "soft_c14": "with one model: {doc}`soft_appendix`",
}
LACKING = "not tested: it names data sets or models that we lack"
NO_LONG_TEXT = "not tested: no long text was explained with this model"
OUTPUTS = "authors' outputs: no model of ours"
ON_LONG_TEXTS, OF_THE_BOARD = "soft_c11", "naopc_c06"
REPEATS = {"soft_c09": "soft_c01"}
"""Claims that are decided by the values of another one."""
STUDIES = ("soft_", "naopc_")
OF_STUDY = "(soft_"
"""How the id of a claim of study 1 begins in the table of decisions."""
LEARNT = ("sst", "ag")
"""The paper's data sets that our models have learnt."""


def wins_of_each(units: pd.DataFrame) -> pd.DataFrame:
    """Wins against the random attribution on the data sets that our models have learnt, of each model by itself; a run
    without these has others."""
    explained = units[units.method != "none"]
    learnt = explained[explained.dataset.isin(LEARNT)]
    return of_each(lambda part: counted(with_lengths(part)))(learnt if len(learnt) else explained)


def diagnosticity_by_model(measured: Scores, metrics: Iterable[str]) -> dict[str, dict[str, Comparison]]:
    """Diagnosticity by model and metric, mean over methods and data sets, beside the published mean; `measured`: what
    `wins_of_each` prepared. The largest model first."""
    power = measured.quantity("model", "metric", shows=WIN, method=METHODS, dataset=list(LEARNT))
    models = [model for model in SIZES.values() if model in measured.levels("model")]
    return {model: {metric: power(model, metric) for metric in metrics} for model in models}


def parts_of_claims(power: Power, tasks: Sequence[str], ratios: Sequence[float]) -> dict[str, Parts]:
    """The parts of the claims that the paper's own short texts decide, by id, with one model (`power`)."""
    return claims(partial(power, dataset=tasks), tasks) | {
        "soft_c10": rises(power, tasks, ratios),
        "soft_c13": rises_and_falls(power, tasks, ratios),
    }


def on_long_texts(of_model: Callable[..., Comparison], measured: pd.DataFrame, model: str) -> Parts:
    """Soft minus hard on each of the substitutes for the long tasks that a model was measured on (`measured`: the
    values of single inputs, with data set and model)."""
    stands = materials.stands_for("zhao_aletras_2023")
    datasets = [name for name in measured["dataset"].unique() if stands.get(name) in LONG]
    parts: dict[str, Comparison] = {}
    for dataset in [name for name in datasets if model in shared(measured, [name])]:
        gains = Reading().gains(of_model, PAIRS, dataset=dataset, model=model)
        parts |= {f"{part}, {label(dataset)}": gain for part, gain in gains.items()}
    return parts


def of_the_board(claim: str) -> str:
    """The committed decision on a claim that another page judges on models of its own, with its evidence."""
    try:
        board = committed_board()
    except FileNotFoundError:  # before there is a reference
        return "on other models: {doc}`naopc_bounds`"
    row = board[board["id"] == claim].iloc[0]
    word = evidence_levels.display_label(row["decision"], row["evidence"])
    where = row["page"].rpartition("/")[2]
    return f"{word} (other models; {row['evidence']}, n = {row['n']}): {{doc}}`{where}`"


def decision_on(
    claim: str,
    parts: Mapping[str, Parts],
    on_long: Parts,
    *,
    have: Collection[str],
    worded: Callable[[str], str],
) -> str:
    """The decision on a claim with one model, or why there is none.

    `parts`, `on_long`: what was measured with it (`parts_of_claims`, `on_long_texts`); `have`: the data sets, models
    and languages of the page; `worded`: how the page shows a decision.
    """
    if claim in ELSEWHERE:
        return ELSEWHERE[claim]
    if claim == ON_LONG_TEXTS:
        if not on_long:
            return NO_LONG_TEXT
        judged = decide.judge(claim, on_long, have=have)
        return worded(f"{judged.word} ({judged.evidence}, n = {judged.n}): {{doc}}`soft_figures`")
    if claim == OF_THE_BOARD:
        return worded(of_the_board(claim))
    if not claim.startswith("soft_"):
        return OUTPUTS
    decided_by = REPEATS.get(claim, claim)
    if decided_by not in parts:
        return LACKING
    return worded(decide.judge(claim, parts[decided_by], have=have).word)


def decisions_of(
    of_model: Callable[..., Comparison],
    measured: pd.DataFrame,
    tasks: Sequence[str],
    ratios: Sequence[float],
    models: Iterable[str],
    *,
    have: Collection[str],
    worded: Callable[[str], str],
) -> pd.DataFrame:
    """`decisions_by_model` with each of these models (arguments as above); none without a task."""
    names = [*models] if tasks else []
    parts = {model: parts_of_claims(partial(of_model, model=model), tasks, ratios) for model in names}
    on_long = {model: on_long_texts(of_model, measured, model) for model in names}

    def decision(claim: str, model: str) -> str:
        return decision_on(claim, parts[model], on_long[model], have=have, worded=worded)

    return decisions_by_model(decision, names)


def decisions_by_model(decision: Callable[[str, str], str], models: Iterable[str]) -> pd.DataFrame:
    """Every claim of studies 1 and 4 with the decision on it by model: `decision(claim, model)`."""
    names = [*models]
    table = published.claims("claim")
    rows = [
        {"claim": f"{words} ({claim})"} | {model: decision(claim, model) for model in names}
        for claim, words in zip(table["id"], table["claim"], strict=True)
        if names and claim.startswith(STUDIES)
    ]
    return pd.DataFrame(rows)


def judged_here(by_size: pd.DataFrame) -> pd.DataFrame:
    """The claims of study 1 for which every model has an answer of this page (`decisions_by_model`)."""
    if by_size.empty:
        return by_size
    elsewhere = (LACKING, "authors", "on models", "with one")
    answers = by_size.drop(columns="claim")
    here = ~answers.apply(lambda column: column.str.startswith(elsewhere))
    of_study = by_size["claim"].str.contains(OF_STUDY, regex=False)
    return by_size[here.all(axis=1) & of_study].reset_index(drop=True)


def same_in_words(judged: pd.DataFrame, decided: pd.DataFrame) -> str:
    """In how many claims all models have the same decision (`judged_here`, of all `decisions_by_model`), in sentences;
    "" where none was judged."""
    if judged.empty:
        return ""
    same, number = same_decisions(judged)
    of_study = decided["claim"].str.contains(OF_STUDY, regex=False).sum()
    return (
        f"On SST and AG News the two models have the same decision in {same} of {number} claims. The claim on long "
        f"texts was tested with the smaller model only. The other {of_study - len(judged)} claims of this study need "
        "data or models that we lack, or are judged on other pages; the file has all, and those of study 4 on "
        "normalised AOPC."
    )


def same_decisions(judged: pd.DataFrame) -> tuple[int, int]:
    """In how many of the claims that every model could decide all have the same decision, and of how many."""
    decided = judged[~judged["claim"].str.contains(ON_LONG_TEXTS)].drop(columns="claim")
    return int((decided.nunique(axis=1) == 1).sum()), len(decided)
