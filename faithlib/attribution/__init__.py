"""Attributions: one score a feature, from one registry.

`attribute(name, model, inputs)` returns [B, F]; `methods()` lists the names. The modules behind it:

| module | methods |
| --- | --- |
| `gradient` | saliency, input_x_gradient, guided_backprop, integrated_gradients, activation |
| `deeplift` | deeplift |
| `attention` | attention, scaled_attention |
| `perturbation` | occlusion, lime, shapley_sampling |
| `floors` | random, uniform |
"""

from faithlib.attribution.registry import attribute, methods

__all__ = ["attribute", "methods"]
