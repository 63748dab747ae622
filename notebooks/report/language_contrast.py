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
from IPython.display import Markdown, display

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.studies.together import prompted
from faithbook.studies.together.prompted import ALONE, CONTRAST, FEWEST_SENTENCES, NO_OUTPUT, WITHOUT_MODEL, subjects

page = start_page("language_contrast", profile, values=values, paper=published.OUR_OWN)
FILES = ["language_agreement", "language_agreement_outputs"]
BY = {"parts": FILES, "prepare": subjects, "bounds": (0, 1)}
there = page.has("language_agreement")
if there:
    measured = page.measure("language_agreement", over=["explained", "method"], **BY)
    nearer = page.measure("language_agreement", over=["explained", "method", "misleads"], **BY)


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    if not there:
        return WITHOUT_MODEL
    explained = measured.frame[measured.frame.explained == CONTRAST].method.unique().tolist()
    first = max(explained, key=lambda name: measured.mean(method=name, explained=CONTRAST).ours.point)
    return (
        f"{label(first)} gives the subject the highest score in {spoken(measured.mean(method=first, explained=CONTRAST), '.2f')} of the "
        "sentences when it explains the contrast of the two verbs, and in "
        f"{spoken(measured.mean(method=first, explained=ALONE), '.2f')} when it explains the right verb alone; over {len(explained)} "
        f"methods the means are {spoken(measured.mean(method=explained, explained=CONTRAST), '.2f')} and "
        f"{spoken(measured.mean(method=explained, explained=ALONE), '.2f')} (n = {measured.mean(method=first, explained=ALONE).ours.n:,}; "
        "chance is one in five)."
    )


page.in_short(in_short)

# %% [markdown]
# After "The keys near the cabinet" comes "are", and the subject decides that. {cite:t}`yin_neubig_2022` and
# {cite:t}`arras_2025` explain such predictions by a contrast. The sentences are our own, so the truth is known without
# annotation. The model is small: SmolLM2-135M {cite:p}`allal_2025`.

# %% [markdown]
# ## How often the subject is first
#
# *First*: the subject's score is the only largest of the sentence's five words. We count only sentences whose right verb
# the model finds more probable than the wrong one. Under p(right verb) itself, saliency, input × gradient and occlusion order
# words as under its logarithm. Attention, rollout and random scores do not depend on the output, so they have one value.
# Intervals draw triples of subject, preposition and noun, which have four sentences each.


# %%
def share(method, explained, **more):
    """How often a method puts the subject first."""
    return (nearer if more else measured).mean(method=method, explained=explained, **more)


if there:
    frame = measured.frame
    methods = list(dict.fromkeys(frame.loc[frame.explained == CONTRAST, "method"]))
    blind = list(dict.fromkeys(frame.loc[frame.explained == NO_OUTPUT, "method"]))
    contrasts = {name: share(name, CONTRAST) for name in methods}
    alone = {name: share(name, ALONE) for name in methods} | {name: share(name, NO_OUTPUT) for name in blind}
    series = {"log p(right verb), or no output": alone, "contrast": contrasts}
    fig, alt = prompted.by_method(series, xlabel="share of sentences whose subject is first")
    counted = measured.frame.id.nunique()
    caption = (
        "How often the subject has the highest score, with 95 % intervals, on a small model (SmolLM2-135M); "
        f"n = {counted:,} sentences. Chance is one in five."
    )
    display(page.figure(fig, "language_contrast_first", alt=alt, caption=caption))
    page.overview((fig, alt), "language_overview", caption=caption)
    quoted = {f"{name}, contrast": one for name, one in contrasts.items()}
    page.quote("lm_subject", quoted | {f"{name}, alone": one for name, one in alone.items()})
else:  # the overview includes this file in every build
    counted = 0
    page.run.path("language_overview.md").write_text(f"{WITHOUT_MODEL}\n", encoding="utf-8")

# %% [markdown]
# ## Where the nearer noun misleads
#
# In half of the sentences the second noun has the other number ("The keys near the cabinet"), so a method that follows the
# nearest noun finds a reason against the right verb.

# %%
if there:
    rows = {
        (label(name), {"False": "same number", "True": "other number"}[other], kind): share(name, kind, misleads=other)
        for name in methods
        for other in ("False", "True")
        for kind in (CONTRAST, ALONE)
    }
    table = listed(rows, ["method", "nearer noun", "explained"])
    caption = (
        "Share of sentences whose subject is first, by the number of the nearer noun, with 95 % intervals; n sentences"
    )
    display(page.listing(table, "language_contrast_nearer", digits=2, caption=caption))

# %% [markdown]
# ## The answer
#
# For each method the share under the contrast minus the share under log p(right verb). *More often* means by more than 0.05,
# for more than half of the methods.

# %%
parts = {label(name): contrasts[name] - alone[name] for name in methods} if there else {}
tested = page.test({"lm_q3": parts})
display(page.verdicts(tested))
if counted < FEWEST_SENTENCES:
    display(Markdown(f"{counted} sentences were counted, and the rule needs {FEWEST_SENTENCES}."))
if there:
    display(page.parts(tested, "language_contrast_parts", caption="The difference for each method"))

# %%
page.finish(note="" if there else "the model is not on this machine")
