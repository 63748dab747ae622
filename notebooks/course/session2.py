# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Sheet 2: Erasing
#
# Eight points. Write your answers where it says so, and run all cells: those that test say nothing when they pass. More
# tests are run when the sheet is marked. What is erased, and how, is on the page *What it is to erase a word* of the book.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
from itertools import permutations

import torch

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
# and puts zeros instead of what goes.


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
# `answers` has a probability for every set of words that are gone, by frozenset. The AOPC of an order is the mean, over the
# words as they go one after another, of what the whole text's answer has lost. Find the lowest and the highest AOPC of any
# order without trying all of them: the cheapest way to a set is the cheapest way to one of the sets that lack one word of
# it, and then that word.


# %% nbgrader={"grade": false, "grade_id": "solution-aopc", "locked": false, "schema_version": 3, "solution": true, "task": false}
def aopc(answers, order):
    """AOPC of one order of removals."""
    ### BEGIN SOLUTION
    full = answers[frozenset()]
    gone = [frozenset(order[: step + 1]) for step in range(len(order))]
    return sum(full - answers[one] for one in gone) / len(order)
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
_values = torch.rand(2**5, generator=torch.Generator().manual_seed(3)).tolist()
_answers = {frozenset(i for i in range(5) if number >> i & 1): value for number, value in enumerate(_values)}
_full = _answers[frozenset()]
_every = [
    sum(_full - _answers[frozenset(_order[: _step + 1])] for _step in range(5)) / 5 for _order in permutations(range(5))
]
assert abs(bounds(_answers, 5)[0] - min(_every)) < 1e-9
assert abs(bounds(_answers, 5)[1] - max(_every)) < 1e-9
### END HIDDEN TESTS
