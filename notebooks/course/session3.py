# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Assignment 3: Measuring measures
#
# Fourteen points. Fill in the marked cells and run everything; a test cell that prints nothing has passed. More tests are run when the
# assignment is marked, and part 6 is read by a person. About 90 minutes. Diagnosticity and its controls are on the page *Diagnosticity: measuring a measure* of the book.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch

SEED = 1  # the variant of this assignment: it sets the numbers of the tests and the images

# %% [markdown]
# ## 1. Diagnosticity (3 points)
#
# The share of inputs on which a metric prefers a real explanation to a random one. A preference is a *strictly* better value;
# pairs in which one of the two is undefined (`nan`) are left out. The share of ties among the same pairs is reported next to it.


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

_generator = torch.Generator().manual_seed(SEED)
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
# A control that has the values of a real explanation but not their places: the scores of each input in a random order, with a
# different order for each input.


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
# Resample the inputs with replacement, as many as there are, `draws` times. The 95 % interval runs from the 2.5th to the
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


# %% [markdown]
# ## 4. A plot to read (2 points)
#
# The folder `model` holds a small vision transformer that sorts images by stripes in one or two of their 49 cells; nothing else
# decides the label. Two attribution methods are compared with random scores by two metrics. AOPC (most relevant first) erases
# cells and runs the model; *sparseness*, the Gini index of the scores, never runs it. The plot has the diagnosticity of each metric
# for each method on 24 images, with 95 % intervals.
#
# Set `chance`, the set of all pairs of method and metric for which a preference cannot be distinguished from a coin toss, and
# `reversed_`, the set of all pairs for which the metric clearly prefers random scores. A pair is a tuple such as
# `("rollout", "aopc_morf")`.

# %% nbgrader={"grade": false, "grade_id": "given-plot", "locked": true, "schema_version": 3, "solution": false, "task": false}
import matplotlib.pyplot as plt
import numpy as np
import timm

from faithlib.evaluation import MetricSettings, evaluate, explain
from faithlib.inputs import ImageInputs
from faithlib.metrics import diagnosticity as measured

classifier = timm.create_model("local-dir:model", pretrained=True).eval()
with np.load("images.npz") as stored:
    pixels, striped = torch.from_numpy(stored["pixels"]), torch.from_numpy(stored["cells"])
centre, spread = (classifier.pretrained_cfg[name][0] for name in ("mean", "std"))
images = ImageInputs.from_pixels((pixels[:, None] / 255 - centre) / spread, patch=4)

methods, metrics = ("rollout", "attcat"), ("aopc_morf", "sparseness")
scores = explain(classifier, images, [*methods, "random"], settings=MetricSettings(erase="mean"))
table = evaluate(classifier, images, methods=scores, metrics=metrics, settings=MetricSettings(erase="mean"))
values = {
    (method, metric): torch.tensor(rows.sort_values("input")["value"].to_numpy())
    for (method, metric), rows in table.groupby(["method", "metric"])
}
pairs = [(method, metric) for method in methods for metric in metrics]
shares = {
    (method, metric): measured(values[method, metric], values["random", metric], higher_is_better=True)
    for method, metric in pairs
}
figure, axes = plt.subplots(figsize=(7, 2.5))
for height, share in enumerate(shares.values()):
    axes.plot([share.low, share.high], [height, height], color="gray")
    axes.plot(share.wins, height, "o")
axes.axvline(0.5, color="gray", linewidth=0.5)
axes.set_yticks(range(4), [f"{method}, {metric}" for method, metric in pairs])
axes.set_xlim(-0.05, 1.05)
axes.set_xlabel("diagnosticity")

# %% nbgrader={"grade": false, "grade_id": "solution-plot", "locked": false, "schema_version": 3, "solution": true, "task": false}
### BEGIN SOLUTION
chance = {pair for pair, share in shares.items() if share.low <= 0.5 <= share.high}
reversed_ = {pair for pair, share in shares.items() if share.high < 0.5}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-plot", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert chance <= set(pairs) and reversed_ <= set(pairs)
### BEGIN HIDDEN TESTS
assert ("rollout", "sparseness") in reversed_  # equal scores are less unequal than random ones, on any image
assert chance == {pair for pair, share in shares.items() if share.low <= 0.5 <= share.high}
assert reversed_ == {pair for pair, share in shares.items() if share.high < 0.5}
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Find the bug (2 points)
#
# `faulty` should give the share of inputs on which a metric *strictly* prefers the real explanation, for metrics with either
# direction. A metric that gives every explanation the same value gets 0 in one direction and 1 in the other. Find the reason and
# write the function as it should be.


# %% nbgrader={"grade": false, "grade_id": "given-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
def faulty(real, random, higher_is_better):
    """The share of strict preferences for the real explanation, for two tensors [N] of values."""
    share = (real > random).double().mean().item()
    return share if higher_is_better else 1 - share


print(faulty(torch.ones(5), torch.ones(5), True), faulty(torch.ones(5), torch.ones(5), False))


# %% nbgrader={"grade": false, "grade_id": "solution-bug", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended(real, random, higher_is_better):
    """The share of strict preferences for the real explanation, for two tensors [N] of values."""
    ### BEGIN SOLUTION
    preferred = real > random if higher_is_better else real < random
    return preferred.double().mean().item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert mended(torch.tensor([0.9, 0.1]), torch.tensor([0.5, 0.5]), True) == 0.5
### BEGIN HIDDEN TESTS
assert mended(torch.ones(5), torch.ones(5), True) == mended(torch.ones(5), torch.ones(5), False) == 0
assert mended(torch.tensor([0.2, 0.5, 0.7, 0.1]), torch.full((4,), 0.5), False) == 0.5
### END HIDDEN TESTS

# %% [markdown]
# ## 6. In your own words (2 points)
#
# The cell below prints how often the highest score of each method is on a striped cell. Sparseness prefers `attcat` to random scores
# on nearly every image, and almost never `rollout`. What does a diagnosticity of 1 show, and what does it not show? Which control would have
# uncovered sparseness without knowledge of the striped cells? Answer in at most five sentences.

# %% nbgrader={"grade": false, "grade_id": "given-truth", "locked": true, "schema_version": 3, "solution": false, "task": false}
for method in methods:
    on_stripes = striped.gather(1, scores[method].argmax(dim=1, keepdim=True)).double().mean().item()
    print(f"{method}: highest score on a striped cell in {on_stripes:.0%} of the images")

# %% [markdown] nbgrader={"grade": true, "grade_id": "answer-words", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# A diagnosticity of 1 shows that the metric separates this method's scores from random scores. It does not show that it does so
# for the right reason: sparseness sees only how unequal the scores are, which differs between methods and random scores whatever the
# model does. Here it rates the method that finds the striped cells below noise and another one above it. The control is the same scores, shuffled
# among the cells of an image: they have the same sparseness, so a metric that still prefers the original must use the places.
