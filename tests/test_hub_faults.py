"""What the hub and the way to it do wrong, done by a replica of it: each is a sentence, nothing that is done is lost,
and the same command goes on once it is mended."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import replica_models
import safetensors.torch
import tiny
import torch
from hub_replica import Replica
from huggingface_hub.constants import DOWNLOAD_CHUNK_SIZE as CHUNK

from faithbook.engine.plan import Job, plan

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

NOTEBOOK = (
    tiny.HEADER
    + """
# %% tags=["parameters"]
profile = "laptop"
model = "good"

# %%
import pandas as pd

from faithbook.engine.run import start_run
from faithbook.models.load import load_model

run = start_run("ask", profile=profile, model=model)
found = load_model(run.settings["models"][model]).model
run.save(pd.DataFrame({"parameters": [sum(p.numel() for p in found.parameters())]}), "asked")
run.note(n=1)
run.finish()
"""
)
NAMES = ("good", "unknown", "elsewhere", "gated", "busy", "later", "cut", "short")
REVISION = "f" * 40
PROFILES = """\
profiles:
  smoke:
    about: One model after the other.
    settings:
      ask: {{names: [{names}], models: {{{models}}}}}
studies:
  tiny:
    compute:
      ask: {{over: {{model: names}}, loads: ["models.{{model}}"]}}
hub:
  lab/elsewhere: {{revision: {revision}}}
"""
WEIGHTS = "model.safetensors"


@dataclass
class Lab:
    """A home whose one notebook loads a model, a hub, and the builds that have been tried."""

    home: Path
    replica: Replica
    cache: Path
    files: Path

    @property
    def larger(self) -> Path:
        """The same model with so much beside its weights that they come in two pieces."""
        folder = self.home.with_name("larger")
        shutil.copytree(self.files, folder)
        weights = {**safetensors.torch.load_file(self.files / WEIGHTS), "beside": torch.rand(CHUNK // 3)}
        safetensors.torch.save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
        return folder

    def build(self, *names: str, limit: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
        """Build; of these models alone. `limit`: bytes above which no file can grow."""
        line, environment = tiny.command(self.home, "build", "--profile", "smoke", warm=True)
        models = ", ".join(f"{name}: 'hf:lab/{name}'" for name in names)
        told = PROFILES.format(names=", ".join(names), models=models, revision=REVISION)
        (self.home / "notebooks" / "profiles.yaml").write_text(told)

        def bounded() -> None:
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        given = environment | self.replica.environment(self.cache) | more
        return subprocess.run(line, env=given, capture_output=True, text=True, check=False, preexec_fn=bounded)

    def jobs(self) -> dict[str, Job]:
        return {job.parameters["model"]: job for job in plan("smoke")}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier as the hub has it."""
    folder = tmp_path_factory.mktemp("files") / "one"
    replica_models.make("lab/roberta-base-snli", folder, ["who is it", "a fine film"])
    return folder


@pytest.fixture
def lab(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    home = tiny.make_home(tmp_path / "home")
    monkeypatch.setenv("FAITHLIB_HOME", str(home))
    (home / "notebooks" / "compute" / "count.py").unlink()
    (home / "notebooks" / "report" / "report.py").unlink()
    (home / "notebooks" / "compute" / "ask.py").write_text(NOTEBOOK)
    with Replica() as replica:
        yield Lab(home, replica, tmp_path / "hub", files)


def told(done: subprocess.CompletedProcess[str], name: str) -> str:
    """What was said of one model, without the lines of the code that raised it."""
    said = re.search(rf"^faithlib: ask {name} raised (.*?)\n  \|", done.stderr, flags=re.MULTILINE | re.DOTALL)
    assert said, done.stdout + done.stderr
    return said[1]


def stands(lab: Lab, *names: str) -> dict[str, int]:
    """When the runs of these models were made; each is whole."""
    jobs = lab.jobs()
    assert all(jobs[name].done for name in names), {name: job.done for name, job in jobs.items()}
    return {name: jobs[name].manifest.stat().st_mtime_ns for name in names}


def test_what_the_hub_refuses_is_a_sentence_each_and_stops_nothing_else(lab: Lab) -> None:
    """404, 403, 429, a transfer that is cut off and a wrong size, side by side in one build."""
    replica = lab.replica
    for name in NAMES:
        if name != "unknown":
            replica.add(f"lab/{name}", lab.larger if name == "cut" else lab.files, gated=name == "gated")
    replica.fault("status", "*/lab/busy/*", status=429, times=999, **{"Retry-After": "0"})
    replica.fault("status", f"/store/lab/later/*/{WEIGHTS}", status=429, times=2, **{"Retry-After": "1"})
    replica.fault("cut", f"lab/cut/{WEIGHTS}", after=CHUNK + 1000)
    replica.fault("size", f"lab/short/{WEIGHTS}", more=100, times=99)
    done = lab.build(*NAMES)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "5 of 8 notebooks did not end" in done.stderr
    assert "not a valid model identifier" in told(done, "unknown")
    assert f"{REVISION} is not a valid git identifier" in told(done, "elsewhere")
    assert "gated" in told(done, "gated")
    assert "429" in told(done, "busy")
    assert "size" in told(done, "short")
    for name in ("unknown", "elsewhere", "gated", "busy", "short"):
        assert f"lab/{name}" in told(done, name)
    before = stands(lab, "good", "later", "cut")
    assert replica.sent("lab/cut", WEIGHTS) == ["", f"bytes={CHUNK}-"]  # what had come was kept, the rest asked for
    assert replica.sent("lab/later", WEIGHTS) == ["", "", ""]

    replica.add("lab/unknown", lab.files)
    replica.add("lab/elsewhere", lab.files, revision=REVISION)
    replica.repositories["lab/gated"].is_gated = False
    replica.faults.clear()
    again = lab.build(*NAMES)
    assert again.returncode == 0, again.stderr
    assert "3 of them done before" in again.stdout
    assert stands(lab, *NAMES).items() >= before.items()
    assert replica.sent("lab/good", WEIGHTS) == [""]


def test_without_a_network_what_is_here_runs_and_the_rest_is_named(lab: Lab) -> None:
    for name in ("good", "cut"):
        lab.replica.add(f"lab/{name}", lab.files)
    assert lab.build("good").returncode == 0
    shutil.rmtree(lab.jobs()["good"].folder)
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9"}
    done = lab.build("good", "cut", **nowhere)
    assert done.returncode == 1
    assert "couldn't connect to 'http://127.0.0.1:9'" in told(done, "cut")
    assert "lab/cut" in told(done, "cut")
    before = stands(lab, "good")
    again = lab.build("good", "cut")
    assert again.returncode == 0, again.stderr
    assert stands(lab, "good", "cut").items() >= before.items()


def test_a_full_disk_is_told_and_what_had_come_is_gone_on_with(lab: Lab, files: Path) -> None:
    lab.replica.add("lab/good", files)
    size = (files / WEIGHTS).stat().st_size
    done = lab.build("good", limit=size - 1)
    assert done.returncode == 1
    assert "File too large" in told(done, "good")
    again = lab.build("good")
    assert again.returncode == 0, again.stderr
    stands(lab, "good")
