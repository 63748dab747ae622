"""Readers of the files that Edin et al. (2025) released for SST-2: answers to every subset, attributions, scores.

The files number words from 1 in the order of the text. In a few inputs the attribution's numbering does not match that
of the answers; `words_agree` says where.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithbook.sources.files import fetch
from faithlib.errors import DataError
from faithlib.perturb import SetFunction

MODELS = {  # the published tables' name: the files' name
    "bert_sst2": "bert-base-uncased-SST-2",
    "roberta_sst2": "roberta-base-SST-2",
    "bert_yelp": "bert-base-uncased-yelp-polarity",
    "roberta_yelp": "roberta-base-finetuned-yelp-polarity",
    "bert_imdb": "bert-base-uncased-imdb",
    "roberta_imdb": "roberta-base-imdb",
}
METHODS = {  # the files' name: the published tables' name
    "gradient_x_input": "input_x_gradient",
    "integrated_gradient": "integrated_gradients",
    "kernelshap": "kernel_shap",
    "occlusion_1": "occlusion",
    "random_baseline": "random",
}


def answers(model: str) -> dict[int, SetFunction]:
    """For each short sentence (by id) the probability of the positive class for every set of kept words."""
    table = _read("permutation_outputs/sst2_{}.parquet", model)
    found = {}
    for name, rows in table.groupby("id"):
        removed = [json.loads(words) for words in rows.word_key]
        n = max(len(words) for words in removed)
        logits = torch.tensor(rows[["negative_logit", "positive_logit"]].to_numpy().copy())
        value = torch.full((2**n,), torch.nan, dtype=torch.float64)
        value[[sum(1 << (word - 1) for word in words) for words in removed]] = logits.softmax(dim=1)[:, 1]
        if bool(value.isnan().any()):
            raise DataError(f"sentence {name} of {model}: not every set of its {n} words has an answer")
        found[int(str(name))] = SetFunction(_lookup(value, n), n)
    return found


def _lookup(value: Tensor, n: int) -> Callable[[Tensor], Tensor]:
    weights = 2 ** torch.arange(n)
    return lambda keep: value[(~keep * weights).sum(dim=1)]


def attributions(model: str) -> pd.DataFrame:
    """Columns id, method, scores (one a word, special tokens left out)."""
    table = _read("feature_attribution_scores/sst2_short_{}.parquet", model)
    scores = [np.asarray(row, dtype=float)[1:-1] for row in table.word_attributions]
    return pd.DataFrame({"id": table.id, "method": table.explanation_method.replace(METHODS), "scores": scores})


def released_bounds(model: str) -> pd.DataFrame:
    """Columns id, search ("exact" or "beam"), length ("short" or "long"), lower, upper, seconds."""
    exact = _read("aopc_limits_exact/sst2_{}.parquet", model)
    parts = [
        pd.DataFrame({"id": exact.id, "lower": exact.lower_limit, "upper": exact.upper_limit}).assign(
            search="exact", length="short", n_features=exact.number_of_elements
        )
    ]
    for length in ("short", "long"):
        beam = _read(f"aopc_limits_approx/sst2_{length}_no_preprocessing_beam_size_5_{{}}.parquet", model)
        parts.append(
            pd.DataFrame(
                {
                    "id": beam.id,
                    "search": "beam",
                    "length": length,
                    "lower": beam.sufficiency,
                    "upper": beam.comprehensiveness,
                    "seconds": beam.processing_time,
                    "n_features": beam.comprehensiveness_upper_word_attributions.map(len),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def released_scores(model: str, length: str) -> pd.DataFrame:
    """Columns id, method, comprehensiveness (AOPC, most relevant first), sufficiency (least relevant first), p_full."""
    table = _read(f"aopc_scores_{length}/sst2_{{}}.csv", model)
    return pd.DataFrame(
        {
            "id": table.id,
            "method": table.explanation_method.replace(METHODS),
            "comprehensiveness": table.comprehensiveness,
            "sufficiency": table.sufficiency,
            "p_full": table.prob,
        }
    )


def words_agree(score: SetFunction, scores: NDArray[np.float64]) -> bool:
    """Whether attributions and answers count the same number of words."""
    return len(scores) == score.n_features


def orders(scores: NDArray[np.float64]) -> dict[str, NDArray[np.int64]]:
    """The two orders of removal that the released scores follow: {"comprehensiveness", "sufficiency"}.

    Sufficiency runs the descending order backwards, ties included.
    """
    descending = np.argsort(-scores, kind="stable")
    return {"comprehensiveness": descending, "sufficiency": descending[::-1].copy()}


def aopc(score: SetFunction, order: NDArray[np.int64]) -> float:
    """AOPC of one order, k = 1 to N."""
    position = np.argsort(order)
    keep = torch.from_numpy(position[None, :] > np.arange(len(order))[:, None])
    return float(score.full) - float(score.keep(keep[None]).mean())


def _read(pattern: str, model: str) -> pd.DataFrame:
    path = fetch("naopc:results/" + pattern.format(MODELS[model]))
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
