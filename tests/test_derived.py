"""What is unpacked from a source and damaged later is made again, or refused where the source is damaged too."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from refusals import refused

from faithbook.artifacts import registry
from faithbook.models import e5, encoders
from faithbook.sources import datasets, files
from faithbook.sources.derived import derived_folder
from faithlib.errors import DataError, DigestError

WORDS = b'{"film": 0}'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder made out of a source of ours, as an encoder's is out of its package: two files, one of them so large
    that its digest is remembered."""
    content = np.random.default_rng(0).bytes(2 << 20)
    made = replace(files.sources()["bbc"], id="made", file="made.whl", sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setattr(files, "sources", lambda: {"made": made})
    (tmp_path / "made").mkdir()
    made.path.write_bytes(content)
    return make()


def make():
    source = partial(files.fetch, "made")
    makers = {"model.safetensors": lambda: source().read_bytes(), "tokenizer.json": lambda: source() and WORDS}
    return derived_folder("made", makers)


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def zeroed(folder):
    """4,000 zeroed bytes in the middle; size and time of modification stay what they were."""
    path = folder / "model.safetensors"
    before = path.stat()
    with path.open("r+b") as stream:
        stream.seek(before.st_size // 2)
        stream.write(bytes(4000))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def replaced(file, word):
    """A damage: another word in a file."""
    other = "flim" if word == "film" else 64 * "0"
    return lambda folder: (folder / file).write_text((folder / file).read_text().replace(word, other))


DAMAGE = {
    "cut": lambda folder: os.truncate(folder / "model.safetensors", 1_000_000),
    "zeroed": zeroed,
    "another vocabulary": replaced("tokenizer.json", "film"),
    "no record": lambda folder: (folder / "derived.json").unlink(),
    "damaged record": lambda folder: os.truncate(folder / "derived.json", 100),
    "another digest": lambda folder: replaced("derived.json", digest_of(folder / "model.safetensors"))(folder),
    "another source": lambda folder: replaced("derived.json", str(files.sources()["made"].sha256))(folder),
}


def test_the_record_has_the_digests_of_the_files_and_of_their_source(monkeypatch):
    folder = encoders.encoder_folder("minilm")
    record = json.loads((folder / "derived.json").read_text())
    assert set(record) == set(encoders._FILES["minilm"])
    for name, source in record.items():
        assert source == {"sha256": digest_of(folder / name), "from": {"minilm": files.sources()["minilm"].sha256}}
    # Whole files are used as they are: neither made again nor is their source read.
    monkeypatch.setattr(encoders, "fetch", lambda _: pytest.fail("the source was read"))
    assert encoders.encoder_folder("minilm") == folder


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_made_again_or_refused_by_name_beside_a_damaged_source(damage, folder):
    whole = {path.name: digest_of(path) for path in folder.iterdir()}
    damage(folder)
    assert make() == folder
    assert {path.name: digest_of(path) for path in folder.iterdir()} == whole
    damage(folder)
    archive = files.sources()["made"].path
    os.truncate(archive, 1_000_000)
    told = rf"is not the file that should be here: found .*Making it again.*{archive} is not the file expected"
    refused(DigestError, told, make)


def test_without_its_source_a_damaged_file_is_refused_and_a_missing_one_says_where_it_comes_from(folder, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "no route to host")
    monkeypatch.setattr(files.subprocess, "run", lambda *_, **__: failed)
    files.sources()["made"].path.unlink()
    assert make() == folder  # all that was made of it is whole
    zeroed(folder)
    refused(DigestError, r"model\.safetensors is not the file.*copy made\.whl.*no route to host", make)
    (folder / "model.safetensors").unlink()
    refused(DataError, r"^source 'made': .*copy made\.whl", make)


KILLED = """
import os, signal, sys
from pathlib import Path
from faithbook.sources.derived import derived_folder

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def killed_while_writing(path, content):
    with open(path, "wb") as stream:
        stream.write(content[: len(content) // 2])
        stream.flush()
        die()

when = sys.argv[1]
if when == "writing":
    Path.write_bytes = killed_while_writing
if when == "record":
    write = Path.write_bytes
    Path.write_bytes = lambda path, content: die() if path.name == "derived.json" else write(path, content)
derived_folder("killed", {"a": lambda: b"a" * 9999, "b": die if when == "second" else lambda: b"b"}, ["bbc"])
"""


@pytest.mark.parametrize("when", ["writing", "second", "record"])
def test_who_is_killed_half_way_leaves_nothing_that_is_taken_for_whole(when, tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", KILLED, when], check=False)
    assert done.returncode == -signal.SIGKILL
    folder = tmp_path / "killed" / "model"
    assert not (folder / "derived.json").exists()
    made = []

    def maker(name, content):
        return lambda: made.append(name) or content

    derived_folder("killed", {"a": maker("a", b"a" * 9999), "b": maker("b", b"b")}, ["bbc"])
    assert made == ["a", "b"]
    assert [(folder / name).read_bytes() for name in "ab"] == [b"a" * 9999, b"b"]
    derived_folder("killed", {"a": maker("a", b""), "b": maker("b", b"")}, ["bbc"])
    assert made == ["a", "b"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minilm", "minilm-l3", pytest.param("e5", marks=pytest.mark.long)])
def test_an_encoder_is_made_from_the_sources_that_it_names(name, monkeypatch):
    read = set()

    def spied(source_id):
        read.add(source_id)
        return files.fetch(source_id)

    for module in (encoders, e5, datasets):
        monkeypatch.setattr(module, "fetch", spied)
    for remembered in (e5._whole_tokenizer, e5.kept_pieces, e5._file, datasets._load_task):
        remembered.cache_clear()
    for make in encoders._FILES[name].values():
        assert make()
    assert read == set(registry().data[name])
