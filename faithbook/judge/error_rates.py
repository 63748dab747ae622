"""What the measured error rates say about the claims: which shapes of values break the promise, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from faithbook.judge.analysis_plan import OF_PARTS, plan
from faithbook.judge.published import column
from faithbook.paths import root
from faithbook.stats.calibrate import COVERED, PROMISE, kept
from faithbook.stats.evidence_levels import display_label
from faithbook.stats.inference import wilson
from faithbook.stats.verdict import Verdict

ABOUT: Mapping[str, tuple[str, ...]] = {
    "together_q5": ("share of .8", "share of .95"),
    "together_q6": ("share of .8", "share of .95"),
}
"""Claims about shares, whose plan names another test than Student's t, and the shapes that are like their values."""
OF_CLAIMS = "data/reference/claim_error_rates.csv"
"""By id, or statement of one, how often its rule errs with values of its own shape (`faithbook.judge.claim_rates`)."""
SIDES = {"wrong_yes": Verdict.YES, "wrong_no": Verdict.NO}
"""The columns of that table for either wrong answer."""
WRONG = {"yes": "wrongly reproduced", "no": "wrongly not reproduced"}
BEYOND = "beyond 2.5 in 100"
TESTS = {"t": "Student's t", "score": "score test"}


def with_promise(rates: pd.DataFrame) -> pd.DataFrame:
    """The table of rates with its 95 % Monte Carlo intervals (`low`, `high`) and whether each is within the promise
    (`kept`)."""
    low, high = wilson(rates["rate"], rates["worlds"])
    return rates.assign(low=low, high=high, kept=kept(rates))


def of_shapes(rates: pd.DataFrame) -> pd.DataFrame:
    """The highest rates, by shape of values, of either wrong answer about one mean by Student's t, and with how many
    clusters they are beyond the promise; `rates` as `with_promise` gives them."""
    errors = rates[(rates["test"] == "t") & (rates["answer"] != COVERED)]
    rows = []
    for shape, of_shape in errors.groupby("shape", sort=False):
        one_mean = of_shape[(of_shape["parts"] == 1) & (of_shape["rule"] == "direction, all")]
        row, beyond = {"values": shape}, []
        for answer, wrong in WRONG.items():
            of_answer = one_mean[one_mean["answer"] == answer]
            row[f"{wrong}, highest rate"] = of_answer["rate"].max()
            clusters = of_answer.loc[~of_answer["kept"], "clusters"]
            beyond += [f"{wrong}: {', '.join(clusters)}"] if len(clusters) else []
        row["clusters with a rate beyond 2.5 in 100"] = "; ".join(beyond) or "–"
        rows.append(row)
    return pd.DataFrame(rows)


def of_claims(rates: pd.DataFrame, board: pd.DataFrame) -> pd.DataFrame:
    """By claim the rates of either wrong answer of its rule, and whether one is beyond the promise: with its own values
    where Student's t judges it (`claim_rates`), else with those most like them, by the test that its plan names.

    `board`: id, n, decision and evidence of claims.
    """
    facts, words = board.set_index("id"), column("claim")
    rows = []
    for of_rule in rates_of_claims().to_dict("records"):
        name, _, statement = str(of_rule["id"]).partition("/")
        row = {
            "id": name,
            "claim": words[name].rstrip(".") + (f": {statement}" if statement else ""),
            "decision": facts.loc[name, "decision"],
            "evidence": facts.loc[name, "evidence"],
            "values like": f"its own ({TESTS['t']})",
            "comparisons": f"{of_rule['needed']} of {of_rule['parts']} have to hold",
            "clusters": of_rule["clusters"],
        }
        sides = dict(zip(WRONG.values(), SIDES, strict=True))
        row |= {wrong: of_rule[side] for wrong, side in sides.items()}
        rows.append(row | {BEYOND: [wrong for wrong, side in sides.items() if not of_rule[f"{side} kept"]]})
    numbers = pd.to_numeric(facts["n"])
    for name in ABOUT:
        judged = {"decision": facts.loc[name, "decision"], "evidence": facts.loc[name, "evidence"]}
        rows.append(_of_shares(name, rates, judged, int(numbers[name])))
    return pd.DataFrame(rows)


def _of_shares(name: str, rates: pd.DataFrame, judged: Mapping[str, object], n: int) -> dict[str, object]:
    """The row of a claim about shares: the higher rate of the two shapes, with the largest simulated number of clusters
    that is not above its n. `judged`: its decision and evidence."""
    test = plan()[name].test
    one_share = rates[(rates["test"] == test) & (rates["rule"] == "direction, all") & (rates["parts"] == 1)]
    simulated = one_share[one_share["shape"].isin(ABOUT[name])]
    sizes = {int(clusters) for clusters in simulated["clusters"] if clusters.isdigit() and int(clusters) <= n}
    simulated = simulated[simulated["clusters"] == str(max(sizes))]
    row: dict[str, object] = {
        "id": name,
        "claim": column("claim")[name].rstrip("."),
        **judged,
        "values like": f"{' and '.join(ABOUT[name])} ({TESTS[test]})",
        "comparisons": "each by itself",
        "clusters": max(sizes),
    }
    beyond = []
    for answer, wrong in WRONG.items():
        of_answer = simulated[simulated["answer"] == answer]
        row[wrong] = of_answer["rate"].max()
        beyond += [] if of_answer["kept"].all() else [wrong]
    return row | {BEYOND: beyond}


def claim_rate_table(claims: pd.DataFrame) -> pd.DataFrame:
    """The table of `of_claims` for readers."""
    beyond = [" and ".join(answers) or "no" for answers in claims[BEYOND]]
    return claims.assign(**{BEYOND: beyond, "decision": _as_they_read(claims)}).drop(columns="evidence")


def _as_they_read(claims: pd.DataFrame) -> list[str]:
    """The decisions on claims as they read on their evidence."""
    pairs = zip(claims["decision"], claims["evidence"], strict=True)
    return [display_label(str(decision), str(evidence)) for decision, evidence in pairs]


def in_sentences(rates: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Which shapes break the promise of Student's t with many clusters of one data set, and which with few alone; which
    decisions are on a side beyond the promise (`claims`: the table of `of_claims`); and how many claims have values
    whose shape was not simulated."""
    errors = rates[(rates["test"] == "t") & (rates["parts"] == 1) & (rates["rule"] == "direction, all")]
    many = errors["clusters"].isin(["60", "200"])  # of one data set; the other rows are of few, or of two data sets
    with_many = list(dict.fromkeys(errors.loc[~errors["kept"] & many, "shape"]))
    broken = list(dict.fromkeys(errors.loc[~errors["kept"], "shape"]))
    with_few = [shape for shape in broken if shape not in with_many]
    never = [shape for shape in dict.fromkeys(errors["shape"]) if shape not in broken]
    too_often = claims[[f"wrongly {row['decision']}" in row[BEYOND] for row in claims.to_dict("records")]]
    names = [f"{name} ({word})" for name, word in zip(too_often["id"], _as_they_read(too_often), strict=True)]
    without = len(of_parts() - set(claims["id"]))
    lacking = f" Of {without} more the pages of this profile have no values." if without else ""
    return "".join(
        [
            "About one mean Student's t errs more often than promised, even with 60 or 200 clusters, for ",
            f"{_listed(with_many)}; with fewer, or 200 beside 12, for {_listed(with_few)}; nowhere for ",
            f"{_listed(never)}.\n\n",
            f"The second table below has the {claims['id'].nunique()} findings whose rule compares means, each with ",
            "its own values, number of inputs and rule. A decision on the side that errs too often is to be read with ",
            "that rate, and its claim says so on its page and on the scoreboard: ",
            f"{_listed(list(dict.fromkeys(names)))}.{lacking}",
        ]
    )


def of_parts() -> set[str]:
    """The findings of their own that a rule about comparisons judges."""
    return {
        name.partition("/")[0]
        for name, rule in plan().items()
        if rule.rule in OF_PARTS and not rule.same_as and not rule.fixed_verdict
    }


def rates_of_claims() -> pd.DataFrame:
    """The committed table of `OF_CLAIMS`, and of each rate whether it is within the promise (`wrong_yes kept`); no rows
    before it has been made."""
    path = root() / OF_CLAIMS
    columns = ["id", "rule", "parts", "needed", "clusters", "worlds", *SIDES]
    rates = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=columns).astype({"id": str})
    within = {}
    for side in SIDES:
        low, _ = wilson(rates[side], rates["worlds"])
        within[f"{side} kept"] = low <= PROMISE
    return rates.assign(**within)


def rates_beyond_promise(board: pd.DataFrame) -> dict[str, float]:
    """By id whose decision is on the side on which its rule errs more often than promised: the rate there. `board`: id
    and decision. Of a sentence of several statements the highest rate counts."""
    rates = rates_of_claims()
    claim = rates["id"].str.split("/").str[0]
    sides = {Verdict.YES.value: "wrong_yes", Verdict.NO.value: "wrong_no"}
    found: dict[str, float] = {}
    for name, decision in zip(board["id"], board["decision"], strict=True):
        if decision not in sides:
            continue
        side = sides[decision]
        too_often = rates.loc[(claim == name) & ~rates[f"{side} kept"], side]
        if len(too_often):
            found[name] = float(too_often.max())
    return found


def said_of(name: str, decision: str) -> str:
    """A sentence on a decision that its rule gives wrongly more often than promised; "" for any other."""
    rate = rates_beyond_promise(pd.DataFrame({"id": [name], "decision": [decision]})).get(name)
    if rate is None:
        return ""
    return (
        f"With values of this shape and number the rule gives this decision wrongly in {100 * rate:.1f} of 100 "
        "simulated cases; 2.5 are promised ({doc}`calibration`)."
    )


def _listed(shapes: list[str]) -> str:
    return ", ".join(f"*{shape}*" for shape in shapes) or "none"
