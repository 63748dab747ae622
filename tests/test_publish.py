"""The published book: what `REPOSITORY` turns on, what is left out, and where it lies on the web."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import v4 as nb
from PIL import Image
from small_book import Built, built
from tiny import finish

from faithbook.engine import links, pages, publish, terms
from faithbook.engine.plan import NOTEBOOK, plan
from faithbook.engine.profiles import table
from faithlib.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
HERE = publish.Place("someone/a-book", commit="0123456789abcdef")
SITE = "https://someone.github.io/a-book/"


def test_without_a_repository_the_configuration_is_the_one_on_disk(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REPOSITORY", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    assert publish.place() is None
    assert pages._config(home) == home / "_config.yml"
    plain = yaml.safe_load((ROOT / "_config.yml").read_text())
    assert not plain["html"]["use_repository_button"] and not plain["repository"]["url"]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"GITHUB_REPOSITORY": "someone/a-book"}, publish.Place("someone/a-book")),
        ({"REPOSITORY": "a/b", "GITHUB_REPOSITORY": "someone/a-book"}, publish.Place("a/b")),
        ({"REPOSITORY": "", "GITHUB_REPOSITORY": "someone/a-book"}, None),  # so it can be turned off in Actions
        ({"REPOSITORY": "a/b", "GITHUB_REF_NAME": "v0.2.0"}, publish.Place("a/b", "v0.2.0")),
        ({"REPOSITORY": "a/b", "GITHUB_REF_NAME": "some-branch"}, publish.Place("a/b", "main")),
    ],
)
def test_the_environment_says_where(told: dict[str, str], expected: publish.Place | None) -> None:
    assert publish.place(told) == expected


@pytest.mark.parametrize("name", ["a-book", "https://github.com/a/b", "a/b/c", "a b/c"])
def test_what_is_no_repository_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="expected owner/name"):
        publish.place({"REPOSITORY": name})


def test_addresses_of_a_site() -> None:
    assert HERE.base == HERE.site == SITE
    assert publish.Place("Someone/Someone.github.io").site == "https://someone.github.io/"
    assert publish.Place("someone/a-book", "v0.2.0").base == f"{SITE}v0.2.0/"


def test_the_configuration_of_a_published_book_has_its_buttons() -> None:
    plain = yaml.safe_load((ROOT / "_config.yml").read_text())
    before = json.dumps(plain)
    made = publish.configured(plain, HERE)
    assert json.dumps(plain) == before
    assert made["html"]["baseurl"] == SITE
    theme = made["sphinx"]["config"]["html_theme_options"]
    assert theme["repository_url"] == "https://github.com/someone/a-book"
    assert all(theme[f"use_{kind}_button"] for kind in ("repository", "issues", "edit_page"))
    assert theme["launch_buttons"]["colab_url"] and theme["launch_buttons"]["binderhub_url"]
    kept = plain["sphinx"]["config"]
    assert kept["html_theme_options"].items() <= theme.items()
    assert {name for name in made if made[name] != plain[name]} == {"html", "sphinx"}


# --- what may be shown -----------------------------------------------------------------------------------------------


def test_every_source_says_its_licence_and_only_free_ones_are_shown() -> None:
    shown = {name for name, source in terms.sources().items() if terms.free(source["licence"])}
    assert {"homeassistant", "bible", "mnist", "animals", "fashion"} <= shown
    bound = {"vader", "bbc", "aclsum", "sst-test", "ag", "evinf", "multirc", "cifar10", "imagenet", "xnli", "xlwa"}
    assert not shown & bound
    assert shown | bound <= set(terms.sources())


def test_what_is_kept_out_of_the_reference_says_what_it_quotes() -> None:
    """Or shows nothing of others: what a reader brings (here: our own examples), how often the rules err, or costs."""
    silent = {name for _, _, name, entry in table().entries() if not entry.shareable and not entry.quotes}
    assert silent == {"own_text_model", "own_vision_model", "calibration", "cost"}


@pytest.mark.parametrize("profile", ["smoke", "laptop", "full"])
def test_pages_that_quote_what_is_not_free_are_withheld(profile: str) -> None:
    jobs = [job for job in plan(profile) if job.kind in pages.PAGE_KINDS]
    kept = {job.notebook: terms.withheld(job) for job in jobs}
    bound = {"soft_examples", "together_metrics", "together_released", "saco_photographs"}
    assert {name for name, data in kept.items() if data} == bound
    assert kept["soft_examples"] == ["movie"] and kept["together_metrics"] == ["pair"]
    quoted = {job.notebook: terms.quoted(job) for job in jobs}
    assert quoted["saco_figures"] == ["fashion"]
    assert quoted["crosslingual_example"] == ["messages"]


def quoting(home: Path) -> None:
    """The tiny study's report quotes a data set whose source is not free."""
    (home / "data" / "sources.toml").write_text('[theirs]\nlicence = "(c) them, research use"\n')
    path = home / "notebooks" / "profiles.yaml"
    text = path.read_text().replace("report: {reads: [count]}", "report: {reads: [count], quotes: [letters]}")
    path.write_text(text + "data:\n  letters: [theirs]\n")


def executed(job: object) -> None:
    finish(job)
    cells = [
        nb.new_markdown_cell("# A report\n\nOn the letter that begins *Dear reader*."),
        nb.new_markdown_cell("(a-place)=\n## Their words"),
        nb.new_code_cell("show()", outputs=[nb.new_output("display_data", {"text/plain": "these words are theirs"})]),
    ]
    nbformat.write(nb.new_notebook(cells=cells), job.folder / NOTEBOOK)
    (job.folder / "table.csv").write_text("word\ntheirs\n")


def test_a_published_book_leaves_out_what_it_may_not_show(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quoting(home)
    (job,) = (one for one in plan("laptop") if one.kind == "report")
    executed(job)
    monkeypatch.setenv("REPOSITORY", "someone/a-book")
    source = pages.stage("laptop", [job])
    told = "".join(path.read_text() for path in (source / "executed").rglob("*") if path.is_file())
    assert "theirs (" not in told and "these words" not in told and "Dear reader" not in told
    assert "`theirs` ((c) them, research use)" in told
    assert "# A report" in told and re.search(
        r"\(a-place\)=.*## Their words", told, re.DOTALL
    )  # other pages may point there
    assert not list((source / "executed").rglob("*.csv"))


def test_the_book_on_disk_has_all(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quoting(home)
    (job,) = (one for one in plan("laptop") if one.kind == "report")
    executed(job)
    monkeypatch.setenv("REPOSITORY", "")
    source = pages.stage("laptop", [job])
    assert "these words are theirs" in (source / "executed" / "report.ipynb").read_text()
    assert (source / "executed" / "report" / "table.csv").is_file()


def test_no_other_page_points_at_what_a_published_book_leaves_out() -> None:
    """Figures, tables and equations of withheld pages have no place in it: a reference there would break its build."""
    kept = {job.notebook for job in plan("smoke") if job.kind in pages.PAGE_KINDS and terms.withheld(job)}
    lost = {f"provenance-{name.replace('_', '-')}" for name in kept}
    for name in kept:
        text = (ROOT / "notebooks" / "report" / f"{name}.py").read_text(encoding="utf-8")
        lost |= {word.replace("_", "-") for word in re.findall(r'"([a-z]+\w*_\w+)"', text)}  # names of exhibits
        lost |= set(re.findall(r"\((eq-[\w-]+)\)", text))
    sources = [*(ROOT / "book").rglob("*.md"), *(ROOT / "notebooks").rglob("*.py"), *(ROOT / "faithbook").rglob("*.py")]
    references = 0
    for path in sources:
        if path.stem in kept or "executed" in path.parts or "_build" in path.parts:
            continue
        for words in re.findall(r"\{(?:ref|numref|eq)\}`([^`]*)`", path.read_text(encoding="utf-8")):
            references += 1
            assert re.sub(r".*<(.*)>", r"\1", words) not in lost, (path, words)
    assert references > 10 and "soft-figure1" in lost and "eq-together-curves" in lost


# --- pages -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("book"), REPOSITORY="someone/a-book", GITHUB_SHA=HERE.commit)


def head(path: Path) -> dict[str, str]:
    found = re.findall(r'<meta (?:name|property)="([^"]*)" content="([^"]*)"', path.read_text(encoding="utf-8"))
    return {name: html.unescape(content) for name, content in found}


@pytest.mark.slow
def test_heads_say_how_to_cite_and_what_to_show(book: Built) -> None:
    told = head(book.html / "executed" / "report.html")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert told["citation_title"].startswith("A report (")
    assert told["citation_author"] == "The faithfulness book's contributors"
    assert told["citation_publication_date"] == str(cited["date-released"]).replace("-", "/")
    assert told["citation_public_url"] == told["og:url"] == f"{SITE}executed/report.html"
    assert told["og:image"] == f"{SITE}{publish.CARD}"
    assert told["twitter:card"] == "summary_large_image"
    page = (book.html / "executed" / "report.html").read_text(encoding="utf-8")
    assert f'<link rel="canonical" href="{SITE}executed/report.html"' in page


@pytest.mark.slow
def test_the_social_card_is_our_figure_at_the_size_that_is_asked_for(book: Built) -> None:
    with Image.open(book.html / publish.CARD) as card:
        assert card.size == publish.CARD_SIZE
        middle, corner = card.getpixel((600, 315)), card.getpixel((2, 2))
    assert middle == (200, 30, 30) and corner == (255, 255, 255)


@pytest.mark.slow
def test_buttons_lead_to_the_source_the_issues_and_the_executed_notebook(book: Built) -> None:
    addresses = links.outside(book.html)
    on = {address for address, names in addresses.items() if "executed/report.html" in names}
    repository = "https://github.com/someone/a-book"
    assert repository in on
    assert f"{repository}/edit/main/notebooks/report/report.py" in on
    assert any(address.startswith(f"{repository}/issues/new?") for address in on)
    executed = "_sources/executed/report.ipynb"
    assert f"https://colab.research.google.com/github/someone/a-book/blob/gh-pages/{executed}" in on
    assert f"https://mybinder.org/v2/gh/someone/a-book/gh-pages?urlpath=lab/tree/{executed}" in on
    assert (book.html / executed).is_file()
    assert f"{repository}/tree/{HERE.commit}" in on
    prose = {address for address, names in addresses.items() if "more.html" in names}
    assert f"{repository}/edit/main/book/more.md" in prose
    assert not any("colab" in address for address in prose)


@pytest.mark.slow
def test_a_published_page_loads_nothing_from_elsewhere(book: Built) -> None:
    loads = [link for read in links.pages(book.html).values() for link in read.loads]
    assert loads and not [link for link in loads if link.startswith(("http:", "https:", "//"))]


@pytest.mark.slow
def test_the_sitemap_lists_every_page(book: Built) -> None:
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    found = ElementTree.parse(book.html / "sitemap.xml").getroot()
    listed = [place.text for place in found.iter(f"{space}loc")]
    assert listed == [f"{SITE}{name}.html" for name in ("below", "executed/report", "intro", "more")]
    assert f"Sitemap: {SITE}sitemap.xml" in (book.html / "robots.txt").read_text()


# --- the site --------------------------------------------------------------------------------------------------------


def test_a_tag_has_its_folder_and_main_the_root(home: Path) -> None:
    (home / "CITATION.cff").write_text((ROOT / "CITATION.cff").read_text())
    built, site, extra = home / "html", home / "site", home / "book.pdf"
    (built / "_sources").mkdir(parents=True)
    (site / ".git").mkdir(parents=True)
    (site / ".git" / "HEAD").write_text("ref: refs/heads/gh-pages\n")
    (built / "index.html").write_text("one")
    (built / "old.html").write_text("old")
    extra.write_bytes(b"%PDF")
    assert publish.lay_out(built, site, publish.Place("a/b", "v0.9.0"), (extra,)) == site / "v0.9.0"
    publish.lay_out(built, site, publish.Place("a/b", "v0.10.0"))
    publish.lay_out(built, site, publish.Place("a/b"), (extra,))
    (built / "old.html").unlink()
    (built / "index.html").write_text("two")
    publish.lay_out(built, site, publish.Place("a/b"))
    first, earlier = site / "index.html", site / "v0.9.0" / "index.html"
    assert first.read_text().endswith("two") and earlier.read_text().endswith("one")
    assert head(first)["og:url"] == "https://a.github.io/b/index.html"
    assert head(earlier)["og:url"] == "https://a.github.io/b/v0.9.0/index.html"
    assert not (site / "old.html").exists() and (site / "v0.9.0" / "old.html").exists()
    assert (site / "v0.9.0" / "book.pdf").is_file() and not (site / "book.pdf").exists()
    assert (site / ".git" / "HEAD").is_file() and (site / ".nojekyll").is_file()
    told = re.findall(r'href="([^"]*)"', (site / "versions.html").read_text())
    assert told == ["index.html", "v0.10.0/index.html", "v0.9.0/index.html"]


def test_a_book_of_nobody_is_not_published(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOSITORY", "")
    with pytest.raises(InputError, match="set REPOSITORY=owner/name"):
        pages.published("laptop", home / "site")


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
