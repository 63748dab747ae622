"""The search that holds each set once, against a loop over its sets."""

from __future__ import annotations

import pytest
import torch

from faithbook.papers import edin
from faithlib.bounds import beam_bounds, exact_bounds


def slow(answers: list[float], n: int, width: int) -> float:
    """The smallest sum of answers on the way to the full set, of the sets of each size the cheapest kept."""
    kept = {0: 0.0}
    for _ in range(n):
        reached: dict[int, float] = {}
        for members, cost in kept.items():
            for word in range(n):
                if not members >> word & 1:
                    larger = members | 1 << word
                    reached[larger] = min(reached.get(larger, float("inf")), cost + answers[larger])
        kept = dict(sorted(reached.items(), key=lambda one: one[1])[:width])
    return kept[2**n - 1]


@pytest.fixture(scope="module")
def table() -> edin.AnswerTable:
    generator = torch.Generator().manual_seed(0)
    sizes = [1, 2, 4, 5, 5, 6]
    values = [torch.rand(2**n, generator=generator, dtype=torch.float64) for n in sizes]
    return edin.AnswerTable(list(range(len(sizes))), values)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_bounds_are_those_of_a_loop_over_sets(table: edin.AnswerTable, width: int) -> None:
    lower, upper = edin.deduplicated(table, width)
    for i, n in enumerate(table.feature_mask.sum(dim=1).tolist()):
        start = int(table._starts[i])
        answers = table._values[start : start + 2**n].tolist()
        assert upper[i].item() == pytest.approx(answers[0] - slow(answers, n, width) / n)
        assert lower[i].item() == pytest.approx(answers[0] + slow([-one for one in answers], n, width) / n)


def test_a_last_step_over_all_sets_visited_only_adds_and_a_wide_beam_is_exact(table: edin.AnswerTable) -> None:
    lower, upper = edin.deduplicated(table, 2)
    merged = beam_bounds(table, width=2, limits=(0, 1))
    assert (merged.upper >= upper - 1e-12).all() and (merged.lower <= lower + 1e-12).all()
    exact = exact_bounds(table)
    for found, best in zip(edin.deduplicated(table, 64), (exact.lower, exact.upper), strict=True):
        torch.testing.assert_close(found, best)
