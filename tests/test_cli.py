"""`python -m faithlib evaluate`: a table of texts in, a report and values out; what is wrong is a sentence and a 2."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import transformers
from toy_models import text_model, tokenizer

from faithlib.__main__ import main
from faithlib.evaluation import evaluate

TEXTS = ["a fine film, not bad", "it is bad at all", "who is it", "a film not fine"]
FEW = ["--methods", "saliency,occlusion,random", "--metrics", "aopc_morf,saco"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    model = text_model("bert")
    model.config.id2label, model.config.label2id = dict(enumerate("xyz")), {name: i for i, name in enumerate("xyz")}
    model.save_pretrained(tmp_path / "my-model")
    tokenizer().save_pretrained(tmp_path / "my-model")
    write(tmp_path / "texts.csv", {"text": TEXTS, "label": ["x", "y", "z", "0"], "gold": ["2:6", "", "0:3 4:6", "2:3"]})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def write(path: Path, columns: dict[str, list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8-sig") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def direct(**given) -> pd.DataFrame:
    folder = "my-model"
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tool = transformers.AutoTokenizer.from_pretrained(folder)
    return evaluate(model, TEXTS, tokenizer=tool, methods=["saliency", "occlusion", "random"], **given)


def test_a_report_and_its_values_are_those_of_evaluate(here, capsys) -> None:
    assert main(["evaluate", "my-model", "texts.csv", *FEW, "--out", "out.html"]) == 0
    table = direct(metrics=["aopc_morf", "saco"])
    pd.testing.assert_frame_equal(pd.read_csv("out.csv"), pd.DataFrame(table), atol=1e-6)
    said = capsys.readouterr().out
    assert "4 texts with 18 features, 3 methods. To run: about" in said and "erased copies, some" in said
    assert str(table.summary()) in said
    assert said.endswith("Report with heat maps: out.html\nAll values: out.csv\n")
    page = Path("out.html").read_text(encoding="utf-8")
    assert "occlusion" in page and page.count("<h3>") == 4


def test_labels_and_marks_of_the_table_are_used(here, capsys) -> None:
    asked = ["--methods", "saliency,occlusion,random", "--metrics", "aopc_morf,pointing_game", "--target", "label"]
    assert main(["evaluate", "my-model", "texts.csv", *asked]) == 0
    gold = [[False, True, *[False] * 4], [False] * 5, [True, True, False], [False, True, False, False]]
    expected = direct(metrics=["aopc_morf", "pointing_game"], target=[0, 1, 2, 0], gold=gold)
    pd.testing.assert_frame_equal(pd.read_csv("report.csv"), pd.DataFrame(expected), atol=1e-6)


def test_other_options_reach_evaluate(here, capsys) -> None:
    write(here / "long.csv", {"text": ["film. " * 60, "A film. Not bad.", "", "who is it"]})
    asked = ["--unit", "sentence", "--max-length", "20", "--first", "3", "--on-error", "skip", "--erase", "mask"]
    assert main(["evaluate", "my-model/", "long.csv", *FEW, *asked]) == 0
    said = capsys.readouterr()
    assert "note: 1 of 3 texts were cut off at their end to 20 tokens" in said.err
    assert "note: 1 of 3 inputs were skipped (rows 2)" in said.err
    assert set(pd.read_csv("report.csv").input) == {0, 1}
    write(here / "pairs.csv", {"text": ["a film"] * 2, "text_pair": ["not bad", "bad film at all"]})
    assert main(["evaluate", "my-model", "pairs.csv", *FEW]) == 0
    assert "2 texts with 10 features" in capsys.readouterr().out
    (here / "short.csv").write_text("text,gold\na film,2:6\nnot bad\n")  # a row that ends early marks nothing
    assert main(["evaluate", "my-model", "short.csv", *FEW]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["my-model", "missing.csv"],
            "missing.csv cannot be read as a table (No such file or directory): expected a CSV",
        ),
        (["my-model", "."], ". cannot be read as a table (Is a directory)"),
        (["my-model", "none.csv"], "none.csv has no column text: it has review, label"),
        (["my-model", "empty.csv"], "empty.csv cannot be read as a table (No columns to parse from file)"),
        (["my-model", "header.csv"], "header.csv has a header and no rows: expected at least one"),
        (
            ["my-model", "commas.csv"],
            "commas.csv cannot be read as a table (Error tokenizing data. C error: Exp",
        ),
        (["my-model", "first.csv"], "first.csv cannot be read as a table (Length of header or names does not match"),
        (["my-model", "latin.csv"], "latin.csv cannot be read as a table ("),
        (
            ["no/such/folder", "texts.csv"],
            "model no/such/folder: there is no such folder; give one with config.json, or",
        ),
        (["no-such-model", "texts.csv"], "cannot load no-such-model ("),
        (["other", "texts.csv"], "cannot load other ("),
        (
            ["headless", "texts.csv"],
            "headless holds no weights for classifier.bias, classifier.weight, so that it would",
        ),
        (["my-model", "texts.csv", "--methods", "salience"], "unknown method 'salience': did you mean 'saliency'?"),
        (["my-model", "texts.csv", "--metrics", "sako"], "unknown metric 'sako': did you mean 'saco'?"),
        (["my-model", "texts.csv", "--target", "cat"], "unknown target 'cat': known: predicted, x, y, z"),
        (["my-model", "gaps.csv"], "text 1 ('') is blank: leave such texts out of the batch"),
        (["my-model", "gaps.csv", "--target", "label"], "gaps.csv has no column label: it has text (commas part"),
        (["my-model", "marks.csv"], "gold of row 0: '2-6'; expected characters as start:end, '2:6 11:16'"),
        (["my-model", "beyond.csv"], "gold of row 0: '90:95' marks no feature of its text; characters count from 0"),
        (
            ["my-model", "texts.csv", "--unit", "phrase"],
            "unit 'phrase': expected one of 'wordpiece', 'word', 'character'",
        ),
        (
            ["my-model", "texts.csv", "--out", "no/report.html"],
            "--out no/report.html: expected the name of a file in a",
        ),
        (["my-model", "texts.csv", "--device", "abacus"], "--device abacus: "),
    ],
    ids=lambda given: None if isinstance(given, str) else " ".join(given).replace("/", "|"),
)
def test_what_is_wrong_is_said_in_a_sentence(here, capsys, arguments: list[str], message: str) -> None:
    write(here / "none.csv", {"review": ["a"], "label": ["b"]})
    (here / "empty.csv").write_text("")
    (here / "header.csv").write_text("text\n")
    (here / "commas.csv").write_text("text,label\na film,x\na fine, warm, long film,y\n")
    (here / "first.csv").write_text("text,label\na fine, warm film,y\n")
    (here / "latin.csv").write_bytes("text\ncafé\n".encode("latin-1"))
    write(here / "gaps.csv", {"text": ["a film", ""]})
    write(here / "marks.csv", {"text": ["a film"], "gold": ["2-6"]})
    write(here / "beyond.csv", {"text": ["a film"], "gold": ["90:95"]})
    (here / "other").mkdir()
    text_model("bert").bert.save_pretrained(here / "headless")
    tokenizer().save_pretrained(here / "headless")
    capsys.readouterr()
    assert main(["evaluate", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"faithlib: {message}"), said
    assert "Traceback" not in said and not Path("report.html").exists()


def test_it_runs_as_a_module_and_asks_for_a_command(here) -> None:
    run = [sys.executable, "-m", "faithlib"]
    done = subprocess.run([*run, "evaluate", "my-model", "missing.csv"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("faithlib: missing.csv cannot be read")
    assert subprocess.run(run, capture_output=True, text=True, check=False).returncode == 2
    helped = subprocess.run([*run, "evaluate", "--help"], capture_output=True, text=True, check=True)
    assert "--max-length" in helped.stdout and "TEXTS.csv is a table in UTF-8" in helped.stdout
