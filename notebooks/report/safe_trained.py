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
from faithbook.show.tables import short
from faithbook.studies.safe import choice, design, show

page = start_page("safe_trained", profile, values=values, paper=published.OUR_OWN)
measured = page.measure("safe_planted", over=["modality", "model", "whither", "method", "metric"])
checked = page.measure("safe_planted", over=["modality", "model", "method"], parts=["checks"])
selected = load("safe_chosen", profile)
main = selected[(selected.erasure == choice.ADVERSARIAL) & (selected.reasons == choice.ANY)].iloc[-1].metric
RANK = "rank correlation"
LEVEL = design.plan()["choice"]["level"]
of_metric = measured.frame[measured.frame.metric == RANK]
cells = of_metric.groupby(["modality", "model", "method"], sort=False, observed=True).value.mean().unstack("method")
lowest = cells.groupby("modality").min()
ranked = {modality: row.sort_values(ascending=False) for modality, row in lowest.iterrows()}
said = []
for modality, row in ranked.items():
    first = row.index[0]
    confirmed = row[main] >= row.iloc[0] - LEVEL
    models = cells.loc[modality]
    said.append(
        f"{show.KINDS[modality]} ({len(models)} models): {label(main)} has {short(row[main])} as its lowest mean rank "
        f"correlation over models, {label(first)} {short(row.iloc[0])}; "
        + ("this confirms the choice" if confirmed else "this does not confirm the choice")
    )
Markdown("**" + "; ".join(said) + ".** The rule was declared before: the choice of the adversarial case has to be first or "
    f"within {short(LEVEL)} of the first.")  # fmt: skip

# %% [markdown]
# The models of the grid are formulas. Here are trained ones: text classifiers with planted trigger words and image classifiers
# with planted cells (study {doc}`together <../together/overview>`), taught to answer one class for copies of which a certain amount is
# erased. For inputs of that class the error goes toward the class, for the others away from it. Explanations are graded as in
# the grid, for a truth any member of which is enough.
#
# ## Do the models err where they were taught to?

# %%
rows = []
for modality, model in dict.fromkeys(zip(checked.frame.modality, checked.frame.model, strict=True)):
    row = {"modality": modality, "model": model}
    for amount in checked.levels("method"):
        row[f"{amount} erased"] = checked.mean(modality=modality, model=model, method=amount).ours.point
    row["n"] = checked.mean(modality=modality, model=model).ours.n
    rows.append(row)
caption = (
    "Share of copies of inputs of the other class, with everything planted left in place, that get the taught class, by how much "
    "is erased; n inputs, eight copies each"
)
page.listing(pd.DataFrame(rows), "safe_trained_checks", digits=2, caption=caption)

# %% [markdown]
# A model that errs where it was not taught to, or not where it was, is still a model that errs; the table says where.
#
# ## Metrics on each model

# %%
order = list(lowest.mean().sort_values(ascending=False).index)
wide = cells[order].rename(columns=label).reset_index()
caption = "Rank correlation with how true explanations are, by model; mean over inputs of both classes"
page.listing(wide, "safe_trained_models", digits=2, caption=caption)

# %%
rows = []
for modality, metric in ((m, name) for m in ranked for name in ranked[m].index):
    by_way = {
        way: measured.mean(modality=modality, method=metric, metric=RANK, whither=way) for way in ("toward", "away")
    }
    whole = measured.mean(modality=modality, method=metric, metric=RANK).ours.interval()
    rows.append(
        {
            "modality": modality,
            "metric": metric,
            "lowest over models": lowest.loc[modality, metric],
            "mean": whole.estimate,
            "low": whole.low,
            "high": whole.high,
            **{way: pair.ours.point for way, pair in by_way.items()},
        }
    )
caption = (
    "Rank correlation by metric: lowest mean of a model; mean over models with 95 % interval over inputs; mean over inputs of the "
    "class that errors go toward, and of the others"
)
page.listing(pd.DataFrame(rows), "safe_trained_metrics", digits=2, caption=caption)

# %%
declared = design.plan()["trained"]
counts = {modality: len(cells.loc[modality]) for modality in ranked}
Markdown(
    f"**A subset of what was declared.** The plan allows {declared['texts_at_most']} text and {declared['images_at_most']} image models, "
    f"with several seeds and two encoders. Measured are {counts.get('text', 0)} text and {counts.get('vision', 0)} image models, of one "
    "seed and one encoder each: a text model takes ten minutes of a core, and time was short. So nothing here says how much another "
    "training or another encoder would differ, and the intervals cover inputs alone. Planted reasons are one or two words or cells, any "
    "of which is enough: the trained part says nothing about AND or about spread reasons, and has errors by amount only."
)

# %%
page.finish()
