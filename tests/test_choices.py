"""Choices that a paper does not report: named beside each verdict that they turn, with what another reading gives."""

from __future__ import annotations

import pandas as pd

from faithbook.judge import choices, published, scoreboard
from faithbook.judge.decide import UNREPORTED
from faithbook.judge.multiverse import Curve
from faithbook.judge.sentences import Results
from faithbook.judge.summary import NOTHING_QUOTED, all_verdicts
from faithbook.paths import reference_dir

OTHER = {"claim": "saco_c02/variants", "part": "turned: none", "published": float("nan"), "ours": 0.1009}
QUOTED = pd.DataFrame([{**OTHER, "low": 0.0646, "high": 0.1376, "n": 73}])


def board() -> pd.DataFrame:
    """The board of the committed verdicts."""
    judged = scoreboard.filled(pd.read_csv(reference_dir() / "scoreboard.csv"))
    return published.claims()[["id", "paper", "kind"]].merge(judged, on="id")


def test_every_verdict_that_an_unreported_choice_turns_names_it() -> None:
    rows = board()
    results = Results(rows, NOTHING_QUOTED)
    turned = rows["id"][rows["reason"] == UNREPORTED]
    assert set(turned) >= {"saco_c02", "xl_c01"}
    assert all(choices.unreported(results, name) for name in turned)
    assert choices.unreported(results, "soft_c01") == choices.in_full(results, "soft_c01") == ""


def test_what_another_reading_gives_is_said_where_it_was_measured() -> None:
    results = Results(board(), QUOTED)
    flipped = "whether metrics for which lower is better are sign-flipped"
    for name in ("saco_c02", "saco_figure2"):  # the figure repeats the claim
        assert choices.in_full(results, name) == f"{flipped} (without the flips: 0.101 [0.065, 0.138])"
    assert "(" not in choices.in_full(results, "xl_c01") and choices.otherwise(results, "xl_c01") == ""
    cells = all_verdicts(board(), QUOTED)
    of_claim = cells["more"][cells["claim"].str.contains("`saco_c02`")].item()
    assert f"a choice that the paper does not report: {flipped} (without the flips: 0.101" in of_claim


def test_a_curve_keeps_what_decides_under_each_single_choice() -> None:
    told = [("yes", "a", 0.2), ("no", "a", -0.1), ("yes", "b", 0.3), ("no", "b", 0.4)]
    frame = pd.DataFrame(told, columns=["flipped", "kind", "estimate"]).assign(low=0.0, high=0.5, n=60)
    quoted = Curve("saco_c02", ("flipped", "kind"), frame).quoted
    assert dict(zip(quoted["part"], quoted["ours"], strict=True)) == {"flipped: no": -0.1, "kind: b": 0.3}
    assert set(quoted["claim"]) == {"saco_c02/variants"}
