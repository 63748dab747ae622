"""The table sums itself up: intervals against scipy, arrows, notes; it stays a DataFrame; its page is safe, offline."""

from __future__ import annotations

import base64
import html.parser
import io
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import torch
from browser import browser
from flat import evaluate
from PIL import Image
from refusals import refused
from scipy import stats
from toy_models import answers, image_inputs, text_model, tokenizer, vision_model

from faithlib.catalogue import MEANINGS, METRICS
from faithlib.errors import InputError
from faithlib.evaluation import RunSettings
from faithlib.evaluation.summary import COLUMNS, Table

TEXTS = ["a fine film, not bad", "it is bad at all", "who is it", "not <b>bad</b> & fine"]


@pytest.fixture(scope="module")
def table() -> Table:
    methods = ["saliency", "random", "occlusion"]
    return evaluate(text_model("bert"), TEXTS, tokenizer=tokenizer(), methods=methods, metrics=["saco", "aopc_lerf"])


def made(values: dict[str, list[float]], metric: str = "aopc_morf") -> Table:
    rows = [(b, name, metric, value, METRICS[metric]) for name, own in values.items() for b, value in enumerate(own)]
    return Table(rows, columns=COLUMNS)


# -------------------------------------------------------------------------------------------------------------- numbers
@pytest.mark.filterwarnings("ignore:Precision loss")  # of scipy's, where all values are nearly the same
def test_intervals_are_those_of_scipy(table) -> None:
    for row in table.intervals().itertuples():
        values = table[(table.metric == row.metric) & (table.method == row.method)].value.dropna()
        low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
        assert (row.mean, row.low, row.high, row.n) == pytest.approx((values.mean(), low, high, len(values)))


def test_undefined_values_are_left_out_and_counted_and_digits_follow_the_interval() -> None:
    intervals = made({"lime": [0.2, np.nan, 0.4], "none": [np.nan] * 3, "one": [0.5, np.nan, np.nan]}).intervals()
    assert intervals.n.tolist() == [2, 0, 1] and intervals.undefined.tolist() == [1, 3, 2]
    assert intervals["mean"].tolist() == pytest.approx([0.3, np.nan, 0.5], nan_ok=True)
    assert intervals.low.isna().tolist() == [False, True, True]
    for values, cell in (
        ([np.nan, np.nan], "undefined"),
        ([0.501, 0.502, 0.503], "0.5020 ± 0.0025"),
        ([10.0, 20.0, 30.0], "20.0 ± 24.8"),
        ([0.5], "0.500"),  # one input has no interval
    ):
        assert made({"a": values, "b": [1.0] * len(values)}).summary().loc["aopc_morf ↑", "a"] == cell
    tiny = made({"a": [1e-6, 2e-6, 3e-6], "b": [1e-6] * 3}).summary()
    assert tiny.loc["aopc_morf ↑", "a"] == "2.0e-06 ± 2.5e-06", "which four decimals would show as 0"


@pytest.mark.parametrize(
    ("metric", "added", "expected"),
    [
        ("aopc_morf", 0.2, "better"),
        ("aopc_morf", -0.2, "worse"),
        ("aopc_lerf", 0.2, "worse"),
        ("aopc_lerf", -0.2, "better"),
    ],
)
def test_methods_are_compared_with_random_on_the_same_inputs(metric: str, added: float, expected: str) -> None:
    drawn = np.random.default_rng(0)
    base = drawn.normal(0, 5, 20)  # spread over inputs hides nothing from differences on the same inputs
    against = made({"random": list(base), "mine": list(base + added + drawn.normal(0, 0.1, 20))}, metric).intervals()
    assert against.set_index("method").against_random.tolist() == ["", expected]
    nothing = made({"random": list(base), "mine": list(base + drawn.normal(0, 0.1, 20))}, metric).intervals()
    assert nothing.against_random.tolist() == ["", ""]


def test_random_is_worse_than_random_about_as_often_as_the_level_says() -> None:
    drawn = np.random.default_rng(1)
    marks = [
        made({"random": list(drawn.normal(size=12)), "mine": list(drawn.normal(size=12))}).intervals().against_random[1]
        for _ in range(150)
    ]
    assert 0.02 < np.mean([mark != "" for mark in marks]) < 0.09


# -------------------------------------------------------------------------------------------------------------- printed
def test_a_summary_is_printed_with_what_it_needs_wrapped_to_the_terminal(table, monkeypatch) -> None:
    summary = table.summary()
    assert list(summary.columns) == ["n", "saliency", "occlusion", "random"], "random is last"
    assert list(summary.index) == ["aopc_lerf ↓", "saco ↑"]
    for cell in summary.drop(columns="n").to_numpy().ravel():
        assert re.fullmatch(r"-?\d+\.\d+ ± \d+\.\d+[*!]?", cell) and cell in str(summary)
    monkeypatch.setenv("COLUMNS", "80")
    printed = str(made({f"a_method_with_a_name_{i}": [0.1, 0.2, 0.4] for i in range(6)}).summary())
    assert max(map(len, printed.splitlines()[:-3])) <= 80
    assert all(f"a_method_with_a_name_{i}" in printed for i in range(6))
    with pytest.warns(UserWarning, match="skipped"):
        notes = evaluate(
            text_model("bert"), [*TEXTS, None, "film"], tokenizer=tokenizer(), run=RunSettings(on_error="skip"),
            methods=["saliency", "uniform"], metrics=["saco"],
        ).summary().notes  # fmt: skip
    told = "\n".join(notes)
    assert "Skipped: 1 input (row 4)." in told and "Undefined for rows 0, 1, 2, 3 (saco of uniform): all scores" in told


def test_a_method_without_any_value_leaves_the_count_of_the_others() -> None:
    summary = made({"lime": [0.1, 0.2, np.nan], "uniform": [np.nan] * 3, "random": [0.1, 0.2, 0.3]}).summary()
    assert list(summary["n"]) == [2] and list(summary["uniform"]) == ["undefined"]
    assert list(made({"uniform": [np.nan] * 3}).summary()["n"]) == [0]


# ---------------------------------------------------------------------------------------------------- still a DataFrame
def test_it_stays_a_table_of_pandas(table, tmp_path) -> None:
    assert isinstance(table, pd.DataFrame) and list(table.columns) == list(COLUMNS)
    part = table[table.method != "saliency"]
    assert isinstance(part, Table) and list(part.summary().columns) == ["n", "occlusion", "random"]
    assert part.shown == table.shown and part.attrs == table.attrs
    assert pickle.loads(pickle.dumps(table)).shown == table.shown
    assert "saco" in table.pivot_table(index="metric", columns="method", values="value").to_string()
    twice = pd.concat([table, table])
    assert len(twice) == 2 * len(table)
    refused(InputError, "some values are there twice: number the inputs", twice.summary)
    assert table.groupby("method").value.mean().notna().all()
    merged = table.merge(pd.DataFrame({"input": [0, 1, 2, 3], "label": list("abab")}))
    assert list(merged.columns) == [*COLUMNS, "label"]
    table.to_csv(tmp_path / "values.csv", index=False)
    pd.testing.assert_frame_equal(Table(pd.read_csv(tmp_path / "values.csv")), table, atol=1e-9)
    table.to_parquet(tmp_path / "values.parquet")
    assert pd.read_parquet(tmp_path / "values.parquet").attrs == table.attrs


def test_what_is_no_table_of_values_is_like_any_frame(table) -> None:
    wide = table.pivot_table(index="metric", columns="method", values="value")
    assert wide.to_html() == pd.DataFrame(wide).to_html() and wide._repr_html_() == pd.DataFrame(wide)._repr_html_()
    refused(InputError, "no column input, method, metric, value, direction: expected a table of evaluate", wide.summary)
    assert table.to_html(index=False) == pd.DataFrame(table).to_html(index=False)
    assert table.head()._repr_html_() == pd.DataFrame(table.head())._repr_html_(), "rows asked for are shown as rows"


# ------------------------------------------------------------------------------------------------------------- the page
class Page(html.parser.HTMLParser):
    """Tags that are open when a page ends, those it has, their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data


def test_the_page_is_whole_safe_and_offline(table, tmp_path) -> None:
    text = table.to_html()
    page = Page(text)
    assert not page.open
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "iframe", "object", "b"}, "and nothing out of a text became a tag"
    assert "://" not in text and "default-src 'none'" in text
    assert "not <b>bad</b> & fine" in page.text
    assert all(attributes.get("src", "data:").startswith("data:") for _, attributes in page.tags)
    table.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    stream = io.StringIO()
    table.to_html(stream)
    assert stream.getvalue() == text


def test_names_from_outside_are_escaped() -> None:
    model = text_model("bert", classes=2)
    model.config.id2label = {0: "<script>alert(1)</script>", 1: "<img src=x>"}
    methods = {"<i>mine</i>": torch.rand(1, 2), "random": "random"}
    text = evaluate(model, ["fine film"], tokenizer=tokenizer(), methods=methods, metrics=["nc"]).to_html()
    assert "<script" not in text and "<img" not in text and "<i>" not in text
    assert "&lt;i&gt;mine" in text


def test_heat_maps_show_the_scores_of_the_first_inputs_and_features(table) -> None:
    first = table.shown[0]
    assert [part for _, part in first.parts] == ["a", "fine", "film", ",", "not", "bad"]
    assert [blank for blank, _ in first.parts] == [False, True, True, False, True, True]
    page = Page(table.to_html())
    spans = [attributes for tag, attributes in page.tags if tag == "span"]
    assert [span["title"] for span in spans[:6]] == [f"{score:.3g}" for score in first.scores["saliency"]]
    strongest = max(range(6), key=lambda f: abs(first.scores["saliency"][f]))
    assert ",0.60)" in spans[strongest]["style"]
    assert all(MEANINGS[name] in page.text for name in ("saco", "aopc_lerf"))
    films = [f"film {number} is good" for number in range(6)]
    many = evaluate(answers, [*films, "word " * 1000], methods=["random"], metrics=["sparseness"])
    assert [row.row for row in many.shown] == [0, 1, 2, 3, 4]
    long = evaluate(answers, ["word " * 1000], methods=["random"], metrics=["sparseness"])
    assert len(long.shown[0].parts) == len(long.shown[0].scores["random"]) == 400


def test_images_are_shown_under_their_maps() -> None:
    table = evaluate(vision_model(), image_inputs(2), methods=["occlusion"], metrics=["nc"])
    page = Page(table.to_html())
    sources = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert len(sources) == 4
    plain, under = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2])))).astype(int)
        for source in sources[:2]
    )
    assert plain.shape == under.shape == (8, 8, 3)
    pixels = image_inputs(2).pixels[0].permute(1, 2, 0).numpy()
    expected = (pixels - pixels.min()) / (pixels.max() - pixels.min()) * 255
    assert np.abs(plain - expected).max() <= 1
    scores = np.array(table.shown[0].scores["occlusion"])
    strongest = int(np.abs(scores).argmax())
    colour = (40, 110, 220) if scores[strongest] > 0 else (230, 120, 0)
    grey = plain.mean(axis=2, keepdims=True)
    down, across = divmod(strongest, 2)
    patch = np.s_[4 * down : 4 * down + 4, 4 * across : 4 * across + 4]
    assert np.abs(under[patch] - (0.4 * grey + 0.6 * np.array(colour))[patch]).max() <= 1


@pytest.mark.browser
def test_the_page_reads_on_light_and_on_dark(table, tmp_path) -> None:
    table.to_html(tmp_path / "report.html")
    address, where = (tmp_path / "report.html").as_uri(), "document.querySelector('.faithlib .text span')"
    with browser() as window:
        for dark, canvas in ((False, (255, 255, 255)), (True, (18, 18, 18))):
            assert window.open(address, dark=dark) == [address], "it asks for nothing but itself"
            told = (window.evaluate(f"getComputedStyle({where}).{style}") for style in ("color", "backgroundColor"))
            text, ground = ([float(part) for part in re.findall(r"[\d.]+", colour)] for colour in told)
            share = ground[3]
            over = [share * own + (1 - share) * under for own, under in zip(ground, canvas, strict=False)]
            high, low = sorted((light(over), light(text)), reverse=True)
            assert (high + 0.05) / (low + 0.05) > 4.5


def light(rgb: list[float]) -> float:
    """Relative luminance (WCAG 2)."""
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
