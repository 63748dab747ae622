# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Do metrics find the truth?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.judge.scores import Scores
from faithbook.show.details import details
from faithbook.show.numbers import listed
from faithbook.studies.together import planted_truth, questions
from faithbook.studies.together.planted_truth import CELL, at_main, number_of_inputs
from faithbook.studies.together.questions import RUNGS, SHUFFLED, by_cell

page = start_page("together_planted_truth", profile, values=values, paper=published.OUR_OWN)
# A claim of 495 parts is refuted by its lowest p-value times 495, which has to be small enough to count.
prefers = {"prepare": questions.preferred_truth, "bounds": (0, 1), "n_resamples": 19_999}
measured = page.measure("together_planted", over=CELL, **prefers)
followed = page.measure("together_planted", over=["asked", *CELL], prepare=questions.followed_truth, bounds=(-1, 1))
main = planted_truth.main_erasures(measured)
trained = planted_truth.trained_models(measured)

# %%
to_rungs = by_cell(measured, CELL, against=RUNGS)
rungs = at_main(to_rungs, main)
preferred = planted_truth.preferred_to_shuffled(rungs)
follows = at_main(by_cell(followed, CELL[:4], asked=questions.FOLLOWS, model=trained), main)
lost = planted_truth.rank_correlations_lost(follows)

# %% tags=["remove-input"]
page.in_short(lambda: planted_truth.in_short(preferred, lost))

# %% [markdown]
# The true explanation of a model is usually unknown, so papers compare metrics with one another. On this page it is known: some
# models are written by hand, others are trained on data whose class depends only on what was planted. **Texts**: trigger words (metals
# or fruits) at random places of film reviews; the class is *metal*, *fruit*, or *neither* if there is no trigger. **Small images**:
# cells of horizontal or vertical stripes on images of clothes; the classes are *horizontal*, *vertical* and
# *neither*. {ref}`The metrics <metric-table>` are those of the whole book.
#
# For each kind there are five models. Two are hand-built:
#
# - `linear` is a sum over features, with nothing planted: of word weights that rate films, or of the stripe contrast of each cell. The
#   true score of a feature is its summand.
# - `detector` depends only on whether something planted is there. True scores are 1 for what was planted, 0 for the rest.
#
# Three are small transformers, trained on planted data; their true scores are also 1 and 0:
#
# - `trained`: as models usually are.
# - `trained with erasure`: also on copies with erased features and the right label of what is left.
# - `misled by erasure`: also on erased copies with wrong labels. If more than a third was erased, the label is *metal*
#   (*horizontal*), whatever is left. On whole inputs it uses the same features as the others.
#
# **What n counts.** In the full run each model has 100 texts or images; those of `linear` are partly others than those of the rest. $n$ is
# lower where a metric is undefined: NS, NC and the soft metrics if the empty input is classified at least as confidently as the whole one.
# NAOPC of images has 24 inputs on trained models, because the search for its bounds takes thousands of forward passes per image.

# %% [markdown]
# ## Do the models use what was planted?
#
# If a model uses only what was planted, erasing it makes the prediction *neither*, and erasing everything else keeps the class. The
# table has the shares of test inputs for which this holds: of the first share the lowest over the ways to erase, of the second each way.
# The table is of this build's own run, so its inputs may be fewer than those of the other tables. (`linear` uses nothing planted and is
# not in it.)
#
# Words become the mask token (`mask`) or the padding token (`pad`), get an embedding of zeros (`zero`), or are deleted (`delete`).
# Cells become the mean colour of their image (`mean`), zero (`zero`), or blurred (`blur`). The last column is the accuracy on another
# sample: whole inputs and copies from which features were erased at random, labelled by what is left.

# %%
reasons = load("together_reasons", profile).drop(columns="run_id", errors="ignore")
page.listing(
    reasons,
    "together_reasons",
    digits=2,
    caption="Do models use what was planted? Shares of n test inputs, by the way to erase",
    wide=planted_truth.checks_in_words(reasons),
)

# %% tags=["remove-input"]
Markdown(planted_truth.usual_models(reasons))

# %% tags=["remove-input"]
Markdown(planted_truth.misled_models(reasons))

# %% [markdown]
# ## Is the truth preferred?
#
# A metric that measures faithfulness has to prefer the truth to the same scores shuffled. On each input it does (1), does not (0), or
# gives both the same value (one half). Chance is 0.50.

# %%
listed(to_rungs, CELL).to_csv(page.run.path("together_preferred.csv"), index=False)
fig, alt = planted_truth.truth_map(preferred)
erased = " and ".join(f"`{erasure}` ({questions.KINDS[modality]})" for modality, erasure in main.items())
page.figure(
    fig,
    "together_truth_map",
    alt=alt,
    caption="Share of inputs on which each metric (row) prefers the truth to the truth with all scores shuffled, on each model (column); "
    f"1 is best, 0.50 chance. Features are erased by {erased}; {number_of_inputs(preferred)} per cell",
)

# %% [markdown]
# The next table has the same shares, mean over metrics, also for a second way to erase on `trained`. NAOPC was not measured
# there, so that the rows `delete` and `blur` are means over two metrics fewer than the others. The file `together_preferred.csv` has
# other degraded versions of the truth too: a quarter or half of the scores shuffled, reversed scores (the *opposite*), and random ones.

# %%
WAY = ["modality", "model", "erase"]
ways = planted_truth.in_order(listed(by_cell(measured, WAY, against=[SHUFFLED]), WAY))
page.listing(
    ways,
    "together_by_erasure",
    digits=2,
    caption="Share of inputs on which the truth is preferred to the truth shuffled, mean over metrics, with 95 % interval; n: inputs of the metric "
    "with the fewest",
    wide=planted_truth.ways_in_words(ways),
)

# %% [markdown]
# ## How true are the explanations of methods?
#
# We measure it by the area under the precision-recall curve (AUPRC) of an explanation's scores against what was planted. It is 1 for the
# truth. Which methods come close depends on how the model was trained.

# %%
true = planted_truth.how_true(by_cell(followed, ["modality", "model", "against"], asked=questions.TRUE, model=trained))
page.listing(
    true,
    "together_how_true",
    digits=2,
    caption=f"How true explanations are: AUPRC against what was planted, with 95 % intervals; n = {true.n.min():.0f} inputs at least",
    wide=planted_truth.model_by_model(true, "method"),
)

# %% [markdown]
# ## Do metrics rank explanations by how true they are?
#
# On each input we take all explanations (methods, truth and degraded versions) and compute Spearman's rank correlation between a
# metric and AUPRC, with the metric oriented so that higher is better. This is the *rank correlation with the truth*, mean over inputs.

# %%
track = listed(follows, ["modality", "model", "metric"])
page.run.save(track, "truth_tracked")
page.listing(
    track,
    "together_tracking",
    digits=2,
    caption="Rank correlation of each metric with how true explanations are (AUPRC), mean over inputs, with 95 % intervals; "
    f"{number_of_inputs(track)}",
    wide=planted_truth.model_by_model(track, "metric"),
)

# %% tags=["remove-input"]
Markdown(planted_truth.best_on_usual(track))

# %%
page.overview(
    planted_truth.before_and_after(follows, lost),
    "together_overview",
    caption="Rank correlation of each metric with how true explanations are, on a model trained as usual and on one that misreads erased inputs "
    f"(*misled by erasure*), with 95 % intervals; {number_of_inputs(track)}.",
)

# %% [markdown]
# ## Answers
#
# The three questions are our own; the second and third were reworded after a first run was seen. In the second, a metric that rates an
# attribution method above the truth rewards something other than the true explanation. Two rules there allow for a draw, because true
# scores of 1 and 0 do not order the other features: a difference below 0.01 is a tie, which counts one half, and the truth has to be
# preferred on a share of inputs above 0.45. There is one model per condition, and another training run may differ.

# %%
tested = page.test(
    {
        "together_q5": planted_truth.truth_against_its_ruins(rungs),
        "together_q6": planted_truth.truth_against_methods(at_main(by_cell(measured, CELL, model=trained), main)),
        "together_q7": planted_truth.trained_minus_misled(lost),
    }
)
page.verdicts(tested)

# %%
fig, alt = planted_truth.losses_by_order(lost)
page.figure(
    fig,
    "together_lost_plot",
    alt=alt,
    caption="Rank correlation with the truth that is lost on the misled model (`trained` minus `misled by erasure`), with 95 % intervals, by the "
    "order in which a metric erases. Right of zero: it follows the truth less. "
    f"{number_of_inputs(planted_truth.losses(lost))}",
)

# %%
parts = page.parts(
    tested,
    "together_planted_parts",
    caption="Comparisons that contradict a claim on their own, with 95 % intervals; the file has all comparisons",
    answers=["no"],
)
details("Comparisons that contradict a claim", parts)

# %%
page.run.save(preferred, "truth_preferred")
losses = planted_truth.losses(lost)
page.run.save(losses, "truth_lost")
numbers = page.listing(
    losses.rename(columns={"answer": "not worse after misleading"}),
    "together_lost",
    digits=2,
    caption="Rank correlation with the truth that is lost on the misled model, with 95 % intervals (below zero: a gain). *Not worse*: *no* if "
    f"the loss is clearly above zero, else *yes* if it is clearly below 0.1; {number_of_inputs(losses)}",
    wide=planted_truth.loss_table(losses),
)
details("The losses in numbers", numbers)

# %% [markdown]
# **SRG**, AOPC with the most important features first (MoRF) minus AOPC with the least important first (LeRF), is the metric that
# {doc}`together_advice` recommends. It was not among the metrics of these claims; it follows from the two AOPC of each input:

# %%
# No claim rests on SRG: it is not among what the page measures.
srg = Scores.read(
    page.run,
    "together_planted",
    paper=published.OUR_OWN,
    over=["asked", *CELL],
    prepare=questions.srg_followed_truth,
    bounds=(-1, 1),
)
beside_others = planted_truth.srg_beside_others(srg, follows, main, trained)
page.listing(
    beside_others,
    "together_srg",
    digits=2,
    wide=planted_truth.srg_in_words(beside_others),
    caption="Rank correlation with the truth, mean over n inputs: SRG with its 95 % interval, the two AOPC, and the best other metric",
    empty="The two AOPC are not here.",
)

# %% tags=["remove-input"]
Markdown(planted_truth.why_not_the_best(beside_others))

# %% [markdown]
# ## How to read this
#
# - **This is an easy test.** One or two features out of a dozen, or of forty-nine, decide. Real reasons are spread over many
#   features that interact. Passing this test does not mean much; failing it does.
# - **The truth is about the label.** A model's *probability* may also depend on other features, and a method that orders them well
#   then beats true scores of 1 and 0.
# - **Two triggers.** If a text has two triggers, each is enough, and erasing one changes nothing. Methods that erase one feature at a
#   time then miss both.
# - **What is lost.** Metrics that erase few features use few misleading copies; metrics that erase nearly all features use mostly such
#   copies. Some metrics follow the truth *better* on the misled model; why, we do not know.
# - Intervals cover the choice of inputs, not of models, seeds or planted features.
#
# {doc}`language_bounds` repeats *Is the truth preferred?* on prompts of a language model in which one sentence has the answer.

# %%
page.finish()
