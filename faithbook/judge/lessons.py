"""What the book found, in sentences that people wrote (`sentences`): the landing page's findings, and ten answers with
their evidence.

`data/findings.csv` has the landing page, one row per paragraph, and `data/in_readme.csv` README's shorter words for
them; `data/lessons.csv` has ten questions, each with an answer; `data/claims.csv` for each claim that answers one a
sentence of what was measured. A verdict comes after the claim as
its source words it, never after the finding: a finding that contradicts a claim would read as if it failed itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from faithbook.engine.studies import confirmations, studies
from faithbook.judge import analysis_plan, choices, in_sentences, materials, published, summary
from faithbook.judge.scoreboard import confirmed, is_headline, is_planned, on_unseen_inputs, what_decides_with_both
from faithbook.judge.sentences import Results, decisions_written_for
from faithbook.judge.wording import capital, plain, plain_with_id
from faithbook.show import figures
from faithbook.show.numbers import row_of
from faithbook.show.page import badge
from faithbook.stats import evidence_levels
from faithbook.stats.comparison import Comparison

_UNRELATED = "Unrelated models share no pretrained network; several trainings of one count as one model."
MEASURED = (summary.REPRODUCED, summary.MIXED, summary.NOT_REPRODUCED, summary.UNDECIDED)
ROWS = {
    "nc": ("NC", "Comprehens.,\nplain (NC)"),
    "soft_nc": ("Soft-NC", "Comprehens.,\nsoft (Soft-NC)"),
    "ns": ("NS", "Sufficiency,\nplain (NS)"),
    "soft_ns": ("Soft-NS", "Sufficiency,\nsoft (Soft-NS)"),
}
"""The metrics of the landing page's figure: short and long name."""


def paper_of(overview: str) -> str:
    """The paper of the study with an overview, "" where it has none."""
    for study in studies().values():
        if study.overview.partition("/")[0] == overview:
            return next(iter(study.papers), "")
    return ""


def lessons() -> tuple[Any, ...]:
    """The ten lessons of `data/lessons.csv`, in order, rows with `number`, the question (`asks`), the `answer`, the
    decisions that it was written for (`when`), and the claims that it `rests_on`, the weightiest first: rows with an
    `id` and the sentence of what was measured (`found`). Their `lesson` is its number and their place in it (`6.2`)."""
    claims, rows = published.claims(), published.our_table("lessons").rename(columns={"lesson": "number"})

    def answering(number: str) -> tuple[Any, ...]:
        answers = claims[claims["lesson"].str.startswith(f"{number}.")].sort_values("lesson")
        return tuple(answers[["id", "found"]].itertuples(index=False))

    rests_on = pd.Series([answering(number) for number in rows["number"]])
    return tuple(rows.astype({"number": int}).assign(rests_on=rests_on).itertuples(index=False))


def landing_page() -> tuple[Any, ...]:
    """The paragraphs of the landing page: the rows of `data/findings.csv`, with their `kind` (a numbered finding, or
    what follows the findings), `title`, `text`, and the decisions that they were written for (`when`); `number`: that
    of a finding, "" for what follows."""
    rows = published.our_table("findings")
    is_finding = rows["kind"] == "finding"
    numbers = is_finding.cumsum().astype(str).where(is_finding, "")
    return tuple(rows.assign(number=numbers).itertuples(index=False))


def landing(results: Results, figure: str) -> str:
    """What the landing page includes: a figure, numbered findings, a box with what decides the claims behind them, and
    the paragraphs that follow the findings."""
    findings: list[str] = []
    notes: list[str] = []
    after: list[str] = []
    for box in landing_page():
        head = f"{box.number}. " if box.number else ""
        text = f"{head}**{box.title}** {results.shown(box.text, box.when)}"
        (findings if box.number else after).append(text)
        note = " ".join(filter(None, [decided(box.when, results), again_on_unseen(box.when)]))
        if box.number and not box.when:
            note = "It rests on questions of our own and tests no claim of a paper."
        if note:
            notes.append(f"*Finding {box.number}.* {note}")
    if notes:
        behind = "\n\n".join([_UNRELATED, *notes])
        findings.append(f":::{{dropdown}} The claims behind these findings, and what decides each\n{behind}\n:::")
    return "\n\n".join(filter(None, [figure, *findings, *after]))


def decided(when: str, results: Results) -> str:
    """The claims that a paragraph was written for, each with its decision, what decides it with its interval, evidence,
    n and number of unrelated models; "" where it names none, or they are decided otherwise."""
    written_for = decisions_written_for(when)
    # A paragraph that was written for other decisions is left out (`Results.shown`): nothing stands behind it.
    if any(results.decision(name) not in decisions for name, decisions in written_for.items()):
        return ""
    said = []
    for name in written_for:
        line = results.board.loc[name].to_dict()
        word = evidence_levels.display_label(str(line["decision"]), str(line["evidence"]))
        number = "; ".join(filter(None, [in_sentences.number_or_reason(line), _turning(results, name)]))
        of_review = "said by a review page" if published.sources()[name] == published.REVIEW else ""
        facts = ", ".join(filter(None, [of_review, _rests_on(line)]))
        words = capital(plain(name))
        link = f'<a href="executed/scoreboard.html#{summary.anchor(name)}">{words}</a>'
        said.append(f"{': '.join(filter(None, [f'{link}: *{word}* ({facts})', number]))}.")
    return " ".join(said)


def evidence_in_words(when: str, board: pd.DataFrame) -> str:
    """On what the claims rest that a paragraph was written for: levels of evidence with the claims of each, and the
    number of unrelated models; "" for none. `board`: by id."""
    lines = [board.loc[name].to_dict() for name in decisions_written_for(when)]
    of_level: dict[str, list[str]] = {}
    for line in lines:
        of_level.setdefault(str(line["evidence"]), []).append(f"`{line['id']}`")
    levels = [f"{level} ({', '.join(names)})" for level, names in of_level.items()]
    return "; ".join(filter(None, [*levels, _unrelated(lines)]))


def _unrelated(lines: Sequence[Mapping[Any, Any]]) -> str:
    """On how many models verdicts rest that share no encoder; "" where none is counted."""
    numbers = sorted({int(line["unrelated"]) for line in lines if not pd.isna(line["unrelated"])})
    if not numbers:
        return ""
    counted = " to ".join(map(str, dict.fromkeys([numbers[0], numbers[-1]])))
    return f"{counted} unrelated model{'s' * (numbers[-1] != 1)}"


def again_on_unseen(when: str) -> str:
    """How many of the claims that a paragraph was written for got the same verdict on unseen inputs, with n, and what
    the others got; "" where none was judged again."""
    again = confirmed()
    judged = {name: written for name, written in decisions_written_for(when).items() if name in again.index}
    if not judged:
        return ""
    others = []
    for name, written in judged.items():
        decision, evidence_level = (str(value) for value in again.loc[name, ["decision", "evidence"]])
        if decision not in written:
            word = evidence_levels.display_label(decision, evidence_level).removesuffix(" on our models")
            others.append(f"“{plain(name)}” ({word})")
    sizes = sorted({int(float(str(again.loc[name, "n"]))) for name in judged})
    n = " to ".join(map(str, dict.fromkeys([sizes[0], sizes[-1]])))
    inputs = f"On inputs that were first measured after the rules were frozen (n = {n})"
    if len(judged) == 1:
        return f"{inputs} the verdict is another one: {others[0]}." if others else f"{inputs} the verdict is the same."
    same = f"{inputs} {len(judged) - len(others)} of these {len(judged)} claims got the same verdict"
    the_rest = "the other" if len(others) == 1 else "the others"
    return f"{same}; {the_rest}: {', '.join(others)}." if others else f"{same}."


def overview_boxes(results: Results, figure: str = "") -> dict[str, str]:
    """The box at the top of each overview, from `data/in_short.csv`, by overview; `figure`: the first study's."""
    boxes = {}
    for overview, rows in published.our_table("in_short").groupby("overview", sort=False):
        lines = rows[["says", "text", "when"]].to_numpy(dtype=str).tolist()
        sentences = [f"**{says}.** {results.shown(text, when)}" for says, text, when in lines]
        sentences += filter(None, [on_unseen(str(overview), results)])
        boxes[str(overview)] = ":::{admonition} In short\n:class: tip\n\n" + "\n\n".join(sentences) + "\n:::\n"
    boxes["paper1"] += f"\n{figure.replace('(executed/', '(../executed/')}\n"
    return boxes


def on_unseen(overview: str, results: Results) -> str:
    """The headline claims of a study that were judged again on unseen inputs, as a sentence and a table with both
    decisions; then in a sentence what else these inputs say. "" where no headline claim was."""
    study, again = paper_of(overview), confirmed()
    claims = published.claims(paper=study) if study else pd.DataFrame({"id": []})
    judged = [name for name in claims["id"] if name in again.index]
    names = [name for name in judged if is_headline(name)]
    if not names:
        return ""
    same = sum(results.decision(name) == again.loc[name, "decision"] for name in names)
    rows = [
        "| claim | before | before, same model | on unseen inputs | what decides there |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in names:
        before = evidence_levels.display_label(results.decision(name), str(results.board.loc[name, "evidence"]))
        alone = evidence_levels.display_label(str(again.loc[name, "before"]), str(again.loc[name, "evidence"]))
        cells = (plain_with_id(name), before, alone, on_unseen_inputs(name, again), what_decides_with_both(name, again))
        rows.append(f"| {' | '.join(cells)} |")
    begins = (
        "**On unseen inputs.** The decisions of this study rest on rules that were written or changed after values had "
        f"been seen. {_headlines(len(names))} judged once more, on inputs that no run had measured, by rules frozen "
        f"before, with {confirmations()[study].models}; {_of_same(same, len(names))} as *before*."
    )
    others = [name for name in judged if name not in names]
    further = _further(others, again, results)
    return "\n\n".join(filter(None, [begins, "\n".join(rows), _words_of_the_table(names, again, further), further]))


def _words_of_the_table(names: Sequence[str], again: pd.DataFrame, further: str) -> str:
    """What the words of a table of unseen inputs mean, of those that it and the sentences below it (`further`) have."""
    rules = {analysis_plan.rule(name).rule for name in names}
    near_zero = ", or one near zero where the claim says *about zero*" if "within" in rules else ""
    statements = ", or what is decided of each statement of a claim that makes two" if "whole" in rules else ""
    said = (
        "*Before, same model*: what that model alone gives on the inputs of the main run. The last column has the "
        f"comparison that decides, in the unit of its metric (a value above zero supports the claim{near_zero})"
        f"{statements}."
    )
    if not any(again.loc[name, "pooled"] for name in names) and "both samples" not in further:
        return said
    return (
        f"{said} *Both samples*: where the unseen inputs alone leave a claim undecided, what they and those before say "
        "together. That is no independent evidence."
    )


def _further(names: list[str], again: pd.DataFrame, results: Results) -> str:
    """What unseen inputs say of the other findings of a study, apart of those for which their number was planned; ""
    for none."""
    planned = [name for name in names if is_planned(name)]
    said = (
        _of_further(planned, again, results, "planned later"),
        _of_further([name for name in names if name not in planned], again, results, "not planned"),
    )
    return " ".join(filter(None, said))


def _of_further(names: list[str], again: pd.DataFrame, results: Results, how: str) -> str:
    """How many of some findings have the decision that they had, and those that have another; `how`: whether their
    number of inputs was planned."""
    if not names:
        return ""
    same = [name for name in names if results.decision(name) == again.loc[name, "decision"]]
    others = [f"“{plain(name)}” (`{name}`): {on_unseen_inputs(name, again)}" for name in names if name not in same]
    findings = f"{len(names)} further finding{'s' * (len(names) != 1)}"
    begins = f"For {findings} of this study the number of inputs was {how}; {_of_same(len(same), len(names))}"
    return f"{begins}. The others: {'; '.join(others)}." if others else f"{begins}."


def _of_same(same: int, of: int) -> str:
    """How many of some findings have the decision that they had.

    >>> _of_same(1, 1), _of_same(3, 3), _of_same(3, 5)
    ('it got the same decision', 'all 3 got the same decision', '3 of 5 got the same decision')
    """
    if of == 1:
        return "it got the same decision" if same else "it did not get the same decision"
    return f"{'all' if same == of else f'{same} of'} {of} got the same decision"


def _turning(results: Results, name: str) -> str:
    """The choice on which a verdict depends, with what another one gives; "" where it depends on none."""
    choice = choices.in_full(results, name)
    return f"the answer depends on {choice}, which the paper does not report" if choice else ""


def _rests_on(line: Mapping[Any, Any]) -> str:
    """Evidence, n and number of unrelated models of a line of the scoreboard."""
    evidence = materials.evidence_in_words(str(line["id"]), str(line["evidence"]))
    return ", ".join(filter(None, [evidence, _size(line), _unrelated([line])]))


def _size(line: Mapping[Any, Any]) -> str:
    """The n of a line of the scoreboard; "" where nothing is counted."""
    return "" if pd.isna(line["n"]) else f"n = {int(line['n']):,} in the smallest set"


def _headlines(number: int) -> str:
    return "One headline claim was" if number == 1 else f"{number} headline claims were"


def paragraph(lesson: Any, results: Results) -> str:
    """An answer as MyST; below it for each id a sentence of what was measured, then the claim and its verdict."""
    supports = [
        f'{sentence(support, results)}\n<span class="verdict-note">{_claim(results, support.id)}</span>'
        for support in lesson.rests_on
    ]
    return "\n\n".join([results.shown(lesson.answer, lesson.when), *supports])


def sentence(support: Any, results: Results) -> str:
    """What was measured for a claim, or that it was not tested here."""
    if results.decision(support.id) not in MEASURED:
        return "Not tested on the data of this copy."
    return f"{results.shown(support.found, of=support.id)}."


def _claim(results: Results, name: str) -> str:
    """The claim as its source words it, and after it the decision with its evidence."""
    decision = results.decision(name)
    verdict: dict[Any, Any] = results.board.loc[name].to_dict()
    page = str(verdict["page"])
    source = published.sources()[name]
    if source == published.OUR_OWN:
        whose = "Our question"
    elif verdict["kind"] == "claim":
        whose = f"Claim of {summary.cited(source)}"
    elif verdict["evidence"] == evidence_levels.AUTHORS:
        whose = f"From the released files of {summary.cited(source)}"
    else:
        whose = f"Published by {summary.cited(source)}"
    pieces = []
    if decision in MEASURED:
        pieces = [str(verdict["evidence"]), _size(verdict), _unrelated([verdict])]
    pieces.append(": ".join(filter(None, [in_sentences.reason(verdict), choices.unreported(results, name)])))
    pieces.append(f"`{name}`")
    if page:
        pieces.append(f"{{doc}}`{page.removeprefix('executed/')}`")
    words = published.column("claim")[name].rstrip(".")
    decided = badge(evidence_levels.display_label(decision, str(verdict["evidence"])))
    return f"{whose}: *{words}*. {decided} {'; '.join(filter(None, pieces))}"


def lessons_table(results: Results) -> pd.DataFrame:
    """Every sentence with its verdict as data: lesson, question, id, source, decision, evidence, n, sentence."""
    source = published.sources()
    rows = []
    for lesson in lessons():
        for support in lesson.rests_on:
            row = {"lesson": lesson.number, "asks": lesson.asks, "source": source[support.id]}
            row |= results.board.loc[support.id, ["id", "decision", "evidence", "n"]].to_dict()
            rows.append(row | {"sentence": sentence(support, results)})
    return pd.DataFrame(rows)


def page(results: Results) -> str:
    """All lessons, a heading and a paragraph each."""
    return "\n\n".join(f"## {lesson.number}. {lesson.asks}\n\n{paragraph(lesson, results)}" for lesson in lessons())


# -------------------------------------------------------------------------------------------- claims of whole studies
_MODEL_FIRST = re.compile(r"^(?:[^:]+, on a small model: |On a small language model,? )")
"""How claims on the language model begin, which their overview says once."""
_LANGUAGE_PAPERS = {"lm_huang": "{cite:t}`huang_chan_2026`", "lm_ice": "{cite:t}`basu_chakraborty_2026`"}
_EDIN_SOURCES = {"paper": "the paper", "review": "a review page"}


def claims_of_overviews(results: Results) -> dict[str, str]:
    """The claims of the studies whose overviews list them, as tables, by overview."""
    claims = published.claims().set_index("id")
    of_edin = claims[(claims["paper"] == "edin_2025") & (claims["kind"] == "claim")]
    of_language = [name for name in claims.index if name.startswith("lm_")]
    return {
        "paper4": claims_and_decisions(results, of_edin.index, lambda name: _EDIN_SOURCES[of_edin["source"][name]]),
        "language": claims_and_decisions(
            results, of_language, lambda name: _LANGUAGE_PAPERS.get(name.rpartition("_")[0], "ours")
        ),
    }


def claims_and_decisions(results: Results, names: Iterable[str], source: Callable[[str], str]) -> str:
    """Claims as a table for an overview: claim, source, decision, what decides it, and the page that tests it."""
    lines = ["| claim | source | decision | what decides it | tested on |", "| --- | --- | --- | --- | --- |"]
    for name in names:
        if name not in results.board.index:
            continue
        verdict: dict[Any, Any] = results.board.loc[name].to_dict()
        decided = badge(evidence_levels.display_label(results.decision(name), str(verdict["evidence"])))
        page = str(verdict["page"]).removeprefix("executed/")
        words = _MODEL_FIRST.sub("", published.column("claim")[name].rstrip("."))
        facts = _rests_on(verdict)
        number = "; ".join(filter(None, [in_sentences.number_or_reason(verdict), _turning(results, name)]))
        decides = "; ".join(filter(None, [number, facts]))
        cells = (capital(words), source(name), decided, decides, f"{{doc}}`../executed/{page}`")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


# ----------------------------------------------------------------------------------------- numbers and the first figure
def diagnosticities_to_quote(pairs: Mapping[str, Mapping[str, Comparison]]) -> list[pd.DataFrame]:
    """Diagnosticities by model and metric for sentences, ours with interval and n beside the published ones."""
    frames = []
    for model, by_metric in pairs.items():
        short = model.partition(",")[0]
        rows = [
            {
                "claim": "soft_models",
                "part": f"{short}: {ROWS[metric][0]}",
                "published": pair.published,
                **row_of(pair, "ours", "low", "high"),
            }
            for metric, pair in by_metric.items()
        ]
        frames.append(pd.DataFrame(rows))
    return frames


def limit_ratios(quoted: pd.DataFrame) -> dict[str, float]:
    """By set of texts ("yelp, short"): the highest of the models' mean upper limits of AOPC over the lowest of them.

    quoted: the values that pages keep to be quoted; without the released limits there is nothing to compare.
    """
    limits = quoted[quoted["claim"] == "naopc_released_bounds"].dropna(subset=["ours"])
    limits = limits[limits["part"].str.endswith(", all, upper bound mean")]
    texts = limits["part"].str.split(", ").str[:2].str.join(", ")
    by_texts = limits.groupby(texts)["ours"]
    return dict(by_texts.max() / by_texts.min())


def released_shares(quoted: pd.DataFrame) -> dict[str, float]:
    """Of the numbers that are means of the same released values both times, how many are `the same`."""
    shares = quoted[quoted["claim"] == "naopc_shares"].set_index("part")["ours"]
    return {"the same": shares["agree"] - shares["of these agree"]} if len(shares) else {}


def diagnosticity_bars(pairs: Mapping[str, Comparison], model: str) -> Any:
    """Published diagnosticity beside ours, two bars per metric (`ROWS`)."""
    fig, ax = plt.subplots(figsize=(5.2, 4.6))
    looks = {"published (Zhao & Aletras 2023)": figures.PUBLISHED, f"ours ({model.partition(',')[0]})": figures.OURS}
    for place, metric in enumerate(ROWS):
        for shift, value, colour in zip((-0.2, 0.2), _both(pairs[metric]), looks.values(), strict=True):
            ax.barh(place + shift, value, height=0.38, color=colour)
            ax.text(2, place + shift, f"{value:.0f} %", va="center", fontsize=13, color="white", weight="bold")
        ends = pairs[metric].ours.interval()
        ax.plot((100 * ends.low, 100 * ends.high), (place + 0.2, place + 0.2), color="black", lw=2)
    ax.axvline(50, color="black", lw=1.2, ls="--")
    ax.text(50, -0.55, "chance", ha="center", va="bottom", fontsize=13)
    ax.set_yticks(range(len(ROWS)), [name for _, name in ROWS.values()], fontsize=13)
    ax.set(ylim=(3.5, -0.5), xlim=(0, 100), xlabel="real explanation scored higher, %")
    ax.grid(visible=False)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in looks.values()]
    fig.legend(handles, list(looks), loc="outside upper left", ncols=1, fontsize=13)
    return fig


def bars_in_words(pairs: Mapping[str, Comparison]) -> str:
    """The figure's values, for its alt text."""
    each = ("{}: published {:.0f} %, ours {:.0f} %".format(ROWS[name][0], *_both(pairs[name])) for name in ROWS)
    return (
        f"Bars of how often a metric scores a real explanation above a random one. {'; '.join(each)}. Chance is 50 %."
    )


def _both(pair: Comparison) -> tuple[float, float]:
    return 100 * pair.published, 100 * pair.ours.point
