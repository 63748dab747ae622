"""Language models asked by prompt: the face that all of them have, and the classifier whose classes are label words.

`TextInputs.follows` [B, C, T] holds the ids of C continuations of each input, -1 beyond their ends. A row of the model
is an input, wherever its (perturbed) text ends, with all tokens of a continuation after it, except the last: one
forward answers for every token (teacher forcing). Continuations of one token add nothing to a row, so that one forward
answers for all C of them; longer ones take a forward each.

Shape letters: B texts, R rows, L tokens, C labels or continuations, T tokens of the longest, V words, K numbers.
"""

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from faithlib.backends._logits import logits_in
from faithlib.backends._model_adapters import inside
from faithlib.errors import InputError, ModelError
from faithlib.inputs import TextInputs
from faithlib.names import PromptUnit
from faithlib.segmentation import Filled, Span, items_of, listed, readable

__all__ = ["Prompt", "PromptClassifier"]

Template = str | Sequence[Mapping[str, str]]
_SLOT = re.compile(r"{(\w+)}")


class Prompt(nn.Module):
    """A causal language model of the Hugging Face kind with a template in which texts go; its numbers are those of a
    subclass (`PromptClassifier`, `faithlib.backends.Continuation`).

    - `template`: a text with slots, "{text}" or several with names, or the messages of a chat (`role`, `content`), of
      which the tokenizer's chat template makes one. What it begins every text with is written once.
    - `slots`: their names in the order of the template.

    Raises InputError for a template without a slot or with one twice, and for messages where the tokenizer has no chat
    template.

    >>> tokenizer = lambda text, **_: {"input_ids": list(text.encode())}  # a token is a byte
    >>> Prompt(nn.Linear(1, 1), tokenizer, "{question} Answer in {language}:").slots
    ('question', 'language')
    """

    base_model_prefix = "base"
    reads_distribution = False  # whether numbers compare a row's next-token distribution with the input's own

    def __init__(self, model: nn.Module, tokenizer: Any, template: Template) -> None:
        check_causal(model)
        super().__init__()
        self.model: Any = model
        self.tokenizer = tokenizer
        self.template = _beginning_once(_written(template, tokenizer), tokenizer)
        self.slots = self._slots()
        self.to(next(model.parameters()).device).train(model.training)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
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
        """Choose how the model computes attention, as its own method of this name does.

        Parameters
        ----------
        name : str
            An implementation that transformers knows, say "eager" or "sdpa".
        """
        inside(self.model).set_attn_implementation(name)

    def inputs(
        self,
        texts: Iterable[str] | Iterable[Mapping[str, str]],
        *,
        unit: PromptUnit = "word",
        words: Sequence[Sequence[Span]] | None = None,
        max_length: int | None = None,
    ) -> TextInputs:
        """The texts in the template, of which only they carry features.

        Parameters
        ----------
        texts : Iterable[str] | Iterable[Mapping[str, str]]
            B texts; for a template of several slots a mapping for each prompt, from the names of all slots to texts.
        unit : PromptUnit, default "word"
            What a feature is. "token" is "wordpiece", one token of the tokenizer; "slot" the text of each slot as a
            whole.
        words : Sequence[Sequence[Span]], optional
            Features of your own instead, with unit "wordpiece": for each text the (start, end) characters of its words,
            counted in the text of the only slot, as `TextInputs.from_texts` takes them.
        max_length : int, optional
            Tokens of a whole prompt, template included; default: the tokenizer's own limit, at most 512.

        Returns
        -------
        TextInputs
            B prompts, in their order; the words of the template are protected.

        Raises
        ------
        InputError
            For a prompt longer than that (nothing is cut off), a mapping that does not name exactly the slots,
            a text for a template of several slots, and as `TextInputs.from_texts`.
        """
        filled = [self._filled(item) for item in listed(texts)]
        if words is not None:
            begins = [prompt.spans[0][0] for prompt in filled]
            words = [[(at + start, at + end) for start, end in row] for at, row in zip(begins, words, strict=True)]
        given: dict[str, Any] = {"unit": {"token": "wordpiece"}.get(unit, unit), "words": words}
        if unit == "slot":
            given = {"unit": "wordpiece", "words": [prompt.spans for prompt in filled]}
        given |= {"within": [prompt.spans for prompt in filled], "max_length": max_length}
        made = TextInputs.from_texts([prompt.text for prompt in filled], self.tokenizer, **given)
        if bool(made.truncated.any()):
            long = int(made.truncated.nonzero()[0])
            raise InputError(f"text {long} does not fit with the template: shorten it, or raise max_length")
        return made

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        past_key_values: Any = None,
        follows: Tensor | None = None,
    ) -> SimpleNamespace:
        """The numbers of rows, read where each of them ends.

        Parameters
        ----------
        input_ids : Tensor
            Token ids padded on the right, integers [R, L]. With `follows` they end in the tokens of its continuation,
            all but the last.
        attention_mask : Tensor, optional
            1 at tokens, 0 at padding, [R, L]; with `past_key_values` [R, P + L], over the P tokens before too. Default:
            no padding.
        past_key_values : optional
            Keys and values of what stands before the rows, as transformers caches them.
        follows : Tensor, optional
            Token ids of the continuations that are asked for, [R, C, T], -1 beyond their ends. C is 1 where T is above
            1 (`forwards`).

        Returns
        -------
        SimpleNamespace
            `logits`: without `follows` what the subclass reads off the next-token logits [R, V], [R, K]; with it the
            log-probability of each continuation, [R, C], at most 0.

        Raises
        ------
        InputError
            Without `follows`, where the subclass needs a continuation.
        """
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        ends = mask[:, -input_ids.shape[1] :].sum(dim=1)
        places = ends[:, None] - 1 if follows is None else answer_positions(ends, follows)
        kept, where = places.unique(return_inverse=True)
        # The head runs where it is read alone: at every position, V would take most of the memory.
        given = {"input_ids": input_ids, "attention_mask": attention_mask, "logits_to_keep": kept}
        if past_key_values is not None:
            given["past_key_values"] = past_key_values
        words: Tensor = logits_in(self.model(**given))
        words = words[torch.arange(len(words), device=words.device)[:, None], where]
        if follows is None:
            return SimpleNamespace(logits=self.of_next(words[:, 0]))
        log_p = words.float().log_softmax(dim=-1).gather(2, follows.clamp(min=0).transpose(1, 2))
        return SimpleNamespace(logits=log_p.transpose(1, 2).where(self.asked(follows), 0).sum(dim=2))

    def of_next(self, logits: Tensor) -> Tensor:
        """The numbers that are read off the next token.

        Parameters
        ----------
        logits : Tensor
            Next-token logits, [R, V].

        Returns
        -------
        Tensor
            [R, K].

        Raises
        ------
        InputError
            Here always: this class reads continuations alone.
        """
        raise InputError(f"these inputs hold no continuation: make them with {type(self).__name__}.inputs(texts)")

    def asked(self, follows: Tensor) -> Tensor:
        """Which tokens of continuations count: here all.

        Parameters
        ----------
        follows : Tensor
            Token ids of continuations, [R, C, T], -1 beyond their ends.

        Returns
        -------
        Tensor
            bool [R, C, T].
        """
        return follows >= 0

    def joined(self, numbers: Tensor, follows: Tensor) -> Tensor:
        """The numbers that continuations lead to: here their log-probabilities as they are.

        Parameters
        ----------
        numbers : Tensor
            Log-probabilities of all C continuations, [R, C].
        follows : Tensor
            Their token ids, [R, C, T], -1 beyond their ends.

        Returns
        -------
        Tensor
            [R, K].
        """
        return numbers

    def own_call(self, input_ids: Tensor, follows: Tensor) -> Tensor:
        """The numbers of prompts and what follows them, by calls of this module on ids alone.

        Parameters
        ----------
        input_ids : Tensor
            Prompts without padding, integers [R, L].
        follows : Tensor
            Token ids of continuations, [R, C, T], -1 beyond their ends.

        Returns
        -------
        Tensor
            [R, K].
        """
        parts = []
        for part in forwards(follows):
            mask, ids = appended(torch.ones_like(input_ids), part)
            whole = torch.cat([input_ids, ids[:, input_ids.shape[1] :].clamp(min=0)], dim=1)
            parts.append(self(whole, mask.long(), follows=part).logits)
        return self.joined(torch.cat(parts, dim=1), follows)

    def _slots(self) -> tuple[str, ...]:
        names = tuple(_SLOT.findall(self.template))
        if not names or len(set(names)) < len(names):
            raise InputError(
                f"template {self.template!r}: expected slots such as '{{text}}' where texts go, each of them once"
            )
        return names

    def _filled(self, item: Any) -> Filled:
        """A template with its texts, and the characters of each."""
        if isinstance(item, Mapping):
            if set(item) != set(self.slots):
                raise InputError(f"texts for {sorted(item)}: expected one for each slot, {', '.join(self.slots)}")
        elif len(self.slots) > 1:
            raise InputError(f"got {item!r}: expected a mapping from the slots {', '.join(self.slots)} to texts")
        texts = readable([item[name] for name in self.slots] if isinstance(item, Mapping) else [item])
        text, spans, rest = "", [], self.template
        for name, filling in zip(self.slots, texts, strict=True):
            before, _, rest = rest.partition(f"{{{name}}}")
            text += before
            spans.append((len(text), len(text) + len(filling)))
            text += filling
        return Filled(text + rest, tuple(spans))

    def _ids_after(self, before: str, text: str, what: str) -> list[int]:
        """The tokens of a text that follows another; InputError where the two share one."""
        ids, longer = (
            self.tokenizer(piece, add_special_tokens=False)["input_ids"] for piece in (before, before + text)
        )
        if not text or longer == ids:
            raise InputError(f"{what} {text!r} is empty: expected a text of one token or more")
        if longer[: len(ids)] != ids:
            raise InputError(
                f"{what} {text!r} and what it follows, which ends in {before[-10:]!r}, share a token: expected a text "
                "that begins with a token of its own; move the blank between the two to the other side"
            )
        return list(longer[len(ids) :])


class PromptClassifier(Prompt):
    """`model`, a causal language model of the Hugging Face kind, asked by prompt::

        prompt = PromptClassifier(model, tokenizer, "Review: {text}\\nSentiment:", [" negative", " positive"])
        evaluate(prompt, ["A warm, funny film."])

    The logits of class c are those of its label word after the filled template, so that their softmax is the word's
    probability among the labels. Where a label has several tokens, those of all classes are log-probabilities, each the
    sum over the label's tokens. Words of the template are protected; those of the text are features. A label's leading
    blank belongs to it where the template ends without one.

    Raises InputError for a template without one "{text}", fewer than two labels, and labels that share a token with the
    template or begin alike, one being the beginning of the other.

    >>> tokenizer = lambda text, **_: {"input_ids": list(text.encode())}  # a token is a byte
    >>> prompt = PromptClassifier(nn.Linear(1, 1), tokenizer, "{text} Good? ", ["y", "n"])
    >>> prompt.label_ids.tolist()
    [121, 110]
    """

    def __init__(self, model: nn.Module, tokenizer: Any, template: Template, labels: Sequence[str]) -> None:
        super().__init__(model, tokenizer, template)
        words = items_of(labels)
        if not isinstance(words, list) or len(words) < 2 or not all(isinstance(word, str) for word in words):
            raise InputError(f"labels {labels!r}: expected two words or more in their order, one for each class")
        self.labels = tuple(words)
        before = self.template.replace("{text}", "")
        ids = [self._ids_after(before, label, "label") for label in labels]
        check_apart(ids, labels, "labels")
        label_ids = stacked([ids])[0]
        label_ids = label_ids[:, 0] if label_ids.shape[1] == 1 else label_ids
        self.register_buffer("label_ids", label_ids.to(next(model.parameters()).device), persistent=False)

    def inputs(self, texts: Any, **options: Any) -> TextInputs:
        """The texts in the template, as `Prompt.inputs` makes them.

        Parameters
        ----------
        texts : Iterable[str] | Iterable[Mapping[str, str]]
            B texts for the slot "{text}".
        options
            `unit`, `words` and `max_length`, as `Prompt.inputs` takes them.

        Returns
        -------
        TextInputs
            B prompts; where a label has several tokens, with the labels as `follows`, [B, C, T].

        Raises
        ------
        InputError
            As `Prompt.inputs`.
        """
        made, labels = super().inputs(texts, **options), self.get_buffer("label_ids").cpu()
        return made if labels.ndim == 1 else replace(made, follows=labels.expand(len(made), -1, -1).contiguous())

    def of_next(self, logits: Tensor) -> Tensor:
        labels = self.get_buffer("label_ids")
        return logits[:, labels] if labels.ndim == 1 else super().of_next(logits)

    def _slots(self) -> tuple[str, ...]:
        if self.template.count("{text}") != 1:
            raise InputError(f"template {self.template!r}: expected one '{{text}}' where the text goes")
        return ("text",)


def check_apart(ids: Sequence[Sequence[int]], names: Sequence[str], what: str) -> None:
    """InputError where the tokens of one text are those that another begins with, so that it counts for both.

    >>> check_apart([[5], [5, 6]], [" a", " a b"], "labels")
    Traceback (most recent call last):
    faithlib.errors.InputError: labels ' a' and ' a b': the first is what the second begins with, and so never ...
    """
    for i, tokens in enumerate(ids):
        for j, other in enumerate(ids):
            if i != j and list(other[: len(tokens)]) == list(tokens):
                if len(tokens) == len(other):
                    raise InputError(f"{what} {list(names)}: two of them are the same tokens after this template")
                raise InputError(
                    f"{what} {names[i]!r} and {names[j]!r}: the first is what the second begins with, and so never "
                    "less probable: expected texts of which none begins another; end each with a full stop"
                )


def _written(template: Template, tokenizer: Any) -> str:
    if isinstance(template, str):
        return template
    if getattr(tokenizer, "chat_template", None) is None:
        raise InputError(
            f"this {type(tokenizer).__name__} has no chat template: expected a template of text, 'Question: {{text}}', "
            "or the tokenizer of a model that is made for chats"
        )
    try:
        return str(tokenizer.apply_chat_template(list(template), tokenize=False, add_generation_prompt=True))
    except Exception as error:  # of the template itself, which is a program and raises what it likes
        message = f"the chat template makes nothing of {template!r} ({type(error).__name__}: {error})"
        raise InputError(f"{message}: expected messages such as [{{'role': 'user', 'content': '{{text}}'}}]") from error


def _beginning_once(template: str, tokenizer: Any) -> str:
    """A chat template may write the token that the tokenizer begins every text with: one of the two is enough."""
    begin = getattr(tokenizer, "bos_token", None)
    if begin and template.startswith(begin) and tokenizer(begin)["input_ids"][:2] == [tokenizer.bos_token_id] * 2:
        return template.removeprefix(begin)
    return template


def check_causal(model: Any) -> None:
    """ModelError for a model that says nothing about the token after a text.

    >>> check_causal(type("BertForMaskedLM", (nn.Identity,), {})())
    Traceback (most recent call last):
    faithlib.errors.ModelError: this BertForMaskedLM predicts no next token: expected a causal language model, ...
    """
    name = type(inside(model)).__name__
    if not name.endswith(("ForCausalLM", "LMHeadModel")) and "For" in name:
        raise ModelError(
            f"this {name} predicts no next token: expected a causal language model, "
            "AutoModelForCausalLM.from_pretrained(...)"
        )


# -------------------------------------------------------------------------------------- tokens that follow the inputs
def stacked(continuations: Sequence[Sequence[Sequence[int]]]) -> Tensor:
    """`follows` [B, C, T] of the token ids of C continuations for each input.

    >>> stacked([[[5, 7], [6]]]).tolist()
    [[[5, 7], [6, -1]]]
    """
    longest = max(len(ids) for of_input in continuations for ids in of_input)
    return torch.tensor([[[*ids, *[-1] * (longest - len(ids))] for ids in of_input] for of_input in continuations])


def forwards(follows: Tensor) -> tuple[Tensor, ...]:
    """Continuations [R, C, T] by the forward that answers for them.

    >>> len(forwards(torch.ones(4, 3, 1))), len(forwards(torch.ones(4, 3, 2)))
    (1, 3)
    """
    return (follows,) if follows.shape[2] == 1 else follows.split(1, dim=1)


def appended(mask: Tensor, follows: Tensor) -> tuple[Tensor, Tensor]:
    """For rows whose tokens are at the True places of `mask` [R, L], each a run of them from the left: the mask
    [R, L + T - 1] with the tokens of one continuation `follows` [R, 1, T] after each, and their ids there, -1
    elsewhere. The last token of a continuation is asked for and never read.

    >>> mask, ids = appended(torch.tensor([[True, True], [True, False]]), torch.tensor([[[7, 8, 9]], [[7, 8, -1]]]))
    >>> mask.int().tolist(), ids.tolist()
    ([[1, 1, 1, 1], [1, 1, 0, 0]], [[-1, -1, 7, 8], [-1, 7, -1, -1]])
    """
    read = torch.where(follows[:, 0, 1:] >= 0, follows[:, 0, :-1], -1)
    longer = functional.pad(mask.bool(), (0, read.shape[1]))
    places = mask.sum(dim=1, keepdim=True) + torch.arange(read.shape[1], device=mask.device)
    ids = torch.full(longer.shape, -1, device=mask.device).scatter(1, places, read)
    return longer | (ids >= 0), ids


def answer_positions(ends: Tensor, follows: Tensor) -> Tensor:
    """The positions [R, T] whose predictions say how probable each token of `follows` [R, C, T] is, in rows that end
    before `ends` [R] with what is read of it; beyond a continuation's own end, its last.

    >>> answer_positions(torch.tensor([4, 2]), torch.tensor([[[7, 8, 9]], [[7, 8, -1]]])).tolist()
    [[1, 2, 3], [0, 1, 1]]
    """
    count = (follows[:, :1] >= 0).sum(dim=2)
    steps = torch.arange(follows.shape[2], device=ends.device)
    return torch.minimum(ends[:, None] - count + steps, ends[:, None] - 1)
