"""What the computations of study 1 measure, on a tiny model: every metric of every attribution, and variants."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from toy_models import text_model, tokenizer

from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.studies.soft.zhao_aletras_metrics import facts_of, hard_and_soft, monte_carlo_error, tokens_shown
from faithbook.studies.soft.zhao_aletras_soft import Task, gaussian_scores
from faithbook.studies.soft.zhao_aletras_variants import Block, values_by_perturbation, values_by_variant, variants_of
from faithlib.evaluation import RELEASED_RATIOS, hard_scores, soft_scores
from faithlib.perturb import Perturber

TEXTS = ("a fine film", "not bad at all , a fine film", "who is it")
CLASSES = ("a", "b", "c")
DRAWS = 3


@pytest.fixture(scope="module")
def task() -> Task:
    data = Dataset("movie", "test", TEXTS, (0, 1, 2), ("t0", "t1", "t2"), CLASSES, 32)
    loaded = Classifier(text_model(), tokenizer(), CLASSES, "toy")
    return Task("toy", data, loaded, seed=1, dtype=torch.float32, ig_steps=2)


@pytest.fixture(scope="module")
def block(task: Task) -> Block:
    return Block(task, task.data)


def means(values: dict[str, torch.Tensor], metric: str) -> np.ndarray:
    return values[metric].double().mean(dim=1).numpy()


# --- every metric of every attribution -------------------------------------------------------------------------------


def test_values_are_those_of_single_calls(task: Task) -> None:
    inputs = task.inputs_of(task.data)
    perturber = Perturber(task.model, inputs)
    scores = task.explained(inputs)
    facts = facts_of(task, task.data, perturber)
    table = hard_and_soft(perturber, scores, facts, ratios=[0.2, 0.5], draws=DRAWS, seed=1)
    assert set(table["method"]) == set(task.methods) and set(table["dataset"]) == {"toy"}
    by_cell = dict(list(table.groupby(["method", "metric"])))
    for method, score in scores.items():
        soft = soft_scores(perturber, score, draws=DRAWS, seed=1)
        for metric in ("soft_ns", "soft_nc"):
            found = by_cell[method, metric].set_index("input").loc[list(task.data.ids)]
            assert found["value"].to_numpy() == pytest.approx(means(soft, metric), abs=1e-5, nan_ok=True)
            assert found["value_one_draw"].to_numpy() == pytest.approx(
                soft[metric][:, 0].numpy(), abs=1e-5, nan_ok=True
            )
        for ratio in (0.2, 0.5):
            hard = hard_scores(perturber, score, ratios=[ratio])
            for metric in ("ns", "nc"):
                found = by_cell[method, metric].query("ratio == @ratio")
                assert found["value"].to_numpy() == pytest.approx(hard[metric][:, 0].numpy(), abs=1e-5, nan_ok=True)


def test_captum_computes_deeplift_as_the_pages_say(task: Task) -> None:
    """Our own exact rules find other words."""
    inputs = task.inputs_of(task.data)
    by_captum, exact = (
        task.attribute("deeplift", inputs, aggregation="sum", rules=rules) for rules in ("captum", "rescale")
    )
    found = task.explained(inputs)["deeplift"]
    assert torch.allclose(found, by_captum, atol=1e-6) and not torch.allclose(found, exact, atol=1e-4)


def test_the_error_of_a_mean_of_draws() -> None:
    limited = torch.tensor([[0.2, 0.4, 0.9], [0.0, 1.0, 1.0]])
    expected = limited.numpy().std(axis=1, ddof=1) / np.sqrt(3)
    assert monte_carlo_error(torch.tensor([[0.2, 0.4, 0.9], [-7.0, 1.0, 30.0]])).numpy() == pytest.approx(expected)
    assert monte_carlo_error(limited[:, :1]).isnan().all()


def test_tokens_are_shown_of_the_first_texts_alone(task: Task) -> None:
    inputs = task.inputs_of(task.data)
    scores = {"random": task.attribute("random", inputs, seed=1)}
    table = tokens_shown(task, task.data, inputs, scores, 2)
    assert table.groupby("input", sort=False)["token"].agg(" ".join).tolist() == list(TEXTS[:2])
    assert table["score"].iloc[1] == scores["random"][0, 1].item()


# --- one choice changed at a time ------------------------------------------------------------------------------------


def test_every_variant_is_the_call_that_its_name_says(block: Block) -> None:
    table = values_by_variant(block, draws=DRAWS)
    assert not table.duplicated(["input", "metric", "method", "variant"]).any()
    method, perturber = "input_x_gradient", block.perturber
    score = block.scores[method]
    drawn = {"draws": DRAWS, "seed": 1}
    released = {"normaliser": ("released_ns", "released_nc")}
    soft = {
        "paper": soft_scores(perturber, score, **drawn),
        "direction=released": soft_scores(perturber, score, variant="released", **drawn),
        "normaliser=rank": soft_scores(perturber, score, normaliser="rank", **drawn),
        "normaliser=sigmoid": soft_scores(perturber, score, normaliser="sigmoid", **drawn),
        "direction=released, normaliser=released": soft_scores(
            perturber, score, variant="released", **released, **drawn
        ),
        "clip=released": soft_scores(perturber, score, clip=True, **drawn),
    }
    hard = {
        "paper": hard_scores(perturber, score),
        "baseline=pad": hard_scores(Perturber(block.task.model, block.inputs, erase="pad"), score),
        "ratios=released": hard_scores(perturber, score, ratios=RELEASED_RATIOS),
        "clip=released": hard_scores(perturber, score, clip=True),
    }
    found = dict(list(table[table["method"] == method].groupby(["variant", "metric"])["value"]))
    for expected in (soft, hard):
        for variant, values in expected.items():
            for metric in values:
                assert found[variant, metric].to_numpy() == pytest.approx(
                    means(values, metric), abs=1e-5, nan_ok=True
                ), variant


def test_single_precision_is_the_run_s_own_and_bfloat16_another(block: Block) -> None:
    table = values_by_variant(block, draws=DRAWS).set_index(["variant", "method", "metric"])["value"].sort_index()
    assert table["dtype=float32"].equals(table["paper"])
    low = Perturber(block.task.model, block.inputs, dtype=torch.bfloat16)
    expected = means(hard_scores(low, block.scores["attention"]), "nc")
    found = table["dtype=bfloat16", "attention", "nc"].to_numpy()
    assert found == pytest.approx(expected, abs=1e-5, nan_ok=True)
    assert not np.allclose(found, table["paper", "attention", "nc"], equal_nan=True)


def test_one_draw_is_the_first_of_several(block: Block) -> None:
    both = variants_of(block, block.scores["random"], draws=DRAWS)
    (several,), (first,) = both["paper"][1:], both["draws=1"]
    for metric, values in first().items():
        assert values.shape == (3, 1)
        torch.testing.assert_close(values, several()[metric][:, :1], equal_nan=True, rtol=0, atol=0)


def test_two_variants_are_other_attributions(block: Block) -> None:
    table = values_by_variant(block, draws=DRAWS)
    named = table[table["variant"].isin(["scaled_attention=released", "deeplift=exact"])]
    assert set(zip(named["variant"], named["method"], strict=True)) == {
        ("scaled_attention=released", "scaled_attention"),
        ("deeplift=exact", "deeplift"),
    }
    exact = block.task.attribute("deeplift", block.inputs, aggregation="sum", rules="rescale")
    expected = means(soft_scores(block.perturber, exact, draws=DRAWS, seed=1), "soft_nc")
    found = named[(named["variant"] == "deeplift=exact") & (named["metric"] == "soft_nc")]
    assert found["value"].to_numpy() == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_perturbations_of_the_appendix(block: Block) -> None:
    table = values_by_perturbation(block, draws=DRAWS, noise_draws=2, variances=[0.1, 1.0])
    counts = table.groupby(["perturbation", "variance"], dropna=False).size()
    assert len(counts) == 2 + 2 * 2 and counts.nunique() == 1
    assert table.loc[table["variance"].isna(), "perturbation"].isin(["dropout", "attention_mask"]).all()
    noisy = gaussian_scores(block.perturber, block.scores["attention"], variance=1.0, equation=8, draws=2, seed=1)
    found = table.query(
        "perturbation == 'gaussian_eq8' and variance == 1 and method == 'attention' and metric == 'soft_ns'"
    )
    assert found["value"].to_numpy() == pytest.approx(means(noisy, "soft_ns"), abs=1e-5, nan_ok=True)


def test_a_block_in_bfloat16_has_one_perturber_less_than_ways_to_erase(task: Task) -> None:
    low = Task("toy", task.data, task.loaded, seed=1, dtype=torch.bfloat16, ig_steps=2)
    block = Block(low, task.data[:2])
    assert block.low is block.perturber and len(block.perturbers()) == 3
    frame = block.frame({"soft_ns": torch.tensor([[0.0, 1.0], [1.0, 1.0]])}, "m", variant="v")
    expected = pd.DataFrame({"input": ["t0", "t1"], "value": [0.5, 1.0]})
    pd.testing.assert_frame_equal(frame[["input", "value"]], expected, check_dtype=False)
