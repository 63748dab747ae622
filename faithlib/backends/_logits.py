"""What a model's own call gives back: logits, in whatever they are wrapped, or an error that names what to use.

Shape letters: R rows of one forward, C outputs of the model.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from faithlib.errors import ModelError
from faithlib.outputs import count_of

_SEQUENCE = "expected a classifier of whole inputs, such as BertForSequenceClassification or ViTForImageClassification"
_AS_FUNCTION = "or ask it as a function from texts to probabilities (faithlib.inputs.WordInputs)"
_BY_PROMPT = (
    "ask it by prompt, PromptClassifier(model, tokenizer, template, labels), or for the text that follows, "
    "Continuation(model, tokenizer, template)"
)
_INSTEAD = {
    "ForCausalLM": _BY_PROMPT,
    "LMHeadModel": _BY_PROMPT,
    "ForTokenClassification": f"one label a token is no number for the text; {_SEQUENCE}, {_AS_FUNCTION}",
    "ForQuestionAnswering": f"a start and an end are no number for the text; {_SEQUENCE}, {_AS_FUNCTION}",
    "ForMaskedLM": f"{_SEQUENCE}, {_AS_FUNCTION}",
    "ForMultipleChoice": f"its choices are texts of their own; {_SEQUENCE}, {_AS_FUNCTION}",
    "ForConditionalGeneration": f"{_SEQUENCE}, {_AS_FUNCTION}",
    "ForPreTraining": _SEQUENCE,
}


def logits_of(answer: Any, rows: int, model: Any) -> Tensor:
    """The logits [R, C] in what `model` answered about so many rows: a tensor, a tuple that begins with one, or
    something that holds `logits`; of one number per row [R, 1]. ModelError for anything else.

    >>> import torch
    >>> logits_of({"logits": torch.zeros(2, 3)}, 2, None).shape, logits_of((torch.zeros(2, 3), None), 2, None).shape
    (torch.Size([2, 3]), torch.Size([2, 3]))
    """
    logits = logits_in(answer)
    if isinstance(answer, tuple | list):
        logits = _of_several(answer, rows, model, logits)
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        kind = logits.dtype if isinstance(logits, Tensor) else type(logits).__name__
        raise ModelError(f"{named(model)} answers no logits, {kind}: {instead(model)}")
    logits = logits[:, None] if logits.ndim == 1 else logits
    if logits.ndim == 2 and not logits.shape[1]:
        raise ModelError(f"{named(model)} has no outputs (num_labels=0): {_SEQUENCE}")
    if logits.ndim != 2 or len(logits) != rows:
        raise ModelError(f"{named(model)} answered {list(logits.shape)} for {rows} rows: {instead(model)}")
    return logits


def _of_several(answer: Sequence[Any], rows: int, model: Any, first: Any) -> Any:
    """The logits among the tensors of an answer: the first, or where several could be, the one with as many columns as
    the model says that it has classes; ModelError where that is none or more than one."""
    could = [
        item for item in answer if isinstance(item, Tensor) and item.is_floating_point() and item.shape[:-1] == (rows,)
    ]
    widths = {scores.shape[1] for scores in could}
    said = count_of(model)
    if len(widths) < 2:
        return first
    fitting = [scores for scores in could if scores.shape[1] == said]
    if len(fitting) != 1:
        sizes = ", ".join(str(list(scores.shape)) for scores in could)
        says = "does not say how many classes it has" if said is None else f"says that it has {said} classes"
        raise ModelError(
            f"{named(model)} answers several tensors that could be logits, {sizes}, and {says} (config.num_labels): "
            "expected one with a column for each class; let its forward return logits alone"
        )
    return fitting[0]


def logits_in(answer: Any) -> Any:
    """What stands for logits in an answer, whatever that is.

    >>> logits_in((1.0, 2.0))
    (1.0, 2.0)
    """
    if isinstance(answer, Mapping):
        return answer.get("logits", answer)
    if isinstance(answer, tuple | list) and answer and isinstance(answer[0], Tensor):
        return answer[0]
    return getattr(answer, "logits", answer)


def check_task(model: Any) -> None:
    """ModelError for a model of Hugging Face that is made for something else than to classify texts.

    >>> check_task(type("BertForMaskedLM", (nn.Identity,), {})())
    Traceback (most recent call last):
    faithlib.errors.ModelError: this BertForMaskedLM gives no class to a text: expected a classifier of whole ...
    """
    name = type(model).__name__
    without_head = name.endswith("Model") and type(model).__module__.startswith("transformers")
    if without_head or any(name.endswith(ending) for ending in _INSTEAD):
        raise ModelError(f"{named(model)} gives no class to a text: {instead(model)}")


def instead(model: Any) -> str:
    """What to use instead of a model that is no classifier.

    >>> instead(nn.Linear(1, 1))
    'expected logits [R, C], a row for each input'
    """
    name = type(model).__name__
    advice = next((what for ending, what in _INSTEAD.items() if name.endswith(ending)), None)
    if advice is None and name.endswith("Model") and hasattr(model, "config"):
        return f"it has no head; {_SEQUENCE}"
    return advice or "expected logits [R, C], a row for each input"


def named(model: Any) -> str:
    """A model in a sentence.

    >>> named(nn.Identity()), named(len)
    ('this Identity', 'the function')
    """
    return f"this {type(model).__name__}" if isinstance(model, nn.Module) else "the function"


def check_head(model: Any) -> None:
    """ModelError where a model's head has been taken off, so that its numbers are features.

    >>> check_head(nn.Linear(2, 2))
    """
    of_timm, names = getattr(model, "get_classifier", None), ("classifier", "fc", "head", "score")
    heads = of_timm() if of_timm else tuple(getattr(model, name, None) for name in names)
    modules = [head for head in (heads if isinstance(heads, tuple) else (heads,)) if isinstance(head, nn.Module)]
    if modules and all(isinstance(head, nn.Identity) for head in modules):
        raise ModelError(
            f"{named(model)} has no head (nn.Identity, as num_classes=0 leaves it), so that its numbers are features "
            "and no classes: expected a classifier; give it a head, or explain one feature with a function of pixels "
            "and output='value'"
        )
