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

__all__ = [
    "Links",
    "aligned_scores",
    "cka",
    "cka_accuracy",
    "crosslingual_rho",
    "first_batch_fault",
    "link_matrix",
    "random_links",
]

Links = Iterable[tuple[int, int]]


# --------------------------------------------------------------------------------------------------- along alignments
def link_matrix(links: Links, n_source: int, n_target: int) -> Tensor:
    """Which English word is linked with which word of the translation.

    Parameters
    ----------
    links : Links
        Pairs (English word, word of the translation), both counted from 0.
    n_source : int
        Number of English words.
    n_target : int
        Number of words of the translation.

    Returns
    -------
    Tensor
        bool [n_source, n_target].

    Raises
    ------
    InputError
        For a word outside a text.

    Examples
    --------
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
    """Scores of a translation on the words of the English original (Zaman & Belinkov 2022, Eq. 3).

    The score of English word k is the sum (or the mean) over the words that are linked with it.

    Parameters
    ----------
    scores : Tensor
        Scores of the translation's words, [..., n_target]. Leading dimensions are any, so that all methods of a pair go
        in at once.
    links : Links
        Pairs (English word, word of the translation), both counted from 0.
    n_source : int
        Number of English words.
    links_by : {"sum", "mean"}, default "sum"
        "sum" as published; "mean": a word with many links does not score higher for having them.
    unaligned : {"zero", "nan"}, default "zero"
        English words without a link get 0 ("zero", as published: they stay in and tie with one another) or NaN ("nan":
        `crosslingual_rho` leaves them out).

    Returns
    -------
    Tensor
        One value an English word, float [..., n_source], unbounded, no direction of its own.

    Raises
    ------
    InputError
        For scores that are not finite or a link outside the texts.
    UnknownNameError
        For other options.

    Examples
    --------
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
    """Spearman's rank correlation of the scores of English words and of their translation.

    Eq. 4 of Zaman & Belinkov 2022; equal scores share their average rank.

    Parameters
    ----------
    english : Tensor
        The scores of the English words, [B, F].
    aligned : Tensor
        Those of the translation (`aligned_scores`), [B, F]; NaN where a word has none and is left out.
    keep : Tensor, optional
        Which words are left in, bool [F] or [B, F]; False for those that both texts share letter by letter, say.
        Default: all.

    Returns
    -------
    Tensor
        One correlation a row, [B], in [-1, 1]; higher is better: more of the order is kept in translation. NaN where
        fewer than two words are left or either side is constant on them: callers count these pairs.

    Raises
    ------
    InputError
        Where shapes disagree, or a word that is not left out has a score that is not finite.

    Notes
    -----
    The paper's rho is the mean over pairs without the NaN, then over languages.

    Examples
    --------
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
    """Links drawn at random instead of those of a word aligner (Zaman & Belinkov 2022, Figure 7).

    Parameters
    ----------
    links : Links
        Pairs (English word, word of the translation), both counted from 0. Their number and both texts' lengths are
        always kept.
    n_source : int
        Number of English words.
    n_target : int
        Number of words of the translation.
    keep : {"number", "degrees"}, default "number"
        What else is kept. "number": nothing; distinct links are drawn from all pairs of words, each set of that size
        being equally likely. "degrees": how many links every English word has, and how many words of the translation
        have one link, two and so on; only which words these are is drawn again. What correlation is left comes from the
        number of links alone, which the sum of Eq. 3 adds up.
    seed : int | Sequence[int], default 0
        May be several numbers, say the run's and the pair's.

    Returns
    -------
    list of tuple of int
        As many links as were given, a pair that is listed twice counted once.

    Raises
    ------
    InputError
        For a link outside the texts.
    UnknownNameError
        For another `keep`.

    Notes
    -----
    The paper runs the aligner's search on a random similarity matrix instead, and does not say how many links that
    gives.

    Examples
    --------
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
    """What the released erasure code reads instead of the model's answers.

    Parameters
    ----------
    values : Tensor
        The answers (probabilities of all classes, say) to the rows as that code lays them out, every input followed by
        its perturbations, [R, ...].
    batch_size : int, default 64
        Rows in each of that code's batches.
    window : int, default 6
        Rows per input: the input itself and its perturbations.

    Returns
    -------
    Tensor
        The answers that the code reads, [R / window, window, ...].

    Raises
    ------
    InputError
        Where R is not a multiple of `window`.

    Notes
    -----
    Each of its batches holds the first `batch_size` rows of the whole list again, so that row r is answered with row r
    mod `batch_size`; then the list is cut into windows. For six rows per input and batches of 64 there are 32 different
    windows, 11 of which start on an input and 10 of which belong to one input from end to end. Right only for a list
    that fits into one batch. (That code also answers its last, shorter batch with a full one, which adds up to ten more
    windows; they are left out, so that inputs keep their windows.)

    Examples
    --------
    >>> first_batch_fault(torch.arange(72))[-2:].tolist()
    [[60, 61, 62, 63, 0, 1], [2, 3, 4, 5, 6, 7]]
    """
    if len(values) % window:
        raise InputError(f"{len(values)} rows: expected a multiple of {window}, every input with its perturbations")
    answered = values[torch.arange(len(values), device=values.device) % batch_size]
    windows: Tensor = answered.unflatten(0, (-1, window))
    return windows


# ------------------------------------------------------------------------------------- are translations similar inputs?
def cka(x: Tensor, y: Tensor) -> Tensor:
    """Linear centred kernel alignment (CKA) of two sets of representations (Kornblith et al. 2019).

    `|Y'X|^2 / (|X'X| |Y'Y|)` with Frobenius norms and columns centred.

    Parameters
    ----------
    x : Tensor
        n representations of d1 numbers, [..., n, d1]. Leading dimensions broadcast.
    y : Tensor
        Those of the same n inputs in other numbers, [..., n, d2].

    Returns
    -------
    Tensor
        [...], in [0, 1]: 1 where one set is a rotated, scaled and shifted copy of the other. NaN where all rows of a
        set are equal.

    Raises
    ------
    InputError
        Where n differs, is below 3 (two rows always give 1), or values are not finite.

    Notes
    -----
    With fewer rows than dimensions it is high for unrelated sets too: compare it, do not read it.

    Examples
    --------
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
    """Whether a batch of translations is recognised by CKA (Zaman & Belinkov 2022, Appendix C, Figure 6).

    Each batch of n English rows is compared with its translations and with k batches of n rows drawn at random from
    `other`; a hit where the translations are strictly the most similar.

    Parameters
    ----------
    english : Tensor
        What a model makes of N inputs, row by row, [N, d].
    other : Tensor
        What it makes of their translations, [N, d'].
    n : int, default 8
        Rows in a batch, at least 3 and at most N. Rows that do not fill a batch are left over.
    k : int, default 10
        Random batches that each one is compared with, at least 1.
    shuffle : bool, default True
        Whether the rows are put in random order first.
    seed : int, default 0
        Of the order and of the random batches.

    Returns
    -------
    Tensor
        bool [N // n], one hit or miss a batch; an undefined CKA is a miss. The mean is Figure 6's accuracy, higher
        where translations are more similar inputs, 1 / (k + 1) by chance.

    Raises
    ------
    InputError
        Where the rows differ in number or do not fill a batch, k is below 1, and as `cka` does.

    Notes
    -----
    The paper does not say how batches are made. Without `shuffle` a batch of XNLI holds the three hypotheses of the
    same few premises while random batches do not, which alone tells them apart.

    Examples
    --------
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
