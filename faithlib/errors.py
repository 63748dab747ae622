"""Errors whose messages say what came, what was expected and what to do about it."""

import difflib
import importlib
import re
from collections.abc import Collection, Iterable
from numbers import Integral
from typing import Any

__all__ = [
    "DataError",
    "DigestError",
    "FaithlibError",
    "InputError",
    "MissingPackageError",
    "ModelError",
    "NotFiniteError",
    "OutOfMemoryError",
    "UnavailableError",
    "UnknownNameError",
    "require",
    "unknown",
]


def counted(number: int, noun: str) -> str:
    """A number of things, as a message says it; the noun is one whose plural ends in s.

    >>> counted(1, "text"), counted(0, "text"), counted(1200, "row")
    ('1 text', '0 texts', '1200 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Where `evaluate`, `explain` and `count_rows` take what a message names by itself, as most functions do.
_SETTINGS = {
    "settings=MetricSettings": ("erase", "output", "draws", "seed", "groups", "beam", "gold_size"),
    "run=RunSettings": ("max_length", "spans", "dtype", "on_error", "check", "shard", "block"),
}


class FaithlibError(Exception):
    """Base of every error that faithlib raises on purpose.

    Under its message a note says where `evaluate` takes the settings that the message names.

    >>> InputError("expected output='sigmoid'").__notes__
    ['In evaluate, explain and count_rows, output is settings=MetricSettings(output=...).']
    """

    def __init__(self, *said: Any, **more: Any) -> None:
        super().__init__(*said, **more)
        message = str(said[0]) if said else ""
        for group, names in _SETTINGS.items():
            named = dict.fromkeys(re.findall(rf"\b({'|'.join(names)})=", message))
            if named and "Settings(" not in message:
                fields = ", ".join(f"{name}=..." for name in named)
                self.add_note(f"In evaluate, explain and count_rows, {' and '.join(named)} is {group}({fields}).")


class InputError(FaithlibError, ValueError):
    """A value that cannot be used: wrong shape, NaN, empty text, out of range."""


class NotFiniteError(InputError):
    """Numbers that are NaN or infinite where others were due."""


class UnknownNameError(InputError):
    """A name (method, model, profile, parameter …) that is not registered."""


class ModelError(FaithlibError, TypeError):
    """A model of a kind that the operation cannot work on."""


class OutOfMemoryError(FaithlibError, MemoryError):
    """Not even a single row fits."""


class UnavailableError(FaithlibError, OSError):
    """A function that was refused for now (a rate limit, a service that is down) after several tries.

    `answered`: the function with all that it has answered so far; `evaluate(error.answered, ...)` goes on from there.
    """

    answered: Any = None


class DataError(FaithlibError, OSError):
    """A file from outside that is missing, damaged or not the one expected."""


class DigestError(DataError):
    """A file from outside whose content is not what its digest says. Never to be passed over."""


class MissingPackageError(FaithlibError, ImportError):
    """A package that only some models or methods need, and that is not installed."""


def require(module: str, *, extra: str) -> Any:
    """The `module` of a package that is imported only where it is needed.

    Raises MissingPackageError where the package is not there; the message names the `extra` of faithlib that brings it.

    >>> require("no_such_package.models", extra="vision")
    Traceback (most recent call last):
    faithlib.errors.MissingPackageError: no_such_package is not installed: pip install 'faithlib[vision]'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        message = f"{package} is not installed: pip install 'faithlib[{extra}]'"
        raise MissingPackageError(message, name=package) from None


def unknown(kind: str, name: object, known: Iterable[object]) -> UnknownNameError:
    """The error for an unregistered `name`, naming those that begin with it, or the most alike.

    >>> str(unknown("method", "attentoin", ["attention", "random"]))
    "unknown method 'attentoin': did you mean 'attention'? known: attention, random"
    >>> str(unknown("metric", "aopc", ["aopc_lerf", "aopc_morf", "autpc"])).partition("?")[0]
    "unknown metric 'aopc': did you mean 'aopc_lerf' or 'aopc_morf'"
    """
    names = sorted(map(str, known))
    begun = [each for each in names if len(str(name)) > 2 and each.startswith(str(name))]
    close = begun if 0 < len(begun) < 3 else difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    return UnknownNameError(f"unknown {kind} {name!r}: {hint}known: {', '.join(names)}")


def check_known(kind: str, name: object, known: Collection[Any]) -> None:
    """The error of `unknown` where a `name` is not among the `known`.

    >>> check_known("ties", "halve", ("satisfied", "half"))
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown ties 'halve': did you mean 'half'? known: half, satisfied
    """
    if name not in [*known]:  # of a list: what has no hash is not a name
        raise unknown(kind, name, known)


def check_counts(**numbers: Any) -> None:
    """InputError where one of the numbers, by its name, is given and no whole number, or below 1.

    >>> check_counts(n_steps=50, internal_batch_size=None, draws=0)
    Traceback (most recent call last):
    faithlib.errors.InputError: draws 0: expected at least 1, a whole number
    """
    for name, number in numbers.items():
        if number is not None and (isinstance(number, bool) or not isinstance(number, Integral) or number < 1):
            raise InputError(f"{name} {number!r}: expected at least 1, a whole number")


def some_numbers(values: Iterable[float], most: int = 4) -> str:
    """The first of the values as a message shows them, with four significant digits.

    More digits say nothing to a reader, and they differ between processors.

    >>> some_numbers([float("nan"), -1.7241220474243164, 1 / 3, 2.0, 5.0])
    '[nan, -1.724, 0.3333, 2, ...]'
    """
    values = list(values)
    shown = [f"{value:.4g}" for value in values[:most]]
    if len(values) > most:
        shown.append("...")
    return f"[{', '.join(shown)}]"
