"""The rule log: complete, well-formed, and by each of its rules a claim can be true and can be false."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from refusals import refused

from faithbook.engine.profiles import settings_of, table
from faithbook.judge import analysis_plan, decide, published
from faithbook.judge.analysis_plan import Rule, log
from faithbook.judge.decide import Ordered, SameNumber, Trend
from faithbook.judge.reference import committed_board
from faithbook.judge.scoreboard import to_judge
from faithbook.stats import rules
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimates import Estimate
from faithlib.errors import DataError, InputError, UnknownNameError

INPUTS = 30
TESTED_AT = {
    "soft_c02": 18,
    "soft_c03": 2,
    "soft_c07": 4,
    "soft_c08": 6,
    "soft_c10": 8,
    "together_q6": 90,
    "soft_c12": 4,
    "soft_c13": 8,
    "soft_c14": 30,
    "saco_c12": 10,
    "naopc_c07": 2,
}
"""How many parts a claim has where the committed scoreboard has none, too few or too many to ask here; a row that was
added since has six."""
NO_ORDER = {"crosslingual_table3", "crosslingual_table9", "crosslingual_table10", "crosslingual_figure4"}


def of_rule(*names: str) -> list[str]:
    return [name for name, found in log().items() if found.rule in names and found.repeats_agree is not False]


def first(found: Rule) -> str:
    """The id that stands for its fact."""
    return found.same_as or found.id


OF_PARTS = of_rule("above", "k_of", "at_least", "equal", "leader")
PARTS = {**committed_board().set_index("id")["parts"], **TESTED_AT}


@functools.cache
def noise(parts: int) -> list[Estimate]:
    """Parts with a true mean of zero; many of them ask for many resamples."""
    generator = np.random.default_rng(0)
    values = 0.05 * generator.normal(size=(parts, INPUTS))
    frame = pd.DataFrame(values).rename_axis("part").melt(ignore_index=False, var_name="id").reset_index()
    cells = Conditions.of(frame, over=["part"], unit="id", n_resamples=1999 if parts < 20 else 6999)
    return [cells.mean(part=number) for number in range(parts)]


def planted(means: Mapping[str, float]) -> dict[str, Estimate]:
    """Parts with these true means, from 30 inputs."""
    return {name: part + means[name] for name, part in zip(means, noise(len(means)), strict=True)}


def judge(name: str, claim: object, have: Iterable[str] = (), as_many: int = 0) -> rules.Decision:
    """What the rule of an id says of a claim; of plain quantities, `as_many` are so in the paper's own numbers."""
    if isinstance(claim, dict) and all(isinstance(one, Estimate) for one in claim.values()):
        claim = {part: Comparison(one, float(place < as_many)) for place, (part, one) in enumerate(claim.items())}
    return decide.judge(name, claim, have=set(have)).decision  # type: ignore[arg-type]


def numbers(ours: list[float], printed: list[str], causes: tuple[str, ...] = ("", "", "")) -> dict[str, SameNumber]:
    """Numbers that are worked out twice."""
    told = zip(ours, printed, causes, strict=False)
    return {str(place): SameNumber(one, text, cause=cause) for place, (one, text, cause) in enumerate(told)}


# --- every rule can answer yes and no --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OF_PARTS)
def test_a_claim_of_parts_can_be_true_and_false(name: str) -> None:
    found = log()[name]
    margin = found.margin or 0.1
    apart = {"at_least": (0.0, -4 * margin), "equal": (0.0, 4 * margin)}
    true, false = apart.get(found.rule, (found.threshold + 0.4, found.threshold - 0.4))
    names = [f"part {number}" for number in range(int(PARTS.get(first(found), 6)))]
    yes = judge(name, planted(dict.fromkeys(names, true)), have=found.needs)
    assert (yes.answer, yes.passed, yes.parts) == (rules.YES, len(names), len(names))
    no = judge(name, planted(dict.fromkeys(names, false)), have=found.needs)
    assert (no.answer, no.passed) == (rules.NO, 0)
    each = found.k == "each"  # one part that is otherwise does not decide about the others
    needed = len(names) if each else rules.parts_needed(found.k or "all", len(names))
    enough = {part: true if number < needed else false for number, part in enumerate(names)}
    assert judge(name, planted(enough), have=found.needs).answer == rules.YES
    enough[names[0]] = false
    assert judge(name, planted(enough), have=found.needs).answer == (rules.PARTLY if each else rules.NO)


def printed_orders(name: str) -> list[tuple[dict[str, float], dict[str, object]]]:
    """The orders that a table prints: values by item, and the block (method) of each."""
    frame = published.table(name)
    columns = [one for one in ("model", "output", "k") if one in frame and frame[one].nunique() > 1]
    found = []
    for _, part in frame.groupby(columns):
        items = part["method"] + (" " + part["aggregation"] if "aggregation" in part else "")
        found.append((dict(zip(items, part["value"], strict=True)), dict(zip(items, part["method"], strict=True))))
    return found


def turned(values: Mapping[str, float], sign: int) -> dict[str, float]:
    """Values in their order or the opposite one, four times as far apart."""
    return {item: sign * 4 * value for item, value in values.items()}


@pytest.mark.parametrize("name", of_rule("order"))
def test_an_order_can_be_the_printed_one_and_its_opposite(name: str) -> None:
    found = log()[name]
    orders = printed_orders(first(found))
    assert len(orders) == {"crosslingual_table1": 2, "crosslingual_table4": 2, "saco_table2": 3}.get(first(found), 4)
    assert {len(values) for values, _ in orders} == ({10} if "saco" in name else {13})
    for sign, answer in ((1, rules.YES), (-1, rules.NO)):
        ours = [
            Ordered(
                {item: Comparison(one, values[item]) for item, one in planted(turned(values, sign)).items()}, blocks
            )
            for values, blocks in orders
        ]
        assert judge(name, ours, have=found.needs).answer == answer


@pytest.mark.parametrize("name", of_rule("trend"))
def test_a_trend_can_rise_and_fall(name: str) -> None:
    known = planted({f"unit {number}": 2.0 * number for number in range(8)})
    units = {unit: Comparison(one) for unit, one in known.items()}
    assert judge(name, Trend(units, units)).answer == rules.YES
    assert judge(name, Trend(units, {unit: -one for unit, one in units.items()})).answer == rules.NO


@pytest.mark.parametrize("name", of_rule("same"))
def test_the_same_number_can_agree_and_differ(name: str) -> None:
    found = log()[name]
    agrees = rules.SET_UP if name == "soft_table1" else rules.YES
    assert judge(name, numbers([0.5, 0.25], ["0.50000", "0.25000"]), have=found.needs).answer == agrees
    off = judge(name, numbers([0.5, 0.76], ["0.50000", "0.25000"]), have=found.needs)
    assert (off.answer, off.passed, off.parts) == (rules.NO, 1, 2)
    # Most are the printed ones, and the other has a known cause: no failure.
    three, printed = [0.5, 0.4, 0.76], ["0.50000", "0.40000", "0.25000"]
    told = judge(name, numbers(three, printed, ("", "", "a floor")), have=found.needs)
    assert (told.answer, told.passed, told.parts) == (rules.EXPLAINED, 2, 3)
    assert judge(name, numbers(three, printed), have=found.needs).answer == rules.NO
    few = judge(name, numbers([0.5, 0.7, 0.8], printed, ("", "a", "b")), have=found.needs)
    assert few.answer == rules.NO


def test_what_is_fixed_has_its_decision() -> None:
    decided = {name: judge(name, None).answer for name in of_rule("fixed")}
    assert set(decided.values()) == {rules.SET_UP, rules.NOT_RECOMPUTABLE}
    assert decided["soft_table5"] == decided["naopc_figure_lengths"] == rules.SET_UP
    assert decided["crosslingual_table6"] == decided["saco_figure1"] == rules.NOT_RECOMPUTABLE
    order = Ordered({name: Comparison(one, 0.0) for name, one in planted({"a": 0.0, "b": 1.0}).items()})
    for name in NO_ORDER:
        assert judge(name, [order]).answer == rules.NO_ORDER


def test_every_rule_that_draws_on_inputs_was_asked_above() -> None:
    asked = {*OF_PARTS, *of_rule("order", "trend")}
    assert asked == {name for name, found in log().items() if found.rule not in ("same", "fixed")} - NO_ORDER


# --- the log ---------------------------------------------------------------------------------------------------------


def test_rules_are_dated_and_say_why() -> None:
    assert list(log()) == list(to_judge().id)
    for name, found in log().items():
        assert datetime.date(2026, 11, 22) <= found.dated <= datetime.date.today(), name
        assert len(found.why.split()) > 4, name
        before_values = found.rule in ("same", "fixed") or name.startswith("lm_")
        assert found.post_hoc == (not before_values or name == "soft_table1"), name


def test_what_repeats_a_fact_is_judged_like_it() -> None:
    alike = ("rule", "k", "threshold", "margin", "needs", "unreported", "post_hoc", "repeats_agree")
    for name, found in log().items():
        if found.same_as:
            other = log()[found.same_as]
            assert not other.same_as
            for field in alike:
                assert getattr(found, field) == getattr(other, field), (name, field)


def test_rows_have_what_their_rules_ask_for() -> None:
    rows, ours = published.claims(), settings_of("naopc_models", "paper")["classifiers"]
    assert set(rows["headline"]) == set(rows["post_hoc"]) == {"", "yes"}
    models = {*settings_of("crosslingual_metrics", "paper")["models_read"], *ours["movie"]}
    models |= set(settings_of("language_amounts", "laptop")["models_read"])
    there = {*table().data, *models, *published.table("crosslingual_table7").language, "en"}
    begins = {
        "fixed": {rules.SET_UP, rules.NOT_RECOMPUTABLE, rules.NOT_RUN, rules.NO_ORDER},
        "order": analysis_plan.REPEATS,
    }
    for name, found in log().items():
        assert set(found.needs) <= there, name
        assert found.rule != "k_of" or found.k, name
        assert found.rule not in ("at_least", "equal") or (found.margin or 0) > 0, name
        assert not found.unreported or found.headline or found.same_as, name
        assert found.rule not in begins or found.why.partition(":")[0] in begins[found.rule], name


def both_models(number: int) -> pd.DataFrame:
    """A table of the cross-lingual paper that has an order twice, from two architectures."""
    index = ["method", "aggregation"]
    table = published.table(f"crosslingual_table{number}")
    return table.pivot_table(index=index, columns=["output", "model"], values="value")


def test_repeats_of_an_order_agree_where_the_log_says_so() -> None:
    repeated_in = {1: [8], 3: [9, 10], **{number: [number] for number in range(8, 18)}}
    for number, where in repeated_in.items():
        wides = [both_models(repeat) for repeat in where]
        outputs = [wide[one] for wide in wides for one in wide.columns.unique("output")]
        agree = all(scipy.stats.kendalltau(one["mbert"], one["xlm_r_base"]).pvalue <= 0.05 for one in outputs)
        assert log()[f"crosslingual_table{number}"].repeats_agree is agree, number
    for name in ("crosslingual_table4", "saco_table2"):  # the paper does not repeat them
        assert log()[name].repeats_agree is None


def test_the_order_rule_says_yes_to_the_papers_own_repeats_but_for_thai() -> None:
    """One order at a time it could say yes to the paper itself in five of eight tables, taken jointly in seven."""
    decided = {}
    for number in range(8, 18):
        wide = both_models(number)
        pairs = [wide[output].to_numpy().T for output in wide.columns.unique("output")]
        found = rules.Agreement.of([a for a, _ in pairs], [b for _, b in pairs], [method for method, _ in wide.index])
        assert found.permutations == 720
        decided[number] = found.answer
    assert {number for number, answer in decided.items() if answer != rules.YES} == {9, 10, 15}


# --- reading and applying it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rule": "k_off"}, "unknown rule .of soft_c01. 'k_off': did you mean 'k_of'"),
        ({"margin": "small"}, "rule of soft_c01 in data/claims.csv cannot be read: .*'small'"),
        ({"dated": "yesterday"}, "cannot be read: .*'yesterday'"),
    ],
)
def test_a_bad_row_is_refused_with_its_fault(changed: dict[str, str], message: str) -> None:
    row = published.claims().set_index("id", drop=False).loc["soft_c01"].to_dict()
    assert analysis_plan.read(row) == log()["soft_c01"]
    refused((DataError, UnknownNameError), message, analysis_plan.read, {**row, **changed})  # type: ignore[arg-type]


def test_what_a_rule_is_about_has_to_be_given() -> None:
    part = planted({"a": 1.0, "b": 1.0})
    known = {name: Comparison(one, 1.0) for name, one in part.items()}
    other = [Ordered(known), Ordered({"a": known["a"], "c": known["b"]})]
    for name, given, sentence in (
        *((name, one, f"{name} is judged by .* which asks for {what}")
          for name, what in (("soft_c01", "parts"), ("saco_table2", "orders"), ("xl_c05", "x and y"))
          for one in (None, numbers([0.5], ["0.5"]))),
        ("naopc_released_taus", part, "asks for numbers of ours and published ones"),
        ("saco_c02", part, "`above`, which has one part; 2 came"),
        ("saco_table2", other, "differ in b, c: expected the same items"),
    ):  # fmt: skip
        refused(InputError, sentence, judge, name, given)
    decision = judge("soft_c03", part, have=["movie", "ag"])
    assert (decision.answer, decision.why) == (rules.UNTESTABLE, "about multirc")
    refused(UnknownNameError, "did you mean 'soft_table6'", analysis_plan.rule, "soft_tabel6")


def test_of_fewer_parts_than_a_claim_counts_as_many_are_asked_for_as_the_paper_has() -> None:
    decision = judge("soft_c02", planted({"a": 1.0, "b": 1.0}))
    assert decision.answer == rules.UNTESTABLE
    assert "2 comparisons are available, and the claim needs 16" in decision.why
    names = [f"part {number}" for number in range(14)]
    none = judge("soft_c02", planted(dict.fromkeys(names, -0.4)), as_many=10)
    assert (none.answer, none.passed, none.parts) == (rules.NO, 0, 14)
    assert none.why.endswith("10 are required, as many as hold in the paper's own numbers for these")
    ten = {name: 0.4 if number < 10 else -0.4 for number, name in enumerate(names)}
    assert judge("soft_c02", planted(ten), as_many=10).answer == rules.YES


def test_a_lead_below_the_smallest_effect_of_interest_is_level() -> None:
    """Input x gradient led by .009 [.004, .015], and the claim "carried over"."""
    leads = {f"rival {number}": 0.4 for number in range(5)}
    assert judge("xl_c01", planted(leads)).answer == rules.YES
    near = judge("xl_c01", {**planted(leads), "near": planted({"near": 0.009})["near"] * 0.05 + 0.009})
    assert near.answer == rules.LEVEL and "less than 0.02 on 1 of 6 parts" in near.why
    behind = planted({**leads, "near": -0.4})
    assert judge("xl_c01", behind).answer == rules.NO
    # A margin as large as a lead that the paper prints could not say yes to the paper itself.
    smallest = {"xl_c01": 0.7202 - 0.6965, "saco_c09": 0.2346 - 0.1789, "soft_c08": 0.467 - 0.294}
    margins = {name: found.margin for name, found in log().items() if found.rule == "leader" and found.margin}
    assert set(margins) == set(smallest)
    assert all(margins[name] < lead for name, lead in smallest.items())
