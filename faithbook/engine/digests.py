"""Digests of values, files and code: what a run's name is made of.

**Code.** A notebook depends on the modules that its import statements reach, through all imports of both packages. The
face of a package (its `__init__.py`) is looked through, not gone through: `from faithlib.metrics import saco` reaches
the module in which the face finds `saco`, not all that the face names. Who imports a package as a whole takes all.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithbook.paths import root
from faithlib.errors import DataError

_PACKAGES = Path(__file__).resolve().parents[2]  # the folder that holds both packages
_OURS = ("faithlib", "faithbook")
# Scheduling and bookkeeping cannot change a number, so changing them must not cost an hour of computing again.
_NOT_IN_DIGEST = "faithbook.engine"
_LARGE = 1 << 26  # bytes: what takes a tenth of a second to read, and on a shared disk more, is read once a machine
_READER = 1  # counts the ways in which `_read` has read code: what was kept of another is not taken


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
        total.update(f"{file.relative_to(path)}\0".encode())
        size, changed = file.stat().st_size, file.stat().st_mtime_ns
        # Only large files are worth remembering: two edits of a small one may fall within one tick of the file system.
        total.update(
            _file_digest(file, size, changed) if size > 1 << 20 else hashlib.sha256(file.read_bytes()).digest()
        )
    return total.hexdigest()[:12]


@functools.lru_cache(maxsize=4096)
def _file_digest(path: Path, size: int, changed: int) -> bytes:
    if size < _LARGE:
        return _read_digest(path)
    found = path.stat()
    place = [str(path.resolve()), size, changed, found.st_ctime_ns, found.st_ino]
    kept = root() / "data" / "results" / ".digests" / digest(place)
    with contextlib.suppress(OSError, ValueError):
        if len(told := bytes.fromhex(kept.read_text(encoding="ascii"))) == hashlib.sha256().digest_size:
            return told
    read = _read_digest(path)
    _keep(kept, read.hex())
    return read


def _read_digest(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _keep(path: Path, text: str) -> None:
    """Write a file for other processes to read; where nothing can be written, they find it out themselves."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        mine = path.with_suffix(f".{os.getpid()}.part")
        mine.write_text(text, encoding="utf-8")
        mine.replace(path)


# --- code ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parsed:
    """A piece of code: the digest of what it does ("" where nobody asks), what it imports of ours (bound name, module,
    name in it; "" for a module as a whole), and the words that its strings hold, `*` where a value stands in one."""

    tree: str
    imports: tuple[tuple[str, str, str], ...]
    words: frozenset[str]


@dataclass(frozen=True)
class Code:
    """What a piece of code reaches of ours: one digest, the names of the modules, and the words of all strings."""

    digest: str
    modules: frozenset[str]
    words: frozenset[str]


@functools.lru_cache(maxsize=1024)
def _parse(code: str, digested: bool = True) -> Parsed:
    """A piece of code, read once on this machine: every notebook plans in a process of its own."""
    named = f"{_READER} {sys.version_info[:2]} {digested}\n{code}"
    kept = root() / "data" / "results" / ".code" / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.json"
    try:
        tree, imports, words = json.loads(kept.read_text(encoding="utf-8"))
        return Parsed(tree, tuple(tuple(one) for one in imports), frozenset(words))
    except (OSError, ValueError, TypeError):
        found = _read(code, digested)
    _keep(kept, json.dumps([found.tree, found.imports, sorted(found.words)]))
    return found


def _read(code: str, digested: bool) -> Parsed:
    tree = ast.parse(code)
    imports: list[tuple[str, str, str]] = []
    words: set[str] = set()
    said: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value.isidentifier() and id(node) not in said:
                words.add(node.value)
        elif isinstance(node, ast.Expr):
            said.add(id(node.value))  # a string that nothing is done with
        elif isinstance(node, ast.JoinedStr):
            words.add("".join(map(_fixed, node.values)))
        elif isinstance(node, ast.Import):
            imports += [(alias.asname or alias.name, alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports += [(alias.asname or alias.name, node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]  # words about the code are not the code
    ours = tuple(sorted({one for one in imports if one[1].split(".")[0] in _OURS}))
    return Parsed(digest(ast.dump(tree)) if digested else "", ours, frozenset(filter(_is_name, words)))


def _fixed(part: ast.expr) -> str:
    """A part of an f-string as far as the code alone tells it."""
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "*"


def _is_name(word: str) -> bool:
    """Whether a string may be the name of a table: a pattern needs letters of its own, or it would match all."""
    return word.replace("*", "_").isidentifier() and sum(letter.isalpha() for letter in word) > 3


class Library:
    """The modules of both packages as they are now, each read once."""

    def __init__(self) -> None:
        self._files: dict[str, Path | None] = {}
        self._modules: dict[str, Parsed] = {}
        self._found: dict[tuple[str, str], tuple[str, ...]] = {}

    def code(self, text: str) -> Code:
        """What the code of a notebook reaches, through all imports; words about code do not count."""
        own = _parse(text, digested=False)
        reached: set[str] = set()
        looked_up: set[tuple[str, str]] = set()
        todo = [(module, name) for _, module, name in own.imports]
        while todo:
            place = todo.pop()
            if place in looked_up or place[0].startswith(_NOT_IN_DIGEST):
                continue
            looked_up.add(place)
            for module in self.found(*place):
                if module not in reached and not module.startswith(_NOT_IN_DIGEST):
                    reached.add(module)
                    todo += [(inner, name) for _, inner, name in self._parsed(module).imports]
        trees = {name: self._parsed(name).tree for name in reached}
        words = own.words.union(*(self._parsed(name).words for name in reached))
        return Code(digest([trees, sorted(looked_up)]), frozenset(reached), words)

    def found(self, module: str, name: str) -> tuple[str, ...]:
        """The modules that `from module import name` reaches ("": the module as a whole)."""
        if (module, name) not in self._found:
            self._found[module, name] = tuple(self._find(module, name))
        return self._found[module, name]

    def _find(self, module: str, name: str) -> Iterator[str]:
        if name and self._file(f"{module}.{name}"):
            module, name = f"{module}.{name}", ""
        file = self._file(module)
        if file is None:
            return
        if not name or file.name != "__init__.py":
            yield module  # a package as a whole: its face, whose imports are followed
            return
        led = [(inner, what) for bound, inner, what in self._parsed(module).imports if bound == name]
        for inner, what in led:
            yield from self.found(inner, what)
        if not led:
            yield module  # defined in the face itself

    def _parsed(self, module: str) -> Parsed:
        if module not in self._modules:
            file = self._file(module)
            self._modules[module] = _parse(file.read_text(encoding="utf-8") if file else "")
        return self._modules[module]

    def _file(self, module: str) -> Path | None:
        if module not in self._files:
            place = _PACKAGES.joinpath(*module.split("."))
            both = (place / "__init__.py", place.with_suffix(".py"))
            self._files[module] = next((file for file in both if file.is_file()), None)
        return self._files[module]
