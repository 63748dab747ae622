# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own metric or method on the bench
#
# This page tests metrics and methods on three hand-built models whose true explanation is known: one adds up its words, one responds to
# either of two words, one needs both. Does a metric separate the truth from random scores? Does it rank explanations by how true they
# are? Does a method find the truth? Each question is repeated under attacks. Nothing is downloaded or trained.
#
# - `metrics`, `methods`: names of the library, or files with your own (`mine.py`, `mine.py:name`), with commas between.
# - `inputs`: how many inputs of each model.
#
# In a terminal: `python -m faithlib bench examples/lone_loss.py`.

# %% tags=["parameters"]
profile = "laptop"
metrics = "aopc_morf, srg, soft_nc, saco, examples/lone_loss.py, examples/bold.py"
methods = "occlusion, lime, saliency, random, examples/lone_words.py"
inputs = 24

# %%
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import start_run
from faithbook.own.pages import parsed_names
from faithbook.paths import root
from faithbook.show.labels import label
from faithbook.show.tables import table
from faithlib.bench import ATTACKS, bench, faults_of
from faithlib.evaluation.own import is_file, method_in, metric_in
from faithlib.metrics.registry import Family

run = start_run("own_bench", profile=profile, metrics=metrics, methods=methods, inputs=inputs)
asked = [metric_in(str(root() / name)) if is_file(name) else name for name in parsed_names(metrics)]
explaining = [method_in(str(root() / name)) if is_file(name) else name for name in parsed_names(methods)]
faults = [fault for metric in asked if isinstance(metric, Family) for fault in faults_of(metric)]
run.note(faults=faults)
if faults:
    said = "\n".join(f"- **Wrong:** {fault}" for fault in faults)
else:
    said = "The checks of your own metrics found no error."
Markdown(said)

# %%
found = bench(asked, explaining, inputs=inputs)
run.save(pd.DataFrame(found), "own_bench")
kinds = found.assign(judged=[label(name) for name in found["judged"]])
of_metrics = kinds[~kinds["question"].str.startswith("finds")]
of_methods = kinds[kinds["question"].str.startswith("finds")]


# %% [markdown]
# ## Metrics
#
# *Separates*: how often the metric prefers the truth to random scores; one half by chance. *Tracks*: over explanations of one input,
# the rank correlation of the metric with how true they are; 1 at best, 0 by chance. *Rows*: forward passes for one attribution. The
# attacks change the model's output for erased inputs:

# %%
Markdown("\n".join(f"- *{attack.name}*: {attack.says}." for attack in ATTACKS))

# %%
if len(of_metrics):
    shown = of_metrics.summary().reset_index().rename(columns={"judged": "metric"})
    table(
        shown,
        run,
        "own_bench_metrics",
        caption="Metrics, plain and under attack: means with 95 % intervals over inputs",
    )

# %% [markdown]
# ## Methods
#
# *finds*: the rank correlation of a method's scores with the truth, mean over inputs.

# %%
if len(of_methods):
    shown = of_methods.summary().reset_index().rename(columns={"judged": "method"})
    table(
        shown,
        run,
        "own_bench_methods",
        caption="Methods, plain and under attack: means with 95 % intervals over inputs",
    )

# %% [markdown]
# A hand-built model is simpler than a trained one. A metric that passes here may still fail elsewhere; one that fails here fails an
# easy test.

# %%
run.provenance(n=int(found["n"].max()), note="hand-built models")

# %%
run.finish()
