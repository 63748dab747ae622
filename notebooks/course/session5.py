# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Assignment 5: Where scores come from
#
# Fourteen points. Fill in the marked cells and run everything; a test cell that prints nothing has passed. More tests are run when the
# assignment is marked, and part 6 is read by a person. About 90 minutes. The methods are described on the page *Attribution* of the book.
#
# All models here are written by hand, so that you can check every score with a pencil.

# %% nbgrader={"grade": false, "grade_id": "given-models", "locked": true, "schema_version": 3, "solution": false, "task": false}
import itertools
import math
import random

import torch

SEED = 1  # the variant of this assignment: it sets the numbers of the models below
_chosen = random.Random(SEED)
POWER = _chosen.choice([2, 3, 4])
SLOPE = _chosen.choice([0.4, 0.6, 0.8, 1.2])


def curved(x):
    """x0 times x1 to the POWER, plus SLOPE times x2, for a tensor [3]."""
    return x[0] * x[1] ** POWER + SLOPE * x[2]


def saturated(x):
    """The sum of the first two inputs, but at most 1, for a tensor [3]."""
    return (x[0] + x[1]).clamp(max=1) + SLOPE * x[2]


print(f"POWER = {POWER}, SLOPE = {SLOPE}")

# %% [markdown]
# ## 1. Integrated gradients (3 points)
#
# The gradient at the input can be 0 where a model has stopped rising, although the model used that input on its way there. *Integrated
# gradients* average the gradient along the straight line from a baseline $b$ to the input $x$, and multiply by $x - b$. Approximate
# the average with the midpoints of `steps` equal parts of the line: $b + \frac{k + 1/2}{\text{steps}} (x - b)$ for $k = 0, 1, \dots$


# %% nbgrader={"grade": false, "grade_id": "solution-integrated", "locked": false, "schema_version": 3, "solution": true, "task": false}
def integrated_gradients(model, x, baseline, steps):
    """Scores [F] of a model, a function of a tensor [F], at x [F] against a baseline [F]."""
    ### BEGIN SOLUTION
    shares = (torch.arange(steps, dtype=x.dtype) + 0.5) / steps
    points = (baseline + shares[:, None] * (x - baseline)).requires_grad_()
    total = sum(model(point) for point in points)
    (gradients,) = torch.autograd.grad(total, points)
    return (x - baseline) * gradients.mean(dim=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-integrated", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
_x, _zero = torch.ones(3, dtype=torch.double), torch.zeros(3, dtype=torch.double)
_weights = torch.tensor([1.0, -2.0, 3.0], dtype=torch.double)
assert torch.allclose(integrated_gradients(lambda x: x @ _weights, _x, _zero, 10), _weights)
### BEGIN HIDDEN TESTS
_scores = integrated_gradients(saturated, _x, _zero, 200)
assert torch.allclose(_scores, torch.tensor([0.5, 0.5, SLOPE], dtype=torch.double), atol=0.01)
_start = torch.tensor([0.5, -1.0, 0.25], dtype=torch.double)
_scores = integrated_gradients(curved, _x, _start, 400)
assert abs(_scores.sum() - (curved(_x) - curved(_start))) < 1e-3  # they add up to the change
### END HIDDEN TESTS

# %% [markdown]
# ## 2. Shapley values (3 points)
#
# `value` maps a frozenset of the places of words that are kept to the model's output. Let the words of a text come one after another in a
# random order, each order equally likely. The *Shapley value* of a word is what the output gains, on average, when this word comes.
# It is a sum over the sets $S$ of the other words, each with the probability that exactly $S$ is there when the word comes:
# $\frac{|S|! \, (n - |S| - 1)!}{n!}$.


# %% nbgrader={"grade": false, "grade_id": "solution-shapley", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shapley(value, n):
    """The Shapley values of n words, a list."""
    ### BEGIN SOLUTION
    scores = []
    for word in range(n):
        others = [other for other in range(n) if other != word]
        score = 0.0
        for size in range(n):
            share = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for chosen in map(frozenset, itertools.combinations(others, size)):
                score += share * (value(chosen | {word}) - value(chosen))
        scores.append(score)
    return scores
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-shapley", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
_both = shapley(lambda kept: float({0, 1} <= kept), 3)
assert all(abs(_one - _expected) < 1e-9 for _one, _expected in zip(_both, [0.5, 0.5, 0], strict=True))
### BEGIN HIDDEN TESTS
_numbers = torch.rand(2**5, generator=torch.Generator().manual_seed(SEED)).tolist()


def _value(kept):
    return _numbers[sum(1 << word for word in kept)]


_orders = list(itertools.permutations(range(5)))
_mean = [0.0] * 5
for _order in _orders:
    for _step, _word in enumerate(_order):
        _mean[_word] += (_value(_order[: _step + 1]) - _value(_order[:_step])) / len(_orders)
assert all(abs(_one - _expected) < 1e-9 for _one, _expected in zip(shapley(_value, 5), _mean, strict=True))
### END HIDDEN TESTS

# %% [markdown]
# ## 3. LIME (2 points)
#
# LIME evaluates the model on copies of the input in which some words are erased, and fits a linear model to the outputs: an intercept
# and one coefficient per word. The coefficients are the scores. Each copy has a weight, and the fit minimises the weighted sum of squared
# errors, $\sum_m w_m \, (y_m - c_0 - \sum_i c_i z_{mi})^2$, where $z_{mi}$ is 1 if copy $m$ keeps word $i$. Hint: `torch.linalg.lstsq`
# minimises an unweighted sum; multiply both sides of each row by $\sqrt{w_m}$.


# %% nbgrader={"grade": false, "grade_id": "solution-lime", "locked": false, "schema_version": 3, "solution": true, "task": false}
def lime(outputs, masks, weights):
    """The coefficients [F] of the words, for outputs [M] of copies with masks [M, F] of zeros and ones, and weights [M]."""
    ### BEGIN SOLUTION
    design = torch.cat([torch.ones(len(masks), 1, dtype=masks.dtype), masks], dim=1)
    root = weights.sqrt()[:, None]
    found = torch.linalg.lstsq(design * root, outputs[:, None] * root).solution
    return found[1:, 0]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-lime", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_masks = torch.tensor(list(itertools.product([0.0, 1.0], repeat=3)), dtype=torch.double)
_even = torch.ones(8, dtype=torch.double)
_coefficients = lime(2 + _masks @ torch.tensor([1.0, 0.0, -3.0], dtype=torch.double), _masks, _even)
assert torch.allclose(_coefficients, torch.tensor([1.0, 0.0, -3.0], dtype=torch.double))
### BEGIN HIDDEN TESTS
_outputs = _masks[:, 0] * _masks[:, 1] + SLOPE * _masks[:, 2]
_sizes = _masks.sum(dim=1)
_kernel = torch.where(
    (_sizes == 0) | (_sizes == 3), 1e6, 1 / 3
).double()  # the weights with which LIME gives Shapley values
assert torch.allclose(lime(_outputs, _masks, _kernel), torch.tensor([0.5, 0.5, SLOPE], dtype=torch.double), atol=1e-3)
_twice = torch.cat([_masks, _masks])
_disagree = torch.cat(
    [_masks[:, 0], -_masks[:, 0]]
)  # each copy twice, with opposite outputs; the first one weighs three times as much
_three = torch.cat([3 * _even, _even])
assert torch.allclose(lime(_disagree, _twice, _three), torch.tensor([0.5, 0, 0], dtype=torch.double), atol=1e-9)
_wild = _masks.sum(dim=1) + 9 * (_sizes == 3)
_without = torch.where(_sizes == 3, 0.0, 1.0).double()
assert torch.allclose(lime(_wild, _masks, _without), torch.ones(3, dtype=torch.double))
### END HIDDEN TESTS

# %% [markdown]
# ## 4. A plot to read (2 points)
#
# The plot has the scores of four methods for the model `curved` at the input (1, 1, 1), with the baseline (0, 0, 0). An erased word is
# an input of 0. The panels are in no particular order. Compute the scores of each method with a pencil and set `named`, a dictionary
# from each letter, A to D, to one of `"input_x_gradient"`, `"integrated_gradients"`, `"shapley"`, `"occlusion"`. Input times gradient uses the
# gradient at the input; occlusion is the loss of output when one word is erased.

# %% nbgrader={"grade": false, "grade_id": "given-plot", "locked": true, "schema_version": 3, "solution": false, "task": false}
import matplotlib.pyplot as plt

_share = POWER / (POWER + 1)
_four = [[1.0, 1.0, SLOPE], [1.0, float(POWER), SLOPE], [1 - _share, _share, SLOPE], [0.5, 0.5, SLOPE]]
_chosen.shuffle(_four)
bars = dict(zip("ABCD", _four, strict=True))
figure, axes = plt.subplots(1, 4, figsize=(9, 2.5), sharey=True)
for panel, (letter, heights) in zip(axes, bars.items(), strict=True):
    panel.bar(["x0", "x1", "x2"], heights, color="tab:blue")
    panel.set_title(letter)
axes[0].set_ylabel("score")

# %% nbgrader={"grade": false, "grade_id": "solution-plot", "locked": false, "schema_version": 3, "solution": true, "task": false}
### BEGIN SOLUTION
# Occlusion: without x0 or x1 the product is 0. The gradient of x1 is POWER. Along the line the product is t to the POWER + 1.
first_two = {
    "occlusion": (1, 1),
    "input_x_gradient": (1, POWER),
    "integrated_gradients": (1 / (POWER + 1), POWER / (POWER + 1)),
    "shapley": (1 / 2, 1 / 2),
}
named = {}
for letter, heights in bars.items():
    for method, expected in first_two.items():
        if all(abs(height - given_height) < 0.01 for height, given_height in zip(heights, expected, strict=False)):
            named[letter] = method
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-plot", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert set(named) == set("ABCD") and len(set(named.values())) == 4
### BEGIN HIDDEN TESTS
_read = {method: bars[letter] for letter, method in named.items()}
assert abs(_read["occlusion"][0] - 1) < 1e-9 and abs(_read["occlusion"][1] - 1) < 1e-9
assert abs(_read["input_x_gradient"][1] - POWER) < 1e-9
assert abs(_read["integrated_gradients"][1] - POWER / (POWER + 1)) < 1e-9
assert abs(_read["shapley"][0] - 0.5) < 1e-9 and abs(_read["shapley"][1] - 0.5) < 1e-9
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Find the bug (2 points)
#
# `faulty` should estimate Shapley values from a list of orders. For a model that needs both of two words its scores add up to twice what
# the model's output gains, although Shapley values always add up to it. Find the reason and write the function as it should be.


# %% nbgrader={"grade": false, "grade_id": "given-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
def faulty(value, orders):
    """Shapley values estimated from orders of the same words, a list with one score per word."""
    scores = [0.0] * len(orders[0])
    for order in orders:
        whole = frozenset(order)
        for word in order:
            scores[word] += (value(whole) - value(whole - {word})) / len(orders)
    return scores


print(faulty(lambda kept: float({0, 1} <= kept), [(0, 1, 2), (2, 1, 0)]))


# %% nbgrader={"grade": false, "grade_id": "solution-bug", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended(value, orders):
    """Shapley values estimated from orders of the same words, a list with one score per word."""
    ### BEGIN SOLUTION
    scores = [0.0] * len(orders[0])
    for order in orders:
        before = frozenset()
        for word in order:
            scores[word] += (value(before | {word}) - value(before)) / len(orders)
            before = before | {word}
    return scores
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_scores = mended(lambda kept: float({0, 1} <= kept), [(0, 1, 2), (2, 1, 0)])
assert abs(sum(_scores) - 1) < 1e-9
### BEGIN HIDDEN TESTS
assert all(abs(_one - _expected) < 1e-9 for _one, _expected in zip(_scores, [0.5, 0.5, 0], strict=True))
_either = mended(lambda kept: float(bool({0, 1} & kept)), [(0, 1, 2)])
assert _either == [1.0, 0.0, 0.0]  # with one order the first word takes everything
### END HIDDEN TESTS

# %% [markdown]
# ## 6. In your own words (2 points)
#
# In part 4, input times gradient gives the second word more than the first, and Shapley values give both the same. A colleague says: "Then
# one of the two methods is wrong about this model." What question does each method answer? Which of the four methods of part 4 add up to
# the change of the output, and does adding up make a method right? Answer in at most five sentences.

# %% [markdown] nbgrader={"grade": true, "grade_id": "answer-words", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Neither is wrong: they answer different questions. Input times gradient says how fast the output changes when a word is changed a little
# at this input, where the second word is the steeper one; Shapley values say what presence or absence of the word is worth on average, and with one of
# the two words absent the product is 0, so they share it equally. Integrated gradients and Shapley values add up to the change of the
# output; occlusion and input times gradient count the product more than once. Adding up is a property of the bookkeeping and does not
# make a method faithful: the two that add up still disagree on the first two words, because one walks along a line and the other
# switches words on and off.
