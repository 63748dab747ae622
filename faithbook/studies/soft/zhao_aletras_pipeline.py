"""The released pipeline of Zhao & Aletras (2023), its choices put together: diagnosticity under each subset of them,
and how much of the way from our numbers to the printed ones each step explains.

    replayed = Replayed(page.measure("soft_replayed", prepare=wins_and_ties, ...))
    replayed.power("nc", ["mask", "ties"], ["sst"]), explained(levels(of_model, models, replayed, "sst"), printed)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from faithbook.judge import materials
from faithbook.judge.published import table
from faithbook.judge.scores import Scores
from faithbook.show.figures import OURS, PUBLISHED
from faithbook.show.labels import label, labels, short
from faithbook.show.numbers import ends_of, listed, row_of, spoken, written
from faithbook.show.plots import Drawn, Layout, dot_plot, stacked
from faithbook.show.tables import wide_with_intervals
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft.zhao_aletras import (
    ALL_WEIGHTS,
    RELEASED,
    SIZES,
    SQUARED,
    of_largest,
    replay_name,
    shared,
    subsets,
)
from faithbook.studies.soft.zhao_aletras_diagnosticity import METHODS, PAIRS, TIE, WIN

Cells = Mapping[tuple[str, str, str], float]
"""Values by data set, metric and method."""
Levels = Mapping[str, Mapping[tuple[str, str], Comparison]]
"""Diagnosticity by data set, then by step and metric (`levels`)."""
METRICS = ("nc", "ns", "soft_nc", "soft_ns")
OWN = ("sst", "ag", "evinf", "multirc")
LONG = ("evinf", "multirc", "section", "pair")
STEPS = tuple(tuple(RELEASED)[:k] for k in range(len(RELEASED) + 1))
NAMES = ("as written", *(f"+ {name}: {options[1]}" for name, options in RELEASED.items()))
"""The choices put together one after the other, and what each step is called."""
PROTOCOL = ("lengths", "scaled attention", "draws")
"""What is exchanged together where all combinations are looked at, to keep to 64 of them."""
COMBINED = ("empty text", "limits", "normaliser", "mask", "ties", "protocol")


def wins_and_ties(units: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties against random under every subset of choices, of the largest model that a data set has."""
    wins = diagnosticity.counted(of_largest(units), by=["variant"])
    return wins[wins["shows"].isin((WIN, TIE))]


def printed_mean(metric: str, datasets: Collection[str]) -> float:
    """What the paper prints of a metric, mean over these data sets or those that they stand for."""
    values = table("soft_table3").set_index(["metric", "dataset"])["value"]
    substitutes = materials.stands_for("zhao_aletras_2023")
    return float(np.mean([values[metric, substitutes.get(name, name)] for name in datasets]))


@dataclass(frozen=True)
class Replayed:
    """What was measured under every subset of choices, read with wins and ties (`wins_and_ties`)."""

    measured: Scores

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The data sets that are looked at together, by what they have in common."""
        by_kind: dict[str, list[str]] = {}
        # The paper's own before substitutes, short texts before long ones: pages show groups in this order.
        names = sorted(self.measured.levels("dataset"), key=lambda name: (name not in OWN, name in LONG))
        for name in names:
            kind = evidence_levels.SUBSTITUTE
            if name in OWN:
                kind = evidence_levels.DATA
            length = "short"
            if name in LONG:
                length = "long"
            by_kind.setdefault(f"{kind}, {length} texts", []).append(name)
        return by_kind

    def power(self, metric: str, released: Collection[str], datasets: Collection[str]) -> Comparison:
        """Diagnosticity, mean over methods, with these choices as the released code makes them.

        Over the inputs that are defined under these choices: which they are depends on "empty text".
        """
        squared = "scaled attention" in released
        methods = [SQUARED if squared and name == "scaled_attention" else name for name in METHODS]
        cells = {"metric": metric, "variant": replay_name(metric, released), "method": methods, "dataset": [*datasets]}
        wins = self.measured.mean(**cells, shows=WIN)
        if "ties" not in released:
            return wins
        either = wins + self.measured.mean(**cells, shows=TIE)
        return replace(either, ours=replace(either.ours, bounds=(0.0, 1.0)))  # the two together are a share as well

    @cached_property
    def path(self) -> pd.DataFrame:
        """A row a group, step and metric: from the text's choices to the released code's, one after the other."""
        cells: dict[tuple[str, str, str], Comparison] = {}
        for group, datasets in self.groups.items():
            for name, made in zip(NAMES, STEPS, strict=True):
                for metric in METRICS:
                    cells[group, name, metric] = self.power(metric, made, datasets)
        return listed(cells, ["texts", "step", "metric"])

    def effects(self) -> pd.DataFrame:
        """What each choice changes of each metric: alone, and at the end, when all others are the code's."""
        rows: list[dict[str, Any]] = []
        for (group, datasets), name, metric in product(self.groups.items(), RELEASED, METRICS):
            others = [other for other in RELEASED if other != name]
            alone = self.power(metric, [name], datasets) - self.power(metric, [], datasets)
            last = self.power(metric, list(RELEASED), datasets) - self.power(metric, others, datasets)
            rows.append({"texts": group, "choice": name, "metric": metric, **row_of(alone)})
            rows[-1] |= ends_of(last, "at the end", "end low", "end high")
        return pd.DataFrame(rows)

    @cached_property
    def every(self) -> pd.DataFrame:
        """One row per group and combination: the smaller difference of soft minus hard, and all four metrics."""
        rows: list[dict[str, Any]] = []
        for (group, datasets), made in product(self.groups.items(), subsets(COMBINED)):
            released = list(made)
            if "protocol" in made:
                released += PROTOCOL
            level = {metric: self.power(metric, released, datasets) for metric in METRICS}
            gains = {soft: level[soft] - level[hard] for hard, soft in PAIRS.items()}
            # Better under both metrics is better under the one with the smaller gain.
            least = min(gains, key=lambda soft: gains[soft].ours.point)
            row: dict[str, Any] = {"texts": group, "released": ", ".join(made) or "none", "part": label(least)}
            row |= row_of(gains[least])
            for metric in METRICS:
                row[metric] = level[metric].ours.point
            rows.append(row)
        return pd.DataFrame(rows)


# ------------------------------------------------------------------------------------------------- from theirs to ours
HARD_METRICS, SOFT_METRICS = [*PAIRS], [*PAIRS.values()]
ONE_SIZE = "*No data set of the paper was explained with models of two sizes.*"
RELEASED_CHOICES = "the released code's choices"


def of_two_sizes(frame: pd.DataFrame, replayed: Collection[str]) -> list[str]:
    """The paper's own data sets that models of two sizes explained, of those that were `replayed` (`frame`: values of
    single inputs, with data set and model)."""
    return [name for name in OWN if len(shared(frame, [name])) > 1 and name in replayed]


def in_short(changed: pd.DataFrame, every: pd.DataFrame, datasets: Sequence[str], group: str) -> str:
    """The result of `soft_pipeline`, from `changes_by_step` as data and every combination of choices
    (`Replayed.every`) in a group of texts."""
    if not datasets:
        return "no data set of the paper was explained with models of two sizes, so nothing is compared."
    opening = "No step that we could try leads from our numbers to the published ones. "
    if not none_closes_the_distance(changed):
        opening = ""
    rest = changed[changed["step"] == REMAINS]
    of_group = every[every["texts"] == group]
    better = int((of_group["low"] > 0).sum())
    largest = of_group.iloc[int(of_group["estimate"].argmax())]
    best = f", by {spoken(largest, '.3f')}, the largest of them all" if better == 1 else ""
    return (
        f"{opening}With a model of the paper's size and all eight choices of its released code, our diagnosticity "
        f"minus the published one is {span_of(changed, REMAINS, HARD_METRICS)} for the metrics that erase whole words "
        f"(NC, NS) and {span_of(changed, REMAINS, SOFT_METRICS)} for the soft ones (Soft-NC, Soft-NS; "
        f"{' and '.join(map(label, datasets))}, n = {rest['n'].min():,.0f} texts or more). In {better} of "
        f"{len(of_group)} combinations of these choices soft erasure is clearly better under both metrics{best}."
    )


CHANGES = {
    "another model": (SIZES["mpnet"], SIZES[""]),
    "all weights trained": (ALL_WEIGHTS, SIZES["mpnet"]),
    RELEASED_CHOICES: (NAMES[-1], NAMES[0]),
}
"""What may explain a number, by name: the level after it and the level before it (`levels`)."""
REMAINS = "what remains"
"""The level after all of them minus the published value."""


def levels(
    of_model: Callable[..., Comparison], models: Iterable[str], replayed: Replayed, dataset: str
) -> dict[tuple[str, str], Comparison]:
    """Diagnosticity on a data set by step and metric: of each model as the text has it, then with the larger one from
    the text's choices to the released code's.

    `of_model`: the mean of a metric over methods, by `dataset` and `model`.
    """
    by_step: dict[tuple[str, str], Comparison] = {}
    for model, metric in product(models, METRICS):
        by_step[model, metric] = of_model(metric, dataset=dataset, model=model)
    for name, made in zip(NAMES, STEPS, strict=True):
        for metric in METRICS:
            by_step[name, metric] = replayed.power(metric, made, [dataset])
    return by_step


def levels_by_dataset(
    of_model: Callable[..., Comparison], measured: pd.DataFrame, replayed: Replayed, datasets: Iterable[str]
) -> dict[str, dict[tuple[str, str], Comparison]]:
    """`levels` by data set, with all models that explained it (`measured`: values of single inputs)."""
    by_dataset = {}
    for name in datasets:
        models = measured.loc[measured["dataset"] == name, "model"].unique()
        by_dataset[name] = levels(of_model, models, replayed, name)
    return by_dataset


def steps_and_rest(
    level: Mapping[tuple[str, str], Comparison], theirs: Mapping[str, float]
) -> dict[tuple[str, str], Comparison]:
    """By metric and step what it changes, and what remains to the published value (`theirs`) after all of them."""
    changes = {}
    for metric in METRICS:
        for step, (after, before) in CHANGES.items():
            if {(after, metric), (before, metric)} <= set(level):
                changes[metric, step] = level[after, metric] - level[before, metric]
        changes[metric, REMAINS] = level[NAMES[-1], metric] - theirs[metric]
    return changes


def path_of(level: Levels) -> pd.DataFrame:
    """Every level as data: data set, step, metric, diagnosticity with the ends of its interval, n."""
    cells: dict[tuple[str, str, str], Comparison] = {}
    for dataset, by_step in level.items():
        for (step, metric), value in by_step.items():
            cells[dataset, step, metric] = value
    return listed(cells, ["dataset", "step", "metric"])


def printed_of(datasets: Iterable[str]) -> dict[tuple[str, str], float]:
    """The published diagnosticity by data set and metric."""
    return {(name, metric): printed_mean(metric, [name]) for name, metric in product(datasets, METRICS)}


def order_of_steps(path: pd.DataFrame) -> list[str]:
    """The steps from the smaller model to the code's last choice (`path_of`), as the figure has them."""
    return list(dict.fromkeys([SIZES[""], SIZES["mpnet"], *path["step"]]))


def changes_by_step(level: Levels) -> dict[tuple[str, str, str], Comparison]:
    """By data set, metric and step: diagnosticity with either model, then what each step changes of it, and what
    remains to the published value."""
    changes: dict[tuple[str, str, str], Comparison] = {}
    for dataset, by_step in level.items():
        for metric, model in product(METRICS, SIZES.values()):
            changes[dataset, metric, model] = by_step[model, metric]
        published = {metric: printed_mean(metric, [dataset]) for metric in METRICS}
        for (metric, step), change in steps_and_rest(by_step, published).items():
            changes[dataset, metric, step] = change
    return changes


def span_of(changes: pd.DataFrame, step: str, metrics: Collection[str]) -> str:
    """The lowest and the highest change of a step over data sets and these metrics, with signs; "" of a step that was
    not measured (`changes_by_step` as data)."""
    estimates = changes.loc[(changes["step"] == step) & changes["metric"].isin(metrics), "estimate"]
    if estimates.empty:
        return ""
    return f"{written(estimates.min(), '+.2f')} to {written(estimates.max(), '+.2f')}"


def none_closes_the_distance(changes: pd.DataFrame) -> bool:
    """Whether what remains is clearly different from zero for every data set and metric (`changes_by_step` as data)."""
    rest = changes[changes["step"] == REMAINS]
    return bool(((rest["low"] > 0) | (rest["high"] < 0)).all())


def farthest_repeat(level: Levels) -> tuple[str, str, float] | None:
    """The data set and metric in which the same model and formulas, measured twice, differ most, and by how much: once
    on all inputs with all training runs, once on the replayed inputs with one."""
    distances: dict[tuple[str, str], float] = {}
    for dataset, by_step in level.items():
        for metric in METRICS:
            once, all_runs = (by_step[step, metric].ours.point for step in (NAMES[0], SIZES["mpnet"]))
            distances[dataset, metric] = abs(once - all_runs)
    if not distances:
        return None
    dataset, metric = max(distances, key=lambda cell: distances[cell])
    return dataset, metric, distances[dataset, metric]


def steps_in_words(changed: pd.DataFrame, level: Levels) -> str:
    """How much each step changes, from `changes_by_step` as data, and how much repeats differ."""
    farthest = farthest_repeat(level)
    if farthest is None:
        return ONE_SIZE
    larger, trained = (span_of(changed, step, METRICS) for step in ("another model", "all weights trained"))
    sentences = [f"The larger model instead of the smaller one changes diagnosticity by {larger}."]
    if trained:
        sentences.append(f"Training all weights changes it by {trained}.")
    of_hard, of_soft = (span_of(changed, RELEASED_CHOICES, metrics) for metrics in (HARD_METRICS, SOFT_METRICS))
    sentences.append(
        f"All choices of the code together change the hard metrics by {of_hard} and the soft ones by {of_soft}."
    )
    dataset, metric, distance = farthest
    sentences.append(
        f"Steps of less than about {distance:.2f} may be chance: with the same formulas, one training run (*as "
        f"written*) and all runs differ by up to that much ({label(metric)} on {label(dataset)})."
    )
    return f"**How much each step changes.** {' '.join(sentences)}"


# --------------------------------------------------------------------------------------------------------------- tables
def inputs_of_rows(long: pd.DataFrame, rows: Sequence[str]) -> list[str]:
    """On how many inputs the quantities of each row of a wide table rest, the fewest and the most where they differ
    (`long` as `in_words` takes it, with `n`; its rows in the same order).

    >>> long = pd.DataFrame({"metric": ["nc", "nc", "ns"], "n": [250, 1000, 40]})
    >>> inputs_of_rows(long, ["metric"])
    ['250 to 1,000', '40']
    """
    by_row = long.groupby([*rows], sort=False, observed=True)["n"].agg(["min", "max"])
    inputs = []
    for low, high in by_row.to_numpy():
        said = f"{low:,.0f}"
        if high > low:
            said += f" to {high:,.0f}"
        inputs.append(said)
    return inputs


def without_signed_zeros(wide: pd.DataFrame) -> pd.DataFrame:
    """A table of text in which a rounded zero has no sign."""
    return wide.replace({r"[-−+](0\.0+)(?!\d)": r"\1"}, regex=True)


def changes_in_words(changes: pd.DataFrame) -> pd.DataFrame:
    """`changes_by_step` as a table of text, one row per data set and metric: the published value, that of the larger
    model, the changes with a sign, n; nothing of no changes."""
    if changes.empty:
        return pd.DataFrame()
    large = SIZES["mpnet"]
    shown = changes[~changes["step"].isin([SIZES[""], "another model"])]
    wide = wide_with_intervals(shown, ["dataset", "metric"], "step", "+.2f")
    wide[large] = wide[large].str.replace("+", "", regex=False)
    cells = dict.fromkeys(zip(shown["dataset"], shown["metric"], strict=True))
    wide.insert(2, "published", [f"{printed_mean(metric, [dataset]):.2f}" for dataset, metric in cells])
    wide["n"] = inputs_of_rows(shown, ["dataset", "metric"])
    return without_signed_zeros(wide)


def shown_groups(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The groups of texts that a page shows (`Replayed.groups`), with the names of their data sets: the paper's own, or
    the substitutes where there is none.

    >>> shown_groups({"own": ["ag", "sst"], "other": ["movie"]})
    {'own': 'AG News and SST'}
    >>> shown_groups({"other": ["movie"]})
    {'other': 'movie (substitute)'}
    """
    names = names_of_groups(groups)
    own = {group: names[group] for group, datasets in groups.items() if set(datasets) <= set(OWN)}
    return own or names


def names_of_groups(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Every group of texts with the names of its data sets."""
    names = {}
    for group, datasets in groups.items():
        names[group] = " and ".join(map(short, datasets))
        if not set(datasets) <= set(OWN):
            names[group] += " (substitute)"
    return names


def by_metric(long: pd.DataFrame, row: str, names: Mapping[str, str], form: str) -> pd.DataFrame:
    """Quantities of groups of texts (of those with `names`) as a table of text, one column per metric, with n."""
    shown = long[long["texts"].isin(names)]
    if shown.empty:
        return pd.DataFrame()
    named = shown.assign(texts=shown["texts"].map(names))
    wide = wide_with_intervals(named, ["texts", row], "metric", form).rename(columns=label)
    wide["n"] = inputs_of_rows(named, ["texts", row])
    return without_signed_zeros(_without_the_only_group(wide, names))


def _without_the_only_group(wide: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """A table without the column of texts where that says the same in every row."""
    return wide.drop(columns="texts") if len(names) == 1 else wide


def moving(effects: pd.DataFrame) -> pd.DataFrame:
    """The rows of `Replayed.effects` in which a choice changes something, alone or at the end."""
    return effects[(effects["estimate"] != 0) | (effects["at the end"] != 0)]


def largest_alone(effects: pd.DataFrame, group: str, metrics: Sequence[str]) -> dict[str, pd.Series]:
    """By metric the choice that alone changes it most in a group of texts: its row of `Replayed.effects`."""
    rows = effects[effects["texts"] == group]
    found = {}
    for metric in metrics:
        of_metric = rows[rows["metric"] == metric]
        found[metric] = of_metric.iloc[int(of_metric["estimate"].abs().argmax())]
    return found


def alone_in_words(effects: pd.DataFrame, group: str, name: str) -> str:
    """The choice that alone changes each metric most in a group of texts with this name (`largest_alone`)."""
    rows = largest_alone(effects, group, METRICS)
    choices = "; ".join(f"{label(metric)}: {row.choice}, {spoken(row, '+.2f')}" for metric, row in rows.items())
    return (
        f"**Each choice alone.** The one that changes diagnosticity most on {name}, with all others as in the text: "
        f"{choices}. A choice can do something else when others are made as well: compare the mask in the table and in "
        "the figure, where it follows the code's normaliser."
    )


SHOWN = 5
"""So many combinations of each group are in the table of the page."""


def ordered_combinations(every: pd.DataFrame) -> pd.DataFrame:
    """`Replayed.every` in the order of its estimates, the largest of each group first."""
    return every.sort_values(["texts", "estimate"], ascending=[True, False])


def largest_combinations(ordered: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The largest of `ordered_combinations` in each of the groups with `names`, and the text's own choices, as text."""
    place = ordered.groupby("texts").cumcount()
    chosen = ((place < SHOWN) | (ordered["released"] == "none")) & ordered["texts"].isin(names)
    rows = ordered[chosen]
    columns = {
        "texts": rows["texts"].map(names),
        "choices as in the code": rows["released"],
        "place of 64": [f"{number + 1}" for number in place[chosen]],
        "smaller difference": [f"{part} − {part.removeprefix('Soft-')}" for part in rows["part"]],
        "soft − hard": [spoken(row, ".2f") for row in rows.itertuples()],
        "n": [f"{n:,.0f}" for n in rows["n"]],
    }
    wide = pd.DataFrame(columns)
    for metric in METRICS:
        wide[label(metric)] = rows[metric].map("{:.2f}".format)
    return without_signed_zeros(_without_the_only_group(wide, names))


def better_under_both(every: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Sentences on in how many combinations soft erasure is better under both metrics, one line per group of texts."""
    lines = []
    for texts, combinations_of_group in every.groupby("texts", sort=False):
        better = combinations_of_group[combinations_of_group["low"] > 0]
        ns = combinations_of_group["n"]
        line = (
            f"- **{names[str(texts)]}** (n = {ns.min():,.0f} to {ns.max():,.0f}): clearly better in {len(better)} of "
            f"{len(combinations_of_group)} combinations, with a positive estimate in "
            f"{(combinations_of_group['estimate'] > 0).sum()}."
        )
        if len(better):
            best = better.iloc[int(better["estimate"].argmax())]
            largest = f"{spoken(best, '.3f')} (n = {best['n']:,.0f})"
            line += f" The largest is {largest}, with *{best['released']}* as in the code."
        lines.append(line)
    return "\n".join(lines)


# ----------------------------------------------------------------------------------------------- attention below chance
BELOW = ("attention", "input_x_gradient")
"""The methods that soft metrics put below random scores with the larger model."""
MINMAX, RANKS, GAIN, TIED = "min-max", "ranks", "ranks − min-max", "ties"
HALVES = {how: f"{MINMAX}, {how} confident half" for how in ("less", "more")}
ONE_INPUT = ["model", "dataset", "seed", "id"]


def confidence(units: pd.DataFrame) -> pd.DataFrame:
    """The probability of the predicted class on the whole input."""
    return units[units["metric"] == "p_full"]


def of_amounts(wins: pd.DataFrame) -> pd.DataFrame:
    """The wins and ties with the book's own choices and with ranks."""
    return wins[wins["variant"].isin(["paper", "normaliser=rank"])]


def by_confidence(wins: pd.DataFrame, sure: pd.DataFrame) -> pd.DataFrame:
    """Wins and ties under soft metrics with the book's own choices, of the less and the more confident half of the
    inputs on which choices were varied (`sure`: the probability of each input's class, `confidence`)."""
    own_choices = wins[(wins["variant"] == "paper") & wins["metric"].isin(PAIRS.values())]
    inputs = own_choices[ONE_INPUT].drop_duplicates().merge(sure[[*ONE_INPUT, "value"]], on=ONE_INPUT)
    middle = inputs.groupby(["model", "dataset"], observed=True)["value"].transform("median")
    inputs["confident"] = (inputs["value"] > middle).map({False: "less", True: "more"})
    return own_choices.merge(inputs[[*ONE_INPUT, "confident"]], on=ONE_INPUT)


def amounts_and_confidence(
    tried: Scores, halves: Scores, datasets: Sequence[str]
) -> dict[tuple[str, str, str, str], Comparison]:
    """Diagnosticity of the methods that are below chance, by data set, method, metric and what is changed: amounts as
    min-max scaling makes them, equal ones, the difference, either half of the inputs by confidence, and ties."""
    cells: dict[tuple[str, str, str, str], Comparison] = {}
    for dataset, method, metric in product(datasets, BELOW, ("soft_nc", "soft_ns")):
        cell = {"dataset": dataset, "method": method, "metric": metric, "model": SIZES["mpnet"]}
        ranks = tried.mean(**cell, shows=WIN, variant="normaliser=rank")
        plain = tried.mean(**cell, shows=WIN, variant="paper")
        steps = {MINMAX: plain, RANKS: ranks, GAIN: ranks - plain}
        for how, name in HALVES.items():
            steps[name] = halves.mean(**cell, shows=WIN, confident=how)
        steps[TIED] = tried.mean(**cell, shows=TIE, variant="paper")
        cells |= {(dataset, method, metric, name): value for name, value in steps.items()}
    return cells


def amount_table(amounts: pd.DataFrame) -> pd.DataFrame:
    """`amounts_and_confidence` as a table of text, one row per data set, method and metric, with n; nothing of none."""
    if amounts.empty:
        return pd.DataFrame()
    keys = ["dataset", "method", "metric"]
    wide = wide_with_intervals(amounts, keys, "what", ".2f")
    wide["n"] = inputs_of_rows(amounts[~amounts["what"].isin(HALVES.values())], keys)
    return wide


def amounts_explain(amounts: pd.DataFrame) -> bool:
    """Whether equal amounts raise every value clearly, and the less confident half is below chance as well."""
    gains = amounts[amounts["what"] == GAIN]
    less = amounts.loc[amounts["what"] == HALVES["less"], "estimate"]
    return bool(len(gains) and (gains["low"] > 0).all() and less.max() < 0.5)


def what_amounts_explain(amounts: pd.DataFrame) -> str:
    """What follows from `amounts_and_confidence`, in sentences; "" where amounts do not explain it."""
    if not amounts_explain(amounts):
        return ""
    values = amounts.groupby("what")["estimate"].agg(["min", "max"])
    before, after = (f"between {values['min'][name]:.2f} and {values['max'][name]:.2f}" for name in (MINMAX, RANKS))
    by_half = amounts.pivot(index=["dataset", "method", "metric"], columns="what", values="estimate")
    lower = int((by_half[HALVES["more"]] < by_half[HALVES["less"]]).sum())
    highest = values["max"]
    return (
        "**The amounts explain why these values are below chance.** With equal amounts every value rises, from "
        f"{before} to {after}; each change has an interval above zero. Equal amounts do not show that every order is "
        "informative: where an interval under ranks includes 0.50, the order is not better than chance. With min-max, "
        f"ties are at most {100 * highest[TIED]:.0f} % of the comparisons. Confidence may add to it: the more "
        f"confident half has the lower value in {lower} of {len(by_half)} rows, but the less confident half is below "
        f"chance as well (at most {highest[HALVES['less']]:.2f})."
    )


# -------------------------------------------------------------------------------------------------------------- figures
def with_and_without_amounts(orders: pd.DataFrame, metrics: Sequence[str], methods: Sequence[str]) -> Drawn:
    """Diagnosticity of each method, and of the average of all, with min-max amounts and with ranks: one panel per
    metric (metric, method, and of either side its value, low and high, under "min-max" and "ranks")."""
    looks = {"min-max": (PUBLISHED, "D"), "ranks": (OURS, "o")}
    kept = orders[orders.method.isin([*methods, "average"])]
    ends = {side: [side, f"{side} low", f"{side} high"] for side in looks}
    tidy = pd.concat(
        [stacked(kept[kept.metric == metric], ["metric", "method"], ends, "amounts") for metric in metrics]
    )
    layout = Layout(panel="metric", series="amounts", names=labels(), looks=looks, mark=0.5)
    return dot_plot(tidy, "diagnosticity", row="method", layout=layout)


def from_theirs(path: pd.DataFrame, theirs: Mapping[tuple[str, str], float], order: Sequence[str]) -> Drawn:
    """From the published value of each metric (`theirs`, by data set and metric) to ours, one panel per data set, one
    row per step in this order (dataset, step, metric, and the estimate with its ends)."""
    published = [{"dataset": data, "metric": m, "step": "published", "estimate": x} for (data, m), x in theirs.items()]
    tidy = pd.concat([pd.DataFrame(published), path])
    tidy = tidy.sort_values("step", key=lambda steps: steps.map(["published", *order].index), kind="stable")
    layout = Layout(panel="dataset", series="metric", names=labels(), mark=0.5)
    return dot_plot(tidy, "diagnosticity", row="step", layout=layout)


def variants_figure(changes: pd.DataFrame, metrics: Sequence[str], names: dict[str, str]) -> Drawn:
    """What each variant (of `names`, with its words) changes of the mean score and of diagnosticity, up to four metrics
    a row (variant, choice, metric, score, change, and their ends)."""
    panels = {
        "change of the mean score": ["score", "score low", "score high"],
        "change of diagnosticity": ["change", "low", "high"],
    }
    ordered = pd.concat([changes[(changes.variant == name) & changes.metric.isin(metrics)] for name in names])
    tidy = stacked(ordered, ["variant", "metric"], panels, "panel")
    layout = Layout(panel="panel", series="metric", names=labels() | names, mark=0.0, shared=False)
    return dot_plot(tidy, "other choice minus the paper's", row="variant", layout=layout)


def rows_apart(printed: Cells, ours: Cells) -> pd.DataFrame:
    """How far every two rows (methods) of a table lie apart, the nearest printed pair first: mean and largest distance
    over the cells that both have, printed and ours. `printed`, `ours`: values by data set, metric and method."""
    wide = {
        name: pd.Series(dict(cells), dtype=float).unstack() if cells else pd.DataFrame()
        for name, cells in (("printed", printed), ("ours", ours))
    }
    rows = []
    for first, other in combinations(wide["printed"].columns, 2):
        row: dict[str, object] = {"one": label(first), "other": label(other)}
        for name, values in wide.items():
            both = values.reindex(columns=[first, other])
            distance = (both[first] - both[other]).abs()
            row |= {f"{name}, mean": distance.mean(), f"{name}, most": distance.max()}
        rows.append(row)
    return pd.DataFrame(rows).sort_values("printed, mean", ignore_index=True)
