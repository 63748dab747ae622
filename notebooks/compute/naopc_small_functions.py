# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: every order of removals of a few functions of four words
#
# `naopc_toy` explains AOPC and NAOPC with these functions: their answers to all sixteen sets of words that can
# be left, both bounds by dynamic programming, and AOPC and NAOPC of all 24 orders. The page has the bounds by
# formula and stops if the two differ.

# %% tags=["parameters"]
profile = "laptop"

# %%
from itertools import permutations, product

import numpy as np
import pandas as pd
import torch

from faithbook.engine.computed import beside_book
from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.studies.naopc.edin import aopc
from faithlib.bounds import exact_bounds, naopc
from faithlib.perturb import SetFunction

run = start_run("naopc_small_functions", profile=profile)
N = 4
ORDERS = [np.array(order) for order in permutations(range(N))]
SETS = torch.tensor(list(product((False, True), repeat=N)))  # True: the word is left


# %% [markdown]
# ## The functions
#
# Each takes which words are left, bool [R, 4], and gives one answer per row.


# %%
def linear(weights, full=0.9):
    """A straight line that answers `full` to the whole text."""
    w = torch.tensor(weights, dtype=torch.float64)
    return lambda keep: full - w.sum() + keep.double() @ w


def gate(joined, m=2, height=0.8, base=0.1):
    """High as long as any, or all, of the first m words are left."""
    return lambda keep: base + height * joined(keep[:, :m], dim=1).double()


def negation(keep, phi=0.2, beta=0.2, gamma=0.4, c=0.5):
    """not, bad, fun, really: *fun* adds, *bad* takes off unless *not* stands before it."""
    no, bad, fun, _ = keep.double().T
    return c + phi * fun + bad * (no * beta - (1 - no) * gamma)


steep = linear([0.5, 0.2, 0.1, 0.0])
FUNCTIONS = {
    "steep line": steep,
    "flat line": linear([0.2, 0.1, 0.05, 0.0]),
    "OR": gate(torch.any),
    "AND": gate(torch.all),
    "negation": negation,
    "steep line, halved and raised": lambda keep: 0.3 + steep(keep) / 2,
    "OR of all words": gate(torch.any, m=N),
}

# %% [markdown]
# ## Answers, bounds, orders
#
# With $r$ an order in which the $N$ words are removed, and *lower* and *upper* the smallest and the largest AOPC of all orders,
#
# $$\text{AOPC}(r) = \frac1N \sum_{k=1}^{N} \bigl[ p(x) - p(x \text{ without the first } k \text{ of } r) \bigr], \qquad
# \text{NAOPC}(r) = \frac{\text{AOPC}(r) - \text{lower}}{\text{upper} - \text{lower}}.$$
#
# Words are numbered from 0; a set is written with 1 for a word that is left.


# %%
def written(order):
    """An order of words as text."""
    return " ".join(map(str, np.asarray(order).tolist()))


answers, bounds, orders = [], [], []
for name, function in FUNCTIONS.items():
    score = SetFunction(function, N)

    to_sets = score.keep(SETS[None])[0].tolist()
    for left, answer in zip(SETS.tolist(), to_sets, strict=True):
        words_left = "".join(str(int(is_left)) for is_left in left)
        answers.append({"function": name, "left": words_left, "answer": answer})

    exact = exact_bounds(score)
    bound = {"function": name, "full": score.full.item(), "empty": score.empty.item()}
    bound |= {"lower": exact.lower.item(), "upper": exact.upper.item()}
    bound |= {"lower_order": written(exact.lower_order[0]), "upper_order": written(exact.upper_order[0])}
    bounds.append(bound)

    plain = torch.tensor([aopc(score, order) for order in ORDERS], dtype=torch.float64)
    scaled = naopc(plain, exact.lower, exact.upper)
    for order, of_order, normalised in zip(ORDERS, plain.tolist(), scaled.tolist(), strict=True):
        orders.append({"function": name, "order": written(order), "aopc": of_order, "naopc": normalised})
run.save(pd.DataFrame(answers), "naopc_small_answers")
run.save(pd.DataFrame(bounds), "naopc_small_bounds")
run.save(pd.DataFrame(orders), "naopc_small_orders")
run.save_units(as_units(pd.DataFrame(orders), seed=0, metrics=["aopc", "naopc"], keys=["function"], name="order"))

# %%
run.note(n=len(ORDERS), dtype="float64", device="cpu")
run.finish()

# %% [markdown]
# ## What was computed
#
# AOPC and NAOPC of each function, means over all 24 orders: *n* counts orders, and as there are no others an interval says how far
# they lie apart and nothing about chance. Functions and words are in the cells above:
# whoever changes one sees what it does to both. *Book*: the full run's mean.

# %%
beside_book(run, by=["metric", "function"])
