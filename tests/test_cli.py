"""`python -m faithlib evaluate`: a table of texts in, a report and values out; what is wrong is a sentence and a 2."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import transformers
from toy_models import text_model, tokenizer

from faithlib import __version__
from faithlib.__main__ import main
from faithlib.evaluation import evaluate

TEXTS = ["a fine film, not bad", "it is bad at all", "who is it", "a film not fine"]
FEW = ["--methods", "saliency,occlusion,random", "--metrics", "aopc_morf,saco"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier, and a model without a head, as on the hub."""
    folder, model = tmp_path_factory.mktemp("models"), text_model("bert")
    model.config.id2label, model.config.label2id = dict(enumerate("xyz")), {name: i for i, name in enumerate("xyz")}
    for name, saved in (("my-model", model), ("headless", model.bert), ("other", None)):
        (folder / name).mkdir()
        for part in (saved, tokenizer()) if saved is not None else ():
            part.save_pretrained(folder / name)
    return folder


@pytest.fixture
def here(models: Path, tmp_path: Path, monkeypatch) -> Path:
    for folder in models.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    write(tmp_path / "texts.csv", {"text": TEXTS, "label": ["x", "y", "z", "0"], "gold": ["2:6", "", "0:3 4:6", "2:3"]})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def write(path: Path, columns: dict[str, list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8-sig") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def test_ones_own_metric_and_method_come_from_a_file(here, capsys) -> None:
    (here / "mine.py").write_text(
        "import torch\nfrom faithlib.attribution import method\nfrom faithlib.metrics import metric\n\n"
        "@metric('largest', rows=None, direction='lower', meaning='the largest score')\n"
        "def largest(answers, scores, about):\n    return scores.amax(dim=1)\n\n"
        "@method('ones')\ndef ones(model, inputs, target):\n    return torch.ones(inputs.feature_mask.shape)\n"
    )
    asked = ["--methods", "random,mine.py", "--metrics", "aopc_morf,mine.py:largest"]
    assert main(["evaluate", "my-model", "texts.csv", *asked, "--out", "out.html"]) == 0
    table = pd.read_csv("out.csv")
    assert set(table.method) == {"random", "ones"}
    assert set(zip(table.metric, table.direction, strict=True)) == {("aopc_morf", "higher"), ("largest", "lower")}
    assert table[(table.method == "ones") & (table.metric == "largest")].value.dropna().eq(1).all()
    assert "the largest score" in (here / "out.html").read_text(encoding="utf-8")
    assert main(["evaluate", "my-model", "texts.csv", "--metrics", "none.py"]) == 2
    assert "none.py is not there" in capsys.readouterr().err


def test_scores_of_other_tools_come_from_tables(here, capsys) -> None:
    words = [(i, word, found.start(), found.end()) for i, text in enumerate(TEXTS)
             for found in re.finditer(r"\w+|,", text) for word in [found.group()]]  # fmt: skip
    rows = [
        {"method": name, "text_id": i, "token": word, "score": sign * len(word), "start": start, "end": end}
        for name, sign in (("long", 1.0), ("short", -1.0))
        for i, word, start, end in words
    ]
    pytest.importorskip("pyarrow", reason="pyarrow, which reads parquet, is not installed")
    table = pd.DataFrame(rows)
    table.to_csv("theirs.csv", index=False)
    table[table.method == "long"].drop(columns=["method", "start", "end"]).to_parquet("mine.parquet")
    asked = ["evaluate", "my-model", "texts.csv", "--metrics", "aopc_morf,saco"]
    assert main([*asked, "--attributions", "theirs.csv,mine.parquet", "--out", "out.html"]) == 0
    values = pd.read_csv("out.csv").set_index(["method", "metric", "input"])["value"]
    assert list(values.index.unique("method")) == ["long", "short", "mine", "random"]
    assert values["long"].equals(values["mine"]) and not values["long"].equals(values["short"])
    said = capsys.readouterr().out
    assert "4 texts with 18 features, 4 methods" in said

    assert main([*asked, "--attributions", "theirs.csv", "--methods", "saliency", "--first", "2"]) == 0
    assert set(pd.read_csv("report.csv").method) == {"long", "short", "saliency"}
    for given, message in (
        ("none.csv", "none.csv cannot be read as a table (No such file"),
        ("mine.txt", "mine.txt holds attributions in a file of another kind: expected .csv or .parquet"),
        ("texts.csv", "texts.csv has no column text_id: it has text, label, gold"),
        ("theirs.csv,theirs.csv", "--attributions theirs.csv: there are attributions 'long' already"),
    ):
        capsys.readouterr()
        assert main([*asked, "--attributions", given]) == 2
        assert capsys.readouterr().err.startswith(f"faithlib: {message}")
    table[table.text_id < 3].to_csv("few.csv", index=False)
    assert main([*asked, "--attributions", "few.csv"]) == 2
    assert "attributions 'long': explanations of 3 texts for 4 inputs" in capsys.readouterr().err


def test_the_tokens_of_another_tool_are_features_where_a_column_gives_their_characters(here, capsys) -> None:
    """The cure that is named for a token of several features (public fault: it named an option that is not there)."""
    (here / "theirs.csv").write_text("text_id,token,score\n0,a,1\n0,fine film,2\n1,not,3\n1,bad,1\n")
    (here / "made.csv").write_text("text\na fine film\nnot bad\n")
    (here / "cut.csv").write_text("text,spans,gold\na fine film,0:1 2:11,7:11\nnot bad,0:3 4:7,0:1\n")
    asked = ["--attributions", "theirs.csv", "--metrics", "aopc_morf,pointing_game", "--out", "out.html"]
    assert main(["evaluate", "my-model", "made.csv", *asked[:2]]) == 2
    assert "on the command line a column spans" in capsys.readouterr().err
    assert main(["evaluate", "my-model", "cut.csv", *asked]) == 0
    assert "2 texts with 4 features" in capsys.readouterr().out
    values = pd.read_csv("out.csv")
    assert values[(values.method == "theirs") & (values.metric == "pointing_game")].value.tolist() == [1, 1]


def test_a_report_and_its_values_are_those_of_evaluate(here, capsys) -> None:
    asked = ["--methods", "saliency,occlusion,random", "--metrics", "aopc_morf,pointing_game"]
    assert main(["evaluate", "my-model", "texts.csv", *asked, "--target", "label", "--out", "out.html"]) == 0
    gold = [[False, True, *[False] * 4], [False] * 5, [True, True, False], [False, True, False, False]]
    model = transformers.AutoModelForSequenceClassification.from_pretrained("my-model").eval()
    options = {
        "tokenizer": transformers.AutoTokenizer.from_pretrained("my-model"),
        "target": [0, 1, 2, 0],
        "gold": gold,
    }
    named = {"methods": ["saliency", "occlusion", "random"], "metrics": ["aopc_morf", "pointing_game"]}
    table = evaluate(model, TEXTS, **named, **options)
    pd.testing.assert_frame_equal(pd.read_csv("out.csv"), pd.DataFrame(table), atol=1e-6)
    said = capsys.readouterr().out
    assert "4 texts with 18 features, 3 methods. To run: about" in said and str(table.summary()) in said
    assert said.endswith("Report with heat maps: out.html\nAll values: out.csv\n")
    page = Path("out.html").read_text(encoding="utf-8")
    assert "occlusion" in page and page.count("<h3>") == 4


def test_other_options_reach_evaluate(here, capsys) -> None:
    write(here / "long.csv", {"text": ["film. " * 60, "A film. Not bad.", "", "who is it"]})
    asked = ["--unit", "sentence", "--max-length", "20", "--first", "3", "--on-error", "skip", "--erase", "mask"]
    assert main(["evaluate", "my-model/", "long.csv", *FEW, *asked]) == 0
    said = capsys.readouterr()
    assert "note: 1 of 3 texts was cut off at its end to 20 tokens" in said.err
    assert "note: 1 of 3 inputs was skipped (row 2)" in said.err
    assert set(pd.read_csv("report.csv").input) == {0, 1}
    write(here / "pairs.csv", {"text": ["a film"] * 2, "text_pair": ["not bad", "bad film at all"]})
    assert main(["evaluate", "my-model", "pairs.csv", *FEW]) == 0
    assert "2 texts with 10 features" in capsys.readouterr().out
    (here / "short.csv").write_text("text,gold\na film,2:6\nnot bad\n")  # a row that ends early marks nothing
    assert main(["evaluate", "my-model", "short.csv", *FEW]) == 0


CANNOT_BE_READ = "made.csv cannot be read as a table ("
# What the table holds (None: the one of all tests), what is asked for beside it, and how the sentence begins.
WRONG: dict[str, tuple[str | bytes | None, list[str], str]] = {
    "a column of another name": ("review,label\na,b\n", [], "made.csv has no column text: it has review, label"),
    "no label": ("text\na film\n", ["--target", "label"], "made.csv has no column label: it has text (commas part"),
    "an empty file": ("", [], CANNOT_BE_READ + "No columns to parse from file)"),
    "a header alone": ("text\n", [], "made.csv has a header and no rows: expected at least one"),
    "Latin-1": ("text\ncafé\n".encode("latin-1"), [], CANNOT_BE_READ),
    "two columns of one name": ("text,text\na film,b film\n", [], "made.csv has two columns text: expected one"),
    "a digit that is no number": ("text,label\na film,²\n", ["--target", "label"], "unknown target '²'"),
    "marks of another form": ("text,gold\na film,2-6\n", [], "gold of row 0: '2-6'; expected characters as start:end"),
    "marks beyond": ("text,gold\na film,90:95\n", [], "gold of input 0: [(90, 95)] marks no feature of its"),
    "features beyond": ("text,spans\na film,0:95\n", [], "word 0 of text 0 covers the characters 0 to 95: expected"),
    "features of two kinds": ("text,spans\na film,0:6\n", ["--unit", "word"], "spans and unit 'word': give one of the"),
    "commas first": ("text,label\na fine, warm film,y\n", [], CANNOT_BE_READ + "Length of header or names does not"),
    "a blank text": ("text\na film\n\"\"\n", [], "text 1 ('') is blank: leave such texts out of the batch"),
    "an unknown class": (None, ["--target", "cat"], "unknown target 'cat': known: predicted, x, y, z"),
    "the first none": (None, ["--first", "0"], "first 0: expected at least 1, a whole number"),
    "no folder for the report": (None, ["--out", "no/report.html"], "--out no/report.html: expected the name of a"),
    "values over the texts": (None, ["--out", "texts.html"], "--out texts.html: the values go to texts.csv, which"),
    "values over the report": (None, ["--out", "out.csv"], "--out out.csv: the values go to out.csv, which"),
    "an unknown device": (None, ["--device", "abacus"], "--device abacus: "),
}  # fmt: skip
MODELS = {
    "no/such/folder": "model no/such/folder: there is no such folder; give one with config.json, or",
    "no-such-model": "cannot load no-such-model (",
    "other": "cannot load other (",
    "headless": "headless holds no weights for classifier.bias, classifier.weight, so that it would",
}
FILES = {
    "missing.csv": "missing.csv cannot be read as a table (No such file or directory): expected a CSV",
}


@pytest.mark.parametrize("name", [*WRONG, *MODELS, *FILES], ids=lambda name: name.replace("/", "|"))
def test_what_is_wrong_is_said_in_a_sentence_and_nothing_is_written_over(here, capsys, name: str) -> None:
    content, more, message = WRONG.get(name, (None, [], (MODELS | FILES).get(name, "")))
    table = name if name in FILES else "texts.csv" if content is None else "made.csv"
    Path("made.csv").write_bytes(content if isinstance(content, bytes) else (content or "").encode())
    before = Path("texts.csv").read_bytes()
    capsys.readouterr()
    assert main(["evaluate", name if name in MODELS else "my-model", table, *more]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"faithlib: {message}"), said
    assert "Traceback" not in said and not Path("report.html").exists()
    assert Path("texts.csv").read_bytes() == before


def test_blank_lines_numbers_and_the_word_nan_are_texts(here, capsys) -> None:
    Path("made.csv").write_text("text\n\n12 3\nNaN film\n", encoding="utf-8")
    assert main(["evaluate", "my-model", "made.csv", "--methods", "random", "--metrics", "sparseness"]) == 0
    assert len(pd.read_csv("report.csv")) == 2


def test_it_runs_as_a_module() -> None:
    run = [sys.executable, "-m", "faithlib"]
    helped = subprocess.run([*run, "evaluate", "--help"], capture_output=True, text=True, check=True)
    assert "--max-length" in helped.stdout and "TEXTS.csv is a table in UTF-8" in helped.stdout


def test_it_says_its_version_and_takes_no_half_options(capsys) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"faithlib {__version__}\n"
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "my-model", "made.csv", "--metric", "saco"])
    assert "unrecognized arguments: --metric saco" in capsys.readouterr().err
