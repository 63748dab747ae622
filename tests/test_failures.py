"""What must hold when things go wrong: killed builds, notebooks that raise, slips on the command line."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import tiny

from faithbook.__main__ import main
from faithbook.engine.plan import plan

# They share one undisturbed book, which each worker builds once.
pytestmark = pytest.mark.slow


def calls(home: Path) -> list[str]:
    """What the computations of the tiny study noted as they began and ended."""
    path = home / "calls"
    return path.read_text().splitlines() if path.is_file() else []


def until(condition: Callable[[], bool], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the moment to kill did not come"
        time.sleep(0.05)


def pages(home: Path, profile: str = "smoke") -> dict[str, str]:
    """Digest of every page without the line of a report that says on which machine it was made and how long it took."""
    html = home / "data" / "results" / profile / "book" / "_build" / "html"
    seen = {}
    for path in sorted(html.rglob("*.html")):
        lines = path.read_text().splitlines()
        kept = [line for line in lines if "<strong>This page:</strong>" not in line]
        assert len(lines) - len(kept) == (path.name == "report.html")
        seen[path.name] = hashlib.sha256("\n".join(kept).encode()).hexdigest()
    return seen


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose smoke book was built without trouble, to compare with and to copy."""
    place = tiny.make_home(tmp_path_factory.mktemp("undisturbed"))
    done = tiny.call(place, "book", "--profile", "smoke")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def built(undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that a test may break; results know nothing of the folder they lie in."""
    place = tmp_path / "built"
    shutil.copytree(undisturbed, place)
    monkeypatch.setenv("FAITHLIB_HOME", str(place))
    return place


def start(home: Path, *words: str) -> subprocess.Popen[bytes]:
    line, environment = tiny.command(home, *words)
    return subprocess.Popen(
        line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


@pytest.mark.long
def test_killed_half_way_and_started_again_gives_the_same_book(home: Path, undisturbed: Path) -> None:
    # One computation is done and the other in the middle when everything dies at once, as in a power cut.
    (home / "wait-bbc").touch()
    process = start(home, "book", "--profile", "smoke", "--cores", "2")
    movie, bbc, _ = plan("smoke")
    until(lambda: movie.done and "begin bbc" in calls(home))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (home / "wait-bbc").unlink()
    assert not bbc.done
    made = movie.manifest.stat().st_mtime_ns

    again = tiny.call(home, "book", "--profile", "smoke")
    assert again.returncode == 0, again.stderr
    assert "3 notebooks, 1 of them done before" in again.stdout
    assert movie.manifest.stat().st_mtime_ns == made
    # The kernel that the kill orphaned may live for a moment, but what it did counts for nothing.
    assert calls(home).count("begin movie") == calls(home).count("end movie") == 1
    assert calls(home).count("begin bbc") == 2
    assert not [path for path in movie.folder.parent.parent.rglob("*.tmp") if path.is_dir()]

    assert pages(home) == pages(undisturbed)
    assert len(pages(home)) >= 3

    third = tiny.call(home, "book", "--profile", "smoke")
    assert "3 notebooks, 3 of them done before" in third.stdout
    assert "pages in" not in third.stdout

    movie.manifest.unlink()  # without it, a folder is no run
    assert tiny.call(home, "build", "--profile", "smoke").returncode == 0 and movie.done


@pytest.mark.long
def test_notebooks_that_are_copies_of_a_warm_process_make_the_same_book(home: Path, undisturbed: Path) -> None:
    done = tiny.call(home, "book", "--profile", "smoke", warm=True)
    assert done.returncode == 0, done.stderr
    assert pages(home) == pages(undisturbed)


def test_only_the_runner_is_killed_and_its_orphan_does_not_clash(home: Path) -> None:
    (home / "wait-movie").touch()
    source = str(home / "notebooks" / "compute" / "count.py")
    words = ("run", source, "--profile", "smoke", "-p", "dataset", "movie")
    first = start(home, *words)
    until(lambda: "begin movie" in calls(home))
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    (home / "wait-movie").unlink()
    assert tiny.call(home, *words).returncode == 0
    assert plan("smoke")[0].done
    assert "was done before" in tiny.call(home, *words).stdout


@pytest.mark.long
def test_two_builds_at_once_run_each_notebook_once(home: Path) -> None:
    words = ("book", "--profile", "smoke", "--cores", "1")
    first, second = start(home, *words), start(home, *words)
    assert first.wait(timeout=200) == second.wait(timeout=200) == 0
    assert sorted(calls(home)) == ["begin bbc", "begin movie", "end bbc", "end movie"]


def test_a_notebook_that_raises_or_is_killed_fails_the_build_and_costs_nothing_else(built: Path) -> None:
    home, reports = built, built / "notebooks" / "report"
    good, book = [job.folder for job in plan("smoke")], pages(home)
    text, of_study = (reports / "report.py").read_text(), (home / tiny.OF_STUDY).read_text()
    reading = 'counts = load("counts", profile)'
    (reports / "report.py").write_text(text.replace(reading, 'raise ValueError("no such luck")'))
    killed = text.replace(reading, "import os\nos.kill(os.getpid(), 9)").replace('"report"', '"killed"')
    (reports / "killed.py").write_text(killed)
    (home / tiny.OF_STUDY).write_text(f'{of_study}\nstudy.report("killed", reads=["count"])\n')

    broken = tiny.call(home, "book", "--profile", "smoke")
    assert broken.returncode == 1
    assert "2 of 2 notebooks did not end (2 failed, the others wait for them)" in broken.stderr
    assert "report raised ValueError: no such luck" in broken.stderr
    assert "killed: its kernel was killed, by somebody, or by the system because memory ran out" in broken.stderr
    assert "FAILED report" in broken.stdout and "FAILED killed" in broken.stdout
    jobs = {job.notebook: job for job in plan("smoke")}
    assert all(str(jobs[name].failed) in broken.stderr for name in ("report", "killed"))
    assert "no such luck" in jobs["report"].failed.read_text() and jobs["killed"].failed.is_file()
    assert all((folder / "manifest.json").is_file() for folder in good)
    assert pages(home) == book

    (reports / "report.py").write_text(text)
    (home / tiny.OF_STUDY).write_text(of_study)
    mended = tiny.call(home, "book", "--profile", "smoke")
    assert mended.returncode == 0
    assert "3 notebooks, 3 of them done before" in mended.stdout
    assert len(calls(home)) == 4


@pytest.mark.long
def test_code_that_is_edited_during_a_build_is_not_run_under_the_name_of_the_old(home: Path) -> None:
    (home / "wait-movie").touch()
    line, environment = tiny.command(home, "build", "--profile", "smoke", "--cores", "1")
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen(line, env=environment, text=True, **streams)
    until(lambda: "begin movie" in calls(home))
    source = home / "notebooks" / "report" / "report.py"
    source.write_text(source.read_text() + "\n# %%\n1 + 1\n")
    (home / "wait-movie").unlink()
    _, said = process.communicate(timeout=240)
    assert process.returncode == 1
    assert "report: notebooks, library or settings changed during the build: run the same command again" in said
    again = tiny.call(home, "build", "--profile", "smoke")
    assert again.returncode == 0, again.stderr
    assert "3 notebooks, 2 of them done before" in again.stdout


def test_a_notebook_without_an_end_does_not_count(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = home / "notebooks" / "compute" / "count.py"
    source.write_text(source.read_text().replace("run.finish()", ""))
    assert main(["run", str(source), "--profile", "smoke"]) == 1
    assert "without `run.finish()`" in capsys.readouterr().err


@pytest.mark.long
def test_a_warning_of_the_page_builder_fails_the_book_and_is_shown(built: Path) -> None:
    before = pages(built)
    page = built / "book" / "intro.md"
    page.write_text(page.read_text() + "\nSee {doc}`nowhere`.\n")
    done = tiny.call(built, "book", "--profile", "smoke")
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert "the book does not build" in done.stderr
    assert pages(built) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("build", "--profile", "lapto"), "unknown profile 'lapto': did you mean 'laptop'"),
        (("run", "{count}", "--profile", "smoke", "-p", "sed", "1"), "unknown parameter of count.py 'sed'"),
        (("run", "{count}", "--profile", "smoke", "-p", "seed", "first"), "the parameter seed is a int"),
        (("run", "nowhere.py", "--profile", "smoke"), "there is no notebook"),
        (("run", "{report}", "--profile", "smoke"), "report reads count movie 0, which has not run"),
    ],
)
def test_slips_on_the_command_line_end_with_one_clear_line(
    home: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {
        "count": home / "notebooks" / "compute" / "count.py",
        "report": home / "notebooks" / "report" / "report.py",
    }
    assert main([word.format(**places) for word in words]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_plain_papermill_runs_a_notebook_and_refuses_a_slip(home: Path) -> None:
    count = "notebooks/compute/count.py"
    line = (
        f"{sys.executable} -m jupytext --to ipynb -o - {count} | {sys.executable} -m papermill - out.ipynb -k python3"
    )
    environment = tiny.command(home)[1]

    def papermill(more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            f"{line} {more}", shell=True, cwd=home, env=environment, capture_output=True, text=True, check=False
        )

    good = papermill("-p profile smoke -p dataset bbc")
    assert good.returncode == 0, good.stderr
    assert (home / "data" / "results" / "smoke" / "by-hand" / "count" / "bbc_0" / "counts.parquet").is_file()
    slip = papermill("-p profile smoke -p datset bbc")
    assert slip.returncode != 0
    assert "unknown parameter 'datset': did you mean 'dataset'" in slip.stderr


@pytest.mark.parametrize(
    # Ctrl-C at a terminal reaches all processes, a kill one.
    ("number", "code", "whole_group", "warm"),
    [(signal.SIGTERM, 143, False, True), pytest.param(signal.SIGINT, 130, True, False, marks=pytest.mark.long)],
)
def test_a_build_told_to_stop_ends_at_once_and_leaves_nothing_behind(
    home: Path, number: signal.Signals, code: int, whole_group: bool, warm: bool
) -> None:
    for name in ("wait-bbc", "wait-movie"):
        (home / name).touch()
    line, environment = tiny.command(home, "book", "--profile", "smoke", "--cores", "2", warm=warm)
    with (home / "said").open("w") as stream:
        process = subprocess.Popen(line, env=environment, stdout=stream, stderr=stream, start_new_session=True)
    until(lambda: len(calls(home)) == 2)
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) >= 5  # Snakemake, two notebooks, two kernels
    (os.killpg if whole_group else os.kill)(process.pid, number)
    assert process.wait(timeout=240) == code  # of a build that goes on, which waits for its notebooks
    assert not psutil.wait_procs(started, timeout=240)[1]
    said = (home / "said").read_text()
    assert "stopped; what is done stays done" in said
    assert "Traceback" not in said
    assert not plan("smoke")[0].done

    for name in ("wait-bbc", "wait-movie"):
        (home / name).unlink()
    again = tiny.call(home, "build", "--profile", "smoke")
    assert again.returncode == 0, again.stderr


def test_one_notebook_told_to_stop_takes_its_kernel_with_it(home: Path) -> None:
    (home / "wait-movie").touch()
    source = str(home / "notebooks" / "compute" / "count.py")
    line, environment = tiny.command(home, "run", source, "--profile", "smoke")
    process = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True)
    until(lambda: "begin movie" in calls(home))
    started = psutil.Process(process.pid).children(recursive=True)
    assert started
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not psutil.wait_procs(started, timeout=240)[1]
    assert not list((home / "data").rglob("*.tmp"))
