"""What keeps the library from being uploaded, with file and line: `make release` runs this before it builds anything.

Nobody can write the repository's address before the repository has one, so these places wait for a hand
(docs/publishing.md): `[project.urls]` of pyproject.toml, and whatever in faithlib/README.md leads to a file by a
relative path, which a registry cannot follow.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)|<(img|a)\b[^>]*?\b(?:src|href)=[\"']([^\"']+)")


def obstacles(root: Path) -> list[str]:
    """One line for each place, "file:line: what is wrong"; nothing where the library can be uploaded."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    found = []
    if not project.get("urls"):
        number = text.splitlines().index("[project]") + 1
        found.append(f"pyproject.toml:{number}: no [project.urls]; write the addresses of the repository there")
    for number, line in enumerate((root / project["readme"]).read_text(encoding="utf-8").splitlines(), start=1):
        for mark, markdown, tag, html in TARGET.findall(line):
            target = markdown or html
            if not re.match(r"https?://|mailto:|#", target):
                kind = "picture" if mark or tag == "img" else "link"
                found.append(
                    f"{project['readme']}:{number}: the {kind} {target} is a relative path, which a registry cannot "
                    "follow; write its whole address"
                )
    return found


if __name__ == "__main__":
    lines = obstacles(ROOT)
    if lines:
        sys.exit("\n".join([*lines, "nothing was built; docs/publishing.md says what comes before a release"]))
