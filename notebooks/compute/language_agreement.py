# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: does a contrast find the subject?
#
# Study 5, question 3, on small models. After "The keys near the cabinet" the verb is "are", and one word decides that: the
# subject. Yin & Neubig (2022) and Arras et al. (2025) explain such predictions by a contrast, log p(are) minus log p(is), instead
# of log p(are) alone. Which of the two puts the subject first more often, for which methods? The sentences are our own
# (`faithbook.sources.verb_number`), so that the truth is known without annotation.
#
# ## The rule, fixed on November 26, 2026, before any value was computed
#
# - *Counted* are the sentences whose right verb the model finds more probable than the wrong one.
# - The *subject is first* where its score is the only largest of the sentence's words.
# - For each method: d = share of subjects first under the contrast minus the share under log p of the verb alone, on the same
#   sentences; its 95 % t interval over subject-preposition-noun triples (each gives four sentences).
# - *Contrast finds the subject more often* for a method where the interval is above .05, *it does not* where it is below
#   .05, else it is undecided. A method that looks at no output has d = 0 and is left out.
# - The claim holds where this is so for more than half of the methods, is denied where it is denied for half or more of them,
#   and else is undecided. Below 300 counted sentences nothing is judged.

# %% tags=["parameters"]
profile = "laptop"
dataset = "agreement"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
sentences = None  # sentences, four of each triple
ig_steps = None  # points of the path of integrated gradients
permutations = None  # orders of the words for Shapley values

# %%
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.sources.verb_number import ARE, IS, SUBJECT, beginnings
from faithbook.studies.language.language import language_model, long_table
from faithlib.attribution import Row
from faithlib.backends import Continuation
from faithlib.evaluation import explain
from faithlib.perturb import Perturber, costs

run = start_run(
    "language_agreement",
    profile=profile,
    dataset=dataset,
    part=part,
    parts=parts,
    sentences=sentences,
    ig_steps=ig_steps,
    permutations=permutations,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
model, tokenizer = language_model("smollm2")
model.to(device)
data = beginnings(settings["sentences"])

# %% [markdown]
# ## What is explained
#
# The lead-in is protected: it is there so that the model's first token, which takes most attention whatever it is, is no
# feature. Right and wrong verb are one token each. Under p(verb) saliency, input x gradient and occlusion order words as
# under log p(verb), so p itself is not explained. Attention, rollout and random scores do not depend on the output:
# they are computed once.

# %%
OF_NO_OUTPUT = {
    "attention": Row("attention"),
    "rollout": Row("rollout"),
    "rollout without the first token": Row("rollout", options={"sink": "drop"}),
    "random": Row("random"),
}
OF_THE_OUTPUT = {
    "saliency": Row("saliency"),
    "input_x_gradient": Row("input_x_gradient", "sum"),
    "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
    "occlusion": Row("occlusion"),
    "shapley_sampling": Row("shapley_sampling", options={"n_samples": settings["permutations"], "seed": 0}),
}


def language_models(verb, wrong):
    """The same model, once for each number that is explained, and the methods that need it."""
    prompt = (model, tokenizer, settings["template"], verb)
    contrast, alone = Continuation(*prompt, against=wrong), Continuation(*prompt)
    return {
        "contrast": (contrast, OF_THE_OUTPUT),
        "log_probability": (alone, OF_THE_OUTPUT),
        "no output": (alone, OF_NO_OUTPUT),
    }


# %% [markdown]
# ## The two numbers that are explained, and what is counted
#
# After the beginning $x$, with $v$ the right verb and $w$ the wrong one, the contrast and the verb alone are
#
# $$f_\text{contrast}(x) = \log p(v \mid x) - \log p(w \mid x), \qquad f_\text{alone}(x) = \log p(v \mid x).$$
#
# With $a_i$ the scores of the words and $s$ the subject, counted is the share of sentences with
#
# $$a_s > \max_{i \neq s} a_i .$$
#
# The rule is about the difference of the two shares, on the same sentences.


# %%
def first(scores):
    """1 where the subject's score is the only largest, [B]."""
    others = scores.clone()
    others[:, SUBJECT] = -torch.inf
    return (scores[:, SUBJECT] > others.amax(dim=1)).double()


# %% [markdown]
# ## Block by block
#
# Sentences of one verb together: a block of triples has as many of each.

# %%
KEYS = ["explained", "misleads"]
for rows in run.blocks(len(data), settings["block"]):
    numbers = range(len(data))[rows]
    for verb, wrong in ((IS, ARE), (ARE, IS)):
        chosen = [i for i in numbers if data[i].verb == verb]
        if not chosen:
            continue
        triples = {str(i): str(i // 4) for i in chosen}
        for explained, (lm, methods) in language_models(verb, wrong).items():
            inputs = lm.inputs([data[i].text for i in chosen]).to(device)
            scores = explain(lm, inputs, methods)
            about = {"explained": explained, "misleads": [str(data[i].misleads) for i in chosen]}
            shares = {name: {"subject_first": first(of_method)} for name, of_method in scores.items()}
            shares = long_table(shares, chosen, **about)
            run.add_units(as_units(shares, seed=0, clusters=triples, keys=KEYS), "language_agreement")
            if methods is OF_NO_OUTPUT:
                continue
            perturber = Perturber(lm, inputs, check=False)
            outputs = long_table({"none": {"output": perturber.full}}, chosen, **about)
            run.add_units(as_units(outputs, seed=0, clusters=triples, keys=KEYS), "language_agreement_outputs")
            run.count(n=len(chosen) if explained == "contrast" else 0, **costs(perturber))

# %%
run.note(dtype="float32", device=device, model="SmolLM2-135M-Instruct, 4-bit dequantised")
run.finish()

# %% [markdown]
# ## What was computed
#
# Share of sentences in which a method puts the subject first, explaining the contrast or the verb alone. *Book*: the full
# run's mean. `notebooks/report/language_contrast.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, part="language_agreement", by=["explained", "method"])
