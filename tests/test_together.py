"""The last chapter's computed tables, as the small book makes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from faithbook.engine.run import load, load_units
from faithbook.engine.studies import settings_of
from faithbook.sources.cifar import PHOTOGRAPHS
from faithlib.catalogue import FAITHFULNESS, FAMILIES, METRICS

pytestmark = pytest.mark.book
WHERE = ["modality", "dataset", "input", "method", "metric"]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("together_controls", [*WHERE, "control"]),
        ("together_mirrored", ["dataset", "input", "method"]),
    ],
)
def test_every_value_belongs_to_one_input(html: Path, name: str, keys: list[str]) -> None:
    """Inputs are evaluated in parts; each part must keep its own names."""
    found = load(name, "smoke")
    assert not found.duplicated(keys).any()


def values_of_the_matrix() -> pd.DataFrame:
    """With the modality that the settings are by."""
    values = load_units("together_matrix", "smoke").rename(columns={"id": "input"})
    pictures = set(values.dataset[values.method == "grad_cam"])
    kinds = [values.dataset.isin(PHOTOGRAPHS), values.dataset.isin(pictures)]
    return values.assign(modality=np.select(kinds, ["photographs", "vision"], "text"))


def test_the_matrix_is_whole(html: Path) -> None:
    values = values_of_the_matrix()
    settings = settings_of("together_matrix", "smoke")
    for dataset, part in values.groupby("dataset"):
        own = settings.at({"dataset": dataset})
        assert part.input.nunique() == own["inputs"]
        bounded = part[part.metric.isin(["naopc_morf", "naopc_lerf"])].input.nunique()
        assert bounded == min(settings["searched"][part.modality.iloc[0]], own["inputs"])
        missing = set(METRICS) - set(part.metric)
        assert missing in (set(), set(FAMILIES["plausibility"].directions))
        # A method less or a metric less for one input would show here.
        counts = part[part.metric.isin(FAITHFULNESS)].groupby(["metric", "input"]).method.nunique()
        assert counts.nunique() == 1


def test_controls_ask_about_other_scores_than_the_matrix(html: Path) -> None:
    controls = load("together_controls", "smoke")
    settings = settings_of("together_matrix", "smoke")
    assert controls.groupby("dataset").input.nunique().to_dict() == settings["controlled"].values
    assert controls.density.between(0, 1).all() and controls.density.nunique() > 10
    both = controls.merge(values_of_the_matrix(), on=WHERE, suffixes=("", "_matrix"), validate="m:1")
    assert len(both) == len(controls)
    changed = (both.value - both.value_matrix).abs() > 1e-5
    assert changed.groupby(both.control).mean().min() > 0.5


def test_a_symmetric_map_is_its_own_mirror_image_and_random_scores_are_not(html: Path) -> None:
    rho = load("together_mirrored", "smoke").groupby("method").rho.mean()
    assert rho["middle"] == pytest.approx(1)
    assert rho["random"] < 0.5
