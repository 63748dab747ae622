"""How good and how bad can an order of removals be? Exact and beam bounds of AOPC, their certificates, and NAOPC.

AOPC of an order r of the N features is the mean drop p(x) - (1/N) sum_k p(x without the first k features of r), k = 1
to N (`metrics.aopc`). Its largest and smallest value over all N! orders are the bounds; NAOPC puts an attribution's
AOPC between them (Edin et al. 2025). An answer depends on the *set* removed and not on the order within it, so an order
is a path from the empty to the full set in the lattice of subsets. The best one is found by dynamic programming: 2^N
answers and N 2^N additions instead of N! orders.

Bounds belong to one model, one input, one way of erasing and one kind of output. They serve comprehensiveness (most
relevant first) and the same sum in ascending order, the paper's sufficiency (ERASER's: these sets at a few lengths).

=========  ===========================================================================================
module     what
=========  ===========================================================================================
`lattice`  the sets that have been visited, and the best paths through them: the two ends of the range
`exact`    up to some sixteen features: every set is answered; NAOPC between the ends
`beam`     beyond: a search of a given width, or of one that doubles until the ends stay
`chance`   what a random order gets, between the two ends
=========  ===========================================================================================
"""

from faithlib.bounds.beam import adaptive_bounds, beam_bounds, most_rows
from faithlib.bounds.chance import RandomOrders, random_order_aopc, random_order_copies
from faithlib.bounds.exact import all_sets, exact_bounds
from faithlib.bounds.lattice import Bounds
from faithlib.metrics.chance import naopc, naopc_faults

__all__ = [
    "Bounds",
    "RandomOrders",
    "adaptive_bounds",
    "all_sets",
    "beam_bounds",
    "exact_bounds",
    "most_rows",
    "naopc",
    "naopc_faults",
    "random_order_aopc",
    "random_order_copies",
]
