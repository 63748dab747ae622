"""Settings of the paper profile that its papers print."""

from __future__ import annotations

import pytest
from refusals import refused

from faithbook.engine.studies import settings_of
from faithbook.engine.study import value_at
from faithbook.studies.crosslingual.zaman_belinkov_rows import AGGREGATIONS, OUTPUTS, thirteen_rows
from faithlib.errors import UnknownNameError


@pytest.mark.parametrize(
    ("notebook", "of", "others", "steps"),
    [
        ("crosslingual_metrics", "mbert", {("mean", "top_prediction"): 75, ("mean", "loss"): 75}, 100),
        ("crosslingual_metrics", "xlmr", {}, 100),
        ("crosslingual_plausibility", "esnli", {("mean", "top_prediction"): 100}, 50),
    ],
)
def test_steps_of_integrated_gradients_are_those_of_appendix_b4(notebook, of, others, steps):
    block = settings_of(notebook, "paper")
    names = ("ig_steps", "lime_samples", "permutations")
    others_of = value_at(block["ig_steps_of"], {"dataset": of})
    others_of = others_of.get(of) if notebook == "crosslingual_metrics" else others_of
    rows = thirteen_rows(**{name: block[name] for name in names}, ig_steps_of=others_of)
    found = {name[1:3]: row.options["n_steps"] for name, row in rows.items() if name[0] == "integrated_gradients"}
    assert found == {(how, out): others.get((how, out), steps) for how in AGGREGATIONS for out in OUTPUTS}


def test_steps_of_an_aggregation_that_there_is_not_are_refused():
    lost = {"ig_steps": 2, "lime_samples": 2, "permutations": 1, "ig_steps_of": {"mean lost": 3}}
    refused(UnknownNameError, "entry of ig_steps_of 'mean lost': did you mean 'mean loss'", thirteen_rows, **lost)
