"""SaCo against Algorithm 1 written out, groups against exact fractions, and all five metrics against a loop that erases
one image at a time."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, pairwise

import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from timm.models.vision_transformer import VisionTransformer
from torch import nn
from toy_models import model_and_texts, vision_model

from faithlib.errors import InputError, UnknownNameError
from faithlib.evaluation import saco_of_groups, saco_scores, saco_steps
from faithlib.inputs import ImageInputs
from faithlib.masks import group_salience, rank, salience_groups
from faithlib.metrics import saco
from faithlib.perturb import Perturber

# Few values, so that ties happen in salience and in drops.
COARSE = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 2.0])
GROUPS = st.integers(1, 8).flatmap(
    lambda k: st.tuples(*(st.lists(COARSE | st.floats(-1, 1, width=32), min_size=k, max_size=k) for _ in range(2)))
)


def algorithm_1(salience, drop, tied=1.0):
    """The paper's lines 5 to 17; `tied` is the sign of a pair whose drops are equal."""
    total = coefficient = 0.0
    for i in range(len(salience)):
        for j in range(i + 1, len(salience)):
            weight = salience[i] - salience[j]
            coefficient += weight * (tied if drop[i] == drop[j] else 1.0 if drop[i] > drop[j] else -1.0)
            total += abs(weight)
    return coefficient / total if total else math.nan


def double(*rows):
    return torch.tensor(rows, dtype=torch.double)


# ------------------------------------------------------------------------------------------------------ the coefficient
@given(GROUPS, st.booleans())
def test_pairs_at_once_equal_the_papers_loop(groups, descending):
    salience, drop = groups
    if descending:
        salience = sorted(salience, reverse=True)
    for ties, tied in (("satisfied", 1.0), ("half", 0.0)):
        got = saco(double(salience), double(drop), ties=ties).item()
        assert got == pytest.approx(algorithm_1(salience, drop, tied), abs=1e-9, nan_ok=True)
        assert math.isnan(got) or -1 <= got <= 1
        assert math.isnan(got) == (len(set(salience)) == 1)


@given(GROUPS, st.floats(0.01, 100), st.integers(-4, 4))
def test_only_differences_of_salience_and_the_order_of_drops_count(groups, factor, shift):
    salience, drop = double(groups[0]).round(decimals=6), double(groups[1])
    for ties in ("satisfied", "half"):
        reference = saco(salience, drop, ties=ties).item()
        for other in (factor * salience, salience + shift):
            assert saco(other, drop, ties=ties).item() == pytest.approx(reference, abs=1e-6, nan_ok=True)
        ranks = drop.unique(return_inverse=True)[1]
        assert saco(salience, ranks, ties=ties).item() == pytest.approx(reference, abs=1e-9, nan_ok=True)
    # With tied drops at 0, turning the drops round turns the answer round.
    assert saco(salience, -drop, ties="half").item() == pytest.approx(-reference, abs=1e-9, nan_ok=True)


def test_rows_are_independent_and_one_group_has_no_pairs():
    salience, obeying = torch.tensor([[4.0, 2.0, 1.0, -1.0]]), torch.tensor([[0.9, 0.5, 0.1, -0.2]])
    rows = torch.cat([salience, salience, torch.full((1, 4), 0.7), salience])
    drops = torch.cat([obeying, -obeying, obeying, obeying.flip(1)])
    assert saco(rows, drops)[:2].tolist() == [1.0, -1.0]
    assert saco(rows, drops).isnan().tolist() == [False, False, True, False]
    order = torch.tensor([3, 1, 0, 2])
    assert saco(rows[order], drops[order]).nan_to_num(9).tolist() == saco(rows, drops)[order].nan_to_num(9).tolist()
    assert saco(salience[:, :1], obeying[:, :1]).isnan().all()


def test_differences_survive_a_large_offset_and_every_dtype():
    salience = torch.tensor([[1000.0 + 2**-13, 1000.0, 1000.0 - 2**-13]])
    assert saco(salience, torch.tensor([[0.3, 0.2, 0.25]])).item() == pytest.approx(1 / 2)
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64):
        result = saco(torch.tensor([[3, 2, 0]], dtype=dtype), torch.tensor([[5, 1, 2]], dtype=dtype))
        assert result.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert result.item() == pytest.approx(1 / 3)


def test_the_coefficient_refuses_what_it_cannot_use():
    with pytest.raises(InputError, match=r"drop of input 1 is nan at group 2: expected finite"):
        saco(torch.ones(2, 3), torch.tensor([[1.0, 2, 3], [1.0, 2, torch.nan]]))
    with pytest.raises(InputError, match=r"salience of input 0 is inf at group 1"):
        saco(torch.tensor([[1.0, torch.inf]]), torch.ones(1, 2))
    with pytest.raises(InputError, match=r"salience \(2, 3\) and drop \(2, 4\): expected the same shape \[B, K\]"):
        saco(torch.ones(2, 3), torch.ones(2, 4))
    refused(InputError, r"\[B, K\]", saco, torch.ones(3), torch.ones(3))
    refused(UnknownNameError, "did you mean 'half'", saco, torch.ones(1, 3), torch.ones(1, 3), ties="halves")


# --------------------------------------------------------------------------------------------------- random attribution
@given(st.permutations(range(7)))
def test_equally_spaced_saliences_make_it_spearmans_correlation(drop):
    salience = list(range(7, 0, -1))
    expected = scipy.stats.spearmanr(salience, drop).statistic
    assert saco(double(salience), double(drop)).item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("k", "published"), [(5, 0.50), (10, 0.33), (20, 0.23)])
def test_random_attribution_has_mean_zero_and_a_large_spread(k, published):
    """Uniform random scores at 784 pixels, summed in groups, and drops that know nothing of them.

    Sums of sorted uniform numbers are almost equally spaced, and Spearman's correlation of K unrelated pairs has
    variance 1 / (K - 1).
    """
    images = 1500
    generator = torch.Generator().manual_seed(k)
    scores = torch.rand(images, 784, generator=generator)
    drop = torch.randn(images, k, generator=generator)
    values = saco(group_salience(scores, salience_groups(scores, k), k), drop)
    deviation = 1 / math.sqrt(k - 1)
    assert deviation == pytest.approx(published, abs=0.005)
    assert values.mean().item() == pytest.approx(0, abs=4 * deviation / images**0.5)
    assert values.std().item() == pytest.approx(deviation, abs=0.02)


# --------------------------------------------------------------------------------------------------------------- groups
@given(
    st.lists(COARSE | st.floats(-3, 3, width=32), min_size=1, max_size=23),
    st.integers(1, 12),
    st.sampled_from(["spread", "last", "drop"]),
    st.sampled_from(["position", "random"]),
)
def test_groups_hold_the_ranks_that_their_rule_gives_them(scores, k, remainder, ties):
    n, k = len(scores), min(k, len(scores))
    padded = torch.tensor([[*scores, 99.0, torch.nan]])
    present = torch.tensor([[True] * n + [False] * 2])
    groups = salience_groups(padded, k, present, remainder=remainder, ties=ties)[0].tolist()
    assert groups[n:] == [-1, -1]
    sizes = [groups.count(g) for g in range(k)]
    bounds = [math.floor(Fraction(i * n, k) + Fraction(1, 2)) for i in range(k + 1)]
    assert (
        sizes
        == {
            "spread": [after - before for before, after in pairwise(bounds)],
            "last": [n // k] * (k - 1) + [n - (k - 1) * (n // k)],
            "drop": [n // k] * k,
        }[remainder]
    )
    assert max(sizes) - min(sizes) <= 1 or remainder == "last"
    assert groups[:n].count(-1) == (n - sum(sizes))
    placed = [[scores[f] for f in range(n) if groups[f] == g] for g in [*range(k), -1]]
    for better, worse in pairwise(placed):
        assert not worse or min(better) >= max(worse)
    if ties == "position":
        order = [f for f in rank(padded, present)[0].tolist() if f < n]
        assert [groups[f] for f in order] == sorted((g for g in groups[:n]), key=lambda g: g if g >= 0 else k)


def test_random_ties_depend_on_seed_and_scores_alone():
    scores = torch.tensor([[0.5] * 30 + [1.0], [0.25] * 30 + [0.0], [-0.0] * 15 + [0.0] * 15 + [1.0]])
    first = salience_groups(scores, 4, ties="random", seed=3)
    assert torch.equal(first, salience_groups(scores, 4, ties="random", seed=3))
    assert not torch.equal(first, salience_groups(scores, 4, ties="random", seed=4))
    assert not torch.equal(first[0, :30], first[1, :30])
    assert first[0, 30] == 0
    assert first[1, 30] == 3
    padded = torch.cat([scores, torch.full((3, 5), 7.0)], dim=1)
    present = torch.ones_like(padded, dtype=torch.bool)
    present[:, 31:] = False
    assert torch.equal(salience_groups(padded[1:2], 4, present[1:2], ties="random", seed=3)[:, :31], first[1:2])
    by_position = salience_groups(scores, 4)
    assert torch.equal(by_position[0], torch.tensor([0] * 7 + [1] * 8 + [2] * 7 + [3] * 8 + [0]))
    # Every feature is equally likely in every group: 400 draws of 16 equal features in 4 groups.
    counts = torch.zeros(16, 4)
    for seed in range(400):
        drawn = salience_groups(torch.ones(1, 16), 4, ties="random", seed=seed)[0]
        counts[torch.arange(16), drawn] += 1
    assert scipy.stats.chisquare(counts.flatten().numpy()).pvalue > 1e-3


@given(st.lists(st.floats(-100, 100, width=32), min_size=6, max_size=6 * 4), st.integers(2, 4))
def test_group_saliences_are_sums_and_descend_where_sizes_are_equal(scores, k):
    scores = torch.tensor([scores[: len(scores) // k * k]])
    groups = salience_groups(scores, k)
    sums = group_salience(scores, groups, k)
    for g in range(k):
        assert sums[0, g].item() == pytest.approx(math.fsum(scores[0, groups[0] == g].tolist()), rel=1e-6, abs=1e-6)
    assert (sums.diff(dim=1) <= 0).all()
    means = group_salience(scores, groups, k, reduce="mean")
    torch.testing.assert_close(means * (scores.shape[1] // k), sums)


def test_unequal_groups_of_equal_scores_differ_in_sum_and_agree_in_mean():
    for value in (0.1, -0.1):
        scores = torch.full((1, 784), value)
        groups = salience_groups(scores, 10)
        sums = group_salience(scores, groups, 10)[0]
        assert set(sums.tolist()) == {torch.tensor(78 * value).item(), torch.tensor(79 * value).item()}
        assert not (sums.diff() <= 0).all()
        means = group_salience(scores, groups, 10, reduce="mean")
        assert saco(means, torch.rand(1, 10)).isnan().all()
        equal = salience_groups(scores, 10, remainder="drop")
        assert saco(group_salience(scores, equal, 10), torch.rand(1, 10)).isnan().all()


def test_groups_refuse_what_they_cannot_cut():
    scores = torch.rand(2, 5)
    present = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    refused(InputError, "k 4: input 1 has only 3 features", salience_groups, scores, 4, present)
    refused(InputError, "k 0: expected at least 1", salience_groups, scores, 0)
    with pytest.raises(UnknownNameError, match=r"did you mean 'last'\? known: drop, last, spread"):
        salience_groups(scores, 2, remainder="lost")
    refused(UnknownNameError, "did you mean 'random'", salience_groups, scores, 2, ties="rand")
    with pytest.raises(InputError, match="scores of input 1 hold nan at feature 0"):
        salience_groups(torch.tensor([[1.0], [torch.nan]]), 1)
    groups = salience_groups(scores, 2)
    refused(InputError, "expected -1 to 0", group_salience, scores, groups, 1)
    refused(InputError, "group 2 of input 0 is empty", group_salience, scores, groups, 3, reduce="mean")
    refused(InputError, "expected the same", group_salience, scores, groups[:, :4], 2)
    refused(UnknownNameError, "reduce", group_salience, scores, groups, 2, reduce="median")


# --------------------------------------------------------------------------------------------------------- with a model
def pixels_and_scores(n=4, methods=1, *, patch=1):
    generator = torch.Generator().manual_seed(5)
    inputs = ImageInputs.from_pixels(torch.randn(n, 3, 8, 8, generator=generator), patch=patch)
    return inputs, [torch.randn(inputs.feature_mask.shape, generator=generator) for _ in range(methods)]


def one_by_one(model, image, scores, k, label=None):
    """The five metrics of one image of single-pixel features, by the paper's text, one forward an erased image."""

    def answer(gone):
        pixels = image.clone()
        for f in gone:
            pixels[:, f // 8, f % 8] = image.mean((1, 2))
        with torch.no_grad():
            return model(pixels[None])[0].double().softmax(0)

    order = sorted(range(64), key=lambda f: -scores[f])
    bounds = [math.floor(Fraction(i * 64, k) + Fraction(1, 2)) for i in range(k + 1)]
    members = [order[start:stop] for start, stop in pairwise(bounds)]
    full = answer([])
    y = int(full.argmax())
    label = y if label is None else label
    morf = [answer(chain(*members[:i])) for i in range(k + 1)]
    lerf = [answer(chain(*members[k - i :])) for i in range(k + 1)]
    right = [float(int(p.argmax()) == label) for p in morf]
    return {
        "saco": algorithm_1(
            [sum(scores[f] for f in group) for group in members], [float(full[y] - answer(g)[y]) for g in members]
        ),
        "auc": sum((a + b) / 2 / k for a, b in pairwise(right)),
        "aopc_morf": sum(float(full[y] - p[y]) for p in morf[1:]) / k,
        "log_odds": sum(math.log(p[y] / full[y]) for p in morf[1:]) / k,
        "aopc_lerf": sum(float(full[y] - p[y]) for p in lerf[1:]) / k,
    }


@pytest.mark.parametrize("k", [10, 4])
def test_five_metrics_equal_erasing_one_image_at_a_time(k):
    model = vision_model()
    inputs, (scores,) = pixels_and_scores()
    labels = torch.tensor([0, 1, 2, 1])
    for given_labels in (None, labels):
        perturber = Perturber(model, inputs, max_rows=7)
        got = saco_scores(perturber, scores, k=k, labels=given_labels)
        for b in range(len(inputs)):
            label = None if given_labels is None else int(labels[b])
            expected = one_by_one(model, inputs.pixels[b], scores[b].tolist(), k, label)
            assert {name: got[name][b].item() for name in got} == pytest.approx(expected, abs=2e-5)
            assert list(got) == list(expected)


def test_one_image_costs_28_rows_and_shares_them_between_metrics_and_methods():
    inputs, methods = pixels_and_scores(n=3, methods=2)
    perturber = Perturber(vision_model(), inputs)
    saco_scores(perturber, methods[0])
    assert perturber.stats.rows_run == 28 * 3
    saco_steps(perturber, methods[0], reduce="mean", labels=torch.zeros(3, dtype=torch.long))
    saco_scores(perturber, methods[0], lodds="odds")
    saco_scores(perturber, -methods[0])  # the same groups, backwards
    assert perturber.stats.rows_run == 28 * 3
    saco_scores(perturber, methods[1])
    assert perturber.stats.rows_run == (28 + 26) * 3  # full and empty are known
    for k in (1, 2, 3, 5):
        perturber = Perturber(vision_model(), inputs)
        saco_steps(perturber, methods[0], k=k)
        assert perturber.stats.rows_run == 3 * max(3 * k - 2, 2)


def test_the_coefficient_alone_is_the_same_for_fewer_rows():
    inputs, (scores,) = pixels_and_scores()
    scores[2] = 1.0
    for k, options in ((5, {}), (10, {"remainder": "drop"}), (20, {"reduce": "mean", "ties": "random", "seed": 1})):
        perturber = Perturber(vision_model(), inputs)
        alone = saco_of_groups(perturber, scores, k=k, **options)
        assert perturber.stats.rows_run == 4 * (k + 1)
        torch.testing.assert_close(
            alone, saco_scores(perturber, scores, k=k, **options)["saco"], atol=0, rtol=0, equal_nan=True
        )
        assert alone.isnan().tolist() == [False, False, True, False]


def test_steps_hold_what_plots_need():
    inputs, (scores,) = pixels_and_scores()
    perturber = Perturber(vision_model(), inputs)
    steps = saco_steps(perturber, scores, k=5)
    assert steps.salience.shape == steps.alone.shape == (4, 5)
    assert steps.morf.shape == steps.lerf.shape == steps.log_p.shape == steps.correct.shape == (4, 6)
    assert torch.equal(steps.morf[:, 0], perturber.full)
    assert torch.equal(steps.morf[:, -1], perturber.empty)
    torch.testing.assert_close(steps.lerf[:, -1], perturber.empty)
    torch.testing.assert_close(steps.alone[:, 0], perturber.full - steps.morf[:, 1])
    torch.testing.assert_close(steps.alone[:, -1], perturber.full - steps.lerf[:, 1])
    torch.testing.assert_close(steps.log_p.exp(), steps.morf)
    assert steps.correct[:, 0].all()
    in_logits = saco_steps(Perturber(vision_model(), inputs, output="logit"), scores, k=5)
    torch.testing.assert_close(in_logits.log_p, steps.log_p)
    assert torch.equal(in_logits.correct, steps.correct)
    wrong = saco_steps(perturber, scores, k=5, labels=(perturber.predicted + 1) % 3)
    assert not wrong.correct[:, 0].any()


def test_both_readings_of_log_odds():
    inputs, (scores,) = pixels_and_scores()
    perturber = Perturber(vision_model(), inputs)
    p = saco_steps(perturber, scores).morf.double()
    ratio = (p[:, 1:] / p[:, :1]).log().mean(dim=1)
    odds = (p / (1 - p)).log()
    torch.testing.assert_close(saco_scores(perturber, scores)["log_odds"].double(), ratio, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(
        saco_scores(perturber, scores, lodds="odds")["log_odds"].double(),
        (odds[:, 1:] - odds[:, :1]).mean(dim=1), atol=1e-3, rtol=1e-3,
    )  # fmt: skip


def test_constant_maps_are_nan_in_saco_alone_and_leave_the_others_as_they_are():
    inputs, (scores,) = pixels_and_scores()
    alone = saco_scores(Perturber(vision_model(), inputs), scores)
    scores[1] = 0.3
    together = saco_scores(Perturber(vision_model(), inputs), scores)  # 64 pixels in 10 groups of 6 and 7
    assert together["saco"].isnan().tolist() == [False, True, False, False]
    for name, values in together.items():
        assert torch.isfinite(values).all() or name == "saco"
        torch.testing.assert_close(values[[0, 2, 3]], alone[name][[0, 2, 3]])


def test_texts_of_unequal_length_give_the_same_alone_and_together():
    model, inputs = model_and_texts(lengths=(9, 6, 5))
    scores = torch.randn(3, 7, generator=torch.Generator().manual_seed(2)).round()  # some are equal
    for remainder in ("spread", "last", "drop"):
        options = {"k": 3, "remainder": remainder, "ties": "random", "seed": 3}
        together = saco_scores(Perturber(model, inputs), scores, **options)
        for b, n in enumerate((7, 4, 3)):
            single = Perturber(model, inputs[b : b + 1])
            alone = saco_scores(single, scores[b : b + 1, :n], **options)
            for name in together:
                torch.testing.assert_close(together[name][b : b + 1], alone[name], atol=1e-5, rtol=1e-5)
    refused(InputError, "k 10: input 0 has only 7 features", saco_scores, Perturber(model, inputs), scores)


def test_leftovers_of_remainder_drop_are_never_erased():
    inputs, (scores,) = pixels_and_scores()
    perturber = Perturber(vision_model(), inputs)
    steps = saco_steps(perturber, scores, remainder="drop")
    left = salience_groups(scores, 10, remainder="drop") < 0
    assert left.sum(dim=1).tolist() == [4] * 4
    torch.testing.assert_close(steps.morf[:, -1], perturber.keep(left[:, None])[:, 0])
    torch.testing.assert_close(steps.lerf[:, -1], steps.morf[:, -1])
    assert perturber.stats.rows_run == 28 * 4


def test_scoring_refuses_what_it_cannot_use():
    inputs, (scores,) = pixels_and_scores()
    perturber = Perturber(vision_model(), inputs)
    refused(UnknownNameError, "did you mean 'odds'", saco_scores, perturber, scores, lodds="odd")
    for labels in (torch.zeros(3, dtype=torch.long), torch.zeros(4), torch.zeros(4, dtype=torch.bool)):
        refused(InputError, r"expected integers \[B\] = \[4\]", saco_steps, perturber, scores, labels=labels)


class LinearPatches:
    """A VisionTransformer without blocks, positions and norms: its logits are sums of w . x over the pixels."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        self.model = VisionTransformer(
            img_size=8, patch_size=4, embed_dim=16, depth=0, num_heads=2, num_classes=3, class_token=False,
            global_pool="avg", pos_embed="none", norm_layer=nn.Identity,
        ).eval()  # fmt: skip

    def gradient_times_input(self, inputs, target):
        pixels = inputs.pixels.clone().requires_grad_()
        self.model(pixels)[:, target].sum().backward()
        return (pixels.grad * inputs.pixels).sum(dim=1).flatten(1).detach()


@pytest.mark.parametrize("k", [2, 10, 20])
def test_a_linear_model_gives_its_own_gradient_times_input_a_coefficient_of_one(k):
    """The logit loses exactly the sum of the scores of what is set to 0, so drop = salience, whatever the sizes."""
    linear = LinearPatches()
    inputs, _ = pixels_and_scores(n=6)
    scores = linear.gradient_times_input(inputs, 1)
    perturber = Perturber(linear.model, inputs, target=1, erase="zero", output="logit")
    steps = saco_steps(perturber, scores, k=k)
    torch.testing.assert_close(steps.alone, steps.salience, atol=1e-5, rtol=1e-4)
    assert saco_scores(perturber, scores, k=k)["saco"].tolist() == pytest.approx([1.0] * 6, abs=1e-5)
    assert saco_scores(perturber, -scores, k=k)["saco"].tolist() == pytest.approx([-1.0] * 6, abs=1e-5)
    # Nothing can remove more than the most relevant first: each step takes the largest of what is left.
    best = saco_scores(perturber, scores, k=k)["aopc_morf"]
    other = saco_scores(perturber, torch.randn(scores.shape, generator=torch.Generator().manual_seed(k)), k=k)
    assert (best >= other["aopc_morf"] - 1e-5).all()
    total = perturber.full - perturber.empty
    torch.testing.assert_close(steps.morf[:, -1], (perturber.full - total), atol=1e-5, rtol=1e-4)
