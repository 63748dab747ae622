"""What a study is: its notebooks, their settings at every profile, the runs of each, and what they read and load.

A study is a folder of `faithbook/studies`, and says this in a module `study.py` of it, in plain Python:

    study = Study("soft", number=1, title="Study 1: soft erasure", overview="paper1/overview")

    @study.compute(grid={"dataset": "datasets", "seed": "seeds"}, loads=lambda settings, run: [run["dataset"]])
    def soft_metrics(profile: Profile) -> Settings:
        return profile.layers(
            laptop=dict(datasets=["movie", "bbc"], seeds=[0], inputs=by("dataset", movie=16, bbc=6)),
            full=dict(seeds=[0, 1, 2], inputs=by("dataset", movie=250, bbc=100)),
        )

    study.report("soft_tables", reads=["soft_metrics"])

The function has the name of the notebook (`notebooks/compute/soft_metrics.py`). What depends on this machine, such as
data that not everybody has, is an `if` in it. A setting may be a function of the run's parameters (`by` makes one of a
table); a run's name depends on the values at its own parameters alone, and its notebook sees these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, PositiveInt, field_validator

from faithlib.errors import InputError, unknown

T = TypeVar("T")
Parameters = Mapping[str, Any]
Kind = Literal["compute", "report", "own"]
PART, PARTS = "part", "parts"  # the parameters of a notebook that can share its inputs out among several runs


class Settings(dict[str, Any]):
    """Settings of a notebook: a missing one is an error that names the known ones, as is one of a table in it.

    >>> Settings(inputs={"movie": 8})["inptus"]
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown setting 'inptus': did you mean 'inputs'? known: inputs
    >>> Settings(inputs={"movie": 8})["inputs"]["moovie"]
    Traceback (most recent call last):
    faithlib.errors.UnknownNameError: unknown setting 'moovie': did you mean 'movie'? known: movie
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for key, value in self.items():
            if isinstance(value, dict):
                self[key] = Settings(value)

    def __missing__(self, key: str) -> Any:
        raise unknown("setting", key, self)

    def __or__(self, other: Mapping[str, Any]) -> Settings:  # type: ignore[override]
        return Settings({**self, **other})

    def at(self, parameters: Parameters) -> Settings:
        """These settings for one run: of those that are functions of its parameters, their values.

        >>> Settings(n=by("dataset", movie=8, bbc=4), draws=2).at({"dataset": "bbc"})
        {'n': 4, 'draws': 2}
        """
        return Settings({key: value_at(value, parameters, key) for key, value in self.items()})


@dataclass(frozen=True)
class By:
    """A setting that has a value for each value of a parameter (see `by`)."""

    parameter: str
    values: Mapping[Any, Any]
    otherwise: Any = None

    def __call__(self, **parameters: Any) -> Any:
        """The value at these parameters; UnknownNameError where there is none, InputError for a run without it."""
        if self.parameter not in parameters:
            raise InputError(f"it is given by {self.parameter}, which this notebook has no parameter for")
        value = parameters[self.parameter]
        if value not in self.values and self.otherwise is None:
            raise unknown(self.parameter, value, self.values)
        return self.values.get(value, self.otherwise)


def by(parameter: str, values: Mapping[Any, Any] | None = None, otherwise: Any = None, **more: Any) -> By:
    """A setting by the value of a parameter of the run: `otherwise` is for the values that are not in the table.

    >>> by("dataset", movie=8, bbc=by("seed", {0: 4, 1: 2}))(dataset="movie", seed=1)
    8
    """
    return By(parameter, {**(values or {}), **more}, otherwise)


def value_at(value: Any, parameters: Parameters, name: str = "a setting") -> Any:
    """A setting's value for one run; InputError that names the setting where it has none."""
    while callable(value):
        try:
            value = value(**parameters)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    return value


def combinations(**values: Any) -> list[dict[str, Any]]:
    """Every combination of the parameters of which lists are given.

    >>> combinations(dataset=["movie", "bbc"], seed=0)
    [{'dataset': 'movie', 'seed': 0}, {'dataset': 'bbc', 'seed': 0}]
    """
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    return [dict(zip(values, combination, strict=True)) for combination in product(*lists)]


def with_changes(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """The settings of a run with the choices that somebody made in its notebook: each takes the place of the setting of
    its name. A choice that no setting has is the notebook's own matter.

    Raises InputError for a choice of another kind than the setting, or a number below one of a setting that counts.

    >>> with_changes(Settings(inputs=8, draws=2), {"inputs": 40, "erase": "zero"})
    {'inputs': 40, 'draws': 2}
    """
    for name, value in changes.items():
        if name in settings:
            _check_choice(name, settings[name], value)
    return settings | {name: value for name, value in changes.items() if name in settings}


def _check_choice(name: str, setting: Any, value: Any) -> None:
    kinds: Any = int | float if isinstance(setting, float) else type(setting)
    if isinstance(value, bool) != isinstance(setting, bool) or not isinstance(value, kinds) or value in ([], {}):
        names = {float: "number", int: "whole number", list: "non-empty list"}
        kind = names.get(type(setting), type(setting).__name__)
        raise InputError(f"{name} = {value!r}: expected a {kind}, as in the profile, which has {setting!r}")
    if isinstance(setting, int) and not isinstance(setting, bool) and setting > 0 and value < 1:
        raise InputError(f"{name} = {value}: expected a whole number from 1")


# ----------------------------------------------------------------------------------------------------------- profiles
@dataclass(frozen=True)
class Profile:
    """How large a run is. A profile has the settings of the one that it extends, except for its own."""

    name: str
    about: str
    extends: Profile | None = None

    @property
    def lineage(self) -> tuple[str, ...]:
        """The names of the profiles whose settings it has, its own last."""
        above = self.extends.lineage if self.extends else ()
        return (*above, self.name)

    def layers(self, **layers: Mapping[str, Any]) -> Settings:
        """Settings by profile, laid one over the other: a setting that a profile names replaces the whole earlier one.

        Raises UnknownNameError for a profile that there is not, and for a setting that no profile above it has.
        """
        settings: dict[str, Any] = {}
        _refuse_unknown_profiles(layers)
        for name in self.lineage:
            for key in layers.get(name, {}):
                if settings and key not in settings:
                    raise unknown(f"setting of the profile {name}", key, settings)
            settings |= layers.get(name, {})
        return Settings(settings)

    def pick(self, **values: T) -> T:
        """The value for this profile, or for the nearest that it extends.

        Raises UnknownNameError for a profile that there is not, InputError where there is no value.
        """
        _refuse_unknown_profiles(values)
        for name in reversed(self.lineage):
            if name in values:
                return values[name]
        raise InputError(f"no value for the profile {self.name}, only for {', '.join(values)}")


LAPTOP = Profile(
    "laptop",
    "Two cores, no network but the package registries, minutes per paper. For readers and courses.",
)
SMOKE = Profile(
    "smoke",
    "A handful of inputs, the whole book in a few minutes anywhere. For tests; its numbers mean nothing.",
    extends=LAPTOP,
)
FULL = Profile(
    "full",
    "More inputs and three seeds of every model, resumable; makes data/reference/full.",
    extends=LAPTOP,
)
# Its sizes were written down before anything was measured: at least 60 inputs of a data set, which finds three quarters
# of the exploratory effect of most headline claims with a power of 90 % (data/confirmatory_sizes.csv), and what one
# processor affords: one training of one model a data set. Study 2 comes first, then 3, then 1.
CONFIRM = Profile(
    "confirm",
    "The headline claims of studies 1 to 3 and some more once more, on inputs that no run had measured (the reserve); "
    "makes data/reference/confirmatory.",
    extends=FULL,
)
PAPER = Profile(
    "paper",
    "The papers' own models and data at the sizes they used. Needs a GPU and the network.",
    extends=FULL,
)
PROFILES = {profile.name: profile for profile in (LAPTOP, SMOKE, FULL, CONFIRM, PAPER)}


def find_profile(name: str) -> Profile:
    """The profile of that name (UnknownNameError names the known ones)."""
    if name not in PROFILES:
        raise unknown("profile", name, PROFILES)
    return PROFILES[name]


def _refuse_unknown_profiles(names: Iterable[str]) -> None:
    for name in names:
        find_profile(name)


# ---------------------------------------------------------------------------------------------------------- notebooks
Making = Callable[[Profile], Settings]
"""What gives the settings of a notebook at a profile."""
Loading = Callable[[Settings, Parameters], Iterable[str]]
"""What names the models and data of one run: of its settings, with their values for this run, and its parameters."""
Choosing = Callable[[Iterable["Notebook"]], Iterable[str]]
"""What chooses, of all notebooks, those that one reads."""


def no_settings(_: Profile) -> Settings:
    """No settings, for a notebook that needs none."""
    return Settings()


@dataclass(frozen=True)
class OnReserve:
    """How a computation measures the reserve, at the profile `confirm`.

    - `count`: its setting that is a number of inputs;
    - `datasets`: its data sets there by its own names for them, whether this machine has them or not;
    - `models`: how many models it asks, each in a run of its own;
    - `values_with`: the computation among whose values its own lie, where it measures more of that one's inputs;
    - `later`: the parameters by which runs of one more model are known, which were planned after the headline claims
      had been judged. Only the findings that they were planned for (`Confirmation.further`) are judged with them.
    """

    count: str
    datasets: tuple[str, ...]
    models: int = 1
    values_with: str = ""
    later: Mapping[str, str] = field(default_factory=dict)

    def is_later(self, parameters: Parameters) -> bool:
        """Whether a run with these parameters was planned later.

        >>> reserve = OnReserve("erased", datasets=("nli",), later={"model": "e5"})
        >>> reserve.is_later({"model": "e5", "part": 1}), reserve.is_later({"model": "six"})
        (True, False)
        """
        return bool(self.later) and self.later.items() <= parameters.items()

    def number_of_models(self, *, later: bool) -> int:
        """How many models are asked; `later`: with the one that was planned later."""
        return self.models + (later and bool(self.later))


class Notebook(BaseModel):
    """One notebook of a study.

    - `settings`: what they are at a profile.
    - `grid`: the parameters over whose values it runs, each with the setting that lists these. A list may depend on the
      parameters before it (`by`). Of an empty first list nothing runs.
    - `parts`: by profile, among how many runs the inputs of each point of the grid are shared out; one, if not named.
    - `added`: the parameters that it has got since values of it were committed, each with what runs before it did. It
      is said here because the notebook's default may become another one, which must not relabel those runs.
    - `reads`: the notebooks whose results it loads.
    - `loads`: the models, data and files that a run opens, by name (`faithbook.artifacts`); it may open no other, and
      runs again when one of them changes.
    - `shareable`: false keeps its values out of the committed reference: they quote texts that are not ours, or are
      about what a reader brings.
    - `public`: false keeps its page out of a published book: it quotes texts or images that are not ours to publish.
    - `reserve`: how it measures inputs that no run had measured, if it does.
    - `contents`: whether its page stands in the contents of its study, in the appendix, or where `book/_toc.yml` says.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: Kind
    study: str
    settings: Making = no_settings
    grid: dict[str, str] = {}
    parts: dict[str, PositiveInt] = {}
    added: dict[str, Any] = {}
    reads: tuple[str, ...] | Choosing = ()
    loads: tuple[str, ...] | Loading = ()
    shareable: bool = True
    public: bool = True
    reserve: OnReserve | None = None
    contents: Literal["study", "appendix", "elsewhere"] = "study"

    @field_validator("parts")
    @classmethod
    def _of_known_profiles(cls, parts: dict[str, int]) -> dict[str, int]:
        _refuse_unknown_profiles(parts)
        return parts

    def points(self, profile: Profile) -> list[dict[str, Any]]:
        """The parameters of every run at a profile; InputError for a grid over something that is no list of values."""
        settings = self.settings(profile)
        points: list[dict[str, Any]] = [{}]
        for parameter, setting in self.grid.items():
            points = [
                {**point, parameter: value}
                for point in points
                for value in self._values(settings[setting], setting, point, profile)
            ]
        number = self.parts.get(profile.name, 1)
        if number == 1:
            return points
        return [{**point, PART: part, PARTS: number} for point in points for part in range(1, number + 1)]

    def settings_at(self, profile: Profile, parameters: Parameters) -> Settings:
        """The settings of one run: those on which its result depends, without the lists that make up the grid.

        So a further seed, or another size for another data set, does not redo the runs that are there.
        """
        settings = self.settings(profile)
        rest = {key: value for key, value in settings.items() if key not in self.grid.values()}
        return Settings(rest).at(parameters)

    def names_loaded(self, settings: Settings, parameters: Parameters) -> list[str]:
        """The models, data and files that a run with these settings and parameters may open, each once."""
        names = self.loads(settings, parameters) if callable(self.loads) else self.loads
        return list(dict.fromkeys(names))

    def _values(self, listed: Any, setting: str, point: Parameters, profile: Profile) -> list[Any]:
        values = value_at(listed, point, setting)
        if not isinstance(values, list) or (point and not values):
            raise InputError(
                f"{self.name} runs over {setting}, which must be a non-empty list, or one for each value of a "
                f"parameter before it, but the profile {profile.name} has {values!r}"
            )
        return values


Training = tuple[str, dict[str, Any]]
"""A training notebook and its parameters."""


@dataclass(frozen=True)
class Confirmation:
    """Which findings of a study are judged once more on the reserve, and with what.

    - `measured_by`: the computation that measures its headline claims there; `models`: what it asks, in words;
    - `reserves`: the data sets with a reserve that the headline claims are confirmed on; of none no headline claim is;
    - `further`: findings that were planned after the headline claims, each with the computation that measures it;
    - `on_others`: findings that are confirmed on other data sets;
    - `models_later`: what is asked with the runs that were planned later (`OnReserve.later`), in words.
    """

    measured_by: str
    models: str
    reserves: tuple[str, ...] = ()
    further: Mapping[str, str] = field(default_factory=dict)
    on_others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    models_later: str = ""


class Study:
    """One study: what its `study.py` says of it and of its notebooks.

    - `number`: its place among the studies; `title`: its heading in the table of contents, "" where it has none;
    - `overview`: its first page; `more`: pages that follow its reports; both as `book/_toc.yml` names files;
    - `papers`: the papers whose findings it judges, as `data/claims.csv` names them, each as people are told it;
    - `confirmation`: which of them are judged once more on inputs that no run had measured.
    """

    def __init__(
        self,
        name: str,
        *,
        number: int,
        title: str = "",
        overview: str = "",
        more: Sequence[str] = (),
        papers: Mapping[str, str] | None = None,
        confirmation: Confirmation | None = None,
    ) -> None:
        self.name, self.number, self.title, self.overview, self.more = name, number, title, overview, tuple(more)
        self.papers = dict(papers or {})
        self.confirmation = confirmation
        self.notebooks: dict[str, Notebook] = {}
        self.recipes: dict[str, Making] = {}
        self._trainings: Callable[[Profile], Iterable[Training]] = lambda _: ()

    def compute(self, **about: Any) -> Callable[[Making], Making]:
        """Add a computation: decorates the function that gives its settings, which has the notebook's name.

        `grid`, `parts`, `reads`, `loads` and the rest as `Notebook` has them.
        """

        def added(settings: Making) -> Making:
            self._add(settings.__name__, "compute", settings=settings, **about)
            return settings

        return added

    def report(self, name: str, **about: Any) -> None:
        """Add a page of results by the name of its notebook; `reads`, `loads` and the rest as `Notebook` has them."""
        self._add(name, "report", **about)

    def own(self, name: str, **about: Any) -> None:
        """Add a notebook that runs when somebody asks for it, on what they bring."""
        self._add(name, "own", **about)

    def recipe(self, notebook: str) -> Callable[[Making], Making]:
        """Add how a training notebook trains the study's models: decorates the function that gives its settings."""

        def added(settings: Making) -> Making:
            self.recipes[notebook] = settings
            return settings

        return added

    def trainings(self, listed: Callable[[Profile], Iterable[Training]]) -> Callable[[Profile], Iterable[Training]]:
        """Say which checkpoints `make train` makes at a profile: decorates the function that names them."""
        self._trainings = listed
        return listed

    def trained(self, profile: Profile) -> Iterator[Training]:
        """The trainings of a profile, each notebook with its parameters."""
        yield from self._trainings(profile)

    def _add(self, name: str, kind: Kind, **about: Any) -> None:
        if name in self.notebooks:
            raise InputError(f"the study {self.name} has two notebooks {name}")
        self.notebooks[name] = Notebook(name=name, kind=kind, study=self.name, **about)
