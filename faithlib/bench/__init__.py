"""A bench for metrics and methods: hand-built models whose true explanation is known, plain and under attack.

    from faithlib.bench import bench
    print(bench(metrics=["aopc_morf", "soft_nc", my_metric]).summary())

Three small models use what they are built to use: one adds up its words, one looks for either of two words, one needs
both. A good metric separates the truth from random scores (*separates*), scores explanations higher the truer they are
(*tracks*), and does both under attack. A good method finds the truth (*finds*). Nothing is downloaded or trained.

=========  =====================================================================
module     what is there
=========  =====================================================================
`models`   the models, their inputs, and the truth
`attacks`  what is tried beside random scores and the plain models
`judging`  `bench` and its table; `faults_of`, a check of a metric of your own
=========  =====================================================================
"""

from faithlib.bench.attacks import ATTACKS, Attack, random_scores
from faithlib.bench.judging import LADDER, MEASURED_FROM_CHANCE, Bench, bench, faults_of
from faithlib.bench.models import COPIES, SHARPNESS, WORDS, Case, WordModel, cases

__all__ = [
    "ATTACKS",
    "COPIES",
    "LADDER",
    "MEASURED_FROM_CHANCE",
    "SHARPNESS",
    "WORDS",
    "Attack",
    "Bench",
    "Case",
    "WordModel",
    "bench",
    "cases",
    "faults_of",
    "random_scores",
]
