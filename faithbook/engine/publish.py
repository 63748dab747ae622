"""The book on the open web: what its configuration has more where `REPOSITORY=owner/name` says whose it is.

In GitHub's Actions `GITHUB_REPOSITORY` says it. Sitemap and social cards are made by sphinx-sitemap and
sphinxext-opengraph. `lay_out` puts the pages where the web serves them: the newest at the root, those of a tag in its
folder.
"""

from __future__ import annotations

import os
import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from faithbook.paths import root
from faithlib.errors import InputError

_TAG = re.compile(r"v\d+(\.\d+)*\S*")


def repository() -> str:
    """`owner/name` of the repository that the book is published from; "" where the environment names none.

    Raises InputError for what is not `owner/name`.
    """
    name = os.environ.get("REPOSITORY", os.environ.get("GITHUB_REPOSITORY", ""))
    if name and not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise InputError(f"REPOSITORY is {name!r}, expected owner/name as in the address of the repository")
    return name


def tag() -> str:
    """The tag whose version is published; "" for the newest."""
    name = os.environ.get("GITHUB_REF_NAME", "")
    return name if _TAG.fullmatch(name) else ""


def address(page: str = "") -> str:
    """Where GitHub Pages serves this version of the book, or one of its files."""
    owner, _, name = repository().partition("/")
    host = f"{owner.lower()}.github.io"
    folders = [part for part in (name if name.lower() != host else "", tag()) if part]
    return "/".join([f"https://{host}", *folders, page])


def configuration() -> str:
    """`_config.yml`; for a published book with its address, buttons and extensions."""
    plain = (root() / "_config.yml").read_text(encoding="utf-8")
    if not repository():
        return plain
    made = yaml.safe_load(plain)
    made["html"]["baseurl"] = address()
    made["sphinx"]["extra_extensions"] += ["sphinx_sitemap", "sphinxext.opengraph"]
    config, url = made["sphinx"]["config"], f"https://github.com/{repository()}"
    config |= {"sitemap_url_scheme": "{link}", "sitemap_locales": [None]}
    config |= {"ogp_site_url": address(), "ogp_site_name": made["title"], "ogp_social_cards": {"enable": False}}
    config |= {"ogp_image": address("_static/landing.png"), "ogp_image_alt": "The landing page of the book"}
    commit = os.environ.get("GITHUB_SHA", "")
    version = f'<a href="{url}/tree/{commit or tag() or "main"}">{citation()["version"]}, {commit[:12] or "main"}</a>'
    config["html_theme_options"] |= {
        "repository_url": url,
        "use_repository_button": True,
        "use_issues_button": True,
        "extra_footer": f'<p>Version {version} · <a href="{url}/tags">other versions</a> · '
        f'<a href="{address("errata.html")}">errata</a></p>',
    }
    return yaml.safe_dump(made, sort_keys=False, allow_unicode=True)


def citation() -> dict[str, Any]:
    """`CITATION.cff` of the repository."""
    known: dict[str, Any] = yaml.safe_load((root() / "CITATION.cff").read_text(encoding="utf-8"))
    return known


def colophon() -> str:
    """Who made this version of the book, of which day it is, where it is, and a reference to copy, in MyST.

    The commit and the address are those of a published book: of a copy on a disk nobody knows them.
    """
    known = citation()
    authors = ", ".join(author["name"] for author in known["authors"])
    title = known["title"].partition(":")[0]
    day = date.fromisoformat(str(known["date-released"]))
    version = f"version {known['version']}"
    commit = os.environ.get("GITHUB_SHA", "")[:12] if repository() else ""
    if commit:
        version = f"{version}, commit {commit}"
    place = f" {address()}" if repository() else ""
    entry = [f"title = {{{{{title}}}}}", f"author = {{{{{authors}}}}}", f"year = {{{day.year}}}"]
    entry.append(f"note = {{Executable book, {version}}}")
    if repository():
        entry.append(f"url = {{{address()}}}")
    lines = [
        f"By **{authors}**, {version}, {day.day} {day:%B %Y}.{place}",
        f"> {authors} ({day.year}). *{title}*. Executable book, {version}.{place}",
        "```bibtex\n@book{faithfulness_book,\n  " + ",\n  ".join(entry) + "\n}\n```",
        "{doc}`How to cite <cite>` says how to cite a single decision, a table, or the values of the full run.",
    ]
    return "\n\n".join(lines) + "\n"


def lay_out(html: Path, site: Path) -> Path:
    """Put built pages into a copy of the branch that the web serves; returns their folder in it.

    The pages of a tag go into a folder of its name and stay; those of main take the root, where nothing of the earlier
    ones stays except the folders of tags.
    """
    target = site / tag()
    for old in target.iterdir() if target.is_dir() else ():
        if old.name == ".git" or (not tag() and _TAG.fullmatch(old.name)):
            continue
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(html, target, dirs_exist_ok=True)
    (site / ".nojekyll").touch()  # folders that begin with _ are pages' own
    return target
