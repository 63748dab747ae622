"""`notebooks/profiles.yaml`: how large a run is, which notebooks there are, and what they read."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from faithbook.engine import machine
from faithbook.paths import checked_root, checkpoints_dir, raw_dir, root
from faithlib.errors import InputError, unknown

# Both know plain data only; the one in C reads the table in a tenth of the time, where it is there.
_PLAIN = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Settings(dict[str, Any]):
    """A block of settings in which a missing key is an error that names the known ones, as is one of a table in it.

    >>> Settings(inputs={"movie": 8})["inptus"]
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown setting 'inptus': did you mean 'inputs'? known: inputs
    >>> Settings(inputs={"movie": 8})["inputs"]["moovie"]
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown setting 'moovie': did you mean 'movie'? known: movie
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.update({key: Settings(value) for key, value in self.items() if isinstance(value, dict)})

    def __missing__(self, key: str) -> Any:
        raise unknown("setting", key, self)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Profile(_Strict):
    """How large a run is: blocks of settings, each for a study or one notebook, with those that it has inherited.

    `parts`: in how many runs a computation shares its inputs out, where more than one.
    `trains`: by study and training notebook, the checkpoints to make, as parameters; of lists, every combination.
    """

    about: str
    settings: dict[str, dict[str, Any]]
    parts: dict[str, PositiveInt] = {}
    trains: dict[str, dict[str, list[dict[str, Any]]]] = {}


class NotebookEntry(_Strict):
    """One notebook of a study: the grid it runs over (parameter: setting that lists its values, or those of each value
    of a parameter before it; with a number of inputs beside each value, where it has its own), the notebooks whose
    results it reads, and the models and data it loads (`faithbook.engine.inputs`), without which it may open none.

    `shareable: false` keeps its tables out of the committed reference: they quote texts that are not ours, or are about
    what a reader brings. `public: false` keeps its page out of a published book: it quotes texts or images that are not
    ours to publish.
    """

    over: dict[str, str] = {}
    reads: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    shareable: bool = True
    public: bool = True

    def points(self, block: Settings) -> list[dict[str, Any]]:
        """The parameters of every point of the grid; of a setting with a list for each data set the point's own."""
        points: list[dict[str, Any]] = [{}]
        for name in self.over:
            points = [{**point, name: value} for point in points for value in self._values(name, block, point)]
        return points

    def counts(self, block: Settings, point: Mapping[str, Any]) -> dict[str, Any]:
        """The number of inputs at a point, for each setting of the grid that has numbers beside its values.

        Of `lengths: {l6: {10: 4}}` the point with classifier l6 and words 10 has {"lengths": 4}; a setting that only
        lists its values has nothing.
        """
        counts: dict[str, Any] = {}
        for setting in self.over.values():
            numbers = block[setting]
            for name in self.over:
                numbers = numbers.get(point.get(name), numbers) if isinstance(numbers, dict) else numbers
            if not isinstance(numbers, list | dict):
                counts[setting] = numbers
        return counts

    def _values(self, name: str, block: Settings, point: Mapping[str, Any]) -> list[Any]:
        """The values of one parameter, of the lists for each value of a parameter before it the one for this point;
        the nearest such parameter's, where several have one."""
        values = block[self.over[name]]
        if not isinstance(values, dict):
            return list(values)
        before = list(self.over)[: list(self.over).index(name)]
        key = next((point[one] for one in reversed(before) if point.get(one) in values), None)
        if key is None:
            of_point = ", ".join(f"{one} {point.get(one)}" for one in before)
            raise InputError(f"{self.over[name]} has no list for {of_point}: it has {', '.join(map(str, values))}")
        return list(values[key])


class HubModel(_Strict):
    """A model of the hub: the commit it is wanted at ("": the newest, or what the cache holds) and its licence ("":
    its card says it)."""

    revision: str = ""
    licence: str = ""


class StudyEntry(_Strict):
    """The notebooks of one paper; those of `own` run when somebody asks for one, on what they bring."""

    compute: dict[str, NotebookEntry] = {}
    report: dict[str, NotebookEntry] = {}
    own: dict[str, NotebookEntry] = {}


class Table(_Strict):
    """The whole of `notebooks/profiles.yaml`."""

    profiles: dict[str, Profile]
    studies: dict[str, StudyEntry]
    data: dict[str, tuple[str, ...]] = {}  # data set, encoder or gold alignment: the sources and files it is read from
    instead: dict[str, tuple[str, ...]] = {}  # data set: the sources read instead of those, where they are not there
    hub: dict[str, HubModel] = {}  # by hub id

    def is_here(self, name: str) -> bool:
        """Whether a data set can be read without fetching anything (UnknownNameError for one that is not listed)."""
        if name not in self.data:
            raise unknown("data set in `where_here`", name, self.data)
        return is_here(self.data[name], self.instead.get(name, ()))

    def entries(self, *kinds: str) -> Iterator[tuple[str, str, str, NotebookEntry]]:
        """(study, kind, notebook, entry) of every notebook of a build, computations first; or of these kinds."""
        for kind in kinds or ("compute", "report"):
            for study, block in self.studies.items():
                for name, entry in getattr(block, kind).items():
                    yield study, kind, name, entry


def table() -> Table:
    """`notebooks/profiles.yaml`, checked; InputError says what is wrong in it and where."""
    path = checked_root() / "notebooks" / "profiles.yaml"
    return _table(path, path.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=4)
def _table(path: Path, text: str) -> Table:
    try:
        read = yaml.load(text, Loader=_PLAIN)
        made = Table.model_validate({**read, "profiles": inherited(read["profiles"])})
    except ValidationError as error:
        raise InputError(f"{path} cannot be used:\n{error}") from error
    _check_owners(made, path)
    names = [name for _, _, name, _ in made.entries()]
    for study, _, name, entry in made.entries():
        for read in entry.reads:
            if read != "*" and read not in names:
                raise unknown(f"notebook that {name} reads", read, names)
        for profile_name, profile_entry in made.profiles.items():
            # What is asked only of data that somebody brought may be asked of none.
            optional = "datasets" if "where_here" in profile_entry.settings.get(name, {}) else None
            for setting in entry.over.values():
                values = _block(profile_entry, study, name, made)[setting]
                lists = list(values.values()) if isinstance(values, dict) else [values]
                if not lists or not all(isinstance(one, list | dict) and (one or setting == optional) for one in lists):
                    raise InputError(
                        f"{path}: {name} runs over {setting}, which must be a non-empty list, or one for each "
                        f"value of a parameter before it, but the profile {profile_name} has {values!r}"
                    )
    return made


def inherited(profiles: Mapping[str, Any]) -> dict[str, Any]:
    """Profiles as they stand in the table, each with the settings and trainings of the one that it `extends`: a setting
    that it names itself is replaced as a whole, trainings study by study.

    Raises UnknownNameError for a profile that is not above it, and for a setting that this does not have.
    """
    complete: dict[str, Any] = {}
    for name, entry in profiles.items():
        complete[name] = entry
        if base := entry.get("extends"):
            if base not in complete or base == name:
                raise unknown(f"profile above {name} that it extends,", base, [one for one in complete if one != name])
            complete[name] = _extended(name, entry, complete[base])
    return complete


def _extended(name: str, entry: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    settings, changes = base["settings"], entry.get("settings", {})
    for of, block in changes.items():
        for key in block:
            if key not in settings.get(of, {}):
                raise unknown(f"setting of {of} in the profile {name}", key, settings.get(of, {}))
    whole = {key: value for key, value in entry.items() if key != "extends"}
    whole["settings"] = {of: {**block, **changes.get(of, {})} for of, block in settings.items()}
    return whole | {"trains": {**base.get("trains", {}), **entry.get("trains", {})}}


def _check_owners(made: Table, path: Path) -> None:
    """Settings of nobody would be read by nobody: refuse them at once."""
    training = {name for profile in made.profiles.values() for grids in profile.trains.values() for name in grids}
    owners = {*made.studies, *training, *(name for _, _, name, _ in made.entries("compute", "report", "own"))}
    for of in sorted({of for profile in made.profiles.values() for of in profile.settings} - owners):
        raise unknown(f"study or notebook with settings in {path.name},", of, owners)


def find_profile(name: str) -> Profile:
    """The profile of that name (UnknownNameError names the known ones)."""
    profiles = table().profiles
    if name not in profiles:
        raise unknown("profile", name, profiles)
    return profiles[name]


def studies_of(study: str | None) -> list[str]:
    """A study by itself, or all where none is named; UnknownNameError for one that there is not."""
    studies = table().studies
    if study not in (None, *studies):
        raise unknown("study", study, studies)
    return [study] if study else list(studies)


def text_training(profile: str, dataset: str, classifier: str) -> dict[str, Any]:
    """How a text classifier is trained at a profile: as a study says of its data set, changed as one says of such a
    classifier; nothing where none does."""
    blocks = [block for block in find_profile(profile).settings.values() if "kind" not in block]
    training: dict[str, Any] = {}
    for key, name in (("training", dataset), ("training_of", classifier)):
        for block in blocks:
            training |= block.get(key, {}).get(name, {})
    return training


def settings_of(notebook: str, profile_name: str) -> Settings:
    """The settings of one notebook: its study's block of the profile, then its own."""
    return _block(find_profile(profile_name), place_of(notebook)[0] or "", notebook, table())


def own_of(settings: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The settings of one point of a grid: of those with a value for each data set, seed or the like, its own.

    >>> own_of({"n": {"nli": {"0": 60, "1": 20}}, "split": "test"}, "nli", "1")
    {'n': 20, 'split': 'test'}
    """
    values = dict(settings)
    for name in names:
        values = {
            key: value[name] if isinstance(value, dict) and name in value else value for key, value in values.items()
        }
    return values


def _block(profile: Profile, study: str, notebook: str, known: Table) -> Settings:
    block = Settings({**profile.settings.get(study, {}), **profile.settings.get(notebook, {})})
    # Data sets that go before the others if they are on this machine, as their models do: a run without goes on. A
    # few inputs of a set are read only where the whole is not.
    if where_here := block.pop("where_here", []):
        at_hand = [name for name in where_here if known.is_here(name) and _has_models(block, name)]
        block["datasets"] = at_hand + [name for name in block["datasets"] if name.removesuffix("-few") not in at_hand]
    # Classifiers that are in the grid only if what they need is on this machine: an encoder or a folder.
    if absent := {name for name, on in block.pop("classifiers_here", {}).items() if not _lies_here(on, known)}:
        block["classifiers"] = _without(block.get("classifiers", []), absent)
        if isinstance(block["classifiers"], dict):
            block["datasets"] = [name for name in block["datasets"] if name in block["classifiers"]]
    if block.get("dtype") == "auto":  # resolved here, so that it is part of the run's name
        block["dtype"] = machine.precision()
    return block


def _lies_here(needed: str, known: Table) -> bool:
    return (checked_root() / needed).is_dir() if "/" in needed else known.is_here(needed)


def _without(classifiers: Any, absent: set[str]) -> Any:
    """Lists of classifiers, one or by data set, without these; a data set of which none is left goes too."""
    if isinstance(classifiers, dict):
        left = {dataset: _without(names, absent) for dataset, names in classifiers.items()}
        return Settings({dataset: names for dataset, names in left.items() if names})
    return [name for name in classifiers if name not in absent]


def _has_models(block: Settings, dataset: str) -> bool:
    """Whether the checkpoints of ours that a block names for a data set are there, of every seed."""
    named = block.get("models_of", {}).get(dataset) or block.get("models", {}).get(dataset, "")
    specs = list(named.values()) if isinstance(named, dict) else [str(named)]
    seeds = block.get("seeds", [0])
    seeds = seeds[dataset] if isinstance(seeds, dict) else seeds
    ours = {spec.format(seed=seed).removeprefix("local:") for spec in specs for seed in seeds if spec[:6] == "local:"}
    return all((checkpoints_dir() / name).is_dir() for name in ours)


def place_of(notebook: str) -> tuple[str | None, NotebookEntry]:
    """(study, entry) of a notebook; (None, an empty entry) for one that no study names, such as a training notebook."""
    every = table().entries("compute", "report", "own")
    return next(((study, entry) for study, _, name, entry in every if name == notebook), (None, NotebookEntry()))


def shareable(notebook: str) -> bool:
    """Whether the tables of a notebook may be committed."""
    return place_of(notebook)[1].shareable


# ------------------------------------------------------------------- which of the papers' own data are on this machine
def is_here(whole: Iterable[str], instead: Iterable[str] = ()) -> bool:
    """Whether a data set can be read without fetching anything: `whole`, the sources it is read from, or all of those
    that are read in their place (the tables `data` and `instead` of notebooks/profiles.yaml).

    Digests are checked when the files are read. Raises UnknownNameError for a source that is not listed.
    """
    return any(names and all(map(source_lies, names)) for names in (list(whole), list(instead)))


def source_lies(source: str) -> bool:
    """Whether the files of a source are on this machine; of what people bring any file counts, as layouts differ."""
    entry, folder = listed_source(source), raw_dir() / source
    if entry.get("kind") == "manual":
        return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())
    files = entry.get("files") or [entry["file"]]
    return all((folder / file).exists() for file in files)


def listed_source(source: str) -> dict[str, Any]:
    """An entry of `data/sources.toml` as it is written there."""
    known = _sources((root() / "data" / "sources.toml").read_text(encoding="utf-8"))
    if source not in known:
        raise unknown("source", source, known)
    return known[source]


@functools.lru_cache(maxsize=4)
def _sources(text: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(text)
