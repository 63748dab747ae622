# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: metrics where the true explanation is known
#
# Five models of one modality. Two are hand-built (`faithbook.models.closed_form`): a linear one, in which every
# feature has its summand, and a detector of what was planted (`faithbook.sources.planted`), for which no erased input
# is off-distribution. Three are trained on planted data: one as usual, one on erased copies as well, and one that
# learns to predict something else if much is erased. Their true explanation of a whole input is what was planted,
# *if* they depend on it, which is checked first. Then every metric scores the true explanation, the same with a part
# of its scores shuffled, its opposite, and the scores of attribution methods.

# %% tags=["parameters"]
profile = "laptop"
modality = "text"
# Your choices: None is what the profile says.
inputs = None  # texts or images of each model, such as 20
draws = None  # masks per soft score
ig_steps = None  # points of the path of integrated gradients
lime_samples = None  # copies of an input for LIME
searched = None  # inputs of trained models whose bounds of AOPC are searched

# %%
import pandas as pd
import torch
from tqdm.auto import tqdm

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.models.load import load_model
from faithbook.studies.together import reasons
from faithlib.catalogue import FAITHFULNESS, FAMILIES
from faithlib.evaluation import MetricSettings, average_marked, evaluate
from faithlib.perturb import Perturber

run = start_run(
    "together_planted",
    profile=profile,
    modality=modality,
    inputs=inputs,
    draws=draws,
    ig_steps=ig_steps,
    lime_samples=lime_samples,
    searched=searched,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
trained = {name: load_model(spec) for name, spec in settings["models"].items()}
for classifier in trained.values():
    classifier.model.to(device)

# %% [markdown]
# ## Do the trained models depend on what was planted?
#
# Accuracy on texts or images as they are; where everything planted is erased, which share is answered with *neither*,
# as it should be. Where everything *but* that is erased, which share still gets its class. By each way to erase.

# %%
ERASURES = reasons.ERASURES[modality]


def planted_inputs(name, classifier):
    """Inputs of a sample of a planted data set's test split, what was planted, labels and ids."""
    inputs, *others = reasons.planted_inputs(modality, name, classifier, settings["checked"])
    return inputs.to(device), *others


detector = reasons.detector(modality, next(iter(trained.values())).tokenizer)
detector.model.to(device)
checked, right_about, whole = [], [], {}
for name, classifier in {"detector": detector, **trained}.items():
    inputs, marks, labels, ids = whole[name] = planted_inputs("planted", classifier)
    planted_rows = (labels > 0).nonzero()[:, 0]
    erased_inputs, _, erased_labels, _ = planted_inputs("planted-erased", classifier)
    on_erased = (Perturber(classifier.model, erased_inputs).predicted.cpu() == erased_labels).float().mean()
    right_about.append(Perturber(classifier.model, inputs).predicted.cpu() == labels)
    for erase in ERASURES:
        perturber = Perturber(classifier.model, inputs[planted_rows.tolist()], erase=erase)
        present, reason = perturber.feature_mask, marks[planted_rows][:, : perturber.feature_mask.shape[1]].to(device)
        answers = perturber.logits(torch.stack([present, present & ~reason, reason], dim=1)).argmax(dim=-1).cpu()
        checked.append(
            {
                "model": name,
                "erase": erase,
                "n": len(planted_rows),
                "accuracy": (answers[:, 0] == labels[planted_rows]).float().mean(),
            }
            | {"neither without": (answers[:, 1] == 0).float().mean()}
            | {"class with nothing else": (answers[:, 2] == labels[planted_rows]).float().mean()}
            | {"accuracy on erased copies": on_erased, "n erased": len(erased_labels)}
        )
run.save(
    pd.DataFrame(checked).map(lambda x: float(x) if torch.is_tensor(x) else x).assign(modality=modality),
    "together_reasons",
)

# %% [markdown]
# ## Metrics
#
# A metric $m$ follows the truth if it gives the true explanation $t$ more than any other: $m(t) > m(e)$ for the truth with a part
# of its scores shuffled, for its opposite $-t$, and for the scores of attribution methods. What is shown at the end is
# comprehensiveness, the drop without the $r_j$ of the highest scores, the top 1, 5, 10, 20 and 50 %:
#
# $$\tfrac15 \sum_{j=1}^{5} \bigl[ p(x) - p(x \setminus r_j) \bigr].$$
#
# On inputs with something planted about which every model is right; the linear models (opinions of film reviews, and
# which direction of stripes an image has more of) on any. The model that is trained as usual is also measured under
# a second way to erase. Bounds of AOPC take most rows, so NAOPC has the main way to erase alone, and of trained models
# fewer inputs where there are many features.

# %%
MAIN = ERASURES[0]
shared = {"draws": settings["draws"], "groups": settings["groups"], "beam": settings["beam"]}
BOUNDED, PLAUSIBLE = FAMILIES["naopc"].directions, FAMILIES["plausibility"].directions
tables = []


def measured(name, model, inputs, truth, gold, ids, erase):
    """All metrics of the truth, of what is made of it and of methods, one model under one way to erase."""
    everyone = list(range(len(inputs)))
    wanted = len(inputs) if name in reasons.CLOSED else settings["searched"]
    searched = wanted if erase == MAIN else 0
    explanations = reasons.ladder(truth, inputs)
    steps, samples = settings["ig_steps"], settings["lime_samples"]
    methods = reasons.methods(modality, name, ig_steps=steps, lime_samples=samples)
    unbounded = [m for m in FAITHFULNESS if m not in BOUNDED]
    for rows, metrics in ((everyone[:searched], FAITHFULNESS), (everyone[searched:], unbounded)):
        if not rows:
            continue
        part = inputs[rows]
        width = part.feature_mask.shape[1]  # of the longest among them
        explanations_of_rows = {key: what[rows, :width] for key, what in explanations.items()} | methods
        marks, size = None, None
        if gold is not None:
            marks, size = gold[rows, :width], average_marked(gold)
            metrics = [*metrics, *PLAUSIBLE]
        options = MetricSettings(erase=erase, gold_size=size, **shared)
        table = evaluate(model, part, methods=explanations_of_rows, metrics=metrics, gold=marks, settings=options)
        spent = table.attrs["costs"]
        run.count(rows_asked=spent["rows_asked"], rows_run=spent["rows_run"])
        table["input"] = [ids[rows[i]] for i in table["input"]]
        table.attrs.clear()
        tables.append(table.assign(model=name, erase=erase))


# %%
linear, inputs, truth, ids = reasons.linear(modality, settings["inputs"], detector, device=device)
measured("linear", linear, inputs, truth, None, ids, MAIN)

# %%
knowing = torch.stack(right_about).all(dim=0)
plan = {"detector": detector, **trained}
for name, classifier in tqdm(plan.items(), desc="models"):
    inputs, marks, labels, ids = whole[name]
    rows = ((labels > 0) & knowing).nonzero()[: settings["inputs"], 0].tolist()
    part = inputs[rows]
    gold = marks[rows][:, : part.feature_mask.shape[1]].to(device)
    for erase in ERASURES[: 2 if name == "trained" else 1]:
        measured(name, classifier.model, part, gold.float(), gold, [ids[i] for i in rows], erase)
values = pd.concat(tables, ignore_index=True)
run.save_units(as_units(values, seed=0, keys=["model", "erase"]))

# %%
run.note(n=len(rows), right=int(knowing.sum()), of=len(knowing), dtype="float32", device=device)
run.finish()

# %% [markdown]
# ## What was computed
#
# Comprehensiveness of each explanation by model: of the truth, of the truth with a part shuffled, of its opposite, and of attribution
# methods. *Book*: the full run's mean. `notebooks/report/together_planted_truth.py` with `values = "run"` compares all metrics.

# %%
beside_book(run, by=["model", "method"], metrics=["comprehensiveness_eraser"], where={"erase": ERASURES[0]})
