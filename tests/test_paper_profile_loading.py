"""The paper profile's names lead from files in their distributors' layouts and a hub-layout checkpoint to scores."""

from __future__ import annotations

import gzip
import json

import pytest
import torch
from toy_models import text_model, tokenizer

from faithbook.engine.profiles import find_profile
from faithbook.models import load as models
from faithbook.papers.zaman_belinkov_rows import AGGREGATIONS, OUTPUTS, thirteen_rows
from faithbook.paths import root
from faithbook.sources import datasets
from faithbook.sources import files as fetching
from faithlib.errors import DataError, UnknownNameError
from faithlib.evaluation import hard_scores
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber

SETS = {"sst": ("bert", 2), "ag": ("bert", 4), "evinf": ("bert", 3), "multirc": ("roberta", 2)}
SHARED = root().parent / "shared" / "data"
TEXTS = ("a fine film , not bad at all", "unfunny film . who is it")


@pytest.fixture(params=["own", "real"])
def files(request, tmp_path, monkeypatch):
    """FAITHLIB_DATA with the four data sets: a few texts of ours, or what lies in the shared folder."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for name in ("sst-dev", "ag", "evinf", "multirc"):
        (tmp_path / name).mkdir()
    if request.param == "real":
        if not SHARED.is_dir():
            pytest.skip("the papers' real files are not on this machine")
        (tmp_path / "sst-dev" / "dev.tsv").symlink_to(SHARED / "sst2" / "dev.tsv")
        (tmp_path / "ag" / "train.csv").symlink_to(SHARED / "ag_news" / "test_first1000.csv")
        (tmp_path / "evinf" / "dev.csv.gz").symlink_to(SHARED / "evidence_inference" / "dev.csv.gz")
        for name in ("val.jsonl.gz", "docs.tar.gz"):
            (tmp_path / "multirc" / name).symlink_to(SHARED / "multirc" / name)
        return
    monkeypatch.setattr(fetching, "verify", lambda source, path: None)  # these are not the files that the digests name
    rows = list(enumerate(TEXTS * 4))
    (tmp_path / "sst-dev" / "dev.tsv").write_text("".join(f"{text}\t{i % 2}\n" for i, text in rows))
    (tmp_path / "ag" / "train.csv").write_text("".join(f'"{1 + i % 4}","who is it","{text}"\n' for i, text in rows))
    with gzip.open(tmp_path / "evinf" / "dev.csv.gz", "wt") as stream:
        stream.write("annotation_id,document,query,label_id\n")
        stream.writelines(f'{i},"{text}",who is it,significantly increased\n' for i, text in rows)
    evidence = [[{"start_token": 1, "end_token": 3}]]
    annotated = [
        {"annotation_id": f"d{i}:0", "classification": "True", "query": "who ? || it", "evidences": evidence}
        for i, _ in rows
    ]
    (tmp_path / "multirc" / "val.jsonl").write_text("".join(json.dumps(row) + "\n" for row in annotated))
    (tmp_path / "multirc" / "docs").mkdir()
    for i, text in rows:
        (tmp_path / "multirc" / "docs" / f"d{i}").write_text(text)


@pytest.mark.parametrize("name", SETS)
def test_from_the_papers_files_to_scores(name, files, tmp_path, monkeypatch):
    family, classes = SETS[name]
    spec = find_profile("paper").settings["soft"]["models"][name].format(seed=0)
    folder = tmp_path / spec.removeprefix("hf:")
    text_model(family, classes=classes).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    monkeypatch.setattr(models, "root", lambda: tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    classifier = models.load_model(spec)
    dev = datasets.load_dataset(name, "dev", n=1 if name == "ag" else 4)
    assert set(dev.labels) <= set(range(len(dev.label_names)))
    assert len(dev.label_names) == len(classifier.label_names) == classes
    # The tiny encoder has room for 60 wordpieces, and one query of MultiRC alone may take more.
    queries = None if dev.queries is None else [query[:40] for query in dev.queries]
    inputs = TextInputs.from_texts(dev.texts, classifier.tokenizer, queries=queries, max_length=60)
    # The tokenizer is not the tiny model's own: its unknown token has the number of RoBERTa's padding.
    perturber = Perturber(classifier.model, inputs, check=False)
    scores = hard_scores(perturber, torch.rand(inputs.feature_mask.shape))
    assert {k: v.shape for k, v in scores.items()} == {"ns": (len(dev), 5), "nc": (len(dev), 5)}
    if dev.rationales is not None:
        assert all(
            0 <= a < b <= len(text) for text, spans in zip(dev.texts, dev.rationales, strict=True) for a, b in spans
        )


def test_a_checkpoint_that_was_never_trained_is_a_clear_error(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataError, match="cannot load data/checkpoints/paper/sst-seed7"):
        models.load_model("hf:data/checkpoints/paper/sst-seed7")


@pytest.mark.parametrize(
    ("notebook", "of", "others", "steps"),
    [
        ("crosslingual_metrics", "mbert", {("mean", "top_prediction"): 75, ("mean", "loss"): 75}, 100),
        ("crosslingual_metrics", "xlmr", {}, 100),
        ("crosslingual_plausibility", "esnli", {("mean", "top_prediction"): 100}, 50),
    ],
)
def test_steps_of_integrated_gradients_are_those_of_appendix_b4(notebook, of, others, steps):
    block = find_profile("paper").settings[notebook]
    names = ("ig_steps", "lime_samples", "permutations")
    rows = thirteen_rows(**{name: block[name] for name in names}, ig_steps_of=block["ig_steps_of"].get(of))
    found = {name[1:3]: row.options["n_steps"] for name, row in rows.items() if name[0] == "integrated_gradients"}
    assert found == {(how, out): others.get((how, out), steps) for how in AGGREGATIONS for out in OUTPUTS}


def test_steps_of_an_aggregation_that_there_is_not_are_refused():
    with pytest.raises(UnknownNameError, match="entry of ig_steps_of 'mean lost': did you mean 'mean loss'"):
        thirteen_rows(ig_steps=2, lime_samples=2, permutations=1, ig_steps_of={"mean lost": 3})
