"""What is counted of the comparison with random, and how open choices name what was measured."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from faithbook.papers import zhao_aletras_diagnosticity as diagnosticity
from faithbook.papers.zhao_aletras_diagnosticity import AFTER, BEFORE, FLIP, LIMIT, ONE_SIDED, OUTSIDE, SCORE, TIE, WIN
from faithbook.stats import comparison, estimates
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithlib.errors import InputError, UnknownNameError

KEYS = {"dataset": "d", "seed": 0, "cluster": "c"}


def unit(metric: str, method: str, value: float, *, id: str = "a", **more: object) -> dict[str, object]:
    return KEYS | {"id": id, "metric": metric, "method": method, "value": value, **more}


def test_hard_scores_are_averaged_over_lengths_and_kept_at_each() -> None:
    rows = [unit("nc", "m", value, id=name, ratio=ratio) for name, ratio, value in
            (("a", 0.1, 0.2), ("a", 0.5, 0.6), ("b", 0.1, 0.3), ("b", 0.5, np.nan))]  # fmt: skip
    rows.append(unit("soft_nc", "m", 0.9, ratio=np.nan))
    found = diagnosticity.with_lengths(pd.DataFrame(rows)).set_index(["metric", "id"]).value
    assert found["nc", "a"] == pytest.approx(0.4)
    assert np.isnan(found["nc", "b"])
    assert found[diagnosticity.at_length("nc", 0.1), "b"] == 0.3
    assert found["soft_nc", "a"] == 0.9


@pytest.mark.parametrize(
    ("metric", "real", "random", "expected"),
    [
        ("nc", 0.4, 0.1, [1, 0, 0]),
        ("nc", 0.1, 0.4, [0, 0, 0]),
        ("nc", 0.3, 0.3, [0, 1, 0]),
        ("nc", 0.0, 0.0, [0, 1, 1]),
        ("ns", 1.0, 1.0, [0, 1, 1]),
        ("soft_ns", 0.0, 0.0, [0, 1, 0]),
        ("soft_nc at 5 %", 0.0, 0.0, [0, 1, 1]),
        ("nc", np.nan, 0.1, [np.nan] * 3),
    ],
)
def test_wins_ties_and_ties_at_the_limit(metric: str, real: float, random: float, expected: list[float]) -> None:
    found = diagnosticity.counted(pd.DataFrame([unit(metric, "m", real), unit(metric, "random", random)]))
    counts = found.set_index("shows").value[[WIN, TIE, LIMIT]]
    assert counts.tolist() == pytest.approx(expected, nan_ok=True)


def test_a_variant_has_the_rows_of_the_base_that_it_does_not_change() -> None:
    base = [unit(metric, method, 0.1, variant="paper") for metric in ("nc", "soft_nc") for method in ("m", "random")]
    found = diagnosticity.completed(pd.DataFrame([*base, unit("nc", "m", 0.7, variant="other")]))
    other = found[found.variant == "other"].set_index(["metric", "method"]).value
    assert len(other) == 4
    assert other["nc", "m"] == 0.7
    assert (other.drop(("nc", "m")) == 0.1).all()


def test_a_change_is_the_difference_of_the_two_values_beside_it() -> None:
    """Means over other inputs on either side gave .517 and .527 beside a change of 0."""
    values = {"a": (0.9, 0.2), "b": (0.1, 5.0), "c": (0.8, np.nan)}
    rows = [unit("nc", "m", value, id=name, variant=variant) for name, both in values.items()
            for variant, value in zip(("paper", "baseline=pad"), both, strict=True)]  # fmt: skip
    rows += [unit("nc", "random", 0.5, id=name, variant="paper") for name in values]
    found = diagnosticity.beside_base(diagnosticity.completed(pd.DataFrame(rows)))
    by = found.pivot(index="id", columns="shows", values="value")
    assert by[BEFORE].mean() == 0.5
    assert by[AFTER].mean() == 0.5
    assert by[FLIP].dropna().tolist() == [1.0, 1.0]
    assert by[ONE_SIDED].tolist() == [0.0, 0.0, 1.0]
    assert by[SCORE].dropna().tolist() == pytest.approx([-0.7, 0.9])  # limited to [0, 1]
    assert by[OUTSIDE].sum() == 0


def test_one_draw_flips_where_it_puts_the_other_ahead() -> None:
    rows = [unit("soft_nc", "random", 0.5), unit("soft_nc_one_draw", "random", 0.5)]
    rows += [unit("soft_nc", name, 0.6) for name in ("m", "o")]
    rows += [unit("soft_nc_one_draw", "m", 0.4), unit("soft_nc_one_draw", "o", 0.7)]
    found = diagnosticity.one_draw_flips(diagnosticity.counted(pd.DataFrame(rows)))
    assert found.set_index("method").value.to_dict() == {"m": 1.0, "o": 0.0}
    assert set(found.metric) == {"soft_nc"}


def test_specifications_begin_with_the_books_own_and_change_one_choice_each() -> None:
    found = diagnosticity.specifications(list(diagnosticity.EXCHANGED), texts="t", precision="float32")
    own, *others = found
    assert found[own] == ("paper", 0.0)
    changed = [sum(a != b for a, b in zip(own, other, strict=True)) for other in others]
    assert set(changed) == {1, 2}
    assert changed.count(2) == 3  # mask with normaliser, ranks with half ties, one draw with ties as wins
    assert ("dtype=float32", 0.0) not in found.values()  # what ran is no other specification
    assert len(diagnosticity.specifications([], texts="t", precision="float32")) == 3


def test_a_reading_counts_ties_and_compares_each_soft_metric_with_its_hard_one() -> None:
    shares = {("nc", WIN): 0.25, ("nc", TIE): 0.5, ("soft_nc", WIN): 0.75, ("soft_nc", TIE): 0.0}
    shares |= {("nc at 5 %", WIN): 1.0, ("soft_nc_one_draw", WIN): 0.0, ("soft_nc_one_draw", TIE): 1.0}
    rows = [(i, *key, float(i < 40 * share)) for key, share in shares.items() for i in range(40)]
    frame = pd.DataFrame(rows, columns=["id", "metric", "shows", "value"])
    cells = Conditions.of(frame, over=["metric", "shows"], unit="id", n_resamples=99)

    def of(metric: str, shows: str = WIN) -> Comparison:
        return Comparison(cells.mean(metric=metric, shows=shows))

    read = {key: one.gains(of, ["nc"])["Soft-NC minus NC"].ours.point for key, one in
            diagnosticity.readings((0.05,)).items()}  # fmt: skip
    assert read == {
        ("all", "several", "no win"): 0.5,
        ("5 % alone", "several", "no win"): -0.25,
        ("all", "several", "half a win"): 0.25,
        ("all", "several", "wins"): 0.0,
        ("all", "one", "no win"): -0.25,
        ("all", "one", "wins"): 0.25,
    }


def test_a_score_of_one_for_every_token_is_perfect_where_it_is_defined_and_ranks_are_of_real_ones_alone() -> None:
    texts = {"a": (0.9, 0.1), "b": (0.1, 0.1)}
    facts = [
        unit(name, "none", p, id=i)
        for i, both in texts.items()
        for name, p in zip(("p_full", "p_empty"), both, strict=True)
    ]
    ideal = diagnosticity.everything(pd.DataFrame(facts)).set_index(["metric", "id"]).value
    assert [ideal["soft_ns", "a"], ideal["soft_nc", "a"]] == [1, 1] and ideal.isna().sum() == 2
    rows = [unit("soft_nc", method, value, variant=name) for value, (method, name) in
            enumerate(product(("m", "random"), ("paper", "normaliser=rank")))]  # fmt: skip
    assert diagnosticity.real_on_ranks(pd.DataFrame(rows)).value.tolist() == [1, 2]


# --- the variance between means --------------------------------------------------------------------------------------
def noisy(means: list[float], *, n: int, seed: int) -> list[estimates.Estimate]:
    rng = np.random.default_rng(seed)
    values = np.array(means) + rng.normal(0, 0.4, (n, len(means)))
    frame = pd.DataFrame(values).melt(var_name="m", value_name="value", ignore_index=False).reset_index(names="id")
    cells = Conditions.of(frame, over=["m"], unit="id", n_resamples=199)
    return [cells.mean(m=m) for m in range(len(means))]


def test_noise_is_taken_out_of_the_variance_between_means() -> None:
    """The plain variance of five equal means is .4 ** 2 / 40 * 4 / 5 = .0032 on average."""
    equal = [noisy([0.5] * 5, n=40, seed=seed) for seed in range(40)]
    found = [estimates.variance_between(of) for of in equal]
    plain = np.mean([np.var([one.point for one in of]) for of in equal])
    assert plain == pytest.approx(0.0032, abs=0.001)
    assert np.mean([one.point for one in found]) == pytest.approx(0, abs=0.0007)
    centres = [float(one.draws.mean() - one.point) for one in found]
    assert np.mean(centres) == pytest.approx(0, abs=0.0004)  # draws lie about the point, without the noise of drawing
    apart = estimates.variance_between(noisy([0.1, 0.3, 0.5, 0.7, 0.9], n=400, seed=0))
    assert apart.point == pytest.approx(0.08, abs=0.01)
    assert apart.p_above() == pytest.approx(1 / 200)  # the least that 199 draws can say


def test_the_published_variance_is_that_of_the_printed_values() -> None:
    of = [Comparison(one, value) for one, value in zip(noisy([0.0, 0.0], n=20, seed=0), (0.2, 0.4), strict=True)]
    assert comparison.variance_between(of).published == pytest.approx(0.01)
    refused(InputError, "no quantities", comparison.variance_between, [])
    refused(InputError, "lengths", diagnosticity.with_lengths, pd.DataFrame([unit("soft_nc", "m", 0.9, ratio=np.nan)]))
    other = pd.DataFrame([unit("nc", "m", 0.7, variant="other")])
    refused(UnknownNameError, "paper", diagnosticity.completed, other)
