# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Assignment 2: Erasing
#
# Fourteen points. Fill in the marked cells and run everything; a test cell that prints nothing has passed. More tests are run when the
# assignment is marked, and part 6 is read by a person. About 90 minutes. Ways to erase are compared on the page *The two erasures* of the book.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
from itertools import permutations

import torch

SEED = 1  # the variant of this assignment: it sets the numbers of the tests and the image

# %% [markdown]
# ## 1. The top of a ranking (2 points)
#
# A share $r$ of a text with $n$ words means $\lceil r n \rceil$ words, the highest scores first, and of two equal scores the
# one that comes first in the text.


# %% nbgrader={"grade": false, "grade_id": "solution-top", "locked": false, "schema_version": 3, "solution": true, "task": false}
def top(scores, share):
    """The places of the top share of the words, a set, for a list of scores."""
    ### BEGIN SOLUTION
    size = math.ceil(round(share * len(scores), 9))
    ranked = sorted(range(len(scores)), key=lambda place: -scores[place])
    return set(ranked[:size])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-top", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert top([0.1, 0.9, 0.3, 0.2], 0.5) == {1, 2}
assert top([0.1, 0.9, 0.3, 0.2], 1) == {0, 1, 2, 3}
### BEGIN HIDDEN TESTS
assert top([0.1, 0.9, 0.3, 0.2], 0.01) == {1}  # at least one word
assert top([0.5, 0.5, 0.5, 0.5, 0.5], 0.3) == {0, 1}
assert len(top(list(range(10)), 0.1)) == 1
### END HIDDEN TESTS


# %% [markdown]
# ## 2. Soft erasure (3 points)
#
# In soft erasure every element of a word's embedding stays with a probability. Scores are stretched to $[0, 1]$ first, the
# lowest to 0 and the highest to 1; equal scores become one half each. *Sufficiency* keeps in proportion to importance,
# *comprehensiveness* keeps what is left of 1. `erase` then draws once for each element, with the generator that it is given,
# and replaces erased elements by zeros.


# %% nbgrader={"grade": false, "grade_id": "solution-keep", "locked": false, "schema_version": 3, "solution": true, "task": false}
def keep_probability(scores, verb):
    """The probability, for each score of a tensor [F], that an element of that word stays."""
    ### BEGIN SOLUTION
    low, high = scores.min(), scores.max()
    stretched = (scores - low) / (high - low) if high > low else torch.full_like(scores, 0.5)
    return stretched if verb == "sufficiency" else 1 - stretched
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "solution-erase", "locked": false, "schema_version": 3, "solution": true, "task": false}
def erase(embeddings, keep, generator):
    """Embeddings [F, D] with zeros instead of elements that go; `keep` [F]: the probability that one stays."""
    ### BEGIN SOLUTION
    drawn = torch.rand(embeddings.shape, generator=generator)
    return torch.where(drawn < keep[:, None], embeddings, torch.zeros(()))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-keep", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert torch.allclose(keep_probability(torch.tensor([1.0, 3.0, 2.0]), "sufficiency"), torch.tensor([0.0, 1.0, 0.5]))
### BEGIN HIDDEN TESTS
from faithlib.masks import soft_keep

_scores = torch.tensor([0.4, -0.2, 0.9, 0.1])
for _verb in ("sufficiency", "comprehensiveness"):
    assert torch.allclose(keep_probability(_scores, _verb), soft_keep(_scores[None], verb=_verb)[0])
assert torch.allclose(keep_probability(torch.ones(3), "comprehensiveness"), torch.full((3,), 0.5))
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test-erase", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
_kept = erase(torch.ones(2, 4000), torch.tensor([1.0, 0.25]), torch.Generator().manual_seed(0))
assert bool((_kept[0] == 1).all())
### BEGIN HIDDEN TESTS
assert abs(_kept[1].mean().item() - 0.25) < 0.03
assert len(_kept[1].unique()) == 2  # each element is there or not, and none is made fainter
### END HIDDEN TESTS


# %% [markdown]
# ## 3. The best and the worst order (3 points)
#
# `answers` maps every set of removed words, a frozenset, to the model's probability. The AOPC of an order is the mean loss of
# probability after each removal, compared with the whole text. Find the lowest and the highest AOPC of all orders
# without trying all orders.
#
# Hint: let $c(S)$ be the smallest sum of probabilities on any way from the empty set to the set $S$, one word at a time. The last word
# removed is one of $S$, say $i$; before it, the set was $S$ without $i$. Which $i$ is best, and in which order do you fill in $c$?


# %% nbgrader={"grade": false, "grade_id": "solution-aopc", "locked": false, "schema_version": 3, "solution": true, "task": false}
def aopc(answers, order):
    """AOPC of one order of removals."""
    ### BEGIN SOLUTION
    full = answers[frozenset()]
    gone = [frozenset(order[: step + 1]) for step in range(len(order))]
    return sum(full - answers[words] for words in gone) / len(order)
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "solution-bounds", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bounds(answers, n):
    """(lowest, highest) AOPC of any order of n words."""
    ### BEGIN SOLUTION
    from itertools import combinations

    least, most = {frozenset(): 0.0}, {frozenset(): 0.0}
    for size in range(1, n + 1):
        for chosen in map(frozenset, combinations(range(n), size)):
            least[chosen] = answers[chosen] + min(least[chosen - {word}] for word in chosen)
            most[chosen] = answers[chosen] + max(most[chosen - {word}] for word in chosen)
    every = frozenset(range(n))
    return answers[frozenset()] - most[every] / n, answers[frozenset()] - least[every] / n
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-aopc", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
_small = {frozenset(): 0.9, frozenset({0}): 0.5, frozenset({1}): 0.8, frozenset({0, 1}): 0.4}
assert abs(aopc(_small, [0, 1]) - 0.45) < 1e-9
### BEGIN HIDDEN TESTS
assert abs(aopc(_small, [1, 0]) - 0.3) < 1e-9
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test-bounds", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_low, _high = bounds({frozenset(): 0.9, frozenset({0}): 0.5, frozenset({1}): 0.8, frozenset({0, 1}): 0.4}, 2)
assert abs(_low - 0.3) < 1e-9 and abs(_high - 0.45) < 1e-9
### BEGIN HIDDEN TESTS
_values = torch.rand(2**5, generator=torch.Generator().manual_seed(2 + SEED)).tolist()
_answers = {frozenset(i for i in range(5) if number >> i & 1): value for number, value in enumerate(_values)}
_full = _answers[frozenset()]
_every = [
    sum(_full - _answers[frozenset(_order[: _step + 1])] for _step in range(5)) / 5 for _order in permutations(range(5))
]
assert abs(bounds(_answers, 5)[0] - min(_every)) < 1e-9
assert abs(bounds(_answers, 5)[1] - max(_every)) < 1e-9
### END HIDDEN TESTS


# %% [markdown]
# ## 4. A plot to read (2 points)
#
# The folder `model` holds a small vision transformer that sorts images by stripes in one or two of their 49 cells; nothing else
# decides the label. The image below has two striped cells. Its cells are erased one after another, in three orders: the most
# relevant first by the model's attention (MoRF), the least relevant first (LeRF), and a random order.
#
# Read from the plot after how many erased cells the probability is below one half for the first time, and set `below_morf` and
# `below_lerf` (each may be off by one). Then set `aopc_morf`, your estimate of the AOPC of the first order, to within 0.05.

# %% nbgrader={"grade": false, "grade_id": "given-plot", "locked": true, "schema_version": 3, "solution": false, "task": false}
import matplotlib.pyplot as plt
import numpy as np
import timm

from faithlib.evaluation import explain
from faithlib.inputs import ImageInputs
from faithlib.perturb import Perturber

classifier = timm.create_model("local-dir:model", pretrained=True).eval()
with np.load("images.npz") as stored:
    pixels, striped = torch.from_numpy(stored["pixels"]), torch.from_numpy(stored["cells"])
centre, spread = (classifier.pretrained_cfg[name][0] for name in ("mean", "std"))
images = ImageInputs.from_pixels((pixels[:, None] / 255 - centre) / spread, patch=4)


def removed(perturber, order):
    """The probability of the predicted class of one image after each removal of an order of cells."""
    keep = torch.ones(1, len(order), 49, dtype=torch.bool)
    for step in range(len(order)):
        keep[0, step:, order[step]] = False
    return perturber.keep(keep)[0]


number = int((striped.sum(dim=1) == 2).nonzero()[0])
attention = explain(classifier, images[[number]], ["raw_attention"])["raw_attention"][0]
perturber = Perturber(classifier, images[[number]], erase="mean")
orders = {
    "most relevant first": attention.argsort(descending=True),
    "least relevant first": attention.argsort(),
    "random order": torch.randperm(49, generator=torch.Generator().manual_seed(SEED)),
}
curves = {name: removed(perturber, order.tolist()) for name, order in orders.items()}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=[1, 2])
left.imshow(pixels[number], cmap="gray")
left.set_axis_off()
for name, curve in curves.items():
    right.plot(range(50), torch.cat([perturber.full, curve]), ".-", label=name)
right.axhline(0.5, color="gray", linewidth=0.5)
right.set_xlabel("erased cells")
right.set_ylabel("probability of the predicted class")
right.legend()

# %% nbgrader={"grade": false, "grade_id": "solution-plot", "locked": false, "schema_version": 3, "solution": true, "task": false}
### BEGIN SOLUTION
most, least = curves["most relevant first"], curves["least relevant first"]
below_morf = 1 + (most < 0.5).tolist().index(True)
below_lerf = 1 + (least < 0.5).tolist().index(True)
aopc_morf = (perturber.full - most).mean().item()
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-plot", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert 0 < below_morf <= 49 and 0 < below_lerf <= 49 and 0 <= aopc_morf <= 1
### BEGIN HIDDEN TESTS
for _name, _read in (("most relevant first", below_morf), ("least relevant first", below_lerf)):
    _first = 1 + int((curves[_name] < 0.5).nonzero()[0])
    assert abs(_read - _first) <= 1
_exact = (perturber.full - curves["most relevant first"]).mean().item()
assert abs(aopc_morf - _exact) <= 0.05
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Find the bug (2 points)
#
# `faulty` should give a model's answers while the words of an order go one after another, down to none. For a model that needs
# one of two words it reports that nothing is ever lost. Find the reason and write the function as it should be.


# %% nbgrader={"grade": false, "grade_id": "given-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
def faulty(model, order):
    """The answers of a model, a function of the places that are kept, after each removal."""
    answers = []
    for step in range(1, len(order) + 1):
        gone = order[step - 1 : step]
        answers.append(model([place for place in order if place not in gone]))
    return answers


print(faulty(lambda kept: 0.9 if {0, 1} & set(kept) else 0.1, [0, 1, 2]))


# %% nbgrader={"grade": false, "grade_id": "solution-bug", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended(model, order):
    """The answers of a model, a function of the places that are kept, after each removal."""
    ### BEGIN SOLUTION
    steps = range(1, len(order) + 1)
    return [model([place for place in order if place not in order[:step]]) for step in steps]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert len(mended(len, [2, 0, 1])) == 3
### BEGIN HIDDEN TESTS
assert mended(lambda kept: 0.9 if {0, 1} & set(kept) else 0.1, [0, 1, 2]) == [0.9, 0.1, 0.1]
assert mended(len, [2, 0, 1]) == [2, 1, 0]
assert mended(set, [2, 0, 1]) == [{0, 1}, {1}, set()]
### END HIDDEN TESTS

# %% [markdown]
# ## 6. In your own words (2 points)
#
# The cell below prints the mean AOPC of *random* orders, for images with one and for images with two striped cells. A colleague
# concludes: "Random explanations are more faithful on images with one striped cell." What is wrong with this sentence, where do the
# two numbers come from, and what would you report instead? Answer in at most five sentences.

# %% nbgrader={"grade": false, "grade_id": "given-random", "locked": true, "schema_version": 3, "solution": false, "task": false}
generator = torch.Generator().manual_seed(0)
for count in (1, 2):
    aopcs = []
    for row in (striped.sum(dim=1) == count).nonzero()[:6, 0].tolist():
        perturber = Perturber(classifier, images[[row]], erase="mean")
        for _ in range(4):
            order = torch.randperm(49, generator=generator).tolist()
            aopcs.append((perturber.full - removed(perturber, order)).mean().item())
    print(f"{count} striped cell(s): mean AOPC of random orders {np.mean(aopcs):.2f}")

# %% [markdown] nbgrader={"grade": true, "grade_id": "answer-words", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Random orders know nothing of the model in either case, so neither is more faithful. An image with one striped cell loses its class when
# that cell goes, on average half-way; with two cells the class stays until the second one goes, on average after two thirds. The
# expected values are about 1/2 and 1/3: AOPC depends on what there is to lose in an image and on how many features can carry it. I would report AOPC
# next to random orders of the same images, or between its lowest and highest possible value (NAOPC).
