"""Whether texts are in the numbers that a model reads: ids, token types and places within its tables, and a tokenizer
whose special tokens are the model's. A number beyond a table ends a GPU's process."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from faithlib.errors import InputError
from faithlib.inputs import TextInputs
from faithlib.notes import note

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
    own = "the texts were cut by another model's tokenizer; take the model's own"
    _check(ids, _rows(base), "token id", f"this {name} has ids", own)
    tables = {path.rpartition(".")[2]: part for path, part in base.named_modules() if isinstance(part, nn.Embedding)}
    if types is not None and (table := tables.get("token_type_embeddings")) is not None:
        _check(types, table.num_embeddings, "token type", f"this {name} has types", own)
    for table in (tables[key] for key in ("position_embeddings", "embed_positions", "wpe") if key in tables):
        # RoBERTa's kind keeps the first places for padding, OPT's two more.
        kept = getattr(table, "offset", 0 if table.padding_idx is None else table.padding_idx + 1)
        longest = int(inputs.lengths.max())
        if longest > table.num_embeddings - kept:
            most = table.num_embeddings - kept
            raise InputError(
                f"row {int(inputs.lengths.argmax())} has {longest} tokens, and this {name} has places for {most}: cut "
                f"texts to that, max_length={most}"
            )


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
    >>> from faithlib.notes import gathered
    >>> model = SimpleNamespace(config=SimpleNamespace(pad_token_id=1))
    >>> with gathered() as notes:
    ...     note_tokenizer(model, SimpleNamespace(pad_token_id=0))
    >>> notes["tokenizer"][:57]
    'its pad token has the id 0, and the model says 1: is this'
    """
    config = getattr(model, "config", None)
    if config is not None and hasattr(config, "get_text_config"):
        config = config.get_text_config()
    found = []
    for name in _SPECIAL:
        own, said = (getattr(one, f"{name}_token_id", None) for one in (tokenizer, config))
        said = said if isinstance(said, list) else [said]
        if own is not None and said != [None] and own not in said:
            found.append(f"its {name} token has the id {own}, and the model says {', '.join(map(str, said))}")
    size, count = getattr(config, "vocab_size", None), len(tokenizer) if hasattr(tokenizer, "__len__") else None
    if isinstance(size, int) and count is not None and size - count > _MOST_WITHOUT_TOKEN:
        found.append(f"it has {count} tokens, and the model ids for {size}")
    if found:
        note("tokenizer", f"{'; '.join(found)}: is this the model's own tokenizer?")
