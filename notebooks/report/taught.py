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
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load
from faithbook.judge import lessons, published, readme, scoreboard, summary
from faithbook.judge.report import start_page
from faithbook.judge.sentences import Results
from faithbook.judge.sentences import quotable_rows as quoted_values
from faithbook.show.labels import label
from faithbook.studies.soft import zhao_aletras_by_size as by_size
from faithbook.studies.soft.zhao_aletras_diagnosticity import WIN
from faithbook.studies.soft.zhao_aletras_tables import published_averages

page = start_page("taught", profile, values=values, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))

# %% tags=["remove-input"]
counts = summary.decision_counts(board)
page.in_short(
    lambda: (
        f"Of {counts.to_numpy().sum()} distinct findings, of the papers and of our own questions, {summary.by_decision(counts)} "
        "(*reproduced* includes what replicates on our models and, of our own questions, what holds)."
    )
)

# %% [markdown]
# Each question has an answer in bold. Below it are measurements, each followed in small type by the claim that it tests, the decision and what it
# rests on. *Unrelated models* share no pretrained network; several trainings of one count as one model. {doc}`../how-to-read` explains
# the decisions, {doc}`../foundations/metrics` the metrics; the {doc}`scoreboard` lists all claims.
#
# Differences are computed before rounding, so that their last digit may not be that of the rounded numbers beside them. Methods have
# short names: x∇x is input × gradient, α is attention and α∇α attention × gradient ({doc}`../foundations/attribution`). (L2) and (μ) say
# whether the dimensions of a word's embedding are summed up by their length or by their mean; *loss* and *TP* (top prediction) say which
# output is explained. *Groups* are groups of pixels, erased one at a time. A metric is *diagnostic* if it prefers a real explanation to a random
# one. *Plain* metrics erase whole words; {cite:t}`zhao_aletras_2023` call them *hard*. A negative fall is a rise. Released numbers count as
# reproduced where they agree to the last digit or differ for a cause that the page on them names.

# %%
soft = {}
if page.has("soft_metrics"):
    table6 = published.table("soft_table6").assign(shows=WIN)
    over = ["shows", "model", "dataset", "method", "metric"]
    measured = page.measure(
        "soft_metrics", parts=["", "lengths"], over=over, prepare=by_size.wins_of_each, printed=table6, n_resamples=1999
    )
    soft = by_size.diagnosticity_by_model(measured, lessons.ROWS)

# %% tags=["remove-input"]
shown, picture = Markdown("*This copy has no values of the first study.*"), ""
if soft:
    largest = next(iter(soft))
    n = min(pair.ours.n for pair in soft[largest].values())
    caption = (
        "How often a metric scores a real explanation above a random one: published for SST-2 and AG News, and ours on "
        f"the same data sets (mean over five methods and all training seeds; n = {n} texts in the smallest set; black: 95 % interval)"
    )
    alt = lessons.bars_in_words(soft[largest])
    shown = page.figure(
        lessons.diagnosticity_bars(soft[largest], largest), "soft_against_plain", alt=alt, caption=caption
    )
    picture = f"![{alt}](executed/taught/soft_against_plain.svg)\n\n*{caption}.*"

# %% tags=["remove-input"]
first = published.table("crosslingual_table1").set_index(["method", "aggregation", "output"]).value
quoted = load("quotable", profile)
averages = {label(metric): value for metric, value in published_averages().items()}
extra = [
    quoted_values("counts", summary.in_numbers(board)),
    quoted_values("soft_printed", {}, averages),
    quoted_values("limit_ratios", lessons.limit_ratios(quoted)),
    quoted_values("released_shares", lessons.released_shares(quoted)),
    quoted_values("crosslingual_floors", {}, {"x∇x (L2)": first["input_x_gradient", "l2", "loss"]}),
    *lessons.diagnosticities_to_quote(soft),
]
results = Results(board, pd.concat([quoted, *extra], ignore_index=True))
Markdown(lessons.page(results))

# %% tags=["remove-input"]
page.run.save(lessons.lessons_table(results), "taught", format="csv")
page.run.path("landing.md").write_text(f"{lessons.landing(results, picture)}\n", encoding="utf-8")
page.run.path(readme.SECTION.name).write_text(readme.section(results), encoding="utf-8")
included = {f"in_short_{overview}": box for overview, box in lessons.overview_boxes(results, picture).items()}
included |= {f"claims_{overview}": table for overview, table in lessons.claims_of_overviews(results).items()}
for name, text in included.items():  # the overviews include these files
    page.run.path(f"{name}.md").write_text(text, encoding="utf-8")

# %% [markdown]
# ## Answer 1 in a figure

# %% tags=["remove-input"]
shown

# %%
page.finish()
