"""Natural language inference: MNLI, XNLI, SNLI, e-SNLI and e-XNLI, read from the files that their authors distribute
(Zaman & Belinkov 2022).

Files lie at `<FAITHLIB_DATA>/<data set>/`, as `data/sources.toml` says; plain or gzipped, or in the owners' archive
where a folder is one. `texts` are the premises,
`pairs` the hypotheses: both are explained, neither is a query. As in `TextInputs`, highlights count the characters of
`text + " " + pair`. Labels are in the order of LABELS everywhere; a classifier's own order may differ, so compare names
and not numbers.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from faithbook.sources.splits import split_groups
from faithbook.sources.tokenise import without_blanks
from faithbook.sources.zhao_aletras_sets import columns, numbered, picked, read_table, token_spans
from faithlib.errors import DataError, unknown

LABELS = ("entailment", "neutral", "contradiction")
LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")
MAX_LENGTH = 256  # wordpieces of both together

_MNLI = {"train": "multinli_1.0_train.jsonl", "dev": "multinli_1.0_dev_matched.jsonl"}
_SNLI_LABELS = {"0": "neutral", "1": "entailment", "2": "contradiction"}
_OWNERS = {"pairID": (), "sentence1": (), "sentence2": (), "gold_label": (*LABELS, "-")}
_ESNLI = {"train": ("esnli_train_1.csv", "esnli_train_2.csv"), "dev": ("esnli_dev.csv",), "test": ("esnli_test.csv",)}


# ----------------------------------------------------------------------------------------------------- MNLI and XNLI
def mnli(folder: Path, split: str) -> dict[str, Any]:
    """MultiNLI train and matched dev, JSON lines as the owners distribute them.

    Pairs on which the annotators found no majority (label "-") are left out, as everybody does.
    """
    if split == "test":
        raise DataError("mnli: the labels of its test split are not public; use dev")
    return _with_majority(folder, _MNLI[split], "mnli")


def xnli(folder: Path, split: str, language: str = "en") -> dict[str, Any]:
    """XNLI dev or test in one language: `<split>-<language>.tsv` with lines `premise<TAB>hypothesis<TAB>label`, or the
    owners' `xnli.<split>.tsv`, which has all languages in one table.

    Row i is the same pair in every language.
    """
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    if split == "train":
        raise DataError("xnli has no training split: classifiers are trained on mnli")
    alone, whole = names = _xnli_names(split, language)
    if _first_there(folder, names) == alone:
        rows = read_table(folder, alone, {"premise": (), "hypothesis": (), "label": LABELS}, header=False)
        return _pairs(rows.premise, rows.hypothesis, rows.label, numbered(f"xnli-{split}", rows))
    all_pairs = read_table(folder, whole, {"language": (), **_OWNERS})
    english = all_pairs[all_pairs.language == "en"].drop_duplicates("pairID", keep="last")
    rows = all_pairs[all_pairs.language == language].drop_duplicates("pairID", keep="last")
    missing = set(english.pairID) ^ set(rows.pairID)
    if missing:
        raise DataError(f"{folder / whole}: {len(missing)} pairs are not in both English and {language}; get it again")
    rows = rows.set_index("pairID").loc[english.pairID]
    return _pairs(rows.sentence1, rows.sentence2, rows.gold_label, numbered(f"xnli-{split}", rows))


def _xnli_names(split: str, language: str) -> tuple[str, str]:
    """A file of one language, and the owners' of all."""
    return f"{split}-{language}.tsv", f"xnli.{split}.tsv"


def snli(folder: Path, split: str) -> dict[str, Any]:
    """SNLI dev or test: `<split>.tsv` with the columns unique_key, label (0 neutral, 1 entailment, 2 contradiction),
    premise and hypothesis, or the owners' `snli_1.0_<split>.jsonl`, of which pairs without a majority are left out."""
    name = _first_there(folder, (f"{split}.tsv", f"snli_1.0_{split}.jsonl"))
    if name.endswith(".jsonl"):
        return _with_majority(folder, name, "snli")
    rows = read_table(folder, name, {"unique_key": (), "label": _SNLI_LABELS, "premise": (), "hypothesis": ()})
    return _pairs(rows.premise, rows.hypothesis, rows.label.map(_SNLI_LABELS), "snli-" + rows.unique_key)


def _with_majority(folder: Path, name: str, source: str) -> dict[str, Any]:
    """Pairs of an owners' table on which the annotators found a majority."""
    rows = read_table(folder, name, _OWNERS).query("gold_label != '-'")
    return _pairs(rows.sentence1, rows.sentence2, rows.gold_label, f"{source}-" + rows.pairID)


def _pairs(
    premises: Iterable[str], hypotheses: Iterable[str], labels: Iterable[str], ids: Iterable[str]
) -> dict[str, Any]:
    return columns(LABELS, MAX_LENGTH, premises, map(LABELS.index, labels), ids, pairs=tuple(hypotheses))


def _first_there(folder: Path, names: Sequence[str]) -> str:
    """The first of several file names that is there, plain or gzipped; the first of all where none is. Of an archive
    the last, which is the owners' own name."""
    if folder.suffix == ".zip":
        return names[-1]
    for name in names:
        if (folder / name).exists() or (folder / f"{name}.gz").exists():
            return name
    return names[0]


# ------------------------------------------------------------------------------------- SNLI and XNLI as one data set
DEV_SHARE = 0.25  # of the premises of XNLI's English development split
_PER_CLASS = {"dev": 830, "test": 1670}  # pairs of XNLI, as its paper has it


def nli(snli_at: Path, xnli_at: Path, split: str) -> dict[str, Any]:
    """Pairs for a model that learns in English: train is SNLI's dev and test with three quarters of XNLI's English dev,
    a premise's pairs together; dev the other quarter; test XNLI's English test.

    `snli_at`, `xnli_at`: folders with files that somebody brought, or the owners' archives, whose digest is known.
    Raises DataError where a file is missing, cut short, or its pairs and labels are not those it is known to have.
    """
    if split == "test":
        return known_xnli(xnli_at, "test", "en")
    learnt = known_xnli(xnli_at, "dev", "en")
    split_of = split_groups("nli", set(learnt["texts"]), (0.0, DEV_SHARE))
    rest = picked(learnt, [split_of[premise] == split for premise in learnt["texts"]])
    parts = [known_snli(snli_at, "dev"), known_snli(snli_at, "test"), rest] if split == "train" else [rest]
    return learnt | _joined(parts)


def nli_brought(folder: Path, split: str) -> dict[str, Any]:
    """`nli` from the folders `snli` and `xnli` beside the one that is named."""
    return nli(folder.parent / "snli", folder.parent / "xnli", split)


def nli_in(xnli_at: Path, split: str, language: str = "en") -> dict[str, Any]:
    """The test split of `nli` in one language."""
    if split != "test":
        raise DataError(f"nli: its {split} split is in English alone; use load_dataset, or the test split")
    return known_xnli(xnli_at, split, language)


def known_snli(at: Path, split: str) -> dict[str, Any]:
    """`snli` of the very pairs that are known; of the owners' archive, whose digest is, whatever it holds."""
    columns = snli(at, split)
    return columns if at.suffix == ".zip" else _known(at, f"snli-{split}", columns)


def known_xnli(at: Path, split: str, language: str = "en") -> dict[str, Any]:
    """`xnli` with as many pairs of every class as it is known to have, and from a file of one language the very pairs
    that are known."""
    columns = xnli(at, split, language)
    counts = Counter(LABELS[label] for label in columns["labels"])
    if counts != dict.fromkeys(LABELS, _PER_CLASS[split]):
        sizes = ", ".join(f"{counts[label]} {label}" for label in LABELS)
        raise DataError(
            f"{at}: XNLI's {split} split in {language} has {sizes}, expected {_PER_CLASS[split]} of each; the file is "
            "cut short, or its labels are others: get it again"
        )
    alone, _ = names = _xnli_names(split, language)
    return _known(at, f"xnli-{split}-{language}", columns) if _first_there(at, names) == alone else columns


def _known(at: Path, name: str, pairs: dict[str, Any]) -> dict[str, Any]:
    digest = pairs_digest(pairs)
    if digest != _DIGESTS.get(name, digest):
        raise DataError(
            f"{at}: the pairs and labels of {name} are not those expected: digest {digest}, expected {_DIGESTS[name]}; "
            "the file is cut short, changed or labelled otherwise: get it again from where data/sources.toml says"
        )
    return pairs


def pairs_digest(pairs: dict[str, Any]) -> str:
    """A digest of labels, premises and hypotheses in their order, blanks aside."""
    lines = []
    for row in zip(pairs["labels"], pairs["texts"], pairs["pairs"], strict=True):
        lines.append("\t".join(without_blanks(str(part)) for part in row))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


_COLUMNS = ("texts", "pairs", "labels", "ids")
_DIGESTS = {
    "snli-dev": "5f4228f4c77732fd",
    "snli-test": "4f24b7622690ed31",
    "xnli-dev-en": "964a036791581852",
    "xnli-test-ar": "d8858ec43a7d855e",
    "xnli-test-bg": "92d7f7c23743e867",
    "xnli-test-de": "d12864f8f582b373",
    "xnli-test-el": "c6efff77bacea8c6",
    "xnli-test-en": "ad8180c69cd3b3f4",
    "xnli-test-es": "2ec5103d53f77240",
    "xnli-test-fr": "8411445ee5c42b4c",
    "xnli-test-hi": "4b31012aa366c7b1",
    "xnli-test-ru": "a8fd446581f69f43",
    "xnli-test-sw": "567007b08392dd3e",
    "xnli-test-th": "470b915e6a731d28",
    "xnli-test-tr": "6e8ff05082fcb164",
    "xnli-test-ur": "c98027cbafcc5625",
    "xnli-test-vi": "71b5823ced0b508d",
    "xnli-test-zh": "a47d61a83c1f264a",
}


# -------------------------------------------------------------------------------------------------------- highlights
def esnli(folder: Path, split: str) -> dict[str, Any]:
    """e-SNLI with the words that an annotator starred in premise and hypothesis.

    Dev and test have three annotators. The paper does not say whose stars are its rationales; these are the first's,
    which the released code reads and the only ones that the training split has. Texts have their words parted by one
    space.
    """
    needed = {"pairID": (), "gold_label": LABELS, "Sentence1_marked_1": (), "Sentence2_marked_1": ()}
    rows = pd.concat([read_table(folder, name, needed) for name in _ESNLI[split]])
    return _highlighted(rows.Sentence1_marked_1, rows.Sentence2_marked_1, rows.gold_label, "esnli-" + rows.pairID)


def esnli_part(positions: Path, snli_at: Path, split: str) -> dict[str, Any]:
    """e-SNLI as far as it can be had: test is the first 338 pairs of its development split with the words that the
    first annotator marked; train and dev are the pairs of SNLI's development and test split about other images,
    which nobody marked here.

    `positions`: the folder of a table with the columns pairID, s1_1 (premise) and s2_1 (hypothesis): places of marked
    words, from 0, blanks between. They count the words of the original sentences, which end in their punctuation;
    SNLI's table parts it, so it is joined again. No image of a marked pair is in train or dev, under any caption.

    Raises DataError where a file is missing, cut short, not the one that is known, or marks a word that is not there.
    """
    needed: dict[str, tuple[str, ...]] = {"pairID": (), "s1_1": (), "s2_1": ()}
    places = read_table(positions, ESNLI_POSITIONS, needed)
    known = {part: known_snli(snli_at, part) for part in ("dev", "test")}
    ids = ("snli-" + places.pairID).tolist()
    if split != "test":
        shown = {_picture(name) for name in ids}
        parts = []
        for columns in known.values():
            parts.append(picked(columns, [_picture(name) not in shown for name in columns["ids"]]))
        others = parts[0] | _joined(parts)
        written = {side: _as_written(others[side]) for side in ("texts", "pairs")}
        split_of = split_groups("esnli-part", {_picture(name) for name in others["ids"]}, (0.0, _ESNLI_DEV_SHARE))
        return picked(others | written, [split_of[_picture(name)] == split for name in others["ids"]])
    row_of = {name: row for row, name in enumerate(known["dev"]["ids"])}
    strange = [name for name in ids if name not in row_of]
    if strange:
        raise DataError(f"{positions / ESNLI_POSITIONS}: {strange[0]} is no pair of SNLI's development split")
    rows = [row_of[name] for name in ids]
    dev = known["dev"]
    starred = []
    for side, column in (("texts", "s1_1"), ("pairs", "s2_1")):
        marks = zip(rows, places[column], places.pairID, strict=True)
        starred.append([_starred(dev[side][row], marked, pair, column) for row, marked, pair in marks])
    labels = [LABELS[dev["labels"][row]] for row in rows]
    return _highlighted(starred[0], starred[1], labels, "esnli-" + places.pairID)


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of several sets of pairs, one set after the other."""
    return {name: tuple(itertools.chain.from_iterable(part[name] for part in parts)) for name in _COLUMNS}


def _as_written(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts in their original words, blanks between them."""
    return tuple(" ".join(original_words(text)) for text in texts)


def _starred(sentence: str, places: str, pair: str, column: str) -> str:
    """A sentence of SNLI's table as its authors wrote it, with stars around the words at these places."""
    words = original_words(sentence)
    blank = _DOUBLE_BLANKS.get((pair, column))
    if blank is not None:
        words.insert(blank, "")
    marked = {int(place) for place in places.split()}
    if marked and max(marked) >= len(words):
        raise DataError(
            f"{ESNLI_POSITIONS}: {column} of {pair} marks word {max(marked)} of a sentence of {len(words)} words"
        )
    return " ".join(f"*{word}*" if i in marked else word for i, word in enumerate(words))


def original_words(sentence: str) -> list[str]:
    """The words of a tokenised sentence as they were written: punctuation and "'s" belong to the word before, an
    opening quotation mark to the word behind.

    >>> original_words("The man 's sign says ` HELP ME ' , twice .")
    ['The', "man's", 'sign', 'says', '`HELP', "ME',", 'twice.']
    """
    words: list[str] = []
    opened = ""
    for token in sentence.split():
        if token == "`":
            opened = token
        elif words and (token.startswith("'") or not any(letter.isalnum() for letter in token)):
            words[-1] += token
        else:
            words.append(opened + token)
            opened = ""
    return words


def _picture(name: str) -> str:
    """What a pair's name has before its caption's number: the image that it is about."""
    return name.partition("#")[0]


ESNLI_POSITIONS = "esnli_dev_highlights_338.csv"
_ESNLI_DEV_SHARE = 0.05  # of the images
# Two blanks in a row of the original sentence, which positions count as a word: before the word at this place.
_DOUBLE_BLANKS = {("4639918324.jpg#3r1n", "s2_1"): 8, ("4694086907.jpg#1r1n", "s2_1"): 3}


def exnli(folder: Path, split: str, language: str = "en") -> dict[str, Any]:
    """e-XNLI: the test split of XNLI with the words that the paper's method starred in English and carried over to the
    other languages along word alignments. Made by a model, not marked by people.

    Texts have the published words parted by one space: punctuation stands apart, as do the characters of Chinese.
    """
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    if split != "test":
        raise DataError(f"exnli has no {split} split: only test was published")
    needed = {"language": (), "label": LABELS, "premise_highlighted": (), "hypothesis_highlighted": ()}
    rows = read_table(folder, "exnli.csv", needed).query("language == @language")
    return _highlighted(rows.premise_highlighted, rows.hypothesis_highlighted, rows.label, numbered("exnli", rows))


def _unstarred(text: str) -> tuple[list[str], list[bool]]:
    """Words of a text and whether each stands between *stars*.

    >>> _unstarred("A *man* sleeps .")
    (['A', 'man', 'sleeps', '.'], [False, True, False, False])
    """
    words = text.split()
    starred = [len(word) > 2 and word.startswith("*") and word.endswith("*") for word in words]
    return [word[1:-1] if star else word for word, star in zip(words, starred, strict=True)], starred


def _highlighted(
    premises: Iterable[str], hypotheses: Iterable[str], labels: Iterable[str], ids: Iterable[str]
) -> dict[str, Any]:
    texts, pairs, spans = [], [], []
    for premise, hypothesis in zip(premises, hypotheses, strict=True):
        (first, starred), (second, also) = _unstarred(premise), _unstarred(hypothesis)
        texts.append(" ".join(first))
        pairs.append(" ".join(second))
        places = [(i, i + 1) for i, star in enumerate([*starred, *also]) if star]
        spans.append(token_spans(f"{texts[-1]} {pairs[-1]}", places))
    return _pairs(texts, pairs, labels, ids) | {"rationales": tuple(spans)}
