"""Pictures explained twice, as the small book does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithbook.engine.run import load

pytestmark = pytest.mark.book
SETTLED = ["raw_attention", "rollout", "transformer_mm", "attcat", "conservative_lrp", "integrated_gradients"]


def test_the_answer_stays_and_so_does_a_map_that_nothing_enlarges(html: Path) -> None:
    found = load("saco_nudged", "smoke")
    assert not found.duplicated(["dataset", "input", "method"]).any()
    assert 0 < found.answer_moved.max() < 1e-4
    assert found[found.method.isin(SETTLED)].rank_correlation.min() > 0.9999
    assert found.rank_correlation.max() <= 1 + 1e-9 and found.moved.between(0, 2).all()


def test_saco_of_the_picture_as_it_is_is_that_of_the_study(html: Path) -> None:
    study = load("saco_scores", "smoke").query("model == 'base' and draw == 0")
    both = load("saco_nudged", "smoke").merge(study, on=["input", "method"], suffixes=("", "_study"), validate="1:1")
    assert len(both) == 20
    assert both.saco.to_numpy() == pytest.approx(both.saco_study.to_numpy(), abs=1e-5)
