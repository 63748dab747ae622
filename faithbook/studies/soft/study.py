"""Study 1, Zhao and Aletras (2023): the runs of its notebooks at every profile."""

from __future__ import annotations

from collections.abc import Iterator

from faithbook.artifacts import checkpoint_is_here, is_here, on_this_machine
from faithbook.engine.machine import precision
from faithbook.engine.study import (
    PAPER,
    Confirmation,
    OnReserve,
    Parameters,
    Profile,
    Settings,
    Study,
    Training,
    by,
    combinations,
    value_at,
)

study = Study(
    "soft",
    number=1,
    title="Study 1: soft erasure",
    overview="paper1/overview",
    more=["executed/soft_shift"],
    papers={"zhao_aletras_2023": "Zhao & Aletras 2023 (Soft-NS, Soft-NC)"},
    confirmation=Confirmation(
        measured_by="soft_metrics",
        models="one model, MPNet (on long texts MiniLM)",
        reserves=("sst", "ag"),
        on_others={"soft_c11": ("section", "pair")},  # it is about long texts
    ),
)
GRID = {"dataset": "datasets", "classifier": "classifiers", "seed": "seeds"}
ADDED = {"classifier": ""}  # the first committed runs are of the small model


def of_small_model(dataset: str, classifier: str = "", seed: int = 0, **_: object) -> str:
    """A sentence encoder with an adapter, as `load_model` takes it; tuned: with all its weights, too large to ship."""
    name = "-".join(part for part in (dataset, classifier, f"seed{seed}") if part)
    return f"local:paper/{name}" if classifier == "mpnet-tuned" else f"local:text/{name}"


def of_paper(dataset: str, seed: int = 0, **_: object) -> str:
    """The paper's own model of a data set, fine-tuned here."""
    return f"hf:data/checkpoints/paper/{dataset}-seed{seed}"


def shared(profile: Profile) -> Settings:
    """What all computations of the study have."""
    return profile.layers(
        laptop={"sample": "exploratory", "model": of_small_model},
        paper={"sample": "all", "model": of_paper},
    )


def is_usable(classifier: str) -> bool:
    """Whether what a classifier of the small models stands on is on this machine: its encoder, or all its weights."""
    if classifier == "mpnet":
        return is_here("mpnet")
    if classifier == "mpnet-tuned":
        return checkpoint_is_here("local:paper/sst-mpnet-tuned-seed0")
    return True


def with_optional(profile: Profile, settings: Settings, optional: list[str]) -> Settings:
    """Settings whose grid has the data sets and classifiers that not every machine has, if this one has them: such data
    sets come first. At the paper profile all are wanted, and preflight says which are missing."""
    if profile == PAPER:
        return settings

    def seeds(dataset: str) -> list[int]:
        return list(value_at(settings["seeds"], {"dataset": dataset, "classifier": ""}))

    found = on_this_machine(optional, lambda dataset: [of_small_model(dataset, seed=seed) for seed in seeds(dataset)])
    classifiers = {}
    for dataset in [*found, *settings["datasets"]]:
        named = value_at(settings["classifiers"], {"dataset": dataset})
        usable = [classifier for classifier in named if is_usable(classifier)]
        if usable:
            classifiers[dataset] = usable
    return settings | {"datasets": list(classifiers), "classifiers": by("dataset", classifiers)}


def model_and_data(settings: Settings, run: Parameters) -> list[str]:
    """What a run over data sets and classifiers loads."""
    return [settings["model"], run["dataset"]]


# ------------------------------------------------------------------------------------------------------- computations
@study.compute(
    grid=GRID,
    added=ADDED,
    loads=model_and_data,
    parts={"confirm": 4, "paper": 8},
    reserve=OnReserve("inputs", datasets=("sst", "ag", "section", "pair")),
)
def soft_metrics(profile: Profile) -> Settings:
    """Hard and soft metrics of five attributions, and their random baselines."""
    settings = shared(profile) | profile.layers(
        laptop=dict(
            block=64,
            datasets=["movie", "bbc", "section", "pair"],
            classifiers=[""],
            seeds=[0],
            inputs=by("dataset", sst=16, ag=8, evinf=3, multirc=4, movie=16, bbc=6, section=3, pair=3),
            ratios=[0.01, 0.05, 0.1, 0.2, 0.5],
            draws=2,
            ig_steps=16,
            dtype=precision(),
            examples=3,
        ),
        smoke=dict(
            block=2,
            datasets=["movie"],
            inputs=by("dataset", movie=4),
            draws=1,
            ig_steps=4,
            dtype="float32",
            examples=2,
        ),
        full=dict(
            classifiers=by(
                "dataset",
                sst=["", "mpnet", "mpnet-tuned"],
                ag=["", "mpnet"],
                evinf=[""],
                multirc=[""],
                movie=[""],
                bbc=[""],
                section=[""],
                pair=[""],
            ),
            seeds=by(
                "classifier", {"mpnet-tuned": [0]}, otherwise=by("dataset", evinf=[0], multirc=[0], otherwise=[0, 1, 2])
            ),
            inputs=by(
                "dataset",
                sst=by("classifier", {"": 250, "mpnet": 1000, "mpnet-tuned": 500}),
                ag=by("classifier", {"": 160, "mpnet": 360}),
                evinf=150,
                multirc=150,
                movie=250,
                bbc=100,
                section=32,
                pair=32,
            ),
            draws=8,
        ),
        # The two long data sets are for c11, which is about them; the small model is explained, as at `full`.
        confirm=dict(
            block=16,
            datasets=["section", "pair"],
            classifiers=by("dataset", {"section": [""], "pair": [""]}, otherwise=["mpnet"]),
            seeds=[0],
            inputs=64,
            examples=0,
        ),
        paper=dict(
            datasets=["sst", "ag", "evinf", "multirc"],
            classifiers=[""],
            seeds=[0, 1, 2, 3, 4],
            inputs=by("dataset", sst=1821, ag=7600, evinf=720, multirc=4848),
            draws=1,
            ig_steps=50,
            dtype="float32",
        ),
    )
    if profile.name == "confirm":
        settings["sample"] = "confirmatory"
    optional = profile.pick(laptop=["sst", "ag", "evinf", "multirc"], smoke=[], confirm=["sst", "ag"])
    return with_optional(profile, settings, optional)


@study.compute(grid=GRID, added=ADDED, loads=model_and_data, parts={"paper": 8})
def soft_variants(profile: Profile) -> Settings:
    """The metrics under other choices: rounding, erasures, noise."""
    settings = shared(profile) | profile.layers(
        laptop=dict(
            block=32,
            datasets=["movie", "bbc"],
            classifiers=[""],
            seeds=[0],
            inputs=by("dataset", sst=8, movie=5, bbc=2),
            ratios=[0.01, 0.05, 0.1, 0.2, 0.5],
            draws=2,
            ig_steps=16,
            dtype=precision(),
            noise_draws=1,
            variances=[0.005, 0.01, 0.05, 0.1, 0.5, 1, 2],
        ),
        smoke=dict(
            block=1,
            datasets=["movie"],
            inputs=by("dataset", movie=2),
            ig_steps=4,
            dtype="float32",
            variances=[0.1],
        ),
        full=dict(
            classifiers=by("dataset", sst=["", "mpnet"], ag=["", "mpnet"], movie=[""], bbc=[""]),
            inputs=by(
                "dataset",
                sst=by("classifier", {"": 60, "mpnet": 500}),
                ag=by("classifier", {"": 24, "mpnet": 360}),
                movie=60,
                bbc=24,
            ),
            draws=4,
            noise_draws=2,
        ),
        paper=dict(
            datasets=["sst", "ag"],
            classifiers=[""],
            inputs=by("dataset", sst=1821, ag=7600),
            draws=16,
            ig_steps=50,
            dtype="float32",
            noise_draws=1,
        ),
    )
    return with_optional(profile, settings, profile.pick(laptop=["sst"], smoke=[], full=["sst", "ag"]))


@study.compute(grid=GRID, added=ADDED, loads=model_and_data)
def soft_replayed(profile: Profile) -> Settings:
    """The released code's choices, one after the other."""
    settings = shared(profile) | profile.layers(
        laptop=dict(
            datasets=["movie", "pair"],
            classifiers=[""],
            seeds=[0],
            inputs=by("dataset", sst=8, movie=8, pair=2),
            draws=2,
            ig_steps=16,
            dtype=precision(),
            block=64,
        ),
        smoke=dict(datasets=["movie"], inputs=by("dataset", movie=2), ig_steps=4, dtype="float32", block=1),
        full=dict(
            classifiers=by("dataset", sst=["", "mpnet"], ag=["mpnet"], evinf=[""], multirc=[""], movie=[""], pair=[""]),
            inputs=by(
                "dataset",
                sst=by("classifier", {"": 120, "mpnet": 500}),
                ag=360,
                evinf=24,
                multirc=30,
                movie=80,
                pair=24,
            ),
            draws=4,
        ),
        paper=dict(
            datasets=["sst", "evinf", "multirc"],
            classifiers=[""],
            inputs=by("dataset", sst=1821, evinf=720, multirc=500),
            draws=16,
            ig_steps=50,
            dtype="float32",
        ),
    )
    optional = profile.pick(laptop=["sst"], smoke=[], full=["sst", "ag", "evinf", "multirc"])
    return with_optional(profile, settings, optional)


@study.compute(loads=lambda settings, _: [settings["model"], settings["shown"]])
def soft_two_attributions(profile: Profile) -> Settings:
    """One text explained by two attributions, as the paper's Figure 1."""
    settings = profile.layers(laptop={"shown": "movie", "sentences": 80, "draws": 256}, paper={"shown": "sst"})
    model = shared(profile)["model"]
    return settings | {"sample": shared(profile)["sample"], "model": model(dataset=settings["shown"])}


# ------------------------------------------------------------------------------------------------------------ reports
study.report("soft_tables", reads=["soft_metrics", "soft_variants"], loads=["cards"])
study.report("soft_figures", reads=["soft_metrics"])
study.report(
    "soft_examples",
    reads=["soft_metrics", "soft_two_attributions"],
    loads=["board"],
    shareable=False,
    public=False,
)
study.report("soft_appendix", reads=["soft_metrics", "soft_variants"], contents="appendix")
study.report("soft_deviations", reads=["soft_metrics", "soft_variants"], loads=["cards"], contents="appendix")
study.report("soft_pipeline", reads=["soft_replayed", "soft_metrics", "soft_variants"], loads=["board"])


# ---------------------------------------------------------------------------------------------------------- trainings
@study.recipe("text_classifiers")
def of_texts(profile: Profile) -> Settings:
    """How its classifiers are trained: adapters of a small encoder; at the paper profile as the paper's Table 5."""
    small = dict(
        model="all-MiniLM-L6-v2",
        rank=8,
        batch_size=32,
        learning_rate=0.0005,
        learning_rate_linear=0.0005,
        epochs=3,
        sorted_batches=16,
    )
    fine_tuned = dict(
        model="bert-base-uncased",
        rank=0,
        batch_size=8,
        learning_rate=0.00001,
        learning_rate_linear=0.0001,
        epochs=3,
        sorted_batches=16,
    )
    return profile.layers(
        laptop=dict(
            training=dict(
                movie=small,
                bbc=small | dict(batch_size=16, epochs=4),
                section=small
                | dict(batch_size=8, learning_rate=0.0003, learning_rate_linear=0.005, epochs=8, sorted_batches=1),
                pair=small | dict(batch_size=16, epochs=2),
                sst=small,
                ag=small | dict(batch_size=16, epochs=2, max_length=128),
                evinf=small | dict(batch_size=8, epochs=2, stop_after=1),
                multirc=small | dict(batch_size=16, epochs=2, max_length=256),
            )
        ),
        paper=dict(
            training=dict(
                sst=fine_tuned,
                ag=fine_tuned,
                evinf=fine_tuned | dict(model="allenai/scibert_scivocab_uncased", batch_size=4),
                multirc=fine_tuned | dict(model="roberta-base", batch_size=4),
            )
        ),
    )


@study.trainings
def trainings(profile: Profile) -> Iterator[Training]:
    """The checkpoints that `make train` makes at a profile: of data that not everybody has, where it is here."""
    theirs = ["sst", "ag", "evinf", "multirc"]
    if profile == PAPER:
        points = combinations(dataset=theirs, seed=[0, 1, 2, 3, 4])
    else:
        points = combinations(dataset=["movie", "bbc", "section", "pair"], seed=[0, 1, 2])
    if profile.name in ("full", "confirm"):
        here = on_this_machine(theirs)
        points += combinations(dataset=here, seed=[0, 1, 2])
        points += combinations(
            dataset=[name for name in here if name in ("sst", "ag")], seed=[0, 1, 2], classifier="mpnet"
        )
        if "sst" in here:
            points += combinations(dataset="sst", seed=0, classifier="mpnet-tuned")
    for point in points:
        yield "text_classifiers", point
