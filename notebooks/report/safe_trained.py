# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do trained models confirm the grid?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %% tags=["remove-input"]
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.tables import rounded
from faithbook.studies.safe import choice, design, show, trainings

RANK = "rank correlation"
LEVEL = design.plan()["choice"]["level"]
WAYS = {trainings.TOWARD: "toward the class", trainings.AWAY: "away from it", trainings.THIRD: "to a third class"}
ABOUT = ["modality", "error", "taught", "encoder", "seed", "model"]
page = start_page("safe_trained", profile, values=values, paper=published.OUR_OWN)
measured = page.measure("safe_planted", over=["modality", "model", "whither", "method", "metric"])
checked = page.measure("safe_planted", over=["modality", "model", "method"], parts=["checks"])
selected = load("safe_chosen", profile)
main = selected[(selected.erasure == choice.ADVERSARIAL) & (selected.reasons == choice.ANY)].iloc[-1].metric
ranks = measured.frame[measured.frame.metric == RANK]
models = ranks[ABOUT].drop_duplicates()
in_order = {kind: place for place, kind in enumerate(design.plan()["trained"]["errors"])}
models = models.assign(place=models.error.map(in_order)).sort_values(["modality", "place", "model"], ignore_index=True)
safety = {modality: trainings.safety(part) for modality, part in ranks.groupby("modality", sort=False)}


def with_ends(point, low, high):
    """A number with its interval."""
    return f"{rounded(point, 2)} [{rounded(low, 2)}, {rounded(high, 2)}]"


def by_safety(found):
    """The metrics of one kind of input, the safest first."""
    return [name for _, name in sorted(zip(-found.estimate, found.metrics, strict=True))]


sentences = []
for modality, found in safety.items():
    first = by_safety(found)[0]
    others = [name for name in found.metrics if name != main]
    ahead, low, high = found.interval(main, minus=others)
    answer = "this confirms the choice" if ahead >= -LEVEL else "this does not confirm the choice"
    count = len(models[models.modality == modality])
    sentences.append(
        f"{show.KINDS[modality]} ({count} models): {label(main)} has {with_ends(*found.interval(main))} as its lowest mean rank "
        f"correlation over kinds of error, {label(first)} {with_ends(*found.interval(first))}; the choice minus the best other is "
        f"{with_ends(ahead, low, high)}; {answer}"
    )


def in_short():
    """The result of this page in a sentence."""
    return (
        f"**{'; '.join(sentences)}.** The rule was declared before: the choice of the adversarial case has to be first or "
        f"within {rounded(LEVEL, 2)} of the first."
    )


page.in_short(in_short)

# %% [markdown]
# The models of the grid are formulas. Here are trained ones: text classifiers with planted trigger words and image classifiers
# with planted cells (study {doc}`together <../together/overview>`), taught to answer one label for copies of which a certain amount is
# erased. Where that label is one of the two classes, the error goes toward the class for inputs of that class and away from it for the
# others; where it is *neither*, it goes to a third class. Explanations are graded as in the grid, for a truth any member of which is
# enough. Safety is what it is in the grid: the lowest mean over the kinds of error, each the mean over its models.
#
# ## Which models

# %%
encoders = models.groupby("modality", sort=False).encoder.nunique()
seeds_of = models.groupby(["modality", "error", "taught", "encoder"], sort=False).seed.nunique()
repeated = seeds_of[seeds_of > 1]
counted = (
    models.groupby(["modality", "error", "taught", "encoder"], sort=False)
    .agg(models=("model", "size"), seeds=("seed", "nunique"))
    .reset_index()
)
counted["error"] = counted.error.map(show.error_in_words)
caption = "Trained models: when they err, the label that they were taught to answer, what they were trained from, and how many there are"
page.listing(counted, "safe_trained_counts", digits=0, caption=caption)

# %%
declared = design.plan()["trained"]
counts = models.modality.value_counts()
Markdown(
    f"**Of what was declared.** The plan allows {declared['texts_at_most']} text and {declared['images_at_most']} image models, several "
    f"seeds and two encoders. Measured are {counts.get('text', 0)} text and {counts.get('vision', 0)} image models. Text models stand on "
    f"{encoders.get('text', 0)} of {len(declared['encoders'])} encoders, image models on {encoders.get('vision', 0)}; "
    f"{len(repeated)} of {len(seeds_of)} kinds of model were trained from more than one seed, at most {seeds_of.max()}. A kind of error "
    "with one model adds nothing to an interval for another training. Planted reasons are one or two words or cells, any of which is "
    "enough: the trained part says nothing about AND or about spread reasons, and has errors by amount only."
)

# %% [markdown]
# ## Do the models err where they were taught to?

# %%
rows = []
for about in models.to_dict("records"):
    row = {"modality": about["modality"], "model": about["model"]}
    of_model = {"modality": about["modality"], "model": about["model"]}
    for amount in checked.levels("method"):
        row[f"{amount} erased"] = checked.mean(**of_model, method=amount).ours.point
    row["n"] = checked.mean(**of_model).ours.n
    rows.append(row)
caption = (
    "Share of copies, with everything planted left in place, that get the label that the model was taught, by how much is erased; n "
    "inputs of another label, eight copies each; a model that never errs is asked about the first class"
)
page.listing(pd.DataFrame(rows), "safe_trained_checks", digits=2, caption=caption)

# %%
unlearnt = []
for about in models[models.error != design.NEVER].to_dict("records"):
    of_model = {"modality": about["modality"], "model": about["model"]}
    shares = [checked.mean(**of_model, method=amount).ours.point for amount in trainings.TAUGHT_AT[about["error"]]]
    if min(shares) < trainings.LEARNT:
        unlearnt.append(f"{about['model']} ({', '.join(rounded(share, 2) for share in shares)})")
Markdown(
    f"{len(unlearnt)} of {(models.error != design.NEVER).sum()} models did not learn their error: {'; '.join(unlearnt)} of the copies that "
    "they were taught to misread get that label. They stay in the means below, as the plan has no rule that leaves a model out."
    if unlearnt
    else "Every model errs where it was taught to."
)

# %% [markdown]
# ## Metrics by kind of error

# %%
rows = []
for modality, found in safety.items():
    for name in by_safety(found):
        place = found.metrics.index(name)
        point, low, high = found.interval(name)
        of_error = dict(zip(map(show.error_in_words, found.errors), found.by_error[:, place], strict=True))
        rows.append({"modality": modality, "metric": name, "lowest": point, "low": low, "high": high, **of_error})
inputs = ranks.groupby("modality", sort=False).id.nunique()
sizes = ", ".join(f"{show.KINDS[m]}: {counts[m]} models, {n} inputs" for m, n in inputs.items())
caption = (
    "Rank correlation with how true explanations are: the lowest mean over kinds of error with its 95 % interval over models and "
    f"inputs, and the mean of each kind of error; {sizes}"
)
page.listing(pd.DataFrame(rows), "safe_trained_metrics", digits=2, caption=caption)

# %%
rows = []
for modality, found in safety.items():
    for name in by_safety(found):
        row = {"modality": modality, "metric": name}
        for way in WAYS:
            part = ranks[(ranks.modality == modality) & (ranks.whither == way)]
            if part.empty:
                continue
            way_words = WAYS[way]
            values = measured.mean(modality=modality, method=name, metric=RANK, whither=way).ours
            ends = values.interval()
            row |= {way_words: ends.estimate, f"{way_words}, low": ends.low, f"{way_words}, high": ends.high}
        rows.append(row)
caption = "Rank correlation by the way of the error, means over models that err, with 95 % intervals over inputs"
page.listing(pd.DataFrame(rows), "safe_trained_ways", digits=2, caption=caption)

# %% [markdown]
# ## How much does another training differ?

# %%
of_model = ranks.groupby([*ABOUT, "method"], sort=False, observed=True).value.mean().rename("mean").reset_index()
spread = trainings.spread(of_model)
page.listing(
    spread,
    "safe_trained_spread",
    digits=2,
    caption="Models of the same error that differ in one thing: how many pairs; absolute difference of their rank correlations, mean "
    "over pairs and metrics; the metric that differs most, and by how much",
    empty="No two models here differ in one thing alone.",
)  # fmt: skip

# %% [markdown]
# ## Each model

# %%
order = by_safety(next(iter(safety.values())))
cells = of_model.pivot(index=["modality", "model"], columns="method", values="mean")
wide = (
    cells[order]
    .rename(columns=label)
    .loc[list(models[["modality", "model"]].itertuples(index=False, name=None))]
    .reset_index()
)
caption = "Rank correlation with how true explanations are, by model; mean over inputs of both classes"
page.listing(wide, "safe_trained_models", digits=2, caption=caption)

# %%
page.finish()
