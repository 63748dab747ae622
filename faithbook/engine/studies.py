"""The studies that there are: every folder of `faithbook/studies` with a `study.py`, in the order of their numbers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from faithbook.engine.study import PROFILES, Confirmation, Notebook, Settings, Study, find_profile
from faithbook.paths import studies_dir
from faithlib.errors import InputError, unknown

FILE = "study.py"


def studies() -> dict[str, Study]:
    """All studies by name; InputError says what is wrong in one of them and where."""
    files = sorted(studies_dir().glob(f"*/{FILE}"))
    return _studies(tuple((file, file.read_text(encoding="utf-8")) for file in files))


@functools.lru_cache(maxsize=4)
def _studies(files: tuple[tuple[Path, str], ...]) -> dict[str, Study]:
    read = sorted((_read(file, text) for file, text in files), key=lambda study: study.number)
    found = {study.name: study for study in read}
    names = [notebook.name for study in read for notebook in study.notebooks.values()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"notebooks of two studies: {', '.join(twice)}")
    for study in read:
        for notebook in study.notebooks.values():
            for name in () if callable(notebook.reads) else notebook.reads:
                if name not in names:
                    raise unknown(f"notebook that {notebook.name} reads", name, names)
            for profile in PROFILES.values():
                notebook.points(profile)  # raises for what nothing could run over
    return found


def _read(file: Path, text: str) -> Study:
    """The study of one folder. Its module is run as it is now: whoever edits it need not start Python again."""
    module = ModuleType(f"faithbook.studies.{file.parent.name}.study")
    module.__file__ = str(file)
    try:
        exec(compile(text, str(file), "exec"), vars(module))
    except (InputError, ValidationError) as error:
        raise InputError(f"{file} cannot be used:\n{error}") from error
    study = getattr(module, "study", None)
    if not isinstance(study, Study) or study.name != file.parent.name:
        raise InputError(f"{file} must define study = Study({file.parent.name!r}, ...), but has {study!r}")
    return study


def notebooks(*kinds: str) -> Iterator[Notebook]:
    """Every notebook of a build, computations first; or of these kinds."""
    for kind in kinds or ("compute", "report"):
        for study in studies().values():
            yield from (notebook for notebook in study.notebooks.values() if notebook.kind == kind)


def entry_of(name: str) -> Notebook | None:
    """A notebook as its study has it; None for one that no study has, such as a training notebook."""
    return next((notebook for notebook in notebooks("compute", "report", "own") if notebook.name == name), None)


def reads_of(notebook: Notebook) -> list[str]:
    """The names of the notebooks whose results one reads."""
    if callable(notebook.reads):
        return list(notebook.reads(list(notebooks())))
    return list(notebook.reads)


def shareable(name: str) -> bool:
    """Whether the values of a notebook may be committed."""
    entry = entry_of(name)
    return entry is None or entry.shareable


def confirmations() -> dict[str, Confirmation]:
    """By paper, which of its findings are judged once more on the reserve; of other papers none are."""
    return {paper: study.confirmation for study in studies().values() if study.confirmation for paper in study.papers}


def study_names(study: str | None) -> list[str]:
    """A study by itself, or all where none is named; UnknownNameError for one that there is not."""
    known = studies()
    if study is not None and study not in known:
        raise unknown("study", study, known)
    return [study] if study else list(known)


def settings_of(name: str, profile: str) -> Settings:
    """The settings of a notebook at a profile, before they are those of one run; of a training notebook its recipes."""
    entry = entry_of(name)
    if entry is not None:
        return Settings(entry.settings(find_profile(profile)))
    return recipes(name, profile)


def recipes(notebook: str, profile: str) -> Settings:
    """How a training notebook trains at a profile: what all studies say, table by table."""
    merged: dict[str, Any] = {}
    for study in studies().values():
        for key, value in _recipe(study, notebook, profile).items():
            merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
    return Settings(merged)


def recipe_of(study: str, notebook: str, profile: str) -> Settings:
    """How a training notebook trains the models of one study at a profile; nothing where the study says nothing."""
    return _recipe(studies()[study_names(study)[0]], notebook, profile)


def _recipe(study: Study, notebook: str, profile: str) -> Settings:
    making = study.recipes.get(notebook)
    return Settings(making(find_profile(profile))) if making else Settings()


def text_training(profile: str, dataset: str, classifier: str) -> dict[str, Any]:
    """How a text classifier is trained at a profile: as a study says of its data set, changed as one says of such a
    classifier; nothing where none does."""
    known = recipes("text_classifiers", profile)
    return known.get("training", {}).get(dataset, {}) | known.get("training_of", {}).get(classifier, {})
