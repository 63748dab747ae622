"""The pages of study 5 on contrasts and on bounds, on synthetic results whose truth is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from store import Store

from faithbook.show.labels import label
from faithbook.together.prompted import LONGER, ORDERING, ordered_alike, subjects, truth_preferred

METHODS = ("saliency", "input_x_gradient", "integrated_gradients", "occlusion", "shapley_sampling")
REAL = ("attention", "rollout", "lime", "occlusion")


def agreement(store: Store, gains: dict[str, float], *, sentences: int = 400, wrong: int = 0) -> None:
    """A run of `language_agreement`: under the contrast each method has its gain more subjects first than under log p;
    of the first `wrong` sentences the model prefers the wrong verb, and no method ever finds the subject there."""
    draws = np.random.default_rng(0)
    ids = range(sentences)
    base = {"id": [str(i) for i in ids], "cluster": [str(i // 4) for i in ids], "seed": 0}
    base["misleads"] = ["False" if i % 4 in (0, 3) else "True" for i in ids]
    right = np.arange(sentences) >= wrong
    frames = []
    for method, gain in gains.items():
        luck = draws.permuted(np.linspace(0, 1, sentences, endpoint=False))
        for explained, level in (("contrast", 0.4 + gain), ("log_probability", 0.4)):
            values = ((luck < level) & right).astype(float)
            frames.append(pd.DataFrame({**base, "explained": explained, "method": method, "value": values}))
    for method in ("attention", "random"):
        values = (draws.random(sentences) < 0.2).astype(float)
        frames.append(pd.DataFrame({**base, "explained": "no output", "method": method, "value": values}))
    outputs = pd.DataFrame({**base, "explained": "contrast", "method": "none", "value": np.where(right, 2.0, -1.0)})
    store.add(
        "language_agreement",
        {
            "language_agreement": pd.concat(frames).assign(metric="subject_first"),
            "language_agreement_outputs": outputs.assign(metric="output"),
        },
        dataset="agreement",
    )


@pytest.mark.parametrize(
    ("gains", "word"),
    [
        ([0.3, 0.3, 0.3, 0.0, 0.0], "reproduced"),
        ([0.0, 0.0, 0.0, 0.0, 0.3], "not reproduced"),
        ([-0.2, -0.2, -0.2, 0.3, 0.3], "not reproduced"),
    ],
)
def test_a_contrast_that_finds_the_subject_for_most_methods_is_said_to(
    store: Store, gains: list[float], word: str
) -> None:
    agreement(store, dict(zip(METHODS, gains, strict=True)))
    page = store.report("language_contrast")
    assert page.verdict("lm_q3") == word
    parts = page.table("language_contrast_parts", "part").estimate
    assert [parts[label(name)] for name in METHODS] == pytest.approx(gains, abs=0.01)


def test_sentences_that_the_model_gets_wrong_are_not_counted(store: Store) -> None:
    agreement(store, dict.fromkeys(METHODS, 0.3), sentences=440, wrong=40)
    page = store.report("language_contrast")
    assert page.verdicts.loc["lm_q3", "n"] == 400
    assert page.verdict("lm_q3") == "reproduced"


def test_below_three_hundred_sentences_nothing_is_judged(store: Store) -> None:
    agreement(store, dict.fromkeys(METHODS, 0.3), sentences=320, wrong=40)
    page = store.report("language_contrast")
    assert page.verdict("lm_q3") == "not tested"
    shown = page.table("language_contrast_parts")
    assert (shown.high - shown.low < 0.2).all()  # intervals are those of the sentences that are there


def prompts(store: Store, *, gain: float, alike: bool, dataset: str = "facts", n: int = 40) -> None:
    """A run of `language_sentences`: every method reaches `gain` more of the best order than random scores; LDS and
    the top-3 drop order methods as AOPC does, or LDS the other way round."""
    draws = np.random.default_rng(1)
    rows = []
    for i in range(n):
        order = draws.permutation(len(REAL)) / 10
        for rank, method in zip(order, REAL, strict=True):
            lds = rank if alike else -rank
            values = {"aopc_morf": rank, "lds": lds, "top_3_drop": rank, "top_1_drop": rank, "decides_first": 1.0}
            values["naopc_morf"] = 0.5 + gain + draws.normal(0, 0.05)
            rows += [(f"{dataset}{i}", method, metric, value) for metric, value in values.items()]
        rows += [(f"{dataset}{i}", "random", metric, 0.1) for metric in ("aopc_morf", "lds", "top_3_drop")]
        rows.append((f"{dataset}{i}", "random", "naopc_morf", 0.5 + draws.normal(0, 0.05)))
    units = pd.DataFrame(rows, columns=["id", "method", "metric", "value"]).assign(seed=0)
    ends = pd.DataFrame(
        [
            (f"{dataset}{i}", metric, value + 0.01 * i)
            for i, (metric, value) in product(
                range(n), {"full": -1.0, "empty": -6.0, "upper": 4.0, "lower": 1.0}.items()
            )
        ],
        columns=["id", "metric", "value"],
    ).assign(seed=0, method="none")
    parts = {"": units.assign(cluster=units.id), "ends": ends.assign(cluster=ends.id)}
    store.add("language_sentences", parts, dataset=dataset)


def test_methods_that_come_close_to_the_best_order_are_told_from_random(store: Store) -> None:
    prompts(store, gain=0.4, alike=True)
    prompts(store, gain=0.4, alike=True, dataset="news")
    page = store.report("language_bounds")
    assert page.verdict("lm_q4") == "reproduced" and page.verdict("lm_q7") == "reproduced"
    assert page.verdicts.loc["lm_q4", "parts"] == 2 * len(REAL)
    assert page.verdicts.loc["lm_q7", "parts"] == 6


def test_longer_prompts_are_shown_and_judge_nothing(store: Store) -> None:
    prompts(store, gain=0.4, alike=True)
    prompts(store, gain=0.0, alike=False, dataset=LONGER)
    page = store.report("language_bounds")
    assert page.verdict("lm_q4") == "reproduced" and page.verdict("lm_q7") == "reproduced"
    assert page.verdicts.loc["lm_q4", "parts"] == len(REAL)
    assert LONGER in set(page.table("language_bounds_measures").data)


def test_methods_that_are_like_random_and_measures_that_disagree_are_told(store: Store) -> None:
    prompts(store, gain=0.0, alike=False)
    page = store.report("language_bounds")
    assert page.verdict("lm_q4") == page.verdict("lm_q7") == "not reproduced"


def test_rank_correlations_leave_random_scores_and_constant_measures_out() -> None:
    rows = [("p", method, metric, value) for metric in ORDERING for method, value in zip("abc", (1, 2, 3), strict=True)]
    rows += [("p", "random", metric, 99.0) for metric in ORDERING]
    rows += [("q", method, metric, 1.0) for metric in ORDERING for method in "abc"]
    units = pd.DataFrame(rows, columns=["id", "method", "metric", "value"]).assign(dataset="facts")
    found = ordered_alike(units.assign(cluster=units.id))
    assert set(found.id) == {"p"} and found.value.tolist() == pytest.approx([1, 1, 1])


def test_a_measure_prefers_the_truth_as_often_as_pairs_say_so() -> None:
    """Two methods put the deciding sentence first, two do not: AOPC is higher in three of the four pairs, LDS in all,
    and the drops are level. On the second prompt no method does, so that there is no pair."""
    values = {"aopc_morf": (4, 2, 3, 1), "lds": (4, 3, 2, 1), "top_3_drop": (1, 1, 1, 1), "decides_first": (1, 1, 0, 0)}
    rows = [("p", method, metric, x) for metric, of in values.items() for method, x in zip("abcd", of, strict=True)]
    rows += [("q", method, metric, 0) for metric in values for method in "abcd"]
    units = pd.DataFrame(rows, columns=["id", "method", "metric", "value"]).assign(dataset="facts")
    found = truth_preferred(units.assign(cluster=units.id)).set_index(["id", "metric"]).value
    assert found["p"].to_dict() == {"aopc_morf": 0.75, "lds": 1.0, "top_3_drop": 0.5} and found["q"].isna().all()


def test_subjects_counts_by_the_contrast_alone() -> None:
    ids = [str(i) for i in range(400)]
    units = pd.DataFrame({"id": ids * 2, "cluster": ids * 2, "metric": ["output"] * 400 + ["subject_first"] * 400})
    units = units.assign(explained="contrast", value=[1.0] * 350 + [-1.0] * 50 + [1.0] * 400)
    found = subjects(units)
    assert len(found) == 350 and found.cluster.nunique() == 350
    few = subjects(units[units.id.astype(int) > 100])
    assert len(few) == 249 and set(few.model) == {"too few sentences"}
