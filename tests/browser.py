"""The browser of the page checks: one page of a headless Chromium that reaches no network, driven by Playwright."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

from faithbook.engine.printing import chromium, show, window

__all__ = ["Browser", "browser", "chromium"]


class Browser:
    """A page, and the addresses that it has asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._asked: list[str] = []
        page.on("request", lambda request: self._asked.append(request.url))

    def open(self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> list[str]:
        """Load a page at a size and in a colour scheme; returns the addresses it asked for."""
        self.turn(width=width, height=height, dark=dark)
        self.page.goto("about:blank")  # or an address that differs in its fragment alone would not be loaded
        self._asked.clear()
        show(self.page, url)
        return list(self._asked)

    def turn(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Show the page that is open at another size and in another colour scheme, without loading it again."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")

    def evaluate(self, expression: str) -> Any:
        """The JSON value of a JavaScript expression (promises are waited for)."""
        return self.page.evaluate(expression)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium of its own, gone at the end."""
    with window() as page:
        yield Browser(page)
