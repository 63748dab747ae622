"""The pages of the last chapter on synthetic results whose truth is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from store import Shown, Store
from tiny import REPOSITORY

from faithbook.judge import published
from faithbook.judge.scores import REFERENCE, RUN
from faithbook.papers import evalxnlp
from faithbook.show.labels import label
from faithbook.together import questions
from faithbook.together.advice import NOT_WORSE, advice, asked_everything, decisions, holds_role, recommended
from faithlib import metrics
from faithlib.catalogue import FAITHFULNESS, METRICS

# ------------------------------------------------------------------------------------------ the EvalxNLP family by hand
WORDS, TEXTS, DRAWS, MARKED, K = 10, 11, 4, slice(6, 10), 4
FIFTH, TENTHS = [step * 5 / 100 for step in range(5)], [step / 10 for step in range(11)]


def answered(scores: np.ndarray, gone: int) -> float:
    """p(yes) after the words that count most for these scores: it loses the class after three."""
    return 0.9 - 0.15 * gone + 0.001 * float(scores[0])


def by_faithlib(scores: np.ndarray, gold: torch.Tensor) -> dict[str, float]:
    """The nine metrics of one text as the library has them; the model is `answered`, its draws are fixed."""
    given = torch.from_numpy(scores)[None].double()
    p, p0 = torch.tensor([answered(scores, 0)]), torch.tensor([0.1])
    kept, removed = (torch.tensor([value]) for value in (0.7, 0.3))
    fifth, all_ = (
        torch.tensor([[float(answered(scores, evalxnlp.words_gone(s, WORDS)) > 0.5) for s in shares]])
        for shares in (FIFTH, TENTHS)
    )
    found = {"soft_ns": metrics.soft_ns(p, kept, p0), "soft_nc": metrics.soft_nc(p, removed, p0)}
    found |= {"n_auc": metrics.n_auc(fifth), "autpc": metrics.auc(all_)}
    found |= {"token_f1": metrics.token_f1(given, gold, k=K), "iou_f1": metrics.iou_f1(given, gold, k=K)}
    found |= {"auprc": metrics.auprc(given, gold), "complexity": metrics.complexity(given)}
    return {name: value.item() for name, value in (found | {"sparseness": metrics.sparseness(given)}).items()}


def by_hand(store: Store, *, off: float = 0.0, harder: float = 0.0) -> None:
    """A run of `together_by_hand`. `off`: what is added to the library's AUPRC of the example; `harder`: what the model
    loses on each row of the released code, ends twice or not."""
    generator = np.random.default_rng(0)
    gold = torch.zeros(1, WORDS, dtype=torch.bool)
    gold[0, MARKED] = True
    scores = generator.normal(0, 0.1, (TEXTS, 2, WORDS)) + 0.05 * gold.numpy()
    names = ["example", *(f"t{number}" for number in range(1, TEXTS))]
    rows, accuracy, curves, soft = [], [], [], []
    for text in range(TEXTS):
        for method, own in zip(("occlusion", "random"), scores[text], strict=True):
            rows += [(text, method, metric, value) for metric, value in by_faithlib(own, gold).items()]
            for curve, shares in (("n_auc", FIFTH), ("autpc", TENTHS)):
                still = [float(answered(own, evalxnlp.words_gone(s, WORDS)) > 0.5) for s in shares]
                accuracy += [(text, method, curve, s, y) for s, y in zip(shares, still, strict=True)]
        own = scores[text, 0]
        for metric, percents in (("n_auc", range(0, 21, 10)), ("autpc", range(0, 101, 10))):
            gone = [answered(own, WORDS * percent // 100) - harder for percent in percents]
            curves += [(metric, "all of it", text, percent, p) for percent, p in zip(percents, gone, strict=True)]
        soft += [(text, "blank", 0, 0.1)]
        soft += [(text, what, d, 0.5) for what in ("sufficiency", "comprehensiveness") for d in range(DRAWS)]
    every = pd.DataFrame(rows, columns=["input", "method", "metric", "value"])
    example = every[(every.input == 0) & (every.method == "occlusion")].copy()
    example.loc[example.metric == "auprc", "value"] += off
    own, full = scores[0, 0], [answered(scores[text, 0], 0) for text in range(TEXTS)]
    texts = pd.DataFrame({"id": names, "query": "q", "p_full": full, "p_empty": 0.1, "p_full_by_hand": full})
    texts = texts.assign(p_empty_by_hand=0.1, cls=0.01, sep=-0.02, looked_at=40, hidden_units=8, words_below=0)
    words = [f"w{number}" for number in range(WORDS)]
    tokens = pd.DataFrame({"text": np.repeat(range(TEXTS), WORDS), "word": words * TEXTS})
    tokens = tokens.assign(marked=np.tile(gold[0].numpy(), TEXTS), occlusion=scores[:, 0].ravel(), random=0.0)
    ids = {"token": ["[CLS]", *words, "[SEP]"], "score": 0.0, "kept": True, "id": 0, "read": "[PAD]"}
    tables = {
        "by_hand_texts": texts,
        "by_hand_tokens": tokens,
        "by_hand_words": pd.DataFrame({"word": words, "p_without": full[0] - own}),
        "by_hand_removed": pd.DataFrame({"gone": range(WORDS + 1), "p": [answered(own, k) for k in range(WORDS + 1)]}),
        "by_hand_draws": pd.DataFrame({"draw": range(1, DRAWS + 1), "p_kept": 0.7, "p_removed": 0.3}),
        "by_hand_set": every,
        "by_hand_example": example,
        "by_hand_one_word": example,
        "by_hand_ends": pd.DataFrame({"metric": ["AUPRC"], "case": ["c"], "must be": [1.0], "is": [1.0]}),
        "by_hand_accuracy": pd.DataFrame(accuracy, columns=["text", "method", "curve", "share", "y"]),
        "by_hand_released_curves": pd.DataFrame(curves, columns=["metric", "change", "text", "percent", "p"]),
        "by_hand_released_soft": pd.DataFrame(soft, columns=["text", "what", "draw", "p"]),
        "by_hand_released_ids": pd.DataFrame(ids),
    }
    units = every.assign(id=[names[text] for text in every.input], seed=0).drop(columns="input")
    store.add("together_by_hand", {"": units.assign(cluster=units.id)}, tables=tables)


def test_what_is_worked_out_by_hand_is_what_the_library_says(store: Store) -> None:
    by_hand(store)
    found = store.report("together_metrics")
    assert "9 of 9 agree to four digits" in found.text
    shown = found.table("together_metrics_set")
    assert len(shown) == 18 and set(shown.n) == {TEXTS - 1}  # the example counts in no mean
    assert (shown.low <= shown.estimate + 1e-12).all() and (shown.estimate <= shown.high + 1e-12).all()
    assert not (found.folder / "verdicts.parquet").exists()  # a page without a claim has no verdict to save


@pytest.mark.parametrize(("harder", "direction"), [(0.0, "undecided"), (0.5, "lower")])
def test_what_the_released_code_changes_has_an_interval_and_a_direction(
    store: Store, harder: float, direction: str
) -> None:
    by_hand(store, harder=harder)
    found = store.report("together_released")
    shown = found.table("together_metrics_released", "metric", "step")
    assert shown.difference["sparseness", "ranks from 0"] == pytest.approx(-2 / WORDS, abs=1e-6)
    assert shown.difference["auprc", "as released"] == pytest.approx(0, abs=1e-6)
    assert shown["released is"]["complexity", "**all steps**"] == "lower"  # it is divided by the number of tokens
    assert shown["released is"]["autpc", "**all steps**"] == direction


def test_metrics_of_one_text_at_their_ends() -> None:
    assert np.isnan(evalxnlp.n_auc([0, 0, 0])) and np.isnan(evalxnlp.soft(0.4, 0.4, [0.1], [0.1])[0]).all()
    assert evalxnlp.sparseness(np.eye(10)[0]) == pytest.approx(0.9)
    assert evalxnlp.sparseness(np.eye(10)[0], first=0) == pytest.approx(1 - 3 / 10)
    first, last = np.arange(4) < 2, np.arange(4) >= 2
    assert evalxnlp.span_f1(first, first) == 1 and evalxnlp.span_f1(first, last) == 0
    assert evalxnlp.rationale(np.array([-1.0, -2.0, 3.0]), 2).tolist() == [False, False, True]
    assert evalxnlp.largest_sizes(np.array([-1.0, -2.0, 3.0]), 2).tolist() == [False, True, True]


# ---------------------------------------------------------------------------------------------------- a toolkit's tasks
TOOLKIT = {"saliency": 0.0, "lime": -0.1, "partition_shap": 0.1, "random": 0.0}
NINE = ["soft_ns", "soft_nc", "n_auc", "autpc", "token_f1", "iou_f1", "auprc", "complexity", "sparseness"]


def tasks(store: Store, *datasets: str) -> Shown:
    """Runs of `together_toolkit`, in which PartitionSHAP beats random scores, LIME does worse, saliency as well."""
    generator = np.random.default_rng(0)
    for dataset in datasets:
        rows, marks = [], dataset == "reviews"
        for metric in NINE if marks else [name for name in NINE if name not in ("token_f1", "iou_f1", "auprc")]:
            sign = -1 if METRICS[metric] == "lower" else 1
            for text in range(N):
                value = generator.normal(0.5, 0.05)
                rows += [
                    (f"t{text}", m, metric, value + sign * gain + generator.normal(0, 1e-3))
                    for m, gain in TOOLKIT.items()
                ]
        facts = {"words": 20.0, "cut": 1.0} | ({"marked": 0.25} if marks else {})
        texts = [(f"t{text}", "none", name, value) for text in range(N) for name, value in facts.items()]
        texts += [(f"t{text}", "none", "right", float(text % 4 > 0)) for text in range(2 * N)]
        spent = pd.DataFrame([{"dataset": dataset, "inputs": N, "rows_shap": 100, "rows_rest": 900}])
        found, tables = {"": units(rows), "texts": units(texts)}, {"toolkit_costs": spent}
        store.add("together_toolkit", found, tables=tables, dataset=dataset)
    return store.report("together_tasks")


def test_a_method_of_the_toolkit_is_told_from_random_scores(store: Store) -> None:
    found = tasks(store, "reviews", "nli")
    against = found.table("together_tasks_random", "dataset", "metric")
    assert len(against) == 9 + 6
    for word, method in (("better", "PartitionSHAP"), ("worse", "LIME"), ("open", "saliency")):
        assert (against[word] == label(method)).all()
    every = found.table("together_tasks")
    assert len(every) == len(TOOLKIT) * (9 + 6) and set(every.n) == {N}
    assert (every.low <= every.estimate).all() and (every.estimate <= every.high).all()
    assert not (found.folder / "together_tasks_nli_plausibility.csv").exists()
    assert not (found.folder / "verdicts.parquet").exists()


def test_without_the_toolkits_data_a_page_says_so(store: Store) -> None:
    found = store.report("together_tasks")
    assert "**No numbers here.**" in found.text
    assert not list(found.folder.glob("*.svg"))


# ----------------------------------------------------------------------------------------------------- where maps point
RIGHT = {"rollout": 0.9, "grad_cam": 0.1, "saliency": 0.5, "random": 0.5}


def pointing(store: Store) -> Shown:
    """Scenes of two objects: the highest cell of a map is the object's as often as `RIGHT` has it, else the other's.
    Texts in which saliency finds the marks."""
    generator = np.random.default_rng(0)
    rows, N_SCENES = [], 200
    for scene in range(N_SCENES):
        for method, share in RIGHT.items():
            hit = float(generator.random() < share)
            values = {"pointing_game": hit, "astray": 1 - hit, "iou": 0.8 * hit, "auprc": 0.2 + 0.6 * hit}
            rows += [(f"a/b{scene // 2}+c/d{scene}", method, metric, value) for metric, value in values.items()]
    frame = units(rows)
    frame["cluster"] = frame["id"].str.partition("+")[0]
    looked = {"input": frame.id.unique(), "right": True, "cells": 6, "of": 64, "dataset": "stamps-two", "model": "m"}
    store.add("together_objects", {"": frame}, tables={"objects_looked_at": pd.DataFrame(looked)}, dataset="stamps-two")
    texts = [
        (f"t{text}", method, metric, min(1.0, base + 0.05 * generator.random()))
        for text in range(N)
        for method, base in (("saliency", 0.8), ("random", 0.4))
        for metric in ("token_f1", "iou_f1", "auprc", "saco")
    ]
    store.add("together_matrix", {"": units(texts)}, dataset="pair")
    return store.report("together_pointing")


def test_a_map_that_lies_on_its_object_is_told_from_one_that_goes_astray(store: Store) -> None:
    found = pointing(store)
    table = found.table("together_pointing", "method", "metric")
    assert len(table) == len(RIGHT) * 4
    for method, word in (("rollout", "better"), ("grad_cam", "worse"), ("saliency", "open")):
        assert (table.loc[method, "beside_random"] == word).all()
        assert table.loc[(method, "pointing_game"), "estimate"] == pytest.approx(RIGHT[method], abs=0.1)
    assert (table.low <= table.estimate).all() and (table.n == 200).all()
    assert (found.folder / "together_pointing_game.svg").is_file()


# ------------------------------------------------------------------------------------------------------- shared worlds
N = 40
ON_PICTURES = ["grad_cam", "rollout", "lrp", "attcat"]
METHODS = {"movie": ["lime", "saliency", "occlusion", "deeplift"], "fashion": ON_PICTURES, "cifar10": ON_PICTURES}
KINDS = {"movie": "text", "fashion": "vision", "cifar10": "photographs"}


def units(rows: list[tuple], *names: str) -> pd.DataFrame:
    """Rows as values of single inputs: an input is its own cluster."""
    frame = pd.DataFrame(rows, columns=["id", "method", "metric", *names, "value"])
    return frame.assign(cluster=frame["id"], seed=0)


# ----------------------------------------------------------------------------------------------------------- agreement
TOP, BOTTOM = ("nc", "comprehensiveness_eraser"), ("ns", "sufficiency_eraser")
ASKED = (*TOP, *BOTTOM, "soft_ns", "soft_nc", "saco")


def agreeing(generator: np.random.Generator, methods: int) -> dict[str, np.ndarray]:
    """Metrics of a family agree, those of one direction less so, and SaCo goes its own way."""
    hard, eraser, soft, top, bottom, every = generator.normal(size=(6, methods))
    found = {"nc": hard + top, "ns": hard + bottom, "soft_ns": soft, "soft_nc": soft}
    found |= {"comprehensiveness_eraser": eraser + top, "sufficiency_eraser": -(eraser + bottom + every)}
    found = {name: value + (0 if name == "sufficiency_eraser" else every) for name, value in found.items()}
    return found | {"saco": generator.normal(size=methods)}


def crossed(generator: np.random.Generator, methods: int) -> dict[str, np.ndarray]:
    """Whoever shares a family or a direction disagrees; sufficiency is better when lower."""
    a = generator.normal(size=methods)
    sides = dict.fromkeys(("nc", "soft_ns", "saco", "sufficiency_eraser"), 1)
    sides |= dict.fromkeys(("ns", "comprehensiveness_eraser", "soft_nc"), -1)
    noise = {name: 0.1 if name == "saco" else 1.3 for name in sides}  # SaCo agrees with the rest more than any other
    found = {name: side * a + generator.normal(0, noise[name], methods) for name, side in sides.items()}
    return found | {"sufficiency_eraser": -found["sufficiency_eraser"]}


def matrix(store: Store, world: Callable[[np.random.Generator, int], dict[str, np.ndarray]], n: int = N) -> Shown:
    generator = np.random.default_rng(0)
    for dataset, methods in METHODS.items():
        rows = []
        for number in range(n):
            for metric, values in world(generator, len(methods)).items():
                rows += [(f"i{number}", m, metric, v) for m, v in zip(methods, values, strict=True)]
                rows.append((f"i{number}", "random", metric, 0.0))
        store.add("together_matrix", {"": units(rows)}, dataset=dataset)
    return store.report("together_agreement")


def test_families_directions_and_an_outsider_are_found(store: Store) -> None:
    found = matrix(store, agreeing)
    assert {found.verdict(f"together_q{k}") for k in (1, 2, 10)} == {"reproduced"}, found.verdicts.part.tolist()
    assert set(found.verdicts.evidence) - {""} == {"our own question"}
    rest = found.table("together_rest")
    assert len(rest) == 3 * len(ASKED) and set(rest.n) == {N}
    assert set(rest.modality) == set(KINDS.values())
    parts = found.table("together_agreement_parts")
    assert not parts["part"].str.contains("photographs").any()  # the questions were asked before there were any
    # Sufficiency is better when lower: its table has it as it is defined, its agreement turned.
    pairs = found.table("together_agreement", "modality", "first", "second").estimate
    assert pairs["text", "sufficiency_eraser", "comprehensiveness_eraser"] > 0.3


def test_families_that_disagree_are_found_too(store: Store) -> None:
    found = matrix(store, crossed, n=2 * N)
    assert {found.verdict(f"together_q{k}") for k in (1, 10)} == {"not reproduced"}, found.verdicts.part.tolist()
    # Some metrics clearly agree less with the rest than SaCo does; corrected for all, whether any agrees more is open.
    assert found.verdict("together_q2") == "undecided"
    assert found.verdicts.loc["together_q2", ["passed", "parts"]].tolist() == [3, 12]


def test_an_input_is_counted_once_in_a_contrast_of_pairs() -> None:
    rows = [("i", m, metric, v) for metric in ("ns", "nc", "auc") for m, v in zip("abc", (1.0, 2.0, 3.0), strict=True)]
    found = questions.agreements(units(rows).assign(dataset="movie"))
    pairs = found.set_index(["first", "second"]).value
    # AUC is better when lower: it disagrees with NS and NC, which agree.
    assert (pairs["ns", "nc"], pairs["ns", "auc"], pairs[questions.INSIDE, questions.REST]) == (1, -1, 2)
    assert pairs["ns", questions.REST] == 0 and pairs[questions.ALIKE, questions.REST] == 0


def test_clusters_are_metrics_that_agree_on_average() -> None:
    names = ["a", "b", "c"]
    rho = pd.DataFrame([[np.nan, 0.8, 0.1], [0.8, np.nan, 0.3], [0.1, 0.3, np.nan]], index=names, columns=names)
    tree = questions.Clusters.of(rho)
    assert sorted(map(sorted, tree.above(0.5))) == [["a", "b"], ["c"]]
    assert [sorted(group) for group in tree.above(0.1)] == [names] and sorted(tree.order) == names


# ------------------------------------------------------------------------------------------------------- diagnosticity
HARD, SOFT = ("ns", "nc"), ("soft_ns", "soft_nc")


def won(generator: np.random.Generator, share: float, n: int) -> np.ndarray:
    """1 on a share of n inputs, -1 on the others; random scores have 0."""
    return np.where(generator.permutation(n) < round(share * n), 1.0, -1.0)


def telling(store: Store, *, hard: float, soft: float, mirrored: float, n: int = N) -> Shown:
    generator = np.random.default_rng(0)
    ids = [f"i{number}" for number in range(n)]
    shares = dict.fromkeys(HARD, hard) | dict.fromkeys(SOFT, soft) | {"complexity": 0.5}
    for dataset, methods in METHODS.items():
        rows, controls = [], []
        for metric, share in shares.items():
            for method in methods:
                sign = -1 if metric == "complexity" else 1
                rows += [(i, method, metric, sign * v) for i, v in zip(ids, won(generator, share, n), strict=True)]
                if metric in SOFT:
                    controls += [(i, method, metric, "shuffled", 0.0) for i in ids]
                    ranks = won(generator, share, n)
                    controls += [(i, method, metric, "ranks", v) for i, v in zip(ids, ranks, strict=True)]
            rows += [(i, "random", metric, 0.0) for i in ids]
            controls += [(i, "random", metric, what, 0.0) for i in ids for what in ("shuffled", "ranks")]
        control = units(controls, "control")
        told = control.rename(columns={"id": "input"}).assign(density=0.3, dataset=dataset, modality=KINDS[dataset])
        costs = pd.DataFrame({"what": ["every metric", "hard", "soft", "simplicity"], "inputs": 2, "methods": 3})
        costs = costs.assign(rows_asked=200, rows_run=100, seconds_all=2.0, seconds_model=0.5, seconds_core=1.0)
        tables = {"together_controls": told, "together_costs": costs.assign(dataset=dataset, modality=KINDS[dataset])}
        if dataset == "cifar10":  # as where the reference has a kind that the page's own run has not
            tables = {name: table.iloc[:0] for name, table in tables.items()}
        control = control[control.metric.isin(SOFT)]
        store.add("together_matrix", {"": units(rows), "controls": control}, tables=tables, dataset=dataset)
    rho = {"grad_cam": mirrored, "rollout": mirrored, "random": 0.0, "middle": 1.0}
    pictures = [
        (i, method, "rho", value if method == "middle" else value + generator.normal(0, 0.05))
        for method, value in rho.items()
        for i in ids
    ]
    store.add("together_mirrored", {"": units(pictures)}, dataset="fashion")
    return store.report("together_diagnosticity")


TELLING = ("together_q3", "together_q4", "together_q8", "together_q9")


def test_metrics_that_tell_are_found_and_priced(store: Store) -> None:
    found = telling(store, hard=0.65, soft=0.8, mirrored=0.6)
    assert {name: found.verdict(name) for name in TELLING} == dict.fromkeys(TELLING, "reproduced")
    shown = found.table("together_diagnosticity", "modality", "metric")
    assert shown.estimate["text", "ns"] == pytest.approx(0.65) and set(shown.n) == {N}
    needed = shown["inputs needed"]
    assert needed["text", "soft_ns"] < needed["text", "ns"] < 4 * N
    # What is not told from chance needs no number of inputs, but says what would have been found.
    assert np.isnan(needed["text", "complexity"]) and 0 < shown["gain it would find"]["text", "complexity"] < 0.3
    assert shown["model calls per input"]["vision", "ns"] == 50


def test_metrics_that_do_not_tell_are_found_and_the_lax_floor_is_named(store: Store) -> None:
    found = telling(store, hard=0.6, soft=0.25, mirrored=-0.4)
    # Hard metrics tell, so that one answer for all of them would say nothing.
    words = dict.fromkeys(TELLING, "not reproduced") | {"together_q3": "mixed"}
    assert {name: found.verdict(name) for name in TELLING} == words


def test_ties_count_half_and_controls_are_compared_with_their_own(store: Store) -> None:
    plain = [("i", "lime", "soft_ns", 0.5), ("i", "random", "soft_ns", 0.5)]
    frame = units([(*row[:3], None, row[3]) for row in plain] + [("i", "lime", "soft_ns", "shuffled", 0.2)], "control")
    found = questions.preferred_to_chance(frame.assign(dataset="movie")).set_index("against").value
    assert found.to_dict() == {questions.CHANCE: 0.5, questions.ITSELF: 1.0, questions.TIES: 1.0}


# ------------------------------------------------------------------------------------------------------- planted truth
TRUE = {"truth": 1.0, "25% shuffled": 0.8, "lime": 0.7, "50% shuffled": 0.6}
TRUE |= {"100% shuffled": 0.3, "random": 0.25, "opposite": 0.1}
MODELS = ("linear", "detector", "trained", "misled by erasure")


def planted(store: Store, *, sign: int, n: int = N) -> Shown:
    """Metrics that follow the truth on all models but the misled one (sign 1), or that turn it round on all of them but
    the misled one (sign -1)."""
    generator = np.random.default_rng(0)
    for modality in ("text", "vision"):
        rows = []
        for model in MODELS:
            for number in range(n):
                for metric in ("nc", "soft_ns"):
                    for method, value in TRUE.items():
                        noise = generator.normal(0, 0.05 if sign > 0 else 0.25)
                        blind = model == "misled by erasure" and sign > 0 and method != "truth"
                        turned = sign if model != "misled by erasure" else 1
                        rows.append((f"i{number}", method, metric, model, "mask", 0 if blind else turned * value))
                        rows[-1] = (*rows[-1][:-1], rows[-1][-1] + noise)
                if model not in ("linear", "detector"):
                    rows += [(f"i{number}", method, "auprc", model, "mask", value) for method, value in TRUE.items()]
        reasons = pd.DataFrame({"modality": modality, "model": list(MODELS), "erase": "mask", "accuracy": 1.0, "n": n})
        reasons = reasons.assign(**{"neither without": 0.9, "class with nothing else": 0.8})
        tables = {"together_reasons": reasons}
        store.add("together_planted", {"": units(rows, "model", "erase")}, tables=tables, modality=modality)
    return store.report("together_planted_truth")


PLANTED = ("together_q5", "together_q6", "together_q7")


def test_metrics_that_know_the_truth_are_found(store: Store) -> None:
    found = planted(store, sign=1)
    assert {name: found.verdict(name) for name in PLANTED} == dict.fromkeys(PLANTED, "reproduced")
    assert found.verdicts.post_hoc.all()
    tracking = found.table("together_tracking", "modality", "model", "metric")
    assert tracking.estimate["text", "trained", "nc"] > 0.9 and set(tracking.n) == {N}
    lost = pd.read_parquet(found.folder / "truth_lost.parquet").set_index(["modality", "metric"])
    assert set(lost.answer) == {"no"}  # each clearly loses on the misled model
    # The page lists what says no on its own, the file everything.
    parts = found.table("together_planted_parts")
    assert len(parts) == found.names["tested"].frame.shape[0] and "| q5 |" not in found.text
    right = pd.read_parquet(found.folder / "truth_preferred.parquet")
    assert set(right.answer) == {"yes"} and set(right.model) == set(MODELS)


def test_metrics_that_turn_the_truth_round_are_found(store: Store) -> None:
    found = planted(store, sign=-1)
    words = dict.fromkeys(PLANTED, "not reproduced") | {"together_q6": "mixed"}
    assert {name: found.verdict(name) for name in PLANTED} == words
    assert "| q5 |" in found.text and "Dot plot, one panel a claim, with 95 % intervals" in found.text


def test_a_trifle_is_a_tie_against_methods_and_not_against_rungs() -> None:
    rows = [("i", method, "nc", "trained", "mask", value) for method, value in (("truth", 0.5), ("lime", 0.505))]
    rows.append(("i", questions.OPPOSITE, "nc", "trained", "mask", 0.505))
    found = questions.preferred_truth(units(rows, "model", "erase").assign(dataset="d", modality="text"))
    assert found.set_index("against").value.to_dict() == {"lime": 0.5, questions.OPPOSITE: 0.0}


# -------------------------------------------------------------------------------------------------------------- advice
KEYS = ("text", "vision")


def advised(store: Store, *, freed: str, n: int = N) -> Shown:
    metrics_ = ("nc", "soft_ns", "saco", "comprehensiveness_eraser")
    keys = pd.DataFrame([(kind, m) for kind in KEYS for m in metrics_], columns=["modality", "metric"])
    telling_ = keys.assign(estimate=0.8, low=0.7, high=0.9, n=n, **{"above chance": "yes", "inputs needed": 12.0})
    telling_["model calls per input"] = telling_.metric.map(
        {"nc": 30.0, "soft_ns": 20.0, "saco": 10.0, "comprehensiveness_eraser": 40.0}
    )
    soft = keys[keys.metric == "soft_ns"]
    amounts = pd.concat([soft.assign(against=a, answer=freed, n=n - 5) for a in (questions.ITSELF, questions.RANKS)])
    models = {"trained": 0.9, "linear": 0.9, "misled by erasure": 0.8}
    right = pd.concat([keys.assign(model=one, estimate=x, n=n, answer="yes") for one, x in models.items()])
    tables = {"diagnosticity_of_metrics": telling_, "amounts_controlled": amounts}
    store.add("together_diagnosticity", tables=tables)
    tables = {"truth_preferred": right, "truth_lost": keys.assign(estimate=0.01, n=n - 10, answer="yes")}
    store.add("together_planted_truth", tables=tables | {"truth_tracked": right})
    return store.report("together_advice")


@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_metrics_follow_the_truth_by_spearmans_correlation_over_what_both_have() -> None:
    generator, methods = np.random.default_rng(0), ("lime", "saliency", "rollout", "occlusion", "attention")
    known = pd.DataFrame(generator.integers(0, 4, size=(3, 8, 5)).reshape(24, 5), columns=methods, dtype=float)
    known = known.mask(generator.random(known.shape) < 0.2)
    known.loc[9] = 2.0  # constant: no correlation
    names = [(f"i{place % 8}", metric) for metric in ("auprc", "nc", "saco") for place in range(8)]
    rows = [
        (text, method, metric, "trained", "mask", value)
        for (text, metric), values in zip(names, known.to_numpy(), strict=True)
        for method, value in zip(methods, values, strict=True)
    ]
    frame = units(rows, "model", "erase").assign(dataset="d", modality="text")
    found = questions.followed_truth(frame)
    followed = found[found.asked == questions.FOLLOWS].set_index(["id", "metric"]).value
    expected = {}
    for place, (text, metric) in enumerate(names[8:], start=8):
        rho = known.loc[place].corr(known.loc[place % 8], method="spearman")
        expected |= {} if np.isnan(rho) else {(text, metric): rho}
    assert ("i1", "nc") not in expected
    assert followed.to_dict() == pytest.approx(expected)


def test_a_metric_of_amounts_is_recommended_only_where_it_tells_without_them(store: Store) -> None:
    found = advised(store, freed="no")
    shown = found.table("together_advice", "modality", "metric")
    assert set(shown.n) == {30} and shown["without mean importance"]["text", "saco"] == "unsure"
    assert recommended(found.names["table"]) == {key: ["nc", "comprehensiveness_eraser"] for key in KEYS}
    assert holds_role(found.names["table"], "soft_ns", "caution")


def test_a_kind_that_was_not_asked_everything_counts_the_questions_it_was_asked() -> None:
    both = [(kind, name) for kind in ("text", "photographs") for name in ("nc", "ns")]
    keys = pd.DataFrame(both, columns=["modality", "metric"])
    telling_ = keys.assign(n=20, **{"above chance": "yes", "inputs needed": 9.0, "model calls per input": 7.0})
    telling_.loc[telling_.modality == "photographs", "model calls per input"] = np.nan  # priced on another machine
    asked = keys[keys.modality == "text"].assign(model="trained", estimate=0.5, answer="yes", n=20)
    none = keys.head(0).assign(against="", answer="", n=0)
    found = advice(telling_, none, asked, asked, asked)
    told = found.set_index(["modality", "metric"])
    assert told.loc[("photographs", "nc"), ["prefers the truth", NOT_WORSE]].tolist() == ["not asked", "not asked"]
    assert recommended(found) == {"photographs": ["nc", "ns"], "text": ["nc", "ns"]}
    assert asked_everything(found) == ["text"]
    assert not holds_role(found[found.modality == "photographs"], "nc", "recommended")


LEVELS = {"n_auc": (0.96, 0.92, "no"), "auc": (0.95, 0.86, "no"), "saco": (0.53, 0.79, "yes")}


def tracked(levels: dict[str, tuple[float, float, str]], prices: Sequence[float]) -> pd.DataFrame:
    """The table of advice on texts, from accuracy before and after misleading and the price of each metric."""
    keys = pd.DataFrame({"modality": "text", "metric": list(levels)})
    telling_ = keys.assign(
        n=100, **{"above chance": "yes", "inputs needed": 9.0, "model calls per input": list(prices)}
    )
    right = keys.assign(model="trained", answer="yes", n=100)
    lost = keys.assign(answer=[answer for _, _, answer in levels.values()], n=100)
    both = pd.concat(
        keys.assign(model=name, estimate=[pair[place] for pair in levels.values()])
        for place, name in enumerate(("trained", "misled by erasure"))
    )
    return advice(telling_, keys.head(0).assign(against="", answer="", n=0), right, lost, both)


def test_the_best_tracker_is_recommended_although_it_loses_a_little() -> None:
    """The table preferred SaCo (.53, after misleading .79) to N-AUC (.96, after misleading .92)."""
    found = tracked(LEVELS, [7.0, 5.0, 3.0])
    assert found.metric.tolist() == ["n_auc", "auc", "saco"]
    assert found["worse of the two"].tolist() == [0.92, 0.86, 0.53]
    assert found[NOT_WORSE].tolist() == ["no", "no", "yes"]
    assert recommended(found) == {"text": ["n_auc", "auc"]}


def test_a_need_whose_metric_has_lost_its_role_names_no_metric() -> None:
    roles = [("best", "n_auc"), ("cheapest", "auc"), ("recommended", "auc"), ("caution", "saco")]
    needs = pd.DataFrame([(f"the {role}", name, role, "so it is") for role, name in roles])
    needs.columns = pd.Index(["need", "metric", "role", "why"])
    shown = decisions(tracked(LEVELS, [7.0, 5.0, 3.0]), needs)
    assert shown["use"].tolist() == ["N-AUC", "AUC", "AUC", "SaCo"]
    assert shown["accuracy, texts"].tolist() == ["0.92", "0.86", "0.86", "0.53"]
    assert shown["model calls"].tolist() == ["7", "5", "5", "3"]
    turned = LEVELS | {"n_auc": (0.85, 0.84, "no")}
    shown = decisions(tracked(turned, [4.0, 5.0, 3.0]), needs)
    assert shown["use"].tolist() == ["–", "–", "AUC", "SaCo"]
    assert shown["why"][0] == "N-AUC is no longer best in this build"


def test_every_need_of_the_page_names_a_known_metric_and_role() -> None:
    needs = published.beside("recommendations")
    assert set(needs["metric"]) <= set(FAITHFULNESS) and set(needs["role"]) <= {
        "best",
        "cheapest",
        "recommended",
        "caution",
    }
    assert needs["need"].is_unique and needs["role"][0] == "cheapest"


def test_prices_are_of_the_run_whose_answers_are_shown() -> None:
    """Answers were of the full run, and rows per input of the present build."""
    run = pd.DataFrame({"modality": "text", "what": ["hard", "every metric"], "rows_run": 70, "inputs": 10})
    theirs, ours = (questions.prices_of(SimpleNamespace(speaks=one), run) for one in (REFERENCE, RUN))
    assert ours.to_dict() == {("text", "hard"): 7.0}
    asking = {questions.FAMILY_OF[name] for name in FAITHFULNESS}
    assert set(theirs.index) == {(kind, family) for kind in ("text", "vision") for family in asking}
    # Where the number follows from the formula: SaCo's ten groups, and both orders of 12 words or 49 cells.
    assert theirs["text", "groups"] == theirs["vision", "groups"] == 3 * 10 - 2
    assert (theirs["text", "aopc"], theirs["vision", "aopc"]) == (2 * 12, 2 * 49)


def test_the_worked_example_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    source = (REPOSITORY / "notebooks" / "report" / "together_advice.py").read_text(encoding="utf-8")
    page = re.sub(r"^# ?", "", source, flags=re.MULTILINE)
    (code,), (said,) = (
        re.findall(rf"^```{kind}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL) for kind in ("python", "text")
    )
    exec(compile(code, "together_advice", "exec"), {})
    assert capsys.readouterr().out.startswith(said)
    first, second, chance = re.findall(r"(-?\d\.\d+) ± \d\.\d+(\*?)", said)
    assert first == second and first[1] == "*" and chance[1] == "" and abs(float(chance[0])) < 0.1
