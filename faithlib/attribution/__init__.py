"""Attributions: one score per feature, from one registry.

`attribute(name, model, inputs)` returns [B, F]; `methods("text")` and `methods("image")` list the names.
`attribute_rows(rows, model, inputs)` computes many rows of a table of texts at once and says what they cost. The
modules behind them:

==============  =============================================================================
module          methods for texts
==============  =============================================================================
`_gradient`     saliency, input_x_gradient, guided_backprop, integrated_gradients, activation
`_deeplift`     deeplift
`_attention`    attention, scaled_attention, rollout
`perturbation`  occlusion, lime, shapley_sampling, random, uniform
==============  =============================================================================

====================  ==============================================================================
module                methods for images
====================  ==============================================================================
`_vit`                integrated_gradients, grad_cam, raw_attention, rollout, transformer_mm, attcat
`_vit`, `_relevance`  lrp, partial_lrp, transformer_attribution, conservative_lrp
`perturbation`        occlusion, lime, shapley_sampling, random, uniform
====================  ==============================================================================

`_target` and `_texts` hold what the text methods share, `_vision` what the image methods do; `dispatch` runs the table,
`costs` its accounts, `_specification` what is said of a method; `own` makes a method of a function of yours; `imported`
reads what other tools explain. Modules with an underscore are private: what they hold is asked for by its name.
"""

from faithlib.attribution.costs import Cost
from faithlib.attribution.dispatch import attribute, attribute_rows
from faithlib.attribution.own import InsideMethod, method
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.attribution.registry import Row, methods

__all__ = ["Cost", "ErasingMethod", "InsideMethod", "Row", "attribute", "attribute_rows", "method", "methods"]
