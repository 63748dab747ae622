"""The reserve is what no committed value has measured, and loaders keep it back."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from refusals import refused

from faithbook.engine.studies import notebooks
from faithbook.engine.study import PROFILES
from faithbook.paths import root
from faithbook.sources import datasets, images, reserve
from faithbook.sources.reserve import FILE, IMAGES, TEXTS, measured_ids, places_of
from faithbook.sources.reserve_file import made_again
from faithlib.errors import DataError, InputError, UnknownNameError

DATA = Path(os.environ.get("FAITHLIB_DATA", root() / "data" / "raw"))
NUMBERED = ("sst", "ag", "xnli")  # an id ends in the number of its row
HERE = ("movie", "bbc", "section", "pair", "fashion", "mnist", "animals")
LIES_AT = {
    "sst": "sst-test",
    "ag": "ag-test",
    "xnli": "xnli",
    "cifar10": "cifar10-folder",
    "cifar100": "cifar100-folder",
}
TABLE = pd.read_csv(root() / FILE, dtype=str).set_index("dataset")


def load(name, **asked):
    return images.load_pictures(name, **asked) if name in IMAGES else datasets.load_dataset(name, **asked)


def test_the_file_has_every_reserve_once():
    assert list(TABLE.index) == [*TEXTS, *IMAGES]
    assert all(len(places_of(row.rows)) == int(row.reserved) < int(row.total) for row in TABLE.itertuples())


@pytest.mark.parametrize("name", NUMBERED)
def test_rows_with_a_number_are_total_minus_measured_without_the_data(name):
    begins = f"{name}-test-"
    measured = {int(known.removeprefix(begins)) for known in measured_ids() if known.startswith(begins)}
    total = int(TABLE.total[name])
    assert measured
    assert set(places_of(TABLE.rows[name])) == set(range(total)) - measured


@pytest.mark.parametrize("name", [*HERE, *LIES_AT])
def test_the_file_is_total_minus_measured(name):
    if name in LIES_AT and not any((DATA / LIES_AT[name]).glob("*")):
        pytest.skip(f"{name} is not on this machine")
    assert made_again([name])[0] == {"dataset": name} | TABLE.loc[name].to_dict()


@pytest.mark.parametrize("name", ["movie", "pair", "fashion"])
def test_a_sample_is_on_one_side_of_the_reserve(name):
    whole, measured = load(name, sample="all"), measured_ids()
    seen, unseen = (load(name, sample=sample) for sample in ("exploratory", "confirmatory"))
    assert set(seen.ids) <= measured
    assert unseen.ids
    assert not set(unseen.ids) & measured
    assert set(seen.ids) | set(unseen.ids) <= set(whole.ids)
    assert load(name).ids == seen.ids
    few, more = (load(name, n=n, sample="confirmatory").ids for n in (5, 9))
    assert more[:5] == few
    assert set(more) <= set(unseen.ids)


def test_what_shares_a_paper_with_a_measured_text_is_not_unseen():
    whole = datasets.load_dataset("pair", sample="all")
    known = {whole.clusters[row_id] for row_id in datasets.load_dataset("pair").ids}
    unseen = datasets.load_dataset("pair", sample="confirmatory")
    assert not known & {whole.clusters[row_id] for row_id in unseen.ids}
    assert 0 < len(unseen) < int(TABLE.reserved["pair"])  # some reserved rows are of a measured paper


@pytest.mark.parametrize("name", ["movie", "mnist"])
def test_a_larger_sample_stops_at_the_reserve(name):
    open_rows = int(TABLE.total[name]) - int(TABLE.reserved[name])
    assert len(load(name, n=open_rows)) == open_rows
    refused(
        InputError, rf"{open_rows} are open; the others are the reserve .*confirmatory", load, name, n=open_rows + 1
    )
    refused(InputError, "for a confirmatory sample", load, name, n=int(TABLE.total[name]), sample="confirmatory")
    assert len(load(name, n=open_rows + 1, sample="all")) == open_rows + 1


def test_the_committed_sample_is_what_a_rerun_would_draw():
    drawn = datasets.load_dataset("movie", n=250)
    assert drawn.ids == datasets.load_dataset("movie", n=250, sample="all").ids
    shown = images.load_pictures("animals", n=200)
    assert shown.ids == images.load_pictures("animals", n=200, sample="all").ids


def test_what_has_no_reserve_says_so():
    refused(DataError, "has no reserved rows", datasets.load_dataset, "messages", sample="confirmatory")
    refused(DataError, "has no reserved rows", datasets.load_dataset, "movie", "dev", sample="confirmatory")
    refused(DataError, "has no reserved rows", images.load_pictures, "planted", sample="confirmatory")
    for call, name in ((datasets.load_dataset, "movie"), (images.load_pictures, "mnist")):
        refused(UnknownNameError, "sample", call, name, sample="confirmed")
    refused(UnknownNameError, "sample", datasets.load_parallel, "messages", ("en",), sample="confirmed")


def test_rows_of_another_file_are_not_the_reserved_ones():
    ids = [f"sst-test-{row}" for row in range(int(TABLE.total["sst"]))]
    reserved = places_of(TABLE.rows["sst"])
    assert reserve.sampled_rows("sst", "test", ids, "confirmatory") == reserved
    assert reserve.sampled_rows("sst", "test", ids, "exploratory") == sorted({*range(len(ids))} - {*reserved})
    assert reserve.sampled_rows("sst", "test", ids[:-1], "exploratory") == list(range(len(ids) - 1))
    assert reserve.sampled_rows("sst", "test", [*ids[1:], ids[0]], "exploratory") == list(range(len(ids)))


def test_the_paper_profile_alone_is_exempt():
    samples = {
        name: {notebook.settings(profile).get("sample") for notebook in notebooks()} - {None}
        for name, profile in PROFILES.items()
    }
    exploratory = {"exploratory"}
    assert samples.pop("paper") == {"all"}
    assert samples.pop("confirm") == {"exploratory", "confirmatory"}  # all other notebooks stay outside the reserve
    assert samples == {"laptop": exploratory, "smoke": exploratory, "full": exploratory}
