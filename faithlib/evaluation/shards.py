"""A share of the inputs at a time: shares of one evaluation on several machines, and their tables joined to one.

    table = evaluate(model, texts, run=RunSettings(shard=(3, 16)))   # the third of sixteen shares
    save_share(table, "report.3-of-16.json")
    table = merge(sorted(Path().glob("report.*-of-16.json")))

Inputs are shared out in order, as evenly as they can be. A merged table is the one that a run of all inputs makes. Of a
function whose answer to a text does not depend on the texts beside it, the values are the same bit for bit. Of a torch
model they are equal to 1e-5: which rows share a forward, and how many, changes the last digits of single precision. A
share has other rows to fill its forwards with; to run them as the whole run does would mean forwards that are not full.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from faithlib.errors import DataError, InputError
from faithlib.evaluation.summary import N_SHOWN, Shown, Table
from faithlib.segmentation import format_rows

__all__ = ["Shard", "load_share", "merge", "save_share", "shard_of", "share_of"]

Shard = tuple[int, int]
"""The number of a share, from 1, and how many shares there are."""

_FORMAT = "faithlib share 1"
_CONTENT = ("input", "method", "metric", "value", "direction")


def shard_of(text: str) -> Shard:
    """A share as it is written on a command line.

    Parameters
    ----------
    text : str
        Its number and how many there are, "3/16".

    Returns
    -------
    tuple of int
        (3, 16).

    Raises
    ------
    InputError
        For another form, and for a number beyond the shares.

    Examples
    --------
    >>> shard_of("3/16")
    (3, 16)
    """
    written = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if written is None:
        raise InputError(f"shard {text!r}: expected its number and how many there are, as in 3/16")
    shard = int(written[1]), int(written[2])
    _check(shard)
    return shard


def _check(shard: Any) -> None:
    is_pair = isinstance(shard, tuple | list) and len(shard) == 2
    if not is_pair or not all(isinstance(number, int) and not isinstance(number, bool) for number in shard):
        raise InputError(f"shard {shard!r}: expected a pair of whole numbers, (3, 16) for the third of sixteen shares")
    number, count = shard
    if not 1 <= number <= count:
        raise InputError(f"shard {shard!r}: expected a number from 1 to {max(count, 1)}")


def share_of(total: int, shard: Shard | None) -> range:
    """The rows of a share.

    Parameters
    ----------
    total : int
        How many inputs there are.
    shard : Shard
        Which share; None for all inputs.

    Returns
    -------
    range
        Rows from 0, the first shares one longer where they cannot be even.

    Raises
    ------
    InputError
        Where there are more shares than inputs, so that this one would be empty, and for what is no shard.

    Examples
    --------
    >>> [list(share_of(5, (number, 2))) for number in (1, 2)]
    [[0, 1, 2], [3, 4]]
    """
    if shard is None:
        return range(total)
    _check(shard)
    number, count = shard
    if count > total:
        raise InputError(f"shard {shard!r}: there are {total} inputs, so at most as many shares")
    size, longer = divmod(total, count)
    start = (number - 1) * size + min(number - 1, longer)
    return range(start, start + size + (number <= longer))


# -------------------------------------------------------------------------------------------------------------- joining
def merge(shares: Iterable[Table | str | Path]) -> Table:
    """The table of all inputs from those of its shares.

    Parameters
    ----------
    shares : Iterable[Table | str | Path]
        Tables of `evaluate` with a `shard`, or files of `save_share`, in any order.

    Returns
    -------
    Table
        As a run of all inputs makes it, `attrs` and heat maps included; costs are those of all shares together. A
        method or metric that one share leaves out is left out.

    Raises
    ------
    InputError
        Where a share is missing or there twice, or shares are of different evaluations.
    DataError
        For a file that holds no share.

    Examples
    --------
    >>> from faithlib.evaluation import RunSettings, evaluate
    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]
    >>> texts = ["a good film", "a bad one", "good"]
    >>> def share(number):
    ...     return evaluate(model, texts, methods=["occlusion"], metrics=["saco"], run=RunSettings(shard=(number, 2)))
    >>> merge([share(2), share(1)]).equals(evaluate(model, texts, methods=["occlusion"], metrics=["saco"]))
    True
    """
    tables = [share if isinstance(share, Table) else load_share(share) for share in shares]
    if not tables:
        raise InputError("there are no shares to merge")
    if any("shard" not in table.attrs for table in tables):
        raise InputError("merge: expected tables of evaluate(..., run=RunSettings(shard=(number, count)))")
    tables.sort(key=lambda table: table.attrs["shard"]["number"])
    first = tables[0].attrs["shard"]
    for table in tables:
        about = table.attrs["shard"]
        for name in ("of", "inputs", "asked"):
            if about.get(name) != first.get(name):
                raise InputError(
                    f"shares {first['number']} and {about['number']} are of different evaluations ({name}: "
                    f"{first.get(name)}, {about.get(name)})"
                )
    numbers = [table.attrs["shard"]["number"] for table in tables]
    missing = sorted(set(range(1, first["of"] + 1)) - set(numbers))
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise InputError(f"{format_rows(missing, 'share')} of {first['of']} {are} missing")
    if len(numbers) != len(set(numbers)):
        raise InputError(f"{format_rows(numbers, 'share')}: expected each once")
    merged = joined(tables)
    merged.attrs["repeated"] = repeated_rows(
        pair for table in tables for pair in table.attrs["shard"].get("digests", ())
    )
    warn_of_repeated(merged)
    return merged


def repeated_rows(digests: Iterable[Sequence[int]]) -> list[int]:
    """The rows of inputs that an earlier row has as well.

    Parameters
    ----------
    digests : Iterable[Sequence[int]]
        Each row with a number for its content, in ascending order of rows.

    Returns
    -------
    list of int
        Rows.

    Examples
    --------
    >>> repeated_rows([(0, 77), (1, 88), (2, 77)])
    [2]
    """
    seen: set[int] = set()
    rows: list[int] = []
    for row, digest in digests:
        if digest in seen:
            rows.append(row)
        seen.add(digest)
    return rows


def warn_of_repeated(table: Table) -> None:
    """A warning where inputs are there more than once: an interval over inputs takes them for independent ones.

    Parameters
    ----------
    table : Table
        With "repeated" among its attrs.

    Examples
    --------
    >>> table = Table({"input": [0, 1], "method": "lime", "metric": "saco", "value": [0.2, 0.4], "direction": "higher"})
    >>> table.attrs["repeated"] = []
    >>> warn_of_repeated(table)
    """
    rows = table.attrs["repeated"]
    if rows:
        repeat, they = ("repeats", "it is") if len(rows) == 1 else ("repeat", "they are")
        warnings.warn(
            f"{len(rows)} of {table['input'].nunique()} inputs {repeat} an earlier one ({format_rows(rows)}): {they} "
            "counted as independent, so intervals and stars say more than the inputs do; give each input once",
            stacklevel=3,
        )


def joined(tables: Sequence[Table]) -> Table:
    """Tables of inputs one after the other as one table, without a look at which share each is.

    Parameters
    ----------
    tables : Sequence[Table]
        Of `evaluate`, at least one.

    Returns
    -------
    Table
        With the costs, notes and heat maps of all.

    Examples
    --------
    >>> one = Table({"input": [0], "method": "lime", "metric": "saco", "value": [0.2], "direction": "higher"})
    >>> len(joined([one, one.assign(input=1)]))
    2
    """
    left_out = _together([table.attrs.get("left_out", {}) for table in tables])
    whole = pd.concat([pd.DataFrame(table) for table in tables], ignore_index=True)
    whole = whole[~whole["method"].isin(left_out) & ~whole["metric"].isin(left_out)]
    made = Table(whole.reset_index(drop=True))
    made.attrs = {
        "costs": _costs([table.attrs.get("costs", {}) for table in tables]),
        "left_out": left_out,
        "undefined": _undefined([group for table in tables for group in table.attrs.get("undefined", [])], left_out),
        "convergence": _convergence([table.attrs.get("convergence", {}) for table in tables]),
        "chance": [row for table in tables for row in table.attrs.get("chance", [])],
        "notes": _together([table.attrs.get("notes", {}) for table in tables]),
        "truncated": [row for table in tables for row in table.attrs.get("truncated", [])],
        "skipped": [row for table in tables for row in table.attrs.get("skipped", [])],
    }
    made.shown = tuple(shown for table in tables for shown in table.shown)[:N_SHOWN]
    made.whole = len(made)
    made.kind = tables[0].kind
    made.meanings = _together([table.meanings for table in tables])
    return made


def _together(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for part in parts:
        whole |= part
    return whole


def _costs(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Sums, except of the largest chunk."""
    names = dict.fromkeys(name for part in parts for name in part)
    sums = {name: sum(part.get(name, 0) for part in parts) for name in names if name != "peak_bytes"}
    sums = {name: round(value, 2) if name.startswith("seconds") else value for name, value in sums.items()}
    return sums | ({"peak_bytes": max(part.get("peak_bytes", 0) for part in parts)} if "peak_bytes" in names else {})


def _undefined(groups: Sequence[Mapping[str, Any]], left_out: Mapping[str, str]) -> list[dict[str, Any]]:
    """Groups of the same reason as one group each."""
    whole: dict[str, dict[str, Any]] = {}
    for group in groups:
        same = whole.setdefault(group["reason"], {"reason": group["reason"], "metrics": [], "methods": [], "rows": []})
        for name in ("metrics", "methods"):
            same[name] = list(dict.fromkeys([*same[name], *(value for value in group[name] if value not in left_out)]))
        same["rows"] = sorted({*same["rows"], *group["rows"]})
    return list(whole.values())


def _convergence(parts: Sequence[Mapping[str, Mapping[int, float]]]) -> dict[str, dict[int, float]]:
    whole: dict[str, dict[int, float]] = {}
    for part in parts:
        for name, of_rows in part.items():
            whole.setdefault(name, {}).update(of_rows)
    return whole


# ---------------------------------------------------------------------------------------------------------------- files
def save_share(table: Table, path: str | Path, *, asked: str = "") -> None:
    """Write a table with all that belongs to it into a file, which is there as a whole or not at all.

    Parameters
    ----------
    table : Table
        Of `evaluate`.
    path : str | Path
        A file, JSON; one that is there is replaced.
    asked : str, default ""
        A name of this evaluation, such as a digest of its arguments: `merge` refuses shares that differ in it.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "share.json"
    >>> table = Table({"input": [0], "method": "lime", "metric": "saco", "value": [0.2], "direction": "higher"})
    >>> save_share(table, path)
    >>> load_share(path).equals(table)
    True
    """
    attributes = dict(table.attrs)
    if asked and "shard" in attributes:
        attributes["shard"] = {**attributes["shard"], "asked": asked}
    content = {
        "format": _FORMAT,
        "values": {name: table[name].tolist() for name in _CONTENT},
        "attrs": attributes,
        "shown": [_plain(shown) for shown in table.shown],
        "kind": table.kind,
        "meanings": dict(table.meanings),
    }
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.replace(path)


def _plain(shown: Shown) -> dict[str, Any]:
    return {
        "row": shown.row,
        "title": shown.title,
        "scores": {name: list(scores) for name, scores in shown.scores.items()},
        "parts": [list(part) for part in shown.parts],
        "pixels": None if shown.pixels is None else shown.pixels.tolist(),
        "segments": None if shown.segments is None else shown.segments.tolist(),
    }


def load_share(path: str | Path) -> Table:
    """The table in a file of `save_share`.

    Parameters
    ----------
    path : str | Path
        The file.

    Returns
    -------
    Table
        Values, `attrs` and heat maps, bit for bit.

    Raises
    ------
    DataError
        Where the file holds no share.

    Examples
    --------
    >>> load_share("none.json")
    Traceback (most recent call last):
    faithlib.errors.DataError: none.json cannot be read as a share (No such file or directory)
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read as a share ({error.strerror})") from error
    except ValueError as error:
        raise DataError(f"{path} cannot be read as a share ({error})") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataError(f"{path} holds no share of this version: expected a file of --shard or save_share")
    table = Table(content["values"])
    table.attrs = content["attrs"]
    deltas = table.attrs.get("convergence", {})
    # Keys of JSON are strings.
    named = {name: {int(row): delta for row, delta in of_rows.items()} for name, of_rows in deltas.items()}
    if "convergence" in table.attrs:
        table.attrs["convergence"] = named
    table.shown = tuple(map(_shown, content["shown"]))
    table.whole = len(table)
    table.kind = content["kind"]
    table.meanings = content["meanings"]
    return table


def _shown(plain: Mapping[str, Any]) -> Shown:
    return Shown(
        plain["row"],
        plain["title"],
        {name: tuple(scores) for name, scores in plain["scores"].items()},
        parts=tuple((blank, text) for blank, text in plain["parts"]),
        pixels=None if plain["pixels"] is None else np.array(plain["pixels"], dtype=np.uint8),
        segments=None if plain["segments"] is None else np.array(plain["segments"], dtype=np.int64),
    )
