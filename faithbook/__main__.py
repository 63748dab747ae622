"""`python -m faithbook run|build|book|pdf|zip|publish|links|plan|preflight|train|reference|calibrate|completion`,
`bench|bench-method`, and `course|grade|slides|deposit`.

`run` executes one notebook into a hidden folder and renames it when whole; `build` lets Snakemake run all notebooks
of a profile that are not there yet; `preflight` says what a profile needs and what of it is missing; `book` puts the
executed reports beside the prose and makes the pages, `pdf` and `zip` one file of them; `reference` copies a profile's
tables to where they are committed; `calibrate` measures how often the rules err; `bench` and `bench-method` judge a
metric or a method of one's own beside the known ones; `course` writes the sheets of the course, `grade` marks them,
`slides` writes its slides; `deposit` packs the committed reference as a data set of its own.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from faithbook import room
from faithbook.engine.build import build, end_kernels, planned_job, run_job, train
from faithbook.engine.pages import READER_PROFILE, book, packed, printed, published
from faithbook.engine.plan import make_job, plan
from faithbook.engine.profiles import find_profile, in_one_piece
from faithbook.paths import root
from faithlib.errors import FaithlibError, InputError

_PROGRAM = "python -m faithbook"
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


_SHELLS = ("bash", "zsh", "tcsh")
_LEVELS = ("debug", "info", "warning", "error")
_PLACES = ("FAITHLIB_HOME", "FAITHLIB_DATA")
_BUILDS = ("build", "book", "pdf", "zip", "publish", "links", "train")
"""The verbs that run notebooks; how many at a time can be said to each."""
_BENCHES = ("bench", "bench-method")
_FOLDERS = ("course", "grade", "slides", "deposit")
"""The verbs that run no notebook of the book and so know no profile."""

# What each verb does, and lines to copy.
_VERBS: dict[str, tuple[str, tuple[str, ...]]] = {
    "run": (
        "execute one notebook",
        (
            "run notebooks/report/soft_tables.py --profile smoke",
            "run notebooks/compute/soft_metrics.py -p dataset movie -p seed 1",
            "run notebooks/own/own_text_model.py -p model my-model/ -p data reviews.csv",
        ),
    ),
    "build": (
        "execute every notebook of a profile that is not done",
        (
            "build --profile full --study soft",
            "build --profile laptop --cores 1",
            "build --profile full -- --workflow-profile notebooks/slurm  # on a cluster",
        ),
    ),
    "book": ("build, then make the pages", ("book", "book --profile smoke")),
    "pdf": ("make the book, and of it one PDF", ("pdf", "pdf --profile smoke")),
    "zip": ("make the book, and of it an archive for a room without a network", ("zip", "zip --profile full")),
    "publish": (
        "make the book, its PDF and its archive for the web, into a copy of the branch that it serves",
        ("publish --site ../pages  # with REPOSITORY=owner/name in the environment",),
    ),
    "links": ("make the book, and ask every address that it links to", ("links",)),
    "plan": ("list the notebooks of a profile and which are done", ("plan --profile full", "plan --study naopc")),
    "preflight": (
        "say what a profile needs, and end with an error where something is missing",
        ("preflight --profile paper", "preflight --profile paper --study soft"),
    ),
    "train": (
        "execute every training notebook, which replaces the checkpoints",
        ("train --profile laptop", "train --profile paper --study soft --missing"),
    ),
    "reference": (
        "copy a profile's tables to data/reference/full, or put single runs into it",
        (
            "reference --profile full",
            "reference --profile full --study soft",
            "reference --add data/results/full/runs/soft_metrics/sst_0-*",
            "reference --redraw --profile laptop --study soft",
        ),
    ),
    "calibrate": (
        "measure how often the rules of the verdicts err, into data/reference",
        ("calibrate", "calibrate --worlds 100"),
    ),
    "bench": (
        "judge a metric of your own beside the known ones, in minutes; ends with 1 where a check found something wrong",
        (
            "bench examples/lone_loss.py",
            "bench my_metrics.py:second_one --profile smoke --only text --to my-page/",
        ),
    ),
    "bench-method": (
        "judge an attribution method of your own beside the known ones",
        ("bench-method examples/lone_words.py", "bench-method examples/lone_words.py --profile smoke"),
    ),
    "course": (
        "write the sheets of the course, for the teacher and for students, as nbgrader lays them out",
        ("course --to my-course/",),
    ),
    "grade": (
        "mark a sheet that was handed in; its answers are run on this machine",
        ("grade handed-in/session1.ipynb", "grade handed-in/maria.ipynb --sheet session1"),
    ),
    "slides": ("write the slides of the course's sessions", ("slides --to my-slides/",)),
    "deposit": (
        "pack the committed reference as a data set with its own metadata, ready for a DOI",
        ("deposit --to .",),
    ),
    "completion": (
        "print what completes these commands in a shell, and the short name `faithbook` for them",
        ('completion bash  # in ~/.bashrc: eval "$(/path/to/.venv/bin/python -m faithbook completion bash)"',),
    ),
}


def _examples(*lines: str) -> str:
    return "\n".join(["examples:", *(f"  {_PROGRAM} {line}" for line in lines)])


def _parser(program: str = _PROGRAM) -> argparse.ArgumentParser:
    plain: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(
        prog=program,
        description="Run the notebooks and build the book.",
        epilog=_examples(*(lines[0] for _, lines in _VERBS.values())),
        **plain,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, (text, lines) in _VERBS.items():
        sub = verbs.add_parser(verb, help=text, description=text, epilog=_examples(*lines), **plain)
        if verb == "completion":
            sub.add_argument("shell", choices=_SHELLS)
            continue
        if verb in _FOLDERS:
            _of_folders(sub, verb)
            continue
        sub.add_argument("--profile", default=READER_PROFILE, help=f"how large the runs are (default {READER_PROFILE})")
        sub.add_argument("--log", choices=_LEVELS, default="warning", help="least grave of the log to show")
        if verb == "calibrate":
            sub.add_argument("--worlds", type=int, default=1000, help="worlds for each rate (default 1000)")
        if verb in _BENCHES:
            sub.add_argument("what", help="a file with a function, file.py:function, or the name that a package offers")
            sub.add_argument("--to", type=Path, help="the folder of the page (default: bench- and its name)")
            sub.add_argument("--only", choices=("text", "vision"), help="models of texts, or of pictures, alone")
        if verb == "run":
            sub.add_argument("notebook", type=Path, help="its file, such as notebooks/report/soft_tables.py")
            sub.add_argument(
                *("-p", "--parameter"),
                dest="parameters",
                nargs=2,
                action="append",
                default=[],
                metavar=("NAME", "VALUE"),
                help="a parameter of the notebook; may be given again",
            )
            sub.add_argument("--job", help=argparse.SUPPRESS)  # of the plan of a build, in place of a notebook
            sub.add_argument("--quiet", action="store_true", help="say nothing but errors")
        if verb == "reference":
            sub.add_argument("--study", help="only this study; what the folder holds of others stays")
            ways = sub.add_mutually_exclusive_group()
            told = "only these runs, by their folders, in the places of earlier ones"
            ways.add_argument("--add", nargs="+", type=Path, metavar="FOLDER", help=told)
            told = "only tables and verdicts, as the reference's values give them on the pages of this profile"
            ways.add_argument("--redraw", action="store_true", help=told)
        if verb in ("build", "plan", "preflight"):
            sub.add_argument("--study", help="only the notebooks of this study and those they read")
        if verb == "preflight":
            sub.add_argument("--fetch", action="store_true", help="then bring what comes by itself, models and files")
        if verb == "train":
            sub.add_argument("--study", help="only the checkpoints of this study")
            sub.add_argument("--missing", action="store_true", help="only the checkpoints that are not there")
        if verb == "publish":
            sub.add_argument("--site", type=Path, required=True, help="the copy of the branch, a folder")
        if verb in _BUILDS:
            sub.add_argument("--cores", type=int, help="notebooks at a time (default: the cores of this machine)")
        if verb in ("build", "book", "train"):
            sub.add_argument("extra", nargs="*", help="after `--`: options for Snakemake, such as --workflow-profile")
    return parser


def _of_folders(sub: argparse.ArgumentParser, verb: str) -> None:
    if verb == "grade":
        sub.add_argument("file", type=Path, help="the notebook that was handed in")
        sub.add_argument("--sheet", help="the sheet that it answers (default: the name of the file)")
    else:
        sub.add_argument("--to", type=Path, required=True, help="the folder to write into")


def _write(options: argparse.Namespace) -> None:
    """The sheets of the course, the marks of one, the slides, or the reference as an archive."""
    if options.verb == "grade":
        from faithbook.course import marked, report

        print(report(marked(options.file, options.sheet)))
    elif options.verb == "course":
        from faithbook.course import write

        print(f"{len(write(options.to))} notebooks in {options.to}: source/ for you, release/ for students")
    elif options.verb == "deposit":
        from faithbook import deposit

        print(f"the archive is {deposit.write(options.to)}")
    else:
        from faithbook import slides

        pages = os.path.relpath(root() / "book" / "_build" / "html", options.to)
        made = slides.write(root() / "book", options.to, pages)
        print(f"{len(made)} sessions; open {made[0]} (its links lead to the book's pages: make book)")


def _completion(shell: str) -> str:
    """A function `faithbook` that calls this Python, and what completes it."""
    import shtab

    told = shtab.complete(_parser("faithbook"), shell=shell)
    call = f"'{sys.executable}' -m faithbook"
    if shell == "tcsh":
        return f'{told}\nalias faithbook "{call} \\!*"'
    return f'faithbook() {{ {call} "$@"; }}\n{told}'


def _check_links(html: Path) -> int:
    from faithbook.engine.links import dead, outside

    found = outside(html)
    wrong = dead(found)
    for address, what in wrong.items():
        print(f"{address}: {what} (on {', '.join(found[address][:3])})")
    print(f"{len(found)} addresses, {len(wrong)} of them do not answer")
    return 1 if wrong else 0


def _bench(options: argparse.Namespace) -> int:
    """Judge what is named; 1 where a check found something wrong, so that a package's own tests can call this."""
    from faithbook.bench.measure import MODALITIES
    from faithbook.bench.run import bench_method, bench_metric

    judge = bench_metric if options.verb == "bench" else bench_method
    modalities = MODALITIES if options.only is None else (options.only,)
    found = judge(options.what, options.to, profile=options.profile, modalities=modalities, tell=_say)
    for line in found.faults:
        print(f"wrong: {line}")
    for line in found.verdicts:
        print(line)
    print(f"open {found.page}")
    return 1 if found.faults else 0


def _reference(options: argparse.Namespace) -> Path:
    from faithbook.results.extended import add, redraw
    from faithbook.results.reference import reference

    if options.add:
        return add(options.add)
    return (redraw if options.redraw else reference)(options.profile, options.study)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _run_command(options: argparse.Namespace) -> None:
    given: dict[str, Any] = {name: value and yaml.safe_load(value) for name, value in options.parameters}
    if "profile" in given:
        raise InputError("give the profile as --profile NAME, not as -p profile NAME")
    notebook = options.notebook.resolve()
    job = planned_job(notebook, options.job) if options.job else make_job(notebook, options.profile, given)
    began, ran = time.time(), run_job(job)
    if not options.quiet:
        print(f"{job.label}: {f'{time.time() - began:.1f} s' if ran else 'was done before'}, {job.folder}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; errors of faithlib, and a full disk, end it with a sentence and status 1."""
    options = _parser().parse_args(arguments)
    try:
        return _called(options)
    except FaithlibError as error:
        print(f"faithlib: {error}", file=sys.stderr)
    except OSError as error:
        if not room.is_full(error):
            raise
        print(f"faithlib: {error}: {room.WHAT_TO_DO}", file=sys.stderr)
    return 1


def _called(options: argparse.Namespace) -> int:
    if options.verb == "completion":
        print(_completion(options.shell))
        return 0
    if options.verb in _FOLDERS:
        _write(options)
        return 0
    for name in _PLACES:  # what is started from here works in other folders
        if os.environ.get(name):
            os.environ[name] = str(Path(os.environ[name]).resolve())
    logging.basicConfig(level=options.log.upper(), format="%(levelname)s %(name)s: %(message)s")
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
        elif options.verb == "pdf":
            print(f"open {printed(options.profile, cores=options.cores)}")
        elif options.verb == "zip":
            print(f"the archive is {packed(options.profile, cores=options.cores)}")
        elif options.verb == "publish":
            print(f"laid out in {published(options.profile, options.site, cores=options.cores)}")
        elif options.verb == "links":
            return _check_links(book(options.profile, cores=options.cores).parent)
        elif options.verb in _BENCHES:
            return _bench(options)
        elif options.verb == "train":
            train(
                options.profile, study=options.study, missing=options.missing, cores=options.cores, extra=options.extra
            )
        elif options.verb == "plan":
            for job in plan(options.profile, options.study):
                print(f"{'done' if job.done else 'to do'}  {job.run_id}  {job.label}")
            for name, why in in_one_piece(options.study).items():
                print(f"in one piece, {name}: {why}")
        elif options.verb == "preflight":
            from faithbook.preflight import check  # slow to import, as the next are

            check(options.profile, options.study, bring=options.fetch)
        elif options.verb == "calibrate":
            from faithbook.results.calibration import calibrate

            print(f"error rates are in {calibrate(options.worlds)}")
        else:
            print(f"reference results are in {_reference(options)}")
    except _Told as told:
        return _stopped(told.args[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
