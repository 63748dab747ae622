"""Attributions: one score a feature, from one registry.

`attribute(name, model, inputs)` returns [B, F]; `methods("text")` and `methods("image")` list the names. The modules
behind it:

| module | methods for texts |
| --- | --- |
| `gradient` | saliency, input_x_gradient, guided_backprop, integrated_gradients, activation |
| `deeplift` | deeplift |
| `attention` | attention, scaled_attention |
| `perturbation` | occlusion, lime, shapley_sampling |
| `floors` | random, uniform |

| module | methods for images |
| --- | --- |
| `vit` | integrated_gradients, grad_cam, raw_attention, rollout, transformer_mm, attcat |
| `vit`, `relevance` | lrp, partial_lrp, transformer_attribution, conservative_lrp |
| `floors` | random, uniform |

`vision` holds what the image methods share.
"""

from faithlib.attribution.registry import attribute, methods

__all__ = ["attribute", "methods"]
