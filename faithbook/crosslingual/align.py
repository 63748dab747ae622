"""Which word of a translation stands for which word of the original, and how well that was found.

An alignment of two texts is a set of links (i, j): word i of the source corresponds to word j of the target. Words are
found in an encoder's hidden states, where a word and its translation lie close together (`mutual_argmax`, or
`softmax_links` of Dou & Neubig 2021), or by counting which words go together in many pairs (`fast_align`, Dyer et al.
2013, which never sees the encoder and so checks it). Alignments made by people (`load_gold`) say how good either is and
which layer of the encoder to take: the layer is chosen by them and never by the results of a study.

Shape letters: W and V words of the source and of the target, K layers, L tokens, D embedding size.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from faithbook.results.resampling import Interval, resample_means
from faithbook.sources.data import data_folder, fetch, read_member, stable_hash
from faithbook.sources.zhao_aletras_sets import read_text
from faithlib.errors import DataError, FaithlibError, InputError, unknown
from faithlib.inputs import Span

Link = tuple[int, int]
Links = frozenset[Link]

# ---------------------------------------------------------------------------------------------------------------- words
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Accents written apart from their letter, soft hyphens, joiners and variation selectors belong to what stands before.
_MARKS = "[\u00ad\u0300-\u036f\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]*"
_RUN = rf"(?:[^\W{_HAN}]{_MARKS})+"
_PLACEHOLDER = r"\{[^{}\s]+\}"
_WORD = re.compile(rf"{_PLACEHOLDER}|{_RUN}(?:['’‐‑-]{_RUN})*|\S{_MARKS}")


def split_words(text: str) -> tuple[Span, ...]:
    """The words of a text in any of the book's languages, as character spans (start, end) in order.

    A word is a run of letters, digits and underscores with the apostrophes and hyphens inside it, or a placeholder like
    `{name}`; every Chinese character is a word, and so is every other mark. Each character that is no white space lies
    in exactly one word.

    >>> text = "L'appareil {name} n'est-il pas prêt ? 设备"
    >>> words_of(text, split_words(text))
    ("L'appareil", '{name}', "n'est-il", 'pas', 'prêt', '?', '设', '备')
    """
    return tuple(match.span() for match in _WORD.finditer(text))


def words_of(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    """The strings at character spans."""
    return tuple(text[start:end] for start, end in spans)


def is_copied(word: str) -> bool:
    """Whether a translation copies the word as it is: a placeholder, or a word without letters (marks, numbers).

    >>> [is_copied(word) for word in ("{name}", "2024", "?", "name", "5G")]
    [True, True, True, False, False]
    """
    return bool(re.fullmatch(_PLACEHOLDER, word)) or not any(character.isalpha() for character in word)


def copied_words(words: Sequence[str], other: Sequence[str]) -> tuple[bool, ...]:
    """For each word, whether it is copied (`is_copied`) or stands, but for case, in the other language's text too.

    The latter finds names; it also finds cognates that are spelt alike ("System").

    >>> copied_words(["Open", "Spotify", "!"], ["Spotify", "öffnen", "!"])
    (False, True, True)
    """
    there = {word.casefold() for word in other}
    return tuple(is_copied(word) or word.casefold() in there for word in words)


@dataclass(frozen=True)
class Pair:
    """A text and its translation, each with the character spans of its words."""

    source: str
    source_words: tuple[Span, ...]
    target: str
    target_words: tuple[Span, ...]

    @classmethod
    def from_texts(cls, source: str, target: str) -> Pair:
        """The pair with the words of `split_words`."""
        return cls(source, split_words(source), target, split_words(target))

    @property
    def strings(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words of both sides."""
        return words_of(self.source, self.source_words), words_of(self.target, self.target_words)


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
    """One tensor [K, W, D] a text: the mean hidden state of each word's pieces in the chosen layers of an encoder.

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
        if bad := [span for span in spans if not 0 <= span[0] < span[1] <= len(text)]:
            raise InputError(f"text {i} has {len(text)} characters and no word {bad[0]}: expected 0 <= start < end")
    found: dict[int, Tensor] = {}
    by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(texts), batch_size):
        rows = by_length[start : start + batch_size]
        hidden, offsets = _hidden_states(model, tokenizer, [texts[i] for i in rows], chosen)
        for row, i in enumerate(rows):
            found[i] = _pooling(offsets[row], words[i]).to(hidden) @ hidden[:, row]
    return [found[i] for i in range(len(texts))]


def _layers(model: Any, layers: Sequence[int] | None) -> list[int]:
    last = model.config.num_hidden_layers
    if bad := [layer for layer in layers or () if not 0 <= layer <= last]:
        raise InputError(f"layer {bad[0]}: the model has 0 (embeddings) to {last}")
    return list(range(last + 1)) if layers is None else list(layers)


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
    batch_size: int = 32,
) -> dict[int, tuple[Links, ...]]:
    """For each of the chosen layers (None: all), the links of each pair, by `link` between `word_vectors`."""
    chosen = _layers(model, layers)
    found: dict[int, list[Links]] = {layer: [] for layer in chosen}
    for start in range(0, len(pairs), _PAIRS_AT_A_TIME):
        some = pairs[start : start + _PAIRS_AT_A_TIME]
        texts = [pair.source for pair in some] + [pair.target for pair in some]
        words = [pair.source_words for pair in some] + [pair.target_words for pair in some]
        vectors = word_vectors(model, tokenizer, texts, words, layers=chosen, batch_size=batch_size)
        for source, target in zip(vectors[: len(some)], vectors[len(some) :], strict=True):
            for k, layer in enumerate(chosen):
                found[layer].append(link(source[k], target[k]))
    return {layer: tuple(links) for layer, links in found.items()}


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
            "fast_align needs the package systran-align==3.5.0, which comes only for Linux on x86-64: there, install "
            f"requirements.lock; elsewhere do without this check ({error})"
        ) from error
    words = [tuple([word.casefold() for word in side] for side in pair.strings) for pair in pairs]
    if empty := [i for i, sides in enumerate(words) if not all(sides)]:
        raise InputError(f"pair {empty[0]} has a side without words: leave it out")
    if not words:
        raise InputError("no pairs: fast_align learns from the pairs it aligns")
    sources, targets = [source for source, _ in words], [target for _, target in words]
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(limits=1, user_api="openmp"):
        text, forward, backward = (f"{folder}/{name}" for name in ("text", "forward", "backward"))
        lines = (f"{' '.join(source)} ||| {' '.join(target)}\n" for source, target in words)
        Path(text).write_text("".join(lines), encoding="utf-8")
        systran_align.generate_alignment_probabilities(
            text, forward, backward, favor_diagonal=True, optimize_tension=True, variational_bayes=True
        )
        found = systran_align.Aligner(forward, backward).align_batch(sources, targets)
    return tuple(frozenset(one["alignments"]) for one in found)


# --------------------------------------------------------------------------------------------------------------- scores
@dataclass(frozen=True)
class AlignmentScores:
    """Agreement with links made by people, each in [0, 1]; `precision`, `recall`, `f1`: higher is better, `aer`: lower.

    NaN where a denominator is zero.
    """

    precision: float
    recall: float
    f1: float
    aer: float


def alignment_scores(
    found: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> AlignmentScores:
    """Scores of a corpus (Och & Ney 2003, Section 5), one set of links a sentence pair, counts summed over all pairs.

    With A the links `found`, S the `sure` and P the `possible` ones (S lies in P; None: P = S):
    precision = |A & P| / |A|, recall = |A & S| / |S|, AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), and F1 is the
    harmonic mean of precision and recall (1 - AER where P = S; 0 where one of the two is).

    Raises InputError for numbers of sentences that differ, none, or a sure link that is not possible.

    >>> alignment_scores([{(0, 0), (1, 1)}], [{(0, 0), (1, 2)}])
    AlignmentScores(precision=0.5, recall=0.5, f1=0.5, aer=0.5)
    """
    total = {name: float(values.sum()) for name, values in _counts(found, sure, possible).items()}
    return AlignmentScores(**{name: float(value) for name, value in _scores(total).items()})


def score_intervals(
    found: Sequence[Links],
    sure: Sequence[Links],
    possible: Sequence[Links] | None = None,
    *,
    n_resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Interval]:
    """`alignment_scores` by name, each with its 95 % percentile bootstrap interval over sentence pairs.

    Sentences are drawn with all their counts: a score of a resample is the ratio of that resample's sums. Raises what
    `alignment_scores` raises.
    """
    counts = pd.DataFrame(_counts(found, sure, possible)).rename_axis("sentence").reset_index()
    long = counts.melt("sentence", var_name="count", value_name="value")
    drawn = resample_means(long, value="value", unit="sentence", cells=["count"], n_resamples=n_resamples, seed=seed)

    def score(name: str) -> Callable[[pd.DataFrame], pd.Series]:
        return lambda means: pd.Series(_scores({str(column): means[column].to_numpy() for column in means})[name])

    return {name: drawn.interval(score(name)) for name in AlignmentScores.__annotations__}


def _counts(
    found: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None
) -> dict[str, np.ndarray[Any, Any]]:
    """|A|, |S|, |A & S| and |A & P| of each sentence."""
    possible = sure if possible is None else possible
    if not len(found) == len(sure) == len(possible) or not len(found):
        raise InputError(
            f"links of {len(found)}, {len(sure)} and {len(possible)} sentences (found, sure, possible): expected one "
            "set of links a sentence in each, and at least one"
        )
    if odd := [i for i, (s, p) in enumerate(zip(sure, possible, strict=True)) if not s <= p]:
        raise InputError(f"sentence {odd[0]} has sure links that are not possible: every sure link is a possible one")
    rows = [(len(a), len(s), len(a & s), len(a & p)) for a, s, p in zip(found, sure, possible, strict=True)]
    return dict(zip(("found", "sure", "sure_hits", "possible_hits"), np.array(rows, dtype=float).T, strict=True))


def _scores(count: Mapping[str, Any]) -> dict[str, Any]:
    """The formulas, on counts or on means of counts, one number or an array of each."""
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.divide(count["possible_hits"], count["found"])
        recall = np.divide(count["sure_hits"], count["sure"])
        f1 = np.divide(2, np.divide(1, precision) + np.divide(1, recall))
        aer = 1 - np.divide(count["sure_hits"] + count["possible_hits"], count["found"] + count["sure"])
    return {"precision": precision, "recall": recall, "f1": f1, "aer": aer}


def layer_scores(
    model: nn.Module,
    tokenizer: Any,
    gold: Sequence[Gold],
    *,
    layers: Sequence[int] | None = None,
    link: Callable[[Tensor, Tensor], Links] = mutual_argmax,
    batch_size: int = 32,
) -> dict[int, AlignmentScores]:
    """`alignment_scores` of each of the chosen encoder layers (None: all) against links made by people."""
    sure, possible = [pair.sure for pair in gold], [pair.possible for pair in gold]
    found = encoder_links(model, tokenizer, gold, layers=layers, link=link, batch_size=batch_size)
    return {layer: alignment_scores(links, sure, possible) for layer, links in found.items()}


def choose_layer(scores: Mapping[int, AlignmentScores]) -> int:
    """The layer with the lowest alignment error rate, of several the lowest; one without an AER is never chosen.

    Raises InputError where no layer has one.
    """
    rated = {layer: score.aer for layer, score in scores.items() if not np.isnan(score.aer)}
    if not rated:
        raise InputError("no layer has an alignment error rate: give gold with links")
    return min(rated, key=lambda layer: (rated[layer], layer))


# ----------------------------------------------------------------------------------------------------------------- gold
@dataclass(frozen=True)
class Gold(Pair):
    """A pair of sentences that people aligned. Every `sure` link is `possible`; where people made no difference all
    links are sure."""

    id: str
    sure: Links
    possible: Links


def load_gold(name: str, n: int | None = None, *, seed: int = 0) -> tuple[Gold, ...]:
    """Word alignments made by people, or a fixed random sample of `n` sentences of them.

    - "bible": Greek-English verses of the New Testament, which need only the package registries. The Greek is ancient,
      here in modern spelling (`monotonic`). The English marks that the annotators set aside stay in the text and are
      no words. Verses aligned across their borders are left out.
    - "rwth": German-English sentences of Europarl, with sure and possible links; "xlwa": English-Bulgarian sentences of
      the XL-WA test set. Both are read from files in FAITHLIB_DATA that you get yourself (`data/sources.toml`).

    A larger `n` keeps the sentences of a smaller one with the same `seed`. Raises UnknownNameError for another name,
    InputError for n < 1, DataError where a file is missing or a row of it cannot be understood.
    """
    if name not in _GOLD:
        raise unknown("gold alignment", name, _GOLD)
    if n is not None and n < 1:
        raise InputError(f"n {n}: expected at least one sentence")
    gold = sorted(_GOLD[name](), key=lambda pair: stable_hash(f"gold|{seed}", pair.id)) if n else _GOLD[name]()
    return tuple(gold)[:n]


# Modern Greek has one accent for three, and neither breathings nor the iota below.
_MODERN = {0x0300: 0x0301, 0x0342: 0x0301, 0x0313: None, 0x0314: None, 0x0345: None}


def monotonic(text: str) -> str:
    """Ancient Greek in the spelling of modern Greek, the only one that encoders have seen much of.

    >>> monotonic("ἐν ἀρχῇ ἦν ὁ λόγος")
    'εν αρχή ήν ο λόγος'
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(_MODERN))


class _Token(NamedTuple):
    """A row of a verse: `glued` to what follows it or not, and a `word` or a mark that nobody aligned."""

    id: str
    verse: str
    text: str
    glued: bool
    word: bool


_BIBLE = "data/eng/alignments/BSB/SBLGNT-BSB-manual.json"
_GREEK, _ENGLISH = "data/sources/SBLGNT.tsv", "data/eng/targets/BSB/nt_BSB.tsv"


@cache
def _bible() -> tuple[Gold, ...]:
    archive = fetch("bible")
    try:
        greek = [
            _Token(row["id"], row["id"][1:9], monotonic(row["text"]), False, True) for row in _rows(archive, _GREEK)
        ]
        english = [
            _Token(row["id"], row["source_verse"], row["text"], row["skip_space_after"] == "y", row["exclude"] != "y")
            for row in _rows(archive, _ENGLISH)
        ]
        records = json.loads(read_member(archive, _BIBLE))["records"]
        return tuple(_verses(greek, english, records))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{archive}: a row of {_GREEK}, {_ENGLISH} or {_BIBLE} is not as expected, {error!r}; delete the archive "
            "and fetch it again"
        ) from error


def _rows(archive: Path, member: str) -> Iterator[dict[str, str]]:
    text = read_member(archive, member).decode("utf-8")
    for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
        if None in row or None in row.values():
            raise ValueError(f"{row}: as many cells as columns were expected")
        yield row


def _verses(greek: list[_Token], english: list[_Token], records: list[dict[str, Any]]) -> Iterator[Gold]:
    """The verses that records align, each record all its source words with all its target words."""
    verse_of = {token.id: token.verse for token in [*greek, *english] if token.word}
    links: dict[str, list[tuple[str, str]]] = defaultdict(list)
    open_ended: set[str] = set()
    for record in records:
        verses = {verse_of[word] for word in [*record["source"], *record["target"]]}
        for verse in verses:
            links[verse] += [(source, target) for source in record["source"] for target in record["target"]]
        if len(verses) > 1:
            open_ended |= verses
    sources, targets = _by_verse(greek), _by_verse(english)
    for verse in sorted(links.keys() - open_ended):
        source, source_words, i = _joined(sources[verse])
        target, target_words, j = _joined(targets[verse])
        linked = frozenset((i[a], j[b]) for a, b in links[verse])
        yield Gold(source, source_words, target, target_words, f"bible-{verse}", linked, linked)


def _by_verse(tokens: list[_Token]) -> dict[str, list[_Token]]:
    verses: dict[str, list[_Token]] = defaultdict(list)
    for token in tokens:
        verses[token.verse].append(token)
    return verses


def _joined(tokens: list[_Token]) -> tuple[str, tuple[Span, ...], dict[str, int]]:
    """The text of tokens, the spans of its words, and the number of each word by its id."""
    text, spans, number = "", list[Span](), dict[str, int]()
    for token in tokens:
        if token.word:
            number[token.id] = len(spans)
            spans.append((len(text), len(text) + len(token.text)))
        text += token.text + ("" if token.glued else " ")
    return text.rstrip(), tuple(spans), number


def _rwth() -> tuple[Gold, ...]:
    folder = data_folder() / "rwth"
    texts, links = _lines(folder, "test.de-en"), _lines(folder, "deen.talp")
    if len(texts) != len(links):
        raise DataError(f"{folder}: test.de-en has {len(texts)} lines and deen.talp {len(links)}; get both again")
    return tuple(
        _gold(f"rwth-{i}", f"{folder}, line {i + 1}", text.split(" ||| "), marks.split(), first=1)
        for i, (text, marks) in enumerate(zip(texts, links, strict=True))
    )


def _xlwa() -> tuple[Gold, ...]:
    folder = data_folder() / "xlwa"
    rows = [line.rstrip("\t").split("\t") for line in _lines(folder, "bg_test.tsv")]
    return tuple(
        _gold(f"xlwa-bg-{i}", f"{folder}, line {i + 1}", row[:2], " ".join(row[2:]).split(), first=0)
        for i, row in enumerate(rows)
    )


def _lines(folder: Path, name: str) -> list[str]:
    return read_text(folder, name).removesuffix("\n").split("\n")


def _gold(name: str, where: str, texts: list[str], marks: list[str], *, first: int) -> Gold:
    """A sentence pair of words between blanks and its links: i-j is sure, ipj possible, counted from `first`."""
    if len(texts) != 2 or not all(text.strip() for text in texts):
        raise DataError(f"{where}: {texts} is not a sentence and its translation")
    source_words, target_words = (tuple(match.span() for match in re.finditer(r"\S+", text)) for text in texts)
    sure, possible = set(), set()
    for mark in marks:
        parts = re.fullmatch(r"([0-9]+)([-p])([0-9]+)", mark)
        i, j = (int(parts[1]) - first, int(parts[3]) - first) if parts else (-1, -1)
        if parts is None or not (0 <= i < len(source_words) and 0 <= j < len(target_words)):
            raise DataError(
                f"{where}: {mark!r} is no link of {len(source_words)} and {len(target_words)} words counted from "
                f"{first}, i-j where sure and ipj where possible"
            )
        possible.add((i, j))
        if parts[2] == "-":
            sure.add((i, j))
    return Gold(texts[0], source_words, texts[1], target_words, name, frozenset(sure), frozenset(possible))


_GOLD: dict[str, Callable[[], tuple[Gold, ...]]] = {"bible": _bible, "rwth": _rwth, "xlwa": _xlwa}
