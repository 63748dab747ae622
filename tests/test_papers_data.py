"""The papers' own data as it can be had by URL, texts of study 1 and SNLI and XNLI as one data set: read in every
layout, checked, and kept apart from what is measured."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from faithbook.artifacts import registry
from faithbook.sources import cifar, datasets, files, nli_sets, partial_sets, zhao_aletras_sets
from faithbook.sources.near_duplicates import distinct_words, near_duplicates
from faithbook.sources.splits import SPLITS
from faithlib.errors import DataError, DigestError, InputError

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
            i for i, text in enumerate(texts) for own in [distinct_words(text)]
            if any(
                own == other if min(len(own), len(other)) < 4 else len(own & other) / len(own | other) >= threshold
                for other in map(distinct_words, others)
            )
        ]  # fmt: skip
        assert near_duplicates(texts, others, threshold=threshold) == slow
        assert len(slow) >= 20

    assert near_duplicates(["Three , two ONE"], ["one two three ."]) == [0]  # in any order
    refused(InputError, "expected a similarity above 0", near_duplicates, [], [], threshold=0)


# ---------------------------------------------------------------------------------------------- made files, same layout
EVIDENCE = "annotation_id,doc_id,document,label_id,query,rationale,label,exp_split\n"


def evidence_row(key: str, document: str) -> str:
    return f'{key},{key},{document},significantly increased,"x || y || z","[(1, 3)]",2,dev\n'


def multirc_row(name: str, classification: str = "True") -> str:
    evidence = [[{"docid": name, "start_token": 2, "end_token": 4}]]
    row = {"annotation_id": f"{name}:0:1", "classification": classification, "query": "who ? || me"}
    return json.dumps({**row, "evidences": evidence}) + "\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FAITHLIB_DATA with a few texts of ours in the layout of the files by URL, whose digests are not asked for."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setattr(files, "verify", lambda source, path: None)
    rows = [f'"{text}",{i % 4}\n' for i, text in enumerate(FOXES)]
    words = ["heart", "lung", "brain", "skin", "bone", "hand", "foot"]
    twice = [evidence_row(f"{i}_{k}", f"on the {word} of {word}") for i, word in enumerate(words) for k in range(2)]
    written = {
        f"sst-{split}/{split}.tsv": "".join(f"{text}\t{i % 2}\n" for i, text in enumerate(texts))
        for split, texts in {"train": FOXES, "dev": FOXES[:1], "test": [FOXES[1] + " !"]}.items()
    }
    written |= {"ag-test/test.csv": '"3","Title here","and a story"\n', "ag-part/train.csv": "".join(rows)}
    written |= {"ag-part/dev.csv": "".join(rows[:2])}
    written |= {"evinf-part/dev.csv": EVIDENCE + "".join(twice)}
    written |= {"evinf-part/test.csv": EVIDENCE + evidence_row("9_0", "aa bb cc dd")}
    for split, (file, _) in partial_sets._MULTIRC.items():
        written[f"multirc-part/{file}"] = multirc_row(f"{split}.txt")
        written[f"multirc-docs/docs/{split}.txt"] = f"one two {split} .\nthree four .\n"
        digest = zhao_aletras_sets.documents_digest([f"one two {split} . three four ."])
        monkeypatch.setitem(partial_sets._MULTIRC, split, (file, digest))
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_is_read_in_parts_has_its_parts_in_the_registry() -> None:
    assert set(registry().fallback) == {*partial_sets._PARTS, *cifar.NAMES, "prompted-ag"}
    known = {*files.sources(), *(source.id.partition(":")[0] for source in files.sources().values())}
    assert {name for names in registry().fallback.values() for name in names} <= known


@pytest.mark.usefixtures("made")
def test_parts_are_read_and_cut_into_splits() -> None:
    ag, evinf = ({split: datasets.load_dataset(name, split) for split in SPLITS} for name in ("ag", "evinf"))
    assert ag["test"].texts == ("Title here and a story",)
    assert (ag["dev"].texts, ag["dev"].labels) == (tuple(FOXES[:2]), (0, 1))
    assert ag["train"].texts == tuple(FOXES[2:])  # without those that dev.csv repeats
    assert [len(evinf[split]) for split in SPLITS] == [12, 2, 1]
    assert not set(evinf["train"].texts) & set(evinf["dev"].texts)
    (test,) = zip(evinf["test"].texts, evinf["test"].rationales or (), strict=True)
    assert [test[0][a:b] for a, b in test[1]] == ["bb cc"]
    multirc = datasets.load_dataset("multirc", "train")
    assert (multirc.texts, multirc.queries) == (("one two train . three four .",), ("who ? || me",))
    for splits in (ag, evinf):
        ids = [key for split in splits.values() for key in split.ids]
        assert len(set(ids)) == len(ids)
    train, dev, left_out = datasets.splits_to_learn("section")  # a substitute is learnt whole
    assert (train, dev, left_out) == (*(datasets.load_dataset("section", s) for s in ("train", "dev")), {})


@pytest.mark.usefixtures("made")
def test_prompts_of_the_second_release_are_learnt_beside_the_first(made: Path) -> None:
    """The majority of valid labels counts; level prompts, invalid ones and articles of the two splits are left out."""
    header = "PromptID,PMCID,Valid Label,Label,Intervention,Comparator,Outcome\n"
    down, up = "significantly decreased", "significantly increased"
    rows = [
        ("1", "77", "True", down), ("1", "77", "True", down), ("1", "77", "True", up), ("1", "77", "False", up),
        ("2", "77", "True", down), ("2", "77", "True", up),
        ("3", "77", "False", up),
        ("4", "9", "True", up),  # an article of the test split
        ("5", "88", "True", up),  # its abstract is not here
    ]  # fmt: skip
    folder = made / "evinf-v2"
    folder.mkdir()
    lines = [f"{prompt},{article},{valid},{label},a drug ,none,pain\n" for prompt, article, valid, label in rows]
    (folder / "v2_annotations.csv").write_text(header + "".join(lines))
    abstracts = [{"pmcid": "77", "text": "TITLE:\n  on  trials"}, {"pmcid": "9", "text": "of the test split"}]
    (folder / "v2_abstracts.jsonl").write_text("".join(json.dumps(abstract) + "\n" for abstract in abstracts))
    train, dev = (datasets.load_dataset("evinf", split) for split in ("train", "dev"))
    assert (len(train), len(dev)) == (13, 2)
    assert (train.ids[-1], train.texts[-1], train.labels[-1]) == ("evinf-v2-1", "TITLE: on trials", 1)
    assert train.queries is not None and train.queries[-1] == "a drug || none || pain"


def test_what_people_brought_is_read_first_and_without_all_parts_the_whole_is_asked_for(made: Path) -> None:
    assert partial_sets.is_read_in_parts("ag")
    shutil.rmtree(made / "multirc-docs")
    (made / "ag-part" / "dev.csv").unlink()
    for name in ("multirc", "ag"):
        assert not partial_sets.is_read_in_parts(name)
        refused(DataError, rf"{name}.* is missing: see the entry in data/sources\.toml", datasets.load_dataset, name)
    (made / "ag").mkdir()
    (made / "ag" / "test.csv").write_text('"1","Brought","by hand"\n')
    assert datasets.load_dataset("ag").texts == ("Brought by hand",)


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
    assert train.digest and train.digest != dev.digest
    few = datasets.splits_to_learn("ag", n=3)[0]
    assert len(few) == 3 and FOXES[3] not in few.texts
    (made / "sst-dev" / "dev.tsv").write_text(f"{FOXES[0]}\t0\n")
    message = r"sst: all 1 rows of the dev split nearly repeat .*'test split of ag': 1"
    refused(DataError, message, datasets.splits_to_learn, "sst")


DAMAGED = [
    ("sst-test/test.tsv", "a fine film\t2\n", "label '2' is not one of 0, 1"),
    ("sst-test/test.tsv", "a fine film\n", "a row is not sentence, label"),
    ("ag-test/test.csv", '"12","a","b"\n', "class '12' is not one of 1, 2"),
    ("ag-part/train.csv", '"a text cut sho', "is empty or damaged"),
    ("evinf-part/test.csv", "annotation_id,document,query\n1,a,b\n", "lacks the columns label_id, rationale"),
    ("evinf-part/test.csv", EVIDENCE + evidence_row("9_0", "a b, c"), "a row is not annotation_id, doc_id"),
    ("multirc-part/test.jsonl", multirc_row("test.txt")[:-9], "cannot read .*test.jsonl"),
    ("multirc-part/test.jsonl", multirc_row("test.txt", "Maybe"), "'Maybe' is not one of False, True"),
    ("multirc-docs/docs/test.txt", "one two test .\n", "are not those of test.jsonl"),
]


def test_damaged_or_mislabelled_files_are_refused(made: Path) -> None:
    for file, content, message in DAMAGED:
        whole = (made / file).read_text()
        (made / file).write_text(content)
        split = "train" if "train" in file else "test"
        refused(DataError, message, datasets.load_dataset, file.split("-")[0], split)
        (made / file).write_text(whole)
    shutil.rmtree(made / "multirc-docs" / "docs")
    (made / "multirc-docs" / "docs.tar.gz").write_bytes(gzip.compress(bytes(range(256)) * 40)[:300])
    refused(DataError, "get the archive again", datasets.load_dataset, "multirc")


# ------------------------------------------------------------------------------------------------------ the real files
@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAITHLIB_DATA", str(folder))
        yield


@pytest.mark.usefixtures("real")
def test_the_real_parts_have_the_rows_that_are_told() -> None:
    sizes = {name: [len(datasets.load_dataset(name, split, sample="all")) for split in SPLITS] for name in THEIRS}
    *learnt, measured = sizes.pop("evinf")
    assert sizes == {"sst": [6920, 872, 1821], "ag": [4000, 1000, 7600], "multirc": [4806, 3214, 4848]}
    assert (measured, sum(learnt)) == (720, 684)
    assert all(datasets.load_dataset("evinf").rationales or [None])


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", ["ag", "evinf", "multirc"])
def test_what_is_learnt_of_the_real_files_repeats_nothing_that_is_measured(name: str) -> None:
    train, dev, left_out = datasets.splits_to_learn(name)
    test = datasets.load_dataset(name, sample="all")
    assert near_duplicates(train.texts, [*dev.texts, *test.texts]) == near_duplicates(dev.texts, test.texts) == []
    whole = {split: len(datasets.load_dataset(name, split)) for split in ("train", "dev")}
    for split, data in (("train", train), ("dev", dev)):
        counts = left_out[split].values()
        assert max(counts) <= whole[split] - len(data) <= sum(counts)


# -------------------------------------------------------------------------------------------------------- SNLI and XNLI
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


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
            lines = "".join("\t".join(row) + "\n" for row in rows)
            (tmp_path / "xnli" / f"{split}-{language}.tsv").write_text(lines)
            known = nli_sets.pairs_digest(nli_sets.xnli(tmp_path / "xnli", split, language))
            monkeypatch.setitem(nli_sets._DIGESTS, f"xnli-{split}-{language}", known)
    return tmp_path


@pytest.fixture
def archives(brought: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same pairs in the layout of the owners' archives, whose digests are not asked for."""
    monkeypatch.setattr(files, "verify", lambda source, path: None)
    for name in ("snli", "xnli"):
        (brought / f"{name}-archive").mkdir()
    with zipfile.ZipFile(brought / "snli-archive" / "snli_1.0.zip", "w") as archive:
        for split in ("dev", "test"):
            rows = [
                {"sentence1": p, "sentence2": h, "gold_label": label, "pairID": f"{split}.jpg#{i}"}
                for i, (p, h, label) in enumerate(pairs_of(f"snli{split}", 3))
            ]
            rows.insert(1, rows[0] | {"gold_label": "-", "pairID": "none"})
            archive.writestr(f"snli_1.0/snli_1.0_{split}.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    with zipfile.ZipFile(brought / "xnli-archive" / "XNLI-1.0.zip", "w") as archive:
        for split, n in (("dev", 8), ("test", 4)):
            lines = ["language\tgold_label\tsentence1\tsentence2\tpairID"]
            for language in ("bg", "en"):
                rows = enumerate(pairs_of(split, n, language))
                lines += [f"{language}\t{label}\t{p}\t{h}\t{i}" for i, (p, h, label) in rows]
            archive.writestr(f"XNLI-1.0/xnli.{split}.tsv", "\n".join(lines) + "\n")
    return brought


def splits() -> dict[str, datasets.Dataset]:
    return {split: datasets.load_dataset("nli", split, sample="all") for split in SPLITS}


@pytest.mark.usefixtures("brought")
def test_english_pairs_are_learnt_and_a_premise_stays_in_one_split() -> None:
    found = splits()
    assert [len(found[split]) for split in SPLITS] == [3 * (3 + 3 + 6), 3 * 2, 3 * 4]
    assert set(found["test"].texts) == {premise for premise, _, _ in pairs_of("test", 4)}
    assert not set(found["train"].texts) & set(found["dev"].texts)
    first = found["train"]
    assert (first.texts[0], first.pairs and first.pairs[0]) == pairs_of("snlidev", 1)[0][:2]
    assert [nli_sets.LABELS[label] for label in first.labels[:3]] == list(nli_sets.LABELS)
    assert len({key for split in found.values() for key in split.ids}) == sum(map(len, found.values()))
    assert found["test"].clusters[found["test"].ids[2]] == found["test"].ids[0]
    # The test pairs are there in every language, the others in English.
    both = datasets.load_parallel("nli", ("en", "bg"), "test")
    assert both["en"] == found["test"]
    assert both["bg"].labels == both["en"].labels and both["bg"].texts[0].startswith("bgtest")
    refused(DataError, "its dev split is in English alone", datasets.load_parallel, "nli", ("en", "bg"), "dev")


@pytest.mark.usefixtures("archives")
def test_the_owners_archives_are_read_where_they_lie_and_hold_the_same() -> None:
    assert partial_sets.is_read_in_parts("nli")
    fetched, test = splits(), datasets.load_parallel("nli", ("bg", "en"), "test")
    for name in ("snli-archive", "xnli-archive"):
        shutil.rmtree(files.data_folder() / name)
    assert not partial_sets.is_read_in_parts("nli")
    again = splits()
    assert {split: data.wholes for split, data in fetched.items()} == {s: data.wholes for s, data in again.items()}
    assert fetched["train"].ids == again["train"].ids
    assert test == datasets.load_parallel("nli", ("bg", "en"), "test")


def write_positions(folder: Path, rows: dict[str, tuple[str, str]]) -> None:
    """Places of marked words by pair of e-SNLI: the first annotator's, of premise and hypothesis."""
    (folder / "esnli-part").mkdir(exist_ok=True)
    lines = ["pairID,s1_1,s2_1", *(f"{name},{first},{second}" for name, (first, second) in rows.items())]
    (folder / "esnli-part" / nli_sets.ESNLI_POSITIONS).write_text("\n".join(lines) + "\n")


@pytest.fixture
def marked_pairs(brought: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A few pairs of SNLI about three pictures, of which one has marked words, and positions of these."""
    monkeypatch.setattr(files, "verify", lambda source, path: None)
    header = "unique_key\tlabel\tpremise\thypothesis\n"
    premise = "The man 's dog sleeps , outside ."
    dev = [("1.jpg#0r1e", 1, "A dog sleeps ."), ("1.jpg#0r1n", 0, "It is ` OLD ' ."), ("2.jpg#0r1c", 2, "It runs .")]
    # The first picture comes again in the other split, under another caption.
    test = [("1.jpg#4r1c", 2, "It runs .")] + [(f"{i}.jpg#0r1e", 1, f"A dog {i} .") for i in range(3, 43)]
    for split, rows in (("dev", dev), ("test", test)):
        lines = [f"{key}\t{label}\t{premise}\t{hypothesis}\n" for key, label, hypothesis in rows]
        (brought / "snli" / f"{split}.tsv").write_text(header + "".join(lines))
        known = nli_sets.pairs_digest(nli_sets.snli(brought / "snli", split))
        monkeypatch.setitem(nli_sets._DIGESTS, f"snli-{split}", known)
    write_positions(brought, {"1.jpg#0r1e": ("2 1", "1"), "1.jpg#0r1n": ("", "2")})
    return brought


@pytest.mark.usefixtures("marked_pairs")
def test_words_marked_by_position_are_found_and_their_pictures_are_not_learnt_from() -> None:
    assert partial_sets.is_read_in_parts("esnli")
    found = {split: datasets.load_dataset("esnli", split) for split in SPLITS}
    test = found["test"]
    assert (test.ids, test.labels) == (("esnli-1.jpg#0r1e", "esnli-1.jpg#0r1n"), (0, 1))
    assert test.texts[0] == "The man's dog sleeps, outside."
    assert test.pairs == ("A dog sleeps.", "It is `OLD'.")
    marks = [[whole[a:b] for a, b in spans] for whole, spans in zip(test.wholes, test.rationales or (), strict=True)]
    assert marks == [["man's", "dog", "dog"], ["`OLD'."]]
    learnt = {*found["train"].ids, *found["dev"].ids}
    assert learnt == {"snli-2.jpg#0r1c", *(f"snli-{i}.jpg#0r1e" for i in range(3, 43))}
    assert len(found["dev"]) == 2  # of 41 pictures one in twenty
    assert found["train"].texts[0] == test.texts[0]  # written as the marked ones are


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"1.jpg#0r1e": ("6", "")}, "s1_1 of 1.jpg#0r1e marks word 6 of a sentence of 5 words"),
        ({"9.jpg#0r1e": ("0", "")}, "snli-9.jpg#0r1e is no pair of SNLI's development split"),
    ],
)
def test_positions_of_other_pairs_are_refused(
    marked_pairs: Path, rows: dict[str, tuple[str, str]], message: str
) -> None:
    write_positions(marked_pairs, rows)
    refused(DataError, message, datasets.load_dataset, "esnli")


CHANGES = [
    ("snli/dev.tsv", lambda text: text[: text.rindex("\n", 0, -1) + 1], "labels of snli-dev are not those"),
    ("snli/dev.tsv", lambda text: text[:-20], "ends before the last of unique_key|are not those expected"),
    ("snli/test.tsv", lambda text: text.replace("#0\t1\t", "#0\t2\t"), "pairs and labels of snli-test are not"),
    ("snli/test.tsv", lambda text: text.replace("#0\t1\t", "#0\t3\t"), "label '3' is not one of 0, 1, 2"),
    ("snli/test.tsv", lambda text: text.replace("premise", "first"), "lacks the columns premise"),
    ("xnli/dev-en.tsv", lambda text: text[: text.rindex("\n", 0, -1) + 1], "has 8 entailment, 8 neutral, 7 contra"),
    ("xnli/dev-en.tsv", lambda text: text[:-4], "label 'contradic"),
    ("xnli/dev-en.tsv", lambda text: text.replace("ash", "oak"), "pairs and labels of xnli-dev-en are not those"),
]


def test_files_cut_short_changed_or_mislabelled_are_refused(brought: Path) -> None:
    for file, change, message in CHANGES:
        whole = (brought / file).read_text()
        (brought / file).write_text(change(whole))
        refused(DataError, message, datasets.load_dataset, "nli", "train")
        (brought / file).write_text(whole)


def test_a_wrong_or_damaged_archive_is_refused(archives: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(archives / "xnli-archive" / "XNLI-1.0.zip", "w") as archive:
        archive.writestr("XNLI-1.0/xnli.test.tsv", b"\xff\xfe")
    refused(DataError, r"cannot read xnli\.test\.tsv in ", datasets.load_dataset, "nli")
    refused(DataError, r"cannot read XNLI-1\.0/xnli\.dev\.tsv", datasets.load_dataset, "nli", "dev")
    monkeypatch.undo()
    monkeypatch.setenv("FAITHLIB_DATA", str(archives))
    refused(DigestError, "is not the file expected for source", datasets.load_dataset, "nli")


# ------------------------------------------------------------------------------------------------------ the real files
def test_the_real_pairs_are_those_that_are_told_in_english_and_thai(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SNLI unpacked, XNLI as it is packed."""
    if not SHARED.is_dir():
        pytest.skip("the papers' real files are not on this machine")
    (tmp_path / "snli").mkdir()
    for split in ("dev", "test"):
        packed = (SHARED / "snli" / f"{split}.tsv.gz").read_bytes()
        (tmp_path / "snli" / f"{split}.tsv").write_bytes(gzip.decompress(packed))
    (tmp_path / "xnli").symlink_to(SHARED / "xnli")
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    found = splits()
    assert [len(found[split]) for split in SPLITS] == [9842 + 9824 + 1866, 624, 5010]
    assert set(Counter(found["test"].labels).values()) == {1670}
    assert len(set(found["train"].ids)) == len(found["train"])
    thai = datasets.load_parallel("nli", ("en", "th"), "test", sample="all")["th"]
    assert thai.labels == found["test"].labels and thai.texts != found["test"].texts
