"""The packed results of Edin et al.: against published means always, against the authors' files where they are."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from faithbook.papers import edin, edin_released
from faithbook.papers.edin_released import MODELS, TABLES, packed_folder, read_packed
from faithbook.sources.files import data_folder
from faithlib.errors import DataError, InputError, UnknownNameError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def packed():
    """Each table whole."""
    return {name: read_packed(name) for name in TABLES}


def test_what_is_packed_is_all_there_small_and_without_texts(packed):
    assert {name: len(table) for name, table in packed.items()} == {
        "answers": 709_014, "attributions": 48_300, "scores": 168_247, "limits_exact": 2_430, "limits_beam": 63_000,
        "texts": 2_805,
    }  # fmt: skip
    folder = packed_folder()
    assert sum(path.stat().st_size for path in folder.iterdir()) < 12e6
    assert "MIT License" in (folder / "LICENSE").read_text()
    named = {"dataset", "length", "model", "method", "start"}
    for name, table in packed.items():
        for column in table.columns:
            values = table[column].iloc[:1].item()
            assert isinstance(values, str) == (column in named), (name, column)
        for column in named & set(table.columns):
            assert table[column].nunique() <= 10, (name, column)


def test_a_table_is_read_for_one_model_or_for_all(packed):
    one = read_packed("limits_exact", "bert_yelp")
    assert len(one) == 405
    whole = packed["limits_exact"]
    pd.testing.assert_frame_equal(one, whole[whole.model == "bert_yelp"].drop(columns="model").reset_index(drop=True))
    assert set(whole.model) == set(MODELS)
    pd.testing.assert_frame_equal(read_packed("texts", "bert_yelp"), packed["texts"])  # the same for every model


def test_every_set_of_words_of_every_short_text_has_an_answer():
    for dataset, texts in (("sst2", 66), ("yelp", 339)):
        found = edin.answers("bert_yelp", dataset)
        assert len(found) == len(set(found.ids)) == texts
        assert found.n_features == int(found.feature_mask.sum(dim=1).max()) == 10
    assert len(edin.answers("bert_yelp", "yelp", most=7)) == 7


def test_an_answer_table_answers_as_the_packed_rows_do():
    """Every set of every SST-2 text of a model, against the probability of its own row."""
    table = read_packed("answers", "roberta_imdb").query("dataset == 'sst2'")
    batch = edin.answers("roberta_imdb", "sst2")
    logits = table[["negative_logit", "positive_logit"]].to_numpy(dtype=float)
    expected = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
    place = {name: b for b, name in enumerate(batch.ids)}
    index = edin.torch.tensor([place[name] for name in table.id])
    removed = (table.removed.to_numpy()[:, None] >> np.arange(batch.n_features) & 1).astype(bool)
    found = batch.keep_rows(index, edin.torch.from_numpy(~removed)).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert table[table.removed == 0].id.tolist() == batch.ids
    whole, nothing = table.removed == 0, table.groupby("id").removed.transform("max") == table.removed
    np.testing.assert_allclose(batch.full.numpy(), expected[whole], rtol=0, atol=1e-12)
    np.testing.assert_allclose(batch.empty.numpy(), expected[nothing], rtol=0, atol=1e-12)


def test_an_attribution_that_counts_other_words_is_missing_and_nan_comes_last():
    batch = edin.answers("bert_sst2", "sst2")
    scores = edin.scores_of("bert_sst2", "sst2", batch)
    assert len(scores) == 10
    given = edin_released.attributions("bert_sst2", "sst2").set_index(["method", "id"]).scores
    sizes = batch.feature_mask.sum(dim=1).tolist()
    for method, values in scores.items():
        for name, n, row in zip(batch.ids, sizes, values.numpy(), strict=True):
            theirs = given[method, name]
            assert np.isnan(row).any() == (len(theirs) != n)
            if len(theirs) == n:
                order = np.argsort(-theirs, kind="stable")
                assert np.argsort(-row[:n], kind="stable").tolist() == order.tolist()
                assert not row[n:].any()


def test_names_that_were_not_released_and_damaged_tables_are_refused(tmp_path, monkeypatch):
    unequal = [edin.torch.zeros(2), edin.torch.zeros(3)]
    refused(InputError, r"2 texts with \[2, 3\] … answers: expected 2\^N", edin.AnswerTable, [1, 2], unequal)
    refused(DataError, "answers of yelb, short: not among", edin.answers, "bert_yelp", "yelb")
    refused(UnknownNameError, "did you mean 'bert_yelp'", edin.answers, "bert_yelb")
    refused(DataError, "attributions of yelp, long: not among", edin_released.attributions, "bert_yelp", "yelp", "long")
    monkeypatch.setattr(edin_released, "packed_folder", lambda: tmp_path)
    scores = (edin_released.rows_of, "scores", "bert_yelp", "yelp", "short")
    refused(DataError, r"scores_bert_yelp\.parquet cannot be read", *scores)
    (tmp_path / "scores_bert_yelp.parquet").write_bytes(b"PAR1 cut")
    refused(DataError, r"scores_bert_yelp\.parquet cannot be read", *scores)


# --------------------------------------------------------------------------------------------------- the authors' files
@pytest.fixture(scope="module")
def files():
    """The folder of the released files, Yelp and IMDB too; a skip where they are nowhere."""
    for folder in (data_folder() / "naopc", ROOT.parent / "shared" / "data" / "naopc"):
        if (folder / "results" / "aopc_scores_long" / "imdb_roberta-base-imdb.csv").exists():
            return folder
    pytest.skip("the files released by Edin et al. are not on this machine")


def test_every_released_value_is_packed_and_no_other(files):
    pack = runpy.run_path(str(packed_folder() / "pack.py"))
    assert pack["verify"](files, packed_folder())["answers"] == 709_014
