"""Whether rho follows accuracy over further languages: by the rule of the claim, with the interval of a correlation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from faithbook.studies.crosslingual.more_languages import interval_of_r, over_languages

LANGUAGES = [f"l{i}" for i in range(14)]
ACCURACY = dict(zip(LANGUAGES, np.linspace(0.4, 0.8, 14).tolist(), strict=True))
WOBBLE = [0.01 * (-1) ** i for i in range(14)]


def told(values, groups=None):
    """The rows of one quantity, by group of languages."""
    explained = {"rho": dict(zip(LANGUAGES, values, strict=True))}
    groups = groups or {"seven": LANGUAGES[::2], "all": LANGUAGES}
    return over_languages(ACCURACY, explained, groups, printed_r=0.83).set_index("languages")


def test_a_trend_is_found_over_all_languages_and_in_a_half_of_them():
    rising = told([value / 2 + noise for value, noise in zip(ACCURACY.values(), WOBBLE, strict=True)])
    assert rising["decision"].tolist() == ["reproduced", "reproduced"]
    assert rising["n"].tolist() == [7, 14]
    assert (rising["low"] > 0).all()
    assert (rising["high"] <= 1).all()


def test_its_r_and_interval_are_pearsons():
    values = [value / 2 + 4 * noise for value, noise in zip(ACCURACY.values(), WOBBLE, strict=True)]
    row = told(values).loc["all"]
    expected = scipy.stats.pearsonr([*ACCURACY.values()], values)
    assert row["estimate"] == pytest.approx(expected.statistic)
    assert (row["low"], row["high"]) == pytest.approx(tuple(expected.confidence_interval(0.95)))


def test_a_fall_and_too_few_languages():
    falling = told([-value for value in ACCURACY.values()], {"all": LANGUAGES, "four": LANGUAGES[:4]})
    assert falling["decision"].tolist() == ["not reproduced", "not tested"]


def test_more_languages_give_a_narrower_interval():
    (low, high), (lower, higher) = interval_of_r(0.7, 14), interval_of_r(0.7, 7)
    assert lower < low < 0.7 < high < higher
