"""Where the links of a built book lead: inside it, and out."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tqdm.auto import tqdm

_SOURCES = ("src", "href", "data", "poster")
_NOT_LOADED = ("next", "prev", "index", "search", "canonical")
# A site may refuse who does not look like a browser; that it answers at all says that the address is known there.
_ALIVE = (401, 403, 405, 406, 418, 429, 999)
_AGENT = "Mozilla/5.0 (link check of a book)"


@dataclass
class Addresses(HTMLParser):
    """What a page names: addresses that it loads or links to, and its own places."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)  # those of the links that come with the page
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.places |= {value for key in ("id", "name") if (value := values.get(key))}
        found = [value for key in _SOURCES if (value := values.get(key))]
        self.links += found
        if tag != "a" and not (tag == "link" and (values.get("rel") or "") in _NOT_LOADED):
            self.loads += found


def pages(html: Path) -> dict[Path, Addresses]:
    """Every page of a built book with what it names; the theme's own templates apart."""
    found = {}
    for path in sorted(html.rglob("*.html")):
        if "_static" not in path.relative_to(html).parts:
            read = Addresses()
            read.feed(path.read_text(encoding="utf-8"))
            found[path.resolve()] = read
    return found


def broken(html: Path) -> list[tuple[str, str]]:
    """(page, address) of everything in a built book that leads to no file of it, or to no place of a page."""
    html = html.resolve()
    known = pages(html)
    lost = []
    for page, read in known.items():
        for address in read.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            inside = target.is_relative_to(html) and target.exists()
            place = unquote(parts.fragment)
            if not inside or (place and target in known and place not in known[target].places):
                lost.append((page.relative_to(html).as_posix(), address))
    return lost


def outside(html: Path) -> dict[str, list[str]]:
    """The pages that link to each address out of the book."""
    found: dict[str, list[str]] = {}
    for page, read in pages(html).items():
        for address in read.links:
            parts = urlsplit(address)
            if parts.scheme in ("http", "https"):
                name = page.relative_to(html.resolve()).as_posix()
                found.setdefault(parts._replace(fragment="").geturl(), []).append(name)
    return {address: list(dict.fromkeys(names)) for address, names in sorted(found.items())}


def dead(addresses: Mapping[str, object], *, seconds: float = 20, at_once: int = 8) -> dict[str, str]:
    """What is wrong with each address that does not answer, by asking all of them (needs a network)."""
    with ThreadPoolExecutor(at_once) as pool:
        answers = pool.map(lambda address: _asked(address, seconds), addresses)
        told = tqdm(answers, total=len(addresses), unit="address", delay=3, leave=False, disable=None)
        return {address: wrong for address, wrong in zip(addresses, told, strict=True) if wrong}


def _asked(address: str, seconds: float) -> str:
    """What is wrong with an address; "" where it answers."""
    request = urllib.request.Request(address, headers={"User-Agent": _AGENT})
    try:
        with urllib.request.urlopen(request, timeout=seconds):
            return ""
    except urllib.error.HTTPError as error:
        return "" if error.code in _ALIVE else f"status {error.code}"
    except (OSError, ValueError, http.client.HTTPException) as error:
        return str(getattr(error, "reason", error))
