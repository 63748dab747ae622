"""The committed reference follows from its values; small runs agree with it, as far as their few inputs can tell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact, t

from faithbook.engine.plan import plan
from faithbook.engine.profiles import place_of, table
from faithbook.engine.units import UNITS
from faithbook.paths import reference_dir, results_dir
from faithbook.results.diagnosticity import WIN, counted, with_lengths
from faithbook.results.scoreboard import filled

REFERENCE = reference_dir()
THEIRS = REFERENCE / "units" / "soft_metrics"
CELL = ["dataset", "method", "metric"]
OWN = {"here": "estimate", "here_low": "low", "here_high": "high", "here_n": "n"}
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the full profile has no committed results yet: `make reference`"
)


def of_run(path: Path) -> pd.DataFrame:
    """A table with the run's own numbers, which stand in the columns `here` where the reference speaks."""
    found = pd.read_csv(path)
    own = {name: column for name, column in OWN.items() if name in found.columns}
    if not own:
        return found
    return found.drop(columns=list(own.values())).rename(columns=own).dropna(subset=["estimate"])


@needs_reference
@pytest.mark.book
@pytest.mark.slow
def test_the_intervals_and_verdicts_of_the_reference_follow_from_its_committed_values(html: Path) -> None:
    """The smallest run judges them anew: where the reference speaks, its committed tables and verdicts come out."""
    board = pd.read_csv(REFERENCE / "scoreboard.csv", keep_default_na=False, dtype=str).set_index("id")
    speaking = {path.name for path in (REFERENCE / "units").glob("*")}
    judged, compared = set(), set()
    for job in plan("smoke"):
        if job.kind != "report" or not speaking & set(place_of(job.notebook)[1].reads):
            continue
        for path in job.folder.rglob("*.csv"):
            ours = pd.read_csv(path)
            if "here" not in ours.columns or ours["here"].isna().all() or not (REFERENCE / path.name).is_file():
                continue
            theirs = pd.read_csv(REFERENCE / path.name)
            columns = [name for name in theirs.columns if name in ours.columns and not name.startswith("here")]
            of_units = ours["n"].notna()  # the others a run works out from released files, and the smallest from some
            pd.testing.assert_frame_equal(
                ours.loc[of_units, columns], theirs.loc[of_units, columns], rtol=1e-6, obj=path.name
            )
            compared.add(path.name)
        if (job.folder / "verdicts.parquet").is_file():
            found = (
                filled(pd.read_parquet(job.folder / "verdicts.parquet")).astype(str).replace("<NA>", "").set_index("id")
            )
            for name, row in found[found["here"] != ""].iterrows():
                told = ["verdict", "n", "passed", "parts"]
                assert row[told].tolist() == board.loc[name, told].tolist(), name
                judged.add(name)
    assert not speaking or (len(judged) > 5 and len(compared) > 3)


def wins(files: list[Path], dataset: str) -> pd.DataFrame:
    """The share of wins of every method and metric of one model, with the number of inputs that have a score."""
    units = pd.concat(map(pd.read_parquet, files)).assign(dataset=dataset)
    scores = with_lengths(units[units["method"] != "none"].astype({"method": str, "metric": str, "id": str}))
    found = counted(scores[scores["metric"].isin(("ns", "nc", "soft_ns", "soft_nc"))])
    cells = found[found["shows"] == WIN].groupby(CELL)["value"]
    return cells.agg(estimate="mean", n="count").reset_index()


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
    """Of the same model on the same data set: of a data set that the reference explains with two, the run's own."""
    runs = [job for job in plan(profile) if job.notebook == "soft_metrics"]
    if profile == "laptop" and not all(job.done for job in runs):
        pytest.skip("the laptop profile has not been run here: make book")
    assert {job.parameters["classifier"] for job in runs} == {""}
    found = []
    for job in runs:
        mine = [job.folder / f"{UNITS}{part}.parquet" for part in ("", "_lengths")]
        theirs = [THEIRS / f"{job.slug}-{path.name}" for path in mine]
        found.append(disagreement(*(wins(files, job.parameters["dataset"]) for files in (mine, theirs))))
    both = pd.concat(found)
    # One cell in a thousand would fall below .001 by chance; with 80 cells at most, none below 1e-5 and few below .01.
    assert both.p.min() > 1e-5, both.nsmallest(3, "p")
    assert (both.p < 0.01).mean() < 0.05, both.nsmallest(6, "p")


def half_widths_apart(name: str, keys: list[str]) -> pd.DataFrame:
    """The rows that a table of the laptop run shares with the reference, and how far they lie apart in units of the
    half width of a 95 % interval of their difference. The inputs of the two profiles overlap, so this is generous."""
    path = results_dir("laptop") / "tables" / name
    if not (REFERENCE / name).is_file():
        pytest.skip("this study has no reference yet: `make reference`")
    if not path.exists():
        pytest.skip("the laptop profile has not been run here: make book")
    both = of_run(path).merge(pd.read_csv(REFERENCE / name), on=keys, suffixes=("", "_reference"))
    both = both[both.n > 1]  # an interval over one input has no width
    mine, theirs = ((both[f"high{end}"] - both[f"low{end}"]) / 2 for end in ("", "_reference"))
    mine = mine * t.ppf(0.975, both.n - 1) / t.ppf(0.975, np.inf)  # drawn from few inputs it is too narrow
    return both.assign(apart=(both.estimate - both.estimate_reference).abs() / (mine**2 + theirs**2) ** 0.5)


@needs_reference
@pytest.mark.parametrize(
    ("name", "keys", "rows"),
    [
        ("naopc_bounds_models.csv", ["dataset", "length", "classifier", "bound"], None),
        ("saco_table2_datasets.csv", ["dataset", "method", "k"], None),
        ("crosslingual_table1.csv", ["method", "aggregation", "output"], 32),
        # Where the reference speaks a table of claims' parts has both.
        ("together_diagnosticity_parts.csv", ["claim", "part"], None),
    ],
)
def test_means_agree_with_the_reference(name: str, keys: list[str], rows: int | None) -> None:
    both = half_widths_apart(name, keys)
    assert len(both) == (rows or len(both)) > 0
    assert (both.apart < 1).mean() > 0.8, both[both.apart >= 1]
    assert both.apart.max() < 2.5, both.loc[both.apart.idxmax()]


def test_the_comparison_would_notice_a_difference() -> None:
    cell = {"dataset": ["movie"], "method": ["lime"], "metric": ["nc"]}
    small, large = pd.DataFrame({**cell, "estimate": 0.1, "n": 40}), pd.DataFrame({**cell, "estimate": 0.8, "n": 400})
    assert disagreement(small, large).p.item() < 1e-5


@needs_reference
def test_what_a_run_of_the_reference_has_read_is_in_it_too() -> None:
    """A run whose values came from others is made again with them; those of a few inputs give way to the whole set."""
    runs = json.loads((REFERENCE / "manifest.json").read_text())["runs"]
    there = {run["run_id"] for run in runs}
    readers = {name for _, kind, name, entry in table().entries() if kind == "compute" and entry.reads}
    read = [(run["notebook"], name) for run in runs if run["notebook"] in readers for name in run["upstream"]]
    assert read
    assert not [one for one in read if one[1].rpartition("-")[2] not in there and "_few" not in one[1]]


@needs_reference
def test_the_reference_says_how_it_was_made() -> None:
    manifest = json.loads((REFERENCE / "manifest.json").read_text())
    assert manifest["profile"] == "full"
    assert {run["notebook"] for run in manifest["runs"]} >= {"soft_metrics", "soft_variants", "soft_tables"}
    for run in manifest["runs"]:
        assert {"parameters", "seconds", "versions", "commit", "run_id"} <= set(run)
        if run["notebook"] == "soft_metrics":
            assert run["notes"]["n"] > 0
