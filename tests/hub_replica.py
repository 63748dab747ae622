"""A hub on this machine: the part of the hub's protocol that huggingface_hub, transformers and timm speak.

    with Replica() as replica:
        replica.add("bert-base-uncased", files, revision="86b5e09…", licence="apache-2.0")
        replica.environment(cache)          # HF_ENDPOINT and what else a process needs to ask here
        replica.fault("cut", "*/model.safetensors", after=1000)

Files are answered as the hub answers them: small ones in place, large ones (`LARGE`) by a redirect to another host's
store, with the commit, the size and the digest in the first answer; ranges are given. Who asks for an old name is sent
on to the new one. `/files/…` serves what other addresses would (data sets). Every request is kept in `asked`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

LARGE = (".safetensors", ".bin", ".model", ".msgpack", ".h5")
"""The endings of files that the hub keeps in its store of large files."""
NEWEST = "main"


@dataclass
class Repository:
    """A repository: the files of each commit, and which commit a name stands for."""

    commits: dict[str, dict[str, Path]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    licence: str = ""
    is_gated: bool = False

    def commit_of(self, revision: str) -> str | None:
        found = self.names.get(unquote(revision), unquote(revision))
        return found if found in self.commits else None


@dataclass
class Fault:
    """What goes wrong with requests of such a path: `kind` is "status", "cut" or "size"; `times` says how often."""

    kind: str
    pattern: str
    times: int
    given: Mapping[str, Any]


class Replica:
    """The server; as a context it runs."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.moved: dict[str, str] = {}
        self.served: dict[str, Path] = {}
        self.faults: list[Fault] = []
        self.asked: list[tuple[str, str, str]] = []
        self._lock = Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.replica = self
        self.port = self._server.server_port

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def store(self) -> str:
        """The address of large files: to the client another host."""
        return f"http://localhost:{self.port}"

    def environment(self, home: Path) -> dict[str, str]:
        """What a process needs to ask here and nowhere else, with its cache in a folder of its own."""
        told = {"HF_ENDPOINT": self.address, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"}
        told |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        return told | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")

    def add(
        self, name: str, files: Path, *, revision: str = "", licence: str = "", gated: bool = False, old: str = ""
    ) -> str:
        """A repository with the files of a folder at its newest commit, which is returned; `old`: a name it had."""
        inside = {str(path.relative_to(files)): path for path in sorted(files.rglob("*")) if path.is_file()}
        told = "".join(f"{file} {digest(path)}\n" for file, path in inside.items())
        commit = revision or hashlib.sha1(told.encode()).hexdigest()
        one = self.repositories.setdefault(name, Repository())
        one.commits[commit], one.names[NEWEST] = inside, commit
        one.licence, one.is_gated = licence or one.licence, gated
        if old:
            self.moved[old] = name
        return commit

    def fault(self, kind: str, pattern: str, *, times: int = 1, **given: Any) -> None:
        """Let something go wrong with the next requests whose path is of this pattern (`*` is anything).

        "status": an answer of that number, with these headers. "cut": of a file only `after` bytes come.
        "size": a file is said to be `more` bytes larger than it is.
        """
        self.faults.append(Fault(kind, pattern, times, given))

    def taken(self, kind: str, path: str) -> Mapping[str, Any] | None:
        """The fault that a request meets, which then has met it."""
        with self._lock:
            for fault in self.faults:
                if fault.kind == kind and fault.times and fnmatch(path, fault.pattern):
                    fault.times -= 1
                    return fault.given
        return None

    def sent(self, name: str, file: str) -> list[str]:
        """The ranges ("" for the whole) in which a large file of a repository was asked for."""
        start = f"/store/{name}/"
        return [
            span for how, path, span in self.asked if how == "GET" and path.startswith(start) and path.endswith(file)
        ]


def digest(path: Path) -> str:
    """The name of a file's content in the store."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    replica: Replica


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Quietly."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        replica = self.server.replica
        replica.asked.append((self.command, path, self.headers.get("Range", "")))
        if refused := replica.taken("status", path):
            told = dict(refused)
            self._say(int(told.pop("status")), headers=told)
            return
        for form, answer in _ROUTES:
            if found := form.fullmatch(path):
                answer(self, *found.groups())
                return
        self._say(HTTPStatus.NOT_FOUND)

    # ------------------------------------------------------------------------------------------------ repositories
    def _repository(self, name: str, rest: str) -> Repository | None:
        """A repository that is there and open; otherwise the answer has been given."""
        replica = self.server.replica
        if name in replica.moved:
            self._say(HTTPStatus.TEMPORARY_REDIRECT, headers={"Location": rest.format(replica.moved[name])})
            return None
        if name not in replica.repositories:  # to who is nobody, a repository may be there and not for him
            told = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            self._say(HTTPStatus.UNAUTHORIZED, headers=told)
            return None
        return replica.repositories[name]

    def _closed(self, one: Repository, name: str) -> bool:
        if one.is_gated:
            message = f"Access to model {name} is restricted. You must have access to it and be authenticated."
            self._say(HTTPStatus.FORBIDDEN, headers={"X-Error-Code": "GatedRepo", "X-Error-Message": message})
        return one.is_gated

    def _at(self, one: Repository, revision: str) -> tuple[str, dict[str, Path]] | None:
        commit = one.commit_of(revision)
        if commit is None:
            told = {"X-Error-Code": "RevisionNotFound", "X-Error-Message": f"Invalid rev id: {revision}"}
            self._say(HTTPStatus.NOT_FOUND, headers=told)
            return None
        return commit, one.commits[commit]

    def _resolve(self, name: str, revision: str, file: str) -> None:
        one = self._repository(name, f"/{{}}/resolve/{revision}/{file}")
        if one is None or self._closed(one, name):
            return
        if (found := self._at(one, revision)) is None:
            return
        commit, files = found
        about = {"X-Repo-Commit": commit}
        if file not in files:
            told = {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}
            self._say(HTTPStatus.NOT_FOUND, headers=about | told)
        elif file.endswith(LARGE):
            key, size = digest(files[file]), files[file].stat().st_size
            if wrong := self.server.replica.taken("size", f"{name}/{file}"):
                size += wrong["more"]
            about |= {"X-Linked-ETag": f'"{key}"', "X-Linked-Size": str(size)}
            place = f"{self.server.replica.store}/store/{name}/{key}/{file}"
            self._say(HTTPStatus.FOUND, headers=about | {"Location": place})
        else:
            self._send(files[file], about, f"{name}/{file}")

    def _store(self, name: str, key: str, file: str) -> None:
        for files in self.server.replica.repositories[name].commits.values():
            if file in files and digest(files[file]) == key:
                self._send(files[file], {}, f"{name}/{file}")
                return
        self._say(HTTPStatus.NOT_FOUND)

    def _info(self, name: str, revision: str | None) -> None:
        one = self._repository(name, "/api/models/{}" + (f"/revision/{revision}" if revision else ""))
        if one is None or (found := self._at(one, revision or NEWEST)) is None:
            return
        commit, files = found
        told = {"id": name, "modelId": name, "sha": commit, "private": False, "disabled": False}
        told |= {"gated": "manual" if one.is_gated else False, "siblings": list(self._siblings(files))}
        card = {"license": one.licence} if one.licence else {}
        self._json({**told, "cardData": card, "tags": [f"license:{one.licence}"] if one.licence else []})

    def _siblings(self, files: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
        sizes = "blobs=" in urlsplit(self.path).query
        for name, path in files.items():
            size = path.stat().st_size
            stored = {"lfs": {"sha256": digest(path), "size": size, "pointerSize": 134}} if name.endswith(LARGE) else {}
            yield {"rfilename": name, **({"size": size, "blobId": _blob(path), **stored} if sizes else {})}

    def _access(self, name: str) -> None:
        one = self._repository(name, "/api/models/{}/auth-check")
        if one is not None and not self._closed(one, name):
            self._json({})

    def _tree(self, name: str, revision: str, below: str | None) -> None:
        one = self._repository(name, f"/api/models/{{}}/tree/{revision}")
        if one is None or self._closed(one, name) or (found := self._at(one, revision)) is None:
            return
        commit, files = found
        start = f"{below}/" if below else ""
        inside = {file: path for file, path in files.items() if file.startswith(start)}
        if below and not inside:
            self._say(HTTPStatus.NOT_FOUND, headers={"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
            return
        rows = []
        for file, path in inside.items():
            size = path.stat().st_size
            stored = {"lfs": {"oid": digest(path), "size": size, "pointerSize": 134}} if file.endswith(LARGE) else {}
            rows.append({"type": "file", "path": file, "oid": _blob(path), "size": size, **stored})
        self._json(rows)

    def _file(self, name: str) -> None:
        found = self.server.replica.served.get(name)
        self._send(found, {}, name) if found else self._say(HTTPStatus.NOT_FOUND)

    # ---------------------------------------------------------------------------------------------------- answers
    def _send(self, path: Path, about: Mapping[str, str], name: str) -> None:
        """A file, or the rest of it from the byte that the request names."""
        content = path.read_bytes()
        whole = len(content)
        begins = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(begins[1]) if begins else 0
        content = content[start:]
        headers = {"ETag": f'"{_blob(path)}"', "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
        headers |= {"Content-Length": str(len(content)), **about}
        if begins:
            headers["Content-Range"] = f"bytes {start}-{whole - 1}/{whole}"
        cut = self.server.replica.taken("cut", name) if self.command == "GET" else None
        self._begin(HTTPStatus.PARTIAL_CONTENT if begins else HTTPStatus.OK, headers)
        if self.command == "GET":
            self.wfile.write(content[: cut["after"]] if cut else content)
        if cut:
            self.close_connection = True

    def _json(self, told: Any) -> None:
        content = json.dumps(told).encode()
        self._begin(HTTPStatus.OK, {"Content-Type": "application/json", "Content-Length": str(len(content))})
        if self.command == "GET":
            self.wfile.write(content)

    def _say(self, status: int, *, headers: Mapping[str, str] | None = None) -> None:
        self._begin(status, {"Content-Length": "0", **(headers or {})})

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _blob(path: Path) -> str:
    """What git calls a file of this content."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


_ID = r"([\w.-]+(?:/[\w.-]+)?)"
_ROUTES = [
    (re.compile(form), answer)
    for form, answer in (
        (rf"/api/models/{_ID}/revision/([^/]+)", _Handler._info),
        (rf"/api/models/{_ID}/tree/([^/]+)(?:/(.+))?", _Handler._tree),
        (rf"/api/models/{_ID}/auth-check", _Handler._access),
        (rf"/api/models/{_ID}()", lambda handler, name, _: handler._info(name, None)),
        (rf"/store/{_ID}/([0-9a-f]{{64}})/(.+)", _Handler._store),
        (r"/files/(.+)", _Handler._file),
        (rf"/{_ID}/resolve/([^/]+)/(.+)", _Handler._resolve),
    )
]
