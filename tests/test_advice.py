"""The sentence of a report agrees with the stars; its dot plot is well-formed, read out, escaped, without a script."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import report_picture
from browser import browser
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_models import text_model, tokenizer

from faithlib import evaluate
from faithlib.catalogue import METRICS, OF_SCORES_ALONE
from faithlib.evaluation._advice import ENOUGH, sentence_of
from faithlib.evaluation.summary import COLUMNS, Table

METHODS = ("lime", "saliency", "occlusion")


def drawn(seed: int, n: int, better: dict[str, float], metrics: tuple[str, ...]) -> Table:
    """Values of random, and of methods that are better than it by so much on every metric (worse where negative)."""
    generator = np.random.default_rng(seed)
    rows = []
    for metric in metrics:
        sign = 1 if METRICS[metric] == "higher" else -1
        for b in range(n):
            base = generator.normal(0, 3)
            rows.append((b, "random", metric, base, METRICS[metric]))
            for method, added in better.items():
                rows.append((b, method, metric, base + sign * added + generator.normal(0, 0.1), METRICS[metric]))
    table = Table(rows, columns=COLUMNS)
    table.kind = "text"
    return table


def compared(verdicts: dict[str, str], n: int = 40) -> pd.DataFrame:
    """Comparisons from a letter per metric and method: + better, - worse, . neither."""
    word = {"+": "better", "-": "worse", ".": ""}
    rows = [
        {"metric": f"metric_{place}", "method": method, "n": n, "against_random": word[letter]}
        for method, letters in verdicts.items()
        for place, letter in enumerate(letters)
    ]
    return pd.DataFrame(rows, columns=["metric", "method", "n", "against_random"])


# ------------------------------------------------------------------------------------------------------------- sentence
@pytest.mark.parametrize(
    ("verdicts", "n", "sentence"),
    [
        (
            {"lime": "++.", "saliency": "..."},
            40,
            "With these 40 texts only lime is better than random, on 2 of 3 metrics.",
        ),
        ({"lime": "++."}, 40, "With these 40 texts lime is better than random on 2 of 3 metrics."),
        ({"lime": "+"}, 40, "With these 40 texts lime is better than random on metric_0."),
        (
            {"lime": "+..", "saliency": "...", "occlusion": "+++"},
            4,
            "With these 4 texts 2 of 3 methods are better than random: occlusion on 3 and lime on 1 of 3 metrics.",
        ),
        (
            {"lime": "++", "saliency": "+."},
            40,
            "With these 40 texts both methods are better than random: lime on 2 and saliency on 1 of 2 metrics.",
        ),
        ({"lime": "++", "b": "++"}, 40, "With these 40 texts both methods are better than random on both metrics."),
        (
            {"a": "+++", "b": "+++", "c": "+++"},
            9,
            "With these 9 texts all 3 methods are better than random on all 3 metrics.",
        ),
        (
            {"a": "+", "b": "+", "c": "+"},
            40,
            "With these 40 texts all 3 methods are better than random on metric_0: a, b and c.",
        ),
        ({"lime": "..", "b": ".."}, 40, "With these 40 texts no method is better than random on any of 2 metrics."),
        ({"lime": ".."}, 40, "With these 40 texts lime is not better than random on any of 2 metrics."),
        (
            {"lime": "+-", "saliency": "--"},
            3,
            "With these 3 texts only lime is better than random, on 1 of 2 metrics; "
            "worse than random: saliency on 2 and lime on 1.",
        ),
        (
            {"lime": ".", "saliency": "-"},
            3,
            "With these 3 texts no method is better than random on metric_0; worse than random: saliency.",
        ),
        ({"lime": "..", "saliency": ".."}, 3, "3 texts: too few to distinguish any method from random."),
        ({"lime": "."}, 1, "1 text: too few to distinguish any method from random."),
    ],
)
def test_the_sentence_says_what_the_comparisons_say(verdicts: dict[str, str], n: int, sentence: str) -> None:
    assert sentence_of(compared(verdicts, n), [*verdicts, "random"], n, "text") == sentence


def test_the_sentence_says_why_nothing_can_be_compared() -> None:
    none = compared({})
    assert "random is not among the methods. Add 'random'." in sentence_of(none, ["lime"], 40)
    assert "no method to compare" in sentence_of(none, ["random"], 40)
    assert sentence_of(none, ["lime", "random"], 40, "image").startswith(
        "With 40 images no method has a metric in common"
    )
    few = sentence_of(compared({"lime": "."}, 2), ["lime", "random"], 40, "image")
    assert few == "Comparable values on only 2 of 40 images: too few to distinguish any method from random."
    many = sentence_of(compared({"lime": "."}, ENOUGH), ["lime", "random"], ENOUGH)
    assert many == f"With these {ENOUGH} inputs lime is not better than random on metric_0."


def test_metrics_of_the_scores_alone_are_starred_and_not_counted() -> None:
    """Scores that are less spread than random ones are no better explanations for it."""
    assert set(OF_SCORES_ALONE) == {"complexity", "sparseness"}
    table = drawn(0, 12, {"lime": 0.2}, ("complexity", "sparseness", "saco"))
    saco = table["metric"] == "saco"
    table.loc[saco & (table["method"] == "lime"), "value"] = table.loc[
        saco & (table["method"] == "random"), "value"
    ].to_numpy()
    summary = table.summary()
    assert [cell[-1] == "*" for cell in summary["lime"]] == [False, True, True], "saco comes first"
    assert summary.sentence == "With these 12 texts lime is not better than random on saco."
    assert "Not counted in the first sentence: complexity, sparseness" in str(summary)
    alone = table[~saco].summary()
    assert alone.sentence.startswith("These metrics describe the scores alone")
    assert "Not counted" not in str(table[saco].summary())


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 14),
    better=st.dictionaries(st.sampled_from(METHODS), st.sampled_from([-0.2, -0.05, 0.0, 0.05, 0.2]), min_size=1),
    metrics=st.sets(st.sampled_from(sorted(METRICS)), min_size=1, max_size=3).map(lambda names: tuple(sorted(names))),
)
def test_sentence_stars_and_filled_marks_agree(seed, n, better, metrics) -> None:
    table = drawn(seed, n, better, metrics)
    summary = table.summary()
    counted = [metric for metric in metrics if metric not in OF_SCORES_ALONE]
    judged = summary[[label.split()[0] in counted for label in summary.index]]
    starred = {method: sum(cell.endswith("*") for cell in judged[method]) for method in better}
    marked = sum(cell.endswith("!") for method in better for cell in judged[method])
    best, _, worst = summary.sentence.partition("; worse than random: ")
    assert bool(worst) == bool(marked)
    winners = {method for method, stars in starred.items() if stars}
    claims = "better than random" in best and not re.search(r"no method is|is not better", best)
    assert claims == bool(winners)
    if winners:
        assert {method for method in better if re.search(rf"\b{method}\b", best)} == winners
        if len(counted) > 1 and len(winners) > 1:
            assert all(f"{method} on {starred[method]}" in best for method in winners)
        elif len(counted) > 1:
            assert f"on {sum(starred.values())} of {len(counted)} metrics" in best
    if "too few" in summary.sentence:
        assert n < ENOUGH and not winners and not marked
    html = table.to_html()
    assert html.count('<g class="filled') == sum(cell[-1] in "*!" for method in better for cell in summary[method])
    assert html.count('<g class="') - html.count('<g class="sample') == (len(better) * len(metrics) if n > 1 else 0)


def test_differences_are_turned_and_scaled_by_their_spread() -> None:
    table = drawn(0, 12, {"lime": 0.2, "saliency": -0.2}, ("saco", "aopc_lerf"))
    found = table.differences()
    assert list(found["against_random"]) == ["better", "worse"] * 2, "higher is better throughout"
    for metric, rows in found.groupby("metric"):
        wide = pd.DataFrame(table)[table["metric"] == metric].pivot(index="input", columns="method", values="value")
        turn = 1 if METRICS[str(metric)] == "higher" else -1
        apart = turn * wide[["lime", "saliency"]].sub(wide["random"], axis=0)
        assert rows["mean"].tolist() == pytest.approx(apart.mean().tolist())
        scale = np.sqrt((apart.std() ** 2).mean())
        assert rows["effect_high"].tolist() == pytest.approx((rows["high"] / scale).tolist())
    assert table[table["method"] != "random"].differences().empty


def test_the_sentence_is_printed_first_and_is_the_same_on_the_page() -> None:
    table = drawn(0, 12, {"lime": 0.2, "saliency": 0.0}, ("saco", "aopc_lerf"))
    summary = table.summary()
    printed = str(summary).partition("\n\n")[0]  # lines as wide as the table below them
    assert " ".join(printed.split()) == summary.sentence
    page = table.to_html()
    assert page.index(summary.sentence) < page.index("<svg") < page.index("<table")
    assert summary.sentence in summary._repr_html_()
    assert "<svg" not in table[table["method"] != "random"].to_html(), "nothing to compare with"


# ------------------------------------------------------------------------------------------------------------- the plot
def svg_of(page: str) -> ET.Element:
    (found,) = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    return ET.fromstring(found)


def test_the_plot_is_well_formed_and_read_out() -> None:
    table = drawn(0, 12, {"lime": 0.2, "saliency": 0.0}, ("saco", "aopc_lerf"))
    page = table.to_html()
    svg = svg_of(page)
    title, told = svg.find("title"), svg.find("desc")
    assert title is not None and told is not None and title.text
    assert svg.get("role") == "img" and svg.get("aria-labelledby") == f"{title.get('id')} {told.get('id')}"
    for row in table.differences().itertuples():
        assert f"{row.metric}, {row.method}: {row.mean:.3g} ({row.low:.3g} to {row.high:.3g}, n = 12)" in (
            told.text or ""
        )
    assert "<script" not in page and "prefers-color-scheme" in page and "@media print" in page


def test_names_in_the_plot_are_escaped() -> None:
    name = "</text><script>alert(1)</script> & \x07 \"'"
    table = drawn(0, 12, {"lime": 0.2}, ("saco",)).replace({"method": {"lime": name}, "metric": {"saco": "<b>own</b>"}})
    page = table.to_html()
    svg = svg_of(page)
    assert "<script" not in page and "<b>" not in page
    assert "<script>alert(1)</script> & \ufffd" in (svg.findtext("desc") or "")


def test_constant_differences_are_drawn_at_the_edge() -> None:
    rows = [(b, name, "saco", value, "higher") for b in range(3) for name, value in (("a", 1.0), ("random", 0.0))]
    table = Table(rows, columns=COLUMNS)
    assert table.differences()["effect"].tolist() == [np.inf]
    svg = svg_of(table.to_html())
    numbers = [float(number) for tag in svg.iter() for key in ("x", "x1", "x2", "cx") if (number := tag.get(key))]
    assert all(0 <= number <= 360 for number in numbers)


@pytest.mark.browser
def test_the_page_fits_a_phone_and_one_sheet_of_paper(tmp_path) -> None:
    """All metrics by default of 14 texts: of a function, of a classifier, and with what people marked."""
    texts = ["a fine film, not bad", "who is it", "film", *(f"a fine film {'not ' * i}bad" for i in range(11))]
    five = ["saliency", "input_x_gradient", "integrated_gradients", "lime", "random"]
    classifier = {"model": text_model("bert", classes=2), "inputs": texts, "tokenizer": tokenizer(), "methods": five}
    erasing = ["lime", "occlusion", "shapley_sampling", "uniform", "random"]
    function = {"model": report_picture.model, "inputs": report_picture.sentences(14), "methods": erasing}
    gold = [[(0, 1)]] * len(texts)
    with browser() as window:
        for name, given in (("function", function), ("plain", classifier), ("gold", {**classifier, "gold": gold})):
            evaluate(**given).to_html(tmp_path / f"{name}.html")
            window.open((tmp_path / f"{name}.html").as_uri(), width=390, height=844)
            assert window.evaluate("document.documentElement.scrollWidth") <= 390, name
            for paper in ("A4", "Letter"):
                sheets = window.page.pdf(format=paper)
                assert len(re.findall(rb"/Type\s*/Page\b", sheets)) == 1, (name, paper)
