"""Study 5, language models: the runs of its notebooks at every profile. Nothing runs without the language model."""

from __future__ import annotations

from faithbook.artifacts import on_this_machine
from faithbook.engine.study import Profile, Settings, Study, by

study = Study(
    "language",
    number=5,
    title="Study 5: language models",
    overview="language/overview",
    more=["language/your-model"],
)


@study.compute(grid={"dataset": "datasets"}, loads=lambda _, run: [run["dataset"]], parts={"full": 20})
def language_agreement(profile: Profile) -> Settings:
    """Why this verb and not the other number: contrastive attributions."""
    optional = profile.pick(laptop=["agreement"], smoke=[], full=["agreement"], paper=[])
    return profile.layers(
        laptop=dict(
            datasets=on_this_machine(optional),
            template="Here is a sentence. {text}",
            sentences=24,
            block=24,
            ig_steps=8,
            permutations=2,
        ),
        smoke=dict(sentences=4, ig_steps=2),
        full=dict(sentences=2000, block=100, ig_steps=8, permutations=4),
    )


@study.compute(grid={"dataset": "datasets"}, loads=lambda _, run: [run["dataset"]], parts={"full": 10})
def language_sentences(profile: Profile) -> Settings:
    """Whole sentences of a prompt erased, with bounds."""
    optional = profile.pick(laptop=["facts"], smoke=[], full=["facts", "facts-12", "news"], paper=[])
    return profile.layers(
        laptop=dict(
            model="smollm2",
            datasets=on_this_machine(optional),
            prompts=by("dataset", {"facts": 3, "news": 3, "facts-12": 1}),
            sentences=by("dataset", {"facts": 6, "news": 6, "facts-12": 8}),
            block=by("dataset", {"facts": 3, "news": 3, "facts-12": 1}),
            ig_steps=4,
            answer=8,
        ),
        smoke=dict(prompts=1, sentences=4, ig_steps=2),
        full=dict(
            prompts=by("dataset", {"facts": 40, "news": 40, "facts-12": 10}),
            sentences=by("dataset", {"facts": 8, "news": 8, "facts-12": 12}),
            block=by("dataset", {"facts": 4, "news": 4, "facts-12": 1}),
            ig_steps=8,
            answer=8,
        ),
    )


MODEL_AND_DATA = {"dataset": "datasets", "model": "models_read"}


@study.compute(grid=MODEL_AND_DATA, loads=lambda _, run: [run["model"], run["dataset"]], parts={"full": 15})
def language_amounts(profile: Profile) -> Settings:
    """All metrics of amounts, of a prompted model."""
    optional = profile.pick(laptop=["prompted-movie"], smoke=[], full=["prompted-sst", "copied-name"], paper=[])
    return profile.layers(
        laptop=dict(
            datasets=on_this_machine(optional),
            models_read=["smollm2"],
            inputs=8,
            protected=2,
            words=[6, 16],
            block=8,
            ig_steps=4,
            draws=1,
            shares=[0.25, 0.75],
        ),
        smoke=dict(block=2, ig_steps=2),
        full=dict(
            inputs=by("dataset", {"prompted-sst": 300, "copied-name": 100}),
            protected=by("dataset", {"prompted-sst": 300, "copied-name": 0}),
            block=5,
            ig_steps=8,
            draws=2,
            shares=[0.25, 0.5, 0.75],
        ),
    )


@study.compute(grid=MODEL_AND_DATA, loads=lambda _, run: [run["model"], run["dataset"]], parts={"full": 20})
def language_erasures(profile: Profile) -> Settings:
    """Win rates of attributions, by what erased words are replaced with."""
    optional = profile.pick(laptop=["prompted-movie"], smoke=[], full=["prompted-sst", "prompted-reviews"], paper=[])
    return profile.layers(
        laptop=dict(
            datasets=on_this_machine(optional),
            models_read=["smollm2"],
            inputs=by("dataset", {"prompted-reviews": 2}, otherwise=4),
            words=by("dataset", {"prompted-reviews": [6, 40]}, otherwise=[6, 16]),
            block=4,
            ig_steps=4,
            share=0.2,
            matches=6,
        ),
        smoke=dict(block=2, ig_steps=2),
        full=dict(
            inputs=by("dataset", {"prompted-sst": 300, "prompted-reviews": 100}), block=5, ig_steps=8, matches=20
        ),
    )


study.report("language_measures", reads=["language_amounts"])
study.report("language_win_rates", reads=["language_erasures"])
study.report("language_contrast", reads=["language_agreement"])
study.report("language_bounds", reads=["language_sentences"])
