"""Natural language inference: MNLI, XNLI, e-SNLI and e-XNLI, read from the files that their authors distribute (the
`paper` profile; Zaman & Belinkov 2022).

Files lie at `<FAITHLIB_DATA>/<data set>/`, as `data/sources.toml` says; plain or gzipped. `texts` are the premises,
`pairs` the hypotheses: both are explained, neither is a query. As in `TextInputs`, highlights count the characters of
`text + " " + pair`. Labels are in the order of LABELS everywhere; a classifier's own order may differ, so compare names
and not numbers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faithbook.sources.zhao_aletras_sets import read_text, token_spans
from faithlib.errors import DataError, unknown

LABELS = ("entailment", "neutral", "contradiction")
LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")
MAX_LENGTH = 256  # wordpieces of both together

_MNLI: dict[str, tuple[str, ...]] = {
    "train": ("multinli_1.0_train.jsonl", "multinli_1.0_train.txt", "train.tsv"),
    "dev": ("multinli_1.0_dev_matched.jsonl", "multinli_1.0_dev_matched.txt", "dev_matched.tsv"),
}
_ESNLI = {"train": ("esnli_train_1.csv", "esnli_train_2.csv"), "dev": ("esnli_dev.csv",), "test": ("esnli_test.csv",)}


# ----------------------------------------------------------------------------------------------------- MNLI and XNLI
def mnli(folder: Path, split: str) -> dict[str, Any]:
    """MultiNLI train and matched dev, in the owners' layouts (JSON lines or tab-separated) or GLUE's.

    Pairs on which the annotators found no majority (label "-") are left out, as everybody does.
    """
    if split == "test":
        raise DataError("mnli: the labels of its test split are not public; use dev")
    name = _first_there(folder, _MNLI[split])
    rows = [row for row in _rows(folder, name) if row["gold_label"] != "-"]
    ids = [f"mnli-{row['pairID']}" for row in rows]
    return _pairs(folder / name, [(row["sentence1"], row["sentence2"], row["gold_label"]) for row in rows], ids)


def xnli(folder: Path, split: str, language: str = "en") -> dict[str, Any]:
    """XNLI dev or test in one language: `<split>-<language>.tsv` with lines `premise<TAB>hypothesis<TAB>label`, or the
    owners' `xnli.<split>.tsv`, which has all languages in one table.

    Row i is the same pair in every language.
    """
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    if split == "train":
        raise DataError("xnli has no training split: classifiers are trained on mnli")
    name = _first_there(folder, (f"{split}-{language}.tsv", f"xnli.{split}.tsv"))
    rows = _one_language(folder, name, language) if name.startswith("xnli.") else _lines(folder, name)
    return _pairs(folder / name, rows, [f"xnli-{split}-{i}" for i in range(len(rows))])


def _one_language(folder: Path, name: str, language: str) -> list[tuple[str, str, str]]:
    """Pairs of the owners' table in one language, in the order of the English ones."""
    english, wanted = [], {}
    for row in _rows(folder, name):
        if row["language"] == "en":
            english.append(row["pairID"])
        if row["language"] == language:
            wanted[row["pairID"]] = (row["sentence1"], row["sentence2"], row["gold_label"])
    if missing := set(english) ^ set(wanted):
        raise DataError(f"{folder / name}: {len(missing)} pairs are not in both English and {language}; get it again")
    return [wanted[pair] for pair in english]


def _lines(folder: Path, name: str) -> list[tuple[str, str, str]]:
    """Lines `premise<TAB>hypothesis<TAB>label`."""
    rows = [line.split("\t") for line in _split_lines(folder, name)]
    if bad := [row for row in rows if len(row) != 3]:
        raise DataError(f"{folder / name}: line {bad[0]!r} is not premise, hypothesis, label")
    return [(premise, hypothesis, label) for premise, hypothesis, label in rows]


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    """Rows of JSON lines, or of a tab-separated table with a header; DataError where one lacks what is read here."""
    try:
        rows = list(_parsed(_split_lines(folder, name), is_json=name.endswith(".jsonl")))
    except ValueError as error:
        raise DataError(f"{folder / name} is empty or damaged ({error}); get the file again") from error
    needed = {"sentence1", "sentence2", "gold_label", "pairID"}
    if bad := [row for row in rows if not needed <= row.keys()]:
        raise DataError(f"{folder / name}: row {bad[0]} lacks {', '.join(sorted(needed - bad[0].keys()))}")
    return rows


def _parsed(lines: list[str], *, is_json: bool) -> Iterator[dict[str, str]]:
    if is_json:
        return map(json.loads, lines)
    # A quotation mark is a character like any other here. Rows may end early: what comes last is not read.
    header, *rows = (line.split("\t") for line in lines)
    return (dict(zip(header, row, strict=False)) for row in rows)


def _split_lines(folder: Path, name: str) -> list[str]:
    # Not `splitlines`, which also cuts at characters that stand inside some sentences.
    lines = [line.removesuffix("\r") for line in read_text(folder, name).split("\n")]
    return [line for line in lines if line.strip()]


def _pairs(path: Path, rows: Sequence[tuple[str, str, str]], ids: Sequence[str]) -> dict[str, Any]:
    if strange := {label for _, _, label in rows} - set(LABELS):
        raise DataError(f"{path}: label {min(strange)!r} is not one of {', '.join(LABELS)}")
    return {
        "texts": tuple(premise for premise, _, _ in rows),
        "pairs": tuple(hypothesis for _, hypothesis, _ in rows),
        "labels": tuple(LABELS.index(label) for _, _, label in rows),
        "ids": tuple(ids),
        "label_names": LABELS,
        "max_length": MAX_LENGTH,
    }


def _first_there(folder: Path, names: Sequence[str]) -> str:
    """The first of several file names that is there, plain or gzipped; the first of all where none is."""
    there = [name for name in names if any((folder / f"{name}{end}").exists() for end in ("", ".gz"))]
    return (there or names)[0]


# -------------------------------------------------------------------------------------------------------- highlights
def esnli(folder: Path, split: str, *, gold: str = "first") -> dict[str, Any]:
    """e-SNLI with the words that annotators starred in premise and hypothesis; dev and test have three annotators.

    The paper does not say whose stars are its rationales. `gold` "first": the first annotator's, which the released
    code reads and the only ones that the training split has; "majority": words that two of three starred; "any": words
    that anyone did. Texts have their words parted by one space.
    """
    if gold not in _VOTES:
        raise unknown("gold", gold, _VOTES)
    rows = [row for name in _ESNLI[split] for row in csv.DictReader(io.StringIO(read_text(folder, name), newline=""))]
    path = _checked_columns(folder / _ESNLI[split][0], rows, "pairID gold_label Sentence1_marked_1 Sentence2_marked_1")
    marked = [(_voted(row, "Sentence1", gold), _voted(row, "Sentence2", gold)) for row in rows]
    return _highlighted(path, marked, [row["gold_label"] for row in rows], [f"esnli-{row['pairID']}" for row in rows])


def exnli(folder: Path, split: str, language: str = "en") -> dict[str, Any]:
    """e-XNLI: the test split of XNLI with the words that the paper's method starred in English and carried over to the
    other languages along word alignments. Made by a model, not marked by people.

    Texts have the published words parted by one space: punctuation stands apart, as do the characters of Chinese.
    """
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    if split != "test":
        raise DataError(f"exnli has no {split} split: only test was published")
    rows = list(csv.DictReader(io.StringIO(read_text(folder, "exnli.csv"), newline="")))
    path = _checked_columns(folder / "exnli.csv", rows, "language label premise_highlighted hypothesis_highlighted")
    rows = [row for row in rows if row["language"] == language]
    marked = [(_unstarred(row["premise_highlighted"]), _unstarred(row["hypothesis_highlighted"])) for row in rows]
    return _highlighted(path, marked, [row["label"] for row in rows], [f"exnli-{i}" for i in range(len(rows))])


def _checked_columns(path: Path, rows: Sequence[dict[str, str]], needed: str) -> Path:
    if missing := set(needed.split()) - set(rows[0] if rows else ()):
        raise DataError(f"{path} lacks the columns {', '.join(sorted(missing))}")
    return path


_Marked = tuple[list[str], list[bool]]  # words, and whether each is starred
_VOTES = {"first": 1, "majority": 2, "any": 1}


def _unstarred(text: str) -> _Marked:
    """Words of a text and whether each stands between *stars*.

    >>> _unstarred("A *man* sleeps .")
    (['A', 'man', 'sleeps', '.'], [False, True, False, False])
    """
    words = text.split()
    starred = [len(word) > 2 and word.startswith("*") and word.endswith("*") for word in words]
    return [word[1:-1] if star else word for word, star in zip(words, starred, strict=True)], starred


def _voted(row: dict[str, str], sentence: str, gold: str) -> _Marked:
    """The words of one sentence of e-SNLI, and whether enough annotators starred each."""
    texts = [row.get(f"{sentence}_marked_{i}") for i in range(1, 2 if gold == "first" else 4)]
    answers = [_unstarred(text) for text in texts if text is not None]
    lengths = [len(words) for words, _ in answers]
    if len(lengths) < len(texts) or len(set(lengths)) > 1:
        raise DataError(
            f"e-SNLI {row['pairID']}: {len(lengths)} annotators marked texts of {lengths} words, expected {len(texts)} "
            "annotators and one length; gold='first' needs only the first"
        )
    return answers[0][0], [sum(votes) >= _VOTES[gold] for votes in zip(*(stars for _, stars in answers), strict=True)]


def _highlighted(
    path: Path, marked: Sequence[tuple[_Marked, _Marked]], labels: Sequence[str], ids: Sequence[str]
) -> dict[str, Any]:
    rows = [
        (" ".join(premise), " ".join(hypothesis), label)
        for ((premise, _), (hypothesis, _)), label in zip(marked, labels, strict=True)
    ]
    starred = [[i for i, star in enumerate([*first, *second]) if star] for (_, first), (_, second) in marked]
    spans = [
        token_spans(f"{premise} {hypothesis}", [(i, i + 1) for i in places])
        for (premise, hypothesis, _), places in zip(rows, starred, strict=True)
    ]
    return _pairs(path, rows, ids) | {"rationales": tuple(spans)}
