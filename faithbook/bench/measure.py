"""Values of single inputs that a bench rests on: the known metrics and methods, and one of somebody's own among them.

The same questions as in the last chapter, on fewer inputs: attributions of a real model of texts and of images, the
same scores shuffled or as ranks, mirror images, and models whose reason was planted. NAOPC is left out: its bounds cost
more than all else together.

Shape letters: B inputs, F features.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from faithbook import reasons
from faithbook.bench.user_metric import OwnMethod, OwnMetric
from faithbook.engine.profiles import find_profile
from faithbook.models.load import Classifier, load_model
from faithbook.sources.datasets import load_dataset
from faithbook.sources.images import as_inputs, load_pictures
from faithbook.sources.tokenise import split_words
from faithlib.attribution import Row
from faithlib.catalogue import FAITHFULNESS, FAMILIES
from faithlib.evaluation import average_marked, count_rows, evaluate, explain, shuffled, soft_scores
from faithlib.inputs import ImageInputs, Inputs, TextInputs
from faithlib.masks import normalise
from faithlib.metrics import auprc, crosslingual_rho
from faithlib.perturb import Perturber

MODALITIES = ("text", "vision")
METRICS = tuple(name for name in FAITHFULNESS if name not in FAMILIES["naopc"].directions)
SOFT = tuple(FAMILIES["soft"].directions)
MIDDLE = "middle"
"""A map of closeness to the middle of an image: a floor that knows neither model nor image."""
_DATA = {"text": "movie", "vision": "fashion"}
_MODELS = {"text": "local:text/movie-seed0", "vision": "local:vision/fashion-base-seed0"}
_PLANTED = {"text": "local:text/{}-seed0", "vision": "local:vision/{}-base-seed0"}
_TRAINED = {
    "trained": "planted",
    "trained with erasure": "planted-erased",
    "misled by erasure": "planted-misled",
}
_PRICED = 2  # inputs whose rows are counted


@dataclass(frozen=True)
class Sizes:
    """How many inputs, by modality, and how long methods sample."""

    inputs: Mapping[str, int]
    planted: Mapping[str, int]
    words: int
    draws: int
    ig_steps: int
    lime_samples: int
    permutations: int
    groups: int = 10


SIZES = {
    "smoke": Sizes({"text": 3, "vision": 3}, {"text": 3, "vision": 3}, 8, 2, 4, 8, 2),
    "laptop": Sizes({"text": 24, "vision": 16}, {"text": 20, "vision": 12}, 10, 2, 8, 30, 3),
    "full": Sizes({"text": 100, "vision": 50}, {"text": 100, "vision": 50}, 24, 4, 16, 100, 10),
}
SIZES["paper"] = SIZES["full"]


def sizes_of(profile: str) -> Sizes:
    """The sizes of a profile; UnknownNameError for another name."""
    find_profile(profile)
    return SIZES[profile]


Frames = Mapping[str, pd.DataFrame]
"""What has been measured, by name. A row is a value; all have modality, id, method, metric, value, except as noted.

- `values`: real models, with `control` "", "shuffled" or "ranks"; `mirrored`: values of mirror images;
- `planted`: with model and erase; `true`: how true a method is (model, id, method, value);
- `rho`: of methods, image against mirror image (id, method, value);
- `alike`: rank correlation of the own method with others (id, method, value);
- `prices`: rows per input (modality, name, rows, seconds).
"""


def whole(parts: Mapping[str, Sequence[pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    """Each table as a whole; what nothing was measured for is empty."""
    return defaultdict(pd.DataFrame, {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()})


@dataclass(frozen=True)
class Bench:
    """What is judged, at which sizes, what hears of each step as it begins, and what has been measured."""

    metric: OwnMetric | None
    method: OwnMethod | None
    sizes: Sizes
    tell: Callable[[str], None] = lambda line: None
    measured: dict[str, list[pd.DataFrame]] = field(default_factory=lambda: defaultdict(list))

    # ------------------------------------------------------------------------------------------------- explanations
    def explanations(
        self, model: Any, inputs: Inputs, methods: Mapping[str, str | Row], *, erase: str | None
    ) -> dict[str, Tensor]:
        """Scores [B, F] of the known methods, and of one's own."""
        scores = explain(model, inputs, methods, erase=erase)
        if self.method is not None:
            scores[self.method.name] = self.method(model, inputs, Perturber(model, inputs, erase=erase))
        return scores

    def scored(
        self,
        model: Any,
        inputs: Inputs,
        explanations: Mapping[str, Tensor],
        ids: Iterable[str],
        *,
        erase: str | None,
        gold: Tensor | None = None,
    ) -> pd.DataFrame:
        """Every metric of every explanation: id, method, metric, value."""
        metrics = [*METRICS, *(FAMILIES["plausibility"].directions if gold is not None else ())]
        table = evaluate(
            model,
            inputs,
            methods=dict(explanations),
            metrics=metrics,
            erase=erase,
            draws=self.sizes.draws,
            groups=self.sizes.groups,
            gold=gold,
            gold_size=None if gold is None else average_marked(gold),
        )
        names = list(ids)
        table = table.assign(id=[names[i] for i in table["input"]])[["id", "method", "metric", "value"]]
        return pd.concat([table, *self._own(model, inputs, explanations, names, erase)], ignore_index=True)

    def _own(
        self, model: Any, inputs: Inputs, explanations: Mapping[str, Tensor], ids: list[str], erase: str | None
    ) -> list[pd.DataFrame]:
        if self.metric is None:
            return []
        perturber = Perturber(model, inputs, erase=erase)
        return [
            tidy(ids, name, self.metric.name, self.metric(perturber, scores)) for name, scores in explanations.items()
        ]

    # -------------------------------------------------------------------------------------------------- real models
    def real(self, modality: str) -> None:
        """A real model of one modality: values, controls, prices, and mirror images of images."""
        classifier = load_model(_MODELS[modality], attention="eager")
        model = classifier.model.to(_device())
        inputs, ids = real_inputs(modality, classifier, self.sizes)
        methods = real_methods(modality, self.sizes)
        self.tell(f"{modality}: {len(inputs)} inputs of a real model, {len(methods)} methods")
        explanations = self.explanations(model, inputs, methods, erase=None)
        if self.method is not None:
            scores = explanations[self.method.name]
            self._agreement_of_methods(modality, inputs, ids, scores, explanations)
        table = self.scored(model, inputs, explanations, ids, erase=None).assign(modality=modality, control="")
        self.measured["values"].append(table)
        self._controls(modality, model, inputs, ids, explanations)
        self._prices(modality, model, inputs, methods)
        if isinstance(inputs, ImageInputs):
            self._mirror(model, inputs, ids, methods, explanations, table)

    def _controls(
        self, modality: str, model: Any, inputs: Inputs, ids: list[str], explanations: Mapping[str, Tensor]
    ) -> None:
        """The same scores shuffled among the features, and the ranks of the features instead of scores."""
        perturber = Perturber(model, inputs)
        for method, scores in explanations.items():
            elsewhere, ranks = shuffled(scores, inputs), normalise(scores, "rank", inputs.feature_mask)
            for control, given, normaliser in (("shuffled", elsewhere, "minmax"), ("ranks", scores, "rank")):
                drawn = soft_scores(perturber, given, normaliser=normaliser, draws=self.sizes.draws)
                values = {name: value.mean(dim=1) for name, value in drawn.items()}
                if self.metric is not None:
                    values[self.metric.name] = self.metric(perturber, given if control == "shuffled" else ranks)
                frames = [tidy(ids, method, name, value) for name, value in values.items()]
                self.measured["values"].append(pd.concat(frames).assign(modality=modality, control=control))
        if self.method is not None:  # its own scores shuffled, asked of every metric
            moved = {self.method.name: shuffled(explanations[self.method.name], inputs)}
            table = self.scored(model, inputs, moved, ids, erase=None)
            table = table[~table["metric"].isin(SOFT)]
            self.measured["values"].append(table.assign(modality=modality, control="shuffled"))

    def _prices(self, modality: str, model: Any, inputs: Inputs, methods: Mapping[str, str | Row]) -> None:
        """Rows that one attribution of one input costs: of each family of metrics alone, of one's own, of methods."""
        part = inputs[list(range(min(_PRICED, len(inputs))))]
        scores = explain(model, part, ["random"])
        counted = count_rows(
            model, part, methods=scores, metrics=METRICS, draws=self.sizes.draws, groups=self.sizes.groups
        )
        prices = [
            {"modality": modality, "name": family, "rows": rows / len(part)} for family, rows in counted.alone.items()
        ]
        if self.metric is not None:
            perturber = Perturber(model, part)
            self.metric(perturber, scores["random"])
            rows = perturber.stats.rows_run / len(part)
            prices.append({"modality": modality, "name": self.metric.name, "rows": rows})
        if self.method is not None:
            prices += self._prices_of_methods(modality, model, inputs, methods)
        self.measured["prices"].append(pd.DataFrame(prices))

    def _prices_of_methods(
        self, modality: str, model: Any, inputs: Inputs, methods: Mapping[str, str | Row]
    ) -> list[dict[str, Any]]:
        assert self.method is not None
        method = self.method
        perturber = Perturber(model, inputs)
        before = perturber.stats.rows_run  # the inputs themselves
        asked: list[int] = []
        hook = model.register_forward_pre_hook(
            lambda _, args, kwargs: asked.append(_rows_of(args, kwargs)), with_kwargs=True
        )
        try:
            took = _seconds(lambda: method(model, inputs, perturber))
        finally:
            hook.remove()
        rows = sum(asked) if method.sees_inside else perturber.stats.rows_run - before
        counted = rows / len(inputs) if rows else float("nan")
        prices = [{"modality": modality, "name": method.name, "rows": counted, "seconds": took / len(inputs)}]
        for name, what in methods.items():
            took = _seconds(partial(explain, model, inputs, {name: what}))
            prices.append({"modality": modality, "name": name, "rows": float("nan"), "seconds": took / len(inputs)})
        return prices

    def _agreement_of_methods(
        self, modality: str, inputs: Inputs, ids: list[str], own_scores: Tensor, explanations: Mapping[str, Tensor]
    ) -> None:
        """Rank correlation of one's own scores with those of every other method, by input."""
        assert self.method is not None
        mask = inputs.feature_mask
        others = {name: one for name, one in explanations.items() if name != self.method.name}
        for name, scores in others.items():
            rho = crosslingual_rho(own_scores, scores, keep=mask)
            self.measured["alike"].append(tidy(ids, name, "rho", rho).assign(modality=modality))

    def _mirror(
        self,
        model: Any,
        inputs: ImageInputs,
        ids: list[str],
        methods: Mapping[str, str | Row],
        explanations: Mapping[str, Tensor],
        table: pd.DataFrame,
    ) -> None:
        """Mirror images, explained again: values of metrics, and each method's scores cell by cell."""
        self.tell("vision: the mirror images of the same images")
        mirrored = replace(inputs, pixels=inputs.pixels.flip(-1))
        turned = self.explanations(model, mirrored, methods, erase=None)
        if self.metric is not None:
            values = self.scored(model, mirrored, turned, ids, erase=None).assign(modality="vision")
            both = values.merge(
                table[["id", "method", "metric", "value"]], on=["id", "method", "metric"], suffixes=("", "_straight")
            )
            self.measured["mirrored"].append(both)
        if self.method is None:
            return
        across = int(inputs.feature_of[0].max()) + 1
        down = inputs.feature_mask.shape[1] // across
        middle = -torch.hypot(torch.arange(down)[:, None] - (down - 1) / 2, torch.arange(across) - (across - 1) / 2)
        straight = {**explanations, MIDDLE: middle.flatten().expand(len(inputs), -1)}
        turned |= {MIDDLE: straight[MIDDLE]}
        for name, scores in straight.items():
            back = turned[name].view(len(inputs), down, across).flip(-1).flatten(1)
            rho = crosslingual_rho(scores, back.to(scores.device))
            self.measured["rho"].append(tidy(ids, name, "rho", rho).assign(modality="vision"))

    # ----------------------------------------------------------------------------------------------- planted
    # explanations
    def planted(self, modality: str) -> None:
        """Two models in closed form and three trained ones, whose reason was planted."""
        n = self.sizes.planted[modality]
        trained = {name: load_model(_PLANTED[modality].format(data)) for name, data in _TRAINED.items()}
        detector = reasons.detector(modality, next(iter(trained.values())).tokenizer)
        whole, right = {}, []
        for name, classifier in {"detector": detector, **trained}.items():
            classifier.model.to(_device())
            inputs, marks, labels, ids = reasons.planted_inputs(modality, "planted", classifier, 3 * n)
            inputs = inputs.to(_device())
            whole[name] = classifier.model, inputs, marks, ids
            right.append((Perturber(classifier.model, inputs).predicted.cpu() == labels) & (labels > 0))
        model, inputs, truth, ids = reasons.linear(modality, n, detector, device=_device())
        self.tell(f"{modality}: {len(inputs)} inputs of a linear model")
        self._of_planted(modality, "linear", model, inputs, truth, None, list(ids))
        rows = torch.stack(right).all(dim=0).nonzero()[:n, 0].tolist()
        for name, (model, inputs, marks, ids) in whole.items():
            part = inputs[rows]
            gold = marks[rows][:, : part.feature_mask.shape[1]].to(_device())
            self.tell(f"{modality}: {len(rows)} inputs with something planted, model {name}")
            self._of_planted(modality, name, model, part, gold.float(), gold, [ids[i] for i in rows])

    def _of_planted(
        self,
        modality: str,
        name: str,
        model: Any,
        inputs: Inputs,
        truth: Tensor,
        gold: Tensor | None,
        ids: list[str],
    ) -> None:
        erase = reasons.ERASURES[modality][0]
        sizes = self.sizes
        methods = reasons.methods(modality, name, ig_steps=sizes.ig_steps, lime_samples=sizes.lime_samples)
        explained = self.explanations(model, inputs, methods, erase=erase)
        given = reasons.ladder(truth, inputs) | explained
        where = {"modality": modality, "model": name}
        if self.method is None:
            table = self.scored(model, inputs, given, ids, erase=erase, gold=gold)
            self.measured["planted"].append(table.assign(**where, erase=erase))
        mask = inputs.feature_mask
        for method, scores in explained.items():
            how = crosslingual_rho(scores, truth, keep=mask) if gold is None else auprc(scores, gold, mask)
            self.measured["true"].append(tidy(ids, method, "how true", how).assign(**where))


# -------------------------------------------------------------------------------------------------------------- inputs
def real_inputs(modality: str, classifier: Classifier, sizes: Sizes) -> tuple[Inputs, list[str]]:
    """The beginnings of film reviews with words as features, or images of clothes with the model's patches; ids."""
    n = sizes.inputs[modality]
    if modality == "vision":
        shown = load_pictures(_DATA[modality], "test", n=n)
        patch = classifier.model.patch_embed.patch_size[0]
        return as_inputs(shown, classifier.model, patch=patch).to(_device()), list(shown.ids)
    data = load_dataset(_DATA[modality], "test", n=n)
    words = [split_words(text)[: sizes.words] for text in data.texts]
    cut = [text[: spans[-1][1]] for text, spans in zip(data.texts, words, strict=True)]
    inputs = TextInputs.from_texts(cut, classifier.tokenizer, words=words, max_length=data.max_length)
    return inputs.to(_device()), list(data.ids)


def real_methods(modality: str, sizes: Sizes) -> dict[str, str | Row]:
    """The attributions of a real model, by name, with the sizes' steps and samples."""
    gradients = Row("integrated_gradients", options={"n_steps": sizes.ig_steps})
    if modality == "text":
        return {
            **{name: name for name in ("attention", "scaled_attention", "saliency", "input_x_gradient")},
            "integrated_gradients": gradients,
            "occlusion": "occlusion",
            "lime": Row("lime", options={"n_samples": sizes.lime_samples}),
            "shapley_sampling": Row("shapley_sampling", options={"n_samples": sizes.permutations}),
            "random": "random",
        }
    seen = ("grad_cam", "lrp", "transformer_attribution", "raw_attention", "rollout", "transformer_mm", "attcat")
    return {"integrated_gradients": gradients, **{name: name for name in (*seen, "random")}}


def tidy(ids: Iterable[str], method: str, metric: str, values: Tensor) -> pd.DataFrame:
    """Values [B] as rows: id, method, metric, value.

    >>> tidy(["a"], "lime", "nc", torch.tensor([0.5])).values.tolist()
    [['a', 'lime', 'nc', 0.5]]
    """
    numbers = values.detach().double().cpu().numpy()
    return pd.DataFrame({"id": list(ids), "method": method, "metric": metric, "value": numbers})


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _rows_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """Rows of a forward pass: the size of the first tensor that it is given."""
    return next((len(one) for one in (*args, *kwargs.values()) if isinstance(one, Tensor)), 0)
