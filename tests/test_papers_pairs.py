"""SNLI and XNLI as one data set: read in every layout, checked, and kept apart from what is measured."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from faithbook.engine.profiles import table
from faithbook.sources import datasets, files, nli_sets, partial_sets
from faithbook.sources.near_duplicates import near_duplicates
from faithbook.sources.splits import SPLITS
from faithlib.errors import DataError, DigestError

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
NUMBERS = ("0", "1", "2")
WORDS = "ash birch cedar elm fir gum hazel ivy juniper kauri larch maple".split()


def pairs_of(name: str, n: int, language: str = "en") -> list[tuple[str, str, str]]:
    """`n` premises of ours, each with a hypothesis of every class."""
    rows = []
    for i in range(n):
        premise = " ".join(f"{language}{name}{word}{i}" for word in WORDS[:4])  # no premise has a word of another
        rows += [(premise, f"{language} {label} of {WORDS[i]}", label) for label in nli_sets.LABELS]
    return rows


def write_snli(path: Path, rows: list[tuple[str, str, str]]) -> None:
    numbers = {label: number for number, label in nli_sets._SNLI_LABELS.items()}
    lines = [f"{path.stem}.jpg#{i}\t{numbers[label]}\t{p}\t{h}\tmore" for i, (p, h, label) in enumerate(rows)]
    path.write_text("\n".join(["unique_key\tlabel\tpremise\thypothesis\texplanation1", *lines]) + "\n")


def write_xnli(path: Path, rows: list[tuple[str, str, str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FAITHLIB_DATA with a few pairs of ours in the layout of the files that people bring, and their digests."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setattr(nli_sets, "_PER_CLASS", {"dev": 8, "test": 4})
    for name in ("snli", "xnli"):
        (tmp_path / name).mkdir()
    for split in ("dev", "test"):
        write_snli(tmp_path / "snli" / f"{split}.tsv", pairs_of(f"snli{split}", 3))
        known = nli_sets.pairs_digest(nli_sets.snli(tmp_path / "snli", split))
        monkeypatch.setitem(nli_sets._DIGESTS, f"snli-{split}", known)
        for language in ("en", "bg"):
            rows = pairs_of(split, nli_sets._PER_CLASS[split], language)
            write_xnli(tmp_path / "xnli" / f"{split}-{language}.tsv", rows)
            known = nli_sets.pairs_digest(nli_sets.xnli(tmp_path / "xnli", split, language))
            monkeypatch.setitem(nli_sets._DIGESTS, f"xnli-{split}-{language}", known)
    return tmp_path


@pytest.fixture
def archives(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same pairs in the layout of the owners' archives, whose digests are not asked for."""
    monkeypatch.setattr(files, "verify", lambda source, path: None)
    for name in ("snli", "xnli"):
        (made / f"{name}-archive").mkdir()
    with zipfile.ZipFile(made / "snli-archive" / "snli_1.0.zip", "w") as archive:
        for split in ("dev", "test"):
            rows = [
                {"sentence1": p, "sentence2": h, "gold_label": label, "pairID": f"{split}.jpg#{i}"}
                for i, (p, h, label) in enumerate(pairs_of(f"snli{split}", 3))
            ]
            rows.insert(1, rows[0] | {"gold_label": "-", "pairID": "none"})
            archive.writestr(f"snli_1.0/snli_1.0_{split}.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    with zipfile.ZipFile(made / "xnli-archive" / "XNLI-1.0.zip", "w") as archive:
        for split, n in (("dev", 8), ("test", 4)):
            lines = ["language\tgold_label\tsentence1\tsentence2\tpairID"]
            for language in ("bg", "en"):
                rows = enumerate(pairs_of(split, n, language))
                lines += [f"{language}\t{label}\t{p}\t{h}\t{i}" for i, (p, h, label) in rows]
            archive.writestr(f"XNLI-1.0/xnli.{split}.tsv", "\n".join(lines) + "\n")
    return made


def splits() -> dict[str, datasets.Dataset]:
    return {split: datasets.load_dataset("nli", split) for split in SPLITS}


@pytest.mark.usefixtures("made")
def test_english_pairs_are_learnt_and_a_premise_stays_in_one_split() -> None:
    found = splits()
    assert [len(found[split]) for split in SPLITS] == [3 * (3 + 3 + 6), 3 * 2, 3 * 4]
    assert set(found["test"].texts) == {premise for premise, _, _ in pairs_of("test", 4)}
    assert not set(found["train"].texts) & set(found["dev"].texts)
    first = found["train"]
    assert (first.texts[0], first.pairs and first.pairs[0]) == pairs_of("snlidev", 1)[0][:2]
    assert [nli_sets.LABELS[label] for label in first.labels[:3]] == list(nli_sets.LABELS)
    assert len({key for one in found.values() for key in one.ids}) == sum(map(len, found.values()))
    assert found["test"].clusters[found["test"].ids[2]] == found["test"].ids[0]


@pytest.mark.usefixtures("made")
def test_the_test_pairs_are_there_in_every_language_and_the_others_in_english() -> None:
    both = datasets.load_parallel("nli", ("en", "bg"), "test")
    assert both["en"] == datasets.load_dataset("nli")
    assert both["bg"].labels == both["en"].labels
    assert both["bg"].texts[0].startswith("bgtest")
    with pytest.raises(DataError, match="its dev split is in English alone"):
        datasets.load_parallel("nli", ("en", "bg"), "dev")


@pytest.mark.usefixtures("archives")
def test_the_owners_archives_are_read_where_they_lie_and_hold_the_same() -> None:
    assert partial_sets.is_read_in_parts("nli")
    fetched, test = splits(), datasets.load_parallel("nli", ("bg", "en"), "test")
    for name in ("snli-archive", "xnli-archive"):
        shutil.rmtree(files.data_folder() / name)
    assert not partial_sets.is_read_in_parts("nli")
    brought = splits()
    assert {split: one.wholes for split, one in fetched.items()} == {s: one.wholes for s, one in brought.items()}
    assert fetched["train"].ids == brought["train"].ids
    assert test == datasets.load_parallel("nli", ("bg", "en"), "test")


def test_what_nearly_repeats_a_premise_of_the_test_split_is_not_learnt(made: Path, monkeypatch) -> None:
    rows = pairs_of("snlidev", 3)
    again = [(f"{pairs_of('test', 4)[0][0]} !", hypothesis, label) for _, hypothesis, label in rows[:3]]
    write_snli(made / "snli" / "dev.tsv", [*again, *rows[3:]])
    monkeypatch.delitem(nli_sets._DIGESTS, "snli-dev")
    train, dev, left_out = datasets.splits_to_learn("nli")
    assert left_out == {"dev": {"test split": 0}, "train": {"dev split": 0, "test split": 3}}
    assert (len(train), len(dev)) == (33, 6)
    assert not near_duplicates(train.texts, datasets.load_dataset("nli").texts)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("snli/dev.tsv", lambda text: text[: text.rindex("\n", 0, -1) + 1], "labels of snli-dev are not those"),
        ("snli/dev.tsv", lambda text: text[:-20], "ends before the last of unique_key|are not those expected"),
        ("snli/test.tsv", lambda text: text.replace("#0\t1\t", "#0\t2\t"), "pairs and labels of snli-test are not"),
        ("snli/test.tsv", lambda text: text.replace("#0\t1\t", "#0\t3\t"), "label '3' is not one of 0, 1, 2"),
        ("snli/test.tsv", lambda text: text.replace("premise", "first"), "lacks the columns premise"),
        ("xnli/dev-en.tsv", lambda text: text[: text.rindex("\n", 0, -1) + 1], "has 8 entailment, 8 neutral, 7 contra"),
        ("xnli/dev-en.tsv", lambda text: text[:-4], "label 'contradic"),
        ("xnli/dev-en.tsv", lambda text: text.replace("ash", "oak"), "pairs and labels of xnli-dev-en are not those"),
    ],
)  # fmt: skip
def test_files_cut_short_changed_or_mislabelled_are_refused(made: Path, file: str, change, message: str) -> None:
    (made / file).write_text(change((made / file).read_text()))
    with pytest.raises(DataError, match=message):
        datasets.load_dataset("nli", "train")


def test_a_wrong_or_damaged_archive_is_refused(archives: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(archives / "xnli-archive" / "XNLI-1.0.zip", "w") as archive:
        archive.writestr("XNLI-1.0/xnli.test.tsv", b"\xff\xfe")
    with pytest.raises(DataError, match=r"cannot read xnli\.test\.tsv in "):
        datasets.load_dataset("nli")
    with pytest.raises(DataError, match=r"cannot read XNLI-1\.0/xnli\.dev\.tsv"):
        datasets.load_dataset("nli", "dev")
    monkeypatch.undo()
    monkeypatch.setenv("FAITHLIB_DATA", str(archives))
    with pytest.raises(DigestError, match="is not the file expected for source"):
        datasets.load_dataset("nli")


def test_the_table_of_profiles_knows_what_is_read() -> None:
    assert table().data["nli"] == datasets._READ_FROM["nli"]


# ------------------------------------------------------------------------------------------------------ the real files
@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real files as they lie where somebody has brought them: SNLI unpacked, XNLI as it is packed."""
    if not SHARED.is_dir():
        pytest.skip("the papers' real files are not on this machine")
    (tmp_path / "snli").mkdir()
    for split in ("dev", "test"):
        packed = (SHARED / "snli" / f"{split}.tsv.gz").read_bytes()
        (tmp_path / "snli" / f"{split}.tsv").write_bytes(gzip.decompress(packed))
    (tmp_path / "xnli").symlink_to(SHARED / "xnli")
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("real")
def test_the_real_pairs_are_those_that_are_told_in_english_and_thai() -> None:
    found = splits()
    assert [len(found[split]) for split in SPLITS] == [9842 + 9824 + 1866, 624, 5010]
    assert set(Counter(found["test"].labels).values()) == {1670}
    assert len(set(found["train"].ids)) == len(found["train"])
    thai = datasets.load_parallel("nli", ("en", "th"), "test")["th"]
    assert thai.labels == found["test"].labels
    assert thai.texts != found["test"].texts
