"""What only some readers of a page need, in a box that opens."""

from __future__ import annotations

from IPython.display import Markdown


def details(title: str, *shown: Markdown | str) -> Markdown:
    """Exhibits and text of a page in a box that is closed at first.

    >>> print(details("More", "Text.").data)
    :::::{admonition} More
    :class: dropdown note
    <BLANKLINE>
    Text.
    :::::
    """
    texts = [piece if isinstance(piece, str) else str(piece.data) for piece in shown]
    body = "\n\n".join(text.strip() for text in texts if text)
    return Markdown(f":::::{{admonition}} {title}\n:class: dropdown note\n\n{body}\n:::::")
