"""Where a map of a picture points: at the object whose class it explains, at another one, or at the ground.

Nobody has to ask a model for these, and agreement with what people cut out is plausibility, no faithfulness. Shape
letters: B pictures, F cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from faithlib.errors import InputError
from faithlib.masks import position_in_rank
from faithlib.metrics import auprc


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

    - `pointing`: 1 where the cell with the highest score is the object's, else 0 (the pointing game of Zhang et al.
      2018, "Top-down neural attention by excitation backprop"). In [0, 1], higher is better; the share of cells that
      are the object's by chance.
    - `astray`: 1 where that cell is one of the `other` object in the picture. Lower is better; the share of its cells
      by chance, 0 where there is no other.
    - `iou`: |P & G| / |P or G| of the object's cells G and as many with the highest scores P. In [0, 1], higher is
      better.
    - `auprc`: `faithlib.metrics.auprc`.

    Of equal scores the first cell is taken (`faithlib.masks.rank`). Raises InputError where a picture has no cell of
    its object or one cell is both objects', and what `auprc` raises.

    >>> own, other = torch.tensor([[True, True, False, False]]), torch.tensor([[False, False, True, False]])
    >>> found = where_it_points(torch.tensor([[0.5, 0.1, 0.9, 0.0]]), own, other)
    >>> [round(found[name].item(), 3) for name in ("pointing", "astray", "iou")]
    [0.0, 1.0, 0.333]
    """
    if not bool(own.any(dim=1).all()):
        raise InputError(
            f"picture {int((~own.any(dim=1)).nonzero()[0])} has no cell of its object: expected one or more"
        )
    if bool((own & other).any()):
        raise InputError("a cell is said to be of both objects: expected it in one of the masks")
    place = position_in_rank(scores)
    first, best = place == 0, place < own.sum(dim=1, keepdim=True)
    return {
        "pointing": (first & own).any(dim=1).double(),
        "astray": (first & other).any(dim=1).double(),
        "iou": (best & own).sum(dim=1) / (best | own).sum(dim=1).double(),
        "auprc": auprc(scores, own).double(),
    }
