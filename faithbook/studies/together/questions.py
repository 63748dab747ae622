"""All metrics of all attributions side by side: values of single inputs as the last chapter's questions ask them.

Each function takes values of single inputs in the units' columns (dataset, id, cluster, method, metric, value, keys)
and gives a frame to be averaged (`Scores.read(prepare=...)`): one `value` an input, labels in the other columns, so
that what a claim contrasts has common draws. In all of them higher is better: metrics for which lower is are turned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import average, fcluster, leaves_list
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from faithbook.judge import published
from faithbook.judge.scores import REFERENCE, Scores
from faithbook.show.labels import label
from faithbook.sources import cifar
from faithbook.stats.chance import against_random
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Estimate
from faithbook.stats.inference import TESTS
from faithbook.stats.needed import how_many
from faithbook.stats.verdict import Verdict, direction
from faithlib.catalogue import FAITHFULNESS, FAMILIES, METRICS, Direction

FAMILY_OF: Mapping[str, str] = {name: family for family, facts in FAMILIES.items() for name in facts.directions}
SOFT = tuple(FAMILIES["soft"].directions)
YES, NO = "yes", "no"
TEXT, VISION, PHOTOGRAPHS = "text", "vision", "photographs"
KINDS = {TEXT: "texts", VISION: "small images"}
"""Inputs whose truth was planted, as sentences and tables call them."""
MODALITIES = {**KINDS, PHOTOGRAPHS: "photographs"}
"""Kinds of inputs as sentences call them."""


@dataclass(frozen=True)
class Known:
    """The metrics that stand side by side: which way each is better, its family, those that are asked whether they are
    faithful, and those that use how high scores are and were asked about controls of it."""

    directions: Mapping[str, Direction]
    family_of: Mapping[str, str]
    asking: tuple[str, ...]
    amounts: tuple[str, ...]


BOOK = Known(METRICS, FAMILY_OF, FAITHFULNESS, SOFT)
"""The metrics of the catalogue."""

SHUFFLED, OPPOSITE = "100% shuffled", "opposite"
RUNGS = ("25% shuffled", "50% shuffled", SHUFFLED, OPPOSITE, "random")
"""Explanations made from the truth, and random scores: what a metric should like less than the truth."""
TRIFLE = 0.01
"""By less, the truth and a method are a tie: scores of 1 and 0 leave the rest in no order, and who orders it well gains
a trifle."""
LITTLE = 0.1
"""A rank correlation that a metric may lose where erasure misleads, and still count as not worse."""

TOP_FIRST = ("nc", "comprehensiveness_eraser", "aopc_morf", "naopc_morf", "auc", "log_odds", "n_auc", "autpc")
BOTTOM_FIRST = ("ns", "sufficiency_eraser", "aopc_lerf", "naopc_lerf")
INSIDE, ALIKE, REST = "within families minus between", "same direction minus the other", "all others"

_INPUT = ["modality", "dataset", "id", "cluster"]


# ----------------------------------------------------------------------------------------------------------- any page
def turned(units: pd.DataFrame, known: Known = BOOK) -> pd.DataFrame:
    """Values for which higher is better (plausibility and simplicity too), with their modality; photographs, which a
    larger model sees, stand apart from small images.

    A modality that the values do not name is that of their methods: Grad-CAM is about images.
    """
    lower = units.metric.map(known.directions) == "lower"
    frame = units.assign(value=units.value.where(~lower, -units.value))
    if "modality" in frame.columns:
        return frame.assign(dataset=frame.modality)
    pictures = set(frame.dataset[frame.method == "grad_cam"])
    kinds = [frame.dataset.isin(cifar.PHOTOGRAPHS), frame.dataset.isin(pictures)]
    return frame.assign(modality=np.select(kinds, [PHOTOGRAPHS, VISION], TEXT))


def by_cell(measured: Scores, columns: Sequence[str], **fixed: object) -> dict[tuple[str, ...], Comparison]:
    """The mean of every combination of labels in `columns` that has a defined value, in the order in which they come
    first; `fixed`: labels that all have."""
    frame = measured.frame.dropna(subset=["value"])
    for name, wanted in fixed.items():
        frame = frame[frame[name].isin([wanted] if isinstance(wanted, str) else list(wanted))]  # type: ignore[call-overload]
    keys = frame[list(columns)].drop_duplicates().itertuples(index=False, name=None)
    return {key: measured.mean(**{**fixed, **dict(zip(columns, key, strict=True))}) for key in keys}


def better_or_worse(lead: Estimate, better: str) -> str:
    """Whether a method is clearly better or clearly worse than another one by a metric of which "higher" or "lower" is
    `better`, else "open": on which side of zero the 95 % interval of its `lead`, method minus other, lies."""
    interval = (-lead if better == "lower" else lead).interval()
    if interval.low > 0:
        return "better"
    return "worse" if interval.high < 0 else "open"


def with_arrow(metric: str) -> str:
    """The name of a metric, and an arrow that says which way it is better."""
    arrow = "↓" if METRICS[metric] == "lower" else "↑"
    return f"{label(metric)} {arrow}"


def answer(quantity: Estimate, threshold: float = 0.0, *, test: str = "t") -> str:
    """Whether it is above the threshold, for an adviser: yes, no, or unsure (too few inputs, too).

    `test`: of `inference.TESTS`; a share is asked with its own ("score"), which knows how much a share near 1 spreads.
    """
    if not quantity.n:
        return "unsure"
    verdict = direction(TESTS[test]([quantity]), 1, threshold).verdict
    return {Verdict.YES: YES, Verdict.NO: NO}.get(verdict, "unsure")


def not_worse_misled(lost: Estimate) -> str:
    """Whether a rank correlation is not worse on a model that erasure misleads, by what is lost: no where that is
    clearly above zero, however little, yes where it is clearly below `LITTLE`. It says nothing about the level."""
    if answer(lost) == YES:
        return NO
    return YES if answer(-lost, -LITTLE) == YES else "unsure"


def prices_of(measured: Scores, run: pd.DataFrame) -> pd.Series:
    """Rows of the model for one attribution of one input, by modality and family, of the run whose answers these are.

    `run`: the table `together_costs` of the present run. Of the full run, whose values are committed without such
    tables, `data/prices.csv` has them.
    """
    if measured.source == REFERENCE:
        prices = published.our_table("prices").astype({"rows": float})
        return prices.set_index(["modality", "family"])["rows"]
    alone = run[run["what"].isin(FAMILIES)]
    return (alone["rows_run"] / alone["inputs"]).groupby([alone["modality"], alone["what"]]).mean()


def inputs_to_separate(quantity: Estimate, threshold: float) -> float:
    """Inputs that separate it from the threshold four times in five; NaN where the ones at hand do not tell it to be
    above: an effect that may be zero needs any number."""
    if answer(quantity, threshold) != YES:
        return float("nan")
    return how_many(quantity, threshold)


# ---------------------------------------------------------------------------------------------------------- agreement
def agreements(units: pd.DataFrame, known: Known = BOOK) -> pd.DataFrame:
    """Spearman's rank correlation of two metrics over methods (without the random one) on each input: columns `first`,
    `second`. Besides, per input: of each metric of faithfulness the mean with all others (`second`: `REST`), and two
    contrasts of means over pairs (`first`: `INSIDE`, `ALIKE`)."""
    values = turned(units, known)
    frames = []
    key: Any
    for key, part in values[values.method != "random"].groupby(_INPUT, sort=False):
        wide = part.pivot_table(index="method", columns="metric", values="value")
        rho = wide.reindex(columns=[name for name in known.family_of if name in wide.columns]).corr(method="spearman")
        frames.append(_of_input(rho, known).assign(**dict(zip(_INPUT, key, strict=True))))
    return pd.concat(frames, ignore_index=True).dropna(subset=["value"])


def correlations(agreed: pd.DataFrame) -> pd.DataFrame:
    """The `agreements` of pairs and of each metric with the rest, in [-1, 1]."""
    return agreed[~agreed["first"].isin([INSIDE, ALIKE])]


def pair_contrasts(agreed: pd.DataFrame) -> pd.DataFrame:
    """The two contrasts among `agreements`, in [-2, 2]."""
    return agreed[agreed["first"].isin([INSIDE, ALIKE])]


@dataclass(frozen=True)
class Clusters:
    """Metrics in a tree by mean agreement: average linkage of 1 - rho, where an undefined rho counts as 0."""

    names: list[str]
    tree: np.ndarray

    @classmethod
    def of(cls, agreement: pd.DataFrame) -> Self:
        """The tree of a square frame of mean correlations; its diagonal is not read."""
        names = [str(name) for name in agreement.index]
        distance = 1 - agreement.reindex(columns=names).fillna(0).to_numpy(copy=True)
        np.fill_diagonal(distance, 0)  # a metric without a defined rho, with itself too, is no distance from itself
        return cls(names, average(squareform((distance + distance.T) / 2, checks=False)))

    @property
    def order(self) -> list[str]:
        """The metrics, those that agree beside one another."""
        return [self.names[i] for i in leaves_list(self.tree)]

    def above(self, correlation: float) -> list[list[str]]:
        """Metrics in clusters with at least this mean correlation, in the order of the tree."""
        cluster_of = dict(zip(self.names, fcluster(self.tree, 1 - correlation, criterion="distance"), strict=True))
        clusters: dict[int, list[str]] = {}
        for name in self.order:
            clusters.setdefault(cluster_of[name], []).append(name)
        return list(clusters.values())


def _of_input(rho: pd.DataFrame, known: Known) -> pd.DataFrame:
    """The pairs and the summaries of one input's correlations [metrics, metrics]."""
    names = list(rho.columns)
    r = rho.to_numpy(copy=True)
    np.fill_diagonal(r, np.nan)
    asking, family_of = [i for i, name in enumerate(names) if name in known.asking], known.family_of
    rows = [(a, b, r[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i != j]
    rows += [(names[i], REST, _mean(r[i, asking])) for i in asking]
    pairs = [(names[i], names[j], r[i, j]) for i in asking for j in asking if i < j]
    rows.append((INSIDE, REST, _contrast((family_of[a] == family_of[b], value) for a, b, value in pairs)))
    sides = {name: side for side, group in enumerate((TOP_FIRST, BOTTOM_FIRST)) for name in group}
    directed = [(a, b, v) for a, b, v in pairs if family_of[a] != family_of[b] and a in sides and b in sides]
    rows.append((ALIKE, REST, _contrast((sides[a] == sides[b], value) for a, b, value in directed)))
    return pd.DataFrame(rows, columns=["first", "second", "value"])


def _contrast(pairs: Iterable[tuple[bool, float]]) -> float:
    """The mean value of pairs of one kind minus that of the others."""
    known = list(pairs)
    return _mean([value for same, value in known if same]) - _mean([value for same, value in known if not same])


def _mean(values: Sequence[float] | np.ndarray) -> float:
    """The mean of what is defined, NaN where nothing is."""
    defined = np.asarray(values, dtype=float)
    defined = defined[~np.isnan(defined)]
    return float(defined.mean()) if len(defined) else float("nan")


# -------------------------------------------------------------------------------------------------------- diagnosticity
CHANCE, ITSELF, RANKS, TIES = (
    "random scores",
    "itself shuffled",
    "random scores, both as ranks",
    "tied with random scores",
)


def preferred_to_chance(units: pd.DataFrame, known: Known = BOOK) -> pd.DataFrame:
    """How often an attribution's value is better than another's on the same input (1, 0, a tie: one half): `against`
    random scores, and of metrics with controls (the soft ones) against the same scores shuffled and of both as ranks,
    whose amounts are alike.

    `units`: the values and, in the column `control` (else empty), those of the controls. `TIES` has the share of ties.
    """
    values = turned(units, known)
    control = values["control"] if "control" in values.columns else pd.Series(np.nan, index=values.index)
    plain, on = values[control.isna()], ["modality", "dataset", "id", "metric"]
    frames = {CHANCE: against_random(plain, on=on)}
    if control.notna().any():
        shuffled = values[(control == "shuffled") & (values.method != "random")]
        real = plain[plain.metric.isin(known.amounts) & (plain.method != "random")].assign(of=lambda rows: rows.method)
        both = pd.concat([real, shuffled.assign(of=shuffled.method, method="random")])
        frames[ITSELF] = against_random(both, on=[*on, "of"])
        frames[RANKS] = against_random(values[control == "ranks"], on=on)
    wins = [frame.assign(against=name, value=frame.win + frame.tie / 2) for name, frame in frames.items()]
    tied = frames[CHANCE].assign(against=TIES, value=frames[CHANCE].tie)
    columns = [*_INPUT, "method", "metric", "against", "value"]
    return pd.concat([*wins, tied], ignore_index=True)[columns].dropna(subset=["value"])


# ------------------------------------------------------------------------------------------------------------ the truth
FOLLOWS, TRUE = "follows the truth", "how true"


def preferred_truth(units: pd.DataFrame, known: Known = BOOK) -> pd.DataFrame:
    """Whether a metric gives the truth a better value than a degraded version or a method (`against`) on the same
    input: 1, 0, a tie one half; against methods differences below `TRIFLE` are ties."""
    asking = turned(units, known)
    asking = asking[asking.metric.isin(known.asking)]
    keys = [*_INPUT, "model", "erase", "metric"]
    truth = asking.loc[asking.method == "truth", [*keys, "value"]].rename(columns={"value": "truth"})
    others = asking[asking.method != "truth"].merge(truth, on=keys, validate="many_to_one")
    lead = (others.truth - others.value).where(others.truth.notna() & others.value.notna())
    trifle = np.where(others.method.isin(RUNGS), 0.0, TRIFLE)
    prefers = ((lead > trifle) + 1.0 - (lead < -trifle)).where(lead.notna()) / 2
    preferred = others.assign(against=others.method, value=prefers)
    return preferred[[*keys, "against", "value"]].dropna(subset=["value"])


def followed_truth(units: pd.DataFrame, known: Known = BOOK) -> pd.DataFrame:
    """How metrics and methods stand to the truth, per input, in the column `asked`:

    - `FOLLOWS`: Spearman's rank correlation over explanations of a metric with AUPRC, which is how true they are;
    - `TRUE`: AUPRC of each method (`against`).
    """
    values = turned(units, known)
    true = values[values.metric == "auprc"]
    frames = [_follows(values, known), true.assign(asked=TRUE, against=true.method)]
    columns = ["asked", *_INPUT, "model", "erase", "metric", "against", "value"]
    return pd.concat([frame[columns] for frame in frames], ignore_index=True).dropna(subset=["value"])


def srg_of(units: pd.DataFrame) -> pd.DataFrame:
    """SRG of each input and explanation from its two AOPC (most relevant first minus least), with the other metrics'
    values that are compared with it (AUPRC): no row of the model beyond these two."""
    keys = [name for name in units.columns if name not in ("metric", "value")]
    both = [units.loc[units.metric == f"aopc_{end}", [*keys, "value"]] for end in ("morf", "lerf")]
    paired = both[0].merge(both[1], on=keys, suffixes=("", "_lerf"), validate="one_to_one")
    srg = paired.assign(metric="srg", value=paired.value - paired.value_lerf).drop(columns="value_lerf")
    return pd.concat([srg, units[units.metric == "auprc"]], ignore_index=True)


def srg_followed_truth(units: pd.DataFrame) -> pd.DataFrame:
    """`followed_truth` of SRG."""
    directions = {**BOOK.directions, "srg": "higher"}
    return followed_truth(srg_of(units), replace(BOOK, directions=directions, asking=("srg",)))


WITH_SRG = replace(
    BOOK,
    directions={**BOOK.directions, "srg": "higher"},
    family_of={**BOOK.family_of, "srg": "srg"},
    asking=(*BOOK.asking, "srg"),
)
"""The metrics of the catalogue and SRG."""


def srg_agreements(units: pd.DataFrame) -> pd.DataFrame:
    """`agreements` of SRG alone: with every other metric, and with all others of faithfulness (`second`: `REST`)."""
    derived = srg_of(units)
    agreed = agreements(pd.concat([units, derived[derived.metric == "srg"]], ignore_index=True), WITH_SRG)
    return agreed[agreed["first"] == "srg"]


def srg_preferred_to_chance(units: pd.DataFrame) -> pd.DataFrame:
    """`preferred_to_chance` of SRG."""
    derived = srg_of(units)
    return preferred_to_chance(derived[derived.metric == "srg"], WITH_SRG)


def _follows(values: pd.DataFrame, known: Known) -> pd.DataFrame:
    of_one = [*_INPUT, "model", "erase"]
    numbered = values.assign(number=values.groupby(of_one, sort=False).ngroup())
    wide = numbered.pivot_table(index=["number", *of_one, "metric"], columns="method", values="value")
    metric = wide.index.get_level_values("metric")
    asking, true = wide[metric.isin(known.asking)], wide[metric == "auprc"].droplevel("metric")
    true_rows = true.reindex(asking.reset_index("metric").index)
    rho = spearman(asking.to_numpy(), true_rows.to_numpy())
    followed = asking.index.to_frame(index=False).assign(value=rho, asked=FOLLOWS, against="all")
    return followed.iloc[np.lexsort((followed.metric.map(known.asking.index), followed.number))]


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's rank correlation of every row of x with that of y over the places that both have, [N]; NaN where one
    of them is constant there."""
    both_defined = ~(np.isnan(x) | np.isnan(y))
    ranks = (rankdata(np.where(both_defined, side, np.nan), axis=1, nan_policy="omit") for side in (x, y))
    centre = (both_defined.sum(axis=1, keepdims=True) + 1) / 2
    a, b = (np.where(both_defined, side - centre, 0.0) for side in ranks)
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1)))
