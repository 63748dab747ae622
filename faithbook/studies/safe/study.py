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


def trained_on(modality: str, amounts: dict[str, str]) -> dict[str, str]:
    """Models that learnt from inputs with erased words or pixels: how often each errs, and how it is loaded."""
    place = "local:text/planted-{}-seed0" if modality == "text" else "local:vision/planted-{}-base-seed0"
    return {name: place.format(suffix) for name, suffix in amounts.items()}


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
    ends = {"never errs": "erased", "errs over 33 %": "misled"}
    between = {"errs up to 20 %": "light", "errs from 20 to 50 %": "middle", "errs over 50 %": "heavy"}
    of_texts = ends
    if "full" in profile.lineage:
        of_texts = {"never errs": "erased", **between, "errs over 33 %": "misled"}
    settings["models"] = by("modality", text=trained_on("text", of_texts), vision=trained_on("vision", ends))
    return settings


study.report("safe_map", reads=["safe_grid"])
study.report("safe_trained", reads=["safe_planted", "safe_map"])
study.report("safe_models", reads=["safe_compared"])
