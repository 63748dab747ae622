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
from faithbook.show.tables import in_words
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
SHOWN = ("detector", "trained", "trained with erasure", "misled by erasure")
"""Models in the order of the page's tables."""


def in_order(frame):
    """Rows of a table with texts before images and the models in the page's order."""
    places = frame.model.map({"linear": -1, **{name: place for place, name in enumerate(SHOWN)}})
    return frame.assign(place=places).sort_values(["modality", "place"], kind="stable").drop(columns="place")


def inputs_of(table):
    """The least and the largest number of inputs of a table's cells, in words."""
    least, most = int(table.n.min()), int(table.n.max())
    return f"n = {least} inputs" if least == most else f"n = {least} to {most} inputs"


def inside(title, shown):
    """An exhibit in a box that opens."""
    return Markdown(f":::::{{admonition}} {title}\n:class: dropdown note\n\n{shown.data}\n:::::")


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    among = preferred[main & (preferred.against == SHUFFLED) & preferred.metric.isin(metrics)]
    known = among[among.model.isin(KNOWN)]
    found = (
        "On hand-built models every metric prefers the true explanation to the same scores shuffled on a share of "
        f"{known.estimate.min():.2f} of the inputs or more (chance: 0.50; n = {known.n.min():.0f} at least)."
    )
    both = by_cell(
        followed,
        ["modality", "model", "erase", "metric"],
        asked=questions.FOLLOWS,
        model=["trained", "misled by erasure"],
    )
    losses = {
        (kind, metric): pair - both[kind, "misled by erasure", erase, metric]
        for (kind, model, erase, metric), pair in both.items()
        if model == "trained" and erase == MAIN[kind] and (kind, "misled by erasure", erase, metric) in both
    }
    if not losses:
        return found
    largest, gain = (choose(losses, key=lambda cell: losses[cell].ours.point) for choose in (max, min))
    return (
        f"{found} When a model is trained to misread erased inputs, the rank correlation of a metric with the truth changes by "
        f"{-losses[largest].ours.point:+.2f} ({label(largest[1])} on {KINDS[largest[0]]}, n = {losses[largest].ours.n}) to "
        f"{-losses[gain].ours.point:+.2f} ({label(gain[1])} on {KINDS[gain[0]]}, n = {losses[gain].ours.n})."
    )


page.in_short(in_short)

# %% [markdown]
# The true explanation of a model is usually unknown, so papers compare metrics with one another. On this page it is known: some
# models are written by hand, others are trained on data whose class depends only on what was planted. **Texts**: trigger words (metals or fruits) at random places of film reviews; the class is
# *metal*, *fruit*, or *neither* if there is no trigger. **Small images** (*vision* in labels): cells of horizontal or vertical stripes on
# images of clothes; the classes are *horizontal*, *vertical* and *neither*. {ref}`The metrics <metric-table>` are those of the whole book.
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

# %% [markdown]
# ## Do the models use what was planted?
#
# If a model uses only what was planted, erasing it makes the prediction *neither*, and erasing everything else keeps the class. The
# table has the shares of test inputs for which this holds, the second for each way to erase. The table is of this build's own run, so
# its inputs may be fewer than those of the other tables. (`linear` uses nothing planted and is not in it.)
#
# Words become the mask token (`mask`) or the padding token (`pad`), get an embedding of zeros (`zero`), or are deleted (`delete`).
# Cells become the mean colour of their image (`mean`), zero (`zero`), or blurred (`blur`). The last column is the accuracy on another
# sample: whole inputs and copies from which features were erased at random, labelled by what is left.

# %%
reasons = load("together_reasons", profile).drop(columns="run_id", errors="ignore")


def one_row_each(table):
    """A model's rows, one for each way to erase, as one."""
    found = []
    for (kind, model), rows in in_order(table).groupby(["modality", "model"], sort=False):
        kept = ", ".join(
            f"{erase} {share:.2f}" for erase, share in zip(rows.erase, rows["class with nothing else"], strict=True)
        )
        found.append({
            "kind": KINDS.get(kind, kind), "model": model, "n": str(rows.n.min()), "accuracy": f"{rows.accuracy.min():.2f}",
            "neither without the planted features (lowest)": f"{rows['neither without'].min():.2f}",
            "class kept with nothing else": kept,
        })  # fmt: skip
        if "accuracy on erased copies" in rows:
            found[-1]["accuracy on erased copies"] = f"{rows['accuracy on erased copies'].min():.2f}"
    return pd.DataFrame(found)


caption = "Do models use what was planted? Shares of n test inputs, by the way to erase"
page.listing(reasons, "together_reasons", digits=2, caption=caption, wide=one_row_each(reasons))


# %%
usual = reasons[reasons.model == "trained"]
worst = usual.loc[usual["neither without"].idxmin()]
lost = usual.loc[usual["class with nothing else"].idxmin()]
Markdown(
    f"For the models trained as usual the lowest accuracy on whole inputs is {usual.accuracy.min():.2f}, the lowest share that becomes "
    f"*neither* {worst['neither without']:.2f} ({KINDS[worst.modality]}, n = {worst.n}), and the lowest share that keeps its class "
    f"{lost['class with nothing else']:.2f} ({KINDS[lost.modality]}, n = {lost.n})."
)


# %% tags=["remove-input"]
def misled_models():
    """How often the misled models keep a class, and why they do not lose it everywhere."""
    misled = reasons[reasons.model == "misled by erasure"]
    kept = "; ".join(
        f"{KINDS[kind]} "
        + ", ".join(
            f"{share:.2f} (`{erase}`)" for erase, share in zip(rows.erase, rows["class with nothing else"], strict=True)
        )
        for kind, rows in misled.groupby("modality", sort=False)
    )
    return (
        f"With nothing but the planted features left, the misled models keep the class of these shares of inputs: {kept}. A misread "
        "copy becomes *metal* (*horizontal*), so inputs of that class keep it in any case, and only the others can lose it. For the same "
        "reason, and because the sample has whole inputs and lightly erased copies, their accuracy in the last column can be high."
    )


Markdown(misled_models())

# %% [markdown]
# ## Is the truth preferred?
#
# A metric that measures faithfulness has to prefer the truth to the same scores shuffled. On each input it does (1), does not (0), or
# gives both the same value (one half). Chance is 0.50.

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
    caption="Share of inputs on which each metric (row) prefers the truth to itself with all scores shuffled, on each model (column); 1 is "
    f"best, 0.50 chance. Features are erased by {erased}; {inputs_of(preferred[main & (preferred.against == SHUFFLED)])} per cell",
)

# %% [markdown]
# The next table has the same shares, mean over metrics, also for a second way to erase on `trained`. The file
# `together_preferred.csv` has other degraded versions of the truth too: a quarter or half of the scores shuffled, reversed scores (the
# *opposite*), and random ones.

# %%
ways = by_cell(measured, ["modality", "model", "erase"], against=[SHUFFLED])
caption = (
    "Share of inputs on which the truth is preferred to itself shuffled, mean over metrics, with 95 % interval; n: inputs of the metric with "
    "the fewest"
)
by_erasure = in_order(listed(ways, ["modality", "model", "erase"]))


def ways_in_words(table):
    """The table of ways to erase for readers."""
    shares_there = [f"{one.estimate:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in table.itertuples()]
    kinds = table.modality.map(KINDS)
    return pd.DataFrame({
        "kind": kinds, "model": table.model, "erased by": table.erase, "truth preferred": shares_there, "n": table.n.astype(int).astype(str),
    })  # fmt: skip


page.listing(by_erasure, "together_by_erasure", digits=2, caption=caption, wide=ways_in_words(by_erasure))

# %% [markdown]
# ## How true are the explanations of methods?
#
# We measure it by the area under the precision-recall curve (AUPRC) of an explanation's scores against what was planted. It is 1 for the
# truth. Which methods come close depends on how the model was trained.


# %%
how_true = by_cell(followed, ["modality", "model", "against"], asked=questions.TRUE, model=TRAINED)
true = listed(how_true, ["modality", "model", "method"])
true = true.sort_values(["modality", "model", "estimate"], ascending=[True, True, False])


def model_by_model(table, name):
    """A table of the trained models with one column for each, in the page's order."""
    wide = in_words(table.assign(kind=table.modality.map(KINDS)), ["kind", name], "model", ".2f")
    return wide[["kind", name, *(one for one in SHOWN if one in wide.columns)]]


caption = f"How true explanations are: AUPRC against what was planted, with 95 % intervals; n = {true.n.min():.0f} inputs at least"
page.listing(true, "together_how_true", digits=2, caption=caption, wide=model_by_model(true, "method"))

# %% [markdown]
# ## Do metrics rank explanations by how true they are?
#
# On each input we take all explanations (methods, truth and degraded versions) and compute Spearman's rank correlation between a
# metric and AUPRC, with the metric oriented so that higher is better. This is the *rank correlation with the truth*, mean over inputs.

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
caption = (
    "Rank correlation of each metric with how true explanations are (AUPRC), mean over inputs, with 95 % intervals; "
    f"n = {track.n.min():.0f} to {track.n.max():.0f} inputs"
)
page.listing(track, "together_tracking", digits=2, caption=caption, wide=model_by_model(track, "metric"))

# %%
of_usual = [
    part.loc[part.estimate.idxmax()] for _, part in track[track.model == "trained"].groupby("modality", sort=False)
]
Markdown(
    "On the models trained as usual the highest is "
    + " and ".join(
        f"{label(one.metric)} on {KINDS[one.modality]} ({one.estimate:.2f}, n = {one.n:.0f})" for one in of_usual
    )
    + "."
)


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
# The three questions are our own; the second and third were reworded after a first run was seen. In the second, a metric that rates an
# attribution method above the truth rewards something other than the true explanation. Differences below 0.01 are ties there, which
# count one half, because true scores of 1 and 0 do not order the other features. There is one model per condition, and another training run may differ.

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
    "Rank correlation with the truth that is lost on the misled model (`trained` minus `misled by erasure`), with 95 % intervals, by the order "
    "in which a metric erases. Right of zero: it follows the truth less."
)
fig, alt = dot_plot(
    drawn, "rank correlation lost", layout=Layout(panel="panel", series="series", looks=looks, mark=0.0)
)
page.figure(fig, "together_lost_plot", alt=alt, caption=caption)

# %%
caption = "Comparisons that contradict a claim on their own, with 95 % intervals; the file has all comparisons"
inside(
    "Comparisons that contradict a claim", page.parts(tested, "together_planted_parts", caption=caption, answers=["no"])
)

# %%
known = {key: pair for key, pair in to_rungs.items() if key[2] == MAIN[key[0]] and key[4] == SHUFFLED}
right = listed({(modality, model, metric): pair for (modality, model, _, metric, _), pair in known.items()}, FOLLOWING)
page.run.save(right.assign(answer=[answer(pair.ours, 0.5, test="score") for pair in known.values()]), "truth_preferred")
lost_table = listed(lost, ["modality", "metric"]).assign(
    answer=[questions.not_worse_misled(pair.ours) for pair in lost.values()]
)
page.run.save(lost_table, "truth_lost")


def kind_by_kind(table):
    """What each metric loses on texts and on images, a row per metric, the largest loss first."""
    table = table.assign(kind=table.modality.map(KINDS)).sort_values("estimate", ascending=False)
    wide = in_words(table, ["metric"], "kind", ".2f")
    for kind, name in KINDS.items():
        answers = table[table.modality == kind].set_index(table.metric[table.modality == kind].map(label)).answer
        wide[f"not worse ({name})"] = [str(answers.get(metric, "–")) for metric in wide.metric]
    heads = [head for name in KINDS.values() for head in (name, f"not worse ({name})") if head in wide]
    return wide[["metric", *heads]]


inside(
    "The losses in numbers",
    page.listing(
        lost_table.rename(columns={"answer": "not worse after misleading"}),
        "together_lost",
        digits=2,
        caption="Rank correlation with the truth that is lost on the misled model, with 95 % intervals (below zero: a gain). *Not worse*: *no* if "
        f"the loss is clearly above zero, else *yes* if it is clearly below 0.1; {inputs_of(lost_table)}",
        wide=kind_by_kind(lost_table),
    ),
)

# %% [markdown]
# **SRG**, AOPC with the most important features first (MoRF) minus AOPC with the least important first (LeRF), is the metric that
# {doc}`together_advice` recommends. It was not among the metrics of these claims; it follows from the two AOPC of each input:

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
        found.append(entry | {"best metric": label(leading), "its value": of_metric[leading]})
    return in_order(pd.DataFrame(found))


def with_kinds(table):
    """The table of SRG with the kinds of input in the page's words, and n last."""
    if table.empty:
        return table
    there = table.rename(columns={"modality": "kind"}).assign(kind=table.modality.map(KINDS))
    there["SRG"] = [f"{one.SRG:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in table.itertuples()]
    for name in [*(label(one) for one in BOTH_ENDS), "its value"]:
        there[name] = [f"{value:.2f}" for value in table[name]]
    there["n"] = table.n.astype(int).astype(str)
    return there[[*(name for name in there if name not in ("low", "high", "n")), "n"]]


srg_rows = srg_beside_others() if set(BOTH_ENDS) <= set(metrics) else pd.DataFrame()
page.listing(
    srg_rows,
    "together_srg",
    digits=2,
    wide=with_kinds(srg_rows),
    caption="Rank correlation with the truth, mean over n inputs: SRG with its 95 % interval, the two AOPC, and the best other metric",
    empty="The two AOPC are not here.",
)


# %% tags=["remove-input"]
def why_not_the_best():
    """In how many rows N-AUC leads, and where the page of advice says why it is not recommended."""
    if srg_rows.empty:
        return ""
    leading = int((srg_rows["best metric"] == label("n_auc")).sum())
    if not leading:
        return ""
    return (
        f"{label('n_auc')} follows the truth best in {leading} of {len(srg_rows)} rows. It is not the recommendation, because these are models of one "
        "kind of misreading, and over all kinds its lowest value is below that of SRG: {doc}`together_advice` has the numbers "
        "(*Why not N-AUC?*)."
    )


Markdown(why_not_the_best())

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
