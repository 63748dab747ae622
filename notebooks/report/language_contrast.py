# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Does a contrast find the subject?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.studies.language import prompted
from faithbook.studies.language.prompted import CONTRAST, FEWEST_SENTENCES, NO_OUTPUT, WITHOUT_MODEL

page = start_page("language_contrast", profile, values=values, paper=published.OUR_OWN)
available = page.has("language_agreement")
methods, counted = [], 0
if available:
    how = {
        "parts": ["language_agreement", "language_agreement_outputs"],
        "prepare": prompted.subjects,
        "bounds": (0, 1),
    }
    measured = page.measure("language_agreement", over=["explained", "method"], **how)
    nearer = page.measure("language_agreement", over=["explained", "method", "misleads"], **how)
    share, share_by_noun = (scores.quantity("method", "explained") for scores in (measured, nearer))
    methods = prompted.explaining(measured.frame, CONTRAST)
    counted = measured.frame.id.nunique()

page.in_short(lambda: prompted.contrast_in_short(share, methods) if available else WITHOUT_MODEL)

# %% [markdown]
# After "The keys near the cabinet" comes "are", and the subject decides that. {cite:t}`yin_neubig_2022` and
# {cite:t}`arras_2025` explain such predictions by a contrast, log p(right verb) − log p(wrong verb). The sentences are our own,
# so the truth is known without annotation. The model is small: SmolLM2-135M-Instruct {cite:p}`allal_2025`.

# %% [markdown]
# ## How often the subject is first
#
# *First*: the subject's score is the only largest of the sentence's five words. We count only sentences whose right verb
# the model finds more probable than the wrong one. Under p(right verb) itself, saliency, input × gradient and occlusion order
# words as under its logarithm. Attention, rollout and random scores do not depend on the output, so they have one value.
# *Rollout without the first token* sets attention to the first token of the prompt to zero before it multiplies the layers.
# Intervals come from resampling triples of subject, preposition and noun, which have four sentences each.

# %%
Markdown(prompted.sentences_counted(measured.material.units, counted)) if available else None


# %%
if available:
    contrasts = prompted.by_contrast(share, methods)
    alone = prompted.by_verb_alone(share, methods, blind=prompted.explaining(measured.frame, NO_OUTPUT))
    fig, alt = prompted.by_method(
        {"log p(right verb), or no output": alone, "contrast": contrasts},
        xlabel="share of sentences whose subject is first",
    )
    caption = (
        "How often the subject has the highest score, with 95 % intervals, on a small model (SmolLM2-135M-Instruct); "
        f"n = {counted:,} sentences. Chance is one in five."
    )
    figure = page.figure(fig, "language_contrast_first", alt=alt, caption=caption)
    page.overview((fig, alt), "language_overview", caption=caption)
    page.quote("lm_subject", prompted.subjects_quoted(contrasts, alone))
else:  # the overview includes this file in every build
    figure = None
    page.run.path("language_overview.md").write_text(f"{WITHOUT_MODEL}\n", encoding="utf-8")
figure

# %% [markdown]
# ## When the nearer noun has the other number
#
# In half of the sentences the second noun has the other number ("The keys near the cabinet"), so a method that follows the
# nearest noun finds a reason against the right verb.

# %%
Markdown(prompted.nearer_noun_in_words(share_by_noun, methods)) if available else None

# %%
if available:
    table = prompted.by_nearer_noun(share_by_noun, methods)
    listing = page.listing(
        table,
        "language_contrast_nearer",
        caption="Share of sentences whose subject is first, by the number of the nearer noun and by what is explained, with 95 % "
        "intervals; n sentences",
        wide=prompted.by_nearer_noun_shown(table),
    )
listing if available else None

# %% [markdown]
# ## The answer
#
# For each method the share under the contrast minus the share under log p(right verb). *More often* means by more than 0.05,
# for more than half of the methods. Comparison and threshold were fixed on 2026-11-26, before any value was computed. The statistical
# test was replaced on 2026-11-28, when all values were known.

# %%
tested = page.test({"lm_q3": prompted.gains_of_contrast(share, methods) if available else {}})
page.verdicts(tested)

# %%
Markdown(
    f"{counted} sentences were counted, and the rule needs {FEWEST_SENTENCES}."
) if counted < FEWEST_SENTENCES else None

# %%
page.parts(tested, "language_contrast_parts", caption="The difference for each method") if available else None

# %%
page.finish(note="" if available else "the model is not on this machine")
