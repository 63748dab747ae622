"""What study 4 measures of models and searches of ours, as one value per text: what `Page.measure` averages.

From the values of `naopc_models` (its parts "" and "bounds") `of_models` makes this table. A `search` is named with its
width, and "" where there is none:

| metric | value |
| --- | --- |
| aopc_*, naopc_*, sufficiency_eraser | score of a method |
| lower, upper, range | exact bounds of a short text, a beam's of a long one |
| error_* | of a short text: distance of a search's bound from the exact one |
| rows, rows_exact | of a short text: forward passes that a search needs, and the exact one |
| beyond_* | of a long text: how far the certificate reaches beyond the bound |

`of_shares` has what is 0 or 1 for each short text. It is a table of its own because its means cannot leave [0, 1]:

| metric | value |
| --- | --- |
| off_* | 1 where a search's bound is more than .02 from the exact one |
| proved_* | 1 where the exact bound is within the search's certificate |

From the values of `naopc_search` `of_searches` makes this table. Errors are against the best bound of all searches:

| metric | value |
| --- | --- |
| error | how far the two bounds fall short of the best, mean |
| unsure | how far the certificate reaches beyond them, mean |
| rows | forward passes that the search needs |
| fewer | how many times fewer these are than those of the published search at width 5 |
| short | how far the two bounds fall short of that search's, mean; below zero where they are better |

The classifier is the column `model`. Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from faithbook.show.labels import short
from faithbook.studies.naopc.edin_claims import OFF

ENDS = ("lower", "upper")
ROUNDING = 1e-6
"""Values of single inputs are kept in single precision."""
PUBLISHED_SEARCH = "released, width 5"
HARDENED = (("bert", "bert-robust"), ("l6", "robust"))
"""A model and the same after adversarial training."""
DATASETS = {"bbc": "BBC news", "movie": "film reviews", "sst": "SST-2"}
"""Names of data sets for people. `label` names the two substitutes with what they stand for in study 1."""
_SEARCHED = (*ENDS, "certified_lower", "certified_upper", "rows")
_TEXT = ["dataset", "model", "length", "id", "cluster"]
_KEYS = [*_TEXT, "method", "search"]


def dataset_name(dataset: str) -> str:
    """A data set's name for people on the pages of this study.

    >>> dataset_name("movie"), dataset_name("imdb")
    ('film reviews', 'IMDB')
    """
    return DATASETS.get(dataset, short(dataset))


# ---------------------------------------------------------------------------------------------------- models and bounds
def of_models(units: pd.DataFrame) -> pd.DataFrame:
    """The first table, with the columns dataset, model, length, method, search, id, cluster, metric, value."""
    units = units.rename(columns={"classifier": "model"})
    scores = units[~units["metric"].isin(_SEARCHED)].assign(search="")
    exact, beams, long = _searches(units)

    # The bounds that NAOPC is computed with: exact ones of short texts, a beam's of long ones.
    best = pd.concat([exact, long]).assign(search="")
    best["range"] = best["upper"] - best["lower"]

    # Only a beam that is not exact has something unknown beyond its bounds.
    beyond = long.assign(search="")
    errors = beams.copy()
    for end in ENDS:
        beyond[f"beyond_{end}"] = _apart(long, f"certified_{end}", end)
        errors[f"error_{end}"] = _apart(beams, end, f"{end}_exact")

    frames = [
        scores[[*_KEYS, "metric", "value"]],
        best.melt(_KEYS, [*ENDS, "range"], "metric"),
        beyond.melt(_KEYS, ["beyond_lower", "beyond_upper"], "metric"),
        errors.melt(_KEYS, ["error_lower", "error_upper", "rows", "rows_exact"], "metric"),
    ]
    return pd.concat(frames, ignore_index=True)


def of_shares(units: pd.DataFrame) -> pd.DataFrame:
    """The second table, in the same columns."""
    _, beams, _ = _searches(units.rename(columns={"classifier": "model"}))
    shares = beams.copy()
    shares["off_lower"] = _apart(beams, "lower", "lower_exact") > OFF
    shares["off_upper"] = _apart(beams, "upper", "upper_exact") > OFF
    shares["proved_lower"] = beams["certified_lower"] <= beams["lower_exact"] + ROUNDING
    shares["proved_upper"] = beams["certified_upper"] >= beams["upper_exact"] - ROUNDING
    metrics = ["off_lower", "off_upper", "proved_lower", "proved_upper"]
    return shares.astype(dict.fromkeys(metrics, float)).melt(_KEYS, metrics, "metric")


def _searches(units: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Searches, one row per text: the exact ones, the beams of short texts beside them, those of long texts."""
    searches = _wide(units[units["metric"].isin(_SEARCHED)], [*_TEXT, "method", "width"])
    searches["search"] = searches["method"] + ", width " + searches["width"].map("{:.0f}".format)
    is_short = searches["length"] == "short"
    is_exact = searches["method"] == "exact"
    searches["method"] = "none"  # of attribution: bounds are those of the model

    exact = searches[is_short & is_exact]
    known = exact[[*_TEXT, *ENDS, "rows"]]
    beams = searches[is_short & ~is_exact].merge(known, on=_TEXT, suffixes=("", "_exact"), validate="many_to_one")
    return exact, beams, searches[~is_short]


def explained(values: pd.DataFrame) -> dict[str, list[str]]:
    """The methods of every model that the first table has scores of, random left out.

    >>> explained(pd.DataFrame({"model": ["a", "a", "b"], "method": ["lime", "random", "lime"], "metric": "aopc_morf"}))
    {'a': ['lime'], 'b': ['lime']}
    """
    scored = values[(values["metric"] == "aopc_morf") & (values["method"] != "random")]
    methods = scored.groupby("model", sort=False)["method"].unique()
    return {str(model): list(of_model) for model, of_model in methods.items()}


def common(methods: Mapping[str, Sequence[str]], models: Sequence[str]) -> list[str]:
    """The methods that all of these models have, in the order of the first.

    >>> common({"a": ["lime", "attention"], "b": ["lime"]}, ["a", "b"])
    ['lime']
    """
    shared = set.intersection(*(set(methods[model]) for model in models))
    return [name for name in methods[models[0]] if name in shared]


def together(values: pd.DataFrame, models: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Which of these models were measured on the same data sets, in their order, and on which: what can be compared.

    >>> measured = [("a", "films"), ("b", "films"), ("a", "news"), ("b", "news"), ("c", "snippets")]
    >>> together(pd.DataFrame(measured, columns=["model", "dataset"]), ["b", "a", "c"])
    [(['b', 'a'], ['films', 'news']), (['c'], ['snippets'])]
    """
    by_dataset = values.groupby("dataset", sort=False, observed=True)["model"].unique()
    datasets_of: dict[tuple[str, ...], list[str]] = {}
    for dataset, measured in by_dataset.items():
        group = tuple(model for model in models if model in measured)
        datasets_of.setdefault(group, []).append(str(dataset))
    return [(list(group), datasets) for group, datasets in datasets_of.items()]


# --------------------------------------------------------------------------------------------------- costs of searches
def of_searches(units: pd.DataFrame) -> pd.DataFrame:
    """The third table, with the columns dataset, model, words, kind, search, id, cluster, metric, value.

    A text is an article and the number of its words that are kept: the id names both.
    """
    units = units.rename(columns={"classifier": "model"})
    text = ["dataset", "model", "words", "id"]
    searches = _wide(units[units["metric"].isin(_SEARCHED)], [*text, "method", "width", "candidates"])
    pruned = (searches["method"] == "merged") & (searches["candidates"] > 0)
    searches["kind"] = searches["method"].mask(pruned, "pruned")
    searches["search"] = [_named(*row) for row in searches[["kind", "width", "candidates"]].itertuples(index=False)]

    # How far the certificate reaches beyond the bounds.
    beyond_upper = _apart(searches, "certified_upper", "upper")
    beyond_lower = _apart(searches, "certified_lower", "lower")
    searches["unsure"] = (beyond_upper + beyond_lower) / 2

    # How far the bounds are inside the best that any search of the same text found.
    of_text = searches.groupby(text)
    highest = of_text["upper"].transform("max")
    lowest = of_text["lower"].transform("min")
    searches["error"] = (highest - searches["upper"] + searches["lower"] - lowest) / 2

    # Cost and bounds against those of the published search.
    theirs = searches.loc[searches["search"] == PUBLISHED_SEARCH, [*text, *ENDS, "rows"]]
    searches = searches.merge(theirs, on=text, how="left", suffixes=("", "_theirs"), validate="many_to_one")
    searches["fewer"] = searches["rows_theirs"] / searches["rows"]
    less = searches["upper_theirs"] - searches["upper"] + searches["lower"] - searches["lower_theirs"]
    searches["short"] = less / 2

    searches["id"] = searches["words"].astype(str) + " words, " + searches["id"]
    keys = ["dataset", "model", "words", "kind", "search", "id", "cluster"]
    return searches.assign(cluster=searches["id"]).melt(keys, ["error", "unsure", "rows", "fewer", "short"], "metric")


def outdone(searches: pd.DataFrame, error: str, search: str = "adaptive") -> tuple[pd.Series, pd.Series] | None:
    """A search and the one that errs least of those that ask for fewer rows than it and err less, by more than
    rounding; None where there is none.

    `searches`: searches of the same texts, with the columns search, rows and an `error`.

    >>> rows = [("adaptive", 9, 0.2), ("merged", 8, 0.1), ("released", 7, 0.3)]
    >>> outdone(pd.DataFrame(rows, columns=["search", "rows", "error"]), "error")[1]["search"]
    'merged'
    """
    named = searches[searches["search"] == search]
    if named.empty:
        return None
    own = named.iloc[0]
    better = searches[(searches["rows"] < own["rows"]) & (searches[error] < own[error] - ROUNDING)]
    if better.empty:
        return None
    return own, better.sort_values(error).iloc[0]


def _named(kind: str, width: float, candidates: float) -> str:
    """A search in words.

    >>> _named("pruned", 3, 8), _named("merged", 3, 0), _named("adaptive", 0, 8)
    ('pruned, width 3, 8 words', 'merged, width 3', 'adaptive')
    """
    if kind in ("exact", "adaptive"):
        return kind
    name = f"{kind}, width {width:.0f}"
    if kind == "pruned":
        name += f", {candidates:.0f} words"
    return name


def _apart(searches: pd.DataFrame, one: str, other: str) -> pd.Series:
    """The distance of two columns: of a bound from its certificate or from the exact one."""
    return (searches[one] - searches[other]).abs()


def _wide(units: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    return units.pivot_table(index=list(keys), columns="metric", values="value", observed=True).reset_index()
