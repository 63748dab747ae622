"""Spread taken apart, against slow loops and known worlds; and what a report counts without tensors, against what
faithlib's metrics do to scores and answers."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import torch
from refusals import refused

from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Resamples
from faithbook.studies.crosslingual import zaman_belinkov_spread as spread
from faithlib.errors import InputError, UnknownNameError
from faithlib.metrics import ERASURE_BINS, erasure_rationales, first_batch_fault


def world(*, messages: int = 24, rows: int = 9, signal: float = 1.0, seed: int = 0) -> np.ndarray:
    """Values [messages, rows]: what a row has on every message, what a message has on every row, and noise."""
    generator = np.random.default_rng(seed)
    own = signal * generator.normal(size=(1, rows))
    return own + 3 * generator.normal(size=(messages, 1)) + generator.normal(size=(messages, rows))


def drawn(clusters: int, counts: np.ndarray | None = None) -> Resamples:
    none = np.zeros(clusters, dtype=np.int64)
    return Resamples.draw(none, 1999) if counts is None else Resamples(none, counts)


def test_parts_of_the_variance_are_those_of_a_loop_over_pairs_of_clusters() -> None:
    values, cluster = world(messages=7, rows=4), np.array([0, 0, 1, 2, 2, 3, 4])
    counts = np.array([[1, 1, 1, 1, 1], [3, 0, 1, 0, 1]], dtype=float)
    found = spread.signal(values, cluster, drawn(5, counts))
    centred = values - values.mean(axis=1, keepdims=True)
    for draw, times in enumerate(counts.astype(int)):
        copies = [m for m in range(7) for _ in range(times[cluster[m]])]
        pairs = [
            (centred[i] * centred[j]).mean() for i, j in itertools.product(copies, copies) if cluster[i] != cluster[j]
        ]
        shared, whole = np.mean(pairs), np.mean([(centred[i] ** 2).mean() for i in copies])
        assert found.between.replicates[draw] == pytest.approx(np.sqrt(max(shared, 0)))
        assert found.share.replicates[draw] == pytest.approx(shared / whole)
    assert found.between.point == pytest.approx(found.between.replicates[0])
    assert (found.n, found.between.fewest) == (7, 5)
    assert found.seen == pytest.approx(values.mean(axis=0).std())


def test_equal_rows_have_no_signal_and_clear_ones_have_much() -> None:
    each = np.arange(60)
    nothing = spread.signal(world(messages=60, signal=0), each, drawn(60))
    assert nothing.share.interval().low < 0 < nothing.share.interval().high
    assert nothing.seen == pytest.approx(nothing.noise, abs=0.1)
    much = spread.signal(world(messages=60, signal=3), each, drawn(60))
    assert much.share.interval().low > 0.5
    assert much.between.p_above(0.5) < 0.01 < nothing.between.p_above(0.5)
    assert much.noise_with(240) == pytest.approx(much.noise / 2)
    assert much.needed < 10 < nothing.needed


def test_noise_is_taken_out_of_the_spread() -> None:
    """The deviation of means is .33 where rows differ by nothing and 9 messages are read; theirs is near 0."""
    worlds = [spread.signal(world(messages=9, rows=30, signal=0, seed=s), np.arange(9), drawn(9)) for s in range(40)]
    assert np.mean([world.seen for world in worlds]) == pytest.approx(1 / 3, abs=0.02)
    assert np.mean([world.between.point**2 for world in worlds]) < 0.02


def test_one_cluster_has_nothing_to_share() -> None:
    refused(
        InputError, "3 texts of one cluster", spread.signal, world(messages=3), np.zeros(3, dtype=np.int64), drawn(1)
    )


def test_a_matrix_has_the_messages_with_all_rows_and_means_over_the_rest() -> None:
    frame = pd.DataFrame(
        [("i", "a", "x", 1.0), ("i", "a", "y", 3.0), ("i", "b", "x", 5.0), ("j", "a", "x", 1.0)],
        columns=["id", "method", "model", "value"],
    )
    cells = Conditions.of(frame, over=["method", "model"], unit="id", n_resamples=9)
    values, cluster = spread.matrix(cells, [{"method": "a"}, {"method": ["b"]}])
    assert values.tolist() == [[2.0, 5.0]]
    assert cluster.tolist() == [0]
    refused(InputError, "no cell has", spread.matrix, cells, [{"method": "c"}])


def test_equal_rows_are_told_apart_one_time_in_twenty() -> None:
    values = np.random.default_rng(0).normal(size=(20, 40))
    assert spread.share_separated(spread.differences(values)) == pytest.approx(0.05, abs=0.03)
    assert spread.share_separated(spread.differences(values + np.arange(40) * 9)) == 1
    grown = spread.separated_by_size(values + np.arange(40) * 9, sizes=4, subsets=5)
    assert grown.texts.tolist() == [3, 6, 11, 20]
    assert grown.estimate.tolist()[1:] == [1.0] * 3
    alike = spread.separated_by_size(values, sizes=3, subsets=50)
    assert alike.estimate.max() < 0.12
    assert (alike.low < alike.high).tolist() == [True, True, False]  # all messages are one subset


# --------------------------------------------------------------------------------- what is counted without any tensor
@pytest.mark.parametrize("rounding", ["up", "nearest"])
def test_sizes_of_bins_are_those_of_the_rationales(rounding: str) -> None:
    for n in range(1, 301):
        rationales = erasure_rationales(torch.arange(n, 0, -1.0)[None], rounding=rounding)
        assert spread.bin_sizes(n, rounding).tolist() == rationales.sum(dim=2)[0].tolist(), n


@pytest.mark.parametrize(("inputs", "batch", "window"), [(1, 64, 6), (11, 64, 6), (192, 64, 6), (50, 10, 4), (9, 7, 3)])
def test_windows_are_those_of_the_fault(inputs: int, batch: int, window: int) -> None:
    read = first_batch_fault(torch.arange(inputs * window), batch_size=batch, window=window)
    found = spread.windows_read(inputs, batch_size=batch, window=window)
    assert found.tolist() == torch.unique(read, dim=0).tolist()


def test_as_many_windows_as_the_metric_says() -> None:
    few = spread.windows_told(3)  # all in one batch: nothing slips
    assert few["one input from end to end"] == few["different windows"] == few["inputs read"] == 3
    assert spread.ERASURE_BINS == ERASURE_BINS
    refused(InputError, "0 words", spread.bin_sizes, 0)
    refused(UnknownNameError, "down", spread.bin_sizes, 5, "down")
