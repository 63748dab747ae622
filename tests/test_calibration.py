"""Calibration: what it measures many worlds at a time is what the rules say of one; the committed rates keep their
promises; two of them are measured again."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from tiny import REPOSITORY

from faithbook.stats import calibration, rules
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimates import Drawn, Estimate

_SCRIPT = importlib.util.spec_from_file_location("calibrate", REPOSITORY / "data/reference/calibrate.py")
assert _SCRIPT is not None and _SCRIPT.loader is not None
script = sys.modules["calibrate"] = importlib.util.module_from_spec(_SCRIPT)
_SCRIPT.loader.exec_module(script)
SKEWED, Means, World = script.SKEWED, script.Means, script.World

SHARES = {"share .8": 0.8, "share .95": 0.95}


def one_by_one(values: np.ndarray, share: float) -> list[Estimate]:
    """The columns of one world of shares [K, M] as pages make them, minus the true share."""
    wide = pd.DataFrame((values + share).round())
    frame = wide.rename_axis("id").melt(ignore_index=False, var_name="part").reset_index()
    cells = Conditions.of(frame, over=["part"], unit="id", bounds=(0, 1), n_resamples=99)
    return [cells.mean(part=part) - share for part in wide.columns]


@pytest.mark.parametrize("name", [*script.SHAPES, SKEWED, "SaCo of transformer-MM minus rollout"])
def test_many_worlds_at_once_are_judged_as_each_alone(name: str) -> None:
    world, draws = World(name, 24, 4, 0.5), script.resamples(24)
    values, share = world.values(6, np.random.default_rng(1)), SHARES.get(name)
    values = values if share else 0.8 * values + 0.4
    many = Means.of(values, draws, share=share)
    up, down = many.p_above(0.0, limit=1.0), many.p_above(0.0, sign=-1, limit=1.0)
    low, high = (ends.reshape(6, 4) for ends in many.ends())
    fewer = Drawn(draws.counts[: script.OF_ENDS], draws.stratum)
    for number, own in enumerate(values.swapaxes(0, 1)):
        parts = one_by_one(own, share) if share else script.quantities(own, draws)
        assert up[number] == pytest.approx([part.p_above() for part in parts])
        assert down[number] == pytest.approx([part.p_below() for part in parts])
        shown = [part.interval() for part in (parts if share else script.quantities(own, fewer))]
        assert low[number] == pytest.approx([interval.low for interval in shown])
        assert high[number] == pytest.approx([interval.high for interval in shown])
        for k in ("all", "most", 1):
            needed, skew = rules.parts_needed(k, 4), float(many.skew[number])
            found = rules.conjunction(up[number], down[number], needed, 24, skew)
            assert found.answer == rules.k_of(parts, k).answer


def test_each_and_leader_are_judged_many_at_once_as_each_alone() -> None:
    """Four leads of about .05, all true at the margin: by the rules themselves, and by the rates of many worlds."""
    world, draws = World("normal", 24, 4, 0.5), script.resamples(24)
    (portion,) = script._in_portions(world, 40, 3)
    alone = [script.quantities(0.2 * own + 0.05, draws) for own in portion.swapaxes(0, 1)]
    answers = [rules.leader(parts, margin=0.05).answer for parts in alone]
    rates = script.leader(world, 0.05, worlds=40, seed=3)
    assert rates[rules.YES] == answers.count(rules.YES) / 40
    assert rates[rules.NO] == (answers.count(rules.NO) + answers.count(rules.LEVEL)) / 40
    answers = [rules.each(script.quantities(own, draws)).answer for own in portion.swapaxes(0, 1)]
    rates = script.each(world, worlds=40, seed=3)
    mixed = answers.count(rules.PARTLY)
    assert rates == {one: (answers.count(one) + mixed) / 40 for one in (rules.YES, rules.NO)}


def test_what_no_decision_asks_for_is_left_out_and_decides_the_same() -> None:
    values = World("normal", 30, 8, 0.5).values(200, np.random.default_rng(0))
    many = Means.of(values, script.resamples(30))
    whole, short = many.p_above(0.0, limit=1.0), many.p_above(0.0, limit=0.025)
    assert ((whole <= 0.025) == (short <= 0.025)).all()
    assert whole[whole <= 0.025] == pytest.approx(short[whole <= 0.025])
    assert (short <= whole + 1e-12).all()
    down = many.p_above(0.0, sign=-1, limit=1.0)
    for k in (1, 4, 8):
        rest = 8 - k + 1
        few = many.p_above(0.0, limit=0.025 / rest, least=k), many.p_above(0.0, sign=-1, limit=0.025 / k, least=rest)
        for number in range(200):
            told = rules.conjunction(few[0][number], few[1][number], k, 30).answer
            right = rules.conjunction(whole[number], down[number], k, 30).answer
            assert told == right or {told, right} <= {rules.INCONCLUSIVE, rules.PARTLY}


def test_worlds_have_a_mean_of_zero_the_spread_of_one_and_parts_that_correlate() -> None:
    for name in (*script.SHAPES, SKEWED, *script.stored()):
        values = World(name, 50, 40, 0.0).values(100, np.random.default_rng(2))
        share = SHARES.get(name)
        deviation = math.sqrt(share * (1 - share)) if share else 1.0
        assert values.mean() == pytest.approx(0.0, abs=4 * deviation / math.sqrt(values.size))
        assert values.std() == pytest.approx(deviation, rel=0.03)
    both = World("normal", 2000, 2, 0.5).values(1, np.random.default_rng(3))[:, 0]
    assert np.corrcoef(both.T)[0, 1] == pytest.approx(0.5, abs=0.06)


def test_two_rates_are_what_the_committed_table_says() -> None:
    frame = calibration.measured()[0].set_index(["rule", "values", "clusters", "parts", "correlation"])
    world = World("normal", 24, 10, 0.5)
    again = script.all_above(world, worlds=600, seed=7)
    there = frame.loc[(calibration.ALL, "normal", 24, 10, 0.5)]
    for answer in (rules.YES, rules.NO):
        both = (again[answer] * 600 + there[answer] * there.worlds) / (600 + there.worlds)
        error = math.sqrt(both * (1 - both) * (1 / 600 + 1 / there.worlds))
        assert abs(again[answer] - there[answer]) <= 4 * error + 1e-9
        assert again[answer] <= 0.05
    held = script.coverage(World("normal", 10), worlds=800, seed=7)
    there = frame.loc[(calibration.HELD, "normal", 10, 1, 0.0)]
    assert held == pytest.approx(there.held, abs=4 * math.sqrt(0.05 * 0.95 * (1 / 800 + 1 / there.worlds)))
    assert held >= 0.92


def test_the_committed_table_is_whole_and_exact_enough() -> None:
    frame, made = calibration.measured()
    columns = ["rule", *calibration.WORLD, "kind"]
    planned = {
        (rule, one.shape, one.clusters, one.parts, one.correlation, script.kind(one.shape))
        for rule, one in script.plan()
    }
    assert set(frame[columns].itertuples(index=False, name=None)) == planned
    assert made["seed"] == script.SEED and "with changes" not in str(made["commit"])
    assert math.sqrt(0.05 * 0.95 / frame.worlds.min()) <= 0.007
    assert math.sqrt(0.06 * 0.94 / frame[frame.rule == calibration.HELD].worlds.min()) <= 0.007


def test_promises_are_kept_on_the_listed_shapes_and_more_inputs_say_yes_more_often() -> None:
    long = calibration.rates(calibration.measured()[0])
    asked = long.dropna(subset=["promised"])
    listed = asked[asked["kind"] == calibration.LISTED]
    assert len(listed) > 400
    assert listed[~listed.kept].empty, listed[~listed.kept].to_string()
    inside = calibration.measured()[0][calibration.measured()[0].rule.str.endswith(calibration.INSIDE)]
    for _, group in inside.groupby(["rule", "values"]):
        rising = group.sort_values("clusters").yes
        assert (rising.diff().dropna() > -0.03).all(), group.to_string()


def test_a_rate_beyond_its_promise_is_told_and_one_near_it_is_not() -> None:
    about = {"clusters": 24, "parts": 1, "correlation": 0.0, "skewness": 0.0, "worlds": 1000}
    normal = {"rule": calibration.ALL, "values": "normal", "kind": calibration.LISTED, "promised_no": 0.05}
    frame = pd.DataFrame([{**about, **normal, "no": rate} for rate in (0.02, 0.055, 0.09)])
    held = {"rule": calibration.HELD, "values": SKEWED, "kind": calibration.SKEW_APART, "promised_held": 0.94}
    frame = pd.concat([frame.assign(yes=0.0, held=np.nan), pd.DataFrame([{**about, **held, "held": 0.90}])])
    long = calibration.rates(frame)
    assert long[long.which == rules.NO].kept.tolist() == [True, True, False]
    assert long[long.which == calibration.HELD_AS].kept.tolist() == [False]
    exact = scipy.stats.binomtest(90, 1000).proportion_ci(method="wilson")
    assert long[long.which == rules.NO].low.iloc[2] == pytest.approx(exact.low)
    farthest = calibration.worst(long).set_index(["kind", "which"])
    assert farthest.rate["listed", rules.NO] == 0.09
    assert (farthest.rates["listed", rules.NO], farthest.keeping["listed", rules.NO]) == (3, 2)
    assert farthest.rate[calibration.SKEW_APART, calibration.HELD_AS] == 0.90


def test_calibrating_writes_the_table_and_how_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [(calibration.ALL, World("normal", 24, 2, 0.5)), (calibration.HELD, World("normal", 10))]
    few += [(script.ORDER, World("normal", 24, 10)), (script.TREND, World("normal", 8))]
    few += [(name, World("normal", 24)) for name in script.MEASURES if name.startswith(("at least", "equal"))]
    several = [script.MOST, script.EACH, f"{script.LEADER}, {script.AT}", script.ORDERS]
    few += [(name, World("normal", 24, 10, 0.5)) for name in several]
    monkeypatch.setattr(script, "plan", lambda: few)
    script.calibrate(20, tmp_path)
    frame = pd.read_csv(tmp_path / "calibration.csv")
    assert list(frame.rule) == [rule for rule, _ in few]
    assert list(frame.worlds) == [40, 40, 20, *[40] * 8, 20]
    assert frame.held.notna().tolist() == [rule == calibration.HELD for rule, _ in few]
    assert set(script.MEASURES) == {rule for rule, _ in few}
    made = json.loads((tmp_path / "calibration.json").read_text())
    assert made["repetitions"] == 20
    assert set(made) == set(calibration.measured()[1]) - {"added"}
