# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What does normalising change?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.judge.report import start_page
from faithbook.show.details import details
from faithbook.show.labels import label
from faithbook.studies.naopc import edin_bounds, edin_figures, edin_own_models
from faithbook.studies.naopc.edin_own_models import n_by_length, n_texts

page = start_page("naopc_bounds", profile, values=values, paper="edin_2025")
measured = page.measure(
    "naopc_models",
    parts=["", "bounds"],
    prepare=edin_bounds.of_models,
    over=["dataset", "length", "model", "method", "search", "metric"],
)
mean = page.quantity("metric")
models = edin_own_models.OwnModels.of(measured.frame, mean, page.run.settings["models"])
page.in_short(lambda: edin_own_models.rankings_in_short(models))

# %% [markdown]
# AOPC is the mean fall of the model's probability while words are removed one by one in the order of an explanation.
# {cite:t}`edin_2025` say that AOPC of two models cannot be compared. The largest AOPC that any order of removals reaches, the *upper
# bound*, differs between models, and so does the smallest, the *lower bound*. NAOPC rescales AOPC so that the lower bound
# becomes 0 and the upper bound 1 ({ref}`formulas <bounds>`). The paper's claims are judged on the authors' own files
# ({doc}`naopc_released_outputs`). This page repeats the measurements on models of ours, and judges one claim about adversarial
# training.
#
# - **Models.** Three encoders: MiniLM-3 and MiniLM-6 with three and six layers, and MPNet with twelve; an LSTM; and MiniLM-6 after
#   adversarial training (*adversarial MiniLM-6*). Only models that classified the same texts are compared; MPNet alone classified those
#   of SST-2.
# - **Removal.** Words are the features, a removed word becomes the mask token, and the score is the probability of the predicted class.
#   MoRF removes the most relevant word first (the paper's *comprehensiveness*; higher is better), LeRF the least relevant first (its
#   *sufficiency*; AOPC and NAOPC are better when lower).
# - **Texts.** The bounds of *short* texts, of at most twelve words, are exact. Those of *long* texts come from {term}`beam search`, which
#   may miss the best and the worst order, so the true range can be wider and NAOPC of long texts be off
#   ({ref}`by how much <naopc-exact>`).
# - **Data sets.** *BBC news* (*bbc* in the files to download) has news articles and stands for the paper's IMDB; *film reviews* (*movie*)
#   has sentences of reviews and stands for its SST-2; SST-2 itself (*SST* above, *sst* in the files) is the third. A news article can
#   give a short and a long text.

# %% [markdown]
# ## Bounds of each model
#
# The paper's abstract says that AOPC depends on the model. Each line of the figure is the range of AOPC of one model; NAOPC rescales
# it to 0 to 1.

# %%
bounds = edin_own_models.bounds(models)
fig, alt = edin_figures.ranges(bounds)
uppers = ", ".join(f"{label(name)} {mean('upper', model=name).ours.point:.2f}" for name in models.names)
page.figure(
    fig,
    "naopc_bounds_plot",
    alt=f"{alt} Mean upper bounds over data sets and lengths: {uppers}.",
    caption=f"The range that AOPC can have, from the mean lower to the mean upper bound (mark); {n_by_length(bounds)}.",
    data=bounds,
)

# %%
listing = page.listing(
    bounds,
    "naopc_bounds_models",
    caption=f"Mean bounds of AOPC, and the range between them, with 95 % intervals; {n_by_length(bounds)}",
    wide=edin_own_models.quantity_table(bounds, ["dataset", "length", "classifier"], "bound"),
)
details("The bounds in numbers", listing)

# %%
Markdown(edin_own_models.spread_of_bounds(models))

# %% [markdown]
# ## Rankings before and after normalising
#
# The abstract says that normalising can change results radically. The mean AOPC of each method on each model ranks the models within
# a method, and the methods within a model. The table compares these rankings with those by NAOPC: Kendall's tau is 1 if nothing changes
# and −1 if the ranking is reversed. Models are ranked by the methods that work on all of them; an LSTM has no attention maps. On SST-2
# one model alone has no ranking of models.

# %%
rankings = edin_own_models.ranking_agreements(models)
page.listing(
    rankings,
    "naopc_rankings",
    caption="Kendall's tau between the ranking by AOPC and that by NAOPC, with 95 % intervals. *Models*: ranked within a method, mean "
    "over methods; *methods*: ranked within a model, mean over models; *released*: the authors' files, mean over their data sets; "
    f"{n_by_length(rankings[rankings.n > 0])}. Bounds of short texts are exact, those of long texts a beam's",
    wide=edin_own_models.rankings_in_words(rankings),
)

# %%
Markdown(edin_own_models.removal_orders_in_words(models))

# %% [markdown]
# ## Does adversarial training improve faithfulness?
#
# A review page of the paper (a public summary, written by others) says that an adversarially trained model looks more faithful than the
# standard one under AOPC and less faithful under NAOPC. The released files have no such model. We trained one per data set, adversarial
# MiniLM-6, on texts whose embeddings were shifted so as to raise the loss.

# %%
pair = edin_own_models.adversarial_pair(models, measured.comparable())
Markdown(edin_own_models.adversarial_in_words(pair))

# %% [markdown]
# The figure checks that the training worked: under the same shift adversarial MiniLM-6 should keep more of its accuracy than MiniLM-6.

# %%
attacked = page.measure("naopc_models", parts=["robustness"], over=["dataset", "classifier", "radius"], bounds=(0, 1))
robustness = edin_own_models.accuracy_under_attack(models, attacked)
fig, alt = edin_figures.attacked(robustness, models.groups)
page.figure(
    fig,
    "naopc_robustness",
    alt=alt,
    caption="Accuracy when every embedding is shifted to raise the loss; *radius*: length of the shift as a share of the mean "
    f"length of an embedding. Bands: 95 % intervals, n = {robustness.n.min()} texts per data set. The other models are there for "
    "comparison.",
    data=robustness,
)

# %%
Markdown(edin_own_models.attack_in_words(robustness, pair))

# %% [markdown]
# The claim has two parts, one on AOPC and one on NAOPC (MoRF). Each compares adversarial MiniLM-6 with MiniLM-6 on the same short texts,
# averaged over attribution methods. From here on a difference above zero is what the claim says: of AOPC it is the adversarially
# trained model minus the standard one, of NAOPC the standard one minus the adversarially trained one. Intervals do not include
# differences between training runs.


# %%
differences = pair.differences() if pair else None
curve = page.multiverse("naopc_c06", ["texts", "method", "order of removal"], pair.variants()) if pair else None
tested = page.test({"naopc_c06": differences})
page.verdicts(tested)

# %%
page.plot(
    tested,
    "naopc_adversarial",
    caption="The two parts of the claim, with 95 % intervals; it needs both to be above zero.",
)

# %%
caption = (
    "The lower of the claim's two differences with other texts, single methods, and the other order of removal, with 95 % "
    "intervals; the claim needs it to be above zero."
)
page.curve(curve, "naopc_c06_curve", caption=caption) if curve else Markdown(edin_own_models.NO_PAIR)

# %% [markdown]
# ## Scores by method
#
# The review page says that a NAOPC of 0 means as bad as a random order. It means as bad as the *worst* order: random scores get more, as the
# last row of the figure shows. So compare each method with *random*. DecompX, one of the paper's ten methods, is left out, because it
# needs a forward pass rewritten for each architecture. The LSTM has no attention maps, so it has neither attention nor AttInGrad (attention
# times input × gradient); DeepLIFT has no rule for its cells.

# %%
scores = edin_own_models.scores_of_methods(models)
fig, alt = edin_figures.scores(scores, models.groups)
chance = mean("naopc_morf", method="random").ours.point
page.figure(
    fig,
    "naopc_methods_plot",
    alt=f"{alt} Random scores get a mean NAOPC of {chance:.2f}.",
    caption="The same explanations before (AOPC) and after normalising (NAOPC), MoRF, mean over data sets and over short and long texts, "
    f"with 95 % intervals; {n_texts(scores)}, those of the smallest set that a mean is over.",
    data=scores,
)

# %%
Markdown(edin_own_models.random_scores(models))

# %%
Markdown(edin_own_models.below_random(scores))

# %% [markdown]
# ## Sufficiency in two conventions
#
# ERASER's sufficiency {cite:p}`deyoung_2020` keeps a rationale and measures how far the probability falls; the paper's removes the least
# relevant words first. After $N-k$ such removals the top $k$ of $N$ words remain, so both are means over the same curve: ERASER takes
# five short rationales (1 to 50 % of the words), the paper every length. Do both rank methods alike?

# %%
conventions = edin_own_models.sufficiency_conventions(models)
Markdown(edin_own_models.conventions_in_short(conventions))

# %%
listing = page.listing(
    conventions,
    "naopc_conventions",
    caption="Sufficiency in the two conventions, mean over methods (lower is better), and Kendall's tau between their rankings of "
    "methods, with 95 % interval over n texts",
    wide=edin_own_models.conventions_in_words(conventions),
)
details("Sufficiency by model", listing)

# %% [markdown]
# (naopc-exact)=
# ## How exact is beam search?
#
# On short texts the exact bounds are known, and we compare two searches with them. *Released* is the authors'. *Merged* is ours: it counts
# equal sets of removed words as one entry and takes the best path over all visited sets. So from a width of 2 on its places hold more
# different sets, which costs more forward passes at the same width. A wider beam tries more orders. The *error* of a bound is how far the
# search falls short of it, and never below 0; the end of an interval can be, because it is computed from the mean and its standard error.

# %%
shares = page.measure(
    "naopc_models",
    parts=["bounds"],
    prepare=edin_bounds.of_shares,
    over=["dataset", "model", "search", "metric"],
    bounds=(0, 1),
)
searches = edin_own_models.search_errors(models, shares).astype(dict.fromkeys(edin_own_models.PASSES, int))
page.listing(
    searches,
    "naopc_beams",
    caption="Beam search against exact bounds on short texts: mean error with 95 % interval, share of texts with a larger error than "
    f"0.02, and mean forward passes per text, of which the exact search needs {mean('rows_exact').ours.point:,.0f}; "
    f"n = {mean('error_upper').ours.n} texts in the smallest set",
    digits=4,
    wide=edin_own_models.searches_in_words(searches),
)

# %%
Markdown(edin_own_models.published_width(searches, edin_own_models.mean_range(bounds, "short")))

# %% [markdown]
# On long texts the exact bounds are unknown. An {term}`error bound` limits how far the search can fall short of them.

# %%
certificates = edin_own_models.error_bounds(models)
Markdown(f"{edin_own_models.long_texts_in_words(certificates, bounds)} {edin_own_models.bounds_held(shares)}")

# %%
listing = page.listing(
    certificates,
    "naopc_certificates",
    caption=f"Error bound of the upper and of the lower bound on long texts, mean over texts, with 95 % intervals; {n_texts(certificates)}",
    wide=edin_own_models.quantity_table(certificates, ["dataset", "classifier"], "end"),
)
details("Error bounds by model", listing)

# %%
page.finish()
