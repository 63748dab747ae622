"""Measure Figure 3 of Wu et al. on a photograph of ImageNet: `data/imagenet_case_maps.csv` and
`data/imagenet_case_groups.csv`.

    FAITHLIB_DATA=FOLDER python -m faithbook.studies.saco.imagenet_case

The photograph is the first bird among the 50 sample images (the paper's is a linnet, which is not among them), the
model the vision transformer of CIFAR-10 with low-rank adapters. Numbers only: scores of patches and what is lost
without groups of pixels. The photograph itself may not be passed on and is in no file here.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from faithbook.models.load import load_model
from faithbook.paths import root
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.attribution import attribute
from faithlib.evaluation import saco_steps
from faithlib.names import MethodName
from faithlib.perturb import Perturber

MODEL = "local:photo/cifar10-lora-seed0"
BIRD = "n01601694_water_ouzel"
METHODS: tuple[MethodName, ...] = ("transformer_attribution", "raw_attention")
GROUPS = 10


def main() -> None:
    """Write both tables."""
    pictures = load_pictures("imagenet-samples", "test", sample="all")
    place = next(i for i, name in enumerate(pictures.ids) if BIRD in str(name))
    chosen = pictures.at([place])
    classifier = load_model(MODEL)
    model = classifier.model
    inputs = as_inputs(chosen, model, patch=1)
    patches = as_inputs(chosen, model, patch=model.patch_embed.patch_size[0])
    perturber = Perturber(model, inputs, erase="mean")
    predicted = perturber.predicted
    maps = []
    for method in METHODS:
        score = attribute(method, model, patches)[0]
        maps.append(pd.DataFrame({"method": method, "patch": range(len(score)), "score": score.detach().numpy()}))
    groups = []
    with_random: tuple[MethodName, ...] = (*METHODS, "random")
    for method in with_random:
        if method == "random":
            scores = attribute("random", None, inputs, seed=0)
        else:
            scores = attribute(method, model, inputs, upsample="bilinear")
        steps = saco_steps(perturber, scores, labels=predicted, remainder="spread", ties="position", reduce="mean")
        groups.append(
            pd.DataFrame(
                {
                    "method": method,
                    "group": range(1, GROUPS + 1),
                    "salience": steps.salience[0].numpy(),
                    "alone": steps.alone[0].numpy(),
                    "together": (steps.morf[0, :1] - steps.morf[0, 1:]).numpy(),
                }
            )
        )
    facts: dict[str, Any] = {
        "picture": BIRD,
        "model": MODEL.rpartition("/")[2],
        "predicted": classifier.label_names[int(predicted[0])],
        "p_full": round(float(perturber.full[0]), 6),
    }
    for name, frames in (("maps", maps), ("groups", groups)):
        table = pd.concat(frames, ignore_index=True).assign(**facts).round(6)
        table.to_csv(root() / "data" / f"imagenet_case_{name}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
