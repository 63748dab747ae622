"""The papers' data sets in the forms in which their owners hand them out, a few rows each, of sentences of ours.

    told = bring(folder)     # below a folder for FAITHLIB_DATA: what people get by hand
    served(folder)           # files that have an address, by the ids of data/sources.toml

Texts of study 1 are drawn word by word, so that no two nearly repeat one another; those of study 3 say the same things
in fifteen languages.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image

from faithbook.sources.cifar import NAMES, SIDE
from faithbook.sources.nli_sets import LABELS

_TEXTS = Path(__file__).parent / "replica"
WORDS = (_TEXTS / "words.txt").read_text(encoding="utf-8").split()
# Who does what, a language in two lines; a pair of both is a sentence.
_SAID = (_TEXTS / "said.txt").read_text(encoding="utf-8")
_TOGETHER = ("th", "zh")  # written without spaces


def _says() -> Iterator[tuple[str, tuple[str, list[str], list[str]]]]:
    lines = _SAID.strip().splitlines()
    for first, sentence in zip(lines[::2], lines[1::2], strict=True):
        language, _, who = first.strip().partition(": ")
        between = "" if language in _TOGETHER else " "
        yield language, (between, who.split(" | "), sentence.strip().split(" | "))


SAYS = dict(_says())
"""By language what joins who and what, who, and what."""


def texts(number: int, words: tuple[int, int], seed: str) -> list[str]:
    """Different texts of so many words each, from `words[0]` to `words[1]`."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(*words))) + " ." for _ in range(number)]


def pairs(language: str, number: int, seed: str) -> list[tuple[str, str, str]]:
    """Premise, hypothesis and label; the same things in every language, for a seed draws them."""
    between, who, what = SAYS[language]
    sentences = list(product(range(len(who)), range(len(what))))
    draw = random.Random(seed)
    found = []
    for i in range(number):
        first = draw.choice(sentences)
        label = LABELS[i % len(LABELS)]
        other = first
        if label != "entailment":
            other = draw.choice([sentence for sentence in sentences if sentence != first])
        premise, hypothesis = (between.join((who[a], what[b])) for a, b in (first, other))
        found.append((premise, hypothesis, label))
    return found


# ------------------------------------------------------------------------------------------------------ study 1's texts
def _tsv(rows: Iterable[Sequence[object]]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def _csv(rows: Iterable[Sequence[object]], *, quoting: int = csv.QUOTE_MINIMAL) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=quoting, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
    return stream.getvalue()


def sst(split: str, number: int) -> str:
    """SST-2 as in the repository that the paper's code reads: sentence, tab, label."""
    return _tsv((text, i % 2) for i, text in enumerate(texts(number, (6, 14), f"sst {split}")))


def ag(split: str, number: int) -> str:
    """AG News: class, title and description, all quoted, without a header."""
    titles, told = texts(number, (4, 6), f"ag title {split}"), texts(number, (10, 25), f"ag {split}")
    rows = [(1 + i % 4, title, text) for i, (title, text) in enumerate(zip(titles, told, strict=True))]
    return _csv(rows, quoting=csv.QUOTE_ALL)


def evinf(split: str, number: int) -> str:
    """Evidence Inference as Chrysostomou & Aletras hand it out: a document and its query, evidence as token ranges."""
    outcomes = ("no significant difference", "significantly decreased", "significantly increased")
    rows: list[Sequence[object]] = [("annotation_id", "document", "label_id", "query", "rationale")]
    for i, document in enumerate(texts(number, (25, 45), f"evinf {split}")):
        query, start = "|".join(texts(3, (2, 3), f"query {split} {i}")), 5 + i % 9
        rows.append((f"{i}_{split}", f"TITLE : {document}", outcomes[i % 3], query, f"[({start}, {start + 9})]"))
    return _csv(rows)


def multirc(split: str, number: int) -> tuple[str, dict[str, str]]:
    """MultiRC in ERASER's layout: rows, and the documents that they are about, three rows each."""
    told = texts(-(-number // 3), (25, 45), f"multirc {split}")
    documents = {f"{split}-{i}.txt": text for i, text in enumerate(told)}
    rows = []
    for i in range(number):
        name = f"{split}-{i // 3}.txt"
        evidence = [[{"start_token": 3, "end_token": 11, "text": ""}]]
        asked = " || ".join(texts(2, (3, 6), f"question {split} {i}"))
        about = {"annotation_id": f"{name}:{i % 3}:0", "classification": ("True", "False")[i % 2], "query": asked}
        rows.append(json.dumps(about | {"evidences": evidence}) + "\n")
    return "".join(rows), documents


PRAISE, BLAME = ("a warm , funny and moving film", "wonderful"), ("a dull , stupid and tedious mess", "awful")


def reviews(folder: Path, file: str = "test.jsonl") -> None:
    """Eight film reviews in ERASER's layout, in each of which people marked how its film was found."""
    rows, documents = [], {}
    for number in range(8):
        kind, (long, short) = ("POS", PRAISE) if number % 2 else ("NEG", BLAME)
        name, end = f"{kind.lower()}R_{number}.txt", 2 + len(long.split())
        documents[f"docs/{name}"] = f"this is {long} .\nthe plot of number {number} is {short} !\n".encode()
        marked = [(2, end, long), (end + 7, end + 8, short), (1, 1, "")]
        spans = [[{"start_token": a, "end_token": b, "text": text}] for a, b, text in marked]
        rows.append({"annotation_id": name, "classification": kind, "query": "?", "evidences": spans})
    _put(folder / file, "".join(json.dumps(row) + "\n" for row in rows))
    tarred(folder / "docs.tar.gz", documents)


# ---------------------------------------------------------------------------------------------------- study 4's texts
def edin_texts(file: str, number: int) -> str:
    """A file of Edin et al.'s: texts of the positive class with the words and pieces that they counted, in no order."""
    told = texts(number, (4, 8) if "short" in file else (9, 12), file)
    ids = random.Random(file).sample(range(number), number)
    return _csv([("label", "id", "text"), *((1, i, text) for i, text in zip(ids, told, strict=True))])


# ---------------------------------------------------------------------------------------------------- study 3's texts
def mnli(split: str, number: int) -> str:
    """MultiNLI as JSON lines, with a pair here and there on which the annotators found no majority."""
    rows = []
    for i, (premise, hypothesis, label) in enumerate(pairs("en", number, f"mnli {split}")):
        told = {"gold_label": "-" if i % 17 == 16 else label, "pairID": f"{i}{label[0]}"}
        rows.append(json.dumps(told | {"sentence1": premise, "sentence2": hypothesis}) + "\n")
    return "".join(rows)


def xnli(split: str, number: int) -> str:
    """XNLI: all languages one below the other, in a table with a header."""
    rows: list[Sequence[object]] = [("language", "gold_label", "sentence1", "sentence2", "pairID", "match")]
    for language in sorted(SAYS):
        for i, (premise, hypothesis, label) in enumerate(pairs(language, number, f"xnli {split}")):
            rows.append((language, label, premise, hypothesis, i, "True"))
    return _tsv(rows)


def _starred(text: str, draw: random.Random) -> str:
    words = text.split()
    stars = set(draw.sample(range(len(words)), k=min(2, len(words))))
    return " ".join(f"*{word}*" if i in stars else word for i, word in enumerate(words))


def esnli(split: str, number: int) -> str:
    """e-SNLI: the words that the first annotator starred."""
    rows: list[Sequence[object]] = [("pairID", "gold_label", "Sentence1_marked_1", "Sentence2_marked_1")]
    draw = random.Random(f"esnli {split}")
    for i, (premise, hypothesis, label) in enumerate(pairs("en", number, f"esnli {split}")):
        rows.append([f"{i}.jpg#0r1{label[0]}", label, *(_starred(text, draw) for text in (premise, hypothesis))])
    return _csv(rows)


def exnli(number: int) -> str:
    """e-XNLI: XNLI's test pairs with starred words; Chinese and Thai characters stand apart."""
    rows: list[Sequence[object]] = [("language", "label", "premise_highlighted", "hypothesis_highlighted")]
    for language in sorted(SAYS):
        draw = random.Random("exnli")
        for premise, hypothesis, label in pairs(language, number, "xnli test"):
            apart = [" ".join(text) if not SAYS[language][0] else text for text in (premise, hypothesis)]
            rows.append([language, label, *(_starred(text, draw) for text in apart)])
    return _csv(rows)


# ------------------------------------------------------------------------------------------------------------ pictures
def tarred(path: Path, members: Mapping[str, bytes]) -> Path:
    """A packed archive of these files."""
    with tarfile.open(path, "w:gz") as opened:
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            opened.addfile(about, io.BytesIO(content))
    return path


def pictures(number: int, seed: int) -> np.ndarray:
    """Pictures [N, 32, 32, 3], flat but for one bright square, no two alike."""
    generator = np.random.default_rng(seed)
    made = np.repeat(np.repeat(generator.integers(0, 256, (number, 4, 4, 3)), SIDE // 4, 1), SIDE // 4, 2)
    return made.astype(np.uint8)


def cifar10_archive(path: Path, training: int, test: int) -> None:
    """CIFAR-10's official archive in binary form."""
    members = {"batches.meta.txt": "\n".join(NAMES["cifar10"]).encode() + b"\n"}
    sizes = {f"data_batch_{i}.bin": training // 5 for i in range(1, 6)} | {"test_batch.bin": test}
    for i, (file, number) in enumerate(sizes.items()):
        planes = pictures(number, i).transpose(0, 3, 1, 2).reshape(number, -1)
        members[file] = b"".join(bytes([k % 10]) + plane.tobytes() for k, plane in enumerate(planes))
    tarred(path, {f"cifar-10-batches-bin/{name}": content for name, content in members.items()})


def cifar_folder(folder: Path, name: str, sizes: dict[str, int]) -> None:
    """CIFAR as files: a folder a part and class."""
    for i, (part, number) in enumerate(sizes.items()):
        for k, picture in enumerate(pictures(number, 100 + i)):
            place = folder / part / NAMES[name][k % len(NAMES[name])]
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(place / f"{k}.png")


def imagenet(folder: Path, number: int) -> None:
    """Validation pictures beside a table of their classes."""
    (folder / "images").mkdir(parents=True)
    generator = np.random.default_rng(7)
    rows: list[Sequence[object]] = [("file", "class_index", "name")]
    for i in range(number):
        coarse = Image.fromarray(generator.integers(0, 256, (8, 10, 3)).astype(np.uint8))
        coarse.resize((320, 256)).save(folder / "images" / f"val_{i}.JPEG")
        rows.append((f"val_{i}.JPEG", 37 * i % 1000, f"thing {37 * i % 1000}"))
    (folder / "labels.csv").write_text(_csv(rows), encoding="utf-8")


# --------------------------------------------------------------------------------------------------- files by source id
def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def _ag(folder: Path) -> None:
    _put(folder / "train.csv", ag("train", 120))
    _put(folder / "test.csv", ag("test", 24))


def _evinf(folder: Path) -> None:
    for split, number in (("train", 36), ("dev", 12), ("test", 12)):
        _put(folder / f"{split}.csv.gz", evinf(split, number))


def _multirc(folder: Path) -> None:
    every: dict[str, str] = {}
    for split, number in (("train", 36), ("val", 12), ("test", 12)):
        rows, documents = multirc(split, number)
        _put(folder / f"{split}.jsonl", rows)
        every |= documents
    tarred(folder / "docs.tar.gz", {f"docs/{name}": text.encode() for name, text in every.items()})


def _mnli(folder: Path) -> None:
    _put(folder / "multinli_1.0_train.jsonl", mnli("train", 96))
    _put(folder / "multinli_1.0_dev_matched.jsonl", mnli("dev", 24))


def _xnli(folder: Path) -> None:
    _put(folder / "xnli.dev.tsv", xnli("dev", 18))
    _put(folder / "xnli.test.tsv", xnli("test", 24))


def _esnli(folder: Path) -> None:
    for split, file in (("train 1", "train_1"), ("train 2", "train_2"), ("dev", "dev"), ("test", "test")):
        _put(folder / f"esnli_{file}.csv", esnli(split, 24))


BY_HAND: dict[str, Callable[[Path], None]] = {
    "ag": _ag,
    "evinf": _evinf,
    "multirc": _multirc,
    "mnli": _mnli,
    "xnli": _xnli,
    "esnli": _esnli,
    "exnli": lambda folder: _put(folder / "exnli.csv", exnli(24)),
    "cifar100-folder": lambda folder: cifar_folder(folder, "cifar100", {"train": 40, "dev": 12, "test": 16}),
    "imagenet": lambda folder: imagenet(folder, 16),
}
"""What people bring, by source: each made in its folder below FAITHLIB_DATA."""

BY_ADDRESS: dict[str, Callable[[Path], None]] = {
    "sst-train": lambda path: _put(path, sst("train", 96)),
    "sst-dev": lambda path: _put(path, sst("dev", 24)),
    "sst-test": lambda path: _put(path, sst("test", 24)),
    "cifar10": lambda path: cifar10_archive(path, 5100, 40),
    "edin-texts": lambda path: _put(path, edin_texts(path.name, 8)),
}
"""What is downloaded, by source: each made as the file that its address would give; of several files one is named."""


def languages() -> Iterator[str]:
    """All sentences of study 3, so that a vocabulary has their characters."""
    for between, who, what in SAYS.values():
        yield from (between.join(pair) for pair in product(who, what))
