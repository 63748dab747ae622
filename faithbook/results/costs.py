"""What a profile costs before it runs: rows and hours from the manifests of runs, money at a price of the reader's.

Rows are those that runs of the full profile have counted, by the input, times the inputs of the profile asked; those of
a data set by runs on it or on what stands in for it. Hours of this processor are seconds an input of these runs, times
these inputs. Hours of a GPU are *measured* as soon as runs of the profile asked have used one on all data sets of a
computation, or on what stands for them; before that they are *extrapolated*: the hours of this processor, divided by
how many times faster a GPU is thought to be (`FASTER`, a number to change in the page; `book/_static/cost.js` does the
rest).
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from IPython.display import HTML

from faithbook import hours
from faithbook.declared import ask
from faithbook.engine.profiles import table
from faithbook.results import published

PRICE, FASTER = 1.0, 1.0
"""What the page begins with: one euro an hour, a GPU as fast with its models as this processor with its own."""
WITHIN = 0.25
COUNTED = "full"
MEASURED, EXTRAPOLATED, UNKNOWN = "measured", "extrapolated", "unknown"
STUDIES = {
    "soft": "study 1",
    "saco": "study 2",
    "crosslingual": "study 3",
    "naopc": "study 4",
    "together": "all together",
}


def reference() -> list[dict[str, Any]]:
    """The manifests of the computations of the committed reference."""
    ask("data/reference/full/manifest.json")
    return list(hours.of_reference())


def by_notebook(profile: str, ran: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A row a computation of a profile: runs, inputs, rows, hours of this processor; hours of a GPU, `measured`, or
    else `guessed` for one that is as fast as this processor; NaN where nothing tells. `ran`: manifests, those of the
    reference among them."""
    found = []
    for one in hours.by_study(profile, ran=ran):
        own = [run for run in ran if run["notebook"] == one.notebook]
        on_processor = [run for run in own if run["profile"] == COUNTED and run["device"] == "cpu"]
        on_gpu = [run for run in own if run["profile"] == profile and run["device"] != "cpu"]
        here = _hours(one.notebook, profile, on_processor)
        gpu = _hours(one.notebook, profile, on_gpu, else_all=False)
        ground = MEASURED if not math.isnan(gpu) else UNKNOWN if math.isnan(here) else EXTRAPOLATED
        found.append(
            {
                "study": one.study,
                "notebook": one.notebook,
                "runs": one.runs,
                "inputs": one.inputs,
                "rows": one.rows,
                "counted_at": one.counted_at,
                "hours": here,
                "measured": gpu,
                "guessed": here if ground == EXTRAPOLATED else math.nan,
                "ground": ground,
            }
        )
    return pd.DataFrame(found)


def _hours(notebook: str, profile: str, runs: Sequence[dict[str, Any]], *, else_all: bool = True) -> float:
    seconds = hours.told_seconds(notebook, profile, runs, else_all=else_all)
    return math.nan if seconds is None else seconds / 3600


def by_study(costs: pd.DataFrame) -> pd.DataFrame:
    """A row a study, and one for all of them: sums of what is known, and of how many computations nothing tells."""
    rows = [_sum(rows, study=STUDIES.get(str(study), str(study))) for study, rows in costs.groupby("study", sort=False)]
    return pd.DataFrame([*rows, _sum(costs, study="all")])


def by_exhibit(costs: pd.DataFrame) -> pd.DataFrame:
    """A row a table or figure of the papers: what the computations cost that its page reads, whole, whoever else reads
    them too."""
    reads = {name: _computed(name) for _, kind, name, _ in table().entries() if kind == "report"}
    places = published.beside("pages").set_index("id")["page"]
    found = []
    for kind, says in (("tables", "title"), ("figures", "shows")):
        for name, paper, what in published.index(kind)[["id", "paper", says]].itertuples(index=False):
            if (page := places.get(name)) in reads and reads[page]:
                own = costs[costs["notebook"].isin(reads[page])]
                about = {"exhibit": name, "paper": paper, "what": what, "page": page}
                found.append(_sum(own, **about) | {"computations": ", ".join(own["notebook"])})
    return pd.DataFrame(found)


def _computed(report: str) -> set[str]:
    """The computations that a report reads, itself or through other reports."""
    entries = {name: (kind, entry) for _, kind, name, entry in table().entries()}
    found: set[str] = set()
    for name in entries[report][1].reads:
        if name in entries:
            found |= {name} if entries[name][0] == "compute" else _computed(name)
    return found


def _sum(rows: pd.DataFrame, **about: str) -> dict[str, Any]:
    grounds = dict.fromkeys(rows["ground"])
    sums = {name: rows[name].sum(min_count=1) for name in ("rows", "hours", "measured", "guessed")}
    return {**about, **sums, "ground": " and ".join(grounds), "unknown": int((rows["ground"] == UNKNOWN).sum())}


def check(full: Sequence[dict[str, Any]], own: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """By notebook, for runs of the full profile on a processor: the rows that they counted, the hours that they took
    (`hours.lasted`); of those whose time can be checked (`_checkable`), and of which another on related data tells, how
    many took within a quarter of that, and the median of how far off that is; the hours that runs of another profile
    (`own`) tell of all; how many runs cannot be checked (`unchecked`). NaN where there are none."""
    measured = [one for one in full if one["profile"] == COUNTED and one["device"] == "cpu"]
    others = [one for one in own if one["profile"] != COUNTED and one["device"] == "cpu"]
    rows = []
    for one in measured:
        took = hours.lasted(one)
        others_of_it = [each for each in measured if each is not one and _checkable(each)]
        from_others = hours.told_of(one, others_of_it, else_all=False) if _checkable(one) else None
        from_own = hours.told_of(one, others)
        rows.append(
            {
                "notebook": one["notebook"],
                "rows": float(one["notes"].get("rows_run", math.nan)),
                "hours": took / 3600,
                "off": math.nan if from_others is None else abs(from_others / took - 1),
                "own_hours": math.nan if from_own is None else from_own / 3600,
                "unchecked": not _checkable(one),
            }
        )
    frame = pd.DataFrame(rows, columns=["notebook", "rows", "hours", "off", "own_hours", "unchecked"])
    frame["near"] = (frame["off"] <= WITHIN).where(frame["off"].notna())
    grouped = frame.groupby("notebook", sort=False)
    sums = grouped[["rows", "hours"]].sum(min_count=1).assign(own_hours=grouped["own_hours"].sum(min_count=1))
    counts = {"runs": grouped["off"].count(), "near": grouped["near"].sum(), "unchecked": grouped["unchecked"].sum()}
    found = sums.assign(**counts, off=grouped["off"].median())
    return found.assign(own_apart=found["own_hours"] / found["hours"] - 1).reset_index()


def _checkable(run: Mapping[str, Any]) -> bool:
    """Whether what a run took does not hang on what ran beside it: it has noted its processor's seconds."""
    return "processor_seconds" in run


def told_check(checked: pd.DataFrame) -> str:
    """The check in sentences."""
    said = (
        f"Of {checked['runs'].sum()} runs of the full profile, {int(checked['near'].sum())} took within 25 % of what "
        f"others on the same or related data tell of them."
    )
    if unchecked := int(checked["unchecked"].sum()):
        said += (
            f" {unchecked} older runs have noted the clock alone, which went on while other work had the processor: "
            "they are not checked."
        )
    own = checked.dropna(subset=["own_apart"])
    if own.empty:
        return said
    near, measured, told = (own["own_apart"].abs() <= WITHIN).sum(), own["hours"].sum(), own["own_hours"].sum()
    return (
        f"{said} Of {len(own)} notebooks, {near} took within 25 % of what the runs of this copy's profile tell; all of "
        f"them took {measured:.1f} hours, and those runs tell {told:.1f} ({told / measured - 1:+.0%})."
    )


# ---------------------------------------------------------------------------------------------------- in words
def shown(costs: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Costs for people, in the columns `names` (ours to theirs) and those that every table of costs has."""
    frame = costs[list(names)].rename(columns=dict(names))
    frame["1000 rows, about"] = [amount(rows / 1000, digits=0) for rows in costs["rows"].astype(float)]
    frame["hours, this processor"] = [amount(value) for value in costs["hours"]]
    on_gpu = list(zip(costs["measured"].fillna(0.0), costs["guessed"].fillna(0.0), strict=True))
    frame["GPU-hours"] = [_changing("gpu", *one, 1.0) for one in on_gpu]
    frame["euros"] = [_changing("euros", *one, PRICE) for one in on_gpu]
    return frame.assign(**{"GPU-hours are": costs["ground"]})


def _changing(name: str, measured: float, guessed: float, price: float) -> str:
    """A cell that the script works out again."""
    if not measured + guessed:
        return "–"
    told = amount((measured + guessed / FASTER) * price)
    return f'<span class="cost-{name}" data-measured="{measured:.6g}" data-guessed="{guessed:.6g}">{told}</span>'


def shown_check(checked: pd.DataFrame) -> pd.DataFrame:
    """The check for people: rows as they were counted."""
    percent = [[_percent(value) for value in checked[name]] for name in ("off", "own_apart")]
    return pd.DataFrame(
        {
            "computation": checked["notebook"],
            "rows, counted": [amount(rows, digits=0) for rows in checked["rows"]],
            "hours, measured": [amount(value) for value in checked["hours"]],
            "runs within 25 %": [
                f"{near:.0f} of {runs}" for near, runs in zip(checked["near"], checked["runs"], strict=True)
            ],
            "apart, median": [text.lstrip("+") for text in percent[0]],
            "hours, told by this copy": [amount(value) for value in checked["own_hours"]],
            "its sum apart": percent[1],
        }
    )


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.0%}".replace("-", "−")


def amount(value: float, digits: int = 2) -> str:
    """A number without separators, so that tables of the page can sort and reckon.

    >>> amount(1234.5), amount(0.123), amount(12.34), amount(float("nan"))
    ('1234.5', '0.12', '12.3', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:.{digits if value < 10 else min(digits, 1)}f}"


def fields() -> HTML:
    """Where the script puts the fields for the price and for how fast a GPU is; without it the page stays as it is."""
    label = html.escape("Price of a GPU-hour, and how fast a GPU is")
    return HTML(
        f'<div class="cost" role="group" aria-label="{label}" data-price="{PRICE:g}" data-faster="{FASTER:g}">'
        f"<noscript>With scripts, price and speed can be changed here.</noscript></div>"
    )
