# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own metric
#
# A metric beside those of the library, in the questions of the last chapter: does it separate real attributions from
# random ones, also at equal mean importance, does it prefer the planted truth, and is it not worse on a model that
# erasure misleads? `python -m faithbook bench FILE` runs this page.
#
# - `what`: a file with one function, or `file.py:function`.
# - `modalities`: `text, vision`, or one of them.

# %% tags=["parameters"]
profile = "laptop"
what = "examples/lone_loss.py"
modalities = "text, vision"

# %%
import pandas as pd
from IPython.display import Markdown

from faithbook.bench import measure, tables
from faithbook.bench.checks import check_metric
from faithbook.bench.user_metric import find_metric
from faithbook.engine.run import start_run
from faithbook.own.pages import listed
from faithbook.show import figures
from faithbook.show.labels import label
from faithbook.show.plots import Layout, dot_plot
from faithbook.show.tables import table
from faithbook.together import reasons
from faithbook.together.advice import QUESTIONS

run = start_run("own_metric", profile=profile, what=what, modalities=modalities)
settings = run.settings
figures.theme()
metric = find_metric(what)
checked = check_metric(metric)
run.note(faults=checked.faults)
faults = "\n".join(f"- **Wrong:** {fault}" for fault in checked.faults) or "The checks found nothing wrong."
by_order = "" if checked.by_amount else "It uses the order of scores alone, so that it needs no control of amounts."
Markdown(f"**{metric.name}.** {metric.about} {by_order}\n\n{faults}")

# %%
values, planted, prices = [], [], {}
for modality in listed(modalities):
    subject = measure.real(modality, settings)
    values += [subject.values(metric), subject.controls(metric)]
    prices |= subject.prices(metric)
    for subject in measure.planted(modality, settings):
        ladder = reasons.ladder(subject.truth, subject.inputs)
        planted.append(subject.values(metric, ladder | subject.explanations))
made = tables.of_metric(metric, pd.concat(values), pd.concat(planted), prices, by_amount=checked.by_amount)


def dots(name, caption, *, chance):
    """Estimates with their intervals, one panel per modality; the own metric in another colour and another form."""
    frame = made[name].assign(series=[one if one == metric.name else "the others" for one in made[name]["metric"]])
    looks = {metric.name: (figures.PALETTE[1], "D"), "the others": (figures.PALETTE[0], "o")}
    names = {one: label(one) for one in frame["metric"]}
    layout = Layout(panel="modality", series="series", names=names, looks=looks, mark=chance, width=9.5)
    fig, alt = dot_plot(frame, caption, row="metric", layout=layout)
    return figures.save(fig, run, f"own_metric_{name}_plot", alt=alt, caption=caption)


# %% [markdown]
# ## The four questions

# %%
answers = made["answers"]
run.note(answers=answers.loc[answers["metric"] == metric.name, ["modality", *QUESTIONS, "n"]].to_dict("records"))
table(
    answers,
    run,
    "own_metric_answers",
    digits=2,
    caption="The four answers, the best metric first: yes and no are the answer of the rule `above` at its usual level; "
    "anything else is unsure, as is anything with fewer than ten inputs",
)

# %% [markdown]
# ## Does it separate real from random?
#
# How often each metric prefers a real attribution to random scores (ties count half). Inputs needed: to be sure (– if
# these do not separate); gain it would find: the smallest one over one half; model calls: for one attribution of one
# input.

# %%
table(made["diagnosticity"], run, "own_metric_diagnosticity", caption="How often real is preferred to random")

# %%
dots("diagnosticity", "How often real is preferred to random", chance=0.5)

# %%
table(
    made["amounts"],
    run,
    "own_metric_amounts",
    caption="At equal mean importance: how often a real attribution is preferred to itself shuffled, and to random "
    "scores if both are ranks",
)

# %% [markdown]
# ## Does it agree with the others?

# %%
table(
    made["agreement"],
    run,
    "own_metric_agreement",
    caption="How far it ranks methods as each other metric does: rank correlation over methods, mean over inputs",
)

# %%
dots("agreement", "Agreement with each other metric", chance=0.0)

# %% [markdown]
# ## Does it know the truth?

# %%
table(
    made["planted_truth"],
    run,
    "own_metric_planted_truth",
    caption="How often each metric prefers the planted truth to itself shuffled, by model",
)

# %%
table(
    made["follows_the_truth"],
    run,
    "own_metric_follows_the_truth",
    caption="Rank correlation, over explanations of one input, with how true they are (AUPRC), by model",
)

# %%
table(
    made["misled"],
    run,
    "own_metric_misled",
    caption="What is lost of that on the model that erasure misleads: trained minus misled",
)

# %% [markdown]
# One model of texts and one of images, and one model per condition with planted explanations: another training run may
# differ. Intervals cover the choice of inputs only. NAOPC is left out: its bounds cost more than all other metrics
# together.

# %%
run.provenance(n=int(made["diagnosticity"]["n"].max()), note=f"metric {what}")

# %%
run.finish()
