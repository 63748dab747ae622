"""The training notebook with the paper's settings, on a tiny encoder and files in the paper's layout."""

from __future__ import annotations

import json

import jupytext
import papermill
import pytest
from store import run_cells
from toy_models import text_model, tokenizer

from faithbook.models.load import load_model
from faithbook.paths import root
from faithlib.errors import UnknownNameError


@pytest.mark.long
def test_full_fine_tuning_makes_a_classifier_that_loads(tmp_path, monkeypatch):
    encoder = tmp_path / "encoder"
    text_model("bert", classes=4).save_pretrained(encoder)
    tokenizer().save_pretrained(encoder)
    # A text that is in two splits would be left out of what the classifier learns from.
    for split, word in {"train": "fine", "dev": "bad", "test": "unfunny"}.items():
        rows = [
            f'"1","a {word} film","{word}"',
            f'"2","who is {word}","at all"',
            f'"3","{word}","film"',
            f'"4","it is {word}","film"',
        ]
        (tmp_path / "ag").mkdir(exist_ok=True)
        (tmp_path / "ag" / f"{split}.csv").write_text("\n".join(rows * 3) + "\n")
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    notebook = tmp_path / "train.ipynb"
    jupytext.write(jupytext.read(root() / "notebooks" / "train" / "text_classifiers.py"), notebook)
    given = {"profile": "paper", "dataset": "ag", "encoder": str(encoder), "folder": str(tmp_path / "made")}
    papermill.execute_notebook(notebook, tmp_path / "done.ipynb", {**given, "precision": "float32"}, progress_bar=False)
    card = json.loads((tmp_path / "made" / "card.json").read_text())
    assert card["test_size"] == 12
    assert 0 <= card["accuracy"] <= 1
    assert card["hyperparameters"]["learning_rate"] == 1e-5
    assert card["hyperparameters"]["learning_rate_linear"] == 1e-4
    assert len(card["dev_loss"]) == 3
    assert load_model(f"hf:{tmp_path / 'made'}").label_names == ("World", "Sports", "Business", "Sci/Tech")


@pytest.mark.parametrize(
    ("notebook", "given", "message"),
    [
        ("text_classifiers", {"dataset": "moovie"}, "unknown data set of the profile laptop 'moovie'.*'movie'"),
        ("text_classifiers", {"classifier": "l33"}, "unknown classifier of the profile laptop 'l33'.*'l3'"),
        ("vision_classifiers", {"dataset": "fashions"}, "unknown setting 'fashions'.*'fashion'"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(notebook, given, message):
    with pytest.raises(UnknownNameError, match=message):
        run_cells(root() / "notebooks" / "train" / f"{notebook}.py", given, [])
