"""What rows of a decoder cost that share their beginning, beside the same rows run whole.

    .venv/bin/python tests/benchmarks/prefix.py [--layers 30] [--rows 32] [--threads 2] [--clock wall]

A model of SmolLM2-135M's shape with random weights is asked by prompt: four shots of 68 tokens, then a review of 27
with the words after it. For each way to erase: milliseconds per row with the keys and values of the beginning kept and
without, their ratio, the share of tokens that is not run again, and the largest difference of a logit. The rows are
- `prompt`: random subsets of one review's words, which share the prompt and hardly more (goal: 3 times faster);
- `occlusion`: one word erased at a time, of several reviews: these also share the words before it.

On a machine with other work, `--clock cpu --threads 1`: seconds of the process, the least of `--repeats`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import pandas as pd
import torch
from timing import CLOCKS, Clock
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from faithlib.backends import PromptClassifier
from faithlib.backends.families import family_of
from faithlib.inputs import TextInputs
from faithlib.memory import waited
from faithlib.perturb import TEXT_ERASURES, Perturber

SHOTS, REVIEW, AFTER = 68, 27, 4


def asked_by_prompt(layers: int) -> PromptClassifier:
    """SmolLM2-135M's shape, with random weights."""
    config = LlamaConfig(
        hidden_size=576, num_hidden_layers=layers, num_attention_heads=9, num_key_value_heads=3, intermediate_size=1536,
        vocab_size=49152, tie_word_embeddings=True, pad_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = LlamaForCausalLM(config).eval().to("cuda" if torch.cuda.is_available() else "cpu")
    return PromptClassifier(model, lambda text, **_: {"input_ids": list(text.encode())}, "{text} Good? ", ["y", "n"])


def reviews(n: int) -> TextInputs:
    """The shots, then a review of each input's own; every token of it except the words after it is a feature."""
    generator = torch.Generator().manual_seed(0)
    shots, after = (torch.randint(9, 49152, (1, size), generator=generator).expand(n, -1) for size in (SHOTS, AFTER))
    words = REVIEW - AFTER
    ids = torch.cat([shots, torch.randint(9, 49152, (n, words), generator=generator), after], dim=1)
    feature_of = torch.full_like(ids, -1)
    feature_of[:, SHOTS : SHOTS + words] = torch.arange(words)
    every = torch.ones_like(ids, dtype=torch.bool)
    return TextInputs(ids, every, feature_of, torch.full((n,), words), torch.zeros(n).bool(), pad_id=0, mask_id=1)


def seconds_a_row(
    model: PromptClassifier, inputs: TextInputs, erase: str, keep: Tensor, clock: Clock
) -> tuple[float, Perturber]:
    """Of rows that are new, after two others."""
    perturber = Perturber(model, inputs, erase=erase)
    perturber.logits(~keep[:, :2])  # warm: the beginnings, the memory of a token
    waited(perturber.device)
    run, start = perturber.stats.rows_run, clock()
    perturber.logits(keep)
    waited(perturber.device)
    return (clock() - start) / (perturber.stats.rows_run - run), perturber


def measure(
    model: PromptClassifier, rows: str, erase: str, keep: Tensor, repeats: int, clock: Clock
) -> dict[str, object]:
    inputs = reviews(len(keep))
    family, taken, logits = family_of(model), {}, {}
    for shares in (True, False) * repeats:
        model.family = replace(family, shares=shares)
        seconds, perturber = seconds_a_row(model, inputs, erase, keep, clock)
        taken[shares] = min(seconds, taken.get(shares, seconds))
        logits[shares] = perturber.logits(keep)
        if shares:
            stats = perturber.stats
    return {
        "rows": rows,
        "erase": erase,
        "kept ms": round(1000 * taken[True], 2),
        "whole ms": round(1000 * taken[False], 2),
        "times": round(taken[False] / taken[True], 2),
        "not run again": round(stats.tokens_shared / (stats.tokens_run + stats.tokens_shared), 3),
        "largest difference": float((logits[True] - logits[False]).abs().max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = asked_by_prompt(options.layers)
    words = REVIEW - AFTER
    subsets = torch.rand(1, options.rows, words, generator=torch.Generator().manual_seed(1)) < 0.5
    one_off = ~torch.eye(words, dtype=torch.bool).expand(max(1, options.rows // words + 1), -1, -1)
    for rows, keep in (("prompt", subsets), ("occlusion", one_off)):
        for erase in TEXT_ERASURES:
            line = pd.DataFrame([measure(model, rows, erase, keep, options.repeats, CLOCKS[options.clock])])
            print(line.to_string(index=False, header=(rows, erase) == ("prompt", TEXT_ERASURES[0])), flush=True)


if __name__ == "__main__":
    main()
