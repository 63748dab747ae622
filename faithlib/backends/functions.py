"""Anything that answers: a function from texts to probabilities, or to predicted numbers.

A scikit-learn pipeline's `predict_proba`, a remote service, a model in another framework. Nothing can be looked into,
so features are erased from the text itself; a function from pixels to logits is asked by `VisionBackend`.

Shape letters: R texts of one question, F features, C classes.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, NoReturn

import torch
from torch import Tensor

from faithlib.errors import InputError, ModelError, UnavailableError, counted, some_numbers
from faithlib.inputs import WordInputs
from faithlib.segmentation import items_of

__all__ = ["FunctionBackend", "Remembering"]

# What explains and measures without a look inside.
_EXPECTED = (
    "expected probabilities [R, C], at least 0 and 1 in sum; with output='sigmoid' probabilities that need not add up, "
    "with output='value' any numbers (evaluate(..., settings=MetricSettings(output='value')))"
)
_EMPTY = (
    "It is asked where every word is erased: with erase='mask' there is "
    "'[MASK]' for each of them, and with WordInputs.from_texts(texts, empty='[MASK]') that stands where nothing is left"
)
_REFUSALS = ("RateLimit", "Timeout", "ConnectionError", "ServiceUnavailable", "TooManyRequests", "Overloaded")
_ENOUGH = 8  # answers of which it says something that each goes down
ERASING_METHODS = "lime, occlusion, shapley_sampling, random and uniform"
ERASING = f"{ERASING_METHODS}; all metrics but the soft ones; bounds"


class Remembering:
    """A function of texts that asks `fn` each distinct text once, all new ones in one call: answers [R, C], of single
    numbers [R, 1].

    Given to `evaluate` instead of `fn`, it keeps answers from one call to the next. Where `fn` is refused for now
    (a rate limit, a connection), it is asked again after each of the `waits`, in seconds.

    Raises InputError where `fn` does not answer for each text, or fails on the empty text alone; UnavailableError where
    it is refused for good.

    >>> model = Remembering(lambda texts: print(texts) or [[0.2, 0.8]] * len(texts))
    >>> model(["a", "b", "a"]).shape
    ['a', 'b']
    torch.Size([3, 2])
    """

    def __init__(self, fn: Callable[[list[str]], Any], *, waits: Sequence[float] = (1, 2, 4, 8, 16)) -> None:
        self.fn = fn
        self.waits = tuple(waits)
        self._known: dict[str, Tensor] = {}

    def __call__(self, texts: Sequence[str]) -> Tensor:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._ask(new)
        return torch.stack([self._known[text] for text in texts])

    def _ask(self, new: list[str]) -> None:
        """Asks new texts, and keeps the answers. The empty text, on which many functions fail, is found out."""
        try:
            answers = self.ask(new)
        except UnavailableError:
            raise
        except Exception as error:
            others = [text for text in new if text]
            if len(others) == len(new):
                raise
            if others:
                answers = self.ask(others)  # raises itself where these are the cause
                self._known |= dict(zip(others, answers, strict=True))
            raise InputError(f"the function fails on the empty text ({_words(error)}). {_EMPTY}") from error
        missing = answers.isnan().any(dim=1).tolist()
        self._known |= {text: answer for text, answer, is_nan in zip(new, answers, missing, strict=True) if not is_nan}
        if any(missing):
            broken = [text for text, is_nan in zip(new, missing, strict=True) if is_nan]
            if not any(broken):
                raise InputError(f"the function answers NaN for the empty text. {_EMPTY}")
            rows = f"{counted(len(broken), 'row')}, first {broken[0]!r}"
            raise InputError(f"the function answered NaN or infinity for {rows}: {_EXPECTED}")

    def ask(self, texts: Sequence[str]) -> Tensor:
        """Ask the function, also about texts whose answers are known; again after a while where it is refused.

        Parameters
        ----------
        texts : Sequence[str]
            R texts.

        Returns
        -------
        Tensor
            Its answers, [R, C]; they are not kept.

        Raises
        ------
        UnavailableError
            Where it is refused once more after every wait of `waits` (seconds), or after the longer ones that the
            service asks for.
        InputError
            For answers that are no numbers [R, C].
        """
        for wait in (*self.waits, None):
            try:
                return numbers_of(self.fn([*texts]), len(texts))  # a copy: a function may change its list
            except Exception as error:  # a function may raise what it likes
                if not is_refusal(error):
                    raise
                if wait is None:
                    times = counted(len(self.waits) + 1, "time")
                    unavailable = UnavailableError(
                        f"the function was refused {times} ({_words(error)}): {len(self._known)} "
                        "answers are kept; evaluate(error.answered, ...) goes on from there, of this error or of a "
                        "function that was wrapped first, faithlib.backends.Remembering(function)"
                    )
                    unavailable.answered = self
                    raise unavailable from error
                time.sleep(max(wait, _asked_to_wait(error)))
        raise AssertionError("not reached")

    @property
    def n_answers(self) -> int:
        """Texts whose answers are kept."""
        return len(self._known)

    @property
    def descends(self) -> bool | None:
        """Whether every answer so far goes down from the first number to the last, as sorted ones do; None where there
        are too few to say.

        >>> model = Remembering(lambda texts: [[0.7, 0.2, 0.1] for _ in texts])
        >>> _ = model(["a", "b", "c", "d", "e", "f", "g", "h"])
        >>> model.descends
        True
        """
        if len(self._known) < _ENOUGH:
            return None
        answers = torch.stack([*self._known.values()])
        steps = answers.diff(dim=1)
        moving = bool((steps < 0).any(dim=1).float().mean() > 0.5)
        return answers.shape[1] > 1 and moving and bool((steps <= 0).all())


def is_refusal(error: BaseException) -> bool:
    """Whether an error says that a service does not answer for now: by its status (429, 502, 503, 504), or its name.

    >>> is_refusal(TimeoutError()), is_refusal(ValueError("429"))
    (True, False)
    """
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None) or getattr(error, "code", 0)
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    return status in (429, 502, 503, 504, 529) or any(name in names for name in _REFUSALS)


def _asked_to_wait(error: BaseException) -> float:
    """Seconds that a service asks to wait for, at most a minute."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return min(60.0, float(headers.get("retry-after", 0)))
    except (AttributeError, TypeError, ValueError):
        return 0.0


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def numbers_of(answer: Any, count: int) -> Tensor:
    """What a function answered about so many texts as numbers [R, C]; InputError where it is something else.

    >>> numbers_of([0.5, 1.5], 2).shape
    torch.Size([2, 1])
    """
    if answer is None:
        raise InputError(f"the function answered None, as one without `return` does: {_EXPECTED}")
    if isawaitable(answer):
        if hasattr(answer, "close"):
            answer.close()  # or Python warns of a coroutine that was never awaited
        raise InputError(
            f"the function answered a {type(answer).__name__}, as `async def` does: {_EXPECTED}; "
            "give lambda texts: asyncio.run(function(texts))"
        )
    answer = _held(answer)
    items = answer if isinstance(answer, list | tuple) else []
    inner = items[0] if items and isinstance(items[0], list | tuple) and items[0] else items
    if inner and isinstance(inner[0], Mapping):
        raise InputError(
            "the function answered lists of dicts, as a pipeline of transformers does: expected numbers, of every "
            "class in the same order; give the pipeline itself, or lambda texts: [[one['score'] for one in "
            "sorted(row, key=lambda one: one['label'])] for row in pipe(texts, top_k=None)]"
        )
    if inner and isinstance(inner[0], str):
        raise InputError(f"the function answered the label {inner[0]!r}: {_EXPECTED}; an estimator's is predict_proba")
    try:
        # A copy: a function may answer in the same buffer each time.
        numbers = torch.as_tensor(answer, dtype=torch.float32, device="cpu").detach().to_dense().clone()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"the function answered a {type(answer).__name__} ({error}): {_EXPECTED}") from error
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    if numbers.ndim != 2 or len(numbers) != count or not numbers.shape[1]:
        shape = f"numbers of shape {list(numbers.shape)} for {counted(count, 'text')}"
        raise InputError(f"the function answered {shape}: {_EXPECTED}")
    return numbers


def _held(answer: Any) -> Any:
    """An answer as one array or nested lists, whatever holds its rows: a frame, a list of tensors, a generator."""
    if isinstance(answer, Tensor | str | bytes | Mapping):
        return answer
    answer = answer.to_numpy() if hasattr(answer, "to_numpy") else answer  # of pandas and polars
    if getattr(getattr(answer, "dtype", None), "kind", "O") != "O":
        return answer
    rows = items_of(answer)
    return [row.tolist() if hasattr(row, "tolist") else row for row in rows] if isinstance(rows, list) else answer


class FunctionBackend:
    """A function from R strings to probabilities [R, C] (array or tensor), and the texts it is asked about.

    Logits are log p, so that their softmax is p again; 0 counts as the smallest float32. With `output` "sigmoid" they
    are log(p / (1 - p)), of probabilities that need not add up; with "value" the answers themselves.

    >>> model = lambda texts: [[0.1, 0.9] if "good" in text else [0.5, 0.5] for text in texts]

    >>> backend = FunctionBackend(model, WordInputs.from_texts(["good film"]))
    >>> backend.forward_kept(torch.tensor([0]), torch.tensor([[True, False]]), masked=False).exp()  # of "good"
    tensor([[0.1000, 0.9000]])
    """

    def __init__(
        self, model: Callable[[list[str]], Any], inputs: WordInputs, output: str | None = "probability"
    ) -> None:
        self.model = model if isinstance(model, Remembering) else Remembering(model)
        self.inputs = inputs
        self.output = output
        self.device = inputs.n_features.device
        # In words: what a chunk holds is limited by their number, as that of other models by tokens.
        self.lengths = inputs.n_features

    def forward_kept(self, index: Tensor, keep: Tensor, *, masked: bool) -> Tensor:
        """Logits [R, C] of the texts of inputs `index` [R] with the words of `keep` [R, F]."""
        rows = zip(index.tolist(), keep.tolist(), strict=True)
        return self.logits_of(self.model([self.inputs.without(i, kept, masked=masked) for i, kept in rows]))

    def logits_of(self, answers: Tensor) -> Tensor:
        """Logits [R, C] of what the function answered; InputError where that is not what the output says."""
        p = answers.to(self.device)
        if self.output == "value":
            return p
        off = ((p < 0) | (p > 1 + 1e-3)).any(dim=1)
        if self.output != "sigmoid":
            off |= (p.sum(dim=1) - 1).abs() > 1e-3
        if bool(off.any()):
            raise InputError(f"the function answered {some_numbers(p[off][0].tolist())} for a text: {_EXPECTED}")
        tiny = torch.finfo(p.dtype).tiny
        log_p = p.clamp(min=tiny).log()
        return log_p - (1 - p).clamp(min=tiny).log() if self.output == "sigmoid" else log_p

    def embeddings(self, *_: object, **__: object) -> NoReturn:
        """There are none: ModelError, which says what works."""
        raise ModelError(f"a function of texts has no embeddings to disturb; what works: {ERASING}")
