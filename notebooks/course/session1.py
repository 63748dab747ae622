# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Assignment 1: What is faithful?
#
# Fourteen points. Fill in the marked cells and run everything; a test cell that prints nothing has passed. More tests are run when the
# assignment is marked, and part 6 is read by a person. About 90 minutes. The words are explained on the page *Faithfulness and plausibility* of the book.
#
# In parts 1 to 3, a model is a function from the places of the words that are kept to a probability.

# %% nbgrader={"grade": false, "grade_id": "given-models", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
import random

SEED = 1  # the variant of this assignment: it sets the numbers of the models and the image
_chosen = random.Random(SEED)
LOW, HIGH = _chosen.choice([(0.5, 0.9), (0.4, 0.8), (0.3, 0.9), (0.25, 0.75)])


def either(kept):
    """The first or the second of three words is enough."""
    return HIGH if {0, 1} & set(kept) else LOW


def together(kept):
    """Nothing happens without both of the first two of three words."""
    return HIGH if {0, 1} <= set(kept) else LOW


# %% [markdown]
# ## 1. Sufficient, and needed (4 points)
#
# `full`, `kept`, `removed` and `empty` are the probabilities of the predicted class for the whole text, the rationale alone,
# the text without the rationale, and nothing. *Normalised sufficiency* is 1 if the rationale alone does as well as the
# text, and 0 if it does no better than nothing. A probability above that of the whole text counts as equal to it. *Normalised
# comprehensiveness* is 0 if nothing is lost without the rationale, and 1 if as much is lost as without all words.
# If the whole text does no better than nothing, there is nothing to divide by: both are `math.nan`.


# %% nbgrader={"grade": false, "grade_id": "solution-sufficiency", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sufficiency(full, kept, empty):
    """Normalised sufficiency of one rationale, higher is better."""
    ### BEGIN SOLUTION
    if full <= empty:
        return math.nan
    return ((full - empty) - max(0, full - kept)) / (full - empty)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "solution-comprehensiveness", "locked": false, "schema_version": 3, "solution": true, "task": false}
def comprehensiveness(full, removed, empty):
    """Normalised comprehensiveness of one rationale, higher is better."""
    ### BEGIN SOLUTION
    if full <= empty:
        return math.nan
    return max(0, full - removed) / (full - empty)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-sufficiency", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert abs(sufficiency(0.9, 0.8, 0.5) - 0.75) < 1e-9
assert sufficiency(0.9, 0.9, 0.5) == 1
### BEGIN HIDDEN TESTS
assert abs(sufficiency(0.9, 0.95, 0.5) - 1) < 1e-9  # more than the whole text counts like it
assert math.isnan(sufficiency(0.5, 0.4, 0.6))
assert abs(sufficiency(0.8, 0.3, 0.4) + 0.25) < 1e-9  # worse than nothing
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test-comprehensiveness", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert abs(comprehensiveness(0.9, 0.8, 0.5) - 0.25) < 1e-9
assert comprehensiveness(0.9, 0.5, 0.5) == 1
### BEGIN HIDDEN TESTS
assert comprehensiveness(0.9, 0.95, 0.5) == 0
assert math.isnan(comprehensiveness(0.5, 0.4, 0.5))
assert abs(comprehensiveness(0.8, 0.3, 0.4) - 1.25) < 1e-9  # more is lost than without all words
### END HIDDEN TESTS


# %% [markdown]
# ## 2. All rationales of a size (2 points)
#
# Find every rationale of `size` words, in ascending order of places, that is both enough (sufficiency 1) and needed
# (comprehensiveness 1) for a model of `n` words, as a list of tuples.


# %% nbgrader={"grade": false, "grade_id": "solution-rationales", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rationales(model, n, size):
    """The rationales of `size` of `n` words with sufficiency 1 and comprehensiveness 1."""
    ### BEGIN SOLUTION
    from itertools import combinations

    full, empty = model(range(n)), model(())
    chosen_words = []
    for chosen in combinations(range(n), size):
        rest = [place for place in range(n) if place not in chosen]
        enough = sufficiency(full, model(chosen), empty)
        needed = comprehensiveness(full, model(rest), empty)
        if abs(enough - 1) < 1e-9 and abs(needed - 1) < 1e-9:
            chosen_words.append(chosen)
    return chosen_words
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-rationales", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert [tuple(pair) for pair in rationales(either, 3, 2)] == [(0, 1)]
assert rationales(either, 3, 1) == []
### BEGIN HIDDEN TESTS
assert [tuple(pair) for pair in rationales(together, 3, 2)] == [(0, 1)]
assert [tuple(kept_words) for kept_words in rationales(lambda kept: 0.9 if 2 in set(kept) else 0.5, 3, 1)] == [(2,)]
### END HIDDEN TESTS


# %% [markdown]
# ## 3. Needed and not enough (2 points)
#
# Write a model of three words for which every rationale of one word has sufficiency 0 and comprehensiveness 1.


# %% nbgrader={"grade": false, "grade_id": "solution-model", "locked": false, "schema_version": 3, "solution": true, "task": false}
def model_of_mine(kept):
    """A probability for the places of the words that are kept."""
    ### BEGIN SOLUTION
    return 0.9 if set(kept) == {0, 1, 2} else 0.5
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-model", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_full, _empty = model_of_mine([0, 1, 2]), model_of_mine([])
assert 0 <= _empty < _full <= 1
### BEGIN HIDDEN TESTS
for _place in range(3):
    _rest = [_other for _other in range(3) if _other != _place]
    assert abs(model_of_mine([_place]) - _empty) < 1e-9
    assert abs(model_of_mine(_rest) - _empty) < 1e-9
### END HIDDEN TESTS


# %% [markdown]
# ## 4. A plot to read (2 points)
#
# The folder `model` holds a small vision transformer. It was trained to say whether an image has *horizontal* stripes,
# *vertical* stripes or *neither*. The stripes fill one or two of the 49 cells of an image, and nothing else decides the label: we
# know the true reason of every prediction. The image below has two striped cells. Three explanations, A, B and C, name cells of it. One
# names one of the two striped cells, one names both, and one names the two brightest of the other cells. Which is which, the
# bars show.
#
# Read the bars and set two variables, each a set of letters such as `{"A", "C"}`: `enough`, the explanations with a normalised
# sufficiency above 0.9, and `needed`, those with a normalised comprehensiveness above 0.9.

# %% nbgrader={"grade": false, "grade_id": "given-plot", "locked": true, "schema_version": 3, "solution": false, "task": false}
import matplotlib.pyplot as plt
import numpy as np
import timm
import torch

from faithlib.inputs import ImageInputs
from faithlib.perturb import Perturber

classifier = timm.create_model("local-dir:model", pretrained=True).eval()
with np.load("images.npz") as stored:
    pixels, striped = torch.from_numpy(stored["pixels"]), torch.from_numpy(stored["cells"])
centre, spread = (classifier.pretrained_cfg[name][0] for name in ("mean", "std"))
images = ImageInputs.from_pixels((pixels[:, None] / 255 - centre) / spread, patch=4)

number = int((striped.sum(dim=1) == 2).nonzero()[0])
both = striped[number].nonzero()[:, 0].tolist()
brightness = pixels[number].double().reshape(7, 4, 7, 4).mean(dim=(1, 3)).flatten()
brightness[both] = -1
_named = [both[:1], both, brightness.topk(2).indices.tolist()]
_chosen.shuffle(_named)
explanations = dict(zip("ABC", _named, strict=True))

perturber = Perturber(classifier, images[[number]], erase="mean")
alone = torch.zeros(1, 3, 49, dtype=torch.bool)
for row, cells in enumerate(explanations.values()):
    alone[0, row, cells] = True
bars = {
    "whole image": perturber.full.expand(3),
    "these cells alone": perturber.keep(alone)[0],
    "all other cells": perturber.keep(~alone)[0],
    "no cell": perturber.empty.expand(3),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=[1, 2])
left.imshow(pixels[number], cmap="gray")
left.set_axis_off()
for shift, (name, heights) in enumerate(bars.items()):
    right.bar(np.arange(3) + 0.2 * shift - 0.3, heights, 0.18, label=name)
right.set_xticks(range(3), list(explanations))
right.set_ylabel("probability of the predicted class")
right.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=4, fontsize=7)

# %% nbgrader={"grade": false, "grade_id": "solution-plot", "locked": false, "schema_version": 3, "solution": true, "task": false}
### BEGIN SOLUTION
whole, alone_, others, nothing = (bars[name].tolist() for name in bars)
enough, needed = set(), set()
for row, letter in enumerate(explanations):
    if sufficiency(whole[row], alone_[row], nothing[row]) > 0.9:
        enough.add(letter)
    if comprehensiveness(whole[row], others[row], nothing[row]) > 0.9:
        needed.add(letter)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-plot", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert enough <= {"A", "B", "C"} and needed <= {"A", "B", "C"}
### BEGIN HIDDEN TESTS
_headroom = bars["whole image"] - bars["no cell"]
_kept = (bars["these cells alone"] - bars["no cell"]) / _headroom
_lost = (bars["whole image"] - bars["all other cells"]) / _headroom
assert enough == {letter for letter, share in zip("ABC", _kept.tolist(), strict=True) if share > 0.9}
assert needed == {letter for letter, share in zip("ABC", _lost.tolist(), strict=True) if share > 0.9}
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Find the bug (2 points)
#
# `faulty` should compute the normalised comprehensiveness of the `size` words with the highest scores. It gives 0 to a perfect
# explanation of the model `either`, whose first two words have the highest scores. Find the reason and write the function as
# it should be.


# %% nbgrader={"grade": false, "grade_id": "given-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
def faulty(model, scores, size):
    """Normalised comprehensiveness of the `size` words with the highest scores."""
    ranked = sorted(range(len(scores)), key=lambda place: scores[place])
    rest = ranked[size:]
    return comprehensiveness(model(range(len(scores))), model(rest), model(()))


print(faulty(either, [0.9, 0.8, 0.1], 2))


# %% nbgrader={"grade": false, "grade_id": "solution-bug", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended(model, scores, size):
    """Normalised comprehensiveness of the `size` words with the highest scores."""
    ### BEGIN SOLUTION
    ranked = sorted(range(len(scores)), key=lambda place: -scores[place])
    rest = ranked[size:]
    return comprehensiveness(model(range(len(scores))), model(rest), model(()))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert abs(mended(either, [0.9, 0.8, 0.1], 2) - 1) < 1e-9
### BEGIN HIDDEN TESTS
assert abs(mended(either, [0.9, 0.8, 0.1], 1)) < 1e-9  # one of the two words is left
assert abs(mended(together, [0.1, 0.8, 0.3], 1) - 1) < 1e-9
assert abs(mended(together, [0.1, 0.2, 0.9], 1)) < 1e-9
### END HIDDEN TESTS

# %% [markdown]
# ## 6. In your own words (2 points)
#
# A person who is asked what one sees in the image of part 4 points at the bright cells. Which of the three explanations is plausible,
# and which is faithful? Can sufficiency alone decide between the one with one striped cell and the one with both, and why? Answer in
# at most five sentences.

# %% [markdown] nbgrader={"grade": true, "grade_id": "answer-words", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The bright cells are plausible, because a person would point at them; they are not faithful, because the prediction survives without
# them and is lost with nothing but them. The other two explanations name cells that the model uses. Sufficiency is about 1 for both, so
# it cannot decide between them. Comprehensiveness can: without one striped cell the other still gives the class, without both nothing
# does. Both cells are the complete reason, one of them is one of two reasons that each suffice.
