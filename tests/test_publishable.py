"""What keeps the library from being uploaded is found, with file and line, before anything is built."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import publishable

ROOT = Path(__file__).resolve().parents[1]
URLS = '\n[project.urls]\nSource = "https://example.org/source"\n'


def project(folder: Path, *, urls: str, readme: str) -> Path:
    (folder / "faithlib").mkdir()
    text = f'[build-system]\n\n[project]\nname = "faithlib"\nreadme = "faithlib/README.md"\n{urls}'
    (folder / "pyproject.toml").write_text(text)
    (folder / "faithlib" / "README.md").write_text(readme)
    return folder


def test_what_has_its_addresses_can_be_uploaded(tmp_path: Path) -> None:
    readme = "# faithlib\n![a](https://example.org/a.png) [b](#limits)\n<img src='https://example.org/a.png'>\n"
    assert publishable.obstacles(project(tmp_path, urls=URLS, readme=readme)) == []


def test_every_place_without_an_address_is_named(tmp_path: Path) -> None:
    readme = '# faithlib\n\n![a](../docs/report.png)\nsee [b](CHANGELOG.md)\n<img width="3" src="docs/b.png">\n'
    found = publishable.obstacles(project(tmp_path, urls="", readme=readme))
    assert [line.split(";")[0] for line in found] == [
        "pyproject.toml:3: no [project.urls]",
        "faithlib/README.md:3: the picture ../docs/report.png is a relative path, which a registry cannot follow",
        "faithlib/README.md:4: the link CHANGELOG.md is a relative path, which a registry cannot follow",
        "faithlib/README.md:5: the picture docs/b.png is a relative path, which a registry cannot follow",
    ]


def test_make_release_stops_before_it_builds(tmp_path: Path) -> None:
    """In a folder of its own, whose environment is this Python alone; what was built before stays."""
    project(tmp_path, urls="", readme="![a](../docs/report.png)\n")
    for name in ("Makefile", "requirements.lock", "tests/publishable.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / ".venv" / "bin" / "python").chmod(0o755)
    (tmp_path / "dist").mkdir()
    line = ["make", "--old-file=requirements.lock", "release", "ENVIRONMENT=Makefile"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "pyproject.toml:3: no [project.urls]" in done.stderr
    assert "faithlib/README.md:1: the picture ../docs/report.png" in done.stderr and "nothing was built" in done.stderr
    assert (tmp_path / "dist").is_dir()
