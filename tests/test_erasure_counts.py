"""What a report counts without tensors is what faithlib's metrics do to scores and answers."""

from __future__ import annotations

import pytest
import torch

from faithbook.papers import erasure_counts
from faithlib.errors import InputError, UnknownNameError
from faithlib.metrics import ERASURE_BINS, erasure_rationales, first_batch_fault


def test_bins_are_those_of_the_metrics() -> None:
    assert erasure_counts.ERASURE_BINS == ERASURE_BINS


@pytest.mark.parametrize("rounding", ["up", "nearest"])
def test_sizes_of_bins_are_those_of_the_rationales(rounding: str) -> None:
    for n in range(1, 301):
        rationales = erasure_rationales(torch.arange(n, 0, -1.0)[None], rounding=rounding)
        assert erasure_counts.bin_sizes(n, rounding).tolist() == rationales.sum(dim=2)[0].tolist(), n


@pytest.mark.parametrize(("inputs", "batch", "window"), [(1, 64, 6), (11, 64, 6), (192, 64, 6), (50, 10, 4), (9, 7, 3)])
def test_windows_are_those_of_the_fault(inputs: int, batch: int, window: int) -> None:
    read = first_batch_fault(torch.arange(inputs * window), batch_size=batch, window=window)
    found = erasure_counts.windows_read(inputs, batch_size=batch, window=window)
    assert found.tolist() == torch.unique(read, dim=0).tolist()


def test_as_many_windows_as_the_metric_says() -> None:
    told = erasure_counts.windows_told(5010)  # XNLI's test split
    assert told == {
        "inputs read": 11, "different windows": 32, "begin on an original": 11, "one input from end to end": 10,
    }  # fmt: skip
    few = erasure_counts.windows_told(3)  # all in one batch: nothing slips
    assert few["one input from end to end"] == few["different windows"] == few["inputs read"] == 3


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="0 words"):
        erasure_counts.bin_sizes(0)
    with pytest.raises(UnknownNameError, match="down"):
        erasure_counts.bin_sizes(5, "down")
