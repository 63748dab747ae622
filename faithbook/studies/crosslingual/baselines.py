"""What is left of rho above the baselines (attributions that ignore the prediction) when a reason other than the model
is taken out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from faithbook.judge.scores import Scores
from faithbook.show.labels import row_label
from faithbook.show.numbers import ends_of, spoken
from faithbook.stats.agreement import tau_of
from faithbook.stats.comparison import Comparison
from faithbook.studies.crosslingual.zaman_belinkov import OUTPUT_NAMES, PAPER_LANGUAGES, THIRTEEN
from faithbook.studies.crosslingual.zaman_belinkov_claims import FAIR
from faithbook.studies.crosslingual.zaman_belinkov_rho import OF_RHO
from faithbook.studies.crosslingual.zaman_belinkov_tables import BLIND, LOOKING, Row, Rows, defined, printed_table

MAIN, TREATED = "main", FAIR
"""As published, and with length, links and copied words taken out."""
SETTINGS = {
    MAIN: "as published",
    "mean of pieces": "mean of pieces",
    "mean of links": "mean of links",
    "means of both": "means of both",
    "unaligned left out": "unaligned left out",
    "no copied words": "no copied words",
    TREATED: "all of these",
    "other links": "links by mutual argmax",
    "random links": "random links",
    "random links, degrees kept": "random, each word's number kept",
}
"""The settings in which rho is measured, for people."""
NORM = "norm of the embedding"
"""What activation with L2 is."""
NOT_DRAWN = ("random links", "means of both")
"""Settings that the figure leaves out: they look like others."""
NOWHERE = "Rho is undefined on every text of this run: all words have equal scores, own or carried over."
Leads = Mapping[tuple[str, str], pd.DataFrame]
"""By setting and output how far each method is above the baselines (`Rows.over_floors`)."""


def settings_by(links: str) -> dict[str, str]:
    """The settings for people, where words are linked by this rule."""
    other = "mutual argmax" if links == "softmax" else "softmax"
    return SETTINGS | {"other links": f"links by {other}"}


def in_paper_languages(units: pd.DataFrame) -> pd.DataFrame:
    """Rho in the paper's languages where it is defined."""
    return defined(units[units["language"].isin(PAPER_LANGUAGES)], OF_RHO)


def rows_by_setting(measured: Scores) -> dict[str, Rows]:
    """The rows in every setting."""
    return {setting: Rows(measured, setting=setting) for setting in SETTINGS}


def drawn_rows(rho: Mapping[str, Rows]) -> dict[str, pd.DataFrame]:
    """The thirteen and the baselines in the settings that are drawn."""
    rows = [*THIRTEEN, BLIND[0], BLIND[2]]  # the norm of the embedding is one of the thirteen
    return {setting: source.frame(rows) for setting, source in rho.items() if setting not in NOT_DRAWN}


def above_baselines(rho: Mapping[str, Rows]) -> Leads:
    """How far each method is above the baselines, in every setting and for both outputs."""
    leads = {}
    for (setting, rows), output in product(rho.items(), OUTPUT_NAMES):
        leads[setting, output] = rows.over_floors(output)
    return leads


def left_by_setting(rho: Mapping[str, Rows], leads: Leads, names: Mapping[str, str]) -> pd.DataFrame:
    """`left_above` of every output and setting, by the `names` of settings."""
    rows = []
    for output, (setting, name) in product(OUTPUT_NAMES, names.items()):
        left = left_above(rho[setting], leads[setting, output], rho[MAIN], output)
        rows.append({"output": output, "setting": name} | left)
    return pd.DataFrame(rows)


def baselines_to_quote(rho: Mapping[str, Rows]) -> dict[str, Comparison]:
    """Two baselines and the leading method as published, of the loss, for sentences of other pages."""
    uniform, norm, _ = BLIND
    leader = ("input_x_gradient", "l2")
    rows = {"uniform": uniform, NORM: norm, row_label(*leader): leader}
    pairs = {name: rho[MAIN].if_defined(row, "loss") for name, row in rows.items()}
    return {name: pair for name, pair in pairs.items() if pair}


def beside_published(rho: Mapping[str, Rows]) -> dict[str, Comparison]:
    """The eleven methods, of the loss, and below them two baselines, beside Table 1; empty where nothing is defined."""
    printed = printed_table("crosslingual_table1").set_index(["method", "aggregation", "output"])["value"]
    found = {}
    for row in LOOKING:
        pair = rho[MAIN].if_defined(row, "loss")
        if pair is not None:
            found[row_label(*row)] = replace(pair, published=printed[(*row, "loss")])
    if not found:
        return {}
    baselines = baselines_to_quote(rho)
    if "uniform" in baselines:
        found["baseline: uniform"] = baselines["uniform"]
    if NORM in baselines:
        found[f"baseline: {NORM}"] = replace(baselines[NORM], published=printed["activation", "l2", "loss"])
    return found


def conclusions(rho: Mapping[str, Rows], leads: Leads) -> str:
    """What the baselines reach and what is left above them, a line each."""
    first = leads[MAIN, "loss"]
    if first.empty:
        return NOWHERE
    uniform, norm, _ = BLIND
    highest: Any = first.iloc[int(first["estimate"].argmax())]
    leader: Row = (highest["method"], highest["aggregation"])
    name = row_label(*leader)
    published, treated = (partial(rho_in_words, rho[setting]) for setting in (MAIN, TREATED))
    no_copies, means = (partial(rho_in_words, rho[setting]) for setting in ("no copied words", "mean of pieces"))
    lines = [
        f"As published, attributions that ignore the prediction reach a rho of {published(uniform)} (uniform) and "
        f"{published(norm)} (norm of the embedding); the highest method, {name}, {published(leader)}.",
    ]
    for setting, how in ((MAIN, "as published"), (TREATED, "with all of these changes")):
        for output, text in OUTPUT_NAMES.items():
            lines.append(f"Above all baselines {how}, for {text}: {remaining(leads[setting, output])}.")
    lines += [
        f"The norm of the embedding goes from {published(norm)} to {no_copies(norm)} without copied words, to "
        f"{means(norm)} with means over pieces, and to {treated(norm)} with all of these changes.",
        f"With random links that keep every word's number of links, {name} has "
        f"{rho_in_words(rho['random links, degrees kept'], leader)}: so much agreement comes from the numbers of links "
        "alone.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def left_above(rows: Rows, leads: pd.DataFrame, published: Rows, output: str) -> dict[str, object]:
    """How many methods of a setting are above all baselines and how many below one, which has the largest lead, and
    Kendall's tau of their order with that in the published setting, with its interval.

    `rows`: the setting; `leads`: its `over_floors(output)`, where no row means that nothing can be counted;
    `published`: the published setting, for which there is no tau; n is the fewest sentence pairs of a lead.
    """
    if leads.empty:
        return {"methods": 0}
    best: Any = leads.iloc[int(leads["estimate"].argmax())]
    return {
        "above all baselines": leads["above"].sum(),
        "below one": leads["below"].sum(),
        "methods": len(leads),
        "best": row_label(best["method"], best["aggregation"]),
        "over": best["over"],
        "lead": best["estimate"],
        "lead low": best["low"],
        "lead high": best["high"],
        **_tau(rows, published, output),
        "n": leads["n"].min(),
    }


def _tau(rows: Rows, published: Rows, output: str) -> dict[str, float]:
    """Tau of the methods that have a value in both settings; nothing for fewer than two, or for one setting alone."""
    if rows is published:
        return {}
    ours, theirs = [], []
    for row in LOOKING:
        treated, as_published = rows.if_defined(row, output), published.if_defined(row, output)
        if treated is not None and as_published is not None:
            ours.append(treated.ours)
            theirs.append(as_published.ours)
    if len(ours) < 2:
        return {}
    return ends_of(tau_of(ours, theirs), "tau")


def remaining(leads: pd.DataFrame) -> str:
    """The names of the methods above all baselines.

    >>> remaining(pd.DataFrame({"method": ["lime"], "aggregation": ["none"], "above": [False]}))
    'none'
    """
    above = leads[leads["above"].astype(bool)]
    return "; ".join(map(row_label, above["method"], above["aggregation"])) or "none"


def rho_in_words(rows: Rows, row: Row, output: str = "loss") -> str:
    """The rho of a row in words, with its interval; a dash where it is defined on no text."""
    pair = rows.if_defined(row, output)
    if pair is None:
        return "–"
    return spoken(pair, ".2f")
