"""Shares of an evaluation: sharded, merged, resumed and whole runs give one table; memory does not grow with inputs."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from toy_models import image_inputs, text_model, tokenizer, vision_model

from faithlib import MetricSettings, RunSettings, list_metrics
from faithlib.__main__ import main
from faithlib.backends import functions
from faithlib.errors import DataError, InputError
from faithlib.evaluation import evaluate
from faithlib.evaluation.shards import load_share, merge, save_share, shard_of, share_of
from faithlib.evaluation.summary import Table

WORDS = "a good film with some bad parts and one fine scene".split()
METRICS = [name for name in list_metrics() if "soft" not in name]  # a function has no embeddings


def film(texts: list[str]) -> list[list[float]]:
    """A function whose answer to a text depends on nothing else; never sorted from the largest to the smallest."""
    found = [0.1 + 0.4 * ("good" in text) + 0.3 * ("fine" in text) + 0.01 * len(text.split()) for text in texts]
    return [[0.1, 0.9 * (1 - share), 0.9 * share] for share in found]


def some_texts(n: int, most_words: int = 8) -> list[str]:
    draw = np.random.default_rng(0)
    return [" ".join(draw.choice(WORDS, size=draw.integers(1, most_words))) for _ in range(n)]


def same(one: Table, other: Table, **tolerance: Any) -> None:
    """Values, what is said of them, and what is shown."""
    pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(other), **(tolerance or {"check_exact": True}))
    for name in ("left_out", "undefined", "notes", "truncated", "skipped"):
        assert one.attrs[name] == other.attrs[name], name
    assert [shown.row for shown in one.shown] == [shown.row for shown in other.shown]
    assert (one.kind, dict(one.meanings), one.whole) == (other.kind, dict(other.meanings), other.whole)


@given(total=st.integers(1, 60), data=st.data())
@settings(deadline=None, max_examples=50)
def test_shares_are_all_inputs_once_in_order(total: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, total))
    shares = [share_of(total, (number, count)) for number in range(1, count + 1)]
    assert [row for share in shares for row in share] == list(range(total))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert shard_of(f"{count}/{count}") == (count, count)


def test_what_is_no_share_is_refused() -> None:
    for text in ("3", "3/", "0/4", "5/4", "-1/4", "a/b"):
        refused(InputError, "shard ", shard_of, text)
    for shard in ((0, 4), (5, 4), 3, (1, 2, 3), (1.0, 2), (True, 2)):
        refused(InputError, "shard ", evaluate, film, ["good film"] * 4, run=RunSettings(shard=shard))
    refused(InputError, "there are 2 inputs", evaluate, film, ["good film"] * 2, run=RunSettings(shard=(1, 3)))
    gold = [[True, False]] * 4
    of_two = RunSettings(shard=(1, 2))
    refused(InputError, "gold_size", evaluate, film, ["good film"] * 4, metrics=["token_f1"], gold=gold, run=of_two)


@pytest.mark.parametrize(("count", "block"), [(1, 3), (3, 1024), (4, 2), (11, 1024)])
def test_merged_shares_of_a_function_are_the_whole_run_bit_for_bit(tmp_path: Path, count: int, block: int) -> None:
    """Every metric, texts of 1 to 19 words: sums over features are taken in an order that padding does not change."""
    texts = some_texts(11, most_words=20)
    arguments: dict[str, Any] = {
        "methods": ["occlusion", "lime", "random"],
        "attributions": {"mine": [[float(len(word)) for word in text.split()] for text in texts]},
        "metrics": METRICS,
        "gold": [[word in ("good", "fine") for word in text.split()] for text in texts],
        "target": [number % 2 for number in range(11)],
        "settings": MetricSettings(groups=3, gold_size=2, beam=1, seed=1),
    }
    whole = evaluate(film, texts, **arguments)
    paths = []
    for number in range(count, 0, -1):
        share = evaluate(film, texts, run=RunSettings(shard=(number, count), block=block), **arguments)
        about = {name: value for name, value in share.attrs["shard"].items() if name != "digests"}
        assert about == {"number": number, "of": count, "inputs": 11}
        assert set(share.input) == set(share_of(11, (number, count)))
        paths.append(tmp_path / f"{number}.json")
        save_share(share, paths[-1])
        same(load_share(paths[-1]), share)
    merged = merge(paths)
    same(merged, whole)
    assert merged.attrs["chance"] == whole.attrs["chance"] and "shard" not in merged.attrs
    assert str(merged.summary()) == str(whole.summary()) and merged.to_html() == whole.to_html()
    assert merged.attrs["costs"]["rows_run"] > 0


@pytest.mark.parametrize("kind", ["texts", "images"])
def test_merged_shares_of_a_model_are_the_whole_run(tmp_path: Path, kind: str) -> None:
    """To 1e-5: which rows share a forward changes the last digits of a model's answers."""
    model, inputs, given = text_model("bert"), some_texts(7), {"tokenizer": tokenizer()}
    if kind == "images":
        model, inputs, given = vision_model(), image_inputs(5), {}
    arguments: dict[str, Any] = {
        "methods": ["integrated_gradients", "random"],
        "metrics": ["soft_nc", "aopc_morf", "saco", "n_auc"],
        "settings": MetricSettings(draws=2, groups=3),
        **given,
    }
    whole = evaluate(model, inputs, **arguments)
    shares = [evaluate(model, inputs, run=RunSettings(shard=(number, 3)), **arguments) for number in (1, 2, 3)]
    for number, share in enumerate(shares):
        save_share(share, tmp_path / f"{number}.json")
    merged = merge(tmp_path.glob("*.json"))
    same(merged, whole, atol=1e-5)
    same(merge(shares), merged)
    in_blocks = evaluate(model, inputs, run=RunSettings(block=2), **arguments)
    same(in_blocks, whole, atol=1e-5)
    for table in (merged, in_blocks):
        for name, deltas in whole.attrs["convergence"].items():
            assert table.attrs["convergence"][name] == pytest.approx(deltas, abs=1e-4)


def test_what_cannot_be_read_is_skipped_in_any_share() -> None:
    texts: list[Any] = ["a good film", None, " ", "a bad film", "fine", None]
    arguments: dict[str, Any] = {"methods": ["occlusion"], "metrics": ["saco"]}
    with warnings.catch_warnings(action="ignore"):
        whole = evaluate(film, texts, run=RunSettings(on_error="skip"), **arguments)
        shares = [
            evaluate(film, texts, run=RunSettings(on_error="skip", shard=(number, 3)), **arguments) for number in (1, 3)
        ]
        refused(InputError, "text 1 ", evaluate, film, texts, run=RunSettings(shard=(1, 3)), **arguments)
        blocks = evaluate(film, texts, run=RunSettings(on_error="skip", block=1), **arguments)
    assert [row["row"] for share in shares for row in share.attrs["skipped"]] == [1, 5]
    same(blocks, whole)

    def moody(some: list[str]) -> list[list[float]]:
        if any("bad" in text for text in some):
            raise RuntimeError("I do not read this")
        return film(some)

    with pytest.warns(UserWarning, match="1 of 2 inputs was skipped"):
        left = evaluate(moody, ["bad film", "good film"], run=RunSettings(on_error="skip", block=1), **arguments)
    assert set(left.input) == {1}
    refused(
        RuntimeError,
        "I do not",
        evaluate,
        moody,
        ["bad", "bad"],
        run=RunSettings(on_error="skip", block=1),
        **arguments,
    )


def test_shares_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    def share(number: int, count: int, texts: list[str]) -> Table:
        return evaluate(film, texts, methods=["random"], metrics=["saco"], run=RunSettings(shard=(number, count)))

    texts = some_texts(4)
    refused(InputError, "there are no shares", merge, [])
    refused(InputError, "share 2 of 2 is missing", merge, [share(1, 2, texts)])
    refused(InputError, "expected each once", merge, [share(1, 2, texts), share(2, 2, texts), share(2, 2, texts)])
    refused(InputError, r"different evaluations \(of: 2, 3\)", merge, [share(1, 2, texts), share(3, 3, texts)])
    refused(InputError, "different evaluations", merge, [share(1, 2, texts), share(2, 2, texts[:3])])
    refused(InputError, "expected tables of evaluate", merge, [evaluate(film, texts, metrics=["saco"])])
    for number, asked in ((1, "a"), (2, "b")):
        save_share(share(number, 2, texts), tmp_path / f"{number}.json", asked=asked)
    refused(InputError, "asked: a, b", merge, tmp_path.glob("*.json"))
    (tmp_path / "other.json").write_text("{}")
    refused(DataError, "holds no share of this version", load_share, tmp_path / "other.json")
    (tmp_path / "half.json").write_text('{"format": ')
    refused(DataError, "cannot be read as a share", load_share, tmp_path / "half.json")


def test_memory_does_not_grow_with_the_inputs() -> None:
    """What a function answered is forgotten where it is too much."""
    kept: list[int] = []

    class Watched(functions.Remembering):
        def __call__(self, texts: Any) -> torch.Tensor:
            answers = super().__call__(texts)
            kept.append(len(self._known))
            return answers

    texts = [f"{text} {number}" for number, text in enumerate(some_texts(60))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faithlib.evaluation.table.Remembering", Watched)
        patch.setattr("faithlib.evaluation.prepare.Remembering", Watched)
        patch.setattr("faithlib.evaluation.table._MOST_ANSWERS", 10)
        evaluate(film, texts, methods=["occlusion"], metrics=["saco"])
        whole, kept[:] = max(kept), []
        evaluate(film, texts, methods=["occlusion"], metrics=["saco"], run=RunSettings(block=6))
    assert max(kept) < whole / 5


class Task:
    """A task of the substitute for Ray, computed when it is asked for."""

    def __init__(self, function: Callable[[int], Path]) -> None:
        self.remote = function


def test_the_lines_for_ray_compute_a_share_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of docs/cluster.md as they stand there, run, run again, and run with one share lost."""
    document = (Path(__file__).resolve().parents[1] / "docs" / "cluster.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```python\n(.*?)^```", document, flags=re.MULTILINE | re.DOTALL)
    ray = types.ModuleType("ray")
    vars(ray).update(remote=lambda **resources: Task, get=list)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.chdir(tmp_path)
    texts = some_texts(19)
    calls: list[int] = []

    def counted_film(batch: list[str]) -> list[list[float]]:
        calls.append(len(batch))
        return film(batch)

    def table() -> Table:
        namespace: dict[str, Any] = {"load": lambda: (counted_film, None, texts)}
        exec(compile(lines, "docs/cluster.md", "exec"), namespace)
        merged: Table = namespace["table"]
        return merged

    whole = evaluate(film, texts)
    same(table(), whole)
    assert len(list((tmp_path / "shares").iterdir())) == 16 and calls
    calls.clear()
    same(table(), whole)
    assert not calls
    (tmp_path / "shares" / "5-of-16.json").unlink()
    same(table(), whole)
    assert calls


# ------------------------------------------------------------------------------------------------- on the command line
@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    model = text_model("bert")
    model.save_pretrained(tmp_path / "my-model")
    tokenizer().save_pretrained(tmp_path / "my-model")
    texts = some_texts(8)
    table = pd.DataFrame({"text": texts, "gold": ["0:1"] * 8})
    table.to_csv(tmp_path / "texts.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


ASKED = ["evaluate", "my-model", "texts.csv", "--methods", "saliency,random", "--metrics", "aopc_morf,saco,token_f1"]


def test_a_command_computes_a_share_once_and_another_joins_them(here: Path, capsys: Any) -> None:
    assert main([*ASKED, "--out", "whole.html"]) == 0
    for number in (1, 2, 3):
        assert main([*ASKED, "--shard", f"{number}/3"]) == 0
    capsys.readouterr()
    before = (here / "report.2-of-3.json").stat().st_mtime_ns
    assert main([*ASKED, "--shard", "2/3"]) == 0
    assert "Share 2 of 3 is there already: report.2-of-3.json" in capsys.readouterr().out
    assert (here / "report.2-of-3.json").stat().st_mtime_ns == before
    assert main(["merge", *map(str, here.glob("report.*-of-3.json")), "--out", "merged.html"]) == 0
    pd.testing.assert_frame_equal(pd.read_csv("merged.csv"), pd.read_csv("whole.csv"), atol=1e-5)
    assert "All values: merged.csv" in capsys.readouterr().out
    (here / "report.3-of-3.json").unlink()
    for arguments, message in (
        (["merge", "report.1-of-3.json", "report.2-of-3.json"], "share 3 of 3 is missing"),
        ([*ASKED, "--shard", "2/3", "--draws", "9"], "report.2-of-3.json is a share of another call"),
        ([*ASKED, "--shard", "4/3"], "shard (4, 3): expected a number from 1 to 3"),
        (["merge", "texts.csv"], "texts.csv cannot be read as a share"),
    ):
        assert main(arguments) == 2
        assert capsys.readouterr().err.startswith(f"faithlib: {message}")


@pytest.mark.slow
def test_a_job_that_is_killed_goes_on_where_it_was(here: Path) -> None:
    """Shares one after the other, as a script has them: killed in the midst, begun again."""
    loop = (
        "from faithlib.__main__ import main\n"
        f"for number in range(1, 5):\n    main([*{ASKED!r}, '--shard', f'{{number}}/4'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    process = subprocess.Popen([sys.executable, "-c", loop], env=environment, stdout=subprocess.DEVNULL)
    while not (here / "report.2-of-4.json").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = {path.name: path.stat().st_mtime_ns for path in here.glob("report.*-of-4.json")}
    assert len(there) >= 2
    subprocess.run([sys.executable, "-c", loop], env=environment, check=True, stdout=subprocess.DEVNULL)
    again = {path.name: path.stat().st_mtime_ns for path in here.glob("report.*-of-4.json")}
    assert len(again) == 4 and again.items() >= there.items()
    assert main([*ASKED, "--out", "whole.html"]) == 0
    assert main(["merge", *map(str, here.glob("report.*-of-4.json")), "--out", "merged.html"]) == 0
    pd.testing.assert_frame_equal(pd.read_csv("merged.csv"), pd.read_csv("whole.csv"), atol=1e-5)
    assert json.loads((here / "report.1-of-4.json").read_text())["attrs"]["shard"]["of"] == 4


def test_settings_are_frozen() -> None:
    refused(dataclasses.FrozenInstanceError, "block", setattr, RunSettings(), "block", 2)
    refused(InputError, "block 0", evaluate, film, ["good film"], run=RunSettings(block=0))
