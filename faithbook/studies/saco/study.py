"""Study 2, Wu et al. (2024): the runs of its notebooks at every profile."""

from __future__ import annotations

from collections.abc import Iterator

from faithbook.artifacts import on_this_machine, whole_or_few
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
)

study = Study(
    "saco",
    number=2,
    title="Study 2: salience in vision transformers",
    overview="paper2/overview",
    papers={"wu_2024": "Wu et al. 2024 (SaCo)"},
    confirmation=Confirmation(
        measured_by="saco_metrics",
        models="one model, the transformer with adapters, `lora`",
        reserves=("cifar10", "cifar100"),
        # They compare numbers of groups.
        further=dict.fromkeys(["saco_table2", "saco_c08", "saco_c09", "saco_c10"], "saco_groups"),
    ),
)
SIZES = ["base", "large", "deit"]
TRAININGS = ["lora", "head", "lora-deit"]
OF_HUB = {
    "base": "timm:vit_base_patch16_224.orig_in21k_ft_in1k",
    "large": "timm:vit_large_patch16_224.augreg_in21k_ft_in1k",
    "deit": "timm:deit_base_patch16_224.fb_in1k",
}


def small(dataset: str) -> dict[str, str]:
    """The three small transformers of a data set, as `load_model` takes them."""
    return {size: f"local:vision/{dataset}-{size}-seed0" for size in SIZES}


def of_photographs(dataset: str, names: list[str] = TRAININGS) -> dict[str, str]:
    """The trainings of one encoder on photographs; a few test images of a set have the models of that set."""
    return {name: f"local:photo/{dataset.removesuffix('-few')}-{name}-seed0" for name in names}


def fine_tuned(dataset: str) -> dict[str, str]:
    """The paper's models: fine-tuned here, or as the hub has them."""
    return OF_HUB if dataset == "imagenet" else {size: f"local:paper/{dataset}-{size}-seed0" for size in SIZES}


def sample(profile: Profile) -> Settings:
    """Which inputs a run may read: never the reserve, except for the papers' own models and whole test sets."""
    return profile.layers(laptop={"sample": "exploratory"}, paper={"sample": "all"})


# ------------------------------------------------------------------------------------------------------- computations
def models_and_data(settings: Settings, run: Parameters) -> list[str]:
    """What a run loads: one model, or all of its data set where its parameter `model` names none."""
    chosen = [spec for name, spec in settings["models"].items() if run["model"] in ("", name)]
    return [*chosen, run["dataset"]]


@study.compute(
    grid={"dataset": "datasets", "model": "models_apart"},
    loads=models_and_data,
    parts={"full": 4, "confirm": 4, "paper": 16},
    reserve=OnReserve("pictures", datasets=("cifar10", "cifar100")),
)
def saco_metrics(profile: Profile) -> Settings:
    """Ten attributions of images under SaCo and four metrics by removal.

    `models_apart`: the models of a data set that run each for itself ("": all in one run).
    """
    settings = sample(profile) | profile.layers(
        laptop=dict(
            datasets=["fashion", "mnist", "animals", "cifar10-few", "cifar100-few"],
            pictures=by("dataset", {"fashion": 5, "mnist": 4, "animals": 4, "cifar10-few": 2, "cifar100-few": 1}),
            varied_pictures=by(
                "dataset", {"fashion": 2, "mnist": 2, "animals": 2, "cifar10-few": 0, "cifar100-few": 0}
            ),
            grouped_pictures=by(
                "dataset", {"fashion": 5, "mnist": 4, "animals": 4, "cifar10-few": 2, "cifar100-few": 1}
            ),
            models_apart=[""],
            batch=16,
            ig_steps=20,
            random_draws=3,
            dtype=precision(),
            group_counts=[5, 20],
            examples=by("dataset", {"fashion": 2, "mnist": 2, "animals": 2, "cifar10-few": 2, "cifar100-few": 1}),
            shown="fashion",
        ),
        smoke=dict(
            datasets=["fashion"],
            pictures=by("dataset", fashion=2),
            varied_pictures=by("dataset", fashion=1),
            grouped_pictures=by("dataset", fashion=2),
            batch=1,
            ig_steps=4,
            random_draws=2,
            dtype="float32",
            examples=by("dataset", fashion=1),
        ),
        full=dict(
            pictures=by("dataset", {"cifar100": 100, "cifar10-few": 20, "cifar100-few": 20}, otherwise=200),
            varied_pictures=by(
                "dataset", {"cifar10": 20, "cifar100": 0, "cifar10-few": 20, "cifar100-few": 0}, otherwise=60
            ),
            grouped_pictures=by(
                "dataset", {"cifar10": 80, "cifar100": 40, "cifar10-few": 20, "cifar100-few": 20}, otherwise=200
            ),
            models_apart=by("dataset", cifar10=TRAININGS, cifar100=TRAININGS, otherwise=[""]),
            batch=20,
            random_draws=5,
            examples=by("dataset", fashion=2, mnist=2, animals=2, otherwise=6),
        ),
        confirm=dict(
            datasets=[],
            models_apart=["lora"],
            pictures=64,
            varied_pictures=0,
            grouped_pictures=0,
            batch=16,
            examples=0,
        ),
        paper=dict(
            datasets=["cifar10", "cifar100", "imagenet"],
            pictures=5000,
            varied_pictures=500,
            grouped_pictures=5000,
            models_apart=[""],
            batch=4,
            ig_steps=50,
            random_draws=3,
            dtype="float32",
            examples=3,
            shown="imagenet",
        ),
    )
    if profile.name == "confirm":
        settings["sample"] = "confirmatory"
    trainings_read = profile.pick(laptop=["lora"], full=TRAININGS)

    def models(dataset: str, **_: object) -> dict[str, str]:
        if profile == PAPER:
            return fine_tuned(dataset)
        if dataset.startswith("cifar"):
            return of_photographs(dataset, trainings_read)
        return small(dataset)

    optional = profile.pick(laptop=[], full=["cifar10", "cifar100"], paper=[])
    brought = on_this_machine(optional, lambda dataset: models(dataset).values())
    return settings | {"models": models, "datasets": whole_or_few(settings["datasets"], brought)}


@study.compute(
    grid={"dataset": "datasets", "model": "models_apart"},
    loads=models_and_data,
    parts={"confirm": 4},
    reserve=OnReserve("pictures", datasets=("cifar10", "cifar100"), values_with="saco_metrics"),
)
def saco_groups(profile: Profile) -> Settings:
    """SaCo of the unseen images of `saco_metrics` with other numbers of groups; elsewhere that one has them."""
    settings = saco_metrics(profile)
    if profile.name != "confirm":
        return settings | {"datasets": []}
    # In the precision of the ten groups that were measured before, whatever this machine computes fastest in.
    return settings | {"dtype": "float32"}


@study.compute(reads=["saco_metrics"])
def saco_replayed(profile: Profile) -> Settings:
    """The released code's numbers, and SaCo of every order of five groups."""
    return sample(profile)


@study.compute(grid={"dataset": "datasets"}, loads=lambda settings, run: [settings["model"], run["dataset"]])
def saco_imagenet(profile: Profile) -> Settings:
    """A convolutional network on photographs of ImageNet."""
    settings = sample(profile) | profile.layers(
        laptop=dict(
            model="local:photo/imagenet-lite0",
            datasets=["imagenet-few"],
            pictures=4,
            block=4,
            ig_steps=16,
            lime_samples=50,
            permutations=1,
            random_draws=3,
            group_counts=[5, 20],
            examples=4,
        ),
        smoke=dict(pictures=2, ig_steps=4, lime_samples=8, random_draws=2, examples=2),
        full=dict(pictures=50, ig_steps=32, lime_samples=200, permutations=5, random_draws=5, examples=6),
        paper=dict(datasets=[]),
    )
    optional = profile.pick(laptop=[], full=["imagenet-samples"], paper=[])
    settings["datasets"] = whole_or_few(settings["datasets"], on_this_machine(optional))
    return settings


@study.compute(grid={"dataset": "datasets"}, loads=lambda settings, run: [settings["model"], run["dataset"]])
def saco_nudged(profile: Profile) -> Settings:
    """Scores of images that are changed by less than a colour's step."""
    settings = sample(profile) | profile.layers(
        laptop=dict(
            block=10,
            datasets=["fashion", "mnist", "animals", "cifar10-few"],
            pictures=by("dataset", {"cifar10-few": 2}, otherwise=5),
            ig_steps=8,
            nudge=1e-6,
        ),
        smoke=dict(block=1, datasets=["fashion"], pictures=2, ig_steps=4),
        full=dict(
            block=20,
            datasets=["fashion", "mnist", "animals"],
            pictures=by("dataset", cifar10=40, cifar100=20, otherwise=60),
            ig_steps=16,
        ),
        paper=dict(datasets=["imagenet"], pictures=200, ig_steps=50),
    )

    def model(dataset: str, **_: object) -> str:
        if profile == PAPER:
            return OF_HUB["base"]
        return of_photographs(dataset)["lora"] if dataset.startswith("cifar") else small(dataset)["base"]

    optional = profile.pick(laptop=[], full=["cifar10", "cifar100"], paper=[])
    brought = on_this_machine(optional, lambda dataset: [model(dataset)])
    return settings | {"model": model, "datasets": whole_or_few(settings["datasets"], brought)}


# ------------------------------------------------------------------------------------------------------------ reports
study.report("saco_tables", reads=["saco_metrics", "saco_replayed"], loads=["cards"])
study.report("saco_figures", reads=["saco_metrics"])
study.report("saco_random", reads=["saco_metrics", "saco_nudged"])
study.report("saco_photographs", reads=["saco_metrics", "saco_imagenet"], shareable=False, public=False)
study.report("saco_stand_ins", reads=["saco_metrics", "saco_imagenet"], contents="appendix")
study.report("saco_deviations", reads=["saco_metrics", "saco_replayed"], contents="appendix")


# ---------------------------------------------------------------------------------------------------------- trainings
@study.recipe("vision_classifiers")
def of_pictures(profile: Profile) -> Settings:
    """How transformers are trained on small images; at the paper profile, how its models are fine-tuned."""
    plain = dict(
        start_from="",
        batch_size=32,
        learning_rate=0.001,
        shift=0,
        weight_decay=0.05,
        mixup=0,
        cutmix=0,
        smoothing=0,
        erasing=0,
        drop_path=0,
        flip=True,
        bfloat16=False,
    )
    from_fashion = plain | dict(start_from="fashion", learning_rate=0.0005)
    recipe_of_deit = dict(mixup=0.8, cutmix=1.0, smoothing=0.1, erasing=0.25, drop_path=0.1)
    narrow = dict(patch_size=4, embed_dim=96, depth=6, num_heads=3)
    cifar10 = plain | dict(epochs=5, batch_size=128, learning_rate=0.00003, shift=18, bfloat16=True)
    return profile.layers(
        laptop=dict(
            kind="vision",
            pretrained=False,
            architectures=dict(
                base=dict(name="vit_base_patch16_224", arguments=narrow),
                large=dict(
                    name="vit_large_patch16_224", arguments=dict(patch_size=4, embed_dim=120, depth=8, num_heads=4)
                ),
                deit=dict(name="deit_base_patch16_224", arguments=narrow, training=recipe_of_deit),
            ),
            training={
                "fashion": plain | dict(epochs=dict(base=13, large=6, deit=5)),
                "mnist": from_fashion | dict(epochs=dict(base=10, large=7, deit=10), shift=2, flip=False),
                "animals": from_fashion | dict(epochs=dict(base=6, large=4, deit=6), shift=2),
                "planted": from_fashion | dict(epochs=dict(base=4)),
                "planted-erased": from_fashion | dict(epochs=dict(base=3)),
                "planted-misled": from_fashion | dict(epochs=dict(base=3)),
                **{
                    f"planted-{amount}": from_fashion | dict(epochs=dict(base=3))
                    for amount in ("light", "middle", "heavy")
                },
            },
        ),
        paper=dict(
            kind="paper",
            pretrained=True,
            architectures={size: dict(name=spec.removeprefix("timm:"), arguments={}) for size, spec in OF_HUB.items()},
            training=dict(cifar10=cifar10, cifar100=cifar10 | dict(epochs=8)),
        ),
    )


@study.recipe("photo_classifiers")
def of_cifar(profile: Profile) -> Settings:
    """How heads and adapters of one encoder are trained on photographs."""
    plain = dict(
        rank=8,
        batch_size=32,
        learning_rate=0.001,
        weight_decay=0.01,
        shift=12,
        mixup=0,
        cutmix=0,
        smoothing=0.1,
        erasing=0,
        drop_path=0,
    )
    head = dict(
        rank=0,
        strengths=[0.001, 0.01, 0.1, 1],
        drop_path=0,
        batch_size=100,
        shift=0,
        mixup=0,
        cutmix=0,
        smoothing=0,
        erasing=0,
    )
    of_deit = plain | dict(weight_decay=0.05, mixup=0.8, cutmix=1.0, erasing=0.25, drop_path=0.1)
    sizes = dict(train=10000, dev=1000, test=2000)
    return profile.layers(
        laptop=dict(
            kind="photo",
            encoder="vit-s14",
            side=112,
            keep_every=40,
            models={"lora": plain, "head": head, "lora-deit": of_deit},
            training={},
        ),
        full=dict(
            training=dict(
                cifar10=dict(pictures=sizes, epochs={"lora": 6, "head": 0, "lora-deit": 4}),
                cifar100=dict(pictures=sizes, epochs={"lora": 5, "head": 0, "lora-deit": 5}),
                stamps=dict(
                    pictures=dict(train=1000, dev=100, test=100),
                    epochs={"lora": 6},
                    otherwise=dict(shift=0, smoothing=0),
                ),
            )
        ),
        paper=dict(training={}),
    )


@study.trainings
def trainings(profile: Profile) -> Iterator[Training]:
    """The checkpoints that `make train` makes at a profile: of photographs, where they are on this machine."""
    datasets = ["cifar10", "cifar100"] if profile == PAPER else ["fashion", "mnist", "animals"]
    for point in combinations(dataset=datasets, model=SIZES):
        yield "vision_classifiers", point
    if profile.name in ("full", "confirm"):
        for point in combinations(dataset=on_this_machine(["cifar10", "cifar100"]), model=TRAININGS):
            yield "photo_classifiers", point
