"""What a report page shows as MyST text: where its files lie, their downloads, badges of verdicts."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Protocol


class Folder(Protocol):
    """Where a report writes its public files: `faithbook.engine.run.Run`."""

    def path(self, name: str) -> Path:
        """The place of a file."""
        ...

    def link(self, name: str) -> str:
        """How the report's page refers to it."""
        ...


def downloads(run: Folder, *names: str) -> str:
    """A line of links to files of the page, each called by its ending."""
    return "Download: " + ", ".join(f"{{download}}`{Path(name).suffix[1:]} <{run.link(name)}>`" for name in names)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it when whole, so that a file that is there is never a part."""
    part = path.with_suffix(path.suffix + ".part")
    part.write_bytes(content)
    os.replace(part, path)


def badge(verdict: str) -> str:
    """A verdict as a coloured word (colour is never the only sign: the word is there)."""
    return f'<span class="verdict verdict-{re.sub(r"[^a-z]+", "-", verdict)}">{html.escape(verdict)}</span>'
