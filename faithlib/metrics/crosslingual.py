"""Faithfulness across languages (Zaman & Belinkov 2022, Section 3).

A sentence pair and its translation are two inputs that say the same. Scores of the translation are carried over to the
English words along word alignments (`aligned_scores`) and correlated with the scores of the English words themselves
(`crosslingual_rho`). Nothing is erased, so no input is out of distribution. The rest is what the paper compares this
with: random alignments (Figure 7), what its released code makes of ERASER's two metrics (`metrics.erasure`; Tables 3, 9
and 10), and a test of whether translations are similar inputs to the model at all (Figure 6).

Links are pairs (English word, word of the translation), both counted from 0; a pair that is listed twice counts once.
Shape letters: B rows (inputs, or methods on one input), S rationale lengths, F words, R rows in one forward.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from faithlib.errors import InputError, check_counts, check_known
from faithlib.masks import normalise

Links = Iterable[tuple[int, int]]


# --------------------------------------------------------------------------------------------------- along alignments
def link_matrix(links: Links, n_source: int, n_target: int) -> Tensor:
    """Bool [n_source, n_target]: whether English word k is linked with word j. InputError for a word outside a text.

    >>> link_matrix([(0, 1), (1, 0), (0, 1)], 2, 3).int().tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    pairs = torch.tensor(list(links), dtype=torch.long).reshape(-1, 2)
    outside = ((pairs < 0) | (pairs >= torch.tensor([n_source, n_target]))).any(dim=1)
    if outside.any():
        raise InputError(
            f"link {tuple(pairs[outside][0].tolist())}: expected English words 0 to {n_source - 1} and words 0 to "
            f"{n_target - 1} of the translation; were both texts cut into words as for the alignment?"
        )
    matrix = torch.zeros(n_source, n_target, dtype=torch.bool)
    matrix[pairs[:, 0], pairs[:, 1]] = True
    return matrix


def aligned_scores(
    scores: Tensor, links: Links, n_source: int, *, links_by: str = "sum", unaligned: str = "zero"
) -> Tensor:
    """Scores of a translation on the words of the English original (Eq. 3): float [..., n_target] -> [..., n_source].

    Score of English word k = the sum over the words linked with it ("sum", as published) or their mean ("mean": a word
    with many links does not score higher for having them). English words without a link get 0 ("zero", as published:
    they stay in and tie with one another) or NaN ("nan": `crosslingual_rho` leaves them out). Leading dimensions are
    any, so that all methods of a pair go in at once. One value an English word, unbounded, no direction of its own.

    Raises InputError for scores that are not finite or a link outside the texts, UnknownNameError for other options.

    >>> aligned_scores(torch.tensor([0.1, 0.2, 0.7]), [(0, 2), (2, 0), (2, 1)], 3).tolist()
    [0.699999988079071, 0.0, 0.30000001192092896]
    """
    check_known("links_by", links_by, ("sum", "mean"))
    check_known("unaligned", unaligned, ("zero", "nan"))
    if not torch.isfinite(scores).all():
        raise InputError("scores of the translation hold NaN or infinity: expected finite numbers; leave the pair out")
    linked = link_matrix(links, n_source, scores.shape[-1]).to(scores)
    n_links = linked.sum(dim=1)
    # In double precision, so that the order in which links are added never decides between two equal scores.
    total = scores.double() @ linked.double().T
    value = (total / n_links if links_by == "mean" else total).to(scores.dtype)
    return torch.where(n_links > 0, value, 0.0 if unaligned == "zero" else torch.nan)


def crosslingual_rho(english: Tensor, aligned: Tensor, *, keep: Tensor | None = None) -> Tensor:
    """Spearman's rank correlation of each row, equal scores sharing their average rank: [B, F], [B, F] -> [B].

    `english`: the scores of the English words; `aligned`: those of the translation (`aligned_scores`), NaN where a word
    has none and is left out. `keep`, bool [F] or [B, F], leaves further words out, say those that both texts share
    letter by letter. In [-1, 1], higher is better: more of the order is kept in translation. NaN where fewer than two
    words are left or either side is constant on them: callers count these pairs. The paper's rho (Eq. 4) is the mean
    over pairs without the NaN, then over languages.

    Raises InputError where shapes disagree, or a word that is not left out has a score that is not finite.

    >>> crosslingual_rho(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([[0.9, 0.1, 0.2]])).item()
    1.0
    """
    if english.shape != aligned.shape or english.ndim != 2:
        raise InputError(
            f"english {tuple(english.shape)} and aligned {tuple(aligned.shape)}: expected the same shape [B, F] for "
            "both; carry the translation's scores over with aligned_scores first"
        )
    present = ~aligned.isnan()
    if keep is not None:
        if keep.shape not in (english.shape, english.shape[1:]):
            raise InputError(f"keep has shape {tuple(keep.shape)}: expected [F] or [B, F] = {tuple(english.shape)}")
        present &= keep
    # `normalise` gives the average rank up to a linear map, which a correlation does not see.
    # Its mean is 1/2 whatever the scores; taking that instead of a computed mean leaves constants exactly 0.
    ranks = (normalise(side, "rank", present).double() for side in (english, aligned))
    first, second = (torch.where(present, rank - 0.5, 0.0) for rank in ranks)
    spread = (first.square().sum(dim=1) * second.square().sum(dim=1)).sqrt()
    rho = torch.where(spread > 0, ((first * second).sum(dim=1) / spread).clamp(-1, 1), torch.nan)
    return rho.to(torch.promote_types(torch.result_type(english, aligned), torch.float32))


def random_links(
    links: Links, n_source: int, n_target: int, *, keep: str = "number", seed: int | Sequence[int] = 0
) -> list[tuple[int, int]]:
    """Links drawn at random instead of those of a word aligner (Figure 7).

    Always kept: both texts' lengths and the number of links. `keep` says what else is:

    - "number": nothing. Distinct links are drawn from all pairs of words, each set of that size being equally likely.
    - "degrees": how many links every English word has, and how many words of the translation have one link, two and so
      on; only which words these are is drawn again. What correlation is left comes from the number of links alone,
      which the sum of Eq. 3 adds up.

    The paper runs the aligner's search on a random similarity matrix instead, and does not say how many links that
    gives. `seed` may be several numbers, say the run's and the pair's. Raises InputError for a link outside the texts.

    >>> len(random_links([(0, 1), (1, 0), (1, 2)], 4, 3, seed=(0, 17)))
    3
    """
    check_known("keep", keep, ("number", "degrees"))
    generator = np.random.default_rng(seed)
    matrix = link_matrix(links, n_source, n_target).numpy()
    if keep == "degrees":
        drawn = matrix[:, generator.permutation(n_target)]
    else:
        drawn = generator.permutation(matrix.ravel()).reshape(matrix.shape)
    return [(int(source), int(target)) for source, target in np.argwhere(drawn)]


# ------------------------------------------------------------------------------------- a fault of the released code
def first_batch_fault(values: Tensor, batch_size: int = 64, window: int = 6) -> Tensor:
    """What the released erasure code reads instead of the model's answers: [R, ...] -> [R / window, window, ...].

    `values`: the answers (probabilities of all classes, say) to the rows as that code lays them out, every input
    followed by its perturbations, `window` rows per input. Each of its batches holds the first `batch_size` rows of the
    whole list again, so that row r is answered with row r mod `batch_size`; then the list is cut into windows. For six
    rows per input and batches of 64 there are 32 different windows, 11 of which start on an input and 10 of which
    belong to one input from end to end. Right only for a list that fits into one batch. (That code also answers its
    last, shorter batch with a full one, which adds up to ten more windows; they are left out, so that inputs keep their
    windows.)

    Raises InputError where R is not a multiple of `window`.

    >>> first_batch_fault(torch.arange(72))[-2:].tolist()
    [[60, 61, 62, 63, 0, 1], [2, 3, 4, 5, 6, 7]]
    """
    if len(values) % window:
        raise InputError(f"{len(values)} rows: expected a multiple of {window}, every input with its perturbations")
    answered = values[torch.arange(len(values), device=values.device) % batch_size]
    return answered.unflatten(0, (-1, window))


# ------------------------------------------------------------------------------------- are translations similar inputs?
def cka(x: Tensor, y: Tensor) -> Tensor:
    """Linear centred kernel alignment of two sets of representations (Kornblith et al. 2019): [..., n, d1],
    [..., n, d2] -> [...].

    `|Y'X|^2 / (|X'X| |Y'Y|)` with Frobenius norms and columns centred; in [0, 1], 1 where one set is a rotated, scaled
    and shifted copy of the other. Leading dimensions broadcast. NaN where all rows of a set are equal. With fewer rows
    than dimensions it is high for unrelated sets too: compare it, do not read it. Raises InputError where n differs, is
    below 3 (two rows always give 1), or values are not finite.

    >>> round(cka(torch.eye(3), 5 * torch.eye(3) - 1).item(), 4)
    1.0
    """
    if x.ndim < 2 or y.ndim < 2 or x.shape[-2] != y.shape[-2] or x.shape[-2] < 3:
        raise InputError(f"{tuple(x.shape)} and {tuple(y.shape)}: expected [..., n, d] with the same n >= 3 for both")
    (first, first_moves), (second, second_moves) = _gram(x), _gram(y)
    norm = (first.square().sum(dim=(-2, -1)) * second.square().sum(dim=(-2, -1))).sqrt()
    value = ((first * second).sum(dim=(-2, -1)) / norm).clamp(0, 1)
    return torch.where(first_moves & second_moves, value, torch.nan)


def _gram(x: Tensor) -> tuple[Tensor, Tensor]:
    """Inner products of the centred rows, [..., n, n], and whether the rows differ at all, [...]."""
    if not torch.isfinite(x).all():
        raise InputError("representations hold NaN or infinity: expected finite numbers")
    # Scaled first: squares of squares of tiny or huge values would leave the range of floating point.
    scaled = x.double() / x.double().abs().amax(dim=(-2, -1), keepdim=True).clamp(min=torch.finfo(torch.double).tiny)
    centred = scaled - scaled.mean(dim=-2, keepdim=True)
    # Rounding alone can keep the centred rows of a constant set from being 0.
    return centred @ centred.transpose(-2, -1), (x != x[..., :1, :]).flatten(-2).any(dim=-1)


def cka_accuracy(
    english: Tensor, other: Tensor, n: int = 8, k: int = 10, *, shuffle: bool = True, seed: int = 0
) -> Tensor:
    """Whether a batch of translations is recognised by CKA (Appendix C, Figure 6): bool [N // n], one hit or miss a
    batch.

    `english` [N, d], `other` [N, d']: what a model makes of N inputs and of their translations, row by row. Each batch
    of n English rows is compared with its translations and with k batches of n rows drawn at random from `other`; a hit
    where the translations are strictly the most similar. The mean is Figure 6's accuracy, 1 / (k + 1) by chance. Rows
    that do not fill a batch are left over; an undefined CKA is a miss.

    The paper does not say how batches are made. `shuffle` puts the rows in random order first. Without it a batch of
    XNLI holds the three hypotheses of the same few premises while random batches do not, which alone tells them apart.

    Raises InputError where the rows differ in number or do not fill a batch, k is below 1, and as `cka` does.

    >>> rows = torch.randn(80, 5, generator=torch.Generator().manual_seed(0))
    >>> cka_accuracy(rows, -2 * rows).float().mean().item()
    1.0
    """
    if len(english) != len(other) or len(english) < n:
        raise InputError(f"{len(english)} and {len(other)} rows: expected as many translations, and at least n = {n}")
    check_counts(k=k)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(other), generator=generator) if shuffle else torch.arange(len(other))
    hits = []
    for rows in order[: len(order) // n * n].split(n):
        drawn = [torch.randperm(len(other), generator=generator)[:n] for _ in range(k)]
        similarity = cka(english[rows], other[torch.stack([rows, *drawn])])
        hits.append(similarity[0] > similarity[1:].max())
    return torch.stack(hits)
