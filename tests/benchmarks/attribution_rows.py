"""What thirteen attribution rows for two outputs cost beyond the model's own passes.

    .venv/bin/python tests/benchmarks/attribution_rows.py [--inputs 8] [--growth 1 4] [--clock cpu] [--alone]

The rows are those of Zaman & Belinkov 2022 (50 LIME samples, 25 orders, 50 steps, [PAD] for what is erased), the texts
sentences of 8 to 40 words, which are the features, the model a real MiniLM classifier:
- `floor`: the rows that the model has to see, each at its text's own length, x the price of a row of that length in the
  best of several batch sizes, forward or forward and backward; prices are taken before and after;
- `ratio`: the least of `--repeats` times of `attribute_rows` over that floor (aim: at most 1.10);
- `asked`, `run`: forward and backward rows per input that the rows of the table ask for and that the model saw;
- `alone / together` (with --alone): the time of one call of `attribute` for each of the 26 rows to ours;
- `ms an input` with 1 and 4 times the inputs: the slope;
- then rows and seconds of each method.

`--clock cpu` counts the seconds of this process alone, for a machine that others use at the same time; the seconds of
the methods are wall time all the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from timing import CLOCKS, Clock, least_seconds
from torch import Tensor, nn

from faithbook.models.load import load_model
from faithlib.attribution import Cost, Row, attribute, attribute_rows
from faithlib.attribution.target import undisturbed
from faithlib.backends import TextBackend
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber
from faithlib.perturbations import Perturbation, Rows

STEPS = 50
OPTIONS = {
    "lime": {"n_samples": 50, "erase": "pad"},
    "occlusion": {"erase": "pad"},
    "shapley_sampling": {"n_samples": 25, "erase": "pad"},
    "integrated_gradients": {"n_steps": STEPS, "baseline": "pad"},
}
ELEMENTS = ("input_x_gradient", "saliency", "guided_backprop", "integrated_gradients", "activation")
ROWS = [
    Row(method, aggregation, output, target, options=OPTIONS.get(method, {}))
    for output, target in (("logit", "predicted"), ("loss", "gold"))
    for method in (*ELEMENTS, "lime", "occlusion", "shapley_sampling")
    for aggregation in (("mean", "l2") if method in ELEMENTS else (None,))
]
# Prices in between are interpolated; no text is shorter or longer.
PRICED = (8, 24, 40, 64)


def sentences(n: int, tokenizer: object) -> TextInputs:
    """`n` different sentences of 8 to 40 words, a few of which fall into pieces."""
    words = "the film was a long and quiet story about people who never unspooled what they mumblingly meant until late"
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(words.split(), generator.integers(8, 41))) + f" {i}" for i in range(n)]
    return TextInputs.from_texts(texts, tokenizer, unit="word", max_length=PRICED[-1])


def together(model: nn.Module, inputs: TextInputs) -> Iterator[dict[str, Cost]]:
    costs = attribute_rows(ROWS, model, inputs, targets={"gold": gold(inputs)})[1]
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    yield costs


def gold(inputs: TextInputs) -> Tensor:
    return torch.arange(len(inputs)) % 2


def alone(model: nn.Module, inputs: TextInputs) -> None:
    for row in ROWS:
        target = "predicted" if row.target == "predicted" else gold(inputs)
        attribute(
            row.method, model, inputs, target=target, output=row.output, aggregation=row.aggregation, **row.options
        )


@contextmanager
def lengths_of_erased() -> Iterator[list[NDArray[np.int64]]]:
    """The lengths of all rows that perturbers run inside."""
    own, seen = Perturber._run, []

    def noted(self: Perturber, perturbation: Perturbation, rows: Rows, slots: NDArray[np.int64]) -> None:
        seen.append(perturbation.lengths(rows))
        own(self, perturbation, rows, slots)

    Perturber._run = noted  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        Perturber._run = own  # type: ignore[method-assign]


def prices(model: nn.Module, clock: Clock) -> NDArray[np.float64]:
    """Seconds a row of each length of `PRICED`, forward alone and forward with backward: [2, lengths]."""
    with undisturbed(model) as model:
        return np.array([[price(model, length, backward, clock) for length in PRICED] for backward in (False, True)])


def price(model: nn.Module, length: int, backward: bool, clock: Clock) -> float:
    """The time of one row in the best batch: minimum over sizes of the median of three."""
    device = next(model.parameters()).device
    best = float("inf")
    for size in (1024 // length, 2048 // length):
        ids = torch.randint(1000, 20000, (size, length), device=device)
        inputs = TextInputs(
            ids, torch.ones_like(ids).bool(), torch.zeros_like(ids), torch.ones(size).long(), torch.zeros(size), 0
        )
        run = forward_backward if backward else forward
        times = []
        for _ in range(4):
            start = clock()
            run(TextBackend(model, inputs))
            if device.type == "cuda":
                torch.cuda.synchronize()
            times.append(clock() - start)
        best = min(best, sorted(times[1:])[1] / size)
    return best


def forward(backend: TextBackend) -> None:
    with torch.inference_mode():
        backend.logits(backend.embeddings())


def forward_backward(backend: TextBackend) -> None:
    embeddings = backend.embeddings().requires_grad_()
    torch.autograd.grad(backend.logits(embeddings)[:, 0].sum(), embeddings)


def floor(inputs: TextInputs, erased: Sequence[NDArray[np.int64]], paid: NDArray[np.float64]) -> float:
    """Seconds of the distinct rows at their own lengths: every erased copy once; of each input a forward with two
    backward passes, plain and guided; and its steps for each output."""
    once, both = (lambda lengths, p=p: float(np.interp(lengths, PRICED, p).sum()) for p in paid)
    own = inputs.lengths.cpu().numpy()
    return once(np.concatenate(erased)) + 2 * (2 * both(own) - once(own)) + 2 * STEPS * both(own)


def measure(
    model: nn.Module, tokenizer: object, n: int, clock: Clock, with_alone: bool, repeats: int
) -> dict[str, Cost]:
    inputs = sentences(n, tokenizer)
    list(together(model, inputs[:1]))  # warm up
    before = prices(model, clock)
    with lengths_of_erased() as erased:
        (costs,) = together(model, inputs)
    wall = time.perf_counter()
    seconds = least_seconds(partial(together, model, inputs), repeats=repeats, clock=clock)
    wall = (time.perf_counter() - wall) / repeats
    least = floor(inputs, erased, np.minimum(before, prices(model, clock)))
    total = sum(costs.values(), Cost())
    line = {
        "inputs": n,
        "tokens": round(float(inputs.lengths.float().mean()), 1),
        "asked": round((total.rows_asked + total.backward_asked) / n),
        "run": round((total.rows_run + total.backward_run) / n),
        "seconds": round(seconds, 2),
        "floor": round(least, 2),
        "ratio": round(seconds / least, 3),
        "ms an input": round(1000 * seconds / n),
        "wall": round(wall, 2),
    }
    if with_alone:
        start = clock()
        alone(model, inputs)
        line["alone / together"] = round((clock() - start) / seconds, 2)
    print(pd.DataFrame([line]).to_string(index=False), flush=True)
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=8, help="inputs at growth 1")
    parser.add_argument("--growth", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--repeats", type=int, default=3, help="of all of it, of which the least time counts")
    parser.add_argument("--alone", action="store_true", help="also run every row by itself, at growth 1")
    parser.add_argument("--model", default="local:text/movie-seed0")
    parser.add_argument("--out", help="write rows and seconds of each method as CSV")
    options = parser.parse_args()
    classifier = load_model(options.model)
    model = classifier.model.to("cuda" if torch.cuda.is_available() else "cpu")
    costs: dict[str, Cost] = {}
    for growth in options.growth:
        with_alone, clock = options.alone and growth == min(options.growth), CLOCKS[options.clock]
        costs = measure(model, classifier.tokenizer, options.inputs * growth, clock, with_alone, options.repeats)
    methods = pd.DataFrame({name: asdict(cost) for name, cost in costs.items()}).T
    print(methods.astype({name: int for name in methods if name != "seconds"}).round(2).to_string())
    if options.out:
        methods.to_csv(options.out)


if __name__ == "__main__":
    main()
