# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: bounds with sentences as features
#
# Study 5, question 4, on a small model. A prompt of eight sentences has 256 subsets: few enough to run them all. So the best
# and the worst order of removal are known, and so is how far from the worst to the best an attribution gets (NAOPC). Two
# measures that papers use for context attribution, LDS and the top-k drop (Cohen-Wang et al. 2024), are computed from the
# same 256 numbers. The prompts *facts-12* have twelve sentences and 4,096 subsets each; they came after the rules below
# were fixed, and judge nothing.
#
# ## The rules, fixed on November 27, 2026, before any value was computed
#
# - *lm_q4*: NAOPC of each method, most relevant sentence first, minus that of random scores, on each data set; margin .05.
# - *lm_q7*: on each prompt, the rank correlation over methods (without the random one) between AOPC and LDS, between AOPC and
#   the top-3 drop, and between LDS and the top-3 drop; alike: the mean over prompts is above .5 in all three, on each data
#   set; margin .05.
# - Intervals draw prompts. What a method says is not looked at before its scores are ranked: no prompt is left out.

# %% tags=["parameters"]
profile = "laptop"
dataset = "facts"
part = 1  # of `parts`: which share of the inputs
parts = 1
# Your choices: None is what the profile says.
prompts = None  # prompts, such as 6
ig_steps = None  # points of the path of integrated gradients
answer = None  # tokens of an answer, at most

# %%
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.sources.facts import TEMPLATES, sentence_prompts
from faithbook.studies.language.language import language_model, long_table
from faithlib.attribution import Row, attribute_rows
from faithlib.backends import Continuation
from faithlib.bounds import exact_bounds, naopc
from faithlib.evaluation import aopc_scores
from faithlib.evaluation.language import lds_scores, top_k_drop_scores
from faithlib.perturb import Perturber, costs

run = start_run(
    "language_sentences",
    profile=profile,
    dataset=dataset,
    part=part,
    parts=parts,
    prompts=prompts,
    ig_steps=ig_steps,
    answer=answer,
)
settings = run.settings
device = "cuda" if torch.cuda.is_available() else "cpu"
model, tokenizer = language_model(settings["model"])
model.to(device)
size = settings["sentences"]
data = sentence_prompts(dataset, settings["prompts"], sentences=size)

# %% [markdown]
# ## What is explained
#
# The log-probability of the answer: the right answer for facts, the model's own continuation for news, at most so
# many tokens. A sentence that is erased is deleted, as a source that is not in the context. Methods that erase get
# their answers from the same 256 rows.

# %%
METHODS = {
    "attention": Row("attention"),
    "rollout": Row("rollout"),
    "input_x_gradient": Row("input_x_gradient", "sum"),
    "integrated_gradients": Row("integrated_gradients", options={"n_steps": settings["ig_steps"]}),
    "lime": Row("lime", options={"n_samples": 64}),
    "occlusion": Row("occlusion"),
    "shapley_sampling": Row("shapley_sampling", options={"n_samples": 50}),
    "random": Row("random"),
}
asked = Continuation(model, tokenizer, TEMPLATES[dataset], max_new_tokens=settings["answer"])

# %% [markdown]
# ## The measures
#
# With $f(S)$ the output when the sentences $S$ stay, and $r$ an order of removal, the most relevant of $N$ sentences first,
#
# $$\text{AOPC}(r) = \frac1N \sum_{k=1}^{N} \bigl[ f(\text{all}) - f(\text{all without the first } k \text{ of } r) \bigr], \qquad
# \text{NAOPC}(r) = \frac{\text{AOPC}(r) - \text{lower}}{\text{upper} - \text{lower}},$$
#
# where the limits are AOPC's smallest and largest values over all orders. LDS asks whether scores add up over random sets
# $S_1, \dots, S_M$, and the top-k drop how much the output falls without the $k$ sentences of the highest scores:
#
# $$\text{LDS} = \mathrm{Spearman}_{m}\Bigl(\textstyle\sum_{i \in S_m} a_i,\ f(S_m)\Bigr), \qquad
# \text{top-}k\text{ drop} = f(\text{all}) - f(\text{all} \setminus \text{top } k).$$


# %%
def measures(perturber, bounds, scores, decides):
    """All metrics of one method, [B] each; `decides`: which sentence has the answer, -1 where nobody knows."""
    aopc = aopc_scores(perturber, scores)["aopc_morf"].double()
    drops = top_k_drop_scores(perturber, scores, sizes=[1, 3])
    first = torch.where(decides >= 0, (scores.argmax(dim=1) == decides).double(), torch.nan)
    return {
        "aopc_morf": aopc,
        "naopc_morf": naopc(aopc, bounds.lower, bounds.upper),
        "lds": lds_scores(perturber, scores),
        "top_1_drop": drops[:, 0],
        "top_3_drop": drops[:, 1],
        "decides_first": first,
    }


# %%
for rows in run.blocks(len(data), settings["block"]):
    chosen = data[rows]
    answers = None if chosen[0].answer is None else [prompt.answer for prompt in chosen]
    inputs = asked.inputs([prompt.text for prompt in chosen], unit="sentence", continuations=answers).to(device)
    if set(inputs.n_features.tolist()) != {size}:
        raise ValueError(f"{inputs.n_features.tolist()} sentences, expected {size} of each text")
    ids = [prompt.id for prompt in chosen]
    perturber = Perturber(asked, inputs, erase="delete")
    bounds = exact_bounds(perturber)
    scores, _ = attribute_rows(list(METHODS.values()), asked, inputs, perturber=perturber)
    decides = torch.tensor(
        [-1 if prompt.decides is None else prompt.decides for prompt in chosen], device=perturber.device
    )
    values = {
        name: measures(perturber, bounds, scores[row.name].to(perturber.device), decides)
        for name, row in METHODS.items()
    }
    run.add_units(as_units(long_table(values, ids), seed=0))
    ends = {"lower": bounds.lower, "upper": bounds.upper, "full": perturber.full, "empty": perturber.empty}
    run.add_units(as_units(long_table({"none": ends}, ids), seed=0), "ends")
    run.count(n=len(ids), **costs(perturber))

# %%
run.note(dtype="float32", device=device, model="SmolLM2-135M-Instruct, 4-bit dequantised")
run.finish()

# %% [markdown]
# ## What was computed
#
# Measures by method: where the sentence that has the answer comes first, how much the answer falls, and how well scores add
# up. *Book*: the full run's mean. `notebooks/report/language_bounds.py` with `values = "run"` makes its tables of this.

# %%
beside_book(run, metrics=["naopc_morf", "lds", "top_1_drop", "decides_first"])
