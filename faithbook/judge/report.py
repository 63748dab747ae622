"""What a report page is written on: measured values, claims judged by the rule book, the papers' tables, verdicts.

page = start_page("saco_tables", profile, paper="wu_2024")
measured = page.measure("saco_metrics", over=["dataset", "model", "method", "k"], prepare=prepared, printed=table)
saco = page.quantity("method", k=10)                 # saco(m), saco(m, k=5); + - * / abs
CLAIMS = {"saco_c11": {"attention minus gradient": family["attention"] - family["gradient"]}}
tested = page.test(CLAIMS)
page.verdicts(tested)                                # one line per claim: the verdict, its evidence, the numbers
page.table("saco_table1", lambda row: saco(row["method_inferred"]), rows=["method_inferred"], columns=["k_inferred"])
page.plot(tested, "saco_table1_claims")
page.finish()                                        # what ran where; refuses where an id of the page has no verdict
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from IPython.display import DisplayHandle, Markdown, display

from faithbook.engine import plan
from faithbook.engine.run import Run, start_run
from faithbook.judge import analysis_plan, decide, error_rates, in_sentences, materials, published, scoreboard, wording
from faithbook.judge.banner import banner, whose_numbers
from faithbook.judge.decide import BESIDE_BOOK, Claim, Judged, OnlyIf, Statements
from faithbook.judge.deciding import columns_of
from faithbook.judge.in_sentences import Told
from faithbook.judge.multiverse import Curve, multiverse
from faithbook.judge.reference import committed_board
from faithbook.judge.scores import REFERENCE, RUN, Prepare, Scores, has_values
from faithbook.show import figures, plots, tables
from faithbook.show.labels import inputs_of, label
from faithbook.show.numbers import listed, row_of, spoken
from faithbook.show.page import badge
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison
from faithbook.stats.verdict import Verdict
from faithlib.errors import DataError, InputError, unknown

_QUOTED = ("claim", "part", "published", "ours", "low", "high", "n")
NEAR = "near the threshold"
_NOT_JUDGED = (evidence_levels.NOT_TESTED, evidence_levels.NOTHING)
_ALONE = {Verdict.YES.value: "yes", Verdict.NO.value: "no", Verdict.EQUIVALENT.value: NEAR}
_UNTESTED = (
    f"*{evidence_levels.NOTHING.capitalize()}*: of a claim, or a statement of one, on which the paper's own repeats "
    "disagree"
)
"""What it means in the same table."""
APART = "difference (SE)"
"""The column of how far ours lies from the published value, in standard errors."""
_APART_IN_WORDS = (
    "*Difference (SE)*: ours minus published, in standard errors of ours; where a model was trained more than once, "
    "they include the spread between these trainings, which the intervals leave out"
)
RUN_SPEAKS = "The reference has no values of single inputs of this page yet: the numbers are those of this run."


class Opening(Markdown):
    """The first words of a page, its result and the data used: the second are renewed in the page that shows them when
    its later cells have read further data."""

    data: str

    def __init__(self, result: str, data_used: str) -> None:
        super().__init__("\n\n".join(filter(None, [result, data_used])))
        self._result = result
        self._handle: DisplayHandle | None = None

    def _ipython_display_(self) -> None:
        self._handle = display(Markdown(self.data), display_id=True)

    def renew(self, data_used: str) -> None:
        """Show other data used from now on."""
        text = f"{self._result}\n\n{data_used}"
        if self._handle is not None and text != self.data:
            self._handle.update(Markdown(text))
        self.data = text


class Tested(dict[str, Judged]):
    """Judged claims of one section by id; on a page that shows another run's numbers nobody sees their verdicts."""

    @property
    def frame(self) -> pd.DataFrame:
        """Every part of them as data."""
        frames = [verdict.rows for verdict in self.values() if not verdict.rows.empty]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(decide.COLUMNS))

    def without_answers(self, statements: Mapping[str, Mapping[str, Judged]]) -> pd.DataFrame:
        """`frame`, with no answer of a part that was never tested, because its claim was not, or the one of several
        `statements` of its claim that it belongs to."""
        untested: list[bool] = []
        for name, verdict in self.items():
            for judged in statements.get(name, {}).values() or [verdict]:
                untested += [judged.decision == evidence_levels.NOTHING] * len(judged.rows)
        parts = self.frame
        refused = pd.Series(untested, dtype=bool) & parts["answer"].notna()
        return parts.assign(answer=parts["answer"].mask(refused, Verdict.NOTHING.value))


def start_page(notebook: str, profile: str, *, values: str = plan.REFERENCE, paper: str) -> Page:
    """Begin a report, from inside its notebook: its run (`page.run`), how figures look, and the page.

    `values`: whose numbers it shows. "reference": the book's, of the committed full run; "run": what this machine
    computed (by hand the newest run, whatever was changed in it), under a banner, without verdicts; "both": these with
    the book's in brackets and the difference in standard errors. Raises UnknownNameError for another word.
    """
    if values not in plan.WHOSE:
        raise unknown("values", values, plan.WHOSE)
    figures.theme()
    page = Page(start_run(notebook, profile=profile, values=values), paper=paper)
    above = banner(page.run)
    if above:
        display(Markdown(above))
    return page


class Page:
    """A report on its run: what it has measured, and the verdicts it has drawn so far.

    `judges`: whether verdicts are drawn. A page that shows what this machine computed has numbers alone.
    """

    def __init__(self, run: Run, *, paper: str) -> None:
        known = (*published.papers(), published.OUR_OWN)
        if paper not in known:
            raise unknown("paper", paper, known)
        self.run, self.paper, self.notebook = run, paper, run.job.notebook
        self.judges = run.values == plan.REFERENCE or not plan.shows_runs(run.job.notebook)
        self._measured: list[Scores] = []
        self._prepared: dict[Hashable, pd.DataFrame] = {}
        self._entries: dict[str, dict[str, Any]] = {}
        self._quotable: list[pd.DataFrame] = []
        self._curves: dict[str, Curve] = {}
        self._statements: dict[str, dict[str, Judged]] = {}
        self._shown: Collection[str] | None = None  # data sets, where the page reads others as well
        self._opening: Opening | None = None
        self._exhibits = 0  # shown so far: the first one is open whatever its length
        self._claims = published.column("claim")
        self._source = published.sources()

    # ------------------------------------------------------------------------------------------------------- measured
    def measure(
        self,
        notebook: str,
        *,
        over: Sequence[str],
        parts: Sequence[str] = ("",),
        prepare: Prepare | None = None,
        printed: pd.DataFrame | None = None,
        **more: Any,
    ) -> Scores:
        """Values of single inputs of a compute notebook, as `Scores.read` takes them; the first of a page are those
        that `quantity` asks. What one function prepares for several of them it prepares once."""
        more |= {"prepare": prepare, "printed": printed, "known": self._prepared}
        measured = Scores.read(self.run, notebook, paper=self.paper, over=over, parts=parts, **more)
        self._measured.append(measured)
        return measured

    def has(self, notebook: str) -> bool:
        """Whether there is something to measure of a compute notebook that runs only where its data lie."""
        return has_values(self.run, notebook)

    def quantity(self, *names: str, **fixed: object) -> Callable[..., Comparison]:
        """`Scores.quantity` of what was measured first. Raises InputError before `measure`."""
        if not self._measured:
            raise InputError("nothing is measured yet: call page.measure(...) first")
        return self._measured[0].quantity(*names, **fixed)

    @property
    def have(self) -> frozenset[str]:
        """The data sets, models and languages of everything that was measured."""
        return frozenset().union(*(measured.have for measured in self._measured))

    def in_short(self, sentence: Callable[[], str], *, datasets: Collection[str] | None = None) -> Markdown:
        """The page's result in one or two sentences with numbers, the first that a reader sees; then the data used.

        `sentence` makes them of what was measured. A run that has not measured all of it shows no sentence; of the
        committed values it has to be there, and its error is raised. `datasets`: those that the page shows, where it
        reads others as well.
        """
        try:
            text = sentence()
            result = f"**In short.** {text[:1].upper()}{text[1:]}"
        except (LookupError, ValueError, DataError):  # a label, a row or all values are missing
            if any(scores.source == REFERENCE for scores in self._measured):
                raise
            result = "*This run has not measured all numbers of this page's result.*"
        self._opening = Opening(result, self.data_used(datasets).data if self._measured else "")
        return self._opening

    def data_used(self, datasets: Collection[str] | None = None) -> Markdown:
        """The data used on this page: inputs of each data set (of all, or of those that it shows), whose data and
        models, and which run. The notebooks of the full run are in the page's provenance."""
        self._shown = datasets
        sources, standing = [], materials.stands_for(self.paper)
        for source in dict.fromkeys(measured.source for measured in self._measured):
            of_source = [measured for measured in self._measured if measured.source == source]
            sizes = _sizes(of_source)
            if datasets is not None:
                sizes = _of_these(sizes, datasets)
            inputs = "; ".join(_used(_in_words(counted, standing), evidence) for evidence, counted in sizes.items())
            notebooks = ", ".join(dict.fromkeys(f"`{measured.notebook}`" for measured in of_source))
            run = "the committed full run" if source == REFERENCE else f"{source} of {notebooks}"
            sources.append(f"{inputs}; from {run}")
        rest = (
            ""
            if not self.judges or any(measured.source == REFERENCE for measured in self._measured)
            else f" {RUN_SPEAKS}"
        )
        return Markdown(f"**Data used.** {'. '.join(sources)}.{rest} Square brackets hold 95 % intervals.")

    # --------------------------------------------------------------------------------------------------------- claims
    def test(self, claims: Mapping[str, Claim]) -> Tested:
        """Judge each claim by the rule of its id and keep its verdict.

        Raises UnknownNameError for an id without a rule, InputError for an id judged before or a claim that is not what
        its rule is about.
        """
        decided = []
        for name, claim in claims.items():
            verdict = decide.judge(name, claim, have=self.have, flipping_options=self._turns(name))
            evidence = materials.evidence_of_claim(name, verdict.evidence, self.have)
            decided.append(replace(verdict, evidence=evidence))
        self._quotable += [verdict.rows for verdict in decided]
        for verdict in decided:
            if verdict.id in self._entries:
                raise InputError(f"{verdict.id} is judged twice on this page")
            self._entries[verdict.id] = self._entry(verdict)
            self._statements[verdict.id] = self._judged_apart(verdict.id, claims[verdict.id])
        return Tested((verdict.id, verdict) for verdict in decided)

    @property
    def entries(self) -> dict[str, dict[str, Any]]:
        """The verdicts drawn so far, by id, as rows of the scoreboard."""
        return dict(self._entries)

    def _turns(self, name: str) -> tuple[str, ...]:
        """The choices that turn the answer of an id, or of the id that it repeats, as their curve has it."""
        curve = self._curves.get(name) or self._curves.get(analysis_plan.rule(name).same_as)
        return tuple(curve.flipping_options) if curve else ()

    def quote(self, name: str, values: Mapping[str, Comparison | int]) -> None:
        """Keep values, or counts, that belong to no claim for sentences of other pages, which call them by `name` and
        part."""
        rows: list[dict[str, Any]] = []
        for part, value in values.items():
            row: dict[str, Any] = {"claim": name, "part": part}
            if isinstance(value, Comparison):
                row |= {"published": value.published, **row_of(value, "ours", "low", "high")}
            else:
                row["ours"] = value
            rows.append(row)
        self._quotable.append(pd.DataFrame(rows, columns=list(decide.COLUMNS)))

    def _entry(self, judged: Judged) -> dict[str, Any]:
        """A line of the scoreboard."""
        evidence = "" if judged.rule.fixed_verdict is not None else judged.evidence
        entry: dict[str, Any] = {"id": judged.id, "decision": judged.decision, "page": f"executed/{self.notebook}"}
        entry |= {"evidence": evidence, "same_as": judged.rule.same_as}
        if judged.n:
            entry["unrelated"] = materials.unrelated(self.notebook)
        entry |= columns_of(judged)
        entry |= self._interval_of_repeated(judged, entry)
        return entry | (self._curves[judged.id].columns if judged.id in self._curves else {})

    def _interval_of_repeated(self, judged: Judged, entry: Mapping[str, Any]) -> dict[str, float]:
        """The committed interval of the finding of another page that a claim repeats on the same values: the same
        quantity has one interval, whatever resamples a page draws."""
        repeated = judged.rule.same_as
        page_of = published.column("page")
        if not repeated or page_of.get(repeated) == self.notebook or entry.get("effect") is None:
            return {}
        try:
            board = committed_board()
        except FileNotFoundError:  # before there is a reference
            return {}
        line = board[board["id"] == repeated].iloc[0]
        same = line["part"] == entry["part"] and line["n"] == f"{entry['n']}"
        if not same or not math.isclose(float(line["effect"]), entry["effect"], rel_tol=1e-9):
            return {}
        return {name: float(line[name]) for name in ("low", "high")}

    def _judged_apart(self, name: str, claim: Claim) -> dict[str, Judged]:
        """Each statement of a claim that makes several, for its sentences."""
        asked = claim.claim if isinstance(claim, OnlyIf) else claim
        if not isinstance(asked, Statements):
            return {}
        rules = {part: analysis_plan.statement(name, part).id for part in asked.of}
        return {part: decide.judge(rules[part], of, have=self.have) for part, of in asked.of.items()}

    def verdicts(self, tested: Tested) -> Markdown:
        """The claims of a section: decision, evidence and claim; below in small print two sentences of what was
        measured; then in a box that opens what the verdicts rest on and since when their rules stand."""
        if not self.judges:
            return Markdown("\n".join(self._unjudged(verdict) for verdict in tested.values()))
        lines, again = [], scoreboard.confirmed()
        besides: dict[str, list[str]] = {}
        for name, verdict in tested.items():
            told = self._told(verdict)
            evidence = f" ({materials.evidence_in_words(name, verdict.evidence)})"
            if verdict.decision in _NOT_JUDGED:
                evidence = ""  # where nothing was judged nothing rests on evidence
            words = self._claims.get(name, "").rstrip(".")
            # The titles of tables and figures name their source themselves.
            if self._source.get(name) == published.REVIEW and published.column("kind")[name] == "claim":
                words += " (so says a review page of the paper)"
            same = in_sentences.repeats(told, self._entries)
            if same:
                note_text = f"As `{same}`."
            else:
                unseen = scoreboard.unseen_in_short(verdict.rule.same_as or name, verdict.word, again)
                note_text = " ".join(filter(None, [in_sentences.sentences(told), unseen]))
                sizes = {part: len(judged.rows) for part, judged in self._statements[name].items()}
                further = scoreboard.unseen_in_sentences(verdict.rule.same_as or name, again, sizes=sizes)
                errs = error_rates.said_of(name, verdict.decision)
                facts = " ".join(filter(None, [*in_sentences.more(told), errs, further]))
                if facts:
                    besides.setdefault(facts, []).append(f"`{name}`")
            note = f' <span class="verdict-note">{note_text}</span>' if note_text else ""
            lines.append(f"- `{name}` {badge(verdict.word)}{evidence} {words}.{note}")
        return Markdown("\n".join([*lines, "", *self._below(tested, besides)]))

    def _below(self, tested: Tested, besides: Mapping[str, Sequence[str]]) -> list[str]:
        """The box below the claims of a section: what else is known of each, the models, the days of the rules. Days
        alone need no box."""
        days: dict[str, list[str]] = {}
        for name, verdict in tested.items():
            days.setdefault(f"{verdict.rule.date}", []).append(f"`{name}`")
        dated = "; ".join(f"{day} ({', '.join(names)})" if len(days) > 1 else day for day, names in days.items())
        number = materials.unrelated(self.notebook)
        decided = [name for name, verdict in tested.items() if verdict.decision not in _NOT_JUDGED]
        counts = number is not None and any("unrelated" in self._entries[name] for name in decided)
        lines = [f"- {', '.join(names)}: {facts}" for facts, names in besides.items()]
        if number and counts:
            lines.append(f"- The verdicts rest on {in_sentences.models_of_page_in_words(self.notebook, number)}.")
        if not lines:
            return [f'<span class="verdict-note">Rules as written on {dated}.</span>']
        if any(in_sentences.names_the_deciding_one(self._told(verdict)) for verdict in tested.values()):
            lines.append(f"- {in_sentences.DECIDES}")
        again = scoreboard.confirmed()
        judged = [verdict.rule.same_as or name for name, verdict in tested.items()]
        unseen = list(dict.fromkeys(name for name in judged if name in again.index))
        if unseen:
            lines.append(f"- Unseen inputs were measured with {scoreboard.models_of_unseen_inputs(unseen)}.")
        lines.append(f"- Rules as written on {dated}.")
        return ["::::{admonition} More on these verdicts", ":class: dropdown note", "", *lines, "::::"]

    def _told(self, verdict: Judged) -> Told:
        """A verdict with what its sentences need."""
        curve = self._curves.get(verdict.id)
        return Told.of(
            verdict,
            self._entries[verdict.id],
            have=self.have,
            turned_by=curve.flipping_options if curve else {},
            otherwise=curve.flipping_values if curve else {},
            statements=self._statements.get(verdict.id),
        )

    def _unjudged(self, judged: Judged) -> str:
        """A claim with the numbers of a run of this machine, and no verdict."""
        words = self._claims.get(judged.id, "").rstrip(".")
        names = ("effect", "low", "high", "published", "part", "n")
        numbers = {name: value for name, value in columns_of(judged).items() if name in names}
        sizes = in_sentences.sizes_beside(judged)
        if sizes:
            numbers["n"] = min(sizes)
        number = in_sentences.number(numbers)
        return f'- `{judged.id}` {words}. <span class="verdict-note">{number or "No number."}</span>'

    def worded(self, word: str) -> str:
        """A verdict in a table of a page: a dash where the page does not judge."""
        return word if self.judges else "–"

    def badge(self, word: str) -> str:
        """A verdict in a sentence of a page: nothing where the page does not judge."""
        return badge(word) if self.judges else ""

    def brackets(self) -> Markdown:
        """What stands in brackets in the tables of the page, and where its claims are tested."""
        if self.judges:
            text = (
                "Each table has the published value in brackets after ours; the claims that need them are tested below."
            )
        elif self.run.values == plan.BOTH:
            text = "Each table has the book's value in brackets after that of this machine. Nothing is tested."
        else:
            text = "Each table has the published value in brackets after that of this machine. Nothing is tested."
        return Markdown(text)

    # ------------------------------------------------------------------------------------------------------- exhibits
    def table(
        self,
        name: str,
        of: tables.CellOf,
        *,
        rows: Sequence[str],
        columns: Sequence[str],
        caption: str = "",
        digits: int = 2,
        words: Mapping[str, str] | None = None,
        printed: pd.DataFrame | None = None,
    ) -> Markdown:
        """A table of the paper in its own rows and columns, ours with the published value in the same cell.

        `of`: from a row of the published table to our quantity; `printed`: its rows, where not all that it has. Cells
        have no signs where all published values are of one data set that was not measured. InputError where no measure
        of the page was given published values, so that no quantity can have one.
        """
        printed_values = published.table(name) if printed is None else printed
        published_on = self._other_data(printed_values)
        wide, long = tables.grid(
            printed_values, of, rows=rows, columns=columns, digits=digits, words=words, signs=not published_on
        )
        compared = printed is not None or long["published"].notna().any()
        if not compared and all(measured.printed.empty for measured in self._measured):
            raise InputError(
                f"no quantity of the table {name} knows its published value: "
                f"page.measure(..., printed=published.table({name!r})) gives it one"
            )
        title = caption or self._claims.get(name, name)
        without = (long["published"].notna() & long["estimate"].notna() & long["low"].isna()).any()
        no_sign = ["no sign: ours has no interval"] if without else []
        legend = ", ".join(["ours (published)", *tables.signs_in_words(wide), *no_sign])
        if published_on:
            title = title.replace(f" on {published_on}", "")
            legend = f"ours (published, on {published_on})"
        if self.run.values == plan.BOTH:
            legend = "ours (the book's), then the difference in standard errors"
        elif not long["published"].notna().any():
            legend = "ours; point at a cell for its interval"
        return self.listing(long, name, caption=f"{title.rstrip('.')}: {legend}", wide=wide)

    def _other_data(self, printed_values: pd.DataFrame) -> str:
        """The one data set of a published table, if it was not measured, under this or another name; "" otherwise."""
        columns = [name for name in ("dataset", "dataset_inferred") if name in printed_values.columns]
        names = {str(name) for column in columns for name in printed_values[column]}
        measured = {inputs_of(name) for name in self.have}
        same = any(inputs_of(name) in measured for name in names)
        return label(names.pop()) if len(names) == 1 and not same else ""

    def listing(
        self,
        frame: pd.DataFrame,
        name: str,
        *,
        caption: str,
        digits: int = 3,
        empty: str | None = None,
        wide: pd.DataFrame | None = None,
    ) -> Markdown:
        """Any other table with its line, rounded, with names for people; folded where it has more than 20 rows,
        except the page's first exhibit, which is open.

        `empty`: what is shown if it has no rows; without it such a table is refused (InputError). `wide`: what is shown
        instead of it, as it is.
        """
        if empty is not None and frame.empty:
            return Markdown(empty)
        line = tables.download_links(self.run, self.notebook, f"{name}.csv")
        self._exhibits += 1
        first = self._exhibits == 1
        return tables.table(frame, self.run, name, caption=caption, digits=digits, wide=wide, line=line, opened=first)

    def stand_ins(
        self, cells: Mapping[tuple[str, ...], Comparison], columns: Sequence[str], name: str, *, caption: str
    ) -> Markdown:
        """Quantities of substitutes by their labels, each beside the published value of what it stands for, where the
        paper's own data stands in the tables before; a sentence where there are none."""
        frame = listed(cells, columns).assign(published=[pair.published for pair in cells.values()])
        everything = "*All data sets that were measured are in the tables above.*"
        wide = None
        if "metric" in columns and len(frame) and self.run.values != plan.BOTH:
            wide = _by_metric(frame, [column for column in columns if column != "metric"])
        return self.listing(frame, name, caption=caption, empty=everything, wide=wide)

    def findable(self, frame: pd.DataFrame, name: str, *, caption: str, data: str) -> Markdown:
        """A long table that sorts and filters in the page without a kernel, its cells as they are; `data`: the file of
        the run to download."""
        self._exhibits += 1
        text = tables.markdown_table(frame, name, caption, findable=True)
        return Markdown(f"{text}\n\n{tables.download_links(self.run, self.notebook, data)}")

    def parts(self, tested: Tested, name: str, *, caption: str, answers: Sequence[str] | None = None) -> Markdown:
        """Every part of the claims of a section as a table: ours, published, how far apart, n, p-value, answer. A
        claim that repeats another of the section has no rows of its own.

        `answers`: only parts with these answers of their own are shown (of hundreds); the file has all.
        """
        repeats = [verdict.id for verdict in tested.values() if verdict.rule.same_as in tested]
        all_parts = tested.without_answers(self._statements)
        all_parts = frame = all_parts[~all_parts["claim"].isin(repeats)]
        if not self.judges:
            all_parts = all_parts.drop(columns="answer")
        elif answers is not None:
            chosen = [_alone(answer) in answers for answer in frame["answer"]]
            frame = all_parts[chosen].reset_index(drop=True)
        wide = _parts_for_readers(frame)
        if not self.judges:
            wide = wide.drop(columns="on its own")
        if wide.empty and answers and self.judges:
            wide = pd.DataFrame({"comparison": [f"none says {' or '.join(answers)} on its own"]})
        if "on its own" in wide and "*on its own*" not in caption.lower():
            caption = f"{caption.rstrip('.')}. *On its own*: what the rule says of this comparison alone"
        if "on its own" in wide and NEAR in set(wide["on its own"]):
            claims_and_answers = zip(frame["claim"], wide["on its own"], strict=True)
            near = {str(claim) for claim, answer in claims_and_answers if answer == NEAR}
            caption = f"{caption.rstrip('.')}. {_near_in_words(analysis_plan.rule(claim).margin for claim in near)}"
        if "on its own" in wide and evidence_levels.NOTHING in set(wide["on its own"]):
            caption = f"{caption.rstrip('.')}. {_UNTESTED}"
        if APART in wide:
            caption = f"{caption.rstrip('.')}. {_APART_IN_WORDS}"
        nothing = "*No part of these claims can be compared.*"
        return self.listing(
            all_parts.rename(columns={"ours": "estimate"}), name, caption=caption, empty=nothing, wide=wide
        )

    def plot(
        self,
        tested: Tested,
        name: str,
        *,
        caption: str,
        only: Sequence[str] | None = None,
        lines: Mapping[str, Sequence[float]] | None = None,
    ) -> Markdown:
        """Published against ours for every part of the claims (of `only` these), alt text made from the numbers.

        `lines`: the places of dotted lines by claim, where they are not those of its rule: a claim of several
        statements has no rule of its own.
        """
        rows = tested.frame.dropna(subset=["low"])
        rows = rows[rows["claim"].isin(list(only or tested))]
        if rows.empty:
            return Markdown("*Too few inputs for an interval of any part: nothing to draw.*")
        chosen = [tested[claim] for claim in dict.fromkeys(rows["claim"])]
        titles = {verdict.id: verdict.id.rpartition("_")[2] for verdict in chosen}
        if self.judges:
            titles = {verdict.id: f"{titles[verdict.id]}: {verdict.word}" for verdict in chosen}
        rows = rows.assign(part=rows["part"].map(wording.comparison))
        of_rules = {verdict.id: verdict.rule.lines for verdict in chosen}
        fig = plots.claims_plot(rows, titles, lines=of_rules | dict(lines or {}))
        return self.figure(fig, name, alt=plots.claims_in_words(rows, titles), caption=caption)

    def multiverse(self, name: str, over: Sequence[str], specifications: Mapping[tuple[str, ...], Claim]) -> Curve:
        """The claim of an id under every open choice (`results.multiverse`); to be drawn before it is judged."""
        self._curves[name] = curve = multiverse(name, over, specifications, have=self.have)
        self._quotable.append(curve.quoted)
        return curve

    def curve(self, curve: Curve, name: str, *, caption: str, names: Mapping[str, str] | None = None) -> Markdown:
        """A specification curve as a figure, with its data; `names`: of choices, for readers."""
        grey = curve.grey_in_words if self.judges else ""
        caption = f"{caption.rstrip('.')}. {grey}" if grey else caption
        curve = (curve if self.judges else curve.unjudged).called(names or {})
        return self.figure(curve.draw(), name, alt=curve.alt, caption=caption, data=curve.frame)

    def figure(self, fig: Any, name: str, *, alt: str, caption: str, data: pd.DataFrame | None = None) -> Markdown:
        """A figure with its line; `data`: what it is drawn from, to download."""
        files = [f"{name}.svg", f"{name}.png"]
        if data is not None:
            self.run.path(f"{name}.csv").write_text(data.to_csv(index=False, lineterminator="\n"), encoding="utf-8")
            files.append(f"{name}.csv")
        self._exhibits += 1
        line = tables.download_links(self.run, self.notebook, *files)
        return figures.save(fig, self.run, name, alt=alt, caption=caption, line=line)

    def overview(self, drawn: tuple[Any, str], name: str, *, caption: str) -> None:
        """The figure of a study's overview, drawn on this page: `NAME.md`, which the overview includes, shows it."""
        fig, alt = drawn
        if not self.judges:
            caption = f"A run of this machine, not the book's numbers. {caption}"
        line = f'<span class="exhibit-line">From the page {{doc}}`/executed/{self.notebook}`</span>'
        text = figures.save(fig, self.run, name, alt=alt, caption=caption, line=line).data
        shown = self.run.link(f"{name}.svg")
        text = text.replace(shown, f"/executed/{shown}", 1)
        self.run.path(f"{name}.md").write_text(f"{text}\n", encoding="utf-8")

    # ------------------------------------------------------------------------------------------------------ the end
    def provenance(self, *, note: str = "") -> Markdown:
        """What ran where, once a page: every exhibit's line leads here."""
        sizes = _sizes(self._measured)
        if self._shown is not None:
            sizes = _of_these(sizes, self._shown)
        n = sum(sum(counted.values()) for counted in sizes.values())
        name = f"provenance-{self.notebook.replace('_', '-')}"
        of_book = [measured.notebook for measured in self._measured if measured.source == REFERENCE]
        of_run = [measured.notebook for measured in self._measured if measured.source != REFERENCE]
        whose = (whose_numbers(self.run, of_book, of_book=True), whose_numbers(self.run, of_run, of_book=False))
        in_all = f"{n:,}" + (" in all, those of *Data used*" if self._opening is not None else "")
        return self.run.provenance(
            n=in_all if n else None, note=note, name=name, numbers="; and ".join(filter(None, whose))
        )

    def finish(self, *, note: str = "", of_its_run: bool = False) -> Markdown:
        """Save the verdicts, end the run and say where it ran (`provenance`).

        `of_its_run`: tables of the page depend on its own run, whichever run the single values are of, so that the
        reference does not take them from it. Raises DataError where an id of this page has none, or one of another page
        has one (`data/claims.csv` says which page an id belongs to).
        """
        of_page = [name for name, place in published.column("page").items() if place == self.notebook]
        stray = sorted(set(self._entries) - set(of_page))
        if stray:
            raise DataError(f"{', '.join(stray)} belong to another page: change their `page` in data/claims.csv")
        missing = [name for name in of_page if name not in self._entries]
        if missing:
            raise DataError(f"{self.notebook} gives no verdict on {', '.join(missing)}: put them into page.test(...)")
        if self._entries and self.judges:
            self.run.save(scoreboard.filled(pd.DataFrame([*self._entries.values()])), "verdicts")
        quotable = [frame[list(_QUOTED)] for frame in self._quotable if not frame.empty]
        if quotable and self.judges:
            self.run.save(pd.concat(quotable, ignore_index=True).astype({"n": "Int64"}), "quotable")
        if self._opening is not None and self._measured:  # later cells may have read further data sets
            self._opening.renew(self.data_used(self._shown).data)
        if self._measured:
            sources = {measured.source for measured in self._measured}
            self.run.note(source=REFERENCE if sources == {REFERENCE} and not of_its_run else RUN)
        shown = self.provenance(note=note)
        self.run.finish()
        return shown


def _parts_for_readers(frame: pd.DataFrame) -> pd.DataFrame:
    """Parts of claims as a page shows them, one row each, without the columns that none of them has a value for."""
    wide = pd.DataFrame(
        {
            "claim": [str(claim).rpartition("_")[2] for claim in frame["claim"]],
            "comparison": [wording.comparison(str(part)) for part in frame["part"]],
            "ours": [tables.of_size(float(value)) for value in frame["ours"]],
            "95 % interval": [_ends(low, high) for low, high in zip(frame["low"], frame["high"], strict=True)],
            "published": [tables.of_size(float(value)) for value in frame["published"]],
            APART: [tables.apart(distance).removesuffix(" SE") for distance in frame["away"]],
            "n": [_counted(n) for n in frame["n"]],
            "on its own": [_alone(answer) for answer in frame["answer"]],
        }
    )
    if BESIDE_BOOK[0] in frame.columns:
        book = zip(frame["book"], frame["from_book"], strict=True)
        wide["book"] = [f"{tables.rounded(value, 3)} ({tables.apart(distance) or '–'})" for value, distance in book]
    if not wide[APART].any():  # questions of our own have no published value
        wide = wide.drop(columns=APART)
    if frame["published"].isna().all():
        wide = wide.drop(columns="published")
    return wide


def _counted(n: Any) -> str:
    return "–" if pd.isna(n) else f"{n:,}"


def _alone(answer: object) -> str:
    """What a part would say on its own."""
    return _ALONE.get(answer, answer) if isinstance(answer, str) else "–"


def _near_in_words(margins: Iterable[float | None]) -> str:
    """What `NEAR` means in a table, with the margins of its claims.

    >>> _near_in_words([0.05, 0.05])
    '*Near the threshold*: not clearly above the value that the claim has to exceed, and clearly less than 0.05 from it'
    """
    known = sorted({margin for margin in margins if margin is not None})
    return (
        f"*{NEAR.capitalize()}*: not clearly above the value that the claim has to exceed, and clearly less than "
        f"{' or '.join(f'{margin:g}' for margin in known)} from it"
    )


def _ends(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{tables.of_size(low)} to {tables.of_size(high)}"


def _by_metric(frame: pd.DataFrame, rows: Sequence[str]) -> pd.DataFrame:
    """Quantities by metric as columns, each with its interval and the published value."""
    published_values = [float(value) for value in frame["published"]]
    cells = [
        spoken(row, ".2f") + ("" if math.isnan(value) else f" ({tables.rounded(value, 2)})")
        for row, value in zip(frame.itertuples(), published_values, strict=True)
    ]
    wide = frame.assign(cell=cells).pivot(index=[*rows], columns="metric", values="cell")
    wide = wide[list(dict.fromkeys(frame["metric"]))].rename(columns=label)
    wide["n"] = [f"{n:,}" for n in frame.groupby([*rows])["n"].min()]
    ordered = frame[[*rows]].drop_duplicates().merge(wide.reset_index(), on=[*rows])
    return ordered.assign(**{name: ordered[name].map(label) for name in rows})


def _sizes(many: Sequence[Scores]) -> dict[str, dict[str, int]]:
    """How many different inputs there are of each data set, by the evidence on which its values rest, the firmest
    first;
    "" for values without a data set. Of several measured tables with one data set that with most inputs counts."""
    sizes: dict[str, dict[str, int]] = {}
    for measured in many:
        frame = measured.frame
        level_of: dict[str, str] = {}
        counted: dict[str, int] = {}
        if "gold" in frame.columns:  # links that people made have sets of their own
            counted |= {str(name): int(n) for name, n in frame.groupby("gold")["id"].nunique().items()}
        elif "dataset" in frame.columns:
            level_of = {name: level for level, names in measured.by_evidence.items() for name in names}
            counted = {str(name): int(n) for name, n in frame.groupby("dataset")["id"].nunique().items()}
        else:
            counted[""] = frame["id"].nunique() if "id" in frame.columns else 0
        for name, n in counted.items():
            of_level = sizes.setdefault(level_of.get(name, measured.evidence()), {})
            of_level[name] = max(n, of_level.get(name, 0))
    return dict(sorted(sizes.items(), key=lambda item: evidence_levels.LEVELS.index(item[0])))


def _of_these(sizes: Mapping[str, Mapping[str, int]], datasets: Collection[str]) -> dict[str, dict[str, int]]:
    """`_sizes` of some data sets alone."""
    chosen: dict[str, dict[str, int]] = {}
    for level, counted in sizes.items():
        of_level = {name: n for name, n in counted.items() if name in datasets}
        if of_level:
            chosen[level] = of_level
    return chosen


def _used(inputs: str, evidence: str) -> str:
    """Inputs in a sentence, with whose data and models they are; behind a question of our own all of it is our choice.

    >>> _used("60 photographs", evidence_levels.DATA), _used("60 photographs", evidence_levels.OUR_QUESTION)
    ("60 photographs (paper's data, our models)", '60 photographs')
    """
    if evidence == evidence_levels.OUR_QUESTION:
        return inputs
    return f"{inputs} ({evidence})"


def _in_words(counted: Mapping[str, int], standing: Mapping[str, str]) -> str:
    """Numbers of inputs by data set, for a sentence; `standing`: what the substitutes stand for.

    >>> _in_words({"sst": 1000, "bbc": 360}, {"bbc": "ag"})
    '1,000 sentences of SST and 360 BBC news articles (*bbc*, instead of AG News)'
    """
    named = [
        f"{n:,} {inputs_of(name, standing.get(name, ''))}" if name else f"{n:,} inputs"
        for name, n in counted.items()
        if n or name
    ]
    *first, last = named or ["inputs"]
    return f"{', '.join(first)} and {last}" if first else last
