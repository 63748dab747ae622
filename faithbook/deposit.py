"""The reference as a data set of its own: an archive with its metadata, ready to be deposited and to be given a DOI.

In it: what the committed run of the full profile found (`data/reference`), the papers' printed numbers and the rules
(`data/published`), our tables beside them, and, made from the repository's own, `CITATION.cff`, `codemeta.json` and a
README. No text and no picture of others is among these files. The same commit gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import yaml

from faithbook.paths import root
from faithlib.errors import DataError

PLACES = ("data/reference", "data/published")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LICENCE = "CC-BY-4.0"
_README = """{title}, version {version}

What is here:
- data/reference/full: tables, values of single inputs (units) and verdicts of the run of the full profile;
  manifest.json says when it ran, on what machine, from which commit and with which versions.
- data/reference/calibration*: how often the rules of the verdicts err.
- data/published: what the papers print, as the claims were tested against it, and the rules of all verdicts.
- data/*.csv: our questions, which materials are a paper's own, and on which page an id is judged.

The code that made it is version {version} of the repository (MIT). Numbers are under CC BY 4.0; what a paper printed
is a fact of that paper, which is to be cited for it. SHA256SUMS has the digest of every file.
"""


def name() -> str:
    """What the archive is called: `faithfulness-reference-0.2.0.zip`."""
    return f"faithfulness-reference-{_repository()['version']}.zip"


def citation() -> dict[str, Any]:
    """`CITATION.cff` of the data set, made from the repository's."""
    told = _repository()
    told |= {"type": "dataset", "license": _LICENCE, "title": f"Reference results of {told['title'].partition(':')[0]}"}
    told["message"] = "If you use these results, please cite them, and the paper whose claim they are about."
    return told


def codemeta() -> dict[str, Any]:
    """The same for archives that read JSON-LD: a data set, and the software that it is a result of."""
    told, software = citation(), json.loads((root() / "codemeta.json").read_text(encoding="utf-8"))
    return {
        "@context": ["https://w3id.org/codemeta/3.0", "https://schema.org"],
        "@type": "Dataset",
        "name": told["title"],
        "description": "Values of single inputs, tables and verdicts of a replication of four papers on faithfulness.",
        "version": told["version"],
        "datePublished": str(told["date-released"]),
        "license": f"https://spdx.org/licenses/{_LICENCE}",
        "author": software["author"],
        "keywords": told["keywords"],
        "isBasedOn": software["referencePublication"],
        "wasGeneratedBy": {key: software[key] for key in ("@type", "name", "version")},
    }


def write(to: Path) -> Path:
    """Write the archive into a folder; returns it. Raises DataError where the repository has no reference."""
    files = _files()
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in files.items())
    to.mkdir(parents=True, exist_ok=True)
    path = to / name()
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bag:
        for inner, content in {**files, "SHA256SUMS": sums.encode()}.items():
            info = zipfile.ZipInfo(f"{path.stem}/{inner}", _EPOCH)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            bag.writestr(info, content)
    part.replace(path)
    return path


def _files() -> dict[str, bytes]:
    """By their places in the archive, sorted."""
    found = [
        path for place in PLACES for path in (root() / place).rglob("*") if path.is_file() and path.suffix != ".py"
    ]
    if not any("units" in path.parts for path in found):
        raise DataError("data/reference has no values of single inputs: `python -m faithbook reference` copies a run's")
    found += (root() / "data").glob("*.csv")
    files = {path.relative_to(root()).as_posix(): path.read_bytes() for path in found}
    told = citation()
    files["CITATION.cff"] = yaml.safe_dump(told, sort_keys=False, allow_unicode=True).encode()
    files["codemeta.json"] = (json.dumps(codemeta(), indent=2, ensure_ascii=False) + "\n").encode()
    files["README.txt"] = _README.format(**told).encode()
    return dict(sorted(files.items()))


def _repository() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((root() / "CITATION.cff").read_text(encoding="utf-8"))
    return told
