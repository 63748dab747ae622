"""A bench for metrics and methods: hand-built models whose true explanation is known, plain and under attack.

    from faithlib.bench import bench
    print(bench(metrics=["aopc_morf", "soft_nc", my_metric]).summary())

Three small models use what they are built to use: one adds up its words, one looks for either of two words, one needs
both. A good metric separates the truth from random scores (*separates*), scores explanations higher the truer they are
(*tracks*), and does both under attack. A good method finds the truth (*finds*). Nothing is downloaded or trained.

Shape letters: B inputs, F features, L tokens, D embedding size, R rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from faithlib import counter_rng
from faithlib._draws import drawn
from faithlib._metric_names import MetricName
from faithlib.attribution.own import InsideMethod
from faithlib.attribution.perturbation import ErasingMethod
from faithlib.catalogue import FAITHFULNESS
from faithlib.errors import check_counts
from faithlib.evaluation import MetricSettings, RunSettings, count_rows, evaluate, explain, shuffled
from faithlib.evaluation.measures import families_of, names_of
from faithlib.evaluation.summary import _interval
from faithlib.inputs import TextInputs
from faithlib.metrics import crosslingual_rho
from faithlib.metrics.registry import Family
from faithlib.names import MethodName

__all__ = [
    "ATTACKS",
    "COPIES",
    "LADDER",
    "MEASURED_FROM_CHANCE",
    "SHARPNESS",
    "WORDS",
    "Attack",
    "Bench",
    "Case",
    "WordModel",
    "bench",
    "cases",
    "faults_of",
    "random_scores",
]

MEASURED_FROM_CHANCE: tuple[MetricName, ...] = (
    "srg",
    "nsrg",
    "adjusted_naopc_morf",
    "adjusted_naopc_lerf",
    "adjusted_srg",
)
WORDS = 40  # of the vocabulary; the first two are what the second and third model look for
COPIES = 16  # dimensions that say the same, so that soft erasure has elements to draw from
LADDER = (0.25, 0.5, 0.75)  # shares of the true scores that have changed places: ever less true
SHARPNESS = 6.0
_ROUNDING = 1e-4  # shares of erased words are sums in single precision


class _Encoder(nn.Module):
    """An embedding of words, and nothing else."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.embeddings = _Table(table)

    def forward(self, inputs_embeds: Tensor) -> Tensor:
        embedded: Tensor = self.embeddings(inputs_embeds)
        return embedded


class _Table(nn.Module):
    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(table, freeze=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        embedded: Tensor = self.words(input_ids)
        return embedded


class WordModel(nn.Module):
    """A classifier of two classes with a known rule, shaped like those of Hugging Face.

    An embedding [D] has the word's evidence in `COPIES` dimensions for each of two kinds, and 1 in `COPIES` more, by
    which an erased word can be told. Under attack an erased word is noticed.

    Parameters
    ----------
    evidence : Tensor
        What each word of the vocabulary is evidence for, of either kind, [WORDS, 2].
    rule : {"sum", "any", "both"}
        "sum" adds up the first kind, "any" and "both" look for both kinds.
    misled : float, default 0.0
        For how many logits of class 1 an erased word is evidence, all words together.
    two_faced : bool, default False
        Whether the model answers by its first word alone as soon as a word is erased.
    misreads : tuple[float, float], default (1.0, 1.0)
        The shares of erased words (above the first, up to the second) at which it answers class 0 whatever is left.
    needs_last : bool, default False
        Whether it does so where the last word is erased, unless it adds up its words.
    at_random : float, default 0.0
        The share of erased copies, drawn by which words are erased, at which it does so.

    Examples
    --------
    >>> model = WordModel(torch.tensor([[0.0, 0.0], [2.0, 0.0]]), "sum")
    >>> from faithlib.perturb import Perturber
    >>> inputs = _inputs(torch.tensor([[1, 1]]), torch.tensor([2]))  # two words, each with an evidence of 2
    >>> Perturber(model, inputs).logits_full
    tensor([[-2.,  2.]])
    """

    base_model_prefix = "encoder"

    def __init__(
        self,
        evidence: Tensor,
        rule: str,
        *,
        misled: float = 0.0,
        two_faced: bool = False,
        misreads: tuple[float, float] = (1.0, 1.0),
        needs_last: bool = False,
        at_random: float = 0.0,
    ) -> None:
        super().__init__()
        presence = torch.ones(len(evidence), 1)
        table = torch.cat([evidence, presence], dim=1).repeat_interleave(COPIES, dim=1)
        table[0] = 0.0  # padding
        self.encoder = _Encoder(table)
        self.evidence, self.rule, self.misled, self.two_faced = evidence, rule, misled, two_faced
        self.misreads, self.at_random = misreads, at_random
        # Where evidence is added up every word is a reason, so that the last one would be no other word.
        self.needs_last = needs_last and rule != "sum"
        self.config = SimpleNamespace(pad_token_id=0)
        self.eval()

    def forward(
        self, input_ids: Tensor | None = None, attention_mask: Tensor | None = None, inputs_embeds: Tensor | None = None
    ) -> SimpleNamespace:
        """Logits [R, 2]; the embedding module is called with either, so that its output can be replaced."""
        states = self.encoder(inputs_embeds if input_ids is None else input_ids)
        if attention_mask is None:
            attention_mask = torch.ones(states.shape[:2])
        there = attention_mask.to(states)[..., None]
        first, second, present = (states * there).unflatten(2, (3, COPIES)).mean(dim=3).unbind(dim=2)
        if self.rule == "sum":
            evidence = first.sum(dim=1)
        else:
            strongest = torch.stack([first.amax(dim=1), second.amax(dim=1)])
            evidence = strongest.amax(dim=0) if self.rule == "any" else strongest.amin(dim=0)
            evidence = SHARPNESS * (evidence - 0.5)
        erased = 1 - present.sum(dim=1) / there.sum(dim=(1, 2))
        evidence = evidence + self.misled * erased
        if self.two_faced:
            other_face = SHARPNESS * (present[:, 0] - 0.5)
            evidence = torch.where(erased > 0, other_face, evidence)
        low, high = (share + _ROUNDING for share in self.misreads)
        errs = (erased > low) & (erased <= high)
        whole = present > 0.5  # soft erasure leaves a part of a word
        if self.needs_last:
            last = there[..., 0].sum(dim=1).long() - 1
            errs = errs | ~whole.gather(1, last[:, None])[:, 0]
        if self.at_random:
            errs = errs | ((erased > _ROUNDING) & _drawn_by_set(whole, self.at_random))
        evidence = torch.where(errs, -SHARPNESS, evidence)
        return SimpleNamespace(logits=torch.stack([-evidence / 2, evidence / 2], dim=1))


def _drawn_by_set(present: Tensor, share: float) -> Tensor:
    """Which of these sets of words [R, L] belong to a random share of all sets: the same for the same words left."""
    codes = (present.long().cpu() << torch.arange(present.shape[1])).sum(dim=1).numpy().astype(np.uint64)
    nothing = np.zeros(len(codes), dtype=np.int64)
    keys = torch.from_numpy(counter_rng.row_keys(0, codes, nothing, nothing))
    return (counter_rng.uniform(keys, 1, 1)[:, 0, 0] < share).to(present.device)


@dataclass(frozen=True, eq=False)
class Case:
    """A model, inputs that it reads, and the true explanation of what it answers.

    Parameters
    ----------
    name : str
        The model's rule.
    model : WordModel
        The model.
    inputs : TextInputs
        B inputs.
    truth : Tensor
        The true explanation, [B, F].

    Examples
    --------
    >>> both = cases(inputs=1)[2]
    >>> both.truth.sum().item()
    2.0
    """

    name: str
    model: WordModel
    inputs: TextInputs
    truth: Tensor


def cases(inputs: int = 24, seed: int = 0) -> list[Case]:
    """The three models, each with inputs of 5 to 8 words and their true explanation.

    Parameters
    ----------
    inputs : int, default 24
        Of each model.
    seed : int, default 0
        Of the inputs and of the evidence of words.

    Returns
    -------
    list of Case
        Those with the rules "sum", "any" and "both".

    Examples
    --------
    >>> [case.name for case in cases(inputs=2)]
    ['sum', 'any', 'both']
    """
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(5, 9, (inputs,), generator=generator)
    longest = int(sizes.max())
    ids = torch.randint(3, WORDS, (inputs, longest), generator=generator)
    ids = torch.where(torch.arange(longest) < sizes[:, None], ids, 0)
    places = torch.rand(ids.shape, generator=generator).where(ids > 0, 2.0).argsort(dim=1)
    made = []
    for rule in ("sum", "any", "both"):
        evidence, own = torch.zeros(WORDS, 2), ids.clone()
        if rule == "sum":
            evidence[1:, 0] = torch.randn(WORDS - 1, generator=generator)
            share = evidence[ids, 0]
            truth = share * torch.where(share.sum(dim=1, keepdim=True) > 0, 1.0, -1.0)
        else:
            evidence[1, 0], evidence[2, 1] = 1.0, 1.0
            own.scatter_(1, places[:, :1], 1)
            if rule == "both":
                own.scatter_(1, places[:, 1:2], 2)
            truth = ((own == 1) | (own == 2)).float()
        made.append(Case(rule, WordModel(evidence, rule), _inputs(own, sizes), truth))
    return made


def _inputs(ids: Tensor, sizes: Tensor) -> TextInputs:
    places = torch.arange(ids.shape[1])
    there = places < sizes[:, None]
    not_cut = torch.zeros(len(ids), dtype=torch.bool)
    return TextInputs(ids, there, torch.where(there, places, -1), sizes, not_cut, pad_id=0)


# -------------------------------------------------------------------------------------------------------------- attacks
def random_scores(truth: Tensor, inputs: TextInputs, seed: int) -> Tensor:
    """Scores that know nothing.

    Parameters
    ----------
    truth : Tensor
        The true scores, [B, F], which are not looked at.
    inputs : TextInputs
        Those that are explained.
    seed : int
        Scores are drawn from (seed, content of the input).

    Returns
    -------
    Tensor
        [B, F], in [0, 1], 0 beyond an input's features.

    Examples
    --------
    >>> any_word = cases(inputs=1)[1]
    >>> random_scores(any_word.truth, any_word.inputs, 0).shape == any_word.truth.shape
    True
    """
    draws = drawn(inputs.keys(), inputs.n_features.tolist(), 1, seed)[:, 0]
    return torch.where(inputs.feature_mask, draws, 0.0)


def _moved(truth: Tensor, inputs: TextInputs, seed: int) -> Tensor:
    return shuffled(truth, inputs, seed=seed)


def _high(truth: Tensor, inputs: TextInputs, seed: int) -> Tensor:
    """Random scores most of which are close to the highest, so that soft erasure keeps most of an input."""
    return torch.where(inputs.feature_mask, 1 - random_scores(truth, inputs, seed) ** 4, 0.0)


def _misled(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, misled=SHARPNESS)


def _two_faced(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, two_faced=True)


def _light(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, misreads=(0.0, 0.2))


def _heavy(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, misreads=(0.5, 1.0))


def _one_other(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, needs_last=True)


def _random_errors(model: WordModel) -> WordModel:
    return WordModel(model.evidence, model.rule, at_random=1 / 3)


@dataclass(frozen=True, eq=False)
class Attack:
    """Something that may make a metric prefer a false explanation; `bench` takes a list with more of your own.

    Parameters
    ----------
    name : str
        In the names of columns.
    says : str
        What is done, in a line.
    decoy : Callable[[Tensor, TextInputs, int], Tensor], default random_scores
        False scores [B, F], made of the true ones, the inputs and a seed, which a metric has to tell from the truth.
        Default: `random_scores`.
    model : Callable[[WordModel], nn.Module], optional
        The model under attack, made of the plain one: it has to answer whole inputs as that does, so that the truth
        stays true. Default: the plain one.

    Examples
    --------
    >>> [attack.name for attack in ATTACKS]
    ['same scores', 'high scores', 'misled', 'two-faced', 'light', 'heavy', 'one other feature', 'random errors']
    """

    name: str
    says: str
    decoy: Callable[[Tensor, TextInputs, int], Tensor] = random_scores
    model: Callable[[WordModel], nn.Module] | None = None


ATTACKS = (
    Attack("same scores", "the true scores, each at another word", decoy=_moved),
    Attack("high scores", "random scores most of which are high, which soft erasure keeps", decoy=_high),
    Attack("misled", "the model takes every erased word for evidence of one class", model=_misled),
    Attack("two-faced", "as soon as a word is erased, the model answers by its first word alone", model=_two_faced),
    Attack("light", "where up to a fifth of the words is erased, the model answers one class", model=_light),
    Attack("heavy", "where more than half of the words is erased, the model answers one class", model=_heavy),
    Attack(
        "one other feature",
        "where the last word is erased, the model answers one class; not so the adding model, for which it is a reason",
        model=_one_other,
    ),
    Attack("random errors", "at a random third of all erased copies the model answers one class", model=_random_errors),
)
"""Today's attacks."""


# -------------------------------------------------------------------------------------------------------- what is asked
class Bench(pd.DataFrame):
    """What `bench` returns: one row for each thing that is judged and question.

    A DataFrame with columns judged, question, mean, low, high (a 95 % t interval over inputs) and n. `summary()` is a
    table to read.

    Examples
    --------
    >>> row = {"judged": "saco", "question": "tracks", "mean": 0.7, "low": 0.6, "high": 0.8, "n": 72}
    >>> Bench([row]).summary().loc["saco", "tracks"]
    '0.70 ± 0.10'
    """

    @property
    def _constructor(self) -> Any:
        return Bench

    def summary(self) -> pd.DataFrame:
        """One row for each metric or method: means with half of their intervals; a dash where a question has no answer,
        because no input gives the metric two different values to order.

        Returns
        -------
        DataFrame
            Strings, by what is judged and question.
        """
        frame = pd.DataFrame(self)
        half = (frame["high"] - frame["low"]) / 2
        cells = []
        for mean, width in zip(frame["mean"], half, strict=True):
            value = f"{mean:.1f}" if pd.isna(width) else f"{mean:.2f} ± {width:.2f}"
            cells.append("–" if pd.isna(mean) else value)
        table = frame.assign(cell=cells).pivot(index="judged", columns="question", values="cell")
        return table.loc[list(dict.fromkeys(frame["judged"])), list(dict.fromkeys(frame["question"]))].fillna("")


def bench(
    metrics: Sequence[MetricName | Family] | None = None,
    methods: Sequence[MethodName | ErasingMethod | InsideMethod] = (),
    *,
    attacks: Sequence[Attack] = ATTACKS,
    inputs: int = 24,
    seed: int = 0,
) -> Bench:
    """Judge metrics, and methods, on models whose true explanation is known, plain and under attack.

    Parameters
    ----------
    metrics : Sequence[MetricName | Family], optional
        Names of `catalogue.DIRECTIONS` and metrics of your own; default: where no methods are named, those that ask
        the model and those measured from chance.
    methods : Sequence[MethodName | ErasingMethod | InsideMethod], default ()
        Names of `attribution.methods` and methods of your own.
    attacks : Sequence[Attack], default ATTACKS
        What is tried beside random scores and the plain models.
    inputs : int, default 24
        Of each of the three models.
    seed : int, default 0
        Of the inputs, of random scores and of metrics that draw.

    Returns
    -------
    Bench
        Of each metric: *separates*, how often it prefers the truth to random scores (a tie counts half; 0.5 by chance);
        *tracks*, the rank correlation over explanations of one input with how true they are (1 at best, 0 by chance);
        the same share for the decoy of each attack, and both where an attack is on the model; *rows* of the model for
        each attribution. Of each method: *finds*, its rank correlation with the truth, on the plain models and under
        each attack on the model.

    Raises
    ------
    UnknownNameError
        For a metric or method that does not exist.
    InputError
        For fewer than 1 input.

    Examples
    --------
    >>> found = bench(["aopc_morf"], ["occlusion"], attacks=[], inputs=4)
    >>> list(found.question)
    ['separates', 'tracks', 'rows', 'finds']
    """
    check_counts(inputs=inputs)
    if metrics is None and methods:
        metrics = []
    if metrics is None:
        metrics = [*FAITHFULNESS, *MEASURED_FROM_CHANCE]
    known = cases(inputs, seed)
    conditions: dict[str, Callable[[WordModel], nn.Module] | None] = {"": None}
    conditions |= {f" ({attack.name})": attack.model for attack in attacks if attack.model is not None}
    decoys = {attack.name: attack.decoy for attack in attacks if attack.model is None}
    rows = []
    for condition, attacked in conditions.items():
        models = [case.model if attacked is None else attacked(case.model) for case in known]
        if metrics:
            rows += _of_metrics(known, models, metrics, {} if condition else decoys, condition, seed)
        if metrics and not condition:
            rows += _costs(known, metrics)
        if methods:
            rows += _of_methods(known, models, methods, condition)
    return Bench(rows)


def faults_of(metric: Family, *, inputs: int = 6, seed: int = 0) -> list[str]:
    """What is wrong with a metric before it is judged: values that depend on what they may not.

    Parameters
    ----------
    metric : Family
        A metric of `faithlib.metrics.metric`.
    inputs : int, default 6
        How many inputs it is tried on, at least 1.
    seed : int, default 0
        Of the inputs, of random scores, and of the metric.

    Returns
    -------
    list of str
        A sentence for each fault; empty where there is none.

    Examples
    --------
    >>> from faithlib.metrics import metric
    >>> @metric("place", rows=None, direction="higher")
    ... def place(answers, scores, about):
    ...     return torch.arange(len(scores)).double()
    >>> faults_of(place)
    ['place changes with the order of the inputs.']
    """
    case = cases(inputs, seed)[0]
    random, name = random_scores(case.truth, case.inputs, seed), next(iter(metric.directions))

    def values(scores: Tensor, some: Sequence[int]) -> Tensor:
        rows = list(some)
        part, given = case.inputs[rows], scores[rows]
        given = given[:, : part.feature_mask.shape[1]]
        table = evaluate(
            case.model,
            part,
            methods={"mine": given},
            metrics=[metric],
            settings=MetricSettings(seed=seed),
            run=RunSettings(check=False),
        )
        return torch.tensor(table.loc[table["metric"] == name, "value"].to_numpy())

    everyone = range(inputs)
    first = values(random, everyone)
    faults = []
    if not _same(first, values(random, everyone)):
        return [f"{name} answers the same question twice and differently: let it draw from `about.seed`."]
    if not _same(first, values(random, everyone[::-1]).flip(0)):
        faults.append(f"{name} changes with the order of the inputs.")
    elif not _same(first, torch.cat([values(random, [b]) for b in everyone])):
        faults.append(
            f"{name} changes with the other inputs: the value of an input alone differs from its value beside others."
        )
    if bool(first.isnan().all()):
        faults.append(f"{name} is NaN for every input.")
    elif _same(first, values(case.truth, everyone)) and _same(first, first[:1].expand(len(first))):
        faults.append(f"{name} has the same value for every explanation of every input.")
    return faults


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-4, atol=1e-4, equal_nan=True)


def _of_metrics(
    known: Sequence[Case],
    models: Sequence[nn.Module],
    metrics: Sequence[MetricName | Family],
    decoys: Mapping[str, Callable[[Tensor, TextInputs, int], Tensor]],
    condition: str,
    seed: int,
) -> list[dict[str, Any]]:
    """Rows of the answers about each metric under one condition."""
    frames = []
    for case, model in zip(known, models, strict=True):
        ladder = {"truth": case.truth}
        ladder |= {f"{share:.0%} moved": shuffled(case.truth, case.inputs, share=share, seed=seed) for share in LADDER}
        ladder["random"] = random_scores(case.truth, case.inputs, seed)
        false = {name: make(case.truth, case.inputs, seed) for name, make in decoys.items()}
        explanations = ladder | false
        table = evaluate(
            model,
            case.inputs,
            methods=explanations,
            metrics=list(metrics),
            settings=MetricSettings(seed=seed),
            run=RunSettings(check=False),
        )
        signs = table["direction"].map({"higher": 1.0, "lower": -1.0})
        frames.append(pd.DataFrame(table.assign(good=table["value"] * signs, case=case.name)))
    values = pd.concat(frames).pivot(index=["metric", "case", "input"], columns="method", values="good")
    rungs = values[["truth", *(f"{share:.0%} moved" for share in LADDER), "random"]]
    level = torch.arange(len(rungs.columns), 0, -1).double().expand(len(rungs), -1)
    tracks = pd.Series(crosslingual_rho(level, torch.tensor(rungs.to_numpy())).numpy(), index=values.index)
    asked = {"separates": _preferred(values, "random"), "tracks": tracks}
    asked |= {name: _preferred(values, name) for name in decoys}
    rows = []
    for name in names_of(metrics):
        for question, answers in asked.items():
            if name in answers.index.get_level_values("metric"):
                rows.append(_row(name, question + condition, answers[name]))
    return rows


def _preferred(values: pd.DataFrame, decoy: str) -> pd.Series[Any]:
    """Whether the truth is better than a decoy: 1, 0, or a half where they are equal; NaN where either is."""
    gain = (values["truth"] - values[decoy]).round(6)  # answers are single precision
    return (gain > 0).astype(float).where(gain != 0, 0.5).where(gain.notna())


def _of_methods(
    known: Sequence[Case],
    models: Sequence[nn.Module],
    methods: Sequence[MethodName | ErasingMethod | InsideMethod],
    condition: str,
) -> list[dict[str, Any]]:
    """Rows of how true each method's scores are under one condition."""
    finds: dict[str, list[Tensor]] = {}
    for case, model in zip(known, models, strict=True):
        for name, scores in explain(model, case.inputs, list(methods), run=RunSettings(check=False)).items():
            rho = crosslingual_rho(case.truth, scores, keep=case.inputs.feature_mask)
            finds.setdefault(name, []).append(rho)
    return [_row(name, "finds" + condition, pd.Series(torch.cat(rhos).numpy())) for name, rhos in finds.items()]


def _costs(known: Sequence[Case], metrics: Sequence[MetricName | Family]) -> list[dict[str, Any]]:
    """Rows of what one attribution of one input costs under each metric, all that it needs of the model included."""
    counts: dict[str, list[float]] = {}
    for case in known:
        found = count_rows(case.model, case.inputs, methods={"truth": case.truth}, metrics=list(metrics))
        for family, count in found.alone.items():
            counts.setdefault(family, []).append(count / len(case.inputs))
    families = families_of(metrics, has_gold=False)
    family_of = {name: family.name for family in families.values() for name in family.directions}
    return [_row(name, "rows", pd.Series(counts[family_of[name]]), interval=False) for name in names_of(metrics)]


def _row(judged: str, question: str, values: pd.Series[Any], *, interval: bool = True) -> dict[str, Any]:
    mean, half, n = _interval(values)
    half = half if interval else math.nan
    return {"judged": judged, "question": question, "mean": mean, "low": mean - half, "high": mean + half, "n": n}
