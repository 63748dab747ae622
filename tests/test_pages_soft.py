"""The pages of study 1 on synthetic results whose truth is known; what is counted of the comparison with random, and
how open choices name what was measured."""

from __future__ import annotations

import itertools
from itertools import product

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from store import Shown, Store, units_of

from faithbook.judge import published
from faithbook.sources import datasets
from faithbook.stats import comparison
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft import zhao_aletras_pipeline, zhao_aletras_tables
from faithbook.studies.soft.zhao_aletras_diagnosticity import (
    AFTER,
    BEFORE,
    FLIP,
    LIMIT,
    ONE_SIDED,
    OUTSIDE,
    SCORE,
    TIE,
    WIN,
)
from faithlib.errors import DataError, InputError, UnknownNameError

# --- Figure 1 and Table 4 --------------------------------------------------------------------------------------------

DATASETS = ("movie", "bbc", "section", "pair")


def examples(store: Store, *, soft: float, hard: float) -> Shown:
    """Scores of real attributions under soft and hard metrics, where random ones have .5; and two attributions of five
    tokens, equal under hard erasure and apart under soft."""
    level = {"soft_ns": soft, "soft_nc": soft, "ns": hard, "nc": hard}
    methods = ("deeplift", "input_x_gradient", "integrated_gradients", "random")
    means = {(metric, m): 0.5 if m == "random" else at for metric, at in level.items() for m in methods}
    for seed, dataset in enumerate(DATASETS):
        softly = {key: value for key, value in means.items() if key[0].startswith("soft")}
        hardly = {(*key, ratio): means[key] for key in means if key not in softly for ratio in (0.1, 0.5)}
        units = {"": units_of(softly, ("metric", "method"), seed=seed, spread=0.05)}
        units["lengths"] = units_of(hardly, ("metric", "method", "ratio"), seed=seed, spread=0.05)
        named = {"dataset": dataset, "model_seed": 0}
        tokens = [(m, i, f"t{i}", "i0", i) for m in methods for i in range(10)]
        read = pd.DataFrame(tokens, columns=["method", "position", "token", "input", "score"]).assign(**named)
        scores = pd.concat(units.values()).rename(columns={"id": "input"}).assign(**named)
        tables = {"soft_examples": read, "soft_scores": scores}
        store.add("soft_metrics", units, tables=tables, dataset=dataset)
    five = pd.DataFrame({"token": list("abcde"), "A": [1.0, 0.8, 0.3, 0.2, 0.0], "B": [0.4, 1.0, 0.1, 0.05, 0.0]})
    equal = pd.DataFrame([{"metric": m, "kept": k, "A": 0.4, "B": 0.4} for m in ("ns", "nc") for k in (2, 3, 4)])
    apart = pd.DataFrame({"metric": ["soft_ns", "soft_nc"], "A": 0.6, "B": 0.2, "gap": 0.4, "error": 0.01, "draws": 64})
    tables = {"soft_two_tokens": five, "soft_two_hard": equal, "soft_two_soft": apart}
    store.add("soft_two_attributions", tables=tables)
    return store.report("soft_examples")


@pytest.mark.parametrize(("soft", "hard"), [(0.9, 0.2), (0.2, 0.9)], ids=["true", "false"])
def test_examples_that_one_kind_of_erasure_wins_alone(store: Store, soft: float, hard: float) -> None:
    found = examples(store, soft=soft, hard=hard)
    # One kind wins on every text: nothing varies, so nothing is decided.
    found.decides(["soft_table4_examples"], "undecided", soft_figure1="nothing to test")
    shares = found.table("soft_table4_shares", "question", "metric", "dataset").estimate
    assert len(shares) == 3 * 2 * 5
    assert (shares["soft alone", "nc", "compared"], shares["hard alone", "ns", "movie"]) == (soft > hard, soft < hard)
    ours = found.table("soft_table4_ours")
    assert ours["Soft-NC"][ours.attribution != "random"].gt(0.6).all() == (soft > hard)


# --- Tables and figures ----------------------------------------------------------------------------------------------
FIVE = ("attention", "scaled_attention", "input_x_gradient", "integrated_gradients", "deeplift")
HARD, SOFT = ("nc", "ns"), ("soft_nc", "soft_ns")
LENGTHS = (0.01, 0.05, 0.1, 0.2, 0.5)
Shares = dict[tuple[str, str, str], float]


def scores(shares: Shares, dataset: str, *, n: int, seed: int = 0) -> pd.DataFrame:
    """Scores in which a method beats random ones on the given share of n inputs, nearly the same ones for all."""
    rng = np.random.default_rng(seed)
    ease = rng.random(n)
    frames = []
    for (metric, task, method), share in shares.items():
        if task == dataset:
            place = (ease + 0.3 * rng.random(n)).argsort().argsort()
            won = place < round(share * n)
            frames.append(pd.DataFrame({"metric": metric, "method": method, "value": np.where(won, 0.8, 0.2)}))
    frames += [pd.DataFrame({"metric": metric, "method": "random", "value": [0.5] * n}) for metric in (*HARD, *SOFT)]
    names = [f"i{i}" for i in range(n)]
    return pd.concat([frame.assign(id=names, cluster=names, seed=0) for frame in frames], ignore_index=True)


def at_lengths(found: pd.DataFrame, rise: float = 0.0) -> pd.DataFrame:
    """Hard scores at every length; all of them, the random ones too, rise by so much from each to the next."""
    hard = found[found.metric.isin(HARD)]
    return pd.concat([hard.assign(ratio=r, value=hard.value + rise * i) for i, r in enumerate(LENGTHS)])


def kept(store: Store, found: pd.DataFrame, *, rise: float = 0.0, **run: str) -> None:
    """What `soft_metrics` keeps of such scores of a model, which is less sure where methods win."""
    soft = found[found.metric.isin(SOFT)]
    once = soft.assign(metric=soft.metric + "_one_draw")
    sure = soft.assign(method="none", metric="p_full", value=1 - soft.groupby("id").value.transform("mean") / 2)
    parts = {"": pd.concat([soft, once, sure.drop_duplicates("id")]), "lengths": at_lengths(found, rise)}
    store.add("soft_metrics", parts, **run)


def study(store: Store, shares: Shares, *, n: int = 40, rise: float = 0.0) -> None:
    """What the two compute notebooks of study 1 keep, in a world of such diagnosticities."""
    for seed, dataset in enumerate(dict.fromkeys(task for _, task, _ in shares)):
        found = scores(shares, dataset, n=n, seed=seed)
        kept(store, found, rise=rise, dataset=dataset)
        if seed < 2:  # of the short texts
            ranks = found[found.metric.isin(SOFT)].assign(variant="normaliser=rank")
            exact = found[found.method == "deeplift"].assign(variant="deeplift=exact")
            variants = pd.concat([found.assign(variant="paper"), ranks, exact])
            store.add("soft_variants", {"variants": variants}, dataset=dataset)


# Of each metric what its methods have on average over tasks, DeepLIFT last.
TRUE = {
    "nc": (0.55, 0.55, 0.55, 0.55, 0.3),
    "ns": (0.34, 0.34, 0.34, 0.34, 0.14),
    "soft_nc": (0.68, 0.68, 0.68, 0.68, 0.78),
    "soft_ns": (0.55, 0.55, 0.55, 0.55, 0.55),
}
FALSE = {"nc": TRUE["soft_ns"], "ns": TRUE["soft_nc"], "soft_nc": TRUE["ns"], "soft_ns": TRUE["nc"]}


def world(methods: dict[str, tuple[float, ...]], *, tasks: float, names: tuple[str, ...] = DATASETS) -> Shares:
    """Diagnosticity of every cell; two tasks lie above the mean by so much, two below."""
    by_task = dict(zip(names, (-tasks, tasks, tasks, -tasks), strict=True))
    cells = itertools.product(methods, names, range(len(FIVE)))
    return {
        (metric, task, FIVE[i]): min(1.0, max(0.0, methods[metric][i] + by_task[task])) for metric, task, i in cells
    }


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], int]:
    """Data sets of four words a text, measured to be as large as these; nothing else was measured or is on a card."""
    sizes: dict[tuple[str, str], int] = {}

    def measured(name: str) -> pd.DataFrame:
        rows = {split: size for (dataset, split), size in sizes.items() if dataset == name}
        facts = pd.DataFrame({"texts": pd.Series(rows, dtype=float)})
        return facts.assign(words=4.0, classes=2.0, max_length=64.0)

    monkeypatch.setattr(zhao_aletras_tables, "_measured", measured)
    monkeypatch.setattr(zhao_aletras_tables, "cards", pd.DataFrame)
    return sizes


def test_table_1_is_the_same_wherever_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words and sizes are committed, F1 is on the cards: no data is opened."""

    def nothing(name: str, split: str, *, sample: str) -> datasets.Dataset:
        raise DataError(f"{name}, {split}: nothing is opened")

    monkeypatch.setattr(datasets, "load_dataset", nothing)
    table, sizes = zhao_aletras_tables.data_and_classifiers(["sst", "ag"], [])
    rows = table.set_index(["dataset", "model"])
    assert set(rows.loc["sst"]["words per text"]) == {"18 (18)"}
    assert set(rows.loc["ag"]["words per text"]) == {"38 (36)"}
    assert (rows["F1 ± deviation"].str.contains(r"\(9\d\.\d ± ")).all() and len(rows) == 4
    assert [sizes["sst", split] for split in ("train", "dev", "test")] == [6920, 872, 1821]
    assert sizes["ag", "train"] == 4000


@pytest.mark.parametrize(("accuracy", "answer"), [(0.60, "learnable to this degree"), (0.40, "was not learnable")])
def test_what_a_training_came_to_is_held_against_the_most_frequent_class(
    accuracy: float, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = {"checkpoint": "text/evinf-seed0", "dataset": "evinf", "train_size": 2964, "test_size": 720}
    reached = {"accuracy": accuracy, "majority_accuracy": 0.39, "macro_f1": 0.55, "majority_macro_f1": 0.19}
    known = pd.DataFrame([card | reached | {"dev_loss": [1.0, 0.9]}])
    monkeypatch.setattr(zhao_aletras_tables, "cards", lambda: known)
    words = zhao_aletras_tables.tried_in_words("text/evinf-seed0")
    assert answer in words
    assert "2,964 texts to learn from, 2 epochs, 720 test texts" in words
    half = 1.96 * np.sqrt(accuracy * (1 - accuracy) / 720)
    low, high = (float(end) for end in words.partition("[")[2].partition("]")[0].split(", "))
    assert [low, high] == pytest.approx([100 * (accuracy - half), 100 * (accuracy + half)], abs=0.2)
    assert zhao_aletras_tables.tried_in_words("text/multirc-seed0") == ""


@pytest.mark.parametrize("name", ["sst", "ag", "movie", "bbc"])
def test_measured_lengths_are_those_of_the_data_where_it_lies(name: str) -> None:
    """`faithbook.sources.text_lengths` made the table."""
    known = published.our_table("text_lengths").set_index(["dataset", "split"])
    try:
        data = datasets.load_dataset(name, "test", sample="all")
    except (DataError, InputError):
        pytest.skip(f"{name} is not on this machine")
    words = [len(text.split()) for text in data.texts]
    told = known.loc[(name, "test")]
    assert (len(words), f"{np.mean(words):.3f}") == (int(told.texts), told.words)


TABLES = ("soft_table2", "soft_table3", "soft_table6", *(f"soft_c0{i}" for i in (1, 2, 4, 5, 6, 9)))
NAMED = ("soft_table1", "soft_c03", "soft_c07", "soft_c08")
WORLDS = {"reproduced": world(TRUE, tasks=0.2), "not reproduced": world(FALSE, tasks=0.0)}


@pytest.mark.usefixtures("splits")
@pytest.mark.parametrize("answer", WORLDS)
def test_the_tables_of_a_world_in_which_soft_does_better_or_worse(store: Store, answer: str) -> None:
    study(store, WORLDS[answer], n=64)
    found = store.report("soft_tables") if answer == "reproduced" else store.judge("soft_tables")
    # The data is not on this machine: what names a data set of theirs is not tested. That both comprehensiveness
    # versions beat both sufficiency versions is false in the paper's own numbers.
    found.decides(
        TABLES, answer, soft_c04="not reproduced", **dict.fromkeys(NAMED, "not tested"), soft_table5="nothing to test"
    )
    told = found.verdicts
    assert set(told.evidence) - {""} == {"substitute data, our models"}
    assert (told.specifications["soft_c01"], told.specifications["soft_c02"]) == (7, 10)
    if answer == "not reproduced":
        return
    table = found.table("soft_table6", "dataset", "method", "metric")
    assert len(table) == 80 and table.n.eq(64).all()
    average = found.table("soft_table2", "metric", "method").loc[("nc", "average")]
    assert average.published == 0.394
    assert told.contradicted["soft_c03"] == 2
    assert table.estimate["bbc", "attention", "soft_nc"] == pytest.approx(0.88, abs=0.01)
    assert average.estimate == pytest.approx(0.5, abs=0.02)


THEIRS = ("sst", "ag", "evinf", "multirc")


def test_claims_about_named_data_sets_are_judged_on_those(store: Store, splits: dict[tuple[str, str], int]) -> None:
    printed = published.table("soft_table1")
    sizes = printed[printed.metric == "size"]
    splits.update({(row.dataset, row.split): int(row.value) for row in sizes.itertuples()})
    shares = dict.fromkeys(itertools.product((*HARD, *SOFT), THEIRS, FIVE), 0.5)
    for method in FIVE:
        shares["soft_nc", "ag", method], shares["nc", "ag", method] = 0.75, 0.95
        shares["soft_ns", "ag", method], shares["ns", "multirc", method] = 0.25, 0.8
    study(store, shares, n=64)
    found = store.judge("soft_tables")
    found.decides(["soft_c03", "soft_c08", "soft_table1"], "reproduced")
    assert found.verdicts.evidence["soft_c03"] == "paper's data, our models"
    data = found.names["table1"].set_index("dataset")
    of_each_model = set(data.loc[["ag"], ["words per text", "classes", "train"]].itertuples(index=False, name=None))
    assert of_each_model == {("4 (36)", "2 (4)", "102,000 (102,000)")}


def cells_of(found: Shown, name: str, *index: str) -> pd.DataFrame:
    """The cells of one of the page's tables, as the page hands them to `page.table`, without the table."""
    rows = found.names["compared"].printed(name)
    pairs = [found.names["compared"].cell(row) for row in rows.to_dict("records")]
    values = {
        "published": [pair.published for pair in pairs],
        "estimate": [pair.ours.point for pair in pairs],
        "n": [pair.ours.n for pair in pairs],
    }
    return rows[[*index, "model"]].assign(**values).set_index([*index])


def test_averages_are_compared_with_the_published_ones_of_the_same_data_sets(store: Store) -> None:
    """Our average over two data sets stood beside the paper's over four, with arrows."""
    shares = {key: share for key, share in world(FALSE, tasks=0.0, names=THEIRS).items() if key[1] in ("sst", "ag")}
    study(store, shares, n=64)
    found = store.judge("soft_tables")
    by_method = cells_of(found, "soft_table2", "metric", "method").published
    by_task = cells_of(found, "soft_table3", "metric", "dataset").published
    for metric, value in {"nc": 0.412, "soft_nc": 0.540, "ns": 0.385, "soft_ns": 0.381}.items():
        assert [by_method[metric, "average"], by_task[metric, "average"]] == pytest.approx([value] * 2, abs=6e-4)
    assert by_task["nc", "sst"] == 0.409  # a single cell as it is printed
    # Of 18 averages 14 are left; on these the paper's own numbers have 10, and ours none.
    found.decides(["soft_c02"], "not reproduced")
    assert "10 are required, as many as hold in the paper's own numbers" in found.verdicts.reason["soft_c02"]


def test_claims_about_named_data_sets_can_be_wrong_and_stand_ins_stand_after_the_papers_own_data(
    store: Store, splits: dict[tuple[str, str], int]
) -> None:
    splits["sst", "test"] = 1
    study(store, world(TRUE, tasks=0.2, names=THEIRS) | world(FALSE, tasks=0.0), n=64)
    found = store.judge("soft_tables", "soft_tables_stand_ins")
    # Of the four tasks, which are all there, the seventh claim is true; of the substitutes the first would be false.
    answers = {"soft_c01": "reproduced", "soft_c07": "reproduced"}
    found.decides(["soft_c03", "soft_c08", "soft_table1"], "not reproduced", **answers)
    assert found.verdicts.evidence["soft_c01"] == "paper's data, our models"
    others = found.table("soft_tables_stand_ins", "dataset", "metric")
    assert len(others) == 16 and others.n.eq(64).all()
    assert others.loc[("movie", "soft_nc"), "stands for"] == "sst"
    assert others.estimate["movie", "soft_nc"] < others.estimate["movie", "nc"]
    printed = published.table("soft_table3").set_index(["dataset", "metric"]).value
    assert others.published["pair", "nc"] == pytest.approx(printed["multirc", "nc"], abs=0.01)


@pytest.mark.parametrize(("answer", "rise"), [("reproduced", 0.05), ("not reproduced", -0.05)])
def test_the_figures_of_a_world_in_which_scores_rise_or_fall(store: Store, answer: str, rise: float) -> None:
    study(store, WORLDS[answer], n=40, rise=rise)
    found = store.report("soft_figures") if rise > 0 else store.judge("soft_figures")
    found.decides(["soft_figure2", "soft_figure3", "soft_c10", "soft_c11"], answer)
    assert found.verdicts.specifications["soft_c11"] == 10
    if rise < 0:
        return
    slopes = found.table("soft_figure2_slopes")
    assert slopes["minus that of random"].abs().max() < 1e-6  # all rise alike: the claim is hollow here
    curves = found.table("soft_figure2", "dataset", "metric", "method", "ratio").estimate
    assert curves["movie", "nc", "random", 0.5] - curves["movie", "nc", "random", 0.01] == pytest.approx(4 * rise)


def test_rows_that_are_nearly_one_come_first() -> None:
    """Of three methods the printed first two are one; ours has two methods on one data set, or nothing."""
    printed = {("sst", "nc", "a"): 0.4, ("sst", "nc", "b"): 0.41, ("sst", "nc", "c"): 0.6}
    printed |= {("ag", "nc", name): value for name, value in (("a", 0.5), ("b", 0.53), ("c", 0.2))}
    apart = zhao_aletras_pipeline.rows_apart(printed, {("sst", "nc", "a"): 0.7, ("sst", "nc", "b"): 0.5})
    assert apart[["one", "other"]].iloc[0].tolist() == ["a", "b"]
    assert apart["printed, mean"].iloc[0] == pytest.approx(0.02)
    assert apart["printed, most"].iloc[0] == pytest.approx(0.03)
    assert apart["ours, mean"].iloc[0] == pytest.approx(0.2)
    assert apart["ours, mean"].iloc[1:].isna().all()
    assert zhao_aletras_pipeline.rows_apart(printed, {})["ours, mean"].isna().all()


# ---------------------------------------------------------------------------------------------- comparisons with random
KEYS = {"dataset": "d", "seed": 0, "cluster": "c"}


def unit(metric: str, method: str, value: float, *, id: str = "a", **more: object) -> dict[str, object]:
    return KEYS | {"id": id, "metric": metric, "method": method, "value": value, **more}


def test_hard_scores_are_averaged_over_lengths_and_kept_at_each() -> None:
    rows = [unit("nc", "m", value, id=name, ratio=ratio) for name, ratio, value in
            (("a", 0.1, 0.2), ("a", 0.5, 0.6), ("b", 0.1, 0.3), ("b", 0.5, np.nan))]  # fmt: skip
    rows.append(unit("soft_nc", "m", 0.9, ratio=np.nan))
    found = diagnosticity.with_lengths(pd.DataFrame(rows)).set_index(["metric", "id"]).value
    assert found["nc", "a"] == pytest.approx(0.4)
    assert np.isnan(found["nc", "b"])
    assert found[diagnosticity.at_length("nc", 0.1), "b"] == 0.3
    assert found["soft_nc", "a"] == 0.9


@pytest.mark.parametrize(
    ("metric", "real", "random", "expected"),
    [
        ("nc", 0.4, 0.1, [1, 0, 0]),
        ("nc", 0.1, 0.4, [0, 0, 0]),
        ("nc", 0.3, 0.3, [0, 1, 0]),
        ("nc", 0.0, 0.0, [0, 1, 1]),
        ("ns", 1.0, 1.0, [0, 1, 1]),
        ("soft_ns", 0.0, 0.0, [0, 1, 0]),
        ("soft_nc at 5 %", 0.0, 0.0, [0, 1, 1]),
        ("nc", np.nan, 0.1, [np.nan] * 3),
    ],
)
def test_wins_ties_and_ties_at_the_limit(metric: str, real: float, random: float, expected: list[float]) -> None:
    found = diagnosticity.counted(pd.DataFrame([unit(metric, "m", real), unit(metric, "random", random)]))
    counts = found.set_index("shows").value[[WIN, TIE, LIMIT]]
    assert counts.tolist() == pytest.approx(expected, nan_ok=True)


def test_a_change_is_the_difference_of_the_two_values_beside_it() -> None:
    """Means over other inputs on either side gave .517 and .527 beside a change of 0."""
    values = {"a": (0.9, 0.2), "b": (0.1, 5.0), "c": (0.8, np.nan)}
    rows = [unit("nc", "m", value, id=name, variant=variant) for name, both in values.items()
            for variant, value in zip(("paper", "baseline=pad"), both, strict=True)]  # fmt: skip
    rows += [unit("nc", "random", 0.5, id=name, variant="paper") for name in values]
    found = diagnosticity.beside_base(diagnosticity.completed(pd.DataFrame(rows)))
    by = found.pivot(index="id", columns="shows", values="value")
    assert by[BEFORE].mean() == 0.5
    assert by[AFTER].mean() == 0.5
    assert by[FLIP].dropna().tolist() == [1.0, 1.0]
    assert by[ONE_SIDED].tolist() == [0.0, 0.0, 1.0]
    assert by[SCORE].dropna().tolist() == pytest.approx([-0.7, 0.9])  # limited to [0, 1]
    assert by[OUTSIDE].sum() == 0


def test_one_draw_flips_where_it_puts_the_other_ahead() -> None:
    rows = [unit("soft_nc", "random", 0.5), unit("soft_nc_one_draw", "random", 0.5)]
    rows += [unit("soft_nc", name, 0.6) for name in ("m", "o")]
    rows += [unit("soft_nc_one_draw", "m", 0.4), unit("soft_nc_one_draw", "o", 0.7)]
    found = diagnosticity.one_draw_flips(diagnosticity.counted(pd.DataFrame(rows)))
    assert found.set_index("method").value.to_dict() == {"m": 1.0, "o": 0.0}
    assert set(found.metric) == {"soft_nc"}


def test_a_reading_counts_ties_and_compares_each_soft_metric_with_its_hard_one() -> None:
    shares = {("nc", WIN): 0.25, ("nc", TIE): 0.5, ("soft_nc", WIN): 0.75, ("soft_nc", TIE): 0.0}
    shares |= {("nc at 5 %", WIN): 1.0, ("soft_nc_one_draw", WIN): 0.0, ("soft_nc_one_draw", TIE): 1.0}
    rows = [(i, *key, float(i < 40 * share)) for key, share in shares.items() for i in range(40)]
    frame = pd.DataFrame(rows, columns=["id", "metric", "shows", "value"])
    cells = Conditions.of(frame, over=["metric", "shows"], unit="id", n_resamples=99)

    def of(metric: str, shows: str = WIN) -> Comparison:
        return Comparison(cells.mean(metric=metric, shows=shows))

    read = {key: one.gains(of, ["nc"])["Soft-NC minus NC"].ours.point for key, one in
            diagnosticity.readings((0.05,)).items()}  # fmt: skip
    assert read == {
        ("all", "several", "no win"): 0.5,
        ("5 % alone", "several", "no win"): -0.25,
        ("all", "several", "half a win"): 0.25,
        ("all", "several", "wins"): 0.0,
        ("all", "one", "no win"): -0.25,
        ("all", "one", "wins"): 0.25,
    }


def test_a_score_of_one_for_every_token_is_perfect_where_it_is_defined_and_ranks_are_of_real_ones_alone() -> None:
    texts = {"a": (0.9, 0.1), "b": (0.1, 0.1)}
    facts = [
        unit(name, "none", p, id=i)
        for i, both in texts.items()
        for name, p in zip(("p_full", "p_empty"), both, strict=True)
    ]
    ideal = diagnosticity.everything(pd.DataFrame(facts)).set_index(["metric", "id"]).value
    assert [ideal["soft_ns", "a"], ideal["soft_nc", "a"]] == [1, 1] and ideal.isna().sum() == 2
    rows = [unit("soft_nc", method, value, variant=name) for value, (method, name) in
            enumerate(product(("m", "random"), ("paper", "normaliser=rank")))]  # fmt: skip
    assert diagnosticity.real_on_ranks(pd.DataFrame(rows)).value.tolist() == [1, 2]


# --- the variance between means --------------------------------------------------------------------------------------
def noisy(means: list[float], *, n: int, seed: int) -> list[Comparison]:
    rng = np.random.default_rng(seed)
    values = np.array(means) + rng.normal(0, 0.4, (n, len(means)))
    frame = pd.DataFrame(values).melt(var_name="m", value_name="value", ignore_index=False).reset_index(names="id")
    cells = Conditions.of(frame, over=["m"], unit="id", n_resamples=199)
    return [Comparison(cells.mean(m=m)) for m in range(len(means))]


def test_noise_is_taken_out_of_the_variance_between_means() -> None:
    """The plain variance of five equal means is .4 ** 2 / 40 * 4 / 5 = .0032 on average."""
    equal = [noisy([0.5] * 5, n=40, seed=seed) for seed in range(40)]
    found = [comparison.variance_between(of).ours for of in equal]
    plain = np.mean([np.var([pair.ours.point for pair in of]) for of in equal])
    assert plain == pytest.approx(0.0032, abs=0.001)
    assert np.mean([estimate.point for estimate in found]) == pytest.approx(0, abs=0.0007)
    apart = comparison.variance_between(noisy([0.1, 0.3, 0.5, 0.7, 0.9], n=400, seed=0)).ours
    assert apart.point == pytest.approx(0.08, abs=0.01)
    assert apart.p_above() < 1e-6


def test_the_published_variance_is_that_of_the_printed_values() -> None:
    of = [Comparison(pair.ours, value) for pair, value in zip(noisy([0.0, 0.0], n=20, seed=0), (0.2, 0.4), strict=True)]
    assert comparison.variance_between(of).published == pytest.approx(0.01)
    refused(InputError, "no quantities", comparison.variance_between, [])
    refused(InputError, "lengths", diagnosticity.with_lengths, pd.DataFrame([unit("soft_nc", "m", 0.9, ratio=np.nan)]))
    other = pd.DataFrame([unit("nc", "m", 0.7, variant="other")])
    refused(UnknownNameError, "paper", diagnosticity.completed, other)
