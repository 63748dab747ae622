# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What a toolkit's page says, and what its code computes
#
# The metrics of {doc}`the page before <together_metrics>` come from EvalxNLP {cite:p}`dhaini_2025`. Its documentation does
# not always agree with the works that it follows, nor its released code with either. This page says where, and does what
# the code does otherwise again, on the same example and the same ten excerpts.

# %% tags=["parameters"]
profile = "laptop"

# %%
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from faithbook.engine.run import load
from faithbook.papers import evalxnlp
from faithbook.papers.evalxnlp import TOGETHER
from faithbook.results import published
from faithbook.results.report import start_page

page = start_page("together_released", profile, paper=published.OUR_OWN)
METRICS = ["soft_ns", "soft_nc", "n_auc", "autpc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness"]
texts, tokens = load("by_hand_texts", profile), load("by_hand_tokens", profile)
example, EXCERPTS = texts.iloc[0], len(texts) - 1
each = evalxnlp.read_texts(texts, tokens)
a, p_empty = each[0].scores, example.p_empty_by_hand

# %% [markdown]
# ## What the toolkit's page says
#
# The page says that its metrics follow the works they come from, and gives an arrow, a text and a formula for each. In
# a few places these do not say the same, or not what the cited work says. We follow the formula that agrees with the
# cited work: the last column.
#
# | metric | on the page | here |
# | --- | --- | --- |
# | soft sufficiency | the arrow says lower, the text that higher values are better | higher |
# | both soft metrics | the text drops tokens in proportion to importance for sufficiency, and to its complement for comprehensiveness; the masks of the formulas keep with these probabilities | keep with a for sufficiency, with 1 - a for comprehensiveness |
# | both soft metrics | one random number a token; the paper has one for each element of it | one for each element |
# | soft comprehensiveness | only sufficiency is divided by the room; the paper divides both | both |
# | N-AUC | the arrow and the last sentence say lower, the first lines that a higher score is better | lower |
# | AUTPC | the arrow says lower; one sentence says that higher is more faithful, the next that a smaller area is | lower |
# | AUTPC | results are divided by the number of features, without a formula | shares of features need no division |
# | IOU-F1 | on the level of spans by the text, over sets of tokens by the formula; F1 by name, a share of texts by formula | the formula; ERASER's beside it |
# | token-F1, IOU-F1 | how an average K that is no whole number is rounded is left open | to the nearest |
# | complexity | the entropy is divided by n; the cited work has no such factor | not divided |
# | sparseness | reaches 1 by the text; the formula, which agrees with the cited works, ends at (n-1)/n | the formula |

# %% [markdown]
# The division by $n$ is more than another unit. With it, the least simple explanation there is, all words equal, scores
# $\ln(n)/n$, which *falls* with the length of the text:

# %%
lengths = "; ".join(f"{np.log(m) / m:.3f} for {m} words" for m in (5, 10, 20, 50, 100))
Markdown(
    f"{lengths}. Texts of different length could not be compared: the longer one would seem to have the simpler explanation."
)

# %% [markdown]
# ## What the released code computes
#
# The code was read at commit `a372815` of the toolkit's repository (soft metrics, doubled ends, IOU-F1 and sparseness
# also at `f66dce5`). Whether any published number was made with it is unknown. The files are in its
# folder `evaluators/`. What they do otherwise, in our words:
#
# - *Soft metrics* (`softsufficiency.py`, `softcomprehensiveness.py`). The mask falls on the **last hidden state**,
#   behind all layers, one number a token. What is left of each token's vector is not handed on: the **index of its
#   largest unit** becomes a token id, and the model reads the text of these ids. A masked token gets id 0. With $D$
#   hidden units the ids lie below $D$. Sufficiency is clipped to $[0, 1]$, with 1/10,000 taken off its baseline;
#   comprehensiveness is not divided by the room.
# - *N-AUC* (`FAD.py`), *AUTPC* (`faithfulness_auc.py`). `[CLS]` and `[SEP]` are scored and masked like words; tokens
#   are joined to a string and tokenised again, so that the ends **stand twice**; numbers of tokens are rounded down;
#   N-AUC steps by 10 % and sorts by $|a|$, AUTPC by $a$.
# - *IOU-F1, token-F1* (`IOU.py`). IOU-F1 is the **mean overlap**; the share of matches is next to it in a comment.
#   The top $K$ are taken by $|a|$, negative scores included, and $K$ is rounded down.
# - *AUPRC* (`AUPRC.py`). As here, by scikit-learn. But the loader for film reviews
#   (`dataset_loaders/movie_rationales.py`) also keeps a place for `[CLS]` in the marks, and the metric cuts the ends
#   off the scores only: marks and scores are then one token apart.
# - *Complexity* (`complexity.py`) is divided by the number of tokens, `[CLS]` and `[SEP]` among them.
# - *Sparseness* (`sparseness.py`). Ranks **start at 0** in a formula that counts from 1; `[CLS]` and `[SEP]` count; and
#   all texts are padded with zero scores to the longest, which look like unimportant words.
#
# Below, each of these is done again in a few lines of our own, alone and then together, on the example and on the set.
# Two things had to be decided. The toolkit knows no query and would explain it as well; here it stays as it is in both
# columns. And `[CLS]` and the last `[SEP]` need scores, so they are occluded like words. In the second table *here* is
# our value, and *so* the one with that step done as the code does it.


# %%
read = load("by_hand_released_ids", profile)
answers = load("by_hand_released_soft", profile)
blank = answers.p[(answers.what == "blank") & (answers.text == 0)].item()
sentence = (
    f"In the example `[CLS]` scores {example.cls:+.3f} and `[SEP]` {example.sep:+.3f}; the highest word has {a.max():.3f}. "
    f"The model has {example.hidden_units} hidden units, and of as many first entries of its vocabulary "
    f"{example.words_below} are words: whatever a draw keeps, the model reads none of them. With every id at 0 it still "
    f"says *yes* with p = {blank:.3f} (features at zero embedding: {p_empty:.3f}); the query is still there."
)
display(Markdown(sentence))
ids = pd.DataFrame({"token": read.token, "score": read.score, "kept": np.where(read.kept, "yes", ""), "id": read.id})
caption = "One draw of soft sufficiency, as the released code does it: what becomes of the example's tokens"
page.listing(ids.assign(**{"what the model reads": read["read"]}), "together_metrics_released_ids", caption=caption)

# %%
ours = (
    load("by_hand_set", profile).query("method == 'occlusion'").pivot(index="input", columns="metric", values="value")
)
asked = load("by_hand_released_curves", profile)
so = evalxnlp.as_released(each, texts.p_full, ours, answers, asked)
released, directions = evalxnlp.released_table(so, METRICS)
page.listing(
    released,
    "together_metrics_released",
    caption="The nine metrics of occlusion, here and with what the released code does otherwise: the example, and "
    f"the mean over the {EXCERPTS} excerpts with the 95 % interval of the change. Single steps of the curves on the "
    f"example only (–); released soft metrics as means over {answers.draw[answers.text == 1].nunique()} draws, "
    f"{answers.draw[answers.text == 0].nunique()} for the example",
)

# %%
nothing = (asked.metric == "autpc") & (asked.change == TOGETHER) & (asked.percent == 0) & (asked.text > 0)
Markdown(
    f"With everything together the mean over the set goes up, by an interval without zero, for {directions['up']}; it "
    f"goes down for {directions['down']}. For {directions['open']} the set is too small to tell. AUPRC as released differs from ours by "
    f"{so.moved[(so.metric == 'auprc') & (so.change == 'as released')].abs().max():.0e} at most. With the ends twice and "
    f"*nothing* masked, the model says *yes* to {(asked.p[nothing] > 0.5).sum()} of {EXCERPTS} excerpts, all of which it answers "
    "with *yes* as they are."
)

# %% [markdown]
# **Sparseness, off by one.** With ranks from 0 each share is weighed by $n - k + \frac32$ instead of
# $n - k + \frac12$. Each term grows by $f_{(k)} / n$, their sum by $1/n$, and the value falls by $2/n$, whatever the
# scores:
#
# $$1 - 2 \sum_{k=1}^{n} f_{(k)}\, \frac{n - k + \frac32}{n}
# = \text{sparseness} - \frac{2}{n}.$$ (eq-together-off-by-one)
#
# Equal scores get $-2/n$, and one word that has all gets $1 - 3/n$. A uniform explanation at $-.2$ is thus one of ten
# tokens.

# %% [markdown]
# **What was not replayed.** The toolkit itself was not run: its explainers use other settings than ours, and its soft
# metrics draw without a seed. Where scores are equal, its order of tokens depends on the sorting routine. Words of more
# than one wordpiece can be cut differently when a string with `[MASK]` in it is tokenised again; our rows keep their
# pieces. In a string of its own the query would also lose its token type. None of these is in the table.
#
# ## Exercises
#
# Three exercises on these metrics, with solutions, open {doc}`the collection of this part <../together/exercises>`.

# %%
page.finish(note="one example picked by hand and the set of the page before")
