"""The tables of Zaman & Belinkov (2022): the order of their rows, their two outputs, and their languages."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

# What is printed as guided backprop is the plain gradient, since their models have no ReLU module whose gradient could
# be replaced (E3): with L2 it is saliency to the last printed digit. So the plain gradient of ours is theirs, and what
# follows the method's own paper is `MODIFIED`, which has no printed value.
PRINTED_AS = {"guided_backprop": "guided_backprop_released"}
PLAIN, MODIFIED = PRINTED_AS["guided_backprop"], "guided_backprop"
# The rows (method, aggregation) of their tables in order.
AGGREGATED = ("input_x_gradient", "saliency", PLAIN, "integrated_gradients", "activation")
ERASING = ("lime", "occlusion", "shapley_sampling")
# Of these the two that the paper calls perturbation methods (Sections 2.2 and 3.2.1): LIME is not among them.
PERTURBING = ("occlusion", "shapley_sampling")
THIRTEEN = (*product(AGGREGATED, ("mean", "l2")), *product(ERASING, ("none",)))
OUTPUT_NAMES = {"top_prediction": "TP", "loss": "loss"}
# The languages beside English that they average over.
PAPER_LANGUAGES = ("bg", "de", "es", "fr")
# Data sets with marks that people made, the firmest first: the paper's own, marks of phrases, of whole sentences.
MARKED = ("esnli", "reviews", "pair")
CHANCE = {"messages": 1 / 5}  # of types of message; every other data set of theirs and ours has three relations
# Tables of a single language, by number: the four above, and the three that their models read worst.
LANGUAGE_TABLES = {11: "bg", 12: "de", 13: "es", 14: "fr", 15: "th", 16: "sw", 17: "ur"}


def firmest_marks(datasets: Iterable[str]) -> str:
    """Of data sets with marks the one whose marks say most.

    >>> firmest_marks(["pair", "reviews"])
    'reviews'
    """
    return min(datasets, key=MARKED.index)


def chance(datasets: Iterable[str]) -> float:
    """The accuracy of guessing, on these data sets with equally frequent classes: the highest of them.

    >>> chance(["messages"]), round(chance(["nli"]), 3)
    (0.2, 0.333)
    """
    return max(CHANCE.get(name, 1 / 3) for name in datasets)
