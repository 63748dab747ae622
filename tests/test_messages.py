"""The messages of Home Assistant: what they are labelled by, which are taken, and rows that are parallel."""

from __future__ import annotations

import subprocess
from collections import Counter
from types import SimpleNamespace

import pytest
import transformers
from refusals import refused

from faithbook.models.encoders import encoder_folder
from faithbook.sources import datasets, files, home_assistant
from faithbook.sources.splits import SPLITS
from faithlib.errors import DataError, FaithlibError

FIVE = ("en", "bg", "de", "es", "fr")
# Any change here changes which texts the shipped models have seen: train again, and say so in the changelog.
DIGEST = "867e188bf261b494"


@pytest.fixture(scope="module")
def everything() -> tuple[home_assistant.Message, ...]:
    return home_assistant.read(files.fetch("homeassistant"))


def test_splits_are_fixed_balanced_and_disjoint():
    splits = {split: datasets.load_dataset("messages", split) for split in SPLITS}
    assert {split: len(d) for split, d in splits.items()} == {"train": 720, "dev": 245, "test": 330}
    for one in splits.values():
        assert one.digest == DIGEST
        assert set(Counter(one.labels).values()) == {len(one) // 5}
    texts = [text.lower() for split in splits.values() for text in split.texts]
    assert len(texts) == len(set(texts))
    integrations = [{i.split(".")[0] for i in split.ids} for split in splits.values()]
    assert sum(map(len, integrations)) == len(set().union(*integrations))


def test_parallel_rows_are_the_same_messages(everything):
    few = datasets.load_parallel("messages", FIVE, "test", n=5)
    assert len({few[language].ids for language in FIVE}) == 1
    texts = {message.id: message.texts for message in everything}
    english = datasets.load_dataset("messages", "test")
    for languages, rows in ((FIVE, 169), (tuple(home_assistant.LANGUAGES), 160), (("de", "zh"), 330)):
        parallel = datasets.load_parallel("messages", languages, "test")
        assert tuple(parallel) == languages
        for language, messages in parallel.items():
            assert len(messages) == rows
            assert (messages.ids, messages.labels) == (parallel[languages[0]].ids, parallel[languages[0]].labels)
            assert messages.texts == tuple(texts[i][language] for i in messages.ids)
            assert all(messages.texts)
        left_out = set(english.ids) - set(messages.ids)
        assert not [i for i in left_out if texts[i].keys() >= set(languages)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("message", FIVE, "test"), "did you mean 'messages'"),
        (("messages", ("en", "zh-Hans"), "test"), r"unknown language 'zh-Hans': known: bg, .* zh"),
        (("messages", FIVE, "tests"), "did you mean 'test'"),
        (("messages", (), "test"), "expected at least one"),
        (("messages", "en", "test"), "expected at least one"),
        (("messages", FIVE, "test", 0), "at least one text"),
        (("messages", ("en", "bg"), "test"), "fewer languages"),
    ],
)
def test_wrong_requests_for_parallel_texts_are_refused(given, message, monkeypatch):
    ids = datasets.load_dataset("messages", "test").ids
    texts = {"en": "a"} | dict.fromkeys(FIVE if message != "fewer languages" else (), "a")
    messages = [SimpleNamespace(id=i, texts=texts) for i in ids]
    monkeypatch.setattr(home_assistant, "read", lambda archive: messages)
    refused(FaithlibError, message, datasets.load_parallel, *given[:3], **dict(zip(["n"], given[3:], strict=False)))


def test_no_language_loses_the_end_of_a_message(everything):
    """A truncated translation would not be parallel any more."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder_folder("e5"))
    texts = {message.id: message.texts for message in everything}
    for split in SPLITS:
        messages = datasets.load_dataset("messages", split)
        every = [text for i in messages.ids for text in texts[i].values()]
        assert max(map(len, tokenizer(every).input_ids)) <= messages.max_length


@pytest.mark.parametrize(
    ("name", "flags"),
    [("homeassistant", ["--python-version", "3.13"]), ("e5", ["--platform", "manylinux2014_x86_64"]), ("bbc", [])],
)
def test_wheels_for_other_pythons_and_machines_are_asked_for_as_such(name, flags, monkeypatch, tmp_path):
    asked = []
    failed = subprocess.CompletedProcess([], 1, "", "")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: asked.extend(command) or failed)
    with pytest.raises(DataError):
        files._download_by("pip", files.sources()[name], tmp_path)
    at = asked.index(":all:")
    assert asked[at - 1 : -1] == ["--only-binary", ":all:", *flags]
