# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Language models: which erasure?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.engine.studies import settings_of
from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.details import details
from faithbook.studies.language import win_rates
from faithbook.studies.language.prompted import WITHOUT_MODEL

page = start_page("language_win_rates", profile, values=values, paper=published.OUR_OWN)
available = page.has("language_erasures")
lengths = []
if available:
    measured = page.measure(
        "language_erasures",
        over=["length", "erasure", "metric", "method"],
        prepare=win_rates.by_length,
        bounds=(0, 1),
    )
    texts = page.measure("language_erasures", parts=["texts"], over=["length", "metric"], prepare=win_rates.by_length)
    wins = page.quantity("method", "erasure", "length", metric=win_rates.SIDE)
    lengths = [length for length in ("short", "long") if length in measured.levels("length")]
    rates = win_rates.win_rate_table(wins, lengths)
    page.quote("lm_wins", win_rates.quoted(wins, lengths))

page.in_short(lambda: win_rates.in_short(wins, rates, lengths) if available else WITHOUT_MODEL)

# %% [markdown]
# {cite:t}`basu_chakraborty_2026` erase, in each text, the words that a method names, and compare the fall of the answer's probability
# with that after erasing random words of the same number (*matched random rationales*). The share of random word sets after which the
# probability falls less is the method's *win rate*. They find that it depends on how words are erased, by up to 44 percentage points.
#
# Our model is SmolLM2-135M-Instruct with 4-bit weights. Its prompts ask for the sentiment of film reviews. *Short* texts are
# sentences of 6 to 16 words (SST-2), *long* ones excerpts of 40 words in which people marked the reason. A method names
# the 20 % of the words with the highest scores; {doc}`../foundations/attribution` describes the methods. *Rollout without the sink* leaves
# out the first token, the *sink*, to which decoders give most attention whatever it is.


# %%
if available:
    matches = settings_of("language_erasures", measured.material.profile)["matches"]
    about_texts = win_rates.answered_rightly(texts.mean, lengths, matches=matches)
Markdown(about_texts) if available else None

# %% [markdown]
# ## Four ways to erase
#
# A word is *deleted* (the text closes up), replaced by the *padding token*, *set to zero* (its embedding), or replaced by a random word of
# *another text* (our version of *infill*). The scores of a method are the same in all four. Occlusion gets its scores by setting words to zero
# itself, so it has an advantage under that erasure.

# %%
if available:
    fig, alt = win_rates.win_rate_figure(rates, lengths)
    caption = (
        "Win rates with 95 % intervals, by what replaces an erased word; dotted: chance. *random*: random scores, which name random "
        f"words. n = {win_rates.text_counts_in_words(rates, lengths)} texts."
    )
page.figure(fig, "language_win_rates_plot", alt=alt, caption=caption, data=rates) if available else None

# %%
if available:
    listing = page.listing(
        win_rates.rates_for_readers(rates, lengths),
        "language_win_rates",
        caption=f"Win rates by erasure, with 95 % intervals (chance: 0.50); n = {win_rates.text_counts_in_words(rates, lengths)} texts",
    )
details("The win rates in numbers", listing) if available else None

# %% [markdown]
# ## The claims
#
# The claims are about seven language models. We test them on one small model, and *holds* means that they hold for it. The first claim
# is tested on the short texts, each erasure against deletion, so the largest gap of all (above, on long texts) is not among its
# comparisons. A *configuration* is a method with an erasure and a length. *Plausibility* is how highly a method scores the words that
# people marked (average precision, {ref}`defined here <map>`). It is known for the long texts, and its rank correlation with the win rate
# is over the five methods of one text.

# %%
claims = {name: {} for name in ("lm_ice_c01", "lm_ice_c02", "lm_ice_c03", "lm_ice_c04")}  # without values not testable
if available:
    claims["lm_ice_c01"] = win_rates.dependence_on_erasure(wins)
if "long" in lengths:
    plausibility = page.measure(
        "language_erasures", parts=["", "texts"], over=["erasure"], prepare=win_rates.with_plausibility
    )
    claims["lm_ice_c02"] = win_rates.deletion_and_infill(wins)
    claims["lm_ice_c03"] = win_rates.below_one_half(wins, lengths)
    claims["lm_ice_c04"] = win_rates.with_each_erasure(plausibility.mean)
tested = page.test(claims)
page.verdicts(tested)

# %%
page.parts(tested, "language_win_rates_parts", caption="Every comparison of these claims") if available else None

# %% [markdown]
# **How to read this.** One clear comparison is enough for the first claim, and occlusion under *set to zero* has an advantage by construction
# (see above). No table says which erasure is right: none of the four leaves a text that somebody would write.

# %%
page.finish(note="" if available else "no language model on this machine")
