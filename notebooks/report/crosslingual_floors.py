# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How much of rho is length, links and copied words?
#
# {ref}`rho <crosslingual-rho>` is high where a model's explanations of a text and of its translation agree. Zaman and
# Belinkov {cite:p}`zaman_belinkov_2022` read it as faithfulness. But two explanations can also agree for reasons that
# have nothing to do with what the model does:
#
# - *Length.* The scores of a word's pieces are added up, and a word that is cut into many pieces in English is often
#   cut into many in the translation, too.
# - *Links.* Scores are also added up along links ({term}`fan-out`), and a word without a link gets 0. Both depend on the
#   {term}`word alignment` alone.
# - *{term}`Copied words <copied word>`.* Numbers, marks, names and placeholders are the same in both texts, so they have
#   the same embedding whatever the model makes of them.
#
# A *floor* is a row of scores that knows nothing of the prediction. What it reaches is what these three are worth. There
# are three floors: `uniform`, the same score for every piece; `activation` with L2, the norm of the embedding, which is
# one of the paper's thirteen; and `random` scores. **The paper has no counterpart to this page**, and nothing here is
# compared with printed numbers. Texts and models are {term}`stand-ins <stand-in>`, but for the `paper` profile.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.run import load, start_run
from faithbook.papers.zaman_belinkov import PAPER_LANGUAGES, THIRTEEN
from faithbook.results import claims, figures, reference, resampling, tables
from faithbook.results.figures import OURS, PALETTE
from faithbook.results.labels import row_label
from faithbook.results.rank_tests import tau_b
from faithbook.results.resampling import Interval, highest, less

run = start_run("crosslingual_floors", profile=profile)
figures.theme()
where = "on the paper's data" if profile == "paper" else "on stand-ins"
OUTPUTS = {"top_prediction": "top prediction", "loss": "loss"}
METHODS = [row for row in THIRTEEN if row[0] != "activation"]
BLIND = [("activation", "mean"), ("activation", "l2"), ("uniform", "none"), ("random", "none")]
FLOORS = [("uniform", "none"), ("activation", "l2"), ("random", "none")]
SETTINGS = {
    "main": "as published",
    "mean of pieces": "mean of pieces",
    "mean of links": "mean of links",
    "means of both": "means of both",
    "unaligned left out": "unaligned left out",
    "no copied words": "no copied words",
    "means, aligned, no copied words": "all of these",
    "random links": "random links",
    "random links, degrees kept": "random, each word's number kept",
}
TREATED = "means, aligned, no copied words"
KEYS = ["setting", "method", "aggregation", "output"]

rho = load("crosslingual_rho", profile)
links = load("crosslingual_links", profile).drop_duplicates(["language", "input"])
models = list(dict.fromkeys(rho.model))
languages = [language for language in dict.fromkeys(rho.language) if language in PAPER_LANGUAGES]
n_messages = rho.input.nunique()


# %% [markdown]
# ## What the texts are like
#
# Counted on the messages that are explained: pieces a word in English and in the translation; the share of English words
# that have a link; links beyond the first, as a share of linked words; and the share of English words that are copied.

# %%
links["pieces a word"] = links.pieces / links.words
links["pieces a word there"] = links.pieces_there / links.words_there
links["linked"] = links.linked_words / links.words
links["more links"] = (links.links - links.linked_words) / links.linked_words.where(links.linked_words > 0)
links["copied"] = links.copied_words / links.words
SHARES = ["pieces a word", "pieces a word there", "linked", "more links", "copied"]
counted = links.melt(["language", "input"], SHARES, "quantity", "value")
drawn = resampling.resample_means(counted, value="value", unit="input", cells=["language", "quantity"])
shares = drawn.table().drop(columns="dropped")
tables.table(
    reference.with_reference(shares, "crosslingual_floors_texts", on=["language", "quantity"]),
    run,
    "crosslingual_floors_texts",
    caption="Words, pieces and links of each language with intervals",
    shown=False,
)

# %%
brief = shares.pivot(index="language", columns="quantity", values="estimate")[SHARES].reset_index()
brief.insert(1, "n", n_messages)
tables.table(brief, run, "crosslingual_floors_texts_brief", caption="Words, pieces and links: means over n messages")

# %%
mean_share = brief.set_index("language")[SHARES].mean()
Markdown(
    f"Over all languages {mean_share['linked']:.0%} of the English words have a link and {mean_share['copied']:.0%} are "
    f"copied. Links beyond a word's first are {mean_share['more links']:.1%} of the linked words. The aligner of this "
    "study links words that are each other's nearest, so that a word has two links only where words tie or share a piece; "
    "the paper's aligner links words above a threshold, and sums over links matter more there than they can here."
)

# %% [markdown]
# ## Floors and methods in nine settings
#
# The first setting is the published one: pieces and links are added up, an English word without a link has 0 and stays
# in. Each other setting changes one thing; *all of these* makes all of these changes at once. Two more settings draw
# the links at random: anywhere, or so that every English word keeps its number of them.
#
# With means over pieces `uniform` scores are the same for all words, and a constant has no rank correlation: that this
# floor is gone (–) is the point of the setting. Intervals draw messages again, each in all languages, by all models and
# seeds, with all rows.


# %%
def over_languages(chosen):
    """Cells of setting and row: means over models and languages, as in Table 1, and their draws."""
    power = resampling.resample_means(
        rho[rho.language.isin(chosen)], value="rho", unit="input", cells=["model", "language", *KEYS]
    )
    return resampling.Resampled(
        power.estimate.groupby(level=KEYS).mean(),
        power.draws.T.groupby(level=KEYS).mean().T,
        power.n.groupby(level=KEYS).min(),
        power.dropped.groupby(level=KEYS).sum(),
    )


def cell(setting, row, output):
    """Where a row's mean stands; what ignores the prediction has one value for both outputs."""
    return (setting, *row, "none" if row in BLIND else output)


def of(setting, row, output):
    """A row's mean rho in a setting: a function of the cells."""
    return lambda frame: frame[cell(setting, row, output)]


def interval(function, cells):
    """A function of the means with its interval; n is that of its smallest cell. NaN where it is undefined."""
    estimate = float(function(means.estimate.to_frame().T).iloc[0])
    draws = function(means.draws).dropna()
    n = int(min(means.n[one] for one in cells))
    if np.isnan(estimate) or draws.empty:
        return Interval(np.nan, np.nan, np.nan, n, n)
    return Interval.of(estimate, draws, n, n)


def numbers(found):
    """An interval as columns of a table."""
    return found.ends | {"n": found.n}


means = over_languages(languages)
ROWS = [*METHODS, *BLIND]
table = pd.DataFrame(
    [
        {"setting": setting, "method": method, "aggregation": aggregation, "output": output}
        | numbers(interval(of(setting, (method, aggregation), output), [cell(setting, (method, aggregation), output)]))
        for setting in SETTINGS
        for output in OUTPUTS
        for method, aggregation in ROWS
    ]
)
tables.table(
    reference.with_reference(table, "crosslingual_floors", on=KEYS),
    run,
    "crosslingual_floors",
    caption="Every row in every setting, with 95 % intervals over n messages",
    shown=False,
)

# %%
wide = table[table.output == "loss"].pivot(index=["method", "aggregation"], columns="setting", values="estimate")
wide = wide.reindex(index=ROWS, columns=list(SETTINGS)).rename(columns=SETTINGS).reset_index()
wide.insert(2, "kind", ["floor" if row in FLOORS else "" for row in ROWS])
tables.table(
    wide,
    run,
    "crosslingual_floors_brief",
    digits=2,
    caption=f"Rho in each setting, attributions of the loss ({', '.join(languages)}; {n_messages} messages; {where})",
)

# %%
PANELS = [name for name in SETTINGS if name not in ("random links", "means of both")]
STYLES = dict(zip(FLOORS, [(PALETTE[1], "--"), (PALETTE[2], "-"), ("#666666", ":")], strict=True))
across = 4
down = -(-len(PANELS) // across)
fig, axes = plt.subplots(down, across, figsize=(9.5, 3.3 * down), sharex=True, sharey=True)
places = np.arange(len(METHODS))[::-1]
loss = table[table.output == "loss"].set_index(["setting", "method", "aggregation"])
for ax, setting in zip(axes.ravel(), PANELS, strict=False):
    part = loss.loc[[(setting, *row) for row in METHODS]]
    for row, (colour, style) in STYLES.items():
        at = loss.loc[(setting, *row)]
        if not np.isnan(at.estimate):
            ax.axvline(at.estimate, color=colour, ls=style, lw=1.8, label=f"floor: {row_label(*row)}")
    figures.dots(ax, part, places, colour=OURS, width=1.5, ms=4, label="methods, 95 % interval")
    ax.set_title(SETTINGS[setting], fontsize="small")
    ax.grid(axis="y", visible=False)
for ax in axes.ravel()[len(PANELS) :]:
    ax.set_visible(False)
for ax in axes[:, 0]:
    ax.set_yticks(places, [row_label(*row) for row in METHODS], fontsize="x-small")
for ax in axes.ravel()[: len(PANELS)]:
    ax.tick_params(labelbottom=True, labelsize="x-small")
handles, names = axes[0, 0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside upper center", ncols=2, fontsize="small")
fig.supxlabel("rho (loss)", fontsize="small")


def spoken(setting):
    """A panel in words: the floors and the best method."""
    part = loss.loc[[(setting, *row) for row in METHODS]].reset_index()
    best = part.loc[part.estimate.idxmax()]
    heights = {row_label(*row): loss.loc[(setting, *row)].estimate for row in FLOORS}
    told = ", ".join(f"{name} {value:.2f}" for name, value in heights.items() if not np.isnan(value))
    return f"{SETTINGS[setting]}: best method {row_label(best.method, best.aggregation)} {best.estimate:.2f}, floors {told}"


figures.save(
    fig,
    run,
    "crosslingual_floors_plot",
    alt=f"Dot plots of rho of {len(METHODS)} rows, a panel a setting, with floors as upright lines. "
    + "; ".join(spoken(setting) for setting in PANELS)
    + ".",
    caption=f"Eleven rows that look at the prediction, and three floors that do not (upright lines), in {len(PANELS)} "
    f"settings. Attributions of the loss; {', '.join(languages)}; {n_messages} messages, {where}.",
)

# %% [markdown]
# ## What is left above the floors
#
# Of every method, for both outputs: its *lead* over `uniform` scores, and over whichever floor is highest. A method
# *remains* where the whole interval of the second lies above zero. The highest floor is found anew in every draw, so
# that chance in which floor leads is part of the interval.


# %%
def floors_in(setting):
    """The floors that have a rho in a setting."""
    return [row for row in FLOORS if means.n[cell(setting, row, "none")] > 0]


def lead(setting, row, output, floors):
    """A row's rho less that of the highest of some floors: the function, and the cells it rests on."""
    over = highest([of(setting, floor, output) for floor in floors])
    return less(of(setting, row, output), over), [cell(setting, one, output) for one in (row, *floors)]


found = []
for setting in SETTINGS:
    for output in OUTPUTS:
        for row in METHODS:
            here = interval(*lead(setting, row, output, floors_in(setting)))
            entry = dict(zip(KEYS, cell(setting, row, output), strict=True))
            entry |= numbers(here) | {"verdict": claims.verdict(here)}
            if ("uniform", "none") in floors_in(setting):
                over = interval(*lead(setting, row, output, [("uniform", "none")]))
                entry |= {"over uniform": over.estimate, "uniform low": over.low, "uniform high": over.high}
            found.append(entry)
leads = pd.DataFrame(found)
tables.table(
    reference.with_reference(leads, "crosslingual_floors_leads", on=KEYS),
    run,
    "crosslingual_floors_leads",
    caption="Every method's lead over the highest floor (estimate) and over uniform scores",
    shown=False,
)

# %%
COUNTED = {
    "above all floors": lambda verdicts: (verdicts == claims.HOLDS).sum(),
    "below the highest": lambda verdicts: (verdicts == claims.FAILS).sum(),
    "methods": "size",
}
above = leads.groupby(["output", "setting"], sort=False).verdict.agg(**COUNTED).reset_index()
best = leads.loc[leads.groupby(["output", "setting"], sort=False).estimate.idxmax()].set_index(["output", "setting"])
at = [best.loc[(r.output, r.setting)] for r in above.itertuples()]
above["best method"] = [row_label(one.method, one.aggregation) for one in at]
for name in ("estimate", "low", "high", "n"):
    above[name] = [one[name] for one in at]
above["setting"] = above.setting.map(SETTINGS)
tables.table(
    reference.with_reference(above, "crosslingual_floors_above", on=["output", "setting"]),
    run,
    "crosslingual_floors_above",
    caption="Methods whose lead over the highest floor has an interval above zero, or below; and the best method's lead",
)

# %% [markdown]
# **How much of the leader's lead is left?** The method that leads in the published setting, its lead over uniform scores
# there, and how that lead moves where each shortcut is taken away. Where uniform scores have no rho (means over pieces),
# the lead over random scores stands in its place, which is zero on average.

# %%
main = table[(table.setting == "main")]
leaders = {output: tuple(part.loc[part.estimate.idxmax(), ["method", "aggregation"]])
           for output, part in main[main.method.isin([method for method, _ in METHODS])].groupby("output", sort=False)}  # fmt: skip


def floor_for(setting):
    """Uniform scores where they have a rho, random ones elsewhere."""
    return FLOORS[0] if FLOORS[0] in floors_in(setting) else FLOORS[2]


left = []
for output, row in leaders.items():
    start, start_cells = lead("main", row, output, [floor_for("main")])
    for setting in SETTINGS:
        function, cells = lead(setting, row, output, [floor_for(setting)])
        change = interval(less(function, start), [*cells, *start_cells])
        left.append(
            {"output": output, "setting": SETTINGS[setting], "leader": row_label(*row), "over": floor_for(setting)[0]}
            | numbers(interval(function, cells))
            | {"change": change.estimate, "change low": change.low, "change high": change.high}
        )
left = pd.DataFrame(left)
tables.table(
    reference.with_reference(left, "crosslingual_floors_left", on=["output", "setting"]),
    run,
    "crosslingual_floors_left",
    caption="The leader's lead over a floor in each setting (estimate), and its change from the published setting",
)

# %% [markdown]
# **Is the ranking the same?** Kendall's tau between the ranking of the eleven methods in the published setting and in
# each other one: 1 where no two change places, 0 for unrelated orders.


# %%
def tau(setting, output):
    """Kendall's tau of the methods' order in a setting with the published one: a function of the cells."""

    def means(frame, one):
        return frame[[cell(one, row, output) for row in METHODS]].to_numpy()

    return lambda frame: pd.Series(tau_b(means(frame, setting), means(frame, "main")), index=frame.index)


taus = pd.DataFrame(
    [
        {"output": output, "setting": SETTINGS[setting]}
        | numbers(interval(tau(setting, output), [cell(one, row, output) for row in METHODS for one in (setting, "main")]))
        for output in OUTPUTS
        for setting in SETTINGS
        if setting != "main"
    ]
)  # fmt: skip
tables.table(
    reference.with_reference(taus, "crosslingual_floors_taus", on=["output", "setting"]),
    run,
    "crosslingual_floors_taus",
    digits=2,
    caption="Kendall's tau with the published setting's ranking of methods",
)

# %% [markdown]
# ## What to take away


# %%
def value(setting, row, output="loss"):
    """A row's rho with its interval."""
    return interval(of(setting, row, output), [cell(setting, row, output)])


def remaining(setting, output):
    """Names of the methods above all floors, and how many there are of how many."""
    part = leads[(leads.setting == setting) & (leads.output == output)]
    holding = part[part.verdict == claims.HOLDS]
    return ", ".join(row_label(r.method, r.aggregation) for r in holding.itertuples()) or "none"


best_row = leaders["loss"]
lines = [
    f"- As published, scores that know nothing reach a rho of {value('main', ('uniform', 'none'))} (uniform) and "
    f"{value('main', ('activation', 'l2'))} (norm of the embedding). The best method, {row_label(*best_row)}, reaches "
    f"{value('main', best_row)}: uniform scores have "
    f"{value('main', ('uniform', 'none')).estimate / value('main', best_row).estimate:.0%} of that.",
    "- Above all floors as published: "
    + "; ".join(f"{text}: {remaining('main', output)}" for output, text in OUTPUTS.items())
    + ".",
    "- Above all floors with all shortcuts closed: "
    + "; ".join(f"{text}: {remaining(TREATED, output)}" for output, text in OUTPUTS.items())
    + ".",
    f"- The norm of the embedding goes from {value('main', ('activation', 'l2'))} to "
    f"{value('no copied words', ('activation', 'l2'))} without copied words, to "
    f"{value('mean of pieces', ('activation', 'l2'))} with means over pieces, and to "
    f"{value(TREATED, ('activation', 'l2'))} with all shortcuts closed.",
    f"- With random links that keep every word's number of links, {row_label(*best_row)} still has "
    f"{value('random links, degrees kept', best_row)}: what linked words and words without a link are worth.",
]
same = taus[(taus.setting == SETTINGS[TREATED])].set_index("output")
lines.append(
    "- Ranking of the methods with all shortcuts closed against the published setting, Kendall's tau: "
    + "; ".join(f"{OUTPUTS[o]} {r.estimate:.2f} [{r.low:.2f}, {r.high:.2f}]" for o, r in same.iterrows())
    + "."
)
if n_messages < claims.FEWEST_UNITS:
    lines.append(f"- With {n_messages} messages (profile `{profile}`) nothing here decides anything.")
Markdown("\n".join(lines))

# %% [markdown]
# Two readings follow for whoever uses rho. A level of rho means nothing by itself: print uniform scores and the norm of
# the embedding beside it, on the same pairs. And a method that leads only as long as pieces are added up leads in
# length. What survives means over pieces, words without a link left out and copied words left out is agreement that
# length, links and copies cannot explain. It may still be agreement for other reasons: that some words are frequent, or
# that content words matter in every language. The floors bound what rho says from below; nothing here bounds it from
# above.

# %%
run.provenance(
    n=n_messages, note=f"models: {', '.join(models)}; languages: {', '.join(languages)}; means over model seeds"
)

# %%
run.finish()
