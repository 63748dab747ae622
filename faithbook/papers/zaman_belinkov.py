"""The tables of Zaman & Belinkov (2022): the order of their rows, their two outputs, and their languages."""

from __future__ import annotations

from itertools import product

# The rows (method, aggregation) of their tables in order.
AGGREGATED = ("input_x_gradient", "saliency", "guided_backprop", "integrated_gradients", "activation")
ERASING = ("lime", "occlusion", "shapley_sampling")
THIRTEEN = (*product(AGGREGATED, ("mean", "l2")), *product(ERASING, ("none",)))
OUTPUT_NAMES = {"top_prediction": "TP", "loss": "loss"}
# The languages beside English that they average over.
PAPER_LANGUAGES = ("bg", "de", "es", "fr")
# Tables of a single language, by number: the four above, and the three that their models read worst.
LANGUAGE_TABLES = {11: "bg", 12: "de", 13: "es", 14: "fr", 15: "th", 16: "sw", 17: "ur"}
