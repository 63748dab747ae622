"""`python -m faithbook`: its help, its examples, what completes it, and its log."""

from __future__ import annotations

import errno
import logging
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from faithbook import __main__
from faithbook.engine.build import run_job
from faithbook.engine.plan import MANIFEST, plan
from faithbook.engine.profiles import table
from faithbook.paths import root

VERBS = list(__main__._VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples_that_can_be_given(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        __main__.main([verb, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    start = f"  {__main__._PROGRAM} "
    examples = [line.removeprefix(start) for line in told.partition("examples:")[2].splitlines() if line.strip()]
    assert examples and all(line.startswith(f"{verb}") for line in examples)
    for line in examples:
        options = __main__._parser().parse_args(shlex.split(line, comments=True))
        assert options.verb == verb
        assert getattr(options, "profile", "laptop") in table().profiles
        assert getattr(options, "study", None) in (None, *table().studies)
        if verb == "run":
            assert (root() / options.notebook).is_file()


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["--help"])
    told = capsys.readouterr().out
    assert all(f"{__main__._PROGRAM} {verb}" in told for verb in VERBS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_a_shell_completes_verbs_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    """What bash itself offers after `faithbook pre`, and after `faithbook plan --st`."""
    assert __main__.main(["completion", "bash"]) == 0
    told = capsys.readouterr().out
    ask = (
        'offered() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_faithbook; echo ${COMPREPLY[*]}; }'
        "\noffered faithbook pre\noffered faithbook plan --st\ntype -t faithbook\n"
    )
    done = subprocess.run(["bash", "-c", told + ask], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["preflight", "--study", "function"], done.stderr


def test_what_the_library_logs_is_shown_when_asked(caplog: pytest.LogCaptureFixture) -> None:
    """Below the level of warnings nothing is said unasked: the library adds no handler that writes."""
    assert all(isinstance(one, logging.NullHandler) for one in logging.getLogger("faithlib").handlers)
    assert __main__._parser().parse_args(["plan", "--log", "debug"]).log == "debug"


def test_an_empty_parameter_is_an_empty_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Snakemake hands on `classifier`, which most trainings leave empty."""
    asked = []
    monkeypatch.setattr(__main__, "run_job", asked.append)
    line = "run notebooks/train/text_classifiers.py --quiet -p classifier '' -p seed 1"
    assert __main__.main(shlex.split(line.replace("notebooks", str(root() / "notebooks")))) == 0
    assert (asked[0].parameters["classifier"], asked[0].parameters["seed"]) == ("", 1)


def test_a_kernel_that_ends_before_its_first_answer_is_started_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process had taken its port; what ends later has run something, and is told."""
    starts: list[str] = []

    def started(notebook: object, executed: Path, *_: object, **__: object) -> None:
        starts.append("start")
        if len(starts) < 3:
            raise RuntimeError("Kernel died before replying to kernel_info")
        (executed.parent / MANIFEST).write_text("{}")

    monkeypatch.setattr("papermill.execute_notebook", started)
    job = plan("smoke")[0]
    assert run_job(job)
    assert job.done and len(starts) == 3

    def died(*_: object, **__: object) -> None:
        raise RuntimeError("Kernel died")

    monkeypatch.setattr("papermill.execute_notebook", died)
    with pytest.raises(RuntimeError, match="Kernel died"):
        run_job(plan("smoke")[1])


@pytest.mark.parametrize(
    ("line", "called"), [(["slides", "--to", "x"], "_write"), (["plan", "--profile", "smoke"], "plan")]
)
def test_a_full_disk_ends_a_command_with_a_sentence(
    line: list[str], called: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise OSError(number, "whatever the system says", "some/file")

    monkeypatch.setattr(__main__, called, fails)
    number = errno.ENOSPC
    assert __main__.main(line) == 1
    assert "some/file': make room and call it again" in capsys.readouterr().err
    number = errno.EACCES  # another error is none of ours to word
    with pytest.raises(PermissionError):
        __main__.main(line)
