"""Headless Chromium over its debugging pipe: enough to load a page, watch what it asks for, question and print it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from faithlib.errors import DataError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--no-first-run",
    ),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-extensions",
    ),
    *("--disable-sync", "--mute-audio"),
)


def chromium() -> str | None:
    """The path of an installed Chromium, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One running Chromium with one page, none of whose requests can leave the machine."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self._process, self._write, self._read = process, write, read
        self._number, self._buffer = 0, b""
        self._events: list[dict[str, Any]] = []
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command to the page and wait for its answer."""
        return self._ask(method, parameters, self._session)

    def open(self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> list[str]:
        """Load a page at a size and in a colour scheme; returns the addresses it asked for."""
        self.turn(width=width, height=height, dark=dark)
        self._events.clear()
        self.ask("Page.navigate", url=url)
        self._wait(lambda event: event.get("method") == "Page.loadEventFired")
        # Mathematics is set after loading; a page without any has no MathJax.
        self.evaluate("window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => true) : true")
        self.evaluate("document.fonts.ready.then(() => true)")
        sent = [event for event in self._events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def turn(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Show the page that is open at another size and in another colour scheme, without loading it again."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def evaluate(self, expression: str) -> Any:
        """The JSON value of a JavaScript expression (promises are waited for)."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def print(self, *, seconds: float = 300) -> bytes:
        """The page that is open as a PDF on A4, without head and foot; `seconds`: how long it may take."""
        told = {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69, "scale": 0.8}
        margins = {"marginTop": 0.6, "marginBottom": 0.75, "marginLeft": 0.6, "marginRight": 0.6}
        answer = self._ask("Page.printToPDF", {**told, **margins}, self._session, seconds=seconds)
        return base64.b64decode(answer["data"])

    def _ask(
        self, method: str, parameters: dict[str, Any], session: str | None = None, *, seconds: float = 60
    ) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda event: event.get("id") == number, seconds)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _wait(self, wanted: Any, seconds: float = 60) -> dict[str, Any]:
        for event in self._events:
            if wanted(event):
                return event
        deadline = time.monotonic() + seconds
        while True:
            while b"\0" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self._read], [], [], left)[0]:
                    raise TimeoutError("Chromium did not answer")
                if not (piece := os.read(self._read, 1 << 20)):
                    raise RuntimeError(f"Chromium ended with status {self._process.wait()}")
                self._buffer += piece
            line, _, self._buffer = self._buffer.partition(b"\0")
            event = json.loads(line)
            if "id" not in event:
                self._events.append(event)
            if wanted(event):
                return event


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium of its own, gone with its profile at the end; DataError where none is installed."""
    program = chromium()
    if not program:
        raise DataError(f"no Chromium on this machine (looked for {', '.join(NAMES)}): apt-get install chromium")
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = [
            *FLAGS,
            f"--user-data-dir={profile}",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--remote-debugging-pipe",
        ]
        # The protocol wants its two ends at the descriptors 3 and 4.
        line = ["bash", "-c", f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}', program, *flags, "about:blank"]
        process = subprocess.Popen(
            line, pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(from_write)
        try:
            yield Browser(process, to_write, from_read)
        finally:
            process.terminate()
            process.wait(timeout=20)
            os.close(to_write)
            os.close(from_read)
