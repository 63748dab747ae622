"""faithlib: measures of the faithfulness of feature attributions.

The library behind the book. `Perturber` answers what a model says about inputs with parts erased, `masks` turns
attribution scores into erasures, `metrics` are pure functions over the answers, `attribute` explains a prediction.
Import from the modules:

    from faithlib.attribution import attribute
    from faithlib.inputs import TextInputs
    from faithlib.perturb import Perturber
"""

__version__ = "0.1.0"
