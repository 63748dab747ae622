"""Texts as people hold them, and how a text is cut into the units that become features.

=========  =============================================================================================================
unit       what it is
=========  =============================================================================================================
wordpiece  one token of the tokenizer (of models that read tokens only)
word       what is between blanks or, with a tokenizer, what its pre-tokeniser keeps together; in scripts without blanks
           (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan) each character or, with a tokenizer, each token
character  a character with the marks that belong to it; blanks are none. With a tokenizer the characters of one token
           are one feature, and a note says how many features have several
sentence   up to a full stop, question or exclamation mark before a blank, an ideographic one, or the end of a line
=========  =============================================================================================================

Rules without a dictionary: "Dr. No" is two sentences. For other units give spans (start, end) of your own.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple

from faithlib.errors import InputError
from faithlib.names import Unit

__all__ = ["UNITS", "Span", "cut"]

Span = tuple[int, int]
UNITS = ("wordpiece", "word", "character", "sentence")

# Ideographs with their radicals and iteration marks, kana, bopomofo; Thai, Lao, Tibetan, Burmese, Khmer.
_WITHOUT_BLANKS = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U000323af"
    "\u0e01-\u0e3a\u0e40-\u0e5b\u0e81-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff]"
)
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[」』”’）]*|$)", re.MULTILINE)
_JOINER = "\u200d"


# ------------------------------------------------------------------------------------------------- containers of texts
def listed(values: Any, noun: str = "text") -> list[Any]:
    """The items of any container of texts (list, Series, array, generator, column of a data set), in their order.

    Raises InputError for a single string, for a table, of which one column is wanted, and for nothing at all.

    >>> listed(text for text in ("good", "bad"))
    ['good', 'bad']
    """
    if isinstance(values, Mapping) or hasattr(values, "columns") or hasattr(values, "column_names"):
        raise InputError(f"a {type(values).__name__} is a table: expected the column of each {noun}, as table['text']")
    items = items_of(values)
    if not isinstance(items, list) or not items:
        raise InputError(f"expected a non-empty sequence of strings, one for each {noun}, got {values!r}")
    return items


def items_of(values: Any) -> Any:
    """The items of any ordered container (Series, array, generator, column) as a list; anything else as it is.

    >>> items_of(number for number in (1, 2)), items_of("good")
    ([1, 2], 'good')
    """
    for made_by in ("tolist", "to_pylist"):  # NumPy, pandas and torch; Arrow
        if hasattr(values, made_by):
            return getattr(values, made_by)()
    without_order = isinstance(values, str | bytes | Mapping | set | frozenset)
    return list(values) if isinstance(values, Iterable) and not without_order else values


def readable(texts: Any, noun: str = "text") -> list[str]:
    """`listed`, where every item is a string with something in it; InputError names the rows where not.

    >>> readable(["good", None, "bad", ""])
    Traceback (most recent call last):
    faithlib.errors.InputError: text 1 is None: expected a string; text 3 ('') is blank: leave such texts out of the ...
    """
    items = listed(texts, noun)
    faults = {row: _fault(text) for row, text in enumerate(items)}
    faults = {row: fault for row, fault in faults.items() if fault}
    messages = [f"{noun} {i} {fault}" for i, fault in list(faults.items())[:3]]
    if len(faults) > 3:
        messages.append(f"and {format_rows(list(faults)[3:], noun)}")
    if faults:
        raise InputError(f"{'; '.join(messages)}: leave such texts out of the batch")
    return items


def _fault(text: Any) -> str:
    """What is wrong with a text; "" where nothing is."""
    if isinstance(text, list | tuple) and text and all(isinstance(word, str) for word in text):
        return f"is {text!r}: expected a string; of a text cut into words, ' '.join(words)"
    if not isinstance(text, str):
        return f"is {text!r}: expected a string"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return f"({text!r}) holds half a character, which no file in UTF-8 has"
    return "" if text.strip() else f"({text!r}) is blank"


def format_rows(rows: Sequence[int], noun: str = "row", most: int = 10) -> str:
    """Rows in words, the first few of many.

    >>> format_rows([3]), format_rows([3, 5], "text"), format_rows(range(40), most=3)
    ('row 3', 'texts 3, 5', 'rows 0, 1, 2 and 37 more')
    """
    plural = "" if len(rows) == 1 else "s"
    first = f"{noun}{plural} {', '.join(map(str, rows[:most]))}"
    return first if len(rows) <= most else f"{first} and {len(rows) - most} more"


class Filled(NamedTuple):
    """A template with texts in it, and the characters (start, end) of each of them.

    >>> Filled("Review: good.", ((8, 12),)).spans
    ((8, 12),)
    """

    text: str
    spans: tuple[Span, ...]


# -------------------------------------------------------------------------------------------------- without a tokenizer
def cut(text: str, unit: Unit) -> tuple[Span, ...]:
    """The characters (start, end) of each "word", "character" or "sentence" of a text.

    Parameters
    ----------
    text : str
        Any text.
    unit : Unit
        "word", "character" or "sentence".

    Returns
    -------
    tuple[Span, ...]
        Start and end of each.

    Examples
    --------
    >>> cut("Not bad. At all!", "sentence"), cut("我们 like it", "word")
    (((0, 8), (9, 16)), ((0, 1), (1, 2), (3, 7), (8, 10)))
    """
    if unit == "sentence":
        return tuple((m.start(), m.start() + len(m[0].rstrip())) for m in _SENTENCE.finditer(text))
    if unit == "character":
        return tuple(_characters(text))
    if not _WITHOUT_BLANKS.search(text):
        return tuple(m.span() for m in re.finditer(r"\S+", text))
    spans: list[Span] = []
    for start, end in _characters(text):
        if spans and spans[-1][1] == start and not is_boundary(text, start):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)


def is_boundary(text: str, at: int) -> bool:
    """Whether a word ends before the character `at`, blanks left aside: on either side is one of a script without them.

    >>> [is_boundary("用Python写", at) for at in (1, 2, 7)]
    [True, False, True]
    """
    if not 0 < at < len(text) or _continues(text, at):
        return False
    return any(_WITHOUT_BLANKS.match(text, place) for place in (_base(text, at - 1), at))


def _characters(text: str) -> list[Span]:
    spans: list[Span] = []
    for at, character in enumerate(text):
        if spans and spans[-1][1] == at and _continues(text, at):
            spans[-1] = (spans[-1][0], at + 1)
        elif not character.isspace():
            spans.append((at, at + 1))
    return spans


def _continues(text: str, at: int) -> bool:
    """Whether the character belongs to the one before: a combining mark, a joiner and what it joins, a skin tone."""
    character = text[at]
    is_mark = unicodedata.category(character).startswith("M") or "\U0001f3fb" <= character <= "\U0001f3ff"
    return at > 0 and (is_mark or _JOINER in (character, text[at - 1]))


def _base(text: str, at: int) -> int:
    """The place of the character whose marks reach `at`."""
    while _continues(text, at):
        at -= 1
    return at


def cuts(
    texts: Sequence[str], unit: Unit, pairs: Sequence[str] | None = None, within: Sequence[Sequence[Span]] | None = None
) -> list[list[Span]] | None:
    """The spans of units that no tokenizer knows, in `text + " " + pair`, or only `within` some spans of each text;
    None for units that one does know.

    >>> cuts(["Good. Fine."], "sentence", pairs=["Bad."]), cuts(["good"], "word")
    ([[(0, 5), (6, 11), (12, 16)]], None)
    """
    if unit not in ("character", "sentence"):
        return None
    parts = [[(0, text)] for text in texts]
    if within is not None:
        parts = [[(start, text[start:end]) for start, end in spans] for text, spans in zip(texts, within, strict=True)]
    for spans, text, pair in zip(parts, texts, pairs or (), strict=False):
        spans.append((len(text) + 1, pair))
    return [[(at + start, at + end) for at, part in spans for start, end in cut(part, unit)] for spans in parts]


# ----------------------------------------------------------------------------------------------------- with a tokenizer
def check_tokenizer(tokenizer: Any, max_length: int | None) -> None:
    """InputError for a tokenizer that gives no characters of its tokens or has no padding, and for a length that leaves
    no room for a text.

    >>> from types import SimpleNamespace
    >>> check_tokenizer(SimpleNamespace(is_fast=True, pad_token_id=None), 512)
    Traceback (most recent call last):
    faithlib.errors.InputError: this tokenizer has no padding token: give it one that no text has, such as ...
    """
    if getattr(tokenizer, "is_fast", False) is not True:  # of a class it is a property
        raise InputError(
            f"{type(tokenizer).__name__} does not report which characters its tokens cover: load a fast tokenizer, or "
            "if there is none evaluate a function of texts, evaluate(lambda texts: model(**tokenizer(texts, "
            "padding=True, return_tensors='pt')).logits.softmax(dim=-1).detach(), texts)"
        )
    if tokenizer.pad_token_id is None:
        raise InputError(
            "this tokenizer has no padding token: give it one that no text has, such as tokenizer.pad_token = "
            "tokenizer.unk_token or, where texts get no end token, tokenizer.eos_token"
        )
    special = tokenizer.num_special_tokens_to_add()
    if max_length is not None and max_length <= special:
        raise InputError(f"max_length {max_length}: expected more than the {special} tokens added to every text")


class Piece(NamedTuple):
    """A token of a text: its position in the row, its string, its characters, and what the pre-tokeniser keeps
    together with it (segment, number).

    >>> Piece(1, "##fun", (2, 5), (0, 0)).span
    (2, 5)
    """

    position: int
    token: str
    span: Span
    group: tuple[int, int | None]


class Features(NamedTuple):
    """The features of one row: the one of each piece (-1: none), names, spans, the one of each given word.

    >>> Features((0, 0), ("unfun",), ((0, 5),)).feature_of_word
    ()
    """

    owners: tuple[int, ...]
    names: tuple[str, ...]
    spans: tuple[Span, ...]
    feature_of_word: tuple[int, ...] = ()


def pieces_of(encoding: Any, begins: Mapping[int, int]) -> list[Piece]:
    """The tokens of the segments that begin somewhere, with spans counted from there.

    >>> from types import SimpleNamespace
    >>> made = {"tokens": ["[CLS]", "a"], "sequence_ids": [None, 0], "word_ids": [None, 0], "offsets": [(0, 0), (0, 1)]}
    >>> pieces_of(SimpleNamespace(**made), {0: 0})
    [Piece(position=1, token='a', span=(0, 1), group=(0, 0))]
    """
    tokens = zip(encoding.tokens, encoding.sequence_ids, encoding.word_ids, encoding.offsets, strict=True)
    return [
        Piece(position, token, (begins[segment] + start, begins[segment] + end), (segment, group))
        for position, (token, segment, group, (start, end)) in enumerate(tokens)
        if segment in begins
    ]


def by_token(pieces: Sequence[Piece], unit: Unit, text: str) -> Features:
    """One feature for each piece ("wordpiece"), or one for the pieces that the pre-tokeniser keeps together ("word"),
    which a script without blanks parts again.

    >>> two = [Piece(1, "▁我们", (0, 2), (0, 0)), Piece(2, "喜欢", (2, 4), (0, 0))]
    >>> by_token(two, "word", "我们喜欢").names
    ('我们', '喜欢')
    """
    owners: list[int] = []
    spans: list[Span] = []
    names: list[str] = []
    for before, piece in zip((None, *pieces), pieces, strict=False):
        if unit == "word" and before is not None and _goes_on(before, piece, text):
            spans[-1] = (spans[-1][0], max(spans[-1][1], piece.span[1]))
        else:
            spans.append(piece.span)
            names.append(piece.token)
        owners.append(len(spans) - 1)
    if unit == "word":
        names = [text[start:end].strip() or _visible(text[start:end]) for start, end in spans]
    return Features(tuple(owners), tuple(names), tuple(spans))


def _goes_on(before: Piece, piece: Piece, text: str) -> bool:
    """Whether a piece belongs to the word of the piece before: kept together by the pre-tokeniser, or of one character,
    which a tokenizer may write as several (½ as 1, ⁄ and 2)."""
    if before.group[0] == piece.group[0] and before.span[0] <= piece.span[0] < before.span[1]:
        return True
    return piece.group == before.group and not _ends(before, piece, text)


def _visible(blank: str) -> str:
    """A name for a word of blanks, which byte-level tokenizers make of line breaks, tabs and doubled spaces.

    >>> _visible("  ")
    '␣␣'
    """
    return "".join("␣" if character == " " else repr(character)[1:-1] for character in blank) or "␣"


def _ends(before: Piece, piece: Piece, text: str) -> bool:
    """Whether a word ends between two pieces of one group. Pieces that share a character, or a blank that is a piece of
    its own, are never parted from what follows."""
    is_blank = not text[slice(*before.span)].strip()
    return not is_blank and before.span[1] <= piece.span[0] and is_boundary(text, piece.span[0])


def by_words(pieces: Sequence[Piece], words: Sequence[Span], text: str, i: int) -> Features:
    """The words of text i that have pieces, those that share one joined.

    >>> two = [Piece(1, "un", (0, 2), (0, 0)), Piece(2, "##fun", (2, 5), (0, 0))]
    >>> by_words(two, [(0, 1), (1, 2), (2, 5)], "unfun", 0).names
    ('un', 'fun')
    """
    check_words(words, text, i)
    starts, ends = [start for start, _ in words], [end for _, end in words]
    overlapped = [range(bisect_right(ends, start), bisect_left(starts, end)) for _, _, (start, end), _ in pieces]
    reached = {w for touched in overlapped for w in touched}
    joined = {w for touched in overlapped for w in touched[1:]}
    spans: list[Span] = []
    feature_of_word: list[int] = []
    for w, word in enumerate(words):
        if w in joined:
            spans[-1] = (spans[-1][0], word[1])
        elif w in reached:
            spans.append((word[0], word[1]))
        feature_of_word.append(len(spans) - 1 if w in reached else -1)
    owners = [feature_of_word[touched[0]] if touched else -1 for touched in overlapped]
    for p in reversed(range(len(pieces) - 1)):
        # A SentencePiece model may write the blank before a word as a piece of its own; it comes and goes with it.
        blank = not text[slice(*pieces[p].span)].strip()
        if owners[p] < 0 and blank and pieces[p].group == pieces[p + 1].group:
            owners[p] = owners[p + 1]
    names = tuple(text[start:end] for start, end in spans)
    return Features(tuple(owners), names, tuple(spans), tuple(feature_of_word))


def check_words(words: Sequence[Span], text: str, i: int) -> None:
    """InputError where the spans of text i do not ascend, overlap or leave it.

    >>> check_words([(0, 4), (3, 9)], "good film", 0)
    Traceback (most recent call last):
    faithlib.errors.InputError: word 1 of text 0 covers the characters 3 to 9: expected ascending spans that do not ...
    """
    try:
        spans = [(index(start), index(end)) for start, end in words]
    except (TypeError, ValueError) as error:
        raise InputError(f"words of text {i}: {words!r}; expected the characters (start, end) of each") from error
    before = 0
    for w, (start, end) in enumerate(spans):
        if not before <= start < end <= len(text):
            raise InputError(
                f"word {w} of text {i} covers the characters {start} to {end}: expected ascending spans that do not "
                f"overlap, within the {len(text)} characters of {text!r}"
            )
        before = end
