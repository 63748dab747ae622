"""Attributions: one score per feature, from one registry.

`attribute(name, model, inputs)` returns [B, F]; `methods("text")` and `methods("image")` list the names.
`attribute_rows(rows, model, inputs)` computes many rows of a table of texts at once and says what they cost. The
modules behind them:

==============  =============================================================================
module          methods for texts
==============  =============================================================================
`gradient`      saliency, input_x_gradient, guided_backprop, integrated_gradients, activation
`deeplift`      deeplift
`attention`     attention, scaled_attention, rollout
`perturbation`  occlusion, lime, shapley_sampling, random, uniform
==============  =============================================================================

==================  ==============================================================================
module              methods for images
==================  ==============================================================================
`vit`               integrated_gradients, grad_cam, raw_attention, rollout, transformer_mm, attcat
`vit`, `relevance`  lrp, partial_lrp, transformer_attribution, conservative_lrp
`perturbation`      occlusion, lime, shapley_sampling, random, uniform
==================  ==============================================================================

`target` and `texts` hold what the text methods share, `vision` what the image methods do; `dispatch` runs the table,
`costs` its accounts, `specification` what is said of a method; `own` makes a method of a function of yours; `imported`
reads what other tools explain.
"""

from faithlib.attribution.costs import Cost
from faithlib.attribution.dispatch import attribute, attribute_rows
from faithlib.attribution.own import InsideMethod, method
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.attribution.registry import Row, methods

__all__ = ["Cost", "ErasingMethod", "InsideMethod", "Row", "attribute", "attribute_rows", "method", "methods"]
