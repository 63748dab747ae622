# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Assignment 4: Replicating a paper
#
# Fourteen points. Fill in the marked cells and run everything; a test cell that prints nothing has passed. More tests are run when the
# assignment is marked, and part 6 is read by a person. About 90 minutes. How verdicts are made is on the page *Methods of this book*.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
import random

import torch

SEED = 1  # the variant of this assignment: it sets the images and which row of the plot has which letter

# %% [markdown]
# ## 1. Paired differences (2 points)
#
# Two methods have been measured on the same inputs. Give the mean of the difference (first minus second) and the 95 % interval
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
# - `"yes"`: wholly above zero; `"no"`: wholly below zero; any other part is undecided.
# - The claim is *reproduced* if at least `k` parts are `"yes"`.
# - It is *not reproduced* if so many parts are `"no"` that `k` can no longer be reached.
# - Before both of these: it is *level* if every interval is wholly within `margin` of zero.
# - Otherwise it is *undecided*.


# %% nbgrader={"grade": false, "grade_id": "solution-verdict", "locked": false, "schema_version": 3, "solution": true, "task": false}
def verdict(intervals, k, margin):
    """One of "reproduced", "not reproduced", "level", "undecided" for a list of (low, high)."""
    ### BEGIN SOLUTION
    if all(-margin < low and high < margin for low, high in intervals):
        return "level"
    yes = sum(low > 0 for low, _ in intervals)
    no = sum(high < 0 for _, high in intervals)
    if yes >= k:
        return "reproduced"
    return "not reproduced" if len(intervals) - no < k else "undecided"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-clear", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert verdict([(0.1, 0.3), (0.2, 0.5)], 2, 0.05) == "reproduced"
assert verdict([(-0.3, -0.1), (0.2, 0.5)], 2, 0.05) == "not reproduced"
### BEGIN HIDDEN TESTS
assert verdict([(-0.3, -0.1), (0.2, 0.5), (0.1, 0.2)], 2, 0.05) == "reproduced"
assert verdict([(-0.3, -0.1), (-0.5, -0.2), (0.1, 0.2)], 2, 0.05) == "not reproduced"
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test-open", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert verdict([(0.1, 0.3), (-0.2, 0.5)], 2, 0.05) == "undecided"
### BEGIN HIDDEN TESTS
assert verdict([(-0.1, 0.3), (-0.2, 0.1), (-0.3, 0.2)], 2, 0.05) == "undecided"  # not known is not no
assert verdict([(0.01, 0.02), (0.02, 0.04)], 2, 0.05) == "level"  # above zero, and of no interest
assert verdict([(0.01, 0.02), (-0.2, 0.4)], 2, 0.05) == "undecided"
### END HIDDEN TESTS


# %% [markdown]
# ## 3. Every row once (2 points)
#
# A released program runs its model in batches and by mistake passes the first batch every time. Write it as it should be:
# every row is run once, in order, in batches of at most `size`.


# %% nbgrader={"grade": false, "grade_id": "solution-ask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ask(model, rows, size):
    """The outputs of a model (from a tensor [R, F] to a tensor [R]) for all rows, at most `size` at a time."""
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


# %% [markdown]
# ## 4. A plot to read (2 points)
#
# The folder `model` holds a small vision transformer that sorts images by stripes in one or two of their 49 cells; nothing else
# decides the label. The plot has four paired differences of comprehensiveness between attribution methods on the same 24 images,
# with 95 % intervals. The smallest effect of interest, 0.05 to each side of zero, is shaded.
#
# Set `read`, a dictionary from each letter, A to D, to one of four words: `"yes"` (the first method is better), `"no"` (the second
# one is better), `"level"` (the whole interval is within the smallest effect of interest), `"undecided"`.

# %% nbgrader={"grade": false, "grade_id": "given-plot", "locked": true, "schema_version": 3, "solution": false, "task": false}
import matplotlib.pyplot as plt
import numpy as np
import timm

from faithlib.evaluation import MetricSettings, evaluate
from faithlib.inputs import ImageInputs

classifier = timm.create_model("local-dir:model", pretrained=True).eval()
with np.load("images.npz") as stored:
    pixels, striped = torch.from_numpy(stored["pixels"]), torch.from_numpy(stored["cells"])
centre, spread = (classifier.pretrained_cfg[name][0] for name in ("mean", "std"))
images = ImageInputs.from_pixels((pixels[:, None] / 255 - centre) / spread, patch=4)

_pairs = [
    ("raw_attention", "grad_cam"),
    ("rollout", "raw_attention"),
    ("grad_cam", "occlusion"),
    ("attcat", "raw_attention"),
]
random.Random(SEED).shuffle(_pairs)
compared = dict(zip("ABCD", _pairs, strict=True))
methods = sorted({method for pair in compared.values() for method in pair})
table = evaluate(
    classifier, images, methods=methods, metrics=["comprehensiveness_eraser"], settings=MetricSettings(erase="mean")
)
wide = table.pivot(index="input", columns="method", values="value")
figure, axes = plt.subplots(figsize=(7, 2.5))
axes.axvspan(-0.05, 0.05, color="lightgray")
ends = {}
for height, (letter, (first, second)) in enumerate(compared.items()):
    differences = wide[first] - wide[second]
    half = 1.96 * differences.std() / math.sqrt(len(differences))
    ends[letter] = (differences.mean() - half, differences.mean() + half)
    axes.plot(ends[letter], [height, height], color="black")
    axes.plot(differences.mean(), height, "o", color="black")
labels = [f"{letter}: {first} minus {second}" for letter, (first, second) in compared.items()]
axes.set_yticks(range(4), labels)
axes.invert_yaxis()
axes.axvline(0, color="gray", linewidth=0.5)
axes.set_xlabel("difference in comprehensiveness")

# %% nbgrader={"grade": false, "grade_id": "solution-plot", "locked": false, "schema_version": 3, "solution": true, "task": false}
### BEGIN SOLUTION
read = {}
for letter, (low, high) in ends.items():
    if low > 0:
        read[letter] = "yes"
    elif high < 0:
        read[letter] = "no"
    elif low > -0.05 and high < 0.05:
        read[letter] = "level"
    else:
        read[letter] = "undecided"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-plot", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert set(read) == set(compared) and set(read.values()) <= {"yes", "no", "level", "undecided"}
### BEGIN HIDDEN TESTS
for _letter, (_low, _high) in ends.items():
    assert (read[_letter] == "yes") == (_low > 0)
    assert (read[_letter] == "no") == (_high < 0)
    assert (read[_letter] == "level") == (-0.05 < _low <= 0 <= _high < 0.05)
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Find the bug (2 points)
#
# A metric was computed with three trainings of one model on the same 100 inputs. `faulty` gives the mean and half of its 95 %
# interval. The interval shrinks when the same training is listed three times, although nothing new was measured. Find the reason and
# write the function for inputs that are independent and trainings that share them (the trainings themselves are not resampled).


# %% nbgrader={"grade": false, "grade_id": "given-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
def faulty(values):
    """(mean, half width) of values [S, N]: S trainings, measured on the same N inputs."""
    every = values.flatten()
    return every.mean().item(), (1.96 * every.std() / math.sqrt(len(every))).item()


_once = torch.rand(1, 100, generator=torch.Generator().manual_seed(0))
print(faulty(_once), faulty(_once.expand(3, -1)))


# %% nbgrader={"grade": false, "grade_id": "solution-bug", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended(values):
    """(mean, half width) of values [S, N]: S trainings, measured on the same N inputs."""
    ### BEGIN SOLUTION
    by_input = values.mean(dim=0)
    return by_input.mean().item(), (1.96 * by_input.std() / math.sqrt(len(by_input))).item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert abs(mended(torch.tensor([[0.0, 1.0], [0.5, 0.5]]))[0] - 0.5) < 1e-6
### BEGIN HIDDEN TESTS
_values = torch.rand(1, 100, generator=torch.Generator().manual_seed(1))
assert abs(mended(_values.expand(3, -1))[1] - mended(_values)[1]) < 1e-6
_three = torch.rand(3, 100, generator=torch.Generator().manual_seed(2))
assert abs(mended(_three)[1] - (1.96 * _three.mean(dim=0).std() / 10).item()) < 1e-6
### END HIDDEN TESTS

# %% [markdown]
# ## 6. In your own words (2 points)
#
# A paper says: "Attention-based methods explain vision transformers better than gradient-based ones." You have the plot of part 4 and
# nothing else. Which part of this sentence do your numbers support, which part can they not test, and which of the four rows must not be
# reported as "no difference"? Answer in at most five sentences.

# %% [markdown] nbgrader={"grade": true, "grade_id": "answer-words", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# On this model, on these images and by this metric, raw attention is clearly better than Grad-CAM and than AttCAT. Rollout and raw attention
# are level, as their whole interval is smaller than the smallest effect of interest. The sentence is about vision transformers in
# general and about explaining, and one small model with planted stripes and one metric cannot test that: I would write "replicates on our model".
# Grad-CAM minus occlusion must not be reported as "no difference": its interval includes zero and also differences far above 0.05, so it is
# undecided. (For the marker: these are the words of variant 1; in another one the plot may give a row another word.)
