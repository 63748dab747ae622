"""What a model's numbers mean, and the one that is explained and measured.

A classifier's head is read in one of three ways, named after the output that follows it:

=============  =================================  ==================================  ==================================
output         head                               the number F of target t            predicted
=============  =================================  ==================================  ==================================
"probability"  softmax over C >= 2 classes        softmax(z)_t                        the largest logit
"sigmoid"      C >= 2 labels, each with a         sigmoid(z_t)                        the most probable label
               probability of its own
"sigmoid"      one logit: the classes 1 (yes)     sigmoid(z) of 1, sigmoid(-z) of 0   1 where sigmoid(z) >= .5
               and 0 (no)
"value"        predicted numbers (regression)     z_t                                 nothing; a single value is the
                                                                                      target
"logit"        any of these                       z_t; of one logit z of class 1, -z  as above
                                                  of class 0
=============  =================================  ==================================  ==================================

One logit z is thus what the two logits (0, z) are under a softmax. `metrics` that count how long the prediction stays
(`auc`, `n_auc`, `autpc`) follow the predicted class, of several labels the side of .5 on which the target's probability
is. These and `log_odds`, of log F where F is a probability, do not exist for a value.

Shape letters: B inputs, R rows, C outputs of the model.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from faithlib.errors import InputError, check_known, counted
from faithlib.names import FollowedOutput, Output

__all__ = ["FOLLOWED", "OUTPUTS"]

OUTPUTS: tuple[Output, ...] = ("probability", "logit", "loss", "top_logit", "sigmoid", "value")
FOLLOWED: tuple[FollowedOutput, ...] = ("probability", "logit", "sigmoid", "value")
"""What metrics can follow."""

NEEDS_PROBABILITY = "follows a probability or the predicted class; output 'value', a predicted number, has neither"

_HEADS = {
    "single_label_classification": "probability",
    "multi_label_classification": "sigmoid",
    "regression": "value",
}


def read(logits: Tensor, target: Tensor, output: str) -> Tensor:
    """The explained number F [R, ...] of logits [R, ..., C] for target classes [R].

    Beside the table above: "loss", log softmax(z)_t, the cross entropy with its sign turned, so that a larger number,
    and a positive score, always supports the target. "top_logit" is max_c z_c, whichever class that is for these
    logits.

    Raises UnknownNameError for another output, InputError for a softmax of one logit, which is 1 whatever the model
    says.

    >>> read(torch.tensor([[0.0, 0.0]]), torch.tensor([1]), "probability")
    tensor([0.5000])
    >>> read(torch.tensor([[2.0], [2.0]]), torch.tensor([1, 0]), "sigmoid")  # yes, and no
    tensor([0.8808, 0.1192])
    """
    check_known("output", output, OUTPUTS)
    count = logits.shape[-1]
    if count == 1 and output in ("probability", "loss"):
        raise InputError(_asking(output))
    if count == 1 and output == "value":
        return logits[..., 0]
    if output == "top_logit":
        return logits.amax(dim=-1)
    if output == "loss":
        return log_probability(logits, target, "probability")
    if output == "probability":
        logits = logits.softmax(dim=-1)
    number = _of_target(logits, target)
    return number.sigmoid() if output == "sigmoid" else number


def log_probability(logits: Tensor, target: Tensor, head: str) -> Tensor:
    """The logarithm [R, ...] of the target's probability under a head, "probability" or "sigmoid"; NaN under "value".

    >>> log_probability(torch.tensor([[0.0]]), torch.tensor([1]), "sigmoid").exp()
    tensor([0.5000])
    """
    if head == "value":
        return torch.full_like(logits[..., 0], torch.nan)
    if head == "sigmoid":
        return functional.logsigmoid(_of_target(logits, target))
    return _of_target(logits.log_softmax(dim=-1), target)


def predicted(logits: Tensor, head: str = "probability") -> Tensor:
    """The predicted class [R, ...] of logits [R, ..., C]; 0 where these are predicted values.

    >>> predicted(torch.tensor([[0.1, 0.9]])), predicted(torch.tensor([[-0.1], [0.0]]))
    (tensor([1]), tensor([0, 1]))
    """
    classes = (logits[..., 0] >= 0).long() if logits.shape[-1] == 1 else logits.argmax(dim=-1)
    return classes * (head != "value")


def settled_classes(logits: Tensor, target: Tensor | None, head: str) -> Tensor:
    """The target classes [R], given the logits of the inputs themselves: those asked for, or the predicted; InputError
    for a class that the model lacks, or rules out for an input (a logit of -inf, which nothing moves).

    >>> settled_classes(torch.tensor([[0.0, 1.0]]), None, "logit")
    tensor([1])
    """
    if target is None and head == "value" and logits.shape[-1] > 1:
        raise InputError(f"target 'predicted': of {logits.shape[-1]} predicted values none is the one; give its index")
    if target is None:
        return predicted(logits.detach(), head)
    classes = 2 if logits.shape[-1] == 1 and head != "value" else logits.shape[-1]  # one logit is that of class 1
    if bool((target >= classes).any()):
        raise InputError(f"target {target.tolist()}: expected classes 0 to {classes - 1}")
    if bool((endless := _of_target(logits.detach(), target).isinf()).any()):
        which = counted(int(endless.sum()), "input")
        raise InputError(
            f"target {target[endless][:5].tolist()}: the logit is infinite for {which}, by which a "
            "model rules a class out whatever it reads: expected a class that it can predict"
        )
    return target


def stays(logits: Tensor, first: Tensor, target: Tensor, head: str) -> Tensor:
    """Where logits [B, S, C] of perturbed copies predict what `first` [B, C], those of the inputs, do: bool [B, S].

    >>> logits, first = torch.tensor([[[0.3, -2.0], [-0.3, -2.0]]]), torch.tensor([[0.1, -1.0]])
    >>> stays(logits, first, torch.tensor([0]), "probability"), stays(logits, first, torch.tensor([0]), "sigmoid")
    (tensor([[True, True]]), tensor([[ True, False]]))
    """
    if head == "sigmoid" and first.shape[-1] > 1:
        return (_of_target(logits, target) >= 0) == (_of_target(first, target) >= 0)[:, None]
    return predicted(logits) == predicted(first)[:, None]


def _of_target(values: Tensor, target: Tensor) -> Tensor:
    """Values [R, ..., C] at the targets [R]; of one logit the logit of class 1, and that of class 0 with its sign
    turned."""
    index = target.view(-1, *([1] * (values.ndim - 2)))
    if values.shape[-1] == 1:
        with torch._C.DisableTorchFunction():  # no operation of a model, of which relevance propagation has rules
            return values[..., 0] * torch.where(index == 1, 1.0, -1.0).to(values.dtype)
    return values.gather(-1, index[..., None].expand(*values.shape[:-1], 1))[..., 0]


# ---------------------------------------------------------------------------------------------------- which one it is
def stated(model: Any) -> str:
    """The output that a model names (`stated_output`), or its configuration (`config.problem_type`); "" where none.

    >>> from types import SimpleNamespace
    >>> stated(SimpleNamespace(config=SimpleNamespace(problem_type="regression"))), stated(len)
    ('value', '')
    """
    kind = getattr(getattr(model, "config", None), "problem_type", None)
    return str(getattr(model, "stated_output", "")) or _HEADS.get(kind or "", "")


def settled(output: str | None, model: Any, count: int) -> str:
    """The output that metrics follow: the one asked for, or by the model's configuration, of `count` outputs.

    Raises InputError where one output says nothing by itself, and where what is asked for contradicts the model.

    >>> settled(None, len, 2), settled("sigmoid", len, 1)
    ('probability', 'sigmoid')
    >>> settled(None, len, 1)
    Traceback (most recent call last):
    faithlib.errors.InputError: this model has one output: ...
    """
    check_stated(output, model)
    chosen = output or stated(model) or "probability"
    if count == 1 and chosen == "probability":
        raise InputError(_asking(output))
    return chosen


def check_stated(output: str | None, model: Any) -> None:
    """InputError where an output contradicts the model's own configuration.

    >>> check_stated("sigmoid", len)
    """
    named = stated(model)
    head = "probability" if output == "loss" else output
    if named and head in _HEADS.values() and head != named:
        if hasattr(model, "stated_output"):
            raise InputError(f"output {output!r}, and the numbers of this {type(model).__name__} are read as {named!r}")
        raise InputError(
            f"output {output!r}, and this model's config.problem_type is {model.config.problem_type!r}: expected "
            f"output={named!r} or 'logit'; where the configuration is wrong, set model.config.problem_type"
        )


def default_of(outputs: tuple[str, ...], model: Any, followed: str | None = None, count: int | None = None) -> str:
    """What a method that can explain `outputs`, its own default first, explains where nobody says: that, or what the
    head of the model is, or what metrics have `followed`.

    Raises InputError for a model of one output (of `count`, or as many as it says it has) of which nobody says what it
    means.

    >>> default_of(("logit", "sigmoid"), len), default_of(("probability", "sigmoid"), len, "sigmoid")
    ('logit', 'sigmoid')
    """
    named = followed or stated(model)
    if not named and (count_of(model) if count is None else count) == 1:
        raise InputError(_asking(None))
    if named in ("value", "logit"):
        return named
    return "sigmoid" if named == "sigmoid" and outputs[0] == "probability" else outputs[0]


def count_of(model: Any) -> int | None:
    """How many outputs a model says that it has (`config.num_labels`, `num_classes`); None where it does not say.

    >>> count_of(len) is None
    True
    """
    count = getattr(getattr(model, "config", None), "num_labels", getattr(model, "num_classes", None))
    return count if isinstance(count, int) else None


def head_of(output: str, model: Any, count: int) -> str:
    """How the head is read, "probability", "sigmoid" or "value", under an output that is settled.

    >>> head_of("logit", len, 1), head_of("logit", len, 3), head_of("value", len, 1)
    ('sigmoid', 'probability', 'value')
    """
    if output != "logit":
        return output
    return stated(model) or ("sigmoid" if count == 1 else "probability")


def _asking(output: str | None) -> str:
    why = "" if output is None else f", and output {output!r} is a softmax over classes, 1 whatever the model says"
    return (
        f"this model has one output{why}: expected output='sigmoid' where it is the logit of a yes (classes 0 and 1), "
        "or output='value' where it is a predicted number"
    )
