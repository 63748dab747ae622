"""The messages of Home Assistant in nine languages: parallel texts with a label, which stand in for XNLI.

An integration keeps its messages in one file a language, all with the same keys: the same key is the same message. What
a message is for follows from where it stands in the file, and is its label. The archive is read, never imported.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# Ours -> the archive's. The first five are the paper's.
LANGUAGES = {code: code for code in "en bg de es fr ru tr el".split()} | {"zh": "zh-Hans"}
TYPES = ("error", "instruction", "action", "field", "issue")
WORDS = (5, 40)  # of the English text, least and most

_FILE = re.compile(r"homeassistant/components/([^/]+)/translations/([^/]+)\.json")
# Links, bold words, lists and headings: an explanation cannot give a word of them a meaning of its own.
_MARKUP = re.compile(r"\]\(|https?://|\*\*|(?:^|\s)(?:[#*-]|\d+\.)\s")


@dataclass(frozen=True)
class Message:
    """One message: its id, the integration it belongs to, its place in TYPES, and its text in every language that has
    one."""

    id: str
    integration: str
    label: int
    texts: dict[str, str]

    @property
    def is_plain(self) -> bool:
        """Whether the English text has as many words as WORDS allows and no markup."""
        english = self.texts["en"]
        return WORDS[0] <= len(english.split()) <= WORDS[1] and not _MARKUP.search(english)


@cache
def read(archive: Path) -> tuple[Message, ...]:
    """Every message of a type that has an English text, by id; a text that only repeats the English one is none."""
    texts_of: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    ours = {theirs: language for language, theirs in LANGUAGES.items()}
    with zipfile.ZipFile(archive) as opened:
        for member in opened.namelist():
            named = _FILE.fullmatch(member)
            if named and named[2] in ours:
                for path, text in _leaves(json.loads(opened.read(member))):
                    texts_of[(named[1], *path)][ours[named[2]]] = " ".join(text.split())
    return tuple(_messages(texts_of))


def _messages(texts_of: dict[tuple[str, ...], dict[str, str]]) -> Iterator[Message]:
    for (integration, *path), texts in sorted(texts_of.items()):
        kind = message_type(tuple(path))
        if kind and (english := texts.get("en")):
            translated = {
                language: text for language, text in texts.items() if text and (language == "en" or text != english)
            }
            yield Message(".".join((integration, *path)), integration, TYPES.index(kind), translated)


def message_type(path: tuple[str, ...]) -> str | None:
    """The type of the message at a path of a translation file; None for names, titles and states.

    >>> message_type(("config", "step", "user", "data_description", "host"))
    'field'
    """
    match path:
        case ("issues", *_):
            return "issue"
        case ("exceptions", *_) | (_, "error" | "abort", *_):
            return "error"
        case ("services", _, "description"):
            return "action"
        case ("services", _, "fields", *_, "description") | (_, "step", _, *_, "data_description", _):
            return "field"
        case (_, "step", _, "description"):
            return "instruction"
    return None


def _leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Path and text of every string in a translation file."""
    if isinstance(tree, str):
        yield path, tree
    else:
        for key, below in tree.items():
            yield from _leaves(below, (*path, key))
