"""The published book: what `REPOSITORY` turns on, what is left out, and where it lies on the web."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbformat import v4 as nb
from refusals import refused
from small_book import built
from tiny import OF_STUDY, finish

from faithbook import __main__
from faithbook.engine import pages, publish
from faithbook.engine.plan import NOTEBOOK, plan
from faithbook.engine.studies import notebooks
from faithlib.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
COMMIT = "0123456789abcdef"
SITE = "https://someone.github.io/a-book/"
NAMES = ("REPOSITORY", "GITHUB_REPOSITORY", "GITHUB_REF_NAME", "GITHUB_SHA")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that says nothing of a repository."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_the_environment_says_where(environment: pytest.MonkeyPatch) -> None:
    assert publish.configuration() == (ROOT / "_config.yml").read_text()  # of nobody
    for repository, ref, expected in (
        ("a/b", "main", "https://a.github.io/b/"),
        ("Someone/Someone.github.io", "main", "https://someone.github.io/"),
        ("", "v0.2.0", f"{SITE}v0.2.0/"),
    ):
        environment.setenv("GITHUB_REPOSITORY", repository or "someone/a-book")
        environment.setenv("GITHUB_REF_NAME", ref)
        assert publish.address() == expected
    environment.setenv("REPOSITORY", "")  # so it can be turned off in Actions
    assert publish.repository() == ""
    for name in ("a-book", "https://github.com/a/b", "a/b/c", "a b/c"):
        environment.setenv("REPOSITORY", name)
        refused(InputError, "expected owner/name", publish.repository)


def test_the_first_page_says_who_made_it_when_and_where(environment: pytest.MonkeyPatch) -> None:
    known = publish.citation()
    plain = publish.colophon()
    for part in ("The faithfulness book's contributors", f"version {known['version']}", "November 2026", "@book{"):
        assert part in plain
    assert "https:" not in plain and "url" not in plain
    environment.setenv("REPOSITORY", "someone/a-book")
    environment.setenv("GITHUB_SHA", COMMIT)
    published = publish.colophon()
    assert published.count(SITE) == 3 and f"commit {COMMIT[:12]}" in published
    assert "executed/colophon.md" in (ROOT / "book" / "intro.md").read_text(encoding="utf-8")


# --- what may be shown -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("repository", ["someone/a-book", ""])
def test_a_published_book_leaves_out_what_it_may_not_show(
    repository: str, home: Path, environment: pytest.MonkeyPatch
) -> None:
    path = home / OF_STUDY
    path.write_text(path.read_text().replace('reads=["count"]', 'reads=["count"], public=False'))
    (job,) = (job for job in plan("laptop") if job.kind == "report")
    finish(job)
    cells = [
        nb.new_markdown_cell("# A report\n\nOn the letter that begins *Dear reader*."),
        nb.new_code_cell("show()", outputs=[nb.new_output("display_data", {"text/plain": "these words are theirs"})]),
    ]
    nbformat.write(nb.new_notebook(cells=cells), job.folder / NOTEBOOK)
    (job.folder / "table.csv").write_text("word\ntheirs\n")
    environment.setenv("REPOSITORY", repository)
    made = pages.stage("laptop", [job]) / "executed"
    text = (made / "report.ipynb").read_text()
    assert ("Not shown here" in text) == bool(repository)
    quoted = {"these words" in text, "Dear reader" in text, (made / "report" / "table.csv").is_file()}
    assert quoted == {not repository}


def test_no_other_page_points_at_what_a_published_book_leaves_out() -> None:
    """Figures, tables and equations of withheld pages have no place in it: a reference there would break its build."""
    kept = {notebook.name for notebook in notebooks() if not notebook.public}
    lost = {f"provenance-{name.replace('_', '-')}" for name in kept}
    for name in kept:
        text = (ROOT / "notebooks" / "report" / f"{name}.py").read_text(encoding="utf-8")
        lost |= {word.replace("_", "-") for word in re.findall(r'"([a-z]+\w*_\w+)"', text)}  # names of exhibits
        lost |= set(re.findall(r"\((eq-[\w-]+)\)", text))
    assert {"soft-figure1", "eq-together-curves"} <= lost
    for path in [*(ROOT / "book").rglob("*.md"), *(ROOT / "notebooks").rglob("*.py")]:
        if path.stem not in kept and not {"executed", "_build"} & {*path.parts}:
            found = re.findall(r"\{(?:ref|numref|eq)\}`(?:[^`<]*<)?([^`>]*)>?`", path.read_text(encoding="utf-8"))
            assert not lost & {*found}, path


@pytest.mark.slow
def test_pages_have_an_address_and_lead_to_the_repository(tmp_path: Path) -> None:
    book = built(tmp_path, REPOSITORY="someone/a-book", GITHUB_SHA=COMMIT)
    page = (book.html / "executed" / "report.html").read_text(encoding="utf-8")
    found = re.findall(r'<meta (?:name|property)="([^"]*)" content="([^"]*)"', page)
    head = {name: html.unescape(content) for name, content in found}
    assert head["og:url"] == f"{SITE}executed/report.html"
    assert head["og:title"] and head["og:image"] == f"{SITE}_static/landing.png"
    repository, links = "https://github.com/someone/a-book", set(re.findall(r'<a\s[^>]*href="(https?:[^"]*)"', page))
    assert {repository, f"{repository}/tree/{COMMIT}", f"{repository}/tags", f"{SITE}errata.html"} <= links
    for path in book.html.rglob("*.html"):  # nothing is loaded from elsewhere
        text = path.read_text(encoding="utf-8")
        loads = re.findall(r'<(?:script|img|iframe)\s[^>]*src="([^"]*)"', text)
        loads += re.findall(r'<link\s[^>]*rel="(?:stylesheet|preload|icon)"[^>]*href="([^"]*)"', text)
        assert not [address for address in loads if address.startswith(("http:", "https:", "//"))], path


# --- the site --------------------------------------------------------------------------------------------------------


def test_a_tag_has_its_folder_and_main_the_root(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    made, site = tmp_path / "html", tmp_path / "site"
    made.mkdir()
    (site / ".git").mkdir(parents=True)
    (made / "index.html").write_text("one")
    (made / "old.html").write_text("old")
    environment.setenv("REPOSITORY", "a/b")
    for name in ("v0.9.0", "main"):
        environment.setenv("GITHUB_REF_NAME", name)
        assert publish.lay_out(made, site) == (site / "v0.9.0" if name == "v0.9.0" else site)
    (made / "old.html").unlink()
    (made / "index.html").write_text("two")
    publish.lay_out(made, site)
    assert (site / "index.html").read_text() == "two" and (site / "v0.9.0" / "index.html").read_text() == "one"
    assert not (site / "old.html").exists() and (site / "v0.9.0" / "old.html").exists()
    assert (site / ".git").is_dir() and (site / ".nojekyll").is_file()


@pytest.mark.parametrize(("repository", "profile"), [("", "laptop"), ("someone/a-book", "paper")])
def test_a_book_of_nobody_and_one_with_the_papers_texts_are_not_published(
    repository: str, profile: str, environment: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("REPOSITORY", repository)
    assert __main__.main(["book", "--profile", profile, "--site", str(tmp_path / "site")]) == 1
    assert "a published book has an address, REPOSITORY=owner/name" in capsys.readouterr().err


MAKE = """#!/usr/bin/env bash
# In place of `make publish`: counts the times, and tells what it was given.
for word in "$@"; do [[ $word == SITE=* ]] && site=${word#SITE=}; done
if [ -f "$site/stays" ]; then echo more >> "$site/stays"; else find "$site" -mindepth 1 -not -name .git -delete; fi
touch "$site/stays" && echo "$@" > "$site/index.html"
"""


def git(folder: Path, *words: str) -> str:
    line = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


def test_the_branch_of_the_pages_is_one_commit_made_anew(tmp_path: Path) -> None:
    origin, clone, tools = (tmp_path / name for name in ("origin", "clone", "tools"))
    for folder in (origin, clone / ".ci", tools):
        folder.mkdir(parents=True)
    git(origin, "init", "-q", "--bare")
    (tools / "make").write_text(MAKE)
    (tools / "make").chmod(0o755)
    shutil.copy(ROOT / ".ci" / "publish", clone / ".ci" / "publish")
    (clone / "source.txt").write_text("a source\n")
    git(clone, "init", "-q")
    git(clone, "remote", "add", "origin", str(origin))
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "All")
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    for key in ("GITHUB_SHA", "GITHUB_ACTOR", "PROFILE"):
        environment.pop(key, None)
    for _ in range(2):
        done = subprocess.run([clone / ".ci" / "publish"], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert git(origin, "rev-list", "--count", "gh-pages") == "1"
    assert git(origin, "ls-tree", "-r", "--name-only", "gh-pages").split() == ["index.html", "stays"]
    assert git(origin, "show", "gh-pages:stays") == "more"  # the second time began with what was there
    assert git(origin, "show", "gh-pages:index.html").startswith("publish SITE=")
    assert git(clone, "rev-parse", "HEAD") in git(origin, "log", "-1", "--format=%s", "gh-pages")
    assert git(clone, "status", "--porcelain") == ""
