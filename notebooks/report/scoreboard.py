# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Scoreboard
#
# Every table, figure and claim of the papers and every question of our own, and how it fared here. Verdicts are computed
# on the pages that the list links to; {doc}`how to read them <../how-to-read>` is explained first of all. Nothing is left
# out: what has not been run is listed as such. The column *reference* has the verdict of the committed run of the `full`
# profile, which has more inputs and is the one to trust.

# %% tags=["parameters"]
profile = "laptop"

# %%
import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Markdown

from faithbook.engine.profiles import find_profile
from faithbook.engine.run import has_reference, load, start_run
from faithbook.results import evidence, figures, page, published, scoreboard

run = start_run("scoreboard", profile=profile)
figures.theme()
PAPERS = {
    "zhao_aletras_2023": "Zhao & Aletras 2023 (Soft-NS, Soft-NC)",
    "wu_2024": "Wu et al. 2024 (SaCo)",
    "zaman_belinkov_2022": "Zaman & Belinkov 2022 (cross-lingual)",
    "edin_2025": "Edin et al. 2025 (NAOPC)",
    published.OUR_OWN: "Our own questions (all together)",
}
COLOURS = {
    evidence.MATCH: "#009E73",
    evidence.HOLDS: "#56B4E9",
    evidence.CARRIES_OVER: "#A6D8F0",
    evidence.SET_UP: "#DDDDDD",
    evidence.LEVEL: "#F7F0A0",
    evidence.PARTLY: "#E69F00",
    evidence.INCONCLUSIVE: "#F0E442",
    evidence.DOES_NOT: "#F2B48C",
    evidence.FAILS: "#D55E00",
    evidence.DIFFERS: "#CC79A7",
    evidence.UNTESTABLE: "#BBBBBB",
    evidence.NO_ORDER: "#AAAAAA",
    evidence.NOT_RECOMPUTABLE: "#888888",
    evidence.NOT_RUN: "#CCCCCC",
}
board = scoreboard.board(load("verdicts", profile))
run.save(board, "scoreboard", format="csv")
reference = {}
if has_reference("scoreboard"):
    reference = load("scoreboard", reference=True).set_index("id").verdict
counts = board.groupby(["paper", "verdict"]).size().unstack(fill_value=0)
counts = counts.reindex(index=list(PAPERS), columns=evidence.DECISIONS, fill_value=0)

# %%
facts = scoreboard.distinct(board)
words = ", ".join(f"{page.badge(word)} {number}" for word, number in facts.verdict.value_counts().items())
summary = (
    f"Profile `{profile}`: {find_profile(profile).about}\n\n"
    f"Of {len(board)} tables, figures and claims of the four papers and questions of our own, {len(board) - len(facts)} "
    f"repeat another; of the {len(facts)} that do not: {words}."
)
# The landing page includes this file: the same words, and how each claim fared.
told = board[board.kind == "claim"].merge(published.index("claims")[["id", "claim"]], on="id")
lines = [f"| {row.claim} | {page.badge(row.verdict)} |" for row in told.itertuples()]
fared = "\n".join(["| what the paper says | in this run |", "| --- | --- |", *lines])
run.path("summary.md").write_text(f"{summary}\n\n{fared}\n", encoding="utf-8")
Markdown(summary)

# %%
fig, ax = plt.subplots(figsize=(8, 0.7 * len(counts) + 1.3))
left = 0 * counts.sum(axis=1)
places = range(len(counts))[::-1]
for verdict in evidence.DECISIONS:
    if counts[verdict].any():
        bars = ax.barh(places, counts[verdict], left=left, color=COLOURS[verdict], edgecolor="white", label=verdict)
        ax.bar_label(bars, [str(n) if n else "" for n in counts[verdict]], label_type="center", color="black")
        left = left + counts[verdict]
ax.set_yticks(list(places), [PAPERS[name] for name in counts.index])
ax.set_xlabel("tables, figures, claims and questions")
ax.grid(visible=False)
ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=3, fontsize="small")
spoken = "; ".join(
    f"{PAPERS[name]}: " + ", ".join(f"{number} {verdict}" for verdict, number in line.items() if number)
    for name, line in counts.iterrows()
)
figures.save(
    fig,
    run,
    "scoreboard_counts",
    alt=f"Stacked bars, one a paper, of the number of tables, figures, claims and questions by verdict. {spoken}.",
    caption="Verdicts by paper.",
)


# %%
def listing(rows):
    """The verdicts of one paper as a table with links to the pages (text of a MyST table: no bar may stay bare)."""
    lines = [
        "| what | verdict | evidence | n | why | reference | page |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    titles = {kind: published.index(kind).set_index("id") for kind in published.KINDS}
    for r in rows.itertuples():
        known = titles[f"{r.kind}s"].loc[r.id]
        title = known[{"table": "title", "figure": "shows", "claim": "claim", "question": "question"}[r.kind]]
        seen = f"{{doc}}`see <{r.page.removeprefix('executed/')}>`" if r.page else ""
        n, earlier = "" if pd.isna(r.n) else str(r.n), page.badge(reference[r.id]) if r.id in reference else ""
        cells = (f"`{r.id}` {title}", page.badge(r.verdict), r.evidence, n, r.note, earlier, seen)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


# %% [markdown]
# ## Every verdict

# %%
blocks = [f"**{PAPERS[name]}**\n\n{listing(board[board.paper == name])}" for name in PAPERS]
link = f"Download: {{download}}`csv <{run.link('scoreboard.csv')}>`"
Markdown("\n\n".join([*blocks, link]))

# %%
run.provenance()

# %%
run.finish()
