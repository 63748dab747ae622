"""What `crosslingual_deviations` makes of values: pairs, changes, orders and trends, on small tables by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from faithbook.judge import published
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.crosslingual import deviations
from faithbook.studies.crosslingual.zaman_belinkov import LANGUAGE_TABLES, PAPER_LANGUAGES
from faithbook.studies.crosslingual.zaman_belinkov_tables import KEYS


def units(**columns: object) -> pd.DataFrame:
    """Rows of rho in the main setting, but for these columns."""
    frame = pd.DataFrame({name: value for name, value in columns.items() if isinstance(value, list)})
    usual = {"seed": 0, "setting": "main", "choice": None, "language": "de", "model": "e5", "value": 0.5}
    usual |= {"method": "lime", "aggregation": "none", "output": "loss"}
    return frame.assign(**{name: value for name, value in (usual | columns).items() if name not in frame})


def test_a_choice_made_otherwise_is_a_way_of_its_own_for_the_top_prediction() -> None:
    rows = units(
        id=["a", "b", "c", "d"],
        choice=[None, "lasso", "main", None],
        setting=["main", "main", "main", "mean of links"],
        language=["de", "de", "de", "sw"],
    )
    found = deviations.rho_by_way(rows)
    assert found["id"].tolist() == ["a", "b"]  # no other language than the paper's, and no setting twice
    assert found["way"].tolist() == ["main", "lasso"]
    assert found["output"].tolist() == ["loss", "top_prediction"]


def test_only_the_first_training_counts_and_only_texts_that_every_model_has() -> None:
    rows = units(
        id=["a", "a", "b", "c", "c"],
        model=["e5", "six", "e5", "e5", "six"],
        seed=[0, 0, 0, 1, 0],
    )
    assert deviations.in_every_model(rows)["id"].tolist() == ["a", "a", "c"]
    assert deviations.of_first_training(rows, texts=["a", "b"], models=["e5"])["id"].tolist() == ["a", "b"]
    assert deviations.of_first_training(rows, texts=["b"])["id"].tolist() == ["b"]
    assert deviations.read_by(rows, models=["six"])["id"].tolist() == ["a", "c"]


def cells() -> Conditions:
    """Ours .2 in the mean and .5 with another choice, each text .3 more."""
    values = np.array([0.1, 0.2, 0.3])
    rows = pd.DataFrame({"id": [*"abc"] * 2, "way": ["main"] * 3 + ["other"] * 3, "value": [*values, *(values + 0.3)]})
    return Conditions.of(rows, over=["way"], unit="id", n_resamples=199)


def test_a_change_is_the_other_choice_minus_ours_and_is_said_so() -> None:
    found = cells()
    pair = tuple(Comparison(found.mean(way=way)) for way in ("main", "other"))
    table = deviations.effects_on_rows({"E1 one": {"row": pair}, "E10 ten": {"row": pair[::-1]}})
    assert table["point"].tolist() == ["E1 one", "E10 ten"]
    assert table["ours"].tolist() == pytest.approx([0.2, 0.5])
    assert table["estimate"].tolist() == pytest.approx([0.3, -0.3])
    assert deviations.effects_in_words(table, "E1").startswith("Change of rho (n = 3 texts): row +0.300")
    assert "0.300" in deviations.effects_in_words(table, "E10") and "+0.300" not in deviations.effects_in_words(
        table, "E10"
    )


def test_tables_of_rho_are_of_the_languages_that_are_here() -> None:
    [number, language], *_ = LANGUAGE_TABLES.items()
    first, eighth, *rest = deviations.tables_of_rho(["e5", "six"], [language])
    assert (first.number, first.by, eighth.number, eighth.by) == (1, (), 8, ("model",))
    of_paper = [name for name in PAPER_LANGUAGES if name == language]
    assert first.cells == [{"language": of_paper}]
    assert [cell["model"] for cell in eighth.cells] == ["e5", "six"]
    assert [table.number for table in rest] == [number]
    assert rest[0].cells == [{"model": model, "language": language} for model in ("e5", "six")]
    # Every way reads rows that its table prints, so that none of its orders lacks one.
    for read, rows in deviations.THREE_WAYS.values():
        printed = set(read("crosslingual_table1")[KEYS[:2]].itertuples(index=False, name=None))
        missing = set(rows) - printed
        assert missing <= {row for row in rows if row[0] not in {method for method, _ in printed}}


def test_orders_stand_in_a_row_for_each_way_and_in_one_for_each_table() -> None:
    order = {"tau": 0.5, "low": 0.4, "high": 0.6, "p": 0.01, "n": 30}
    ways = {way: order | {"n": 30 + i} for i, way in enumerate(deviations.THREE_WAYS)}
    long, wide = deviations.orders_in_long({"Table 1": ways}), deviations.order_table({"Table 1": ways})
    assert long[["table", "row", "estimate", "n"]].values.tolist() == [
        ["Table 1", way, 0.5, 30 + i] for i, way in enumerate(deviations.THREE_WAYS)
    ]
    assert wide.iloc[0].to_dict() == {
        "table": "Table 1",
        **{f"{way}: tau, p": "0.50 [0.40, 0.60], 0.010" for way in deviations.THREE_WAYS},
        "n": 30,
    }


def test_best_read_languages_are_more_where_they_tie() -> None:
    table = pd.DataFrame({"model": ["m"] * 3, "language": ["de", "fr", "es"], "value": [0.9, 0.8, 0.8]})
    assert deviations.best_read(table, 2) == {"m": {"de", "fr", "es"}}
    printed = published.table("crosslingual_table7").query("language != 'en'")
    in_common = set.intersection(*deviations.best_read(printed, 5).values())
    assert in_common >= {"bg", "de", "es", "fr"}  # those of the paper's text


def test_a_trend_is_said_with_its_interval_p_and_languages() -> None:
    row = {
        "languages": "all",
        "rho of": deviations.UNIFORM,
        "estimate": 0.5,
        "low": 0.1,
        "high": 0.8,
        "p": 0.02,
        "n": 14,
    }
    trends = pd.DataFrame([row, row | {"rho of": deviations.EXPLAINED, "estimate": 0.9}])
    said = deviations.trend_in_words(trends, "all", deviations.UNIFORM)
    assert said == "r = 0.50 [0.10, 0.80], p = 0.020, n = 14 languages"


def test_the_papers_two_models_do_not_agree_under_erasure() -> None:
    """Why the table of three ways has no Tables 3, 9 and 10; the plan names these taus with the row as printed."""
    lowest, highest = deviations.own_agreement_under_erasure()
    assert (lowest, highest) == (pytest.approx(-0.169, abs=6e-4), pytest.approx(0.091, abs=6e-4))
