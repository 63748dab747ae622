"""The book: executed reports beside the prose, and the pages made of both."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from faithbook.engine.build import RunError, build, locked, minutes
from faithbook.engine.inputs import UNITS_DIR
from faithbook.engine.plan import MANIFEST, NOTEBOOK, REFERENCE, VALUES, Job
from faithbook.engine.publish import colophon, configuration, repository
from faithbook.engine.slides import pages_of_slides, write_slides
from faithbook.engine.studies import entry_of, reads_of, studies
from faithbook.engine.study import Study
from faithbook.paths import results_dir, root
from faithbook.text import with_minus_signs

READER_PROFILE = "laptop"  # its book is built in place, in book/; the books of other profiles under their results
PAGE_KINDS = ("report", "own")  # a page of `own` computes what it shows: a reader runs it on a model of theirs
_TABLES = "tables"
BOARD = Path("scoreboard.csv")
TOC = Path("_toc.yml")
_PLACE_OF_STUDIES = "# studies:"
"""Begins the line of `_toc.yml` at whose place the studies stand."""
COLOPHON = Path("colophon.md")
"""Authors, version and day, which the first page includes."""
_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"  # its command need not be on the PATH


def book(profile: str, *, values: str = REFERENCE, cores: int | None = None, extra: Sequence[str] = ()) -> Path:
    """Run what is missing and build the book; returns its first page. Nothing changed: nothing is built.

    `values`: whose the pages show (`plan.WHOSE`)."""
    began = time.time()
    jobs = shown_jobs(build(profile, values=values, cores=cores, extra=extra), values)
    with locked(results_dir(profile) / "book.lock"):  # a second build waits, and then finds the pages there
        source = stage(profile, jobs)
        html = source / "_build" / "html"
        stamp = source / "_build" / "made-from"
        content = _source_digest(source)
        if stamp.is_file() and stamp.read_text() == content and (html / "index.html").is_file():
            return html / "index.html"
        stamp.unlink(missing_ok=True)
        _pages(source)
        stamp.write_text(content)
    print(f"the book took {minutes(time.time() - began)}")
    return html / "index.html"


def shown_jobs(jobs: Sequence[Job], values: str) -> list[Job]:
    """The jobs whose pages a book shows: of a report that was made twice, for its verdicts and for its page, the one
    that shows these values."""
    asked = {job.notebook for job in jobs if job.parameters.get(VALUES) == values}
    return [job for job in jobs if job.notebook not in asked or job.parameters.get(VALUES) == values]


def stage(profile: str, jobs: Sequence[Job]) -> Path:
    """Lay executed reports, their files and the downloads beside the prose; returns what the book is built from.

    For a published book a page that is not `public` comes without its contents and files. A page without numbers in
    this build is left out, of the table of contents too.
    """
    prose = root() / "book"
    source = prose if profile == READER_PROFILE else results_dir(profile) / "book"
    if source != prose:
        mirror(
            {path.relative_to(prose): path.read_bytes() for path in _prose(prose)}, source, keep=("_build", "executed")
        )
    files: dict[Path, bytes] = {}
    left_out = [job.notebook for job in jobs if is_numberless(job)]
    jobs = [job for job in jobs if job.notebook not in left_out]
    for job in jobs:
        if job.kind in PAGE_KINDS and repository() and not _is_public(job):
            files[Path(f"{job.notebook}.ipynb")] = _not_public(job)
        elif job.kind in PAGE_KINDS:
            files[Path(f"{job.notebook}.ipynb")] = without_links(page_of(job), left_out)
            for path in public_files(job):
                files[Path(job.notebook, path.name)] = path.read_bytes()
        else:
            files[Path("compute", f"{job.notebook}-{job.slug}.ipynb")] = (job.folder / NOTEBOOK).read_bytes()
    if (root() / "CITATION.cff").is_file():
        files[COLOPHON] = colophon().encode()
    mirror(files, source / "executed")
    tables = {
        Path(path.name): path.read_bytes()
        for job in jobs
        if job.kind in PAGE_KINDS
        for path in public_files(job)
        if path.suffix == ".csv"
    }
    mirror(tables, results_dir(profile) / _TABLES)
    board = tables.get(BOARD)
    if board is not None:
        _write(results_dir(profile) / BOARD, board)
    return source


def _is_public(job: Job) -> bool:
    entry = entry_of(job.notebook)
    return entry is None or entry.public


def is_numberless(job: Job) -> bool:
    """Whether a page reads computations of which this profile runs none and the reference has no values."""
    entry = entry_of(job.notebook)
    reads = reads_of(entry) if entry else []
    known = any((root() / UNITS_DIR / name).is_dir() for name in reads)
    return job.kind in PAGE_KINDS and bool(reads) and not job.upstream and not known


def without_links(content: bytes, left_out: Sequence[str]) -> bytes:
    """A page whose links to pages that this book leaves out are words that say so.

    >>> without_links(b"{doc}`see <bounds>`, {doc}`see <tables>`", ["bounds"])
    b'see (not in this copy), {doc}`see <tables>`'
    """
    names = b"|".join(re.escape(name).encode() for name in left_out)
    link = rb"\{doc\}`([^`<]*?) ?<(?:\.\./executed/)?(?:%b)>`" % names
    return re.sub(link, rb"\1 (not in this copy)", content) if left_out else content


def contents(source: Path) -> str:
    """The table of contents of the staged book: `_toc.yml` with a part of every study at its place for studies, and
    without executed pages that are not there."""
    lines: list[str] = []
    for line in (source / TOC).read_text(encoding="utf-8").splitlines():
        if line.strip().startswith(_PLACE_OF_STUDIES):
            for study in studies().values():
                lines += _parts_of(study)
        else:
            lines.append(line)
    listed = []
    for line in lines:
        executed = re.search(r"file: (executed/\S+)", line)
        if executed is None or (source / f"{executed[1]}.ipynb").is_file():
            listed.append(f"{line}\n")
    return "".join(listed)


def _parts_of(study: Study) -> list[str]:
    """Lines of the table of contents: a study's overview and pages, then the pages of its appendix, if it has one."""
    if not study.title:
        return []
    reports = [notebook for notebook in study.notebooks.values() if notebook.kind == "report"]
    pages = [study.overview, *(f"executed/{notebook.name}" for notebook in reports if notebook.contents == "study")]
    appendix = [f"executed/{notebook.name}" for notebook in reports if notebook.contents == "appendix"]
    lines = _part(study.title, [*pages, *study.more])
    if appendix:
        lines += _part(f"{study.title.partition(':')[0]}: appendix", appendix)
    return lines


def _part(caption: str, files: Sequence[str]) -> list[str]:
    head = [f'  - caption: "{caption}"', "    numbered: 1", "    chapters:"]
    return head + [f"      - file: {file}" for file in files]


def _prose(folder: Path) -> list[Path]:
    skip = ("_build", "executed")
    return [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in skip]


def public_files(job: Job) -> list[Path]:
    return sorted(
        path for path in job.folder.iterdir() if path.suffix not in (".parquet", ".ipynb") and path.name != MANIFEST
    )


def mirror(files: Mapping[Path, bytes], folder: Path, *, keep: Sequence[str] = ()) -> None:
    """Make a folder hold exactly these files; those that are the same already keep their time."""
    for path in folder.rglob("*") if folder.is_dir() else ():
        name = path.relative_to(folder)
        if path.is_file() and name not in files and name.parts[0] not in keep:
            path.unlink()
    for name, content in files.items():
        _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def page_of(job: Job) -> bytes:
    """The executed notebook as the book takes it: code folded, parameters out of sight, no times and random ids,
    minus signs before negative numbers.

    A section has one bar that opens code, that of its first exhibit; all code is in the notebook to download.
    """
    import nbformat

    notebook = nbformat.read(job.folder / NOTEBOOK, as_version=4)
    notebook.metadata.pop("papermill", None)
    barred = False  # whether this section has its bar
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        tags = cell.metadata.get("tags", [])
        cell.metadata = {key: value for key, value in cell.metadata.items() if key not in ("papermill", "execution")}
        if cell.cell_type != "code":
            barred = barred and not re.search(r"^#+ ", cell.source, flags=re.MULTILINE)
            continue
        cell.execution_count = None
        if {"parameters", "injected-parameters"} & set(tags):
            tags = [*tags, "remove-cell"]
        elif not any(tag.startswith(("hide-", "remove-", "show-input")) for tag in tags):
            # Bookkeeping, of no use to a reader.
            bare = cell.source.startswith(("run.", "page.")) and "\n" not in cell.source
            if not cell.outputs:
                tags = [*tags, "remove-cell"]
            elif bare or barred:
                tags = [*tags, "remove-input"]
            else:
                tags = [*tags, "hide-input"]
            barred = barred or "hide-input" in tags
        cell.metadata["tags"] = tags
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = None
            shown = output.get("data", {}).get("text/markdown")
            if shown:
                output["data"]["text/markdown"] = with_minus_signs(shown)
    return (nbformat.writes(notebook) + "\n").encode()


def _not_public(job: Job) -> bytes:
    """What a published book has instead of a page that quotes what is not ours to publish."""
    import nbformat
    from nbformat import v4

    (title,) = re.findall(r"^# (# .*)$", job.source.read_text(encoding="utf-8"), flags=re.MULTILINE)
    note = (
        ":::{admonition} Not shown here\n:class: important\n\nThis page quotes texts or images that are not ours to "
        f"publish. `make book PROFILE={job.profile}` makes it, whole, on your own machine; its verdicts are on the "
        "{doc}`scoreboard <scoreboard>`.\n:::"
    )
    cells = [v4.new_markdown_cell(f"{title}\n\n{note}", id="cell-0")]
    return (nbformat.writes(v4.new_notebook(cells=cells)) + "\n").encode()


def _source_digest(source: Path) -> str:
    total = hashlib.sha256(configuration().encode())
    library = (root() / "faithlib").rglob("*.py")  # its docstrings are the reference
    for path in sorted([*_prose(source), *(source / "executed").rglob("*"), *library]):
        if path.is_file():
            total.update(f"{path.relative_to(root())}\0".encode())
            total.update(path.read_bytes())
    return total.hexdigest()


def _pages(source: Path) -> None:
    """Sphinx on everything again, for an incremental build would not repeat the warnings of pages it leaves alone.

    The pages are made beside the earlier ones and take their place when all are there.
    """
    began = time.time()
    pages_of_slides(source)  # what they need is missing: said before Sphinx takes its minutes
    built, html, new = source / "_build", source / "_build" / "html", source / "_build" / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    log = built / "sphinx.log"
    config = built / "_config.yml"
    config.write_text(configuration(), encoding="utf-8")
    toc = built / TOC
    toc.write_text(contents(source), encoding="utf-8")
    options = ["--toc", str(toc), "--all", "-n", "-W", "--keep-going"]
    made = _sphinx(source, config, new, log, *options) / "html"
    write_slides(source, made)
    shutil.rmtree(html, ignore_errors=True)
    made.rename(html)
    shutil.rmtree(new)
    print(f"pages in {minutes(time.time() - began)}")


def single_page(job: Job) -> Path:
    """An executed notebook as a page of its own, in the folder of its run; links to other pages are left as words."""
    folder = job.folder / "page"
    for path in public_files(job):
        _write(folder / job.notebook / path.name, path.read_bytes())
    source = folder / f"{job.notebook}.ipynb"
    _write(source, page_of(job))
    made = _sphinx(source, root() / "_config.yml", folder, folder / "sphinx.log")
    return made / "_page" / job.notebook / "html" / f"{job.notebook}.html"


def _sphinx(source: Path, config: Path, output: Path, log: Path, *options: str) -> Path:
    """Let Jupyter Book build a book or a page; returns its folder `_build`. RunError where it ends with an error."""
    command = [sys.executable, "-c", _JUPYTER_BOOK, "build", str(source), "--config", str(config)]
    with log.open("wb") as stream:
        line = [*command, "--path-output", str(output), *options]
        code = subprocess.run(line, stdout=stream, stderr=subprocess.STDOUT, cwd=root(), check=False).returncode
    if code or not any((output / "_build").rglob("index.html")):
        text = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(encoding="utf-8", errors="replace"))
        complaints = [line for line in text.splitlines() if re.search(r"WARNING|ERROR|Error", line)]
        lines = ["the book does not build:", *(complaints[:40] or text.splitlines()[-30:]), f"all of it is in {log}"]
        raise RunError("\n".join(lines))
    return output / "_build"
