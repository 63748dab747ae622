"""What the core costs beside the least it could: the rows of the work at the best known schedule on this device.

    python tests/benchmarks/core.py --out cpu.csv [--models minilm-l6 bert-base] [--inputs 64 256] [--growth 16 64 256]
    python tests/benchmarks/core.py --page docs/core-benchmark.md cpu.csv h100.csv

Models have drawn weights and texts are made up with SST-2's lengths (`drawn`), so that it runs anywhere without network
or data. `floor` is the time of the distinct rows of the work: their tokens, without padding, at the price of a token in
a large forward (on a processor in the best chunk), taken for several lengths; rows of gradient methods at that of a
large forward and backward. It knows nothing of how the work was cut into forwards, so no schedule can flatter itself.
`ratio`: seconds to the floor (aim: at most 1.1 on a processor; on an H100 1.5 for BERT-base, 2.5 for MiniLM-L6).

On a processor that others share, seconds are those that it spent (of all threads), and prices are taken between the
forwards of the work; on a GPU both are the clock's, and prices are taken before and after it. Without scikit-learn LIME
is left away.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import drawn
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from faithlib import RunSettings, evaluate
from faithlib._scheduler import Scheduler
from faithlib.backends import replica
from faithlib.bounds import beam_bounds, exact_bounds
from faithlib.evaluation import explain
from faithlib.inputs import ImageInputs, TextInputs
from faithlib.metrics.erasure import hard, soft
from faithlib.metrics.saco import grouped_five
from faithlib.perturb import Perturber

METHODS = ("input_x_gradient", "integrated_gradients", "saliency", "occlusion", "random")
EXPLAINING = ("input_x_gradient", "integrated_gradients", "saliency", "occlusion", "shapley_sampling", "lime")
GRADIENTS = 50 + 1  # rows per input: of integrated gradients, and the one that the two others share
HEADLINES = (
    "ns", "nc", "soft_ns", "soft_nc", "comprehensiveness_eraser", "sufficiency_eraser", "aopc_morf", "aopc_lerf",
    "saco", "log_odds",
)  # fmt: skip
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
# Lengths of rows and tokens of a forward that are priced; of a forward with its backward pass.
LENGTHS, SIZES, SIZES_BACK = (
    ((12, 24, 48), (1 << 14, 1 << 16), (1 << 13, 1 << 15)) if ON_GPU else ((12, 24, 48), (1024, 2048), (1024, 2048))
)

# The best of several prices is too low by their noise where each was taken once or twice.
FEWEST_PRICES = 5


def now() -> NDArray[np.float64]:
    """Seconds that are counted, and of the clock on the wall: on a GPU the same."""
    if ON_GPU:
        torch.cuda.synchronize()
    wall = time.perf_counter()
    return np.array([wall if ON_GPU else time.process_time(), wall])


class Prices:
    """Seconds of a token in the best of several large forwards, by the length of its row, with a backward pass or not.

    Inside `beside` they are taken: on a processor between the forwards of what runs there, on a GPU around it.
    """

    def __init__(
        self, model: nn.Module, batch: Callable[[int, int], dict[str, Tensor]], lengths: Sequence[int]
    ) -> None:
        self.model, self.plain = model, replica(model)
        keys = [(length, size, False) for length in lengths for size in SIZES]
        if "inputs_embeds" in batch(1, lengths[0]):
            keys += [(length, size, True) for length in lengths for size in SIZES_BACK]
        self.batches = {key: batch(max(1, key[1] // key[0]), key[0]) for key in keys}
        self.taken: dict[tuple[int, int, bool], list[float]] = {key: [] for key in keys}
        self.turn, self.busy, self.left_out = 0, False, np.zeros(2)
        self._all()  # warm
        for taken in self.taken.values():
            taken.clear()

    def _all(self) -> None:
        for _ in self.batches:
            self._next()

    def _next(self) -> None:
        key = list(self.batches)[self.turn % len(self.batches)]
        rows, given = len(next(iter(self.batches[key].values()))), dict(self.batches[key])
        self.turn, self.busy = self.turn + 1, True
        start = now()
        if key[2]:
            with torch.inference_mode(False), torch.enable_grad():
                given["inputs_embeds"] = given["inputs_embeds"].clone().requires_grad_()
                torch.autograd.grad(self.plain(**given).logits.sum(), given["inputs_embeds"])
        else:
            with torch.inference_mode():
                self.plain(**given)
        seconds = now() - start
        self.taken[key].append(float(seconds[0]) / (rows * key[0]))
        self.busy, self.left_out = False, self.left_out + seconds

    @contextmanager
    def beside(self, every: int = 6) -> Iterator[None]:
        self.left_out, forwards = np.zeros(2), Counter[str]()

        def after(*_: object) -> None:
            forwards["all"] += not self.busy
            if not self.busy and forwards["all"] % every == 0:
                self._next()

        if ON_GPU:
            self._all()
            yield
            self._all()
            return
        handles = [self.model.register_forward_hook(after)]
        yield
        for handle in handles:
            handle.remove()
        during = self.left_out
        while min(map(len, self.taken.values())) < FEWEST_PRICES:
            self._next()
        self.left_out = during  # what was priced after the work is no part of its time

    def of(self, lengths: Counter[int], *, backward: bool = False) -> float:
        """Seconds of rows of these lengths."""
        best: dict[int, float] = {}
        for (length, _, back), taken in self.taken.items():
            if back == backward and taken:
                best[length] = min(best.get(length, np.inf), float(np.median(taken)))
        at = sorted(best)
        return sum(n * size * float(np.interp(size, at, [best[a] for a in at])) for size, n in lengths.items())


@contextmanager
def noted(owner: Any, name: str, look: Callable[..., object]) -> Iterator[None]:
    """`look` is called with what each call of a method inside is given."""
    own = getattr(owner, name)

    def looked_at(*given: Any, **named: Any) -> Any:
        look(*given)
        return own(*given, **named)

    setattr(owner, name, looked_at)
    try:
        yield
    finally:
        setattr(owner, name, own)


def measured(
    about: dict[str, Any], prices: Prices, work: Callable[[], dict[str, float]], gradients: Counter[int] | None = None
) -> dict[str, Any]:
    """One row of the table. `work` returns its costs; `gradients`: lengths of the rows of gradient methods."""
    rows = Counter[int]()
    with noted(Scheduler, "_run", lambda _, one, which, *__: rows.update(one.lengths(which).tolist())), prices.beside():
        if ON_GPU:
            torch.cuda.reset_peak_memory_stats()
        start = now()
        spent = work()
        taken = now() - start
        peak = torch.cuda.max_memory_allocated() if ON_GPU else spent["peak_bytes"]
    if not ON_GPU:
        taken -= prices.left_out
    seconds, wall = taken.tolist()
    floor = prices.of(rows) + (prices.of(gradients, backward=True) if gradients else 0.0)
    in_model = spent["seconds_model"] - (0 if ON_GPU else prices.left_out[1])
    padding = 1 - sum(n * length for length, n in rows.items()) / spent["tokens"] if spent["tokens"] else None
    row = {
        **about,
        "seconds": round(seconds, 2),
        "floor": round(floor, 2),
        "ratio": round(seconds / floor, 2),
        "rows": sum(rows.values()),
        "forwards": spent["forwards"],
        "rows a forward": round(sum(rows.values()) / max(1, spent["forwards"])),
        "padding": None if padding is None else round(padding, 2),
        # Of a work with gradients, whose time is not told apart, it is not known.
        "outside the model": None if gradients else round(max(0.0, 1 - float(in_model) / wall), 2),
        "peak MB": round(peak / 1e6),
    }
    print({key: value for key, value in row.items() if value is not None}, flush=True)
    return row


def costs_of(*perturbers: Perturber) -> dict[str, float]:
    stats = [perturber.stats for perturber in perturbers]
    return {
        "forwards": sum(stat.forwards for stat in stats),
        "tokens": sum(stat.tokens_run for stat in stats),
        "seconds_model": sum(stat.seconds_model for stat in stats),
        "peak_bytes": max((stat.peak_bytes for stat in stats), default=0),
    }


def drawn_scores(inputs: TextInputs | ImageInputs, n: int) -> dict[str, Tensor]:
    """Attributions of `n` methods: what they cost does not depend on where scores come from."""
    generator = torch.Generator().manual_seed(0)
    return {
        f"method {i}": torch.randn(inputs.feature_mask.shape, generator=generator).to(inputs.feature_mask.device)
        for i in range(n)
    }


class OfTexts:
    """The works on texts with one model."""

    def __init__(self, shape: str) -> None:
        self.shape, self.model, self.tokenizer = shape, drawn.model(shape).to(DEVICE), drawn.tokenizer()
        size = self.model.config.hidden_size
        self.prices = Prices(
            self.model, lambda n, length: {"inputs_embeds": torch.randn(n, length, size, device=DEVICE)}, LENGTHS
        )
        evaluate(self.model, drawn.texts(4, seed=9), tokenizer=self.tokenizer, methods=METHODS)  # warm

    def inputs(self, n: int, of: list[int] | None = None) -> TextInputs:
        return TextInputs.from_texts(drawn.texts(n, of=of), self.tokenizer, unit="word").to(DEVICE)

    def _row(self, work: str, n: int, run: Callable[[], Any], gradients: Counter[int] | None = None) -> dict[str, Any]:
        def spent() -> dict[str, float]:
            seen: list[Perturber] = []
            with noted(Perturber, "__init__", lambda perturber, *_: seen.append(perturber)):
                run()
            return costs_of(*seen)

        return measured({"model": self.shape, "work": work, "inputs": n}, self.prices, spent, gradients)

    def explained(self, n: int, work: str, run: Callable[[TextInputs], Any]) -> dict[str, Any]:
        inputs = self.inputs(n)
        back = Counter({length: GRADIENTS * n for length, n in Counter(inputs.lengths.tolist()).items()})
        return self._row(work, n, lambda: run(inputs), back)

    def evaluation(self, n: int) -> dict[str, Any]:
        return self.explained(n, "evaluate", lambda inputs: evaluate(self.model, inputs, methods=METHODS))

    def explanations(self, n: int) -> dict[str, Any]:
        methods = EXPLAINING if find_spec("sklearn") else EXPLAINING[:-1]
        work = f"attributions of {len(methods)} methods"
        return self.explained(n, work, lambda inputs: explain(self.model, inputs, methods))

    def hard_and_soft(self, n: int, *, together: bool = True) -> dict[str, Any]:
        inputs = self.inputs(n)
        scores = drawn_scores(inputs, 6)

        def run() -> None:
            perturber = Perturber(self.model, inputs)
            for one in [scores.values()] if together else [[each] for each in scores.values()]:
                queued = [half.later(perturber, s) for s in one for half in (hard, soft)]
                for values in queued:
                    values()

        return self._row("hard and soft, six methods" + ("" if together else ", one by one"), n, run)

    def bounds(self) -> list[dict[str, Any]]:
        short, long = [7, 8, 8, 9, 9, 10, 10, 10], [12, 14, 16, 18, 20, 22, 24, 26]
        return [
            self._row(work, 8, lambda bounds=bounds, of=of: bounds(Perturber(self.model, self.inputs(8, of=of))))
            for work, bounds, of in (("exact bounds", exact_bounds, short), ("beam bounds", beam_bounds, long))
        ]

    def precision(self, n: int) -> pd.DataFrame:
        """Ten headline quantities of all inputs by precision, how far values are off, and how long all of it takes."""
        inputs = self.inputs(n)
        scores = explain(self.model, inputs, ["input_x_gradient", "occlusion", "random"])
        tables, seconds = {}, {}
        for name in ("float32", "TF32", "bfloat16"):
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name == "TF32"
            dtype = torch.bfloat16 if name == "bfloat16" else None
            for _ in range(2):  # the first one warms
                start = now()
                table = evaluate(self.model, inputs, methods=scores, metrics=HEADLINES, run=RunSettings(dtype=dtype))
                seconds[name] = float((now() - start)[0])
            tables[name] = table
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        rows = []
        for metric in HEADLINES:
            values = {name: table["value"][table["metric"] == metric] for name, table in tables.items()}
            row = {"model": self.shape, "median": metric} | {name: value.median() for name, value in values.items()}
            for name in ("TF32", "bfloat16"):
                row[f"{name} off by"] = (values[name] - values["float32"]).abs().median()
            rows.append(row)
        return pd.DataFrame([*rows, {"model": self.shape, "median": "seconds"} | seconds])


def saco_on_images() -> dict[str, Any]:
    from timm.models import VisionTransformer

    size, n = (224, 16) if ON_GPU else (96, 8)
    torch.manual_seed(0)
    model = VisionTransformer(img_size=size, patch_size=16, embed_dim=384, depth=12, num_heads=6, num_classes=10)
    model = model.eval().to(DEVICE)
    inputs = ImageInputs.from_pixels(torch.randn(n, 3, size, size), patch=16).to(DEVICE)
    tokens = (size // 16) ** 2 + 1
    prices = Prices(model, lambda rows, length: {"x": torch.randn(rows, 3, size, size, device=DEVICE)}, [tokens])
    scores = drawn_scores(inputs, 5)

    def run() -> dict[str, float]:
        perturber = Perturber(model, inputs)
        queued = [grouped_five.later(perturber, score, k=10) for score in scores.values()]
        for values in queued:
            values()
        return costs_of(perturber)

    return measured({"model": "ViT-S/16", "work": "SaCo of five methods, images", "inputs": n}, prices, run)


def page(csvs: Sequence[str]) -> str:
    """The tables of several devices, one below the other."""
    parts = ["# The core beside its floor\n", *(f"{said.strip()}\n" for said in (__doc__ or "").split("\n\n")[2:])]
    for path in csvs:
        table = pd.read_csv(path)
        for (where, kind), part in table.groupby(["where", "table"], sort=False):
            shown = part.dropna(axis=1, how="all").drop(columns=["where", "table"])
            table_of = shown.map(_cell).to_markdown(index=False, disable_numparse=True)
            parts += [f"## {where}: {kind}\n", table_of, ""]
    return "\n".join(parts)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.0f}" if value == round(value) and abs(value) > 1 else f"{value:.3g}"
    return str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csvs", nargs="*", help="of earlier runs, for --page")
    parser.add_argument("--page", help="write the tables of these runs as a page")
    parser.add_argument("--out", help="write the tables of this run as CSV, and as a page beside it")
    parser.add_argument("--models", nargs="+", choices=drawn.SHAPES, default=["bert-base", "minilm-l6"])
    parser.add_argument("--inputs", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--growth", type=int, nargs="+", default=[16, 64, 256, 1024] if ON_GPU else [16, 64])
    parser.add_argument("--threads", type=int, default=2, help="of a processor")
    parser.add_argument("--label", default="", help="said beside the device")
    options = parser.parse_args()
    if options.page:
        Path(options.page).write_text(page(options.csvs), encoding="utf-8")
        return
    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    name = torch.cuda.get_device_name() if ON_GPU else f"{platform.machine()} processor, {options.threads} threads"
    where = f"{name}, torch {torch.__version__}{options.label and ', '}{options.label}"
    tables: list[pd.DataFrame] = []

    def keep(rows: list[dict[str, Any]] | pd.DataFrame, kind: str) -> None:
        tables.append(pd.DataFrame(rows).assign(where=where, table=kind))
        if options.out:  # after each part, so that a run cut off leaves what it has
            pd.concat(tables).to_csv(options.out, index=False)
            Path(options.out).with_suffix(".md").write_text(page([options.out]), encoding="utf-8")

    for shape in options.models:
        of = OfTexts(shape)
        first = options.inputs[0]
        keep([of.evaluation(n) for n in options.inputs], "ratios")
        keep([of.hard_and_soft(first), of.hard_and_soft(first, together=False), of.explanations(first)], "ratios")
        keep(of.bounds(), "ratios")
        keep([of.hard_and_soft(n) for n in options.growth], "growth")
        if ON_GPU:
            table = of.precision(first)
            print(table.to_string())
            keep(table, "precision")
        del of
    keep([saco_on_images()], "ratios")


if __name__ == "__main__":
    main()
