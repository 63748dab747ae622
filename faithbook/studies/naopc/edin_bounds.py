"""What study 4 asks of models and searches of ours, as one value per text: what `Page.measure` averages.

Of `naopc_models` (`of_models`, its parts "" and "bounds"); a `search` is named with its width, "" where there is none:

| metric | value |
| --- | --- |
| aopc_*, naopc_*, sufficiency_eraser | score of a method, as it was kept |
| lower, upper, range | exact bounds of a short text, a beam's of a long one |
| error_* | of a short text: how far a search ended from the exact bound |
| rows, rows_exact | of a short text: sets that a search has to have answered, and the exact one |
| beyond_* | of a long text: how far the certificate reaches beyond the bound |

`of_shares` has, of short texts, what is 0 or 1 (apart, for a mean of it cannot leave [0, 1]):

| metric | value |
| --- | --- |
| off_* | 1 where a search ended more than .02 from the exact bound |
| proved_* | 1 where the exact bound lies within the search's certificate |

Of `naopc_search` (`of_searches`), where the best bound of all searches stands in for the exact one:

| metric | value |
| --- | --- |
| error | how far the two bounds fall short of the best, mean |
| unsure | how far the certificate reaches beyond them, mean |
| rows | sets that the search has to have answered |
| fewer | how many times fewer than the published search at width 5 |
| short | how far the two bounds fall short of that search's, mean; below zero where they are better |

The classifier is called `model`. Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd

from faithbook.show.labels import label, short
from faithbook.show.numbers import spoken
from faithbook.studies.naopc.edin_claims import OFF

ENDS = ("lower", "upper")
ROUNDING = 1e-6
"""Values of single inputs are kept in single precision."""
PUBLISHED_SEARCH = "released, width 5"
HARDENED = (("bert", "bert-robust"), ("l6", "robust"))
"""A model and the same after adversarial training."""
_SEARCHED = (*ENDS, "certified_lower", "certified_upper", "rows")
_TEXT = ["dataset", "model", "length", "id", "cluster"]
_KEYS = [*_TEXT, "method", "search"]


def of_models(units: pd.DataFrame) -> pd.DataFrame:
    """The first table, with the columns dataset, model, length, method, search, id, cluster, metric, value."""
    units = units.rename(columns={"classifier": "model"})
    scores = units[~units["metric"].isin(_SEARCHED)].assign(search="")
    exact, beams, long = _searches(units)
    best = pd.concat([exact, long]).assign(search="")
    best["range"] = best["upper"] - best["lower"]
    beyond = long.assign(search="", **{f"beyond_{end}": _apart(long, f"certified_{end}", end) for end in ENDS})
    errors = beams.assign(**{f"error_{end}": _apart(beams, end, f"{end}_exact") for end in ENDS})
    frames = [
        best.melt(_KEYS, [*ENDS, "range"], "metric"),
        beyond.melt(_KEYS, [f"beyond_{end}" for end in ENDS], "metric"),
        errors.melt(_KEYS, [*(f"error_{end}" for end in ENDS), "rows", "rows_exact"], "metric"),
    ]
    return pd.concat([scores[[*_KEYS, "metric", "value"]], *frames], ignore_index=True)


def of_shares(units: pd.DataFrame) -> pd.DataFrame:
    """The second table, in the same columns."""
    _, beams, _ = _searches(units.rename(columns={"classifier": "model"}))
    flags = {f"off_{end}": _apart(beams, end, f"{end}_exact") > OFF for end in ENDS}
    flags["proved_lower"] = beams["certified_lower"] <= beams["lower_exact"] + ROUNDING
    flags["proved_upper"] = beams["certified_upper"] >= beams["upper_exact"] - ROUNDING
    return beams.assign(**flags).astype(dict.fromkeys(flags, float)).melt(_KEYS, list(flags), "metric")


def _searches(units: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Searches, one row per text: the exact ones, the beams of short texts beside them, those of long texts."""
    searches = _wide(units[units["metric"].isin(_SEARCHED)], [*_TEXT, "method", "width"])
    searches["search"] = [
        f"{name}, width {width:.0f}" for name, width in zip(searches["method"], searches["width"], strict=True)
    ]
    short, exact = searches["length"] == "short", searches["method"] == "exact"
    searches["method"] = "none"
    known = searches.loc[short & exact, [*_TEXT, *ENDS, "rows"]]
    beams = searches[short & ~exact].merge(known, on=_TEXT, suffixes=("", "_exact"), validate="many_to_one")
    return searches[short & exact], beams, searches[~short]


def explained(values: pd.DataFrame) -> dict[str, list[str]]:
    """The methods of every model that the first table has scores of, random left out.

    >>> explained(pd.DataFrame({"model": ["a", "a", "b"], "method": ["lime", "random", "lime"], "metric": "aopc_morf"}))
    {'a': ['lime'], 'b': ['lime']}
    """
    scored = values[(values["metric"] == "aopc_morf") & (values["method"] != "random")]
    of_models = scored.groupby("model", sort=False)["method"].unique()
    return {str(model): list(of_model) for model, of_model in of_models.items()}


def common(methods: Mapping[str, Sequence[str]], models: Sequence[str]) -> list[str]:
    """The methods that all of these models have, in the order of the first.

    >>> common({"a": ["lime", "attention"], "b": ["lime"]}, ["a", "b"])
    ['lime']
    """
    return [name for name in methods[models[0]] if all(name in methods[model] for model in models)]


def together(values: pd.DataFrame, models: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Which of these models were asked on the same data sets, in their order, and on which: what can be compared.

    >>> asked = [("a", "films"), ("b", "films"), ("a", "news"), ("b", "news"), ("c", "snippets")]
    >>> together(pd.DataFrame(asked, columns=["model", "dataset"]), ["b", "a", "c"])
    [(['b', 'a'], ['films', 'news']), (['c'], ['snippets'])]
    """
    asked = values.groupby("dataset", sort=False, observed=True)["model"].unique()
    groups: dict[tuple[str, ...], list[str]] = {}
    for dataset, there in asked.items():
        groups.setdefault(tuple(model for model in models if model in there), []).append(str(dataset))
    return [(list(models_asked), sets) for models_asked, sets in groups.items()]


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
    beyond = [_apart(searches, f"certified_{end}", end) for end in reversed(ENDS)]
    searches["unsure"] = (beyond[0] + beyond[1]) / 2
    each = searches.groupby(text)
    upper, lower = each["upper"].transform("max"), each["lower"].transform("min")
    searches["error"] = (upper - searches["upper"] + searches["lower"] - lower) / 2
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
    better = searches[(searches["rows"] < named["rows"].iloc[0]) & (searches[error] < named[error].iloc[0] - ROUNDING)]
    return None if better.empty else (named.iloc[0], better.sort_values(error).iloc[0])


def _named(kind: str, width: float, candidates: float) -> str:
    """A search in words.

    >>> _named("pruned", 3, 8), _named("merged", 3, 0), _named("adaptive", 0, 8)
    ('pruned, width 3, 8 words', 'merged, width 3', 'adaptive')
    """
    if kind in ("exact", "adaptive"):
        return kind
    return f"{kind}, width {width:.0f}" + (f", {candidates:.0f} words" if kind == "pruned" else "")


def _apart(searches: pd.DataFrame, one: str, other: str) -> pd.Series:
    """How far two columns lie apart: a bound and its certificate or the exact one."""
    return (searches[one] - searches[other]).abs()


def _wide(units: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    return units.pivot_table(index=list(keys), columns="metric", values="value", observed=True).reset_index()


def rankings_in_words(ranks: pd.DataFrame) -> pd.DataFrame:
    """Agreement of rankings (`dataset`, `length`, `metric`, `ranking`, tau with its ends, `published`) as a wide table:
    a row for each length and metric, columns for the rankings of models and of methods on each data set and, last, in
    the released files."""
    shown = ranks[ranks["estimate"].notna()]  # one model alone has no ranking of models
    lengths, metrics = ranks["length"].unique(), ranks["metric"].unique()
    wide = []
    for length, metric in product(lengths, metrics):
        row = {"texts": length, "order": label(metric).rpartition(", ")[2]}
        for ranking in ("models", "methods"):
            of_row = (shown["length"] == length) & (shown["metric"] == metric) & (shown["ranking"] == ranking)
            for one in shown[of_row].itertuples():
                row[f"{ranking}: {short(one.dataset)}"] = spoken(one, ".2f")
                row[f"{ranking}: released"] = f"{one.published:.2f}"
        wide.append(row)
    frame = pd.DataFrame(wide)
    names = [str(name) for name in frame]
    last = [name for name in names if name.endswith(": released")]
    ordered = [name for kind in last for name in [*_of_kind(names, kind), kind]]
    return frame[["texts", "order", *ordered]]


def _of_kind(names: Sequence[str], released: str) -> list[str]:
    """The columns of our data sets that belong to a column of the released files."""
    kind = released.partition(":")[0]
    return [name for name in names if name.startswith(f"{kind}:") and name != released]
