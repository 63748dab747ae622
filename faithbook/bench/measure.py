"""What the last chapter asks of metrics and methods, asked of one of somebody's own: values of single inputs.

A real model of texts and one of images, and models whose reason was planted; attributions of each, the same scores
shuffled or as ranks. NAOPC is left out: its bounds cost more than all else together.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from faithbook.bench.user_metric import OwnMethod, OwnMetric
from faithbook.models.load import load_model
from faithbook.sources.datasets import load_dataset
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.sources.tokenise import split_words
from faithbook.stats.conditions import Conditions
from faithbook.stats.estimates import Estimate
from faithbook.together import reasons
from faithlib.attribution import Row
from faithlib.catalogue import FAITHFULNESS, FAMILIES
from faithlib.evaluation import count_rows, evaluate, explain, shuffled, soft_scores
from faithlib.inputs import Inputs, TextInputs
from faithlib.masks import normalise
from faithlib.perturb import Perturber

METRICS = tuple(name for name in FAITHFULNESS if name not in FAMILIES["naopc"].directions)
_DATA = {"text": "movie", "vision": "fashion"}
_PRICED = 2  # inputs whose rows are counted


@dataclass(frozen=True)
class Subject:
    """A model that is asked, its inputs, and explanations of them: scores [B, F] by method; of a planted model also
    what is true, [B, F]. `settings`: the block of the notebook."""

    modality: str
    name: str
    model: Any
    inputs: Inputs
    ids: Sequence[str]
    explanations: Mapping[str, Tensor]
    settings: Mapping[str, Any]
    truth: Tensor | None = None
    gold: Tensor | None = None
    erase: str | None = None

    def values(self, metric: OwnMetric | None = None, explanations: Mapping[str, Tensor] | None = None) -> pd.DataFrame:
        """Every metric, and one's own, of every explanation: modality, model, erase, id, method, metric, value."""
        given = self.explanations if explanations is None else explanations
        metrics = [*METRICS, *(() if self.gold is None else FAMILIES["plausibility"].directions)]
        asked: dict[str, Any] = {"metrics": metrics, "gold": self.gold, "erase": self.erase, **self._sizes}
        table = evaluate(self.model, self.inputs, methods=dict(given), **asked)
        table["id"] = [self.ids[i] for i in table["input"]]
        frames = [pd.DataFrame(table[["id", "method", "metric", "value"]])]
        if metric is not None:
            perturber = Perturber(self.model, self.inputs, erase=self.erase)
            frames += [self.tidy(name, metric.name, metric(perturber, scores)) for name, scores in given.items()]
        return self._labelled(frames)

    @property
    def _sizes(self) -> dict[str, Any]:
        return {name: self.settings[name] for name in ("draws", "groups")}

    def controls(self, metric: OwnMetric | None = None) -> pd.DataFrame:
        """Soft metrics, and one's own, of the same scores shuffled and of ranks instead of scores (`control`)."""
        perturber, frames = Perturber(self.model, self.inputs), []
        for method, scores in self.explanations.items():
            moved, ranks = shuffled(scores, self.inputs), normalise(scores, "rank", self.inputs.feature_mask)
            for control, given, normaliser in (("shuffled", moved, "minmax"), ("ranks", scores, "rank")):
                drawn = soft_scores(perturber, given, normaliser=normaliser, draws=self.settings["draws"])
                values = {name: value.mean(dim=1) for name, value in drawn.items()}
                if metric is not None:
                    values[metric.name] = metric(perturber, moved if control == "shuffled" else ranks)
                frames += [self.tidy(method, *one).assign(control=control) for one in values.items()]
        return self._labelled(frames)

    def prices(self, metric: OwnMetric) -> dict[tuple[str, str], float]:
        """Rows that one attribution of one input costs, by modality and family of metrics, and those of one's own."""
        few = self.inputs[list(range(min(_PRICED, len(self.inputs))))]
        scores = explain(self.model, few, ["random"])
        rows = dict(count_rows(self.model, few, methods=scores, metrics=METRICS, **self._sizes).alone)
        perturber = Perturber(self.model, few)
        metric(perturber, scores["random"])
        rows[metric.name] = perturber.stats.rows_run
        return {(self.modality, name): count / len(few) for name, count in rows.items()}

    def tidy(self, method: str, metric: str, values: Tensor) -> pd.DataFrame:
        """Values [B] as rows: id, method, metric, value."""
        numbers = values.detach().double().cpu().numpy()
        return pd.DataFrame({"id": list(self.ids), "method": method, "metric": metric, "value": numbers})

    def _labelled(self, frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
        labels = {"modality": self.modality, "model": self.name, "erase": self.erase}
        return pd.concat(list(frames), ignore_index=True).assign(**labels)


def real(modality: str, settings: Mapping[str, Any], method: OwnMethod | None = None) -> Subject:
    """A real model with the beginnings of film reviews, whose features are words, or with images of clothes, whose
    features are the model's patches; explained by the methods of the last chapter, and one's own."""
    classifier = load_model(settings["models"][modality], attention="eager")
    model, n = classifier.model.to(device()), settings["inputs"][modality]
    inputs: Inputs
    if modality == "vision":
        images = load_pictures(_DATA[modality], "test", n=n)
        inputs, ids = as_inputs(images, model, patch=model.patch_embed.patch_size[0]), images.ids
    else:
        data = load_dataset(_DATA[modality], "test", n=n)
        words = [split_words(text)[: settings["words"]] for text in data.texts]
        cut = [text[: spans[-1][1]] for text, spans in zip(data.texts, words, strict=True)]
        inputs = TextInputs.from_texts(cut, classifier.tokenizer, words=words, max_length=data.max_length)
        ids = data.ids
    inputs = inputs.to(device())
    scores = _explained(model, inputs, methods(modality, settings), method, None)
    return Subject(modality, "real", model, inputs, ids, scores, settings)


def methods(modality: str, settings: Mapping[str, Any]) -> dict[str, str | Row]:
    """The attributions of a real model, by name, with the settings' steps and samples."""
    gradients = Row("integrated_gradients", options={"n_steps": settings["ig_steps"]})
    if modality == "text":
        return {
            **{name: name for name in ("attention", "scaled_attention", "saliency", "input_x_gradient")},
            "integrated_gradients": gradients,
            "occlusion": "occlusion",
            "lime": Row("lime", options={"n_samples": settings["lime_samples"]}),
            "shapley_sampling": Row("shapley_sampling", options={"n_samples": settings["permutations"]}),
            "random": "random",
        }
    seen = ("grad_cam", "lrp", "transformer_attribution", "raw_attention", "rollout", "transformer_mm", "attcat")
    return {"integrated_gradients": gradients, **{name: name for name in (*seen, "random")}}


def planted(modality: str, settings: Mapping[str, Any], method: OwnMethod | None = None) -> Iterator[Subject]:
    """Two models in closed form and three trained ones, on inputs whose reason was planted and about which all are
    right (the linear one on any); explained by the methods for such models, and one's own."""
    n, erase = settings["planted"][modality], reasons.ERASURES[modality][0]
    trained = {name: load_model(spec) for name, spec in settings["planted_models"][modality].items()}
    detector = reasons.detector(modality, next(iter(trained.values())).tokenizer)

    model, inputs, truth, ids = reasons.linear(modality, n, detector, device=device())
    cases: list[tuple[Any, ...]] = [("linear", model, inputs, ids, truth, None)]
    whole, right = {}, []
    for name, classifier in {"detector": detector, **trained}.items():
        classifier.model.to(device())
        inputs, marks, labels, ids = reasons.planted_inputs(modality, "planted", classifier, 3 * n)
        whole[name] = classifier.model, (inputs := inputs.to(device())), marks, ids
        right.append((Perturber(classifier.model, inputs).predicted.cpu() == labels) & (labels > 0))
    rows = torch.stack(right).all(dim=0).nonzero()[:n, 0].tolist()
    for name, (model, inputs, marks, ids) in whole.items():
        part = inputs[rows]
        gold = marks[rows][:, : part.feature_mask.shape[1]].to(device())
        cases.append((name, model, part, [ids[i] for i in rows], gold.float(), gold))
    sizes = {key: settings[key] for key in ("ig_steps", "lime_samples")}
    for name, model, inputs, ids, truth, gold in cases:
        scores = _explained(model, inputs, reasons.methods(modality, name, **sizes), method, erase)
        yield Subject(modality, name, model, inputs, ids, scores, settings, truth, gold, erase)


def _explained(
    model: Any, inputs: Inputs, known: Mapping[str, str | Row], method: OwnMethod | None, erase: str | None
) -> dict[str, Tensor]:
    """Scores [B, F] of the known methods, and of one's own."""
    scores = explain(model, inputs, known, erase=erase)
    if method is not None:
        scores[method.name] = method(model, inputs, Perturber(model, inputs, erase=erase))
    return scores


def device() -> str:
    """Where models of the bench run."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def means(
    frame: pd.DataFrame, over: Sequence[str], bounds: tuple[float, float], **fixed: str
) -> dict[tuple[str, ...], Estimate]:
    """The mean of every combination of labels, as quantities with common draws; inputs count within their modality.

    `fixed`: labels that all have.
    """
    frame = frame.dropna(subset=["value"])
    for name, wanted in fixed.items():
        frame = frame[frame[name] == wanted]
    if frame.empty:
        return {}
    unit: dict[str, Any] = {"unit": ["modality", "id"], "stratum": "modality"}
    cells = Conditions.of(frame, over=over, bounds=bounds, n_resamples=1999, **unit)
    keys = frame[list(over)].drop_duplicates().itertuples(index=False, name=None)
    # A label may stand in several cells: a mean over these weighs each alike.
    return {tuple(map(str, key)): cells.mean(**dict(zip(over, key, strict=True))) for key in keys}
