"""Digests of values, files and code: what a run's name is made of.

**Code.** A notebook depends on the modules that its import statements reach, through all imports of both packages. The
face of a package (its `__init__.py`) is looked through, not gone through: `from faithlib.metrics import saco` reaches
the module in which the face finds `saco`, not all that the face names. Who imports a package as a whole takes all.
A module counts by its syntax tree without docstrings and comments, in a form that is the same for every Python.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithlib.errors import DataError

_PACKAGES = Path(__file__).resolve().parents[2]  # the folder that holds both packages
_OURS = ("faithlib", "faithbook")
# Scheduling and bookkeeping cannot change a number, so changing them must not cost an hour of computing again.
# Nor does what finds files by their names: a run depends on what it declares, by the digest of the content.
_NOT_IN_DIGEST = ("faithbook.engine", "faithbook.artifacts")


def digest(value: Any) -> str:
    """Sha256 of the canonical JSON of a value, 12 hexadecimal digits of it.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def tree_digest(path: Path) -> str:
    """Digest of a file, or of the names and contents of all files below a folder; DataError where there is none."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    if not files:
        raise DataError(f"{path} is not there, but results depend on it: put it there, or take it out of what is read")
    total = hashlib.sha256()
    for file in files:
        size, changed = file.stat().st_size, file.stat().st_mtime_ns
        # Only large files are worth remembering: two edits of a small one may fall within one tick of the file system.
        content = _large(file, size, changed) if size > 1 << 20 else hashlib.sha256(file.read_bytes()).digest()
        total.update(f"{file.relative_to(path)}\0".encode() + content)
    return total.hexdigest()[:12]


@functools.lru_cache(maxsize=4096)
def _large(path: Path, _size: int, _changed: int) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


# --- code ------------------------------------------------------------------------------------------------------------
Import = tuple[str, str, str]
"""Bound name, module, name in it ("": the module as a whole)."""


@dataclass(frozen=True)
class Code:
    """What a piece of code reaches of ours: one digest, and the names of the modules."""

    digest: str
    modules: frozenset[str]


@functools.lru_cache(maxsize=1024)
def _read(code: str) -> tuple[str, tuple[Import, ...]]:
    """The digest of what a piece of code does, and what it imports of ours."""
    tree = ast.parse(code)
    imports: set[Import] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {(alias.asname or alias.name, alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports |= {(alias.asname or alias.name, node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]  # words about the code are not the code
    ours = sorted(found for found in imports if found[1].split(".")[0] in _OURS)
    return digest(ascii(_plain(tree))), tuple(ours)  # which characters `repr` shows differs between Pythons


def _plain(node: ast.AST) -> list[Any]:
    """A syntax tree as lists. What a Python has added to trees since 3.11 is empty in our code, and left out as all is
    that is empty. So are the empty texts that 3.12 finds in f-strings, and whether a name is read or set."""
    parts: list[Any] = [type(node).__name__]
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if name != "ctx":
                parts.append((name, _plain(value)))
        elif isinstance(value, list):
            if isinstance(node, ast.JoinedStr):
                value = [piece for piece in value if not (isinstance(piece, ast.Constant) and piece.value == "")]
            if value:
                parts.append((name, [_plain(item) if isinstance(item, ast.AST) else item for item in value]))
        elif value is not None:
            parts.append((name, value))
    return parts


class Library:
    """The modules of both packages as they are now, each read once."""

    def __init__(self) -> None:
        self._file = functools.cache(_file_of)
        self._module = functools.cache(self._read_module)
        self.leads_to = functools.cache(self._leads_to)

    def code(self, text: str) -> Code:
        """What the code of a notebook reaches, through all imports; words about code do not count."""
        reached: set[str] = set()
        looked_up: set[tuple[str, str]] = set()
        todo = [(module, name) for _, module, name in _read(text)[1]]
        while todo:
            place = todo.pop()
            if place in looked_up or place[0].startswith(_NOT_IN_DIGEST):
                continue
            looked_up.add(place)
            for module in self.leads_to(*place):
                if module not in reached and not module.startswith(_NOT_IN_DIGEST):
                    reached.add(module)
                    todo += [(inner, name) for _, inner, name in self._module(module)[1]]
        trees = {name: self._module(name)[0] for name in reached}
        return Code(digest([trees, sorted(looked_up)]), frozenset(reached))

    def _leads_to(self, module: str, name: str) -> tuple[str, ...]:
        """The modules that `from module import name` reaches ("": the module as a whole)."""
        if name and self._file(f"{module}.{name}"):
            module, name = f"{module}.{name}", ""
        file = self._file(module)
        if file is None:
            return ()
        if not name or file.name != "__init__.py":
            return (module,)  # a package as a whole: its face, whose imports are followed
        led = [(inner, inner_name) for bound, inner, inner_name in self._module(module)[1] if bound == name]
        if not led:
            return (module,)  # defined in the face itself
        return tuple(reached for inner, inner_name in led for reached in self.leads_to(inner, inner_name))

    def _read_module(self, module: str) -> tuple[str, tuple[Import, ...]]:
        file = self._file(module)
        return _read(file.read_text(encoding="utf-8") if file else "")


def _file_of(module: str) -> Path | None:
    place = _PACKAGES.joinpath(*module.split("."))
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file()), None)
