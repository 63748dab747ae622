# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Assignment 6: Language models
#
# Fourteen points. Fill in the marked cells and run everything; a test cell that prints nothing has passed. More tests are run when the
# assignment is marked, and part 6 is read by a person. About 90 minutes. The measures are described on the pages of *Study 5* of the book.
#
# The language model here is written by hand: each word of the prompt adds a number to the logit of each possible next word.

# %% nbgrader={"grade": false, "grade_id": "given-model", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
import random

import torch

SEED = 1  # the variant of this assignment: it chooses the sentence and the numbers
_chosen = random.Random(SEED)
_SENTENCES = [
    ("the keys near the cabinet", 1, 4, "are", "is"),
    ("the author of the books", 1, 4, "is", "are"),
    ("near the doors the dogs", 4, 2, "are", "is"),
    ("the trees behind our house", 1, 4, "are", "is"),
]
_sentence, SUBJECT, NEARER, RIGHT, WRONG = _chosen.choice(_SENTENCES)
PROMPT = _sentence.split()
NEXT = ["is", "are", "and", "that", "of"]  # the words that can come next
EFFECTS = torch.zeros(len(PROMPT), len(NEXT), dtype=torch.double)  # what each word of the prompt adds to each logit
_general = _chosen.choice([place for place in range(len(PROMPT)) if place not in (SUBJECT, NEARER)])
EFFECTS[_general, :2] = _chosen.choice([1.2, 1.4, 1.6])
EFFECTS[SUBJECT, NEXT.index(RIGHT)] = _chosen.choice([0.9, 1.0, 1.1])
EFFECTS[SUBJECT, NEXT.index(WRONG)] = _chosen.choice([-1.6, -1.4])
EFFECTS[NEARER, NEXT.index(RIGHT)] = -0.4
EFFECTS[NEARER, NEXT.index(WRONG)] = _chosen.choice([0.3, 0.5])


def next_logits(kept):
    """The logits [5] of the next words, for a list of the places of the prompt's words that are kept."""
    return EFFECTS[sorted(kept)].sum(dim=0)


print(f"prompt: {' '.join(PROMPT)} ...; right: {RIGHT}, wrong: {WRONG}")

# %% [markdown]
# ## 1. Which output is explained? (2 points)
#
# A classifier has one probability per class. A language model has a distribution over next words, and one must choose a number of it. Write the
# two most common ones: the log-probability of a word, $z_t - \log \sum_v e^{z_v}$, and the *contrast* of two words, $\log p_t - \log p_f$.


# %% nbgrader={"grade": false, "grade_id": "solution-output", "locked": false, "schema_version": 3, "solution": true, "task": false}
def log_probability(logits, word):
    """log p of one of the next words, for logits [V] and the number of the word."""
    ### BEGIN SOLUTION
    return (logits[word] - logits.logsumexp(dim=0)).item()
    ### END SOLUTION


def contrast(logits, word, against):
    """log p of a word minus log p of another one."""
    ### BEGIN SOLUTION
    return (logits[word] - logits[against]).item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-output", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_logits = torch.tensor([math.log(2.0), 0.0, 0.0], dtype=torch.double)
assert abs(log_probability(_logits, 0) - math.log(0.5)) < 1e-9
assert abs(contrast(_logits, 0, 1) - math.log(2)) < 1e-9
### BEGIN HIDDEN TESTS
_large = torch.tensor([1000.0, 999.0, 0.0], dtype=torch.double)  # without an overflow
assert abs(log_probability(_large, 0) + math.log(1 + math.exp(-1))) < 1e-6
_all = next_logits(range(len(PROMPT)))
_difference = log_probability(_all, 0) - log_probability(_all, 1)
assert abs(contrast(_all, 0, 1) - _difference) < 1e-9
### END HIDDEN TESTS

# %% [markdown]
# ## 2. An answer of several words (3 points)
#
# The log-probability of an answer is the sum of the log-probabilities of its words, each given the prompt *and the words of the answer before
# it*. `model` maps a list of words to the logits of the next word, [V], and `vocabulary` is the list of the V words.


# %% nbgrader={"grade": false, "grade_id": "solution-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def answer_log_probability(model, vocabulary, prompt, answer):
    """log p(answer | prompt), for lists of words."""
    ### BEGIN SOLUTION
    total = 0.0
    for place, word in enumerate(answer):
        logits = model([*prompt, *answer[:place]])
        total += log_probability(logits, vocabulary.index(word))
    return total
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-answer", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
def _echo(words):
    """A model that finds the last word again twice as probable as the other one."""
    return torch.tensor([math.log(2.0) if word == words[-1] else 0.0 for word in ("a", "b")], dtype=torch.double)


assert abs(answer_log_probability(_echo, ["a", "b"], ["a"], ["a"]) - math.log(2 / 3)) < 1e-9
### BEGIN HIDDEN TESTS
assert abs(answer_log_probability(_echo, ["a", "b"], ["a"], ["b", "b"]) - math.log(1 / 3 * 2 / 3)) < 1e-9
assert abs(answer_log_probability(_echo, ["a", "b"], ["b"], ["a", "b", "b"]) - math.log(1 / 3 * 1 / 3 * 2 / 3)) < 1e-9
### END HIDDEN TESTS

# %% [markdown]
# ## 3. Better than random words? (3 points)
#
# An explanation names some words of the prompt as the reason. Compare it with random sets of as many words: the *win rate* is the share of
# random sets that it beats, where a tie counts one half. The *randomisation p-value* is $(1 + \text{number of random values that are at least
# as high}) / (M + 1)$ for $M$ random sets. Higher values are better for the explanation.


# %% nbgrader={"grade": false, "grade_id": "solution-win", "locked": false, "schema_version": 3, "solution": true, "task": false}
def win_rate(value, random_values):
    """The share of random values below the value, ties by halves; a number and a list of numbers."""
    ### BEGIN SOLUTION
    wins = [1.0 if value > random_value else 0.5 if value == random_value else 0.0 for random_value in random_values]
    return sum(wins) / len(wins)
    ### END SOLUTION


def p_value(value, random_values):
    """The one-sided randomisation p-value."""
    ### BEGIN SOLUTION
    return (1 + sum(random_value >= value for random_value in random_values)) / (len(random_values) + 1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-win", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
assert win_rate(0.5, [0.1, 0.2, 0.9, 0.8]) == 0.5
assert p_value(0.5, [0.1, 0.2, 0.9, 0.8]) == 0.6
### BEGIN HIDDEN TESTS
from faithlib.metrics.language import randomisation_p as _reference_p
from faithlib.metrics.language import win_rate as _reference_rate

_drawn = (torch.randint(0, 6, (200,), generator=torch.Generator().manual_seed(SEED)) / 5).double()
for _value in (0.0, 0.4, 1.0):
    _one = torch.tensor([_value], dtype=torch.double)
    _one = _drawn[(_drawn - _one).abs().argmin()][None]  # exactly one of the values, so that there are ties
    assert abs(win_rate(_one.item(), _drawn.tolist()) - _reference_rate(_one, _drawn[None]).item()) < 1e-9
    assert abs(p_value(_one.item(), _drawn.tolist()) - _reference_p(_one, _drawn[None]).item()) < 1e-9
### END HIDDEN TESTS

# %% [markdown]
# ## 4. A plot to read (2 points)
#
# The two panels have the same method, occlusion: what an output loses when one word of the prompt is erased. One panel explains the
# log-probability of the right verb, the other the contrast of the right and the wrong verb. One word of the prompt makes *any* verb more
# likely. Set `contrast_panel` to `"A"` or `"B"`, and `any_verb` to the place of that word in the prompt (the first word has place 0).

# %% nbgrader={"grade": false, "grade_id": "given-plot", "locked": true, "schema_version": 3, "solution": false, "task": false}
import matplotlib.pyplot as plt

_every = list(range(len(PROMPT)))


def _lost(output):
    without = [[place for place in _every if place != gone] for gone in _every]
    return [output(next_logits(_every)) - output(next_logits(kept)) for kept in without]


_right, _wrong = NEXT.index(RIGHT), NEXT.index(WRONG)
_panels = [
    _lost(lambda logits: (logits[_right] - logits.logsumexp(dim=0)).item()),
    _lost(lambda logits: (logits[_right] - logits[_wrong]).item()),
]
_chosen.shuffle(_panels)
panels = dict(zip("AB", _panels, strict=True))
figure, axes = plt.subplots(1, 2, figsize=(9, 2.5), sharey=True)
for panel, (letter, heights) in zip(axes, panels.items(), strict=True):
    panel.bar([f"{place} {word}" for place, word in enumerate(PROMPT)], heights, color="tab:blue")
    panel.axhline(0, color="gray", linewidth=0.5)
    panel.set_title(letter)
axes[0].set_ylabel("lost without the word")

# %% nbgrader={"grade": false, "grade_id": "solution-plot", "locked": false, "schema_version": 3, "solution": true, "task": false}
### BEGIN SOLUTION
# A word that makes any verb more likely has a bar under the log-probability and none under the contrast.
others = [place for place in range(len(PROMPT)) if place not in (SUBJECT, NEARER)]
contrast_panel = min(panels, key=lambda letter: max(abs(panels[letter][place]) for place in others))
other_panel = "B" if contrast_panel == "A" else "A"
any_verb = max(others, key=lambda place: panels[other_panel][place])
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-plot", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert contrast_panel in {"A", "B"} and any_verb in range(len(PROMPT))
### BEGIN HIDDEN TESTS
_both = EFFECTS[:, :2]
assert any_verb == int((_both.min(dim=1).values > 0.5).nonzero()[0])
assert abs(panels[contrast_panel][any_verb]) < 1e-9 and panels["B" if contrast_panel == "A" else "A"][any_verb] > 0.05
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Find the bug (2 points)
#
# `faulty` should give the occlusion of each word under the log-probability of the model's own answer, the most probable next word of the
# *whole* prompt. Without the subject the model turns to the other verb, and still `faulty` finds almost no loss. Find the reason and write the
# function as it should be.


# %% nbgrader={"grade": false, "grade_id": "given-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
def faulty(model, n):
    """What each of n words adds to the log-probability of the answer; `model` maps places to logits [V]."""

    def best(kept):
        return model(kept).log_softmax(dim=0).max().item()

    places = list(range(n))
    return [best(places) - best([place for place in places if place != gone]) for gone in places]


def turning(kept):
    """Says the first word with the subject, the word at place 0, and the second one without it."""
    return torch.tensor([2.0, 0.0] if 0 in kept else [0.0, 2.0], dtype=torch.double)


print(faulty(turning, 2))


# %% nbgrader={"grade": false, "grade_id": "solution-bug", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended(model, n):
    """What each of n words adds to the log-probability of the answer; `model` maps places to logits [V]."""
    ### BEGIN SOLUTION
    places = list(range(n))
    answer = model(places).argmax()

    def output(kept):
        return model(kept).log_softmax(dim=0)[answer].item()

    return [output(places) - output([place for place in places if place != gone]) for gone in places]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert abs(mended(turning, 2)[1]) < 1e-9
### BEGIN HIDDEN TESTS
assert abs(mended(turning, 2)[0] - 2) < 1e-9
_logits = next_logits(range(len(PROMPT)))
_answer = _logits.argmax()
for _place, _score in enumerate(mended(next_logits, len(PROMPT))):
    _kept = [place for place in range(len(PROMPT)) if place != _place]
    _expected = _logits.log_softmax(dim=0)[_answer] - next_logits(_kept).log_softmax(dim=0)[_answer]
    assert abs(_score - _expected.item()) < 1e-9
### END HIDDEN TESTS

# %% [markdown]
# ## 6. In your own words (2 points)
#
# Your explanation under the contrast names the subject, and its win rate against random sets of one word is 1. What have you shown about this
# model, and what not? Name one thing that the contrast hides, and say why a win rate of 1 means little on a prompt of five words. Answer in at
# most five sentences.

# %% [markdown] nbgrader={"grade": true, "grade_id": "answer-words", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Erasing the subject changes which of the two verbs the model prefers, and more than erasing any other single word does. This is about
# this prompt, this pair of verbs and this way to erase; it does not show that the model knows grammar. The contrast hides whatever raises
# or lowers both verbs alike, such as the word that makes any verb likely. On a prompt of five words there are only four other sets of one
# word, so the smallest possible p-value is 1/5, and a random explanation has a win rate of 1 in one case of five. More
# prompts are needed, and the intervals have to be over prompts.
