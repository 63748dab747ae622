"""Digests of values, files and code: what a run's name is made of."""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

_PACKAGES = Path(__file__).resolve().parents[2]  # the folder that holds both packages
# Scheduling and bookkeeping cannot change a number, so changing them must not cost an hour of computing again.
_NOT_IN_DIGEST = "faithbook.engine"


def digest(value: Any) -> str:
    """Sha256 of the canonical JSON of a value, 12 hexadecimal digits of it.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def tree_digest(path: Path) -> str:
    """Digest of a file, or of the names and contents of all files below a folder; "-" where there is none."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    if not files:
        return "-"
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(path)}\0".encode())
        size, changed = file.stat().st_size, file.stat().st_mtime_ns
        # Only large files are worth remembering: two edits of a small one may fall within one tick of the file system.
        total.update(
            _file_digest(file, size, changed) if size > 1 << 20 else hashlib.sha256(file.read_bytes()).digest()
        )
    return total.hexdigest()[:12]


@functools.lru_cache(maxsize=4096)
def _file_digest(path: Path, _size: int, _changed: int) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


@functools.lru_cache(maxsize=1024)
def _parse(code: str) -> tuple[str, frozenset[str]]:
    """(digest of a piece of code, our modules that its import statements name)."""
    found: set[str] = set()
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]  # words about the code are not the code
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return digest(ast.dump(tree)), frozenset(name for name in found if name.split(".")[0] in ("faithlib", "faithbook"))


def _module_files(name: str) -> list[Path]:
    base = _PACKAGES.joinpath(*name.split("."))
    if base.is_dir():  # a package may load its parts by name: take them all
        return [base / "__init__.py"] if "." not in name else sorted(base.rglob("*.py"))
    file = base.with_suffix(".py")
    return [file] if file.is_file() else []


@functools.lru_cache(maxsize=256)  # the code a process has loaded does not change under it either
def code_digest(code: str) -> str:
    """Digest of the parts of both packages that a notebook uses, through all imports; words about code do not count."""
    seen: dict[Path, str] = {}
    todo = set(_parse(code)[1])
    while todo:
        name = todo.pop()
        for file in _module_files(name):
            if file not in seen and not _module_name(file).startswith(_NOT_IN_DIGEST):
                seen[file], named = _parse(file.read_text(encoding="utf-8"))
                todo |= named
    return digest({str(file.relative_to(_PACKAGES)): tree for file, tree in seen.items()})


def _module_name(file: Path) -> str:
    return ".".join(file.relative_to(_PACKAGES).with_suffix("").parts)
