# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which scores may be compared across models?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %% tags=["remove-input"]
import pandas as pd

from faithbook.judge import published, sentences
from faithbook.judge.report import start_page
from faithbook.show.plots import Layout, dot_plot
from faithbook.show.tables import rounded
from faithbook.studies.safe import across_models, design

page = start_page("safe_models", profile, values=values, paper=published.OUR_OWN)
closed = page.measure("safe_compared", over=["family", "metric"], parts=["closed"], n_resamples=1)
released = page.measure("safe_compared", over=["dataset", "metric"], parts=["released"], n_resamples=1)
plan = design.plan()
REPLICATES = plan["intervals"]["replicates"]
of_scores = closed.frame[closed.frame.metric != "quality"]
families = {
    name: of_scores[of_scores.family == name] for name in across_models.FAMILIES if (of_scores.family == name).any()
}
spreads = pd.concat(
    [across_models.spread(part, replicates=REPLICATES).assign(family=name) for name, part in families.items()],
    ignore_index=True,
)
apart = across_models.random_apart(released.frame, replicates=REPLICATES)
FAMILIES = {
    "scale": "how far p falls",
    "size": "how many features are the truth",
    "structure": "additive, AND, OR",
    "error": "never errs, light, heavy",
}
TEXTS = {"sst2": "SST-2", "yelp": "Yelp"}
SCORES = {
    "aopc": "AOPC",
    "naopc": "NAOPC",
    "chance-adjusted naopc": "chance-adjusted NAOPC",
    "srg": "SRG",
    "srg over the range": "NSRG",
}
decided = spreads.pivot(index="metric", columns=["family", "method"], values="answer").loc[list(SCORES)]
clean = [name for name in SCORES if (decided.loc[name] == "yes").all()]
broken = [name for name in SCORES if (decided.loc[name] == "no").any()]


def named(scores):
    """Scores in words."""
    words = [SCORES[name] for name in scores]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]])) or "none of the five"


def ends(row):
    """How far apart models are, with its interval."""
    return f"{rounded(row['apart'], 2)} [{rounded(row['low'], 2)}, {rounded(row['high'], 2)}]"


sst = apart[apart.dataset == "sst2"].set_index("metric")


def in_short():
    """The result of this page in a sentence."""
    return (
        f"**Of five scores, {named(clean)} may be compared across models in every case that we tested; {named(broken)} may not.** "
        f"On the six released models random explanations of SST-2 sentences get from {rounded(sst.lowest['naopc'], 2)} to "
        f"{rounded(sst.highest['naopc'], 2)} by NAOPC, from {rounded(sst.lowest['chance-adjusted naopc'], 2)} to "
        f"{rounded(sst.highest['chance-adjusted naopc'], 2)} by chance-adjusted NAOPC and from "
        f"{rounded(sst.lowest['srg over the range'], 2)} to {rounded(sst.highest['srg over the range'], 2)} by NSRG, SRG over the range of limits "
        f"(n = {sst.n['naopc']} texts of the model with fewest)."
    )


page.in_short(in_short)

# %% [markdown]
# A score may be compared across models only if it says the same of an explainer that is equally good on each. On closed-form
# models of eight features we know when that is: the truth, the truth with noise, and noise alone get the same features and the
# same noise on every model. The models of a family differ in one thing. *Apart* is the range of the models' means, over the
# distance between the truth and noise alone; a quarter was declared as the limit (`data/safe_plan.toml`). Limits of AOPC and E, the
# mean over all orders, are exact.
#
# - **AOPC**: $p$ of the whole minus mean $p$ while the most relevant features go.
# - **NAOPC**: AOPC between its lowest and highest limit, 0 to 1.
# - **Chance-adjusted NAOPC**: (AOPC − E) / (upper limit − E), 0 for a random order. A text whose upper limit is E has no value.
# - **SRG**: AOPC with the most relevant first minus AOPC with the least relevant first {cite:p}`bluecher_2024`, 0 for a random order.
# - **NSRG**: SRG over the range of the limits.
#
# Of *the truth* a score over the limits is 1 wherever the truth reaches them, so that the first column favours such scores by
# construction. The other two columns are the test.
#
# ## Closed-form models

# %%
shown = spreads.assign(cell=[f"{ends(row)} {row['answer']}" for row in spreads.to_dict("records")])
rows = []
for (family, score), part in shown.groupby(["family", "metric"], sort=False):
    by_explainer = part.set_index("method").cell
    rows.append({"models differ in": FAMILIES[family], "score": SCORES[score], **by_explainer.to_dict()})
caption = (
    "How far apart models are that differ in one thing, over the distance between the truth and noise, with 95 % intervals over "
    f"{of_scores.id.nunique()} inputs; yes: at most {rounded(plan['comparing']['spread'], 2)}, the score may be compared"
)
page.listing(spreads, "safe_models_apart", caption=caption, wide=pd.DataFrame(rows))

# %%
drawn = spreads.assign(estimate=spreads.apart, panel=spreads.family.map(FAMILIES), row=spreads.metric.map(SCORES))
layout = Layout(panel="panel", series="method", mark=plan["comparing"]["spread"], width=8.5)
fig, alt = dot_plot(drawn[["panel", "method", "row", "estimate", "low", "high"]], "apart", layout=layout)
caption = (
    "How far apart the same explainer is on different models, over the distance between the truth and noise. Left of the dotted "
    "line the score may be compared."
)
page.figure(fig, "safe_models_plot", alt=alt, caption=caption)

# %% [markdown]
# ## Six released models
#
# Edin et al. {cite:p}`edin_2025` released what six models answer to every set of words of short SST-2 and Yelp sentences, and
# attributions. Of these only *random* is known to be equally good on all six, and a score that may be compared gives it the same
# mean on each.

# %%
table = pd.DataFrame(
    {
        "texts": apart.dataset.map(TEXTS),
        "score": apart.metric.map(SCORES),
        "lowest model": [rounded(x, 2) for x in apart.lowest],
        "highest model": [rounded(x, 2) for x in apart.highest],
        "apart": [ends(row) for row in apart.to_dict("records")],
        "n": apart.n,
    }
)
caption = (
    "Random explanations on six models: lowest and highest mean of a model, and how far these are apart with 95 % interval over "
    "texts; n of the model with fewest texts that have a value"
)
page.listing(apart, "safe_models_random", caption=caption, wide=table)

# %% [markdown]
# The other released attributions may be better on one model than on another, so that their differences say nothing against a
# score. The table has them for whoever wants to see what changes.

# %%
others = released.frame.groupby(["dataset", "method", "metric", "model"], observed=True).value.mean().unstack("model")
ranges = pd.DataFrame({"lowest": others.min(axis=1), "highest": others.max(axis=1)}).reset_index()
caption = "Lowest and highest mean over the six models, by attribution and score"
page.listing(ranges, "safe_models_methods", caption=caption)

# %%
numbers = {}
for row in apart.to_dict("records"):
    numbers[f"{row['dataset']}, {row['metric']}: lowest"] = row["lowest"]
    numbers[f"{row['dataset']}, {row['metric']}: highest"] = row["highest"]
page.run.save(sentences.values("safe_models", numbers), "quotable")
_ = page.run.save(spreads[["family", "metric", "method", "answer"]], "safe_comparable")

# %% [markdown]
# ## When to use which
#
# - **One model, several explanations of the same inputs**: AOPC or SRG will do; the others are rising functions of these on every
#   single input, and differ only by how inputs are weighted in a mean.
# - **Several models**: not AOPC, whose range is the model's; not NAOPC either where the question is how much better than chance an
#   explanation is. What is compared has to be centred at a random order *and* divided by a range.
# - **No score here corrects for what a model *does* on erased inputs.** A model that errs on them gets other limits, and
#   an explanation is then measured against these.
#
# **Limits.** Eight features, three explainers, one thing changed at a time; limits are exact here and a beam's elsewhere. That
# random explanations agree says that the zero is right, not that the scale between is. Intervals cover inputs, not models.

# %%
page.finish()
