"""Which word of a translation stands for which word of the original.

An alignment of two texts is a set of links (i, j): word i of the source corresponds to word j of the target. Words are
found in an encoder's hidden states, where a word and its translation lie close together (`mutual_argmax`, or
`softmax_links` of Dou & Neubig 2021), or by counting which words go together in many pairs (`fast_align`, Dyer et al.
2013, which never sees the encoder and so checks it).

Shape letters: W and V words of the source and of the target, K layers, L tokens, D embedding size.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from faithbook.sources.splits import Span
from faithbook.sources.tokenise import Pair, copied_words
from faithbook.studies.crosslingual.gold import Links
from faithlib.errors import FaithlibError, InputError


# -------------------------------------------------------------------------------------------------------------- vectors
def word_vectors(
    model: nn.Module,
    tokenizer: Any,
    texts: Sequence[str],
    words: Sequence[Sequence[Span]],
    *,
    layers: Sequence[int] | None = None,
    batch_size: int = 32,
) -> list[Tensor]:
    """One tensor [K, W, D] per text: the mean hidden state of each word's pieces in the chosen layers of an encoder.

    `words` are character spans (`split_words`); `tokenizer` is a fast Hugging Face tokenizer. Layer 0 is the embedding
    output, the last is `num_hidden_layers`; None takes all. A piece belongs to every word it shares a character with,
    so that two words written as one piece both have its vector. A word without a piece (the tokenizer drops some
    control characters) has the zero vector. Padding and batches change nothing but the last digits.

    Raises InputError: a model in training mode, a layer that does not exist, spans outside their text, or a text of
    more tokens than the model takes.
    """
    chosen = _layers(model, layers)
    if model.training:
        raise InputError("the model is in training mode: call model.eval() first, dropout makes vectors random")
    if len(texts) != len(words):
        raise InputError(f"{len(words)} lists of words for {len(texts)} texts: expected one a text")
    for i, (text, spans) in enumerate(zip(texts, words, strict=True)):
        for start, end in spans:
            if not 0 <= start < end <= len(text):
                raise InputError(
                    f"text {i} has {len(text)} characters and no word {(start, end)}: expected 0 <= start < end"
                )
    by_text: dict[int, Tensor] = {}
    # Texts of like length go together, so that little of a batch is padding.
    by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(texts), batch_size):
        batch = by_length[start : start + batch_size]
        hidden, offsets = _hidden_states(model, tokenizer, [texts[i] for i in batch], chosen)
        for row, i in enumerate(batch):
            by_text[i] = _pooling(offsets[row], words[i]).to(hidden) @ hidden[:, row]
    return [by_text[i] for i in range(len(texts))]


def _layers(model: Any, layers: Sequence[int] | None) -> list[int]:
    """The layers that were asked for; all of the model where none were."""
    last = model.config.num_hidden_layers
    if layers is None:
        return list(range(last + 1))
    for layer in layers:
        if not 0 <= layer <= last:
            raise InputError(f"layer {layer}: the model has 0 (embeddings) to {last}")
    return list(layers)


@torch.inference_mode()
def _hidden_states(model: Any, tokenizer: Any, texts: list[str], layers: list[int]) -> tuple[Tensor, Tensor]:
    """Hidden states [K, R, L, D] of texts and the characters [R, L, 2] of their tokens; special tokens cover none."""
    batch = tokenizer(texts, padding=True, padding_side="right", return_offsets_mapping=True, return_tensors="pt")
    offsets = batch.pop("offset_mapping")
    limit = min(model.config.max_position_embeddings, tokenizer.model_max_length)
    if offsets.shape[1] > limit:
        raise InputError(f"a text has {offsets.shape[1]} tokens and the model takes {limit}: shorten {texts[-1]!r}")
    states = model(**batch.to(model.device), output_hidden_states=True).hidden_states
    return torch.stack([states[layer] for layer in layers]), offsets


def _pooling(offsets: Tensor, words: Sequence[Span]) -> Tensor:
    """The weights [W, L] that take tokens at character `offsets` [L, 2] to the means of words."""
    spans = torch.tensor(words, dtype=torch.long).reshape(-1, 2)
    shared = torch.minimum(spans[:, None, 1], offsets[:, 1]) - torch.maximum(spans[:, None, 0], offsets[:, 0])
    overlap = (shared > 0).float()
    return overlap / overlap.sum(dim=1, keepdim=True).clamp(min=1)


# ---------------------------------------------------------------------------------------------------------------- links
# Cosines that differ by less come from rounding: the words are as good as each other.
_TIE = 1e-6


def mutual_argmax(source: Tensor, target: Tensor) -> Links:
    """Links (i, j) of words that are each other's nearest: j has the largest cosine with i, and i with j.

    `source` [W, D], `target` [V, D]. Of words that tie (cosines within 1e-6 of the largest) all are linked, so that no
    order of words matters. Zero vectors are never linked. Every other link is the only one of its two words: where
    people link one word to several, recall stays below 1.

    Raises InputError for NaN, infinite values or other shapes.

    >>> sorted(mutual_argmax(torch.eye(3), torch.eye(3)[[1, 0]]))
    [(0, 1), (1, 0)]
    """
    there = _there(source, target)
    if not there.any():
        return frozenset()
    normal = nn.functional.normalize
    cosine = (normal(source, dim=1) @ normal(target, dim=1).T).masked_fill(~there, -torch.inf)
    nearest = (cosine >= cosine.amax(1, keepdim=True) - _TIE) & (cosine >= cosine.amax(0, keepdim=True) - _TIE)
    return _links(nearest & there)


def softmax_links(source: Tensor, target: Tensor, *, threshold: float = 1e-3) -> Links:
    """The links of awesome-align (Dou & Neubig 2021, probability thresholding): both softmaxes above a threshold.

    A = (softmax over j of S > c) and (softmax over i of S > c), with S_ij = source_i . target_j and c = `threshold`.
    `source` [W, D], `target` [V, D]; the paper takes c = 0.001 and wordpieces of layer 8 of multilingual BERT, and
    links words of which any pieces are linked; here vectors are those of words. S is not normalised: the rule depends
    on the length of the vectors. Zero vectors are never linked. A word may have several links.

    Raises InputError for NaN, infinite values, other shapes or a threshold outside (0, 1).
    """
    if not 0 < threshold < 1:
        raise InputError(f"threshold {threshold}: expected a probability between 0 and 1")
    there = _there(source, target)
    if not there.any():
        return frozenset()
    similarity = (source @ target.T).masked_fill(~there, -torch.inf)
    # The softmax of a row without any word is NaN and above nothing.
    return _links((similarity.softmax(dim=1) > threshold) & (similarity.softmax(dim=0) > threshold) & there)


LINK_RULES = {"softmax": softmax_links, "mutual argmax": mutual_argmax}
"""The rules by the names that profiles give them."""


def _there(source: Tensor, target: Tensor) -> Tensor:
    """True where neither word has the zero vector [W, V]."""
    if source.ndim != 2 or target.ndim != 2 or source.shape[1] != target.shape[1]:
        raise InputError(
            f"vectors have shapes {tuple(source.shape)} and {tuple(target.shape)}: expected [W, D], [V, D]"
        )
    if not (torch.isfinite(source).all() and torch.isfinite(target).all()):
        raise InputError("vectors hold NaN or infinite values: there is no nearest word")
    return (source != 0).any(dim=1)[:, None] & (target != 0).any(dim=1)


def _links(linked: Tensor) -> Links:
    """The pairs of words at which bool [W, V] is true."""
    return frozenset((i, j) for i, j in linked.nonzero().tolist())


# Pairs whose vectors of all layers are held at a time: about 250 MB for twelve layers of 384.
_PAIRS_AT_A_TIME = 256


def encoder_links(
    model: nn.Module,
    tokenizer: Any,
    pairs: Sequence[Pair],
    *,
    layers: Sequence[int] | None = None,
    link: Callable[[Tensor, Tensor], Links] = mutual_argmax,
) -> dict[int, tuple[Links, ...]]:
    """For each of the chosen layers (None: all), the links of each pair, by `link` between `word_vectors`."""
    chosen = _layers(model, layers)
    by_layer: dict[int, list[Links]] = {layer: [] for layer in chosen}
    for start in range(0, len(pairs), _PAIRS_AT_A_TIME):
        some = pairs[start : start + _PAIRS_AT_A_TIME]
        # Sources and targets together fill the batches better.
        texts = [pair.source for pair in some] + [pair.target for pair in some]
        words = [pair.source_words for pair in some] + [pair.target_words for pair in some]
        vectors = word_vectors(model, tokenizer, texts, words, layers=chosen)
        sources, targets = vectors[: len(some)], vectors[len(some) :]
        for source, target in zip(sources, targets, strict=True):
            for k, layer in enumerate(chosen):
                by_layer[layer].append(link(source[k], target[k]))
    return {layer: tuple(links) for layer, links in by_layer.items()}


# ------------------------------------------------------------------------------------------------- what a model reads
def between_features(
    links: Links, feature_of_word: Sequence[int], feature_of_word_there: Sequence[int]
) -> list[tuple[int, int]]:
    """Links between words as links between the features that these words belong to (-1: none), each once, in order.

    Where a tokenizer writes two words as one piece they are one feature (`TextInputs.feature_of_word`).

    >>> between_features({(0, 1), (1, 1), (2, 0)}, [0, 0, -1], [0, 1])
    [(0, 1)]
    """
    between = set()
    for i, j in links:
        feature, other = feature_of_word[i], feature_of_word_there[j]
        if feature >= 0 and other >= 0:
            between.add((feature, other))
    return sorted(between)


def copied_features(pair: Pair, feature_of_word: Sequence[int], n_features: int) -> Tensor:
    """Whether all words of a feature of the source are copied (`copied_words`), bool [F]."""
    copied = torch.ones(n_features, dtype=torch.bool)
    for feature, same in zip(feature_of_word, copied_words(*pair.strings), strict=True):
        if feature >= 0 and not same:
            copied[feature] = False
    return copied


def has_fast_align() -> bool:
    """Whether the package behind `fast_align` is installed: it has wheels for Python 3.11 on Linux (x86-64) alone."""
    return find_spec("systran_align") is not None


def fast_align(pairs: Sequence[Pair]) -> tuple[Links, ...]:
    """The links of each pair by fast_align (Dyer et al. 2013): word translation probabilities, learnt from these pairs.

    IBM model 2 with a preference for the diagonal, its strength optimised, and variational Bayes (the authors' -d -o
    -v), forward and backward, symmetrised by grow-diag-final-and: all of it by the package systran-align. Words are
    casefolded. One thread, so that the same pairs always give the same links. It needs thousands of pairs to be good.

    Raises InputError for no pairs or a pair without words on one side, FaithlibError where systran-align is not
    installed.
    """
    try:
        import systran_align
    except ImportError as error:
        raise FaithlibError(
            "fast_align needs the package systran-align==3.5.0, which comes only for Python 3.11 and Linux on "
            f"x86-64: there, install requirements.lock; elsewhere do without this check ({error})"
        ) from error
    if not pairs:
        raise InputError("no pairs: fast_align learns from the pairs it aligns")
    sources, targets, lines = [], [], []
    for i, pair in enumerate(pairs):
        source, target = ([word.casefold() for word in side] for side in pair.strings)
        if not source or not target:
            raise InputError(f"pair {i} has a side without words: leave it out")
        sources.append(source)
        targets.append(target)
        lines.append(f"{' '.join(source)} ||| {' '.join(target)}\n")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(limits=1, user_api="openmp"):
        text, forward, backward = f"{folder}/text", f"{folder}/forward", f"{folder}/backward"
        Path(text).write_text("".join(lines), encoding="utf-8")
        systran_align.generate_alignment_probabilities(
            text, forward, backward, favor_diagonal=True, optimize_tension=True, variational_bayes=True
        )
        alignments = systran_align.Aligner(forward, backward).align_batch(sources, targets)
    return tuple(frozenset(alignment["alignments"]) for alignment in alignments)
