# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Language models: do scores reward marking more, and the first token?

# %% tags=["parameters"]
profile = "laptop"
values = "reference"  # "run": what this machine computed; "both": beside the book

# %%
import pandas as pd
from IPython.display import Markdown, display

from faithbook.judge import published
from faithbook.judge.report import start_page
from faithbook.show.labels import label
from faithbook.show.numbers import listed, spoken
from faithbook.show.plots import Layout, dot_plot, line_plot
from faithbook.studies.together.prompted import WITHOUT_MODEL

METHODS = (
    "attention",
    "rollout",
    "rollout_dropped",
    "saliency",
    "input_x_gradient",
    "integrated_gradients",
    "occlusion",
    "random",
)
SOFT = {"soft_ns": "pi_soft_ns", "soft_nc": "pi_soft_nc"}
HARD_AND_SOFT = ("ns", "nc", "soft_ns", "soft_nc")
TEXT = ["dataset", "model", "id", "cluster", "seed"]

page = start_page("language_measures", profile, values=values, paper=published.OUR_OWN)
there = page.has("language_amounts")


def with_correlations(units):
    """Values of every method, and for every text the rank correlation over methods of each metric with the amount."""
    real = units[units.method.isin(METHODS)]
    by_method = real.pivot(index=[*TEXT, "method"], columns="metric", values="value")
    ranks = by_method.groupby(TEXT).rank()
    rho = pd.DataFrame(
        {
            one: ranks.groupby(TEXT)[["amount", one]].corr().iloc[::2, 1].droplevel(-1)
            for pair in SOFT.items()
            for one in pair
        }
    )
    rho = rho.rename_axis(columns="metric").stack().rename("value").reset_index().assign(method="rho")
    return pd.concat([units[[*TEXT, "method", "metric", "value"]], rho])


def above_its_share(units):
    """The first token's share of a prompt's scores and what it has above an even share; other values as they are."""
    share = units[units["first"] == "share"].pivot(index=[*TEXT, "method"], columns="metric", values="value")
    share = (
        share.assign(above=share.share - share.even_share).melt(ignore_index=False, value_name="value").reset_index()
    )
    return pd.concat([share.assign(first="share"), units[units["first"] != "share"]])


if there:
    page.measure("language_amounts", over=["metric", "method"], prepare=with_correlations)
    sinks = page.measure(
        "language_amounts", parts=["sinks"], over=["first", "metric", "method"], prepare=above_its_share
    )
    texts = page.measure("language_amounts", parts=["texts"], over=["metric"])
    of, first_token = page.quantity("metric", "method"), sinks.quantity("first", "metric", "method")

# %% tags=["remove-input"]
if there:
    right, rho = texts.mean(metric="right"), {one: of(one, "rho") for pair in SOFT.items() for one in pair}
    share = {name: first_token("share", "share", name) for name in ("attention", "rollout", "input_x_gradient")}
    display(
        Markdown(
            f"**What one sees.** On a small model, how much a method marks and its Soft-NS have a rank correlation over methods "
            f"of {spoken(rho['soft_ns'], '.2f')}, at equal retention of {spoken(rho['pi_soft_ns'], '.2f')}; Soft-NC has "
            f"{spoken(rho['soft_nc'], '.2f')} and {spoken(rho['pi_soft_nc'], '.2f')}. The first token, a word of the template, takes "
            f"{spoken(share['attention'], '.0%')} of the attention and {spoken(share['input_x_gradient'], '.0%')} of input × "
            f"gradient. The model answers correctly for {spoken(right, '.0%', n=True)} of the reviews."
        )
    )

# %%
page.data_used() if there else Markdown(WITHOUT_MODEL)

# %% [markdown]
# A faithfulness score of a language model can measure two things by mistake. *Amount*: soft metrics drop elements of a
# word's embedding with a probability that follows its score. A method with large scores then keeps, or loses, more of the
# text, whatever its order. {cite:t}`huang_chan_2026` compare methods at the same expected retention instead (pi-Soft).
# *Sinks*: decoders give most of their attention to the first token of a prompt, whatever it is.
#
# The model is small: SmolLM2-135M-Instruct with weights of 4 bits. The prompt asks for the sentiment of a one-sentence film
# review (SST-2). We explain the probability of the predicted word, " positive" or " negative". Words of the review are
# features. The rules were fixed before any value was computed.

# %% [markdown]
# ## Do soft metrics reward large scores?
#
# Scores are stretched to [0, 1] in each text; the *amount* of a method is their mean. For each text the methods have a rank by
# amount and one by metric; the rank correlation of the two is averaged over texts. Above zero, methods that mark more score
# higher. A correlation alone could mean that better methods mark more. So occlusion enters twice more, its importance to the
# power 1/3 and to the power 3: one order, two amounts.
#
# *At equal retention* (pi-Soft-NS, pi-Soft-NC): scores are shifted until every method keeps the same share of the text, a
# quarter, a half, three quarters; the value is the area over these shares. How the shift is made is our choice
# ({doc}`../foundations/metrics`).

# %%
if there:
    rows = {(name, metric): of(metric, name) for name in METHODS for metric in ("amount", *SOFT, *SOFT.values())}
    table = listed(rows, ["method", "metric"])
    cells = table.assign(cell=[spoken(one, ".2f") for one in table.itertuples()])
    wide = cells.pivot(index="method", columns="metric", values="cell")
    wide = wide.loc[list(METHODS), ["amount", *SOFT, *SOFT.values()]]
    caption = "Methods on a small language model: mean importance, soft metrics as they are and at equal retention (higher is better), with 95 % intervals"
    caption = f"{caption}; n = {table.n.min()} texts in the smallest cell"
    display(page.listing(wide.reset_index(), "language_amounts", caption=caption))

# %%
if there:
    amount = table[table.metric == "amount"].set_index("method").estimate
    drawn = table[table.metric != "amount"].assign(amount=lambda rows: rows.method.map(amount))
    drawn["panel"] = [f"{label(one)}: rank correlation {rho[one].ours.point:.2f}" for one in drawn.metric]
    drawn = drawn.sort_values("metric", key=lambda names: names.map([*SOFT, *SOFT.values()].index), kind="stable")
    layout = Layout(panel="panel", series="method", names={name: label(name) for name in METHODS}, shared=False)
    fig, alt = line_plot(drawn, "mean importance of a word", "score", x="amount", layout=layout, bars=True)
    caption = "How much a method marks and its soft metrics, as they are and at equal retention. SmolLM2-135M, SST-2."
    display(page.figure(fig, "language_amounts_plot", alt=alt, caption=caption, data=table))

# %%
OTHERS = [name for name in METHODS if name not in ("occlusion", "random")]
NAMED = {"soft_ns": "Soft-NS", "soft_nc": "Soft-NC"}
CLAIMS = {"lm_huang_c01": {}, "lm_q1": {}, "lm_huang_c02": {}}  # without values they are not testable here
if there:
    CLAIMS = {
        "lm_huang_c01": {f"amount and {NAMED[one]}, rank correlation": rho[one] for one in SOFT}
        | {
            f"occlusion to the power 1/3 minus to the power 3, {NAMED[one]}": of(one, "occlusion_more")
            - of(one, "occlusion_less")
            for one in SOFT
        },
        "lm_q1": {
            f"correlation with {NAMED[one]} minus with {label(two)}": rho[one] - rho[two] for one, two in SOFT.items()
        },
        "lm_huang_c02": {
            f"{label(name)} minus occlusion": of("pi_soft_ns", name) - of("pi_soft_ns", "occlusion") for name in OTHERS
        },
    }
amounts = page.test(CLAIMS)
page.verdicts(amounts)

# %%
page.parts(amounts, "language_amounts_parts", caption="The parts of these claims, on a small model") if there else None

# %% [markdown]
# ## What falls on the first token?
#
# A decoder's attention has to go somewhere at every position, and most of it goes to the first token, which all later ones see.
# For this question the whole prompt is explained, token by token. *Share*: the part of the absolute scores that the first token
# has; an even share would be one over the number of tokens. Rollout without the sink sets attention to the first token to zero
# before it multiplies.

# %%
if there:
    SINKING = [name for name in METHODS if name not in ("occlusion", "random")]
    shares = listed({(name,): first_token("share", "share", name) for name in SINKING}, ["method"])
    even = first_token("share", "even_share", "attention").ours.point
    layout = Layout(names={name: label(name) for name in SINKING}, mark=even)
    fig, alt = dot_plot(shares, "first token's share of the absolute scores of a prompt", row="method", layout=layout)
    caption = f"The first token's share of a prompt's scores; dotted: an even share, {even:.0%}. SmolLM2-135M, SST-2, n = {shares.n.min()}."
    display(page.figure(fig, "language_sinks_plot", alt=alt, caption=caption, data=shares))

# %% [markdown]
# What does protecting it change? For the next table the review comes first in the prompt, so that the first token is one of its
# words. Either it is a feature like the others (*open*), or it is protected and only the other words are features.

# %%
PROTECTED = ("attention", "rollout", "input_x_gradient", "occlusion")
if there:
    pairs = {
        (name, metric): [first_token(first, metric, name) for first in ("open", "protected")]
        for name in PROTECTED
        for metric in HARD_AND_SOFT
    }
    changes = {key: protected - opened for key, (opened, protected) in pairs.items()}
    frame = listed(changes, ["method", "metric"]).rename(columns={"estimate": "change"})
    for i, name in enumerate(("open", "protected")):
        frame.insert(2 + i, name, [pair[i].ours.point for pair in pairs.values()])
    caption = "Metrics with the first word of the prompt as a feature (open) and protected, and the change with its 95 % interval"
    display(page.listing(frame, "language_sinks", caption=f"{caption}; a small model, higher is better"))

# %%
CLAIMS = {"lm_q5": {}, "lm_q6": {}}
if there:
    EXPECTED = [name for name in SINKING if name != "rollout_dropped"]
    CLAIMS = {
        "lm_q5": {
            f"{label(name)}, share minus an even share": first_token("share", "above", name) for name in EXPECTED
        },
        "lm_q6": {
            f"{label(name)}, {label(metric)}: protected minus open": changes[name, metric]
            for name in ("attention", "rollout")
            for metric in HARD_AND_SOFT
        },
    }
sunk = page.test(CLAIMS)
page.verdicts(sunk)

# %%
page.parts(sunk, "language_sinks_parts", caption="The parts of these claims, on a small model") if there else None

# %%
if there:
    page.quote("lm_equal_retention", {f"amount and {label(kept)}": rho[kept] for kept in SOFT.values()})
page.finish(note="" if there else "no language model on this machine")
