# ---
# jupyter:
#   jupytext: {text_representation: {extension: .py, format_name: percent}}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Compute: the authors' released outputs, gone through again
#
# Edin et al. (2025) released what six models answer to every subset of the words of 66 short SST-2 sentences. From these
# answers alone, without a model: exact bounds by dynamic programming, the scores of ten attribution methods, beam search
# as published and as ours, at several widths. Where the files are not there, the notebook says so and ends.

# %% tags=["parameters"]
profile = "laptop"

# %%
import pandas as pd

from faithbook.engine.run import start_run
from faithbook.engine.units import as_units
from faithbook.papers import edin as release
from faithbook.sources.files import is_here
from faithlib.bounds import beam_bounds, exact_bounds
from faithlib.perturb import SetFunction

run = start_run("naopc_released", profile=profile)
here = is_here("naopc")
models = list(release.MODELS)[: run.settings["models_read"]] if here else []

# %% [markdown]
# ## Bounds, scores, beams

# %%
bounds, scores, beams, published = [], [], [], []
for model in models:
    answers = release.answers(model)
    for name, score in answers.items():
        exact = exact_bounds(score)
        lower, upper = exact.lower.item(), exact.upper.item()
        facts = {"model": model, "id": name, "n_features": score.n_features}
        bounds.append({**facts, "p_full": float(score.full), "lower": lower, "upper": upper})
        for variant in ("released", "merged"):
            for width in run.settings["widths"]:
                # A fresh memo, so that the rows are those of this search alone.
                alone = SetFunction(score.fn, score.n_features)
                beam = beam_bounds(alone, width=width, limits=(0, 1), variant=variant)
                beams.append(
                    {
                        **facts,
                        "variant": variant,
                        "width": width,
                        "lower": beam.lower.item(),
                        "upper": beam.upper.item(),
                        "certified_lower": beam.certified_lower.item(),
                        "certified_upper": beam.certified_upper.item(),
                        "rows": alone.stats.rows_run,
                        "exact_lower": lower,
                        "exact_upper": upper,
                    }
                )
    for row in release.attributions(model).itertuples():
        score = answers[row.id]
        for metric, order in release.orders(row.scores).items():
            agree = release.words_agree(score, row.scores)
            value = release.aopc(score, order) if agree else float("nan")
            scores.append({"model": model, "id": row.id, "method": row.method, "metric": metric, "aopc": value})
    published += [
        release.released_bounds(model).assign(model=model, kind="bounds"),
        release.released_scores(model, "short").assign(model=model, kind="scores", length="short"),
        release.released_scores(model, "long").assign(model=model, kind="scores", length="long"),
    ]

# %%
if here:
    bounds, scores, beams = pd.DataFrame(bounds), pd.DataFrame(scores), pd.DataFrame(beams)
    run.save(bounds, "naopc_released_exact")
    run.save(scores, "naopc_released_aopc")
    run.save(beams, "naopc_released_beams")
    ENDS = ["lower", "upper", "certified_lower", "certified_upper", "rows"]
    own = {"seed": 0, "name": "id"}
    run.save_units(as_units(scores.assign(value=scores.aopc), keys=["model"], **own))
    run.save_units(as_units(bounds, metrics=["lower", "upper", "p_full", "n_features"], keys=["model"], **own), "exact")
    run.save_units(as_units(beams.assign(method=beams.variant), metrics=ENDS, keys=["model", "width"], **own), "beams")
    run.save(pd.concat(published, ignore_index=True), "naopc_released_files")
run.save(pd.DataFrame([{"here": here, "models": len(models), "sentences": len(bounds)}]), "naopc_released_facts")
run.note(n=len(bounds), here=here, device="cpu", dtype="float64")
run.finish()
