"""Study 3, Zaman and Belinkov (2022): the runs of its notebooks at every profile."""

from __future__ import annotations

from collections.abc import Iterator

from faithbook.artifacts import on_this_machine
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
from faithlib.errors import unknown

study = Study(
    "crosslingual",
    number=3,
    title="Study 3: faithfulness across languages",
    overview="paper3/overview",
    papers={"zaman_belinkov_2022": "Zaman & Belinkov 2022 (cross-lingual)"},
    confirmation=Confirmation(
        measured_by="crosslingual_metrics",
        models="one model, the six-layer encoder, `six`",
        models_later="two models, the encoders of six and of twelve layers, `six` and `e5`",
        reserves=("xnli",),
        further={
            "crosslingual_table5": "crosslingual_projected",
            **{f"crosslingual_table{number}": "crosslingual_metrics" for number in (8, 11, 12, 13, 14)},
        },
    ),
)
NINE = ["en", "bg", "de", "es", "fr", "ru", "tr", "el", "zh"]  # of the home assistant's messages
FIVE = ["en", "bg", "de", "es", "fr"]
FEWEST = dict(ig_steps=2, lime_samples=6, permutations=1)
FEW = dict(ig_steps=4, lime_samples=8, permutations=2)
ADDED = {"only": ""}  # the first committed runs measured everything of their texts
FIFTEEN = ["en", "ar", "bg", "de", "el", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh"]  # of XNLI


def model(dataset: str, model: str, seed: int = 0, **_: object) -> str:
    """The classifier of a run, as `load_model` takes it: `six` has the first six layers of the encoder of `e5`."""
    if dataset == "xnli":
        name = "mnli-xlmr" if model == "xlmr" else "mnli"
        return f"hf:data/checkpoints/paper/{name}-seed{seed}"
    suffixes = {"e5": "", "six": "-whole-six" if dataset == "nli" else "-six"}
    if model not in suffixes:
        raise unknown("model", model, suffixes)
    return f"local:text/{dataset}{suffixes[model]}-seed{seed}"


def shared(profile: Profile) -> Settings:
    """What all notebooks of the study have: `links`, the rule by which the words of two languages are linked."""
    return profile.layers(
        laptop=dict(sample="exploratory", dataset="messages", aligner="e5", links="softmax"),
        paper=dict(sample="all", dataset="xnli", aligner="hf:aneuraz/awesome-align-with-co"),
    )


def aligner(profile: Profile) -> object:
    """The encoder whose hidden states link words: pairs of sentences need the whole vocabulary."""
    return by("dataset", nli="e5-whole", otherwise=shared(profile)["aligner"])


def with_pairs(profile: Profile, settings: Settings) -> Settings:
    """Settings whose grid has the pairs of sentences (`nli`) first, where they and their models are on this machine."""

    def models(dataset: str) -> list[str]:
        named = value_at(settings["models_read"], {"dataset": dataset})
        seeds = value_at(settings["seeds"], {"dataset": dataset})
        return [model(dataset, name, seed) for name in named for seed in seeds]

    optional = profile.pick(laptop=["nli"], smoke=[], full=["nli"], paper=[])
    settings["datasets"] = on_this_machine(optional, models) + settings["datasets"]
    return settings


# ------------------------------------------------------------------------------------------------------- computations
@study.compute(
    grid={"dataset": "datasets", "model": "models_read", "seed": "seeds", "only": "asked_of"},
    added=ADDED,
    loads=lambda settings, run: [settings["model"], settings["aligner"], run["dataset"]],
    parts={"full": 2, "confirm": 3, "paper": 16},
    # Tables 8 and 11 to 14 have two encoders. The second one was planned when the headline claims had been judged.
    reserve=OnReserve("erased", datasets=("nli",), later={"model": "e5"}),
)
def crosslingual_metrics(profile: Profile) -> Settings:
    """How alike attributions of a text and of its translations are, and what erasing finds in each language.

    - `languages`, `only_read`: those that are explained, and those of which only predictions are read;
    - `read`, `messages`, `erased`: how many texts are read (0: all), explained in all languages, and erased;
    - `asked_of`: "" is everything; "one pass" asks `further` texts with the methods of one forward pass alone.
    """
    settings = profile.layers(
        laptop=dict(
            datasets=["messages"],
            models_read=by("dataset", messages=["e5", "six"], nli=["e5"]),
            seeds=[0],
            languages=by("dataset", messages=NINE, nli=FIVE),
            only_read=by("dataset", messages=[], nli=["th", "sw", "ur"]),
            split="test",
            read=by("dataset", messages=0, nli=60),
            messages=by("dataset", messages=3, nli=4),
            erased=by("dataset", messages=5, nli=6),
            batch=16,
            ig_steps=4,
            ig_steps_of={},
            lime_samples=10,
            permutations=2,
            align_layer=7,
            asked_of=[""],
            further={},
        ),
        smoke=dict(
            models_read=["six"],
            languages=["en", "bg", "de"],
            only_read=["fr"],
            read=30,
            messages=2,
            erased=3,
            batch=2,
            ig_steps=2,
            lime_samples=6,
        ),
        full=dict(
            models_read=["e5", "six"],
            seeds=[0, 1, 2],
            languages=by("dataset", messages=NINE, nli=[*FIVE, "th", "sw", "ur"]),
            only_read=by("dataset", messages=[], nli=["ar", "el", "hi", "ru", "tr", "vi", "zh"]),
            read=by("dataset", messages=0, nli=600),
            messages=by("dataset", messages=24, nli=by("seed", {0: 60, 1: 20, 2: 20})),
            erased=60,
            ig_steps=12,
            lime_samples=30,
            permutations=4,
            asked_of=by("dataset", messages=[""], nli=["", "one pass"]),
            further=by(
                "dataset",
                nli=by("seed", {0: {"messages": 640, "erased": 120}}, otherwise={"messages": 0, "erased": 120}),
                otherwise={},
            ),
        ),
        confirm=dict(
            datasets=[],
            models_read=["six", "e5"],
            seeds=[0],
            languages=FIVE,
            only_read=[],
            read=120,
            messages=60,
            erased=60,
            asked_of=[""],
            further={},
            batch=20,
        ),
        paper=dict(
            datasets=["xnli"],
            models_read=["mbert", "xlmr"],
            languages=[*FIVE, "th", "sw", "ur"],
            only_read=["ar", "el", "hi", "ru", "tr", "vi", "zh"],
            read=0,
            messages=5010,
            erased=5010,
            ig_steps=100,
            ig_steps_of={"mbert": {"mean": 75}},
            lime_samples=50,
            permutations=25,
            align_layer=8,
            asked_of=[""],
            further={},
        ),
    )
    settings = shared(profile) | with_pairs(profile, settings) | {"model": model, "aligner": aligner(profile)}
    if profile.name == "confirm":
        settings["sample"] = "confirmatory"
    return settings


def loads_of_alignment(settings: Settings, _: Parameters) -> list[str]:
    """Every model that is compared, the aligner, the texts, and alignments made by people."""
    return [
        *settings["models"].values(),
        settings["aligner"],
        *settings["beside"].values(),
        settings["dataset"],
        *("bible", "rwth", "xlwa"),
    ]


@study.compute(loads=loads_of_alignment)
def crosslingual_alignment(profile: Profile) -> Settings:
    """Which layer of the aligner agrees best with alignments made by people; how alike models see two languages."""
    settings = shared(profile) | profile.layers(
        laptop=dict(
            beside={"multilingual, frozen": "e5", "English, frozen": "minilm"},
            languages=NINE,
            split="test",
            gold_sentences=10,
            learnt_from=200,
            counted_splits=["train", "dev", "test"],
            compared_messages=10,
            cka_draws=2,
            represented=32,
            align_layer=7,
        ),
        smoke=dict(languages=["en", "bg", "de"], compared_messages=16, cka_draws=1, represented=16),
        full=dict(gold_sentences=150, learnt_from=10000, compared_messages=160, cka_draws=10, represented=160),
        paper=dict(
            beside={
                "multilingual, frozen": "hf:bert-base-multilingual-cased",
                "English, fine-tuned": "hf:data/checkpoints/paper/mnli-bert-seed0",
                "Turkish, frozen": "hf:dbmdz/bert-base-turkish-cased",
            },
            languages=FIVE,
            gold_sentences=250,
            counted_splits=["dev", "test"],
            compared_messages=1000,
            represented=5000,
            align_layer=8,
        ),
    )
    compared = ["mbert", "xlmr"] if profile == PAPER else ["e5", "six"]
    settings["models"] = {name: model(settings["dataset"], name) for name in compared}
    return settings


@study.compute(
    grid={"dataset": "datasets", "model": "models_read"},
    loads=lambda settings, run: [settings["model"], settings["aligner"], run["dataset"]],
)
def crosslingual_samples(profile: Profile) -> Settings:
    """Some texts of `crosslingual_metrics` once more, with our and the paper's steps, samples and permutations."""
    settings = profile.layers(
        laptop=dict(
            datasets=["messages"],
            models_read=by("dataset", messages=["e5"], nli=["e5"]),
            seeds=[0],
            texts=1,
            split="test",
            batch=4,
            align_layer=7,
            numbers=dict(
                ours=dict(ig_steps=12, lime_samples=30, permutations=4),
                paper=dict(ig_steps=100, lime_samples=50, permutations=25),
            ),
        ),
        smoke=dict(models_read=["six"], numbers=dict(ours=FEWEST, paper=FEW)),
        full=dict(models_read=["six"], texts=by("dataset", messages=12, nli=4)),
        paper=dict(datasets=[]),
    )
    return shared(profile) | with_pairs(profile, settings) | {"model": model, "aligner": aligner(profile)}


@study.compute(
    grid={"dataset": "datasets"},
    loads=lambda settings, run: [*settings["models"].values(), *settings["beside"].values(), run["dataset"]],
)
def crosslingual_similar(profile: Profile) -> Settings:
    """How alike models see pairs of sentences and their translations (`crosslingual_alignment` has messages)."""
    settings = profile.layers(
        laptop=dict(
            datasets=[],
            models_read=["e5", "six"],
            seeds=[0],
            beside={"multilingual, frozen": "e5-whole", "English, frozen": "minilm"},
            languages=FIVE,
            split="test",
            cka_draws=2,
            represented=32,
        ),
        full=dict(languages=FIFTEEN, cka_draws=10, represented=160),
        paper=dict(datasets=[]),
    )
    settings = shared(profile) | with_pairs(profile, settings)
    return settings | {"models": {name: model("nli", name) for name in settings["models_read"]}}


@study.compute(
    grid={"dataset": "datasets", "model": "models_read", "seed": "seeds"},
    loads=lambda settings, run: [settings["model"], settings["aligner"], run["dataset"]],
    parts={"full": 6},
)
def crosslingual_languages(profile: Profile) -> Settings:
    """Rho of the texts of `crosslingual_metrics` in the languages of XNLI that the paper has no rho of."""
    settings = profile.layers(
        laptop=dict(
            datasets=[],
            models_read=["e5"],
            seeds=[0],
            languages=[language for language in FIFTEEN if language not in (*FIVE, "th", "sw", "ur")],
            split="test",
            texts=1,
            batch=5,
            ig_steps=4,
            lime_samples=10,
            permutations=2,
            align_layer=7,
        ),
        full=dict(models_read=["e5", "six"], texts=60, ig_steps=12, lime_samples=30, permutations=4),
        paper=dict(datasets=[]),
    )
    return shared(profile) | with_pairs(profile, settings) | {"model": model, "aligner": aligner(profile)}


def marked(dataset: str, seed: int = 0, **_: object) -> str:
    """The classifier of texts with marks of people: of reviews that of study 1's sentences."""
    learnt = "sst" if dataset == "reviews" else dataset
    return f"local:text/{learnt}-seed{seed}"


def marked_of_paper(dataset: str, seed: int = 0, **_: object) -> str:
    """The paper's own classifier of texts with marks of people."""
    return f"hf:data/checkpoints/paper/{dataset}-seed{seed}"


def with_marks(profile: Profile, settings: Settings, optional: list[str]) -> Settings:
    """Settings whose grid has further texts with marks of people first, where they and their models are here."""

    def models(dataset: str) -> list[str]:
        return [marked(dataset, seed) for seed in value_at(settings["seeds"], {"dataset": dataset})]

    settings["datasets"] = on_this_machine(optional, models) + settings["datasets"]
    settings["model"] = profile.pick(laptop=marked, paper=marked_of_paper)
    return shared(profile) | settings


@study.compute(
    grid={"dataset": "datasets", "seed": "seeds", "only": "asked_of"},
    added=ADDED,
    loads=lambda settings, run: [settings["model"], run["dataset"]],
    parts={"paper": 4},
)
def crosslingual_plausibility(profile: Profile) -> Settings:
    """Whether attributions find the words that people marked; `asked_of` and `further` as in `crosslingual_metrics`."""
    settings = profile.layers(
        laptop=dict(
            datasets=["pair"],
            seeds=[0],
            excerpts=6,
            excerpt_words=40,
            batch=8,
            ig_steps=4,
            ig_steps_of={},
            lime_samples=10,
            permutations=2,
            asked_of=[""],
            further=0,
        ),
        smoke=dict(excerpts=3, excerpt_words=24, batch=1, lime_samples=8),
        full=dict(
            seeds=by("dataset", esnli=[0], reviews=[0, 1], pair=[0, 1, 2]),
            excerpts=by("dataset", esnli=100, otherwise=40),
            excerpt_words=48,
            ig_steps=12,
            lime_samples=30,
            permutations=4,
            asked_of=by("dataset", esnli=["", "one pass"], reviews=["", "one pass"], pair=[""]),
            further=by("dataset", esnli=338, reviews=193, otherwise=0),
        ),
        paper=dict(
            datasets=["esnli"],
            seeds=[0, 1, 2],
            excerpts=500,
            excerpt_words=64,
            ig_steps=50,
            ig_steps_of=by("dataset", esnli={"mean top_prediction": 100}),
            lime_samples=50,
            permutations=25,
            asked_of=[""],
            further=0,
        ),
    )
    return with_marks(
        profile, settings, profile.pick(laptop=["reviews", "esnli"], smoke=[], full=["reviews", "esnli"], paper=[])
    )


@study.compute(
    grid={"dataset": "datasets", "seed": "seeds"},
    loads=lambda settings, run: [settings["model"], run["dataset"]],
)
def crosslingual_threshold(profile: Profile) -> Settings:
    """The threshold at which attributions mark as many words as people do."""
    settings = profile.layers(
        laptop=dict(datasets=["pair"], seeds=[0], excerpts=6, excerpt_words=40, batch=8),
        smoke=dict(excerpts=3, excerpt_words=24),
        full=dict(seeds=by("dataset", reviews=[0, 1], pair=[0, 1, 2]), excerpts=40, excerpt_words=48),
        paper=dict(datasets=["esnli"], seeds=[0, 1, 2], excerpts=500, excerpt_words=64),
    )
    return with_marks(profile, settings, profile.pick(laptop=["reviews"], smoke=[], full=["reviews"], paper=[]))


@study.compute(
    grid={"dataset": "datasets", "model": "models_read", "seed": "seeds"},
    reads=["crosslingual_threshold"],
    loads=lambda settings, run: [
        settings["model"],
        settings["aligner"],
        run["dataset"],
        settings["published_marks"] or run["dataset"],
    ],
    parts={"paper": 4},
    reserve=OnReserve("messages", datasets=("nli",)),
)
def crosslingual_projected(profile: Profile) -> Settings:
    """Highlights carried from English to other languages; `published_marks`: a data set that has theirs."""
    settings = profile.layers(
        laptop=dict(
            datasets=["messages"],
            models_read=by("dataset", messages=["e5", "six"], nli=["e5"]),
            seeds=[0],
            languages=by("dataset", messages=NINE, nli=[*FIVE, "th", "sw", "ur"]),
            split="test",
            messages=12,
            batch=16,
            align_layer=7,
            published_marks="",
        ),
        smoke=dict(models_read=["six"], languages=["en", "bg", "de", "fr"], messages=2, batch=2),
        full=dict(
            models_read=["e5", "six"],
            seeds=[0, 1, 2],
            languages=by("dataset", messages=NINE, nli=FIFTEEN),
            messages=60,
        ),
        confirm=dict(datasets=[], models_read=["six"], seeds=[0]),
        paper=dict(
            datasets=["xnli"],
            models_read=["mbert", "xlmr"],
            languages=FIFTEEN,
            messages=5010,
            align_layer=8,
            published_marks="exnli",
        ),
    )
    settings = shared(profile) | with_pairs(profile, settings) | {"model": model, "aligner": aligner(profile)}
    if profile.name == "confirm":
        settings["sample"] = "confirmatory"
    return settings


# ------------------------------------------------------------------------------------------------------------ reports
study.report("crosslingual_example", reads=["crosslingual_metrics"], settings=shared, shareable=False)
study.report("crosslingual_tables", reads=["crosslingual_metrics", "crosslingual_projected"])
study.report("crosslingual_floors", reads=["crosslingual_metrics", "crosslingual_projected"], settings=shared)
study.report("crosslingual_erasure", reads=["crosslingual_metrics"])
study.report(
    "crosslingual_highlights", reads=["crosslingual_metrics", "crosslingual_plausibility", "crosslingual_projected"]
)
study.report("crosslingual_aligner", reads=["crosslingual_alignment"], contents="appendix")
study.report(
    "crosslingual_deviations",
    reads=[
        "crosslingual_metrics",
        "crosslingual_languages",
        "crosslingual_samples",
        "crosslingual_similar",
        "crosslingual_plausibility",
    ],
    loads=["cards"],
    settings=shared,
    contents="appendix",
)


# ---------------------------------------------------------------------------------------------------------- trainings
@study.recipe("text_classifiers")
def of_messages_and_pairs(profile: Profile) -> Settings:
    """How its classifiers are trained: adapters of a small multilingual encoder; at the paper profile all weights."""
    small = dict(
        model="multilingual-e5-small",
        rank=8,
        batch_size=16,
        learning_rate=0.001,
        learning_rate_linear=0.005,
        epochs=6,
        sorted_batches=8,
    )
    whole = small | dict(
        model="multilingual-e5-small, whole vocabulary",
        rank=16,
        batch_size=32,
        learning_rate_linear=0.001,
        epochs=2,
        sorted_batches=16,
    )
    fine_tuned = dict(
        model="bert-base-multilingual-cased",
        rank=0,
        batch_size=256,
        learning_rate=0.00002,
        learning_rate_linear=0.00002,
        epochs=3,
        sorted_batches=16,
    )
    return profile.layers(
        laptop=dict(
            training=dict(
                messages=small,
                nli=whole | dict(max_length=96, tested=600),
                esnli=whole | dict(stop_after=1),
            ),
            training_of={
                "six": dict(model="multilingual-e5-small, first six layers"),
                "whole-six": dict(model="multilingual-e5-small, whole vocabulary, first six layers"),
            },
        ),
        paper=dict(
            training=dict(mnli=fine_tuned, esnli=fine_tuned | dict(model="bert-base-uncased")),
            training_of=dict(xlmr=dict(model="xlm-roberta-base"), bert=dict(model="bert-base-uncased")),
        ),
    )


@study.trainings
def trainings(profile: Profile) -> Iterator[Training]:
    """The checkpoints that `make train` makes at a profile: of pairs of sentences, where they are on this machine."""
    if profile == PAPER:
        points = combinations(dataset="mnli", seed=[0, 1, 2], classifier=["", "xlmr"])
        points += combinations(dataset="mnli", seed=0, classifier="bert")
        points += combinations(dataset="esnli", seed=[0, 1, 2])
    else:
        points = combinations(dataset="messages", seed=[0, 1, 2], classifier=["", "six"])
    if profile.name in ("full", "confirm"):
        points += combinations(dataset=on_this_machine(["nli"]), seed=[0, 1, 2], classifier=["", "whole-six"])
        points += combinations(dataset=on_this_machine(["esnli"]), seed=0)
    for point in points:
        yield "text_classifiers", point
