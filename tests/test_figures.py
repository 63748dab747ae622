"""Figures, tables, heat maps and badges: what they refuse, and what they write."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from faithbook.show import figures, plots, tables
from faithbook.stats import evidence_levels
from faithlib.errors import InputError

ALT = "A line that rises from zero at the left to one at the right."


@dataclass
class Folder:
    """The part of a run that figures use."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def link(self, name: str) -> str:
        return f"page/{name}"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    figures.theme()
    return Folder(tmp_path)


def line():
    fig, ax = plt.subplots(figsize=(2, 2))
    ax.plot([0, 1], [0, 1], label="rise")
    ax.fill_between([0, 1], [0, 0.5], [0.5, 1], alpha=0.2)
    ax.legend()
    return fig


# ----------------------------------------------------------------------------------------------------------- figures
def test_a_figure_without_a_real_alternative_text_is_refused_and_nothing_is_written(folder):
    for alt in ("", "   ", "a plot", "x" * 10 + " " * 90):
        told = r"figure rise: alt text .* too short: say"
        refused(InputError, told, figures.save, line(), folder, "rise", alt=alt, caption="Rise")
    assert list(folder.folder.iterdir()) == []
    plt.close("all")


def test_a_figure_is_written_twice_and_shown_with_name_alt_and_downloads(folder):
    shown = figures.save(line(), folder, "the_rise", alt=f"{ALT}\n  More.", caption="Rise of $x$").data
    assert {p.name for p in folder.folder.iterdir()} == {"the_rise.svg", "the_rise.png"}
    assert "```{figure} page/the_rise.svg\n:name: the-rise\n" in shown
    assert f":alt: {ALT} More.\n" in shown, "the alternative text must stay on one line of the directive"
    assert "\n\nRise of $x$\n```" in shown
    assert "{download}`svg <page/the_rise.svg>`" in shown
    assert "{download}`png <page/the_rise.png>`" in shown
    assert not plt.get_fignums(), "figures that stay open fill the memory of a long notebook"
    before = {path.name: path.read_bytes() for path in folder.folder.iterdir()}
    figures.save(line(), folder, "the_rise", alt=ALT, caption="Rise")
    assert before == {path.name: path.read_bytes() for path in folder.folder.iterdir()}
    assert b"<dc:date>" not in before["the_rise.svg"]


ALONG = pd.DataFrame({"estimate": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.6, 0.9]})


@pytest.mark.parametrize("bars", [False, True])
def test_a_curve_has_its_intervals_as_a_band_or_as_bars_and_says_its_points(bars, folder):
    fig, ax = plt.subplots()
    figures.curve(ax, [1, 2], ALONG, "ours", colour="#D55E00", at=["one", "two"], bars=bars, marker="D")
    (points,) = ax.get_lines()
    assert points.get_xydata().tolist() == [[1, 0.5], [2, 0.6]]
    (spread,) = ax.collections
    ends = np.concatenate(spread.get_segments() if bars else [spread.get_paths()[0].vertices])
    assert {tuple(corner) for corner in ends.tolist()} == {(1, 0.4), (1, 0.6), (2, 0.5), (2, 0.9)}
    shown = figures.save(fig, folder, "curve", alt=ALT, caption="Curve").data
    assert "ours\\none: 0.500 (0.400 to 0.600)" in shown and "ours\\ntwo: 0.600 (0.500 to 0.900)" in shown


def test_an_alternative_text_has_every_point_or_the_ends_of_each_series():
    point = {"estimate": 0.5, "low": 0.4, "high": 0.7}
    few = pd.DataFrame([{"x": x, "series": name, **point} for x, name in ((1, "hard"), (2, "hard"), (np.nan, "soft"))])
    fig, alt = plots.line_plot(few, "length", "score", layout=plots.Layout(series="series"))
    (band,) = fig.axes[0].patches  # a series without a place is a level line
    assert [band.get_y(), band.get_y() + band.get_height()] == pytest.approx([0.4, 0.7])
    assert alt.endswith("soft: at any place 0.50 (0.40 to 0.70).")
    rows = [{"row": f"r{i}", "estimate": i / 100, "low": 0.0, "high": 1.0} for i in range(40)]
    _, alt = plots.dot_plot(pd.DataFrame(rows), "score")
    assert alt.endswith("the lowest and the highest. r0 0.00 (0.00 to 1.00), r39 0.39 (0.00 to 1.00).")
    plt.close("all")


# ------------------------------------------------------------------------------------------------------------ tables
def test_a_table_is_shown_rounded_and_downloaded_in_full_precision(folder):
    frame = pd.DataFrame({"name": ["a", "b"], "n": [3, 4], "share": [1 / 3, float("nan")]})
    shown = tables.table(frame, folder, "shares", caption="What `model` says", digits=2).data
    assert pd.read_csv(folder.path("shares.csv")).share[0] == 1 / 3 == frame.share[0]
    # After a fence of backticks no backtick may follow: such a table would be shown as text.
    assert shown.startswith(":::{table} What `model` says\n:name: shares\n") and "```" not in shown
    assert "| name | n | share |\n| --- | --- | --- |\n| a | 3 | 0.33 |\n| b | 4 | – |" in shown
    link = "{download}`csv <page/shares.csv>`"
    assert link in shown
    assert tables.table(frame, folder, "shares", caption="", shown=False).data == f"Download: {link}"
    refused(InputError, "table nothing has no rows", tables.table, frame[:0], folder, "nothing", caption="Nothing")
    counts = pd.DataFrame({"rows": [4000.0, 1.0, np.inf], "value": [2.0, 0.5, -0.0], "share": [1.0, 0.0, 1.0]})
    shown = tables.in_names(counts, 2).to_csv(index=False).splitlines()
    assert shown == ["rows,value,share", '"4,000",2.00,1.00', "1,0.50,0.00", "∞,0.00,1.00"]
    assert tables.in_names(pd.DataFrame({"n": [4000], "seed": [1000]}), 2).to_numpy().tolist() == [["4,000", 1000]]


def test_names_are_shown_as_words_and_kept_in_the_data(folder):
    frame = pd.DataFrame({"method": ["saliency", "lime"], "aggregation": ["l2", "none"], "output": ["loss"] * 2})
    frame = frame.assign(model="bert_sst2", statistic="lower_bound_mean", word="device_name")
    tables.table(frame, folder, "rows", caption="Rows")
    pd.testing.assert_frame_equal(pd.read_csv(folder.path("rows.csv"), keep_default_na=False), frame)
    (first, second) = tables.in_names(frame, 3).to_numpy().tolist()
    assert first == ["saliency (L2)", "loss", "BERT, SST-2", "lower bound mean", "device_name"]
    assert second[0] == "LIME"


def test_a_cell_that_is_interrupted_leaves_no_half_written_file(folder, monkeypatch):
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        tables.table(pd.DataFrame({"a": [1]}), folder, "t", caption="T")
    assert not folder.path("t.csv").exists()


# --------------------------------------------------------------------------------------------------------- heat maps
def tokens_of(made: str) -> list[str]:
    """What a heat map says, token by token, without marks."""
    bare = re.sub(r'<span class="visually-hidden">.*?</span>', "", made)
    return [html.unescape(word) for word in re.findall(r'<span class="token[^>]*>([^<]*)</span>', bare)]


def test_tints_follow_the_scores_and_outlines_the_rationale():
    nasty = ["<script>", "a&b", '"quoted"']
    made = figures.heatmap(nasty, [0.0, 5.0, 10.0], rationale=[False, False, True], title='<b>&"')
    assert "<script>" not in made and "<b>" not in made and tokens_of(made) == nasty
    assert re.findall(r"rgba\(0,114,178,([\d.]+)\)", made) == ["0.00", "0.42", "0.85"]
    assert made.count('class="token rationale"') == 1
    assert "rank 1, in the rationale" in made, "the outline must be heard as well as seen"
    assert set(re.findall(r"178,([\d.]+)\)", figures.heatmap(["a", "b"], [2.0, 2.0]))) == {"0.42"}
    # An excerpt keeps the scale of the whole text.
    made = figures.heatmap(list("abcd"), [1.0, 2.0, 3.0, 5.0], shown=2)
    assert tokens_of(made) == ["a", "b"]
    assert "(2 more)" in made
    assert re.findall(r"178,([\d.]+)\)", made) == ["0.00", "0.21"]
    assert "rank 4" in made
    for tokens, scores, rationale in ((["a"], [0.1, 0.2], None), ([], [], None), (["a", "b"], [0.1, 0.2], [True])):
        refused(
            InputError,
            r"\d tokens, \d scores, .*: expected as many",
            figures.heatmap,
            tokens,
            scores,
            rationale=rationale,
        )


# ---------------------------------------------------------------------------------------------------------- verdicts


def test_every_verdict_has_a_style():
    css = (Path(__file__).parents[1] / "book" / "_static" / "book.css").read_text(encoding="utf-8")
    for verdict in {
        evidence_levels.display_label(decision, level)
        for decision in evidence_levels.DECISIONS
        for level in evidence_levels.LEVELS
    }:
        assert f".verdict-{verdict.replace(',', '').replace(' ', '-')}" in css
