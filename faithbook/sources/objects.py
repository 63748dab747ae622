"""Where a map of a picture points: at the object whose class it explains, at another one, or at the ground.

Nobody has to ask a model for these, and agreement with what people cut out is plausibility, no faithfulness. Shape
letters: B pictures, F cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from faithlib.errors import InputError
from faithlib.metrics import auprc, iou, pointing_game


def mask_of(cells: Sequence[Sequence[int]], n_cells: int) -> Tensor:
    """Cells as a mask, bool [B, F].

    >>> mask_of([(0, 2), ()], 3).tolist()
    [[True, False, True], [False, False, False]]
    """
    mask = torch.zeros(len(cells), n_cells, dtype=torch.bool)
    for row, own in enumerate(cells):
        mask[row, list(own)] = True
    return mask


def where_it_points(scores: Tensor, own: Tensor, other: Tensor) -> dict[str, Tensor]:
    """Values [B] of maps [B, F]: how well they lie on the object of the explained class, whose cells are `own`.

    - `pointing_game`, `iou`, `auprc`: as in `faithlib.metrics`, with the object's cells as what people marked.
    - `astray`: 1 where the cell with the highest score is one of the `other` object in the picture. Lower is better;
      the share of its cells by chance, 0 where there is no other.

    Raises InputError where a picture has no cell of its object or one cell is both objects', and what `auprc` raises.

    >>> own, other = torch.tensor([[True, True, False, False]]), torch.tensor([[False, False, True, False]])
    >>> found = where_it_points(torch.tensor([[0.5, 0.1, 0.9, 0.0]]), own, other)
    >>> [round(found[name].item(), 3) for name in ("pointing_game", "astray", "iou")]
    [0.0, 1.0, 0.333]
    """
    if not bool(own.any(dim=1).all()):
        raise InputError(
            f"picture {int((~own.any(dim=1)).nonzero()[0])} has no cell of its object: expected one or more"
        )
    if bool((own & other).any()):
        raise InputError("a cell is said to be of both objects: expected it in one of the masks")
    found = {
        "pointing_game": pointing_game(scores, own),
        "astray": pointing_game(scores, other).nan_to_num(),
        "iou": iou(scores, own),
        "auprc": auprc(scores, own),
    }
    return {name: value.double() for name, value in found.items()}
