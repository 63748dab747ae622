"""MNLI, XNLI, e-SNLI and e-XNLI in their distributors' layouts, and what the paper profile asks of them."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest
from refusals import refused

from faithbook.engine.plan import trainings
from faithbook.engine.run import load, load_units
from faithbook.engine.studies import settings_of
from faithbook.engine.trained import checkpoint_of
from faithbook.judge import published
from faithbook.models import load as models
from faithbook.sources import datasets
from faithlib.errors import DataError, InputError, UnknownNameError

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_real_files = pytest.mark.skipif(not SHARED.is_dir(), reason="the papers' real files are not on this machine")

ENGLISH = (("A man sleeps", "He rests", "entailment"), ("It rains", "It is dry", "contradiction"))
GERMAN = (("Ein Mann schläft", "Er ruht", "entailment"), ("Es regnet", "Es ist trocken", "contradiction"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of each data set below FAITHLIB_DATA."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for name in ("mnli", "xnli", "esnli", "exnli"):
        (tmp_path / name).mkdir()
    return tmp_path


def table(path, header, rows, *, dialect="tabs"):
    """A table with a header; between tabs nothing is quoted."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, dialect).writerows([header, *rows])


csv.register_dialect("tabs", delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n", quotechar=None)


# --- MNLI ------------------------------------------------------------------------------------------------------------


def mnli_lines(*rows):
    names = ("gold_label", "sentence1", "sentence2", "pairID")
    return "\n".join(json.dumps(dict(zip(names, row, strict=False)), ensure_ascii=False) for row in rows) + "\n"


def test_mnli_is_read_with_both_sentences_or_refused(folder):
    rows = [("neutral", 'He said "no', "a\u2028b", "7n"), ("-", "x", "y", "8e"), ("entailment", 'yes"', "yes", "9e")]
    file = folder / "mnli" / "multinli_1.0_train.jsonl"
    refused(DataError, r"multinli_1\.0_train\.jsonl.*is missing", datasets.load_dataset, "mnli", "train")
    for path, split in ((file.with_name("multinli_1.0_dev_matched.jsonl"), "dev"), (file, "train")):
        path.write_text(mnli_lines(*rows), encoding="utf-8")
        mnli = datasets.load_dataset("mnli", split)
        assert (mnli.texts, mnli.pairs) == (('He said "no', 'yes"'), ("a\u2028b", "yes"))
        assert mnli.ids == ("mnli-7n", "mnli-9e")
        assert [mnli.label_names[label] for label in mnli.labels] == ["neutral", "entailment"]
    few = datasets.load_dataset("mnli", "train", n=1)
    assert (few.texts[0], few.pairs[0]) in zip(mnli.texts, mnli.pairs, strict=True)
    refused(DataError, "not public; use dev", datasets.load_dataset, "mnli", "test")
    for text, message in (
        ('{"gold_label": "neu', "damaged"),
        (mnli_lines(("neutral",)), "lacks the columns pairID, sentence1, sentence2"),
        (mnli_lines(("maybe", "a", "b", "1")), "label 'maybe'"),
    ):
        file.write_text(text)
        refused(DataError, message, datasets.load_dataset, "mnli", "train")


# --- XNLI ------------------------------------------------------------------------------------------------------------


def write_lines(path, rows):
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines("\t".join(row) + "\n" for row in rows)


def write_official(path, *, last=2):
    """The owners' table: all languages below one another, here with the German pairs in another order."""
    rows = [
        [language, label, premise, hypothesis, str(pair), label]
        for language, pairs in (("de", list(enumerate(GERMAN))[:last][::-1]), ("en", enumerate(ENGLISH)))
        for pair, (premise, hypothesis, label) in pairs
    ]
    table(path, ["language", "gold_label", "sentence1", "sentence2", "pairID", "label1"], rows)


@pytest.mark.parametrize("layout", ["lines", "official"])
def test_xnli_is_parallel_by_position_in_both_layouts(folder, layout):
    pairs = {"en": ENGLISH, "de": GERMAN}
    if layout == "lines":
        for language, rows in pairs.items():
            write_lines(folder / "xnli" / f"test-{language}.tsv.gz", rows)
    else:
        write_official(folder / "xnli" / "xnli.test.tsv")
    both = datasets.load_parallel("xnli", ("en", "de"))
    for language, rows in pairs.items():
        assert [*zip(both[language].texts, both[language].pairs, strict=True)] == [row[:2] for row in rows]
    assert both["en"].ids == both["de"].ids == ("xnli-test-0", "xnli-test-1")
    assert both["en"].labels == both["de"].labels == (0, 2)
    assert datasets.load_dataset("xnli") == both["en"]
    parallel = datasets.load_parallel("xnli", ("en", "de"), n=1)
    assert parallel["en"].ids == parallel["de"].ids and parallel["de"].texts[0] in both["de"].texts


def test_what_xnli_cannot_give_is_a_clear_error(folder):
    write_lines(folder / "xnli" / "test-en.tsv.gz", ENGLISH)
    write_lines(folder / "xnli" / "test-de.tsv.gz", GERMAN[::-1])
    write_lines(folder / "xnli" / "test-bg.tsv.gz", [("a", "b")])
    write_official(folder / "xnli" / "xnli.dev.tsv", last=1)
    for error, message, *asked in (
        (DataError, "trained on mnli", ("en",), "train"),
        (DataError, r"test-fr\.tsv.*is missing", ("fr",), "test"),
        (UnknownNameError, "language 'gr'", ("gr", "en")),
        (UnknownNameError, "split 'validation'", ("en", "de"), "validation"),
        (InputError, "expected at least one", ()),
        (InputError, "expected at least one", "en"),
        (DataError, "in en and de differ", ("en", "de")),
        (DataError, "is not premise, hypothesis, label", ("bg",)),
        (DataError, "1 pairs are not in both English and de", ("de",), "dev"),
    ):
        refused(error, message, datasets.load_parallel, "xnli", *asked)


# --- highlights ------------------------------------------------------------------------------------------------------

STARS = [["A *man* sleeps.", "He *rests.*"], ["*A* *man* sleeps.", "He rests."], ["A man *sleeps.*", "*He* *rests.*"]]


def write_esnli(path, annotators, *, sentence="A man sleeps."):
    header, row = (
        ["pairID", "gold_label", "Sentence1", "Sentence2"],
        ["1.jpg#0r1e", "entailment", sentence, "He rests."],
    )
    for i, (premise, hypothesis) in enumerate(annotators, start=1):
        header += [f"Explanation_{i}", f"Sentence1_marked_{i}", f"Sentence2_marked_{i}"]
        row += ['He said, "so"', f" {premise}", hypothesis]
    table(path, header, [row], dialect="excel")


def marked(dataset):
    """The highlighted words of every premise and hypothesis."""
    return [[whole[a:b] for a, b in spans] for whole, spans in zip(dataset.wholes, dataset.rationales, strict=True)]


def test_esnli_takes_the_first_annotator_and_all_training_files(folder):
    write_esnli(folder / "esnli" / "esnli_dev.csv", STARS)
    dev = datasets.load_dataset("esnli", "dev")
    assert (dev.texts, dev.pairs) == (("A man sleeps.",), ("He rests.",))
    assert (dev.ids, dev.labels) == (("esnli-1.jpg#0r1e",), (0,))
    assert marked(dev) == [["man", "rests."]]
    assert datasets.load_dataset("esnli", "dev", n=1) == dev
    # A star that is a word marks nothing.
    write_esnli(folder / "esnli" / "esnli_dev.csv", [["A * ** *man* sleeps.", "He *re*sts."]], sentence="A * ** man")
    assert marked(datasets.load_dataset("esnli", "dev")) == [["man"]]
    for part in (1, 2):
        write_esnli(folder / "esnli" / f"esnli_train_{part}.csv", STARS[:1])
    assert marked(datasets.load_dataset("esnli", "train")) == [["man", "rests."]] * 2
    with (folder / "esnli" / "esnli_train_2.csv").open("a") as stream:
        stream.write("2.jpg,entailment,A man sleeps.\n")
    refused(DataError, "ends before the last of pairID", datasets.load_dataset, "esnli", "train")


def test_exnli_has_the_published_words(folder):
    header = ["language", "label", "premise", "hypothesis", "premise_highlighted", "hypothesis_highlighted"]
    rows = [
        ["de", "neutral", "Es regnet.", "Nein.", "Es *regnet* *.*", "Nein ."],
        ["en", "neutral", "It rains.", "No.", "It *rains* .", "*No* ."],
    ]
    table(folder / "exnli" / "exnli.csv", header, rows, dialect="excel")
    both = datasets.load_parallel("exnli", ("en", "de"))
    assert (both["de"].texts, marked(both["de"])) == (("Es regnet .",), [["regnet", "."]])
    assert marked(datasets.load_dataset("exnli")) == marked(both["en"]) == [["rains", "No"]]
    refused(DataError, "only test was published", datasets.load_dataset, "exnli", "dev")
    refused(UnknownNameError, "language", datasets.load_parallel, "exnli", ("xx",))
    table(folder / "exnli" / "exnli.csv", header[:-1], [row[:-1] for row in rows], dialect="excel")
    refused(DataError, "lacks the columns hypothesis_highlighted", datasets.load_dataset, "exnli")


# --- the real files --------------------------------------------------------------------------------------------------


@needs_real_files
def test_real_xnli_is_parallel_and_has_the_published_size(folder):
    (folder / "xnli").rmdir()
    (folder / "xnli").symlink_to(SHARED / "xnli")
    rows = datasets.load_parallel("xnli", ("en", "bg", "de", "es", "fr"), sample="all")
    assert [len(row) for row in rows.values()] == [5010] * 5
    assert all(rows_of_language.labels.count(label) == 1670 for rows_of_language in rows.values() for label in range(3))
    assert all(
        text.strip()
        for rows_of_language in rows.values()
        for text in (*rows_of_language.texts, *rows_of_language.pairs)
    )
    # Each premise comes with one hypothesis of every label.
    assert all(len(set(rows["fr"].texts[i : i + 3])) == 1 for i in range(0, 5010, 3))
    dev = datasets.load_dataset("xnli", "dev")
    assert len(dev) == 2490
    assert dev.texts[0] == "And he said, Mama, I'm home."
    assert dev.label_names[dev.labels[0]] == "neutral"


@needs_real_files
def test_real_highlights_say_what_their_index_columns_say(folder):
    source = SHARED / "esnli" / "esnli_dev_12rows.csv"
    (folder / "esnli" / "esnli_dev.csv").symlink_to(source)
    dev = datasets.load_dataset("esnli", "dev")
    assert len(dev) == 12
    with source.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for text, pair, spans, row in zip(dev.texts, dev.pairs, dev.rationales, rows, strict=True):
        assert (text, pair) == tuple(" ".join(row[f"Sentence{side}"].split()) for side in (1, 2))
        first, second = (row[f"Sentence{side}_Highlighted_1"] for side in (1, 2))
        expected = [int(i) for i in first.split(",") if first != "{}"]
        expected += [int(i) + len(text.split()) for i in second.split(",") if second != "{}"]
        assert [f"{text} {pair}"[:start].count(" ") for start, _ in spans] == sorted(expected)


@needs_real_files
def test_real_positions_and_parted_texts_say_what_the_official_rows_say(folder):
    (folder / "esnli").rmdir()
    for part, source in {"esnli-part": "esnli", "snli": "snli"}.items():
        (folder / part).mkdir()
        for path in (SHARED / source).iterdir():
            (folder / part / path.name.replace(".gz", "")).write_bytes(
                gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            )
    positions = datasets.load_dataset("esnli", "test")
    assert len(positions) == 338
    learnt = [datasets.load_dataset("esnli", split) for split in ("train", "dev")]
    seen = {name.partition("#")[0].removeprefix("snli-") for data in learnt for name in data.ids}
    assert not seen & {name.partition("#")[0].removeprefix("esnli-") for name in positions.ids}
    (folder / "esnli").mkdir()
    (folder / "esnli" / "esnli_dev.csv").symlink_to(SHARED / "esnli" / "esnli_dev_12rows.csv")
    official = datasets.load_dataset("esnli", "dev")
    rows = [positions.ids.index(name) for name in official.ids]
    assert positions.at(rows).wholes == official.wholes
    assert positions.at(rows).labels == official.labels
    assert [sorted(spans) for spans in positions.at(rows).rationales] == [sorted(s) for s in official.rationales]


# --- the paper profile -----------------------------------------------------------------------------------------------

CLASSES = ("contradiction", "entailment", "neutral")  # not in the order of the data


def test_models_of_three_seeds_are_asked_for_marked_words_and_every_language_of_table_7_is_read():
    settings = settings_of("crosslingual_plausibility", "paper")
    asked = {settings["model"](dataset="esnli", seed=seed).rpartition("/")[2] for seed in settings["seeds"]}
    made = {checkpoint_of(job).name for job in trainings("paper", "crosslingual")}
    assert len(asked) == 3
    assert asked < made
    across = settings_of("crosslingual_metrics", "paper")
    printed = {n: set(published.table(f"crosslingual_table{n}").language) for n in (2, 5, 7)}
    assert {*across["languages"], *across["only_read"]} == printed[7]
    assert {*settings_of("crosslingual_projected", "paper")["languages"]} == printed[5]
    assert {*across["languages"]} == {"en", *printed[2]}


def test_the_classes_of_a_model_of_snli_that_does_not_name_them_are_those_of_the_paper_profile(folder):
    classes = settings_of("together_matrix", "paper")["classes"]["esnli"]
    assert classes == list(CLASSES)
    classifier = models.Classifier(None, None, ("LABEL_0", "LABEL_1", "LABEL_2"), "hf:nobody/snli")
    write_esnli(folder / "esnli" / "esnli_dev.csv", STARS)
    highlights = datasets.load_dataset(settings_of("crosslingual_plausibility", "paper")["datasets"][0], "dev")
    labels = classifier.labels_of(highlights, names=classes)
    assert [CLASSES[label] for label in labels] == [highlights.label_names[label] for label in highlights.labels]
    assert marked(highlights) == [["man", "rests."]]


@pytest.mark.book
def test_a_language_that_is_only_read_is_not_explained(html: Path) -> None:
    settings = settings_of("crosslingual_metrics", "smoke")
    explained, read = {*settings["languages"]}, {*settings["only_read"]}
    assert read
    parts = {name: load_units("crosslingual_metrics", "smoke", part=name) for name in ("predictions", "choices")}
    tables = {name: load(f"crosslingual_{name}", "smoke") for name in ("word_links", "rho", "examples")}
    languages = {name: set(frame.language.astype(str)) for name, frame in (parts | tables).items()}
    assert languages["predictions"] == explained | read
    assert languages["rho"] == languages["choices"] == languages["word_links"] == explained - {"en"}
    assert languages["examples"] == explained
