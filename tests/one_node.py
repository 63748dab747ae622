"""A Slurm of one node with eight GPUs that do not exist, in a folder and on ports of its own; needs root and Debian's
packages slurm-wlm and munge."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_COMMANDS = ("setpriv", "munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel")
_CONFIGURATION = """\
ClusterName=faithbook
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=5
MinJobAge=1800
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 Gres=gpu:8
PartitionName=gpu Nodes={host} Default=YES MaxTime=1-0 State=UP
"""


def missing() -> str:
    """Why there can be no Slurm here; "" where there can."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "starting a Slurm of its own needs root on Linux"
    lacking = [name for name in _COMMANDS if shutil.which(name) is None]
    return f"no {', '.join(lacking)} here (Debian: apt-get install slurm-wlm munge)" if lacking else ""


@contextlib.contextmanager
def running(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands find the cluster, which lives as long as this context."""
    host = socket.gethostname().partition(".")[0]
    for name in ("munge", "state", "spool", "bin"):
        (folder / name).mkdir(parents=True, mode=0o700)
    for number in range(8):
        (folder / f"gpu{number}").touch()
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    controller, node = _free_ports(2)
    told = {"folder": folder, "host": host, "controller": controller, "node": node}
    configuration = folder / "slurm.conf"
    configuration.write_text(_CONFIGURATION.format(**told))
    (folder / "gres.conf").write_text(f"Name=gpu File={folder}/gpu[0-7]\n")
    # Inside a job the plugin takes away all variables of Slurm's, as it can where the configuration lies in /etc.
    srun = folder / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={configuration} exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    environment = {"SLURM_CONF": str(configuration), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    munged = ["munged", "--foreground", "--force", f"--socket={folder}/munge/socket", f"--key-file={key}"]
    munged += [f"--{name}-file={folder}/munge/{name}" for name in ("pid", "log", "seed")]
    with contextlib.ExitStack() as stack:
        _start(stack, munged, environment)
        _until(folder / "munge" / "socket")
        _start(stack, ["slurmctld", "-D"], environment)
        _start(stack, ["slurmd", "-D"], environment)
        _until_idle(environment, folder)
        stack.callback(_end_jobs, environment)
        yield environment


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


def _start(stack: contextlib.ExitStack, line: list[str], environment: dict[str, str]) -> None:
    settings = {**os.environ, **environment}
    line = ["setpriv", "--pdeathsig", "TERM", *line]  # a killed test run leaves no daemons
    process = subprocess.Popen(line, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end() -> None:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(end)


def _until(path: Path) -> None:
    deadline = time.monotonic() + 240
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.1)


def _until_idle(environment: dict[str, str], folder: Path) -> None:
    deadline = time.monotonic() + 240
    while ask(environment, "sinfo", "--noheader", "--format=%T") != "idle":
        logs = "\n".join(path.read_text() for path in folder.glob("*.log"))
        assert time.monotonic() < deadline, f"the node did not come up:\n{logs}"
        time.sleep(0.2)


def _end_jobs(environment: dict[str, str]) -> None:
    deadline = time.monotonic() + 240
    while queue := ask(environment, "squeue", "--noheader", "--format=%i").split():
        ask(environment, "scancel", *queue)
        assert time.monotonic() < deadline, f"jobs do not end: {queue}"
        time.sleep(0.5)


def ask(environment: dict[str, str], *words: str) -> str:
    """What a command of Slurm's prints."""
    settings = {**os.environ, **environment}
    return subprocess.run(words, env=settings, capture_output=True, text=True, timeout=120, check=False).stdout.strip()
