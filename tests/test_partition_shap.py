"""PartitionSHAP against the package's own explainer and against Owen values by their definition."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable

import numpy as np
import pytest
import torch
from refusals import refused
from toy_models import model_and_texts

from faithbook.studies.together.evalxnlp_methods import halves, partition_shap
from faithlib.errors import InputError, MissingPackageError
from faithlib.inputs import WordInputs
from faithlib.perturb import Perturber

BRANCHES = {1: [], 2: [], 3: [{0, 1}], 4: [{0, 1}, {2, 3}], 5: [{0, 1, 2}, {0, 1}, {3, 4}]}


def game(n: int, seed: int = 0) -> Callable[[Iterable[int]], float]:
    """A number for every set of n players, drawn at random."""
    worth = np.random.default_rng(seed).uniform(0.1, 0.9, 2**n)
    return lambda players: float(worth[sum(1 << player for player in players)])


def played(of: Callable[[Iterable[int]], float]) -> Callable[[list[str]], list[list[float]]]:
    """The game as a classifier of texts, whose players are the words w0, w1 …"""
    return lambda texts: [[1 - (p := of(int(word[1:]) for word in text.split())), p] for text in texts]


def text(n: int) -> WordInputs:
    return WordInputs.from_texts([" ".join(f"w{i}" for i in range(n))])


def owen(value: Callable[[Iterable[int]], float], n: int) -> list[float]:
    """By the definition: the mean gain over all orders in which the words of every branch follow one another."""
    gains = []
    for order in itertools.permutations(range(n)):
        places = [{order.index(f) for f in branch} for branch in BRANCHES[n]]
        if all(max(at) - min(at) + 1 == len(at) for at in places):
            values = [value(order[:k]) for k in range(n + 1)]
            gains.append([values[order.index(f) + 1] - values[order.index(f)] for f in range(n)])
    assert len(gains) == 2 ** (n - 1)
    return np.mean(gains, axis=0).tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_words_have_their_owen_values(n: int) -> None:
    perturber = Perturber(played(game(n)), text(n), target=1)
    found = partition_shap(perturber)
    assert found[0].tolist() == pytest.approx(owen(game(n), n), abs=1e-6)
    rows = perturber.stats.rows_run
    assert rows <= 2**n
    assert torch.equal(partition_shap(perturber), found) and perturber.stats.rows_run == rows


@pytest.mark.parametrize("max_evals", [2, 6, 12, 40, 500])
def test_it_is_the_packages_own_explainer_at_every_budget(max_evals: int) -> None:
    import shap

    n, of = 9, game(9)

    class Words:
        """Copies of a row of words, told by which of them are kept."""

        shape, clustering = (1, n), halves(n)

        def __call__(self, mask: np.ndarray, row: np.ndarray) -> np.ndarray:
            return np.where(mask, row, -1)[None]

    explainer = shap.PartitionExplainer(lambda rows: np.array([of(row[row >= 0]) for row in rows]), Words())
    theirs = explainer(np.arange(n)[None], max_evals=max_evals, silent=True).values[0]
    perturber = Perturber(played(of), text(n), target=1)
    ours = partition_shap(perturber, max_evals=max_evals)
    assert ours[0].tolist() == pytest.approx(theirs.tolist(), abs=1e-6)
    assert float(ours.sum()) == pytest.approx(of(range(n)) - of([]), abs=1e-6)
    assert perturber.stats.rows_run <= max_evals + 10


def test_forwards_of_any_size_and_texts_beside_leave_scores_alone() -> None:
    model, inputs = model_and_texts(lengths=(12, 7, 5))
    scores = partition_shap(Perturber(model, inputs), max_evals=30)
    for max_rows in (1, 3, 50):
        again = partition_shap(Perturber(model, inputs[[2, 0, 1]], max_rows=max_rows), max_evals=30)
        assert torch.allclose(again, scores[[2, 0, 1]], atol=1e-5)
    short = partition_shap(Perturber(model, inputs[[1]]), max_evals=30)
    assert torch.allclose(short[0], scores[1, : short.shape[1]], atol=1e-5)


def test_ties_hang_on_the_text_and_nobody_elses_draws_move() -> None:
    texts = WordInputs.from_texts([text(12).texts[0].replace("w", letter) for letter in "abcdef"])

    def model(texts: list[str]) -> list[list[float]]:  # whichever words: all branches of a size are alike
        return [[1 - p, p] for p in (0.1 + 0.8 * (len(text.split()) > 6) for text in texts)]

    np.random.seed(3)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    scores = partition_shap(Perturber(model, texts, target=1), max_evals=16)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    np.random.seed(4)  # noqa: NPY002
    turned = texts[[5, 0, 1, 2, 3, 4]]
    assert torch.equal(partition_shap(Perturber(model, turned, target=1), max_evals=16), scores[[5, 0, 1, 2, 3, 4]])
    assert len({tuple(row) for row in scores.tolist()}) > 1


def test_what_it_cannot_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    perturber = Perturber(played(game(2)), text(2))
    refused(InputError, "max_evals 1: expected at least 2", partition_shap, perturber, max_evals=1)
    monkeypatch.setitem(sys.modules, "shap", None)
    refused(MissingPackageError, r"shap is not installed: pip install 'faithlib\[book\]'", partition_shap, perturber)
