# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which metric should I use?
#
# One page for somebody with a model, a few attributions, and no time. Everything on it is drawn from the two pages
# before it, {doc}`together_diagnosticity` and {doc}`together_planted_truth`; where these are unsure, so is this one.
#
# A metric of faithfulness is asked four things here:
#
# 1. **Does it tell?** It prefers what real methods say to random scores, clearly more often than not.
# 2. **Freed of amounts?** A metric that uses *how high* scores are can be told by amounts alone: a map of ones gets the
#    best Soft-NS there is. *Yes* is what still tells an attribution from itself shuffled and, as ranks, from random ranks.
#    Metrics that use nothing but the order of features have no amounts to be freed of; SaCo uses them, and no control of it
#    was run, so that it is *unsure*.
# 3. **Is it right?** Where the reason was planted and the model trained as usual, it prefers the truth to itself shuffled.
# 4. **Not worse after misleading?** Whether it tracks the truth as well on a model that takes erased inputs for something
#    else: *no* where it clearly loses rank correlation with how true explanations are, however little; else *yes* where it
#    clearly loses less than .1. This question is about a change and does not decide: a metric that tracks the truth very
#    well may lose a little and still be ahead of one that tracks it badly and gains. So the table has the rank correlation
#    before and after misleading, and a recommendation goes by the *worse of the two*: it needs no *no* to the first three
#    questions, and a worse value that is at most .1 below the best one.
#
# Every *yes* and *no* is the answer of the rule `above` at its usual level, one metric at a time. Anything else is *unsure*,
# as is anything with fewer than ten independent inputs, or with values so skewed that a tail which the inputs lack could
# turn the answer. The models of the last two questions are one a condition; nothing was planted in photographs, of which
# they are *not asked*.

# %% tags=["parameters"]
profile = "laptop"

# %%

from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.results import published
from faithbook.results.advice import advice, answers, in_short
from faithbook.results.report import start_page

page = start_page("together_advice", profile, paper=published.OUR_OWN)
NAMES = ("diagnosticity_of_metrics", "amounts_controlled", "truth_preferred", "truth_lost", "truth_tracked")
table = advice(*(load(name, profile) for name in NAMES))
modalities = list(dict.fromkeys(table.modality))
page.listing(
    table,
    "together_advice",
    digits=2,
    caption="Every metric of faithfulness: the four answers, and n, the inputs under the answer that has fewest; rank "
    "correlation with how true explanations are, on the model trained as usual, on the one that was misled, and the worse of "
    "the two; inputs needed to tell real from random (– where these inputs do not tell them apart); rows of the model for "
    "one attribution of one input, of the same run as the answers",
)

# %%
fig, told = answers(table)
page.figure(
    fig,
    "together_advice_plot",
    alt=f"Table of answers, a row a metric; {told}",
    caption=f"The four answers, {', '.join(modalities)}. Reasons were planted in texts and small pictures only.",
)

# %% [markdown]
# ## In short

# %%
Markdown("\n".join(in_short(table)))

# %% [markdown]
# ## Before you trust a number
#
# 1. **Add floors.** Random scores of the same inputs, always; scores by length where features differ in length. A metric
#    that cannot tell your methods from these says nothing about them.
# 2. **Ask what erased inputs do to your model.** Feed it inputs with features erased at random. If its answers drift
#    towards one class, expect what the models misled by erasure show, and use a way to erase that the model knows, or
#    train it on erased copies.
# 3. **Take two directions**, a metric that erases the highest scores first and one that erases the lowest first. How much
#    more metrics of one direction agree than those of opposite ones is on the page of {doc}`agreement <together_agreement>`.
# 4. **Count inputs before you rank methods**: telling a method from noise takes the number in the table, telling two good
#    methods apart takes many more.
# 5. **Do not read sufficiency and comprehensiveness without their direction**: both words mean opposite things in
#    different papers ({doc}`../foundations/metrics`).
# 6. **Shuffle.** Where a metric uses how high scores are (soft metrics, SaCo), compare an attribution with itself shuffled as
#    well: {doc}`together_diagnosticity` shows how much of a verdict can be density.
# 7. **Plausible is not faithful.** Agreement with people's marks answers another question.
#
# A metric can be right about planted reasons and wrong about yours: these are single words and cells, and yours may be
# combinations. {doc}`own_text_model` and {doc}`own_vision_model` run all metrics on your own model.

# %%
page.finish(note=f"n of the answer with fewest inputs: {table.n.min():.0f}")
