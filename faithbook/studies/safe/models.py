"""Blocks of inputs with a known truth, and the closed-form models that answer about them.

The models are read by `faithlib.evaluate` like any text classifier, so that the library's own metrics are judged: every
feature is a word whose embedding has `COPIES` equal elements, an erased one has zeros, and the first token, which is
never erased, says which input it is. What a model answers depends on how much of each feature is left, and on nothing
else.

Shape letters: B inputs, F features, R rows, G groups of the truth, E explanations, C classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from faithbook.studies.safe.design import NEVER, declared_plan
from faithlib.errors import unknown
from faithlib.inputs import TextInputs

COPIES = 16
PAD, MASK, WORD, FIRST = 0, 1, 2, 3
BASE, HEIGHT, AGAINST = 0.1, 0.8, 0.2
DISTRACTOR_SCORE = -0.25
OTHERS = (0.75, 0.25)
"""How the probability that the class does not get falls to the two other classes."""
_EDGE = 1e-4
"""Shares of erased features are compared with this much of a feature's slack: they are sums of single precision."""

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Block:
    """Inputs of one truth at one length, of several model seeds.

    - `groups`: bool [B, G, F], the features of each solution (one group, or two of a redundant truth);
    - `weights`: float [B, F], of additive truths, 0 outside; `distractor`, `trigger`: [B], a feature each (-1: none);
    - `codes`: int64 [B, F], by which random errors are drawn; equal for the inputs of a seed;
    - `scores`: float [B, E, F], the explanations; `seed`, `number`: [B], of the model and of the input.
    """

    kind: str
    groups: Bools
    weights: Floats
    distractor: NDArray[np.int64]
    trigger: NDArray[np.int64]
    codes: NDArray[np.int64]
    scores: Floats
    seed: NDArray[np.int64]
    number: NDArray[np.int64]

    @property
    def truth(self) -> Bools:
        """The features of any solution, [B, F]."""
        members: Bools = np.any(self.groups, axis=1)
        return members

    def __len__(self) -> int:
        return len(self.seed)


def drawn_block(
    number: int, kind: str, size: int, *, distractor: bool, length: int, seeds: range, inputs: int
) -> Block:
    """The inputs of a block: everything that is random is drawn from (block, model seed), so that more seeds or more
    inputs leave the others as they are.

    >>> block = drawn_block(0, "redundant", 4, distractor=True, length=12, seeds=range(2), inputs=3)
    >>> block.groups.sum(axis=2)[0].tolist(), block.scores.shape
    ([2, 2], (6, 10, 12))
    """
    if kind not in declared_plan()["truths"]:
        raise unknown("truth", kind, declared_plan()["truths"])
    parts: dict[str, list[NDArray[np.generic]]] = {}
    for seed in seeds:
        of_model = np.random.default_rng([number, seed])
        sizes = of_model.uniform(0.5, 1.5, size)
        codes = of_model.integers(-(2**62), 2**62, length)
        for index in range(inputs):
            drawn = np.random.default_rng([number, seed, index])
            places = drawn.permutation(length)
            members, others = places[:size], places[size:]
            groups = np.zeros((2 if kind == "redundant" else 1, length), dtype=bool)
            for group, its_members in zip(groups, np.split(members, len(groups)), strict=True):
                group[its_members] = True
            weights = np.zeros(length)
            weights[members] = sizes / sizes.sum()
            beside = int(others[1]) if distractor else -1
            of_input = {
                "groups": groups,
                "weights": weights,
                "distractor": np.array(beside),
                "trigger": others[0],
                "codes": codes,
                "scores": _explanations(kind, groups, weights * size, beside, drawn),
                "seed": np.array(seed),
                "number": np.array(index),
            }
            for name, value in of_input.items():
                parts.setdefault(name, []).append(value)
    return Block(kind, **{name: np.stack(values) for name, values in parts.items()})


def _explanations(kind: str, groups: Bools, weights: Floats, distractor: int, drawn: np.random.Generator) -> Floats:
    """The graded explanations of one input, [E, F]: the truth's scores with more and more noise, then noise alone."""
    truth: Bools = np.any(groups, axis=0)
    all_members = weights if kind == "additive" else truth.astype(float)
    single_member = all_members
    if kind == "redundant":
        single_member = groups[drawn.integers(2)].astype(float)
    if kind == "or":
        single_member = np.zeros(len(truth))
        single_member[drawn.choice(np.flatnonzero(truth))] = 1.0
    rows = []
    for rung, size in enumerate(declared_plan()["explanations"]["noise"]):
        noise = drawn.normal(size=len(truth))
        if size == "alone":
            rows.append(noise)
            continue
        base = (all_members, single_member)[rung % 2].copy()
        if distractor >= 0:
            base[distractor] = DISTRACTOR_SCORE
        rows.append(base + size * noise)
    return np.array(rows)


@dataclass(frozen=True)
class Reading:
    """What a model answers about a block's inputs: its erasure, when it errs, and what it then says; p of the class
    without the truth (`base`) and how much the whole truth adds to it (`height`)."""

    block: Block
    erasure: str
    error: str
    whither: str
    base: float = BASE
    height: float = HEIGHT

    def __call__(self, left: Tensor, owner: Tensor) -> Tensor:
        """Probabilities [R, C] of inputs `owner` [R] of which `left` [R, F] is left of each feature, from 0 to 1."""
        p = self._class(left, owner)
        others = torch.tensor(OTHERS, dtype=p.dtype)
        usual = torch.cat([p[:, None], (1 - p)[:, None] * others], dim=1)
        if self.error == NEVER:
            return usual
        wrong = torch.tensor(declared_plan()["whither"][self.whither], dtype=p.dtype)
        return torch.where(self.errs(left, owner)[:, None], wrong, usual)

    def _class(self, left: Tensor, owner: Tensor) -> Tensor:
        """p of the explained class where the model does not err, [R]."""
        declared, block = declared_plan()["erasures"], self.block
        evidence = left
        if self.erasure == "leaky":
            evidence = left + declared["left_when_leaky"] * (1 - left)
        groups = torch.from_numpy(block.groups)[owner]
        if block.kind == "additive":
            share = (evidence * torch.from_numpy(block.weights)[owner].to(left.dtype)).sum(dim=1)
        elif block.kind == "or":
            share = torch.where(groups[:, 0], evidence, 0.0).amax(dim=1)
        else:
            share = torch.where(groups, evidence[:, None], 1.0).amin(dim=2).amax(dim=1)
        p = self.base + self.height * share
        beside = torch.from_numpy(block.distractor)[owner]
        against = evidence.gather(1, beside.clamp(min=0)[:, None])[:, 0]
        # Above zero, for the model answers with the logarithm of p.
        p = torch.where(beside >= 0, p - AGAINST * against, p).clamp(min=0.02)
        erased = 1 - left.mean(dim=1)
        if self.erasure == "drifts away":
            p = p * (1 - declared["drift"] * erased)
        if self.erasure == "drifts toward":
            p = p + declared["drift"] * erased * (1 - p)
        return p

    def errs(self, left: Tensor, owner: Tensor) -> Tensor:
        """Where the model errs, bool [R]."""
        features = left.shape[1]
        gone = (1 - left).sum(dim=1)
        ends = {"light": (0.0, 0.2), "middle": (0.2, 0.5), "heavy": (0.5, 1.0), "third": (1 / 3, 1.0)}
        if self.error in ends:
            # Rounding may put a third of nine features below three, hence the edge.
            low, high = (end * features for end in ends[self.error])
            return (gone > low + _EDGE) & (gone <= high + _EDGE)
        is_gone = left < 0.5
        if self.error == "feature":
            trigger = torch.from_numpy(self.block.trigger)[owner]
            return is_gone.gather(1, trigger[:, None])[:, 0]
        shares = {"random_tenth": 0.1, "random_third": 1 / 3}
        if self.error not in shares:
            raise unknown("error", self.error, [NEVER, *ends, "feature", *shares])
        codes = torch.from_numpy(self.block.codes)[owner]
        # Made of the set that is gone, so that the model answers the same copy the same way each time.
        uniform = _uniform((codes * is_gone).sum(dim=1))
        return (uniform < shares[self.error]) & (gone > _EDGE)


def _uniform(keys: Tensor) -> Tensor:
    """Numbers of [0, 1) for 64-bit keys: a mixing of their bits (splitmix64), in whole numbers that wrap round."""
    for shift, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        keys = (keys ^ (keys >> shift & (1 << (64 - shift)) - 1)) * factor
    keys = keys ^ (keys >> 31 & (1 << 33) - 1)
    return (keys >> 11 & (1 << 53) - 1).double() / 2**53


class _Words(nn.Module):
    """The table of embeddings: [COPIES] of a word's elements, then the number of the input."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        table = torch.zeros(FIRST + inputs, COPIES + 1)
        table[WORD, :COPIES] = 1.0
        table[FIRST:, COPIES] = torch.arange(inputs)
        self.words = nn.Embedding.from_pretrained(table)

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.words(input_ids)


class _Encoder(nn.Module):
    """Embeddings and nothing else."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.embeddings = _Words(inputs)

    def forward(self, inputs_embeds: Tensor) -> Tensor:
        embedded: Tensor = self.embeddings(inputs_embeds)
        return embedded


class GridModel(nn.Module):
    """A classifier shaped like those of Hugging Face, which answers as a `Reading` does."""

    base_model_prefix = "encoder"

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.encoder = _Encoder(len(reading.block))
        self.reading = reading
        self.config = SimpleNamespace(pad_token_id=PAD)
        self.eval()

    def forward(self, inputs_embeds: Tensor, attention_mask: Tensor | None = None) -> SimpleNamespace:
        """Logits [R, C] of embeddings [R, 1 + F, COPIES + 1], or of ids [R, 1 + F]."""
        states = self.encoder(inputs_embeds)
        owner = states[:, 0, COPIES].round().long()
        left = states[:, 1:, :COPIES].mean(dim=2)
        return SimpleNamespace(logits=self.reading(left, owner).log())


def inputs_of_block(block: Block) -> TextInputs:
    """The inputs of a block as the library reads them: one token in front, then a word for each feature."""
    length = block.truth.shape[1]
    ids = torch.full((len(block), 1 + length), WORD)
    ids[:, 0] = FIRST + torch.arange(len(block))
    feature_of = torch.arange(-1, length).expand(len(block), -1).contiguous()
    sizes = torch.full((len(block),), length)
    nothing = torch.zeros(len(block), dtype=torch.bool)
    return TextInputs(ids, torch.ones_like(ids).bool(), feature_of, sizes, nothing, pad_id=PAD, mask_id=MASK)


def some_conditions(block: Block, rows: NDArray[np.int64]) -> Block:
    """Some of a block's inputs."""
    names = ("groups", "weights", "distractor", "trigger", "codes", "scores", "seed", "number")
    return replace(block, **{name: getattr(block, name)[rows] for name in names})
