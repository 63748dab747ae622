"""README's section on what the book found: `python -m faithbook.judge.readme` after `make book` writes it.

`data/in_readme.csv` has its words, a row for each paragraph of the landing page, with places for numbers
(`sentences`); titles, and the decisions that a paragraph was written for, are the landing page's. The page *Ten
answers* fills the places from the committed values and keeps the section; this command copies it into README, and a
test fails where README has other words or numbers.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from faithbook.judge import lessons, published
from faithbook.judge.sentences import Results
from faithbook.paths import root

BEGIN = "<!-- findings: written by `python -m faithbook.judge.readme` -->"
END = "<!-- end of findings -->"
SECTION = Path("taught", "readme.md")
"""Where a build keeps the section, below the folder of its executed pages."""
WIDTH = 128


def section(results: Results) -> str:
    """The findings as README has them: numbered, each with the evidence and the number of models that it rests on;
    then what follows the findings."""
    texts = published.our_table("in_readme").set_index("paragraph")["text"]
    told = [(box, texts[box.number or box.kind]) for box in lessons.landing_page()]
    findings = [_paragraph(box, text, results) for box, text in told if box.number]
    others = [_paragraph(box, text, results) for box, text in told if not box.number]
    return "\n\n".join(["\n".join(findings), *others]) + "\n"


def _paragraph(box: Any, text: str, results: Results) -> str:
    """One paragraph in lines as long as README's."""
    head = f"{box.number}. **{box.title}**" if box.number else f"**{box.title}**"
    rests_on = lessons.evidence_in_words(box.when, results.board)
    note = f"Evidence: {rests_on}." if rests_on else ""
    words = " ".join(filter(None, [head, results.shown(text, box.when), note]))
    indent = "   " if box.number else ""
    lines = textwrap.fill(words, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\N{NO-BREAK SPACE}", " ")


def with_section(text: str, findings: str) -> str:
    """A README with these findings between its two marks.

    >>> with_section(f"a\\n{BEGIN}\\nold\\n{END}\\nb", "new\\n").splitlines()[3]
    'new'
    """
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{findings}\n{END}{rest.split(END)[1]}"


def main() -> None:
    readme, built = root() / "README.md", root() / "book" / "executed" / SECTION
    text = with_section(readme.read_text(encoding="utf-8"), built.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8")
    print(f"{readme} has the findings of {built}")


if __name__ == "__main__":
    main()
