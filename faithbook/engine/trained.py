"""What a training job makes: the folder of its checkpoint, and what it starts from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faithbook.artifacts import registry
from faithbook.engine.plan import TEXT_CLASSIFIERS, Job
from faithbook.engine.studies import recipes, text_training
from faithbook.paths import checkpoints_dir


def checkpoint_of(job: Job) -> Path:
    """The folder in which the checkpoint of a training job lies once it is made."""
    values = job.parameters
    names = (values["dataset"], values.get("model") or values.get("classifier"), f"seed{values['seed']}")
    return checkpoints_dir() / _kind(job) / "-".join(str(name) for name in names if name)


def is_made(job: Job) -> bool:
    """Whether that folder holds weights, whoever made them."""
    return has_weights(checkpoint_of(job))


def waits_for(job: Job, others: Iterable[Job]) -> list[Job]:
    """Those of other training jobs whose checkpoint this one starts from."""
    if job.kind != "train":
        return []
    how = recipes(job.notebook, job.profile)["training"]
    start = how.get(job.parameters["dataset"], {}).get("start_from")
    wanted = {**job.parameters, "dataset": start}
    return [one for one in others if start and dict(one.parameters) == wanted]


def has_weights(folder: Path) -> bool:
    """Whether a folder holds weights, or needs none: its card says that nothing was trained of what it stands on."""
    if folder.is_dir() and any(folder.glob("*.safetensors")):
        return True
    card = folder / "card.json"
    return card.is_file() and json.loads(card.read_text(encoding="utf-8")).get("trained_parameters") == 0


def starts_from(job: Job) -> tuple[str, ...]:
    """The names, as notebooks have them under `loads`, of the pretrained model and the data that a training needs
    beside what comes with the repository or the registries."""
    dataset = str(job.parameters["dataset"])
    recipe = recipes(job.notebook, job.profile)
    start = ""
    if job.notebook == TEXT_CLASSIFIERS:
        if _kind(job) == "paper":
            start = f"hf:{_how(job)['model']}"
    elif recipe.get("pretrained"):
        start = f"timm:{recipe['architectures'][job.parameters['model']]['name']}"
    else:
        start = recipe.get("encoder", "")
    data = dataset if dataset in registry().data else ""
    return tuple(name for name in (start, data) if name)


def _kind(job: Job) -> str:
    """The folder of folders: of texts, weights that are small enough to ship or those of `make train PROFILE=paper`."""
    if job.notebook != TEXT_CLASSIFIERS:
        return str(recipes(job.notebook, job.profile)["kind"])
    is_small = _how(job).get("rank") or _how(job).get("hidden")
    return "text" if is_small else "paper"


def _how(job: Job) -> dict[str, Any]:
    values = job.parameters
    return text_training(job.profile, str(values["dataset"]), str(values["classifier"]))
