"""The reference in the book has an entry for every public name of the library, and what an entry must say."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

from faithbook.engine import api

ROOT = Path(__file__).resolve().parents[1]
MODULES = api.modules("faithlib")
PAGES = sorted((ROOT / "book" / "api").glob("*.rst"))


def written() -> list[str]:
    """The modules that the pages of the reference name, those inside their packages included."""
    named = [name for page in PAGES for name in re.findall(r"^\.\. library:: (\S+)$", page.read_text(), re.MULTILINE)]
    return [module for name in named for module in api.modules(name)]


ENTRIES = {f"{module}.{name}" for module in written() for _, name in api.public_names(module)}


def test_every_module_is_on_one_page() -> None:
    assert sorted(written()) == sorted(set(MODULES) - {"faithlib"})
    toc = (ROOT / "book" / "_toc.yml").read_text()
    assert all(f"file: api/{page.stem}\n" in toc for page in PAGES)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_an_entry_a_docstring_and_an_example(module: str) -> None:
    """Errors are raised and not called; what is abstract cannot be made, and the classes below it have examples."""
    loaded = importlib.import_module(module)
    for name in {*getattr(loaded, "__all__", ()), *(name for _, name in api.public_names(module))} - {"__version__"}:
        thing = getattr(loaded, name)
        home = getattr(thing, "__module__", None)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            # A constant may be defined in one module of its package and offered by another.
            assert any(entry.endswith(f".{name}") for entry in ENTRIES), f"{module}.{name}"
            continue
        assert f"{home}.{name}" in ENTRIES, f"{module}.{name}"
        assert inspect.getdoc(thing), f"{module}.{name} has no docstring"
        made = not inspect.isabstract(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception))
        if home == module and made:  # an alias is shown where it is defined
            assert ">>> " in thing.__doc__, f"{module}.{name} has no example"


def test_pages_of_the_book_link_to_entries() -> None:
    for page in sorted((ROOT / "book" / "foundations").glob("*.md")):
        linked = re.findall(r"\{py:\w+\}`(?:[^`<]*<)?~?(faithlib[\w.]+)>?`", page.read_text())
        assert set(linked) <= ENTRIES, page.name


# --- Markdown to reStructuredText ------------------------------------------------------------------------------------


def test_docstrings_become_what_autodoc_reads() -> None:
    told = "Sum of w * |e| over `x | y`, in `Row`s.\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | `c` |\n"
    text = "\n".join(api.to_rst(f"{told}\nRaises InputError: no text.\n\n>>> 1 | 2\n3".split("\n")))
    assert r"Sum of w \* \|e\| over ``x | y``, in ``Row``\ s." in text
    assert "in ``Row``\\ s.\n\n- one\n- two\n" in text
    assert ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - ``c``" in text
    assert ".. rubric:: Raises\n\nInputError: no text." in text
    assert ".. rubric:: Examples\n\n>>> 1 | 2\n3" in text
