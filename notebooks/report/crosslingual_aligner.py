# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Can words be aligned? (Figure 6)

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
from IPython.display import Markdown

from faithbook.engine.studies import settings_of
from faithbook.judge.report import start_page
from faithbook.show.numbers import spoken
from faithbook.show.tables import combinations_of_labels
from faithbook.studies.crosslingual.aligners import (
    GOLD,
    NO_LAYER,
    SCORES,
    STATISTICAL,
    Aligners,
    above_english,
    agreement_of_aligners,
    drawn_rates,
)
from faithbook.studies.crosslingual.zaman_belinkov_alignment import EVERY, found_batches

page = start_page("crosslingual_aligner", profile, values=values, paper="zaman_belinkov_2022")
LAYER = settings_of("crosslingual_alignment", profile)["align_layer"]  # whose links every other page uses
links = page.measure("crosslingual_alignment", over=["gold", "method", "layer", "metric"])
aligners = Aligners(links, LAYER)
compared = page.measure("crosslingual_alignment", parts=["agreement"], over=["language", "metric"])
batches = page.measure("crosslingual_alignment", parts=["cka"], over=["model", "language"], bounds=(0, 1))


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    rates = [
        f"{spoken(aligners.in_use(gold), '.2f')} on {GOLD[gold]} ({STATISTICAL}: "
        f"{spoken(aligners.aer[gold, STATISTICAL][NO_LAYER], '.2f')}; n = {aligners.in_use(gold).ours.n} sentences)"
        for gold in aligners.gold_sets
    ]
    return (
        f"The alignment error rate of our word aligner against links made by people (lower is better) is {'; '.join(rates)}. {STATISTICAL} is "
        "a statistical aligner without an encoder."
    )


page.in_short(in_short)

# %% [markdown]
# Rho {cite:p}`zaman_belinkov_2022` depends on two assumptions. Scores are transferred along links between words, so the links
# must be right. And explanations of a text and its translation are expected to be similar, so the model must treat the two
# similarly. This page measures both: our word aligner against human links and against another aligner, and the paper's
# Figure 6, its test of the second assumption.
#
# Intervals come from resampling sentences, messages or batches of messages.

# %% [markdown]
# ## Against links made by people
#
# **What the paper has.** An aligner that was trained to align (awesome-align {cite:p}`dou_neubig_2021`, on multilingual
# BERT): two words are linked if each is likely, by a softmax, to be the translation of the other. The paper relies on its
# authors' evaluation and does not measure its quality.
#
# **Our aligner.** A pretrained multilingual encoder
# {cite:p}`wang_2024` as it is, never trained to align words. A word's vector is the mean of its pieces in one layer, and
# words are linked by the paper's rule (`softmax`): where each takes more than a thousandth of the other's softmax over
# all words. A word may have several links. We compare two others. `mutual argmax` links words that are each other's nearest on
# the same vectors, so each word has one link at most, while people link one word to several. `fast_align`
# {cite:p}`dyer_2013` counts which words occur together in many pairs and uses no encoder.
#
# **The gold.** Verses of the Greek New Testament with an English translation {cite:p}`clear_bible_2022`. The Greek is
# ancient, in modern spelling: related to one of our languages but identical to none. Two further sets are
# closer: Bulgarian {cite:p}`martelli_2023` and German {cite:p}`vilar_2006`.
#
# **The scores.** Precision: the share of found links that are right. Recall: the share of people's links that are
# found. F1 is their harmonic mean. {term}`AER` is the alignment error rate: lower is better, and where all links are
# sure it is 1 minus F1.

# %%
Markdown(aligners.in_words())

# %% [markdown]
# ### By layer

# %%
fig, alt = aligners.drawn_by_layer()
caption = (
    "Alignment error rate by layer (dotted: the one in use), bands: 95 % intervals over sentences. fast_align learns from these and other "
    "sentences of the set, the encoder from none of them."
)
page.figure(fig, "crosslingual_aligner_layers", alt=alt, caption=caption)

# %%
page.table(
    "crosslingual_aligner_scores",
    lambda row: aligners.score(row["gold"], row["aligner"], row["layer"], row["score"]),
    rows=["gold", "aligner", "layer"],
    columns=["score"],
    words=SCORES | {NO_LAYER: "–", STATISTICAL: STATISTICAL},
    printed=aligners.rows(),
    caption="Word links against people's, every layer and aligner, n sentences; lower is better for AER, higher for the others",
)

# %% [markdown]
# An aligner without training has a high error rate on a language that it hardly knows, like ancient Greek, and `fast_align`, trained on
# these very sentences, does better. In the languages that the encoder knows, German and Bulgarian, ours is better.
#
# ## The layer in use is chosen by people's links
#
# Choosing the layer by its rho would favour what is to be measured. Ours is the layer with the
# lowest AER on the Greek verses. The table checks that choice: each layer's AER minus that of the layer in use, on the same
# resampled sentences.

# %%
page.listing(
    aligners.choice(),
    "crosslingual_aligner_choice",
    caption=f"Layers of our aligner: AER (lower is better), and AER minus that of layer {LAYER} (estimate), 95 % intervals, n sentences",
)

# %%
Markdown(aligners.lower_layers())

# %% [markdown]
# The layer was chosen on the Greek verses, while rho uses links between English and the languages of XNLI. The German and Bulgarian
# sets, which had no part in the choice, are a test of it. Our copy of the encoder keeps only the vocabulary that the texts of this book
# need and lacks some words of these two sets, so that their AER is somewhat higher here than with the whole encoder.
#
# ## On messages
#
# The rest of this page is about the messages of a program in nine languages ({term}`substitute data`). Nobody has aligned these by hand.
# But the encoder and `fast_align` work so differently that they rarely make the same mistake. The table has F1 between their links:

# %%
f1 = agreement_of_aligners(compared)
page.listing(
    f1,
    "crosslingual_agreement_f1",
    caption=f"F1 between the links of our aligner (layer {LAYER}) and of fast_align, English with each language: 95 % "
    "intervals over n messages",
)

# %%
Markdown(
    f"They agree most in {f1.language.iloc[0]} and least in {f1.language.iloc[-1]}. Low agreement may be the fault of either aligner: "
    "`fast_align` needs thousands of pairs, and has fewer in some languages. In Chinese we take every character for a word, so that an "
    "English word corresponds to several. Where links are worse, {doc}`rho <crosslingual_tables>` is lower, whatever the explanation."
)

# %% [markdown]
# ## Figure 6: does the model treat translations similarly?
#
# **What the paper shows.** Eight texts, their translations, and ten batches of eight other translations. Is the right batch the one whose
# representations are most similar to those of the English texts, by centred kernel alignment (CKA {cite:p}`kornblith_2019`)? Multilingual models find it more often than BERT models of
# one language, fine-tuned or not. Fine-tuned multilingual BERT is below the frozen one. Turkish BERT finds it more
# often than English BERT, which the authors leave open. The paper has only a figure, without numbers, so
# our table has no published values. This page has the figure on messages; on pairs of XNLI it is a table of
# {doc}`crosslingual_deviations` (E13).
#
# **Our run.** The same test on messages of the test split, in batches of eight, in several random orders. *Multilingual, frozen* is the
# encoder; *e5, fine-tuned* and *six, fine-tuned* are the classifiers that we made of its twelve and of its first six layers, one training
# run each. A small English encoder replaces BERT. Chance is 1/11. The orders share their messages, so each interval resamples only
# as many batches as one order has: another order makes the estimate more stable but no interval narrower.

# %%
rates = batches.each(found_batches)
models, languages = batches.levels("model"), batches.levels("language")
page.table(
    "crosslingual_figure6",
    lambda row: rates[row["model"], row["language"]],
    rows=["language"],
    columns=["model"],
    printed=combinations_of_labels(model=models, language=[*languages, EVERY]),
    caption="How often CKA finds the translations among eleven batches of eight; n batches of one random order",
)

# %%
fig, alt = drawn_rates(rates, models, languages)
caption = (
    "How often the right batch of translations among eleven is found by centred kernel alignment (the paper's Figure 6), with 95 % intervals. "
    "Dotted: chance."
)
page.figure(fig, "crosslingual_figure6_plot", alt=alt, caption=caption)

# %% [markdown]
# **What is tested.** Whether each multilingual model finds translations more often than the English one, mean over languages.
# The figure shows how often each does. Even the English model may be above chance, because translations share words:
# placeholders, names and numbers are copied, and differ from message to message.

# %%
tested = page.test({"crosslingual_figure6": above_english(rates, models)})
page.verdicts(tested)

# %% [markdown]
# **What differs and why.** We have messages of a few words instead of pairs of sentences, one seed of each fine-tuned model,
# another English model than BERT, and no Turkish one {cite:p}`schweter_2020`. We use the state of the first position, as the classifiers do. The
# paper does not say how batches are made. In the order of XNLI a batch would contain three hypotheses for each of a few
# premises and so differ from random batches; ours are shuffled. High similarity also does not prove that the model *uses* a
# text and its translation in the same way, which rho is about.
#
# Copied words raise both this accuracy and rho. {doc}`crosslingual_floors` shows rho without them.

# %%
page.finish(note=f"layer {LAYER}; languages: {', '.join(languages)}")
