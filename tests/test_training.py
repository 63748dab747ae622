"""The training notebook with the paper's settings, on a tiny encoder and files in the paper's layout."""

from __future__ import annotations

import json

import jupytext
import papermill
import pytest
import torch
from refusals import refused
from safetensors.torch import load_file
from store import run_cells
from toy_models import text_model, tokenizer

from faithbook.models.load import load_model
from faithbook.models.resume import TrainingState
from faithbook.paths import root
from faithlib.errors import UnknownNameError

TEXTS = root() / "notebooks" / "train" / "text_classifiers.py"


@pytest.fixture
def ag(tmp_path, monkeypatch):
    """A folder with a tiny encoder and AG News of a dozen texts a split in the paper's layout."""
    text_model("bert", classes=4).save_pretrained(tmp_path / "encoder")
    tokenizer().save_pretrained(tmp_path / "encoder")
    # A text that is in two splits would be left out of what the classifier learns from.
    for split, word in {"train": "fine", "dev": "bad", "test": "unfunny"}.items():
        told = (f"a {word} film", f"who is {word}", f"{word} film", f"it is {word}")
        rows = [f'"{label}","{text}","at all"' for label, text in enumerate(told, start=1)]
        (tmp_path / "ag").mkdir(exist_ok=True)
        (tmp_path / "ag" / f"{split}.csv").write_text("\n".join(rows * 3) + "\n")
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    return tmp_path


def fine_tune(folder, made, text=None):
    """Train with the paper's settings on that; `text`: the notebook in place of its own."""
    notebook = folder / "train.ipynb"
    jupytext.write(jupytext.reads(text or TEXTS.read_text(), fmt="py:percent"), notebook)
    options = {"profile": "paper", "dataset": "ag", "encoder": str(folder / "encoder"), "folder": str(folder / made)}
    papermill.execute_notebook(notebook, folder / "done.ipynb", {**options, "precision": "float32"}, progress_bar=False)


@pytest.mark.long
def test_fine_tuning_makes_a_classifier_and_ends_as_if_it_had_not_been_stopped(ag):
    text, line = TEXTS.read_text(), "            seconds=spent + time.time() - started,\n        )\n"
    assert text.count(line) == 1
    with pytest.raises(papermill.PapermillExecutionError):
        fine_tune(ag, "stopped", text.replace(line, f"{line}        assert epoch < 1\n"))
    assert (ag / "stopped.training.pt").exists()
    fine_tune(ag, "stopped")
    fine_tune(ag, "whole")
    assert not list(ag.glob("*.training.*"))
    first, other = (load_file(ag / made / "model.safetensors") for made in ("stopped", "whole"))
    assert set(first) == set(other)
    for name in first:
        torch.testing.assert_close(first[name], other[name], atol=1e-6, rtol=0)
    cards = [json.loads((ag / made / "card.json").read_text()) for made in ("stopped", "whole")]
    assert cards[0]["dev_loss"] == pytest.approx(cards[1]["dev_loss"]) and len(cards[0]["dev_loss"]) == 3
    assert cards[0]["test_size"] == 12 and 0 <= cards[0]["accuracy"] <= 1
    used = cards[0]["hyperparameters"]
    assert (used["learning_rate"], used["learning_rate_linear"]) == (1e-5, 1e-4)
    assert load_model(f"hf:{ag / 'whole'}").label_names == ("World", "Sports", "Business", "Sci/Tech")


def test_a_state_is_taken_up_by_the_training_that_kept_it_alone(tmp_path):
    kept = TrainingState(tmp_path / "made" / "model", {"epochs": 3})
    assert kept.state() is None
    torch.manual_seed(1)
    kept.save(epoch=1, weights=torch.ones(2))
    drawn = torch.rand(3)
    assert torch.equal(kept.state()["weights"], torch.ones(2))
    assert torch.equal(torch.rand(3), drawn)  # what is drawn next is what would have been drawn
    assert TrainingState(kept.target, {"epochs": 4}).state() is None
    kept.path.write_bytes(kept.path.read_bytes()[:-200])
    assert kept.state() is None
    kept.drop()
    assert not list(kept.path.parent.iterdir())


@pytest.mark.parametrize(
    ("notebook", "given", "message"),
    [
        ("text_classifiers", {"dataset": "moovie"}, "unknown data set of the profile laptop 'moovie'.*'movie'"),
        ("text_classifiers", {"classifier": "l33"}, "unknown classifier of the profile laptop 'l33'.*'l3'"),
        ("vision_classifiers", {"dataset": "fashions"}, "unknown setting 'fashions'.*'fashion'"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(notebook, given, message):
    refused(UnknownNameError, message, run_cells, root() / "notebooks" / "train" / f"{notebook}.py", given, [])
