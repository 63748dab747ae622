"""What language models are asked in study 5: texts in prompts whose answer is known, and a small model by name.

    model, tokenizer = language_model("smollm2")
    task = prompts("prompted-sst", 60, words=(6, 16))
    prompt, inputs = task.asked(model, tokenizer)
    right = task.right(model, tokenizer)          # whether the model answers as it should, bool [B]

Tasks, whose features are words:

- "prompted-sst", "prompted-movie": film reviews in a sentence;
- "prompted-reviews": excerpts of film reviews in which people marked the reason;
- "prompted-ag": topics of news;
- "copied-name": texts of our own with a name that has to be copied, which is the reason.

Shape letters: B texts, F features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from faithbook.models.smollm2 import smollm2
from faithbook.sources.datasets import load_dataset
from faithbook.sources.excerpts import gold_of, marked_excerpts
from faithbook.sources.splits import Span, stable_hash
from faithbook.sources.tokenise import split_words
from faithlib.backends import Continuation, PromptClassifier
from faithlib.backends.prompts import Prompt
from faithlib.errors import InputError, unknown
from faithlib.inputs import TextInputs
from faithlib.perturb import Perturber, SetFunction

MODELS: Mapping[str, Callable[[], tuple[Any, Any]]] = {"smollm2": smollm2}
"""Small language models by name: each the model in `eval()` mode and its tokenizer."""

FILMS = "Review: {text}\nSentiment:"
NEWS = "Article: {text}\nTopic:"
COPIED = "{text} The name of my neighbour is"

NAMES = (
    "Anna", "Peter", "Maria", "David", "Sarah", "Thomas", "Laura", "Daniel", "Julia", "Robert", "Emma", "Martin",
)  # fmt: skip
ROLES = ("doctor", "teacher", "farmer", "singer", "lawyer", "painter")
PLACES = ("near the bridge", "at the market", "behind the school", "in the garden", "by the river", "after lunch")


def language_model(name: str) -> tuple[Any, Any]:
    """A model of `MODELS` and its tokenizer; UnknownNameError for another name, else what its loader raises."""
    if name not in MODELS:
        raise unknown("language model", name, MODELS)
    return MODELS[name]()


@dataclass(frozen=True)
class Task:
    """Texts and what is asked about them.

    - `template`: the prompt, with the place of the text.
    - `labels`: the answers to choose from, the same for all texts, or `names`: for each text the answer and the other
      one that it could be taken for.
    - `truth`: which of the labels is right (of names the first is); `words`: the words of each text as spans;
      `marked`: which of them are the reason, where that is known.
    """

    name: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    template: str
    words: tuple[tuple[Span, ...], ...]
    truth: tuple[int, ...]
    labels: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    marked: tuple[tuple[bool, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, rows: slice) -> Task:
        """These texts, in their order."""
        by_row = ("ids", "texts", "words", "truth", "names", "marked")
        return replace(self, **{name: getattr(self, name)[rows] for name in by_row})

    def asked(self, model: Any, tokenizer: Any) -> tuple[Prompt, TextInputs]:
        """The prompted model and its inputs: a classifier of the labels, or the probability of each text's name."""
        if self.labels:
            prompt: Prompt = PromptClassifier(model, tokenizer, self.template, self.labels)
            return prompt, prompt.inputs(self.texts, words=self.words, unit="wordpiece")
        named = Continuation(model, tokenizer, self.template, reading="probability")
        answers = [f" {name}" for name, _ in self.names]
        return named, named.inputs(self.texts, words=self.words, unit="wordpiece", continuations=answers)

    def right(self, model: Any, tokenizer: Any) -> Tensor:
        """Whether the model chooses the right label, or finds the right name more probable than the other, [B]."""
        prompt, inputs = self.asked(model, tokenizer)
        asked = Perturber(prompt, inputs.to(next(model.parameters()).device), check=False)
        if self.labels:
            return asked.predicted.cpu() == torch.tensor(self.truth)
        others = replace(self, names=tuple((other, name) for name, other in self.names))
        prompt, inputs = others.asked(model, tokenizer)
        return (asked.full > Perturber(prompt, inputs.to(asked.device), check=False).full).cpu()

    def whole(self) -> Task:
        """The same prompts with the template's own words among the features."""
        texts = tuple(self.template.replace("{text}", text) for text in self.texts)
        return replace(self, texts=texts, template="{text}", words=tuple(map(split_words, texts)), marked=())

    def text_first(self) -> Task:
        """The same texts with nothing of the template before them."""
        return replace(self, template=self.template[self.template.index("{text}") :])

    def without_first(self) -> Task:
        """The same texts with the first word of each protected; only the others are features."""
        return replace(self, words=tuple(row[1:] for row in self.words), marked=tuple(row[1:] for row in self.marked))

    def gold(self, inputs: TextInputs) -> Tensor:
        """The reason as features, bool [B, F]; InputError where nobody knows it."""
        if not self.marked:
            raise InputError(f"{self.name} has no known reasons: use 'prompted-reviews' or 'copied-name'")
        return gold_of(inputs, self.marked)


def of_each_method(
    perturber: Perturber | SetFunction,
    scores: Mapping[str, Tensor],
    measure: Callable[[Any, Tensor], Callable[[], Mapping[str, Tensor]]],
) -> dict[str, Mapping[str, Tensor]]:
    """What a measure says of each method's scores, by metric [B]; all rows run together.

    `measure(perturber, scores)` queues rows and returns what makes the values, as `later` of a metric does.
    """
    queued = {name: measure(perturber, of_method) for name, of_method in scores.items()}
    return {name: values() for name, values in queued.items()}


def long_table(values: Mapping[str, Mapping[str, Tensor]], ids: Sequence[Any], **keys: object) -> pd.DataFrame:
    """Values [B] by method and metric as rows: input, method, metric, value, and `keys`, each the same for all methods.

    >>> long_table({"lime": {"nc": torch.tensor([0.5])}}, ["a"], erasure="pad").to_dict("records")
    [{'input': 'a', 'method': 'lime', 'metric': 'nc', 'value': 0.5, 'erasure': 'pad'}]
    """
    frames = [
        pd.DataFrame({"input": ids, "method": method, "metric": metric, "value": value.double().cpu(), **keys})
        for method, by_metric in values.items()
        for metric, value in by_metric.items()
    ]
    return pd.concat(frames)


def prompts(name: str, n: int, *, words: tuple[int, int] = (6, 16)) -> Task:
    """`n` texts of a task in an order made of their names, so that more texts keep the first ones; fewer where there
    are no more.

    `words`: how many a text may have; of an excerpt, the second number. Raises UnknownNameError for an unknown task,
    InputError where no text has so many words.

    >>> task = prompts("copied-name", 2)
    >>> [word for mark, word in zip(task.marked[0], task.texts[0].split()) if mark] == [task.names[0][0]]
    True
    """
    if name == "copied-name":
        return _copied(n)
    if name not in _SOURCES:
        raise unknown("task", name, (*_SOURCES, "copied-name"))
    template, labels = _SOURCES[name]
    data = load_dataset(name.removeprefix("prompted-"), "test")
    if data.rationales is not None:
        excerpts = marked_excerpts(data, n, size=words[1])
        rows, texts = [excerpt.row for excerpt in excerpts], [excerpt.text for excerpt in excerpts]
        spans, marked = (tuple(excerpt.words for excerpt in excerpts), tuple(excerpt.marked for excerpt in excerpts))
    else:
        cut = {row: split_words(text) for row, text in enumerate(data.texts)}
        rows = [row for row in cut if words[0] <= len(cut[row]) <= words[1]]
        rows = sorted(rows, key=lambda row: stable_hash("prompts", data.ids[row]))[:n]
        texts, spans, marked = [data.texts[row] for row in rows], tuple(cut[row] for row in rows), ()
    if not rows:
        raise InputError(f"{name} has no text of {words[0]} to {words[1]} words: give another range")
    ids, truth = tuple(data.ids[row] for row in rows), tuple(data.labels[row] for row in rows)
    return Task(name, ids, tuple(texts), template, spans, truth, labels, marked=marked)


_SENTIMENT = (FILMS, (" negative", " positive"))
_SOURCES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "prompted-sst": _SENTIMENT,
    "prompted-movie": _SENTIMENT,
    "prompted-reviews": _SENTIMENT,
    "prompted-ag": (NEWS, (" World", " Sports", " Business", " Science")),
}


def _copied(n: int) -> Task:
    """ "My neighbour Anna met the doctor Peter near the bridge ." and the same the other way round."""
    fillings = [filling for filling in product(NAMES, NAMES, ROLES, PLACES) if filling[0] != filling[1]]
    forms = ("My neighbour {0} met the {2} {1} {3} .", "The {2} {1} met my neighbour {0} {3} .")
    order = np.random.default_rng(0).permutation(len(fillings))
    chosen = [(fillings[which], form) for which in order for form in forms][:n]
    texts = tuple(form.format(*filling) for filling, form in chosen)
    names = tuple((name, other) for (name, other, _, _), _ in chosen)
    marked = []
    for text, (name, _) in zip(texts, names, strict=True):
        marked.append(tuple(word == name for word in text.split()))
    ids, words = tuple(f"copied-{i}" for i in range(n)), tuple(map(split_words, texts))
    return Task("copied-name", ids, texts, COPIED, words, (0,) * n, names=names, marked=tuple(marked))


def filled_in(
    task: Task, b: int, donors: Task, model: Any, tokenizer: Any, *, target: int, features: Sequence[int]
) -> SetFunction:
    """What the model answers to text `b` of a task whose erased words are replaced by words of other texts (a retrieval
    infill). Each place gets one word of the first 50 texts of `donors`, drawn once by the text's name.

    `target`: the class whose probability is meant, of a task with labels. `features`: the feature of each word, as
    `TextInputs.feature_of_word` has it (words that share a token are one feature); a word of none (-1) always stays.
    """
    words = task.words[b]
    others = [
        text[start:end]
        for name, text, spans in zip(donors.ids[:50], donors.texts, donors.words, strict=False)
        for start, end in spans
        if name != task.ids[b]
    ]
    if not others:
        raise InputError(f"{donors.name} has one text: expected others, whose words take the place of what goes")
    generator = np.random.default_rng(int(stable_hash("infill", task.ids[b])[:12], 16))
    fills = [others[i] for i in generator.integers(len(others), size=len(words))]

    def answers(keep: Tensor) -> Tensor:
        texts = []
        for row in keep.tolist():
            text = task.texts[b]
            for place in reversed([i for i, feature in enumerate(features) if feature >= 0 and not row[feature]]):
                start, end = words[place]
                text = text[:start] + fills[place] + text[end:]
            texts.append(text)
        by_row = ("ids", "truth", "names")
        filled = replace(
            task,
            texts=tuple(texts),
            words=tuple(((0, len(text)),) for text in texts),
            marked=(),
            **{name: getattr(task, name)[b : b + 1] * len(texts) for name in by_row},
        )
        prompt, inputs = filled.asked(model, tokenizer)
        device = next(model.parameters()).device
        return Perturber(prompt, inputs.to(device), target=target, check=False).full.cpu()

    return SetFunction(answers, max(features) + 1)
