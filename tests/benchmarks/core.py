"""What the perturbation core costs beyond the model's own forward passes.

    .venv/bin/python tests/benchmarks/core.py [--tokens 24 64 256] [--inputs 8] [--model bert-base] [--out table.csv]

For hard NS/NC at the paper's five lengths and Soft-NS/NC with one draw, six attributions an input, on real MiniLM, or
(`--model bert-base`) on a BERT-base whose weights are drawn, for the same tokens:
- `floor`: distinct rows x the time one row takes in the best of several batch sizes, measured between the forwards of
  the core itself (`timing.Beside`), for a shared machine is not equally fast all the time;
- `ratio`: the core's wall time, all `--repeats` of it, to that floor (aim: at most 1.10);
- `asked`, `run`: rows that the metrics asked for and rows that the model saw;
- `naive`: the core's time to a loop that runs every row asked, one at a time;
- `peak`: bytes of the tensors alive in one chunk (on a GPU: allocated), and the growth of the process;
- the slope: all of it again with 1, 4 and 16 times the inputs. A GPU is only busy with many: `--growth 16 64 256`.

One thread, unless told otherwise: with all of them, what else runs on the machine decides the ratio. Growth 1 is about
400 tokens of text (16, 6 and 2 inputs). Smaller runs (`--inputs 2`) last a second, and there the ratio is larger: each
of the few forwards holds a handful of rows, and rows are slower in small batches.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence

import pandas as pd
import torch
from timing import Beside
from torch import Tensor, nn
from transformers import BertConfig, BertForSequenceClassification

from faithbook.models.load import load_model
from faithlib.evaluation import hard_scores, soft_scores
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, Stats

TOKENS_AT_GROWTH_1 = 400
BATCH_SIZES = {
    "cpu": {24: (16, 32, 64, 96), 64: (8, 16, 32), 256: (2, 4, 8)},
    "cuda": {24: (512, 2048, 4096), 64: (256, 1024, 2048), 256: (64, 256, 512)},
}
METHODS = 6


def texts_of(tokens: int, n: int, tokenizer: object) -> TextInputs:
    """`n` different inputs of exactly `tokens` tokens, so that the floor has one price a row."""
    words = "the film was a long and quiet story about people who never said what they meant until it was late".split()
    # The number first, where no text is cut: what follows repeats.
    texts = [f"{i} " + " ".join(words[(i + 7 * j * j + j) % len(words)] for j in range(tokens)) for i in range(n)]
    inputs = TextInputs.from_texts(texts, tokenizer, max_length=tokens)
    assert inputs.input_ids.shape[1] == tokens
    assert inputs.attention_mask.all()
    return inputs


def attributions(inputs: TextInputs) -> list[Tensor]:
    """Six score vectors an input. The core's cost does not depend on where scores come from."""
    generator = torch.Generator().manual_seed(0)
    drawn = [torch.randn(inputs.feature_mask.shape, generator=generator) for _ in range(METHODS)]
    return [scores.to(inputs.feature_mask.device) for scores in drawn]


def seconds_a_row(model: nn.Module, tokens: int, sizes: Sequence[int]) -> float:
    """The time of one row in the best batch: minimum over sizes of the median of five forwards."""
    device = next(model.parameters()).device
    best = float("inf")
    for size in sizes:
        ids = torch.randint(1000, 20000, (size, tokens), device=device)
        times = []
        with torch.inference_mode():
            for _ in range(6):
                start = time.perf_counter()
                model(input_ids=ids)
                if device.type == "cuda":
                    torch.cuda.synchronize()
                times.append(time.perf_counter() - start)
        best = min(best, sorted(times[1:])[2] / size)
    return best


def plain_text(tokens: int, device: str | torch.device) -> Callable[[int], dict[str, Tensor]]:
    """A batch of a plain forward."""
    return lambda size: {"input_ids": torch.randint(1000, 20000, (size, tokens), device=device)}


def core(model: nn.Module, inputs: TextInputs, scores: list[Tensor]) -> Stats:
    """All four metrics of one attribution after the other: what they have cost."""
    perturber = Perturber(model, inputs)
    for score in scores:
        hard_scores(perturber, score)
        soft_scores(perturber, score)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return perturber.stats


def naive_seconds_a_row(model: nn.Module, inputs: TextInputs, rows: int = 24) -> float:
    """One row at a time, as a simple loop would run it."""
    with torch.inference_mode():
        start = time.perf_counter()
        for r in range(rows):
            model(input_ids=inputs.input_ids[r % len(inputs)][None].to(next(model.parameters()).device))
        return (time.perf_counter() - start) / rows


def bert_base() -> nn.Module:
    """A classifier of the papers' size: its rows take as long whatever the weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return BertForSequenceClassification(BertConfig()).eval()


def measure(model: nn.Module, tokenizer: object, tokens: int, n: int, repeats: int) -> dict[str, object]:
    device = next(model.parameters()).device
    inputs = texts_of(tokens, n, tokenizer).to(device)
    scores = attributions(inputs)
    plain = plain_text(tokens, device)
    core(model, inputs[:1], [scores[0][:1]])  # warm up
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Beside(model, plain, BATCH_SIZES[device.type][tokens]) as beside:
        runs = [core(model, inputs, scores) for _ in range(repeats)]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    stats, seconds = runs[0], beside.seconds / repeats
    floor = stats.rows_run * beside.seconds_a_row()
    return {
        "tokens": tokens,
        "inputs": n,
        "asked": stats.rows_asked,
        "run": stats.rows_run,
        "seconds": round(seconds, 2),
        "floor": round(floor, 2),
        "ratio": round(seconds / floor, 3),
        "outside the model": round(beside.outside(sum(run.seconds_model for run in runs)), 3),
        "naive / core": round(naive_seconds_a_row(model, inputs) * stats.rows_asked / seconds, 2),
        "peak MB": round(stats.peak_bytes / 1e6, 1),
        "process grew MB": round(grown / 1e3, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[24, 64, 256])
    parser.add_argument("--inputs", type=int, help="inputs at growth 1 (default: 400 tokens in all)")
    parser.add_argument("--growth", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--model", choices=("minilm", "bert-base"), default="minilm")
    parser.add_argument("--repeats", type=int, default=3, help="of all of it")
    parser.add_argument("--threads", type=int, default=1, help="of a processor; 0: as many as torch takes")
    parser.add_argument("--out", help="write the table as CSV")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    classifier = load_model("local:text/movie-seed0")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = (classifier.model if options.model == "minilm" else bert_base()).to(device)
    rows = []
    for tokens in options.tokens:
        inputs = options.inputs or max(2, TOKENS_AT_GROWTH_1 // tokens)
        for growth in options.growth:
            rows.append(measure(model, classifier.tokenizer, tokens, inputs * growth, options.repeats))
            print(pd.DataFrame(rows[-1:]).to_string(index=False, header=len(rows) == 1), flush=True)
    if options.out:
        pd.DataFrame(rows).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
