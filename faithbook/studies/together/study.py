"""All together: the runs of its notebooks at every profile."""

from __future__ import annotations

from collections.abc import Iterator

from faithbook.artifacts import on_this_machine, whole_or_few
from faithbook.engine.study import PAPER, Parameters, Profile, Settings, Study, Training, by, combinations

study = Study(
    "together",
    number=6,
    title="All together",
    overview="together/overview",
    more=["together/exercises"],
)
OF_PICTURES = "timm:vit_base_patch16_224.orig_in21k_ft_in1k"
OF_TEXTS = {"sst": "hf:data/checkpoints/paper/sst-seed0", "esnli": "hf:textattack/bert-base-uncased-snli"}
OF_PAPERS = by("dataset", OF_TEXTS, imagenet=OF_PICTURES)
NLI_CLASSES = ["contradiction", "entailment", "neutral"]


def small(dataset: str, **_: object) -> str:
    """The small classifier of a data set of texts or images, as `load_model` takes it."""
    if dataset in ("movie", "pair"):
        return f"local:text/{dataset}-seed0"
    if dataset in ("fashion", "animals"):
        return f"local:vision/{dataset}-base-seed0"
    return f"local:photo/{dataset.removesuffix('-few').removesuffix('-two')}-lora-seed0"


def sample(profile: Profile) -> Settings:
    """Which inputs a run may read: never the reserve, except for the papers' own models and whole test sets."""
    return profile.layers(laptop={"sample": "exploratory"}, paper={"sample": "all"})


def model_and_data(settings: Settings, run: Parameters) -> list[str]:
    """What a run over data sets loads."""
    return [settings["model"], run["dataset"]]


# ------------------------------------------------------------------------------------------------------- computations
@study.compute(grid={"dataset": "datasets"}, loads=model_and_data)
def together_matrix(profile: Profile) -> Settings:
    """Every metric on every attribution; sizes of searches by the kind of data."""
    settings = sample(profile) | profile.layers(
        laptop=dict(
            block=25,
            classes={},
            datasets=["movie", "pair", "fashion", "animals"],
            inputs=by("dataset", movie=6, pair=3, fashion=5, animals=5),
            controlled=by("dataset", movie=4, pair=2, fashion=5, animals=5),
            searched={"text": 6, "vision": 2, "photographs": 1},
            words=10,
            beam={"text": 1, "vision": 1, "photographs": 1},
            draws=2,
            ig_steps=8,
            lime_samples=30,
            permutations=3,
            groups=10,
            priced=2,
        ),
        smoke=dict(
            block=1,
            datasets=["pair", "fashion"],
            inputs=by("dataset", pair=2, fashion=2),
            controlled=by("dataset", pair=2, fashion=2),
            searched={"text": 1, "vision": 1, "photographs": 1},
            words=8,
            ig_steps=4,
            lime_samples=8,
            permutations=2,
            priced=1,
        ),
        full=dict(
            datasets=["movie", "pair", "fashion", "animals", "cifar10-few"],
            inputs=by(
                "dataset",
                {
                    "movie": 100,
                    "pair": 60,
                    "fashion": 100,
                    "animals": 100,
                    "cifar10": 60,
                    "cifar10-few": 20,
                    "stamps": 32,
                },
            ),
            controlled=by(
                "dataset",
                {
                    "movie": 100,
                    "pair": 30,
                    "fashion": 100,
                    "animals": 100,
                    "cifar10": 60,
                    "cifar10-few": 20,
                    "stamps": 32,
                },
            ),
            searched={"text": 100, "vision": 24, "photographs": 6},
            words=12,
            beam={"text": 3, "vision": 1, "photographs": 1},
            draws=8,
            ig_steps=16,
            lime_samples=50,
            permutations=8,
        ),
        paper=dict(
            classes={"esnli": NLI_CLASSES},
            datasets=["sst", "esnli", "imagenet"],
            inputs=200,
            controlled=200,
            searched={"text": 200, "vision": 24, "photographs": 24},
            words=24,
            ig_steps=32,
            lime_samples=100,
            permutations=10,
        ),
    )
    optional = profile.pick(laptop=[], full=["cifar10", "stamps"], paper=[])
    brought = on_this_machine(optional, lambda dataset: [small(dataset)])
    settings["datasets"] = whole_or_few(settings["datasets"], brought)
    settings["model"] = profile.pick(laptop=small, paper=OF_PAPERS)
    return settings


def trained_with(modality: str) -> dict[str, str]:
    """The three trained models of a modality with a planted cause, as `load_model` takes them."""
    places = {"trained": "planted", "trained with erasure": "planted-erased", "misled by erasure": "planted-misled"}
    ending = "seed0" if modality == "text" else "base-seed0"
    return {name: f"local:{modality}/{place}-{ending}" for name, place in places.items()}


@study.compute(
    grid={"modality": "modalities"},
    loads=lambda settings, run: [*settings["models"].values(), f"{run['modality']}:planted"],
)
def together_planted(profile: Profile) -> Settings:
    """Models of which the truth is known."""
    return sample(profile) | profile.layers(
        laptop=dict(
            models=by("modality", text=trained_with("text"), vision=trained_with("vision")),
            modalities=["text", "vision"],
            inputs=4,
            searched=by("modality", text=4, vision=1),
            checked=30,
            beam=1,
            draws=2,
            ig_steps=8,
            lime_samples=30,
            groups=10,
        ),
        smoke=dict(inputs=2, searched=0, checked=12, ig_steps=4, lime_samples=8),
        full=dict(
            inputs=100,
            searched=by("modality", text=100, vision=24),
            checked=600,
            beam=by("modality", text=3, vision=1),
            draws=8,
            ig_steps=16,
            lime_samples=50,
        ),
        paper=dict(inputs=200, searched=by("modality", text=200, vision=24), ig_steps=32, lime_samples=100),
    )


@study.compute(grid={"dataset": "datasets"}, loads=model_and_data)
def together_mirrored(profile: Profile) -> Settings:
    """Pictures beside their mirror images."""
    settings = sample(profile) | profile.layers(
        laptop=dict(block=50, datasets=["fashion", "animals"], inputs=20, ig_steps=8),
        smoke=dict(block=1, datasets=["fashion"], inputs=4, ig_steps=4),
        full=dict(
            datasets=["fashion", "animals", "cifar10-few"],
            inputs=by("dataset", {"cifar10": 100, "cifar10-few": 20}, otherwise=200),
            ig_steps=16,
        ),
        paper=dict(datasets=["imagenet"], inputs=200, ig_steps=32),
    )
    optional = profile.pick(laptop=[], full=["cifar10"], paper=[])
    brought = on_this_machine(optional, lambda dataset: [small(dataset)])
    settings["datasets"] = whole_or_few(settings["datasets"], brought)
    settings["model"] = profile.pick(laptop=small, paper=OF_PAPERS)
    return settings


@study.compute(grid={"dataset": "datasets"}, loads=model_and_data)
def together_objects(profile: Profile) -> Settings:
    """The pointing game: objects put into photographs."""
    optional = profile.pick(laptop=["stamps", "stamps-two"], smoke=[], full=["stamps", "stamps-two"], paper=[])
    return sample(profile) | profile.layers(
        laptop=dict(
            block=16,
            model=small,
            datasets=on_this_machine(optional, lambda dataset: [small(dataset)]),
            inputs=by("dataset", {"stamps": 16, "stamps-two": 32}),
            ig_steps=4,
        ),
        smoke=dict(block=2, inputs=by("dataset", {"stamps": 4, "stamps-two": 8}), ig_steps=2),
        full=dict(inputs=by("dataset", {"stamps": 100, "stamps-two": 200}), ig_steps=16),
    )


@study.compute(grid={"dataset": "datasets"}, loads=model_and_data, parts={"full": 2})
def together_toolkit(profile: Profile) -> Settings:
    """The tasks of a toolkit for attributions of texts."""
    settings = sample(profile) | profile.layers(
        laptop=dict(
            block=4,
            model=by(
                "dataset", reviews="local:text/sst-seed0", nli="local:text/nli-seed0", esnli="local:text/nli-seed0"
            ),
            classes={},
            datasets=[],
            inputs=by("dataset", reviews=8, nli=12, esnli=12),
            looked_at=6,
            longest=by("dataset", reviews=128, nli=96, esnli=96),
            draws=4,
            ig_steps=16,
            lime_samples=50,
            max_evals=200,
        ),
        smoke=dict(
            block=1,
            inputs=2,
            looked_at=8,
            longest=64,
            draws=2,
            ig_steps=4,
            lime_samples=8,
            max_evals=20,
        ),
        full=dict(
            inputs=by("dataset", reviews=30, nli=100, esnli=100),
            looked_at=4,
            draws=8,
            ig_steps=32,
            lime_samples=100,
            max_evals=500,
        ),
        paper=dict(
            block=8,
            model=by("dataset", reviews="hf:textattack/bert-base-uncased-imdb", otherwise=OF_TEXTS["esnli"]),
            classes={"reviews": ["negative", "positive"], "nli": NLI_CLASSES, "esnli": NLI_CLASSES},
            datasets=["esnli"],
            inputs=by("dataset", reviews=199, nli=200, esnli=200),
            longest=by("dataset", reviews=512, nli=128, esnli=128),
            ig_steps=50,
        ),
    )
    optional = profile.pick(laptop=["reviews", "nli"], smoke=[], full=["reviews", "nli"], paper=["reviews"])
    found = on_this_machine(optional, lambda dataset: [settings["model"](dataset=dataset)])
    settings["datasets"] = found + settings["datasets"]
    return settings


@study.compute(loads=["local:text/pair-seed0", "pair"])
def together_by_hand(profile: Profile) -> Settings:
    """One text, every metric by hand; `replay_draws`: of the released code's soft scores on the example."""
    return sample(profile) | profile.layers(laptop=dict(excerpts=10, words=12, draws=4, replay_draws=8))


@study.compute(loads=["local:text/movie-seed0", "local:vision/fashion-base-seed0", "edin", "fashion"])
def play_answers(profile: Profile) -> Settings:
    """The answers that the games are played with."""
    return sample(profile)


# ------------------------------------------------------------------------------------------------------------ reports
study.report("together_agreement", reads=["together_matrix"])
study.report("together_diagnosticity", reads=["together_matrix", "together_mirrored", "saco_imagenet"])
study.report("together_planted_truth", reads=["together_planted"])
study.report("own_text_model", shareable=False, loads=lambda _, run: [run["model"]])
study.report("own_vision_model", shareable=False, loads=lambda _, run: [run["model"]])
study.report("together_metrics", reads=["together_by_hand"], shareable=False, public=False, contents="appendix")
study.report("together_released", reads=["together_by_hand"], shareable=False, public=False, contents="appendix")
study.report("together_tasks", reads=["together_toolkit"], contents="appendix")
study.report("together_pointing", reads=["together_objects", "together_matrix"], contents="appendix")
study.report("soft_shift", reads=["together_planted"], contents="elsewhere")
study.report(
    "together_advice",
    reads=["together_diagnosticity", "together_planted_truth", "safe_map", "safe_models"],
    contents="elsewhere",
)
study.report("play", reads=["play_answers"], loads=["erased", "erased-prompt"], contents="elsewhere")
study.own("own_bench")


# ---------------------------------------------------------------------------------------------------------- trainings
@study.recipe("text_classifiers")
def of_planted(_: Profile) -> Settings:
    """How classifiers of texts with a planted cause are trained; `learnt`: from so many texts."""
    planted = dict(
        model="all-MiniLM-L6-v2",
        rank=8,
        batch_size=32,
        learning_rate=0.0005,
        learning_rate_linear=0.0005,
        epochs=2,
        sorted_batches=16,
    )
    amounts = planted | dict(epochs=1, learnt=12800)
    return Settings(
        training={
            "planted": planted,
            "planted-erased": planted,
            "planted-misled": planted,
            "planted-light": amounts,
            "planted-middle": amounts,
            "planted-heavy": amounts,
            **{f"planted-{amount}-neither": amounts for amount in ("light", "middle", "heavy")},
        }
    )


@study.trainings
def trainings(profile: Profile) -> Iterator[Training]:
    """The checkpoints that `make train` makes at a profile."""
    planted = ["planted", "planted-erased", "planted-misled"]
    if profile == PAPER:
        for point in combinations(dataset=[*planted, "sst"], seed=0):
            yield "text_classifiers", point
        return
    for point in combinations(dataset=[*planted, "planted-light", "planted-middle", "planted-heavy"], seed=0):
        yield "text_classifiers", point
    for point in combinations(dataset=planted, model="base"):
        yield "vision_classifiers", point
    for point in combinations(dataset="planted-light", seed=[1, 2]):
        yield "text_classifiers", point
    amounts = ["planted-light", "planted-middle", "planted-heavy"]
    for point in combinations(dataset=[*amounts, *(f"{name}-neither" for name in amounts)], seed=0, classifier="l3"):
        yield "text_classifiers", point
    for point in combinations(dataset=["planted-light", "planted-heavy"], model="base"):
        yield "vision_classifiers", point
    if profile.name in ("full", "confirm"):
        for point in combinations(dataset=on_this_machine(["stamps"]), model="lora"):
            yield "photo_classifiers", point
