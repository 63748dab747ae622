"""`python -m faithbook`: what its verbs are given, and what they say."""

from __future__ import annotations

import errno
import shlex

import pytest

from faithbook import __main__
from faithbook.engine.plan import plan
from faithbook.paths import root


def test_what_a_profile_has_is_listed_and_not_run(home: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["build", "--list", "--profile", "smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("to do")] == [
        ["to", "do", job.run_id, *job.label.split()] for job in plan("smoke")
    ]
    assert not any(job.done for job in plan("smoke"))


def test_an_empty_parameter_is_an_empty_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Snakemake hands on `classifier`, which most trainings leave empty."""
    asked = []
    monkeypatch.setattr(__main__, "run_job", asked.append)
    line = "run notebooks/train/text_classifiers.py --quiet -p classifier '' -p seed 1"
    assert __main__.main(shlex.split(line.replace("notebooks", str(root() / "notebooks")))) == 0
    assert (asked[0].parameters["classifier"], asked[0].parameters["seed"]) == ("", 1)


def test_a_full_disk_ends_a_command_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["build", "--list", "--profile", "smoke"]

    def fails(*_: object) -> None:
        raise OSError(number, "whatever the system says", "some/file")

    monkeypatch.setattr(__main__, "plan", fails)
    number = errno.ENOSPC
    assert __main__.main(line) == 1
    assert "some/file': make room and call it again" in capsys.readouterr().err
    number = errno.EACCES  # another error is none of ours to word
    with pytest.raises(PermissionError):
        __main__.main(line)
