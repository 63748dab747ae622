"""The browser of the page checks; it lives in the engine, which prints the book with it."""

from faithbook.engine.chromium import Browser, browser, chromium

__all__ = ["Browser", "browser", "chromium"]
