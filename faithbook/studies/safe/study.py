"""Which metric is safe? The runs of its notebooks at every profile."""

from __future__ import annotations

from faithbook.engine.study import Profile, Settings, Study, by

study = Study("safe", number=7, title="Which metric is safe?", overview="safe/overview")


@study.compute(loads=["safe-plan", "safe-conditions"])
def safe_grid(profile: Profile) -> Settings:
    """The declared grid of models in closed form."""
    return profile.layers(
        laptop=dict(seeds=2, inputs=2, draws=2, blocks=35),
        smoke=dict(seeds=2, inputs=1, draws=1, blocks=2),
        full=dict(seeds=8, inputs=3, draws=4, blocks=35),
    )


@study.compute(loads=["safe-plan", "edin"])
def safe_compared(profile: Profile) -> Settings:
    """Scores compared across models; `texts`: at most so many of each released set (None: all)."""
    return profile.layers(
        laptop=dict(inputs=40, texts=40),
        smoke=dict(inputs=8, texts=6),
        full=dict(inputs=200, texts=None),
    )


def trained_on(modality: str, names: list[str]) -> dict[str, str]:
    """Models that learnt from inputs with erased words or pixels, named as their checkpoints without "planted-"."""
    return {name: f"local:{modality}/planted-{name}" for name in names}


@study.compute(
    grid={"modality": "modalities"},
    loads=lambda settings, run: [*settings["models"].values(), f"{run['modality']}:planted", "safe-plan"],
)
def safe_planted(profile: Profile) -> Settings:
    """The grid's question on trained models with a planted cause."""
    settings = profile.layers(
        laptop=dict(modalities=["text", "vision"], inputs=4, draws=2),
        smoke=dict(inputs=2, draws=1),
        full=dict(inputs=16, draws=4),
    )
    of_texts = ["erased-seed0", "misled-seed0"]
    of_images = ["erased-base-seed0", "misled-base-seed0"]
    if "full" in profile.lineage:
        of_texts += [f"light-seed{seed}" for seed in range(3)]
        of_texts += ["middle-seed0", "heavy-seed0"]
        for amount in ("light", "middle", "heavy"):
            of_texts += [f"{amount}-l3-seed0", f"{amount}-neither-l3-seed0"]
        of_images += ["light-base-seed0", "heavy-base-seed0"]
    models = {"text": trained_on("text", of_texts), "vision": trained_on("vision", of_images)}
    settings["models"] = by("modality", **models)
    return settings


study.report("safe_map", reads=["safe_grid"])
study.report("safe_trained", reads=["safe_planted", "safe_map"])
study.report("safe_models", reads=["safe_compared"])
