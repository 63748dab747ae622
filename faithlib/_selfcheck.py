"""One unperturbed input through the user's own call, beside what is computed here: no number of another model.

What is disturbed, hooked and differentiated is a model's parts; what a user trusts is the model's own call. They differ
where something is no part (virtual tokens, a patched forward) or where the model is in training mode in part, and the
same call answers differently each time where something is random. All of that shows in one row.

Shape letters: B inputs, C outputs of the model.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from faithlib._warnings_log import note
from faithlib.backends import Backend, FunctionBackend, TextBackend, VisionBackend, backend_for, replica
from faithlib.backends._logits import check_head, logits_of, named
from faithlib.backends._model_adapters import (
    failure,
    in_training,
    inside,
    is_quantised,
    patched,
    scales_by_batch,
    unwrapped,
)
from faithlib.backends.prompts import Prompt
from faithlib.backends.shared_weights import BypassError
from faithlib.errors import ModelError, OutOfMemoryError, UnavailableError, some_numbers
from faithlib.inputs import ImageInputs, Inputs
from faithlib.memory import is_out_of_memory

# Differences of two ways to compute the same, as a share of 1 + the largest number.
_ROUNDING = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
_TF32, _QUANTISED, _FUNCTION = 1e-2, 1e-1, 1e-3
_ALL_THE_SAME = "check=False measures it all the same"
_AS_FUNCTION = "any model can be asked as a function from texts to probabilities (faithlib.inputs.WordInputs)"
# What torch and transformers raise about arguments that do not fit.
_OF_LIBRARIES = (TypeError, ValueError, RuntimeError, AttributeError, IndexError, KeyError, AssertionError)


def own_answers(asked: Any, backend: Backend, *, shortest: bool = True) -> dict[int, Tensor]:
    """What the user's own call answers [C] about the longest input and, where wanted, about the `shortest`, each alone:
    by input, before anything else is run, so that a model which cannot be called says so itself. A function is asked
    about the shortest alone. Nothing of a model that takes no token ids.

    Raises ModelError where the call fails, or where a part of the model is in training mode.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9]] * len(texts)
    >>> sorted(own_answers(model, FunctionBackend(model, WordInputs.from_texts(["a b", "a", "a b c"]))))
    [1]
    """
    asked = getattr(asked, "_orig_mod", asked)  # what torch.compile runs, without compiling for a new shape
    if isinstance(asked, nn.Module):
        _check_parts(inside(asked))
        if scales_by_batch(inside(asked)):
            note(
                "int8",
                "dynamic quantisation rounds by the range of all rows of a forward, so a value depends on the others "
                "beside it, in the second digit: compare such numbers with care, or measure the float model",
            )
    kind = backend.device.type
    if isinstance(asked, nn.Module) and torch.is_autocast_enabled(kind):
        note(
            "autocast",
            f"this call stands inside torch.autocast, so that rows run in {torch.get_autocast_dtype(kind)}, often .1 "
            "off float32: leave that context for the model's own precision; RunSettings(dtype=...) has another",
        )
    answers = {}
    wanted = [int(backend.lengths.argmax()), int(backend.lengths.argmin())]
    if isinstance(backend, FunctionBackend):
        wanted = wanted[1:]
    elif not shortest:
        wanted = wanted[:1]
    with torch.no_grad():
        for b in dict.fromkeys(wanted):
            call = _own_call(asked, backend, b)
            if call is not None:
                answers[b] = _first(call, asked, b)
    return answers


def self_check(
    asked: Any, backend: Backend, first: Tensor | None = None, own: Mapping[int, Tensor] | None = None
) -> int:
    """How many outputs C the model has, once some inputs have gone through its `own` call (`own_answers`).

    `first` [B, C]: what was computed for the inputs, the shorter ones beside longer ones; without it, it is computed
    for the inputs of the own call.

    Raises ModelError where the answer changes from call to call, and where it is not what is computed here.

    >>> from faithlib.inputs import WordInputs
    >>> shares = iter(torch.linspace(0.1, 0.9, 9).tolist())
    >>> drawn = lambda texts: [[share, 1 - share] for share in [next(shares)] for text in texts]
    >>> backend = FunctionBackend(drawn, WordInputs.from_texts(["a b"]))
    >>> self_check(backend.model, backend, own=own_answers(backend.model, backend))
    Traceback (most recent call last):
    faithlib.errors.ModelError: the function answers input 0 differently from call to call: ...
    """
    asked = getattr(asked, "_orig_mod", asked)
    with torch.no_grad():
        if not own:
            return len(_computed(backend, int(backend.lengths.argmax())) if first is None else first[0])
        for b, answer in own.items():
            _check_input(asked, backend, b, answer, first)
        _check_company(asked, backend, own)
    numbers = torch.stack([*own.values()]) if first is None else first
    adds_up = bool((numbers >= 0).all()) and bool(((numbers.sum(dim=1) - 1).abs() < 1e-3).all())
    if adds_up and numbers.shape[1] > 1 and not isinstance(backend, FunctionBackend):
        why = "answers numbers that add up to 1 and are read as logits: of probabilities, give their logarithms"
        note("logits", f"{named(asked)} {why}")
    return numbers.shape[1]


def _check_input(asked: Any, backend: Backend, b: int, answer: Tensor, first: Tensor | None) -> None:
    """Compares what the own call answers about input b with what is computed here."""
    again: Tensor | None = None
    computed: Tensor | None = None if first is None else first[b]
    call = _own_call(asked, backend, b)
    assert call is not None
    if isinstance(backend, TextBackend):
        if computed is None:
            computed = _computed(backend, b)
        if _differ(answer, computed, asked):
            again = call()
    elif isinstance(backend, FunctionBackend):
        again, computed = call(), None if computed is None else backend.model([backend.inputs.texts[b]])[0]
        if computed is not None and _differ(answer, computed, asked) and not _differ(answer, again, asked):
            again = call()  # company, or one that draws and happened to agree
    elif backend.tokens is None:
        own_model = replica(asked) if in_training(asked) else asked
        again = backend.asked(backend.inputs.pixels[[b]], own_model)[0].float()
    else:
        again, computed = computed, None
        if (apart := _apart(backend, answer, b)) is not None:
            again = apart if in_training(asked) else call()
    if again is not None and _differ(answer, again, asked):
        raise ModelError(
            f"{named(asked)} answers input {b} differently from call to call: "
            f"{_pair(answer, again)}; {_why_apart(asked)}. {_ALL_THE_SAME}"
        )
    if computed is not None and _differ(answer, computed, asked):
        if isinstance(backend, FunctionBackend):
            raise _of_company(asked, backend, b, answer, computed)
        # By itself it is run rightly.
        of_pixels = isinstance(backend, VisionBackend) and backend.tokens is None
        if of_pixels or (isinstance(backend, TextBackend) and not _differ(answer, _computed(backend, b), asked)):
            raise _of_company(asked, backend, b, answer, computed)
        why = _cause(asked, backend, b, computed) if isinstance(backend, TextBackend) else ""
        raise ModelError(
            f"{named(asked)} by its own call, and as it is run here, answers input {b} {_pair(answer, computed)}; "
            f"{why or _why_apart(asked)}. {_ALL_THE_SAME}"
        )


def _check_company(asked: Any, backend: Backend, own: Mapping[int, Tensor]) -> None:
    """Compares what is answered about a lone input beside copies of it with its `own` answer: nothing else shows there
    that answers depend on their company. Models of transformers and timm are known not to."""
    b = next(iter(own))
    beside = (
        None if type(asked).__module__.startswith(("transformers.", "timm.")) else _beside_copies(asked, backend, b)
    )
    if beside is not None and _differ(own[b], beside, asked):
        raise _of_company(asked, backend, b, own[b], beside)


def _beside_copies(asked: Any, backend: Backend, b: int) -> Tensor | None:
    """The answer [C] about the only input, between or behind copies that lack a feature; None where it has company."""
    if isinstance(backend, FunctionBackend):
        size = int(backend.lengths[b])
        if size < 2 or len(set(backend.inputs.texts)) > 1:
            return None
        # Between two shorter ones, so that no order by length leaves it where it is.
        first, last = ([place != left for place in range(size)] for left in (0, size - 1))
        before, behind = (backend.inputs.without(b, kept, masked=False) for kept in (first, last))
        try:
            return backend.model.ask([before, backend.inputs.texts[b], behind])[1]
        except UnavailableError:
            raise
        except Exception:  # about a copy: who asks about it will hear of it
            return None
    if len(backend.inputs) > 1:
        return None
    both = torch.tensor([b, b], device=backend.device)
    gone = torch.tensor([[True], [False]], device=backend.device)
    if isinstance(backend, TextBackend):
        embedded = backend.embeddings(both, length=int(backend.lengths[b]))
        if not len(embedded):
            return None
        lacks = gone & (backend.inputs.feature_of[both, : embedded.shape[1]] == 0)
        return backend.logits(embedded.masked_fill(lacks[..., None], 0), both)[1].float()
    pixels = backend.inputs.pixels[both]
    lacks = gone[..., None] & (backend.inputs.maps(both) == 0)
    return backend.asked(pixels.masked_fill(lacks[:, None], 0), asked)[1].float()


def _of_company(asked: Any, backend: Backend, b: int, alone: Tensor, beside: Tensor) -> ModelError:
    """The error about an answer that depends on what else shares a call."""
    what = "text" if isinstance(backend, FunctionBackend) else "input"
    one_by_one = "lambda texts: [function([text])[0] for text in texts]"
    cure = f"ask it one at a time, {one_by_one}" if what == "text" else "take what looks across the batch out of it"
    return ModelError(
        f"{named(asked)} answers {what} {b} alone, and in one call with other {what}s, {_pair(alone, beside)}: "
        "expected an answer that depends on no other inputs of the same call (padding that its model reads, numbers in "
        f"another order, a mean over the batch); {cure}. {_ALL_THE_SAME}"
    )


def cannot_run(asked: Any, backend: Backend, error: Exception, own: Mapping[int, Tensor]) -> ModelError | None:
    """Why a model of texts whose own call works fails where it is asked from its embeddings on; None for an error that
    is the user's own, or of memory.

    >>> cannot_run(nn.Identity(), None, ZeroDivisionError(), {}) is None
    True
    """
    if not isinstance(backend, TextBackend) or not own or is_out_of_memory(error):
        return None
    if isinstance(error, BypassError):
        if patched(asked):
            return None
        return ModelError(
            f"{named(asked)} is given embeddings and does not ask its own {type(backend.embedding_module).__name__} "
            f"for them, so that what enters its first layer cannot be reached; {_AS_FUNCTION}"
        )
    if type(error) not in _OF_LIBRARIES:
        return None
    further = backend.further_arguments
    why = f", which read {', '.join(further)} beside token ids" if further else ""
    return ModelError(
        f"{named(asked)} answers token ids, and fails where it is asked from its embeddings on{why}: "
        f"{failure(asked, error)}; {_AS_FUNCTION}"
    )


def _cause(asked: Any, backend: TextBackend, b: int, computed: Tensor) -> str:
    """Which argument of the own call makes its answer another one; "" where none does."""
    if patched(asked) or in_training(asked) or isinstance(inside(asked), Prompt):
        return ""
    given = _given(backend, b)
    pads = given["input_ids"][0] == backend.inputs.pad_id
    if bool(pads.any()):
        return (
            f"the id of padding, {backend.inputs.pad_id}, is the cause: it stands in the text itself, at token "
            f"{int(pads.nonzero()[0])}, where this call numbers places or looks for the end by it; leave it out of the "
            "text, or erase with another token"
        )
    without = {
        "token_type_ids": "its token_type_ids are the cause: they are of a tokenizer of another kind, and what they "
        "add to the embeddings is not erased with a token; expected a tokenizer that gives none, "
        "tokenizer.model_input_names = ['input_ids', 'attention_mask']",
        "attention_mask": "its attention_mask is the cause: without it the call answers as it is run here",
    }
    for name, what in without.items():
        left = {key: value for key, value in given.items() if key != name}
        if name in given and _answers(asked, left, computed):
            return what
    positions = torch.arange(given["input_ids"].shape[1], device=backend.device)[None]
    if _answers(asked, {**given, "position_ids": positions}, computed):
        return "its positions are the cause: counted from 0 in order, the call answers as it is run here"
    return ""


def _answers(asked: Any, given: Mapping[str, Tensor], computed: Tensor) -> bool:
    try:
        answer = logits_of(asked(**given), 1, asked)[0].to(computed.device).float()
    except Exception:  # whatever it raises, this is not what makes the difference
        return False
    return not _differ(answer, computed, asked)


def _first(call: Callable[[], Tensor], asked: Any, b: int) -> Tensor:
    try:
        return call()
    except _OF_LIBRARIES as error:
        if is_out_of_memory(error) and isinstance(asked, nn.Module):
            raise OutOfMemoryError(
                f"input {b} alone does not fit the memory by the model's own call: shorten it or use a smaller dtype"
            ) from error
        # Only what torch and transformers say themselves: errors of the user's own pass as they are.
        if type(error).__module__ != "builtins" or not isinstance(asked, nn.Module):
            raise
        message = f"{named(asked)} fails on input {b} by its own call: {failure(asked, error)}"
        needed = _needed(asked)
        if needed:
            message += f"; its forward needs {', '.join(needed)} as well: {_AS_FUNCTION}"
        raise ModelError(f"{message}. {_ALL_THE_SAME}") from error


def _needed(asked: nn.Module) -> list[str]:
    """Arguments without which a model's forward cannot be called, beside what it is given here."""
    known = {"input_ids", "attention_mask", "token_type_ids", "pixel_values", "x"}
    try:
        taken = inspect.signature(inside(asked).forward).parameters.values()
    except (TypeError, ValueError):
        return []
    named_ones = [
        parameter for parameter in taken if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    return [
        parameter.name
        for parameter in named_ones[1:]
        if parameter.default is parameter.empty and parameter.name not in known
    ]


def met(asked: Any, quiet: Any, inputs: Inputs) -> int:
    """`self_check` of a model `asked` where nothing has been computed yet, with its replica `quiet` (of a function,
    itself). A model in training mode is explained in evaluation mode: then the replica's own call is the user's.

    >>> from faithlib.inputs import WordInputs
    >>> model = lambda texts: [[0.1, 0.9]] * len(texts)
    >>> met(model, model, WordInputs.from_texts(["a b"]))
    2
    """
    model = unwrapped(asked)
    backend = VisionBackend(quiet, inputs, model) if isinstance(inputs, ImageInputs) else backend_for(quiet, inputs)
    called = quiet if getattr(model, "training", False) else asked
    own = own_answers(called, backend, shortest=False)
    try:
        return self_check(called, backend, own=own)
    except Exception as error:
        if (why := cannot_run(called, backend, error, own)) is not None:
            raise why from error
        raise


def _own_call(asked: Any, backend: Backend, b: int) -> Callable[[], Tensor] | None:
    """The user's own call about input `b`: the numbers [C] that it answers; None of a model that takes no token ids."""
    if isinstance(backend, FunctionBackend):
        asks, texts = backend.model, [backend.inputs.texts[b]]
        return lambda: asks.ask(texts)[0]
    if not isinstance(backend, TextBackend):
        # Of a copy each time: a forward may write into what it is given.
        return lambda: backend.asked(backend.inputs.pixels[[b]], asked)[0].float()
    taken = inspect.signature(backend.model.forward).parameters
    if "input_ids" not in taken and not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        return None
    given = _given(backend, b)
    if isinstance(prompt := inside(asked), Prompt):
        return lambda: _of_prompt(prompt, backend, given["input_ids"], b)
    return lambda: logits_of(asked(**given), 1, asked)[0].to(backend.device).float()


def _given(backend: TextBackend, b: int) -> dict[str, Tensor]:
    """What the user's own call is given about input b: a row of its own, without padding."""
    length, inputs = int(backend.lengths[b]), backend.inputs
    ids = inputs.input_ids[b : b + 1, :length]
    taken = inspect.signature(backend.model.forward).parameters
    given = {"input_ids": ids}
    if "attention_mask" in taken or any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        given["attention_mask"] = torch.ones_like(ids)
    if inputs.token_type_ids is not None and "token_type_ids" in taken:
        given["token_type_ids"] = inputs.token_type_ids[b : b + 1, :length]
    return given


def _of_prompt(prompt: Prompt, backend: TextBackend, ids: Tensor, b: int) -> Tensor:
    """The numbers [K] that a prompt's own forward on ids [1, L] leads to."""
    follows = backend.inputs.follows
    if follows is not None:
        return prompt.own_call(ids, follows[[b]])[0].to(backend.device).float()
    answer = logits_of(prompt(ids, torch.ones_like(ids)), 1, prompt).to(backend.device)
    return (backend.compared(answer, torch.tensor([b])) if prompt.reads_distribution else answer)[0].float()


def _computed(backend: Any, b: int) -> Tensor:
    """What is computed for input `b` [C], from its embeddings on; nothing where no forward comes by them."""
    row = torch.tensor([b], device=backend.device)
    embeddings = backend.embeddings(row, length=int(backend.lengths[b]))
    logits: Tensor = backend.logits(embeddings, row)[0].float() if len(embeddings) else embeddings
    return logits


def _apart(backend: VisionBackend, answer: Tensor, b: int) -> Tensor | None:
    """The answer [C] that a model's tokens lead to, where it is not its own: then nothing is done with them, and pixels
    are left."""
    backend.forget_tokens("")
    computed = _computed(backend, b)
    if not _differ(answer, computed, backend.model):
        return None
    values = f", {_pair(answer, computed)}" if len(computed) else ""
    backend.forget_tokens(f"its own call answers otherwise than its parts do{values}")
    return computed


def _check_parts(asked: nn.Module) -> None:
    check_head(asked)
    for name, part in asked.named_modules():
        # Calling it would change it: it takes notes of what it sees.
        if part.training and not asked.training and getattr(part, "track_running_stats", False):
            raise ModelError(f"a part of {named(asked)} is in training mode, {name!r}: call model.eval() first")


def _differ(answer: Tensor, other: Tensor, asked: Any) -> bool:
    if answer.shape != other.shape:
        return True
    bound = _tolerance(asked) * (1 + float(answer.abs().max().nan_to_num(0)))
    return not bool(torch.isclose(answer, other.to(answer.dtype), rtol=0, atol=bound, equal_nan=True).all())


def _tolerance(asked: Any) -> float:
    first = next(asked.parameters(), None) if isinstance(asked, nn.Module) else None
    if first is None:
        return _FUNCTION
    if is_quantised(asked):
        return _QUANTISED
    tf32 = first.is_cuda and first.dtype == torch.float32 and torch.backends.cudnn.allow_tf32
    return _TF32 if tf32 else _ROUNDING.get(first.dtype, _QUANTISED)


def _pair(answer: Tensor, other: Tensor) -> str:
    return f"{some_numbers(answer.tolist())} and {some_numbers(other.tolist())}"


def _why_apart(asked: Any) -> str:
    """What makes a model's answers differ, as far as can be seen without running it."""
    parts = in_training(asked)
    if not isinstance(asked, nn.Module):
        return (
            "expected a function whose answer to an input depends on nothing else: no draws without a fixed seed, no "
            "other inputs of the same call"
        )
    if parts:
        shown = ", ".join(parts[:3])
        if len(parts) > 3:
            shown += " ..."
        return f"parts are in training mode, {shown}: call model.eval()"
    return (
        "expected a model that is what its parts are, in evaluation mode: no dropout that stays on, no virtual "
        "tokens or adapters around it, no forward patched in"
    )
