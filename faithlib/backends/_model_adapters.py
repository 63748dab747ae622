"""What a user's model comes with, looked at before the core sees it: wrappers, names of classes, a tokenizer.

What people put around a model is taken off where the model inside is the same function, and refused by name where not.
Texts have to be in the numbers that the model reads: a number beyond a table ends a GPU's process.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from faithlib._warnings_log import note
from faithlib.errors import InputError, ModelError, UnknownNameError, unknown
from faithlib.inputs import TextInputs
from faithlib.outputs import stated
from faithlib.segmentation import items_of

_QUANTISED = (
    "torch.ao.nn.quantized", "torch.nn.quantized", "torchao", "bitsandbytes", "optimum.quanto", "gptqmodel", "awq",
)  # fmt: skip


def unwrapped(model: Any) -> Any:
    """The model inside `torch.compile`, DataParallel and its like, or PEFT adapters that are parts of it (LoRA, IA3).

    Raises ModelError for what is no part of the model inside (virtual tokens of prompt and prefix tuning), and for
    weights that are not there (offloaded, sharded).

    >>> inside = nn.Linear(2, 1)
    >>> unwrapped(nn.DataParallel(inside)) is unwrapped(torch.compile(inside)) is unwrapped(inside) is inside
    True
    """
    if not isinstance(model, nn.Module):
        return model
    if type(model).__name__ == "FullyShardedDataParallel" or any(p.is_meta for p in model.parameters()):
        raise ModelError(
            f"the weights of this {type(model).__name__} are not all on one device: expected a model that is there as "
            "a whole, loaded without offloading (device_map={'': device}) or sharding"
        )
    for part in model.modules():
        adapter = getattr(part, "active_peft_config", None) if hasattr(part, "peft_config") else None
        if adapter is not None and getattr(adapter, "is_prompt_learning", False):
            raise ModelError(
                f"this {type(part).__name__} reads {adapter.num_virtual_tokens} virtual tokens "
                f"({type(adapter).__name__}) that are no part of the model inside, whose embeddings would be disturbed "
                "without them: expected an adapter in the model's own weights (LoRA, IA3); any model can be asked as a "
                "function from texts to probabilities (faithlib.inputs.WordInputs)"
            )
    return inside(model)


def inside(model: Any) -> Any:
    """What is within all wrappers, refused or not; a function as it is.

    >>> inside(nn.DataParallel(nn.Identity()))
    Identity()
    """
    while isinstance(model, nn.Module) and (held := _held(model)) is not None:
        model = held
    return model


def _held(model: Any) -> Any:
    """What the outermost wrapper holds; None where there is none."""
    if isinstance(model, nn.DataParallel | nn.parallel.DistributedDataParallel):
        return model.module
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        return model.get_base_model()
    return dict(model.named_children()).get("_orig_mod")


def is_quantised(model: nn.Module) -> bool:
    """Whether weights are kept in fewer bits than numbers that gradients go through: int8, 4-bit.

    >>> is_quantised(nn.Linear(2, 1))
    False
    """
    parts: list[Any] = [*model.modules(), *model.parameters()]
    if any(type(part).__module__.startswith(_QUANTISED) for part in parts):
        return True
    return any(not (p.is_floating_point() or p.is_complex() or p.dtype == torch.bool) for p in model.parameters())


def failure(model: Any, error: Exception) -> str:
    """What a model's forward raised, in words.

    >>> failure(nn.Linear(1, 1), AssertionError())
    'AssertionError'
    """
    message = f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(model, nn.Module) and is_quantised(model):
        message += " (quantised weights: in 4 bits some widths cannot be unpacked; load it in 8 bits or unquantised)"
    return message


def scales_by_batch(model: nn.Module) -> bool:
    """Whether activations are rounded to int8 by the range of all that shares a forward, so that an input's numbers
    depend on its neighbours: torch's dynamic quantisation.

    >>> scales_by_batch(nn.Linear(2, 1))
    False
    """
    return any(type(part).__module__.startswith("torch.ao.nn.quantized.dynamic") for part in model.modules())


def in_training(model: Any) -> list[str]:
    """The names of the parts of a model in evaluation mode that are in training mode; a function has none.

    >>> model = nn.Sequential(nn.Linear(2, 1), nn.Dropout()).eval()
    >>> _ = model[1].train()
    >>> in_training(model)
    ['1']
    """
    parts = model.named_modules() if isinstance(model, nn.Module) else ()
    return [name for name, part in parts if part.training and not any(part.children())]


def patched(model: Any) -> bool:
    """Whether a forward stands on a module itself, instead of its class's; a compiled one of its own is none.

    >>> model = nn.Linear(2, 1)
    >>> model.forward = lambda x: x
    >>> patched(model), patched(nn.Linear(2, 1))
    (True, False)
    """
    parts = model.modules() if isinstance(model, nn.Module) else ()
    return any("forward" in vars(part) and not hasattr(part, "_hf_hook") for part in parts)


def label_names(model: Any) -> tuple[str, ...]:
    """The names of a model's classes in their order: `config.id2label`, or the labels of a `PromptClassifier`. The one
    label of a model of one logit is class 1 (`faithlib.outputs`).

    >>> from types import SimpleNamespace
    >>> label_names(SimpleNamespace(config=SimpleNamespace(id2label={0: "bad", 1: "good"})))
    ('bad', 'good')
    >>> label_names(lambda texts: [[0.5, 0.5] for _ in texts])
    ()
    """
    if isinstance(labels := getattr(model, "labels", None), tuple):
        return tuple(label.strip() for label in labels)
    names = getattr(getattr(inside(model), "config", None), "id2label", None)
    names = names if isinstance(names, Mapping) else {}
    try:
        by_class = {int(i): name for i, name in names.items()}
    except (TypeError, ValueError) as error:
        raise InputError(
            f"config.id2label is {dict(list(names.items())[:3])}: expected a map from class indices to names, "
            "{0: 'negative', 1: 'positive'}; that from names to indices is config.label2id"
        ) from error
    most = max(by_class, default=-1)
    if min(by_class, default=0) < 0 or most > _MOST_CLASSES:
        raise InputError(f"config.id2label has the class {most}: expected classes counted from 0")
    classes = tuple(by_class.get(i, f"class {i}") for i in range(max(by_class, default=-1) + 1))
    return (f"not {classes[0]}", *classes) if len(classes) == 1 and stated(inside(model)) != "value" else classes


def target_classes(target: Any, model: Any, n: int) -> Tensor | None:
    """Target classes [B] of n inputs out of what a caller may give: a class index, the name of a label (whatever its
    case), or one of these for each input. None stands for "predicted", known only after a forward.

    Raises UnknownNameError for a name that the model does not have, or where it has none at all, and InputError
    for what is no class.

    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(config=SimpleNamespace(id2label={0: "bad", 1: "good"}))
    >>> target_classes("Good", model, 2), target_classes(["bad", 1], model, 2), target_classes("predicted", model, 2)
    (tensor([1, 1]), tensor([0, 1]), None)
    """
    items = items_of(target)
    if isinstance(items, str):
        if items == "predicted":
            return None
        if items == "gold":
            raise UnknownNameError("target 'gold': inputs carry no labels, give the labels themselves as integers [B]")
        items = _index(items, model)
    elif isinstance(items, list):
        if "predicted" in items:
            raise InputError("target 'predicted' is for all inputs: give it alone, or a class for each input")
        items = [_index(item, model) if isinstance(item, str) else item for item in items]
    try:
        classes = torch.as_tensor(items)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"target {target!r}: expected 'predicted', a class index or integers [B]") from error
    if classes.ndim == 0:
        classes = classes.expand(n)
    if tuple(classes.shape) != (n,) or classes.is_floating_point():
        raise InputError(f"target has shape {tuple(classes.shape)} and dtype {classes.dtype}: expected integers [{n}]")
    if bool((classes < 0).any()):
        raise InputError(f"target {classes.tolist()}: classes are counted from 0")
    return classes.long()


def _index(name: str, model: Any) -> int:
    names = label_names(model)
    if not names:
        what = type(model).__name__ if hasattr(model, "parameters") else "function"
        raise UnknownNameError(
            f"target {name!r}: this {what} has no names of classes (config.id2label); expected 'predicted', a class "
            "index counted from 0, or one per input"
        )
    exact = [i for i, class_name in enumerate(names) if class_name == name]
    places = exact or [i for i, class_name in enumerate(names) if str(class_name).casefold() == name.casefold()]
    if len(places) > 1:
        raise InputError(f"target {name!r}: the name of classes {', '.join(map(str, places))}; give an index")
    if not places:
        raise unknown("target", name, (*map(str, names), "predicted"))
    return places[0]


_MOST_CLASSES = 10**6
_SPECIAL = ("pad", "bos", "eos", "cls", "sep", "mask")
_MOST_WITHOUT_TOKEN = 512  # rows of a table that is made a round number


def check_tables(base: nn.Module, inputs: TextInputs) -> None:
    """InputError where token ids, token types or places are beyond the tables of a model's base.

    >>> from transformers import BertConfig, BertModel
    >>> import torch
    >>> base = BertModel(BertConfig(vocab_size=9, hidden_size=4, num_hidden_layers=1, num_attention_heads=1))
    >>> ids = torch.tensor([[1, 30, 2]])
    >>> check_tables(base, TextInputs(ids, ids > 0, ids - ids, torch.tensor([1]), torch.tensor([False]), pad_id=0))
    Traceback (most recent call last):
    faithlib.errors.InputError: token id 30 in row 0: this BertModel has ids 0 to 8; the texts were cut by another ...
    """
    name = type(base).__name__
    ids, types = inputs.input_ids, inputs.token_type_ids
    advice = "the texts were cut by another model's tokenizer; take the model's own"
    _check(ids, _rows(base), "token id", f"this {name} has ids", advice)
    tables = {path.rpartition(".")[2]: part for path, part in base.named_modules() if isinstance(part, nn.Embedding)}
    if types is not None and (table := tables.get("token_type_embeddings")) is not None:
        _check(types, table.num_embeddings, "token type", f"this {name} has types", advice)
    most, longest = places_of(base), int(inputs.lengths.max())
    if most is not None and longest > most:
        raise InputError(
            f"row {int(inputs.lengths.argmax())} has {longest} tokens, and this {name} has places for {most}: cut "
            f"texts to that, max_length={most}"
        )


def places_of(model: Any) -> int | None:
    """How many tokens a model's table of positions has places for; None where it has no such table.

    >>> places_of(nn.Sequential(nn.Linear(1, 1))) is None
    True
    """
    for path, table in model.named_modules():
        if path.rpartition(".")[2] in ("position_embeddings", "embed_positions", "wpe") and hasattr(table, "weight"):
            # RoBERTa's kind keeps the first places for padding, OPT's two more.
            padding = getattr(table, "padding_idx", None)
            kept = getattr(table, "offset", 0 if padding is None else padding + 1)
            return int(table.weight.shape[0]) - kept
    return None


def _check(numbers: Tensor, size: int | None, what: str, has: str, do: str) -> None:
    if size is None or int(numbers.max()) < size:
        return
    row = int((numbers >= size).any(dim=1).nonzero()[0])
    raise InputError(f"{what} {int(numbers[row].max())} in row {row}: {has} 0 to {size - 1}; {do}")


def _rows(base: Any) -> int | None:
    """Rows of the table of token embeddings."""
    try:
        weight = base.get_input_embeddings().weight
    except (AttributeError, NotImplementedError, TypeError):
        return None
    return int(weight.shape[0])


def note_tokenizer(model: Any, tokenizer: Any) -> None:
    """A note where a tokenizer is not what the model was made with: other special tokens, many ids without a token.

    >>> from types import SimpleNamespace
    >>> from faithlib._warnings_log import collect_warnings
    >>> model = SimpleNamespace(config=SimpleNamespace(pad_token_id=1))
    >>> with collect_warnings() as notes:
    ...     note_tokenizer(model, SimpleNamespace(pad_token_id=0))
    >>> notes["tokenizer"][:57]
    'its pad token has the id 0, and the model says 1: is this'
    """
    config = getattr(model, "config", None)
    if config is not None and hasattr(config, "get_text_config"):
        config = config.get_text_config()
    faults = []
    for name in _SPECIAL:
        token_id, known = (getattr(source, f"{name}_token_id", None) for source in (tokenizer, config))
        known = known if isinstance(known, list) else [known]
        if token_id is not None and known != [None] and token_id not in known:
            faults.append(f"its {name} token has the id {token_id}, and the model says {', '.join(map(str, known))}")
    size, count = getattr(config, "vocab_size", None), len(tokenizer) if hasattr(tokenizer, "__len__") else None
    if isinstance(size, int) and count is not None and size - count > _MOST_WITHOUT_TOKEN:
        faults.append(f"it has {count} tokens, and the model ids for {size}")
    if faults:
        note("tokenizer", f"{'; '.join(faults)}: is this the model's own tokenizer?")
