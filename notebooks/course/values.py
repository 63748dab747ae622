# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Assignment 7: The book's own values
#
# Fourteen points. Fill in the marked cells and run everything; a test cell that prints nothing has passed. More tests are run when the
# assignment is marked, and part 6 is read by a person. About 90 minutes. Diagnosticity is on the page *Diagnosticity: measuring a measure*
# of the book, and the table that you compute again is on *Are soft metrics better?*
#
# The file `values.csv.gz` is a part of what the book was computed from: one row per text, training of the classifier, attribution method and metric. The
# metrics are normalised sufficiency and comprehensiveness with plain erasure, `ns` and `nc`, and with soft erasure, `soft_ns` and
# `soft_nc`; higher is better for all four. The method `random` has random scores. Texts have numbers instead of words.

# %% nbgrader={"grade": false, "grade_id": "given-values", "locked": true, "schema_version": 3, "solution": false, "task": false}
import numpy as np
import pandas as pd

SEED = 1  # the variant of this assignment: `make course SEED=2` puts the values of another data set into the file
values = pd.read_csv("values.csv.gz")
METRICS = ["ns", "nc", "soft_ns", "soft_nc"]
print(f"{values['text'].nunique()} texts, {values['training'].nunique()} trainings, {len(values)} values")
values.head()

# %% [markdown]
# ## 1. Real against random (3 points)
#
# Put the value of each real method next to the value of `random` for the same text, training and metric. The result has the columns `text`,
# `training`, `method`, `metric` and `win`: 1 if the real one is *strictly* higher, 0 if not, and `nan` if one of the two is undefined.


# %% nbgrader={"grade": false, "grade_id": "solution-wins", "locked": false, "schema_version": 3, "solution": true, "task": false}
def wins(values):
    """One row per text, training, real method and metric, with `win`."""
    ### BEGIN SOLUTION
    keys = ["text", "training", "metric"]
    random = values[values["method"] == "random"][[*keys, "value"]]
    real = values[values["method"] != "random"]
    pairs = real.merge(random, on=keys, suffixes=("", "_random"))
    defined = pairs["value"].notna() & pairs["value_random"].notna()
    pairs["win"] = (pairs["value"] > pairs["value_random"]).astype(float).where(defined)
    return pairs[["text", "training", "method", "metric", "win"]]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-wins", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
_small = pd.DataFrame(
    {
        "text": [0, 0, 1, 1, 2, 2, 3, 3],
        "training": 0,
        "method": ["attention", "random"] * 4,
        "metric": "ns",
        "value": [0.9, 0.1, 0.5, 0.5, 0.2, 0.3, np.nan, 0.1],
    }
)
assert wins(_small).sort_values("text")["win"].fillna(-1).tolist() == [1, 0, 0, -1]
### BEGIN HIDDEN TESTS
_all = wins(values)
assert len(_all) == (values["method"] != "random").sum()
_two = _small.assign(training=1, value=1 - _small["value"])
_both = wins(pd.concat([_small, _two]))
assert _both[_both["training"] == 1].sort_values("text")["win"].fillna(-1).tolist() == [0, 0, 1, -1]
### END HIDDEN TESTS

# %% [markdown]
# ## 2. The table (2 points)
#
# The diagnosticity of a metric for a method is the mean of `win` over all texts and trainings where it is defined. The last row, `mean`, is the
# mean of the methods' rows, each with the same weight.


# %% nbgrader={"grade": false, "grade_id": "solution-table", "locked": false, "schema_version": 3, "solution": true, "task": false}
def table(counted):
    """Methods and `mean` by metric (columns in the order of METRICS), for the result of `wins`."""
    ### BEGIN SOLUTION
    shares = counted.groupby(["method", "metric"])["win"].mean().unstack()[METRICS]
    shares.loc["mean"] = shares.mean()
    return shares
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-table", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
_counted = pd.DataFrame(
    {
        "text": [0, 1, 0, 1] * 4,
        "training": 0,
        "method": ["attention", "attention", "deeplift", "deeplift"] * 4,
        "metric": np.repeat(METRICS, 4),
        "win": [1.0, 0.0, 1.0, 1.0] * 4,
    }
)
assert table(_counted).loc[["attention", "deeplift", "mean"], "nc"].tolist() == [0.5, 1.0, 0.75]
### BEGIN HIDDEN TESTS
assert list(table(_counted).columns) == METRICS
_more = _counted[(_counted["method"] == "deeplift") & (_counted["text"] == 0)]
_uneven = pd.concat([_counted, _more.assign(text=5, win=0.0), _more.assign(text=6, win=np.nan)])
assert abs(table(_uneven).loc["mean", "soft_ns"] - (1 / 2 + 2 / 3) / 2) < 1e-9
### END HIDDEN TESTS

# %% [markdown]
# ## 3. Your own bootstrap (3 points)
#
# A text was measured with every method and several trainings, and these values belong together: a hard text is hard for all of them. So resample
# *texts* with replacement, as many as there are, and take each one with everything that was measured on it. Write the 95 % interval of the
# difference of two metrics in the row `mean` of the table: from the 2.5th to the 97.5th percentile over `draws` resamples.
#
# Hint: bring the wins into an array of texts by columns first, one column per training, method and metric. Resampling texts then means
# choosing rows, and `np.nanmean` over the rows is the mean of `win` of one column.


# %% nbgrader={"grade": false, "grade_id": "solution-interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def interval(counted, first, second, draws, generator):
    """(low, high) of the row `mean`, metric `first` minus `second`; `generator`: a numpy generator."""
    ### BEGIN SOLUTION
    wide = counted.pivot(index="text", columns=["metric", "method", "training"], values="win")
    sides = []
    for metric in (first, second):
        by_method = [wide[metric][method].to_numpy() for method in counted["method"].unique()]
        totals = np.stack([np.nansum(values, axis=1) for values in by_method], axis=1)  # texts by methods
        numbers = np.stack([(~np.isnan(values)).sum(axis=1) for values in by_method], axis=1)
        sides.append((totals, numbers))
    found = []
    for _ in range(draws):
        rows = generator.integers(0, len(wide), len(wide))
        means = [(totals[rows].sum(axis=0) / numbers[rows].sum(axis=0)).mean() for totals, numbers in sides]
        found.append(means[0] - means[1])
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-interval", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
_low, _high = interval(wins(values), "soft_ns", "ns", 200, np.random.default_rng(0))
_table = table(wins(values))
assert _low < _table.loc["mean", "soft_ns"] - _table.loc["mean", "ns"] < _high
### BEGIN HIDDEN TESTS
# Three times the same training is not more evidence: the interval keeps its width.
_one = wins(values[values["training"] == values["training"].min()])
_three = pd.concat([_one.assign(training=number) for number in range(3)])
_width = np.subtract(*interval(_one, "soft_nc", "nc", 300, np.random.default_rng(1))[::-1])
_again = np.subtract(*interval(_three, "soft_nc", "nc", 300, np.random.default_rng(2))[::-1])
assert 0.75 < _again / _width < 1.33
# Methods on one text belong together: an interval over single rows would be far too narrow.
_same = pd.concat([_one[_one["method"] == "attention"].assign(method=name) for name in "abcde"])
_alone = _one[_one["method"] == "attention"]
_wide = np.subtract(*interval(_alone, "soft_nc", "nc", 300, np.random.default_rng(3))[::-1])
_copies = np.subtract(*interval(_same, "soft_nc", "nc", 300, np.random.default_rng(4))[::-1])
assert 0.75 < _copies / _wide < 1.33
### END HIDDEN TESTS

# %% [markdown]
# ## 4. A plot to read (2 points)
#
# The plot has the diagnosticity of each metric for each method with 95 % intervals over texts. Set `below`, the set of pairs of method and
# metric, such as `("attention", "ns")`, whose whole interval is *below* one half: the metric prefers noise. Set `chance`, the set of
# pairs whose interval includes one half.

# %% nbgrader={"grade": false, "grade_id": "given-plot", "locked": true, "schema_version": 3, "solution": false, "task": false}
import matplotlib.pyplot as plt

_pairs = values[values["method"] != "random"].merge(
    values[values["method"] == "random"], on=["text", "training", "metric"], suffixes=("", "_random")
)
_defined = _pairs["value"].notna() & _pairs["value_random"].notna()
_pairs["win"] = (_pairs["value"] > _pairs["value_random"]).astype(float).where(_defined)
shares = {}
for _cell, _rows in _pairs.groupby(["method", "metric"]):
    _by_text = _rows.groupby("text")["win"].mean().dropna()
    _half = 1.96 * _by_text.std() / np.sqrt(len(_by_text))
    shares[_cell] = (_by_text.mean() - _half, _by_text.mean() + _half)
figure, axes = plt.subplots(figsize=(7, 5))
for _height, (_low, _high) in enumerate(shares.values()):
    axes.plot([_low, _high], [_height, _height], color="black")
axes.set_yticks(range(len(shares)), [", ".join(cell) for cell in shares])
axes.axvline(0.5, color="gray", linewidth=0.5)
axes.invert_yaxis()
axes.set_xlabel("diagnosticity")

# %% nbgrader={"grade": false, "grade_id": "solution-plot", "locked": false, "schema_version": 3, "solution": true, "task": false}
### BEGIN SOLUTION
below = {cell for cell, (low, high) in shares.items() if high < 0.5}
chance = {cell for cell, (low, high) in shares.items() if low <= 0.5 <= high}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test-plot", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert below <= set(shares) and chance <= set(shares) and not below & chance
### BEGIN HIDDEN TESTS
_margin = 0.01  # an end that nearly touches one half may be read either way
assert {cell for cell, (_, high) in shares.items() if high < 0.5 - _margin} <= below
assert below <= {cell for cell, (_, high) in shares.items() if high < 0.5 + _margin}
assert {cell for cell, (low, high) in shares.items() if low < 0.5 - _margin and high > 0.5 + _margin} <= chance
assert chance <= {cell for cell, (low, high) in shares.items() if low < 0.5 + _margin and high > 0.5 - _margin}
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Find the bug (2 points)
#
# `faulty` should give the diagnosticity of a metric for a method. Somebody sorted the two columns before comparing them, so that the values of
# one text were compared with those of another. It finds a diagnosticity of 1 for values that are random scores plus a little. Find the reason
# and write the function as it should be. The arguments are two series with texts as their index, not necessarily in the same order.


# %% nbgrader={"grade": false, "grade_id": "given-bug", "locked": true, "schema_version": 3, "solution": false, "task": false}
def faulty(real, random):
    """The share of texts on which the real value is strictly higher."""
    return float((real.sort_values().to_numpy() > random.sort_values().to_numpy()).mean())


_random = pd.Series([0.1, 0.5, 0.9], index=[0, 1, 2])
print(faulty(pd.Series([0.6, 0.95, 0.2], index=[0, 1, 2]), _random))


# %% nbgrader={"grade": false, "grade_id": "solution-bug", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended(real, random):
    """The share of texts on which the real value is strictly higher."""
    ### BEGIN SOLUTION
    return float((real > random.reindex(real.index)).mean())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-bug", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert abs(mended(pd.Series([0.6, 0.95, 0.2], index=[0, 1, 2]), _random) - 2 / 3) < 1e-9
### BEGIN HIDDEN TESTS
assert abs(mended(pd.Series([0.2, 0.6, 0.95], index=[2, 0, 1]), _random) - 2 / 3) < 1e-9
assert mended(_random, _random) == 0
### END HIDDEN TESTS

# %% [markdown]
# ## 6. In your own words (2 points)
#
# The paper reports that soft metrics separate real from random explanations better than plain ones. The cell below prints your table's row `mean` in short.
# Which sentence about soft and plain sufficiency do these values support, about which data and models, and what does the interval not cover?
# Answer in at most five sentences.

# %% nbgrader={"grade": false, "grade_id": "given-mean", "locked": true, "schema_version": 3, "solution": false, "task": false}
for _metric in METRICS:
    _rows = _pairs[_pairs["metric"] == _metric]
    print(f"{_metric}: {_rows.groupby('method')['win'].mean().mean():.2f}")

# %% [markdown] nbgrader={"grade": true, "grade_id": "answer-words", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The values support a sentence about our classifiers on this data set: the difference soft minus plain has the sign that the printed row shows,
# and it is clear if its bootstrap interval leaves out 0. Where the interval is below 0, soft sufficiency separates real from random
# explanations worse, so the paper's claim does not replicate on our models; this does not show that the paper's numbers are wrong. The interval is
# over texts of this data set; it does not cover other data sets, other architectures or other trainings than the ones in the file,
# because only texts were resampled. It also does not cover our choices, such as the normaliser and how ties count.
