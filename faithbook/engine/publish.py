"""The book on the open web: what is added to its pages where `REPOSITORY=owner/name` says whose it is.

In GitHub's Actions `GITHUB_REPOSITORY` says it. Without either the book is the one of `_config.yml` alone, which knows
of no address. With it, `configured` turns on the buttons for source, issues and launching, and this module joins the
build as an extension of Sphinx: it writes the head of every page (citation, social card, canonical address) and a
sitemap. `lay_out` puts the pages where the web serves them: the newest at the root, those of a tag in its folder.
"""

from __future__ import annotations

import html as markup
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import yaml

from faithbook.paths import root
from faithlib.errors import InputError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGES_BRANCH = "gh-pages"  # what the web serves; the executed notebooks lie there as well, for Colab and Binder
CARD = "social-card.png"
CARD_SIZE = (1200, 630)  # what the networks ask for
_FIGURE = "scoreboard_counts.png"  # the figure on the card
_TAG = re.compile(r"v\d+(\.\d+)*\S*")


@dataclass(frozen=True)
class Place:
    """Where a book is published: `owner/name` of its repository, the branch or tag and the commit it is of."""

    repository: str
    ref: str = "main"
    commit: str = ""

    @property
    def owner(self) -> str:
        return self.repository.partition("/")[0]

    @property
    def name(self) -> str:
        return self.repository.partition("/")[2]

    @property
    def url(self) -> str:
        """The repository."""
        return f"https://github.com/{self.repository}"

    @property
    def site(self) -> str:
        """The root of what the web serves of it."""
        host = f"{self.owner.lower()}.github.io"
        return f"https://{host}/" if self.name.lower() == host else f"https://{host}/{self.name}/"

    @property
    def folder(self) -> str:
        """The folder of this version on the site: that of its tag, "" for the newest."""
        return f"{self.ref}/" if _TAG.fullmatch(self.ref) else ""

    @property
    def base(self) -> str:
        """The address of this version."""
        return self.site + self.folder


def place(environment: Mapping[str, str] = os.environ) -> Place | None:
    """Where the book is published, by the environment; None where nothing says so (`REPOSITORY=` says nothing).

    Raises InputError for what is not `owner/name`.
    """
    repository = environment.get("REPOSITORY", environment.get("GITHUB_REPOSITORY", ""))
    if not repository:
        return None
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise InputError(f"REPOSITORY is {repository!r}, expected owner/name as in the address of the repository")
    ref = environment.get("GITHUB_REF_NAME", "main")
    return Place(repository, ref if _TAG.fullmatch(ref) else "main", environment.get("GITHUB_SHA", ""))


def configured(config: Mapping[str, Any], where: Place) -> dict[str, Any]:
    """The configuration of a published book, made of the one of the book on disk."""
    made = json.loads(json.dumps(config))
    made["html"]["baseurl"] = where.base
    sphinx = made["sphinx"]
    sphinx["extra_extensions"] = [*sphinx.get("extra_extensions", []), __name__]
    sphinx["config"]["published_at"] = asdict(where)
    # Given here they stand; Jupyter Book's own names for them are overruled by any that the file gives here.
    sphinx["config"]["html_theme_options"] |= {
        "repository_url": where.url,
        "repository_branch": "main",
        "path_to_docs": "book",
        "use_repository_button": True,
        "use_issues_button": True,
        "use_edit_page_button": True,
        "extra_footer": _footer(where),
        "launch_buttons": {
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
            "notebook_interface": "jupyterlab",
        },
    }
    return made


def _footer(where: Place) -> str:
    version = citation()["version"]
    of = f"{where.commit[:12]}" if where.commit else where.ref
    tree = f"{where.url}/tree/{where.commit or where.ref}"
    return (
        f'<p>Version {version}, <a href="{tree}">{of}</a> · <a href="{where.site}versions.html">other versions</a> · '
        f'<a href="{where.base}errata.html">errata</a></p>'
    )


def citation() -> dict[str, Any]:
    """`CITATION.cff` of the repository."""
    found: dict[str, Any] = yaml.safe_load((root() / "CITATION.cff").read_text(encoding="utf-8"))
    return found


# --- what Sphinx asks ------------------------------------------------------------------------------------------------


def setup(app: Sphinx) -> dict[str, bool]:
    """Join a build of Sphinx."""
    app.add_config_value("published_at", {}, "html")
    app.connect("html-page-context", _page, priority=900)  # after the theme, whose buttons are set right here
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _page(app: Sphinx, name: str, _template: str, context: dict[str, Any], doctree: Any) -> None:
    where = Place(**app.config.published_at)
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []) if isinstance(group, dict) else []:
            if address := button.get("url"):
                button["url"] = button_address(address, name, where)
    if doctree is not None:
        title = re.sub(r"<[^>]*>", "", str(context.get("title") or ""))
        title = markup.unescape(re.sub(r"^[\d.]+ ", "", title))  # of the title, not of the chapter
        card = _figure(Path(app.srcdir)) is not None
        context["metatags"] = context.get("metatags", "") + head(title, name, where, card=card)


def button_address(address: str, page: str, where: Place) -> str:
    """A button's address for a page that is made of a notebook: its source is the notebook as text, and what is
    launched is the executed one beside the published pages."""
    if not page.startswith("executed/"):
        return address
    notebook = page.removeprefix("executed/")
    if "/edit/" in address:
        kind = next((folder for folder in ("own", "report") if _is_notebook(folder, notebook)), "report")
        return f"{where.url}/edit/main/notebooks/{kind}/{notebook}.py"
    executed = f"{where.folder}_sources/{page}.ipynb"
    host = urlsplit(address).netloc
    if host == "colab.research.google.com":
        return f"https://{host}/github/{where.repository}/blob/{PAGES_BRANCH}/{executed}"
    if host == "mybinder.org":
        return f"https://{host}/v2/gh/{where.repository}/{PAGES_BRANCH}?urlpath=lab/tree/{quote(executed)}"
    return address


def _is_notebook(folder: str, name: str) -> bool:
    return (root() / "notebooks" / folder / f"{name}.py").is_file()


def head(title: str, page: str, where: Place, *, card: bool) -> str:
    """Citation and social card of a page, as elements of its head; `card`: whether there is a picture for it."""
    told = citation()
    address = f"{where.base}{page}.html"
    authors = [one.get("name") or f"{one['family-names']}, {one['given-names']}" for one in told["authors"]]
    citing = [
        ("citation_title", title if page in ("index", "intro") else f"{title} ({told['title'].partition(':')[0]})"),
        *(("citation_author", author) for author in authors),
        ("citation_publication_date", str(told["date-released"]).replace("-", "/")),
        ("citation_technical_report_number", f"version {told['version']}"),
        ("citation_public_url", address),
        ("citation_language", "en"),
        ("author", "; ".join(authors)),
    ]
    social = [
        ("og:type", "article"),
        ("og:title", title),
        ("og:site_name", told["title"].partition(":")[0]),
        ("og:url", address),
    ]
    kind = [("twitter:card", "summary_large_image" if card else "summary")]
    if card:
        width, height = CARD_SIZE
        picture = "Bars of the number of findings by paper and by what they rest on"
        social += [("og:image", where.base + CARD), ("og:image:width", str(width)), ("og:image:height", str(height))]
        social += [("og:image:alt", picture)]
    lines = [f'<meta name="{key}" content="{markup.escape(value)}" />' for key, value in citing + kind]
    lines += [f'<meta property="{key}" content="{markup.escape(value)}" />' for key, value in social]
    return "\n".join(["", *lines, ""])


def _figure(source: Path) -> Path | None:
    """The figure of the card, where the book that is being built has it."""
    return next(iter(sorted((source / "executed").rglob(_FIGURE))), None)


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error is not None:
        return
    where, out = Place(**app.config.published_at), Path(app.outdir)
    (out / "sitemap.xml").write_text(sitemap(sorted(app.env.found_docs), where), encoding="utf-8")
    (out / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {where.base}sitemap.xml\n", encoding="utf-8")
    if (figure := _figure(Path(app.srcdir))) is not None:
        draw_card(figure, out / CARD)


def sitemap(documents: list[str], where: Place) -> str:
    """The addresses of all pages, as search engines read them."""
    entries = "".join(f"  <url><loc>{markup.escape(f'{where.base}{name}.html')}</loc></url>\n" for name in documents)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{space}">\n{entries}</urlset>\n'


def draw_card(figure: Path, to: Path) -> None:
    """The figure, whole, on a white card of the size that the networks show."""
    from PIL import Image

    margin = 30
    with Image.open(figure) as found:
        drawn = found.convert("RGBA")
    drawn.thumbnail((CARD_SIZE[0] - 2 * margin, CARD_SIZE[1] - 2 * margin))
    card = Image.new("RGB", CARD_SIZE, "white")
    card.paste(drawn, ((CARD_SIZE[0] - drawn.width) // 2, (CARD_SIZE[1] - drawn.height) // 2), drawn)
    card.save(to, optimize=True)


# --- the site --------------------------------------------------------------------------------------------------------


def lay_out(html: Path, site: Path, where: Place, beside: tuple[Path, ...] = ()) -> Path:
    """Put built pages, and files beside them, into a copy of the branch that the web serves; returns their folder.

    The pages of a tag lie in a folder of its name and stay; those of main take the root, where nothing of the earlier
    ones stays but the folders of tags.
    """
    site.mkdir(parents=True, exist_ok=True)
    target = site / where.folder
    for old in target.iterdir() if target.is_dir() else ():
        if old.name == ".git" or (not where.folder and old.is_dir() and _TAG.fullmatch(old.name)):
            continue
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(html, target, dirs_exist_ok=True)
    for path in beside:
        shutil.copy(path, target / path.name)
    # The first page only sends its reader on, but it is the one whose address is passed around.
    first = target / "index.html"
    told = head(str(citation()["title"]), "index", where, card=(target / CARD).is_file())
    first.write_text(told.lstrip() + first.read_text(encoding="utf-8"), encoding="utf-8")
    (site / ".nojekyll").touch()  # folders that begin with _ are pages' own
    (site / "versions.html").write_text(_versions(site, where), encoding="utf-8")
    binder = site / ".binder"
    binder.mkdir(exist_ok=True)
    needs = f"faithlib[text,vision] @ git+{where.url}@main\nmatplotlib\njupyterlab\n"
    (binder / "requirements.txt").write_text(needs, encoding="utf-8")
    return target


def _versions(site: Path, where: Place) -> str:
    tags = sorted((path.name for path in site.iterdir() if path.is_dir() and _TAG.fullmatch(path.name)), key=_number)
    newest = ['<li><a href="index.html">the newest</a></li>'] if (site / "index.html").is_file() else []
    items = "".join([*newest, *(f'<li><a href="{tag}/index.html">{tag}</a></li>' for tag in reversed(tags))])
    title = markup.escape(citation()["title"].partition(":")[0])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>Versions: {title}</title></head>\n'
        f"<body><h1>{title}: versions</h1><ul>{items}</ul></body></html>\n"
    )


def _number(tag: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", tag)]
