# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Language models: do scores reward marking more, and the first token?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.studies.language import marking
from faithbook.studies.language.prompted import WITHOUT_MODEL

page = start_page("language_measures", profile, values=values, paper=published.OUR_OWN)
available = page.has("language_amounts")
if available:
    page.measure("language_amounts", over=["metric", "method"], prepare=marking.with_correlations)
    sinks = page.measure(
        "language_amounts", parts=["sinks"], over=["first", "metric", "method"], prepare=marking.above_its_share
    )
    texts = page.measure("language_amounts", parts=["texts"], over=["metric"])
    score, first_token = page.quantity("metric", "method"), sinks.quantity("first", "metric", "method")
    right = texts.mean(metric="right")

page.in_short(lambda: marking.in_short(score, first_token, right) if available else WITHOUT_MODEL)

# %% [markdown]
# A faithfulness score of a language model can measure two things by mistake. *Amount*: soft metrics drop elements of a
# word's embedding with a probability that follows its score. A method with large scores then keeps, or loses, more of the
# text, whatever its order. {cite:t}`huang_chan_2026` compare methods at the same expected retention instead (pi-Soft).
# *Sinks*: decoders give most of their attention to the first token of a prompt, whatever it is.
#
# The model is small: SmolLM2-135M-Instruct with weights of 4 bits. The prompt asks for the sentiment of a one-sentence film
# review (SST-2). We explain the probability of the predicted word, " positive" or " negative". Words of the review are
# features. The rules were fixed before any value was computed.

# %% [markdown]
# ## Do soft metrics reward large scores?
#
# Soft-NS says how well the answer survives when only what a method marks is kept, Soft-NC how far it falls when that is erased
# ({ref}`their range <metric-ends>`). Both are shares of the {term}`headroom`, the probability on the whole review minus that on an empty
# one. So they are defined only for reviews with headroom (n counts these), and values far outside 0 to 1 are possible where it is small.
#
# Scores are stretched to [0, 1] in each text; the *amount* of a method is their mean. For each text the methods have a rank by
# amount and one by metric; the rank correlation of the two is averaged over texts. Above zero, methods that mark more score
# higher. A correlation alone could mean that better methods mark more. So occlusion enters twice more, its importance to the
# power 1/3 and to the power 3: one order, two amounts.
#
# *At equal retention* (pi-Soft-NS, pi-Soft-NC): scores are shifted until every method keeps the same share of the text, a
# quarter, a half, three quarters; the value is the area over these shares. How the shift is made is our choice
# ({doc}`../foundations/metrics`).

# %%
if available:
    amounts = marking.amounts_by_method(score)
    listing = page.listing(
        marking.correlation_table(amounts),
        "language_amounts",
        caption="Methods on a small language model: amount (mean importance of a word), soft metrics as they are and at equal retention "
        f"(higher is better), with 95 % intervals; n = {amounts.n.min()} texts in the smallest cell",
    )
listing if available else None

# %%
if available:
    fig, alt = marking.amounts_drawn(amounts, marking.correlations_with_amount(score))
    caption = (
        "How much a method marks and its soft metrics (higher is better), as they are and at equal retention, with 95 % intervals. "
        f"SmolLM2-135M-Instruct, SST-2, n = {amounts.n.min()} texts."
    )
page.figure(fig, "language_amounts_plot", alt=alt, caption=caption, data=amounts) if available else None

# %%
claims = {"lm_huang_c01": {}, "lm_q1": {}, "lm_huang_c02": {}}  # without values they are not testable here
if available:
    claims = {
        "lm_huang_c01": marking.rewards_for_amount(score),
        "lm_q1": marking.falls_of_correlation(score),
        "lm_huang_c02": marking.ahead_of_occlusion(score),
    }
tested = page.test(claims)
page.verdicts(tested)

# %%
caption = "The parts of these claims, on a small model"
page.parts(tested, "language_amounts_parts", caption=caption) if available else None

# %% [markdown]
# ## What falls on the first token?
#
# A decoder's attention has to go somewhere at every position, and most of it goes to the first token, which all later ones see.
# For this question the whole prompt is explained, token by token. *Share*: the part of the absolute scores that the first token
# has; an even share would be one over the number of tokens. Rollout without the sink sets attention to the first token to zero
# before it multiplies.

# %%
if available:
    shares = marking.first_shares(first_token)
    even = first_token("share", "even_share", "attention").ours.point
    fig, alt = marking.first_shares_drawn(shares, even)
    caption = f"The first token's share of a prompt's scores; dotted: an even share, {even:.0%}. SmolLM2-135M-Instruct, SST-2, n = {shares.n.min()}."
page.figure(fig, "language_sinks_plot", alt=alt, caption=caption, data=shares) if available else None

# %% [markdown]
# What does protecting it change? For the next table the review comes first in the prompt, so that the first token is one of its
# words. Either it is a feature like the others (*open*), or it is protected and only the other words are features. This is another prompt,
# so the number of reviews with headroom is another one.

# %%
caption = (
    "Metrics with the first word of the prompt as a feature (open) and protected, and the change (protected minus open) with its 95 % "
    "interval; a small model, higher is better, n reviews"
)
page.listing(marking.protecting(first_token), "language_sinks", caption=caption) if available else None

# %%
claims = {"lm_q5": {}, "lm_q6": {}}
if available:
    claims = {"lm_q5": marking.above_even_share(first_token), "lm_q6": marking.gains_of_attention(first_token)}
tested = page.test(claims)
page.verdicts(tested)

# %%
caption = "The parts of these claims, on a small model"
page.parts(tested, "language_sinks_parts", caption=caption) if available else None

# %%
if available:
    page.quote("lm_equal_retention", marking.correlations_to_quote(score))
page.finish(note="" if available else "no language model on this machine")
