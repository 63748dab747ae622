"""The analysis plan: complete, well-formed, read from columns and never from prose; claims are judged by it."""

from __future__ import annotations

import datetime
import functools
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from tiny import REPOSITORY

from faithbook.artifacts import registry
from faithbook.engine.studies import entry_of, settings_of
from faithbook.engine.study import PAPER
from faithbook.judge import analysis_plan, decide, freeze, published, summary
from faithbook.judge.analysis_plan import OF_PARTS, Rule, plan
from faithbook.judge.decide import Claim, OnlyIf, Ordered, SameNumber, Statements, Trend
from faithbook.judge.reference import committed_board
from faithbook.judge.scoreboard import to_judge
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimate import Estimate
from faithbook.stats.verdict import Verdict
from faithlib.errors import DataError, InputError, UnknownNameError

INPUTS = 40
HISTORY = ["id", "date", "rule_before", "verdict_before", "rule_after", "verdict_after", "reason", "frozen"]


def of_rule(*names: str) -> list[str]:
    return [name for name, found in plan().items() if found.rule in names and found.fixed_verdict is None]


@functools.cache
def noise(parts: int) -> list[Estimate]:
    """Parts with a true mean of zero."""
    values = 0.01 * np.random.default_rng(0).normal(size=(parts, INPUTS))
    frame = pd.DataFrame(values).rename_axis("part").melt(ignore_index=False, var_name="id").reset_index()
    cells = Conditions.of(frame, over=["part"], unit="id", n_resamples=499)
    return [cells.mean(part=number) for number in range(parts)]


def planted(means: Mapping[str, float], printed: Mapping[str, float] | None = None) -> dict[str, Comparison]:
    """Parts with these true means, and what the paper prints for them."""
    theirs = printed or {}
    parts = zip(means, noise(len(means)), strict=True)
    return {name: Comparison(part + means[name], theirs.get(name, np.nan)) for name, part in parts}


def judge(name: str, claim: Claim, have: Iterable[str] = ()) -> decide.Judged:
    return decide.judge(name, claim, have={*plan()[name].needs, *have})


def true_and_false(rule: Rule) -> tuple[float, float]:
    """A value of a part that is surely what the rule asks for, and one that is surely not."""
    if rule.rule == "within":
        low, high = rule.lines
        return (low + high) / 2, high + 0.5
    if rule.test == "score":
        return min(rule.threshold + 0.4, 0.98), max(rule.threshold - 0.4, 0.02)
    return rule.threshold + 0.4, rule.threshold - 0.4


# --- every rule can answer yes and no --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", of_rule(*OF_PARTS))
def test_a_claim_of_parts_can_be_true_and_false(name: str) -> None:
    rule = plan()[name]
    true, false = true_and_false(rule)
    names = [f"part {number}" for number in range(rule.k if isinstance(rule.k, int) else 4)]
    # A statement of a claim of several has no id of its own: it is judged as the claim does.
    for value, expected in ((true, Verdict.YES), (false, Verdict.NO)):
        result = decide._decided(rule, planted(dict.fromkeys(names, value)))
        assert result.verdict is expected, (name, value)


@pytest.mark.parametrize("name", of_rule("each"))
def test_one_part_that_is_otherwise_makes_a_claim_of_statements_mixed(name: str) -> None:
    true, false = true_and_false(plan()[name])
    assert judge(name, planted({"a": true, "b": false})).verdict is Verdict.MIXED


@pytest.mark.parametrize("name", of_rule("whole"))
def test_a_sentence_of_several_statements_is_judged_by_each(name: str) -> None:
    base = plan()[name].same_as or name
    statements = {key.partition("/")[2]: rule for key, rule in plan().items() if key.startswith(f"{base}/")}
    assert len(statements) > 1
    ends = {of: true_and_false(rule) for of, rule in statements.items()}
    for place, expected in ((0, Verdict.YES), (1, Verdict.NO)):
        parts = {of: planted({"a": values[place], "b": values[place]}) for of, values in ends.items()}
        assert judge(name, Statements(parts)).verdict is expected
    first, *rest = ends
    mixed = {first: planted({"a": ends[first][0]}), **{of: planted({"a": ends[of][1]}) for of in rest}}
    assert judge(name, Statements(mixed)).verdict is Verdict.MIXED


def test_a_statement_whose_base_is_not_above_zero_is_not_tested() -> None:
    gains = planted({"a": 0.4})
    factors = OnlyIf(planted({"b": 0.6}), planted({"the base": 0.0}))
    found = judge("saco_c03", Statements({"direction": gains, "size": factors}))
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason == "direction: reproduced; size: not tested"


def printed_orders(name: str) -> list[Ordered]:
    """The orders that a table prints, ours exactly like them."""
    frame = published.table(name)
    columns = [name for name in ("model", "output", "k") if name in frame and frame[name].nunique() > 1]
    orders = []
    for _, part in frame.groupby(columns) if columns else [("", frame)]:
        items = part["method"] + (" " + part["aggregation"] if "aggregation" in part else "")
        values = dict(zip(items, part["value"], strict=True))
        blocks = dict(zip(items, part["method"], strict=True))
        orders.append(Ordered(planted({item: 4 * value for item, value in values.items()}, values), blocks))
    return orders


@pytest.mark.parametrize("name", ["saco_table2", "crosslingual_table4", "crosslingual_table8", "crosslingual_table12"])
def test_an_order_can_be_the_printed_one_and_its_opposite(name: str) -> None:
    orders = printed_orders(name)
    assert judge(name, orders).verdict is Verdict.YES
    turned = [Ordered({item: -pair for item, pair in order.items.items()}, order.blocks) for order in orders]
    against = [
        Ordered(
            {i: Comparison(p.ours, orders[n].items[i].published) for i, p in estimate.items.items()}, estimate.blocks
        )
        for n, estimate in enumerate(turned)
    ]
    assert judge(name, against).verdict is Verdict.NO


def test_a_trend_can_rise_and_fall() -> None:
    values = {f"unit {number}": 0.1 * number for number in range(8)}
    units = planted(values, values)
    assert judge("xl_c05", Trend(units, units)).verdict is Verdict.YES
    fallen = {unit: Comparison(-pair.ours, pair.published) for unit, pair in units.items()}
    assert judge("xl_c05", Trend(units, fallen)).verdict is Verdict.NO


@pytest.mark.parametrize("name", of_rule("same"))
def test_the_same_number_can_agree_and_differ(name: str) -> None:
    def numbers(ours: list[float], cause: str = "") -> dict[str, SameNumber]:
        printed = ["0.50000", "0.25000"]
        both = enumerate(zip(ours, printed, strict=True))
        return {str(place): SameNumber(value, text, cause=cause) for place, (value, text) in both}

    assert judge(name, numbers([0.5, 0.25])).verdict is Verdict.YES
    assert judge(name, numbers([0.5, 0.76])).verdict is Verdict.NO
    assert judge(name, numbers([0.5, 0.76], "a floor")).verdict is Verdict.YES


def test_what_is_fixed_has_its_verdict() -> None:
    fixed = [name for name, rule in plan().items() if rule.fixed_verdict is not None]
    assert {judge(name, None).verdict for name in fixed} == {Verdict.NOTHING}
    assert {"soft_table5", "saco_figure1", "crosslingual_table6"} <= set(fixed)


# --- the paper's own repeats -----------------------------------------------------------------------------------------


def test_a_claim_that_fails_in_the_papers_own_repeat_leaves_nothing_to_test() -> None:
    parts = planted({"a": 0.4, "b": 0.4}, {"a": 0.1, "b": 0.1})
    agree = {name: Comparison(pair.ours, 0.1, repeats=(0.1, 0.2)) for name, pair in parts.items()}
    found = judge("xl_c07", agree)
    assert (found.verdict, found.own_repeat) == (Verdict.YES, "agrees")
    disagree = agree | {"b": Comparison(parts["b"].ours, 0.1, repeats=(0.1, -0.2))}
    found = judge("xl_c07", disagree)
    assert (found.verdict, found.own_repeat, found.reason) == (Verdict.NOTHING, "disagrees", decide.OWN_REPEATS)


def own_orders(number: int) -> list[Ordered]:
    """The orders of a table of the cross-lingual paper, each with both of its architectures as repeats."""
    printed = published.table(f"crosslingual_table{number}")
    wide = printed.pivot_table(index=["method", "aggregation"], columns=["output", "model"], values="value")
    items = [" ".join(row) for row in wide.index]
    blocks = dict(zip(items, wide.index.get_level_values("method"), strict=True))
    orders = []
    for output in wide.columns.unique("output"):
        sides = tuple(dict(zip(items, wide[output][model], strict=True)) for model in wide[output])
        orders.append(Ordered(planted(dict.fromkeys(items, 0.0), sides[0]), blocks, repeats=(sides[0], sides[1])))
    return orders


def test_the_papers_own_orders_pass_the_rule_but_for_three_tables() -> None:
    fails = {
        number
        for number in range(8, 18)
        if decide._own_repeat(plan()["saco_table2"], own_orders(number)) == "disagrees"
    }
    assert fails == {9, 10, 15}


# --- the files -------------------------------------------------------------------------------------------------------


def test_everything_that_is_judged_has_a_rule() -> None:
    assert [name for name in plan() if "/" not in name] == list(to_judge().id)
    statements = [name.partition("/")[0] for name in plan() if "/" in name]
    assert {plan()[name].rule for name in statements} == {"whole"}


def test_rows_have_what_their_rules_ask_for() -> None:
    ours = {point["classifier"] for point in entry_of("naopc_models").points(PAPER)}
    models = {*settings_of("crosslingual_metrics", "paper")["models_read"], *ours}
    models |= set(settings_of("language_amounts", "laptop")["models_read"])
    there = {*registry().data, *models, *published.table("crosslingual_table7").language, "en"}
    for name, rule in plan().items():
        assert set(rule.needs) <= there, name
        assert datetime.date(2026, 11, 22) <= rule.date <= datetime.date(2026, 12, 31), name
        assert (rule.rule == "fixed") == (rule.fixed_verdict is not None), name
        if rule.rule == "within":
            assert rule.low is not None and rule.high is not None and rule.low < rule.high, name
        assert rule.margin is None or rule.margin > 0 or rule.rule == "same", name


def test_the_history_of_rules_has_a_row_for_every_rule_that_changed() -> None:
    history = published.our_table("rule_history")
    assert list(history.columns) == HISTORY
    rules_changed = history[history["id"] != freeze.NAMES_ONLY]  # the other rows say that only names have
    assert set(rules_changed["id"]) <= {name.partition("/")[0] for name in plan()}
    assert (rules_changed["rule_before"] != "").all() and (history["reason"] != "").all()
    for date in history["date"]:
        datetime.date.fromisoformat(date)


PROSE = {"analysis_plan.csv": ["notes"], "undecided.csv": ["why"], "rule_history.csv": HISTORY[2:-1]}


def test_no_verdict_is_read_out_of_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every note is replaced by another text, and nothing is judged otherwise."""
    claims: dict[str, Claim] = {}
    for name in of_rule(*OF_PARTS):
        if "/" not in name:
            true, false = true_and_false(plan()[name])
            claims[name] = planted({f"part {n}": (true, false, true)[n % 3] for n in range(20)})
    before, rules = {name: judge(name, claim).verdict for name, claim in claims.items()}, dict(plan())

    home = tmp_path / "home"
    home.mkdir()
    for name in ("notebooks", "requirements.lock", "faithlib", "faithbook"):
        (home / name).symlink_to(REPOSITORY / name)
    shutil.copytree(REPOSITORY / "data", home / "data", ignore=shutil.ignore_patterns("raw", "results", "reference"))
    for file, columns in PROSE.items():
        frame = pd.read_csv(home / "data" / file, dtype=str, keep_default_na=False)
        frame[columns] = "no order to reproduce: not recomputable: set up as published: reproduced"
        frame.to_csv(home / "data" / file, index=False)
    monkeypatch.setenv("FAITHLIB_HOME", str(home))
    monkeypatch.setattr(analysis_plan, "plan", analysis_plan.plan.__wrapped__)  # type: ignore[attr-defined]
    assert published.our_table("analysis_plan")["notes"].nunique() == 1  # the changed files are those that are read
    assert analysis_plan.plan() == rules
    assert {name: judge(name, claim).verdict for name, claim in claims.items()} == before


# --- reading and applying it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rule": "directions"}, "unknown rule .of soft_c01. 'directions': did you mean 'direction'"),
        ({"test": "tt"}, "unknown test .of soft_c01. 'tt'"),
        ({"fixed_verdict": "mixd"}, "unknown verdict .of soft_c01. 'mixd': did you mean 'mixed'"),
        ({"margin": "small"}, "rule of soft_c01 in data/analysis_plan.csv cannot be read: .*'small'"),
        ({"date": "yesterday"}, "cannot be read: .*'yesterday'"),
    ],
)
def test_a_bad_row_is_refused_with_its_fault(changed: dict[str, str], message: str) -> None:
    row = published.our_table("analysis_plan").set_index("id", drop=False).loc["soft_c01"].to_dict()
    assert analysis_plan.read(row) == plan()["soft_c01"]
    refused((DataError, UnknownNameError), message, analysis_plan.read, {**row, **changed})  # type: ignore[arg-type]


def test_what_a_rule_is_about_has_to_be_given() -> None:
    part = planted({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0})
    other = [Ordered(part), Ordered({"a": part["a"], "c": part["b"]})]
    number = {"n": SameNumber(0.5, "0.5")}
    for name, given, sentence in (
        *((name, one, f"{name} is judged by .* which asks for {what}")
          for name, what in (("soft_c01", "parts"), ("saco_table2", "orders"), ("xl_c05", "x and y"))
          for one in (None, number)),
        ("naopc_released_taus", part, "asks for numbers of ours and published ones"),
        ("saco_c03", part, "asks for statements"),
        ("saco_table2", other, "differ in b, c: expected the same items"),
    ):  # fmt: skip
        refused(InputError, sentence, judge, name, given)
    found = decide.judge("soft_c07", part, have=["movie", "ag"])
    assert (found.verdict, found.reason) == (Verdict.NOT_TESTED, "about sst, evinf, multirc")
    refused(UnknownNameError, "did you mean 'soft_table6'", analysis_plan.rule, "soft_tabel6")


def test_of_fewer_parts_than_a_claim_counts_as_many_are_asked_for_as_the_paper_has() -> None:
    found = judge("soft_c02", planted({"a": 1.0, "b": 1.0}))
    assert found.verdict is Verdict.NOT_TESTED
    assert "2 comparisons are available, and the claim needs 16" in found.reason
    names = [f"part {number}" for number in range(14)]
    printed = {name: 1.0 if number < 10 else -1.0 for number, name in enumerate(names)}
    found = judge("soft_c02", planted(dict.fromkeys(names, -0.4), printed))
    assert found.verdict is Verdict.NO
    assert found.reason.endswith("10 are required, as many as hold in the paper's own numbers for these")
    assert (
        judge("soft_c02", planted({name: 0.4 * value for name, value in printed.items()}, printed)).verdict
        is Verdict.YES
    )


def test_a_clear_lead_is_a_lead_and_one_inside_the_margin_decides() -> None:
    leads = {f"rival {number}": 0.4 for number in range(5)}
    assert judge("xl_c01", planted({**leads, "near": 0.01})).verdict is Verdict.YES
    level = judge("soft_c04", planted({**leads, "near": 0.0}))
    assert (level.verdict, level.decision) == (Verdict.EQUIVALENT, "not reproduced")
    assert level.reason == "no difference above the margin"


def test_a_choice_that_the_paper_does_not_report_and_that_turns_the_answer_makes_it_mixed() -> None:
    parts = planted({"a": 0.4})
    assert decide.judge("saco_c02", parts, have=(), flipping_options=["turned"]).verdict is Verdict.MIXED
    assert decide.judge("saco_c02", parts, have=(), flipping_options=["correlation"]).verdict is Verdict.YES


def test_every_point_of_the_referee_names_findings_that_exist_and_has_an_answer() -> None:
    answers = published.our_table("referee_answers")
    board = committed_board().set_index("id")
    assert set(answers["done"]) <= {"done", "in part", "not done", "nothing asked"}
    assert (answers[["point", "asked", "answer"]] != "").all(axis=None)
    assert {"F7", "F8", "F9", "F10"} <= set(answers["point"])
    named = [name for ids in answers["ids"] for name in ids.split("; ") if name]
    assert set(named) <= set(published.claims()["id"])
    # Its section 2 goes through these one by one.
    read = {"soft_c": 11, "saco_c": 11, "xl_c": 12, "naopc_c": 6}
    expected = {f"{study}{number:02d}" for study, most in read.items() for number in range(1, most + 1)}
    assert expected | {"saco_figure3", "saco_text"} <= set(named)
    # An answer that names a decision has the one on the scoreboard.
    says = {
        "mixed": r"\bmixed\b",
        "nothing to test": r"[Nn]othing (to test|is left to test)",
        "not tested": r"^Not tested",
    }
    for row in answers.itertuples():
        for decision, words in says.items():
            if re.search(words, row.answer):
                assert {board.loc[name, "decision"] for name in row.ids.split("; ")} == {decision}, row.answer


def test_the_table_of_answers_has_the_decisions_of_the_board() -> None:
    table = summary.answers_to_referee(committed_board()).set_index("about")
    assert table["done"].tolist() == published.our_table("referee_answers")["done"].tolist()
    several = table.loc["`soft_c05`; `soft_c06`; `soft_c07`; `soft_c08`; `soft_c09`", "decision now"]
    assert "not tested (soft_c07, soft_c08)" in several
