"""The picture of the HTML report in faithlib/README.md: `python tests/report_picture.py` writes docs/report.png.

A function of words with known weights, forty sentences, three methods beside random ones; in a window of 1,060 pixels.
"""

from __future__ import annotations

import io
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from browser import browser
from PIL import Image

from faithlib import evaluate
from faithlib.evaluation.summary import Table

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = {"warm": 1.1, "funny": 1.3, "good": 1.0, "clever": 0.9, "dull": -1.2, "bad": -1.1, "cold": -0.6}
METRICS = ["comprehensiveness_eraser", "sufficiency_eraser", "aopc_morf", "aopc_lerf", "srg", "saco"]


def model(texts: list[str]) -> list[list[float]]:
    """Probabilities of a sum of weights, where "not" turns the next weighted word."""
    answers = []
    for text in texts:
        total, sign = 0.2, 1
        for word in text.strip(".").split():
            sign = -1 if word == "not" else sign
            if word in WEIGHTS:
                total, sign = total + sign * WEIGHTS[word], 1
        probability = 1 / (1 + math.exp(-total))
        answers.append([1 - probability, probability])
    return answers


def sentences(n: int) -> list[str]:
    """Sentences that differ."""
    generator = np.random.default_rng(1)
    made: dict[str, None] = {}
    while len(made) < n:
        subject, first, second = (
            generator.choice(words)
            for words in (["the film", "her voice", "the story", "our evening"], [*WEIGHTS], [*WEIGHTS])
        )
        amount = generator.choice(["very", "not", "rather"])
        made[f"{subject} was {first} and {amount} {second} in the end."] = None
    return [*made]


def table(n: int = 40) -> Table:
    """What the report is of."""
    return evaluate(model, sentences(n), methods=["lime", "occlusion", "uniform", "random"], metrics=METRICS)


def take(path: Path) -> None:
    """Writes the picture, in few colours."""
    with tempfile.TemporaryDirectory() as folder, browser() as window:
        report = Path(folder) / "report.html"
        table().to_html(report)
        window.open(report.as_uri(), width=1060, height=1000)
        height = window.evaluate("document.querySelector('.wide').getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": 1060, "height": round(height) + 12}
        screen = Image.open(io.BytesIO(window.page.screenshot(clip=clip)))
    screen.convert("RGB").quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "report.png")
