"""Texts and the Hugging Face models that read them.

Perturbations and attributions act on the embedding *output*: what enters the first attention layer, with positions,
token types and LayerNorm applied once (where a family has these: `families`). Models are called as they are; no layer
is rewritten.

Shape letters: R rows of one forward, L tokens, D embedding size, C classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional

from faithlib._warnings_log import note
from faithlib.backends._logits import check_task, logits_of, named
from faithlib.backends._model_adapters import check_tables, failure, is_quantised, scales_by_batch
from faithlib.backends.families import ModelFamily, base_of, family_of, text_config
from faithlib.backends.prompts import Prompt, appended, forwards
from faithlib.backends.shared_weights import CONTEXT, ON_NO_ACCOUNT, Slot, in_context, replica, slot_at
from faithlib.errors import ModelError
from faithlib.inputs import TextInputs
from faithlib.metrics.language import hellinger

if TYPE_CHECKING:
    from faithlib.backends._prefix import Beginnings

__all__ = ["TextBackend"]

# How far a row's answer may move beside padding by rounding alone, as a share of 1 + the largest number.
_ROUNDING = {torch.float64: 2e-5, torch.float32: 2e-5, torch.float16: 2e-2}
_ROUNDING_OF_GPU, _COARSE = 1e-2, 1e-1
_PADDING_SHOWS: WeakKeyDictionary[nn.Module, bool] = WeakKeyDictionary()  # of replicas


class TextBackend:
    """A Hugging Face text classifier of one of the `families`, and the texts it reads.

    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)

    >>> backend = TextBackend(model, texts)
    >>> backend.embeddings().shape, backend.logits(backend.embeddings()).shape
    (torch.Size([1, 4, 4]), torch.Size([1, 2]))
    """

    def __init__(self, model: nn.Module, inputs: TextInputs) -> None:
        check_task(model)
        self.model = replica(model)
        self.base = base_of(self.model)
        # A module of somebody's own has no configuration; its replica takes that of the encoder.
        if hasattr(self.base, "config") and not hasattr(self.model, "config"):
            self.model.config = self.base.config
        self.family = family_of(self.model)
        self.device = next(model.parameters()).device
        self.inputs = inputs.to(self.device)
        self.lengths = self.inputs.lengths
        check_tables(self.base, self.inputs)
        if self.family.prepare is not None:
            self.family.prepare(self.model, self.inputs)
        self._slots = [slot_at(self.base, point) for point in (self.family.point, self.family.also) if point]
        self._embedding_arguments = set(inspect.signature(self.embedding_module.forward).parameters)
        self._taken = inspect.signature(self.model.forward).parameters
        self._takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in self._taken.values())
        # A head of one's own may pool with the mask or look for tokens, so it is given both, as its own call is.
        made_elsewhere = not type(self.model).__module__.startswith("transformers.")
        knows_families = isinstance(getattr(self.model, "family", None), ModelFamily)
        self._own_head = made_elsewhere and not knows_families and not isinstance(self.model, Prompt)
        if self._own_head and not self._takes_any and not {"input_ids", "inputs_embeds"} & {*self._taken}:
            raise ModelError(
                f"the forward of {named(self.model)} takes {', '.join(self._taken) or 'nothing'}: expected token ids "
                "by the name input_ids and, where it has one, attention_mask"
            )

    @property
    def further_arguments(self) -> list[str]:
        """What the embeddings may read beside ids, token types, positions and a mask."""
        known = {
            "input_ids", "token_type_ids", "position_ids", "inputs_embeds", "mask", "attention_mask",
            "past_key_values_length", "args", "kwargs", "input",
        }  # fmt: skip
        return sorted(self._embedding_arguments - known)

    @property
    def embedding_module(self) -> Any:
        """The module that embeds token ids."""
        module = self.base.get_submodule(self.family.tokens or self.family.point or "embeddings")
        return module.original if isinstance(module, Slot) else module

    def embed(self, input_ids: Tensor, token_type_ids: Tensor | None, mask: Tensor | None = None) -> Tensor:
        """The embedding output [R, L, D] of any ids [R, L]; `mask` [R, L]: where tokens are, for embeddings that make
        padding zero (DeBERTa's) or count it (ESM's)."""
        given = {"token_type_ids": token_type_ids, "position_ids": self._positions(input_ids)}
        if mask is not None:
            given |= {"mask": mask.long(), "attention_mask": mask.long()}
        known = {k: v for k, v in given.items() if k in self._embedding_arguments and v is not None}
        embedded: Tensor = self.embedding_module(input_ids, **known)
        if not isinstance(embedded, Tensor):
            raise ModelError(
                f"the {type(self.embedding_module).__name__} of this {type(self.model).__name__} answers more than one "
                "tensor (quantised numbers with their scale, positions beside them), which cannot be erased as one; "
                "the model can be asked as a function from texts to probabilities (faithlib.inputs.WordInputs)"
            )
        if self.family.positions:
            places = torch.arange(input_ids.shape[1], device=self.device)
            embedded = embedded + self.base.get_submodule(self.family.positions)(places)
            if token_type_ids is not None:  # GPT-2's kind looks types up in the table of words
                embedded = embedded + self.embedding_module(token_type_ids)
        if self.family.tokens and self._slots:  # what makes the embedding output of the sum
            embedded = self._slots[0].original(embedded)
        return embedded

    def embeddings(self, rows: Tensor | None = None, *, length: int | None = None) -> Tensor:
        """The embedding output [R, L, D] of the inputs `rows` (default: all), cut to `length` positions."""
        rows = torch.arange(len(self.inputs), device=self.device) if rows is None else rows
        types = self.inputs.token_type_ids
        types = None if types is None else types[rows, :length]
        with torch.no_grad():
            return self.embed(self.inputs.input_ids[rows, :length], types, self.inputs.attention_mask[rows, :length])

    def logits(
        self,
        embeddings: Tensor,
        rows: Tensor | None = None,
        *,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        input_ids: Tensor | None = None,
        shared: int = 0,
    ) -> Tensor:
        """Logits [R, C] from an embedding output [R, L, D]; gradients flow.

        `rows` says which inputs these are (default: all in order), and so where padding is and what type a token has.
        `attention_mask` overrides it: bool [R, L], or float [R, L] weights w >= 0 that multiply attention (log w is
        added to the scores before the softmax). `token_type_ids` [R, L] likewise, for a model that takes them beside
        the embedding output; all others have them in it. `input_ids` [R, L] likewise, for a head of the user's own that
        looks at them. `shared`: rows of one input agree in so many first tokens, which a decoder's are not run again
        for each (`prefix`); no gradient flows to these.

        Raises ModelError for weights where the family's attention takes none.
        """
        length = embeddings.shape[1]
        rows = torch.arange(len(self.inputs), device=self.device) if rows is None else rows
        mask = self.inputs.attention_mask[rows, :length] if attention_mask is None else attention_mask
        if mask.dtype != torch.bool and not self.family.weighs:
            raise ModelError(f"the attention of this {type(self.model).__name__} takes no weights: use other metrics")
        if mask.dtype != torch.bool and self._own_head:
            raise ModelError(
                f"the head of this {type(self.model).__name__} is of your own and is given the attention mask, for "
                "which weights of attention cannot stand: use other metrics"
            )
        if not isinstance(self.model, Prompt):
            given = {}
            if self._own_head and self._slots and "input_ids" in self._taken:
                given["input_ids"] = self.inputs.input_ids[rows, :length] if input_ids is None else input_ids
            return self._numbers(embeddings, rows, mask, shared, token_type_ids, **given)
        return self._of_prompt(embeddings, rows, mask, shared)

    def _of_prompt(self, embeddings: Tensor, rows: Tensor, mask: Tensor, shared: int) -> Tensor:
        """Numbers [R, K] of prompts, each with what follows it in the inputs."""
        follows = self.inputs.follows
        if follows is None:
            numbers = self._numbers(embeddings, rows, mask, shared)
        else:
            parts = []
            for part in forwards(follows[rows]):
                longer, ids = appended(mask, part)
                read = self.embed(ids.clamp(min=0), None)
                whole = functional.pad(embeddings, (0, 0, 0, ids.shape[1] - mask.shape[1]))
                whole = torch.where(ids[..., None] >= 0, read, whole)
                parts.append(self._numbers(whole, rows, longer, shared, follows=part))
            numbers = self.model.joined(torch.cat(parts, dim=1), follows[rows])
        return numbers if not self.model.reads_distribution else self.compared(numbers, rows)

    def compared(self, logits: Tensor, rows: Tensor) -> Tensor:
        """1 - the Hellinger distance of next-token distributions [R, V] from those of the inputs themselves, [R, 1]."""
        if logits.requires_grad:
            raise ModelError(
                "the similarity to the input's own distribution is largest there, where it has no gradient: explain a "
                "log-probability by gradients, and give the scores to evaluate"
            )
        return 1 - hellinger(logits.float().softmax(dim=-1), self._own_distributions[rows])[:, None]

    @cached_property
    def _own_distributions(self) -> Tensor:
        """The next token's distribution [B, V] after each unperturbed input, one by one."""
        distributions = []
        with torch.no_grad():
            for b, length in enumerate(self.lengths.tolist()):
                row = torch.tensor([b], device=self.device)
                embeddings = self.embeddings(row, length=length)
                mask = torch.ones(embeddings.shape[:2], dtype=torch.bool, device=self.device)
                distributions.append(self._numbers(embeddings, row, mask, 0).float().softmax(dim=-1))
        return torch.cat(distributions)

    def _numbers(
        self, embeddings: Tensor, rows: Tensor, mask: Tensor, shared: int, types: Tensor | None = None, **given: Tensor
    ) -> Tensor:
        """What the model answers [R, C] in one forward; what else is `given` goes to it."""
        if shared and self.beginnings is not None:
            return self.beginnings.logits(embeddings, rows, mask, shared, **given)
        length = embeddings.shape[1]
        if not self.family.with_types:
            types = None
        elif types is None and self.inputs.token_type_ids is not None:
            types = self.inputs.token_type_ids[rows, :length]
        if self.family.on_left:
            # Rows turned so that their padding, which is at the end, comes first.
            turned = (torch.arange(length, device=self.device) + mask.sum(dim=1, keepdim=True)) % length
            embeddings, mask = embeddings.take_along_dim(turned[..., None], 1), mask.take_along_dim(turned, 1)
            types = None if types is None else types.take_along_dim(turned, 1)
            given = {name: values.take_along_dim(turned, 1) for name, values in given.items()}
        with_types = {} if types is None else {"token_type_ids": types}
        answer = self.answer(self.model, embeddings, mask, **with_types, **given)
        return logits_of(answer, len(embeddings), self.model).to(self.device)

    def answer(self, model: Any, embeddings: Tensor, mask: Tensor, **given: Any) -> Any:
        """What the model, or a part of it that holds the base, answers to embeddings [R, L, D] at the last L places of
        `mask`, as `logits` takes it; what else is `given` goes to the model."""
        if self._takes_any or "attention_mask" in self._taken or model is not self.model:
            given["attention_mask"] = _mask_argument(mask, embeddings, always=self._own_head)
        if self.family.by_ids and "input_ids" not in given:
            given["input_ids"] = self._ids(mask[:, -embeddings.shape[1] :])
        elif "input_ids" not in given:
            given["inputs_embeds"] = embeddings
        with ExitStack() as stack:
            for slot, answer in zip(self._slots, self._answers(embeddings), strict=False):
                stack.enter_context(slot.answering(answer))
            try:
                return model(**given)
            except AssertionError as error:  # of bitsandbytes, for example, about widths that it cannot unpack
                raise ModelError(f"{named(model)} fails where it is run: {failure(model, error)}") from error

    @cached_property
    def beginnings(self) -> Beginnings | None:
        """What rows of the inputs share; None where this model's rows share nothing, or its head may look at all."""
        if not self.family.shares or self._own_head:
            return None
        from faithlib.backends._prefix import Beginnings  # needs transformers, with which a decoder comes

        return Beginnings.of(self)

    @cached_property
    def padding_shows(self) -> bool:
        """Whether a row's answer depends on how much padding comes with it, so that rows of different lengths cannot
        share a forward. Noted where so.

        Tried with the shortest input, or where all are as long with one token less; beside the answer the state of
        every token is compared, for what moves only some tokens may show in the answer of another input.
        """
        if is_quantised(self.model) or scales_by_batch(self.model) or self.inputs.follows is not None:
            return False
        if self.model not in _PADDING_SHOWS:
            _PADDING_SHOWS[self.model] = self._tried_with_padding()
        if _PADDING_SHOWS[self.model]:
            note(
                "padding",
                f"the padding beside a text shows in what {named(self.model)} answers, so texts of different lengths "
                "do not share a forward pass: values are those of each text alone, and it takes longer",
            )
        return _PADDING_SHOWS[self.model]

    def _tried_with_padding(self) -> bool:
        length, longest = int(self.lengths.min()), int(self.lengths.max())
        b = int(self.lengths.argmin())
        stays = torch.arange(length, device=self.device)
        if length == longest:
            first = int((self.inputs.feature_of[b] >= 0).int().argmax())
            stays = stays[stays != first]
        if not len(stays):
            return False
        with torch.no_grad(), in_context(ON_NO_ACCOUNT, True):
            alone, beside = self._of_tokens(b, stays, len(stays)), self._of_tokens(b, stays, longest)
        return any(_apart(mine, other) for mine, other in zip(alone, beside, strict=False))

    def _of_tokens(self, b: int, stays: Tensor, length: int) -> list[Tensor]:
        """The answer [1, C] to those tokens of input b that stay, padded to so many; where the base has a state for
        each token, also those of the tokens that stay [1, S, D]."""
        there = torch.arange(length, device=self.device) < len(stays)
        ids = torch.full((1, length), self.inputs.pad_id, device=self.device)
        ids[:, : len(stays)] = self.inputs.input_ids[b, stays]
        types = None
        if self.inputs.token_type_ids is not None:
            types = torch.zeros_like(ids)
            types[:, : len(stays)] = self.inputs.token_type_ids[b, stays]
        mask, row = there[None], torch.tensor([b], device=self.device)
        embedded = self.embed(ids, types, mask)
        states: list[Tensor] = []

        def keep(module: nn.Module, given: Any, output: Any) -> None:
            first = output[0] if hasattr(output, "to_tuple") or isinstance(output, tuple) else output
            if CONTEXT.get().get(states_of_tokens) is states and isinstance(first, Tensor) and first.ndim == 3:
                states.append(first)

        states_of_tokens = object()
        hook = self.base.register_forward_hook(keep)
        try:
            with in_context(states_of_tokens, states):
                answer = self.logits(embedded, row, attention_mask=mask, token_type_ids=types, input_ids=ids)
        finally:
            hook.remove()
        known = [state for state in states[:1] if state.shape[1] == length]
        places = slice(-len(stays), None) if self.family.on_left else slice(len(stays))
        return [answer, *(state[:, places] for state in known)]

    def read_from(self, rows: Tensor) -> Tensor:
        """The position [R] whose state the prediction for the inputs `rows` is read from; ModelError where no token's
        attention row leads from the prediction to the input.

        Of a continuation of several tokens, the first; the others are read from the positions after it.
        """
        if not self.family.reads:
            raise ModelError(
                f"no attention row of this {type(self.model).__name__} leads from its prediction to the tokens: "
                "use a method that takes gradients or erases"
            )
        follows = self.inputs.follows
        if follows is not None and len(forwards(follows)) > 1:
            raise ModelError(
                "these numbers are of several continuations, each with a forward and attention maps of its own: "
                "expected one, or several of one token each; use a method that takes gradients or erases"
            )
        return self.lengths[rows] - 1 if self.family.reads == "last" else torch.zeros_like(rows)

    @property
    def read_ahead(self) -> int:
        """How many tokens of what follows an input are in a row of the model."""
        return 0 if self.inputs.follows is None else self.inputs.follows.shape[2] - 1

    def _answers(self, embeddings: Tensor) -> Iterator[Tensor]:
        """What the slots answer: the embeddings, as long as the model pads them; for a decoder one place further."""
        window = getattr(self.model.config, self.family.window) if self.family.window else 1
        missing = -embeddings.shape[1] % (window if isinstance(window, int) else max(window))
        yield functional.pad(embeddings, (0, 0, 0, missing)) if missing else embeddings
        if self.family.also:
            start = self.embedding_module(torch.tensor([self.model.config.decoder_start_token_id], device=self.device))
            yield torch.cat([start.expand(len(embeddings), 1, -1), embeddings[:, :-1]], dim=1)

    def _ids(self, mask: Tensor) -> Tensor:
        """Ids [R, L] that say no more than where tokens, padding and the end are."""
        config = text_config(self.model)
        pad = self.inputs.pad_id if config.pad_token_id is None else config.pad_token_id
        end = config.eos_token_id
        some = next(i for i in range(9) if i != pad and i not in (end if isinstance(end, list) else [end]))
        ids = torch.where(mask, some, pad)
        if self.family.also:
            ids.scatter_(1, mask.sum(dim=1, keepdim=True) - 1, end)
        return ids

    def _positions(self, input_ids: Tensor) -> Tensor | None:
        # RoBERTa-like embeddings number positions by looking for the pad id, so erasing with that id would renumber the
        # rest.
        padding = getattr(self.embedding_module, "padding_idx", None)
        if padding is None:
            return None
        return torch.arange(padding + 1, padding + 1 + input_ids.shape[1], device=self.device).expand_as(input_ids)


def _apart(one: Tensor, other: Tensor) -> bool:
    """Whether two ways to compute the same differ by more than rounding."""
    if one.shape != other.shape:
        return False
    bound = _ROUNDING.get(one.dtype, _COARSE)
    if one.is_cuda and one.dtype == torch.float32:
        bound = _ROUNDING_OF_GPU
    bound *= 1 + float(one.abs().max().nan_to_num(0))
    return not torch.allclose(other, one, rtol=0, atol=bound, equal_nan=True)


def _mask_argument(mask: Tensor, embeddings: Tensor, *, always: bool = False) -> Tensor | None:
    """The mask as the model takes it. None where nothing is masked and not `always` one is wanted: attention kernels
    are faster without."""
    if mask.dtype == torch.bool:
        # On a GPU the question itself would stop the queue; there the model decides.
        none = not always and mask.device.type == "cpu" and bool(mask.all())
        return None if none else mask.long()
    return mask.to(embeddings.dtype).log()[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
