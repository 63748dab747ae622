# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Sheet 4: Replicating a paper
#
# Eight points. Write your answers where it says so, and run all cells: those that test say nothing when they pass. More
# tests are run when the sheet is marked. How verdicts are drawn is on the page *How to read this book*.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch

# %% [markdown]
# ## 1. Paired differences (2 points)
#
# Two methods have been measured on the same inputs. Give the mean of the difference (first less second) and the 95 % interval
# mean ± 1.96 standard errors, with the standard error of the *paired* difference ($N - 1$ below the root).


# %% nbgrader={"grade": false, "grade_id": "solution-paired", "locked": false, "schema_version": 3, "solution": true, "task": false}
def paired(first, second):
    """(mean, low, high) of the paired difference of two tensors [N]."""
    ### BEGIN SOLUTION
    difference = first - second
    mean = difference.mean().item()
    half = 1.96 * (difference.std(unbiased=True) / math.sqrt(len(difference))).item()
    return mean, mean - half, mean + half
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-paired", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_mean, _low, _high = paired(torch.tensor([0.5, 0.7, 0.9]), torch.tensor([0.4, 0.5, 0.6]))
assert abs(_mean - 0.2) < 1e-6 and _low < _mean < _high
### BEGIN HIDDEN TESTS
_generator = torch.Generator().manual_seed(0)
_hard = torch.rand(60, generator=_generator)  # inputs differ much, and the two methods by little
_better = _hard + 0.02 + 0.01 * torch.randn(60, generator=_generator)
assert paired(_better, _hard)[1] > 0
assert (
    abs((paired(torch.tensor([0.5, 0.7, 0.9]), torch.tensor([0.4, 0.5, 0.6]))[2] - 0.2) - 1.96 * 0.1 / math.sqrt(3))
    < 1e-6
)
### END HIDDEN TESTS


# %% [markdown]
# ## 2. A verdict (4 points)
#
# A claim says that something is above zero in at least `k` of its parts. Each part has an interval (low, high):
#
# - `"yes"`: wholly above zero; `"no"`: wholly below zero; of all others it is not known.
# - The claim *carries over* where at least `k` parts are `"yes"`.
# - It *does not carry over* where so many parts are `"no"` that `k` can no longer be reached.
# - It is *level*, before both, where every interval lies wholly within `margin` of zero.
# - Otherwise it is *inconclusive*.


# %% nbgrader={"grade": false, "grade_id": "solution-verdict", "locked": false, "schema_version": 3, "solution": true, "task": false}
def verdict(intervals, k, margin):
    """One of "carries over", "does not carry over", "level", "inconclusive" for a list of (low, high)."""
    ### BEGIN SOLUTION
    if all(-margin < low and high < margin for low, high in intervals):
        return "level"
    yes = sum(low > 0 for low, _ in intervals)
    no = sum(high < 0 for _, high in intervals)
    if yes >= k:
        return "carries over"
    return "does not carry over" if len(intervals) - no < k else "inconclusive"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-clear", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert verdict([(0.1, 0.3), (0.2, 0.5)], 2, 0.05) == "carries over"
assert verdict([(-0.3, -0.1), (0.2, 0.5)], 2, 0.05) == "does not carry over"
### BEGIN HIDDEN TESTS
assert verdict([(-0.3, -0.1), (0.2, 0.5), (0.1, 0.2)], 2, 0.05) == "carries over"
assert verdict([(-0.3, -0.1), (-0.5, -0.2), (0.1, 0.2)], 2, 0.05) == "does not carry over"
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test-open", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert verdict([(0.1, 0.3), (-0.2, 0.5)], 2, 0.05) == "inconclusive"
### BEGIN HIDDEN TESTS
assert verdict([(-0.1, 0.3), (-0.2, 0.1), (-0.3, 0.2)], 2, 0.05) == "inconclusive"  # not known is not no
assert verdict([(0.01, 0.02), (0.02, 0.04)], 2, 0.05) == "level"  # above zero, and of no interest
assert verdict([(0.01, 0.02), (-0.2, 0.4)], 2, 0.05) == "inconclusive"
### END HIDDEN TESTS


# %% [markdown]
# ## 3. Every row once (2 points)
#
# A released program asks its model in batches, and by mistake hands over the first batch every time. Write it as it should be:
# every row is asked once, in order, in batches of at most `size`.


# %% nbgrader={"grade": false, "grade_id": "solution-ask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ask(model, rows, size):
    """The answers of a model, a function of a tensor [R, F] to a tensor [R], to all rows, never more than `size` at a time."""
    ### BEGIN SOLUTION
    return torch.cat([model(rows[first : first + size]) for first in range(0, len(rows), size)])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-ask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert torch.equal(ask(lambda rows: rows.sum(dim=1), torch.eye(4), 2), torch.ones(4))
### BEGIN HIDDEN TESTS
_rows, _sizes = torch.arange(30.0).reshape(10, 3), []


def _model(rows):
    _sizes.append(len(rows))
    return rows.sum(dim=1)


assert torch.equal(ask(_model, _rows, 4), _rows.sum(dim=1))
assert max(_sizes) <= 4 and sum(_sizes) == 10
### END HIDDEN TESTS
