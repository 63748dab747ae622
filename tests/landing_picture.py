"""The picture of the landing page that README and links to the book show: `python tests/landing_picture.py` makes it.

It shows the built book (`make book`), and keeps in the file what its figure and its first two findings say (`shows`):
a test compares that with the page.
"""

from __future__ import annotations

import io
from pathlib import Path

from browser import Browser, browser
from PIL import Image
from PIL.PngImagePlugin import PngInfo

BOOK = Path(__file__).resolve().parents[1] / "book"
PICTURE = BOOK / "_static" / "landing.png"


def shown(chrome: Browser, html: Path) -> str:
    """Open the landing page of a built book; returns what its figure and its first two findings say."""
    chrome.open((html / "intro.html").as_uri(), width=1300, height=1500)
    return chrome.evaluate(
        """[document.querySelector("article img[src*=soft_against_plain]").alt,
        ...[...document.querySelectorAll("article ol li")].slice(0, 2).map(finding => finding.innerText)].join(" ")"""
    )


if __name__ == "__main__":
    with browser() as chrome:
        about = PngInfo()
        about.add_itxt("shows", shown(chrome, BOOK / "_build" / "html"))
        screen = Image.open(io.BytesIO(chrome.page.screenshot()))
    screen.convert("RGB").quantize(256).save(PICTURE, pnginfo=about, optimize=True)
