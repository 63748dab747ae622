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
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.judge.scores import Scores
from faithbook.show import hover
from faithbook.show.labels import label
from faithbook.show.numbers import listed, row_of
from faithbook.show.plots import Layout, dot_plot
from faithbook.studies.together import questions
from faithbook.studies.together.questions import RUNGS, SHUFFLED, answer, by_cell
from faithlib.catalogue import FAITHFULNESS

KINDS = {"text": "texts", "vision": "small images"}
page = start_page("together_planted_truth", profile, values=values, paper=published.OUR_OWN)
CELLS = ["modality", "model", "erase", "metric", "against"]
# A claim of 495 parts is refuted by its lowest p-value times 495, which has to be small enough to count.
more = {"bounds": (0, 1), "n_resamples": 19_999}
measured = page.measure("together_planted", over=CELLS, prepare=questions.preferred_truth, **more)
followed = page.measure("together_planted", over=["asked", *CELLS], prepare=questions.followed_truth, bounds=(-1, 1))
modalities, models = measured.levels("modality"), measured.levels("model")
KNOWN = ["linear", "detector"]
TRAINED = [name for name in models if name not in KNOWN]
metrics = [name for name in FAITHFULNESS if name in set(measured.levels("metric"))]
# The main way to erase is the one under which every model was asked; the model trained as usual has a second.
ways_of = measured.frame.groupby(["modality", "erase"]).model.nunique()
MAIN = {modality: ways_of[modality].idxmax() for modality in modalities}
to_rungs = by_cell(measured, CELLS, against=RUNGS)
preferred = listed(to_rungs, CELLS)
main = preferred.erase == preferred.modality.map(MAIN)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    among = preferred[main & (preferred.against == SHUFFLED) & preferred.metric.isin(metrics)]
    shuffled = [
        (modality, part[part.model.isin(KNOWN)], part[part.model.str.startswith("misled")])
        for modality, part in among.groupby("modality", sort=False)
    ]
    return (
        "How often a metric prefers the planted truth to the truth with all scores shuffled, from the worst to the best metric: "
        + "; ".join(
            f"{part.estimate.min():.2f} to {part.estimate.max():.2f} on the hand-built models of {KINDS[modality]} "
            f"(n = {part.n.min():.0f} at least), {on_misled.estimate.min():.2f} to {on_misled.estimate.max():.2f} on the one that erasure "
            "misleads"
            for modality, part, on_misled in shuffled
        )
        + "."
    )


page.in_short(in_short)

# %% [markdown]
# The true explanation of a model is usually unknown, so papers compare metrics with one another. On this page it is known.
# **Planted texts**: trigger words (metals, fruits) at random places of film reviews; the class is that of the
# trigger, or *neither*. **Planted images**: cells of horizontal or vertical stripes on images of clothes.
#
# Five models of each kind:
#
# - `linear`, in closed form, where nothing planted decides: for texts a sum of word weights that rates films; for images the
#   summed stripe contrast of the cells of 4 × 4 pixels. Every feature has its own summand, which is its true score. The next
#   table is about what was planted and leaves this model out.
# - `detector`, in closed form: its output depends only on whether something planted is there. True scores are 1 for what was
#   planted, 0 for the rest.
# - `trained`: a small transformer, trained on planted data as models usually are.
# - `trained with erasure`: the same, also trained on copies with erased features, so that these are in distribution.
# - `misled by erasure`: trained on erased copies with wrong labels: if more than a third was erased the label is *metal*
#   (*horizontal*), whatever is left. It learnt this for the kinds of erasure that it was trained on (masked or deleted words, cells
#   at one colour) and for those like them; with others, such as padding and blur in the next table, it mostly keeps its class.
#   On whole inputs it uses the same features as the others. Such a model is the worst case
#   of erasure out of distribution.
#
# A metric that measures faithfulness has to prefer the truth to the truth with its scores shuffled, and to its opposite.

# %% [markdown]
# ## Do the models use what was planted?
#
# On test inputs with something planted, under each way to erase: accuracy; the share that becomes *neither* when all that
# was planted is erased; the share that keeps its class when everything else is erased. A model may be right on whole inputs
# and yet treat erased ones differently: this is what *out of distribution* means here. The last column is accuracy on
# copies erased at random as for training, whatever the row says, since they are made once per model.

# %%
reasons = load("together_reasons", profile).drop(columns="run_id", errors="ignore")
caption = "Whether models depend on what was planted, by the way to erase; n test inputs"
page.listing(reasons, "together_reasons", digits=2, caption=caption)

# %%
usual = reasons[reasons.model == "trained"]
worst = usual.loc[usual["neither without"].idxmin()]
lost = usual.loc[usual["class with nothing else"].idxmin()]
Markdown(
    f"Usual training leaves models that are right about whole inputs ({usual.accuracy.min():.2f} at least). Erasing "
    f"what was planted makes a share of {worst['neither without']:.2f} of the predictions *neither* "
    f"(the lowest of the table's rows of this model, {worst.modality}, n = {worst.n}); erasing everything else leaves the class of a "
    f"share of {lost['class with nothing else']:.2f} (the lowest, {lost.modality}, n = {lost.n})."
)

# %% [markdown]
# ## Is the truth preferred?
#
# On each input a metric prefers the truth to another explanation (1), does not (0), or gives both the same value (one
# half). The degraded versions are the truth with a quarter, half or all of its scores shuffled, its opposite, and random scores.
# If few features are planted, shuffling a quarter often moves none of them, and no version can be preferred.

# %%
preferred.to_csv(page.run.path("together_preferred.csv"), index=False)
shares = preferred[main & (preferred.against == SHUFFLED)]
shares = shares.pivot_table(index="metric", columns=["modality", "model"], values="estimate", sort=False)
shares = shares.reindex(metrics)
columns = [f"{modality}: {model}" for modality, model in shares.columns]
fig, ax = plt.subplots(figsize=(8.5, 6))
sns.heatmap(
    shares, vmin=0, vmax=1, center=0.5, cmap="PuOr_r", annot=True, fmt=".2f", annot_kws={"size": 8}, ax=ax,
    cbar_kws={"label": "prefers the truth to itself shuffled"}, xticklabels=columns,
    yticklabels=[label(name) for name in shares.index],
)  # fmt: skip
hover.say_cells(ax, shares, [label(name) for name in shares.index], columns)
ax.set(xlabel="", ylabel="")
ax.set_xticklabels(columns, rotation=30, ha="right")
spoken = "; ".join(f"{label(name)} " + ", ".join(f"{x:.2f}" for x in row) for name, *row in shares.itertuples())
erased = " and ".join(f"{how} ({kind})" for kind, how in MAIN.items())
page.figure(
    fig,
    "together_truth_map",
    alt="Heat map of how often each metric prefers the truth to the truth with all scores shuffled, by model: "
    f"{', '.join(columns)}. {spoken}.",
    caption="Share of inputs on which each metric prefers the truth to itself with all scores shuffled (ties: one half). "
    f"Features are erased by {erased}; `together_preferred.csv` has every degraded version with intervals and n.",
)

# %% [markdown]
# Another way to erase could change the result. This table has the metrics that were computed under each:

# %%
ways = by_cell(measured, ["modality", "model", "erase"], against=[SHUFFLED])
caption = "How often the truth is preferred to itself shuffled, mean over metrics, by the way to erase; n of the smallest cell"
page.listing(listed(ways, ["modality", "model", "erase"]), "together_by_erasure", digits=2, caption=caption)

# %% [markdown]
# ## Does any method beat the truth?
#
# A metric that rates an attribution method higher than the truth rewards something other than the true explanation. We count
# as above, per input and method, because NS and NC divide by a number that may be close to zero, so that a single input can
# dominate their means. Differences below .01 are ties: true scores of 1 and 0 do not order the other features, and ordering
# them well gains a little. How true a method is, we measure by the AUPRC of its scores against what was planted.

# %%
how_true = by_cell(followed, ["modality", "model", "against"], asked=questions.TRUE, model=TRAINED)
true = listed(how_true, ["modality", "model", "method"])
true = true.sort_values(["modality", "model", "estimate"], ascending=[True, True, False])
caption = "How true explanations are: AUPRC against what was planted, with 95 % intervals over n inputs"
page.listing(true, "together_how_true", digits=2, caption=caption)

# %% [markdown]
# **Do metrics rank explanations by how true they are?** On each input, Spearman's rank correlation over all explanations
# (methods, truth and degraded versions) between a metric and AUPRC; mean over inputs.

# %%
FOLLOWING = ["modality", "model", "metric"]
follows = {
    (modality, model, metric): pair
    for (modality, model, erase, metric), pair in by_cell(
        followed, ["modality", "model", "erase", "metric"], asked=questions.FOLLOWS, model=TRAINED
    ).items()
    if erase == MAIN[modality]
}
track = listed(follows, FOLLOWING)
page.run.save(track, "truth_tracked")
caption = "Rank correlation of each metric with how true explanations are (AUPRC), mean over n inputs, 95 % intervals"
page.listing(track, "together_tracking", digits=2, caption=caption)


# %%
before_after = listed(
    {
        (modality, model, label(m)): follows[modality, model, m]
        for modality in modalities
        for model in ("trained", "misled by erasure")
        for m in metrics
        if {(modality, "trained", m), (modality, "misled by erasure", m)} <= set(follows)
    },
    ["panel", "series", "row"],
)
caption = "Rank correlation of each metric with how true explanations are, before and after a model is misled by erased inputs."
page.overview(
    dot_plot(before_after, "rank correlation with the truth", layout=Layout(panel="panel", series="series", mark=0.0)),
    "together_overview",
    caption=caption,
)

# %% [markdown]
# ## Answers
#
# There is one model per condition: statements on *trained* or *misled* models are about these, and another training run of the
# same kind may differ. The second and third question were reworded after a first run was seen, and their rules say so. A claim
# about every metric has the n of the metric with the fewest inputs, which on trained image models is NAOPC; the part named
# beside it may rest on more, as the table of parts says.

# %%
q5 = {
    f"{label(metric)}, {modality}, {model}, truth against {rung}": pair
    for (modality, model, erase, metric, rung), pair in to_rungs.items()
    if model in KNOWN and rung in (SHUFFLED, questions.OPPOSITE) and erase == MAIN[modality]
}
q6 = {
    f"{label(metric)}, {modality}, {model}, truth against {label(method)}": pair
    for (modality, model, erase, metric, method), pair in by_cell(measured, CELLS, model=TRAINED).items()
    if method not in RUNGS and erase == MAIN[modality]
}
lost = {
    (modality, metric): pair - follows[modality, "misled by erasure", metric]
    for (modality, model, metric), pair in follows.items()
    if model == "trained" and (modality, "misled by erasure", metric) in follows
}
claims = {
    "together_q5": q5,
    "together_q6": q6,
    "together_q7": {f"{label(m)}, {modality}: trained minus misled": pair for (modality, m), pair in lost.items()},
}
tested = page.test(claims)
page.verdicts(tested)

# %%
ORDERS = {questions.TOP_FIRST: "most important first", questions.BOTTOM_FIRST: "least important first"}


def order_of(metric):
    """In which order a metric erases."""
    return next((words for names, words in ORDERS.items() if metric in names), "neither order, or both")


drawn = listed(lost, ["panel", "row"]).sort_values(["panel", "estimate"], ascending=[True, False])
drawn["series"] = [order_of(metric) for metric in drawn.row]
drawn = drawn.sort_values("estimate", ascending=False).assign(row=drawn.row.map(label), panel=drawn.panel.map(KINDS))
looks = {"most important first": ("#0072B2", "o"), "least important first": ("#D55E00", "D"), "neither order, or both": ("#666666", "s")}  # fmt: skip
caption = (
    "What is lost where erasure misleads: rank correlation with how true explanations are, on the model trained as usual minus on the "
    "misled one, by the order in which a metric erases. Right of zero: it follows the truth less."
)
fig, alt = dot_plot(
    drawn, "rank correlation lost", layout=Layout(panel="panel", series="series", looks=looks, mark=0.0)
)
page.figure(fig, "together_lost_plot", alt=alt, caption=caption)

# %%
caption = "Parts of the answers that say no on their own, with 95 % intervals; the file has all of them"
page.parts(tested, "together_planted_parts", caption=caption, answers=["no"])

# %%
known = {key: pair for key, pair in to_rungs.items() if key[2] == MAIN[key[0]] and key[4] == SHUFFLED}
right = listed({(modality, model, metric): pair for (modality, model, _, metric, _), pair in known.items()}, FOLLOWING)
page.run.save(right.assign(answer=[answer(pair.ours, 0.5, test="score") for pair in known.values()]), "truth_preferred")
lost_table = listed(lost, ["modality", "metric"]).assign(
    answer=[questions.not_worse_misled(pair.ours) for pair in lost.values()]
)
page.run.save(lost_table, "truth_lost")
page.listing(
    lost_table.rename(columns={"answer": "not worse after misleading"}),
    "together_lost",
    digits=2,
    caption="Rank correlation with how true explanations are: on the model trained as usual minus on the misled one, with 95 % "
    "interval over n inputs; not worse after misleading: no where some is clearly lost, else yes where clearly less than "
    ".1 is",
)

# %% [markdown]
# **SRG**, the area between the two AOPC curves ({doc}`safe_map`), follows from the two AOPC of each input and needs no further row of a
# model. It belongs to no claim of this page. Beside it are the two AOPC and the best metric on each model:

# %%
BOTH_ENDS = ("aopc_morf", "aopc_lerf")


def srg_beside_others():
    """SRG on each trained model, beside the two AOPC and the best metric."""
    asked = {"over": ["asked", *CELLS], "prepare": questions.srg_followed_truth, "bounds": (-1, 1)}
    srg = Scores.read(page.run, "together_planted", paper=published.OUR_OWN, **asked)  # no claim rests on it
    cells, found = set(followed.frame[["asked", *CELLS[:-1]]].itertuples(index=False, name=None)), []
    for kind, network in ((kind, network) for kind in modalities for network in TRAINED):
        of_model = {"modality": kind, "model": network, "erase": MAIN[kind], "asked": questions.FOLLOWS}
        of_metric = {
            name: followed.mean(**of_model, metric=name).ours.point
            for name in metrics
            if (questions.FOLLOWS, kind, network, MAIN[kind], name) in cells
        }
        leading = max(of_metric, key=of_metric.get)
        entry = {"modality": kind, "model": network}
        entry |= row_of(srg.mean(**of_model, metric="srg"), "SRG", "low", "high")
        entry |= {label(name): of_metric[name] for name in BOTH_ENDS}
        found.append(entry | {"best": label(leading), "its value": of_metric[leading]})
    return pd.DataFrame(found)


page.listing(
    srg_beside_others() if set(BOTH_ENDS) <= set(metrics) else pd.DataFrame(),
    "together_srg",
    digits=2,
    caption="Rank correlation with how true explanations are: SRG with its 95 % interval over n inputs, the two AOPC, the best metric",
    empty="The two AOPC are not here.",
)

# %% [markdown]
# **Language models** have tasks with a known truth that nobody planted: {doc}`language_bounds` repeats *Is the truth preferred?*
# on prompts in which one sentence has the answer.
#
# **How to read it.** A planted explanation is an easy case: one or two features out of a dozen or of forty-nine decide. Real
# reasons are spread over many features that interact. A metric that fails here fails an easy test, and passing it is not much.
# Scores of 1 and 0 are the whole truth about the label, but a model's *probability* may also depend on the rest, and a method
# that orders the rest well then beats the truth. If a text has two triggers, each is enough, and erasing one changes
# nothing. Methods that erase one feature at a time then miss both, and metrics that keep few features favour the truth more
# than those that erase few.
#
# The table of what is lost has the same inputs and the same truth for both models, which differ only in what they predict for erased
# copies. Metrics that erase few features use few misleading copies; metrics that erase nearly all use hardly any others.
# Some metrics follow the truth *better* on the misled model (below zero in that table, SaCo on texts among them); why, we do not
# know.
# Intervals cover the choice of inputs, not of models, seeds or what was planted.

# %%
page.finish()
