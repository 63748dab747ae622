"""All that was judged in one figure: what is drawn where, and that its words can be read."""

from __future__ import annotations

import math
import re

import pytest

from faithbook.show.forest import WIDTH, Finding, forest_html

ONE = {"group": "A paper", "verdict": "mixed", "evidence": "our own question", "words": "More < less."}


@pytest.mark.parametrize("borders", [(0.0,), (0.5,), (-0.1, 0.1)])
@pytest.mark.parametrize("ours", [-0.3, 0.05, 0.7])
def test_a_dot_is_in_the_shaded_part_exactly_where_the_claim_holds(borders: tuple[float, ...], ours: float) -> None:
    finding = Finding(id="a_c01", borders=borders, ours=ours, low=ours - 0.1, high=ours + 0.1, published=0.2, **ONE)
    text = forest_html([finding])
    x, width = (float(re.search(rf'class="holds" .*?{name}="([-\d.]+)"', text)[1]) for name in ("x", "width"))  # type: ignore[index]
    dot = float(re.search(r'cx="([\d.]+)"', text)[1])  # type: ignore[index]
    holds = borders[0] < ours and (len(borders) == 1 or ours < borders[1])
    assert (x <= dot <= x + width) == holds
    for value in (ours, finding.low, finding.high, finding.published, *borders):
        assert 0 <= finding.place(value) <= WIDTH  # nothing is cut off


def test_what_is_printed_and_measured_alike_stands_at_one_place() -> None:
    finding = Finding(id="a_c01", borders=(0.0,), ours=0.4, low=0.3, high=0.5, published=0.4, **ONE)
    assert finding.place(finding.ours) == finding.place(finding.published)
    assert finding.spoken == "ours 0.400 [0.300, 0.500], published 0.400; border 0.00"


def test_lines_have_words_a_link_and_a_verdict_whether_they_have_numbers_or_not() -> None:
    bare = Finding(id="a_table1", borders=(0.0,), **ONE)
    text = forest_html(
        [bare, Finding(id="a_c02", borders=(0.0,), ours=1.0, n=1200, **ONE)], to="executed/scoreboard.html"
    )
    assert text.count('class="forest-group"') == 1 and text.count("forest-line") == 2
    assert 'href="executed/scoreboard.html#verdict-a-table1"' in text and "no number decides it" in text
    assert "More &lt; less." in text and "n = 1,200" in text and "\n" not in text
    assert math.isnan(bare.ours) and text.count("<circle") == text.count("<svg") == 1


def test_an_undecided_line_says_what_it_waits_for() -> None:
    open_one = Finding(id="a_c01", borders=(0.0,), ours=0.1, low=-0.1, high=0.3, waits="p = .060", **ONE)
    assert "<small>p = .060</small>" in forest_html([open_one])


@pytest.mark.parametrize(("ours", "theirs", "apart"), [(32.4647, 32.46, False), (0.0, 0.0, False), (12.0, 15.0, True)])
def test_a_number_worked_out_again_stands_at_the_published_one(ours: float, theirs: float, apart: bool) -> None:
    """No border decides it, so that nothing is shaded: a dot right of zero would say nothing."""
    finding = Finding(id="a_table1", borders=(), ours=ours, published=theirs, **ONE)
    text = forest_html([finding])
    assert finding.place(theirs) == WIDTH / 2 and 0 < finding.place(ours) < WIDTH
    assert (abs(finding.place(ours) - WIDTH / 2) > 5) == apart
    assert 'class="holds"' not in text and 'class="border"' not in text and "recomputed" in finding.spoken
