"""What a training job makes: the folder of its checkpoint, and what it starts from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faithbook.artifacts import HUB, TIMM, encoder_called, registry
from faithbook.engine.plan import TEXT_CLASSIFIERS, Job
from faithbook.engine.studies import recipes, text_training
from faithbook.paths import checkpoints_dir


def checkpoint_of(job: Job) -> Path:
    """The folder in which the checkpoint of a training job lies once it is made."""
    values = job.parameters
    classifier = str(values.get("model") or values.get("classifier") or "")
    return checkpoint_folder(job.notebook, job.profile, str(values["dataset"]), classifier, int(values["seed"]))


def checkpoint_folder(notebook: str, profile: str, dataset: str, classifier: str, seed: int) -> Path:
    """The folder in which a training notebook puts its checkpoint: of a data set, and of the classifier if it is not
    the data set's own (""), below `text`, `vision`, `photo` or, of `make train PROFILE=paper`, `paper`."""
    kind = _kind(notebook, profile, dataset, classifier)
    name = "-".join(part for part in (dataset, classifier, f"seed{seed}") if part)
    return checkpoints_dir() / kind / name


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
    return [other for other in others if start and dict(other.parameters) == wanted]


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
        title = str(_how(job).get("model", ""))
        if title and encoder_called(title) is None:
            start = f"{HUB}{title}"
    elif recipe.get("pretrained"):
        start = f"{TIMM}{recipe['architectures'][job.parameters['model']]['name']}"
    else:
        start = recipe.get("encoder", "")
    data = dataset if dataset in registry().data else ""
    return tuple(name for name in (start, data) if name)


def _kind(notebook: str, profile: str, dataset: str, classifier: str) -> str:
    """The folder of folders: of texts, weights that are small enough to ship or those of `make train PROFILE=paper`."""
    if notebook != TEXT_CLASSIFIERS:
        return str(recipes(notebook, profile)["kind"])
    how = text_training(profile, dataset, classifier)
    is_small = how.get("rank") or how.get("hidden")
    return "text" if is_small else "paper"


def _how(job: Job) -> dict[str, Any]:
    values = job.parameters
    return text_training(job.profile, str(values["dataset"]), str(values["classifier"]))
