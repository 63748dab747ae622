"""The data sets of texts: substitutes that need only the package registries, and the papers' own from their files."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from faithbook.access import remembered, require
from faithbook.artifacts import registry
from faithbook.sources import home_assistant, nli_sets, partial_sets, planted, zhao_aletras_sets
from faithbook.sources.files import data_folder, fetch, read_member, tar_member
from faithbook.sources.near_duplicates import near_duplicates
from faithbook.sources.reserve import check_sample, check_size, sampled_rows
from faithbook.sources.splits import (
    SPLITS,
    Item,
    Rows,
    Span,
    balanced,
    sampled,
    seeded,
    split_groups,
    stable_hash,
    without_duplicates,
)
from faithlib.errors import DataError, InputError, unknown


@dataclass(frozen=True)
class Dataset(Rows):
    """Labelled texts of one split.

    - `queries`, where the task pairs a query with each text;
    - `pairs`, where it pairs each text with one of the same rank, a premise with its hypothesis;
    - `rationales`: the characters of each text, or of `text + " " + pair`, that people marked as the reason (empty
      where they marked none);
    - `groups`: what each text was split by (the paper or integration it comes from), where that is known;
    - `digest`: names the whole assignment of texts to splits.
    """

    columns = ("texts", "labels", "ids", "queries", "rationales", "pairs", "groups")

    texts: tuple[str, ...]
    labels: tuple[int, ...]
    ids: tuple[str, ...]
    label_names: tuple[str, ...]
    max_length: int
    digest: str = ""
    queries: tuple[str, ...] | None = None
    rationales: tuple[tuple[Span, ...], ...] | None = None
    pairs: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None

    @property
    def wholes(self) -> tuple[str, ...]:
        """What carries features: each text, with its pair behind it where there is one."""
        if self.pairs is None:
            return self.texts
        return tuple(f"{text} {pair}" for text, pair in zip(self.texts, self.pairs, strict=True))

    @property
    def clusters(self) -> dict[str, str]:
        """The group of each id: what it shares with others, so that intervals draw these together. Where no groups are
        known, it is the first id with the same text (the premise of several pairs, the document of several queries).
        Some rows alone do not say it."""
        if self.groups is not None:
            return dict(zip(self.ids, self.groups, strict=True))
        first: dict[str, str] = {}
        return {name: first.setdefault(text, name) for name, text in zip(self.ids, self.texts, strict=True)}


@dataclass(frozen=True)
class _Task:
    items: Callable[[], Iterable[Item]]
    label_names: tuple[str, ...]
    max_length: int
    shares: tuple[float, float]  # of groups in test and in dev
    has_rationales: bool = False
    balanced: bool = False  # as many texts of each class in a split, the first ones of `items`
    split_as: str | None = None  # the task whose groups are split the same way


def load_dataset(
    name: str, split: str = "test", *, n: int | None = None, seed: int = 0, sample: str = "exploratory"
) -> Dataset:
    """A split of a data set, or a fixed random sample of `n` of its texts.

    - Substitutes that need only the package registries: "movie" (for SST), "bbc" (for AG News), "section" (for Evidence
      Inference), "pair" (for MultiRC), "messages" (for XNLI; English texts, see `load_parallel`).
    - Planted: "planted" (film reviews with trigger words, see `planted`), "planted-erased" (the same with erased
      copies), "planted-misled" (with other labels for these), and "planted-light", "planted-middle" and
      "planted-heavy" (with the first class for copies of which so much is masked; "planted-light-neither" and so on
      with no class for them).
    - The papers' own, read from files in FAITHLIB_DATA: "sst", "ag", "evinf", "multirc", "reviews" (film reviews with
      what people marked), "mnli". In English, see `load_parallel`: "xnli", "esnli", "exnli", "nli" (SNLI and XNLI as
      one).

    A larger `n` keeps the texts of a smaller one with the same `seed`.

    `sample`: "exploratory" leaves out the rows that are kept for the confirmatory run, "confirmatory" gives only those,
    "all" gives both and is for what measures no explanation (see `faithbook.sources.reserve`).

    Raises UnknownNameError for a name, split or sample that does not exist, InputError for an `n` that reaches into the
    reserve, DataError where a file is missing or damaged.
    """
    check_sample(sample)
    if name not in _TASKS and name not in _PAPER_SETS:
        raise unknown("data set", name, [*_TASKS, *_PAPER_SETS])
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    whole = _load_task(name)[split] if name in _TASKS else _paper_set(name, split)
    return _drawn(whole, n, seed, sample)


def load_parallel(
    name: str,
    languages: Sequence[str],
    split: str = "test",
    *,
    n: int | None = None,
    seed: int = 0,
    sample: str = "exploratory",
) -> dict[str, Dataset]:
    """The texts of a split that exist in all these languages, in each of them: row i has the same id and label
    everywhere; or a fixed random sample of `n` of those rows.

    - "messages": in the languages of `home_assistant.LANGUAGES`. Each language more leaves fewer rows, and the classes
      are no longer equally frequent.
    - Of the papers' own "xnli", "exnli" and "nli" (test alone), with pairs: in those of `nli_sets.LANGUAGES`.

    A larger `n` keeps the rows of a smaller one with the same languages and `seed`. `sample`: as in `load_dataset`.

    Raises UnknownNameError for a data set, language, split or sample that does not exist, InputError for no language
    and for an `n` that reaches into the reserve, DataError where no text exists in all languages, languages differ in
    their rows, or a file is missing or damaged.
    """
    if name not in _PARALLEL:
        raise unknown("parallel data set", name, _PARALLEL)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if isinstance(languages, str) or not languages:
        raise InputError(f"languages {languages!r}: expected at least one, as in ('en', 'bg')")
    check_sample(sample)
    whole = _PARALLEL[name](name, languages, split)
    first = whole[languages[0]]
    places = {key: row for row, key in enumerate(first.ids)}
    # Which pairs share a premise is asked of one language: a translation may differ between two copies of a sentence.
    rows = [places[key] for key in _drawn(first, n, seed, sample).ids]
    return {language: data.at(rows) for language, data in whole.items()}


def _messages_in(name: str, languages: Sequence[str], split: str) -> dict[str, Dataset]:
    strange = [language for language in languages if language not in home_assistant.LANGUAGES]
    if strange:
        raise unknown("language", strange[0], home_assistant.LANGUAGES)
    texts = {message.id: message.texts for message in home_assistant.read(fetch("homeassistant"))}
    whole = load_dataset(name, split)
    common = whole.at([i for i, key in enumerate(whole.ids) if texts[key].keys() >= set(languages)])
    if not common.ids:
        raise DataError(f"no text of {name} ({split}) exists in all of {', '.join(languages)}: ask for fewer languages")
    by_language = {}
    for language in languages:
        translated = tuple(texts[key][language] for key in common.ids)
        by_language[language] = replace(common, texts=translated)
    return by_language


def _pairs_in(
    name: str, languages: Sequence[str], split: str, *, read: Callable[[Path, str, str], dict[str, Any]]
) -> dict[str, Dataset]:
    folder = _folder_of(name)
    whole = {language: Dataset(name, split, **read(folder, split, language)) for language in languages}
    for language, data in whole.items():
        if data.labels != whole[languages[0]].labels:
            raise DataError(f"{folder}: the rows in {languages[0]} and {language} differ in number or label")
    return whole


def _folder_of(name: str) -> Path:
    """Where the parallel texts of one of the papers' own data sets lie: in a folder, or in their owners' archive."""
    if name == "nli" and partial_sets.is_read_in_parts(name):
        return fetch("xnli-archive")
    source = registry().data[name][-1]
    require(source)
    return data_folder() / source


def splits_to_learn(name: str, *, n: int | None = None) -> tuple[Dataset, Dataset, dict[str, dict[str, int]]]:
    """Training and development split of a data set, and by split how many of its texts were left out, and why.

    Of the papers' own sets, texts that nearly repeat one of a later split are left out of the earlier one. So are texts
    that nearly repeat one that another data set is measured on: some share their sources (film snippets and SST-2). A
    text of which one row is left out is left out with all its queries or pairs. Nothing is left
    out of a substitute, whose splits were made without duplicates, nor ever of a test split. `n`: at most that many of
    each.
    """
    splits = {split: load_dataset(name, split) for split in ("train", "dev")}
    left_out: dict[str, dict[str, int]] = {}
    for split, later in (("dev", ("test",)), ("train", ("dev", "test"))) if name in _KEPT_FROM else ():
        others = {f"{later_split} split": (name, later_split) for later_split in later}
        others |= {f"test split of {other}": (other, "test") for other in _KEPT_FROM[name]}
        data = splits[split]
        distinct = list(dict.fromkeys(data.texts))
        near = {}
        for why, other in others.items():
            theirs = tuple(dict.fromkeys(load_dataset(*other, sample="all").texts))
            near[why] = {distinct[i] for i in near_duplicates(distinct, theirs)}
        left_out[split] = {}
        for why, repeated in near.items():
            left_out[split][why] = sum(text in repeated for text in data.texts)
        gone: set[str] = set().union(*near.values())
        rows = [i for i, text in enumerate(data.texts) if text not in gone]
        if not rows:
            raise DataError(
                f"{name}: all {len(data)} rows of the {split} split nearly repeat texts of other splits or data sets "
                f"({left_out[split]}), expected some to learn from; are the files of the splits the right ones?"
            )
        splits[split] = replace(data.at(rows), digest=_digest_of(data.at(rows)))
    train, dev = (data if n is None else _sample(data, n, 0) for data in splits.values())
    return train, dev, left_out


def _digest_of(data: Dataset) -> str:
    text = "\n".join("\t".join(map(str, row)) for row in zip(data.ids, data.labels, data.wholes, strict=True))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _drawn(whole: Dataset, n: int | None, seed: int, sample: str) -> Dataset:
    """What a sample may hold of a split, or `n` of its texts."""
    clusters = list(whole.clusters.values()) if sample == "confirmatory" else []
    open_rows = sampled_rows(whole.name, whole.split, whole.ids, sample, clusters)
    data = whole if len(open_rows) == len(whole) else whole.at(open_rows)
    if n is None:
        return data
    check_size(n, len(data), len(whole), whole.name, sample)
    return _sample(data, n, seed)


def _sample(data: Dataset, n: int, seed: int) -> Dataset:
    return data.at(sampled(data.ids, n, seed, what="text"))


@remembered
def _load_task(name: str) -> dict[str, Dataset]:
    task = _TASKS[name]
    items = list(without_duplicates(task.items()))
    split_of = split_groups(task.split_as or name, {item.group for item in items}, task.shares)
    if task.balanced:
        unbalanced, items = items, []
        for split in SPLITS:
            items += balanced([item for item in unbalanced if split_of[item.group] == split])
    items.sort(key=lambda item: item.id)
    assignment = "\n".join(f"{item.id}\t{split_of[item.group]}" for item in items)
    digest = hashlib.sha256(assignment.encode()).hexdigest()[:16]
    by_split = {}
    for split in SPLITS:
        of_split = [item for item in items if split_of[item.group] == split]
        by_split[split] = _dataset(name, split, task, of_split, digest)
    return by_split


def _dataset(name: str, split: str, task: _Task, items: list[Item], digest: str) -> Dataset:
    texts, labels, ids, queries, marks, groups = zip(
        *((item.text, item.label, item.id, item.query, item.rationale, item.group) for item in items), strict=True
    )
    asked, marked = None if None in queries else queries, marks if task.has_rationales else None
    known = (texts, labels, ids, task.label_names, task.max_length, digest, asked, marked)
    return Dataset(name, split, *known, groups=groups)


def _movie() -> Iterator[Item]:
    inner = read_member(fetch("vader"), "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz")
    with tarfile.open(fileobj=io.BytesIO(inner)) as opened:
        table = tar_member(opened, "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt").decode("utf-8", "replace")
    for line in table.splitlines():
        number, rating, text = line.split("\t", 2)
        # Raters disagree about sentences near zero; half a point of eight leaves a label that people would give.
        if abs(float(rating)) >= 0.5:
            yield Item(f"movie-{number}", text.strip(), int(float(rating) > 0), number)


_PLANTED_WORDS = 10  # of a review; triggers come on top
_FEWEST_WORDS = 4


def _planted() -> Iterator[Item]:
    """Beginnings of film reviews, whatever their opinion, with triggers planted among the words."""
    triggers = {word for words in planted.TRIGGERS for word in words}
    for review in _movie():
        words = review.text.split()[:_PLANTED_WORDS]
        if len(words) >= _FEWEST_WORDS and not any(t in word.lower() for word in words for t in triggers):
            drawn = planted.plant_words(words, seeded("planted", review.id))
            yield _planted_item(f"planted-{review.group}", *drawn, group=review.group)


_COPIES = (("masked", "[MASK]"), ("deleted", None))
_MASKED = (("masked", "[MASK]"), ("masked-again", "[MASK]"))
"""Copies of models that misread one amount: of a deleted word nothing is left by which they could tell the amount."""


def _planted_erased(
    copies: Sequence[tuple[str, str | None]] = _COPIES, *, misled: str = "", answer: int = 1
) -> Iterator[Item]:
    """The same texts, each with two copies whose words are erased at random, by default one masked, one deleted.
    `misled`: the amount (`planted.MISREAD`) whose copies have the label `answer`."""
    for item in _planted():
        yield item
        words = item.text.split()
        places = [item.text[:start].count(" ") for start, _ in item.rationale]
        for how, mask in copies:
            keep_mask = planted.drawn_to_stay(len(words), seeded("erased", how, item.id))
            remaining, label, left = planted.erase_words(words, item.label, places, keep_mask, mask=mask)
            if remaining:
                shown = planted.misled(label, keep_mask, misled, answer) if misled else label
                yield _planted_item(f"{item.id}-{how}", remaining, shown, left, group=item.group)


def _planted_item(name: str, words: Sequence[str], label: int, places: Sequence[int], *, group: str) -> Item:
    starts = [sum(len(word) + 1 for word in words[:place]) for place in places]
    spans = tuple((start, start + len(words[place])) for start, place in zip(starts, places, strict=True))
    return Item(name, " ".join(words), label, group, rationale=spans)


_BBC_TOPICS = ("business", "entertainment", "politics", "sports", "tech")


def _bbc() -> Iterator[Item]:
    with zipfile.ZipFile(fetch("bbc")) as opened:
        for member in sorted(opened.namelist()):
            parts = member.split("/")
            if len(parts) != 5 or parts[3] not in _BBC_TOPICS or not member.endswith(".txt"):
                continue
            raw = opened.read(member)
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:
                text = raw.decode("latin-1")
            key = f"{parts[3]}-{parts[4][:-4]}"
            yield Item(f"bbc-{key}", " ".join(text.split()), _BBC_TOPICS.index(parts[3]), key)


_SECTIONS = ("abstract", "introduction", "conclusion")


def _papers() -> list[dict[str, Any]]:
    archive = fetch("aclsum")
    lines = b"\n".join(read_member(archive, f"aclsum/dataset/{part}.jsonl") for part in ("train", "val", "test"))
    return [json.loads(line) for line in lines.splitlines() if line.strip()]


def _section() -> Iterator[Item]:
    for paper in _papers():
        for label, section in enumerate(_SECTIONS):
            sentences = paper["sentences"].get(section) or []
            if sentences:
                yield Item(f"section-{paper['id']}-{section}", " ".join(sentences), label, paper["id"])


def _pair() -> Iterator[Item]:
    """Aspect summaries with a section: half with one of the same paper in which people marked the aspect, half with the
    same kind of section of another paper of the same split."""
    papers = {paper["id"]: paper for paper in _papers()}
    split_of = split_groups("pair", set(papers), _TASKS["pair"].shares)
    for paper in papers.values():
        others = sorted(
            (p for p in papers if p != paper["id"] and split_of[p] == split_of[paper["id"]]),
            key=lambda p: stable_hash("pair", paper["id"], p),
        )
        turn = 0
        for aspect, query in paper["summary"].items():
            for section in _SECTIONS:
                marks = paper["highlights"].get(aspect, {}).get(section) or []
                if not any(marks):
                    continue
                key = f"{paper['id']}-{aspect}-{section}"
                sentences = paper["sentences"][section]
                yield Item(f"pair-{key}-yes", " ".join(sentences), 1, paper["id"], query, _marked(sentences, marks))
                other = papers[others[turn % len(others)]]
                turn += 1
                if other["sentences"].get(section):
                    yield Item(f"pair-{key}-no", " ".join(other["sentences"][section]), 0, paper["id"], query)


def _marked(sentences: Sequence[str], marks: Sequence[int]) -> tuple[Span, ...]:
    """Character spans of the marked sentences in the text that joins all by one space."""
    spans, start = [], 0
    for sentence, mark in zip(sentences, marks, strict=True):
        if mark:
            spans.append((start, start + len(sentence)))
        start += len(sentence) + 1
    return tuple(spans)


def _messages() -> Iterator[Item]:
    """Plain messages in English; those in many languages come first, for they are kept where texts must go (duplicates,
    and what classes have too many of) and rows in all languages are few."""
    plain = [message for message in home_assistant.read(fetch("homeassistant")) if message.is_plain]
    for message in sorted(plain, key=lambda m: (-len(m.texts), stable_hash("messages", m.id))):
        yield Item(message.id, message.texts["en"], message.label, message.integration)


def _with_triggers(items: Callable[[], Iterable[Item]], split_as: str | None = None) -> _Task:
    return _Task(items, planted.WORD_LABELS, 32, (0.10, 0.08), has_rationales=True, split_as=split_as)


_TASKS = {
    "movie": _Task(_movie, ("negative", "positive"), 64, (0.10, 0.08)),
    "bbc": _Task(_bbc, _BBC_TOPICS, 64, (0.20, 0.10)),
    "section": _Task(_section, _SECTIONS, 256, (0.28, 0.12)),
    "pair": _Task(_pair, ("no", "yes"), 256, (0.28, 0.12), has_rationales=True),
    "planted": _with_triggers(_planted),
    "planted-erased": _with_triggers(_planted_erased, split_as="planted"),
    "planted-misled": _with_triggers(partial(_planted_erased, misled="third"), split_as="planted"),
    **{
        f"planted-{amount}{ending}": _with_triggers(
            partial(_planted_erased, _MASKED, misled=amount, answer=answer), split_as="planted"
        )
        for amount in ("light", "middle", "heavy")
        for ending, answer in (("", 1), ("-neither", 0))
    },
    "messages": _Task(_messages, home_assistant.TYPES, 128, (0.35, 0.10), balanced=True),
}


def _paper_set(name: str, split: str) -> Dataset:
    """One of the paper's own data sets; SST-2's files can be fetched (digests known), the others have to be there."""
    if partial_sets.is_read_in_parts(name):
        return Dataset(name=name, split=split, **partial_sets.read_part(name, split))
    if name != "sst":
        require(*registry().data[name])
    if name == "ag" and split != "test":
        return _ag_part(split)
    read, file = _PAPER_SETS[name]
    folder = fetch(f"sst-{split}").parent if name == "sst" else data_folder() / name
    part = "val" if split == "dev" and name in ("multirc", "reviews") else split
    return Dataset(name=name, split=split, **read(folder, file.format(split=part)))


def _ag_part(split: str) -> Dataset:
    """AG News comes without a dev split; the paper's sizes (102,000 / 18,000) are 85 and 15 % of the training file."""
    whole = Dataset(name="ag", split=split, **zhao_aletras_sets.ag(data_folder() / "ag", "train.csv"))
    ordered = _sample(whole, len(whole), seed=0)
    dev = round(0.15 * len(whole))
    return ordered[:dev] if split == "dev" else ordered[dev:]


_PAPER_SETS: dict[str, tuple[Callable[[Path, str], dict[str, Any]], str]] = {
    "sst": (zhao_aletras_sets.sst, "{split}.tsv"),
    "ag": (zhao_aletras_sets.ag, "{split}.csv"),
    "evinf": (zhao_aletras_sets.evinf, "{split}.csv"),
    "multirc": (zhao_aletras_sets.multirc, "{split}.jsonl"),
    "reviews": (zhao_aletras_sets.reviews, "{split}.jsonl"),
    "mnli": (nli_sets.mnli, "{split}"),
    "xnli": (nli_sets.xnli, "{split}"),
    "esnli": (nli_sets.esnli, "{split}"),
    "exnli": (nli_sets.exnli, "{split}"),
    "nli": (nli_sets.nli_brought, "{split}"),
}
# What learns from these keeps away from the test splits of others too.
_KEPT_FROM: dict[str, tuple[str, ...]] = {"sst": ("movie",), "ag": (), "evinf": (), "multirc": (), "nli": ()}
_PARALLEL: dict[str, Callable[[str, Sequence[str], str], dict[str, Dataset]]] = {
    "messages": _messages_in,
    "xnli": partial(_pairs_in, read=nli_sets.xnli),
    "exnli": partial(_pairs_in, read=nli_sets.exnli),
    "nli": partial(_pairs_in, read=nli_sets.nli_in),
}
