# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Sheet 3: Measuring measures
#
# Eight points. Write your answers where it says so, and run all cells: those that test say nothing when they pass. More
# tests are run when the sheet is marked. Diagnosticity and its controls are on the page *How a measure is itself measured*
# of the book.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch

# %% [markdown]
# ## 1. Diagnosticity (3 points)
#
# The share of inputs on which a metric prefers a real explanation to a random one. A preference is a *strictly* better value;
# pairs in which one of the two is undefined (`nan`) are left out. The share of ties, of the same pairs, is reported beside.


# %% nbgrader={"grade": false, "grade_id": "solution-diagnosticity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def diagnosticity(real, random):
    """(share of wins, share of ties) for two tensors [N] of values, higher is better."""
    ### BEGIN SOLUTION
    defined = ~(real.isnan() | random.isnan())
    real, random = real[defined], random[defined]
    return (real > random).double().mean().item(), (real == random).double().mean().item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-wins", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_wins, _ties = diagnosticity(torch.tensor([0.9, 0.8, 0.3, 0.4]), torch.tensor([0.1, 0.2, 0.5, 0.6]))
assert _wins == 0.5 and _ties == 0
### BEGIN HIDDEN TESTS
from faithlib.metrics import diagnosticity as _reference

_generator = torch.Generator().manual_seed(0)
_one, _two = (torch.randint(0, 6, (300,), generator=_generator) / 5 for _ in range(2))
_expected = _reference(_one, _two, higher_is_better=True)
assert abs(diagnosticity(_one, _two)[0] - _expected.wins) < 1e-9
assert abs(diagnosticity(_one, _two)[1] - _expected.ties) < 1e-9
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test-undefined", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert diagnosticity(torch.tensor([0.9, 0.8, math.nan]), torch.tensor([0.1, 0.2, 0.3]))[0] == 1
### BEGIN HIDDEN TESTS
assert diagnosticity(torch.tensor([0.9, math.nan, math.nan, 0.1]), torch.tensor([0.1, 0.2, 0.3, 0.1])) == (0.5, 0.5)
### END HIDDEN TESTS


# %% [markdown]
# ## 2. The same scores, shuffled (2 points)
#
# A control that has the amounts of a real explanation and none of its places: the scores of each input, in an order drawn for
# that input.


# %% nbgrader={"grade": false, "grade_id": "solution-shuffled", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shuffled(scores, generator):
    """Scores [N, F] with each row in a random order of its own."""
    ### BEGIN SOLUTION
    order = torch.rand(scores.shape, generator=generator).argsort(dim=1)
    return scores.gather(1, order)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-shuffled", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_scores = torch.arange(12.0).reshape(2, 6)
_moved = shuffled(_scores, torch.Generator().manual_seed(0))
assert _moved.shape == _scores.shape
### BEGIN HIDDEN TESTS
_scores = torch.rand(200, 8, generator=torch.Generator().manual_seed(1))
_moved = shuffled(_scores, torch.Generator().manual_seed(2))
assert torch.equal(_moved.sort(dim=1).values, _scores.sort(dim=1).values)  # the amounts are the same
assert not torch.equal(_moved, _scores)
_places = (_moved[:, :, None] == _scores[:, None, :]).double().argmax(dim=2)
assert len({tuple(row) for row in _places.tolist()}) > 100  # every input has an order of its own
### END HIDDEN TESTS


# %% [markdown]
# ## 3. How sure is a share? (3 points)
#
# Draw the inputs again, as many as there are and with replacement, `draws` times; the 95 % interval runs from the 2.5th to the
# 97.5th percentile of the shares.


# %% nbgrader={"grade": false, "grade_id": "solution-interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def interval(wins, draws, generator):
    """(low, high) of a 95 % percentile bootstrap interval for the mean of wins [N], zeros and ones."""
    ### BEGIN SOLUTION
    picked = torch.randint(0, len(wins), (draws, len(wins)), generator=generator)
    shares = wins[picked].double().mean(dim=1)
    low, high = shares.quantile(torch.tensor([0.025, 0.975], dtype=torch.double)).tolist()
    return low, high
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-interval", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
_wins = (torch.arange(400) % 4 > 0).double()  # a share of .75
_low, _high = interval(_wins, 500, torch.Generator().manual_seed(0))
assert _low < 0.75 < _high
### BEGIN HIDDEN TESTS
_half = 1.96 * math.sqrt(0.75 * 0.25 / 400)
assert abs(_low - (0.75 - _half)) < 0.012 and abs(_high - (0.75 + _half)) < 0.012
_few = interval(_wins[:40], 500, torch.Generator().manual_seed(0))
assert _few[1] - _few[0] > 2 * (_high - _low)
### END HIDDEN TESTS
