"""Study `safe`: the declared design, the closed-form models, the outcomes and the choice."""

from __future__ import annotations

import pandas as pd

from faithbook.safe import design


def test_the_committed_conditions_are_those_of_the_rule_and_no_more_than_declared() -> None:
    listed = design.conditions()
    pd.testing.assert_frame_equal(listed, design.listed_conditions())
    assert len(listed) <= design.plan()["design"]["most"] == 400
    assert listed.condition.is_unique
    assert not listed.duplicated(design.COLUMNS[1:]).any()


def test_every_error_has_its_untouched_twin_and_every_truth_meets_every_error_once() -> None:
    listed = design.conditions()
    assert (listed.groupby("block").error.apply(lambda errors: (errors == design.NEVER).sum()) == 1).all()
    about = ["truth", "size", "distractor", "length", "erasure"]
    assert (listed.groupby("block")[about].nunique() == 1).all(axis=None)
    today = listed.block.max()
    grid = listed[(listed.block != today) & (listed.error != design.NEVER)]
    met = grid.groupby(["truth", "size", "distractor", "error", "whither"]).size()
    assert len(met) == 17 * 7 * 3
    assert (met == 1).all()
    assert set(listed[listed.block == today].error) == {design.NEVER, "third"}
