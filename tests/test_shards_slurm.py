"""Shares of an evaluation as an array of jobs on a real Slurm of one node, cancelled half-way and submitted again."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import one_node
import pandas as pd
import pytest
from toy_models import text_model, tokenizer

from faithlib.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("slurm"),  # one worker: there is one Slurm on a machine
    pytest.mark.skipif(bool(one_node.missing()), reason=one_node.missing() or "Slurm can be started"),
]
ASKED = ["evaluate", "my-model", "texts.csv", "--methods", "saliency,random", "--metrics", "aopc_morf,saco"]


@pytest.fixture
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with one_node.running(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 400
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.2)


def submitted(slurm: dict[str, str], folder: Path) -> str:
    """An array of four tasks, one at a time, as docs/cluster.md has it; its number."""
    command = " ".join([sys.executable, "-m", "faithlib", *ASKED, "--shard", "$SLURM_ARRAY_TASK_ID/4"])
    script = folder / "shares.sh"
    script.write_text(f"#!/bin/bash\nexport PYTHONPATH={ROOT} HF_HUB_OFFLINE=1\n{command}\n")
    options = ["--parsable", "--array=1-4%1", "--mem=1000", f"--chdir={folder}", f"--output={folder}/task-%a.log"]
    return one_node.ask(slurm, "sbatch", *options, str(script)).strip()


def test_an_array_that_is_cancelled_half_way_is_finished_by_the_same_command(
    slurm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_model("bert").save_pretrained(tmp_path / "my-model")
    tokenizer().save_pretrained(tmp_path / "my-model")
    texts = [
        f"a {word} film, {word} and not bad" for word in ("fine", "good", "bad", "unfunny", "long", "warm", "dull")
    ]
    pd.DataFrame({"text": texts}).to_csv(tmp_path / "texts.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def shares() -> dict[str, int]:
        return {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("report.*-of-4.json")}

    array = submitted(slurm, tmp_path)
    until(lambda: len(shares()) == 2, "two shares")
    one_node.ask(slurm, "scancel", array)
    until(lambda: not one_node.ask(slurm, "squeue", "--noheader", "--format=%i").strip(), "the array to end")
    there = shares()
    assert 2 <= len(there) < 4
    submitted(slurm, tmp_path)
    until(lambda: len(shares()) == 4, "the other shares")
    assert shares().items() >= there.items(), "what was there was not computed again"
    assert main(["merge", *map(str, tmp_path.glob("report.*-of-4.json")), "--out", "merged.html"]) == 0
    assert main([*ASKED, "--out", "whole.html"]) == 0
    pd.testing.assert_frame_equal(pd.read_csv("merged.csv"), pd.read_csv("whole.csv"), atol=1e-5)
