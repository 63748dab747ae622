"""`python -m faithbook run|build|book|plan|preflight|train|reference|calibrate`: run the notebooks and build the book.

`run` executes one notebook into a hidden folder and renames it when whole; `build` lets Snakemake run all notebooks
of a profile that are not there yet; `preflight` says what a profile needs and what of it is missing; `book` puts the
executed reports beside the prose and makes the pages; `reference` copies a profile's tables to where they are
committed; `calibrate` measures how often the rules err.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from faithbook.engine.build import build, end_kernels, run_job
from faithbook.engine.pages import READER_PROFILE, book
from faithbook.engine.plan import Job, make_job, plan, trainings
from faithbook.engine.profiles import find_profile
from faithlib.errors import FaithlibError, InputError

_ENDS = (signal.SIGTERM, signal.SIGINT)


class _Told(BaseException):
    """This process was told to stop."""


def _tell(number: int, _: object) -> None:
    for one in _ENDS:
        signal.signal(one, signal.SIG_IGN)  # once is enough: the end must not be disturbed
    end_kernels()
    raise _Told(number)


def _stopped(number: int) -> int:
    print("\nstopped; what is done stays done, and the same command goes on from there", file=sys.stderr)
    return 128 + number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m faithbook", description="Run the notebooks and build the book.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, text in {
        "run": "execute one notebook",
        "build": "execute every notebook of a profile that is not done",
        "book": "build, then make the pages",
        "plan": "list the notebooks of a profile and which are done",
        "preflight": "say what a profile needs, and end with an error where something is missing",
        "train": "execute every training notebook, which replaces the checkpoints",
        "reference": "copy a profile's tables to data/reference/full",
        "calibrate": "measure how often the rules of the verdicts err, into data/reference",
    }.items():
        sub = verbs.add_parser(verb, help=text, description=text)
        sub.add_argument("--profile", default=READER_PROFILE)
        if verb == "calibrate":
            sub.add_argument("--worlds", type=int, default=1000, help="worlds for each rate (default 1000)")
        if verb == "run":
            sub.add_argument("notebook", type=Path)
            sub.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
            sub.add_argument("--quiet", action="store_true", help="say nothing but errors")
        if verb == "reference":
            sub.add_argument("--study", help="only this study; what the folder holds of others stays")
        if verb in ("build", "plan", "preflight"):
            sub.add_argument("--study", help="only the notebooks of this study and those they read")
        if verb in ("build", "book"):
            sub.add_argument("--cores", type=int, help="notebooks at a time (default: the cores of this machine)")
            sub.add_argument("extra", nargs="*", help="after `--`: options for Snakemake, such as --executor slurm")
    return parser


def _run_command(options: argparse.Namespace) -> None:
    given: dict[str, Any] = {name: yaml.safe_load(value) for name, value in options.parameters}
    if "profile" in given:
        raise InputError("give the profile as --profile NAME, not as -p profile NAME")
    job = make_job(options.notebook.resolve(), options.profile, given)
    if options.quiet:
        run_job(job)
    else:
        _report(job)


def _report(job: Job) -> None:
    began = time.time()
    print(f"{job.label}: {f'{time.time() - began:.1f} s' if run_job(job) else 'was done before'}, {job.folder}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; errors of faithlib end it with their message and status 1."""
    options = _parser().parse_args(arguments)
    for one in _ENDS:
        signal.signal(one, _tell)  # as an exception, so that what runs below is told to stop too
    try:
        find_profile(options.profile)
        if options.verb == "run":
            _run_command(options)
        elif options.verb == "build":
            build(options.profile, study=options.study, cores=options.cores, extra=options.extra)
        elif options.verb == "book":
            print(f"open {book(options.profile, cores=options.cores, extra=options.extra)}")
        elif options.verb == "train":
            for job in trainings(options.profile):
                _report(job)
        elif options.verb == "plan":
            for job in plan(options.profile, options.study):
                print(f"{'done' if job.done else 'to do'}  {job.run_id}  {job.label}")
        elif options.verb == "preflight":
            from faithbook.preflight import check  # slow to import, as the next are

            check(options.profile, options.study)
        elif options.verb == "calibrate":
            from faithbook.results.calibration import calibrate

            print(f"error rates are in {calibrate(options.worlds)}")
        else:
            from faithbook.results.reference import reference

            print(f"reference results are in {reference(options.profile, options.study)}")
    except FaithlibError as error:
        print(f"faithlib: {error}", file=sys.stderr)
        return 1
    except _Told as told:
        return _stopped(told.args[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
