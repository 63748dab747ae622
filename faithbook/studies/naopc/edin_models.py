"""Bounds of AOPC, scores of attributions and robustness of our own classifiers: what `naopc_models` computes.

Shape letters: B texts, F words, L tokens, D embedding size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithbook.models.adversarial import worst_shift
from faithbook.models.load import Classifier
from faithbook.sources.datasets import Dataset
from faithbook.studies.naopc.edin_methods import attin_grad, kernel_shap
from faithlib.attribution import attribute
from faithlib.backends import TextBackend
from faithlib.bounds import Bounds, beam_bounds, exact_bounds, naopc, naopc_faults
from faithlib.evaluation import PAPER_RATIOS
from faithlib.inputs import TextInputs
from faithlib.masks import top_ratio
from faithlib.metrics.curves import aopc_paths
from faithlib.names import MethodName
from faithlib.perturb import Perturber

ENDS = ("lower", "upper", "certified_lower", "certified_upper", "rows")
"""What is kept of a search."""


# ---------------------------------------------------------------------------------------------------- texts of a length
def texts_of_length(data: Dataset, tokenizer: Any, *, low: int, high: int, n: int) -> pd.DataFrame:
    """The first `n` texts of `low` to `high` words (input, text, label), fewer where there are no more: whole ones, and
    then, where these are too few, others cut to their first `high` words."""
    sized: list[tuple[str, str, int]] = []
    for cut in (None, high):
        texts = [" ".join(text.split()[:cut]) for text in data.texts]
        words = TextInputs.from_texts(texts, tokenizer, unit="word").n_features.tolist()
        taken = {name for name, _, _ in sized}
        for name, text, label, size in zip(data.ids, texts, data.labels, words, strict=True):
            if low <= size <= high and name not in taken:
                sized.append((name, text, label))
        if len(sized) >= n:
            break
    return pd.DataFrame(sized[:n], columns=["input", "text", "label"])


class Block:
    """Some texts as a classifier reads them; a mask token replaces a word that is erased.

    `chosen`: the rows of `texts_of_length`; `about`: columns of every table, such as the data set.
    """

    def __init__(self, network: Any, tokenizer: Any, chosen: pd.DataFrame, about: Mapping[str, str]) -> None:
        self.network = network
        self.chosen = chosen
        self.about = about
        self.inputs = TextInputs.from_texts(list(chosen["text"]), tokenizer, unit="word")
        self.score = Perturber(network, self.inputs, erase="mask")

    def frame(self, **columns: Any) -> pd.DataFrame:
        """One row per text with these columns."""
        values = {name: value.cpu() if isinstance(value, Tensor) else value for name, value in columns.items()}
        known = {**self.about, "input": self.chosen["input"], "n_features": self.inputs.n_features}
        return pd.DataFrame({**known, **values})

    def ends(self, bounds: Bounds, *, length: str, search: str, width: int = 0) -> pd.DataFrame:
        """The ends of one search as a table; a width of 0: it has none."""
        found = {name: getattr(bounds, name) for name in ENDS}
        return self.frame(**found, length=length, search=search, width=width)


# --------------------------------------------------------------------------------------------------------------- bounds
def bounds_of_short(block: Block, *, longest: int, widths: Sequence[int]) -> tuple[Bounds, pd.DataFrame]:
    """The exact bounds; and the ends of that search and of beams of these widths, released and merged. Beams run
    nothing new, since every set is known: `rows` counts the sets that each of them would need alone."""
    exact = exact_bounds(block.score, max_features=longest)
    tables = [block.ends(exact, length="short", search="exact")]
    for variant in ("released", "merged"):
        for width in widths:
            beam = beam_bounds(block.score, width=width, variant=variant)
            tables.append(block.ends(beam, length="short", search=variant, width=width))
    return exact, pd.concat(tables, ignore_index=True)


def bounds_of_long(block: Block, search: Mapping[str, Any]) -> tuple[Bounds, pd.DataFrame]:
    """A beam's bounds, and their ends. `search`: its width and other options."""
    beam = beam_bounds(block.score, **search)
    return beam, block.ends(beam, length="long", search="merged", width=search["width"])


# --------------------------------------------------------------------------------------------------------------- scores
def explanations(
    block: Block, *, ig_steps: int, samples: int, permutations: int, has_attention: bool
) -> dict[str, Tensor]:
    """Scores [B, F] of nine of the paper's ten methods and of a random one.

    `samples`: copies of a text for LIME and KernelSHAP; `has_attention`: an LSTM has none, and is not explained by
    attention, AttInGrad and DeepLIFT.
    """
    options: dict[MethodName, dict[str, Any]] = {
        "saliency": {"aggregation": "l2"},
        "input_x_gradient": {"aggregation": "sum"},
        "integrated_gradients": {"aggregation": "sum", "n_steps": ig_steps},
        "occlusion": {},
        "lime": {"n_samples": samples, "seed": 0},
        "shapley_sampling": {"n_samples": permutations, "seed": 0},
        "random": {"seed": 0},
    }
    scores: dict[str, Tensor] = {
        method: attribute(method, block.network, block.inputs, output="probability", **given)
        for method, given in options.items()
    }
    scores["kernel_shap"] = kernel_shap(block.score, n_samples=samples)
    if has_attention:
        for method in ("attention", "deeplift"):
            scores[method] = attribute(method, block.network, block.inputs, output="probability")
        scores["attin_grad"] = attin_grad(block.network, block.inputs)
    return scores


def scores_of_explanations(
    block: Block, scores: Mapping[str, Tensor], limits: Bounds, length: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """AOPC and NAOPC of every method; and both ways to sum sufficiency, ERASER's and the ascending one.

    A beam's limits are widened by the orders that the methods themselves have shown to be possible; `outside`: whether
    a value was beyond them before.
    """
    # The rows of all methods are queued before the first value is made, so that they share forward passes.
    paths = {method: aopc_paths.later(block.score, given) for method, given in scores.items()}
    rationales = {
        method: block.score.later(top_ratio(given, PAPER_RATIOS, block.inputs.feature_mask))
        for method, given in scores.items()
    }
    values = {method: finish() for method, finish in paths.items()}
    sums = []
    for method, kept in rationales.items():
        eraser = block.score.full - kept.result().mean(dim=1)
        ascending = values[method]["aopc_lerf"]
        sums.append(block.frame(length=length, method=method, eraser=eraser, ascending=ascending))

    everything = torch.stack([value for of_method in values.values() for value in of_method.values()], dim=1)
    widened = limits.widened(everything.double())
    rows = []
    for method, of_method in values.items():
        for metric, value in of_method.items():
            rows.append(
                block.frame(
                    length=length,
                    method=method,
                    metric=metric,
                    label=block.chosen["label"].to_numpy(),
                    predicted=block.score.predicted,
                    p_full=block.score.full,
                    aopc=value,
                    naopc=naopc(value.double(), widened.lower, widened.upper),
                    outside=naopc_faults(value, limits.lower, limits.upper)["clipped"],
                )
            )
    return pd.concat(rows, ignore_index=True), pd.concat(sums, ignore_index=True)


# ----------------------------------------------------------------------------------------------------------- robustness
class Attacked:
    """A classifier whose tokens' embeddings are moved in the worst direction that projected gradient descent finds.

    Its parameters ask for no gradient from then on. `texts`: all texts of the attack, whichever share of them a run
    attacks; the mean length of a token's embedding is of all, `batch` texts at a time.
    """

    def __init__(self, classifier: Classifier, texts: Dataset, *, steps: int, batch: int) -> None:
        self.network: Any = classifier.model
        self.tokenizer = classifier.tokenizer
        self.texts = texts
        self.steps = steps
        for parameter in self.network.parameters():
            parameter.requires_grad_(False)
        self.unit = self._mean_length(batch)

    def right(self, places: slice, share: float) -> NDArray[np.bool_]:
        """Which of some texts are still classified as they should be, after an attack whose radius is this share of the
        mean length of an embedding."""
        texts = self.texts[places]
        backend, embeddings = self._read(texts)
        labels = torch.tensor(texts.labels, device=embeddings.device)
        rows = torch.arange(len(texts), device=embeddings.device)

        def logits(shift: Tensor) -> Tensor:
            return backend.logits(embeddings + shift, rows)

        def loss(shift: Tensor) -> Tensor:
            return torch.nn.functional.cross_entropy(logits(shift), labels, reduction="none")

        present = backend.inputs.attention_mask
        shift = worst_shift(loss, present, embeddings.shape[-1], radius=share * self.unit, steps=self.steps)
        with torch.no_grad():
            answers = logits(shift).argmax(dim=1)
        found: NDArray[np.bool_] = (answers == labels).cpu().numpy()
        return found

    def _read(self, texts: Dataset) -> tuple[TextBackend, Tensor]:
        inputs = TextInputs.from_texts(texts.texts, self.tokenizer, max_length=texts.max_length)
        backend = TextBackend(self.network, inputs)
        return backend, backend.embeddings()

    def _blocks(self, batch: int) -> Iterator[Dataset]:
        for start in range(0, len(self.texts), batch):
            yield self.texts[start : start + batch]

    def _mean_length(self, batch: int) -> float:
        total, tokens = 0.0, 0
        for texts in self._blocks(batch):
            backend, embeddings = self._read(texts)
            lengths = embeddings.norm(dim=-1)[backend.inputs.attention_mask]
            total += lengths.double().sum().item()
            tokens += len(lengths)
        return total / tokens
