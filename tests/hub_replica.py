"""A hub on this machine: as much of the hub's protocol as tells of models and downloads them with huggingface_hub.

with Replica() as replica:
    replica.models["lab/one"] = files        # a folder
    replica.gated.add("lab/other")
    replica.cut_after = 1000                 # bytes of a file, of which the rest never comes
"""

from __future__ import annotations

import hashlib
import json
import re
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self
from urllib.parse import urlsplit

COMMIT = "c" * 40
"""The newest commit of every model."""


class Replica(ThreadingHTTPServer):
    """The server; as a context it runs."""

    daemon_threads = True

    def __init__(self) -> None:
        self.models: dict[str, Path] = {}
        self.gated: set[str] = set()
        self.cut_after: int | None = None
        super().__init__(("127.0.0.1", 0), _Handler)

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Replica

    def log_message(self, *_: object) -> None:
        """Quietly."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        asked = re.fullmatch(r"/api/models/([\w-]+/[\w-]+)(/.*)?|/([\w-]+/[\w-]+)/resolve/\w+/(.+)", path)
        assert asked is not None, path
        name, what, file = asked[1] or asked[3], asked[2] or "", asked[4]
        if name not in self.server.models:
            self._refuse(HTTPStatus.UNAUTHORIZED, "RepoNotFound")
        elif name in self.server.gated and (file or what == "/auth-check"):
            self._refuse(HTTPStatus.FORBIDDEN, "GatedRepo")
        elif file:
            self._send(self.server.models[name] / file)
        else:
            self._json(self._about(name, what))

    def _about(self, name: str, what: str) -> Any:
        files = {path.name: path.stat().st_size for path in sorted(self.server.models[name].iterdir())}
        if what.startswith("/tree/"):
            return [{"type": "file", "path": file, "oid": file, "size": size} for file, size in files.items()]
        siblings = [{"rfilename": file, "size": size} for file, size in files.items()]
        return {"id": name, "sha": COMMIT, "siblings": siblings, "cardData": {"license": "mit"}, "tags": []}

    def _send(self, path: Path) -> None:
        """A file, or the rest of it from the byte that the request names."""
        content = path.read_bytes()
        begins = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        rest = content[int(begins[1]) :] if begins else content
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
        if begins:
            headers["Content-Range"] = f"bytes {begins[1]}-{len(content) - 1}/{len(content)}"
        self._begin(HTTPStatus.PARTIAL_CONTENT if begins else HTTPStatus.OK, len(rest), headers)
        if self.command == "GET":
            self.wfile.write(rest[: self.server.cut_after])
            self.close_connection = self.server.cut_after is not None

    def _json(self, said: Any) -> None:
        content = json.dumps(said).encode()
        self._begin(HTTPStatus.OK, len(content), {"Content-Type": "application/json"})
        self.wfile.write(content)

    def _refuse(self, status: HTTPStatus, code: str) -> None:
        self._begin(status, 0, {"X-Error-Code": code, "X-Error-Message": code})

    def _begin(self, status: HTTPStatus, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for header, value in {"Content-Length": str(length), **headers}.items():
            self.send_header(header, value)
        self.end_headers()
