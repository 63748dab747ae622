"""The words of a text in any of the book's languages, and pairs of a text and its translation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from faithbook.sources.splits import Span
from faithlib.errors import DataError

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Accents written apart from their letter, soft hyphens, joiners and variation selectors belong to what stands before.
# So do vowels and tones of Arabic and Urdu, of Hindi and of Thai, which Unicode does not count as letters.
_VOWELS = "\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963" + (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
_MARKS = f"[\u00ad\u0300-\u036f{_VOWELS}\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]*"
_RUN = rf"(?:[^\W{_HAN}]{_MARKS})+"
_PLACEHOLDER = r"\{[^{}\s]+\}"
_WORD = re.compile(rf"{_PLACEHOLDER}|{_RUN}(?:['’‐‑-]{_RUN})*|\S{_MARKS}")


def split_words(text: str) -> tuple[Span, ...]:
    """The words of a text in any of the book's languages, as character spans (start, end) in order.

    A word is a run of letters, digits and underscores with the apostrophes and hyphens inside it, or a placeholder like
    `{name}`; every Chinese character is a word, and so is every other mark. Each character that is no white space lies
    in exactly one word.

    >>> text = "L'appareil {name} n'est-il pas prêt ? 设备"
    >>> words_of(text, split_words(text))
    ("L'appareil", '{name}', "n'est-il", 'pas', 'prêt', '?', '设', '备')

    Thai is written without spaces between words: what stands between two of its spaces is one word here.

    >>> words_of("ที่นี่ नहीं", split_words("ที่นี่ नहीं"))
    ('ที่นี่', 'नहीं')
    """
    return tuple(match.span() for match in _WORD.finditer(text))


def words_of(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    """The strings at character spans."""
    return tuple(text[start:end] for start, end in spans)


def without_blanks(text: str) -> str:
    """The characters of a text that are no white space: the same for a text and the same text cut into words."""
    return "".join(text.split())


def marked_words(marks: Sequence[Span], text: str, other: str, words: Sequence[Span]) -> tuple[bool, ...]:
    """Whether each of the `words` of `other`, the same text with its blanks elsewhere, holds a character that the spans
    `marks` of `text` hold.

    Raises DataError where the two differ in more than blanks.

    >>> marked_words([(0, 2), (3, 4)], "It 's late .", "It's late.", [(0, 4), (5, 9), (9, 10)])
    (True, False, False)
    """
    if without_blanks(text) != without_blanks(other):
        raise DataError(f"marks of {text!r} cannot be carried to {other!r}: expected the same text, blanks aside")
    in_text = [i for i, character in enumerate(text) if not character.isspace()]
    in_other = [i for i, character in enumerate(other) if not character.isspace()]
    marked_in_text = {i for start, end in marks for i in range(start, end)}
    # Both have the same characters in the same order: the n-th of one is the n-th of the other.
    marked_in_other = {j for i, j in zip(in_text, in_other, strict=True) if i in marked_in_text}
    return tuple(not marked_in_other.isdisjoint(range(*span)) for span in words)


def is_copied(word: str) -> bool:
    """Whether a translation copies the word as it is: a placeholder, or a word without letters (marks, numbers).

    >>> [is_copied(word) for word in ("{name}", "2024", "?", "name", "5G")]
    [True, True, True, False, False]
    """
    return bool(re.fullmatch(_PLACEHOLDER, word)) or not any(character.isalpha() for character in word)


def copied_words(words: Sequence[str], other: Sequence[str]) -> tuple[bool, ...]:
    """Whether each word is copied (`is_copied`) or stands, except for case, in the other language's text too.

    The latter finds names; it also finds cognates that are spelt alike ("System").

    >>> copied_words(["Open", "Spotify", "!"], ["Spotify", "öffnen", "!"])
    (False, True, True)
    """
    other_words = {word.casefold() for word in other}
    return tuple(is_copied(word) or word.casefold() in other_words for word in words)


@dataclass(frozen=True)
class Pair:
    """A text and its translation, each with the character spans of its words."""

    source: str
    source_words: tuple[Span, ...]
    target: str
    target_words: tuple[Span, ...]

    @classmethod
    def from_texts(cls, source: str, target: str) -> Pair:
        """The pair with the words of `split_words`."""
        return cls(source, split_words(source), target, split_words(target))

    @property
    def strings(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words of both sides."""
        return words_of(self.source, self.source_words), words_of(self.target, self.target_words)
