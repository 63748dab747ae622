"""Names for people: of methods, metrics, data sets and outputs."""

from __future__ import annotations

import csv
import functools
import re

from faithbook.paths import root


@functools.cache
def labels() -> dict[str, str]:
    """All names for people, of `data/labels.csv`."""
    with (root() / "data" / "labels.csv").open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row["label"] for row in csv.DictReader(lines)}


def label(name: str) -> str:
    """A method's, metric's or data set's name for people."""
    return labels().get(name, name)


KINDS = {"vision": "small images", "text": "texts"}
"""Kinds of inputs, by the names that values have for them."""


def kinds_in_words(text: str) -> str:
    """A name that consists of pieces between commas and colons, its kind of inputs in words.

    >>> kinds_in_words("SaCo, text: trained minus misled"), kinds_in_words("vision")
    ('SaCo, texts: trained minus misled', 'small images')
    """
    return re.sub(r"(?:(?<=, )|^)(vision|text)(?=[,:]|$)", lambda kind: KINDS[kind[1]], text)


@functools.cache
def _inputs() -> dict[str, dict[str, str]]:
    with (root() / "data" / "inputs.csv").open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row for row in csv.DictReader(lines)}


def inputs_of(name: str, stands_for: str = "") -> str:
    """What the inputs of a data set are, for a sentence that counts them (`data/inputs.csv`). A substitute comes with
    the name that tables have for it and with what it `stands_for`.

    >>> inputs_of("nli"), inputs_of("movie", "sst"), inputs_of("other")
    ('sentence pairs of XNLI', 'sentences of film reviews (*movie*, instead of SST)', 'inputs of other')
    """
    known = _inputs().get(name)
    if known is None:
        return f"inputs of {label(name)}"
    if not known["substitute"]:
        return known["inputs"]
    instead_of = f", instead of {short(stands_for)}" if stands_for else ""
    return f"{known['inputs']} (*{name}*{instead_of})"


def short(name: str) -> str:
    """A name for people without what stands in brackets.

    >>> short("integrated_gradients")
    'IG'
    """
    return label(name).split(" (")[0]


def row_label(method: str, aggregation: str) -> str:
    """A method's short name with what was made of the embedding's dimensions: "IG (L2)", "LIME"."""
    made = {"none": "", "mean": " (μ)", "l2": " (L2)"}
    return short(method) + made.get(aggregation, f" ({aggregation})")
