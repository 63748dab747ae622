"""The tables and sentences of `safe_trained`: how safe metrics are on models that were trained to err, and whether the
models err where they were taught to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import label
from faithbook.show.tables import rounded
from faithbook.studies.safe import design, show, trainings
from faithbook.studies.safe.trainings import Safety
from faithbook.studies.together.questions import KINDS
from faithbook.text import joined

RANK = "rank correlation"
WAYS = {trainings.TOWARD: "toward the class", trainings.AWAY: "away from it", trainings.THIRD: "to a third class"}
"""Which way a model errs, in words."""
THINGS = {"seed": "seed", "encoder": "encoder", "taught": "taught label"}
"""What two models may differ in alone, in words."""
ABOUT = ("modality", "error", "taught", "encoder", "seed", "model")
"""What is known of a model beside its values."""
ALIKE = ["modality", "error", "taught", "encoder"]
"""What models share that differ in their seed alone."""


# --------------------------------------------------------------------------------------------------------------- models
def models_by_error(ranks: pd.DataFrame) -> pd.DataFrame:
    """The models by kind of input and by their error, as the plan orders errors; `ranks`: values of single inputs."""
    places = {error: place for place, error in enumerate(design.declared_plan()["trained"]["errors"])}
    models = ranks[list(ABOUT)].drop_duplicates()
    models = models.assign(place=models.error.map(places))
    return models.sort_values(["modality", "place", "model"], ignore_index=True)


def model_counts(models: pd.DataFrame) -> pd.DataFrame:
    """How many models of each kind there are, and from how many seeds."""
    groups = models.groupby(ALIKE, sort=False)
    table = groups.agg(models=("model", "size"), seeds=("seed", "nunique")).reset_index()
    taught = table.taught.where(table.error != design.NEVER, "–")  # a model that never errs was taught no label
    return table.assign(error=table.error.map(show.error_in_words), taught=taught)


def of_what_was_declared(models: pd.DataFrame) -> str:
    """How many of the models that the plan allows were trained, and what that leaves out."""
    declared = design.declared_plan()["trained"]
    number = models.modality.value_counts()
    encoders = models.groupby("modality").encoder.nunique()
    seeds = models.groupby(ALIKE, sort=False).seed.nunique()
    return (
        f"**What was declared and what was trained.** The plan allows up to {declared['texts_at_most']} text and up to "
        f"{declared['images_at_most']} image models. We trained {number.get('text', 0)} text and "
        f"{number.get('vision', 0)} image models. Text models have {encoders.get('text', 0)} encoders (the plan names "
        f"{len(declared['encoders'])}), image models {encoders.get('vision', 0)}. A kind of model is one row of the "
        f"table; kinds with models of more than one seed: {(seeds > 1).sum()} of {len(seeds)} (at most {seeds.max()} "
        "seeds). Where a kind of error has one model, the interval does not cover another training. Planted reasons "
        "are one or two words or cells, any of which is enough: the trained models say nothing about reasons that are "
        "all needed or spread over many features, nor about errors that depend on what is erased."
    )


def checks(models: pd.DataFrame, checked: Scores) -> pd.DataFrame:
    """The share of copies that get the taught label, by model and by how much is erased."""
    rows = []
    for about in models.to_dict("records"):
        model = {"modality": about["modality"], "model": about["model"]}
        row: dict[str, object] = dict(model)
        for amount in checked.levels("method"):
            row[f"{amount} erased"] = checked.mean(**model, method=amount).ours.point
        rows.append(row | {"n": checked.mean(**model).ours.n})
    return pd.DataFrame(rows)


def not_learnt(models: pd.DataFrame, checked: Scores) -> dict[str, list[float]]:
    """The models that did not learn the error that they were taught, each with the shares of copies that get the taught
    label."""
    failed = {}
    for about in models[models.error != design.NEVER].to_dict("records"):
        shares = [
            checked.mean(modality=about["modality"], model=about["model"], method=amount).ours.point
            for amount in trainings.TAUGHT_AT[about["error"]]
        ]
        if min(shares) < trainings.LEARNT:
            failed[str(about["model"])] = shares
    return failed


def unlearnt(models: pd.DataFrame, checked: Scores) -> str:
    """Which models did not learn the error that they were taught."""
    failed = not_learnt(models, checked)
    if not failed:
        return "Every model errs where it was taught to."
    named = [f"`{model}` ({', '.join(rounded(share, 2) for share in shares)})" for model, shares in failed.items()]
    erring = (models.error != design.NEVER).sum()
    staying = "This model stays" if len(failed) == 1 else "These models stay"
    return (
        f"{len(failed)} of {erring} models that were taught an error did not learn it: {'; '.join(named)}. In "
        "brackets is the share of the copies to be misread that get the taught label; a model has learnt its error at "
        f"{rounded(trainings.LEARNT, 2)} or more. {staying} in the means below, because the plan has no "
        "rule that leaves a model out."
    )


# -------------------------------------------------------------------------------------------------------------- metrics
def by_safety(found: Safety) -> list[str]:
    """The metrics of one kind of input, the safest first."""
    return [name for _, name in sorted(zip(-found.estimate, found.metrics, strict=True))]


def of_error(safety: Mapping[str, Safety]) -> pd.DataFrame:
    """The safety of each metric with its interval, and its mean on each kind of error, by kind of input."""
    rows = []
    for modality, found in safety.items():
        errors = [show.error_in_words(error) for error in found.errors]
        for metric in by_safety(found):
            lowest, low, high = found.interval(metric)
            means = dict(zip(errors, found.by_error[:, found.metrics.index(metric)], strict=True))
            ends = {"lowest": lowest, "low": low, "high": high}
            rows.append({"modality": modality, "metric": metric, **ends, **means})
    return pd.DataFrame(rows)


def correlations_by_way(safety: Mapping[str, Safety], measured: Scores) -> pd.DataFrame:
    """The rank correlation of each metric by the direction of the error, with its interval; directions of no model of a
    kind of input are left out."""
    ranks = measured.frame[measured.frame.metric == RANK]
    rows = []
    for modality, found in safety.items():
        ways = set(ranks[ranks.modality == modality].whither)
        for metric in by_safety(found):
            row: dict[str, object] = {"modality": modality, "metric": metric}
            for way, words in WAYS.items():
                if way in ways:
                    mean = measured.mean(modality=modality, method=metric, metric=RANK, whither=way).ours
                    ends = mean.interval()
                    row |= {words: ends.estimate, f"{words}, low": ends.low, f"{words}, high": ends.high}
            rows.append(row)
    return pd.DataFrame(rows)


def means_of_models(ranks: pd.DataFrame) -> pd.DataFrame:
    """The mean rank correlation of each model and metric."""
    groups = ranks.groupby([*ABOUT, "method"], sort=False, observed=True)
    return groups.value.mean().rename("mean").reset_index()


def correlations_by_model(means: pd.DataFrame, models: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """The mean rank correlations with one row per model and one column per metric."""
    wide = means.pivot(index=["modality", "model"], columns="method", values="mean")[metrics].rename(columns=label)
    order = list(models[["modality", "model"]].itertuples(index=False, name=None))
    return wide.loc[order].reset_index()


# ------------------------------------------------------------------------------------------------------------ sentences
def models_and_inputs_in_words(ranks: pd.DataFrame, models: pd.DataFrame) -> str:
    """How many models and inputs of each kind there are."""
    words = []
    for modality, part in ranks.groupby("modality", sort=False):
        number = (models.modality == modality).sum()
        words.append(f"{KINDS[str(modality)]}: {number} models, {part.id.nunique()} inputs")
    return ", ".join(words)


def erring_models_in_words(ranks: pd.DataFrame) -> str:
    """How many models of each kind err, in which directions, and on how many inputs."""
    erring = ranks[ranks.whither != design.NOWHERE]
    words = []
    for modality, part in erring.groupby("modality", sort=False):
        third = part[part.whither == trainings.THIRD].model.nunique()
        number = part.model.nunique()
        ways = f" ({number - third} toward or away, {third} to a third class)" if third else ""
        words.append(f"{KINDS[str(modality)]}: {number} models{ways}, {part.id.nunique()} inputs")
    return "; ".join(words)


def spread_in_words(spread: pd.DataFrame, models: pd.DataFrame) -> str:
    """By how much a rank correlation changes between models that differ in one thing; `spread`: as `trainings.spread`
    has it."""
    sentences = []
    for modality in dict.fromkeys(models.modality):
        changes = []
        for row in spread[spread.modality == modality].to_dict("records") if len(spread) else []:
            thing = str(row["models differ in"])
            same = [name for name in (*ALIKE, "seed") if name != thing]
            sizes = models[models.modality == modality].groupby(same).size()
            counted = f"{row['pairs']} pairs of {sizes[sizes > 1].sum()} models"
            changes.append(f"by {rounded(row['difference'], 2)} with another {THINGS[thing]} ({counted})")
        kind = KINDS[str(modality)]
        if changes:
            sentences.append(
                f"On {kind} the rank correlation of two models of the same error changes, on average over pairs and "
                f"metrics, {joined(changes)}."
            )
        else:
            sentences.append(f"On {kind} no two models have the same error.")
    return " ".join(sentences)


def in_short(safety: Mapping[str, Safety], models: pd.DataFrame, choice: str, *, failed: Collection[str] = ()) -> str:
    """Whether the metric that the rule has chosen on the grid is first, or nearly so, on trained models; `failed`: the
    models that did not learn their error."""
    level = design.declared_plan()["choice"]["level"]
    sentences = []
    for modality, found in safety.items():
        first = by_safety(found)[0]
        of_choice = found.by_error[:, found.metrics.index(choice)]
        worst = found.errors[int(of_choice.argmin())]
        ahead = found.interval(choice, minus=[metric for metric in found.metrics if metric != choice])
        of_kind = models[models.modality == modality]
        number = of_kind.model.isin(list(failed)).sum()
        without = f", of which {number} did not learn its error" if number else ""
        sentences.append(
            f"On {KINDS[modality]} ({len(of_kind)} models{without}) its mean rank correlation is lowest "
            f"{_where(worst)}, {_with_ends(*found.interval(choice))}. Of the {len(found.metrics)} metrics "
            f"{label(first)} has the highest such minimum, {_with_ends(*found.interval(first))}. The choice minus the "
            f"best other metric is {_with_ends(*ahead)}: {_confirmed(*ahead, level=level)}."
        )
    return (
        f"For models that someone may have made to mislead, the grid of formulas chose {label(choice)}. "
        f"{' '.join(sentences)} The rule was declared before and looks at the estimate alone: the choice has to be "
        f"first or within {rounded(level, 2)} of the first."
    )


def _where(error: str) -> str:
    """Which models make a kind of error, for a sentence."""
    if error == design.NEVER:
        return "on the model that never errs"
    return f"on models that err at *{show.error_in_words(error)}*"


def _confirmed(point: float, low: float, high: float, *, level: float) -> str:
    """Whether the choice is confirmed, and what of the other answer the interval leaves possible."""
    if point >= -level:
        doubt = f", but the interval leaves {rounded(low, 2)} possible" if low < -level else ""
        return f"**this confirms the choice**{doubt}"
    doubt = f", but the interval leaves {rounded(high, 2)} possible" if high >= -level else ""
    return f"**this does not confirm the choice**{doubt}"


def _with_ends(point: float, low: float, high: float) -> str:
    return show.with_ends({"estimate": point, "low": low, "high": high})
