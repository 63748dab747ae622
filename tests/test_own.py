"""A metric or method of one's own: two functions in one file, for `evaluate`, counting rows, and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
import torch
from flat import evaluate
from refusals import refused
from torch import Tensor
from toy_models import Bag, answers, image_inputs, vision_model

from faithlib import _metric_names as metric_names
from faithlib.attribution import Row, attribute, method
from faithlib.attribution.perturbation import ERASING, Explained
from faithlib.catalogue import DIRECTIONS, FAMILIES, LANGUAGE, ON_REQUEST
from faithlib.copies import Copies
from faithlib.errors import DataError, InputError, UnknownNameError
from faithlib.evaluation import MetricSettings, count_rows
from faithlib.evaluation.own import method_in, metric_in
from faithlib.inputs import WordInputs
from faithlib.metrics import metric
from faithlib.metrics.__main__ import records
from faithlib.metrics.registry import BUILT_IN, About
from faithlib.perturb import Perturber


def alone_rows(scores: Tensor, about: About) -> Tensor:
    """Each feature erased alone."""
    n = scores.shape[1]
    return ~torch.eye(n, dtype=torch.bool).expand(len(scores), n, n)


@metric("weighted_loss", rows=alone_rows, direction="higher", meaning="losses weighted by scores", cost="n")
def weighted_loss(losses: Tensor, scores: Tensor, about: About) -> Tensor:
    lost = (about.full[:, None] - losses) * about.feature_mask
    return (lost * scores.where(about.feature_mask, 0.0)).sum(dim=1)


@metric("top_score", rows=None, direction="lower", meaning="the largest score")
def top_score(_: None, scores: Tensor, about: About) -> Tensor:
    return scores.where(about.feature_mask, -torch.inf).amax(dim=1)


def single_rows(explained: Explained, *, times: int) -> Copies:
    n = explained.present.shape[1]
    alone = torch.eye(n, dtype=torch.bool).expand(len(explained.present), n, n)
    return explained.copies(alone, explained.present)


@method("single", rows=single_rows)
def single(numbers: Tensor, explained: Explained, *, times: int = 1) -> Tensor:
    return times * numbers


@method("size")
def size(model: object, inputs: WordInputs, target: Tensor) -> Tensor:
    return inputs.feature_mask.float() * torch.arange(inputs.feature_mask.shape[1])


@pytest.mark.parametrize("kind", ["texts", "images"])
def test_ones_own_stand_beside_the_others_and_change_none_of_them(kind: str) -> None:
    model, inputs = Bag(), None
    inputs = model.texts((9, 6, 4))
    if kind == "images":
        model, inputs = vision_model(), image_inputs()
    methods = ["occlusion", "random", single, size]
    both = evaluate(
        model,
        inputs,
        methods=methods,
        metrics=["aopc_morf", weighted_loss, "saco", top_score],
        settings=MetricSettings(groups=3),
    )
    known = evaluate(
        model, inputs, methods=["occlusion", "random"], metrics=["aopc_morf", "saco"], settings=MetricSettings(groups=3)
    )
    assert list(dict.fromkeys(both.method)) == ["occlusion", "random", "single", "size"]
    assert dict(zip(both.metric, both.direction, strict=True)) == {
        "aopc_morf": "higher", "weighted_loss": "higher", "saco": "higher", "top_score": "lower"
    }  # fmt: skip
    same = both[both.method.isin(["occlusion", "random"]) & both.metric.isin(["aopc_morf", "saco"])]
    assert same.sort_values(["input", "method", "metric"]).value.to_numpy() == pytest.approx(
        known.sort_values(["input", "method", "metric"]).value.to_numpy(), abs=1e-6, nan_ok=True
    )
    perturber = Perturber(model, inputs)
    found = both[(both.method == "occlusion") & (both.metric == "weighted_loss")].value.to_numpy()
    scores = attribute("occlusion", model, inputs, output=perturber.output)
    assert found == pytest.approx(weighted_loss(perturber, scores).numpy(), abs=1e-5)
    assert found == pytest.approx((scores**2).sum(dim=1).numpy(), abs=1e-5)  # what occlusion scores is what is lost
    # The rows are those of occlusion, which are run once; and they are counted beforehand.
    rows = evaluate(model, inputs, methods={"mine": scores}, metrics=[weighted_loss]).attrs["costs"]["rows_run"]
    counted = count_rows(model, inputs, methods={"mine": scores}, metrics=[weighted_loss])
    assert counted.together == rows == len(inputs) + int(inputs.feature_mask.sum())
    assert counted.alone == {"weighted_loss": rows}


def test_reports_say_what_ones_own_metric_means(tmp_path: Path) -> None:
    table = evaluate(answers, ["a good film", "good"], methods=["occlusion"], metrics=[weighted_loss, "complexity"])
    assert "weighted_loss ↑" in table.summary().index
    table.to_html(tmp_path / "report.html")
    assert "losses weighted by scores" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "weighted_loss" not in BUILT_IN
    few = [note for note in table.attrs["undefined"] if note["reason"].startswith("fewer features than the 2")]
    assert few[0]["metrics"] == ["complexity", "weighted_loss"] or set(few[0]["metrics"]) >= {"weighted_loss"}


def test_options_of_ones_own_method_are_given_in_a_row() -> None:
    inputs = WordInputs.from_texts(["a good film"])
    plain, twice = (
        evaluate(answers, inputs, methods={"mine": Row(single, options=options)}, metrics=[top_score]).value.item()
        for options in ({}, {"times": 2})
    )
    assert twice == pytest.approx(2 * plain)
    perturber = Perturber(answers, inputs)
    assert single(perturber, None, "probability").tolist() == [pytest.approx([0.5, 0.9, 0.5])]
    given = {"methods": {"mine": Row(single, options={"tims": 2})}, "metrics": [top_score]}
    refused(UnknownNameError, "did you mean 'times'", evaluate, answers, inputs, **given)
    assert ERASING["lime"].defaults()["n_samples"] == 50


def broken(value: object) -> object:
    @metric("broken", rows=None, direction="higher")
    def made(_: None, scores: Tensor, about: About) -> object:
        return value(scores) if callable(value) else value

    return made


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3.0, "broken answered a float: expected a torch tensor"),
        (torch.ones(5), r"broken answered shape \(5,\): expected \[B\] = \[2\]"),
        (torch.tensor(1.0), r"broken answered shape \(\)"),
        (torch.tensor([True, False]), "broken answered torch.bool: expected numbers"),
    ],
)
def test_answers_that_are_none_are_refused(value: object, said: str) -> None:
    options = {"methods": {"mine": torch.rand(2, 3)}, "metrics": [broken(value)]}
    refused(InputError, said, evaluate, answers, ["a good film", "a bad one"], **options)


def test_what_a_metric_cannot_be_is_refused() -> None:
    refused(InputError, "says no direction", metric, "mine", rows=None)
    refused(UnknownNameError, "direction", metric, "mine", rows=None, direction="up")
    taken = metric("saco", rows=None, direction="higher")(lambda _, scores, about: scores.sum(dim=1))
    options = {"methods": ["random"], "metrics": [taken]}
    refused(InputError, "saco is the name of a metric of this package", evaluate, answers, ["good film"], **options)
    early = metric("early", rows=lambda scores, about: about.full, direction="higher")(lambda *_: None)
    counted = {"methods": {"mine": torch.rand(1, 2)}, "metrics": [early]}
    words = WordInputs.from_texts(["good film"])
    refused(InputError, "rows are made before the model has answered", count_rows, answers, words, **counted)
    wrong = method("wrong")(lambda model, inputs, target: torch.ones(3))
    refused(InputError, r"wrong answered shape \(3,\)", evaluate, answers, ["good film"], methods=[wrong])


FILE = """
import torch
from faithlib.attribution import method
from faithlib.metrics import metric

@metric("largest", rows=None, direction="higher", meaning="the largest score")
def largest(answers, scores, about):
    return scores.amax(dim=1)
"""
MORE = (
    FILE
    + """
@metric("smallest", rows=None, direction="lower")
def smallest(answers, scores, about):
    return scores.amin(dim=1)

@method("ones")
def ones(model, inputs, target):
    return torch.ones(inputs.feature_mask.shape)
"""
)


def test_a_file_with_one_metric_and_one_with_several(tmp_path: Path) -> None:
    one, more = tmp_path / "one.py", tmp_path / "more.py"
    one.write_text(FILE), more.write_text(MORE)
    assert metric_in(str(one)).directions == {"largest": "higher"}
    assert metric_in(f"{more}:smallest").directions == {"smallest": "lower"}
    assert method_in(str(more)).name == "ones"
    refused(InputError, "holds 2 metrics .largest, smallest.: name one", metric_in, str(more))
    refused(UnknownNameError, "did you mean 'smallest'", metric_in, f"{more}:smalest")
    refused(InputError, "holds no method: expected a function under @faithlib.attribution.method", method_in, str(one))
    refused(DataError, "is not there", metric_in, str(tmp_path / "none.py"))
    (tmp_path / "bad.py").write_text("1 / 0")
    refused(InputError, "cannot be read: ZeroDivisionError", metric_in, str(tmp_path / "bad.py"))


# --------------------------------------------------------------------------------------------------- what is registered
def test_the_collected_names_are_what_the_metrics_say_where_they_are_registered() -> None:
    assert list(metric_names.RECORDS) == records(), "run `python -m faithlib.metrics`, then `ruff format`"
    assert get_args(metric_names.MetricName) == tuple(DIRECTIONS)
    assert set(BUILT_IN) == {*FAMILIES, *LANGUAGE, *ON_REQUEST}
    for name, family in BUILT_IN.items():
        assert family.cost and family.source, name
        assert all(family.meanings[metric] and family.formulas[metric] for metric in family.directions), name
        assert family.asks_model == (family.rows is not None)


# ------------------------------------------------------------------------------------------------- without any padding
def best_erased(scores: Tensor, about: About) -> Tensor:
    """What a user writes who does not think of padding: beyond a short input's features scores are 0, and may win."""
    return (torch.arange(scores.shape[1]) != scores.argmax(dim=1, keepdim=True))[:, None]


@metric("careless", rows=best_erased, direction="higher", meaning="how far the output falls without the highest score")
def careless(left: Tensor, scores: Tensor, about: About) -> Tensor:
    assert about.feature_mask.all() and about.perturber.feature_mask.all()
    return about.full - left[:, 0] + scores.mean(dim=1)


def test_a_metric_of_ones_own_sees_no_padding() -> None:
    texts = ["good film", "so good", "a good and very long film", "bad"]
    scores = [[-0.25, -0.5], [-0.5, -0.25], [-0.75, -0.25, -0.75, -0.75, -0.75, -0.75], [-1.0]]
    options = {"metrics": [careless, "aopc_morf"]}
    together = evaluate(answers, texts, attributions={"mine": scores}, methods=["random"], **options)
    mine = together[(together.method == "mine") & (together.metric == "careless")]
    expected = [0.4 - 0.375, 0.4 - 0.375, 0.4 - 4 / 6, -1.0]
    assert mine.value.tolist()[:3] == pytest.approx(expected[:3])
    for place, (text, own) in enumerate(zip(texts, scores, strict=True)):
        alone = evaluate(answers, [text], attributions={"mine": [own]}, methods=["random"], **options)
        both = together[together.input == place]
        assert both.value.tolist() == pytest.approx(alone.value.tolist(), nan_ok=True)
    inputs = WordInputs.from_texts(texts)
    wide = torch.nn.utils.rnn.pad_sequence([torch.tensor(own) for own in scores], batch_first=True)
    count = count_rows(answers, inputs, methods={"mine": wide}, metrics=[careless])
    assert count.each == (2, 2, 2, 2), "the input, and the copy without its best feature"


def test_copies_of_another_size_are_refused() -> None:
    @metric("wide", rows=lambda scores, about: torch.ones(len(scores), 1, 9).bool(), direction="higher")
    def wide(left: Tensor, scores: Tensor, about: About) -> Tensor:
        return left[:, 0]

    texts = ["good film", "a good film"]
    refused(
        InputError,
        r"copies have shape \(1, 1, 9\): expected",
        evaluate,
        answers,
        texts,
        methods=["random"],
        metrics=[wide],
    )


def test_what_was_not_asked_for_is_not_left_out() -> None:
    """SaCo shares its rows with AUC and log-odds, which a predicted number does not have."""
    settings = MetricSettings(output="value")
    table = evaluate(lambda texts: [[float(len(text))] for text in texts], ["a film", "good"], methods=["random"],
                     metrics=["saco"], settings=settings)  # fmt: skip
    assert table.attrs["left_out"] == {}


def test_a_plain_function_is_told_how_a_metric_or_method_is_made() -> None:
    def plain(scores: Tensor) -> Tensor:
        return scores.sum(dim=1)

    refused(InputError, "faithlib.metrics.metric", evaluate, answers, ["good"], metrics=[plain])
    refused(InputError, "faithlib.attribution.method", evaluate, answers, ["good"], methods={"mine": plain})
