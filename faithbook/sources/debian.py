"""Files out of Debian packages, which `dpkg-deb` opens."""

from __future__ import annotations

import io
import subprocess
import tarfile
from functools import cache
from pathlib import Path

from faithbook.sources.files import tar_member
from faithlib.errors import DataError


def package_names(archive: Path) -> list[str]:
    """The names of a package's plain files ("./usr/..."), in alphabetical order; DataError as `package_member`."""
    return sorted(one.name for one in _opened(archive).getmembers() if one.isfile())


def package_member(archive: Path, member: str) -> bytes:
    """One file of a package; DataError where the package cannot be read or lacks the file."""
    try:
        return tar_member(_opened(archive), member)
    except KeyError as error:
        raise DataError(f"{archive} has no file {member}: it is no package that is expected") from error


@cache
def _opened(archive: Path) -> tarfile.TarFile:
    try:
        done = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(archive)], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise DataError(f"{archive} is opened with dpkg-deb, which is not on this machine: install dpkg") from error
    if done.returncode:
        raise DataError(f"dpkg-deb cannot read {archive}: {done.stderr.decode(errors='replace').strip()}")
    return tarfile.open(fileobj=io.BytesIO(done.stdout))
