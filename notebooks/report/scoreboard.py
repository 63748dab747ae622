# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Scoreboard: every verdict

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %% tags=["remove-input"]
from IPython.display import HTML

from faithbook.engine.run import load
from faithbook.judge import published, scoreboard, summary
from faithbook.judge.report import start_page
from faithbook.show import forest

page = start_page("scoreboard", profile, values=values, paper=published.OUR_OWN)
board = scoreboard.board(load("verdicts", profile))
page.run.save(board, "scoreboard", format="csv")
counts = summary.decision_counts(board)
page.in_short(
    lambda: (
        f"Of {counts.to_numpy().sum()} distinct findings {summary.by_decision(counts)}. Of the reproduced {summary.by_evidence(counts)}."
    )
)

# %% [markdown]
# The table has every table, figure and claim of the four papers and every question of our own. It begins with the *headline* claims, the
# main claims of each paper. Click on a column head to sort; use the field and the menus to filter. Each row links to the page that
# computes it.
#
# *Decision*: on files of the authors, or numbers that they printed, a claim is *reproduced* or not, on our models it *replicates* or not, and a
# question of our own *holds* or not. *Nothing to test*: a table of the set-up, an illustration, or a result on which the paper's own
# repeats disagree. ★: the claim survives Holm's correction over all reproduced claims of its paper. *Plain* metrics, which erase whole words,
# are those that {cite:t}`zhao_aletras_2023` call *hard*.
#
# :::{dropdown} What the columns say, and what *more* has
# - *Source*: whose words they are. A claim of a preprint was tested on one small language model, and counts among our own questions.
# - *Ours, 95 % interval (published)*: the number that decides. Of a claim of several comparisons that is one of them:
#   they are put in order by how well they support the claim, and it is the last of those that the rule asks for. Of a claim of several
#   statements it is the first comparison of the first statement, which need not decide; the page of the claim has what decides each statement.
# - *Comparisons that hold*: of those that a claim consists of, on their own; in brackets how many have to. Orders, trends and claims of
#   several statements are decided as a whole and have no such count.
# - *n*: the fewest independent inputs of any comparison of the finding; the number shown may rest on more.
# - *More* begins, for a claim of several statements, with the decision on each.
# - *On unseen inputs*: the decision on inputs that were first measured after the rules had been frozen ({ref}`below <unseen-inputs>`).
# - *Unrelated models*: models without a common encoder on which the verdict rests.
# - *Own repeat*: whether the claim holds, by the same rule, where the paper prints the result a second time.
# - *Wrongly so*: in how many of 100 simulated cases with values of this shape the rule gives this decision although it is wrong, where that is more
#   often than the 2.5 that are promised ({doc}`calibration`).
# - *Printed numbers*: whether the numbers that the paper printed or released bear the claim out as it is worded, without margins or
#   intervals (*holds*, *partly*, *fails*).
# :::
#
# {doc}`../how-to-read` explains decisions and evidence, {doc}`../how-verdicts-are-made` the rules.

# %% tags=["remove-input"]
caption = "Every verdict with the number that decides it, headline claims first, then by evidence"
every_verdict = summary.all_verdicts(board, load("quotable", profile))
page.findable(every_verdict, "scoreboard_verdicts", caption=caption, data="scoreboard.csv")

# %% [markdown]
# (unseen-inputs)=
# ## On unseen inputs
#
# The rules of studies 1 to 4 were written or changed after values had been seen: their verdicts are exploratory. About a third of the
# test sets was kept back. When the rules had been frozen, a sample of it was measured with one model of each of studies 1 to 3 (of study
# 4 with the two models that its claim c06 compares), and each finding that it reaches was judged once. The number of inputs was planned
# for the headline claims and, a day later, for some further ones ([the plan](https://github.com/faithlib/faithlib/blob/main/data/confirmatory_sizes.csv)).
# For other findings it may be too small, and *undecided* is to be expected. *Before, same model* is what that model alone gives on the
# inputs of the main run. Where a finding is undecided with the sign that it had before, the decision on both samples together is in brackets; it
# is not independent evidence.

# %% tags=["remove-input"]
caption = "Headline claims on our models, before and on unseen inputs: decisions, and the comparison that decides with its 95 % interval"
headlines = summary.twice(board, headline=True)
nothing = "*No headline claim has been judged on unseen inputs.*"
page.listing(headlines, "scoreboard_unseen", caption=caption, wide=headlines, empty=nothing)

# %% tags=["remove-input"]
caption = "Further findings of studies 1 to 3 that the same inputs reach, each by its whole rule"
others = summary.twice(board, headline=False)
nothing = "*No other finding has been judged on unseen inputs.*"
page.listing(others, "scoreboard_unseen_further", caption=caption, wide=others, empty=nothing)

# %%
why_not = summary.unconfirmed(board)
page.listing(
    why_not,
    "scoreboard_unconfirmed",
    caption="Why a finding has no decision on unseen inputs, and which ones; a finding that repeats another is left out",
    wide=why_not,
    empty="*Every finding has a decision on unseen inputs.*",
)

# %% [markdown]
# ## In numbers
#
# A finding that several tables and claims state counts once, and what leaves nothing to test is not counted. *Reproduced* includes what
# *replicates* on our models and what *holds* of our own questions. Claims of preprints that we tested on one small language model count
# among our own questions.

# %%
page.listing(
    summary.by_source(counts),
    "scoreboard_counts",
    digits=0,
    caption="Distinct findings by evidence and source, the firmest evidence first",
)

# %% [markdown]
# ## Every claim, table and figure that we judged, in one figure
#
# The dot is ours with its 95 % interval, the diamond the published value; shaded is where the claim holds. Quantities have different
# units, so each line has a scale of its own: what lies farthest from the border is at the edge. Where a published number was
# worked out again, nothing is shaded: the diamond is in the middle, and the dot is on it if ours is the same number. Of a claim of several comparisons
# the one that decides is drawn, and the test allows for their number, so that an interval may clear the border before the claim
# does. Of a claim of several statements the first comparison of the first statement is drawn, which need not decide. For an order (Kendall's tau) or a trend (a correlation) shading shows only the first of two conditions: it must also beat 97.5 % of
# random orders. What an *undecided* line would have to pass stands below the word. Each line links to its row of the table above.

# %% tags=["remove-input"]
findings = summary.findings(board)
page.run.path("forest.md").write_text(
    forest.forest_html(findings, to="executed/scoreboard.html") + "\n", encoding="utf-8"
)
HTML(forest.forest_html(findings))

# %% [markdown]
# ## What is undecided, and what would decide it
#
# *Needed*: inputs in the smallest set for a power of 80 %, if the true values equal the estimates. A rule that compares orders
# or trends has no such number: its units are methods or languages.

# %%
page.listing(
    scoreboard.undecided_findings(board),
    "scoreboard_undecided",
    caption="Undecided findings, each once: inputs in the smallest set, inputs that would decide it, and why there are not as many",
    wide=summary.undecided_table(board),
    empty="*Nothing is undecided.*",
)

# %% [markdown]
# (referee-answers)=
# ## What a referee asked of the rules
#
# Before the rules were frozen a referee read an earlier version of the book. These are its points on single claims (its section 2, and its
# findings F7 to F10), what was done about each, and why something was not.

# %%
answers = summary.answers_to_referee(board)
page.listing(answers, "scoreboard_referee", caption="Points of a referee's reading, and the answers", wide=answers)

# %%
page.finish()
