"""How texts and images are put into splits: by hashes, the same way on every machine.

Splits are fixed. Duplicates are removed first. Then groups of texts (a sentence, an article, a paper) are ordered by
a hash of the data set's name and their key, and cut into test, dev and train. Where classes are balanced, each is
then cut to the size of the smallest one in its split. Nothing depends on file order, platform or a random state.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from faithlib.errors import InputError

SPLITS = ("train", "dev", "test")
Span = tuple[int, int]


def stable_hash(*parts: str) -> str:
    """A digest that orders things at random and the same way on every machine."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def seeded(*parts: str) -> np.random.Generator:
    """A generator that depends on the parts alone."""
    return np.random.default_rng(int(stable_hash(*parts)[:16], 16))


def sampled(ids: Sequence[str], n: int, seed: int, *, what: str) -> list[int]:
    """The places of `n` of these names, in an order that a hash makes: a larger `n` keeps those of a smaller one.

    `what`: what is sampled, for the InputError that an `n` below 1 gets.
    """
    if n < 1:
        raise InputError(f"n {n}: expected at least one {what}")
    return sorted(range(len(ids)), key=lambda i: stable_hash(f"sample|{seed}", ids[i]))[:n]


@dataclass(frozen=True)
class Rows:
    """Columns of a split, a value a row; one that is None is not known."""

    name: str
    split: str

    columns: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(getattr(self, self.columns[0]))

    def __getitem__(self, rows: slice) -> Self:
        return self.at(range(len(self))[rows])

    def at(self, rows: Sequence[int]) -> Self:
        """The values of some rows, in the order that is given."""
        picked: dict[str, Any] = {}
        for name in self.columns:
            values = getattr(self, name)
            if values is not None:
                picked[name] = tuple(values[i] for i in rows)
        return replace(self, **picked)


@dataclass(frozen=True)
class Item:
    """A text before splitting; items of one `group` go to the same split."""

    id: str
    text: str
    label: int
    group: str
    query: str | None = None
    rationale: tuple[Span, ...] = ()


def without_duplicates(items: Iterable[Item]) -> Iterator[Item]:
    """The first of all items with the same query and text, whatever their case and blanks."""
    seen: set[str] = set()
    for item in items:
        key = " ".join(f"{item.query or ''} | {item.text}".lower().split())
        if key not in seen:
            seen.add(key)
            yield item


def balanced(items: Sequence[Item]) -> Iterator[Item]:
    """The first items of every class, as many as the rarest class has."""
    places: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        places[item.label].append(item)
    least = min(map(len, places.values()))
    return (item for members in places.values() for item in members[:least])


def split_groups(name: str, groups: set[str], shares: tuple[float, float]) -> dict[str, str]:
    """The split of every group; `shares`: of groups in test and in dev, the rest is train."""
    ordered = sorted(groups, key=lambda group: stable_hash(name, group))
    test, dev = (round(share * len(ordered)) for share in shares)
    names = ["test"] * test + ["dev"] * dev + ["train"] * (len(ordered) - test - dev)
    return dict(zip(ordered, names, strict=True))
