"""What `saco_tables` shows beside Tables 1 and 2 of Wu et al. (2024): each data set on its own, the numbers of the
paper's running text recomputed, and statements of that text against its own Table 2.

    recomputed = text_again(table1, orders, paper_run, methods)
    verdict = page.test({"saco_text": numbers_of(recomputed)})
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import pandas as pd

from faithbook.judge import published
from faithbook.judge.decide import Ordered, SameNumber
from faithbook.show.labels import label, short
from faithbook.show.numbers import beside, listed, written
from faithbook.show.tables import wide_with_intervals
from faithbook.stats.comparison import Comparison
from faithbook.studies.saco.wu import (
    ALL,
    CHANCE,
    FAMILIES,
    KS,
    LAST,
    METHODS,
    MID,
    RAW,
    ROLLOUT,
    STEADY,
    At,
    constant_maps,
)
from faithbook.text import joined

ARITHMETIC, ORDERS, SET_UP, RUN = "from Table 1", "all orders of five drops", "paper profile", "our run"
"""How a number of the text was recomputed."""
NOT_AGAIN = "measured on the paper's models"
AS_SET = (SET_UP, RUN)
"""Facts of the set-up, which we take from the paper: they agree by construction."""
WORDS_OF_HOW = {SET_UP: "set-up of the paper as we would run it", ORDERS: "all 120 orders of the drops of five groups"}
UNITS = {"percent": " %", "pixels": " pixels"}
WORDS_OF_ITEM = {
    "gain_from_gradient_single_layer": "gain from gradients, last layer",
    "gain_from_gradient_cross_layer": "gain from gradients, all layers",
    "saco_of_random_attribution": "expected SaCo of random scores",
    "probability_that_the_inequality_holds_for_random_attribution": "probability that a pair is in order",
    "coefficient_range": "SaCo",
    "number_of_pixel_subsets_case_study": "groups of pixels in the case study",
    "removal_step_of_existing_metrics": "removal step of the older metrics",
    "patch_size": "side of a patch",
    "explanation_methods_compared": "methods compared",
    "datasets_compared": "data sets compared",
    "models_compared": "models compared",
    "attention_variants_in_ablation": "attention-based explanations in Table 1",
}
"""The numbers of the paper's text for people."""


def in_short(saco: At) -> str:
    """The result of `saco_tables`: what gradients, and what all layers, add to SaCo of attention."""
    without, with_gradients = saco(ROLLOUT) - saco(RAW), saco(ALL) - saco(LAST)
    return (
        f"Multiplying attention by its gradients raises SaCo from {beside(saco(RAW))} to {beside(saco(LAST))} in the "
        f"last layer, and from {beside(saco(ROLLOUT))} to {beside(saco(ALL))} through all layers. Taking all layers "
        f"instead of the last changes SaCo by {beside(without, '+.2f')} without gradients and by "
        f"{beside(with_gradients, '+.2f')} with them (n = {saco(RAW).ours.n:,} images in the smaller data set). "
        "Published values are of ImageNet, ours of CIFAR."
    )


def both_tables(table1: pd.DataFrame, table2: pd.DataFrame) -> pd.DataFrame:
    """The published values of both tables; those of Table 1 are of ten groups."""
    return pd.concat([table2, table1.assign(k=MID)])


def fewest(saco: At, counts: Sequence[int]) -> int:
    """The fewest images of the ten methods with these numbers of groups, in the smaller data set (`saco` with `k`)."""
    return min(saco(method, k=k).ours.n for method in METHODS for k in counts)


def sizes_in_words(saco: At) -> str:
    """Why n differs between the rows of Table 2: which images were cut how, and which maps have no SaCo."""
    with_ten, with_five = (saco(RAW, k=k).ours.n for k in (MID, KS[0]))
    fewest_of_ten, fewest_of_five = (saco("grad_cam", k=k).ours.n for k in (MID, KS[0]))
    return (
        f"*n* is that of the method with the fewest images, in the smaller data set. All of its {with_ten:,} images "
        f"were cut into {MID} groups and {with_five} of them also into {KS[0]} and {KS[-1]}. Some Grad-CAM maps give "
        f"every pixel one score and have no SaCo. With the model where most do, {fewest_of_ten} of the {with_ten:,} "
        f"images and {fewest_of_five} of the {with_five} are left, and *n* is counted there. A comparison without "
        "Grad-CAM has all images."
    )


def orders_of_table2(saco: At) -> list[Ordered]:
    """saco_table2: the order of the ten methods with each number of groups (`saco` with `k`)."""
    return [
        Ordered({method: saco(method, k=k) for method in METHODS}, name=f"tau with the printed order, {k} groups")
        for k in KS
    ]


# ------------------------------------------------------------------------------------------- each data set on its own
def by_dataset(of_cell: Callable[..., Comparison], datasets: Iterable[str]) -> pd.DataFrame:
    """SaCo of every method and of random scores by data set and number of groups (`of_cell(dataset, method, k)`)."""
    cells = product(datasets, (*METHODS, LAST, CHANCE), KS)
    return listed({cell: of_cell(*cell) for cell in cells}, ["dataset", "method", "k"])


def with_ten_groups(cells: pd.DataFrame) -> pd.DataFrame:
    """`by_dataset` with ten groups as a table of text, one column per data set."""
    return wide_with_intervals(cells[cells["k"] == MID], ["method"], "dataset", ".2f").rename(columns=label)


def images_of(cells: pd.DataFrame) -> str:
    """How many images of each data set `by_dataset` has with ten groups, for a caption."""
    sizes = cells[cells["k"] == MID].groupby("dataset", sort=False)["n"].max()
    return ", ".join(f"{n:,} of {short(str(dataset))}" for dataset, n in sizes.items())


def maps_left_out(frame: pd.DataFrame) -> str:
    """The methods with maps without a SaCo among those with ten groups, and how many of their maps, in words."""
    maps = frame[(frame["k"] == MID) & frame["method"].isin([*METHODS, LAST])]
    lost = constant_maps(maps, ["method"]).to_dict("records")
    constant = [f"{short(row['method'])} {row['constant']:,} of {row['maps']:,}" for row in lost if row["constant"]]
    return "; ".join(constant) or "none"


# ---------------------------------------------------------------------------------------------------- the paper's text
@dataclass(frozen=True)
class PaperRun:
    """What the profile `paper` would run: its data sets, and its `architectures` by name."""

    datasets: int
    architectures: Mapping[str, Mapping[str, object]]

    @property
    def patch_size(self) -> float:
        """The width of a patch in pixels, NaN where architectures differ."""
        names = [str(architecture["name"]) for architecture in self.architectures.values()]
        found = {int(width) for name in names for width in re.findall(r"patch(\d+)", name)}
        return float(found.pop()) if len(found) == 1 else math.nan


def again(
    table1: pd.Series, orders: pd.Series, run: PaperRun, methods: Collection[str]
) -> dict[tuple[str, str], tuple[float, str]]:
    """What can be recomputed of the paper's text, by item and statistic ("": every one), and how.

    `table1`: published SaCo by method; `orders`: facts of all 120 orders of five drops (`saco_orders`); `methods`:
    those of our run.
    """
    known = set(methods)
    gain_last = 100 * (table1[LAST] / table1[RAW] - 1)
    gain_all = 100 * (table1[ALL] / table1[ROLLOUT] - 1)
    return {
        ("gain_from_gradient_single_layer", ""): (gain_last, ARITHMETIC),
        ("gain_from_gradient_cross_layer", ""): (gain_all, ARITHMETIC),
        ("saco_of_random_attribution", ""): (orders["mean"], ORDERS),
        ("probability_that_the_inequality_holds_for_random_attribution", ""): (orders["obeyed"], ORDERS),
        ("coefficient_range", "minimum"): (orders["lowest"], ORDERS),
        ("coefficient_range", "maximum"): (orders["highest"], ORDERS),
        ("number_of_pixel_subsets_case_study", ""): (float(MID), SET_UP),
        ("removal_step_of_existing_metrics", ""): (100 / MID, SET_UP),
        ("patch_size", ""): (run.patch_size, SET_UP),
        ("explanation_methods_compared", ""): (float(len(set(METHODS) & known)), RUN),
        ("datasets_compared", ""): (float(run.datasets), SET_UP),
        ("models_compared", ""): (float(len(run.architectures)), SET_UP),
        ("attention_variants_in_ablation", ""): (float(len({RAW, ROLLOUT, LAST, ALL} & known)), RUN),
    }


def text_again(recomputed: Mapping[tuple[str, str], tuple[float, str]]) -> pd.DataFrame:
    """Every number of the paper's text with its unit, what we get (`again`), how, and whether the two agree."""
    rows = []
    for printed in published.table("saco_text", text=True).to_dict("records"):
        item, statistic = printed["item"], printed["statistic"]
        whole = recomputed.get((item, ""), (math.nan, NOT_AGAIN))
        estimate, how = recomputed.get((item, statistic), whole)
        close = abs(estimate - printed["value"]) <= (0.5 if how == ARITHMETIC else 1e-9)
        agrees = "yes" if close else "no"
        rows.append(
            {
                "number": item.replace("_", " "),
                "which": statistic.replace("_", " "),
                "unit": printed["unit"],
                "published": printed["value"],
                "text": printed["text"],
                "estimate": estimate,
                "how": how,
                "agrees": "–" if math.isnan(estimate) else agrees,
            }
        )
    return pd.DataFrame(rows)


def numbers_of(text: pd.DataFrame) -> dict[str, SameNumber]:
    """saco_text: every number of the text that could be recomputed (`text_again`), next to the printed one."""
    numbers = {}
    for row in text[text["estimate"].notna()].to_dict("records"):
        numbers[f"{row['number']} {row['which']}".strip()] = SameNumber(float(row["estimate"]), row["text"])
    return numbers


def recomputed_in_words(text: pd.DataFrame) -> pd.DataFrame:
    """The recomputed numbers of the text (`text_again`) as they are shown."""
    rows = []
    for row in text[text["agrees"] != "–"].to_dict("records"):
        item, unit = row["number"].replace(" ", "_"), UNITS.get(row["unit"], "")
        name = WORDS_OF_ITEM.get(item, row["number"])
        end = {"minimum": ", lowest", "maximum": ", highest"}.get(row["which"], "")
        agrees = row["agrees"]
        if row["how"] in AS_SET and agrees == "yes":
            agrees = "by construction"
        rows.append(
            {
                "number": name + end,
                "published": written(row["published"], "g") + unit,
                "recomputed": written(round(row["estimate"], 4), ".4g") + unit,
                "from": WORDS_OF_HOW.get(row["how"], row["how"]),
                "agrees": agrees,
            }
        )
    return pd.DataFrame(rows)


def numbers_of_text_in_words(text: pd.DataFrame) -> str:
    """How many numbers of the text (`text_again`) were worked out, and how many are facts of the set-up."""
    counted = text[text["agrees"] != "–"]
    settings = counted["how"].isin(AS_SET).sum()
    return (
        f"Of these {len(counted)} numbers {len(counted) - settings} were worked out: from Table 1, or over all orders "
        f"that the drops of five groups can have. The other {settings} are facts of the set-up, which our run takes "
        "from the paper, so that they agree by construction."
    )


def statements_on_table2(printed: Mapping[tuple[int, str], float]) -> str:
    """Three statements of the text against the values of Table 2 (`printed`, by number of groups and method)."""
    few, many = KS[0], KS[-1]
    lost = {method: printed[few, method] - printed[many, method] for method in METHODS}
    shares = [lost[method] / abs(printed[few, method]) for method in METHODS if lost[method] > 0]
    steady = max(abs(lost[method]) for method in STEADY)
    as_small = [short(name) for name in METHODS if name not in STEADY and abs(lost[name]) < steady]
    below_raw = [
        f"{short(name)} is below it ({printed[few, name]:.3f} and {printed[few, RAW]:.3f})"
        for name in FAMILIES["attention"]
        if printed[few, name] < printed[few, RAW]
    ]
    return (
        f"- *The fall with more groups is slight*, says the paper. In its Table 2, {len(shares)} of the ten methods "
        f"fall from {few} to {many} groups, by {100 * min(shares):.0f} to {100 * max(shares):.0f} % of their value at "
        f"{few} groups.\n"
        f"- *Two methods hardly depend on the number of groups*, {_and(STEADY)}. They change by up to {steady:.3f}. "
        f"{' and '.join(as_small) or 'No other method'} changes as little, or less, and is not named in the paper.\n"
        f"- *Raw attention is the weakest of its family.* It is at {MID} groups; at {few} groups "
        f"{' and '.join(below_raw) or 'no method is below it'}."
    )


def _and(methods: Sequence[str]) -> str:
    return joined(map(short, methods))
