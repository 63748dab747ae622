"""The pages of study 4 on synthetic results whose truth is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from store import Shown, Store

from faithbook.papers import edin_claims, edin_tables
from faithbook.papers.edin_pack import METHODS, MODELS, read_packed
from faithbook.papers.edin_tables import KINDS, released_limits

ALL_METHODS = ("attention", "attingrad", "decompx", "deeplift", "lime", *METHODS.values())
FEW = 66
"""Texts of each data set: their ids are those of the release, whose tables the page reads beside ours."""


def released(texts: int = FEW) -> pd.DataFrame:
    """The released exact limits of the first texts of each data set, with what beam 5 found."""
    exact = read_packed("limits_exact")
    ids = exact.groupby("dataset").id.unique().map(lambda each: sorted(each)[:texts])
    exact = exact[[row.id in ids[row.dataset] for row in exact[["dataset", "id"]].itertuples()]]
    beam = released_limits().query("search == 'beam' and length == 'short'")[
        ["dataset", "model", "id", "lower", "upper"]
    ]
    return exact.merge(beam, on=["dataset", "model", "id"], suffixes=("", "_beam")).reset_index(drop=True)


def as_units(frame: pd.DataFrame, **columns: object) -> pd.DataFrame:
    """Rows with id and value in the columns of the schema."""
    given = {"cluster": frame.id.astype(str), "seed": 0, "method": "none"} | columns
    return frame.assign(id=frame.id.astype(str), **{k: v for k, v in given.items() if k not in frame.columns})


def world(store: Store, exact: pd.DataFrame, *, chance: float, turned: bool, exact_scores: bool = False) -> Shown:
    """The page on made limits: random attributions get a NAOPC of `chance`; models rank by NAOPC as by AOPC, or the
    other way round."""
    generator = np.random.default_rng(0)
    shaken = generator.normal(0, 0.003, len(exact))
    exact = exact.assign(lower=exact.lower + shaken, upper=exact.upper + shaken)
    rank = {model: k for k, model in enumerate(MODELS)}
    base = exact[["dataset", "model", "id"]]
    place = base.model.map(rank) / 10
    scored = []
    for method in ALL_METHODS:
        for kind in KINDS:
            noise = generator.normal(0, 0.01, len(base))
            naopc = (
                chance * (1 + place) + noise if method == "random" else 0.2 + (0.6 - place if turned else place) + noise
            )
            for metric, value in (("aopc", 0.1 + place + noise), ("naopc", naopc)):
                scored.append(base.assign(method=method, kind=kind, metric=metric, value=value))
    ends = exact.melt(["dataset", "model", "id"], ["lower", "upper"], "metric", "value")
    searched = [("released", 1), ("merged", 1), ("released", 5), ("merged", 5), ("pruned", 3), ("adaptive", 0)]
    found = exact[["dataset", "model", "id"]].assign(
        lower=exact.lower, upper=exact.upper, certified_lower=exact.lower, certified_upper=exact.upper, rows=30.0
    )
    beams = pd.concat([found.assign(method=name, width=width) for name, width in searched])
    names = ["lower", "upper", "certified_lower", "certified_upper", "rows"]
    beams = beams.melt(["dataset", "model", "id", "method", "width"], names, "metric", "value")
    units = {"": as_units(pd.concat(scored)), "exact": as_units(ends), "beams": as_units(beams)}
    saved = exact[["dataset", "model", "id", "lower", "upper", "words", "p_full"]]
    store.add("naopc_released", units, tables={"naopc_released_exact": saved}, declared=("data/released/edin_2025",))
    return store.report("naopc_released_outputs")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(tmp_path, monkeypatch)


FIXED = {
    "naopc_review": "not recomputable",
    "naopc_figure_ranking_comprehensiveness_older": "not recomputable",
    "naopc_figure_ranking_sufficiency_older": "not recomputable",
    "naopc_figure_beam_all": "not recomputable",
    "naopc_figure_beam_single": "not recomputable",
    "naopc_figure_lengths": "set up as published",
}


def test_claims_hold_in_a_world_in_which_they_are_true(store: Store) -> None:
    """A beam that finds all but two in a hundred of our limits, models that turn round, random attributions at 0."""
    made = released()
    missed = 0.05 * (made.index % 50 == 0)
    near = made.assign(lower=made.lower_beam - missed, upper=made.upper_beam + missed)
    found = world(store, near, chance=0.0, turned=True)
    assert found.verdict("naopc_c02") == "holds"
    assert found.verdict("naopc_c03") == "holds"
    assert found.verdict("naopc_c04") == "holds"  # of what was released, one value in a hundred lies outside
    assert found.verdict("naopc_c05") == "holds"
    assert {name: found.verdict(name) for name in FIXED} == FIXED
    assert set(found.verdicts.evidence[["naopc_c01", "naopc_c05", "naopc_released_taus"]]) == {"authors' outputs"}


def test_claims_fail_in_a_world_in_which_they_are_false(store: Store) -> None:
    """Upper limits apart from model to model and far from what the beam found; the same order under both scores, random
    attributions at .3."""
    made = released(24)
    apart = made.assign(upper=made.model.map({model: 0.1 + 0.15 * k for k, model in enumerate(MODELS)}))
    found = world(store, apart, chance=0.3, turned=False)
    for name in ("naopc_c02", "naopc_c03", "naopc_c05"):
        assert found.verdict(name) == "fails", (name, found.verdicts.loc[name, "note"])
    for name in ("naopc_released_bounds", "naopc_figure_upper_limit"):
        assert found.verdict(name) == "differs"
    assert found.verdict("naopc_c01") == "holds"


def test_models_with_one_range_of_limits_can_be_compared(store: Store) -> None:
    found = world(store, released(30).assign(lower=-0.5, upper=0.5), chance=0.3, turned=False)
    assert found.verdict("naopc_c01") == "fails"


def test_the_correlation_of_two_scores_over_models_by_hand() -> None:
    """Two methods: the same order under both scores, and the reverse; -1 and 1 make a mean of 0."""
    rising = np.arange(6.0)
    values = np.concatenate([rising, rising, rising, -rising])
    assert edin_claims.unlike(values) == pytest.approx(1.0)
    assert edin_claims.unlike(np.stack([values, np.tile(rising, 4)])).tolist() == pytest.approx([1.0, 0.0])


def test_what_lies_outside_is_counted_text_by_text() -> None:
    """Long SST-2 texts: the mean over texts and models is that of the two published shares."""
    found = edin_claims.outside(released_limits())
    assert len(found) == 6 * (66 + 339 + 400 + 1000 + 1000)
    assert set(found.metric) == {"outside"}
    long = found[(found.dataset == "sst2") & found.id.str.startswith("long-")]
    printed = edin_tables.printed("naopc_released_scores").query(
        "dataset == 'sst2' and length == 'long' and model == 'all'"
    )
    assert len(printed) == 2
    assert long.value.mean() == pytest.approx(printed.value.mean(), abs=5e-5)
