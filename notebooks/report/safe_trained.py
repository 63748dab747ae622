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
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.studies.safe import choice, trained_tables, trainings
from faithbook.studies.safe.trained_tables import RANK

page = start_page("safe_trained", profile, values=values, paper=published.OUR_OWN)
measured = page.measure("safe_planted", over=["modality", "model", "whither", "method", "metric"])
checked = page.measure("safe_planted", over=["modality", "model", "method"], parts=["checks"])
ranks = measured.frame[measured.frame.metric == RANK]
models = trained_tables.models_by_error(ranks)
safety = {modality: trainings.trained_safety(part) for modality, part in ranks.groupby("modality", sort=False)}
chosen = load("safe_chosen", profile)
main = choice.of_case(chosen, choice.ADVERSARIAL, choice.ANY).metric

# %% tags=["remove-input"]
page.in_short(lambda: trained_tables.in_short(safety, models, main, failed=trained_tables.not_learnt(models, checked)))

# %% [markdown]
# The models of the grid ({doc}`safe_map`) are formulas. Here are trained ones: text classifiers with planted trigger words and image
# classifiers with planted cells ({doc}`together_planted_truth`), taught to answer one label for copies of which a certain amount is
# erased. Where that label is one of the two classes, the error goes toward the explained class for inputs of that class, and away from the
# explained class for the others; where it is *neither*, it goes to a third class. Explanations are graded as in the grid, for a truth any member of which is
# enough. Safety is what it is in the grid: the lowest mean over the kinds of error, each the mean over its models.
#
# ## Which models

# %%
page.listing(
    trained_tables.model_counts(models),
    "safe_trained_counts",
    digits=0,
    caption="Trained models: when they err, the label that they were taught to answer, what they were trained from, and how many there are",
)

# %% tags=["remove-input"]
Markdown(trained_tables.of_what_was_declared(models))

# %% [markdown]
# ## Do the models err where they were taught to?
#
# A model is named after when it errs (`erased`: never; `light`: up to 20 % erased; `middle`: 20 to 50 %; `heavy`: over 50 %; `misled`:
# over 33 %), the label if that is *neither*, the encoder (`l3`: MiniLM with 3 layers, `base`: small ViT; without such a part: MiniLM with 6 layers),
# and its seed.

# %%
page.listing(
    trained_tables.checks(models, checked),
    "safe_trained_checks",
    digits=2,
    caption="Share of copies, with everything planted left in place, that get the label that the model was taught, by how much is erased; n "
    "inputs of another label, eight copies each; a model that never errs is asked about the first class",
)

# %% tags=["remove-input"]
Markdown(trained_tables.unlearnt(models, checked))

# %% [markdown]
# ## Metrics by kind of error

# %%
page.listing(
    trained_tables.of_error(safety),
    "safe_trained_metrics",
    digits=2,
    caption="Rank correlation with how true explanations are: the lowest mean over kinds of error with its 95 % interval over models and "
    f"inputs, and the mean of each kind of error; {trained_tables.models_and_inputs_in_words(ranks, models)}",
)

# %%
page.listing(
    trained_tables.correlations_by_way(safety, measured),
    "safe_trained_ways",
    digits=2,
    caption="Rank correlation by the direction of the error, means over models that were taught an error, also one that did not learn it, with 95 % intervals over inputs; "
    f"{trained_tables.erring_models_in_words(ranks)}; half of the inputs are of each class",
)

# %% [markdown]
# ## How much does another training differ?

# %% tags=["remove-input"]
means = trained_tables.means_of_models(ranks)
spread = trainings.spread(means)
Markdown(trained_tables.spread_in_words(spread, models))

# %%
page.listing(
    spread,
    "safe_trained_spread",
    digits=2,
    caption="Models of the same error that differ in one thing: how many pairs; absolute difference of their rank correlations, mean "
    "over pairs and metrics; the metric with the largest mean over pairs, and that mean",
    empty="No two models here differ in one thing alone.",
)

# %% [markdown]
# ## Each model

# %%
metrics = trained_tables.by_safety(next(iter(safety.values())))
page.listing(
    trained_tables.correlations_by_model(means, models, metrics),
    "safe_trained_models",
    digits=2,
    caption="Rank correlation with how true explanations are, by model; mean over inputs of both classes",
)

# %%
page.finish()
