"""One unperturbed input through the user's own call, beside what is computed here: no number of another model.

What is disturbed, hooked and differentiated is a model's parts; what a user trusts is the model's own call. They differ
where something is no part (virtual tokens, a patched forward) or where the model is in training mode in part, and the
same call answers differently each time where something is random. All of that shows in one row.

Shape letters: B inputs, C outputs of the model.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from faithlib.backends import Backend, FunctionBackend, TextBackend, VisionBackend, backend_for, replica
from faithlib.backends.answers import check_head, logits_of, named
from faithlib.backends.door import failure, in_training, inside, is_quantised, scales_by_batch, unwrapped
from faithlib.backends.functions import numbers_of
from faithlib.backends.prompts import Prompt
from faithlib.errors import ModelError, some_numbers
from faithlib.inputs import ImageInputs, Inputs
from faithlib.memory import is_out_of_memory
from faithlib.notes import note

# Differences of two ways to compute the same, as a share of 1 + the largest number.
_ROUNDING = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
_TF32, _QUANTISED, _FUNCTION = 1e-2, 1e-1, 1e-3
_ALL_THE_SAME = "check=False measures it all the same"


def self_check(asked: Any, backend: Backend, first: Tensor | None = None) -> int:
    """How many outputs C the model has, once one input has gone through its own call, `asked`, twice at most.

    `first` [B, C]: what was computed for the inputs; without it, it is computed for that one. Two rows either way.

    Raises ModelError where the answer changes from call to call, and where it is not what is computed here.

    >>> from faithlib.inputs import WordInputs
    >>> shares = iter(torch.linspace(0.1, 0.9, 9).tolist())
    >>> drawn = lambda texts: [[share, 1 - share] for share in [next(shares)] for text in texts]
    >>> backend = FunctionBackend(drawn, WordInputs.from_texts(["a b"]))
    >>> self_check(backend.model, backend)
    Traceback (most recent call last):
    faithlib.errors.ModelError: the function answers input 0 differently from call to call: ...
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
    b = int(backend.lengths.argmax())
    call = _own_call(asked, backend, b)
    again: Tensor | None = None
    ours: Tensor | None = None if first is None else first[b]
    with torch.no_grad():
        if call is None:
            return len(_ours(backend, b) if ours is None else ours)
        theirs = _first(call, asked, b)
        if isinstance(backend, TextBackend):
            again, ours = (None, _ours(backend, b)) if ours is None else (call(), ours)
        elif isinstance(backend, FunctionBackend):
            again, ours = call(), None if ours is None else backend.model([backend.inputs.texts[b]])[0]
        elif backend.tokens is None:
            own_model = replica(asked) if in_training(asked) else asked
            again = backend.asked(backend.inputs.pixels[[b]], own_model)[0].float()
        else:
            again, ours = ours, None
            if (apart := _apart(backend, theirs, b)) is not None:
                again = apart if in_training(asked) else call()
    if again is not None and _differ(theirs, again, asked):
        raise ModelError(
            f"{named(asked)} answers input {b} differently from call to call: {_apart_by(theirs, again, asked)}"
        )
    if ours is not None and _differ(theirs, ours, asked):
        raise ModelError(
            f"{named(asked)} by its own call, and as it is run here, answers input {b} {_apart_by(theirs, ours, asked)}"
        )
    numbers = theirs[None] if first is None else first
    adds_up = bool((numbers >= 0).all()) and bool(((numbers.sum(dim=1) - 1).abs() < 1e-3).all())
    if adds_up and len(theirs) > 1 and not isinstance(backend, FunctionBackend):
        why = "answers numbers that add up to 1 and are read as logits: of probabilities, give their logarithms"
        note("logits", f"{named(asked)} {why}")
    return len(theirs)


def _first(call: Callable[[], Tensor], asked: Any, b: int) -> Tensor:
    try:
        return call()
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError, AssertionError) as error:
        # Only what torch and transformers say themselves: errors of the user's own pass as they are.
        if type(error).__module__ != "builtins" or is_out_of_memory(error) or not isinstance(asked, nn.Module):
            raise
        message = f"{named(asked)} fails on input {b} by its own call: {failure(asked, error)}"
        raise ModelError(f"{message}. {_ALL_THE_SAME}") from error


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
    return self_check(quiet if getattr(model, "training", False) else asked, backend)


def _own_call(asked: Any, backend: Backend, b: int) -> Callable[[], Tensor] | None:
    """The user's own call about input `b`: the numbers [C] that it answers; None of a model that takes no token ids."""
    if isinstance(backend, FunctionBackend):
        fn, texts = backend.model.fn, [backend.inputs.texts[b]]
        return lambda: numbers_of(fn([*texts]), 1)[0]
    if not isinstance(backend, TextBackend):
        # Of a copy each time: a forward may write into what it is given.
        return lambda: backend.asked(backend.inputs.pixels[[b]], asked)[0].float()
    taken = inspect.signature(backend.model.forward).parameters
    if "input_ids" not in taken and not any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return None
    length, inputs = int(backend.lengths[b]), backend.inputs
    ids = inputs.input_ids[b : b + 1, :length]
    if isinstance(prompt := inside(asked), Prompt):
        return lambda: _of_prompt(prompt, backend, ids, b)
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if inputs.token_type_ids is not None and "token_type_ids" in taken:
        given["token_type_ids"] = inputs.token_type_ids[b : b + 1, :length]
    return lambda: logits_of(asked(**given), 1, asked)[0].to(backend.device).float()


def _of_prompt(prompt: Prompt, backend: TextBackend, ids: Tensor, b: int) -> Tensor:
    """The numbers [K] that a prompt's own forward on ids [1, L] leads to."""
    follows = backend.inputs.follows
    if follows is not None:
        return prompt.own_call(ids, follows[[b]])[0].to(backend.device).float()
    theirs = logits_of(prompt(ids, torch.ones_like(ids)), 1, prompt).to(backend.device)
    return (backend.compared(theirs, torch.tensor([b])) if prompt.reads_distribution else theirs)[0].float()


def _ours(backend: Any, b: int) -> Tensor:
    """What is computed for input `b` [C], from its embeddings on; nothing where no forward comes by them."""
    row = torch.tensor([b], device=backend.device)
    embeddings = backend.embeddings(row, length=int(backend.lengths[b]))
    return backend.logits(embeddings, row)[0].float() if len(embeddings) else embeddings


def _apart(backend: VisionBackend, theirs: Tensor, b: int) -> Tensor | None:
    """The answer [C] that a model's tokens lead to, where it is not its own: then nothing is done with them, and pixels
    are left."""
    backend.forget_tokens("")
    ours = _ours(backend, b)
    if not _differ(theirs, ours, backend.model):
        return None
    values = f", {_pair(theirs, ours)}" if len(ours) else ""
    backend.forget_tokens(f"its own call answers otherwise than its parts do{values}")
    return ours


def _check_parts(asked: nn.Module) -> None:
    check_head(asked)
    for name, part in asked.named_modules():
        # Calling it would change it: it takes notes of what it sees.
        if part.training and not asked.training and getattr(part, "track_running_stats", False):
            raise ModelError(f"a part of {named(asked)} is in training mode, {name!r}: call model.eval() first")


def _differ(theirs: Tensor, other: Tensor, asked: Any) -> bool:
    if theirs.shape != other.shape:
        return True
    bound = _tolerance(asked) * (1 + float(theirs.abs().max().nan_to_num(0)))
    return not bool(torch.isclose(theirs, other.to(theirs.dtype), rtol=0, atol=bound, equal_nan=True).all())


def _tolerance(asked: Any) -> float:
    first = next(asked.parameters(), None) if isinstance(asked, nn.Module) else None
    if first is None:
        return _FUNCTION
    if is_quantised(asked):
        return _QUANTISED
    tf32 = first.is_cuda and first.dtype == torch.float32 and torch.backends.cudnn.allow_tf32
    return _TF32 if tf32 else _ROUNDING.get(first.dtype, _QUANTISED)


def _pair(theirs: Tensor, other: Tensor) -> str:
    return f"{some_numbers(theirs.tolist())} and {some_numbers(other.tolist())}"


def _apart_by(theirs: Tensor, other: Tensor, asked: Any) -> str:
    parts = in_training(asked)
    if not isinstance(asked, nn.Module):
        why = "expected a function whose answer to an input depends on nothing else: no draws without a fixed seed, no "
        why += "other inputs of the same call"
    elif parts:
        shown = ", ".join(parts[:3])
        if len(parts) > 3:
            shown += " ..."
        why = f"parts are in training mode, {shown}: call model.eval()"
    else:
        why = "expected a model that is what its parts are, in evaluation mode: no dropout that stays on, no virtual "
        why += "tokens or adapters around it, no forward patched in"
    return f"{_pair(theirs, other)}; {why}. {_ALL_THE_SAME}"
