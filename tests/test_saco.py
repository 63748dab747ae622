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
from toy_models import vision_model

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
@given(GROUPS)
def test_pairs_at_once_equal_the_papers_loop(groups):
    salience, drop = groups
    beside = double(salience, [-s for s in salience]), double(drop, drop)
    for ties, tied in (("satisfied", 1.0), ("half", 0.0)):
        expected = [algorithm_1(row, drop, tied) for row in beside[0].tolist()]
        assert saco(*beside, ties=ties).tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("scale", [1e-3, 7.0, 1e3])
@pytest.mark.parametrize("ties", ["satisfied", "half"])
def test_saco_does_not_depend_on_the_scale_of_the_scores_nor_on_a_constant_added(scale: float, ties: str) -> None:
    """Sec. 5.5 of the paper; a negative factor turns it round."""
    generator = torch.Generator().manual_seed(0)
    salience = torch.randn(40, 10, dtype=torch.double, generator=generator).sort(dim=1, descending=True).values
    drop = torch.randn(40, 10, dtype=torch.double, generator=generator)
    plain = saco(salience, drop, ties=ties)
    torch.testing.assert_close(saco(scale * salience, drop, ties=ties), plain)
    torch.testing.assert_close(saco(salience + scale, drop, ties=ties), plain)
    torch.testing.assert_close(saco(-salience.flip(1), drop.flip(1), ties=ties), -plain)


def test_differences_survive_a_large_offset_and_every_dtype():
    salience = torch.tensor([[1000.0 + 2**-13, 1000.0, 1000.0 - 2**-13]])
    assert saco(salience, torch.tensor([[0.3, 0.2, 0.25]])).item() == pytest.approx(1 / 2)
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64):
        result = saco(torch.tensor([[3, 2, 0]], dtype=dtype), torch.tensor([[5, 1, 2]], dtype=dtype))
        assert result.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert result.item() == pytest.approx(1 / 3)


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
def test_groups_hold_the_ranks_that_their_rule_gives_them_and_the_sum_of_their_scores(scores, k, remainder, ties):
    n, k = len(scores), min(k, len(scores))
    padded = torch.tensor([[*scores, 99.0, torch.nan]])
    present = torch.tensor([[True] * n + [False] * 2])
    held = salience_groups(padded, k, present, remainder=remainder, ties=ties)
    groups = held[0].tolist()
    assert groups[n:] == [-1, -1]
    sizes = [groups.count(g) for g in range(k)]
    bounds = [math.floor(Fraction(i * n, k) + Fraction(1, 2)) for i in range(k + 1)]
    rule = {
        "spread": [after - before for before, after in pairwise(bounds)],
        "last": [n // k] * (k - 1) + [n - (k - 1) * (n // k)],
        "drop": [n // k] * k,
    }
    assert sizes == rule[remainder]
    placed = [[scores[f] for f in range(n) if groups[f] == g] for g in [*range(k), -1]]
    for better, worse in pairwise(placed):
        assert not worse or min(better) >= max(worse)
    if ties == "position":
        order = [f for f in rank(padded, present)[0].tolist() if f < n]
        assert [groups[f] for f in order] == sorted((g for g in groups[:n]), key=lambda g: g if g >= 0 else k)
    sums = group_salience(padded, held, k)[0].tolist()
    assert sums == pytest.approx([math.fsum(own) for own in placed[:k]], rel=1e-5, abs=1e-5)
    means = group_salience(padded, held, k, reduce="mean")[0].tolist()
    assert means == pytest.approx([math.fsum(own) / len(own) for own in placed[:k]], rel=1e-5, abs=1e-5)


def test_random_ties_depend_on_seed_and_scores_alone():
    scores = torch.tensor([[0.5] * 30 + [1.0], [0.25] * 30 + [0.0], [-0.0] * 15 + [0.0] * 15 + [1.0]])
    first = salience_groups(scores, 4, ties="random", seed=3)
    assert not torch.equal(first, salience_groups(scores, 4, ties="random", seed=4))
    assert not torch.equal(first[0, :30], first[1, :30])
    padded = torch.cat([scores, torch.full((3, 5), 7.0)], dim=1)
    present = (torch.arange(36) < 31).expand(3, 36)
    assert torch.equal(salience_groups(padded[1:2], 4, present[1:2], ties="random", seed=3)[:, :31], first[1:2])
    # Every feature is equally likely in every group: 400 draws of 16 equal features in 4 groups.
    counts = torch.zeros(16, 4)
    for seed in range(400):
        drawn = salience_groups(torch.ones(1, 16), 4, ties="random", seed=seed)[0]
        counts[torch.arange(16), drawn] += 1
    assert scipy.stats.chisquare(counts.flatten().numpy()).pvalue > 1e-3


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
        "odds": sum(math.log(p[y] / (1 - p[y]) * (1 - full[y]) / full[y]) for p in morf[1:]) / k,
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
        got["odds"] = saco_scores(perturber, scores, k=k, lodds="odds")["log_odds"]
        for b in range(len(inputs)):
            label = None if given_labels is None else int(labels[b])
            expected = one_by_one(model, inputs.pixels[b], scores[b].tolist(), k, label)
            values = {name: value[b].item() for name, value in got.items()}
            assert values.pop("odds") == pytest.approx(expected.pop("odds"), abs=5e-5)
            assert values == pytest.approx(expected, abs=2e-5)


def test_one_image_costs_28_rows_and_shares_them_between_metrics_and_methods():
    inputs, methods = pixels_and_scores(n=3, methods=2)
    perturber = Perturber(vision_model(), inputs)
    saco_scores(perturber, methods[0])
    saco_steps(perturber, methods[0], reduce="mean", labels=torch.zeros(3, dtype=torch.long))
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


def test_steps_hold_what_plots_need_and_leftovers_of_remainder_drop_are_never_erased():
    inputs, (scores,) = pixels_and_scores()
    perturber = Perturber(vision_model(), inputs)
    steps = saco_steps(perturber, scores, k=5)
    in_logits = saco_steps(Perturber(vision_model(), inputs, output="logit"), scores, k=5)
    torch.testing.assert_close(in_logits.log_p.exp(), steps.morf)
    assert torch.equal(in_logits.correct, steps.correct)
    some = saco_steps(perturber, scores, remainder="drop")
    left = salience_groups(scores, 10, remainder="drop") < 0
    assert left.sum(dim=1).tolist() == [4] * 4
    torch.testing.assert_close(some.morf[:, -1], perturber.keep(left[:, None])[:, 0])
    torch.testing.assert_close(some.lerf[:, -1], some.morf[:, -1])


SCORES = torch.rand(2, 5)
OF_TWO = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
GROUPED = salience_groups(SCORES, 2)


@pytest.mark.parametrize(
    ("message", "call", "given", "named"),
    [
        (r"drop of input 0 is nan at group 1: expected finite", saco, (torch.ones(1, 2), double([1, math.nan])), {}),
        (r"salience of input 0 is inf at group 1", saco, (double([1, math.inf]), torch.ones(1, 2)), {}),
        (r"salience \(2, 3\) and drop \(2, 4\): expected the same", saco, (torch.ones(2, 3), torch.ones(2, 4)), {}),
        (r"\[B, K\]", saco, (torch.ones(3), torch.ones(3)), {}),
        ("did you mean 'half'", saco, (torch.ones(1, 3), torch.ones(1, 3)), {"ties": "halves"}),
        ("k 4: input 1 has only 3 features", salience_groups, (SCORES, 4, OF_TWO), {}),
        ("k 0: expected at least 1", salience_groups, (SCORES, 0), {}),
        (r"did you mean 'last'\? known: drop, last, spread", salience_groups, (SCORES, 2), {"remainder": "lost"}),
        ("did you mean 'random'", salience_groups, (SCORES, 2), {"ties": "rand"}),
        ("expected -1 to 0", group_salience, (SCORES, GROUPED, 1), {}),
        ("group 2 of input 0 is empty", group_salience, (SCORES, GROUPED, 3), {"reduce": "mean"}),
        ("expected the same", group_salience, (SCORES, GROUPED[:, :4], 2), {}),
        ("reduce", group_salience, (SCORES, GROUPED, 2), {"reduce": "median"}),
    ],
)
def test_what_cannot_be_used_is_refused(message, call, given, named):
    refused(InputError, message, call, *given, **named)


def test_scoring_refuses_other_readings_labels_and_more_groups_than_features():
    inputs, (scores,) = pixels_and_scores()
    perturber = Perturber(vision_model(), inputs)
    refused(InputError, "k 65: input 0 has only 64 features", saco_scores, perturber, scores, k=65)
    refused(UnknownNameError, "did you mean 'odds'", saco_scores, perturber, scores, lodds="odd")
    for labels in (torch.zeros(3, dtype=torch.long), torch.zeros(4), torch.zeros(4, dtype=torch.bool)):
        refused(InputError, r"expected integers \[B\] = \[4\]", saco_steps, perturber, scores, labels=labels)


def linear_patches() -> VisionTransformer:
    """Without blocks, positions and norms: logits are sums of w . x over the pixels."""
    torch.manual_seed(3)
    return VisionTransformer(
        img_size=8, patch_size=4, embed_dim=16, depth=0, num_heads=2, num_classes=3, class_token=False,
        global_pool="avg", pos_embed="none", norm_layer=nn.Identity,
    ).eval()  # fmt: skip


@pytest.mark.parametrize("k", [2, 10, 20])
def test_a_linear_model_gives_its_own_gradient_times_input_a_coefficient_of_one(k):
    """The logit loses exactly the sum of the scores of what is set to 0, so drop = salience, whatever the sizes."""
    model, (inputs, _) = linear_patches(), pixels_and_scores(n=6)
    pixels = inputs.pixels.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(pixels)[:, 1].sum(), pixels)
    scores = (gradient * inputs.pixels).sum(dim=1).flatten(1)
    perturber = Perturber(model, inputs, target=1, erase="zero", output="logit")
    steps = saco_steps(perturber, scores, k=k)
    torch.testing.assert_close(steps.alone, steps.salience, atol=1e-5, rtol=1e-4)
    best = saco_scores(perturber, scores, k=k)
    assert best["saco"].tolist() == pytest.approx([1.0] * 6, abs=1e-5)
    assert saco_scores(perturber, -scores, k=k)["saco"].tolist() == pytest.approx([-1.0] * 6, abs=1e-5)
    # Nothing can remove more than the most relevant first: each step takes the largest of what is left.
    other = saco_scores(perturber, torch.randn(scores.shape, generator=torch.Generator().manual_seed(k)), k=k)
    assert (best["aopc_morf"] >= other["aopc_morf"] - 1e-5).all()
