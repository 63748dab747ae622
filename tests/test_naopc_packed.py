"""The packed results of Edin et al.: against published means always, against the authors' files where they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from faithbook.papers import edin, edin_pack, edin_released
from faithbook.papers.edin_pack import MODELS, SHORT, TABLES, packed_folder, read_packed
from faithbook.results import published
from faithbook.sources.files import data_folder
from faithlib.bounds import exact_bounds
from faithlib.errors import DataError, InputError, UnknownNameError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def packed():
    """Each table whole."""
    return {
        name: pd.concat([read_packed(name, m).assign(model=m) for m in MODELS], ignore_index=True) for name in TABLES
    }


def test_what_is_packed_is_all_there_small_and_without_texts(packed):
    assert {name: len(table) for name, table in packed.items()} == {
        "answers": 709_014, "attributions": 48_300, "scores": 168_247, "limits_exact": 2_430, "limits_beam": 63_000,
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


def test_every_set_of_words_of_every_short_text_has_an_answer():
    for dataset, texts in (("sst2", 66), ("yelp", 339)):
        found = edin_released.answers("bert_yelp", dataset)
        assert len(found) == texts
        assert max(score.n_features for score in found.values()) == 10


def test_exact_limits_of_yelp_follow_from_the_answers(packed):
    """2,034 lower limits are the released ones; 40 upper ones are too high, for the released search starts at 0."""
    limits = packed["limits_exact"].query("dataset == 'yelp'").set_index(["model", "id"])
    excess = []
    for model in MODELS:
        for name, score in edin_released.answers(model, "yelp").items():
            bounds, row = exact_bounds(score), limits.loc[(model, name)]
            assert bounds.lower.item() == pytest.approx(row.lower, abs=1e-12)
            excess.append(row.upper - bounds.upper.item())
    assert len(excess) == 2034
    assert sum(one > 1e-12 for one in excess) == 40
    assert min(excess) > -1e-12


def test_mean_scores_are_the_published_ones(packed):
    """AOPC and NAOPC of every data set, length, model and method, both metrics; NAOPC of texts without a range (two of
    Yelp have one word) counts as 0. One cell was released for 286 of 339 texts, and its published means are others.
    """
    exact = packed["limits_exact"].assign(length="short")
    beam = packed["limits_beam"].query("length == 'long'")
    columns = ["dataset", "length", "model", "id", "lower", "upper"]
    found = packed["scores"].merge(pd.concat([exact[columns], beam[columns]]), on=columns[:4], validate="many_to_one")
    for metric in ("comprehensiveness", "sufficiency"):
        found[f"aopc_{metric}"] = found[metric]
        share = (found[metric] - found.lower) / (found.upper - found.lower)
        found[f"naopc_{metric}"] = share.where(found.upper > found.lower, 0.0)
    theirs = published.table("naopc_released_scores")
    theirs = theirs[theirs.metric.str.match("n?aopc_") & (theirs.model != "all")]
    cells = found.groupby(["dataset", "length", "model", "method"])
    means, sizes = cells[theirs.metric.unique().tolist()].mean(), cells.size()
    incomplete = {("yelp", "short", "roberta_imdb", "random"): 286}
    assert len(theirs) == 5 * 6 * 10 * 4
    for row in theirs.itertuples():
        cell = (row.dataset, row.length, row.model, row.method)
        assert sizes[cell] == incomplete.get(cell, int(row.n))
        if cell not in incomplete:
            assert means.loc[cell, row.metric] == pytest.approx(row.value, abs=5.1e-5), cell


def test_mean_limits_are_the_published_ones(packed):
    parts = {
        "exact": packed["limits_exact"].assign(length="short"),
        "beam": packed["limits_beam"].query("start == 'none' and width == 5"),
    }
    theirs = published.table("naopc_released_bounds")
    theirs = theirs[theirs.statistic.isin(["lower_bound_mean", "upper_bound_mean"]) & (theirs.subset == "all")]
    assert len(theirs) >= 60
    for row in theirs.itertuples():
        table = parts[row.search]
        table = table[(table.dataset == row.dataset) & (table.length == row.length) & (table.model == row.model)]
        bound = table[row.statistic.removesuffix("_bound_mean")]
        assert len(bound) == int(row.n)
        assert bound.mean() == pytest.approx(row.value, abs=5.1e-5)


def test_deltas_of_every_width_are_the_published_differences(packed):
    theirs = published.table("naopc_released_beam").query("comparison == 'beam_vs_exact'")
    theirs = theirs.set_index(["beam_size", "bound", "statistic"]).value
    for width in (1, 10, 20, 50):
        of = [edin_released.released_deltas(m, d, width=width) for m in MODELS for d in SHORT]
        found = pd.concat(of, ignore_index=True)
        assert len(found) == 2430
        for bound in ("lower", "upper"):
            deltas = found[f"{bound}_delta"]
            assert deltas.mean() == pytest.approx(theirs[str(width), bound, "absolute_difference_mean"], abs=5.1e-6)
            assert deltas.max() == pytest.approx(theirs[str(width), bound, "absolute_difference_max"], abs=5.1e-6)


def test_names_that_were_not_released_are_refused(tmp_path, monkeypatch):
    with pytest.raises(UnknownNameError, match="did you mean 'yelp'"):
        edin_released.answers("bert_yelp", "yelb")
    with pytest.raises(UnknownNameError, match="known: sst2, yelp"):
        edin_released.released_scores("bert_yelp", "short", "imdb")
    with pytest.raises(UnknownNameError, match="did you mean 'bert_yelp'"):
        edin_released.answers("bert_yelb")
    with pytest.raises(UnknownNameError, match="unknown length"):
        edin_released.released_scores("bert_yelp", "longer")
    with pytest.raises(UnknownNameError, match="unknown start"):
        edin_released.released_deltas("bert_yelp", start="lime")
    with pytest.raises(InputError, match="width 3: released are 1, 5, 10, 20, 50"):
        edin_released.released_deltas("bert_yelp", width=3)
    with pytest.raises(DataError, match="attributions of yelp, long: not among"):
        edin_released.attributions("bert_yelp", "yelp", "long")
    monkeypatch.setattr(edin_pack, "packed_folder", lambda: tmp_path)
    with pytest.raises(DataError, match=r"scores_bert_yelp\.parquet cannot be read"):
        edin_released.released_scores("bert_yelp", "short")
    (tmp_path / "scores_bert_yelp.parquet").write_bytes(b"PAR1 cut")
    with pytest.raises(DataError, match=r"scores_bert_yelp\.parquet cannot be read"):
        edin_released.released_scores("bert_yelp", "short")


# --------------------------------------------------------------------------------------------------- the authors' files
@pytest.fixture(scope="module")
def files():
    """The folder of the released files, Yelp and IMDB too; a skip where they are nowhere."""
    for folder in (data_folder() / "naopc", ROOT.parent / "shared" / "data" / "naopc"):
        if (folder / "results" / "aopc_scores_long" / "imdb_roberta-base-imdb.csv").exists():
            return folder
    pytest.skip("the files released by Edin et al. are not on this machine")


def test_every_released_value_is_packed_and_no_other(files, tmp_path):
    assert edin_pack.verify(files, packed_folder())["answers"] == 709_014
    shutil.copytree(packed_folder(), tmp_path / "changed")
    path = tmp_path / "changed" / "limits_exact_bert_imdb.parquet"
    table = pd.read_parquet(path)
    table.loc[7, "upper"] = np.nextafter(table.upper[7], 2)
    table.to_parquet(path)
    with pytest.raises(DataError, match=r"limits_exact: upper differs at .* and at 1 rows in all"):
        edin_pack.verify(files, tmp_path / "changed")
    table.iloc[:-1].to_parquet(path)
    with pytest.raises(DataError, match="limits_exact: 2430 rows released, 2429 packed"):
        edin_pack.verify(files, tmp_path / "changed")


def test_the_packed_tables_give_what_the_released_files_give(files, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(files.parent))
    for model in ("bert_sst2", "roberta_imdb"):
        theirs, ours = edin.answers(model), edin_released.answers(model)
        assert theirs.keys() == ours.keys()
        for name, score in theirs.items():
            n = score.n_features
            assert ours[name].n_features == n
            every = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
            keep = edin_released.torch.from_numpy(every)[None]
            assert edin_released.torch.equal(score.keep(keep), ours[name].keep(keep))
        for length in ("short", "long"):
            both = [edin.released_scores(model, length), edin_released.released_scores(model, length)]
            one, other = (table.sort_values(["id", "method"], ignore_index=True) for table in both)
            pd.testing.assert_frame_equal(one, other, check_exact=True, check_dtype=False)
        one, other = (
            table.sort_values(["id", "method"], ignore_index=True)
            for table in (edin.attributions(model), edin_released.attributions(model))
        )
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one.scores, other.scores, strict=True))
        order = ["search", "length", "id"]
        one, other = (
            t.sort_values(order, ignore_index=True)
            for t in (edin.released_bounds(model), edin_released.released_bounds(model))
        )
        pd.testing.assert_frame_equal(one[other.columns], other, check_exact=True, check_dtype=False)
