"""Word alignments made by people, and how well links found agree with them.

They say how good an aligner is and which layer of an encoder to take: the layer is chosen by them and never by the
results of a study.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from faithbook.access import require
from faithbook.sources.files import data_folder, fetch, read_member
from faithbook.sources.splits import Span, stable_hash
from faithbook.sources.tokenise import Pair
from faithbook.sources.zhao_aletras_sets import read_text
from faithlib.errors import DataError, InputError, unknown

Link = tuple[int, int]
Links = frozenset[Link]
COUNTS = ("found", "sure", "found_sure", "found_possible")
SCORES = ("precision", "recall", "f1", "aer")


# --------------------------------------------------------------------------------------------------------------- scores
def link_counts(
    links: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> dict[str, np.ndarray[Any, Any]]:
    """|A|, |S|, |A & S| and |A & P| of each sentence, [N], under the names `COUNTS`: all that scores depend on. A are
    the links `links`, S the `sure` and P the `possible` ones (S lies in P; None: P = S).

    Raises InputError for numbers of sentences that differ, none, or a sure link that is not possible.
    """
    possible = sure if possible is None else possible
    if not len(links) == len(sure) == len(possible) or not len(links):
        raise InputError(
            f"links of {len(links)}, {len(sure)} and {len(possible)} sentences (found, sure, possible): expected one "
            "set of links a sentence in each, and at least one"
        )
    rows = []
    for i, (found, of_sure, of_possible) in enumerate(zip(links, sure, possible, strict=True)):
        if not of_sure <= of_possible:
            raise InputError(f"sentence {i} has sure links that are not possible: every sure link is a possible one")
        rows.append((len(found), len(of_sure), len(found & of_sure), len(found & of_possible)))
    return dict(zip(COUNTS, np.array(rows, dtype=float).T, strict=True))


def scores_of_counts(count: Mapping[str, Any]) -> dict[str, Any]:
    """Agreement with links made by people (Och & Ney 2003, Section 5), on counts summed over all sentences or on their
    means, one number or an array of each: `SCORES`, in [0, 1], of which all but AER are better when higher.

    precision = |A & P| / |A|, recall = |A & S| / |S|, AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), and F1 is the
    harmonic mean of precision and recall (1 - AER where P = S; 0 where one of the two is). NaN where a denominator is
    zero.

    >>> counts = link_counts([{(0, 0), (1, 1)}], [{(0, 0), (1, 2)}])
    >>> [float(value) for value in scores_of_counts({name: each.sum() for name, each in counts.items()}).values()]
    [0.5, 0.5, 0.5, 0.5]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.divide(count["found_possible"], count["found"])
        recall = np.divide(count["found_sure"], count["sure"])
        f1 = np.divide(2, np.divide(1, precision) + np.divide(1, recall))
        aer = 1 - np.divide(count["found_sure"] + count["found_possible"], count["found"] + count["sure"])
    return dict(zip(SCORES, (precision, recall, f1, aer), strict=True))


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
    gold = _GOLD[name]()
    if n is None:
        return gold
    # By the hash of its name each sentence has its place, whatever n is.
    return tuple(sorted(gold, key=lambda pair: stable_hash(f"gold|{seed}", pair.id))[:n])


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
            _Token(row["id"], row["id"][1:9], monotonic(row["text"]), glued=False, word=True)
            for row in _rows(archive, _GREEK)
        ]
        english = []
        for row in _rows(archive, _ENGLISH):
            glued, word = row["skip_space_after"] == "y", row["exclude"] != "y"
            english.append(_Token(row["id"], row["source_verse"], row["text"], glued, word))
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
            links[verse] += product(record["source"], record["target"])
        if len(verses) > 1:
            open_ended |= verses
    greek_of, english_of = _by_verse(greek), _by_verse(english)
    for verse in sorted(links.keys() - open_ended):
        source, source_words, source_number = _joined(greek_of[verse])
        target, target_words, target_number = _joined(english_of[verse])
        linked = frozenset((source_number[a], target_number[b]) for a, b in links[verse])
        yield Gold(source, source_words, target, target_words, f"bible-{verse}", linked, linked)


def _by_verse(tokens: list[_Token]) -> dict[str, list[_Token]]:
    """The tokens of each verse, in their order."""
    found: dict[str, list[_Token]] = defaultdict(list)
    for token in tokens:
        found[token.verse].append(token)
    return found


def _joined(tokens: list[_Token]) -> tuple[str, tuple[Span, ...], dict[str, int]]:
    """The text of tokens, the spans of its words, and the number of each word by its id."""
    text, spans, number = "", list[Span](), dict[str, int]()
    for token in tokens:
        if token.word:
            number[token.id] = len(spans)
            spans.append((len(text), len(text) + len(token.text)))
        text += token.text
        if not token.glued:
            text += " "
    return text.rstrip(), tuple(spans), number


def _rwth() -> tuple[Gold, ...]:
    texts, links = _lines("rwth", "test.de-en"), _lines("rwth", "deen.talp")
    if len(texts) != len(links):
        folder = data_folder() / "rwth"
        raise DataError(f"{folder}: test.de-en has {len(texts)} lines and deen.talp {len(links)}; get both again")
    rows = []
    for text, marks in zip(texts, links, strict=True):
        rows.append((text.split(" ||| "), marks.split()))
    return _numbered("rwth", "rwth", rows, first=1)


def _xlwa() -> tuple[Gold, ...]:
    rows = []
    for line in _lines("xlwa", "bg_test.tsv"):
        cells = line.rstrip("\t").split("\t")
        rows.append((cells[:2], " ".join(cells[2:]).split()))
    return _numbered("xlwa", "xlwa-bg", rows, first=0)


def _numbered(source: str, name: str, rows: list[tuple[list[str], list[str]]], *, first: int) -> tuple[Gold, ...]:
    """Lines of a file, each two texts and their links."""
    where = data_folder() / source
    gold = []
    for i, (texts, marks) in enumerate(rows):
        gold.append(_gold(f"{name}-{i}", f"{where}, line {i + 1}", texts, marks, first=first))
    return tuple(gold)


def _lines(source: str, name: str) -> list[str]:
    require(source)
    return read_text(data_folder() / source, name).removesuffix("\n").split("\n")


def _gold(name: str, where: str, texts: list[str], marks: list[str], *, first: int) -> Gold:
    """A sentence pair of words between blanks and its links: i-j is sure, ipj possible, counted from `first`."""
    if len(texts) != 2 or not all(text.strip() for text in texts):
        raise DataError(f"{where}: {texts} is not a sentence and its translation")
    source_words, target_words = (tuple(match.span() for match in re.finditer(r"\S+", text)) for text in texts)
    sure, possible = set(), set()
    for mark in marks:
        i = j = -1
        parts = re.fullmatch(r"([0-9]+)([-p])([0-9]+)", mark)
        if parts is not None:
            i, j = int(parts[1]) - first, int(parts[3]) - first
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
