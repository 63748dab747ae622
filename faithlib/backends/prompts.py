"""A causal language model as a classifier: which label word comes next after a template.

Shape letters: R rows, L tokens, C classes, V words.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.backends.answers import logits_in
from faithlib.backends.wrappers import inside
from faithlib.errors import InputError
from faithlib.inputs import Span, TextInputs
from faithlib.units import readable


class PromptClassifier(nn.Module):
    """`model`, a causal language model of the Hugging Face kind, asked by prompt.

        prompt = PromptClassifier(model, tokenizer, "Review: {text}\\nSentiment:", [" negative", " positive"])
        evaluate(prompt, ["A warm, funny film."])

    The logits of class c are those of its label word after the filled template, so that their softmax is the word's
    probability among the labels. Words of the template are protected; those of the text are features. A label is one
    token after the template, its leading blank included where the template ends without one.

    Raises InputError for a template without one "{text}", fewer than two labels, and labels that are no one token each.

    >>> tokenizer = lambda text, **_: {"input_ids": list(text.encode())}  # a token is a byte
    >>> prompt = PromptClassifier(nn.Linear(1, 1), tokenizer, "{text} Good? ", ["y", "n"])
    >>> prompt.label_ids.tolist()
    [121, 110]
    """

    base_model_prefix = "base"

    def __init__(self, model: nn.Module, tokenizer: Any, template: str, labels: Sequence[str]) -> None:
        super().__init__()
        if template.count("{text}") != 1:
            raise InputError(f"template {template!r}: expected one '{{text}}' where the text goes")
        if isinstance(labels, str) or len(labels) < 2:
            raise InputError(f"labels {labels!r}: expected two words or more, one for each class")
        self.model: Any = model
        self.tokenizer = tokenizer
        # A chat template may write the token that the tokenizer begins every text with: one of the two is enough.
        begin = getattr(tokenizer, "bos_token", None)
        if begin and template.startswith(begin) and tokenizer(begin)["input_ids"][:2] == [tokenizer.bos_token_id] * 2:
            template = template.removeprefix(begin)
        self.template = template
        self.labels = tuple(labels)
        self.register_buffer("label_ids", torch.tensor([self._id_of(label) for label in labels]), persistent=False)
        if len(set(self.get_buffer("label_ids").tolist())) < len(labels):
            raise InputError(f"labels {list(labels)}: two of them are the same token after this template")
        self.to(next(model.parameters()).device).train(model.training)

    def __deepcopy__(self, memo: dict[int, Any]) -> PromptClassifier:
        """A copy that reads with the same tokenizer: copying one takes long, and nothing changes it."""
        memo[id(self.tokenizer)] = self.tokenizer
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    @property
    def base(self) -> Any:
        """The model below its head."""
        model = inside(self.model)
        return getattr(model, model.base_model_prefix)

    @property
    def config(self) -> Any:
        """The model's."""
        return inside(self.model).config

    def set_attn_implementation(self, name: str) -> None:
        """As the model's own."""
        inside(self.model).set_attn_implementation(name)

    def inputs(
        self,
        texts: Iterable[str],
        *,
        unit: str = "word",
        words: Sequence[Sequence[Span]] | None = None,
        max_length: int | None = None,
    ) -> TextInputs:
        """The texts in the template, of which only they carry features, or `words` in them (with unit "wordpiece", as
        `TextInputs.from_texts`); InputError for one that does not fit whole."""
        begins, texts = self.template.index("{text}"), readable(texts)
        filled = [self.template.replace("{text}", text) for text in texts]
        within = [(begins, begins + len(text)) for text in texts]
        moved = None if words is None else [[(begins + start, begins + end) for start, end in row] for row in words]
        given: dict[str, Any] = {"within": within, "unit": unit, "words": moved, "max_length": max_length}
        made = TextInputs.from_texts(filled, self.tokenizer, **given)
        if bool(made.truncated.any()):
            long = int(made.truncated.nonzero()[0])
            raise InputError(f"text {long} does not fit with the template: shorten it, or raise max_length")
        return made

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, past_key_values: Any = None
    ) -> SimpleNamespace:
        """Logits [R, C] of the label words after rows [R, L] that are padded on the right; of what stands before them,
        keys and values may be given, and then the mask covers it too."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        ends, place = (mask[:, -input_ids.shape[1] :].sum(dim=1) - 1).unique(return_inverse=True)
        # The head runs where a row ends alone: at every position, V would take most of the memory.
        given = {"input_ids": input_ids, "attention_mask": attention_mask, "logits_to_keep": ends}
        if past_key_values is not None:
            given["past_key_values"] = past_key_values
        words: Tensor = logits_in(self.model(**given))
        return SimpleNamespace(logits=words[torch.arange(len(words)), place][:, self.get_buffer("label_ids")])

    def _id_of(self, label: str) -> int:
        before = self.template.replace("{text}", "")
        ids, longer = (self.tokenizer(text, add_special_tokens=False)["input_ids"] for text in (before, before + label))
        if longer[:-1] != ids:
            raise InputError(
                f"label {label!r} is no one token after the template, which ends in {before[-10:]!r}: expected a word "
                "of one token, with the blank before it"
            )
        return int(longer[-1])
