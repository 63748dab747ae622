"""Figures, tables, heat maps and badges: what they refuse, and what they write."""

from __future__ import annotations

import html
import io
import re
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine

from faithbook.show import figures, plots, tables
from faithbook.stats import grounds, rules
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
@pytest.mark.parametrize("alt", ["", "   ", "a plot", "x" * 10 + " " * 90])
def test_a_figure_without_a_real_alternative_text_is_refused_and_nothing_is_written(folder, alt):
    with pytest.raises(InputError, match=r"figure rise: alt text .* too short: say"):
        figures.save(line(), folder, "rise", alt=alt, caption="Rise")
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


def test_the_same_figure_gives_the_same_bytes(folder, tmp_path):
    once, again = Folder(tmp_path / "a"), Folder(tmp_path / "b")
    for place in (once, again):
        place.folder.mkdir()
        figures.save(line(), place, "rise", alt=ALT, caption="Rise")
    for ending in ("svg", "png"):
        assert once.path(f"rise.{ending}").read_bytes() == again.path(f"rise.{ending}").read_bytes()
    assert b"<dc:date>" not in once.path("rise.svg").read_bytes()


def test_one_layout_serves_both_files(monkeypatch):
    """The picture is the one that matplotlib saves by itself, laid out once in place of twice."""
    layouts = []
    execute = ConstrainedLayoutEngine.execute
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda self, fig: layouts.append(fig) or execute(self, fig))
    figures.theme()
    made = figures.drawn(line())
    assert len(layouts) == 1
    by_itself = io.BytesIO()
    line().savefig(by_itself, format="png", dpi=200)
    ours, theirs = (plt.imread(io.BytesIO(png)) for png in (made["png"], by_itself.getvalue()))
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).mean() < 0.01
    assert ours.std() > 0.05
    plt.close("all")


def test_dots_stand_on_their_intervals_at_the_places_asked_for():
    frame = pd.DataFrame({"half": [0.5, 0.6], "a": [0.4, 0.5], "b": [0.6, 0.9]})
    _, ax = plt.subplots()
    figures.dots(ax, frame, [3, 1], columns=("half", "a", "b"), colour="#D55E00", marker="D", label="ours", ms=4)
    (points,) = ax.get_lines()
    assert points.get_xydata().tolist() == [[0.5, 3], [0.6, 1]]
    assert (points.get_marker(), points.get_markersize(), points.get_label()) == ("D", 4, "ours")
    (lines,) = ax.collections
    assert [segment.tolist() for segment in lines.get_segments()] == [[[0.4, 3], [0.6, 3]], [[0.5, 1], [0.9, 1]]]
    plt.close("all")


ALONG = pd.DataFrame({"estimate": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.6, 0.9]})


@pytest.mark.parametrize("bars", [False, True])
def test_a_curve_has_its_intervals_as_a_band_or_as_bars_and_says_its_points(bars, folder):
    fig, ax = plt.subplots()
    figures.curve(ax, [1, 2], ALONG, "ours", colour="#D55E00", at=["one", "two"], bars=bars, marker="D")
    (points,) = ax.get_lines()
    assert points.get_xydata().tolist() == [[1, 0.5], [2, 0.6]]
    assert (points.get_marker(), points.get_label()) == ("D", "ours")
    (spread,) = ax.collections
    if bars:
        assert [part.tolist() for part in spread.get_segments()] == [[[1, 0.4], [1, 0.6]], [[2, 0.5], [2, 0.9]]]
    else:
        corners = {tuple(corner) for corner in spread.get_paths()[0].vertices.tolist()}
        assert {(1, 0.4), (1, 0.6), (2, 0.5), (2, 0.9)} == corners
    shown = figures.save(fig, folder, "curve", alt=ALT, caption="Curve").data
    assert "ours\\none: 0.500 (0.400 to 0.600)" in shown and "ours\\ntwo: 0.600 (0.500 to 0.900)" in shown


def test_a_series_without_a_place_is_a_level_line_in_its_interval():
    point = {"estimate": 0.5, "low": 0.4, "high": 0.7}
    frame = pd.DataFrame(
        [{"x": x, "series": name, **point} for x, name in ((1, "hard"), (2, "hard"), (np.nan, "soft"))]
    )
    fig, alt = plots.line_plot(frame, "length", "score", layout=plots.Layout(series="series"))
    (band,) = fig.axes[0].patches
    assert fig.axes[0].get_lines()[-1].get_ydata() == [0.5, 0.5]
    assert [band.get_y(), band.get_y() + band.get_height()] == pytest.approx([0.4, 0.7])
    assert alt.endswith("soft: at any place 0.50 (0.40 to 0.70).")
    plt.close("all")


def test_an_alternative_text_of_many_points_has_the_ends_of_each_series():
    rows = [{"row": f"r{i}", "estimate": i / 100, "low": 0.0, "high": 1.0} for i in range(40)]
    _, alt = plots.dot_plot(pd.DataFrame(rows), "score")
    assert alt == (
        "Dot plot of score with 95 % intervals. Of each series the lowest and the highest. "
        "r0 0.00 (0.00 to 1.00), r39 0.39 (0.00 to 1.00)."
    )
    plt.close("all")


# ------------------------------------------------------------------------------------------------------------ tables
def test_a_table_is_shown_rounded_and_downloaded_in_full_precision(folder):
    frame = pd.DataFrame({"name": ["a", "b"], "n": [3, 4], "share": [1 / 3, float("nan")]})
    shown = tables.table(frame, folder, "shares", caption="Shares", digits=2).data
    full = pd.read_csv(folder.path("shares.csv"))
    assert full.share[0] == 1 / 3
    assert "| name | n | share |\n| --- | --- | --- |\n| a | 3 | 0.33 |\n| b | 4 | – |" in shown
    assert ":name: shares\n" in shown
    assert "{download}`csv <page/shares.csv>`" in shown
    assert frame.share[0] == 1 / 3, "the caller's frame must stay as it was"


def test_a_column_of_counts_has_no_digits_and_no_other_column_mixes_them(folder):
    frame = pd.DataFrame({"rows": [4.0, 1.0, np.inf], "value": [2.0, 0.5, -0.0], "share": [1.0, 0.0, 1.0]})
    shown = tables.in_names(frame, 2).to_csv(index=False).splitlines()
    assert shown == ["rows,value,share", "4,2.00,1.00", "1,0.50,0.00", "inf,0.00,1.00"]


def test_a_methods_aggregation_is_shown_with_its_name_and_kept_in_the_data(folder):
    frame = pd.DataFrame(
        {"method": ["saliency", "lime"], "aggregation": ["l2", "none"], "output": ["top_prediction", "loss"]}
    )
    tables.table(frame, folder, "rows", caption="Rows")
    pd.testing.assert_frame_equal(pd.read_csv(folder.path("rows.csv"), keep_default_na=False), frame)
    shown = tables.in_names(frame, 3).to_csv(index=False).splitlines()
    assert shown == ["method,output", "saliency (L2),TP", "LIME,loss"]


def test_names_in_tables_are_words_and_what_else_has_underscores_stays(folder):
    frame = pd.DataFrame({"model": ["bert_sst2"], "statistic": ["lower_bound_mean"], "word": ["device_name"]})
    tables.table(frame, folder, "names", caption="Names")
    pd.testing.assert_frame_equal(pd.read_csv(folder.path("names.csv")), frame)
    assert tables.in_names(frame, 3).iloc[0].tolist() == ["BERT, SST-2", "lower bound mean", "device_name"]


def test_a_caption_may_have_code_in_it(folder):
    """After a fence of backticks no backtick may follow: such a table would be shown as text."""
    shown = tables.table(pd.DataFrame({"a": [1]}), folder, "coded", caption="What `model` says").data
    assert shown.startswith(":::{table} What `model` says\n") and "```" not in shown


def test_a_table_can_be_offered_without_being_shown(folder):
    shown = tables.table(pd.DataFrame({"a": [0.5]}), folder, "hidden", caption="", shown=False).data
    assert shown == "Download: {download}`csv <page/hidden.csv>`"
    assert [p.name for p in folder.folder.iterdir()] == ["hidden.csv"]


def test_a_table_without_rows_is_refused(folder):
    with pytest.raises(InputError, match="table nothing has no rows"):
        tables.table(pd.DataFrame({"a": []}), folder, "nothing", caption="Nothing")


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


def test_a_heat_map_escapes_what_a_text_may_hold():
    nasty = ["<script>", "a&b", '"quoted"', "##s"]
    made = figures.heatmap(nasty, [0.1, 0.4, 0.2, 0.3], title='<b>&"')
    assert "<script>" not in made
    assert "<b>" not in made
    assert tokens_of(made) == nasty
    assert 'aria-label="&lt;b&gt;&amp;&quot;: tokens tinted by score"' in made


def test_tints_follow_the_scores_and_outlines_the_rationale():
    made = figures.heatmap(["a", "b", "c"], [0.0, 5.0, 10.0], rationale=[False, False, True])
    tints = [float(value) for value in re.findall(r"rgba\(0,114,178,([\d.]+)\)", made)]
    assert tints == sorted(tints)
    assert tints[0] == 0 and tints[2] <= 0.85
    assert made.count('class="token rationale"') == 1
    assert re.search(r'class="token rationale"[^>]*>c<', made)
    assert "rank 1, in the rationale" in made, "the outline must be heard as well as seen"


def test_black_words_stay_readable_on_the_darkest_tint():
    alpha = max(float(v) for v in re.findall(r"178,([\d.]+)\)", figures.heatmap(["a", "b"], [0, 1])))
    mixed = [255 + alpha * (part - 255) for part in (0, 114, 178)]
    linear = [(c / 255 / 12.92) if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in mixed]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert (luminance + 0.05) / 0.05 >= 4.5


def test_equal_scores_get_one_middle_tint():
    assert set(re.findall(r"178,([\d.]+)\)", figures.heatmap(["a", "b"], [2.0, 2.0]))) == {"0.42"}


def test_an_excerpt_keeps_the_scale_of_the_whole_text():
    made = figures.heatmap(list("abcd"), [1.0, 2.0, 3.0, 5.0], shown=2)
    assert tokens_of(made) == ["a", "b"]
    assert "(2 more)" in made
    assert re.findall(r"178,([\d.]+)\)", made) == ["0.00", "0.21"]
    assert "rank 4" in made


@pytest.mark.parametrize(
    ("tokens", "scores", "rationale"), [(["a"], [0.1, 0.2], None), ([], [], None), (["a", "b"], [0.1, 0.2], [True])]
)
def test_tokens_scores_and_rationale_must_agree(tokens, scores, rationale):
    with pytest.raises(InputError, match=r"\d tokens, \d scores, .*: expected as many"):
        figures.heatmap(tokens, scores, rationale=rationale)


# ---------------------------------------------------------------------------------------------------------- verdicts
DECISIONS = {grounds.worded(one, ground) for one in rules.DECISIONS for ground in grounds.GROUNDS}


def test_every_verdict_has_a_style():
    css = (Path(__file__).parents[1] / "book" / "_static" / "book.css").read_text(encoding="utf-8")
    for verdict in DECISIONS:
        assert f".verdict-{verdict.replace(',', '').replace(' ', '-')}" in css
