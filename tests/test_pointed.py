"""What points of a figure say: worked out with the figure, and heard by mouse, finger and keyboard in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from browser import Browser
from test_figures import Folder
from test_games import linked

from faithbook.judge import multiverse
from faithbook.show import figures, hover, plots
from faithbook.stats.verdict import Verdict
from faithlib.errors import InputError

ALT = "Values of a test, which stand beside one another as they are made."
POINTS = [("lime", 0.2, 0.1, 0.3), ("saliency", 0.6, 0.5, 0.7), ("<b>", 0.9, np.nan, np.nan)]


def dotted() -> Any:
    frame = pd.DataFrame(POINTS, columns=["name", "estimate", "low", "high"])
    fig, ax = plt.subplots(figsize=(6, 3))
    figures.dots(ax, frame, [2, 1, 0.1], label="ours")
    ax.set_yticks([2, 1, 0], frame["name"])
    return fig


def curve() -> multiverse.Curve:
    rows = [(turned, tau, 0.1 * i) for i, (turned, tau) in enumerate([("no", "a"), ("yes", "a"), ("no", "b")])]
    frame = pd.DataFrame(rows, columns=["turned", "tau", "estimate"])
    ends = {"low": frame.estimate - 0.05, "high": frame.estimate + 0.05}
    frame = frame.assign(**ends, n=24, part="gain", answer=Verdict.YES.value)
    return multiverse.Curve("saco_c03", ("turned", "tau"), frame.assign(word="holds", why=""))


def carried(shown: str) -> list[list[Any]]:
    (found,) = re.findall(r'<script type="application/json" class="said" data-figure="[\w-]+">(.*)</script>', shown)
    points: list[list[Any]] = json.loads(found)
    return points


# ------------------------------------------------------------------------------------------------------ what is carried
def test_points_say_their_values_and_lie_where_they_are_drawn(tmp_path: Path) -> None:
    """By the picture itself: the colour of a dot is found at the place that is told for it."""
    figures.theme()
    shown = figures.save(dotted(), Folder(tmp_path), "dotted", alt=ALT, caption="Dots").data
    points, picture = carried(shown), plt.imread(tmp_path / "dotted.png")[..., :3]
    ours = [int(figures.OURS[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    height, width, _ = picture.shape
    for x, y, _ in points:
        assert np.abs(picture[int(y * height), int(x * width)] - ours).max() < 0.02
    told = [text for _, _, text in points]
    assert told == ["lime\nours: 0.200 (0.100 to 0.300)", "saliency\nours: 0.600 (0.500 to 0.700)", "<b>\nours: 0.900"]
    assert 'data-figure="dotted"' in shown and "<b>" not in shown


def test_rows_curves_cells_claims_and_specifications_are_named_by_what_they_are(tmp_path: Path) -> None:
    fig, (left, right, map_) = plt.subplots(1, 3, figsize=(9, 3))
    left.set(title="TP", ylim=(0, 1), yticks=[0, 1])
    left.set_yticks([0, 1], ["low", "high"])
    right.set(title="loss", xlim=(0, 1), ylim=(0, 1))
    hover.say_rows(left, [0.5], [1], "ours")
    hover.say_curve(right, [0.1], [0.3], "LIME", [0.2], [0.4], at=["10%"])
    frame = pd.DataFrame([[0.5, np.nan], [0.25, -1.0]])
    sns.heatmap(frame, ax=map_, cbar=False)
    hover.say_cells(map_, frame, ["one", "other"], ["left", "the\nright"])
    row = {"claim": "saco_c03", "part": "gain", "published": 0.4, "ours": 0.3, "low": 0.2, "high": 0.4, "away": -1.0}
    missing = dict.fromkeys(("predicted_low", "predicted_high"), np.nan)
    claims = plots.claims_plot(pd.DataFrame([row | missing]), {}, lines={})
    both = []
    for figure in (fig, claims):
        figure.draw_without_rendering()
        both.append([text for _, _, text in hover.points_in_words(figure)])
    assert both[0][:2] == ["TP, high\nours: 0.500", "loss, LIME\n10%: 0.300 (0.200 to 0.400)"]
    assert both[0][2:] == ["one, left\n0.500", "other, left\n0.250", "other, the right\n−1.000"]
    assert both[1] == ["gain\nours, 95 % interval: 0.300 (0.200 to 0.400)", "gain\npublished: 0.400"]
    points = carried(figures.save(curve().draw(), Folder(tmp_path), "curve", alt=ALT, caption="Curve").data)
    assert points[0][2] == "holds, the book’s own\ngain: 0.000 (−0.050 to 0.050), n = 24\nturned: no\ntau: a"
    assert sorted(x for x, _, _ in points) == [x for x, _, _ in points]
    plt.close("all")


def test_what_cannot_be_said_is_refused(tmp_path: Path) -> None:
    fig, ax = plt.subplots()
    with pytest.raises(InputError, match="2 points and 1 texts"):
        hover.say(ax, [1, 2], 0, ["one"])
    assert hover.script(fig, "silent") == ""
    hover.say(ax, [0.5], [0.5], ["x" * hover.MOST_BYTES])
    with pytest.raises(InputError, match="a page takes"):
        hover.script(fig, "loud")
    plt.close("all")


# --------------------------------------------------------------------------------------------------------- in a browser
@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A figure as Sphinx puts it, a picture within a link to itself, in the book's own styles."""
    figures.theme()
    folder = tmp_path_factory.mktemp("pointed")
    shown = figures.save(curve().draw(), Folder(folder), "curve", alt=ALT, caption="Curve").data
    path = folder / "page.html"
    path.write_text(
        linked(
            '<p>A page.</p><figure class="align-default" id="curve"><a class="reference internal image-reference" '
            f'href="curve.svg"><img alt="{ALT}" src="curve.svg" style="width: 100%"></a><figcaption>Curve</figcaption>'
            f"</figure>{shown[shown.index('<script') :]}"
        )
    )
    return path.as_uri()


POINT = """(k => {{ const image = document.querySelector('#curve img'), frame = image.getBoundingClientRect();
  const pad = parseFloat(getComputedStyle(image).paddingLeft);
  const [x, y] = JSON.parse(document.querySelector('script.said').textContent)[k];
  return [frame.left + pad + x * (frame.width - 2 * pad), frame.top + pad + y * (frame.height - 2 * pad)]; }})({})"""
TIP = "(tip => tip.hidden ? null : tip.innerText.split('\\n'))(document.querySelector('.said-tip'))"
RING = (
    "(({x, y, width}) => [x + width / 2, y + width / 2])(document.querySelector('.said-ring').getBoundingClientRect())"
)
FITS = """(() => { const tip = document.querySelector('.said-tip').getBoundingClientRect();
  return tip.left >= 0 && tip.right <= innerWidth && document.documentElement.scrollWidth <= innerWidth; })()"""


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_a_point_answers_the_mouse_and_the_picture_stays(window: Browser, page: str, dark: bool) -> None:
    asked = window.open(page, dark=dark)
    assert all(url.startswith("file:") for url in asked)
    assert window.evaluate(TIP) is None
    for k, head in enumerate(["holds, the book’s own", "holds", "holds"]):
        x, y = window.evaluate(POINT.format(k))
        window.page.mouse.move(x + 3, y)
        told = window.evaluate(TIP)
        assert told[0] == head and told[1].startswith(f"gain: {0.1 * k:.3f} (")
        assert window.evaluate(RING) == pytest.approx([x, y], abs=1)
        assert window.evaluate(FITS)
    window.page.mouse.move(5, 5)
    assert window.evaluate(TIP) is None
    assert window.evaluate("document.querySelector('#curve img').alt") == ALT
    assert window.evaluate("document.querySelector('#curve a').getAttribute('href')") == "curve.svg"


@pytest.mark.browser
def test_points_are_gone_through_by_keyboard_and_heard(window: Browser, page: str) -> None:
    window.open(page)
    window.page.keyboard.press("Tab")
    window.page.keyboard.press("Tab")
    role = "(one => [one.getAttribute('role'), +one.getAttribute('aria-valuenow'), one.getAttribute('aria-valuetext')])"
    told = window.evaluate(f"{role}(document.activeElement)")
    assert told[:2] == ["slider", 1] and told[2].startswith("holds, the book’s own; gain: 0.000")
    window.page.keyboard.press("ArrowRight")
    window.page.keyboard.press("ArrowRight")
    window.page.keyboard.press("ArrowRight")  # the last stays the last
    told = window.evaluate(f"{role}(document.activeElement)")
    assert told[1] == 3 and "tau: b" in told[2]
    assert window.evaluate(TIP)[2:] == ["turned: no", "tau: b"]
    window.evaluate("document.activeElement.blur()")
    assert window.evaluate(TIP) is None


@pytest.mark.browser
def test_a_tap_asks_a_point_on_a_telephone_and_follows_no_link(window: Browser, page: str) -> None:
    window.open(page, width=390, height=800)
    devtools = window.page.context.new_cdp_session(window.page)
    devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    x, y = window.evaluate(POINT.format(1))
    for kind, where in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})
    window.evaluate("new Promise(done => setTimeout(() => done(true), 400))")  # a tap is known when no second follows
    assert window.evaluate("location.pathname").endswith("page.html")
    assert window.evaluate(TIP)[1].startswith("gain: 0.100")
    assert window.evaluate(FITS)
    devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
