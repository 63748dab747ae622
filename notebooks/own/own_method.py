# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own attribution method
#
# A method beside those of the library: does it beat random scores, and itself shuffled, does it find what was planted,
# and is it not misled? `python -m faithbook bench --method FILE` runs this page.
#
# - `what`: a file with one function, or `file.py:function`.
# - `modalities`: `text, vision`, or one of them.

# %% tags=["parameters"]
profile = "laptop"
what = "examples/lone_words.py"
modalities = "text, vision"

# %%
import pandas as pd
from IPython.display import Markdown, display

from faithbook.bench import measure, tables
from faithbook.bench.checks import check_method
from faithbook.bench.user_metric import find_method
from faithbook.engine.run import start_run
from faithbook.own import pages
from faithbook.own.pages import listed
from faithbook.show import figures, numbers
from faithbook.show.tables import table
from faithbook.together.questions import answer, not_worse_misled
from faithlib.evaluation import shuffled
from faithlib.metrics import auprc, crosslingual_rho

run = start_run("own_method", profile=profile, what=what, modalities=modalities)
settings, kinds = run.settings, listed(modalities)
figures.theme()
method = find_method(what)
checked = check_method(method)
run.note(faults=checked.faults)
faults = "\n".join(f"- **Wrong:** {fault}" for fault in checked.faults) or "The checks found nothing wrong."
Markdown(f"**{method.name}.** {method.about}\n\n{faults}")

# %%
real = {kind: measure.real(kind, settings, method) for kind in kinds}
values = {kind: subject.values().rename(columns={"id": "input"}) for kind, subject in real.items()}
against_itself, alike, true = {}, [], []
for kind, subject in real.items():
    scores_of_method, mask = subject.explanations[method.name], subject.inputs.feature_mask
    both = {method.name: scores_of_method, "shuffled": shuffled(scores_of_method, subject.inputs)}
    against_itself[kind] = subject.values(None, both).rename(columns={"id": "input"})
    alike += [
        subject.tidy(name, "rho", crosslingual_rho(scores_of_method, scores, keep=mask)).assign(modality=kind)
        for name, scores in subject.explanations.items()
        if name != method.name
    ]
    for planted in measure.planted(kind, settings, method):
        mask = planted.inputs.feature_mask
        for name, scores in planted.explanations.items():
            gold, truth = planted.gold, planted.truth
            how = crosslingual_rho(scores, truth, keep=mask) if gold is None else auprc(scores, gold, mask)
            true.append(planted.tidy(name, "how true", how).assign(modality=kind, model=planted.name))
truths = measure.means(pd.concat(true), ["modality", "model", "method"], tables.CORRELATION)

# %% [markdown]
# ## In short
#
# Under how many metrics of faithfulness it is better or worse than random scores, and than itself shuffled, by the 95 %
# interval of the paired difference. Whether it finds what was planted: its AUPRC minus that of random scores, on the
# model that is trained as usual. Whether it is not misled: what it loses of its AUPRC where erasure misleads the model.
# With fewer than ten inputs everything is undecided.


# %%
def counted(frame, floor):
    """Metrics under which the own method is better and worse than a floor, of all."""
    row = pages.against_floor(frame, floor).set_index("method").loc[method.name]
    return f"{row.better} better, {row.worse} worse, {row.undecided} undecided"


rows = []
for kind in kinds:
    usual, misled = (truths[kind, model, method.name] for model in ("trained", "misled by erasure"))
    rows.append(
        {"modality": kind, "n": len(real[kind].ids)}
        | {"than random scores": counted(values[kind], pages.FLOOR)}
        | {"than itself shuffled": counted(against_itself[kind], "shuffled")}
        | {"finds what was planted": answer(usual - truths[kind, "trained", "random"])}
        | {"is not misled": not_worse_misled(usual - misled)}
    )
run.note(answers=rows)
table(pd.DataFrame(rows), run, "own_method_answers", caption=f"The answers about {method.name}")

# %% [markdown]
# ## Beside the other methods

# %%
for kind, frame in values.items():
    places, mean_ranks = pages.ranks(frame)
    fig, seen = pages.rank_figure(places, mean_ranks)
    caption = f"{kind.capitalize()}: ranks of the methods under each metric (1 is best), and their mean"
    display(figures.save(fig, run, f"own_method_ranks_{kind}", alt=seen, caption=caption))

# %%
table(
    pd.concat([pages.against_floor(frame).assign(modality=kind) for kind, frame in values.items()]),
    run,
    "own_method_against_random",
    caption="Under how many metrics of faithfulness a method is better or worse than random scores",
)

# %%
table(
    tables.best_first(numbers.listed(truths, ["modality", "model", "method"]), "model"),
    run,
    "own_method_how_true",
    caption="How true explanations are: AUPRC against what was planted; on the linear model rank correlation with its "
    "summands",
)

# %%
likeness = measure.means(pd.concat(alike), ["modality", "method"], tables.CORRELATION)
table(
    tables.best_first(numbers.listed(likeness, ["modality", "method"])),
    run,
    "own_method_alike",
    caption="Rank correlation of its scores with those of other methods, mean over inputs",
)

# %% [markdown]
# One model of texts and one of images, and one model per condition with planted explanations: another training run may
# differ. Intervals cover the choice of inputs only. NAOPC is left out: its bounds cost more than all other metrics
# together.

# %%
run.provenance(n=max(row["n"] for row in rows), note=f"method {what}")

# %%
run.finish()
