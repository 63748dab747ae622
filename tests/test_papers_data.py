"""The papers' own data of study 1 as it can be had by URL: read, checked, and kept apart from what is measured."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from faithbook.engine.profiles import table
from faithbook.sources import cifar, datasets, files, partial_sets, zhao_aletras_sets
from faithbook.sources.near_duplicates import near_duplicates, words_of
from faithbook.sources.splits import SPLITS
from faithlib.errors import DataError, InputError

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
THEIRS = ("sst", "ag", "evinf", "multirc")
FOXES = [f"a quick brown fox number {i} jumps over lazy dogs of the {name}" for i, name in enumerate("abcdefgh")]


# ----------------------------------------------------------------------------------------------------- near duplicates
def test_near_duplicates_are_those_that_comparing_all_pairs_finds() -> None:
    generator = np.random.default_rng(0)
    vocabulary = [f"w{i}" for i in range(30)]

    def drawn(n: int) -> list[str]:
        return [" ".join(generator.choice(vocabulary, size=generator.integers(1, 12))) for _ in range(n)]

    others = drawn(150)
    changed = [" ".join([*text.split()[:-1], "other"]) for text in others]
    texts = drawn(150) + changed + [text.upper() + " !" for text in others[:20]]
    for threshold in (0.5, 0.7, 0.8, 0.9, 1.0):
        slow = [
            i for i, text in enumerate(texts) for one in [words_of(text)]
            if any(
                one == other if min(len(one), len(other)) < 4 else len(one & other) / len(one | other) >= threshold
                for other in map(words_of, others)
            )
        ]  # fmt: skip
        assert near_duplicates(texts, others, threshold=threshold) == slow
        assert len(slow) >= 20


def test_few_words_must_be_the_same_and_four_fifths_are_enough_of_many() -> None:
    assert near_duplicates(["one two three", "Three , two ONE"], ["one two three ."]) == [0, 1]
    assert near_duplicates(["one two", "one two three four"], ["one two three"]) == []
    assert near_duplicates(["a b c d e"], ["a b c d"]) == [0]
    assert near_duplicates(["a b c d x y"], ["a b c d"]) == []
    with pytest.raises(InputError, match="expected a similarity above 0"):
        near_duplicates([], [], threshold=0)


# ---------------------------------------------------------------------------------------------- made files, same layout
def evidence_row(key: str, document: str, outcome: str = "significantly increased") -> str:
    return f'{key},{key},{document},{outcome},"x || y || z","[(1, 3)]",2,dev\n'


def multirc_row(name: str, classification: str = "True") -> str:
    evidence = [[{"docid": name, "start_token": 2, "end_token": 4}]]
    row = {"annotation_id": f"{name}:0:1", "classification": classification, "query": "who ? || me"}
    return json.dumps({**row, "evidences": evidence}) + "\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FAITHLIB_DATA with a few texts of ours in the layout of the files by URL, whose digests are not asked for."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setattr(files, "verify", lambda source, path: None)
    for name in ("sst-train", "sst-dev", "sst-test", "ag-test", "ag-part", "evinf-part", "multirc-part"):
        (tmp_path / name).mkdir()
    for split, texts in {"train": FOXES, "dev": FOXES[:1], "test": [FOXES[1] + " !"]}.items():
        rows = "".join(f"{text}\t{i % 2}\n" for i, text in enumerate(texts))
        (tmp_path / f"sst-{split}" / f"{split}.tsv").write_text(rows)
    (tmp_path / "ag-test" / "test.csv").write_text('"3","Title here","and a story"\n')
    rows = [f'"{text}",{i % 4}\n' for i, text in enumerate(FOXES)]
    (tmp_path / "ag-part" / "train.csv").write_text("".join(rows))
    (tmp_path / "ag-part" / "dev.csv").write_text("".join(rows[:2]))
    header = "annotation_id,doc_id,document,label_id,query,rationale,label,exp_split\n"
    words = ["heart", "lung", "brain", "skin", "bone", "hand", "foot"]
    found = [evidence_row(f"{i}_{k}", f"on the {word} of {word}") for i, word in enumerate(words) for k in range(2)]
    (tmp_path / "evinf-part" / "dev.csv").write_text(header + "".join(found))
    (tmp_path / "evinf-part" / "test.csv").write_text(header + evidence_row("9_0", "aa bb cc dd"))
    documents = tmp_path / "multirc-docs" / "docs"
    documents.mkdir(parents=True)
    for split, (file, _) in partial_sets._MULTIRC.items():
        (tmp_path / "multirc-part" / file).write_text(multirc_row(f"{split}.txt"))
        (documents / f"{split}.txt").write_text(f"one two {split} .\nthree four .\n")
        texts = [f"one two {split} . three four ."]
        monkeypatch.setitem(partial_sets._MULTIRC, split, (file, zhao_aletras_sets.documents_digest(texts)))
    return tmp_path


def test_the_table_of_profiles_names_the_same_parts() -> None:
    pictures = {name: (f"{name}-folder",) for name in cifar.NAMES}
    prompted = {"prompted-ag": ("smollm2", *partial_sets._SOURCES["ag"])}  # the same texts, asked of a language model
    assert dict(table().instead) == partial_sets._SOURCES | pictures | prompted
    assert {name for names in partial_sets._SOURCES.values() for name in names} <= set(files.sources()) | {
        source.id.partition(":")[0] for source in files.sources().values()
    }


@pytest.mark.usefixtures("made")
def test_parts_are_read_and_cut_into_splits() -> None:
    ag = {split: datasets.load_dataset("ag", split) for split in SPLITS}
    assert ag["test"].texts == ("Title here and a story",)
    assert (ag["dev"].texts, ag["dev"].labels) == (tuple(FOXES[:2]), (0, 1))
    assert ag["train"].texts == tuple(FOXES[2:])  # without those that dev.csv repeats
    evinf = {split: datasets.load_dataset("evinf", split) for split in SPLITS}
    assert (len(evinf["train"]), len(evinf["dev"]), len(evinf["test"])) == (12, 2, 1)
    assert not set(evinf["train"].texts) & set(evinf["dev"].texts)
    assert evinf["test"].rationales is not None
    assert [evinf["test"].texts[0][a:b] for a, b in evinf["test"].rationales[0]] == ["bb cc"]
    multirc = datasets.load_dataset("multirc", "train")
    assert multirc.texts == ("one two train . three four .",)
    assert multirc.queries == ("who ? || me",)
    for splits in (ag, evinf):
        ids = [key for one in splits.values() for key in one.ids]
        assert len(set(ids)) == len(ids)


def test_what_people_brought_is_read_first(made: Path) -> None:
    assert partial_sets.is_read_in_parts("ag")
    (made / "ag").mkdir()
    (made / "ag" / "test.csv").write_text('"1","Brought","by hand"\n')
    assert not partial_sets.is_read_in_parts("ag")
    assert datasets.load_dataset("ag").texts == ("Brought by hand",)


def test_without_all_parts_the_whole_is_asked_for(made: Path) -> None:
    shutil.rmtree(made / "multirc-docs")
    (made / "ag-part" / "dev.csv").unlink()
    for name in ("multirc", "ag"):
        assert not partial_sets.is_read_in_parts(name)
        with pytest.raises(DataError, match=rf"{name}.* is missing: see the entry in data/sources\.toml"):
            datasets.load_dataset(name)


def test_what_nearly_repeats_a_later_split_is_not_learnt(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(datasets._KEPT_FROM, "sst", ("ag",))
    (made / "sst-dev" / "dev.tsv").write_text(f"{FOXES[0]}\t0\na text of no other file at all\t1\n")
    (made / "ag-test" / "test.csv").write_text(f'"1","{FOXES[3]}","again"\n"1","{FOXES[0]}","again"\n')
    train, dev, left_out = datasets.splits_to_learn("sst")
    assert left_out == {
        "dev": {"test split": 0, "test split of ag": 1},
        "train": {"dev split": 1, "test split": 1, "test split of ag": 2},
    }
    assert (dev.texts, train.texts) == (("a text of no other file at all",), tuple(FOXES[2:3] + FOXES[4:]))
    assert len(train.labels) == len(train.ids) == 5
    assert train.digest
    assert train.digest != dev.digest
    few = datasets.splits_to_learn("ag", n=3)[0]
    assert len(few) == 3
    assert FOXES[3] not in few.texts
    (made / "sst-dev" / "dev.tsv").write_text(f"{FOXES[0]}\t0\n")
    with pytest.raises(DataError, match=r"sst: all 1 rows of the dev split nearly repeat .*'test split of ag': 1"):
        datasets.splits_to_learn("sst")


def test_stand_ins_are_learnt_whole() -> None:
    train, dev, left_out = datasets.splits_to_learn("section")
    assert (train, dev, left_out) == (*(datasets.load_dataset("section", s) for s in ("train", "dev")), {})


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("sst-test/test.tsv", "a fine film\t2\n", "label '2' is not one of 0, 1"),
        ("sst-test/test.tsv", "a fine film\n", "a row is not sentence, label"),
        ("ag-test/test.csv", '"12","a","b"\n', "class '12' is not one of 1, 2"),
        ("ag-part/train.csv", '"a text",4\n', "label '4' is not one of 0, 1"),
        ("ag-part/train.csv", '"a text cut sho', "is empty or damaged"),
        ("evinf-part/test.csv", "annotation_id,document,query\n1,a,b\n", "lacks the columns label_id, rationale"),
        ("evinf-part/test.csv", "annotation_id,document,label_id,query,rationale\n1,a\n", "lacks the columns label_id"),
        ("multirc-part/test.jsonl", multirc_row("test.txt")[:-9], "cannot read .*test.jsonl"),
        ("multirc-part/test.jsonl", multirc_row("test.txt", "Maybe"), "'Maybe' is not one of False, True"),
        ("multirc-docs/docs/test.txt", "one two test .\n", "are not those of test.jsonl"),
    ],
)
def test_damaged_or_mislabelled_files_are_refused(made: Path, file: str, content: str, message: str) -> None:
    (made / file).write_text(content)
    name = file.split("-")[0]
    with pytest.raises(DataError, match=message):
        datasets.load_dataset(name, "train" if "train" in file else "test")


def test_an_archive_that_is_cut_is_refused(made: Path) -> None:
    shutil.rmtree(made / "multirc-docs" / "docs")
    (made / "multirc-docs" / "docs.tar.gz").write_bytes(gzip.compress(bytes(range(256)) * 40)[:300])
    with pytest.raises(DataError, match="get the archive again"):
        datasets.load_dataset("multirc")


# ------------------------------------------------------------------------------------------------------ the real files
@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real files as they lie where somebody has fetched them."""
    if not SHARED.is_dir():
        pytest.skip("the papers' real files are not on this machine")
    folder = tmp_path_factory.mktemp("raw")
    packed = {
        "ag-test/test.csv": "ag_news/test.csv.gz",
        "ag-part/train.csv": "ag_news/train_sample5000.csv.gz",
        "ag-part/dev.csv": "ag_news/dev_sample1000.csv.gz",
        "evinf-part/dev.csv": "evidence_inference/dev.csv.gz",
        "evinf-part/test.csv": "evidence_inference/test.csv.gz",
        "multirc-part/val1.jsonl": "multirc/train_part4806.jsonl.gz",
        "multirc-part/val.jsonl": "multirc/val.jsonl.gz",
        "multirc-part/test.jsonl": "multirc/test.jsonl.gz",
    }
    for place, source in packed.items():
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes(gzip.decompress((SHARED / source).read_bytes()))
    for split in SPLITS:
        (folder / f"sst-{split}").mkdir()
        shutil.copyfile(SHARED / "sst2" / f"{split}.tsv", folder / f"sst-{split}" / f"{split}.tsv")
    (folder / "multirc-docs").mkdir()
    shutil.copyfile(SHARED / "multirc" / "docs.tar.gz", folder / "multirc-docs" / "docs.tar.gz")
    return folder


@pytest.fixture
def real(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("FAITHLIB_DATA", str(fetched))
    return fetched


@pytest.mark.usefixtures("real")
def test_the_real_parts_have_the_rows_that_are_told() -> None:
    sizes = {name: [len(datasets.load_dataset(name, split)) for split in SPLITS] for name in THEIRS}
    assert sizes["sst"] == [6920, 872, 1821]
    assert sizes["ag"] == [4000, 1000, 7600]
    assert sizes["multirc"] == [4806, 3214, 4848]
    assert sizes["evinf"][2] == 720
    assert sum(sizes["evinf"][:2]) == 684
    test = datasets.load_dataset("evinf")
    assert test.rationales is not None
    assert all(test.rationales)


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", ["ag", "evinf", "multirc"])
def test_what_is_learnt_of_the_real_files_repeats_nothing_that_is_measured(name: str) -> None:
    train, dev, left_out = datasets.splits_to_learn(name)
    test = datasets.load_dataset(name)
    assert near_duplicates(train.texts, [*dev.texts, *test.texts]) == near_duplicates(dev.texts, test.texts) == []
    whole = {split: len(datasets.load_dataset(name, split)) for split in ("train", "dev")}
    for split, data in (("train", train), ("dev", dev)):
        counts = left_out[split].values()
        assert max(counts) <= whole[split] - len(data) <= sum(counts)
