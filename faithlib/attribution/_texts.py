"""How methods run on texts: several at once, so that forward passes and gradients are shared.

A `Job` is one run of a method for one explained number; aggregations over D and poolings to features are read off its
answer afterwards. Gradients of one chunk come from one forward for all numbers.

Shape letters: B inputs, R rows of one chunk, L tokens, D embedding size, F features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from faithlib._scheduler import cost_model_of
from faithlib._warnings_log import note
from faithlib.attribution._target import Number, chunks
from faithlib.attribution.costs import Costs
from faithlib.attribution.perturbation import erased_inputs
from faithlib.backends import TextBackend
from faithlib.backends._model_adapters import is_quantised
from faithlib.backends.functions import ERASING_METHODS
from faithlib.errors import FaithlibError, ModelError, OutOfMemoryError, check_counts
from faithlib.inputs import Inputs, TextInputs, pooled
from faithlib.memory import is_out_of_memory
from faithlib.names import Pool

if TYPE_CHECKING:
    from faithlib.attribution._specification import Method

AGGREGATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "l2": lambda x: x.norm(dim=-1),
    "mean": lambda x: x.mean(dim=-1),
    "sum": lambda x: x.sum(dim=-1),
    "abs_sum": lambda x: x.sum(dim=-1).abs(),
}
POOLS = ("sum", "mean")

# A backward pass keeps every layer's activations: small chunks on a processor are also the fastest.
_MOST_TOKENS = {"cpu": 2048, "cuda": 1 << 15}
_CLAMPED = ("grad_cam", "transformer_mm", "transformer_attribution")  # where 0 is what is left of a negative number
# What these raise about a model; an error of another make is the caller's own, of a hook for example.
_OF_LIBRARIES = ("builtins", "torch", "captum", "timm", "transformers")
_SHARE_OF_ZEROS = 0.01


@dataclass(eq=False)
class Job:
    """One run of a method about one of the numbers to explain.

    `pool`: of images, whose maps are pooled as they come. `readers`: how many aggregations and poolings are read off
    it, for the account of costs. `raw`, when done: by aggregation (None where there is no D) the scores of positions
    [B, L], or of features [B, F]. `delta` [B], where it is wanted: by how much a method's scores miss their sum (NaN of
    one that states none). `passed`: errors that fail this job and no other.

    >>> from faithlib.attribution.registry import METHODS
    >>> job = Job("mine", METHODS["uniform"], 0, "sum", {}, passed=(ZeroDivisionError,))
    >>> with job.trying():
    ...     1 / 0
    >>> job.failed
    ZeroDivisionError('division by zero')
    """

    name: str
    method: Method
    number: int
    pool: Pool
    options: dict[str, Any]
    passed: tuple[type[Exception], ...] = ()
    aggregations: set[str | None] = field(default_factory=set)
    readers: int = 0
    delta: Tensor | None = None
    raw: dict[str | None, Tensor] = field(default_factory=dict)
    failed: Exception | None = None

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Inside, errors that are passed over are kept."""
        try:
            yield
        except self.passed as error:
            self.failed = error

    def scores(self, aggregation: str | None, inputs: Inputs, pool: Pool) -> Tensor:
        """What one row of a table reads: [B, F]; raises what has failed."""
        if self.failed is not None:
            raise self.failed
        raw = self.raw[aggregation]
        erases = self.method.answers == "features"
        if not isinstance(inputs, TextInputs) or (erases and erased_inputs(inputs, self.options) is inputs):
            return raw
        return pooled(raw, inputs.feature_of.to(raw.device), inputs.feature_mask.to(raw.device), pool)


def run_on_texts(
    jobs: Sequence[Job], backend: TextBackend, numbers: Sequence[Number], max_tokens: int | None, costs: Costs
) -> None:
    """Does jobs that look inside a model, chunk by chunk, whose forward passes they share.

    Parameters
    ----------
    jobs : Sequence[Job]
        What is done; their `raw` is filled.
    backend : TextBackend
        The model with its inputs.
    numbers : Sequence[Number]
        What is explained: outputs with target classes.
    max_tokens : int
        Positions a forward; None: what suits the device.
    costs : Costs
        The accounts.

    Examples
    --------
    >>> from faithlib.attribution.registry import METHODS
    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)
    >>> job = Job("mine", METHODS["saliency"], 0, "sum", {}, aggregations={"sum"})
    >>> run_on_texts([job], TextBackend(model, texts), [("logit", None)], None, Costs(model))
    >>> job.scores("sum", texts, "sum").shape
    torch.Size([1, 2])
    """
    for job in jobs:
        shape, kind = backend.inputs.input_ids.shape, torch.float32
        job.raw = {a: torch.zeros(shape, dtype=kind, device=backend.device) for a in job.aggregations}
    launch = cost_model_of(backend.model, backend.device).launch
    most = most_tokens(backend.device, max_tokens, _MOST_TOKENS)
    for job, chunk, answer in answers(jobs, partial(chunks, backend, max_tokens=most, launch=launch), numbers, costs):
        for aggregation, positions in job.raw.items():
            answered = answer if aggregation is None else AGGREGATIONS[aggregation](answer)
            positions[chunk.rows, : chunk.length] = answered


def answers(
    jobs: Sequence[Job], chunked: Callable[..., Iterable[list[Any]]], numbers: Sequence[Number], costs: Costs
) -> Iterator[tuple[Job, Any, Tensor]]:
    """Each job with a chunk of the inputs and what it answers about these; what fails answers no further.

    Parameters
    ----------
    jobs : Sequence[Job]
        What is done.
    chunked : Callable[..., Iterable[list[Any]]]
        Makes the chunks of some numbers to explain (`target.chunks`), whose forward passes jobs share.
    numbers : Sequence[Number]
        What is explained: outputs with target classes.
    costs : Costs
        The accounts.

    Returns
    -------
    iterator of tuple
        Job, chunk, and its answer, float32.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from faithlib.attribution._specification import Method
    >>> chunk = SimpleNamespace(backend=SimpleNamespace(model=nn.Flatten()), rows=torch.arange(2), gradients_asked=0)
    >>> job = Job("mine", Method(lambda chunk: chunk.rows, "positions", blind=True), 0, "sum", {})
    >>> [answer for *_, answer in answers([job], lambda numbers: [[chunk]], [("logit", None)], Costs(None))]
    [tensor([0., 1.])]
    """
    # Only the numbers that somebody here asks for: a forward pass that chunks share has a backward pass for each.
    used = sorted({job.number for job in jobs if not job.method.blind}) or [0]
    for together in chunked([numbers[n] for n in used]):
        for job in (job for job in jobs if job.failed is None):
            chunk, gradients = together[0 if job.method.blind else used.index(job.number)], not job.method.blind
            chunk.wants_delta, model = job.delta is not None, chunk.backend.model
            with job.trying(), costs.of_chunk(job.name, job.readers, chunk):
                with no_access_inside(job.name, model, gradients=gradients):
                    answer = job.method.run(chunk, **job.options).detach()
                if gradients and job.name not in _CLAMPED:
                    note_underflow(job.name, answer, chunk.erasable(), model)
                if job.delta is not None and chunk.delta is not None:
                    job.delta[chunk.rows] = chunk.delta.to(job.delta)
                yield job, chunk, answer.float()


def most_tokens(device: torch.device, given: int | None, most: dict[str, int]) -> int:
    """Positions a forward: those given, or what suits the device.

    Parameters
    ----------
    device : torch.device
        Where the model is.
    given : int
        The caller's number, at least 1; None: by device.
    most : dict[str, int]
        By type of device.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    InputError
        For a number below 1.

    Examples
    --------
    >>> most_tokens(torch.device("cpu"), None, {"cpu": 2048}), most_tokens(torch.device("cpu"), 64, {"cpu": 2048})
    (2048, 64)
    """
    check_counts(max_tokens=given)
    return most.get(device.type, most["cpu"]) if given is None else given


# -------------------------------------------------------------------------------- what a method that looks inside meets
@contextmanager
def no_access_inside(name: str, model: nn.Module, *, gradients: bool) -> Iterator[None]:
    """A context in which a method runs on a model; errors of libraries inside say which method does not work on it.

    Parameters
    ----------
    name : str
        The method's.
    model : nn.Module
        The one that it runs on.
    gradients : bool
        Whether the method takes gradients; cuDNN then leaves recurrent layers alone: its own go backward in training
        mode only.

    Returns
    -------
    context manager
        Of None.

    Raises
    ------
    ModelError
        Where gradients end at weights of few bits, and for whatever torch, captum, timm or transformers raise inside.
    OutOfMemoryError
        Where memory runs out.

    Examples
    --------
    >>> with no_access_inside("saliency", nn.Identity(), gradients=True):
    ...     torch.zeros(1).backward()
    Traceback (most recent call last):
    faithlib.errors.ModelError: saliency does not work on this Identity: RuntimeError: element 0 of tensors does not ...
    """
    if gradients and is_quantised(model):
        raise ModelError(
            f"{name} takes gradients, which quantised weights (int8, 4-bit) do not pass on: methods that work: "
            f"{ERASING_METHODS}, and those that only read attention or embeddings"
        )
    with ExitStack() as stack:
        if gradients and any(isinstance(part, nn.RNNBase) for part in model.modules()):
            stack.enter_context(torch.backends.cudnn.flags(enabled=False))
        try:
            yield
        except Exception as error:
            if is_out_of_memory(error) and not isinstance(error, FaithlibError):
                message = f"{name} ran out of memory: give a smaller max_tokens, the positions of one forward"
                raise OutOfMemoryError(message) from error
            if isinstance(error, FaithlibError) or type(error).__module__.split(".")[0] not in _OF_LIBRARIES:
                raise
            first_line = str(error).partition("\n")[0]
            message = f"{type(error).__name__}: {first_line}"
            raise ModelError(
                f"{name} does not work on this {type(model).__name__}: {message}. Methods that work: {ERASING_METHODS}"
            ) from error


def note_underflow(name: str, answer: Tensor, where: Tensor | slice, model: nn.Module) -> None:
    """Note that numbers made of gradients in float16 are 0 more often than numbers are.

    They are then below the smallest that it holds.

    Parameters
    ----------
    name : str
        The method's.
    answer : Tensor
        What it answered.
    where : Tensor | slice
        The places that count, bool, as many axes as it has.
    model : nn.Module
        Whose precision is looked at.

    Examples
    --------
    >>> from faithlib._warnings_log import collect_warnings
    >>> with collect_warnings() as notes:
    ...     note_underflow("saliency", torch.tensor([[0.0, 1.0]]), torch.tensor([[True, True]]), nn.Linear(1, 1).half())
    >>> notes["saliency"][:37]
    '50 % of its numbers are 0 in float16,'
    """
    first = next(model.parameters(), None)
    if first is None or first.dtype != torch.float16:
        return
    share = float((answer[where] == 0).float().mean())
    if share > _SHARE_OF_ZEROS:
        why = f"{round(100 * share)} % of its numbers are 0 in float16, whose smallest is 6e-8: gradients underflow; "
        note(name, why + "take float32 or bfloat16")
