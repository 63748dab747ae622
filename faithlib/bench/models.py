"""Hand-built models of which the true explanation is known: one adds up its words, one looks for either of two words,
one needs both. `cases` gives each with inputs and the truth.

Shape letters: B inputs, F features, L tokens, D embedding size, R rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from faithlib import counter_rng
from faithlib.inputs import TextInputs

__all__ = ["COPIES", "SHARPNESS", "WORDS", "Case", "WordModel", "cases"]

Rule = Literal["sum", "any", "both"]

WORDS = 40  # of the vocabulary; the first two are what the second and third model look for
COPIES = 16  # dimensions that say the same, so that soft erasure has elements to draw from
SHARPNESS = 6.0
_ROUNDING = 1e-4  # shares of erased words are sums in single precision


class _Encoder(nn.Module):
    """An embedding of words, and nothing else."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.embeddings = _Table(table)

    def forward(self, inputs_embeds: Tensor) -> Tensor:
        embedded: Tensor = self.embeddings(inputs_embeds)
        return embedded


class _Table(nn.Module):
    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(table, freeze=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        embedded: Tensor = self.words(input_ids)
        return embedded


class WordModel(nn.Module):
    """A classifier of two classes with a known rule, shaped like those of Hugging Face.

    An embedding [D] has the word's evidence in `COPIES` dimensions for each of two kinds, and 1 in `COPIES` more, by
    which an erased word can be told. Under attack an erased word is noticed.

    Parameters
    ----------
    evidence : Tensor
        What each word of the vocabulary is evidence for, of either kind, [WORDS, 2].
    rule : {"sum", "any", "both"}
        "sum" adds up the first kind, "any" and "both" look for both kinds.
    misled : float, default 0.0
        For how many logits of class 1 an erased word is evidence, all words together.
    two_faced : bool, default False
        Whether the model answers by its first word alone as soon as a word is erased.
    misreads : tuple[float, float], default (1.0, 1.0)
        The shares of erased words (above the first, up to the second) at which it answers class 0 whatever is left.
    needs_last : bool, default False
        Whether it does so where the last word is erased, unless it adds up its words.
    at_random : float, default 0.0
        The share of erased copies, drawn by which words are erased, at which it does so.

    Examples
    --------
    >>> model = WordModel(torch.tensor([[0.0, 0.0], [2.0, 0.0]]), "sum")
    >>> from faithlib.perturb import Perturber
    >>> inputs = _inputs(torch.tensor([[1, 1]]), torch.tensor([2]))  # two words, each with an evidence of 2
    >>> Perturber(model, inputs).logits_full
    tensor([[-2.,  2.]])
    """

    base_model_prefix = "encoder"

    def __init__(
        self,
        evidence: Tensor,
        rule: Rule,
        *,
        misled: float = 0.0,
        two_faced: bool = False,
        misreads: tuple[float, float] = (1.0, 1.0),
        needs_last: bool = False,
        at_random: float = 0.0,
    ) -> None:
        super().__init__()
        presence = torch.ones(len(evidence), 1)
        table = torch.cat([evidence, presence], dim=1).repeat_interleave(COPIES, dim=1)
        table[0] = 0.0  # padding
        self.encoder = _Encoder(table)
        self.evidence, self.rule, self.misled, self.two_faced = evidence, rule, misled, two_faced
        self.misreads, self.at_random = misreads, at_random
        # Where evidence is added up every word is a reason, so that the last one would be no other word.
        self.needs_last = needs_last and rule != "sum"
        self.config = SimpleNamespace(pad_token_id=0)
        self.eval()

    def forward(
        self, input_ids: Tensor | None = None, attention_mask: Tensor | None = None, inputs_embeds: Tensor | None = None
    ) -> SimpleNamespace:
        """Logits [R, 2]; the embedding module is called with either, so that its output can be replaced."""
        states = self.encoder(inputs_embeds if input_ids is None else input_ids)
        if attention_mask is None:
            attention_mask = torch.ones(states.shape[:2])
        there = attention_mask.to(states)[..., None]
        first, second, present = (states * there).unflatten(2, (3, COPIES)).mean(dim=3).unbind(dim=2)
        if self.rule == "sum":
            evidence = first.sum(dim=1)
        else:
            strongest = torch.stack([first.amax(dim=1), second.amax(dim=1)])
            evidence = strongest.amax(dim=0) if self.rule == "any" else strongest.amin(dim=0)
            evidence = SHARPNESS * (evidence - 0.5)
        erased = 1 - present.sum(dim=1) / there.sum(dim=(1, 2))
        evidence = evidence + self.misled * erased
        if self.two_faced:
            other_face = SHARPNESS * (present[:, 0] - 0.5)
            evidence = torch.where(erased > 0, other_face, evidence)
        low, high = (share + _ROUNDING for share in self.misreads)
        errs = (erased > low) & (erased <= high)
        whole = present > 0.5  # soft erasure leaves a part of a word
        if self.needs_last:
            last = there[..., 0].sum(dim=1).long() - 1
            errs = errs | ~whole.gather(1, last[:, None])[:, 0]
        if self.at_random:
            errs = errs | ((erased > _ROUNDING) & _drawn_by_set(whole, self.at_random))
        evidence = torch.where(errs, -SHARPNESS, evidence)
        return SimpleNamespace(logits=torch.stack([-evidence / 2, evidence / 2], dim=1))


def _drawn_by_set(present: Tensor, share: float) -> Tensor:
    """Which of these sets of words [R, L] belong to a random share of all sets: the same for the same words left."""
    codes = (present.long().cpu() << torch.arange(present.shape[1])).sum(dim=1).numpy().astype(np.uint64)
    nothing = np.zeros(len(codes), dtype=np.int64)
    keys = torch.from_numpy(counter_rng.row_keys(0, codes, nothing, nothing))
    return (counter_rng.uniform(keys, 1, 1)[:, 0, 0] < share).to(present.device)


@dataclass(frozen=True, eq=False)
class Case:
    """A model, inputs that it reads, and the true explanation of what it answers.

    Parameters
    ----------
    name : str
        The model's rule.
    model : WordModel
        The model.
    inputs : TextInputs
        B inputs.
    truth : Tensor
        The true explanation, [B, F].

    Examples
    --------
    >>> both = cases(inputs=1)[2]
    >>> both.truth.sum().item()
    2.0
    """

    name: str
    model: WordModel
    inputs: TextInputs
    truth: Tensor


def cases(inputs: int = 24, seed: int = 0) -> list[Case]:
    """The three models, each with inputs of 5 to 8 words and their true explanation.

    Parameters
    ----------
    inputs : int, default 24
        Of each model.
    seed : int, default 0
        Of the inputs and of the evidence of words.

    Returns
    -------
    list of Case
        Those with the rules "sum", "any" and "both".

    Examples
    --------
    >>> [case.name for case in cases(inputs=2)]
    ['sum', 'any', 'both']
    """
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(5, 9, (inputs,), generator=generator)
    longest = int(sizes.max())
    ids = torch.randint(3, WORDS, (inputs, longest), generator=generator)
    ids = torch.where(torch.arange(longest) < sizes[:, None], ids, 0)
    places = torch.rand(ids.shape, generator=generator).where(ids > 0, 2.0).argsort(dim=1)
    made = []
    rules: tuple[Rule, ...] = ("sum", "any", "both")
    for rule in rules:
        evidence, own = torch.zeros(WORDS, 2), ids.clone()
        if rule == "sum":
            evidence[1:, 0] = torch.randn(WORDS - 1, generator=generator)
            share = evidence[ids, 0]
            truth = share * torch.where(share.sum(dim=1, keepdim=True) > 0, 1.0, -1.0)
        else:
            evidence[1, 0], evidence[2, 1] = 1.0, 1.0
            own.scatter_(1, places[:, :1], 1)
            if rule == "both":
                own.scatter_(1, places[:, 1:2], 2)
            truth = ((own == 1) | (own == 2)).float()
        made.append(Case(rule, WordModel(evidence, rule), _inputs(own, sizes), truth))
    return made


def _inputs(ids: Tensor, sizes: Tensor) -> TextInputs:
    places = torch.arange(ids.shape[1])
    there = places < sizes[:, None]
    not_cut = torch.zeros(len(ids), dtype=torch.bool)
    return TextInputs(ids, there, torch.where(there, places, -1), sizes, not_cut, pad_id=0)
