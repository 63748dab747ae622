"""What may make a metric prefer a false explanation to the true one: false scores (decoys), and models that err on
erased inputs.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from faithlib._draws import drawn
from faithlib.bench.models import SHARPNESS, WordModel
from faithlib.evaluation import shuffled
from faithlib.inputs import TextInputs

__all__ = ["ATTACKS", "Attack", "random_scores"]


def random_scores(truth: Tensor, inputs: TextInputs, seed: int) -> Tensor:
    """Scores that know nothing.

    Parameters
    ----------
    truth : Tensor
        The true scores, [B, F], which are not looked at.
    inputs : TextInputs
        Those that are explained.
    seed : int
        Scores are drawn from (seed, content of the input).

    Returns
    -------
    Tensor
        [B, F], in [0, 1], 0 beyond an input's features.

    Examples
    --------
    >>> from faithlib.bench import cases

    >>> any_word = cases(inputs=1)[1]
    >>> random_scores(any_word.truth, any_word.inputs, 0).shape == any_word.truth.shape
    True
    """
    draws = drawn(inputs.keys(), inputs.n_features.tolist(), 1, seed)[:, 0]
    return torch.where(inputs.feature_mask, draws, 0.0)


def _moved(truth: Tensor, inputs: TextInputs, seed: int) -> Tensor:
    return shuffled(truth, inputs, seed=seed)


def _high(truth: Tensor, inputs: TextInputs, seed: int) -> Tensor:
    """Random scores most of which are close to the highest, so that soft erasure keeps most of an input."""
    return torch.where(inputs.feature_mask, 1 - random_scores(truth, inputs, seed) ** 4, 0.0)


def _misled(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, misled=SHARPNESS)


def _two_faced(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, two_faced=True)


def _light(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, misreads=(0.0, 0.2))


def _heavy(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, misreads=(0.5, 1.0))


def _one_other(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, needs_last=True)


def _random_errors(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, at_random=1 / 3)


@dataclass(frozen=True, eq=False)
class Attack:
    """Something that may make a metric prefer a false explanation; `bench` takes a list with more of your own.

    Parameters
    ----------
    name : str
        In the names of columns.
    says : str
        What is done, in a line.
    decoy : Callable[[Tensor, TextInputs, int], Tensor], default random_scores
        False scores [B, F], made of the true ones, the inputs and a seed, which a metric has to tell from the truth.
        Default: `random_scores`.
    model : Callable[[WordModel], nn.Module], optional
        The model under attack, made of the plain one: it has to answer whole inputs as that does, so that the truth
        stays true. Default: the plain one.

    Examples
    --------
    >>> [attack.name for attack in ATTACKS]
    ['same scores', 'high scores', 'misled', 'two-faced', 'light', 'heavy', 'one other feature', 'random errors']
    """

    name: str
    says: str
    decoy: Callable[[Tensor, TextInputs, int], Tensor] = random_scores
    model: Callable[[WordModel], nn.Module] | None = None


ATTACKS = (
    Attack("same scores", "the true scores, each at another word", decoy=_moved),
    Attack("high scores", "random scores most of which are high, which soft erasure keeps", decoy=_high),
    Attack("misled", "the model takes every erased word for evidence of one class", model=_misled),
    Attack("two-faced", "as soon as a word is erased, the model answers by its first word alone", model=_two_faced),
    Attack("light", "where up to a fifth of the words is erased, the model answers one class", model=_light),
    Attack("heavy", "where more than half of the words is erased, the model answers one class", model=_heavy),
    Attack(
        "one other feature",
        "where the last word is erased, the model answers one class; not so the adding model, for which it is a reason",
        model=_one_other,
    ),
    Attack("random errors", "at a random third of all erased copies the model answers one class", model=_random_errors),
)
"""Today's attacks."""
