"""Study 4 from the models on: the texts of the authors' files, attributions as their code makes them, and the page that
sets the six models beside the released numbers."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import replica_data
import torch
from store import Store
from test_edin_methods import cut_into_words
from toy_models import text_inputs, text_model

from faithbook.papers import edin_six
from faithbook.papers.edin_methods import METHODS, as_coded
from faithbook.papers.edin_released import LONG, MODELS, SHORT, read_packed
from faithbook.papers.edin_tables import CELL, released_limits, scored_by
from faithbook.sources import edin_texts as reading
from faithbook.sources import files
from faithbook.sources.edin_texts import LENGTHS, edin_texts
from faithlib.attribution import attribute
from faithlib.errors import DataError, DigestError, InputError, UnknownNameError

THEIRS = Path(__file__).resolve().parents[2] / "shared" / "data" / "naopc" / "data"


# --------------------------------------------------------------------------------------------------------- the texts
@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FAITHLIB_DATA with files of ours in their layout, whose digests are not asked for."""
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    monkeypatch.setattr(files, "verify", lambda source, path: None)
    (tmp_path / "edin-texts").mkdir()
    for one in files.files_of("edin-texts"):
        one.path.write_text(replica_data.edin_texts(one.file, 7), encoding="utf-8")
    return tmp_path / "edin-texts"


@pytest.mark.usefixtures("made")
def test_texts_are_read_in_the_order_of_their_file() -> None:
    for dataset, lengths in LENGTHS.items():
        for length in lengths:
            whole = edin_texts(dataset, length)
            assert list(whole.columns) == ["id", "text"]
            assert len(whole) == whole.id.nunique() == 7
            pd.testing.assert_frame_equal(edin_texts(dataset, length, n=3), whole[:3])
    assert {f"edin-texts:{d}_test_{length}.csv" for d in LENGTHS for length in LENGTHS[d]} == {
        one.id for one in files.files_of("edin-texts")
    }
    with pytest.raises(UnknownNameError, match="'imbd': did you mean 'imdb'"):
        edin_texts("imbd", "long")
    with pytest.raises(UnknownNameError, match="known: long"):
        edin_texts("imdb", "short")
    with pytest.raises(InputError, match="at least one text"):
        edin_texts("imdb", "long", n=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("word_length,token_length,label,id\n3,5,1,0\n", "lacks the columns text"),
        ("label,id,text\n1,0,a fine film\n0,1,a dull film\n", "label '0' is not one of 1"),
        ("label,id,text\n1,0,a fine film\n1,0,a good film\n", "row 2 has the id of an earlier one"),
        ("label,id,text\n1,x,a fine film\n", "row 1 has an id that is no number"),
        ("label,id,text\n1,0,a fine film\n1,1,\n", "row 2 has no text"),
        ('label,id,text\n1,0,"a film cut sho', "cannot read"),
        ("", "cannot read"),
    ],
)
def test_damaged_or_mislabelled_texts_are_refused(made: Path, content: str, message: str) -> None:
    (made / "yelp_test_long.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        edin_texts("yelp", "long")


def test_the_real_texts_are_those_of_the_released_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not THEIRS.is_dir():
        pytest.skip("the authors' files are not on this machine")
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    shutil.copytree(THEIRS, tmp_path / "edin-texts")
    released = read_packed("texts")
    for dataset, lengths in LENGTHS.items():
        for length in lengths:
            ours = edin_texts(dataset, length)
            theirs = released[(released.dataset == dataset) & (released.length == length)].sort_values("place")
            assert ours.id.tolist() == theirs.id.tolist()
            assert ours.text.str.split().map(len).tolist() == theirs.words.tolist()
    cut = tmp_path / "edin-texts" / "imdb_test_long.csv"
    cut.chmod(0o644)
    cut.write_bytes(cut.read_bytes()[:-100])
    with pytest.raises(DigestError, match=r"is not the file expected for source 'edin-texts:imdb_test_long\.csv'"):
        edin_texts("imdb", "long")


# ---------------------------------------------------------------------------------------------------------- the scores
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_word_has_the_sum_of_its_pieces_scores(family: str) -> None:
    model = text_model(family)
    inputs = cut_into_words(text_inputs(model, lengths=(6, 4, 3, 7)))
    found = as_coded(model, inputs, target=1, ig_steps=8)
    assert tuple(found) == METHODS
    for name, scores in found.items():
        assert scores.shape == inputs.feature_mask.shape
        assert (scores >= 0).all(), name
        assert (scores[~inputs.feature_mask] == 0).all()
        assert torch.isfinite(scores).all()
    pieces = inputs.by_piece()
    lengths = attribute("input_x_gradient", model, pieces, target=1, output="logit", aggregation="l2")
    dropped = attribute("occlusion", model, pieces, target=1, output="logit", erase="mask").abs()
    weights = attribute("attention", model, pieces)
    for name, of_pieces in {
        "input_x_gradient": lengths, "occlusion": dropped, "attention": weights, "attingrad": weights * lengths
    }.items():  # fmt: skip
        # The first two pieces of each text are one word.
        expected = torch.cat([of_pieces[:, :1] + of_pieces[:, 1:2], of_pieces[:, 2:]], dim=1)
        expected = expected[:, : inputs.feature_mask.shape[1]] * inputs.feature_mask
        assert torch.allclose(found[name], expected, atol=1e-5), name


def test_a_text_is_explained_alike_whatever_stands_beside_it() -> None:
    model = text_model()
    inputs = cut_into_words(text_inputs(model, lengths=(6, 4, 7)))
    together = as_coded(model, inputs, target=1, ig_steps=4)
    alone = as_coded(model, inputs[[1]], target=1, ig_steps=4)
    for name in METHODS:
        size = alone[name].shape[1]
        assert torch.allclose(together[name][1, :size], alone[name][0], atol=1e-5), name


# ------------------------------------------------------------------------------------------------------------ the page
SEARCHES = {"short": ("exact", "beam"), "long": ("beam", "adaptive")}


def units_like_released(dataset: str, model: str, *, off: float, n: int = 12) -> pd.DataFrame:
    """What `naopc_six` would keep if it found the released values, p and bounds shifted by `off`."""
    both = scored_by(released_limits())
    both = both[(both.dataset == dataset) & (both.model == model)].groupby("length").head(n)
    frames = []
    for search in ("exact", "beam", "adaptive"):
        part = both[[search in SEARCHES[length] for length in both.length]]
        ends = part.assign(lower=part.lower + off, upper=part.upper + off, rows=40, width=5, method=search)
        frames.append(ends.melt(["id", "length", "method"], ["lower", "upper", "rows", "width"], "metric"))
    facts = both.assign(p_full=both.p_full + off, method="none")
    frames.append(facts.melt(["id", "length", "method"], ["p_full", "words"], "metric"))
    generator = np.random.default_rng(0)
    for method in METHODS:
        for metric in ("aopc", "naopc"):
            for kind in ("comprehensiveness", "sufficiency"):
                told = {"method": method, "metric": f"{metric}_{kind}", "value": generator.uniform(0, 1, len(both))}
                frames.append(both[["id", "length"]].assign(**told))
    found = pd.concat(frames, ignore_index=True).astype({"id": str})
    return found.assign(cluster=found.id, seed=0)


def test_the_page_sets_six_models_beside_the_released_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch, profile="paper")
    asked = list(MODELS)[:2]
    for k, model in enumerate(asked):
        for dataset in LONG:
            units = units_like_released(dataset, model, off=0.01 * (k == 0))
            declared = ("hf:textattack/bert-base-uncased-SST-2",)
            store.add("naopc_six", {"": units}, declared=declared, dataset=dataset, classifier=model)
    page = store.report("naopc_six_models")
    assert "the paper's data and models" in page.text
    agreed = page.table("naopc_six_agreement")
    assert len(agreed) == len(asked) * (len(SHORT) + len(LONG))
    shifted = agreed.model == asked[0]
    assert agreed.same_p.where(shifted, 0).max() == 0
    assert agreed.same_p.where(~shifted, 1).min() == 1
    assert agreed.same_words.min() == 1
    assert agreed.upper_apart[shifted].to_numpy() == pytest.approx(0.01, abs=1e-3)
    bounds = page.table("naopc_six_bounds")
    assert len(bounds) == 3 * len(agreed)
    assert bounds.set_index(["dataset", "length", "model", "metric"]).published.notna().all()
    scores = page.table("naopc_six_scores")
    assert len(scores) == len(agreed) * len(METHODS) * 4
    assert set(scores.method) == set(METHODS)
    assert len(page.table("naopc_six_searches")) == len(asked) * len(LONG)


def test_without_the_six_models_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Store(tmp_path, monkeypatch).report("naopc_six_models")
    assert "**Not run.**" in page.text
    assert not list(page.folder.glob("*.csv"))


def test_texts_of_which_nothing_was_released_are_left_out() -> None:
    units = units_like_released("imdb", "bert_imdb", off=0.0, n=3).assign(dataset="imdb", classifier="bert_imdb")
    frame = edin_six.of_six(units.assign(id=units.id.replace({units.id[0]: "999999"})))
    both = edin_six.beside_released(frame)
    assert len(both) == 2
    assert set(CELL) <= set(both.columns)
    assert reading.POSITIVE == 1
