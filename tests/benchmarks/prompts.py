"""What the rows of a prompt cost a language model that keeps the keys and values of their beginning, beside whole rows.

    python tests/benchmarks/prompts.py

SmolLM2-135M, four reviews with their answers before the review that is asked about: 67 of 96 tokens are shared. Both
ways run in turn; seconds are those that the processor spent, so that others on the machine matter little. On one thread
of a quiet x86_64 processor 32 rows took .32 of the time of whole ones (seven pairs: .30 to .33).
"""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median

import torch

from faithbook.studies.language.language import language_model
from faithlib.backends import PromptClassifier
from faithlib.backends.families import family_of
from faithlib.perturb import Perturber

SHOTS = (
    "Review: a warm and funny film with a fine cast\nSentiment: positive\n\n"
    "Review: the plot is dull and goes nowhere\nSentiment: negative\n\n"
    "Review: one of the best of the year\nSentiment: positive\n\n"
    "Review: i left before it was over\nSentiment: negative\n\n"
    "Review: {text}\nSentiment:"
)
REVIEW = (
    "what begins as a quiet story of two brothers turns slowly into a moving and often very beautiful look at a town "
    "that has lost"
)
ROWS, REPEATS = 32, 7


def seconds(prompt: PromptClassifier, keep: torch.Tensor) -> tuple[float, torch.Tensor, Perturber]:
    """Seconds of the processor for the rows `keep`, their probabilities, and who was asked."""
    perturber = Perturber(prompt, prompt.inputs([REVIEW]))
    began = time.process_time()
    answers = perturber.keep(keep)
    return time.process_time() - began, answers, perturber


def main() -> None:
    model, tokenizer = language_model("smollm2")
    prompt, whole = (PromptClassifier(model, tokenizer, SHOTS, [" negative", " positive"]) for _ in range(2))
    whole.family = replace(family_of(whole), shares=False)
    n = int(prompt.inputs([REVIEW]).n_features[0])
    keep = torch.rand(1, ROWS, n, generator=torch.Generator().manual_seed(0)) < 0.5
    keep[..., 0] = False  # the first word is erased, so that the beginning is the template alone
    of_each: dict[str, list[float]] = {"shared": [], "whole": []}
    for _ in range(REPEATS):
        for name, text in (("shared", prompt), ("whole", whole)):
            taken, answers, perturber = seconds(text, keep)
            of_each[name].append(taken)
            stats = perturber.stats
            print(f"{name}: {taken:.2f} s, {stats.tokens_shared} tokens shared, {stats.tokens_run} run")
            if name == "shared":
                kept = answers
    print(f"largest difference of a probability: {(kept - answers).abs().max():.1e}")
    ratios = [a / b for a, b in zip(of_each["shared"], of_each["whole"], strict=True)]
    print(f"shared / whole: median {median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    main()
