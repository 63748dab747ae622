"""Images for the game of erasing: all that a model answers to them with any of 4 x 4 cells gone.

    python -m faithbook.studies.together.games.erased_pictures

writes `data/pictures/erased.npz` again (2^16 answers an image: a quarter of an hour on one core, too long for every
build, so the file is committed). Images are shipped ones of Fashion-MNIST, the model is the shipped one that study 2
reads them with. Answers are kept as whole numbers of a part in 65,535, and all else is worked out from what is kept.

Shape letters: P images, N cells, M attributions.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from faithbook.models.load import load_model
from faithbook.paths import root
from faithbook.show.page import write_whole
from faithbook.sources.images import Pictures, as_inputs, load_pictures
from faithbook.studies.naopc.edin import AnswerTable
from faithbook.studies.together.games import answers
from faithbook.studies.together.games.show import ERASED, PARTS, places_in_order
from faithlib.inputs import ImageInputs
from faithlib.names import MethodName
from faithlib.perturb import Perturber

MODEL, DATA = "local:vision/fashion-base-seed0", "fashion"
CELL = 7  # pixels across
PICTURES, CANDIDATES = 3, 60
SURE, EMPTY = 0.95, 0.05
METHODS: dict[MethodName, dict[str, Any]] = {
    "occlusion": {},
    "grad_cam": {},
    "integrated_gradients": {"n_steps": 16},
    "lime": {"n_samples": 200, "seed": 0},
    "shapley_sampling": {"n_samples": 25, "seed": 0},
}


def model_and_images() -> tuple[nn.Module, list[Pictures], ImageInputs]:
    """The model, and the images that are played with: of those that come first the first of each class whose class
    the model is sure of, and not of the empty image's; as many as there are games."""
    model, pictures = load_model(MODEL).model, load_pictures(DATA, "test", n=CANDIDATES)
    inputs = as_inputs(pictures, model, patch=CELL)
    score = Perturber(model, inputs, erase="mean")
    sure = (score.full > SURE) & (score.empty < EMPTY) & (score.predicted == torch.tensor(pictures.labels))
    first: dict[int, int] = {}
    for row in sure.nonzero()[:, 0].tolist():
        first.setdefault(pictures.labels[row], row)
    rows = list(first.values())[:PICTURES]
    return model, [pictures[row : row + 1] for row in rows], inputs[rows]


def arrays_of_images() -> dict[str, NDArray[Any]]:
    """The arrays of the file.

    `id`, `says` [P]; `grey` [P, 28, 28]; `p` [P, 2^N], by the number of the set that is gone; `lower`, `upper`,
    `chance` [P]; `worst`, `best` [P, N]; `method` [M]; `order` [P, M, N]; `aopc` [P, M].
    """
    model, pictures, inputs = model_and_images()
    score = Perturber(model, inputs, erase="mean")
    p = np.stack([(answer.numpy() * PARTS).round().astype(np.uint16) for answer in answers.every_answer(score)])
    table = AnswerTable(list(range(len(p))), [torch.tensor(answer / PARTS) for answer in p])
    game = answers.erasing(table, answers.attributed(METHODS, model, inputs, score, output="probability"))
    orders = {
        name: game.orders.pivot(index="item", columns="method", values=name)[list(METHODS)]
        for name in ("order", "aopc")
    }
    paths = {
        end: np.array([places_in_order(item) for item in game.items[end]], dtype=np.uint8) for end in ("worst", "best")
    }
    return {
        "id": np.array([picture.ids[0] for picture in pictures]),
        "says": np.array([pictures[0].label_names[label] for label in score.predicted.tolist()]),
        "grey": np.stack([np.asarray(picture.opened()[0].convert("L")) for picture in pictures]),
        "p": p,
        **{end: game.items[end].to_numpy() for end in ("lower", "upper", "chance")},
        **paths,
        "method": np.array(list(METHODS)),
        "order": np.array([list(map(places_in_order, line)) for line in orders["order"].to_numpy()], dtype=np.uint8),
        "aopc": orders["aopc"].to_numpy(),
    }


def main() -> None:
    """Write the file."""
    content = io.BytesIO()
    arrays: dict[str, Any] = arrays_of_images()
    np.savez_compressed(content, **arrays)
    write_whole(root() / ERASED, content.getvalue())
    print(f"{root() / ERASED}: {len(content.getvalue()):,} bytes")


if __name__ == "__main__":
    main()
