# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Are soft metrics better? Tables 1, 2, 3, 5 and 6

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from dataclasses import replace
from functools import partial
from itertools import product

import pandas as pd
import scipy.stats
from IPython.display import Markdown

from faithbook.engine.studies import recipe_of, settings_of
from faithbook.judge import materials, published
from faithbook.judge.decide import SameNumber
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import beside, ends_of
from faithbook.show.tables import in_names
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft import zhao_aletras_tables as tables
from faithbook.studies.soft.zhao_aletras import of_each, shared
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    LIMIT,
    METHODS,
    METRICS,
    PAIRS,
    TIE,
    WIN,
    Reading,
    variance,
)
from faithbook.studies.soft.zhao_aletras_tables import SPLITS, data_and_classifiers, precision_of

page = start_page("soft_tables", profile, values=values, paper="zhao_aletras_2023")
DRAWS = 1999  # resamples that decide claims of up to 40 parts; the curves judge hundreds of parts


@of_each
def counted(units):
    """Wins and ties against the random attribution, hard metrics over all lengths and at each."""
    return diagnosticity.counted(diagnosticity.with_lengths(units[units.method != "none"]))


table6 = published.table("soft_table6")
READ = {"parts": ["", "lengths"], "prepare": counted, "bounds": (0, 1), "n_resamples": DRAWS}
CELL = ["shows", "model", "dataset", "method", "metric"]
measured = page.measure("soft_metrics", over=CELL, printed=table6.assign(shows=WIN), **READ)
stands = materials.stands_for(page.paper)
tasks = sorted(measured.comparable(), key=lambda name: list(table6.dataset.unique()).index(stands.get(name, name)))
WHOLE = {stands.get(name, name) for name in tasks} == set(table6.dataset)  # all of the paper's data sets, or stand-ins
task_of = {stands.get(name, name): name for name in tasks}  # by the paper's data set, the one of ours
models = shared(measured.frame, tasks)
of_model = page.quantity("metric", method=METHODS, dataset=tasks, shows=WIN)
power = partial(of_model, model=models[0])  # claims are judged on the larger model; the smaller one is shown with it


# %% tags=["remove-input"]
gains = {label(soft): (power(hard), power(soft), power(soft) - power(hard)) for hard, soft in PAIRS.items()}
seen = "; ".join(
    f"{name} {soft.ours.point:.2f} against {hard.ours.point:.2f}" for name, (hard, soft, _) in gains.items()
)
listing = " and ".join(map(label, tasks))
WORDS = tables.first_words(models)
soft_is_behind = all(gain.ours.interval().high < 0 for *_, gain in gains.values())


def in_short():
    """The result of this page in a sentence."""
    hard_names = dict(zip(gains, map(label, PAIRS), strict=True))
    pairs = "; ".join(
        f"{name} {beside(soft)} against {hard_names[name]} {beside(hard)}" for name, (hard, soft, _) in gains.items()
    )
    result = (
        "Soft metrics, which blur words, separate real from random explanations *worse* than hard metrics, which delete them. "
        if soft_is_behind and page.judges
        else ""
    )
    return (
        f"{result}Share of texts on which a metric prefers the real explanation (0.5 is chance): {pairs}. Model: {models[0]}; mean "
        f"over {listing}, ours and published; n = {power('nc').ours.n:,} in the smaller set."
    )


page.in_short(in_short)

# %% [markdown]
# {cite:t}`zhao_aletras_2023` judge a faithfulness metric by its *diagnosticity*: the share of texts on which it scores a real
# attribution strictly above a random one. Higher is better, and 0.5 is chance. They compare four metrics: normalised comprehensiveness
# and sufficiency (NC, NS), which delete whole words and are called *hard*, and their versions with soft erasure (Soft-NC, Soft-NS).
# {doc}`../foundations/metrics` defines all four.
#
# Hard scores are means over five rationale lengths, soft scores over several draws of the random mask, wins over the training runs of
# a model. Data sets have equal weight. Intervals come from resampling texts. We have two models: MPNet (109 million parameters),
# on which claims are judged, and MiniLM (23 million).

# %%
rest = [name for name in stands if name in measured.levels("dataset") and name not in tasks]  # beside the paper's own
without = [name for name in dict.fromkeys(table6.dataset) if name not in tasks]
table1, sizes = data_and_classifiers([*tasks, *rest, *without], measured.material.models)
papers_own = [name for name in tasks if name not in stands]
theirs = published.table("soft_table1").set_index(["dataset", "metric", "split"]).value
parts1 = {
    f"{name}, {split}": SameNumber(sizes[name, split], f"{theirs[name, 'size', split]:.0f}", measured.evidence([name]))
    for name, split in product(papers_own, SPLITS)
}
first = page.test({"soft_table1": parts1})
tested_table1 = first  # shown with Table 1, below


# %%
def cell(row):
    """Ours of a row of Tables 2, 3 or 6, beside the printed value with all its digits."""
    labels = {"model": row["model"]}
    labels["method"] = METHODS if row.get("method", "average") == "average" else row["method"]
    dataset = row.get("dataset", "average")
    labels["dataset"] = tasks if dataset == "average" else dataset
    ours = of_model(row["metric"], **labels)  # an average's published value is that of the same data sets, by Table 6
    return replace(ours, published=float(row["value"])) if dataset != "average" or WHOLE else ours


def ours_named(name):
    """A published table with our data sets instead of those that they replace, without data sets that we lack, once for
    each of our models."""
    named_table = published.table(name)
    if "dataset" in named_table:
        named_table = named_table.assign(dataset=[task_of.get(one, one) for one in named_table.dataset])
        named_table = named_table[named_table.dataset.isin([*tasks, "average"])]
    return named_table.merge(pd.DataFrame({"model": models}), how="cross")


# %% [markdown]
# ## Table 2: diagnosticity per attribution method

# %% tags=["remove-input"]
by_method = tables.soft_ahead(power, "method", METHODS)
averages2 = published.table("soft_table2").query("method == 'average'").set_index("metric").value
Markdown(
    f"On {WORDS[models[0]]} the hard metric is clearly ahead of its soft version in {by_method.behind} of {by_method.n} comparisons (five methods, two pairs "
    f"of metrics), the soft one in {by_method.ahead}. The paper's own averages over its four data sets are "
    f"{averages2['soft_nc']:.3f} for Soft-NC against {averages2['nc']:.3f} for NC, and {averages2['soft_ns']:.3f} for Soft-NS against "
    f"{averages2['ns']:.3f} for NS. In brackets is the paper's mean over {listing} alone, computed from its Table 6, because these are the data "
    "sets that we have."
)

# %%
averaged = "" if WHOLE else f", mean over {listing}"
page.table(
    "soft_table2",
    cell,
    rows=["metric", "model"],
    columns=["method"],
    digits=3,
    printed=ours_named("soft_table2"),
    caption=f"Diagnosticity per attribution method{averaged}; n: texts of the smaller data set",
    words=WORDS,
)

# %%
printed2 = published.table("soft_table2").set_index(["metric", "method"]).value
rows = []
for (metric, method), theirs_of_four in printed2.items():
    of = METHODS if method == "average" else method
    both = of_model(metric, model=models[0], method=of)
    row = {"metric": metric, "method": method, "printed, 4 tasks": theirs_of_four}
    row |= {f"printed, {len(tasks)} tasks": both.published, **ends_of(both, "ours", "low", "high")}
    row |= {f"ours, {model}": of_model(metric, model=model, method=of).ours.point for model in models[1:]}
    rows.append(row | {"n": both.ours.n})
printed_and_ours = pd.DataFrame(rows).rename(
    columns=lambda column: column.replace("printed", "published").replace(", 6 layers, 23 M", "")
)
page.listing(
    printed_and_ours,
    "soft_table2_printed",
    caption=f"Every number of Table 2: ours with its 95 % interval (MPNet) and ours with MiniLM, means over {listing}; published, mean over "
    "the same data sets and over all four; n: texts of the smaller data set",
    wide=in_names(tables.ours_first(printed_and_ours), 3),
)

# %%
levels = {label(metric): {model: of_model(metric, model=model) for model in models} for metric in METRICS}
page.quote("soft_average", {metric: of[models[0]] for metric, of in levels.items()})
page.quote("soft_average_small", {metric: of[models[-1]] for metric, of in levels.items()})

# %% [markdown]
# ## Table 3: diagnosticity per data set

# %% tags=["remove-input"]
by_task = tables.soft_ahead(power, "dataset", tasks)
Markdown(
    f"On {WORDS[models[0]]} the hard metric is clearly ahead in {by_task.behind} of {by_task.n} comparisons (data sets, two pairs of metrics), the soft one "
    f"in {by_task.ahead}. In the paper soft is above hard in three of four data sets under either pair."
)

# %%
page.table(
    "soft_table3",
    cell,
    rows=["metric", "model"],
    columns=["dataset"],
    digits=3,
    printed=ours_named("soft_table3"),
    caption="Diagnosticity per data set, mean over the five methods; n: texts of the smaller data set",
    words=WORDS,
)

# %% [markdown]
# **Why ours may differ.** The paper's classifiers were not published; ours are sentence encoders with low-rank adapters. The paper draws
# one mask for a soft score, we average several ({doc}`soft_deviations` measures what that changes). {doc}`soft_pipeline` goes from the
# published numbers to ours step by step.

# %% [markdown]
# ## What the paper claims, tested
#
# Claims are judged on MPNet; {doc}`soft_pipeline` has the verdict with each model. "Published" is the paper's value on SST and AG News.
#
# ### Soft against hard (c01, c02, c03, c09)
#
# Not all of the 18 comparisons of c02 are possible here, so it has to hold in as many as hold among the same ones in the paper's own
# numbers. A verdict of a table repeats that of c01.


# %%
parts = diagnosticity.claims(power, tasks)
average = parts["soft_c01"]
printed3 = published.table("soft_table3").set_index(["metric", "dataset"]).value
behind = [f"{label(soft)} on {label(of)}" for hard, soft in PAIRS.items() for of in dict.fromkeys(table6.dataset)
          if printed3[soft, of] < printed3[hard, of]]  # fmt: skip
NAMED = {"nc": "ag", "ns": "multirc"}  # the exceptions, as the text has them
exceptions = {
    f"{label(hard)} minus {label(PAIRS[hard])} on {label(task_of[of])}": power(hard, dataset=task_of[of])
    - power(PAIRS[hard], dataset=task_of[of])
    for hard, of in NAMED.items()
    if of in task_of
}

# %%
tried = page.measure(
    "soft_variants",
    parts=["variants"],
    over=["shows", "model", "variant", "dataset", "metric", "method"],
    prepare=of_each(lambda units: diagnosticity.counted(diagnosticity.completed(units), by=["variant"])),
    rows=lambda wins: wins[wins["model"] == models[0]],
    bounds=(0, 1),
    firmest=True,
    n_resamples=DRAWS,
)
few = " and ".join(sorted(tried.levels("dataset")))
precision = precision_of(page.run, tried)
chosen = diagnosticity.specifications(tried.levels("variant"), texts=few, precision=precision)
exchanged = {
    options: Reading(tied=tied).gains(tried.quantity("metric", variant=variant, shows=WIN), PAIRS)
    for options, (variant, tied) in chosen.items()
}
own_choices = next(iter(exchanged))[1:-1]  # the first names the texts, the last the precision
exchanged[(f"all, {len(tasks)} data sets", *own_choices, precision_of(page.run, measured))] = average
curve1 = page.multiverse("soft_c01", list(diagnosticity.OWN), exchanged)
ratios = settings_of("soft_metrics", profile)["ratios"]
by_reading = diagnosticity.readings(ratios).items()
read = {options: diagnosticity.eighteen(power, tasks, reading) for options, reading in by_reading}
curve2 = page.multiverse("soft_c02", diagnosticity.READ_AS, read)

# %%
cells = {metric: [power(metric, dataset=d, method=m) for d in tasks for m in METHODS] for metric in METRICS}
printed6 = table6.set_index(["dataset", "method", "metric"]).value.unstack("metric")
ranked = []
for kind, of in (("published", printed6), ("ours", {m: [cell.ours.point for cell in cells[m]] for m in METRICS})):
    for hard, soft in PAIRS.items():
        first, second = (pd.Series(of[name]).dropna() for name in (soft, hard))
        test = scipy.stats.mannwhitneyu(first, second)
        effect = 2 * test.statistic / (len(first) * len(second)) - 1  # Cliff's delta
        ranked.append(f"{kind}, {label(soft)} against {label(hard)}: p = {test.pvalue:.2g}, effect {effect:.2f}")
by_id = {
    "soft_table2": average,
    "soft_table3": average,
    "soft_table6": average,
    "soft_c01": average,
    "soft_c02": parts["soft_c02"],
    "soft_c03": exceptions,
    "soft_c09": average,
    "soft_table5": None,
}
second = page.test(by_id)
page.verdicts(second)

# %%
gains_caption = (
    f"Diagnosticity, soft minus hard: on average (c01; {seen}), by method and by data set (c02). Right of zero soft is better. At the "
    "right: the distance from the published value in standard errors, which include the variation between training runs"
)
page.plot(second, "soft_tables_gains", only=["soft_c01", "soft_c02"], caption=gains_caption)

# %% tags=["remove-input"]
in_its_text = {f"{label(PAIRS[metric_of])} on {label(data_of)}" for metric_of, data_of in NAMED.items()}
exchanged_in_text = "" if set(behind) == in_its_text else " The sentence of c03 names the two the other way round."
Markdown(f"In the paper's own Table 3, too, soft is below hard for {' and '.join(behind)}.{exchanged_in_text}")

# %% [markdown]
# **Does it depend on choices that the paper leaves open?** The paper and its code leave open, or say differently, how scores are mapped to
# the unit interval, which way the mask points, what an empty text is and how ties count. In the two figures each column is one variant
# of the analysis, marked below by the choices it makes: one or two differ from the book's own (circle). Its height is the difference that
# decides the claim: of c01 the smaller of Soft-NC − NC and Soft-NS − NS, of c02 the smallest of all comparisons. Above zero all of them hold.
# The verdict on c01 is that of *all*, the book's own choices on all texts.

# %%
few_words = " and ".join(map(label, sorted(tried.levels("dataset"))))
caption = (
    f"c01: soft minus hard, the smaller of the two differences, in each analysis variant, with 95 % intervals; on those texts of {few_words} "
    "on which choices were varied, except *all*"
)
page.curve(curve1, "soft_c01_curve", caption=caption)

# %%
page.curve(
    curve2,
    "soft_c02_curve",
    caption="c02: soft minus hard, the smallest difference over methods and data sets, in each analysis variant, with 95 % intervals",
)

# %% tags=["remove-input"]
Markdown(
    "::::{admonition} The paper's own test of significance (c09)\n:class: dropdown note\n\n"
    "The paper reports Wilcoxon's rank-sum test at 0.01 and does not state what it compares. We take the cells of Table 6 as the two samples. "
    "The effect is Cliff's delta, from −1 to 1, positive if soft is higher. Cells share their texts, so these p-values are too small, and the "
    f"verdict is that of c01.\n\n{'; '.join(ranked)}.\n::::"
)

# %% [markdown]
# ### Methods and data sets (c04 to c08)
#
# The variances of c06 and c07 are those of the mean diagnosticities between methods or between data sets, in squared percentage points,
# after subtracting sampling noise. c07 and c08 are about all four data sets and are not tested; the table has what we measured on two.


# %%
news, apart = task_of.get("ag"), {}
for d in tasks if news else []:
    if d != news:
        apart[f"{label(news)} minus {label(d)}, Soft-NC"] = power("soft_nc", dataset=news) - power("soft_nc", dataset=d)
        apart[f"{label(d)} minus {label(news)}, Soft-NS"] = power("soft_ns", dataset=d) - power("soft_ns", dataset=news)
by_id = {
    **{name: parts[name] for name in ("soft_c04", "soft_c05", "soft_c06")},
    "soft_c07": {
        f"variance over tasks minus over methods, {label(metric)}": variance(power, metric, "dataset", tasks)
        - variance(power, metric, "method", METHODS)
        for metric in METRICS
    },
    "soft_c08": apart,
}
third = page.test(by_id)
page.verdicts(third)

# %%
caption = "All comparisons of c04 to c08, published and ours on MPNet (c06 and c07: squared percentage points)"
page.parts(third, "soft_tables_parts", caption=caption)

# %% [markdown]
# Intervals cover the choice of texts, not that of data sets, models or methods.

# %% [markdown]
# ## Table 6 (Appendix B): each data set, method and metric
#
# Tables 2 and 3 are averages of these cells. We read the paper's label "Gradients" as x∇x, because their averages are those that Table 2
# prints for x∇x.

# %%
page.table(
    "soft_table6",
    cell,
    rows=["dataset", "method", "model"],
    columns=["metric"],
    digits=3,
    printed=ours_named("soft_table6"),
    caption="Diagnosticity per data set, method and metric",
    words=WORDS,
)

# %% [markdown]
# ### Do ties explain values below one half?
#
# A tie does not count as a win, so many ties would make diagnosticity low although the metric does not prefer the random scores.

# %%
rows = []
for name, metric in product(tasks, METRICS):
    tied, limit = (power(metric, dataset=name, shows=what) for what in (TIE, LIMIT))
    rows.append({"dataset": name, "metric": metric, **ends_of(tied, "ties", "low", "high")})
    rows[-1] |= {"at the limit": limit.ours.point, "n": tied.ours.n}
ties = pd.DataFrame(rows)
page.listing(
    ties, "soft_tables_ties", caption="Share of comparisons with random scores that are ties, mean over methods, MPNet"
)

# %% tags=["remove-input"]
most = ties.loc[ties.ties.idxmax()]
halves = [
    Reading(tied=0.5).share(power, r.metric, dataset=r.dataset, method=r.method)
    for r in ours_named("soft_table6").itertuples()
    if r.model == models[0]
]
low = sum(one.ours.interval().high < 0.5 for one in halves)
rare = ", too few to explain values below one half" if most.ties < 0.1 else ""
Markdown(
    f"Ties are at most {100 * most.ties:.0f} % of the comparisons ({label(most.metric)} on {label(most.dataset)}, n = {most.n:,}){rare}. "
    f"Counting a tie as half a win, {low} of our {len(halves)} cells of Table 6 (MPNet) have a whole interval below one half: there the metric "
    "prefers the random scores, and {doc}`soft_pipeline` asks why. "
    f"Of the paper's {len(table6)} cells, printed without intervals, {int((table6.value < 0.5).sum())} are below one half. *At the limit* are "
    "ties in which the probability does not fall for either attribution: a probability that rises counts as one that stays, so both have an "
    "NS of 1 or an NC of 0. In the other ties of a hard metric both attributions erase the same words."
)

# %% [markdown]
# ### Substitute data
#
# Small data sets of a similar kind stand in for those of the paper; all with MiniLM. No claim on this page rests on them.

# %%
largest = {name: shared(measured.frame, [name])[0] for name in rest}
pairs = product(rest, METRICS)
page.stand_ins(
    {(name, stands[name], metric): of_model(metric, dataset=name, model=largest[name]) for name, metric in pairs},
    ["dataset", "stands for", "metric"],
    "soft_tables_stand_ins",
    caption="Diagnosticity on substitute data, mean over methods, with the published value of what each replaces",
)

# %% [markdown]
# ## Table 1: data and classifiers
#
# F1 is the macro average over the test split in percent, with its standard deviation over training runs (ours: three). *Words per text*
# are means of the test split, a query included. *Trained on* is what remains of the training split without near-duplicates of test
# texts. Long texts are cut, so that only their beginning is classified and explained ({doc}`how many were cut <status>`).

# %%
page.listing(
    # A count beside dashes is a float: 3, not 3.0.
    table1.assign(models=table1.models.map(lambda count: f"{count}".removesuffix(".0"))).rename(
        columns={"models": "training runs"}
    ),
    "soft_table1",
    caption="Data and classifiers: ours (published); *for* marks substitute data and what it replaces. The file also has limits of length, the F1 of "
    "always predicting the most frequent class, and the number of training runs",
    wide=in_names(tables.main_columns(table1), 3),
)

# %%
page.verdicts(tested_table1)

# %% tags=["remove-input"]
trained = tables.tried_in_words("text/evinf-seed0").replace(", 1 epochs,", ", one epoch,") or "its card is not here."
Markdown(
    "::::{admonition} Why no model of Evidence Inference and MultiRC\n:class: dropdown note\n\n"
    "We found no public copy of Evidence Inference's training split, and only a fifth of MultiRC's, on which MiniLM did no better than always "
    "predicting the most frequent class. We tried Evidence Inference again with the prompts of its second release {cite:p}`deyoung_2020b` whose "
    f"articles are in no other split (MiniLM, one training run): {trained} "
    "An F1 so far below the printed one is too low to explain this model's predictions. Neither data set is in the tables of diagnosticity.\n::::"
)

# %% [markdown]
# ## Table 5 (Appendix A): training settings
#
# Ours are those of MiniLM's adapters, which need higher learning rates than the full fine-tuning of the paper.

# %%
training = recipe_of("soft", "text_classifiers", "paper")["training"]
trained_with = recipe_of("soft", "text_classifiers", profile)["training"]
rows = []
for r in published.table("soft_table5").itertuples():
    block, ours = training[r.dataset], trained_with.get(task_of.get(r.dataset, r.dataset), {})
    same = float(block[r.setting]) == float(r.value) and block["model"].rpartition("/")[2] == r.model
    rows.append({"data set": r.dataset, "setting": r.setting.replace("_", " "), "model": r.model})
    rows[-1] |= {"published": f"{float(r.value):g}", "paper profile": f"{block[r.setting]:g}"}
    rows[-1] |= {"agrees": "yes" if same else "no", "ours": f"{ours[r.setting]:g}" if ours else "–"}
table5 = pd.DataFrame(rows)
page.listing(
    table5,
    "soft_table5",
    caption="Training settings: ours, of MiniLM's adapters (published). *Model* is the paper's",
    wide=tables.settings_wide(table5),
)

# %% tags=["remove-input"]
agree = (table5.agrees == "yes").sum()
Markdown(
    "::::{admonition} For those who re-run the paper's setting\n:class: dropdown note\n\n"
    f"The profile `paper` of this book has {agree} of the {len(table5)} published settings, and those of the paper's text: three epochs, a "
    "warm-up over a tenth of the first one, gradients cut at a norm of one, five seeds, and the epoch with the smallest loss on the development "
    "split. Weight decay (0.01) and precision (bfloat16 on a GPU) are not printed and ours.\n::::"
)

# %%
page.finish(note="F1 comes from the model cards in data/checkpoints, made by the training notebook.")
