"""A causal language model asked for the text that follows: how probable a continuation of the prompt is.

Shape letters: B prompts, R rows, C continuations, T tokens of the longest, V words of the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.backends._model_adapters import inside
from faithlib.backends.prompts import Prompt, Template, check_apart, stacked
from faithlib.errors import InputError, check_counts, check_known, counted
from faithlib.inputs import TextInputs
from faithlib.segmentation import listed

__all__ = ["Continuation"]

READINGS = (
    "log_probability", "mean_log_probability", "probability", "contrast", "distribution", "similarity",
)  # fmt: skip
_OF_NEXT = ("distribution", "similarity")  # what reads the next token's distribution and no continuation


class Continuation(Prompt):
    """`model`, a causal language model of the Hugging Face kind, asked for a text that follows a prompt::

        model = Continuation(model, tokenizer, "The capital of {country} is", " Paris")
        evaluate(model, ["France"], metrics=["aopc_morf", "naopc_morf", "saco"])

    - `template`: a text with slots or the messages of a chat, as `Prompt` has it. Words of the template and of a chat's
      own markup are protected, the texts in the slots are features.
    - `continuation`: the text, its leading blank included; None: what the model itself says, its greedy answer of at
      most `max_new_tokens`, without the token that ends it.
    - `against`: another text, for a contrast.
    - `reading`: the number that is explained. y: the continuation, y_1 .. y_T its tokens, x the prompt.

    ===================================  =========================================  ====================================
    `reading`                            number                                     is
    ===================================  =========================================  ====================================
    "log_probability" (default)          sum_t log p(y_t given x, y_<t)             a value
    "mean_log_probability"               the same / T                               a value
    "probability"                        exp of the sum                             a value in [0, 1]
    "contrast" (default with `against`)  log p(y given x) - log p(y' given x), y'   a value
                                         = `against`
    "distribution"                       logits of the next token, V of them        classes: the words of the vocabulary
    "similarity"                         1 - Hellinger distance of the next         a value
                                         token's distributions, of the prompt and
                                         its copy
    ===================================  =========================================  ====================================

    `token`: of the first three only this one token of the continuation, y_t (0: the first; -1: the last).

    Metrics follow a value as it is (`faithlib.outputs`: no class is predicted, so that `auc`, `log_odds`, `n_auc` and
    `autpc` are left out). Of a similarity the number at the prompt itself is 1, so that hard and soft NS and NC are
    those of ReAGent (`faithlib.metrics.hellinger`); gradients have nothing to say there. A "distribution" keeps V
    numbers of each row.

    Raises InputError for a continuation that is empty or shares a token with the prompt, for one that begins with
    `against` or the other way round, for names that are unknown, and as `Prompt`. ModelError is for a model that
    predicts no next token.

    >>> from transformers import LlamaConfig, LlamaForCausalLM
    >>> sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    >>> model = LlamaForCausalLM(LlamaConfig(vocab_size=256, **sizes)).eval()
    >>> tokenizer = lambda text, **_: {"input_ids": list(text.encode())}  # a token is a byte
    >>> Continuation(model, tokenizer, "The capital of {country} is", " Paris", against=" Rome").reading
    'contrast'
    """

    stated_output = "value"

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        template: Template = "{text}",
        continuation: str | None = None,
        *,
        against: str | None = None,
        reading: str | None = None,
        token: int | None = None,
        max_new_tokens: int = 20,
    ) -> None:
        super().__init__(model, tokenizer, template)
        self.reading = reading or ("log_probability" if against is None else "contrast")
        check_known("reading", self.reading, READINGS)
        if (self.reading == "contrast") != (against is not None):
            raise InputError("reading 'contrast' and `against` go together: give both or neither")
        if token is not None and self.reading in ("contrast", *_OF_NEXT):
            raise InputError(f"token {token} and reading {self.reading!r}: one token is of a (log-)probability")
        check_counts(max_new_tokens=max_new_tokens)
        self.continuation, self.against, self.token = continuation, against, token
        self.max_new_tokens = max_new_tokens
        self.stated_output = "probability" if self.reading == "distribution" else "value"
        self.reads_distribution = self.reading == "similarity"

    def inputs(self, texts: Any, *, continuations: Sequence[str] | None = None, **options: Any) -> TextInputs:
        """The texts in the template, as `Prompt.inputs` makes them, with the tokens that follow each prompt.

        Parameters
        ----------
        texts : Iterable[str] | Iterable[Mapping[str, str]]
            B texts, or mappings from the slots to texts.
        continuations : Sequence[str], optional
            One for each prompt, instead of the only one. Not looked at for the readings "distribution" and
            "similarity".
        options
            `unit`, `words` and `max_length`, as `Prompt.inputs` takes them.

        Returns
        -------
        TextInputs
            B prompts with `follows` [B, C, T]: C is 1, or 2 for a contrast (the continuation, then `against`). Without
            `follows` for the readings "distribution" and "similarity". Where no continuation is given, the model has
            answered each prompt once, at most `max_new_tokens` forwards each.

        Raises
        ------
        InputError
            For another number of continuations than prompts; for a continuation that is empty, shares a token with the
            prompt, or begins with `against` (or the other way round); for a prompt to which the model answers nothing,
            or that does not fit the model's window with what follows; for a tokenizer that ends every text with a token
            of its own; and as `Prompt.inputs`.
        """
        texts = listed(texts)
        made = super().inputs(texts, **options)
        window = getattr(self.config, "max_position_embeddings", None) or 1 << 30
        if self.reading in _OF_NEXT:
            self._check_window(made.lengths, window)
            return made
        if continuations is not None and len(continuations) != len(made):
            counts = f"{counted(len(continuations), 'continuation')} for {counted(len(made), 'prompt')}"
            raise InputError(f"{counts}: expected one for each")
        follows = []
        for b, text in enumerate(texts):
            given = self.continuation if continuations is None else continuations[b]
            filled, row = self._filled(text).text, made.input_ids[b, : made.lengths[b]]
            self._check_end(filled, int(row[-1]))
            asked = [given] if self.against is None else [given, self.against]
            ids = [
                self._answer(row) if text is None else self._ids_after(filled, text, "continuation") for text in asked
            ]
            texts_asked = [text or self._text(tokens) for text, tokens in zip(asked, ids, strict=True)]
            check_apart(ids, texts_asked, "continuations")
            follows.append(ids)
        after = stacked(follows)
        self._check_window(made.lengths + (after >= 0).sum(dim=2).amax(dim=1) - 1, window)
        return replace(made, follows=after)

    def continuations(self, inputs: TextInputs) -> list[str]:
        """The text that follows each prompt; the model's own answers, where no other is given.

        Parameters
        ----------
        inputs : TextInputs
            B prompts, as `inputs` makes them.

        Returns
        -------
        list of str
            B texts, of a contrast the continuation and not `against`; none for inputs without `follows`.
        """
        if inputs.follows is None:
            return []
        return [self._text([i for i in ids[0].tolist() if i >= 0]) for ids in inputs.follows]

    def of_next(self, logits: Tensor) -> Tensor:
        return logits if self.reading in _OF_NEXT else super().of_next(logits)

    def asked(self, follows: Tensor) -> Tensor:
        there = super().asked(follows)
        if self.token is None:
            return there
        count = there.sum(dim=2, keepdim=True)
        place = torch.full_like(count, self.token) if self.token >= 0 else count + self.token
        if bool(((place < 0) | (place >= count)).any()):
            raise InputError(f"token {self.token}: a continuation has {int(count.min())} tokens")
        return torch.zeros_like(there).scatter(2, place, True)

    def joined(self, numbers: Tensor, follows: Tensor) -> Tensor:
        if self.reading == "contrast":
            return numbers[:, :1] - numbers[:, 1:]
        if self.reading == "mean_log_probability":
            return numbers / self.asked(follows).sum(dim=2)
        return numbers.exp() if self.reading == "probability" else numbers

    @torch.inference_mode()
    def _answer(self, ids: Tensor) -> list[int]:
        """The greedy answer to one prompt [L]."""
        from transformers.cache_utils import DynamicCache  # comes with a causal model; images do without transformers

        from faithlib.backends._prefix import has_key_value_cache

        # Of models that keep something else, or nothing, the whole runs again for each token.
        cache = DynamicCache() if has_key_value_cache(self.config) else None
        kept = {"use_cache": False} if cache is None else {"past_key_values": cache, "use_cache": True}
        new = whole = ids.to(next(self.parameters()).device)[None]
        answer: list[int] = []
        ends = self._ends()
        while len(answer) < self.max_new_tokens:
            logits = self.model(input_ids=new, attention_mask=torch.ones_like(whole), **kept).logits
            token = logits[:, -1:].argmax(dim=-1)
            if int(token) in ends:
                break
            answer.append(int(token))
            whole = torch.cat([whole, token], dim=1)
            new = whole if cache is None else token
        if not answer:
            raise InputError(
                f"the model answers nothing to {self._text(ids.tolist())[-60:]!r}: its first token ends the answer; "
                "give a continuation"
            )
        return answer

    def _ends(self) -> set[Any]:
        """The tokens that end an answer, by the tokenizer and the model."""
        model = inside(self.model)
        sources = (self.tokenizer, self.config, getattr(model, "generation_config", None))
        ids = [getattr(source, "eos_token_id", None) for source in sources]
        return {end for ends in ids for end in (ends if isinstance(ends, list) else [ends])}

    def _check_end(self, filled: str, last: int) -> None:
        if last != self.tokenizer(filled, add_special_tokens=False)["input_ids"][-1]:
            raise InputError(
                f"this {type(self.tokenizer).__name__} ends every text with a token of its own, after which nothing "
                "follows: load it with add_eos_token=False"
            )

    def _check_window(self, lengths: Tensor, window: int) -> None:
        if int(lengths.max()) > window:
            raise InputError(
                f"prompt {int(lengths.argmax())} has {int(lengths.max())} tokens with its continuation, and this "
                f"{type(inside(self.model)).__name__} has a window of {window}: shorten it"
            )

    def _text(self, ids: Sequence[int]) -> str:
        decode = getattr(self.tokenizer, "decode", None)
        return str(ids) if decode is None else str(decode(list(ids)))
