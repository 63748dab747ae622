"""Study 4, Edin et al. (2025): the runs of its notebooks at every profile."""

from __future__ import annotations

from collections.abc import Iterator

from faithbook.artifacts import checkpoint_is_here, is_here, on_this_machine
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
    "naopc",
    number=4,
    title="Study 4: normalised AOPC",
    overview="paper4/overview",
    papers={"edin_2025": "Edin et al. 2025 (NAOPC)"},
    # The other claims are about released files, which have no second sample; this one about a model trained on these.
    confirmation=Confirmation(
        measured_by="naopc_models",
        models="the two models that the claim compares, MiniLM-6 and adversarial MiniLM-6",
        further={"naopc_c06": "naopc_models"},
        on_others={"naopc_c06": ("movie", "bbc")},
    ),
)
SMALL = ["l6", "l3", "lstm", "robust"]
OF_HUB = {
    "bert-sst": "hf:textattack/bert-base-uncased-SST-2",
    "roberta-sst": "hf:textattack/roberta-base-SST-2",
    "bert-yelp": "hf:textattack/bert-base-uncased-yelp-polarity",
    "roberta-yelp": "hf:VictorSanh/roberta-base-finetuned-yelp-polarity",
    "bert-imdb": "hf:textattack/bert-base-uncased-imdb",
    "roberta-imdb": "hf:textattack/roberta-base-imdb",
}
SIX = {name.replace("-", "_").replace("sst", "sst2"): spec for name, spec in OF_HUB.items()}  # as the paper names them
FINE_TUNED = {
    "bert": "hf:data/checkpoints/paper/sst-seed0",
    "bert-robust": "hf:data/checkpoints/paper/sst-robust-seed0",
}


def model(dataset: str, classifier: str, **_: object) -> str:
    """The classifier of a run, as `load_model` takes it: `l6` is the small model of study 1."""
    if classifier in OF_HUB | FINE_TUNED:
        return (OF_HUB | FINE_TUNED)[classifier]
    name = dataset if classifier == "l6" else f"{dataset}-{classifier}"
    return f"local:text/{name}-seed0"


def models(profile: Profile) -> list[str]:
    """The classifiers of the study by name, in the order in which pages list them."""
    small = [*SMALL, "mpnet"]
    return [*small, *OF_HUB, *FINE_TUNED] if profile == PAPER else small


def sample(profile: Profile) -> Settings:
    """Which inputs a run may read: never the reserve, except for the papers' own models and whole test sets."""
    return profile.layers(laptop={"sample": "exploratory"}, paper={"sample": "all"})


def is_usable(classifier: str) -> bool:
    """Whether what a classifier stands on is on this machine: its encoder, or weights that are too large to ship."""
    if classifier == "mpnet":
        return is_here("mpnet")
    if classifier == "mpnet-tuned":
        return checkpoint_is_here("local:paper/sst-mpnet-tuned-seed0")
    return True


def model_and_data(settings: Settings, run: Parameters) -> list[str]:
    """What a run over data sets and classifiers loads."""
    return [settings["model"], run["dataset"]]


# ------------------------------------------------------------------------------------------------------- computations
@study.compute()
def naopc_small_functions(profile: Profile) -> Settings:
    """Functions of few features, of which every order is tried."""
    return sample(profile)


@study.compute(loads=["edin"])
def naopc_released(profile: Profile) -> Settings:
    """Bounds of the authors' released outputs."""
    return sample(profile) | profile.layers(
        laptop=dict(
            models_read=6,
            texts=339,
            widths=[1, 2, 3, 5, 10, 20, 50],
            pruned={"widths": [3, 5], "candidates": 4},
            adaptive={"change": 0.001},
        ),
        smoke=dict(texts=24, widths=[1, 3], pruned={"widths": [3], "candidates": 4}),
    )


@study.compute(
    grid={"dataset": "datasets", "classifier": "classifiers"},
    loads=model_and_data,
    parts={"paper": 4},
    reserve=OnReserve("short", datasets=("movie", "bbc"), models=2),
)
def naopc_models(profile: Profile) -> Settings:
    """Bounds and scores of several classifiers."""
    of_all = profile.layers(
        laptop=dict(
            short={"inputs": 4, "words": [6, 9]},
            long={"inputs": 2, "words": [15, 20]},
            long_search={"width": 3, "candidates": 8, "tolerance": 0.005},
        ),
        smoke=dict(
            short={"inputs": 2, "words": [4, 5]},
            long={"inputs": 2, "words": [8, 9]},
            long_search={"width": 2, "candidates": 4, "tolerance": 0.005},
        ),
        full=dict(short={"inputs": 60, "words": [6, 10]}, long={"inputs": 16, "words": [20, 30]}),
        paper=dict(short={"inputs": 400, "words": [6, 12]}, long={"inputs": 400, "words": [20, 120]}),
    )
    if profile.name in ("full", "confirm"):  # as long as the paper's texts, and searched as it does
        of_all["short"] = by("dataset", sst={"inputs": 100, "words": [6, 12]}, otherwise=of_all["short"])
        of_all["long"] = by("dataset", sst={"inputs": 50, "words": [20, 30]}, otherwise=of_all["long"])
        as_theirs = {"width": 5, "candidates": 8, "tolerance": 0.005}
        of_all["long_search"] = by("dataset", sst=as_theirs, otherwise=of_all["long_search"])
    if profile.name == "confirm":
        of_all |= {"sample": "confirmatory", "long": {"inputs": 0, "words": [20, 30]}}
    settings = profile.layers(
        laptop=dict(
            block=20,
            datasets=["movie", "bbc"],
            classifiers=SMALL,
            widths=[1, 3, 5],
            ig_steps=8,
            samples=20,
            permutations=2,
            attacked=4,
            radii=[0, 0.01, 0.025, 0.05, 0.1],
            attack_steps=2,
        ),
        smoke=dict(
            block=1,
            datasets=["movie"],
            classifiers=["l6", "lstm"],
            widths=[1, 3],
            ig_steps=4,
            attacked=8,
            attack_steps=3,
        ),
        full=dict(
            classifiers=by("dataset", sst=["l6", "mpnet"], movie=SMALL, bbc=SMALL),
            widths=[1, 2, 3, 5, 10],
            ig_steps=32,
            samples=100,
            permutations=5,
            attacked=100,
            attack_steps=3,
        ),
        # The last claim is about short texts, a standard model and the same after adversarial training.
        confirm=dict(datasets=["movie", "bbc"], classifiers=["l6", "robust"], attacked=10),
        paper=dict(
            datasets=["movie", "bbc", "sst"],
            classifiers=by("dataset", movie=SMALL, bbc=SMALL, sst=[*OF_HUB, *FINE_TUNED]),
            samples=200,
            permutations=10,
            attacked=200,
        ),
    )
    optional = profile.pick(laptop=[], full=["sst"], confirm=[], paper=[])
    settings["datasets"] = on_this_machine(optional) + settings["datasets"]
    listed = settings["classifiers"]
    settings["classifiers"] = lambda **point: [name for name in value_at(listed, point) if is_usable(name)]
    return sample(profile) | of_all | settings | {"model": model}


@study.compute(
    grid={"dataset": "datasets", "classifier": "classifiers"},
    loads=lambda settings, _: [settings["model"], "edin-texts"],
    parts={"paper": 8},
)
def naopc_six(profile: Profile) -> Settings:
    """The paper's six models on its own texts; at the paper profile alone."""
    return sample(profile) | profile.layers(
        laptop=dict(
            block=20,
            datasets=[],
            model=by("classifier", SIX),
            classifiers=list(SIX),
            texts=by(
                "dataset",
                sst2={"short": 66, "long": 400},
                yelp={"short": 339, "long": 1000},
                imdb={"short": 0, "long": 1000},
            ),
            beam={"width": 5, "candidates": 8, "tolerance": 0.005},
            adaptive={"most": 64, "change": 0.001, "candidates": 8, "tolerance": 0.005},
            ig_steps=50,
            samples_a_piece=3,
        ),
        paper=dict(datasets=["sst2", "yelp", "imdb"]),
    )


@study.compute(
    grid={"classifier": "searched", "words": "lengths"},
    loads=lambda settings, _: [settings["model"], settings["dataset"]],
    parts={"full": 5},
)
def naopc_search(profile: Profile) -> Settings:
    """What the searches for bounds cost as texts get longer.

    `thorough_up_to`: the most words of a text that all full searches read (of longer ones the published search is the
    only full one); `adaptive_up_to`: the most that the adaptive search reads.
    """
    texts_by_length = profile.pick(
        laptop={"l6": {10: 2}, "l3": {10: 4}, "lstm": {10: 4, 25: 2}},
        smoke={"l6": {6: 2}, "l3": {6: 2}, "lstm": {6: 2, 12: 2}},
        full={"l6": {10: 10, 80: 10, 160: 5}, "l3": {10: 4, 25: 3}, "lstm": {10: 4, 25: 4, 80: 3, 160: 1}},
        paper={name: {10: 20, 25: 20, 80: 20, 160: 20} for name in ("l6", "l3", "lstm")},
    )
    settings = profile.layers(
        laptop=dict(
            searched=["l6", "lstm"],
            dataset="bbc",
            articles=60,
            thorough_up_to=by("classifier", l6=40, l3=40, lstm=160),
            adaptive_up_to=by("classifier", l6=80, l3=80, lstm=160),
            exact_up_to=13,
        ),
        full=dict(searched=["l6", "l3", "lstm"]),
        paper=dict(thorough_up_to=160, adaptive_up_to=160),
    )
    by_words = {name: by("words", texts) for name, texts in texts_by_length.items()}
    settings["lengths"] = by("classifier", {name: list(texts) for name, texts in texts_by_length.items()})
    settings["texts_of_length"] = by("classifier", by_words)
    settings["model"] = lambda classifier, **_: model(settings["dataset"], classifier)
    return sample(profile) | settings


# ------------------------------------------------------------------------------------------------------------ reports
study.report("naopc_toy", reads=["naopc_small_functions"])
study.report("naopc_released_outputs", reads=["naopc_released"], loads=["edin"])
study.report("naopc_bounds", reads=["naopc_models"], settings=lambda profile: Settings(models=models(profile)))
study.report("naopc_search_cost", reads=["naopc_search"], contents="appendix")
study.report("naopc_six_models", reads=["naopc_six"], loads=["edin"], contents="appendix")


# ---------------------------------------------------------------------------------------------------------- trainings
@study.recipe("text_classifiers")
def of_classifiers(profile: Profile) -> Settings:
    """What its classifiers change in how a data set's model is trained."""
    return Settings(
        training_of=dict(
            l3=dict(model="paraphrase-MiniLM-L3-v2"),
            lstm=dict(rank=0, hidden=128, dropout=0.3, learning_rate=0.002, learning_rate_linear=0.002, epochs=6),
            robust=dict(adversary={"radius": 0.25, "steps": 2}),
            mpnet=dict(model="all-mpnet-base-v2", learning_rate=0.0004, learning_rate_linear=0.0004),
        )
        | {"mpnet-tuned": dict(model="all-mpnet-base-v2", rank=0, learning_rate=0.00002, learning_rate_linear=0.0001)}
    )


@study.trainings
def trainings(profile: Profile) -> Iterator[Training]:
    """The checkpoints that `make train` makes at a profile."""
    points = combinations(dataset=["movie", "bbc"], seed=0, classifier=["l3", "lstm", "robust"])
    if profile == PAPER:
        points = combinations(dataset="sst", seed=0, classifier=["", "robust"])
    for point in points:
        yield "text_classifiers", point
