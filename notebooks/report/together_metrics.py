# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The EvalxNLP metrics, each by hand

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from itertools import pairwise

import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show import figures
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.stats.conditions import Conditions
from faithbook.studies.together import evalxnlp, evalxnlp_figures
from faithbook.studies.together.evalxnlp import rationale, runs_of_words, span_f1

page = start_page("together_metrics", profile, values=values, paper=published.OUR_OWN)
METRICS = ["soft_ns", "soft_nc", "n_auc", "autpc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness"]
METHODS = ["occlusion", "random"]
texts, tokens = load("by_hand_texts", profile), load("by_hand_tokens", profile)
example, EXCERPTS = texts.iloc[0], len(texts) - 1
the_set = {
    "prepare": lambda units: units[units.id != example.id].assign(dataset="pair")
}  # the example counts in no mean
measured = page.measure("together_by_hand", over=["method", "metric"], **the_set)
of_set = page.quantity("method", "metric")

# %% tags=["remove-input"]
page.in_short(lambda: evalxnlp.in_short(of_set, METRICS, EXCERPTS))

# %% [markdown]
# EvalxNLP {cite:p}`dhaini_2025` is a toolkit for explanations of text classifiers. Its documentation has nine metrics in
# three families, all from earlier papers. This page computes each of them by hand: the formula of the work that it comes
# from, its value on one short text with every step, and the same value from `faithlib`. {doc}`The next page
# <together_released>` shows where the toolkit's page and its released code differ.
#
# | metric | family | range | better | NaN where | source |
# | --- | --- | --- | --- | --- | --- |
# | soft sufficiency, Soft-NS | faithfulness | up to 1 | higher | the headroom is 0 | {cite:t}`zhao_aletras_2023` |
# | soft comprehensiveness, Soft-NC | faithfulness | from 0 | higher | the headroom is 0 | {cite:t}`zhao_aletras_2023` |
# | N-AUC | faithfulness | 0 to 1 | lower | accuracy is 0 throughout | {cite:t}`ngai_rudzicz_2022` |
# | AUTPC | faithfulness | 0 to 1 | lower | never, from two words on | {cite:t}`atanasova_2020` |
# | token-F1 | plausibility | 0 to 1 | higher | nothing is marked | {cite:t}`deyoung_2020` |
# | IOU-F1 | plausibility | 0 to 1 | higher | nothing is marked | {cite:t}`deyoung_2020`, see below |
# | AUPRC | plausibility | above 0, to 1 | higher | nothing is marked | {cite:t}`deyoung_2020` |
# | complexity | complexity | 0 to $\ln n$ | lower | all scores are 0 | {cite:t}`bhatt_2020` |
# | sparseness | complexity | 0 to $(n-1)/n$ | higher | all scores are 0 | {cite:t}`chalasani_2020` |
#
# For a text of a single word `evaluate` leaves all metrics except those of plausibility undefined: there is no other word
# to compare it with.
#
# N-AUC and AUTPC use *accuracy curves*: the share of texts that a model still classifies as before (0 to 1) while the words
# that an explanation calls important are removed. Plausibility and complexity do not use the model at all, so they do not
# measure {term}`faithfulness` ({doc}`../foundations/faithfulness` says why).

# %% [markdown]
# ## The texts
#
# The data set `pair` ({doc}`../data-and-models`) asks whether a section of a paper goes with a sentence about a paper,
# the query, and people have marked the sentences of the section that the query sums up {cite:p}`takeshita_2024`.
# Sections are long, so an excerpt of twelve words is cut from each: it holds the first marked word, and begins a number
# of words before it that depends on the text's name alone. Kept are excerpts with marked and unmarked words to which
# the model answers *yes*, the right class. The first ten of them in an order made of names are *the set*. The *example*
# was picked by hand, for being easy to follow and for showing what the metrics do, so it stands apart and counts in no
# mean of a metric (only in $K$, the number of words that a rationale has).
#
# Features are wordpieces; in the example each word is one. The query is {term}`protected <protected position>`.

# %%
each = evalxnlp.read_texts(texts, tokens)
Markdown(evalxnlp.excerpts_in_words([text.marks for text in each[1:]], example.looked_at))

# %% [markdown]
# ### The attribution
#
# Occlusion needs nothing but subtraction: a word's score is what the probability of *yes* loses when that word alone
# becomes `[MASK]` {cite:p}`zeiler_fergus_2014`. Here is the example, tinted by score, with the words that people marked
# in an outline; and the numbers. "By hand" on this page means: the model was called as it is, on rows of ids
# (`notebooks/compute/together_by_hand.py`), and the rest is plain NumPy on its answers.

# %%
words, marks, a = tokens.word[tokens.text == 0].tolist(), each[0].marks, each[0].scores
n, p_full, p_empty = len(words), example.p_full_by_hand, example.p_empty_by_hand
without = load("by_hand_words", profile).p_without
s = (p_full - without).to_numpy()
by_faithlib = load("by_hand_example", profile).set_index("metric").value
by_hand = {}
display(
    Markdown(figures.heatmap(words, s.tolist(), rationale=marks.tolist(), title="The example: occlusion, and marks"))
)
display(
    page.listing(
        pd.DataFrame({"word": words, "marked": np.where(marks, "yes", ""), "p without it": without, "score": s}),
        "together_metrics_example",
        caption=f"The example, text `{example.id}`: p(yes) without each word, and what is lost of {p_full:.3f}",
        digits=4,
    )
)
Markdown(
    f"The query: *{example.query}* The scores above differ from `attribute('occlusion', ...)` by "
    f"{np.abs(s - a).max():.1e} at most. {(s < 0).sum()} of {n} are negative: without such a word the model is surer of "
    "*yes*. The rest of the page takes the scores of `faithlib`."
)

# %% [markdown]
# ## Faithfulness
#
# Does the explanation name what the model used? These metrics erase words and run the model again.
#
# ### Soft sufficiency and soft comprehensiveness
#
# Scores become importance $a_i$ in $[0, 1]$, here by min-max. Then each *element* of a token's embedding is kept or set
# to zero by chance: kept with probability $q_i = a_i$ for sufficiency, $q_i = 1 - a_i$ for comprehensiveness
# ({term}`soft erasure`). With $X'$ the outcome and $0$ the text with every feature erased,
#
# $$\begin{aligned}\text{Soft-NS} &= \frac{S(X') - S(0)}{1 - S(0)}, \qquad \text{Soft-NC} = \frac{C(X')}{1 - S(0)}, \\
# S(X') &= 1 - \max\bigl(0,\; p(y \mid X) - p(y \mid X')\bigr), \\
# C(X') &= \max\bigl(0,\; p(y \mid X) - p(y \mid X')\bigr).\end{aligned}$$ (eq-together-soft)
#
# Higher is better for both {cite:p}`zhao_aletras_2023`. Soft-NS is 1 where what is kept does as well as the text; it
# falls below 0 if that does worse than the empty text. Soft-NC is 0 if removing the elements costs nothing, and 1 if it costs
# as much as removing everything. $1 - S(0)$ is the {term}`headroom`; if it is 0 there is no value. Our value is the
# mean over a few {term}`draws <draw>`.

# %%
kept = evalxnlp.importance(a)
# Elements of the example's embeddings, kept where a random number is below q = a, or below 1 - a.
drawn = load("by_hand_draws", profile)
ns, nc = evalxnlp.soft_ns_and_nc(p_full, p_empty, drawn.p_kept, drawn.p_removed)
by_hand |= {"soft_ns": ns.mean(), "soft_nc": nc.mean()}
draws = {
    "draw": drawn.draw,
    "p(X'), q = a": drawn.p_kept,
    "Soft-NS": ns,
    "p(X'), q = 1 - a": drawn.p_removed,
    "Soft-NC": nc,
}
caption = f"Soft metrics draw by draw: p(X) = {p_full:.4f}, p(0) = {p_empty:.4f}, headroom {p_full - p_empty:.4f}"
display(page.listing(pd.DataFrame(draws), "together_metrics_soft", caption=caption))
Markdown(
    f"The means: Soft-NS {ns.mean():.4f}, Soft-NC {nc.mean():.4f}; `evaluate` gives {by_faithlib.soft_ns:.4f} and "
    f"{by_faithlib.soft_nc:.4f}. Among {len(ns)} draws Soft-NS goes from {ns.min():.2f} to {ns.max():.2f}: a single "
    f"draw, as in the paper and in the toolkit, is a noisy number for a single text. The mean importance is "
    f"{kept.mean():.2f}, so sufficiency keeps about that share of the text and comprehensiveness removes it "
    "({ref}`amounts <amounts>`)."
)

# %% [markdown]
# ### Accuracy curves: N-AUC of the FAD curve, and AUTPC
#
# Words become `[MASK]`, most important first, the share $x$ of them rounded up: $\lceil x n \rceil$ words. Let $y(x)$
# be the share of texts whose predicted class is still the first one. (With labels it is the accuracy. In our set the
# first class is right, so the two agree.) *Feature attribution dropping* (FAD) looks at the first fifth of the words and
# divides the area by the largest there could be {cite:p}`ngai_rudzicz_2022`; the area under the *threshold-performance
# curve* takes all of them {cite:p}`atanasova_2020`:
#
# $$\text{N-AUC} = \frac{\int_0^{0.2} y(x)\, dx}{0.2 \max_x y(x)}, \qquad
# \text{AUTPC} = \int_0^1 y(x)\, dx.$$ (eq-together-curves)
#
# Areas are sums of trapezia, over steps of 5 % and of 10 %. Both are in $[0, 1]$, and **lower is better**: an
# explanation that names the words that matter brings the curve down at once. For one text $y$ is 0 or 1, and 1 at
# $x = 0$; so the mean of the texts' values is the value of the set's curve.

# %%
order = np.argsort(-a, kind="stable")
p_after = load("by_hand_removed", profile).sort_values("gone").p.to_numpy()
SHARES = {"n_auc": [step * 5 / 100 for step in range(5)], "autpc": [step / 10 for step in range(11)]}
still = evalxnlp.unchanged(p_after)
fad, whole = (evalxnlp.steps_of(shares, [words[f] for f in order], p_after) for shares in SHARES.values())
by_hand |= {"n_auc": evalxnlp.n_auc(fad.y), "autpc": evalxnlp.trapezia(whole.y, 0.1)}
display(page.listing(fad, "together_metrics_fad", caption="The first fifth of the example's words: N-AUC"))
display(page.listing(whole, "together_metrics_autpc", caption="All of the example's words: AUTPC"))
Markdown(
    f"N-AUC: trapezia of ({' + '.join(f'{(p + q) / 2:g}' for p, q in pairwise(fad.y))}) · 0.05, divided by 0.2, make "
    f"{by_hand['n_auc']:.4f}; AUTPC is {by_hand['autpc']:.4f}. `evaluate` with `erase='mask'`: {by_faithlib.n_auc:.4f} "
    f"and {by_faithlib.autpc:.4f}. {evalxnlp.class_returns(still)} A curve of 0 and 1 hides how close each step is to one half; the "
    "probabilities do not."
)

# %%
accuracy = load("by_hand_accuracy", profile).query("text > 0")  # the example counts in no mean
curves = Conditions.of(accuracy, over=["curve", "method", "share"], unit="text", value="y", bounds=(0, 1))
points = evalxnlp.curve_points(curves, SHARES, METHODS)
areas = {(m, c): of_set(m, c).ours.point for m in METHODS for c in SHARES}
fig, alt = evalxnlp_figures.accuracy_curves_figure(points, SHARES, METHODS, areas=areas, texts=EXCERPTS)
caption = (
    f"Accuracy while the most important words become [MASK]: mean over the {EXCERPTS} excerpts of the set, "
    "with 95 % intervals (lines drawn a little apart). The lower the curve, the better."
)
display(page.figure(fig, "together_metrics_curves", alt=alt, caption=caption, data=points))
all_masked = curves.mean(curve="autpc", method="occlusion", share=1.0)
Markdown(
    f"With every word masked the model still says *yes* to a share of {all_masked.point:.2f} of the excerpts. Every "
    "explanation's curve ends there, so a part of AUTPC is about the model and its `[MASK]`, and about no explanation."
)

# %% [markdown]
# ## Plausibility
#
# Does the explanation name what people marked? The model is not used.
#
# ### Token-F1 and IOU-F1
#
# An explanation's {term}`rationale` $P$ are the $K$ words with the highest scores, as far as these are positive, $K$
# being the average number of marked words in the data. With $G$ what people marked,
#
# $$\begin{aligned}
# \text{precision} &= \frac{|P \cap G|}{|P|}, & \text{recall} &= \frac{|P \cap G|}{|G|}, \\
# F_1 &= \frac{2\, |P \cap G|}{|P| + |G|}, & \text{IOU} &= \frac{|P \cap G|}{|P \cup G|}.
# \end{aligned}$$ (eq-together-overlap)
#
# **Token-F1** is the mean of $F_1$ over texts {cite:p}`deyoung_2020`. **IOU-F1** as the toolkit's page defines it is
# the share of texts whose IOU is at least one half; both are better when higher. ERASER {cite:p}`deyoung_2020` has
# another IOU-F1: runs of words that touch are *spans*, a span of $P$ hits where its IOU with a span of $G$ is at least
# one half, and $F_1$ is made of the hits. The last value below is that one.

# %%
marked_each = np.mean([text.marks.sum() for text in each])
K = max(1, round(marked_each))
predicted = rationale(a, K)
hits = int((predicted & marks).sum())
iou = evalxnlp.overlap(predicted, marks)
by_hand |= {"token_f1": evalxnlp.f1(predicted, marks), "iou_f1": float(iou >= 0.5)}
ranked = pd.DataFrame({"rank": np.arange(1, n + 1), "word": np.array(words)[order], "score": a[order]})
ranked["in P"], ranked["in G"] = (np.where(which[order], "yes", "") for which in (predicted, marks))
ranked["precision so far"] = marks[order].cumsum() / ranked["rank"]
ranked["recall so far"] = marks[order].cumsum() / marks.sum()
why_k = f"K = {K}, because the excerpts and the example have {marked_each:.2f} marked wordpieces on average"
display(page.listing(ranked, "together_metrics_ranked", caption=f"The example's words by score; {why_k}", digits=4))
Markdown(
    f"$P$ has {predicted.sum()} words, $G$ has {marks.sum()}, and {hits} are in both: precision "
    f"{hits / predicted.sum():.3f}, recall {hits / marks.sum():.3f}, $F_1$ = {by_hand['token_f1']:.4f} (`evaluate`: "
    f"{by_faithlib.token_f1:.4f}). IOU = {iou:.3f}; a match needs one half, so IOU-F1 is "
    f"{by_hand['iou_f1']:.0f} (`evaluate`: {by_faithlib.iou_f1:.0f}). ERASER's, over {len(runs_of_words(predicted))} and "
    f"{len(runs_of_words(marks))} spans: {span_f1(predicted, marks):.3f}."
)

# %% [markdown]
# ### AUPRC
#
# Without a $K$: walk down the ranking and note precision and recall at every word. The area under the curve they draw,
# by trapezia from recall 0 and precision 1 on, is **AUPRC**, better when higher {cite:p}`deyoung_2020`. *Average
# precision* ({ref}`MAP <map>`) makes steps of the same points. Equal scores come in together, so their order in the
# text gains nothing. By chance the two come to about the share of marked words, which the dotted line marks.

# %%
precision, recall = np.r_[1, ranked["precision so far"]], np.r_[0, ranked["recall so far"]]
by_hand["auprc"] = ((precision[1:] + precision[:-1]) / 2 * np.diff(recall)).sum()
steps = (precision[1:] * np.diff(recall)).sum()
fig, alt = evalxnlp_figures.precision_and_recall(precision, recall, marks.mean(), lines=by_hand["auprc"], steps=steps)
display(page.figure(fig, "together_metrics_auprc", alt=alt, caption="Precision and recall down the example's ranking."))
Markdown(f"By hand {by_hand['auprc']:.4f}, `evaluate` {by_faithlib.auprc:.4f}.")

# %% [markdown]
# ## Complexity
#
# How few words does the explanation name? Neither the model nor what people marked is used.
#
# ### Complexity and sparseness
#
# How many words does an explanation point to? Only the sizes of the scores count, as shares
# $f_j = |a_j| / \sum_k |a_k|$. **Complexity** is their entropy {cite:p}`bhatt_2020`, better when lower; **sparseness**
# their Gini index {cite:p}`chalasani_2020,hurley_rickard_2009`, better when higher. With
# $f_{(1)} \le \dots \le f_{(n)}$ in ascending order,
#
# $$\text{complexity} = -\sum_{j=1}^{n} f_j \ln f_j, \qquad
# \text{sparseness} = 1 - 2 \sum_{k=1}^{n} f_{(k)}\, \frac{n - k + \frac12}{n}.$$ (eq-together-sparse)
#
# The first goes from 0 (one word has all) to $\ln n$ (all have the same), the second from 0 (all the same) to $(n-1)/n$
# (one has all). "Better" here means easier to read; a model may well use many words.

# %%
ascending = np.argsort(np.abs(a), kind="stable")
f, k = evalxnlp.shares_of(a), np.arange(1, n + 1)
terms = pd.DataFrame({"word": np.array(words)[ascending], "f": f, "-f ln f": -f * np.log(np.where(f > 0, f, 1))})
terms["(n-k+½)/n"] = (n - k + 0.5) / n
terms["f (n-k+½)/n"] = f * terms["(n-k+½)/n"]
sums = terms.sum(numeric_only=True)
by_hand |= {"complexity": sums["-f ln f"], "sparseness": 1 - 2 * sums["f (n-k+½)/n"]}
total = pd.DataFrame([{"word": "sum"} | sums.drop("(n-k+½)/n").to_dict()])
caption = "Shares of the example's scores in ascending order, and the terms of both sums"
display(page.listing(pd.concat([terms, total], ignore_index=True), "together_metrics_shares", caption=caption))
Markdown(
    f"Complexity {by_hand['complexity']:.4f} of at most ln {n} = {np.log(n):.4f} (`evaluate`: "
    f"{by_faithlib.complexity:.4f}): as spread as {np.exp(by_hand['complexity']):.1f} words with equal scores. "
    f"Sparseness {by_hand['sparseness']:.4f} of at most {(n - 1) / n:.4f} (`evaluate`: {by_faithlib.sparseness:.4f})."
)

# %% [markdown]
# An image of the second formula: add the shares up from the smallest on. Were all the same, the sum would climb along
# the diagonal; the more it sags below (the *Lorenz curve*), the more of everything a few words have. The area under the
# curve is $\sum_k f_{(k)} (n - k + \frac12)/n$, because the $k$-th share counts in all trapezia from its own on, half
# in its own. So sparseness is twice the area between diagonal and curve.

# %%
shown = {"the example": f, "all the same": np.full(n, 1 / n), "one word has all": np.eye(n)[-1]}
ginis = {name: evalxnlp.sparseness(part) for name, part in shown.items()}
fig, alt = evalxnlp_figures.lorenz(shown, ginis)
caption = f"Sparseness is twice the shaded area: {ginis['the example']:.3f} for the example."
page.figure(fig, "together_metrics_lorenz", alt=alt, caption=caption)

# %% [markdown]
# ## By hand and by faithlib

# %%
check = pd.DataFrame([{"metric": m, "by hand": by_hand[m], "by faithlib": by_faithlib[m]} for m in METRICS])
gaps = (check["by hand"] - check["by faithlib"]).abs()
check["difference"] = [f"{gap:.1e}" for gap in gaps]
display(page.listing(check, "together_metrics_check", caption="The example under all nine metrics, twice", digits=6))
Markdown(
    f"{(gaps < 1e-4).sum()} of {len(gaps)} agree to four digits; largest difference: {gaps.max():.1e}. Probabilities are "
    "float32, which holds seven digits."
)

# %% [markdown]
# ## Ten excerpts
#
# The same over the set, for occlusion and for random scores, an {term}`uninformative baseline`. Intervals draw
# excerpts again, those of
# one paper together. Ten texts are too few to judge a method: this table is for the metrics, and n says on how many of
# them a metric is defined.

# %%
caption = f"Nine metrics of occlusion and random scores: mean over the set and 95 % interval; K = {K}"
means = {(metric, method): of_set(method, metric) for metric in METRICS for method in METHODS}
page.listing(listed(means, ["metric", "method"]), "together_metrics_set", caption=caption)

# %%
spanned = evalxnlp.iou_f1_of_spans(each[1:], K)
Markdown(
    f"ERASER's IOU-F1, text by text, is {spoken(spanned)} for occlusion, where the IOU-F1 of the table, the share of matches, is "
    f"{spoken(of_set('occlusion', 'iou_f1'))} (n = {EXCERPTS}). One is about spans, the other about texts: two metrics with one name."
)

# %% [markdown]
# ## The extremes
#
# Values that follow from the definitions, whatever the model: each as `faithlib` computes it, and the value it must have.

# %%
fixed = load("by_hand_ends", profile).drop(columns="run_id", errors="ignore")
agree = np.isclose(fixed["must be"], fixed["is"], atol=1e-6, equal_nan=True)
display(page.listing(fixed, "together_metrics_ends", caption="Ends that the definitions fix; – is NaN"))
Markdown(f"{agree.sum()} of {len(fixed)} lines agree.")

# %% [markdown]
# And a text of one word, with the query of the example. The lines *one word* above are of the formulas alone; `evaluate`
# gives a value (– if it does not) only of metrics that one word is enough for, those of plausibility. $K$ is 1. If the
# word's score is not positive, $P$ is empty, and token-F1 and IOU-F1 are 0.

# %%
of_one = load("by_hand_one_word", profile).set_index("metric").value
caption = f"All nine metrics of the text “{words[int(order[0])]}”, its one word marked"
page.listing(pd.DataFrame([{label(m): of_one[m] for m in METRICS}]), "together_metrics_one_word", caption=caption)

# %%
page.run.note(n=EXCERPTS, draws=len(drawn))
page.finish(note="one example picked by hand and the set; sizes are the same in every profile")
