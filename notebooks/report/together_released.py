# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What a toolkit's page says, and what its code computes

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.studies.together import evalxnlp
from faithbook.studies.together.evalxnlp import TOGETHER

page = start_page("together_released", profile, values=values, paper=published.OUR_OWN)
METRICS = ["soft_ns", "soft_nc", "n_auc", "autpc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness"]
texts, tokens = load("by_hand_texts", profile), load("by_hand_tokens", profile)
example, EXCERPTS = texts.iloc[0], len(texts) - 1
each = evalxnlp.read_texts(texts, tokens)
a, p_empty = each[0].scores, example.p_empty_by_hand
answers = load("by_hand_released_soft", profile)
ours = (
    load("by_hand_set", profile).query("method == 'occlusion'").pivot(index="input", columns="metric", values="value")
)
asked = load("by_hand_released_curves", profile)
as_released = evalxnlp.as_released(each, texts.p_full, ours, answers, asked)

# %% tags=["remove-input"]
page.in_short(lambda: evalxnlp.released_in_short(as_released))

# %% [markdown]
# The metrics of {doc}`the previous page <together_metrics>` come from EvalxNLP {cite:p}`dhaini_2025`. Its documentation does
# not always agree with the works that it follows, nor does its released code with either. This page lists the differences
# and repeats those of the code on the same example and the same ten excerpts.

# %% [markdown]
# ## What the toolkit's page says
#
# The page states that its metrics follow the cited works, and gives an arrow, a text and a formula for each. In a few
# places these contradict one another or the cited work. We follow the formula that agrees with the cited work (last
# column).
#
# | metric | on the page | ours |
# | --- | --- | --- |
# | soft sufficiency | the arrow says lower, the text that higher values are better | higher |
# | both soft metrics | the text drops tokens in proportion to importance for sufficiency, and to its complement for comprehensiveness; the masks of the formulas keep with these probabilities | keep with a for sufficiency, with 1 - a for comprehensiveness |
# | both soft metrics | one random number per token; the paper has one per element of its embedding | one per element |
# | soft comprehensiveness | only sufficiency is divided by the headroom; the paper divides both | both |
# | N-AUC | the arrow and the last sentence say lower, the first lines that a higher score is better | lower |
# | AUTPC | the arrow says lower; one sentence says that higher is more faithful, the next that a smaller area is | lower |
# | AUTPC | results are divided by the number of features, without a formula | shares of features need no division |
# | IOU-F1 | the text compares spans, the formula sets of tokens; the name says F1, the formula is a share of texts | the formula, with ERASER's version next to it |
# | token-F1, IOU-F1 | does not say how to round an average K that is not a whole number | to the nearest |
# | complexity | the entropy is divided by n; the cited work has no such factor | not divided |
# | sparseness | the text says that it reaches 1; the formula, which agrees with the cited works, reaches (n-1)/n | the formula |

# %% [markdown]
# The division by $n$ is more than a change of unit. With it the least simple explanation (all words equal) scores
# $\ln(n)/n$, which *falls* with the length of the text:

# %%
Markdown(
    f"{evalxnlp.largest_entropies([5, 10, 20, 50, 100])}. Texts of different lengths cannot be compared so: the longer one seems to have "
    "the simpler explanation."
)

# %% [markdown]
# ## What the released code computes
#
# The code was read at commit `a372815` of the toolkit's repository (soft metrics, the doubled `[CLS]` and `[SEP]`, IOU-F1 and sparseness
# also at `f66dce5`). We do not know whether any published number was made with it. The files are in its
# folder `evaluators/`. This is what they do differently:
#
# - *Soft metrics* (`softsufficiency.py`, `softcomprehensiveness.py`). The mask is applied to the **last hidden state**,
#   after all layers, with one number per token. What remains of a token's vector is not passed on: the **index of its
#   largest unit** becomes a token id, and the model reads the text of these ids. A masked token gets id 0. With $D$
#   hidden units all ids are below $D$. Sufficiency is clipped to $[0, 1]$, with 1/10,000 subtracted from its baseline;
#   comprehensiveness is not divided by the headroom.
# - *N-AUC* (`FAD.py`), *AUTPC* (`faithfulness_auc.py`). `[CLS]` and `[SEP]` are scored and masked like words; tokens
#   are joined to a string and tokenised again, so that both **occur twice**; numbers of tokens are rounded down;
#   N-AUC steps by 10 % and sorts by $|a|$, AUTPC by $a$.
# - *IOU-F1, token-F1* (`IOU.py`). IOU-F1 is the **mean overlap**; the share of matches is next to it in a comment.
#   The top $K$ are taken by $|a|$, negative scores included, and $K$ is rounded down.
# - *AUPRC* (`AUPRC.py`). Computed by scikit-learn, as ours. But the loader for film reviews
#   (`dataset_loaders/movie_rationales.py`) also keeps a place for `[CLS]` in the highlights, and the metric removes
#   `[CLS]` and `[SEP]` from the scores only: highlights and scores are then shifted by one token.
# - *Complexity* (`complexity.py`) is divided by the number of tokens, including `[CLS]` and `[SEP]`.
# - *Sparseness* (`sparseness.py`). Ranks **start at 0** in a formula that counts from 1; `[CLS]` and `[SEP]` count; and
#   all texts are padded with zero scores to the longest, which look like unimportant words.
#
# We repeat each of these in a few lines of our own, first one at a time and then all together, on the example and on the
# set. Two points we had to decide. The toolkit does not know queries and would explain the query too; we leave it
# unchanged in both columns. And `[CLS]` and the last `[SEP]` need scores, so they are occluded like words. In the second
# table *ours* is our value, and *released* the value with this step as in the released code.


# %%
blank = answers.p[(answers.what == "blank") & (answers.text == 0)].item()
Markdown(evalxnlp.what_is_read(example, a.max(), blank, p_empty))

# %%
read = load("by_hand_released_ids", profile)
ids = pd.DataFrame({"token": read.token, "score": read.score, "kept": np.where(read.kept, "yes", ""), "id": read.id})
caption = (
    "One draw of soft sufficiency, as in the released code: what the model reads instead of each token of the example"
)
page.listing(ids.assign(**{"what the model reads": read["read"]}), "together_metrics_released_ids", caption=caption)

# %%
page.listing(
    evalxnlp.released_table(as_released, METRICS),
    "together_metrics_released",
    caption="The nine metrics of occlusion, ours and with one step of the released code at a time, then with all: the example, "
    f"and the mean over the {EXCERPTS} excerpts with the 95 % interval of the difference (released minus ours). Single steps of "
    f"the curves: the example only (–). Released soft metrics: means over {answers.draw[answers.text == 1].nunique()} draws, "
    f"{answers.draw[answers.text == 0].nunique()} for the example",
)

# %%
auprc = (as_released.metric == "auprc") & (as_released.change == "as released")
nothing = (asked.metric == "autpc") & (asked.change == TOGETHER) & (asked.percent == 0) & (asked.text > 0)
Markdown(
    f"The largest difference of AUPRC as released from ours is {as_released.moved[auprc].abs().max():.0e}. The model predicts *yes* "
    f"for all {EXCERPTS} excerpts, and for only {(asked.p[nothing] > 0.5).sum()} of them once `[CLS]` and `[SEP]` are doubled and "
    "*nothing* is masked."
)

# %% [markdown]
# **Sparseness, off by one.** With ranks from 0 each share is weighed by $n - k + \frac32$ instead of
# $n - k + \frac12$. Each term grows by $f_{(k)} / n$, their sum by $1/n$, and the value falls by $2/n$, whatever the
# scores:
#
# $$1 - 2 \sum_{k=1}^{n} f_{(k)}\, \frac{n - k + \frac32}{n}
# = \text{sparseness} - \frac{2}{n}.$$ (eq-together-off-by-one)
#
# Equal scores get $-2/n$, and an explanation that marks one word only gets $1 - 3/n$. A uniform explanation of ten tokens
# thus has $-0.2$.

# %% [markdown]
# **What we did not repeat.** We did not run the toolkit itself: its explainers use different settings, and its soft
# metrics sample without a seed. For equal scores its order of tokens depends on the sorting routine. Words of several
# wordpieces can be split differently when a string with `[MASK]` in it is tokenised again; we keep their pieces. As a
# string of its own the query would also lose its token type. None of these is in the table.
#
# ## Exercises
#
# {doc}`The collection of this part <../together/exercises>` begins with three exercises on these metrics, with solutions.

# %%
page.finish(note="one example chosen by hand and the set of the previous page")
