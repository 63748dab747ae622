"""The claims of Wu et al. (2024) on two kinds of images, photographs and small grey ones, next to each other: what
`saco_stand_ins` shows.

    kinds = Kinds.of(measured)
    kinds.saco["photographs"]("rollout"), beside_printed(kinds, printed)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import pandas as pd

from faithbook.judge import published
from faithbook.judge.multiverse import Curve
from faithbook.judge.scores import Scores
from faithbook.show.labels import label, short
from faithbook.show.numbers import ends_of, listed, spoken, written
from faithbook.stats import comparison, evidence_levels
from faithbook.stats.agreement import tau_of
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Estimate
from faithbook.studies.saco import wu
from faithbook.studies.saco.wu import CHANCE, FAMILIES, METHODS, MID, At

PHOTOGRAPHS, SMALL = "photographs", "small images"
KINDS = (PHOTOGRAPHS, SMALL)
CHANGED = {"zero": "erased: one fixed colour", "blur": "erased: blurred copy", "ranks": "scores replaced by ranks"}
"""Settings in which one thing is done differently, in words."""


@dataclass(frozen=True)
class Kinds:
    """What was measured, by kind of images: its data sets."""

    measured: Scores
    datasets: dict[str, list[str]]

    @classmethod
    def of(cls, measured: Scores) -> Kinds:
        """By the evidence on which values rest: substitutes are the small images."""
        datasets = {}
        for level, names in measured.by_evidence.items():
            kind = PHOTOGRAPHS
            if level == evidence_levels.SUBSTITUTE:
                kind = SMALL
            datasets[kind] = names
        return cls(measured, datasets)

    @property
    def missing(self) -> list[str]:
        """The kinds of which no image was measured."""
        return [name for name in KINDS if name not in self.datasets]

    @property
    def saco(self) -> dict[str, At]:
        """By kind SaCo with ten groups, by method."""
        return {
            kind: self.measured.quantity("method", k=MID, dataset=datasets) for kind, datasets in self.datasets.items()
        }

    def in_words(self) -> str:
        """Which kinds are compared, or that there is one only."""
        if self.missing:
            lacking = " and no ".join(self.missing)
            return f"*There are no {lacking} among the values used here, so there is one column only.*"
        return f"Compared: {self.note}."

    @property
    def note(self) -> str:
        """The data sets of each kind."""
        return "; ".join(f"{kind} ({', '.join(map(short, names))})" for kind, names in self.datasets.items())


def columns_of(name: str) -> tuple[str, str, str]:
    """The columns of an estimate and the ends of its interval.

    >>> columns_of("photographs")
    ('photographs', 'photographs, low', 'photographs, high')
    """
    return name, f"{name}, low", f"{name}, high"


def printed_by_method(table2: pd.DataFrame) -> dict[str, float]:
    """The published SaCo of each method with ten groups, NaN for random scores."""
    with_ten = table2[table2["k"] == MID]
    by_method = with_ten.groupby("method")["value"].mean()
    return {method: float(by_method.get(method, math.nan)) for method in (*METHODS, CHANCE)}


def taus_by_kind(kinds: Kinds, printed: Mapping[str, float]) -> dict[str, Estimate]:
    """By kind Kendall's tau between our order of the ten methods and the printed one."""
    values = [printed[method] for method in METHODS]
    return {kind: tau_of([at(method).ours for method in METHODS], values) for kind, at in kinds.saco.items()}


def in_short(kinds: Kinds, printed: Mapping[str, float]) -> str:
    """The result of the page: mean SaCo and agreement with the printed order, by kind."""
    tau = taus_by_kind(kinds, printed)
    of_kinds = []
    for kind, at in kinds.saco.items():
        of_kinds.append(f"{spoken(at(METHODS), '.2f')} and {spoken(tau[kind], '.2f')} on {kind} (n = {tau[kind].n})")
    mean = sum(printed[method] for method in METHODS) / len(METHODS)
    differing_methods = ""
    if not kinds.missing:
        clear = sum(_excludes_zero(kinds.saco[PHOTOGRAPHS](name) - kinds.saco[SMALL](name)) for name in METHODS)
        differing_methods = (
            f"SaCo differs clearly between photographs and small images for {clear} of {len(METHODS)} methods (95 % "
            "interval of the difference without zero). "
        )
    return (
        f"{differing_methods}Mean SaCo of ten methods, and agreement of their order with the printed one (Kendall's "
        f"tau): {'; '.join(of_kinds)}. The printed mean is {mean:.2f}."
    )


def _excludes_zero(difference: Comparison) -> bool:
    ends = difference.ours.interval()
    return ends.low > 0 or ends.high < 0


def taus_by_kind_in_words(kinds: Kinds, printed: Mapping[str, float]) -> str:
    """Kendall's tau by kind, in a sentence."""
    taus = []
    for kind, tau in taus_by_kind(kinds, printed).items():
        taus.append(f"{kind} {spoken(tau, '.2f')} (n = {tau.n} in the smallest set)")
    return f"Kendall's tau with the printed order: {'; '.join(taus)}."


def beside_printed(kinds: Kinds, printed: Mapping[str, float]) -> pd.DataFrame:
    """SaCo of each method and of random scores as printed and on each kind, and the difference where there are both."""
    rows = []
    for method in (*METHODS, CHANCE):
        row = {"method": method, "published": printed[method]}
        for kind, at in kinds.saco.items():
            row |= ends_of(at(method), *columns_of(kind)) | {f"{kind}, n": at(method).ours.n}
        if not kinds.missing:
            gap = kinds.saco[PHOTOGRAPHS](method) - kinds.saco[SMALL](method)
            row |= ends_of(gap, *columns_of("difference"))
        rows.append(row)
    return pd.DataFrame(rows)


# ------------------------------------------------------------------------------------------------------------- claims
def correlations_by_kind(kinds: Kinds, every: Scores) -> dict[str, wu.Correlated]:
    """By kind the rank correlations of the metrics over images (`every` metric turned)."""
    return {kind: every.each(wu.agreement(*METHODS, datasets=datasets)) for kind, datasets in kinds.datasets.items()}


def claims_by_kind(
    kinds: Kinds, every: Scores, ahead: Scores, pairs: Mapping[str, wu.Correlated]
) -> dict[str, dict[tuple[str, ...], wu.Claim]]:
    """The parts of every claim, by id and kind: `every` metric turned, `ahead` how often random scores do better,
    `pairs` the metrics' rank correlations (`correlations_by_kind`)."""
    by_id: dict[str, dict[tuple[str, ...], wu.Claim]] = {}
    for kind, datasets in kinds.datasets.items():
        parts = wu.claims_by_id(
            kinds.saco[kind],
            mean=every.quantity("metric", "method", dataset=datasets),
            ahead=ahead.quantity("metric", "method", ties="half", dataset=datasets),
            pairs=pairs[kind],
        )
        for name, claim in parts.items():
            by_id.setdefault(name, {})[(kind,)] = claim
    return dict(sorted(by_id.items()))


def variants_of_claims(curves: Mapping[str, Curve], worded: Callable[[str], str]) -> pd.DataFrame:
    """All analysis variants of some curves, with the claims that they are of; `worded`: how the page shows a
    decision."""
    claim_of = published.column("claim")
    frames = [curve.frame.assign(claim=claim_of[name]) for name, curve in curves.items()]
    found = pd.concat(frames, ignore_index=True).rename(columns={"word": "decision", "part": "the part that decides"})
    return found.assign(decision=[worded(word) for word in found["decision"]])


def differing(judged: pd.DataFrame) -> tuple[int, list[str]]:
    """Of how many claims there is a decision (`variants_of_claims`), and those whose decision differs between kinds."""
    decisions = judged.pivot_table(index="claim", columns="images", values="decision", aggfunc="first")
    return len(decisions), list(decisions[decisions.nunique(axis=1) > 1].index)


def differing_in_words(judged: pd.DataFrame) -> str:
    """`differing` in a sentence."""
    number, names = differing(judged)
    return (
        f"The decision is the same on both kinds for {number - len(names)} of {number} claims. They differ in: "
        f"{'; '.join(names) or 'none'}."
    )


# ------------------------------------------------------------------------------------------------- a network, Figure 2
def of_network(value: Callable[[str, str], Comparison], methods: Sequence[str]) -> pd.DataFrame:
    """Every metric of every explanation that needs no transformer, and of random scores (`value` of metrics turned,
    by metric and method)."""
    shown = [name for name in (*wu.OF_ANY_NETWORK, CHANCE) if name in methods]
    cells = {(metric, name): wu.SIGN[metric] * value(metric, name) for metric in wu.SIGN for name in shown}
    return listed(cells, ["metric", "method"])


def bars_by_kind(pairs: Mapping[str, wu.Correlated]) -> pd.DataFrame:
    """Figure 2 on each kind (`correlations_by_kind`)."""
    tables = [wu.bar_table(of_kind).assign(images=kind) for kind, of_kind in pairs.items()]
    bars = pd.concat(tables, ignore_index=True)
    return bars[["bar", "images", "published", "estimate", "low", "high", "Kendall's tau", "n"]]


# ------------------------------------------------------------------------------------------------- what could be behind
of_changed_settings = wu.saco_in_settings(CHANGED)


def changes_by_family(kinds: Kinds, tried: Scores) -> pd.DataFrame:
    """By kind, setting (`CHANGED`) and family of methods what the setting changes of SaCo, on the data sets that went
    through it (`tried`: prepared by `of_changed_settings`)."""
    saco = tried.quantity("setting", "method")
    rows = []
    for kind, datasets in kinds.datasets.items():
        frame = tried.frame[tried.frame["dataset"].isin(datasets)]
        measured = list(frame["dataset"].unique())
        saco_of_kind = partial(saco, dataset=measured)
        settings = [setting for setting in CHANGED if setting in set(frame["setting"])]
        for setting, (family, methods) in product(settings, FAMILIES.items()):
            # The same images under both settings, so that the difference is of the setting alone.
            changes = [saco_of_kind(setting, method) - saco_of_kind("main", method) for method in methods]
            change = comparison.mean(changes).ours
            row = {"images": kind, "data sets": ", ".join(map(label, measured)), "change": CHANGED[setting]}
            rows.append(row | {"family": f"{family}-based", "n": change.n, **ends_of(change)})
    return pd.DataFrame(rows)


def clear_changes(changes: pd.DataFrame) -> str:
    """What `changes_by_family` shows, in sentences: by kind of images the changes with which SaCo of a family clearly
    differs (a 95 % interval without zero), in how many families, and by how much."""
    sentences = []
    for kind, of_kind in changes.groupby("images", sort=False):
        with_effect = []
        for change, families in of_kind.groupby("change", sort=False):
            clear = families[(families["low"] > 0) | (families["high"] < 0)]
            if len(clear):
                sizes = ", ".join(written(value, "+.2f") for value in clear["estimate"])
                with_effect.append(f"*{change}* ({len(clear)} of {len(families)} families, by {sizes})")
        if with_effect:
            sentences.append(f"On {kind} mean SaCo of a family changes clearly with {' and with '.join(with_effect)}.")
        else:
            sentences.append(f"On {kind} no change moves mean SaCo of any family clearly.")
    return f"*Clearly* means: the 95 % interval does not include zero. {' '.join(sentences)}"


def saco_by_model(kinds: Kinds) -> pd.DataFrame:
    """SaCo of each method by kind and model, mean over the model's data sets."""
    everything = kinds.measured.frame
    rows = []
    for kind, datasets in kinds.datasets.items():
        of_kind = everything[everything["dataset"].isin(datasets)]
        for model in dict.fromkeys(of_kind["model"]):
            its_datasets = sorted(set(of_kind[of_kind["model"] == model]["dataset"]))
            estimates = {}
            for method in METHODS:
                estimates[short(method)] = kinds.saco[kind](method, dataset=its_datasets, model=model).ours
            fewest = min(estimate.n for estimate in estimates.values())
            points = {name: estimate.point for name, estimate in estimates.items()}
            rows.append({"images": kind, "model": model, "n": fewest, **points})
    return pd.DataFrame(rows)
