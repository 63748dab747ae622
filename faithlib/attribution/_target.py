"""The function that is explained: one number per input, as a function of the embedding output.

Every attribution that looks inside the model works on a `Chunk`: a few inputs of about the same length, their embedding
output (positions, types and LayerNorm already applied, once), their attention mask, their target classes.

Shape letters: B inputs, R rows of one chunk, L tokens, D embedding size, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from faithlib._scheduler import cut
from faithlib.attribution._relevance import plain_attention
from faithlib.errors import InputError, ModelError, NotFiniteError, check_known, counted
from faithlib.inputs import TextInputs
from faithlib.outputs import read, settled_classes

#: What stands around a forward pass to change how it is differentiated.
Rules = Callable[[], AbstractContextManager[Any]]
#: What is explained: an output, and target classes [B] (None: the predicted).
Number = tuple[str, Tensor | None]


@dataclass(eq=False)
class Chunk:
    """Inputs `rows` [R] of a backend, cut to `length` tokens, with what is explained about them.

    `together`: chunks of the same rows that explain other numbers, this one among them; they share forward passes.
    `delta` [R], where it is wanted: by how much a method's scores miss the sum that it states.

    >>> from faithlib.backends import TextBackend
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> chunk = Chunk(TextBackend(model, texts), torch.tensor([0]), length=4, output="logit", max_tokens=2048)
    >>> chunk.gradient().shape, chunk.baseline("zero", keep_protected=True)[0].any(dim=1).tolist()
    (torch.Size([1, 4, 4]), [True, False, False, True])
    """

    backend: Any
    rows: Tensor
    length: int
    output: str
    max_tokens: int
    launch: float = 0.0
    target: Tensor | None = None
    wants_delta: bool = False
    delta: Tensor | None = field(default=None, init=False)
    together: list[Chunk] = field(init=False, repr=False)
    gradients_asked: int = field(default=0, init=False)
    _gradients: dict[Rules, Tensor] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.together = [self]

    def embeddings(self) -> Tensor:
        """The embedding output [R, L, D], a leaf that gradients can be taken to."""
        leaf: Tensor = self.backend.embeddings(self.rows, length=self.length).detach().clone().requires_grad_()
        return leaf

    def erasable(self) -> Any:
        """The places of an answer that features have, bool [R, L]."""
        return self.backend.inputs.feature_of[self.rows, : self.length] >= 0

    def value(self, embeddings: Tensor) -> Tensor:
        """The explained number [R] at the inputs' own embeddings. Settles what the predicted class is."""
        return self._read(self.backend.logits(embeddings, self.rows))

    def gradient(self, rules: Rules = nullcontext) -> Tensor:
        """dF/de [R, L, D] at the inputs' own embeddings, from a forward under `rules`; kept for who asks again.

        One forward pass serves all chunks that stand `together`, with one backward pass each.
        """
        self.gradients_asked += 1
        if rules not in self._gradients:
            embeddings = self.embeddings()
            with rules():
                logits = self.backend.logits(embeddings, self.rows)
            for chunk in self.together:
                more = chunk is not self.together[-1]
                value = chunk._read(logits).sum()
                (chunk._gradients[rules],) = torch.autograd.grad(value, embeddings, retain_graph=more)
        return self._gradients[rules]

    def value_of(self, embeddings: Tensor, rows: Tensor, target: Tensor) -> Tensor:
        """The explained number of any embeddings [N, L, D], those of inputs `rows` [N] replaced."""
        return self._finite(read(self.backend.logits(embeddings, rows), target, self.output), rows)

    def settled_target(self) -> Tensor:
        """The target classes [R], for methods whose first forward is not at the inputs themselves."""
        if self.target is None:
            with torch.no_grad():
                self.value(self.embeddings())
        assert self.target is not None
        return self.target

    def _read(self, logits: Tensor) -> Tensor:
        """The explained number, given the logits of the inputs themselves, which settle the target classes."""
        for chunk in self.together:
            chunk.target = settled_classes(logits, chunk.target, chunk.output)
        assert self.target is not None
        return self._finite(read(logits, self.target, self.output), self.rows)

    def _finite(self, value: Tensor, rows: Tensor) -> Tensor:
        if bool((broken := ~value.isfinite()).any()):
            message = f"the model answered NaN or infinity for {counted(int(broken.sum()), 'row')}, of inputs"
            raise NotFiniteError(f"{message} {rows[broken].unique()[:5].tolist()}: check its weights and its precision")
        return value

    def baseline(self, kind: str, keep_protected: bool) -> Tensor:
        """Where a path to the input begins.

        Parameters
        ----------
        kind : {"zero", "pad", "mask"}
            Zero embeddings, or that token's embedding at the same position.
        keep_protected : bool
            Whether protected positions ([CLS], [SEP], a query) stay as they are in the input.

        Returns
        -------
        Tensor
            [R, L, D].

        Raises
        ------
        UnknownNameError
            For another kind.
        InputError
            For "mask" where the tokenizer has no mask token.
        """
        check_known("baseline", kind, ("zero", "pad", "mask"))
        inputs = self.backend.inputs
        with torch.no_grad():
            embedded = self.backend.embeddings(self.rows, length=self.length)
            replaced = torch.zeros_like(embedded) if kind == "zero" else self._embedded_as(inputs, kind)
        moved = self.erasable() if keep_protected else inputs.attention_mask[self.rows, : self.length]
        return torch.where(moved[..., None], replaced, embedded)

    def _embedded_as(self, inputs: TextInputs, kind: str) -> Tensor:
        token = inputs.pad_id if kind == "pad" else inputs.mask_id
        if token is None:
            raise InputError("baseline 'mask': this tokenizer has no mask token; choose 'zero' or 'pad'")
        ids = torch.full_like(inputs.input_ids[self.rows, : self.length], token)
        types = inputs.token_type_ids
        types = None if types is None else types[self.rows, : self.length]
        embedded: Tensor = self.backend.embed(ids, types, inputs.attention_mask[self.rows, : self.length])
        return embedded


def chunks(
    backend: Any, numbers: Sequence[Number], max_tokens: int, launch: float = 0.0, kind: Any = Chunk
) -> Iterator[list[Any]]:
    """The inputs in chunks of at most so many positions (at least one input), longest first.

    Parameters
    ----------
    backend
        The model with its inputs.
    numbers : Sequence[Number]
        What is explained: outputs with target classes [B] (None: the predicted).
    max_tokens : int
        Positions of a chunk.
    launch : float, default 0.0
        What a forward costs before its first token, in tokens.
    kind : default Chunk
        The class of the chunks.

    Returns
    -------
    iterator of list
        Of each part of the inputs one chunk for every number to explain.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> backend = SimpleNamespace(lengths=torch.tensor([3, 9, 4]))
    >>> [each[0].rows.tolist() for each in chunks(backend, [("logit", None)], max_tokens=10, launch=9)]
    [[1], [2, 0]]
    """
    order = backend.lengths.argsort(descending=True, stable=True)
    numbers = [(output, None if target is None else target.to(order.device)) for output, target in numbers]
    lengths = backend.lengths[order].cpu().numpy()
    apart = bool(lengths[0] != lengths[-1]) and getattr(backend, "padding_shows", False)
    begin = 0
    for size in cut(lengths, launch=launch, most_tokens=max_tokens, apart=apart):
        rows, length = order[begin : begin + size], int(lengths[begin])
        begin += size
        together = [
            kind(backend, rows, length, output, max_tokens, launch, None if target is None else target[rows])
            for output, target in numbers
        ]
        for chunk in together:
            chunk.together = together
        yield together


@contextmanager
def eager_attention(model: Any, *, returned: bool = False) -> Iterator[None]:
    """A replica's attention in plain operations inside (fused kernels return no attention maps), as it was outside.

    Parameters
    ----------
    model
        The replica.
    returned : bool, default False
        Whether modules that return their maps only when asked to (DeBERTa's, MPNet's) are asked.

    Returns
    -------
    context manager
        Of None.

    Raises
    ------
    ModelError
        Where the model's attention cannot be changed once it is made.

    Examples
    --------
    >>> from transformers import DistilBertConfig, DistilBertModel
    >>> model = DistilBertModel(DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4))
    >>> with eager_attention(model):
    ...     model.config._attn_implementation
    'eager'
    """
    config: Any = getattr(model, "config", None)
    before, asked = getattr(config, "_attn_implementation", None), getattr(config, "output_attentions", None)
    switch = before not in (None, "eager") and hasattr(model, "set_attn_implementation")
    try:
        if switch:
            model.set_attn_implementation("eager")
            if config._attn_implementation != "eager":
                raise ModelError(
                    f"the attention of this {type(model).__name__} stays {config._attn_implementation!r} once it is "
                    "made: load the model with attn_implementation='eager'"
                )
        if returned and asked is not None:
            config.output_attentions = True
        with plain_attention(model):
            yield
    finally:
        if asked is not None:
            config.output_attentions = asked
        if switch:
            model.set_attn_implementation(before)
