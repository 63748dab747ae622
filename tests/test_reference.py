"""The committed reference follows from its values; small runs agree with it, as far as their few inputs can tell."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import fisher_exact

from faithbook.engine.plan import plan
from faithbook.engine.run import load_units
from faithbook.engine.studies import entry_of, notebooks, reads_of
from faithbook.judge import analysis_plan, published
from faithbook.judge.reference import committed_board
from faithbook.judge.scoreboard import filled
from faithbook.judge.scores import REFERENCE as FULL_RUN
from faithbook.paths import reference_dir, results_dir
from faithbook.studies.soft.zhao_aletras_diagnosticity import WIN, counted, with_lengths

REFERENCE = reference_dir()
CELL = ["dataset", "method", "metric"]
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the full profile has no committed results yet: `make reference`"
)


@needs_reference
@pytest.mark.book
@pytest.mark.slow
def test_the_verdicts_of_the_reference_follow_from_its_committed_values(html: Path) -> None:
    """The smallest run judges them again: pages that show the reference's values come to its committed verdicts."""
    board = committed_board().set_index("id")
    with_values = {path.name for path in (REFERENCE / "units").glob("*")}
    judged = set()
    for job in plan("smoke"):
        if job.kind != "report" or not with_values & set(reads_of(entry_of(job.notebook))):
            continue
        if (job.folder / "verdicts.parquet").is_file():
            verdicts = filled(pd.read_parquet(job.folder / "verdicts.parquet"))
            verdicts = verdicts.astype(str).fillna("").set_index("id")
            if json.loads(job.manifest.read_text())["notes"].get("source") != FULL_RUN:
                continue
            for name, row in verdicts.iterrows():
                columns = ["decision", "n", "passed", "parts"]
                assert row[columns].tolist() == board.loc[name, columns].tolist(), name
                judged.add(name)
    assert not with_values or len(judged) > 5


def test_verdicts_before_and_after_have_a_cause_for_each_change() -> None:
    """By the layer before 28 November 2026 and by today's, on the same values: a change has its cause beside it."""
    table = pd.read_csv(REFERENCE.parent / "verdicts_before_after.csv", keep_default_na=False, dtype=str)
    table = table.set_index("id")
    assert list(table.index) == list(published.claims()["id"])
    assert table["after"].to_dict() == committed_board().set_index("id")["decision"].reindex(table.index).to_dict()
    changed = table["before"] != table["after"]
    assert changed.sum() > 10
    assert (table.loc[changed, "cause"] != "").all() and (table.loc[~changed, "cause"] == "").all()
    # A rule that turned a verdict has a row in the history, with both answers.
    history = published.our_table("rule_history")
    turned = set(history.loc[(history["verdict_before"] != "") & (history["verdict_after"] != ""), "id"])
    by_rule = table[changed & table["cause"].isin(set(history["reason"]))].index
    assert {analysis_plan.rule(name).same_as or name for name in by_rule} <= turned


def test_corrections_before_and_after_name_claims_and_have_a_cause() -> None:
    """What corrections, new data and further inputs changed before the tests were replaced; verdicts may differ now."""
    table = pd.read_csv(REFERENCE.parent / "corrections_before_after.csv", keep_default_na=False, dtype=str)
    assert list(table) == ["id", "before", "after", "evidence", "cause"]
    claims = list(published.claims()["id"])
    assert list(table["id"]) == sorted(set(table["id"]), key=claims.index)
    assert (table["before"] != table["after"]).all() and (table["cause"] != "").all()
    decisions = set(committed_board()["decision"])
    assert set(table["before"]) | set(table["after"]) <= decisions
    # Each cause names what of the paper it is about.
    places = r"Section \d|Table \d|Figure \d|paper's text|released files|review page"
    assert table["cause"].str.contains(places).all()


def wins(units: pd.DataFrame, lengths: pd.DataFrame) -> pd.DataFrame:
    """The share of inputs on which a method beats random scores, per cell, with n; seeds of one input are averaged."""
    both, asked = pd.concat([units, lengths]), ["soft_nc", "soft_ns", "nc", "ns"]
    scores = with_lengths(both[(both.classifier == "") & both.metric.isin(asked)])
    shares = counted(scores[scores.metric.isin(asked)])
    shares = (
        shares[shares.shows == WIN].dropna(subset="value").groupby([*CELL, "cluster"], observed=True)["value"].mean()
    )
    return shares.groupby(CELL, observed=True).agg(estimate="mean", n="size").reset_index()


def disagreement(small: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Cells of a small run and of the reference with the p-value of "both have the same share of wins".

    Exact, because a bootstrap interval over three inputs that all won has no width.
    """
    both = small.merge(reference, on=CELL, suffixes=("", "_reference"), validate="one_to_one")
    assert len(both) == len(reference[reference.dataset.isin(small.dataset)])  # a small run may leave data sets out
    wins = (both.estimate * both.n).round().astype(int)
    reference_wins = (both.estimate_reference * both.n_reference).round().astype(int)
    counts = zip(wins, both.n - wins, reference_wins, both.n_reference - reference_wins, strict=True)
    return both.assign(p=[fisher_exact([[a, b], [c, d]]).pvalue for a, b, c, d in counts])


@needs_reference
@pytest.mark.book
@pytest.mark.slow
@pytest.mark.parametrize("profile", ["smoke", "laptop"])
def test_diagnosticity_agrees_with_the_reference(profile: str, html: Path) -> None:
    """Of the same small model, which every profile runs."""
    if profile == "laptop" and not (results_dir(profile) / "tables" / "scoreboard.csv").exists():
        pytest.skip("the laptop profile has not been run here: make book")
    small, reference = (
        wins(load_units("soft_metrics", profile, **where), load_units("soft_metrics", profile, part="lengths", **where))
        for where in ({}, {"reference": True})
    )
    both = disagreement(small, reference)
    # One cell in a thousand would fall below .001 by chance; with 80 cells at most, none below 1e-5 and few below .01.
    assert both.p.min() > 1e-5, both.nsmallest(3, "p")
    assert (both.p < 0.01).mean() < 0.05, both.nsmallest(6, "p")


@needs_reference
@pytest.mark.book
@pytest.mark.slow
def test_means_agree_with_the_reference(html: Path) -> None:
    """Cells of the smallest run beside those of the full one; most have few inputs, so only the many decide."""
    (job,) = (job for job in plan("smoke") if job.notebook == "this_build")
    cells = pd.read_csv(job.folder / "this_build_cells.csv", low_memory=False).dropna(subset=["away"])
    known = cells[(cells["n"] >= 10) & (cells["n_full"] >= 10)]
    assert len(known) > 20
    assert (known.away.abs() < 2).mean() > 0.8, known[known.away.abs() >= 2]


@needs_reference
def test_what_a_run_of_the_reference_has_read_is_in_it_too() -> None:
    """A run whose values came from others is made again with them; those of a few inputs give way to the whole set."""
    runs = json.loads((REFERENCE / "manifest.json").read_text())["runs"]
    there = {run["run_id"] for run in runs}
    readers = {notebook.name for notebook in notebooks("compute") if notebook.reads}
    read = [(run["notebook"], name) for run in runs if run["notebook"] in readers for name in run["upstream"]]
    assert read
    assert not [pair for pair in read if pair[1].rpartition("-")[2] not in there and "_few" not in pair[1]]
