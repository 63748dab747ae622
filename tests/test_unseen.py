"""Verdicts on unseen inputs: the statements that claims rest on, on the confirmatory values alone."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pandas as pd
import pytest
from test_pages_saco import as_printed, metric_units, saco_units
from tiny import REPOSITORY

from faithbook.engine.inputs import CONFIRMED_DIR, UNITS_DIR
from faithbook.engine.plan import MANIFEST
from faithbook.engine.studies import confirmations
from faithbook.engine.units import write_units
from faithbook.judge import analysis_plan, freeze, lessons, published, scoreboard, scores, summary, unseen
from faithbook.judge.sentences import Results
from faithbook.paths import confirmatory_dir, root
from faithbook.stats.evidence_levels import NOT_TESTED, NOTHING

NO_VERDICT = {NOT_TESTED, NOTHING}


def test_what_runs_is_what_claims_rest_on_and_no_picture() -> None:
    """Everything that is imported, what is measured and what is tested; nothing that only draws or says something."""
    text = "\n".join(ast.unparse(statement) for statement in freeze.measured_in("saco_tables"))
    assert "page.measure(" in text and "page.test(" in text and "under_each_setting(" in text
    assert "page.finish(" not in text and "page.figure(" not in text and "Markdown(f" not in text


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the book with confirmatory values of study 2 that are as the paper prints them, and no others."""
    place = tmp_path / "home"
    (place / "data").mkdir(parents=True)
    for name in ("notebooks", "requirements.lock", "faithlib", "faithbook"):
        (place / name).symlink_to(REPOSITORY / name)
    for path in (REPOSITORY / "data").iterdir():
        if path.name not in ("reference", "results", f"{scoreboard.CONFIRMED}.csv"):
            (place / "data" / path.name).symlink_to(path)
    board = place / "data" / "reference" / "full" / "scoreboard.csv"
    board.parent.mkdir(parents=True)
    board.symlink_to(REPOSITORY / "data/reference/full/scoreboard.csv")
    runs = []
    for seed, dataset in enumerate(("cifar10", "cifar100")):
        world = metric_units(like_saco=False, compete=0.0, zero=0.0, leads=0.0, n=40, seed=seed)[""]
        saco = saco_units(as_printed(), n=40, seed=seed)[""]
        frame = pd.concat([world[world["metric"] != "saco"], saco], ignore_index=True)
        point = {"profile": "confirm", "dataset": dataset, "model": "lora", "part": 1, "parts": 1}
        flat = frame.assign(value=0.0, model="head")  # of the reference alone: a model that nothing sets apart
        of_lora = frame.assign(model="lora")
        for folder, values in ((CONFIRMED_DIR, of_lora), (UNITS_DIR, pd.concat([of_lora, flat]))):
            path = place / folder / "saco_metrics" / f"{dataset}-units.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_units(values.assign(dataset=dataset), path, notebook="saco_metrics", parameters=point)
        runs.append({"notebook": "saco_metrics", "parameters": point, "declared": [], "freeze": "f"})
    manifest = place / "data" / "reference" / "confirmatory" / "manifest.json"
    manifest.write_text(json.dumps({"profile": "confirm", "runs": runs}))
    monkeypatch.setenv("FAITHLIB_HOME", str(place))
    return place


def test_headlines_are_judged_on_the_confirmatory_values_and_others_say_what_they_lack(home: Path) -> None:
    found = unseen.verdicts().set_index("id")
    planned = [name for names in unseen.headlines().values() for name in names]
    assert list(found.index[: len(planned)]) == planned
    assert found.loc["saco_c03", ["decision", "n", "lacks"]].tolist() == ["reproduced", 40, ""]
    assert found.loc["saco_c03", "before"] == "reproduced"  # of the same model, without the other one
    assert found.loc["saco_c05", "decision"] == "reproduced"
    # Nothing of studies 1 and 3 was measured here: no verdict, and the reason.
    assert (found.loc[["soft_c01", "xl_c01"], "decision"] == "not tested").all()
    assert (found.loc[["soft_c01", "xl_c01"], "lacks"] != "").all()
    assert set(found["freeze"]) == {"f"}
    # Others have a row where these values have all their comparisons: here there is one number of groups, and no text.
    others = set(found.index) - set(planned)
    assert others == {"saco_c01", "saco_c07", "saco_c11", "saco_c12", "saco_figure3"}
    assert (found.loc[list(others), "lacks"] == "").all() and not set(found.loc[list(others), "decision"]) & NO_VERDICT


def test_a_finding_that_the_values_reach_in_part_has_no_row(home: Path) -> None:
    """Not even one that looks like a failure: of the methods of a claim one was not measured."""
    for path in (home / CONFIRMED_DIR / "saco_metrics").iterdir():
        kept = pd.read_parquet(path)
        kept[kept["method"] != "attcat"].to_parquet(path)
    found = unseen.judged_on("saco_tables")[0]
    assert not {"saco_c12", "saco_c08", "saco_table2"} & set(found)


def test_what_is_judged_once_more_besides_is_what_the_committed_values_have_whole() -> None:
    """Of the committed table: every further finding has the comparisons of its exploratory verdict, leaves something to
    test, and repeats no other."""
    again = scoreboard.confirmed()
    headline = set(our_headlines())
    board = pd.read_csv(root() / "data/reference/full/scoreboard.csv", dtype=str, keep_default_na=False).set_index("id")
    others = again[~again["id"].isin(headline)]
    first = [name for name in our_headlines() if name in again.index]
    assert len(others) and list(again["id"][: len(first)]) == first
    before = board.loc[others["id"]]
    assert others["parts"].tolist() == before["parts"].tolist()
    assert not (set(others["decision"]) | set(before["decision"])) & NO_VERDICT
    assert not before["same_as"].any() and set(others["freeze"]) == set(again["freeze"])
    # Where the paper's own repeats disagree, no inputs decide anything, although one model alone would give an answer.
    assert not {"xl_c08", "xl_c16"} & set(again["id"])


def our_headlines() -> list[str]:
    return [name for names in unseen.headlines().values() for name in names]


def test_nothing_is_judged_before_all_parts_are_there(home: Path) -> None:
    path = home / "data" / "reference" / "confirmatory" / "manifest.json"
    manifest = json.loads(path.read_text())
    for run in manifest["runs"]:
        run["parameters"]["parts"] = 2
    path.write_text(json.dumps(manifest))
    found = unseen.verdicts().set_index("id")
    assert set(found["decision"]) == {"not tested"}
    assert found.loc["saco_c03", "lacks"] == "2 of 4 parts of saco_metrics are measured"
    assert scoreboard.on_unseen_inputs("saco_c03", found[found["lacks"] == ""]) == ""


def test_runs_that_were_planned_later_judge_nothing_but_what_they_were_planned_for() -> None:
    """Headline claims keep the model with which they were judged; the tables of two encoders have both."""
    again = scoreboard.confirmed()
    later = [name for name in freeze.further_findings() if scoreboard.has_later_runs(name)]
    assert set(later) == {f"crosslingual_table{number}" for number in (8, 11, 12, 13, 14)} <= set(again.index)
    assert not set(later) & set(our_headlines())
    runs = json.loads((confirmatory_dir() / MANIFEST).read_text(encoding="utf-8"))["runs"]
    without = [run for run in runs if run["parameters"].get("model") != "e5"]
    assert unseen.still_to_measure("crosslingual_metrics", without) == ""
    lacks = unseen.still_to_measure("crosslingual_metrics", without, later=True)
    assert lacks == "3 of 6 parts of crosslingual_metrics are measured"
    first, both = (
        scores._confirmed("crosslingual_metrics", [""], inputs="unseen", later=later) for later in (False, True)
    )
    assert set(first.units["model"]) == {"six"} and set(both.units["model"]) == {"six", "e5"}
    assert set(first.models) < set(both.models)


def test_values_after_two_freezes_are_refused(home: Path) -> None:
    path = home / "data" / "reference" / "confirmatory" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["runs"][0]["freeze"] = "another"
    path.write_text(json.dumps(manifest))
    with pytest.raises(unseen.DataError, match="after 2 freezes: expected one"):
        unseen.verdicts()


def test_both_verdicts_are_shown(home: Path) -> None:
    """On the scoreboard, in the box of the overview, and counted for the landing page."""
    again = unseen.verdicts()
    again.to_csv(home / "data" / f"{scoreboard.CONFIRMED}.csv", index=False)
    board = scoreboard.filled(pd.read_csv(REPOSITORY / "data/reference/full/scoreboard.csv"))
    board = published.claims()[["id", "paper", "kind"]].merge(board, on="id")
    said = scoreboard.on_unseen_inputs("saco_c03")
    assert said.startswith("replicates on our models (") and "n = 40" in said
    assert scoreboard.on_unseen_inputs("soft_c01") == ""
    box = lessons.on_unseen("paper2", Results(board, pd.DataFrame({"claim": []})))
    assert "`saco_c03`" in box and said in box
    assert "`saco_c01`" not in box.partition("further finding")[0] and "number of inputs was not planned" in box
    note = scoreboard.unseen_in_sentences("saco_c03")
    assert f": {said}. " in note and "The one that decides: " in note
    assert scoreboard.unseen_in_sentences("soft_c01") == ""
    assert lessons.on_unseen("paper1", Results(board, pd.DataFrame({"claim": []}))) == ""
    told = summary.in_numbers(board)
    whole = again[again["lacks"] == ""]
    is_headline = whole["id"].map(scoreboard.is_headline)
    on_own_data = whole["id"].isin(board["id"][board["evidence"].isin(summary.OWN_MATERIAL)])
    assert told["judged again"] == sum(is_headline & on_own_data) > told["same again"] >= 0
    assert told["again elsewhere"] == sum(is_headline & ~on_own_data) > 0
    assert told["further again"] == sum(~is_headline & on_own_data) >= told["further same"] >= 0
    counted = ("judged again", "further again", "released", "exploratory only")
    assert sum(told[kind] for kind in counted) == told["own"]
    # A sample that was not planned for a finding says so where its decision is told.
    assert "n was chosen for the main claims" in scoreboard.unseen_in_sentences("saco_c01")
    assert "n was chosen" not in note


def test_the_committed_verdicts_follow_from_the_committed_values() -> None:
    """What `python -m faithbook.judge.unseen` would write is what is there."""
    committed = pd.read_csv(root() / "data" / f"{scoreboard.CONFIRMED}.csv", dtype=str, keep_default_na=False)
    if not (root() / CONFIRMED_DIR).is_dir():
        assert committed.empty
        return
    again = unseen.verdicts().set_index("id").astype(object)
    columns = ["decision", "n", "passed", "parts", "lacks", "freeze"]
    assert committed.set_index("id")[columns].to_dict() == again[columns].fillna("").astype(str).to_dict()


def test_what_both_samples_say_stands_beside_a_finding_that_unseen_inputs_leave_open() -> None:
    """In the scoreboard's two tables, and there alone where a pooled decision is committed."""
    board = scoreboard.filled(pd.read_csv(root() / "data/reference/full/scoreboard.csv"))
    again = scoreboard.confirmed()
    shown = pd.concat([summary.twice(board, headline=headline) for headline in (True, False)])
    names = shown["claim"].str.extract(r"\(`(\w+)`\)$")[0]
    assert set(names) == set(again.index)
    pooled = [bool(again.loc[name, "pooled"]) for name in names]
    assert any(pooled)
    assert [" (both samples: " in cell for cell in shown["on unseen inputs"]] == pooled


def test_every_finding_without_a_decision_on_unseen_inputs_has_one_reason() -> None:
    """Of those that are findings of their own; in the table of the scoreboard each stands once."""
    board = scoreboard.filled(pd.read_csv(root() / "data/reference/full/scoreboard.csv"))
    reasons = published.our_table("unconfirmed")
    assert not reasons["id"].duplicated().any() and (reasons["reason"].str[-1] == ".").all()
    own = set(scoreboard.distinct(board)["id"])
    assert set(reasons["id"]) >= own - set(scoreboard.confirmed().index) - set(freeze.further_findings())
    assert not set(reasons["id"]) & (set(scoreboard.confirmed().index) | (set(board["id"]) - own))
    shown = summary.unconfirmed(board)
    assert sorted(", ".join(shown["findings"]).split(", ")) == sorted(f"`{name}`" for name in reasons["id"])
    assert shown["number"].sum() == len(reasons) and shown["why"].is_unique


def test_tables_on_unseen_inputs_have_sentences_and_no_words_of_the_board() -> None:
    """They said "direction: undecided; size: nothing to test", as the board keeps it."""
    board = scoreboard.filled(pd.read_csv(root() / "data/reference/full/scoreboard.csv"))
    shown = pd.concat([summary.twice(board, headline=headline) for headline in (True, False)])
    cells = dict(zip(shown["claim"].str.extract(r"\(`(\w+)`\)$")[0], shown["what decides there"], strict=True))
    alone, _, both = cells["saco_c03"].partition(". Both samples: ")
    assert alone == "The direction is undecided. The size is undecided"
    assert both == "The direction replicates on our models. The size does not replicate on our models"
    alone = cells["xl_c02"].partition(". Both samples: ")[0]
    assert alone == "The direction is undecided. For the size there is nothing to test"
    assert cells["crosslingual_table1"].startswith("Kendall's tau with the printed order, mean of 2 orders, ")
    note = scoreboard.unseen_in_sentences("xl_c02")
    assert f" {alone}. " in note and "The one that decides" not in note
    of_statements = [name for name in analysis_plan.plan() if "/" in name]
    assert not [cell for cell in cells.values() for name in of_statements if f"{name.partition('/')[2]}: " in cell]


def test_below_the_table_of_an_overview_stands_what_occurs_in_it() -> None:
    """The legend of study 1 explained *Both samples*, which its table has nowhere."""
    board = scoreboard.filled(pd.read_csv(root() / "data/reference/full/scoreboard.csv"))
    board = published.claims()[["id", "paper", "kind"]].merge(board, on="id")
    results = Results(board, pd.DataFrame({"claim": []}))
    texts = [lessons.on_unseen(overview, results) for overview in ("paper1", "paper2", "paper3")]
    explained = ["*Both samples*: " in text for text in texts]
    assert explained == ["both samples:" in text.lower() for text in texts] and not explained[0] and any(explained)
    assert "each statement" not in texts[0] and "about zero" not in texts[0]


def test_the_model_named_for_unseen_inputs_is_the_one_of_the_committed_runs() -> None:
    runs = json.loads((confirmatory_dir() / MANIFEST).read_text(encoding="utf-8"))["runs"]
    models = {
        notebook: {
            run["parameters"].get("model") or run["parameters"].get("classifier")
            for run in runs
            if run["notebook"] == notebook
        }
        for notebook in {run["notebook"] for run in runs}
    }
    asked = {"soft_metrics": {"mpnet", ""}, "saco_metrics": {"lora"}, "crosslingual_metrics": {"six", "e5"}}
    further = {"saco_groups": {"lora"}, "crosslingual_projected": {"six"}, "naopc_models": {"l6", "robust"}}
    assert asked.items() <= models.items() <= (asked | further).items()
    assert all(run["parameters"].get("seed", 0) == 0 for run in runs)
    named = {paper: plan.models for paper, plan in confirmations().items()}
    assert "`lora`" in named["wu_2024"]
    assert "`six`" in named["zaman_belinkov_2022"] and "`e5`" not in named["zaman_belinkov_2022"]
    assert "MPNet" in named["zhao_aletras_2023"]
    datasets: dict[str, set[str]] = {}
    for run in runs:
        datasets.setdefault(run["notebook"], set()).add(run["parameters"]["dataset"])
    # What was measured is what the studies say, under their own names for the data sets.
    assert all(set(freeze.measures_reserve(name).datasets) == measured for name, measured in datasets.items())
