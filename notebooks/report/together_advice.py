# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metric should I use?
#
# One page for somebody with a model, a few attributions, and no time. Everything on it is drawn from the two pages
# before it, {doc}`together_diagnosticity` and {doc}`together_planted_truth`; where these are unsure, so is this one.
#
# A metric of faithfulness is asked three things here:
#
# 1. **Does it tell?** It prefers what real methods say to random scores, clearly more often than not.
# 2. **Is it right?** Where the reason was planted and the model trained as usual, it prefers the truth to itself shuffled.
# 3. **Is it hard to fool?** It follows the truth as well on a model that takes erased inputs for something else: *no* where
#    it clearly loses rank correlation with how true explanations are, *yes* where it clearly loses less than a tenth.
#
# For the first two, *yes* and *no* are whole intervals above and below one half. Anything else is *unsure*, as is anything
# with fewer than ten inputs.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from IPython.display import Markdown

from faithbook.engine.run import load, start_run
from faithbook.results import claims, figures, resampling, tables
from faithbook.results.labels import label
from faithlib.catalogue import FAITHFULNESS, FAMILIES

run = start_run("together_advice", profile=profile)
figures.theme()
telling = load("diagnosticity_of_metrics", profile).set_index(["modality", "metric"])
preferred = load("truth_preferred", profile).set_index(["modality", "model", "metric"])
tracking = load("truth_tracked", profile).set_index(["modality", "model", "metric"])
lost = load("truth_lost", profile).set_index(["modality", "metric"])
modalities = list(dict.fromkeys(telling.index.get_level_values("modality")))
ANSWERS = {claims.HOLDS: "yes", claims.FAILS: "no", claims.INCONCLUSIVE: "unsure"}
OF = {name: family for family, one in FAMILIES.items() for name in one.directions}


def answer(row):
    """Whether a share is above one half."""
    found = resampling.Interval(row.estimate - 0.5, row.low - 0.5, row.high - 0.5, int(row.n), int(row.n))
    return ANSWERS[claims.verdict(found)]


LITTLE = 0.1


def fooled(row):
    """Whether a metric loses little on the misled model."""
    if row.n < claims.FEWEST_UNITS:
        return "unsure"
    return "no" if row.low > 0 else "yes" if row.high < LITTLE else "unsure"


advice = pd.DataFrame(
    [
        {
            "modality": modality,
            "metric": metric,
            "tells": answer(telling.loc[modality, metric]),
            "is right": answer(preferred.loc[modality, "trained", metric]),
            "hard to fool": fooled(lost.loc[modality, metric]),
            "follows the truth": tracking.estimate[modality, "trained", metric],
            "inputs needed": telling["inputs needed"][modality, metric],
            "rows an input": telling["rows an input"][modality, metric],
        }
        for modality in modalities
        for metric in FAITHFULNESS
    ]
)
QUESTIONS = ["tells", "is right", "hard to fool"]
advice["yes"] = (advice[QUESTIONS] == "yes").sum(axis=1)
advice = advice.sort_values(["modality", "yes", "follows the truth"], ascending=[True, False, False], ignore_index=True)
tables.table(
    advice.drop(columns="yes"),
    run,
    "together_advice",
    digits=2,
    caption="Every metric of faithfulness: the three answers; rank correlation with how true explanations are (usual "
    "training); inputs needed to tell real from random; rows of the model for one attribution of one input",
)

# %%
CODES = {"no": 0, "unsure": 1, "yes": 2}
wide = advice.set_index(["metric", "modality"])[QUESTIONS].unstack("modality").reindex(list(FAITHFULNESS))
wide = wide.reindex(columns=[(q, m) for m in modalities for q in QUESTIONS])
fig, ax = plt.subplots(figsize=(8.5, 6))
sns.heatmap(
    wide.map(CODES.get).astype(float),
    annot=wide,
    fmt="",
    cmap=["#D55E00", "#EEEEEE", "#56B4E9"],
    vmin=0,
    vmax=2,
    cbar=False,
    linewidths=1,
    annot_kws={"size": 8, "color": "black"},
    xticklabels=[f"{question}\n({modality})" for question, modality in wide.columns],
    yticklabels=[label(name) for name in wide.index],
    ax=ax,
)
ax.set(xlabel="", ylabel="")
spoken = "; ".join(f"{label(name)} " + ", ".join(row) for name, row in zip(wide.index, wide.to_numpy(), strict=True))
figures.save(
    fig,
    run,
    "together_advice_plot",
    alt="Table of answers, a row a metric; columns "
    + ", ".join(f"{question} ({modality})" for question, modality in wide.columns)
    + f". {spoken}.",
    caption="The three answers for texts and pictures.",
)


# %% [markdown]
# ## In short


# %%
def best(modality, column=None):
    """The metrics with the most answers *yes* of a modality (or a yes to one question), best first."""
    part = advice[advice.modality == modality]
    part = part[part[column] == "yes"] if column else part[part.yes == part.yes.max()]
    return [label(name) for name in part.metric]


def cheapest(modality):
    """Of the metrics with the most answers *yes*, the one with fewest rows."""
    part = advice[(advice.modality == modality) & (advice.yes == advice.yes[advice.modality == modality].max())]
    row = part.loc[part["rows an input"].idxmin()]
    return f"{label(row.metric)} ({row['rows an input']:.0f} rows an input)"


lines = []
for modality in modalities:
    most = int(advice.yes[advice.modality == modality].max())
    no = advice[(advice.modality == modality) & (advice[QUESTIONS] == "no").any(axis=1)].metric
    lines.append(
        f"- **{modality}**: {most} of three times *yes*: {', '.join(best(modality))}; the cheapest of these is "
        f"{cheapest(modality)}. A clear *no* somewhere: {', '.join(label(name) for name in no) or 'none'}."
    )
both = [name for name in best(modalities[0]) if all(name in best(modality) for modality in modalities)]
lines.append(f"- **both**: {', '.join(both) or 'no metric leads in both'}.")
Markdown("\n".join(lines))

# %% [markdown]
# ## Before you trust a number
#
# 1. **Add floors.** Random scores of the same inputs, always; scores by length where features differ in length. A metric
#    that cannot tell your methods from these says nothing about them.
# 2. **Ask what erased inputs do to your model.** Feed it inputs with features erased at random. If its answers drift
#    towards one class, expect what the models misled by erasure show, and use a way to erase that the model knows, or
#    train it on erased copies.
# 3. **Take two families**, one that asks about a few top features and one that asks about the whole order. Metrics of one
#    family say the same thing twice ({doc}`together_agreement`).
# 4. **Count inputs before you rank methods**: telling a method from noise takes the number in the table, telling two good
#    methods apart takes many more.
# 5. **Do not read sufficiency and comprehensiveness without their direction**: both words mean opposite things in
#    different papers ({doc}`../foundations/metrics`).
# 6. **Shuffle.** Where a metric uses how high scores are (soft metrics, SaCo), compare an attribution with itself shuffled as
#    well: {doc}`together_diagnosticity` shows how much of a verdict can be density.
# 7. **Plausible is not faithful.** Agreement with people's marks answers another question.
#
# A metric can be right about planted reasons and wrong about yours: these are single words and cells, and yours may be
# combinations. {doc}`own_text_model` and {doc}`own_vision_model` run all metrics on your own model.

# %%
run.provenance(n=int(telling.n.min()))

# %%
run.finish()
