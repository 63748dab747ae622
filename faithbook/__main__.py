"""`python -m faithbook run|build|book|pdf|train|preflight|reference`.

- `run` executes one notebook into a hidden folder and renames it when whole.
- `build` lets Snakemake run all notebooks of a profile that have not been run yet.
- `book` puts the executed reports next to the prose and makes the pages, `pdf` one file of them.
- `preflight` says what a profile needs and what of it is missing.
- `reference` copies a profile's values to where they are committed.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from faithbook import disk
from faithbook.engine.build import build, end_kernels, planned_job, run_job, train
from faithbook.engine.pages import READER_PROFILE, book
from faithbook.engine.plan import REFERENCE, WHOSE, make_job, plan
from faithbook.engine.study import find_profile
from faithlib.errors import FaithlibError, InputError

_ENDS = (signal.SIGTERM, signal.SIGINT)
_PLACES = ("FAITHLIB_HOME", "FAITHLIB_DATA")


def _stop(number: int, _: object) -> None:
    for ending in _ENDS:
        signal.signal(ending, signal.SIG_IGN)  # once is enough: the end must not be disturbed
    end_kernels()
    print("\nstopped; what is done stays done, and the same command goes on from there", file=sys.stderr)
    sys.exit(128 + number)


# ------------------------------------------------------------------------------------------------------------ the verbs
def _run(options: argparse.Namespace) -> None:
    parameters: dict[str, Any] = {name: value and yaml.safe_load(value) for name, value in options.parameters}
    if "profile" in parameters:
        raise InputError("give the profile as --profile NAME, not as -p profile NAME")
    notebook = options.notebook.resolve()
    job = planned_job(notebook, options.job) if options.job else make_job(notebook, options.profile, parameters)
    began = time.time()
    ran = run_job(job)
    if not options.quiet:
        took = f"{time.time() - began:.1f} s" if ran else "was done before"
        print(f"{job.label}: {took}, {job.folder}")


def _build(options: argparse.Namespace) -> None:
    if options.list:
        for job in plan(options.profile, options.study, options.values):
            state = "done" if job.done else "to do"
            print(f"{state}  {job.run_id}  {job.label}")
        return
    build(options.profile, study=options.study, values=options.values, cores=options.cores, extra=options.extra)


def _book(options: argparse.Namespace) -> None:
    from faithbook.engine.publish import lay_out, repository

    if options.site and (not repository() or options.profile == "paper"):
        raise InputError(
            "a published book has an address, REPOSITORY=owner/name in the environment, and no texts or images of the "
            f"papers' own data: expected both, but the repository is {repository()!r} and the profile {options.profile}"
        )
    if options.site and options.values != REFERENCE:
        raise InputError(f"a published book shows the full run's numbers, not --values {options.values}: leave it out")
    first = book(options.profile, values=options.values, cores=options.cores, extra=options.extra)
    if options.site:
        folder = lay_out(first.parent, options.site)
        _print(first.parent, folder)
        print(f"laid out in {folder}")
    else:
        print(f"open {first}")


def _pdf(options: argparse.Namespace) -> None:
    html = book(options.profile, cores=options.cores, extra=options.extra).parent
    print(f"open {_print(html, html.parent)}")


def _print(html: Path, folder: Path) -> Path:
    from faithbook.engine.printing import NAME, pdf

    print(f"{pdf(html.parents[1], html, folder / NAME)} pages in print")
    return folder / NAME


def _train(options: argparse.Namespace) -> None:
    train(options.profile, study=options.study, missing=options.missing, cores=options.cores, extra=options.extra)


def _preflight(options: argparse.Namespace) -> None:
    from faithbook.preflight import check  # slow to import, as the next are

    check(options.profile, options.study, download=options.fetch)


def _reference(options: argparse.Namespace) -> None:
    from faithbook.judge.reference import add, add_all, keep_verdicts

    if options.add:
        folder = add(options.add)
    else:
        folder = (keep_verdicts if options.verdicts else add_all)(options.profile, options.study)
    print(f"the reference is in {folder}")


# ----------------------------------------------------------------------------------------------------- the command line
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m faithbook", description="Run the notebooks and build the book.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def add(call: Callable[[argparse.Namespace], int | None], text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(call.__name__.removeprefix("_"), help=text, description=text)
        sub.set_defaults(call=call)
        sub.add_argument("--profile", default=READER_PROFILE, help=f"how large the runs are (default {READER_PROFILE})")
        return sub

    verb = add(_run, "execute one notebook")
    verb.add_argument("notebook", type=Path, help="its file, such as notebooks/report/soft_tables.py")
    repeated: Any = {
        "dest": "parameters",
        "nargs": 2,
        "action": "append",
        "default": [],
        "metavar": ("NAME", "VALUE"),
    }
    verb.add_argument("-p", "--parameter", **repeated, help="a parameter, such as -p dataset movie")
    verb.add_argument("--job", help=argparse.SUPPRESS)  # of the plan of a build, instead of a notebook
    verb.add_argument("--quiet", action="store_true", help="say nothing but errors")

    verb = add(_build, "execute every notebook of a profile that is not done")
    verb.add_argument("--study", help="only the notebooks of this study and those they read")
    verb.add_argument("--list", action="store_true", help="only list them, and which are done")
    builds = [verb]

    verb = add(_book, "build, then make the pages")
    verb.add_argument("--site", type=Path, help="and lay them, with a PDF, into this copy of the published branch")
    builds += [verb, add(_pdf, "make the book, and one PDF of it (needs Chromium)")]

    verb = add(_train, "execute every training notebook, which replaces the checkpoints")
    verb.add_argument("--study", help="only the checkpoints of this study")
    verb.add_argument("--missing", action="store_true", help="only the checkpoints that are not there")
    for command in builds[:2]:
        command.add_argument("--values", choices=WHOSE, default=REFERENCE, help="whose numbers the reports show")
    for command in [*builds, verb]:
        command.add_argument("--cores", type=int, help="notebooks at a time (default: the cores of this machine)")
        command.add_argument("extra", nargs="*", help="after `--`: options for Snakemake, such as --workflow-profile")

    verb = add(_preflight, "say what a profile needs, and end with an error where something is missing")
    verb.add_argument("--study", help="only what the notebooks of this study need, and those they read")
    verb.add_argument("--fetch", action="store_true", help="then bring what comes by itself, models and files")

    verb = add(_reference, "copy the values of single inputs to data/reference/full")
    verb.add_argument("--study", help="only this study; what the folder holds of others stays")
    ways = verb.add_mutually_exclusive_group()
    ways.add_argument("--add", nargs="+", type=Path, metavar="FOLDER", help="only these runs, instead of earlier ones")
    ways.add_argument("--verdicts", action="store_true", help="no values: what the pages of this profile judge by them")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; errors of faithlib, and a full disk, end it with a sentence and status 1."""
    options = _parser().parse_args(arguments)
    for name in _PLACES:  # what is started from here works in other folders
        if os.environ.get(name):
            os.environ[name] = str(Path(os.environ[name]).resolve())
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    for number in _ENDS:
        signal.signal(number, _stop)  # as an exception, so that what runs below is told to stop too
    try:
        find_profile(options.profile)
        return options.call(options) or 0
    except FaithlibError as error:
        print(f"faithlib: {error}", file=sys.stderr)
    except OSError as error:
        if not disk.is_full(error):
            raise
        print(f"faithlib: {error}: {disk.WHAT_TO_DO}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
