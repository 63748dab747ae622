"""Every mean of Edin et al.'s released files, computed again, and the cause where the two differ.

The means themselves (`data/published/naopc_released_*.csv`) were worked out for this project from the released files:
the authors print none of them. *Files*: the mean of what was released, value by value. *Ours*: the library's own limits
and scores, from the released answers to every set of words. Only short texts have these answers; of long texts both
sides are means of the same released values (`own` is False). Nothing here needs torch.

Tables are tidy: the columns of the file, then `ours`, `files`, `match` (ours, to half the last digit), `cause`
("" where it matches) and `own` (whether ours rests on limits or scores of the library).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from faithbook.access import require
from faithbook.judge import published
from faithbook.judge.decide import SameNumber
from faithbook.stats.agreement import tau_b
from faithbook.studies.naopc.edin_released import PLACE, packed_folder, read_packed
from faithlib.errors import DataError

KINDS = ("comprehensiveness", "sufficiency")
CELL = ["dataset", "length", "model", "id"]
EXACT = 1e-9  # sums of float64 in another order differ by less
SINGLE = 1e-6  # values of single inputs are kept in single precision

FLOOR = "the released search for upper limits starts at 0, above what any order reaches"
NO_RANGE = "texts without a range (one word) were counted as 0, ours leaves them out"
ROUNDED = "released scores are rounded (single precision), which lifts some at a limit over it"
UNRELEASED = "some of its scores are not in the released file; with ours, which are not rounded, in their place"
SAMPLE = "which 600 inputs were taken was not recorded: ours are all with seven words or more"
NOT_ASKED = "this profile does not search at this width"
UNKNOWN = "unknown"


# ---------------------------------------------------------------------------------------------------------- published
def printed(name: str) -> pd.DataFrame:
    """A published table: `value` and `spread` as numbers, `value` as `text`, half its last digit as `tolerance`."""
    table = published.table(name, text=True)
    digits = table.text.str.partition(".")[2].str.len()
    return table.assign(n=table.n.astype(int), tolerance=0.5 * 10.0**-digits + EXACT)


def compared(table: pd.DataFrame, **computed: pd.DataFrame) -> pd.DataFrame:
    """A published table with the column `value` of other tables beside it, by all columns that they share with it.

    Raises DataError where a table has two values for one row.
    """
    for name, values in computed.items():
        keys = [column for column in values.columns if column in table.columns and column != "value"]
        if values.duplicated(keys).any():
            raise DataError(f"{name}: two values for one row of the published table, by {', '.join(keys)}")
        table = table.merge(values[[*keys, "value"]].rename(columns={"value": name}), on=keys, how="left")
    return table


def judged(table: pd.DataFrame, causes: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """`match` and `cause` of a compared table: the cause of the first column of `causes` that gives the published value
    where `ours` does not; `unknown` where none does."""

    def near(name: str) -> pd.Series:
        return (table[name] - table["value"]).abs() <= table["tolerance"]

    cause = pd.Series(UNKNOWN, index=table.index)
    # From the last to the first, so that the first that fits is what stays.
    for name in reversed(list(causes)):
        cause = cause.mask(near(name), ", and ".join(causes[name]))
    match = near("ours")
    return table.assign(match=match, cause=cause.mask(match, ""))


def numbers(table: pd.DataFrame, *names: str) -> dict[str, SameNumber]:
    """Every row of a compared table as a number worked out twice, called by these columns; the ones that cannot be are
    left out."""
    known = table[table["ours"].notna()].replace({"cause": {UNKNOWN: ""}})
    by_name = {}
    for row in known.to_dict("records"):
        words = [str(row[name]).replace("_", " ") for name in names]
        by_name[", ".join(words)] = SameNumber(row["ours"], row["text"], cause=row["cause"])
    return by_name


def differences_by_cause(table: pd.DataFrame, *, within: float | None = None) -> pd.DataFrame:
    """Of how many rows of a compared table ours is another number, and how far at most, by cause; `within`: the
    tolerance of a rule that has another than half of the last printed digit."""
    known = table[table["ours"].notna()]
    gap = (known["ours"] - known["value"]).abs()
    off = ~known["match"]
    if within is not None:
        off = gap > within * (1 + 1e-9)
    by_cause = gap[off].groupby(known["cause"][off]).agg(["size", "max"]).sort_values("size", ascending=False)
    return by_cause.set_axis(["numbers", "at most apart"], axis=1).round(4).reset_index()


# ----------------------------------------------------------------------------------------------------- released values
def released_limits() -> pd.DataFrame:
    """Every released limit that the published means are over: exact ones, and those of beam 5 without a start.

    Columns: those of CELL, search, lower, upper, seconds, words, p_full (of the whole text).
    """
    exact = read_packed("limits_exact").assign(length="short", search="exact", seconds=np.nan)
    beam = read_packed("limits_beam").query("start == 'none' and width == 5").assign(search="beam")
    full = read_packed("scores").drop_duplicates(CELL)[[*CELL, "p_full"]]
    beam = beam.merge(full, on=CELL, how="left", validate="one_to_one")
    columns = [*CELL, "search", "lower", "upper", "seconds", "words", "p_full"]
    return pd.concat([exact[columns], beam[columns]], ignore_index=True)


def released_cells() -> pd.DataFrame:
    """Every released AOPC: those of CELL, method, kind, aopc."""
    return read_packed("scores").melt([*CELL, "method"], list(KINDS), "kind", "aopc")


# -------------------------------------------------------------------------------------------------------------- bounds
def with_ours(limits: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """The limits with the library's instead of the released exact ones: `exact` has dataset, model, id, lower,
    upper."""
    ours = exact[["dataset", "model", "id", "lower", "upper"]].assign(search="exact")
    both = limits.merge(ours, on=["dataset", "model", "id", "search"], how="left", suffixes=("", "_ours"))
    for end in ("lower", "upper"):
        both[end] = both[f"{end}_ours"].fillna(both[end])
    return both[list(limits.columns)]


def too_high(limits: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """The released exact upper limits that no order reaches, by how much (`excess`), with what beam 5 found."""
    theirs = limits[limits.search == "exact"].merge(exact, on=["dataset", "model", "id"], suffixes=("", "_ours"))
    beam = limits[(limits.search == "beam") & (limits.length == "short")][[*CELL, "upper"]]
    theirs = theirs.merge(beam.rename(columns={"upper": "upper_beam"}), on=CELL)
    theirs["excess"] = theirs.upper - theirs.upper_ours
    columns = ["dataset", "model", "id", "words", "p_full", "upper_ours", "upper", "upper_beam", "excess"]
    return theirs[theirs.excess > EXACT][columns].sort_values("excess", ascending=False, ignore_index=True)


def limit_means(limits: pd.DataFrame) -> pd.DataFrame:
    """Means over the texts of a cell, in the published columns: statistic, subset, value, spread, n."""
    table = limits.assign(
        range_mean=limits.upper - limits.lower,
        features_per_input_mean=limits.words,
        seconds_per_input_mean=limits.seconds,
    ).rename(columns={"lower": "lower_bound_mean", "upper": "upper_bound_mean"})
    names = [column for column in table.columns if column.endswith("_mean")]
    called_positive = table[table["p_full"] > 0.5]
    both = pd.concat([table.assign(subset="all"), called_positive.assign(subset="probability_above_0.5")])
    keys = ["dataset", "length", "model", "search", "subset"]
    long = both.melt([*keys, "id"], names, "statistic")
    cells = long.groupby([*keys, "statistic"], observed=True)["value"]
    return cells.agg(value="mean", spread="std", n="count").reset_index()


def bounds_table(limits: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """The 156 published means of limits, words and seconds. A search from 0 lifts exact upper limits, nothing else."""
    ours = limit_means(with_ours(limits, exact)).drop(columns=["spread", "n"])
    files = limit_means(limits).drop(columns=["spread", "n"])
    table = compared(printed("naopc_released_bounds"), ours=ours, files=files)
    of_exact = table["search"] == "exact"

    high = too_high(limits, exact).groupby(["dataset", "model"]).size().rename("too_high").reset_index()
    table = table.merge(high, on=["dataset", "model"], how="left")
    table["too_high"] = table["too_high"].where(of_exact, 0).fillna(0).astype(int)

    # The search from 0 is the cause only where it lifted a limit, and lifted the mean.
    table = judged(table, {"files": [FLOOR]})
    rests_on_upper = table["statistic"].isin(["upper_bound_mean", "range_mean"])
    lifted = rests_on_upper & (table["too_high"] > 0) & (table["ours"] < table["value"])
    cause = table["cause"].mask(~table["match"] & ~lifted, UNKNOWN)

    of_limits = table["statistic"].isin(["lower_bound_mean", "upper_bound_mean", "range_mean"])
    return table.assign(cause=cause, own=of_limits & of_exact)


# -------------------------------------------------------------------------------------------------------------- scores
def cells_with_ours(released: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Every AOPC: ours of short texts, the released one of long ones, and of short ones whose words the released files
    count in two ways (ours is missing there).

    `ours` has dataset, model, id, method, kind, aopc. Column `gap`: how far the two lie apart where both are there.
    """
    keys = [*CELL, "method", "kind"]
    computed = ours.assign(length="short")[[*keys, "aopc"]]
    both = released.merge(computed, on=keys, how="outer", suffixes=("_files", ""))
    gap = (both.aopc - both.aopc_files).abs()
    return both.assign(gap=gap, computed=both.aopc.notna(), aopc=both.aopc.fillna(both.aopc_files))


def normalised(cells: pd.DataFrame, limits: pd.DataFrame, *, no_range: float = np.nan, aopc: str = "aopc") -> pd.Series:
    """NAOPC of every cell, not clipped; `no_range` where both limits are the same."""
    ends = cells[CELL].merge(limits[[*CELL, "lower", "upper"]], on=CELL, how="left", validate="many_to_one")
    lower = ends["lower"].to_numpy(dtype=float)
    span = ends["upper"].to_numpy(dtype=float) - lower
    scaled = (cells[aopc].to_numpy() - lower) / np.where(span > 0, span, np.nan)
    return pd.Series(np.where(span > 0, scaled, no_range), index=cells.index)


def beyond(naopc: pd.Series) -> pd.Series:
    """1 where a score lies outside [0, 1]."""
    return ((naopc < -1e-6) | (naopc > 1 + 1e-6)).astype(float)


def scored_by(limits: pd.DataFrame) -> pd.DataFrame:
    """The limits that the published NAOPC divides by: exact ones of short texts, those of beam 5 of long ones."""
    return limits[(limits.search == "exact") | (limits.length == "long")]


def score_means(cells: pd.DataFrame, naopc: pd.Series, aopc: str = "aopc") -> pd.DataFrame:
    """Mean AOPC and NAOPC of every data set, length, model and method, in the published columns."""
    keys = ["dataset", "length", "model", "method", "kind"]
    means = cells[keys].assign(aopc=cells[aopc], naopc=naopc).groupby(keys, observed=True).mean().reset_index()
    long = means.melt(keys, ["aopc", "naopc"], "score")
    return long.assign(metric=long.score + "_" + long.kind).drop(columns=["score", "kind"])


def outside_shares(cells: pd.DataFrame, naopc: pd.Series) -> pd.DataFrame:
    """Share of all cells of a data set and length whose NAOPC lies outside [0, 1], in the published columns; missing
    ones lie inside."""
    keys = ["dataset", "length", "kind"]
    shares = cells[keys].assign(value=beyond(naopc)).groupby(keys, observed=True).value.mean().reset_index()
    metric = "share_of_cells_outside_0_1_naopc_" + shares.kind
    return shares.assign(metric=metric, model="all", method="all").drop(columns="kind")


def scores_table(cells: pd.DataFrame, limits: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """The 1,210 published means of scores and shares of cells outside [0, 1].

    The cause of one that differs is what has to be put back to get the published one: the texts without a range, the
    limits that are too high, both, or the released scores' digits. The release lacks 53 scores of one cell, random on
    Yelp by `roberta_imdb`, over which the published means nevertheless are: there `files` has ours.
    """
    theirs = scored_by(limits)
    recomputed = scored_by(with_ours(limits, exact))
    cells = cells.assign(released=cells["aopc_files"].fillna(cells["aopc"]))
    # By name: which AOPC, divided by which limits, and what a text without a range counts as.
    variants = {
        "ours": ("aopc", recomputed, np.nan),
        "zero": ("aopc", recomputed, 0.0),
        "floor": ("aopc", theirs, np.nan),
        "both": ("aopc", theirs, 0.0),
        "rounded": ("released", recomputed, np.nan),
        "files": ("released", theirs, 0.0),
    }
    by_variant = {}
    for name, (aopc, by, no_range) in variants.items():
        naopc = normalised(cells, by, no_range=no_range, aopc=aopc)
        means = [score_means(cells, naopc, aopc), outside_shares(cells, naopc)]
        by_variant[name] = pd.concat(means, ignore_index=True)
    table = compared(printed("naopc_released_scores"), **by_variant)

    causes = {
        "zero": [NO_RANGE],
        "floor": [FLOOR],
        "both": [NO_RANGE, FLOOR],
        "rounded": [ROUNDED],
        "files": [ROUNDED, FLOOR],
    }
    table = judged(table, causes)
    # What is left over is where the release lacks scores.
    without = cells.loc[cells["aopc_files"].isna(), ["dataset", "length"]].drop_duplicates()
    lacking = pd.MultiIndex.from_frame(table[["dataset", "length"]]).isin(pd.MultiIndex.from_frame(without))
    cause = table["cause"].mask(lacking & (table["cause"] == UNKNOWN), UNRELEASED)
    return table.assign(cause=cause, own=table["length"] == "short")


# ---------------------------------------------------------------------------------------------------------------- taus
def ranking_taus(means: pd.DataFrame) -> pd.DataFrame:
    """Agreement of the rankings by mean AOPC and by mean NAOPC, in the published columns (ranking, metric, value,
    spread).

    `means` as `score_means` gives them. Kendall's tau-b of models within each method, and of methods within each model:
    mean and standard deviation over the groups; and the share of model pairs that change order.
    """
    rows = []
    wide = means.pivot(index=["dataset", "length", "metric", "method"], columns="model", values="value")
    for dataset, length in means[["dataset", "length"]].drop_duplicates().itertuples(index=False):
        for kind in KINDS:
            by_score = []  # of AOPC and of NAOPC: methods in rows, models in columns
            for score in ("aopc", "naopc"):
                cell = (dataset, length, f"{score}_{kind}")
                by_score.append(wide.xs(cell, level=["dataset", "length", "metric"]).to_numpy())
            aopc, naopc = by_score
            taus = {"models_within_method": tau_b(aopc, naopc), "methods_within_model": tau_b(aopc.T, naopc.T)}
            about = {"dataset": dataset, "length": length, "metric": kind}
            for ranking, of_groups in taus.items():
                rows.append(about | {"ranking": ranking, "value": of_groups.mean(), "spread": of_groups.std(ddof=1)})
            rows.append(about | {"ranking": "model_pairs_within_method", "value": flipped_share(aopc, naopc)})
    return pd.DataFrame(rows)


def flipped_share(first: np.ndarray, second: np.ndarray) -> float:
    """Share of pairs of columns, over all rows, whose order in `first` is another than in `second`."""
    a, b = np.triu_indices(first.shape[1], 1)
    in_first = first[:, a] - first[:, b]
    in_second = second[:, a] - second[:, b]
    return float((in_first * in_second < 0).mean())


def taus_table(cells: pd.DataFrame, limits: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """The 30 published agreements of rankings; those of beam 5 are over its limits, also for short texts."""
    exact_own = scored_by(with_ours(limits, exact))
    exact_theirs = scored_by(limits)
    beam = limits[limits["search"] == "beam"]
    # By name: the exact limits of short texts, and what a text without a range counts as.
    variants = {"ours": (exact_own, np.nan), "zero": (exact_own, 0.0), "files": (exact_theirs, 0.0)}
    by_variant = {}
    for name, (by_exact, no_range) in variants.items():
        parts = []
        for bounds, by in (("beam", beam), ("exact", by_exact[by_exact.length == "short"])):
            part = cells[cells.length.isin(by.length)].reset_index(drop=True)
            naopc = normalised(part, by, no_range=no_range)
            parts.append(ranking_taus(score_means(part, naopc)).assign(bounds=bounds))
        by_variant[name] = pd.concat(parts, ignore_index=True).drop(columns="spread")
    table = compared(printed("naopc_released_taus"), **by_variant)
    return judged(table, {"zero": [NO_RANGE], "files": [NO_RANGE, FLOOR]}).assign(own=table.length == "short")


# --------------------------------------------------------------------------------------------------------------- beams
def beam_errors(limits: pd.DataFrame) -> pd.DataFrame:
    """How far every released search of short texts without a start ended from the released exact limits: dataset,
    model, id, width, bound, exact, ended, seconds.

    Where the file has the limit itself (width 5), that is `ended`; of other widths only the distance was released.
    """
    table = read_packed("limits_beam").query("start == 'none' and length == 'short'")
    exact = limits[limits.search == "exact"][[*CELL, "lower", "upper"]]
    table = table.merge(exact, on=CELL, suffixes=("", "_exact"), validate="many_to_one")
    columns = ["dataset", "model", "id", "width", "seconds"]
    parts = []
    for bound, inward in (("upper", -1), ("lower", 1)):
        known = table[f"{bound}_exact"]
        ended = table[bound].fillna(known + inward * table[f"{bound}_delta"])
        parts.append(table[columns].assign(bound=bound, exact=known, ended=ended))
    return pd.concat(parts, ignore_index=True)


def beam_statistics(errors: pd.DataFrame) -> pd.DataFrame:
    """Of every width: Pearson's r of found and exact limits, mean and largest difference, share within .001, and mean
    seconds (the mean of the twelve means of a model and data set), in the published columns."""
    gap = (errors["ended"] - errors["exact"]).abs()
    cells = errors.assign(gap=gap, near=gap < 1e-3).groupby(["width", "bound"])
    gaps = cells["gap"].agg(absolute_difference_mean="mean", absolute_difference_max="max")
    gaps["share_within_0.001"] = cells["near"].mean()
    gaps["pearson"] = [part["ended"].corr(part["exact"]) for _, part in cells]
    # A search finds both bounds at once: its seconds are in the rows of either.
    of_upper = errors[errors["bound"] == "upper"]
    seconds = of_upper.groupby(["width", "dataset", "model"])["seconds"].mean()
    timed = seconds.groupby("width").mean().rename("value").reset_index()
    timed = timed.assign(bound="both", statistic="seconds_per_input_mean")
    both = pd.concat([gaps.reset_index().melt(["width", "bound"], var_name="statistic"), timed])
    return both.assign(beam_size=both.pop("width").astype(str), comparison="beam_vs_exact")


def growing_beams() -> pd.DataFrame:
    """Mean limits, seconds and word pieces of the first 99 long texts by width, over six models, in the columns of the
    file: what the box plots of growing beams are drawn from."""
    found = read_packed("limits_widths")
    means = found.groupby(["dataset", "width"])[["upper", "lower", "seconds", "pieces"]].mean().reset_index()
    long = means.melt(["dataset", "width"], var_name="measured")
    bounds = {"upper": "upper", "lower": "lower", "seconds": "both", "pieces": "both"}
    statistics = {
        "upper": "bound_mean",
        "lower": "bound_mean",
        "seconds": "seconds_per_input_mean",
        "pieces": "length_mean",
    }
    named = long.assign(
        bound=long["measured"].map(bounds),
        statistic=long["measured"].map(statistics),
        beam_size=long["width"].astype(str),
        comparison="increasing_beams",
    )
    return named[["comparison", "dataset", "beam_size", "bound", "statistic", "value"]]


VARIANTS = {
    "authors": "released",
    "set_deduplicated": "deduplicated",
    "set_deduplicated_plus_dynamic_programming": "merged",
}


def searched_errors(beams: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """Errors of our own searches against our exact limits: `beams` has dataset, model, id, search, width, lower, upper,
    rows; added are upper_error, lower_error and words."""
    by = ["dataset", "model", "id"]
    both = beams.merge(exact[[*by, "lower", "upper", "words"]], on=by, suffixes=("", "_exact"), validate="many_to_one")
    return both.assign(upper_error=both.upper_exact - both.upper, lower_error=both.lower - both.lower_exact)


def variant_means(errors: pd.DataFrame, *, fewest: int = 7) -> pd.DataFrame:
    """Mean errors, shares found exactly and rows of our searches, over texts of `fewest` words or more, in the
    published columns; `spread` is the standard error of a mean over 600 of them."""
    long = errors[errors["words"] >= fewest]
    # A mean over 600 of n inputs without replacement: the finite population correction.
    n = len(long.drop_duplicates(["dataset", "model", "id"]))
    shrink = np.sqrt(max(0.0, 1 - 600 / max(n, 1)) / 600)
    columns = {("both", "model_rows_per_input_mean"): long["rows"].astype(float)}
    for bound in ("upper", "lower"):
        error = long[f"{bound}_error"]
        columns[bound, "error_mean"] = error
        columns[bound, "share_exact"] = (error < SINGLE).astype(float)
    cells = pd.DataFrame(columns).groupby([long["search"], long["width"]])
    means = cells.mean().stack([0, 1], future_stack=True)
    spreads = (cells.std() * shrink).stack([0, 1], future_stack=True)
    table = pd.DataFrame({"value": means, "spread": spreads}).rename_axis(["search", "width", "bound", "statistic"])
    table = table.reset_index().merge(pd.DataFrame(VARIANTS.items(), columns=["search_variant", "search"]))
    return table.assign(beam_size=table.pop("width").astype(str), comparison="beam_variants").drop(columns="search")


def beam_table(limits: pd.DataFrame, beams: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """The 192 numbers about beams.

    Comparisons with exact limits and the growth of the limits with the width come from the released searches; the
    variants of the search from ours, of which the ones in the file are a sample: `match` says there whether the mean in
    the file lies within two standard errors.
    """
    variants = variant_means(searched_errors(beams, exact))
    recomputed = {
        "beam_vs_exact": beam_statistics(beam_errors(limits)),
        "increasing_beams": growing_beams(),
        "beam_variants": variants.drop(columns="spread"),
    }
    files = printed("naopc_released_beam")
    parts = []
    for comparison, ours in recomputed.items():
        part = compared(files[files["comparison"] == comparison], ours=ours)
        parts.append(judged(part, {}))
    table = pd.concat(parts, ignore_index=True)
    keys = ["search_variant", "beam_size", "bound", "statistic", "comparison"]
    table = table.merge(variants[[*keys, "spread"]].rename(columns={"spread": "sampling"}), on=keys, how="left")
    sampled = table.comparison == "beam_variants"
    near = (table.ours - table.value).abs() <= 2 * table.sampling + table.tolerance
    table["match"] = table.match.where(~sampled, near)
    cause = table.cause.mask(sampled, SAMPLE).mask(table.ours.isna() & sampled, NOT_ASKED)
    return table.assign(cause=cause.mask(table.match, ""), own=sampled)


# ------------------------------------------------------------------------------------------------------------ rankings
RANKED_METHODS = ("decompx", "lime", "integrated_gradients", "attention")


def ranks(cells: pd.DataFrame, kind: str, **values: pd.Series) -> pd.DataFrame:
    """Ranks of model and method pairs by the mean of each of `values`, 1 the best: index (model, method).

    As the released scripts draw them: four methods, and of each model the texts that it calls positive; `cells` has
    p_full. Comprehensiveness ranks downward, sufficiency upward.
    """
    kept = (cells.kind == kind) & cells.method.isin(RANKED_METHODS) & (cells.p_full > 0.5)
    ranked = cells[kept].copy()
    for name, value in values.items():
        ranked[name] = value[kept]
    means = ranked.groupby(["model", "method"])[list(values)].mean()
    return means.rank(ascending=kind == "sufficiency")


def explanations(cells: pd.DataFrame, limits: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The authors' table of explanations by model: mean AOPC and NAOPC of both kinds over the short texts of a data set
    that the model calls positive (p > .5); columns method, model, n and the four means.

    `cells` have p_full; their report leaves out AttInGrad, which is here.
    """
    kept = cells[(cells.dataset == dataset) & (cells.length == "short") & (cells.p_full > 0.5)].reset_index(drop=True)
    naopc = normalised(kept, limits, no_range=0.0)
    means = score_means(kept, naopc).pivot(index=["method", "model"], columns="metric", values="value")
    order = ["aopc_comprehensiveness", "naopc_comprehensiveness", "aopc_sufficiency", "naopc_sufficiency"]
    texts = kept.groupby(["method", "model"]).id.nunique().rename("n")
    return means[order].join(texts).reset_index()


def before_after() -> pd.DataFrame:
    """The 160 means that stand in the source of the authors' notebook `normalization_before_after` (model, method,
    metric, value): scores of an earlier state of their results on Yelp, before and after normalising."""
    require(PLACE)
    path = packed_folder() / "notebook_before_after.csv"
    try:
        return pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}): `git checkout` it") from error


def beside_before_after(means: pd.DataFrame) -> pd.DataFrame:
    """`before_after` with ours beside it (`ours`, `gap`), from `explanations` of Yelp."""
    names = [column for column in means.columns if "aopc" in column]
    ours = means.melt(["method", "model"], names, "metric", "ours")
    both = before_after().merge(ours, on=["method", "model", "metric"], how="left", validate="one_to_one")
    return both.assign(gap=(both["ours"] - both["value"]).abs())


def nearest_methods(means: pd.DataFrame, *, first: int = 5) -> pd.DataFrame:
    """The pairs of methods whose mean AOPC lie nearest to each other over the cells of a table of scores (data set,
    length, model, kind), by the files: one, other, mean and largest distance, cells.

    Rows that are nearly one may be one method under two names.
    """
    kept = means[means["metric"].str.startswith("aopc_") & (means["model"] != "all")]
    wide = kept.pivot_table(index=["dataset", "length", "model", "metric"], columns="method", values="value")
    rows = []
    for method, other in combinations(wide.columns, 2):
        distance = (wide[method] - wide[other]).abs().dropna()
        distances = {"mean": distance.mean(), "most": distance.max(), "cells": len(distance)}
        rows.append({"one": method, "other": other, **distances})
    return pd.DataFrame(rows).sort_values("mean", ignore_index=True).head(first)


REVIEWED = {"bert": "bert_sst2", "roberta": "roberta_sst2"}
"""Models of the review page's table of bounds: those of the released files; of its LSTM nothing was released."""


def review_bounds(limits: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """The nine bounds of the review page (model, statistic, value) with ours beside them, on the short texts of SST-2:
    NaN for the LSTM."""
    table = published.table("naopc_review").query("item == 'bounds_table'")
    means = limit_means(with_ours(limits, exact))
    means = means.query("dataset == 'sst2' and search == 'exact' and subset == 'all'")
    found = means.set_index(["model", "statistic"])
    rows = []
    for row in table.to_dict("records"):
        model, statistic = str(row["model"]), str(row["statistic"])
        entry: dict[str, object] = {"model": model, "statistic": statistic.replace("_", " "), "review": row["value"]}
        key = (REVIEWED.get(model, ""), f"{statistic}_mean")
        if key in found.index:
            entry |= {"ours": float(found["value"][key]), "n": int(found["n"][key])}
        else:
            entry |= {"ours": np.nan, "n": 0}
        rows.append(entry)
    return pd.DataFrame(rows)


def shared_out(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """By table how many of its numbers are compared and agree, and how many of them are means of released values on
    both sides, which can only confirm the sums; the last row has all."""
    rows = []
    for name, table in tables.items():
        known = table[table["ours"].notna()]
        row: dict[str, object] = {"table": name, "compared": len(known)}
        row["agree"] = int(known["match"].sum())
        row["with ours"] = int(known["own"].sum())
        row["of these agree"] = int((known["own"] & known["match"]).sum())
        row["released on both sides"] = int((~known["own"]).sum())
        rows.append(row)
    counts = pd.DataFrame(rows)
    total = counts.drop(columns="table").sum().to_dict()
    return pd.concat([counts, pd.DataFrame([{"table": "all", **total}])], ignore_index=True)


def with_p_full(cells: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    """The cells with the answer to their whole text."""
    full = limits.drop_duplicates(CELL)[[*CELL, "p_full"]]
    return cells.merge(full, on=CELL, how="left", validate="many_to_one")


def words_of_texts(length: str = "long") -> pd.DataFrame:
    """Words of each released text, as blanks separate them: dataset, id, words."""
    return read_packed("texts").query("length == @length")[["dataset", "id", "words"]].reset_index(drop=True)
