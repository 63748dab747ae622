"""Published against reproduced: the papers' numbers, intervals for ours, tests, and verdicts that come from code.

Uncertainty is over inputs. `resample_means` draws inputs with replacement, the same draw for every method, metric and
model seed that scored them, so that contrasts between cells keep their pairing. Model seeds are never resampled: three
are too few to estimate a spread from, so reports show them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from faithbook.engine.study import Run, has_reference, load, root
from faithlib.errors import DataError, InputError, unknown

PAPERS = ("zhao_aletras_2023", "wu_2024", "zaman_belinkov_2022", "edin_2025")
OUR_OWN = "this_book"
KINDS = ("tables", "figures", "claims", "questions")
# Our data sets that stand in for a paper's. A stand-in is another data set of the same kind of task, not a sample of
# it.
STAND_INS = {"movie": "sst", "bbc": "ag", "section": "evinf", "pair": "multirc"}
# Zaman & Belinkov (2022): the rows (method, aggregation) of their tables in order, their two outputs, and the languages
# beside English that they average over.
AGGREGATED = ("input_x_gradient", "saliency", "guided_backprop", "integrated_gradients", "activation")
ERASING = ("lime", "occlusion", "shapley_sampling")
THIRTEEN = (*product(AGGREGATED, ("mean", "l2")), *product(ERASING, ("none",)))
OUTPUT_NAMES = {"top_prediction": "TP", "loss": "loss"}
PAPER_LANGUAGES = ("bg", "de", "es", "fr")

MATCH, HOLDS, FAILS, INCONCLUSIVE = "match", "holds", "fails", "inconclusive"
NOT_RUN, NOT_RECOMPUTABLE = "not run", "not recomputable"
FEWEST_UNITS = 10
VERDICTS = (MATCH, HOLDS, FAILS, INCONCLUSIVE, NOT_RUN, NOT_RECOMPUTABLE)


# ------------------------------------------------------------------------------------------------ the papers' numbers
def published(name: str) -> pd.DataFrame:
    """A table of `data/published`, values and spreads as numbers, everything else as printed."""
    folder = root() / "data" / "published"
    path = folder / f"{name}.csv"
    if not path.is_file():
        raise unknown("published table", name, [p.stem for p in folder.glob("*.csv")])
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    for column in {"value", "spread"} & set(frame.columns):
        frame[column] = pd.to_numeric(frame[column], errors="coerce")
    return frame


def index(kind: str, paper: str | None = None) -> pd.DataFrame:
    """The papers' "tables", "figures" or "claims", of one paper or all; or the "questions" of our own."""
    if kind not in KINDS:
        raise unknown("index", kind, KINDS)
    frame = pd.read_csv(root() / "data" / "questions.csv") if kind == "questions" else published(kind)
    return frame if paper is None else frame[frame.paper == paper].reset_index(drop=True)


# ---------------------------------------------------------------------------------------------------------- intervals
@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval and the number of values under it.

    `units`: inputs in the smallest cell that the estimate rests on, where that is known.
    """

    estimate: float
    low: float
    high: float
    n: int
    units: int | None = None

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def ends(self) -> dict[str, float]:
        """Estimate, low and high by these names, as the columns of a table."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}

    def contains(self, value: float) -> bool:
        """Whether `value` lies within the interval."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Resampled:
    """Cell means and what they become when inputs are drawn again.

    `estimate`: one mean a cell (Series, indexed by the cell's labels); `draws`: one row a resample, one column a cell;
    `n`: inputs in each cell; `dropped`: undefined values in each cell.
    """

    estimate: pd.Series
    draws: pd.DataFrame
    n: pd.Series
    dropped: pd.Series

    def interval(self, function: Callable[[pd.DataFrame], pd.Series] | None = None, **cells: object) -> Interval:
        """The 95 % percentile interval of a function of the cell means, or of the mean over the chosen `cells`.

        `function` maps a frame with one row a resample and one column a cell to one number a row.

        >>> frame = pd.DataFrame({"m": ["a"] * 4, "i": list("wxyz"), "v": [0.0, 0.0, 1.0, 1.0]})
        >>> resample_means(frame, value="v", unit="i", cells=["m"]).interval(m="a").estimate
        0.5
        """
        chosen = self._columns(cells)
        apply = function or (lambda frame: frame.mean(axis=1))
        estimate = apply(self.estimate[chosen].to_frame().T)
        draws = apply(self.draws.loc[:, chosen])
        low, high = np.nanquantile(draws, [0.025, 0.975])
        n = self.n[chosen]
        return Interval(float(estimate.iloc[0]), float(low), float(high), int(n.sum()), int(n.min()))

    def difference(self, plus: dict[str, object], minus: dict[str, object]) -> Interval:
        """The interval of the mean over the cells `plus` less the mean over the cells `minus`, drawn together.

        `n` is the smaller number of values on either side.

        >>> frame = pd.DataFrame({"m": list("aabb"), "i": list("xyxy"), "v": [1.0, 3.0, 0.0, 2.0]})
        >>> str(resample_means(frame, value="v", unit="i", cells=["m"]).difference({"m": "a"}, {"m": "b"}))
        '1.000 [1.000, 1.000]'
        """
        a, b = self._columns(plus), self._columns(minus)
        draws = self.draws.loc[:, a].mean(axis=1) - self.draws.loc[:, b].mean(axis=1)
        low, high = np.nanquantile(draws, [0.025, 0.975])
        estimate = self.estimate[a].mean() - self.estimate[b].mean()
        n = min(self.n[a].sum(), self.n[b].sum())
        return Interval(float(estimate), float(low), float(high), int(n), int(self.n[a | b].min()))

    def table(self) -> pd.DataFrame:
        """Every cell with estimate, low, high, n and dropped."""
        low, high = self.draws.quantile(0.025), self.draws.quantile(0.975)
        parts = {"estimate": self.estimate, "low": low, "high": high, "n": self.n, "dropped": self.dropped}
        return pd.DataFrame(parts).reset_index()

    def _columns(self, cells: dict[str, object]) -> NDArray[np.bool_]:
        chosen = np.ones(len(self.estimate), dtype=bool)
        for level, wanted in cells.items():
            if level not in self.estimate.index.names:
                raise unknown("cell label", level, [str(name) for name in self.estimate.index.names])
            values = [wanted] if isinstance(wanted, str | int | float) else list(wanted)  # type: ignore[call-overload]
            chosen &= self.estimate.index.get_level_values(level).isin(values)
        if not chosen.any():
            raise InputError(f"no cell has {cells}: there are {self.estimate.index.to_list()[:5]} …")
        return chosen


Cells = Callable[[pd.DataFrame], pd.Series]
"""A function of cell means, as `Resampled.interval` takes it: one row a resample, one column a cell -> one number."""


def less(first: Cells, second: Cells) -> Cells:
    """The difference of two functions of the cells.

    >>> frame = pd.DataFrame({"a": [3.0], "b": [1.0]})
    >>> less(lambda cells: cells["a"], lambda cells: cells["b"])(frame).tolist()
    [2.0]
    """
    return lambda frame: first(frame) - second(frame)


def lowest(functions: Sequence[Cells]) -> Cells:
    """The smallest of several functions of the cells, in each resample anew."""
    return lambda frame: pd.concat([function(frame) for function in functions], axis=1).min(axis=1)


def highest(functions: Sequence[Cells]) -> Cells:
    """The largest of several functions of the cells, in each resample anew."""
    return lambda frame: pd.concat([function(frame) for function in functions], axis=1).max(axis=1)


def row_means(rows: Iterable[tuple[str, str]], **labels: object) -> Cells:
    """The mean over the cells of rows (method, aggregation) that have the given `labels`, each one or several.

    What ignores the prediction has one value for all outputs: its cells have the output "none", and belong to each.

    >>> cells = pd.MultiIndex.from_tuples(
    ...     [("lime", "none", "loss"), ("lime", "none", "top_prediction"), ("uniform", "none", "none")],
    ...     names=["method", "aggregation", "output"],
    ... )
    >>> frame = pd.DataFrame([[0.5, 0.25, 0.0]], columns=cells)
    >>> float(row_means([("lime", "none"), ("uniform", "none")], output="loss")(frame)[0])
    0.25
    """
    wanted = list(rows)

    def function(frame: pd.DataFrame) -> pd.Series:
        names = frame.columns
        pairs = pd.MultiIndex.from_arrays([names.get_level_values("method"), names.get_level_values("aggregation")])
        chosen = pairs.isin(wanted)
        for level, given in labels.items():
            values = [given] if isinstance(given, str | int) else list(given)  # type: ignore[call-overload]
            chosen &= names.get_level_values(level).isin([*values, "none"] if level == "output" else values)
        if not chosen.any():
            raise InputError(f"no cell of the rows {wanted} has {labels}")
        return frame.loc[:, chosen].mean(axis=1)

    return function


def resample_means(
    frame: pd.DataFrame,
    *,
    value: str,
    unit: str | Sequence[str],
    cells: Sequence[str],
    stratum: str | None = None,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Resampled:
    """Means of `value` in every combination of the columns `cells`, and their bootstrap over units.

    A unit (one input, named by the columns `unit`) is drawn with everything that was measured on it; with `stratum`
    (say, the data set) the number of units from each stays fixed. NaN values are left out of the means and counted.
    Weights of a resample are multinomial counts, so that no resampled table is ever built.
    """
    units = [unit] if isinstance(unit, str) else list(unit)
    if missing := {value, *units, *cells} - set(frame.columns):
        raise InputError(f"the frame lacks the columns {sorted(missing)}: it has {sorted(frame.columns)}")
    if frame.empty:
        raise InputError("the frame has no rows: nothing to resample")
    # A unit's number stands for its columns, which may be cell labels as well (every cell of one data set, say).
    frame = frame.assign(_n=1, _unit=frame.groupby(units, sort=True, dropna=False).ngroup())
    wide = frame.pivot_table(
        index="_unit", columns=list(cells), values=value, aggfunc="mean", dropna=False, observed=True
    )
    asked = frame.pivot_table(index="_unit", columns=list(cells), values="_n", aggfunc="sum", observed=True)
    # Crossing the levels of several unit or cell columns made rows and columns that nobody measured.
    wide = wide.reindex(index=asked.index, columns=asked.columns)
    strata = frame.drop_duplicates("_unit").set_index("_unit")[stratum].reindex(wide.index) if stratum else None
    weights = _weights(np.zeros(len(wide)) if strata is None else strata.to_numpy(dtype=object), n_resamples, seed)
    values = wide.to_numpy(dtype=float)
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = filled.sum(0) / there.sum(0)
        draws = (weights @ filled) / (weights @ there)
    columns = wide.columns
    return Resampled(
        pd.Series(estimate, index=columns),
        pd.DataFrame(draws, columns=columns),
        pd.Series(there.sum(0), index=columns),
        pd.Series((asked.reindex(wide.index).notna().to_numpy() & ~there).sum(0), index=columns),
    )


def over_inputs(frame: pd.DataFrame, *, value: str, cells: Sequence[str]) -> Resampled:
    """`resample_means` as every report draws: inputs within their data set, and all seeds and methods of an input with
    it.

    >>> frame = pd.DataFrame({"dataset": "d", "input": [1, 2], "method": "m", "value": [0.2, 0.4]})
    >>> round(float(over_inputs(frame, value="value", cells=["method"]).estimate["m"]), 3)
    0.3
    """
    return resample_means(frame, value=value, unit=["dataset", "input"], cells=cells, stratum="dataset")


def _weights(strata: NDArray[Any], n_resamples: int, seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    weights = np.zeros((n_resamples, len(strata)))
    for stratum in pd.unique(strata):
        members = np.flatnonzero(strata == stratum)
        weights[:, members] = generator.multinomial(
            len(members), np.full(len(members), 1 / len(members)), size=n_resamples
        )
    return weights


def mean_interval(values: ArrayLike, *, n_resamples: int = 2000, seed: int = 0) -> Interval:
    """The mean of independent values with its percentile bootstrap interval; NaN are left out."""
    kept = np.asarray(values, dtype=float)
    kept = kept[~np.isnan(kept)]
    if not len(kept):
        raise InputError("all values are NaN or there are none: no mean")
    draws = _weights(np.zeros(len(kept)), n_resamples, seed) @ kept / len(kept)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(float(kept.mean()), float(low), float(high), len(kept), len(kept))


def over_lengths(scores: pd.DataFrame) -> pd.DataFrame:
    """One `value` for every data set, model seed, input, method and metric: the mean over rationale lengths.

    The hard score of an input is that mean, and is undefined where the score of one length is; a soft score has no
    length and stays what it is.

    >>> keys = {"dataset": "d", "model_seed": 0, "input": 1, "method": "m", "metric": "ns"}
    >>> over_lengths(pd.DataFrame([keys | {"value": 0.2}, keys | {"value": 0.6}])).value.tolist()
    [0.4]
    """
    keys = ["dataset", "model_seed", "input", "method", "metric"]
    return scores.groupby(keys, observed=True, sort=False).value.agg(lambda v: v.mean(skipna=False)).reset_index()


def outside_unit(values: pd.Series) -> pd.Series:
    """1 where a score lies outside [0, 1], so that limiting it to that range moves it; 0 elsewhere, NaN if undefined.

    NS and NC divide by the loss of probability on the empty text. Where that is tiny they lie far outside; a mean of
    limited scores has to say how many were moved.

    >>> outside_unit(pd.Series([-0.1, 0.0, 1.0, 7.0, None])).tolist()
    [1.0, 0.0, 0.0, 1.0, nan]
    """
    return (~values.between(0, 1)).astype(float).where(values.notna())


def kept_shares(examples: pd.DataFrame) -> Resampled:
    """How much each method's min-max scaled token scores keep: the mean importance of a text's tokens, over inputs.

    `examples` has one row a token: dataset, model_seed, input, method, score. The share is that of the embedding
    elements which Soft-NS keeps and Soft-NC removes, on average. As in `masks.normalise`, equal scores give 1/2.

    >>> row = {"dataset": "d", "model_seed": 0, "input": 1, "method": "m"}
    >>> float(kept_shares(pd.DataFrame([row | {"score": s} for s in (0.0, 0.0, 0.0, 8.0)])).estimate["m"])
    0.25
    """
    text = ["dataset", "model_seed", "input", "method"]
    scores = examples.groupby(text, sort=False).score
    low, high = scores.transform("min"), scores.transform("max")
    share = ((examples.score - low) / (high - low)).where(high > low, 0.5)
    per_text = examples.assign(share=share).groupby(text, sort=False).share.mean().reset_index()
    return over_inputs(per_text, value="share", cells=["method"])


def against_random(
    frame: pd.DataFrame,
    *,
    on: Sequence[str] = ("dataset", "model_seed", "input", "metric"),
    value: str = "value",
) -> pd.DataFrame:
    """The rows of every method but "random", each beside the random attribution's `value` that agrees in `on`.

    Adds `random` (that value), `win` (1 where the method's value is strictly higher, else 0), `tie`, and `gap` (method
    less random); all NaN where one of the two is undefined. The mean of `win` is diagnosticity (Eq. 6).

    >>> frame = pd.DataFrame({"i": [1, 1], "method": ["a", "random"], "value": [0.7, 0.5]})
    >>> against_random(frame, on=["i"])[["method", "win", "tie"]].to_dict("records")
    [{'method': 'a', 'win': 1.0, 'tie': 0.0}]
    """
    chance = frame[frame.method == "random"]
    if chance.duplicated(list(on)).any():
        raise InputError(f"the random attribution has several rows for one combination of {list(on)}: add columns")
    pairs = frame[frame.method != "random"].merge(
        chance[[*on, value]].rename(columns={value: "random"}), on=list(on), how="left", validate="many_to_one"
    )
    defined = pairs[value].notna() & pairs["random"].notna()
    return pairs.assign(
        win=(pairs[value] > pairs["random"]).astype(float).where(defined),
        tie=(pairs[value] == pairs["random"]).astype(float).where(defined),
        gap=pairs[value] - pairs["random"],
    )


def with_reference(frame: pd.DataFrame, name: str, *, on: Sequence[str]) -> pd.DataFrame:
    """The frame with a column `reference`: the estimate that the committed run of the full profile saved in the table
    `name`, NaN where it has none; the frame as it is where that run has no such table."""
    if not has_reference(name):
        return frame
    earlier = load(name, reference=True)
    if missing := {*on, "estimate"} - set(earlier.columns):
        raise DataError(f"the reference table {name} lacks the columns {sorted(missing)}: make it again, `make full`")
    return frame.merge(earlier[[*on, "estimate"]].rename(columns={"estimate": "reference"}), on=list(on), how="left")


# -------------------------------------------------------------------------------------------------------------- tests
@dataclass(frozen=True)
class RankTest:
    """A two-sided rank test with its effect size in [-1, 1]; positive: the first sample is larger."""

    p: float
    effect: float
    n: tuple[int, int]


def rank_sum(first: ArrayLike, second: ArrayLike) -> RankTest:
    """Wilcoxon's rank-sum (Mann-Whitney) test of two independent samples, effect Cliff's delta P(x > y) - P(x < y)."""
    a, b = _finite(first), _finite(second)
    result = scipy.stats.mannwhitneyu(a, b, alternative="two-sided")
    return RankTest(float(result.pvalue), float(2 * result.statistic / (len(a) * len(b)) - 1), (len(a), len(b)))


def signed_rank(first: ArrayLike, second: ArrayLike) -> RankTest:
    """Wilcoxon's signed-rank test of pairs, effect the matched rank-biserial correlation (T+ - T-) / (T+ + T-)."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    difference = difference[~np.isnan(difference)]
    moved = difference[difference != 0]
    if not len(moved):
        return RankTest(1.0, 0.0, (len(difference), len(difference)))
    ranks = scipy.stats.rankdata(np.abs(moved))
    effect = float((ranks * np.sign(moved)).sum() / ranks.sum())
    p = float(scipy.stats.wilcoxon(moved).pvalue)
    return RankTest(p, effect, (len(difference), len(difference)))


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=float)
    array = array[~np.isnan(array)]
    if not len(array):
        raise InputError("a sample without values cannot be tested")
    return array


# ----------------------------------------------------------------------------------------------------------- verdicts
def claim(interval: Interval, *, above: float = 0.0) -> str:
    """Verdict on "the quantity is larger than `above`": holds, fails or inconclusive, by which side the interval is on.

    Always inconclusive where a cell has fewer than 10 inputs: a bootstrap cannot see what it did not draw, and three
    inputs that agree give an interval of a single point. Where the number of inputs is not known, an interval without
    width is taken for such a case; where it is, it may be a rank or a count that no resample changes.

    >>> claim(Interval(0.1, 0.02, 0.2, 50)), claim(Interval(0.1, -0.02, 0.2, 50)), claim(Interval(1.0, 1.0, 1.0, 4))
    ('holds', 'inconclusive', 'inconclusive')
    """
    few = interval.low == interval.high if interval.units is None else interval.units < FEWEST_UNITS
    if few:
        return INCONCLUSIVE
    if interval.low > above:
        return HOLDS
    return FAILS if interval.high < above else INCONCLUSIVE


def every(verdicts: Iterable[str]) -> str:
    """Verdict on a claim that needs all of its parts: fails where one part fails, holds where all hold."""
    parts = list(verdicts)
    if FAILS in parts:
        return FAILS
    return HOLDS if parts and all(part in (HOLDS, MATCH) for part in parts) else INCONCLUSIVE


def part(claim_id: str, says: str, found: Interval, *, at_least: bool = False) -> dict[str, Any]:
    """A part of a claim as a row of a table: the quantity is above zero, or (`at_least`) not below it.

    >>> part("c1", "a less b", Interval(0.1, -0.02, 0.2, 50, 50), at_least=True)["verdict"]
    'holds'
    """
    verdict = claim(found)
    if at_least and verdict == INCONCLUSIVE and (found.units or 0) >= FEWEST_UNITS:
        verdict = HOLDS
    return {"claim": claim_id, "part": says, **found.ends, "verdict": verdict}


def parts_told(parts: pd.DataFrame, claim_id: str) -> str:
    """A claim's parts (rows as `part` makes them) in words: how many hold, and the lowest."""
    group = parts[parts.claim == claim_id]
    if group.empty:
        return "this profile has nothing to test it on"
    worst = group.iloc[int(group.estimate.argmin())]
    holding = int((group.verdict == HOLDS).sum())
    return (
        f"{holding} of {len(group)} parts hold; lowest: {worst.part}, "
        f"{worst.estimate:.3f} [{worst.low:.3f}, {worst.high:.3f}]"
    )


def match(ours: float, theirs: float, *, tolerance: float) -> str:
    """Verdict on the same quantity computed twice: match within `tolerance`, else fails."""
    if np.isnan(ours) or np.isnan(theirs):
        raise InputError(f"ours {ours}, theirs {theirs}: a missing number neither matches nor fails")
    return MATCH if abs(ours - theirs) <= tolerance else FAILS


# --------------------------------------------------------------------------------------------------------- scoreboard
@dataclass(frozen=True)
class Entry:
    """One line of the scoreboard: an id of the published tables, figures or claims or of our questions, and how it
    fared."""

    id: str
    verdict: str
    page: str
    n: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise unknown("verdict", self.verdict, VERDICTS)


def entries(rows: Iterable[Entry]) -> pd.DataFrame:
    """Entries as a frame, for a report to save as `verdicts`."""
    return pd.DataFrame([asdict(row) for row in rows])


def save_verdicts(run: Run, *rows: tuple[str, str, int | None, str]) -> None:
    """Save a report's verdicts, each (id, verdict, n, note), for the scoreboard; their page is the report's own."""
    page = f"executed/{run.job.notebook}"
    run.save(entries(Entry(name, verdict, page, n, note) for name, verdict, n, note in rows), "verdicts")


def to_judge() -> pd.DataFrame:
    """Everything that gets a verdict, in the order of the scoreboard: id, paper, kind."""
    return pd.concat([index(kind)[["id", "paper"]].assign(kind=kind.removesuffix("s")) for kind in KINDS])


def scoreboard(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Every table, figure and claim of the four papers and every question of our own with its verdict: id, paper, kind,
    verdict, n, page, note.

    Raises DataError where one lacks a verdict, or an id is unknown or judged twice.
    """
    known = to_judge()
    if stray := sorted(set(verdicts.id) - set(known.id)):
        raise DataError(f"verdicts on unknown ids: {', '.join(stray)}")
    if twice := sorted(verdicts.id[verdicts.id.duplicated()]):
        raise DataError(f"more than one verdict on: {', '.join(twice)}")
    if missing := sorted(set(known.id) - set(verdicts.id)):
        raise DataError(f"no verdict on: {', '.join(missing)}")
    board = known.merge(verdicts, on="id", how="left")
    board["n"] = board["n"].astype("Int64")
    board[["page", "note"]] = board[["page", "note"]].fillna("")
    return board[["id", "paper", "kind", "verdict", "n", "page", "note"]].reset_index(drop=True)
