# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Ten answers

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import re

import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import lessons, published, scoreboard, summary
from faithbook.judge.report import start_page
from faithbook.judge.sentences import Results
from faithbook.judge.sentences import values as quoted_values
from faithbook.show.page import badge
from faithbook.stats import evidence_levels
from faithbook.studies.soft import zhao_aletras_diagnosticity as diagnosticity
from faithbook.studies.soft.zhao_aletras import SIZES, of_each
from faithbook.studies.soft.zhao_aletras_diagnosticity import METHODS, WIN

page = start_page("taught", profile, values=values, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
DATASETS = ["sst", "ag"]  # those of the first study's data sets that our models have learned


def prepared(units):
    """Wins against the random attribution on these data sets, of each model by itself."""
    units = units[units.method != "none"]
    kept = units[units.dataset.isin(DATASETS)]  # a run without them has others
    counted = of_each(lambda units: diagnosticity.counted(diagnosticity.with_lengths(units)))
    return counted(kept if len(kept) else units)


def soft_and_plain():
    """Diagnosticity by model and metric, mean over methods and data sets, beside the published mean."""
    over = ["shows", "model", "dataset", "method", "metric"]
    table6 = published.table("soft_table6").assign(shows=WIN)
    measured = page.measure(
        "soft_metrics", parts=["", "lengths"], over=over, prepare=prepared, printed=table6, n_resamples=1999
    )
    power = measured.quantity("model", "metric", shows=WIN, method=METHODS, dataset=DATASETS)
    models = [model for model in SIZES.values() if model in measured.levels("model")]
    return {model: {metric: power(model, metric) for metric in lessons.ROWS} for model in models}


decided = summary.counts(board).sum()


# %% tags=["remove-input"]
def in_short():
    """The result of this page in a sentence."""
    return (
        f"Of {decided.sum()} distinct findings, of the papers and of our own questions, "
        + ", ".join(f"{number} are *{decision}*" for decision, number in decided.items() if number)
        + " (*reproduced* includes what replicates on our models and, of our own questions, what holds)."
    )


page.in_short(in_short)

# %% [markdown]
# Each question has an answer in bold. Below it are measurements, each followed in small type by the claim that it tests and the decision.
# {doc}`../how-to-read` explains the decisions, {doc}`../foundations/metrics` the metrics; the {doc}`scoreboard` lists all claims.
#
# Differences are computed before rounding, so that their last digit may not be that of the rounded numbers beside them. Methods have
# short names: x∇x is input × gradient, α is attention and α∇α attention × gradient ({doc}`../foundations/attribution`). (L2) and (μ) say
# whether the dimensions of a word's embedding are summed up by their length or by their mean; *loss* and *TP* (top prediction) say which
# output is explained. *Groups* are groups of pixels, erased one at a time. A negative fall is a rise. Released numbers count as reproduced
# where they agree to the last digit or differ for a cause that the page on them names.

# %%
soft = soft_and_plain() if page.has("soft_metrics") else {}
shown, picture = Markdown("*This copy has no values of the first study.*"), ""
if soft:
    largest = next(iter(soft))
    n = min(pair.ours.n for pair in soft[largest].values())
    caption = (
        "How often a metric scores a real explanation above a random one: published for SST-2 and AG News, and ours on "
        f"the same data sets (mean over five methods and all training seeds; n = {n} texts in the smallest set; black: 95 % interval)"
    )
    alt = lessons.bars_in_words(soft[largest])
    shown = page.figure(lessons.bars(soft[largest], largest), "soft_against_plain", alt=alt, caption=caption)
    picture = f"![{alt}](executed/taught/soft_against_plain.svg)\n\n*{caption}.*"

# %% tags=["remove-input"]
first = published.table("crosslingual_table1").set_index(["method", "aggregation", "output"]).value
quoted = load("quotable", profile)
extra = [
    quoted_values("counts", summary.in_numbers(board)),
    quoted_values("limit_ratios", lessons.limit_ratios(quoted)),
    quoted_values("crosslingual_floors", {}, {"x∇x (L2)": first["input_x_gradient", "l2", "loss"]}),
]
for model, by_metric in soft.items():
    named = {f"{model.partition(',')[0]}: {lessons.ROWS[metric][0]}": one for metric, one in by_metric.items()}
    ours, theirs = ({name: getattr(one, of) for name, one in named.items()} for of in ("ours", "published"))
    extra.append(quoted_values("soft_models", {name: one.point for name, one in ours.items()}, theirs))
results = Results(board, pd.concat([quoted, *extra], ignore_index=True))
page.run.save(lessons.table(results), "taught", format="csv")
page.run.path("landing.md").write_text(f"{lessons.landing(results, picture)}\n", encoding="utf-8")
for overview, box in lessons.in_short(results, picture).items():  # the overviews include these files
    page.run.path(f"in_short_{overview}.md").write_text(box, encoding="utf-8")
Markdown(lessons.page(results))


# %% tags=["remove-input"]
MODEL_FIRST = re.compile(r"^(?:[^:]+, on a small model: |On a small language model,? )")
"""How claims on the language model begin, which their overview says once."""


def claims_and_decisions(names, sources):
    """The claims of a study as a table for its overview: claim, source, decision, and the page that tests it."""
    lines = ["| claim | source | decision | tested on |", "| --- | --- | --- | --- |"]
    words = published.column("claim")
    for name in names:
        if name not in results.board.index:
            continue
        verdict = results.board.loc[name]
        decided = badge(evidence_levels.worded(results.decision(name), str(verdict["evidence"])))
        tested = str(verdict["page"]).removeprefix("executed/")
        said = MODEL_FIRST.sub("", words[name].rstrip("."))
        lines.append(f"| {said[:1].upper()}{said[1:]} | {sources(name)} | {decided} | {{doc}}`../executed/{tested}` |")
    return "\n".join(lines) + "\n"


every_claim = published.claims().set_index("id")
of_paper = every_claim[(every_claim.paper == "edin_2025") & (every_claim.kind == "claim")]
of_language = [name for name in every_claim.index if name.startswith("lm_")]
PAPERS = {"lm_huang": "{cite:t}`huang_chan_2026`", "lm_ice": "{cite:t}`basu_chakraborty_2026`"}
SOURCES = {"paper": "the paper", "review": "a review page"}
for overview, ids, source in (
    ("paper4", of_paper.index, lambda name: SOURCES[of_paper.source[name]]),
    ("language", of_language, lambda name: PAPERS.get(name.rpartition("_")[0], "ours")),
):
    page.run.path(f"claims_{overview}.md").write_text(claims_and_decisions(ids, source), encoding="utf-8")

# %% [markdown]
# ## Answer 1 in a figure

# %% tags=["remove-input"]
shown

# %%
page.finish()
