"""A process with the slow imports behind it, of which the notebooks of a build are copies.

Starting a notebook takes two processes, and each imports papermill or torch, transformers and pandas before its first
line: nine seconds of processor time (measured with the list below), for each of some sixty notebooks. During a build
one *warm* process (`warmed`) imports them once, which saves four minutes of a fresh laptop book on two cores (measured
twice). What else would be `python -m MODULE ...` is asked of it and forked:

    python -m faithbook.engine.warm MODULE [ARGUMENT ...]     does what  python -m MODULE [ARGUMENT ...]  would do

with the same environment, folder, streams, signals and status. Where no warm process can be reached (a notebook run by
itself, a cluster's node, a system on which forks are not safe) it starts Python as ever. Only third-party packages are
imported before the fork: code of this repository that changes during a build is read by every notebook again.

The one who asks holds a connection: a line with the request, three streams, then a byte for each signal to pass on. The
answer is an empty line once the copy runs, and a line with its status. Who gets no first line starts Python instead. A
connection that ends early ends what was forked for it, so that no kernel outlives its runner; and the warm process ends
with the build that holds its standard input.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from faithbook.engine.machine import build_context

WARM = "warm"  # the name of the place where the warm process listens, in what a build hands on
_SLOW = (
    *("jupytext", "papermill", "ipykernel.kernelapp", "ipykernel.ipkernel", "IPython.core.interactiveshell"),
    *("pandas", "pyarrow.parquet", "scipy.stats", "sklearn.linear_model", "sklearn.metrics"),
    *("matplotlib.figure", "matplotlib.backends.backend_svg", "seaborn", "PIL.Image", "tqdm.auto"),
    *("torch", "safetensors.torch", "captum.attr", "timm", "timm.data", "timm.models.vision_transformer"),
    *(
        "transformers.modeling_outputs",
        "transformers.models.auto.modeling_auto",
        "transformers.models.bert.modeling_bert",
    ),
)
_WORTH_IT = 6  # notebooks; the imports take as long as the start of one, on a core that a build of few has free anyway
_POLL_SECONDS = 1.0
_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


# ------------------------------------------------------------------------------------------------------ who asks for it
def main(arguments: list[str]) -> int:
    """Run a module with its arguments as a copy of the warm process, or as its own process; returns its status."""
    connection = _asked(arguments)
    if connection is None:
        os.execv(sys.executable, [sys.executable, "-m", *arguments])
    for number in _PASSED_ON:
        signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
    return _status(connection)


def _asked(arguments: list[str]) -> socket.socket | None:
    """The connection to a warm process that has made a copy; None where there is none, or it ended before it had."""
    request = {"arguments": arguments, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    try:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(build_context()[WARM])
        socket.send_fds(connection, [b"\n"], [0, 1, 2])
        connection.sendall(json.dumps(request).encode() + b"\n")
        return connection if connection.recv(1) else None
    except (KeyError, OSError, AttributeError):
        return None


def _status(connection: socket.socket) -> int:
    """Wait for the status that is sent back; whoever loses the process that started it leaves, which ends the copy."""
    parent, answer = os.getppid(), b""
    connection.settimeout(_POLL_SECONDS)
    while not answer.endswith(b"\n"):
        try:
            part = connection.recv(64)
        except TimeoutError:
            if os.getppid() != parent:
                return 1
            continue
        if not part:
            return 1
        answer += part
    status = int(answer)
    if status < 0:  # ended by a signal; a shell would say so in these words
        return 128 - status
    return status


# --------------------------------------------------------------------------------------------------- who answers for it
@contextlib.contextmanager
def warmed(notebooks: int, environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """What requests find a warm process by, which lives as long as this context.

    `environment`: what imports read but copies cannot change any more, such as the number of threads.

    Empty where copies are not safe, and for fewer than six `notebooks`, which would hardly share the imports.
    """
    if notebooks < _WORTH_IT or not _is_safe():
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="faithbook-") as folder:
        place = str(Path(folder, "warm"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place)  # requests wait for the imports from now on
            listener.listen(64)
            process = subprocess.Popen(
                [sys.executable, "-c", f"import {__name__} as warm; warm.serve({listener.fileno()})"],
                pass_fds=[listener.fileno()],
                stdin=subprocess.PIPE,
                env={**os.environ, **environment},
            )
        try:
            yield {WARM: place}
        finally:
            process.communicate()  # closes its standard input, at which it ends


def _is_safe() -> bool:
    """Whether copies are safe: on Linux, where a process can be held by a handle, and without a GPU, whose driver does
    not outlive a fork."""
    if not sys.platform.startswith("linux") or Path("/dev/nvidiactl").exists():
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:  # an old kernel, or a sandbox that does not allow it
        return False
    return True


def serve(listening: int) -> None:
    """Import what is slow, then fork for every connection until the standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the build ends in order, and then this does
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as kernels have it; read at the import
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a package says of a missing other one is for nobody's screen
        for name in _SLOW:
            with contextlib.suppress(Exception):  # whoever needs a package that is broken is told by its own import
                importlib.import_module(name)
    if threading.active_count() > 1:  # a fork takes no threads with it: then everybody starts Python
        return
    gc.freeze()  # what is here already is never collected, and so its pages stay shared
    with socket.socket(fileno=listening) as listener:
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                _answer(connection)
            connection.close()
            _reap(os.WNOHANG)
    _reap(0)  # those who answer see the same end
    os._exit(0)  # as copies end: there is nothing to put away


def _reap(options: int) -> None:
    """Take note of those that have answered; with options of 0, wait for all."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


def _answer(connection: socket.socket) -> NoReturn:
    """Fork a copy for one who asks, and send its status when it ends; runs in a process of its own between the two."""
    if (request := _read(connection)) is None:
        os._exit(0)
    if not (process := os.fork()):
        connection.close()
        _become(request)
    signal.signal(signal.SIGTERM, lambda number, _: _signal(process, number))  # of the whole group that the build is in
    for stream in request["streams"]:
        os.close(stream)
    with contextlib.suppress(OSError):  # who has left is seen at once below
        connection.sendall(b"\n")
    _pass_signals(connection, process)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(f"{status}\n".encode())
    os._exit(0)


def _pass_signals(connection: socket.socket, process: int) -> None:
    """Hand signals on until a copy ends; it is killed where the build ends or who asked for it leaves."""
    ended, signals = os.pidfd_open(process), b" "
    while signals and ended not in (ready := select.select([connection, sys.stdin, ended], [], [])[0]):
        signals = b""
        with contextlib.suppress(ConnectionError):
            signals = b"" if sys.stdin in ready else connection.recv(16)
        for number in signals or [signal.SIGKILL]:
            _signal(process, number)


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, number)


def _read(connection: socket.socket) -> dict[str, Any] | None:
    """A request with its three streams; None from one who left before it was whole."""
    first, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as sent:
        line = sent.readline()
    if not (first and line.endswith(b"\n")):
        for stream in streams:
            os.close(stream)
        return None
    return {**json.loads(line), "streams": streams}


def _become(request: dict[str, Any]) -> NoReturn:
    """Be the process that was asked for."""
    os.setsid()
    for place, stream in enumerate(request["streams"]):
        os.dup2(stream, place)
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    module, *arguments = request["arguments"]
    sys.argv = [module, *arguments]
    status: str | int | None = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
    # Ends as Python does, without taking every imported module to pieces, which takes a second and is of no use.
    if isinstance(status, str):
        print(status, file=sys.stderr)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if isinstance(status, str) else status or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
