# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Sheet 1: What is faithful?
#
# Eight points. Write your answers where it says so, and run all cells: those that test say nothing when they pass. More
# tests are run when the sheet is marked. What the words mean is on the page *What faithful means* of the book.
#
# A model is a function here: it gets the places of the words that are kept and answers with a probability.

# %% nbgrader={"grade": false, "grade_id": "given-models", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math


def either(kept):
    """The first or the second of three words is enough."""
    return 0.9 if {0, 1} & set(kept) else 0.5


def together(kept):
    """Nothing happens without both of the first two of three words."""
    return 0.9 if {0, 1} <= set(kept) else 0.5


# %% [markdown]
# ## 1. Sufficient, and needed (4 points)
#
# `full`, `kept`, `removed` and `empty` are the probabilities of the predicted class for the whole text, the rationale alone,
# the text without the rationale, and nothing. *Normalised sufficiency* is 1 where the rationale alone does as well as the
# text, and 0 where it does no better than nothing; an answer above that of the whole text counts like it. *Normalised
# comprehensiveness* is 0 where nothing is lost without the rationale, and 1 where as much is lost as without all words.
# Where the whole text does no better than nothing, there is nothing to divide by: both are `math.nan`.


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
    found = []
    for chosen in combinations(range(n), size):
        rest = [place for place in range(n) if place not in chosen]
        enough = sufficiency(full, model(chosen), empty)
        needed = comprehensiveness(full, model(rest), empty)
        if abs(enough - 1) < 1e-9 and abs(needed - 1) < 1e-9:
            found.append(chosen)
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-rationales", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert [tuple(one) for one in rationales(either, 3, 2)] == [(0, 1)]
assert rationales(either, 3, 1) == []
### BEGIN HIDDEN TESTS
assert [tuple(one) for one in rationales(together, 3, 2)] == [(0, 1)]
assert [tuple(one) for one in rationales(lambda kept: 0.9 if 2 in set(kept) else 0.5, 3, 1)] == [(2,)]
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
